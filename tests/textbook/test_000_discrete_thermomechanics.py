"""Discrete systems with entropies: equations, Legendre transforms, regularity, flow (sections 1.7-1.9, 2.2-2.11, 2.20)."""

from __future__ import annotations

import numpy as np
import pytest
import sympy
from sympy import Matrix, atan, cos, exp, log

import dalembert as da
from dalembert.analysis.steps.regularity import regularity
from dalembert.decide.zero import vanishes
from dalembert.discrete.entropy_variations import extended_variation, variation_frame, variation_rows
from dalembert.discrete.equations import momentum_minus, momentum_plus, step_map
from dalembert.discrete.flow import backward_matrix, backward_step_map, pair_map, step_matrix
from dalembert.engine.tangent import tangent
from dalembert.symbolic import gradient, number

x, y, q = da.coordinates("x y q")
S, R = da.entropies("S R")
m, nu, mu, T0, k = da.parameters("m nu mu T0 k", positive=True)
alpha = da.parameters("alpha")
h = da.step
CART = da.System(
    "cart",
    [x],
    kinetic=m * x.dot**2 / 2,
    entropies=[S],
    internal_energy=nu * T0 * exp(S / nu),
    friction={x: -mu * x.dot},
)
GIVEN = {m: 5, nu: 1, mu: 3, T0: 300}
ROW = {p.name: float(v) for p, v in GIVEN.items()}
x0, x1, S0, S1 = x.at(0), x.at(1), S.at(0), S.at(1)

# Two bodies rub on each other and on a warm block; the spring weakens with its entropy, heat flows, a wind blows.
BODIES = da.System(
    "two bodies", [x, y], kinetic=m * x.dot**2 / 2 + y.dot**2 * (1 + x**2 / 5) / 2, potential=k * cos(x - y) * exp(S / 9),
    entropies=[S, R], internal_energy=nu * exp(S / nu) + 2 * exp(R / 2) + x * R / 7,
    friction={S: {x: -mu * (x.dot - y.dot), y: mu * (x.dot - y.dot)}, R: {y: -y.dot * (1 + R**2)}},
    forces={x: y / 3}, conduction={(S, R): sympy.Rational(1, 5)}, heat={S: x**2},
)  # fmt: skip
BODY_ROW = {"m": 1.3, "nu": 0.8, "mu": 0.4, "k": 0.9}
MAPS = {
    "left": da.left_map, "midpoint": da.midpoint_map, "b": da.FiniteDifferenceMap(sympy.Rational(1, 3)),
    "mixed": da.ProductMap(da.left_map, da.midpoint_map, da.midpoint_map, da.right_map),
    "own": da.CustomMap(lambda a, b: [(u + 2 * w) / 3 + (w - u) ** 2 / 50 for u, w in zip(a, b, strict=True)]),
}  # fmt: skip


def matrix(system, rows):
    return Matrix([[system.read(e) for e in row] for row in rows])


def row(system, given):
    return [given[p.name] for p in system.parameters]


def same(a, b):
    return vanishes(sympy.sympify(a) - b)


def example_3_29():
    u = q.at(0) + q.at(1)
    return da.DiscreteSystem(
        "no trajectory", [q], lagrangian=u * atan(u) - log(1 + u**2) / 2 + alpha * q.at(1) + S0, entropies=[S],
        friction_minus={q: exp(S0)}, friction_plus={q: exp(S1)}, entropy_laws=[S0 + S1],
    )  # fmt: skip


# data and equations


def test_the_equations_of_the_cart_at_the_midpoint():
    """(4.9), errata E8, E18 and E19."""
    e = da.discretise(CART, da.midpoint_map).equations()
    node = {str(s): s for eq in (*e.lagrange, *e.entropy, *e.variations) for s in eq.free_symbols}
    now, later, before = node["x[k]"], node["x[k+1]"], node["x[k-1]"]
    balance = m / h * (later - 2 * now + before) + mu / 2 * (later - before)
    assert same(e.lagrange[0].lhs - e.lagrange[0].rhs, -balance)
    T = T0 * exp((node["S[k]"] + node["S[k+1]"]) / (2 * nu))
    law = T * (node["S[k+1]"] - node["S[k]"]) / h - mu * ((later - now) / h) ** 2
    assert same(e.entropy[0].lhs, law)
    assert not same(e.entropy[0].lhs, law + mu * ((later - now) / h) ** 2), "the control: twice the friction"
    left = -h / 2 * T * (node["dS[k]"] + node["dS[k+1]"])
    assert same(e.variations[0].lhs, left)
    assert same(e.variations[0].rhs, -mu / 2 * (later - now) * (node["dx[k]"] + node["dx[k+1]"]))
    assert "dx[k]" in str(e.variations)
    assert "delta" in str(e.principle)
    assert r"S_{k+1}" in e._repr_latex_()
    assert str(e).count("= 0") == 2


