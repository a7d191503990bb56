"""The table of methods says what the classes say, and what the methods do."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import dalembert as da
from dalembert.methods import REGISTRY
from dalembert.methods.method_table import _formula, markdown, method_table, probes, text
from dalembert.run.plan import check_method

ROWS = {row.name.split("(")[0]: row for row in method_table()}
PAGE = Path(__file__).parents[2] / "docs" / "choosing-a-method.md"


def test_every_method_has_a_row():
    assert list(ROWS) == list(REGISTRY)


def test_every_method_says_where_it_comes_from():
    """A name and a year, in the terminal and in the docs."""
    shown, page = text(), markdown()
    for kind in REGISTRY.values():
        assert re.search(r"[A-Z]\w+.*\b(19|20)\d\d\b", kind.reference)
        assert kind.reference in shown and kind.reference in page


def test_orders_of_families():
    assert ROWS["Gauss"].order == "2s, s = 1..4"
    assert ROWS["Lobatto"].order == "2s - 2, s = 2..5"
    assert ROWS["Composition"].order == "4, 6, 8"
    assert ROWS["DiscreteGradient"].order == "2"
    assert ROWS["Reference"].order == "adaptive"


def test_a_family_without_a_formula_is_noticed():
    assert _formula({1: 3, 2: 5, 3: 7}) == "2s + 1, s = 1..3"
    with pytest.raises(AssertionError, match="no formula"):
        _formula({1: 2, 2: 4, 3: 7})


@pytest.mark.parametrize("name", [n for n in REGISTRY if n not in ("Composition", "NullSpace")])
def test_claims_are_those_of_the_class(name):
    row, method = ROWS[name], REGISTRY[name]()
    assert (row.symplectic, row.symmetric) == tuple("yes" if c else "no" for c in (method.symplectic, method.symmetric))
    assert ("momenta" in row.preserves) == method.momentum
    assert ("energy" in row.preserves) == method.energy
    assert ("first law" in row.preserves) == method.first_law
    assert ("second law" in row.preserves) == method.second_law
    assert (row.accepts["heat"] == "yes") == method.thermal
    assert method.adaptive or row.order.startswith(str(method.order)) or "s" in row.order


def test_a_composition_has_the_claims_of_what_it_composes():
    row = ROWS["Composition"]
    assert row.symplectic == row.implicit == "as composed"
    assert row.symmetric == "yes"
    assert row.preserves == "(momenta), constraints, (energy), (first law)"
    assert row.accepts["heat"] == "some"


@pytest.mark.parametrize("name", [n for n in REGISTRY if n not in ("Composition", "NullSpace", "Reference")])
def test_what_is_accepted_makes_a_step_and_what_is_not_is_refused(name):
    method = REGISTRY[name]()
    for kind, system in probes().items():
        if ROWS[name].accepts[kind] == "yes":
            assert method.step_map(system).state
        else:
            with pytest.raises(da.MethodError):
                check_method(system, method)


def test_implicit():
    said = {name: row.implicit for name, row in ROWS.items()}
    assert said["StormerVerlet"] == said["RungeKutta4"] == said["DormandPrince8"] == "no"
    assert said["Midpoint"] == said["Gauss"] == "yes"
    assert said["Trapezoidal"] == "except free, kinematic"
    assert said["GeometricNonholonomic"] == "except kinematic"
    assert said["Reference"] == "-"


def test_constraints_are_not_listed_where_none_are_accepted():
    assert da.Gauss().constraints and "constraints" not in ROWS["Gauss"].preserves
    assert "constraints" in ROWS["Lobatto"].preserves


def test_as_text_and_as_markdown():
    lines = text().splitlines()
    assert lines[0].split()[:3] == ["method", "order", "implicit"]
    assert all(any(line.startswith(name) for line in lines) for name in REGISTRY)
    table = [line for line in markdown().splitlines() if line.startswith("|")]
    assert len(table) == len(REGISTRY) + 2
    assert len({line.count("|") for line in table}) == 1


def test_the_page_has_the_table_of_today():
    assert markdown() in PAGE.read_text(), "run python docs/make_choosing.py"
