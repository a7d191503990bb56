"""Routh's reduction: cyclic velocities are eliminated by their constant momenta.

With R = L - p_c v_c, in which v_c is expressed by p_c = dL/dv_c, the other coordinates obey Lagrange's equations of R,
where the p_c are constants. Then x_c follows by quadrature of v_c. Putting p_c = const into L itself gives wrong equations.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import sympy
from sympy import Expr

from ...decide.budget import Budget
from ...decide.zero import vanishes
from ...display import Part, Shown
from ...errors import ModelError, StartError, told
from ...model.coordinates import Coordinate, Parameter, Velocity, parameters
from ...model.heat import mechanical
from ...model.system import System
from ...symbolic import fast, gradient, number
from ..algebra import linear_solution
from ..motion.lagrange import expanded, readable
from ..motion.velocity_degrees import quadratic_part
from .on_shell import shell


@dataclass(frozen=True, repr=False, eq=False)
class RouthReduction(Shown):
    """A system reduced by cyclic coordinates.

    original:    the system that was reduced
    cyclic:      the coordinates that were eliminated
    system:      what is left, a `System` with the Routhian for its Lagrangian and the momenta for parameters
    routhian:    R = L - p.v over the cyclic coordinates
    momenta:     {p_x: dL/d(x.dot)}, each new parameter and the momentum it is the value of
    velocities:  {x.dot: expression}, the cyclic velocities along a motion of the reduced system
    """

    original: System
    cyclic: tuple[Coordinate, ...]
    system: System
    routhian: Expr
    momenta: Mapping[Parameter, Expr]
    velocities: Mapping[Velocity, Expr]

    @property
    def effective_potential(self) -> Expr:
        """-R at rest: the potential with the part of the kinetic energy that the constant momenta determine."""
        return sympy.expand(-self.routhian.xreplace(dict.fromkeys(self.system.velocities, sympy.S.Zero)))

    def momenta_at(self, start: Mapping[Any, float], parameters: Mapping[Any, float]) -> dict[Parameter, float]:
        """The values of the momenta at a state of the original system: parameters for a run of the reduced one."""
        values = {getattr(k, "name", k): float(v) for k, v in {**parameters, **start}.items()}
        found = {}
        for p, expression in self.momenta.items():
            missing = sorted(s.name for s in expression.free_symbols if s.name not in values)
            if missing:
                raise StartError(f"momenta_at: {p} depends on {missing[0]}, which was not given. Add {missing[0]}: ...")
            found[p] = number(fast(expression), values)
        return found

    def reconstruct(self, run: Any, start: Mapping[Any, float]) -> dict[Coordinate | Velocity, Any]:
        """The cyclic coordinates and their velocities along a run of the reduced system.

        start:  {x: value at the first record} for every cyclic coordinate

        The velocities come from the formula, and their rates from the equations of motion. Their integral is that of the
        polynomials of degree 11 that have these values and rates at six neighbouring records (fewer in shorter runs):
        order 12 in the distance between records. So record often enough (`every=1`), and the error is that of the run.
        """
        import numpy as np

        if getattr(run, "system", None) != self.system:
            raise ModelError("reconstruct: expected a run of the reduced system: simulate(reduction.system, ...).")
        given = {getattr(k, "name", k): v for k, v in start.items()}
        for q in self.cyclic:
            if q.name not in given:
                raise StartError(f"reconstruct: where does {q} begin? Give start={{{q}: ...}}.")
        speed, slope = self._speeds(run)
        motion: dict[Coordinate | Velocity, Any] = {}
        for k, q in enumerate(self.cyclic):
            rows = zip(speed[..., k], slope[..., k], strict=True)
            total = np.stack([_up_to_records(f, df, run) for f, df in rows])
            path = np.asarray(given[q.name], dtype=float).reshape(-1, 1) + total
            motion[q], motion[q.dot] = (a if run.lanes is not None else a[0] for a in (path, speed[..., k]))
        return motion

    def _speeds(self, run: Any) -> tuple[Any, Any]:
        """The cyclic velocities and their rates: arrays over lanes, records and cyclic coordinates."""
        import numpy as np

        at, s = shell(self.system), self.system
        columns = [np.atleast_2d(run[c]) for c in (*s.coordinates, *s.velocities)]
        shape = columns[0].shape
        own = [np.broadcast_to(np.asarray(run.parameters[p.name]).reshape(-1, 1), shape) for p in s.parameters]
        inputs = np.stack([*columns, np.broadcast_to(run.time, shape), *own], axis=-1).reshape(shape[0] * shape[1], -1)
        states, formulas = at.moving(inputs), list(self.velocities.values())
        return (
            at.values(formulas, states).reshape(*shape, -1),
            at.rates(formulas, states)[0].reshape(*shape, -1),
        )

    def _parts(self) -> list[Part]:
        names = ", ".join(q.name for q in self.cyclic)
        return [
            f"{self.original.name}, reduced by {names}",
            ("Routhian", self.routhian),
            *((f"force on {q}", f) for q, f in zip(self.system.coordinates, self.system.force, strict=True) if f != 0),
            *(("constraint", sympy.Eq(c.expression, 0, evaluate=False)) for c in self.system.constraints),
            *((f"{p} stands for", e) for p, e in self.momenta.items()),
            "Along a motion of the reduced system, by quadrature:",
            *((str(v), e) for v, e in self.velocities.items()),
        ]


def routh(system: System, cyclic: Sequence[Coordinate] | None = None) -> RouthReduction:
    """Eliminate cyclic coordinates: all of them, or those given."""
    mechanical(system, "routh")
    chosen = _chosen(system, cyclic)
    rest = [q for q in system.coordinates if q not in chosen]
    if not rest:
        raise ModelError(
            f"routh: every coordinate of {system.name} is cyclic, so nothing is left to move: all momenta are constant and "
            f"all velocities follow from them. Leave one out: cyclic=[{chosen[0]}]."
        )
    p = _symbols(system, chosen)
    solved, R = _eliminated(system, chosen, rest, p)
    left = system.replace(
        name=f"{system.name}, reduced by {', '.join(q.name for q in chosen)}",
        coordinates=rest,
        lagrangian=R,
        internal_energy=0,  # contained in R
        forces={
            q: _without(f.xreplace(solved), chosen)
            for q, f in zip(system.coordinates, system.forces, strict=True)
            if q in rest
        },
        dissipation=_without(system.dissipation, chosen),
        constraints=[_without(c.expression, chosen) for c in system.constraints],
        variations=_variations(system, rest),
    )
    meaning = {c: expanded(gradient(system.lagrangian, [q.dot])[0], system) for c, q in zip(p, chosen, strict=True)}
    return RouthReduction(system, tuple(chosen), left, R, meaning, solved)


def _eliminated(
    system: System, chosen: Sequence[Coordinate], rest: Sequence[Coordinate], p: Sequence[Parameter]
) -> tuple[dict[Velocity, Expr], Expr]:
    """v_c = A^-1 (p - b) and R = L0 - (p - b).v_c/2, for L = v_c.A v_c/2 + b.v_c + L0."""
    velocities = [q.dot for q in chosen]
    parts = quadratic_part(system.lagrangian, velocities)
    if parts is None:
        raise ModelError(
            f"routh: {system.name} is not quadratic in {', '.join(map(str, velocities))}, so momenta cannot be solved for "
            f"them in closed form. Choose other coordinates: cyclic=[...]."
        )
    A = sympy.Matrix([[readable(a, system) for a in row] for row in parts.mass])
    u = sympy.Matrix([c - readable(b, system) for c, b in zip(p, parts.linear, strict=True)])
    speeds = linear_solution(A, u)
    if speeds is None:
        raise ModelError(
            f"routh: the inertia of {', '.join(q.name for q in chosen)} is singular, so their momenta do not determine "
            f"their velocities. Eliminate fewer coordinates: cyclic=[...]."
        )
    R = readable(parts.rest, system) - sympy.Add(*(a * b for a, b in zip(u, speeds, strict=True))) / 2
    R, speeds = _without(R, chosen), [_without(e, chosen) for e in speeds]
    return dict(zip(velocities, speeds, strict=True)), _tidy(R, [q.dot for q in rest])


def _without(e: Expr, chosen: Sequence[Coordinate]) -> Expr:
    """An expression without coordinates that occur in it but do not change its value."""
    for q in (q for q in chosen if q in e.free_symbols):
        forms = (e.xreplace({q: value}) for value in (sympy.S.Zero, sympy.S.One, sympy.S.Half))
        e = next((f for f in forms if not f.has(sympy.nan, sympy.zoo, sympy.oo) and vanishes(f - e)), e)
    return e


def _tidy(R: Expr, velocities: Sequence[Velocity]) -> Expr:
    """The same, as a polynomial in the velocities with factored coefficients where possible."""
    budget = Budget(attempts=200, seconds=2.0)
    polynomial = budget.call(sympy.Poly, R, *velocities)
    if polynomial is None:
        return R
    terms = []
    for powers, coefficient in polynomial.terms():
        small = budget.call(sympy.factor, coefficient)
        terms.append((coefficient if small is None else small) * sympy.Mul(*map(sympy.Pow, velocities, powers)))
    tidy = sympy.Add(*terms)
    return tidy if vanishes(tidy - R) else R


def _variations(system: System, rest: Sequence[Coordinate]) -> list[Expr] | None:
    """The one-forms of the original system; reactions have no component along eliminated coordinates."""
    if not system.has_own_variations:
        return None
    index = {q: i for i, q in enumerate(system.coordinates)}
    return [sympy.Add(*(w[index[q]] * q.dot for q in rest)) for w in system.variations]


def _symbols(system: System, chosen: Sequence[Coordinate]) -> list[Parameter]:
    """A parameter for each momentum, p_x for x, unless that name is taken."""
    taken = {s.name for s in (*system.coordinates, *system.parameters)}
    free = [next(n for n in (f"p_{q}", f"momentum_{q}", f"constant_momentum_{q}") if n not in taken) for q in chosen]
    return [parameters(name) for name in free]


def _chosen(system: System, cyclic: Any) -> list[Coordinate]:
    """The coordinates to eliminate, checked."""
    if not isinstance(system, System):
        raise ModelError(f"routh: got {told(system)}. Expected a System: routh(system).")
    if cyclic is None:
        found = [q for q in system.coordinates if not _obstacle(system, q)]
        if not found:
            why = "; ".join(f"{q}: {_obstacle(system, q)}" for q in system.coordinates)
            raise ModelError(f"routh: {system.name} has no cyclic coordinate ({why}).")
        return found
    listed = [cyclic] if isinstance(cyclic, Coordinate) else list(cyclic)
    names = ", ".join(q.name for q in system.coordinates)
    if not listed:
        raise ModelError("routh: cyclic=[] eliminates nothing. Name coordinates, or leave cyclic= out to take all.")
    for q in listed:
        if q not in system.coordinates:
            raise ModelError(f"routh: {q} is not a coordinate of {system.name}. Its coordinates are {names}.")
        if obstacle := _obstacle(system, q):
            raise ModelError(f"routh: {q} is not cyclic: {obstacle}. Leave cyclic= out to take those that are.")
    return [q for q in system.coordinates if q in listed]


def _obstacle(system: System, q: Coordinate) -> str:
    """Why a coordinate cannot be eliminated; empty if it can."""
    i = system.coordinates.index(q)
    if not vanishes(system.lagrangian.diff(q)):
        return f"the Lagrangian depends on {q}"
    if not vanishes(system.force[i]):
        return f"a force acts along {q}"
    rows = [row for c, w in zip(system.constraints, system.variations, strict=True) for row in (c.coefficients, w)]
    if not all(vanishes(row[i]) for row in rows):
        return f"a constraint acts along {q}"
    others = [*system.force, *(a for row in rows for a in row), *(c.drift for c in system.constraints)]
    if not all(vanishes(e.diff(q)) for e in others):
        return f"a force or constraint on another coordinate depends on {q}"
    return ""


def _up_to_records(values: Any, rates: Any, run: Any) -> Any:
    """The integral up to each record of a run, whose last record may be an event between two nodes."""
    import numpy as np

    count, spacing = len(run.at_nodes), run.h * run.every
    total = _cumulative(values[:count], rates[:count], spacing)
    if count == len(run):
        return total
    rest = _cumulative(values[-2:], rates[-2:], run.time[-1] - run.time[-2])[-1]
    return np.append(total, total[-1] + rest)


def _cumulative(values: Any, rates: Any, spacing: float, width: int = 6) -> Any:
    """The integral up to each of some equally spaced records, by polynomials through values and rates of neighbours."""
    import numpy as np

    finite = np.isfinite(values) & np.isfinite(rates)
    known = len(values) if finite.all() else int(np.argmin(finite))
    total = np.full(len(values), np.nan)
    total[:known] = 0.0
    width = min(width, known)
    cells = np.zeros(max(known - 1, 0))
    for k in range(len(cells)):
        first = min(max(k - width // 2 + 1, 0), known - width)
        near = slice(first, first + width)
        by_value, by_rate = _cell_weights(width, k - first)
        cells[k] = by_value @ values[near] + spacing * (by_rate @ rates[near])
    total[1:known] = spacing * np.cumsum(cells)
    return total


@lru_cache(maxsize=64)
def _cell_weights(width: int, cell: int) -> tuple[Any, Any]:
    """Weights of values and rates at 0, 1, ..., width - 1 that integrate polynomials from `cell` to `cell` + 1 exactly."""
    import numpy as np

    powers, nodes = range(2 * width), range(width)
    matrix = [[Fraction(j**k) for j in nodes] + [Fraction(k * j ** (k - 1) if k else 0) for j in nodes] for k in powers]
    right = [Fraction((cell + 1) ** (k + 1) - cell ** (k + 1), k + 1) for k in powers]
    exact = sympy.Matrix(matrix).LUsolve(sympy.Matrix(right))
    weights = np.array([float(w) for w in exact])
    return weights[:width], weights[width:]
