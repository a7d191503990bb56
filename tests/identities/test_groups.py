"""Lie groups: the identities of product, exp, log, Cayley's map, Ad, ad and their tangents; digits near the identity."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
import sympy

import dalembert as da
from dalembert.model.groups.matrix_logarithm import exponential, logarithm

g = da.groups
SL2 = g.MatrixGroup("SL2", [[[0, 1], [0, 0]], [[0, 0], [1, 0]], [[1, 0], [0, -1]]])
AFFINE = g.MatrixGroup("Affine", [[[1, 0], [0, 0]], [[0, 1], [0, 0]]])
PAIRS = [(i, j) for i in range(4) for j in range(i)]
SO4 = g.MatrixGroup("SO4", [[[int((i, j) == p) - int((j, i) == p) for j in range(4)] for i in range(4)] for p in PAIRS])
SL3 = g.MatrixGroup("SL3", [[[int((i, j) == p) for j in range(3)] for i in range(3)] for p in
                            [(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)]]
                    + [[[1, 0, 0], [0, -1, 0], [0, 0, 0]], [[0, 0, 0], [0, 1, 0], [0, 0, -1]]])  # fmt: skip
FORMULAS = [g.R(3), g.SO2, g.SE2, g.SO3, g.SE3, g.SU2, g.Heisenberg, g.SO3 * g.R(2) * g.SO2, SL2, AFFINE]
ALL = [*FORMULAS, g.Semidirect(g.SU2), SO4]
TURNING = [g.SO2, g.SE2, g.SO3, g.SE3, g.SU2]


def drawn(G, count=4, seed=1):
    return np.random.default_rng(seed).normal(size=(count, G.dimension)) * 0.8


def times(matrix, vector):
    return np.einsum("nij,nj->ni", matrix, vector)


def by_series(A):
    """The exponential of one matrix, by the library's other way and by SciPy's numbers of another kind."""
    with mpmath.workdps(40):
        return np.array(mpmath.expm(mpmath.matrix(A.tolist())).tolist(), dtype=float)


@pytest.mark.parametrize("G", ALL, ids=repr)
def test_the_algebra(G):
    x, y, z = (drawn(G, seed=k) for k in (1, 2, 3))
    commutator = G.hat(x) @ G.hat(y) - G.hat(y) @ G.hat(x)
    assert np.allclose(G.hat(G.bracket(x, y)), commutator, atol=1e-13)
    jacobi = G.bracket(x, G.bracket(y, z)) + G.bracket(y, G.bracket(z, x)) + G.bracket(z, G.bracket(x, y))
    assert np.abs(jacobi).max() < 1e-12
    assert np.allclose(G.vee(G.hat(x)), x)
    mu = drawn(G, seed=4)
    assert np.allclose((times(G.coad(x), mu) * y).sum(-1), (mu * G.bracket(x, y)).sum(-1))
    for (k, i, j), c in G.structure_constants.items():
        assert G.structure_constants[k, j, i] == -c


@pytest.mark.parametrize("G", ALL, ids=repr)
def test_the_group(G):
    x, y = drawn(G), drawn(G, seed=2)
    a, b = G.exp(x), G.cayley(y)
    assert np.allclose(a[0], by_series(G.hat(x)[0]), atol=1e-14)
    assert np.allclose(G.product(a, G.inverse(a)), G.identity, atol=1e-13)
    assert np.allclose(G.Ad(G.product(a, b)), G.Ad(a) @ G.Ad(b), atol=1e-12)
    assert np.allclose(G.Ad(a)[0], by_series(G.ad(x)[0]), atol=1e-12)
    assert np.allclose(G.hat(times(G.Ad(a), y)), a @ G.hat(y) @ G.inverse(a), atol=1e-12)
    mu = drawn(G, seed=4)
    assert np.allclose((times(G.coAd(a), mu) * y).sum(-1), (mu * times(G.Ad(a), y)).sum(-1))
    assert np.allclose(G.log(a), x, atol=1e-12)
    assert np.allclose(G.cayley_inverse(b), y, atol=1e-12)
    one, A = G.identity, G.hat(y)
    assert np.allclose((one - A / 2) @ b, one + A / 2, atol=1e-12)
    step = 1e-5  # [x, y] = d/dt Ad_exp(t x) y
    slope = (times(G.Ad(G.exp(step * x)), y) - times(G.Ad(G.exp(-step * x)), y)) / (2 * step)
    assert np.allclose(slope, G.bracket(x, y), atol=1e-8)
    assert (G.defect(a)[0] < 1e-13).all()


@pytest.mark.parametrize("G", FORMULAS, ids=repr)
@pytest.mark.parametrize("kind", ["exp", "cayley"])
def test_tangents_are_right_trivialised(G, kind):
    x, y, step = drawn(G), drawn(G, seed=2), 1e-5
    f, d, back = getattr(G, kind), getattr(G, f"d{kind}")(x), getattr(G, f"d{kind}_inverse")(x)
    slope = (f(x + step * y) - f(x - step * y)) / (2 * step)
    assert np.allclose(slope, G.hat(times(d, y)) @ f(x), atol=1e-7)
    assert np.allclose(d @ back, np.eye(G.dimension), atol=1e-13)
    if G.structure_constants:  # control: the other side is another matrix
        assert not np.allclose(slope, f(x) @ G.hat(times(d, y)), atol=1e-4)


@pytest.mark.parametrize("G", FORMULAS, ids=repr)
def test_square_roots_and_steps(G):
    x = drawn(G)
    components = list(np.moveaxis(x, -1, 0))
    root = np.moveaxis(np.array(np.broadcast_arrays(*G.half(components, "cayley"))), 0, -1)
    assert np.allclose(G.cayley(root) @ G.cayley(root), G.cayley(x), atol=1e-13)
    for kind in ("exp", "cayley"):
        begun = G.numbers_of(np.moveaxis(getattr(G, kind)(drawn(G, seed=5)), (-2, -1), (0, 1)))
        moved = G.step(begun, [c / 0.1 for c in components], 0.1, kind)
        there = np.moveaxis(
            np.array([[np.broadcast_to(e, 4) for e in row] for row in G.rows_of(moved)]), (0, 1), (-2, -1)
        )
        assert np.allclose(there, getattr(G, kind)(drawn(G, seed=5)) @ getattr(G, kind)(x), atol=1e-12)
        assert np.allclose(np.stack(np.broadcast_arrays(*G.way(begun, moved, kind)), -1), x, atol=1e-12)


@pytest.mark.parametrize("G", TURNING, ids=repr)
def test_no_digits_are_lost(G):
    """Against fifty digits, from 1e-300 to half a turn: exp - 1, log, dexp and its inverse."""
    direction = np.array([0.36, -0.48, 0.8, 0.3, -0.5, 0.2])[: G.dimension] if G.dimension > 1 else np.array([1.0])
    turning = {1: 1.0, 3: 1.0 if G is not g.SE2 else 0.36, 6: 1.0}[G.dimension]
    for size in (1e-300, 1e-160, 1e-20, 1e-8, 1e-3, 0.1, 1.0, 1.9, 2.1, 3.0, np.pi - 1e-3, np.pi - 1e-9):
        x = direction * size / turning
        A = G.hat(x)
        with mpmath.workdps(400 if size < 1e-100 else 60):
            exact = mpmath.expm(mpmath.matrix(A.tolist())) - mpmath.eye(G.size)
            rest = np.array(exact.tolist(), dtype=float)
            phi = np.array(_phi(mpmath.matrix(G.ad(x).tolist())).tolist(), dtype=float)
        found = G.exp(x)
        change = found - G.identity
        big = np.abs(rest) > 1e-3 * np.abs(rest).max()
        off = np.where(np.eye(G.size, dtype=bool), 0.0, 1.0)  # 1 + small is rounded on the diagonal
        assert np.abs((change - rest)[big] * off[big]).max() <= 1e-15 * max(np.abs(rest).max(), 0)
        assert np.abs(G.log(found) - x).max() <= 4e-15 * np.abs(x).max()
        assert np.abs(G.dexp(x) - phi).max() <= 4e-15 * np.abs(phi).max()
        assert np.abs(G.dexp(x) @ G.dexp_inverse(x) - np.eye(G.dimension)).max() <= 1e-14
        assert np.abs(G.cayley_inverse(G.cayley(x)) - x).max() <= 4e-15 * np.abs(x).max()
    naive = lambda t: (t - np.sin(t)) / t**3  # noqa: E731
    assert abs(naive(1e-6) * 6 - 1) > 1e-6  # control: the formula of the books loses all digits


def test_the_shortest_logarithm_in_every_direction():
    """Near half a turn the quaternion of a matrix may have a negative scalar part: q and -q are one rotation."""
    for xi in np.random.default_rng(3).normal(size=(40, 3)):
        x = xi / np.linalg.norm(xi) * 3.1
        assert np.abs(g.SO3.log(g.SO3.exp(x)) - x).max() < 1e-12
    assert np.abs(g.SO2.log(g.SO2.exp([-3.1])) + 3.1).max() < 1e-12


def _phi(a):
    """(exp(a) - 1)/a."""
    term, total = mpmath.eye(a.rows), mpmath.eye(a.rows)
    for k in range(2, 90):
        term = term * a / k
        total += term
    return total


@pytest.mark.parametrize("G", [g.R(2), g.SO2, g.SE2, g.SO3, g.SU2, g.Heisenberg, SL2], ids=repr)
def test_expressions_have_the_values_of_numbers(G):
    xi = sympy.symbols(f"a:{G.dimension}", real=True)
    x = drawn(G, 1)[0]
    at = dict(zip(xi, x, strict=True))

    def value(matrix):
        return np.array(matrix.subs(at).evalf().tolist(), dtype=float)

    for name in ("hat", "ad", "coad", "exp", "cayley", "dexp", "dexp_inverse", "dcayley", "dcayley_inverse"):
        assert np.allclose(value(getattr(G, name)(xi)), getattr(G, name)(x), atol=1e-13), name
    a = G.cayley(xi)
    assert np.allclose(value(G.Ad(a)), G.Ad(G.cayley(x)), atol=1e-13)
    assert np.allclose(value(G.product(a, G.inverse(a))), G.identity, atol=1e-13)
    if G is not SL2:
        assert np.allclose(value(G.log(a)).ravel(), G.log(G.cayley(x)), atol=1e-13)


def test_half_turns_and_whole_turns():
    for axis in np.vstack([np.eye(3), [[0.6, 0, 0.8], [-0.6, 0.48, 0.64]]]):
        for angle in (np.pi, np.pi - 1e-12, 3.0):
            assert np.abs(np.abs(g.SO3.log(g.SO3.exp(angle * axis))) - np.abs(angle * axis)).max() < 1e-14
    assert np.allclose(g.SU2.log(g.SU2.exp([0, 0, 6.0])), [0, 0, 6.0])  # SU(2) knows more than half a turn
    assert np.allclose(g.SO3.log(g.SO3.exp([0, 0, 6.0])), [0, 0, 6.0 - 2 * np.pi])
    both = g.SU2.exp([0.3, 0.4, 0.5])
    assert np.allclose(g.SU2.Ad(both), g.SO3.exp([0.3, 0.4, 0.5]))  # the double cover


def test_matrices_in_numbers():
    chance = np.random.default_rng(2)
    A = chance.normal(size=(3, 4, 4))
    for k in range(3):
        assert np.allclose(exponential(A[k]), by_series(A[k]), rtol=1e-13, atol=1e-13)
    assert np.allclose(logarithm(exponential(A / 3)), A / 3, atol=1e-12)
    assert exponential(np.array([[0, 1e-300], [0, 0]]))[0, 1] == 1e-300


def test_products_are_made_of_their_factors():
    G = g.SO3 * g.R(2)
    x = drawn(G, 1)[0]
    assert np.allclose(G.exp(x)[:3, :3], g.SO3.exp(x[:3])) and np.allclose(G.exp(x)[3:, 3:], g.R(2).exp(x[3:]))
    assert g.SO3 * (g.R(2) * g.SO2) == (g.SO3 * g.R(2)) * g.SO2
    semi = g.Semidirect(g.SO2)
    a, b = semi.exp([0.3, 1.0, 2.0]), semi.exp([-0.5, 0.2, 0.1])
    assert np.allclose(semi.product(a, b)[:2, 2], a[:2, 2] + a[:2, :2] @ b[:2, 2])


def test_what_is_no_group_is_told():
    E, F = [[0, 1], [0, 0]], [[0, 0], [1, 0]]
    for call, text in (
        (lambda: g.MatrixGroup("G", [E, F]), r"the bracket of matrices 1 and 2 .* Add \[\[1, 0\], \[0, -1\]\]"),
        (lambda: g.MatrixGroup("G", [E, E]), "linearly dependent"),
        (lambda: g.MatrixGroup("G", [[[1, 2]]]), "Expected square matrices of at most 12 rows with rational entries"),
        (lambda: g.MatrixGroup("G", [E, [[1]]]), "of different sizes"),
        (lambda: g.MatrixGroup("a b", [E]), "give a name of letters and digits"),
        (lambda: g.MatrixGroup("G", 3), "Expected a list of matrices"),
        (lambda: g.SO3.exp([1, 2]), "Expected 3 components"),
        (lambda: g.SO3 * 3, "a direct product is of two groups"),
        (lambda: g.Semidirect(g.SE2), r"A\^3 = -s A"),
        (lambda: SL3.cayley([0.1] * 8), "Cayley's map leads out of this group. Use the exponential"),
        (lambda: SO4.dexp([0.1] * 6), "no formula for the tangent of its exponential"),
        (lambda: g.R(0), "R\\(0\\): give a whole number"),
    ):
        with pytest.raises(da.ModelError, match=text):
            call()
