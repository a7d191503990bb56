"""Corrected formulas of R. Ramirez, Sobre los sistemas mecanicos con enlaces, 1990, each beside the printed one.

The corrected form holds for what the library computes; the printed form, in its place, must fail. Formulas that stand beside
an example are in `test_001_models` and `test_001_inverse_formulas`.
"""

from __future__ import annotations

from itertools import pairwise

import pytest
import sympy
from sympy import Matrix, cos, sin

import dalembert as da
from dalembert.decide.zero import vanishes
from dalembert.symbolic import slow
from dalembert.theory.inverse.compatibility import antisymmetric_part, generalised_curl

from .inverse_problems import BIRKHOFF

x, y, z = Q = da.coordinates("x y z")
t = da.time
g = da.parameters("g", positive=True)
THIRD = {q: sympy.Symbol(f"{q}.dddot", real=True) for q in Q}
PHI = {x: y * x.dot, z: 2 * y.ddot - 1}
TWO = da.System(
    "two constraints", [x, y, z], kinetic=(x.dot**2 + 2 * y.dot**2 + (3 + x**2) * z.dot**2) / 2,
    potential=g * x * z, constraints=[z.dot - y * x.dot + sin(t), y.dot - x.dot * z],
)  # fmt: skip


def rate(f):
    """df/dt along curves, by SymPy alone."""
    moved = ((q, q.dot, q.ddot, THIRD[q]) for q in Q)
    return sympy.diff(f, t) + sum(sympy.diff(f, a) * b for chain in moved for a, b in pairwise(chain))


def bent(f, coordinates=Q):
    """E_k(f) = d/dt df/dv^k - df/dx^k."""
    return Matrix([rate(sympy.diff(f, q.dot)) - sympy.diff(f, q) for q in coordinates])


def zero(expressions):
    return all(vanishes(e) for e in expressions)


def rows(fields):
    return Matrix([[f.diff(q.dot) for q in fields.system.coordinates] for f in fields.functions])


def momentum(system):
    return Matrix([system.lagrangian.diff(v) for v in system.velocities])


# -------------------- variations: (2.3), (2.8), (3.8) --------------------


def test_contraction_of_the_cartan_form_2_3():
    """w(L) = d/dt i_w theta - D_k w^k with i_w theta = p_k w^k. Printed with the form omega^k, whose value on v is zero."""
    fields = da.Upsilon(PHI).fields(TWO)
    w = Matrix([sin(t) * y, x**2, t * z])
    moved = w.applyfunc(rate) + fields.R.T * w  # w(v) = dw/dt + Upsilon
    L, p = TWO.lagrangian, momentum(TWO)
    varied = sum(L.diff(q) * w[k] + L.diff(q.dot) * moved[k] for k, q in enumerate(Q))
    left = Matrix([e.lhs for e in fields.equations]).dot(w)
    assert vanishes(varied - rate(p.dot(w)) + left)
    on_velocity = Matrix([q.dot - q.dot for q in Q])
    assert not vanishes(varied - rate(p.dot(on_velocity)) + left)


def test_constraints_of_type_two_2_8():
    """Variations that commute and keep z' = y x' have i_v nu = d/dt psi, psi = -dchi/dv w. Printed with d/dt of dpsi/dt."""
    chi = z.dot - y * x.dot
    system = da.System(
        "skate", [x, y, z], kinetic=(x.dot**2 + y.dot**2 + z.dot**2) / 2, constraints=[chi], principle=da.Vakonomic()
    )
    assert da.classify(system).functions[0].is_type_II
    w, w_dot, w_ddot = (sympy.symbols(f"{k}:3") for k in ("w", "u", "s"))

    def along(e):
        """d/dt with w_3' = y w_1' + x' w_2, which keeps the constraint."""
        moved = zip(w + w_dot[:2], (*w_dot[:2], y * w_dot[0] + x.dot * w[1], *w_ddot[:2]), strict=True)
        return rate(e) + sum(sympy.diff(e, a) * b for a, b in moved)

    slopes = [chi.diff(q.dot) for q in Q]
    psi = -sum(a * b for a, b in zip(slopes, w, strict=True))
    nu = -sum(a * b for a, b in zip(bent(chi), w, strict=True))
    assert sympy.expand(nu - along(psi)) == 0
    assert sympy.expand(nu - along(along(psi))) != 0


