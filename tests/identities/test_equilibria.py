"""Equilibria, linearised motion and normal modes: the same things said two ways, and what must fail."""

from __future__ import annotations

import re
from itertools import pairwise

import numpy as np
import pytest
import sympy

import dalembert as da
from dalembert import cos, sin
from dalembert.analysis.equilibria.normal_modes import _component
from dalembert.analysis.equilibria.stability import kernel
from dalembert.decide.budget import Budget
from dalembert.decide.zero import vanishes
from dalembert.rigour.enclosure import Enclosure
from dalembert.rigour.interval import Interval
from dalembert.rigour.isolation import Problem, isolate
from dalembert.symbolic import fast

x, y, z, theta, phi, psi, alpha, beta = da.coordinates("x y z theta phi psi alpha beta")
m, g, l, k, c, A, C, n, mu = da.parameters("m g l k c A C n mu", positive=True)


# the same physics in two kinds of coordinates


def double_pendulum_cartesian():
    x1, y1, x2, y2 = da.coordinates("x1 y1 x2 y2")
    return da.System(
        "double pendulum, Cartesian",
        [x1, y1, x2, y2],
        kinetic=m * (x1.dot**2 + y1.dot**2 + x2.dot**2 + y2.dot**2) / 2,
        potential=m * g * (y1 + y2),
        constraints=[x1**2 + y1**2 - l**2, (x2 - x1) ** 2 + (y2 - y1) ** 2 - l**2],
    )


VALUES = {m: 1.3, g: 9.81, l: 0.7}


@pytest.mark.slow
def test_cartesian_and_angles_have_the_same_equilibria_and_frequencies():
    cartesian = double_pendulum_cartesian()
    u, w = da.coordinates("theta1 theta2")
    angles = da.System(
        "double pendulum",
        [u, w],
        kinetic=m * l**2 * (2 * u.dot**2 + w.dot**2 + 2 * u.dot * w.dot * cos(u - w)) / 2,
        potential=-m * g * l * (2 * cos(u) + cos(w)),
    )
    box = dict.fromkeys(cartesian.coordinates, (-1.5, 1.5))
    first = da.equilibria(cartesian, parameters=VALUES, box=box)
    second = da.equilibria(angles, parameters=VALUES)
    assert first.complete and second.complete and len(first) == len(second) == 4
    matched = 0
    for e in second:
        place = [l_ * f for l_, f in ((0.7, np.sin(e[u])), (-0.7, np.cos(e[u])))]
        place += [place[0] + 0.7 * np.sin(e[w]), place[1] - 0.7 * np.cos(e[w])]
        for f in first:
            if np.allclose([f[q] for q in cartesian.coordinates], place, atol=1e-12):
                matched += 1
                assert f.stability.verdict == e.stability.verdict
                pair = (da.normal_modes(s, at=at).exponents ** 2 for s, at in ((cartesian, f), (angles, e)))
                assert np.allclose(*pair, rtol=1e-11)
                forces = da.evaluate(cartesian, at=f.state, parameters=VALUES).multipliers
                assert f.multipliers == pytest.approx(forces, rel=1e-12)
    assert matched == 4


def test_control_without_the_curvature_of_the_constraint_frequencies_are_wrong():
    lin = da.linearise(double_pendulum_cartesian(), about={"x1": 0, "y1": -l, "x2": 0, "y2": -2 * l})
    right = {(2 - sympy.sqrt(2)) * g / l, (2 + sympy.sqrt(2)) * g / l}
    assert all(any(vanishes(f - e) for e in right) for f in lin.squared_frequencies())
    Z = kernel(np.array(lin.rates.subs(VALUES).tolist(), dtype=float))
    potential_alone = sympy.zeros(4, 4)  # gravity is linear in y
    wrong = np.linalg.eigvals(Z.T @ np.array(potential_alone.tolist(), dtype=float) @ Z)
    assert not np.allclose(sorted(wrong), sorted(float(e.subs(VALUES)) for e in right))


