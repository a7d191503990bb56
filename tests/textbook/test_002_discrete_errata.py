"""C. I. Tori, Reduccion lagrangiana de sistemas mecanicos discretos con vinculos no holonomos: misprints of chapters 5-7.

Each test has the corrected statement and a case in which the printed one is false. Numbers are those of the list of
corrections; 7 to 9, of chapter 4, are in test_002_theory.py.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
import sympy

import dalembert as da
from dalembert import ModelError, cos, sin
from dalembert.decide.zero import vanishes
from dalembert.discrete.momentum import nonholonomic_momentum
from dalembert.symbolic import fast, gradient, number

from . import reduction_cases as cases
from .reduction_cases import acted, configurations, ends, pair_values, reduced_case, residual, slot_values

x, y, z, theta, phi = da.coordinates("x y z theta phi")
m, I, J, A, g, k = da.parameters("m I J A g k")
(x0, x1), (y0, y1), (z0, z1), (th0, th1), (p0, p1) = ends(x, y, z, theta, phi)
ELEMENT = (0.11, -0.07, 0.2)


def values(expressions):
    return [float(e) for e in expressions]


def equal(found, expected):
    return vanishes(fast(found) - fast(expected))


@cache
def shift():
    return da.Symmetry({y: y + g}, elements=[g])


@cache
def parabola(b):
    """E3 with the connection y1 - y0 = b (x1^2 - x0^2)/2."""
    system = da.DiscreteSystem(
        "E3", [x, y], lagrangian=((x1 - x0) ** 2 + (y1 - y0) ** 2) / 2, variations=[y.dot - x * x.dot],
        constraints=[y1 - y0 - (x1 + x0) * (x1 - x0) / 2],
    )  # fmt: skip
    C = da.DiscreteConnection(shift(), [x, y], horizontal=[y1 - y0 - b * (x1**2 - x0**2) / 2])
    return da.reduce(system, shift(), connection=C)


# 10-14: connections and momenta


def test_erratum_10_conjugacy_classes_differ_in_dimension():
    """G/G is no manifold: on SO(3) the class of the identity is a point, others are surfaces."""
    group = cases.so3()
    identity, turned = (np.array(group.Ad(w).evalf(17), dtype=float) for w in ([0, 0, 0], [0.3, 0.1, -0.2]))
    moved = [np.linalg.matrix_rank(Ad - np.eye(3), tol=1e-12) for Ad in (identity, turned)]
    assert moved == [0, 2]


@pytest.mark.parametrize("name", ["SE(2)", "SO(3)"])
def test_erratum_11_the_level_from_the_left(name):
    """A_d(q, gamma q) = gamma A_d(q, q) = e; with gamma^-1 from the right, as printed, it is another element."""
    reduced = reduced_case(name)
    C, over = reduced.connection, reduced.bundle
    (q,) = configurations(reduced, 1)
    at = {c.name: v for c, v in q.items()}
    gamma, here = [number(fast(e), at) for e in C.level.values()], C.apply(q, q)
    assert values(over.product(gamma, here)) == pytest.approx(values(over.identity), abs=1e-13)
    assert values(C.apply(q, acted(reduced, gamma, q))) == pytest.approx(values(over.identity), abs=1e-13)
    printed = values(over.product(here, over.inverse(gamma)))
    assert printed != pytest.approx(values(over.identity), abs=1e-2)


def test_erratum_12_a_lift_begins_where_it_says_and_its_element_is_the_inverse():
    """With g q1 = lift the element obeys g0 A g1^-1; A_d is its inverse. And p1 eta(q0, r) = q0 is needed."""
    reduced = reduced_case("SE(2)")
    C, over = reduced.connection, reduced.bundle
    one, two = configurations(reduced, 2)
    g0, g1 = ELEMENT, (-0.05, 0.13, 0.09)
    first, second = acted(reduced, g0, one), acted(reduced, g1, two)
    printed = over.inverse(C.apply(one, two))
    lifted = C.lifted(one, over.located(two)[1])
    assert values(over.act(printed, two).values()) == pytest.approx(values(lifted.values()), abs=1e-13)
    moved = over.inverse(C.apply(first, second))
    assert values(moved) == pytest.approx(values(over.product(over.product(g0, printed), over.inverse(g1))), abs=1e-13)
    wrong = values(over.product(over.product(g1, printed), over.inverse(g0)))
    assert values(moved) != pytest.approx(wrong, abs=1e-2)
    # eta(q0, r1) = ((x0, y0 + 1), (r1, y0)) is equivariant and over r1, but its pairs are those of y1 = y0 - 1
    pairs = da.DiscreteConnection(shift(), [x, y], horizontal=[y1 - y0 + 1])
    from_second = da.DiscreteConnection(shift(), [x, y], lift={y: y0})
    assert equal(pairs.level[g], -1) and equal(from_second.level[g], 0)


def test_erratum_13_riemannian_connections_are_transversal_near_the_level_only():
    """Screws of space: the plane across an orbit meets it again where it touches it, at the angle a with tan(a) = a."""
    pitch = sympy.sqrt(sympy.Rational(21723, 100000))
    screw = da.Symmetry({x: x * cos(g) - y * sin(g), y: x * sin(g) + y * cos(g), z: z + pitch * g}, elements=[g])
    fields = [sympy.lambdify((x, y, z), [screw.generators[0][c] for c in (x, y, z)])]

    def across(angle, c):
        start, there = np.array([1.0, 0, 0]), np.array([np.cos(angle), np.sin(angle), c * angle])
        V, W = (np.array(fields[0](*p), dtype=float) for p in (start, there))
        return V @ (there - start), V @ W  # on the plane, and along the orbit there

    angle = 4.493409457909064
    c = float(np.sqrt(-np.cos(angle)))
    assert float(pitch) == pytest.approx(c, abs=1e-5)
    assert across(angle, c) == pytest.approx((0, 0), abs=1e-4), "q1 is on Hor(q), and T(Gq) is within T Hor there"
    assert across(0.0, c)[1] > 1, "near the level it is transversal"


def test_erratum_14_the_two_momenta_agree_for_constant_sections_only():
    """E4 with xi = (1, y) for translations along x and z, and with xi = (1, 2)."""
    system = da.DiscreteSystem("E4", [x, y, z], lagrangian=((x1 - x0) ** 2 + (y1 - y0) ** 2 + (z1 - z0) ** 2) / 2)
    for section, same in (({x: 1, z: y}, False), ({x: 1, z: 2}, True)):
        both = [nonholonomic_momentum(system, section, variant=v).momentum for v in ("minus", "plus")]
        assert equal(*both) is same


# 15, 16: the running example


def test_errata_15_and_16_the_direction_and_its_lift():
    """(1, x) is in D and (1, -x) is not; the lift is linear in r', so that it cannot be (1, r) for every r'."""
    reduced = parabola(0)
    (row,) = reduced.original.variations
    for slope, admitted in ((x, True), (-x, False)):
        assert vanishes(row[0] + row[1] * fast(slope)) is admitted
    assert equal(reduced.terms.lift[0][0], x)
    frame = [row[0] for row in reduced.terms.frame_at(None)]  # of r' = 1; of r' = 2 it is twice that
    assert equal(frame[0], 1) and equal(frame[1], x)
    assert reduced.spaces.ranks["W"] == 0 and reduced.spaces.H.cols == 1, "W and H are horizontal; S is vertical"
    assert reduced.spaces.S.cols == 0


# 17, 18: the reduction theorem


def vertical(reduced, q0, q1, q2):
    """The unreduced residual at q1 in the directions (e_i)_Q(q1)."""
    whole = residual(reduced.original, *(slot_values(reduced.original, *p) for p in ((q0, q1), (q1, q2))))
    return whole @ np.array([[float(e) for e in row] for row in reduced.bundle.generators(q1)])


def of_class(reduced, q0, w0, r1):
    """F1(q0, w0, r1) = w0 . lift(q0, r1)."""
    return {c: float(e) for c, e in reduced.bundle.act(w0, reduced.connection.lifted(q0, r1)).items()}


def check_slopes(reduced, q0, w0, r1):
    """D2 of the Lagrangian on Q x G x Q/G, a covector at w0, by central differences of the element coordinates."""
    d, size = reduced.bundle.dimension, 1e-5

    def value(w):
        return number(reduced.original.lagrangian, slot_values(reduced.original, q0, of_class(reduced, q0, w, r1)))

    unit = np.eye(d) * size
    return np.array([(value(np.add(w0, e)) - value(np.subtract(w0, e))) / (2 * size) for e in unit])


@pytest.mark.parametrize("name", ["SE(2)", "SO(3)"])
def test_erratum_17_the_covector_is_translated_by_the_inverse(name):
    """J_d(xi) = (D2 L w^-1)(xi) = D2 L (xi w); with w, which is D2 L (xi w^-1), or without the minus sign, it is not."""
    reduced = reduced_case(name)
    over, original = reduced.bundle, reduced.original
    q0, q1 = configurations(reduced, 2)
    w0, r1 = values(reduced.connection.apply(q0, q1)), over.located(q1)[1]
    D2 = check_slopes(reduced, q0, w0, r1)
    right, wrong = (
        np.array([[float(e) for e in row] for row in over.moved_left(over.identity, b)]) for b in (w0, over.inverse(w0))
    )
    D1 = [
        number(d, slot_values(original, q0, q1))
        for d in gradient(original.lagrangian, [c.at(0) for c in original.coordinates])
    ]
    momentum = -np.array(D1) @ np.array([[float(e) for e in row] for row in over.generators(q0)])
    assert D2 @ right == pytest.approx(momentum, abs=1e-8)
    assert np.abs(D2 @ wrong - momentum).max() > 1e-3
    assert np.abs(D2 @ right + momentum).max() > 1e-3


def test_erratum_17_the_element_of_the_reconstruction():
    """u_k = conj of tau(q_k, q~_k) where tau takes q~_k to q_k; the inverse gives another next position."""
    reduced = reduced_case("SO(3)")
    over, C = reduced.bundle, reduced.connection
    q0, q1 = configurations(reduced, 2)
    w0, r1 = C.apply(q0, q1), over.located(q1)[1]
    there = acted(reduced, ELEMENT, q0)  # another representative of the class of (q0, w0)
    carried = over.product(over.product(ELEMENT, w0), over.inverse(ELEMENT))
    back = over.inverse(ELEMENT)  # tau(q0, there)
    u = over.product(over.product(back, carried), over.inverse(back))
    assert list(of_class(reduced, q0, u, r1).values()) == pytest.approx(list(q1.values()), abs=1e-13)
    wrong = over.product(over.product(ELEMENT, carried), over.inverse(ELEMENT))
    assert np.abs(np.array(list(of_class(reduced, q0, wrong, r1).values())) - list(q1.values())).max() > 1e-3
    assert there != q0


@pytest.mark.parametrize("name", ["SE(2)", "SO(3)"])
def test_erratum_18_intrinsic_equations_are_equivariant_with_the_adjoint_action(name):
    """Lemmas 6.4.2, 6.4.3: phi and psi at (g q0, g w0 g^-1, r1, v1, r2), where v1 is a class; psi for Ad_g xi, not for xi."""
    reduced = reduced_case(name)
    over, C = reduced.bundle, reduced.connection
    q0, q1, q2 = configurations(reduced, 3)
    w0, w1 = values(C.apply(q0, q1)), values(C.apply(q1, q2))
    r1, r2 = over.located(q1)[1], over.located(q2)[1]

    def second(start, w, representative, carried):
        """q1 = F1 and w1 = F2, conj of tau(q1, representative) on the second class."""
        middle = of_class(reduced, start, w, r1)
        tau = over.product(over.located(middle)[0], over.inverse(over.located(representative)[0]))
        return middle, values(over.product(over.product(tau, carried), over.inverse(tau)))

    def both(start, w, representative, carried):
        middle, w_next = second(start, w, representative, carried)
        end = of_class(reduced, middle, w_next, r2)
        assert values(C.apply(middle, end)) == pytest.approx(w_next, abs=1e-12)
        return vertical(reduced, start, middle, end), residual(
            reduced.system, pair_values(reduced, start, middle), pair_values(reduced, middle, end)
        )

    psi, reduced_equations = both(q0, w0, q1, w1)
    moved = acted(reduced, ELEMENT, q0)
    turned = values(over.product(over.product(ELEMENT, w0), over.inverse(ELEMENT)))
    h = (0.21, 0.14, -0.12)  # another representative of v1
    there = acted(reduced, h, q1)
    carried = values(over.product(over.product(h, w1), over.inverse(h)))
    psi_moved, again = both(moved, turned, there, carried)
    Ad = np.array(over.symmetry.Ad(ELEMENT).evalf(17), dtype=float)
    assert psi_moved @ Ad == pytest.approx(psi, abs=1e-11)
    assert np.abs(psi_moved - psi).max() > 1e-3
    # in the frame of the section nothing changes: phi and psi are functions of classes
    assert again == pytest.approx(reduced_equations, abs=1e-11)


# 19-21: trivial bundles and Chaplygin


def test_erratum_19_classes_and_arguments():
    """For an abelian group rho(q, w) is the same for every q of a fibre; the forces depend on r1, which is left out there."""
    reduced = parabola(2)
    C = reduced.connection
    classes = {float(C.reduced({x: 0.3, y: h}, C.joined({x: 0.3, y: h}, [0.7], [0.9]))[1][0]) for h in (0.0, 1.5)}
    assert sorted(classes) == pytest.approx([0.7] * len(classes))
    minus = reduced.forces[0][x]
    assert x1 in minus.free_symbols


def test_errata_20_and_21_three_reduced_lagrangians_and_the_image_of_the_constraint():
    """The one on Q/G x Q/G is that of w = e for the connection D_d, and another function for others; D_d is theta = e."""
    chaplygin = da.reduce(parabola(0).original, shift())
    assert chaplygin.kind == "Chaplygin"
    b = da.parameters("b")
    (t,) = parabola(b).group_variables
    still = parabola(b).lagrangian.xreplace({t.at(1): sympy.S.Zero})
    constraint = parabola(b).system.read(parabola(b).system.constraints[0])
    for value, same in ((1, True), (0, False)):
        assert equal(still.xreplace({b: sympy.Integer(value)}), chaplygin.lagrangian) is same
    assert equal(constraint.xreplace({b: sympy.S.One}), t.at(1)), "not all of G~ x Q/G"


# 22: horizontal symmetries


def test_erratum_22_w_is_horizontal_and_sections_with_coefficients():
    """E7: Hor is W + H, of dimension 2; H alone does not cover Q/G. And (f(q_k) - f(q_k-1)) J_d xi for a section f xi."""
    system = da.DiscreteSystem(
        "E7", [x, y, z], lagrangian=m * ((x1 - x0) ** 2 + (y1 - y0) ** 2 + (z1 - z0) ** 2) / 2,
        variations=[y.dot - x * x.dot], constraints=[y1 - y0 - (x1**2 - x0**2) / 2],
    )  # fmt: skip
    reduced = da.reduce(system, da.Symmetry({z: z + k}, elements=[k]), momentum={k: 1})
    assert (reduced.spaces.H.cols, reduced.spaces.W.cols, len(reduced.bundle.shape)) == (1, 1, 2)
    assert all(vanishes(e) for row in reduced.terms.lift for e in row)
    J = nonholonomic_momentum(system, {z: 1 + x**2})
    assert J.evolves and equal(J.momentum, m * (1 + x0**2) * (z1 - z0))
    assert equal(J.change, m * (z1 - z0) * ((1 + x1**2) - (1 + x0**2)))
    start = {x0: 0.5, y0: 0.2, z0: 0.1, x1: 0.6, y1: 0.255, z1: 0.13}
    whole = da.simulate(system, h=1, steps=20, start=start, parameters={m: 1.3})
    assert np.abs(J.residual(whole)).max() < 1e-13 and np.ptp(J.along(whole)) > 1e-3


# 23-26: the rolling disk and the particle


@cache
def disk():
    u, v, t = da.parameters("u v t0")
    mean, roll = (p0 + p1) / 2, A * (th1 - th0)
    system = da.DiscreteSystem(
        "rolling disk", [x, y, theta, phi],
        lagrangian=m * ((x1 - x0) ** 2 + (y1 - y0) ** 2) / 2 + I * (th1 - th0) ** 2 / 2 + J * (p1 - p0) ** 2 / 2,
        variations=[x.dot - A * cos(phi) * theta.dot, y.dot - A * sin(phi) * theta.dot],
        constraints=[x1 - x0 - roll * cos(mean), y1 - y0 - roll * sin(mean)],
    )  # fmt: skip
    return system, da.Symmetry({x: x + u, y: y + v, theta: theta + t}, elements=[u, v, t])


def test_erratum_23_the_rolling_angle_is_fixed_on_horizontal_steps():
    """theta1 = theta0, not phi1 = phi0: a condition on the shape contains the directions of the orbits."""
    system, group = disk()
    C = da.DiscreteConnection(group, system.coordinates, horizontal=[x1 - x0, y1 - y0, th1 - th0])
    assert all(equal(e, f) for e, f in zip(C.form.values(), (x1 - x0, y1 - y0, th1 - th0), strict=True))
    with pytest.raises(ModelError, match="contains directions of the orbits"):
        da.DiscreteConnection(group, system.coordinates, horizontal=[x1 - x0, y1 - y0, p1 - p0])


def test_erratum_24_the_moment_of_inertia_in_the_third_vertical_equation():
    system, group = disk()
    reduced = da.reduce(system, group)
    *_, t = reduced.group_variables
    component = reduced.momentum[group.elements[2]]
    assert equal(component, I * t.at(1)) and not equal(component, m * t.at(1))


def test_errata_25_and_26_indices_of_closed_forms():
    """The printed right sides are those of the node before; cos(d/2)/sin(d) is 1/(2 sin(d/2))."""
    system, _ = disk()
    numbers, dp, dt = {m: 1.1, I: 0.6, J: 0.3, A: 0.8}, 0.21, 0.3
    mean = 0.4 + dp / 2
    start = {x0: 0, y0: 0, th0: 0, p0: 0.4, th1: dt, p1: 0.4 + dp,
             x1: 0.8 * dt * np.cos(mean), y1: 0.8 * dt * np.sin(mean)}  # fmt: skip
    run, n = da.simulate(system, h=1, steps=10, start=start, parameters=numbers), np.arange(11)
    factor = 0.8 * dt / (2 * np.sin(dp / 2))
    right, printed = (factor * (np.sin(0.4 + j * dp) - np.sin(0.4)) for j in (n, n - 1))
    assert run.x == pytest.approx(right, abs=1e-13) and np.abs(run.x - printed).max() > 0.1
    assert np.cos(dp / 2) / np.sin(dp) == pytest.approx(1 / (2 * np.sin(dp / 2)))
    line = 0.1 + 0.03 * n  # E7: z_k+1 = (k + 1)(z1 - z0) + z0
    assert line[1:] == pytest.approx((n[:-1] + 1) * 0.03 + 0.1) and abs(line[1] - (0 * 0.03 + 0.1)) > 0.02


# 27, 28


def test_erratum_27_the_constraint_of_e3_and_e7_is_integrable():
    """y - x^2/2 is constant, in continuous and in discrete time; that of E2 is not integrable."""
    found = [
        da.classify(da.System("p", [x, y, z], kinetic=(x.dot**2 + y.dot**2 + z.dot**2) / 2, constraints=[c]))
        for c in (y.dot - x * x.dot, z.dot - y * x.dot)
    ]
    assert [bool(c.hidden_functions) for c in found] == [True, False]
    assert vanishes(fast((y1 - x1**2 / 2) - (y0 - x0**2 / 2) - (y1 - y0 - (x1 + x0) * (x1 - x0) / 2)))


def test_erratum_28_covectors_of_matrix_groups():
    """(g alpha)(g delta) = alpha(delta) with the matrix g^-T alpha; g alpha will do on SO(3), and not on SE(2)."""
    rng = np.random.default_rng(3)
    alpha, delta = rng.normal(size=(2, 3, 3))
    for group, product_will_do in ((da.groups.SO3, True), (da.groups.SE2, False)):
        matrix = np.array(group.exp([0.3, -0.5, 0.7]), dtype=float)
        paired = np.trace((np.linalg.inv(matrix).T @ alpha).T @ (matrix @ delta))
        assert paired == pytest.approx(np.trace(alpha.T @ delta))
        printed = np.trace((matrix @ alpha).T @ (matrix @ delta))
        assert bool(np.isclose(printed, np.trace(alpha.T @ delta))) is product_will_do
