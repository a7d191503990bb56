"""Gallery systems with symmetry against equations typed here: reduced equations by hand, Euler angles, closed forms."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
import sympy
from scipy.integrate import solve_ivp

import dalembert as da
from dalembert import gallery

TURNING = ("suslov", "veselova", "chaplygin-ball", "ball-on-turntable", "heavy-top-on-cart")
PLANAR = ("snakeboard", "roller-racer", "two-wheeled-robot")

load = cache(gallery.load)


def numbers(name: str) -> dict[str, float]:
    return {p.name: v for p, v in load(name).parameters.items()}


@cache
def run(name: str, h: float | None = None) -> Any:
    e = load(name)
    step = h or e.h
    return da.simulate(e.system, da.Reference(), h=step, until=200 * e.h, start=e.start, parameters=e.parameters)


# -------------------- what is stated --------------------


@pytest.mark.parametrize("name", TURNING)
def test_example_is_complete(name: str) -> None:
    example = load(name)
    assert example.name == name and example.description.endswith(".") and example.source
    assert set(example.parameters) == set(example.system.parameters)
    assert 500 <= example.until / example.h <= 5000
    assert not {g.name for g in example.elements} & {p.name for p in example.system.parameters}


@pytest.mark.parametrize("name", TURNING)
def test_invariants(name: str) -> None:
    """Each stays to the accuracy of the solution; with its last term doubled it does not."""
    found = run(name)
    for label, e in load(name).invariants.items():
        values, terms = found.quantity(e), sympy.Add.make_args(sympy.expand(e))
        size = max(float(np.abs(found.quantity(t)).max()) for t in terms)
        assert np.ptp(values) < 1e-8 * size, label
        for term in terms:
            if np.ptp(found.quantity(term)) > 1e-3 * size:
                assert np.ptp(found.quantity(e + term)) > 1e-4 * size, (label, term)


# -------------------- rotations by Euler's angles --------------------


def rotation(a: Any, b: Any, c: Any) -> sympy.Matrix:
    """About the third axis by a, about the first by b, about the third by c."""

    def third(s: Any) -> sympy.Matrix:
        return sympy.Matrix([[sympy.cos(s), -sympy.sin(s), 0], [sympy.sin(s), sympy.cos(s), 0], [0, 0, 1]])

    tilt = sympy.Matrix([[1, 0, 0], [0, sympy.cos(b), -sympy.sin(b)], [0, sympy.sin(b), sympy.cos(b)]])
    return third(a) * tilt * third(c)


@cache
def by_angles(name: str) -> Any:
    """Accelerations of lines and angles, with the angular acceleration, as a function of a state in Euler's angles."""
    system = load(name).system
    (R,) = {d.owner: d for d in system.coordinates if "." in d.name}
    angles = sympy.symbols("e1:4")
    rates = sympy.symbols("r1:4")
    lines = [q for q in system.coordinates if "." not in q.name]
    q, v = [*lines, *angles], [*(x.dot for x in lines), *rates]
    matrix = rotation(*angles)
    moved = sum((matrix.diff(e) * r for e, r in zip(angles, rates, strict=True)), sympy.zeros(3))
    hat = matrix.T * moved
    omega = sympy.Matrix([hat[2, 1], hat[0, 2], hat[1, 0]])
    turn = da.rotation(R)
    place = {turn[i, j]: matrix[i, j] for i in range(3) for j in range(3)}
    place |= {turn.omega[k]: omega[k] for k in range(3)}
    L = system.lagrangian.xreplace(place)
    forms = [c.expression.xreplace(place) for c in system.constraints]

    def rate(e: Any) -> Any:
        return sympy.Add(*(e.diff(s) * w for s, w in zip(q, v, strict=True)))

    momenta = [L.diff(w) for w in v]
    mass = [[p.diff(w) for w in v] for p in momenta]
    rows = [[f.diff(w) for w in v] for f in forms]
    force = [L.diff(s) - rate(p) for s, p in zip(q, momenta, strict=True)]
    drift = [-rate(f) for f in forms]
    slopes = [[o.diff(w) for w in rates] for o in omega]
    at = [q, v, list(system.parameters)]
    made = sympy.lambdify(
        at, [mass, rows, force, drift, slopes, [rate(o) for o in omega], list(omega), matrix], cse=True
    )
    return made, len(lines), turn


