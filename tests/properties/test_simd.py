"""Lanes in vectors: the motions of the scalar back end, and for each lane the bits of the same motion alone."""

import random
from types import SimpleNamespace

import numpy as np
import pytest

import dalembert as da
from dalembert.engine import machine
from dalembert.engine.backends import llvm, simd
from dalembert.engine.emitter import Memory
from dalembert.engine.machine import BACKENDS

from .test_cuda_text import ring

LANES = 19
FUNCTION = {"x": "real[]", "n": "integer[]", "out": "real[]", "first": "integer", "last": "integer"}


def backend(width, emitter=simd.SimdEmitter):
    """The back end with vectors of a given width."""
    return SimpleNamespace(
        **{
            **vars(simd),
            "emitter": lambda name, arguments: emitter(name, arguments, width),
            "compile_module": lambda text, most: simd.with_functions(text, most, width),
            "processor": lambda: f"{simd.processor()} {emitter.__name__} {width}",
            "load": lambda code, name, arguments: llvm.Compiled(code, name, arguments, width),
        }
    )


def place(width, monkeypatch, emitter=simd.SimdEmitter):
    """The name of a device with vectors of a given width; None is that of this processor."""
    if width is None:
        return "simd"
    name = f"simd {emitter.__name__} {width}"
    monkeypatch.setitem(BACKENDS, name, backend(width, emitter))
    return name


def motion(name, method, device, factors, **more):
    """Lanes of a system of the gallery, which differ in the first parameter, and are alike without one."""
    example = da.gallery.load(name)
    parameters = dict(example.parameters)
    for first in list(parameters)[:1]:
        parameters[first] = float(parameters[first]) * factors
    start = example.start if parameters else {q: float(x) * np.ones_like(factors) for q, x in example.start.items()}
    given = {"h": example.h, "steps": 100, "parameters": parameters, "start": start, **more}
    return da.simulate(example.system, method, device=device, **given)


def difference(one, other):
    """The largest difference of recorded numbers, relative to the largest: single columns may be rounding noise."""
    a, b = one.records, other.records
    return np.nanmax(np.abs(a - b)) / np.nanmax(np.abs(a))


def same_bits(one, other):
    return np.array_equal(one.view(np.int64), other.view(np.int64))


@pytest.mark.parametrize(
    "name, method",
    [
        ("double-pendulum", da.Midpoint()),
        ("double-pendulum", da.RungeKutta4()),
        ("kepler", da.StormerVerlet()),
        ("kepler", da.Composition(da.Midpoint(), 4)),
        ("rolling-disk", da.Midpoint()),
        ("heavy-top", da.Midpoint()),
        ("two-gas-chambers", da.Midpoint()),
        ("kepler", da.Gauss(3)),
    ],
    ids=str,
)
def test_vectors_compute_the_bits_of_the_scalar_code(name, method):
    factors = np.linspace(1, 1.3, LANES)
    one, other = (motion(name, method, device, factors) for device in ("cpu", "simd"))
    assert same_bits(one.records, other.records) and same_bits(one.carry, other.carry)
    assert np.array_equal(one.codes, other.codes)


@pytest.mark.verify
@pytest.mark.parametrize("method", [da.Midpoint(), da.RungeKutta4()], ids=repr)
def test_the_gallery_has_the_same_bits_in_vectors(method):
    compared = 0
    for name in da.gallery.names():
        given = {"factors": np.linspace(1, 1.2, 5), "steps": 25, "strict": False}
        try:
            one, other = (motion(name, method, device, **given) for device in ("cpu", "simd"))
        except (da.DalembertError, StopIteration):  # the method does not take the system, or it has no parameters
            continue
        compared += 1
        assert same_bits(one.carry, other.carry) and np.array_equal(one.codes, other.codes), name
    assert compared > 60


def test_where_llvm_contracts_products_and_sums_bits_differ(monkeypatch):
    """The control: the code of vectors is rounded otherwise, in the last place."""

    class Uncontracted(simd.SimdEmitter):
        def _fused(self):
            return None

    monkeypatch.setenv("DALEMBERT_CACHE", "")
    device, factors = place(4, monkeypatch, Uncontracted), np.linspace(1, 1.3, LANES)
    one, other = (motion("double-pendulum", da.Midpoint(), d, factors) for d in ("cpu", device))
    assert not same_bits(one.records, other.records)
    assert difference(one, other) < 1e-11


