"""Methods with a time of their own: symmetric, symplectic in the extended state, order, momenta, no drift; with controls."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from sympy import Rational

import dalembert as da
from dalembert import sqrt
from dalembert.engine.arguments import Lanes
from dalembert.engine.machine import Stepper
from dalembert.engine.run_options import Extent
from dalembert.symbolic import fast, substitution
from dalembert.waist.derived_steps import clocked, variational
from dalembert.waist.stepmap import STEP, TIME, Block

from . import systems

x, y = da.coordinates("x y")
SQUARE = x**2 + y**2
KEPLER = da.System("Kepler", [x, y], kinetic=(x.dot**2 + y.dot**2) / 2, potential=-1 / sqrt(SQUARE))
TURN = 2 * math.pi
NEAR = {x: 0.1, y: 0.0, x.dot: 0.0, y.dot: math.sqrt(19)}
"""The pericentre of an orbit of eccentricity 0.9 and period 2 pi."""

MOVING = da.System(
    "moving", [x, y], kinetic=x.dot**2 / 2 + y.dot**2, potential=-1 / sqrt(SQUARE + 1 / 10) - (2 + da.cos(da.time)) / 2
    + da.sin(2 * da.time) * x * y / 10,
)  # fmt: skip
"""Attraction that depends on time."""
MOVED = {x: 0.7, y: -0.2, x.dot: 0.1, y.dot: 0.6}

GENERAL = 1 + SQUARE / 2
LOGARITHMIC = da.LogarithmicHamiltonian()


class Naive(da.Sundman):
    """The control: steps of length h s at their beginning, which nothing makes reversible."""

    def step_map(self, system):
        base, s, h = self.method.step_map(system), self._length(system), fast(STEP)
        now = substitution({STEP: h * s})
        made = clocked(base)
        return replace(
            made,
            state=(*base.state, "step.density", TIME),
            blocks=tuple(Block(b.unknowns, tuple(map(now, b.residual)), tuple(map(now, b.guess))) for b in base.blocks),
            update=(*map(now, base.update), fast("step.density"), fast(TIME) + h * s),
            outputs={},
            guards=(),
        )


CASES = [
    (LOGARITHMIC, MOVING, MOVED, {}, 0.1),
    (da.Sundman(GENERAL), MOVING, MOVED, {}, 0.1),
    *(
        (da.Sundman(GENERAL, m), c.system, c.start, c.parameters, 0.1)
        for m, c in (
            (da.Midpoint(), systems.free()),
            (da.Gauss(2), systems.free()),
            (da.Composition(da.StormerVerlet(), 4), systems.separable()),
        )
    ),
]
IDS = [repr(case[0]) for case in CASES]


def stepped(stepmap, state, parameters, steps):
    """The state after steps of the given lengths."""
    stepper = Stepper(replace(stepmap, outputs={}))
    lanes = Lanes.begun(stepper.carry(state[None, :]), np.array([parameters], dtype=float).reshape(1, -1))
    for h in steps:
        lanes.carry[:, len(stepmap.state) :] = 0.0
        stepper.advance(lanes, np.zeros((1, 1, len(stepmap.state))), Extent(0.0, h, 0, 1))
        assert not lanes.status[0, 0]
    return lanes.carry[0, : len(stepmap.state)]


def begun(method, system, start, parameters):
    """The state at the start."""
    return da.simulate(system, method, h=0.1, steps=0, start=start, parameters=parameters).records[0, 0, : size(system)]


def size(system):
    return 2 * len(system.coordinates) + 2


def asymmetry(method, system, start, parameters, h):
    state, values = begun(method, system, start, parameters), [parameters[p] for p in system.parameters]
    back = stepped(method.step_map(system), state, values, (h, -h))
    return np.abs(back - state).max()


@pytest.mark.parametrize(("method", "system", "start", "parameters", "h"), CASES, ids=IDS)
def test_symmetric(method, system, start, parameters, h):
    assert method.symmetric
    assert asymmetry(method, system, start, parameters, h) < 1e-13


def test_control_steps_chosen_at_their_beginning_are_not_symmetric():
    assert asymmetry(Naive(GENERAL), MOVING, MOVED, {}, 0.1) > 1e-5


def extended_defect(method, system, start, h=0.1, sign=1):
    """T' J T - J with J the form dq ^ dp + dt ^ dB, of the state (q, p, B, t)."""
    step, n = method.step_map(system), len(system.coordinates)
    state = begun(method, system, start, {})
    whole = stepped(variational(step), np.concatenate([state, np.eye(len(state)).ravel()]), [], (h,))
    slope = whole[len(state) :].reshape(len(state), -1)
    form = np.zeros((2 * n + 2, 2 * n + 2))
    form[:n, n : 2 * n], form[2 * n + 1, 2 * n] = np.eye(n), sign
    form -= form.T
    return np.abs(slope.T @ form @ slope - form).max()


