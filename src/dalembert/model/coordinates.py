"""The symbols a system is written with: coordinates and their derivatives, parameters, time, the step.

Every symbol made by the library has a dot in its name ("x.dot", "multiplier.1"), and names chosen by users have none.
So a name identifies a symbol; SymEngine identifies symbols by name. A symbol made of others remembers these: no name is
taken apart.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import sympy
from sympy import Symbol
from sympy.printing.pretty.pretty_symbology import pretty_symbol

from ..errors import ModelError, told
from .marks import Made, Mark, dotted, indexed, over, symbols_of

if TYPE_CHECKING:
    from .group_coordinate import GroupCoordinate


@lru_cache(maxsize=4096)
def _derived(cls: type[Any], *of: Any) -> Any:
    """The symbol of that kind made of others; cached: this is on the hot path."""
    return cls(*of)


class Coordinate(Mark):
    """A generalised coordinate: `x`, with `x.dot`, `x.ddot`, `x.momentum` and the slots `x.at(0)`, `x.at(1)`."""

    __slots__ = ()

    @property
    def owner(self) -> str:
        """The name of the factor of the configuration space that it belongs to: itself."""
        return str(self.name)

    @property
    def dot(self) -> Velocity:
        """The velocity of this coordinate."""
        velocity: Velocity = _derived(Velocity, self)
        return velocity

    @property
    def ddot(self) -> Acceleration:
        """The acceleration of this coordinate."""
        acceleration: Acceleration = _derived(Acceleration, self)
        return acceleration

    @property
    def momentum(self) -> Momentum:
        """The conjugate momentum dL/d(x.dot), as a key of `start` and of a trajectory."""
        momentum: Momentum = _derived(Momentum, self)
        return momentum

    @property
    def displacement(self) -> Displacement:
        """The virtual displacement of this coordinate, delta x: constraints on variations are written with it."""
        displacement: Displacement = _derived(Displacement, self)
        return displacement

    def at(self, slot: Literal[0, 1]) -> Slot:
        """The coordinate at the beginning (0) or the end (1) of a step: a slot of a discrete Lagrangian."""
        if not isinstance(slot, int) or isinstance(slot, bool) or slot not in (0, 1):
            raise ModelError(
                f"{self.name}.at({told(slot)}): a discrete Lagrangian has two slots. Type {self.name}.at(0) for the "
                f"beginning of the step or {self.name}.at(1) for its end."
            )
        end: Slot = _derived(Slot, self, slot)
        return end


_LATEX = {
    "omega": r"\omega", "alpha": r"\dot{\omega}", "velocity": "v", "acceleration": r"\dot{v}",
    "momentum": r"\pi", "angular_momentum": r"\pi",
}  # fmt: skip


class Direction(Coordinate, Made):
    """A direction in which a point of a group can move, `R.turn1`: it has a velocity, a momentum and slots, but no value.

    factor:  the coordinate with values in the group
    number:  which of its directions it is, from 0

    The velocity is a component in the frame of the group (`R.omega[0]`); positions are held by the numbers of the factor.
    """

    __slots__ = _of = ("factor", "number")
    factor: GroupCoordinate
    number: int

    def __new__(cls, factor: GroupCoordinate, number: int) -> Self:
        return cls._called(f"{factor.name}.{factor.tag}{number + 1}", factor, number)

    @property
    def owner(self) -> str:
        """The name of the group coordinate."""
        return self.factor.name

    def _render(self) -> tuple[str, str, str]:
        latex = sympy.latex(Symbol(self.owner))
        return rf"\theta_{{{latex},{self.number + 1}}}", f"{pretty_symbol(self.owner)}.turn{self.number + 1}", self.name


class Entropy(Coordinate):
    """The entropy of a body: `S`, with its rate `S.dot` and the slots `S.at(0)`, `S.at(1)`; it has no momentum."""

    __slots__ = ()


class _Derived(Made):
    """A symbol that belongs to a coordinate; it equals those of equal coordinates."""

    __slots__ = ("coordinate",)
    _of: ClassVar[tuple[str, ...]] = ("coordinate",)
    coordinate: Coordinate
    _suffix = ""

    def __new__(cls, coordinate: Coordinate) -> Self:
        return cls._called(f"{coordinate.name}.{cls._suffix}", coordinate)

    def _hashable_content(self) -> tuple[Any, ...]:
        return self.name, self.coordinate

    def _turning(self, which: int) -> tuple[str, str, str] | None:
        """How a component of velocity, momentum or acceleration (0, 1, 2) of a group coordinate is shown; None for a line."""
        q = self.coordinate
        if not isinstance(q, Direction):
            return None
        index, k = sympy.latex(Symbol(q.owner)), q.number
        names: list[str] = []
        for *names, count in q.factor.group.pieces:  # noqa: B007 (the names are those of the last piece looked at)
            if k < count:
                break
            k -= count
        if names[which] not in _LATEX:  # a name for this component alone: xi_a, and its rate
            base = names[0]
            if which == 2:
                return dotted(base, "dot"), over(base, "\u0307"), f"{base}.dot"
            return sympy.latex(Symbol(names[which])), pretty_symbol(names[which]), names[which]
        plain = f"{names[which]}[{k}]"
        return (
            rf"{_LATEX[names[which]]}_{{{index},{q.number + 1}}}",
            f"{pretty_symbol(q.owner)}.{plain}",
            f"{q.owner}.{plain}",
        )


class Velocity(_Derived):
    """The velocity `x.dot` of a coordinate."""

    __slots__ = ()
    _suffix = "dot"
    _place = 2

    @property
    def dot(self) -> Acceleration:
        """The acceleration of the coordinate."""
        return self.coordinate.ddot

    def _render(self) -> tuple[str, str, str]:
        base = self.coordinate.name
        return self._turning(0) or (dotted(base, "dot"), over(base, "\u0307"), self.name)


class Acceleration(_Derived):
    """The acceleration `x.ddot` of a coordinate."""

    __slots__ = ()
    _suffix = "ddot"
    _place = 3

    def _render(self) -> tuple[str, str, str]:
        base = self.coordinate.name
        return self._turning(2) or (dotted(base, "ddot"), over(base, "\u0308"), self.name)


class QuasiVelocity(Mark):
    """A quasi-velocity `u`, a component of the velocity in a frame; `u.dot` is its rate."""

    __slots__ = ()
    _place = 2

    @property
    def dot(self) -> QuasiAcceleration:
        """The rate of this quasi-velocity."""
        rate: QuasiAcceleration = _derived(QuasiAcceleration, self)
        return rate


class QuasiAcceleration(Made):
    """The rate `u.dot` of a quasi-velocity."""

    __slots__ = _of = ("velocity",)
    velocity: QuasiVelocity
    _place = 3

    def __new__(cls, velocity: QuasiVelocity) -> Self:
        return cls._called(f"{velocity.name}.dot", velocity)

    def _render(self) -> tuple[str, str, str]:
        base = self.velocity.name
        return dotted(base, "dot"), over(base, "\u0307"), self.name


class Momentum(_Derived):
    """The conjugate momentum `x.momentum` of a coordinate."""

    __slots__ = ()
    _suffix = "momentum"
    _place = 2

    def _render(self) -> tuple[str, str, str]:
        base = self.coordinate.name
        return self._turning(1) or (
            rf"p_{{{sympy.latex(Symbol(base))}}}",
            f"p_{pretty_symbol(base)}",
            self.name,
        )


class Displacement(_Derived):
    """The virtual displacement `x.displacement` of a coordinate: delta x."""

    __slots__ = ()
    _suffix = "displacement"
    _place = 2

    def _render(self) -> tuple[str, str, str]:
        base = self.coordinate.name
        return rf"\delta {sympy.latex(Symbol(base))}", f"\u03b4{pretty_symbol(base)}", f"delta {base}"


class Slot(_Derived):
    """A coordinate at the beginning, `x.at(0)`, or at the end, `x.at(1)`, of a step."""

    __slots__ = ("end",)
    _of = ("coordinate", "end")
    end: int

    def __new__(cls, coordinate: Coordinate, end: int) -> Self:
        return cls._called(f"{coordinate.name}.at({end})", coordinate, end)

    def _render(self) -> tuple[str, str, str]:
        base = self.coordinate.name
        return indexed(base, str(self.end)), pretty_symbol(base) + "₀₁"[self.end], self.name


class StepVelocity(_Derived):
    """The difference quotient (x1 - x0)/h of a step, `x.step`: the unknown of an implicit step."""

    __slots__ = ()
    _suffix = "step"

    def _render(self) -> tuple[str, str, str]:
        base = self.coordinate.name
        return rf"V_{{{sympy.latex(Symbol(base))}}}", f"V_{pretty_symbol(base)}", self.name


class Multiplier(Made):
    """A Lagrange multiplier; `multiplier(1)` is the first."""

    __slots__ = _of = ("index",)
    index: int
    _place = 4

    def __new__(cls, index: int) -> Self:
        return cls._called(f"multiplier.{index}", index)

    def _render(self) -> tuple[str, str, str]:
        return rf"\lambda_{{{self.index}}}", pretty_symbol(f"lambda_{self.index}"), f"lambda_{self.index}"

    @property
    def key(self) -> str:
        """What to type for it: system.multipliers[0]."""
        return f"system.multipliers[{self.index - 1}]"

    @property
    def dot(self) -> MultiplierRate:
        """Its rate, where a principle gives the multiplier a motion of its own."""
        return MultiplierRate(self)


class MultiplierRate(Made):
    """The rate of a multiplier, `system.multipliers[0].dot`."""

    __slots__ = _of = ("multiplier",)
    multiplier: Multiplier
    _place = 4

    def __new__(cls, multiplier: Multiplier) -> Self:
        return cls._called(f"{multiplier.name}.dot", multiplier)

    def _render(self) -> tuple[str, str, str]:
        base = f"lambda_{self.multiplier.index}"
        return dotted(base, "dot"), over(base, "\u0307"), f"{base}.dot"


def multiplier(index: int) -> Multiplier:
    """The symbol of the `index`-th multiplier, counted from 1."""
    return Multiplier(index)


class Parameter(Mark):
    """A constant of the system whose value is given when numbers are wanted."""

    __slots__ = ()
    _place = 0


class Letter(Parameter):
    """A parameter that stands for a number of a system, `number.1`."""

    __slots__ = ()


class _Time(Mark):
    __slots__ = ()


class _Step(Mark):
    __slots__ = ()
    _place = 0

    def _render(self) -> tuple[str, str, str]:
        return "h", "h", "h"

    def _code(self, printer: Any, **_: Any) -> str:
        return "h"

    _lambdacode = _pythoncode = _numpycode = _scipycode = _code  # the argument of a function that lambdify writes


time = _Time("t")
"""The symbol of time."""

step = _Step("step.h", positive=True)
"""The symbol of the time step h in a discrete Lagrangian."""


RESERVED = ("time", "lane")
"""Names of the axes of a dataset."""


def _named(kind: str, names: Any, cls: type[Symbol], assumptions: dict[str, bool]) -> Any:
    made = symbols_of(kind, names, cls, assumptions)
    for symbol in made if isinstance(made, tuple) else (made,):
        check_name(kind, symbol)
    return made


def check_name(kind: str, symbol: Symbol) -> None:
    """Refuse an invalid name or one already in use. Systems check too: symbols can be made without these functions."""
    is_name = symbol.name.isidentifier() and symbol.name.isascii() and not symbol.name.startswith("_")
    if not is_name and not isinstance(symbol, Letter):
        raise ModelError(
            f"{kind}: {symbol.name!r} is not a name. Names are ASCII letters, digits and underscores, beginning with a "
            f'letter, separated by spaces: {kind}("x y theta"). Greek letters are spelled out and printed as letters.'
        )
    if kind != "parameters" and symbol.name in RESERVED:
        raise ModelError(f"{kind}: the name {symbol.name!r} is that of an axis of every dataset. Use another name.")
    if symbol.name == time.name:
        raise ModelError(f'{kind}: the name "t" is taken by time. Use `dalembert.time` for time, or another name.')


def coordinates(names: str) -> Any:
    """Make coordinates: one name gives one symbol, several a tuple, as `sympy.symbols` does.

    >>> x, y = coordinates("x y")
    >>> x.dot
    x.dot
    """
    return _named("coordinates", names, Coordinate, {})


def entropies(names: str) -> Any:
    """Make entropies, one for each body whose temperature matters: one name gives one symbol, several a tuple."""
    return _named("entropies", names, Entropy, {})


def parameters(names: str, **assumptions: bool) -> Any:
    """Make parameters: one name gives one symbol, several a tuple; assumptions as in SymPy (`positive=True`)."""
    return _named("parameters", names, Parameter, assumptions)
