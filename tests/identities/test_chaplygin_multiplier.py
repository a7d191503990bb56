"""Chaplygin's reducing multiplier: in the time dt = N dtau the reduced motion is Hamiltonian."""

from __future__ import annotations

import pytest
import sympy

import dalembert as da
from dalembert import cos, sin
from dalembert.decide.zero import vanishes
from dalembert.theory.reduction.chaplygin import Chaplygin


def shape_of(name):
    e = da.gallery.load(name)
    return da.reduce(e.system, da.Symmetry(e.action, elements=e.elements)).chaplygin


def particle():
    """The particle with z.dot = y x.dot, by translations of z."""
    x, y, z = da.coordinates("x y z")
    m, c = da.parameters("m c", positive=True)
    s = da.System(
        "particle",
        [x, y, z],
        kinetic=m * (x.dot**2 + y.dot**2 + z.dot**2) / 2,
        potential=c * (x**2 + y**2) / 2,
        constraints=[z.dot - y * x.dot],
    )
    (g,) = da.parameters("g,")
    return da.reduce(s, da.Symmetry({z: z + g}, elements=[g])).chaplygin


def defects(shape, N, momenta, H):
    """dP/dtau + dH/dr - F and dr/dtau - dH/dP along the motion by t, at P = p/N."""
    r = shape.shape
    v = [q.dot for q in r]
    p = sympy.Matrix([shape.lagrangian.diff(w) for w in v])
    M = p.jacobian(v)
    push = [shape.lagrangian.diff(q) + G + F for q, G, F in zip(r, shape.gyroscopic, shape.forces, strict=True)]
    rates = M.inv() * (sympy.Matrix(push) - p.jacobian(list(r)) * sympy.Matrix(v))
    found = []
    for q, P, e in zip(r, momenta, momenta.values(), strict=True):
        rate = sum(e.diff(c) * c.dot for c in r) + sum(e.diff(w) * d for w, d in zip(v, rates, strict=True))
        found += [N * rate + H.diff(q).xreplace(dict(momenta)), N * q.dot - H.diff(P).xreplace(dict(momenta))]
    return found


@pytest.mark.parametrize(
    "make", [particle, pytest.param(lambda: shape_of("two-wheeled-robot"), marks=pytest.mark.slow)]
)
def test_hamiltons_equations_in_the_new_time(make):
    """By value; with N = 1, or the inverse of N, they do not hold."""
    shape = make()
    new = shape.hamiltonisation
    assert all(map(vanishes, defects(shape, new.multiplier, new.momenta, new.hamiltonian)))
    for q, P in zip(shape.shape, new.momenta, strict=True):
        assert vanishes(new.rates[q] - new.hamiltonian.diff(P)) and vanishes(new.rates[P] + new.hamiltonian.diff(q))
    N = new.multiplier
    wrong = {P: e * N**2 for P, e in new.momenta.items()}  # that of 1/N
    in_wrong = new.hamiltonian.xreplace({P: P / N**2 for P in new.momenta})
    assert not all(map(vanishes, defects(shape, 1 / N, wrong, in_wrong)))


def test_the_multiplier_of_the_particle():
    """N = sqrt(1 + y^2), one over the density but for a constant factor."""
    shape = particle()
    y = shape.shape[1]
    assert vanishes(shape.multiplier - sympy.sqrt(1 + y**2)) and shape.not_periodic == ()
    assert "multiplier N of dt = N dtau" in str(shape)


def test_the_sleigh_has_none():
    """No invariant measure where the mass centre is not over the blade; over it there is one."""
    e = da.gallery.load("chaplygin-sleigh")
    (g,) = da.parameters("g,")
    y = e.system.coordinates[1]
    shape = da.reduce(e.system, da.Symmetry({y: y + g}, elements=[g])).chaplygin
    assert shape.density is None and shape.multiplier is None and shape.hamiltonisation is None
    assert "no time dt = N dtau with N of the shape makes the motion Hamiltonian" in str(shape)


