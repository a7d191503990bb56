"""A System as plain data and back, so that a file can hold one. Nothing in the data is ever executed.

What is read is checked against `packed` and the shape of the data before a system is made of it; what is written too, so
that whatever is saved can be loaded.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from typing import Any

import sympy
from mpmath.libmp import prec_to_dps, to_str
from sympy import Expr
from sympy.core.assumptions import _assume_defined

from ..errors import ModelError
from . import coordinates as symbols
from .group import Entry, Group
from .packed import EXPANDED, SYMBOL, Packed, parsed, refuse
from .packer import Packer
from .principle import SAVED, GivenVariations, Principle
from .space import GROUPS, flattened
from .system import System

_SYMBOLS = {
    cls.__name__: cls
    for cls in (
        symbols.Coordinate,
        symbols.Entropy,
        symbols.Velocity,
        Entry,
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
} | {"ExprCondPair": tuple}  # fmt: skip

CHECKED = 3000
"""Systems of up to so many operations are checked again as if newly stated; for larger ones that takes too long."""

_CONSTANTS = {"Pi": sympy.pi, "Exp1": sympy.E, "BooleanTrue": sympy.true, "BooleanFalse": sympy.false}


class _SymPy(Packer):
    """SymPy's expressions, built without evaluation."""

    constants, operations = _CONSTANTS, _OPERATIONS

    def leaf(self, expression: Any) -> Any:
        """Symbols with their assumptions; fractions; doubles, or decimals of more digits."""
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
        return None

    def fraction(self, p: int, q: int) -> Any:
        """p/q."""
        return sympy.Rational(p, q)

    def double(self, value: float) -> Any:
        """A decimal of 53 bits."""
        return sympy.Float(value)

    def symbol(self, data: list[Any]) -> Any:
        """[kind, name, assumptions], or ["Float", digits, bits]."""
        head, *rest = data
        if head == "Float":
            return sympy.Float(rest[0], precision=rest[1])
        if head in _SYMBOLS:
            return _SYMBOLS[head](rest[0], **{k: bool(v) for k, v in rest[1].items()})
        return None

    def made(self, operation: Any, arguments: list[Any]) -> Any:
        """Unevaluated."""
        return tuple(arguments) if operation is tuple else operation(*arguments, evaluate=False)


_PACKER = _SymPy()
pack, unpack = _PACKER.pack, _PACKER.unpack


def dumps(system: System) -> str:
    """A system as JSON text."""
    q = system.coordinates

    def typed(expression: Expr) -> Any:
        return pack(system.as_typed(expression))

    rows = [sum((a * c.dot for a, c in zip(w, q, strict=True)), start=sympy.S.Zero) for w in system.variations]
    data = {
        "name": system.name,
        "coordinates": [[type(f).__name__, f.name] if isinstance(f, Group) else f.name for f in system.factors],
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
        "variations": [typed(w) for w in rows] if isinstance(system.principle, GivenVariations) else None,
        "principle": _name(system.principle),
    }
    _checked(data)
    return json.dumps(data)


def _name(principle: Principle) -> str:
    """The name of a principle in files."""
    name = type(principle).__name__
    if SAVED.get(name) is not type(principle):
        raise ModelError(f"the principle {principle!r} cannot be saved. Files hold {', '.join(SAVED)}.")
    return name


def loads(text: str) -> System:
    """The system that `dumps` made the text from; a ModelError if the data are no system."""
    data = parsed(text)
    if isinstance(data, dict) and "principle" not in data:  # files written before principles existed have none
        data["principle"] = "DAlembert" if data.get("variations") is None else "GivenVariations"
    size = _checked(data).nodes
    factors = [_factor(f) for f in data["coordinates"]]
    q = {c.name: c for c in flattened(factors)}
    return System(
        data["name"],
        factors,
        **{role: unpack(e) for role, e in data["energies"].items()},
        **_thermal(data["thermal"], list(q.values())),
        forces={q[n]: unpack(f) for n, f in data["forces"].items()},
        dissipation=unpack(data["dissipation"]),
        constraints=[unpack(c) for c in data["constraints"]],
        variations=None if data["variations"] is None else [unpack(w) for w in data["variations"]],
        principle=SAVED[data["principle"]]() if data["variations"] is None else None,
        _by_value=size <= CHECKED,
    )


def _factor(data: str | list[str]) -> Any:
    """A coordinate, or a rotation."""
    return symbols.Coordinate(data) if isinstance(data, str) else GROUPS[data[0]](data[1])


def _thermal(data: Any, q: list[symbols.Coordinate]) -> dict[str, Any]:
    if data is None:
        return {}
    S = [symbols.Entropy(n) for n in data["entropies"]]
    rows = [dict(zip(q, map(unpack, row), strict=True)) for row in data["friction"]]
    return {
        "entropies": S,
        "internal_energy": unpack(data["internal_energy"]),
        "friction": dict(zip(S, rows, strict=True)),
        "heat": dict(zip(S, map(unpack, data["heat"]), strict=True)),
        "conduction": {(unpack(a), unpack(b)): unpack(k) for a, b, k in data["conduction"]},
    }


