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
from ...model.space import frame
from ...symbolic import Fast, fast, gradient, total


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

    v are velocities along the frame E_a of the space, with dual forms e^a; on lines E_a is d/dq^a. With the forms
    theta^k = A^k_a e^a + b^k dt, for which theta^k(X_j) is constant, c^k_ij = -d(theta^k)(X_i, X_j). This needs no derivative
    of the inverse. Among the symbols of a point is each coordinate, or direction of a group, with its velocity as rate.
    """
    n, own = range(len(coordinates)), frame(coordinates)
    X = [[fast(inverse[a][i]) for a in n] for i in n]  # by fields
    drift = [-total(X[i][a] * fast(offset[i]) for i in n) for a in n]
    forms = [[*(fast(e) for e in row), fast(b)] for row, b in zip(coframe, offset, strict=True)]
    curls = [_exterior_derivative(form, own) for form in forms]
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
        tuple(_on_symbols(coordinates, own, x) for x in X),
        brackets,
        {**_on_symbols(coordinates, own, drift), time: fast(1)},
        moving,
    )


def _on_symbols(coordinates: Sequence[Any], own: Frame, components: Sequence[Fast]) -> dict[Any, Fast]:
    """What a field with these components along the frame of the space does to coordinates and entries of matrices."""
    found = dict(zip(coordinates, components, strict=True))
    for x, E in zip(components, own.fields, strict=True):
        for s, e in E.items():
            if s not in map(fast, coordinates):
                found[s] = found.get(s, fast(0)) + x * fast(e)
    return found


Curl = list[tuple[int, int, Fast]]
"""The components (a, b, d(theta)(E_a, E_b)) of the derivative of a one-form that are not zero, with a < b; time is last."""


def _exterior_derivative(form: Sequence[Fast], own: Frame) -> Curl:
    """d(theta)(E_a, E_b) = E_a(theta_b) - E_b(theta_a) - theta_k c^k_ab; for time the partial derivative."""
    slopes = [[*own.slopes(e), gradient(e, [time])[0]] for e in form]  # slopes[b][a] = E_a(theta_b)
    found = []
    for b in range(len(form)):
        for a in range(b):
            turning = total(form[k] * fast(c) for (k, i, j), c in own.brackets.items() if (i, j) == (a, b))
            if (curl := (slopes[b][a] - slopes[a][b] - turning).expand()) != 0:
                found.append((a, b, curl))
    return found


def _bracket(curl: Curl, x: Sequence[Fast], y: Sequence[Fast]) -> Fast:
    """-d(theta)(x, y) = theta([x, y])."""
    return -total(d * (x[a] * y[b] - x[b] * y[a]) for a, b, d in curl)
