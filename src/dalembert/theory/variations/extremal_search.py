"""The extremal between two points, by three independent methods."""

from __future__ import annotations

from typing import Any

import sympy

from ...decide.zero import vanishes
from ...errors import MethodError, ModelError
from ...waist.layout import spans
from .extremal_quadrature import by_exchange, by_quadrature, turning, turning_back
from .extremals import Extremal, divergent, expressions
from .functionals import Array, Functional
from .improper_integrals import DivergentError, integral
from .polygons import stationary_polygon


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
    autonomous = one and vanishes(f.integrand.diff(f.variable))
    if by == "quadrature" and not (cyclic or autonomous):
        raise MethodError(
            "extremal: quadrature needs one unknown function and a first integral: y, or the variable, does not occur in "
            "the integrand. Use by='collocation' or by='direct'."
        )
    if cyclic and by in (None, "quadrature"):
        return by_quadrature(f, a, b, constants, nodes) or turning_back(f, a, b, constants, nodes)
    if autonomous and (by == "quadrature" or (by is None and _singular_end(f, a, b, constants))):
        return by_exchange(f, a, b, constants, nodes) or turning(f, a, b, constants, nodes)
    line = _first_curve(f, a, b, constants, guess)
    if by != "direct":
        return _by_collocation(f, a, b, constants, line, nodes)
    x, y = stationary_polygon(f, a, b, constants, line, nodes)
    return _along(f, x, y, constants)


def _first_curve(f: Functional, a: list[float], b: list[float], constants: list[float], guess: Any) -> Any:
    """x -> values and slopes to begin with."""
    import numpy as np

    if guess is not None:
        curve = expressions(f, guess, constants, "guess")
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


def _between(rate: Any, miss: Any, x: Array, guess: Array, nodes: int) -> Any:
    """The solution of a boundary value problem."""
    import numpy as np
    from scipy.integrate import solve_bvp

    for tolerance in (1e-10, 1e-8):  # the first may be below the rounding error
        try:
            with np.errstate(all="ignore"):
                found = solve_bvp(rate, miss, x, guess, tol=tolerance, max_nodes=20 * nodes)
        except (np.linalg.LinAlgError, ValueError):
            continue
        if found.success:
            return found
    raise MethodError(
        "extremal: Euler's equation was not solved between these points: the curve may be singular at an end, or the "
        "first guess too far away. Give guess={y: expression}, or use by='direct'."
    )


def _by_collocation(
    f: Functional, a: list[float], b: list[float], constants: list[float], first: Any, nodes: int
) -> Extremal:
    """Euler's equation, solved for the second derivatives, as a boundary value problem."""
    import numpy as np

    n = len(f.unknowns)
    push = [
        f.integrand.diff(y) - p.diff(f.variable) - sympy.Add(*(p.diff(u) * u.dot for u in f.unknowns))
        for y, p in zip(f.unknowns, f.momenta, strict=True)
    ]
    compiled = f.compiled(*push, *f.hessian)
    x = np.linspace(0, 1, 41)
    width, guess = b[0] - a[0], first(a[0] + (b[0] - a[0]) * x)
    # The solver's tolerance is for functions of size one: x from 0 to 1, each unknown in units of its largest value.
    value, slope = spans(n, n)
    heights = np.abs([*guess[value].T, a[1:], b[1:]]).max(axis=0)
    unit = np.where(heights > 0, heights, np.maximum(np.abs(guess[slope]).max(axis=1) * width, 0.0))
    unit = np.where(unit > 0, unit, 1.0)[:, None]
    scale = np.concatenate([unit, unit / width])

    def rate(s: Array, state: Array) -> Array:
        whole = state * scale
        table = np.array([np.broadcast_to(e, s.shape) for e in compiled(a[0] + width * s, *whole, *constants)])
        right, matrix = (table[part] for part in spans(n, n * n))
        bend = np.linalg.solve(np.moveaxis(matrix.reshape(n, n, -1), -1, 0), right.T[..., None])[..., 0].T
        return np.concatenate([state[slope], bend * width**2 / unit])

    def miss(left: Array, right: Array) -> Array:
        return np.concatenate([left[value] - a[1:] / unit[:, 0], right[value] - b[1:] / unit[:, 0]])

    found = _between(rate, miss, x, guess / scale, nodes)
    s = np.unique(np.append(found.x, np.linspace(0, 1, nodes + 1)))
    s = s[np.append(True, np.diff(s) > 1e-6 / nodes)]  # merges points that differ by rounding
    s[-1] = 1.0
    table = found.sol(s) * np.concatenate([unit, unit])
    y, dy = (dict(zip(f.unknowns, part, strict=True)) for part in (table[value], table[slope]))

    def density(p: Array) -> Array:
        return width * f.compiled(f.integrand)(a[0] + width * p, *(found.sol(p) * scale), *constants)[0]

    try:
        total = integral(density, s)
    except DivergentError as wrong:
        raise MethodError(divergent(f, a[0] + width * wrong.at, (a[0], b[0]))) from None
    method = "by collocation of Euler's equation"
    return Extremal(f, a[0] + width * s, y, total, method, tuple(constants), s, np.full(len(s), width), dy)


def _along(f: Functional, x: Array, y: Array, constants: list[float]) -> Extremal:
    """A polygon as a curve; the functional on it is integrated side by side, with singular ends allowed."""
    import numpy as np

    sides, rises, integrand = np.diff(x), np.diff(y, axis=0), f.compiled(f.integrand)

    def density(place: Array) -> Array:
        k = np.clip(place.astype(int), 0, len(sides) - 1)
        p = place - k
        u, rate = p**2 * (3 - 2 * p), 6 * p * (1 - p) * sides[k]
        point = [x[k] + u * sides[k], *(y[k] + u[:, None] * rises[k]).T, *(rises[k] / sides[k, None]).T]
        return rate * integrand(*point, *constants)[0]

    try:
        total = integral(density, np.arange(len(x), dtype=float))
    except DivergentError as wrong:
        raise MethodError(divergent(f, float(np.interp(wrong.at, np.arange(len(x)), x)), (x[0], x[-1]))) from None
    s = np.linspace(0, 1, len(x))
    dx, dy = np.gradient(x, s), {c: np.gradient(y[:, i], s) for i, c in enumerate(f.unknowns)}
    values = {c: y[:, i] for i, c in enumerate(f.unknowns)}
    return Extremal(f, x, values, total, "by the direct method, on a polygon", tuple(constants), s, dx, dy)
