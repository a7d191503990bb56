"""Step maps made from step maps: a step with its tangent, a step undone, steps in turn."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sympy import Rational, Symbol, log

import dalembert as da
from dalembert.discrete.state_layout import state_layout
from dalembert.engine.arguments import Lanes
from dalembert.engine.identity import identity
from dalembert.engine.machine import Stepper
from dalembert.engine.run_options import Extent
from dalembert.engine.status import Status
from dalembert.engine.tangent import tangents
from dalembert.run.plan import seed
from dalembert.symbolic import fast, free_names
from dalembert.waist.block_parts import searched_last
from dalembert.waist.derived_steps import backward, composed, tangent_names, variational
from dalembert.waist.matrix_block import MatrixBlock
from dalembert.waist.stepmap import Block, StepMap, guarded

from ..conformance import systems

H = 0.05


def values(case):
    return np.array([[case.parameters[p] for p in case.system.parameters]])


def second_state(case, method):
    """A state on the constraints, after one step."""
    run = da.simulate(case.system, method, h=H, steps=1, start=case.start, parameters=case.parameters)
    step = method.step_map(case.system)
    return step, run.records[:, 1, : len(step.state)]


def advanced(step, state, parameters, steps, seed=None):
    """Records and status of the time loop of a step."""
    stepper = Stepper(step)
    records = np.full((len(state), steps + 1, stepper.width), np.nan)
    lanes = Lanes.begun(stepper.carry(state, seed), np.repeat(parameters, len(state), axis=0))
    stepper.advance(lanes, records, Extent(0.0, H, 0, steps), closing=True)
    return records, lanes.status


def with_identity(state):
    n = state.shape[1]
    return np.column_stack([state, np.tile(np.eye(n).ravel(), (len(state), 1))])


SHORT = [
    da.Midpoint(), da.Trapezoidal(), da.Gauss(2), da.RungeKutta4(), da.Composition(da.Midpoint(), 4),
    da.DiscreteGradient(),
]  # fmt: skip


@pytest.mark.parametrize("method", SHORT, ids=repr)
def test_the_motion_is_the_same_bit_for_bit(method):
    """State, outputs and effort of the search, with what rounding takes from sums added to the next."""
    case = systems.heated() if method.thermal else systems.forced()
    step = method.step_map(case.system)
    start = da.simulate(case.system, method, h=H, steps=0, start=case.start, parameters=case.parameters)
    state, n = start.carry[:, : len(step.state)], len(step.state)
    plain, effort = advanced(step, state, values(case), 300)
    both, effort_of_both = advanced(variational(step), with_identity(state), values(case), 300)
    assert variational(step).summed == step.summed
    np.testing.assert_array_equal(both[..., :n], plain[..., :n])
    np.testing.assert_array_equal(both[..., n + n * n :], plain[..., n:])
    np.testing.assert_array_equal(effort_of_both, effort)


def test_a_single_direction_is_a_combination_of_columns():
    case, method = systems.forced(), da.Composition(da.Midpoint(), 4)
    step, state = second_state(case, method)
    direction = np.array([0.3, -0.7, 0.2, 0.5])
    whole, _ = advanced(variational(step), with_identity(state), values(case), 50)
    one, _ = advanced(variational(step, 1), np.column_stack([state, direction[None, :]]), values(case), 50)
    matrices = whole[0, :, 4:20].reshape(-1, 4, 4)
    np.testing.assert_allclose(one[0, :, 4:8], matrices @ direction, rtol=1e-12, atol=1e-13)
    np.testing.assert_array_equal(one[..., :4], whole[..., :4])
    assert tangent_names(["x"], 2) == ("x.tangent.0", "x.tangent.1")
    with pytest.raises(ValueError, match=r"a tangent of 0 columns. Expected one direction or more"):
        variational(step, 0)


def test_the_tangent_of_a_tangent_is_the_second_derivative():
    case, method = systems.forced(), da.Midpoint()
    step, state = second_state(case, method)
    direction, eps = np.array([0.3, -0.7, 0.2, 0.5]), 1e-5
    once = variational(step, 1)
    extended = np.column_stack([state, direction[None, :]])
    _, slopes, _ = tangents(once, extended, values(case), H, H)
    moved = [tangents(once, extended + s * eps * np.eye(8)[:4], values(case), H, H)[0] for s in (1, -1)]
    np.testing.assert_allclose(slopes[0][4:, :4].T, ((moved[0] - moved[1]) / (2 * eps))[:, 4:], atol=1e-9)
    assert np.abs(slopes[0][4:, :4]).max() > 1e-3


@pytest.mark.parametrize("method", [da.Midpoint(), da.RungeKutta4(), da.Composition(da.Trapezoidal(), 4)], ids=repr)
def test_lanes_are_single_runs_bit_for_bit(method):
    """Each lane with a state, parameters and a time of its own."""
    case = systems.forced()
    step, random = method.step_map(case.system), np.random.default_rng(5)
    states, rows, times = random.uniform(-0.5, 0.5, (6, 4)), random.uniform(0.3, 0.8, (6, 2)), random.uniform(0, 3, 6)
    together = tangents(step, states, rows, H, times, steps=7)
    for k in range(6):
        alone = tangents(step, states[k : k + 1], rows[k : k + 1], H, times[k], steps=7)
        for a, b in zip(alone, together, strict=True):
            np.testing.assert_array_equal(a[0], b[k])
    late = tangents(step, states, rows, H, times + 1, steps=7)
    assert np.abs(late[1] - together[1]).max() > 1e-6, "the control: time matters"


def test_a_lane_without_a_step_does_not_disturb_the_others():
    """x' = x + h sqrt(x): no step from x < 0; the tangent is 1 + h/(2 sqrt(x))."""
    x = fast("x")
    step = StepMap(
        "root",
        ("x",),
        (),
        (Block(("v",), (fast("v") - x ** fast(Rational(1, 2)),)),),
        (x + fast("step.h") * fast("v"),),
    )
    after, slopes, status = tangents(step, np.array([[4.0], [-1.0], [9.0]]), np.zeros((1, 0)), H)
    assert status[1] != 0 and np.isnan(after[1]).all() and np.isnan(slopes[1]).all()
    assert slopes[[0, 2], 0, 0] == pytest.approx([1 + H / 4, 1 + H / 6], rel=1e-15)


