"""Integral curves of vector fields on (x, v, t): SciPy's method of order eight on compiled components."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..engine.status import Status
from ..errors import StartError, told
from ..model import checks
from ..model.coordinates import time
from ..numbers import finite, positive, whole
from ..symbolic import fast
from ..theory.cartan.fields import VectorField
from ..waist.stepmap import pointwise
from .values import Array, columns, parameter_values, point_map


@dataclass(frozen=True, eq=False)
class IntegralCurve:
    """A curve dz/ds = X(z); `curve[x]` has the values of one variable.

    field:      the vector field
    parameter:  the values of s, as far as the curve was computed
    table:      the values of the variables there, one column for each
    status:     CONVERGED, or why the curve ends before its time
    """

    field: VectorField
    parameter: Array
    table: Array
    status: Status

    def __getitem__(self, variable: Any) -> Array:
        if variable not in self.field.basis:
            raise KeyError(f"{told(variable)} is none of {', '.join(map(str, self.field.basis))}.")
        found: Array = self.table[:, self.field.basis.index(variable)]
        return found

    @property
    def ok(self) -> bool:
        """Whether the whole curve was computed."""
        return self.status == Status.CONVERGED

    def __repr__(self) -> str:
        return f"<IntegralCurve to s = {self.parameter[-1]:.6g}: {self.status.sentence}>"


def integral_curve(
    field: VectorField, start: Any, until: float, points: int, parameters: Mapping[Any, Any] | None, rtol: float
) -> IntegralCurve:
    """The curve from a point, for s from 0 to `until`, which may be negative."""
    from scipy.integrate import DOP853

    names = [z.name for z in field.basis]
    z = np.array(_point(field, start))
    used = checks.parameters(field.components, ())
    rows = columns(parameter_values(parameters, used), [p.name for p in used], None)
    outputs = {f"{name}.rate": fast(c) for name, c in zip(names, field.components, strict=True)}
    compiled = point_map(pointwise("integral curve", names, [p.name for p in used], outputs, []))

    def rates(_: float, now: Array) -> Array:
        found: Array = compiled(now[None, :], rows)[0][0]
        return found

    end = finite(until, "until", StartError)
    count = whole(points, "points", StartError, least=2)
    tolerance = positive(rtol, "rtol", StartError)
    s, table, done = np.linspace(0, end, count), np.full((count, len(z)), np.nan), 1
    table[0] = z
    if not np.isfinite(rates(0, z)).all():
        return IntegralCurve(field, s[:1], table[:1], Status.LEFT_DOMAIN)
    size = _sizes(rates, z, end)
    solver = DOP853(rates, 0.0, z, end, rtol=tolerance, atol=tolerance * np.where(size > 0, size, size.max() or 1.0))
    status = Status.CONVERGED
    while solver.status == "running" and status == Status.CONVERGED:
        solver.step()
        if solver.status == "failed" or not np.isfinite(solver.y).all():
            status = Status.NO_SOLUTION
            break
        dense = solver.dense_output()
        while done < count and abs(s[done]) <= abs(solver.t):
            table[done] = dense(s[done])
            done += 1
    return IntegralCurve(field, s[:done], table[:done], status)


def _sizes(rates: Any, z: Array, end: float) -> Array:
    """How large each variable is or becomes: where both are zero at the start, as the others change."""
    size = np.maximum(np.abs(z), np.abs(rates(0, z) * end))
    for _ in range(len(z)):
        later = np.abs(rates(0, z + size / 2) * end)
        size = np.where(size > 0, size, np.where(np.isfinite(later), later, 0.0))
    return np.asarray(size)


def _point(field: VectorField, start: Any) -> list[float]:
    if not isinstance(start, Mapping):
        raise StartError(
            f"integral_curve: start={told(start)}. Expected a number for each variable: {{x: 0, x.dot: 1}}."
        )
    for key in start:
        if key not in field.basis:
            raise StartError(
                f"integral_curve: start= contains {told(key)}. Expected {', '.join(map(str, field.basis))}."
            )
    given = {time: 0.0, **start}
    if missing := [str(z) for z in field.basis if z not in given]:
        raise StartError(f"integral_curve: start= has no value for {', '.join(missing)}.")
    return [finite(given[z], f"start of {z}", StartError) for z in field.basis]
