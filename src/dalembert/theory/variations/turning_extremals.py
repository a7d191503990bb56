"""Extremals of f(u, u') that turn: u rises to a largest value and falls again, or the other way round.

With Beltrami's integral f - u' df/du' = C the slope is a function of u on each of the two parts, and C = f(u_m, 0) where
the curve turns at u_m. So the length of the curve in the variable is the sum of two quadratures, a function of u_m.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..algebra import simplified
from .functionals import Array, Functional
from .improper_integrals import panel_points

FLAT, STEEP = -60.0, 25.0
"""Slopes are sought from exp(FLAT) to exp(STEEP) times the mean slope: steeper ones are dominated by rounding."""


@dataclass(frozen=True)
class Turning:
    """A curve by a parameter s from 0 to 1 in which it is smooth: variable w, unknown u, their derivatives, the integral."""

    s: Array
    w: Array
    u: Array
    dw: Array
    du: Array
    value: float


class _Problem:
    """f(u, u') with Beltrami's integral, between two points (w, u)."""

    def __init__(self, f: Functional, a: list[float], b: list[float], constants: list[float]):
        (y,) = f.unknowns
        self.f, self.a, self.b, self.constants = f, a, b, constants
        self.length = b[0] - a[0]
        self.unit = max(abs(a[1]), abs(b[1]), abs(b[1] - a[1])) or self.length
        self._compiled = f.compiled(
            f.integrand, simplified(f.integrand - y.dot * f.momenta[0]), f.integrand.diff(y), f.hessian[0, 0]
        )

    def at(self, u: Array, slope: Array) -> list[Array]:
        """f, Beltrami's integral, df/du and d2f/du'du'."""
        import numpy as np

        found = self._compiled(self.a[0], u, slope, *self.constants)
        return [np.broadcast_to(e, np.shape(u)) for e in found]

    def slopes(self, u: Array, constant: float, sign: int) -> Array:
        """The slope of one sign at which Beltrami's integral has its value; not-a-number where there is none."""
        import numpy as np

        mean = self.unit / self.length

        def off(log: Array) -> Array:
            return self.at(u, sign * mean * np.exp(log))[1] - constant

        low, high = np.full(u.shape, FLAT), np.full(u.shape, STEEP)
        begin, end = off(low), off(high)
        for _ in range(64):
            middle = (low + high) / 2
            same = (off(middle) > 0) == (begin > 0)
            low, high = np.where(same, middle, low), np.where(same, high, middle)
        return np.where((begin > 0) != (end > 0), sign * mean * np.exp((low + high) / 2), np.nan)

    def part(self, start: float, turn: float, sign: int, panels: int) -> tuple[Array, Array, Array]:
        """From an end to the turn in panels of a parameter: increments of the variable, of the integral; corners."""
        import numpy as np

        corners = np.linspace(0, 1, panels + 1)
        p, weights = panel_points(corners[:-1], corners[1:])
        u = start + (turn - start) * p**2 * (3 - 2 * p)
        # Near the turn the small distance from it matters: it is computed without cancellation.
        near = turn - (turn - start) * (1 - p) ** 2 * (1 + 2 * p)
        u = np.where(p > 0.5, near, u)
        constant = float(self.at(np.array(turn), np.array(0.0))[1])
        slope = self.slopes(u, constant, sign)
        steps = weights * 6 * p * (1 - p) * (turn - start) / slope
        return steps.sum(axis=1), (steps * self.at(u, slope)[0]).sum(axis=1), corners

    def span(self, turn: float, side: int, panels: int = 40) -> float:
        """The change of the variable on a curve that turns at a place."""
        # u rises to a turn above it; the second part is run through backward, where w falls: its slope has the other sign.
        first = self.part(self.a[1], turn, side, panels)[0].sum()
        second = self.part(self.b[1], turn, -side, panels)[0].sum()
        return float(first - second)


def turning_curves(f: Functional, a: list[float], b: list[float], constants: list[float], nodes: int) -> list[Turning]:
    """All curves found between two points that turn once, those on which the functional is least first."""
    import numpy as np
    from scipy.optimize import brentq

    problem, found = _Problem(f, a, b, constants), []
    with np.errstate(all="ignore"):
        for side in (1, -1):
            edge = side * max(side * a[1], side * b[1])
            scale = max(problem.unit, problem.length)

            def gap(log: float, side: int = side, edge: float = edge, scale: float = scale) -> float:
                return problem.span(edge + side * scale * np.exp(log), side) - problem.length

            grid = np.linspace(-28.0, 28.0, 85)
            heights = np.array([gap(log) for log in grid])
            for k in np.flatnonzero(heights[:-1] * heights[1:] <= 0):
                log = brentq(gap, grid[k], grid[k + 1], xtol=1e-13, rtol=1e-13)
                found.append(_curve(problem, edge + side * scale * np.exp(log), side, nodes))
    return sorted((c for c in found if c is not None), key=lambda c: c.value)


def _curve(problem: _Problem, turn: float, side: int, nodes: int) -> Turning | None:
    """The curve that turns at a place; None if its quadratures do not converge."""
    import numpy as np

    (a, b), ends = (problem.a, problem.b), (problem.a[1], problem.b[1])
    reach = [np.sqrt(abs(turn - e)) for e in ends]
    share = reach[0] / sum(reach)  # with this place of the turn, dw/ds is the same on both sides of it
    first = min(max(round(nodes * share), 2), nodes - 2)
    total, pieces = 0.0, []
    for end, sign, panels, width in ((ends[0], side, first, share), (ends[1], -side, nodes - first, 1 - share)):
        steps, values, p = problem.part(end, turn, sign, panels)
        rough = problem.part(end, turn, sign, max(panels // 2, 1))[1].sum()
        if not abs(values.sum() - rough) <= 1e-5 * abs(values.sum()):
            return None
        u, du = end + (turn - end) * p**2 * (3 - 2 * p), 6 * p * (1 - p) * (turn - end)
        constant = float(problem.at(np.array(turn), np.array(0.0))[1])
        slope = problem.slopes(u, constant, sign)
        dw = np.where(du == 0, 0.0, du / slope)
        bend = problem.at(np.array(turn), np.array(0.0))
        curvature = float(bend[2] / bend[3])  # u'' where u' = 0, by Euler's equation
        dw[-1] = np.sqrt(6 * abs(turn - end) / abs(curvature)) * (1 if sign == side else -1)
        pieces.append((p * width, np.append(0.0, np.cumsum(steps)), u, dw / width, du / width))
        total += values.sum() * (1 if sign == side else -1)
    (s, w, u, dw, du), (s2, w2, u2, dw2, du2) = pieces
    back = slice(-2, None, -1)
    whole = (
        np.append(s, 1 - s2[back]),
        np.append(a[0] + w, b[0] + w2[back]),
        np.append(u, u2[back]),
        np.append(dw, -dw2[back]),
        np.append(du, -du2[back]),
    )
    if not all(np.isfinite(part).all() for part in whole) or (np.diff(whole[1]) <= 0).any():
        return None
    return Turning(*whole, float(total))
