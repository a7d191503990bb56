"""C. I. Tori, Reduccion lagrangiana de sistemas mecanicos discretos con vinculos no holonomos, chapters 2 and 3: symmetries
and continuous reduction. Statements T28, Definitions 3.2.1 and 3.2.2, Theorem 3.2.2, examples E2, E3, E5 and E7 in continuous
time; errata 1, 4, 5, 15, 16 and 27. The source has abelian groups only: SE(2) and SO(3) are added.
"""

from __future__ import annotations

import random

import numpy as np
import pytest
import sympy

import dalembert as da
from dalembert import cos, exp, sin
from dalembert.symbolic import fast, number
from dalembert.theory.motion.frames import hamel_residual
from dalembert.theory.reduction.chaplygin import _density
from dalembert.theory.reduction.reduced import off_shell

x, y, z, phi, psi, theta = da.coordinates("x y z phi psi theta")
x2, y2, z2 = da.coordinates("x2 y2 z2")
u, w, a, b, c, s = da.parameters("u w a b c s")
m, I, J, R, l, k, J0, J1 = da.parameters("m I J R l k J0 J1", positive=True)

PLANE = {x: x * cos(a) - y * sin(a) + u, y: x * sin(a) + y * cos(a) + w}
SE2 = da.Symmetry({**PLANE, phi: phi + a}, elements=[u, w, a])


def cayley(p):
    """The rotation matrix of Cayley's parameters."""
    hat = sympy.Matrix([[0, -p[2], p[1]], [p[2], 0, -p[0]], [-p[1], p[0], 0]])
    return sympy.eye(3) + (2 * hat + 2 * hat * hat) / (1 + p[0] ** 2 + p[1] ** 2 + p[2] ** 2)


def turned(matrix, *triples):
    return {q: e for r in triples for q, e in zip(r, matrix * sympy.Matrix(r), strict=True)}


def about(axis, angle):
    i, j = [(1, 2), (2, 0), (0, 1)][axis]
    found = sympy.eye(3)
    found[i, i] = found[j, j] = cos(angle)
    found[i, j], found[j, i] = -sin(angle), sin(angle)
    return found


EULER = about(2, a) * about(1, b) * about(0, c)
GROUPS = {
    "SE(2)": SE2,
    "SE(2) on the plane": da.Symmetry(PLANE, elements=[u, w, a]),
    "SE(2) x S1": da.Symmetry({**PLANE, phi: phi + a, theta: theta + b}, elements=[u, w, a, b]),
    "rotation": da.Symmetry({q: e.xreplace({u: 0, w: 0}) for q, e in PLANE.items()}, elements=[a]),
    "scaling": da.Symmetry({x: s * x, y: y * s**2}, elements=[s]),
    "exponential": da.Symmetry({x: exp(s) * x + u}, elements=[s, u]),
    "Heisenberg": da.Symmetry({x: x + u, y: y + w, z: z + c + u * y}, elements=[u, w, c]),
    "SO(3), Cayley": da.Symmetry(turned(cayley((a, b, c)), (x, y, z), (x2, y2, z2)), elements=[a, b, c]),
    "SO(3), angles": da.Symmetry(turned(EULER, (x, y, z)), elements=[a, b, c]),
}


def near(symmetry, rng, size=0.2):
    return [float(e) + rng.uniform(-size, size) for e in symmetry.identity]


def values(expressions, at):
    plain = {s.name: float(v) for s, v in at.items()}
    return np.array([number(fast(e), plain) for e in expressions])


@pytest.mark.parametrize("name", GROUPS)
def test_the_group_law_is_that_of_the_action(name):
    """Phi(ab, q) = Phi(a, Phi(b, q)), Phi(a^-1, Phi(a, q)) = q; translations of vectors are derivatives of the product."""
    group, rng = GROUPS[name], random.Random(1)
    q = group.coordinates
    at = {c: rng.uniform(0.3, 1.7) for c in q}
    g, h = near(group, rng), near(group, rng)
    twice = group.act(g, group.act(h, at))
    once = group.act(group.product(g, h), at)
    back = group.act(group.inverse(g), group.act(g, at))
    for c in group.action:
        assert abs(float(twice[c] - once[c])) < 1e-13
        assert abs(float(back[c] - at[c])) < 1e-13
    other = group.act(group.product(h, g), at)  # the other order differs, unless the group is abelian
    assert all(abs(float(other[c] - once[c])) < 1e-13 for c in group.action) == group.is_abelian
    d = 1e-6
    for j, e in enumerate(np.eye(group.dimension)):
        step = [group.identity[i] + d * e[i] for i in range(group.dimension)]
        less = [group.identity[i] - d * e[i] for i in range(group.dimension)]
        slope = [(p - n) / (2 * d) for p, n in zip(group.product(g, step), group.product(g, less), strict=True)]
        assert np.allclose(np.array(group.left(g)[:, j], dtype=float)[:, 0], np.array(slope, dtype=float), atol=1e-8)
        slope = [(p - n) / (2 * d) for p, n in zip(group.product(step, g), group.product(less, g), strict=True)]
        assert np.allclose(np.array(group.right(g)[:, j], dtype=float)[:, 0], np.array(slope, dtype=float), atol=1e-8)