def test_chaplygin_constraints_3_8():
    """The dependent coordinate must not enter chi; printed, only dchi/dv, so that a drift z/2 would be allowed."""
    for chi, expected in ((z.dot - y * x.dot, True), (z.dot - y * x.dot + z / 2, False)):
        system = da.System("particle", [x, y, z], kinetic=(x.dot**2 + y.dot**2 + z.dot**2) / 2, constraints=[chi])
        assert da.classify(system).functions[0].is_chaplygin is expected
        printed = all(chi.diff(q.dot).diff(z) == 0 for q in Q)
        assert printed  # it does not tell them apart


# -------------------- multipliers: (3.16), (3.18), (3.19), (3.22), (3.23), (3.27) --------------------


def test_equations_with_multipliers_in_the_lagrangian_3_16():
    """E_k(L) - psi_a (Omega_a + Lambda_a) - Phi_k with L = L0 + lambda_a chi_a and Lambda_a = lambda_b G(e_a, P_b).

    Printed with lambda_a in place of Lambda_a; and (3.12), (3.18), (3.22) with the other sign of dlambda/dt.
    """
    fields = da.Upsilon(PHI).fields(TWO)
    given = [t**2, cos(t)]
    whole = TWO.lagrangian + sum(a * c for a, c in zip(given, fields.functions, strict=True))
    e, psi, P = fields.orthonormal, fields.psi, rows(fields)
    omega, large = e * momentum(TWO), e * P.T * Matrix(given)
    phi = Matrix([PHI.get(q, 0) for q in Q])

    def library(sign):
        reactions = {m: -sign * a.diff(t) for m, a in zip(TWO.multipliers, given, strict=True)}
        return Matrix([(a.lhs - a.rhs).xreplace(reactions) for a in fields.equations])

    left = bent(whole) - psi.T * (omega + large) - phi
    assert zero(left - library(1))
    assert not zero(left - library(-1))
    assert not zero(bent(whole) - psi.T * (omega + Matrix(given)) - phi - library(1))


def test_what_multipliers_add_3_19():
    """psi_a Lambda_a = lambda_b E(chi_b) for any multipliers, so (3.19) and (3.23) have these; printed, psi_a lambda_a."""
    fields = da.Upsilon().fields(TWO)
    given = Matrix([t**2, x])
    own = sum((a * bent(c) for a, c in zip(given, fields.functions, strict=True)), start=sympy.zeros(3, 1))
    assert zero(fields.psi.T * fields.orthonormal * rows(fields).T * given - own)
    assert not zero(fields.psi.T * given - own)


def test_when_the_nonholonomic_system_is_lagrangian_3_23():
    """The multipliers found for the rolling disc satisfy lambda_a E(chi_a) = 0 on the constraints, not the printed form."""
    system = da.gallery.load("rolling-disk").system
    fields, found = da.Upsilon().fields(system), da.compare_models(system).lagrangian
    q = system.coordinates
    X, Y = q[0], q[1]
    dependent = sympy.solve([c.expression for c in system.constraints], [X.dot, Y.dot])

    def lagrange(f):
        moved = sum(
            (Matrix([sympy.diff(f, c.dot, d) * d.dot + sympy.diff(f, c.dot, d.dot) * d.ddot for c in q]) for d in q),
            start=sympy.zeros(len(q), 1),
        )
        return moved - Matrix([sympy.diff(f, c) for c in q])

    own = sum((m * lagrange(f) for m, f in zip(found.multipliers, fields.functions, strict=True)), sympy.zeros(4, 1))
    assert zero(own.xreplace(dependent))
    assert not zero((fields.psi.T * Matrix(found.multipliers)).xreplace(dependent))


def test_constant_multipliers_3_27():
    """Omega_a + Lambda_a = 0 says that L0 + lambda chi has no momentum along the rows; printed, Omega_a + lambda_a = 0."""
    fields = da.Upsilon().fields(TWO)
    lam = -Matrix(fields.components)
    e, P, p = fields.orthonormal, rows(fields), momentum(TWO)
    omega, large = e * p, e * P.T * lam
    assert zero(omega + large)
    assert zero(P * fields.metric.inv() * (p + P.T * lam))
    assert not zero(omega + lam)
    own = sum((a * bent(c) for a, c in zip(lam, fields.functions, strict=True)), start=sympy.zeros(3, 1))
    assert zero(fields.psi.T * omega + own)  # E(L0) - psi Omega = E(L0) + lambda E(chi)
    assert not zero(-fields.psi.T * lam + own)