def test_the_density_of_the_robot_is_not_periodic():
    shape = shape_of("two-wheeled-robot")
    assert set(map(str, shape.not_periodic)) == {"theta", "psi"}
    assert "The density is not periodic in theta, psi: where these are angles" in str(shape)


def test_three_shape_variables_need_a_force_of_the_form():
    """With m = 3 the multiplier is density^(-1/2); a measure alone does not make one."""
    r = da.coordinates("a b c")
    v = [q.dot for q in r]
    slopes = (0, 0, cos(r[2]) / (2 + sin(r[2])))
    n = range(3)
    force = tuple(sum(v[k] * (v[j] * slopes[k] - v[k] * slopes[j]) for k in n) for j in n)
    l, zero = sum(w**2 for w in v) / 2, sympy.S.Zero
    good = Chaplygin(r, l, force, (zero, zero, zero), (2 + sin(r[2])) ** -2)
    assert vanishes(good.multiplier - 2 - sin(r[2]))
    new = good.hamiltonisation
    assert all(map(vanishes, defects(good, new.multiplier, new.momenta, new.hamiltonian)))
    twist = (v[1] * v[2], -v[0] * v[2], sympy.S.Zero)  # no work, no divergence
    assert Chaplygin(r, l, twist, (zero, zero, zero), sympy.S.One).multiplier is None


def test_a_dimension_assumption_that_fails():
    """A constraint on the shape alone: V + D is not everything. It is reported; Chaplygin's form is refused."""
    x, y, z = da.coordinates("x y z")
    g, m = da.parameters("g m")
    energy = m * (x.dot**2 + y.dot**2 + z.dot**2) / 2
    rail = da.System("rail", [x, y, z], kinetic=energy, constraints=[x.dot - (1 + x**2) * y.dot])
    reduced = da.reduce(rail, da.Symmetry({z: z + g}, elements=[g]))
    assert reduced.spaces.ranks["W"] == 1 and "V + D is not everything." in str(reduced)
    bent, along = (e.lhs for e in reduced.equations().equations)
    assert vanishes(bent - m * ((1 + x**2) * x.ddot + y.ddot)) and along == m * reduced.velocities[g].dot
    expected = "Expected that exactly one admissible velocity belongs to each shape velocity .S = 0 and W = 0."
    with pytest.raises(da.ModelError, match=expected):
        _ = reduced.chaplygin


def test_the_connection_is_that_of_the_constraints_whatever_connection_was_given():
    x, y, z = da.coordinates("x y z")
    (g,) = da.parameters("g,")
    s = da.System("particle", [x, y, z], kinetic=(x.dot**2 + y.dot**2 + z.dot**2) / 2, constraints=[z.dot - y * x.dot])
    symmetry = da.Symmetry({z: z + g}, elements=[g])
    plain, given = (da.reduce(s, symmetry, **more).chaplygin for more in ({}, {"lift": {x: {g: 3 * y**2}, y: {g: x}}}))
    assert vanishes(plain.lagrangian - given.lagrangian)
    assert all(vanishes(a - b) for a, b in zip(plain.gyroscopic, given.gyroscopic, strict=True))
    assert any(e != 0 for e in plain.gyroscopic)


def test_momenta_that_are_not_linear_in_the_velocities_give_no_hamiltonian():
    """A shape of one variable has the multiplier one, but here its inertia depends on the velocity."""
    x, y = da.coordinates("x y")
    (g,) = da.parameters("g,")
    symmetry = da.Symmetry({y: y + g}, elements=[g])
    for more, linear in ((0, True), (x.dot**4, False)):
        s = da.System("quartic", [x, y], lagrangian=(x.dot**2 + y.dot**2) / 2 + more, constraints=[y.dot - x * x.dot])
        shape = da.reduce(s, symmetry).chaplygin
        assert shape.multiplier == 1 and (shape.hamiltonisation is not None) == linear