@pytest.mark.parametrize("count", [1, 2, 5, 9])
def test_chain_of_masses_and_springs(count):
    q = [da.coordinates(f"q{i}") for i in range(1, count + 1)]
    ends = [0, *q, 0]
    chain = da.System(
        "chain",
        q,
        kinetic=m * sympy.Add(*(a.dot**2 for a in q)) / 2,
        potential=k * sympy.Add(*((b - a) ** 2 for a, b in pairwise(ends))) / 2,
    )
    modes = da.normal_modes(chain, at=dict.fromkeys(q, 0), parameters={m: 0.4, k: 17})
    j = np.arange(1, count + 1)
    assert modes.frequencies == pytest.approx(2 * np.sqrt(17 / 0.4) * np.sin(j * np.pi / (2 * count + 2)), rel=1e-12)
    U = np.array([[mode.shape[a] for a in q] for mode in modes])
    assert np.allclose(0.4 * U @ U.T, np.eye(count), atol=1e-12)
    shape = np.sin(np.outer(j, j) * np.pi / (count + 1))
    assert np.allclose(np.abs(U / U[:, :1]), np.abs(shape / shape[:, :1]), atol=1e-9)


def test_a_rolling_constraint_stated_for_velocities_adds_a_zero_and_nothing_else():
    def cart(rolling):
        return da.System(
            "wheel on a spring",
            [x, theta],
            kinetic=m * (x.dot**2 + l**2 * theta.dot**2 / 2) / 2,
            potential=k * x**2 / 2 + m * g * l * (1 - cos(theta)) / 4,
            dissipation=c * x.dot**2 / 2,
            constraints=[rolling],
        )

    values = {m: 1.2, l: 0.4, k: 30, g: 9.81, c: 0.7}
    held = da.normal_modes(cart(x - l * theta), at={x: 0, theta: 0}, parameters=values)
    rolled = da.normal_modes(cart(x.dot - l * theta.dot), at={x: 0, theta: 0}, parameters=values)
    assert len(held) == 1 and len(rolled) == 2
    assert rolled.exponents[0] == 0
    assert rolled.exponents[1] == pytest.approx(held.exponents[0], rel=1e-12)
    assert held.stability.verdict == "asymptotically stable"
    s = sympy.Symbol("s")
    a, b = (
        da.linearise(cart(e), about={x: 0, theta: 0}).characteristic(s) for e in (x - l * theta, x.dot - l * theta.dot)
    )
    assert vanishes(sympy.expand(b - s * a)) and not vanishes(sympy.expand(b - a))


# steady motions


def test_circular_orbits_come_back_after_one_turn():
    r = da.coordinates("r")
    orbit = da.System("orbit", [r, phi], kinetic=m * (r.dot**2 + r**2 * phi.dot**2) / 2, potential=-m * mu / r)
    lin = da.linearise(orbit, about={r: l, phi.dot: sympy.sqrt(mu / l**3)})
    s = sympy.Symbol("s")
    assert vanishes(lin.characteristic(s) - s**2 * (s**2 + mu / l**3))
    modes = da.normal_modes(orbit, at={r: 2.0, phi.dot: np.sqrt(3 / 8)}, parameters={m: 1, mu: 3})
    assert modes.frequencies[-1] == pytest.approx(np.sqrt(3 / 8), rel=1e-9)
    assert modes.stability.verdict == "linearly stable"


def test_conical_pendulum():
    tilt = da.parameters("tilt")
    e = da.gallery.load("spherical-pendulum")
    a, b = e.system.coordinates
    gl = {p.name: p for p in e.system.parameters}
    rate = sympy.sqrt(gl["g"] / (gl["l"] * cos(tilt)))
    s = sympy.Symbol("s")
    found = da.linearise(e.system, about={a: tilt, b.dot: rate}).characteristic(s)
    assert vanishes(found - s**2 * (s**2 + rate**2 * (1 + 3 * cos(tilt) ** 2)))
    with pytest.raises(da.ModelError, match="neither an equilibrium nor a steady motion"):
        da.linearise(e.system, about={a: tilt, b.dot: 2 * rate})


