"""Whether a step exists: verdicts with proof against closed forms, and against what is known of each system."""

from __future__ import annotations

import math

import numpy as np
import pytest
import sympy
from sympy import Rational, atan, cos, cosh, exp, log, oo, pi, sin, sqrt, tanh

import dalembert as da
from dalembert.analysis.steps.existence import existence
from dalembert.analysis.steps.step_equations import asked
from dalembert.rigour.exact_ranges import EVERYTHING, between, point, range_of

x, y, q, theta = da.coordinates("x y q theta")
S = da.entropies("S")
alpha, F, c = da.parameters("alpha F c")
mu, nu, T0 = da.parameters("mu nu T0", positive=True)
h = da.step
u, v = q.at(0) + q.at(1), (x.at(1) - x.at(0)) / h
# Regular everywhere, yet without trajectories for alpha >= pi (example 3.29 of the thermomechanical document)
REGULAR = da.DiscreteSystem(
    "no trajectory", [q], lagrangian=u * atan(u) - log(1 + u**2) / 2 + alpha * q.at(1) + S.at(0), entropies=[S],
    friction_minus={q: exp(S.at(0))}, friction_plus={q: exp(S.at(1))}, entropy_laws=[S.at(0) + S.at(1)],
)  # fmt: skip
# Momentum v/sqrt(1 + v^2) is bounded, so a large impulse has no velocity
BOUNDED = da.DiscreteSystem("bounded momentum", [x], lagrangian=h * sqrt(1 + v**2), force_minus={x: h * F})
# Quadratic friction that depends on the end of the step: p = v - h + c v^2 has two solutions or none
BRAKE = da.DiscreteSystem("brake", [x], lagrangian=h * v**2 / 2 - h * x.at(0), force_minus={x: -c * v**2})
CART = da.System(
    "cart",
    [x],
    kinetic=5 * x.dot**2 / 2,
    entropies=[S],
    internal_energy=nu * T0 * exp(S / nu),
    friction={x: -mu * x.dot},
)
WARM = {mu: 3, nu: 1, T0: 300}


# example 3.29


@pytest.mark.parametrize("a", [3.2, 4, 100.0, Rational(22, 7), pi])
def test_no_trajectory_whatever_the_state(a):
    found = existence(REGULAR, h=1, parameters={alpha: a})
    assert found.verdict == "none"
    assert found.exists is False
    assert found.bound == sympy.Rational(str(a)) - pi if a != pi else found.bound == 0
    assert found.reached is False  # at alpha = pi the residual comes as near to zero as one likes, and is never zero
    assert "no step exists" in str(found)
    assert "more than" in str(found)
    assert "$" in found._repr_markdown_()


@pytest.mark.parametrize("a", [3.1, 0.0, math.pi])  # the floating-point number math.pi is less than pi
def test_below_pi_some_states_have_a_step(a):
    found = existence(REGULAR, h=1, parameters={alpha: a})
    assert found.verdict == "undecided"
    assert "Give them values" in found.reason


def test_the_criterion_at_random_states():
    """From (z0, z1) the step exists if and only if c = alpha + 2 exp(S1) + atan(q0 + q1) is inside (-pi/2, pi/2)."""
    rng, seen = np.random.default_rng(7), {True: 0, False: 0}
    for _ in range(40):
        a, (q0, q1, s0) = rng.uniform(-3, 3.1), rng.normal(size=3)
        criterion = a + 2 * np.exp(-s0) + np.arctan(q0 + q1)
        found = existence(REGULAR, at={q.at(0): q0, q.at(1): q1, S.at(0): s0}, h=1, parameters={alpha: a})
        exists = bool(abs(criterion) < np.pi / 2)
        seen[exists] += 1
        assert found.exists is exists
        assert found.complete
        if exists:
            (step,) = found.steps
            assert step[q] == pytest.approx(-q1 - np.tan(criterion), rel=1e-9, abs=1e-9)
            lo, hi = step.enclosure[q]
            assert lo <= step[q] <= hi
            assert hi - lo < 1e-9 * (1 + abs(step[q]))
            assert step["S"] == pytest.approx(s0, abs=1e-12)
        else:
            assert float(found.bound) == pytest.approx(abs(criterion) - np.pi / 2, rel=1e-9)
    assert min(seen.values()) > 5


