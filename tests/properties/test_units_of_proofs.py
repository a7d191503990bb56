"""Equilibria, stability, normal modes and steps in other units: the same counts and verdicts, the scaled numbers."""

from __future__ import annotations

import numpy as np
import pytest
import sympy
from sympy import cos, exp, sin

import dalembert as da
from dalembert.analysis.steps.existence import existence
from dalembert.rigour import isolation as isolate

x, y, theta = da.coordinates("x y theta")
m, k, a = da.parameters("m k a", positive=True)
ANGLES = {"theta", "theta1", "theta2", "phi", "psi"}
ENERGY, TIME, FACTOR = da.parameters("unit_energy unit_time factor", positive=True)


def unit(q):
    """The factor of a coordinate: a parameter, so that its number is given with the others."""
    return da.parameters(f"unit_{q}", positive=True)


def in_units(system):
    """The same system with q' = unit q, t' = unit_time t, L' = unit_energy L; constraints are multiplied by a factor."""
    q = system.coordinates
    lengths = {c: sympy.S.One if c.name in ANGLES else unit(c) for c in q}
    places = {c: c / lengths[c] for c in q} | {c.dot: c.dot * TIME / lengths[c] for c in q}

    def put(e):
        return sympy.sympify(e).xreplace(places)

    kinds = {name: ENERGY * put(e) for name, e in system.energies.items()}
    forces = {c: ENERGY / lengths[c] * put(f) for c, f in zip(q, system.forces, strict=True) if f != 0}
    return da.System(
        system.name, q, **kinds, forces=forces, dissipation=ENERGY / TIME * put(system.dissipation),
        constraints=[FACTOR ** (i + 1) * put(c.expression) for i, c in enumerate(system.constraints)],
    )  # fmt: skip


def numbers(system, rng, decades):
    """Factors by random powers of ten; one of a length that serves all coordinates, so that they may stay coupled."""
    length, time, mass = 10.0 ** rng.integers(-decades, decades + 1, 3)
    found = {unit(c): length for c in system.coordinates if c.name not in ANGLES}
    others = {ENERGY: mass * length**2 / time**2, TIME: time}
    return found, others | ({FACTOR: 10.0 ** rng.integers(-14, 15)} if system.constraints else {}), float(time)


def same(system, parameters, box, rng, decades=12):
    """Compare equilibria, verdicts and modes with those in other units; say what differs."""
    first = da.equilibria(system, parameters=parameters, box=box)
    lengths, others, time = numbers(system, rng, decades)
    factor = {c: lengths.get(unit(c), 1.0) for c in system.coordinates}
    scaled = {c: (lo * factor[c], hi * factor[c]) for c, (lo, hi) in box.items()}
    second = da.equilibria(in_units(system), parameters={**parameters, **lengths, **others}, box=scaled)
    found = [len(first) == len(second), first.complete == second.complete, len(first.free) == len(second.free)]
    if not all(found):
        return f"{found}: {first} {second}"
    for e, f in zip(first, second, strict=True):
        if e.stability.verdict != f.stability.verdict:
            return f"{e.stability} {f.stability}"
        for c in first.box:
            size = max(abs(end) for end in first.box[c])
            if abs(f[c] / factor[c] - e[c]) > 1e-11 * size:
                return f"{c}: {e[c]} {f[c]}"
        if e.stability.exponents.size == 0 != len(system.coordinates) - len(system.constraints):
            continue  # a singular mass matrix
        u, w = (da.normal_modes(s, at=p) for s, p in ((system, e), (second.system, f)))
        size = np.abs(u.exponents).max(initial=0)
        if (
            len(u) != len(w)
            or (np.abs(np.sort_complex(u.exponents) - np.sort_complex(w.exponents * time)) > 1e-6 * size).any()
        ):
            return f"{u} {w}"
        if u.stability.verdict != w.stability.verdict:
            return f"{u.stability} {w.stability}"
    return ""


GALLERY = {
    "harmonic-oscillator": 2, "pendulum": 0, "pendulum-cartesian": 2, "double-pendulum": 0, "cart-pendulum": 0,
    "bead-on-rotating-hoop": 0, "two-pulleys-with-spring": 2, "knife-edge": 0, "rolling-disk": 0,
    "spring-pendulum-on-slider": 2,
    "pendulum-on-circle": 0, "two-discs-on-incline": 3, "block-on-incline": 2, "particle": 2, "damped-spring": 4,
    "sliding-ladder-with-bead": 1,
}  # fmt: skip


