"""Noether's theorem: the charge of a family is what the theory says, and is conserved exactly when the checks pass."""

from __future__ import annotations

import pytest
import sympy

import dalembert as da
from dalembert import cos, sin, sqrt, time
from dalembert.theory.conserved.noether import boosts, rotations, translations
from dalembert.theory.conserved.on_shell import shell

x, y, z, theta, phi = da.coordinates("x y z theta phi")
m, k, g, B, a, c, s = da.parameters("m k g B a c s", positive=True)


def bodies(n, outer=0):
    """n particles in space with central pair forces, and their coordinates."""
    r = [da.coordinates(f"x{i} y{i} z{i}") for i in range(1, n + 1)]
    masses = [da.parameters(f"m{i}", positive=True) for i in range(1, n + 1)]
    pairs = [(i, j) for i in range(n) for j in range(i)]
    V = sum(
        -k * masses[i] * masses[j] / sqrt(sum((u - w) ** 2 for u, w in zip(r[i], r[j], strict=True))) for i, j in pairs
    )
    T = sum(w * sum(u.dot**2 for u in p) / 2 for w, p in zip(masses, r, strict=True))
    return da.System(f"{n} bodies", [u for p in r for u in p], kinetic=T, potential=V + outer), r, masses


def same(one, two):
    return sympy.expand(one - two) == 0


@pytest.mark.parametrize("n", [2, 3])
def test_the_ten_integrals_of_an_isolated_system(n):
    given, r, masses = bodies(n)
    P = [sum(w * p[i].dot for w, p in zip(masses, r, strict=True)) for i in range(3)]
    H = [
        sum(w * (p[i] * p[j].dot - p[j] * p[i].dot) for w, p in zip(masses, r, strict=True))
        for i, j in ((1, 2), (2, 0), (0, 1))
    ]
    K = [sum(w * p[i] for w, p in zip(masses, r, strict=True)) - time * P[i] for i in range(3)]
    for family, expected in zip(translations(r), P, strict=True):
        charge = da.noether(given, family)
        assert charge.conserved and charge.gauge == 0 and same(charge.expression, expected)
    for family, expected in zip(rotations(r), H, strict=True):
        charge = da.noether(given, family)
        assert charge.conserved and charge.gauge == 0 and same(charge.expression, expected)
    for i, (family, expected) in enumerate(zip(boosts(r), K, strict=True)):
        charge = da.noether(given, family)
        assert charge.conserved and same(charge.expression, -expected)
        assert same(charge.gauge, sum(w * p[i] for w, p in zip(masses, r, strict=True)))
        assert charge.checks[0] == ("the Lagrangian is invariant", False)
    energy = da.noether(given, {}, tau=1)
    assert energy.conserved and same(-energy.expression, given.kinetic + given.potential)
    assert shell(given).rank([*P, *H, *K, energy.expression]) == 10
    assert all(shell(given).conserved(e) for e in (*P, *H, *K, energy.expression))


def test_an_outer_field_breaks_what_it_must():
    """A uniform field along z: P_x, P_y, H_z remain; P_z changes L by a total derivative; H_x is lost."""
    r = bodies(2)[1]
    given = bodies(2, outer=g * (r[0][2] + r[1][2]))[0]
    P = [da.noether(given, f) for f in translations(r)]
    assert [p.conserved for p in P] == [True, True, True]
    assert P[2].gauge == -2 * g * time and P[0].gauge == 0
    H = [da.noether(given, f) for f in rotations(r)]
    assert [h.conserved for h in H] == [False, False, True]
    assert "not so: the Lagrangian is invariant" in H[0].reason
    assert not shell(given).conserved(H[0].expression)


def test_finite_families_of_examples_7_8_and_7_9():
    """Ex. 7.8: translation, P_x. Ex. 7.9: the rotation (x cos s + y sin s, -x sin s + y cos s) has the charge -H_z."""
    given = da.System(
        "particle", [x, y, z], kinetic=m * (x.dot**2 + y.dot**2 + z.dot**2) / 2, potential=k * (x**2 + y**2)
    )
    turned = da.noether(given, {x: x * cos(s) + y * sin(s), y: -x * sin(s) + y * cos(s)}, parameter=s)
    assert turned.conserved and same(turned.expression, -m * (x * y.dot - y * x.dot))
    assert turned.generator == {x: y, y: -x, z: 0}
    moved = da.noether(given, {z: z + s}, parameter=s)
    assert moved.conserved and moved.expression == m * z.dot
    assert not da.noether(given, {x: x + s}, parameter=s).conserved


def test_only_kinetic_energy_quadratic_in_v_is_galilean():
    """T22: among L(v^2) only k v^2 changes by a total derivative under a boost."""

    def boosted(L):
        return da.noether(da.System("L(v^2)", [x, y, z], lagrangian=L), {x: time})

    v2 = x.dot**2 + y.dot**2 + z.dot**2
    good = boosted(k * v2)
    assert good.conserved and good.gauge == 2 * k * x
    for L in (k * v2**2, k * v2 + a * v2**2, -m * sqrt(1 + v2)):
        bad = boosted(L)
        assert not bad.conserved and bad.gauge is None
        assert ("it changes by the derivative of a function F(q, t)", False) in bad.checks


