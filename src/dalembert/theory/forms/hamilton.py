"""Hamiltonian form: momenta p = dL/dv in place of velocities, and H(q, p, t) = p.v - L.

    q' = dH/dp,    p' = -dH/dq + F + lambda_a omega^a,    constraints = 0

The Legendre transform is its own inverse, so one function computes both: H(p) from L(v) and L(v) from H(p).
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import sympy
from sympy import Eq, Expr, Matrix, Symbol

from ...decide import balls
from ...decide.balls import values
from ...decide.budget import Budget
from ...decide.elimination import rank
from ...decide.sample import drawn, points
from ...decide.scale import natural_scales
from ...decide.zero import vanishes, vanishes_at
from ...display import Part, Shown
from ...errors import ModelError, told
from ...model import checks
from ...model.bodies.assembly import Assembly
from ...model.coordinates import Coordinate, Momentum, Velocity, multiplier, time
from ...model.heat import mechanical
from ...model.system import System
from ...symbolic import Fast, fast, gradient, jacobian, slow, substitute
from ...waist.stepmap import Block, StepMap, pointwise
from ..algebra import linear_solution, shortest, simplified, tidy, with_short_exponents
from ..conserved.on_shell import shell
from ..motion.lagrange import jacobi_integral, momenta, multipliers, reaction, readable
from ..motion.state_maps import motion_block
from ..motion.velocity_degrees import quadratic_part

if TYPE_CHECKING:
    from ...run.trajectory import Trajectory


class MomentumRate(Momentum):
    """The rate of a momentum, `x.momentum.dot`: the left-hand side of one of Hamilton's equations."""

    __slots__ = ()
    _suffix = "momentum.dot"

    def _render(self) -> tuple[str, str, str]:
        latex, unicode, _ = self.coordinate.momentum._render()
        return rf"\dot{{p}}{latex[1:]}", f"ṗ{unicode[1:]}", self.name


# the Legendre transform


@dataclass(frozen=True)
class Legendre:
    """A function G(u), its dual G*(w) = w.u - G at w = dG/du, and u(w); the last two are None if w = dG/du was not solved."""

    dual: Expr | None
    solution: tuple[Expr, ...] | None
    reason: str


def legendre(function: Expr, u: Sequence[Symbol], w: Sequence[Symbol], budget: Budget) -> Legendre:
    """The Legendre transform of a function of u, with dual variables w; all other symbols are parameters."""
    own = [*function.free_symbols, *w]
    parts = quadratic_part(function, u)
    if parts is not None:
        _check_regular(parts.mass, u)
        right = Matrix([s - tidy(slow(a, own)) for s, a in zip(w, parts.linear, strict=True)])
        mass = Matrix(len(u), len(u), [tidy(slow(a, own)) for row in parts.mass for a in row])
        solution = budget.call(linear_solution, mass, right)
        if solution is None:
            return Legendre(None, None, f"the mass matrix was not inverted in closed form within {budget.seconds:g} s")
        half = sympy.Add(*(r * x for r, x in zip(right, solution, strict=True))) / 2
        dual = _short(half, budget) - tidy(slow(parts.rest, own))
        return Legendre(dual, tuple(_short(x, budget) for x in solution), "the mass matrix was inverted")
    _check_regular(jacobian(gradient(function, u), u), u)
    branch = _solved(function, u, w, budget)
    if branch is None:
        return Legendre(None, None, "p = dL/dv was not solved in closed form")
    found = dict(zip(u, branch, strict=True))
    value = sympy.Add(*(s * x for s, x in zip(w, branch, strict=True))) - function.xreplace(found)
    apart, mixed = sympy.expand(value, deep=False).as_independent(*w, as_Add=True)
    return Legendre(apart + simplified(mixed, budget), branch, "p = dL/dv was solved")


def _short(e: Expr, budget: Budget) -> Expr:
    """The shortest of a few forms of a fraction."""
    if e.count_ops() > 400:
        return e
    terms = sympy.Add(*(with_short_exponents(sympy.factor, t) for t in sympy.Add.make_args(e)))
    return shortest(e, terms, budget.call(with_short_exponents, sympy.factor, e), tidy(e))


