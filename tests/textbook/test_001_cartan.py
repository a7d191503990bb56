"""Cartan's calculus on (x, v, t): Ramirez' (1.1) to (1.7), (2.2) to (2.11), definitions 2.1 to 2.4, consequence 1.1."""

from __future__ import annotations

import random

import numpy as np
import pytest
import sympy
from sympy import cos, exp, sin, sqrt

import dalembert as da
from dalembert.decide.zero import vanishes
from dalembert.errors import ModelError, StartError

x, y, z = da.coordinates("x y z")
k, m, g, a, r0 = da.parameters("k m g a r0", positive=True)
t = da.time
Y = da.cartan.VelocitySpace([x, y])
LINE = da.cartan.VelocitySpace([x])


def expression(rng, basis):
    """A random polynomial with a sine."""
    terms = [rng.randint(-3, 3) * rng.choice(basis) * rng.choice([1, *basis]) for _ in range(3)]
    return sympy.Add(*terms) + rng.randint(0, 2) * sin(rng.choice(basis))


def some(seed, space=Y):
    rng = random.Random(seed)
    return lambda: {s: expression(rng, space.basis) for s in space.basis}


def test_cartan_s_calculus_1_1():
    """d d = 0, L_X d = d L_X, i_X df = X(f), L_X = i_X d + d i_X, L_[X,Y] = [L_X, L_Y]; on forms of degree one and two."""
    space = LINE
    row = some(1, space)
    X, W, alpha, beta = space.field(row()), space.field(row()), space.form(row()), space.form(row())
    f = expression(random.Random(50), space.basis)
    assert alpha.d().d().is_zero
    assert vanishes(space.d(f).interior(X).value - X(f))
    for form in (alpha, alpha.wedge(beta), alpha.d()):
        assert (form.d().lie_derivative(X) - form.lie_derivative(X).d()).is_zero
        assert (form.lie_derivative(X) - form.d().interior(X) - form.interior(X).d()).is_zero
    turned = alpha.lie_derivative(W).lie_derivative(X) - alpha.lie_derivative(X).lie_derivative(W)
    assert (alpha.lie_derivative(X.bracket(W)) - turned).is_zero
    assert not (alpha.lie_derivative(W.bracket(X)) - turned).is_zero  # control: the other sign of the bracket
    assert (alpha.wedge(beta).d() - alpha.d().wedge(beta) + alpha.wedge(beta.d())).is_zero
    assert not (alpha.wedge(beta).d() - alpha.d().wedge(beta) - alpha.wedge(beta.d())).is_zero
    assert vanishes(X.bracket(W)(f) - X(W(f)) + W(X(f)))


def test_coefficients_have_signs():
    form = Y.form({x: y}).wedge(Y.form({y.dot: 1}))
    assert form[x, y.dot] == y == -form[y.dot, x]
    assert form[x, y] == 0
    assert Y.form({x: y}).d()[y, x] == 1
    with pytest.raises(KeyError):
        form[x]


def test_the_velocity_field_and_its_coframe_1_3_to_1_5():
    v = Y.velocity_field({x: -k * x + y.dot, y: t * x.dot})
    assert (v(x), v(y), v(t)) == (x.dot, y.dot, 1)
    assert sympy.expand(v(x.dot) + k * x - y.dot) == 0
    forms = Y.associated(v)
    assert len(forms) == 4
    assert all(form.interior(v).is_zero for form in forms)
    assert (forms[0] - (Y.d(x) - x.dot * Y.d(t))).is_zero
    assert not Y.d(x).interior(v).is_zero
    whole = Y.d(t)
    for form in forms:
        whole = whole.wedge(form)
    assert not whole.is_zero  # with dt a coframe
    assert len(Y.associated(Y.field({x: y}))) == 4


def test_integral_curves_are_the_motion_1_2():
    """Consequence 1.1: the projection of an integral curve of the velocity field is the motion."""
    pendulum = da.System("pendulum", [x], kinetic=x.dot**2 / 2, potential=-k * cos(x))
    curve = LINE.velocity_field(pendulum).integral_curve({x: 1, x.dot: 0}, until=3, points=31, parameters={k: 2})
    run = da.simulate(pendulum, da.DormandPrince8(), h=0.05, until=3, start={x: 1, x.dot: 0}, parameters={k: 2})
    assert curve.ok
    assert np.abs(curve[x] - run.x[::2]).max() < 1e-8
    assert np.abs(curve[t] - run.time[::2]).max() < 1e-12
    still = Y.field({x: -y, y: x}).integral_curve({x: 1, y: 0, x.dot: 7, y.dot: 0}, until=-np.pi)
    assert abs(still[x][-1] + 1) < 1e-9
    assert (still[x.dot] == 7).all()
    ends = LINE.field({x: x**2}).integral_curve({x: 1, x.dot: 0}, until=2)
    assert not ends.ok
    assert ends.parameter[-1] < 1.01


