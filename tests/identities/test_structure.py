"""The explicit structure of Lagrange's equations: assembled from its parts it is what Euler and Lagrange wrote down."""

from __future__ import annotations

import pytest
import sympy

import dalembert as da
from dalembert import cos, sin
from dalembert.decide.zero import vanishes
from dalembert.symbolic import fast, number
from dalembert.theory.forms.structure import generalised_force, variational_derivative
from dalembert.theory.motion.lagrange import euler_lagrange, total_derivative

t = da.time
m, a, k, r0, omega, l, g, R, M, e = da.parameters("m a k r0 omega l g R M e", positive=True)
r, varphi, theta, psi, phi = da.coordinates("r varphi theta psi phi")
x, y, z, s = da.coordinates("x y z s")


def same(f, h):
    return vanishes(fast(f) - fast(h))


def equal_sides(equations, others):
    return all(same(p.lhs - p.rhs, q.lhs - q.rhs) for p, q in zip(equations, others, strict=True))


def jet(name, *variables):
    """Any value and any first derivatives at any point: all that identities of first order can see."""
    names = da.parameters(" ".join(f"{name}_{i}" for i in range(len(variables) + 1)))
    return names[0] + sum(c * v for c, v in zip(names[1:], variables, strict=True))


def generic_system():
    """L = a_kl v_k v_l/2 + a_k v_k + T0 - V with arbitrary coefficient functions of (x, y, t)."""
    f = {n: jet(n, x, y, t) for n in ("axx", "axy", "ayy", "ax", "ay", "T0", "V")}
    kinetic = f["axx"] * x.dot**2 / 2 + f["axy"] * x.dot * y.dot + f["ayy"] * y.dot**2 / 2
    kinetic += f["ax"] * x.dot + f["ay"] * y.dot + f["T0"]
    return da.System("generic", [x, y], kinetic=kinetic, potential=f["V"])


def rotating_disc():
    """Example 7.11: a particle on a spring fixed to the rim of a turning disc."""
    kinetic = a**2 * omega**2 + r**2 * (omega + varphi.dot) ** 2 + r.dot**2
    kinetic += 2 * a * r * omega * (omega + varphi.dot) * cos(varphi) + 2 * a * omega * r.dot * sin(varphi)
    return da.System("rotating disc", [r, varphi], kinetic=m * kinetic / 2, potential=k * (r - r0) ** 2 / 2)


def test_explicit_form_is_the_euler_lagrange_operator():
    """004, T7: (7.40) for generic coefficients, since only first derivatives of them occur."""
    system = generic_system()
    assembled, derived = da.structure(system).explicit_side(), euler_lagrange(system)
    assert all(same(p, q) for p, q in zip(assembled, derived, strict=True))
    without_gyroscopic = [
        p + f for p, f in zip(assembled, map(fast, da.structure(system).gyroscopic_forces.values()), strict=True)
    ]  # control: the left-hand side lacks gamma_jk v_k
    assert not any(same(p, q) for p, q in zip(without_gyroscopic, derived, strict=True))


@pytest.mark.parametrize(
    "name", ["double-pendulum", "spherical-pendulum", "rolling-disk", "charged-particle", "kepler"]
)
def test_explicit_form_of_gallery_systems(name):
    system = da.gallery.load(name).system
    found = da.structure(system)
    assert all(same(p, q) for p, q in zip(found.explicit_side(), euler_lagrange(system), strict=True))
    assert equal_sides(found.explicit, system.equations().lagrange)


