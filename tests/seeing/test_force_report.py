"""Every force along a motion: work is what the energy changes by, joints pull as Newton's balances say."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as da
from dalembert import bodies as b
from dalembert import cos, sin

theta = da.coordinates("theta")
m, l, g, c = da.parameters("m l g c", positive=True)
NUMBERS = {m: 2, l: 1, g: 9.81, c: 0.3}
ROD = b.PlaneBody(b.rod(m, l), [l * sin(theta) / 2, -l * cos(theta) / 2], theta)
SWING = b.assemble("swing", [theta], bodies=[ROD], loads=[b.Gravity(g), b.TorsionDamper(c, ROD)])
HINGE = b.Contact(ROD, [0, 0], name="hinge")


@pytest.fixture(scope="module")
def run():
    start = {theta: 1.5, theta.dot: 0}
    return da.simulate(SWING.system, da.Gauss(2), h=0.01, until=5, start=start, parameters=NUMBERS)


def kinetic_change(run):
    T = run.quantity(run.system.kinetic)
    return T - T[0]


@pytest.mark.parametrize("assembly", [None, SWING])
def test_the_work_of_all_forces_is_the_change_of_the_kinetic_energy(run, assembly):
    report = run.forces(assembly)
    works = [f.work for f in report.forces.values()]
    assert len(works) == 2
    size = np.abs(kinetic_change(run)).max()
    assert np.abs(sum(works) - kinetic_change(run)).max() < 1e-8 * size
    for one in works:  # the control: every one of them is needed
        assert np.abs(sum(works) - one - kinetic_change(run)).max() > 0.1 * size


def test_work_is_the_integral_of_power(run):
    damper = run.forces(SWING)["torsion damper"]
    assert np.allclose(damper.power, -0.3 * run[theta.dot] ** 2, rtol=1e-14)
    slope = np.gradient(damper.work, run.time, edge_order=2)
    assert np.abs(slope - damper.power).max() < 1e-3 * np.abs(damper.power).max()


def test_a_hinge_carries_the_mass_times_the_acceleration_of_its_centre(run):
    hinge = run.forces(SWING, joints=[HINGE])["hinge"]
    q, w, a = run.theta, run[theta.dot], run[theta.ddot]
    across, up = hinge.components["along [1, 0]"], hinge.components["along [0, 1]"]
    assert np.allclose(across, 2 * 0.5 * (a * np.cos(q) - w**2 * np.sin(q)), rtol=0, atol=1e-12)
    assert np.allclose(up, 2 * 0.5 * (a * np.sin(q) + w**2 * np.cos(q)) + 2 * 9.81, rtol=0, atol=1e-12)
    assert not hinge.power.any() and not hinge.work.any()


def test_joints_between_bodies_have_names_and_no_power():
    other = da.coordinates("phi")
    knee = [l * sin(theta), -l * cos(theta)]
    shin = b.PlaneBody(b.rod(m, l), [knee[0] + l * sin(other) / 2, knee[1] - l * cos(other) / 2], other)
    leg = b.assemble("leg", [theta, other], bodies=[ROD, shin], loads=[b.Gravity(g)])
    given = {"start": {theta: 1, other: 2, theta.dot: 0, other.dot: 1}, "parameters": {m: 2, l: 1, g: 9.81}}
    run = da.simulate(leg.system, da.Midpoint(), h=0.01, steps=100, **given)
    joints = [b.Contact(ROD, [0, 0], name="hip"), b.Contact(shin, knee, by=ROD, name="knee")]
    report = run.forces(leg, joints)
    assert list(report.forces) == ["gravity", "hip", "knee"]
    power = report["gravity"].power
    for name in ("hip", "knee"):
        assert np.abs(report[name].power).max() < 1e-12 * np.abs(power).max()
    # the control: with the wrong body the joint would do work
    wrong = run.forces(leg, [joints[0], b.Contact(shin, knee, by=ROD)])
    assert "contact 2" in wrong.forces
    # the weight of both rods, and what accelerates them
    total = sum(report[n].components["along [0, 1]"][0] for n in ("hip",))
    centres = [leg.positions[k][1] for k in (0, 1)]
    lifted = sum(2 * second(run, e)[0] for e in centres)
    assert total == pytest.approx(2 * 2 * 9.81 + lifted, rel=1e-12)


def second(run, e):
    """The second derivative along the motion of a function of the coordinates."""
    q = run.system.coordinates
    first = sum(e.diff(x) * x.dot for x in q)
    rate = sum(first.diff(x) * x.dot for x in q)
    return run.quantity(rate) + sum(run.quantity(first.diff(x.dot)) * run[x.ddot] for x in q)


def test_reactions_of_constraints_are_multipliers_times_forms():
    e = da.gallery.load("pendulum-cartesian")
    x, y = e.system.coordinates
    run = da.simulate(e.system, da.Midpoint(), h=e.h, steps=300, start=e.start, parameters=e.parameters)
    rod = run.forces()["reaction 1"]
    form = e.system.constraints[0].coefficients
    for q, w in zip((x, y), form, strict=True):
        assert np.allclose(rod.components[q.name], run.multipliers[:, 0] * run.quantity(w), rtol=1e-13)
    assert np.abs(rod.power).max() < 1e-10 * np.abs(run.forces()["potential"].power).max()


def test_a_torque_on_a_rotation_is_counted_by_direction():
    e = da.gallery.load("heavy-top")
    run = da.simulate(e.system, da.DormandPrince8(), h=e.h, steps=500, start=e.start, parameters=e.parameters)
    V = run.quantity(e.system.potential)
    work = run.forces()["potential"].work
    assert np.abs(work + V - V[0]).max() < 1e-5 * np.ptp(V) and np.ptp(V) > 0


def test_lanes_have_a_leading_axis_and_a_failed_one_has_gaps():
    start = {theta: np.array([0.5, 1.0, 1.5]), theta.dot: 0}
    given = {"h": 0.01, "steps": 50, "parameters": NUMBERS}
    run = da.simulate(SWING.system, da.Midpoint(), start=start, **given)
    many = run.forces(SWING, [HINGE])
    alone = da.simulate(SWING.system, da.Midpoint(), start={theta: 1.0, theta.dot: 0}, **given).forces(SWING)
    assert many["hinge"].power.shape == many["gravity"].work.shape == (3, 51)
    assert np.array_equal(many["gravity"].work[1], alone["gravity"].work)
    assert "to" in str(many)


def test_what_an_event_does_is_not_work():
    y = da.coordinates("y")
    ball = da.System("ball", [y], kinetic=m * y.dot**2 / 2, potential=m * g * y)
    bounce = da.Event(y, {y.dot: -0.5 * y.dot}, direction=-1)
    given = {"start": {y: 1, y.dot: 0}, "parameters": {m: 1, g: 9.81}}
    run = da.simulate(ball, da.Midpoint(), h=0.01, steps=70, events=[bounce], **given)
    assert run.changes == 1
    work = run.forces()["potential"].work
    assert np.isfinite(work).all()
    k = int(run.events[0].time / 0.01)
    assert np.allclose(work[:k], 9.81 * (1 - run.y[:k]), rtol=1e-12)
    assert np.allclose(np.diff(work[k + 2 :]), -9.81 * np.diff(run.y[k + 2 :]), rtol=1e-9)


@pytest.mark.parametrize("name", ["two-gas-chambers", "damped-spring", "heisenberg-geodesics", "rolling-disk"])
def test_every_kind_of_force_has_power(name):
    e = da.gallery.load(name)
    run = da.simulate(e.system, da.Midpoint(), h=e.h, steps=50, start=e.start, parameters=e.parameters)
    report = run.forces()
    assert report.forces and all(np.isfinite(f.work).all() for f in report.forces.values())
    if name == "two-gas-chambers":
        assert {"internal energy", "friction that heats S1", "friction that heats S2"} == set(report.forces)


def test_figures_of_forces_show_the_report(run):
    report = run.forces(SWING, [HINGE])
    lines = da.plots.forces(report, names=["hinge"]).axes[0].lines
    for line, values in zip(lines, report["hinge"].components.values(), strict=True):
        assert np.array_equal(line.get_ydata(), values) and line.get_label().startswith("hinge along")
    stated = run.forces()
    for what in ("power", "work"):
        for line, force in zip(run.plot(what).axes[0].lines, stated.forces.values(), strict=True):
            assert np.array_equal(line.get_ydata(), getattr(force, what))
    e = da.gallery.load("rolling-disk")
    disk = da.simulate(e.system, da.Midpoint(), h=e.h, steps=50, start=e.start, parameters=e.parameters)
    known = disk.forces()
    values = [v for k in ("reaction 1", "reaction 2") for v in known[k].components.values()]
    for line, expected in zip(disk.plot("reactions").axes[0].lines, values, strict=True):
        assert np.array_equal(line.get_ydata(), expected)


MESSAGES = [
    (lambda run: run.forces(joints=[HINGE]), "joints need the assembly"),
    (lambda run: run.forces(SWING.system), "Expected an assembly, from dalembert.bodies.assemble"),
    (lambda run: run.forces(b.assemble("other", [theta], bodies=[ROD])), "'other' makes another system"),
    (lambda run: run.forces(SWING, [HINGE, HINGE]), "do not determine the 5 unknown"),
    (da.plots.forces, "Expected a report, report = run.forces"),
    (lambda run: da.plots.forces(run.forces(), "speed"), "Expected one of 'components', 'power', 'work'"),
    (lambda run: da.plots.forces(run.forces(), names=["rope"]), "'rope' is none of potential, force on theta"),
    (lambda run: run.plot("reactions"), "has no constraints, and so no reactions"),
]


@pytest.mark.parametrize(("make", "message"), MESSAGES, ids=range(len(MESSAGES)))
def test_messages(run, make, message):
    with pytest.raises(da.ModelError, match=message):
        make(run)


def test_a_name_that_is_not_there(run):
    with pytest.raises(KeyError, match="the forces of this report are potential, force on theta"):
        run.forces()["rope"]


@pytest.mark.parametrize("name", ["double-pendulum", "pendulum-cartesian", "heavy-top", "rolling-disk"])
def test_quantities_take_accelerations(name):
    e = da.gallery.load(name)
    run = da.simulate(e.system, da.RungeKutta4(), h=e.h, steps=10, start=e.start, parameters=e.parameters)
    known = run.system.coordinates
    for q in known:
        found = run.quantity(2 * q.ddot * cos(known[0].dot) + 1)
        assert np.allclose(found, 2 * run[q.ddot] * np.cos(run[known[0].dot]) + 1, rtol=1e-12, atol=1e-12)
        assert np.array_equal(run.quantity(q.ddot.name), run[q.ddot])
    with pytest.raises(da.errors.ModelError, match=r"unknown symbol w\.ddot"):
        run.quantity(da.coordinates("w").ddot)