def _checked(data: Any) -> Packed:
    """Raise a ModelError if the data are not those of a system."""
    expected = (
        "name", "coordinates", "energies", "thermal", "forces", "dissipation", "constraints", "variations", "principle",
    )  # fmt: skip
    fields(data, expected, "a system")
    text(data["name"])
    packed, stated = Packed(_symbol), listed(data["coordinates"])
    turning = [f for f in stated if isinstance(f, list)]
    if any(len(f) != 2 or f[0] not in GROUPS for f in turning):
        raise ModelError("the model has something else where a coordinate or a rotation is expected.")
    if not names([f[1] if isinstance(f, list) else f for f in stated]):
        raise ModelError("the system in the file has no coordinates.")
    q = [c.name for c in flattened([_factor(f) for f in stated])]
    energies = data["energies"]
    if not isinstance(energies, dict) or set(energies) not in ({"lagrangian"}, {"kinetic", "potential"}):
        raise ModelError("the system in the file has neither a Lagrangian nor a kinetic and a potential energy.")
    fields(data["forces"], q, "the forces")
    for e in (*energies.values(), *data["forces"].values(), data["dissipation"]):
        packed.expression(e)
    rows = [*listed(data["constraints"])]
    given = data["variations"] is not None
    if given:
        rows += listed(data["variations"], len(rows))
    if text(data["principle"]) not in SAVED or given != (data["principle"] == "GivenVariations"):
        others = " or ".join(sorted({*SAVED} - {"GivenVariations"}))
        raise ModelError(
            f"the system in the file has the principle {data['principle'][:40]!r}, {'with' if given else 'without'} "
            f"variations. Expected GivenVariations with variations, or {others} without."
        )
    for e in rows:
        packed.expression(e, EXPANDED)
    if data["thermal"] is not None:
        _check_thermal(data["thermal"], q, packed)
    return packed


def _check_thermal(data: Any, q: list[str], packed: Packed) -> None:
    fields(data, ("entropies", "internal_energy", "friction", "heat", "conduction"), "the thermal part")
    S = names(data["entropies"])
    packed.expression(data["internal_energy"])
    rows = [listed(row, len(q)) for row in listed(data["friction"], len(S))]
    conductors = [listed(c, 3) for c in listed(data["conduction"])]
    for e in (*listed(data["heat"], len(S)), *(e for row in (*rows, *conductors) for e in row)):
        packed.expression(e)


# checks of data common to all models in files
def fields(data: Any, expected: Collection[str], what: str) -> None:
    """Raise a ModelError if the data are not a record with these fields, and no others."""
    if not isinstance(data, dict) or set(data) != set(expected):
        given = ", ".join(sorted(map(str, data)))[:200] if isinstance(data, dict) else type(data).__name__
        raise ModelError(f"{what} has the fields {', '.join(expected)}; found {given or 'none'}.")


def listed(data: Any, count: int | None = None) -> list[Any]:
    """The data, if they are a list of so many entries."""
    if not isinstance(data, list) or (count is not None and len(data) != count):
        told = f"a list of {len(data)}" if isinstance(data, list) else f"a {type(data).__name__}"
        expected = "a list" if count is None else f"a list of {count}"
        raise ModelError(f"the model has {told} where {expected} is expected.")
    return data


def text(data: Any, longest: int = 10_000) -> str:
    """The data, if they are a text."""
    if not isinstance(data, str) or len(data) > longest:
        given = f"{len(data)} characters" if isinstance(data, str) else f"a {type(data).__name__}"
        raise ModelError(f"the model has {given} where a text of at most {longest} is expected.")
    return data


def names(data: Any, most: int = 10_000) -> list[str]:
    """The data, if they are names of symbols, each once."""
    for name in listed(data):
        if not isinstance(name, str) or not SYMBOL.fullmatch(name) or name == symbols.time.name:
            raise ModelError(f"the model has {str(name)[:40]!r} where the name of a coordinate is expected.")
    if len(set(data)) < len(data) or len(data) > most:
        raise ModelError(f"the model names a coordinate twice, or more than {most} of them.")
    return list(data)


_NAMES = {
    "Coordinate": SYMBOL, "Entropy": SYMBOL, "Parameter": SYMBOL,
    "Velocity": re.compile(rf"{SYMBOL.pattern}(\.(turn|shift)\d)?\.dot", re.ASCII),
    "Entry": re.compile(rf"{SYMBOL.pattern}\.entry\d\d", re.ASCII),
    "_Time": re.compile("t"),
}  # fmt: skip


def _symbol(data: list[Any]) -> bool:
    """Whether [kind, name, assumptions] is a symbol of a system; an error if it should be one."""
    if data[0] not in _SYMBOLS:
        return False
    kind, *rest = data
    if kind not in _NAMES or len(rest) != 2 or not isinstance(rest[0], str) or not _NAMES[kind].fullmatch(rest[0]):
        raise refuse(f"has a {kind} that is no symbol of a system")
    given = rest[1]
    if not isinstance(given, dict) or not all(k in _assume_defined and isinstance(v, bool) for k, v in given.items()):
        raise refuse(f"has assumptions about {rest[0]} that are none")
    return True


def parameter(data: Any) -> symbols.Parameter:
    """The parameter that `pack` made the data from."""
    if not isinstance(data, list) or not data or data[0] != "Parameter" or not _symbol(data):
        raise refuse("has something else where a parameter is expected")
    made: symbols.Parameter = unpack(data)
    return made
