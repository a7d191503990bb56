"""Linearised motion about an equilibrium or a steady motion.

With a small displacement eta from a state (q*, v*) at which the equations hold with zero acceleration, and a small
change dlambda of the multipliers,

    M eta'' + D eta' + S eta = dlambda_a omega^a,     A eta = 0 (holonomic),     A eta' + B eta = 0 (kinematic).

D and S are the derivatives of d/dt dL/dv - dL/dq - F - lambda_a omega^a at v and q, the multipliers held at their
values: under constraints S contains lambda times the derivative of the forms. The symmetric part of D is the damping,
its antisymmetric part the gyroscopic terms; the parts of S are the stiffness and the circulatory terms.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any

import sympy
from sympy import Expr, Matrix, Symbol

from ...decide import balls
from ...decide.budget import Budget
from ...decide.decimals import PLAIN, Typed, decimal, exact
from ...decide.sample import points
from ...decide.zero import vanishes
from ...display import Part, Shown
from ...errors import ModelError, told
from ...model.bodies.assembly import system_of
from ...model.coordinates import Coordinate, Parameter, time
from ...model.heat import mechanical
from ...model.system import System
from ...numbers import real
from ...symbolic import Fast, fast, free_names, gradient, jacobian, magnitude, number, slow
from ..motion.lagrange import euler_lagrange, linear_motion, mass_matrix, multipliers, reaction
from .matrices import determinant, is_zero, kernel, least_squares_multipliers, neat, part, pivots
from .steady import refuse_unsteady, without_rounding


def steady_balance(system: System) -> list[Fast]:
    """d/dt dL/dv - dL/dq - F at zero acceleration, one per coordinate: balanced by the reactions in a steady motion."""
    return [-f for f in linear_motion(system).load]


def refuse_time(system: System, what: str) -> None:
    """Equilibria and steady motions are those of equations that do not contain time."""
    forms = [a for w in system.variations for a in w]
    for e in (*euler_lagrange(system), *system.force, *(c.expression for c in system.constraints), *forms):
        if time.name in free_names([e]) and not vanishes(gradient(e, [time])[0]):
            raise ModelError(
                f"{what}: the equations of {system.name!r} contain time, so no state stays what it is. Write the system "
                f"in coordinates that move along (a frame that turns with it), in which the equations are free of time."
            )


@dataclass(frozen=True, eq=False, repr=False)
class Linearisation(Shown):
    """M eta'' + D eta' + S eta = dlambda_a omega^a about a state, with the linearised constraints.

    about:                  the state: positions and velocities
    multipliers:            the multipliers there
    second, first, zeroth:  M, D and S, in all coordinates
    forms, rates, drifts:   omega, A and B, one row per constraint

    `mass`, `damping`, `gyroscopic`, `stiffness` and `circulatory` are the same in `independent` displacements, of which
    the others are combinations by the constraints: eta = basis * (independent displacements).
    """

    system: System
    about: dict[Symbol, Expr]
    multipliers: tuple[Expr, ...]
    second: Matrix
    first: Matrix
    zeroth: Matrix
    forms: Matrix
    rates: Matrix
    drifts: Matrix
    typed: Typed = PLAIN

    def _as_typed(self) -> Typed:
        return self.typed

    @cached_property
    def _dependent(self) -> tuple[int, ...]:
        return pivots(self.rates)

    @property
    def independent(self) -> tuple[Coordinate, ...]:
        """The coordinates whose displacements are free; the constraints give the others."""
        return tuple(q for i, q in enumerate(self.system.coordinates) if i not in self._dependent)

    @cached_property
    def basis(self) -> Matrix:
        """The displacements that the constraints allow, one column per independent coordinate."""
        return kernel(self.rates, self._dependent)

    @cached_property
    def _tests(self) -> Matrix:
        """The virtual displacements: those of the constraints, unless other variations were given."""
        return self.basis if self.system.is_ideal else kernel(self.forms, pivots(self.forms))

    @property
    def is_second_order(self) -> bool:
        """Whether kinematic constraints, if any, bind velocities alone: A eta' = 0."""
        return bool(self.drifts.is_zero_matrix)

    def _told(self, result: Any) -> Any:
        """A result in displayed form."""
        return decimal(result, self.typed)

    def _reduced(self, matrix: Matrix) -> Matrix:
        if not self.is_second_order:
            raise ModelError(
                "about this motion the kinematic constraints mix displacements and velocities (A eta' + B eta = 0), so there "
                "are no reduced matrices. Use .second, .first, .zeroth, .rates and .drifts, or .characteristic()."
            )
        return (self._tests.T * matrix * self.basis).applyfunc(neat)

    @cached_property
    def mass(self) -> Matrix:
        """The mass matrix."""
        return self._told(self._reduced(self.second))

    @cached_property
    def damping(self) -> Matrix:
        """The symmetric part of the factor of the velocities: forces that dissipate (or supply) energy."""
        return self._told(part(self._reduced(self.first), 1))

    @cached_property
    def gyroscopic(self) -> Matrix:
        """The antisymmetric part of the factor of the velocities: forces without power."""
        return self._told(part(self._reduced(self.first), -1))

    @cached_property
    def stiffness(self) -> Matrix:
        """The symmetric part of the factor of the displacements: forces with a potential."""
        return self._told(part(self._reduced(self.zeroth), 1))

    @cached_property
    def circulatory(self) -> Matrix:
        """The antisymmetric part of the factor of the displacements: forces without a potential."""
        return self._told(part(self._reduced(self.zeroth), -1))

    def characteristic(self, s: Symbol) -> Expr:
        """The polynomial whose roots s are the exponents of the motions eta = exp(s t) u, with leading coefficient 1."""
        m = len(self.system.constraints)
        kinds = [c.is_holonomic for c in self.system.constraints]
        rows = [self.rates.row(a) * (1 if kinds[a] else s) + self.drifts.row(a) for a in range(m)]
        pencil = self.second * s**2 + self.first * s + self.zeroth
        if m:
            pencil = pencil.row_join(-self.forms.T).col_join(Matrix.vstack(*rows).row_join(sympy.zeros(m, m)))
        found = Budget(seconds=20).call(determinant, pencil, s)
        if found is None:
            raise ModelError(
                "the characteristic polynomial is too large to be written out. Give numbers: "
                "dalembert.normal_modes(system, at=..., parameters=...)."
            )
        polynomial: Expr = self._told(found)
        return polynomial

    def squared_frequencies(self) -> tuple[Expr, ...]:
        """omega^2 of every normal mode as a formula, repeated ones repeated; for conservative systems of few freedoms."""
        if not self.is_second_order or not all(map(is_zero, (self.damping, self.gyroscopic, self.circulatory))):
            raise ModelError(
                "squared_frequencies: the linearised motion is damped, gyroscopic or circulatory, so its frequencies are not "
                "roots of a stiffness against a mass. Use .characteristic(s), or dalembert.normal_modes for numbers."
            )
        w = sympy.Dummy("w")
        budget = Budget(seconds=20)
        stiffness, mass = part(self._reduced(self.zeroth), 1), self._reduced(self.second)  # decimals would drop digits
        polynomial = budget.call(determinant, stiffness - w * mass, w)
        roots = None if polynomial is None else budget.call(sympy.roots, polynomial, w)
        if polynomial is None or roots is None or sum(roots.values()) != len(self.independent):
            raise ModelError(
                f"squared_frequencies: no formula was found for {len(self.independent)} frequencies. Give numbers: "
                f"dalembert.normal_modes(system, at=..., parameters=...)."
            )
        listed = [neat(root) for root, count in roots.items() for _ in range(count)]
        read = [self._told(root) for root in listed]
        if len(listed) == 2 and polynomial.free_symbols != {w} and any(e.has(sympy.Float) for e in read):
            read = self._told_pair(listed, neat(polynomial.subs(w, 0)))
        return tuple(read)

    def _told_pair(self, roots: list[Expr], product: Expr) -> list[Expr]:
        """Two roots with decimals, the smaller one as their product over the other.

        The difference b - sqrt(b^2 - 4 a c) of decimals loses all correct digits where the roots are far apart.
        """
        with balls.precise() as flint:
            _, at = next(points(roots))
            sizes = [abs(balls.value(root, {name: flint.arb(x) for name, x in at.items()})) for root in roots]
        large = int(bool(sizes[1] > sizes[0]))
        read = [self._told(roots[large])] * 2
        read[1 - large] = self._told(product) / read[large]
        return read

    def _parts(self) -> Sequence[Part]:
        at = ", ".join(f"{s} = {e}" for s, e in self.about.items())
        lines: list[Part] = [f"{self.system.name}, linearised about {at}"]
        if self.multipliers:
            told = ", ".join(f"{l} = {e}" for l, e in zip(multipliers(self.system), self.multipliers, strict=True))
            lines.append(f"multipliers {told}")
        if self.is_second_order:
            lines.append(
                f"M eta'' + (C + G) eta' + (K + N) eta = 0 for eta = d({', '.join(map(str, self.independent))})"
            )
            names = ("mass", "damping", "gyroscopic", "stiffness", "circulatory")
            named = [(n, getattr(self, n)) for n in names]
            return [*lines, *((n, a) for n, a in named if n == "mass" or not is_zero(a))]
        lines.append("M eta'' + D eta' + S eta = dlambda omega, A eta' + B eta = 0")
        parts = (self.second, self.first, self.zeroth, self.forms, self.rates, self.drifts)
        return [*lines, *zip(("M", "D", "S", "omega", "A", "B"), parts, strict=True)]