def test_friction_and_external_force_are_told_apart():
    pushed = da.System(
        "pushed",
        [x],
        kinetic=m * x.dot**2 / 2,
        entropies=[S],
        internal_energy=exp(S),
        friction={x: -mu * x.dot},
        forces={x: 7},
    )
    d = da.discretise(pushed, da.midpoint_map)
    assert same(d.read(d.external_minus[0]), 7 * h / 2)
    assert same(d.read(d.friction_plus[0][0]), -mu * (x1 - x0) / 2)
    assert same(d.read(d.force_minus[0]), 7 * h / 2 - mu * (x1 - x0) / 2)
    given = da.DiscreteSystem(
        "the same", [x], lagrangian=d.read(d.lagrangian), entropies=[S], entropy_laws=[d.read(d.entropy_laws[0])],
        force_minus={x: 7 * h / 2}, force_plus={x: 7 * h / 2},
        friction_minus={x: -mu * (x1 - x0) / 2}, friction_plus={S: {x: -mu * (x1 - x0) / 2}},
    )  # fmt: skip
    start = {x.at(0): 0, x.at(1): 0.1, S: 0}
    one, two = (da.simulate(s, h=0.1, steps=20, start=start, parameters={m: 5, mu: 3}) for s in (d, given))
    assert np.abs(one.x - two.x).max() < 1e-13
    assert np.abs(one.S - two.S).max() < 1e-13


@pytest.mark.parametrize("name", MAPS)
def test_3_4_the_discretiser(name):
    """L_d = h L o psi, F_d = h (d base/dq)^T F, rho_d = law o psi with heat, by value at random slots."""
    d, psi = da.discretise(BODIES, MAPS[name]), MAPS[name]
    rng, whole = np.random.default_rng(2), [x, y, S, R]
    ends = [{c.at(i).name: rng.uniform(0.2, 1) for c in whole} for i in (0, 1)]
    at = ends[0] | ends[1] | BODY_ROW | {h.name: 0.3, "t": 0.0}
    first, second = (sympy.Matrix([c.at(i) for c in whole]) for i in (0, 1))
    from dalembert.symbolic import vector

    base, rate = psi.base(vector(first), vector(second)), psi.velocity(vector(first), vector(second), h)
    place = {c.name: number(base[i], at) for i, c in enumerate(whole)}
    place |= {c.dot.name: number(rate[i], at) for i, c in enumerate(whole)} | BODY_ROW
    assert number(d.lagrangian, at) == pytest.approx(0.3 * number(BODIES.lagrangian, place), rel=1e-12)
    for found, law in zip(d.entropy_laws, BODIES.entropy_laws, strict=True):
        assert number(found, at) == pytest.approx(number(law, place), rel=1e-12)
    for end, rows, external in ((0, d.friction_minus, d.external_minus), (1, d.friction_plus, d.external_plus)):
        slope = np.array([[number(b, at) for b in gradient(base[j], [c.at(end) for c in (x, y)])] for j in (0, 1)])
        for found, force in zip((*rows, external), (*BODIES.friction, BODIES.external_force), strict=True):
            assert [number(f, at) for f in found] == pytest.approx(
                0.3 * slope.T @ [number(f, place) for f in force], abs=1e-12
            )


# 2.2, 2.4, 2.5: variations


def random_steps(system, given, nodes, rng, count):
    table = rng.uniform(0.2, 1.0, (count + 1, len(nodes)))
    values = given | {h.name: 0.3, "t": 0.0}
    return table, [
        values | {c.at(i).name: table[j + i, a] for i in (0, 1) for a, c in enumerate(nodes)} for j in range(count)
    ]


