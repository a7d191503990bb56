"""SciPy's adaptive methods with tolerances relative to the motion, whatever its units.

The error of a position is compared with its largest distance from the start so far, that of a velocity or a momentum with
its largest value so far. A component that is zero except for the rounding errors of others is compared with these:
with masses m_i = d2L/dv_i^2 the speed u of the whole motion, u^2 = sum m_i v_i^2, causes rounding errors of about
1e-16 u / sqrt(m_i) in v_i.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from ..engine.status import Status
from ..errors import StartError
from ..waist.layout import Groups
from .values import Array

ROUNDING = 4e-15
"""Rounding error of a velocity, relative to the speed of the whole motion."""

ORIGIN = 0.1
"""Times `ROUNDING`: rounding error of a position, relative to its distance from the origin."""

FIRST = 1e-4
"""The first step, relative to the time in which the velocity changes."""

COLLAPSED, PATIENCE = 1e-5, 2000
"""After PATIENCE steps in a row shorter than COLLAPSED times the longest, the motion is taken to approach a singular point."""

ENDLESS, LOOK = 1e12, 1000
"""A motion that would take more than ENDLESS steps is refused; first checked after LOOK steps."""

RETRIES, SHORTER = 12, 0.6
"""How often a step is retried after a point where the rates are undefined, and by what factor it is shortened."""

Kinetic = Callable[[float, Array, Array], tuple[Array, Array, Array]]
"""(t, y, rate) -> velocities, accelerations (or their counterparts) and |d2L/dv_i^2|."""


class Left(Exception):
    """The rates are undefined at a point the solver evaluated."""

    def __init__(self, status: int):
        super().__init__(status)
        self.status = Status(status)


class Adaptive:
    """One motion y(t), step by step; `groups` are the columns of y: position, velocity or momentum, and others.

    `per_number` converts sizes of displacements, one per direction, to the numbers that represent a position.
    """

    def __init__(
        self, kind: Literal["DOP853", "Radau"], rate: Callable[[float, Array], Array], times: Array, state: Array,
        tolerance: tuple[float, float | None], kinetic: Kinetic, groups: Groups, second: Literal["velocity", "momentum"],
        per_number: Callable[[Array], Array] = lambda values: values,
    ):  # fmt: skip
        from scipy.integrate import DOP853, Radau

        self.rtol, self.atol = tolerance
        self._kinetic, self._second, self._per_number = kinetic, second, per_number
        self.times = times
        self._placed, self._moving = groups.columns("position"), groups.columns(second)
        self._begun, self._largest = state.copy(), np.zeros_like(state)
        f = rate(times[0], state)
        span = float(times[-1] - times[0])
        if len(times) > 1 and not span > 0:
            raise StartError(
                f"t = {times[0]:g}: steps as short as these are lost there in rounding. Begin at an earlier time."
            )
        first = self._first(times[0], state, f, span)
        self.solver: Any = (DOP853 if kind == "DOP853" else Radau)(
            rate, times[0], state, times[-1], rtol=self.rtol, atol=self._tolerances(times[0], state, f, first),
            first_step=first,
        )  # fmt: skip
        if self.atol is None:
            self.solver.rtol = 0.0  # relative to the distance from the origin
        self._longest, self._short = 0.0, 0
        self._count, self._halfway = 0, 0.0
        self._left: Left | None = None

    def _first(self, t: float, y: Array, f: Array, span: float) -> float:
        """A first step, short relative to the time in which velocities change; it may grow tenfold with every step."""
        v, a, mass = self._kinetic(t, y, f)
        speed, change = np.sqrt(mass @ v**2), np.sqrt(mass @ a**2)
        changing = speed / change if speed > 0 and change > 0 else 1e-3 * span
        return FIRST * min(span, changing if np.isfinite(changing) and changing > 0 else span)

    def _tolerances(self, t: float, y: Array, f: Array, h: float) -> Any:
        """The tolerance of each component in a step of about h, from the motion so far."""
        if self.atol is not None:
            return self.atol
        v, a, mass = self._kinetic(t, y, f)
        root, placed, moving = np.sqrt(mass), self._placed, self._moving
        speed = np.sqrt(mass @ v**2)
        rounding = np.divide(speed, root, out=np.zeros(len(v)), where=root > 0)
        noise = ORIGIN * np.abs(y)
        noise[placed] += self._per_number(h * rounding)
        noise[moving] = rounding if self._second == "velocity" else speed * root
        away = np.abs(y - self._begun)
        away[moving] = np.abs(y[moving])
        ahead = np.abs(f) * h
        ahead[placed] += self._per_number(np.abs(a) * h**2)
        self._largest = np.maximum(self._largest, away)
        found = self.rtol * np.maximum(self._largest, ahead) + ROUNDING * noise
        return np.where(found > 0, found, 1e-140)

    def step(self) -> bool:
        """Make one step; false if none was possible."""
        solver = self.solver
        for attempt in range(RETRIES + 1):
            try:
                with np.errstate(over="ignore", invalid="ignore"):  # of a component that was zero so far
                    solver.step()
                break
            except Left as left:  # a shorter step may stop before a singular point, or pass it with other points
                solver.h_abs *= SHORTER
                self._left = left
                if attempt == RETRIES:
                    raise
        size = float(solver.step_size or 0.0)
        self._longest = max(self._longest, size)
        self._count += 1
        self._check_end()
        self._short = self._short + 1 if size < COLLAPSED * self._longest else 0
        if solver.status == "failed" or self._short > PATIENCE:
            if self._left is not None:
                raise self._left
            self._look_ahead()
            return False
        solver.atol = self._tolerances(
            solver.t, solver.y, solver.f, size
        )  # the next step may be longer: a stricter tolerance
        return True

    def _check_end(self) -> None:
        """Refuse a motion that would take too many steps; checked after 1000, 2000, 4000, ... steps."""
        looks, left = divmod(self._count, LOOK)
        if left or looks & (looks - 1):
            return
        gone, solver = self.solver.t - self.times[0], self.solver
        steps = self._count * (solver.t_bound - solver.t) / gone
        grows = gone > 4 * self._halfway  # steps are still growing: no estimate yet
        self._halfway = gone
        if steps > ENDLESS and not grows and looks > 1:
            raise StartError(
                f"t = {self.times[0]:g} to {solver.t_bound:g}: the adaptive solution takes steps of about "
                f"{gone / self._count:.1g}, which makes {steps:.0e} of them. Give a shorter h, or fewer steps."
            )

    def _look_ahead(self) -> None:
        """Raise `Left` if the rates are undefined a little ahead: steps become short near the edge of the domain."""
        solver = self.solver
        for ahead in self._longest * 10.0 ** -np.arange(12):
            solver.fun(solver.t + ahead, solver.y + ahead * solver.f)

    def replace(self, y: Array) -> None:
        """Continue from another state at the present time."""
        self.solver.y = y
        self.solver.f = self.solver.fun(self.solver.t, y)
