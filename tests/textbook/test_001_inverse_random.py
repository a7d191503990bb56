"""A few of the random inverse problems of docs/make_inverse.py: found and verified, or refused with proof."""

from __future__ import annotations

import pytest
import sympy

from .inverse_problems import Problem, errors, euler_lagrange
from .random_inverse import outcome, problem


@pytest.mark.parametrize(
    "number", [4, 5, 6, pytest.param(0, marks=pytest.mark.slow), pytest.param(13, marks=pytest.mark.slow)]
)
def test_lagrangians_of_random_problems_are_found(number):
    assert outcome(problem(number, variational=True), seconds=1200) == "found"


@pytest.mark.parametrize("number", [4, 5, pytest.param(6, marks=pytest.mark.slow)])
def test_random_forces_are_refused_with_proof(number):
    assert outcome(problem(number, variational=False), seconds=1200) == "refused"


def test_random_problems_are_what_they_say():
    """The equations of the first kind follow from their Lagrangian; those of the second kind do not."""
    made = problem(5, variational=True)
    motion = sympy.solve(euler_lagrange(made.lagrangian, made.coordinates), [q.ddot for q in made.coordinates])
    at = dict.fromkeys((s for q in made.coordinates for s in (q, q.dot)), sympy.Rational(2, 3))
    assert all(sympy.simplify(e.xreplace(motion).subs(at)) == 0 for e in made.equations)
    assert (
        errors(made.lagrangian, Problem(0, tuple(motion[q.ddot] for q in made.coordinates), made.lagrangian))[0] < 1e-40
    )