def linearise(system: System, *, about: Any, parameters: Mapping[Any, Any] | None = None) -> Linearisation:
    """Linearise about an equilibrium or a steady motion, given as {theta: 0} or with velocities {phi.dot: Omega, ...}.

    Values are numbers or expressions in parameters. Velocities left out are zero. Positions may be left out where the
    equations do not contain them; a coordinate that moves must be one of these. `parameters` gives values of parameters.
    """
    system = system_of(system, "linearise")
    mechanical(system, "linearise")
    refuse_time(system, "linearise")
    q, velocity = system.coordinates, system.velocities
    state = _point(system, about)
    numbers = _parameters(system, state, parameters)
    typed = system.typed | Typed.of([*state.values(), *numbers.values()])
    given, values = ({s: exact(e) for s, e in pairs.items()} for pairs in (state, numbers))
    point = {**dict.fromkeys(velocity, sympy.S.Zero), **given}
    moving = {c: point.pop(c, c) for c in q if not point[c.dot].is_zero}
    at = {**{s: e.xreplace(values) for s, e in point.items()}, **values}
    expressions = _coefficients(system)
    table = {fast(s): fast(e) for s, e in at.items()}
    parts = {name: [[e.subs(table) for e in row] for row in rows] for name, rows in expressions.items()}
    names = free_names(e for name in parts for row in parts[name] for e in row) - {m.name for m in multipliers(system)}
    _refuse_missing(system, names, moving)
    known = [*q, *velocity, *system.parameters, *(s for e in at.values() for s in e.free_symbols), *multipliers(system)]
    matrices = {name: _read(rows, known, len(q)) for name, rows in parts.items()}
    _refuse_no_value(system, matrices)
    computed = bool(Typed.of(state.values()).decimals)  # a state in decimals is only near a steady one
    if computed:
        matrices = {name: a.applyfunc(_near) for name, a in matrices.items()}
        matrices |= {name: matrices[name].applyfunc(_settled) for name in ("residual", "constraints")}
    reactions = _multipliers(system, matrices, at)
    put = dict(zip(multipliers(system), reactions, strict=True))
    matrices = {k: a.xreplace(put).applyfunc(neat) for k, a in matrices.items()}
    refuse_unsteady(system, expressions, matrices | {"reactions": reactions}, at)
    if computed:
        near = {s.name: float(e) for s, e in {**at, **put}.items() if e.is_number}
        matrices |= {name: without_rounding(expressions[name], matrices[name], near) for name in ("first", "zeroth")}
        matrices = {name: a.applyfunc(_rounded) for name, a in matrices.items()}
    shown = {s: at[s] for s in (*q, *velocity) if s in at and (s in q or not at[s].is_zero)}
    keep = ("second", "first", "zeroth", "forms", "rates", "drifts")
    return Linearisation(system, shown, reactions, **{k: matrices[k] for k in keep}, typed=typed)


