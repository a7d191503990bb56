"""Details of step maps made from step maps: the order of substeps, outputs, guards, roles, and sizes that must agree."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import dalembert as da
from dalembert.discrete.state_layout import velocity_columns
from dalembert.engine.tangent import tangents
from dalembert.symbolic import fast, free_names, number
from dalembert.waist.derived_steps import backward, composed
from dalembert.waist.layout import Layout, Segment
from dalembert.waist.matrix_block import MatrixBlock
from dalembert.waist.stepmap import Block, StepMap

from ..conformance import systems

x = da.coordinates("x")
m = da.parameters("m", positive=True)
UNEVEN = da.Composition(da.Midpoint(), coefficients=[0.3, 0.7])


def test_a_composition_that_does_not_read_the_same_backward_is_undone():
    """Its substeps are undone last first; in their own order they lead elsewhere."""
    case, h = systems.forced(), 0.05
    step, parameters = UNEVEN.step_map(case.system), np.array([[case.parameters[p] for p in case.system.parameters]])
    state = np.array([[0.3, -0.2, 0.1, 0.4]])
    after, _, _ = tangents(step, state, parameters, h, 0.3)
    undone = backward(step)
    assert np.abs(tangents(undone, after, parameters, -h, 0.3 + h)[0] - state).max() < 1e-14
    wrong = replace(undone, substeps=step.substeps)
    assert np.abs(tangents(wrong, after, parameters, -h, 0.3 + h)[0] - state).max() > 1e-7  # control


def test_steps_of_several_substeps_in_turn():
    """All substeps of the first step come before those of the second."""
    one = UNEVEN.step_map(systems.forced().system)
    twice = composed("twice", [one, one], [0.25, 0.75])
    assert twice.substeps == pytest.approx((0.075, 0.175, 0.225, 0.525), rel=1e-15)


def test_outputs_of_different_steps_in_turn_are_those_of_the_first():
    """Both have the output `speed`; that of the second would be the value half a step later."""
    s, v, h = fast("s"), fast("v"), fast("step.h")
    first, second = (
        StepMap(name, ("s",), (), (Block(("v",), (v - a * s,)),), (s + h * v,), {"speed": v})
        for name, a in (("slow", 1), ("fast", 2))
    )
    both = composed("both", [first, second], [0.5, 0.5])
    assert both.outputs == {"speed": fast("v.part.0")}


def hard_wall(power=1):
    return da.System("wall", [x], kinetic=m * x.dot**2 / 2, potential=1 / x**power)


def test_guards_of_different_steps_in_turn():
    """The domain of each part, with the unknowns of that part."""
    left = da.LeftPoint().step_map(hard_wall())
    both = composed("both", [left, backward(left)], [0.5, 0.5])
    assert len(left.guards) and len(both.guards) == 2 * len(left.guards)
    used = free_names(e for g in both.guards for place in g.places for e in place)
    assert any(".part.0" in name for name in used) and any(".part.1" in name for name in used)


def test_guards_of_a_step_undone_are_at_the_places_of_the_step():
    """By value: the terms of the guards along a step are those along the same step undone."""
    step, h, q, p = da.LeftPoint().step_map(hard_wall()), 0.1, 0.8, 0.3
    undone = backward(step)
    before = np.array([[q, p]])
    after, _, _ = tangents(step, before, np.array([[1.3]]), h)
    # the left-point rule: p' = p - h V'(q), q' = q + h p'/m
    v = (after[0, 0] - q) / h
    forth = {"x": q, "x.momentum": p, "x.step": v, "m": 1.3, "t": 0.0, "step.h": h}
    back = {"x": after[0, 0], "x.momentum": after[0, 1], "x.step": v, "m": 1.3, "t": h, "step.h": -h}
    unknowns = set(undone.unknowns) - set(back)
    back |= {"x.change": -v, "x.momentum.change": (after[0, 1] - p) / h} if unknowns else {}
    for there, here in zip(step.guards, undone.guards, strict=True):
        values = [
            [[number(e, at) for e in place] for place in guard.places] for guard, at in ((there, forth), (here, back))
        ]
        assert np.allclose(*values, rtol=1e-12)


def test_a_stage_outside_the_domain_ends_the_motion():
    """V = log(x) has a force on both sides of zero, so that a stage beyond it gives numbers, and the end is inside again."""
    well = da.System("well", [x], kinetic=m * x.dot**2 / 2, potential=da.log(x))
    given = {"start": {x: 0.1, x.dot: -1.0}, "parameters": {m: 1.0}}
    run = da.simulate(well, da.RungeKutta4(), h=0.25, steps=1, strict=False, **given)
    assert run.status == da.Status.LEFT_DOMAIN
    step = da.RungeKutta4().step_map(well)
    bare = tangents(replace(step, guards=()), np.array([[0.1, -1.0]]), np.array([[1.0]]), 0.25)[0]
    assert bare[0, 0] > 0  # the end itself is inside: only a stage tells
    short = da.simulate(well, da.RungeKutta4(), h=0.001, steps=1, **given)
    assert short.ok  # control


def test_the_rates_of_change_of_a_step_undone_are_velocities():
    """So the search for them begins at the velocity of the node. Momenta have rates that are none."""
    s, p, h = fast("x"), fast("x.momentum"), fast("step.h")
    layout = Layout((Segment("position", "x", ("x",)), Segment("momentum", "x", ("x.momentum",))))
    step = StepMap("coupled", ("x", "x.momentum"), (), (), (s + h * p * s, p - h * s * p), layout=layout)
    undone = backward(step)
    assert set(undone.sought) == {"x.change", "x.momentum.change"}
    columns = velocity_columns(undone.layout, [x], ["x.change", "x.momentum.change", "x"])
    assert columns == [0, None, None]


def test_names_by_role():
    """In the order of the segments and of the names in them, whatever the order of the others is."""
    layout = Layout((Segment("position", "R", ("a", "b", "c")), Segment("momentum", "R", ("p",))))
    among = ["p", "c", "z", "b", "a"]
    assert layout.of("position", among) == ["a", "b", "c"] and layout.places("position", among) == [4, 3, 1]
    assert layout.of("momentum", ["a"]) == [] and layout.find("b") == (layout.segments[0], 1)
    two = Layout((Segment("position", "y", ("y",)), Segment("position", "x", ("x",)), Segment("velocity", "x", ("x",))))
    assert two.of("position", ["x", "y"]) == ["y", "x"] and two.places("position", ["x", "y"]) == [1, 0]
    assert two.find("x") == (two.segments[1], 0)  # the first segment that has the name
    assert layout.find("z") is None and layout.extended(Segment("entropy", "S", ("S",))).find("S") is not None


@pytest.mark.parametrize(
    "unknowns, sources, given",
    [(("x", "y"), ((1,),), ("a",)), (("x",), ((1, 2),), ("a",)), (("x",), ((1,),), ("a", "b"))],
)
def test_matrices_whose_sizes_do_not_agree(unknowns, sources, given):
    rows = tuple(tuple(map(fast, row)) for row in sources)
    with pytest.raises(ValueError, match="the sizes of its matrices do not agree"):
        MatrixBlock(unknowns, (), rows, given, 1)
    MatrixBlock(("x",), (), ((fast(1),),), ("a",), 1)  # control


def test_a_lane_fails_if_one_of_its_groups_of_columns_does(monkeypatch):
    """The derivative of y by itself overflows in the second step, that of x does not; the motion stays at zero."""
    from dalembert.engine import tangent

    monkeypatch.setattr(tangent, "WHOLE", 1)
    monkeypatch.setattr(tangent, "COLUMNS", 1)
    step = StepMap("steep", ("x", "y"), (), (), (fast("x"), fast(10**200) * fast("y")))
    at = np.zeros((1, 2)), np.zeros((1, 0)), 0.1
    after, slopes, status = tangents(step, *at, steps=2)
    assert status[0] != 0 and np.isnan(after).all() and np.isnan(slopes).all()
    assert tangents(step, *at, steps=1)[1][0].tolist() == [[1, 0], [0, 1e200]]  # control


def test_names_of_time_and_step_are_taken():
    """Time may be part of a state; it is never sought, and the step is neither."""
    t, h = fast("t"), fast("step.h")
    for state, parameters, unknown in ((("step.h",), (), "v"), (("x",), ("t",), "v"), (("x",), (), "t")):
        block = Block((unknown,), (fast(unknown) - 1,))
        with pytest.raises(ValueError, match="stands for two things"):
            StepMap("twice", state, parameters, (block,), (fast(state[0]),))
    StepMap("clock", ("x", "t"), (), (), (fast("x") + h, t + h))  # control
