"""The example notebooks, run by a real kernel: no error, the outputs that they show, pictures and players once."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat", reason="pip install dalembert[dev]")
pytest.importorskip("nbclient", reason="pip install dalembert[dev]")
pytest.importorskip("ipykernel", reason="pip install dalembert[dev]")

DOCS = Path(__file__).parents[2] / "docs"
NAMES = sorted(p.stem for p in (DOCS / "notebooks").glob("*.ipynb"))


@pytest.fixture(scope="module")
def maker():
    sys.path.insert(0, str(DOCS))
    yield importlib.import_module("make_notebooks")
    sys.path.remove(str(DOCS))


@pytest.fixture(scope="module")
def executed(maker):
    """The notebooks as a kernel leaves them, by name, each run once."""
    done = {}

    def one(name):
        if name not in done:
            done[name] = maker.run(DOCS / "notebooks" / f"{name}.ipynb")
        return done[name]

    return one


def shown(notebook, kind):
    """The outputs of a kind, of cells with a value."""
    return [o.data[kind] for c in notebook.cells for o in c.get("outputs", []) if kind in o.get("data", {})]


def test_there_are_four():
    assert len(NAMES) == 4


@pytest.mark.parametrize("name", NAMES)
def test_a_kernel_shows_what_the_notebook_shows(name, maker, executed):
    kept = nbformat.read(DOCS / "notebooks" / f"{name}.ipynb", as_version=4)
    reports = maker.stale(kept, executed(name))
    assert not reports, "run python docs/make_notebooks.py\n" + "\n".join(reports)
    assert all(maker.text(cell) for cell in maker.codes(kept)), "every cell shows something"


@pytest.mark.parametrize("name", NAMES)
def test_figures_and_players_are_shown_once(name, executed):
    for cell in executed(name).cells:
        outputs = [o for o in cell.get("outputs", []) if o.output_type != "stream"]
        assert len(outputs) <= 1
        for o in outputs:
            words = o.data["text/plain"]
            assert ("image/png" in o.data) == ("Figure" in words)
            assert ("text/html" in o.data) == words.startswith("<Trajectory")
    pictures, players = shown(executed(name), "image/png"), shown(executed(name), "text/html")
    assert pictures and players
    assert all(p.startswith("<iframe srcdoc=") and p.count("</iframe>") == 1 for p in players)


def test_control_a_changed_output_is_seen(maker):
    kept = nbformat.read(DOCS / "notebooks" / "rolling-disk.ipynb", as_version=4)
    other = nbformat.from_dict(kept)
    (said,) = [o for c in maker.codes(other) for o in c.outputs if o.output_type == "stream"]
    said.text = said.text.replace("radius 2.0000", "radius 2.1000")
    assert len(maker.stale(kept, nbformat.from_dict(kept))) == 0
    fresh = nbformat.read(DOCS / "notebooks" / "rolling-disk.ipynb", as_version=4)
    assert len(maker.stale(fresh, other)) == 1


def test_the_player_of_a_notebook_plays_computes_and_goes(browser, executed, tmp_path):
    (frame,) = shown(executed("double-pendulum"), "text/html")
    page = tmp_path / "output.html"
    page.write_text(f"<!doctype html><title>output</title><div id=cell>{frame}</div>")
    browser.open(page)
    inside = "document.querySelector('iframe').contentDocument"
    root = f"{inside}.querySelector('.dalembert-player')"
    browser.until(f"{inside} && {root} && {root}.dataset.live === 'ready'")
    assert browser.run(f"{inside}.querySelectorAll('.dalembert-player canvas.picture').length") == 1
    frames = browser.run(f"{root}.player.frames")
    browser.until(f"{root}.player.frames > {frames + 2}")
    browser.run(f"window.held = {root}.player, document.querySelector('#cell').innerHTML = ''")  # the cell is run again
    browser.until("held.painter.gl.isContextLost()")
    assert browser.complaints() == [] and browser.requests() == [page.as_uri()]
