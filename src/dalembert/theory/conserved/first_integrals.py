"""First integrals of a system, with the reasons.

`energy_integral` and `cyclic_momenta` are the two kinds that need no search; `first_integrals` searches for more.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, count
from typing import overload

import sympy
from sympy import Expr

from ...decide.budget import Budget, BudgetSpentError
from ...decide.zero import vanishes
from ...display import Part, Shown, read_with
from ...errors import ModelError
from ...model.bodies.assembly import system_of
from ...model.coordinates import Coordinate, time
from ...model.heat import mechanical
from ...model.system import System
from .balance_integrals import jacobi, momentum_integrals, separate_energies
from .energy_and_momenta import Integral
from .integral_search import Found, Search, follows
from .on_shell import Shell, shell
from .primitive import primitive

_COMPARED = 12  # integrals among the polynomials of which another is sought


@dataclass(frozen=True, repr=False, eq=False)
class FirstIntegrals(Shown):
    """The first integrals of a system: a sequence of `Integral`, and what is not conserved and why.

    not_conserved:  momenta, Jacobi integral or energy that change, each with the reason
    independent:    how many of the integrals are functionally independent (at a fixed time, on the constraints)
    remarks:        what the Jacobi integral means
    searched:       the spaces of functions that were searched
    ended:          what ended the search early: its budget, or an interruption; None if it was completed
    """

    system: System
    integrals: tuple[Integral, ...]
    not_conserved: tuple[Integral, ...]
    remarks: tuple[str, ...]
    searched: tuple[str, ...]
    ended: BudgetSpentError | KeyboardInterrupt | None = None

    @cached_property
    def independent(self) -> int:
        """How many of the integrals are functionally independent, at a fixed time, on the constraints."""
        return shell(self.system).rank([i.expression for i in self.integrals])

    def __iter__(self) -> Iterator[Integral]:
        return iter(self.integrals)

    def __len__(self) -> int:
        return len(self.integrals)

    @overload
    def __getitem__(self, index: int) -> Integral: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Integral, ...]: ...
    def __getitem__(self, index: int | slice) -> Integral | tuple[Integral, ...]:
        return self.integrals[index]

    def _parts(self) -> list[Part]:
        count = f"{len(self)} first integral{'' if len(self) == 1 else 's'}" if len(self) else "no first integral found"
        rank = f", {self.independent} independent" if len(self) > 1 else ""
        parts: list[Part] = [f"{self.system.name}: {count}{rank}"]
        for i in self.integrals:
            parts += [(i.name, i.expression), f"    {i.reason}"]
        parts += ["Not conserved:"] if self.not_conserved else []
        parts += [f"  {i.name}: {i.reason}" for i in self.not_conserved]
        parts += ["Remarks:", *(f"  {r}" for r in self.remarks)] if self.remarks else []
        return parts + (["Searched:", *(f"  {s}" for s in self.searched)] if self.searched else [])


def first_integrals(system: System, degree: int = 2, budget: Budget | None = None) -> FirstIntegrals:
    """Everything a system conserves that can be found, each with the reason; and what it does not conserve, and why.

    degree:  the highest power of the velocities in the integrals searched for, and of the coordinates in their
             coefficients; 0 reads off momenta and energies only
    budget:  what the search may spend; see `Budget`
    """
    system = system_of(system, "first_integrals")
    mechanical(system, "first_integrals")
    _check(degree)
    budget = budget or Budget()
    every: list[Integral] = []
    remarks: list[str] = []
    searched: list[str] = []
    ended: BudgetSpentError | KeyboardInterrupt | None = None
    try:
        _collect(system, degree, budget, every, remarks, searched)
    except (BudgetSpentError, KeyboardInterrupt) as error:
        ended = error
        why = "interrupted" if isinstance(error, KeyboardInterrupt) else str(error) or "the time is up"
        remarks.append(f"the search ended early ({why}): what was found until then is listed")
    every = [read_with(i, system.typed) for i in every]
    return FirstIntegrals(
        system=system,
        integrals=tuple(i for i in every if i.conserved),
        not_conserved=tuple(i for i in every if not i.conserved),
        remarks=tuple(remarks),
        searched=tuple(searched),
        ended=ended,
    )


def _collect(
    system: System, degree: int, budget: Budget, every: list[Integral], remarks: list[str], searched: list[str]
) -> None:
    """Fill the lists, the fastest searches first, so that they hold the results so far when a search is ended."""
    at = shell(system)
    for verdict in jacobi(system, at, budget, remarks):
        every.append(verdict)
    whole = len(every)
    for verdict in momentum_integrals(system, at, budget):
        every.append(verdict)
    for part in separate_energies(system, at):
        if not follows(part.expression, [i.expression for i in every[whole:] if i.conserved], at):
            every.append(part)
    if degree:
        read_off, listed = list(every), []
        search = Search(at, [i.expression for i in every if i.conserved], degree, budget, searched)
        for found in search.run():
            listed.append(found)
            every.append(_named(found, [i.name for i in every], at))
        for g in _integrated_constraints(system, [i.expression for i in every if i.conserved], at, budget):
            listed.append(Found(g, 1))
        listed = _without_combinations(listed, [i.expression for i in read_off if i.conserved], at)
        every[:] = read_off
        for found in listed:
            every.append(_named(found, [i.name for i in every], at))
    if at.states(1, 0) is None:
        remarks.append("no state on the constraints was found at random parameter values, so nothing was searched")


def _without_combinations(listed: Sequence[Found], known: Sequence[Expr], at: Shell) -> list[Found]:
    """The found integrals without those that are polynomials in all others, the longest left out first.

    An integral may be found before those that it is made of. Which are listed does not depend on the order then.
    """

    def length(found: Found) -> tuple[int, int]:
        e = found.expression
        return len(sympy.Add.make_args(e)), len(e.free_symbols & set(at.moving_symbols))

    kept = list(listed)
    for found in sorted(listed, key=length, reverse=True):
        others = [*known, *(f.expression for f in kept if f is not found)]
        if (
            len(others) <= _COMPARED
            and at.rank([*others, found.expression]) == at.rank(others)
            and follows(found.expression, others, at)
        ):
            kept.remove(found)
    return kept


def _integrated_constraints(system: System, known: Sequence[Expr], at: Shell, budget: Budget) -> Iterator[Expr]:
    """Functions of position whose rates are constraints, and which the search did not find.

    A coefficient like 1e-14 in a constraint is lost in the rounding of a search; quadrature is exact.
    """
    for c in system.kinematic:
        g = primitive(c.expression, system.coordinates, budget) if c.is_linear else None
        if g is not None and _is_entire(g) and not follows(g, known, at) and at.conserved(g):
            known = [*known, g]
            yield g


def _is_entire(g: Expr) -> bool:
    """Whether a function has one value everywhere: a logarithm or an inverse sine would be constant on a part only."""
    powers = (p.exp for p in g.atoms(sympy.Pow) if p.base.free_symbols)
    whole = all(n.is_Integer and n.is_positive for n in powers)
    return whole and all(isinstance(f, sympy.sin | sympy.cos | sympy.exp) for f in g.atoms(sympy.Function))


def _named(found: Found, taken: Sequence[str], at: Shell) -> Integral:
    """A found integral with its name, and the reason: the symmetry that it belongs to, where there is one."""
    e = found.expression
    if not e.free_symbols & set(at.system.velocities):
        reason = "the constraints on velocities keep it: they can be integrated"
        return Integral(_numbered("function of positions", taken), e, True, reason)
    kind = "linear in the velocities" if found.power == 1 else "quadratic in the velocities"
    reason = "found by search: its rate is zero at random states on the motion, for random parameter values"
    move = at.generator(e) if found.power == 1 else None
    if move is not None:
        common = _content(list(move.values()))
        shift = ", ".join(f"{q} by {xi / common}" for q, xi in move.items() if xi != 0)
        reason = f"symmetry: moving {shift} changes L by a total derivative at most"
    elif found.power > 1:
        reason += "; no symmetry of positions belongs to it"
    known = _symmetry(move or {})
    return Integral(known if known and known not in taken else _numbered(kind, taken), e, True, reason)


def _content(moves: Sequence[Expr]) -> Expr:
    """The positive number that all displacements have as a factor: masses are no part of what a symmetry moves."""
    found = sympy.S.Zero
    for xi in moves:
        found = sympy.gcd(found, sympy.sympify(xi).as_content_primitive()[0])
    return abs(found) or sympy.S.One


def _numbered(kind: str, taken: Sequence[str]) -> str:
    return next(name for k in count(1) if (name := f"{kind}, no. {k}") not in taken)


def _symmetry(move: Mapping[Coordinate, Expr]) -> str | None:
    """The name of the integral of a displacement, with c constant: x by c, x by c t, or x by -c y and y by c x."""
    moved = {q: xi for q, xi in move.items() if xi != 0}
    names, shifts = ", ".join(q.name for q in moved), set(moved.values())
    if len(shifts) == 1 and _is_constant(*shifts):
        return f"total momentum along {names}"
    if len(shifts) == 1 and _is_constant(*(xi / time for xi in shifts)):
        return f"centre of mass (Galilean boost along {names})"
    turns = {(x, y): moved[y] / x for x, y in combinations(moved, 2) if vanishes(moved[x] * x + moved[y] * y)}
    turned = [q for plane in turns for q in plane]
    if (
        sorted(turned, key=str) != sorted(moved, key=str)
        or len(set(turns.values())) != 1
        or not _is_constant(*turns.values())
    ):
        return None
    return f"angular momentum in {'; '.join(f'{x}, {y}' for x, y in turns)}"


def _is_constant(*expressions: Expr) -> bool:
    return not any(isinstance(s, Coordinate) or s == time for e in expressions for s in e.free_symbols)


def _check(degree: int) -> None:
    if not isinstance(degree, int) or isinstance(degree, bool) or degree not in (0, 1, 2):
        raise ModelError(
            f"first_integrals: degree={degree!r}. Integrals are searched for that are linear (degree=1) or also quadratic "
            f"(degree=2) in the velocities; degree=0 reads off momenta and energies only."
        )
