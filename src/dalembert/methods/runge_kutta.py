"""The classical Runge-Kutta method, kept as a control: it has none of the structure the others preserve."""

from __future__ import annotations

from collections.abc import Sequence

from ..model.coordinates import step, time
from ..model.system import System
from ..stepmap import Block, StepMap
from ..symbolic import Fast, fast, substitute
from ..theory.lagrange import motion_residual, multipliers
from .base import Method


class RungeKutta4(Method):
    """Classical Runge-Kutta: order 4, not symplectic, drifts in energy and off constraints."""

    order = 4
    carries = "velocity"

    def step_map(self, system: System) -> StepMap:
        self.check(system)
        q, h, t = system.coordinates, fast(step), fast(time)
        n = len(q)
        residual = motion_residual(system)
        place, velocity = [fast(c) for c in q], [fast(c.dot) for c in q]
        blocks: list[Block] = []
        slopes: list[tuple[list[Fast], list[Fast]]] = []
        for k, fraction in enumerate((0, h / 2, h / 2, h)):
            dq, dv = slopes[-1] if slopes else ([fast(0)] * n, [fast(0)] * n)
            Q = [a + fraction * b for a, b in zip(place, dq, strict=True)]
            V = [a + fraction * b for a, b in zip(velocity, dv, strict=True)]
            block = _stage(system, residual, k + 1, Q, V, t + fraction)
            blocks.append(block)
            slopes.append((V, [fast(name) for name in block.unknowns[:n]]))

        def mean(part: int, i: int) -> Fast:
            a, b, c, d = (s[part][i] for s in slopes)
            return h / 6 * (a + 2 * b + 2 * c + d)

        return StepMap(
            name=f"{system.name}, RungeKutta4",
            state=tuple(c.name for c in q) + tuple(c.dot.name for c in q),
            parameters=tuple(p.name for p in system.parameters),
            blocks=tuple(blocks),
            update=(
                *(place[i] + mean(0, i) for i in range(n)),
                *(velocity[i] + mean(1, i) for i in range(n)),
            ),
            outputs={m.name: fast(x) for m, x in zip(multipliers(system), blocks[0].unknowns[n:], strict=True)},
        )


def _stage(system: System, residual: Sequence[Fast], k: int, Q: Sequence[Fast], V: Sequence[Fast], t: Fast) -> Block:
    """Accelerations and multipliers of one stage: a linear block."""
    q = system.coordinates
    sought = [c.ddot for c in q] + list(multipliers(system))
    names = tuple(f"stage{k}.{s.name}" for s in sought)
    places = {c: Q[i] for i, c in enumerate(q)} | {c.dot: V[i] for i, c in enumerate(q)} | {time: t}
    places |= {s: fast(name) for s, name in zip(sought, names, strict=True)}
    return Block(names, tuple(substitute(r, places) for r in residual), (fast(0),) * len(names))
