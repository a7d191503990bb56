"""How far the library is from the documents: each function gives an error, as a number.

A `spoil` other than 0 changes velocities, gravity and stiffness by that fraction on one side of the comparison: the control.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
import sympy

import dalembert as da

from .printed import EQUATIONS, solved

REFERENCE = da.Reference(1e-13, 1e-13)
load = cache(da.gallery.load)


@dataclass(frozen=True)
class Fixture:
    """A state of a gallery system with the numbers printed for it; what is not given is taken from the gallery."""

    system: str
    q: tuple[float, ...] = ()
    v: tuple[float, ...] = ()
    accelerations: tuple[float, ...] = ()
    multipliers: tuple[float, ...] = ()
    energy: float | None = None
    later: tuple[float, tuple[float, ...], tuple[float, ...]] | None = None
    """(time, positions, velocities) of the motion from this state."""
    time: float = 0.0
    decimals: int = 9
    """How many are printed."""
    parameters: Mapping[str, float] = field(default_factory=dict)

    def values(self, spoil: float = 0.0) -> dict[str, float]:
        own = {p.name: v for p, v in load(self.system).parameters.items()} | dict(self.parameters)
        return {name: value * (1 + spoil) if name in ("g", "k") else value for name, value in own.items()}

    def state(self, spoil: float = 0.0) -> tuple[list[float], list[float]]:
        example = load(self.system)
        q = self.q or [example.start[c] for c in example.system.coordinates]
        v = self.v or [example.start[c] for c in example.system.velocities]
        return list(q), [x * (1 + spoil) for x in v]


def evaluated(system: da.System, q: Sequence[float], v: Sequence[float], parameters: Any, t: float = 0.0) -> Any:
    at = dict(zip((*system.coordinates, *system.velocities), (*q, *v), strict=True))
    return da.evaluate(system, at=at | {da.time: t}, parameters=parameters)


def _largest(differences: Any) -> float:
    return float(np.max(np.abs(np.asarray(differences, dtype=float))))


def printed(fixture: Fixture, spoil: float = 0.0) -> float:
    """The largest distance of accelerations, multipliers and h = p v - L at a state from the printed digits."""
    now = evaluated(load(fixture.system).system, *fixture.state(spoil), fixture.values(spoil), fixture.time)
    found = [*(now.accelerations.values() if fixture.accelerations else ())]
    found += [
        *(now.multipliers if fixture.multipliers else ()),
        *([] if fixture.energy is None else [now.jacobi_integral]),
    ]
    said = [*fixture.accelerations, *fixture.multipliers, *([] if fixture.energy is None else [fixture.energy])]
    return _largest(np.subtract(found, said))


def motion(fixture: Fixture, until: float, spoil: float = 0.0, steps: int = 1) -> Any:
    """The motion from a fixture, by an adaptive method of order 8."""
    system, (q, v) = load(fixture.system).system, fixture.state(spoil)
    start = dict(zip((*system.coordinates, *system.velocities), (*q, *v), strict=True)) | {da.time: 0.0}
    return da.simulate(system, REFERENCE, h=until / steps, steps=steps, start=start, parameters=fixture.values(spoil))


def later(fixture: Fixture, spoil: float = 0.0) -> float:
    """The largest distance of positions and velocities from those printed for a later time."""
    assert fixture.later is not None
    until, q, v = fixture.later
    run, system = motion(fixture, until, spoil), load(fixture.system).system
    found = [run[s][-1] for s in (*system.coordinates, *system.velocities)]
    return _largest(np.subtract(found, [*q, *v]))


def equations(fixture: Fixture, spoil: float = 0.0) -> float:
    """The largest relative distance of accelerations and multipliers from the printed equations, solved in 30 digits.

    At the fixture and at four random states that the constraints allow.
    """
    system, values, spoilt = load(fixture.system).system, fixture.values(), fixture.values(spoil)
    rng, errors = np.random.default_rng(7), []
    for k in range(5):
        t = fixture.time if not k else float(rng.uniform(0, 1))
        q, v = fixture.state() if not k else admissible(system, *fixture.state(), values, t, rng)
        now = evaluated(system, q, v, values, t)
        found = [*now.accelerations.values(), *now.multipliers]
        v = [x * (1 + spoil) for x in v]
        said = np.array([float(x) for x in solved(EQUATIONS[fixture.system], q, v, spoilt, t, len(found))])
        errors.append(_largest(found - said) / max(_largest(said), 1e-3))
    return max(errors)


def beside(fixture: Fixture) -> list[tuple[str, float, float]]:
    """Each acceleration and multiplier at the fixture: its name, by the printed equations solved in 30 digits, and here."""
    system, values, (q, v) = load(fixture.system).system, fixture.values(), fixture.state()
    now = evaluated(system, q, v, values, fixture.time)
    names = [*(str(c.ddot) for c in system.coordinates), *map(str, system.multipliers)]
    found = [*now.accelerations.values(), *now.multipliers]
    said = solved(EQUATIONS[fixture.system], q, v, values, fixture.time, len(found))
    return [(n, float(a), float(b)) for n, a, b in zip(names, said, found, strict=True)]


def admissible(system: da.System, q: Any, v: Any, values: Mapping[str, float], t: float, rng: Any) -> Any:
    """A random state near (q, v) that satisfies the constraints at time t."""
    symbols = [system.coordinates, system.velocities, system.parameters, da.time]
    p = [values[s.name] for s in system.parameters]
    holonomic = [c for c in system.constraints if c.is_holonomic]
    phi = sympy.lambdify(symbols, [[c.expression, *c.coefficients] for c in holonomic], "numpy")
    rows = sympy.lambdify(symbols, [[c.drift, *c.coefficients] for c in system.constraints], "numpy")
    q = np.asarray(q) + rng.uniform(-0.2, 0.2, len(q))
    v = np.asarray(v) + rng.uniform(-0.6, 0.6, len(v))
    for _ in range(50 if holonomic else 0):
        table = np.array(phi(q, v, p, t), dtype=float)
        q = q - np.linalg.pinv(table[:, 1:]) @ table[:, 0]
    if system.constraints:
        table = np.array(rows(q, v, p, t), dtype=float)
        v = v - np.linalg.pinv(table[:, 1:]) @ (table[:, 0] + table[:, 1:] @ v)
    return q.tolist(), v.tolist()


def kept(fixture: Fixture, until: float, energy: bool = True, wrong: sympy.Expr | None = None) -> float:
    """How far the invariants of the gallery, and the energy if it is one, move along a motion, relative to 1 + size."""
    example, run = load(fixture.system), motion(fixture, until, steps=20)
    rows = [run.quantity(e) for e in example.invariants.values()] + ([run.jacobi_integral] if energy else [])
    if wrong is not None:
        rows = [run.quantity(wrong)]
    return max(float(np.max(np.abs(row - row[0])) / (1 + np.max(np.abs(row)))) for row in rows)


def particles(*masses_and_places: tuple[Any, Sequence[Any]], coordinates: Sequence[da.System]) -> sympy.Expr:
    """The kinetic energy of particles, from their places r(q, t)."""
    total = sympy.S.Zero
    for mass, place in masses_and_places:
        for component in map(sympy.sympify, place):
            rate = component.diff(da.time) + sum(component.diff(c) * c.dot for c in coordinates)
            total += mass * rate**2 / 2
    return total
