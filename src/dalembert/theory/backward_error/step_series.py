"""A step as a power series in h, with exact coefficients: the input of backward error analysis."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import product
from math import factorial
from typing import Any

import sympy
from sympy import Symbol

from ...decide.zero import vanishes
from ...errors import MethodError, ModelError
from ...model.coordinates import step
from ...symbolic import Fast, fast, free_names, jacobian, slow
from ...waist.matrix_block import MatrixBlock
from ...waist.stepmap import Block, StepMap
from ..algebra import linear_solution

BUDGET = 20_000
"""More terms than this in one coefficient are refused: they are unreadable, and the next order has many more."""

Series = dict[int, Fast]
"""Coefficients by power of h."""

Row = list[Fast]


class Taylor:
    """Power series of expressions in which symbols stand for power series, up to h^top; 1/h may occur on the way."""

    def __init__(self, places: Mapping[str, Series], top: int):
        self.top = self.kept = top
        self._places: dict[Fast, Series] = {fast(name): s for name, s in places.items()} | {fast(step): {1: fast(1)}}
        self._known = dict(self._places)

    def __call__(self, expression: Fast) -> Row:
        """The coefficients of h^0 to h^top."""
        e = fast(expression)
        e = e.expand(deep=False) if _divided(e) else e
        if (kept := self.top + _divided(e)) > self.kept:  # a division by h costs one power
            self.kept, self._known = kept, dict(self._places)
        found = self._of(e)
        if any(k < 0 and not vanishes(c) for k, c in found.items()):
            raise MethodError(f"{expression} has no limit as h goes to 0: the step is not a power series in h.")
        return [expanded(found.get(k, fast(0))) for k in range(self.top + 1)]

    def _of(self, e: Fast) -> Series:
        if e not in self._known:
            self._known[e] = self._made(e)
        return self._known[e]

    def _made(self, e: Fast) -> Series:
        if not e.args:
            return {0: e}
        parts = [self._of(a) for a in e.args]
        if all(set(p) <= {0} for p in parts):
            return (
                {0: e.func(*(p.get(0, fast(0)) for p in parts))}
                if e.is_Function or e.is_Pow
                else self._joined(e, parts)
            )
        return self._joined(e, parts)

    def _joined(self, e: Fast, parts: list[Series]) -> Series:
        if e.is_Add:
            powers = {k for p in parts for k in p}
            return {k: sum((p[k] for p in parts if k in p), start=fast(0)) for k in powers}
        if e.is_Mul:
            result = parts[0]
            for p in parts[1:]:
                result = self._times(result, p)
            return result
        if e.is_Pow and set(parts[1]) <= {0}:
            return self._power(parts[0], parts[1].get(0, fast(0)))
        if e.is_Function or e.is_Pow:
            return self._composed(e.func, parts)
        raise ModelError(
            f"{e} has no power series: it is not smooth. Backward error analysis needs smooth expressions."
        )

    def _times(self, a: Series, b: Series) -> Series:
        result: Series = {}
        for (i, x), (j, y) in product(a.items(), b.items()):
            if i + j <= self.kept:
                result[i + j] = result.get(i + j, 0) + x * y
        return {k: c for k, e in result.items() if (c := expanded(e)) != 0}

    def _power(self, base: Series, exponent: Fast) -> Series:
        """(h^v (c + ...))^n = h^(v n) (c + ...)^n."""
        if exponent.is_Integer and exponent >= 0:
            result: Series = {0: fast(1)}
            for _ in range(int(exponent)):
                result = self._times(result, base)
            return result
        low = min((k for k, c in base.items() if c != 0), default=0)
        scaled = {k - low: c for k, c in base.items()}
        raised = self._composed(lambda z: z**exponent, [scaled])
        shift = fast(low) * exponent
        if not shift.is_Integer:
            raise MethodError(f"a fractional power of h occurs: h^({shift}). The step is not a power series in h.")
        return {k + int(shift): c for k, c in raised.items() if k + int(shift) <= self.kept}

    def _composed(self, function: Callable[..., Fast], parts: list[Series]) -> Series:
        """f(u + d) = sum over multi-indices a of f^(a)(u) d^a / a!, where d = O(h)."""
        z = [fast(f"argument.{i}") for i in range(len(parts))]
        at = {z[i]: p.get(0, fast(0)) for i, p in enumerate(parts)}
        steps = [{k: c for k, c in p.items() if k != 0} for p in parts]
        if any(k < 0 for d in steps for k in d):
            raise MethodError("a function of 1/h occurs: the step is not a power series in h.")
        slopes: dict[tuple[int, ...], Fast] = {(0,) * len(z): function(*z)}
        powers: dict[tuple[int, ...], Series] = {(0,) * len(z): {0: fast(1)}}
        result: Series = {}
        for _ in range(self.kept + 1):
            for index, slope in slopes.items():
                value = slope.subs(at) / _factorials(index)
                for k, c in powers[index].items():
                    result[k] = result.get(k, 0) + c * value
            slopes, powers = self._raised(slopes, powers, z, steps)
        return {k: expanded(c) for k, c in result.items()}

    def _raised(self, slopes: Any, powers: Any, z: Row, steps: list[Series]) -> Any:
        """All derivatives of the next degree, with the powers of the increments that go with them."""
        higher, products = {}, {}
        for index, slope in slopes.items():
            for i in range(len(z)):
                up = tuple(n + (j == i) for j, n in enumerate(index))
                if up not in higher and (step_power := self._times(powers[index], steps[i])):
                    higher[up], products[up] = slope.diff(z[i]), step_power
        return higher, products


def _divided(e: Fast) -> int:
    """The highest power of 1/h in an expression."""
    import symengine

    return max((-int(n) for b, n in (p.args for p in e.atoms(symengine.Pow)) if b == fast(step) and n < 0), default=0)


def _factorials(index: Iterable[int]) -> int:
    result = 1
    for n in index:
        result *= factorial(n)
    return result


def expanded(expression: Fast) -> Fast:
    """Multiplied out, except for sums that stand in a denominator or under a root: those are kept, so that they can cancel."""
    import symengine

    e = fast(expression)
    powers = [p.args for p in e.atoms(symengine.Pow)]
    whole = {b for b, n in powers if b.is_Add and not (n.is_Integer and n > 0)}
    names = {b: fast(f"sum.{i}") for i, b in enumerate(whole)}
    e = e.subs(names).expand() if names else e.expand()
    if e.is_Add and len(e.args) > BUDGET:
        raise ModelError(
            f"backward error analysis: one coefficient has {len(e.args)} terms, more than the {BUDGET} that are allowed. Ask "
            f"for a lower order, or give numbers to parameters before."
        )
    return e.subs({s: b for b, s in names.items()}) if names else e


def step_series(stepmap: StepMap, top: int) -> tuple[list[Row], dict[str, Series]]:
    """The next state (one row of coefficients per variable) and the unknowns of one substep, as power series in h."""
    places: dict[str, Series] = {}
    for block in stepmap.blocks:
        places |= _block_series(stepmap, block, places, top)
    taylor = Taylor(places, top)
    return [taylor(u) for u in stepmap.update], places


def _block_series(
    stepmap: StepMap, block: Block | MatrixBlock, before: dict[str, Series], top: int
) -> dict[str, Series]:
    """R(x; h) = 0 solved for x_0 + h x_1 + ...: each x_k solves a linear system with the matrix dR/dx at h = 0."""
    free = Taylor(before, 0)
    at_zero = [free(r)[0] for r in block.residual]
    matrix = jacobian(at_zero, block.unknowns)
    if free_names(d for row in matrix for d in row) & set(block.unknowns):
        raise ModelError(
            f"{stepmap.name}: the step is not linear in its unknowns as h goes to 0. Backward error analysis needs a "
            f"Lagrangian that is quadratic in the velocities."
        )
    solver = inverse(matrix)
    x: dict[str, Series] = {name: {} for name in block.unknowns}
    for k in range(top + 1):
        taylor = Taylor(before | x, k)
        defect = [taylor(r)[k] for r in block.residual]
        for name, row in zip(block.unknowns, solver, strict=True):
            x[name][k] = expanded(-sum((a * d for a, d in zip(row, defect, strict=True)), start=fast(0)))
    return x


def inverse(rows: list[Row]) -> list[Row]:
    """The inverse of a matrix of expressions, common factors cancelled."""
    n = len(rows)
    names = free_names(e for row in rows for e in row)
    symbols = [Symbol(name) for name in names]
    matrix = sympy.Matrix(n, n, [slow(e, symbols) for row in rows for e in row])
    found = linear_solution(matrix, sympy.eye(n))
    if found is None:
        raise ModelError(
            "the step cannot be expanded in powers of h: the matrix that determines it at h = 0 is singular."
        )
    return [[fast(e) for e in found[i * n : (i + 1) * n]] for i in range(n)]
