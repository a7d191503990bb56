"""What the theme leaves out for people who use a keyboard or a reader of screens, put into the finished pages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

MENDED = {
    '<p class="caption" role="heading">': '<p class="caption" role="heading" aria-level="2">',
    '<aside class="sidebar-drawer">': '<aside class="sidebar-drawer" aria-label="All pages">',
    '<aside class="toc-drawer': '<aside aria-label="On this page" class="toc-drawer',
    '<th class="head"><p></p></th>': "<td></td>",
    '<div id="search-results">': '<h1>Search</h1><div id="search-results">',
    "<pre>": '<pre tabindex="0">',
    '<div class="table-wrapper': '<div tabindex="0" class="table-wrapper',
}
"""What is wide scrolls, so a keyboard must reach it; headings have a level, landmarks a name."""


def mended(page: str) -> str:
    """A page with these changes."""
    for old, new in MENDED.items():
        page = page.replace(old, new)
    return page


def _finished(app: Sphinx, error: Exception | None) -> None:
    for path in Path(app.outdir).rglob("*.html"):
        if error is None and path.parent.name != "players":
            path.write_text(mended(path.read_text()))


def setup(app: Sphinx) -> dict[str, Any]:
    """The extension."""
    app.connect("build-finished", _finished)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
