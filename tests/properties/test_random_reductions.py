"""Random systems that a group leaves invariant: reduced, simulated and reconstructed is the motion of the whole system.

Groups are lines, the plane, turns, SE(2), SE(2) with a line, Heisenberg's and SO(3); up to two shapes and two constraints,
friction in some; discrete systems with a connection of their own in some, of which some are affine.
"""

from __future__ import annotations

import random
from typing import Any, NamedTuple

import numpy as np
import pytest
import sympy

import dalembert as da
from dalembert import cos, sin

x, y, z, phi, r, s = da.coordinates("x y z phi r s")
a = da.parameters("e1 e2 e3 e4")
R = da.rotation("R")
H, STEPS = 0.02, 60


class Group(NamedTuple):
    own: list[Any]
    velocities: list[Any]
    """Velocities that the group leaves as they are."""
    action: dict[Any, Any]


def plane(angle):
    return {x: x * cos(angle) - y * sin(angle) + a[0], y: x * sin(angle) + y * cos(angle) + a[1], phi: phi + angle}


BODY = [cos(phi) * x.dot + sin(phi) * y.dot, -sin(phi) * x.dot + cos(phi) * y.dot, phi.dot]
GROUPS = {
    "line": Group([x], [x.dot], {x: x + a[0]}),
    "plane": Group([x, y], [x.dot, y.dot], {x: x + a[0], y: y + a[1]}),
    "turn": Group([phi], [phi.dot], {phi: phi + a[0]}),
    "SE(2)": Group([x, y, phi], BODY, plane(a[2])),
    "SE(2) x R": Group([x, y, phi, z], [*BODY, z.dot], {**plane(a[2]), z: z + a[3]}),
    "Heisenberg": Group(
        [x, y, z], [x.dot, y.dot, z.dot - x * y.dot], {x: x + a[0], y: y + a[1], z: z + a[2] + a[0] * y}
    ),
    "SO(3)": Group([R], list(R.omega), {R: da.groups.SO3.cayley(list(a[:3])) * R.matrix}),
}


class Drawn:
    """A random system with its symmetry and a start."""

    def __init__(self, seed: int):
        self.chance = chance = random.Random(seed)
        shapes = [r, s][: chance.choice([0, 1, 1, 2])]
        self.group = chance.choice(list(GROUPS))
        own, velocities, action = GROUPS[self.group]
        self.shapes = shapes = shapes or ([r] if len(own) < 3 and R not in own else [])
        w = [*velocities, *(q.dot for q in shapes)]
        order = chance.sample(range(len(w)), len(w))
        kinetic = sum((1 + self.number(0, 1)) * v**2 for v in w) / 2 + self.factor() * w[order[0]] * w[order[-1]] / 4
        m = min(chance.choice([0, 0, 1, 1, 2]), len(w) - 1)
        self.constraints = [
            w[k] + sum(self.factor() * w[i] / 2 for i in chance.sample(order[m:], min(2, len(w) - m)))
            for k in order[:m]
        ]
        self.system = da.System(
            f"random {seed}", [*own, *shapes], kinetic=kinetic, constraints=self.constraints,
            potential=sum(q**2 / 2 + self.number() * sin(q) / 3 for q in shapes),
            forces={q: -q.dot / 5 for q in shapes} if chance.random() < 0.3 else {},
        )  # fmt: skip
        self.symmetry = da.Symmetry(action, elements=list(a[: len(velocities)]))
        self.place = {q: chance.uniform(-0.4, 0.4) for q in [*own, *shapes] if q is not R}
        known = dict(self.place)
        if R in own:
            self.place[R] = da.groups.SO3.exp([chance.uniform(-0.5, 0.5) for _ in range(3)])
        self.start = {**self.place, **self.speeds(known)}

    def number(self, low=-1.0, high=1.0):
        return sympy.Rational(round(4 * self.chance.uniform(low, high)) or 1, 4)

    def factor(self):
        """A number, or a function of a shape."""
        if not self.shapes or self.chance.random() < 0.3:
            return self.number()
        q = self.chance.choice(self.shapes)
        return self.number() + self.number() * self.chance.choice([sin(q), cos(q), q])

    def speeds(self, known):
        """Velocities that the constraints admit."""
        dots = [q.dot for q in self.system.coordinates]
        v = np.array([self.chance.uniform(-0.7, 0.7) for _ in dots])
        rows = np.array([[float(c.diff(d).subs(known)) for d in dots] for c in self.constraints])
        if len(rows):
            v -= np.linalg.pinv(rows) @ (rows @ v)
        found = dict(zip(dots, map(float, v), strict=True))
        turns = [found.pop(d) for d in list(R.omega) if d in found]
        return found | ({R.omega: turns} if turns else {})

    def connection(self, system):
        """Any function of two shapes gives one; with a constant that is not zero it is affine only."""
        if R in self.place or not self.shapes or self.chance.random() < 0.4:
            return None
        steps = [q.at(1) - q.at(0) for q in self.shapes]
        affine = self.chance.choice([0, sympy.Rational(1, 50)])
        table = {e: affine + sum(self.number() * d for d in steps) + sin(steps[0]) * self.number() / 4 for e in
                 self.symmetry.elements}  # fmt: skip
        return da.DiscreteConnection(self.symmetry, list(system.coordinates), trivial=table)

    def off(self, back, whole):
        return max(np.abs(back[q] - whole[q]).max() for q in self.place)


SEEDS = [pytest.param(k, marks=[] if k == 14 else [pytest.mark.slow, pytest.mark.verify]) for k in range(40)]


@pytest.mark.parametrize("seed", SEEDS)
def test_discrete(seed):
    drawn = Drawn(seed)
    discrete = da.discretise(drawn.system, da.midpoint_map)
    reduced = da.reduce(discrete, drawn.symmetry, connection=drawn.connection(drawn.system))
    options = {"h": H, "steps": STEPS, "start": drawn.start}
    whole, run = (da.simulate(of, **options) for of in (discrete, reduced))
    back = reduced.reconstruct(run, at=drawn.place)
    assert drawn.off(back, whole) < 1e-11
    other = reduced.reconstruct(run, at={**drawn.place, **({x: drawn.place[x] + 1e-6} if x in drawn.place else {})})
    assert x not in drawn.place or drawn.off(other, whole) > 1e-7  # control


@pytest.mark.parametrize("seed", SEEDS)
def test_continuous(seed):
    drawn = Drawn(seed)
    reduced = da.reduce(drawn.system, drawn.symmetry)
    options = {"h": H / 2, "steps": STEPS, "start": drawn.start}
    whole, run = (da.simulate(of, da.Reference(rtol=1e-12), **options) for of in (drawn.system, reduced))
    assert drawn.off(reduced.reconstruct(run, at=drawn.place), whole) < 1e-7
