"""Models of constrained motion: the reference numbers of digest 001, appendix B, its examples 4.1, 4.2, 4.4 and 4.6, and the
corrected formulas of its appendix A, each beside the printed one, which must fail.
"""

import numpy as np
import pytest
import sympy
from scipy.interpolate import make_interp_spline
from scipy.optimize import brentq

import dalembert as da
from dalembert import cos, sin, sqrt
from dalembert.decide.zero import vanishes
from dalembert.symbolic import fast
from dalembert.theory.conserved.on_shell import shell
from dalembert.theory.models.moving_multipliers import multipliers_exist

x, y, z, theta, phi = da.coordinates("x y z theta phi")
m, g, a, b = da.parameters("m g a b", positive=True)
POINT = {x: 0.3, y: 0.7, z: 0, x.dot: 1, y.dot: 0.5}
SKATE = z.dot - y * x.dot
AFFINE = SKATE + x / 2
PRODUCT = z.dot - x.dot * y.dot
SCALE = 2 + sin(x) + x.dot**2
LINDELOF = da.Upsilon(completion=[x.dot, y.dot])


WEIGHT = da.Rational(98, 10) * z


def particle(constraint, principle=None, potential=WEIGHT, **more):
    kinetic = (x.dot**2 + y.dot**2 + z.dot**2) / 2
    return da.System(
        "particle",
        [x, y, z],
        kinetic=kinetic,
        potential=potential,
        constraints=[constraint],
        principle=principle,
        **more,
    )


def numbers(constraint, vz, principle=None):
    found = da.evaluate(particle(constraint, principle), at={**POINT, z.dot: vz})
    return [*found.accelerations.values(), -found.multipliers[0]]  # the table has mu with E_k(L0) + ... + mu P_k = 0


# -------------------- appendix B --------------------

CHETAEV_ROW = (-4.8389261745, 0, -2.8872483221)
LINDELOF_ROW = (-5.0738255034, 0.7, -3.0516778523)
TABLE = [
    (SKATE, 0.7, None, (*CHETAEV_ROW, -6.9127516779)),
    (SKATE, 0.7, da.Upsilon(), (*CHETAEV_ROW, -6.9127516779)),
    (SKATE, 0.7, LINDELOF, (*LINDELOF_ROW, -6.7483221477)),
    (AFFINE, 0.55, None, (-4.6040268456, 0, -3.2228187919, -6.5771812081)),
    (AFFINE, 0.55, da.Upsilon(), (-4.5364623215, -0.1006711409, -3.1755236251, -6.6244763749)),
    (PRODUCT, 0.5, None, (-2.1777777778, -4.3555555556, -5.4444444444, -4.3555555556)),
    (PRODUCT, 0.5, da.Upsilon(), (-2.9212738853, -4.4942675159, -5.9549044586, -3.8450955414)),
    (PRODUCT, 0.5, LINDELOF, (0, -4.9, -4.9, -4.9)),
    (SKATE, 0.7, da.Upsilon(completion=[x.dot + y * z.dot, y.dot]), (-4.604026846, -0.7, -2.722818792, -6.577181208)),
    (SKATE, 0.7, da.Upsilon(completion=[z.dot, y.dot]), (-4.359539789, -1.428571429, -2.551677852, -7.248322148)),
]


@pytest.mark.parametrize("constraint, vz, principle, expected", TABLE)
def test_accelerations_and_multipliers(constraint, vz, principle, expected):
    assert numbers(constraint, vz, principle) == pytest.approx(list(expected), abs=1e-9)


@pytest.mark.parametrize(
    "principle, expected", [(None, CHETAEV_ROW), (da.Upsilon(), CHETAEV_ROW), (LINDELOF, LINDELOF_ROW)]
)
def test_a_constraint_may_be_multiplied_by_a_function(principle, expected):
    """Accelerations stay and the multiplier changes. Without T, (1.6) as first written, they would change by 0.21."""
    found = numbers(SCALE * SKATE, 0.7, principle)
    assert found[:3] == pytest.approx(list(expected), abs=1e-9)
    assert abs(found[3] - numbers(SKATE, 0.7, principle)[3]) > 1
    if principle is LINDELOF:
        bent = lagrange(SCALE * SKATE)  # E_k(v) p without T: the factor 1/(2 + sin x + x.dot^2) is missing
        without = da.Upsilon({q: e * z.dot for q, e in zip((x, y, z), bent, strict=True)})
        assert np.abs(np.array(numbers(SCALE * SKATE, 0.7, without)[:3]) - expected).max() > 0.2


