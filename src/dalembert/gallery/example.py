"""The data of a gallery system besides its `System`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sympy import Expr, Symbol

from ..model.system import System

Exact = Callable[[Any, Mapping[str, float], Mapping[str, float]], dict[str, Any]]
"""(times, parameters by name, start by name) -> {name of coordinate or entropy: values}."""


@dataclass(frozen=True)
class Example:
    """A system with default numbers and its known properties."""

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
