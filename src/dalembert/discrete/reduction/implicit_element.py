"""Group elements of horizontal steps without a closed form: unknowns y with E(y, r0, r1) = 0, the element first among them.

In formulas y are letters. A reduced system has them as coordinates whose value of a step stands at its end, so that its step
solves E = 0 with everything else; positions and starts solve it in numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sympy import Symbol

from ...decide.zero import vanishes
from ...errors import ModelError, StartError
from ...symbolic import Fast, fast, jacobian, magnitude, substitution, vectorised

MOST = 6
"""Derivatives of more unknowns than this are not written as formulas."""

ITERATIONS, HALVINGS = 60, 30

OFF, ROUNDING = 1e-10, 1e-15
"""The largest last step of a solution relative to the unknowns, or residual relative to its terms; and where to stop."""

FLOOR = 1e-6
"""Part of what the terms of the equations allow an unknown to be; one that is zero is rounding noise far below it."""


@dataclass(frozen=True, eq=False)
class Implicit:
    """Unknowns y and as many equations E(y, r0, r1) = 0, in the letters of y and the slots of the shapes.

    begin: where Newton's method begins, in the slots of the shapes
    """

    unknowns: tuple[Symbol, ...]
    equations: tuple[Fast, ...]
    begin: tuple[Fast, ...]

    def slopes(self, slots: Sequence[Fast]) -> list[list[Fast]]:
        """dy/dr = -E_y^-1 E_r, by the slots of one end of the step."""
        if len(self.unknowns) > MOST:
            raise ModelError(
                f"the derivatives of this connection, which has {len(self.unknowns)} unknowns in each step, are not written "
                f"as formulas. Motions do not need them: simulate the reduced system."
            )
        right = [[-e for e in row] for row in jacobian(self.equations, slots)]
        return _solved(jacobian(self.equations, self.unknowns), right)

    def values(self, known: Mapping[str, Any]) -> list[Any]:
        """y at arrays of values of all other symbols, by Newton's method in all places at once."""
        import numpy as np

        names = [s.name for s in self.unknowns]
        others = sorted({s.name for e in (*self.equations, *self.begin) for s in e.free_symbols} - set(names))
        absent = [n for n in others if n not in known]
        if absent:
            raise StartError(f"parameters: no value for {', '.join(absent)}. Add parameters={{{absent[0]}: ...}}.")
        arrays = np.broadcast_arrays(*(np.asarray(known[n], dtype=float) for n in others)) if others else []
        shape = arrays[0].shape if others else ()
        rows = np.stack([x.reshape(-1) for x in arrays], axis=-1) if others else np.zeros((1, 0))
        y = vectorised(others, list(self.begin))(rows)
        solved = self._newton([*names, *others], rows, y)
        return [solved[:, i].reshape(shape) for i in range(len(names))]

    def _newton(self, names: Sequence[str], rows: Any, begin: Any) -> Any:
        """Newton's method with full steps; where that fails, with steps halved until the residual falls."""
        import numpy as np

        residual, sizes, slopes = (vectorised(names, list(e)) for e in self._formulas)
        n = len(self.unknowns)

        def step(y: Any) -> Any:
            at = np.hstack([y, rows])
            return -_each_solved(slopes(at).reshape(-1, n, n), residual(at))

        def off(y: Any) -> Any:
            """The largest residual relative to its terms."""
            at = np.hstack([y, rows])
            found, scale = np.abs(residual(at)), sizes(at)
            with np.errstate(all="ignore"):
                each = np.where(found == 0, 0.0, found / scale)
            return np.where(np.isfinite(each).all(axis=1), each.max(axis=1, initial=0.0), np.inf)

        def units(y: Any) -> Any:
            """How large each unknown may be: the terms of equations, divided by its coefficients there."""
            at = np.hstack([y, rows])
            with np.errstate(all="ignore"):
                each = sizes(at)[:, :, None] / np.abs(slopes(at).reshape(-1, n, n))
            return np.where(np.isfinite(each), each, 0.0).max(axis=1)

        y, last, reach = _full_steps(begin, step)
        solved = (np.abs(last) <= OFF * np.fmax(reach, FLOOR * units(y))).all(axis=1)
        if not solved.all():
            other = _halved_steps(begin, step, off)
            y = np.where(solved[:, None], y, other)
            solved |= off(other) <= OFF
        if not solved.all():
            raise StartError(
                "the connection has no horizontal step here: its equations have no solution near "
                f"{', '.join(f'{s} = {e}' for s, e in zip(self.unknowns, self.begin, strict=True))}. Take a shorter step, or "
                f"another connection, such as trivial={{}}: the motion does not depend on it."
            )
        return y

    @cached_property
    def _formulas(self) -> tuple[list[Fast], list[Fast], list[Fast]]:
        """Residuals, sizes of their terms, and the matrix of their derivatives, row by row."""
        slopes = [e for row in jacobian(self.equations, self.unknowns) for e in row]
        return list(self.equations), [magnitude(e) for e in self.equations], slopes

    def in_slots(self, places: Mapping[Any, Any]) -> list[Fast]:
        """The equations with these symbols for the letters of y."""
        at = substitution(places)
        return [at(e) for e in self.equations]

    def begins_exactly(self, diagonal: Mapping[Any, Any]) -> bool:
        """Whether y = begin is the solution where both shapes are one, given as {slot: expression}."""
        here = substitution(diagonal)
        at = substitution({fast(s): here(e) for s, e in zip(self.unknowns, self.begin, strict=True)})
        return all(vanishes(at(here(e))) for e in self.equations)


