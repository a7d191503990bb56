"""Hamel's equations: one formula, whose named forms are choices of frame. Compared by value, never by form."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import permutations

import pytest
import sympy
from sympy import Matrix, eye, sqrt

import dalembert as da
from dalembert import ModelError, cos, sin
from dalembert.decide.zero import vanishes
from dalembert.model.coordinates import QuasiVelocity
from dalembert.model.frame import Frame, joined
from dalembert.symbolic import fast, magnitude, number, substitute
from dalembert.theory.forms import hamel as module
from dalembert.theory.forms.quasi_velocities import Reader
from dalembert.theory.motion.frames import frame_on_coordinates, hamel_residual
from dalembert.theory.motion.lagrange import total_derivative

x, y, z, r, phi, theta, psi = da.coordinates("x y z r phi theta psi")
m, k, a, g, l, R, J, Omega = da.parameters("m k a g l R J Omega", positive=True)
J1, J2, J3, J13, J23 = da.parameters("J1 J2 J3 J13 J23", positive=True)
t = da.time

BODY = (  # the angular velocity in the axes of a body, by Euler's angles
    phi.dot * sin(theta) * sin(psi) + theta.dot * cos(psi),
    phi.dot * sin(theta) * cos(psi) - theta.dot * sin(psi),
    phi.dot * cos(theta) + psi.dot,
)
ALONG, ACROSS = x.dot * cos(phi) + y.dot * sin(phi), -x.dot * sin(phi) + y.dot * cos(phi)


def sides(equations):
    return [e.lhs - e.rhs for e in equations]


def same(found, expected):
    """Whether two lists of expressions have the same values, entry by entry."""
    return all(vanishes(fast(e) - fast(f)) for e, f in zip(found, expected, strict=True))


def negative(table):
    return {key: -c for key, c in table.items()}


def zero(entries):
    return all(vanishes(e) for e in entries)


# the formula, in abstract frames


def turned(j):
    """The matrix of e_j x."""
    return Matrix(3, 3, lambda b, c: sympy.LeviCivita(c, b, j))


def rotations(sign=1):
    """Left-invariant fields on SO(3), which turn the entries of a matrix: X_j(R) = R hat(e_j)."""
    entries = Matrix(3, 3, sympy.symbols("R:3(:3)", real=True))
    w = tuple(map(QuasiVelocity, ("o1", "o2", "o3")))
    fields = tuple(dict(zip(entries, entries * turned(j), strict=True)) for j in range(3))
    eps = {(k, i, j): sign * sympy.LeviCivita(i, j, k) for i, j, k in permutations(range(3))}
    return entries, Frame(w, tuple(u.dot for u in w), fields, eps)


def top(entries, w):
    return (J1 * w[0] ** 2 + J2 * w[1] ** 2 + J3 * w[2] ** 2) / 2 - m * g * l * entries[2, 2]


def test_euler_equations_of_a_heavy_top():
    """J w' + w x J w = m g l Gamma x e_3, where Gamma is the vertical in the axes of the body."""
    entries, frame = rotations()
    w, gamma = Matrix(frame.velocities), entries.row(2).T
    inertia = sympy.diag(J1, J2, J3)
    torque = m * g * l * gamma.cross(Matrix([0, 0, 1]))
    euler = inertia * Matrix(frame.accelerations) + w.cross(inertia * w) - torque
    assert same(hamel_residual(top(entries, w), frame), euler)
    assert same([frame.kinematics[e] for e in gamma], gamma.cross(w))
    torques, reactions = sympy.symbols("F:3"), sympy.symbols("r:3")
    driven = hamel_residual(top(entries, w), frame, torques, reactions)
    assert same(driven, [e - F - r for e, F, r in zip(euler, torques, reactions, strict=True)])
    wrong = hamel_residual(top(entries, w), rotations(sign=-1)[1])
    assert not any(vanishes(fast(e) - fast(f)) for e, f in zip(wrong, euler, strict=True))


