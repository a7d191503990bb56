"""The energy T + V of a system and its Jacobi integral p.v - L, and the meaning of the latter.

They differ where the kinetic energy has parts T1, T0 of lower degree in the velocities: in a moving frame, or where a motion
is imposed. There the Jacobi integral is T2 - T0 + V, and the energy is larger by T1 + 2 T0.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from ...decide.zero import vanishes
from ...model.system import System
from ...symbolic import Fast, fast
from .lagrange import jacobi_integral, readable
from .velocity_degrees import quadratic_part


@dataclass(frozen=True)
class Meaning:
    """The meaning of the Jacobi integral h = p.v - L of a system.

    is_energy:  whether it is the energy
    lacking:    T1 + 2 T0, by which the energy is more than h; 0 where both are the same, or T and V are not known apart
    text:       the same in words
    """

    is_energy: bool
    lacking: Fast
    text: str

    @property
    def name(self) -> str:
        """The name of h."""
        return "energy" if self.is_energy else "Jacobi integral"


@lru_cache(maxsize=64)
def meaning(system: System) -> Meaning:
    """Whether the Jacobi integral is the energy, and why."""
    v, none = system.velocities, fast(0)
    if system.kinetic is None or system.potential is None:
        return _of_a_whole(system)
    kinetic, potential = quadratic_part(system.kinetic, v), quadratic_part(system.potential, v)
    if kinetic is None or potential is None or not vanishes(potential.second(v)):
        return Meaning(True, none, "h = p.v - L; the kinetic energy is not quadratic in the velocities")
    lacking = (kinetic.first(v) + 2 * kinetic.rest).expand()
    if not vanishes(lacking):
        rest = readable(-lacking, system)
        return Meaning(False, lacking, f"h = T2 - T0 + V is not the energy T + V: it differs by -T1 - 2 T0 = {rest}")
    even = vanishes(potential.first(v))
    linear = "" if even else "; the part of V linear in the velocities does no work and does not enter"
    text = f"h = T + V is the energy: the kinetic energy is quadratic in the velocities{linear}"
    return Meaning(True, none, text)


def _of_a_whole(system: System) -> Meaning:
    """The meaning for a Lagrangian that was not given as T - V."""
    whole, none = quadratic_part(system.lagrangian, system.velocities), fast(0)
    if whole is None:
        return Meaning(True, none, "h = p.v - L; the Lagrangian is not quadratic in the velocities")
    if vanishes(whole.first(system.velocities)):
        text = "h = L2 - L0, from a Lagrangian given as a whole: the energy wherever L2 is the kinetic energy"
        return Meaning(True, none, text)
    text = "h = L2 - L0, from a Lagrangian given as a whole; its part linear in the velocities does not enter"
    return Meaning(False, none, text)


def energy(system: System) -> Fast:
    """T + V (+ U), without the part of V that is linear in the velocities; p.v - L where T and V are not known apart."""
    return jacobi_integral(system) + meaning(system).lacking