@pytest.mark.parametrize("name", GROUPS)
def test_brackets_and_the_adjoint_action(name):
    """Lemma 7.4.2 (T28): xi_Q(gq) = D Phi_g (Ad_g^-1 xi)_Q(q). Generators of a left action: [xi_Q, eta_Q] = -[xi, eta]_Q."""
    group, rng = GROUPS[name], random.Random(2)
    moved, X, c = list(group.action), group.generators, group.structure
    at = {q: rng.uniform(0.3, 1.7) for q in group.coordinates}
    n, differ = range(group.dimension), 0.0
    for i in n:
        for j in n:
            for q in moved:
                bracket = sum(X[i][p] * X[j][q].diff(p) - X[j][p] * X[i][q].diff(p) for p in moved)
                own = sum(c[i][j][k] * X[k][q] for k in n)
                assert abs(values([bracket + own], at)[0]) < 1e-13
                differ = max(differ, abs(values([bracket - own], at)[0]))
    assert (differ > 1e-3) != group.is_abelian  # the other sign fails
    g = near(group, rng)
    there = {q: float(e) for q, e in group.act(g, at).items()}
    back = group.Ad(group.inverse(g))
    placed = dict(zip(group.elements, g, strict=True))
    tangent = [[group.action[q].diff(p).xreplace(placed) for p in moved] for q in moved]
    D = np.array([values(row, at) for row in tangent])
    for j in n:
        own = sum(float(back[k, j]) * values([X[k][q] for q in moved], at) for k in n)
        assert np.allclose(D @ own, values([X[j][q] for q in moved], there), atol=1e-12)


def sleigh():
    """Chaplygin's sleigh: the blade is at (x, y), the centre of mass at the distance l before it."""
    heading = {x.dot: x.dot - l * sin(phi) * phi.dot, y.dot: y.dot + l * cos(phi) * phi.dot}
    T = (m * (x.dot**2 + y.dot**2) / 2).xreplace(heading) + J * phi.dot**2 / 2
    return da.System("sleigh", [x, y, phi], kinetic=T, constraints=[-sin(phi) * x.dot + cos(phi) * y.dot])


def disk():
    T = m * (x.dot**2 + y.dot**2) / 2 + I * theta.dot**2 / 2 + J * phi.dot**2 / 2
    rolls = [x.dot - R * cos(phi) * theta.dot, y.dot - R * sin(phi) * theta.dot]
    return da.System("rolling disk", [x, y, theta, phi], kinetic=T, constraints=rolls)


def robot():
    """Two wheels on one axis, of angles theta and psi; both roll, and the axis does not slip sideways."""
    T = m * (x.dot**2 + y.dot**2) / 2 + J * phi.dot**2 / 2 + I * (theta.dot**2 + psi.dot**2) / 2
    T += m * l * phi.dot * (y.dot * cos(phi) - x.dot * sin(phi))
    along = x.dot * cos(phi) + y.dot * sin(phi)
    rows = [
        -x.dot * sin(phi) + y.dot * cos(phi),
        along + k * phi.dot - R * theta.dot,
        along - k * phi.dot - R * psi.dot,
    ]
    return da.System("two-wheeled robot", [x, y, phi, theta, psi], kinetic=T, constraints=rows)


def snakeboard():
    """theta turns the board, psi the rotor, phi both wheel axles in opposite senses (phi and -phi)."""
    T = m * (x.dot**2 + y.dot**2) / 2 + m * l**2 * theta.dot**2 / 2 + J0 * psi.dot**2 / 2
    T += J0 * psi.dot * theta.dot + J1 * phi.dot**2
    rows = [
        -sin(theta + phi) * x.dot + cos(theta + phi) * y.dot - l * cos(phi) * theta.dot,
        -sin(theta - phi) * x.dot + cos(theta - phi) * y.dot + l * cos(phi) * theta.dot,
    ]
    return da.System("snakeboard", [x, y, theta, psi, phi], kinetic=T, constraints=rows)


