"""Rigid bodies whose orientation is a point of the rotation group."""

from __future__ import annotations

from math import cos, sin
from typing import Any

from ..model.coordinates import parameters
from ..model.rotation import Rotation, rotation
from ..model.system import System
from .example import Example


def _turned(angle: float) -> list[list[float]]:
    """The rotation about the first axis by an angle."""
    c, s = cos(angle), sin(angle)
    return [[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]]


def _kinetic(R: Rotation, J: Any) -> Any:
    """(J1 w1^2 + J2 w2^2 + J3 w3^2)/2 in the principal axes of the body."""
    return sum(a * w**2 for a, w in zip(J, R.omega, strict=True)) / 2


def free_rigid_body() -> Example:
    """L = (J1 w1^2 + J2 w2^2 + J3 w3^2)/2."""
    R = rotation("R")
    J = parameters("J1 J2 J3", positive=True)
    momentum = [a * w for a, w in zip(J, R.omega, strict=True)]
    return Example(
        name="free-rigid-body",
        system=System("free rigid body", [R], kinetic=_kinetic(R, J)),
        description="A body without torques, spun about its middle axis: it turns over again and again. Its angular momentum "
        "in space is constant, and so is its length in the body.",
        source="L. D. Landau and E. M. Lifshitz, Mechanics, 3rd ed., Pergamon, 1976, section 37.",
        parameters={J[0]: 1.0, J[1]: 2.0, J[2]: 3.0},
        start={R: _turned(0.3), R.omega: (0.01, 1.0, 0.0)},
        h=0.05,
        until=60.0,
        invariants={"angular momentum squared": sum(p**2 for p in momentum)},
    )


def heavy_top() -> Example:
    """L = (J1 w1^2 + J2 w2^2 + J3 w3^2)/2 - m g l R33."""
    R = rotation("R")
    J = parameters("J1 J2 J3", positive=True)
    m, g, l = parameters("m g l", positive=True)
    top = System("heavy top", [R], kinetic=_kinetic(R, J), potential=m * g * l * R[2, 2])
    vertical = sum(R[2, j] * J[j] * R.omega[j] for j in range(3))
    return Example(
        name="heavy-top",
        system=top,
        description="A symmetric top spinning about a fixed point: its axis precesses and nods. Its angular momentum about "
        "the vertical and, with J1 = J2, that about its own axis are constant.",
        source="V. I. Arnold, Mathematical Methods of Classical Mechanics, 2nd ed., Springer, 1989, section 30.",
        parameters={J[0]: 1.0, J[1]: 1.0, J[2]: 0.5, m: 1.0, g: 9.81, l: 0.3},
        start={R: _turned(0.4), R.omega: (0.1, 0.2, 10.0)},
        h=0.01,
        until=10.0,
        invariants={"angular momentum about the vertical": vertical},
    )
