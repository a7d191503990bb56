"""A frame of vector fields, v = w^i X_i + X_0, given by what it does to the symbols that hold a point.

These are coordinates, or the entries of a rotation matrix. [X_i, X_j] = c^k_ij X_k. X_0 is the derivative by time at w = 0,
with d/dt of the symbol of time equal to one; [X_0, X_j] = c^k_0j X_k.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any

from ..symbolic import Fast, fast, partials, total
from .coordinates import time

Field = Mapping[Any, Any]
"""The derivative of each symbol of a point along a vector field; of symbols that are not listed it is zero."""

NOTHING: Mapping[Any, Any] = MappingProxyType({})


@dataclass(frozen=True)
class Frame:
    """Vector fields X_1, ..., X_n that span the velocities.

    velocities:      the symbols w^1, ..., w^n
    accelerations:   the symbols of their rates
    fields:          fields[i] = {s: X_i(s)} for the symbols s that hold a point
    brackets:        {(k, i, j): c^k_ij}, those that are not zero
    drift:           {s: X_0(s)}, time among the symbols
    drift_brackets:  {(k, j): c^k_0j}, those that are not zero
    """

    velocities: tuple[Any, ...]
    accelerations: tuple[Any, ...]
    fields: tuple[Field, ...]
    brackets: Mapping[tuple[int, int, int], Any] = field(default_factory=dict)
    drift: Field = field(default_factory=lambda: {time: 1})
    drift_brackets: Mapping[tuple[int, int], Any] = field(default_factory=dict)

    @cached_property
    def kinematics(self) -> dict[Any, Fast]:
        """The rate of each symbol of a point: w^i X_i(s) + X_0(s)."""
        found = {s: fast(e) for s, e in self.drift.items()}
        for w, X in zip(self.velocities, self.fields, strict=True):
            for s, e in X.items():
                found[s] = found.get(s, fast(0)) + fast(w) * fast(e)
        return found

    def rates(self, expressions: Sequence[Any], carried: Field = NOTHING) -> list[Fast]:
        """df/dt of some f(q, w, t) along a motion; `carried` gives the rates of other symbols, such as entropies."""
        changes = dict(zip(self.velocities, self.accelerations, strict=True))
        moving = {**self.kinematics, **changes, **carried}
        speeds = list(map(fast, moving.values()))
        terms: list[list[Fast]] = [[] for _ in expressions]
        for (i, j), d in partials(expressions, list(moving)).items():
            terms[i].append(d * speeds[j])
        return list(map(total, terms))

    def slopes(self, expression: Any) -> list[Fast]:
        """X_j(f): the derivatives of an expression along the fields, velocities held fixed."""
        symbols = list(dict.fromkeys(s for X in self.fields for s in X))
        known = {symbols[j]: d for (_, j), d in partials([expression], symbols).items()}
        return [total(known[s] * fast(e) for s, e in X.items() if s in known) for X in self.fields]

    def turning(self, momenta: Sequence[Fast]) -> list[Fast]:
        """(c^k_ij w^i + c^k_0j) p_k, one for each j: what the brackets add to the rates of momenta."""
        terms: list[list[Fast]] = [[] for _ in momenta]
        for (k, i, j), c in self.brackets.items():
            terms[j].append(fast(c) * fast(self.velocities[i]) * momenta[k])
        for (k, j), c in self.drift_brackets.items():
            terms[j].append(fast(c) * momenta[k])
        return list(map(total, terms))


def joined(frames: Iterable[Frame]) -> Frame:
    """The frame of a product of spaces: the fields of all factors, which commute with those of other factors."""
    whole, at = list(frames), 0
    brackets: dict[tuple[int, int, int], Any] = {}
    moving: dict[tuple[int, int], Any] = {}
    for f in whole:
        brackets |= {(k + at, i + at, j + at): c for (k, i, j), c in f.brackets.items()}
        moving |= {(k + at, j + at): c for (k, j), c in f.drift_brackets.items()}
        at += len(f.velocities)
    return Frame(
        tuple(w for f in whole for w in f.velocities),
        tuple(a for f in whole for a in f.accelerations),
        tuple(X for f in whole for X in f.fields),
        brackets,
        {s: e for f in whole for s, e in f.drift.items()},
        moving,
    )