@pytest.mark.parametrize(("spin", "verdict"), [(1.01, "linearly stable"), (0.99, "unstable")])
def test_sleeping_top(spin, verdict):
    top = da.System(
        "top",
        [alpha, beta, psi],
        kinetic=A * (alpha.dot**2 * cos(beta) ** 2 + beta.dot**2) / 2 + C * (psi.dot + alpha.dot * sin(beta)) ** 2 / 2,
        potential=m * g * l * cos(alpha) * cos(beta),
    )
    values = {A: 0.3, C: 0.05, m: 0.5, g: 9.81, l: 0.2}
    limit = np.sqrt(4 * 0.3 * 0.5 * 9.81 * 0.2) / 0.05
    found = da.normal_modes(top, at={alpha: 0, beta: 0, psi.dot: spin * limit}, parameters=values)
    assert found.stability.verdict == verdict
    lin = da.linearise(top, about={alpha: 0, beta: 0, psi.dot: n})
    assert lin.gyroscopic[0, 1] == C * n and lin.stiffness[0, 0] == -m * g * l


def test_a_sleigh_goes_straight_only_forward():
    bar = da.System(
        "bar with a knife edge",
        [x, y, theta],
        kinetic=m * (x.dot**2 + y.dot**2) / 2 + m * l**2 * theta.dot**2 / 24,
        constraints=[-x.dot * sin(theta) + y.dot * cos(theta) - l * theta.dot / 2],
    )
    for speed, verdict in ((0.9, "linearly stable"), (-0.9, "unstable")):
        found = da.normal_modes(bar, at={theta: 0, x.dot: speed}, parameters={m: 1.2, l: 0.8})
        rates = found.exponents.real
        assert rates[np.abs(rates).argmax()] == pytest.approx(-1.5 * speed / 0.8, rel=1e-9)
        assert (found.stability.verdict == "unstable") == (verdict == "unstable")
    assert not da.linearise(bar, about={theta: 0, x.dot: n}).is_second_order


# verdicts


def rotor(friction=0, follower=0):
    """A potential hill under a gyroscopic force."""
    return da.System(
        "rotor",
        [x, y],
        lagrangian=(x.dot**2 + y.dot**2) / 2 + n * (x * y.dot - y * x.dot) / 2 + k * (x**2 + y**2) / 2,
        dissipation=friction * (x.dot**2 + y.dot**2) / 2,
        forces={x: -follower * y, y: follower * x},
    )


@pytest.mark.parametrize(
    ("system", "values", "verdict", "reason"),
    [
        (rotor(), {n: 3, k: 1}, "linearly stable", "gyroscopic stabilisation"),
        (rotor(), {n: 1, k: 1}, "unstable", "grows like exp"),
        (rotor(sympy.Rational(1, 10)), {n: 3, k: 1}, "unstable", "Kelvin-Tait-Chetaev"),
        (rotor(), {n: 2, k: 1}, "undecided", "meet on the imaginary axis"),
        (rotor(0, sympy.Rational(1, 10)), {n: 3, k: 1}, "unstable", "grows like exp"),
    ],
)
def test_gyroscopic_verdicts(system, values, verdict, reason):
    (found,) = da.equilibria(system, parameters=values, box={x: (-1, 1), y: (-1, 1)})
    assert found.stability.verdict == verdict and reason in found.stability.reason


def test_the_five_points_of_lagrange():
    """Restricted three-body problem in the turning frame; the triangle is linearly stable below Routh's mass ratio."""
    one, two = sympy.sqrt((x + mu) ** 2 + y**2), sympy.sqrt((x - 1 + mu) ** 2 + y**2)
    system = da.System(
        "three bodies", [x, y], lagrangian=((x.dot - y) ** 2 + (y.dot + x) ** 2) / 2 + (1 - mu) / one + mu / two
    )
    found = da.equilibria(system, parameters={mu: 0.01}, box={x: (-1.5, 1.5), y: (-1.5, 1.5)})
    assert len(found) == 5 and all(e.proved for e in found)
    assert len(found.undecided) == 2 and "no bounded value" in str(found)  # the two bodies themselves
    triangle = [e for e in found if abs(e[y]) > 0.5]
    assert all(e[x] == pytest.approx(0.49) and abs(e[y]) == pytest.approx(np.sqrt(3) / 2) for e in triangle)
    assert [e.stability.verdict for e in triangle] == ["linearly stable"] * 2
    assert [e.stability.verdict for e in found if e not in triangle] == ["unstable"] * 3
    routh = (1 - np.sqrt(23 / 27)) / 2
    for ratio, verdict in ((0.999 * routh, "linearly stable"), (1.001 * routh, "unstable")):
        (e,) = da.equilibria(system, parameters={mu: ratio}, box={x: (0.3, 0.6), y: (0.5, 1)})
        assert e.stability.verdict == verdict