@pytest.mark.parametrize("name", ["left", "midpoint", "mixed"])
def test_2_2_the_principle_is_the_equations(name):
    """An identity on every discrete curve: the variation with dS from (3.7) is the residual of (3.10) times dq."""
    d, rng, N = da.discretise(BODIES, MAPS[name]), np.random.default_rng(3), 4
    _, steps = random_steps(d, BODY_ROW, [x, y, S, R], rng, N)
    dq = rng.normal(size=(N + 1, 2))
    dq[0] = dq[-1] = 0
    dS = extended_variation(d, steps, dq, rng.normal(size=2))
    varied = 0.0
    for j, at in enumerate(steps):
        moves = np.concatenate([dq[j], dq[j + 1], dS[j], dS[j + 1]])
        forms = [[number(e, at) for e in form] for form in variation_rows(d)]
        assert np.abs(np.array(forms) @ moves).max() < 1e-12
        slopes = gradient(d.lagrangian, [c.at(i) for group in ((x, y), (S, R)) for i in (0, 1) for c in group])
        varied += np.dot([number(e, at) for e in slopes], moves)
        varied += np.dot([number(f, at) for f in (*d.external_minus, *d.external_plus)], moves[:4])
    residual = [
        np.array([number(p, steps[j - 1]) for p in momentum_plus(d)]) - [number(p, steps[j]) for p in momentum_minus(d)]
        for j in range(1, N)
    ]
    expected = sum(np.dot(r, dq[j + 1]) for j, r in enumerate(residual))
    assert varied == pytest.approx(expected, rel=1e-11)
    assert abs(sum(np.dot(r, dq[j]) for j, r in enumerate(residual)) - varied) > 1e-3, "the control: nodes shifted"


@pytest.mark.parametrize("name", ["left", "midpoint"])
def test_2_4_the_frame_of_lemma_3_14(name):
    d = da.discretise(CART, MAPS[name])
    at = {x0: 0.1, x1: 0.25, S0: 0.3, S1: 0.4, h: 0.1} | GIVEN
    frame = variation_frame(d, at)
    assert frame.shape == (3, 4)
    assert np.linalg.svd(frame, compute_uv=False)[-1] > 1e-3
    (form,) = [[number(e, {s.name: v for s, v in at.items()}) for e in r] for r in variation_rows(d)]
    assert np.abs(frame @ form).max() < 1e-12 * np.abs(form).max()
    if name == "midpoint":  # as printed: (0, 0, 1, -D3 L/D4 L), (1, 0, 0, F-/D4 L), (0, 1, 0, F+/D4 L)
        D4 = -0.05 * 300 * np.exp(0.35)
        assert frame == pytest.approx(np.array([[1, 0, 0, -0.225 / D4], [0, 1, 0, -0.225 / D4], [0, 0, 1, -1]]))
    many = da.discretise(BODIES, MAPS[name])
    _, (step,) = random_steps(many, BODY_ROW, [x, y, S, R], np.random.default_rng(1), 1)
    assert np.linalg.matrix_rank(variation_frame(many, step)) == 2 * 2 + 2


def test_2_5_variations_that_do_not_extend():
    cold = da.DiscreteSystem("cold", [x], lagrangian=(x1 - x0) ** 2 / h, entropies=[S], entropy_laws=[S1 - S0])
    at = {x0: 0, x1: 1, S0: 0, S1: 0, h: 1}
    with pytest.raises(da.ModelError, match="at neither end of the step"):
        variation_frame(cold, at)
    with pytest.raises(da.ModelError, match="need not extend"):
        extended_variation(cold, [at], [[0.0], [1.0]])


@pytest.mark.parametrize("name", ["left", "midpoint", "b"])
def test_2_11_slopes_of_the_discretised_lagrangian(name):
    """D_S- L_d + D_S+ L_d = -h T(base point): not both vanish."""
    d = da.discretise(CART, MAPS[name])
    b = MAPS[name].b
    minus, plus = (d.read(e) for e in gradient(d.lagrangian, [S0, S1]))
    assert same(minus + plus, -h * T0 * exp(((1 - b) * S0 + b * S1) / nu))
    assert (minus == 0, plus == 0) == (False, name == "left")


# 1.8, 2.7, 2.20: regularity


