"""A System as plain data and back, so that a file can hold one. Nothing in the data is ever executed."""

from __future__ import annotations

import json
from typing import Any

import sympy
from mpmath.libmp import prec_to_dps, to_str
from sympy import Expr

from ..errors import ModelError
from . import coordinates as symbols
from .system import System

_SYMBOLS = {
    cls.__name__: cls
    for cls in (
        symbols.Coordinate,
        symbols.Entropy,
        symbols.Velocity,
        symbols.Parameter,
        symbols.Slot,
        symbols._Time,
        symbols._Step,
    )
}

_OPERATIONS: dict[str, Any] = {
    f.__name__: f
    for f in (
        sympy.Add, sympy.Mul, sympy.Pow, sympy.sin, sympy.cos, sympy.tan, sympy.asin, sympy.acos, sympy.atan, sympy.atan2,
        sympy.cot, sympy.sec, sympy.csc, sympy.sinh, sympy.cosh, sympy.tanh, sympy.asinh, sympy.acosh, sympy.atanh, sympy.exp,
        sympy.log, sympy.Abs, sympy.sign, sympy.Max, sympy.Min, sympy.Heaviside, sympy.floor, sympy.ceiling, sympy.erf,
        sympy.erfc, sympy.gamma, sympy.loggamma, sympy.StrictLessThan, sympy.LessThan, sympy.StrictGreaterThan,
        sympy.GreaterThan, sympy.Equality, sympy.Unequality, sympy.And, sympy.Or, sympy.Not, sympy.ITE, sympy.Piecewise,
    )
} | {"ExprCondPair": lambda e, c: (e, c)}  # fmt: skip

_CONSTANTS = {"Pi": sympy.pi, "Exp1": sympy.E, "BooleanTrue": sympy.true, "BooleanFalse": sympy.false}


def pack(expression: Any) -> Any:
    """An expression as nested lists of names and numbers."""
    kind = type(expression).__name__
    if isinstance(expression, sympy.Symbol):
        if kind not in _SYMBOLS:
            raise ModelError(f"the symbol {expression} ({kind}) cannot be saved.")
        given = {k: v for k, v in expression._assumptions_orig.items() if k != "real"}
        return [kind, expression.name, given]
    if isinstance(expression, sympy.Rational):
        return [int(expression.p), int(expression.q)]
    if isinstance(expression, sympy.Float):
        if expression._prec == 53 and sympy.Float(float(expression)) == expression:
            return float(expression).hex()
        return ["Float", to_str(expression._mpf_, prec_to_dps(expression._prec) + 3), expression._prec]
    if kind in _CONSTANTS:
        return kind
    if kind not in _OPERATIONS:
        raise ModelError(f"the function {kind} cannot be saved.")
    return [kind, *map(pack, expression.args)]


def unpack(data: Any) -> Any:
    """The expression that `pack` made the data from."""
    if isinstance(data, str):
        return _CONSTANTS[data] if data in _CONSTANTS else sympy.Float(float.fromhex(data))
    head, *rest = data
    if isinstance(head, int):
        return sympy.Rational(head, rest[0])
    if head == "Float":
        return sympy.Float(rest[0], precision=rest[1])
    if head in _SYMBOLS:
        return _SYMBOLS[head](rest[0], **{k: bool(v) for k, v in rest[1].items()})
    if head not in _OPERATIONS:
        raise ModelError(f"the file names an unknown operation {head!r}.")
    return _OPERATIONS[head](*map(unpack, rest))


def dumps(system: System) -> str:
    """A system as JSON text."""
    q = system.coordinates

    def typed(expression: Expr) -> Any:
        return pack(system.as_typed(expression))

    rows = [sum((a * c.dot for a, c in zip(w, q, strict=True)), start=sympy.S.Zero) for w in system.variations]
    data = {
        "name": system.name,
        "coordinates": [c.name for c in q],
        "energies": {role: typed(e) for role, e in system.energies.items()},
        "thermal": None
        if not system.entropies and system.internal_energy == 0
        else {
            "entropies": [S.name for S in system.entropies],
            "internal_energy": typed(system.internal_energy),
            "friction": [[typed(f) for f in row] for row in system.friction],
            "heat": [typed(P) for P in system.heat],
            "conduction": [[typed(e) for e in (c.body, c.to, c.conductance)] for c in system.conduction],
        },
        "forces": {c.name: typed(f) for c, f in zip(q, system.forces, strict=True)},
        "dissipation": typed(system.dissipation),
        "constraints": [typed(c.expression) for c in system.constraints],
        "variations": [typed(w) for w in rows] if system.has_own_variations else None,
    }
    return json.dumps(data)


def loads(text: str) -> System:
    """The system that `dumps` made the text from."""
    data = json.loads(text)

    def expression(packed: Any) -> Expr:
        return unpack(packed)

    return System(
        data["name"],
        [symbols.Coordinate(n) for n in data["coordinates"]],
        **{role: expression(e) for role, e in data["energies"].items()},
        **_thermal(data["thermal"], data["coordinates"]),
        forces={symbols.Coordinate(n): expression(f) for n, f in data["forces"].items()},
        dissipation=expression(data["dissipation"]),
        constraints=[expression(c) for c in data["constraints"]],
        variations=None if data["variations"] is None else [expression(w) for w in data["variations"]],
    )


def _thermal(data: Any, coordinates: list[str]) -> dict[str, Any]:
    if data is None:
        return {}
    S, q = [symbols.Entropy(n) for n in data["entropies"]], [symbols.Coordinate(n) for n in coordinates]
    rows = [dict(zip(q, map(unpack, row), strict=True)) for row in data["friction"]]
    return {
        "entropies": S,
        "internal_energy": unpack(data["internal_energy"]),
        "friction": dict(zip(S, rows, strict=True)),
        "heat": dict(zip(S, map(unpack, data["heat"]), strict=True)),
        "conduction": {(unpack(a), unpack(b)): unpack(k) for a, b, k in data["conduction"]},
    }
