"""The audit, contacts and balances in any units: verdicts are the same, and small is small against the terms themselves."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as da
from dalembert import bodies as b
from dalembert import cos, exp, sin, sqrt
from dalembert.analysis.motions.contacts import contact_report

x, y, theta = da.coordinates("x y theta")
S, U = da.entropies("S U")
m, M, G, l, g, k, c, C, T, K = da.parameters("m M G l g k c C T K", positive=True)

# powers of mass, length, time, temperature
DIMENSIONS = {m: (1, 0, 0, 0), M: (1, 0, 0, 0), G: (0, 3, -2, 0), l: (0, 1, 0, 0), g: (0, 1, -2, 0), k: (1, 0, -2, 0),
              c: (1, 0, -1, 0), C: (1, 2, -2, -1), T: (0, 0, 0, 1), K: (1, 2, -3, -1),
              x: (0, 1, 0, 0), y: (0, 1, 0, 0), theta: (0, 0, 0, 0), x.dot: (0, 1, -1, 0), y.dot: (0, 1, -1, 0),
              theta.dot: (0, 0, -1, 0), S: (1, 2, -2, -1), U: (1, 2, -2, -1)}  # fmt: skip
VALUES = {m: 1.2, M: 0.7, G: 1.0, l: 1.0, g: 2.0, k: 0.9, c: 0.2, C: 1.5, T: 3.0, K: 0.3}

KEPLER = da.System("kepler", [x, y], kinetic=m * (x.dot**2 + y.dot**2) / 2, potential=-m * G / sqrt(x**2 + y**2))
CART = da.System(
    "cart", [x, theta], potential=-m * g * l * cos(theta),
    kinetic=(m + M) * x.dot**2 / 2 + m * l * cos(theta) * x.dot * theta.dot + m * l**2 * theta.dot**2 / 2,
)  # fmt: skip
WARM = da.System(
    "warm", [x], kinetic=m * x.dot**2 / 2, potential=k * (x - l / 3) ** 2 / 2, entropies=[S, U],
    internal_energy=C * T * (exp(S / C) + exp(U / C)), friction={S: {x: -c * x.dot}}, conduction={(S, U): K},
)  # fmt: skip
CASES = {
    "kepler": (KEPLER, {x: 1, y: 0, x.dot: 0, y.dot: 1.1}, da.Midpoint(), ()),
    "cart at rest": (CART, {x: 0, theta: 1, x.dot: 0, theta.dot: 0}, da.Midpoint(), ()),
    "cart": (CART, {x: 0, theta: 1, x.dot: 0.2, theta.dot: 0}, da.RungeKutta4(), ()),
    "warm": (WARM, {x: 1, x.dot: 0, S: 0.3, U: 0}, da.Midpoint(), ()),
    "warm, bouncing": (WARM, {x: 1, x.dot: 0, S: 0.3, U: 0}, da.Midpoint(), (da.Event(x, {x.dot: -0.9 * x.dot}),)),
}
INVARIANTS = {
    "kepler": {"px": m * x.dot, "kinetic": m * (x.dot**2 + y.dot**2) / 2, "spin": m * (x * y.dot - y * x.dot)}
}


def audited(case, units):
    system, start, method, events = CASES[case]

    def scaled(s, value):
        return value * float(np.prod([u**p for u, p in zip(units, DIMENSIONS[s], strict=True)]))

    run = da.simulate(
        system, method, h=0.02 * units[2], steps=300, start={s: scaled(s, v) for s, v in start.items()},
        parameters={p: scaled(p, VALUES[p]) for p in system.parameters}, events=list(events),
    )  # fmt: skip
    return da.audit(run, INVARIANTS.get(case))


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("case", CASES)
def test_verdicts_do_not_depend_on_units(case, seed):
    units = 10.0 ** np.random.default_rng(seed).uniform(-12, 12, 4)
    here, there = audited(case, (1.0,) * 4), audited(case, units)
    for one, two in zip(here.rows, there.rows, strict=True):
        assert (one.quantity, one.ok, one.stretches) == (two.quantity, two.ok, two.stretches)
        assert one.verdict.split()[0] == two.verdict.split()[0]
        if one.deviation > 1e-9:
            assert two.deviation == pytest.approx(one.deviation, rel=1e-4)


ATOM = {"m": 9.1e-31, "strength": 2.3e-28, "r": 5e-11}
SLOW = {"m": 1.0, "strength": 6.7e-11, "r": 1.0}


@pytest.mark.parametrize(("given", "steps"), [(ATOM, 600), (SLOW, 600), (SLOW, 20)])
def test_a_weak_or_small_attraction_does_not_keep_the_momentum(given, steps):
    """Hydrogen in SI units, and Newton's constant in a short run: only what is conserved is kept to rounding."""
    mass, strength, r = given.values()
    orbit = da.System(
        "orbit", [x, y], kinetic=mass * (x.dot**2 + y.dot**2) / 2, potential=-strength / sqrt(x**2 + y**2)
    )
    v = np.sqrt(strength / mass / r)
    claims = {
        "px": mass * x.dot,
        "py": mass * y.dot,
        "T": mass * (x.dot**2 + y.dot**2) / 2,
        "spin": x * y.dot - y * x.dot,
    }
    run = da.simulate(
        orbit, da.Midpoint(), h=r / v / 40, steps=steps, start={x: r, y: 0, x.dot: 0.1 * v, y.dot: 1.1 * v}
    )
    report = da.audit(run, claims)
    assert report["spin"].verdict == "kept to rounding"
    assert all(report[name].verdict != "kept to rounding" for name in ("px", "py", "T"))
    listed = [row.quantity for row in report.rows]
    assert listed[: len(claims) + 1] == ["energy", *claims]
    assert not any("momentum" in name for name in listed)  # none is said to be conserved; the spin is a claim


