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
def vakonomic() -> Case:
    """The same constraint and potential, vakonomic: its multiplier is data of the start."""
    ideal = nonholonomic()
    system = ideal.system.replace(principle=da.Vakonomic())
    return Case(system, {**ideal.start, system.multipliers[0]: 0.4}, ideal.parameters)


@cache
def nonholonomic_forced() -> Case:
    """The same with everything that can depend on time doing so: a mass, the potential, forces, the constraint's form."""
    system = da.System(
        "nonholonomic, forced",
        [x, y, z],
        kinetic=((1 + sin(2 * t) / 3) * x.dot**2 + (1 + x**2 / 4) * y.dot**2 + a * z.dot**2) / 2,
        potential=x**4 / 4 + x * y + (1 + sin(3 * t) / 2) * y**2 + b * z**2 / 2,
        forces={x: cos(2 * t) * y - y.dot / 3},
        dissipation=z.dot**2 / 5,
        constraints=[z.dot - (1 + sin(2 * t) / 3) * y * x.dot - sin(t) / 4],
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


@cache
def upsilon() -> Case:
    """The Upsilon model of an affine constraint that moves, with functions Phi of its own: reactions depend on velocities."""
    ideal = nonholonomic()
    principle = da.Upsilon({x: y.dot * z, z: a * x.dot / 2})
    return Case(ideal.system.replace(principle=principle), ideal.start, ideal.parameters)


@cache
def vakonomic_nonlinear() -> Case:
    """A constraint that is nonlinear in the velocities and moves, vakonomic."""
    ideal = nonholonomic()
    constraint = z.dot - y * x.dot + x.dot * y.dot / 2 - y.dot**3 / 5 - sin(t) / 4
    system = ideal.system.replace(constraints=[constraint], principle=da.Vakonomic())
    return Case(system, {**ideal.start, system.multipliers[0]: 0.4}, ideal.parameters)


ALL = (free, forced, holonomic, nonholonomic, nonholonomic_forced, independent_variations, both_kinds, chetaev)
PRINCIPLES = (upsilon, vakonomic, vakonomic_nonlinear)


# -------------------- with heat --------------------

S, S1, S2 = da.entropies("S S1 S2")

# Masses that fall with the entropy: then -dL/dS is positive whatever the velocity.
_WARM_MASSES = (1 + a * exp(-S / 2)) * x.dot**2 / 2 + (2 + sin(x)) * y.dot**2 / 2
_BODY = exp(S) * (1 + x**2 / 8) + b * S


@cache
def heated() -> Case:
    """Kinetic energy and spring depend on the entropy; friction is nonlinear and depends on the temperature; heat flows."""
    T = exp(S)
    system = da.System(
        "heated",
        [x, y],
        kinetic=_WARM_MASSES,
        potential=x**4 / 4 + b * x * y + y**2,
        entropies=[S],
        internal_energy=_BODY,
        friction={x: -(0.3 + T / 5) * x.dot * (1 + x.dot**2), y: -0.2 * exp(x / 2) * y.dot / T},
        heat={S: cos(2 * t) / 4 + x.dot / 5},
        forces={y: sin(t) * x},
    )
    return Case(system, {x: 0.7, y: -0.4, S: 0.1, x.dot: 0.3, y.dot: 0.9}, {a: 0.3, b: 0.8})


@cache
def isolated() -> Case:
    """Two bodies that rub, conduct heat to each other by a conductance that varies, and feel nothing from outside."""
    system = da.System(
        "isolated",
        [x, y],
        kinetic=(1 + a * exp(-S1 / 2)) * x.dot**2 / 2 + (1 + x**2 / 4) * y.dot**2 / 2,
        potential=x**4 / 4 + x * y + y**2,
        entropies=[S1, S2],
        internal_energy=exp(S1) * (1 + y**2 / 8) + 2 * exp(S2 / 2),
        friction={S1: {x: -0.3 * exp(S1 / 3) * x.dot * (1 + y.dot**2)}, S2: {x: -0.1 * x.dot, y: -0.4 * y.dot}},
        conduction={(S1, S2): b * (1 + x**2)},
    )
    return Case(system, {x: 0.7, y: -0.4, S1: 0.8, S2: 0.1, x.dot: 0.3, y.dot: 0.9}, {a: 0.3, b: 0.8})


@cache
def warm_kinematic() -> Case:
    """Friction that warms, a reservoir, and a kinematic constraint."""
    system = da.System(
        "warm, kinematic",
        [x, y, z],
        kinetic=(x.dot**2 + (1 + x**2 / 4) * y.dot**2 + a * (1 + exp(-S)) * z.dot**2) / 2,
        potential=x**4 / 4 + x * y + y**2 + b * z**2 / 2,
        entropies=[S],
        internal_energy=exp(S),
        friction={x: -0.4 * exp(S / 2) * x.dot, y: -0.3 * y.dot * (1 + y.dot**2)},
        conduction={(S, 1.5 + sin(t) / 4): 0.3},
        constraints=[z.dot - y * x.dot],
    )
    return Case(system, {x: 0.6, y: 0.5, z: 0.1, S: 0.2, x.dot: 0.3, y.dot: -0.5}, {a: 1.2, b: 0.7})


@cache
def warm_holonomic() -> Case:
    """Friction that warms, on an ellipsoid."""
    system = da.System(
        "warm, holonomic",
        [x, y, z],
        kinetic=(x.dot**2 + a * y.dot**2 + (1 + exp(-S)) * z.dot**2) / 2,
        potential=x * y + z**3 / 3 + b * z,
        entropies=[S],
        internal_energy=exp(S) * (1 + x**2 / 8),
        friction={x: -0.4 * exp(S / 2) * x.dot, y: -0.3 * y.dot * (1 + y.dot**2)},
        constraints=[x**2 + 2 * y**2 + 3 * z**2 - 3],
    )
    return Case(system, {x: 0.0, y: 0.0, z: 1.0, S: 0.2, x.dot: 0.8, y.dot: 0.5}, {a: 1.4, b: 0.6})


@cache
def rubbed_in_time() -> Case:
    """Friction that changes in time."""
    system = da.System(
        "rubbed in time",
        [x],
        kinetic=x.dot**2 / 2,
        potential=x**4 / 4,
        entropies=[S],
        internal_energy=exp(S),
        friction={x: -(1 + sin(3 * t) / 2) * x.dot},
    )
    return Case(system, {x: 0.7, x.dot: 0.9, S: 0.1}, {})


THERMAL = (heated, isolated, warm_kinematic, warm_holonomic, rubbed_in_time)


# -------------------- where laws are broken --------------------


@cache
def rough_patch() -> Case:
    """A cart on a floor that is rough in one place: a step may be weighed by what it meets there, forward or backward."""
    system = da.System(
        "rough patch",
        [x],
        kinetic=x.dot**2 / 2,
        entropies=[S],
        internal_energy=exp(S),
        friction={x: -x.dot * exp(-2000 * (x - 0.3) ** 2)},
    )
    return Case(system, {x: 0.0, x.dot: 1.0, S: 0.0}, {})


@cache
def valve() -> Case:
    """Two bodies at rest whose conductance depends on how warm one of them is."""
    system = da.System(
        "valve",
        [x],
        kinetic=x.dot**2 / 2,
        entropies=[S1, S2],
        internal_energy=exp(S1) + exp(S2),
        conduction={(S1, S2): 1 + 10 * S1**2},
    )
    return Case(system, {x: 0.0, x.dot: 0.0, S1: 1.0, S2: 0.0}, {})
