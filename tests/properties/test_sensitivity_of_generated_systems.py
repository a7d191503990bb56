"""Derivatives of generated motions with events, by parameters and starts, against differences of fourth order.

A motion has a kink where an event moves from one step to the next, since its parts are then other parts of steps. There
one-sided derivatives differ, so a variable by which that happens within the differences is left out.
"""

from __future__ import annotations

import numpy as np
import pytest
from sympy import Rational

import dalembert as da

x, y = da.coordinates("x y")
S = da.entropies("S")
a, b, e = da.parameters("a b e")
R, P = da.rotation("R"), da.planar_pose("P")

H, D = 0.02, 3e-5
"""The step, and the change of a variable for differences."""

FREE = [da.Midpoint(), da.RungeKutta4(), da.Gauss(2), da.Trapezoidal(), da.DormandPrince8(), da.DiscreteGradient(2)]


class Case:
    """A system with an event, and a start, from a seed."""

    def __init__(self, kind, seed):
        self.draw, self.following = np.random.default_rng(seed), {}
        self.methods, self.own = FREE, {e: 0.8}
        self.parameters = {a: self.draw.uniform(0.5, 2), b: self.draw.uniform(0.5, 2)}
        getattr(self, kind)()
        self.method = self.methods[self.draw.integers(len(self.methods))]
        self.every = int(self.draw.integers(1, 4))

    def fraction(self, least, most):
        """A random coefficient."""
        return Rational(round(self.draw.uniform(least, most) * 100), 100)

    def starts(self, *symbols, least=-1.0, most=1.0):
        return {s: self.draw.uniform(least, most) for s in symbols}

    def line(self):
        """A push that depends on time, masses that depend on place; walls that move, jumps of the coordinate."""
        c, push = self.fraction, self.fraction(-0.5, 0.5) * x * da.sin(self.fraction(1, 3) * da.time)
        lagrangian = b * x.dot**2 / 2 * (1 + c(0, 0.3) * x**2) - a * x**2 / 2 - c(0, 0.5) * x**4 + push
        self.system = da.System("line", [x], lagrangian=lagrangian, forces={x: -c(0, 0.3) * x.dot})
        actions = {x.dot: -e * x.dot + c(0, 0.3) * x}, {x: x + c(0.05, 0.2), x.dot: e * x.dot}
        wall = x - c(-0.2, 0.2) - c(0, 0.2) * da.time
        self.event = da.Event(wall, actions[self.draw.integers(2)], name="wall")
        self.start, self.of = self.starts(x, least=0.4) | self.starts(x.dot), [x, x.dot, x.dot**2 + x]

    def plane(self):
        """A mass matrix that depends on place, walls that are oblique."""
        c = self.fraction
        kinetic = b * (x.dot**2 + y.dot**2) / 2 + c(0, 0.2) * x.dot * y.dot * da.cos(x - y)
        potential = a * x**2 / 2 + y**2 + c(-0.3, 0.3) * x**2 * y
        self.system = da.System("plane", [x, y], kinetic=kinetic, potential=potential)
        action = {x.dot: -e * x.dot, y.dot: y.dot + c(-0.3, 0.3) * x.dot}
        self.event = da.Event(x + c(-1, 1) * y - c(-0.2, 0.2), action, int(self.draw.integers(-1, 2)), "wall")
        self.start, self.of = self.starts(x, y, x.dot, y.dot), [x, y, x.dot * y]

    def heat(self):
        """Friction that warms a gas; the capacity depends on place."""
        self.system = da.System(
            "heat", [x], entropies=[S], kinetic=b * x.dot**2 / 2, potential=a * x**2 / 2,
            internal_energy=da.exp(S) * (1 + x**2 / 5), friction={S: {x: -x.dot / 3}},
        )  # fmt: skip
        self.event = da.Event(x - self.fraction(-0.2, 0.2), {x.dot: -e * x.dot}, name="wall")
        self.methods, self.of = [da.Midpoint(), da.RungeKutta4(), da.DormandPrince8()], [x, x.dot, S]
        self.start = self.starts(x, least=0.4) | self.starts(x.dot, S)

    def turn(self):
        """A rotation with an event in its matrix, or in its angular velocity."""
        w, c = R.omega, self.fraction
        kinetic = (a * w[0] ** 2 + b * w[1] ** 2 + w[2] ** 2 / 2) / 2
        self.system = da.System("turn", [R], kinetic=kinetic, potential=c(1, 3) * R[2, 2])
        places = R[2, 2] - Rational(1, 2), w[0] - c(0.1, 0.4), R[0, 0] - c(-0.2, 0.3)
        self.event = da.Event(places[self.draw.integers(3)], {w[0]: -e * w[0], w[1]: w[1] + w[0] / 5}, name="wall")
        self.methods, self.of = [da.Midpoint(), da.RungeKutta4(), da.Trapezoidal()], [R[2, 2], w[1]]
        cos, sin = np.cos(0.7), np.sin(0.7)
        self.start = {R: np.array([[1, 0, 0], [0, cos, -sin], [0, sin, cos]])} | self.starts(*w, least=0.5, most=2.5)

    def pose(self):
        """A body in the plane, with walls."""
        v, c = (*P.velocity, *P.omega), self.fraction
        kinetic = (a * v[0] ** 2 + b * v[1] ** 2 + v[0] * v[2] / 5 + v[2] ** 2) / 2
        self.system = da.System(
            "pose", [P], kinetic=kinetic, potential=c(0.5, 1.5) * P[0, 2] ** 2 + P[1, 2] + P[0, 0] / 3
        )
        walls = P[0, 2] - c(0.1, 0.4), P[1, 2] - c(0, 0.25)
        self.event = da.Event(walls[self.draw.integers(2)], {v[0]: -e * v[0], v[2]: v[2] + v[0] / 5}, name="wall")
        self.methods, self.of = [da.Midpoint(), da.RungeKutta4(), da.Trapezoidal()], [P[0, 2], P[0, 0], v[1]]
        self.start = {P: np.array([[1, 0, 0.5], [0, 1, 0.3], [0, 0, 1]])} | self.starts(*v)

    def rod(self):
        """A holonomic constraint; events there record or stop."""
        self.system = da.System(
            "rod", [x, y], lagrangian=b * (x.dot**2 + y.dot**2) / 2 - a * y, constraints=[x**2 + y**2 - 1]
        )
        self.event = da.Event(x - self.fraction(-0.1, 0.1), ["record", "stop"][self.draw.integers(2)], name="wall")
        self.methods, self.of, self.own = [da.Midpoint(), da.Rattle(), da.RungeKutta4()], [x, y, x.dot], {}
        self.start, self.following = self.starts(x, least=0.3, most=0.8) | self.starts(x.dot), {"following": [y]}

    def run(self, variable=None, change=0.0):
        """The motion, after a change of a parameter or of its start."""
        numbers, start = self.parameters | self.own, dict(self.start)
        for table in (numbers, start):
            if variable in table:
                table[variable] = table[variable] + change
        if self.following:
            start[y] = -np.sqrt(1 - start[x] ** 2)
        given = {"steps": 120, "every": self.every, "events": [self.event], "progress": False}
        return da.simulate(self.system, self.method, h=H, start=start, parameters=numbers, **given)

    @property
    def variables(self):
        return [*self.parameters, *self.own, *(s for s in self.start if np.ndim(self.start[s]) == 0)]


