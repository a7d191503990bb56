"""A rotation in numbers: matrices read and shown, displacements, fractions of a step; and what rules may ask of it."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as da
from dalembert.model.space import by_direction, differences, moved_numbers, per_number
from dalembert.symbolic import fast

R = da.rotation("R")
x, y = da.coordinates("x y")
W = R.omega
FREE = da.System("free body", [R], kinetic=W[0] ** 2 + W[1] ** 2 + 2 * W[2] ** 2)
MIXED = da.System("body and two masses", [x, R, y], kinetic=x.dot**2 + y.dot**2 + W[0] ** 2 + W[1] ** 2 + 2 * W[2] ** 2)
AXES = [(1, 0, 0), (0, 1, 0), (0, 0, 1), (0.1, 0.2, 0.97), (-0.3, 0.9, 0.2), (0.9, -0.3, 0.4)]


def by_rodrigues(axis, angle):
    """The matrix of a turn about an axis, by another formula than that of quaternions."""
    a, b, c = np.array(axis) / np.linalg.norm(axis)
    hat = np.array([[0, -c, b], [c, 0, -a], [-b, a, 0]])
    return np.eye(3) + np.sin(angle) * hat + (1 - np.cos(angle)) * hat @ hat


def quaternion(axis, angle):
    return np.array([np.cos(angle / 2), *(np.sin(angle / 2) * np.array(axis) / np.linalg.norm(axis))])


@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("angle", [0.0, 0.4, 2.5, np.pi - 1e-9, np.pi, 4.0])
def test_matrices_are_read_and_shown(axis, angle):
    """Near half turns the largest of the four squares is another one: each row of the table is used."""
    given = by_rodrigues(axis, angle)
    read = R.read(given)
    assert np.abs(R.shown(read) - given).max() < 1e-14
    assert np.abs(R.read(np.stack([given, np.eye(3)]))[0] - read).max() == 0
    assert np.abs(np.abs(read @ quaternion(axis, angle)) - 1) < 1e-14


def test_displacements_lead_from_one_position_to_another():
    """In a product too, where positions have more numbers than directions."""
    chance = np.random.default_rng(3)
    first, second = chance.normal(size=(2, 5, 6))
    q = MIXED.coordinates
    way = differences(q, first, second)
    assert way.shape == (5, 5)
    there = moved_numbers(q, first, way)
    assert np.allclose(there[:, [0, 5]], second[:, [0, 5]], rtol=1e-14)
    assert np.abs(R.shown(there[:, 1:5]) - R.shown(second[:, 1:5])).max() < 1e-13
    assert np.abs(R.shown(moved_numbers(q, first, -way)[:, 1:5]) - R.shown(second[:, 1:5])).max() > 0.1  # control


def test_sizes_of_displacements():
    """Of a rotation the numbers change by half the angle; its position is no displacement from anything."""
    q, xi = MIXED.coordinates, np.array([0.3, 1e-4, -2e-4, 2e-4, 0.5])
    sizes = per_number(q, xi)
    assert sizes[[0, 5]].tolist() == [0.3, 0.5]
    begun = np.array([2.0, *quaternion((1, 2, 3), 0.7), 5.0])
    changed = np.abs(moved_numbers(q, begun, xi) - begun)[1:5]
    assert np.linalg.norm(changed) == pytest.approx(sizes[1], rel=1e-6)
    assert by_direction(q, begun).tolist() == [2.0, 0.0, 0.0, 0.0, 5.0]


def test_fractions_of_a_step():
    """tau(xi)^b: nothing for 0, all for 1; half of it twice is all; a third is that of xi/3."""
    xi = np.array([0.4, -0.7, 1.1])

    def turn(share, by):
        return np.array([[float(e) for e in row] for row in R.adjoint(fast(share), list(map(fast, by)))])

    whole = R.shown(R.moved(np.array([1.0, 0, 0, 0]), xi))
    assert np.abs(turn(0, xi) - np.eye(3)).max() == 0
    assert np.abs(turn(1, xi) - whole).max() < 1e-15
    half = turn(fast(1) / 2, xi)
    assert np.abs(half @ half - whole).max() < 1e-15
    third = R.shown(R.moved(np.array([1.0, 0, 0, 0]), xi / 3))
    assert np.abs(turn(fast(1) / 3, xi) - third).max() < 1e-15
    assert np.abs(third - whole).max() > 0.1  # control


class Shifted(da.VariationalMethod):
    """Its point is not between the ends of the step."""

    order = 1

    def discrete_lagrangian(self, L, q0, q1, t, h):
        point = (q0 + q1) / 2
        point[0] += h
        return h * L(point, (q1 - q0) / h, t)


class Uneven(da.VariationalMethod):
    """Another point for each direction."""

    order = 1

    def discrete_lagrangian(self, L, q0, q1, t, h):
        point = q0 + (q1 - q0) / 2
        point[0] = q0[0]
        return h * L(point, (q1 - q0) / h, t)


class Middle(Uneven):
    """The control: one point for all."""

    def discrete_lagrangian(self, L, q0, q1, t, h):
        return h * L(q0 + (q1 - q0) / 2, (q1 - q0) / h, t)


@pytest.mark.parametrize("rule", [Shifted(), Uneven()], ids=["shifted", "uneven"])
def test_rules_that_have_no_meaning_on_a_group(rule):
    """Without the refusal the shift would be dropped, and the points of all directions taken for one of them."""
    with pytest.raises(da.ModelError, match="the rule does not apply to the rotation R"):
        da.discretise(FREE, rule)
    da.discretise(FREE, Middle())


def test_components_have_one_axis_of_lanes_at_most():
    with pytest.raises(da.StartError, match=r"R\.omega has shape \(2, 2, 3\)\. Give 3 components"):
        da.simulate(FREE, da.Midpoint(), h=0.1, steps=1, start={R: np.eye(3), R.omega: np.ones((2, 2, 3))})
    assert da.simulate(FREE, da.Midpoint(), h=0.1, steps=1, start={R: np.eye(3), R.omega: np.ones((2, 3))}).lanes == 2