BOARD = da.Symmetry({**PLANE, theta: theta + a}, elements=[u, w, a])


def pair():
    """Two particles about a centre, with a magnetic term, to which SO(3) is a free symmetry."""
    r1, r2 = sympy.Matrix([x, y, z]), sympy.Matrix([x2, y2, z2])
    v1, v2 = (sympy.Matrix([q.dot for q in r]) for r in (r1, r2))
    T = m * v1.dot(v1) / 2 + J * v2.dot(v2) / 2 + k * r1.cross(r2).dot(v1)
    return da.System("pair", [*r1, *r2], lagrangian=T - k * r1.dot(r2) ** 2)


def forced():
    """A body in the plane with drag and a thrust along its heading."""
    T = m * (x.dot**2 + y.dot**2) / 2 + J * phi.dot**2 / 2
    thrust = {x: k * cos(phi), y: k * sin(phi)}
    return da.System("boat", [x, y, phi], kinetic=T, forces=thrust, dissipation=l * (x.dot**2 + y.dot**2) / 2)


CASES = {
    "sleigh": lambda: (sleigh(), SE2),
    "boat": lambda: (forced(), SE2),
    "disk": lambda: (disk(), GROUPS["SE(2) x S1"]),
    "robot": lambda: (robot(), SE2),
    "snakeboard": lambda: (snakeboard(), BOARD),
    "pair": lambda: (pair(), GROUPS["SO(3), Cayley"]),
}
KINDS = {
    "sleigh": "Euler-Poincare-Suslov",
    "boat": "Euler-Poincare",
    "disk": "Euler-Poincare-Suslov",
    "robot": "Chaplygin",
    "snakeboard": "Lagrange-d'Alembert-Poincare",
    "pair": "Lagrange-Poincare",
}


def state(reduced, rng):
    f = reduced.frame
    at = {
        q: rng.uniform(0.3, 1.2) for q in (*reduced.shape, *f.velocities, *f.accelerations, *reduced.system.parameters)
    }
    return at | dict(zip(reduced.symmetry.elements, near(reduced.symmetry, rng), strict=True))


@pytest.mark.parametrize("name", CASES)
def test_reduced_equations_are_lagranges_off_shell(name):
    """Thm. 3.2.2: the left sides equal Lagrange's expressions on (Ad_g zeta)_Q and D Phi_g ds/dr, for any motion."""
    reduced = da.reduce(*CASES[name]())
    assert reduced.kind == KINDS[name]
    at = state(reduced, random.Random(3))
    own, expected = values(reduced.left_sides, at), values(off_shell(reduced), at)
    assert np.abs(own - expected).max() < 1e-12 * np.abs(expected).max()
    flat = reduced.frame.__class__(reduced.frame.velocities, reduced.frame.accelerations, reduced.frame.fields)
    control = values(hamel_residual(reduced.lagrangian, flat, list(reduced.forces)), at)
    assert np.abs(control - expected).max() > 1e-3 * np.abs(expected).max()  # without the brackets