@pytest.mark.parametrize("name", GALLERY)
def test_gallery_in_other_units(name):
    e = da.gallery.load(name)
    box = (
        {c: (-GALLERY[name] - 0.1, GALLERY[name] + 0.2) for c in e.system.coordinates if c.name not in ANGLES}
        if GALLERY[name]
        else {}
    )
    rng = np.random.default_rng(sum(map(ord, name)))
    for _ in range(2):
        assert same(e.system, e.parameters, box, rng) == ""


def potentials(rng):
    """A potential of x, y in a box, random but of size one."""
    c = rng.uniform(0.3, 1.6, 6).round(3)
    forms = [
        c[0] * x**4 / 4 - c[1] * x**2 / 2 + c[2] * x / 5 + c[3] * y**2 / 2 + c[4] * x * y / 3,
        c[0] * cos(2 * x) + c[1] * (x - y) ** 2 / 2 + c[2] * y**2 / 4,
        c[0] * (1 - exp(-x - 0.3)) ** 2 + c[1] * y**2 / 2 + c[2] * sin(x + y),
        c[0] * sympy.log(3 + x) + c[1] * x**2 + c[2] * sympy.sqrt(2 + y) + c[3] * y**2,
        c[0] / (x + 3) + c[1] * x + c[2] * (y - x) ** 2 + c[3] * y**4,
    ]
    return forms[int(rng.integers(len(forms)))]


@pytest.mark.parametrize("seed", range(12))
def test_generated_potentials_in_other_units(seed):
    rng = np.random.default_rng(seed)
    damping = rng.choice([0, 0.3])
    system = da.System(
        "generated", [x, y], kinetic=m * x.dot**2 / 2 + a * y.dot**2 / 2 + x.dot * y.dot / 5,
        potential=potentials(rng), dissipation=damping * x.dot**2,
    )  # fmt: skip
    values = {m: rng.uniform(0.5, 2), a: rng.uniform(0.5, 2)}
    assert same(system, values, {x: (-2.0, 2.5), y: (-1.9, 2.5)}, rng) == ""


def test_control_without_units_of_their_own_verdicts_change(monkeypatch):
    """With matrices taken as they are (no balance, singular values against an absolute number) counts depend on units."""

    def plain(matrices):
        return np.ones(matrices.shape[:2]), np.ones((matrices.shape[0], matrices.shape[2]))

    monkeypatch.setattr(isolate, "balance", plain)
    told = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        system = da.System(
            "two",
            [x, theta],
            kinetic=x.dot**2 / 2 + theta.dot**2 / 2,
            potential=x**2 / 2 + cos(theta - 1) + x * sin(theta) / 3,
        )
        told.append(same(system, {}, {x: (-2.0, 2.5), theta: (-2.5, 2.5)}, rng))
    assert any(told)


@pytest.mark.parametrize("seed", range(6))
def test_steps_in_other_units(seed):
    """A quartic spring by the midpoint rule: as many steps as roots, each the scaled one."""
    rng = np.random.default_rng(seed)
    length, time, mass = 10.0 ** rng.integers(-12, 13, 3)
    spring = da.System("spring", [x], kinetic=m * x.dot**2 / 2, potential=k * (x**4 / (4 * a**2) - x**2 / 2))
    q, v, h = rng.uniform(-2, 2), rng.uniform(-2, 2), rng.choice([0.3, 5.0, 8.0])
    w = np.polynomial.Polynomial([0, h / 2]) + q  # the middle, by the step velocity
    residual = np.polynomial.Polynomial([-v, 1]) + h / 2 * (w**3 - w)
    real = sorted(q + h * r.real for r in residual.roots() if abs(r.imag) < 1e-9)
    values = {m: mass, k: mass / time**2, a: length}
    found = existence(
        spring, da.Midpoint(), at={x: q * length, x.dot: v * length / time}, h=h * time, parameters=values
    )
    assert found.complete and sorted(s[x] / length for s in found.steps) == pytest.approx(real, rel=1e-9, abs=1e-9)
    for s in found.steps:
        lo, hi = s.enclosure[x]
        assert hi - lo < 1e-12 * length
