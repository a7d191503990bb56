"""The page on models of constrained motion prints what it shows, and its pictures are there."""

from __future__ import annotations

import re

import pytest

from .pages import DOCS, load

TEXT = (DOCS / "models-of-constraints.md").read_text()
pages, page = load("make_tutorials"), load("make_models")


@pytest.mark.slow
def test_the_page_prints_what_it_shows(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    reports = pages.stale(TEXT, pages.run(TEXT, "models-of-constraints"))
    assert not reports, "run python docs/make_models.py\n" + "\n".join(reports)


@pytest.mark.slow
def test_the_skate_of_the_picture_goes_down_in_the_vakonomic_model_alone():
    runs = page.motions("knife-edge", 8, models=["vakonomic"]).runs
    down = {name: run.x.max() for name, run in runs.items()}
    assert down["d'Alembert-Chetaev"] < 3 and down["vakonomic"] > 2 * down["d'Alembert-Chetaev"]


def test_links_and_pictures_exist():
    targets = re.findall(r"\]\(([^)#:]+)\)", TEXT)
    for target in targets:
        assert (DOCS / target).exists(), f"the page links to {target}"
    assert {f"pictures/models-{name}.png" for name in page.PICTURE} == {t for t in targets if t.endswith(".png")}
