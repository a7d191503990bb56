"""The inverse problem in quasi-coordinates, and Darboux coordinates of Birkhoff's equations."""

from __future__ import annotations

import pytest
import sympy
from sympy import Matrix, exp, log, sin

import dalembert as da
from dalembert.errors import ModelError
from dalembert.theory.algebra import linear_solution

x, y, z, w = da.coordinates("x y z w")
r, phi, theta, psi = da.coordinates("r phi theta psi")
u1, u2, u3 = da.coordinates("u1 u2 u3")
Q, Q1, Q2 = da.coordinates("Q Q1 Q2")
k, m, a, b, c, d = da.parameters("k m a b c d", positive=True)
t = da.time

# quasi-coordinates: polar coordinates in an orthonormal frame
POLAR = {u1: r.dot, u2: r * phi.dot}
ORBIT = [m * u1.dot - m * u2**2 / r + k * r, m * u2.dot + m * u1 * u2 / r]


def frame_equations(L, velocities, q):
    """X_n^k E_k(L) for a Lagrangian in coordinates, by SymPy alone, as functions of coordinates and their derivatives."""

    def rate(e):
        return e.diff(t) + sum(e.diff(s) * s.dot + e.diff(s.dot) * s.ddot for s in q)

    E = Matrix([rate(L.diff(s.dot)) - L.diff(s) for s in q])
    A = Matrix([[e.diff(s.dot) for s in q] for e in velocities.values()])
    return list(A.inv().T * E), {**velocities, **{u.dot: rate(e) for u, e in velocities.items()}}


def test_equations_in_a_frame_are_those_of_their_lagrangian():
    check = da.inverse.helmholtz(ORBIT, [r, phi], velocities=POLAR)
    assert check.holds
    found = da.inverse.lagrangian(ORBIT, [r, phi], velocities=POLAR)
    assert found.verified
    assert sympy.expand(found.frame_lagrangian - (m * (u1**2 + u2**2) / 2 - k * r**2 / 2)) == 0
    made, into = frame_equations(found.lagrangian, POLAR, (r, phi))
    assert all(sympy.simplify(e - D.xreplace(into)) == 0 for e, D in zip(made, ORBIT, strict=True))


def test_the_same_letters_read_as_coordinates_are_other_equations():
    """Control: without the term of the frame, r p' u, the conditions fail; so does another sign of it."""
    for sign in (0, -1):
        wrong = [ORBIT[0], m * u2.dot + sign * m * u1 * u2 / r]
        assert not da.inverse.helmholtz(wrong, [r, phi], velocities=POLAR).holds


def test_with_damping_a_multiplier_is_found():
    damped = [e + 2 * b * m * u for e, u in zip(ORBIT, (u1, u2), strict=True)]
    assert not da.inverse.helmholtz(damped, [r, phi], velocities=POLAR).holds
    found = da.inverse.lagrangian(damped, [r, phi], velocities=POLAR)
    expected = exp(2 * b * t) * (m * (u1**2 + u2**2) - k * r**2)
    ratio = sympy.simplify(found.frame_lagrangian / expected)
    assert ratio.free_symbols <= {m, k, b}


def test_euler_s_equations_of_a_symmetric_body():
    """Body angular velocities as quasi-velocities of Euler's angles: the equations of a free body are self-conjugate."""
    I1, I3 = da.parameters("I1 I3", positive=True)
    velocities = {
        u1: phi.dot * sin(theta) * sin(psi) + theta.dot * da.cos(psi),
        u2: phi.dot * sin(theta) * da.cos(psi) - theta.dot * sin(psi),
        u3: phi.dot * da.cos(theta) + psi.dot,
    }
    euler = [I1 * u1.dot - (I1 - I3) * u2 * u3, I1 * u2.dot + (I1 - I3) * u1 * u3, I3 * u3.dot]
    assert da.inverse.helmholtz(euler, [phi, theta, psi], velocities=velocities).holds
    wrong = [euler[0], euler[1], I3 * u3.dot + u1 * u2]
    assert not da.inverse.helmholtz(wrong, [phi, theta, psi], velocities=velocities).holds


# Darboux coordinates
def bracket(f, g, L, q):
    """The Poisson bracket that belongs to L = a_k v_k - U, by SymPy alone."""
    form = [L.diff(s.dot) for s in q]
    H = Matrix(len(q), len(q), lambda i, j: form[j].diff(q[i]) - form[i].diff(q[j]))
    return (Matrix([[f.diff(s) for s in q]]) * H.inv() * Matrix([g.diff(s) for s in q]))[0]