def _full_steps(y: Any, step: Any) -> tuple[Any, Any, Any]:
    """Newton's method: y, its last steps, and how large y was."""
    import numpy as np

    reach, last = np.abs(y), np.full_like(y, np.inf)
    for _ in range(ITERATIONS):
        with np.errstate(all="ignore"):
            last = step(y)
            y = y + last
            reach = np.fmax(reach, np.abs(y))
        if np.all((np.abs(last) <= ROUNDING * reach) | ~np.isfinite(last)):
            break
    return y, last, reach


def _halved_steps(y: Any, step: Any, off: Any) -> Any:
    """Newton's method with steps halved until the residual falls."""
    import numpy as np

    least = off(y)
    for _ in range(ITERATIONS):
        change = step(y)
        change = np.where(np.isfinite(change), change, 0.0)
        factor, waiting = np.ones((len(y), 1)), np.ones(len(y), dtype=bool)
        for _ in range(HALVINGS):
            tried = y + factor * change
            better = waiting & (off(tried) < least)
            y = np.where(better[:, None], tried, y)
            waiting &= ~better
            factor = np.where(waiting[:, None], factor / 2, factor)
            if not waiting.any():
                break
        least = off(y)
        if waiting.all():
            break
    return y


def _each_solved(matrices: Any, right: Any) -> Any:
    """The solutions of many linear equations; nan where a matrix is singular."""
    import numpy as np

    found = np.full_like(right, np.nan)
    for k, (A, b) in enumerate(zip(matrices, right, strict=True)):
        try:
            found[k] = np.linalg.solve(A, b)
        except np.linalg.LinAlgError:
            continue
    return found


def _solved(A: list[list[Fast]], B: list[list[Fast]]) -> list[list[Fast]]:
    """A^-1 B by elimination, with the first pivots that do not vanish."""
    n = len(A)
    rows = [[*a, *b] for a, b in zip(A, B, strict=True)]
    for k in range(n):
        pivot = next(i for i in range(k, n) if not vanishes(rows[i][k]))
        rows[k], rows[pivot] = rows[pivot], rows[k]
        rows[k] = [e / rows[k][k] for e in rows[k]]
        for i in range(n):
            if i != k and rows[i][k] != 0:
                factor = rows[i][k]
                rows[i] = [a - factor * b for a, b in zip(rows[i], rows[k], strict=True)]
    return [row[n:] for row in rows]
