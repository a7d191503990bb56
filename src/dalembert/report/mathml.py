"""Formulas as MathML: browsers render it without a script, readers of screens read it, it can be selected and copied.

SymPy's printer does the expressions. Here are the symbols, whose form is their LaTeX, and what makes a long formula readable:
lines that break at terms, and names for parts that occur again and again.
"""

from __future__ import annotations

import re
from html import escape
from typing import Any

import sympy
from sympy.printing.mathml import MathMLPresentationPrinter
from sympy.printing.pretty.pretty_symbology import greek_unicode

from ..display import PartNames, named_parts

LINE = 90
"""Characters of plain text in a line of a formula."""

LONGEST = 4000
"""Operations beyond which a formula is not shown."""

MARKS = {"dot": "˙", "ddot": "¨", "hat": "^", "bar": "¯", "tilde": "~", "vec": "→"}
GREEK = {**greek_unicode, "varphi": "φ", "varepsilon": "ε", "vartheta": "ϑ", "ell": "ℓ", "delta": "δ", "Delta": "Δ"}


class Printer(MathMLPresentationPrinter):  # type: ignore[misc]  # SymPy has no annotations
    """SymPy's presentation MathML with the library's symbols, and cases of a `Piecewise` as a table."""

    def parsed(self, text: str) -> Any:
        """Markup as a node of the document."""
        from xml.dom.minidom import parseString

        return parseString(text.encode()).documentElement

    def _print_Symbol(self, symbol: Any, style: str = "plain") -> Any:
        return self.parsed(_of_latex(sympy.latex(symbol), symbol.name))

    _print_MatrixSymbol = _print_RandomSymbol = _print_Symbol

    def _print_Piecewise(self, e: Any) -> Any:
        rows = []
        for value, where in e.args:
            told = "" if where == sympy.true else "<mtext>,&#160;</mtext>" + self._print(where).toxml()
            rows.append(f"<mtr><mtd>{self._print(value).toxml()}</mtd><mtd>{told}</mtd></mtr>")
        return self.parsed(f"<mrow><mo>{{</mo><mtable columnalign='left'>{''.join(rows)}</mtable></mrow>")


def _of_latex(latex: str, name: str) -> str:
    r"""The LaTeX of a symbol as MathML: letters, Greek letters, marks such as \dot, indices; else the name as it is."""
    tokens = re.findall(r"\\[A-Za-z]+|[{}_^]|\d+|[^\s\\{}_^]", latex)
    try:
        made, rest = _row(tokens)
    except (IndexError, KeyError):
        made, rest = "", ["?"]
    return made if not rest else f"<mi>{escape(name)}</mi>"


def _row(tokens: list[str]) -> tuple[str, list[str]]:
    """A sequence of atoms with their indices, up to a closing brace."""
    found: list[str] = []
    while tokens and tokens[0] != "}":
        atom, tokens = _atom(tokens)
        index = {}
        while tokens and tokens[0] in "_^" and tokens[0] not in index:
            index[tokens[0]], tokens = _atom(tokens[1:])
        if set(index) == {"_", "^"}:
            atom = f"<msubsup>{atom}{index['_']}{index['^']}</msubsup>"
        elif index:
            kind = "msub" if "_" in index else "msup"
            atom = f"<{kind}>{atom}{next(iter(index.values()))}</{kind}>"
        found.append(atom)
    return (found[0] if len(found) == 1 else f"<mrow>{''.join(found)}</mrow>"), tokens


def _atom(tokens: list[str]) -> tuple[str, list[str]]:
    first, rest = tokens[0], tokens[1:]
    if first == "{":
        made, rest = _row(rest)
        return made, rest[1:]
    name = first[1:]
    if first.startswith("\\") and name in MARKS:
        made, rest = _atom(rest)
        return f'<mover>{made}<mo class="mark" stretchy="false">{MARKS[name]}</mo></mover>', rest
    if name in ("mathrm", "mathbf", "operatorname", "text", "boldsymbol"):
        return _word(rest)
    if first.startswith("\\"):
        return f"<mi>{GREEK[name]}</mi>", rest
    kind = "mn" if first.isdigit() else "mi" if first.isalpha() else "mo"
    return f"<{kind}>{escape(first)}</{kind}>", rest


def _word(tokens: list[str]) -> tuple[str, list[str]]:
    """Letters in braces, as one upright word."""
    end = tokens.index("}")
    return f"<mi>{escape(''.join(tokens[1:end]))}</mi>", tokens[end + 1 :]


def inline(expression: Any) -> str:
    """A formula within a line."""
    return f"<math>{_markup(expression)}</math>"


def _markup(expression: Any) -> str:
    """An expression as MathML that HTML understands: no entity is left, and numbers have the digits that text has."""
    printed = Printer({"mul_symbol": "&InvisibleTimes;", "symbol_names": {}}).doprint(expression)
    printed = printed.replace("&InvisibleTimes;", "&#8290;")
    return re.sub(r"<mo>-</mo>", "<mo>&#8722;</mo>", printed)


def display(formula: Any, left: Any = None, names: PartNames | None = None) -> list[str]:
    """A formula on lines of its own, `left` = formula; then the parts that it names, each as a formula.

    names:  those of the page
    """
    if isinstance(formula, sympy.Equality):
        left, formula = formula.args
    sides = [formula] if left is None else [left, formula]
    sides, named = named_parts(sides, names)
    return [_block(*sides), *(_block(name, part) for name, part in named)]


def _block(*sides: Any) -> str:
    """One side, or two with an equals sign between them; the lines after the first are under its right side."""
    *before, last = sides
    if before and len(str(before[0])) > LINE:
        lines, head = _lines(before[0]), ""
        lines[-1] += f"<mo>=</mo>{_markup(last)}"
    else:
        lines, head = _lines(last), "".join(f"{_markup(e)}<mo>=</mo>" for e in before)
    if len(lines) == 1:
        return f'<math display="block">{head}{lines[0]}</math>'
    heads = [head, *[""] * (len(lines) - 1)]
    rows = "".join(f"<mtr><mtd>{h}</mtd><mtd>{line}</mtd></mtr>" for h, line in zip(heads, lines, strict=True))
    return f'<math display="block"><mtable class="lines" displaystyle="true">{rows}</mtable></math>'


def _lines(e: Any) -> list[str]:
    """The lines of a sum: as many terms in each as fit."""
    if not (isinstance(e, sympy.Add) and len(str(e)) > LINE):
        return [f"<mrow>{_markup(e)}</mrow>"]
    lines, length = [""], 0
    for k, term in enumerate(e.as_ordered_terms()):
        negative = term.could_extract_minus_sign()
        sign = "<mo>&#8722;</mo>" if negative else "<mo>+</mo>" if k else ""
        if length and length + len(str(term)) > LINE:
            lines, length = [*lines, ""], 0
        lines[-1] += sign + _markup(-term if negative else term)
        length += len(str(term))
    return [f"<mrow>{line}</mrow>" for line in lines]
