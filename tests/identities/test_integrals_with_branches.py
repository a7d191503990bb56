"""First integrals of systems with Abs, Max, Min, sign, Piecewise and Heaviside: what is reported is constant on motions."""

from __future__ import annotations

import itertools
import random
import subprocess
import sys
import threading
from time import process_time

import numpy as np
import pytest
import sympy
from sympy import Abs, Heaviside, Max, Min, Piecewise, sign, sqrt

import dalembert as da
from dalembert.decide.zero import vanishes
from dalembert.symbolic import vectorised
from dalembert.theory.conserved.on_shell import shell

x, y = da.coordinates("x y")
k, a = da.parameters("k a", positive=True)


def plane(potential, **more):
    return da.System("plane", [x, y], kinetic=(x.dot**2 + y.dot**2) / 2, potential=potential, **more)


def names(system):
    return [i.name for i in da.first_integrals(system)]


def largest_change(system, integrals, seed):
    """How much some quantities change along a motion, relative to the largest of their terms."""
    symbols = [*system.coordinates, *system.velocities, da.time]
    at = dict(zip(shell(system).symbols, map(float, shell(system).states(1, seed).inputs[0]), strict=True))
    run = da.simulate(
        system, da.Reference(), h=0.05, steps=60, start={s: at[s] for s in symbols}, parameters={}, strict=False
    )  # fmt: skip
    rows = np.column_stack([*(run[s] for s in symbols[:-1]), run.time])
    rows = rows[np.isfinite(rows).all(axis=1)]
    changes = [0.0]
    for e in integrals:
        terms = vectorised(symbols, [e, *sympy.Add.make_args(sympy.expand(e))])(rows)
        changes.append(np.abs(terms[:, 0] - terms[0, 0]).max() / np.abs(terms[:, 1:]).max())
    return max(changes)


def kinked(seed):
    """A random potential with kinks."""
    rng = random.Random(seed)
    number = lambda: sympy.Float(rng.choice(("0.3", "1.7", "2.5", "0.75")))  # noqa: E731
    u, w = (rng.choice([x, y, x - number(), x - number() * y, x**2 + y**2 - number()]) for _ in range(2))
    terms = [
        Abs(u), Max(u, 0), Max(u, w, 0), Min(u, w), u * sign(u), u**2 * Heaviside(u), Piecewise((0, u < 0), (u**2, True)),
        Max(Abs(x), Abs(y)), Max(0, u) * Max(0, w), sqrt(Abs(u) + 1), sympy.exp(-Abs(u)),
    ]  # fmt: skip
    return plane(sum(number() * t for t in rng.sample(terms, 2)) + rng.choice([0, x**2 + y**2]))


@pytest.mark.parametrize("seed", range(8))
def test_what_is_reported_is_constant(seed):
    system = kinked(seed)
    found = da.first_integrals(system)
    assert "energy" in [i.name for i in found]
    assert largest_change(system, [i.expression for i in found], seed) < 1e-6


def test_control_a_quantity_that_jumps_is_not_constant():
    """Its rate is zero on either side of x = 0, and it changes from one side to the other."""
    system = plane(x * sign(x))
    assert largest_change(system, [da.time + x.dot * sign(x)], 3) > 1e-2
    assert names(system) == names(plane(Abs(x)))


@pytest.mark.parametrize(
    "potential", [Abs(x), Max(x, 0), Min(x, y), x * sign(x), x**2 * Heaviside(x), k * Heaviside(x - a) * (x - a) ** 2]
)
def test_nothing_that_jumps_is_reported(potential):
    for i in da.first_integrals(plane(potential)):
        for place in [Heaviside, sign]:
            assert not i.expression.has(place) or i.name.startswith("energy"), i


def test_a_potential_that_is_switched_on_changes_the_energy():
    """dL/dt is zero before and after."""
    switched = plane(Piecewise((0, da.time < 1), (x**2 / 2, True)))
    found = da.first_integrals(switched)
    assert {"energy": "the Lagrangian jumps in time"}.items() <= {i.name: i.reason for i in found.not_conserved}.items()
    assert "energy" in names(plane(Piecewise((0, x < 1), ((x - 1) ** 2, True))))  # the control


