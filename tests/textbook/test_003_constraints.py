"""Digest 003, constraints: examples 4-10, the gas in a box, the parked car, statements T2-T9, procedures P1-P4;
and of digest 004 the knife edges (7.3), statements T16 and T18, the redundant knives of problem 7.2."""

from __future__ import annotations

import pytest
import sympy

import dalembert as da
from dalembert import cos, sin
from dalembert.decide.sample import points_on
from dalembert.decide.zero import vanishes
from dalembert.symbolic import fast
from dalembert.theory.algebra import Allowance, read
from dalembert.theory.constraints.charts import check_chart
from dalembert.theory.constraints.distributions import bracket, derived_flag, derived_system
from dalembert.theory.constraints.integrability import (
    frobenius_residuals,
    is_exact,
    is_integrable,
    makes_exact,
    triple_residuals,
)

x, y, z, theta, phi = da.coordinates("x y z theta phi")
x1, y1, x2, y2 = da.coordinates("x1 y1 x2 y2")
a, R, l, omega, m, v = da.parameters("a R l omega m v", positive=True)
ZERO, ONE = sympy.S.Zero, sympy.S.One


def same(found, expected):
    return vanishes(fast(sympy.sympify(found)) - fast(sympy.sympify(expected)))


def kinds(result):
    return [c.kind for c in result.constraints]


# Examples 4-6: degrees of freedom (P1, T2)


def test_example_4_a_free_particle_has_three_degrees_of_freedom():
    free = da.classify(da.System("particle", [x, y, z], kinetic=m * (x.dot**2 + y.dot**2 + z.dot**2) / 2))
    assert (free.rank, free.degrees_of_freedom, free.configuration_dimension) == (0, 3, 3)
    assert free.is_holonomic and free.reachable and free.growth_vector == (3,)


def test_example_5_a_particle_on_a_circle():
    circle = da.classify([x**2 + y**2 - R**2], coordinates=[x, y])
    assert circle.is_holonomic and circle.degrees_of_freedom == circle.configuration_dimension == 1
    assert circle.constraints[0].is_scleronomic and circle.constraints[0].is_exact
    assert vanishes(circle.virtual_displacements.dot([x, y]))
    assert not vanishes(circle.virtual_displacements.dot([x, -y]))


def pendulum_rods():
    l1, l2 = da.parameters("l1 l2", positive=True)
    return [x1**2 + y1**2 - l1**2, (x2 - x1) ** 2 + (y2 - y1) ** 2 - l2**2]


def test_example_6_the_double_pendulum():
    double = da.classify(pendulum_rods(), coordinates=[x1, y1, x2, y2])
    assert (double.rank, double.degrees_of_freedom) == (2, 2)
    with_a_third_rod = da.classify([*pendulum_rods(), x2 - x1 - y1], coordinates=[x1, y1, x2, y2])
    assert with_a_third_rod.degrees_of_freedom == 1


def test_P1_redundant_holonomic_constraints_are_found_and_named():
    twice = da.classify([x**2 + y**2 - R**2, z, x**4 + 2 * x**2 * y**2 + y**4 - R**4], coordinates=[x, y, z])
    assert (twice.rank, twice.degrees_of_freedom) == (2, 1)
    assert [(r.constraint, r.follows_from) for r in twice.redundant] == [(2, (0,))]
    assert "constraint 3 is redundant: it follows from 1." in str(twice)
    assert not da.classify([x**2 + y**2 - R**2, z], coordinates=[x, y, z]).redundant


def test_T2_the_rank_is_that_on_the_constraint_set():
    """d(x) and d(x + x y) are independent except where x = 0, which is where the constraints are."""
    on_it = da.classify([x, x + x * y], coordinates=[x, y, z])
    assert (on_it.rank, on_it.degrees_of_freedom) == (1, 2)
    assert da.classify([x - 1, x + x * y], coordinates=[x, y, z]).rank == 2


def test_T2_points_where_the_rank_drops_are_reported():
    cone = da.classify([x**2 + y**2 - z**2], coordinates=[x, y, z])
    assert [(list(d.at.values()), d.rank) for d in cone.rank_drops] == [([0, 0, 0], 0)]
    assert "the rank drops to 0 at x = 0, y = 0, z = 0." in str(cone)
    assert not da.classify([x**2 + y**2 + z**2 - R**2], coordinates=[x, y, z]).rank_drops


# T3: charts

SPHERE = {x: R * sin(theta) * cos(phi), y: R * sin(theta) * sin(phi), z: R * cos(theta)}