def test_a_constrained_system_has_a_velocity_field():
    particle = da.System(
        "particle", [x, y, z], kinetic=(x.dot**2 + y.dot**2 + z.dot**2) / 2, constraints=[z.dot - y * x.dot]
    )
    space = da.cartan.VelocitySpace([x, y, z])
    v = space.velocity_field(particle)
    on = {z.dot: y * x.dot}
    assert vanishes(v(z.dot - y * x.dot).xreplace(on))
    assert vanishes((v(x.dot) + y * x.dot * y.dot / (1 + y**2)).xreplace(on))
    with pytest.raises(ModelError, match="has multipliers"):
        space.velocity_field(particle.replace(principle=da.Vakonomic()))


# section 2
def lagrange(L, v, space):
    """E_k(L) along a velocity field."""
    return [v(L.diff(q.dot)) - L.diff(q) for q in space.coordinates]


@pytest.mark.parametrize("seed", range(2))
def test_the_master_identity_2_4_and_2_6(seed):
    """L_w i_v theta = i_v d i_w theta + i_Upsilon theta + i_v i_w d theta, and nu = i_w d theta + (i_Upsilon theta) dt."""
    rng = random.Random(seed)
    L = (x.dot**2 + exp(x) * y.dot**2) / 2 + expression(rng, Y.basis) * x.dot
    v = Y.velocity_field({q: expression(rng, Y.basis) for q in (x, y)})
    R = sympy.Matrix(2, 2, lambda *_: expression(rng, Y.basis))
    w = Y.variation({q: expression(rng, Y.basis) for q in (x, y)}, v, R)
    assert w.is_isochronous
    upsilon = w.bracket(v)
    assert upsilon.is_isochronous
    for n, q in enumerate((x, y)):  # (2.14) and the component form of definition 2.1
        assert vanishes(upsilon(q) - sum(R[j, n] * w(c) for j, c in enumerate((x, y))))
        assert vanishes(upsilon(q) - w(q.dot) + v(w(q)))
        assert vanishes(upsilon(q.dot) - w(v(q.dot)) + v(w(q.dot)))
    theta = Y.cartan_form(L)
    assert vanishes(theta.interior(v).value - L)  # (2.3)
    assert vanishes(theta.interior(w).value - sum(L.diff(q.dot) * w(q) for q in (x, y)))
    turned = theta.d().interior(w).interior(v).value
    assert vanishes(w(L) - v(theta.interior(w).value) - theta.interior(upsilon).value - turned)
    assert not vanishes(w(L) - v(theta.interior(w).value) - turned)  # control: without Upsilon
    assert vanishes(turned + sum(e * w(q) for e, q in zip(lagrange(L, v, Y), (x, y), strict=True)))
    nu = theta.d().interior(w) + theta.interior(upsilon).value * Y.d(t)
    assert vanishes(w(L) - v(theta.interior(w).value) - nu.interior(v).value)


def test_the_splitting_of_cartan_s_form():
    """theta = sum lambda theta_alpha + L_alpha dlambda/dv (dx - v dt), multipliers functions of (x, v, t)."""
    chi, factor, L0 = y.dot - x * x.dot**2, sin(x) * y.dot + t, (x.dot**2 + y.dot**2) / 2
    whole = Y.cartan_form(L0 + factor * chi)
    forms = {q: Y.d(q) - q.dot * Y.d(t) for q in (x, y)}
    split = Y.cartan_form(L0) + factor * Y.cartan_form(chi)
    assert not (whole - split).is_zero
    for q in (x, y):
        split = split + (chi * factor.diff(q.dot)) * forms[q]
    assert (whole - split).is_zero


def test_stationary_and_conservative_systems():
    """Definition 2.4. Read literally, Cartan's form of a Lagrangian is closed for rates of functions of (x, t) alone."""
    oscillator = (x.dot**2 - k * x**2) / 2
    assert LINE.is_stationary(oscillator)
    assert not LINE.is_stationary(oscillator * exp(t))
    assert not LINE.is_conservative(oscillator)
    S = sin(x) * t
    rate = S.diff(x) * x.dot + S.diff(t)
    assert LINE.is_conservative(rate)
    assert vanishes(LINE.cartan_form(rate).potential() - S)
    # Hamilton and Jacobi: on a field of extremals the form is dS, on other sections it need not be
    field = {x.dot: sqrt(k) * x * cos(sqrt(k) * t) / sin(sqrt(k) * t)}
    assert LINE.is_conservative(oscillator, field)
    theta = LINE.cartan_form(oscillator).pulled_back(field)
    action = theta.potential()
    assert vanishes(action.diff(t) + (action.diff(x) ** 2 + k * x**2) / 2)
    assert not LINE.is_conservative(oscillator, {x.dot: x * t})