def test_the_logarithmic_hamiltonian_is_symplectic_in_the_extended_state():
    assert extended_defect(LOGARITHMIC, MOVING, MOVED) < 1e-13
    assert extended_defect(LOGARITHMIC, KEPLER, NEAR, 0.3) < 1e-12


def test_controls_of_extended_symplecticity():
    assert extended_defect(LOGARITHMIC, MOVING, MOVED, sign=-1) > 1e-3  # another form
    assert extended_defect(da.Sundman(GENERAL), MOVING, MOVED) > 1e-3
    assert not da.Sundman(GENERAL).symplectic


def errors(method, system, start, parameters, h, doublings, until=2.0):
    found = []
    for k in range(doublings):
        run = da.simulate(system, method, h=h / 2**k, until=until, start=start, parameters=parameters)
        end = run.time[-1]
        exact = da.simulate(system, da.Reference(1e-13), h=end, steps=1, start=start, parameters=parameters)
        names = [*system.coordinates, *system.velocities, *(q.momentum for q in system.coordinates)]
        found.append(max(abs(run[c][-1] - exact[c][-1]) for c in names))
    return found


@pytest.mark.parametrize(("method", "system", "start", "parameters", "h"), CASES, ids=IDS)
def test_order(method, system, start, parameters, h):
    """The state at the time that a run says it has reached."""
    found = errors(method, system, start, parameters, h, 4)
    orders = -np.diff(np.log2(found))
    assert abs(orders[-1] - method.order) < 0.25
    assert not abs(orders[-1] - method.order - 1) < 0.25  # control: another order is told from it


def test_control_a_wrong_time_is_no_motion():
    """The times of another choice of the step: the order is lost."""
    run = da.simulate(MOVING, da.Sundman(GENERAL), h=0.01, until=2, start=MOVED)
    exact = da.simulate(MOVING, da.Reference(1e-13), h=len(run) * 0.01, steps=1, start=MOVED)
    assert abs(run.x[-1] - exact.x[-1]) > 0.05


def angular(run):
    return run.x * run[y.dot] - run.y * run[x.dot]


@pytest.mark.parametrize(
    "method", [LOGARITHMIC, da.Sundman(SQUARE ** Rational(3, 4)), da.Sundman(sqrt(SQUARE), da.Gauss(2))]
)
def test_angular_momentum_is_kept_to_rounding(method):
    assert method.momentum
    run = da.simulate(KEPLER, method, h=0.02, until=10 * TURN, start=NEAR)
    assert np.abs(angular(run) / angular(run)[0] - 1).max() < 1e-13
    assert not da.Sundman(SQUARE, da.DiscreteGradient()).momentum
    control = da.simulate(KEPLER, da.RungeKutta4(), h=0.002, until=TURN, start=NEAR)
    assert np.abs(angular(control) / angular(control)[0] - 1).max() > 1e-9


def test_two_bodies_stay_on_their_orbit():
    """Preto and Tremaine: of the leapfrog of the logarithmic Hamiltonian only the time has an error."""
    run = da.simulate(KEPLER, LOGARITHMIC, h=TURN / 100, until=20 * TURN, start=NEAR)
    assert len(run) == pytest.approx(20 * 100, rel=0.05)
    radius = np.sqrt(run.x**2 + run.y**2)
    orbit = 0.19 / (1 + 0.9 * run.x / radius)
    assert np.abs(run.energy / run.energy[0] - 1).max() < 1e-12
    assert np.abs(radius / orbit - 1).max() < 1e-11
    control = da.simulate(KEPLER, da.StormerVerlet(), h=TURN / 100, until=TURN, start=NEAR)
    assert np.abs(control.energy / control.energy[0] - 1).max() > 0.5


def test_errors_of_the_energy_do_not_drift():
    """Over 200 orbits; the control, with steps of the same lengths but for the choice, loses energy in each."""
    s = SQUARE ** Rational(3, 4)

    def worst(method, turns):
        run = da.simulate(KEPLER, method, h=0.04, until=turns * TURN, start=NEAR)
        return np.abs(run.energy / run.energy[0] - 1).max()

    assert worst(da.Sundman(s), 200) < 1.2 * worst(da.Sundman(s), 2) < 0.02
    assert worst(Naive(s), 200) > 5 * worst(Naive(s), 2)


def test_energy_is_kept_where_the_method_keeps_it():
    """The control has the same steps in time, by a method that does not keep it."""
    galaxy = da.System("galaxy", [x, y], kinetic=(x.dot**2 + y.dot**2) / 2, potential=SQUARE / 2 + x**2 * y - y**3 / 3)
    start = {x: 0.1, y: 0.2, x.dot: 0.3, y.dot: 0.1}

    def worst(method):
        run = da.simulate(galaxy, method, h=0.1, until=20, start=start)
        return np.abs(run.energy / run.energy[0] - 1).max()

    assert da.Sundman(GENERAL, da.DiscreteGradient()).energy
    assert worst(da.Sundman(GENERAL, da.DiscreteGradient())) < 1e-13
    assert worst(da.Sundman(GENERAL)) > 1e-6
