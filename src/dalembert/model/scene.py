"""What a system looks like: points, rods, springs, wheels and so on, placed by expressions of its coordinates.

Behind the public name `scene`. A place is a list of two expressions in the plane, of three in space; lengths are in the unit
of the coordinates. A turn is an angle in the plane; in space a rotation matrix, or an orientation of `dalembert.bodies`, which
takes components along the axes of the body to components along the fixed ones. Widths and sizes of markers are multiples of
the usual ones, which the picture chooses. The same items are drawn in the player, in films and in notebooks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Self

import sympy
from sympy import Expr, cos, sin

from ..errors import ModelError, told
from . import checks
from .coordinates import MultiplierRate
from .group_coordinate import GroupCoordinate
from .groups import SE2, SE3

# What a field holds, by its annotation; lists and matrices may be given, tuples of expressions are kept.
Place = Any
"""A place or a vector: two components in the plane, three in space."""

Places = Any
"""Some places."""

Turn = Any
"""The nine entries of a rotation matrix, row by row."""

Scalar = Any
"""A length, an angle or a temperature."""

COLOUR = re.compile(r"(#[0-9a-fA-F]{6})?")
KINDS = ("velocity", "force", "reaction", "momentum", "other")
LONGEST = 200
"""Most characters of a label."""


@dataclass(frozen=True)
class Item:
    """Something drawn. The annotations of its fields say what they hold."""

    expressive: ClassVar[tuple[str, ...]] = ("Place", "Places", "Turn", "Scalar")

    def __post_init__(self) -> None:
        for f in fields(self):
            role = f"scene: {type(self).__name__} ({f.name})"
            object.__setattr__(self, f.name, _READ[str(f.type)](getattr(self, f.name), role))
        kind = getattr(self, "kind", None)
        if kind is not None and kind not in KINDS:
            raise ModelError(f"scene: Vector(kind={told(kind)}). Expected one of {', '.join(KINDS)}.")

    def expressions(self) -> tuple[Expr, ...]:
        """All its expressions, in the order of its fields."""
        return tuple(e for f in fields(self) for e in _flat(getattr(self, f.name)) if str(f.type) in self.expressive)

    @property
    def symbols(self) -> set[sympy.Symbol]:
        """All symbols in them."""
        return {symbol for e in self.expressions() for symbol in e.free_symbols}

    def written(self, change: Callable[[Expr], Expr]) -> Self:
        """The same with every expression changed."""
        changed = {
            f.name: _mapped(getattr(self, f.name), change) for f in fields(self) if str(f.type) in self.expressive
        }
        return replace(self, **changed)

    @property
    def is_spatial(self) -> bool:
        """Whether it has a place of three components."""
        return any(len(p) == 3 for f in fields(self) for p in self._places(f.name, str(f.type)))

    def _places(self, name: str, kind: str) -> Any:
        value = getattr(self, name)
        return value if kind == "Places" else (value,) if kind == "Place" else ()


def _flat(value: Any) -> tuple[Any, ...]:
    return tuple(e for part in value for e in _flat(part)) if isinstance(value, tuple) else (value,)


def _mapped(value: Any, change: Callable[[Expr], Expr]) -> Any:
    return tuple(_mapped(part, change) for part in value) if isinstance(value, tuple) else change(value)


@dataclass(frozen=True)
class Point(Item):
    """A marker: a particle, a pivot. Its size is a multiple of the usual one, whatever the unit of length."""

    at: Place
    size: float = 1.0
    colour: str = ""
    label: str = ""


@dataclass(frozen=True)
class Rod(Item):
    """A straight rod, a rigid link or a stretched string from a to b."""

    a: Place
    b: Place
    width: float = 1.0
    colour: str = ""
    label: str = ""


@dataclass(frozen=True)
class Spring(Item):
    """A spring from a to b."""

    a: Place
    b: Place
    coils: int = 8
    width: float = 1.0
    colour: str = ""
    label: str = ""


@dataclass(frozen=True)
class Rope(Item):
    """A thin line through places: a rope over pulleys, a wire, a rail."""

    points: Places
    width: float = 1.0
    colour: str = ""
    label: str = ""


@dataclass(frozen=True)
class Polygon(Item):
    """A filled polygon in a plane: a plate, a wedge, half a disc."""

    points: Places
    colour: str = ""
    label: str = ""


@dataclass(frozen=True)
class Disc(Item):
    """A filled disc with a mark that shows how far it has turned; its axis is the third axis of the turn."""

    at: Place
    radius: Scalar
    turn: Turn = sympy.S.Zero
    colour: str = ""
    label: str = ""


@dataclass(frozen=True)
class Wheel(Item):
    """A wheel: a rim with spokes; its axle is the third axis of the turn."""

    at: Place
    radius: Scalar
    turn: Turn = sympy.S.Zero
    colour: str = ""
    label: str = ""


@dataclass(frozen=True)
class Hoop(Item):
    """A ring, or the part of it from one angle to another, in the plane of the first two axes of the turn."""

    at: Place
    radius: Scalar
    turn: Turn = sympy.S.Zero
    begin: Scalar = sympy.S.Zero
    end: Scalar = 2 * sympy.pi
    width: float = 1.0
    colour: str = ""
    label: str = ""


@dataclass(frozen=True)
class Sphere(Item):
    """A ball with marks that show how it turns."""

    at: Place
    radius: Scalar
    turn: Turn = sympy.S.Zero
    colour: str = ""
    label: str = ""


@dataclass(frozen=True)
class Box(Item):
    """A rectangle or a block of these sides along the axes of the turn, about its middle."""

    at: Place
    sides: Place
    turn: Turn = sympy.S.Zero
    colour: str = ""
    label: str = ""


@dataclass(frozen=True)
class Blade(Item):
    """A knife edge or a runner of a length along a direction, about its middle."""

    at: Place
    direction: Place
    length: Scalar
    colour: str = ""
    label: str = ""


@dataclass(frozen=True)
class Ground(Item):
    """A line in the plane or a plane in space, without end; the normal points to the side where things are."""

    at: Place = (0, 0)
    normal: Place = (0, 1)
    colour: str = ""
    label: str = ""


@dataclass(frozen=True)
class Gas(Item):
    """A chamber of a width from a to b, coloured by its temperature: blue is the lowest of the motion, red the highest."""

    a: Place
    b: Place
    width: Scalar
    temperature: Scalar
    label: str = ""


@dataclass(frozen=True)
class Vector(Item):
    """An arrow: a velocity, a force, a reaction; all of a kind have one scale, which the picture chooses."""

    at: Place
    components: Place
    kind: str = "velocity"
    colour: str = ""
    label: str = ""


@dataclass(frozen=True)
class Trail(Item):
    """The path that a place has taken, over a fraction of the whole motion."""

    at: Place
    fraction: float = 0.25
    colour: str = ""
    label: str = ""


@dataclass(frozen=True)
class Axes(Item):
    """Three axes of a length fixed in a body: how it is turned."""

    at: Place
    turn: Turn
    length: Scalar = sympy.S.One
    label: str = ""


ITEMS: dict[str, type[Item]] = {
    kind.__name__: kind
    for kind in (
        Point, Rod, Spring, Rope, Polygon, Disc, Wheel, Hoop, Sphere, Box, Blade, Ground, Gas, Vector, Trail, Axes,
    )
}  # fmt: skip
"""What scenes consist of, by name."""


def _place(given: Any, role: str) -> tuple[Expr, ...]:
    return checks.components(given, role, "expressions")


def _places(given: Any, role: str) -> tuple[Any, ...]:
    if isinstance(given, str | Expr) or not isinstance(given, Iterable):
        raise ModelError(f"{role}: got {told(given)}. Expected a list of places: [[0, 0], [x, y]].")
    found = tuple(_place(p, role) for p in given)
    if len(found) < 2:
        raise ModelError(f"{role}: got {len(found)} places. Expected two or more: [[0, 0], [x, y]].")
    return found


def _turn(given: Any, role: str) -> tuple[Expr, ...]:
    """A rotation matrix, row by row, from an angle, a matrix, a coordinate with values in a group, or an orientation."""
    if isinstance(given, GroupCoordinate):
        n = 2 if given.group == SE2 else 3 if given.group == SE3 else given.size
        given = given.matrix[:n, :n]
    given = getattr(given, "matrix", given)
    if isinstance(given, tuple) and len(given) == 9:
        return tuple(checks.expression(e, role) for e in given)
    if isinstance(given, Sequence) and not isinstance(given, str):
        given = sympy.Matrix([list(row) for row in given])
    if isinstance(given, sympy.MatrixBase):
        if given.shape not in ((2, 2), (3, 3)):
            raise ModelError(f"{role}: got a matrix of shape {given.shape}. Expected an angle, or a matrix of 3 rows.")
        whole = sympy.eye(3)
        whole[: given.rows, : given.cols] = given
        return tuple(checks.expression(e, role) for e in whole)
    angle = checks.expression(given, role)
    c, s = cos(angle), sin(angle)
    zero, one = sympy.S.Zero, sympy.S.One
    return (c, -s, zero, s, c, zero, zero, zero, one)


def _number(given: Any, role: str) -> float:
    if not isinstance(given, int | float) or isinstance(given, bool) or not 0 < given < 1e6:
        raise ModelError(f"{role}: got {told(given)}. Expected a positive number: 1 is the usual one.")
    return float(given)


def _whole(given: Any, role: str) -> int:
    if not isinstance(given, int) or isinstance(given, bool) or not 1 <= given <= 200:
        raise ModelError(f"{role}: got {told(given)}. Expected a whole number from 1 to 200.")
    return given


def _text(given: Any, role: str) -> str:
    if not isinstance(given, str) or len(given) > LONGEST:
        raise ModelError(f"{role}: got {told(given)}. Expected a text of at most {LONGEST} characters.")
    if role.endswith("(colour)") and not COLOUR.fullmatch(given):
        raise ModelError(f'{role}: got {told(given)}. Expected a colour such as "#1b4f72".')
    return given


_READ: dict[str, Callable[[Any, str], Any]] = {
    "Place": _place, "Places": _places, "Turn": _turn, "Scalar": checks.expression, "float": _number, "int": _whole,
    "str": _text,
}  # fmt: skip


def checked(given: Any, known: Iterable[sympy.Symbol], name: str) -> tuple[Item, ...]:
    """The scene of a system: items whose symbols are all known; decimals become fractions."""
    if given is None:
        return ()
    if isinstance(given, Item):
        given = [given]
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise ModelError(f"scene: got {told(given)}. Expected a list: scene=[dalembert.scene.Point([x, y]), ...].")
    every = set(known)
    found = []
    for item in given:
        if not isinstance(item, Item):
            raise ModelError(
                f"scene: got {told(item)} ({type(item).__name__}). Expected items of dalembert.scene: {', '.join(ITEMS)}."
            )
        role = f"scene of {name!r}: {type(item).__name__}"
        _all_known(item, every, role)
        found.append(item.written(lambda e, role=role: checks.symbols(e, every, role)))  # type: ignore[misc]
    return tuple(found)


def _all_known(item: Item, known: set[sympy.Symbol], role: str) -> None:
    for e in item.expressions():
        for s in sorted(e.free_symbols - known, key=lambda s: s.name):
            if isinstance(s, MultiplierRate) or type(s).__name__ == "Parameter":
                names = ", ".join(sorted(map(str, known)))
                raise ModelError(
                    f"{role}: {s} in {e} is no symbol of the system, so it has no value along a motion. Known here: {names}. "
                    f"Write a number instead."
                )
