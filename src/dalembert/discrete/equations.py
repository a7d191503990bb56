"""Discrete principles: the discrete Lagrange-d'Alembert equations, as mathematics and as a StepMap.

    D1 L_d(q_k, q_k+1) + D2 L_d(q_k-1, q_k) + F_d-(q_k, q_k+1) + F_d+(q_k-1, q_k) + h lambda_a omega^a(q_k) = 0
    chi_a(q_k, q_k+1) = 0

With entropies all of these may depend on S_k, S_k+1 too, F_d = F_ext + F_fr, and rho(q_k, q_k+1, S_k, S_k+1) = 0. They
follow from the principle  d sum L_d + sum (F_ext- dq_k + F_ext+ dq_k+1) = 0  for all dq that vanish at both ends and all
dS with  D_S- L_d dS_k + D_S+ L_d dS_k+1 = F_fr- dq_k + F_fr+ dq_k+1  on every step.

With p_k = D2 L_d(q_k-1, q_k) + F_d+(q_k-1, q_k) carried along, this is a one-step map (q_k, p_k) -> (q_k+1, p_k+1).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, Self

import sympy
from sympy import Eq, Expr, Function, Symbol
from sympy.printing.pretty.pretty_symbology import pretty_symbol

from ..decide.decimals import decimal
from ..display import Formulas, aligned, equation_rows, equations_text
from ..errors import ModelError
from ..model.coordinates import (
    Coordinate,
    Direction,
    Entropy,
    Multiplier,
    StepVelocity,
    step,
    time,
)
from ..model.marks import Made, indexed
from ..model.principle import reactions_by_forms
from ..model.space import groups, numbers, parts, retracted, slopes, to_numbers
from ..symbolic import Fast, fast, free_names, gradient, magnitude, substitute, substitution, total
from ..waist.block_parts import searched_last
from ..waist.chain_rule import shared_partials
from ..waist.domain import conditions
from ..waist.projected_step import projected
from ..waist.stepmap import Block, StepMap, pointwise, with_stated_conditions
from .state_layout import constraint_outputs, state_layout
from .system import DiscreteSystem


def momentum_minus(system: DiscreteSystem) -> list[Fast]:
    """The discrete Legendre transform at the beginning of a step: p0 = -D1 L_d - F_d-."""
    slopes = gradient(system.lagrangian, [q.at(0) for q in system.coordinates])
    return [-d - f for d, f in zip(slopes, system.force_minus, strict=True)]


def momentum_plus(system: DiscreteSystem) -> list[Fast]:
    """The discrete Legendre transform at the end of a step: p1 = D2 L_d + F_d+."""
    slopes = gradient(system.lagrangian, [q.at(1) for q in system.coordinates])
    return [d + f for d, f in zip(slopes, system.force_plus, strict=True)]


def carried(system: DiscreteSystem) -> tuple[Multiplier, ...]:
    """The multipliers that the discrete Lagrangian contains, one value per step: those the principle carries in the state."""
    return () if system.system is None else tuple(system.principle.carried(system.system))


def step_velocity(q: Coordinate) -> StepVelocity:
    """The unknown (q1 - q0)/h of a step: solving for it, not for q1, loses no digits when h is small."""
    return StepVelocity(q)


def node_reaction(system: DiscreteSystem) -> list[Fast]:
    """The reaction at node k, one component per coordinate: lambda_a omega^a(q_k) unless the principle says otherwise."""
    return system.principle.node_reaction(system, system.multipliers)


def interior_residual(system: DiscreteSystem) -> list[Fast]:
    """dL_d/dQ + F_d on every interior position, which vanishes."""
    slopes = gradient(system.lagrangian, [p.slot for p in system.interior_positions()])
    return [d + f for d, f in zip(slopes, system.force_interior, strict=True)]


def term_sizes(system: DiscreteSystem) -> StepMap:
    """(q0, (q1 - q0)/h, carried multipliers, t) -> the size of the terms of each momentum p0, then of each constraint."""
    whole, h = (*system.coordinates, *system.entropies), fast(step)
    slots: dict[Any, Any] = {c.at(0): c for c in whole}
    slots |= {c.at(1): fast(c) + h * fast(step_velocity(c)) for c in whole}
    slots |= {
        i.slot: fast(i.coordinate) + h * i.fraction * fast(step_velocity(i.coordinate))
        for i in system.interior_positions()
    }
    told = [*momentum_minus(system), *system.constraints]
    here = substitution(slots)
    outputs = {str(k): magnitude(here(e).expand()) for k, e in enumerate(told)}
    held = [m.name for m in carried(system)]
    inputs = [*(c.name for c in whole), *(step_velocity(c).name for c in whole), *held, time.name]
    return pointwise(f"{system.name}, sizes", inputs, [p.name for p in system.parameters], outputs)


class StepMomenta(NamedTuple):
    """Momenta of a step and their change, in q0, the step velocities and the unknowns of interior positions.

    leaving:     p0 = -D1 L_d - F_d-, the discrete Legendre transform at the beginning
    change:      p1 - p0 = D1 L_d + D2 L_d + F_d, interior positions included: zero for a cyclic coordinate
    stationary:  dL_d/dQ + F_d, times its fraction of the step, for every interior position
    arriving:    what is not in `change`: on a group F_d+, a vector in the frame of the end; of a unit vector D2 L_d + F_d+
    """

    leaving: list[Fast]
    change: list[Fast]
    stationary: list[Fast]
    arriving: list[Fast]


def step_momenta(system: DiscreteSystem) -> StepMomenta:
    """The momenta of a step, with the step cancelled in the formula wherever it can be.

    (q1 - q0)/h is V already in L_d(q0 - h u, q0 + h V), whose derivative by u at 0 is -h D1 L_d. Differentiating by q0
    itself leaves h times 1/h in the formula, which is 1 up to a rounding error of constant sign: momenta would grow.
    """
    q, h, n = system.coordinates, fast(step), len(system.coordinates)
    u = [fast(f"{c.name}.shift") for c in q]
    inner = [i.unknown for i in system.interior_positions()]
    shifted = slots(system) | {c.at(0): fast(c) - h * x for c, x in zip(q, u, strict=True) if not _turns(c)}
    still, at = substitution(dict.fromkeys(u, 0)), substitution(slots(system))
    L, here = substitute(system.lagrangian, shifted), at(system.lagrangian)
    forces = [[at(f) for f in side] for side in (system.force_minus, system.force_plus)]
    within = [at(f) for f in system.force_interior]
    along = slopes(here, q)
    fractions = [fast(sympy.Rational(d)) for d in system.interior for _ in q]
    inner_slopes = gradient(here, inner)
    held = [total(d / (2 * c) for d, c in zip(inner_slopes[k::n], fractions[k::n], strict=True)) for k in range(n)]
    begun, ended = _group_momenta(q, here, along, held, h)
    leaving = [
        begun[c] - f if _turns(c) else still(_over(d, h)) - f
        for c, d, f in zip(q, gradient(L, u), forces[0], strict=True)
    ]
    arriving = [f + ended.get(c, fast(0)) if _turns(c) else fast(0) for c, f in zip(q, forces[1], strict=True)]
    pushed = [
        minus if _turns(c) else sum((minus, plus, *within[k::n]), start=fast(0))
        for k, (c, minus, plus) in enumerate(zip(q, *forces, strict=True))
    ]
    change = [d + f for d, f in zip(along, pushed, strict=True)]
    stationary = [_over(d, h) + c * f for d, c, f in zip(inner_slopes, fractions, within, strict=True)]
    return StepMomenta(leaving, change, stationary, arriving)


def _turns(c: Coordinate) -> bool:
    """Whether it is a direction of a group, and no line."""
    return isinstance(c, Direction)


def _group_momenta(
    q: Sequence[Coordinate], here: Fast, along: Sequence[Fast], held: Sequence[Fast], h: Fast
) -> tuple[dict[Coordinate, Fast], dict[Coordinate, Fast]]:
    """-D1 L_d for directions of groups; and D2 L_d for those whose momenta are not transported along a step.

    L_d depends on the first point and the displacement xi = h V. If the first point moves, xi changes too, as `start_shift`
    says, since the second stays: by the chain rule, because formulas that are substituted into formulas grow too long.
    Interior positions h d W - h V/2 stay as well: `held` is what V does to L_d through them, with the opposite sign.
    """
    begun, ended = dict[Coordinate, Fast](), dict[Coordinate, Fast]()
    for f in groups(q):
        d, V = f.directions, [fast(step_velocity(c)) for c in f.directions]
        by_V = shared_partials([here], V)
        by_xi = [_over(by_V.get((0, k), fast(0)) + held[q.index(c)], h) for k, c in enumerate(d)]
        xi = [h * v for v in V]
        for k, c in enumerate(d):
            unit = [fast(int(i == k)) for i in range(len(d))]
            begun[c] = _product(by_xi, f.start_shift(xi, unit)) - along[q.index(c)]
            if not f.transports:
                ended[c] = _product(by_xi, f.end_shift(xi, unit))
    return begun, ended


def _product(a: Sequence[Fast], b: Sequence[Fast]) -> Fast:
    return sum((x * y for x, y in zip(a, b, strict=True)), start=fast(0))


def transported(q: Sequence[Coordinate], pushed: list[Fast], momenta: StepMomenta, h: Fast) -> list[Fast]:
    """The momenta at the end of a step: those at its beginning plus their change, in the frame of the end."""
    found: list[Fast] = []
    for f, p in parts(q, pushed):
        d = momenta.change[len(found) : len(found) + len(p)]
        end = momenta.arriving[len(found) : len(found) + len(p)]
        whole = [a + b for a, b in zip(p, d, strict=True)]
        if not f.transports:
            whole = end
        else:
            turned = f.transport([h * fast(step_velocity(c)) for c in f.directions], whole)
            whole = [a + b + c for a, b, c in zip(whole, turned, end, strict=True)]
        found += whole
    return found


def _over(e: Fast, h: Fast) -> Fast:
    """e / h, term by term."""
    return sum((term / h for term in e.args), start=fast(0)) if e.is_Add else e / h


def slots(system: DiscreteSystem) -> dict[Any, Any]:
    """The slots of a step: q0 is q, q1 = q + h V, interior positions q + h d W; likewise the entropies."""
    q, S, h = system.coordinates, system.entropies, fast(step)
    slots: dict[Any, Any] = {c.at(0): c for c in (*q, *S)}
    slots |= {c.at(1): fast(c) + h * fast(step_velocity(c)) for c in (*q, *S)}
    for R in groups(q):  # displacements from the first position
        slots |= {d.at(0): fast(0) for d in R.directions} | {d.at(1): h * fast(step_velocity(d)) for d in R.directions}
    return slots | {i.slot: _interior(i.coordinate, i.offset, h) for i in system.interior_positions()}


def _interior(c: Coordinate, x: Fast, h: Fast) -> Fast:
    """An interior position q0 + h d W; on a group a displacement from the middle of the step, h d W - h V/2."""
    return x - h * fast(step_velocity(c)) / 2 if isinstance(c, Direction) else fast(c) + x


def step_map(system: DiscreteSystem) -> StepMap:
    """The discrete equations as one implicit step on (q, p), and on the entropies if there are any."""
    q, S, h, here = system.coordinates, system.entropies, fast(step), substitution(slots(system))
    unknowns = [step_velocity(c) for c in q]
    inner = system.interior_positions()
    sought = [
        [v.name for v in unknowns],
        *([i.unknown for i in inner if i.node == k + 1] for k in range(len(system.interior))),
    ]
    held = to_numbers(q)
    momenta = step_momenta(system)
    pushed = [fast(c.momentum) + h * r for c, r in zip(q, node_reaction(system), strict=True)]
    balance = [p - e for p, e in zip(pushed, momenta.leaving, strict=True)]
    constraints = [here(chi) for chi in system.constraints]
    names = (*(name for listed in sought for name in listed), *(m.name for m in system.multipliers))
    laws = [here(law) for law in system.entropy_laws]
    kept = {m.name: fast(m) for m in system.multipliers}
    kept |= constraint_outputs(constraints)
    made = StepMap(
        name=system.name,
        state=(*numbers(q), *(c.momentum.name for c in q), *(s.name for s in S)),
        parameters=tuple(p.name for p in system.parameters),
        blocks=blocks(
            names, [held(e) for e in (*balance, *momenta.stationary, *constraints)], S, list(map(held, laws))
        ),
        update=(
            *retracted(q, list(map(fast, unknowns)), h),
            *(held(p) for p in transported(q, pushed, momenta, h)),
            *(here(fast(s.at(1))) for s in S),
        ),
        outputs={name: held(e) for name, e in kept.items()},
        layout=state_layout(system, velocities=sought),
    )
    if system.null_space and system.multipliers:
        made = without_multipliers(system, made)
    made = replace(made, blocks=tuple(part for b in made.blocks for part in searched_last(b)))
    stated = conditions(map(here, system.expressions()))  # of entries: the numbers that hold a point are never all zero
    return with_stated_conditions(made, [c._replace(terms=tuple(map(held, c.terms))) for c in stated])


def without_multipliers(system: DiscreteSystem, stepmap: StepMap) -> StepMap:
    """The step in a basis of the displacements on which the one-forms vanish; the multipliers are computed afterwards."""
    reactions_by_forms(system, "null_space")
    try:
        return projected(stepmap, [m.name for m in system.multipliers])
    except ValueError as error:
        raise ModelError(
            f"{system.name}, null_space: {error} Leave it out: then multipliers are unknowns of each step."
        ) from None


def blocks(names: tuple[str, ...], equations: list[Fast], S: Sequence[Entropy], laws: list[Fast]) -> tuple[Block, ...]:
    """One block; or two, where the motion does not depend on the change of the entropies in the step."""
    rates = tuple(step_velocity(s).name for s in S)
    if not rates:
        return (Block(names, tuple(equations)),)
    if free_names(equations) & set(rates):
        return (Block((*names, *rates), (*equations, *laws), (fast(0),) * (len(names) + len(rates))),)
    first = Block(names, tuple(equations))
    return (first, Block(rates, tuple(laws)))


class Node(Made):
    """A coordinate at a node of the discrete motion, as printed: x[k-1], x[k], x[k+1]."""

    __slots__ = _of = ("base", "index")
    base: str
    index: str

    def __new__(cls, base: str, index: str) -> Self:
        return cls._called(f"{base}[{index}]", base, index)

    def _render(self) -> tuple[str, str, str]:
        return indexed(self.base, self.index), f"{pretty_symbol(self.base)}[{self.index}]", self.name


class Variation(Node):
    """The variation of a coordinate or an entropy at a node, as printed: dx[k], dS[k+1]."""

    __slots__ = ()

    def _render(self) -> tuple[str, str, str]:
        latex, pretty, plain = super()._render()
        return rf"\delta {latex}", f"d{pretty}", f"d{plain}"


def _shorter(e: Expr) -> Expr:
    """Expanded, so that terms of both steps combine, unless that makes it longer."""
    return min(sympy.expand(e), e, key=lambda form: len(str(form)))


@dataclass(frozen=True, repr=False)
class DiscreteEquations(Formulas):
    """The discrete equations of motion for display: text in a terminal, LaTeX in a notebook.

    lagrange, entropy, constraints are the equations; principle and variations are what they follow from.
    """

    system: DiscreteSystem

    def _at(self, expression: Fast, first: str, second: str) -> Expr:
        """An expression in the slots, written at two neighbouring nodes."""
        q = (*self.system.coordinates, *self.system.entropies)
        t = time if first == "k" else time - step
        places: dict[Any, Any] = {c.at(0): Node(c.name, first) for c in q}
        places |= {c.at(1): Node(c.name, second) for c in q}
        places |= {c: Node(c.name, "k") for c in q}
        places |= {Symbol(m.name): Node(str(m), first) for m in carried(self.system)}  # of the step that begins there
        return self.system.read(expression).xreplace({**places, time: t})

    @cached_property
    def lagrange(self) -> tuple[Eq, ...]:
        """The balance of momentum at node k, one equation per coordinate; `time` is the time of node k."""
        s = self.system
        named = {Symbol(m.name): m for m in s.multipliers}
        rows = zip(momentum_minus(s), momentum_plus(s), node_reaction(s), strict=True)
        return tuple(
            Eq(
                _shorter(self._at(plus, "k-1", "k") - self._at(minus, "k", "k+1")),
                _shorter(-step * self._at(r, "k", "k+1").xreplace(named)),
                evaluate=False,
            )
            for minus, plus, r in rows
        )

    @cached_property
    def constraints(self) -> tuple[Eq, ...]:
        """The discrete kinematic constraints on the step from node k to node k+1."""
        return tuple(Eq(_shorter(self._at(c, "k", "k+1")), 0, evaluate=False) for c in self.system.constraints)

    @cached_property
    def entropy(self) -> tuple[Eq, ...]:
        """The law of each entropy on the step from node k to node k+1: the discrete kinematic constraint, rho_d = 0."""
        return tuple(Eq(self._at(r, "k", "k+1"), 0, evaluate=False) for r in self.system.entropy_laws)

    @cached_property
    def variations(self) -> tuple[Eq, ...]:
        """D_S- L_d dS_k + D_S+ L_d dS_k+1 = F_fr- dq_k + F_fr+ dq_k+1, one per entropy: the constraint on variations."""
        ends = [(0, "k"), (1, "k+1")]
        pairs = zip(self.system.entropies, self.system.friction_minus, self.system.friction_plus, strict=True)
        found = []
        for S, *rubs in pairs:
            slopes = gradient(self.system.lagrangian, [S.at(0), S.at(1)])
            left = [self._at(d, "k", "k+1") * Variation(S.name, k) for d, (_, k) in zip(slopes, ends, strict=True)]
            right = [
                self._at(f, "k", "k+1") * Variation(q.name, k)
                for end, k in ends
                for f, q in zip(rubs[end], self.system.coordinates, strict=True)
            ]
            found.append(Eq(sympy.Add(*left), sympy.Add(*right), evaluate=False))
        return tuple(found)

    @cached_property
    def principle(self) -> Eq:
        """The variation of the term of one step in the discrete principle; these add up to zero over every motion."""
        s, terms = self.system, []
        for q, *forces in zip(s.coordinates, s.external_minus, s.external_plus, strict=True):
            work = zip(forces, ("k", "k+1"), strict=True)
            terms += [self._at(f, "k", "k+1") * Variation(q.name, k) for f, k in work]
        action = Function("delta")(self._at(s.lagrangian, "k", "k+1"))
        k = Symbol("k", integer=True)
        return Eq(sympy.Sum(sympy.Add(action, *terms), (k, 0, Symbol("N") - 1)), 0, evaluate=False)

    @property
    def _equations(self) -> tuple[Eq, ...]:
        stated = (*self.lagrange, *self.entropy, *self.constraints)
        return tuple(decimal(e, self.system.typed) for e in stated)

    def __str__(self) -> str:
        return equations_text(self._equations)

    def latex(self) -> str:
        """The equations as LaTeX, for a paper."""
        return aligned(equation_rows(self._equations))
