"""Equations in groups: every unknown once, each group after those it needs, no group that could be split."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dalembert.waist.triangular_order import Undetermined, solved_together


def reachable(adjacent):
    """The transitive closure of a graph, by repeated squaring."""
    closed = adjacent | np.eye(len(adjacent), dtype=bool)
    for _ in range(len(adjacent)):
        closed = (closed.astype(int) @ closed.astype(int)) > 0
    return closed


@settings(max_examples=200, deadline=None)
@given(st.integers(1, 9), st.randoms(use_true_random=False), st.floats(0.0, 0.5))
def test_a_hidden_block_triangular_form_is_found(n, random, density):
    """A matrix with a full diagonal, rows and columns shuffled: the groups are the strong components of its graph."""
    full = np.array([[i == j or random.random() < density for j in range(n)] for i in range(n)])
    rows, columns = random.sample(range(n), n), random.sample(range(n), n)
    equations = [{f"x{columns[j]}" for j in range(n) if full[i, j]} for i in rows]
    groups = solved_together(equations, [f"x{j}" for j in range(n)])
    assert sorted(i for group, _ in groups for i in group) == list(range(n))
    known: set[str] = set()
    for group, names in groups:
        known |= set(names)
        assert len(group) == len(names) and all(equations[i] <= known for i in group)
    closed = reachable(full)
    components = {frozenset(np.flatnonzero(closed[i] & closed[:, i])) for i in range(n)}
    assert {frozenset(rows[i] for i in group) for group, _ in groups} == components


def test_an_unknown_without_an_equation_is_named():
    with pytest.raises(Undetermined, match=r"no equation is left to determine [ab]\.") as told:
        solved_together([{"a", "b"}, {"c"}, {"c"}], ["a", "b", "c"])
    assert told.value.unknown in "ab"
