"""Formulas of the inverse problem (R. Ramirez, Sobre los sistemas mecanicos con enlaces, 1990, section 4), as corrected.

A test named `..._printed` puts the formula as it is printed in place of the corrected one, and must see the difference.
"""

from __future__ import annotations

import random
from itertools import pairwise

import pytest
import sympy
from sympy import Matrix, cos, exp, eye, sin, sqrt, zeros

import dalembert as da
from dalembert.decide.budget import Budget
from dalembert.theory.inverse.linear_identities import are_independent, combinations

from .inverse_problems import euler_lagrange

x, y, z = da.coordinates("x y z")
t = da.time
mu, alpha, beta = da.parameters("mu alpha beta", positive=True)
X, Y, Z = x.dot, y.dot, z.dot

PATIENT = 1200
"""Seconds for searches: so many that no result depends on how busy the machine is."""

OSCILLATOR = [x.ddot + 2 * mu * X + alpha * x - beta * y, y.ddot + 2 * mu * Y + alpha * y + beta * x]
"""The damped, circulatory oscillator (5.10)."""


def small(*expressions, seeds=3):
    """Whether expressions vanish at random points, with fifty digits."""
    for seed in range(seeds):
        rng = random.Random(seed)
        symbols = sorted({s for e in expressions for s in sympy.sympify(e).free_symbols}, key=str)
        at = {s: sympy.Rational(rng.randint(300, 1700), 1000) for s in symbols}
        if any(abs(sympy.sympify(e).xreplace(at).evalf(50)) > 1e-40 for e in expressions):
            return False
    return True


# the oscillator, example 3 of section 5
def test_the_oscillator_as_it_stands_fails():
    check = da.inverse.helmholtz(OSCILLATOR, coordinates=[x, y])
    assert not check.holds
    assert [(c.name, c.places) for c in check.failing] == [("second", (1, 1)), ("second", (2, 2)), ("third", (1, 2))]
    assert [c.residual for c in check.failing] == [4 * mu, 4 * mu, -2 * beta]
    for c in check.failing:
        assert c.value == pytest.approx(float(c.residual.xreplace(c.point)))
        assert c.value != 0
    assert all(c.point is None for c in check.conditions if c.holds)


def test_the_oscillator_in_normal_form():
    form = da.inverse.helmholtz(OSCILLATOR, coordinates=[x, y]).normal_form
    assert small(form.lagrangian - (X**2 + Y**2 - alpha * (x**2 + y**2)) / 2)
    V = mu * (X**2 + Y**2) + beta * (x * Y - y * X)
    assert small(*(e - V.diff(v) for e, v in zip(form.phi, (X, Y), strict=True)))
    assert not form.is_lagrangian


@pytest.mark.parametrize(
    ("L", "B"),
    [
        (exp(2 * mu * t) * ((X**2 - Y**2) / 2 + beta * x * y - alpha * (x**2 - y**2) / 2), Matrix([[1, 0], [0, -1]])),
        (exp(2 * mu * t) * (X * Y - alpha * x * y - beta * (x**2 - y**2) / 2), Matrix([[0, 1], [1, 0]])),
    ],
)
def test_both_lagrangians_of_the_oscillator_from_its_equations(L, B):
    """Multiplied by B exp(2 mu t) the equations are self-conjugate, and these are their Lagrangians."""
    made = list(exp(2 * mu * t) * B * Matrix(OSCILLATOR))
    assert small(*(Matrix(euler_lagrange(L, (x, y))) - Matrix(made)))
    assert da.inverse.helmholtz(made, [x, y]).holds
    found = da.inverse.lagrangian(made, [x, y])
    assert found.multiplier == eye(2)
    assert small(*(e - f for e, f in zip(euler_lagrange(found.lagrangian, (x, y)), made, strict=True)))


def test_a_lagrangian_of_the_oscillator_as_it_stands():
    found = da.inverse.lagrangian(OSCILLATOR, [x, y])
    assert found.verified
    assert found.exact
    G = exp(-2 * mu * t) * found.multiplier
    assert small(G[0, 0] + G[1, 1], G[0, 1] - G[1, 0])  # (5.11)


