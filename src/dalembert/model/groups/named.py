"""Groups by name and as plain data, so that files and symbols can refer to them."""

from __future__ import annotations

import hashlib
import re
from fractions import Fraction
from typing import Any

import sympy

from ...errors import ModelError
from .lie_group import LieGroup
from .matrix_group import LARGEST, MatrixGroup
from .products import SE2, SE3, DirectProduct, Semidirect
from .rotation_groups import SO2, SO3, SU2
from .translation_groups import Heisenberg, R
from .unit_vectors import S2
from .velocity_group import VelocityGroup

SINGLE: dict[str, LieGroup] = {G.name: G for G in (SO2, SO3, SU2, SE2, SE3, Heisenberg, S2)}
BITS = 200
"""Numbers of a basis in a file have at most so many bits."""


def named(name: str) -> LieGroup:
    """The group that the library calls by this name: SE2, R3, SO3xR2, SU2sR4."""
    parts = name.split("x")
    if len(parts) > 1:
        return DirectProduct(*map(named, parts))
    if name in SINGLE:
        return SINGLE[name]
    if found := re.fullmatch(r"R([1-9]\d?)", name):
        return R(int(found[1]))
    if found := re.fullmatch(r"(\w+)sR\d+", name):
        return Semidirect(named(found[1]))
    raise ModelError(f"{name[:40]} is no group that the library knows by name. Make the group again before using it.")


def is_named(group: LieGroup) -> bool:
    """Whether the name says which group it is."""
    try:
        return named(group.name) == group
    except ModelError:
        return False


def digest(group: LieGroup) -> str:
    """A word that identifies a group: its name; for a group that a user defines, with a digest of the basis."""
    if is_named(group):
        return group.name
    text = repr((group.name, [E.tolist() for E in group.basis]))
    return f"{group.name}{hashlib.sha256(text.encode()).hexdigest()[:12]}"


def packed(group: LieGroup) -> Any:
    """A group as plain data."""
    if is_named(group):
        return group.name
    if isinstance(group, VelocityGroup):
        constants = group.structure_constants.items()
        return {"names": list(group.names), "constants": [[*p, c.numerator, c.denominator] for p, c in constants]}
    if not isinstance(group, MatrixGroup):
        raise ModelError(f"the group {group.name} cannot be saved. Files hold groups of the library and MatrixGroup.")
    return [group.name, [[[int(x.p), int(x.q)] for x in E] for E in group.basis]]


def unpacked(data: Any) -> LieGroup:
    """The group that `packed` made the data from; a ModelError if the data are no group."""
    wrong = ModelError("the model has something else where a group is expected.")
    if isinstance(data, str) and len(data) < 200:
        return named(data)
    if isinstance(data, dict):
        return _velocity_group(data, wrong)
    if not (isinstance(data, list) and len(data) == 2 and isinstance(data[0], str) and isinstance(data[1], list)):
        raise wrong
    name, basis = data
    if not 0 < len(basis) <= LARGEST**2 or len(name) > 100:
        raise wrong
    made = []
    for E in basis:
        size = next((n for n in range(1, LARGEST + 1) if isinstance(E, list) and n * n == len(E)), 0)
        if not size or not all(_is_fraction(x) for x in E):
            raise wrong
        made.append(sympy.Matrix(size, size, [sympy.Rational(*x) for x in E]))
    return MatrixGroup(name, made)


def _velocity_group(data: dict[Any, Any], wrong: ModelError) -> VelocityGroup:
    """The group of velocities that plain data describe."""
    names, constants = data.get("names"), data.get("constants")
    if not isinstance(names, list) or not 0 < len(names) <= LARGEST or not isinstance(constants, list):
        raise wrong
    d = len(names)
    if not all(isinstance(n, str) and n.isidentifier() and n.isascii() and len(n) < 100 for n in names):
        raise wrong
    found = {}
    for row in constants:
        if not (isinstance(row, list) and len(row) == 5 and _is_fraction(row[3:])):
            raise wrong
        if not all(type(k) is int and 0 <= k < d for k in row[:3]):
            raise wrong
        found[row[0], row[1], row[2]] = Fraction(row[3], row[4])
    return VelocityGroup(names, found)


def _is_fraction(x: Any) -> bool:
    return (
        isinstance(x, list)
        and len(x) == 2
        and all(isinstance(n, int) and not isinstance(n, bool) and n.bit_length() < BITS for n in x)
        and x[1] > 0
    )
