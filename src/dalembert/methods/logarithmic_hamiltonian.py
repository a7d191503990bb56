"""The leapfrog of the logarithmic Hamiltonian: for particles that attract each other, however close they come."""

from __future__ import annotations

from ..discrete.state_layout import state_layout
from ..model.coordinates import time
from ..model.system import System
from ..symbolic import Fast, fast, free_names, gradient, jacobian, substitute, substitution, total
from ..theory.motion.energies import energy
from ..theory.motion.lagrange import applied_forces, momenta
from ..waist.domain import Condition
from ..waist.stepmap import STEP, TIME, Block, StepMap, guarded, with_conditions
from .own_time import OwnTimeMethod, velocity_block

BINDING = "binding.energy"
"""The name of -E in the state: the momentum that belongs to the time."""


class LogarithmicHamiltonian(OwnTimeMethod):
    """Leapfrog in the time of log(T + B) - log U, where U = -V > 0 and B = -E is the momentum of t: explicit, of order 2.

    Half a drift over the time h/2 / (T + B), a kick p' = p + h grad U / U, half a drift. It is symplectic in the extended
    state (q, t, p, B) and symmetric, and keeps linear and angular momenta. Orbits of two bodies are exact except for the
    time, so collisions and high eccentricities need no short steps. T must be a function of the momenta alone, and U positive.
    h has the unit of an action: a step takes about h/U of time.
    """

    reference = (
        "S. Mikkola, K. Tanikawa, Celest. Mech. Dyn. Astron. 74, 1999; M. Preto, S. Tremaine, Astron. J. 118, 1999"
    )
    order = 2
    symmetric = True
    momentum = True
    carries = "momentum"

    def obstacle(self, system: System) -> str:
        """L = T(v) - V(q, t) with constant masses, and no other forces."""
        if any(e != 0 for e in applied_forces(system)):
            return "it has forces that are not of its potential."
        slopes = [e for row in jacobian(momenta(system), system.velocities) for e in row]
        still = dict.fromkeys((v.name for v in system.velocities), 0)
        moving = {TIME, *(s.name for s in (*system.coordinates, *system.velocities))}
        if free_names(slopes) & moving or any(substitute(p, still) != 0 for p in momenta(system)):
            return "its masses are not constant, or its momenta do not vanish with the velocities."
        return ""

    def own_start(self, system: System) -> dict[str, Fast]:
        """B = -E, and the time."""
        return {BINDING: -fast(energy(system)), TIME: fast(TIME)}

    def step_map(self, system: System) -> StepMap:
        """Drift, kick, drift."""
        self.check(system)
        q, h, binding, t = system.coordinates, fast(STEP), fast(BINDING), fast(TIME)
        p = [fast(x.momentum) for x in q]
        still = dict.fromkeys((v.name for v in system.velocities), 0)
        attraction = substitute(fast(system.lagrangian), still)
        begin = velocity_block(system, "before", p, fast)
        v = [fast(name) for name in begin.unknowns]
        lapse = h / (2 * (kinetic(p, v) + binding))
        names = (*(f"{x.name}.middle" for x in q), "t.middle")
        drifted = [*(fast(x) + lapse * w for x, w in zip(q, v, strict=True)), t + lapse]
        middle = Block(names, tuple(fast(name) - e for name, e in zip(names, drifted, strict=True)))
        at = substitution(dict(zip((*(x.name for x in q), TIME), map(fast, names), strict=True)))
        U = at(attraction)
        kicked = [x + h * at(slope) / U for x, slope in zip(p, gradient(attraction, q), strict=True)]
        bound = binding + h * at(gradient(attraction, [time])[0]) / U
        end = velocity_block(system, "ending", kicked, at)
        w = [fast(name) for name in end.unknowns]
        later = h / (2 * (kinetic(kicked, w) + bound))
        places = [fast(x) + lapse * a + later * b for x, a, b in zip(q, v, w, strict=True)]
        made = StepMap(
            name=f"{system.name}, {self!r}",
            state=(*(x.name for x in q), *(x.momentum.name for x in q), BINDING, TIME),
            parameters=tuple(s.name for s in system.parameters),
            blocks=(begin, middle, end),
            update=(*places, *kicked, bound, t + lapse + later),
            layout=state_layout(system),
        )
        stage = dict(zip([*(x.name for x in q), TIME], map(fast, names), strict=True))
        positive = Condition("positive", (U,))
        return with_conditions(guarded(made, [system.lagrangian], [stage]), [(positive, [(U,)])])


def kinetic(p: list[Fast], v: list[Fast]) -> Fast:
    """T = p.v/2."""
    return total(a * b for a, b in zip(p, v, strict=True)) / 2
