"""What identifies compiled code: the structure of a StepMap, not the way it is printed.

Printed text does not distinguish a parameter called `pi` from the number. So an expression is digested node by node: the
kind of the node, its content if it has any (a name, a number), and the digests of its arguments. All loops are iterative:
expressions nested too deeply are refused here with a message, before any recursive function processes them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any

from ..errors import ModelError
from ..symbolic import Fast
from ..waist.matrix_block import MatrixBlock
from ..waist.stepmap import Block, StepMap

DEEPEST = 200
"""Levels of an expression: lowering calls itself, up to three calls for a level, and Python allows a thousand."""

LARGEST = 200_000
"""Different functions, sums, products and powers in all expressions of a step."""

UNORDERED = {"Add", "Mul", "And", "Or", "Max", "Min"}
"""Nodes whose arguments have no order; SymEngine lists them in the order of memory addresses."""


class Digests:
    """The digests of expressions, with the depth of each; repeated subexpressions are digested once."""

    def __init__(self, name: str):
        self._name = name
        self._known: dict[Any, tuple[bytes, int]] = {}

    def of(self, expression: Fast) -> bytes:
        """The digest of an expression; a ModelError if it is too deep, or all expressions together too large."""
        known = self._known
        waiting: list[tuple[Any, tuple[Any, ...] | None]] = [(expression, None)]
        while waiting:
            e, args = waiting.pop()
            if args is not None:
                known[e] = _digest(e, [known[a] if a.args else _digest(a, []) for a in args])
            elif (args := tuple(e.args)) and e not in known:
                waiting.append((e, args))
                waiting += [(a, None) for a in args]
                self._check_size(len(known) + len(waiting))
        digest, depth = known[expression] if expression.args else _digest(expression, [])
        if depth > DEEPEST:
            raise ModelError(
                f"{self._name}: an expression is nested {depth} levels deep; machine code is made of "
                f"at most {DEEPEST}. State it in a shorter form."
            )
        return digest

    @property
    def count(self) -> int:
        """How many different functions, sums, products and powers have been digested."""
        return len(self._known)

    def _check_size(self, parts: int) -> None:
        if parts > LARGEST:
            raise ModelError(
                f"{self._name}: the expressions of a step have {parts} parts or more; machine code is made "
                f"of at most {LARGEST}. State the system with fewer terms."
            )


def _digest(e: Fast, inner: list[tuple[bytes, int]]) -> tuple[bytes, int]:
    """The digest and depth of a node, from those of its arguments."""
    kind, parts = type(e).__name__, [d for d, _ in inner]
    held = b"" if inner else content(kind, e)
    told = b"".join(sorted(parts) if kind in UNORDERED else parts)  # digests have one length
    digest = hashlib.sha256(f"{kind} {len(held)} ".encode() + held + told).digest()
    return digest, 1 + max((d for _, d in inner), default=0)


def content(kind: str, e: Fast) -> bytes:
    """The exact content of a node without arguments."""
    if kind == "Symbol":
        return e.name.encode("utf-8", "surrogatepass")
    if kind == "Dummy":
        return f"{e.name} {e.dummy_index}".encode("utf-8", "surrogatepass")
    if kind == "RealDouble":
        return float(e).hex().encode()
    return str(e).encode()


def _shape(block: Block | MatrixBlock) -> tuple[int, ...]:
    """The shapes of the matrices of a block; empty for a block of equations."""
    return (len(block.matrix), len(block.sources), block.columns) if isinstance(block, MatrixBlock) else ()


def identity(stepmap: StepMap) -> str:
    """A digest of everything the machine code of a StepMap depends on."""
    return _digested(stepmap, Digests(stepmap.name))


def operations(stepmap: StepMap) -> int:
    """Different functions, sums, products and powers in all expressions of a step."""
    digests = Digests(stepmap.name)
    _digested(stepmap, digests)
    return digests.count + (0 if stepmap.tally is None else operations(stepmap.tally))


def _digested(stepmap: StepMap, digests: Digests) -> str:

    def listed(expressions: Iterable[Fast]) -> tuple[str, ...]:
        return tuple(digests.of(e).hex() for e in expressions)

    told = (
        stepmap.state,
        stepmap.parameters,
        [(b.unknowns, _shape(b), listed(b.ingredients), listed(b.guess)) for b in stepmap.blocks],
        listed(stepmap.update),
        listed(stepmap.outputs.values()),
        [float(s).hex() for s in stepmap.substeps],
        [(g.kind, [listed(place) for place in g.places]) for g in stepmap.guards],
    )
    kept = () if stepmap.tally is None else (stepmap.tally.state, stepmap.tallied, identity(stepmap.tally))
    return hashlib.sha256(repr((*told, *kept)).encode("utf-8", "surrogatepass")).hexdigest()
