"""Extremals through two points, their kind (minimum, maximum, saddle), and the value of a functional.

Integrals run over a parameter s from 0 to 1 with x = a + (b - a) s^2 (3 - 2 s), which is flat at both ends: a vertical
tangent or an integrable singularity there (the cusp of the brachistochrone) becomes smooth.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ...display import Part, Shown, Table
from ...errors import MethodError, StartError
from ...model import checks
from ...model.coordinates import Coordinate
from ...symbolic import numpy_function
from .functionals import Array, Functional
from .improper_integrals import DivergentError, integral
from .polygons import Kind, second_variation


@dataclass(frozen=True, eq=False, repr=False)
class Extremal(Shown):
    """A curve through two points along which a functional is stationary.

    x, y:        the variable, and {unknown: array}, from one end to the other; the variable may turn back, where the curve
                 is not a function of it
    value:       the functional on it
    method:      how it was found
    parameters:  the values of the parameters
    s, dx, dy:   a parameter from 0 to 1 in which the curve is smooth, and the derivatives by it
    """

    functional: Functional
    x: Array
    y: dict[Coordinate, Array]
    value: float
    method: str
    parameters: tuple[float, ...]
    s: Array
    dx: Array
    dy: dict[Coordinate, Array]
    _known: tuple[Kind, int] | None = None

    @property
    def slope(self) -> dict[Coordinate, Array]:
        """The slopes dy/dx; infinite or undefined at a vertical end."""
        import numpy as np

        with np.errstate(all="ignore"):
            return {c: d / self.dx for c, d in self.dy.items()}

    @cached_property
    def _curves(self) -> list[Any]:
        """x and the unknowns as functions of s, by cubic Hermite interpolation."""
        from scipy.interpolate import CubicHermiteSpline

        pairs = [(self.x, self.dx), *((y, self.dy[c]) for c, y in self.y.items())]
        return [CubicHermiteSpline(self.s, value, slope) for value, slope in pairs]

    def at(self, s: Array) -> tuple[Array, Array]:
        """x and the unknowns at values of the parameter, and their derivatives by it; one row each."""
        import numpy as np

        return np.array([c(s) for c in self._curves]), np.array([c(s, 1) for c in self._curves])

    def __call__(self, x: Any) -> dict[Coordinate, Any]:
        """The unknowns at any place between the ends."""
        import numpy as np

        if self.turns:
            raise StartError(
                f"extremal: the curve goes beyond its end and turns back, so it is not a function of "
                f"{self.functional.variable}. Its points are in .x and .y; curve.at(s) gives them for s from 0 to 1."
            )
        x = np.asarray(x, dtype=float)
        k = np.clip(np.searchsorted(self.x, x, side="right") - 1, 0, len(self.x) - 2)
        low, high = self.s[k], self.s[k + 1]
        for _ in range(52):
            middle = (low + high) / 2
            below = self._curves[0](middle) < x
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        return {c: curve((low + high) / 2) for c, curve in zip(self.y, self._curves[1:], strict=True)}

    @property
    def turns(self) -> bool:
        """Whether the variable turns back on the way."""
        return bool((self.dx < 0).any())

    @cached_property
    def second_variation(self) -> tuple[Kind, int]:
        """`kind`, and on how many independent variations the functional falls."""
        import numpy as np

        if self._known is not None:
            return self._known
        return second_variation(self.functional, self.x, np.column_stack(list(self.y.values())), self.parameters)

    @property
    def kind(self) -> Kind:
        """Its kind among neighbouring curves: "minimum", "maximum", "saddle", or "undecided".

        By the second variation on the polygon through its points. It is undecided where that is nearly degenerate (the end
        is conjugate to the start) or has no value.
        """
        return self.second_variation[0]

    @property
    def falling(self) -> int | None:
        """On how many independent variations the functional falls (Morse index), of a minimum or saddle; None elsewhere."""
        kind, number = self.second_variation
        return number if kind in ("minimum", "saddle") else None

    @cached_property
    def constants(self) -> tuple[tuple[float, float], ...]:
        """For each first integral its median along the curve and its largest relative deviation, ends left out."""
        import numpy as np

        f = self.functional
        if not f.first_integrals:
            return ()
        inner, forward = slice(1, -1), np.sign(self.dx[1:-1])  # with dx < 0 the integrand counts as f |dx|
        point = [self.x[inner], *(y[inner] for y in self.y.values()), *(p[inner] for p in self.slope.values())]
        with np.errstate(all="ignore"):
            table = f.compiled(*(i.expression for i in f.first_integrals))(*point, *self.parameters)
        found = []
        for row in table:
            values = np.broadcast_to(row, point[0].shape) * forward
            values = values[np.isfinite(values)]  # a vertical tangent has none
            middle = float(np.median(values))
            found.append((middle, float(np.abs(values - middle).max() / max(abs(middle), 1e-300))))
        return tuple(found)

    def _parts(self) -> list[Part]:
        first, last = ({self.functional.variable: self.x[k]} | {c: y[k] for c, y in self.y.items()} for k in (0, -1))
        ends = [", ".join(f"{s} = {v:.6g}" for s, v in end.items()) for end in (first, last)]
        parts: list[Part] = [
            f"Extremal from {ends[0]} to {ends[1]}, {self.method}",
            f"  value of the functional: {self.value:.12g}",
            f"  {_KINDS[self.kind].format(self.falling)}",
        ]
        pairs = zip(self.functional.first_integrals, self.constants, strict=True)
        rows = [(i.expression, f"{m:.12g}", f"{d:.1e}") for i, (m, d) in pairs]
        return [*parts, *([Table(("first integral", "value", "largest relative deviation"), rows)] if rows else [])]


_KINDS = {
    "minimum": "a minimum among neighbouring curves: the second variation is positive",
    "maximum": "a maximum among neighbouring curves: the second variation is negative",
    "saddle": "neither minimum nor maximum: the second variation has both signs (negative on {} variations)",
    "undecided": "minimum, maximum or saddle: undecided by the second variation",
}


# the value of a functional


def functional_value(
    f: Functional, curve: Any, between: Any, plus: Mapping[Coordinate, Any], parameters: Mapping[Any, Any] | None
) -> float:
    """The integral of f along a curve, given by expressions or found before, with a variation added."""
    if isinstance(curve, Extremal):
        constants = list(curve.parameters)
        added = expressions(f, {y: plus.get(y, 0) for y in f.unknowns}, constants, "plus")
        return _integral(f, curve.at, added, constants, curve.s)
    if between is None:
        raise StartError(f"value: between what? Write value(curve, (a, b)) with the ends of {f.variable}.")
    (a, b), constants = (float(x) for x in between), f.constants(parameters)
    whole = {y: curve[y] + plus.get(y, 0) for y in f.unknowns} if isinstance(curve, Mapping) and plus else curve

    def line(s: Array) -> tuple[Array, Array]:
        import numpy as np

        x, dx = a + (b - a) * s**2 * (3 - 2 * s), 6 * s * (1 - s) * (b - a)
        x = np.clip(x, np.nextafter(a, b), np.nextafter(b, a))  # rounding must not move interior points to an end
        still = np.zeros((len(f.unknowns), len(s)))
        return np.vstack([x, still]), np.vstack([dx, still])

    return _integral(f, line, expressions(f, whole, constants, "curve"), constants, ends=(a, b))


def _integral(
    f: Functional,
    curve: Any,
    added: Any,
    constants: list[float],
    corners: Any = None,
    ends: Sequence[float] | None = None,
) -> float:
    """The integral of f dx/ds over s; the ends are not quadrature points."""
    import numpy as np

    integrand = f.compiled(f.integrand)

    def density(s: Array) -> Array:
        value, rate = curve(s)
        more = np.array([np.broadcast_to(e, s.shape) for e in added(value[0])])
        change, slope = np.split(more, 2)
        point = (value[0], *(value[1:] + change), *(rate[1:] / rate[0] + slope))
        return np.abs(rate[0]) * integrand(*point, *constants)[0]

    try:
        return integral(density, np.linspace(0, 1, 65) if corners is None else corners)
    except DivergentError as wrong:
        first, place, last = curve(np.array([0.0, wrong.at, 1.0]))[0][0]
        raise MethodError(divergent(f, place, ends or (first, last), "value")) from None


def divergent(f: Functional, place: float, ends: Sequence[float], role: str = "extremal") -> str:
    """The message for an integral that diverges at a place."""
    near = next((e for e in ends if abs(place - e) < 1e-6 * abs(ends[1] - ends[0])), place)
    return (
        f"{role}: the integral diverges near {f.variable} = {near:.6g}, converges too slowly to be computed, or the "
        f"integrand has no value there. Check the ends of the curve, and that the integrand is real along it."
    )


def expressions(f: Functional, curve: Any, constants: list[float], role: str) -> Any:
    """x -> values and slopes of expressions in the variable."""
    if not isinstance(curve, Mapping) or set(curve) != set(f.unknowns):
        names = ", ".join(f"{y}: ..." for y in f.unknowns)
        raise StartError(f"{role}: expected {{{names}}}, expressions in {f.variable}; got {curve!r}.")
    given = [checks.symbols(checks.expression(curve[y], role), {f.variable}, role) for y in f.unknowns]
    compiled = numpy_function((f.variable, *f.parameters), [*given, *(e.diff(f.variable) for e in given)])
    return lambda x: compiled(x, *constants)
