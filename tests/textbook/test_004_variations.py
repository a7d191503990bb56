"""Digest 004, sections 7.5 and 7.6: calculus of variations and Hamilton's principle."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pytest

import dalembert as da
from dalembert import cos, pi, sin, sqrt, tan
from dalembert.analysis.motions.stationary_action import generalised_principle, hamilton_principle, weak_form
from dalembert.decide.zero import vanishes

Functional = da.variations.Functional
x, y, z, theta, phi = da.coordinates("x y z theta phi")
g, m, J, k = da.parameters("g m J k", positive=True)
GRAVITY = {g: 9.81}
ENDS = ({x: 0, y: 0}, {x: 1, y: 1})


def brachistochrone():
    """x downwards, y(x): the form of example 7.14."""
    return Functional(sqrt((1 + y.dot**2) / (2 * g * x)), y, x)


def brachistochrone_across():
    """y downwards as a function of x: the tangent at the start is vertical."""
    return Functional(sqrt((1 + y.dot**2) / (2 * g * y)), y, x)


@lru_cache(maxsize=2)
def fastest():
    return brachistochrone().extremal(*ENDS, parameters=GRAVITY)


def test_euler_equation_and_first_integrals():
    """(7.98), and df/dy' = C where y does not occur; Beltrami's where x does not."""
    f = Functional(y.dot**2 * x / 2 + y**3 + sin(x) * y, y, x)
    assert vanishes(f.euler_equations[0].lhs - (x * y.ddot + y.dot - 3 * y**2 - sin(x)))
    assert f.first_integrals == ()
    (down,) = brachistochrone().first_integrals
    assert vanishes(down.expression - y.dot / sqrt(2 * g * x * (1 + y.dot**2)))
    (across,) = brachistochrone_across().first_integrals
    assert vanishes(across.expression - 1 / sqrt(2 * g * y * (1 + y.dot**2)))
    assert "Beltrami" in across.reason


def test_first_integrals_are_constant_because_of_euler():
    """d/dx of the Beltrami integral is -y' times the Euler expression; without the reason it is not."""
    f = brachistochrone_across()
    (integral,) = f.first_integrals
    assert vanishes(f.rate(integral.expression) - y.dot * f.variational_derivative[0])
    other = Functional(f.integrand * x, y, x)  # control: x occurs
    beltrami = other.integrand - y.dot * other.momenta[0]
    assert not vanishes(other.rate(beltrami) - y.dot * other.variational_derivative[0])


def test_example_7_14_brachistochrone():
    found = fastest()
    ((constant, deviation),) = found.constants
    r = 1 / (4 * 9.81 * constant**2)  # 1/C^2 = 2r with the factor 2g
    angle = np.arccos(1 - 1 / r)
    assert r == pytest.approx(0.57291703753, abs=5e-12)
    assert angle == pytest.approx(2.41201114391, abs=5e-12)
    assert found.value == pytest.approx(0.582895463, abs=5e-10)
    assert found.value == pytest.approx(angle * np.sqrt(r / 9.81), rel=1e-12)
    assert deviation < 1e-12
    turn = np.linspace(0.01, angle, 50)
    assert np.abs(found(r * (1 - np.cos(turn)))[y] - r * (turn - np.sin(turn))).max() < 1e-9
    line = brachistochrone().value({y: x}, (0, 1), parameters=GRAVITY)
    assert line == pytest.approx(0.638550857, abs=5e-10)


def test_brachistochrone_with_a_vertical_start():
    """The other form of the same problem: y' is infinite at the start."""
    found = brachistochrone_across().extremal(*ENDS, parameters=GRAVITY)
    assert found.value == pytest.approx(fastest().value, rel=1e-12)
    assert "x as a function of y" in found.method
    assert brachistochrone_across().value(found) == pytest.approx(found.value, rel=1e-9)


def test_perturbed_curves_take_longer():
    """T19: the extremal is a minimum, to second order in the perturbation; on the straight line there is a slope."""
    f, best = brachistochrone(), fastest()
    for wave in (sin(pi * x), sin(2 * pi * x), x * (1 - x) ** 2):
        rise = [f.value(best, plus={y: s * wave}) - best.value for s in (0.02, -0.02, 0.01, -0.01)]
        assert min(rise) > 0
        assert (rise[0] + rise[1]) / (rise[2] + rise[3]) == pytest.approx(4, rel=0.02)
        assert abs(rise[2] - rise[3]) < 0.1 * rise[2]
    # control: on the straight line one sign of the perturbation is faster
    line = [f.value({y: x}, (0, 1), plus={y: s * sin(pi * x)}, parameters=GRAVITY) for s in (0.01, 0, -0.01)]
    assert min(line[0], line[2]) < line[1]


