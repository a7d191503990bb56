"""The exact discrete Lagrangian: closed form = boundary value problem = the motion itself; the order of L_d against it."""

from __future__ import annotations

import numpy as np
import pytest
import sympy

import dalembert as da
from dalembert.analysis.accuracy.exact_lagrangian import exact_discrete_lagrangian, order_of
from dalembert.errors import MethodError, ModelError
from dalembert.methods.base import VariationalMethod
from dalembert.symbolic import gradient, number

from ..conformance import systems

pytestmark = pytest.mark.slow

x, y, z = da.coordinates("x y z")
m, k, g, B, K = da.parameters("m k g B K", positive=True)
VALUES = {m: 1.3, k: 0.7, g: 0.9, B: 0.8, K: 0.55}

PLANE = m * (x.dot**2 + y.dot**2) / 2
FIELD = B * (x * y.dot - y * x.dot) / 2
QUADRATIC = [
    da.System("free particle", [x], kinetic=m * x.dot**2 / 2),
    da.System("oscillator", [x], kinetic=m * x.dot**2 / 2, potential=k * x**2 / 2),
    da.System("unstable", [x], kinetic=m * x.dot**2 / 2, potential=-k * x**2 / 2),
    da.System("falling", [x], kinetic=m * x.dot**2 / 2, potential=m * g * x),
    da.System("hanging spring", [x], kinetic=m * x.dot**2 / 2, potential=m * g * x + k * x**2 / 2),
    da.System("gauge", [x], lagrangian=m * x.dot**2 / 2 - k * x**2 / 2 + 2 * x.dot + 3 + x * x.dot),
    da.System("magnetic field", [x, y], lagrangian=PLANE + FIELD),
    da.System("trap", [x, y], lagrangian=PLANE + FIELD - k * (x**2 + y**2) / 2 + g * x),
    da.System(
        "coupled", [x, y], kinetic=m * x.dot**2 / 2 + m * y.dot**2, potential=k * x**2 / 2 + K * (x - y) ** 2 / 2
    ),
    da.System(
        "chain", [x, y, z], kinetic=(x.dot**2 + 2 * y.dot**2 + z.dot**2) / 2, potential=(x - y) ** 2 + (y - z) ** 2
    ),
    da.System("E1", [x, y, z], kinetic=(x.dot**2 + y.dot**2 + z.dot**2) / 2, potential=(x**2 + y**2) / 2),
]


def positions(system, seed=1):
    rng = np.random.default_rng(seed)
    return {c.at(i): float(rng.uniform(-1, 1)) for c in system.coordinates for i in (0, 1)}


def parameters(system):
    return {p: VALUES[p] for p in system.parameters}


@pytest.mark.parametrize("system", QUADRATIC, ids=lambda s: s.name)
@pytest.mark.parametrize("h", [0.1, 0.9])
def test_closed_form_is_the_boundary_value_problem(system, h):
    exact = exact_discrete_lagrangian(system)
    at, values = positions(system), parameters(system)
    assert exact.expression is not None, exact.reason
    solved = exact.solve(at, h=h, parameters=values)
    numbers = {s.name: v for s, v in {**at, **values, da.step: h}.items()}
    assert number(exact.expression, numbers) == pytest.approx(solved.value, rel=1e-12, abs=1e-12)
    slopes = [gradient(exact.expression, [c.at(i) for c in system.coordinates]) for i in (0, 1)]
    for i in range(len(system.coordinates)):  # -D1 and D2 are the momenta of the motion
        assert number(-slopes[0][i], numbers) == pytest.approx(solved.minus[i], abs=1e-10)
        assert number(slopes[1][i], numbers) == pytest.approx(solved.plus[i], abs=1e-10)
    assert solved.error < 1e-13


def test_the_printed_forms():
    """Digest 002, 3.3: ((a0^2 + a1^2) cos h - 2 a0 a1)/(2 sin h) for a harmonic coordinate, (z1 - z0)^2/(2h) if free."""
    h = da.step
    stated = (z.at(1) - z.at(0)) ** 2 / (2 * h)
    for c in (x, y):
        a0, a1 = c.at(0), c.at(1)
        stated += ((a0**2 + a1**2) * da.cos(h) - 2 * a0 * a1) / (2 * da.sin(h))
    found = exact_discrete_lagrangian(QUADRATIC[-1]).expression
    at = positions(QUADRATIC[-1]) | {h: 0.7}
    assert float((found - stated).subs(at)) == pytest.approx(0, abs=1e-14)