def bracket_defects(frame):
    """[X_i, X_j](s) - c^k_ij X_k(s) for every symbol s of a point, with X_0 too; directly from the fields."""
    n, places = range(len(frame.fields)), [s for s in frame.fields[0] if s != t]
    tables = [[[frame.brackets.get((k, i, j), 0) for k in n] for j in n] for i in n]
    pairs = [(frame.fields[i], frame.fields[j], tables[i][j]) for i in n for j in n]
    if frame.drift_brackets:
        rows = [[frame.drift_brackets.get((k, j), 0) for k in n] for j in n]
        pairs += [(frame.drift, frame.fields[j], rows[j]) for j in n]

    def along(field, e):
        return sum((fast(e).diff(fast(s)) * fast(v) for s, v in field.items()), start=fast(0))

    return [
        along(X, Y.get(s, 0))
        - along(Y, X.get(s, 0))
        - sum((fast(c) * fast(frame.fields[k][s]) for k, c in enumerate(row)), start=fast(0))
        for X, Y, row in pairs
        for s in places
    ]


def test_brackets_are_those_of_the_fields():
    coframe = Matrix([[1 + x**2, y * t, 0], [sin(z), 2, x * y], [0, t * z, 3 + y**2]])
    offset = [x * t, y**2, sin(z * t)]
    w = [QuasiVelocity(f"w{i}") for i in range(3)]
    frame = frame_on_coordinates([x, y, z], w, [u.dot for u in w], coframe.tolist(), offset, coframe.inv().tolist())
    for found in (frame, rotations()[1]):
        assert zero(bracket_defects(found))
        assert not zero(bracket_defects(replace(found, brackets=negative(found.brackets))))
    still = replace(frame, drift_brackets=negative(frame.drift_brackets))
    assert not zero(bracket_defects(still))


def euler_matrix():
    """The rotation whose angular velocity in the axes of the body is BODY."""

    def about(j, angle):
        return eye(3) + sin(angle) * turned(j) + (1 - cos(angle)) * turned(j) ** 2

    return about(2, phi) * about(0, theta) * about(2, psi)


def test_a_frame_on_a_product_of_spaces():
    """A top on a sliding support: in entries of a matrix and a line, and in Euler's angles, the equations are the same."""
    entries, turning = rotations()
    u = QuasiVelocity("u")
    line = Frame((u,), (u.dot,), ({x: 1},))
    frame = joined([line, turning])
    w = frame.velocities[1:]
    nowhere = dict.fromkeys([x, *entries], 0)
    assert zero(bracket_defects(replace(frame, fields=tuple({**nowhere, **X} for X in frame.fields))))

    def lagrangian(entries, u, w):
        rate = (entries * Matrix(w).cross(Matrix([0, 0, 1])))[0]  # of the first component of the axis
        return top(entries, w) + m * u**2 / 2 + m * l * u * rate - k * x**2 / 2 * cos(t)

    turn = euler_matrix()
    form = da.hamel(
        da.System("top", [x, phi, theta, psi], lagrangian=lagrangian(turn, x.dot, BODY)),
        {"u": x.dot, "o1": BODY[0], "o2": BODY[1], "o3": BODY[2]},
    )
    found = hamel_residual(lagrangian(entries, u, w), frame)
    angles = dict(zip(entries, turn, strict=True))
    assert same([substitute(e, angles) for e in found], sides(form.equations))


def test_time_dependent_factors_of_a_product_keep_their_brackets():
    w = [QuasiVelocity(name) for name in ("u", "v")]
    turn = Matrix([[cos(Omega * t), sin(Omega * t)], [-sin(Omega * t), cos(Omega * t)]])
    moving = frame_on_coordinates([x, y], w, [u.dot for u in w], turn.tolist(), [k, 0], turn.T.tolist())
    both = joined([rotations()[1], moving])
    assert both.drift_brackets == {(k + 3, j + 3): c for (k, j), c in moving.drift_brackets.items()}
    assert both.drift_brackets
    assert same([both.kinematics[x]], [cos(Omega * t) * (w[0] - k) - sin(Omega * t) * w[1]])