def test_both_lagrangians_of_the_oscillator_are_found_from_its_equations():
    """Two that do not depend on each other; a third one, with B = 1, exists for beta = 0 only."""
    found = da.inverse.lagrangian(OSCILLATOR, [x, y], several=2)
    (other,) = found.others
    for r in (found, other):
        assert r.verified
        made = Matrix(euler_lagrange(r.lagrangian, (x, y)))
        assert small(*(made - r.multiplier * Matrix(OSCILLATOR)))
    one, two = (exp(-2 * mu * t) * r.multiplier for r in (found, other))
    assert small(one[0, 0] + one[1, 1], two[0, 0] + two[1, 1], *one.diff(t), *two.diff(t))
    assert not small(one[0, 0] * two[0, 1] - one[0, 1] * two[0, 0])
    uncoupled = [F.xreplace({beta: sympy.S.Zero}) for F in OSCILLATOR]
    assert len(da.inverse.lagrangian(uncoupled, [x, y], several=3).others) == 2


def test_sums_with_singular_multipliers_are_others():
    """Two oscillators of different frequencies: diag(1, 0) and diag(0, 1) are multipliers, and only sums of them regular."""
    oscillators = [x.ddot + alpha * x, y.ddot + beta * y]
    found = da.inverse.lagrangian(oscillators, [x, y], several=2)
    (other,) = found.others
    assert other.verified
    assert small(found.multiplier[0, 1], other.multiplier[0, 1])
    assert not small(found.multiplier[0, 0] * other.multiplier[1, 1] - found.multiplier[1, 1] * other.multiplier[0, 0])


def test_others_are_refused_where_there_is_one():
    """Henon and Heiles' multiplier is fixed up to a constant; the second argument is checked."""
    heiles = [x.ddot + x + 2 * x * y, y.ddot + y + x**2 - y**2]
    assert da.inverse.lagrangian(heiles, [x, y], several=2).others == ()
    with pytest.raises(da.ModelError, match="Expected how many regular Lagrangians"):
        da.inverse.lagrangian(heiles, [x, y], several=0)
    with pytest.raises(da.ModelError, match="of another kind one is found"):
        da.inverse.lagrangian(heiles, [x, y], several=2, kind="degenerate")


def test_a_search_without_time_says_so():
    for kind, equations in (("regular", GENERAL), ("birkhoff", [X - x * (1 - y), Y - y * (x - 1)])):
        found = da.inverse.lagrangian(equations, [x, y], kind=kind, seconds=0)
        assert found.exists is None
        assert found.lagrangian is None
        assert "The time for the search is spent" in found.reason


def test_equations_that_repeat_each_other_are_sampled_at_more_states():
    """Twenty powers are independent, though at 14 states two equal equations have fewer than twenty independent rows."""
    powers = [x**k for k in range(20)]
    assert are_independent([[p, p] for p in powers], [x], Budget())
    assert not are_independent([[p, p] for p in (*powers, (1 + x) ** 2)], [x], Budget())
    found = list(combinations([[p, p] for p in (*powers, (1 + x) ** 2)], [x], Budget()))
    assert found == [[*(-c / 1 for c in (1, 2, 1)), *[0] * 17, 1]] or found == [[1, 2, 1, *[0] * 17, -1]]


# variations that do not commute with d/dt
def test_upsilon_from_what_is_left_over():
    """(4.27'), (4.23'), (4.14'): with R, A and B from phi the equations are self-conjugate."""
    form = da.inverse.helmholtz(OSCILLATOR, [x, y]).normal_form
    R, A, B = form.R, form.A, form.B(OSCILLATOR)
    p = Matrix([form.lagrangian.diff(v) for v in (X, Y)])
    assert small(*(R.T * p + Matrix(form.phi)))
    assert small(*(A + 2 * mu * eye(2)))
    general = da.inverse.helmholtz(OSCILLATOR, [x, y], R=R, A=A, B=B)
    assert general.holds
    assert all(c.holds for c in general.compatibility)


