"""Parts of a page: sentences, formulas, tables and results, escaped and in the language of the page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

import sympy

from ..decide.decimals import text as plain
from ..display import PartNames, Shown, Table, operations, parts
from ..words import ENGLISH, report_words, sentence
from . import mathml


@dataclass(frozen=True)
class Writer:
    """Writes parts of a page in a language; through the page, a name of a part of a formula stands for one thing."""

    lang: str
    names: PartNames = field(default_factory=PartNames)

    def word(self, key: str, *inside: Any) -> str:
        """A word of the catalogue, escaped."""
        return escape(report_words(self.lang)[key].format(*inside))

    def said(self, text: str) -> str:
        """A sentence of a result in the language of the page; marked as English if the catalogue does not have it."""
        found = sentence(text, self.lang)
        if found is not None:
            return escape(found)
        if not ENGLISH.search(text):
            return f"<code>{escape(text)}</code>"
        return f'<span lang="en">{escape(text)}</span>'

    def formula(self, formula: Any, left: Any = None, label: str = "") -> str:
        """A formula in a box that scrolls if it is wider than the page."""
        entries = formula.args if isinstance(formula, sympy.Equality) else (formula,)
        if (length := sum(map(operations, entries))) > mathml.LONGEST:
            return f"<p>{self.word('too long', length)}</p>"
        blocks = mathml.display(formula, left, self.names)
        before = f'<p class="label">{label}</p>' if label else ""
        more = f"<p>{self.word('with parts')}</p>" if len(blocks) > 1 else ""
        boxes = [
            f'<div class="wide" role="group" tabindex="0" aria-label="{self.word("formula")}">{b}</div>' for b in blocks
        ]
        return before + boxes[0] + more + "".join(boxes[1:])

    def table(self, head: Sequence[str], rows: Iterable[Sequence[str]], caption: str = "") -> str:
        """A table of markup; the first cell of a row is its head."""
        top = "".join(f'<th scope="col">{cell}</th>' if cell else "<td></td>" for cell in head)
        body = "".join(
            f'<tr><th scope="row">{first}</th>{"".join(f"<td>{cell}</td>" for cell in rest)}</tr>'
            for first, *rest in rows
        )
        told = f"<caption>{caption}</caption>" if caption else ""
        label = self.word("table")
        return (
            f'<div class="wide" role="group" tabindex="0" aria-label="{label}"><table>{told}<thead><tr>{top}</tr></thead>'
            f"<tbody>{body}</tbody></table></div>"
        )

    def result(self, result: Shown) -> str:
        """A result as it shows itself: its lines, formulas and tables."""
        return "".join(self._part(part) for part in parts(result))

    def _part(self, part: Any) -> str:
        if isinstance(part, str):
            return f"<p>{self.said(part.strip())}</p>" if part.strip() else ""
        if isinstance(part, Table):
            return self.table([self.said(h) for h in part.head], [[self._cell(c) for c in row] for row in part.rows])
        label, formula = part if isinstance(part, tuple) else ("", part)
        return self.formula(formula, label=self.said(label) if label else "")

    def _cell(self, value: Any) -> str:
        if isinstance(value, sympy.Basic):
            return mathml.inline(value)
        return f"{value:.6g}" if isinstance(value, float) else self.said(plain(value))


def section(name: str, title: str, inside: str) -> str:
    """A section with its heading."""
    return f'<section id="{name}" aria-labelledby="{name}-title"><h2 id="{name}-title">{title}</h2>{inside}</section>'
