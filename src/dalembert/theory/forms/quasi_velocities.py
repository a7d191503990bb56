"""Quasi-velocities as given by the user: names and expressions w = A(q, t) v + b(q, t), checked; and their frame."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import sympy
from sympy import Expr, Matrix

from ...decide import balls
from ...decide.budget import Budget
from ...decide.decimals import Typed
from ...decide.elimination import independent
from ...decide.jumps import jumps
from ...decide.sample import points
from ...decide.zero import vanishes
from ...errors import ModelError, told
from ...model import checks
from ...model.constraints import linear_row
from ...model.coordinates import QuasiVelocity, time
from ...model.frame import Frame
from ...model.space import position_symbols
from ...model.system import System
from ...symbolic import TERMS, Fast, fast, free_names, slow, terms_of
from ..algebra import linear_solution, tidy
from ..motion.frames import frame_on_coordinates
from ..motion.lagrange import symbols
from ..motion.velocity_degrees import quadratic_part

SECONDS = 30
"""Seconds that solving for the velocities may take."""

Stated = Mapping[QuasiVelocity, Expr]
"""Quasi-velocities with their expressions."""


def stated(system: System, given: Any) -> tuple[Stated, Typed]:
    """The quasi-velocities that were given, with exact numbers; and the numbers as they were typed."""
    typed = _named(system, given)
    for u, e in typed.items():
        for S in sorted(e.free_symbols & set(system.entropies), key=str):
            raise ModelError(
                f"hamel: {u} contains the entropy {S}. Quasi-velocities depend on positions, velocities and time."
            )
    found = {u: checks.symbols(e, known(system), f"quasi-velocity {u}") for u, e in typed.items()}
    _check_names(system, found)
    return found, Typed.of(typed.values())


def frame_of(system: System, velocities: Stated) -> Frame:
    """The frame of some quasi-velocities, with structure functions in short form."""
    rows, offset = _coefficients(system, velocities)
    w = list(velocities)
    _check_independent(rows, w)
    inverse = _inverse(system, rows)
    frame = frame_on_coordinates(system.coordinates, w, [u.dot for u in w], rows, offset, inverse)
    return Reader(system, velocities).brackets(frame)


def _named(system: System, given: Any) -> dict[QuasiVelocity, Expr]:
    """Expressions by symbol; those of a list are called w_1, w_2, ..."""
    v = system.coordinates[0].dot
    if isinstance(given, str | sympy.Basic) or not isinstance(given, Mapping | Sequence):
        raise ModelError(
            f'hamel: velocities={told(given)}. Expected {{name: expression}}: velocities={{"u": {v}, ...}}.'
        )
    listed = given if isinstance(given, Mapping) else {f"w_{k + 1}": e for k, e in enumerate(given)}
    for name in listed:
        if not (isinstance(name, str) and name.isidentifier() and name.isascii() and not name.startswith("_")):
            raise ModelError(
                f"hamel: {told(name)} is not a name for a quasi-velocity. Names are texts of ASCII letters, digits and "
                f'underscores, beginning with a letter: velocities={{"u": {v}, ...}}.'
            )
    return {QuasiVelocity(name): checks.expression(e, f"quasi-velocity {name}") for name, e in listed.items()}


def known(system: System) -> set[sympy.Symbol]:
    """The symbols that quasi-velocities are written with, besides parameters and time."""
    return {*position_symbols(system.coordinates), *system.velocities}


def _check_names(system: System, velocities: Stated) -> None:
    """Refuse names that other symbols have, and a number of quasi-velocities that is not that of the coordinates."""
    q = system.coordinates
    used = checks.parameters([*system.expressions(), *velocities.values()], (*q, *system.entropies))
    for u in velocities:
        if u.name in {s.name for s in (*q, *system.entropies, *used, time)}:
            raise ModelError(f"hamel: the name {u} is taken by another symbol of {system.name!r}. Use another name.")
    if len(velocities) != len(q):
        names = ", ".join(c.name for c in q)
        raise ModelError(
            f"hamel: got {len(velocities)} quasi-velocities for the {len(q)} coordinates {names}. Give as many as there are "
            f"coordinates; expressions that constraints set to zero count too."
        )


def _coefficients(system: System, velocities: Stated) -> tuple[list[list[Expr]], list[Expr]]:
    """A and b of w = A v + b."""
    rows, offset, places = [], [], [*position_symbols(system.coordinates), time]
    for u, e in velocities.items():
        affine = linear_row(e, system.coordinates)
        if affine is None:
            raise ModelError(
                f"hamel: {u} = {e} is not linear in the velocities. Quasi-velocities are sums of coefficient times velocity, "
                f"with coefficients that depend on positions and time, and a function of these."
            )
        parts = (*affine[0], affine[1])
        if any(a.has(sympy.floor, sympy.ceiling) or jumps(a, places) for a in parts):
            raise ModelError(f"hamel: {u} = {e} jumps, so it has no rate there. Choose continuous coefficients.")
        rows.append([tidy(a) for a in affine[0]])
        offset.append(tidy(affine[1]))
    return rows, offset


def _check_independent(rows: Sequence[Sequence[Expr]], w: Sequence[QuasiVelocity]) -> None:
    """Refuse quasi-velocities that are dependent everywhere, or in a branch: random points do not hit isolated ones."""
    found = []
    for _, at in points((e for row in rows for e in row), attempts=8):
        with balls.precise() as flint:
            grid = balls.values(rows, {name: flint.arb(x) for name, x in at.items()})
        found += [(at, *independent(grid))] if grid is not None else []
    if not found:
        raise ModelError(
            "hamel: the quasi-velocities have no value at any of the points tried. Check their coefficients."
        )
    low = [(at, dependent) for at, kept, dependent in found if len(kept) < len(w)]
    if not low:
        return
    at, dependent = low[0]
    number, others = min(dependent.items())
    where = (
        "everywhere" if len(low) == len(found) else "at " + ", ".join(f"{n} = {x:.4g}" for n, x in sorted(at.items()))
    )
    if not others:
        raise ModelError(
            f"hamel: {w[number]} contains no velocity ({where}). Quasi-velocities are sums of coefficient times velocity."
        )
    raise ModelError(
        f"hamel: the quasi-velocities are dependent {where}: {w[number]} is a combination of "
        f"{', '.join(w[k].name for k in others)}, up to functions of positions and time. Replace it by one that is "
        f"independent of the others."
    )


def _inverse(system: System, rows: Sequence[Sequence[Expr]]) -> list[list[Expr]]:
    """The inverse of A in closed form."""
    n = len(rows)
    solution = Budget(seconds=SECONDS).call(linear_solution, Matrix(rows), sympy.eye(n))
    if solution is None:
        raise ModelError(
            f"hamel: the velocities of {system.name!r} could not be expressed by the quasi-velocities in closed form within "
            f"{SECONDS} s. Choose quasi-velocities with fewer velocities in each."
        )
    return [[tidy(e) for e in solution[k : k + n]] for k in range(0, n * n, n)]


# short forms


class Reader:
    """SymPy forms of expressions in the symbols of a system and of its quasi-velocities."""

    def __init__(self, system: System, velocities: Stated):
        self._velocities = list(velocities)
        given = (s for e in velocities.values() for s in e.free_symbols)
        every = [*given, *symbols(system), *velocities, *(u.dot for u in velocities)]
        self._symbols = {s.name: s for s in every}

    def read(self, e: Any) -> Expr:
        """Unchanged."""
        return slow(e, [self._symbols[name] for name in free_names([e])])

    def short(self, e: Any) -> Expr:
        """In a short form."""
        return sympy.S.Zero if e == 0 else tidy(self.read(e))

    def by_degree(self, e: Any) -> Expr:
        """A polynomial of degree two in the quasi-velocities with short coefficients; otherwise a short form.

        Expressions with too many terms to be multiplied out are left unchanged.
        """
        w = self._velocities
        if not free_names([e]) & {u.name for u in w}:
            return self.short(e)
        plain = self.read(e)
        if terms_of(plain) > TERMS:
            return plain
        parts = quadratic_part(e, w)
        if parts is None:
            return tidy(plain)
        n = range(len(w))
        squares = (self.short(parts.mass[i][i]) * w[i] ** 2 / 2 for i in n)
        products = (self.short(parts.mass[i][j]) * w[i] * w[j] for i, j in combinations(n, 2))
        linear = (self.short(a) * u for a, u in zip(parts.linear, w, strict=True))
        return sympy.Add(*squares, *products, *linear, self.short(parts.rest))

    def brackets(self, frame: Frame) -> Frame:
        """The same frame with structure functions in short form, and zero where they vanish."""

        def short(table: Mapping[Any, Fast]) -> dict[Any, Fast]:
            return {key: fast(self.short(c)) for key, c in table.items() if not vanishes(c)}

        return replace(frame, brackets=short(frame.brackets), drift_brackets=short(frame.drift_brackets))