def test_the_family_of_variations():
    """T p = 0 and the symmetric part of G B are free, nothing else: every member passes, other changes do not."""
    form = da.inverse.helmholtz(OSCILLATOR, [x, y]).normal_form
    K, S = [[x * Y, t], [y, 2]], [[X, x * y], [x * y, t * Y]]
    R, A, B = form.family(OSCILLATOR, K, S)
    p = Matrix([form.lagrangian.diff(v) for v in (X, Y)])
    assert small(*(R.T * p + Matrix(form.phi)))
    assert not small(*(R - form.R))
    assert da.inverse.helmholtz(OSCILLATOR, [x, y], R=R, A=A, B=B).holds
    assert not da.inverse.helmholtz(OSCILLATOR, [x, y], R=R + Matrix(K), A=A, B=B).holds
    assert not da.inverse.helmholtz(OSCILLATOR, [x, y], R=R, A=A, B=B + Matrix([[0, 1], [0, 0]])).holds
    assert not da.inverse.helmholtz(OSCILLATOR, [x, y], R=R, A=A + eye(2), B=B).holds
    own = form.family(OSCILLATOR, R - form.R, zeros(2, 2))[0]
    assert small(*(own - R))  # every R is a member
    with pytest.raises(da.ModelError, match="is not symmetric"):
        form.family(OSCILLATOR, K, K)
    with pytest.raises(da.ModelError, match="Expected a matrix of 2 rows"):
        form.family(OSCILLATOR, [1, 2], S)


@pytest.mark.parametrize("printed", ["R", "A", "B"])
def test_upsilon_printed(printed):
    """The printed signs of (4.27), (4.23) and (4.14)."""
    form = da.inverse.helmholtz(OSCILLATOR, [x, y]).normal_form
    given = {"R": form.R, "A": form.A, "B": form.B(OSCILLATOR)}
    given[printed] = -given[printed]
    assert not da.inverse.helmholtz(OSCILLATOR, [x, y], **given).holds


GENERAL = [
    (1 + x**2 + Y**2) * x.ddot + X * Y * y.ddot + x * Y * X + t * y,
    (2 + cos(x) * Y) * y.ddot + sin(t) * x.ddot * Y + X**2 * y,
]
"""Equations with all that the forms can contain; they are not self-conjugate."""


def _forms():
    entries = [[x * Y, t], [y, X]], [[X, y], [1, x * y]], [[t * x, Y], [X * y, 2]]
    return da.inverse.VariationalForms(tuple(GENERAL), (x, y), *entries), [Matrix(m) for m in entries]


def _total(e):
    """d/dt along curves, by SymPy alone, with symbols for all derivatives."""
    orders = ("", ".dot", ".ddot", ".dddot", ".ddddot", ".dddddot")
    names = {s.name: s for s in e.free_symbols}
    made = sympy.diff(e, t)
    for c in ("x", "y", "w1", "w2", "u1", "u2"):
        for a, b in pairwise(orders):
            if c + a in names:
                made += sympy.diff(e, names[c + a]) * _symbol(c + b)
    return made


def _symbol(name):
    known = {s.name: s for q in (x, y) for s in (q, q.dot, q.ddot)} | {t.name: t}
    return known.get(name, sympy.Symbol(name, real=True))


def _slow(matrix):
    from dalembert.symbolic import slow

    return Matrix([[slow(e, [_symbol(s.name) for s in e.free_symbols]) for e in row] for row in matrix])


def test_variational_forms():
    """(4.6) with (4.7'): the derivative of F along a variation."""
    forms, (R, A, B) = _forms()
    w = Matrix([_symbol("w1"), _symbol("w2")])
    rates = [w, Matrix([_symbol("w1.dot"), _symbol("w2.dot")]), Matrix([_symbol("w1.ddot"), _symbol("w2.ddot")])]
    moved = [rates[0], rates[1] + R * w, rates[2] + A * rates[1] + B * w]
    q, v, a = ([x, y], [X, Y], [x.ddot, y.ddot])
    varied = [
        sum(
            sympy.diff(F, s) * d
            for group, m in zip((q, v, a), moved, strict=True)
            for s, d in zip(group, m, strict=True)
        )
        for F in GENERAL
    ]
    made = sum((_slow(M) * r for M, r in zip((forms.G0, forms.G1, forms.G2), rates, strict=True)), start=zeros(2, 1))
    assert small(*(made - Matrix(varied)))
    printed = _slow(forms.G1) - Matrix(GENERAL).jacobian(a) * A + Matrix(GENERAL).jacobian(v) * A
    assert not small(*(printed - _slow(forms.G1)))  # (4.7) has dF/dv A