def test_a_run_that_ended_is_asked_about():
    start = {q.at(0): 0.1, q.at(1): 0.2, S: 0.1}
    run = da.simulate(REGULAR, h=1, steps=3, start=start, parameters={alpha: 3.2}, strict=False)
    assert not run.ok
    found = existence(run)
    assert found.exists is False
    assert "step 2 from t = 1" in found.title
    arrays = start | {S: np.array([0.1, 5.0])}
    run = da.simulate(REGULAR, h=1, steps=1, start=arrays, parameters={alpha: -1.0}, strict=False)
    kinds = [existence(run, lane=lane).exists for lane in (0, 1)]
    c0 = [-1 + 2 * np.exp(-s) + np.arctan(0.3) for s in (0.1, 5.0)]
    assert kinds == [bool(abs(b) < np.pi / 2) for b in c0]


# other systems


@pytest.mark.parametrize("force", [0.0, 5.0, 8.9, 9.1, 40.0, -10.9, -11.1])
def test_bounded_momentum(force):
    """p0 + h F = v/sqrt(1 + v^2) has a solution if and only if the left side is inside (-1, 1)."""
    found = existence(BOUNDED, at={x: 0.0, x.momentum: 0.1}, h=0.1, parameters={F: force})
    p = 0.1 + 0.1 * force
    assert found.complete
    assert found.exists is (abs(p) < 1)
    if found.exists:
        assert found.steps[0][x] == pytest.approx(0.1 * p / math.sqrt(1 - p * p), rel=1e-9)


@pytest.mark.parametrize("momentum", [-5.0, -0.4, -0.3, 2.0])
def test_quadratic_friction(momentum):
    found = existence(BRAKE, at={x: 0, x.momentum: momentum}, h=0.1, parameters={c: 1.0})
    roots = np.roots([1.0, 1.0, 0.1 - momentum])  # v + c v^2 + h = p
    real = sorted(0.1 * r.real for r in roots if abs(r.imag) < 1e-12)
    assert found.complete
    assert sorted(s[x] for s in found.steps) == pytest.approx(real, abs=1e-12)
    assert found.verdict == ("exists" if real else "none")


def test_a_force_that_friction_cannot_hold():
    """Friction tanh(v) without inertia balances a push below its largest value only: a proof by bounds."""
    pushed = da.DiscreteSystem("dry", [x], lagrangian=0 * v, force_minus={x: -tanh(v) + F})
    held = existence(pushed, at={x: 0, x.momentum: 0}, h=0.1, parameters={F: Rational(1, 2)})
    assert held.exists is True
    assert held.steps[0][x] == pytest.approx(0.1 * math.atanh(0.5), rel=1e-12)
    slipping = existence(pushed, h=0.1, parameters={F: Rational(5, 2)})  # pairs: F - tanh(v) = 0 at every node
    assert slipping.exists is False
    assert slipping.bound == Rational(3, 2)
    assert existence(pushed, at={x: 0, x.momentum: 0}, h=0.1, parameters={F: 1}).bound == 0


@pytest.mark.parametrize("method", [da.LeftPoint(), da.Midpoint(), da.DiscreteGradient()], ids=repr)
@pytest.mark.parametrize("speed", [2.0, 0.0])
def test_the_cart_has_one_step(method, speed):
    found = existence(CART, method, at={x: 0, x.dot: speed, S: 0}, h=0.2, parameters=WARM)
    run = da.simulate(CART, method, h=0.2, steps=1, start={x: 0, x.dot: speed, S: 0}, parameters=WARM)
    (step,) = found.steps
    assert found.complete
    assert (step[x], step[S]) == pytest.approx((run.x[-1], run.S[-1]), abs=1e-12)