@pytest.mark.parametrize("name", ["robot", "snakeboard", "pair"])
def test_covariant_form_with_curvature(name):
    """C6 with errata 4: -D/Dt dl/dr' + dl/dr + <mu, [a, Omega]> - <mu, B(r', .)>, on the horizontal lift.

    Erratum 2 is the direction of the transport in -D mu/Dt + ad*_Omega mu; printed are the other one and B(r, .).
    """
    reduced = da.reduce(*CASES[name]())
    group, r = reduced.symmetry, reduced.shape
    M = reduced.lift
    xi = list(reduced.velocities.values())
    v, acc = [q.dot for q in r], [q.ddot for q in r]
    at = state(reduced, random.Random(4))
    Omega = sympy.symbols(f"Omega:{len(xi)}")
    shifted = dict(zip(xi, sympy.Matrix(Omega) + M * sympy.Matrix(v), strict=True))
    hat = reduced.lagrangian.xreplace(shifted)
    own = dict(zip(Omega, sympy.Matrix(xi) - M * sympy.Matrix(v), strict=True))
    mu = [hat.diff(o).xreplace(own) for o in Omega]

    def rate(e):
        moving = [*zip(r, v, strict=True), *zip(v, acc, strict=True), *((q, q.dot) for q in xi)]
        return sum(e.diff(s) * d for s, d in moving)

    def B(i, j):
        return reduced.spaces.curvature[i, j] if i < j else -reduced.spaces.curvature[j, i]

    left = values(reduced.left_sides, at)
    lifted = np.array([values(M[i, :], at) for i in range(M.rows)])
    controls = []
    for j in range(len(r)):
        turned = group.bracket(list(-M[:, j]), [own[o] for o in Omega])
        bracket = sum(p * e for p, e in zip(mu, turned, strict=True))
        curved = sum((sympy.Matrix(mu).T * B(i, j))[0] * v[i] for i in range(len(r)) if i != j)
        plain = -rate(hat.diff(v[j]).xreplace(own)) + hat.diff(r[j]).xreplace(own)
        expected = -(left[j] + lifted[:, j] @ left[len(r) :])
        printed = sum((sympy.Matrix(mu).T * B(i, j))[0] * r[i] for i in range(len(r)) if i != j)
        found, *others = values([plain + bracket - e for e in (curved, 0, printed)], at)
        assert abs(found - expected) < 1e-11 * max(1, abs(expected))
        controls.append([abs(other - expected) for other in others])
    assert np.max(controls, axis=0).min() > 1e-3
    drag, reversed_transport = list(-M * sympy.Matrix(v)), []
    for j in range(len(xi)):
        unit = [int(i == j) for i in range(len(xi))]
        moved, turned = (
            sum(p * e for p, e in zip(mu, group.bracket(list(w), unit), strict=True))
            for w in (drag, [own[o] for o in Omega])
        )
        found, other = values([-rate(mu[j]) - s * moved + turned for s in (1, -1)], at)
        assert abs(found + left[len(r) + j]) < 1e-11 * max(1, abs(found))
        reversed_transport.append(abs(other + left[len(r) + j]))
    assert max(reversed_transport) > 1e-3


def test_erratum_1_the_vertical_part_is_a_velocity():
    """hor(v) = v - (A(v))_Q(q) has no momentum along the group; v - A(v), taken by components, has one."""
    plane = da.System("plane", [x, y], kinetic=m * (x.dot**2 + y.dot**2) / 2)
    momentum = da.reduce(plane, GROUPS["rotation"]).momentum[a]
    field = GROUPS["rotation"].generators[0]
    A = momentum / momentum.xreplace({q.dot: field[q] for q in (x, y)})
    horizontal = momentum.xreplace({q.dot: q.dot - A * field[q] for q in (x, y)})
    printed = momentum.xreplace({q.dot: q.dot - A for q in (x, y)})
    assert sympy.simplify(horizontal) == 0 and sympy.simplify(printed) != 0


def test_erratum_5_variations_are_those_of_eta_in_s():
    """Of the sleigh [v, eta] is not in S for v and eta there; with delta v in S an equation would be missing."""
    reduced = da.reduce(sleigh(), SE2)
    S = reduced.spaces.S
    varied = SE2.bracket(list(S[:, 0]), list(S[:, 1]))
    assert (S.cols, S.rank(), S.row_join(sympy.Matrix(varied)).rank()) == (2, 2, 3)
    assert len(reduced.equations().equations) == 2


def test_chaplygin_form_of_E2():
    """E2: reduced Lagrangian and force, the continuous limit of the discrete ones; and an invariant measure."""
    system = da.System(
        "E2",
        [x, y, z],
        kinetic=(x.dot**2 + y.dot**2 + z.dot**2) / 2,
        potential=(x**2 + y**2) / 2,
        constraints=[z.dot - y * x.dot],
    )
    reduced = da.reduce(system, da.Symmetry({z: z + c}, elements=[c]))
    shape = reduced.chaplygin
    assert reduced.kind == "Chaplygin" and reduced.lift == sympy.Matrix([[y, 0]])
    expected = (x.dot**2 + y.dot**2 + y**2 * x.dot**2) / 2 - (x**2 + y**2) / 2
    assert sympy.simplify(shape.lagrangian - expected) == 0
    assert [sympy.simplify(f) for f in shape.gyroscopic] == [y * x.dot * y.dot, -y * x.dot**2]
    assert sympy.simplify(shape.density - 1 / sympy.sqrt(1 + y**2)) == 0
    # the density times the divergence: d(f x')/dx + d(f p')/dp along the motion of (x, y, p) vanishes
    G = dict(zip((x, y), shape.gyroscopic, strict=True))
    divergence = sum(G[q].diff(q.dot) / shape.lagrangian.diff(q.dot, 2) for q in (x, y))
    assert sympy.simplify(sum(shape.density.diff(q) * q.dot for q in (x, y)) + shape.density * divergence) == 0
    equations = [
        sum(shape.lagrangian.diff(q.dot, p) * p.dot + shape.lagrangian.diff(q.dot, p.dot) * p.ddot for p in (x, y))
        - shape.lagrangian.diff(q) - G[q]
        for q in (x, y)
    ]  # fmt: skip
    held = {reduced.velocities[c]: y * x.dot, reduced.velocities[c].dot: y.dot * x.dot + y * x.ddot}
    own = [e.lhs.xreplace(held) for e in reduced.equations().equations]
    at = {q: 0.3 + 0.17 * i for i, q in enumerate((x, y, x.dot, y.dot, x.ddot, y.ddot))}
    assert np.allclose(values(own, at), values(equations, at), rtol=1e-13)