# the named forms


def test_a_coordinate_frame_gives_lagrange_equations():
    system = da.gallery.load("double-pendulum").system
    v = system.velocities
    form = da.hamel(system, v)
    back = {u: q.dot for u, q in zip(form.velocities, system.coordinates, strict=True)}
    back |= {u.dot: q.ddot for u, q in zip(form.velocities, system.coordinates, strict=True)}
    lagrange = sides(system.equations().lagrange)
    assert same([e.xreplace(back) for e in sides(form.equations)], lagrange)
    assert form.structure_functions == {} and form.singular == ()
    assert form.coframe == form.fields == eye(2) and form.determinant == 1
    assert not same([2 * e.xreplace(back) for e in sides(form.equations)], lagrange)


def test_polar_coordinates_in_an_orthonormal_frame():
    planet = da.System(
        "planet", [r, phi], kinetic=m * (r.dot**2 + r**2 * phi.dot**2) / 2, potential=-k / r, forces={phi: a}
    )
    form = da.hamel(planet, {"u": r.dot, "v": r * phi.dot})
    u, v = form.velocities
    assert same(sides(form.equations), [m * u.dot - m * v**2 / r + k / r**2, m * v.dot + m * u * v / r - a / r])
    assert form.lagrangian == m * u**2 / 2 + m * v**2 / 2 + k / r
    assert form.structure_functions == {(v, u, v): -1 / r}
    assert [str(e.lhs) for e in form.singular] == ["r"] and form.determinant == r
    assert form.forces == {u: 0, v: a / r} and form.momenta == {u: m * u, v: m * v}
    inverse = da.hamel(planet, {"u": r.dot, "v": phi.dot / r})
    assert [str(e.lhs) for e in inverse.singular] == ["r"]  # a pole of the determinant


def test_a_free_body_in_euler_angles_obeys_euler_equations():
    kinetic = (J1 * BODY[0] ** 2 + J2 * BODY[1] ** 2 + J3 * BODY[2] ** 2) / 2
    form = da.hamel(da.System("body", [phi, theta, psi], kinetic=kinetic), BODY)
    w = Matrix(list(form.velocities))
    inertia = sympy.diag(J1, J2, J3)
    assert same(sides(form.equations), inertia * Matrix([u.dot for u in w]) + w.cross(inertia * w))
    u, v, s = w
    assert form.structure_functions == {(s, u, v): 1, (v, u, s): -1, (u, v, s): 1}
    assert [str(e.lhs) for e in form.singular] == ["sin(theta)"]


SLEIGH = da.System(
    "sleigh", [x, y, phi],
    kinetic=m * ((x.dot - a * sin(phi) * phi.dot) ** 2 + (y.dot + a * cos(phi) * phi.dot) ** 2) / 2 + J * phi.dot**2 / 2,
    constraints=[ACROSS],
)  # fmt: skip


def test_chaplygin_sleigh_in_an_adapted_frame():
    """m u' = m a w^2,  (J + m a^2) w' = -m a u w; zero in the Lagrangian would give m u' = 0."""
    form = da.hamel(SLEIGH, {"u": ALONG, "w": phi.dot, "s": ACROSS})
    u, w, s = form.velocities
    assert form.is_adapted and form.vanishing == (s,)
    assert same(sides(form.reduced), [m * u.dot - m * a * w**2, (J + m * a**2) * w.dot + m * a * u * w])
    (reaction,) = form.reaction_equations
    assert same([reaction.lhs], [m * a * w.dot + m * u * w]) and str(reaction.rhs) == "lambda_1"
    assert form.reactions[u] == form.reactions[w] == 0
    too_early = hamel_residual(form.lagrangian.xreplace({s: 0}), form.frame)
    assert not vanishes(too_early[0].subs({fast(s): 0}) - fast(sides(form.reduced)[0]))