def test_the_cart_from_two_positions():
    found = existence(CART, da.Midpoint(), at={x.at(0): 0, x.at(1): 0.4, S.at(0): 0}, h=0.2, parameters=WARM)
    run = da.simulate(CART, da.Midpoint(), h=0.2, steps=2, start={x.at(0): 0, x.at(1): 0.4, S: 0}, parameters=WARM)
    assert found.steps[0][x] == pytest.approx(run.x[-1], abs=1e-12)
    assert found.steps[0][S] == pytest.approx(run.S[-1], abs=1e-12)


def test_all_steps_of_a_pendulum():
    """With h = 6 the midpoint rule has five steps from one state: each solves the equation, and a fine scan finds no more."""
    pendulum = da.System("pendulum", [theta], lagrangian=theta.dot**2 / 2 + cos(theta))
    small = existence(pendulum, da.Midpoint(), at={theta: 1, theta.dot: 0.3}, h=0.1)
    assert (len(small.steps), small.complete) == (1, True)
    large = existence(pendulum, da.Midpoint(), at={theta: 1, theta.dot: 0.3}, h=6.0)
    scan = np.linspace(-40, 40, 200_001)
    residual = 0.3 - (scan - 1) / 6 - 3 * np.sin((1 + scan) / 2)
    crossings = int((np.sign(residual[1:]) != np.sign(residual[:-1])).sum())
    assert large.complete
    assert len(large.steps) == crossings == 5
    for step in large.steps:
        w = step[theta]
        assert abs(0.3 - (w - 1) / 6 - 3 * np.sin((1 + w) / 2)) < 1e-10


def test_a_constrained_system():
    """E3 of the nonholonomic document: from (x0, 1) two steps below sqrt(8) - 1, none above."""
    (x0, x1), (y0, y1) = ((w.at(0), w.at(1)) for w in (x, y))
    e3 = da.DiscreteSystem(
        "E3", [x, y], lagrangian=((x1 - x0) ** 2 + (y1 - y0) ** 2) / 2, variations=[y.dot - x * x.dot],
        constraints=[y1 - y0 - (x1 + x0) * (x1 - x0) / 2],
    )  # fmt: skip
    for a, count in ((1.5, 2), (1.9, 0)):
        found = existence(e3, at={x0: a, x1: 1.0, y0: 0.0, y1: (1 - a * a) / 2}, h=1)
        assert (len(found.steps), found.complete) == (count, True)


def test_what_cannot_be_decided_says_what_was_tried():
    four = da.coordinates("a b c d")
    many = da.System("chain", four, lagrangian=sum(w.dot**2 / 2 + sin(w) ** 3 for w in four))
    at = dict.fromkeys(four, 0.1) | dict.fromkeys([w.dot for w in four], 0.2)
    found = existence(many, da.Midpoint(), at=at, h=0.1)
    assert found.exists is True
    assert not found.complete
    assert "the whole space is not searched" in found.reason
    spent = existence(BRAKE, at={x: 0, x.momentum: -0.16}, h=0.1, parameters={c: 1.0}, attempts=3)
    assert spent.verdict == "undecided"
    assert spent.exists is None
    assert "tried: Newton's method from" in str(spent)
    assert existence(BRAKE, at={x: 0, x.momentum: -0.16}, h=0.1, parameters={c: 1.0}).verdict == "none"


# ranges


@pytest.mark.parametrize(
    ("expression", "lo", "hi", "low", "high"),
    [
        (2 * exp(x) + atan(y) + pi / 2, 0, oo, False, False),
        (x**2 + exp(y), 0, oo, False, False),
        (1 / (1 + x**2), 0, 1, False, True),
        (sqrt(1 + x**2), 1, oo, True, False),
        (tanh(x) * tanh(y), -1, 1, False, False),
        (-(x**2) * exp(y), -oo, 0, False, True),
        (cosh(x) - 1, 0, oo, True, False),
        (sin(x) * cos(y), -1, 1, True, True),
        (1 / x, -oo, oo, False, False),
    ],
    ids=str,
)
def test_ranges(expression, lo, hi, low, high):
    found = range_of(expression, {x: EVERYTHING, y: EVERYTHING})
    assert (found.lo, found.hi, found.low, found.high) == (lo, hi, low, high)
    rng = np.random.default_rng(0)
    for a, b in rng.normal(size=(50, 2)) * 3:
        value = float(expression.subs({x: a, y: b}))
        assert float(found.lo) <= value <= float(found.hi)


