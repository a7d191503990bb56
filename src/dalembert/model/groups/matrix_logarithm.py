"""Exponential and logarithm of matrices in numbers, where a group has no formula of its own; axes of lanes first."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def exponential(A: Array) -> Array:
    """The exponential: the series of a matrix halved until its norm is below 1/2; squaring exp - 1 loses no digits."""
    size = float(np.abs(A).sum(axis=-1).max())
    halvings = max(0, int(np.ceil(np.log2(size))) + 1) if size > 0 else 0
    X, one = A / 2.0**halvings, np.eye(A.shape[-1])
    term, rest = X, X
    for k in range(2, 20):
        term = term @ X / k
        rest = rest + term
    for _ in range(halvings):
        rest = 2 * rest + rest @ rest
    found: Array = one + rest
    return found


def logarithm(g: Array) -> Array:
    """The logarithm of matrices without negative eigenvalues: square roots until g is near 1, then 2 artanh((g-1)/(g+1))."""
    one, roots = np.eye(g.shape[-1]), 0
    while float(np.abs(g - one).sum(axis=-1).max()) > 0.5 and roots < 60:
        Y, Z = g, np.broadcast_to(one, g.shape)
        for _ in range(40):  # Denman and Beavers
            Y, Z, before = (Y + np.linalg.inv(Z)) / 2, (Z + np.linalg.inv(Y)) / 2, Y
            if np.abs(Y - before).max() <= 1e-16 * np.abs(Y).max():
                break
        g, roots = Y, roots + 1
    X = np.linalg.solve(g + one, g - one)
    square, found = X @ X, np.zeros_like(X)
    for k in reversed(range(20)):
        found = one / (2 * k + 1) + square @ found
    logarithms: Array = 2.0 ** (roots + 1) * X @ found
    return logarithms
