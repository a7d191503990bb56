"""Velocities from momenta are those of the motion, also where the momenta belong to several."""

from __future__ import annotations

import re

import numpy as np
import pytest
import sympy
from sympy import exp

import dalembert as da
from dalembert.engine.machine import PointMap
from dalembert.engine.status import Status
from dalembert.run import node_checks as nodes
from dalembert.theory.motion import state_maps as maps

from ..conformance.methods import METHODS

x, y = da.coordinates("x y")
v = x.dot

FOLDED = da.System("folded", [x], lagrangian=v**4 / 4 - v**2 / 2 - x**2)
ROUND = da.System(
    "round", [x, y], lagrangian=(v**2 + y.dot**2) ** 2 / 4 - (v**2 + 2 * y.dot**2) / 2 - x * y
)  # coupled velocities
UPPER = {x: 0, v: 1.17}
FOLD = 1 / np.sqrt(3)
ENDS = 0.8625  # where the motion from UPPER reaches the fold

TAKEN = [m for m in METHODS if m.takes(FOLDED)]


def ran(method, system=FOLDED, start=UPPER, h=0.01, steps=60, **options):
    return da.simulate(system, method, h=h, steps=steps, start=start, progress=False, **options)


@pytest.mark.parametrize("method", TAKEN, ids=repr)
@pytest.mark.parametrize("every", [1, 7])
def test_velocities_stay_on_the_branch_of_the_motion(method, every):
    exact = ran(da.DormandPrince8(), h=0.005, steps=126, every=2 * every)
    run = ran(method, steps=63, every=every)
    assert run.ok
    np.testing.assert_allclose(run[v], exact[v], rtol=2e-5 if method.order > 1 else 0.03)
    np.testing.assert_allclose(run.energy, run.energy[0], rtol=1e-4 if method.order > 1 else 0.05)


def test_control_a_search_from_zero_finds_another_velocity():
    block = maps.velocity_map(FOLDED, False)
    momentum = 1.17**3 - 1.17
    found, status = PointMap(block)(np.array([[0.0, momentum, 0.0]]), np.zeros((1, 0)))
    assert status[0] or abs(found[0, 0] - 1.17) > 0.1


@pytest.mark.parametrize("method", TAKEN, ids=repr)
@pytest.mark.parametrize(
    ("lagrangian", "speed"), [(v**4 / 4, 1e6), (exp(v), 3.0), (v**2 / 2 + v**4 / 4, 1e6)], ids=["v^4", "exp", "v^2+v^4"]
)
def test_free_motions_have_velocities(method, lagrangian, speed):
    run = ran(method, da.System("free", [x], lagrangian=lagrangian), {x: 0, v: speed}, steps=5)
    assert run.ok
    np.testing.assert_allclose(run[v], speed, rtol=1e-12)
    assert np.isfinite(run.energy).all()


@pytest.mark.parametrize("method", [da.Midpoint(), da.Gauss(2), da.Lobatto(3), da.DiscreteGradient()], ids=repr)
def test_lanes_and_continued_runs_stay_on_it_too(method):
    speeds = np.array([1.17, -1.17, 0.2, -0.3])
    run = ran(method, start={x: 0, v: speeds}, steps=20)
    for lane, speed in enumerate(speeds):
        alone = ran(method, start={x: 0, v: speed}, steps=20)
        np.testing.assert_array_equal(run[v][lane], alone[v])
        begun = ran(method, start={x: 0, v: speed}, steps=10)
        np.testing.assert_array_equal(ran(method, start=begun, steps=10)[v], alone[v][10:])
        np.testing.assert_allclose(alone[v], speed, atol=0.15)


@pytest.mark.parametrize("method", TAKEN, ids=repr)
def test_one_step_of_the_flow_is_that_of_a_run(method):
    run = ran(method, steps=1)
    step = da.flow(FOLDED, method, start=UPPER, h=0.01)
    np.testing.assert_allclose(step[x], run.x[1], rtol=1e-13)
    if method.symmetric:
        back = da.flow(FOLDED, method, start={x: run.x[1], v: run[v][1]}, h=0.01, backward=True)
        np.testing.assert_allclose(back[x], 0, atol=1e-14)


