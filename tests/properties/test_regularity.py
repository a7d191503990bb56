"""Singular steps are seen in one degree of freedom, where coordinates are uncoupled, and in any units; regular ones pass."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as da
from dalembert import cos, exp, log, sin, sqrt, tan
from dalembert.analysis.steps.regularity import regularity
from dalembert.analysis.steps.step_matrices import Sizes, conditions
from dalembert.symbolic import fast, number

x, y = da.coordinates("x y")
m, k, c = da.parameters("m k c", positive=True)
h = da.step
x0, x1, y0, y1 = (s.at(i) for s in (x, y) for i in (0, 1))

WAVE = -m * h * cos((x1 - x0) / h)  # D2 D1 L_d = -m cos(v)/h
SPRING = m * (x1 - x0) ** 2 / (2 * h) + h * k * x0 * x1  # -m/h + h k
FREE = m * (y1 - y0) ** 2 / (2 * h)


def at(v, step=0.1):
    """A step from 0 with velocity v."""
    return {x0: 0.0, x1: step * v}


@pytest.mark.parametrize("other", [0, FREE], ids=["alone", "beside an uncoupled coordinate"])
@pytest.mark.parametrize(
    ("lagrangian", "v", "spring"),
    [(WAVE, np.pi / 2, 1), (WAVE, 7 * np.pi / 2, 1), (SPRING, 1.0, 100), (SPRING, 0.0, 100)],
    ids=["a factor vanishes", "after some turns", "terms cancel", "terms cancel at rest"],
)
def test_one_degree_of_freedom(lagrangian, v, spring, other):
    system = da.DiscreteSystem("one", [x, y] if other else [x], lagrangian=lagrangian + other)
    values = {p: {m: 1, k: spring}[p] for p in system.parameters}
    beside = {y0: 0.2, y1: 0.5} if other else {}
    lost = regularity(system, at=at(v) | beside, h=0.1, parameters=values)
    assert not lost.ok
    assert "D2 D1 L_d is singular" in lost.irregular[0].reason
    assert max(lost.pairing[0], lost.lagrangian[0], 1 / lost.condition[0], lost.irregular[0].margin) < 1e-14
    assert lost.irreversible
    away = regularity(system, at=at(v + 0.01) | beside, h=0.1, parameters=values | ({k: 101} if k in values else {}))
    assert away.ok  # the control
    assert away.pairing[0] == pytest.approx(1 / away.condition[0], rel=1e-6)


M1, M2, A, T = da.parameters("M1 M2 A T", positive=True)
COUPLED = da.DiscreteSystem(
    "coupled",
    [x, y],
    lagrangian=-M1 * A**2 * h / T**2 * cos(T * (x1 - x0) / (A * h)) + M2 * (y1 - y0) ** 2 / (2 * h) + c * h * x0 * y1,
)


@pytest.mark.parametrize("unit", [1e-6, 1e6])
@pytest.mark.parametrize(
    ("length", "mass", "time"), [(1, 0, 0), (0, 1, 0), (0, 0, 1)], ids=["a coordinate", "mass", "the step"]
)
def test_units_do_not_matter(unit, length, mass, time):
    """The same step with x, mass or time in other units: the same margins, away from a singular step and at it."""

    def report(angle, u):
        X, M, t = u**length, u**mass, u**time  # how much larger lengths along x, masses and times become
        given = {M1: 1.3 * M / X**2, M2: 0.7 * M, A: 2 * X, T: 0.5 * t, c: 40 * M / (X * t**2)}
        ends = {x0: 0.2 * X, x1: (0.2 + 0.1 * angle * 2 / 0.5) * X, y0: 0.4, y1: 0.5}
        return regularity(COUPLED, at=ends, h=0.1 * t, parameters=given)

    for angle, ok in ((0.3, True), (np.pi / 2 + 1e-3, True), (np.pi / 2, False)):
        one, other = report(angle, 1), report(angle, unit)
        assert one.ok == other.ok == ok
        for name in ("condition", "lagrangian", "pairing", "backward_condition"):
            a, b = getattr(one, name)[0], getattr(other, name)[0]
            assert b == pytest.approx(a, rel=1e-6) if ok else min(a, 1 / a, b, 1 / b) < 1e-12
    assert abs(np.log10(report(0.3, 1).determinant[0] / report(0.3, unit).determinant[0])) > 5  # the control


def test_a_step_that_is_small_is_not_singular():
    """Differences of positions are h v: far from the origin, with small steps and velocities, nothing is flagged."""
    quartic = da.DiscreteSystem("quartic", [x], lagrangian=m * (x1 - x0) ** 4 / h**3)
    found = regularity(quartic, at={x0: 1e3, x1: 1e3 + 1e-3}, h=1e-3, parameters={m: 1})
    assert found.ok
    assert found.pairing[0] == pytest.approx(1)
    at_rest = regularity(quartic, at={x0: 1e3, x1: 1e3}, h=1e-3, parameters={m: 1})
    assert not at_rest.ok
    assert at_rest.pairing[0] == 0


@pytest.mark.filterwarnings("ignore:.*the mass matrix is singular")  # r goes through zero
def test_a_coordinate_that_runs_through_orders_of_magnitude():
    """Polar coordinates near the pole: the inertia r^2 is small, and the step determined."""
    r, phi = da.coordinates("r phi")
    polar = da.System("polar", [r, phi], kinetic=(r.dot**2 + r**2 * phi.dot**2) / 2)
    run = da.simulate(polar, da.Midpoint(), h=1e-4, steps=60, start={r: 5e-3, phi: 0, r.dot: -1, phi.dot: 1e-3})
    assert run.r[0] / run.r[45] > 8
    assert (regularity(run).pairing > 0.1).all()


def test_the_size_of_an_expression():
    """What cancels and what vanishes by chance is small against it; what is small in itself is not."""
    at = {"x": 0.7, "m": 1e-9}
    size = Sizes(abs, frozenset(), frozenset())

    def ratio(e, **values):
        given = at | values
        return abs(number(fast(e), given)) / number(size(fast(e)), given)

    for e, zero in (
        (cos(x), np.pi / 2),
        (sin(x), np.pi),
        (tan(x), np.pi),
        (log(x), 1.0),
        (sqrt(1 - x**2), 1.0),
        (x - 1, 1.0),
    ):
        assert ratio(m * e, x=zero) < 1e-15
        assert ratio(m * e, x=zero * 0.9) > 1e-2  # the control
    for e in (m, m * x**4, m / x, exp(-x), m / (1 - x), sin(1e-6 * x)):
        assert ratio(e, x=0.999) > 0.2


def test_a_distance_of_places_is_no_cancellation():
    """However it is written: differences, multiples of differences, less a constant, with velocities beside them."""
    u, v = (fast(s) for s in (y, y.dot))
    size = Sizes(abs, frozenset({fast(x), u}), frozenset({v}))
    given = {"x": 1000.7, "y": 1000.0, "y.dot": 0.0, "m": 1.0}
    for e in (x - y, 3 * (x - y) / m, x - (y + y.dot / 2), (x - y - 1) ** 3, x - 1000):
        assert number(size(fast(e)), given) == pytest.approx(abs(number(fast(e), given)))
    assert number(size(fast(x * y - y * x.dot)), {**given, "x.dot": 1000.7}) > 1e6  # control: of products it is


TWO = da.System(
    "two bodies",
    [x, y],
    kinetic=(x.dot**2 + y.dot**2) / 2,
    potential=(x - y - 1) ** 4 / 4 + (x - y - 1) ** 2 / 2 + sqrt(1 + (x - y) ** 2),
)


@pytest.mark.parametrize("method", [da.Midpoint(), da.Trapezoidal(), da.Gauss(2), da.DiscreteGradient(2)], ids=repr)
def test_where_the_origin_lies_does_not_matter(method):
    found = []
    for origin in (0.0, 1e4):
        start = {x: origin + 1.2, y: origin, x.dot: 0.0, y.dot: 0.6}
        found.append(regularity(da.simulate(TWO, method, h=0.1, steps=50, start=start)))
        assert found[-1].ok
    np.testing.assert_allclose(found[1].condition, found[0].condition, rtol=1e-6)


ROD = da.System("rod", [x, y], kinetic=(x.dot**2 + y.dot**2) / 2, potential=y, constraints=[x**2 + y**2 - 1])


@pytest.mark.parametrize("method", [da.Midpoint(), da.DiscreteGradient(2), da.Rattle(), da.Lobatto(3)], ids=repr)
def test_short_steps_are_not_singular(method):
    """Multipliers and constraints come with powers of h: these belong to the unknowns, not to the condition."""
    start = {x: 0.6, y: 0.8, x.dot: 0.4, y.dot: -0.3}
    worst = [
        regularity(da.simulate(ROD, method, h=step, steps=20, start=start)).condition.max()
        for step in (1e-1, 1e-3, 1e-5, 1e-7)
    ]
    assert max(worst) < 20


def test_condition_in_normal_form():
    """Of one irreducible matrix in any units and any order; a block beside it does not matter, nor what lies between."""
    rng = np.random.default_rng(0)
    one = rng.normal(size=(3, 3)) + 2 * np.eye(3)
    whole = np.zeros((4, 4))
    whole[:3, :3], whole[:3, 3], whole[3, 3] = one, 1e9, 1e-9
    plain = conditions(one[None], np.abs(one)[None])[0]
    for matrix in (one[::-1], 10.0 ** rng.integers(-9, 9, 3)[:, None] * one * 10.0 ** rng.integers(-9, 9, 3), whole):
        assert conditions(matrix[None], np.abs(matrix)[None])[0] == pytest.approx(plain, rel=1e-3)
    one[2] = one[0] + one[1]
    assert conditions(one[None], np.abs(one)[None])[0] > 1e14


def kick():
    """Momentum grows by 0.05 in a step, and m sin(v) has no value above 1."""
    return da.DiscreteSystem("kick", [x], lagrangian=WAVE, force_plus={x: h / 2})


def test_a_run_that_ends_at_a_fold():
    run = da.simulate(kick(), h=0.1, steps=40, parameters={m: 1}, start={x: 0, x.momentum: 0.51}, strict=False)
    found = regularity(run)
    (ended,) = found.irregular
    assert ended.step == 11
    assert "no solution" in ended.reason
    assert "D2 D1 L_d is singular" in ended.reason
    assert "regular there" not in ended.reason
    assert ended.margin < 1e-6
    shorter = da.simulate(kick(), h=0.1, steps=10, parameters={m: 1}, start={x: 0, x.momentum: 0.51})
    assert regularity(shorter).ok


def test_only_steps_that_were_taken_count():
    degenerate = da.DiscreteSystem("degenerate", [x, y], lagrangian=(x1 - x0) ** 2 / h)
    start = {x: 0, y: 0, x.momentum: 1, y.momentum: 0}
    run = da.simulate(degenerate, h=0.1, steps=20000, start=start, strict=False)
    found = regularity(run)
    assert "regularity of 0 steps" in found.title
    assert [i.step for i in found.irregular] == [1]
    assert found.irregular[0].margin == 0
    assert np.isnan(found.matrix).all()
    assert len(str(found).splitlines()) < 12
    lanes = da.simulate(
        kick(), h=0.1, steps=40, parameters={m: 1}, start={x: 0, x.momentum: np.array([0.51, -3.0, 0.21])}, strict=False
    )
    found = regularity(lanes)
    taken = np.isfinite(found.condition).sum(axis=1)
    assert taken.tolist() == lanes.codes[:, 1].tolist() == [10, 0, 16]
    assert "regularity of 26 steps in 3 lanes" in found.title
    assert [i.lane for i in found.irregular] == [0, 1, 2]


def test_a_long_list_is_cut():
    """Every step of this run is near enough to a singular one for a tolerance of 0.9."""
    run = da.simulate(kick(), h=0.1, steps=10, parameters={m: 1}, start={x: 0, x.momentum: 0.51})
    found = regularity(run, tolerance=0.9)
    assert len(found.irregular) == 10
    assert "\nand 5 more" in str(found)
    assert str(found).count("IRREGULAR") == 5
    assert "more" not in str(regularity(run))


@pytest.mark.parametrize(
    ("coordinates", "count"), [([x, y], 2), ([x], 2), ([x], 3)], ids=["redundant", "too many", "far too many"]
)
def test_dependent_constraints_have_no_margin(coordinates, count):
    lagrangian = sum((q.at(1) - q.at(0)) ** 2 for q in coordinates) / h
    forms, chi = [a * x.dot for a in range(1, count + 1)], [a * (x1 - x0) for a in range(1, count + 1)]
    ends = {q.at(i): 0.5 for q in coordinates for i in (0, 1)}
    system = da.DiscreteSystem("bound", coordinates, lagrangian=lagrangian, variations=forms, constraints=chi)
    (lost,) = regularity(system, at=ends, h=0.1).irregular
    assert lost.margin == 0
    assert "linearly dependent" in lost.reason
    once = da.DiscreteSystem("bound", coordinates, lagrangian=lagrangian, variations=forms[:1], constraints=chi[:1])
    assert regularity(once, at=ends, h=0.1).ok


def test_forms_that_vanish_by_rounding():
    """cos(pi/2) is not zero in floating-point numbers; the one-form cos(x) dy is lost there nevertheless."""
    lagrangian = ((x1 - x0) ** 2 + (y1 - y0) ** 2) / h
    system = da.DiscreteSystem(
        "form", [x, y], lagrangian=lagrangian, variations=[cos(x) * y.dot], constraints=[y1 - y0]
    )
    for place, ok in ((np.pi / 2, False), (1.5, True)):
        found = regularity(system, at={x0: place, x1: place, y0: 0, y1: 0}, h=0.1)
        assert found.ok == ok
    assert (
        "linearly dependent" in regularity(system, at={x0: np.pi / 2, x1: 1, y0: 0, y1: 0}, h=0.1).irregular[0].reason
    )


def test_the_matrix_itself_can_be_read():
    system = da.DiscreteSystem(
        "read", [x, y], lagrangian=WAVE + FREE, variations=[y.dot - x * x.dot], constraints=[y1 - y0 - x1 + x0]
    )
    one = regularity(system, at={x0: 0.3, x1: 0.4, y0: 0, y1: 0.1}, h=0.1, parameters={m: 2})
    stated = [[-20 * np.cos(1), 0, -0.03], [0, -20, 0.1], [-1, 1, 0]]
    assert one.matrix.shape == (1, 3, 3)
    assert one.matrix[0] == pytest.approx(np.array(stated), abs=1e-12)
    assert one.determinant[0] == pytest.approx(np.linalg.det(one.matrix[0]))
    start = {x.at(0): 0.3, x.at(1): 0.31, y.at(0): 0, y.at(1): 0.01}
    run = da.simulate(system, h=0.1, steps=5, start=start, parameters={m: np.array([1.0, 2.0])})
    found = regularity(run)
    assert found.matrix.shape == (2, 5, 3, 3)
    assert np.linalg.det(found.matrix) == pytest.approx(found.determinant)
    assert found.matrix[1, 0, 0, 0] == pytest.approx(-20 * np.cos((run.x[1, 1] - run.x[1, 0]) / 0.1))


def test_a_pair_that_no_motion_takes():
    system = da.DiscreteSystem("bound", [x, y], lagrangian=WAVE + FREE, variations=[y.dot], constraints=[y1 - y0 - x0])
    off, on = (
        regularity(system, at={x0: 0.3, x1: 0.4, y0: 0, y1: end}, h=0.1, parameters={m: 1}) for end in (0.4, 0.3)
    )
    assert len(off.violated) == 1
    assert "NOT A STEP OF A MOTION: -x.at(0) - y.at(0) + y.at(1) is 0.1, not 0" in str(off)
    assert on.violated == ()
    assert "NOT A STEP" not in str(on)


@pytest.mark.parametrize("method", [da.DiscreteGradient(), da.Gauss(1)], ids=repr)
def test_other_methods_that_end_say_so(method):
    """The motion runs away to infinity, and at last no step leads on."""
    slide = da.System("slide", [x], kinetic=x.dot**2 / 2, potential=-(x**3))
    run = da.simulate(slide, method, h=0.3, steps=60, start={x: 1, x.dot: 0}, strict=False)
    assert run.status is da.Status.NO_SOLUTION
    assert run.codes[0, 1] > 1
    found = regularity(run)
    assert not found.ok
    assert found.matrix is None
    assert "ended with NO_SOLUTION" in found.irregular[-1].reason
    assert int(np.isfinite(found.condition).sum()) == run.codes[0, 1]


@pytest.mark.parametrize(
    "method",
    [da.GeometricNonholonomic(), da.McLachlanPerlmutter(), da.Composition(da.GeometricNonholonomic(), 4)],
    ids=repr,
)
def test_constraints_that_are_nonlinear_in_the_velocities(method):
    """The step is solved again from the velocities of the node: at rest the row of v^2 = 1 is zero."""
    x, y = da.coordinates("x y")
    s = da.System(
        "constant speed", [x, y], kinetic=x.dot**2 + 3 * y.dot**2 / 2, potential=x**2 + 5 * (x - y) ** 2 / 2,
        constraints=[x.dot**2 + y.dot**2 - 1],
    )  # fmt: skip
    run = da.simulate(s, method, h=0.01, steps=5, start={x: 0.3, y: 0.2, x.dot: 0.8, y.dot: 0.6})
    found = da.regularity(run)
    assert found.ok and (found.condition < 10).all()
    beside = [
        da.simulate(s, method, h=h, steps=2, start={x: 0.3, y: 0.2, x.dot: 0.8, y.dot: 0.6}) for h in (0.01, 1e-4)
    ]
    assert [da.regularity(r).condition[0] for r in beside] == pytest.approx([found.condition[0]] * 2, rel=0.1)
