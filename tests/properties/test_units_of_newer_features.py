"""Symmetries, reduction, models, motions between configurations and studies in other units of mass, length and time."""

from __future__ import annotations

import numpy as np
import pytest
import sympy

import dalembert as da
from dalembert import cos, sin, sqrt

from .measured import Measure, differences, random_measure

x, y, z, theta, phi, s = da.coordinates("x y z theta phi s")
u_, w_, a_ = da.parameters("u w a")
PLANE = da.Symmetry(
    {x: x * cos(a_) - y * sin(a_) + u_, y: x * sin(a_) + y * cos(a_) + w_, phi: phi + a_}, elements=[u_, w_, a_]
)
MEASURES = [Measure(12, 0, 0), Measure(0, 12, 0), Measure(0, 0, 12), Measure(-12, -12, -12), random_measure(1)]


def same(case, within=1e-6):
    assert not differences(case, MEASURES, within)


def found(system):
    listed = da.symmetries(system)
    return [(f.name, f.exact, f.symmetry.dimension) for f in listed]


def bead(u):
    """A body in the plane with a bead on a spring along an axis of the body."""
    along, across = cos(phi) * x.dot + sin(phi) * y.dot, -sin(phi) * x.dot + cos(phi) * y.dot
    sliding = (s.dot + along) ** 2 + (across + s * phi.dot) ** 2
    kinetic = u(1.3, m=1) * (along**2 + across**2 + sliding) / 2 + u(0.7, m=1, l=2) * phi.dot**2 / 2
    return da.System("bead", [x, y, phi, s], kinetic=kinetic, potential=u(2.1, m=1, t=-2) * s**2 / 2)


def sleigh(u):
    m, J, a = u(1.3, m=1), u(0.7, m=1, l=2), u(0.3, l=1)
    vx, vy = x.dot - a * sin(phi) * phi.dot, y.dot + a * cos(phi) * phi.dot
    kinetic = m * (vx**2 + vy**2) / 2 + J * phi.dot**2 / 2
    return da.System("sleigh", [x, y, phi], kinetic=kinetic, constraints=[-sin(phi) * x.dot + cos(phi) * y.dot])


# symmetries


def pendulum_on_a_sphere(u):
    n, m, l, g = da.direction("n"), u(1.3, m=1), u(0.7, l=1), u(9.81, l=1, t=-2)
    kinetic = m * l**2 * (n.omega[0] ** 2 + n.omega[1] ** 2) / 2
    return da.System("pendulum", [n], kinetic=kinetic, potential=m * g * l * n[2])


def bodies(u):
    """Free, on a spring from the origin, and with a blade."""
    P = da.planar_pose("P")
    kinetic = u(1.3, m=1) * (P.velocity[0] ** 2 + P.velocity[1] ** 2) / 2 + u(0.7, m=1, l=2) * P.omega[0] ** 2 / 2
    free = da.System("free", [P], kinetic=kinetic)
    spring = free.replace(potential=u(2, m=1, t=-2) * (P[0, 2] ** 2 + P[1, 2] ** 2) / 2)
    return free, spring, free.replace(constraints=[P.velocity[1] - u(0.3, l=1) * P.omega[0]])


def lines(u):
    kinetic = u(1.3, m=1) * (x.dot**2 + y.dot**2) / 2
    centre = da.System("centre", [x, y], kinetic=kinetic, potential=-u(2.7, m=1, l=3, t=-2) / sqrt(x**2 + y**2))
    tied = centre.replace(potential=u(2.7, m=1, t=-2) * (x - y) ** 2 / 2)
    screw = sympy.cos(sympy.atan2(y, x) - z / u(0.7, l=1))
    helix = da.System(
        "helix", [x, y, z], kinetic=kinetic + u(1.3, m=1) * z.dot**2 / 2, potential=u(2.7, m=1, l=2, t=-2) * screw
    )
    return centre, tied, helix, sleigh(u)


def test_symmetries_of_lines():
    same(lambda u: ({s.name: found(s) for s in lines(u)}, {}))


def test_symmetries_of_poses_and_unit_vectors():
    """Turns about horizontal axes were found where the weight is small in numbers: 1e-14 of the kinetic energy."""
    same(lambda u: ({k: found(s) for k, s in enumerate((pendulum_on_a_sphere(u), *bodies(u)))}, {}))
    heavy = found(pendulum_on_a_sphere(Measure(0, 0, 12)))
    assert all("axis 3" in name for name, *_ in heavy)  # the vertical
    weightless = pendulum_on_a_sphere(Measure()).replace(potential=0)
    assert len(found(weightless)) > len(heavy)  # control


# reduction


