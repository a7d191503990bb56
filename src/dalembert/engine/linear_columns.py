"""Columns of unknowns with one matrix: evaluated and factored once, then one substitution for each column."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..symbolic import Fast
from ..waist.matrix_block import MatrixBlock
from ..waist.stepmap import StepMap
from .emitter import Array, Emitter, Handle, Index
from .linear import Solvable
from .number_places import Known, Vector, value
from .sparse import matrix
from .status import Status

if TYPE_CHECKING:
    from .solver import Solver


def columns(stepmap: StepMap, k: int) -> list[Fast]:
    """The entries of the matrices of block k; of its matrix without zeros, and only if it has to be factored here."""
    block = stepmap.blocks[k]
    assert isinstance(block, MatrixBlock)
    own = [] if factored_before(stepmap, k) is not None else list(block.partials.values())
    return [*own, *(b for row in block.sources for b in row)]


def factored_before(stepmap: StepMap, k: int) -> int | None:
    """The linear block that has the matrix of block k. Its factors serve here too: its matrix has no unknowns of its own."""
    block = stepmap.blocks[k]
    assert isinstance(block, MatrixBlock)
    for i, earlier in enumerate(stepmap.blocks[:k]):
        if isinstance(earlier, MatrixBlock) or len(earlier.unknowns) != len(block.matrix):
            continue
        if earlier.is_linear and not earlier.is_diagonal and earlier.partials == block.partials:
            return i
    return None


def solve_columns(solver: Solver, k: int, block: MatrixBlock, known: Known, x: Array) -> None:
    """The unknowns of block k into x, row by row."""
    e, n, m = solver.e, len(block.sources), block.columns
    values = solver.evaluate(f"residual {k}", known).listed()
    varying = [v for v, entry in zip(values, columns(solver.stepmap, k), strict=True) if not entry.is_number]
    size = e.sum([e.call("fabs", v) for v in varying])
    finite = e.compare("lt", size, e.real(float("inf")))
    given, right, column = e.local(len(block.given)), e.local(n), e.local(n)
    for j, name in enumerate(block.given):
        e.store(given, value(e, known[name]), j)
    factors, sources = _factors(solver, k, block, values, finite)
    with e.loop(0, m) as c:
        for i, moved in enumerate(_products(e, block, sources, given, c)):
            e.store(right, e.negative(moved) if factors else moved, i)
        if factors:
            factors.solve(right, column)
        for i in range(n):
            e.store(x, e.load(column if factors else right, i), e.at(i, m, c))
    solver.not_finite(finite, size)


def _factors(
    solver: Solver, k: int, block: MatrixBlock, values: Sequence[Handle], finite: Handle
) -> tuple[Solvable | None, Sequence[Handle]]:
    """The factored matrix, if there is one, and the entries of the sources."""
    e, n = solver.e, len(block.sources)
    if not block.matrix:
        return None, values
    before = factored_before(solver.stepmap, k)
    if before is not None:
        return solver.factored[before], values
    factors, own = matrix(e, n, block.partials), len(block.partials)
    factors.store(Vector(e, own, values[:own]))
    with e.when(finite), e.when(factors.factor()):
        e.store(solver.code, Status.SINGULAR)
    return factors, values[own:]


def _products(e: Emitter, block: MatrixBlock, sources: Sequence[Handle], given: Array, c: Index) -> list[Handle]:
    """Column c of sources Y, without terms that are known to be zero."""
    width = len(block.given) // block.columns
    found = []
    for i, row in enumerate(block.sources):
        used = [j for j, b in enumerate(row) if b != 0]
        terms = [e.arithmetic("mul", sources[i * width + j], e.load(given, e.at(j, block.columns, c))) for j in used]
        found.append(e.sum(terms))
    return found
