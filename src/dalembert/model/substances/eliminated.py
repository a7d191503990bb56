"""A mechanical system after elimination of its equations of state: a Lagrangian, or a differential-algebraic form."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import sympy
from sympy import Expr, Symbol

from ...decide import balls
from ...decide.elimination import rank
from ...decide.matrix_scaling import solved
from ...decide.sample import points_where
from ...display import Part, Shown
from ...errors import ModelError
from ...symbolic import fast, jacobian, number
from ..checks import expression
from ..coordinates import Coordinate, Parameter
from ..system import System
from .consistency import Verdict

if TYPE_CHECKING:
    from .equations_of_state import EquationsOfState, Parametrisation


@dataclass(frozen=True, repr=False)
class Reduced(Shown):
    """A system in the mechanical coordinates alone.

    kinetic, potential:  K and W; the potential is None where there is none in closed form
    forces:       {x: force} as a function of position
    recovered:    {variable of state: expression in the coordinates and constants}
    constraints:  relations between coordinates, which stay
    constants:    variables of state that are constants of the motion
    is_conservative, reason:  whether the force has a potential, and why
    """

    coordinates: tuple[Coordinate, ...]
    kinetic: Expr
    potential: Expr | None
    forces: Mapping[Coordinate, Expr]
    recovered: Mapping[Symbol, Expr]
    constraints: tuple[Expr, ...]
    constants: tuple[Symbol, ...]
    is_conservative: bool
    reason: str

    @property
    def lagrangian(self) -> Expr:
        """L = K - W."""
        if self.potential is None:
            raise ModelError(f"there is no Lagrangian K - W: {self.reason}. Use system(), which keeps the force.")
        return self.kinetic - self.potential

    def system(self, name: str = "reduced by equations of state") -> System:
        """The mechanical system; constants of the motion become parameters of the same name."""
        plain = {
            s for e in self._expressions() for s in e.free_symbols if type(s) in (Symbol, *map(type, self.constants))
        }
        if len({s.name for s in plain}) < len(plain):
            raise ModelError(
                f"{name}: two symbols have the same name and different assumptions. Make each symbol once."
            )
        own = {s: Parameter(s.name, **({"positive": True} if s.is_positive else {})) for s in plain}
        F = {} if self.potential is not None else {q: f.xreplace(own) for q, f in self.forces.items()}
        W = 0 if self.potential is None else self.potential.xreplace(own)
        constraints = [c.xreplace(own) for c in self.constraints]
        return System(
            name, self.coordinates, kinetic=self.kinetic.xreplace(own), potential=W, forces=F, constraints=constraints
        )

    def recover(self, values: Mapping[Symbol, Any]) -> dict[Symbol, Expr]:
        """All variables of state at a position, from {x: ..., constants: ...}: numbers or expressions."""
        at = {k: expression(v, "recover") for k, v in values.items()}
        return {v: e.xreplace(at) for v, e in self.recovered.items()}

    def _expressions(self) -> list[Expr]:
        return [
            self.kinetic,
            *([self.potential] if self.potential is not None else self.forces.values()),
            *self.constraints,
        ]

    def _parts(self) -> Sequence[Part]:
        head = (
            [("W", self.potential)] if self.potential is not None else [(f"F_{q}", f) for q, f in self.forces.items()]
        )
        rest = [("constraint", c) for c in self.constraints]
        return [self.reason, ("K", self.kinetic), *head, *rest, *((str(v), e) for v, e in self.recovered.items())]


@dataclass(frozen=True, repr=False)
class DifferentialAlgebraic(Shown):
    """The full state space with the equations of state as algebraic equations.

    equations:  the equations of state
    kinetic, forces, rates:  as given to `EquationsOfState.reduce`
    states:     what elimination found
    reason:     why coordinates alone do not suffice
    """

    equations: EquationsOfState
    kinetic: Expr
    forces: Mapping[Coordinate, Expr]
    rates: Mapping[Symbol, Expr]
    states: Parametrisation
    reason: str

    @property
    def differential(self) -> tuple[Symbol, ...]:
        """Positions, velocities and variables that have a rate."""
        q = self.equations.coordinates
        return (*q, *(c.dot for c in q), *self.rates)

    @property
    def algebraic(self) -> tuple[Symbol, ...]:
        """The other variables of state."""
        return tuple(v for v in self.equations.variables if v not in self.rates)

    @property
    def relations(self) -> tuple[Expr, ...]:
        """The algebraic equations, as expressions that vanish."""
        return self.equations.relations

    @cached_property
    def motion(self) -> dict[Coordinate, Expr]:
        """The equations of motion, as expressions that vanish: d/dt dK/dv - dK/dq - F."""
        q, K = self.equations.coordinates, self.kinetic
        made = {}
        for c in q:
            p = K.diff(c.dot)
            rate = sum((p.diff(d) * d.dot + p.diff(d.dot) * d.ddot for d in q), sympy.S.Zero)
            made[c] = rate - K.diff(c) - self.forces[c]
        return made

    def index_one(self, samples: int = 4) -> Verdict:
        """Whether the relations determine the algebraic variables: their Jacobian is regular at sampled states."""

        unknowns, count = self.algebraic, len(self.relations) - self.states.redundant
        if count != len(unknowns):
            names = ", ".join(str(v) for v in unknowns)
            return Verdict(False, f"{count} independent relations for {len(unknowns)} algebraic variables ({names})")
        given = sorted({s for r in self.relations for s in r.free_symbols} - set(unknowns), key=str)
        rows, seen = jacobian_of(self.relations, unknowns), 0
        for point in points_where(given, (), 8 * samples):
            try:
                algebraic = self.consistent({s: point[s.name] for s in given})
            except ModelError:
                continue
            at = point | {v.name: y for v, y in algebraic.items()}
            with balls.precise() as flint:
                J = balls.values(rows, {name: flint.arb(x) for name, x in at.items()})
            if J is None:
                continue
            seen += 1
            if rank(J) < len(unknowns):
                return Verdict(False, "the Jacobian of the relations by the algebraic variables is singular")
            if seen == samples:
                return Verdict(True, f"the Jacobian of the relations is regular at {samples} sampled states: index one")
        return Verdict(False, "no state was found at which the Jacobian has a value")

    def consistent(
        self, values: Mapping[Symbol, float], guess: Mapping[Symbol, float] | None = None
    ) -> dict[Symbol, float]:
        """The algebraic variables at given differential ones and constants: in closed form where it was found, else
        by Newton's method from a guess (by default 1 for each)."""
        at = {s.name: float(v) for s, v in values.items()}
        closed = {v: number(self.states.solved[v], at) for v in self.algebraic if v in self.states.solved}
        if len(closed) == len(self.algebraic) and all(map(math.isfinite, closed.values())):
            return closed
        return _newton(self.relations, self.algebraic, at, {v: (guess or {}).get(v, 1.0) for v in self.algebraic})

    def derivative(
        self, values: Mapping[Symbol, float], guess: Mapping[Symbol, float] | None = None
    ) -> dict[Symbol, float]:
        """The rates of the differential variables: an ordinary differential equation, as the index is one."""
        import numpy as np

        q = self.equations.coordinates
        at = {s.name: float(v) for s, v in (*values.items(), *self.consistent(values, guess).items())}
        at_rest = at | {c.ddot.name: 0.0 for c in q}
        M = np.array([[number(e, at) for e in row] for row in jacobian_of(self.motion.values(), [c.ddot for c in q])])
        a = np.linalg.solve(M, [-number(fast(e), at_rest) for e in self.motion.values()])
        rates = {v: number(fast(e), at) for v, e in self.rates.items()}
        return {**{c: at[c.dot.name] for c in q}, **{c.dot: float(b) for c, b in zip(q, a, strict=True)}, **rates}

    def _parts(self) -> Sequence[Part]:
        return [
            f"differential-algebraic: {self.reason}",
            f"differential variables: {', '.join(map(str, self.differential))}",
            *(sympy.Eq(e, 0, evaluate=False) for e in self.motion.values()),
            *((f"rate of {v}", e) for v, e in self.rates.items()),
            f"algebraic variables: {', '.join(map(str, self.algebraic))}",
            *(sympy.Eq(r, 0, evaluate=False) for r in self.relations),
        ]


