"""Sparse elimination: the solutions of dense arithmetic, whatever the pattern; an order that fills little; and pivoting where
pivots on the diagonal will not do.
"""

import numpy as np
import pytest

from dalembert.engine import sparse
from dalembert.engine.backends import llvm, simd
from dalembert.engine.elimination_order import elimination_order
from dalembert.engine.emitter import Memory
from dalembert.engine.linear import FLOOR, Matrix
from dalembert.engine.number_places import Place, Vector

ARGUMENTS = {
    "given": "real[]", "right": "real[]", "out": "real[]", "status": "integer[]", "first": "integer", "last": "integer",
}  # fmt: skip


def solver(n, places, make=sparse.matrix, backend=llvm):
    """A compiled function: entries and right-hand sides of lanes -> solutions, and a number for each lane: 1 if the matrix
    is singular, plus 2 if it was factored with pivoting. And the matrix that it was made with.
    """
    e = backend.emitter("solve", ARGUMENTS)
    with e.lanes(e.argument("first"), e.argument("last")) as lane:
        m, right, x = make(e, n, places), e.local(n), e.local(n)
        given = e.array_argument("given")
        begin = e.integer_arithmetic("mul", lane, len(places))
        m.store(Vector(e, len(places), Place(given, begin, 0)))
        base = e.integer_arithmetic("mul", lane, n)
        with e.loop(0, n) as i:
            e.store(right, e.load(e.array_argument("right"), e.integer_arithmetic("add", base, i)), i)
        singular = e.local(1, "integer")
        e.store(singular, 0)
        with e.when(m.factor()):
            e.store(singular, 1)
        if isinstance(m, sparse.SparseMatrix):
            with e.when(e.integer_compare("eq", e.load(m.uses_whole), 1)):
                e.store(singular, e.integer_arithmetic("add", e.load(singular), 2))
        m.solve(right, x)
        with e.loop(0, n) as i:
            e.store(e.array_argument("out"), e.load(x, i), e.integer_arithmetic("add", base, i))
        e.store(e.array_argument("status"), e.load(singular), lane)
    call = backend.load(backend.compile_module(e.module(), 10**6), "solve", ARGUMENTS)

    def solved(values, b):
        out, status = np.zeros((len(values), n)), np.zeros(len(values), dtype=np.int64)
        arrays = np.ascontiguousarray(values), np.ascontiguousarray(b), out, status
        call([Memory("", a, a.dtype, a.shape) for a in arrays], len(values), 1, ())
        return out, status

    return solved, m


def dense(n, places, values):
    a = np.zeros((len(values), n, n))
    for k, (i, j) in enumerate(places):
        a[:, i, j] = values[:, k]
    return a


def band(n, width=1):
    return [(i, j) for i in range(n) for j in range(max(0, i - width), min(n, i + width + 1))]


def arrow(n):
    return [(i, i) for i in range(n)] + [(0, i) for i in range(1, n)] + [(i, 0) for i in range(1, n)]


def grid(n):
    """The places of a net of n x n points, each coupled with its neighbours."""
    near = [(0, 0), (0, 1), (1, 0), (0, -1), (-1, 0)]
    points = [(i, j) for i in range(n) for j in range(n)]
    return [(i * n + j, (i + a) * n + j + b) for i, j in points for a, b in near if {i + a, j + b} <= set(range(n))]


def chain(links):
    """Velocities of points in the plane and the tensions of the links between them: zeros on the diagonal."""
    n = 2 * links
    places = {(i, i) for i in range(n)}
    for k in range(links):
        for c in ([2 * k, 2 * k + 1], [2 * k - 2, 2 * k - 1] if k else []):
            places |= {p for i in c for p in ((i, n + k), (n + k, i))}
    return sorted(places)


def scattered(rng, n, share):
    """A pattern that is not symmetric."""
    return [(i, j) for i in range(n) for j in range(n) if i == j or rng.random() < share]


def numbers(rng, places, lanes, n):
    """Entries of any sign and of very different units of equations and unknowns, with a diagonal that is large enough."""
    values = rng.normal(size=(lanes, len(places)))
    values += 8 * np.array([i == j for i, j in places])
    rows, columns = 10.0 ** rng.uniform(-6, 6, (2, n))
    return values * [rows[i] / columns[j] for i, j in places], rng.normal(size=(lanes, n)) * rows


PATTERNS = {
    "tridiagonal": (40, band(40)),
    "wide band": (40, band(40, 4)),
    "arrow": (50, arrow(50)),
    "net": (64, grid(8)),
    "chain": (45, chain(15)),
    "periodic": (30, [*band(30), (0, 29), (29, 0)]),
}


