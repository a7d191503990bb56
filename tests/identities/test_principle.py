"""How constraints act is one object of a system: methods take a principle that they have never heard of.

`Tilted` is written here and nowhere else: it turns every reaction by a fixed slope, as sliding friction does, and says in
another way what given variations say. `Vakonomic` is one of the library, whose multipliers have a motion of their own.
"""

import json
from dataclasses import dataclass

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from sympy import Expr

import dalembert as da
from dalembert.discrete import equations as discrete_equations
from dalembert.discrete.equations import step_map
from dalembert.discrete.flow import backward_step_map, step_matrix
from dalembert.engine.arguments import Lanes
from dalembert.engine.machine import Stepper
from dalembert.engine.run_options import Extent
from dalembert.model.coordinates import multiplier
from dalembert.model.principle import GivenVariations, Principle
from dalembert.model.serial import dumps, loads
from dalembert.run.plan import Plan
from dalembert.run.start import resolve_start
from dalembert.run.values import point_map
from dalembert.symbolic import number
from dalembert.theory.motion.state_maps import velocity_map

x, y, z = da.coordinates("x y z")
m, k = da.parameters("m k", positive=True)
lam = multiplier(1)
rate = lam.dot
VALUES = {m: 1.3, k: 0.8}
KINETIC, POTENTIAL = m * (x.dot**2 + y.dot**2 + z.dot**2) / 2, k * (x**2 + 2 * y**2 + z**2) / 2
START = {x: 0.3, y: 0.5, z: -0.2, x.dot: 0.7, y.dot: -0.4}


def particle(constraint=z.dot - y * x.dot, **more):
    return da.System("particle", [x, y, z], kinetic=KINETIC, potential=POTENTIAL, constraints=[constraint], **more)


@dataclass(frozen=True)
class Tilted(Principle):
    """The reaction on (x, y, z) is lambda (A + slope e_y)."""

    slope: Expr

    def forms(self, constraints, coordinates):
        return tuple(
            tuple(a + (self.slope if q == y else 0) for a, q in zip(c.coefficients, coordinates, strict=True))
            for c in constraints
        )


# -------------------- a principle with one-forms of its own --------------------

TILTED = particle(principle=Tilted(da.Rational(1, 5)))
GIVEN = particle(variations=[z.dot - y * x.dot + y.dot / 5])
TAKING = [
    da.LeftPoint(), da.Midpoint(), da.Trapezoidal(), da.GeometricNonholonomic(), da.McLachlanPerlmutter(),
    da.DiscreteGradient(), da.RungeKutta4(), da.DormandPrince8(), da.Composition(da.Midpoint(), 4), da.Reference(),
]  # fmt: skip


@pytest.mark.parametrize("method", TAKING, ids=repr)
def test_a_principle_of_ones_own_moves_as_the_same_variations_do(method):
    """To the last bit; and not as d'Alembert's principle does."""

    def run(system):
        return da.simulate(system, method, h=0.02, steps=100, start=START, parameters=VALUES)

    mine, given, ideal = run(TILTED), run(GIVEN), run(particle())
    assert np.array_equal(mine.y, given.y) and np.array_equal(mine.multipliers, given.multipliers)
    assert np.abs(mine.y - ideal.y).max() > 1e-3 * np.abs(ideal.y).max()


def test_its_equations_and_numbers_are_those_of_the_variations():
    numbers = [da.evaluate(s, at=START, parameters=VALUES) for s in (TILTED, GIVEN, particle())]
    assert numbers[0].accelerations == numbers[1].accelerations != numbers[2].accelerations
    assert numbers[0].reactions == numbers[1].reactions
    assert numbers[0].reactions[y] == pytest.approx(numbers[0].multipliers[0] / 5) and numbers[2].reactions[y] == 0
    assert str(TILTED.equations()) == str(GIVEN.equations()) != str(particle().equations())
    discrete = [str(da.discretise(s, da.Midpoint()).equations()) for s in (TILTED, GIVEN, particle())]
    assert discrete[0] == discrete[1] != discrete[2]
    assert not TILTED.is_ideal and not GIVEN.is_ideal and particle().is_ideal


