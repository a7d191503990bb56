"""What coordinates compile of groups, exp, Cayley's map, their roots and tangents, against fifty digits near the identity."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from dalembert import groups as g
from dalembert.run.values import point_map
from dalembert.symbolic import fast
from dalembert.waist.stepmap import pointwise

SIZES = (0.0, 1e-300, 1e-160, 1e-20, 1e-8, 1e-4, 0.03, 0.9, 1.1, 3.0)


def compiled(G, rows):
    """Values of a matrix of expressions in x0, x1, ... at many points."""
    names = [f"x{k}" for k in range(G.dimension)]
    made = rows([fast(name) for name in names])
    outputs = {f"{i},{j}": fast(x) for i, row in enumerate(made) for j, x in enumerate(row)}
    evaluate = point_map(pointwise("a matrix", names, [], outputs))
    shape = len(made), len(made[0])
    return lambda points: evaluate(points, np.zeros((1, 0)))[0].reshape(-1, *shape)


def series(a, first):
    """The sum of a^k / (k + first)!."""
    term = mpmath.eye(a.rows) / mpmath.factorial(first)
    whole = term.copy()
    for k in range(1, 90):
        term = term * a / (k + first)
        whole += term
    return whole


@pytest.mark.parametrize("G", [g.SO2, g.SE2, g.SO3, g.SE3, g.SU2], ids=repr)
def test_no_digits_are_lost_in_compiled_code(G):
    direction = np.array([0.36, -0.48, 0.8, 0.3, -0.5, 0.2])[: G.dimension] / (1 if G.dimension > 1 else 0.36)
    points = np.array([size * direction for size in SIZES])
    change = compiled(
        G, lambda x: [[a - fast(int(i == j)) for j, a in enumerate(row)] for i, row in enumerate(G.exp_rows(x))]
    )
    tangent = compiled(G, lambda x: G.tangent_rows(x, "exp"))
    inverse = compiled(G, lambda x: G.tangent_inverse_rows(x, "exp"))
    half = compiled(G, lambda x: [G.half(x, "cayley")])
    found = change(points), tangent(points), inverse(points), half(points)
    for k, size in enumerate(SIZES):
        with mpmath.workdps(700 if 0 < size < 1e-100 else 60):
            A, a = (mpmath.matrix(m.tolist()) for m in (G.hat(points[k]), G.ad(points[k])))
            rest = np.array((A * series(A, 1)).tolist(), dtype=float)
            phi = np.array(series(a, 1).tolist(), dtype=float)
            back = np.array((series(a, 1) ** -1).tolist(), dtype=float)
        outside = ~np.eye(G.size, dtype=bool)  # 1 + small is rounded on the diagonal
        large = outside & (np.abs(rest) > 1e-3 * np.abs(rest).max())
        assert np.abs((found[0][k] - rest)[large]).max(initial=0) <= 1e-15 * np.abs(rest).max()
        assert np.abs(found[1][k] - phi).max() <= 4e-15 * np.abs(phi).max()
        assert np.abs(found[2][k] - back).max() <= 4e-15 * np.abs(back).max()
        twice = G.cayley(found[3][k][0]) @ G.cayley(found[3][k][0])
        assert np.abs(twice - G.cayley(points[k])).max() <= 1e-14 * max(1, np.abs(twice).max())
        if size == 1e-300:
            assert np.abs(2 * found[3][k][0] / points[k] - 1).max() < 1e-15
    naive = lambda t: (t - np.sin(t)) / t**3  # noqa: E731
    assert abs(naive(1e-6) * 6 - 1) > 1e-6  # control: the formula of the books loses all digits
