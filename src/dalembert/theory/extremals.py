"""Extremals through two points, in three ways that do not depend on each other, and the value of a functional.

Integrals run over a parameter s from 0 to 1 with x = a + (b - a) s^2 (3 - 2 s), which is flat at both ends: a vertical
tangent or an integrable singularity there (the cusp of the brachistochrone) becomes smooth.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import sympy

from ..budget import Budget
from ..errors import MethodError, ModelError, StartError
from ..model import checks
from ..model.coordinates import Coordinate
from ..shown import Part, Shown, Table
from ..symbolic import vanishes
from .polygons import shortest_polygon
from .variations import Array, Functional

GAUSS = 6
"""Points per panel in quadratures."""


@dataclass(frozen=True, eq=False, repr=False)
class Extremal(Shown):
    """A curve through two points along which a functional is stationary.

    x, y:        the variable, and {unknown: array}, from one end to the other
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

        x = np.asarray(x, dtype=float)
        k = np.clip(np.searchsorted(self.x, x, side="right") - 1, 0, len(self.x) - 2)
        low, high = self.s[k], self.s[k + 1]
        for _ in range(52):
            middle = (low + high) / 2
            below = self._curves[0](middle) < x
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        return {c: curve((low + high) / 2) for c, curve in zip(self.y, self._curves[1:], strict=True)}

    @cached_property
    def constants(self) -> tuple[tuple[float, float], ...]:
        """For each first integral its median along the curve and its largest relative deviation, ends left out."""
        import numpy as np

        f = self.functional
        if not f.first_integrals:
            return ()
        inner = slice(1, -1)
        point = [self.x[inner], *(y[inner] for y in self.y.values()), *(p[inner] for p in self.slope.values())]
        table = f.compiled(*(i.expression for i in f.first_integrals))(*point, *self.parameters)
        found = []
        for row in table:
            values = np.broadcast_to(row, point[0].shape)
            middle = float(np.median(values))
            found.append((middle, float(np.abs(values - middle).max() / max(abs(middle), 1e-300))))
        return tuple(found)

    def _parts(self) -> list[Part]:
        first, last = ({self.functional.variable: self.x[k]} | {c: y[k] for c, y in self.y.items()} for k in (0, -1))
        ends = [", ".join(f"{s} = {v:.6g}" for s, v in end.items()) for end in (first, last)]
        parts: list[Part] = [
            f"Extremal from {ends[0]} to {ends[1]}, {self.method}",
            f"  value of the functional: {self.value:.12g}",
        ]
        pairs = zip(self.functional.first_integrals, self.constants, strict=True)
        rows = [(i.expression, f"{m:.12g}", f"{d:.1e}") for i, (m, d) in pairs]
        return [*parts, *([Table(("first integral", "value", "largest relative deviation"), rows)] if rows else [])]


# the value of a functional


def functional_value(
    f: Functional, curve: Any, between: Any, plus: Mapping[Coordinate, Any], parameters: Mapping[Any, Any] | None
) -> float:
    """The integral of f along a curve, given by expressions or found before, with a variation added."""
    if isinstance(curve, Extremal):
        constants = list(curve.parameters)
        added = _expressions(f, {y: plus.get(y, 0) for y in f.unknowns}, constants, "plus")
        return _integral(f, curve.at, added, constants)
    if between is None:
        raise StartError(f"value: between what? Write value(curve, (a, b)) with the ends of {f.variable}.")
    (a, b), constants = (float(x) for x in between), f.constants(parameters)
    whole = {y: curve[y] + plus.get(y, 0) for y in f.unknowns} if isinstance(curve, Mapping) and plus else curve

    def line(s: Array) -> tuple[Array, Array]:
        import numpy as np

        x, dx = a + (b - a) * s**2 * (3 - 2 * s), 6 * s * (1 - s) * (b - a)
        still = np.zeros((len(f.unknowns), len(s)))
        return np.vstack([x, still]), np.vstack([dx, still])

    return _integral(f, line, _expressions(f, whole, constants, "curve"), constants)


