"""Extremals of one unknown function by quadrature of a first integral.

If y does not occur in the integrand, df/dy' = C gives the slope as a function of x; if x does not occur, the same holds
for x(y); and where the curve turns, for both of its parts.
"""

from __future__ import annotations

from typing import Any

import sympy

from ...decide.budget import Budget
from ...errors import MethodError
from ...model.coordinates import Coordinate
from .extremals import Extremal, divergent
from .functionals import Array, Functional
from .improper_integrals import DivergentError, integral, panel_points
from .polygons import second_variation
from .turning_extremals import Turning, turning_curves


def _grid(a: float, b: float, panels: int) -> tuple[Array, Array, Array]:
    """Panel ends, Gauss points and weights in x, the last two with one row per panel."""
    import numpy as np

    s = np.linspace(0, 1, panels + 1)
    inner, weights = panel_points(s[:-1], s[1:])
    ends, x = (a + (b - a) * p**2 * (3 - 2 * p) for p in (s, inner))
    return ends, x, weights * 6 * inner * (1 - inner) * (b - a)


def by_quadrature(f: Functional, a: list[float], b: list[float], constants: list[float], nodes: int) -> Extremal | None:
    """df/dy' = C solved for y' at every place, and C chosen so that the integral of y' is y(b) - y(a); None without such C."""
    import numpy as np
    from scipy.optimize import brentq

    (y,) = f.unknowns
    momentum = _Momentum(f, a, b, constants)
    ends, inner, weights = _grid(a[0], b[0], nodes)
    with np.errstate(all="ignore"):
        place = momentum.narrowest(np.append(inner.ravel(), [ends[0], ends[-1]]))

        def constant(angle: float) -> float:
            return float(momentum(np.array([place]), momentum.unit * np.sinh([angle]))[0])

        def rise(angle: float) -> float:
            return float((weights * momentum.slopes(inner, constant(angle))).sum()) - (b[1] - a[1])

        low, high = -1.0, 1.0
        while rise(low) > 0 or rise(high) < 0:
            low, high = low * 1.5, high * 1.5
            if high > 40:
                return None
        C = constant(brentq(rise, low, high, xtol=1e-300, rtol=1e-15))
        slopes, at_ends = momentum.slopes(inner, C), momentum.slopes(ends, C)
        total = _settled(f, a, b, constants, momentum, C)
    if total is None:
        return None
    curve = a[1] + np.append(0.0, np.cumsum((weights * slopes).sum(axis=1)))
    s = np.linspace(0, 1, nodes + 1)
    dx = 6 * s * (1 - s) * (b[0] - a[0])
    dy = np.where(dx == 0, 0.0, at_ends * dx)
    method = "by quadrature of a first integral"
    return Extremal(f, ends, {y: curve}, total, method, tuple(constants), s, dx, {y: dy})


def _settled(
    f: Functional, a: list[float], b: list[float], constants: list[float], momentum: _Momentum, C: float
) -> float | None:
    """The functional on the curve with df/dy' = C, by a separate quadrature; None if the curve does not end in b.

    A slope that is not integrable has a sum on every grid, which is not the integral.
    """
    import numpy as np

    width, integrand = b[0] - a[0], f.compiled(f.integrand)

    def along(s: Array) -> tuple[Array, Array, Array]:
        x = a[0] + width * s**2 * (3 - 2 * s)
        return x, momentum.slopes(x, C), 6 * s * (1 - s) * width

    def height(s: Array) -> Array:
        _, slope, rate = along(s)
        return slope * rate

    def density(s: Array) -> Array:
        x, slope, rate = along(s)
        return integrand(x, 0.0, slope, *constants)[0] * rate

    corners = np.linspace(0, 1, 65)
    try:
        risen = integral(height, corners)
    except DivergentError:
        return None
    if abs(risen - (b[1] - a[1])) > 1e-6 * max(abs(a[1]), abs(b[1]), abs(b[1] - a[1]), abs(risen)):
        return None
    try:
        return integral(density, corners)
    except DivergentError as wrong:
        raise MethodError(divergent(f, float(along(np.array([wrong.at]))[0][0]), (a[0], b[0]))) from None


