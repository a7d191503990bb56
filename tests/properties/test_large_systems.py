"""Large systems: sparse derivatives and substitutions are the plain ones, code grows with the system and not with its square,
and what is benchmarked is what it is said to be.
"""

import importlib
import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import sympy
from sympy import cos, sin

import dalembert as da
from dalembert.decide.zero import vanishes
from dalembert.engine import kernels
from dalembert.engine.backends.llvm import ON_STACK, LLVMEmitter
from dalembert.engine.linear import ZEROS, Matrix
from dalembert.engine.number_places import Vector
from dalembert.methods.stepping import Stepping
from dalembert.model.constraints import SHORT, linear_row
from dalembert.symbolic import MANY, fast, jacobian, numpy_function, partials, substitute, substitution, terms_of

m, k, alpha = da.parameters("m k alpha", positive=True)


@pytest.fixture(scope="module")
def systems():
    """The module of the benchmark."""
    folder = str(Path(__file__).parents[2] / "benchmarks")
    sys.path.insert(0, folder)
    yield importlib.import_module("large_systems")
    sys.path.remove(folder)


def long_sums(n):
    """Sums with more symbols than MANY, plain, within products, with branches, and beside a factor that moves too."""
    x = [da.coordinates(f"x{i}") for i in range(n)]
    springs = sympy.Add(*(k * (b - a) ** 4 + sin(a * b) for a, b in pairwise(x)))
    kinked = sympy.Add(*(sympy.Abs(a - 1) ** 3 for a in x))
    return x, [springs, m * springs / 2 + alpha * springs, kinked * m, x[0] * springs, sympy.exp(springs), x[1] ** 2]