def oscillator(potential, **given):
    return da.System("oscillator", [x], kinetic=x.dot**2 / 2, potential=potential, **given)


@pytest.mark.parametrize(
    ("system", "verdict", "reason"),
    [
        (oscillator(x**2), "stable", "Lagrange-Dirichlet"),
        (oscillator(x**2, dissipation=x.dot**2), "asymptotically stable", "Lagrange-Dirichlet"),
        (oscillator(x**2, dissipation=-(x.dot**2)), "unstable", "first method"),
        (oscillator(x**2, forces={x: -x.dot}), "asymptotically stable", "take energy"),
        (oscillator(0, forces={x: -x}), "stable", "Lagrange-Dirichlet"),
        (oscillator(-(x**2)), "unstable", "s = 1.41421"),
        (oscillator(x**2, forces={x: -(x.dot**3)}), "linearly stable", "not decided"),
        (oscillator(x**2, forces={x: x.dot**3}), "linearly stable", "not decided"),
    ],
)
def test_verdicts_of_one_freedom(system, verdict, reason):
    found = da.equilibria(system, parameters={}, box={x: (-0.5, 0.5)})
    assert found.complete and len(found) == 1
    assert found[0].stability.verdict == verdict and reason in found[0].stability.reason


def test_a_degenerate_equilibrium_is_not_decided():
    found = da.equilibria(oscillator(x**4), parameters={}, box={x: (-1, 1.1)})
    assert not found.complete and len(found) == 0
    assert found.undecided[0].dimension == 1 and "degenerate" in str(found)
    modes = da.normal_modes(oscillator(x**4), at={x: 0}, parameters={})
    assert modes.stability.verdict == "undecided" and "higher order" in modes.stability.reason


def test_nonholonomic_equilibria():
    edge = da.gallery.load("knife-edge")
    found = da.equilibria(edge.system, parameters=edge.parameters)
    a, b, turn = edge.system.coordinates
    assert sorted(e[turn] for e in found) == pytest.approx([-np.pi / 2, np.pi / 2], rel=1e-12)
    assert {tuple(d) for d in found.free} == {(a,), (b,)} and found.complete
    disk = da.gallery.load("rolling-disk")
    everywhere = da.equilibria(disk.system, parameters=disk.parameters)
    assert len(everywhere) == 1 and len(everywhere.free) == 4
    assert everywhere[0].stability.verdict == "neutral"  # nothing holds it: it may roll and turn
    caught = da.System(
        "knife edge on springs", [x, y, phi], kinetic=(x.dot**2 + y.dot**2 + phi.dot**2) / 2,
        potential=(x**2 + y**2) / 2, constraints=[x.dot * sin(phi) - y.dot * cos(phi)],
    )  # fmt: skip
    family = da.equilibria(caught, parameters={}, box={x: (-1, 1), y: (-1, 1)}, attempts=4000)
    assert not family.complete and max(region.dimension for region in family.undecided) >= 2


# all of them


def test_families_are_told_from_single_equilibria():
    ring = da.System("ring", [x, y], kinetic=(x.dot**2 + y.dot**2) / 2, potential=(x**2 + y**2 - 1) ** 2)
    found = da.equilibria(ring, parameters={}, box={x: (-2, 2), y: (-2, 2)}, attempts=20_000)
    assert [(e[x], e[y]) for e in found] == [(0, 0)]
    assert [region.dimension for region in found.undecided] == [1] and "not isolated" in str(found)
    near = found.undecided[0].near
    assert near[x] ** 2 + near[y] ** 2 == pytest.approx(1, abs=1e-6)


