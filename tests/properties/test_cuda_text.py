"""The CUDA source, compiled as C++ for this processor: the same motions as by LLVM, without a GPU."""

import ctypes
import shutil
import subprocess
from itertools import pairwise

import mpmath
import numpy as np
import pytest

import dalembert as da
from dalembert.engine.backends import cuda_text, llvm
from dalembert.engine.backends.cuda_angles import together
from dalembert.engine.machine import BACKENDS, COARSER

COMPILER = next(filter(None, map(shutil.which, ("g++", "clang++", "c++"))), None)
pytestmark = pytest.mark.skipif(
    COMPILER is None, reason="no C++ compiler was found: the CUDA source cannot be compiled"
)

_C_TYPES = {"real": ctypes.c_double, "integer": ctypes.c_int64}


class OnThisProcessor:
    """A back end that prints CUDA C and executes it here, in groups of two lanes, with a copy of what it writes."""

    own_memory, patience = True, 0.1
    kept = staticmethod(llvm.kept)

    def __init__(self, folder, precision="double"):
        self.folder, self.precision = folder, precision

    def emitter(self, name, arguments):
        return cuda_text.CudaEmitter(name, arguments, self.precision)

    def processor(self):
        return f"text {self.folder}"

    def compile_module(self, text, most):
        source, made = self.folder / "lanes.cpp", self.folder / "lanes.so"
        source.write_text(text)
        subprocess.run([COMPILER, "-O1", "-shared", "-fPIC", "-o", made, source], check=True)
        return made.read_bytes()

    def is_object(self, code):
        return code.startswith(b"\x7fELF")

    def load(self, code, name, arguments):
        made = self.folder / f"{abs(hash(code))}.so"
        made.write_bytes(code)
        function = ctypes.CDLL(str(made))[name]
        function.argtypes = [_C_TYPES.get(kind, ctypes.c_void_p) for kind in arguments.values()]
        function.restype = None

        def call(memories, lanes, work, numbers):
            at = [m.array.ctypes.data for m in memories]
            for first, last in pairwise([*range(0, lanes, 2), lanes]):
                function(*at, first, last, *numbers)

        return call


@pytest.fixture
def device(tmp_path, monkeypatch):
    name = f"text {tmp_path}"  # compiled steps are kept by the name of the device
    monkeypatch.setitem(BACKENDS, name, OnThisProcessor(tmp_path))
    for precision in COARSER:
        (tmp_path / precision).mkdir()
        monkeypatch.setitem(BACKENDS, f"{name} {precision}", OnThisProcessor(tmp_path / precision, precision))
    monkeypatch.setenv("DALEMBERT_CACHE", "")
    return name


def both(name, method, device, **more):
    """The same motions, computed twice."""
    example = da.gallery.load(name)
    first = next(iter(example.parameters))
    parameters = {**example.parameters, first: float(example.parameters[first]) * np.linspace(1, 1.01, 5)}
    given = {"h": example.h, "steps": 100, "parameters": parameters, "start": example.start, **more}
    precision = given.pop("precision", "double")
    return [
        da.simulate(example.system, method, **given),
        da.simulate(example.system, method, device=device, precision=precision, **given),
    ]


def difference(one, other):
    """The largest difference of recorded numbers, relative to the largest: single columns may be rounding noise."""
    a, b = one.records, other.records
    return np.nanmax(np.abs(a - b)) / np.nanmax(np.abs(a))


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
def test_the_source_computes_the_motions_of_the_cpu(name, method, device):
    one, other = both(name, method, device)
    assert difference(one, other) < 1e-11
    assert np.array_equal(one.codes[:, :2], other.codes[:, :2])


@pytest.mark.parametrize("precision", COARSER)
@pytest.mark.parametrize(
    "name, method",
    [
        ("double-pendulum", da.Midpoint()),
        ("double-pendulum", da.RungeKutta4()),
        ("rolling-disk", da.Midpoint()),
        ("heavy-top", da.Midpoint()),
        ("two-gas-chambers", da.Midpoint()),
        ("kepler", da.Composition(da.Midpoint(), 4)),
    ],
    ids=str,
)
def test_with_fewer_digits_the_motions_are_those_of_floats(name, method, precision, device):
    """A hundred steps: as far from the double ones as their rounding, and solved to it with no more iterations."""
    one, other = both(name, method, device, precision=precision)
    assert 1e-9 < difference(one, other) < 4e-6
    assert np.array_equal(one.codes[:, :2], other.codes[:, :2])
    assert other.codes[:, 3].sum() <= one.codes[:, 3].sum()
    assert other.search.tolerance > 1e-9 > one.search.tolerance