def test_direct_method_agrees():
    """The least value on polygons, without Euler's equation: from above, and second order in the number of sides."""
    errors = []
    for nodes in (100, 200):
        found = brachistochrone().extremal(*ENDS, parameters=GRAVITY, by="direct", nodes=nodes)
        assert found.value > fastest().value
        errors.append(np.abs(found.y[y] - fastest()(found.x)[y]).max())
    assert errors[1] < 2e-5
    assert errors[0] / errors[1] == pytest.approx(4, rel=0.2)


def test_catenary():
    """The surface of revolution of least area between two rings."""
    f = Functional(y * sqrt(1 + y.dot**2), y, x)
    found = f.extremal({x: -1, y: 2}, {x: 1, y: 2})
    ((a, deviation),) = found.constants
    assert deviation < 1e-10
    assert np.abs(found.y[y] - a * np.cosh(found.x / a)).max() < 1e-10
    assert a * np.cosh(1 / a) == pytest.approx(2, rel=1e-12)
    direct = f.extremal({x: -1, y: 2}, {x: 1, y: 2}, by="direct")
    assert direct.value == pytest.approx(found.value, rel=1e-5)
    assert f.value({y: 2 + 0 * x}, (-1, 1)) > found.value


def test_great_circle():
    f = Functional(sqrt(theta.dot**2 + sin(theta) ** 2), theta, phi)
    found = f.extremal({phi: 0, theta: 1.0}, {phi: 1.5, theta: 0.7})

    def place(t, p):
        return np.array([np.sin(t) * np.cos(p), np.sin(t) * np.sin(p), np.cos(t) + 0 * p])

    assert found.value == pytest.approx(np.arccos(place(1.0, 0.0) @ place(0.7, 1.5)), rel=1e-11)
    normal = np.cross(place(1.0, 0.0), place(0.7, 1.5))
    assert np.abs(normal @ place(found.y[theta], found.x)).max() < 1e-10  # in one plane through the centre


def test_several_unknown_functions():
    f = Functional((y.dot**2 + z.dot**2) / 2 + x * z * y.dot - y * z - y**2 * z / 3, [y, z], x)
    ends = {x: 0, y: 0, z: 1}, {x: 1, y: 1, z: 0}
    found, direct = f.extremal(*ends), f.extremal(*ends, by="direct")
    assert len(f.euler_equations) == 2
    assert max(np.abs(direct.y[c] - found(direct.x)[c]).max() for c in (y, z)) < 1e-5
    assert abs(f.value(found, plus={y: 1e-3 * sin(pi * x)}) - found.value) < 1e-5  # no slope
    assert (
        abs(f.value({y: x, z: 1 - x}, (0, 1), plus={y: 1e-3 * sin(pi * x)}) - f.value({y: x, z: 1 - x}, (0, 1))) > 1e-4
    )


def test_time_is_the_variable_unless_another_is_named():
    """Hamilton's principle as a problem of the calculus of variations: a throw between two places."""
    action = Functional(m * y.dot**2 / 2 - m * g * y, y)
    found = action.extremal({da.time: 0, y: 0}, {da.time: 1, y: 0}, parameters={m: 2.0, g: 9.81})
    assert np.abs(found.y[y] - 9.81 / 2 * found.x * (1 - found.x)).max() < 1e-10
    assert "Beltrami" in str(action)


# Hamilton's principle on computed motions

TIGHT = da.Reference(1e-12, 1e-12)


@lru_cache(maxsize=8)
def motion(name):
    e = da.gallery.load(name)
    return e, da.simulate(e.system, TIGHT, h=1 / 128, until=1, start=e.start, parameters=e.parameters)


def disturbed(run, size=1e-2):
    """The path with a bump on its first coordinate."""
    first, *rest = run.system.coordinates
    bump = size * np.sin(np.pi * run.time / run.time[-1])
    return {first: run[first] + bump, **{q: run[q] for q in rest}, da.time: run.time}


@pytest.mark.parametrize(
    "name", ["double-pendulum", "damped-spring", "knife-edge", "chaplygin-sleigh", "pendulum-cartesian"]
)
def test_motions_make_the_action_stationary(name):
    """T20; with forces, and under constraints for displacements in the kernel of the one-forms."""
    e, run = motion(name)
    found = hamilton_principle(run)
    assert found.is_stationary
    assert found.orders[-1] == pytest.approx(2, abs=0.2)
    other = hamilton_principle(disturbed(run), system=e.system, parameters=e.parameters)
    assert not other.is_stationary
    assert "NOT stationary" in str(other)