def test_rolling_disk_in_an_adapted_frame():
    """(J1 + m R^2) w' = 0 and J2 n' = 0; the multipliers are those of Lagrange's equations."""
    slips = [x.dot - R * cos(phi) * theta.dot, y.dot - R * sin(phi) * theta.dot]
    disk = da.System(
        "disk", [x, y, theta, phi],
        kinetic=m * (x.dot**2 + y.dot**2) / 2 + J1 * theta.dot**2 / 2 + J2 * phi.dot**2 / 2, constraints=slips,
    )  # fmt: skip
    form = da.hamel(disk, {"w": theta.dot, "n": phi.dot, "a1": slips[0], "a2": slips[1]})
    w, n, *gone = form.velocities
    assert form.vanishing == tuple(gone)
    assert same(sides(form.reduced), [(J1 + m * R**2) * w.dot, J2 * n.dot])
    solved = disk.equations().solved
    multipliers = [solved[s] for s in sorted(solved, key=str) if "lambda" in str(s)]
    at = {theta.dot: w, phi.dot: n, x.dot: R * cos(phi) * w, y.dot: R * sin(phi) * w}
    found = [e.lhs.xreplace({w.dot: 0, n.dot: 0}) for e in form.reaction_equations]
    assert same(found, [e.xreplace(at) for e in multipliers])


def test_suslov_equations():
    """J1 u' = -v (J13 u + J23 v),  J2 v' = u (J13 u + J23 v), for a body that does not turn about its third axis."""
    w = Matrix(BODY)
    inertia = Matrix([[J1, 0, J13], [0, J2, J23], [J13, J23, J3]])
    body = da.System("Suslov", [phi, theta, psi], kinetic=(w.T * inertia * w)[0] / 2, constraints=[BODY[2]])
    form = da.hamel(body, {"u": BODY[0], "v": BODY[1], "s": BODY[2]})
    u, v, _ = form.velocities
    cross = J13 * u + J23 * v
    assert same(sides(form.reduced), [J1 * u.dot + v * cross, J2 * v.dot - u * cross])


def test_voronets_equations():
    """A particle with z' = y x': (1 + y^2) x'' + y x' y' = 0 and y'' = 0."""
    particle = da.System(
        "particle", [x, y, z], kinetic=(x.dot**2 + y.dot**2 + z.dot**2) / 2, constraints=[z.dot - y * x.dot]
    )
    form = da.hamel(particle, {"u": x.dot, "v": y.dot, "s": z.dot - y * x.dot})
    u, v, _ = form.velocities
    assert same(sides(form.reduced), [(1 + y**2) * u.dot + y * u * v, v.dot])


# frames that move


def test_components_of_the_velocity_along_turning_axes():
    """m (u' - Omega v) = F_1, m (v' + Omega u) = F_2: the frame depends on time."""
    spring = da.System("spring", [x, y], kinetic=m * (x.dot**2 + y.dot**2) / 2, forces={x: k})
    C, S = cos(Omega * t), sin(Omega * t)
    form = da.hamel(spring, {"u": C * x.dot + S * y.dot, "v": C * y.dot - S * x.dot})
    u, v = form.velocities
    assert same(sides(form.equations), [m * (u.dot - Omega * v) - k * C, m * (v.dot + Omega * u) + k * S])
    assert form.structure_functions == {(v, t, u): Omega, (u, t, v): -Omega}


def test_velocities_relative_to_a_turning_table():
    """With a function of positions and time added: Coriolis and centrifugal forces."""
    free = da.System("free", [x, y], kinetic=m * (x.dot**2 + y.dot**2) / 2)
    C, S = cos(Omega * t), sin(Omega * t)
    X, Y = C * x + S * y, C * y - S * x
    form = da.hamel(free, {"u": C * x.dot + S * y.dot + Omega * Y, "v": C * y.dot - S * x.dot - Omega * X})
    u, v = form.velocities
    inertial = [m * (u.dot - 2 * Omega * v - Omega**2 * X), m * (v.dot + 2 * Omega * u - Omega**2 * Y)]
    assert same(sides(form.equations), inertial)
    assert same([e.rhs for e in form.kinematics], [C * u - S * v - Omega * y, S * u + C * v + Omega * x])