def test_parts_of_the_kinetic_energy_by_degree_and_by_particles():
    """004, T6: (7.30)-(7.32) as sums over particles, for the moving position of example 7.11."""
    centre = sympy.Matrix([cos(omega * t), sin(omega * t)]) * a
    place = centre + r * sympy.Matrix([cos(varphi + omega * t), sin(varphi + omega * t)])
    q, moving = [r, varphi], place.diff(t)
    found = da.structure(rotating_disc())
    slopes = [place.diff(c) for c in q]
    pairs = list(zip(slopes, q, strict=True))
    second = sum(m * u.dot(w) * c.dot * d.dot for u, c in pairs for w, d in pairs) / 2
    assert same(found.T2, second)
    assert same(found.T1, sum(m * u.dot(moving) * c.dot for u, c in zip(slopes, q, strict=True)))
    assert same(found.T0, m * moving.dot(moving) / 2)
    assert not same(found.T2 + found.T1, rotating_disc().kinetic)  # control: T0 is missing


def test_example_7_11():
    found = da.structure(rotating_disc())
    assert same(
        found.T1,
        m * (r**2 * omega * varphi.dot + a * r * omega * varphi.dot * cos(varphi) + a * omega * r.dot * sin(varphi)),
    )
    assert same(found.gyroscopic_matrix[0, 1], -2 * m * r * omega)
    assert (found.gyroscopic_matrix.T + found.gyroscopic_matrix).is_zero_matrix
    assert found.is_gyroscopic
    assert found.gyroscopic_power == 0
    assert found.effective_potential is None
    assert "gyroscopic forces" in found.potential_reason
    assert not found.is_natural


def test_gyroscopic_power_vanishes_for_generic_coefficients():
    """004, T14; a symmetric matrix in its place (viscous forces) would do work."""
    found = da.structure(generic_system())
    assert found.is_gyroscopic
    assert vanishes(found.gyroscopic_power)
    viscous = found.gyroscopic_matrix.applyfunc(abs)
    v = sympy.Matrix([x.dot, y.dot])
    assert not vanishes((v.T * viscous * v)[0])


def test_natural_systems_and_reasons():
    assert da.structure(da.gallery.load("double-pendulum").system).is_natural
    base = da.System("7.10", [x], kinetic=m * (a + x.dot) ** 2 / 2, potential=k * x**2 / 2)
    found = da.structure(base)
    assert not found.is_natural
    assert "total time derivative" in found.natural_reason
    assert "T0" in found.natural_reason
    assert same(found.effective_potential, k * x**2 / 2 - m * a**2 / 2)
    driven = da.System("driven", [x], kinetic=m * x.dot**2 / 2, forces={x: cos(t)})
    assert da.structure(driven).natural_reason == "there are forces besides the potential"


def test_effective_potential_of_a_bead_on_a_turning_hoop():
    """004, problem 7.6: V' = V - T0, and the equations are those of the natural system with V'."""
    kinetic = m * R**2 * (phi.dot**2 + omega**2 * sin(phi) ** 2) / 2
    hoop = da.System("hoop", [phi], kinetic=kinetic, potential=-m * g * R * cos(phi))
    found = da.structure(hoop)
    U = -m * R**2 * omega**2 * sin(phi) ** 2 / 2 - m * g * R * cos(phi)
    assert same(found.effective_potential, U)
    natural = da.System("natural", [phi], kinetic=found.T2, potential=found.effective_potential)
    assert same(euler_lagrange(hoop)[0], euler_lagrange(natural)[0])


def test_effective_potential_of_an_accelerated_frame():
    """The part linear in the velocities depends on time: the force of the frame belongs to V'."""
    ride = l * theta.dot * cos(theta) + a * t
    kinetic = m * (ride**2 + l**2 * theta.dot**2 * sin(theta) ** 2) / 2
    lift = da.System("lift", [theta], kinetic=kinetic, potential=-m * g * l * cos(theta))
    found = da.structure(lift)
    natural = da.System("natural", [theta], kinetic=found.T2, potential=found.effective_potential)
    assert same(euler_lagrange(lift)[0], euler_lagrange(natural)[0])
    naive = da.System("naive", [theta], kinetic=found.T2, potential=-found.L0)  # control: V - T0 alone
    assert not same(euler_lagrange(lift)[0], euler_lagrange(naive)[0])
    assert "F_t" in found.potential_reason


