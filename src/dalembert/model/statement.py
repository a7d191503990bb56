"""What a system was given, as it shows itself in a notebook and in a paper."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import sympy

from ..display import Part, Shown

if TYPE_CHECKING:
    from .system import System

LETTERS = {"kinetic": "T", "potential": "V", "lagrangian": "L"}


@dataclass(frozen=True, repr=False)
class Statement(Shown):
    """The energies, forces and constraints of a system."""

    system: System

    def _parts(self) -> Sequence[Part]:
        s = self.system
        listed = [("coordinates", s.factors), ("entropies", s.entropies), ("parameters", s.parameters)]
        names = "; ".join(f"{what} {', '.join(x.name for x in some)}" for what, some in listed if some)
        return [f"{s.name}: {names}", *self._formulas()]

    def _formulas(self) -> Iterator[Part]:
        s = self.system
        for key, e in s.energies.items():
            if e != 0:
                yield _equation(LETTERS[key], e)
        if s.internal_energy != 0:
            yield _equation("U", s.internal_energy)
        for q, f in zip(s.coordinates, s.forces, strict=True):
            if f != 0:
                yield f"force on {q}", f
        if s.dissipation != 0:
            yield "Rayleigh's dissipation function", s.dissipation
        for S, row in zip(s.entropies, s.friction, strict=True):
            yield from (
                (f"friction on {q} that heats {S}", f) for q, f in zip(s.coordinates, row, strict=True) if f != 0
            )
        for S, power in zip(s.entropies, s.heat, strict=True):
            if power != 0:
                yield f"heat to {S}", power
        for c in s.constraints:
            yield sympy.Eq(c.expression, 0, evaluate=False)


def brief(system: System) -> str:
    """A system in one line."""
    parts = [f"coordinates {', '.join(c.name for c in system.factors)}"]
    if system.entropies:
        parts.append(f"entropies {', '.join(S.name for S in system.entropies)}")
    if system.parameters:
        parts.append(f"parameters {', '.join(p.name for p in system.parameters)}")
    if system.constraints:
        kinds = [f"{len(g)} {k}" for k, g in (("holonomic", system.holonomic), ("kinematic", system.kinematic)) if g]
        parts.append(f"{' and '.join(kinds)} constraint{'s' if len(system.constraints) > 1 else ''}")
    return f"<System {system.name!r}: {'; '.join(parts)}>"


def _equation(name: str, e: Any) -> Any:
    return sympy.Eq(sympy.Symbol(name), e, evaluate=False)
