"""Whether a step matrix is singular does not depend on the units of its equations and unknowns."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import dalembert as da
from dalembert.engine.machine import PointMap
from dalembert.engine.status import Status
from dalembert.symbolic import fast
from dalembert.waist.stepmap import Block, pointwise


@cache
def linear(n):
    """A x = b with all entries of A and b as inputs."""
    a = [[fast(f"a{i}_{j}") for j in range(n)] for i in range(n)]
    x, b = [f"x{j}" for j in range(n)], [fast(f"b{i}") for i in range(n)]
    residual = tuple(sum((a[i][j] * fast(x[j]) for j in range(n)), start=-b[i]) for i in range(n))
    inputs = [e.name for row in a for e in row] + [e.name for e in b]
    return PointMap(pointwise(f"linear {n}", inputs, [], {name: fast(name) for name in x}, [Block(tuple(x), residual)]))


def solved(matrices, right):
    n = right.shape[1]
    return linear(n)(np.hstack([matrices.reshape(len(right), n * n), right]), np.zeros((1, 0)))


def units(rng, shape):
    return 10.0 ** rng.integers(-12, 13, shape)


def generated(rng, n, count, rank):
    """Random matrices of a rank, some entries zero; those of full rank not worse than one in a million."""
    found = []
    while len(found) < count:
        a = rng.normal(size=(n, rank)) @ rng.normal(size=(rank, n)) if rank < n else rng.normal(size=(n, n))
        if rank == n:
            a *= rng.random((n, n)) < 0.7
            if np.linalg.cond(a) > 1e6:
                continue
        found.append(a)
    return np.array(found)


COUNT = 200


@pytest.mark.parametrize("n", [2, 3, 6])
def test_regular_matrices_in_all_units(n):
    """Every equation and every unknown has units of its own; the solution is the scaled solution."""
    rng = np.random.default_rng(n)
    a, x = generated(rng, n, COUNT, n), rng.normal(size=(COUNT, n))
    rows, columns = units(rng, (COUNT, n)), units(rng, (COUNT, n))
    b = np.einsum("kij,kj->ki", a, x)
    found, status = solved(a * rows[:, :, None] / columns[:, None, :], b * rows)
    assert (status == 0).all()
    assert np.abs(found / columns - x).max() < 1e-8


@pytest.mark.parametrize("n", [2, 3, 6])
def test_singular_matrices_in_all_units(n):
    """Rank n - 1, to rounding."""
    rng = np.random.default_rng(n)
    a = generated(rng, n, COUNT, n - 1)
    rows, columns = units(rng, (COUNT, n)), units(rng, (COUNT, n))
    _, status = solved(a * rows[:, :, None] / columns[:, None, :], rng.normal(size=(COUNT, n)) * rows)
    assert (status == Status.SINGULAR).all()


@pytest.mark.parametrize("n", [3, 6, 12])
def test_rounding_that_an_earlier_pivot_has_enlarged(n):
    """Some of these have a small pivot before the one that is zero, which is then far larger than the rounding of its terms.

    The control: regular matrices with small pivots (condition number 1e9) are not called singular.
    """
    for seed in range(1000, 1010 if n < 12 else 1003):
        rng = np.random.default_rng(seed)
        a = generated(rng, n, 400, n - 1)
        rows, columns = units(rng, (400, n)), units(rng, (400, n))
        _, status = solved(a * rows[:, :, None] / columns[:, None, :], rng.normal(size=(400, n)) * rows)
        assert (status == Status.SINGULAR).all()
        left, _, right = np.linalg.svd(rng.normal(size=(400, n, n)))
        a = np.einsum("kij,j,kjl->kil", left, np.logspace(0, -9, n), right)
        b = np.einsum("kij,kj->ki", a, rng.normal(size=(400, n)))
        _, status = solved(a * rows[:, :, None] / columns[:, None, :], b * rows)
        assert (status != Status.SINGULAR).all()


def test_control_the_largest_entry_is_no_measure():
    """Pivots beside the largest entry of the matrix, as in `matrix_rank`: the verdict depends on the units."""
    rng = np.random.default_rng(0)
    a = generated(rng, 3, COUNT, 3)
    scaled = a * units(rng, (COUNT, 3))[:, :, None] / units(rng, (COUNT, 3))[:, None, :]
    ranks = [np.linalg.matrix_rank(m) for m in scaled]
    assert sum(r < 3 for r in ranks) > COUNT / 2
    assert all(np.linalg.matrix_rank(m) == 3 for m in a)


x, y = da.coordinates("x y")
m, g, l = da.parameters("m g l", positive=True)
PENDULUM = da.System(
    "pendulum",
    [x, y],
    kinetic=m * (x.dot**2 + y.dot**2) / 2,
    potential=m * g * y,
    constraints=[x**2 + y**2 - l**2],
)


def start(mass, length, time):
    speed = length / time
    return (
        {x: 0.66 * length, y: -0.88 * length, x.dot: 0.4 * speed, y.dot: 0.3 * speed},
        {m: 1.3 * mass, g: 0.9 * speed / time, l: 1.1 * length},
    )


METHODS = (da.Midpoint(), da.RungeKutta4(), da.Rattle(), da.Lobatto(3), da.DiscreteGradient())


@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_a_pendulum_in_all_units(method):
    """The motion and its reactions are the scaled ones, in units of mass, length and time of up to 1e+-12."""
    rng = np.random.default_rng(1)
    one, parameters = start(1.0, 1.0, 1.0)
    own = da.simulate(PENDULUM, method, h=0.01, steps=20, start=one, parameters=parameters)
    for _ in range(20):
        mass, length, time = units(rng, 3)
        given, values = start(mass, length, time)
        run = da.simulate(PENDULUM, method, h=0.01 * time, steps=20, start=given, parameters=values)
        assert np.allclose(run.x / length, own.x, rtol=0, atol=1e-12)
        assert np.allclose(run[x.dot] * time / length, own[x.dot], rtol=0, atol=1e-11)
        assert np.allclose(run.multipliers * time**2 / mass, own.multipliers, rtol=1e-8)


@pytest.mark.parametrize("mass", [1e-14, 1e-26, 1e26])
def test_a_light_pendulum(mass):
    """Numbers at one state, and the adaptive reference."""
    given, values = start(mass, 1.0, 1.0)
    one, parameters = start(1.0, 1.0, 1.0)
    numbers, own = (da.evaluate(PENDULUM, at=a, parameters=b) for a, b in ((given, values), (one, parameters)))
    assert np.isclose(numbers.multipliers[0] / mass, own.multipliers[0], rtol=1e-12)
    run = da.simulate(PENDULUM, da.Reference(), h=0.1, steps=5, start=given, parameters=values)
    same = da.simulate(PENDULUM, da.Reference(), h=0.1, steps=5, start=one, parameters=parameters)
    assert np.abs(run.x - same.x).max() < 1e-12


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
def test_a_state_where_constraints_are_dependent_is_found_in_all_units(scale):
    """Two circles that touch: at their common point both constraints have one direction."""
    twice = da.System(
        "touching circles",
        [x, y],
        kinetic=m * (x.dot**2 + y.dot**2) / 2,
        potential=m * g * y,
        constraints=[x**2 + y**2 - l**2, (x - 3 * l) ** 2 + y**2 - 4 * l**2],
    )
    values = {m: scale, g: 1.0, l: 1 / scale}
    run = da.simulate(
        twice, da.RungeKutta4(), h=0.01, steps=3, strict=False, parameters=values,
        start={x: 1 / scale, y: 0.0, x.dot: 0.0, y.dot: 0.0},
    )  # fmt: skip
    assert run.status is Status.SINGULAR


def test_units_of_equations_do_not_change_a_bit_of_the_solution():
    """The order of the rows is chosen in units of each row: factors of two leave all bits of the solution."""
    rng = np.random.default_rng(8)
    a, b = generated(rng, 6, COUNT, 6), rng.normal(size=(COUNT, 6))
    rows = 2.0 ** rng.integers(-30, 31, (COUNT, 6))
    plain, scaled = solved(a, b), solved(a * rows[:, :, None], b * rows)
    assert np.array_equal(plain[0], scaled[0])
    turned = solved(a[:, ::-1], b[:, ::-1])[0]  # the control: another order of rows is another rounding
    assert not np.array_equal(plain[0], turned)
