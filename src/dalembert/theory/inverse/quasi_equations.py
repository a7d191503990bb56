"""Equations in quasi-velocities u_n = A_nk(x, t) v_k + b_n, turned into equations in coordinates.

A Lagrangian l(x, u, t) has the equations D_n = X_n^k E_k(L) in the frame X of these velocities (X = 1/A, Hamel's equations),
so F_k = A_nk D_n are those of L(x, v, t) as they stand if and only if the D_n are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import sympy
from sympy import Expr, Matrix, Symbol

from ...decide.zero import vanishes
from ...errors import ModelError, told
from ...model import checks
from ...model.constraints import linear_row
from ...model.coordinates import Coordinate, QuasiVelocity, time
from ..algebra import linear_solution, tidy

Speeds = tuple[tuple[Symbol, Expr], ...]
"""Velocities by quasi-velocities."""


def quasi_velocities(given: Any, q: Sequence[Coordinate], function: str) -> dict[Coordinate | QuasiVelocity, Expr]:
    """The quasi-velocities that were given, checked."""
    example = f'velocities={{u: {q[0]}.dot, ...}} with u = dalembert.coordinates("u")'
    if not isinstance(given, Mapping):
        raise ModelError(f"{function}: velocities={told(given)}. Expected {example}.")
    for u in given:
        if not isinstance(u, Coordinate | QuasiVelocity):
            raise ModelError(f"{function}: {told(u)} is no symbol for a quasi-velocity. Expected {example}.")
        if u in q:
            raise ModelError(f"{function}: {u} is a coordinate and cannot be a quasi-velocity. Use another name.")
    if len(given) != len(q):
        raise ModelError(
            f"{function}: got {len(given)} quasi-velocities for the {len(q)} coordinates {', '.join(map(str, q))}. Expected "
            "as many as coordinates."
        )
    known = {s for c in q for s in (c, c.dot)}
    return {
        u: checks.symbols(checks.expression(e, f"quasi-velocity {u}"), known, f"quasi-velocity {u}")
        for u, e in given.items()
    }


def in_coordinates(
    residuals: Sequence[Expr], velocities: Mapping[Any, Expr], q: Sequence[Coordinate], function: str
) -> tuple[tuple[Expr, ...], Speeds]:
    """F_k = A_nk D_n with the velocities put in, and the velocities by quasi-velocities."""
    rows = []
    for u, e in velocities.items():
        affine = linear_row(e, q)
        if affine is None:
            raise ModelError(
                f"{function}: {u} = {e} is not linear in the velocities. Quasi-velocities are sums of coefficient times "
                "velocity and a function of positions and time."
            )
        rows.append(affine)
    A = Matrix([row for row, _ in rows])
    if vanishes(A.det()):
        raise ModelError(f"{function}: the quasi-velocities {', '.join(map(str, velocities))} are dependent.")
    inverse = linear_solution(A, Matrix([u - b for u, (_, b) in zip(velocities, rows, strict=True)]))
    assert inverse is not None
    into = {**velocities, **{u.dot: _rate(e, q) for u, e in velocities.items()}}
    stated = [D.xreplace(into) for D in residuals]
    made = tuple(sympy.Add(*(A[n, k] * D for n, D in enumerate(stated))) for k in range(len(q)))
    return made, tuple((c.dot, tidy(e)) for c, e in zip(q, inverse, strict=True))


def _rate(e: Expr, q: Sequence[Coordinate]) -> Expr:
    """de/dt along any motion."""
    return e.diff(time) + sympy.Add(*(e.diff(c) * c.dot + e.diff(c.dot) * c.ddot for c in q))
