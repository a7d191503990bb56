"""A DiscreteSystem as plain data and back."""

from __future__ import annotations

import json

import sympy

from ..errors import ModelError
from ..model.coordinates import Coordinate
from ..model.serial import pack, unpack
from .system import DiscreteSystem


def dumps(system: DiscreteSystem) -> str:
    """A discrete system as JSON text."""
    q = system.coordinates
    if system.interior:
        raise ModelError(
            f"{system.name}: a discrete system with interior positions cannot be saved; save a run of its method."
        )

    def forces(row: tuple[object, ...]) -> dict[str, object]:
        return {c.name: pack(system.read(f)) for c, f in zip(q, row, strict=True)}

    forms = [
        sum((system.read(a) * c.dot for a, c in zip(w, q, strict=True)), start=sympy.S.Zero) for w in system.variations
    ]
    return json.dumps(
        {
            "name": system.name,
            "coordinates": [c.name for c in q],
            "lagrangian": pack(system.read(system.lagrangian)),
            "force_minus": forces(system.force_minus),
            "force_plus": forces(system.force_plus),
            "variations": [pack(w) for w in forms],
            "constraints": [pack(system.read(c)) for c in system.constraints],
        }
    )


def loads(text: str) -> DiscreteSystem:
    """The discrete system that `dumps` made the text from."""
    data = json.loads(text)
    return DiscreteSystem(
        data["name"],
        [Coordinate(n) for n in data["coordinates"]],
        lagrangian=unpack(data["lagrangian"]),
        force_minus={Coordinate(n): unpack(f) for n, f in data["force_minus"].items()},
        force_plus={Coordinate(n): unpack(f) for n, f in data["force_plus"].items()},
        variations=[unpack(w) for w in data["variations"]],
        constraints=[unpack(c) for c in data["constraints"]],
    )