def _check_regular(mass: Sequence[Sequence[Fast]], u: Sequence[Symbol]) -> None:
    """Raise if the matrix is singular wherever it has a value, whatever its units."""
    own = {s.name for s in u}
    # Near rest as well: a Lagrangian like sqrt(1 - v^2) has no value at high velocities.
    slower = (
        {k: x / 10**d if k in own else x for k, x in at.items()}
        for _, at in points([e for row in mass for e in row], 8)
        for d in (0, 1, 4, 8, 12)
    )
    grids = [g for g in (values(mass, balls.exact_point(at)) for at in slower) if g is not None]
    if grids and max(map(rank, grids)) < len(mass):
        kind = "velocities" if isinstance(u[0], Velocity) else "momenta"
        needed = {
            "velocities": "coordinate needs an inertia of its own",
            "momenta": "momentum must occur to second order",
        }
        raise ModelError(
            f"hamilton: the Legendre transform is singular: the second derivatives by the {kind} "
            f"{', '.join(str(x) for x in u)} form a singular matrix, so momenta and velocities do not determine each other. "
            f"Every {needed[kind]}."
        )


def _solved(function: Expr, u: Sequence[Symbol], w: Sequence[Symbol], budget: Budget) -> tuple[Expr, ...] | None:
    """u(w) from w = dG/du, on the branch that inverts dG/du where it was tried."""
    slopes = [function.diff(x) for x in u]
    equations = [s - d for s, d in zip(w, slopes, strict=True)]
    plain = {s: sympy.Dummy(s.name, real=True) for s in (*u, *w)}
    found = budget.call(
        sympy.solve, [e.xreplace(plain) for e in equations], [plain[x] for x in u], dict=True, check=False
    )
    back = {d: s for s, d in plain.items()}
    for branch in found or []:
        if len(branch) == len(u):
            candidate = tuple(branch[plain[x]].xreplace(back) for x in u)
            if all(_is_known(c) for c in candidate) and _inverts(candidate, slopes, u, w):
                return tuple(simplified(c, budget) for c in candidate)
    return None


def _is_known(e: Expr) -> bool:
    """Whether an expression consists of supported functions (LambertW, for example, is not)."""
    return all(isinstance(node, checks.KNOWN) for node in sympy.preorder_traversal(e))


def _inverts(candidate: Sequence[Expr], slopes: Sequence[Expr], u: Sequence[Symbol], w: Sequence[Symbol]) -> bool:
    """Whether u(w) leads back to u wherever w = dG/du is real, over 24 decades: so it does on one branch alone."""
    rng, said, own = random.Random(2), list[bool](), sorted(x.name for x in u)
    names = sorted({s.name for e in slopes for s in e.free_symbols} | {*own})
    scales = natural_scales([[e] for e in slopes], names)
    apart = [substitute(c, dict(zip(w, slopes, strict=True))) - fast(x) for c, x in zip(candidate, u, strict=True)]
    for power in (*range(-12, 13), *range(-12, 13)):
        at = drawn(names, scales, rng) | {n: scales[n] * rng.uniform(-1, 1) * 10.0**power for n in own}
        with balls.precise() as flint:
            point = {name: flint.arb(x) for name, x in at.items()}
        if values([slopes], point) is not None:
            said.append(all(vanishes_at(e, [point]) for e in apart))
    return len(said) >= 4 and all(said)


# the form of one system


