"""The table of attacks: what is counted, what counts as a failure, and where it is written."""

from __future__ import annotations

import os
import sys
from collections import Counter
from pathlib import Path

import pytest

import dalembert as da

sys.path.insert(0, str(Path(__file__).parents[2] / "docs"))
import attack
import watched


def case(number):
    """One of every kind."""
    if number == 1:
        raise da.ModelError("this is refused in words")
    if number == 2:
        raise da.ModelError("")
    if number == 3:
        raise ValueError("this is no error of the library")
    if number == 4:
        os._exit(0)
    return "wrong: because" if number == 5 else "right"


def test_everything_is_counted(capfd):
    for workers in (1, 2):
        found = watched.watched(case, 8, workers)
        assert found == {"tried": 8, "refused": 1, "wrong": 2, "crashed": 2, "hung": 0, "right": 3}
    assert "case 5: wrong because" in capfd.readouterr().err


def test_what_counts_as_a_failure():
    good = Counter(tried=5, refused=3, right=1, loaded=1)
    assert attack.failed({"a": good, "b": good}) == 0
    for word in (*watched.BAD, "unheard"):
        assert attack.failed({"a": good, "b": good + Counter({"tried": 2, word: 2})}) == 2


def test_the_section_is_replaced_or_added():
    lines = attack.section({"a": Counter(tried=5, refused=3, right=2)})
    assert "| a | 5 | 3 | 0 | 0 | 0 | 2 right |" in lines
    page = "# Page\n\n## One\n\ntext\n"
    added = attack.put(page, lines)
    assert added == page + "\n" + "\n".join(lines)
    assert attack.put(added, lines) == added
    assert attack.put(added + "\n## Two\n", lines).endswith("\n## Two\n")


def test_a_constraint_that_jumps_is_refused():
    """SymEngine crashed on the gradient of one with a kink inside."""
    x, y = da.coordinates("x y")
    for jumps in (
        da.Heaviside(da.Max(x, y.dot)),
        da.sign(x - y) + x,
        da.Heaviside(x) * y.dot**2 - x.dot**2 * da.sign(y.dot),
    ):
        with pytest.raises(da.ModelError, match="jumps"):
            da.System("s", [x, y], kinetic=(x.dot**2 + y.dot**2) / 2, constraints=[jumps])
    da.System("s", [x, y], kinetic=(x.dot**2 + y.dot**2) / 2, constraints=[da.Abs(x) - y])