def test_long_runs_of_many_lanes_are_computed_in_vectors(monkeypatch):
    """Without being asked for; a lane alone, and after an event that concerns it alone, has the same bits."""
    made = []

    class Noted(simd.SimdEmitter):
        def __init__(self, name, arguments):
            made.append(name)
            super().__init__(name, arguments)

    monkeypatch.setenv("DALEMBERT_CACHE", "")
    monkeypatch.setattr(simd, "emitter", Noted)
    monkeypatch.setattr(machine, "WORTH", 1000)
    monkeypatch.setattr(machine, "WORTH_LOADING", 1000)
    x = da.coordinates("x")
    system = da.System("ball", coordinates=[x], kinetic=x.dot**2 / 2, potential=x * 981 / 100 + da.cos(x) / 7)
    bounce = da.Event(x, direction=-1, action={x.dot: -x.dot * 0.9})
    starts = np.linspace(1, 2, simd.FEW + 3)
    given = {"h": 0.01, "steps": 150, "events": bounce}
    few = da.simulate(system, da.Midpoint(), start={x: starts[: simd.FEW - 1], x.dot: 0.0}, **given)
    assert made == [] and not few.codes[:, 0].any()
    whole = da.simulate(system, da.Midpoint(), start={x: starts, x.dot: 0.0}, **given)
    assert made == ["run"] and {c.lane for c in whole.events} == set(range(len(starts)))
    for i in (0, len(starts) - 1):
        alone = da.simulate(system, da.Midpoint(), start={x: starts[i], x.dot: 0.0}, **given)
        assert same_bits(alone.records[0], whole.records[i])


@pytest.mark.parametrize("width", [2, 4, 8, None])
@pytest.mark.parametrize("name", ["double-pendulum", "chaplygin-sleigh"])
def test_a_lane_has_the_same_bits_alone(name, width, monkeypatch):
    """The lanes beside it need more or fewer corrections."""
    device, factors = place(width, monkeypatch), np.linspace(1, 3, LANES)
    whole = motion(name, da.Midpoint(), device, factors)
    assert len(set(whole.codes[:, 3])) > 1
    for i in (0, 7, LANES - 1):
        alone = motion(name, da.Midpoint(), device, factors[i : i + 1])
        assert same_bits(alone.records[0], whole.records[i]) and same_bits(alone.carry[0], whole.carry[i])
        assert np.array_equal(alone.codes[0], whole.codes[i])
    backwards = motion(name, da.Midpoint(), device, factors[::-1].copy())
    assert same_bits(np.ascontiguousarray(backwards.records[::-1]), whole.records)


def test_without_masks_lanes_disturb_each_other(monkeypatch):
    """The control: stores go to all lanes."""

    class Careless(simd.SimdEmitter):
        def _store_where(self, array, new, at, mask):
            super()._store_where(array, new, at, self._constant("condition", "true"))

    monkeypatch.setenv("DALEMBERT_CACHE", "")
    device, factors = place(4, monkeypatch, Careless), np.linspace(1, 3, LANES)
    whole = motion("double-pendulum", da.Midpoint(), device, factors, strict=False)
    alone = motion("double-pendulum", da.Midpoint(), device, factors[:1], strict=False)
    assert not same_bits(alone.records[0], whole.records[0])


def test_failures_are_told_lane_by_lane():
    """x'' = 1/x^2 towards x = 0, from some of the starts; the others go on, with the bits they have alone."""
    x = da.coordinates("x")
    system = da.System("fall", coordinates=[x], kinetic=x.dot**2 / 2, potential=-1 / x)
    starts = np.array([1.0, 0.02, 2.0, 0.03, 1.5])
    given = {"h": 0.01, "steps": 100, "strict": False}
    runs = [
        da.simulate(system, da.Midpoint(), device=d, start={x: starts, x.dot: 0.0}, **given) for d in ("cpu", "simd")
    ]
    assert runs[0].codes[:, :2].tolist() == runs[1].codes[:, :2].tolist()
    assert runs[1].codes[[1, 3], 0].all() and not runs[1].codes[[0, 2, 4], 0].any()
    for i, start in enumerate(starts):
        alone = da.simulate(system, da.Midpoint(), device="simd", start={x: start, x.dot: 0.0}, **given)
        assert same_bits(alone.records[0], runs[1].records[i]) and np.array_equal(alone.codes[0], runs[1].codes[i])