def test_T3_the_chart_of_the_sphere_is_singular_at_its_poles():
    chart = check_chart(SPHERE, [x**2 + y**2 + z**2 - R**2])
    assert chart.is_valid and chart.rank == chart.dimension == 2
    assert set(chart.singular) == {(theta, ZERO), (theta, sympy.pi)}
    assert same(chart.gram, R**4 * sin(theta) ** 2)
    assert "singular at theta = pi" in str(chart)


def test_T3_control_wrong_charts_are_refused():
    off = check_chart(SPHERE, [x**2 + y**2 + 2 * z**2 - R**2])
    assert not off.is_valid and same(off.residuals[0], R**2 * cos(theta) ** 2)
    too_many = check_chart({x: R * cos(theta + phi), y: R * sin(theta + phi)}, [x**2 + y**2 - R**2])
    assert too_many.satisfies and not too_many.is_valid and too_many.rank == 1
    too_few = check_chart({x: R * cos(theta), y: R * sin(theta), z: ZERO}, [x**2 + y**2 + z**2 - R**2])
    assert too_few.satisfies and not too_few.is_valid


def test_T3_the_circle_has_no_singular_place():
    assert not check_chart({x: R * cos(theta), y: R * sin(theta)}, [x**2 + y**2 - R**2]).singular


# Examples 8 and 9, the gas in a box: the classes (P2)


def test_example_8_a_moving_circle_is_rheonomic_and_real_velocities_are_not_virtual():
    t = da.time
    f = (x - 3 * sin(2 * t) / 10) ** 2 + (y - t**2 / 10) ** 2 - R**2
    moving = da.classify([f], coordinates=[x, y])
    record = moving.constraints[0]
    assert record.kind == "holonomic" and record.is_rheonomic and not record.is_catastatic
    assert moving.is_holonomic and moving.degrees_of_freedom == 1
    w = moving.virtual_displacements
    assert vanishes(w[0] * f.diff(x) + w[1] * f.diff(y))
    assert not vanishes(f.diff(t)), "so a real velocity, with A v = -df/dt, is no virtual one"


@pytest.mark.parametrize(
    ("given", "kind", "rheonomic", "catastatic"),
    [
        (x**2 + y**2 - R**2, "holonomic", False, True),
        (x - v * da.time, "holonomic", True, False),
        (z.dot - y * x.dot, "non-holonomic", False, True),
        (z.dot - da.time * y * x.dot, "non-holonomic", True, True),
        (z.dot - y * x.dot - v, "non-holonomic", True, False),
        (x.dot**2 + y.dot**2 - v**2, "nonlinear", False, None),
    ],
)
def test_example_9_the_classes(given, kind, rheonomic, catastatic):
    record = da.classify([given], coordinates=[x, y, z]).constraints[0]
    assert (record.kind, record.is_rheonomic, record.is_catastatic) == (kind, rheonomic, catastatic)
    assert record.is_scleronomic is not rheonomic


def test_the_gas_in_a_box_is_nonholonomic_by_inequality():
    box = da.classify([x >= 0, x <= l, sympy.And(y >= 0, y <= l)], coordinates=[x, y, z])
    assert kinds(box) == ["inequality"] * 4
    assert box.is_holonomic is False and box.degrees_of_freedom == 3
    assert da.classify([x - l], coordinates=[x, y, z]).is_holonomic is True


# Example 10: the vertical disc

DISC = [x, y, theta, phi]
OMEGA = [[ONE, ZERO, ZERO, -a * sin(theta)], [ZERO, ONE, ZERO, a * cos(theta)]]
POINTS = points_on([], [q.name for q in DISC], ["a"])


def disc():
    return da.classify(
        [x.dot - a * sin(theta) * phi.dot, y.dot + a * cos(theta) * phi.dot],
        coordinates=DISC,
    )


def residuals(row):
    return {k: e for k, e in triple_residuals(row, DISC).items() if not vanishes(e)}


def test_example_10_no_form_has_an_integrating_factor():
    """T5, T7: residuals -a cos(theta) on (x, theta, phi) and -a sin(theta) on (y, theta, phi), no others."""
    first, second = residuals(OMEGA[0]), residuals(OMEGA[1])
    assert list(first) == [(0, 2, 3)] and same(first[0, 2, 3], -a * cos(theta))
    assert list(second) == [(1, 2, 3)] and same(second[1, 2, 3], -a * sin(theta))
    assert not residuals([ONE, ZERO, ZERO, -a]), "control: rolling straight on is integrable"


