"""The page on thermomechanics prints what it shows, and its pictures redraw the figures they name."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from .pages import DOCS, load

TEXT = (DOCS / "thermomechanics.md").read_text()
pages, page = load("make_tutorials"), load("make_thermomechanics")


@pytest.mark.slow
def test_the_page_prints_what_it_shows(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    reports = pages.stale(TEXT, pages.run(TEXT, "thermomechanics"))
    assert not reports, "run python docs/make_thermomechanics.py\n" + "\n".join(reports)


@pytest.mark.slow
def test_every_figure_is_redrawn_once():
    """Figures 2.2 to 2.4 and 4.2 to 4.15, each in one panel."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    titles = [ax.get_title() for make in page.PICTURE.values() for ax in make(plt).axes]
    plt.close("all")
    numbers = Counter(n for title in titles for n in re.findall(r"Fig\. (\d\.\d+):", title))
    assert numbers == Counter([*(f"2.{k}" for k in (2, 3, 4)), *(f"4.{k}" for k in range(2, 16))])


def test_links_and_pictures_exist():
    targets = re.findall(r"\]\(([^)#:]+)\)", TEXT)
    for target in targets:
        assert (DOCS / target).exists(), f"the page links to {target}"
    assert {f"pictures/thermo-{name}.png" for name in page.PICTURE} == {t for t in targets if t.endswith(".png")}