def test_an_unknown_without_a_derivative_is_told():
    """v^3 = x has the solution 0 at x = 0, where dv/dx is infinite."""
    v, x = fast("v"), fast("x")
    step = StepMap("cube", ("x",), (), (Block(("v",), (v**3 - x,), (fast(0),)),), (x + fast("step.h") * v,))
    _, _, status = tangents(step, np.array([[0.0]]), np.zeros((1, 0)), H)
    assert Status(int(status[0])) == Status.SINGULAR


# the step that undoes a step


@pytest.mark.parametrize("kind", [systems.forced, systems.heated], ids=["forced", "heated"])
@pytest.mark.parametrize(
    "method", [da.LeftPoint(), da.Midpoint(), da.RungeKutta4(), da.Composition(da.Midpoint(), 4)], ids=repr
)
def test_a_step_backward_undoes_a_step(method, kind):
    case = kind()
    step, state = second_state(case, method)
    after, there, _ = tangents(step, state, values(case), H, H)
    before, back, status = tangents(backward(step), after, values(case), -H, 2 * H)
    assert status[0] == 0
    np.testing.assert_allclose(before, state, rtol=1e-14, atol=1e-15)
    np.testing.assert_allclose(back[0] @ there[0], np.eye(len(step.state)), atol=1e-14)
    late, _, _ = tangents(backward(step), after, values(case), -H, H)
    assert np.abs(late - state).max() > 1e-6, "the control: another time does not lead back"


def test_backward_searches_for_as_little_as_forward():
    """What a step adds to the state is taken away again; explicit Euler backward is implicit Euler."""
    assert len(backward(da.Midpoint().step_map(systems.forced().system)).sought) == 2
    x, h = fast("x"), fast("step.h")
    euler = StepMap("euler", ("x",), (), (), (x - h * x**3,))
    implicit = backward(euler)
    after, _, _ = tangents(implicit, np.array([[0.7]]), np.zeros((1, 0)), H)
    assert after[0, 0] == pytest.approx(0.7 - H * after[0, 0] ** 3, rel=1e-15)


