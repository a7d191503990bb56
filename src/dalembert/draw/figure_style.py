"""What all figures share: sizes for a paper, colours, and how they are shown and saved."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import MethodError, StartError, told

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#000000", "#e69f00", "#56b4e9", "#7f7f7f")
"""Colours that people with any kind of colour vision tell apart (M. Okabe and K. Ito, Color universal design, 2008)."""

DASHES = ("-", "--", "-.", ":")
"""Beside the colours, since figures are printed in grey."""

WIDTHS = {"column": 3.4, "page": 7.0, "screen": 10.5}
"""Inches."""

STYLE: Any = {
    "axes.spines.top": False, "axes.spines.right": False, "axes.titlelocation": "left", "axes.grid": True,
    "grid.alpha": 0.25, "lines.linewidth": 1.1, "legend.frameon": False, "axes.formatter.useoffset": False,
    "mathtext.fontset": "cm", "pdf.fonttype": 42, "svg.fonttype": "none",
}  # fmt: skip
SIZES = {"column": 8, "page": 8, "screen": 9}
"""Points of the letters."""


SHORT = 90
"""Characters of all names in a legend, as LaTeX, that fit above the axes."""


def style(width: str = "screen") -> AbstractContextManager[None]:
    """The settings under which a figure of some width is drawn."""
    from matplotlib import rc_context

    size = SIZES[width]
    return rc_context({**STYLE, "font.size": size, "axes.titlesize": size + 1, "legend.fontsize": size - 1})


def checked_width(width: Any) -> str:
    """The width of a figure by its name."""
    if not isinstance(width, str) or width not in WIDTHS:
        raise MethodError(f"plot: width = {told(width)}. Expected one of {', '.join(map(repr, WIDTHS))}.")
    return width


def new_figure(width: str, height: float) -> Figure:
    """An empty figure that shows itself in a notebook; its height is given in widths."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    class ShownFigure(Figure):
        """A figure that needs no window and no magic command."""

        def _repr_png_(self) -> bytes:
            held = io.BytesIO()
            self.savefig(held, format="png", dpi=120)
            return held.getvalue()

    inches = WIDTHS[width]
    figure = ShownFigure(figsize=(inches, inches * height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def panel(
    draw: Callable[[Axes], None], path: str | Path | None = None, width: str = "column", title: str = "", height: float = 0.75
) -> Figure:  # fmt: skip
    """A figure of one panel."""
    with style(checked_width(width)):
        figure = new_figure(width, height)
        axes = figure.subplots()
        draw(axes)
        if title:
            axes.set_title(plain(title))
        saved(figure, path)
    return figure


def saved(figure: Figure, path: str | Path | None) -> None:
    """Save a figure if a path is given: .pdf and .svg are drawn with lines, .png with points."""
    if path is not None:
        target = checked_target(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(target, dpi=200)


def checked_target(path: str | Path) -> Path:
    """The path of a picture; an error if the format of its name is not supported."""
    from matplotlib.backend_bases import FigureCanvasBase

    known = FigureCanvasBase.get_supported_filetypes()
    try:
        target = Path(os.path.expanduser(path))
    except TypeError:
        raise StartError(f"plot: got {told(path)}. Expected the path of a picture: 'motion.png'.") from None
    if target.suffix.lower().lstrip(".") not in known:
        raise StartError(f"plot: {target} has no known suffix. Known are {', '.join(f'.{k}' for k in sorted(known))}.")
    return target


def plain(text: str) -> str:
    """Text that is not LaTeX."""
    return text.replace("$", r"\$")


def symbol_text(symbol: Any, units: Mapping[str, str] | None = None) -> str:
    """A symbol as LaTeX, with its unit if one is given."""
    import sympy

    unit = (units or {}).get(getattr(symbol, "name", ""), "")
    return f"${sympy.latex(symbol)}$" + (f" [{plain(unit)}]" if unit else "")


def legend(axes: Axes) -> None:
    """A legend, if there is anything to tell apart: above the axes where names are short, else below them."""
    names = axes.get_legend_handles_labels()[1]
    if names and sum(len(n) for n in names) <= SHORT and len(names) <= len(COLOURS):
        axes.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=len(COLOURS), borderaxespad=0.2)
    elif names:
        axes.legend(loc="upper left", bbox_to_anchor=(0, -0.2), borderaxespad=0.2)
