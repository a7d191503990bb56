"""M. J. Bonich, Sistemas termomecanicos lagrangianos continuos y discretos: chapter 4, section 1, the cart with friction.

Two discretisations, two starts, three steps. E8, E19 and E20 are places where the source misprints a formula; each is
typed in here as printed, and is found wrong.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import lambertw
from sympy import Rational, Symbol, exp, log

import dalembert as da
from dalembert.engine.tangent import tangent
from dalembert.model import substances as thermo

M, MU, NU, T0, V0 = 5.0, 3.0, 1.0, 300.0, 2.0
"""The cart of chapter 4: mass, friction, heat capacity, first temperature, first velocity; x(0) = S(0) = 0."""
PARAMETERS = {"m": M, "mu": MU, "nu": NU, "T0": T0}
END = 10.0
METHODS = {"left": da.LeftPoint(), "mid": da.Midpoint()}
FRACTION = {"left": 0.0, "mid": 0.5}
"""Where in the step the map takes its base point."""


def cart():
    return da.gallery.load("cart-with-friction").system


def start(kind, h):
    """The start of the source, x1 = x0 + h v0; or the velocity, from which the discrete Legendre transform gives x1."""
    return {"x.at(0)": 0.0, "x.at(1)": h * V0, "S": 0.0} if kind == "source" else {"x": 0.0, "x.dot": V0, "S": 0.0}


def ridden(which, kind, h, parameters=PARAMETERS):
    return da.simulate(cart(), METHODS[which], h=h, until=END, parameters=parameters, start=start(kind, h))


def exact(times, parameters=PARAMETERS):
    solution = da.gallery.load("cart-with-friction").exact(times, parameters, {"x": 0.0, "x.dot": V0, "S": 0.0})
    return solution["x"], solution["S"]


def errors(run, parameters=PARAMETERS):
    x, S = exact(run.time, parameters)
    return float(np.abs(run.x - x).max()), float(np.abs(run.S - S).max())


def energy_of_last_step(run, which):
    b = FRACTION[which]
    base = (1 - b) * run.S[-2] + b * run.S[-1]
    return M / 2 * ((run.x[-1] - run.x[-2]) / run.h) ** 2 + NU * T0 * np.exp(base / NU)


# -------------------- 4.9, the cart: continuous --------------------


def test_cart_is_the_gallery_example():
    example = da.gallery.load("cart-with-friction")
    assert {p.name: v for p, v in example.parameters.items()} == PARAMETERS
    assert {s.name: v for s, v in example.start.items()} == {"x": 0.0, "x.dot": V0, "S": 0.0}


def test_cart_equations_by_value():
    """(4.2), at some state: m x.ddot = -mu v and T S.dot = mu v^2; both constraints have T and the friction."""
    now = da.evaluate(cart(), at={"x": 0.3, "x.dot": -1.7, "S": 0.4}, parameters=PARAMETERS | {"nu": 2.0})
    (x,), (S,) = cart().coordinates, cart().entropies
    T = T0 * np.exp(0.4 / 2.0)
    assert now.temperatures[S] == pytest.approx(T, rel=1e-14)
    assert now.accelerations[x] == pytest.approx(MU * 1.7 / M, rel=1e-14)
    assert now.entropy_rates[S] == pytest.approx(MU * 1.7**2 / T, rel=1e-14)
    equations = cart().equations()
    at = {x.dot: -1.7, S: 0.4, S.dot: 0.9, **{p: (PARAMETERS | {"nu": 2.0})[p.name] for p in cart().parameters}}
    (kinematic,) = equations.entropy
    assert float((kinematic.lhs - kinematic.rhs).subs(at)) == pytest.approx(-T * 0.9 + MU * 1.7**2, rel=1e-13)


def test_cart_closed_form():
    """(4.3)-(4.6) at t = 1, 5, 10, and in the limit."""
    x, entropy = exact(np.array([1.0, 5.0, 10.0, 1e3]))
    assert x == pytest.approx([1.5039612130, 3.1673764388, 3.3250708261, 10 / 3], abs=6e-11)
    assert entropy == pytest.approx([0.0230263728, 0.0327098599, 0.0327896246, np.log(31 / 30)], abs=6e-11)
    assert T0 * np.exp(entropy[-1] / NU) == pytest.approx(310.0, rel=1e-14)


def test_cart_reference_temperature_is_a_matter_of_taste():
    """Note 4.1: with T_inf, S_inf, which depend on the start, in place of T0, S0, the Lagrangian is the same."""
    S = Symbol("S")
    ours = thermo.constant_heat_capacity(NU, T0).energy(S)
    theirs = thermo.constant_heat_capacity(NU, 310, S0=log(Rational(31, 30))).energy(S)
    assert [float((ours - theirs).subs(S, s)) for s in (-1.0, 0.0, 0.7)] == pytest.approx([0] * 3, abs=1e-10)


# -------------------- 4.9, the cart: discrete --------------------

TABLE = [
    ("left", "source", 0.2, 0.395344, 5.9821e-3, 3.7204153228, 0.0387717139, 311.8601),
    ("left", "source", 0.1, 0.197849, 2.9638e-3, 3.5229198007, 0.0357534126, 310.9202),
    ("left", "source", 0.05, 0.098967, 1.4748e-3, 3.4240378703, 0.0342644293, 310.4575),
    ("left", "Legendre", 0.2, 0.070048, 2.0202e-3, 3.3217993954, 0.0310155996, 309.4506),
    ("left", "Legendre", 0.1, 0.035898, 1.0405e-3, 3.3235092459, 0.0318788229, 309.7178),
    ("left", "Legendre", 0.05, 0.018167, 5.2808e-4, 3.3243086119, 0.0323280343, 309.8569),
    ("mid", "source", 0.2, 0.199567, 3.9792e-3, 3.5246380442, 0.0367688128, 311.2360),
    ("mid", "source", 0.1, 0.099767, 1.9626e-3, 3.4248382640, 0.0347522111, 310.6090),
    ("mid", "source", 0.05, 0.049880, 9.7452e-4, 3.3749506620, 0.0337641459, 310.3023),
    ("mid", "Legendre", 0.2, 1.47264e-3, 1.4456e-5, 3.3251302304, 0.0327896553, 310.000008),
    ("mid", "Legendre", 0.1, 3.67949e-4, 3.6098e-6, 3.3250856932, 0.0327896324, 310.000002),
    ("mid", "Legendre", 0.05, 9.19742e-5, 9.0220e-7, 3.3250745439, 0.0327896266, 310.000001),
]


def last_digit(value):
    """One unit in the last of the digits that are printed in TABLE."""
    return 10.0 ** (np.floor(np.log10(value)) - 4) if value < 0.01 else 1e-6


@pytest.mark.parametrize(("which", "kind", "h", "in_x", "in_S", "x", "S", "energy"), TABLE)
def test_cart_table_of_errors(which, kind, h, in_x, in_S, x, S, energy):
    """Every number of the digest's table, to its printed digits."""
    run = ridden(which, kind, h)
    assert errors(run)[0] == pytest.approx(in_x, abs=0.6 * last_digit(in_x))
    assert errors(run)[1] == pytest.approx(in_S, abs=0.6 * last_digit(in_S))
    assert (run.x[-1], run.S[-1]) == pytest.approx((x, S), abs=6e-11)
    tolerance = 6e-7 if which == "mid" and kind == "Legendre" else 6e-5
    assert energy_of_last_step(run, which) == pytest.approx(energy, abs=tolerance)


