"""Virtual displacements, the virtual work of any forces, and d'Alembert's principle.

A virtual displacement w at a position and a time satisfies omega^a . w = 0 for the one-form of every constraint; for ideal
constraints these are the rows A of A v + b = 0, without b. d'Alembert's principle: along a motion

    (d/dt dL/dv - dL/dq - F) . w = 0        for all virtual displacements w

which determines the motion together with the constraints; and forces R are reactions of ideal constraints exactly if
R . w = 0 for all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any

import sympy
from sympy import Expr

from ..budget import Budget
from ..errors import ModelError, StartError
from ..model import checks
from ..model.coordinates import Coordinate, time
from ..model.system import System
from ..shown import Part, Shown, Table
from ..symbolic import Fast, fast, gradient, number, slow, substitute, vanishes
from .lagrange import euler_lagrange, mass_matrix, multipliers, total_derivative

State = dict[str, float]
"""A value for every name: positions, velocities, parameters and time."""

OFF = 1e-9
"""A state is on the constraints if their value is below this, relative to the size of what enters them."""

TRIES = 24
"""Random points from which a state on the constraints is sought."""


@dataclass(frozen=True, repr=False)
class VirtualWork(Shown):
    """The work of forces on a basis of virtual displacements; any virtual work is a combination of these."""

    system: System
    forces: dict[Coordinate, Expr]
    displacements: tuple[dict[Coordinate, Expr], ...]
    work: tuple[Expr, ...]
    title: str = "virtual work"

    @property
    def is_zero(self) -> bool:
        """Whether the forces do no virtual work wherever the constraints hold."""
        return all(vanishes_on(self.system, w) for w in self.work)

    def _parts(self) -> Sequence[Part]:
        rows = [(*w.values(), work) for w, work in zip(self.displacements, self.work, strict=True)]
        names = tuple(f"delta {q}" for q in self.system.coordinates)
        zero = "is zero" if self.is_zero else "is not zero"
        if not rows:
            return [f"{self.system.name}: the constraints leave no virtual displacement, so the {self.title} {zero}."]
        verdict = f"On the constraints the {self.title} {zero}."
        return [f"{self.system.name}: {self.title}", Table((*names, "work"), rows), verdict]


def virtual_work(system: System, forces: Mapping[Coordinate, Any]) -> VirtualWork:
    """The work of generalised forces {x: expression} on a basis of virtual displacements.

    A force may contain positions, velocities, accelerations, multipliers, time, and parameters that the system does not have.
    """
    expect_system(system, "virtual_work")
    given = generalised(system, forces, "virtual_work")
    basis = virtual_displacements(system)
    work = [sum((given[q] * w[q] for q in system.coordinates), start=sympy.S.Zero) for w in basis]
    return VirtualWork(system, given, basis, tuple(sympy.S.Zero if vanishes(w) else tidy(w) for w in work))


def is_ideal(system: System, forces: Mapping[Coordinate, Any]) -> bool:
    """Whether forces could be the reactions of ideal constraints: they do no virtual work where the constraints hold."""
    return virtual_work(system, forces).is_zero


def dalembert_residual(
    system: System,
    accelerations: Mapping[Coordinate, Any] | None = None,
    forces: Mapping[Coordinate, Any] | None = None,
) -> VirtualWork:
    """The virtual work of d/dt dL/dv - dL/dq - F, which vanishes along a motion.

    accelerations:  {x: expression}; those that are left out stay symbols x.ddot
    forces:         {x: expression}, the given forces F; by default those of the system
    """
    expect_system(system, "dalembert_residual")
    put = {q.ddot: e for q, e in generalised(system, accelerations or {}, "accelerations").items()}
    put = {a: e for a, e in put.items() if a.coordinate in (accelerations or {})}
    active = dict(zip(system.coordinates, system.force, strict=True))
    active = active if forces is None else generalised(system, forces, "forces")
    inertia = [read(system, e).xreplace(put) for e in euler_lagrange(system)]
    balance = {q: e - active[q] for q, e in zip(system.coordinates, inertia, strict=True)}
    return replace(virtual_work(system, balance), title="residual of d'Alembert's principle")


def expect_system(system: Any, role: str) -> None:
    """Refuse anything that is not a System."""
    if not isinstance(system, System):
        raise ModelError(f"{role}: got {system!r} ({type(system).__name__}). Expected a System.")


def generalised(system: System, given: Any, role: str) -> dict[Coordinate, Expr]:
    """One checked expression per coordinate, zero where nothing is given."""
    q = system.coordinates
    if not isinstance(given, Mapping):
        raise ModelError(f"{role}: got {given!r}. Expected {{coordinate: expression}}, for example {{{q[0]}: 1}}.")
    for key in given:
        if key not in q:
            names = ", ".join(c.name for c in q)
            raise ModelError(f"{role}: {key} is not a coordinate of {system.name!r}. Its coordinates are {names}.")
    known = symbols(system)
    return {c: checks.symbols(checks.expression(given.get(c, 0), f"{role} of {c}"), known, role) for c in q}


def symbols(system: System) -> list[sympy.Symbol]:
    """Everything an expression along a motion may contain."""
    q = system.coordinates
    return [*q, *system.velocities, *(c.ddot for c in q), *multipliers(system), *system.parameters, time]


def read(system: System, expression: Fast) -> Expr:
    """The SymPy form of an expression of a system."""
    return slow(expression, symbols(system))


def held(system: System) -> dict[sympy.Symbol, Expr]:
    """Coordinates that a holonomic constraint fixes by itself (rho = R after `rho - R`), and their velocities."""
    found: dict[sympy.Symbol, Expr] = {}
    for c in system.holonomic:
        moving = [(q, a) for q, a in zip(system.coordinates, c.coefficients, strict=True) if a != 0]
        q, a = moving[0]
        if len(moving) == 1 and q not in a.free_symbols:
            value = sympy.expand(q - c.expression / a)
            found |= {q: value, q.dot: value.diff(time)}
    return found


def linear_pieces(system: System, put: Mapping[sympy.Symbol, Expr]) -> dict[str, list[list[Fast]]]:
    """m, f, A, omega and C of  m a = f + omega^T lambda,  A a + C = 0, as rows, with some symbols replaced."""
    rest = {q.ddot: 0 for q in system.coordinates}
    hidden = [total_derivative(c.velocity_form(system.coordinates), system.coordinates) for c in system.constraints]
    load = [fast(f) - e for f, e in zip(system.force, euler_lagrange(system), strict=True)]
    pieces: dict[str, list[list[Any]]] = {
        "mass": mass_matrix(system),
        "load": [[e] for e in load],
        "rows": [list(c.coefficients) for c in system.constraints],
        "forms": [list(w) for w in system.variations],
        "hidden": [[e] for e in hidden],
    }
    return {k: [[substitute(substitute(e, rest), put) for e in row] for row in rows] for k, rows in pieces.items()}


# The kernel of the one-forms


def virtual_displacements(system: System) -> tuple[dict[Coordinate, Expr], ...]:
    """A basis of the virtual displacements, without denominators: as many as there are degrees of freedom.

    Some displacements are determined by the others; which ones is decided by the rank at a random point, simple columns
    first. So the basis is one almost everywhere: where the determinant of those columns vanishes, it may degenerate.
    """
    n, forms = len(system.coordinates), sympy.Matrix([list(w) for w in system.variations])
    if not system.variations:
        return tuple({q: sympy.Integer(q == p) for q in system.coordinates} for p in system.coordinates)
    bound = _bound_columns(system, forms)
    free = [j for j in range(n) if j not in bound]
    found = []
    for j in free:
        solution = solve_exactly(forms[:, bound], -forms[:, j])
        entries = [sympy.S.Zero] * n
        entries[j] = sympy.S.One
        for i, e in zip(bound, solution, strict=True):
            entries[i] = e
        found.append(dict(zip(system.coordinates, _without_denominators(entries), strict=True)))
    return tuple(found)


def _bound_columns(system: System, forms: sympy.Matrix) -> list[int]:
    import numpy as np

    order = sorted(
        range(forms.shape[1]), key=lambda j: (len(forms[:, j].free_symbols), sympy.count_ops(forms[:, j]), j)
    )
    for state in random_states(system):
        numbers = np.array([[number(e, state) for e in forms.row(a)] for a in range(forms.shape[0])])
        if not np.isfinite(numbers).all():
            continue
        chosen: list[int] = []
        for j in order:
            if np.linalg.matrix_rank(numbers[:, [*chosen, j]], tol=1e-9 * np.abs(numbers).max()) > len(chosen):
                chosen.append(j)
        if len(chosen) == forms.shape[0]:
            return sorted(chosen)
    raise ModelError(
        f"{system.name}: the one-forms of the constraints have no values at random points, or are dependent."
    )


def _without_denominators(entries: Sequence[Expr]) -> list[Expr]:
    """The same direction, with numerators only and without common factors."""
    hidden, back = rational(entries)
    parts = [sympy.fraction(sympy.cancel(e)) for e in hidden]
    common = sympy.lcm_list([d for _, d in parts])
    cleared = [sympy.cancel(n * common / d) for n, d in parts]
    factor = sympy.gcd_list(cleared)
    return [sympy.factor_terms(sympy.cancel(e / factor).xreplace(back)) for e in cleared]


# Exact algebra on expressions that people read


def rational(entries: Sequence[Expr]) -> tuple[list[Expr], dict[sympy.Symbol, Expr]]:
    """Expressions with a symbol in place of everything that is not rational (sines, roots), and what they stand for."""
    names: dict[Expr, sympy.Symbol] = {}

    def hide(e: Expr) -> Expr:
        if e.is_Symbol or e.is_Rational or e.is_Float:
            return e
        if e.is_Add or e.is_Mul:
            return e.func(*(hide(a) for a in e.args))
        if e.is_Pow and e.exp.is_Integer:
            return hide(e.base) ** e.exp
        return names.setdefault(e, sympy.Dummy(f"g{len(names)}"))

    hidden = [hide(sympy.expand_power_base(sympy.expand_trig(e) if e.has(sympy.tan) else e)) for e in entries]
    return hidden, {s: e for e, s in names.items()}


def solve_exactly(matrix: sympy.Matrix, right: sympy.Matrix) -> list[Expr]:
    """The solution of a linear system over the field of fractions of its entries, row by row."""
    from sympy.polys.matrices import DomainMatrix
    from sympy.polys.matrices.exceptions import DMNonInvertibleMatrixError

    n = matrix.shape[0]
    hidden, back = rational([*matrix.row_join(right)])
    joined = DomainMatrix.from_Matrix(sympy.Matrix(n, n + right.shape[1], hidden)).to_field()
    try:
        solution = joined[:, :n].lu_solve(joined[:, n:]).to_Matrix()
    except DMNonInvertibleMatrixError:
        raise ZeroDivisionError("the matrix is singular") from None
    return [e.xreplace(back) for e in solution]


def tidy(expression: Expr, longest: int = 80) -> Expr:
    """A shorter way to write an expression, if one is found soon; a long expression is left as it is."""
    if sympy.count_ops(expression) > longest:
        return expression
    found, limit = [expression], Budget(seconds=0.3)
    related = {e.args for e in expression.atoms(sympy.sin)} & {e.args for e in expression.atoms(sympy.cos)}
    angles = (sympy.trigsimp, sympy.factor, sympy.trigsimp) if related or expression.has(sympy.tan) else (sympy.factor,)
    for step in (sympy.factor_terms, *angles):
        shorter = limit.call(step, found[-1])
        if shorter is None:
            break
        found.append(shorter)
    return min(found, key=sympy.count_ops)


def brief(label: str, expression: Expr, longest: int = 150) -> Part:
    """A labelled formula; of a long one only its length."""
    size = int(sympy.count_ops(expression))
    return (label, expression) if size <= longest else f"  {label}:  an expression of {size} operations"


# Zero, by value, wherever the constraints hold


def vanishes_on(system: System, expression: Any, samples: int = 4) -> bool:
    """Whether an expression is zero wherever the constraints hold, by value at random states on them."""
    e = fast(expression)
    if e.is_number or not system.constraints or vanishes(e):
        return vanishes(e)
    e = e.expand()  # of a product with a factor that vanishes on the constraints, the terms would say nothing
    terms = [abs(t) for t in (e.args if e.is_Add else (e,))]
    names, said = {s.name for s in e.free_symbols}, 0
    for state in admissible_states(system, names):
        value, size = number(e, state), sum(number(t, state) for t in terms)
        if isfinite(value) and isfinite(size):
            if abs(value) > 1e-9 * max(size, 1e-300):
                return False
            said += 1
        if said == samples:
            break
    return said > 0


def random_states(system: System, names: set[str] | None = None) -> Iterator[State]:
    """Random values for all symbols of a system and for further names."""
    import random

    rng = random.Random(0)
    known = {s.name for s in symbols(system)} | (names or set())
    for _ in range(TRIES):
        yield {name: rng.uniform(0.3, 1.7) for name in sorted(known)}


def admissible_states(system: System, names: set[str] | None = None) -> Iterator[State]:
    """Random states with positions and velocities moved onto the constraints; points that do not get there are left out."""
    for state in random_states(system, names):
        on = _onto(state, [c.expression for c in system.holonomic], [q.name for q in system.coordinates])
        forms = [c.velocity_form(system.coordinates) for c in system.constraints]
        on = on and _onto(on, forms, [v.name for v in system.velocities])
        if on:
            yield on


def _onto(state: State, expressions: Sequence[Any], names: Sequence[str]) -> State | None:
    """Newton's method with the shortest step, until the expressions vanish."""
    import numpy as np

    slopes = [gradient(e, names) for e in expressions]
    at = dict(state)
    for _ in range(40):
        value = np.array([number(e, at) for e in expressions])
        rows = np.array([[number(d, at) for d in row] for row in slopes]).reshape(len(value), len(names))
        if not (np.isfinite(value).all() and np.isfinite(rows).all()):
            return None
        if not value.size or np.abs(value).max() < 1e-13 * (1 + np.abs(rows).max()):
            return at
        change = np.linalg.lstsq(rows, -value, rcond=1e-10)[0]
        at |= {name: at[name] + float(d) for name, d in zip(names, change, strict=True)}
    return None