def test_the_forms_of_the_equations_agree():
    """004, section 1.3: basic, standard, mixed; also with a potential that depends on velocities."""
    U = k * x**2 / 2 + e * (x * y.dot - y * x.dot) * sin(t)
    free = da.System("free", [x, y], kinetic=m * (x.dot**2 + x**2 * y.dot**2) / 2, potential=U)
    found = da.structure(free)
    assert equal_sides(found.basic, found.standard)
    assert equal_sides(found.basic, found.explicit)
    assert all(same(p.rhs, q.rhs) is False for p, q in zip(found.basic, found.standard, strict=True))
    damped = da.System("damped", [x], kinetic=m * x.dot**2 / 2, potential=k * x**2 / 2, dissipation=g * x.dot**2 / 2)
    assert equal_sides(da.structure(damped).basic, da.structure(damped).mixed)
    assert same(da.structure(damped).mixed[0].rhs, -g * x.dot)


def test_variational_derivative_is_minus_the_euler_lagrange_operator():
    system = generic_system()
    found = variational_derivative(system.lagrangian, [x, y])
    assert all(same(-p, q) for p, q in zip(found, euler_lagrange(system), strict=True))


def test_electromagnetic_force():
    """004, T15: (7.69) for arbitrary phi and A, of which only first derivatives occur; gamma^em = -gamma, no power."""
    place, v = [x, y, z], sympy.Matrix([x.dot, y.dot, z.dot])
    potential = jet("phi", x, y, z, t)
    A = sympy.Matrix([jet(f"A{c}", x, y, z, t) for c in "xyz"])
    curl = sympy.Matrix([A[2].diff(y) - A[1].diff(z), A[0].diff(z) - A[2].diff(x), A[1].diff(x) - A[0].diff(y)])
    electric = sympy.Matrix([-potential.diff(c) - A[i].diff(t) for i, c in enumerate(place)])
    lorentz = e * (electric + v.cross(curl))
    U = e * (potential - v.dot(A))
    force = generalised_force(U, place)
    assert all(same(force[c], lorentz[i]) for i, c in enumerate(place))
    assert not all(same(-U.diff(c), lorentz[i]) for i, c in enumerate(place))  # control: as if U had no velocities
    particle = da.System("particle", place, kinetic=m * v.dot(v) / 2, potential=U)
    found = da.structure(particle)
    gamma = sympy.Matrix(3, 3, lambda i, j: e * (A[j].diff(place[i]) - A[i].diff(place[j])))
    assert all(same(p, q) for p, q in zip(-found.gyroscopic_matrix, gamma, strict=True))
    magnetic = v.cross(curl) * e
    assert all(same(f, p) for f, p in zip(found.gyroscopic_forces.values(), magnetic, strict=True))
    assert vanishes(found.gyroscopic_power)


# where the mass matrix degenerates


def slot_pendulum():
    """Problem 7.3: a pendulum hung from a joint without mass in the slot of a disc."""
    rho = x + l * sin(theta)
    kinetic = M * R**2 * psi.dot**2 / 4
    kinetic += (
        m * ((x.dot + l * theta.dot * cos(theta)) ** 2 + (l * theta.dot * sin(theta)) ** 2 + (rho * psi.dot) ** 2) / 2
    )
    return da.System("7.3", [x, theta, psi], kinetic=kinetic, potential=-m * g * l * cos(theta))


def spring_pair():
    """Problem 7.10: two particles joined by a spring, one of them on a line."""
    kinetic = m * x.dot**2 + m * (s.dot**2 + s**2 * theta.dot**2) / 2
    kinetic += m * x.dot * (s.dot * cos(theta) - s * theta.dot * sin(theta))
    return da.System("7.10", [x, s, theta], kinetic=kinetic)


