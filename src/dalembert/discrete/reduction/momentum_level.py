"""Horizontal symmetries: the discrete connection whose horizontal steps have one momentum, J_d = mu (section 7.4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sympy import Expr, Symbol

from ...decide.elimination import highest_rank
from ...decide.zero import vanishes
from ...errors import ModelError
from ...model.coordinates import step, time
from ...symbolic import Fast, fast, jacobian
from ...theory.reduction.group_law import near_identity
from ..system import DiscreteSystem
from .bundle import Bundle
from .connection import DiscreteConnection
from .connection_inputs import letters, solved_element
from .isotropy import momentum_values
from .reduced_terms import ReducedTerms


def momentum_connection(
    system: DiscreteSystem, over: Bundle, lift: tuple[tuple[Fast, ...], ...], admitted: int, momentum: Mapping[Any, Any]
) -> DiscreteConnection:
    """The connection whose horizontal steps have a given momentum, J_d = mu, which the group fixes."""
    mu = momentum_values(over.symmetry, momentum)
    if admitted < over.dimension:
        raise ModelError(
            f"momentum: the momentum is conserved only for directions that the constraints admit, and of the "
            f"{over.dimension} of this group they admit {admitted}. Use the subgroup of these."
        )
    b = letters(over)
    terms = ReducedTerms(system, DiscreteConnection.along_section(over), lift, tuple(map(fast, b)))
    if any(not vanishes(f) for side in terms.external for f in side[len(over.shape) :]):
        raise ModelError(
            "momentum: forces act along the group, so its momentum is not conserved. Leave out `momentum`."
        )
    _check_regular(terms, b)
    equations = [p - fast(value) for p, value in zip(terms.leaving, mu, strict=True)]
    extra = [s for value in mu for s in value.free_symbols]
    found = solved_element(over, equations, b, [*system.parameters, *extra])
    if found is None:
        return DiscreteConnection.solving(over, equations)
    return DiscreteConnection.along_section(over, found)


def _check_regular(terms: ReducedTerms, b: Sequence[Symbol]) -> None:
    """L_d is G-regular: D2 D1 L_d is not degenerate on the directions of the group."""
    rows = jacobian(terms.leaving, b)

    def read(e: Fast) -> Expr:
        return terms.over.read(e, *b, *terms.original.parameters, step, time)

    identity = dict(zip(b, terms.over.symmetry.identity, strict=True))
    if highest_rank(rows, near_identity([read(e) for row in rows for e in row], identity, 4)) < len(b):
        raise ModelError(
            "momentum: it is not regular: D2 D1 L_d is degenerate on the directions of the group, so a step is not determined "
            "by its momentum. Leave out `momentum`."
        )
