"""Coordinates with values in a Lie group, as factors of the space of states; `group_makers` has the functions that make them.

Points are held by the numbers of the group (`numbers`); expressions contain entries of a matrix (`entries`), which
`in_numbers` writes with the numbers. Velocities and momenta are components in the frame of the body, one per direction:
dg/dt = g hat(velocity). Its frame are the fields X_k g = g E_k, with [X_i, X_j] = c^k_ij X_k. A step leads from g to
g tau(xi), where tau is Cayley's map or the exponential. What differs between groups is in `model/groups`.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
import sympy
from numpy.typing import NDArray
from sympy.printing.pretty.pretty_symbology import pretty_symbol

from ..errors import ModelError, StartError, told
from ..symbolic import Fast, fast, gradient, substitute, total
from .coordinates import Direction
from .factor import Factor
from .frame import Frame
from .groups import SO3, LieGroup
from .groups import rows as r
from .groups.given_points import NOT_A_POINT, distance_in_words
from .groups.lie_group import Retraction
from .groups.named import digest
from .marks import Made, indexed

Array = NDArray[Any]


class Entry(Made):
    """An entry of the matrix of a group coordinate: `R[0, 2]`, called R.entry02.

    owner:  the name of the group coordinate
    place:  row and column
    """

    __slots__ = _of = ("owner", "place")
    owner: str
    place: tuple[int, int]

    def __new__(cls, owner: str, place: tuple[int, int]) -> Self:
        return cls._called(f"{owner}.{cls._word(*place)}", owner, place)

    @staticmethod
    def _word(row: int, column: int) -> str:
        return f"entry{row}{column}"

    def _render(self) -> tuple[str, str, str]:
        i, j = self.place
        return (
            indexed(self.owner, f"{i + 1}{j + 1}"),
            f"{pretty_symbol(self.owner)}[{i},{j}]",
            f"{self.owner}[{i}, {j}]",
        )


class Components(tuple[Any, ...]):
    """Components of a vector in the body, with the name of the vector: `R.omega`."""

    name: str

    def __new__(cls, name: str, components: Sequence[Any]) -> Self:
        made = super().__new__(cls, components)
        made.name = name
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        return Components, (self.name, tuple(self))


class GroupCoordinate(Factor):
    """A coordinate with values in a group: `R[i, j]` and `R.matrix` are the entries of the matrix of a point.

    A rotation has `R.omega`, `R.momentum` and `R.alpha`; a pose `P.omega`, `P.velocity`, `P.angular_momentum`, `P.momentum`,
    `P.alpha`, `P.acceleration`; others `g.velocity`, `g.momentum` and `g.acceleration`: components in the body. In
    forces={R: (a, b, c)} the force is given in the body too. A start is {R: matrix, R.omega: (1, 2, 3)}.
    """

    axes: ClassVar[tuple[str, ...]] = ("row", "column")
    vectors_are = "in the frame of the body"

    def __init__(self, name: str, group: LieGroup, retraction: Retraction = "cayley"):
        self.name, self.group, self.retraction = name, group, retraction
        self.tag = "turn" if group == SO3 and retraction == "cayley" else f"{digest(group)}_{retraction}_"
        self.noun, self.size = group.noun, group.size

    def __eq__(self, other: object) -> bool:
        return isinstance(other, GroupCoordinate) and (self.name, self.tag) == (other.name, other.tag)

    def __hash__(self) -> int:
        return hash((self.name, self.tag))

    def __repr__(self) -> str:
        return self.name

    def __reduce__(self) -> tuple[Any, ...]:
        return GroupCoordinate, (self.name, self.group, self.retraction)

    @cached_property
    def directions(self) -> tuple[Direction, ...]:
        """The directions of motion, in the frame of the body."""
        return tuple(Direction(self, k) for k in range(self.group.dimension))

    @cached_property
    def _parts(self) -> dict[str, Components]:
        """The parts of velocity, momentum and acceleration, by name."""
        found, at = {}, 0
        for *names, count in self.group.pieces:
            part = self.directions[at : at + count]
            for name, symbols in zip(
                names, zip(*((d.dot, d.momentum, d.ddot) for d in part), strict=True), strict=True
            ):
                found[name] = Components(f"{self.name}.{name}", symbols)
            at += count
        return found

    def __getattr__(self, name: str) -> Components:
        if not name.startswith("_") and name != "group" and name in self._parts:
            return self._parts[name]
        known = "" if name.startswith("_") else f"; its vectors are {', '.join(self._parts)}"
        raise AttributeError(f"a {type(self).__name__} has no {name!r}{known}.")

    def by_direction(self, given: Any) -> tuple[Any, ...]:
        """The components of a force by direction: as they are given, in the body."""
        try:
            components = tuple(given)
        except TypeError:
            components = ()
        if len(components) != len(self.directions):
            raise ModelError(
                f"force on {self}: got {told(given)}. Expected its {len(self.directions)} components in the body: "
                f"forces={{{self}: ({', '.join('0' * len(self.directions))})}}."
            )
        return components

    @property
    def key(self) -> Self:
        """The coordinate itself."""
        return self

    @property
    def plotted(self) -> tuple[Any, ...]:
        """Entries of the matrix; of a group of which only the velocity matters the velocities."""
        return self.curves if self.numbers else tuple(d.dot for d in self.directions)

    @property
    def expected(self) -> str:
        """What a start gives for it."""
        return f"the {self.size} x {self.size} matrix of a {self.noun}"

    @property
    def vectors(self) -> tuple[Components, ...]:  # type: ignore[override]  # computed here
        """The parts of the velocity, then those of the momentum, in the frame of the body."""
        pieces = self.group.pieces
        return tuple(self._parts[name] for name in (*(p[0] for p in pieces), *(p[1] for p in pieces)))

    @cached_property
    def matrix(self) -> sympy.ImmutableMatrix:
        """The matrix of entries R[i, j]; entries that all points of the group have in common are numbers."""
        rows = self.group.rows_of([fast(n) for n in self.numbers])

        def entry(i: int, j: int) -> Any:
            value = fast(rows[i][j])
            return sympy.Integer(int(value)) if value.is_number else Entry(self.name, (i, j))

        return sympy.ImmutableMatrix(self.size, self.size, entry)

    @cached_property
    def entries(self) -> tuple[Entry, ...]:
        """The entries that differ from point to point, row by row."""
        return tuple(e for e in self.matrix if isinstance(e, Entry))

    def __getitem__(self, place: tuple[int, int]) -> Any:
        known = range(self.size)
        try:
            i, j = place
            return self.matrix[known[i], known[j]]
        except (TypeError, ValueError, IndexError):
            raise ModelError(
                f"{self.name}[{told(place)}]: a {self.noun} has {self.size} x {self.size} entries. Write "
                f"{self.name}[i, j] with i, j = {', '.join(map(str, known))}."
            ) from None

    # as a factor of the configuration space
    @cached_property
    def numbers(self) -> tuple[str, ...]:
        """The names of the numbers that hold a point."""
        return tuple(f"{self.name}.{number}" for number in self.group.number_names)

    def _by_entry(self, rows: r.Rows) -> dict[Any, Fast]:
        return {fast(e): fast(rows[e.place[0]][e.place[1]]) for e in self.entries}

    def in_numbers(self) -> dict[Any, Fast]:
        """The entries in terms of the numbers."""
        return self._by_entry(self.group.rows_of([fast(n) for n in self.numbers]))

    def rates(self) -> list[Fast]:
        """The rates of the numbers, by the velocity: the derivative of a step at its beginning."""
        h, w = fast("h.beginning"), [fast(d.dot) for d in self.directions]
        ends = self.group.step([fast(n) for n in self.numbers], w, h, "cayley")
        return [substitute(gradient(fast(e), [h])[0], {h: 0}) for e in ends]

    @cached_property
    def _entry_rows(self) -> list[list[Fast]]:
        return [[fast(e) for e in self.matrix.row(i)] for i in range(self.size)]

    def slopes(self, k: int) -> dict[Any, Fast]:
        """X_k of every entry: g E_k."""
        return self._by_entry(r.multiplied(self._entry_rows, r.taken(self.group.basis[k])))

    @property
    def frame(self) -> Frame:
        """The fields X_k g = g E_k, and their brackets."""
        d = self.directions
        brackets = {place: sympy.Rational(c) for place, c in self.group.structure_constants.items()}
        fields = tuple(self.slopes(k) for k in range(len(d)))
        return Frame(tuple(x.dot for x in d), tuple(x.ddot for x in d), fields, brackets)

    # a step from a point g to g tau(xi)
    def retracted(self, xi_over_h: Sequence[Fast], h: Fast) -> list[Fast]:
        """The numbers of g tau(h V), as g + h (...): the rounding error of the sum can be carried to the next step."""
        return list(map(fast, self.group.step([fast(n) for n in self.numbers], xi_over_h, h, self.retraction)))

    def adjoint(self, beta: Fast, xi: Sequence[Fast]) -> list[list[Fast]]:
        """Ad of tau(xi)^beta, which takes components at g tau(xi)^beta to components at g."""
        rows = self.group.adjoint_rows(self.group.power_rows(beta, xi, self.retraction))
        return [[fast(x) for x in row] for row in rows]

    def moved_entries(self, beta: Fast, xi: Sequence[Fast]) -> dict[Any, Fast]:
        """The entries of g tau(xi)^beta."""
        return self._by_entry(r.multiplied(self._entry_rows, self.group.power_rows(beta, xi, self.retraction)))

    def half(self, xi: Sequence[Fast]) -> list[Fast]:
        """eta with tau(eta)^2 = tau(xi): the displacement to the middle."""
        return list(map(fast, self.group.half(xi, self.retraction)))

    def moved_twice(self, xi: Sequence[Fast], x: Sequence[Fast]) -> dict[Any, Fast]:
        """The entries of g tau(xi) tau(x)."""
        rows = self._entry_rows
        for part in (xi, x):
            rows = r.multiplied(rows, self.group.power_rows(fast(1), part, self.retraction))
        return self._by_entry(rows)

    def moved_from_middle(self, xi: Sequence[Fast], x: Sequence[Fast]) -> dict[Any, Fast]:
        """The entries of m tau(x), where m is the middle g tau(xi)^(1/2)."""
        middle = self.group.power_rows(fast(1) / 2, xi, self.retraction)
        rows = r.multiplied(r.multiplied(self._entry_rows, middle), self.group.power_rows(fast(1), x, self.retraction))
        return self._by_entry(rows)

    @property
    def acting(self) -> LieGroup:
        """The group that moves the points; its first components are the directions."""
        return self.group

    def _whole(self, xi: Sequence[Fast]) -> list[Fast]:
        return [*xi, *[fast(0)] * (self.acting.dimension - len(xi))]

    def carried(self, x: Sequence[Fast], rate: Sequence[Fast]) -> list[Fast]:
        """The velocity in the body at tau(x), if x changes at a rate: dtau, left-trivialised; all components."""
        rows = self.acting.tangent_rows([-a for a in self._whole(x)], self.retraction)
        return list(map(fast, r.applied(rows, self._whole(rate))))

    def turned(self, beta: Fast, xi: Sequence[Fast], v: Sequence[Fast]) -> list[Fast]:
        """Ad of tau(xi)^beta, applied to v; all components."""
        power = self.acting.power_rows(beta, self._whole(xi), self.retraction)
        return list(map(fast, r.applied(self.acting.adjoint_rows(power), self._whole(v))))

    def uncarried(self, x: Sequence[Fast], p: Sequence[Fast]) -> list[Fast]:
        """The covector of the rates of x that gives as much as p does of the velocities in the body: dtau transposed."""
        rows = self.acting.tangent_rows([-a for a in self._whole(x)], self.retraction)
        return list(map(fast, r.applied(r.transposed(rows), self._whole(p))))[: len(p)]

    def start_shift(self, xi: Sequence[Fast], u: Sequence[Fast]) -> list[Fast]:
        """What is added to xi if the first point is moved by -u and the second stays: dtau(xi)^-1 u."""
        return list(map(fast, r.applied(self.group.tangent_inverse_rows(xi, self.retraction), u)))

    def end_shift(self, xi: Sequence[Fast], u: Sequence[Fast]) -> list[Fast]:
        """What is added to xi if the second point is moved by u and the first stays."""
        return self.start_shift([-x for x in xi], u)

    def transport(self, xi: Sequence[Fast], p: Sequence[Fast]) -> list[Fast]:
        """By how much a covector changes from the frame of g to that of g tau(xi): (Ad* - 1) p; all components."""
        rows = self.acting.adjoint_rows(self.acting.power_rows(fast(1), self._whole(xi), self.retraction))
        whole, d = self._whole(p), range(self.acting.dimension)
        return [total((fast(rows[j][k]) - int(j == k)) * fast(whole[j]) for j in d) for k in d]

    # numbers
    def read(self, given: Any, role: str = "start", axis: str = "lane") -> Array:
        """The numbers of one given matrix, or of one for each place of an axis; a matrix that is no point is refused."""
        matrix, n = np.asarray(given, dtype=float), self.size
        if matrix.shape[-2:] != (n, n) or matrix.ndim not in (2, 3):
            raise StartError(
                f"{role}: {self.name} has shape {matrix.shape}. Give the {n} x {n} matrix of a {self.noun}, or an array "
                f"({axis}s, {n}, {n})."
            )
        if not np.isfinite(matrix).all():
            raise StartError(f"{role}: {self.name} has entries that are not finite. Give {self.expected}.")
        off, what = self.group.defect(matrix)
        if (off > NOT_A_POINT).any():
            worst = np.unravel_index(int(np.argmax(off)), off.shape) if off.ndim else ()
            at = f" ({axis} {worst[0]})" if worst else ""
            raise StartError(
                f"{role}: {self.name}{at} is no {self.noun}: {distance_in_words(self.group, matrix[worst], off[worst], what)}"
            )
        return self.numbers_of(matrix)

    def numbers_of(self, matrices: Array) -> Array:
        """The numbers of points, on one further axis; NaN where matrices are."""
        with np.errstate(invalid="ignore"):
            found: Array = r.made_vector(self.group.numbers_of(r.taken(matrices)), [matrices[..., 0, 0]])
        return found

    def shown(self, numbers: Array) -> Array:
        """The matrices of numbers, on two further axes."""
        held = self._held(numbers)
        found: Array = r.made(self.group.rows_of(held), held[:1])
        return found

    def entry(self, numbers: Array, entry: Entry) -> Array:
        """One entry of the matrices."""
        i, j = entry.place
        found: Array = r.made(self.group.rows_of(self._held(numbers)), self._held(numbers)[:1])[..., i, j]
        return found

    def _held(self, numbers: Array) -> list[Any]:
        return [numbers[..., k] for k in range(numbers.shape[-1])]

    def moved(self, numbers: Array, xi: Array) -> Array:
        """The numbers of g tau(xi)."""
        found: Array = r.made_vector(self.group.step(self._held(numbers), self._held(xi), 1, self.retraction))
        return found

    def difference(self, first: Array, second: Array) -> Array:
        """xi with second = first tau(xi)."""
        found: Array = r.made_vector(self.group.way(self._held(first), self._held(second), self.retraction))
        return found

    def position(self, numbers: Array) -> Array:
        """Displacements from the origin, one per direction; 0 where a position is no displacement."""
        held = self._held(numbers)
        found: Array = r.made_vector(self.group.position(held), held[:1])
        return found

    def drawn(self, chance: random.Random, scales: dict[str, float]) -> dict[str, float]:
        """The entries of a random point, by name; those that are lengths at their scale."""
        units = set(self.group.entry_units.values())
        sizes = [scales.get(d.name, 1.0) if k in units else 1.0 for k, d in enumerate(self.directions)]
        matrix = self.group.exp([chance.gauss(0, 1) * size for size in sizes])
        return {e.name: float(matrix[e.place]) for e in self.entries}

    # for readers
    @property
    def entry_sizes(self) -> dict[Any, Fast]:
        """For each entry an expression of its size: a direction in the same unit, or 1/2 in every unit."""
        units = self.group.entry_units
        return {e: fast(self.directions[units[e.place]]) if e.place in units else fast(1) / 2 for e in self.entries}

    @property
    def curves(self) -> tuple[Any, ...]:
        """The entries that a figure shows against time; the first two are its path."""
        return tuple(self.matrix[place] for place in self.group.curves)

    def body_name(self, k: int) -> str:
        """The name of component k of the momentum."""
        return self.group.body_names(self.name)[k]

    def in_space(self, covector: Sequence[Fast]) -> dict[str, Fast]:
        """The components Ad*_(g^-1) p of a momentum, or of a force on it, in space, by the name of the momentum.

        None where only the velocity of the group is known: then p in space is no function of the state.
        """
        if not self.numbers:
            return {}
        back = self.group.adjoint_rows(self.group.inverse_rows(self._entry_rows))
        rows = r.applied(r.transposed(back), covector)
        return dict(zip(self.group.space_names(self.name), map(fast, rows), strict=True))

    def space_rates(self, forces: Sequence[Fast], momenta: Sequence[Fast]) -> dict[str, Fast]:
        """The rates of the momenta in space, by the forces X_j(L) + F_j."""
        return self.in_space(forces)
