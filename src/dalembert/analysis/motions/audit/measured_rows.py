"""Rows of an audit, from the values of a quantity along a run."""

from __future__ import annotations

import numpy as np

from ....methods.base import Method
from ....methods.own_time import OwnTimeMethod
from ....run.trajectory import Trajectory
from ....run.values import Array
from ..deviations import drift, grows_like_rounding, largest, offset, relative, rounding, turns
from .audit_rows import Expected, Row


def promise(method: Method | None, expected: Expected) -> str:
    """What a method promises, in words."""
    if expected == "exact":
        return "kept to rounding"
    if expected == "nothing":
        return "-"
    if expected == "quadrature":
        return "kept to its quadrature"
    if method is None:
        return "-"
    if method.adaptive and not isinstance(method, OwnTimeMethod):
        return "error of the size of the tolerance"
    return f"error stays bounded, O(h^{method.order})" if expected == "bounded" else f"error O(h^{method.order})"


def first_law(method: Method | None) -> Expected:
    """What a method promises about the total energy of a system with entropies."""
    return "quadrature" if method is not None and method.first_law else "approximate"


def measured(
    run: Trajectory, name: str, theory: str, reason: str, expected: Expected, values: Array, sizes: tuple[Array, Array],
) -> Row:  # fmt: skip
    """A row from values of a quantity that is conserved between events: deviations from the first record of a stretch.

    `sizes` are those of its terms that vary and of those that do not. Stretches and lanes with one record are ignored.
    """
    values, (size, constant), stretch = np.atleast_2d(values), sizes, run.stretches
    found = []
    for lane, k in sorted({(lane, int(k)) for lane, row in enumerate(stretch) for k in row}):
        within = (stretch[lane] == k) & np.isfinite(values[lane])
        part = values[lane, within]
        if len(part) > 1:
            scales = size[lane, within], constant[lane, within]
            error = relative(part - part[0], scales[0])
            alike = grows_like_rounding(error, run.every, offset(*scales))
            found.append((largest(error), lane, error, rounding(run, len(part), *scales), alike))
    if not found:
        return unjudged(run, name, theory, reason, expected, values)
    worst, lane, error, limit, _ = max(found, key=lambda f: (np.isfinite(f[0]), f[0]))
    return Row(
        name, theory, reason, expected, promise(run.method, expected), float(values[lane, 0]), worst, drift(error),
        turns(error), rounding=limit, like_rounding=all(f[-1] for f in found), stretches=int(stretch.max()) + 1,
    )  # fmt: skip


def vanishing(
    run: Trajectory,
    name: str,
    theory: str,
    expected: Expected,
    values: Array,
    size: Array,
    rounded: Array | None = None,
) -> Row:
    """A row from values that should always be zero; those not above `rounded`, by lane, are rounding errors of their terms."""
    values, size = np.atleast_2d(values), np.atleast_2d(size)
    if rounded is not None:
        limit = np.max(rounded, axis=1, initial=0.0, where=np.isfinite(rounded))
        values = np.where(np.abs(values) <= limit[:, None], 0.0, values)
    errors = [relative(v, s) for v, s in zip(values, size, strict=True)]
    known = [(largest(e), lane) for lane, e in enumerate(errors) if np.isfinite(e).sum() > 1]
    if not known:
        return unjudged(run, name, theory, "", expected, values)
    worst, lane = max(known)
    alike = all(grows_like_rounding(np.append(0.0, e[np.isfinite(e)]), run.every) for e in errors)
    return Row(
        name, theory, "", expected, promise(run.method, expected), float(values[lane, 0]), worst, drift(errors[lane]),
        turns(errors[lane]), like_rounding=alike,
    )  # fmt: skip


def unjudged(run: Trajectory, name: str, theory: str, reason: str, expected: Expected, values: Array) -> Row:
    """A row without a verdict: no second record to compare with the first."""
    told = promise(run.method, expected)
    return Row(name, theory, reason, expected, told, float(values[0, 0]), np.nan, np.nan, judged=False)