def test_chaplygin_form_of_the_robot():
    """With a centre of mass before the axis the force does not vanish; it does no work."""
    reduced = da.reduce(robot(), SE2)
    shape = reduced.chaplygin
    work = sum(f * q.dot for f, q in zip(shape.gyroscopic, shape.shape, strict=True))
    at = state(reduced, random.Random(5))
    assert abs(values([work], at)[0]) < 1e-13 < abs(values([shape.gyroscopic[0]], at)[0])
    assert reduced.spaces.ranks == {"V": 3, "D": 2, "S": 0, "H": 2, "U": 3, "W": 0}


def test_E3_and_E7_are_integrable():
    """Errata 15, 16 and 27: the horizontal space is spanned by d_x + x d_y, its curvature is zero."""
    flat = da.System("E3", [x, y], kinetic=m * (x.dot**2 + y.dot**2) / 2, constraints=[y.dot - x * x.dot])
    reduced = da.reduce(flat, da.Symmetry({y: y + c}, elements=[c]))
    assert reduced.kind == "Chaplygin" and reduced.lift == sympy.Matrix([[x]])
    assert reduced.chaplygin.gyroscopic == (0,)
    assert sympy.simplify(reduced.chaplygin.lagrangian - m * (1 + x**2) * x.dot**2 / 2) == 0
    T = m * (x.dot**2 + y.dot**2 + z.dot**2) / 2
    space = da.System("E7", [x, y, z], kinetic=T, constraints=[y.dot - x * x.dot])
    reduced = da.reduce(space, da.Symmetry({z: z + c}, elements=[c]))
    assert reduced.kind == "horizontal" and not reduced.spaces.dimension_assumption
    assert reduced.spaces.ranks == {"V": 1, "D": 2, "S": 1, "H": 1, "U": 0, "W": 1}
    assert reduced.nonholonomic_momentum == (m * reduced.velocities[c],)
    both = da.reduce(space, da.Symmetry({y: y + b, z: z + c}, elements=[b, c]))  # M of 7.4.4
    assert both.kind == "Lagrange-d'Alembert-Poincare" and both.spaces.ranks["S"] == 1


def test_E5_by_translations():
    """Section 7.1.4: S, H and the nonholonomic momentum of the rolling disk; the connection is trivial."""
    reduced = da.reduce(disk(), da.Symmetry({x: x + u, y: y + w, theta: theta + b}, elements=[u, w, b]))
    assert sympy.Matrix([0, R * cos(phi), R * sin(phi), 1]) == reduced.spaces.S
    assert sympy.Matrix([1, 0, 0, 0]) == reduced.spaces.H and reduced.lift == sympy.zeros(3, 1)
    assert reduced.spaces.singular == ()
    U, S, G = reduced.spaces.U, reduced.spaces.S, reduced.metric
    assert (U.T * G * S).applyfunc(sympy.simplify) == sympy.zeros(2, 1)  # erratum 1: complements in V itself
    xi = reduced.velocities
    J_nh = m * R * (cos(phi) * xi[u] + sin(phi) * xi[w]) + I * xi[b]
    assert sympy.simplify(reduced.nonholonomic_momentum[0] - J_nh) == 0


