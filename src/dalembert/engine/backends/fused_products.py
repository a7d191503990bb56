"""Which products and sums are one operation with one rounding.

LLVM would decide this by itself, and otherwise for vectors than for single numbers: it looks at blocks as they are after its
optimisations. Here it is decided by the code as it was emitted, so that all back ends for processors compute the same bits: a
product that is used once, by a sum or difference before the next label, becomes part of it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Literal, NamedTuple

_VALUE = re.compile(r"%v\d+(?![\w.])")


class _Product(NamedTuple):
    """A product: its line, the block it is in, and its factors."""

    line: int
    block: int
    a: str
    b: str


class _Sum(NamedTuple):
    """A sum or difference with a product in it."""

    line: int
    name: str
    op: str
    a: str
    b: str


class FusedProducts:
    """The products of a function, and the sums that contain them."""

    def __init__(self) -> None:
        self._products: dict[str, _Product] = {}
        self._sums: list[_Sum] = []
        self._block = 0

    def next_block(self) -> None:
        """A label was placed."""
        self._block += 1

    def note(self, line: int, name: str, op: Literal["add", "sub", "mul", "div"], a: str, b: str) -> None:
        """An operation was printed in a line."""
        if op == "mul":
            self._products[name] = _Product(line, self._block, a, b)
        elif op != "div" and any(x in self._products and self._products[x].block == self._block for x in (a, b)):
            self._sums.append(_Sum(line, name, op, a, b))

    def applied(self, lines: Sequence[str], kind: str, function: str) -> list[str]:
        """The lines with products taken into sums; `function` is the product and sum of reals of this kind in one rounding."""
        found, uses = list(lines), Counter(_VALUE.findall("\n".join(lines)))
        for s in self._sums:
            for x, other in ((s.a, s.b), (s.b, s.a)):
                p = self._products.get(x)
                if p is None or uses[x] != 2:  # where it is defined, and here
                    continue
                _, _, more = found[s.line].partition("\n")
                found[s.line] = self._fused(s, p, x is s.b, other, kind, function) + (f"\n{more}" if more else "")
                found[p.line] = ""
                break
        return found

    @staticmethod
    def _fused(s: _Sum, p: _Product, second: bool, other: str, kind: str, function: str) -> str:
        """a b + c, c - a b or a b - c."""
        a, c, before = p.a, other, ""
        if s.op == "sub":
            before = f"  {s.name}.n = fneg {kind} {a if second else c}\n"
            a, c = (f"{s.name}.n", c) if second else (a, f"{s.name}.n")
        return f"{before}  {s.name} = call {kind} @{function}({kind} {a}, {kind} {p.b}, {kind} {c})"
