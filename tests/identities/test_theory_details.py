"""Values that no motion of the other fast tests depends on: rates with heat, entropy produced, kernels, methods' times."""

from __future__ import annotations

import numpy as np
import pytest
import sympy

import dalembert as da
from dalembert.model.coordinates import multiplier
from dalembert.run.given_start import read_start
from dalembert.run.values import point_map
from dalembert.theory.motion.state_maps import rate_map
from dalembert.theory.small_motions.matrices import kernel, part

x, y, z = da.coordinates("x y z")
c, k = da.parameters("c k", positive=True)


def test_rates_along_a_motion_count_what_entropies_do():
    """d/dt of x S is x.dot S + x S.dot, with S.dot = c x.dot^2 / T."""
    S = da.entropies("S")
    warm = da.System(
        "warm", [x], kinetic=x.dot**2 / 2, entropies=[S], internal_energy=da.exp(S), friction={x: -c * x.dot}
    )
    at = np.array([[0.3, 0.7, 0.2, 0.0]])  # x, x.dot, S, t
    found = point_map(rate_map(warm, {"product": x * S}))(at, np.array([[0.4]]))[0][0, 0]
    assert found == pytest.approx(0.7 * 0.2 + 0.3 * 0.4 * 0.7**2 / np.exp(0.2), rel=1e-14)


def test_what_conduction_produces():
    """k (T2 - T1)^2 / (T1 T2): heat leaves at one temperature and arrives at the other; never negative."""
    S1, S2 = da.entropies("S1 S2")
    pair = da.System(
        "pair",
        [x],
        kinetic=x.dot**2 / 2,
        entropies=[S1, S2],
        internal_energy=da.exp(S1) + 2 * da.exp(S2),
        conduction={(S1, S2): k},
    )
    produced = da.entropy_production(pair).conduction
    for warm in ((0.1, 0.9), (0.9, 0.1)):
        T1, T2 = np.exp(warm[0]), 2 * np.exp(warm[1])
        found = float(produced.subs({S1: warm[0], S2: warm[1], k: 0.3}))
        assert found == pytest.approx(0.3 * (T2 - T1) ** 2 / (T1 * T2), rel=1e-13)


def test_kernels_are_annihilated_by_their_rows():
    rows = sympy.Matrix([[2, 1, 0, 3], [0, 1, 4, 1]])
    for dependent in ((1, 3), (0, 2), (0, 1)):
        basis = kernel(rows, dependent)
        assert basis.shape == (4, 2) and (rows * basis).is_zero_matrix and basis.rank() == 2


def test_stages_of_nystrom_are_at_their_times():
    """x'' = -4 cos(2 t) - (x - cos(2 t)) has the solution cos(2 t)."""
    t = da.time
    driven = da.System("driven", [x], kinetic=x.dot**2 / 2, potential=x**2 / 2, forces={x: -3 * da.cos(2 * t)})
    run = da.simulate(driven, da.Nystrom12(), h=0.1, steps=20, start={x: 1.0, x.dot: 0.0})
    assert np.abs(run.x - np.cos(2 * run.time)).max() < 1e-13
    assert np.ptp(run.x) > 1


class Slow(da.Midpoint):
    """A method whose velocities and multipliers are said to converge slowly."""

    lower_orders = {"velocities": 1, "multipliers": 1}  # noqa: RUF012


def test_a_composition_is_no_better_than_what_it_is_made_of():
    """In what its method computes; multipliers are those of the state, which the composition improves."""
    assert da.Composition(Slow(), 4).lower_orders == {"velocities": 1}
    assert [da.Composition(Slow(), 4).order_in(q) for q in ("positions", "velocities", "multipliers")] == [4, 1, 4]


def test_starts_with_several_multipliers_that_are_carried():
    """Each keeps its own, in the order of the constraints."""
    first, second = multiplier(1), multiplier(2)
    given = {x: 0.1, x.dot: 0.2, second: 0.5, first: 0.3}
    start, _ = read_start([x], given, {}, 0, carried=(first, second))
    assert start.carried.tolist() == [[0.3, 0.5]] and start.state.tolist() == [[0.1, 0.2, 0.3, 0.5]]


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_the_time_of_a_start_is_finite(bad):
    with pytest.raises(da.StartError, match=r"start: time = (nan|inf)\. Give the time of the start"):
        read_start([x], {x: 0.1, x.dot: 0.2, da.time: bad}, {}, 0)
    assert read_start([x], {x: 0.1, x.dot: 0.2, da.time: 3}, {}, 0)[0].time == 3.0


def test_the_energy_in_a_turning_frame():
    """T = (v^2 + 9 x^2)/2 + 2 v, V = x^4: the energy is T + V, the Jacobi integral v^2/2 - 9 x^2/2 + V."""
    turning = da.System("turning", [x], kinetic=(x.dot**2 + 9 * x**2) / 2 + 2 * x.dot, potential=x**4)
    found = da.evaluate(turning, at={x: 0.5, x.dot: 0.7})
    assert found.energy == pytest.approx((0.49 + 9 * 0.25) / 2 + 1.4 + 0.0625, rel=1e-14)
    assert found.jacobi_integral == pytest.approx((0.49 - 9 * 0.25) / 2 + 0.0625, rel=1e-14)


def test_the_power_of_reactions_that_move_with_their_constraint():
    """An elevator y = t^2/2 lifts a mass of 2: the reaction 2 (1 + g) does the work 2 (1 + g) t per unit of time."""
    t = da.time
    lift = da.System("lift", [y], kinetic=y.dot**2, potential=2 * 10 * y, constraints=[y - t**2 / 2])
    power = da.energy_balance(lift).powers["the work of reactions"]
    at = {y: 0.5 * 0.3**2, y.dot: 0.3, t: 0.3}
    reaction = da.evaluate(lift, at=at).multipliers[0]
    assert reaction == pytest.approx(22)
    found = float(power.subs({s: 22.0 for s in power.free_symbols if s.name == "multiplier.1"}).subs(at))
    assert found == pytest.approx(22 * 0.3, rel=1e-13)


def test_small_parts_of_a_matrix_are_kept_unless_they_are_rounding():
    matrix = sympy.Matrix([[1.0, 2.0 + 1e-9], [2.0, 3.0]])
    assert float(part(matrix, -1)[0, 1]) == pytest.approx(5e-10, rel=1e-6)
    assert part(sympy.Matrix([[1.0, 2.0 + 5e-16], [2.0, 3.0]]), -1)[0, 1] == 0


def test_a_recurrence_without_terms_before_the_first():
    with pytest.raises(da.ModelError, match="With B = 0 there is no term before q0"):
        da.linear_recurrence(1.5, 0)(-1, 1.0, 2.0)
    assert da.linear_recurrence(1.5, 0)(2, 1.0, 2.0) == pytest.approx(3.0)