def test_a_system_keeps_its_principle():
    heavy = TILTED.replace(potential=0)
    assert heavy.principle == TILTED.principle and heavy.variations == TILTED.variations
    assert da.System(**TILTED.arguments) == TILTED != GIVEN
    assert TILTED.replace(principle=None) == TILTED.replace(principle=da.DAlembert()) == particle()
    assert GIVEN.replace(principle=da.DAlembert()) == particle()
    assert TILTED.replace(variations=[z.dot - y * x.dot + y.dot / 5]) == GIVEN
    free = da.System("free", [w := da.coordinates("w")], kinetic=w.dot**2)
    assert da.bodies.compose("both", TILTED, free).principle == TILTED.principle


def test_what_system_says_by_default():
    assert particle().principle == da.DAlembert() and particle(principle=da.DAlembert()) == particle()
    assert particle(variations=[z.dot - y * x.dot]) == particle()
    assert GIVEN.principle == GivenVariations(GIVEN.variations) and particle() != GIVEN
    assert da.System(**GIVEN.arguments) == GIVEN
    assert da.System(**particle().arguments) == particle()


def test_files_hold_the_principle():
    """And those that were written before there was a choice say it by their variations."""
    for system in (particle(), GIVEN):
        text = dumps(system)
        assert loads(text) == system
        old = json.loads(text)
        assert old.pop("principle") == type(system.principle).__name__
        assert loads(json.dumps(old)) == system
    assert loads(dumps(GIVEN)) != particle()


# -------------------- multipliers with a motion of their own --------------------

VAKO = particle(principle=da.Vakonomic())
LAMBDA = 0.6


def by_hand(state):
    """Accelerations and the rate of lambda: d/dt(m v + lambda dchi/dv) = -grad V + lambda dchi/dq, chi = z.dot - y x.dot."""
    X, Y, Z, vx, vy, _, L = state
    M, K = VALUES[m], VALUES[k]
    matrix = np.array([[M, 0, 0, -Y], [0, M, 0, 0], [0, 0, M, 1], [-Y, 0, 1, 0]])
    return np.linalg.solve(matrix, [-K * X + L * vy, -2 * K * Y - L * vx, -K * Z, vx * vy])


BEGIN = np.array([START[x], START[y], START[z], START[x.dot], START[y.dot], START[y] * START[x.dot], LAMBDA])
MOMENTA = np.array([*BEGIN[:3], *(VALUES[m] * BEGIN[3:6] + LAMBDA * np.array([-START[y], 0, 1]))])
"""Position, and the derivative of L + lambda chi by the velocity."""
END = 1.0


def exact():
    def flow(_, s):
        return [*s[3:6], *by_hand(s)]

    return solve_ivp(flow, (0, END), BEGIN, rtol=1e-12, atol=1e-13, method="DOP853").y[:, -1]


def iterated(method, system, state, steps):
    """The state after `steps` steps of the method, and the outputs of every node."""
    stepper = Stepper(method.step_map(system))
    values, out = np.array([[VALUES[p] for p in system.parameters]]), np.full((1, steps + 1, stepper.width), np.nan)
    lane = Lanes.begun(stepper.carry(np.array([state])), values)
    stepper.advance(lane, out, Extent(0.0, END / steps, 0, steps), closing=True)
    assert lane.status[0, 0] == 0
    return out[0]


def test_vakonomic_equations():
    """Each equation is affine, so it is that by hand if both agree at random values of everything."""
    residual = [e.lhs - e.rhs for e in VAKO.equations().lagrange]
    rng = np.random.default_rng(1)
    for state in rng.normal(size=(4, 7)):
        state[5] = state[1] * state[3]
        solved = VAKO.equations().solved
        at = dict(zip((x, y, z, x.dot, y.dot, z.dot, lam), state, strict=True)) | VALUES
        found = by_hand(state)
        moving = dict(zip((x.ddot, y.ddot, z.ddot, rate), found, strict=True))
        assert np.allclose([float(e.subs(moving).subs(at)) for e in residual], 0, atol=1e-12)
        assert np.allclose([float(solved[s].subs(at)) for s in moving], found)


def test_vakonomic_numbers_at_a_state():
    numbers = da.evaluate(VAKO, at={**START, lam: LAMBDA}, parameters=VALUES)
    assert np.allclose([*numbers.accelerations.values(), numbers.multiplier_rates[lam]], by_hand(BEGIN))
    forces = [-VALUES[k] * START[x], -2 * VALUES[k] * START[y], -VALUES[k] * START[z]]
    acting = [VALUES[m] * a - f for a, f in zip(numbers.accelerations.values(), forces, strict=True)]
    assert np.allclose(list(numbers.reactions.values()), acting)
    with pytest.raises(da.StartError) as refused:
        da.evaluate(VAKO, at=START, parameters=VALUES)
    expected = (
        "start: no value for lambda_1, a multiplier that is part of the state. Add start={system.multipliers[0]: ...}."
    )
    assert str(refused.value) == expected