def test_2_20_determinants_of_the_cart():
    dS = S1 - S0
    left, middle = (da.discretise(CART, MAPS[n]) for n in ("left", "midpoint"))
    T, Tm = T0 * exp(S0 / nu), T0 * exp((S0 + S1) / (2 * nu))
    # rho of the library is minus that of the source, and rows of the forward matrix are -D F_L-: signs as below.
    assert same(matrix(left, step_matrix(left)).det(), -(m + h * mu) * T / h**2)
    assert same(-matrix(left, backward_matrix(left)).det(), -m * T / h**2 * (1 - dS / nu))
    assert same(matrix(middle, step_matrix(middle)).det(), -(m + h * mu / 2) * Tm / h**2 * (1 + dS / (2 * nu)))
    assert same(-matrix(middle, backward_matrix(middle)).det(), -(m - h * mu / 2) * Tm / h**2 * (1 - dS / (2 * nu)))


@pytest.mark.parametrize(("name", "dS"), [("left", 1.0), ("midpoint", 2.0)])
def test_2_20_where_the_step_backward_is_lost(name, dS):
    d = da.discretise(CART, MAPS[name])

    def at(rise):
        return regularity(d, at={x0: 0, x1: 0.2, S0: 0.1, S1: 0.1 + rise}, h=0.1, parameters=GIVEN)

    lost = at(dS)
    assert lost.ok
    assert len(lost.irreversible) == 1
    assert "no step backward: step 1" in str(lost)
    assert not at(dS - 0.01).irreversible
    assert at(dS - 0.01).backward_determinant[0] * at(dS + 0.01).backward_determinant[0] < 0
    T = 300 * np.exp(0.1 if name == "left" else 0.1 + (dS - 0.01) / 2)
    inertia = 5 if name == "left" else 5 - 0.15
    assert at(dS - 0.01).backward_determinant[0] == pytest.approx(inertia * T / 0.01 * 0.01 / dS, rel=1e-6)


def test_2_20_the_step_that_stops_the_cart():
    """h = 2 m/mu: M- of the midpoint map is singular on every step, M+ on none."""
    runs = [
        da.simulate(CART, da.Midpoint(), h=step, steps=4, parameters=GIVEN, start={x: 0, x.dot: 2, S: 0})
        for step in (10 / 3, 3.0)
    ]
    found, other = map(regularity, runs)
    assert found.ok
    assert len(found.irreversible) == 4
    assert other.ok
    assert not other.irreversible
    assert all(holds for _, holds in found.hypotheses)
    assert "the temperature of S" in found._repr_markdown_()


def test_regularity_of_example_3_29():
    """M+- = diag(-+1/(1 + u^2), 1) up to signs of rows; the hypothesis holds, though nothing there is a temperature."""
    system = example_3_29()
    at = {q.at(0): 0.3, q.at(1): 0.5, S0: 0.2, S1: -0.2}
    found = regularity(system, at=at, h=1, parameters={alpha: 4})
    assert found.determinant[0] == pytest.approx(1 / 1.64)
    assert found.backward_determinant[0] == pytest.approx(1 / 1.64)
    assert found.ok
    assert [holds for _, holds in found.hypotheses] == [True, False]
    flat = da.DiscreteSystem("flat", [x], lagrangian=(x1 - x0) ** 2 / h, entropies=[S], entropy_laws=[S0 * x1])
    lost = regularity(flat, at={x0: 0, x1: 1, S0: 1, S1: 1}, h=1)
    assert "laws of entropy do not determine the entropies" in lost.irregular[0].reason
    assert lost.hypotheses[0][1] is False


# 1.8, 2.6, 2.8: the flow


@pytest.mark.parametrize("name", MAPS)
def test_2_8_forward_then_backward(name):
    d = da.discretise(BODIES, MAPS[name])
    state = np.array([0.3, -0.2, 0.5, 0.4, 0.1, 0.2])
    after, J = tangent(step_map(d), state, row(d, BODY_ROW), 0.1, 0.0)
    back, K = tangent(backward_step_map(d), after, row(d, BODY_ROW), 0.1, 0.1)
    assert np.abs(back - state).max() < 1e-10
    assert np.abs(K @ J - np.eye(6)).max() < 1e-8
    other, _ = tangent(backward_step_map(d), after, row(d, BODY_ROW), 0.11, 0.1)
    assert np.abs(other - state).max() > 1e-3, "the control: another step"
    eps = 1e-6
    for j in range(6):
        move = eps * np.eye(6)[j]
        ahead, behind = (tangent(step_map(d), state + s * move, row(d, BODY_ROW), 0.1)[0] for s in (1, -1))
        assert np.allclose(J[:, j], (ahead - behind) / (2 * eps), atol=1e-6)


