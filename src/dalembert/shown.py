"""How a result shows itself: text in a terminal, Markdown with LaTeX in a notebook.

A result lists its parts, from top to bottom: a text is a line, an expression or an equation stands on its own, a pair
(label, expression) is one labelled formula, and a `Table` is a table of texts and expressions.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import sympy

from .decide.decimals import PLAIN, Typed, decimal


@dataclass(frozen=True)
class Table:
    """A table of texts, numbers and expressions under a head."""

    head: tuple[str, ...]
    rows: Sequence[Sequence[Any]]


Part = Any
"""A text, an expression, an equation, a matrix, a pair (label, one of these), or a `Table`."""


class Shown(ABC):
    """A result that shows itself; a subclass says in `_parts` what there is to show."""

    @abstractmethod
    def _parts(self) -> Sequence[Part]: ...

    def _as_typed(self) -> Typed:
        """The numbers that were typed, which are shown as they were: those of the system of the result."""
        typed: Typed = getattr(getattr(self, "system", None), "typed", PLAIN)
        return typed

    def _read(self) -> Sequence[Part]:
        typed = self._as_typed()
        return _decimals(_decimals(self, typed)._parts(), typed) if typed.decimals else self._parts()

    def __str__(self) -> str:
        return "\n".join(_text(part) for part in self._read())

    __repr__ = __str__

    def _repr_markdown_(self) -> str:
        return "\n\n".join(_markdown(part) for part in self._read())


def _decimals(value: Any, typed: Typed) -> Any:
    """A copy of a result or of its parts, in which numbers that stem from typed decimals are decimals."""
    if isinstance(value, sympy.Basic | sympy.MatrixBase):
        return decimal(value, typed)
    if isinstance(value, Table):
        return Table(value.head, [[_decimals(c, typed) for c in row] for row in value.rows])
    if isinstance(value, Shown):
        twin = copy.copy(value)
        for name, part in vars(value).items():
            object.__setattr__(twin, name, _decimals(part, typed))
        return twin
    if isinstance(value, dict):
        return {k: _decimals(v, typed) for k, v in value.items()}
    if type(value) in (list, tuple):
        return type(value)(_decimals(v, typed) for v in value)
    return value


def _text(part: Part) -> str:
    if isinstance(part, str):
        return part
    if isinstance(part, Table):
        return _text_table(part)
    label, formula = part if isinstance(part, tuple) else ("", part)
    first, *rest = _pretty(formula).splitlines() or [""]
    if not rest:
        return f"  {label}:  {first}" if label else f"  {first}"
    block = "\n".join(f"    {line}".rstrip() for line in (first, *rest))
    return f"  {label}:\n{block}" if label else block


def _text_table(table: Table) -> str:
    cells = [table.head, *(tuple(_cell(c) for c in row) for row in table.rows)]
    widths = [max(len(row[k]) for row in cells) for k in range(len(table.head))]
    lines = ["  " + "  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip() for row in cells]
    return "\n".join([lines[0], "  " + "-" * (sum(widths) + 2 * len(widths) - 2), *lines[1:]])


def _cell(value: Any) -> str:
    return str(value) if not isinstance(value, float) else f"{value:.6g}"


def _pretty(formula: Any) -> str:
    """One line as it would be typed; where that is long or a matrix, as it would be written."""
    line = f"{formula.lhs} = {formula.rhs}" if isinstance(formula, sympy.Equality) else str(formula)
    if not isinstance(formula, sympy.MatrixBase) and len(line) <= 100:
        return line
    return str(sympy.pretty(formula, wrap_line=False, use_unicode=True))


def _markdown(part: Part) -> str:
    if isinstance(part, str):
        return part
    if isinstance(part, Table):
        rows = (" | ".join(_inline(c) for c in row) for row in part.rows)
        head = f"| {' | '.join(map(_inline, part.head))} |\n|{'---|' * len(part.head)}"
        return "\n".join([head, *(f"| {row} |" for row in rows)])
    label, formula = part if isinstance(part, tuple) else ("", part)
    shown = f"$\\displaystyle {sympy.latex(formula)}$"
    return f"{label}: {shown}" if label else shown


def _inline(value: Any) -> str:
    """In a Markdown table, where a bar would end the cell."""
    if isinstance(value, sympy.Basic | sympy.MatrixBase):
        return f"${sympy.latex(value)}$".replace("|", r"\vert ")
    return _cell(value).replace("|", r"\|")
