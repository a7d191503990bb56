"""Whole systems made at random, and what must be the same of each: units and decimals.

Each heading is a function of a seed. It makes a system, asks the same question in two ways, and returns what differs, in
words; an empty list if nothing does. `Skipped` says why a system was not compared. With `broken` one decision is spoilt on
purpose: the comparison must then find differences.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from unittest import mock

import numpy as np
import sympy
from sympy import Rational, cos, exp, sin, sqrt

import dalembert as da
from dalembert.model.scales import system_scales
from dalembert.theory.conserved import state_source
from dalembert.theory.conserved.on_shell import Shell, shell
from tests.properties.test_units import verdict
from tests.properties.units import random_units

SAME = 1e-7
"""Relative difference of numbers that rounding and tolerances account for."""

STEPS = 20
METHODS = (da.Midpoint(), da.Trapezoidal(), da.RungeKutta4(), da.Gauss(2), da.LeftPoint())


class Skipped(Exception):
    """A system that is not compared, with the reason."""


# systems


def numbers(rng: random.Random, kind: Callable[[str], Any]) -> Callable[[], Any]:
    """Decimals of one to four digits, each written out and read by `kind`."""
    plain = ("0.3", "1.7", "2.5", "9.81", "1.25", "3", "0.75", "2")

    def number() -> Any:
        return kind(rng.choice(plain) if rng.random() < 0.5 else f"{rng.uniform(0.2, 9):.{rng.randint(1, 3)}f}")

    return number


def system(seed: int, kind: Callable[[str], Any] = sympy.Float) -> da.System:
    """One to three coordinates: inertia, potentials, walls, fields, drives, friction, rods, rails, rolling."""
    rng = random.Random(seed)
    number = numbers(rng, kind)
    q = da.coordinates("x y z")[: rng.choice((1, 2, 2, 2, 3, 3))]
    chosen = rng.sample(sorted(POTENTIALS), rng.randint(1, 2))
    potential = sum(POTENTIALS[name](q, number) for name in chosen)
    given: dict[str, Any] = {"kinetic": _inertia(q, number, rng)}
    if len(q) > 1 and rng.random() < 0.15:
        field = number() * (q[0] * q[1].dot - q[1] * q[0].dot) / 2
        given = {"lagrangian": given["kinetic"] + field - potential}
    else:
        given["potential"] = potential
    if rng.random() < 0.2:
        c = rng.choice(q)
        given["forces"] = {c: rng.choice([-number() * c.dot, number() * sin(number() * da.time), number() * da.time])}
    if len(q) > 1 and rng.random() < 0.35:
        given["constraints"] = [_constraint(q, number, rng)]
    return da.System(f"{' and '.join(chosen)}, {seed}", q, **given)


def _inertia(q: tuple[Any, ...], number: Callable[[], Any], rng: random.Random) -> Any:
    own = [number()] * len(q) if rng.random() < 0.5 else [number() for _ in q]
    kinetic = sum(m * c.dot**2 for m, c in zip(own, q, strict=True)) / 2
    if len(q) > 1 and rng.random() < 0.2:  # a symmetric coupling that leaves the masses positive
        kinetic += number() * (q[0].dot + q[1].dot) ** 2 / 2
    if len(q) > 1 and rng.random() < 0.15:  # a radius and an angle
        kinetic = number() * (q[0].dot ** 2 + q[0] ** 2 * q[1].dot ** 2) / 2 + sum(c.dot**2 for c in q[2:])
    return kinetic


def _r(q: tuple[Any, ...]) -> Any:
    return sqrt(sum(c**2 for c in q))


def _wall(q: tuple[Any, ...], number: Callable[[], Any]) -> Any:
    at = number()
    return sympy.Piecewise((0, q[0] < at), (number() * (q[0] - at) ** 2, True))


POTENTIALS: dict[str, Callable[[tuple[Any, ...], Callable[[], Any]], Any]] = {
    "gravity": lambda q, n: n() * q[-1],
    "spring": lambda q, n: n() * sum(c**2 for c in q) / 2,
    "springs": lambda q, n: sum(n() * c**2 for c in q) / 2,
    "kepler": lambda q, n: -n() / _r(q),
    "yukawa": lambda q, n: -n() * exp(-_r(q) / n()) / _r(q),
    "quartic": lambda q, n: n() * q[0] ** 4 / 4,
    "quartics": lambda q, n: n() * sum(c**2 for c in q) ** 2,
    "wall": _wall,
    "pair": lambda q, n: n() * (q[0] - q[-1]) ** 2 / 2,
    "tied": lambda q, n: n() * (q[0] - n() * q[-1]) ** 2 / 2,
    "morse": lambda q, n: n() * (1 - exp(-(q[0] - n()) / n())) ** 2,
    "inverse square": lambda q, n: n() / sum(c**2 for c in q),
    "root": lambda q, n: n() * sqrt(q[0] ** 2 + n() ** 2),
    "cubic": lambda q, n: n() * q[0] ** 2 * q[-1] - n() * q[-1] ** 3,
    "waves": lambda q, n: n() * cos(q[0]),
    "free": lambda q, n: sympy.S.Zero,
}


def _constraint(q: tuple[Any, ...], number: Callable[[], Any], rng: random.Random) -> Any:
    x, y, z = q[0], q[1], q[-1]
    kinds = [
        lambda: sum(c**2 for c in q) - number() ** 2,
        lambda: x - number() * y,
        lambda: number() * x + number() * y - number(),
        lambda: x.dot - number() * y.dot,
        lambda: number() * x.dot - number() * y.dot,
        lambda: y - number() * x**2,
    ]
    if len(q) == 3:
        kinds += [lambda: x.dot - number() * z * y.dot, lambda: number() * x.dot + number() * y.dot - number() * z.dot]
    return rng.choice(kinds)()


def start(given: da.System, seed: int) -> dict[Any, float]:
    """A state on the constraints, time included."""
    at = shell(given).states(1, seed)
    if at is None:
        raise Skipped("no state on the constraints was found")
    values = dict(zip(shell(given).symbols, map(float, at.inputs[0]), strict=True))
    return {s: values[s] for s in (*given.coordinates, *given.velocities, da.time)}


def _same(a: Any, b: Any, within: float = SAME) -> bool:
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    known = np.isfinite(a) & np.isfinite(b)
    size = np.abs(a[known]).max(initial=0)
    return bool((np.isfinite(a) == np.isfinite(b)).all() and (np.abs(a - b)[known] <= within * size).all())


def _said(one: dict[str, Any], two: dict[str, Any]) -> list[str]:
    return [f"{k}: {one[k]} / {two.get(k)}" for k in one if one[k] != two.get(k)]


# 1. units


def units(seed: int, broken: bool = False) -> list[str]:
    """Verdicts, counts, statuses and numbers of a system in two systems of units."""
    one = system(seed)
    change = random_units(one, random.Random(seed))
    if broken:  # units in which every rate is below the threshold
        still = dict.fromkeys(one.coordinates, sympy.S.One)
        change = replace(change, coordinates=still, time=sympy.S.One, energy=Rational(1, 10**15))
    two, method = change.apply(one), METHODS[seed % 4]
    with _absolute_threshold() if broken else _nothing():
        found = _said(verdict(one), verdict(two))
    at = start(one, seed)
    new = {s: change.value(s, x) if s != da.time else x / float(change.time) for s, x in at.items()}
    sizes = {q: float(change.coordinates[q]) for q in one.coordinates}
    slow = float(change.time) ** 2
    accelerations = [
        {q: a * f for (q, a), f in zip(da.evaluate(s, at=state).accelerations.items(), factors, strict=True)}
        for s, state, factors in ((one, at, [1.0] * 3), (two, new, [k / slow for k in sizes.values()]))
        for factors in (factors[: len(one.coordinates)],)
    ]
    free = da.evaluate(one.replace(constraints=[]), at=at).accelerations if one.constraints else {}
    terms = [*free.values()]  # forces that a constraint balances leave rounding: their sizes count
    if not _same(*([*a.values(), *terms] for a in accelerations)):
        found.append(f"accelerations: {accelerations}")
    if method.takes(one):
        first = da.simulate(one, method, h=0.01, steps=STEPS, start=at, strict=False)
        second = da.simulate(two, method, h=0.01 / float(change.time), steps=STEPS, start=new, strict=False)
        if first.status is not second.status and not (_overflows(first) and _overflows(second)):
            found.append(f"{method!r}: {first.status!r} / {second.status!r}")
        elif not all(_same(first[q], second[q] * sizes[q]) for q in one.coordinates):
            found.append(f"{method!r}: other positions")
    return found


def _overflows(run: da.Trajectory) -> bool:
    """Whether a run ended because its numbers exceed those there are: which are infinite first depends on the unit."""
    return run.status in (da.Status.LEFT_DOMAIN, da.Status.NOT_FINITE) and bool(np.nanmax(np.abs(run.energy)) > 1e100)


@contextmanager
def _nothing() -> Iterator[None]:
    yield


@contextmanager
def _absolute_threshold() -> Iterator[None]:
    """Rates below 1e-9 count as zero, at states of size one."""

    def absolute(self: Any, expression: Any, count: int = 16, seed: int = 101) -> bool | None:
        states = self.states(count, seed)
        return None if states is None else bool((np.abs(self.rates([expression], states)[0]) < 1e-9).all())

    plain = lambda s: dict.fromkeys(system_scales(s), 1.0)  # noqa: E731
    with mock.patch.object(Shell, "conserved", absolute), mock.patch.object(state_source, "system_scales", plain):
        yield


# 2. decimals


def decimals(seed: int, broken: bool = False) -> list[str]:
    """Verdicts and values of a system given with decimals, and with the fractions that these are."""
    read = (lambda text: sympy.Float(f"{float(text):.1g}")) if broken else sympy.Float
    one, two, method = system(seed, read), system(seed, Rational), METHODS[seed % 4]
    integrals = [da.first_integrals(s) for s in (one, two)]
    found = _said(*(verdict(s, known) for s, known in zip((one, two), integrals, strict=True)))
    listed = [[i.expression for i in some] for some in integrals]
    at = start(two, seed)
    values = [
        [float(sympy.sympify(e).subs(at)) for e in some] if all(map(_is_written, some)) else [] for some in listed
    ]
    if len(values[0]) == len(values[1]) and not all(_same(a, b, 1e-9) for a, b in zip(*values, strict=True)):
        found.append(f"integrals: {listed}")
    told = [da.evaluate(s, at=at) for s in (one, two)]
    for name in ("accelerations", "momenta"):
        if not _same(*(list(getattr(e, name).values()) for e in told), 1e-12):
            found.append(f"{name}: {[getattr(e, name) for e in told]}")
    if not _same(told[0].energy, told[1].energy, 1e-12):
        found.append(f"energy: {[e.energy for e in told]}")
    if method.takes(one):
        runs = [da.simulate(s, method, h=0.01, steps=STEPS, start=at, strict=False) for s in (one, two)]
        if runs[0].status is not runs[1].status or not all(
            _same(*(r[q] for r in runs), 1e-12) for q in one.coordinates if runs[0].status is da.Status.CONVERGED
        ):  # a run that ends magnifies rounding
            found.append(f"{method!r}: {[r.status for r in runs]}")
    return found


def _is_written(e: Any) -> bool:
    return not e.atoms(sympy.Piecewise)