def test_reconstruction_of_a_run():
    """Reduced and reconstructed is unreduced: the sleigh on SE(2), from body velocities of its own run."""
    system = sleigh()
    reduced = da.reduce(system, SE2)
    start = {x: 1, y: 2, phi: 0.3, x.dot: 0.8, phi.dot: 0.5}
    run = da.simulate(system, da.RungeKutta4(), h=0.01, until=5, start=start, parameters={m: 1, J: 0.5, l: 0.4})
    forward = run[x.dot] * np.cos(run.phi) + run[y.dot] * np.sin(run.phi)
    xi = reduced.velocities
    motion = {da.time: run.time, xi[u]: forward, xi[w]: 0 * forward, xi[a]: run[phi.dot]}
    found = reduced.reconstruct(motion, at={x: 1, y: 2, phi: 0.3})
    for q in (x, y, phi):
        assert np.abs(found[q] - run[q]).max() < 1e-8
    left = [e.lhs for e in reduced.equations().equations]
    rates = {xi[u].dot: np.gradient(forward, run.time), xi[a].dot: np.gradient(run[phi.dot], run.time)}
    k = 250
    at = {
        m: 1,
        J: 0.5,
        l: 0.4,
        xi[u]: forward[k],
        xi[w]: 0.0,
        xi[w].dot: 0.0,
        xi[a]: run[phi.dot][k],
        **{s: v[k] for s, v in rates.items()},
    }
    assert np.abs(values(left, at)).max() < 1e-4  # differences of second order


def test_geometric_phase():
    """A closed loop of the shape in E2 moves z by the integral of y dx; there is no dynamic phase."""
    T = (x.dot**2 + y.dot**2 + z.dot**2) / 2
    system = da.System("E2", [x, y, z], kinetic=T, constraints=[z.dot - y * x.dot])
    reduced = da.reduce(system, da.Symmetry({z: z + c}, elements=[c]))
    t = np.linspace(0, 2 * np.pi, 201)
    motion = {da.time: t, x: np.cos(t), y: np.sin(t), reduced.velocities[c]: -(np.sin(t) ** 2)}
    found = reduced.reconstruct(motion, at={x: 1, y: 0, z: 4})
    assert abs(found[z][-1] - (4 - np.pi)) < 1e-6
    assert abs(found.geometric[-1, 0] - (4 - np.pi)) < 1e-6 and abs(found.dynamic[-1, 0]) < 1e-6
    motion[reduced.velocities[c]] = motion[reduced.velocities[c]] + 0.5
    assert abs(reduced.reconstruct(motion, at={x: 1, y: 0, z: 4}).dynamic[-1, 0] - np.pi) < 1e-6


def test_the_dynamic_phase_is_group_times_inverse_of_geometric():
    """Without a shape the horizontal motion stays at its start g0: elements are the dynamic phase times g0, in this order."""
    reduced = da.reduce(forced().replace(forces={}, dissipation=0), SE2)
    t, xi = np.linspace(0, 1, 51), reduced.velocities
    motion = {da.time: t, xi[u]: 1 + 0 * t, xi[w]: 0 * t, xi[a]: 0.5 + 0 * t}
    found = reduced.reconstruct(motion, at={x: 1, y: 2, phi: 0.3})
    assert np.abs(found.geometric - found.group[0]).max() < 1e-12
    places = [(found.group[-1], {x: 0.0, y: 0.0, phi: 0.0}), (found.dynamic[-1], {x: 1.0, y: 2.0, phi: 0.3})]
    moved = [SE2.act(list(map(float, g)), place) for g, place in places]
    assert all(abs(float(moved[0][q]) - float(moved[1][q])) < 1e-9 for q in (x, y, phi))


def test_the_density_of_an_invariant_measure_needs_a_closed_form():
    """sigma = x y^2 + x in two shape variables; then a form that is not closed, of which there is no density."""

    def density(along_x, along_y):
        return _density(
            (x, y), (x.dot**2 + y.dot**2) / 2, (-along_x * x.dot**2 / 2 - along_y * x.dot * y.dot, 0 * x), ()
        )

    assert sympy.simplify(density(y**2 + 1, 2 * x * y) - exp(x * y**2 + x)) == 0
    assert density(y, -x) is None


def test_lie_poisson_equations():
    """A body on SE(2) without forces: the momenta are rotated."""
    free = forced().replace(forces={}, dissipation=0)
    reduced = da.reduce(free, SE2)
    mu = {e.lhs.name: e for e in reduced.lie_poisson}
    pu, pw, pa = (mu[f"mu_{g}.dot"].lhs for g in "uwa")
    values_of = {str(s): s for e in reduced.lie_poisson for s in e.rhs.free_symbols}
    assert sympy.simplify(mu[pu.name].rhs - values_of["mu_a"] * values_of["mu_w"] / J) == 0
    assert sympy.simplify(mu[pw.name].rhs + values_of["mu_a"] * values_of["mu_u"] / J) == 0
    assert mu[pa.name].rhs == 0