@pytest.mark.parametrize(("which", "kind", "order"), [
    ("left", "source", 1), ("left", "Legendre", 1), ("mid", "source", 1), ("mid", "Legendre", 2),
])  # fmt: skip
def test_the_start_of_the_source_spoils_the_order_of_the_midpoint_map(which, kind, order):
    """The midpoint map is of order two, in x and in S; begun with x1 = x0 + h v0 it is of order one."""
    coarse, fine = (errors(ridden(which, kind, h)) for h in (0.05, 0.025))
    assert np.log2(np.divide(coarse, fine)) == pytest.approx([order, order], abs=0.06)


@pytest.mark.parametrize("which", METHODS)
@pytest.mark.parametrize("kind", ["source", "Legendre"])
def test_cart_closed_discrete_solution(which, kind):
    """x_k = x1 (1 - r^k)/(1 - r), and its limit: off by h v0 or h v0/2 with the start of the source, exact otherwise."""
    h = 0.1
    r = 1 / (1 + h * MU / M) if which == "left" else (1 - h * MU / (2 * M)) / (1 + h * MU / (2 * M))
    run = ridden(which, kind, h)
    x1 = h * V0 if kind == "source" else M * V0 / (M / h + (MU if which == "left" else MU / 2))
    assert run.x[1] == pytest.approx(x1, rel=1e-14)
    assert np.abs(run.x - x1 * (1 - r ** np.arange(len(run))) / (1 - r)).max() < 1e-13
    off = {"left": h * V0, "mid": h * V0 / 2}[which] if kind == "source" else 0.0
    assert x1 / (1 - r) == pytest.approx(M * V0 / MU + off, rel=1e-13)