def test_a_driven_constraint_is_set_to_zero_by_a_moving_frame():
    driven = da.System(
        "driven", [x, y], kinetic=m * (x.dot**2 + y.dot**2) / 2, constraints=[y.dot - x * x.dot - sin(t)]
    )
    form = da.hamel(driven, {"u": x.dot, "s": y.dot - x * x.dot - sin(t)})
    u, s = form.velocities
    assert form.vanishing == (s,)
    assert same(sides(form.reduced), [m * ((1 + x**2) * u.dot + x * u**2 + x * cos(t))])
    still = da.hamel(driven, {"u": x.dot, "s": y.dot - x * x.dot})
    assert not still.is_adapted and still.vanishing == ()


# what else a system may have


def frame_for(system, seed=0):
    """Quasi-velocities with random coefficients, each with a function of positions and time added."""
    rng, q = random.Random(seed), system.coordinates
    n = range(len(q))

    def entry(i, j):
        return 2 + sin(q[i]) if i == j else rng.randint(1, 3) * cos(q[j - 1]) if j == i + 1 else 0

    return [sympy.Add(*(entry(i, j) * q[j].dot for j in n), q[i] * t / 2 if i == 0 else 0) for i in n]


QUICK = ["cart-with-friction", "rod-on-driven-knives"]
GALLERY = [
    "spherical-pendulum", "nonholonomic-particle", "rolling-disk", "car", "spring-in-gas",
    "two-gas-chambers", "friction-heated-pendulum", "rolling-disk-with-friction", "particle-on-moving-circle",
]  # fmt: skip


@pytest.mark.parametrize("name", [*QUICK, *(pytest.param(n, marks=pytest.mark.slow) for n in GALLERY)])
def test_any_frame_gives_the_motion_of_the_gallery(name):
    """Accelerations and multipliers at a state of a run satisfy the equations in the frame, to rounding."""
    example = da.gallery.load(name)
    system = example.system
    form = da.hamel(system, frame_for(system))
    run = da.simulate(system, da.Reference(), h=0.05, steps=4, start=example.start, parameters=example.parameters)
    state = {s: float(run[s][-1]) for c in system.coordinates for s in (c, c.dot)}
    state |= {S: float(run[S][-1]) for S in system.entropies} | {t: float(run.time[-1])}
    now = da.evaluate(system, at=state, parameters=example.parameters)
    numbers = {s.name: float(v) for s, v in {**example.parameters, **state}.items()}
    numbers |= {q.dot.name: v for q, v in now.velocities.items()} | {
        q.ddot.name: v for q, v in now.accelerations.items()
    }
    numbers |= {f"multiplier.{k + 1}": v for k, v in enumerate(now.multipliers)}
    for u, e in form.velocities.items():
        numbers[u.name], numbers[u.dot.name] = (
            number(e, numbers),
            number(total_derivative(e, system.coordinates), numbers),
        )
    for e in sides(form.equations):
        assert abs(number(e, numbers)) <= 1e-11 * number(magnitude(fast(e)), numbers)
    for c in form.constraints:
        assert abs(number(c.lhs, numbers)) <= 1e-9 * number(magnitude(fast(c.lhs)), numbers)


def test_relativistic_particle():
    """A Lagrangian that is not quadratic."""
    system = da.System("fast", [r, phi], lagrangian=-m * sqrt(1 - r.dot**2 - r**2 * phi.dot**2))
    form = da.hamel(system, {"u": r.dot, "v": r * phi.dot})
    u, v = form.velocities
    gamma = 1 / sqrt(1 - u**2 - v**2)
    work = u * u.dot + v * v.dot
    expected = [
        m * gamma * (u.dot + gamma**2 * work * u - v**2 / r),
        m * gamma * (v.dot + gamma**2 * work * v + u * v / r),
    ]
    slow = {s: s / 4 for s in (u, v)}
    assert same([e.xreplace(slow) for e in sides(form.equations)], [e.xreplace(slow) for e in expected])