def _integral(f: Functional, curve: Any, added: Any, constants: list[float]) -> float:
    """Gauss quadrature of f dx/ds over s, with panels halved until nothing changes; the ends are no points of it."""
    import numpy as np

    n, integrand = len(f.unknowns), f.compiled(f.integrand)
    g, w = np.polynomial.legendre.leggauss(GAUSS)
    before = np.inf
    for panels in (400, 800, 1600, 3200):
        corners = np.linspace(0, 1, panels + 1)[:-1]
        s = (corners[:, None] + (g + 1) / (2 * panels)).ravel()
        value, rate = curve(s)
        more = np.array([np.broadcast_to(e, s.shape) for e in added(value[0])])
        point = (value[0], *(value[1:] + more[:n]), *(rate[1:] / rate[0] + more[n:]))
        total = float((np.tile(w, panels) / (2 * panels) * rate[0] * integrand(*point, *constants)[0]).sum())
        if abs(total - before) <= 1e-12 * abs(total):
            break
        before = total
    return total


def _expressions(f: Functional, curve: Any, constants: list[float], role: str) -> Any:
    """x -> values and slopes of expressions in the variable."""
    if not isinstance(curve, Mapping) or set(curve) != set(f.unknowns):
        names = ", ".join(f"{y}: ..." for y in f.unknowns)
        raise StartError(f"{role}: expected {{{names}}}, expressions in {f.variable}; got {curve!r}.")
    given = [checks.symbols(checks.expression(curve[y], role), {f.variable}, role) for y in f.unknowns]
    compiled = sympy.lambdify((f.variable, *f.parameters), [*given, *(e.diff(f.variable) for e in given)], "numpy")
    return lambda x: compiled(x, *constants)


# finding an extremal


def find_extremal(
    f: Functional, start: Any, end: Any, parameters: Any, by: str | None, guess: Any, nodes: int
) -> Extremal:
    """The extremal between two points by the method asked for, or by the first that applies."""
    a, b = f.ends(start, end)
    constants = f.constants(parameters)
    if by not in (None, "quadrature", "collocation", "direct"):
        raise MethodError(
            f"extremal: by={by!r} is not known. Use 'quadrature', 'collocation' or 'direct', or leave it out."
        )
    if all(vanishes(e) for e in [f.hessian.det()]):
        raise ModelError(
            "extremal: the second derivatives of the integrand by the slopes form a singular matrix, so Euler's equation does "
            "not determine the curve: perhaps the integral does not depend on the parametrisation. Take one of the "
            "unknowns as the variable, or the square of the integrand."
        )
    one = len(f.unknowns) == 1
    cyclic = one and vanishes(f.integrand.diff(f.unknowns[0]))
    exchanged = one and vanishes(f.integrand.diff(f.variable)) and a[1] != b[1]
    if by == "quadrature" and not (cyclic or exchanged):
        raise MethodError(
            "extremal: quadrature needs one unknown function and a first integral: y, or the variable, does not occur in "
            "the integrand. Use by='collocation' or by='direct'."
        )
    if cyclic and by in (None, "quadrature"):
        return _by_quadrature(f, a, b, constants, nodes)
    if exchanged and (by == "quadrature" or (by is None and _singular_end(f, a, b, constants))):
        return _by_exchange(f, a, b, constants, nodes)
    line = _first_curve(f, a, b, constants, guess)
    if by != "direct":
        return _by_collocation(f, a, b, constants, line, nodes)
    x, y = shortest_polygon(f, a, b, constants, line, nodes)
    return _along(f, x, y, constants)


def _first_curve(f: Functional, a: list[float], b: list[float], constants: list[float], guess: Any) -> Any:
    """x -> values and slopes to begin with."""
    import numpy as np

    if guess is not None:
        curve = _expressions(f, guess, constants, "guess")
        return lambda x: np.array([np.broadcast_to(v, np.shape(x)) for v in curve(x)])
    slopes = (np.array(b[1:]) - a[1:]) / (b[0] - a[0])
    return lambda x: np.concatenate(
        [np.array(a[1:])[:, None] + np.outer(slopes, x - a[0]), np.repeat(slopes[:, None], len(x), axis=1)]
    )


def _singular_end(f: Functional, a: list[float], b: list[float], constants: list[float]) -> bool:
    """Whether the integrand or its slopes have no value at one of the ends."""
    import numpy as np

    slopes = [(y - x) / (b[0] - a[0]) for x, y in zip(a[1:], b[1:], strict=True)]
    compiled = f.compiled(f.integrand, *(f.integrand.diff(y) for y in f.unknowns))
    with np.errstate(all="ignore"):
        return not all(np.isfinite(compiled(*map(np.float64, (*p, *slopes)), *constants)).all() for p in (a, b))


