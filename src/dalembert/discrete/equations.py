"""Discrete principles: the discrete Lagrange-d'Alembert equations, as mathematics and as a StepMap.

    D1 L_d(q_k, q_k+1) + D2 L_d(q_k-1, q_k) + F_d-(q_k, q_k+1) + F_d+(q_k-1, q_k) + h lambda_a omega^a(q_k) = 0
    chi_a(q_k, q_k+1) = 0

With p_k = D2 L_d(q_k-1, q_k) + F_d+(q_k-1, q_k) carried along, this is a one-step map (q_k, p_k) -> (q_k+1, p_k+1).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import sympy
from sympy import Eq, Expr, Symbol
from sympy.printing.pretty.pretty_symbology import pretty_symbol

from ..model.coordinates import Coordinate, Multiplier, StepVelocity, _Mark, indexed, multiplier, step, time
from ..stepmap import Block, StepMap
from ..symbolic import Fast, fast, gradient, substitute
from .system import DiscreteSystem


def momentum_minus(system: DiscreteSystem) -> list[Fast]:
    """The discrete Legendre transform at the beginning of a step: p0 = -D1 L_d - F_d-."""
    slopes = gradient(system.lagrangian, [q.at(0) for q in system.coordinates])
    return [-d - f for d, f in zip(slopes, system.force_minus, strict=True)]


def momentum_plus(system: DiscreteSystem) -> list[Fast]:
    """The discrete Legendre transform at the end of a step: p1 = D2 L_d + F_d+."""
    slopes = gradient(system.lagrangian, [q.at(1) for q in system.coordinates])
    return [d + f for d, f in zip(slopes, system.force_plus, strict=True)]


def multipliers(system: DiscreteSystem) -> tuple[Multiplier, ...]:
    """One multiplier per constraint."""
    return tuple(multiplier(a + 1) for a in range(len(system.constraints)))


def step_velocity(q: Coordinate) -> StepVelocity:
    """The unknown (q1 - q0)/h of a step: solving for it, not for q1, loses no digits when h is small."""
    return StepVelocity(f"{q.name}.step")


def node_reaction(system: DiscreteSystem) -> list[Fast]:
    """lambda_a omega^a(q_k), one component per coordinate."""
    rows = zip(multipliers(system), system.variations, strict=True)
    terms = [[fast(m) * a for a in row] for m, row in rows]
    return [sum(column, start=fast(0)) for column in zip(*terms, strict=True)] or [fast(0)] * len(system.coordinates)


def interior_residual(system: DiscreteSystem) -> list[Fast]:
    """dL_d/dQ + F_d on every interior position: what vanishes there."""
    slopes = gradient(system.lagrangian, system.interior_slots())
    return [d + f for d, f in zip(slopes, system.force_interior, strict=True)]


def interior_unknowns(system: DiscreteSystem) -> tuple[list[str], dict[Fast, Fast]]:
    """Names of the unknowns W of the interior positions Q = q0 + h d W, and h d W for each of their slots."""
    q, slots = system.coordinates, system.interior_slots()
    names = [f"{c.name}.node{i + 1}" for i in range(len(system.interior)) for c in q]
    fractions = [fast(d) for d in system.interior for _ in q]
    return names, {s: fast(step) * d * fast(w) for s, d, w in zip(slots, fractions, names, strict=True)}


def step_map(system: DiscreteSystem) -> StepMap:
    """The discrete equations as one implicit step on (q, p)."""
    q, h = system.coordinates, fast(step)
    unknowns = [step_velocity(c) for c in q]
    slots: dict[Any, Any] = {c.at(0): c for c in q}
    slots |= {c.at(1): fast(c) + h * fast(v) for c, v in zip(q, unknowns, strict=True)}
    inner, within = interior_unknowns(system)
    slots |= {s: fast(q[k % len(q)]) + x for k, (s, x) in enumerate(within.items())}

    def here(expression: Fast) -> Fast:
        return substitute(expression, slots)

    balance = [
        fast(c.momentum) - here(p) + h * r
        for c, p, r in zip(q, momentum_minus(system), node_reaction(system), strict=True)
    ]
    constraints = [here(chi) for chi in system.constraints]
    stationary = [here(r) for r in interior_residual(system)]
    names = (*(v.name for v in unknowns), *inner, *(m.name for m in multipliers(system)))
    block = Block(names, (*balance, *stationary, *constraints), (fast(0),) * len(names))
    kept = {m.name: fast(m) for m in multipliers(system)}
    kept |= {f"constraint.{a + 1}": chi for a, chi in enumerate(constraints)}
    return StepMap(
        name=system.name,
        state=tuple(c.name for c in q) + tuple(c.momentum.name for c in q),
        parameters=tuple(p.name for p in system.parameters),
        blocks=(block,),
        update=(*(here(fast(c.at(1))) for c in q), *(here(p) for p in momentum_plus(system))),
        outputs=kept,
    )


class Node(_Mark):
    """A coordinate at a node of the discrete motion, as printed: x[k-1], x[k], x[k+1]."""

    __slots__ = ()

    def _render(self) -> tuple[str, str, str]:
        base, index = self.name[:-1].split("[")
        return indexed(base, index), f"{pretty_symbol(base)}[{index}]", self.name


@dataclass(frozen=True)
class DiscreteEquations:
    """The discrete equations of motion, to be read: text in a terminal, LaTeX in a notebook."""

    system: DiscreteSystem

    def _at(self, expression: Fast, first: str, second: str) -> Expr:
        """An expression in the slots, written at two neighbouring nodes."""
        q = self.system.coordinates
        t = time if first == "k" else time - step
        places: dict[Any, Any] = {c.at(0): Node(f"{c.name}[{first}]") for c in q}
        places |= {c.at(1): Node(f"{c.name}[{second}]") for c in q}
        places |= {c: Node(f"{c.name}[k]") for c in q}
        return self.system.read(expression).xreplace({**places, time: t})

    @cached_property
    def lagrange(self) -> tuple[Eq, ...]:
        """The balance of momentum at node k, one equation per coordinate; `time` is the time of node k."""
        s = self.system
        named = {Symbol(m.name): m for m in multipliers(s)}
        rows = zip(momentum_minus(s), momentum_plus(s), node_reaction(s), strict=True)
        return tuple(
            Eq(
                sympy.expand(self._at(plus, "k-1", "k") - self._at(minus, "k", "k+1")),
                sympy.expand(-step * self._at(r, "k", "k+1").xreplace(named)),
                evaluate=False,
            )
            for minus, plus, r in rows
        )

    @cached_property
    def constraints(self) -> tuple[Eq, ...]:
        """The discrete kinematic constraints on the step from node k to node k+1."""
        return tuple(Eq(sympy.expand(self._at(c, "k", "k+1")), 0, evaluate=False) for c in self.system.constraints)

    def __str__(self) -> str:
        return "\n\n".join(
            sympy.pretty(e, wrap_line=False, use_unicode=True) for e in (*self.lagrange, *self.constraints)
        )

    __repr__ = __str__

    def _repr_latex_(self) -> str:
        rows = [rf"{sympy.latex(e.lhs)} &= {sympy.latex(e.rhs)}" for e in (*self.lagrange, *self.constraints)]
        return r"$\displaystyle \begin{aligned}" + r" \\ ".join(rows) + r"\end{aligned}$"