def contained(system: System) -> set[str]:
    """The names of all symbols in the equations of motion at zero acceleration; the other coordinates are cyclic."""
    parts = _coefficients(system)
    return free_names(
        e for name in ("second", "balance", "forms", "rates", "constraints") for row in parts[name] for e in row
    )


@lru_cache(maxsize=32)
def _coefficients(system: System) -> dict[str, list[list[Fast]]]:
    """Everything that is evaluated at the point, as rows of expressions."""
    q, v = system.coordinates, system.velocities
    plain = steady_balance(system)
    whole = [b - r for b, r in zip(plain, reaction(system), strict=True)]
    chi = [fast(c.expression) for c in system.constraints]
    drifts = [
        [fast(0)] * len(q) if c.is_holonomic else gradient(e, q) for c, e in zip(system.constraints, chi, strict=True)
    ]
    return {
        "second": mass_matrix(system),
        "first": jacobian(whole, v),
        "zeroth": jacobian(whole, q),
        "forms": [[fast(a) for a in w] for w in system.variations],
        "rates": [[fast(a) for a in c.coefficients] for c in system.constraints],
        "drifts": drifts,
        "balance": [[b] for b in plain],
        "residual": [[b] for b in whole],
        "constraints": [[e] for e in chi],
    }


# what was given