@pytest.mark.parametrize("h", [0.01, 0.1])
@pytest.mark.parametrize(
    "method", [da.Midpoint(), da.Trapezoidal(), da.Gauss(2), da.Lobatto(3), da.DiscreteGradient(), da.RungeKutta4()],
    ids=repr,
)  # fmt: skip
def test_a_motion_ends_at_a_fold(method, h):
    """There dp/dt goes on and no velocity follows: the equations have no solution beyond."""
    run = ran(method, h=h, steps=round(3 / h), strict=False)
    assert run.status in (Status.SINGULAR, Status.NO_SOLUTION, Status.OTHER_BRANCH)
    assert ENDS - 2 * h < run.codes[0, 1] * h < ENDS + h
    known = run[v][np.isfinite(run[v])]
    assert (known > FOLD).all()
    assert np.ptp(run.energy[np.isfinite(run.energy)]) < 0.02


def test_a_degenerate_place_that_is_no_fold_is_passed():
    """p = v^3 is monotonic, though its derivative vanishes at v = 0."""
    run = ran(da.Midpoint(), da.System("flat", [x], lagrangian=v**4 / 4 - x**2 / 2), {x: 0, v: 1}, steps=400)
    assert run.ok
    assert run[v].min() < -0.5
    np.testing.assert_allclose(run.energy, 0.75, rtol=1e-3)


# starts from momenta


def test_momenta_of_several_velocities_are_refused_with_the_candidates():
    with pytest.raises(da.StartError) as told:
        ran(da.Midpoint(), start={x: 0, x.momentum: 0.1})
    assert str(told.value) == (
        "start: these momenta belong to several velocities: {x.dot: -0.1010312579}; {x.dot: -0.9456492739}; "
        "{x.dot: 1.046680532}. Add velocities near those that are meant: start={..., x.dot: 1.046680532}."
    )
    with pytest.raises(da.StartError, match=r"several velocities \(lane 1\)"):
        ran(da.Midpoint(), start={x: 0, x.momentum: np.array([4, 0.1])})


@pytest.mark.parametrize("near", [1.3, 0.8, -0.8, -1.2, 0.0, -0.4])
def test_a_velocity_near_by_chooses(near):
    roots = np.array([-0.9456492739, -0.1010312579, 1.046680532])
    branch = 2 if near > FOLD else 0 if near < -FOLD else 1
    for system in (FOLDED, da.discretise(FOLDED, da.Midpoint())):
        method = () if isinstance(system, da.DiscreteSystem) else (da.Midpoint(),)
        run = da.simulate(system, *method, h=1e-4, steps=2, start={x: 0, x.momentum: 0.1, v: near})
        np.testing.assert_allclose(np.diff(run.x)[0] / 1e-4, roots[branch], rtol=1e-4)


def test_a_discrete_system_refuses_them_too():
    with pytest.raises(da.StartError, match="several velocities"):
        da.simulate(da.discretise(FOLDED, da.Midpoint()), h=0.01, steps=2, start={x: 0, x.momentum: 0.1})


def test_momenta_of_one_velocity_are_taken():
    assert ran(da.Midpoint(), start={x: 0, x.momentum: 4}, steps=1)[v][0] == pytest.approx(1.7963219)
    light = 3e8
    moving = da.System("relativistic", [x], lagrangian=-(light**2) * sympy.sqrt(1 - v**2 / light**2))
    assert ran(da.Midpoint(), moving, {x: 0, x.momentum: 1e9}, steps=1)[v][0] == pytest.approx(2.873478856e8)
    with pytest.raises(da.StartError, match="determine no velocities"):
        ran(da.Midpoint(), da.System("exp", [x], lagrangian=exp(v)), {x: 0, x.momentum: -1})


def test_coupled_velocities_are_found_together():
    with pytest.raises(da.StartError) as told:
        ran(da.Midpoint(), ROUND, {x: 0, y: 0, x.momentum: 0.1, y.momentum: 0.2})
    for known in (0.08794614817, 1.459220661, 1.023978309, -0.2216455298, -0.102107023, -0.1010425283):
        assert f"{known:.10g}" in str(told.value)
    near = {x: 0, y: 0, x.momentum: 0.1, y.momentum: 0.2, v: 0.1, y.dot: 1.4}
    assert ran(da.Midpoint(), ROUND, near, steps=1)[y.dot][0] == pytest.approx(1.459220661)


