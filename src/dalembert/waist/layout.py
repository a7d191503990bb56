"""The meaning of the numbers of a step map: segments of names, each with a role and an owner.

Positions, momenta and multipliers are found by role. No code counts columns or splits names.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Any, Literal, NamedTuple

Role = Literal["position", "velocity", "momentum", "entropy", "rate", "multiplier", "constraint", "near"]
"""Of a state: position, momentum, velocity, entropy, multiplier. Of unknowns: the velocity (or the rate of an entropy)
within the step. Of outputs: multiplier, constraint (its residual), near (a velocity near that of the node)."""


class Segment(NamedTuple):
    """Names that belong together: the numbers of one role of one factor of the configuration space, or of one constraint."""

    role: Role
    owner: str
    names: tuple[str, ...]


@dataclass(frozen=True)
class Layout:
    """The segments of a step map, or of the records of a run; names in no segment have no role."""

    segments: tuple[Segment, ...] = ()

    def of(self, role: Role, among: Sequence[str]) -> list[str]:
        """The names of a role among some others, in the order of the segments."""
        known = set(among)
        return [name for name in self.names(role) if name in known]

    def names(self, role: Role) -> list[str]:
        """All names of a role, in the order of the segments."""
        return [name for s in self.segments if s.role == role for name in s.names]

    def places(self, role: Role, among: Sequence[str]) -> list[int]:
        """The indices of the names of a role among others."""
        at = {name: k for k, name in enumerate(among)}
        return [at[name] for name in self.of(role, among)]

    def find(self, name: str) -> tuple[Segment, int] | None:
        """The segment that contains a name, and the index there."""
        return self._places.get(name)

    @cached_property
    def _places(self) -> dict[str, tuple[Segment, int]]:
        return {name: (s, k) for s in reversed(self.segments) for k, name in enumerate(s.names)}

    def extended(self, *segments: Segment) -> Layout:
        """The layout with more segments."""
        return Layout((*self.segments, *segments))


def spans(*sizes: int) -> list[slice]:
    """The places of parts of these sizes that stand one after the other."""
    return [slice(end - size, end) for size, end in zip(sizes, accumulate(sizes), strict=True)]


class Groups:
    """Numbers in groups, each with a name: outputs of a map, and columns of the table that the map gives."""

    def __init__(self, **groups: Sequence[Any]):
        self.outputs = {f"{name}.{i}": e for name, group in groups.items() for i, e in enumerate(group)}
        self._columns = dict(zip(groups, spans(*map(len, groups.values())), strict=True))

    def columns(self, name: str) -> slice:
        """The columns of a group."""
        return self._columns[name]

    def of(self, table: Any, name: str) -> Any:
        """The part of a table that is a group: (..., outputs) -> (..., numbers of the group)."""
        return table[..., self._columns[name]]

    def split(self, table: Any, *names: str) -> list[Any]:
        """The parts of a table that are some groups."""
        return [self.of(table, name) for name in names]


NO_LAYOUT = Layout()
"""The layout of a map whose numbers have no roles."""


def segments(role: Role, owners: Iterable[str], names: Iterable[str]) -> tuple[Segment, ...]:
    """Segments of one role: each name with its owner, those of one owner together."""
    found: dict[str, list[str]] = {}
    for owner, name in zip(owners, names, strict=True):
        found.setdefault(owner, []).append(name)
    return tuple(Segment(role, owner, tuple(group)) for owner, group in found.items())