def test_starts_and_phases_of_a_reduced_system():
    """Least squares with orthogonal matrices lost the digits of what is small in numbers, such as a rate of turning."""

    def case(u):
        reduced = da.reduce(bead(u), PLANE)
        place = {x: u.double(0.3, l=1), y: u.double(-0.7, l=1), phi: 0.4, s: u.double(0.2, l=1)}
        speeds = {q.dot: u.double(v, l=1, t=-1) for q, v in ((x, 0.5), (y, 0.2), (s, 0.1))}
        begun = {**place, **speeds, phi.dot: u.double(0.8, t=-1)}
        run = da.simulate(reduced, da.Midpoint(), h=u.double(0.01, t=1), steps=50, start=begun)
        back = reduced.reconstruct(run, at=place)
        numbers = {"x": u.back(back[x], l=1), "phi": back[phi]}
        for name, part in (("geometric", back.geometric), ("dynamic", back.dynamic)):
            numbers |= {f"{name} {k}": u.back(part[:, k], l=int(k < 2)) for k in range(3)}
        return {"status": run.status, "kind": reduced.kind}, numbers

    same(case, 1e-12)


def test_velocities_that_constraints_determine():
    """By the rank of rows in floating point: of a disk of 1e17 metres they were said not to be determined."""

    def reactions(power):
        u = Measure(0, power, 0)
        kinetic = u(1, m=1) * x.dot**2 / 2 + u(1, m=1, l=2) * (theta.dot**2 + phi.dot**2) / 2
        rolling = [x.dot - u(0.8, l=1) * cos(phi) * theta.dot, theta.dot - 2 * phi.dot]
        disk = da.System("disk", [x, theta, phi], kinetic=kinetic, constraints=rolling)
        told = da.reactions(disk).at({x: 0, theta: 0, phi: 0.3, phi.dot: 1.0})
        return [u.back(force, l=1 if q == x else 2) for q, force in told.forces.items()]

    for power in (-17, -12, 12, 17):
        assert np.allclose(reactions(power), reactions(0), rtol=1e-12)


# motions between configurations


def mixed(u):
    """A length and an angle."""
    kinetic = u(1.3, m=1) * x.dot**2 / 2 + u(0.7, m=1, l=2) * phi.dot**2 / 2
    potential = u(2.1, m=1, t=-2) * x**2 / 2 + u(1.1, m=1, l=2, t=-2) * cos(phi) + u(0.4, m=1, l=1, t=-2) * x * sin(phi)
    return da.System("mixed", [x, phi], kinetic=kinetic, potential=potential)


def joined(u, system, from_, to, method, tries):
    found = da.connect(
        system, method, from_=from_, to=to, time=u.double(1.5, t=1), steps=30, tries=tries
    )  # fmt: skip
    return {"found": len(found.runs)}, {"action": u.back(found.actions[:1], m=1, l=2, t=-1)}


def test_motions_between_configurations():
    """Steps of a search and random starts were measured by the largest velocity, whatever its unit."""

    def plain(u):
        return joined(u, mixed(u), {x: 0, phi: 0.1}, {x: u.double(0.4, l=1), phi: 1.2}, da.Gauss(2), 6)

    def vakonomic(u):
        kinetic = u(1.3, m=1) * (x.dot**2 + y.dot**2 + z.dot**2) / 2
        swept = z.dot - (x * y.dot - y * x.dot) / (2 * u(1.7, l=1))
        system = da.System("swept", [x, y, z], kinetic=kinetic, constraints=[swept], principle=da.Vakonomic())
        to = {x: u.double(1, l=1), y: 0, z: u.double(0.3, l=1)}
        return joined(u, system, {x: 0, y: 0, z: 0}, to, da.DormandPrince8(), 12)

    same(plain)
    same(vakonomic)


# tangents


def cart(u):
    kinetic = u(1.9, m=1) * x.dot**2 / 2 + u(0.8, m=1, l=1) * cos(theta) * x.dot * theta.dot
    kinetic += u(1.1, m=1, l=2) * theta.dot**2 / 2
    return da.System("cart", [x, theta], kinetic=kinetic, potential=-u(2, m=1, l=2, t=-2) * cos(theta))


def test_exponents_and_the_form():
    """A cyclic coordinate had no unit for exponents, and the defect of dq ^ dp was the largest entry in any units."""

    def case(u):
        begun = {x: 0, theta: 1, x.dot: u.double(0.2, l=1, t=-1), theta.dot: 0}
        numbers = {}
        for method in (da.Midpoint(), da.RungeKutta4()):
            run = da.simulate(cart(u), method, h=u.double(0.2, t=1), steps=80, start=begun)
            defect = da.contraction(run).defect
            numbers[f"defect, {method!r}"] = np.where(defect < 1e-12, 0.0, defect)
            numbers[f"exponents, {method!r}"] = u.back(da.lyapunov(run).exponents, t=-1)
        return {"symplectic": not numbers["defect, Midpoint()"].any()}, numbers

    same(case)
    words, numbers = case(Measure())
    assert words["symplectic"] and numbers["defect, RungeKutta4()"].max() > 1e-5  # control


# equilibria