@pytest.mark.parametrize("name", TURNING)
def test_accelerations_are_those_of_eulers_angles(name: str) -> None:
    """At random states on the constraints: the same accelerations, from L in Euler's angles with multipliers."""
    example, rng = load(name), np.random.default_rng(3)
    made, k, R = by_angles(name)
    system = example.system
    values = [example.parameters[p] for p in system.parameters]
    for _ in range(3):
        q, v = rng.uniform(0.3, 1.3, k + 3), rng.uniform(-1, 1, k + 3)
        mass, rows, force, drift, *_ = made(q, v, values)
        if rows:  # the velocities nearest to these that satisfy the constraints
            A = np.array(rows, dtype=float)
            off = np.array(constraint_values(name, q, v, values))
            v = v - np.linalg.pinv(A) @ off
        mass, rows, force, drift, slopes, change, omega, matrix = made(q, v, values)
        n, m = k + 3, len(rows)
        whole = np.zeros((n + m, n + m))
        whole[:n, :n] = mass
        if m:
            whole[n:, :n], whole[:n, n:] = rows, np.array(rows).T
        a = np.linalg.solve(whole, [*force, *drift])[:n]
        alpha = np.array(slopes) @ a[k:] + np.array(change)
        start = dict(zip(system.coordinates[:k], q[:k], strict=True))
        start |= dict(zip((c.dot for c in system.coordinates[:k]), v[:k], strict=True))
        start |= {R: np.array(matrix), R.omega: tuple(omega)}
        found = da.evaluate(system, at=start, parameters=example.parameters).accelerations
        own = [found[c] for c in system.coordinates]
        assert np.allclose(own, [*a[:k], *alpha], rtol=1e-9, atol=1e-9)


def constraint_values(name: str, q: Any, v: Any, values: Any) -> list[float]:
    """A v + b of the constraints, in Euler's angles."""
    example = load(name)
    made, k, R = by_angles(name)
    *_, omega, matrix = made(q, v, values)
    system = example.system
    place = {R[i, j]: matrix[i][j] for i in range(3) for j in range(3)} | dict(zip(R.omega, omega, strict=True))
    place |= dict(zip(system.coordinates[:k], q, strict=False))
    place |= {c.dot: x for c, x in zip(system.coordinates[:k], v, strict=False)}
    place |= example.parameters
    return [float(c.expression.xreplace(place)) for c in system.constraints]


# -------------------- known facts --------------------


def facts(name: str, equations: Any, start: Any, own: Any, atol: float = 1e-8) -> None:
    """A motion in variables of one's own, integrated by SciPy, against those read off the motion of the system."""
    found = run(name)
    y0 = start(found, 0)
    solved = solve_ivp(
        equations, (found.time[0], found.time[-1]), y0, "DOP853", t_eval=found.time, rtol=1e-11, atol=1e-12
    )
    assert np.allclose(solved.y, own(found), rtol=1e-8, atol=atol)
    assert np.ptp(solved.y, axis=1).max() > 0.1


def body_speeds(found: Any, heading: str) -> Any:
    c, s = np.cos(found[heading]), np.sin(found[heading])
    return c * found["x.dot"] + s * found["y.dot"], -s * found["x.dot"] + c * found["y.dot"]


