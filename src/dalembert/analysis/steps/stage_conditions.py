"""How well the stages of a step are determined: the conditions of its blocks, for methods that are not variational."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from sympy import Symbol

from ...engine.machine import PointMap
from ...methods.stepping import Stepping
from ...run.plan import seed
from ...run.trajectory import Trajectory
from ...run.values import Array
from ...symbolic import fast
from ...waist.layout import Groups
from ...waist.matrix_block import MatrixBlock
from ...waist.stepmap import TIME, Block, pointwise
from .step_matrices import COLUMNS, Sizes, known_conditions


def stage_conditions(run: Trajectory) -> Array:
    """The worst condition of the blocks of every step, solved again from the recorded states; the other columns are NaN.

    The search for the unknowns begins as that of a run does, at the velocities of the node: a constraint may have no row
    at rest.
    """
    system, stepmap = run.system, Stepping(run.system, run.method).step_map("regularity")
    sought = stepmap.sought
    near = {u: f"{u}.expected" for u in sought}
    solved = [_begun_at(b, near) for b in stepmap.blocks]
    blocks = [[e for row in b.jacobian for e in row] for b in stepmap.blocks]
    places = {fast(c) for c in system.coordinates}
    size = Sizes(abs, frozenset(places), frozenset(map(fast, (*stepmap.state, *stepmap.unknowns))) - places)
    named = {f"block {k}": [*entries, *map(size, entries)] for k, entries in enumerate(blocks)}
    groups = Groups(next=stepmap.update, **named)
    compiled = PointMap(
        pointwise(
            f"{stepmap.name}, stages",
            [*stepmap.state, TIME, *near.values()],
            stepmap.parameters,
            groups.outputs,
            solved,
        )
    )
    states, velocity = stepmap.state_of(run.records), _velocities(run)
    table = np.full((len(run.records), len(run.time) - 1, len(COLUMNS)), np.nan)
    for lane in range(len(run.records)):
        state, t = states[lane, :-1], run.time[:-1]
        worst, begun = np.ones(len(state)), seed(system, stepmap, velocity[lane, :-1], sought)
        for fraction in stepmap.substeps:
            h = fraction * run.h
            values, _ = compiled(np.column_stack([state, t, begun]), run.parameter_rows[lane : lane + 1], h=h)
            state, t = groups.of(values, "next"), t + h
            for name, block in zip(named, stepmap.blocks, strict=True):
                n = len(block.unknowns)
                matrices, sizes = groups.of(values, name).reshape(-1, 2, n, n).swapaxes(0, 1)
                worst = np.maximum(worst, known_conditions(matrices, sizes))
        table[lane, :, 0] = worst
    return table


def _begun_at(block: Block | MatrixBlock, near: Mapping[str, str]) -> Block | MatrixBlock:
    """A block whose unknowns are sought from given values, where there are some."""
    if isinstance(block, MatrixBlock) or not near.keys() & set(block.unknowns):
        return block
    begin = zip(block.unknowns, block.guess, strict=True)
    return replace(block, guess=tuple(fast(Symbol(near[u])) if u in near else g for u, g in begin))


def _velocities(run: Trajectory) -> Array:
    """The velocities of every node, by differences where there are no others."""
    if run.system.continuous is not None:
        return np.asarray(run.table("velocity"))
    return np.gradient(run.table("position"), run.h, axis=1)
