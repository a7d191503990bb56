"""Hamel's equations in a frame of vector fields:  v = w^i X_i + X_0,  [X_i, X_j] = c^k_ij X_k,  l(q, w, t) = L(q, v, t),

    d/dt dl/dw^j = (c^k_ij w^i + c^k_0j) dl/dw^k + X_j(l) + F_j + lambda_a omega^a(X_j).

A frame is given by the derivatives of the symbols that hold a point: coordinates, or the entries of a rotation matrix. X_0 is
the derivative by time at w = 0, with d/dt of the symbol of time equal to one; [X_0, X_j] = c^k_0j X_k.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from ...model.coordinates import time
from ...symbolic import Fast, fast, gradient, jacobian, total

Field = Mapping[Any, Any]
"""The derivative of each symbol of a point along a vector field; of symbols that are not listed it is zero."""

NOTHING: Mapping[Any, Any] = MappingProxyType({})


@dataclass(frozen=True)
class Frame:
    """Vector fields X_1, ..., X_n that span the velocities.

    velocities:      the symbols w^1, ..., w^n
    accelerations:   the symbols of their rates
    fields:          fields[i] = {s: X_i(s)} for the symbols s that hold a point
    brackets:        brackets[k][i][j] = c^k_ij
    drift:           {s: X_0(s)}, time among the symbols
    drift_brackets:  drift_brackets[k][j] = c^k_0j; empty if all are zero
    """

    velocities: tuple[Any, ...]
    accelerations: tuple[Any, ...]
    fields: tuple[Field, ...]
    brackets: Sequence[Sequence[Sequence[Any]]]
    drift: Field = field(default_factory=lambda: {time: 1})
    drift_brackets: Sequence[Sequence[Any]] = ()

    def along(self, j: int, expression: Any) -> Fast:
        """X_j(f): the derivative of an expression along a field, velocities held fixed."""
        return _derivative(expression, self.fields[j])

    @property
    def kinematics(self) -> dict[Any, Fast]:
        """The rate of each symbol of a point: w^i X_i(s) + X_0(s)."""
        found = {s: fast(e) for s, e in self.drift.items()}
        for w, X in zip(self.velocities, self.fields, strict=True):
            for s, e in X.items():
                found[s] = found.get(s, fast(0)) + fast(w) * fast(e)
        return found

    def rate(self, expression: Any, carried: Field = NOTHING) -> Fast:
        """df/dt of f(q, w, t) along a motion; `carried` gives the rates of other symbols, such as entropies."""
        changes = dict(zip(self.velocities, self.accelerations, strict=True))
        return _derivative(expression, {**self.kinematics, **changes, **carried})

    def turning(self, j: int, momenta: Sequence[Fast]) -> Fast:
        """(c^k_ij w^i + c^k_0j) p_k: the contribution of the brackets to the rate of p_j."""
        own = [
            fast(c) * fast(w) * p
            for p, table in zip(momenta, self.brackets, strict=True)
            for w, row in zip(self.velocities, table, strict=True)
            if (c := row[j]) != 0
        ]
        moving = zip(self.drift_brackets, momenta, strict=True) if self.drift_brackets else ()
        return total([*own, *(fast(row[j]) * p for row, p in moving)])


def _derivative(expression: Any, rates: Field) -> Fast:
    """The derivative of an expression whose symbols change at these rates."""
    slopes = gradient(expression, list(rates))
    return total(d * fast(r) for d, r in zip(slopes, rates.values(), strict=True) if d != 0)


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
    acting = zip(forces or none, reactions or none, strict=True)
    return [
        frame.rate(p, carried) - frame.turning(j, momenta) - frame.along(j, l) - fast(F) - fast(r)
        for j, (p, (F, r)) in enumerate(zip(momenta, acting, strict=True))
    ]


def joined(*frames: Frame) -> Frame:
    """The frame of a product of spaces: the fields of all factors, which commute with those of other factors."""
    sizes = [len(f.velocities) for f in frames]
    n, first = sum(sizes), [sum(sizes[:a]) for a in range(len(sizes))]
    brackets = [[[fast(0)] * n for _ in range(n)] for _ in range(n)]
    moving = [[fast(0)] * n for _ in range(n)]
    for f, begin, size in zip(frames, first, sizes, strict=True):
        for k in range(size):
            for i in range(size):
                brackets[begin + k][begin + i][begin : begin + size] = [fast(c) for c in f.brackets[k][i]]
            if f.drift_brackets:
                moving[begin + k][begin : begin + size] = [fast(c) for c in f.drift_brackets[k]]
    return Frame(
        tuple(w for f in frames for w in f.velocities),
        tuple(a for f in frames for a in f.accelerations),
        tuple(X for f in frames for X in f.fields),
        brackets,
        {s: e for f in frames for s, e in f.drift.items()},
        moving if any(f.drift_brackets for f in frames) else (),
    )


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
    brackets = [[[_bracket(d, x, y) for y in spread] for x in spread] for d in curls]
    moving = [[_bracket(d, still, y) for y in spread] for d in curls]
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