def test_a_constraint_that_can_be_integrated_acts_as_d_alembert_says():
    """Whatever lambda is: its terms cancel exactly if the constraint is the derivative of a function."""
    for constraint, same in ((z.dot - y * x.dot - x * y.dot, True), (z.dot - y * x.dot, False)):
        start = {**START, z.dot: START[y] * START[x.dot] + same * START[x] * START[y.dot]}
        ideal = da.evaluate(particle(constraint), at=start, parameters=VALUES)
        mine = particle(constraint, principle=da.Vakonomic())
        vako = da.evaluate(mine, at={**start, lam: LAMBDA}, parameters=VALUES)
        pairs = zip(ideal.accelerations.values(), vako.accelerations.values(), strict=True)
        assert all(a == pytest.approx(b) for a, b in pairs) == same


@pytest.mark.parametrize(
    "method, order", [(da.RungeKutta4(), 4), (da.Midpoint(), 2), (da.Trapezoidal(), 2), (da.Composition(da.Midpoint(), 4), 4)],
    ids=str,
)  # fmt: skip
def test_methods_reach_their_order_with_a_principle_they_do_not_know(method, order):
    """Against the equations by hand. The momentum that methods carry is that of L + lambda chi."""
    assert method.takes(VAKO)
    goal, errors = exact(), []
    for steps in (20, 40):
        begin = BEGIN if method.carries == "velocity" else MOMENTA
        end = iterated(method, VAKO, begin, steps)[-1]
        errors.append(np.abs(end[:3] - goal[:3]).max())
        if method.carries == "velocity":
            errors[-1] = np.abs(end[:7] - goal).max()
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.3)
    ideal = da.simulate(particle(), da.RungeKutta4(), h=END / 40, steps=40, start=START, parameters=VALUES)
    assert abs(ideal.y[-1] - goal[1]) > 100 * errors[1]


def test_the_multiplier_of_a_step_is_that_of_the_motion():
    steps = 200
    out = iterated(da.Midpoint(), VAKO, MOMENTA, steps)
    first = list(da.Midpoint().step_map(VAKO).outputs).index("multiplier.1") + 6
    assert out[0, first] == pytest.approx(LAMBDA, abs=2 * END / steps)
    assert out[-1, first] == pytest.approx(exact()[6], abs=2 * END / steps)
    assert abs(exact()[6] - LAMBDA) > 20 * END / steps


class Slack(da.DAlembert):
    """Half the reaction at nodes: nothing but the principle tells its discrete systems from those of d'Alembert."""

    def node_reaction(self, discrete, multipliers):
        return [r / 2 for r in super().node_reaction(discrete, multipliers)]


def test_discrete_systems_of_different_principles_differ():
    ideal, slack = (da.discretise(particle(principle=p), da.Midpoint()) for p in (da.DAlembert(), Slack()))
    assert ideal != slack and ideal == da.discretise(particle(), da.Midpoint())
    start = {x.at(0): 0.3, y.at(0): 0.5, z.at(0): 0.1, x.at(1): 0.34, y.at(1): 0.48, z.at(1): 0.1196}
    runs = [da.simulate(s, h=0.1, steps=5, start=start, parameters=VALUES) for s in (ideal, slack)]
    assert np.allclose(runs[1].multipliers[1:-1], 2 * runs[0].multipliers[1:-1])
    assert not np.allclose(runs[1].multipliers[1:-1], runs[0].multipliers[1:-1])


@pytest.mark.parametrize("system", [particle(), GIVEN, VAKO], ids=lambda s: type(s.principle).__name__)
def test_the_step_matrix_is_the_derivative_of_the_step(system, monkeypatch):
    """By the end of the step (its velocity, over h) and by the multiplier, wherever the principle has put it."""
    monkeypatch.setattr(discrete_equations, "searched_last", lambda block: (block,))  # equations in their own order
    discrete = da.discretise(system, da.Midpoint())
    (block,) = step_map(discrete).blocks
    rng, h = np.random.default_rng(2), 0.1
    q, V = rng.normal(size=(2, 3))
    at = {"multiplier.1": 0.7, "t": 0.0, "step.h": h, "m": 1.3, "k": 0.8}
    for c, place, v in zip(system.coordinates, q, V, strict=True):
        at |= {
            c.name: place,
            c.at(0).name: place,
            c.at(1).name: place + h * v,
            f"{c.name}.step": v,
            c.momentum.name: 0.3,
        }
    found, known = ([[number(e, at) for e in row] for row in rows] for rows in (step_matrix(discrete), block.jacobian))
    assert np.allclose(np.array(found) * [h, h, h, 1], known, rtol=1e-9, atol=1e-12)