@pytest.mark.parametrize("precision", COARSER)
def test_floats_raise_no_doubt_of_their_own(precision, device):
    """Rounding of floats is not taken for a search that goes astray: thousands of chaotic steps, none of them in doubt."""
    example = da.gallery.load("double-pendulum")
    first = next(iter(example.parameters))
    parameters = {**example.parameters, first: float(example.parameters[first]) * np.linspace(1, 1.1, 300)}
    given = {"h": example.h, "steps": 1000, "every": 1000, "parameters": parameters, "start": example.start}
    run = da.simulate(example.system, da.Midpoint(), device=device, precision=precision, **given)
    assert not run.codes[:, 0].any()


def test_sums_of_floats_keep_what_they_round(device):
    """Twenty thousand steps: the energy stays within the rounding of one float, and times are doubles."""
    x = da.coordinates("x")
    spring = da.System("spring", [x], kinetic=x.dot**2 / 2, potential=x**2 / 2)
    given = {"h": 0.05, "steps": 20_000, "every": 100, "start": {x: np.array([1.0, 0.3]), x.dot: 0.0}, "device": device}
    for precision in COARSER:
        run = da.simulate(spring, da.StormerVerlet(), precision=precision, **given)
        energy = run.quantity(x.dot**2 / 2 + x**2 * (1 - 0.05**2 / 4) / 2)  # which the method conserves
        assert np.abs(energy / energy[:, :1] - 1).max() < 1e-5
    double = da.simulate(spring, da.StormerVerlet(), **given)
    assert np.abs(double.x - run.x).max() < 1e-3  # a phase error of 1e-6 each unit of time
    force = da.System("pushed", [x], kinetic=x.dot**2 / 2, potential=-x * da.cos(da.time))
    pushed = {"h": 0.1, "steps": 10, "start": {x: 0.0, x.dot: 0.0, da.time: 1e5}}
    a, b = (
        da.simulate(force, da.Midpoint(), **pushed, **more) for more in ({}, {"device": device, "precision": "mixed"})
    )
    assert np.abs(a.x - b.x).max() < 1e-2  # cos(t) of a float t is wrong by 4e-3


def test_fewer_digits_belong_to_gpus():
    x = da.coordinates("x")
    system = da.System("ball", coordinates=[x], kinetic=x.dot**2 / 2)
    given = {"h": 0.1, "steps": 1, "start": {x: 0, x.dot: 1}}
    for device in ("cpu", "simd"):
        with pytest.raises(da.MethodError, match=rf"precision = 'single': device '{device}' computes with doubles"):
            da.simulate(system, da.Midpoint(), device=device, precision="single", **given)
    with pytest.raises(da.MethodError, match=r"precision = 'half'\. Expected one of 'double', 'single', 'mixed'"):
        da.simulate(system, da.Midpoint(), device="cuda", precision="half", **given)
    with pytest.raises(da.MethodError, match=r"Expected one of 'cpu', 'simd', 'cuda'\."):
        da.simulate(system, da.Midpoint(), device="cuda single", **given)


ULPS = """
extern "C" void table(const double *x, double *s, double *c, float *t, float *d, long n) {
  for (long i = 0; i < n; i++) {
    sine_and_cosine(x[i], s + i, c + i);
    sine_and_cosine((float)x[i], t + i, d + i);
  }
}
"""


