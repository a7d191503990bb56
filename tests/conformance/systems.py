"""Systems on which claims are measured: nonlinear, non-separable, time-dependent, forced, constrained."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import dalembert as da
from dalembert import cos, exp, sin


@dataclass(frozen=True, eq=False)
class Case:
    system: da.System
    start: dict[Any, float]
    parameters: dict[Any, float]


x, y, z = da.coordinates("x y z")
a, b = da.parameters("a b", positive=True)
t = da.time

_COUPLED = (1 + y**2) * x.dot**2 / 2 + (2 + sin(x)) * y.dot**2 / 2 + a * cos(x * y) * x.dot * y.dot
_MASSES = (x.dot**2 + a * y.dot**2) / 2
_WELL = x**2 * y - y**3 / 3 + (x**2 + y**2) / 2 + b * cos(2 * t) * x
_ROUGH = x**4 / 4 + b * x * y + (1 + sin(3 * t) / 2) * y**2


@cache
def free() -> Case:
    """Nonlinear, non-separable, explicitly time-dependent."""
    system = da.System("free", [x, y], kinetic=_COUPLED, potential=_ROUGH)
    return Case(system, {x: 0.7, y: -0.4, x.dot: 0.3, y.dot: 0.9}, {a: 0.3, b: 0.8})


@cache
def forced() -> Case:
    """The same with a Rayleigh dissipation, a follower force and a driving force."""
    system = da.System(
        "forced",
        [x, y],
        kinetic=_COUPLED,
        potential=_ROUGH,
        forces={x: a * y * y.dot + cos(2 * t), y: -sin(x) * x.dot},
        dissipation=b * (x.dot**2 + exp(x / 2) * y.dot**2) / 5,
    )
    return Case(system, {x: 0.7, y: -0.4, x.dot: 0.3, y.dot: 0.9}, {a: 0.3, b: 0.8})


@cache
def separable() -> Case:
    """Constant masses and a time-dependent potential: what Stormer-Verlet takes."""
    system = da.System("separable", [x, y], kinetic=_MASSES, potential=_WELL)
    return Case(system, {x: 0.3, y: -0.2, x.dot: 0.1, y.dot: 0.4}, {a: 1.5, b: 0.2})


@cache
def separable_forced() -> Case:
    """The same with a force that has no potential."""
    system = da.System("separable, forced", [x, y], kinetic=_MASSES, potential=_WELL, forces={y: sin(t) * x})
    return Case(system, {x: 0.3, y: -0.2, x.dot: 0.1, y.dot: 0.4}, {a: 1.5, b: 0.2})


@cache
def holonomic() -> Case:
    """A particle on a swelling ellipsoid, in a nonlinear potential."""
    system = da.System(
        "holonomic",
        [x, y, z],
        kinetic=(x.dot**2 + a * y.dot**2 + z.dot**2) / 2,
        potential=x * y + z**3 / 3 + b * z,
        constraints=[x**2 + 2 * y**2 + 3 * z**2 - 3 - sin(t) / 4],
    )
    return Case(system, {x: 0.0, y: 0.0, z: 1.0, x.dot: 0.8, y.dot: 0.5}, {a: 1.4, b: 0.6})


@cache
def nonholonomic() -> Case:
    """An affine, time-dependent kinematic constraint in a nonlinear potential."""
    system = da.System(
        "nonholonomic",
        [x, y, z],
        kinetic=(x.dot**2 + (1 + x**2 / 4) * y.dot**2 + a * z.dot**2) / 2,
        potential=x**4 / 4 + x * y + y**2 + b * z**2 / 2,
        constraints=[z.dot - y * x.dot - sin(t) / 4],
    )
    return Case(system, {x: 0.6, y: 0.5, z: 0.1, x.dot: 0.3, y.dot: -0.5}, {a: 1.2, b: 0.7})


@cache
def independent_variations() -> Case:
    """Virtual displacements that are not those of the constraint."""
    system = da.System(
        "independent variations",
        [x, y, z],
        kinetic=(x.dot**2 + y.dot**2 + a * z.dot**2) / 2,
        potential=x**4 / 4 + x * y + b * y**2,
        constraints=[z.dot - y * x.dot],
        variations=[z.dot - y * x.dot - x * y.dot / 2],
    )
    return Case(system, {x: 0.6, y: 0.5, z: 0.1, x.dot: 0.3, y.dot: -0.5}, {a: 1.2, b: 0.7})


@cache
def both_kinds() -> Case:
    """A holonomic and a kinematic constraint together, with friction."""
    system = da.System(
        "holonomic and kinematic",
        [x, y, z],
        kinetic=(x.dot**2 + y.dot**2 + a * z.dot**2) / 2,
        potential=b * z + x * y,
        dissipation=(x.dot**2 + z.dot**2) / 20,
        constraints=[x**2 + y**2 + z**2 - 2, z.dot - y * x.dot + x * y.dot / 3],
    )
    return Case(system, {x: 1.0, y: 0.0, z: 1.0, y.dot: 0.9}, {a: 1.2, b: 0.7})


@cache
def chetaev() -> Case:
    """Appell's kind of constraint, nonlinear in the velocities; it moves, so its reaction works."""
    system = da.System(
        "nonlinear constraint",
        [x, y, z],
        kinetic=(x.dot**2 + (1 + x**2 / 4) * y.dot**2 + a * z.dot**2) / 2,
        potential=x**4 / 4 + x * y + b * z**2 / 2,
        constraints=[x.dot**2 + y.dot**2 - (1 + sin(t) / 5) * z.dot**2],
    )
    return Case(system, {x: 0.6, y: 0.5, z: 0.1, x.dot: 0.6, y.dot: 0.8, z.dot: 1.0}, {a: 1.2, b: 0.7})


ALL = (free, forced, holonomic, nonholonomic, independent_variations, both_kinds, chetaev)
