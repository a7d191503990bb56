"""Dynamic equivalence: equations that are others times a regular matrix have the same motions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sympy
from sympy import Expr, Matrix

from ...decide.zero import vanishes
from ...display import Part, Shown
from ...errors import ModelError
from ...model.coordinates import time
from ...symbolic import fast, jacobian
from ..algebra import linear_solution, read, tidy
from .given_equations import GivenEquations, given_equations


@dataclass(frozen=True, repr=False)
class Equivalence(Shown):
    """Whether equations G are others F times a matrix.

    holds:       whether G = B F with det B not zero, by value
    multiplier:  B, where it holds
    left:        otherwise what is left of G where F = 0: the first entry that does not vanish, or det B
    """

    holds: bool
    multiplier: Matrix | None
    left: Expr

    def _parts(self) -> list[Part]:
        if self.holds:
            return [
                "The equations have the same motions: the second ones are the first ones times",
                ("B", self.multiplier),
            ]
        return ["The equations have other motions.", ("left over", self.left)]


def equivalence(equations: Any, others: Any, coordinates: Any = None) -> Equivalence:
    """Whether `others` are `equations` times a regular matrix B of functions: then both have the same motions.

    equations, others:  lists of equations of the same coordinates, or systems; of second order, linear in the accelerations
                        and solvable for them, or of first order, linear in the velocities
    """
    F, G = (
        given_equations(e, None if hasattr(e, "lagrangian") else coordinates, "equivalence")
        for e in (equations, others)
    )
    if F.coordinates != G.coordinates:
        raise ModelError(
            "equivalence: the two lists have different coordinates. Expected the same ones in the same order."
        )
    highest = [q.dot if F.is_first_order else q.ddot for q in F.coordinates]
    own, made = ([[fast(m) for m in row] for row in jacobian(list(map(fast, e.residuals)), highest)] for e in (F, G))
    if not all(vanishes(d) for row in jacobian([m for row in own for m in row], highest) for d in row):
        raise ModelError("equivalence: the highest derivatives do not occur linearly in the first equations.")
    n = len(F.coordinates)
    solved = linear_solution(_matrix(own, F).T, _matrix(made, G).T)
    if solved is None:
        raise ModelError("equivalence: the first equations cannot be solved for the highest derivatives.")
    B = Matrix(n, n, solved).T.applyfunc(tidy)
    rest = (g - sympy.Add(*(B[k, j] * f for j, f in enumerate(F.residuals))) for k, g in enumerate(G.residuals))
    left = next((tidy(e) for e in rest if not vanishes(e)), None)
    if left is not None:
        return Equivalence(False, None, left)
    det = B.det()
    return Equivalence(False, None, sympy.S.Zero) if vanishes(det) else Equivalence(True, B, sympy.S.Zero)


def _matrix(rows: list[list[Any]], equations: GivenEquations) -> Matrix:
    symbols = [s for q in equations.coordinates for s in (q, q.dot, q.ddot)]
    return Matrix([[read(m, *equations.residuals, *symbols, time) for m in row] for row in rows])
