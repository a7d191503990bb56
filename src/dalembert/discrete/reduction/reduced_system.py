"""Reduction of a discrete system by a symmetry (Theorem 6.4.1), as a discrete system of its own.

With q = Phi(g, s(r)) and u = g0^-1 g1, an invariant L_d is l(r0, u, r1). A connection with the lift b(r0, r1) makes the
variable theta = u b(r0, r1)^-1 of it. In the directions zeta of the group and h(dr) = ds dr + (M dr)_Q of the shapes, with
m = dl/du, the discrete equations at a node between the steps k-1 and k are

    vertical:    m(k-1) . (u zeta)  -  m(k) . (zeta u)                                    + forces = reactions
    horizontal:  dl/dr1(k-1) + m(k-1) . (u M)  +  dl/dr0(k) - m(k) . (M u)                + forces = reactions

which are (6.10) and (6.8): the reduced forces (6.6) are the terms that are not derivatives of l(r0, theta b, r1). Since
step k-1 has its theta at the node that it ends at, this is a forced discrete system in (r, theta).
Where theta = e on every step, the connection being D_d itself (Chaplygin) or a level of the momentum (horizontal
symmetries), r alone is left. Where b has no closed form, it is a coordinate that does not vary, bound by its equations; then
the derivatives of l by r are at a fixed u, and the terms with db/dr drop out of the equations.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import count
from typing import TYPE_CHECKING, Any

import sympy
from sympy import Expr, Symbol

from ...decide.zero import vanishes
from ...display import Part, Shown, Table
from ...errors import ModelError, told
from ...model.coordinates import Coordinate, Parameter, coordinates, step, time
from ...model.principle import reactions_by_forms
from ...model.space import groups
from ...numbers import name_of
from ...symbolic import Fast, fast, gradient, jacobian, substitution
from ...theory.algebra import tidy
from ...theory.reduction.given_connection import cannot_split, lift_of, metric_of
from ...theory.reduction.group_charts import chart, in_charts
from ...theory.reduction.splitting import Splitting
from ..system import DiscreteSystem
from .bundle import Bundle, bundle, check_symmetry
from .charted_system import in_chart
from .connection import DiscreteConnection
from .connection_inputs import letters, solved_element
from .isotropy import fixing
from .momentum_level import momentum_connection
from .position_reconstruction import reconstructed, reduced_start, with_connection
from .reduced_terms import ReducedTerms, Rows, times
from .step_invariance import check_invariance

if TYPE_CHECKING:
    from ...run.trajectory import Trajectory

Lift = tuple[tuple[Fast, ...], ...]

Solved = tuple[Coordinate, ...]
"""Coordinates for group elements: theta, or the unknowns of b."""

ORDER = {
    "Euler-Poincare": "first order in the group variables",
    "Euler-Poincare-Suslov": "first order in the group variables",
    "Chaplygin": "second order in the shape variables",
    "horizontal": "second order in the shape variables",
    "general": "second order in the shape variables, first order in the group variables",
}


@dataclass(frozen=True, eq=False, repr=False)
class ReducedDiscreteSystem(Shown):
    """A discrete system reduced by a symmetry.

    system:      the reduced system, a DiscreteSystem: in the shape coordinates r, and in the coordinates theta of the group
                 unless these stay at the identity; theta of a step is in the slot of its end
    kind:        "Euler-Poincare", "Euler-Poincare-Suslov" (shapes are one point), "Chaplygin", "horizontal" or "general"
    original:    the system that was reduced
    connection, spaces:  the discrete connection, and the spaces V, D, S, H, U, W with the continuous one
    """

    system: DiscreteSystem
    original: DiscreteSystem
    kind: str
    connection: DiscreteConnection
    spaces: Splitting
    group_variables: tuple[Coordinate, ...]
    """The coordinates theta; empty where theta = e."""
    terms: ReducedTerms
    solved: Solved = ()
    """The coordinates for the unknowns of a connection without a closed form, of a step at its end; else empty."""

    @property
    def bundle(self) -> Bundle:
        """Shapes and group."""
        return self.connection.bundle

    @property
    def order(self) -> str:
        """The order of the reduced equations as recurrences."""
        return ORDER[self.kind]

    @property
    def lagrangian(self) -> Expr:
        """The reduced Lagrangian, in r.at(0), theta.at(1), r.at(1)."""
        return self.system.read(self.system.lagrangian)

    @cached_property
    def forces(self) -> tuple[dict[Coordinate, Expr], dict[Coordinate, Expr]]:
        """The reduced forces (6.6) on the shapes, F- and F+: D2 of the Lagrangian applied to the mixed curvature."""
        shape = self.bundle.shape
        return tuple(
            {r: tidy(self.system.read(e)) for r, e in zip(shape, side, strict=True)} for side in self.terms.forces
        )  # type: ignore[return-value]

    @cached_property
    def mixed_curvature(self) -> tuple[tuple[tuple[Expr, ...], ...], tuple[tuple[Expr, ...], ...]]:
        """The reduced mixed curvature, - and +: by element coordinate (a vector at theta) and shape coordinate."""
        return tuple(
            tuple(tuple(tidy(self.system.read(e)) for e in row) for row in side) for side in self.terms.mixed_curvature
        )  # type: ignore[return-value]

    @cached_property
    def momentum(self) -> dict[Symbol, Expr]:
        """J_d = D2 L w^-1 of a step, in the frame of its first node: one component per element (6.22)."""
        pairs = zip(self.bundle.symmetry.elements, self.terms.leaving, strict=True)
        return {s: tidy(self.system.read(e)) for s, e in pairs}

    @cached_property
    def momentum_after(self) -> dict[Symbol, Expr]:
        """The momentum of a step in the frame of its last node; it is that of the next step along g^D (5.10)."""
        pairs = zip(self.bundle.symmetry.elements, self.terms.arriving, strict=True)
        return {s: tidy(self.system.read(e)) for s, e in pairs}

    def equations(self) -> Any:
        """The reduced equations: horizontal ones for r, vertical ones for theta, constraints."""
        return self.system.equations()

    def start(self, pair: Any, parameters: Mapping[Any, Any] | None = None, h: float = 1.0) -> dict[Any, Any]:
        """The start of the reduced system that belongs to two positions {x.at(0): ..., x.at(1): ...} of the original.

        The positions may be given by a run of the original, whose first two they are. Parameters and the step are needed
        where the connection contains them.
        """
        return reduced_start(self, pair, parameters, h)

    def own_start(self, start: Any, parameters: Mapping[Any, Any] | None, h: float) -> Any:
        """A start of the reduced system: as given, or that of two positions of the original."""
        names = {name_of(key) for key in start} if isinstance(start, Mapping) else set()
        own = {c.at(k).name for c in self.system.coordinates for k in (0, 1)}
        others = {c.at(k).name for c in self.original.coordinates for k in (0, 1)} - own
        if names & others:
            return self.start(start, parameters, h)
        return with_connection(self, start, parameters, h) if self.solved and names else start

    def reconstruct(
        self, run: Trajectory, at: Mapping[Any, Any], parameters: Mapping[Any, float] | None = None
    ) -> Trajectory:
        """The run of the original system that belongs to a run of the reduced one; `at` is the first position.

        parameters:  values of those parameters of the original system that the reduced one does not contain, for momenta
        """
        from ...run.reconstructed_run import run_of_positions

        return run_of_positions(self.original, run, reconstructed(self, run, at), parameters or {})

    def _parts(self) -> list[Part]:
        d = self.spaces.ranks
        shape = ", ".join(r.name for r in self.bundle.shape) or "none"
        group = ", ".join(c.name for c in self.group_variables) or "none"
        solved = [f"solved for in each step: {', '.join(c.name for c in self.solved)}"] if self.solved else []
        return [
            f"{self.original.name!r} reduced by a group of dimension {d['V']}: {self.kind}",
            f"shape variables: {shape}; group variables: {group}; {self.order}",
            *solved,
            Table(("space", "dimension"), list(d.items())),
            f"V + D is {'' if self.spaces.dimension_assumption else 'not '}everything.",
            *self._singular(),
            ("L", self.lagrangian),
            *self.equations()._equations,
        ]

    def _singular(self) -> list[Part]:
        """Where the dimension of S is not the one at almost all shapes, which the equations on H and S assume."""
        where = " and ".join(f"{e} = 0" for e in self.spaces.singular)
        return [f"The dimension of S is higher where {where}."] if where else []


def reduce_discrete(
    system: DiscreteSystem,
    symmetry: Any,
    *,
    connection: DiscreteConnection | None = None,
    momentum: Mapping[Any, Any] | None = None,
    section: Mapping[Coordinate, Any] | None = None,
    metric: Any = None,
    lift: Mapping[Coordinate, Mapping[Any, Any]] | None = None,
) -> ReducedDiscreteSystem:
    """A discrete system reduced by a symmetry; the options are those of the public `reduce`."""
    _check(system, symmetry, connection)
    original, system = system, in_chart(system)
    check_invariance(system, in_charts(symmetry), symmetry.groups)
    if momentum is not None and connection is None and _is_horizontal(system, in_charts(symmetry)):
        symmetry, momentum = fixing(symmetry, momentum)
    over = bundle(symmetry, system.coordinates, section) if connection is None else connection.bundle
    split = _spaces(over, system, metric)
    kind, M = _kind(over, split), _lift(over, split, lift)
    if connection is None:
        connection = _natural(system, over, kind, M, split.ranks["S"], momentum)
    elif momentum is not None:
        raise ModelError("reduce: give a connection, or a momentum whose level is the connection, not both.")
    implicit = connection.implicit.unknowns if connection.implicit is not None else ()
    solved = _new_coordinates(system, over, [s.name.replace(".", "_") for s in implicit])
    ends = tuple(fast(c.at(1)) for c in solved)
    still = ReducedTerms(system, connection, M, tuple(over.identity), ends)
    if momentum is not None or (kind == "Chaplygin" and all(_holds(still, c) for c in still.constraints)):
        made = _on_shapes(system, kind, split, still, solved)
    else:
        theta = _new_coordinates(system, over, [f"{e}_step" for e in over.symmetry.elements])
        moving = replace(still, theta=tuple(fast(c.at(1)) for c in theta))
        made = _with_group(system, "general" if over.shape else kind, split, moving, theta, solved)
    return replace(made, original=original)


def _check(system: DiscreteSystem, symmetry: Any, connection: Any) -> None:
    check_symmetry(symmetry, "reduce")
    if connection is not None and not isinstance(connection, DiscreteConnection):
        raise ModelError(
            f"connection: got {told(connection)}. Expected a DiscreteConnection(symmetry, coordinates, ...)."
        )
    moved = [R.name for R in symmetry.groups if R not in groups(system.coordinates)]
    if moved:
        names = ", ".join(f.name for f in system.space.factors)
        raise ModelError(f"the symmetry moves {', '.join(moved)}, and the coordinates are {names}.")
    if connection is not None and connection.bundle.stated is not symmetry:
        raise ModelError(
            "connection: it belongs to another symmetry. Make it with the symmetry that reduces the system."
        )
    if system.interior or system.entropies:
        found = "positions inside the step" if system.interior else "entropies"
        raise ModelError(f"reduce: {system.name!r} has {found}. Reduce a system without them.")
    reactions_by_forms(system, "reduce")


def _is_horizontal(system: DiscreteSystem, symmetry: Any) -> bool:
    """Whether the variations admit all directions of the group: V is within D."""
    fields = [[fast(field.get(c, 0)) for field in symmetry.generators] for c in system.coordinates]
    return all(vanishes(e) for row in times(system.variations, fields) for e in row)


def _spaces(over: Bundle, system: DiscreteSystem, metric: Any = None) -> Splitting:
    """The spaces V, D, S, H, U, W at s(r), in the frame of the section's derivatives and the generators.

    On the section any metric may split them, since the group carries the splitting to the other positions. Where numbers of a
    chart are among the shapes, the kinetic one is too long for formulas, and the frame is taken as orthonormal.
    """
    n = len(system.coordinates)
    at = substitution(over.placed())
    ds, V = over.section_slopes(), over.generators(over.placed())
    frame = [[*a, *b] for a, b in zip(ds, V, strict=True)]
    K = kinetic_metric(system) if metric is None else [[fast(e) for e in row] for row in metric_of(metric, n).tolist()]
    forms = times([[at(a) for a in row] for row in system.variations], frame)
    weighted = times([list(column) for column in zip(*frame, strict=True)], [[at(e) for e in row] for row in K])

    def matrix(rows: Rows) -> sympy.Matrix:
        read = [over.read(e, *system.parameters, step, time) for row in rows for e in row]
        return sympy.Matrix(len(rows), n, [tidy(e) for e in read])

    if metric is None and any(set(chart(R)) & set(over.shape) for R in over.stated.groups):
        return Splitting(over.symmetry, over.shape, matrix(forms), sympy.eye(n))
    return Splitting(over.symmetry, over.shape, matrix(forms), matrix(times(weighted, frame)))


def kinetic_metric(system: DiscreteSystem) -> Rows:
    """The mass matrix of the system it was made from; else -D2 D1 L_d at q0 = q1, made symmetric: invariant as L_d is."""
    q = system.coordinates
    if system.system is not None:
        velocities = [c.dot for c in q]
        return jacobian(gradient(fast(system.system.lagrangian), velocities), velocities)
    mixed = jacobian(gradient(system.lagrangian, [c.at(0) for c in q]), [c.at(1) for c in q])
    here = substitution({c.at(0): c for c in q} | {c.at(1): c for c in q})
    return [[-here(mixed[i][j] + mixed[j][i]) / 2 for j in range(len(q))] for i in range(len(q))]


def _lift(over: Bundle, split: Splitting, given: Any) -> Lift:
    """M(r), rows by element, columns by shape coordinate."""
    if given is not None:
        return tuple(tuple(map(fast, row)) for row in lift_of(given, over.shape, over.symmetry.elements))
    try:
        M = split.lift
    except (ValueError, ZeroDivisionError):
        raise cannot_split() from None
    return tuple(tuple(fast(e) for e in M.row(i)) for i in range(over.dimension))


def _kind(over: Bundle, split: Splitting) -> str:
    d = split.ranks
    if not over.shape:
        return "Euler-Poincare" if d["U"] == 0 else "Euler-Poincare-Suslov"
    if d["S"] == d["W"] == 0:
        return "Chaplygin"
    return "horizontal" if d["U"] == 0 else "general"


def _natural(
    system: DiscreteSystem, over: Bundle, kind: str, M: Lift, admitted: int, momentum: Mapping[Any, Any] | None
) -> DiscreteConnection:
    """The connection that the kind of symmetry suggests."""
    if momentum is not None:
        return momentum_connection(system, over, M, admitted, momentum)
    if kind == "Chaplygin":
        b = letters(over)
        open_terms = ReducedTerms(system, DiscreteConnection.along_section(over), M, tuple(map(fast, b)))
        found = solved_element(over, open_terms.constraints, b, system.parameters)
        at = substitution(dict(zip(b, found or (), strict=False)))
        if found is not None and all(vanishes(at(e)) for e in open_terms.constraints):
            return DiscreteConnection.along_section(over, found)
        if not over.stated.groups:  # b grows to half a turn where numbers of a chart do, and steps are not solved there
            return DiscreteConnection.solving(over, open_terms.constraints)
    return DiscreteConnection.along_section(over)


def _holds(terms: ReducedTerms, constraint: Fast) -> bool:
    """Whether horizontal steps satisfy a constraint: because of b, or as one of the equations of b."""
    return any(vanishes(constraint - e) for e in (fast(0), *terms.unknown_equations))


def _on_shapes(
    system: DiscreteSystem, kind: str, split: Splitting, terms: ReducedTerms, solved: Solved
) -> ReducedDiscreteSystem:
    """The reduced system where theta = e on every step: a forced discrete system in r."""
    connection = terms.connection
    p = len(connection.bundle.shape)
    given = terms.lifted if solved else terms.forces
    minus, plus = ([a + b for a, b in zip(own, side[:p], strict=True)]
                   for own, side in zip(given, terms.external, strict=True))  # fmt: skip
    kept = kind == "horizontal"  # of Chaplygin's systems the connection satisfies the constraints
    forms, constraints = ([row[:p] for row in terms.variations()], terms.constraints) if kept else ([], [])
    made = _discrete(system, connection.bundle.shape, terms, solved, minus, plus, forms, constraints)
    return ReducedDiscreteSystem(made, system, kind, connection, split, (), terms, solved)


def _with_group(
    system: DiscreteSystem, kind: str, split: Splitting, terms: ReducedTerms, variables: Solved, solved: Solved
) -> ReducedDiscreteSystem:
    """The reduced system in (r, theta), theta of a step at its end."""
    connection = terms.connection
    own = gradient(terms.lagrangian, [c.at(1) for c in variables])
    forces = terms.lifted if solved else terms.forces
    minus = [f + c for f, c in zip(forces[0], terms.commutator, strict=True)] + [-a for a in terms.leaving]
    plus = forces[1] + [a - d for a, d in zip(terms.arriving, own, strict=True)]
    given = terms.external
    made = _discrete(
        system, (*connection.bundle.shape, *variables), terms, solved,
        [a + b for a, b in zip(minus, given[0], strict=True)], [a + b for a, b in zip(plus, given[1], strict=True)],
        terms.variations(), terms.constraints,
    )  # fmt: skip
    return ReducedDiscreteSystem(made, system, kind, connection, split, variables, terms, solved)


def _new_coordinates(system: DiscreteSystem, over: Bundle, wanted: Sequence[str]) -> Solved:
    """Coordinates with these names, or with the next ones that are not used."""
    taken = {s.name for s in (*system.coordinates, *over.shape, *system.parameters)}
    names: list[str] = []
    for name in wanted:
        free = (name + "_" * k for k in count())
        names.append(next(n for n in free if n not in taken))
    made = coordinates(" ".join(names)) if names else ()
    return made if isinstance(made, tuple) else (made,)


def _discrete(
    system: DiscreteSystem, own_variables: Sequence[Coordinate], terms: ReducedTerms, solved: Solved, minus: Sequence[Fast],
    plus: Sequence[Fast], variations: Sequence[Sequence[Fast]], constraints: Sequence[Fast],
) -> DiscreteSystem:  # fmt: skip
    """The discrete system; the unknowns of b, if there are any, are coordinates that do not vary and that equations bind."""
    q, lagrangian, zero, n = (*own_variables, *solved), terms.lagrangian, fast(0), len(solved)
    minus = [*minus, *([zero] * n)]
    plus = [*plus, *(-e for e in gradient(lagrangian, [c.at(1) for c in solved]))]
    variations = [[*row, *([zero] * n)] for row in variations]
    variations += [[fast(int(c == x)) for x in q] for c in solved]
    constraints = [*constraints, *terms.unknown_equations]
    expressions = [lagrangian, *minus, *plus, *constraints, *(a for row in variations for a in row)]
    names = {s.name for e in expressions for s in e.free_symbols}
    own = [p for p in system.parameters if p.name in names]
    known = {p.name for p in own} | {c.at(k).name for c in q for k in (0, 1)} | {c.name for c in q}
    more = [Parameter(n) for n in sorted(names - known - {step.name, time.name})]
    return DiscreteSystem._made(
        name=f"{system.name}, reduced",
        coordinates=tuple(q),
        lagrangian=lagrangian,
        external_minus=tuple(minus), external_plus=tuple(plus), force_minus=tuple(minus), force_plus=tuple(plus),
        friction_minus=(), friction_plus=(),
        variations=tuple(map(tuple, variations)),
        constraints=tuple(constraints),
        parameters=tuple(sorted([*own, *more], key=lambda p: p.name)),
        system=None, interior=(), force_interior=(), entropies=(), entropy_laws=(), null_space=system.null_space,
    )  # fmt: skip
