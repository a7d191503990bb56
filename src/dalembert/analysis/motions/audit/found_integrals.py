"""First integrals for an audit: what `first_integrals` finds within some seconds."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from ....decide.budget import BudgetSpentError, _limited
from ....errors import DalembertError
from ....model.space import groups
from ....model.system import System
from ....theory.conserved.energy_and_momenta import Integral
from ....theory.conserved.first_integrals import first_integrals


@dataclass(frozen=True)
class Found:
    """First integrals, quantities found not to be conserved, and a remark if the search is not complete."""

    integrals: tuple[Integral, ...] = ()
    remark: str = ""

    def get(self, name: str) -> Integral | None:
        """The integral of a name, if it was found, conserved or not."""
        return next((i for i in self.integrals if i.name == name), None)


@lru_cache(maxsize=64)
def found_integrals(system: System, seconds: float) -> Found:
    """The integrals found in this time; energies and cyclic momenta only if it is too short for a search."""
    if system.entropies or groups(system.coordinates):
        return Found()  # the search is for mechanical systems; the two laws are audited instead
    if seconds <= 0:
        return _read_off(system, "")
    ended = (
        f"The search for first integrals was ended after {seconds:g} s: there may be more of them. "
        f"audit(run, seconds=...) searches longer."
    )
    try:
        found = _limited(seconds, first_integrals, system)
    except BudgetSpentError:
        return _read_off(system, ended)
    except DalembertError as error:
        return _read_off(system, f"First integrals were not searched for: {error}")
    if isinstance(found.ended, KeyboardInterrupt):
        raise KeyboardInterrupt  # an incomplete search is not cached
    return Found((*found.integrals, *found.not_conserved), ended if found.ended else "")


def _read_off(system: System, remark: str) -> Found:
    try:
        found = _limited(1.0, first_integrals, system, 0)
    except (BudgetSpentError, DalembertError):
        return Found(remark=remark)
    return Found((*found.integrals, *found.not_conserved), remark)