def test_the_sign_of_the_multiplier_3_18():
    """Appell's device has lambda = -m g t/(1 + a^2) in L0 + lambda chi: E(L0) + dlambda/dt dchi/dv = 0, printed with minus."""
    appell = da.gallery.load("appell-device")
    system, at = appell.system, appell.start
    found = da.evaluate(system, at=at, parameters=appell.parameters)
    value = {p.name: v for p, v in appell.parameters.items()}
    rate_of_lambda = -value["m"] * value["g"] / (1 + value["a"] ** 2)
    assert found.multipliers[0] == pytest.approx(-rate_of_lambda, rel=1e-12)
    chi, numbers = system.constraints[0].expression, {**at, **appell.parameters}
    numbers |= {q.ddot: a for q, a in zip(system.coordinates, found.accelerations.values(), strict=True)}
    for sign, holds in ((1, True), (-1, False)):
        left = bent(system.lagrangian, system.coordinates)
        left += sign * rate_of_lambda * Matrix([chi.diff(q.dot) for q in system.coordinates])
        size = max(abs(float(e.subs(numbers))) for e in left)
        assert (size < 1e-10) == holds


def test_the_hessian_with_multipliers_4_31():
    """d2L0/dv2 + lambda d2chi/dv2. Printed with L in place of L0, which has the multiplier twice."""
    chi, lam = z.dot - x.dot * y.dot, sympy.Rational(1, 5)
    L0 = (x.dot**2 + y.dot**2 + z.dot**2) / 2 - da.Rational(98, 10) * z
    system = da.System("particle", [x, y, z], lagrangian=L0, constraints=[chi], principle=da.Vakonomic())
    state = {x: 0.3, y: 0.7, z: 0, x.dot: 1, y.dot: 0.5, z.dot: 0.5}
    found = da.evaluate(system, at={**state, system.multipliers[0]: 0.2})
    P = Matrix([chi.diff(q.dot) for q in Q])
    rest = (bent(L0) + lam * bent(chi)).xreplace({q.ddot: sympy.S.Zero for q in Q})
    for L, agrees in ((L0, True), (L0 + lam * chi, False)):
        G = sympy.hessian(L + lam * chi, [q.dot for q in Q])
        bordered = Matrix([[G, P], [P.T, sympy.zeros(1, 1)]]).subs(state)
        solved = bordered.LUsolve(-Matrix([*rest, 0]))
        assert (list(solved[:3]) == pytest.approx(list(found.accelerations.values()), abs=1e-9)) == agrees


# -------------------- self-conjugacy: (4.15) to (4.24) --------------------

GENERAL = [
    (1 + x**2 + y.dot**2) * x.ddot + x.dot * y.dot * y.ddot + x * y.dot * x.dot + t * y,
    (2 + cos(x) * y.dot) * y.ddot + sin(t) * x.ddot * y.dot + x.dot**2 * y,
]
TURN = Matrix([[x.dot, y], [1, x * y]])
"""A matrix A that is not symmetric."""


def plain(matrix):
    symbols = [s for q in Q for s in (q, q.dot, q.ddot, THIRD[q])] + [t, g]
    return Matrix([[slow(e, symbols) for e in row] for row in matrix])


def forms_of(equations, **given):
    return da.inverse.helmholtz(equations, [x, y], **given).forms


def test_symmetric_part_4_15():
    """2 dG/dt = dF_c/dv_a + dF_a/dv_c + A_ac + A_ca; printed with A_ac - A_ca."""
    forms = forms_of(GENERAL, A=TURN)
    found = plain(forms.symmetry_residuals[1][2])
    G, V = (Matrix(GENERAL).jacobian([getattr(q, k) for q in (x, y)]) for k in ("ddot", "dot"))
    low, grown = G * TURN, G.applyfunc(rate)
    plain_part = V + V.T - grown - grown.T
    assert zero(found - plain_part - low - low.T)
    assert not zero(found - plain_part - low + low.T)


def test_antisymmetric_part_4_16():
    """2 H_ac = dF_c/dv_a - dF_a/dv_c + A_ac - A_ca; printed with A_ac + A_ca."""
    found = plain(antisymmetric_part(forms_of(GENERAL, A=TURN)))
    G, V = (Matrix(GENERAL).jacobian([getattr(q, k) for q in (x, y)]) for k in ("ddot", "dot"))
    low = (G * TURN).T  # A_ac, row a
    assert zero(2 * found - V.T + V - low + low.T)
    assert not zero(2 * found - V.T + V - low - low.T)


L = x.dot**4 / 12 + (2 + sin(x) + t) * x.dot * y.dot + x * t * y.dot - x**2 * y
REST = Matrix([x.dot * y + x, x.dot * y.dot - t * x])
MIXED = [*(bent(L, (x, y)) + REST)]
"""Equations E(L) + phi; phi depends on velocities."""