def rates(L, q):
    """The velocities that L gives."""
    E = [sum(L.diff(s.dot, p) * p.dot for p in q) + L.diff(s.dot, t) - L.diff(s) for s in q]
    return sympy.solve(E, [s.dot for s in q], dict=True)[0]


HARES = a * log(y) - b * y + c * log(x) - d * x + y.dot * log(x) / y
FIELD = (z - b * y * (1 + x**2)) * x.dot + w * y.dot - (z**2 + w**2) / 2 - k * x**2
LINEAR = (2 * x - y + 3 * z) * w.dot + (x + w) * y.dot + z * x.dot - (x**2 + y**2 + z**2 + w**2) / 2
GROWING = exp(t) * x * y.dot - x**2 - y**2 - t * x
CASES = [
    pytest.param(HARES, (x, y), id="Lotka and Volterra"),
    pytest.param(FIELD, (x, y, z, w), id="a charge in a field that is not uniform"),
    pytest.param(LINEAR, (x, y, z, w), id="constant brackets"),
    pytest.param(GROWING, (x, y), id="brackets that depend on time"),
]


@pytest.mark.parametrize("L, q", CASES)
def test_darboux_coordinates_are_canonical_and_the_motion_is_hamilton_s(L, q):
    new = [Q] if len(q) == 2 else [Q1, Q2]
    found = da.inverse.darboux(L, q, positions=new)
    places = [found.canonical[s] for s in new]
    momenta = [found.canonical[s.momentum] for s in new]
    moving = rates(L, q)
    for i, f in enumerate(places):
        for j, p in enumerate(momenta):
            assert sympy.simplify(bracket(f, p, L, q) - int(i == j)) == 0
            assert sympy.simplify(bracket(f, places[j], L, q)) == 0 == sympy.simplify(bracket(p, momenta[i], L, q))
    assert found.old is not None
    H = found.new_hamiltonian
    back = {s: found.canonical[s] for s in (*new, *(s.momentum for s in new))}
    for s in new:  # Hamilton's equations in the new coordinates, also where these depend on time
        for f, slope in ((found.canonical[s], H.diff(s.momentum)), (found.canonical[s.momentum], -H.diff(s))):
            along = f.diff(t) + sum(f.diff(p) * moving[p.dot] for p in q)
            assert sympy.simplify(along - slope.xreplace(back)) == 0


def test_a_wrong_hamiltonian_is_seen():
    """Control: without the part of the moving coordinates, K = U, Hamilton's equations fail."""
    found = da.inverse.darboux(GROWING, (x, y), positions=[Q])
    U = x**2 + y**2 + t * x
    assert sympy.simplify(found.hamiltonian - U) != 0


def test_what_was_found_can_be_handed_on():
    pair = da.inverse.lagrangian([x.dot - y, y.dot + k * x], [x, y], kind="birkhoff")
    found = da.inverse.darboux(pair, positions=[Q])
    system = da.hamilton(found.new_hamiltonian, coordinates=[Q]).system
    run = da.simulate(system, da.Midpoint(), h=0.01, until=1, start={Q: 1, Q.dot: 0}, parameters={k: 4})
    assert abs(run.Q[-1] - sympy.cos(2).evalf()) < 1e-4


def test_linear_equations_whose_characteristic_polynomial_has_zeros():
    """Antisymmetric matrices of polynomials: every other coefficient is zero."""
    A = Matrix([[0, a, 1, x], [-a, 0, y, b], [-1, -y, 0, a * x], [-x, -b, -a * x, 0]])
    right = Matrix([x, 1, y, a])
    found = linear_solution(A, right)
    assert all(sympy.simplify(e) == 0 for e in A * Matrix(found) - right)
    singular = Matrix(A)
    singular[3, :] = A[0, :]
    assert linear_solution(singular, right) is None


BENT = y * z * w * x.dot + z * w**2 * y.dot + w * x**2 * z.dot + x * y * w.dot - x**2