def test_cart_entropy_step_of_the_midpoint_map_is_lambert_w():
    """T(Sm) (S1 - S0) = c has the solution S0 + 2 nu W(c/(2 nu T(S0))); with another branch it has none nearby."""
    nu, h = 0.3, 0.2
    run = ridden("mid", "source", h, PARAMETERS | {"nu": nu})
    c = MU / h * np.diff(run.x) ** 2
    argument = c / (2 * nu * T0 * np.exp(run.S[:-1] / nu))
    assert np.abs(np.diff(run.S) - 2 * nu * lambertw(argument).real).max() < 1e-15
    assert np.abs(np.diff(run.S) - 2 * nu * argument).max() > 1e-5


@pytest.mark.parametrize("which", METHODS)
@pytest.mark.parametrize("kind", ["source", "Legendre"])
def test_cart_conserves_momentum_and_friction_together(which, kind):
    """m dx/h + mu x, x at the end of the step for the left map and in its middle for the other; not the other way round."""
    run = ridden(which, kind, 0.2)
    push, x = M * np.diff(run.x) / run.h, run.x
    at_end, midway = push + MU * x[1:], push + MU * (x[:-1] + x[1:]) / 2
    kept, lost = (at_end, midway) if which == "left" else (midway, at_end)
    assert np.ptp(kept) < 1e-13
    assert np.ptp(lost) > 0.1


@pytest.mark.parametrize("which", METHODS)
def test_cart_contracts_area_by_the_printed_factor(which):
    """det d(x, p)/d(x, p) over one step, by the exact tangent map; the exact flow contracts by exp(-h mu/m)."""
    h, a = 0.2, 0.2 * MU / M
    stepmap = METHODS[which].step_map(cart())
    values = [PARAMETERS[p] for p in stepmap.parameters]
    _, slope = tangent(stepmap, [0.4, 7.0, 0.01], values, h)
    printed = 1 / (1 + a) if which == "left" else (1 - a / 2) / (1 + a / 2)
    assert np.linalg.det(slope[:2, :2]) == pytest.approx(printed, rel=1e-13)
    assert np.linalg.det(slope[:2, :2]) == pytest.approx(np.exp(-a), abs=a**2 if which == "left" else a**3 / 6)
    assert np.abs(slope[:2, 2]).max() == 0  # the motion does not feel the entropy
    assert printed < 0.95  # without friction it would be 1
    step = {p: 0.0 if p == "mu" else v for p, v in zip(stepmap.parameters, values, strict=True)}
    _, free = tangent(stepmap, [0.4, 7.0, 0.01], list(step.values()), h)
    assert np.linalg.det(free[:2, :2]) == pytest.approx(1, rel=1e-13)


@pytest.mark.parametrize("which", METHODS)
def test_cart_regularity(which):
    """The determinants of M+ and M-, and where they vanish: M- at dS = nu (left), at h = 2 m/mu and dS = 2 nu (mid).

    rho_d of the source is (dL/dS) S.dot - F.v; the entropy law here is its negative, with the temperature in front.
    """
    from dalembert.discrete.equations import momentum_minus, momentum_plus

    made = METHODS[which].discrete_system(cart())
    (x,), (S,), (law,) = made.coordinates, made.entropies, made.entropy_laws

    def determinants(h, a, b, nu=0.7):
        """det M+ and det M- for the entropies a, b at the ends of a step."""
        at = {x.at(0): 0.1, x.at(1): 0.4, S.at(0): a, S.at(1): b, da.step: h}
        at |= {p: (PARAMETERS | {"nu": nu})[p.name] for p in cart().parameters}
        sides = ((momentum_minus, 1), (momentum_plus, 0))
        rows = [
            [[made.read(e).diff(z.at(k)).subs(at) for z in (x, S)] for e in (*side(made), -law)] for side, k in sides
        ]
        return [float(np.linalg.det(np.array(M, float))) for M in rows]

    h, a, b, nu = 0.2, 0.3, 0.5, 0.7
    T = T0 * np.exp(((1 - FRACTION[which]) * a + FRACTION[which] * b) / nu)
    if which == "left":
        stated = -(M + h * MU) * T / h**2, -M * T / h**2 * (1 - (b - a) / nu)
        degenerate = [(h, a, a + nu)]
    else:
        stated = (
            -(M + h * MU / 2) * T / h**2 * (1 + (b - a) / (2 * nu)),
            -(M - h * MU / 2) * T / h**2 * (1 - (b - a) / (2 * nu)),
        )
        degenerate = [(h, a, a + 2 * nu), (2 * M / MU, a, b)]
    assert determinants(h, a, b) == pytest.approx(stated, rel=1e-12)
    for place in degenerate:
        forward, backward = determinants(*place)
        assert abs(backward) < 1e-12 * abs(forward)


