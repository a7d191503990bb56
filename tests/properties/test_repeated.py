"""What repeats is a loop: the motions are those of code that is written out, and the code does not grow with the system."""

from itertools import pairwise

import numpy as np
import pytest
import sympy
from sympy import cos, exp, sin

import dalembert as da
from dalembert.engine import kernels, machine, number_places, repeated
from dalembert.engine.backends.llvm import LLVMEmitter
from dalembert.engine.element_sums import SumBlock, with_sums
from dalembert.engine.repeated import Shapes
from dalembert.engine.status import Status
from dalembert.methods.stepping import Stepping
from dalembert.symbolic import fast

k, a, w, g = da.parameters("k a w g", positive=True)


def driven_lattice(n):
    """Masses of their own between springs that harden, one of them stronger, with friction and a force that varies in time."""
    q = [da.coordinates(f"x{i}") for i in range(n)]
    m = [da.parameters(f"m{i}", positive=True) for i in range(n)]
    stretch = [second - first for first, second in pairwise([0, *q, 0])]
    system = da.System(
        "driven lattice",
        q,
        kinetic=sympy.Add(*(mass * c.dot**2 / 2 for mass, c in zip(m, q, strict=True))),
        potential=sympy.Add(*(k * s**2 / 2 + a * s**4 / 4 for s in stretch), stretch[n // 2] ** 2),
        dissipation=sympy.Add(*(c.dot**2 / 50 for c in q)),
        forces={c: w * sin(da.time + c) for c in q},
    )
    start = {c: np.sin(3 * i) for i, c in enumerate(q)} | {c.dot: np.cos(i) for i, c in enumerate(q)}
    return system, {k: 1.3, a: 0.4, w: 0.2} | {mass: 1 + 0.1 * np.sin(i) for i, mass in enumerate(m)}, start


def toda(n):
    """A ring of masses with exponential springs."""
    q = [da.coordinates(f"x{i}") for i in range(n)]
    ring = sympy.Add(*(exp(s) - s for s in (second - first for first, second in pairwise([*q, q[0]]))))
    system = da.System("Toda ring", q, kinetic=sympy.Add(*(c.dot**2 / 2 for c in q)), potential=ring)
    return system, {}, dict.fromkeys(q, 0.0) | {c.dot: np.sin(i) for i, c in enumerate(q)}


def chain(links):
    """Points in the plane, each at a fixed distance from the one before, the first from the origin."""
    points = [da.coordinates(f"x{i} y{i}") for i in range(links)]
    pairs = list(pairwise([(0, 0), *points]))
    system = da.System(
        "chain",
        [c for p in points for c in p],
        kinetic=sympy.Add(*(c.dot**2 / 2 for p in points for c in p)),
        potential=sympy.Add(*(g * y for _, y in points)),
        constraints=[(x1 - x0) ** 2 + (y1 - y0) ** 2 - a**2 for (x0, y0), (x1, y1) in pairs],
    )
    angles = np.cumsum(np.full(links, 0.1))
    start = dict(zip(system.coordinates, np.cumsum([np.cos(angles), np.sin(angles)], axis=1).T.ravel(), strict=True))
    return system, {g: 9.81, a: 1.0}, start | {c.dot: 0.0 for c in system.coordinates}


def pairs(n):
    """Pendulums, each coupled with one other, in an order that has no formula."""
    q = [da.coordinates(f"x{i}") for i in range(n)]
    order = np.random.default_rng(4).permutation(n)
    coupled = sympy.Add(*(sin(q[i] - q[j]) ** 2 for i, j in zip(order[::2], order[1::2], strict=True)))
    system = da.System("pairs", q, kinetic=sympy.Add(*(c.dot**2 / 2 for c in q)), potential=coupled - sum(map(cos, q)))
    return system, {}, {c: 0.1 * i for i, c in enumerate(q)} | {c.dot: 0.0 for c in q}


CASES = [
    (driven_lattice, 33, da.Midpoint()),
    (driven_lattice, 33, da.RungeKutta4()),
    (toda, 40, da.StormerVerlet()),
    (toda, 33, da.Gauss(2)),
    (toda, 33, da.Composition(da.StormerVerlet(), 4)),
    (chain, 16, da.Midpoint()),
    (pairs, 34, da.Midpoint()),
]


def run(case, n, method, name="system"):
    system, parameters, start = case(n)
    system = system.replace(name=name)  # steps that are made already are found by the system
    return da.simulate(system, method, h=0.02, steps=40, parameters=parameters, start=start)


@pytest.fixture
def written_out(monkeypatch):
    """A function that makes everything be written out from then on."""
    monkeypatch.setenv("DALEMBERT_CACHE", "")

    def apply():
        machine._function.cache_clear()
        monkeypatch.setattr(repeated, "ROWS", 10**9)
        monkeypatch.setattr(number_places, "FEW", 10**9)

    yield apply
    machine._function.cache_clear()


def lines(case, n, method):
    emitter = LLVMEmitter("run", dict(kernels.RUN_ARGUMENTS))
    kernels.emit_run(emitter, Stepping(case(n)[0], method).step_map())
    return emitter.module().count("\n")


def _told(value):
    """Functions by their names: an address would differ from process to process."""
    return getattr(value, "__name__", str(value))


@pytest.mark.parametrize("case, n, method", CASES, ids=_told)
def test_motions_are_those_of_code_written_out(case, n, method, written_out):
    loops, looped = run(case, n, method), lines(case, n, method)
    written_out()
    long = lines(case, n, method)
    assert looped < 0.8 * long
    one, other = loops.records[0], run(case, n, method, name="another").records[0]
    assert np.abs(one - other).max() < 1e-12 * np.abs(one).max()
    assert np.abs(one[1:] - other[:-1]).max() > 1e-12 * np.abs(one).max()  # the control: a step later


@pytest.mark.parametrize("case, n, method", [CASES[0], *CASES[2:6]], ids=_told)
def test_code_does_not_grow_with_the_system(case, n, method):
    assert lines(case, 2 * n, method) < 1.02 * lines(case, n, method)


def test_a_run_continued_has_the_bits_of_one_run():
    system, parameters, start = driven_lattice(36)
    whole = da.simulate(system, da.Midpoint(), h=0.02, steps=60, parameters=parameters, start=start)
    first = da.simulate(system, da.Midpoint(), h=0.02, steps=25, parameters=parameters, start=start)
    rest = da.simulate(system, da.Midpoint(), h=0.02, steps=35, parameters=parameters, start=first)
    assert np.array_equal(whole.records[0, 25:], rest.records[0])
    assert not np.array_equal(whole.records[0, 24:-1], rest.records[0])


@pytest.mark.parametrize("device", ["cpu", "simd"])
def test_a_lane_has_the_bits_of_the_same_motion_alone(device):
    system, parameters, start = driven_lattice(33)
    lanes = {**parameters, k: np.array([1.0, 1.1, 1.2])}
    given = {"h": 0.02, "steps": 20, "start": start, "device": device}
    many = da.simulate(system, da.Midpoint(), parameters=lanes, **given)
    for lane in range(3):
        alone = da.simulate(system, da.Midpoint(), parameters={**parameters, k: lanes[k][lane : lane + 1]}, **given)
        assert np.array_equal(many.records[lane], alone.records[0])
    assert np.array_equal(
        many.records, da.simulate(system, da.Midpoint(), parameters=lanes, **given | {"device": "cpu"}).records
    )


def shape(text, shapes=None):
    """The shape of an expression in x0, x1, ..., which may stand for one another, and in p; with which names are equal."""
    shapes = shapes or Shapes({f"x{i}": "state True" for i in range(12)} | {"y": "state False", "p": "parameter"})
    number, names = shapes.of(fast(sympy.sympify(text)))
    return number, tuple(names.index(name) for name in names)


def test_shapes():
    shapes = Shapes(
        {f"x{i}": "state True" for i in range(12)} | {"y": "state False", "p": "parameter", "r": "parameter"}
    )
    same = [
        ("p*(x1 - x0) + sin(x1)**2", "p*(x11 - x10) + sin(x11)**2"),
        ("p*x1*x2/(1 + x2)", "r*x4*x5/(1 + x5)"),
        ("exp(x2 - x1) - exp(x1 - x0)", "exp(x9 - x8) - exp(x8 - x7)"),
    ]
    other = [
        ("x1*(1 + x1)", "x1*(1 + x2)"),
        ("2*x1", "3*x1"),
        ("x1*p", "y*p"),
        ("x1 - x0", "x1 + x0"),
        ("sin(x1)", "cos(x1)"),
        ("x1/3", "x1*0.333333333333333"),
    ]
    assert all(shape(e, shapes) == shape(f, shapes) for e, f in same)
    assert not any(shape(e, shapes) == shape(f, shapes) for e, f in other)


def test_rows_that_repeat_have_equal_names_at_the_same_places_and_the_same_results():
    """Rows of one shape, in which a name occurs twice or not, and with the derivative by one or other name."""
    x = [f"x{i}" for i in range(25)]
    roles = dict.fromkeys(x, "state True")
    rows, kinds = [], []
    for i in range(1, 24):
        here, there = fast(x[i]), fast(x[i + 1])
        for kind, e, by in (
            ("twice", here * (1 + here), x[i]), ("first", here * (1 + there), x[i]), ("second", here * (1 + there), x[i + 1]),
        ):  # fmt: skip
            rows.append(repeated.Row(e, {"value": len(kinds), by: len(kinds) + 1}))
            kinds += [kind, kind]
    found, taken = repeated.repeated(rows, roles, tuple)
    assert sorted(c.rows for c in found) == [23, 23, 23] and taken == set(range(len(kinds)))
    for c in found:
        assert len({kinds[k] for column in c.targets for k in column}) == 1


def attracted(n):
    """Masses of their own in space that attract one another."""
    points = [da.coordinates(f"x{i} y{i} z{i}") for i in range(n)]
    m = [da.parameters(f"m{i}", positive=True) for i in range(n)]
    pairs = [(i, j) for i in range(n) for j in range(i)]
    apart = {
        (i, j): sympy.sqrt(sum((b - c) ** 2 for b, c in zip(points[i], points[j], strict=True)) + w**2)
        for i, j in pairs
    }
    system = da.System(
        "bodies",
        [c for p in points for c in p],
        kinetic=sympy.Add(*(m[i] * c.dot**2 / 2 for i, p in enumerate(points) for c in p)),
        potential=sympy.Add(*(-g * m[i] * m[j] / apart[i, j] for i, j in pairs)),
    )
    places = np.random.default_rng(2).normal(size=3 * n)
    start = dict(zip(system.coordinates, places, strict=True)) | {
        c.dot: 0.1 * np.sin(i) for i, c in enumerate(system.coordinates)
    }
    return system, {g: 0.5, w: 0.3} | {mass: 1 + 0.1 * np.sin(i) for i, mass in enumerate(m)}, start


def sums_of(n, method):
    made = with_sums(Stepping(attracted(n)[0], method).step_map())
    return [b for b in made.blocks if isinstance(b, SumBlock)]


def test_each_pair_is_computed_once():
    """Nine bodies: 36 pairs, each adds to six sums; forces at both ends of a step, whatever equations contain them."""
    before, after = sums_of(9, da.StormerVerlet())
    for block in (before, after):
        assert len(block.unknowns) == 27 and [len(pairs) for pairs in block.elements] == [36]
        assert {len(pair) for pair in block.elements[0]} == {6}
    assert not sums_of(4, da.StormerVerlet())  # written out they take less


def test_forces_of_pairs_are_those_of_code_written_out(written_out):
    one, looped = run(attracted, 9, da.StormerVerlet()).records[0], lines(attracted, 9, da.StormerVerlet())
    written_out()
    other = run(attracted, 9, da.StormerVerlet(), name="another").records[0]
    assert looped < 0.5 * lines(attracted, 9, da.StormerVerlet())
    assert np.abs(one - other).max() < 1e-12 * np.abs(one).max()
    assert np.abs(one[1:] - other[:-1]).max() > 1e-12 * np.abs(one).max()  # the control: a step later


def test_lanes_of_pairs_have_the_bits_of_one_and_go_on_with_them():
    system, parameters, start = attracted(9)
    lanes, given = {**parameters, g: np.array([0.4, 0.5, 0.6])}, {"h": 0.02, "start": start}
    many = da.simulate(system, da.StormerVerlet(), parameters=lanes, steps=20, device="simd", **given)
    alone = da.simulate(system, da.StormerVerlet(), parameters={**parameters, g: 0.5}, steps=20, **given)
    assert np.array_equal(many.records[1], alone.records[0]) and not np.array_equal(many.records[0], alone.records[0])
    first = da.simulate(system, da.StormerVerlet(), parameters={**parameters, g: 0.5}, steps=7, **given)
    rest = da.simulate(system, da.StormerVerlet(), parameters={**parameters, g: 0.5}, steps=13, h=0.02, start=first)
    assert np.array_equal(alone.records[0, 7:], rest.records[0])


def test_a_sum_with_a_term_of_its_own_is_as_before(written_out):
    """One pair is held by a spring too: its shape is its own, so the six sums of these two bodies have terms in no loop."""
    system, parameters, start = attracted(10)
    x, y = system.coordinates[0], system.coordinates[3]
    other = system.replace(potential=system.potential + sympy.exp(x * y))
    made = with_sums(Stepping(other, da.StormerVerlet()).step_map())
    sums = [b for b in made.blocks if isinstance(b, SumBlock)]
    assert {len(b.unknowns) for b in sums} == {24}
    given = {"h": 0.01, "steps": 10, "parameters": parameters, "start": start}
    one, without = (da.simulate(s, da.StormerVerlet(), **given).records for s in (other, system))
    written_out()
    long = da.simulate(other.replace(name="another"), da.StormerVerlet(), **given).records
    assert np.abs(one - long).max() < 1e-12 * np.abs(one).max() < np.abs(one - without).max()


@pytest.mark.parametrize("pairs", [1, 16])
def test_guards_in_loops_end_what_passes_through_a_singularity(pairs):
    """Bodies that fall onto one another in pairs; a distance below which they attract one another less keeps them apart."""
    points = [da.coordinates(f"x{i} y{i}") for i in range(2 * pairs)]
    soft = da.parameters("soft")
    both = list(zip(points[::2], points[1::2], strict=True))
    apart = [sympy.sqrt(sum((b - c) ** 2 for b, c in zip(p, q, strict=True)) + soft**2) for p, q in both]
    system = da.System(
        "falling",
        [c for p in points for c in p],
        kinetic=sympy.Add(*(c.dot**2 / 2 for p in points for c in p)),
        potential=sympy.Add(*(-1 / r for r in apart)),
    )
    start = {}
    for k, (p, q) in enumerate(both):
        start |= {p[0]: -0.5, q[0]: 0.5, p[0].dot: 2.0, q[0].dot: -2.0}
        start |= dict.fromkeys((p[1], q[1]), 3.0 * k) | {c.dot: 0.0 for c in (p[1], q[1])}
    given = {"h": 0.01, "steps": 30, "start": start, "strict": False}
    through = da.simulate(system, da.StormerVerlet(), parameters={soft: np.array([0.0, 0.5])}, **given)
    assert through.codes[0, 0] == Status.LEFT_DOMAIN and through.codes[1, 0] == Status.CONVERGED