@pytest.mark.parametrize("system", [QUADRATIC[1], QUADRATIC[4], QUADRATIC[6]], ids=lambda s: s.name)
def test_t8_the_discrete_motion_of_the_closed_form_samples_the_motion(system):
    """Theorem 4.2.4 with a large step: DEL of L_d^E against the continuous motion."""
    h, steps, values = 0.6, 60, parameters(system)
    exact = da.DiscreteSystem("exact", system.coordinates, lagrangian=exact_discrete_lagrangian(system).expression)
    start = {c: 0.4 - 0.1 * i for i, c in enumerate(system.coordinates)}
    start |= {c.dot: 0.3 + 0.2 * i for i, c in enumerate(system.coordinates)}
    reference = da.Reference(rtol=1e-13, atol=1e-13)
    motion = da.simulate(system, reference, h=h, steps=steps, start=start, parameters=values)
    begin = {c: start[c] for c in system.coordinates} | {c.momentum: motion[c.momentum][0] for c in system.coordinates}
    run = da.simulate(exact, h=h, steps=steps, start=begin, parameters={p: VALUES[p] for p in exact.parameters})
    for c in system.coordinates:
        assert np.abs(run[c] - motion[c]).max() < 1e-10
        assert np.abs(run[c.momentum] - motion[c.momentum]).max() < 1e-10
    control = da.simulate(system, da.Midpoint(), h=h, steps=steps, start=start, parameters=values)
    assert np.abs(control[x] - motion[x]).max() > 1e-3


def test_t8_on_a_nonlinear_time_dependent_system():
    """Samples of a motion satisfy the DEL of L_d^E, found through the boundary value problem, with its own momenta."""
    case = systems.free()
    h = 0.25
    run = da.simulate(
        case.system, da.Reference(rtol=1e-13, atol=1e-13), h=h, steps=4, start=case.start, parameters=case.parameters
    )
    exact, q = exact_discrete_lagrangian(case.system), case.system.coordinates
    assert exact.expression is None
    assert "not quadratic" in exact.reason
    steps = []
    for i in range(4):
        at = {c.at(j): run[c][i + j] for c in q for j in (0, 1)} | {da.time: run.time[i]}
        steps.append(exact.solve(at, h=h, parameters=case.parameters))
    for i, c in enumerate(q):
        for j in range(1, 4):
            assert steps[j - 1].plus[i] == pytest.approx(steps[j].minus[i], abs=2e-11)  # D2 L_d^E + D1 L_d^E = 0
            assert steps[j].minus[i] == pytest.approx(run[c.momentum][j], abs=2e-11)
    total = sum(s.value for s in steps)
    action = float(np.trapezoid(fine_lagrangian(case), dx=1e-3))
    assert total == pytest.approx(action, abs=1e-5)  # and the value is the action: a trapezoidal sum, error h^2
    shifted = {c.at(j): run[c][j] + 1e-3 * j for c in q for j in (0, 1)} | {da.time: run.time[0]}
    off = exact.solve(shifted, h=h, parameters=case.parameters)
    assert abs(off.plus[0] - steps[1].minus[0]) > 1e-3  # the control: another point is no sample of the motion


def fine_lagrangian(case):
    run = da.simulate(case.system, da.Reference(), h=1e-3, until=1.0, start=case.start, parameters=case.parameters)
    return run.quantity(case.system.lagrangian)


# the order of a discrete Lagrangian is the order of the method


class WrongWeights(VariationalMethod):
    """The trapezoidal rule with one weight off: consistent, but no longer of order 2."""

    order, symplectic = 1, True

    def discrete_lagrangian(self, L, q0, q1, t, h):
        v = (q1 - q0) / h
        return h * 0.45 * L(q0, v, t) + h * 0.55 * L(q1, v, t + h)


class NotConsistent(VariationalMethod):
    """The midpoint rule with a wrong factor: of no order."""

    order, symplectic = 0, True

    def discrete_lagrangian(self, L, q0, q1, t, h):
        return 0.99 * h * L((q0 + q1) / 2, (q1 - q0) / h, t + h / 2)


@pytest.mark.parametrize(
    ("method", "order"),
    [
        (da.LeftPoint(), 1), (da.RightPoint(), 1), (da.Midpoint(), 2), (da.Trapezoidal(), 2), (da.Galerkin(2), 4),
        (WrongWeights(), 1), (NotConsistent(), 0),
    ],
    ids=lambda v: type(v).__name__ if not isinstance(v, int) else str(v),
)  # fmt: skip
def test_order_of_discrete_lagrangians(method, order):
    """Nonlinear, non-separable, time-dependent: |L_d - L_d^E| = O(h^(p+1)). The last two are controls."""
    case = systems.free()
    found = order_of(da.discretise(case.system, method), start=case.start, parameters=case.parameters)
    assert found.order == pytest.approx(order, abs=0.1)


def test_order_of_a_lagrangian_given_directly():
    """L_d typed in, with what it approximates; and the exact one, whose difference is rounding."""
    system, (x0, x1), h = QUADRATIC[1], (x.at(0), x.at(1)), da.step
    given = da.DiscreteSystem("mine", [x], lagrangian=h * (m * ((x1 - x0) / h) ** 2 / 2 - k * (x0**2 + x1**2) / 4))
    start = {x: 0.3, x.dot: 0.5}
    found = order_of(given, system=system, start=start, parameters={m: 1.3, k: 0.7})
    assert found.order == pytest.approx(2, abs=0.1)
    exact = da.DiscreteSystem("exact", [x], lagrangian=exact_discrete_lagrangian(system).expression)
    nothing = order_of(exact, system=system, start=start, parameters={m: 1.3, k: 0.7})
    assert np.isnan(nothing.order)
    assert "cannot be told" in str(nothing)
    assert "|---|" in found._repr_markdown_()
    with pytest.raises(ModelError, match="Say what it approximates"):
        order_of(given, start=start, parameters={m: 1.3, k: 0.7})