def test_symmetries_are_found():
    found = da.symmetries(disk())
    names = [f.name for f in found]
    assert "rotation of (x, y) and translation of phi" in names and found[len(found) - 1].symmetry.dimension == 4
    assert all(f.exact != (f.charge is not None) for f in found)
    assert any(f.name == "rotation of (x, y) and translation of phi" for f in da.symmetries(sleigh()))
    kepler = da.System(
        "Kepler", [x, y, z], kinetic=(x.dot**2 + y.dot**2 + z.dot**2) / 2, potential=-k / sympy.sqrt(x**2 + y**2 + z**2)
    )
    assert [f.name for f in da.symmetries(kepler)][-1] == "all together" and da.symmetries(kepler)[
        -1
    ].symmetry.dimension == 3
    spring = da.System("spring", [x, y], kinetic=m * (x.dot**2 + 2 * y.dot**2) / 2, potential=k * (x - y) ** 2)
    assert [f.name for f in da.symmetries(spring)] == ["translation of y, x", "boost along y, x"]
    tied = da.System(
        "tied", [x, y], kinetic=m * (x.dot**2 + 2 * y.dot**2) / 2, potential=k * (x - 2 * y) ** 2 + k * x**4
    )
    assert len(da.symmetries(tied)) == 0
    logarithmic = da.System("logarithmic", [x, y], lagrangian=x.dot**2 / x**2 + y.dot**2)
    assert "scaling of x" in [f.name for f in da.symmetries(logarithmic)]


def test_planar_rotations_of_kepler():
    system = da.System("Kepler", [x, y], kinetic=m * (x.dot**2 + y.dot**2) / 2, potential=-k / sympy.sqrt(x**2 + y**2))
    reduced = da.reduce(system, GROUPS["rotation"])
    (r,) = reduced.shape
    assert reduced.kind == "Lagrange-Poincare" and reduced.momentum == {a: m * (x * y.dot - y * x.dot)}
    assert sympy.simplify(reduced.body_momentum[0] - m * r**2 * reduced.velocities[a]) == 0
    assert GROUPS["rotation"].singular == (y, x)


# a metric and a connection of one's own


def test_a_connection_of_ones_own():
    """Lift, curvature and phases are those of the connection that is given; equations and motions do not depend on it."""
    e = da.gallery.load("snakeboard")
    s = da.Symmetry(e.action, elements=e.elements)
    u, _, a = e.elements
    natural = da.reduce(e.system, s)
    psi, phi = natural.shape
    third = sympy.Rational(1, 3)
    own = da.reduce(e.system, s, lift={phi: {u: psi, a: third}})
    assert own.lift == sympy.Matrix([[0, psi], [0, 0], [0, third]])
    # B = da - [a, a] with a = -M: of M = (0, (psi, 0, 1/3)) it is -dM_phi/dpsi
    assert (
        own.curvature[psi, phi] == sympy.Matrix([-1, 0, 0])
        and own.equations().equations == natural.equations().equations
    )
    at = {q: e.start[q] for q in e.system.coordinates}
    run = da.simulate(natural, da.RungeKutta4(), h=0.01, until=1, start=e.start, parameters=e.parameters)
    one, two = (r.reconstruct(run, at=at) for r in (natural, own))
    assert max(np.abs(one[q] - two[q]).max() for q in at) < 1e-13
    moved = np.trapezoid(run[psi] * np.gradient(run[phi], run.time), run.time)
    assert abs(two.geometric[-1, 2] - third * (run[phi][-1] - run[phi][0])) < 1e-6, "the turn of the horizontal motion"
    assert (
        abs(np.hypot(*two.geometric[-1, :2]) - abs(moved)) < 1e-3 and np.abs(one.geometric - two.geometric).max() > 0.05
    )


