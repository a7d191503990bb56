"""Motion to look at: the player as a file, films, and the browser."""

from __future__ import annotations

import tempfile
import webbrowser
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from ..errors import DalembertError, StartError, told
from ..methods.base import Method
from ..model.bodies.assembly import Assembly
from ..model.system import System
from ..run.trajectory import Trajectory
from .film import SUFFIXES, write_film
from .player_data import GHOSTS
from .player_page import checked_target, data_of, film_of, in_notebook, write_page


def animate(
    run: Trajectory, path: str | Path, *, beside: Any = (), graph: Sequence[Any] = (), live: bool = True,
    methods: Sequence[Method] = (), lang: str = "en", frames: int | None = None, seconds: float | None = None,
) -> Path:  # fmt: skip
    """Write the moving picture of a run; see `Trajectory.animate`."""
    target = checked_target(path, (".html", *SUFFIXES))
    film = film_of(run, beside, graph, lang, frames)
    if target.suffix.lower() != ".html":
        return write_film(film, target, seconds)
    return write_page(film, target, lang, live, methods)


IN_NOTEBOOK = 4000
"""Most frames of all lanes together in a notebook, which is saved with what it shows."""


def shown_in_notebook(run: Trajectory) -> str:
    """The player in a frame, for a notebook."""
    lanes = min(len(run.records), GHOSTS)
    return in_notebook(data_of(film_of(run, frames=max(2, IN_NOTEBOOK // lanes))))


def show(what: Any, path: str | Path | None = None, **options: Any) -> Path:
    """Open the moving picture of a run in the browser; of a gallery example, a motion with its own numbers.

    show(run), show(run, "motion.html", beside=other), show(dalembert.gallery.load("double-pendulum")). Options are those of
    `Trajectory.animate`. The file is a temporary one unless a path is given; it is returned.
    """
    run = _run(what)
    if path is None:
        folder = Path(tempfile.mkdtemp(prefix="dalembert-"))
        path = folder / f"{''.join(c if c.isalnum() else '-' for c in run.system.name)}.html"
    target = animate(run, path, **options)
    webbrowser.open(target.resolve().as_uri())
    return target


def _run(what: Any) -> Trajectory:
    """A run, or that of a gallery example; a system alone has no numbers."""
    if isinstance(what, Trajectory):
        return what
    if isinstance(getattr(what, "system", None), System) and hasattr(what, "until"):
        from ..run.simulate import simulate

        until = what.shown or what.until
        every = max(1, round(until / what.h / 4000))
        numbers = {"start": what.start, "parameters": what.parameters}
        return simulate(what.system, _method(what.system), h=what.h, until=until, every=every, **numbers)
    if isinstance(what, System | Assembly):
        raise StartError(
            f"show: {what.name!r} is a system without numbers. Compute a motion, run = dalembert.simulate(system, ...), and "
            f"write dalembert.show(run)."
        )
    raise StartError(f"show: got {told(what)} ({type(what).__name__}). Expected a run, or an example of the gallery.")


def _method(system: System) -> Method:
    """The midpoint rule, or the first of the suggested methods that applies to a system."""
    from ..methods import REGISTRY
    from ..methods.base import SUGGESTED
    from ..run.plan import check_method

    for method in (REGISTRY[name]() for name in ("Midpoint", *SUGGESTED)):
        with suppress(DalembertError):
            check_method(system, method)
            return method
    raise StartError(f"show: no method is known for {system.name!r}. Compute a motion and write dalembert.show(run).")