def test_homogeneity_and_isotropy():
    """Section 1.14: translations in space and time and rotations of a free particle."""
    given = da.System("free", [x, y, z], kinetic=m * (x.dot**2 + y.dot**2 + z.dot**2) / 2)
    r = [(x, y, z)]
    charges = [da.noether(given, f) for f in (*translations(r), *rotations(r))]
    charges.append(da.noether(given, {}, tau=1))
    assert all(q.conserved and q.gauge == 0 for q in charges)


def test_time_transformations():
    """Scaling x -> x + s x/2, t -> t + s t leaves L dt of a free particle and of a 1/x^2 force alone; not of a spring."""
    T = m * x.dot**2 / 2
    inverse = da.System("1/x^2", [x], kinetic=T, potential=k / x**2)
    charge = da.noether(inverse, {x: x / 2}, tau=time)
    assert charge.conserved
    assert same(charge.expression, m * x * x.dot / 2 - time * (T + k / x**2))
    assert not da.noether(da.System("spring", [x], kinetic=T, potential=k * x**2), {x: x / 2}, tau=time).conserved


def test_invariance_up_to_a_gauge_in_a_magnetic_field():
    given = da.System("field", [x, y], kinetic=m * (x.dot**2 + y.dot**2) / 2, potential=B * y * x.dot)
    charge = da.noether(given, {y: 1})
    assert charge.conserved and same(charge.expression, m * y.dot + B * x) and same(charge.gauge, -B * x)


def test_forces():
    """A viscous force works along a translation; with the change of L its work is a total derivative: p + c x."""
    T = m * (x.dot**2 + y.dot**2) / 2
    damped = da.System("damped", [x, y], kinetic=T, dissipation=c * x.dot**2 / 2)
    along, across = da.noether(damped, {x: 1}), da.noether(damped, {y: 1})
    assert along.conserved and same(along.expression, m * x.dot + c * x)
    assert across.conserved and same(across.expression, m * y.dot)
    assert ("the forces do no work along the family", False) in along.checks
    turned = da.noether(damped, {x: -y, y: x})
    assert not turned.conserved and "not so: the forces do no work along the family" in turned.reason


def test_constraints():
    """Reactions must not work along the family: the rolling disk may turn about its own axis only with its centre."""
    T = m * (x.dot**2 + y.dot**2) / 2 + a * theta.dot**2 / 2 + k * phi.dot**2 / 2
    rolling = [x.dot - c * cos(phi) * theta.dot, y.dot - c * sin(phi) * theta.dot]
    disk = da.System("disk", [x, y, theta, phi], kinetic=T, constraints=rolling)
    turning = da.noether(disk, {phi: 1})
    assert turning.conserved and same(turning.expression, k * phi.dot)
    assert all(holds for _, holds in turning.checks)
    shifted = da.noether(disk, {x: 1})
    assert not shifted.conserved and "not so: reactions of" in shifted.reason
    # L is invariant, the reaction does work along the family, and yet it is zero: theta.dot is constant
    spinning = da.noether(disk, {theta: 1})
    assert spinning.conserved and "the rate of the charge is zero on every motion" in spinning.reason


def test_a_sphere_by_constraint():
    """Rotations are virtual displacements of a particle on a sphere; translations are not."""
    ball = da.System("sphere", [x, y, z], kinetic=m * (x.dot**2 + y.dot**2 + z.dot**2) / 2, potential=m * g * z,
                     constraints=[x**2 + y**2 + z**2 - a**2])  # fmt: skip
    about_x, about_y, about_z = (da.noether(ball, f) for f in rotations([(x, y, z)]))
    assert about_z.conserved and not about_x.conserved and not about_y.conserved
    assert not da.noether(ball, {x: 1}).conserved


def test_it_shows_itself():
    given = da.System("free", [x], kinetic=m * x.dot**2 / 2)
    text = str(da.noether(given, {x: time}))
    assert text.splitlines() == [
        "  displacement of x:  t",
        "  no   the Lagrangian is invariant",
        "  yes  it changes by the derivative of a function F(q, t)",
        "  charge, conserved:  -m*x + m*t*x.dot",
        "    the Lagrangian changes by the derivative of F = m*x",
    ]


def test_what_failed_is_said_once():
    pulled = da.System("pulled", [x], kinetic=m * x.dot**2 / 2, potential=x**4)
    charge = da.noether(pulled, {x: 1})
    assert not charge.conserved and charge.reason.startswith("not so: the Lagrangian is invariant; not so: ")
    assert str(charge).splitlines() == [
        "  displacement of x:  1",
        "  no   the Lagrangian is invariant",
        "  no   it changes by the derivative of a function F(q, t)",
        "  charge, not conserved:  m*x.dot",
    ]
