"""A DiscreteSystem as plain data and back, with unchanged expressions: the loaded one equals the saved one.

Its expressions are SymEngine's. Conversion through SymPy would change the form of some, and a run continued from
the file would not be bitwise equal to an uninterrupted one. (Of a method with interior positions, whose weights are floats,
SymEngine may regroup a sum when it is rebuilt; then the two are equal in value only.)
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cached_property
from typing import Any

from ..decide.decimals import Typed
from ..errors import ModelError
from ..model import serial
from ..model.coordinates import Coordinate, Entropy, multiplier, step, time
from ..model.packed import Packed, parsed, refuse
from ..model.packer import Packer
from ..model.serial import fields, listed, names, parameter, text
from ..model.space import lines_only
from ..symbolic import Fast, fast, free_names
from .equations import carried
from .interior import interior_slots
from .system import DiscreteSystem, _all_forces

ROWS = ("variations", "friction_minus", "friction_plus")
FIELDS = (
    "name", "coordinates", "entropies", "parameters", "lagrangian", "interior", "system", "decimals", "fractions",
    "null_space",
)  # fmt: skip
VECTORS = ("constraints", "force_interior", "entropy_laws", "external_minus", "external_plus")

LARGEST = 1_000_000
"""Largest number of operations, symbols and numbers: every stage of a method contains those of the system."""

_CONSTANTS = ("Pi", "Exp1", "BooleanTrue", "BooleanFalse")
_RELATIONS = {
    "StrictLessThan": "Lt", "LessThan": "Le", "Equality": "Eq", "Unequality": "Ne", "And": "And", "Or": "Or", "Not": "Not",
}  # fmt: skip


def dumps(system: DiscreteSystem) -> str:
    """A discrete system as JSON text."""
    lines_only(system, "save")
    data = _data(system)
    _check(data)
    return json.dumps(data)


def _data(system: DiscreteSystem) -> dict[str, Any]:
    """A discrete system as plain data."""
    vectors = {name: [pack(e) for e in getattr(system, name)] for name in VECTORS}
    rows = {name: [[pack(e) for e in row] for row in getattr(system, name)] for name in ROWS}
    return {
        "name": system.name,
        "coordinates": [c.name for c in system.coordinates],
        "entropies": [S.name for S in system.entropies],
        "parameters": [serial.pack(p) for p in system.parameters],
        "lagrangian": pack(system.lagrangian),
        "interior": [float(c).hex() for c in system.interior],
        "system": None if system.system is None else serial.dumps(system.system),
        "decimals": [serial.pack(r) for r in sorted(system.given.decimals)],
        "fractions": [serial.pack(r) for r in sorted(system.given.fractions)],
        "null_space": system.null_space,
        **vectors,
        **rows,
    }


def loads(given: str) -> DiscreteSystem:
    """The discrete system that `dumps` made the text from; a ModelError if the data are no discrete system."""
    data = parsed(given, LARGEST)
    data = {"decimals": [], "fractions": [], "null_space": False, **data} if isinstance(data, dict) else data
    _check(data)
    vectors = {name: tuple(unpack(e) for e in data[name]) for name in VECTORS}
    rows = {name: tuple(tuple(unpack(e) for e in row) for row in data[name]) for name in ROWS}
    forces = (vectors.pop("external_minus"), vectors.pop("external_plus"))
    friction = (rows.pop("friction_minus"), rows.pop("friction_plus"))
    numbers = (frozenset(map(serial.unpack, data[kind])) for kind in ("decimals", "fractions"))
    made = DiscreteSystem._made(
        name=data["name"],
        coordinates=tuple(Coordinate(n) for n in data["coordinates"]),
        entropies=tuple(Entropy(n) for n in data["entropies"]),
        parameters=tuple(serial.unpack(p) for p in data["parameters"]),
        lagrangian=unpack(data["lagrangian"]),
        interior=tuple(float.fromhex(c) for c in data["interior"]),
        system=None if data["system"] is None else serial.loads(data["system"]),
        given=Typed(*numbers),
        null_space=data["null_space"],
        **_all_forces(*forces, *friction),
        **vectors,
        **rows,
    )
    _check(_data(made))  # once more, because SymEngine evaluates what it builds
    if stray := free_names(made.expressions()) & {m.name for m in {*made.multipliers} - {*carried(made)}}:
        raise refuse(f"has an unknown symbol {min(stray)}")
    return made


def _check(data: Any) -> None:
    """Raise a ModelError if the data are not those of a discrete system."""
    fields(data, (*FIELDS, *VECTORS, *ROWS), "a discrete system")
    text(data["name"])
    q, S = names(data["coordinates"]), names(data["entropies"])
    if not q or set(q) & set(S):
        raise ModelError("the discrete system in the file has no coordinates, or an entropy of the same name.")
    constants = [parameter(p).name for p in listed(data["parameters"])]
    if len({*q, *S, *constants}) < len(q) + len(S) + len(constants):
        raise ModelError("the discrete system in the file has two symbols of one name.")
    if not isinstance(data["null_space"], bool):
        raise refuse("has something else where null_space is true or false")
    if data["system"] is not None:
        text(data["system"], 2**24)
    for number in (*listed(data["decimals"]), *listed(data["fractions"])):
        _rational(number)
    for place in listed(data["interior"]):
        Packed(_nothing).expression(text(place))
    _check_expressions(data, q, S, constants, len(data["interior"]))


def _check_expressions(data: Any, q: list[str], S: list[str], constants: list[str], interior: int) -> None:
    """Every expression has known symbols, and there are as many of each kind as there should be."""
    n = len(q)
    inner = [slot.name for slot in interior_slots([*map(Coordinate, q), *map(Entropy, S)], interior)]
    slots = [f"{c}.at({k})" for c in (*q, *S) for k in (0, 1)]
    known = {*slots, *inner, *constants, time.name, step.name}
    if data["system"] is not None:  # its principle may make multipliers part of the discrete Lagrangian
        known |= {multiplier(a + 1).name for a in range(len(listed(data["constraints"])))}
    packed = Packed(_symbols(known), is_flat=True, largest=LARGEST)
    laws = listed(data["constraints"])
    sizes = {"constraints": len(laws), "force_interior": n * interior, "entropy_laws": len(S)}
    sizes |= {"external_minus": n, "external_plus": n}
    for e in (data["lagrangian"], *(e for name in VECTORS for e in listed(data[name], sizes[name]))):
        packed.expression(e)
    for name in ("friction_minus", "friction_plus"):
        for e in (e for row in listed(data[name], len(S)) for e in listed(row, n)):
            packed.expression(e)
    packed.symbol = _symbols({*known, *q, *S})  # one-forms are evaluated at the nodes
    for e in (e for row in listed(data["variations"], len(laws)) for e in listed(row, n)):
        packed.expression(e)


def _symbols(known: set[str]) -> Callable[[list[Any]], bool]:
    def symbol(data: list[Any]) -> bool:
        if data[0] != "Symbol":
            return False
        if len(data) != 2 or data[1] not in known:
            raise refuse(f"has an unknown symbol {str(data[1:])[:40]}")
        return True

    return symbol


def _nothing(data: list[Any]) -> bool:
    return False


def _rational(data: Any) -> None:
    if not isinstance(data, list) or not data or not isinstance(data[0], int):
        raise refuse("has something else where a decimal is expected")
    Packed(_nothing).expression(data)


class _SymEngine(Packer):
    """SymEngine's expressions, by the names of its classes; branches are value, condition, value, condition, ..."""

    @cached_property
    def constants(self) -> dict[str, Fast]:
        """Pi, e and truth values."""
        import symengine

        return dict(zip(_CONSTANTS, (symengine.pi, symengine.E, symengine.true, symengine.false), strict=True))

    @cached_property
    def operations(self) -> dict[str, Any]:
        """The operations an expression can contain."""
        import symengine

        names = ("Add", "Mul", "Pow", *(n for n in serial._OPERATIONS if n[0].islower()), "Abs", "Max", "Min")
        found = {n: getattr(symengine, n) for n in names if hasattr(symengine, n)}
        relations = {kind: getattr(symengine, n) for kind, n in _RELATIONS.items()}
        return {**found, **relations, "Piecewise": _piecewise}

    def leaf(self, expression: Fast) -> Any:
        """Symbols by name, fractions, doubles."""
        import symengine

        if isinstance(expression, symengine.Symbol):
            return ["Symbol", expression.name]
        if isinstance(expression, symengine.Rational):
            return [int(n) for n in expression.as_numer_denom()]
        return float(expression).hex() if type(expression).__name__ == "RealDouble" else None

    def fraction(self, p: int, q: int) -> Fast:
        """p/q."""
        import symengine

        number: Fast = symengine.Rational(p, q)
        return number

    def double(self, value: float) -> Fast:
        """A double."""
        import symengine

        number: Fast = symengine.RealDouble(value)
        return number

    def symbol(self, data: list[Any]) -> Fast | None:
        """["Symbol", name]."""
        return fast(str(data[1])) if data[0] == "Symbol" else None


_PACKER = _SymEngine()
pack, unpack = _PACKER.pack, _PACKER.unpack


def _piecewise(*parts: Fast) -> Fast:
    import symengine

    return symengine.Piecewise(*zip(parts[::2], parts[1::2], strict=True))
