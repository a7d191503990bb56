"""Coefficients of methods to the last digits: a wrong one shows in no order of convergence that can be measured."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.integrate._ivp import dop853_coefficients as peer

import dalembert as da
from dalembert.errors import MethodError
from dalembert.methods import nystrom
from dalembert.methods.composition import _sequence


@pytest.mark.parametrize("order", [4, 6, 8])
def test_sequences_add_up_to_one_and_read_the_same_backward(order):
    steps = _sequence(2, order)
    assert abs(math.fsum(steps) - 1) < 4e-16
    assert steps == steps[::-1]
    assert da.Composition(da.Midpoint(), order).coefficients == tuple(steps)


@pytest.mark.parametrize("order", [4, 6, 8])
@pytest.mark.parametrize("place", [0, 1])
def test_control_a_sequence_that_is_off_is_refused(order, place):
    """By 1e-10 in two coefficients and their mirror images, so that they still add up to 1."""
    steps = _sequence(2, order)
    other = len(steps) // 2
    off = list(steps)
    for k, change in ((place, 1e-10), (-1 - place, 1e-10), (other, -2e-10)):
        off[k] += change
    assert da.Composition(da.Midpoint(), coefficients=steps).order == order
    assert da.Composition(da.Midpoint(), coefficients=off).order < order
    with pytest.raises(MethodError, match="reach order 0"):
        da.Composition(da.Midpoint(), coefficients=[*steps[:-1], steps[-1] + 1e-10])


@pytest.mark.parametrize("coefficients", [[10, -9.0005], [5, -3.999999], [3, -2.00000001]])
def test_large_coefficients_must_add_up_to_one_all_the_same(coefficients):
    with pytest.raises(MethodError, match="They must add up to 1"):
        da.Composition(da.Midpoint(), coefficients=coefficients)


@pytest.mark.parametrize("coefficients", [[1000.0, -999.0], [100.0, -50.0, -49.0]])
def test_large_coefficients_make_no_higher_order(coefficients):
    method = da.Composition(da.Midpoint(), coefficients=coefficients)
    assert (method.order, method.symmetric) == (2, False)
    assert str(coefficients) in repr(method)


def test_dormand_prince_is_scipys():
    """The same published numbers, typed twice."""
    rows, weights = da.DormandPrince8().tableau()
    assert np.array_equal(weights, peer.B)
    for i, row in enumerate(rows):
        assert np.array_equal(row, peer.A[i, : len(row)])


NODES = np.array([nystrom._node(row) for row in nystrom._ROWS])


def test_stages_of_nystrom():
    """sum_j a_ij c_j^k = c_i^(k+2)/((k+1)(k+2)), k = 0..3, from the fifth stage on."""
    for i, row in enumerate(nystrom._ROWS[4:], start=4):
        for k in range(4):
            terms = np.array(row) * NODES[:i] ** k
            wanted = NODES[i] ** (k + 2) / ((k + 1) * (k + 2))
            assert abs(math.fsum(terms) - wanted) < 1e-14 * np.abs(terms).sum()


def test_weights_of_nystrom():
    """sum b_j c_j^k = 1/((k+1)(k+2)) and sum d_j c_j^k = 1/(k+1): quadratures of order 12."""
    for k in range(11):
        assert abs(math.fsum(nystrom._POSITION * NODES**k) - 1 / ((k + 1) * (k + 2))) < 1e-15
        assert abs(math.fsum(nystrom._VELOCITY * NODES**k) - 1 / (k + 1)) < 1e-15
    assert abs(math.fsum(nystrom._VELOCITY * NODES**20) - 1 / 21) > 1e-9, "control: not of order 20"


@pytest.mark.parametrize(
    "method", [da.Gauss(s) for s in (1, 2, 3, 4)] + [da.Lobatto(s) for s in (2, 3, 4, 5)], ids=repr
)
def test_coefficients_are_consistent_beyond_double_precision(method):
    """Weights add up to 1, and b_i A_ij + b_j a_ji = b_i b_j; doubles, the control, miss it by 1e-18 or more."""

    def defects(b, a, A):
        pairs = [(i, j) for i in range(len(b)) for j in range(len(b))]
        return max(abs(1 - sum(b)), *(abs(b[i] * A[i][j] + b[j] * a[j][i] - b[i] * b[j]) for i, j in pairs))

    t = method.tableau()
    exact = [[Fraction(int(x.p), int(x.q)) for x in row] for row in (t.b, *t.a, *t.A)]
    b, a, A = exact[0], exact[1 : len(t.b) + 1], exact[len(t.b) + 1 :]
    assert defects(b, a, A) < 1e-32
    if method.order > 2:
        rough = [[Fraction(float(x)) for x in row] for row in exact]
        assert defects(rough[0], rough[1 : len(b) + 1], rough[len(b) + 1 :]) > 1e-18


@pytest.mark.parametrize("order", [4, 6, 8])
@pytest.mark.parametrize("base", [da.Midpoint(), da.Gauss(2)], ids=repr)
def test_substeps_add_up_to_the_step_exactly(base, order):
    if order > base.order:
        steps = da.Composition(base, order=order).coefficients
        assert sum(map(Fraction, steps)) == 1
        assert steps == steps[::-1]
