"""Step maps made from step maps: a step with its tangent, the step that undoes a step, steps in turn.

All of them are StepMaps, so they are compiled, run on lanes and in the time loop like the step they are made from. They
know names and expressions only.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..symbolic import Fast, fast, jacobian
from .matrix_block import MatrixBlock
from .stepmap import Block, StepMap


def tangent_names(names: Sequence[str], columns: int) -> tuple[str, ...]:
    """The names of the tangents of some variables, row by row: a row for each variable, a column for each direction."""
    return tuple(f"{name}.tangent.{k}" for name in names for k in range(columns))


def variational(step: StepMap, columns: int | None = None) -> StepMap:
    """The step with its exact tangent: the state s is followed by a matrix V of so many columns, and

        V' = (dU/ds) V + (dU/dx) X,     (dR/dx) X + (dR/ds) V + (dR/dy) Y = 0     (implicit function theorem)

    with x and residual R of every block, y and Y the unknowns of earlier blocks and their tangents, U the update. A column
    is a direction of the state space; if their number is not given there are as many as state variables, and V is the
    derivative of the state by the start if it begins as the identity. The state itself, outputs and guards stay as they are.

    R_x is evaluated and factored at the solution: the factors that Newton's method ends with belong to an earlier iterate.
    """
    columns = len(step.state) if columns is None else columns
    if columns < 1:
        raise ValueError(f"{step.name}: a tangent of {columns} columns. Expected one direction or more.")
    known = list(step.state)
    blocks: list[MatrixBlock] = []
    for block in step.blocks:
        blocks.append(_tangent_block(block, known, columns))
        known += block.unknowns
    ends = tuple(f"{name}.next" for name in step.state)
    blocks.append(_moved(tangent_names(ends, columns), step.update, known, columns))
    return StepMap(
        name=f"{step.name}, with its tangent",
        state=(*step.state, *tangent_names(step.state, columns)),
        parameters=step.parameters,
        blocks=(*step.blocks, *blocks),
        update=(*step.update, *map(fast, tangent_names(ends, columns))),
        outputs=step.outputs,
        substeps=step.substeps,
        guards=step.guards,
    )


def _tangent_block(block: Block | MatrixBlock, known: Sequence[str], columns: int) -> MatrixBlock:
    """The tangents of the unknowns of a block, by those of what is known before it."""
    names = tangent_names(block.unknowns, columns)
    if block.is_diagonal:
        own = [row[i] for i, row in enumerate(block.jacobian)]
        return _moved(names, [-r / c for r, c in zip(block.residual, own, strict=True)], known, columns)
    moved = _moved(names, block.residual, known, columns)
    return MatrixBlock(names, tuple(map(tuple, block.jacobian)), moved.sources, moved.given, columns)


def _moved(names: tuple[str, ...], values: Sequence[Fast], known: Sequence[str], columns: int) -> MatrixBlock:
    """The tangents of some values, by those of the variables that occur in them."""
    slopes = jacobian(values, known)
    used = [j for j in range(len(known)) if any(row[j] != 0 for row in slopes)]
    sources = tuple(tuple(row[j] for j in used) for row in slopes)
    return MatrixBlock(names, (), sources, tangent_names([known[j] for j in used], columns), columns)