def test_events_continuation_and_thinning():
    x = da.coordinates("x")
    system = da.System("ball", coordinates=[x], kinetic=x.dot**2 / 2, potential=x * 981 / 100)
    bounce = da.Event(x, direction=-1, action={x.dot: -x.dot * 0.9})
    given = {"h": 0.01, "start": {x: np.array([1.0, 2.0, 1.5]), x.dot: 0.0}, "events": bounce, "every": 3}
    runs = [da.simulate(system, da.Midpoint(), steps=150, device=d, **given) for d in ("cpu", "simd")]
    assert difference(*runs) < 1e-9
    plain = {"h": 0.01, "every": 3, "device": "simd"}
    whole = da.simulate(system, da.Midpoint(), steps=40, start={x: 1, x.dot: 0}, **plain)
    part = da.simulate(system, da.Midpoint(), steps=17, start={x: 1, x.dot: 0}, **plain)
    rest = da.simulate(system, da.Midpoint(), steps=23, start=part, **plain)
    assert np.array_equal(np.append(part.x, rest.x), whole.x)


def test_methods_without_a_repeated_step_are_refused():
    x = da.coordinates("x")
    system = da.System("ball", coordinates=[x], kinetic=x.dot**2 / 2)
    with pytest.raises(da.MethodError, match=r"device = 'simd': .*it runs on the 'cpu'"):
        da.simulate(system, da.Reference(), device="simd", h=0.1, steps=1, start={x: 0, x.dot: 1})


def run(compiler, emit, x, n):
    """What a function written against the emitter stores for each lane."""
    e = compiler.emitter("f", FUNCTION)
    with e.lanes(e.argument("first"), e.argument("last")) as lane:
        emit(e, lane)
    function = compiler.load(compiler.compile_module(e.module(), 10_000), "f", FUNCTION)
    out = np.zeros(len(x))
    given = [np.ascontiguousarray(a) for a in (x, n, out)]
    memories = [Memory("numbers", a, a.dtype, a.shape) for a in given]
    function(memories, len(x), 0, ())
    return out


class Program:
    """A random program with loops, branches and arrays, whose numbers are whole, so that nothing is rounded."""

    def __init__(self, seed):
        self.seed = seed

    def __call__(self, e, lane):
        self.choice, self.e = random.Random(self.seed), e
        self.reals = [e.local(3), e.local(12), e.local(1), e.local(5000)]
        self.counts = e.local(3, "integer")
        for array, size in zip(self.reals, (3, 12, 1, 12), strict=True):
            for i in range(size):
                e.store(array, e.arithmetic("mul", e.real(float(i)), e.load(e.array_argument("x"), lane)), i)
        for i in range(3):
            e.store(self.counts, e.integer_arithmetic("add", e.load(e.array_argument("n"), lane), i), i)
        e.store(self.reals[2], e.load(e.array_argument("x"), lane))
        self.block(3, looping=False)
        total = e.load(self.reals[2])
        for array, size in zip(self.reals, (3, 12, 1, 12), strict=True):
            for i in range(size):
                total = e.arithmetic("add", e.arithmetic("mul", total, e.real(0.5)), e.load(array, i))
        e.store(e.array_argument("out"), total, lane)

    def count(self):
        return self.e.integer_arithmetic("rem", self.e.load(self.counts, self.choice.randrange(3)), 7)

    def number(self):
        which, size = self.choice.choice(list(zip(self.reals, (3, 12, 1, 12), strict=True)))
        if self.choice.random() < 0.3:
            at = self.e.integer_arithmetic("rem", self.count(), size)
        else:
            at = self.choice.randrange(size)
        return which, at

    def condition(self):
        e, kind = self.e, self.choice.choice(("lt", "le", "eq", "ne"))
        if self.choice.random() < 0.5:
            found = e.integer_compare(kind, self.count(), self.choice.randrange(5))
        else:
            found = e.compare(kind, e.load(*self.number()), e.load(*self.number()))
        return e.opposite(found) if self.choice.random() < 0.3 else found

    def block(self, depth, looping):
        for _ in range(self.choice.randint(2, 4)):
            self.statement(depth, looping)

    def statement(self, depth, looping):
        e, kind = self.e, self.choice.random()
        if kind < 0.35 or depth == 0:
            a, b = e.load(*self.number()), e.load(*self.number())
            low = e.select(self.condition(), e.arithmetic("sub", a, b), e.arithmetic("add", a, e.real(1.0)))
            bounded = e.select(e.compare("lt", e.call("fabs", low), e.real(1e6)), low, e.real(3.0))
            array, at = self.number()
            e.store(array, bounded, at)
        elif kind < 0.5:
            more = e.integer_arithmetic("add", self.count(), self.choice.randrange(4))
            e.store(self.counts, more, self.choice.randrange(3))
        elif kind < 0.7:
            with e.when(self.condition()):
                self.block(depth - 1, looping)
        elif kind < 0.8 and looping:
            e.leave_if(self.condition())
        elif kind < 0.85:
            with e.loop(0, self.choice.choice((3, self.count()))) as i:
                e.store(self.reals[1], e.as_real(i), i)
                self.block(depth - 1, True)
        else:
            self.forever(depth)

    def forever(self, depth):
        """A loop that a lane leaves after some turns, and a value of its last turn used after it."""
        e, turns = self.e, self.e.local(1, "integer")
        e.store(turns, 0)
        with e.forever():
            seen = e.arithmetic("add", e.load(self.reals[2]), e.as_real(e.load(turns)))
            e.store(turns, e.after(e.load(turns)))
            e.leave_if(e.integer_compare("lt", self.count(), e.load(turns)))
            self.block(depth - 1, False)
        bounded = e.select(e.compare("lt", e.call("fabs", seen), e.real(1e6)), seen, e.real(1.0))
        array, at = self.number()
        e.store(self.reals[2], bounded)
        e.store(array, bounded, at)