def test_exact_constraints_give_one_motion():
    exact = z.dot - y * x.dot - x * y.dot + b
    models = (None, da.Upsilon(), LINDELOF)
    runs = [da.evaluate(particle(exact, p), at={**POINT, z.dot: 0.7 + 0.15 - 0.2}, parameters={b: 0.2}) for p in models]
    for r in runs[1:]:
        assert list(r.accelerations.values()) == pytest.approx(list(runs[0].accelerations.values()), abs=1e-12)
    assert da.compare_models(particle(exact)).lagrangian.holds


def test_the_disc_on_an_incline():
    """Chetaev = minimal = commuting velocities."""
    penny = da.gallery.load("penny-on-incline")
    free = [q.dot for q in penny.system.coordinates[2:]]
    for principle in (None, da.Upsilon(), da.Upsilon(completion=free)):
        found = da.evaluate(penny.system.replace(principle=principle), at=penny.start, parameters=penny.parameters)
        expected = (-2.0897689116, 0.7580449711, -1.3580066791, 0)
        assert list(found.accelerations.values()) == pytest.approx(list(expected), abs=1e-9)
        assert [-e for e in found.multipliers] == pytest.approx([-0.5021848336, -1.1370674567], abs=1e-9)


def test_functions_phi_switch_between_the_models():
    """1.6: Chetaev is Phi = -c E(chi); the commuting velocities are Phi = E(v) T p - c E(chi)."""
    for constraint, vz in ((AFFINE, 0.55), (PRODUCT, 0.5), (SCALE * PRODUCT, 0.5)):
        fields = da.Upsilon().fields(particle(constraint))
        bent = lagrange(constraint)
        chetaev = {q: -fields.components[0] * e for q, e in zip((x, y, z), bent, strict=True)}
        slope = constraint.diff(z.dot)
        commuting = {q: chetaev[q] + e * z.dot / slope for q, e in zip((x, y, z), bent, strict=True)}
        assert numbers(constraint, vz, da.Upsilon(chetaev)) == pytest.approx(numbers(constraint, vz), abs=1e-10)
        assert numbers(constraint, vz, da.Upsilon(commuting)) == pytest.approx(
            numbers(constraint, vz, LINDELOF), abs=1e-10
        )


# -------------------- R and Upsilon: theorems 3.1 and 3.2 --------------------

Q, t = (x, y, z), da.time


def rate(f):
    """df/dt with accelerations; written here, not taken from the library."""
    return f.diff(t) + sum(f.diff(q) * q.dot + f.diff(q.dot) * q.ddot for q in Q)


def lagrange(f):
    return [sympy.expand(rate(f.diff(q.dot)) - f.diff(q)) for q in Q]


S2 = da.System(
    "two constraints", [x, y, z], kinetic=(x.dot**2 + 2 * y.dot**2 + (3 + x**2) * z.dot**2) / 2,
    potential=g * x * z, constraints=[z.dot - y * x.dot + sin(t), y.dot - x.dot * z],
)  # fmt: skip


@pytest.mark.parametrize("principle", [
    da.Upsilon(), da.Upsilon({x: y * x.dot, z: 2 * y.ddot - 1}), da.Upsilon(completion=[x.dot * (1 + y**2)]),
], ids=["minimal", "Phi", "completed"])  # fmt: skip
def test_variations_keep_every_constraint(principle):
    """E_k(chi) = R_k^n dchi/dv^n: (2.17). Printed, (3.2) and (3.14) have the other sign."""
    fields = principle.fields(S2)
    for c in fields.functions:
        assert all(vanishes(e) for e in fields.kept(c))
        bent = [c.diff(v) for v in S2.velocities]
        other = [e + sum(fields.R[k, n] * bent[n] for n in range(3)) for k, e in enumerate(lagrange(c))]
        assert not all(vanishes(e) for e in other)


