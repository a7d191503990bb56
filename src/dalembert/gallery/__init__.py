"""Systems ready to use, one file per family, each with source, defaults, invariants and exact solution."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from ..errors import ModelError
from .example import Example

_FAMILIES = {
    "harmonic-oscillator": "oscillators",
    "damped-spring": "oscillators",
    "circulatory-oscillator": "oscillators",
    "pendulum": "pendulums",
    "pendulum-cartesian": "pendulums",
    "double-pendulum": "pendulums",
    "spherical-pendulum": "pendulums",
    "pendulum-chain": "pendulums",
    "kepler": "single_particles",
    "charged-particle": "single_particles",
    "particle": "single_particles",
    "nonholonomic-particle": "single_particles",
    "particle-on-parabola": "parabolas",
    "particle-over-parabola": "parabolas",
    "rolling-disk": "rolling",
    "knife-edge": "rolling",
    "chaplygin-sleigh": "rolling",
    "continuously-variable-transmission": "transmission",
    "block-on-incline": "pulleys",
    "block-and-hanging-weight": "pulleys",
    "poggendorff-pulleys": "pulleys",
    "wedge-and-disc": "pulleys",
    "hoop-on-incline": "pulleys",
    "two-discs-on-incline": "pulleys",
    "two-pulleys-with-spring": "pulleys",
    "double-pendulum-cartesian": "carried_pendulums",
    "cart-pendulum": "carried_pendulums",
    "cart-pendulum-driven": "carried_pendulums",
    "plate-hung-from-trolley": "carried_pendulums",
    "disc-with-pendulum-on-incline": "carried_pendulums",
    "disc-with-driven-rod": "carried_pendulums",
    "disc-with-slot-and-pendulum": "carried_pendulums",
    "pendulum-on-circle": "carried_pendulums",
    "double-pendulum-in-rotating-plane": "carried_pendulums",
    "particle-on-moving-circle": "hoops",
    "bead-on-rotating-hoop": "hoops",
    "turning-hoop-with-bead": "hoops",
    "hung-hoop-with-pulled-bead": "hoops",
    "hung-hoop-with-bead-on-spring": "hoops",
    "hoop-rolling-in-hoop": "hoops",
    "disc-rolling-in-hung-hoop": "hoops",
    "semi-hoop-on-line-with-bead": "hoops",
    "rod-with-knife-edge": "rods_and_plates",
    "bar-with-knife-edge": "rods_and_plates",
    "rod-on-driven-knives": "rods_and_plates",
    "sliding-ladder-with-bead": "rods_and_plates",
    "rod-on-two-axes": "rods_and_plates",
    "disc-under-leaning-rod": "rods_and_plates",
    "half-disc-rolling": "rods_and_plates",
    "rolling-semicircle-with-particle": "rods_and_plates",
    "half-disc-in-turning-plane": "rods_and_plates",
    "oscillator-on-moving-base": "springs_and_strings",
    "spring-on-rotating-disc": "springs_and_strings",
    "spring-pendulum-on-slider": "springs_and_strings",
    "binary-with-linear-attraction": "springs_and_strings",
    "particles-through-cone": "springs_and_strings",
    "car": "springs_and_strings",
    "cart-with-friction": "thermal",
    "newton-cooling": "thermal",
    "spring-in-gas": "thermal",
    "spring-against-gas": "thermal",
    "spring-against-gas-reduced": "thermal",
    "two-gas-chambers": "warming",
    "friction-heated-pendulum": "warming",
    "thermoelastic-double-pendulum": "warming",
    "rolling-disk-with-friction": "warming",
    "heavy-top-in-fluid": "warming",
    "snakeboard": "vehicles",
    "two-wheeled-robot": "vehicles",
    "roller-racer": "vehicles",
    "appell-device": "constrained_models",
    "appell-in-dimensions": "constrained_models",
    "rolling-sphere": "constrained_models",
    "rolling-sphere-lagrangian": "constrained_models",
    "penny-on-incline": "constrained_models",
    "heisenberg-geodesics": "constrained_models",
    "free-rigid-body": "rigid_bodies",
    "heavy-top": "rigid_bodies",
    "satellite": "rigid_bodies",
    "pendulum-on-sphere": "rigid_bodies",
    "chaplygin-ball-in-space": "rigid_bodies",
    "suslov": "nonholonomic_bodies",
    "veselova": "nonholonomic_bodies",
    "chaplygin-ball": "nonholonomic_bodies",
    "ball-on-turntable": "nonholonomic_bodies",
    "heavy-top-on-cart": "nonholonomic_bodies",
}


def names() -> tuple[str, ...]:
    """The names of all gallery systems."""
    return tuple(_FAMILIES)


def maker(name: str) -> Callable[..., Example]:
    """The function that makes a gallery system: its source is how the system is stated."""
    if name not in _FAMILIES:
        raise ModelError(f"there is no gallery system {name!r}. The gallery has: {', '.join(_FAMILIES)}.")
    made: Callable[..., Example] = getattr(import_module(f".{_FAMILIES[name]}", __name__), name.replace("-", "_"))
    return made


def load(name: str, **options: int) -> Example:
    """One gallery system by name; `load("pendulum-chain", links=5)` passes options on."""
    make = maker(name)
    try:
        return make(**options)
    except TypeError:
        raise ModelError(f"the gallery system {name!r} has no option {', '.join(options)}.") from None


__all__ = ["Example", "load", "maker", "names"]