def test_every_root_is_found_where_random_starts_miss_some():
    """A wide well and a pair of equilibria in a dent of width 0.01."""
    dent = oscillator(x**2 / 2 - sympy.Rational(1, 20) * sympy.exp(-((x - 2) ** 2) * 10_000))
    found = da.equilibria(dent, parameters={}, box={x: (-10, 10)})
    assert found.complete and len(found) == 3
    assert [e.stability.verdict for e in found] == ["stable", "unstable", "stable"]
    rng, slope = np.random.default_rng(0), lambda q: q + 1000 * (q - 2) * np.exp(-10_000 * (q - 2) ** 2)
    seen = set()
    for start in rng.uniform(-10, 10, 100):
        q = start
        for _ in range(60):
            h = 1e-7
            q = q - slope(q) * 2 * h / (slope(q + h) - slope(q - h))
        seen.add(round(float(q), 5))
    assert len(seen) < 3


def test_the_budget_leaves_boxes_undecided():
    system = oscillator(cos(5 * x) + x**2 / 20)
    whole = da.equilibria(system, parameters={}, box={x: (-9, 9)})
    stopped = da.equilibria(system, parameters={}, box={x: (-9, 9)}, attempts=9)
    assert whole.complete and not stopped.complete and len(stopped) < len(whole)
    assert "and possibly more" in str(stopped)


def test_a_turn_is_counted_once_and_two_turns_twice():
    pendulum = da.gallery.load("pendulum")
    (q,) = pendulum.system.coordinates
    for ends, count in (((-np.pi, np.pi), 2), ((0, 2 * np.pi), 2), ((-7, 7), 5), ((-3, 3), 1)):
        found = da.equilibria(pendulum.system, parameters=pendulum.parameters, box={q: ends})
        assert found.complete and len(found) == count


PIECES = [
    x * y - x**3, (x - y) / (2 + x), sympy.sqrt(x + 2) * sin(3 * y), cos(x) * sympy.tan(y / 2), sympy.exp(-x * y),
    sympy.log(3 + x) - sympy.atan(y), sympy.sinh(x) * sympy.cosh(y), sympy.tanh(x - y), sympy.asin(x / 3),
    sympy.acos(y / 3), sympy.atan2(y, x + 3), (x + 3) ** sympy.Rational(4, 3), sympy.erf(x) + sympy.erfc(y), da.Abs(x - y),
    da.Piecewise((x**2, x > y), (y, True)), da.Max(x, y) - da.Min(x, 0), sympy.asinh(x) + sympy.acosh(3 + y),
    sympy.atanh(x / 3), x / 3 + sympy.pi * y, sympy.floor(3 * x),
]  # fmt: skip


@pytest.mark.parametrize("piece", PIECES, ids=str)
def test_intervals_enclose_all_values(piece):
    rng = np.random.default_rng(5)
    ends = np.sort(rng.uniform(-1.9, 1.9, (2, 40, 2)), axis=2)
    ends[:, :10, 1] = ends[:, :10, 0] + 1e-9
    boxes = [Interval(e[:, 0], e[:, 1]) for e in ends]
    (found,), marks = Enclosure([fast(piece)], ["x", "y"], {})(boxes)
    outside = marks.outside
    value = sympy.lambdify([x, y], piece, ["scipy", "numpy"])
    for _ in range(30):
        at = [b.lo + rng.uniform(0, 1, 40) * (b.hi - b.lo) for b in boxes]
        v = np.array([float(value(*p)) for p in zip(*at, strict=True)])
        size = 1e-15 * (1 + np.abs(v))  # the value has its own rounding
        assert ((found.lo <= v + size) & (v - size <= found.hi)).all() and not outside.any()
    assert not ((found.middle <= v) & (v <= found.middle)).all()  # an interval without width encloses nothing


def test_exclusion_is_not_claimed_for_a_root():
    """Control: a problem whose root is at a corner, a face and inside; none is lost."""
    for root in (0.0, 1.0, 0.5, 1 / 3):
        p = Problem([fast(x - sympy.Rational(root)), fast(y - x)], ["x", "y"], [], {})
        found = isolate(p, np.array([0.0, 0.0]) - 1e-9, np.array([1.0, 1.0]) + 1e-9, Budget(1000))
        assert len(found.roots) == 1 and found.roots[0].point == pytest.approx([root, root], abs=1e-14)
    p = Problem([fast(x - 2), fast(y - x)], ["x", "y"], [], {})
    assert not isolate(p, np.zeros(2), np.ones(2), Budget(1000)).roots