def test_nonlinear_constraints_and_given_variations():
    free = da.System("free", [x, y, z], kinetic=m * (x.dot**2 + y.dot**2 + z.dot**2) / 2, potential=m * g * z)
    appell = free.replace(constraints=[x.dot**2 + y.dot**2 - a**2 * z.dot**2])
    form = da.hamel(appell, {"u": x.dot + z * y.dot, "v": y.dot, "w": z.dot})
    u, v, w = form.velocities
    assert same([form.constraints[0].lhs], [(u - z * v) ** 2 + v**2 - a**2 * w**2])
    assert not form.is_adapted
    own = free.replace(constraints=[z.dot - y * x.dot], variations=[z.dot - 2 * y * x.dot])
    other = da.hamel(own, {"u": x.dot, "v": y.dot, "s": z.dot - y * x.dot})
    assert not other.is_adapted and not vanishes(other.reactions[next(iter(other.velocities))])


def test_holonomic_constraints_are_differentiated_once():
    ring = da.System("ring", [x, y], kinetic=m * (x.dot**2 + y.dot**2) / 2, constraints=[x**2 + y**2 - l**2])
    form = da.hamel(ring, {"s": x * x.dot + y * y.dot, "n": x * y.dot - y * x.dot})
    s, n = form.velocities
    assert form.vanishing == (s,) and same([form.constraints[0].lhs], [2 * s])
    assert same(sides(form.reduced), [m * n.dot / (x**2 + y**2)])
    assert "x**2 + y**2 = 0" not in str(form.singular)  # no real coordinate but the origin
    assert "l**2" in str(form)


def test_entropies_are_carried_along():
    """The rate of an entropy enters where the momentum depends on it."""
    S = da.entropies("S")
    hot = da.System(
        "hot", [x], lagrangian=m * sympy.exp(S) * x.dot**2 / 2 - sympy.exp(S), entropies=[S], friction={x: -k * x.dot}
    )
    form = da.hamel(hot, {"u": x.dot * (1 + x**2)})
    (u,) = form.velocities
    v = u / (1 + x**2)
    heat = k * v**2 / (sympy.exp(S) * (1 - m * v**2 / 2))
    acceleration = u.dot / (1 + x**2) - 2 * x * v * u / (1 + x**2) ** 2
    expected = (m * sympy.exp(S) * (acceleration + heat * v) + k * v) / (1 + x**2)
    assert same(sides(form.equations), [expected])
    (law,) = form.entropy
    assert same([law.rhs / (law.lhs / S.dot)], [heat])


# what it says


def test_expressions_in_quasi_velocities():
    form = da.hamel(SLEIGH, {"u": ALONG, "w": phi.dot, "s": ACROSS})
    u, _, s = form.velocities
    assert form.expression(x.dot**2 + y.dot**2) == u**2 + s**2
    assert form.expression(ACROSS) == s
    assert same([e.rhs.xreplace(dict(form.velocities)) for e in form.kinematics], SLEIGH.velocities)


def test_it_shows_itself():
    form = da.hamel(SLEIGH, {"u": ALONG, "omega": phi.dot, "s": ACROSS})
    lines = str(form).splitlines()
    assert lines[0] == "sleigh: Hamel's equations in u, omega, s"
    assert "  [X_u, X_omega]:  -X_s" in lines and "  -a*m*omega**2 + m*u.dot = 0" in lines
    assert r"m \dot{u}" in form._repr_markdown_() and r"\dot{\omega}" in form._repr_markdown_()
    listed = da.hamel(SLEIGH, [ALONG, phi.dot, ACROSS])
    assert [u.name for u in listed.velocities] == ["w_1", "w_2", "w_3"]


