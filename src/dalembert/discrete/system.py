"""What a discrete mechanical system is: L_d(q0, q1), discrete forces, variations and discrete kinematic constraints.

With entropies it is a thermomechanical one: L_d(q0, q1, S0, S1), friction separate from external forces, and a law
rho_d(q0, q1, S0, S1) = 0 for every entropy. `discretise` makes one from a `System`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sympy import Expr, Float, Matrix, Rational, Symbol

from ..decide.decimals import PLAIN, Typed
from ..errors import ModelError, told
from ..model import checks
from ..model import heat as thermal
from ..model.bodies.assembly import system_of
from ..model.constraints import variation
from ..model.coordinates import Coordinate, Entropy, Multiplier, Parameter, multiplier, step, time
from ..model.principle import DEFAULT, Principle
from ..model.space import HasSpace, lines_only, moved_symbols
from ..model.system import System
from ..symbolic import LONGEST, Fast, Vector, fast, gradient, slow, substitute, substitution, total, vector
from ..waist.layout import Groups
from .given_parts import binding, check_keys, flag, listed, shares_of
from .group_steps import displaced, from_start, places
from .interior import Interior, interior_positions, interior_refusal, interior_slots, slots_at
from .maps import Density, Discretisation, check_map

if TYPE_CHECKING:
    from .equations import DiscreteEquations


@dataclass(frozen=True, init=False, repr=False)
class DiscreteSystem(HasSpace):
    """A discrete mechanical system (Q, L_d, F_d-, F_d+, D, D_d), given directly or made by `discretise`.

    lagrangian:   L_d in the slots x.at(0), x.at(1), the step `dalembert.step` and `dalembert.time` (of the first node)
    force_minus:  {x: F_d- on x}, force_plus: {x: F_d+ on x}, in the same slots: external forces
    entropies:    entropies; their slots S.at(0), S.at(1) may occur everywhere
    friction_minus, friction_plus:  {x: F_d on x} that warms the one entropy, or {S: {x: F_d on x}}
    entropy_laws: functions rho(q0, q1, S0, S1) that vanish on every step, one per entropy
    variations:   one-forms at a node, written as for a System: z.dot - y*x.dot for dz - y dx
    constraints:  functions chi(q0, q1) that vanish on every step, in the slots
    null_space:   whether steps are solved in a basis of D, without multipliers: see `NullSpace`

    As attributes, `force_minus` and `force_plus` are the whole force on each coordinate: `external_minus` and all of
    `friction_minus`, which has one row per entropy.
    """

    name: str
    coordinates: tuple[Coordinate, ...]
    lagrangian: Fast
    force_minus: tuple[Fast, ...]
    force_plus: tuple[Fast, ...]
    variations: tuple[tuple[Fast, ...], ...]
    constraints: tuple[Fast, ...]
    parameters: tuple[Parameter, ...]
    system: System | None = field(compare=False)
    """The system it was made from, if any."""
    interior: tuple[Any, ...] = ()
    """Fractions of the step at which interior positions lie, with respect to which L_d is stationary."""
    force_interior: tuple[Fast, ...] = ()
    """The discrete force on each interior position, coordinate by coordinate."""
    entropies: tuple[Entropy, ...] = ()
    entropy_laws: tuple[Fast, ...] = ()
    external_minus: tuple[Fast, ...] = ()
    external_plus: tuple[Fast, ...] = ()
    friction_minus: tuple[tuple[Fast, ...], ...] = ()
    friction_plus: tuple[tuple[Fast, ...], ...] = ()
    principle: Principle = DEFAULT
    """The principle of its constraints: that of the system it was made from, otherwise by the given one-forms."""
    null_space: bool = False
    """Whether steps are solved in a basis of the displacements on which the one-forms vanish, without multipliers."""
    given: Typed = field(default=PLAIN, compare=False)
    """The decimals and fractions given directly, without a system."""

    def __init__(
        self,
        name: str,
        coordinates: Sequence[Coordinate],
        *,
        lagrangian: Any,
        force_minus: Mapping[Coordinate, Any] | None = None,
        force_plus: Mapping[Coordinate, Any] | None = None,
        entropies: Sequence[Entropy] = (),
        friction_minus: Mapping[Any, Any] | None = None,
        friction_plus: Mapping[Any, Any] | None = None,
        entropy_laws: Sequence[Any] = (),
        variations: Sequence[Any] = (),
        constraints: Sequence[Any] = (),
        null_space: bool = False,
    ):
        q, S = checks.coordinates(coordinates), thermal.entropies(entropies)
        for name_taken in {c.name for c in q} & {s.name for s in S}:
            raise ModelError(f"the name {name_taken} is used for a coordinate and for an entropy. Rename one of them.")
        slots: set[Symbol] = {c.at(k) for c in (*q, *S) for k in (0, 1)}
        stated: list[Expr] = []

        def checked(given: Any, role: str) -> Expr:
            stated.append(checks.expression(given, role))
            return checks.symbols(stated[-1], slots | {step}, role)

        def forces(given: Mapping[Coordinate, Any] | None, role: str) -> tuple[Expr, ...]:
            check_keys(given, q, role)
            return tuple(checked((given or {}).get(c, 0), f"{role} on {c}") for c in q)

        def friction(given: Mapping[Any, Any] | None, role: str) -> tuple[tuple[Expr, ...], ...]:
            shares = shares_of(given, q, S, role)
            return tuple(forces(shares.get(s), role) for s in S)

        variations, constraints, entropy_laws = listed(
            variations=variations, constraints=constraints, entropy_laws=entropy_laws
        )
        if len(variations) != len(constraints):
            raise ModelError(
                f"{name}: {len(variations)} variations but {len(constraints)} constraints. A step is determined only if "
                f"there are as many one-forms as functions chi(q0, q1)."
            )
        if len(entropy_laws) != len(S):
            count = f"{len(S)} entropies but {len(entropy_laws)} entropy_laws"
            raise ModelError(f"{name}: {count}. Give one function rho of the slots for each.")
        known = {s for c in q for s in (c, c.dot)}
        forms = [checks.symbols(checks.expression(w, "variation"), known, "variation") for w in variations]
        given = checked(lagrangian, "lagrangian")
        minus, plus = forces(force_minus, "force_minus"), forces(force_plus, "force_plus")
        rubs = friction(friction_minus, "friction_minus"), friction(friction_plus, "friction_plus")
        chi = tuple(binding(checked(c, "constraint"), q) for c in constraints)
        laws = tuple(checked(r, "entropy law") for r in entropy_laws)
        self._put(
            name=str(name), coordinates=q, lagrangian=fast(given),
            variations=tuple(tuple(map(fast, variation(w, q))) for w in forms), constraints=tuple(map(fast, chi)),
            parameters=checks.parameters((given, *minus, *plus, *_flat(rubs), *chi, *forms, *laws), (*q, *S)), system=None,
            entropies=S, entropy_laws=tuple(map(fast, laws)), given=Typed.of(stated),
            null_space=flag(null_space, "null_space"), **_all_forces(minus, plus, *rubs),
        )  # fmt: skip

    @property
    def discrete(self) -> DiscreteSystem:
        """Itself: its discrete Lagrangian gives the step, without a method."""
        return self

    @property
    def legendre_minus(self) -> dict[Coordinate, Expr]:
        """The discrete Legendre transform at the beginning of a step, p0 = -D1 L_d - F_d-, in the slots."""
        from .equations import momentum_minus

        lines_only(self, "legendre_minus")
        return dict(zip(self.coordinates, map(self.read, momentum_minus(self)), strict=True))

    @property
    def legendre_plus(self) -> dict[Coordinate, Expr]:
        """The discrete Legendre transform at the end of a step, p1 = D2 L_d + F_d+, in the slots."""
        from .equations import momentum_plus

        lines_only(self, "legendre_plus")
        return dict(zip(self.coordinates, map(self.read, momentum_plus(self)), strict=True))

    @property
    def step_matrix(self) -> Matrix:
        """The matrix that determines a step, in the slots: K = D2 D1 L_d + D2 F_d-, bordered by h omega^T and D2 chi."""
        from .flow import step_matrix

        lines_only(self, "step_matrix")
        return Matrix([[self.read(e) for e in row] for row in step_matrix(self)])

    def expressions(self) -> tuple[Fast, ...]:
        """All its expressions."""
        rubs = [f for side in (self.friction_minus, self.friction_plus) for row in side for f in row]
        forces = (*self.external_minus, *self.external_plus, *self.force_interior, *rubs)
        rows = [a for row in self.variations for a in row]
        return (self.lagrangian, *forces, *rows, *self.constraints, *self.entropy_laws)

    @property
    def multipliers(self) -> tuple[Multiplier, ...]:
        """The symbols of the multipliers, one per constraint."""
        return tuple(multiplier(a + 1) for a in range(len(self.constraints)))

    def interior_positions(self) -> list[Interior]:
        """The interior positions of a step, one item per coordinate of each: all of the first position, then of the second."""
        return interior_positions(self.coordinates, self.interior)

    def _put(self, **fields: Any) -> None:
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    @classmethod
    def _made(cls, **fields: Any) -> DiscreteSystem:
        if why := interior_refusal(fields["interior"], fields["constraints"]):
            raise ModelError(f"{fields['name']}: {why} Use a rule without them, such as Midpoint().")
        made = cls.__new__(cls)
        made._put(**fields)
        if made.system is not None:
            made._put(principle=made.system.principle)
        return made

    def equations(self) -> DiscreteEquations:
        """The discrete Lagrange-d'Alembert equations, and the laws of entropy; see `DiscreteEquations`."""
        from .equations import DiscreteEquations

        lines_only(self, "equations")
        return DiscreteEquations(self)

    @property
    def typed(self) -> Typed:
        """The decimals and fractions that were given; numbers are printed in this form."""
        return self.given if self.system is None else self.system.typed

    def read(self, expression: Fast) -> Expr:
        """One of the expressions of this system, as SymPy; a very long fraction becomes a decimal."""
        slots = [s for q in (*self.coordinates, *self.entropies) for s in (q, q.dot, q.at(0), q.at(1))]
        whole = slow(expression, [*slots, *self.parameters, time, step])
        long = [r for r in whole.atoms(Rational) if r.q > LONGEST]
        result: Expr = whole.xreplace({r: Float(float(r)) for r in long})
        return result

    def __repr__(self) -> str:
        return f"<DiscreteSystem {self.name!r}: coordinates {', '.join(q.name for q in self.coordinates)}>"