def test_momentum_equation_of_the_snakeboard() -> None:
    """With (r cos(phi) s, 0, sin(phi) s) the velocity in the board and p = A s + J_r sin(phi) psi.dot:
    p.dot = phi.dot ((J_t - m r^2) sin(phi) cos(phi) s + J_r cos(phi) psi.dot); rotor and axles keep their momenta."""
    P = numbers("snakeboard")
    m, J, Jr, Jw, r = (P[n] for n in ("m", "J", "J_r", "J_w", "r"))
    Jt = J + Jr + 2 * Jw

    def speeds(y: Any) -> Any:
        """s and psi.dot from p and the momentum of the rotor."""
        phi, p, rotor = y[0], y[2], y[4]
        S, C = np.sin(phi), np.cos(phi)
        # p = (m r^2 C^2 + Jt S^2) s + Jr S psi.dot and rotor = Jr (S s + psi.dot)
        s = (p - S * rotor) / (m * r**2 * C**2 + (Jt - Jr) * S**2)
        return s, rotor / Jr - S * s

    def equations(t: float, y: Any) -> Any:
        phi, rate, _, _, _ = y
        S, C = np.sin(phi), np.cos(phi)
        s, spin = speeds(y)
        return [rate, 0, rate * ((Jt - m * r**2) * S * C * s + Jr * C * spin), S * s, 0]

    def own(found: Any) -> Any:
        phi, spin = found["phi"], found["psi.dot"]
        along, across = body_speeds(found, "theta")
        assert np.abs(across).max() < 1e-9
        p = m * r * np.cos(phi) * along + np.sin(phi) * (Jt * found["theta.dot"] + Jr * spin)
        return np.array([phi, found["phi.dot"], p, found["theta"], Jr * (found["theta.dot"] + spin)])

    facts("snakeboard", equations, lambda found, k: own(found)[:, k], own)


def test_momentum_equation_of_the_roller_racer() -> None:
    """Along (D, 0, sin(phi)) with D = d_1 cos(phi) + d_2; then the equation of the handlebar along (0, 0, -d_2/D, 1)."""
    P = numbers("roller-racer")
    m, J1, J2, d1, d2 = (P[n] for n in ("m", "J_1", "J_2", "d_1", "d_2"))

    def equations(t: float, y: Any) -> Any:
        phi, rate, u, _ = y
        S, C = np.sin(phi), np.cos(phi)
        D, dD = d1 * C + d2, -d1 * S
        turn = (S * u - d2 * rate) / D
        # m u.dot D + S ((J1 + J2) turn.dot + J2 rate.dot) = 0, the balance along S, and the one of the handlebar
        drift = (C * rate * u - turn * dD * rate) / D
        A = np.array(
            [
                [m * D + S * (J1 + J2) * S / D, S * (J2 - (J1 + J2) * d2 / D)],
                [-d2 / D * (J1 + J2) * S / D + J2 * S / D, J2 - 2 * J2 * d2 / D + (J1 + J2) * d2**2 / D**2],
            ]
        )
        b = -drift * np.array([S * (J1 + J2), J2 - (J1 + J2) * d2 / D])
        change = np.linalg.solve(A, b)
        return [rate, change[1], change[0], turn]

    def own(found: Any) -> Any:
        return np.array([found["phi"], found["phi.dot"], body_speeds(found, "theta")[0], found["theta"]])

    facts("roller-racer", equations, lambda found, k: own(found)[:, k], own)


def test_the_robot_moves_by_its_wheels() -> None:
    """v and phi.dot are those of the wheels; M v.dot = m a phi.dot^2 and (J + m a^2 + ...) phi.ddot = -m a v phi.dot."""
    P = numbers("two-wheeled-robot")
    m, J, Jw, R, b, a = (P[n] for n in ("m", "J", "J_w", "R", "b", "a"))

    def equations(t: float, y: Any) -> Any:
        v, turn, _ = y
        return [m * a * turn**2 / (m + 2 * Jw / R**2), -m * a * v * turn / (J + m * a**2 + 2 * Jw * b**2 / R**2), turn]

    def own(found: Any) -> Any:
        v = body_speeds(found, "phi")[0]
        assert np.allclose(v, R * (found["theta.dot"] + found["psi.dot"]) / 2, atol=1e-9)
        return np.array([v, found["phi.dot"], found["phi"]])

    facts("two-wheeled-robot", equations, lambda found, k: own(found)[:, k], own)