def test_a_driven_motion_with_time_everywhere():
    t = da.time
    s = da.System(
        "driven",
        [x],
        kinetic=(1 + cos(t) ** 2) * x.dot**2 / 2,
        potential=sin(3 * t) * x**2,
        forces={x: cos(5 * t) - x.dot},
    )
    run = da.simulate(s, TIGHT, h=1 / 128, until=1, start={x: 1, x.dot: 0.5})
    assert hamilton_principle(run).orders[-1] == pytest.approx(2, abs=0.1)
    free = da.System("free", [x], kinetic=s.kinetic, potential=s.potential)
    assert not hamilton_principle(run, system=free).is_stationary  # control: without the virtual work of the force


def test_the_midpoint_rule_is_stationary_to_rounding():
    """Its equations are those of this very sum."""
    e = da.gallery.load("double-pendulum")
    run = da.simulate(e.system, da.Midpoint(), h=0.01, steps=64, start=e.start, parameters=e.parameters)
    assert hamilton_principle(run).norms[-1] < 1e-9


@pytest.mark.parametrize("name", ["knife-edge", "chaplygin-sleigh", "pendulum-cartesian", "rolling-disk"])
def test_generalised_principle_in_weak_form(name):
    """T21, (7.104): zero for displacements in ker A; others feel the reactions."""
    e, run = motion(name)
    found = generalised_principle(run)
    assert found.holds
    assert max(abs(v) for v in found.allowed.values()) < 1e-6
    assert max(abs(v) for v in found.free.values()) > 1e-2
    assert not generalised_principle(disturbed(run), system=e.system, parameters=e.parameters).holds


def knife():
    """A knife edge on an incline: x down the slope."""
    return da.System(
        "knife", [x, y, phi], kinetic=m * (x.dot**2 + y.dot**2) / 2 + J * phi.dot**2 / 2, potential=-m * g * x,
        constraints=[y.dot * cos(phi) - x.dot * sin(phi)],
    )  # fmt: skip


def knife_run():
    values = {m: 1.0, J: 0.5, g: 2.0}
    start = {x: 0, y: 0, phi: 0.3, x.dot: 0.5 * np.cos(0.3), y.dot: 0.5 * np.sin(0.3), phi.dot: 0.8}
    return da.simulate(knife(), TIGHT, h=1 / 256, until=1, start=start, parameters=values)


def test_variations_through_admissible_paths_do_not_make_the_action_stationary():
    """The motion of a nonholonomic system is not vakonomic: neighbours that satisfy the constraint feel a slope."""
    run = knife_run()
    speed = run["x.dot"] * np.cos(run.phi) + run["y.dot"] * np.sin(run.phi)
    waves = [np.sin(n * np.pi * run.time) for n in (1, 2, 3)]
    turn = waves[0]

    def path(change):
        """The displacement of a path x' = u cos phi, y' = u sin phi by changes of u and phi."""
        rates = (
            change * np.cos(run.phi) - speed * turn * np.sin(run.phi),
            change * np.sin(run.phi) + speed * turn * np.cos(run.phi),
        )
        return [np.concatenate([[0], np.cumsum((r[1:] + r[:-1]) / 2) / 256]) for r in rates]

    base = np.array([c[-1] for c in path(0 * turn)])
    steps = np.array([[c[-1] for c in path(w)] for w in waves[1:]]) - base
    weights = np.linalg.solve(steps.T, -base)
    dx, dy = path(weights[0] * waves[1] + weights[1] * waves[2])
    dx[-1] = dy[-1] = 0.0
    delta = np.column_stack([dx, dy, np.where(np.arange(len(turn)) == len(turn) - 1, 0, turn)])
    linearised = np.gradient(dy, run.time) * np.cos(run.phi) - np.gradient(dx, run.time) * np.sin(run.phi)
    linearised -= turn * (run["y.dot"] * np.sin(run.phi) + run["x.dot"] * np.cos(run.phi))
    assert np.abs(linearised[2:-2]).max() < 1e-3  # neighbours satisfy the constraint
    assert abs(weak_form(run, delta)) > 1e-3
    along = np.column_stack([turn * np.cos(run.phi), turn * np.sin(run.phi), turn])  # in the kernel of the one-form
    along[-1] = 0.0
    assert abs(weak_form(run, along)) < 1e-7


def test_substituting_the_constraint_into_the_lagrangian_gives_another_principle():
    kinetic = m * (1 + tan(phi) ** 2) * x.dot**2 / 2 + J * phi.dot**2 / 2
    wrong = da.System("substituted", [x, phi], kinetic=kinetic, potential=-m * g * x)
    run = knife_run()
    assert hamilton_principle(run).is_stationary
    assert not hamilton_principle(run, system=wrong).is_stationary