def _flat(sides: Iterable[Iterable[Iterable[Expr]]]) -> list[Expr]:
    return [f for side in sides for row in side for f in row]


def _all_forces(minus: Any, plus: Any, friction_minus: Any, friction_plus: Any) -> dict[str, Any]:
    """The fields of forces: external ones, friction for each entropy, and their sum."""

    def whole(external: Any, friction: Any) -> tuple[Fast, ...]:
        return tuple(sum(rubs, start=f) for f, *rubs in zip(external, *friction, strict=True))

    external = tuple(map(fast, minus)), tuple(map(fast, plus))
    rows = [tuple(tuple(map(fast, row)) for row in side) for side in (friction_minus, friction_plus)]
    return {
        "external_minus": external[0], "friction_minus": rows[0], "force_minus": whole(external[0], rows[0]),
        "external_plus": external[1], "friction_plus": rows[1], "force_plus": whole(external[1], rows[1]),
    }  # fmt: skip


def discretise(system: System, map: Discretisation) -> DiscreteSystem:
    """The discrete system of a system and a finite-difference map (or a variational method).

    L_d = h L o psi. The same rule gives the forces, applied to the virtual work F.dq, and the kinematic constraints;
    holonomic constraints hold at the end of the step, and variations are taken at the nodes. Entropies go through the
    map as coordinates do, psi_Q x psi_R, and rho_d is the law of entropy o psi, heat included.
    """
    if not hasattr(map, "discrete_lagrangian") or isinstance(map, type):
        raise ModelError(
            f"discretise: {told(map)} is not a finite-difference map. Use left_map, midpoint_map or right_map, "
            f"FiniteDifferenceMap(b), or a variational method such as Midpoint()."
        )
    system = system_of(system, "discretise", groups=True)
    if hasattr(map, "check"):
        map.check(system)
    if not system.principle.at_nodes(system):
        raise ModelError(
            f"discretise: {system.principle!r} has reactions that contain accelerations, which the nodes of a discrete motion "
            f"do not have. Use simulate(...) with DormandPrince8() or Reference()."
        )
    # The rule treats entropies as coordinates: psi acts on Q and on each of them.
    q, whole = system.coordinates, (*system.coordinates, *system.entropies)
    check_map(map, [c.name for c in q], [c.name for c in system.entropies])
    t, h = fast(time), fast(step)

    inner_slots = interior_slots(whole, len(getattr(map, "interior", ())))

    def rule(expression: Any) -> Fast:
        return _applied(map, _density(expression, whole, inner_slots), whole)

    outer = [fast(f) + r for f, r in zip(system.external_force, system.principle.besides(system), strict=True)]
    minus, plus, inner = _discrete_forces(system, map, outer)
    rubs = [_discrete_forces(system, map, row) for row in system.friction]
    inner = tuple(sum((r[2][i] for r in rubs), start=f) for i, f in enumerate(inner))
    end = {**moved_symbols(q, [fast(c.at(1)) for c in q]), **{c: c.at(1) for c in q}, time: t + h}
    return DiscreteSystem._made(
        name=f"{system.name}, {type(map).__name__}",
        coordinates=q,
        lagrangian=rule(system.principle.lagrangian(system)),
        **_all_forces(minus, plus, [r[0] for r in rubs], [r[1] for r in rubs]),
        variations=tuple(tuple(fast(a) for a in w) for w in system.variations),
        constraints=tuple(
            substitute(c.expression, end) if c.is_holonomic else rule(c.expression) / h for c in system.constraints
        ),
        parameters=system.parameters,
        system=system,
        interior=tuple(getattr(map, "interior", ())),
        null_space=getattr(map, "null_space", False),
        force_interior=inner,
        entropies=system.entropies,
        entropy_laws=tuple(rule(law) / h for law in system.entropy_laws),
    )


