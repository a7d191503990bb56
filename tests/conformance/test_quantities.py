"""Every quantity that a method computes converges with the order it claims for it, on every kind of system it accepts."""

from __future__ import annotations

from typing import ClassVar

import pytest

import dalembert as da
from dalembert.errors import MethodError
from dalembert.methods.method_table import _row

from . import systems
from .methods import METHODS, accepts
from .orders import fitted, floors, quantity_errors, short_of
from .test_order import CASES, named

STEPS = {
    1: (100, 140, 200), 2: (100, 140, 200), 4: (48, 68, 96), 6: (8, 12, 16, 20), 8: (6, 8, 10, 12, 16),
    12: (3, 4, 5, 6),
}  # fmt: skip
MORE = {8: 0.6, 12: 1.2}
"""Few steps of such methods lie between the asymptotic regime and rounding."""


FINER = {systems.upsilon, systems.vakonomic, systems.vakonomic_nonlinear}
"""Orders show at twice as many steps: RungeKutta4 has 3.3 in the energy from 48 to 68 steps, 3.8 from 136 to 192, and
DormandPrince8 6.7 in the velocities from 8 to 10 steps, 7.6 from 16 to 20."""


def observed(method, case):
    """The order of each quantity whose error is not rounding."""
    more = 2 if case in FINER and method.order in (4, 8) else 1
    found = [(n, quantity_errors(method, case, n)) for n in (more * n for n in STEPS[method.order])]
    floor = floors(method, case)
    orders = {name: fitted([(n, e[name]) for n, e in found], floor[name]) for name in found[0][1]}
    return {name: p for name, p in orders.items() if p is not None}


def too_low(method, case):
    """The quantities that converge more slowly than claimed."""
    allowed = short_of(method.order) + 0.1 + MORE.get(method.order, 0.0)
    return {name: p for name, p in observed(method, case).items() if p < method.order_in(name) - allowed}


@pytest.mark.parametrize(("method", "case"), [(m, c) for m in METHODS for c in CASES if accepts(m, c)], ids=named)
def test_order_of_each_quantity(method, case):
    assert not too_low(method, case)


@pytest.mark.parametrize("stages", [3, 4])
def test_control_the_multipliers_of_the_stages_are_noticed(stages, monkeypatch):
    """Lobatto's own multipliers have order 2 and 4: where they are shown, the claim of order 2s - 2 is false."""
    with monkeypatch.context() as patch:
        patch.setattr(da.Lobatto, "node_multipliers", True)
        low = too_low(da.Lobatto(stages), systems.holonomic)
        assert list(low) == ["multipliers"]
        assert abs(low["multipliers"] - 2 * (stages // 2)) < 0.5
        patch.setattr(da.Lobatto, "lower_orders", {"multipliers": 2 * (stages // 2)})
        assert not too_low(da.Lobatto(stages), systems.holonomic)


class Own(da.Midpoint):
    """A method of one's own that claims less for its multipliers."""

    lower_orders: ClassVar = {"multipliers": 1}


def test_a_method_of_ones_own_states_its_orders():
    method = Own()
    assert [method.order_in(name) for name in ("positions", "multipliers")] == [2, 1]
    assert da.Composition(method, order=4).order_in("multipliers") == 4  # taken from the state
    assert _row(Own).order == "2; multipliers 1"


def test_a_quantity_that_there_is_not():
    told = "'speed' is no quantity. The quantities are: positions, velocities, momenta, multipliers, energy, entropies."
    with pytest.raises(MethodError, match=told):
        da.Midpoint().order_in("speed")
