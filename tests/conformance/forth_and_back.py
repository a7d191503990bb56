"""A step forward and a step backward, with -h, from a node in the middle of a motion."""

from __future__ import annotations

import numpy as np

import dalembert as da
from dalembert.engine.arguments import Lanes
from dalembert.engine.machine import Stepper
from dalembert.engine.run_options import Extent
from dalembert.methods import Method
from dalembert.run.start import point_map
from dalembert.theory.motion import state_maps

from . import systems


def _stepped(stepper: Stepper, lane: Lanes, t: float, h: float) -> None:
    """One step of length h, in place; h may be negative."""
    stepper.advance(lane, np.zeros((1, 1, stepper.width)), Extent(t, h, 0, 1))
    if lane.status[0, 0]:
        raise ArithmeticError(f"{stepper.stepmap.name}: no step (status {lane.status[0, 0]}).")


def _seen(method: Method, system: da.System, lane: Lanes, t: float) -> np.ndarray:
    """Position and velocity at a node, as a run shows them."""
    n = len(system.coordinates)
    q, second = lane.carry[0, :n], lane.carry[0, n : 2 * n]
    if method.carries == "momentum":
        project = bool(system.constraints) and method.impulsive
        here = np.array([[*q, *second, t]])
        second = point_map(state_maps.velocity_map(system, project))(here, lane.parameters)[0][0]
    return np.append(q, second)


def asymmetry(method: Method, case: systems.Case, h: float) -> float:
    """How far a step forward and a step backward lead from a node in the middle of a motion."""
    run = da.simulate(case.system, method, h=h, steps=3, start=case.start, parameters=case.parameters)
    stepper, t = Stepper(method.step_map(case.system)), 3 * h
    row = np.array([[float(case.parameters[p]) for p in case.system.parameters]])
    lane = Lanes.begun(run.carry.copy(), row)
    before = _seen(method, case.system, lane, t)
    _stepped(stepper, lane, t, h)
    _stepped(stepper, lane, t + h, -h)
    return float(np.abs(_seen(method, case.system, lane, t) - before).max())
