"""Derivatives by parameters and starts against 40 digits, complex steps, closed forms; events, constraints, groups."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

import dalembert as da
from dalembert import cos, sin

x, y, theta, phi = da.coordinates("x y theta phi")
m, k, g, l, e, R = da.parameters("m k g l e R", positive=True)

SPRING = da.System("hard spring", [x], kinetic=m * x.dot**2 / 2, potential=k * x**4 / 4)
BALL = da.System("ball", [y], kinetic=m * y.dot**2 / 2, potential=m * g * y)
BOUNCE = da.Event(y, action={y.dot: -e * y.dot}, direction=-1, name="bounce")


def spring(method, *, K=1.3, M=0.7, X=1.0, V=0.2, h=0.05, **more):
    return da.simulate(SPRING, method, h=h, steps=100, start={x: X, x.dot: V}, parameters={k: K, m: M}, **more)


def midpoint_in_digits(K, M, X, V, steps=100):
    """The implicit midpoint rule in forty digits."""
    h, q, p = mpmath.mpf("0.05"), X, M * V
    for _ in range(steps):
        v = p / M
        for _ in range(60):
            change = M * v - p + h / 2 * K * (q + h * v / 2) ** 3
            v -= change / (M + 3 * h**2 / 4 * K * (q + h * v / 2) ** 2)
        q, p = q + h * v, 2 * M * v - p
    return q, p / M


def test_against_differences_in_forty_digits():
    found = da.sensitivity(spring(da.Midpoint()), [x, x.dot], [k, m, x, x.dot])
    with mpmath.workdps(40):
        at = [mpmath.mpf(s) for s in (1.3, 0.7, 1.0, 0.2)]
        for j in range(4):
            ends = []
            for sign in (1, -1):
                moved = list(at)
                moved[j] += sign * mpmath.mpf("1e-15")
                ends.append(midpoint_in_digits(*moved))
            exact = [float((a - b) / mpmath.mpf("2e-15")) for a, b in zip(*ends, strict=True)]
            assert np.allclose(found.table[0, -1, :, j], exact, rtol=1e-12, atol=1e-13)


def test_against_a_complex_step():
    """RungeKutta4 written out for complex numbers: the imaginary part is the derivative, without a difference."""

    def step(q, v, h, K, M):
        rate = lambda q, v: np.array([v, -K * q**3 / M])  # noqa: E731
        s = np.array([q, v])
        a = rate(*s)
        b = rate(*(s + h * a / 2))
        c = rate(*(s + h * b / 2))
        d = rate(*(s + h * c))
        return s + h * (a + 2 * b + 2 * c + d) / 6

    found = da.sensitivity(spring(da.RungeKutta4()), [x, x.dot**2], [m, x])
    for b, at in ((m, (1.3, 0.7 + 1e-30j, 1.0, 0.2)), (x, (1.3, 0.7, 1.0 + 1e-30j, 0.2))):
        K, M, *state = at
        for _ in range(100):
            state = step(*state, 0.05, K, M)
        assert abs(found[x, b][-1] - state[0].imag / 1e-30) < 1e-12
        assert abs(found[x.dot**2, b][-1] - (state[1] ** 2).imag / 1e-30) < 1e-12


@pytest.mark.parametrize("method", [da.Midpoint(), da.RungeKutta4()], ids=repr)
def test_a_bouncing_ball_has_closed_forms(method):
    """Both methods compute parabolas exactly: bounces at t1 = sqrt(2 Y/g), t1 (1 + 2 e), and the height between them."""
    Y, G, E = 1.0, 9.81, 0.8
    run = da.simulate(
        BALL, method, h=0.013, until=1.7, events=BOUNCE, start={y: Y, y.dot: 0}, parameters={m: 1, g: G, e: E}
    )
    found = da.sensitivity(run, [y, y.dot], [y, g, e], events=[BOUNCE], parameters={e: E})
    t1 = np.sqrt(2 * Y / G)
    first = t1 * np.array([1 / (2 * Y), -1 / (2 * G), 0])
    second = first * (1 + 2 * E) + np.array([0, 0, 2 * t1])
    assert np.allclose(found.crossing_times, [first, second], rtol=1e-12, atol=1e-14)
    t = run.time[(run.time > t1) & (run.time < t1 * (1 + 2 * E))]
    at = np.isin(run.time, t)
    # y = e G t1 s - G s^2/2 with s = t - t1
    by_t1 = E * G * (t - t1) - E * G * t1 + G * (t - t1)
    exact = [by_t1 * first[0], by_t1 * first[1] + E * t1 * (t - t1) - (t - t1) ** 2 / 2, G * t1 * (t - t1)]
    assert np.allclose(found[y][at], np.array(exact).T, rtol=0, atol=1e-12)
    # the control: without the saltation the derivative goes on as if the time of the bounce were fixed
    fixed = -E * 1.0
    assert abs(found[y, y][at][-1] - fixed) > 0.1


def test_a_motion_that_stops_has_the_derivatives_of_its_end():
    stop = da.Event(y, "stop", direction=-1, name="floor")
    run = da.simulate(
        BALL, da.Midpoint(), h=0.013, until=1.7, events=stop, start={y: 1, y.dot: 0}, parameters={m: 1, g: 9.81}
    )
    found = da.sensitivity(run, [y, y.dot], [y, g], events=[stop])
    assert np.abs(found[y][-1]).max() < 1e-13  # it ends on the floor, whatever the start
    assert np.allclose(found[y.dot][-1], [-np.sqrt(9.81 / 2), -np.sqrt(1 / (2 * 9.81))], rtol=1e-12)


def check(make, base, by, of, d=1e-5, **given):
    """Derivatives against central differences, whose errors are those of d squared and of rounding over d."""
    found = da.sensitivity(make(**base), of, list(by), **given)
    for b, name in by.items():
        high, low = (make(**{**base, name: base[name] + s * d}) for s in (1, -1))
        for q in of:
            difference = (high.quantity(q) - low.quantity(q)) / (2 * d)
            assert np.abs(difference - found[q, b]).max() <= 3e-7 * np.abs(difference).max(), (q, b)
    return found


@pytest.mark.parametrize("method", [da.Rattle(), da.Midpoint(), da.RungeKutta4()], ids=repr)
def test_under_holonomic_constraints(method):
    rod = da.System(
        "rod", [x, y], kinetic=m * (x.dot**2 + y.dot**2) / 2, potential=m * g * y, constraints=[x**2 + y**2 - l**2]
    )

    def make(G=9.81, X=0.5, V=0.3, L=1.0):
        start = {x: X, y: -np.sqrt(L**2 - X**2), x.dot: V}
        return da.simulate(rod, method, h=0.01, steps=100, start=start, parameters={m: 1, g: G, l: L})

    base = {"G": 9.81, "X": 0.5, "V": 0.3, "L": 1.0}
    found = check(make, base, {g: "G", x: "X", x.dot: "V", l: "L"}, [x, y, x.dot], following=[y])
    assert "The starts of y are not kept" in str(found)


@pytest.mark.parametrize("method", [da.Midpoint(), da.GeometricNonholonomic(), da.DiscreteGradient(2)], ids=repr)
def test_under_kinematic_constraints(method):
    disk = da.System(
        "disk", [x, y, theta, phi], kinetic=m * (x.dot**2 + y.dot**2) / 2 + theta.dot**2 / 5 + phi.dot**2 / 7,
        constraints=[x.dot - R * cos(phi) * theta.dot, y.dot - R * sin(phi) * theta.dot], forces={theta: -g * sin(x)},
    )  # fmt: skip

    def make(radius=1.0, W=1.0, P=0.2):
        start = {x: 0, y: 0, theta: 0, phi: P, theta.dot: W, phi.dot: 0.5}
        return da.simulate(disk, method, h=0.01, steps=100, start=start, parameters={m: 1, g: 1.1, R: radius})

    check(make, {"radius": 1.0, "W": 1.0, "P": 0.2}, {R: "radius", theta.dot: "W", phi: "P"}, [x, theta.dot, x.dot])


def test_on_rotations_by_parameters_velocities_and_turns():
    Q = da.rotation("Q")
    w = Q.omega
    top = da.System("top", [Q], kinetic=m * (w[0] ** 2 + w[1] ** 2) / 2 + w[2] ** 2 / 4, potential=g * l * Q[2, 2])

    def make(M=1.0, W=0.1, A=0.0):
        c, s = np.cos(A), np.sin(A)
        start = np.array([[1, 0, 0], [0, 0.8, -0.6], [0, 0.6, 0.8]]) @ [[1, 0, 0], [0, c, -s], [0, s, c]]
        return da.simulate(
            top, da.Midpoint(), h=0.01, steps=60, start={Q: start, w: (W, 0, 10)}, parameters={m: M, g: 9.81, l: 0.3}
        )

    turn = top.coordinates[0]
    check(make, {"M": 1.0, "W": 0.1, "A": 0.0}, {m: "M", w[0]: "W", turn: "A"}, [Q[2, 2], w[1]])


def test_events_on_branches_in_lanes_between_records():
    """L with v^4, a wall that moves, an action that depends on the state, records three steps apart, two lanes."""
    curved = da.System("curved", [x], lagrangian=m * x.dot**2 / 2 + x.dot**4 / 4 - x**4 / 4)
    wall = da.Event(x - 3 * sin(2 * da.time) / 10, action={x.dot: -0.9 * x.dot + 0.1 * x}, name="wall")

    def make(M=1.0, X=1.0, V=0.2):
        start = {x: [X, X - 0.1], x.dot: V}
        return da.simulate(
            curved, da.Midpoint(), h=0.02, steps=300, every=3, start=start, parameters={m: M}, events=wall
        )

    assert len(make().events) >= 3
    check(make, {"M": 1.0, "X": 1.0, "V": 0.2}, {m: "M", x: "X", x.dot: "V"}, [x, x.dot], d=1e-6, events=[wall])


def test_heat_and_momenta():
    S = da.entropies("S")
    hot = da.System(
        "brake", [x], entropies=[S], kinetic=m * x.dot**2 / 2, potential=k * x**2 / 2, internal_energy=da.exp(S),
        friction={S: {x: -x.dot / 5}},
    )  # fmt: skip

    def make(K=2.0, heat=0.3, X=1.0):
        return da.simulate(
            hot, da.Midpoint(), h=0.05, steps=80, start={x: X, x.dot: 0, S: heat}, parameters={m: 1, k: K}
        )

    check(make, {"K": 2.0, "heat": 0.3, "X": 1.0}, {k: "K", S: "heat", x: "X"}, [x, S, x.dot])
    run = spring(da.Midpoint())
    by_v, by_p = da.sensitivity(run, x, [m, x.dot]), da.sensitivity(run, x, [m, x.momentum])
    assert np.allclose(by_v[x, x.dot], 0.7 * by_p[x, x.momentum], rtol=1e-12)
    assert np.allclose(by_v[x, m], by_p[x, m] + 0.2 * by_p[x, x.momentum], rtol=1e-9, atol=1e-12)  # p = m v


def test_derivatives_do_not_depend_on_units():
    plain = da.sensitivity(spring(da.Midpoint()), x, [k, x])
    a, b, c = 1e-9, 1e6, 1e-27  # length, time, mass
    other = spring(da.Midpoint(), K=1.3 * c / (a * b) ** 2, M=0.7 * c, X=a, V=0.2 * a / b, h=0.05 * b)
    found = da.sensitivity(other, x, [k, x])
    assert np.allclose(found[x, x], plain[x, x], rtol=1e-9)
    assert np.allclose(found[x, k] * (c / (a * b) ** 2) / a, plain[x, k], rtol=1e-9, atol=1e-12)


def test_the_figure_has_the_derivatives():
    found = da.sensitivity(spring(da.Midpoint()), [x, x.dot], [k, m])
    figure = da.plots.sensitivities(found)
    assert np.array_equal(figure.axes[1].lines[0].get_ydata(), found[x.dot, k])
    relative = da.plots.sensitivities(found, relative=True)
    assert np.allclose(relative.axes[0].lines[1].get_ydata(), 0.7 * found[x, m])


def test_what_is_not_differentiated_is_refused():
    run = spring(da.Midpoint())
    with pytest.raises(
        da.ModelError, match=r"by = g. Expected parameters of the system or symbols of its state: k, m, x"
    ):
        da.sensitivity(run, x, g)
    with pytest.raises(da.ModelError, match=r"the velocity x.dot and the momentum .* What is kept"):
        da.sensitivity(run, x, [x.dot, x.momentum])
    with pytest.raises(da.ModelError, match="each once"):
        da.sensitivity(run, x, [k, k])
    with pytest.raises(KeyError, match="this sensitivity has by = k"):
        da.sensitivity(run, x, k)[x, m]
    with pytest.raises(da.MethodError, match="adaptive"):
        da.sensitivity(spring(da.Reference()), x, k)
    bounced = da.simulate(
        BALL, da.Midpoint(), h=0.01, until=1, events=BOUNCE, start={y: 1, y.dot: 0}, parameters={m: 1, g: 9.81, e: 0.8}
    )
    with pytest.raises(da.ModelError, match=r"the event 'bounce' changed or stopped this motion.*Give events=\[...\]"):
        da.sensitivity(bounced, y, g)
    with pytest.raises(da.ModelError, match="each with a name of its own"):
        da.sensitivity(bounced, y, g, events=[BOUNCE, BOUNCE])
    with pytest.raises(da.StartError, match="no value for e"):
        da.sensitivity(bounced, y, g, events=[BOUNCE])
    rod = da.System("rod", [x, y], kinetic=(x.dot**2 + y.dot**2) / 2, potential=y, constraints=[x**2 + y**2 - 1])
    wall = da.Event(x, action={x.dot: -x.dot}, name="wall")
    swing = da.simulate(rod, da.Midpoint(), h=0.05, until=3, events=wall, start={x: 0.6, y: -0.8, x.dot: 0})
    with pytest.raises(da.ModelError, match="has constraints: what an action does"):
        da.sensitivity(swing, x, x, events=[wall])


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        (
            {"events": [da.Event(y - 0.1, {y.dot: -e * y.dot}, -1, "bounce")]},
            "'bounce' given is not that of the run: it is not zero",
        ),
        (
            {"events": [da.Event(y, {y.dot: -e * y.dot / 2}, -1, "bounce")]},
            "the action of the event 'bounce' given is not that",
        ),
        ({"parameters": {e: 0.81}}, "the action of the event 'bounce' given is not that of the run"),
        ({"parameters": {e: [0.8, 0.8]}}, "e has 2 values and the run 1 lanes"),
        ({"events": None}, "events = None. Expected the events of the run"),
        ({"following": [y]}, "has no constraints, so no start follows"),
    ],
)
def test_events_that_are_not_those_of_the_run_are_refused(changes, told):
    """A run has only the names of its events; with others there would be other derivatives."""
    numbers = {m: 1, g: 9.81, e: 0.8}
    run = da.simulate(
        BALL, da.Midpoint(), h=0.013, until=1.7, events=BOUNCE, start={y: 1, y.dot: 0}, parameters=numbers
    )
    right = {"events": BOUNCE, "parameters": {e: 0.8}}
    assert np.isfinite(da.sensitivity(run, y, g, **right)[y]).all()
    with pytest.raises(da.DalembertError, match=told):
        da.sensitivity(run, y, g, **right | changes)
