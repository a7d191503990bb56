"""The discrete equations as they are printed hold along the motion that is computed."""

from __future__ import annotations

import pytest
import sympy

import dalembert as da
from dalembert.discrete.equations import Node

from ..conformance import systems

MAPS = [da.left_map, da.midpoint_map, da.FiniteDifferenceMap(sympy.Rational(1, 3)), da.Trapezoidal()]
H = 0.1


def residuals(discrete, run, k, t):
    """Left less right of every printed equation at node k, which is at time t."""
    q = discrete.coordinates
    at = {Node(c.name, f"k{o}"): run[c][k + d] for c in q for o, d in (("-1", -1), ("", 0), ("+1", 1))}
    at |= dict(zip(discrete.multipliers, run.multipliers[k], strict=True)) if discrete.constraints else {}
    at |= {p: run.parameters[p.name] for p in discrete.parameters} | {da.time: t, da.step: H}
    told = discrete.equations()
    return [float((e.lhs - e.rhs).subs(at)) for e in (*told.lagrange, *told.constraints)]


@pytest.mark.parametrize("map", MAPS, ids=repr)
@pytest.mark.parametrize(
    "case", [systems.free, systems.forced, systems.nonholonomic_forced, systems.holonomic], ids=lambda c: c.__name__
)
def test_printed_equations_hold(case, map):
    """Time, which the potential and the forces depend on, is that of node k; a wrong one leaves a residual."""
    c = case()
    discrete = da.discretise(c.system, map)
    here = da.simulate(c.system, da.Midpoint(), h=H, steps=0, start=c.start, parameters=c.parameters)
    start = {s: here[s][0] for q in c.system.coordinates for s in (q, q.momentum)}
    run = da.simulate(discrete, h=H, steps=4, start=start, parameters=c.parameters)
    assert max(abs(r) for r in residuals(discrete, run, 2, 2 * H)) < 1e-12
    assert max(abs(r) for r in residuals(discrete, run, 2, 2 * H + 0.01)) > 1e-6, "control: another time"