def _grid(a: float, b: float, panels: int) -> tuple[Array, Array, Array]:
    """Panel ends, Gauss points and weights in x, the last two with one row per panel."""
    import numpy as np

    s = np.linspace(0, 1, panels + 1)
    g, w = np.polynomial.legendre.leggauss(GAUSS)
    inner = s[:-1, None] + (g + 1) / 2 * np.diff(s)[:, None]
    weights = w / 2 * np.diff(s)[:, None] * 6 * inner * (1 - inner) * (b - a)
    return a + (b - a) * s**2 * (3 - 2 * s), a + (b - a) * inner**2 * (3 - 2 * inner), weights


def _by_quadrature(f: Functional, a: list[float], b: list[float], constants: list[float], nodes: int) -> Extremal:
    """df/dy' = C solved for y' at every place, and C chosen so that the integral of y' is y(b) - y(a)."""
    import numpy as np
    from scipy.optimize import brentq

    (y,) = f.unknowns
    momentum = f.compiled(f.momenta[0])
    ends, inner, weights = _grid(a[0], b[0], nodes)

    def p_of(x: Array, slope: Array) -> Array:
        return np.broadcast_to(momentum(x, 0.0, slope, *constants)[0], np.shape(x))

    with np.errstate(all="ignore"):
        # Where the range of df/dy' is narrowest, every slope gives a constant C that is within range everywhere.
        places = np.append(inner.ravel(), [ends[0], ends[-1]])
        reach = np.abs(p_of(places, np.full(places.shape, 1e8)))
        place = places[np.nanargmin(np.where(np.isfinite(reach), reach, np.inf))]

        def rise(angle: float) -> float:
            slopes = _slopes(p_of, inner, float(p_of(np.array([place]), np.sinh([angle]))[0]))
            return float((weights * slopes).sum()) - (b[1] - a[1])

        low, high = -1.0, 1.0
        while rise(low) > 0 or rise(high) < 0:
            low, high = low * 1.5, high * 1.5
            if high > 40:
                raise MethodError(_no_curve(f))
        angle = brentq(rise, low, high, xtol=1e-15, rtol=1e-15)
        constant = float(p_of(np.array([place]), np.sinh([angle]))[0])
        slopes, at_ends = _slopes(p_of, inner, constant), _slopes(p_of, ends, constant)
    curve = a[1] + np.append(0.0, np.cumsum((weights * slopes).sum(axis=1)))
    total = float((weights * f.compiled(f.integrand)(inner, 0.0, slopes, *constants)[0]).sum())
    s = np.linspace(0, 1, nodes + 1)
    dx = 6 * s * (1 - s) * (b[0] - a[0])
    dy = np.where(dx == 0, 0.0, at_ends * dx)
    method = "by quadrature of a first integral"
    return Extremal(f, ends, {y: curve}, total, method, tuple(constants), s, dx, {y: dy})


def _slopes(p_of: Any, x: Array, constant: float) -> Array:
    """y' with df/dy'(x, y') = constant: bisection in arsinh y', then secant steps to the last digit."""
    import numpy as np

    low, high = np.full(x.shape, -42.0), np.full(x.shape, 42.0)
    rising = np.nanmedian(p_of(x, np.sinh(low + 41))) < np.nanmedian(p_of(x, np.sinh(high - 41)))
    for _ in range(70):
        middle = (low + high) / 2
        above = (p_of(x, np.sinh(middle)) > constant) == rising
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    return np.sinh((low + high) / 2)


def _no_curve(f: Functional) -> str:
    return (
        f"extremal: no curve through these points was found that is a function of {f.variable} with the first integral "
        f"constant. Use by='collocation' or by='direct', with a guess, or take another variable."
    )