def test_sine_and_cosine_of_the_source_have_errors_below_two_units(tmp_path):
    """In the last place, over the whole range; beside multiples of pi/2 too, where digits cancel."""
    (tmp_path / "s.cpp").write_text(cuda_text.PRELUDE + ULPS)
    subprocess.run([COMPILER, "-O1", "-shared", "-fPIC", "-o", tmp_path / "s.so", tmp_path / "s.cpp"], check=True)
    rng = np.random.default_rng(3)
    x = np.concatenate([rng.uniform(-8, 8, 400), np.exp(rng.uniform(-20, 40, 400)), np.pi / 2 * np.arange(400)])
    made = [np.empty(len(x), dtype=kind) for kind in ("f8", "f8", "f4", "f4")]
    pointers = [a.ctypes.data_as(ctypes.c_void_p) for a in (x, *made)]
    ctypes.CDLL(str(tmp_path / "s.so")).table(*pointers, ctypes.c_long(len(x)))
    with mpmath.workdps(60):
        for given, found in ((x, made[:2]), (x.astype("f4"), made[2:])):
            for function, values in zip((mpmath.sin, mpmath.cos), found, strict=True):
                exact = [function(mpmath.mpf(float(v))) for v in given]
                errors = [abs(float(e - mpmath.mpf(float(v)))) for e, v in zip(exact, values, strict=True)]
                assert (np.array(errors) / np.abs(np.spacing(values))).max() < 2


@pytest.mark.parametrize("precision", ["double", *COARSER])
def test_failures_are_told_lane_by_lane(device, precision):
    """x'' = 1/x^2 towards x = 0, from one of three starts; the others go on."""
    x = da.coordinates("x")
    system = da.System("fall", coordinates=[x], kinetic=x.dot**2 / 2, potential=-1 / x)
    given = {"h": 0.01, "steps": 100, "start": {x: np.array([1.0, 0.02, 2.0]), x.dot: 0.0}, "strict": False}
    runs = [da.simulate(system, da.Midpoint(), **given), None]
    runs[1] = da.simulate(system, da.Midpoint(), device=device, precision=precision, **given)
    assert runs[0].codes[:, :2].tolist() == runs[1].codes[:, :2].tolist()
    assert runs[1].codes[1, 0] and not runs[1].codes[[0, 2], 0].any()
    assert np.isnan(runs[1].x[1, -1])


def test_events_continuation_and_thinning(device):
    x = da.coordinates("x")
    system = da.System("ball", coordinates=[x], kinetic=x.dot**2 / 2, potential=x * 981 / 100)
    bounce = da.Event(x, direction=-1, action={x.dot: -x.dot * 0.9})
    given = {"h": 0.01, "start": {x: np.array([1.0, 2.0]), x.dot: 0.0}, "events": bounce, "every": 3}
    runs = [da.simulate(system, da.Midpoint(), steps=150, device=place, **given) for place in ("cpu", device)]
    assert difference(*runs) < 1e-9
    given.pop("events"), given.pop("start")
    plain = {"h": 0.01, "every": 3, "device": device}
    whole = da.simulate(system, da.Midpoint(), steps=40, start={x: 1, x.dot: 0}, **plain)
    part = da.simulate(system, da.Midpoint(), steps=17, start={x: 1, x.dot: 0}, **plain)
    rest = da.simulate(system, da.Midpoint(), steps=23, start=part, **plain)
    assert np.array_equal(np.append(part.x, rest.x), whole.x)


def test_numbers_kept_over_all_nodes(device):
    """Reductions are computed where the steps are, and so is what is recorded at some of them."""
    record = {"energy": "drift", "theta1": ("largest", "smallest", "mean"), "theta2.dot": "largest"}
    one, other = both("double-pendulum", da.Midpoint(), device, record=record, every=7)
    assert len(one.reductions) == 5 and one.records.shape == other.records.shape
    for name, values in one.reductions.items():
        assert np.allclose(other.reductions[name], values, rtol=1e-9, atol=1e-12), name
    whole = both("double-pendulum", da.Midpoint(), device)[1]
    assert np.array_equal(other.records, whole.records[:, ::7])


def test_multipliers_and_entropies_are_outputs_and_states(device):
    one, other = both("rolling-disk", da.Midpoint(), device)
    assert one.multipliers.shape == other.multipliers.shape and np.abs(one.multipliers).max() > 0
    assert np.allclose(one.multipliers, other.multipliers, rtol=0, atol=1e-9 * np.nanmax(np.abs(one.multipliers)))
    one, other = both("two-gas-chambers", da.Midpoint(), device)
    S = one.system.entropies[0]
    assert np.allclose(one[S], other[S], rtol=1e-10) and np.ptp(one[S]) > 0


