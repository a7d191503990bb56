"""Discrete Noether: the momentum of a declared symmetry, and the nonholonomic momentum and its evolution.

For an infinitesimal symmetry xi(q),

    J_d(q0, q1) = -(D1 L_d + F_d-) . xi(q0) = (D2 L_d + F_d+) . xi(q1),

the two being equal where L_d is invariant and the forces do no work along xi; J_d is then conserved if xi(q) is an
admissible variation at every node. With a section of the admissible symmetries, xi(q) = c_i(q) e_i, it evolves by (5.10):

    J_d(q_k, q_k+1) - J_d(q_k-1, q_k) = -D1 L_d(q_k-1, q_k) . (xi(q_k) - xi(q_k-1))_Q(q_k-1) + the work of forces.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Any, Literal

from sympy import Expr

from ..decide import balls
from ..decide.balls import Ball, Point
from ..decide.elimination import rank
from ..decide.zero import vanishes
from ..display import Part, Shown, Table
from ..errors import ModelError, told
from ..model import checks
from ..model.coordinates import Coordinate
from ..model.principle import reactions_by_forms
from ..model.space import lines_only
from ..symbolic import Fast, fast, gradient, jacobian, substitute
from .equations import momentum_minus, momentum_plus
from .flow import evaluated, sample_pairs
from .given_parts import check_keys
from .system import DiscreteSystem

if TYPE_CHECKING:
    from ..run.trajectory import Trajectory

Field = tuple[Fast, ...]
"""A vector field, one component per coordinate."""


@dataclass(frozen=True)
class Check:
    """One condition, and by how much it fails at random points, relative to the terms it is made of; zero if it holds."""

    condition: str
    defect: float

    @property
    def holds(self) -> bool:
        """Whether the condition holds at all points."""
        return self.defect == 0


def _table(checks: Sequence[Check]) -> Table:
    return Table(
        ("condition", "holds", "defect"), [(c.condition, "yes" if c.holds else "NO", f"{c.defect:.0e}") for c in checks]
    )


@dataclass(frozen=True, eq=False, repr=False)
class MomentumMap(Shown):
    """The discrete momentum map of one infinitesimal symmetry.

    minus, plus:  the momentum from the beginning and from the end of a step, in the slots
    checks:       the conditions of invariance, each tested by value
    conserved:    whether Noether's theorem applies, so that the momentum is the same on every step of every motion
    """

    system: DiscreteSystem
    generator: Field
    minus: Expr
    plus: Expr
    checks: tuple[Check, ...]
    needed: int
    """How many of the checks, from the first, conservation needs; the rest are the symmetry of the constraints themselves."""

    @property
    def conserved(self) -> bool:
        """Whether the momentum is conserved exactly."""
        return all(c.holds for c in self.checks[: self.needed])

    @property
    def symmetric(self) -> bool:
        """Whether all data are invariant: L_d, forces, variations and constraints."""
        return self.checks[0].holds and all(c.holds for c in self.checks[self.needed :])

    def along(self, run: Trajectory) -> Any:
        """The momentum on each step of a run (at each node, if the step has interior positions)."""
        _check_run(run, self.system, "momentum_map")
        if self.system.interior:
            xi = [substitute(f, {c: c.at(0) for c in self.system.coordinates}) for f in self.generator]
            table = evaluated(self.system, xi, run, nodes=True)
            return sum(run[c.momentum] * table[..., i] for i, c in enumerate(self.system.coordinates))
        return evaluated(self.system, [fast(self.minus)], run)[..., 0]

    def _parts(self) -> list[Part]:
        q = self.system.coordinates
        xi = ", ".join(f"{c}: {self.system.read(f)}" for c, f in zip(q, self.generator, strict=True) if f != 0)
        said = "conserved exactly" if self.conserved else "not conserved"
        title = f"momentum map of {{{xi}}} on {self.system.name!r}: {said}"
        return [title, ("J", self.minus), _table(self.checks)]


def momentum_map(system: DiscreteSystem, generator: Mapping[Coordinate, Any]) -> MomentumMap:
    """The momentum map of an infinitesimal symmetry {x: xi_x, y: xi_y}, coordinates left out do not move.

    momentum_map(particle, {x: -y, y: x}) is the angular momentum. The invariance of L_d, the work of forces and the
    admissibility of xi are checked by value at random points, on the discrete constraints where there are any.
    """
    _check_system(system, "momentum_map")
    xi = _field(system, generator, "generator")
    first, second = (_at(system, xi, k) for k in (0, 1))
    inner = [_within(system, xi, i) for i, _ in enumerate(system.interior, start=1)]
    slots = [fast(c.at(k)) for k in (0, 1) for c in system.coordinates] + [p.slot for p in system.interior_positions()]
    moved = [*first, *second, *(f for row in inner for f in row)]
    slopes = gradient(system.lagrangian, slots)
    forces = [*system.force_minus, *system.force_plus, *system.force_interior]
    points = sample_pairs(system)
    found = [_check("L_d is invariant", [_products(slopes, moved)], points)]
    if any(f != 0 for f in forces):
        found.append(_check("forces do no work along it", [_products(forces, moved)], points))
    if system.variations:
        rows = [_products([substitute(a, _first(system)) for a in w], first) for w in system.variations]
        found.append(_check("it is an admissible variation", rows, points))
    needed = len(found)
    minus = sum(_products(momentum_minus(system), first), start=fast(0))
    plus = sum(_products(momentum_plus(system), second), start=fast(0))
    found += _symmetry(system, xi, slots, moved, forces, points)
    return MomentumMap(system, xi, system.read(minus), system.read(plus), tuple(found), needed)


def _symmetry(
    system: DiscreteSystem, xi: Field, slots: list[Fast], moved: list[Fast], forces: list[Fast], points: Any
) -> list[Check]:
    """Whether forces, variations and constraints are invariant: their Lie derivatives along xi."""
    found = []
    if any(f != 0 for f in forces):
        turned = jacobian(moved, slots)
        rows = [
            [*_products(gradient(f, slots), moved), *_products(forces, [row[i] for row in turned])]
            for i, f in enumerate(forces)
        ]
        found.append(_check("the forces are invariant", rows, points))
    if system.variations:
        found.append(Check("the variations are invariant", _span_defect(system, xi, points)))
    if system.constraints:
        rows = [_products(gradient(chi, slots), moved) for chi in system.constraints]
        found.append(_check("the constraints are invariant", rows, points))
    return found


@dataclass(frozen=True, eq=False, repr=False)
class NonholonomicMomentum(Shown):
    """The discrete nonholonomic momentum of a section, and how it changes from step to step.

    momentum:    J in the slots of a step
    change:      the right-hand side of its evolution equation: in the slots of the step before for "minus" (5.10), of the
                 step itself for "plus" (the variant of Cortes)
    """

    system: DiscreteSystem
    variant: Literal["minus", "plus"]
    momentum: Expr
    change: Expr
    checks: tuple[Check, ...]

    @property
    def evolves(self) -> bool:
        """Whether the evolution equation holds on every motion."""
        return all(c.holds for c in self.checks)

    def along(self, run: Trajectory) -> Any:
        """The momentum on each step of a run."""
        _check_run(run, self.system, "nonholonomic_momentum")
        return evaluated(self.system, [fast(self.momentum)], run)[..., 0]

    def residual(self, run: Trajectory) -> Any:
        """The momentum of each step, less that of the step before, less the change: rounding, if the section is admissible."""
        _check_run(run, self.system, "nonholonomic_momentum")
        table = evaluated(self.system, [fast(self.momentum), fast(self.change)], run)
        J, change = table[..., 0], table[..., 1]
        return J[..., 1:] - J[..., :-1] - (change[..., :-1] if self.variant == "minus" else change[..., 1:])

    def _parts(self) -> list[Part]:
        said = "evolves by" if self.evolves else "does NOT evolve by"
        pair = "the step before" if self.variant == "minus" else "this step"
        return [
            f"nonholonomic momentum on {self.system.name!r}: {said} the equation below",
            ("J", self.momentum),
            (f"change (on {pair})", self.change),
            _table(self.checks),
        ]


def nonholonomic_momentum(
    system: DiscreteSystem,
    section: Mapping[Coordinate, Any] | Sequence[Any],
    generators: Sequence[Mapping[Coordinate, Any]] | None = None,
    variant: Literal["minus", "plus"] = "minus",
) -> NonholonomicMomentum:
    """The momentum of a section xi(q) = c_i(q) e_i with xi_Q(q) in D, and its evolution equation.

    The equation holds where L_d is invariant under the section, its coefficients frozen at one end of the step: for this it
    suffices that L_d is invariant under every generator whose coefficient is not zero.

    section:     the coefficients c_i(q), one per generator; or {x: c_x, ...} for translations of those coordinates
    generators:  the infinitesimal symmetries e_i, each {x: ..., y: ...}
    variant:     "minus" is J = -(D1 L_d + F_d-) . xi(q0); "plus" is that of Cortes, (D2 L_d + F_d+) . xi(q1)
    """
    _check_system(system, "nonholonomic_momentum")
    if system.interior:
        raise ModelError(f"nonholonomic_momentum: {system.name!r} has interior positions, which constraints exclude.")
    if variant not in ("minus", "plus"):
        raise ModelError(f'nonholonomic_momentum: variant={variant!r}. Write variant="minus" or variant="plus".')
    coefficients, basis = _section(system, section, generators)
    n, at = len(system.coordinates), [[_frozen(system, coefficients, basis, a, b) for b in (0, 1)] for a in (0, 1)]
    D1 = gradient(system.lagrangian, [c.at(0) for c in system.coordinates])
    D2 = gradient(system.lagrangian, [c.at(1) for c in system.coordinates])

    def dot(row: Sequence[Fast], field: Sequence[Fast]) -> Fast:
        return sum((a * b for a, b in zip(row, field, strict=True)), start=fast(0))

    work = dot(system.force_minus, at[0][0]) + dot(system.force_plus, at[1][1])
    if variant == "minus":
        J = -dot(D1, at[0][0]) - dot(system.force_minus, at[0][0])
        change = -dot(D1, [at[1][0][i] - at[0][0][i] for i in range(n)]) + work
    else:
        J = dot(D2, at[1][1]) + dot(system.force_plus, at[1][1])
        change = dot(D2, [at[1][1][i] - at[0][1][i] for i in range(n)]) + work
    points = sample_pairs(system)
    end = 1 if variant == "minus" else 0  # the end at which the neighbouring step evaluates its coefficients
    rows = [_products([*D1, *D2], [*at[end][0], *at[end][1]])]
    found = [_check("L_d is invariant under the section, its coefficients frozen", rows, points)]
    if system.variations:
        rows = [_products([substitute(a, _first(system)) for a in w], at[0][0]) for w in system.variations]
        found.append(_check("the section is an admissible variation", rows, points))
    return NonholonomicMomentum(system, variant, system.read(J), system.read(change), tuple(found))


def _check_system(system: Any, role: str) -> None:
    if not isinstance(system, DiscreteSystem):
        advice = "Write discretise(system, midpoint_map) first." if hasattr(system, "lagrangian") else ""
        raise ModelError(
            f"{role}: got {told(system)} ({type(system).__name__}). Expected a DiscreteSystem. {advice}".rstrip()
        )
    lines_only(system, role)
    reactions_by_forms(system, role)


def _check_run(run: Any, system: DiscreteSystem, role: str) -> None:
    if not hasattr(run, "records"):
        raise ModelError(
            f"{role}: got {told(run)} ({type(run).__name__}). Expected a run of {system.name!r}, by simulate(...)."
        )


def _section(system: DiscreteSystem, section: Any, generators: Any) -> tuple[Field, list[Field]]:
    """Coefficients and generators, checked."""
    q = system.coordinates
    if isinstance(section, Mapping):
        if generators is not None:
            raise ModelError(
                "nonholonomic_momentum: with generators=[...], give section=[c_1, c_2, ...], one for each."
            )
        return _field(system, section, "section"), [tuple(fast(int(c == d)) for d in q) for c in q]
    sorts = {"section": section, "generators": () if generators is None else generators}
    for role, given in sorts.items():
        if isinstance(given, str) or not isinstance(given, Sequence):
            raise ModelError(
                f"{role}: got {told(given)}. Expected section={{{q[0]}: ...}}, or section=[c_1, ...] with "
                f"generators=[{{{q[0]}: 1}}, ...]."
            )
    if not section or generators is None or len(generators) != len(section):
        count = "no generators" if generators is None else f"{len(generators)} generators"
        raise ModelError(
            f"nonholonomic_momentum: {len(section)} coefficients and {count}. Give generators=[{{{q[0]}: 1}}, ...], one for "
            f"each coefficient, or section={{{q[0]}: ...}} for translations."
        )
    coefficients = tuple(fast(_expression(system, c, "section")) for c in section)
    return coefficients, [_field(system, e, "generator") for e in generators]


def _field(system: DiscreteSystem, given: Any, role: str) -> Field:
    q = system.coordinates
    if not given:
        raise ModelError(f"{role}: got {told(given)}. Expected {{coordinate: expression}}, such as {{{q[0]}: 1}}.")
    check_keys(given, q, role)
    return tuple(fast(_expression(system, given.get(c, 0), role)) for c in q)


def _expression(system: DiscreteSystem, given: Any, role: str) -> Expr:
    e = checks.expression(given, role)
    known = (*system.coordinates, *system.parameters)
    strange = {s for s in e.free_symbols if s.name not in {p.name for p in known}}
    if strange:
        raise ModelError(
            f"{role}: {e} contains {', '.join(sorted(map(str, strange)))}. A symmetry is a vector field in the coordinates "
            f"and the parameters of the system, without slots and velocities: {', '.join(p.name for p in known)}."
        )
    return checks.symbols(e, known, role)


def _first(system: DiscreteSystem) -> dict[Any, Any]:
    return {c: c.at(0) for c in system.coordinates}


def _at(system: DiscreteSystem, xi: Field, slot: Literal[0, 1]) -> list[Fast]:
    """A vector field at one end of the step."""
    return [substitute(f, {c: c.at(slot) for c in system.coordinates}) for f in xi]


def _within(system: DiscreteSystem, xi: Field, i: int) -> list[Fast]:
    """A vector field at an interior position."""
    slots = {p.coordinate: p.slot for p in system.interior_positions() if p.node == i}
    return [substitute(f, slots) for f in xi]


def _frozen(system: DiscreteSystem, coefficients: Field, basis: list[Field], a: Any, b: Any) -> list[Fast]:
    """(xi(q_a))_Q(q_b): the coefficients at one end of the step, the generators at the other."""
    c, fields = _at(system, coefficients, a), [_at(system, e, b) for e in basis]
    return [sum((x * f[i] for x, f in zip(c, fields, strict=True)), start=fast(0)) for i in range(len(basis[0]))]


def _products(row: Sequence[Fast], field: Sequence[Fast]) -> list[Fast]:
    return [a * b for a, b in zip(row, field, strict=True)]


def _check(condition: str, rows: list[list[Fast]], points: list[Point]) -> Check:
    """The largest |sum| of a row of terms, relative to the sum of their sizes, over all rows and points.

    Where the terms have no values at any of the points, their domain is searched.
    """
    grids = [g for g in (balls.values(rows, at) for at in points) if g is not None]
    if not grids:
        return Check(condition, 0.0 if all(vanishes(sum(row, start=fast(0))) for row in rows) else inf)
    return Check(condition, max((_defect(row) for g in grids for row in g), default=inf))


def _defect(terms: Sequence[Ball]) -> float:
    """|sum| of some terms over the sum of their sizes; zero if the sum is zero."""
    with balls.precise() as flint:
        whole, sizes = sum(terms, start=flint.arb(0)), sum(map(abs, terms), start=flint.arb(0))
        return 0.0 if whole.contains(0) else float(abs(whole) / sizes)


def _span_defect(system: DiscreteSystem, xi: Field, points: list[Point]) -> float:
    """Distance of the Lie derivatives of the omega^a along xi from the span of the omega^a; zero inside it."""
    import numpy as np

    q = system.coordinates
    turned = jacobian(xi, q)
    derived = [
        [
            sum((*_products(gradient(a, q), xi), *_products(w, [row[i] for row in turned])), start=fast(0))
            for i, a in enumerate(w)
        ]
        for w in system.variations
    ]
    worst = 0.0
    for at in points:
        here = {**at, **{c.name: at[c.at(0).name] for c in q}}
        exact = [balls.raw_values(rows, here) for rows in (system.variations, derived)]
        if rank([*exact[0], *exact[1]]) == rank(exact[0]):
            continue
        forms, lie = (np.array([[float(b) for b in row] for row in rows]) for rows in exact)
        along = lie @ np.linalg.pinv(forms) @ forms
        worst = max(worst, float(np.abs(lie - along).max() / (np.abs(forms).max() + np.abs(lie).max())))
    return worst
