"""Dinamica analitica, chapter 7: problems 7.1-7.26, for which the source has no solutions."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import dalembert as da
from dalembert.errors import ModelError

from . import released, worked
from .measures import equations, evaluated, later, load, printed
from .problems import FIXTURES, PROBLEMS, TABLE, unique

CHECKS = unique(PROBLEMS)
NAMES = [n for e in PROBLEMS for n in e.lives.split(", ") if n in FIXTURES]
REACTIONS = [
    released.wedge, released.pulled_bead, released.rotating_hoop, released.ladder, released.turning_hoop,
    released.rotating_plane, released.two_axes, released.cone,
    released.cone_range, released.leaning_rod, released.semi_hoop,
    released.driven_rod, released.two_discs,
]  # fmt: skip


@pytest.mark.parametrize(("key", "check"), CHECKS, ids=[k for k, _ in CHECKS])
def test_holds(key, check):
    assert check.error() <= check.allowed


def test_all_problems_are_there():
    assert [e.number for e in PROBLEMS] == [f"problem 7.{k}" for k in range(1, 27)]


@pytest.mark.parametrize("name", NAMES)
def test_control_another_state_has_other_numbers(name):
    fixture = FIXTURES[name]
    assert equations(fixture, 1e-6) > 1e-8
    if fixture.accelerations:
        assert printed(fixture, 1e-6) > 1e-8
    if fixture.later:
        assert later(fixture, 1e-6) > 1e-8


@pytest.mark.parametrize("reaction", REACTIONS, ids=lambda f: f.__name__)
def test_control_at_another_state_the_reaction_is_another(reaction):
    assert reaction(1e-5) > 1e-7


def test_controls_of_derived_results():
    assert worked.smallest_speed(0.0, 3.9 * 9.81 * 0.9) > 0.5
    assert worked.hoop_routh(legendre=False) > 1
    assert worked.binary_momenta(cyclic_y=True) > 1
    assert worked.knife_closed_form("bar-with-knife-edge", 1.334) > 1e-5


def test_7_2_the_second_knife_is_redundant():
    """In Cartesian coordinates of the two masses: rod, knife at A, knife at B; the third follows from the others."""
    xa, ya, xb, yb = q = da.coordinates("xa ya xb yb")
    m, l = da.parameters("m l", positive=True)
    kinetic = m * sum(c.dot**2 for c in q) / 2
    rod = (xb - xa) ** 2 + (yb - ya) ** 2 - l**2
    knives = [xa.dot * (xb - xa) + ya.dot * (yb - ya), xb.dot * (xb - xa) + yb.dot * (yb - ya)]
    with pytest.raises(ModelError, match="is redundant"):
        da.System("two knives", q, kinetic=kinetic, constraints=[rod, *knives])
    assert len(da.System("one knife", q, kinetic=kinetic, constraints=[rod, knives[0]]).constraints) == 2


def test_7_4_the_massless_joint_makes_the_chart_singular():
    """The determinant of the mass matrix is m^2 l^2 (R^2 + l^2) sin(theta)^2."""
    fixture = FIXTURES["pendulum-on-circle"]
    for angle in (0.6, 0.1):
        now = evaluated(load(fixture.system).system, [0.0, angle], [1.5, 0.4], fixture.values())
        said = 1.2**2 * 0.64 * (0.81 + 0.64) * np.sin(angle) ** 2
        assert np.linalg.det(now.mass_matrix) == pytest.approx(said, rel=1e-12)


def test_7_16_the_contact():
    """The gap used for the reactions vanishes where the digest puts the disc, x = R cot(alpha/2)."""
    gap = released.leaning_rod_touches()
    assert all(abs(gap.subs(released.theta, v).evalf()) < 1e-14 for v in (0.5, 0.9, 2.0))


# -------------------- the page --------------------


def test_the_page_lists_every_entry():
    page = (Path(__file__).parents[2] / "docs" / "textbook.md").read_text()
    rows = re.findall(r"^\| (\d{3}) \| ([^|]+) \| ([^|]+) \| ([^|]+) \|", page, re.MULTILINE)
    assert [(d, n.strip(), t.strip()) for d, n, t, _ in rows] == [(e.document, e.number, e.title) for e in TABLE], (
        "run python docs/make_textbook.py"
    )
    counts = [int(c) for c in re.findall(r"\| (\d+) checks? ", page)]
    assert counts == [len(e.checks) for e in TABLE], "run python docs/make_textbook.py"


def test_the_page_has_no_failure():
    page = (Path(__file__).parents[2] / "docs" / "textbook.md").read_text()
    assert "FAILS" not in page
