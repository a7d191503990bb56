"""The display of results: text in a terminal, Markdown with LaTeX in a notebook.

A result lists its parts, from top to bottom: a text is a line, an expression or an equation stands on its own, a pair
(label, expression) is one labelled formula, and a `Table` is a table of texts and expressions.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, is_dataclass
from types import FunctionType, MethodType
from typing import Any, TypeVar

import sympy

from .decide.decimals import PLAIN, Typed, decimal, text


@dataclass(frozen=True)
class Table:
    """A table of texts, numbers and expressions under a head."""

    head: tuple[str, ...]
    rows: Sequence[Sequence[Any]]


PART_OF_RESULTS = f"{__package__}.theory"
"""The package of the records that results consist of."""

Part = Any
"""A text, an expression, an equation, a matrix, a pair (label, one of these), or a `Table`."""


class Shown(ABC):
    """A result with a display; a subclass lists in `_parts` what is displayed."""

    @abstractmethod
    def _parts(self) -> Sequence[Part]: ...

    def _as_typed(self) -> Typed:
        """The numbers that were typed in the system of the result, which are displayed as typed."""
        own: Typed | None = getattr(self, "_typed_numbers", None)
        typed: Typed = getattr(getattr(self, "system", None), "typed", PLAIN) if own is None else own
        return typed

    def _read(self) -> Sequence[Part]:
        typed = self._as_typed()
        return _decimals(_Reading(self, typed)._parts(), typed) if typed.decimals else self._parts()

    def __str__(self) -> str:
        return "\n".join(_text(part) for part in self._read())

    __repr__ = __str__

    def _repr_markdown_(self) -> str:
        return "\n\n".join(_markdown(part) for part in self._read())


Result = TypeVar("Result", bound=Shown)


def read_with(result: Result, typed: Typed) -> Result:
    """The same result, displaying numbers as they were typed; for results without a system of their own."""
    object.__setattr__(result, "_typed_numbers", typed)
    return result


class _Reading:
    """A view of a result for its display: the result computes with exact numbers, and the view gives them as decimals.

    Long fractions are rounded in it. So methods that write lines must not decide anything with these expressions: a verdict
    is a public attribute or property of the result, which is computed with exact numbers.
    """

    def __init__(self, result: Any, typed: Typed):
        self._result, self._numbers = result, typed

    def __len__(self) -> int:
        return len(self._result)

    def __iter__(self) -> Iterator[Any]:
        return (_decimals(part, self._numbers) for part in self._result)

    def __getitem__(self, index: Any) -> Any:
        return _decimals(self._result[index], self._numbers)

    def __getattr__(self, name: str) -> Any:
        stated = getattr(type(self._result), name, None)
        if name.startswith("_") and isinstance(stated, FunctionType):  # computes lines with the displayed numbers
            return MethodType(stated, self)
        return _decimals(getattr(self._result, name), self._numbers)


def _decimals(value: Any, typed: Typed) -> Any:
    """Values with typed decimals restored."""
    if isinstance(value, sympy.Basic | sympy.MatrixBase):
        return decimal(value, typed)
    if isinstance(value, Table):
        return Table(value.head, [[_decimals(c, typed) for c in row] for row in value.rows])
    if isinstance(value, Shown) or (is_dataclass(value) and type(value).__module__.startswith(PART_OF_RESULTS)):
        return _Reading(value, typed)
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
    return text(value) if not isinstance(value, float) else f"{value:.6g}"


def _pretty(formula: Any) -> str:
    """One line of plain text; SymPy's two-dimensional form where that is long or a matrix."""
    line = f"{text(formula.lhs)} = {text(formula.rhs)}" if isinstance(formula, sympy.Equality) else text(formula)
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
    """The form for a Markdown table, in which a bar ends the cell."""
    if isinstance(value, sympy.Basic | sympy.MatrixBase):
        return f"${sympy.latex(value)}$".replace("|", r"\vert ")
    return _cell(value).replace("|", r"\|")