def disagreements(emitter, seeds, width=4):
    """The random programs that give other numbers in vectors."""
    some = np.random.default_rng(0)
    x, n = some.integers(-5, 6, LANES).astype(float), some.integers(0, 9, LANES)
    vectors = backend(width, emitter)
    return [s for s in seeds if not same_bits(run(llvm, Program(s), x, n), run(vectors, Program(s), x, n))]


def test_random_programs_give_the_same_numbers_in_vectors():
    assert disagreements(simd.SimdEmitter, range(12)) == []


def test_a_value_of_a_loop_is_that_of_the_last_turn_of_the_lane():
    """The control: without it, it is that of the last turn of any lane."""

    class Plain(simd.SimdEmitter):
        def _from_loop(self, value):
            return value

    assert disagreements(Plain, range(4)) != []


def test_sparse_elimination():
    """Lanes of a ring of masses have the bits of each alone, and of the scalar code."""
    example = ring(16)
    many = da.simulate(device="simd", **example)
    assert same_bits(many.records, da.simulate(**example).records)
    for lane in range(3):
        alone = {p: np.broadcast_to(v, 3)[lane] for p, v in example["parameters"].items()}
        one = da.simulate(device="simd", **{**example, "parameters": alone})
        assert same_bits(many.records[lane], one.records[0])


@pytest.mark.parametrize("uniform", [True, False])
def test_lanes_that_leave_within_a_branch_are_gone_after_it(uniform):
    """The others go on to the end of the loop."""

    def emit(e, lane):
        total, n = e.local(1), e.load(e.array_argument("n"), lane)
        e.store(total, e.real(0.0))
        with e.loop(0, 5) as i:
            with e.when(e.integer_compare("lt", n, 3)):
                e.leave_if(e.integer_compare("eq", i, 2) if uniform else e.integer_compare("eq", n, i))
            e.store(total, e.arithmetic("add", e.load(total), e.real(1.0)))
        e.store(e.array_argument("out"), e.load(total), lane)

    n = np.arange(LANES) % 7
    expected = np.where(n < 3, 2 if uniform else n, 5.0)
    for compiler in (llvm, backend(4)):
        assert np.array_equal(run(compiler, emit, np.zeros(LANES), n), expected)


def test_all_passes_leave_the_bits_of_a_large_explicit_step(monkeypatch):
    """Time loops of large states that are short have all of LLVM's passes, loops in vectors included."""
    from itertools import pairwise

    from dalembert.engine import machine
    from dalembert.engine.arguments import Lanes
    from dalembert.engine.backends import llvm
    from dalembert.engine.run_options import Extent

    q = [da.coordinates(f"x{i}") for i in range(40)]
    springs = sum(da.exp(b - a) - (b - a) for a, b in pairwise([*q, q[0]]))
    ring = da.System("ring", q, kinetic=sum(c.dot**2 / 2 for c in q), potential=springs)
    step_map, found, compiled = da.StormerVerlet().step_map(ring), [], llvm.optimised
    monkeypatch.setenv("DALEMBERT_CACHE", "")
    for large in (True, False):
        seen = []
        monkeypatch.setattr(
            llvm,
            "optimised",
            lambda t, long, all, large=large, seen=seen: (seen.append(all), compiled(t, long, large))[1],
        )
        machine._function.cache_clear()
        stepper = machine.Stepper(step_map)
        lane = Lanes.begun(stepper.carry(np.sin(np.arange(80.0))[None]), np.zeros((1, 0)))
        out = np.zeros((1, 201, stepper.width))
        stepper.advance(lane, out, Extent(0.0, 0.05, 0, 200, 1), closing=True)
        found.append(out)
        assert seen == [True]
    machine._function.cache_clear()
    assert np.isfinite(found[0]).all()
    assert same_bits(*found)
