"""The data of a gallery system besides its `System`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sympy import Expr, Symbol, cos, pi, sin

from ..display import Part, Shown, Table
from ..errors import told
from ..model.statement import Statement
from ..model.system import System

Exact = Callable[[Any, Mapping[str, float], Mapping[str, float]], dict[str, Any]]
"""(times, parameters by name, start by name) -> {name of coordinate or entropy: values}."""


@dataclass(frozen=True, repr=False)
class Example(Shown):
    """A system with default numbers and its known properties.

    action, elements:  a symmetry of it, as dalembert.Symmetry(action, elements=elements) takes it; empty if none is listed
    """

    name: str
    system: System
    description: str
    source: str
    parameters: Mapping[Symbol, float]
    start: Mapping[Any, Any]
    h: float
    until: float
    invariants: Mapping[str, Expr] = field(default_factory=dict)
    exact: Exact | None = None
    action: Mapping[Any, Any] = field(default_factory=dict)
    elements: Sequence[Symbol] = ()
    shown: float | None = None
    """How long its picture means something: afterwards a block has passed its pulley, say."""

    def _parts(self) -> Sequence[Part]:
        numbers = [(s, told(v)) for s, v in (*self.parameters.items(), *self.start.items())]
        return [
            self.description,
            *Statement(self.system)._parts(),
            Table(("", "value"), numbers),
            f"h = {self.h:g}, to t = {self.until:g}",
            *self.invariants.items(),
            f"Source: {self.source}",
        ]


def hung(length: Any, angle: Any, at: Any = (0, 0)) -> list[Any]:
    """The end of a rod that hangs from a place; the angle is measured from the downward vertical."""
    return [at[0] + length * sin(angle), at[1] - length * cos(angle)]


def arc(corners: int = 24) -> list[Any]:
    """The angles of the corners of a half-disc, whose arc lies below."""
    return [-pi / 2 + pi * k / corners for k in range(corners + 1)]