def test_where_the_form_is_closed_upsilon_keeps_its_function():
    """End of section 3: theta = dpsi gives i_Upsilon theta = Upsilon(psi), for any variation."""
    S = x**2 * y + t * y
    v = Y.velocity_field({x: -x, y: x * y.dot})
    w = Y.variation({x: sin(t) * y, y: x}, v, [[x, y], [1, t]])
    L = S.diff(x) * x.dot + S.diff(y) * y.dot + S.diff(t)
    upsilon = w.bracket(v)
    assert vanishes(Y.cartan_form(L).interior(upsilon).value - upsilon(S))


# the Upsilon principle in numbers
APPELL = da.gallery.load("appell-device").system
px, py, pz = APPELL.coordinates
NUMBERS = {"m": 2.0, "g": 9.81, "a": 0.7}


def appell():
    """The motion of Appell's device in closed form, and the Lagrangian with the document's multiplier."""
    names = {p.name: p for p in APPELL.parameters}
    mass, weight, share = names["m"], names["g"], names["a"]
    sigma = r0 * t - share * weight * t**2 / (2 * (1 + share**2))
    curve = {px: sigma * sympy.Rational(3, 5), py: sigma * sympy.Rational(4, 5), pz: share * sigma}
    chi = pz.dot - share * sqrt(px.dot**2 + py.dot**2)
    free = mass * (px.dot**2 + py.dot**2 + pz.dot**2) / 2 - mass * weight * pz
    return curve, free - mass * weight * t * chi / (1 + share**2), free, {**NUMBERS, "r0": 8.0}


BUMP = (t * (1 - t)) ** 2
SOME = {px: BUMP * (1 + t), py: BUMP * cos(3 * t), pz: BUMP * sin(2 * t)}


def test_the_upsilon_principle_along_a_motion_of_appell_s_device():
    """Theorem 2.1: with [w, v] = Upsilon the action is stationary for all displacements that vanish at the ends."""
    curve, L, free, numbers = appell()
    R = da.Upsilon().fields(APPELL).R
    found = da.cartan.first_variation(L, curve, SOME, between=(0, 1), R=R, parameters=numbers)
    assert abs(found.varied) < 1e-12
    assert abs(found.inner) < 1e-12
    assert abs(found.slope) < 1e-8
    assert found.error < 1e-12
    without = da.cartan.first_variation(free, curve, SOME, between=(0, 1), R=R, parameters=numbers)
    assert abs(without.varied) > 1e-3  # control: without the constraint in L
    beside = {**curve, px: curve[px] + t**2 / 10}
    assert abs(da.cartan.first_variation(L, beside, SOME, between=(0, 1), R=R, parameters=numbers).varied) > 1e-3


def test_the_boundary_term_of_theorem_2_1():
    """int w(L) dt = [i_w theta] + int (i_Upsilon theta - E w) dt for any curve, displacement and R."""
    R = sympy.Matrix([[x, x.ddot], [y.dot, t]])
    L = (x.dot**2 + (1 + x**2) * y.dot**2) / 2 - k * cos(y)
    curve, w = {x: sin(2 * t), y: t + t**2}, {x: 1 + t, y: exp(t)}
    found = da.cartan.first_variation(L, curve, w, between=(0.2, 1.7), R=R, parameters={k: 0.7})
    assert abs(found.varied - found.boundary - found.inner) < 1e-9 * abs(found.varied)
    assert abs(found.boundary) > 1
    assert abs(found.slope - found.varied) < 1e-6 * abs(found.varied)
    plain = da.cartan.first_variation(L, curve, w, between=(0.2, 1.7), parameters={k: 0.7})
    assert abs(plain.varied - found.varied) > 1e-3 * abs(found.varied)


