"""Hamel's equations in a frame of vector fields:  v = w^i X_i + X_0,  [X_i, X_j] = c^k_ij X_k,  l(q, w, t) = L(q, v, t),

    d/dt dl/dw^j = (c^k_ij w^i + c^k_0j) dl/dw^k + X_j(l) + F_j + lambda_a omega^a(X_j).

`model.frame` says what a frame is. In the frame of a system's own space (`model.space`) these are Lagrange's equations on
lines and Euler's on rotations.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...model.coordinates import time
from ...model.frame import NOTHING, Field, Frame
from ...symbolic import Fast, fast, gradient, jacobian, total


def hamel_residual(
    l: Any,
    frame: Frame,
    forces: Sequence[Any] | None = None,
    reactions: Sequence[Any] | None = None,
    carried: Field = NOTHING,
) -> list[Fast]:
    """d/dt dl/dw^j - (c^k_ij w^i + c^k_0j) dl/dw^k - X_j(l) - F_j - reaction_j, one for each field; zero along a motion.

    l:        the Lagrangian, written with the symbols of a point and the velocities of the frame
    forces, reactions:  F_j = F(X_j) and lambda_a omega^a(X_j); none if left out
    carried:  the rates of what else l depends on, such as entropies
    """
    momenta = gradient(l, frame.velocities)
    none = [fast(0)] * len(momenta)
    terms = zip(
        frame.rates(momenta, carried),
        frame.turning(momenta),
        frame.slopes(l),
        forces or none,
        reactions or none,
        strict=True,
    )
    return [rate - turning - slope - fast(F) - fast(r) for rate, turning, slope, F, r in terms]


def frame_on_coordinates(
    coordinates: Sequence[Any],
    velocities: Sequence[Any],
    accelerations: Sequence[Any],
    coframe: Sequence[Sequence[Any]],
    offset: Sequence[Any],
    inverse: Sequence[Sequence[Any]],
) -> Frame:
    """The frame of the velocities w = A(q, t) v + b(q, t); `coframe` is A, `offset` is b and `inverse` the inverse of A.

    With the forms theta^k = A^k_a dq^a + b^k dt, for which theta^k(X_j) is constant, c^k_ij = -d(theta^k)(X_i, X_j). This
    needs no derivative of the inverse.
    """
    n = range(len(coordinates))
    X = [[fast(inverse[a][i]) for a in n] for i in n]  # by fields
    drift = [-total(X[i][a] * fast(offset[i]) for i in n) for a in n]
    places = [*coordinates, time]
    forms = [[*(fast(e) for e in row), fast(b)] for row, b in zip(coframe, offset, strict=True)]
    curls = [_exterior_derivative(form, places) for form in forms]
    spread = [[*x, fast(0)] for x in X]
    still = [*drift, fast(1)]
    brackets = {
        (k, i, j): c
        for k, d in enumerate(curls)
        for i, x in enumerate(spread)
        for j, y in enumerate(spread)
        if (c := _bracket(d, x, y)) != 0
    }
    moving = {(k, j): c for k, d in enumerate(curls) for j, y in enumerate(spread) if (c := _bracket(d, still, y)) != 0}
    return Frame(
        tuple(velocities),
        tuple(accelerations),
        tuple(dict(zip(coordinates, x, strict=True)) for x in X),
        brackets,
        dict(zip(places, still, strict=True)),
        moving,
    )


Curl = list[tuple[int, int, Fast]]
"""The entries (a, b, d_a theta_b - d_b theta_a) of the derivative of a one-form that are not zero, with a < b."""


def _exterior_derivative(form: Sequence[Fast], places: Sequence[Any]) -> Curl:
    slopes = jacobian(form, places)  # slopes[b][a] = d_a theta_b
    pairs = ((a, b) for b in range(len(places)) for a in range(b))
    return [(a, b, curl) for a, b in pairs if (curl := (slopes[b][a] - slopes[a][b]).expand()) != 0]


def _bracket(curl: Curl, x: Sequence[Fast], y: Sequence[Fast]) -> Fast:
    """-d(theta)(x, y) = theta([x, y])."""
    return -total(d * (x[a] * y[b] - x[b] * y[a]) for a, b, d in curl)
