"""What a person reads who gives the inverse problem something that it cannot take. Word for word."""

from __future__ import annotations

import pytest
import sympy

import dalembert as da
from dalembert import ModelError

from .tools import table, told

x, y, z = da.coordinates("x y z")
m, k = da.parameters("m k", positive=True)
S = da.entropies("S")
R = da.rotation("R")
s = sympy.Symbol("s")
PLANE = da.System("plane", [x, y], kinetic=m * (x.dot**2 + y.dot**2) / 2, potential=k * x**2)
BOUND = PLANE.replace(constraints=[y.dot - x * x.dot])
HOT = da.System("hot", [x], kinetic=m * x.dot**2 / 2, entropies=[S], internal_energy=da.exp(S))
w = R.omega
TOP = da.System("top", [R], kinetic=(w[0] ** 2 + w[1] ** 2 + w[2] ** 2) / 2)
inverse = da.inverse

ROWS = [
    (
        "no equations",
        lambda: inverse.lagrangian(3, [x]),
        "lagrangian: got 3 (int). Expected a System, or a list of equations, one for each coordinate: [x.ddot + k*x].",
    ),
    (
        "a text",
        lambda: inverse.helmholtz("x.ddot + x", [x]),
        "helmholtz: got 'x.ddot + x' (str). Expected a System, or a list of equations, one for each "
        "coordinate: [x.ddot + k*x].",
    ),
    (
        "a text among the equations",
        lambda: inverse.lagrangian(["x.ddot"], [x]),
        "equation 1: got the text 'x.ddot'. Expected an expression in Python: without the quotes, with symbols made by "
        "dalembert.coordinates and dalembert.parameters.",
    ),
    (
        "no coordinates",
        lambda: inverse.lagrangian([x.ddot + x]),
        "lagrangian: coordinates are missing. Expected a System, or a list of equations with coordinates=[x, y].",
    ),
    (
        "too few",
        lambda: inverse.lagrangian([x.ddot + x], [x, y]),
        "lagrangian: got 1 equation for 2 coordinates (x, y). Expected one equation for each coordinate.",
    ),
    (
        "too many",
        lambda: inverse.helmholtz([x.ddot, y.ddot], [x]),
        "helmholtz: got 2 equations for 1 coordinate (x). Expected one equation for each coordinate.",
    ),
    (
        "unknown symbol",
        lambda: inverse.lagrangian([x.ddot + s * x], [x]),
        "equation 1: unknown symbol s in s*x + x.ddot. If it is a constant, make it with s = "
        'dalembert.parameters("s"). Known '
        "here: t, x, x.ddot, x.dot.",
    ),
    (
        "another coordinate",
        lambda: inverse.lagrangian([x.ddot + y], [x]),
        "equation 1: unknown symbol y in y + x.ddot. Add y to coordinates=[...]. Known here: t, x, x.ddot, x.dot.",
    ),
    (
        "an equation of nothing",
        lambda: inverse.lagrangian([x.ddot, k], [x, y]),
        "lagrangian: equation 2, k, contains none of the coordinates x, y, their velocities and accelerations.",
    ),
    (
        "first order",
        lambda: inverse.lagrangian([x.dot - y, y.dot + x], [x, y]),
        "lagrangian: no acceleration occurs in these equations, so they are of first order. Expected "
        "equations of second order; "
        'for a Lagrangian linear in the velocities type kind="birkhoff".',
    ),
    (
        "second order, birkhoff",
        lambda: inverse.lagrangian([x.ddot + x], [x], kind="birkhoff"),
        'lagrangian: kind="birkhoff" takes equations of first order, and accelerations occur. Expected an '
        "equation x.dot - (...) "
        "for each coordinate; make the velocities coordinates of their own.",
    ),
    (
        "velocities not linear",
        lambda: inverse.lagrangian([x.dot**2 - y, y.dot - x], [x, y], kind="birkhoff"),
        "lagrangian: the velocities do not occur linearly. Expected equations of first order that are linear in them.",
    ),
    (
        "singular mass matrix",
        lambda: inverse.lagrangian([x.ddot + y.ddot, x.ddot + y.ddot + x], [x, y]),
        "lagrangian: the matrix of the accelerations in these equations is singular, so they do not "
        "determine the motion. Expected "
        'as many independent equations as coordinates; with kind="degenerate" a Lagrangian of exactly these '
        "equations is looked "
        "for.",
    ),
    (
        "not linear in accelerations",
        lambda: inverse.lagrangian([x.ddot**2 - x], [x]),
        "lagrangian: the accelerations do not occur linearly. Expected equations linear in them; solve the "
        "equations for x.ddot "
        "first and choose one of the solutions.",
    ),
    (
        "constraints",
        lambda: inverse.lagrangian(BOUND),
        "lagrangian: 'plane' has constraints, and its multipliers are no coordinates. Expected a system "
        "without constraints; reduce "
        "it to independent velocities first and give those equations.",
    ),
    (
        "entropies",
        lambda: inverse.lagrangian(HOT),
        "lagrangian: 'hot' has the entropy S, whose law is of first order. Expected a system without "
        "entropies; put friction into "
        "dissipation= instead.",
    ),
    (
        "an entropy as coordinate",
        lambda: inverse.helmholtz([S.ddot], [S]),
        "helmholtz: S is an entropy. Its law is of first order and does not follow from a Lagrangian; "
        "expected equations of "
        "coordinates only.",
    ),
    (
        "a system of rotations",
        lambda: inverse.lagrangian(TOP),
        "lagrangian: 'top' has the rotation R. Expected a system whose coordinates are numbers; state it by "
        "angles and distances "
        "for this.",
    ),
    (
        "a rotation",
        lambda: inverse.helmholtz([x.ddot], [R]),
        "helmholtz: R is a rotation. Expected coordinates that are numbers; use angles and distances.",
    ),
    (
        "coordinates of a system",
        lambda: inverse.lagrangian(PLANE, [x, y]),
        "lagrangian: a system has its own coordinates. Leave coordinates= out.",
    ),
    (
        "kind",
        lambda: inverse.lagrangian([x.ddot], [x], kind="any"),
        "lagrangian: kind='any'. Expected one of 'regular', 'degenerate', 'birkhoff'.",
    ),
    (
        "ansatz",
        lambda: inverse.lagrangian([x.ddot], [x], ansatz=x),
        "lagrangian: ansatz=x. Expected a list of functions, such as [1, x, x.dot**2].",
    ),
    (
        "ansatz of another kind",
        lambda: inverse.lagrangian([x.ddot], [x], ansatz=[1], kind="degenerate"),
        "lagrangian: ansatz= is for regular Lagrangians, and kind='degenerate' was given. Leave one out.",
    ),
    (
        "size of R",
        lambda: inverse.helmholtz([x.ddot, y.ddot], [x, y], R=[[1]]),
        "helmholtz: R=[[1]]. Expected a matrix of 2 rows and 2 columns.",
    ),
    (
        "metric of equations of motion",
        lambda: inverse.metric(x.dot**2),
        "metric: coordinates are missing. Expected a System, or a Lagrangian with coordinates=[x, y].",
    ),
    (
        "geodesics of no metric",
        lambda: inverse.metric((x.dot + y.dot) ** 2, [x, y]).geodesic_equations,
        "metric: the matrix d2L/dv dv is singular, so it has no geodesics. Expected a regular matrix that is "
        "homogeneous of degree 0 "
        "in the velocities and does not contain time.",
    ),
    (
        "jacobi of no system",
        lambda: inverse.jacobi_metric(x.dot**2, k),
        "jacobi_metric: got x.dot**2 (Pow). Expected a System.",
    ),
    (
        "jacobi with friction",
        lambda: inverse.jacobi_metric(PLANE.replace(dissipation=x.dot**2), k),
        "jacobi_metric: 'plane' is not natural. Expected L = 1/2 G_kj(q) v_k v_j - V(q) without time, terms "
        "linear in the "
        "velocities, forces and dissipation.",
    ),
    (
        "jacobi at an energy that moves",
        lambda: inverse.jacobi_metric(PLANE, da.time),
        "jacobi_metric: energy=t depends on time. Expected a constant.",
    ),
    (
        "normal form",
        lambda: inverse.helmholtz([x.ddot, x.ddot + y.ddot], [x, y]).normal_form,
        "normal_form: dF/da is not a matrix of second derivatives by the velocities, so F = E(L) + phi would "
        "leave accelerations in "
        "phi. Multiply the equations by a matrix first.",
    ),
]