def difference(runs, value):
    """A derivative from motions with a variable changed by -2, -1, 1 and 2 times D."""
    far, near = (value(runs[i]) - value(runs[3 - i]) for i in (3, 2))
    return (8 * near - far) / (12 * D)


def worst(case):
    """The largest relative deviation from differences, how many were compared, and how many crossings there are."""
    base = case.run()
    found = da.sensitivity(
        base, case.of, case.variables, events=[case.event], parameters=case.own or None, **case.following
    )
    apart = [k for k, t in enumerate(base.time) if all(abs(t - c.time) > 1e-3 or c.time == t for c in base.events)]
    deviation, compared = 0.0, 0
    for variable in case.variables:
        runs = [case.run(variable, i * D) for i in (-2, -1, 1, 2)]
        steps = [[c.step for c in run.events] for run in (base, *runs)]
        if any(s != steps[0] for s in steps):
            continue
        pairs = [
            (difference(runs, lambda run, q=q: run.quantity(q)[apart]), found[q, variable][apart]) for q in case.of
        ]
        at = case.variables.index(variable)
        for i in range(len(base.events)):
            pairs.append((difference(runs, lambda run, i=i: run.events[i].time), found.crossing_times[i, at]))
        for expected, got in pairs:
            deviation = max(deviation, np.abs(got - expected).max() / max(np.abs(expected).max(), 0.01))
            compared += 1
    return deviation, compared, len(base.events)


KINDS = ["line", "plane", "heat", "turn", "pose", "rod"]


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_derivatives_through_events(kind):
    deviation, compared, crossings = worst(Case(kind, 4))
    assert deviation < 1e-7 and compared > 5 and crossings


@pytest.mark.verify
@pytest.mark.parametrize("kind", KINDS)
def test_derivatives_through_events_of_fifty_systems(kind):
    found = [worst(Case(kind, seed)) for seed in range(10, 20)]
    assert max(deviation for deviation, _, _ in found) < 1e-7
    assert sum(compared for _, compared, _ in found) > 100 and sum(crossings > 0 for _, _, crossings in found) > 4


@pytest.mark.slow
def test_control_without_the_jump_derivatives_differ(monkeypatch):
    """The saltation: an event at a time that is taken as fixed."""
    from dalembert.analysis.motions import sensitivity

    crossing = sensitivity._Walk.crossing

    def fixed(self, c):
        there = crossing(self, c)
        part, _ = self.found
        self.found = part, 0 * self.shift
        return there

    monkeypatch.setattr(sensitivity._Walk, "crossing", fixed)
    assert worst(Case("line", 4))[0] > 1e-3