@pytest.mark.parametrize("function", ["exp", "log", "atan2", "pow", "asin", "tanh"])
def test_functions_of_the_source_are_those_of_the_cpu(function, device):
    x, y = da.coordinates("x y")
    made = {
        "exp": da.exp(x), "log": da.log(2 + x), "atan2": da.atan2(y, 2 + x), "pow": (5 + x) ** 1.7 / 10,
        "asin": da.asin(x / 4), "tanh": da.tanh(x),
    }[function]  # fmt: skip
    system = da.System("bend", coordinates=[x, y], kinetic=(x.dot**2 + y.dot**2) / 2, potential=made + x**2 + y**2)
    start = {x: np.array([0.1, 0.2, 0.3]), y: 0.5, x.dot: 0.2, y.dot: 0.1}
    runs = [da.simulate(system, da.Midpoint(), h=0.05, steps=40, start=start, device=d) for d in ("cpu", device)]
    assert difference(*runs) < 1e-12 and np.array_equal(runs[0].codes[:, :2], runs[1].codes[:, :2])


def test_angles_of_one_piece_of_code_are_computed_together():
    """Calls share a branch if neither needs the other; what arguments need comes before, and no store is passed."""
    lines = ["sine_and_cosine(v1, &v2, &v3);", "v4 = v2 * v1;", "v5 = a1[0];", "v6 = v5 + v1;"]
    lines += ["sine_and_cosine(v6, &v7, &v8);", "sine_and_cosine(v4, &v9, &v10);"]
    made = together(lines)
    assert made[:2] == ["v5 = a1[0];", "v6 = v5 + v1;"]
    assert made[2].startswith("if (is_near(v1) && is_near(v6)) {") and made[3:] == [lines[1], lines[5]]
    stored = [lines[0], "a1[0] = v2;", *lines[2:5]]
    assert together(stored) == stored
    apart = [lines[0], "if (v11) {", *lines[2:5], "}"]
    assert together(apart) == apart


def test_a_wrong_sign_is_seen(device, monkeypatch):
    """The control."""

    monkeypatch.setattr(cuda_text.CudaEmitter, "negative", lambda self, a: a)
    try:
        one, other = both("double-pendulum", da.Midpoint(), device)
    except da.SimulationError:
        return
    assert difference(one, other) > 1e-3


def test_devices_are_named():
    x = da.coordinates("x")
    system = da.System("ball", coordinates=[x], kinetic=x.dot**2 / 2)
    given = {"h": 0.1, "steps": 1, "start": {x: 0, x.dot: 1}}
    with pytest.raises(da.MethodError, match=r"device = 'gpu'\. Expected one of 'cpu', 'simd', 'cuda'"):
        da.simulate(system, da.Midpoint(), device="gpu", **given)
    with pytest.raises(da.MethodError, match="it runs on the 'cpu'"):
        da.simulate(system, da.Reference(), device="cuda", **given)


@pytest.mark.skipif(shutil.which("nvidia-smi") is not None, reason="there is a GPU")
def test_without_a_gpu_the_message_says_what_is_needed():
    x = da.coordinates("x")
    system = da.System("ball", coordinates=[x], kinetic=x.dot**2 / 2)
    with pytest.raises(da.MethodError, match=r"needs an NVIDIA GPU and CuPy \(pip install dalembert\[gpu\]\)"):
        da.simulate(system, da.Midpoint(), h=0.1, steps=1, start={x: 0, x.dot: 1}, device="cuda")


@pytest.mark.skipif(shutil.which("nvidia-smi") is None, reason="there is no GPU")
@pytest.mark.parametrize("name", ["double-pendulum", "rolling-disk", "two-gas-chambers", "heavy-top"])
def test_a_gpu_computes_the_motions_of_the_cpu(name):
    one, other = both(name, da.Midpoint(), "cuda")
    assert difference(one, other) < 1e-11


@pytest.mark.verify
@pytest.mark.skipif(shutil.which("nvidia-smi") is None, reason="there is no GPU")
@pytest.mark.parametrize("name", [n for n in da.gallery.names() if not n.startswith("appell")])
def test_a_gpu_computes_the_gallery(name):
    one, other = both(name, da.Midpoint(), "cuda", steps=50)
    assert difference(one, other) < 1e-10
    assert np.array_equal(one.codes[:, :2], other.codes[:, :2])


