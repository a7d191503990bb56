"""Formulas as MathML, which browsers show without a script and without a network."""

from __future__ import annotations

import re
from typing import Any

from latex2mathml.converter import convert
from sphinx.application import Sphinx

PLAIN = {
    r"\operatorname*": r"\operatorname", r"\displaystyle": "",
    r"\begin{aligned}": r"\begin{array}{rl}", r"\end{aligned}": r"\end{array}",
}  # fmt: skip
"""What the converter does not know, and the same in other words."""


def formula(latex: str, display: str) -> str:
    """The MathML of a formula; operators that are words become upright names, dots above letters have their own look."""
    for old, new in PLAIN.items():
        latex = latex.replace(old, new)
    made = str(convert(latex.strip(), display=display))
    return re.sub("<mo>(&#x000A8;|&#x002D9;)</mo>", r'<mo class="mark" stretchy="false">\1</mo>', made)


def _inline(writer: Any, node: Any) -> None:
    from docutils import nodes

    writer.body.append(f'<span class="math">{formula(node.astext(), "inline")}</span>')
    raise nodes.SkipNode


def _block(writer: Any, node: Any) -> None:
    from docutils import nodes

    writer.body.append(f'<div class="math" tabindex="0">{formula(node.astext(), "block")}</div>')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    """The extension, by which html_math_renderer = "mathml" is known."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
