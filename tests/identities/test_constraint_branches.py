"""Constraint sets with several branches, and equations whose gradient vanishes on their own set."""

from __future__ import annotations

import random
import warnings

import pytest
import sympy

import dalembert as da
from dalembert import cos, exp, sin
from dalembert.errors import ModelError, ModelWarning
from dalembert.model.branches import branches

x, y, z, theta = da.coordinates("x y z theta")
R = da.parameters("R", positive=True)
Q = [x, y, z]


def same(a, b):
    return sympy.cancel(a / b).is_number


def found(expression, unknowns=None):
    return branches(expression, unknowns or [s for q in (*Q, theta) for s in (q, q.dot)])


def test_a_product_has_a_branch_for_each_factor():
    for e in ((x - 1) * (y - z), sympy.expand((x - 1) * (y - z)), 1e-14 * (x - 1) * (y - z)):
        made = [b.equations for b in found(e)]
        assert len(made) == 2
        assert all(any(same(b[0], f) for b in made) for f in (x - 1, y - z))
    verdict = da.classify([(x - 1) * (y - z)], coordinates=Q)
    assert [b.rank for b in verdict.branches] == [1, 1]
    assert verdict.rank == 1 and verdict.is_holonomic is True
    assert "2 branches" in str(verdict)


def test_branches_of_different_dimension_are_judged_apart():
    verdict = da.classify([(x - 1) * ((y - z) ** 2 + z**2)], coordinates=Q)
    assert sorted(b.rank for b in verdict.branches) == [1, 2]
    assert verdict.rank is None  # they differ


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ((x - y) ** 2, [x - y]),
        (sympy.expand((x - y) ** 2), [x - y]),
        ((x - y) ** 3, [x - y]),
        (1e14 * (x - y) ** 2, [x - y]),
        ((x - y) ** 2 + (y - z) ** 2, [x - y, y - z]),
        (sympy.expand((x - y) ** 2 + (y - z) ** 2), [x - y, y - z]),
        (x**4 + 3 * y**2, [x, y]),
        (1 - cos(x - y), [sin(x - y)]),
        ((x - y) ** 2 * exp(z), [x - y]),
    ],
)
def test_a_square_is_taken_as_what_it_means(given, meant):
    verdict = da.classify([given], coordinates=Q)
    plain = da.classify(meant, coordinates=Q)
    assert verdict.rank == plain.rank == len(meant)
    assert verdict.degrees_of_freedom == plain.degrees_of_freedom
    assert "has no multiplier" in str(verdict) and not plain.remarks  # control: the plain one is not remarked on


def test_kinematic_products():
    verdict = da.classify([(x.dot - y) * (x.dot + y)], coordinates=Q)
    assert [b.constraints[0].kind for b in verdict.branches] == ["non-holonomic"] * 2
    square = da.classify([(x.dot - y.dot) ** 2], coordinates=Q)
    assert square.is_holonomic and square.rank == 1
    idle = da.classify([(x - 1) * (y.dot - z.dot)], coordinates=Q)
    assert "constraint 1 says nothing where x - 1 = 0" in str(idle)


def test_a_branch_within_another_is_left_out_and_an_empty_one_too():
    assert da.classify([(x - 1) * (y - z), x - 1], coordinates=Q).rank == 1
    both = da.classify([(x - 1) * (y - z), (x - 2) * (y - z - 1)], coordinates=Q)
    assert [b.rank for b in both.branches] == [2, 2]


def test_one_set_is_not_taken_apart():
    """Controls: irreducible sets, sets of separate pieces, factors without zeros."""
    for e in (x**2 + y**2 - R**2, x * y - 1, x**2 - R**2, (1 + x**2) * (y - z), exp(x) * (y - x), x**2 + y**2 - z**2):
        assert len(found(e)) == 1 and not found(e)[0].is_repeated, e
    assert found(x**2 + y**2 + 1) == ()


def test_generated_products_powers_and_sums_of_squares():
    rng = random.Random(5)

    def plane():
        c = [rng.choice((-2, -1, 1, 2)), *(rng.choice((-1, 0, 1)) for _ in Q)]
        return c[1] * x + c[2] * y + c[3] * z + rng.choice(Q) * c[0]

    for _ in range(60):
        a, b = plane(), plane()
        if 0 in (a, b) or same(a, b):
            continue
        k, scale = rng.choice((1, 2, 3)), sympy.Integer(10) ** rng.choice((-14, 0, 14))
        e = scale * a**k * b
        made = found(sympy.expand(e) if rng.random() < 0.5 else e)
        assert len(made) == 2, e
        assert any(same(m.equations[0], a) and m.is_repeated == (k > 1) for m in made), e
        assert any(same(m.equations[0], b) and not m.is_repeated for m in made), e
        (both,) = found(sympy.expand(scale * (a**2 + 2 * b**2)))
        assert both.is_repeated and len(both.equations) == 2
        assert sympy.Matrix([[f.diff(q) for q in Q] for f in (a, b, *both.equations)]).rank() == 2


def system(*constraints):
    return da.System("s", Q, kinetic=(x.dot**2 + y.dot**2 + z.dot**2) / 2, constraints=list(constraints))


def test_a_system_is_told():
    with pytest.raises(ModelError, match="Write x - y in constraints"):
        system((x - y) ** 2)
    with pytest.raises(ModelError, match="Write x - y, y - z in constraints"):
        system((x - y) ** 2 + (y - z) ** 2)
    with pytest.raises(ModelError, match="no configuration satisfies"):
        system(x**2 + y**2 + 1)
    for e, factor in (((x - 1) * (y - z), "x - 1"), ((x.dot - y) * (x.dot + y), "product")):
        with pytest.warns(ModelWarning, match=factor):
            system(e)
    with warnings.catch_warnings():  # control
        warnings.simplefilter("error")
        system(x - y)
        system(x**2 + y**2 - 1)
        system(x.dot - y * z.dot)


C, D = x**2 + y**2 + z**2 - 4, x**2 + y**2 - 1
SQUARES = [
    (z - 8 * sin(x), y + 2 * z**3 / 5), (z - sin(x) / 2, y - z + 5), (z - 4 * x**2 / 5, x + 7), (C, D), (C, x + y / 10),
    (x * y - 1, y - z + 3), (x**2 - y * z - 1, D), (z - exp(x), y - 1),
]  # fmt: skip


@pytest.mark.parametrize("factor", [1, sympy.Rational(1, 10**14), 10**14])
@pytest.mark.parametrize(("a", "b"), SQUARES, ids=str)
def test_sums_of_squares_that_were_multiplied_out(a, b, factor):
    """Seen in functions and powers as in variables; where no squares are found, by the flat zeros of the sum."""
    with pytest.raises(ModelError, match="no multiplier"):
        system(sympy.expand(factor * (a**2 + 3 * b**2)))
    with warnings.catch_warnings():  # control: the difference is a product of two branches, or a regular set
        warnings.simplefilter("ignore")
        system(sympy.expand(factor * (a**2 - 3 * b**2 + a / 7)))
        system(sympy.expand(factor * a))


def test_squares_of_functions_are_named():
    with pytest.raises(ModelError, match=r"Write .*sin\(x\).* in constraints"):
        system(sympy.expand((z - 8 * sin(x)) ** 2 + (y + z**3) ** 2))
    (both,) = found(sympy.expand((z - 8 * sin(x)) ** 2 + (y + z**3) ** 2))
    rank = sympy.Matrix([[f.diff(q) for q in Q] for f in (z - 8 * sin(x), y + z**3, *both.equations)]).rank()
    assert both.is_repeated and len(both.equations) == rank == 2