def test_commuting_variations_of_a_nonholonomic_motion_do_not_leave_the_action_stationary():
    """z' = y x': the motion of d'Alembert's principle is stationary for [w, v] = Upsilon and not for [w, v] = 0."""
    particle = da.System(
        "particle", [x, y, z], kinetic=(x.dot**2 + y.dot**2 + z.dot**2) / 2, constraints=[z.dot - y * x.dot]
    )
    # y = t, x' = 1/sqrt(1 + t^2), z' = t x'; the multiplier of L + mu chi has the rate -lambda
    root = sqrt(1 + t**2)
    curve = {x: sympy.asinh(t), y: t, z: root}
    w = {x: BUMP, y: BUMP * sin(t), z: BUMP * (1 + t)}
    L0 = (x.dot**2 + y.dot**2 + z.dot**2) / 2
    rate = sympy.simplify(-curve[z].diff(t, 2))
    mu = sympy.integrate(rate, t)
    chi = z.dot - y * x.dot
    R = da.Upsilon().fields(particle).R
    assert abs(da.cartan.first_variation(L0 + mu * chi, curve, w, between=(0, 1), R=R).varied) < 1e-12
    assert abs(da.cartan.first_variation(L0 + mu * chi, curve, w, between=(0, 1)).varied) > 1e-4


MESSAGES = [
    (lambda: Y.field({z: 1}), ModelError, "z is none of the variables x, y, x.dot, y.dot, t"),
    (lambda: Y.field([1, 2]), ModelError, "Expected {variable: expression}"),
    (lambda: Y.form({x: z}), ModelError, "unknown symbol z"),
    (lambda: Y.velocity_field({x: 0}), ModelError, "an acceleration for each of x, y"),
    (lambda: Y.velocity_field(APPELL), ModelError, "has other coordinates"),
    (lambda: Y.field({x: 1}).bracket(LINE.field({x: 1})), ModelError, "Expected both on the same space"),
    (lambda: Y.d(x) + Y.d(x).wedge(Y.d(y)), ModelError, "Expected the same degree"),
    (lambda: Y.d(x).value, ModelError, "contract it with fields"),
    (lambda: Y.form({x: y}).potential(), ModelError, "is not closed"),
    (lambda: Y.d(x).pulled_back({x.dot: 1}), ModelError, "an expression for each of x.dot, y.dot"),
    (lambda: Y.d(x).pulled_back({x.dot: y.dot, y.dot: 1}), ModelError, "unknown symbol y.dot"),
    (lambda: Y.associated(Y.field({})), ModelError, "the field is zero"),
    (lambda: Y.variation({z: 1}, Y.velocity_field({x: 0, y: 0})), ModelError, "z is none of the coordinates"),
    (lambda: Y.variation({x: 1}, Y.velocity_field({x: 0, y: 0}), [[1]]), ModelError, "a matrix of 2 rows"),
    (lambda: da.cartan.VelocitySpace([da.rotation("R")]), ModelError, "R"),
    (lambda: LINE.field({x: 1}).integral_curve({x: 1}, until=1), StartError, "no value for x.dot"),
    (lambda: LINE.field({x: k}).integral_curve({x: 1, x.dot: 0}, until=1), StartError, "no value for k"),
    (lambda: LINE.field({x: 1}).integral_curve([1], until=1), StartError, "Expected a number for each"),
    (lambda: LINE.field({x: 1}).integral_curve({x: 1, x.dot: 0, y: 1}, until=1), StartError, "contains y"),
    (lambda: da.cartan.first_variation(x.dot, {}, {}, between=(0, 1)), ModelError, "an expression in time for each"),
    (lambda: da.cartan.first_variation(x.dot, {x: t}, {y: 1}, between=(0, 1)), ModelError, "y is none of the coord"),
    (lambda: da.cartan.first_variation(x.dot, {x: t}, {x: x}, between=(0, 1)), ModelError, "unknown symbol x"),
    (lambda: da.cartan.first_variation(x.dot, {x: t}, {x: t}, between=(1, 0)), StartError, "the earlier one first"),
    (lambda: da.cartan.first_variation(k * x.dot, {x: t}, {x: t}, between=(0, 1)), StartError, "k has no value"),
    (lambda: da.cartan.first_variation(x.dot, {x: sqrt(t)}, {x: t}, between=(-2, -1)), StartError, "no finite value"),
    (lambda: da.cartan.first_variation(1 / x.dot, {x: t**2}, {x: t}, between=(-1, 1)), StartError, "does not converge"),
]  # fmt: skip


@pytest.mark.parametrize("call, kind, message", MESSAGES, ids=range(len(MESSAGES)))
def test_messages(call, kind, message):
    with pytest.raises(kind) as error:
        call()
    assert message in str(error.value)


def test_they_show_themselves():
    assert "x.dot*x" in str(Y.form({x: x * x.dot})) or "x*x.dot" in str(Y.form({x: x * x.dot}))
    assert "d/d(x)" in str(Y.field({x: y}))
    assert repr(Y) == "VelocitySpace([x, y])"
    assert "converged" in repr(LINE.field({x: 1}).integral_curve({x: 0, x.dot: 0}, until=1))