def backward_error(a, x, b):
    return (np.abs(np.einsum("lij,lj->li", a, x) - b) / (np.einsum("lij,lj->li", abs(a), abs(x)) + abs(b))).max()


@pytest.mark.parametrize("name", PATTERNS)
def test_solutions_are_those_of_dense_arithmetic(name):
    n, places = PATTERNS[name]
    solve, m = solver(n, places)
    assert isinstance(m, sparse.SparseMatrix)
    values, b = numbers(np.random.default_rng(1), places, 3, n)
    x, status = solve(values, b)
    a = dense(n, places, values)
    assert not status.any()
    assert backward_error(a, x, b) < 1e-12
    assert backward_error(a, x * (1 + 1e-9 * np.arange(n)), b) > 1e-12  # the control


def test_random_patterns():
    rng = np.random.default_rng(2)
    for _ in range(6):
        n = int(rng.integers(sparse.SMALLEST, 30))
        places = scattered(rng, n, 0.4 * rng.random() ** 3)
        made = []
        for make in (sparse.matrix, Matrix):
            solve, _ = solver(n, places, make)
            values, b = numbers(np.random.default_rng(n), places, 4, n)
            made.append(solve(values, b))
        a = dense(n, places, values)
        assert max(backward_error(a, x, b) for x, _ in made) < 1e-11
        assert not any((status & 1).any() for _, status in made)


@pytest.mark.parametrize("name", PATTERNS)
def test_order_fills_little(name):
    n, places = PATTERNS[name]
    order = elimination_order(n, places)
    filled = n + 2 * sum(map(len, order.coupled))
    assert sorted(order.unknowns) == list(range(n))
    assert filled <= {"net": 3, "periodic": 2, "chain": 1.6}.get(name, 1) * len(places)


@pytest.mark.parametrize("pattern", [lambda n: (n, band(n)), lambda n: (n, arrow(n)), lambda k: (3 * k, chain(k))])
def test_chains_and_arrows_take_linear_time(pattern):
    counts = [elimination_order(*pattern(n)).products / n for n in (50, 100, 200)]
    assert max(counts) < 1.1 * min(counts)
    assert elimination_order(196, grid(14)).products / 196 > 1.3 * elimination_order(64, grid(8)).products / 64


def test_a_zero_on_the_diagonal_waits_for_its_neighbours():
    order = elimination_order(45, chain(15))
    position = {k: p for p, k in enumerate(order.unknowns)}
    assert all(position[i] < position[j] for i, j in chain(15) if i < 30 <= j)
    assert elimination_order(2, [(0, 1), (1, 0)]) is None
    assert elimination_order(2, [(0, 0)]) is None


def test_a_vertical_chain_needs_no_pivoting():
    """Where links stand upright, a component of each constraint is zero."""
    n, places = PATTERNS["chain"]
    solve, _ = solver(n, places)
    values = np.array([[1.0 if i == j else float(i % 2 if i < 30 else j % 2) for i, j in places]])
    x, status = solve(values, np.ones((1, n)))
    assert not status.any()
    assert backward_error(dense(n, places, values), x, np.ones((1, n))) < 1e-12


def spoiled(places, values, entries):
    values = values.copy()
    for place, value in entries.items():
        values[:, places.index(place)] = value
    return values


@pytest.mark.parametrize("small", [0.0, 1e-20, -1e-9])
def test_pivots_that_will_not_do_are_exchanged(small):
    n, places = 40, band(40)
    solve, _ = solver(n, places)
    values, b = np.array([[3.0 if i == j else 1.0 for i, j in places]]), np.linspace(1, 2, n)[None]
    values = spoiled(places, values, {(0, 0): small})
    x, status = solve(values, b)
    assert list(status) == [2]
    assert backward_error(dense(n, places, values), x, b) < 1e-12


def test_singular_matrices_are_found_by_both_ways():
    """A row that depends on others, whatever the units, and the same row changed by a millionth: the control."""
    n, places = 40, band(40)
    solve, _ = solver(n, places)
    values, b = numbers(np.random.default_rng(5), places, 1, n)
    a = dense(n, places, values)[0]
    for change, expected in ((0.0, 3), (1e-6, 0)):
        ends = spoiled(
            places, values, {(1, 0): 0.0, (1, 2): 0.0, (1, 1): a[0, 1], (0, 0): change * a[0, 0], (2, 1): 0.0}
        )
        assert list(solve(ends, b)[1]) == [expected]