@pytest.mark.parametrize("unit", [1e-12, 1e-5, 1e7, 1e12])
def test_candidates_do_not_depend_on_units(unit):
    a, b = da.parameters("a b", positive=True)
    scaled = da.System("scaled", [x], lagrangian=a * v**4 / 4 - b * v**2 / 2 - b * x**2)
    given = {"parameters": {a: 1 / unit**2, b: 1}}
    with pytest.raises(da.StartError) as told:
        ran(da.Midpoint(), scaled, {x: 0, x.momentum: 0.1 * unit}, **given)
    known = [float(number) / unit for number in re.findall(r"x\.dot: ([-+.e\d]+\d)", str(told.value))]
    np.testing.assert_allclose(known[:3], [-0.1010312579, -0.9456492739, 1.046680532], rtol=1e-8)
    run = ran(da.Midpoint(), scaled, {x: 0, x.momentum: 0.1 * unit, v: unit}, steps=20, **given)
    np.testing.assert_allclose(run[v][0], 1.046680532 * unit)


# apart from the integrators


def test_hamiltons_equations_stay_on_the_branch():
    exact = ran(da.DormandPrince8())
    run = da.hamilton(FOLDED).simulate(h=0.01, steps=60, start=UPPER)
    np.testing.assert_allclose(run[v], exact[v], rtol=1e-8)
    np.testing.assert_allclose(run[x.momentum], exact[x.momentum], rtol=1e-8, atol=1e-9)
    ended = da.hamilton(FOLDED).simulate(h=0.01, steps=200, start=UPPER, strict=False)
    assert not ended.ok
    assert abs(ended.codes[0, 1] * 0.01 - ENDS) < 0.02


def test_a_closed_hamiltonian_of_another_branch_is_not_used():
    """p = v^2 has the solutions +-sqrt(p), and H in closed form is of one of them."""
    power = da.System("power", [x], lagrangian=v**3 / 3 - x)
    exact = ran(da.DormandPrince8(), power, {x: 0, v: -1.5}, steps=20)
    run = da.hamilton(power).simulate(h=0.01, steps=20, start={x: 0, v: -1.5})
    np.testing.assert_allclose(run[v], exact[v], rtol=1e-8)


@pytest.mark.parametrize("method", [da.Midpoint(), da.Lobatto(3), da.DiscreteGradient()], ids=repr)
def test_events_find_velocities_on_the_branch(method):
    slow = da.System("slow", [x], lagrangian=v**4 / 4 - v**2 / 2 - x**2 / 4)
    turned = da.Event(x - 0.3, {v: -v})
    run = ran(method, slow, {x: -0.5, v: 1.2}, h=0.02, steps=60, events=[turned])
    assert run.ok
    assert run.events[0].velocities["x"] == pytest.approx(1.2098924, rel=1e-5)
    assert run[v][-1] == pytest.approx(-1.2077, rel=1e-3)


# records that are several steps apart


FOLDING = [
    (v**4 / 4 - v**2 / 2 - x**2, 1.17),
    (0.28 * v**4 - 0.955 * v**2 - 0.23 * x**2 + 1.91 * x, 1.31),
    (0.21 * v**3 - 0.45 * x**2, 0.77),
    (sympy.cosh(1.94 * v) - 1.84 * v**2 - 0.365 * x**2, -1.25),
]


@pytest.mark.parametrize("every", [7, 30])
@pytest.mark.parametrize("h", [0.03, 0.1])
@pytest.mark.parametrize("method", [da.DormandPrince8(), da.RungeKutta4(), da.Midpoint(), da.Lobatto(3)], ids=repr)
@pytest.mark.parametrize(("lagrangian", "speed"), FOLDING, ids=str)
def test_folds_between_records_are_seen(lagrangian, speed, method, h, every, monkeypatch):
    """A run that keeps every so many nodes is the one that keeps all of them, with its status and its last step."""
    system = da.System("folding", [x], lagrangian=lagrangian)
    given = {"start": {x: -0.2, v: speed}, "h": h, "steps": 210, "strict": False}
    monkeypatch.setattr(nodes, "PART", 64)
    whole, thin = ran(method, system, **given), ran(method, system, every=every, **given)
    assert thin.status is whole.status
    assert thin.codes[0, 1] == whole.codes[0, 1]
    np.testing.assert_array_equal(thin.x, whole.x[::every])
    np.testing.assert_allclose(thin[v], whole[v][::every], rtol=1e-12)
    known = np.isfinite(thin.energy)
    assert np.ptp(thin.energy[known]) < 0.3 * max(1.0, abs(thin.energy[0]))


