"""Motions that end early. Failure is data: a status per lane, NaN beyond the last valid step, all else untouched.

Every case has three lanes of which the second fails. What holds for one holds for all, so all are asked the same questions.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

import dalembert as da
from dalembert import SimulationError, Status, log, sqrt

x, y = da.coordinates("x y")
c, k = da.parameters("c k")
h, t = da.step, da.time
NAN, INFINITY = float("nan"), float("inf")
BAD = 1
"""The lane that fails, of three."""


def falling(name, potential=0, **given):
    return da.System(name, [x], kinetic=x.dot**2 / 2, potential=potential, **given)


with pytest.warns(da.ModelWarning, match="is a product"):  # at x = 0 it says nothing, which is what is looked at here
    GATE = da.System("gate", [x, y], kinetic=(x.dot**2 + y.dot**2) / 2, constraints=[x * y.dot])
"""A constraint that says nothing at x = 0."""

DEGENERATE = da.DiscreteSystem("degenerate", [x], lagrangian=c * x.at(0) * x.at(1))
"""Regular unless c = 0."""

v = (x.at(1) - x.at(0)) / h
BRAKE = da.DiscreteSystem("brake", [x], lagrangian=h * v**2 / 2 - h * x.at(0), force_minus={x: -c * v**2})
"""v + c v^2 = p - h at each step: no root once p - h < -1/(4 c)."""

SPRING = da.System("spring", [x], kinetic=x.dot**2 / 2, potential=k * x**2 / 2)
BEAD = da.System("bead", [x], kinetic=(1 + x**2) * x.dot**2 / 2, potential=k * x**2 / 2)
HILL = falling("hill", potential=-k * x**2 / 2)


@dataclass(frozen=True)
class Fault:
    """A run of three lanes; arrays in `start` and `parameters` have three entries."""

    system: Any
    method: da.VariationalMethod | None
    status: Status
    last: int
    """The last valid step of the lane that fails."""
    start: dict[Any, Any]
    parameters: dict[Any, Any] = field(default_factory=dict)
    h: float = 0.25
    steps: int = 12

    def run(self, lane=None, strict=False, **changed):
        """All lanes, or one of them alone."""

        def part(values):
            return {key: v[lane] if lane is not None and isinstance(v, list) else v for key, v in values.items()}

        method = [] if self.method is None else [self.method]
        asked = {"h": self.h, "steps": self.steps, **changed}
        return da.simulate(
            self.system, *method, start=part(self.start), parameters=part(self.parameters), strict=strict, **asked
        )

    def message(self, run, who=""):
        """The whole message; a search that was begun tells the relative residual it ended with."""
        residual = run.residual[BAD if who else 0]
        size = "" if np.isnan(residual) else f" (relative residual {residual:.3g})"
        return (
            f"{self.system.name}: {who}step {self.last + 1} from t = {self.last * self.h:g}: "
            f"{SENTENCES[self.status]}{size}. {REMEDIES[self.status]} "
            "Everything before is in the `trajectory` of this error; strict=False returns it instead."
        )


SENTENCES = {
    Status.SINGULAR: "singular step matrix: the equations do not determine the next state",
    Status.NO_SOLUTION: "no solution found: the iteration for the next state did not converge",
    Status.LEFT_DOMAIN: "left the domain: an expression has no value there (a root, a logarithm, a division by zero)",
    Status.OTHER_BRANCH: "other branch: the step has a solution, but not one that continues the motion",
    Status.NOT_FINITE: "not finite: a recorded quantity or a parameter is infinite or not a number",
}
REMEDIES = {
    Status.SINGULAR: "Check that masses are positive and that constraints are independent at this state; "
    "`dalembert.regularity(error.trajectory)` says more.",
    Status.NO_SOLUTION: "Try a smaller h; if it fails at the same time, look at the state there: the motion may end. "
    "`dalembert.existence(error.trajectory)` says whether there is a next step at all.",
    Status.OTHER_BRANCH: "Try a smaller h: the step is too long to tell which solution continues the motion.",
    Status.LEFT_DOMAIN: "Try a smaller h; if it fails at the same time, the motion runs into a singularity there.",
    Status.NOT_FINITE: "Check the start and the parameters for NaN or infinity; if they are numbers, try a smaller h.",
}

TO_THE_GATE = {x: [3.0, -3.0, 4.5], y: 0.0, x.dot: 3.0, y.dot: 0.0}
"""Thirds and sixths of the velocity are exact, so that the gate is met exactly."""
FROM_REST = {x: [5.0, 1.0, 6.0], x.dot: 0.0}

FAULTS = {
    # steps of 1/4 from x = -3 with velocity 3 meet x = 0 exactly
    "constraint lost, linear step": Fault(GATE, da.LeftPoint(), Status.SINGULAR, 4, TO_THE_GATE),
    "constraint lost, Newton's method": Fault(GATE, da.Midpoint(), Status.SINGULAR, 4, TO_THE_GATE),
    "constraint lost in a stage": Fault(GATE, da.RungeKutta4(), Status.SINGULAR, 3, TO_THE_GATE),
    "degenerate discrete Lagrangian": Fault(
        DEGENERATE, None, Status.SINGULAR, 0, {x: 1.0, x.momentum: 1.0}, {c: [1.0, 0.0, 2.0]}
    ),
    "root of a negative number": Fault(falling("root", sqrt(x)), da.RungeKutta4(), Status.LEFT_DOMAIN, 7, FROM_REST),
    "logarithm of a negative number": Fault(
        falling("log", forces={x: log(x)}), da.LeftPoint(), Status.LEFT_DOMAIN, 3, {x: 1.0, x.dot: [1.0, -1.0, 2.0]}
    ),
    "division by zero": Fault(
        falling("pole", forces={x: c / x}), da.LeftPoint(), Status.LEFT_DOMAIN, 3, {x: [1.0, -1.0, 2.0], x.dot: 1.0}, {c: 0.0}
    ),
    "no value at a later time, Newton's method": Fault(
        falling("ends", sqrt(c - t) * x**4), da.Midpoint(), Status.LEFT_DOMAIN, 4, {x: 0.5, x.dot: 0.0}, {c: [9.0, 1.0, 8.0]}
    ),
    "no root": Fault(BRAKE, None, Status.NO_SOLUTION, 3, {x: 0.0, x.momentum: 1.0}, {c: [0.0, 1.0, 0.001]}),
    "no root in the domain": Fault(falling("root", sqrt(x)), da.Midpoint(), Status.NO_SOLUTION, 7, FROM_REST),
    # steps longer than a period: the solution that continues the motion ends before h
    "a fold before the end of the step": Fault(
        BEAD, da.Midpoint(), Status.OTHER_BRANCH, 3, {x: 2.0, x.dot: 0.0}, {k: [0.01, 33.0, 0.02]}, h=1.0
    ),
    "a parameter that is not a number": Fault(
        SPRING, da.Midpoint(), Status.NOT_FINITE, 0, {x: 1.0, x.dot: 0.0}, {k: [1.0, NAN, 2.0]}
    ),
    "an infinite parameter": Fault(
        SPRING, da.RungeKutta4(), Status.NOT_FINITE, 0, {x: 1.0, x.dot: 0.0}, {k: [1.0, INFINITY, 2.0]}
    ),
    "a start that is not a number": Fault(
        SPRING, da.Trapezoidal(), Status.NOT_FINITE, 0, {x: [1.0, NAN, 2.0], x.dot: 0.0}, {k: 1.0}
    ),
    "an infinite velocity": Fault(
        SPRING, da.StormerVerlet(), Status.NOT_FINITE, 0, {x: 1.0, x.dot: [0.0, INFINITY, 1.0]}, {k: 1.0}
    ),
    # every step multiplies x by 1e8, numbers end at 1.8e308, and the energy is quadratic in x
    "overflow of an explicit method": Fault(
        HILL, da.StormerVerlet(), Status.NOT_FINITE, 18, {x: 1.0, x.dot: 1.0}, {k: [1.0, 1e8, 2.0]}, h=1.0, steps=45
    ),
}  # fmt: skip

each = pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)


def same(a, b):
    """Bit for bit, and NaN where NaN is."""
    return np.array_equal(a, b, equal_nan=True)


def test_every_status_is_reached():
    """Those of events are reached where events are tested."""
    of_events = {Status.EVENT, Status.EVENTS_ACCUMULATE, Status.OFF_CONSTRAINTS}
    statuses = {status for status in Status if status not in of_events}
    assert {fault.status for fault in FAULTS.values()} | {Status.CONVERGED, Status.INTERRUPTED} == statuses


@each
def test_status_and_last_valid_step_of_each_lane(fault):
    run = fault.run()
    assert run.status == [Status.CONVERGED, fault.status, Status.CONVERGED]
    assert run.codes[:, 1].tolist() == [fault.steps, fault.last, fault.steps]
    assert not run.ok


@each
def test_nan_beyond_the_last_valid_step_and_never_zero(fault):
    run = fault.run()
    beyond = fault.last + 1
    assert beyond < len(run.time)
    assert np.isnan(run.records[BAD, beyond:]).all()
    for q in run.system.coordinates:
        assert np.isnan(run[q][BAD, beyond:]).all()
        assert np.isnan(run[q.momentum][BAD, beyond:]).all()
        assert np.isnan(run[q.dot][BAD, beyond:]).all()
    assert np.isnan(run.multipliers[BAD, beyond:]).all()
    if isinstance(run.system, da.System):
        assert np.isnan(run.energy[BAD, beyond:]).all()


@each
def test_what_came_before_is_kept_bit_for_bit(fault):
    """The lane up to its last valid step is the run that stops there, which succeeds unless it begins with no numbers."""
    run = fault.run()
    before = fault.run(BAD, steps=fault.last)
    assert before.ok == (fault.status is not Status.NOT_FINITE or fault.last > 0)
    assert same(run.records[BAD, : fault.last + 1], before.records[0])
    given_as_numbers = all(np.isfinite(v[BAD] if isinstance(v, list) else v) for v in fault.start.values())
    state = run.records[BAD, : fault.last + 1, : 2 * len(run.system.coordinates)]
    assert np.isfinite(state).all() == given_as_numbers


@each
def test_the_other_lanes_are_untouched(fault):
    run = fault.run()
    for lane in (0, 2):
        alone = fault.run(lane, strict=True)
        assert np.array_equal(run[x][lane], alone[x])
        assert same(run.records[lane], alone.records[0])
        assert same(run.codes[lane], alone.codes[0])


@each
def test_the_failing_lane_alone_fails_in_the_same_way(fault):
    run, alone = fault.run(), fault.run(BAD)
    assert alone.status is fault.status
    assert same(alone.records[0], run.records[BAD])
    assert same(alone.codes[0], run.codes[BAD])
    assert same(alone.residual[0], run.residual[BAD])


@each
def test_message_of_an_ensemble_and_the_trajectory_it_carries(fault):
    with pytest.raises(SimulationError) as caught:
        fault.run(strict=True)
    run = caught.value.trajectory
    assert str(caught.value) == fault.message(run, who="1 of 3 lanes ended early; lane 1: ")
    assert same(run.records, fault.run().records)
    assert same(run.codes, fault.run().codes)


@each
def test_message_of_a_single_run(fault):
    with pytest.raises(SimulationError) as caught:
        fault.run(BAD, strict=True)
    assert str(caught.value) == fault.message(caught.value.trajectory)
    assert same(caught.value.trajectory.records, fault.run(BAD).records)


@each
def test_recording_every_third_step_changes_nothing(fault):
    run, sparse = fault.run(), fault.run(every=3)
    assert same(sparse.records, run.records[:, ::3])
    assert same(sparse.codes, run.codes)


def test_the_message_is_about_the_lane_that_ended_first():
    fault = FAULTS["no root in the domain"]
    with pytest.raises(SimulationError) as caught:
        da.simulate(fault.system, fault.method, h=0.25, steps=30, start={x: [9.0, 2.0, 1.0, 3.0], x.dot: 0.0})
    run = caught.value.trajectory
    assert [status is Status.CONVERGED for status in run.status] == [True, False, False, False]
    assert run.codes[:, 1].argmin() == 2
    assert len(set(run.codes[:, 1].tolist())) == 4
    assert str(caught.value) == (
        "root: 3 of 4 lanes ended early; lane 2: step 8 from t = 1.75: no solution found: the iteration for the next state "
        f"did not converge (relative residual {run.residual[2]:.3g}). Try a smaller h; if it fails at the same time, look at "
        "the state there: the motion may end. `dalembert.existence(error.trajectory)` says whether there is a next step "
        "at all. "
        "Everything before is in the `trajectory` of this error; strict=False returns "
        "it instead."
    )


def test_a_step_tried_only_for_the_last_multiplier_may_fail():
    """The run that ends at the node where the constraint is lost is whole; only the multiplier there is unknown."""
    run = da.simulate(GATE, da.Midpoint(), h=0.25, steps=4, start={x: -1, y: 0, x.dot: 1, y.dot: 0})
    assert run.ok
    assert run.x.tolist() == [-1, -0.75, -0.5, -0.25, 0]
    assert np.isnan(run.multipliers[:, 0]).tolist() == [False] * 4 + [True]


@pytest.mark.parametrize("solver", ["DOP853", "Radau"])
def test_a_reference_that_leaves_the_domain(solver):
    method, system = da.Reference(solver=solver), falling("root", sqrt(x))
    asked = {"h": 0.25, "steps": 12, "strict": False}
    run = da.simulate(system, method, start=FROM_REST, **asked)
    assert run.status == [Status.CONVERGED, Status.LEFT_DOMAIN, Status.CONVERGED]
    assert run.codes[:, 1].tolist() == [12, 7, 12]
    assert np.isfinite(run.records[BAD, :8]).all()
    assert np.isnan(run.records[BAD, 8:]).all()
    for lane, place in enumerate(FROM_REST[x]):
        alone = da.simulate(system, method, start={x: place, x.dot: 0.0}, **asked)
        assert same(alone.records[0], run.records[lane])
    with pytest.raises(SimulationError) as caught:
        da.simulate(system, method, start=FROM_REST, **(asked | {"strict": True}))
    assert same(caught.value.trajectory.records, run.records)
    assert str(caught.value) == (
        "root: 1 of 3 lanes ended early; lane 1: step 8 from t = 1.75: left the domain: an expression has no value there "
        "(a root, a logarithm, a division by zero). Try a smaller h; if it fails at the same time, the motion runs into a "
        "singularity there. Everything before is in the `trajectory` of this error; strict=False returns it instead."
    )


def test_a_run_that_is_interrupted_keeps_what_it_has():
    def impatient(done, total):
        raise KeyboardInterrupt

    asked = {"h": 0.001, "parameters": {k: 1.0}, "start": {x: 1.0, x.dot: 0.0}}
    with pytest.raises(SimulationError) as caught:
        da.simulate(SPRING, da.Midpoint(), steps=100_000, progress=impatient, **asked)
    run = caught.value.trajectory
    assert run.status is Status.INTERRUPTED
    last = int(run.codes[0, 1])
    assert 0 < last < 100_000
    whole = da.simulate(SPRING, da.Midpoint(), steps=last, **asked)
    assert np.array_equal(run.records[0, :last], whole.records[0, :last])
    assert np.isnan(run.records[0, last + 1 :]).all()


def test_a_failed_run_can_be_looked_at_and_saved(tmp_path):
    run = FAULTS["no root"].run()
    read = da.load(run.save(tmp_path / "run.nc"))
    assert read.status == run.status
    assert same(read.records, run.records)
    assert same(read.codes, run.codes)
    assert same(read.residual, run.residual)
    assert repr(run).endswith("1 lane(s) ended early>")