def test_gram_and_schmidt_give_the_same_as_gram_s_matrix():
    """(3.11)-(3.14'): R = psi e, with psi divided by |xi|; printed, (3.13) is not."""
    fields = da.Upsilon().fields(S2)
    e, psi, G = fields.orthonormal, fields.psi, fields.metric
    assert all(vanishes(entry) for entry in e * G * e.T - sympy.eye(2))
    assert all(vanishes(entry) for entry in psi.T * e - fields.R)
    rows = sympy.Matrix([[f.diff(v) for v in S2.velocities] for f in fields.functions])
    lengths = [sympy.sqrt((rows[0, :] * G.inv() * rows[0, :].T)[0])]
    printed = psi.copy()
    printed[0, :] = psi[0, :] * lengths[0]
    assert not all(vanishes(entry) for entry in printed.T * e - fields.R)
    p = sympy.Matrix([S2.lagrangian.diff(v) for v in S2.velocities])
    omega = e * p  # Omega_a = e_a p, and sum psi_a Omega_a = c_b E(chi_b)
    bent = sympy.Matrix([lagrange(f) for f in fields.functions])
    assert all(vanishes(entry) for entry in psi.T * omega - bent.T * sympy.Matrix(fields.components))


def test_the_equations_of_the_fields_are_those_of_the_system():
    """(2.15') E_k(L) - R_k^n p_n: printed with R_n^k. For Phi too."""
    for principle in (da.Upsilon(), da.Upsilon({x: y * x.dot, z: 2 * y.ddot - 1}), da.Upsilon(completion=[x.dot])):
        fields = principle.fields(S2)
        plain = S2.replace(principle=principle).equations().lagrange
        for mine, other in zip(fields.equations, plain, strict=True):
            assert vanishes(fast(mine.lhs - mine.rhs) - fast(other.lhs - other.rhs))
    p = sympy.Matrix([S2.lagrangian.diff(v) for v in S2.velocities])
    transposed = fields.R.T * p - fields.R * p
    assert not all(vanishes(e) for e in transposed)


def test_upsilon_is_the_defect_of_commutation():
    fields = da.Upsilon(completion=[x.dot, y.dot]).fields(particle(SKATE))
    dx, dy = x.displacement, y.displacement
    assert fields.upsilon == {x: 0, y: 0, z: sympy.expand(x.dot * dy - y.dot * dx)}
    assert not fields.is_canonical and da.Upsilon().fields(particle(z.dot - x.dot)).is_canonical


@pytest.mark.parametrize("constraint", [AFFINE, PRODUCT + sin(t) * x], ids=["affine", "nonlinear, of time"])
def test_hamiltonian_form(constraint):
    """(2.18) with the equation of the multiplier along a computed motion: dp/dt = -dH/dx + R p, p = d(L + mu chi)/dv."""
    system = particle(constraint, da.Upsilon())
    fields = da.Upsilon().fields(system)
    start = {**POINT, z.dot: 0.55 if constraint is AFFINE else 0.5}
    run = da.simulate(system, da.DormandPrince8(), h=0.005, steps=80, start=start)
    (reaction,) = fields.multiplier_equations
    lam = run.quantity(reaction.rhs)
    assert run.multipliers[:, 0] == pytest.approx(lam, rel=1e-8)
    h, nodes = 0.005, slice(12, -12)
    mu = 0.3 - make_interp_spline(run.time, lam, k=7).antiderivative()(run.time)
    p = np.array([run[q.dot] + mu * run.quantity(constraint.diff(q.dot)) for q in Q])
    accelerations = [derivative(run[q.dot], h) for q in Q]
    names = [*Q, *(q.momentum for q in Q), *fields.multipliers, *(q.ddot for q in Q), t]
    at = [*(run[q] for q in Q), *p, mu, *accelerations, run.time]
    for k, q in enumerate(Q):
        f = sympy.lambdify(names, fields.momentum_rates[q.momentum], "numpy")(*at)
        assert (derivative(p[k], h) - f)[nodes] == pytest.approx(0, abs=2e-7)
        v = sympy.lambdify(names, fields.velocities[q], "numpy")(*at)
        assert v == pytest.approx(run[q.dot], abs=1e-12)
    canonical = sympy.lambdify(names, -fields.hamiltonian.diff(x), "numpy")(*at)
    assert np.abs(derivative(p[0], h) - canonical)[nodes].max() > 1e-3