@pytest.mark.slow
def test_sparse_derivatives_are_the_plain_ones():
    x, sums = long_sums(MANY + 8)
    found = partials(sums, x)
    for i, e in enumerate(map(fast, sums)):
        for j in (0, 1, 2, len(x) // 2, len(x) - 2, len(x) - 1):  # both ends, and one of the many alike
            assert vanishes(e.diff(fast(x[j])) - found.get((i, j), 0))
    assert {j for i, j in found if i == 5} == {1}  # nothing is kept of symbols that do not occur
    assert jacobian(sums, x)[5][0] == 0
    assert list(found) == sorted(found)


def test_substitution_of_what_occurs_is_substitution():
    x, sums = long_sums(MANY + 8)
    places = dict(zip(x, [*x[1:], x[0]], strict=True))
    at = substitution(places)
    for e in sums:
        plain = fast(e).subs({fast(a): fast(b) for a, b in places.items()})
        assert at(e) == substitute(e, places) == plain
    assert at(sums[5]) == fast(x[2]) ** 2 != fast(sums[5])
    assert substitution({fast(x[0]) ** 2: 1})(x[0] ** 2 + x[1]) == fast(x[1] + 1)  # not a symbol: as it is


def lines(system, method=None):
    """The lines of code of a run."""
    emitter = LLVMEmitter("run", dict(kernels.RUN_ARGUMENTS))
    kernels.emit_run(emitter, Stepping(system, method or da.Midpoint()).step_map())
    return emitter.module().count("\n")


def test_code_does_not_grow_with_the_number_of_masses(systems):
    """But for a factor that is left out where it is one."""
    lengths = [lines(systems.lattice(n)[0]) for n in (40, 80, 160)]
    assert max(lengths) - min(lengths) < 10


def test_code_of_a_dense_matrix_grows_with_its_square():
    """The control: there is an instruction for every entry that is not zero."""

    def stored(n, count):
        e = LLVMEmitter("run", {})
        Matrix(e, n, [divmod(place, n) for place in range(count)]).store(Vector(e, count, [e.real(1.0)] * count))
        return e.module().count("store double")

    n = 40
    assert stored(n, n * n) == n * n
    assert stored(n, n * n - ZEROS) == n * n
    assert stored(n, n) == n + 1


def test_large_arrays_are_on_the_heap_and_released():
    def text(size):
        e = LLVMEmitter("run", {})
        e.local(size)
        return e.module()

    assert "alloca" in text(ON_STACK)
    assert "malloc" not in text(ON_STACK)
    large = text(ON_STACK + 1)
    assert f"malloc(i64 {8 * (ON_STACK + 1)})" in large
    assert large.count("call void @free") == 1
    assert "alloca" not in large


@pytest.mark.slow
def test_a_matrix_larger_than_the_stack():
    """400 unknowns have a matrix of 1.3 MB, which was there twice: on a stack of 2 MB that ended the process."""
    code = (
        "import sys; sys.path.insert(0, 'benchmarks'); import large_systems, dalembert as da\n"
        "s, p, start = large_systems.lattice(400)\n"
        "run = da.simulate(s, da.Midpoint(), h=0.01, steps=2, parameters=p, start=start)\n"
        "print(run.status.name, len(run))"
    )
    root = Path(__file__).parents[2]
    done = subprocess.run(
        ["bash", "-c", 'ulimit -s 2048 && exec "$0" -c "$1"', sys.executable, code],
        cwd=root, capture_output=True, text=True, timeout=300, check=False,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
    )  # fmt: skip
    assert done.stdout.split() == ["CONVERGED", "3"], done.stderr


def test_steps_of_a_lattice_are_those_of_the_midpoint_rule(systems):
    """Against the rule written with arrays, for more unknowns than are written out anywhere."""
    n, h, steps = MANY + 8, 0.1, 20
    system, parameters, start = systems.lattice(n)
    run = da.simulate(system, da.Midpoint(), h=h, steps=steps, parameters=parameters, start=start)
    q, v = (np.array([start[s] for s in symbols]) for symbols in (system.coordinates, system.velocities))

    def force(x):
        stretch = np.diff(np.concatenate([[0], x, [0]]))
        return np.diff(stretch + 0.25 * stretch**2)

    for _ in range(steps):
        mean = v.copy()
        for _ in range(60):
            mean = v + h / 2 * force(q + h / 2 * mean)
        q, v = q + h * mean, 2 * mean - v
    np.testing.assert_allclose(run.records[0, -1, :n], q, atol=1e-13)
    assert np.abs(q - [start[c] for c in system.coordinates]).max() > 1e-3


x, y, a, b, c = q = da.coordinates("x y a b c")


def test_long_rows_of_constraints_are_not_multiplied_out():
    long = sum(cos(s) for s in q) * sum(sin(s) for s in q) * (1 + x + y + a) * (2 + b + c)
    row, rest = linear_row(long * x.dot + sin(a) * y.dot, q)
    assert terms_of(long) > SHORT
    assert row[0] == long
    assert (row[1], row[2], rest) == (sin(a), 0, 0)
    assert linear_row(x.dot * y * (1 + x), q)[0][0] == y + x * y  # short ones are


def test_rows_that_cancel_only_by_value_are_found():
    long = sum(cos(s) for s in q) * sum(sin(s) for s in q) * (1 + x + y + a) * (2 + b + c)
    nothing = long - sympy.expand(long)
    row, rest = linear_row(y.dot + nothing * x.dot + nothing, q)
    assert (row[0], row[1], rest) == (0, 1, 0)
    affine = linear_row((x.dot + 1) ** 2 - x.dot**2 + y.dot, q)  # velocities cancel when multiplied out
    assert affine is not None
    assert (affine[0][0], affine[1]) == (2, 1)
    assert linear_row((x.dot + 1) ** 2 + y.dot, q) is None  # the control


SPEED = 5.0
WEAVE, CAPSIZE, CASTER = -0.77534188219585 + 4.46486771378823j, -0.32286642900409, -14.07838969279822
"""The motions of the upright bicycle at that speed: J. P. Meijaard et al., Proc. R. Soc. A 463 (2007), table 2."""


class Upright:
    """A bicycle that leans and steers a little, with rates of both; everything else follows from the constraints."""

    def __init__(self, benchmark):
        self.system, self.values = benchmark.bicycle().system, benchmark.BICYCLE
        self.q = {s.name: s for s in self.system.coordinates}
        self.parameters = {s: self.values[s.name] for s in self.system.parameters}
        symbols = [*self.system.coordinates, *self.system.parameters]
        rows = sympy.Matrix([c.coefficients for c in self.system.constraints])
        (touching,) = self.system.holonomic
        self._rows, self._height = (numpy_function(symbols, e) for e in (rows, touching.expression))

    def rates(self, state):
        """The rates of lean, steer and their rates."""
        lean, steer, *speeds = state
        at = dict.fromkeys(self.q, 0.0) | {"lean": lean, "steer": steer, "pitch": -self.values["tilt"]}
        numbers = list(self.parameters.values())
        for _ in range(8):  # the front wheel touches the ground
            height = [self._height(*(at | {"pitch": at["pitch"] + d}).values(), *numbers) for d in (0, 1e-6)]
            at["pitch"] -= height[0] * 1e-6 / (height[1] - height[0])
        rows, names = np.array(self._rows(*at.values(), *numbers), float), list(self.q)
        given = {"lean": speeds[0], "steer": speeds[1], "rear": SPEED / self.values["rR"]}
        known, free = [[names.index(n) for n in names if (n in given) == one] for one in (True, False)]
        velocity = np.array([given.get(n, 0.0) for n in names])
        velocity[free] = np.linalg.solve(rows[:, free], -rows[:, known] @ velocity[known])
        place = {s: at[n] for n, s in self.q.items()} | dict(zip(self.system.velocities, velocity, strict=True))
        found = da.evaluate(self.system, at=place, parameters=self.parameters).accelerations
        return np.array([*speeds, found[self.q["lean"]], found[self.q["steer"]]])

    def motions(self):
        """The eigenvalues of small motions."""
        step = 1e-4 * np.eye(4)
        return np.linalg.eigvals(np.column_stack([(self.rates(d) - self.rates(-d)) / 2e-4 for d in step]))


@pytest.mark.slow
def test_the_bicycle_is_that_of_whipple(systems):
    upright = Upright(systems)
    assert len(upright.system.coordinates) == 8
    assert (len(upright.system.holonomic), len(upright.system.kinematic)) == (1, 4)
    found = sorted(upright.motions(), key=lambda z: (z.real, z.imag))
    np.testing.assert_allclose(found, [CASTER, WEAVE.conjugate(), WEAVE, CAPSIZE], rtol=1e-5)
    upright.values = {**upright.values, "trail": 0.04}  # the control: another bicycle moves otherwise
    upright.parameters = {s: upright.values[s.name] for s in upright.system.parameters}
    assert abs(max(upright.motions().real) - CAPSIZE) > 1e-2