def test_a_change_below_the_old_threshold_is_seen():
    """A fast body feels a pull of 6.7e-11 for a tenth of a second: 7e-12 of its momentum, a thousand times its rounding."""
    fall = da.System("fall", [x], kinetic=x.dot**2 / 2, potential=6.7e-11 * x)
    run = da.simulate(fall, da.Midpoint(), h=0.01, steps=10, start={x: 0, x.dot: 1})
    row = da.audit(run, {"momentum": x.dot})["momentum"]
    assert 1e-12 < row.deviation < 1e-11
    assert row.verdict == "drifts"
    still = da.simulate(fall.replace(potential=0), da.Midpoint(), h=0.01, steps=10, start={x: 0, x.dot: 1})  # control
    assert da.audit(still, {"momentum": x.dot})["momentum"].verdict == "kept to rounding"


def test_a_constant_does_not_hide_a_drift():
    """An energy whose zero lies a million below: its error is measured by what varies."""
    given = {"h": 0.1, "steps": 400, "start": {x: 1, x.dot: 0}}
    plain = da.System("spring", [x], kinetic=x.dot**2 / 2, potential=x**2 / 2)
    raised = plain.replace(potential=x**2 / 2 + 1000000)
    one, two = (da.audit(da.simulate(s, da.RungeKutta4(), **given))["energy"] for s in (plain, raised))
    assert two.deviation == pytest.approx(one.deviation, rel=0.01)
    assert one.verdict == two.verdict == "drifts"


def test_a_momentum_that_is_zero_but_for_rounding_is_kept():
    """Of a discrete system: its terms are not zero."""
    cart = da.discretise(CART, da.midpoint_map)
    values = {p: VALUES[p] for p in CART.parameters}
    start = {x: 0, theta: 1, x.momentum: 0, theta.momentum: 0}
    run = da.simulate(cart, h=0.05, steps=400, start=start, parameters=values)
    assert np.abs(run[x.momentum]).max() < 1e-14
    assert da.audit(run).ok


