"""The display of results: text in a terminal, Markdown with LaTeX in a notebook.

A result lists its parts, from top to bottom: a text is a line, an expression or an equation stands on its own, a pair
(label, expression) is one labelled formula, and a `Table` is a table of texts and expressions.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Sequence, Set
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


WIDEST = 160
"""Columns of a formula in two dimensions beyond which it is written in one line."""

LONG = 150
"""Operations beyond which parts of a formula get names."""

LONGEST = 20_000
"""Operations beyond which they do not: the search takes seconds, and nobody reads the formula."""

SAVED, SMALLEST = 5, 2
"""Operations that a name saves at least, which are the size of a part times the number of places less one; the least size."""

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
        names = PartNames()
        return "\n".join(_text(part, names) for part in self._read())

    def __repr__(self) -> str:
        return str(self)

    def _repr_markdown_(self) -> str:
        return markdown(self._read())

    def latex(self) -> str:
        """Its formulas as LaTeX, for a paper: one below the other, with their names; empty if it has none."""
        names = PartNames()
        return aligned([row for part in self._read() for row in _rows(part, names)])


class Formulas(ABC):
    """A result that is formulas and nothing else; a subclass has them as text and as LaTeX."""

    @abstractmethod
    def __str__(self) -> str: ...

    def __repr__(self) -> str:
        return str(self)

    @abstractmethod
    def latex(self) -> str:
        """The formulas as LaTeX, for a paper."""

    def _repr_latex_(self) -> str:
        return rf"$\displaystyle {self.latex()}$"


def aligned(rows: Sequence[tuple[str, str]]) -> str:
    """Equations below one another, (left, right) each; one alone as it is."""
    if not rows:
        return ""
    if len(rows) == 1:
        return " = ".join(side for side in rows[0] if side)
    lines = (rf"{left} &= {right}" if left else rf"& {right}" for left, right in rows)
    return r"\begin{aligned}" + r" \\ ".join(lines) + r"\end{aligned}"


def equation_rows(equations: Sequence[sympy.Equality], names: PartNames | None = None) -> list[tuple[str, str]]:
    """Equations as rows of LaTeX; in long ones parts that occur again and again have names."""
    stated, named = named_equations(equations, names)
    return [(sympy.latex(e.lhs), sympy.latex(e.rhs)) for e in (*stated, *named)]


def equations_text(equations: Sequence[sympy.Equality]) -> str:
    """Equations as text, one below the other; in long ones parts that occur again and again have names."""
    stated, named = named_equations(equations)
    return "\n\n".join(map(on_paper, (*stated, *named)))


class PartNames:
    """The names of parts of formulas in one output: each stands for one thing, and a part that comes again keeps its own."""

    def __init__(self) -> None:
        self._held: dict[Any, sympy.Symbol] = {}
        self._free = sympy.numbered_symbols("sigma", start=1)

    def of(self, part: Any, taken: Set[str]) -> sympy.Symbol:
        """The name of a part, which is none of those that are taken."""
        if (known := self._held.get(part)) is None or known.name in taken:
            self._held[part] = next(s for s in self._free if s.name not in taken)
        return self._held[part]


def named_equations(
    equations: Sequence[sympy.Equality], names: PartNames | None = None
) -> tuple[list[sympy.Equality], list[sympy.Equality]]:
    """Equations in which parts have names, and the equations that say what these are."""
    sides, named = named_parts([side for e in equations for side in e.args], names)
    pairs = zip(sides[::2], sides[1::2], strict=True)
    return [_equation(*pair) for pair in pairs], [_equation(*pair) for pair in named]


def _equation(left: Any, right: Any) -> sympy.Equality:
    return sympy.Eq(left, right, evaluate=False)


def named_parts(sides: Sequence[Any], names: PartNames | None = None) -> tuple[list[Any], list[tuple[Any, Any]]]:
    """Expressions in which parts have names, and these; the expressions themselves if they are short.

    names:  those of the output in which these expressions stand
    """
    whole = list(sides)
    if any(isinstance(e, sympy.MatrixBase) for e in whole):
        return whole, []
    size = sum(map(operations, whole))
    if size <= LONG * max(1, len(whole) // 2) or size > LONGEST:
        return whole, []
    found, parts = sympy.cse(whole, symbols=sympy.numbered_symbols("part", cls=sympy.Dummy))
    taken = {s.name for e in whole for s in e.free_symbols}
    names = names or PartNames()
    named: list[tuple[Any, Any]] = []
    written: dict[Any, Any] = {}
    for (mark, part), worth in zip(found, _worth_a_name(found, parts), strict=True):
        e = part.xreplace(written)
        written[mark] = names.of(e, taken) if worth else e
        if worth:
            named.append((written[mark], e))
    return [e.xreplace(written) for e in parts], named


def _worth_a_name(found: Sequence[tuple[Any, Any]], parts: Sequence[Any]) -> list[bool]:
    """Whether the name of each part saves enough; a part whose name does not is written out where it stands."""
    marks = {mark for mark, _ in found}
    held = [*(part for _, part in found), *parts]
    sizes = [operations(e) for e in held]
    places = [Counter(s for s in sympy.preorder_traversal(e) if s in marks) for e in held]
    worth = []
    for i, (mark, _) in enumerate(found):
        saved = sizes[i] * (sum(other[mark] for other in places[i + 1 :]) - 1)
        worth.append(sizes[i] >= SMALLEST and saved >= SAVED)
        for j in range(i + 1, len(held)) if not worth[i] else ():
            if times := places[j][mark]:
                sizes[j] += times * sizes[i]
                places[j].update({s: times * n for s, n in places[i].items()})
    return worth


def operations(expression: Any) -> int:
    """The number of operations of an expression, an equation or a matrix."""
    entries = expression if isinstance(expression, sympy.MatrixBase) else [expression]
    return int(sum(sympy.count_ops(e, visual=False) for e in entries))


def on_paper(formula: Any) -> str:
    """A formula in two dimensions, as on paper; in one line if that is too wide for a screen."""
    drawn = str(sympy.pretty(formula, wrap_line=False, use_unicode=True))
    wide = max(map(len, drawn.splitlines()), default=0) > WIDEST and not isinstance(formula, sympy.MatrixBase)
    return _line(formula) if wide else drawn


def _line(formula: Any) -> str:
    return f"{text(formula.lhs)} = {text(formula.rhs)}" if isinstance(formula, sympy.Equality) else text(formula)


def _rows(part: Part, names: PartNames) -> list[tuple[str, str]]:
    """The formulas of a part as rows of LaTeX, with the words of a label on the left."""
    if isinstance(part, str):
        return []
    if isinstance(part, Table):
        rows = [row for row in part.rows if any(isinstance(c, FORMULA) for c in row)]
        return [("", _array(rows))] if rows else []
    label, formula = part if isinstance(part, tuple) else ("", part)
    if not isinstance(formula, FORMULA):
        return []
    if isinstance(formula, sympy.Equality):
        return equation_rows([formula], names)
    stated, named = _named(formula, names)
    rest = [(sympy.latex(e.lhs), sympy.latex(e.rhs)) for e in named]
    return [(rf"\text{{{_plain(label)}}}" if label else "", sympy.latex(stated)), *rest]


FORMULA = sympy.Basic | sympy.MatrixBase


def _array(rows: Sequence[Sequence[Any]]) -> str:
    """The rows of a table as LaTeX."""
    cells = [
        [sympy.latex(c) if isinstance(c, FORMULA) else rf"\text{{{_plain(_cell(c))}}}" for c in row] for row in rows
    ]
    return (
        rf"\begin{{array}}{{{'l' * len(cells[0])}}}" + r" \\ ".join(" & ".join(row) for row in cells) + r"\end{array}"
    )


def _plain(words: str) -> str:
    """Words within LaTeX."""
    marked = {"\\": r"\backslash ", "^": r"\^{}", "~": r"\~{}"}
    return re.sub(r"[#$%&_{}^~\\]", lambda m: marked.get(m[0], f"\\{m[0]}"), words.strip())


def markdown(listed: Sequence[Part]) -> str:
    """Parts as Markdown."""
    names = PartNames()
    return "\n\n".join(_markdown(part, names) for part in listed)


def parts(result: Shown) -> Sequence[Part]:
    """The parts of a result as they are displayed: numbers as they were typed."""
    return result._read()


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


def _text(part: Part, names: PartNames) -> str:
    if isinstance(part, str):
        return part
    if isinstance(part, Table):
        return _text_table(part)
    label, formula = part if isinstance(part, tuple) else ("", part)
    stated, named = _named(formula, names)
    return "\n".join([_labelled(label, stated), *(_labelled("", e) for e in named)])


def _named(formula: Any, names: PartNames) -> tuple[Any, list[sympy.Equality]]:
    """A formula in which parts have names, and the equations that say what these are."""
    if not isinstance(formula, FORMULA):
        return formula, []
    if isinstance(formula, sympy.Equality):
        (stated,), named = named_equations([formula], names)
        return stated, named
    (short,), parts = named_parts([formula], names)
    return short, [_equation(*pair) for pair in parts]


def _labelled(label: str, formula: Any) -> str:
    """A formula as text, after its label or under it."""
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
    line = _line(formula)
    return line if not isinstance(formula, sympy.MatrixBase) and len(line) <= 100 else on_paper(formula)


def _markdown(part: Part, names: PartNames) -> str:
    if isinstance(part, str):
        return _escaped(part.strip())
    if isinstance(part, Table):
        rows = (" | ".join(_inline(c) for c in row) for row in part.rows)
        head = f"| {' | '.join(map(_inline, part.head))} |\n|{'---|' * len(part.head)}"
        return "\n".join([head, *(f"| {row} |" for row in rows)])
    label, formula = part if isinstance(part, tuple) else ("", part)
    stated, named = _named(formula, names)
    shown = [f"$\\displaystyle {sympy.latex(e)}$" for e in (stated, *named)]
    return "\n\n".join([f"{_escaped(label)}: {shown[0]}" if label else shown[0], *shown[1:]])


def _escaped(words: str) -> str:
    """A text in Markdown: stars, underscores, brackets and dollars of plain formulas are no markup."""
    return re.sub(r"([\\*_`<$\[\]])", r"\\\1", words)


def _inline(value: Any) -> str:
    """The form for a Markdown table, in which a bar ends the cell."""
    if isinstance(value, sympy.Basic | sympy.MatrixBase):
        return f"${sympy.latex(value)}$".replace("|", r"\vert ")
    return _escaped(_cell(value)).replace("|", r"\|")