def test_lagrange_identity():
    """(4.10') with (4.8'); with the printed Q0 = G0 - dH/dt^T it does not hold."""
    forms, _ = _forms()
    u, w = (Matrix([_symbol(f"{c}{i}") for i in (1, 2)]) for c in "uw")
    du, dw = (m.applyfunc(_total) for m in (u, w))
    d2u, d2w = (m.applyfunc(_total) for m in (du, dw))
    G0, G1, G2, H = (_slow(m) for m in (forms.G0, forms.G1, forms.G2, forms.H))
    Q0, Q1, Q2 = (_slow(m) for m in (forms.Q0, forms.Q1, forms.Q2))
    left = (u.T * (G0 * w + G1 * dw + G2 * d2w) - (Q0 * u + Q1 * du + Q2 * d2u).T * w)[0]
    bracket = (u.T * H * w + u.T * G2 * dw - du.T * G2 * w)[0]
    assert small(left - _total(bracket))
    printed = G0 - H.applyfunc(_total).T
    assert not small(left + ((Q0 * u).T * w)[0] - ((printed * u).T * w)[0] - _total(bracket))


def test_helmholtz_printed():
    """(4.29) is printed with dF/dv in the first condition: a plain oscillator would fail it, a magnetic one too."""
    magnetic = [x.ddot + Y, y.ddot - X]
    assert da.inverse.helmholtz(magnetic, [x, y]).holds
    assert not small(magnetic[0].diff(Y) - magnetic[1].diff(X))


def test_normal_form_4_20():
    """The differential of the free term, for an unspecified choice: L with position, velocity and time, and phi."""
    L = X**4 / 12 + (2 + sin(x) + t) * X * Y + Y**2 * exp(y) / 2 + x * t * Y - x**2 * y
    phi = [X * y + x, X * Y - t * x]
    F = [e + f for e, f in zip(euler_lagrange(L, (x, y)), phi, strict=True)]
    form = da.inverse.helmholtz(F, [x, y]).normal_form
    left = [a - b - c for a, b, c in zip(F, euler_lagrange(form.lagrangian, (x, y)), form.phi, strict=True)]
    assert small(*left)
    assert not any(e.has(x.ddot, y.ddot) for e in form.phi)


def test_tonti():
    """The Lagrangian of second order by Tonti's formula has the same equations."""
    L = exp(t) * (X**2 / 2 + X**4 / 12 + x * X * Y + Y**2 / 2 - x**2 * y)
    F = euler_lagrange(L, (x, y))
    assert da.inverse.helmholtz(F, [x, y]).holds
    s = sympy.Symbol("s")
    scaled = {c: s * c for q in (x, y) for c in (q, q.dot, q.ddot)}
    T = -sympy.integrate(sympy.expand(sum(q * f.xreplace(scaled) for q, f in zip((x, y), F, strict=True))), (s, 0, 1))
    for q, f in zip((x, y), F, strict=True):
        made = _total(T.diff(q.dot)) - T.diff(q) - _total(_total(T.diff(q.ddot)))
        assert small(made - f)