@dataclass(frozen=True, repr=False)
class HamiltonianForm(Shown):
    """Hamilton's equations of a system; see `hamilton`.

    system:       the system, in its Lagrangian form
    hamiltonian:  H(q, p, t), written with x.momentum; None if the Legendre transform has no closed form that was found
    velocities:   {x: the velocity as a function of q, p, t}; None likewise
    reason:       how these were found, or why not
    """

    system: System
    hamiltonian: Expr | None
    velocities: Mapping[Coordinate, Expr] | None
    reason: str

    @property
    def momenta(self) -> tuple[Momentum, ...]:
        """The momenta, in the order of the coordinates."""
        return tuple(q.momentum for q in self.system.coordinates)

    def _in_momenta(self, e: Any) -> Expr:
        """An expression in (q, v, t), written with momenta."""
        if self.velocities is None:
            self._closed()  # raises with the reason if there is none
        return sympy.sympify(e).xreplace({q.dot: v for q, v in (self.velocities or {}).items()})

    def _closed(self) -> Expr:
        if self.hamiltonian is None:
            raise ModelError(
                f"hamilton: {self.system.name!r} has no Hamiltonian in closed form: {self.reason}. Its motion can be "
                f"computed all the same, with simulate(...)."
            )
        return self.hamiltonian

    @cached_property
    def forces(self) -> dict[Coordinate, Expr]:
        """The force on each momentum, in terms of q, p, t: forces, dissipation and reactions."""
        whole = [fast(f) + r for f, r in zip(self.system.force, reaction(self.system), strict=True)]
        return {
            q: tidy(self._in_momenta(readable(f, self.system)))
            for q, f in zip(self.system.coordinates, whole, strict=True)
        }

    @cached_property
    def equations(self) -> tuple[Eq, ...]:
        """q' = dH/dp for every coordinate, then p' = -dH/dq + F + lambda_a omega^a."""
        H, q = self._closed(), self.system.coordinates
        assert self.velocities is not None  # these equal dH/dp, and are shorter
        first = [Eq(c.dot, self.velocities[c], evaluate=False) for c in q]
        rate = [tidy(-H.diff(c)) + self.forces[c] for c in q]
        return (*first, *(Eq(MomentumRate(c), r, evaluate=False) for c, r in zip(q, rate, strict=True)))

    @cached_property
    def constraints(self) -> tuple[Eq, ...]:
        """The constraints, in terms of q, p, t."""
        self._closed()
        return tuple(Eq(tidy(self._in_momenta(c.expression)), 0, evaluate=False) for c in self.system.constraints)

    def _checked(self, f: Any, role: str) -> Expr:
        e = checks.expression(f, role)
        for s in e.free_symbols:
            if isinstance(s, Velocity):
                raise ModelError(
                    f"{role}: {s} is a velocity. Functions on phase space are written with {s.coordinate}.momentum."
                )
        return checks.symbols(e, {*self.system.coordinates, *self.momenta}, role)

    def bracket(self, f: Any, g: Any) -> Expr:
        """The Poisson bracket {f, g} = df/dq dg/dp - df/dp dg/dq."""
        return tidy(self._bracket(self._checked(f, "first function"), self._checked(g, "second function")))

    def _bracket(self, f: Expr, g: Expr) -> Expr:
        pairs = [(q, q.momentum) for q in self.system.coordinates]
        return sympy.Add(*(f.diff(q) * g.diff(p) - f.diff(p) * g.diff(q) for q, p in pairs))

    def rate(self, f: Any) -> Expr:
        """df/dt along motions: {f, H} + df/dt + df/dp . (forces and reactions)."""
        e = self._checked(f, "function")
        work = sympy.Add(*(e.diff(q.momentum) * force for q, force in self.forces.items())) if self.velocities else 0
        return tidy(self._bracket(e, self._closed()) + e.diff(time) + work)

    def is_conserved(self, f: Any) -> bool:
        """Whether a function of q, p, t is constant along all motions (under constraints: those that satisfy them)."""
        e = self._checked(f, "function")
        if self.hamiltonian is not None and not self.system.constraints:
            return vanishes(self.rate(e))
        in_velocities = {q.momentum: p for q, p in zip(self.system.coordinates, momenta(self.system), strict=True)}
        return bool(shell(self.system).conserved(substitute(fast(e), in_velocities)))

    @property
    def hamiltonian_is_conserved(self) -> bool:
        """Whether H is constant along all motions; decided with exact numbers, whatever decimals of H are printed."""
        return self.hamiltonian is not None and self.is_conserved(self.hamiltonian)

    def symplectic_defect(self, transformation: Mapping[Any, Any]) -> Matrix:
        """M J M^T - J for the derivatives M of new (Q, P) by the old (q, p); zero exactly if the change is canonical."""
        new = self._new_variables(transformation)
        n = len(new) // 2
        J = sympy.zeros(n).row_join(sympy.eye(n)).col_join((-sympy.eye(n)).row_join(sympy.zeros(n)))
        return Matrix(2 * n, 2 * n, [tidy(self._bracket(f, g)) for f in new for g in new]) - J

    def is_canonical(self, transformation: Mapping[Any, Any]) -> bool:
        """Whether {X: ..., X.momentum: ..., ...}, new variables by old ones, is a canonical transformation."""
        return all(vanishes(e) for e in self.symplectic_defect(transformation))

    def _new_variables(self, transformation: Any) -> list[Expr]:
        given = dict(transformation) if isinstance(transformation, Mapping) else {}
        places = [s for s in given if isinstance(s, Coordinate)]
        wanted = {*places, *(Q.momentum for Q in places)}
        if not places or set(given) != wanted or len(places) != len(self.system.coordinates):
            n = len(self.system.coordinates)
            raise ModelError(
                f"is_canonical: expected {n} new coordinate(s) and their momenta in terms of the old ones, "
                f"{{X: ..., X.momentum: ...}}; got {', '.join(str(s) for s in given) or repr(transformation)}."
            )
        order = [*places, *(Q.momentum for Q in places)]
        return [self._checked(given[s], f"expression for {s}") for s in order]

    def flow(self) -> StepMap:
        """(q, p, t) -> the rates of q and p, and the multipliers, as a map the engine can compile; see `flow_map`."""
        return flow_map(self)

    def simulate(self, **options: Any) -> Trajectory:
        """A motion by Hamilton's equations: adaptive, in (q, p), independent of the Lagrangian methods.

        Options are those of `dalembert.simulate` (h, start, until or steps, parameters, every, strict), and the tolerances
        rtol, atol. The result is an ordinary run of the system.
        """
        from ...run.hamilton_flow import solve_hamilton

        return solve_hamilton(self, **options)

    def _parts(self) -> list[Part]:
        head = f"{self.system.name}: Hamiltonian form ({self.reason})"
        if self.hamiltonian is None:
            told = "H = p.v - L has no closed form that was found; simulate(...) solves p = dL/dv by numbers."
            return [head, told, ("p.v - L", readable(jacobi_integral(self.system), self.system))]
        parts: list[Part] = [head, ("H", self.hamiltonian), *self.equations]
        parts += [("constraint", c) for c in self.constraints]
        if self.hamiltonian_is_conserved:
            return [*parts, "H is conserved."]
        return [*parts, "H is not conserved."]