class _Momentum:
    """df/dy' as a function of x and y', for an integrand without y; and its inverse."""

    def __init__(self, f: Functional, a: list[float], b: list[float], constants: list[float]):
        import numpy as np

        self._compiled, self.constants = f.compiled(f.momenta[0], f.hessian[0, 0]), constants
        height = max(abs(a[1]), abs(b[1]), abs(b[1] - a[1]))
        self.unit = height / (b[0] - a[0])
        if not self.unit:  # from 0 to 0: the size of slopes that compensate the variation of df/dy' at y' = 0
            places = _grid(a[0], b[0], 16)[1].ravel()
            with np.errstate(all="ignore"):
                p, stiffness = (np.broadcast_to(e, places.shape) for e in self._compiled(places, 0.0, 0.0, *constants))
                found = float(np.ptp(p) / np.median(np.abs(stiffness)))
            self.unit = found if np.isfinite(found) and found > 0 else 1.0

    def __call__(self, x: Array, slope: Array) -> Array:
        import numpy as np

        return np.broadcast_to(self._compiled(x, 0.0, slope, *self.constants)[0], np.shape(x))

    def narrowest(self, places: Array) -> Any:
        """The place where the range of df/dy' is narrowest: every slope there gives a constant that is in range everywhere."""
        import numpy as np

        reach = np.abs(self(places, np.full(places.shape, 1e8 * self.unit)))
        return places[np.argmin(np.where(np.isfinite(reach) & (reach > 0), reach, np.inf))]

    def slopes(self, x: Array, constant: float) -> Array:
        """y' with df/dy'(x, y') = constant: bisection in arsinh(y'/unit)."""
        import numpy as np

        low, high = np.full(x.shape, -42.0), np.full(x.shape, 42.0)
        falls, rises = (np.nanmedian(self(x, self.unit * np.sinh(angle + 0 * x))) for angle in (-1.0, 1.0))
        for _ in range(70):
            middle = (low + high) / 2
            above = (self(x, self.unit * np.sinh(middle)) > constant) == (falls < rises)
            low, high = np.where(above, low, middle), np.where(above, middle, high)
        return self.unit * np.sinh((low + high) / 2)


def _no_curve(f: Functional) -> str:
    return (
        f"extremal: no curve through these points was found that is a function of {f.variable} with the first integral "
        f"constant. Use by='collocation' or by='direct', with a guess, or take another variable."
    )


def _exchanged(f: Functional, sign: int) -> Functional:
    """The functional for x(Y) with Y = sign y rising: f(x, y, y') dx = f(x, sign Y, sign/x') x' dY."""
    (y,) = f.unknowns
    up, x = Coordinate("exchanged_variable"), Coordinate("exchanged_unknown")
    steep = sympy.Dummy("slope", positive=True)
    swapped = f.integrand.xreplace({y: sign * up, y.dot: sign / steep, f.variable: x}) * steep
    simple = Budget(seconds=5).call(sympy.simplify, swapped)
    return Functional((simple if simple is not None else swapped).xreplace({steep: x.dot}), x, up)


def _parameters(f: Functional, constants: list[float], other: Functional) -> list[float]:
    names = {p.name: v for p, v in zip(f.parameters, constants, strict=True)}
    return [names[p.name] for p in other.parameters]


def by_exchange(f: Functional, a: list[float], b: list[float], constants: list[float], nodes: int) -> Extremal | None:
    """By quadrature for x(y): the functional with the roles of variable and unknown exchanged does not contain x."""
    (y,), sign = f.unknowns, 1 if b[1] > a[1] else -1
    if a[1] == b[1]:
        return None
    whole = _exchanged(f, sign)
    (x,) = whole.unknowns
    found = by_quadrature(whole, [sign * a[1], a[0]], [sign * b[1], b[0]], _parameters(f, constants, whole), nodes)
    if found is None or (found.dy[x] < 0).any():
        return None
    method = f"by quadrature of a first integral, {f.variable} as a function of {y}"
    drawn = found.y[x], {y: sign * found.x}, found.value, method, tuple(constants), found.s, found.dy[x]
    # The curve may be steep: its second variation is that of x(y), which is the same integral.
    return Extremal(f, *drawn, {y: sign * found.dx}, found.second_variation)


def turning(f: Functional, a: list[float], b: list[float], constants: list[float], nodes: int) -> Extremal:
    """The curve on which the unknown turns once; of several, that with the least value."""
    (y,) = f.unknowns
    found = turning_curves(f, a, b, constants, nodes)
    if not found:
        raise MethodError(_no_curve(f))
    c, method = found[0], "by quadrature of a first integral, with a turning point"
    return Extremal(f, c.w, {y: c.u}, c.value, method, tuple(constants), c.s, c.dw, {y: c.du})


def turning_back(f: Functional, a: list[float], b: list[float], constants: list[float], nodes: int) -> Extremal:
    """The curve on which the variable itself turns back, where the integral is one over |dx| along any curve."""
    import numpy as np

    (y,), sign = f.unknowns, 1 if b[1] > a[1] else -1
    found: list[Turning] = []
    if a[1] != b[1]:
        whole = _exchanged(f, sign)
        values = _parameters(f, constants, whole)
        with np.errstate(all="ignore"):
            back = f.compiled(f.integrand)(a[0] / 3 + 2 * b[0] / 3, 0.0, -1 / np.array([0.3, 1.7]), *constants)[0]
            there = whole.compiled(whole.integrand)(0.0, a[0] / 3 + 2 * b[0] / 3, np.array([-0.3, -1.7]), *values)[0]
        if np.allclose(back * np.array([0.3, 1.7]), there, rtol=1e-9, atol=0):
            found = turning_curves(whole, [sign * a[1], a[0]], [sign * b[1], b[0]], values, nodes)
    if not found:
        raise MethodError(_no_curve(f))
    c, method = found[0], f"by quadrature of a first integral; {f.variable} turns back on the way"
    kind = second_variation(whole, c.w, c.u[:, None], values)
    return Extremal(f, c.u, {y: sign * c.w}, c.value, method, tuple(constants), c.s, c.du, {y: sign * c.dw}, kind)
