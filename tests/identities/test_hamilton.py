"""Hamilton's equations: the same motion in phase space, computed apart from the Lagrangian path."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pytest

import dalembert as da
from dalembert import cos, exp, sin, sqrt
from dalembert.decide.zero import vanishes
from dalembert.symbolic import fast, number, substitute
from dalembert.theory.motion.lagrange import jacobi_integral, momenta

t = da.time
x, y, z, X, Y, theta, phi = da.coordinates("x y z X Y theta phi")
m, k, g, c, omega, B = da.parameters("m k g c omega B", positive=True)
px, py, pz = x.momentum, y.momentum, z.momentum
TIGHT = da.Reference(1e-12, 1e-12)


@lru_cache(maxsize=32)
def gallery(name):
    example = da.gallery.load(name)
    return example, da.hamilton(example.system)


def pair(form, start, parameters, until=2):
    system = form.system
    options = {"h": 0.05, "until": until, "start": start, "parameters": parameters}
    return form.simulate(**options, rtol=1e-12, atol=1e-12), da.simulate(system, TIGHT, **options)


GALLERY = ["pendulum", "double-pendulum", "spherical-pendulum", "charged-particle", "damped-spring", "kepler"]
CONSTRAINED = ["rolling-disk", "pendulum-cartesian", "chaplygin-sleigh", "knife-edge"]


@pytest.mark.parametrize("name", GALLERY + CONSTRAINED)
def test_motion_by_hamilton_and_by_lagrange(name):
    example, form = gallery(name)
    a, b = pair(form, example.start, example.parameters)
    for q in example.system.coordinates:
        for symbol in (q, q.dot, q.momentum):
            assert np.abs(a[symbol] - b[symbol]).max() < 1e-9 * max(1, np.abs(b[symbol]).max())
    assert np.abs(a.energy - b.energy).max() < 1e-9 * max(1, np.abs(b.energy).max())
    if example.system.constraints:
        recorded = a.records[
            0, :, [a.columns.index(f"multiplier.{i + 1}") for i in range(len(example.system.constraints))]
        ].T
        assert np.abs(recorded - b.multipliers).max() < 1e-8 * max(1, np.abs(b.multipliers).max())


@pytest.mark.parametrize("name", GALLERY + CONSTRAINED)
def test_hamiltonian_is_the_energy_in_other_variables(name):
    _, form = gallery(name)
    system = form.system
    p = {q.momentum: e for q, e in zip(system.coordinates, momenta(system), strict=True)}
    assert vanishes(substitute(fast(form.hamiltonian), p) - jacobi_integral(system))
    for q in system.coordinates:  # dH/dp is the velocity
        assert vanishes(substitute(fast(form.hamiltonian.diff(q.momentum)), p) - fast(q.dot))
        assert vanishes(fast(form.hamiltonian.diff(q.momentum)) - fast(form.velocities[q]))


def test_equations_with_time_forces_and_gyroscopic_terms():
    system = da.System(
        "all", [x, y], lagrangian=m * ((1 + y**2) * x.dot**2 + y.dot**2) / 2 + omega * x * y.dot * cos(t) - k * x**4,
        forces={x: sin(t) - c * x.dot}, dissipation=c * y.dot**2 / 2,
    )  # fmt: skip
    start = {x: 0.3, y: 0.2, x.dot: 0.5, y.dot: -0.4}
    form = da.hamilton(system)
    a, b = pair(form, start, {m: 1.2, omega: 0.7, k: 0.5, c: 0.3})
    assert np.abs(a.x - b.x).max() < 1e-9
    assert [e.lhs.name for e in form.equations] == ["x.dot", "y.dot", "x.momentum.dot", "y.momentum.dot"]
    assert not form.is_conserved(form.hamiltonian)
    free = da.System("no forces", [x, y], lagrangian=system.lagrangian)
    wrong = da.hamilton(free).simulate(h=0.05, until=2, start=start, parameters={m: 1.2, omega: 0.7, k: 0.5})
    assert np.abs(wrong.x - b.x).max() > 1e-3  # control: without the forces


def test_lanes_and_starts():
    form = da.hamilton(da.System("spring", [x], kinetic=m * x.dot**2 / 2, potential=k * x**2 / 2))
    values = {m: np.array([1.0, 2.0]), k: 2.0}
    run = form.simulate(h=0.1, steps=10, start={x: 1, px: 0.5}, parameters=values, every=2)
    assert run[x].shape == (2, 6)
    frequency = np.sqrt(2.0 / values[m])[:, None]
    exact = np.cos(frequency * run.time) + 0.5 / (values[m][:, None] * frequency) * np.sin(frequency * run.time)
    assert np.abs(run[x] - exact).max() < 1e-8
    assert "energy" in str(da.audit(run))


def test_a_motion_that_ends_says_where():
    fall = da.hamilton(da.System("fall", [x], kinetic=x.dot**2 / 2, potential=-1 / x))
    with pytest.raises(da.SimulationError) as caught:
        fall.simulate(h=0.01, until=3, start={x: 1, x.dot: 0})
    assert 1.0 < caught.value.trajectory.codes[0, 1] * 0.01 < 1.2  # it reaches x = 0 at t = pi/sqrt(8)


def test_relativistic_particle():
    """The Legendre transform of a Lagrangian that is not quadratic: the branch with p along v."""
    system = da.System("particle", [x], lagrangian=-m * c**2 * sqrt(1 - x.dot**2 / c**2) - k * x**2 / 2)
    form = da.hamilton(system)
    assert vanishes(form.hamiltonian - c * sqrt(m**2 * c**2 + px**2) - k * x**2 / 2)
    a, b = pair(form, {x: 0.4, x.dot: 1.1}, {m: 1, c: 2, k: 1.5})
    assert np.abs(a.x - b.x).max() < 1e-9


def test_without_a_closed_form_the_numbers_remain():
    system = da.System("odd", [x], lagrangian=x.dot**2 / 2 + x.dot**6 / 6 - x**2)
    form = da.hamilton(system)
    assert form.hamiltonian is None
    assert "no closed form" in str(form)
    a, b = pair(form, {x: 0.4, x.dot: 0.6}, {})
    assert np.abs(a.x - b.x).max() < 1e-9
    assert not form.is_conserved(px)
    assert form.bracket(x, px) == 1


def test_solutions_in_unknown_functions_are_no_closed_form():
    """p = v + exp(v) has a solution with LambertW, which cannot be compiled; the numbers remain."""
    form = da.hamilton(da.System("odd", [x], lagrangian=x.dot**2 / 2 + exp(x.dot) - x**2))
    assert form.hamiltonian is None
    a, b = pair(form, {x: 0.4, x.dot: 0.6}, {})
    assert np.abs(a.x - b.x).max() < 1e-9


def test_without_a_closed_form_under_a_constraint():
    lagrangian = (x.dot**2 + y.dot**2) / 2 + (x.dot**6 + y.dot**6) / 6 - y
    system = da.System("odd", [x, y], lagrangian=lagrangian, constraints=[y.dot - x * x.dot])
    a, b = pair(da.hamilton(system), {x: 0.4, y: 0, x.dot: 0.6}, {})
    assert np.abs(a.y - b.y).max() < 1e-9


# brackets, integrals, canonical transformations


def spring():
    return da.hamilton(
        da.System(
            "spring",
            [x, y, z],
            kinetic=m * (x.dot**2 + y.dot**2 + z.dot**2) / 2,
            potential=k * (x**2 + y**2 + z**2) / 2,
        )
    )


def test_poisson_brackets():
    form = spring()
    L = (y * pz - z * py, z * px - x * pz, x * py - y * px)
    assert vanishes(form.bracket(L[0], L[1]) - L[2])
    assert form.bracket(x, px) == 1
    assert form.bracket(x, py) == 0
    f, g_, h = x * py**2 + sin(y), px * y + x**2, py * px - y**3
    jacobi = (
        form.bracket(f, form.bracket(g_, h))
        + form.bracket(g_, form.bracket(h, f))
        + form.bracket(h, form.bracket(f, g_))
    )
    assert vanishes(jacobi)
    assert vanishes(form.bracket(f, g_) + form.bracket(g_, f))


def test_conserved_functions():
    form = spring()
    assert form.is_conserved(x * py - y * px)
    assert form.is_conserved(px * py / m + k * x * y)  # a component of the tensor of the isotropic oscillator
    assert not form.is_conserved(px)
    assert not form.is_conserved(x * py)
    drifting = da.hamilton(da.System("free", [x], kinetic=m * x.dot**2 / 2))
    assert drifting.is_conserved(m * x - t * px)
    assert not drifting.is_conserved(m * x + t * px)
    damped = da.hamilton(da.System("damped", [x], kinetic=m * x.dot**2 / 2, dissipation=c * x.dot**2 / 2))
    assert damped.is_conserved(px + c * x)
    assert not damped.is_conserved(px)


def test_conserved_functions_under_constraints():
    example, form = gallery("rolling-disk")
    assert form.is_conserved(form.hamiltonian)
    assert form.is_conserved(next(q for q in example.system.coordinates if q.name == "phi").momentum)
    assert not form.is_conserved(next(q for q in example.system.coordinates if q.name == "x").momentum)


def test_canonical_transformations():
    form = da.hamilton(da.System("one", [x], kinetic=x.dot**2 / 2, potential=x**2 / 2))
    angle = {X: da.atan2(x, px), X.momentum: (x**2 + px**2) / 2}
    assert form.is_canonical(angle)
    assert form.is_canonical({X: px, X.momentum: -x})
    assert form.is_canonical({X: x * cos(t) - px * sin(t), X.momentum: x * sin(t) + px * cos(t)})
    assert not form.is_canonical({X: px, X.momentum: x})
    assert not form.is_canonical({X: 2 * x, X.momentum: px})
    two = da.hamilton(da.System("two", [x, y], kinetic=(x.dot**2 + y.dot**2) / 2))
    swirl = {
        X: x * cos(y),
        Y: x * sin(y),
        X.momentum: px * cos(y) - py * sin(y) / x,
        Y.momentum: px * sin(y) + py * cos(y) / x,
    }
    assert two.is_canonical(swirl)  # a point transformation with its momenta
    assert not two.is_canonical({**swirl, X.momentum: px * cos(y)})
    assert two.symplectic_defect(swirl).shape == (4, 4)


def test_a_canonical_transformation_made_by_coordinates():
    """Momenta of a system in other coordinates are those of a point transformation."""
    flat = da.System("flat", [x, y], kinetic=m * (x.dot**2 + y.dot**2) / 2)
    made = da.change_coordinates(flat, {x: theta * cos(phi), y: theta * sin(phi)})
    old, new = da.hamilton(flat), da.hamilton(made.system)
    p = {
        px: theta.momentum * cos(phi) - phi.momentum * sin(phi) / theta,
        py: theta.momentum * sin(phi) + phi.momentum * cos(phi) / theta,
    }
    assert vanishes(new.hamiltonian - old.hamiltonian.xreplace({**p, **made.map}))
    assert new.is_canonical({**made.map, **p})


# from a Hamiltonian


def test_a_system_from_its_hamiltonian():
    H = (px - B * y / 2) ** 2 / (2 * m) + (py + B * x / 2) ** 2 / (2 * m) + k * x * y + px * py / 7
    form = da.hamilton(H, coordinates=[x, y], name="given")
    assert form.hamiltonian == H
    there_and_back = da.hamilton(form.system)
    assert vanishes(there_and_back.hamiltonian - H)
    start, values = {x: 1.0, y: 0.2, px: 0.3, py: -0.1}, {m: 1.0, k: 0.4, B: 0.9}
    a = form.simulate(h=0.05, until=2, start=start, parameters=values, rtol=1e-12, atol=1e-12)
    b = da.simulate(form.system, TIGHT, h=0.05, until=2, start=start, parameters=values)
    assert np.abs(a.x - b.x).max() < 1e-9
    assert np.abs(a[px] - b[px]).max() < 1e-9


def test_a_relativistic_hamiltonian():
    form = da.hamilton(c * sqrt(m**2 * c**2 + px**2) + k * x**2 / 2, coordinates=[x])
    lagrangian = -m * c**2 * sqrt(1 - x.dot**2 / c**2) - k * x**2 / 2
    values = {"m": 1.1, "c": 2.0, "k": 0.7, "x": 0.3, "x.dot": 0.9}
    assert number(fast(form.system.lagrangian), values) == pytest.approx(number(fast(lagrangian), values), rel=1e-13)


def test_text_and_markdown():
    _, form = gallery("pendulum")
    assert "theta.momentum.dot = -g*l*m*sin(theta)" in str(form)
    assert "H is conserved." in str(form)
    assert r"\dot{p}_{\theta}" in form._repr_markdown_()


@pytest.mark.parametrize("mass", [9.109e-31, 1 / 3, 0.123456789123456, 1.66053906660e-27, 1, 5.972e24])
def test_the_energy_of_any_mass_is_conserved(mass):
    """Long fractions are printed as rounded decimals; verdicts are not about what is printed."""
    form = da.hamilton(da.System("particle", [x], kinetic=mass * x.dot**2 / 2, potential=7 * mass * x**4))
    assert "H is conserved." in str(form)
    assert form.hamiltonian_is_conserved


def test_control_an_energy_that_changes():
    form = da.hamilton(da.System("particle", [x], kinetic=9.109e-31 * x.dot**2 / 2, potential=1e-28 * x**2 * sin(t)))
    assert not form.hamiltonian_is_conserved
    assert "H is not conserved." in str(form)