def test_a_vakonomic_step_can_be_taken_back():
    """Nothing is lost: the momentum of L + lambda chi tells the multiplier, so the step is one to one."""
    forward = iterated(da.Midpoint(), VAKO, MOMENTA, 20)[1, :6]
    back = Stepper(backward_step_map(da.discretise(VAKO, da.Midpoint())))
    values, out = np.array([[VALUES[p] for p in VAKO.parameters]]), np.full((1, 2, back.width), np.nan)
    lane = Lanes.begun(back.carry(forward[None]), values)
    back.advance(lane, out, Extent(0.0, END / 20, 0, 1), closing=True)
    assert lane.status[0, 0] == 0 and np.abs(forward - MOMENTA).max() > 1e-2
    assert np.allclose(out[0, 1, :6], MOMENTA, rtol=1e-12)


def test_a_start_is_converted_to_the_momenta_of_the_principle_and_back():
    rows = np.array([[VALUES[p] for p in VAKO.parameters]])
    values = {p.name: np.array(v) for p, v in VALUES.items()}
    start = resolve_start(VAKO, {**START, lam: LAMBDA}, values, rows)
    for method, state in ((da.Midpoint(), MOMENTA), (da.RungeKutta4(), BEGIN)):
        plan = Plan(VAKO, method, Extent(t0=0.0, h=0.1, begin=0, steps=1), values, None)
        carry = plan.first_carry(Stepper(method.step_map(VAKO)), start, rows)
        assert np.allclose(carry[0, : len(state)], state, rtol=1e-14)
    found, status = point_map(velocity_map(VAKO))(np.array([[*MOMENTA, 0.0]]), rows)
    assert not status.any() and np.allclose(found[0], BEGIN[3:6], rtol=1e-12)


def test_a_holonomic_constraint_beside_a_kinematic_one():
    """Two kinds of multipliers in one step: that of x^2 + y^2 + z^2 - 1 acts at nodes and has no motion of its own."""
    sphere = da.System("sphere", [x, y, z], kinetic=KINETIC, potential=POTENTIAL,
                       constraints=[x**2 + y**2 + z**2 - 1, z.dot - y * x.dot], principle=da.Vakonomic())  # fmt: skip
    assert [s.name for s in sphere.principle.carried(sphere)] == ["multiplier.2"]
    at = {x: 0.6, y: 0.0, z: 0.8, x.dot: 0.0, y.dot: 0.3, z.dot: 0.0, multiplier(2): 0.2}
    numbers = da.evaluate(sphere, at=at, parameters=VALUES)
    lines = str(numbers)
    assert "lambda_1 = " in lines
    M = VALUES[m]
    p = [0.0, M * 0.3, M * 0.0 + 0.2]
    nodes = iterated(da.Midpoint(), sphere, [0.6, 0.0, 0.8, *p], 100)
    assert np.abs((nodes[:, :3] ** 2).sum(axis=1) - 1).max() < 1e-12
    rk = iterated(da.RungeKutta4(), sphere, [0.6, 0.0, 0.8, 0.0, 0.3, 0.0, 0.2], 400)
    assert np.abs(rk[-1, :3] - nodes[-1, :3]).max() < 1e-3


@pytest.mark.parametrize("method", [da.DiscreteGradient(), da.GeometricNonholonomic(), da.McLachlanPerlmutter(),
                                    da.Gauss(2)], ids=repr)  # fmt: skip
def test_methods_that_cannot_carry_multipliers_say_so(method):
    with pytest.raises(da.MethodError) as refused:
        method.check(VAKO)
    expected = "under Vakonomic() its multipliers have a motion of their own. Use Midpoint() or DormandPrince8()."
    assert str(refused.value) == f"{type(method).__name__} does not apply to 'particle': {expected}"
    assert method.takes(particle()) == (not isinstance(method, da.Gauss))
