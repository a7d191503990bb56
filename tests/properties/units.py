"""The same system in other units: coordinates, time, energy and constraints multiplied by constants."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import sympy

import dalembert as da
from dalembert import gallery
from dalembert.theory.conserved.on_shell import shell


@dataclass(frozen=True)
class Units:
    """What one new unit is in old ones; energies are multiplied by `energy`, the k-th constraint by `constraints[k]`."""

    coordinates: dict
    time: sympy.Rational
    energy: sympy.Rational
    constraints: tuple

    def old(self, system):
        """Replacements of the old symbols by the new ones."""
        found = {da.time: self.time * da.time}
        for q in system.coordinates:
            found[q] = self.coordinates[q] * q
            found[q.dot] = self.coordinates[q] / self.time * q.dot
        return found

    def apply(self, system):
        """The system in the new units."""
        old = self.old(system)
        q = system.coordinates

        def new(e, factor=1):
            return factor * sympy.sympify(e).xreplace(old)

        energies = {role: new(e, self.energy) for role, e in system.energies.items()}
        return da.System(
            system.name, q, **energies,
            forces={c: new(f, self.energy * self.coordinates[c]) for c, f in zip(q, system.forces, strict=True)},
            dissipation=new(system.dissipation, self.energy * self.time),
            constraints=[new(c.expression, k) for c, k in zip(system.constraints, self.constraints, strict=True)],
        )  # fmt: skip

    def value(self, symbol, number):
        """An old number in the new units."""
        c = getattr(symbol, "coordinate", symbol)
        factor = self.coordinates[c] / (self.time if symbol is not c else 1)
        return float(Fraction(str(number)) / Fraction(int(factor.p), int(factor.q)))


def random_units(system, rng, decades=12):
    """Units by powers of ten; angles, which occur in sines or turn a radius, keep theirs."""
    angles = {s for f in system.lagrangian.atoms(sympy.sin, sympy.cos, sympy.tan) for s in f.free_symbols}
    angles |= {q for q in system.coordinates if system.lagrangian.diff(q.dot, 2).free_symbols & set(system.coordinates)}
    angles |= {s for c in system.constraints for f in c.expression.atoms(sympy.sin, sympy.cos) for s in f.free_symbols}

    def power():
        return sympy.Integer(10) ** rng.randint(-decades, decades)

    length = power()
    scales = {q: sympy.S.One if q in angles else length for q in system.coordinates}
    return Units(scales, power(), power(), tuple(power() for _ in system.constraints))


def numeric(example):
    """A gallery system with its default parameters put in, as decimals."""
    system = example.system
    put = {p: sympy.Float(str(example.parameters[p])) for p in system.parameters if p in example.parameters}

    def new(e):
        return sympy.sympify(e).xreplace(put)

    return da.System(
        system.name, system.coordinates, **{role: new(e) for role, e in system.energies.items()},
        forces={c: new(f) for c, f in zip(system.coordinates, system.forces, strict=True)},
        dissipation=new(system.dissipation),
        constraints=[new(c.expression) for c in system.constraints],
    )  # fmt: skip


def mechanical_gallery():
    """The gallery systems without entropies, rotations, variations or multipliers of their own, with all parameters given."""
    for name in gallery.names():
        example = gallery.load(name)
        s = example.system
        lines = len(s.factors) == len(s.coordinates)  # tests/identities/test_rotations.py has the others in other units
        plain = not s.has_own_variations and not s.principle.carried(s)
        if lines and plain and not s.entropies and set(s.parameters) <= set(example.parameters):
            yield name, example


def generated(seed):
    """A random system of one to three coordinates: forces, walls, rods, rolling, central and pair potentials."""
    rng = random.Random(seed)
    q = da.coordinates("x y z")[: rng.randint(1, 3)]
    number = lambda: sympy.Float(rng.choice(("0.3", "1.7", "2.5", "9.81", "1.25", "3", "0.75")))  # noqa: E731
    kinetic = sum(number() * c.dot**2 for c in q) / 2
    if rng.random() < 0.5:
        kinetic = number() * sum(c.dot**2 for c in q) / 2
    r = sympy.sqrt(sum(c**2 for c in q))
    wall = number()
    terms = {
        "gravity": lambda: number() * q[-1],
        "spring": lambda: number() * sum(c**2 for c in q) / 2,
        "springs": lambda: sum(number() * c**2 for c in q) / 2,
        "kepler": lambda: -number() / r,
        "yukawa": lambda: -number() * sympy.exp(-r / number()) / r,
        "quartic": lambda: number() * q[0] ** 4 / 4,
        "wall": lambda: sympy.Piecewise((0, q[0] < wall), (number() * (q[0] - wall) ** 2, True)),
        "pair": lambda: number() * (q[0] - q[-1]) ** 2 / 2,
        "free": lambda: sympy.S.Zero,
    }
    names = rng.sample(sorted(terms), rng.randint(1, 2))
    constraints = []
    if len(q) > 1 and rng.random() < 0.3:
        constraints = [rng.choice([r**2 - number() ** 2, q[0] - number() * q[1], q[0].dot - number() * q[1].dot])]
    if len(q) == 3 and not constraints and rng.random() < 0.3:
        constraints = [q[0].dot - number() * q[2] * q[1].dot]
    forces = {q[0]: -number() * q[0].dot} if rng.random() < 0.2 else {}
    return da.System(
        f"{' and '.join(names)}, {seed}", q, kinetic=kinetic, potential=sum(terms[n]() for n in names),
        constraints=constraints, forces=forces,
    )  # fmt: skip


STEPS, SAME = 40, 1e-7
"""Steps of a run; relative difference of positions that rounding and tolerances account for."""


def runs(system, units, seed, methods):
    """Short runs with several methods in both units: statuses and positions compared."""
    found = Counter()
    at = shell(system).states(1, seed)
    if at is None:
        return found
    values = dict(zip(shell(system).symbols, map(float, at.inputs[0]), strict=True))
    start = {s: values[s] for s in (*system.coordinates, *system.velocities)}
    begin, pace = values[da.time], float(units.time)
    for method in methods:
        if not method.takes(system):
            continue
        one = da.simulate(
            system, method, h=0.01, steps=STEPS, start={**start, da.time: begin}, strict=False
        )  # fmt: skip
        new = {s: units.value(s, x) for s, x in start.items()}
        two = da.simulate(
            units.apply(system), method, h=0.01 / pace, steps=STEPS, start={**new, da.time: begin / pace}, strict=False
        )  # fmt: skip
        found["runs"] += 1
        found["another status"] += one.status is not two.status
        found["other positions"] += not all(
            _same(one[q], two[q] * float(units.coordinates[q])) for q in system.coordinates
        )
    return found


def _same(a, b):
    known = np.isfinite(a) & np.isfinite(b)
    scale = np.abs(a[known]).max(initial=0)
    return bool((np.isfinite(a) == np.isfinite(b)).all() and (np.abs(a - b)[known] <= SAME * scale).all())
