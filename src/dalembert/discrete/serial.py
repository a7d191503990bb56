"""A DiscreteSystem as plain data and back."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import sympy

from ..errors import ModelError
from ..model.coordinates import Coordinate, Entropy
from ..model.serial import pack, unpack
from .system import DiscreteSystem


def dumps(system: DiscreteSystem) -> str:
    """A discrete system as JSON text."""
    q = system.coordinates
    if system.interior:
        raise ModelError(
            f"{system.name}: a discrete system with interior positions cannot be saved; save a run of its method."
        )

    def forces(row: Sequence[object]) -> dict[str, object]:
        return {c.name: pack(system.read(f)) for c, f in zip(q, row, strict=True)}

    forms = [
        sum((system.read(a) * c.dot for a, c in zip(w, q, strict=True)), start=sympy.S.Zero) for w in system.variations
    ]
    return json.dumps(
        {
            "name": system.name,
            "coordinates": [c.name for c in q],
            "lagrangian": pack(system.read(system.lagrangian)),
            "force_minus": forces(system.external_minus),
            "force_plus": forces(system.external_plus),
            "thermal": None
            if not system.entropies
            else {
                "entropies": [S.name for S in system.entropies],
                "friction_minus": [forces(row) for row in system.friction_minus],
                "friction_plus": [forces(row) for row in system.friction_plus],
                "entropy_laws": [pack(system.read(r)) for r in system.entropy_laws],
            },
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
        force_minus=_forces(data["force_minus"]),
        force_plus=_forces(data["force_plus"]),
        variations=[unpack(w) for w in data["variations"]],
        constraints=[unpack(c) for c in data["constraints"]],
        **_thermal(data.get("thermal")),
    )


def _forces(row: dict[str, Any]) -> dict[Coordinate, Any]:
    return {Coordinate(n): unpack(f) for n, f in row.items()}


def _thermal(data: Any) -> dict[str, Any]:
    if data is None:
        return {}
    S = [Entropy(n) for n in data["entropies"]]
    return {
        "entropies": S,
        "friction_minus": dict(zip(S, map(_forces, data["friction_minus"]), strict=True)),
        "friction_plus": dict(zip(S, map(_forces, data["friction_plus"]), strict=True)),
        "entropy_laws": [unpack(r) for r in data["entropy_laws"]],
    }