def _by_exchange(f: Functional, a: list[float], b: list[float], constants: list[float], nodes: int) -> Extremal:
    """The same for x(y): the functional with the roles of variable and unknown exchanged does not contain x."""
    (y,), sign = f.unknowns, 1 if b[1] > a[1] else -1
    up, x = Coordinate("exchanged_variable"), Coordinate("exchanged_unknown")
    steep = sympy.Dummy("slope", positive=True)
    # With Y = sign y rising: f(y, y') dx = f(sign Y, sign/x') x' dY.
    swapped = f.integrand.xreplace({y: sign * up, y.dot: sign / steep}) * steep
    simple = Budget(seconds=5).call(sympy.simplify, swapped)
    whole = Functional((simple if simple is not None else swapped).xreplace({steep: x.dot}), x, up)
    names = {p.name: v for p, v in zip(f.parameters, constants, strict=True)}
    found = _by_quadrature(
        whole, [sign * a[1], a[0]], [sign * b[1], b[0]], [names[p.name] for p in whole.parameters], nodes
    )
    if (found.dy[x] < 0).any():
        raise MethodError(_no_curve(f))
    method = f"by quadrature of a first integral, {f.variable} as a function of {y}"
    return Extremal(
        f,
        found.y[x],
        {y: sign * found.x},
        found.value,
        method,
        tuple(constants),
        found.s,
        found.dy[x],
        {y: sign * found.dx},
    )


def _by_collocation(
    f: Functional, a: list[float], b: list[float], constants: list[float], first: Any, nodes: int
) -> Extremal:
    """Euler's equation, solved for the second derivatives, as a boundary value problem."""
    import numpy as np
    from scipy.integrate import solve_bvp

    n = len(f.unknowns)
    push = [
        f.integrand.diff(y) - p.diff(f.variable) - sympy.Add(*(p.diff(u) * u.dot for u in f.unknowns))
        for y, p in zip(f.unknowns, f.momenta, strict=True)
    ]
    compiled = f.compiled(*push, *f.hessian)

    def rate(x: Array, state: Array) -> Array:
        table = np.array([np.broadcast_to(e, x.shape) for e in compiled(x, *state, *constants)])
        bend = np.linalg.solve(np.moveaxis(table[n:].reshape(n, n, -1), -1, 0), table[:n].T[..., None])[..., 0].T
        return np.concatenate([state[n:], bend])

    def miss(left: Array, right: Array) -> Array:
        return np.concatenate([left[:n] - a[1:], right[:n] - b[1:]])

    x = np.linspace(a[0], b[0], 41)
    try:
        with np.errstate(all="ignore"):
            found = solve_bvp(rate, miss, x, first(x), tol=1e-10, max_nodes=10 * nodes)
    except (np.linalg.LinAlgError, ValueError):
        found = None
    if found is None or not found.success:
        raise MethodError(
            "extremal: Euler's equation was not solved between these points: the curve may be singular at an end, or the "
            "first guess too far away. Give guess={y: expression}, or use by='direct'."
        )
    x = np.unique(np.append(found.x, np.linspace(a[0], b[0], nodes + 1)))
    table, length = found.sol(x), b[0] - a[0]
    y, dy = (dict(zip(f.unknowns, part, strict=True)) for part in (table[:n], table[n:] * length))
    g, w = np.polynomial.legendre.leggauss(GAUSS)
    inner = (x[:-1, None] + (g + 1) / 2 * np.diff(x)[:, None]).ravel()
    weights = (w / 2 * np.diff(x)[:, None]).ravel()
    total = float((weights * f.compiled(f.integrand)(inner, *found.sol(inner), *constants)[0]).sum())
    method = "by collocation of Euler's equation"
    return Extremal(f, x, y, total, method, tuple(constants), (x - a[0]) / length, np.full(len(x), length), dy)


def _along(f: Functional, x: Array, y: Array, constants: list[float]) -> Extremal:
    """A polygon as a curve; the functional on it is integrated side by side, with singular ends allowed."""
    import numpy as np

    s, n = np.linspace(0, 1, len(x)), len(f.unknowns)
    sides = np.diff(x)
    _, inner, weights = _grid(0.0, 1.0, 4)
    u, w = inner.ravel(), weights.ravel()
    point = [(x[:-1, None] + u * sides[:, None]).ravel()]
    point += [(y[:-1, i, None] + u * np.diff(y[:, i])[:, None]).ravel() for i in range(n)]
    point += [np.repeat(np.diff(y[:, i]) / sides, len(u)) for i in range(n)]
    total = float(((w * sides[:, None]).ravel() * f.compiled(f.integrand)(*point, *constants)[0]).sum())
    dx = np.gradient(x, s)
    dy = {c: np.gradient(y[:, i], s) for i, c in enumerate(f.unknowns)}
    values = {c: y[:, i] for i, c in enumerate(f.unknowns)}
    return Extremal(f, x, values, total, "by direct minimisation on a polygon", tuple(constants), s, dx, dy)