# against computed motions


def test_small_motions_have_the_frequencies_of_the_modes():
    e = da.gallery.load("double-pendulum")
    modes = da.normal_modes(e.system, at=dict.fromkeys(e.system.coordinates, 0.0), parameters=e.parameters)
    for mode in modes:
        start = {q: 1e-4 * mode.shape[q] for q in e.system.coordinates} | {q.dot: 0.0 for q in e.system.coordinates}
        run = da.simulate(e.system, da.Gauss(2), h=mode.period / 200, steps=2000, start=start, parameters=e.parameters)
        u = run[e.system.coordinates[0]]
        up = np.flatnonzero((u[:-1] > 0) & (u[1:] <= 0))
        crossings = run.time[up] + u[up] / (u[up] - u[up + 1]) * run.h
        measured = 2 * np.pi / np.diff(crossings).mean()
        assert measured == pytest.approx(mode.frequency, rel=1e-6)
        assert measured != pytest.approx(modes.frequencies[::-1][list(modes).index(mode)], rel=1e-2)


def test_damped_modes_decay_as_computed():
    system = oscillator(2 * x**2, dissipation=x.dot**2 / 10)
    (mode,) = da.normal_modes(system, at={x: 0}, parameters={})
    assert mode.exponent == pytest.approx(complex(-0.1, np.sqrt(4 - 0.01)), rel=1e-12)
    run = da.simulate(system, da.Reference(1e-12, 1e-12), h=0.1, until=5, start={x: 1, x.dot: -0.1}, parameters={})
    assert run.x == pytest.approx(np.exp(-0.1 * run.time) * np.cos(mode.frequency * run.time), abs=1e-9)


# how results show themselves


def test_equal_reasons_are_said_once():
    pendulum = da.System("pendulum", [theta], kinetic=theta.dot**2 / 2, potential=-g * cos(2 * theta))
    found = da.equilibria(pendulum, parameters={g: 9.81})
    lines = str(found).splitlines()
    assert len(found) == 4 and [line[:5] for line in lines if line[:1].isdigit()] == ["1, 3.", "2, 4."]
    assert all(str(found).count(e.stability.reason) == 1 for e in found)


def test_shapes_are_shown_without_rounding_noise():
    """A charge in a magnetic field turns: its components are a quarter of a turn apart."""
    turning = da.System(
        "charge",
        [x, y],
        lagrangian=m * (x.dot**2 + y.dot**2) / 2 + c * (x * y.dot - y * x.dot) / 2 - k * (x**2 + y**2) / 2,
    )
    modes = da.normal_modes(turning, at={x: 0, y: 0}, parameters={m: 1.1, c: 0.7, k: 2.3})
    assert not re.search(r"\de-\d", str(modes)) and len(re.findall(r"  -?0\.\d+i\b", str(modes))) == 2
    shown = [_component(z) for z in (2e-17 - 0.65j, -0.65 + 1e-17j, 0.3 + 0.4j, 0, 1e-6 + 0.5j)]
    assert shown == ["-0.65i", "-0.65", "0.3+0.4i", "0", "1e-06+0.5i"]


@pytest.mark.parametrize("unit", [1, 1e-12])
def test_a_wall_in_a_corner_of_the_box_is_seen(unit):
    """Behind it are two equilibria; before it the potential is constant, which is no reason to look no further."""
    X = x / unit
    behind = sympy.Piecewise((0, X < 990), (3 * (X - 990) ** 2 * (X - 995) ** 2, True))
    system = da.System("a wall far away", [x], kinetic=x.dot**2 / 2, potential=behind)
    found = da.equilibria(system, box={x: (-1000 * unit, 1000 * unit)})
    assert [round(e.state[x] / unit, 6) for e in found] == [992.5, 995]
    assert not found.complete and not found.free
    before = da.equilibria(system, box={x: (-1000 * unit, 980 * unit)})
    assert before.free == ({x: 1.0},) and before.complete


