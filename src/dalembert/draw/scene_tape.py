"""Scenes and quantities as a tape: the operations that compute all their numbers from a state, for the page and for films.

It is the tape of the engine: each operation is computed once, however often it occurs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

from ..engine.backends.wasm import IMPORTED
from ..engine.lower import STEP, Operation, Tape, tape
from ..errors import ModelError
from ..model.scene import Item
from ..model.space import to_numbers
from ..symbolic import Fast, free_names
from ..waist.stepmap import pointwise

CODES = {
    "const": 0, "input": 1, "add": 2, "sub": 3, "mul": 4, "div": 5, "neg": 6, "fma": 7, "sqrt": 8, "call": 9, "compare": 10,
    "select": 11, "and": 12, "or": 13, "not": 14,
}  # fmt: skip
NATIVE = {"fabs", "floor", "ceil"}
"""Functions of pages that WebAssembly has too."""
ALWAYS = 15
"""True and false."""


@dataclass(frozen=True)
class Drawing:
    """The items of a scene, with the numbers of each among the results of one tape; then the quantities."""

    items: tuple[Item, ...]
    quantities: tuple[Any, ...]
    coordinates: tuple[Any, ...]

    @property
    def is_spatial(self) -> bool:
        """Whether anything in it has a place in space."""
        return any(item.is_spatial for item in self.items)

    @cached_property
    def _numbers(self) -> list[list[Any]]:
        return [numbers_of(item) for item in self.items]

    @cached_property
    def expressions(self) -> tuple[Fast, ...]:
        """Every number of every item, then the quantities, in terms of the numbers that hold a state."""
        held_in = to_numbers(self.coordinates)
        return tuple(map(held_in, (*(e for row in self._numbers for e in row), *self.quantities)))

    @cached_property
    def inputs(self) -> tuple[str, ...]:
        """The names that they depend on."""
        return tuple(sorted(free_names(self.expressions)))

    def stepmap(self, parameters: Sequence[str]) -> Any:
        """The map from a state to all of it, for computing many states with compiled code."""
        state = [name for name in self.inputs if name not in parameters]
        outputs = {f"number.{k}": e for k, e in enumerate(self.expressions)}
        return pointwise("scene", state or ["nothing"], list(parameters), outputs)

    @cached_property
    def places(self) -> list[slice]:
        """Where the numbers of each item are among the results."""
        found, at = [], 0
        for row in self._numbers:
            found.append(slice(at, at + len(row)))
            at += len(row)
        return found

    def data(self) -> dict[str, Any]:
        """The tape as data; refused if the scene itself contains a function that a page does not have."""
        scene = tape(self.expressions[: self.places[-1].stop if self.places else 0], dict.fromkeys(self.inputs, STEP))
        needed = {o.args[0] for o in scene.operations if o.op == "call"}
        if lacking := sorted(needed - IMPORTED - NATIVE):
            raise ModelError(
                f"animate: the scene contains {', '.join(lacking)}, which a page cannot compute. It has "
                f"{', '.join(sorted(IMPORTED | NATIVE))}; replace it, or write a film: 'motion.gif'."
            )
        made = tape(self.expressions, dict.fromkeys(self.inputs, STEP))
        return _Coded(made, self.inputs).data()


def numbers_of(item: Item) -> list[Any]:
    """The numbers of an item, field by field; places have three components."""
    found: list[Any] = []
    for f in fields(item):
        value, kind = getattr(item, f.name), str(f.type)
        if kind == "Place":
            found += (*value, 0)[:3]
        elif kind == "Places":
            found += [e for p in value for e in (*p, 0)[:3]]
        elif kind == "Turn":
            found += value
        elif kind == "Scalar":
            found.append(value)
    return found


class _Coded:
    """A tape with numbers in place of names: four for each operation."""

    def __init__(self, made: Tape, inputs: Sequence[str]):
        self.made, self.inputs = made, list(inputs)
        self.constants: list[float] = []
        self.functions: list[str] = []
        self.relations: list[str] = []

    def data(self) -> dict[str, Any]:
        operations = [n for o in self.made.operations for n in self._coded(o)]
        return {
            "names": self.inputs, "constants": self.constants, "functions": self.functions, "relations": self.relations,
            "operations": operations, "results": self.made.results,
        }  # fmt: skip

    def _coded(self, o: Operation) -> tuple[int, int, int, int]:
        match o.op:
            case "const":
                return CODES["const"], _place(self.constants, o.args[0]), 0, 0
            case "input":
                return CODES["input"], self.inputs.index(o.args[0]), 0, 0
            case "call":
                second = o.args[2] if len(o.args) > 2 else -1
                return CODES["call"], _place(self.functions, o.args[0]), o.args[1], second
            case "compare":
                return CODES["compare"], _place(self.relations, o.args[0]), o.args[1], o.args[2]
            case "true" | "false":
                return ALWAYS, int(o.op == "true"), 0, 0
        a, b, c = (*o.args, 0, 0)[:3]
        return CODES[o.op], a, b, c


def _place(held: list[Any], value: Any) -> int:
    """The index of a value, appended if it is new; not a number is no value that equals itself."""
    if isinstance(value, float) and math.isnan(value):
        held.append(None)
        return len(held) - 1
    if value not in held:
        held.append(value)
    return held.index(value)
