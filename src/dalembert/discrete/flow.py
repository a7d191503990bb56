"""The discrete flow: between pairs of positions, and backward in time; the matrix that decides whether it exists.

Forward, on (q, p), it is `equations.step_map`. Here are its inverse,

    p1 = D2 L_d(q0, q1) + F_d+(q0, q1) + h mu_a omega^a(q1),   chi(q0, q1) = 0    solved for q0 (and mu),
    p0 = -D1 L_d(q0, q1) - F_d-(q0, q1),

and the flow on pairs, (q0, q1) -> (q1, q2), which needs no momenta. With entropies S is carried along with q, and the
laws rho(q0, q1, S0, S1) = 0 join the equations: backward they determine S0.

Under constraints momenta are defined up to the span of the omega^a at their node: a step forward takes h lambda_a omega^a
from p first, so a step backward returns p0 + h lambda_a omega^a(q0). Positions are recovered exactly, and in further
steps backward mu at each node is the lambda of the forward motion there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from ..decide.balls import Point
from ..decide.sample import points_on
from ..errors import ModelError
from ..model.coordinates import step, time
from ..symbolic import Fast, fast, free_names, jacobian, numpy_function, substitute
from ..waist.stepmap import StepMap
from .equations import (
    blocks,
    interior_residual,
    momentum_minus,
    momentum_plus,
    node_reaction,
    step_velocity,
)
from .interior import from_beginning
from .state_layout import constraint_outputs, state_layout
from .system import DiscreteSystem

if TYPE_CHECKING:
    from ..run.trajectory import Trajectory

Slots = dict[Any, Fast]


def backward_step_map(system: DiscreteSystem) -> StepMap:
    """The inverse of `step_map`: (q1, p1, S1) at time t -> (q0, p0, S0) at time t - h, with h > 0.

    After a step forward it returns to the start; its outputs `multiplier.a` are those of the forward motion at the node
    where it begins. With h < 0 it is the adjoint method.
    """
    q, S, h = system.coordinates, system.entropies, fast(step)
    velocities = [step_velocity(c) for c in q]
    slots: Slots = {c.at(1): fast(c) for c in (*q, *S)} | {time: fast(time) - h}
    slots |= {c.at(0): fast(c) - h * fast(step_velocity(c)) for c in (*q, *S)}
    slots |= from_beginning(system, slots)

    def here(expression: Fast) -> Fast:
        return substitute(expression, slots)

    balance = [
        fast(c.momentum) - here(p) - h * r
        for c, p, r in zip(q, momentum_plus(system), node_reaction(system), strict=True)
    ]
    constraints = [here(chi) for chi in beginnings(system)]
    stationary = [here(r) for r in interior_residual(system)]
    names = (
        *(v.name for v in velocities),
        *(i.unknown for i in system.interior_positions()),
        *(m.name for m in system.multipliers),
    )
    kept = {m.name: fast(m) for m in system.multipliers}
    kept |= constraint_outputs(constraints)
    return StepMap(
        name=f"{system.name}, backward",
        state=(*(c.name for c in q), *(c.momentum.name for c in q), *(s.name for s in S)),
        parameters=tuple(p.name for p in system.parameters),
        blocks=blocks(names, [*balance, *stationary, *constraints], S, [here(law) for law in system.entropy_laws]),
        update=(
            *(here(fast(c.at(0))) for c in q),
            *(here(p) for p in momentum_minus(system)),
            *(here(fast(s.at(0))) for s in S),
        ),
        outputs=kept,
        layout=state_layout(system, velocities=[[v.name for v in velocities]]),
    )


def beginnings(system: DiscreteSystem) -> list[Fast]:
    """The constraints on the beginning of a step whose end is known.

    One that involves the end alone, as a holonomic one does, holds at every node: at the beginning it is the same
    function one step earlier. The others involve both ends and are unchanged.
    """
    whole = (*system.coordinates, *system.entropies)
    first = {c.at(0).name for c in whole}
    earlier = {c.at(1): c.at(0) for c in whole} | {time: fast(time) - fast(step)}
    return [chi if free_names([chi]) & first else substitute(chi, earlier) for chi in system.constraints]


def pair_map(system: DiscreteSystem, backward: bool = False) -> StepMap:
    """The discrete flow (q0, q1) -> (q1, q2), between times t, t + h and t + h, t + 2h; unknowns (q2 - q1)/h and lambda.

    D1 L_d(q1, q2) + F_d-(q1, q2) + D2 L_d(q0, q1) + F_d+(q0, q1) + h lambda_a omega^a(q1) = 0,   chi(q1, q2) = 0

    With entropies the state is (q0, q1, S0, S1), with rho = 0 on it, and rho(q1, q2, S1, S2) = 0 is solved too. Backward the
    same equations are solved for the pair before, (q0, q1) -> (q-1, q0).
    """
    q, S, h = system.coordinates, system.entropies, fast(step)
    if system.interior:
        raise ModelError(
            f"pair_map: {system.name!r} has positions inside the step, so two positions do not tell the momentum. Use "
            f"step_map, which carries it along."
        )
    middle: Literal[0, 1] = 0 if backward else 1
    other: Literal[0, 1] = 1 if backward else 0
    way = -h if backward else h
    given: Slots = {time: fast(time)}
    sought: Slots = {time: fast(time) + way} | {c.at(other): fast(c.at(middle)) for c in (*q, *S)}
    sought |= {c.at(middle): fast(c.at(middle)) + way * fast(step_velocity(c)) for c in (*q, *S)}
    earlier, later = (sought, given) if backward else (given, sought)
    at_node: Slots = {time: later[time]} | {c: fast(c.at(middle)) for c in q}
    balance = [
        substitute(plus, earlier) - substitute(minus, later) + h * substitute(r, at_node)
        for plus, minus, r in zip(momentum_plus(system), momentum_minus(system), node_reaction(system), strict=True)
    ]
    held = beginnings(system) if backward else system.constraints
    constraints = [substitute(chi, sought) for chi in held]
    laws = [substitute(law, sought) for law in system.entropy_laws]
    names = tuple(s.name for s in (*(step_velocity(c) for c in q), *system.multipliers))
    return StepMap(
        name=f"{system.name}, pairs{' backward' if backward else ''}",
        state=(*(c.at(k).name for k in (0, 1) for c in q), *(s.at(k).name for k in (0, 1) for s in S)),
        parameters=tuple(p.name for p in system.parameters),
        blocks=blocks(names, [*balance, *constraints], S, laws),
        update=tuple(e for group in (q, S) for k in (0, 1) for e in (sought[c.at(k)] for c in group)),
        outputs={m.name: fast(m) for m in system.multipliers},
        layout=state_layout(system, velocities=[[step_velocity(c).name for c in q]]),
    )


def step_matrix(system: DiscreteSystem) -> list[list[Fast]]:
    """The matrix that determines a step, in the slots: rows of

    [ D2 D1 L_d + D2 F_d-    h omega^T ]      interior positions, where there are any, are further rows and columns
    [ D2 chi                 0         ]

    Where omega and D2 chi have full rank, it is invertible exactly if the pairing of D2 D1 L_d (+ D2 F_d-) between D at q0
    and the kernel of D2 chi is non-degenerate; that L_d is regular is neither needed nor enough.

    With entropies D2 is the derivative by (q1, S1), and the laws rho are rows after those of the momenta: the matrix M+
    of a regular thermomechanical system, up to signs of rows.
    """
    whole = (*system.coordinates, *system.entropies)
    ends: list[Fast] = [fast(c.at(1)) for c in whole] + [p.slot for p in system.interior_positions()]
    balance = [-p for p in momentum_minus(system)]
    equations = [*balance, *system.entropy_laws, *interior_residual(system), *system.constraints]
    return _bordered(system, equations, ends, {c: fast(c.at(0)) for c in system.coordinates})


def backward_matrix(system: DiscreteSystem) -> list[list[Fast]]:
    """The matrix that determines a step backward, in the slots: rows of

    [ D1 D2 L_d + D1 F_d+    h omega^T ]      D1 the derivative by (q0, S0), omega at q1; with entropies M-, up to signs
    [ D1 rho                 0         ]
    [ D1 chi                 0         ]
    """
    whole = (*system.coordinates, *system.entropies)
    ends: list[Fast] = [fast(c.at(0)) for c in whole] + [p.slot for p in system.interior_positions()]
    equations = [*momentum_plus(system), *system.entropy_laws, *interior_residual(system), *beginnings(system)]
    return _bordered(system, equations, ends, {c: fast(c.at(1)) for c in system.coordinates})


def _bordered(system: DiscreteSystem, equations: list[Fast], ends: list[Fast], node: Slots) -> list[list[Fast]]:
    """The derivatives of the equations by the ends and by the multipliers, with the reactions at a node in the momenta."""
    reactions = [fast(step) * substitute(r, node) for r in node_reaction(system)]
    pushed = [e + r for e, r in zip(equations, reactions, strict=False)] + equations[len(reactions) :]
    border = jacobian(pushed, system.multipliers) if system.constraints else [[] for _ in equations]
    return [row + right for row, right in zip(jacobian(equations, ends), border, strict=True)]


# numbers


def sample_pairs(system: DiscreteSystem, count: int = 6) -> list[Point]:
    """Random values of all slots, parameters, time and step, on the discrete constraints and the laws of entropy."""
    slots = [c.at(k).name for k in (0, 1) for c in (*system.coordinates, *system.entropies)]
    others = [
        *(p.slot.name for p in system.interior_positions()),
        *(p.name for p in system.parameters),
        time.name,
        step.name,
    ]
    chi = list(dict.fromkeys([*system.constraints, *beginnings(system), *system.entropy_laws]))
    return points_on(chi, slots, others, count, balanced=[system.lagrangian])


def evaluated(system: DiscreteSystem, expressions: Sequence[Fast], run: Trajectory, nodes: bool = False) -> Any:
    """Expressions in the slots on every step of a run (at every node, if they are in the first slots only); last axis.

    The run has to record every step.
    """
    import numpy as np

    q = (*system.coordinates, *system.entropies)
    if q != (*run.system.coordinates, *run.system.entropies) or (run.every != 1 and not nodes):
        raise ModelError(
            f"{run!r} does not record every step of a motion in {', '.join(c.name for c in q)}. Give a run of {system.name!r} "
            f"computed with every=1."
        )
    run = run.at_nodes
    place = np.stack([run[c] for c in q])
    first, second = (place, place) if nodes else (place[..., :-1], place[..., 1:])
    given: dict[Any, Any] = {c.at(0): first[i] for i, c in enumerate(q)} | {c.at(1): second[i] for i, c in enumerate(q)}
    given |= {time: run.time[: first.shape[-1]], step: run.h}
    given |= {p: np.asarray(run.parameters[p.name])[..., None] for p in system.parameters}
    function = numpy_function(list(given), [system.read(e) for e in expressions], cse=True)
    return np.stack([np.broadcast_to(v, first.shape[1:]) for v in function(*given.values())], axis=-1)