def test_sparse_elimination(device):
    """A ring of masses, whose matrices are factored by tables."""
    example = ring(16)
    one, other = (da.simulate(device=place, **example) for place in ("cpu", device))
    assert difference(one, other) < 1e-12
    assert np.array_equal(one.codes, other.codes)


def ring(n):
    """Masses on a ring between springs that harden; their masses differ from lane to lane."""
    q = [da.coordinates(f"x{i}") for i in range(n)]
    m, k = da.parameters("m k", positive=True)
    stretch = [b - a for a, b in pairwise([*q, q[0]])]
    system = da.System(
        "ring",
        q,
        kinetic=sum(m * c.dot**2 / 2 for c in q),
        potential=sum(k * s**2 / 2 + s**4 / 4 for s in stretch) + q[0] ** 2,
    )
    start = {c: np.sin(i) for i, c in enumerate(q)} | {c.dot: 0.0 for c in q}
    parameters = {m: np.array([1.0, 2.0, 3.0]), k: 1.0}
    return {"system": system, "method": da.Midpoint(), "h": 0.1, "steps": 40, "parameters": parameters, "start": start}


@pytest.mark.parametrize("suffix", ["nc", "zarr"])
def test_a_run_is_continued_in_its_own_precision(device, suffix, tmp_path):
    """The carry of another precision would be taken for its own; a file carries the precision too."""
    x = da.coordinates("x")
    spring = da.System("spring", [x], lagrangian=x.dot**2 / 2 - x**2 / 2)
    given = {"h": 0.1, "steps": 20, "device": device}
    begin = {"start": {x: 1, x.dot: 0}}
    run = da.simulate(spring, da.Midpoint(), precision="mixed", **given, **begin)
    assert run.precision == "mixed" and da.simulate(spring, da.Midpoint(), **given, **begin).precision == "double"
    kept = da.load(run.save(tmp_path / f"a.{suffix}"))
    assert kept.precision == "mixed"
    for precision in ("double", "single"):
        for start in (run, kept):
            with pytest.raises(da.StartError, match="here the precision cannot be continued with"):
                da.simulate(spring, da.Midpoint(), start=start, precision=precision, **given)
    whole = da.simulate(spring, da.Midpoint(), precision="mixed", **given | {"steps": 40}, **begin)
    later = da.simulate(spring, da.Midpoint(), start=kept, precision="mixed", **given)
    assert np.array_equal(later.x, whole.x[20:])
    checkpoint = {"checkpoint": tmp_path / f"b.{suffix}", "checkpoint_every": 10}
    da.simulate(spring, da.Midpoint(), precision="mixed", **given, **begin, **checkpoint)
    with pytest.raises(da.StartError, match="holds another run: its precision differ"):
        da.simulate(spring, da.Midpoint(), precision="single", **given, **begin, **checkpoint)


def test_a_study_on_a_gpu(device, tmp_path):
    """The lanes of a study by the code for GPUs, which its store names; a lane alone has the same bits."""
    example = da.gallery.load("pendulum")
    (angle,) = example.system.coordinates
    given = {
        "h": 0.02, "steps": 100, "start": example.start, "parameters": example.parameters, "progress": False, "workers": 0,
        "vary": {angle: np.linspace(0.5, 2, 7)}, "record": {angle: "largest"}, "chunk": 3,
    }  # fmt: skip
    one = da.sweep(example.system, da.Midpoint(), store=tmp_path / "a.zarr", **given)
    other = da.sweep(example.system, da.Midpoint(), store=tmp_path / "b.zarr", device=device, **given)
    assert other.dataset.attrs["device"] == device and one.dataset.attrs["device"] == "cpu"
    for name in ("end theta", "end theta.dot", "largest theta"):
        a, b = one.dataset[name].values, other.dataset[name].values
        assert np.abs(a - b).max() < 1e-12 and np.isfinite(b).all()
    for lane in range(7):
        assert other.run(lane, every=100)[angle][-1] == other.dataset["end theta"][lane]
    with pytest.raises(da.StartError, match="its device differ"):
        da.sweep(example.system, da.Midpoint(), store=tmp_path / "a.zarr", device=device, **given)