def test_example_10_frobenius_fails():
    found = frobenius_residuals(OMEGA, DISC)
    assert same(found[0, (0, 1, 2, 3)], -a * cos(theta)) and same(found[1, (0, 1, 2, 3)], -a * sin(theta))
    straight = [[ONE, ZERO, ZERO, -a], [ZERO, ONE, ZERO, ZERO]]
    assert not any(e != 0 for e in frobenius_residuals(straight, DISC).values())


def test_example_10_the_derived_system_is_one_form_that_is_not_integrable():
    coefficients, forms = derived_system(OMEGA, DISC, POINTS, Allowance())
    assert len(forms) == 1
    scale = coefficients[0, 0] / sin(theta)
    eta = [sin(theta), -cos(theta), ZERO, -a]
    assert all(same(f, scale * e) for f, e in zip(forms[0], eta, strict=True))
    left = residuals(eta)
    assert set(left) == {(0, 1, 2), (0, 2, 3), (1, 2, 3)}
    assert same(left[0, 1, 2], -1) and same(left[0, 2, 3], a * cos(theta)) and same(left[1, 2, 3], a * sin(theta))
    assert [len(system) for system in derived_flag(OMEGA, DISC, POINTS, Allowance())] == [2, 1, 0]


def test_example_10_the_brackets_and_their_determinant():
    X1 = [fast(e) for e in (a * sin(theta), -a * cos(theta), ZERO, ONE)]
    X2 = [fast(e) for e in (ZERO, ZERO, ONE, ZERO)]
    X3 = bracket(X1, X2, DISC)
    X4 = bracket(X2, X3, DISC)
    for field, expected in (
        (X3, (-a * cos(theta), -a * sin(theta), 0, 0)),
        (X4, (a * sin(theta), -a * cos(theta), 0, 0)),
    ):
        assert all(same(read(f, a, theta), e) for f, e in zip(field, expected, strict=True))
    matrix = sympy.Matrix([[read(e, a, theta) for e in field] for field in (X1, X2, X3, X4)])
    assert same(matrix.det(), -(a**2))


def test_example_10_the_verdict():
    result = disc()
    assert result.is_holonomic is False and result.reachable is True
    assert result.growth_vector == (2, 3, 4) and result.derived_flag == (2, 1, 0)
    assert (result.rank, result.degrees_of_freedom, result.configuration_dimension) == (2, 2, 4)
    assert result.hidden_count == 0 and kinds(result) == ["non-holonomic", "non-holonomic"]
    assert "the triple identity fails on x, theta, phi: -a*cos(theta)" in result.constraints[0].reason
    for text in ("non-holonomic", "growth vector (2, 3, 4)", "every configuration can be reached", "by value"):
        assert text in str(result)


def test_example_10_control_a_disc_that_cannot_turn_is_holonomic():
    straight = da.classify([x.dot - a * phi.dot, y.dot, theta.dot], coordinates=DISC)
    assert straight.is_holonomic and straight.hidden_count == 3 and len(straight.hidden_functions) == 3
    assert straight.reachable is False and straight.configuration_dimension == 1


def test_P4_the_virtual_displacements_of_the_disc():
    basis = disc().virtual_displacements
    assert basis.shape == (4, 2)
    assert all(vanishes(e) for e in sympy.Matrix(OMEGA) * basis)
    assert basis == sympy.Matrix([[0, a * sin(theta)], [0, -a * cos(theta)], [1, 0], [0, 1]])


def test_T8_parking_a_car():
    """Rear and front wheels do not slip; phi is the steering angle. Two controls reach all four dimensions."""
    rear = x.dot * sin(theta) - y.dot * cos(theta)
    front = x.dot * sin(theta + phi) - y.dot * cos(theta + phi) - l * theta.dot * cos(phi)
    car = da.classify([rear, front], coordinates=[x, y, theta, phi])
    assert car.growth_vector == (2, 3, 4) and car.reachable and car.degrees_of_freedom == 2
    locked = da.classify([rear, front, phi.dot], coordinates=[x, y, theta, phi])
    assert locked.is_holonomic and not locked.reachable and locked.configuration_dimension == 1


def test_T9_and_T16_of_004_reactions_in_the_row_space_do_no_virtual_work():
    c1, c2 = da.parameters("c1 c2")
    reaction = [c1 * p + c2 * q for p, q in zip(*OMEGA, strict=True)]
    basis = disc().virtual_displacements
    assert all(vanishes(e) for e in basis.T * sympy.Matrix(reaction))
    assert any(not vanishes(e) for e in basis.T * sympy.Matrix([0, 0, c1, 0]))