def derivative(values, h):
    """By a spline of order seven, whose ends are not used."""
    times = h * np.arange(len(values))
    return make_interp_spline(times, values, k=7).derivative()(times)


def test_isokinetic_motion_is_not_determined_by_the_minimal_model():
    """3.6: c = 1 and d2L/dv2 - c d2chi/dv2 = 0; Chetaev's model is regular."""
    speed = (x.dot**2 + y.dot**2 + z.dot**2 - 1) / 2
    for constraint in (speed, sqrt(x.dot**2 + y.dot**2 + z.dot**2) - 1):
        with pytest.raises(da.ModelError, match="leaves accelerations undetermined"):
            particle(constraint, da.Upsilon())
    ideal = particle(speed)
    v = np.array([0.48, 0.6, 0.64])
    found = da.evaluate(ideal, at={x: 0, y: 0, z: 0, x.dot: v[0], y.dot: v[1], z.dot: v[2]})
    slope = np.array([0, 0, 9.8])
    assert list(found.accelerations.values()) == pytest.approx(list(-slope + (v @ slope) * v), abs=1e-12)


# -------------------- 4.1, 4.2: Appell's device --------------------

APPELL = da.gallery.load("appell-device")
STEEP = [da.DormandPrince8(), da.Reference(), da.GeometricNonholonomic(), da.McLachlanPerlmutter()]


def test_appell_at_a_state():
    found = da.evaluate(APPELL.system, at=APPELL.start, parameters=APPELL.parameters)
    assert list(found.accelerations.values()) == pytest.approx([-4.4049224516, 1.3553607543, -3.2261073826], abs=1e-9)


@pytest.mark.parametrize("principle", [None, da.Upsilon()], ids=["Chetaev", "minimal"])
@pytest.mark.parametrize("method", STEEP, ids=repr)
def test_appell_s_closed_form(method, principle):
    system = APPELL.system.replace(principle=principle)
    if not method.takes(system):
        pytest.skip("takes reactions at nodes only")
    run = da.simulate(system, method, h=0.005, until=0.28, start=APPELL.start, parameters=APPELL.parameters)
    names = {p.name: v for p, v in APPELL.parameters.items()}
    exact = APPELL.exact(run.time, names, {s.name: v for s, v in APPELL.start.items()})
    assert max(np.abs(run[q] - exact[q.name]).max() for q in Q) < 1e-10


def test_appell_s_corrected_integrals_are_kept_and_the_printed_ones_drift():
    """(3.24'), (3.25'): m + m a g t/((1 + a^2) r) and m z.dot + m g t - m g t/(1 + a^2)."""
    run = da.simulate(APPELL.system, da.DormandPrince8(), h=0.005, until=0.28, start=APPELL.start,
                      parameters=APPELL.parameters)  # fmt: skip
    for invariant in APPELL.invariants.values():
        assert np.ptp(run.quantity(invariant)) < 1e-12
    m, g, a = (next(p for p in APPELL.parameters if p.name == n) for n in "mga")
    r = sqrt(x.dot**2 + y.dot**2)
    printed = [
        x.dot * (m + a * g * t / ((1 + a**2) * r)), z.dot * (m - m * g * t / (1 + a**2)) - m * g * t,
        APPELL.invariants["first integral along x"] - 2 * x.dot * m * a * g * t / ((1 + a**2) * r),
    ]  # fmt: skip
    assert min(np.ptp(run.quantity(e)) for e in printed) > 0.1


