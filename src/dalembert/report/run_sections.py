"""What a report says of a run: moving picture, method and its claims, figures, audit."""

from __future__ import annotations

import base64
import io
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import numpy as np

from ..analysis.motions.audit import audit
from ..analysis.motions.audit.audit_rows import Audit, Row
from ..draw.figure_style import legend, new_figure, style
from ..draw.film import draw_frame, numbers_along
from ..draw.player_page import data_of, film_of, player
from ..draw.plots import plot
from ..draw.scene_shapes import Measures
from ..errors import DalembertError
from ..methods.base import Method
from ..model.system import System
from ..run.extent import has_steps, shortfall, span
from ..run.trajectory import Trajectory
from ..words import sentence
from .html_parts import Writer

LARGEST = 300_000
"""Bytes of a figure with lines beyond which it is drawn with points."""


def picture(w: Writer, run: Trajectory, live: bool, methods: Sequence[Method], beside: Any) -> str:
    """The player; in print, and where scripts do not run, the scene at the start."""
    if not has_steps(run):
        return f"<p>{w.word('steps lacking')}</p>"
    film = film_of(run, beside, (), w.lang)
    moving = player(data_of(film, live, methods, heading=3, autoplay=False))
    drawn = _image(_still(film), w.word("picture of", film.system.name), "still")
    return f"{moving}\n<noscript>{drawn}</noscript><div class='printed'>{drawn}</div>"


def _still(film: Any) -> Any:
    """The scene at the first record."""
    table = numbers_along(film, film.runs[0], np.arange(min(2, len(film.runs[0]))))
    with style("screen"):
        figure = new_figure("column", 1)
        measures = Measures.of(film.items, film.drawing.places, table, film.drawing.is_spatial)
        draw_frame(figure.subplots(), film, table, 0, measures)
    return figure


def _image(figure: Any, alt: str, kind: str = "figure") -> str:
    """A figure as an image within the page, of lines if it is not too large."""
    from matplotlib import rc_context

    held = io.BytesIO()
    with rc_context({"svg.fonttype": "path", "svg.hashsalt": "dalembert"}):
        figure.savefig(held, format="svg", metadata={"Date": None})
    form = "svg+xml"
    if held.tell() > LARGEST:
        held, form = io.BytesIO(), "png"
        figure.savefig(held, format="png", dpi=150)
    data = base64.b64encode(held.getvalue()).decode()
    return f'<img class="{kind}" src="data:image/{form};base64,{data}" alt="{alt}">'


def figures(w: Writer, run: Trajectory) -> str:
    """The figures of a run, each with a text that says what it is."""
    if not has_steps(run):
        return f"<p>{w.word('steps lacking')}</p>"
    found = []
    for what in _panels(run):
        try:
            figure = plot(run, what, width="column")
        except DalembertError as error:
            found.append(f"<p>{w.word('not found', '')}{w.said(str(error))}</p>")
            continue
        _worded(w, figure, what)
        told = w.word("figure", w.word(f"fig {what}"), run.system.name)
        found.append(f"<figure>{_image(figure, told)}<figcaption>{w.word(f'fig {what}')}</figcaption></figure>")
    return f'<div class="figures">{"".join(found)}</div>'


def _panels(run: Trajectory) -> list[str]:
    """The kinds of figures that a run has."""
    system = run.system.continuous
    if not isinstance(system, System):
        return ["coordinates", "momenta"]
    whole = not system.entropies and len(system.coordinates) <= 6
    return [
        "path", "coordinates", "energy", *(["invariants"] if whole else []),
        *(["constraints", "multipliers"] if system.constraints else []),
        *(["temperatures", "entropies"] if system.entropies else []),
    ]  # fmt: skip


def _worded(w: Writer, figure: Any, what: str) -> None:
    """The words in a figure, in the language of the page."""
    figure.suptitle("")
    for axes in figure.axes:
        axes.set_title("", loc="left")  # the caption says it
        handles, names = axes.get_legend_handles_labels()
        for handle, name in zip(handles, names, strict=True):
            handle.set_label(sentence(name, w.lang) or name)
        if names:
            height = figure.get_figheight()
            with style("column"):
                legend(axes)
            figure.set_figheight(height)


def method(w: Writer, run: Trajectory) -> str:
    """The method, its claims, and how the run went."""
    rows = []
    if (m := run.method) is not None:
        claims = {"symplectic": m.symplectic, "symmetric": m.symmetric, "momentum": m.momentum}
        claims |= {"kept constraints": m.constraints} if run.system.constraints else {}
        claims |= {"kept energy": m.energy}
        claims |= {"first_law": m.first_law, "second_law": m.second_law} if run.system.entropies else {}
        lower = ", ".join(f"{w.said(name)} {order}" for name, order in m.lower_orders.items())
        rows = [[w.word("order"), str(getattr(m, "order", "")) + (f" ({lower})" if lower else "")]]
        rows += [[w.word(key), w.word("yes" if claim else "no")] for key, claim in claims.items()]
        rows += [[w.word("source"), escape(m.reference)]] if m.reference else []
    residual = float(np.max(run.residual, initial=0.0))
    rows += [
        [w.word("step h"), f"{run.h:g}"], [w.word("span"), w.said(span(run))], [w.word("records"), str(len(run))],
        *([[w.word("lanes of"), str(run.lanes)]] if run.lanes is not None else []),
        [w.word("status"), _status(w, run)], [w.word("iterations"), f"{run.iterations:.2f}"],
        *([[w.word("residual"), f"{residual:.1e}"]] if np.isfinite(residual) else []),
    ]  # fmt: skip
    named = f"<p><code>{escape(repr(m))}</code></p>" if m is not None else ""
    return named + w.table([w.word("claim"), w.word("value")], rows)


def _status(w: Writer, run: Trajectory) -> str:
    short = shortfall(run)
    told = run.status if run.lanes is None else sorted(set(run.status))
    states = ", ".join(w.said(str(s)) for s in (told if isinstance(told, list) else [told]))
    return f"{states}. {w.said(short)}" if short else states


def audited(w: Writer, run: Trajectory, invariants: Mapping[str, Any], seconds: float) -> str:
    """The table of the audit, with the reasons."""
    found: Audit = audit(run, invariants, seconds)
    first = f"<p>{w.said(found.computed)}</p>" if found.computed else ""
    summary = (
        f'<p class="{"ok" if found.ok else "bad"}"><strong>{w.word("kept" if found.ok else "broken")}</strong></p>'
    )
    head = [w.word(k) for k in ("quantity", "theory", "promise", "at first", "deviation", "verdict")]
    table = w.table(head, [_row(w, row) for row in found.rows]) if found.rows else ""
    why = [
        f"<li><strong>{w.said(r.quantity)}:</strong> {w.said(told)}</li>" for r in found.rows for told in _remarks(r)
    ]
    listed = f"<ul>{''.join(why)}</ul>" if why else ""
    remark = f"<p>{w.said(found.remark)}</p>" if found.remark else ""
    return first + summary + table + listed + remark


def _row(w: Writer, row: Row) -> list[str]:
    kind = "ok" if row.ok else "bad"
    return [
        w.said(row.quantity), w.said(row.theory), w.said(row.promise), f"{row.value:.6g}", f"{row.deviation:.1e}",
        f'<span class="{kind}">{w.said(row.verdict)}</span>',
    ]  # fmt: skip


def _remarks(row: Row) -> list[str]:
    return [told for told in (row.reason, row.note) if told]
