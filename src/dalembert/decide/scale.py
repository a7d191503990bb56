"""The natural scale of a set of expressions: for every symbol the size at which the terms balance.

Terms of a sum are to be of one size, arguments of transcendental functions of size one, and the two sides of a comparison of
one size. In logarithms these are linear equations; they are solved by least squares, and undetermined scales are one. A
change of units shifts the solution by just that change, so states drawn at this scale are the same states in all units.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..symbolic import Fast, fast

Row = dict[Any, float]
"""A linear form in the logarithms of the scales; the key None holds the constant."""

PLAIN = 64.0
"""Numbers within this factor of one need no scale: at states of size one no term is negligible."""


def natural_scales(
    sums: Iterable[Sequence[Any]], names: Iterable[str], ties: Mapping[str, Mapping[str, float]] | None = None
) -> dict[str, float]:
    """A power of two for each name.

    sums:   groups of expressions; those of one group are to be of one size, like the terms of a sum
    ties:   {name: {other: power}}: the scale of a name as a product of powers of others, such as x.dot = x/t
    """
    listed = [[fast(e) for e in group] for group in sums]
    names = list(names)
    if not _needed(e for group in listed for e in group):
        return dict.fromkeys(names, 1.0)
    balance = _Balance(ties or {})
    for group in listed:
        balance.equal([balance.size(e) for e in group])
    found = balance.solved()
    powers = {k: round(x / math.log(2)) for k, x in found.items()}
    return {name: 2.0 ** balance.resolved(name, powers) for name in names}


def _needed(expressions: Iterable[Fast]) -> bool:
    """Whether a number occurs that is far from one."""
    import symengine

    for e in expressions:
        for number in e.atoms(symengine.Number):
            size = _size_of(number)
            if size is not None and abs(size) > math.log(PLAIN):
                return True
    return False


def _size_of(number: Fast) -> float | None:
    """The logarithm of the absolute value of a number; None for zero and for what is not real."""
    try:
        if number.is_Rational:
            p, q = abs(int(number.p)), int(number.q)
            return math.log(p) - math.log(q) if p else None
        value = abs(float(number))
    except (TypeError, ValueError, RuntimeError, OverflowError):
        return None
    return math.log(value) if 0 < value < math.inf else None


class _Balance:
    """Collects the equations between logarithms of sizes."""

    def __init__(self, ties: Mapping[str, Mapping[str, float]]):
        self.ties = ties
        self.rows: list[Row] = []
        self._known: dict[Fast, Row | None] = {}
        self._sums = 0

    def size(self, e: Fast) -> Row | None:
        """The size of an expression; None if it is zero or gives no information."""
        if e not in self._known:
            self._known[e] = self._found(e)
        return self._known[e]

    def _found(self, e: Fast) -> Row | None:
        kind = type(e).__name__
        if e.is_Symbol:
            return dict(self.ties.get(e.name, {e.name: 1.0}))
        if e.is_Number:
            size = _size_of(e)
            return None if size is None else {None: size}
        if e.is_Mul:
            return _total([(self.size(a), 1.0) for a in e.args])
        if e.is_Pow:
            return self._power(*e.args)
        if e.is_Add or kind in ("Max", "Min", "max", "min"):
            return self.equal([self.size(a) for a in e.args])
        if kind == "Piecewise":
            for condition in e.args[1::2]:
                self._compared(condition)
            return self.equal([self.size(a) for a in e.args[::2]])
        if kind.lower() in ("abs", "sign"):
            inner = self.size(e.args[0])
            return inner if kind.lower() == "abs" else {}
        if kind == "atan2":
            self.equal([self.size(a) for a in e.args])
            return {}
        for argument in e.args:  # sines, exponentials, logarithms: dimensionless values of dimensionless arguments
            self._one(self.size(argument))
        return {}

    def _power(self, base: Fast, exponent: Fast) -> Row | None:
        inner = self.size(base)
        if exponent.is_Number:
            return None if inner is None else {k: float(exponent) * c for k, c in inner.items()}
        self._one(self.size(exponent))
        if type(base).__name__ != "Exp1":
            self._one(inner)
        return {}

    def _compared(self, condition: Fast) -> None:
        kind = type(condition).__name__
        if kind in ("And", "Or", "Not"):
            for part in condition.args:
                self._compared(part)
        elif len(condition.args) == 2:
            self.equal([self.size(a) for a in condition.args])

    def equal(self, sizes: Sequence[Row | None]) -> Row | None:
        """Require that all sizes are equal, and return the common size."""
        told = [s for s in sizes if s is not None]
        if len(told) <= 1:
            return told[0] if told else None
        self._sums += 1
        common: Row = {self._sums: 1.0}
        for size in told:
            self.rows.append(_difference(size, common))
        return common

    def _one(self, size: Row | None) -> None:
        if size:
            self.rows.append(size)

    def solved(self) -> dict[Any, float]:
        """The least-squares solution; what is undetermined stays at zero."""
        import numpy as np

        keys = {k: i for i, k in enumerate(dict.fromkeys(k for row in self.rows for k in row if k is not None))}
        if not keys:
            return {}
        matrix, right = np.zeros((len(self.rows), len(keys))), np.zeros(len(self.rows))
        for i, row in enumerate(self.rows):
            for k, c in row.items():
                if k is None:
                    right[i] = -c
                else:
                    matrix[i, keys[k]] = c
        # A small weight towards one determines what the equations leave undetermined.
        normal = matrix.T @ matrix + 1e-9 * np.eye(len(keys))
        found = np.linalg.solve(normal, matrix.T @ right)
        return dict(zip(keys, found, strict=True))

    def resolved(self, name: str, found: Mapping[Any, float]) -> float:
        """The logarithm of the scale of a name, from those it is tied to."""
        parts = self.ties.get(name, {name: 1.0})
        return sum(power * found.get(other, 0) for other, power in parts.items())


def _total(parts: Sequence[tuple[Row | None, float]]) -> Row | None:
    whole: Row = {}
    for row, factor in parts:
        if row is None:
            return None
        for k, c in row.items():
            whole[k] = whole.get(k, 0.0) + factor * c
    return whole


def _difference(left: Row, right: Row) -> Row:
    whole = _total([(left, 1.0), (right, -1.0)])
    assert whole is not None
    return whole
