"""What a person gives for a discrete system: lists of expressions, {coordinate: expression}, friction by entropy."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from sympy import Expr

from ..errors import ModelError, printed, told
from ..model.coordinates import Coordinate, Entropy


def names_of(symbols: Sequence[Any]) -> str:
    return ", ".join(s.name for s in symbols)


def listed(**given: Any) -> Iterator[tuple[Any, ...]]:
    """Lists of expressions."""
    for role, expressions in given.items():
        if isinstance(expressions, str | Expr) or not isinstance(expressions, Iterable):
            raise ModelError(f"{role}: got {told(expressions)}. Expected a list of expressions: {role}=[...].")
        yield tuple(expressions)


def check_keys(given: Any, q: Sequence[Coordinate], role: str) -> None:
    """Raise a ModelError unless the argument is {coordinate: expression}."""
    if not (given is None or isinstance(given, Mapping)):
        raise ModelError(f"{role}: got {told(given)}. Expected {{{q[0]}: expression}}.")
    for key in given or {}:
        if isinstance(key, str):
            raise ModelError(f"{role}: got the text {told(key)}. Use the coordinate itself: {{{q[0]}: expression}}.")
        if key not in q:
            raise ModelError(f"{role}: {key} is not among the coordinates {names_of(q)}.")


def binding(constraint: Expr, q: Sequence[Coordinate]) -> Expr:
    """A constraint on the end of the step."""
    if not constraint.free_symbols & {c.at(1) for c in q}:
        raise ModelError(
            f"constraint {printed(constraint)}: it does not contain {' or '.join(str(c.at(1)) for c in q)}, so it says "
            f"nothing about where a step ends."
        )
    return constraint


def shares_of(given: Any, q: Sequence[Coordinate], S: Sequence[Entropy], role: str) -> Mapping[Any, Any]:
    """Discrete friction by entropy: {S: {x: expression}}."""
    if not given:
        return {}
    x, s = q[0], S[0] if S else "S"
    if not isinstance(given, Mapping):
        raise ModelError(f"{role}: got {told(given)}. Expected {{{x}: expression}}, or {{{s}: {{{x}: expression}}}}.")
    if not S:
        raise ModelError(f"{role}: its work becomes heat, and there is no entropy to receive it. Give entropies=[S].")
    if not any(isinstance(key, Entropy) for key in given):
        if len(S) > 1:
            raise ModelError(
                f"{role}: there are {len(S)} entropies, so say which one is warmed: {role}={{{s}: {{{x}: ...}}}}."
            )
        return {S[0]: given}
    for key, row in given.items():
        if key not in S:
            raise ModelError(f"{role}: {key} is not among the entropies {names_of(S)}.")
        if not isinstance(row, Mapping):
            raise ModelError(f"{role} of {key}: got {told(row)}. Expected {{{x}: expression}}.")
    return given


def flag(given: Any, role: str) -> bool:
    """True or False."""
    if not isinstance(given, bool):
        raise ModelError(f"{role}: got {told(given)}. Expected True or False.")
    return given