def test_lanes_of_which_some_end_keep_their_records(monkeypatch):
    monkeypatch.setattr(nodes, "PART", 96)
    given = {"start": {x: 0, v: np.array([1.17, 0.1, -1.17])}, "h": 0.01, "steps": 120, "strict": False}
    whole, thin = ran(da.Midpoint(), **given), ran(da.Midpoint(), every=15, **given)
    assert thin.status == whole.status
    assert [s is Status.CONVERGED for s in thin.status] == [False, True, False]
    np.testing.assert_array_equal(thin.codes[:, :2], whole.codes[:, :2])
    np.testing.assert_array_equal(thin.x, whole.x[:, ::15])
    np.testing.assert_array_equal(ran(da.Midpoint(), every=15, start={x: 0, v: 0.1}, steps=120).x, thin.x[1])
    ended = ran(da.Midpoint(), start=ran(da.Midpoint(), every=15, start={x: 0, v: 0.1}, steps=100), steps=20)
    np.testing.assert_array_equal(ended.x[-1], thin.x[1, -1])


def within_folds(run, q=x):
    """The velocities of all recorded nodes relative to the fold of each lane."""
    speeds = np.atleast_2d(run[q.dot])
    return [s[np.isfinite(s)] / FOLD for s in speeds]


@pytest.mark.parametrize("method", [*TAKEN, da.Reference()], ids=repr)
def test_a_motion_between_the_folds_ends_there(method):
    """A step that crosses a fold has velocities of another branch; the one before its first node is known."""
    places = np.array([3.0, -3.0, -1.0, 0.05])
    for h in (0.5, 0.05):
        run = ran(method, start={x: places, v: np.array([0.5, -0.5, 0.2, 0.0])}, h=h, steps=round(3 / h), strict=False)
        assert not run.ok and Status.CONVERGED not in run.status
        assert all((np.abs(some) < 1).all() and len(some) > 0 for some in within_folds(run))
        np.testing.assert_allclose(run[v][:, 0], [0.5, -0.5, 0.2, 0.0], atol=1e-12)


@pytest.mark.parametrize("method", [*TAKEN, da.Reference()], ids=repr)
def test_two_folds_that_are_reached_together_are_seen(method):
    """The determinant of the matrix of p = dL/dv then keeps its sign."""
    if not isinstance(method, da.Reference) and method.order > 6:
        pytest.skip("long to compile")
    both = da.System("both", [x, y], lagrangian=sum(q.dot**4 / 4 - q.dot**2 / 2 - q**2 for q in (x, y)))
    speeds = np.array([0.5, 0.0, 0.7])
    start = {x: np.array([3.0, 0.3, 0.3]), v: speeds}
    run = ran(method, both, {**start, y: start[x], y.dot: start[v]}, h=0.2, steps=15, strict=False)
    for some, speed in zip(within_folds(run), speeds, strict=True):
        assert ((np.abs(some) < 1) == (speed < FOLD)).all() and len(some) > 0
    assert Status.CONVERGED not in run.status


def test_a_fold_crossed_after_a_continuation_ends_the_run_as_without():
    start = {x: 0.3, v: 0.0}
    whole = ran(da.LeftPoint(), start=start, h=0.2, steps=15, strict=False)
    last = int(whole.codes[0, 1])
    assert 0 < last < 15
    for begun in range(1, last + 1):
        run = ran(
            da.LeftPoint(), start=ran(da.LeftPoint(), start=start, h=0.2, steps=begun), h=0.2, steps=15, strict=False
        )
        assert run.status is whole.status and run.codes[0, 1] == last
        np.testing.assert_array_equal(run[v][: last - begun + 1], whole[v][begun : last + 1])