# dynamic equivalence (2.13)
def test_equations_that_are_others_times_a_matrix_are_recognised():
    """Ramirez' N-dimensional Appell system, (5.6') against (5.8), and the rolling particle reduced."""
    q0, g0 = da.parameters("q0 g0", positive=True)
    plane, speed = (x, y), sympy.sqrt(x.dot**2 + y.dot**2)
    drive = sum(e.dot * e.ddot for e in plane)
    D = [e.ddot + q0**2 * drive * e.dot / speed**2 + g0 * q0 * e.dot / speed for e in plane]
    solved = [e.ddot + g0 * q0 * e.dot / ((1 + q0**2) * speed) for e in plane]
    found = da.inverse.equivalence(solved, D, [x, y])
    assert found.holds
    assert sympy.simplify(found.multiplier.det() - 1 - q0**2) == 0
    assert sympy.simplify(Matrix(D) - found.multiplier * Matrix(solved)) == sympy.zeros(2, 1)
    printed = [e.ddot + q0**2 * drive * e.dot / speed**2 + g0 * e.dot / speed for e in plane]  # (5.6) without its q
    wrong = da.inverse.equivalence(solved, printed, [x, y])
    assert not wrong.holds
    assert wrong.left != 0
    assert not da.inverse.equivalence([x.ddot + x, y.ddot], [x.ddot + x, x.ddot + x], [x, y]).holds  # singular
    assert da.inverse.equivalence(
        [x.dot - y, y.dot + x], [y.dot + x, 2 * x.dot - 2 * y], [x, y]
    ).holds  # of first order


MESSAGES = [
    (lambda: da.inverse.equivalence([x.ddot], [y.ddot], [x]), "unknown symbol y"),
    (lambda: da.inverse.equivalence([x.ddot**2 + x], [x.ddot], [x]), "do not occur linearly"),
    (lambda: da.inverse.equivalence([x.ddot + y.ddot, x.ddot + y.ddot], [x.ddot, y.ddot], [x, y]), "cannot be solved"),
    (lambda: da.inverse.darboux(HARES, positions=[Q]), "with coordinates=[x, y]"),
    (lambda: da.inverse.darboux(HARES, (x, y), positions=[Q1, Q2]), "got 2 new positions for 2 coordinates. Expected 1"),
    (lambda: da.inverse.darboux(HARES, (x, y), positions=[x]), "x is one of the given coordinates"),
    (lambda: da.inverse.darboux(x.dot**2, (x, y), positions=[Q]), "is not linear in the velocities"),
    (lambda: da.inverse.darboux(x * x.dot - y**2, (x, y), positions=[Q]), "does not determine all velocities"),
    (lambda: da.inverse.darboux(x.dot * y, (x, y, z), positions=[Q]), "3 coordinates. Expected an even number"),
    (lambda: da.inverse.darboux(x.dot * z, (x, y), positions=[Q]), "unknown symbol z|is not among|Add z"),
    (lambda: da.inverse.darboux(BENT, (x, y, z, w), positions=[Q1, Q2]), "but none were found in closed form"),
    (lambda: da.inverse.lagrangian([x.ddot + x], [x], seconds=-1), "seconds=-1.0. Expected how many seconds"),
    (lambda: da.inverse.lagrangian([x.ddot + x], [x], seconds=float("nan")), "seconds = nan"),
    (lambda: da.inverse.lagrangian([x.ddot + 2 * x], [x], progress=3), "progress=3. Expected True, False or a function"),
    (lambda: da.inverse.helmholtz(ORBIT, [r, phi]), "unknown symbol"),
    (lambda: da.inverse.helmholtz(ORBIT, [r, phi], velocities=[u1, u2]), "Expected velocities={u: r.dot"),
    (lambda: da.inverse.helmholtz(ORBIT, [r, phi], velocities={"u1": r.dot, "u2": phi.dot}), "is no symbol for a quasi"),
    (lambda: da.inverse.helmholtz(ORBIT, [r, phi], velocities={u1: r.dot}), "got 1 quasi-velocities for the 2"),
    (lambda: da.inverse.helmholtz(ORBIT, [r, phi], velocities={r: r.dot, u2: phi.dot}), "r is a coordinate and cannot"),
    (lambda: da.inverse.helmholtz(ORBIT, [r, phi], velocities={u1: r.dot, u2: 2 * r.dot}), "u1, u2 are dependent"),
    (lambda: da.inverse.helmholtz(ORBIT, [r, phi], velocities={u1: r.dot**2, u2: phi.dot}), "is not linear in the vel"),
    (lambda: da.inverse.lagrangian([u1.dot + r.dot, u2.dot], [r, phi], velocities=POLAR), "unknown symbol r.dot"),
]  # fmt: skip


@pytest.mark.parametrize("call, message", MESSAGES, ids=range(len(MESSAGES)))
def test_messages(call, message):
    with pytest.raises(ModelError) as error:
        call()
    assert any(part in str(error.value) for part in message.split("|")), str(error.value)


def test_a_system_has_its_own_velocities():
    with pytest.raises(ModelError, match="Leave velocities= out"):
        da.inverse.helmholtz(da.gallery.load("damped-spring").system, velocities={u1: x.dot})
