"""A System as plain data and back, so that a file can hold one. Nothing in the data is ever executed.

What is read is checked against `packed` and the shape of the data before a system is made of it; what is written too, so
that whatever is saved can be loaded.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from typing import Any

import sympy
from mpmath.libmp import prec_to_dps, to_str
from sympy import Expr
from sympy.core.assumptions import _assume_defined

from ..errors import ModelError
from . import coordinates as symbols
from . import scene_data
from .group_coordinate import Entry, GroupCoordinate
from .group_makers import group_coordinate, rotation
from .groups.named import packed as packed_group
from .groups.named import unpacked as unpacked_group
from .packed import EXPANDED, SYMBOL, Packed, parsed, refuse
from .packer import Packer
from .principle import DAlembert, GivenVariations, Principle, Vakonomic
from .space import flattened
from .system import System
from .unit_vector import UnitComponent
from .upsilon import Upsilon

SAVED: dict[str, type[Principle]] = {
    "DAlembert": DAlembert,
    "GivenVariations": GivenVariations,
    "Vakonomic": Vakonomic,
    "Upsilon": Upsilon,
}
"""The principles that files can hold, by the names they have there."""

_FREE: dict[str, Any] = {
    cls.__name__: cls for cls in (symbols.Coordinate, symbols.Entropy, symbols.Parameter, symbols._Time)
}
"""Symbols that a file names."""

_BELONGING = [
    cls.__name__ for cls in (symbols.Velocity, symbols.Acceleration, Entry, UnitComponent, symbols.Multiplier)
]
"""Symbols that belong to the coordinates and constraints of the system: a file may name those that these have."""

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
    """SymPy's expressions, built without evaluation.

    known:  the symbols that belong to others, such as velocities, by their names in files
    """

    constants, operations = _CONSTANTS, _OPERATIONS

    def __init__(self, known: Mapping[str, sympy.Symbol]):
        self.known = known

    def leaf(self, expression: Any) -> Any:
        """Symbols with their assumptions; fractions; doubles, or decimals of more digits."""
        kind = type(expression).__name__
        if isinstance(expression, sympy.Symbol):
            if kind not in _FREE and kind not in _BELONGING:
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
        if head in _FREE:
            return _FREE[head](rest[0], **{k: bool(v) for k, v in rest[1].items()})
        return self.known[rest[0]] if head in _BELONGING else None

    def made(self, operation: Any, arguments: list[Any]) -> Any:
        """Unevaluated."""
        return tuple(arguments) if operation is tuple else operation(*arguments, evaluate=False)


_PACKER = _SymPy({})
pack, unpack = _PACKER.pack, _PACKER.unpack


def dumps(system: System) -> str:
    """A system as JSON text."""
    q = system.coordinates

    def typed(expression: Expr) -> Any:
        return pack(system.as_typed(expression))

    rows = [sum((a * c.dot for a, c in zip(w, q, strict=True)), start=sympy.S.Zero) for w in system.variations]
    data = {
        "name": system.name,
        "coordinates": [_plain(f) for f in system.factors],
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
        "principle": _principle(system.principle, typed),
        "scene": [scene_data.plain(item, typed) for item in system.scene],
    }
    _checked(data)
    return json.dumps(data)


def _principle(principle: Principle, typed: Any) -> str | list[Any]:
    """The name of a principle in files; with its expressions where it has some."""
    name = type(principle).__name__
    if SAVED.get(name) is not type(principle):
        raise ModelError(f"the principle {principle!r} cannot be saved. Files hold {', '.join(SAVED)}.")
    given = {role: [typed(e) for e in listed] for role, listed in principle.plain().items()}
    return [name, given] if principle.expressions else name


def loads(text: str) -> System:
    """The system that `dumps` made the text from; a ModelError if the data are no system."""
    data = parsed(text)
    if isinstance(data, dict) and "principle" not in data:  # files written before principles existed have none
        data["principle"] = "DAlembert" if data.get("variations") is None else "GivenVariations"
    if isinstance(data, dict):  # nor scenes
        data.setdefault("scene", [])
    size = _checked(data).nodes
    factors = [_factor(f) for f in data["coordinates"]]
    q = {c.name: c for c in flattened(factors)}
    unpack = _SymPy(_belonging(data)).unpack
    return System(
        data["name"],
        factors,
        **{role: unpack(e) for role, e in data["energies"].items()},
        **_thermal(data["thermal"], list(q.values()), unpack),
        forces={q[n]: unpack(f) for n, f in data["forces"].items()},
        dissipation=unpack(data["dissipation"]),
        constraints=[unpack(c) for c in data["constraints"]],
        variations=None if data["variations"] is None else [unpack(w) for w in data["variations"]],
        principle=_stated_principle(data["principle"], unpack) if data["variations"] is None else None,
        scene=[scene_data.item(entry, unpack) for entry in data["scene"]],
        _by_value=size <= CHECKED,
    )


def _stated_principle(data: str | list[Any], unpack: Callable[[Any], Any]) -> Principle:
    """The principle that `_principle` made the data from."""
    name, given = (data, {}) if isinstance(data, str) else data
    return SAVED[name].from_plain({role: [unpack(e) for e in listed] for role, listed in given.items()})


def _plain(factor: Any) -> Any:
    """A coordinate as its name; one with values in a group as ["Rotation", name] or [group, name, retraction]."""
    if not isinstance(factor, GroupCoordinate):
        return factor.name
    if factor.tag == "turn":
        return ["Rotation", factor.name]
    return [packed_group(factor.group), factor.name, factor.retraction]


def _factor(data: str | list[Any]) -> Any:
    """A coordinate, or one with values in a group."""
    if isinstance(data, str):
        return symbols.Coordinate(data)
    return rotation(data[1]) if len(data) == 2 else group_coordinate(data[1], unpacked_group(data[0]), data[2])


def _thermal(data: Any, q: list[symbols.Coordinate], unpack: Callable[[Any], Any]) -> dict[str, Any]:
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
        "scene",
    )  # fmt: skip
    fields(data, expected, "a system")
    text(data["name"])
    stated = listed(data["coordinates"])
    turning = [f for f in stated if isinstance(f, list)]
    known = ((len(f) == 2 and f[0] == "Rotation") or (len(f) == 3 and f[2] in ("cayley", "exp")) for f in turning)
    if not all(known):
        raise ModelError("the model has something else where a coordinate or a rotation is expected.")
    if not names([f[1] if isinstance(f, list) else f for f in stated]):
        raise ModelError("the system in the file has no coordinates.")
    q = [c.name for c in flattened([_factor(f) for f in stated])]
    packed = Packed(_symbol(_belonging(data)))
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
    name, held = listed(data["principle"], 2) if isinstance(data["principle"], list) else (data["principle"], {})
    if text(name) not in SAVED or given != (name == "GivenVariations"):
        others = " or ".join(sorted({*SAVED} - {"GivenVariations"}))
        raise ModelError(
            f"the system in the file has the principle {name[:40]!r}, {'with' if given else 'without'} "
            f"variations. Expected GivenVariations with variations, or {others} without."
        )
    rows += _check_principle(name, held)
    for e in rows:
        packed.expression(e, EXPANDED)
    for entry in listed(data["scene"]):
        scene_data.check(entry, packed.expression)
    if data["thermal"] is not None:
        _check_thermal(data["thermal"], q, packed)
    return packed


def _check_principle(name: str, data: Any) -> list[Any]:
    """The expressions of a principle, if these are those of `plain`."""
    if data:
        if (
            name != "Upsilon"
            or not isinstance(data, dict)
            or set(data) not in ({"completion"}, {"coordinates", "functions"})
        ):
            raise ModelError(f"the principle {name[:40]} in the file has data that are not its own.")
        if "functions" in data:
            listed(data["functions"], len(listed(data["coordinates"])))
    return [e for part in (data or {}).values() for e in listed(part)]


def _entropies(data: Any) -> list[str]:
    """The names of the entropies, if the data are a thermal part."""
    if data is None:
        return []
    fields(data, ("entropies", "internal_energy", "friction", "heat", "conduction"), "the thermal part")
    return names(data["entropies"])


def _belonging(data: Any) -> dict[str, sympy.Symbol]:
    """The symbols that belong to the coordinates, entropies and constraints of a system, by name."""
    factors = [_factor(f) for f in data["coordinates"]]
    own = [*flattened(factors), *map(symbols.Entropy, _entropies(data["thermal"]))]
    found: list[sympy.Symbol] = [s for c in own for s in (c.dot, c.ddot)]
    found += [e for f in factors if isinstance(f, GroupCoordinate) for e in f.entries]
    found += [symbols.multiplier(a + 1) for a in range(len(listed(data["constraints"])))]
    return {s.name: s for s in found}


def _check_thermal(data: Any, q: list[str], packed: Packed) -> None:
    S = _entropies(data)
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


def _symbol(known: Mapping[str, sympy.Symbol]) -> Callable[[list[Any]], bool]:
    """Whether [kind, name, assumptions] is a symbol of a system; an error if it should be one."""

    def symbol(data: list[Any]) -> bool:
        kind, *rest = data
        if kind not in _FREE and kind not in _BELONGING:
            return False
        if len(rest) != 2 or not isinstance(rest[0], str) or not _is_symbol(kind, rest[0], known):
            raise refuse(f"has a {kind} that is no symbol of a system")
        given = rest[1]
        if not isinstance(given, dict) or not all(
            k in _assume_defined and isinstance(v, bool) for k, v in given.items()
        ):
            raise refuse(f"has assumptions about {rest[0]} that are none")
        return True

    return symbol


def _is_symbol(kind: str, name: str, known: Mapping[str, sympy.Symbol]) -> bool:
    if kind in _BELONGING:
        return name in known and type(known[name]).__name__ == kind
    return name == symbols.time.name if _FREE[kind] is symbols._Time else SYMBOL.fullmatch(name) is not None


def parameter(data: Any) -> symbols.Parameter:
    """The parameter that `pack` made the data from."""
    if not isinstance(data, list) or not data or data[0] != "Parameter" or not _symbol({})(data):
        raise refuse("has something else where a parameter is expected")
    made: symbols.Parameter = unpack(data)
    return made
