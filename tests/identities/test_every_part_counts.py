"""Every function that reads a System takes all parts of it into account, or refuses: what is said changes with each part."""

from __future__ import annotations

import pytest
from sympy import exp, sin

import dalembert as da

x, y, u, w = da.coordinates("x y u w")
a = da.parameters("a")
S = da.entropies("S")
TRANSLATION = da.Symmetry({x: x + a, y: y + a}, [a])
POTENTIAL = 5 * (x - y) ** 2 / 2
AT = {x: 0.3, y: 0.3, x.dot: 0, y.dot: 0}


def made(**more):
    given = {"kinetic": (2 * x.dot**2 + 3 * y.dot**2) / 2, "potential": POTENTIAL, **more}
    return da.System("some system", [x, y], **given)


KINDS = {
    "force": {"forces": {x: -7 * sin(x) * x.dot}},
    "force in time": {"forces": {x: 7 * x * sin(da.time)}},
    "dissipation": {"dissipation": 7 * y**2 * (x.dot - y.dot) ** 2 / 2 + x.dot**2},
    "position": {"constraints": [x - 7 * y - x**2 * y]},
    "velocity": {"constraints": [x.dot - 7 * y * y.dot]},
    "variations": {"constraints": [x.dot - 7 * y * y.dot], "variations": [x.dot + 7 * y.dot]},
    "vakonomic": {"constraints": [x.dot - 7 * y * y.dot], "principle": da.Vakonomic()},
    "friction that warms": {"entropies": [S], "internal_energy": exp(S), "friction": {S: {x: -7 * x * x.dot}}},
    "heat": {"entropies": [S], "internal_energy": exp(S), "heat": {S: 7 * x**2}},
}

FUNCTIONS = {
    "equations": lambda s: s.equations(),
    "evaluate": lambda s: da.evaluate(s, at={x: 0.3, y: 0.2, x.dot: 0.4, y.dot: 0.5, da.time: 0.6}),
    "first_integrals": lambda s: da.first_integrals(s, degree=0),
    "noether": lambda s: da.noether(s, {x: 1, y: 1}),
    "reactions": da.reactions,
    "impose": lambda s: da.impose(s, {x: sin(da.time)}),
    "normal_modes": lambda s: da.normal_modes(s, at=AT),
    "linearise": lambda s: da.linearise(s, about=AT),
    "structure": da.structure,
    "symmetries": da.symmetries,
    "reduce": lambda s: da.reduce(s, TRANSLATION).equations(),
    "hamilton": da.hamilton,
    "hamel": lambda s: da.hamel(s, {"p": x.dot + y.dot, "q": y.dot}),
    "change_coordinates": lambda s: da.change_coordinates(s, {x: u + w, y: w}).system.equations(),
    "gauge_function": lambda s: da.gauge_function(s, made()),
    "energy_balance": da.energy_balance,
    "entropy_production": da.entropy_production,
    "discretise": lambda s: da.discretise(s, da.midpoint_map).equations(),
    "momentum_map": lambda s: da.momentum_map(da.discretise(s, da.midpoint_map), {x: 1, y: 1}),
    "nonholonomic_momentum": lambda s: da.nonholonomic_momentum(da.discretise(s, da.midpoint_map), {x: 1, y: 1}),
    "exact_discrete_lagrangian": da.exact_discrete_lagrangian,
    "modified_equation": lambda s: da.modified_equation(s, da.Midpoint(), 2),
    "modified_hamiltonian": lambda s: da.modified_hamiltonian(s, da.Midpoint(), 2),
    "inverse.lagrangian": da.inverse.lagrangian,
    "compose": lambda s: da.bodies.compose("both", s, da.System("other", [u], kinetic=u.dot**2)).equations(),
}

SILENT = {
    ("energy_balance", "position"): "reactions of a constraint that does not move do no work",
    ("energy_balance", "velocity"): "the same",
    ("reactions", "force"): "there are no reactions without constraints",
    ("reactions", "force in time"): "the same",
    ("reactions", "dissipation"): "the same",
    ("momentum_map", "heat"): "heat changes entropies alone, on which nothing else depends here",
    ("nonholonomic_momentum", "heat"): "the same",
    **{
        ("entropy_production", kind): "it is refused without entropies"
        for kind in KINDS
        if "entropies" not in KINDS[kind]
    },
}
"""Where the answer does not depend on the part."""


def said(function, system):
    """What is printed; "refused" if the system is refused in words."""
    try:
        return str(FUNCTIONS[function](system))
    except da.DalembertError as refusal:
        assert len(str(refusal)) > 40
        return f"refused: {refusal}"


@pytest.mark.parametrize("function", list(FUNCTIONS))
@pytest.mark.filterwarnings("ignore")
def test_every_part_counts(function):
    plain = said(function, made())
    for kind, more in KINDS.items():
        same = said(function, made(**more)) == plain
        assert same == ((function, kind) in SILENT), kind


def test_a_function_that_leaves_something_out_is_noticed(monkeypatch):
    """The control."""
    monkeypatch.setitem(FUNCTIONS, "hamilton", lambda s: da.hamilton(made(potential=s.potential)))
    with pytest.raises(AssertionError, match="force"):
        test_every_part_counts("hamilton")