@table(*ROWS)
def test_messages(call, message):
    assert told(ModelError, call) == message


def test_sound_inputs_are_taken():
    assert inverse.lagrangian(sympy.Eq(x.ddot, -k * x), x).verified
    assert inverse.lagrangian((x.ddot + 9.81 * x,), [x]).verified
    assert inverse.lagrangian(PLANE).verified
    assert inverse.lagrangian([2 * x.ddot + y.ddot, x.ddot + y.ddot + x], [x, y]).exists is not None
    assert inverse.helmholtz([x.ddot**2 - x], [x]).failing[0].name == "linear"


def test_decimals_are_exact():
    found = inverse.lagrangian([x.ddot + 0.3 * x.dot + 9.81 * x], [x])
    assert not found.lagrangian.has(sympy.Float)
    assert found.multiplier[0] == sympy.exp(sympy.Rational(3, 10) * da.time)
    assert "4.905*x**2" in str(found)


def test_what_was_searched_is_named_as_it_begins():
    parts = []
    found = inverse.lagrangian(
        [x.ddot + m * x.dot + k * y, y.ddot + k * x], [x, y], progress=parts.append
    )  # fmt: skip
    assert found.exists is False
    assert parts == list(found.searched) == ["the equations as they stand", "algebraic conditions on multipliers"]


def test_a_spent_budget_is_no_proof():
    found = inverse.lagrangian([x.ddot - x.dot**3 - x * x.dot, y.ddot - y.dot * x.dot], [x, y], seconds=0.0)
    assert (found.exists, found.lagrangian) == (None, None)
    assert "The time for the search is spent; seconds= gives it more." in found.reason


def test_a_line_is_shown_and_removed(capsys):
    inverse.lagrangian([x.ddot + k * x.dot + m * x**5], [x], progress=True)
    shown = capsys.readouterr().err
    assert "inverse problem: the equations as they stand" in shown
    assert shown.endswith("\r")


def test_answers_are_kept():
    first = inverse.lagrangian([x.ddot + k * x], [x])
    assert inverse.lagrangian([x.ddot + k * x], [x]) is first
    assert inverse.lagrangian([x.ddot + m * x], [x]) is not first


@pytest.mark.parametrize("equations", [[x.ddot - (1 - x**2) * x.dot + x]])
def test_one_degree_of_freedom_without_quadratures(equations):
    """Van der Pol's equation has a Lagrangian, but none is known in closed form."""
    found = inverse.lagrangian(equations, [x], seconds=20)
    assert found.exists is True
    assert found.lagrangian is None
    assert found.reason.startswith(
        "An equation of one degree of freedom has a Lagrangian near every state where it is regular"
    )
