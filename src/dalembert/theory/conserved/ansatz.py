"""The space in which first integrals are looked for: products of functions of position and time with momenta or velocities.

The functions are monomials in what the system itself is written with: coordinates, time, sines and cosines of its
angles, roots and reciprocals. Parameters are not among them; they occur in the coefficients.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations_with_replacement
from typing import Any

import sympy
from sympy import Expr, cos, sin

from ...decide import balls
from ...decide.balls import Ball
from ...decide.zero import vanishes
from ...model.coordinates import Coordinate, Velocity, time
from ...model.system import System
from ...symbolic import fast, gradient
from ..motion.lagrange import expanded, momenta
from .on_shell import Shell
from .state_source import Array, States

_TRIGONOMETRIC = (sympy.sin, sympy.cos, sympy.tan, sympy.cot, sympy.sec, sympy.csc)


def building_blocks(system: System) -> list[Expr]:
    """The factors of coefficients: coordinates that are not only angles, sines and cosines, roots, reciprocals."""
    stated = _stated(system)
    inside = [f for e in stated for f in e.atoms(*_TRIGONOMETRIC)]
    outside = [e.xreplace({f: sympy.Dummy() for f in inside}) for e in stated]
    bare = {s for e in outside for s in e.free_symbols}
    angles = {s for f in inside for s in f.free_symbols if f.args[0].diff(s, 2) == 0} - bare
    angles -= {s for f in inside for s in f.free_symbols if f.args[0].diff(s, 2) != 0}
    blocks: list[Expr] = [q for q in system.coordinates if q not in angles]
    for argument in [*_ordered({f.args[0] for f in inside}), *_turning(system)]:
        blocks += [cos(argument), sin(argument)]
    return blocks + [e for e in _ordered({g for e in stated for g in _irrational(e)}) if e not in blocks]


def _turning(system: System) -> list[Expr]:
    """Coordinates that nothing depends on and whose inertia is not constant: they are probably angles."""
    moving = (*system.coordinates, *system.velocities, time)
    present = {s for e in _stated(system) for s in e.free_symbols}
    absent = [q for q in system.coordinates if q not in present]
    inertia = {q: gradient(gradient(system.lagrangian, [q.dot])[0], [q.dot])[0] for q in absent}
    return [q for q in absent if not all(vanishes(d) for d in gradient(inertia[q], moving))]


def _stated(system: System) -> list[Expr]:
    """The expressions a system is stated by, terms with functions of parameters alone unchanged."""
    rows = [*(a for w in system.variations for a in w), *(c.expression for c in system.constraints)]
    moving = {*system.coordinates, time}

    def plain(e: Expr) -> Expr:
        return e.replace(lambda f: isinstance(f, sympy.Function) and not f.free_symbols & moving, lambda f: sympy.S.One)

    return [plain(e) for e in (system.lagrangian, *system.force, *rows)]


def _irrational(expression: Expr) -> Iterator[Expr]:
    """Roots, reciprocals and other functions of coordinates and time in an expression."""
    for node in sympy.preorder_traversal(expression):
        if not any(isinstance(s, Coordinate) or s == time for s in node.free_symbols) or _moves(node):
            continue
        if isinstance(node, sympy.Pow) and not (node.exp.is_Integer and node.exp > 0):
            numeric = node.exp.is_Rational
            yield node.base ** (sympy.Rational(sympy.sign(node.exp), node.exp.q) if numeric else node.exp)
        elif isinstance(node, sympy.Function) and not isinstance(node, _TRIGONOMETRIC):
            yield node


def _moves(node: Any) -> bool:
    return any(isinstance(s, Velocity) for s in node.free_symbols)


def _ordered(found: set[Expr]) -> list[Expr]:
    return sorted(found, key=lambda e: (e.count_ops(), str(e)))


def potential_terms(system: System) -> list[Expr]:
    """The functions of position that the Lagrangian is a sum of, without their constant factors."""
    at_rest = system.lagrangian.xreplace(dict.fromkeys(system.velocities, sympy.S.Zero))
    moving = (*system.coordinates, time)
    terms = {t.as_independent(*moving)[1] for t in sympy.Add.make_args(expanded(at_rest, system))}
    return [e for e in _ordered(terms) if e.free_symbols & set(moving)]


def motion_blocks(system: System) -> tuple[list[Expr], list[Expr]]:
    """The momenta; and the velocities, where they are not the momenta times a constant."""
    p = momenta(system)
    plain = [len(_support(row)) == 1 and _constant(row, system) for row in (gradient(e, system.velocities) for e in p)]
    velocities = [v for v, same in zip(system.velocities, plain, strict=True) if not same]
    return [expanded(e, system) for e in p], list(velocities)


def _support(row: Sequence[Any]) -> list[Any]:
    return [a for a in row if not vanishes(a)]


def _constant(row: Sequence[Any], system: System) -> bool:
    moving = {fast(s) for s in (*system.coordinates, *system.velocities, time)}
    return all(vanishes(fast(a).diff(s)) for a in row for s in fast(a).free_symbols & moving)


def even(system: System) -> bool:
    """Whether the system is invariant under reversal of the velocities."""
    back = {fast(v): -fast(v) for v in system.velocities}
    L = fast(system.lagrangian)
    return vanishes(L - L.subs(back)) and all(vanishes(fast(f) - fast(f).subs(back)) for f in system.force)


Monomial = tuple[int, ...]
"""The building blocks that are multiplied, by number, with repetition."""


@dataclass(frozen=True, eq=False)
class Ansatz:
    """A list of functions, each a product of building blocks; the first `still` blocks are functions of (q, t)."""

    shell: Shell
    blocks: tuple[Expr, ...]
    still: int
    members: tuple[Monomial, ...]

    def __len__(self) -> int:
        return len(self.members)

    def expression(self, index: int) -> Expr:
        """One of the functions."""
        return sympy.Mul(*(self.blocks[k] for k in self.members[index]))

    def table(self, states: States) -> tuple[Array, Array]:
        """Values of all functions at some states, and their rates in units of the time scale, by the product rule."""
        import numpy as np

        block = self._values(states.inputs)
        rate = self.shell.rates(self.blocks, states)[0] * self.shell.pace
        values, rates = np.ones((len(states), len(self))), np.zeros((len(states), len(self)))
        for j, member in enumerate(self.members):
            for k in member:
                rates[:, j] = rates[:, j] * block[:, k] + values[:, j] * rate[:, k]
                values[:, j] *= block[:, k]
        return values, rates

    def exact_rates(self, parameters: Array | None = None) -> list[list[Ball]]:
        """The rates of all functions at states in ball arithmetic, a row for each state at which all have one."""
        used, found = sorted({k for member in self.members for k in member}), []
        gradients = (enumerate(gradient(self.blocks[k], self.shell.moving_symbols)) for k in used)
        slopes = [[(i, d) for i, d in slope if d != 0] for slope in gradients]
        with balls.precise() as flint:
            zero, one = flint.arb(0), flint.arb(1)
            for state in self.shell.exact_states(len(self) + 6, parameters):
                values = balls.raw_values([[self.blocks[k] for k in used]], state.point)[0]
                table = balls.raw_values([[d for _, d in slope] for slope in slopes], state.point)
                block, rate = dict(zip(used, values, strict=True)), {}
                for k, slope, known in zip(used, slopes, table, strict=True):
                    rate[k] = sum((d * state.along[i] for (i, _), d in zip(slope, known, strict=True)), start=zero)
                row = []
                for member in self.members:
                    value, change = one, zero
                    for k in member:
                        value, change = value * block[k], change * block[k] + value * rate[k]
                    row.append(change)
                if all(r.is_finite() for r in row):
                    found.append(row)
        return found

    def on(self, shell: Shell, put: Mapping[Expr, Expr]) -> Ansatz:
        """The same functions with symbols for constants, on the shell of the system that has these symbols."""
        return Ansatz(shell, tuple(b.xreplace(put) for b in self.blocks), self.still, self.members)

    def lifted(self, letters: Sequence[Expr], degree: int) -> Ansatz:
        """Every function times every product of at most `degree` of some constants."""
        factors = monomials(len(self.blocks), len(letters), degree)
        return Ansatz(
            self.shell, (*self.blocks, *letters), self.still, tuple((*m, *f) for m in self.members for f in factors)
        )

    @cached_property
    def _values(self) -> Any:
        return self.shell.function(self.blocks)

    def involved(self, index: int) -> tuple[int, int, int]:
        """The complexity of a function: powers of time, number of factors, factors that are velocities or momenta."""
        member = self.members[index]
        moving = sum(k >= self.still for k in member)
        return sum(self._timely[k] for k in member if k < self.still), len(member), moving

    @cached_property
    def _timely(self) -> list[bool]:
        return [time in b.free_symbols for b in self.blocks]

    def restricted(self, indices: Sequence[int]) -> Ansatz:
        """The same with some of the functions."""
        return Ansatz(self.shell, self.blocks, self.still, tuple(self.members[i] for i in indices))


def monomials(first: int, count: int, degree: int) -> list[Monomial]:
    """All products of at most `degree` of `count` blocks, the simplest first."""
    return [m for d in range(degree + 1) for m in combinations_with_replacement(range(first, first + count), d)]


def ansatz(
    shell: Shell, still: Sequence[Expr], moving: Sequence[Expr], powers: Sequence[int], degrees: tuple[int, int],
    extra: Sequence[Expr] = (),
) -> Ansatz:  # fmt: skip
    """Coefficients times products of `moving` blocks of the given powers, and functions of position and time alone.

    degrees: of the coefficients, and of the functions alone, to which `extra` functions are added.
    """
    blocks = (*still, *extra, *moving)
    first = len(still) + len(extra)
    alone = [m for m in monomials(0, len(still), degrees[1]) if m]
    alone += [(len(still) + k,) for k in range(len(extra))]
    factors = monomials(0, len(still), degrees[0])
    products = [m for p in powers for m in combinations_with_replacement(range(first, len(blocks)), p)]
    mixed = [(*f, *m) for f in factors for m in products]
    return Ansatz(shell, blocks, first, (*alone, *mixed))