def _point(system: System, about: Any) -> dict[Symbol, Expr]:
    """The state as expressions, by symbol; an equilibrium is taken by its `state`."""
    about = getattr(about, "state", about)
    known = {s.name: s for s in (*system.coordinates, *system.velocities)}
    q = system.coordinates[0]
    if not isinstance(about, Mapping):
        raise ModelError(f"about: got {about!r}. Expected a state, for example about={{{q}: 0}}, or an equilibrium.")
    found: dict[Symbol, Expr] = {}
    for key, value in about.items():
        name = key.name if isinstance(key, Symbol) else str(key)
        if name not in known:
            raise ModelError(f"about: {key} is unknown here. Expected one of {', '.join(known)}.")
        found[known[name]] = _value(value, f"about: {name}", "a number or an expression in parameters")
    return found


def _parameters(system: System, given: dict[Symbol, Expr], values: Mapping[Any, Any] | None) -> dict[Symbol, Expr]:
    known = {p.name: p for p in system.parameters}
    known |= {s.name: s for e in given.values() for s in e.free_symbols}
    found = {}
    for key, value in (values or {}).items():
        name = key.name if isinstance(key, Symbol) else str(key)
        if name not in known:
            raise ModelError(
                f"parameters: {key} is unknown here. Expected one of {', '.join(sorted(known)) or 'none'}."
            )
        found[known[name]] = _value(value, f"parameters: {name}", "a number or an expression in parameters")
    return found


def _value(given: Any, role: str, expected: str) -> Expr:
    """A real number, or an expression in parameters."""
    symbolic = isinstance(given, Expr) and given.free_symbols
    number = given if symbolic else real(given, role, ModelError, f". Expected {expected}.")
    e = sympy.sympify(given if isinstance(given, int | Fraction | Expr) else number)
    strange = any(not isinstance(s, Parameter) for s in e.free_symbols)
    if strange or e.is_finite is False or e.is_real is False or e.has(sympy.nan):
        raise ModelError(f"{role} = {told(given)}. Expected {expected}.")
    return e


def _refuse_no_value(system: System, matrices: Mapping[str, Matrix]) -> None:
    if any(e.has(sympy.nan, sympy.zoo, sympy.oo) for a in matrices.values() for e in a):
        raise ModelError(
            f"about: the equations of {system.name!r} have no value at this state: an expression in them divides by zero."
        )


def _refuse_missing(system: System, names: set[str], moving: Mapping[Coordinate, Any]) -> None:
    left = [q for q in system.coordinates if q.name in names]
    carried = [q for q in left if q in moving]
    if carried:
        raise ModelError(
            f"about: {carried[0]} moves, and the equations depend on it along the motion, so this is no steady motion in "
            f"these coordinates. Use coordinates in which only those move that the equations do not contain."
        )
    if left:
        example = ", ".join(f"{q}: ..." for q in left)
        raise ModelError(f"about: no position for {', '.join(map(str, left))}. Add about={{{example}}}.")


# multipliers


def _multipliers(system: System, matrices: Mapping[str, Matrix], at: Mapping[Symbol, Any]) -> tuple[Expr, ...]:
    """The multipliers whose reactions balance the equations in as many coordinates as there are constraints."""
    forms, balance = matrices["forms"], matrices["balance"]
    if not forms.rows:
        return ()
    if not forms.free_symbols and not balance.free_symbols and (forms.has(sympy.Float) or balance.has(sympy.Float)):
        found = least_squares_multipliers(forms, balance, matrices["second"])
        return tuple(sympy.Float(x) for x in found)
    columns = list(pivots(forms))
    solution = forms[:, columns].T.LUsolve(balance[columns, :])
    return tuple(neat(e) for e in solution)


# matrices for display


def _near(e: Expr) -> Expr:
    """A number in floating point."""
    return e if e.free_symbols or e.is_Integer else sympy.Float(number(e, {}))


def _settled(e: Expr) -> Expr:
    """Zero in place of an expression that is zero at a computed state up to the rounding of the state.

    Whole numbers are no exact ones there: with large coefficients the rounding of a state is whole.
    """
    if not e.free_symbols:
        return e if e.is_zero else sympy.Float(number(e, {}))
    at = {s.name: (k + 1) / 2 for k, s in enumerate(sorted(e.free_symbols, key=str))}
    return sympy.S.Zero if abs(number(e, at)) <= 1e-14 * number(magnitude(fast(e)), at) else e


def _rounded(e: Expr) -> Expr:
    """An expression with decimals of sixteen digits in place of numbers such as cos(1/10)."""
    parts = [part for part in e.atoms(sympy.Function, sympy.Pow) if not part.free_symbols]
    rounded: Expr = e.xreplace({part: exact(number(part, {})) for part in parts})
    return rounded


def _read(rows: Sequence[Sequence[Fast]], known: Sequence[Symbol], columns: int) -> Matrix:
    columns = len(rows[0]) if rows else columns
    return Matrix(len(rows), columns, [slow(e, known) for row in rows for e in row])