def flow_map(form: HamiltonianForm) -> StepMap:
    """(q, p, t) -> rates of q, rates of p, multipliers.

    With H in closed form these are Hamilton's equations as they are printed, and multipliers keep the constraints,
    differentiated until multipliers occur. Otherwise p = dL/dv is solved by Newton's method at each point, from nearby
    velocities, which are further inputs, and p' is dL/dq + F.
    """
    system, q = form.system, form.system.coordinates
    reactions = [multiplier(a + 1).name for a in range(len(system.constraints))]
    if form.hamiltonian is None:
        blocks, places, rates = _implicit_blocks(system)
    else:
        H = fast(form.hamiltonian)
        places = gradient(H, form.momenta)
        pushes = [fast(form.forces[c]) for c in q]
        rates = [f - d for f, d in zip(pushes, gradient(H, q), strict=True)]
        blocks = _multiplier_block(form, places, rates) if reactions else []
    outputs = {c.dot.name: e for c, e in zip(q, places, strict=True)}
    outputs |= {MomentumRate(c).name: e for c, e in zip(q, rates, strict=True)}
    outputs |= {name: fast(name) for name in reactions}
    inputs = [*(c.name for c in q), *(p.name for p in form.momenta), time.name]
    if form.hamiltonian is None:
        inputs += [near_name(c) for c in q]
    return pointwise(f"{system.name}, Hamilton", inputs, [p.name for p in system.parameters], outputs, blocks)