@pytest.mark.parametrize("length", [1e-11, 1.0, 7.4e12])
def test_free_directions_are_those_of_the_given_lengths(length):
    """Forces that underflow in most of a large box, where the length is a parameter: the direction counted as free."""
    L, k, m = da.parameters("L k m", positive=True)
    hole = da.System("hole", [x, y], kinetic=m * (x.dot**2 + y.dot**2) / 2, potential=-k * sympy.exp(-((x / L) ** 2)))
    values = {L: length, k: 1, m: 1}
    for width in (3, 1e11):
        found = da.equilibria(hole, parameters=values, box={x: (-width * length, width * length)}, attempts=500)
        assert found.free == ({y: 1.0},)
        assert found.complete == bool(found)  # none is no proof that there is none


@pytest.mark.parametrize("u", [Measure(), Measure(12, 0, 0), Measure(0, -12, 0), Measure(0, 0, 12)])
def test_reactions_that_balance_rounding_leave_no_force(u):
    """At theta = pi, rounded, a force of 1e-16 is balanced in part: what is left over along x was an error."""
    m, I, J, R = u(1.1, m=1), u(0.6, m=1, l=2), u(0.3, m=1, l=2), u(0.8, l=1)
    kinetic = m * (x.dot**2 + y.dot**2) / 2 + I * theta.dot**2 / 2 + J * phi.dot**2 / 2
    rolling = [x.dot - R * cos(phi) * theta.dot, y.dot - R * sin(phi) * theta.dot]
    weight = u(2.1, m=1, l=2, t=-2) * cos(theta)
    disk = da.System("disk", [x, y, theta, phi], kinetic=kinetic, potential=weight, constraints=rolling)
    found = da.equilibria(disk, attempts=500)
    assert sorted(e[theta] for e in found) == [0, np.pi] and len(found.free) == 3 and found.complete
    with pytest.raises(da.ModelError, match="a force of"):  # control
        da.linearise(disk, about={x: 0, y: 0, theta: 3.14, phi: 0})


# controls: decisions in units of a person's own


def test_an_absolute_threshold_fails(monkeypatch):
    """Differences below 1e-9 taken for zero at points of size one: a weight that is small in numbers is no weight."""
    from dalembert.decide import balls
    from dalembert.theory.reduction import invariance

    def absolute(expression, points):
        return all(abs(float(balls.value(expression, at).mid())) < 1e-9 for at in points)

    monkeypatch.setattr(invariance, "vanishes_at", absolute)
    monkeypatch.setattr(
        "dalembert.theory.reduction.group_law.natural_scales", lambda sums, names: dict.fromkeys(names, 1.0)
    )
    assert differences(lambda u: ({"found": found(pendulum_on_a_sphere(u))}, {}), [Measure(0, 0, 12)])


def test_units_of_size_one_fail(monkeypatch):
    """Starts and derivatives measured in whatever units the system has."""
    from dalembert.analysis.motions import contraction
    from dalembert.run import connect, start_units

    ones = start_units.StartUnits(np.ones(2), np.ones(2), np.zeros(0))
    monkeypatch.setattr(connect, "start_units", lambda *given: ones)
    u = Measure(0, 12, 0)
    words = joined(u, mixed(u), {x: 0, phi: 0.1}, {x: u.double(0.4, l=1), phi: 1.2}, da.Gauss(2), 6)[0]
    assert words["found"] == 0
    monkeypatch.setattr(contraction, "phase_scales", lambda tangents, *_: np.ones(tangents.shape[::3]))
    begun = {x: 0, theta: 1, x.dot: u.double(0.2, l=1, t=-1), theta.dot: 0}
    run = da.simulate(cart(u), da.Midpoint(), h=u.double(0.2, t=1), steps=20, start=begun)
    assert da.contraction(run).defect.max() > 1


def test_integral_curves_of_a_variable_that_begins_at_zero():
    """And is moved by the others later: its tolerance was that of the largest number."""

    def case(u):
        space = da.cartan.VelocitySpace([x, phi])
        pull = u(2.1, t=-2) * x - u(0.4, l=1, t=-2) * sin(phi) ** 2
        field = space.velocity_field({x: -pull, phi: -u(1.1, t=-2) * sin(phi)})
        begun = {x: 0, phi: 0, x.dot: 0, phi.dot: u.double(0.4, t=-1)}
        curve = field.integral_curve(begun, until=u.double(3, t=1))
        return {"ok": curve.ok}, {"x": u.back(curve[x], l=1), "phi": curve[phi]}

    same(case)


def test_multipliers_of_reconstructed_runs():
    """From constraints multiplied by numbers of very different sizes: that of the smaller one was zero."""
    from dalembert.run.reconstructed_run import _multipliers

    rng = np.random.default_rng(0)
    forms = rng.normal(size=(2, 7, 5, 2)) * 10.0 ** np.array([-12, 12])
    wanted = rng.normal(size=(2, 7, 2)) * 10.0 ** np.array([12, -12])
    impulse = np.einsum("lkna,lka->lkn", forms, wanted)
    assert np.allclose(_multipliers(forms, impulse), wanted, rtol=1e-12, atol=0)