@pytest.mark.parametrize("force", [-Max(0, x.dot), -sign(x.dot), -Abs(x.dot)])
def test_a_force_linear_in_every_branch_is_not_linear(force):
    """-|v| is no derivative of a function of position."""
    assert "momentum of x, balanced" not in names(plane(0, forces={x: force}))
    assert not da.noether(plane(0, forces={x: force}), {x: 1}).conserved
    assert "momentum of x, balanced" in names(plane(0, forces={x: -x.dot}))  # the control


def test_a_branch_behind_two_boundaries_is_seen():
    system = plane(Max(0, -x) * Max(0, y - 1))
    assert names(system) == ["energy"]
    assert {"momentum of x", "momentum of y"} <= {i.name for i in da.first_integrals(system).not_conserved}


@pytest.mark.parametrize("potential", [sign(x), Heaviside(x - 1), Piecewise((x**2, x < 1), (0, True)), sympy.floor(x)])
def test_a_lagrangian_that_jumps_is_refused(potential):
    with pytest.raises(da.ModelError, match=r"jumps.*impulse"):
        plane(potential)


def test_momenta_that_jump_are_refused():
    with pytest.raises(da.ModelError, match=r"the momentum of x, .* jumps where"):
        da.System("dry", [x], lagrangian=x.dot**2 / 2 + Abs(x.dot))
    assert da.System("smooth", [x], lagrangian=x.dot**2 / 2 + Abs(x.dot) ** 3).coordinates == (x,)  # the control


@pytest.mark.parametrize("n", [5, pytest.param(10, marks=[pytest.mark.slow, pytest.mark.verify])])
def test_many_integrals_take_no_long_time(n):
    """Some weights, twice as many integrals: once these are known, all others are functions of them."""
    q = da.coordinates(" ".join(f"x{i}" for i in range(n)))
    weights = da.System("weights", q, kinetic=sum(c.dot**2 for c in q) / 2, potential=sum(q))
    assert da.first_integrals(weights).independent == 2 * n


@pytest.mark.parametrize("name, seconds", [("poggendorff-pulleys", 3), ("wedge-and-disc", 1)])
def test_simple_machines_are_quick(name, seconds):
    """Time of the processor, in a process of its own, without imports."""
    code = (
        "import time, dalembert as da; from dalembert import gallery; da.first_integrals;"
        f"s = gallery.load({name!r}).system; t = time.process_time(); da.first_integrals(s); print(time.process_time() - t)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert float(done.stdout) < seconds


@pytest.mark.parametrize("n, held, seconds", [(10, True, 5), (100, True, 30), (100, False, 40)])
def test_long_chains_end(n, held, seconds):
    """Held at one end a chain has its energy; free, its total momentum and the uniform motion of its centre too."""
    q, m = [da.coordinates(f"q{i}") for i in range(n)], da.parameters("m", positive=True)
    springs = [(a - b) ** 2 for a, b in itertools.pairwise(q)] + ([q[0] ** 2] if held else [])
    chain = da.System("chain", q, kinetic=m * sum(c.dot**2 for c in q) / 2, potential=k * sum(springs) / 2)
    start = process_time()
    found = [i.expression for i in da.first_integrals(chain)]
    assert process_time() - start < seconds
    assert any(vanishes(e - m * sum(c.dot for c in q)) for e in found) is not held
    assert len(found) == (1 if held else 3)


def test_a_thread_gives_the_same_integrals():
    found, system = [], plane(Abs(x) + Max(y, 1))
    thread = threading.Thread(target=lambda: found.append(names(system)))
    thread.start()
    thread.join(120)
    assert found == [names(system)]


@pytest.mark.parametrize("potential", [k * Abs(x) + y**2, k * Max(x, y), k * Abs(x - y)], ids=str)
def test_a_force_that_jumps_is_not_said_to_be_a_derivative(potential):
    """k sign(x) has no slope between its jumps; that does not make it the rate of something."""
    for momentum in da.first_integrals(plane(potential)).not_conserved:
        assert "total derivative" not in momentum.reason
    steady = plane(k * x)
    assert any("derivative of" in i.reason for i in da.first_integrals(steady))