def near_name(coordinate: Coordinate) -> str:
    """The name of the input for the velocity near which the solution is sought."""
    return f"{coordinate.dot.name}.near"


def _multiplier_block(form: HamiltonianForm, places: Sequence[Fast], rates: Sequence[Fast]) -> list[Block]:
    """The equations for the multipliers: the rate of the constraints along (q', p') vanishes; they are linear."""
    system = form.system
    along = [*zip(system.coordinates, places, strict=True), *zip(form.momenta, rates, strict=True), (time, fast(1))]
    velocity = {c.dot: e for c, e in zip(system.coordinates, places, strict=True)}
    residual = []
    for c in system.constraints:
        psi = substitute(c.velocity_form(system.coordinates), velocity)
        residual.append(sum((psi.diff(fast(s)) * fast(r) for s, r in along), start=fast(0)))
    names = tuple(m.name for m in multipliers(system))
    return [Block(names, tuple(residual))]


def _implicit_blocks(system: System) -> tuple[list[Block], list[Fast], list[Fast]]:
    """Velocities from momenta, then accelerations and multipliers; and with these the rates."""
    q, v = system.coordinates, system.velocities
    legendre_residual = tuple(fast(c.momentum) - p for c, p in zip(q, momenta(system), strict=True))
    near = tuple(fast(near_name(c)) for c in q)
    blocks = [Block(tuple(x.name for x in v), legendre_residual, near)]
    if system.constraints:
        blocks.append(motion_block(system))
    slopes = gradient(system.lagrangian, q)
    rates = [d + fast(f) + r for d, f, r in zip(slopes, system.force, reaction(system), strict=True)]
    return blocks, [fast(x) for x in v], rates


def hamilton(
    given: Any, *, coordinates: Sequence[Coordinate] | None = None, name: str | None = None
) -> HamiltonianForm:
    """The Hamiltonian form of a system; or of a Hamiltonian H written with x.momentum, given with its coordinates.

    `da.hamilton(system)` has `hamiltonian`, `equations`, `bracket(f, g)`, `is_conserved(f)`, `is_canonical({...})` and
    `simulate(...)`. `da.hamilton(H, coordinates=[x, y]).system` is the system with that Hamiltonian, for all methods.
    """
    given = given.system if isinstance(given, Assembly) else given
    mechanical(given, "hamilton")
    budget = Budget(seconds=10)
    if isinstance(given, System):
        system, q = given, given.coordinates
        found = legendre(system.lagrangian, system.velocities, [c.momentum for c in q], budget)
        velocities = None if found.solution is None else dict(zip(q, found.solution, strict=True))
        return HamiltonianForm(system, found.dual, velocities, found.reason)
    if coordinates is None:
        raise ModelError(
            f"hamilton: got {told(given)} ({type(given).__name__}). Expected a System, or a Hamiltonian with its coordinates: "
            f"hamilton(x.momentum**2/2 + x**2/2, coordinates=[x])."
        )
    q = checks.coordinates(coordinates)
    momentum = [c.momentum for c in q]
    H = checks.symbols(checks.expression(given, "Hamiltonian"), {*q, *momentum}, "Hamiltonian")
    found = legendre(H, momentum, [c.dot for c in q], budget)
    if found.dual is None:
        raise ModelError(
            f"hamilton: the Lagrangian of this Hamiltonian was not found in closed form: {found.reason}. Give the system by "
            f"its Lagrangian if you know it."
        )
    system = System(name or "system of a Hamiltonian", q, lagrangian=found.dual)
    velocities = {c: tidy(H.diff(c.momentum)) for c in q}
    return HamiltonianForm(system, H, velocities, "the Hamiltonian was given")
