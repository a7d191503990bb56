"""The search for wrong answers with generated systems runs: a few systems of every heading, and its controls."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import dalembert as da
from dalembert.theory.conserved import integral_search
from dalembert.theory.conserved.on_shell import shell

sys.path.insert(0, str(Path(__file__).parents[2] / "docs"))

make_search = pytest.importorskip("make_search")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("heading", list(make_search.HEADINGS))
def test_a_few_systems_of_every_heading(heading):
    found = [make_search.tried(heading, seed) for seed in range(5)]
    assert [how for how, _ in found if how not in ("same", "skipped")] == [], found
    assert any(make_search.tried(heading, seed, True)[0] == "differs" for seed in range(6))  # the control


def test_the_page_has_a_row_for_every_heading():
    rows = [line for line in make_search.section() if line.startswith("| ")]
    assert [r.split(" | ")[0].strip("| ") for r in rows] == ["heading", *make_search.HEADINGS]
    assert all(found["tried"] >= (500 if h == "features" else 2000) for h, found in make_search.kept().items())


def test_counts_that_continue_are_added(tmp_path, monkeypatch):
    monkeypatch.setattr(make_search, "KEPT", tmp_path / "search.json")
    make_search.keep("units", {"first": 0, "tried": 3, "same": 3, "seeds": [], "control": 5})
    make_search.keep("units", {"first": 3, "tried": 2, "differs": 1, "same": 1, "seeds": [4], "control": 5})
    assert make_search.kept()["units"]["tried"] == 5 and make_search.kept()["units"]["seeds"] == [4]
    make_search.keep("units", {"first": 0, "tried": 1, "same": 1, "seeds": [], "control": 5})  # another search
    assert make_search.kept()["units"]["tried"] == 1


def test_a_cubic_of_a_known_integral_follows_from_it():
    """(50 x - 49 y)^3 was listed beside 50 x - 49 y."""
    x, y = da.coordinates("x y")
    rail = da.System("rail", [x, y], kinetic=x.dot**2 + y.dot**2, potential=x**4, constraints=[x.dot - 0.98 * y.dot])
    known = 50 * x - 49 * y
    assert integral_search.follows(known**3 - 2 * known, [known], shell(rail))
    assert not integral_search.follows(known**3 + x, [known], shell(rail))  # the control
    assert not integral_search.follows(np.pi * x.dot, [known], shell(rail))