def test_cart_keeps_both_laws_with_the_discrete_gradient():
    """Energy to rounding and entropy rising; the maps of the source keep the second law, and the first one to O(h^p)."""
    run = da.simulate(
        cart(), da.DiscreteGradient(), h=0.2, until=END, parameters=PARAMETERS, start=start("Legendre", 0.2)
    )
    assert np.abs(run.energy - 310).max() < 1e-11
    assert np.diff(run.S).min() > 0
    for which, order in (("left", 1), ("mid", 2)):
        drift = [np.abs(ridden(which, "Legendre", h).energy - 310).max() for h in (0.1, 0.05)]
        assert np.log2(drift[0] / drift[1]) == pytest.approx(order, abs=0.06)
        assert np.diff(ridden(which, "source", 1.5).S).min() > 0


# -------------------- the cart, typed in as it is printed --------------------


def typed(force_minus, force_plus, law):
    """The cart as a discrete system given by the slots: L_d of the midpoint map, and what is under test."""
    x, S = da.coordinates("x"), da.entropies("S")
    m, mu, nu, T, S_ref = da.parameters("m mu nu T S_ref")
    h, v = da.step, (x.at(1) - x.at(0)) / da.step
    between = (S.at(0) + S.at(1)) / 2
    return da.DiscreteSystem(
        "cart, typed in",
        [x],
        lagrangian=h * (m * v**2 / 2 - nu * T * exp((between - S_ref) / nu)),
        force_minus={x: force_minus(h, mu, v)},
        force_plus={x: force_plus(h, mu, v)},
        entropies=[S],
        entropy_laws=[law(S.at(0), S.at(1), nu, T, S_ref) * (S.at(1) - S.at(0)) - mu / h * (x.at(1) - x.at(0)) ** 2],
    )


def half(h, mu, v):
    return -h / 2 * mu * v


def temperature(S0, S1, nu, T, S_ref):
    return T * exp(((S0 + S1) / 2 - S_ref) / nu)


def typed_run(system, h, nu=1.0):
    """With the asymptotic temperature and entropy as reference, as the source has it."""
    hot = T0 + M * V0**2 / (2 * nu)
    values = {"m": M, "mu": MU, "nu": nu, "T": hot, "S_ref": nu * np.log(hot / T0)}
    return da.simulate(system, h=h, until=END, parameters=values, start=start("source", h))


@pytest.mark.parametrize("nu", [1.0, 2.5])
def test_cart_typed_in_is_the_cart_discretised(nu):
    given = typed_run(typed(half, half, temperature), 0.05, nu)
    made = ridden("mid", "source", 0.05, PARAMETERS | {"nu": nu})
    assert np.abs(given.x - made.x).max() < 1e-13 and np.abs(given.S - made.S).max() < 1e-14


def test_E8_whole_forces_at_both_ends_are_friction_twice():
    """As printed, F_d = -h mu (x1 - x0)/h at either end: the cart stops half way, however small the step."""
    run = typed_run(typed(lambda h, mu, v: -h * mu * v, lambda h, mu, v: -h * mu * v, temperature), 0.01)
    assert run.x[-1] == pytest.approx(M * V0 / (2 * MU), abs=0.03)
    assert errors(run)[0] > 1.5


def test_E19_the_exponent_as_printed_is_right_for_unit_heat_capacity_only():
    printed = typed(half, half, lambda S0, S1, nu, T, S_ref: T * exp((S0 + S1) / (2 * nu) - S_ref))
    for nu, right in ((1.0, True), (2.0, False)):
        parameters = PARAMETERS | {"nu": nu}
        coarse, fine = (errors(typed_run(printed, h, nu), parameters)[1] for h in (0.05, 0.025))
        assert (fine < 0.55 * coarse) == right


def test_E20_the_factor_two_of_the_printed_code_doubles_the_entropy():
    """The first step of the printed code has no factor 2, the loop has."""
    right = typed_run(typed(half, half, temperature), 0.05)
    assert right.S[-1] == pytest.approx(0.0338, abs=6e-5)
    doubled = typed(half, half, lambda *slots: temperature(*slots) / 2)
    begun = {"x": right.x[1], "x.momentum": right["x.momentum"][1], "S": right.S[1]}
    printed = da.simulate(doubled, h=0.05, steps=len(right) - 2, parameters=right.parameters, start=begun)
    assert np.abs(printed.x - right.x[1:]).max() < 1e-13
    assert printed.S[-1] == pytest.approx(0.0646, abs=6e-5)
    assert exact(END)[1] == pytest.approx(0.0328, abs=6e-5)