@pytest.mark.parametrize("seed", range(6))
def test_contacts_do_not_depend_on_units(seed):
    """A ball in a bowl that is about to leave it; lengths, masses and times in units at random."""
    rng = np.random.default_rng(seed)
    mass, length, duration = 10.0 ** rng.uniform(-3, 3, 3)
    bowl = da.System("bowl", [x, y], kinetic=m * (x.dot**2 + y.dot**2) / 2, potential=m * g * y,
                     constraints=[(x**2 + y**2 - l**2) / 2])  # fmt: skip
    found = []
    for u in ((1.0, 1.0, 1.0), (mass, length, duration)):
        values = {m: 1.2 * u[0], g: 9.81 * u[1] / u[2] ** 2, l: u[1]}
        start = {x: 0, y: -u[1], x.dot: 6.5 * u[1] / u[2], y.dot: 0}
        run = da.simulate(bowl, da.Midpoint(), h=0.005 * u[2], until=0.6 * u[2], start=start, parameters=values)
        report = contact_report(run, {"wall": -1})
        found.append(report.first.lost / u[2])
    assert found[0] == pytest.approx(found[1], rel=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_balances_of_force_do_not_depend_on_units(seed):
    """A rod against a wall in units at random: the same reactions; one that is missing is noticed in all of them."""
    rng = np.random.default_rng(seed)
    mass, length, duration = 10.0 ** rng.uniform(-9, 9, 3) if seed else (1.0, 1.0, 1.0)
    rod = b.PlaneBody(b.rod(m, l), [l * sin(theta) / 2, l * cos(theta) / 2], theta)
    whole = b.assemble("rod", [theta], bodies=[rod], loads=[b.Gravity(g)])
    values = {m: 1.2 * mass, l: 0.9 * length, g: 9.81 * length / duration**2}
    at = {theta: 0.7, theta.dot: 0.3 / duration}
    contact = b.Contact(rod, [0, 0])
    found = whole.newton_euler([contact]).solve(at, values)
    force = mass * length / duration**2
    unit = b.assemble("rod", [theta], bodies=[rod], loads=[b.Gravity(g)]).newton_euler([contact])
    base = unit.solve({theta: 0.7, theta.dot: 0.3}, {m: 1.2, l: 0.9, g: 9.81})
    assert np.array(found.reactions) / force == pytest.approx(base.reactions, rel=1e-9)
    assert found.accelerations[theta] * duration**2 == pytest.approx(base.accelerations[theta], rel=1e-9)
    with pytest.raises(da.ModelError, match="the balances contradict each other"):
        whole.newton_euler([b.Contact(rod, [0, 0], [[1, 0]])]).solve(at, values)
    with pytest.raises(da.ModelError, match="the balances do not determine"):
        whole.newton_euler([contact, b.Contact(rod, [l * sin(theta), l * cos(theta)])]).solve(at, values)


@pytest.mark.parametrize("unit", [1e-12, 1.0, 1e12])
def test_a_velocity_that_is_zero_but_for_rounding_violates_no_constraint(unit, monkeypatch):
    """Of x.dot = 0 the only term is the rounding error itself: it is compared with the motion of the whole system."""
    kinetic = (x.dot**2 + y.dot**2 + (x.dot + y.dot / 3) ** 2) / 2
    tied = da.System("tied", [x, y], kinetic=kinetic, potential=x**2 / 3 + y**2 / 7 + x * y / 5, constraints=[x.dot])
    run = da.simulate(tied, da.Midpoint(), h=0.01, steps=300, start={x: 0.2 * unit, y: unit, y.dot: 0.4 * unit})
    assert 0 < np.abs(run.step_residuals).max() < 1e-15 * unit
    assert da.audit(run).ok
    slipping = run.step_residuals + 1e-12 * unit
    monkeypatch.setattr(da.Trajectory, "step_residuals", slipping)  # control
    assert da.audit(run).rows[-1].verdict == "VIOLATED"


def test_momenta_in_space_need_a_position():
    """Of a group velocity no position is known; without one the momenta of the body were told as those of space."""
    phi = da.coordinates("phi")
    u, w, a = da.parameters("u w a")
    rows = {x: x * cos(a) - y * sin(a) + u, y: x * sin(a) + y * cos(a) + w, phi: phi + a}
    free = da.System("disc", [x, y, phi], kinetic=(x.dot**2 + y.dot**2) / 2 + phi.dot**2 / 3)
    sleigh = free.replace(constraints=[sin(phi) * x.dot - cos(phi) * y.dot], name="sleigh")
    for system in (free, sleigh):
        reduced = da.reduce(system, da.Symmetry(rows, elements=[u, w, a]))
        begun = {x: 0, y: 0, phi: 0, x.dot: 1.2, y.dot: 0, phi.dot: 0.8}
        report = da.audit(da.simulate(reduced, da.Midpoint(), h=0.01, steps=100, start=begun))
        assert not any("space" in row.quantity for row in report.rows)
        assert report.ok