def test_a_whole_run_is_undone_in_the_time_loop():
    """1000 steps forward and 1000 backward, with friction and a driving force; the adjoint of backward is forward."""
    case, method = systems.forced(), da.LeftPoint()
    step = method.step_map(case.system)
    start = da.simulate(case.system, method, h=0.005, steps=0, start=case.start, parameters=case.parameters).carry[
        :, :4
    ]
    there, _, _ = tangents(step, start, values(case), 0.005, 0.0, steps=1000)
    back, _, _ = tangents(backward(step), there, values(case), -0.005, 5.0, steps=1000)
    np.testing.assert_allclose(back, start, atol=1e-11)
    assert np.abs(there - start).max() > 0.1
    again, _, _ = tangents(backward(backward(step)), start, values(case), 0.005, 0.0, steps=10)
    np.testing.assert_allclose(again, tangents(step, start, values(case), 0.005, 0.0, steps=10)[0], rtol=1e-13)


def test_what_cannot_be_undone_is_refused():
    """x' = y, y' = y forgets x; so does a momentum under a holonomic constraint."""
    forgets = StepMap("forgets", ("x", "y"), (), (), (fast("y"), fast("y")))
    with pytest.raises(ValueError, match="forgets: the state after a step does not determine the one before it"):
        backward(forgets)
    with pytest.raises(ValueError, match="The step cannot be undone"):
        backward(da.Midpoint().step_map(systems.holonomic().system))


# steps in turn


def test_a_method_and_its_adjoint_in_turn():
    """Symplectic Euler and its adjoint, half a step each, are the method of Stormer and Verlet."""
    case = systems.separable()
    left, verlet = da.LeftPoint().step_map(case.system), da.StormerVerlet().step_map(case.system)
    state = np.array([[0.3, -0.2, 0.1, 0.4]])
    found, slopes, _ = tangents(composed("both", [left, backward(left)], [0.5, 0.5]), state, values(case), H, 0.3)
    other, _, _ = tangents(composed("both", [backward(left), left], [0.5, 0.5]), state, values(case), H, 0.3)
    expected, expected_slopes, _ = tangents(verlet, state, values(case), H, 0.3)
    np.testing.assert_allclose(found, expected, rtol=1e-14)
    np.testing.assert_allclose(slopes, expected_slopes, rtol=1e-13, atol=1e-14)
    assert np.abs(other - expected).max() > 1e-6, "in the other order it is another method"


@pytest.mark.parametrize("method", [da.Midpoint(), da.RungeKutta4()], ids=repr)
def test_written_out_or_as_substeps_it_is_the_same_motion(method):
    case = systems.forced()
    one, same = method.step_map(case.system), method.step_map(case.system)
    fractions = [0.4, -0.1, 0.7]
    loop, written = composed("loop", [one] * 3, fractions), composed("written", [one, same, one], fractions)
    assert loop.substeps == (0.4, -0.1, 0.7) and written.substeps == (1.0,)
    assert written.summed == loop.summed
    state = np.array([[0.3, -0.2, 0.1, 0.4]])
    a, b = (tangents(s, state, values(case), H, 0.3, steps=20) for s in (loop, written))
    np.testing.assert_allclose(a[0], b[0], rtol=1e-13)
    np.testing.assert_allclose(a[1], b[1], rtol=1e-12, atol=1e-13)
    assert set(written.outputs) == set(loop.outputs)


def test_outputs_of_a_composition_are_those_of_its_first_step():
    case = systems.forced()
    one, other = da.Midpoint().step_map(case.system), da.Midpoint().step_map(case.system)
    value = {"seen": fast(one.unknowns[0])}
    both = composed("both", [replace(one, outputs=value), replace(other, outputs=value)], [0.5, 0.5])
    assert free_names(both.outputs.values()) == {both.blocks[0].unknowns[0]}


def test_steps_of_different_states_are_not_composed():
    step = da.Midpoint().step_map(systems.forced().system)
    with pytest.raises(ValueError, match="Expected steps of one state"):
        composed("mixed", [step, variational(step)], [0.5, 0.5])


# along a run


