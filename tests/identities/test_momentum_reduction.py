"""Routh's reduction by groups that are not commutative: on a level of the momentum the motion is that of the system."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
import sympy

import dalembert as da
from dalembert import cos, sin

x, y, phi, s = da.coordinates("x y phi s")
u, w, a = da.parameters("u w a")
e1, e2, e3 = da.parameters("e1 e2 e3")
m, J, k, j = da.parameters("m J k j", positive=True)
PLACE = {x: 0.4, y: -0.3, phi: 0.5}


@cache
def planar():
    """A body in the plane with a bead on a spring along an axis of the body, and the displacements of the plane."""
    along, across = cos(phi) * x.dot + sin(phi) * y.dot, -sin(phi) * x.dot + cos(phi) * y.dot
    bead = (s.dot + along) ** 2 + (across + s * phi.dot) ** 2
    kinetic = m * (along**2 + across**2 + bead) / 2 + J * phi.dot**2 / 2
    body = da.System("body with bead", [x, y, phi, s], kinetic=kinetic, potential=k * s**2 / 2)
    moved = {x: x * cos(a) - y * sin(a) + u, y: x * sin(a) + y * cos(a) + w, phi: phi + a}
    return body, da.Symmetry(moved, elements=[u, w, a])


@cache
def with_rotor():
    """A free body in space with a rotor about an axis of the body, and rotations of space."""
    R = da.rotation("R")
    p, q, r = R.omega
    kinetic = (p**2 + 2 * q**2 + 3 * r**2 + 2 * p * q / 5) / 2 + j * (s.dot + r) ** 2 / 2
    body = da.System("body with rotor", [R, s], kinetic=kinetic, potential=k * s**2 / 2)
    turn = da.groups.SO3.cayley([e1, e2, e3])
    return R, body, da.Symmetry({R: turn * R.matrix}, elements=[e1, e2, e3])


@cache
def planar_error(sign):
    """Runs with RungeKutta4 on a level against the unreduced motion; with the momentum of one sign or the other."""
    body, group = planar()
    level = da.reduce(body, group, momentum={u: 1, w: sign * sympy.Rational(1, 2), a: 0.3})
    P = {m: 1.0, J: 0.7, k: 2.0}
    start = {s: 0.2, s.dot: 0.1, u: PLACE[x], w: PLACE[y], a: PLACE[phi]}
    run = da.simulate(level, da.RungeKutta4(), h=0.01, until=2, start=start, parameters=P)
    back = level.reconstruct(run, at={**PLACE, s: 0.2})
    right = da.reduce(body, group, momentum={u: 1, w: sympy.Rational(1, 2), a: 0.3}).start(start, P)
    xi = [right[v] for v in level.reduced.velocities.values()]
    c, d = np.cos(PLACE[phi]), np.sin(PLACE[phi])
    own = {x.dot: c * xi[0] - d * xi[1], y.dot: d * xi[0] + c * xi[1], phi.dot: xi[2], s.dot: 0.1}
    full = da.simulate(body, da.Reference(rtol=1e-12), h=0.01, until=2, start={**PLACE, s: 0.2, **own}, parameters=P)
    for g, value in zip(group.elements, (1, 0.5, 0.3), strict=True):  # the unreduced motion is on the level
        assert np.abs(full.quantity(level.reduced.momentum[g]) - value).max() < 1e-10
    return max(np.abs(back[q] - full[q]).max() for q in (x, y, phi, s))


@pytest.mark.slow
def test_a_planar_body_with_a_shape():
    """On the level the motion is the unreduced one; with another momentum it is not."""
    assert planar_error(1) < 1e-8
    assert planar_error(-1) > 1e-2


def test_the_orbit_and_the_elements_that_fix_the_level():
    body, group = planar()
    level = da.reduce(body, group, momentum={u: 1, w: 2, a: 3})
    assert level.orbit_dimension == 2 and level.isotropy.cols == 1
    p, q, _ = level.orbit.values()
    assert sympy.simplify(p**2 + q**2 - 5) == 0  # the Casimir function of SE(2)
    text = str(level)
    assert "coadjoint orbit of dimension 2; elements that fix the level: 1" in text and "Routhian" in text


def test_velocities_are_derivatives_of_the_routhian():
    """xi = -dR/dmu, dl/dr' = dR/dr'; a Routhian without the term <mu, xi> does not give it."""
    level = da.reduce(*planar(), momentum={u: 1, w: 2, a: 3})
    for mu, (xi, expression) in zip(level.momenta, level.velocities.items(), strict=True):
        assert sympy.simplify(level.routhian.diff(mu) + expression) == 0
        assert sympy.simplify((level.routhian + level.velocities[xi] * mu).diff(mu) + expression) != 0
    own = level.reduced.lagrangian.diff(s.dot).xreplace(level.velocities)
    assert sympy.simplify(level.routhian.diff(s.dot) - own) == 0


@pytest.mark.slow
def test_a_body_with_a_rotor():
    """The momentum in space is the level along a run, its size in the body is constant; the rotor moves as in the system."""
    R, body, group = with_rotor()
    value = (0.5, -0.2, 1.5)
    level = da.reduce(body, group, momentum=dict(zip(group.elements, value, strict=True)))
    P, start = {j: 0.4, k: 1.5}, {s: 0.3, s.dot: 0.2, e1: 0.2, e2: -0.1, e3: 0.3}
    own = level.start(start, P)
    place = np.array(da.groups.SO3.cayley([0.2, -0.1, 0.3]).tolist(), dtype=float)
    run = da.simulate(level, da.RungeKutta4(), h=0.01, until=1, start=start, parameters=P)
    back = level.reconstruct(run, at={R: place, s: 0.3})
    xi = [own[v] for v in level.reduced.velocities.values()]
    scale = np.array([float(level.reduced.fields[i, 1 + i]) for i in range(3)])  # of generators, in angular velocities
    full = da.simulate(
        body,
        da.Reference(rtol=1e-12),
        h=0.01,
        until=1,
        start={R: place, R.omega: scale * xi, s: 0.3, s.dot: 0.2},
        parameters=P,
    )
    assert max(np.abs(back[R] - full[R]).max(), np.abs(run[s] - full[s]).max()) < 1e-7
    for g, p in zip(group.elements, value, strict=True):
        assert np.abs(full.quantity(level.reduced.momentum[g]) - p).max() < 1e-10
    still = np.abs(back[R] - place).max()
    assert still > 0.1  # the comparison is of a motion


def test_of_a_commutative_group_it_is_routh():
    """The Routhian is that of `routh`, and the momentum in the body is constant."""
    r, theta = da.coordinates("r theta")
    kepler = da.System("kepler", [r, theta], kinetic=m * (r.dot**2 + r**2 * theta.dot**2) / 2, potential=-k / r)
    level = da.reduce(kepler, da.Symmetry({theta: theta + a}, elements=[a]), momentum={a: 2})
    (p,) = da.routh(kepler).momenta
    assert sympy.simplify(level.routhian - da.routh(kepler).routhian.xreplace({p: level.momenta[0]})) == 0
    assert level.equations().equations[1].lhs == level.momenta[0].dot


def test_lanes_are_single_runs():
    level = da.reduce(*planar(), momentum={u: 1, w: 2, a: 3})
    options = {"h": 0.01, "steps": 5, "parameters": {m: 1.0, J: 0.7, k: 2.0}}
    both = da.simulate(level, da.Midpoint(), start={s: np.array([0.1, 0.2]), s.dot: 0.0}, **options)
    one = da.simulate(level, da.Midpoint(), start={s: 0.2, s.dot: 0.0}, **options)
    assert (both[s][1] == one[s]).all()


FORCED = "reduce: momentum=... of 'pushed': the force"
P1, P2 = da.parameters("P1 P2")


def pushed():
    body, group = planar()
    forces = {x: -k * cos(phi), y: -k * sin(phi)}
    return da.reduce(body.replace(name="pushed", forces=forces), group, momentum={u: 1, w: 2, a: 3})


def bound():
    body, group = planar()
    blade = [-sin(phi) * x.dot + cos(phi) * y.dot]
    return da.reduce(body.replace(constraints=blade), group, momentum={u: 1, w: 2, a: 3})


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: da.reduce(*planar(), momentum={u: 0, w: 0, a: 1}),
            "is not regular: 3 independent elements of the algebra of u, w, a fix it, of almost all momenta 1. Expected a "
            "momentum whose coadjoint orbit has the dimension 2, not 0. Give another one, or leave momentum out",
        ),
        (
            lambda: da.reduce(*with_rotor()[1:], momentum=dict.fromkeys((e1, e2, e3), 0)),
            "momentum={e1: 0, e2: 0, e3: 0} is not regular",
        ),
        (
            lambda: da.reduce(*planar(), momentum={u: 1}),
            "momentum={u: 1}. Expected a value for each element of the group, such as momentum={u: 1, w: 1, a: 1}.",
        ),
        (lambda: da.reduce(*planar(), momentum=3), "momentum=3. Expected a value for each element of the group"),
        (pushed, FORCED),
        (bound, "which has constraints: their reactions change the momentum. Leave momentum out"),
    ],
)
def test_messages(call, message):
    with pytest.raises(da.ModelError) as caught:
        call()
    assert message in str(caught.value)


def test_a_start_names_shape_and_elements():
    level = da.reduce(*planar(), momentum={u: 1, w: 2, a: 3})
    with pytest.raises(da.StartError, match=r"Expected s, s.dot, and group elements u, w, a"):
        da.simulate(level, da.Midpoint(), h=0.1, steps=1, start={s: 0.1}, parameters={m: 1.0, J: 1.0, k: 1.0})


def test_where_a_level_of_parameters_is_not_regular():
    level = da.reduce(*planar(), momentum={u: P1, w: P2, a: 0})
    assert set(level.singular) and all(e.xreplace({P1: 0, P2: 0}) == 0 for e in level.singular)
