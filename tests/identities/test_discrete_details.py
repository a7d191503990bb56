"""Details of discrete systems: reactions backward in time, moving one-forms, forces inside a step, variations of entropies."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as da
from dalembert.discrete.entropy_variations import extended_variation, variation_rows
from dalembert.discrete.equations import step_map
from dalembert.discrete.flow import backward_step_map
from dalembert.discrete.state_layout import state_layout
from dalembert.engine.arguments import Lanes
from dalembert.engine.machine import Stepper
from dalembert.engine.run_options import Extent
from dalembert.symbolic import free_names, number

x, y, z = da.coordinates("x y z")
c = da.parameters("c", positive=True)
h = 0.1


def sleigh(moving=0):
    """A particle under z.dot = (y + moving t) x.dot."""
    kinetic = (x.dot**2 + y.dot**2 + z.dot**2) / 2
    form = z.dot - (y + moving * da.time) * x.dot
    return da.System("sleigh", [x, y, z], kinetic=kinetic, potential=x**2 + y**2, constraints=[form])


def one_step(step, state, t=0.0):
    """The state after a step, and its outputs."""
    stepper = Stepper(step)
    records = np.full((1, 2, stepper.width), np.nan)
    lane = Lanes.begun(stepper.carry(state[None]), np.zeros((1, 0)))
    stepper.advance(lane, records, Extent(t, h, 0, 1), closing=True)
    assert lane.status[0, 0] == 0
    return records[0, 1, : len(step.state)], dict(zip(step.outputs, records[0, 0, len(step.state) :], strict=True))


def test_multipliers_of_a_step_undone_are_those_of_the_motion():
    """At the node it leaves, with their sign: that of the next step forward."""
    discrete = da.discretise(sleigh(), da.Midpoint())
    forward = step_map(discrete)
    state, _ = one_step(forward, np.array([0.3, 0.5, -0.2, 0.7, -0.4, 0.35]))
    after, outputs = one_step(forward, state)
    # momenta after a step lack the reaction at that node; the next step adds it first
    _, next_outputs = one_step(forward, after)
    whole = after.copy()
    lam = next_outputs["multiplier.1"]
    whole[3:] += h * lam * np.array([-after[1], 0, 1])
    before, back = one_step(backward_step_map(discrete), after)
    assert np.abs(before[:3] - state[:3]).max() < 1e-14
    assert back["multiplier.1"] == pytest.approx(0, abs=1e-13)  # of `after` itself: nothing has been added yet
    _, kicked = one_step(backward_step_map(discrete), whole)
    assert kicked["multiplier.1"] == pytest.approx(lam, rel=1e-11) and abs(lam) > 1e-2
    assert outputs["multiplier.1"] != pytest.approx(lam, rel=1e-6)  # control: another node has another reaction


@pytest.mark.parametrize("backward", [False, True])
def test_one_forms_that_move_are_taken_at_the_time_of_the_node(backward):
    """The flow on pairs of positions is that on positions and momenta."""
    discrete = da.discretise(sleigh(moving=3), da.Midpoint())
    start = {x: 0.3, y: 0.5, z: -0.2, x.momentum: 0.7, y.momentum: -0.4, z.momentum: 0.35, da.time: 0.6}
    run = da.simulate(discrete, h=h, steps=3, start=start)
    q = np.stack([run.x, run.y, run.z], axis=1)
    first, goal = (1, (0, 1)) if backward else (0, (1, 2))
    given = {s: q[first + i][j] for i in (0, 1) for j, s in enumerate((x.at(i), y.at(i), z.at(i)))}
    step = da.flow(discrete, start={**given, da.time: run.time[first]}, h=h, backward=backward)
    assert np.abs(step.after - q[list(goal)].ravel()).max() < 1e-13


def test_a_constraint_that_moves_is_that_of_the_node_before_in_a_step_undone():
    """x^2 + (y - t^2)^2 = 1 at every node, at the time of that node."""
    carried = da.System(
        "carried",
        [x, y],
        kinetic=(x.dot**2 + y.dot**2) / 2,
        potential=y,
        constraints=[x**2 + (y - da.time**2) ** 2 - 1],
    )
    discrete = da.discretise(carried, da.Midpoint())
    start, t0 = {x: 0.6, y: -0.8 + 0.25, y.dot: 0.4, da.time: 0.5}, 0.5
    run = da.simulate(carried, da.Midpoint(), h=h, steps=2, start=start)
    state = run.records[0, 2, :4]
    before, _ = one_step(backward_step_map(discrete), state, t0 + 2 * h)
    assert np.abs(before[:2] - [run.x[1], run.y[1]]).max() < 1e-13
    late, _ = one_step(backward_step_map(discrete), state, t0 + h)
    assert np.abs(late[:2] - before[:2]).max() > 1e-3  # control: the time matters


class Inside(da.Galerkin):
    """A rule with a position inside the step, for entropies too."""

    thermal = True


def test_friction_acts_inside_the_step():
    """On positions inside the step it acts as the same force does that warms nothing."""
    S = da.entropies("S")
    common = {"kinetic": x.dot**2 / 2, "potential": x**2 / 2}
    warm = da.System("warm", [x], **common, entropies=[S], internal_energy=da.exp(S), friction={x: -c * x.dot})
    cold = da.System("cold", [x], **common, forces={x: -c * x.dot})
    inner = [da.discretise(s, rule).force_interior for s, rule in ((warm, Inside(2)), (cold, da.Galerkin(2)))]
    at = {n: 0.1 + 0.37 * i for i, n in enumerate(sorted(free_names([*inner[0], *inner[1]])))}
    assert len(inner[0]) and number(inner[0][0], at) == pytest.approx(number(inner[1][0], at), rel=1e-13)
    assert number(inner[0][0], at) != 0


def test_forces_inside_the_step_keep_the_order():
    """The balance of an interior position has its force with the same factor as its derivative of L_d."""
    damped = da.System("damped", [x], kinetic=x.dot**2 / 2, potential=x**2 / 2, forces={x: -0.4 * x.dot})
    start, errors = {x: 1.0, x.dot: 0.3}, []
    exact = da.simulate(damped, da.Reference(rtol=1e-12), h=2.0, steps=1, start=start).x[-1]
    for steps in (10, 20):
        run = da.simulate(damped, da.Galerkin(2), h=2.0 / steps, steps=steps, start=start)
        errors.append(abs(run.x[-1] - exact))
    assert np.log2(errors[0] / errors[1]) == pytest.approx(4, abs=0.3)


@pytest.mark.parametrize("rule", [da.midpoint_map, da.left_map, da.right_map], ids=["midpoint", "left", "right"])
def test_variations_of_entropies_extend_those_of_positions(rule):
    """They obey the one-forms of every step; with the left map the recursion goes from the end."""
    S = da.entropies("S")
    warm = da.System(
        "warm", [x], kinetic=x.dot**2 / 2, entropies=[S], internal_energy=da.exp(S) * (1 + x**2), friction={x: -x.dot}
    )
    discrete = da.discretise(warm, rule)
    places, heats = [0.1, 0.35, 0.5, 0.8], [0.2, 0.25, 0.4, 0.5]
    steps = [
        {x.at(0): places[i], x.at(1): places[i + 1], S.at(0): heats[i], S.at(1): heats[i + 1], "step.h": h}
        for i in range(3)
    ]
    dq = np.array([[0.3], [-0.2], [0.7], [0.4]])
    dS = extended_variation(discrete, steps, dq, end=0.6)
    rows = variation_rows(discrete)
    for i, at in enumerate(steps):
        values = {getattr(key, "name", key): value for key, value in at.items()} | {"t": 0.0}
        row = [number(e, values) for e in rows[0]]
        moved = [dq[i, 0], dq[i + 1, 0], dS[i, 0], dS[i + 1, 0]]
        assert np.dot(row, moved) == pytest.approx(0, abs=1e-13 * np.abs(np.multiply(row, moved)).sum())
        assert abs(np.dot(row, moved) - np.dot(row[:2], moved[:2])) > 1e-3  # the entropies take part in it
    assert 0.6 in (dS[0, 0], dS[-1, 0])


def test_the_layout_of_a_step_tells_positions_and_momenta_with_rotations():
    """The slots of a rotation are displacements from the first position, so its own origin does not occur."""
    R = da.rotation("R")
    body = da.System("body", [x, R], kinetic=x.dot**2 + sum(w**2 for w in R.omega), potential=x * R[0, 2])
    discrete = da.discretise(body, da.Midpoint())
    step, layout = step_map(discrete), state_layout(discrete)
    assert layout.of("position", step.state) == ["x", *R.numbers]
    assert layout.of("momentum", step.state) == [q.momentum.name for q in body.coordinates] == list(step.state[5:])
    used = free_names([discrete.lagrangian])
    assert not used & {d.at(0).name for d in R.directions} and {d.at(1).name for d in R.directions} <= used


def test_friction_is_in_the_variations_of_its_own_end():
    """With the left map friction acts at the beginning of a step, with the right map at its end."""
    S = da.entropies("S")
    warm = da.System("warm", [x], kinetic=x.dot**2 / 2, entropies=[S], internal_energy=da.exp(S), friction={x: -x.dot})
    for rule, acting in ((da.left_map, 0), (da.right_map, 1)):
        (row,) = variation_rows(da.discretise(warm, rule))
        assert row[acting] != 0 and row[1 - acting] == 0


def test_variations_go_from_the_end_where_one_step_does_not_determine_the_next():
    """D_S+ L_d is zero on the second step only."""
    S = da.entropies("S")
    law = S.at(1) - S.at(0) - h * x.at(0)
    L = (x.at(1) - x.at(0)) ** 2 / 2 - da.exp(S.at(0)) - x.at(0) * da.exp(S.at(1))
    discrete = da.DiscreteSystem(
        "both ends", [x], lagrangian=L, entropies=[S], entropy_laws=[law], friction_minus={x: -1}
    )
    places, heats = [0.3, 0.0, 0.5, 0.8], [0.2, 0.25, 0.4, 0.5]
    steps = [
        {x.at(0): places[i], x.at(1): places[i + 1], S.at(0): heats[i], S.at(1): heats[i + 1], "step.h": h}
        for i in range(3)
    ]
    dq = np.array([[0.3], [-0.2], [0.7], [0.4]])
    dS = extended_variation(discrete, steps, dq, end=0.6)
    assert dS[-1, 0] == 0.6
    for i, at in enumerate(steps):
        values = {getattr(key, "name", key): value for key, value in at.items()} | {"t": 0.0}
        row = [number(e, values) for e in variation_rows(discrete)[0]]
        assert np.dot(row, [dq[i, 0], dq[i + 1, 0], dS[i, 0], dS[i + 1, 0]]) == pytest.approx(0, abs=1e-14)
