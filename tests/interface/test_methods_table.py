"""The table of methods is made from the classes, so it cannot say what they do not."""

from __future__ import annotations

import pytest

import dalembert as da
from dalembert.methods import REGISTRY
from dalembert.methods.table import markdown, method_table, probes, text


@pytest.fixture(scope="module")
def rows():
    return {row.name.split("(")[0]: row for row in method_table()}


def test_every_method_has_a_row(rows):
    assert list(rows) == list(REGISTRY)


def test_orders(rows):
    told = {
        name: rows[name].order for name in ("LeftPoint", "Midpoint", "Gauss", "Lobatto", "Composition", "Reference")
    }
    assert told == {
        "LeftPoint": "1",
        "Midpoint": "2",
        "Gauss": "2s, s = 1..4",
        "Lobatto": "2s - 2, s = 2..5",
        "Composition": "4, 6, 8",
        "Reference": "adaptive",
    }


def test_what_is_implicit_and_what_is_kept(rows):
    assert rows["RungeKutta4"].implicit == "no"
    assert rows["StormerVerlet"].implicit == "no"
    assert rows["Gauss"].implicit == "yes"
    assert rows["DiscreteGradient"].preserves == "constraints, energy"
    assert rows["RungeKutta4"].symplectic == "no"


def test_what_is_accepted_is_what_check_does_not_refuse(rows):
    assert rows["StormerVerlet"].accepts["separable"] == "yes"
    for name, system in probes().items():
        if rows["StormerVerlet"].accepts[name] == "-":
            with pytest.raises(da.MethodError):
                da.StormerVerlet().check(system)
    assert rows["GeometricNonholonomic"].accepts["nonlinear kinematic"] == "yes"


def test_it_prints():
    assert "| `Midpoint()` | 2 |" in markdown()
    assert text().splitlines()[0].startswith("method")
