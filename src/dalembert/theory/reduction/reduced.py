"""A system reduced by a symmetry: l(r, r', xi) = L(s(r), s'(r) r' + xi_Q(s(r))) and Hamel's equations in the frame of shape
velocities and body velocities of the group.

The named forms are choices of what is there: without shape variables Euler-Poincare, with constraints Euler-Poincare-Suslov;
with shape variables Lagrange-Poincare and Lagrange-d'Alembert-Poincare; Chaplygin's and horizontal symmetries are cases of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import sympy
from sympy import Eq, Expr, Matrix, Symbol

from ...decide.zero import vanishes, vanishes_at
from ...display import Part, Shown
from ...errors import ModelError, printed
from ...model.bodies.assembly import system_of
from ...model.coordinates import Coordinate, QuasiVelocity, time
from ...model.frame import Frame
from ...model.space import position_symbols
from ...model.system import System
from ...symbolic import Fast, fast, gradient, slow, substitute, total
from ..algebra import tidy
from ..motion.frames import hamel_residual
from ..motion.lagrange import euler_lagrange, momenta, multipliers, readable
from .carried_axes import accelerations, check_axes
from .chaplygin import Chaplygin, chaplygin
from .given_connection import cannot_split, lift_of, metric_of
from .group_law import near_identity
from .group_velocity import system_along, velocities_along
from .invariance import check_pair, invariance, require
from .reconstruction import reconstruct
from .section import Section, section_of
from .splitting import Splitting
from .symmetry import Symmetry
from .velocity_components import components


@dataclass(frozen=True, eq=False, repr=False)
class ReducedEquations(Shown):
    """The equations of a reduced system along the admissible velocities, and its constraints."""

    title: str
    equations: tuple[Eq, ...]
    constraints: tuple[Eq, ...]

    def _parts(self) -> list[Part]:
        return [self.title, *self.equations, *(["Constraints:", *self.constraints] if self.constraints else [])]


@dataclass(frozen=True, eq=False, repr=False)
class ReducedSystem(Shown):
    """A system reduced by a symmetry; see `reduce`.

    system, symmetry:  what was reduced, and by what
    section:           one point on each orbit: which coordinates are fixed there, which are the shape
    velocities:        {element: the symbol of the component of xi = g^-1 g' along its generator}
    lagrangian:        l(r, r', xi)
    own_metric, own_lift:  a metric in the coordinates, or a connection M(r), in the place of those of the kinetic energy
    """

    system: System
    symmetry: Symmetry
    section: Section
    velocities: Mapping[Symbol, Any]
    lagrangian: Expr
    own_metric: Matrix | None = None
    own_lift: Matrix | None = None

    @property
    def shape(self) -> tuple[Coordinate, ...]:
        """The shape variables: coordinates on the section, invariant under the group."""
        return self.section.shape

    @cached_property
    def kind(self) -> str:
        """The name of the reduced equations."""
        bound, ranks = bool(self.system.constraints), self.spaces.ranks if self.system.constraints else {}
        if not self.shape:
            return "Euler-Poincare-Suslov" if bound else "Euler-Poincare"
        if not bound:
            return "Lagrange-Poincare"
        if ranks["S"] == 0 and ranks["W"] == 0:
            return "Chaplygin"
        return "horizontal" if ranks["S"] == ranks["V"] else "Lagrange-d'Alembert-Poincare"

    @cached_property
    def images(self) -> dict[Any, Expr]:
        """q = Phi(g, s(r)): each symbol of a position by group elements and shape."""
        return self.symmetry.act(self.symmetry.elements, self.section.place)

    @cached_property
    def _rates(self) -> tuple[list[Fast], list[Fast]]:
        """Velocities and accelerations of the coordinates at q = Phi(g, s(r)), one per direction."""
        q, images = self.system.coordinates, {fast(s): fast(e) for s, e in self.images.items()}
        rates = dict(zip(images, self.frame.rates(list(images.values())), strict=True))
        speeds = list(map(fast, components(q, images, rates)))
        return speeds, accelerations(q, images, rates, speeds, self.frame.rates(speeds))

    @property
    def speeds(self) -> list[Fast]:
        """The velocities of the coordinates at q = Phi(g, s(r))."""
        return self._rates[0]

    @cached_property
    def motion(self) -> System:
        """The reduced system as a System in the shape and the velocity of the group, which `simulate` takes."""
        return system_along(self)

    # the frame
    @cached_property
    def frame(self) -> Frame:
        """d/dr and the left-invariant fields of the group, [e_i, e_j] = c^k_ij e_k."""
        w, xi = [r.dot for r in self.shape], list(self.velocities.values())
        left, g, at = self.symmetry.left(self.symmetry.elements), self.symmetry.elements, len(self.shape)
        c, n = self.symmetry.structure, range(self.symmetry.dimension)
        fields: list[dict[Any, Any]] = [{r: 1} for r in self.shape]
        fields += [{g[i]: left[i, k] for i in n if left[i, k] != 0} for k in n]
        brackets = {(at + k, at + i, at + j): c[i][j][k] for i in n for j in n for k in n if c[i][j][k] != 0}
        rates = [*(r.ddot for r in self.shape), *(x.dot for x in xi)]
        return Frame((*w, *xi), tuple(rates), tuple(fields), brackets)

    @cached_property
    def fields(self) -> Matrix:
        """The velocities of the coordinates at the section, by columns: for r', then for xi."""
        return self.section.fields(self.system.coordinates)

    @cached_property
    def _at_section(self) -> dict[Any, Any]:
        """Positions and velocities at the section."""
        w = Matrix(list(self.frame.velocities))
        speeds = self.fields * w
        place = self.section.place
        return {**place, **{q.dot: speeds[i] for i, q in enumerate(self.system.coordinates)}}

    def _symbols(self) -> list[Symbol]:
        f = self.frame
        return [*self.shape, *f.velocities, *f.accelerations, *self.system.parameters, *multipliers(self.system), time]

    def read(self, expression: Any) -> Expr:
        """The displayed form of an expression: collected by velocities where it is a polynomial in them."""
        found = slow(fast(expression), self._symbols())
        return tidy(found)

    # what acts
    @cached_property
    def forces(self) -> tuple[Expr, ...]:
        """The force along each velocity of the frame."""
        pulled = [substitute(f, self._at_section) for f in self.system.force]
        return tuple(self.read(e) for e in self._along(pulled))

    @cached_property
    def forms(self) -> Matrix:
        """The one-forms of the variations, one row per constraint, on the velocities of the frame."""
        rows = [self._along([substitute(a, self._at_section) for a in w]) for w in self.system.variations]
        return Matrix(len(rows), len(self.frame.velocities), [self.read(e) for row in rows for e in row])

    @cached_property
    def constraints(self) -> tuple[Expr, ...]:
        """The constraints in r, r' and xi; each vanishes along a motion."""
        q = self.system.coordinates
        return tuple(self.read(substitute(c.velocity_form(q), self._at_section)) for c in self.system.constraints)

    def _along(self, covector: Sequence[Any]) -> list[Fast]:
        """The components of a covector at the section along the fields of the frame."""
        X = self.fields
        return [total(fast(covector[i]) * fast(X[i, j]) for i in range(X.rows)) for j in range(X.cols)]

    # the equations
    @cached_property
    def left_sides(self) -> tuple[Fast, ...]:
        """d/dt dl/dw^j - c^k_ij w^i dl/dw^k - dl/dr^j - F_j for each velocity of the frame, without reactions."""
        return tuple(hamel_residual(self.lagrangian, self.frame, list(self.forces)))

    def equations(self) -> ReducedEquations:
        """The equations along the admissible velocities, which are free of multipliers, and the constraints."""
        basis = self.spaces.D
        left = [total(fast(basis[j, b]) * e for j, e in enumerate(self.left_sides)) for b in range(basis.cols)]
        found = tuple(Eq(self._by_rates(e), 0, evaluate=False) for e in left)
        title = f"{self.system.name}, reduced: {self.kind} equations"
        return ReducedEquations(title, found, tuple(Eq(c, 0, evaluate=False) for c in self.constraints))

    def _by_rates(self, e: Fast) -> Expr:
        rates = list(self.frame.accelerations)
        rest = substitute(e, dict.fromkeys(rates, 0))
        slopes = gradient(e, rates)
        return sympy.Add(*(self.read(d) * a for d, a in zip(slopes, rates, strict=True)), self.read(rest))

    # momenta
    @cached_property
    def momentum(self) -> dict[Symbol, Expr]:
        """The momentum map: p . xi_Q for each element, in the coordinates of the system."""
        p, q = momenta(self.system), self.system.coordinates
        point = {s: s for s in position_symbols(q)}
        found = {}
        for g, X in zip(self.symmetry.elements, self.symmetry.generators, strict=True):
            along = components(q, point, X)
            found[g] = tidy(readable(total(a * fast(b) for a, b in zip(p, along, strict=True)), self.system))
        return found

    @cached_property
    def body_momentum(self) -> tuple[Expr, ...]:
        """dl/dxi, one for each element."""
        return tuple(self.read(e) for e in gradient(self.lagrangian, self.velocities.values()))

    @cached_property
    def nonholonomic_momentum(self) -> tuple[Expr, ...]:
        """dl/dxi along each admissible direction of the group (a basis of S)."""
        k, S = len(self.shape), self.spaces.S
        mu = Matrix(self.body_momentum)
        return tuple(tidy((mu.T * S[k:, b])[0]) for b in range(S.cols))

    # geometry
    @cached_property
    def metric(self) -> Matrix:
        """The second derivatives of l by the velocities of the frame."""
        w = self.frame.velocities
        rows = [gradient(p, w) for p in gradient(self.lagrangian, w)]
        return Matrix([[self.read(e) for e in row] for row in rows])

    @cached_property
    def spaces(self) -> Splitting:
        """The spaces V, D, S, H, U, W, the nonholonomic connection and its curvature."""
        metric = self.metric if self.own_metric is None else self._on_frame(self.own_metric)
        return Splitting(self.symmetry, self.shape, self.forms, metric, self.own_lift)

    def _on_frame(self, metric: Matrix) -> Matrix:
        """A metric in the coordinates, at the section, on the velocities of the frame; the group carries it elsewhere."""
        X = self.fields
        found = X.T * metric.applyfunc(lambda e: substitute(e, self.section.place)) * X
        return found.applyfunc(self.read)

    @property
    def lift(self) -> Matrix:
        """M: horizontal velocities have xi = M r'."""
        return self.spaces.lift

    @property
    def curvature(self) -> dict[tuple[Coordinate, Coordinate], Matrix]:
        """B(d_i, d_j) of the connection xi - M r', for pairs of shape variables."""
        return {(self.shape[i], self.shape[j]): B for (i, j), B in self.spaces.curvature.items()}

    # special cases
    @cached_property
    def lie_poisson(self) -> tuple[Eq, ...]:
        """mu' = ad*_xi mu with xi = dH/dmu, for a kinetic energy on the group alone, without constraints and forces."""
        if self.kind != "Euler-Poincare" or any(self.forces) or not self._is_kinetic():
            raise ModelError(
                f"lie_poisson: {self.system.name!r} is {self.kind}. Expected a kinetic energy on the group alone, without "
                f"forces and constraints."
            )
        mu = [QuasiVelocity(f"mu_{g.name}") for g in self.symmetry.elements]
        xi = self.metric.inv() * Matrix(mu)
        c, n = self.symmetry.structure, range(len(mu))
        right = [sympy.Add(*(c[i][j][k] * xi[i] * mu[k] for i in n for k in n)) for j in n]
        return tuple(Eq(m.dot, tidy(e), evaluate=False) for m, e in zip(mu, right, strict=True))

    def _is_kinetic(self) -> bool:
        w = Matrix(list(self.velocities.values()))
        return not any(self.metric.free_symbols & set(w)) and vanishes((w.T * self.metric * w)[0] / 2 - self.lagrangian)

    @cached_property
    def chaplygin(self) -> Chaplygin:
        """The motion of the shape alone: its Lagrangian and the gyroscopic force, for a Chaplygin symmetry."""
        if self.kind != "Chaplygin":
            raise ModelError(
                f"chaplygin: the symmetry of {self.system.name!r} is {self.kind}. Expected that exactly one admissible "
                f"velocity belongs to each shape velocity (S = 0 and W = 0)."
            )
        if self.system.has_own_variations or any(c.drift != 0 for c in self.system.kinematic):
            raise ModelError(
                f"chaplygin: the admissible velocities of {self.system.name!r} are not its variations. Expected constraints "
                f"linear in the velocities without further terms, and no variations=[...]."
            )
        return chaplygin(self)

    def reconstruct(self, motion: Any, at: Mapping[Any, Any], parameters: Mapping[Any, float] | None = None) -> Any:
        """The motion of the coordinates from one of shape and body velocities: g' = g xi, q = Phi(g, s(r)).

        motion:      a run of this reduced system, or {time: times, shape variable: values, symbol of xi: values}, arrays of
                     one length
        at:          the coordinates of the system at the first time
        parameters:  values of the parameters that the action or the connection contain

        Of a run it is the run of the system, with `.group`, `.geometric` and `.dynamic`; else a `Reconstruction` with these.
        """
        found = reconstruct(self, motion, at, parameters or {})
        if isinstance(motion, Mapping):
            return found
        from ...run.reconstructed_run import run_with_phases

        return run_with_phases(self, motion, found, parameters or {})

    def _parts(self) -> list[Part]:
        ranks = ", ".join(f"{k} {n}" for k, n in self.spaces.ranks.items())
        shape = ", ".join(map(str, self.shape)) or "none"
        parts: list[Part] = [
            f"{self.system.name}, reduced by {', '.join(map(str, self.symmetry.elements))}: {self.kind}"
        ]
        parts += [f"Shape: {shape}. Velocities of the group: {', '.join(map(str, self.velocities.values()))}."]
        parts += [("Lagrangian", self.lagrangian), *self.equations()._parts()[1:]]
        parts.append(f"Dimensions: {ranks}; V + D is {'' if self.spaces.dimension_assumption else 'not '}everything.")
        if self.spaces.singular:
            where = " and ".join(f"{e} = 0" for e in self.spaces.singular)
            parts.append(f"The dimension of S is higher where {where}.")
        return parts


def reduce(
    system: System, symmetry: Symmetry, *, section: Mapping[Coordinate, Any] | None = None, metric: Any = None,
    lift: Mapping[Coordinate, Mapping[Any, Any]] | None = None,
) -> ReducedSystem:  # fmt: skip
    """A system reduced by a symmetry that leaves it invariant: its motion in shape variables and body velocities of the group.

    symmetry:  a `Symmetry`; its action must be free and leave Lagrangian, forces, constraints and variations invariant
    section:   {coordinate: number} for as many of the moved coordinates as the group has elements; found if left out
    metric, lift:  a metric that splits the velocities, or a connection, in the place of those of the kinetic energy

    The equations are compared by value with Lagrange's equations of the system before they are returned.
    """
    system = system_of(system, "reduce", groups=True)
    check_pair(system, symmetry, "reduce")
    for q, image in symmetry.action.items():
        if time in image.free_symbols:
            raise ModelError(
                f"reduce: the image of {q}, {printed(image)}, depends on the time. Expected an action on the coordinates "
                f"alone; for its Noether charge see dalembert.noether."
            )
    check_axes(system, "reduce")
    require(invariance(system, symmetry), "reduce")
    for c in system.holonomic:
        raise ModelError(
            f"reduce: {c.expression} = 0 is a constraint on positions. State the system with coordinates that satisfy it."
        )
    found = section_of(system, symmetry, section)
    names = velocities_along(symmetry)
    draft = ReducedSystem(system, symmetry, found, names, sympy.S.Zero)
    l = draft.read(substitute(system.lagrangian, draft._at_section))
    own = None if metric is None else metric_of(metric, len(system.coordinates))
    rows = [] if lift is None else lift_of(lift, found.shape, symmetry.elements)
    M = None if lift is None else Matrix(len(names), len(found.shape), [e for row in rows for e in row])
    reduced = ReducedSystem(system, symmetry, found, names, l, own, M)
    if metric is not None:
        _check_metric(reduced)
    confirm(reduced)
    return reduced


def _check_metric(reduced: ReducedSystem) -> None:
    """Refuse a metric that does not determine complements."""
    try:
        sizes = (reduced.spaces.H.cols, reduced.spaces.U.cols, reduced.spaces.W.cols)
        reduced.spaces.lift  # noqa: B018
    except (ValueError, ZeroDivisionError):
        raise cannot_split() from None
    if sizes != tuple(reduced.spaces.ranks[k] for k in ("H", "U", "W")):
        raise cannot_split()


def off_shell(reduced: ReducedSystem) -> list[Fast]:
    """Lagrange's expressions of the system, less its forces, at q = Phi(g, s(r)), along the moved fields of the frame.

    Along the group these are the fields (Ad_g zeta)_Q, along the shape D Phi_g ds/dr. Written with g, r, r', xi and the rates
    of the last two: for any motion, not only those of the system.
    """
    frame, q, (rates, again) = reduced.frame, reduced.system.coordinates, reduced._rates
    table: dict[Any, Any] = dict(reduced.images)
    table |= {c.dot: v for c, v in zip(q, rates, strict=True)}
    table |= {c.ddot: a for c, a in zip(q, again, strict=True)}
    balance = zip(euler_lagrange(reduced.system), reduced.system.force, strict=True)
    left = [substitute(e - fast(f), table) for e, f in balance]
    columns = [gradient(v, frame.velocities) for v in rates]
    return [total(e * row[j] for e, row in zip(left, columns, strict=True)) for j in range(len(frame.velocities))]


def confirm(reduced: ReducedSystem) -> None:
    """Refuse equations that differ in value from Lagrange's along the moved fields."""
    expected = off_shell(reduced)
    e = dict(zip(reduced.symmetry.elements, reduced.symmetry.identity, strict=True))
    points = near_identity([*reduced.left_sides, *expected], e, 3)
    for w, own, there in zip(reduced.frame.velocities, reduced.left_sides, expected, strict=True):
        if not vanishes_at(own - there, points):
            raise ModelError(
                f"reduce: the equation of {w} could not be confirmed: at random states it differs from Lagrange's equations "
                f"of {reduced.system.name!r}. Please report this system."
            )