def jacobian_of(expressions: Any, variables: Sequence[Symbol]) -> list[list[Any]]:
    """Rows of derivatives, in SymPy."""
    return [[e.diff(v) for v in variables] for e in expressions]


def _newton(
    relations: Sequence[Expr], unknowns: Sequence[Symbol], at: Mapping[str, float], guess: Mapping[Symbol, float]
) -> dict[Symbol, float]:
    """A zero of the relations, by Newton's method with step halving."""
    import numpy as np

    rows = jacobian([fast(r) for r in relations], unknowns)
    y = np.array([guess[v] for v in unknowns])

    def residual(y: Any) -> Any:
        here = {**at, **{v.name: float(b) for v, b in zip(unknowns, y, strict=True)}}
        return np.array([number(r, here) for r in relations]), here

    value, here = residual(y)
    for _ in range(60):
        J = np.array([[number(e, here) for e in row] for row in rows])
        if not (np.isfinite(J).all() and np.isfinite(value).all()):
            break
        step = solved(J[None], -value[None])[0]
        terms = np.abs(J) @ np.abs(y) + np.abs(value)  # of each relation, so that their units do not matter
        unit = np.where(terms > 0, terms, 1.0)
        trials = ((residual(y + step / 2**k), y + step / 2**k) for k in range(30))
        better = next((t for t in trials if np.abs(t[0][0] / unit).max() < np.abs(value / unit).max()), None)
        if better is None:
            break
        (value, here), y = better
    if not (np.abs(value) <= 1e-9 * (np.abs(J) @ np.abs(y))).all():
        raise ModelError("no consistent state was found from this guess. Give a better one: guess={variable: value}.")
    return {v: float(b) for v, b in zip(unknowns, y, strict=True)}