# Kepler's problem as a degenerate system
def test_kepler_as_a_degenerate_system():
    """(4.38): F = v x c - a r/|r| - gamma is the relation of Laplace, Runge and Lenz; -G a/2 + F has a Lagrangian."""
    r, v, acc = (Matrix([getattr(c, k) if k else c for c in (x, y, z)]) for k in ("", "dot", "ddot"))
    a, *gamma = da.parameters("a gamma1 gamma2 gamma3", positive=True)
    c, size = r.cross(v), sqrt(r.dot(r))
    G = r.dot(r) * eye(3) - r * r.T
    relation = v.cross(c) - a * r / size - Matrix(gamma)
    F = list(relation - G * acc / 2)
    assert small(G.det(), *(G * r))
    expected = -c.dot(c) / 4 + a * size + Matrix(gamma).dot(r)
    assert small(*(Matrix(euler_lagrange(expected, (x, y, z))) - Matrix(F)))
    found = da.inverse.lagrangian(F, [x, y, z], kind="degenerate")
    assert found.verified
    assert small(*(Matrix(euler_lagrange(found.lagrangian, (x, y, z))) - Matrix(F)))
    # the printed Lagrangian c^2/2 + ... has other equations
    printed = c.dot(c) / 2 + a * size + Matrix(gamma).dot(r)
    on_central = dict(zip(acc, 3 * r, strict=True))
    assert small(*(Matrix(F).xreplace(on_central) - relation))
    assert not small(*(Matrix(euler_lagrange(printed, (x, y, z))).xreplace(on_central) - relation))


def test_the_relation_of_laplace_runge_and_lenz_holds_on_keplers_motions():
    m = da.parameters("m", positive=True)
    a = da.parameters("a", positive=True)
    kepler = da.System("kepler", [x, y], kinetic=m * (X**2 + Y**2) / 2, potential=-m * a / sqrt(x**2 + y**2))
    run = da.simulate(
        kepler, da.Reference(), h=0.05, until=8, parameters={m: 2, a: 1.5}, start={x: 1, y: 0, X: 0.1, Y: 1.1}
    )
    r, v = Matrix([x, y, 0]), Matrix([X, Y, 0])
    gamma = v.cross(r.cross(v)) - a * r / sqrt(r.dot(r))
    for e in gamma[:2]:
        values = run.quantity(e)
        assert abs(values - values[0]).max() < 1e-8  # the tolerance of the motion, enlarged along it
    drifting = run.quantity((v.cross(r.cross(v)))[0])
    assert abs(drifting - drifting[0]).max() > 0.1


# the rolling sphere
M, radius, kappa = da.parameters("M radius kappa", positive=True)
x3, x4, x5 = da.coordinates("x3 x4 x5")
SPIN = (
    x3.dot * cos(x5) + x4.dot * sin(x3) * sin(x5),
    x3.dot * sin(x5) - x4.dot * sin(x3) * cos(x5),
    x5.dot + x4.dot * cos(x3),
)


def sphere(U):
    """(5.12'): the equations of Neimark and Fufaev in Euler's angles."""
    v1, v2, v3 = SPIN
    L0 = (M * radius**2 + kappa**2) * (v1**2 + v2**2) / 2 + kappa**2 * v3**2 / 2 + U
    E = euler_lagrange(L0, (x3, x4, x5))
    extra = radius**2 * M * v3 * sin(x3)
    return [E[0] + extra * x4.dot, E[1] - extra * x3.dot, E[2]]


def test_the_rolling_sphere_has_a_global_lagrangian():
    U = -alpha * cos(x3) + mu * sin(x3) * cos(x4)
    D = sphere(U)
    L = (M * radius**2 + kappa**2) * (SPIN[0] ** 2 + SPIN[1] ** 2 + SPIN[2] ** 2) / 2 + U
    share = M * radius**2 / kappa**2
    B = Matrix([[1, 0, 0], [0, 1, share * cos(x3)], [0, 0, 1 + share]])
    assert small(*(Matrix(euler_lagrange(L, (x3, x4, x5))) - B * Matrix(D)))
    assert not da.inverse.helmholtz(D, [x3, x4, x5]).holds
    assert da.inverse.helmholtz(list(B * Matrix(D)), [x3, x4, x5]).holds


@pytest.mark.slow
def test_the_lagrangian_of_the_rolling_sphere_is_found_from_its_equations():
    found = da.inverse.lagrangian(sphere(0), [x3, x4, x5], seconds=PATIENT)
    assert found.verified
    share = M * radius**2 / kappa**2
    ratio = found.multiplier / found.multiplier[0, 0]
    B = Matrix([[1, 0, 0], [0, 1, share * cos(x3)], [0, 0, 1 + share]])
    assert small(*(ratio - B))