def _applied(map: Discretisation, density: Density, q: Sequence[Coordinate]) -> Fast:
    """The rule applied to a function, in the slots."""
    own = [vector(slots_at(i, q)) for i, _ in enumerate(getattr(map, "interior", ()), start=1)]
    q0, q1 = vector([c.at(0) for c in q]), vector([c.at(1) for c in q])
    result = map.discrete_lagrangian(density, q0, q1, fast(time), fast(step), *own)
    try:
        return fast(result)
    except TypeError:
        raise ModelError(
            f"discretise: the formula discrete_lagrangian of {told(map)} returned {told(result)}. Expected an expression; is "
            f"there a return in it?"
        ) from None


def _density(expression: Any, q: Sequence[Coordinate], inner: Sequence[Fast]) -> Density:
    """An expression in (q, v, t) as a function that substitutes."""

    def value(position: Vector, velocity: Vector, instant: Fast) -> Fast:
        known = places(q, position, velocity, inner)
        return from_start([substitute(expression, {**known, time: instant})], q)[0]

    return value


def _discrete_forces(system: System, map: Discretisation, force: Sequence[Any]) -> tuple[tuple[Fast, ...], ...]:
    """F_d-, F_d+ and interior forces: the rule applied to F.dq, where dq moves with the slots as the position does."""
    q, whole = system.coordinates, (*system.coordinates, *system.entropies)
    ends = [[fast(c.at(k)) for c in q] for k in (0, 1)]
    between = interior_slots(q, len(getattr(map, "interior", ())))
    groups, slots = Groups(start=ends[0], end=ends[1], between=between), [*ends[0], *ends[1], *between]

    def by_place(table: tuple[Fast, ...]) -> tuple[tuple[Fast, ...], ...]:
        return tuple(table[groups.columns(name)] for name in ("start", "end", "between"))

    if all(f == 0 for f in force):  # SymEngine's zero counts as true
        return by_place((fast(0),) * len(slots))
    displacements = [fast(f"{s.name}.displacement") for s in slots]
    inner = interior_slots(whole, len(getattr(map, "interior", ())))

    def work(position: Vector, velocity: Vector, instant: Fast) -> Fast:
        moved = displaced(q, position, slots, displacements, between)
        there = substitution({**places(whole, position, velocity, inner), time: instant})
        at = from_start([there(f) for f in force], whole)
        return total(f * d for f, d in zip(at, moved, strict=False))  # entropies come last

    still = dict.fromkeys(displacements, 0)  # otherwise a displacement remains in the branches of kinked forces
    forces = gradient(_applied(map, work, whole), displacements)
    without = substitution(still)
    return by_place(tuple(from_start([without(f) for f in forces], q)))