def double_pendulum(start, **extent):
    example = da.gallery.load("double-pendulum")
    given = {**example.start, **start} if len(start) < 4 else start
    return da.simulate(example.system, da.Midpoint(), h=0.01, start=given, parameters=example.parameters, **extent)


def test_tangents_along_a_run_are_derivatives_by_the_start():
    one, two = da.gallery.load("double-pendulum").system.coordinates
    run = double_pendulum({one.dot: 0.5, two.dot: -0.3}, steps=60, every=6)
    found, eps = da.tangents(run), 1e-5
    assert found.intervals.shape == (10, 4, 4) and found.from_start.shape == (11, 4, 4)
    start, moved = {s: run[s][0] for s in found.symbols}, []
    for s in found.symbols:
        ends = [double_pendulum({**start, s: start[s] + d}, steps=60, every=6) for d in (eps, -eps)]
        moved.append(np.stack([(ends[0][r] - ends[1][r]) / (2 * eps) for r in found.symbols], axis=1))
    np.testing.assert_allclose(found.from_start, np.stack(moved, axis=-1), rtol=1e-6, atol=1e-7)
    assert "derivatives over 6 steps" in str(found)


def test_tangents_of_lanes_are_those_of_single_runs_bit_for_bit():
    angle, values = next(iter(da.gallery.load("double-pendulum").start)), [0.3, 1.1, 2.0]
    together = da.tangents(double_pendulum({angle: values}, steps=20))
    for k, value in enumerate(values):
        alone = da.tangents(double_pendulum({angle: value}, steps=20))
        np.testing.assert_array_equal(together.intervals[k], alone.intervals)
        np.testing.assert_array_equal(together.from_start[k], alone.from_start)


def test_tangents_under_constraints_stay_on_them():
    """d(constraint) vanishes on the end of a motion from a neighbouring admissible start; the control is another vector."""
    case = systems.holonomic()
    run = da.simulate(case.system, da.Midpoint(), h=0.01, steps=40, start=case.start, parameters=case.parameters)
    found = da.tangents(run)
    q = np.stack([run.x, run.y, run.z], axis=1)
    normal = q * [2, 4, 6]
    after = found.from_start[-1][:3]
    assert np.abs(normal[-1] @ after).max() < 1e-11 * np.abs(after).max() * np.abs(normal[-1]).max()
    assert np.abs(normal[0] @ after).max() > 1e-3


def test_what_has_no_steps_to_differentiate_is_refused():
    with pytest.raises(da.ModelError, match=r"tangents: got 3. Expected a run: tangents\(simulate"):
        da.tangents(3)
    case = systems.forced()
    adaptive = da.simulate(case.system, da.Reference(), h=0.1, steps=2, start=case.start, parameters=case.parameters)
    with pytest.raises(da.MethodError, match=r"tangents: .* is adaptive, and only steps of one length in t"):
        da.tangents(adaptive)


def test_a_large_state_goes_in_groups_of_columns(monkeypatch):
    """The same derivative as with all columns together; the number of columns does not divide that of the state.

    Each group goes with the state and the time of its lane.
    """
    from dalembert.engine import tangent

    case = systems.forced()
    step, state = second_state(case, da.Gauss(2))
    states = np.concatenate([state, state + 0.1])
    together = tangents(step, states, values(case), H, [H, 9 * H])
    monkeypatch.setattr(tangent, "WHOLE", 2)
    monkeypatch.setattr(tangent, "COLUMNS", 3)
    groups = tangents(step, states, values(case), H, [H, 9 * H])
    for a, b in zip(together, groups, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-13, atol=1e-14)


def test_unequal_substeps_are_undone_in_reverse_order():
    case, method = systems.forced(), da.Composition(da.Midpoint(), coefficients=[0.3, 0.7])
    step, state = second_state(case, method)
    after, _, _ = tangents(step, state, values(case), 4 * H, H)
    before, _, _ = tangents(backward(step), after, values(case), -4 * H, 5 * H)
    np.testing.assert_allclose(before, state, rtol=1e-13, atol=1e-14)
    same_order = replace(backward(step), substeps=step.substeps)
    assert np.abs(tangents(same_order, after, values(case), -4 * H, 5 * H)[0] - state).max() > 1e-7