def test_lanes_take_their_own_way():
    """Lanes with and without pivoting beside each other have the bits that each has alone, in vectors too."""
    n, places = 40, band(40)
    values, b = numbers(np.random.default_rng(6), places, 9, n)
    values[1::3, 0] = 0.0
    for backend in (llvm, simd):
        solve, _ = solver(n, places, backend=backend)
        x, status = solve(values, b)
        assert list(status) == [0, 2, 0] * 3
        alone = [solve(values[k : k + 1], b[k : k + 1])[0][0] for k in range(9)]
        assert np.array_equal(x, alone)
        assert backward_error(dense(n, places, values), x, b) < 1e-11


def test_small_and_full_matrices_are_dense():
    e = llvm.emitter("solve", ARGUMENTS)
    assert isinstance(sparse.matrix(e, 6, band(6)), Matrix)
    assert isinstance(sparse.matrix(e, 20, band(20, 20)), Matrix)
    assert isinstance(sparse.matrix(e, 20, band(20)), sparse.SparseMatrix)


def loose_end(n, pivot):
    """Two equations beside a chain; elimination leaves `pivot` of the second diagonal entry, which is one."""
    places = band(n)
    values = np.array([[3.0 if i == j else 1.0 for i, j in places]])
    entries = {(0, 0): 1.0, (0, 1): 1.0, (1, 0): 1.0 - pivot, (1, 1): 1.0, (1, 2): 0.0, (2, 1): 0.0}
    return places, spoiled(places, values, entries)


@pytest.mark.parametrize(("pivot", "way"), [(1e-9, 2), (0.5, 0)])
def test_a_pivot_that_has_lost_digits_is_exchanged(pivot, way):
    """Nothing grows: the pivot alone is small relative to the terms that it is the difference of."""
    places, values = loose_end(40, pivot)
    solve, _ = solver(40, places)
    assert list(solve(values, np.ones((1, 40)))[1]) == [way]


@pytest.mark.parametrize(("size", "way"), [(1e3, 2), (1.0, 0)])
def test_terms_that_cancel_are_counted_each(size, way):
    """Two large terms of opposite signs and a small last one: the diagonal entry has lost digits all the same."""
    n, places = 50, arrow(50)
    solve, _ = solver(n, places)
    values = np.array([[1.0 if i == j else 0.1 for i, j in places]])
    entries = {(0, 1): size, (1, 0): size, (0, 2): size, (2, 0): -size}
    assert list(solve(spoiled(places, values, entries), np.ones((1, n)))[1]) == [way]


def floors(n, places, make):
    """A compiled function: entries, scales of rows -> scales after `add_floors`."""
    arguments = {"given": "real[]", "scale": "real[]", "first": "integer", "last": "integer"}
    e = llvm.emitter("floors", arguments)
    with e.lanes(e.argument("first"), e.argument("last")):
        m, scale = make(e, n, places), e.local(n)
        m.store(Vector(e, len(places), Place(e.array_argument("given"), 0, 0)))
        with e.loop(0, n) as i:
            e.store(scale, e.load(e.array_argument("scale"), i), i)
        m.add_floors(scale)
        with e.loop(0, n) as i:
            e.store(e.array_argument("scale"), e.load(scale, i), i)
    call = llvm.load(llvm.compile_module(e.module(), 10**6), "floors", arguments)

    def added(values, scale):
        found = scale.copy()
        call([Memory("", a, a.dtype, a.shape) for a in (np.ascontiguousarray(values), found)], 1, 1, ())
        return found

    return added


@pytest.mark.parametrize("make", [sparse.matrix, Matrix])
def test_floors_of_rows_come_from_the_terms_of_the_others(make):
    """1/scale + FLOOR sum |a_ij| u_j with u_j = 1/(scale |a|), the largest of a column; a zero says nothing."""
    n, places, rng = 40, band(40), np.random.default_rng(7)
    values, _ = numbers(rng, places, 1, n)
    values[0, 3] = 0.0
    scale = 10.0 ** rng.uniform(-3, 3, n)
    scale[5] *= 1e12  # a row whose terms all but vanish
    a = np.abs(dense(n, places, values)[0])
    with np.errstate(divide="ignore"):
        known = np.where(a > 0, 1 / (a * scale[:, None]), 0).max(axis=0)
    expected = 1 / (1 / scale + FLOOR * (a * known).max(axis=1))
    found = floors(n, places, make)(values, scale)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert found[5] < scale[5] / 10
