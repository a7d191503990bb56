"""Equations of state as constraints on the full state space, and the system that remains when they are solved.

All variables of state and all relations between them are listed; relations are solved for one variable after the other.
If the force then depends on the mechanical coordinates alone, a potential W with -dW/dq = F gives the Lagrangian
K - W, and every other variable is a function of position. If not, the relations stay as the algebraic part of a
differential-algebraic system. (Sistemas termomecanicos, chapter 4, section 2.)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sympy
from sympy import Expr, Symbol

from ...decide.budget import Budget, BudgetSpentError
from ...decide.sample import points_where
from ...decide.zero import vanishes_where
from ...display import Part, Shown
from ...errors import ModelError, told
from ...symbolic import number
from ..checks import coordinates as checked_coordinates
from ..checks import expression
from ..coordinates import Coordinate
from .eliminated import DifferentialAlgebraic, Reduced
from .inversion import one_symbol_per_name, solutions, undone
from .potential_of_force import potential


@dataclass(frozen=True, repr=False)
class Parametrisation(Shown):
    """The states, as functions of some of the variables.

    free:       the variables that parametrise the states
    solved:     all others that could be solved for, as expressions in the free ones
    left:       relations between free variables that could not be solved
    redundant:  how many relations followed from the others
    """

    free: tuple[Symbol, ...]
    solved: Mapping[Symbol, Expr]
    left: tuple[Expr, ...]
    redundant: int = 0

    @property
    def dimension(self) -> int:
        """The dimension of the set of states."""
        return len(self.free) - len(self.left)

    def _parts(self) -> Sequence[Part]:
        head = f"states of dimension {self.dimension}, parametrised by {', '.join(map(str, self.free)) or 'nothing'}"
        left = ["relations that could not be solved:", *(sympy.Eq(r, 0, evaluate=False) for r in self.left)]
        return [head, *((str(v), e) for v, e in self.solved.items()), *(left if self.left else [])]


@dataclass(frozen=True, init=False, repr=False)
class EquationsOfState(Shown):
    """Relations between variables of state.

    relations:    expressions that vanish, or SymPy equations; `relations()` of a fundamental relation gives some
    variables:    the thermodynamic variables, such as [S, V, U, T, P]; where there is a choice the first are kept
    coordinates:  the mechanical coordinates on which the relations may depend, as by V = A*(x0 - x)

    All other symbols are constants. A variable known to be positive is declared so: Symbol("V", positive=True).
    """

    relations: tuple[Expr, ...]
    variables: tuple[Symbol, ...]
    coordinates: tuple[Coordinate, ...]

    def __init__(
        self, relations: Sequence[Any], *, variables: Sequence[Symbol], coordinates: Sequence[Coordinate] = ()
    ):
        for v in variables:
            if not isinstance(v, Symbol) or type(v) is Coordinate:
                raise ModelError(
                    f"variables: got {told(v)}. Expected symbols of thermodynamic variables: variables=[S, V, T]."
                )
        put = object.__setattr__
        put(self, "relations", tuple(expression(r, "relation") for r in _open(relations)))
        one_symbol_per_name(self.relations, "relations")
        put(self, "variables", tuple(variables))
        put(self, "coordinates", checked_coordinates(coordinates) if coordinates else ())
        unused = [v for v in variables if not any(r.has(v) for r in self.relations)]
        if unused:
            raise ModelError(f"variables: {unused[0]} occurs in no relation. Relate it to the others or leave it out.")

    def eliminate(self, keep: Sequence[Symbol] = (), budget: Budget | None = None) -> Parametrisation:
        """Solve the relations for one variable after the other; coordinates and `keep` are not solved for.

        When the budget is spent, or the search is interrupted, what is left stays in `left`.
        """
        budget, search = budget or Budget(attempts=2_000, seconds=2), _Elimination(self, keep)
        try:
            while search.step(budget):
                pass
        except (BudgetSpentError, KeyboardInterrupt):
            pass
        free = tuple(s for s in (*self.coordinates, *self.variables) if s not in search.solved)
        solved = {v: search.solved[v] for v in self.variables if v in search.solved}
        return Parametrisation(free, solved, tuple(search.pending), search.redundant)

    def reduce(
        self,
        kinetic: Any,
        forces: Mapping[Coordinate, Any],
        rates: Mapping[Symbol, Any] | None = None,
        budget: Budget | None = None,
    ) -> Reduced | DifferentialAlgebraic:
        """The mechanical system that remains: Lagrangian where coordinates suffice, differential-algebraic otherwise.

        kinetic:  the kinetic energy
        forces:   {x: force}, in terms of any of the variables
        rates:    {S: dS/dt} of variables with an equation of their own; {S: 0} makes S a constant of the motion
        """
        budget = budget or Budget(attempts=2_000, seconds=5)
        K = expression(kinetic, "kinetic")
        F = {q: expression(forces.get(q, 0), f"force on {q}") for q in self.coordinates}
        rate = {v: expression(e, f"rate of {v}") for v, e in (rates or {}).items()}
        self._check(K, forces, rate)
        states = self.eliminate(tuple(rate), budget)
        constant = [v for v, e in rate.items() if e == 0]
        free = [v for v in states.free if v not in (*self.coordinates, *constant)]
        reduced = {q: f.xreplace(states.solved) for q, f in F.items()}
        missing = [v for v in free if any(f.has(v) for f in reduced.values()) or v in rate]
        on_coordinates = all(set(r.free_symbols).isdisjoint(free) for r in states.left)
        if missing or not on_coordinates:
            reason = _why_not(self.coordinates, missing, rate, states)
            return DifferentialAlgebraic(self, K, F, rate, states, reason)
        found = potential(reduced, budget)
        return Reduced(
            self.coordinates, K, found.W, reduced, dict(states.solved), states.left, tuple(constant),
            found.exists, found.reason,
        )  # fmt: skip

    def _check(self, kinetic: Expr, forces: Mapping[Coordinate, Any], rates: Mapping[Symbol, Expr]) -> None:
        if not self.coordinates:
            raise ModelError("reduce: there is no coordinate. Give EquationsOfState(..., coordinates=[x]).")
        thermal = sorted(str(v) for v in kinetic.free_symbols.intersection(self.variables))
        if thermal:
            raise ModelError(
                f"reduce: the kinetic energy depends on {', '.join(thermal)}. Write it with coordinates, velocities and "
                f"constants alone."
            )
        for q in forces:
            if q not in self.coordinates:
                raise ModelError(
                    f"reduce: a force on {q}, which is not among coordinates=[{_names(self.coordinates)}]."
                )
        for v in rates:
            if v not in self.variables:
                raise ModelError(f"reduce: a rate of {v}, which is not among variables=[{_names(self.variables)}].")

    def _parts(self) -> Sequence[Part]:
        head = f"equations of state for {_names(self.variables)}"
        return [head, *(sympy.Eq(r, 0, evaluate=False) for r in self.relations)]


def _open(relations: Sequence[Any]) -> list[Any]:
    """The relations, unless SymPy has decided one of them already."""
    for r in relations:
        if r == sympy.true:
            raise ModelError("relations: one of them is True: it says nothing. Leave it out.")
        if r == sympy.false:
            raise ModelError(
                "relations: one of them is False: SymPy sees that its two sides differ for all real or positive symbols. "
                "Check its signs, or the assumptions of the symbols."
            )
    return list(relations)


def _names(symbols: Sequence[Symbol]) -> str:
    return ", ".join(str(s) for s in symbols)


def _why_not(
    coordinates: Sequence[Symbol], missing: Sequence[Symbol], rates: Mapping[Symbol, Expr], states: Parametrisation
) -> str:
    """Why there is no Lagrangian in the coordinates alone."""
    if states.left:
        return f"{len(states.left)} of the relations could not be solved in closed form"
    alone = [v for v in missing if v not in rates]
    hint = (
        f"; {_names(alone)} has no equation: add a relation, or a rate such as rates={{{alone[0]}: 0}}" if alone else ""
    )
    return (
        f"the states have dimension {states.dimension}: besides {_names(coordinates)} one needs {_names(missing)}{hint}"
    )


class _Elimination:
    """Relations not yet solved, and variables solved for."""

    def __init__(self, equations: EquationsOfState, keep: Sequence[Symbol]):
        self.pending: list[Expr] = list(equations.relations)
        self.solved: dict[Symbol, Expr] = {}
        self.redundant = 0
        # The last variables are eliminated first, so that the first ones are kept.
        self.removable = [v for v in reversed(equations.variables) if v not in keep]

    def step(self, budget: Budget) -> bool:
        """Solve one relation for one variable; simple ways are tried for all before computer algebra."""
        self._tidy()
        for solver in (undone, lambda r, v: solutions(r, v, budget)):
            for v in self.removable:
                for r in sorted((r for r in self.pending if r.has(v)), key=sympy.count_ops):
                    budget.spend(f"{v} from {r} = 0")
                    found = _only(solver(r, v), r, v)
                    if found is not None:
                        self._put(v, found, r)
                        return True
        return False

    def _put(self, v: Symbol, found: Expr, used: Expr) -> None:
        self.pending = [r.xreplace({v: found}) for r in self.pending if r is not used]
        self.solved = {u: e.xreplace({v: found}) for u, e in self.solved.items()} | {v: found}
        self.removable.remove(v)

    def _tidy(self) -> None:
        """Leave out relations that hold identically; refuse those that cannot hold."""
        open_ = [r for r in self.pending if not vanishes_where(r, ())]
        self.redundant += len(self.pending) - len(open_)
        self.pending = open_
        for r in open_:
            if r.is_number:
                raise ModelError(f"the equations of state contradict each other: they lead to {r} = 0.")


def _only(candidates: Sequence[Expr], relation: Expr, v: Symbol) -> Expr | None:
    """The one solution that the assumptions on the variable allow; None if there is none or a choice of branches."""
    allowed = [
        c
        for c in dict.fromkeys(candidates)
        if not (v.is_positive and c.is_nonpositive) and vanishes_where(relation.xreplace({v: c}), ())
    ]
    if v.is_positive and len(allowed) > 1:
        allowed = [c for c in allowed if _positive_somewhere(c)]
    return allowed[0] if len(allowed) == 1 else None


def _positive_somewhere(candidate: Expr) -> bool:
    return any(number(candidate, at) > 0 for at in points_where([candidate], (), 12))
