"""Systems ready to use, one file per family, each with source, defaults, invariants and exact solution."""

from __future__ import annotations

from importlib import import_module

from ..errors import ModelError
from .example import Example

_FAMILIES = {
    "harmonic-oscillator": "oscillators",
    "damped-spring": "oscillators",
    "pendulum": "pendulums",
    "pendulum-cartesian": "pendulums",
    "double-pendulum": "pendulums",
    "spherical-pendulum": "pendulums",
    "pendulum-chain": "pendulums",
    "kepler": "particles",
    "charged-particle": "particles",
    "particle": "particles",
    "nonholonomic-particle": "particles",
    "rolling-disk": "rolling",
    "knife-edge": "rolling",
    "chaplygin-sleigh": "rolling",
}


def names() -> tuple[str, ...]:
    """The names of all gallery systems."""
    return tuple(_FAMILIES)


def load(name: str, **options: int) -> Example:
    """One gallery system by name; `load("pendulum-chain", links=5)` passes options on."""
    if name not in _FAMILIES:
        raise ModelError(f"there is no gallery system {name!r}. The gallery has: {', '.join(_FAMILIES)}.")
    family = import_module(f".{_FAMILIES[name]}", __name__)
    try:
        example: Example = getattr(family, name.replace("-", "_"))(**options)
    except TypeError:
        raise ModelError(f"the gallery system {name!r} has no option {', '.join(options)}.") from None
    return example


__all__ = ["Example", "load", "names"]