NONLINEAR = da.System("nonlinear", [x], lagrangian=x.dot**2 / 2 * (1 + x**2) - x**4)


@pytest.mark.parametrize(("stages", "hs"), [(3, (0.1, 0.05, 0.025, 0.0125)), (4, (0.4, 0.2, 0.1))])
def test_high_orders_are_not_taken_for_rounding(stages, hs):
    """Differences down to 1e-16 of the action are measured; smaller steps leave rounding alone, and this is said."""
    discrete, start = da.discretise(NONLINEAR, da.Galerkin(stages)), {x: 0.3, x.dot: 0.5}
    assert order_of(discrete, start=start, h=hs).order == pytest.approx(2 * stages, abs=0.1)
    nothing = order_of(discrete, start=start, h=(0.004, 0.002))
    assert np.isnan(nothing.order)
    assert "Take larger h" in str(nothing)


def test_the_order_does_not_depend_on_the_sequence_of_steps():
    discrete, start = da.discretise(NONLINEAR, da.Midpoint()), {x: 0.3, x.dot: 0.5}
    up, down = (order_of(discrete, start=start, h=hs) for hs in ([0.05, 0.1, 0.2], [0.2, 0.1, 0.05]))
    assert up.order == down.order
    assert up.h == (0.2, 0.1, 0.05)


def test_the_order_of_a_lagrangian_with_branches():
    """A potential with a kink in its curvature, away from the kink: forty digits there too."""
    kinked = da.System("kinked", [x], kinetic=x.dot**2 / 2, potential=x**4 + sympy.Max(x, 0) ** 3)
    assert order_of(da.discretise(kinked, da.Midpoint()), start={x: 0.5, x.dot: 0.3}).order == pytest.approx(2, abs=0.1)


PENDULUM = da.System("pendulum", [x], kinetic=x.dot**2 / 2, potential=-da.cos(x))
UNIT = da.System("unit oscillator", [x], kinetic=x.dot**2 / 2, potential=x**2 / 2)


@pytest.mark.parametrize(
    ("system", "ends", "h"),
    [
        (UNIT, (0.1, 0.2), np.pi), (UNIT, (0.1, -0.1), np.pi), (UNIT, (0.0, 0.0), 2 * np.pi),
        (UNIT, (0.1, 0.2), np.pi * (1 + 1e-12)), (PENDULUM, (0.0, 0.0), np.pi), (PENDULUM, (0.0, 0.0), 2 * np.pi),
    ],
)  # fmt: skip
def test_conjugate_points_are_named(system, ends, h):
    """At h = pi all motions of the oscillator from one point meet: two positions are joined by all of them, or by none."""
    exact = exact_discrete_lagrangian(system)
    at = dict(zip((x.at(0), x.at(1)), ends, strict=True))
    with pytest.raises(MethodError, match="is conjugate to t = 0"):
        exact(at, h=h)
    assert np.isfinite(exact(at, h=h - 0.1))  # the controls: on both sides of it there is one motion
    assert np.isfinite(exact(at, h=h + 0.1))


@pytest.mark.parametrize("beyond", [1e-2, -1e-4, 1e-6])
def test_near_a_conjugate_point_the_error_is_as_large_as_it_says(beyond):
    import mpmath

    h = np.pi * (1 + beyond)
    found = exact_discrete_lagrangian(UNIT).solve({x.at(0): 0.1, x.at(1): 0.2}, h=h)
    with mpmath.workdps(40):
        a, b, t = (mpmath.mpf(v) for v in (0.1, 0.2, h))
        stated = float(((a * a + b * b) * mpmath.cos(t) - 2 * a * b) / (2 * mpmath.sin(t)))
    assert abs(found.value - stated) <= 10 * found.error * abs(stated)
    assert found.error < 1e-7


def test_what_cannot_be_done_is_said():
    with pytest.raises(ModelError, match="has constraints or forces"):
        exact_discrete_lagrangian(da.gallery.load("damped-spring").system)
    with pytest.raises(ModelError, match="Expected a System"):
        exact_discrete_lagrangian(da.discretise(QUADRATIC[1], da.midpoint_map))
    pendulum = da.System("pendulum", [x], kinetic=x.dot**2 / 2, potential=-da.cos(x))
    exact = exact_discrete_lagrangian(pendulum)
    with pytest.raises(MethodError, match="smaller h"):
        exact({x.at(0): 0.1, x.at(1): 2.0}, h=400.0)
    assert "boundary value problem" in str(exact)
    assert exact({x.at(0): 0.1, x.at(1): 0.2}, h=0.1) == pytest.approx(0.1 * (0.5 + np.cos(0.15)), abs=1e-4)
    assert "L_d^E =" in str(exact.solve({x.at(0): 0.1, x.at(1): 0.2}, h=0.1))
    assert r"\cos" in exact_discrete_lagrangian(QUADRATIC[1])._repr_latex_()