# Chaplygin systems
def test_the_missing_condition_of_chaplygin_systems():
    """dz/dt = y dx/dt: the printed condition is empty for two independent velocities, yet they are not self-conjugate."""
    D = [(1 + y**2) * x.ddot + y * X * Y, y.ddot]
    check = da.inverse.helmholtz(D, [x, y])
    assert "second" in {c.name for c in check.failing}
    disc = [(mu + beta) * x.ddot, alpha * y.ddot]  # vertical rolling disc
    assert da.inverse.helmholtz(disc, [x, y]).holds


# metrics
def test_riemann():
    sphere_metric = da.inverse.metric((X**2 + sin(x) ** 2 * Y**2) / 2, [x, y])
    assert (sphere_metric.kind, sphere_metric.is_positive, sphere_metric.is_geodesic) == ("Riemann", True, True)
    right = [e.rhs for e in sphere_metric.geodesic_equations]
    assert small(right[0] - sin(x) * cos(x) * Y**2, right[1] + 2 * cos(x) / sin(x) * X * Y)
    assert da.inverse.metric(X**4 / 12 + Y**2 / 2 + X * Y, [x, y]).kind == "neither"
    assert da.inverse.metric((X + Y) ** 2, [x, y]).kind == "singular"


@pytest.mark.slow
def test_finsler():
    F = sqrt(X**4 + (1 + x**2) * Y**4) + X**2
    finsler = da.inverse.metric(F / 2, [x, y])
    assert finsler.kind == "Finsler"
    C = finsler.cartan_tensor
    v = Matrix([X, Y])
    assert small(*(C[0] * X + C[1] * Y))
    assert small(*(C[i][j, k] - C[j][i, k] for i in range(2) for j in range(2) for k in range(2)))
    moved = {c: e.rhs for c, e in zip((x.ddot, y.ddot), finsler.geodesic_equations, strict=True)}
    assert small(*(e.xreplace(moved) for e in euler_lagrange(F / 2, (x, y))))
    printed = sum(v[k] * sympy.diff(F, v[k], v[j], v[k]) for k in range(2) for j in range(2))
    assert not small(printed)  # the printed contraction has the same index twice


def test_jacobi_metric():
    """Geodesics with constant speed s: with dt = 2 (E - V) ds they are the motions of energy E."""
    E, a = da.parameters("E a", positive=True)
    kepler = da.System("kepler", [x, y], kinetic=(X**2 + x**2 * Y**2) / 2, potential=-a / x)
    jacobi = da.inverse.jacobi_metric(kepler, E)
    assert jacobi.kind == "Riemann"
    speed = 1 / (2 * (E + a / x))  # ds is 2 (E - V) dt, so dq/ds is dq/dt times this
    own = {x.ddot: x * Y**2 - a / x**2, y.ddot: -2 * X * Y / x}
    level = sympy.sqrt((2 * (E + a / x) - X**2) / x**2)
    at = {x: sympy.Rational(3, 2), X: sympy.Rational(1, 3), E: sympy.Rational(1, 4), a: 2}
    for q, e in zip((x, y), jacobi.geodesic_equations, strict=True):
        derived = speed * (speed * own[q.ddot] + speed.diff(x) * X * q.dot)
        left = derived - e.rhs.xreplace({X: speed * X, Y: speed * Y})
        assert abs(left.xreplace({Y: level}).xreplace(at).evalf(40)) < 1e-30
        if q is x:  # another energy; the equation of the cyclic coordinate holds for all
            assert abs(left.xreplace({**at, Y: sympy.Rational(9, 7)}).evalf(40)) > 1e-3


def test_systems_with_forces():
    spring = da.gallery.load("damped-spring").system
    found = da.inverse.lagrangian(spring, seconds=PATIENT)
    assert found.verified
    assert found.exact
    m, lam = da.parameters("m", positive=True), da.parameters("lam", nonnegative=True)
    assert small(found.multiplier[0] * m - exp(lam * t / m))
    coupled = da.System(
        "two oscillators, one damped", [x, y], kinetic=(X**2 + Y**2) / 2,
        potential=alpha * x**2 / 2 + beta * y**2 / 2 + mu * x * y, dissipation=X**2 / 2,
    )  # fmt: skip
    assert da.inverse.lagrangian(coupled).exists is False