@pytest.mark.parametrize(
    ("system", "condition"),
    [
        (slot_pendulum(), sin(theta)),
        (spring_pair(), s),
        (da.System("plane", [r, phi], kinetic=m * (r.dot**2 + r**2 * phi.dot**2) / 2), r),
        (da.System("touch", [x, y], kinetic=x.dot**2 + (1 - cos(x)) * y.dot**2), cos(x) - 1),  # no change of sign
    ],
    ids=lambda v: getattr(v, "name", None),
)
def test_singular_places_are_found(system, condition):
    """004, T8."""
    found = da.structure(system).degenerate
    assert [c.lhs for c in found.conditions] in ([condition], [-condition])
    assert found.definite
    assert same(found.determinant, da.structure(system).mass_matrix.det())


def test_determinants_of_the_problems():
    assert same(da.structure(spring_pair()).degenerate.determinant, m**3 * s**2)
    ratio = da.structure(slot_pendulum()).degenerate.determinant / sin(theta) ** 2
    point = {p.name: 1.3 for p in slot_pendulum().parameters} | {"x": 0.4, "theta": 1e-9}
    assert number(ratio, point) > 0.1  # sin^2 is the whole of the zero


def test_spherical_coordinates():
    kinetic = m * (r.dot**2 + r**2 * theta.dot**2 + r**2 * sin(theta) ** 2 * phi.dot**2) / 2
    found = da.structure(da.System("space", [r, theta, phi], kinetic=kinetic)).degenerate
    assert {c.lhs for c in found.conditions} == {r, sin(theta)}


@pytest.mark.parametrize(
    "kinetic",
    [
        (sympy.Rational(3, 2) - 8 / (3 * sympy.pi) * cos(theta)) * M * R**2 * theta.dot**2 / 2,  # example 7.5
        m * l**2 * (1 + sin(theta) ** 2) * theta.dot**2 / 2,
        (m + k * (theta - a) ** 2) * theta.dot**2 / 2,
    ],
)
def test_regular_charts_are_proved_regular(kinetic):
    found = da.structure(da.System("regular", [theta], kinetic=kinetic)).degenerate
    assert found.conditions == ()
    assert all(f.verdict == "has no zeros" for f in found.factors)
    assert "regular everywhere" in str(found)


def test_an_indefinite_mass_matrix_is_noticed():
    assert da.structure(da.System("odd", [x, y], kinetic=x.dot**2 - y.dot**2)).degenerate.definite is False


@pytest.mark.slow
def test_a_determinant_that_takes_too_long_is_left_out():
    found = da.structure(da.gallery.load("pendulum-chain", links=9).system).degenerate
    assert found.determinant is None
    assert found.definite
    assert "not known" in str(found)


def test_christoffel_symbols_of_the_sphere():
    ball = da.structure(da.System("ball", [theta, phi], kinetic=(theta.dot**2 + sin(theta) ** 2 * phi.dot**2) / 2))
    assert same(ball.christoffel(phi, phi, theta), -sin(theta) * cos(theta))
    assert same(ball.christoffel(theta, phi, phi), sin(theta) * cos(theta))
    assert same(ball.christoffel_second(phi, theta, phi), cos(theta) / sin(theta))
    assert set(ball.christoffel_symbols) == {(theta, phi, phi), (phi, phi, theta)}


def test_text_and_markdown():
    shown = da.structure(rotating_disc())
    assert "gyroscopic matrix" in str(shown)
    assert "Explicit form:" in str(shown)
    assert "$" in shown._repr_markdown_()
    whole = da.structure(da.gallery.load("charged-particle").system)
    assert whole.T0 is None
    assert "L0 = T0 - V is not divided" in str(whole)


def test_total_derivative_of_the_jacobi_integral():
    """004, T10 and T11: h = T2 - T0 + V, and h - (T + V) = -T1 - 2 T0."""
    system = rotating_disc()
    found = da.structure(system)
    h = found.T2 - found.T0 + system.potential
    assert same(h, system.equations().jacobi_integral)
    assert same(system.kinetic + system.potential, system.equations().energy)
    assert same(h - system.kinetic - system.potential, -found.T1 - 2 * found.T0)
    assert not vanishes(total_derivative(fast(h), system.coordinates))  # off shell it changes
