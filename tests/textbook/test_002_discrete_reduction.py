"""C. I. Tori, Reduccion lagrangiana de sistemas mecanicos discretos con vinculos no holonomos: T13-T32, E2-E7 reduced.

The strongest test is off-shell: at any three configurations the reduced equations are the unreduced ones in the directions
h(dr) and zeta_Q, on bundles over SE(2) and SO(3) with a connection A that is not flat and an affine A_d.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
import sympy

import dalembert as da
from dalembert import cos, sin
from dalembert.decide.zero import vanishes
from dalembert.discrete.momentum import nonholonomic_momentum
from dalembert.discrete.reduction.isotropy import fixing
from dalembert.symbolic import fast, gradient, jacobian, number

from . import reduction_cases as cases
from .reduction_cases import (
    acted,
    configurations,
    ends,
    gibbs,
    node_frame,
    pair_values,
    reduced_case,
    residual,
    slot_values,
)

x, y, z = da.coordinates("x y z")
theta, phi = da.coordinates("theta phi")
m, I, J, A, b, mu = da.parameters("m I J A b mu")
g, k = da.parameters("g k")
h = da.step
(x0, x1), (y0, y1), (z0, z1) = ends(x, y, z)


BUNDLES = pytest.mark.parametrize("name", ["SE(2)", "SO(3)"])


# T21: the reduction theorem, off-shell


@BUNDLES
def test_t21_reduced_equations_are_the_unreduced_ones_at_any_three_points(name):
    """phi(dr) and psi(zeta), external forces included (SE(2)); (6.8), (6.10)."""
    reduced = reduced_case(name)
    assert (reduced.kind, reduced.connection.is_plain) == ("general", False)
    assert any(not vanishes(e) for e in reduced.spaces.lift), "A is not trivial"
    for seed in range(3):
        one, two, three = configurations(reduced, 3, seed)
        left = residual(reduced.system, pair_values(reduced, one, two), pair_values(reduced, two, three))
        whole = residual(reduced.original, *(slot_values(reduced.original, *p) for p in ((one, two), (two, three))))
        assert left == pytest.approx(whole @ node_frame(reduced, two), abs=1e-10)


@BUNDLES
def test_t21_control_every_term_is_needed(name):
    """Without the commutator, or one of the reduced forces, phi is something else; psi is not touched."""
    reduced = reduced_case(name)
    one, two, three = configurations(reduced, 3)
    before, after = pair_values(reduced, one, two), pair_values(reduced, two, three)
    whole = residual(reduced.original, *(slot_values(reduced.original, *p) for p in ((one, two), (two, three))))
    exact = (whole @ node_frame(reduced, two))[0]
    left = residual(reduced.system, before, after)[0]
    terms = reduced.terms
    for term, place in ((terms.commutator, after), (terms.forces[0], after), (terms.forces[1], before)):
        assert abs(left - number(term[0], place) - exact) > 1e-4


@BUNDLES
def test_t19_momentum_is_d2_of_the_reduced_lagrangian(name):
    """Lemma 6.4.4, (6.22): J_d(q0, q1)(xi) = -D1 L_d xi_Q(q0), in the frame of the first node, also at g0 not e."""
    reduced = reduced_case(name)
    one, two = configurations(reduced, 2)
    D1 = np.array([
        number(d, slot_values(reduced.original, one, two))
        for d in gradient(reduced.original.lagrangian, [c.at(0) for c in reduced.original.coordinates])
    ])  # fmt: skip
    body = -D1 @ node_frame(reduced, one)[:, len(reduced.bundle.shape) :]
    found = [number(e, pair_values(reduced, one, two)) for e in reduced.terms.leaving]
    assert found == pytest.approx(body, abs=1e-12)
    # the same by D2 of the reduced Lagrangian: J = D2 L (zeta theta)
    slots = [c.at(1) for c in reduced.group_variables]
    D2 = np.array([number(d, pair_values(reduced, one, two)) for d in gradient(reduced.terms.lagrangian, slots)])
    right = [[number(e, pair_values(reduced, one, two)) for e in row] for row in reduced.bundle.right(slots)]
    assert D2 @ np.array(right) == pytest.approx(body, abs=1e-12)


@BUNDLES
def test_t22_forces_are_d2_of_the_lagrangian_on_the_mixed_curvature(name):
    """(6.5): F_d = D2 L o B_m; (7.2) for a connection with no mixed curvature there are none."""
    reduced = reduced_case(name)
    one, two = configurations(reduced, 2)
    at = pair_values(reduced, one, two)
    D2 = np.array(
        [number(d, at) for d in gradient(reduced.terms.lagrangian, [c.at(1) for c in reduced.group_variables])]
    )
    for force, curvature in zip(reduced.terms.forces, reduced.terms.mixed_curvature, strict=True):
        table = np.array([[number(e, at) for e in row] for row in curvature])
        assert D2 @ table == pytest.approx([number(f, at) for f in force], abs=1e-12)
        assert np.abs(table).max() > 0.01


def test_t22_no_mixed_curvature_no_forces():
    """A flat lift and A_d^t = e: B_m = 0 and F_d = 0 (Obs. 6.4.1)."""
    s = cases.s
    over = da.DiscreteConnection(cases.se2(), [cases.x, cases.y, cases.phi, s], trivial={})
    reduced = da.reduce(cases.planar_body(), cases.se2(), connection=over, lift={s: {}})
    assert all(e == 0 for side in reduced.mixed_curvature for row in side for e in row)
    assert all(e == 0 for side in reduced.forces for e in side.values())


# T13-T16, T20, T28: connections and isomorphisms


@BUNDLES
def test_t13_t14_equivariance(name):
    """(5.5), the lift, the level gamma(gq) = g gamma g^-1 and (q, gamma(q) q) in Hor."""
    reduced = reduced_case(name)
    C, over = reduced.connection, reduced.bundle
    one, two = configurations(reduced, 2)
    g0, g1 = ((0.11, -0.07, 0.2), (-0.05, 0.13, 0.09))
    moved = C.apply(acted(reduced, g0, one), acted(reduced, g1, two))
    expected = over.product(over.product(g1, C.apply(one, two)), over.inverse(g0))
    assert [float(e) for e in moved] == pytest.approx([float(e) for e in expected], abs=1e-13)
    r1 = over.located(two)[1]
    lifted = C.lifted(acted(reduced, g0, one), r1)
    again = over.act(g0, C.lifted(one, r1))
    assert [float(e) for e in lifted.values()] == pytest.approx([float(e) for e in again.values()], abs=1e-13)
    at = {c.name: v for c, v in one.items()}
    gamma = [number(fast(e), at) for e in C.level.values()]
    there = {c.name: v for c, v in acted(reduced, g0, one).items()}
    turned = [number(fast(e), there) for e in C.level.values()]
    expected = over.product(over.product(g0, gamma), over.inverse(g0))
    assert turned == pytest.approx([float(e) for e in expected], abs=1e-13)
    horizontal = C.apply(one, acted(reduced, gamma, one))
    assert [float(e) for e in horizontal] == pytest.approx([float(e) for e in over.identity], abs=1e-13)
    assert np.abs(gamma).max() > 0.05, "an affine connection: the level is not the identity"


@pytest.mark.parametrize("name", ["SE(2)", pytest.param("SO(3)", marks=pytest.mark.slow)])
def test_t15_four_inputs_of_one_connection(name):
    """Hor, A_d, h_d and A_d^t lead to each other."""
    made, group = {"SE(2)": (cases.se2_connection, cases.se2), "SO(3)": (cases.so3_connection, cases.so3)}[name]
    C = made()
    q = C.bundle.coordinates
    others = [
        da.DiscreteConnection(group(), q, form=C.form),
        da.DiscreteConnection(group(), q, lift=C.lift),
        da.DiscreteConnection(group(), q, horizontal=C.horizontal),
        da.DiscreteConnection(group(), q, trivial=C.trivial),
    ]
    for other in others:
        assert all(vanishes(p - r) for p, r in zip(other.element, C.element, strict=True))
    assert not vanishes(C.element[0])


@BUNDLES
def test_t16_pairs_and_their_classes(name):
    """(Q x Q)/G = G~ x Q/G: round trip, and the class does not change if both ends are moved."""
    reduced = reduced_case(name)
    C = reduced.connection
    one, two = configurations(reduced, 2)
    r0, step, r1 = C.reduced(one, two)
    back = C.joined(one, step, r1)
    assert [float(e) for e in back.values()] == pytest.approx(list(two.values()), abs=1e-13)
    g0 = (0.11, -0.07, 0.2)
    moved = C.reduced(acted(reduced, g0, one), acted(reduced, g0, two))
    flat = [float(e) for part in moved for e in part]
    assert flat == pytest.approx([float(e) for part in (r0, step, r1) for e in part], abs=1e-13)
    # w = A_d(q0, q1) itself is conjugated: theta = g0^-1 w g0 is the invariant of its class
    over = reduced.bundle
    w, place = C.apply(one, two), over.located(one)[0]
    assert [float(e) for e in over.product(over.product(over.inverse(place), w), place)] == pytest.approx(
        [float(e) for e in step], abs=1e-13
    )


@BUNDLES
def test_t28_momentum_and_generators_are_equivariant(name):
    """J_d(g q0, g q1) = Ad*_g^-1 J_d; xi_Q(g q) = T(g)(Ad_g^-1 xi)_Q; generators are independent (free action)."""
    reduced = reduced_case(name)
    over, original = reduced.bundle, reduced.original
    one, two = configurations(reduced, 2)
    g0 = (0.11, -0.07, 0.2)

    def momentum(q0, q1):
        at = slot_values(original, q0, q1)
        D1 = np.array([number(d, at) for d in gradient(original.lagrangian, [c.at(0) for c in original.coordinates])])
        return -D1 @ np.array([[float(e) for e in row] for row in over.generators(q0)])

    inverse = [float(e) for e in over.inverse(g0)]
    Ad = np.array(reduced.bundle.symmetry.Ad(inverse).evalf(17), dtype=float)
    moved = momentum(acted(reduced, g0, one), acted(reduced, g0, two))
    assert moved == pytest.approx(momentum(one, two) @ Ad, abs=1e-12)
    slopes = np.array([[float(e) for e in row] for row in over.act_slopes(g0, one)])
    fields = np.array([[float(e) for e in row] for row in over.generators(acted(reduced, g0, one))])
    here = np.array([[float(e) for e in row] for row in over.generators(one)])
    assert fields == pytest.approx(slopes @ here @ Ad, abs=1e-12)
    assert np.linalg.matrix_rank(here) == 3


def test_t20_invariance_of_the_reduced_lagrangian():
    """L(q0, w0, r1) at (g q0, g w0 g^-1, r1): the same value, so D1 and D2 are invariant too."""
    reduced = reduced_case("SE(2)")
    C, over, original = reduced.connection, reduced.bundle, reduced.original
    one, two = configurations(reduced, 2)
    g0, w = (0.11, -0.07, 0.2), [float(e) for e in C.apply(one, two)]

    def check(place, element):
        r1, (start, r0) = over.located(two)[1], over.located(place)
        end = over.act(over.product(over.product(element, start), C.between(r0, r1)), over.placed(r1))
        return number(original.lagrangian, slot_values(original, place, {c: float(e) for c, e in end.items()}))

    turned = [float(e) for e in over.product(over.product(g0, w), over.inverse(g0))]
    assert check(acted(reduced, g0, one), turned) == pytest.approx(check(one, w), abs=1e-13)
    assert check(acted(reduced, g0, one), w) != pytest.approx(check(one, w), abs=1e-3), "w has to be conjugated"


# T17, T18, T24: motions


def pairs_of(run, names):
    return np.stack([run[c] for c in names], axis=-1)


@BUNDLES
def test_t21_t23_t24_motions_do_not_depend_on_the_connection(name):
    """Unreduced = reduced and reconstructed, for the affine connection, the trivial one and another continuous lift."""
    reduced = reduced_case(name)
    original, q = reduced.original, reduced.original.coordinates
    chi = original.constraints[0]
    first = {c: 0.05 * (i + 1) for i, c in enumerate(q)}
    second = {c: v + 0.02 for c, v in first.items()}
    shape = reduced.bundle.shape[0]
    for _ in range(30):  # the second position on D_d, by Newton's method in the shape
        at = slot_values(original, first, second)
        second[shape] -= number(chi, at) / number(gradient(chi, [shape.at(1)])[0], at)
    start = {c.at(0): v for c, v in first.items()} | {c.at(1): v for c, v in second.items()}
    whole = da.simulate(original, h=1, steps=8, start=start)
    trivial = da.DiscreteConnection(reduced.bundle.symmetry, q, trivial={})
    others = [
        reduced,
        da.reduce(original, reduced.bundle.symmetry, connection=trivial),
        da.reduce(original, reduced.bundle.symmetry, connection=trivial, lift={shape: {}}),
    ]
    found = []
    for other in others:
        run = da.simulate(other, h=1, steps=8, start=start)
        assert other is not others[1] or da.audit(run).ok  # once: the terms of the others take long to compile
        found.append(run.multipliers[:-1])
        back = other.reconstruct(run, first)
        for c in q:
            assert np.abs(back[c] - whole[c]).max() < 1e-10
    # the multipliers are the same too: one set of them is common to phi and psi
    assert np.abs(found[0] - whole.multipliers[:-1]).max() < 1e-9
    assert np.abs(found[1] - found[2]).max() < 1e-9


def test_t17_t18_vertical_equations_and_momentum_evolution():
    """Along a motion: phi and psi vanish on H and S one by one, and (5.10) for the sections of g^D."""
    reduced = reduced_case("SO(3)")
    start = {c.at(j): 0.02 * (i + 1) + 0.01 * j for i, c in enumerate(reduced.original.coordinates) for j in (0, 1)}
    s = cases.s
    chi = reduced.original.constraints[0]
    for _ in range(30):
        at = {key.name: v for key, v in start.items()}
        start[s.at(1)] -= number(chi, at) / number(gradient(chi, [s.at(1)])[0], at)
    run = da.simulate(reduced, h=1, steps=6, start=start)
    names = (*reduced.bundle.shape, *reduced.group_variables)
    for j in range(1, 5):
        slots = [{c.at(e).name: float(run[c][n + e]) for c in names for e in (0, 1)} for n in (j - 1, j)]
        left = residual(reduced.system, *slots)
        assert abs(left[0]) < 1e-11, "phi on H = h(dr), the shapes being one-dimensional and W = 0"
        here = {s.name: float(run[s][j])}
        for j_section in range(reduced.spaces.S.cols):
            xi = np.array([number(fast(e), here) for e in reduced.spaces.S[1:, j_section]])
            assert abs(left[1:] @ xi) < 1e-11, "psi on g^D"
            sides = ((reduced.terms.leaving, slots[1]), (reduced.terms.arriving, slots[0]))
            J = [np.array([number(e, at) for e in side]) for side, at in sides]
            assert J[0] @ xi == pytest.approx(J[1] @ xi, abs=1e-11)
        assert np.abs(left[1:]).max() > 1e-4, "the control: psi does not vanish off g^D"


# E3: the family b


def e3():
    return da.DiscreteSystem(
        "E3", [x, y], lagrangian=m * ((x1 - x0) ** 2 + (y1 - y0) ** 2) / 2, variations=[y.dot - x * x.dot],
        constraints=[y1 - y0 - (x1 + x0) * (x1 - x0) / 2],
    )  # fmt: skip


@cache
def shift_y():
    return da.Symmetry({y: y + g}, elements=[g])


@cache
def e3_family():
    connection = da.DiscreteConnection(shift_y(), [x, y], horizontal=[y1 - y0 - b * (x1**2 - x0**2) / 2])
    return da.reduce(e3(), shift_y(), connection=connection)


E3_RUN = [
    0.695770869250656,
    0.787422680217402,
    0.875162183472720,
    0.959242345148320,
    1.039930433664044,
    1.117489429599788,
]
E3_START = {x0: 0.5, y0: 0.2, x1: 0.6, y1: 0.255}


def equal(found, expected):
    return vanishes(fast(found) - fast(expected))


def test_e3_formulas_of_the_family():
    """Every formula of the running example, in b: A_d, lift, level, L, B_m, F_d, constraint, W, H, S, U."""
    reduced = e3_family()
    C, t = reduced.connection, reduced.group_variables[0].at(1)
    w = t + b * (x1**2 - x0**2) / 2
    assert equal(C.form[g], y1 - y0 - b * (x1**2 - x0**2) / 2)
    assert equal(C.lift[y], y0 + b * (x1**2 - x0**2) / 2) and C.is_plain
    assert equal(reduced.lagrangian, m * ((x1 - x0) ** 2 + w**2) / 2)
    minus, plus = reduced.mixed_curvature
    assert equal(plus[0][0], (1 - b) * x1) and equal(minus[0][0], -(1 - b) * x0)
    assert equal(reduced.forces[1][x], m * (1 - b) * w * x1) and equal(reduced.forces[0][x], -m * (1 - b) * w * x0)
    assert equal(reduced.terms.constraints[0], t - (1 - b) * (x1**2 - x0**2) / 2)
    assert reduced.spaces.ranks == {"V": 1, "D": 1, "S": 0, "H": 1, "U": 1, "W": 0}
    assert equal(reduced.terms.lift[0][0], x)  # A = dy - x dx; errata 15, 16: the sign is +
    assert equal(reduced.momentum[g], m * w)


@pytest.mark.parametrize("value", [-2.0, 0.0, 0.7, 1.0, 3.0])
def test_t24_e3_the_recurrence_does_not_depend_on_b(value):
    reduced = e3_family()
    assert reduced.kind == "general"
    run = da.simulate(reduced, h=1, steps=7, start=E3_START, parameters={m: 1.3, b: value})
    assert run.x[2:] == pytest.approx(E3_RUN, abs=1e-13)
    back = reduced.reconstruct(run, {x: 0.5, y: 0.2})
    assert back[y] == pytest.approx(0.2 + (run.x**2 - 0.25) / 2, abs=1e-14)
    expected = (1 - value) * np.diff(run.x**2) / 2
    assert run[reduced.group_variables[0]][1:] == pytest.approx(expected, abs=1e-14)


def test_t26_e3_is_chaplygin_with_the_connection_of_its_constraint():
    """b = 1: no force, no group variable, and (7.15)."""
    reduced = da.reduce(e3(), shift_y())
    assert (reduced.kind, reduced.group_variables, reduced.system.constraints) == ("Chaplygin", (), ())
    assert equal(reduced.lagrangian, m * ((x1 - x0) ** 2 + (x1**2 - x0**2) ** 2 / 4) / 2)
    assert all(f == 0 for f in (*reduced.system.force_minus, *reduced.system.force_plus))
    run = da.simulate(reduced, h=1, steps=7, start=E3_START, parameters={m: 1})
    assert run.x[2:] == pytest.approx(E3_RUN, abs=1e-13)
    assert reduced.reconstruct(run, {x: 0.5, y: 0.2})[y] == pytest.approx(0.2 + (run.x**2 - 0.25) / 2, abs=1e-14)
    assert reduced.order == "second order in the shape variables"


# E2: Chaplygin with a force


def e2():
    kinetic = ((x1 - x0) ** 2 + (y1 - y0) ** 2 + (z1 - z0) ** 2) / (2 * h)
    return da.DiscreteSystem(
        "E2", [x, y, z], lagrangian=kinetic - h * ((x1 + x0) ** 2 + (y1 + y0) ** 2) / 8,
        variations=[z.dot - y * x.dot], constraints=[z1 - z0 - (y1 + y0) * (x1 - x0) / 2],
    )  # fmt: skip


E2_START = {x0: 1, y0: 0.5, z0: 0, x1: 1.01, y1: 0.475, z1: 0.004875}


def test_t26_e2_has_this_lagrangian_and_force():
    reduced = da.reduce(e2(), da.Symmetry({z: z + g}, elements=[g]))
    dx, dy, mean = x1 - x0, y1 - y0, y0 + y1
    assert reduced.kind == "Chaplygin"
    L = (dx**2 + dy**2 + mean**2 * dx**2 / 4) / (2 * h) - h * ((x0 + x1) ** 2 + (y0 + y1) ** 2) / 8
    assert equal(reduced.lagrangian, L)
    for side in reduced.forces:
        assert equal(side[x], mean * dx * dy / (4 * h)) and equal(side[y], -mean * dx**2 / (4 * h))
    run = da.simulate(reduced, h=0.05, steps=100, start=E2_START)
    back = reduced.reconstruct(run, {x: 1, y: 0.5, z: 0})
    q = np.stack([back[c] for c in (x, y, z)])
    assert q[:, 2] == pytest.approx([1.01803002, 0.44881324, 0.00858412], abs=6e-9)
    assert q[:, 100] == pytest.approx([-0.3587067, 0.60925084, 1.21445005], abs=6e-9)
    free = da.DiscreteSystem("without the force", [x, y], lagrangian=L)
    other = da.simulate(free, h=0.05, steps=100, start={key: E2_START[key] for key in (x0, x1, y0, y1)})
    assert abs(other.x[100] - run.x[100]) > 1e-4, "the control: the force is needed"


# E4: a connection, and a momentum that is not conserved


def test_e4_discrete_connection_and_nonholonomic_momentum():
    r, s = da.parameters("r s")
    symmetry = da.Symmetry({x: x + r, z: z + s}, elements=[r, s])
    C = da.DiscreteConnection(symmetry, [x, y, z], lift={x: x0, z: z0, y: y1})
    assert equal(C.form[r], x1 - x0) and equal(C.form[s], z1 - z0) and C.is_plain
    system = da.DiscreteSystem(
        "E4", [x, y, z], lagrangian=((x1 - x0) ** 2 + (y1 - y0) ** 2 + (z1 - z0) ** 2) / (2 * h),
        variations=[z.dot - y * x.dot], constraints=[z1 - z0 - (y1 + y0) * (x1 - x0) / 2],
    )  # fmt: skip
    reduced = da.reduce(system, symmetry, connection=C)
    assert reduced.kind == "general"
    section = reduced.spaces.S[:, 0]
    ratio = section[2] / section[1]
    assert equal(ratio, y)
    J = nonholonomic_momentum(system, {x: 1, z: y})
    assert equal(J.momentum, ((x1 - x0) + y0 * (z1 - z0)) / h)
    start = {x0: 0, y0: 0.5, z0: 0, x1: 0.02, y1: 0.56, z1: 0.53 * 0.02}
    run = da.simulate(reduced, h=0.05, steps=50, start=start)
    whole = da.simulate(system, h=0.05, steps=50, start=start)
    back = reduced.reconstruct(run, {x: 0, y: 0.5, z: 0})
    assert all(np.abs(back[c] - whole[c]).max() < 1e-11 for c in (x, y, z))
    assert np.abs(J.residual(whole)).max() < 1e-12 and np.ptp(J.along(whole)) > 1e-3


# E5: the rolling disk


@cache
def disk():
    (th0, th1), (p0, p1) = ends(theta, phi)
    kinetic = m * ((x1 - x0) ** 2 + (y1 - y0) ** 2) / 2 + I * (th1 - th0) ** 2 / 2 + J * (p1 - p0) ** 2 / 2
    mean, roll = (p0 + p1) / 2, A * (th1 - th0)
    return da.DiscreteSystem(
        "rolling disk", [x, y, theta, phi], lagrangian=kinetic,
        variations=[x.dot - A * cos(phi) * theta.dot, y.dot - A * sin(phi) * theta.dot],
        constraints=[x1 - x0 - roll * cos(mean), y1 - y0 - roll * sin(mean)],
    )  # fmt: skip


DISK = {m: 1.1, I: 0.6, J: 0.3, A: 0.8}


def disk_start(turn=0.21, roll=0.3):
    (th0, th1), (p0, p1) = ends(theta, phi)
    mean = 0.4 + turn / 2
    return {
        x0: 0.3, y0: -0.2, th0: 0.1, p0: 0.4, th1: 0.1 + roll, p1: 0.4 + turn,
        x1: 0.3 + 0.8 * roll * np.cos(mean), y1: -0.2 + 0.8 * roll * np.sin(mean),
    }  # fmt: skip


def test_e5_translations_of_the_disk():
    """G = R^2 x S^1, S not zero, not Chaplygin: (7.9), the vertical equations and the closed form, index-corrected."""
    u, v, t = da.parameters("u v t0")
    symmetry = da.Symmetry({x: x + u, y: y + v, theta: theta + t}, elements=[u, v, t])
    reduced = da.reduce(disk(), symmetry)
    assert reduced.kind == "general"
    assert reduced.spaces.ranks == {"V": 3, "D": 2, "S": 1, "H": 1, "U": 2, "W": 0}
    assert all(e == 0 for e in reduced.spaces.lift)
    assert all(f == 0 for side in reduced.forces for f in side.values())
    tx, ty, tt = (c.at(1) for c in reduced.group_variables)
    p0, p1 = phi.at(0), phi.at(1)
    assert equal(reduced.lagrangian, m * (tx**2 + ty**2) / 2 + I * tt**2 / 2 + J * (p1 - p0) ** 2 / 2)
    section = [e / reduced.spaces.S[3, 0] for e in reduced.spaces.S[1:, 0]]
    assert equal(section[0], A * cos(phi)) and equal(section[1], A * sin(phi))
    run = da.simulate(reduced, h=1, steps=40, start=disk_start(), parameters=DISK)
    k, dp, dt = np.arange(41), 0.21, 0.3
    assert run[phi] == pytest.approx(0.4 + k * dp, abs=1e-13)
    assert run[reduced.group_variables[2]][1:] == pytest.approx(dt, abs=1e-13)
    assert run[reduced.group_variables[0]][1:] == pytest.approx(
        0.8 * dt * np.cos(dp * k[:-1] + 0.4 + dp / 2), abs=1e-13
    )
    back = reduced.reconstruct(run, {x: 0.3, y: -0.2, theta: 0.1, phi: 0.4})
    factor = 0.8 * dt / (2 * np.sin(dp / 2))
    assert back[x] == pytest.approx(0.3 + factor * (np.sin(0.4 + k * dp) - np.sin(0.4)), abs=1e-12)
    assert back[y] == pytest.approx(-0.2 + factor * (np.cos(0.4) - np.cos(0.4 + k * dp)), abs=1e-12)
    assert back[theta] == pytest.approx(0.1 + k * dt, abs=1e-12)
    off_by_one = 0.3 + factor * (np.sin(0.4 + (k - 1) * dp) - np.sin(0.4))
    assert np.abs(back[x] - off_by_one).max() > 0.1, "erratum 25: the printed right sides are those of the node before"


def test_e5_straight_line():
    u, v, t = da.parameters("u v t0")
    symmetry = da.Symmetry({x: x + u, y: y + v, theta: theta + t}, elements=[u, v, t])
    reduced = da.reduce(disk(), symmetry)
    run = da.simulate(reduced, h=1, steps=20, start=disk_start(turn=0.0), parameters=DISK)
    back = reduced.reconstruct(run, {x: 0.3, y: -0.2, theta: 0.1, phi: 0.4})
    assert back[x] == pytest.approx(0.3 + np.arange(21) * 0.24 * np.cos(0.4), abs=1e-13)


def test_t25_t26_the_disk_by_four_groups():
    """Translations of the plane (Chaplygin), SE(2), R^2 x S^1 (general) and SE(2) x S^1 (group): one motion."""
    u, v, t, c = da.parameters("u v t0 c")
    plane = {x: x + u, y: y + v}
    turned = {x: x * cos(c) - y * sin(c) + u, y: x * sin(c) + y * cos(c) + v, phi: phi + c}
    groups = {
        "Chaplygin": da.Symmetry(plane, elements=[u, v]),
        "general": da.Symmetry(turned, elements=[u, v, c]),
        "Euler-Poincare-Suslov": da.Symmetry({**turned, theta: theta + t}, elements=[u, v, c, t]),
    }
    first = {x: 0.3, y: -0.2, theta: 0.1, phi: 0.4}
    whole = da.simulate(disk(), h=1, steps=50, start=disk_start(), parameters=DISK)
    for kind, symmetry in groups.items():
        reduced = da.reduce(disk(), symmetry)
        assert reduced.kind == kind
        run = da.simulate(reduced, h=1, steps=50, start=disk_start(), parameters=DISK)
        back = reduced.reconstruct(run, first)
        assert all(np.abs(back[q] - whole[q]).max() < 1e-11 for q in first)


# E6: the group itself


def test_t25_e6_suslov_and_moser_veselov_type_recursions():
    """Prop. 7.2.1: dl(u)(u zeta) = dl(u')(zeta u') on SO(3), with and without a constraint; A_d = q1 q0^-1."""
    c = da.coordinates("c1 c2 c3")
    first, second = [q.at(0) for q in c], [q.at(1) for q in c]
    d = gibbs([-q for q in first], second)
    L = 2 * d[0] ** 2 + 3 * d[1] ** 2 + 4 * d[2] ** 2 + d[0] * d[1]
    vector, dot = sympy.Matrix(c), sympy.Matrix([q.dot for q in c])
    omega = (dot - vector.cross(dot)) / (1 + vector.dot(vector))
    free = da.DiscreteSystem("free body", c, lagrangian=L)
    suslov = da.DiscreteSystem(
        "Suslov", c, lagrangian=L, variations=[omega[0] + omega[2] / 2], constraints=[d[0] + d[2] / 2]
    )
    for system, kind in ((free, "Euler-Poincare"), (suslov, "Euler-Poincare-Suslov")):
        reduced = da.reduce(system, cases.so3())
        assert (reduced.kind, reduced.bundle.shape) == (kind, ())
        form = gibbs(second, [-q for q in first])
        assert all(equal(p, q) for p, q in zip(reduced.connection.form.values(), form, strict=True))
        start = dict(
            zip(
                [*first, *second], [0.1, 0.02, -0.05, 0.13, 0.05, -0.11 if kind == "Euler-Poincare" else 0], strict=True
            )
        )
        if kind != "Euler-Poincare":
            chi = suslov.constraints[0]
            for _ in range(30):
                at = {s.name: v for s, v in start.items()}
                start[second[2]] -= number(chi, at) / number(gradient(chi, [second[2]])[0], at)
        run = da.simulate(reduced, h=1, steps=15, start=start)
        whole = da.simulate(system, h=1, steps=15, start=start)
        back = reduced.reconstruct(run, dict(zip(c, [0.1, 0.02, -0.05], strict=True)))
        assert all(np.abs(back[q] - whole[q]).max() < 1e-10 for q in c)
        w = run.system.coordinates
        assert np.ptp(run[w[0]][1:]) > 1e-4, "the motion is no rotation at constant speed"


# E7: horizontal symmetries and the second stage


def e7():
    return da.DiscreteSystem(
        "E7", [x, y, z], lagrangian=m * ((x1 - x0) ** 2 + (y1 - y0) ** 2 + (z1 - z0) ** 2) / 2,
        variations=[y.dot - x * x.dot], constraints=[y1 - y0 - (x1**2 - x0**2) / 2],
    )  # fmt: skip


E7_START = {x0: 0.5, y0: 0.2, z0: 0.1, x1: 0.6, y1: 0.255, z1: 0.13}


def test_t27_t30_t31_t32_e7_and_its_second_stage():
    """G = R along z is horizontal; its reduced system is E3, and both reconstructions give the closed form."""
    group = da.Symmetry({z: z + k}, elements=[k])
    reduced = da.reduce(e7(), group, momentum={k: mu})
    assert reduced.kind == "horizontal" and not reduced.connection.is_plain
    assert equal(reduced.connection.level[k], mu / m)
    assert equal(reduced.connection.form[k], z1 - z0 - mu / m)
    assert equal(reduced.connection.lift[z], z0 + mu / m)
    assert reduced.spaces.ranks == {"V": 1, "D": 2, "S": 1, "H": 1, "U": 0, "W": 1}
    assert not reduced.spaces.dimension_assumption
    assert equal(reduced.lagrangian, m * ((x1 - x0) ** 2 + (y1 - y0) ** 2 + (mu / m) ** 2) / 2)
    assert all(f == 0 for side in reduced.forces for f in side.values())
    values = {m: 1.3, mu: 1.3 * 0.03}
    run = da.simulate(reduced, h=1, steps=7, start=E7_START, parameters=values)
    assert run.x[2:] == pytest.approx(E3_RUN, abs=1e-13)
    back = reduced.reconstruct(run, {x: 0.5, y: 0.2, z: 0.1})
    steps = np.arange(8)
    assert back[z] == pytest.approx(0.1 + 0.03 * steps, abs=1e-14)
    assert np.abs(back[z] - (0.1 + 0.03 * (steps - 1))).max() > 0.02, "erratum 26: z_k+1 is not k (z1 - z0) + z0"
    second = da.reduce(reduced.system, shift_y())
    assert second.kind == "Chaplygin"
    again = da.simulate(second, h=1, steps=7, start={key: E7_START[key] for key in (x0, x1, y0, y1)}, parameters=values)
    assert again.x[2:] == pytest.approx(E3_RUN, abs=1e-13)
    assert second.reconstruct(again, {x: 0.5, y: 0.2})[y] == pytest.approx(back[y], abs=1e-13)


def test_t31_horizontal_symmetry_with_forces():
    """mu not zero and a connection that is not flat: forces <mu, dA_d>, momentum exact, motion as unreduced; Routh."""
    L = ((x1 - x0) ** 2 + (y1 - y0) ** 2 + (z1 - z0 + y0 * (x1 - x0)) ** 2) / (2 * h) - h * (x0**2 + y0**2) / 2
    system = da.DiscreteSystem("coupled", [x, y, z], lagrangian=L)
    reduced = da.reduce(system, da.Symmetry({z: z + k}, elements=[k]), momentum={k: mu})
    assert reduced.kind == "horizontal" and any(f != 0 for side in reduced.forces for f in side.values())
    minus, plus = reduced.mixed_curvature
    for force, row in zip(reduced.forces, (minus, plus), strict=True):
        assert all(equal(force[r], mu * row[0][j]) for j, r in enumerate((x, y)))
    start = {x0: 0.3, x1: 0.31, y0: -0.2, y1: -0.18, z0: 0, z1: 0.02}
    level = (0.02 - 0.2 * 0.01) / 0.05
    run = da.simulate(reduced, h=0.05, steps=200, start=start, parameters={mu: level})
    whole = da.simulate(system, h=0.05, steps=200, start=start)
    back = reduced.reconstruct(run, {x: 0.3, y: -0.2, z: 0})
    assert all(np.abs(back[c] - whole[c]).max() < 1e-11 for c in (x, y, z))
    assert np.ptp(da.momentum_map(system, {z: 1}).along(whole)) < 1e-13


X, Y, PHI = da.coordinates("x y phi")
U, W, TURN = da.parameters("u w a")
MOVES = da.Symmetry(
    {X: X * cos(TURN) - Y * sin(TURN) + U, Y: X * sin(TURN) + Y * cos(TURN) + W, PHI: PHI + TURN}, elements=[U, W, TURN]
)


def test_t31_a_momentum_that_the_group_does_not_fix_is_reduced_by_the_subgroup_that_does():
    """Obs. 7.4.1 on SE(2): of mu = (p, q, j) the translations along (p, q); without the forces it is another motion."""
    p, q, j = da.parameters("p q j")
    kinetic = (X.dot**2 + Y.dot**2 + PHI.dot**2) / 2 + (X.dot * cos(PHI) + Y.dot * sin(PHI)) * PHI.dot / 3
    discrete = da.discretise(da.System("body", [X, Y, PHI], kinetic=kinetic), da.midpoint_map)
    reduced = da.reduce(discrete, MOVES, momentum={U: p, W: q, TURN: j})
    assert reduced.kind == "horizontal" and reduced.group_variables == ()
    assert reduced.bundle.dimension == 1
    own = reduced.bundle.symmetry.generators[0]
    assert equal(own[X] * q, own[Y] * p) and PHI not in own
    begin = {X: 0.3, Y: 0.1, PHI: 0.2, X.momentum: 0.7, Y.momentum: 0.4, PHI.momentum: 0.9}
    whole = da.simulate(discrete, h=0.05, steps=100, start=begin)
    values = {p: 0.7, q: 0.4}
    run = da.simulate(reduced, h=0.05, steps=100, start=begin, parameters=values)
    assert {f.name for f in run.system.parameters} == {"p", "q"}, "G_mu has one equation: j is not in it"
    back = reduced.reconstruct(run, {c: begin[c] for c in (X, Y, PHI)})
    assert all(np.abs(back[c] - whole[c]).max() < 1e-12 for c in whole.system.coordinates)
    zero = tuple(f * 0 for f in reduced.system.force_plus)
    names = ("force_plus", "external_plus", "force_minus", "external_minus")
    bare = reduced.system._made(**{**vars(reduced.system), **dict.fromkeys(names, zero)})
    pair = reduced.start(whole, values, 0.05)
    off = da.simulate(bare, h=0.05, steps=100, start=pair, parameters=values)
    assert np.abs(off[PHI] - whole[PHI]).max() > 1e-5, "the control: <mu, dA_d> is not zero"
    wrong = {c.at(n): begin[c] + n / 20 for c in (X, Y, PHI) for n in (0, 1)}
    with pytest.raises(da.StartError, match="do not have the momentum of this reduction"):
        da.simulate(reduced, h=0.05, steps=1, start=wrong, parameters=values)


E = da.parameters("e1 e2 e3")
PLACE = sympy.Matrix([x, y, z])
TURNS = da.Symmetry(dict(zip(PLACE, sympy.Matrix(da.groups.SO3.cayley(list(E))) * PLACE, strict=True)), E)
FIXED = [
    (TURNS, (1, 2, 2), (1, 2, 2)),
    (TURNS, (0, 0, mu), (0, 0, 1)),
    (MOVES, (3, -4, 5), (3, -4, 0)),
]


@pytest.mark.parametrize(("group", "momentum", "along"), FIXED)
def test_g_mu_is_the_subgroup_that_the_coadjoint_action_keeps_mu_under(group, momentum, along):
    """Ad*_g mu = mu for the elements of G_mu, and not for others; its momentum is mu on its directions."""
    subgroup, own = fixing(group, dict(zip(group.elements, momentum, strict=True)))
    assert subgroup.dimension == 1
    (s,) = subgroup.elements
    field, whole = subgroup.generators[0], group.generators
    ratio = {c: sum(n * X[c] for n, X in zip(along, whole, strict=True)) for c in whole[0]}
    pairs = [(a, b) for a in ratio for b in ratio if str(a) < str(b)]
    assert all(equal(field.get(a, 0) * ratio[b], field.get(b, 0) * ratio[a]) for a, b in pairs)
    steps = sympy.Rational(1, 7)
    on, off = [n * steps for n in along], [n * steps for n in (2, 1, 1)]
    moved = [(group.Ad(g).T * sympy.Matrix(momentum) - sympy.Matrix(momentum)) for g in (on, off)]
    assert all(map(vanishes, moved[0])) and not all(map(vanishes, moved[1]))
    size = next(a / b for a, b in ((field.get(c, 0), ratio[c]) for c in ratio) if b != 0)
    assert equal(own[s], sympy.Add(*(n * p for n, p in zip(along, momentum, strict=True))) * size)


def test_g_mu_of_two_dimensions():
    """SE(2) x R: the translations along the momentum and along the line."""
    momentum = {U: 1, W: 0, TURN: 0, k: 2}
    both = da.Symmetry({**MOVES.action, z: z + k}, elements=[U, W, TURN, k])
    subgroup, own = fixing(both, momentum)
    assert set(subgroup.elements) == {U, k} and own == {U: 1, k: 2}
    assert subgroup.action == {X: X + U, z: z + k}
    assert fixing(both, {**momentum, U: 0})[0] is both, "fixed by all: the momentum of the line"


def test_t29_g_regularity_and_t30_rank_of_the_level():
    """D2 D1 L_d on V x V is what makes J_d = mu solvable: its determinant is that of dJ/du."""
    reduced = reduced_case("SE(2)")
    original, over = reduced.original, reduced.bundle
    q = original.coordinates
    mixed = jacobian(gradient(original.lagrangian, [c.at(0) for c in q]), [c.at(1) for c in q])
    one, two = configurations(reduced, 2)
    at = slot_values(original, one, two)
    K = np.array([[number(e, at) for e in row] for row in mixed])
    V = [np.array([[float(e) for e in row] for row in over.generators(p)]) for p in (one, two)]
    assert abs(np.linalg.det(V[0].T @ K @ V[1])) > 1e-2
    D1 = gradient(original.lagrangian, [c.at(0) for c in q])
    levels = [sum((d * fast(e) for d, e in zip(D1, column, strict=True)), start=fast(0)) for column in zip(
        *over.generators({c: fast(c.at(0)) for c in q}), strict=True)]  # fmt: skip
    slopes = np.array([[number(e, at) for e in row] for row in jacobian(levels, [c.at(1) for c in q])])
    assert np.linalg.matrix_rank(slopes) == over.dimension  # (J_d^q0)^-1(mu) has dimension n - dim G
    joined = np.hstack([V[1], np.linalg.svd(slopes)[2][over.dimension :].T])
    assert np.linalg.matrix_rank(joined) == len(q)  # Prop. 7.4.2


# the restricted form needs the nonholonomic connection


def test_reactions_are_common_to_both_equations_and_w_is_excluded():
    """With the connection W + H, omega(h(dr)) vanishes where W = 0: multipliers are in the vertical equations alone."""
    reduced = reduced_case("SE(2)")
    row = reduced.terms.variations()[0]
    assert vanishes(row[0]) and not vanishes(row[2])
    plain = da.reduce(cases.planar_body(), cases.se2(), connection=cases.se2_connection(), lift={cases.s: {}})
    assert not vanishes(plain.terms.variations()[0][0]), "phi on d pi(D) alone would be wrong for this one"


def test_riemannian_connections():
    """(q, p + v) with v orthogonal to the orbit at p = gamma(q) q: flat metrics; a plain and an affine one."""
    group = da.Symmetry({x: x + g, y: y + g}, elements=[g])
    C = da.DiscreteConnection.riemannian(group, [x, y], [[2, 0], [0, 1]])
    assert C.is_plain
    assert equal(C.form[g], (2 * (x1 - x0) + (y1 - y0)) / 3)
    affine = da.DiscreteConnection.riemannian(group, [x, y], [[2, 0], [0, 1]], level={g: sympy.Rational(1, 2)})
    assert equal(affine.level[g], sympy.Rational(1, 2)) and equal(affine.form[g], C.form[g] - sympy.Rational(1, 2))


def test_riemannian_connections_of_metrics_that_are_not_constant():
    """Geodesics of the half plane, (dx^2 + dy^2)/y^2, across rays are circles about the origin; and a retraction."""
    half_plane = sympy.eye(2) / y**2
    scaling = da.Symmetry({x: g * x, y: g * y}, elements=[g])
    geodesic = {x: y0 * (x1 - x0) / y1, y: (y1**2 - y0**2 + (x1 - x0) ** 2) / (2 * y1)}
    circles = da.DiscreteConnection.riemannian(scaling, [x, y], half_plane, section={y: 1}, way=geodesic)
    assert equal(circles.form[g] ** 2, (x1**2 + y1**2) / (x0**2 + y0**2)) and circles.is_plain
    lines = {c: c.at(1) - c.at(0) for c in (x, y)}
    chords = da.DiscreteConnection.riemannian(scaling, [x, y], half_plane, section={y: 1}, way=lines)
    assert equal(chords.form[g], (x0 * x1 + y0 * y1) / (x0**2 + y0**2))
    turn = da.Symmetry({y: y + g}, elements=[g])
    bent = sympy.Matrix([[1, x, 0], [x, x**2 + 1, 1], [0, 1, 2]])
    C = da.DiscreteConnection.riemannian(turn, [x, y, z], bent, way={c: c.at(1) - c.at(0) for c in (x, y, z)})
    across = x0 * (x1 - x0) + (x0**2 + 1) * (y1 - y0) + z1 - z0
    assert equal(C.form[g], across / (x0**2 + 1)) and C.is_plain
    other = da.DiscreteConnection.riemannian(turn, [x, y, z], bent.xreplace({x: 1}), level={g: 1})
    assert not equal(other.form[g], C.form[g] - 1), "the control: a constant metric has another connection"
    tangent = [C.form[g].diff(c.at(1)).xreplace({c.at(1): c.at(0) for c in (x, y, z)}) for c in (x, y, z)]
    orthogonal = [e.xreplace({x: x0}) / (x0**2 + 1) for e in bent.row(1)]
    assert all(map(equal, tangent, orthogonal)), "to first order the mechanical connection of the metric"