# T4-T6: exactness, integrating factors (P3)


def test_T4_the_differential_of_a_function_is_exact():
    f = x**2 * sin(y) + z * sympy.exp(x)
    assert is_exact([f.diff(q) for q in (x, y, z)], [x, y, z])
    assert not is_exact([y, ZERO, ONE], [x, y, z])


@pytest.mark.parametrize(
    ("given", "g"),
    [
        (y * x.dot - x * y.dot, y / x),
        (x.dot * (x + y) + y.dot, (x + y - 1) * sympy.exp(x)),
        (y * z * x.dot + x * z * y.dot - x * y * z.dot, x * y / z),
        (2 * x * y * x.dot + (x**2 - y**2) * y.dot, x**2 * y - y**3 / 3),
        (y * (x + y) * x.dot - x**2 * y.dot, x / y + sympy.log(x)),
        (sympy.exp(-R * y) * (cos(x) * x.dot + sin(y) * y.dot), sin(x) - cos(y)),
        (y * x.dot + 2 * x * y.dot + 3 * x * y / z * z.dot, x * y**2 * z**3),
    ],
)
def test_P3_a_hidden_function_and_its_integrating_factor_are_found(given, g):
    variables = [q for q in (x, y, z) if q.dot in given.free_symbols]
    result = da.classify([given], coordinates=variables)
    record = result.constraints[0]
    row = [given.diff(q.dot) for q in variables]
    assert record.kind == "integrable" and result.is_holonomic and result.hidden_count == 1
    assert makes_exact(record.factor, record.function, row, variables)  # T6
    assert not makes_exact(record.factor * x, record.function, row, variables)
    slopes = [(record.function.diff(q), g.diff(q)) for q in variables]  # one function of the other
    assert all(same(p * d, q * c) for p, c in slopes for q, d in slopes)


def test_P3_control_the_contact_form_is_not_integrable():
    assert not is_integrable([-y, ZERO, ONE], [x, y, z])
    assert is_integrable([-y, -x, ONE], [x, y, z])


def test_P3_integrable_without_a_factor_is_told_apart_from_not_integrable():
    abel = da.classify([y.dot - (x + y**3) * x.dot], coordinates=[x, y])
    assert abel.is_holonomic is True and abel.hidden_count == 1 and not abel.hidden_functions
    assert "but none was found (tried: no factor, the inverse of a coefficient" in abel.constraints[0].reason
    assert "1 not found in closed form" in str(abel)


# Digest 004


def test_004_example_7_3_the_knife_edge():
    knife = da.classify([-x.dot * sin(theta) + y.dot * cos(theta) - l * theta.dot / 2], coordinates=[x, y, theta])
    assert knife.is_holonomic is False and knife.degrees_of_freedom == 2 and knife.growth_vector == (2, 3)


def test_004_T18_constant_coefficients_are_only_apparently_nonholonomic():
    affine = da.classify([2 * x.dot - R * theta.dot + v], coordinates=[x, theta, y])
    record = affine.constraints[0]
    assert affine.is_holonomic and record.kind == "integrable" and record.is_exact
    assert same(record.function, 2 * x - R * theta + v * da.time)
    assert record.is_rheonomic and not record.is_catastatic
    assert record.reason.startswith("only apparently non-holonomic: its coefficients are constant")
    assert "apparently" not in da.classify([y.dot - x * x.dot], coordinates=[x, y]).constraints[0].reason


def knives():
    along = (x2 - x1, y2 - y1)
    rod = along[0] ** 2 + along[1] ** 2 - l**2
    turning = along[1] * cos(omega * da.time) - along[0] * sin(omega * da.time)
    return rod, along[0] * x1.dot + along[1] * y1.dot, along[0] * x2.dot + along[1] * y2.dot, turning


def test_004_problem_7_2_the_second_knife_is_redundant():
    two = da.classify(knives(), coordinates=[x1, y1, x2, y2])
    assert (two.rank, two.degrees_of_freedom) == (3, 1)
    assert [(r.constraint, r.follows_from) for r in two.redundant] == [(2, (0, 1))]
    rod, first, _, turning = knives()
    one = da.classify([rod, first, turning], coordinates=[x1, y1, x2, y2])
    assert not one.redundant and one.degrees_of_freedom == 1
    across = (y2 - y1) * x2.dot - (x2 - x1) * y2.dot  # a knife the other way is a constraint of its own
    assert not da.classify([rod, first, across], coordinates=[x1, y1, x2, y2]).redundant