def test_outputs_stay_as_they_are():
    case = systems.holonomic()
    step, state = second_state(case, da.Midpoint())
    n = len(step.state)
    plain, _ = advanced(step, state, values(case), 20)
    both, _ = advanced(variational(step), with_identity(state), values(case), 20)
    assert len(step.outputs) > 0
    np.testing.assert_array_equal(both[..., n + n * n :], plain[..., n:])


def test_guards_stay_as_they_are():
    """x' = x - h, in a model with log(x): the step that leaves its domain is not made, with a tangent or without."""
    x = fast("x")
    step = guarded(StepMap("falls", ("x",), (), (), (x - fast("step.h"),)), [fast(log(Symbol("x")))])
    ends = [
        advanced(s, row, np.zeros((1, 0)), 9)[1] for s, row in ((step, ONE_AND_A_HALF), (variational(step), WITH_ONE))
    ]
    assert [(Status(int(s[0, 0])), int(s[0, 1])) for s in ends] == [(Status.LEFT_DOMAIN, 5)] * 2


ONE_AND_A_HALF, WITH_ONE = np.array([[5.5 * H]]), np.array([[5.5 * H, 1.0]])


def test_a_singular_matrix_of_columns_is_told():
    """x y + x = 0 has the solution y = -1, except at x = 0."""
    x = fast("x")
    block = MatrixBlock(("y",), ((x,),), ((fast(1),),), ("x",), 1)
    step = StepMap("matrix", ("x",), (), (block,), (fast("y"),))
    records, status = advanced(step, np.array([[0.5], [0.0]]), np.zeros((1, 0)), 1)
    assert records[0, 1, 0] == -1 and [Status(int(s)) for s in status[:, 0]] == [Status.CONVERGED, Status.SINGULAR]
    with pytest.raises(ValueError, match="the sizes of its matrices do not agree"):
        MatrixBlock(("y",), ((x,),), ((fast(1),),), ("x", "x"), 1)


def test_the_arrangement_of_matrices_identifies_code():
    """The same expressions, once as a matrix with sources and once as wider sources."""
    a, names = tuple(fast(s) for s in "abcd"), ("y0", "y1", "y2", "y3")
    square = (a[:2], a[2:])
    one = MatrixBlock(names, square, ((fast("p"),), (fast("q"),)), ("u", "v"), 2)
    two = MatrixBlock(names, (), square, ("p", "q", "u", "v"), 2)
    assert one.ingredients == two.ingredients
    told = [identity(StepMap("m", tuple("abcdpquv"), (), (b,), tuple(fast(s) for s in "abcdpquv"))) for b in (one, two)]
    assert told[0] != told[1]


def test_the_search_begins_at_the_velocities_of_the_run():
    """Without them no step is found under a constraint that is quadratic in the velocities."""
    case, method = systems.chetaev(), da.GeometricNonholonomic()
    run = da.simulate(case.system, method, h=H, steps=5, start=case.start, parameters=case.parameters)
    assert np.isfinite(da.tangents(run).intervals).all()
    step = method.step_map(case.system)
    assert tangents(step, run.records[:, 1, : len(step.state)], values(case), H, H)[2][0] != 0


def test_what_a_step_backward_expects():
    """Positions change by the velocities; nothing is known about how other variables change."""
    system, q, p, h = systems.separable().system, fast("x"), fast("x.momentum"), fast("step.h")
    update = (q + h * p * q, p - h * q**3 * p)
    step = backward(StepMap("coupled", ("x", "x.momentum"), (), (), update, layout=state_layout(system)))
    assert set(step.sought) == {"x.change", "x.momentum.change"}
    found = dict(zip(step.sought, seed(system, step, np.array([[2.0, 3.0]]))[0], strict=True))
    assert found == {"x.change": 2.0, "x.momentum.change": 0.0}


def test_what_needs_no_search_is_found_first_or_last():
    """x alone, then y and z, then w."""
    x, y, z, w = map(fast, ("x", "y", "z", "w"))
    rows = (x - 2, y * z - x, y - z, w + y * x - 1)
    parts = searched_last(Block(("x", "y", "z", "w"), rows))
    assert [b.unknowns for b in parts] == [("x",), ("y", "z"), ("w",)]
    assert [b.is_linear for b in parts] == [True, False, True]
