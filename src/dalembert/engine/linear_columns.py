"""Columns of unknowns with one matrix: evaluated and factored once, then one substitution for each column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ..waist.matrix_block import MatrixBlock
from .emitter import Array, Emitter, Handle, Index
from .linear import Matrix, factor, matrix, solve
from .status import Status

if TYPE_CHECKING:
    from .solver import Solver


def solve_columns(solver: Solver, k: int, block: MatrixBlock, known: Mapping[str, Handle], x: Array) -> None:
    """The unknowns of block k into x, row by row."""
    e, n, m = solver.e, len(block.sources), block.columns
    values = solver.evaluate(f"residual {k}", known)
    size = e.sum([e.call("fabs", v) for v in values])
    finite = e.compare("lt", size, e.real(float("inf")))
    given, right, column = e.local(len(block.given)), e.local(n), e.local(n)
    for j, name in enumerate(block.given):
        e.store(given, known[name], j)
    factors: Matrix | None = None
    if block.matrix:
        factors = matrix(e, n)
        for j, v in enumerate(values[: n * n]):
            e.store(factors.entries, v, j)
        with e.when(finite), e.when(factor(e, factors)):
            e.store(solver.code, Status.SINGULAR)
    sources = values[len(values) - sum(map(len, block.sources)) :]
    for c in e.each(0, m, m):
        for i, moved in enumerate(_products(e, block, sources, given, c)):
            e.store(right, e.negative(moved) if factors else moved, i)
        if factors:
            solve(e, factors, right, column)
        for i in range(n):
            e.store(x, e.load(column if factors else right, i), e.at(i, m, c))
    solver.not_finite(finite, size)


def _products(e: Emitter, block: MatrixBlock, sources: Sequence[Handle], given: Array, c: Index) -> list[Handle]:
    """Column c of sources Y; what is known to be zero is left out."""
    width = len(block.given) // block.columns
    found = []
    for i, row in enumerate(block.sources):
        used = [j for j, b in enumerate(row) if b != 0]
        terms = [e.arithmetic("mul", sources[i * width + j], e.load(given, e.at(j, block.columns, c))) for j in used]
        found.append(e.sum(terms))
    return found