def test_ranges_on_intervals():
    found = range_of((x - 1) ** 2 * exp(-y), {x: between(0.0, 3.0), y: between(0.0, math.inf)})
    assert (found.lo, found.hi, found.low, found.high) == (0, 4, True, True)
    assert range_of(1 / x, {x: between(2.0, math.inf)}).misses_zero()
    assert not range_of(1 / x - Rational(1, 2), {x: between(2.0, math.inf)}).misses_zero()
    assert point(0.1).lo == Rational(0.1) != Rational(1, 10)


# decimals mean what they say

a, b, d = da.parameters("a b d")
GROWING = da.DiscreteSystem("growing", [x], lagrangian=h * (exp(v) - (a + b - d) * v))
SQUARE = da.DiscreteSystem("square", [x], lagrangian=h * (v**3 / 3 + (a + b - d) * v))
TYPED = {a: 0.1, b: 0.2, d: 0.3}
BINARY = {p: np.float64(value) for p, value in TYPED.items()}
AT = {x: 0, x.momentum: 0}


def test_typed_decimals_are_fractions_and_computed_numbers_are_binary():
    """0.1 + 0.2 - 0.3 is zero, and so exp(v) = 0 has no solution; of the binary numbers it is 2.8e-17, and has one."""
    assert existence(GROWING, at=AT, h=1, parameters=TYPED).verdict == "none"
    assert existence(GROWING, at=AT, h=1, parameters=BINARY, attempts=400).verdict == "undecided"
    exactly = {p: Rational(str(value)) for p, value in TYPED.items()}
    assert existence(GROWING, at=AT, h=1, parameters=exactly).verdict == "none"


def test_no_false_proof_from_the_last_bits_of_decimals():
    """v^2 = 0 has a solution; v^2 + 2.8e-17 = 0 has none."""
    assert existence(SQUARE, at=AT, h=1, parameters=BINARY, attempts=400).verdict == "none"
    assert existence(SQUARE, at=AT, h=1, parameters=TYPED, attempts=400).verdict != "none"


def test_decimals_in_states_steps_and_runs_too():
    """Here exp(v) = momentum + 2/5 - x - h; the floating-point number 0.3 is less than 3/10."""
    slow = da.DiscreteSystem("slow", [x], lagrangian=h * exp(v), force_minus={x: Rational(2, 5) - x.at(0) - h})
    for place, length, said in ((0.3, 0.1, "none"), (np.float64(0.3), 0.1, "undecided"), (0.1, 0.3, "none")):
        assert existence(slow, at={x: place, x.momentum: 0}, h=length, attempts=400).verdict == said
    assert existence(da.simulate(GROWING, h=1, steps=0, start=AT, parameters=TYPED)).verdict == "none"


def test_momenta_of_typed_velocities_are_exact():
    """3 v at v = 0.1 is 3/10, not the product of two floating-point numbers, which is larger."""
    moving = da.System("moving", [x], lagrangian=3 * x.dot**2 / 2 + a * x)
    known = {"h": 1, "parameters": {a: 0.0}, "method": da.Midpoint(), "lane": 0}
    assert asked(moving, at={x: 0, x.dot: 0.1}, **known).exact["x.momentum"] == Rational(3, 10)
    computed = asked(moving, at={x: 0, x.dot: np.float64(0.1)}, **known).exact["x.momentum"]
    assert Rational(computed) > Rational(3, 10)  # control


def test_equilibria_take_decimals_exactly():
    pushed = da.System("pushed", [x], kinetic=x.dot**2 / 2, potential=exp(x) - 10**17 * (a + b - d) * x)
    assert da.equilibria(pushed, parameters=TYPED, box={x: (-50, 50)}).complete
    assert not da.equilibria(pushed, parameters=BINARY, box={x: (-50, 50)}, attempts=400).complete