def test_decimals_are_read_as_they_were_typed():
    ball = da.System("ball", [x], kinetic=m * x.dot**2 / 2, potential=9.81 * m * x)
    form = da.hamel(ball, {"u": 0.3 * x.dot})
    assert "u = 0.3*x.dot" in str(form) and "9.81" in str(form) and "981" not in str(form)
    (u,) = form.velocities
    assert same(sides(form.equations), [m * u.dot * sympy.Rational(100, 9) + sympy.Rational(981, 30) * m])


def test_decimals_of_the_frame_alone_are_read_as_they_were_typed():
    assert "u = 0.3*x.dot" in str(da.hamel(da.System("one", [x], kinetic=x.dot**2 / 2), {"u": 0.3 * x.dot}))


def test_brackets_that_vanish_are_left_out():
    """d(asin(tanh x))/dx = 1/cosh x, which no short form shows."""
    free = da.System("free", [x, y], kinetic=x.dot**2 / 2 + y.dot**2 / 2)
    exact = da.hamel(free, {"u": x.dot, "v": sympy.asin(sympy.tanh(x)) * y.dot + y * x.dot / sympy.cosh(x)})
    assert exact.structure_functions == {}
    assert da.hamel(free, {"u": x.dot, "v": sympy.tanh(x) * y.dot}).structure_functions != {}


def test_a_frame_that_is_singular_in_a_branch_is_refused():
    """Isolated points are named instead."""
    free = da.System("free", [x, y], kinetic=x.dot**2 / 2 + y.dot**2 / 2)
    for half, why in (
        (da.Max(x - 1, 0) * x.dot, "no velocity"),
        (da.Max(x - 1, 0) * x.dot + y.dot, "a combination of"),
    ):
        with pytest.raises(ModelError, match=f"{why}.*x = |x = .*{why}"):
            da.hamel(free, {"v": y.dot, "u": half})
    assert [str(e.lhs) for e in da.hamel(free, {"u": (x - 1) * x.dot, "v": y.dot}).singular] == ["x - 1"]


def test_long_expressions_are_not_multiplied_out():
    """(sum of 30 terms)^8 has 38,608,020 terms."""
    many = da.coordinates("q:30")
    u = QuasiVelocity("u")
    reader = Reader(da.System("many", many, kinetic=sympy.Add(*(q.dot**2 for q in many))), {u: many[0].dot})
    long = fast(u * sympy.Add(*(sin(q) for q in many)) ** 8)
    assert reader.by_degree(long) == u * sympy.Add(*(sin(q) for q in many)) ** 8


def test_a_parameter_of_the_frame_stays_what_it_is():
    form = da.hamel(da.System("one", [x], kinetic=x.dot**2 / 2), {"u": Omega * x.dot})
    assert Omega in form.lagrangian.free_symbols and Omega in form.equations[0].free_symbols


# the check by value


def test_a_wrong_sign_of_the_structure_functions_is_found(monkeypatch):
    def wrong(system, velocities):
        frame = module_frame(system, velocities)
        return replace(frame, brackets=negative(frame.brackets))

    module_frame = module.frame_of
    monkeypatch.setattr(module, "frame_of", wrong)
    with pytest.raises(ModelError, match="the equation of u could not be confirmed"):
        da.hamel(SLEIGH, {"u": ALONG, "w": phi.dot, "s": ACROSS})
    form = da.hamel(SLEIGH.without_constraints(), [x.dot, y.dot, phi.dot])  # no brackets: nothing is wrong
    assert form.structure_functions == {}


def test_a_wrong_sign_of_the_drift_brackets_is_found(monkeypatch):
    def wrong(system, velocities):
        frame = module_frame(system, velocities)
        return replace(frame, drift_brackets=negative(frame.drift_brackets))

    module_frame = module.frame_of
    monkeypatch.setattr(module, "frame_of", wrong)
    free = da.System("free", [x, y], kinetic=m * (x.dot**2 + y.dot**2) / 2)
    C, S = cos(Omega * t), sin(Omega * t)
    with pytest.raises(ModelError, match="could not be confirmed"):
        da.hamel(free, {"u": C * x.dot + S * y.dot, "v": C * y.dot - S * x.dot})