@pytest.mark.parametrize("method", STEEP, ids=repr)
def test_appell_s_device_stops_where_r_is_zero(method):
    """With a status, not a crash, and before the singular end; an event stops it where it is told to."""
    end = np.hypot(1.3, 0.4) * 1.49 / (0.7 * 9.81)
    run = da.simulate(
        APPELL.system, method, h=0.01, until=0.5, start=APPELL.start, parameters=APPELL.parameters, strict=False
    )
    assert not run.ok and run.status in (da.Status.LEFT_DOMAIN, da.Status.NO_SOLUTION)
    assert abs(run.time[np.isfinite(run.x)][-1] - end) < 0.011 and not np.isfinite(run.x[-1])
    with pytest.raises(da.SimulationError):
        da.simulate(APPELL.system, method, h=0.01, until=0.5, start=APPELL.start, parameters=APPELL.parameters)
    if method == da.Reference():
        return  # it has no events
    slow = da.Event(x.dot**2 + y.dot**2 - da.Rational(1, 100), "stop", name="nearly at rest")
    run = da.simulate(
        APPELL.system, method, h=0.01, until=0.5, start=APPELL.start, parameters=APPELL.parameters, events=[slow]
    )
    assert run.ok and run.events[-1].time == pytest.approx(end - 0.1 * 1.49 / (0.7 * 9.81), abs=1e-8)


def test_appell_is_lagrangian_with_the_document_s_multiplier():
    """Consequence 3.7: L0 - m (g t + kappa chi) chi/(1 + a^2), kappa = 1, keeps chi = 0 without constraints."""
    run = da.simulate(APPELL.system, da.DormandPrince8(), h=0.005, until=0.25, start=APPELL.start,
                      parameters=APPELL.parameters)  # fmt: skip
    m, g, a = (next(p for p in APPELL.parameters if p.name == n) for n in "mga")
    chi = APPELL.system.constraints[0].expression
    for kappa in (1, 2, da.Rational(1, 4)):
        L = APPELL.system.lagrangian - m * (g * t + kappa * chi) * chi / (1 + a**2)
        free = da.System("free", [x, y, z], lagrangian=L)
        other = da.simulate(
            free, da.DormandPrince8(), h=0.005, until=0.25, start=APPELL.start, parameters=APPELL.parameters
        )
        assert np.abs(other.table("position") - run.table("position")).max() < 1e-10
    with pytest.raises(da.ModelError, match="the mass matrix is singular"):  # degenerate for kappa = 1/2
        da.System("half", [x, y, z], lagrangian=APPELL.system.lagrangian - m * (g * t + chi / 2) * chi / (1 + a**2))


@pytest.mark.parametrize("dimensions", [3, 4, 5, 6])
def test_appell_in_more_dimensions(dimensions):
    """(5.8), (5.9'): x.ddot = -g0 q x.dot/((1 + q^2) r), r.dot = -g0 q/(1 + q^2); Chaplygin's form has the factor q (5.6')."""
    example = da.gallery.load("appell-in-dimensions", dimensions=dimensions)
    system, q = example.system, example.system.coordinates
    assert da.classify(system).functions[0].velocities == "homogeneous"
    for principle in (None, da.Upsilon()):
        run = da.simulate(system.replace(principle=principle), da.DormandPrince8(), h=0.02, until=1, start=example.start,
                          parameters=example.parameters)  # fmt: skip
        names = {p.name: v for p, v in example.parameters.items()}
        exact = example.exact(run.time, names, {s.name: v for s, v in example.start.items()})
        assert max(np.abs(run[c] - exact[c.name]).max() for c in q) < 1e-10
        assert all(np.ptp(run.quantity(e)) < 1e-12 for e in example.invariants.values())
    form = da.hamel(system)
    share, g0 = (next(p for p in example.parameters if p.name == n) for n in ("q", "g0"))
    r2 = sum(c.dot**2 for c in q[:-1])
    bent = sum(c.dot * c.ddot for c in q[:-1])
    for c, equation in zip(q[:-1], form.reduced, strict=True):
        corrected = c.ddot + share**2 * bent * c.dot / r2 + g0 * share * c.dot / sqrt(r2)
        assert vanishes(equation.lhs - equation.rhs - corrected)
        assert not vanishes(equation.lhs - equation.rhs - corrected + (share - 1) * g0 * c.dot / sqrt(r2))


# -------------------- 4.4: the rolling sphere --------------------


