"""Unit vectors as coordinates: the spherical pendulum without angles, momenta, files, lanes, events, and messages."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as da
from dalembert import cos, sin

n = da.direction("n")
m, l, g, c = da.parameters("m l g c", positive=True)
PENDULUM = da.System(
    "pendulum on the sphere",
    [n],
    kinetic=m * l**2 * (n.omega[0] ** 2 + n.omega[1] ** 2) / 2,
    potential=m * g * l * n[2],
)
NUMBERS = {m: 1.3, l: 0.7, g: 9.81}
THETA, PHI, RATES = 2.0, 0.3, (0.4, 2.5)


def at(theta, phi):
    return np.array([np.sin(theta) * np.cos(phi), np.sin(theta) * np.sin(phi), np.cos(theta)])


def moving(theta, phi, a, b):
    east = np.array([-np.sin(phi), np.cos(phi), 0 * phi])
    south = np.array([np.cos(theta) * np.cos(phi), np.cos(theta) * np.sin(phi), -np.sin(theta)])
    return a * south + np.sin(theta) * b * east


START = {n: at(THETA, PHI), n.velocity: moving(THETA, PHI, *RATES)}


def test_the_motion_is_that_of_two_angles():
    theta, phi = da.coordinates("theta phi")
    angles = da.System(
        "angles",
        [theta, phi],
        kinetic=m * l**2 * (theta.dot**2 + sin(theta) ** 2 * phi.dot**2) / 2,
        potential=m * g * l * cos(theta),
    )
    begun = {theta: THETA, phi: PHI, theta.dot: RATES[0], phi.dot: RATES[1]}
    given = {"h": 0.5, "until": 2, "parameters": NUMBERS}
    one = da.simulate(angles, da.Reference(rtol=1e-12), start=begun, **given)
    two = da.simulate(PENDULUM, da.Reference(rtol=1e-12), start=START, **given)
    assert np.abs(two[n] - np.array([at(*x) for x in zip(one.theta, one.phi, strict=True)])).max() < 1e-10
    rates = np.array([moving(*x) for x in zip(one.theta, one.phi, one["theta.dot"], one["phi.dot"], strict=True)])
    assert np.abs(two[n.velocity] - rates).max() < 1e-9
    assert np.abs(two[n.momentum] - 1.3 * 0.49 * rates).max() < 1e-9
    assert np.ptp(two.energy) < 1e-10 * abs(two.energy[0])


def test_kinetic_energy_by_velocities_in_space_is_the_same():
    other = PENDULUM.replace(kinetic=m * l**2 * sum(v**2 for v in n.velocity) / 2)
    a, b = (da.simulate(s, da.Midpoint(), h=0.01, steps=50, start=START, parameters=NUMBERS) for s in (PENDULUM, other))
    assert np.abs(a[n] - b[n]).max() < 1e-13


@pytest.mark.parametrize("retraction", ["cayley", "exp"])
def test_momenta_and_lengths_to_rounding(retraction):
    u = da.direction("n", retraction)
    pendulum = da.System("p", [u], kinetic=(u.omega[0] ** 2 + u.omega[1] ** 2) / 2, potential=u[2])
    start = {u: at(THETA, PHI), u.velocity: moving(THETA, PHI, *RATES)}
    run = da.simulate(pendulum, da.Midpoint(), h=0.05, steps=100_000, every=100, start=start)
    angular = np.cross(run[u], run[u.momentum])
    assert np.abs(angular[:, 2] - angular[0, 2]).max() < 1e-12
    assert np.abs(np.linalg.norm(run[u], axis=-1) - 1).max() < 1e-15
    assert np.abs((run[u] * run[u.momentum]).sum(axis=-1)).max() < 1e-14
    control = da.simulate(pendulum, da.RungeKutta4(), h=0.05, steps=20_000, every=100, start=start)
    angular = np.cross(control[u], control[u.momentum])
    assert np.abs(angular[:, 2] - angular[0, 2]).max() > 1e-9
    rows = {row.quantity: row for row in da.audit(run).rows}
    vertical = rows["angular momentum of n about the z axis of space"]
    assert (vertical.expected, vertical.verdict) == ("exact", "kept to rounding")
    assert not any("x axis" in name for name in rows)


def test_through_the_lowest_point():
    """Where angles are singular: straight through the point below, over the point above; a planar pendulum."""
    theta = da.coordinates("theta")
    plane = da.System("plane", [theta], kinetic=theta.dot**2 / 2, potential=-cos(theta))
    unit = da.System("unit", [n], kinetic=(n.omega[0] ** 2 + n.omega[1] ** 2) / 2, potential=n[2])
    for speed in (1.0, 2.5):
        given = {"h": 0.25, "until": 5}
        one = da.simulate(plane, da.Reference(rtol=1e-12), start={theta: 0.0, theta.dot: speed}, **given)
        for method, bound in ((da.Reference(rtol=1e-12), 1e-9), (da.Composition(da.Midpoint(), 6), 1e-2)):
            two = da.simulate(unit, method, start={n: (0, 0, -1), n.velocity: (0, speed, 0)}, **given)
            there = np.stack([0 * one.theta, np.sin(one.theta), -np.cos(one.theta)], axis=-1)
            assert np.abs(two[n] - there).max() < bound


def beside_a_line(u, x):
    """A unit vector beside a line, whose inertia depends on the vector and couples with it; forces, time."""
    v = u.velocity
    kinetic = (1 + u[0] / 3) * (u.omega[0] ** 2 + u.omega[1] ** 2) / 2 + x.dot**2 + x.dot * v[0] / 2
    push = [-0.2 * v[0] + 0.1 * u[1], -0.2 * v[1], -0.2 * v[2] * x]
    potential = u[2] * (1 + sin(da.time) / 2) + u[0] * u[1] + x**2 * u[1]
    return da.System("beside a line", [x, u], kinetic=kinetic, potential=potential, forces={u: push, x: -x.dot / 5})


X = da.coordinates("x")
METHODS = [da.Midpoint(), da.Trapezoidal(), pytest.param(da.Galerkin(2), marks=pytest.mark.slow), da.RungeKutta4()]
BESIDE = {n: (0.6, 0.48, 0.64), n.velocity: np.cross([0.3, 1.0, -0.2], [0.6, 0.48, 0.64]), X: 0.1, X.dot: 0.2}


@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_orders(method):
    system = beside_a_line(n, X)
    exact = da.simulate(system, da.Reference(rtol=1e-13), h=1, until=1, start=BESIDE)
    errors = []
    for h in (0.1, 0.05):
        run = da.simulate(system, method, h=h, until=1, start=BESIDE)
        errors.append(max(np.abs(run[key][-1] - exact[key][-1]).max() for key in (n, n.velocity, n.momentum, X)))
    assert abs(np.log2(errors[0] / errors[1]) - method.order) < 0.25, errors


def test_constraints_friction_and_heat():
    """A pendulum held in a plane by n[0] = 0 swings as one of one angle; friction warms by what is lost."""
    theta, S = da.coordinates("theta"), da.entropies("S")
    held = PENDULUM.replace(constraints=[n[0]])
    run = da.simulate(
        held, da.Midpoint(), h=0.005, until=2, start={n: (0, 0.6, -0.8), n.velocity: (0, 0, 0)}, parameters=NUMBERS
    )
    plane = da.System("plane", [theta], kinetic=l * theta.dot**2 / 2, potential=-g * cos(theta))
    one = da.simulate(
        plane, da.Reference(), h=1, until=2, start={theta: np.arcsin(0.6), theta.dot: 0.0}, parameters={l: 0.7, g: 9.81}
    )
    assert np.abs(run[n][:, 0]).max() < 1e-14
    assert abs(run[n][-1, 1] - np.sin(one.theta[-1])) < 1e-3
    slides = da.System(
        "rubs", [n], kinetic=(n.omega[0] ** 2 + n.omega[1] ** 2) / 2, potential=n[2], entropies=[S],
        internal_energy=da.exp(S), friction={n: [-c * v for v in n.velocity]},
    )  # fmt: skip
    start = {n: (0.6, 0, -0.8), n.velocity: (0, 1, 0), S: 0.0}
    warm = da.simulate(slides, da.Midpoint(), h=0.01, until=3, start=start, parameters={c: 0.2})
    assert np.ptp(warm.energy) < 1e-4 and (np.diff(warm.S) > 0).all()


def test_lanes_files_events_and_pieces(tmp_path):
    given = {"h": 0.01, "parameters": NUMBERS}
    whole = da.simulate(PENDULUM, da.Midpoint(), steps=100, start=START, **given)
    many = {n: np.stack([START[n], [0, 0, -1]]), n.velocity: np.stack([START[n.velocity], [1, 0, 0]])}
    lanes = da.simulate(PENDULUM, da.Midpoint(), steps=100, start=many, **given)
    assert lanes[n].shape == lanes[n.velocity].shape == (2, 101, 3) and lanes[n[2]].shape == (2, 101)
    assert np.array_equal(lanes.records[0], whole.records[0])
    first = da.simulate(PENDULUM, da.Midpoint(), steps=40, start=START, **given)
    loaded = da.load(first.save(tmp_path / "run.nc"))
    assert loaded.system == PENDULUM and np.array_equal(loaded[n.velocity], first[n.velocity])
    rest = da.simulate(PENDULUM, da.Midpoint(), steps=60, start=loaded, **given)
    assert np.array_equal(rest.records, whole.records[:, 40:])
    assert first.dataset["n"].shape == first.dataset["n.velocity"].shape == (41, 3)
    again = da.simulate(
        PENDULUM, da.Midpoint(), steps=60, start={n: whole[n][40], n.momentum: whole[n.momentum][40]}, **given
    )
    assert np.abs(again[n] - whole[n][40:]).max() < 1e-12  # other axes carried along, the same motion
    low = da.Event(n[2] + 0.5, "stop", name="low")
    stopped = da.simulate(PENDULUM, da.Midpoint(), until=5, start=START, events=low, **given)
    assert stopped.status is da.Status.EVENT and abs(stopped[n][-1, 2] + 0.5) < 1e-12
    whole.plot()
    assert [str(s) for s in (n[1], n.omega[0], n.angular_momentum[1])] == [
        "n[1]",
        "n.omega[0]",
        "n.angular_momentum[1]",
    ]


def test_what_is_given_wrongly_is_told():
    def refused(start, text):
        with pytest.raises(da.StartError, match=text):
            da.simulate(PENDULUM, da.Midpoint(), h=0.1, steps=1, start=start, parameters=NUMBERS)

    v = n.velocity
    refused({n: (0, 0, 2), v: (0, 1, 0)}, r"n is no unit vector: its length is 2\. The nearest is \[0\., 0\., 1\.\]")
    refused({n: (0, 0, 0), v: (0, 1, 0)}, "The nearest is any vector of length 1")
    refused({n: np.eye(3), v: np.ones((3, 3))}, r"n\.velocity is not perpendicular to n: .* is 1\. The nearest that is")
    refused({n: (0, 1), v: (0, 1, 0)}, r"n has shape \(2,\)\. Give the 3 components of a unit vector")
    refused({n: (0, 0, np.nan), v: (0, 1, 0)}, "not finite")
    refused({n: (0, 0, 1), v: (0, 1)}, r"n\.velocity has shape \(2,\)\. Give 3 components in space")
    refused({n: (0, 0, 1)}, r"no value for n\.velocity\. .* Add start=\{n\.velocity: \.\.\.\}")
    refused({n: (0, 0, 1), v: (0, 1, 0), "z": 1}, "z is unknown here. Expected one of n, n.omega")
    with pytest.raises(da.ModelError, match=r"n\[3\]: a unit vector has 3 components"):
        n[3]
    with pytest.raises(da.ModelError, match="Expected its 3 components in space"):
        PENDULUM.replace(forces={n: (1, 0)})
    with pytest.raises(da.DalembertError, match="has the unit vector n"):
        da.classify(PENDULUM)
    run = da.simulate(PENDULUM, da.Midpoint(), h=0.1, steps=2, start=START, parameters=NUMBERS)
    with pytest.raises(da.ModelError, match="derivatives of steps are not available here: n is a unit vector"):
        da.tangents(run)
    with pytest.raises(
        da.ModelError, match=r"convergence: .* has the unit vector n, and the axes .* are carried along"
    ):
        da.convergence(PENDULUM, da.Midpoint(), [0.1, 0.05], start=START, until=1, parameters=NUMBERS)
