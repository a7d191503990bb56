"""What all figures share: sizes for a paper, colours, and how they are shown and saved."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from textwrap import fill
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
    "mathtext.fontset": "cm", "pdf.fonttype": 42, "svg.fonttype": "none", "agg.path.chunksize": 20_000,
    "legend.handlelength": 1.6, "legend.columnspacing": 1.4,
}  # fmt: skip
SIZES = {"column": 8, "page": 8, "screen": 9}
"""Points of the letters."""


KEY = 3.8
"""Letters that the line beside a name in a legend takes, with the spaces around it."""

MANY = 20_000
"""Points of a curve from which on a vector figure holds it as a picture, so that its file stays small."""


def style(width: str = "screen") -> AbstractContextManager[None]:
    """The settings under which a figure of some width is drawn."""
    from matplotlib import rc_context

    size = SIZES[width]
    sizes: Any = {"axes.titlesize": size + 1, "figure.titlesize": size + 1.5, "legend.fontsize": size - 1}
    return rc_context({**STYLE, "font.size": size, **sizes})


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
        if title:
            axes.set_title(wrapped_title(figure, plain(title)))
        draw(axes)
        saved(figure, path)
    return figure


def saved(figure: Figure, path: str | Path | None) -> None:
    """Save a figure if a path is given: .pdf and .svg are drawn with lines, .png with points."""
    if path is not None:
        target = checked_target(path)
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            figure.savefig(target, dpi=200)
        except OSError as error:
            raise StartError(f"plot: {target} cannot be written: {error.strerror or error}.") from error


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
    """What the curves are, outside of the data: beside the title where both fit, else below, in as many columns as fit."""
    from matplotlib import rcParams
    from matplotlib.transforms import offset_copy

    figure: Any = axes.figure
    names = axes.get_legend_handles_labels()[1]
    if not names:
        return
    place = axes.get_subplotspec()
    room = 0.84 * 72 * figure.get_figwidth() / (place.get_gridspec().ncols if place else 1)
    letters = float(rcParams["legend.fontsize"])
    widths = [_width(figure, name, letters) + KEY * letters for name in names]
    title = axes.get_title(loc="left")
    if sum(widths) + _width(figure, title, float(rcParams["axes.titlesize"])) < room:
        axes.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=len(names), borderaxespad=0.2)
        return
    columns = max(1, min(len(names), int(room / max(widths))))
    below = offset_copy(axes.transAxes, figure, y=-3.6 * float(rcParams["font.size"]), units="points")
    where: Any = {"loc": "upper left", "bbox_to_anchor": (0, 0), "bbox_transform": below, "borderaxespad": 0.0}
    axes.legend(ncols=columns, **where)
    rows = -(-len(names) // columns)
    figure.set_figheight(figure.get_figheight() + 1.5 * letters * rows / 72)


def _width(figure: Any, text: str, letters: float) -> float:
    """The width of a text in points."""
    held = figure.text(0, 0, text, fontsize=letters)
    found = held.get_window_extent(figure.canvas.get_renderer()).width
    held.remove()
    return float(found) * 72 / float(figure.dpi)


def wrapped_title(figure: Any, text: str) -> str:
    """A title of the whole figure in lines that fit."""
    from matplotlib import rcParams

    return fill(text, int(0.95 * 72 * figure.get_figwidth() / (0.56 * float(rcParams["figure.titlesize"]))))


def titled(figure: Any, text: str) -> None:
    """A title over all panels, in lines that fit: a line of the text is a paragraph."""
    figure.suptitle("\n".join(wrapped_title(figure, line) for line in plain(text).splitlines()), x=0.01, ha="left")


def counted(title: str, shown: int, all_there_are: int) -> str:
    """A title that tells how many of some curves are drawn, if these are not all."""
    return title if shown >= all_there_are else f"{title}, {shown} of {all_there_are}"
