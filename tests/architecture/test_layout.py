"""States and tables of numbers are read by role and by name: nothing counts columns of positions and momenta."""

from __future__ import annotations

import ast

import pytest

from .test_architecture import SOURCE

BELOW = ("waist", "engine")
"""Rooms that lay out numbers themselves; the engine has buffers of its own, in which numbers have no roles."""

COUNTED = ["2 * n", "n * 2", "2 * self.n", "2 * len(system.coordinates)"]


def counted_slices(text: str) -> list[str]:
    """Slices whose end is twice a number: the columns of two roles, counted."""
    found = []
    for node in ast.walk(ast.parse(text)):
        for end in (node.lower, node.upper) if isinstance(node, ast.Slice) else ():
            for part in ast.walk(end) if end is not None else ():
                if isinstance(part, ast.BinOp) and isinstance(part.op, ast.Mult):
                    a, b = (part.left, part.right)
                    if any(isinstance(c, ast.Constant) and c.value == 2 for c in (a, b)) and _counts(a) | _counts(b):
                        found.append(ast.unparse(node))
    return found


def _counts(node: ast.AST) -> bool:
    """Whether something is a number of coordinates."""
    return ast.unparse(node) in ("n", "self.n", "self._n") or ast.unparse(node).startswith("len(")


def test_no_slice_counts_the_columns_of_two_roles():
    found = {
        str(path.relative_to(SOURCE)): cuts
        for path in SOURCE.rglob("*.py")
        if path.relative_to(SOURCE).parts[0] not in BELOW and (cuts := counted_slices(path.read_text()))
    }
    assert found == {}


@pytest.mark.parametrize("bound", COUNTED)
def test_control_a_counted_slice_is_seen(bound):
    assert counted_slices(f"momenta = state[n : {bound}]") and counted_slices(f"rest = state[:, {bound} :]")


def test_groups_have_the_columns_they_were_made_of():
    import numpy as np

    from dalembert.waist.layout import Groups

    groups = Groups(first=[1, 2], none=[], last=[3])
    assert list(groups.outputs.values()) == [1, 2, 3] and len(set(groups.outputs)) == 3
    table = np.arange(6).reshape(2, 3)
    assert groups.of(table, "first").tolist() == [[0, 1], [3, 4]]
    assert groups.of(table, "none").shape == (2, 0) and groups.of(table, "last").tolist() == [[2], [5]]