def test_the_rolling_sphere_is_lagrangian():
    """E = B D with det B = 1 + M a^2/k2; the motions of the ball and of the Lagrangian agree to 1e-10."""
    ball, body = (da.gallery.load(n) for n in ("rolling-sphere", "rolling-sphere-lagrangian"))
    run, other = (
        da.simulate(e.system, da.DormandPrince8(), h=0.01, until=3, start=e.start, parameters=e.parameters)
        for e in (ball, body)
    )
    q = body.system.coordinates
    assert max(np.abs(run[c] - other[c]).max() for c in q) < 1e-10
    for r, e in ((run, ball), (other, body)):
        assert all(np.ptp(r.quantity(i)) < 1e-10 for i in e.invariants.values())
    form = da.hamel(ball.system)
    assert [c.name for c in form.vanishing] == ["c_x", "c_y"] and form.kind == "Chaplygin"
    M, k2, radius = (next(p for p in ball.parameters if p.name == n) for n in ("M", "k2", "a"))
    rates = dict(zip((u for u in form.velocities if u not in form.vanishing), q, strict=True))
    into = {s: w for u, c in rates.items() for s, w in ((u, c.dot), (u.dot, c.ddot))}
    D = sympy.Matrix([(e.lhs - e.rhs).xreplace(into) for e in form.reduced])
    E = sympy.Matrix([e.lhs - e.rhs for e in body.system.equations().lagrange])
    c = M * radius**2 / k2
    for sign, agrees in ((1, True), (-1, False)):
        B = sympy.Matrix([[1, 0, 0], [0, 1, sign * c * cos(q[0])], [0, 0, 1 + c]])
        assert vanishes(B.det() - 1 - c)
        assert all(vanishes(e) for e in E - B * D) == agrees


# -------------------- 4.6: Chaplygin systems --------------------


def test_the_trap_after_3_7():
    """Commuting independent velocities give Lindelof's equations, those of L with the constraint inserted: not the motion."""
    system = particle(SKATE, potential=0)
    compared = da.compare_models(system)
    assert compared.agrees("Upsilon, minimal") and compared.agrees("commuting velocities") is False
    assert compared.lagrangian.holds is False
    form = da.hamel(system)
    assert form.kind == "Chaplygin" and [u.name for u in form.vanishing] == ["c_z"]
    vx, vy, _ = form.velocities
    expected = [(1 + y**2) * vx.dot + y * vx * vy, vy.dot]
    assert all(vanishes(e.lhs - e.rhs - w) for e, w in zip(form.reduced, expected, strict=True))
    lindelof = particle(SKATE, LINDELOF, potential=0)
    inserted = da.System("inserted", [x, y], kinetic=((1 + y**2) * x.dot**2 + y.dot**2) / 2)
    at = {x: 0.3, y: 0.7, x.dot: 1, y.dot: 0.5}
    wrong = da.evaluate(lindelof, at={**at, z: 0, z.dot: 0.7}).accelerations
    plain = da.evaluate(inserted, at=at).accelerations
    assert [wrong[x], wrong[y]] == pytest.approx([plain[x], plain[y]], rel=1e-12)
    assert plain[x] == pytest.approx(-2 * 0.7 * 0.5 / 1.49) and plain[y] == pytest.approx(0.7)
    right = da.evaluate(system, at={**at, z: 0, z.dot: 0.7}).accelerations
    assert right[x] == pytest.approx(-0.7 * 0.5 / 1.49) and right[y] == pytest.approx(0, abs=1e-15)


def helmholtz(F, q):
    """The conditions of Helmholtz (4.29'), residuals that do not vanish."""

    def d(f):
        third = [sympy.Symbol(f"{c}.third") for c in q]
        moving = zip(q, third, strict=True)
        return sum(f.diff(c) * c.dot + f.diff(c.dot) * c.ddot + f.diff(c.ddot) * w for c, w in moving)

    found = []
    for i, e in enumerate(q):
        for j, k in enumerate(q):
            found += [
                F[i].diff(k.ddot) - F[j].diff(e.ddot),
                d(F[i].diff(k.ddot)) - (F[i].diff(k.dot) + F[j].diff(e.dot)) / 2,
                d(F[i].diff(k.dot) - F[j].diff(e.dot)) - 2 * (F[i].diff(k) - F[j].diff(e)),
            ]
    return [r for r in found if not vanishes(r)]


