"""Statements about mechanics alone refuse a system with entropies in words; with the mechanical part they work."""

from __future__ import annotations

import numpy as np
import pytest
from sympy import exp, sin

import dalembert as da
from tests.errors.tools import told

x, y = da.coordinates("x y")
X = da.coordinates("X")
S = da.entropies("S")
m, k, mu, T0, nu = da.parameters("m k mu T0 nu", positive=True)
MECHANICS = {"kinetic": m * (x.dot**2 + y.dot**2) / 2, "potential": k * x**2 / 2}
HEAT = {"entropies": [S], "internal_energy": nu * T0 * exp(S / nu), "friction": {x: -mu * x.dot}}
ROLE = {"energy_report": "modified_hamiltonian", "generalised_principle": "hamilton_principle"}
VALUES = {m: 1.0, k: 4.0}
WARM = {mu: 0.5, T0: 1.0, nu: 1.0}


def _bound(heat):
    return da.System("warm" if heat else "cold", [x, y], **MECHANICS, **heat, constraints=[y - x / 2])


def _free(heat):
    return da.System("warm" if heat else "cold", [x, y], **MECHANICS, **heat)


def _run(system):
    thermal = bool(system.entropies)
    start = {x: 1.0, x.dot: 0.0, y: 0.5, y.dot: 0.0} | ({S: 0.0} if thermal else {})
    values = VALUES | (WARM if thermal else {})
    return da.simulate(system, da.Midpoint(), h=0.01, steps=40, start=start, parameters=values, progress=False)


CALLS = {
    "first_integrals": lambda h: da.first_integrals(_free(h), degree=0),
    "noether": lambda h: da.noether(_free(h), {y: 1}),
    "equilibria": lambda h: da.equilibria(_bound(h), parameters=VALUES, box={x: (-1, 1), y: (-1, 1)}),
    "linearise": lambda h: da.linearise(_bound(h), about={x: 0, y: 0}),
    "normal_modes": lambda h: da.normal_modes(_bound(h), at={x: 0, y: 0}, parameters=VALUES),
    "hamilton": lambda h: da.hamilton(_free(h)),
    "routh": lambda h: da.routh(_free(h)),
    "structure": lambda h: da.structure(_free(h)),
    "change_coordinates": lambda h: da.change_coordinates(_free(h), {x: X + sin(X) / 2}),
    "impose": lambda h: da.impose(_free(h), {y: da.time}),
    "reactions": lambda h: da.reactions(_bound(h)),
    "gauge_function": lambda h: da.gauge_function(_free({}), _free(h)),
    "modified_equation": lambda h: da.modified_equation(_free(h), da.Midpoint(), 2),
    "modified_hamiltonian": lambda h: da.modified_hamiltonian(_free(h), da.Midpoint(), 2),
    "exact_discrete_lagrangian": lambda h: da.exact_discrete_lagrangian(_free(h)),
    "energy_report": lambda h: da.energy_report(_run(_free(h)), 2),
    "hamilton_principle": lambda h: da.hamilton_principle(_run(_free(h))),
    "generalised_principle": lambda h: da.generalised_principle(_run(_free(h))),
    "contact_report": lambda h: da.contact_report(_run(_bound(h)), {"slope": 1}),
}


@pytest.mark.parametrize("name", CALLS)
def test_entropies_are_refused_in_words(name):
    message = told(da.ModelError, lambda: CALLS[name](HEAT))
    assert message == (
        f"{ROLE.get(name, name)}: 'warm' has the entropy S. Expected a mechanical system, whose motion does not depend on "
        f"heat. State the mechanical part alone, as a System without entropies, friction and heat; or compute the whole "
        f"and read its laws: dalembert.audit(dalembert.simulate(system, ...))."
    )
    assert CALLS[name]({}) is not None


def test_several_entropies_are_named():
    one, two = da.entropies("S1 S2")
    heated = da.System("two bodies", [x], kinetic=m * x.dot**2 / 2, entropies=[one, two],
                       internal_energy=T0 * (exp(one) + exp(two)))  # fmt: skip
    assert told(da.ModelError, lambda: da.structure(heated)).startswith(
        "structure: 'two bodies' has the entropies S1, S2. Expected a mechanical system"
    )


def test_what_is_said_of_constraints_alone_stays():
    verdict = da.classify(_bound(HEAT))
    assert verdict.degrees_of_freedom == da.classify(_bound({})).degrees_of_freedom == 1


def test_what_to_type_next_works():
    run = _run(_bound(HEAT))
    assert np.isfinite(run[S]).all() and da.audit(run) is not None