def test_complements_of_ones_own():
    """With the metric in which a basis is orthonormal the complements are those of the basis: example E5, U = <d/dx, d/dy>."""
    x, y, theta, phi = da.coordinates("x y theta phi")
    m, I, J, A = da.parameters("m I J A", positive=True)
    u, v, w = da.parameters("u v w")
    disk = da.System(
        "disk", [x, y, theta, phi], kinetic=(m * (x.dot**2 + y.dot**2) + I * theta.dot**2 + J * phi.dot**2) / 2,
        constraints=[x.dot - A * cos(phi) * theta.dot, y.dot - A * sin(phi) * theta.dot],
    )  # fmt: skip
    s = da.Symmetry({x: x + u, y: y + v, theta: theta + w}, elements=[u, v, w])
    S = sympy.Matrix([A * cos(phi), A * sin(phi), 1, 0])
    basis = sympy.Matrix.hstack(S, *(sympy.eye(4)[:, k] for k in (3, 0, 1)))
    inverse = basis.inv()
    natural, own = da.reduce(disk, s), da.reduce(disk, s, metric=inverse.T * inverse)
    spanned = sympy.Matrix.hstack(own.spaces.U, sympy.Matrix([0, 1, 0, 0]), sympy.Matrix([0, 0, 1, 0]))  # (phi', xi)
    assert spanned.rank(simplify=True) == 2 and own.lift == sympy.zeros(3, 1)
    other = sympy.Matrix.hstack(natural.spaces.U, sympy.Matrix([0, 1, 0, 0]), sympy.Matrix([0, 0, 1, 0]))
    assert other.rank(simplify=True) == 3, "the control: orthogonal in the kinetic energy is another complement"
    assert own.equations().equations == natural.equations().equations
    discrete = da.reduce(da.discretise(disk, da.midpoint_map), s, metric=inverse.T * inverse)
    assert discrete.kind == "general" and discrete.spaces.U == own.spaces.U


# symmetries of group coordinates


def test_the_phases_of_a_reconstruction_are_shown():
    e = da.gallery.load("snakeboard")
    small = da.reduce(e.system, da.Symmetry(e.action, elements=e.elements))
    run = da.simulate(small, da.Midpoint(), h=0.05, until=2, start=e.start, parameters=e.parameters)
    back = small.reconstruct(run, at={c: e.start[c] for c in e.system.coordinates})
    shown = str(back)
    for phases in (back.group, back.dynamic, back.geometric):
        assert f"{phases[-1, 1]:.9g}" in shown
    whole = da.simulate(e.system, da.Reference(), h=0.05, until=2, start=e.start, parameters=e.parameters)
    assert back.system == e.system and np.abs(back.energy - whole.energy).max() < 1e-4
    assert all(np.abs(back[c.dot] - whole[c.dot]).max() < 1e-3 for c in e.system.coordinates)
    assert np.abs(back.multipliers - whole.multipliers).max() < 1e-3 < np.ptp(whole.multipliers[:, 0])


def test_a_symmetry_that_was_found_reduces():
    x, y = da.coordinates("x y")
    system = da.System("bowl", [x, y], kinetic=(x.dot**2 + y.dot**2) / 2, potential=(x**2 + y**2) ** 2)
    found = da.symmetries(system)[0]
    assert da.reduce(system, found).lagrangian == da.reduce(system, found.symmetry).lagrangian
    assert da.reduce(da.discretise(system, da.midpoint_map), found).kind == "general"


def test_turns_are_found():
    """Of a top turns about the vertical and about its axis, of a free body all of space; of a body on a cart with the cart."""
    R = da.rotation("R")
    w = R.omega

    def names(system):
        return [f.name for f in da.symmetries(system)]

    top = da.System("top", [R], kinetic=(w[0] ** 2 + w[1] ** 2 + 3 * w[2] ** 2) / 2, potential=R[2, 2])
    assert names(top) == ["R.turn3 from the left", "R.turn3 from the right", "all together"]
    whole = da.symmetries(top)[2].symmetry
    assert whole.is_abelian and da.reduce(top, whole).kind == "Lagrange-Poincare"
    free = top.replace(kinetic=(w[0] ** 2 + 2 * w[1] ** 2 + 3 * w[2] ** 2) / 2, potential=0)
    assert names(free) == ["R.turn1 from the left", "R.turn2 from the left", "R.turn3 from the left", "all together"]
    cart = names(da.gallery.load("heavy-top-on-cart").system)
    assert cart == ["translation of y", "translation of x", "R.turn3 from the left, with x, y", "all together"]
    n = da.direction("n")
    pointer = da.System("pointer", [n], kinetic=(n.omega[0] ** 2 + n.omega[1] ** 2) / 2, potential=n[2])
    assert names(pointer) == ["turn of n about axis 3 of space"]
    assert len(names(pointer.replace(potential=0))) == 4  # and all together
    P = da.planar_pose("P")
    sleigh = da.System(
        "sleigh",
        [P],
        kinetic=(P.velocity[0] ** 2 + P.velocity[1] ** 2 + P.omega[0] ** 2) / 2,
        constraints=[P.velocity[1]],
    )
    assert len(names(sleigh)) == 4 and all("from the right" not in n for n in names(sleigh))
    tilted = top.replace(potential=R[2, 2] + R[0, 1] * R[2, 0])
    assert names(tilted) == [], "the control"