def test_the_missing_condition_of_the_chaplygin_example():
    """With two independent velocities the printed condition is empty, and yet z.dot = y x.dot is not self-conjugate."""
    skate = da.hamel(particle(SKATE + 0 * x.dot**2, potential=0))
    disc = da.hamel(da.gallery.load("rolling-disk").system)
    for form, agrees in ((skate, False), (disc, True)):
        free = [u for u in form.velocities if u not in form.vanishing]
        q = [next(c for c in form.system.coordinates if f"v_{c.name}" == u.name) for u in free]
        into = {s: w for u, c in zip(free, q, strict=True) for s, w in ((u, c.dot), (u.dot, c.ddot))}
        F = [(e.lhs - e.rhs).xreplace(into) for e in form.reduced]
        assert (not helmholtz(F, q)) == agrees
    conditions = da.compare_models(particle(SKATE, potential=0)).chaplygin
    assert conditions.printed and not conditions.missing and not conditions.is_self_conjugate
    conditions = da.compare_models(da.gallery.load("rolling-disk").system).chaplygin
    assert conditions.printed and conditions.missing and conditions.is_self_conjugate


def test_the_rolling_disc_is_lagrangian_and_its_vakonomic_flow_contains_it():
    disc = da.gallery.load("rolling-disk")
    compared = da.compare_models(disc.system)
    assert all(compared.agrees(n) for n in ("Upsilon, minimal", "commuting velocities", "vakonomic"))
    m, (X, Y, _, _) = next(p for p in disc.parameters if p.name == "m"), disc.system.coordinates
    assert [sympy.expand(e) for e in compared.lagrangian.multipliers] == [-m * X.dot, -m * Y.dot]
    motions = compared.motions(start=disc.start, parameters=disc.parameters, h=0.02, until=2)
    assert max(motions.distance(n).max() for n in motions.runs) < 1e-11
    other = compared.motions(start=disc.start, parameters=disc.parameters, h=0.02, until=2, multipliers=[0, 0])
    assert other.distance("vakonomic").max() > 0.1
    incline = da.compare_models(da.gallery.load("penny-on-incline").system)
    assert incline.agrees("vakonomic") is False and incline.agrees("commuting velocities")
    assert incline.lagrangian.freedom == 1 and "contradicts its derivatives" in incline.lagrangian.reason


@pytest.mark.parametrize("name, exist", [("rolling-disk", True), ("appell-device", True), ("nonholonomic-particle", False),
                                         ("rolling-sphere", False), ("penny-on-incline", False)])  # fmt: skip
def test_whether_multipliers_exist_by_differentiation(name, exist):
    """The condition (3.23) and its derivatives along the motion; without a formula for the multipliers."""
    system = da.gallery.load(name).system
    states = [s.point for s in shell(system).exact_states(3)]
    found, where = multipliers_exist(system, range(len(system.constraints)), states)
    assert found is exist and (where is not None) == (not exist)


def test_multipliers_of_the_penny_along_its_motion():
    """mu E(chi) = kappa P and mu' = -kappa - lambda: on the level one start keeps the first, on the incline none does."""
    for name, kept in (("rolling-disk", True), ("penny-on-incline", False)):
        example = da.gallery.load(name)
        system, h = example.system, 0.01
        q, forms = system.coordinates, [c.expression for c in system.constraints]
        run = da.simulate(system, da.DormandPrince8(), h=h, until=1, start=example.start, parameters=example.parameters)

        def table(entries, run=run):
            columns = [[np.broadcast_to(run.quantity(e), run.time.shape) for e in row] for row in entries]
            return np.moveaxis(np.array(columns), 2, 0).swapaxes(1, 2)

        P = table([[f.diff(v) for v in system.velocities] for f in forms])
        E = table([[sum(f.diff(c.dot).diff(d) * d.dot for d in q) - f.diff(c) for c in q] for f in forms])
        share = np.linalg.pinv(P) @ E
        left = E - P @ share
        flow, force = [np.eye(2)], [np.zeros(2)]
        for k in range(len(run.time) - 1):  # mu = flow mu_0 + force, by the trapezoidal rule
            ahead, back = np.eye(2) + h / 2 * share[k + 1], np.eye(2) - h / 2 * share[k]
            flow.append(np.linalg.solve(ahead, back @ flow[-1]))
            drive = h / 2 * (run.multipliers[k] + run.multipliers[k + 1])
            force.append(np.linalg.solve(ahead, back @ force[-1] - drive))
        matrix, right = (left @ np.array(flow)).reshape(-1, 2), -np.einsum("kij,kj->ki", left, np.array(force)).ravel()
        start = np.linalg.lstsq(matrix, right, rcond=None)[0]
        assert (np.abs(matrix @ start - right).max() < 1e-3 * np.abs(right).max()) == kept


