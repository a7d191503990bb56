"""Sundman's time transformation with a step length that is integrated along with the motion: explicit and reversible."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..errors import MethodError
from ..model import checks
from ..model.coordinates import time
from ..model.system import System
from ..symbolic import Fast, fast, substitution
from ..waist.domain import Condition
from ..waist.stepmap import STEP, TIME, Block, StepMap, with_conditions
from .base import Method
from .own_time import OwnTimeMethod, is_quadratic, rate, velocity_block
from .trapezoidal import StormerVerlet

DENSITY = "step.density"
"""The name, in the state, of the number of steps per time, times h."""


class Sundman(OwnTimeMethod):
    """Steps of a symmetric method whose lengths are h s(q), for a function s that is small where steps are to be short.

    With dt = s dtau and r = 1/s the system r' = -(ds/dt)/s, t' = 1/r, q' = v/r, ... is split symmetrically: half a step of r,
    a step of the method over the time h/r, half a step of r, with steps h of tau. This is symmetric, and reversible where
    the method is, so that errors of the energy do not drift in reversible systems; it is not symplectic. Momenta and
    energy are kept where the method keeps them with steps of any length.

    s:       an expression in coordinates and parameters, such as (x**2 + y**2)**(3/4) for Kepler's problem
    method:  a symmetric method, such as StormerVerlet(), Gauss(2) or Composition(StormerVerlet(), 8)
    """

    reference = (
        "E. Hairer and G. Soderlind, Explicit, time reversible, adaptive step size control, "
        "SIAM J. Sci. Comput. 26, 2005"
    )
    symmetric = True

    def __init__(self, s: Any, method: Method | None = None):
        self.method = StormerVerlet() if method is None else method
        told = (
            "Expected a symmetric one with a fixed step and momenta, such as StormerVerlet(), Midpoint() or Gauss(2)."
        )
        if not isinstance(self.method, Method):
            raise MethodError(f"Sundman: got the method {self.method!r}. {told}")
        if self.method.adaptive or not self.method.symmetric or self.method.carries != "momentum":
            why = self.method.steps_told if self.method.adaptive else "carries velocities"
            why = why if self.method.adaptive or self.method.symmetric else "is not symmetric"
            raise MethodError(f"Sundman: {self.method!r} {why}. {told}")
        self.s = checks.expression(s, "Sundman: s")
        if self.s.is_nonpositive:
            raise MethodError(
                f"Sundman: s = {self.s} is not positive. Expected a function that is, such as sqrt(x**2 + y**2)."
            )

    @property
    def order(self) -> int:  # type: ignore[override]
        """As the method."""
        return self.method.order

    @property
    def momentum(self) -> bool:  # type: ignore[override]
        """As the method."""
        return self.method.momentum

    @property
    def energy(self) -> bool:  # type: ignore[override]
        """As the method."""
        return self.method.energy

    carries = "momentum"

    def obstacle(self, system: System) -> str:
        """The velocities must be determined by linear equations; and the method must apply."""
        return self.method.obstacle(system) if is_quadratic(system) else "its momenta are not linear in the velocities."

    def _length(self, system: System) -> Fast:
        """s, which contains symbols of the system only."""
        return fast(checks.symbols(self.s, [*system.coordinates, *system.parameters, time], "Sundman: s"))

    def own_start(self, system: System) -> dict[str, Fast]:
        """The density 1/s, and the time."""
        return {DENSITY: 1 / self._length(system), TIME: fast(TIME)}

    def step_map(self, system: System) -> StepMap:
        """Half a step of the density, a step of the method, half a step of the density."""
        self.check(system)
        base, s, h, density = self.method.step_map(system), self._length(system), fast(STEP), fast(DENSITY)
        momenta = [q.momentum.name for q in system.coordinates]
        before = velocity_block(system, "before", [fast(p) for p in momenta], fast)
        begun = h / 2 * -rate(system, s, [fast(v) for v in before.unknowns]) / s
        half = density + begun
        now = substitution({STEP: h / half})
        ends = dict(zip(base.state, map(now, base.update), strict=True)) | {TIME: fast(TIME) + h / half}
        later = substitution({name: e for name, e in ends.items() if name not in momenta})
        after = velocity_block(system, "ending", [ends[p] for p in momenta], later)
        ended = h / 2 * later(-rate(system, s, [fast(v) for v in after.unknowns]) / s)
        made = replace(
            base,
            name=f"{system.name}, {self!r}",
            state=(*base.state, DENSITY, TIME),
            blocks=(
                before,
                *(Block(b.unknowns, tuple(map(now, b.residual)), tuple(map(now, b.guess))) for b in base.blocks),
                after,
            ),
            update=(*(ends[name] for name in base.state), density + begun + ended, ends[TIME]),
            outputs={name: now(e) for name, e in base.outputs.items()},
            guards=tuple(replace(g, places=tuple(tuple(map(now, p)) for p in g.places)) for g in base.guards),
        )
        positive = [(Condition("positive", (half,)), [(half,)]), (Condition("positive", (s,)), [(s,), (later(s),)])]
        return with_conditions(made, positive)

    def __repr__(self) -> str:
        return f"Sundman({self.s}, {self.method!r})"
