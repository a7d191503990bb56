"""Whether a symmetry leaves L_d, forces, variations and constraints of a discrete system as they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...decide.zero import vanishes
from ...errors import ModelError, printed
from ...symbolic import fast, gradient, substitution, summands
from ..momentum import momentum_map
from ..system import DiscreteSystem

SAID = {
    "L_d is invariant": "L_d is not invariant",
    "the forces are invariant": "the discrete forces are not invariant",
    "the variations are invariant": "the one-forms of the variations (D) are not invariant",
    "the constraints are invariant": "the discrete constraints (D_d) are not invariant",
}


def check_invariance(system: DiscreteSystem, symmetry: Any, turned: Sequence[Any] = ()) -> None:
    """Refuse a symmetry that changes something, and say what and along which element."""
    for element, field in zip(symmetry.elements, symmetry.generators, strict=True):
        generator = {c: e for c, e in field.items() if e != 0}
        if not generator:
            raise ModelError(f"symmetry: {element} moves nothing, so the group does not act freely. Leave it out.")
        for check in momentum_map(system, generator).checks:
            if check.condition in SAID and not check.holds:
                terms = _terms(system, field) if check.condition == "L_d is invariant" else ""
                moved = f"{{{', '.join(f'{c}: {e}' for c, e in generator.items())}}}{terms}"
                if turned:  # the fields of a chart are no formulas that anybody has written
                    moved = f"of {', '.join(R.name for R in turned)}"
                raise ModelError(
                    f"reduce: {SAID[check.condition]} under the direction of {element} in the symmetry {moved}. Only "
                    f"symmetries of all of {system.name!r} can be used."
                )


def _terms(system: DiscreteSystem, field: Any) -> str:
    """The terms of L_d that are not invariant themselves."""
    q = system.coordinates
    slots = [fast(c.at(k)) for k in (0, 1) for c in q]
    ends = [substitution({c: c.at(k) for c in q}) for k in (0, 1)]
    moved = [end(fast(field.get(c, 0))) for end in ends for c in q]

    def changes(term: Any) -> bool:
        return not vanishes(sum((a * b for a, b in zip(gradient(term, slots), moved, strict=True)), start=fast(0)))

    found = [printed(system.read(term)) for term in summands(system.lagrangian) if changes(term)]
    return f", by the term {found[0]}" if len(found) == 1 else f", by the terms {', '.join(found)}" if found else ""
