"""C. I. Tori, Reduccion lagrangiana de sistemas mecanicos discretos con vinculos no holonomos: definitions of chapters 5 to 7.

Discrete vertical bundle, composition, classes of pairs and the differential of the projection; T6, T7; horizontal symmetries
of groups that are not abelian, which the source lacks.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import dalembert as da
from dalembert import cos, sin
from dalembert.decide.zero import vanishes
from dalembert.symbolic import fast, gradient, number

from . import reduction_cases as cases
from .reduction_cases import acted, configurations, ends, reduced_case, slot_values

x, y, z, phi, s = da.coordinates("x y z phi s")
u, w, a, ell, g = da.parameters("u w a ell g")
(x0, x1), (y0, y1), (p0, p1), (s0, s1) = ends(x, y, phi, s)
h = da.step
BUNDLES = pytest.mark.parametrize("name", ["SE(2)", "SO(3)"])
ELEMENT = (0.11, -0.07, 0.2)


def values(expressions):
    return [float(e) for e in expressions]


# 5.1, 5.2: pairs


@BUNDLES
def test_5_1_1_every_pair_is_vertical_then_horizontal(name):
    """(q0, q1) = (q0, g q0).(q0, g^-1 q1) with g = A_d(q0, q1); (q0, g q0).(q0, q1) = (q0, g q1) has A_d = g A_d(q0, q1)."""
    reduced = reduced_case(name)
    C = reduced.connection
    q0, q1 = configurations(reduced, 2)
    w0 = values(C.apply(q0, q1))
    back = acted(reduced, values(reduced.bundle.inverse(w0)), q1)
    assert values(C.apply(q0, back)) == pytest.approx(values(reduced.bundle.identity), abs=1e-13)
    assert list(back.values()) == pytest.approx(values(C.lifted(q0, reduced.bundle.located(q1)[1]).values()), abs=1e-13)
    composed = C.apply(q0, acted(reduced, ELEMENT, q1))
    assert values(composed) == pytest.approx(values(reduced.bundle.product(ELEMENT, w0)), abs=1e-13)
    vertical = C.reduced(q0, acted(reduced, ELEMENT, q0))
    assert values(vertical[0]) == pytest.approx(values(vertical[2])), "vertical pairs stay over one shape"
    assert values(C.apply(q0, q1)) != pytest.approx(values(reduced.bundle.identity), abs=1e-2)


@BUNDLES
def test_5_1_2_classes_of_the_associated_bundle(name):
    """rho(q, w) = rho(g q, g w g^-1): theta is the same for both; for w kept it is another class."""
    reduced = reduced_case(name)
    over, C = reduced.bundle, reduced.connection
    q0, q1 = configurations(reduced, 2)
    w0, r1 = C.apply(q0, q1), over.located(q1)[1]
    there = acted(reduced, ELEMENT, q0)

    def theta(place, element):
        end = over.act(element, C.lifted(place, r1))
        return values(C.reduced(place, end)[1])

    turned = over.product(over.product(ELEMENT, w0), over.inverse(ELEMENT))
    assert theta(there, turned) == pytest.approx(theta(q0, w0), abs=1e-13)
    assert np.abs(np.array(theta(there, w0)) - theta(q0, w0)).max() > 1e-3


@BUNDLES
def test_5_2_4_differential_of_the_projection(name):
    """d theta = d(g0^-1 w g0), with dw = dA_d(dq0, dq1), dr1 = dpi(dq1); it vanishes on (xi_Q(q0), xi_Q(q1))."""
    reduced = reduced_case(name)
    over, C = reduced.bundle, reduced.connection
    q = reduced.original.coordinates
    q0, q1 = configurations(reduced, 2)
    rng, size = np.random.default_rng(5), 1e-5

    def moved(place, direction, amount):
        return {c: place[c] + amount * d for c, d in zip(q, direction, strict=True)}

    def slopes(function, d0, d1):
        found = [np.array(function(moved(q0, d0, e), moved(q1, d1, e))) for e in (size, -size)]
        return (found[0] - found[1]) / (2 * size)

    def projected(first, second):
        return [*values(C.reduced(first, second)[1]), *values(C.reduced(first, second)[2])]

    d0, d1 = rng.normal(size=(2, len(q)))
    whole = slopes(projected, d0, d1)
    place, dplace = over.located(q0)[0], slopes(lambda a, b: values(over.located(a)[0]), d0, d1)
    dw = slopes(lambda a, b: values(C.apply(a, b)), d0, d1)

    def conjugated(element, w):
        return np.array(values(over.product(over.product(over.inverse(element), w), element)))

    w0 = np.array(values(C.apply(q0, q1)))
    ends_ = [conjugated(np.array(values(place)) + e * dplace, w0 + e * dw) for e in (size, -size)]
    assert whole[: len(dw)] == pytest.approx((ends_[0] - ends_[1]) / (2 * size), abs=1e-8)
    assert whole[len(dw) :] == pytest.approx(slopes(lambda a, b: values(over.located(b)[1]), d0, d1), abs=1e-9)
    fields = [np.array([[float(e) for e in row] for row in over.generators(p)]) @ ELEMENT for p in (q0, q1)]
    assert np.abs(slopes(projected, *fields)).max() < 1e-8
    assert np.abs(slopes(projected, fields[0], 0 * fields[1])).max() > 1e-2


# T6, T7


@BUNDLES
def test_t6_invariance_at_any_pair(name):
    """Lemma 5.2.5: D1 L_d xi_Q(q0) = -D2 L_d xi_Q(q1); for a Lagrangian that is not invariant it is not so."""
    reduced = reduced_case(name)
    system, q = reduced.original, reduced.original.coordinates
    q0, q1 = configurations(reduced, 2)
    fields = [np.array([[float(e) for e in row] for row in reduced.bundle.generators(p)]) for p in (q0, q1)]
    moved = q[1]
    for L, holds in ((system.lagrangian, True), (system.lagrangian + fast(moved.at(0)) ** 3, False)):
        at = slot_values(system, q0, q1)
        D1, D2 = (np.array([number(d, at) for d in gradient(L, [c.at(j) for c in q])]) for j in (0, 1))
        off = np.abs(D1 @ fields[0] + D2 @ fields[1]).max()
        assert off < 1e-13 if holds else off > 1e-3


def test_t7_symplectic_and_momentum_but_not_energy():
    """Ge and Marsden: a method that keeps symplectic form and momenta keeps no energy, unless it is exact."""
    r2 = x**2 + y**2
    kepler = da.System("Kepler", [x, y], kinetic=(x.dot**2 + y.dot**2) / 2, potential=-1 / da.sqrt(r2))
    run = da.simulate(kepler, da.Midpoint(), h=0.05, steps=400, start={x: 1, y: 0, x.dot: 0, y.dot: 1.2})
    momentum = run.x * run[y.momentum] - run.y * run[x.momentum]
    assert np.ptp(momentum) < 1e-13 and 1e-7 < np.ptp(run.energy) < 1e-2
    (T,) = da.tangents(run).intervals[200:201]
    Omega = np.block([[np.zeros((2, 2)), np.eye(2)], [-np.eye(2), np.zeros((2, 2))]])
    assert np.abs(T.T @ Omega @ T - Omega).max() < 1e-13


# 7.4 for a group that is not abelian


@cache
def body_with_rotor():
    """A body in the plane whose rotor s is coupled to it: SE(2), no constraints, a connection that depends on s."""
    L = ((x1 - x0) ** 2 + (y1 - y0) ** 2) / (2 * h) + (p1 - p0) ** 2 * (2 + cos(s0)) / (2 * h)
    L += (s1 - s0) ** 2 / (2 * h) + (s1 - s0) * (p1 - p0) * (1 + s0 / 3) / h - h * s0**2 / 5
    system = da.DiscreteSystem("body with a rotor", [x, y, phi, s], lagrangian=L)
    moved = {x: x * cos(a) - y * sin(a) + u, y: x * sin(a) + y * cos(a) + w, phi: phi + a}
    return system, da.Symmetry(moved, elements=[u, w, a])


def momenta(system, run, fields):
    return [da.momentum_map(system, field).along(run) for field in fields]


def test_t30_t31_a_level_of_the_momentum_of_se2():
    """mu = (0, 0, ell) is fixed by SE(2): affine connection J_mu, forces <mu, dA_d> that are not zero, one shape."""
    system, group = body_with_rotor()
    reduced = da.reduce(system, group, momentum={u: 0, w: 0, a: ell})
    C = reduced.connection
    assert reduced.kind == "horizontal" and not C.is_plain and [c.name for c in reduced.bundle.shape] == ["s"]
    minus, plus = reduced.mixed_curvature
    for force, row in zip(reduced.forces, (minus, plus), strict=True):
        assert vanishes(fast(force[s]) - fast(ell * row[2][0])) and not vanishes(fast(force[s]))
    # Prop. 7.4.3: (q, gamma(q) q) has the momentum mu
    rng = np.random.default_rng(2)
    q0 = {c: float(v) for c, v in zip(system.coordinates, rng.uniform(-0.4, 0.4, 4), strict=True)}
    at = {c.name: v for c, v in q0.items()} | {"ell": 0.7, h.name: 0.1}
    gamma = [number(fast(e), at) for e in C.level.values()]
    q1 = {c: float(e) for c, e in reduced.bundle.act(gamma, q0).items()}
    fields = [{x: 1}, {y: 1}, {x: -y, y: x, phi: 1}]
    J = [number(fast(da.momentum_map(system, f).minus), at | slot_values(system, q0, q1)) for f in fields]
    assert np.array(J) == pytest.approx(np.array([0, 0, 0.7]), abs=1e-12)
    # the motion
    turn = (0.7 * 0.1 - (0.31 - 0.3) * (1 + 0.1)) / (2 + np.cos(0.3))
    start = {x0: 0.2, x1: 0.2, y0: -0.1, y1: -0.1, p0: 0.5, p1: 0.5 + turn, s0: 0.3, s1: 0.31}
    whole = da.simulate(system, h=0.1, steps=1000, start=start)
    run = da.simulate(reduced, h=0.1, steps=1000, start=start, parameters={ell: 0.7})
    back = reduced.reconstruct(run, {x: 0.2, y: -0.1, phi: 0.5, s: 0.3})
    assert all(np.abs(back[c] - whole[c]).max() < 1e-10 for c in system.coordinates)
    assert all(np.ptp(J) < 1e-12 for J in momenta(system, whole, fields)) and np.ptp(whole[s]) > 0.1
    off = da.simulate(reduced, h=0.1, steps=50, start={s0: 0.3, s1: 0.31}, parameters={ell: 0.0})
    assert np.abs(off[s] - run[s][:51]).max() > 1e-3, "the control: on another level it is another motion"


def test_t31_obs_7_4_1_the_subgroup_that_fixes_the_momentum():
    """mu = (mu_x, 0, .) is fixed by translations along x alone: their momentum, their quotient, the same motion."""
    system, _ = body_with_rotor()
    level = da.parameters("level")
    reduced = da.reduce(system, da.Symmetry({x: x + u}, elements=[u]), momentum={u: level})
    assert reduced.kind == "horizontal" and [c.name for c in reduced.bundle.shape] == ["y", "phi", "s"]
    start = {x0: 0.2, x1: 0.23, y0: -0.1, y1: -0.12, p0: 0.5, p1: 0.54, s0: 0.3, s1: 0.31}
    whole = da.simulate(system, h=0.1, steps=200, start=start)
    run = da.simulate(reduced, h=0.1, steps=200, start=start, parameters={level: 0.03 / 0.1})
    back = reduced.reconstruct(run, {x: 0.2, y: -0.1, phi: 0.5, s: 0.3})
    assert all(np.abs(back[c] - whole[c]).max() < 1e-11 for c in system.coordinates)


# holonomic constraints, and constraints apart from variations


def test_holonomic_constraints_and_given_variations():
    """A pendulum on a sphere by turns about the vertical; D and D_d that have nothing to do with each other."""
    turn = da.Symmetry({x: x * cos(a) - y * sin(a), y: x * sin(a) + y * cos(a)}, elements=[a])
    speed = (x.dot**2 + y.dot**2 + z.dot**2) / 2
    pendulum = da.System("pendulum", [x, y, z], kinetic=speed, potential=z, constraints=[x**2 + y**2 + z**2 - 1])
    apart = da.System(
        "apart", [x, y, z], kinetic=speed, constraints=[z.dot - 2 * x * y.dot], variations=[z.dot - x * y.dot]
    )
    shift = da.Symmetry({z: z + g}, elements=[g])
    cases_ = (
        (pendulum, turn, "general", {x: 0.6, y: 0, z: -0.8, x.momentum: 0, y.momentum: 1, z.momentum: 0}),
        (apart, shift, "Chaplygin", {x: 0.6, y: 0, z: 0, x.momentum: 0.2, y.momentum: 1, z.momentum: 1.2}),
    )
    for system, symmetry, kind, start in cases_:
        discrete = da.discretise(system, da.midpoint_map)
        reduced = da.reduce(discrete, symmetry)
        assert reduced.kind == kind
        whole, run = (da.simulate(d, h=0.02, steps=300, start=start) for d in (discrete, reduced))
        back = reduced.reconstruct(run, {c: start[c] for c in (x, y, z)})
        assert all(np.abs(back[c] - whole[c]).max() < 1e-12 for c in (x, y, z))
        assert np.ptp(whole.x) > 0.1


def test_the_connection_of_the_sections_is_that_of_a_trivial_bundle():
    """Section 7.1: A_d((r0, h0), (r1, h1)) = h1 A_d^t(r0, r1) h0^-1, and theta = h0^-1 h1 A_d^t."""
    C = cases.se2_connection()
    over = C.bundle
    q0, q1 = configurations(reduced_case("SE(2)"), 2)
    (h0, r0), (h1, r1) = over.located(q0), over.located(q1)
    At = over.inverse(C.between(r0, r1))
    expected = over.product(over.product(h1, At), over.inverse(h0))
    assert values(C.apply(q0, q1)) == pytest.approx(values(expected), abs=1e-13)
    theta = over.product(over.product(over.inverse(h0), h1), At)
    assert values(C.reduced(q0, q1)[1]) == pytest.approx(values(theta), abs=1e-13)


@pytest.mark.parametrize("name", ["particle-on-parabola", "particle-over-parabola"])
def test_e3_and_e7_are_in_the_gallery(name):
    """The midpoint map makes L_d and D_d of the examples; by the listed symmetry E3 is Chaplygin, E7 is not."""
    example = da.gallery.load(name)
    discrete = da.discretise(example.system, da.midpoint_map)
    assert vanishes(discrete.constraints[0] * fast(h) - fast(y1 - y0 - (x1**2 - x0**2) / 2))
    reduced = da.reduce(discrete, da.Symmetry(example.action, elements=example.elements))
    assert reduced.kind == ("Chaplygin" if len(discrete.coordinates) == 2 else "general")
    start = {x0: 0.5, y0: 0.2, x1: 0.6, y1: 0.255} | (
        {} if reduced.kind == "Chaplygin" else {z.at(0): 0.1, z.at(1): 0.13}
    )
    run = da.simulate(reduced, h=1, steps=3, start=start, parameters=example.parameters)
    assert run.x[2:] == pytest.approx([0.695770869250656, 0.787422680217402], abs=1e-13)