def test_suslov_in_closed_form() -> None:
    """With (sqrt(I_1) w1, sqrt(I_2) w2) = c (cos b, sin b): b.dot = c K cos(b - d)/sqrt(I_1 I_2), so that b - d is the
    Gudermannian of c K t/sqrt(I_1 I_2) plus a constant; b goes to d + pi/2, the steady rotation that attracts."""
    P = numbers("suslov")
    I1, I2, I13, I23 = (P[n] for n in ("I_1", "I_2", "I_13", "I_23"))
    e = load("suslov")
    found = da.simulate(e.system, da.Reference(), h=0.1, until=60, start=e.start, parameters=e.parameters)
    w = found[da.rotation("R").omega]
    big, small = np.sqrt(I1) * w[:, 0], np.sqrt(I2) * w[:, 1]
    c = np.hypot(big[0], small[0])
    K = np.hypot(I13 / np.sqrt(I1), I23 / np.sqrt(I2))
    d = np.arctan2(I23 / np.sqrt(I2), I13 / np.sqrt(I1))
    b0 = np.arctan2(small[0], big[0]) - d
    angle = 2 * np.arctan(np.tanh((c * K * found.time / np.sqrt(I1 * I2) + 2 * np.arctanh(np.tan(b0 / 2))) / 2)) + d
    assert np.allclose(big, c * np.cos(angle), atol=1e-8) and np.allclose(small, c * np.sin(angle), atol=1e-8)
    M = I13 * w[:, 0] + I23 * w[:, 1]
    assert abs(M[-1]) < 1e-4 * abs(M[0])
    assert np.abs(w[:, 2]).max() < 1e-9


def test_sleigh_in_closed_form() -> None:
    """v = U tanh(s), phi.dot = (U/b) sech(s), s = a U (t - t0)/b^2: it ends ahead of its mass centre's side."""
    P = numbers("chaplygin-sleigh")
    m, J, a = P["m"], P["J"], P["a"]
    found = run("chaplygin-sleigh")
    v, b = body_speeds(found, "phi")[0], np.sqrt(a**2 + J / m)
    U = np.hypot(v[0], b * found["phi.dot"][0])
    s = a * U * found.time / b**2 + np.arctanh(v[0] / U)
    assert np.allclose(v, U * np.tanh(s), atol=1e-8)
    assert np.allclose(found["phi.dot"], U / b / np.cosh(s), atol=1e-8)


def test_the_ball_on_a_turntable_goes_round_with_two_sevenths() -> None:
    P = numbers("ball-on-turntable")
    assert P["J"] == pytest.approx(0.4 * P["m"] * P["a"] ** 2)
    found = run("ball-on-turntable", h=0.05)
    rate = 2 / 7 * P["Omega"] * found.time
    u, v = found["x.dot"][0], found["y.dot"][0]
    assert np.allclose(found["x.dot"], u * np.cos(rate) - v * np.sin(rate), atol=1e-8)
    assert np.allclose(found["y.dot"], u * np.sin(rate) + v * np.cos(rate), atol=1e-8)


def test_the_reaction_on_veselovas_body_is_a_torque_about_the_axis() -> None:
    """Iw.dot = Iw x w + lambda g with g the axis in the body; the invariant measure has the density sqrt(<g, I^-1 g>): the
    divergence of the motion of (w, g) on the constraint is that of the logarithm of the density, less d/dt of it."""
    found, R = run("veselova"), da.rotation("R")
    I = np.array([numbers("veselova")[f"I_{k}"] for k in (1, 2, 3)])
    w0, g0 = found[R.omega][0], found[R][0][2]

    def rates(y: Any) -> Any:
        w, g = y[:3], y[3:]
        multiplier = -(np.cross(I * w, w) / I) @ g / (g @ (g / I))
        return np.concatenate([(np.cross(I * w, w) + multiplier * g) / I, np.cross(g, w)])

    solved = solve_ivp(
        lambda t, y: rates(y), (0, found.time[-1]), [*w0, *g0], "DOP853", t_eval=found.time, rtol=1e-11, atol=1e-12
    )
    assert np.allclose(solved.y[:3].T, found[R.omega], atol=1e-8)
    assert np.allclose(solved.y[3:].T, found[R][:, 2], atol=1e-8)
    y, d = solved.y[:, 40], 1e-6
    slopes = np.array([(rates(y + e) - rates(y - e)) / (2 * d) for e in d * np.eye(6)])
    rho = [np.sqrt(g @ (g / I)) for g in (y[3:] + d * rates(y)[3:], y[3:] - d * rates(y)[3:])]
    divergence = np.trace(slopes) + np.log(rho[0] / rho[1]) / (2 * d)
    assert abs(np.trace(slopes)) > 1e-3 and abs(divergence) < 1e-7