@pytest.mark.parametrize("unit", [1, 1e-4, 1e9])
def test_intervals_that_are_needed_do_not_depend_on_units(unit):
    """Behind a wall at x = 3 units the pull of z is no matter of the distance alone."""
    X, Z = x / unit, y / unit
    wall = sympy.Piecewise((0, X < 3), (3 * (X - 3) ** 2 / 10, True))
    kinetic = (x.dot**2 + y.dot**2) / 2
    with pytest.raises(da.StartError, match="no interval for x, y"):
        da.equilibria(da.System("pulled to a wall", [x, y], kinetic=kinetic, potential=(X - Z) ** 2 + wall))


@pytest.mark.parametrize("unit", [1, 1e-9, 1e9])
@pytest.mark.parametrize("width", [10, 1e4, 1e9])
def test_forces_that_underflow_in_most_of_the_box(unit, width):
    """A force that is zero to rounding nearly everywhere is not absent."""
    system = da.System("well", [x], kinetic=x.dot**2 / 2, potential=-sympy.exp(-((x / unit - 3) ** 2)))
    found = da.equilibria(system, box={x: (-width * unit, width * unit)}, attempts=300)
    assert not found.free
    assert found.complete == (width == 10) and len(found) == (width == 10)


@pytest.mark.parametrize("unit", [1, 1e-3, 100, 1e7])
@pytest.mark.parametrize("angle", [0.3, 0.9835, 2.1, 4.0])
def test_rounding_is_no_growth(unit, angle):
    """A bead on a circle about the end of its spring is at rest anywhere: the multiplier balances the spring."""
    radius = sympy.Float("9.81") * unit
    at = {x: float(radius * cos(angle)), y: float(radius * sin(angle))}
    bead = da.System(
        "bead", [x, y], kinetic=sympy.Float("0.7") * (x.dot**2 + y.dot**2), potential=sympy.Float("1.7") * (x**2 + y**2) / 3,
        constraints=[x**2 + y**2 - radius**2],
    )  # fmt: skip
    modes = da.normal_modes(bead, at=at)
    assert modes.stability.verdict == "undecided" and not modes.stability.exponents.any()


@pytest.mark.parametrize("unit", [1, 1e-5, 1e6])
def test_a_force_that_underflows_has_no_period(unit):
    """Where it is zero to rounding it does not change by a turn either."""
    morse = da.System("Morse", [x], kinetic=x.dot**2 / 2, potential=(1 - sympy.exp(-x / unit)) ** 2)
    with pytest.raises(da.StartError, match="no interval for x"):
        da.equilibria(morse)


@pytest.mark.parametrize("unit", [1e-10, 1.0, 1e11])
def test_an_angle_that_was_rounded_when_typed_is_an_equilibrium(unit):
    pendulum = da.gallery.load("pendulum")
    (angle,), numbers = pendulum.system.coordinates, {**pendulum.parameters}
    numbers = {p: v * (unit if p.name in ("l", "g") else 1) for p, v in numbers.items()}

    def modes(at):
        return da.linearise(pendulum.system, about={angle: at}, parameters=numbers)

    exact = float(modes(np.pi).stiffness[0])
    for typed in (3.14159, 3.1416, -3.141593):
        assert float(modes(typed).stiffness[0]) == pytest.approx(exact, rel=1e-9)
    for off in (
        3.14,
        3.141,
        3.1415,
        3.14160001,
        3,
        0.12345,
    ):  # 3.1415 is not pi rounded to five digits, 3.14160001 not to nine
        with pytest.raises(da.ModelError, match="neither an equilibrium nor a steady motion"):
            modes(off)


def test_equilibria_where_rounding_of_the_state_leaves_a_force():
    """c sin(theta) at theta = pi is 1e-16 in numbers."""
    sphere = da.gallery.load("rolling-sphere")
    found = da.equilibria(sphere.system, parameters=sphere.parameters)
    assert len(found) == 2 and max(abs(m) for e in found for m in e.multipliers) < 1e-15


def test_equations_without_a_value_at_rest_are_refused_in_words():
    device = da.gallery.load("appell-device")  # the gradient of its constraint is 0/0 at rest
    with pytest.raises(da.ModelError, match="has no value: it divides by zero, whatever the coordinates are"):
        da.equilibria(device.system, parameters=device.parameters)