def mixed():
    """A and B from phi, by (4.14') and (4.23'), with R = 0."""
    G = sympy.hessian(L, [x.dot, y.dot])
    Z = REST[1].diff(x) - REST[0].diff(y)
    A = -G.inv() * REST.jacobian([x.dot, y.dot])
    B = G.inv() * Matrix([[0, Z], [-Z, 0]]) / 2
    return da.inverse.helmholtz(MIXED, [x, y], A=A, B=B), A


def test_compatibility_4_17_and_4_18():
    """dH_ac/dv_q = dG_cq/dx_a - dG_aq/dx_c - dZ_ac/da_q; printed with H_ca. Where dF/da is no Hessian, (4.17) sees it."""
    check, _ = mixed()
    forms = check.forms
    assert check.holds
    assert all(c.holds for c in check.compatibility)
    H, Z, G = (plain(m) for m in (antisymmetric_part(forms), generalised_curl(forms), forms.G2))
    for sign, holds in ((1, True), (-1, False)):  # H_ca = -H_ac
        left = [
            sign * H[0, 1].diff(q.dot) - G[1, k].diff(x) + G[0, k].diff(y) + Z[0, 1].diff(q.ddot)
            for k, q in enumerate((x, y))
        ]
        assert zero(left) == holds
    bad = [(1 + y.dot**2) * x.ddot + y, y.ddot + x]
    names = {c.name for c in da.inverse.helmholtz(bad, [x, y]).compatibility if not c.holds}
    assert "G closed in velocities" in names


def test_the_free_term_4_20():
    """dphi_e/dv_a = dG_ea/dt + v_b dG_ba/dx_e - A_ae, and dphi_e/dx_a - dphi_a/dx_e = dH_ae/dt + Z_ae.

    The printed formula cannot be read; the control has the other sign of A and Z.
    """
    check, A = mixed()
    forms = check.forms
    G, H, Z = (plain(m) for m in (forms.G2, antisymmetric_part(forms), generalised_curl(forms)))
    q = (x, y)
    v = Matrix([c.dot for c in q])
    free = Matrix(MIXED) - G * Matrix([c.ddot for c in q]) - H.T * v
    low = (G * A).T  # A_ae, row a
    for sign, holds in ((1, True), (-1, False)):
        slopes = [
            free[e].diff(v[a]) - G[e, a].diff(t) - sum(G[b, a].diff(q[e]) * v[b] for b in range(2)) + sign * low[a, e]
            for e in range(2)
            for a in range(2)
        ]
        curl = free[1].diff(x) - free[0].diff(y) - H[0, 1].diff(t) - sign * Z[0, 1]
        assert zero(slopes) == holds
        assert vanishes(curl) == holds


def test_what_z_depends_on_4_22_and_4_24():
    """Z has no accelerations; printed, no velocities, which Z = dphi_2/dx_1 - dphi_1/dx_2 may well have."""
    Z = plain(generalised_curl(mixed()[0].forms))[0, 1]
    assert vanishes(Z - REST[1].diff(x) + REST[0].diff(y))
    assert zero([Z.diff(q.ddot) for q in (x, y)])
    assert not zero([Z.diff(q.dot) for q in (x, y)])


def test_birkhoff():
    """E_e(a v - U) = H_ae v_a + dU/dx_e with dH_ae/dt = dF_e/dx_a - dF_a/dx_e; printed -dU/dx_e, and H_ae without d/dt."""
    equations, _ = BIRKHOFF
    found = da.inverse.lagrangian(equations, [x, y], kind="birkhoff")
    a = Matrix([found.lagrangian.diff(q.dot) for q in (x, y)])
    U = sum(p * q.dot for p, q in zip(a, (x, y), strict=True)) - found.lagrangian
    H = a.jacobian([x, y]).T - a.jacobian([x, y])  # H_ae = da_e/dx_a - da_a/dx_e, row a
    slope = Matrix([U.diff(q) for q in (x, y)])
    v = Matrix([x.dot, y.dot])
    made = H.T * v + slope
    assert zero(found.multiplier * Matrix(equations) - made)
    assert not zero(found.multiplier * Matrix(equations) - made + 2 * slope)
    curl = made[1].diff(x) - made[0].diff(y)
    assert vanishes(rate(H[0, 1]) - curl)
    assert not vanishes(H[0, 1] - curl)
    assert zero(H + H.T)