# A state given by a person


def _named(system: System, given: Mapping[Any, Any], role: str) -> State:
    known = {s.name for s in (*system.coordinates, *system.velocities, *system.parameters, time)}
    found: State = {}
    for key, value in given.items():
        name = key.name if isinstance(key, sympy.Symbol) else str(key)
        try:
            found[name] = float(value)
        except (TypeError, ValueError):
            raise StartError(f"{role}: {name} = {value!r} is not a number. Give one number for each symbol.") from None
    for name in found:
        if name not in known:
            raise StartError(f"{role}: {name} is unknown here. Expected one of {', '.join(sorted(known))}.")
    needed = {s.name for s in (*system.coordinates, *system.parameters)} - set(found)
    if needed:
        example = ", ".join(f"{name}: ..." for name in sorted(needed))
        raise StartError(f"{role}: no value for {', '.join(sorted(needed))}. Add {{{example}}}.")
    return {time.name: 0.0, **found}


def complete_state(system: System, given: Mapping[Any, Any], role: str) -> State:
    """Fill in velocities that the constraints determine; refuse a state that is off the constraints."""
    import numpy as np

    at = _named(system, given, role)
    missing = [v.name for v in system.velocities if v.name not in at]
    at = {**dict.fromkeys(missing, 0.0), **at}
    forms = [c.velocity_form(system.coordinates) for c in system.constraints]
    if missing:
        value = np.array([number(e, at) for e in forms])
        slopes = np.array([[number(d, at) for d in gradient(e, missing)] for e in forms]).reshape(-1, len(missing))
        if np.linalg.matrix_rank(slopes) < len(missing):
            raise StartError(f"{role}: no value for {', '.join(missing)}, and the constraints do not determine them.")
        at |= dict(zip(missing, np.linalg.lstsq(slopes, -value, rcond=None)[0].tolist(), strict=True))
    for e in (*(c.expression for c in system.holonomic), *forms):
        off, terms = number(e, at), [number(t, at) for t in sympy.Add.make_args(sympy.expand(e))]
        if abs(off) > OFF * sum(map(abs, terms)):
            raise StartError(f"{role}: the state violates {e} = 0: its value is {off:.6g}. Correct the state.")
    return at
