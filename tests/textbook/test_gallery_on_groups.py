"""Gallery systems with rotations, poses and unit vectors, against equations written here by hand and integrated by SciPy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import dalembert as da

SPAN = 3.0
E3 = np.array([0.0, 0.0, 1.0])
NAMES = ("free-rigid-body", "heavy-top", "satellite", "pendulum-on-sphere", "chaplygin-ball-in-space")


def hat(v):
    return np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])


def loaded(name):
    example = da.gallery.load(name)
    return example, {p.name: value for p, value in example.parameters.items()}


def integrated(rates, begun):
    return solve_ivp(rates, (0, SPAN), begun, "DOP853", rtol=1e-12, atol=1e-12).y[:, -1]


def computed(example):
    return da.simulate(
        example.system, da.Reference(rtol=1e-12), h=SPAN / 50, steps=50, start=example.start,
        parameters=example.parameters,
    )  # fmt: skip


def start_of(example):
    return {str(key) if not isinstance(key, tuple) else key.name: np.array(x) for key, x in example.start.items()}


@pytest.mark.parametrize("name", ["free-rigid-body", "heavy-top", "satellite"])
def test_bodies_with_a_fixed_point(name):
    """J w' = J w x w + torque, R' = R hat(w)."""
    example, p = loaded(name)
    inertia, begun = np.array([p["J1"], p["J2"], p["J3"]]), start_of(example)

    def torque(turn, t):
        if name == "heavy-top":
            return p["m"] * p["g"] * p["l"] * np.cross(turn[2], E3)
        if name == "satellite":
            u = turn.T @ [np.cos(p["Omega"] * t), np.sin(p["Omega"] * t), 0]
            return 3 * p["Omega"] ** 2 * np.cross(u, inertia * u)
        return 0 * E3

    def rates(t, state):
        turn, w = state[:9].reshape(3, 3), state[9:]
        return np.append((turn @ hat(w)).ravel(), (np.cross(inertia * w, w) + torque(turn, t)) / inertia)

    end = integrated(rates, np.append(begun["R"].ravel(), begun["R.omega"]))
    run = computed(example)
    assert np.abs(run["R"][-1].ravel() - end[:9]).max() < 1e-9 and np.abs(run["R.omega"][-1] - end[9:]).max() < 1e-8


def test_pendulum_on_the_sphere():
    """n'' = -|n'|^2 n - (g/l) (e3 - n3 n)."""
    example, p = loaded("pendulum-on-sphere")
    begun = start_of(example)

    def rates(_, state):
        u, v = state[:3], state[3:]
        return np.append(v, -(v @ v) * u - p["g"] / p["l"] * (E3 - u[2] * u))

    sideways = begun["n.velocity"] * 0.6 + np.array([0.8, 0, 0.6])
    end = integrated(rates, np.append(begun["n"], sideways))
    n = da.direction("n")
    run = da.simulate(
        example.system, da.Reference(rtol=1e-12), h=SPAN, steps=1, start={n: begun["n"], n.velocity: sideways},
        parameters=example.parameters,
    )  # fmt: skip
    assert np.abs(run[n][-1] - end[:3]).max() < 1e-9 and np.abs(run[n.velocity][-1] - end[3:]).max() < 1e-8
    whole = computed(example)
    exact = example.exact(whole.time, p, begun)["n"]
    assert np.abs(whole[n] - exact).max() < 1e-9
    other = example.exact(whole.time, p | {"g": 9.9}, begun)["n"]
    assert np.abs(whole[n] - other).max() > 1e-3  # control


def test_chaplygin_ball():
    """K = J w + m r^2 u x (w x u) in the body, u the vertical there: K' = K x w, u' = u x w; dx/dt = r W2, dy/dt = -r W1."""
    example, p = loaded("chaplygin-ball-in-space")
    inertia, begun = np.diag([p["J1"], p["J2"], p["J3"]]), start_of(example)
    m, radius = p["m"], p["r"]

    def whole(turn):
        u = turn[2]
        return inertia + m * radius**2 * (np.eye(3) - np.outer(u, u))

    def rates(_, state):
        turn, K = state[:9].reshape(3, 3), state[9:12]
        w = np.linalg.solve(whole(turn), K)
        W = turn @ w
        return np.concatenate([(turn @ hat(w)).ravel(), np.cross(K, w), [radius * W[1], -radius * W[0]]])

    turn = begun["P"][:3, :3]
    end = integrated(rates, np.concatenate([turn.ravel(), whole(turn) @ begun["P.omega"], [0, 0]]))
    run = computed(example)
    P = run["P"][-1]
    assert np.abs(P[:3, :3].ravel() - end[:9]).max() < 1e-9
    assert np.abs(P[:2, 3] - end[12:]).max() < 1e-9 and abs(P[2, 3] - radius) < 1e-12
    stepped = da.simulate(
        example.system, da.Midpoint(), h=0.01, until=SPAN, start=example.start, parameters=example.parameters
    )
    assert np.abs(stepped["P"][-1] - P).max() < 1e-3
    assert np.abs(stepped["P"][:, 2, 3] - radius).max() < 1e-13


@pytest.mark.parametrize("name", NAMES)
def test_invariants(name):
    """Constant along the exact motion, and not along one that is pushed."""
    example, _ = loaded(name)
    run = computed(example)
    assert example.invariants
    (q,) = example.system.factors
    push = {q: [0.3, -0.2, 0.5] if len(q.directions) < 6 else [0.3, -0.2, 0.5, 0, 0, 0]}
    pushed = da.simulate(
        example.system.replace(forces=push), da.Reference(rtol=1e-10), h=SPAN / 5, steps=5, start=example.start,
        parameters=example.parameters,
    )  # fmt: skip
    for what, expression in example.invariants.items():
        values, others = run.quantity(expression), pushed.quantity(expression)
        assert np.ptp(values) < 1e-9 * max(1, np.abs(values).max()), what
        assert np.ptp(others) > 1e-3, what
    if name != "satellite":
        assert np.ptp(run.energy) < 1e-9 * np.abs(run.energy).max()
    else:
        assert np.ptp(run.energy) > 1e-3