# -------------------- sub-Riemannian geodesics --------------------

HEISENBERG = da.gallery.load("heisenberg-geodesics").system


@pytest.mark.parametrize("end", [(1.0, 0.5, 0.3), (0.4, -0.3, -0.9), (0.0, 0.0, 0.5), (1.0, 0.0, 0.0)])
def test_geodesics_between_two_points_of_the_heisenberg_group(end):
    """Arcs of circles: with the angle w of the arc, |z| = c^2 (w - sin w)/(8 sin^2(w/2)) and length c w/(2 sin(w/2))."""
    T = 2.0
    found = da.connect(HEISENBERG, da.DormandPrince8(), from_={x: 0, y: 0, z: 0}, to=dict(zip(Q, end, strict=True)), time=T,
                       steps=60, tries=24)  # fmt: skip
    c2, area = end[0] ** 2 + end[1] ** 2, abs(end[2])
    if not c2:
        w, length = 2 * np.pi, np.sqrt(4 * np.pi * area)
    elif not area:
        w, length = 0.0, np.sqrt(c2)
    else:
        w = brentq(lambda s: c2 * (s - np.sin(s)) / (8 * np.sin(s / 2) ** 2) - area, 1e-3, 2 * np.pi - 1e-3)
        length = np.sqrt(c2) * w / (2 * np.sin(w / 2))
    assert found.found and found.actions[0] == pytest.approx(length**2 / (2 * T), rel=1e-8)
    assert abs(found.run.multipliers[0, 0]) == pytest.approx(w / T, abs=1e-7)
    assert [found.run[q][-1] for q in Q] == pytest.approx(end, abs=1e-9)
    assert list(found.actions) == sorted(found.actions)


# -------------------- definitions --------------------


def kinds(system):
    return [(f.velocities, f.is_appell_chetaev, f.is_type_II, f.is_chaplygin) for f in da.classify(system).functions]


@pytest.mark.parametrize("system, expected", [
    (particle(SKATE, potential=0), ("linear", False, False, True)),
    (particle(SKATE), ("linear", False, False, False)),
    (particle(SKATE, da.Upsilon()), ("linear", True, True, False)),
    (particle(SKATE, da.Vakonomic()), ("linear", False, True, False)),
    (particle(AFFINE, potential=0), ("affine", False, False, True)),
    (particle(z.dot - y * x.dot - x * y.dot), ("linear", True, True, False)),
    (particle((2 + x**2) * (z.dot - y * x.dot - x * y.dot)), ("linear", True, True, False)),
    (particle(PRODUCT, potential=0), ("nonlinear", False, False, True)),
    (particle(z.dot - sqrt(x.dot**2 + y.dot**2), potential=0), ("homogeneous", False, False, True)),
    (particle(z.dot**2 - x.dot**2 - 2 * y.dot**2, potential=0), ("homogeneous", False, False, True)),
    (particle(x**2 + y**2 + z**2 - 1), ("none", True, True, False)),
])  # fmt: skip
def test_constraint_functions_are_named(system, expected):
    """Definitions 2.2, 2.3, 3.1 and (3.17'): v . dchi/dv = nu chi."""
    assert kinds(system) == [expected]


def test_degrees():
    degree = [
        da.classify(particle(c, potential=0)).functions[0].degree
        for c in (SKATE, PRODUCT, z.dot - sqrt(x.dot**2 + y.dot**2), z.dot**2 - x.dot**2 - 2 * y.dot**2)
    ]
    assert degree == [1, None, 1, 2]