@pytest.mark.parametrize("name", ["left", "midpoint"])
def test_2_8_the_flow_on_pairs_and_its_jacobian(name):
    """(3.14) on a run, and D1 H = (M+)^-1 M- along directions tangent to rho_d = 0."""
    d = da.discretise(BODIES, MAPS[name])
    start = {x: 0.3, y: -0.2, x.momentum: 0.5, y.momentum: 0.4, S: 0.1, R: 0.2}
    run = da.simulate(d, h=0.1, steps=3, start=start, parameters=BODY_ROW)
    z = [np.array([run[c][j] for c in (x, y, S, R)]) for j in range(3)]
    pair = np.concatenate([z[0][:2], z[1][:2], z[0][2:], z[1][2:]])
    after, T = tangent(pair_map(d), pair, row(d, BODY_ROW), 0.1, 0.0)
    assert np.abs(after - np.concatenate([z[1][:2], z[2][:2], z[1][2:], z[2][2:]])).max() < 1e-11

    def values(a, b):
        at = {c.at(i).name: w[j] for i, w in enumerate((a, b)) for j, c in enumerate((x, y, S, R))}
        return BODY_ROW | at | {h.name: 0.1, "t": 0.0}

    forward = np.array([[number(e, values(z[1], z[2])) for e in r] for r in step_matrix(d)])
    backward = np.array([[number(e, values(z[0], z[1])) for e in r] for r in backward_matrix(d)])
    forward[:2] *= -1  # rows of M+ are those of -D1 L_d - F-
    order = [0, 1, 4, 5]
    D1H = T[np.ix_([2, 3, 6, 7], order)]
    tangent_to = np.linalg.svd(backward[2:])[2][2:].T  # D_z0 rho = 0, with z1 held
    assert np.allclose(D1H @ tangent_to, np.linalg.solve(forward, backward) @ tangent_to, atol=1e-9)
    away = np.linalg.svd(backward[2:])[2][:2].T
    assert not np.allclose(D1H @ away, np.linalg.solve(forward, backward) @ away, atol=1e-3), "the control"
    at = values(z[0], z[1])
    assert [number(p, at) for p in momentum_minus(d)] == pytest.approx([0.5, 0.4], abs=1e-12)
    assert [number(p, at) for p in momentum_plus(d)] == pytest.approx([run[c.momentum][1] for c in (x, y)], abs=1e-12)


def test_2_15_area_contracts_as_friction_says():
    """Jacobian determinant of (x0, x1) -> (x1, x2): 1/(1 + h mu/m), (1 - h mu/2m)/(1 + h mu/2m)."""
    for name, ratio in (("left", 1 / 1.06), ("midpoint", 0.97 / 1.03)):
        flow = pair_map(da.discretise(CART, MAPS[name]))
        parameters = [ROW[p] for p in flow.parameters]
        _, T = tangent(flow, np.array([0.0, 0.2, 0.0, 0.001]), parameters, 0.1, 0.0)
        assert np.linalg.det(T[:2, :2]) == pytest.approx(ratio, rel=1e-12)


# files


@pytest.mark.parametrize("name", ["left", "midpoint", "own"])
def test_runs_of_discrete_systems_are_saved(tmp_path, name):
    d = da.discretise(BODIES, MAPS[name])
    start = {x: 0.3, y: -0.2, x.momentum: 0.5, y.momentum: 0.4, S: 0.1, R: 0.2}
    run = da.simulate(d, h=0.1, steps=6, start=start, parameters=BODY_ROW)
    run.save(tmp_path / "run.nc")
    back = da.load(tmp_path / "run.nc")
    assert np.array_equal(back.S, run.S)
    assert np.array_equal(back[R], run[R])
    kept = back.system
    assert kept.entropies == (S, R)
    for role in ("entropy_laws", "external_minus", "force_plus"):
        pairs = zip(getattr(kept, role), getattr(d, role), strict=True)
        assert all(same(kept.read(a), d.read(b)) for a, b in pairs)
    assert all(same(kept.read(a), d.read(b)) for a, b in zip(kept.friction_plus[1], d.friction_plus[1], strict=True))
    again = da.simulate(kept, h=0.1, steps=6, start=start, parameters=BODY_ROW)
    assert np.abs(again.S - run.S).max() < 1e-13
    more = da.simulate(kept, h=0.1, steps=3, start=back)
    assert more.S[0] == run.S[-1]
