"""Writes docs/reference.md: every public name with the first line of its docstring.

python docs/make_reference.py
"""

from __future__ import annotations

from pathlib import Path

import dalembert as da
from dalembert import methods

CONSTANTS = {
    "time": "The symbol of time.",
    "step": "The symbol of the step h, for discrete Lagrangians.",
    "bodies": "Particles, rigid bodies, springs, forces, rolling: systems stated as a mechanic states them.",
    "thermo": "Fundamental relations and equations of state: `thermo.ideal_gas`, `thermo.van_der_waals` and others.",
    "variations": "Calculus of variations: `variations.Functional`.",
    "gallery": "Systems ready to use: `gallery.names()`, `gallery.load(name)`.",
    "left_map": "The finite-difference map with its base point at q0.",
    "midpoint_map": "The finite-difference map with its base point halfway.",
    "right_map": "The finite-difference map with its base point at q1.",
}

CHAPTERS = {
    "Symbols": ["coordinates", "parameters", "entropies", "time", "step"],
    "Systems": ["System", "bodies", "thermo", "evaluate", "gallery"],
    "What follows from a system": [
        "classify", "check_chart", "first_integrals", "noether", "reactions", "impose", "contact_report", "equilibria",
        "normal_modes", "linearise", "structure", "routh", "hamilton", "change_coordinates", "gauge_function", "variations",
        "hamilton_principle", "generalised_principle", "energy_balance", "entropy_production",
    ],
    "Discrete systems": [
        "discretise", "DiscreteSystem", "FiniteDifferenceMap", "ProductMap", "CustomMap", "left_map", "midpoint_map",
        "right_map",
    ],
    "Motion": ["simulate", "flow", "Event", "Trajectory", "Status", "audit", "load"],
    "What follows from a discrete system or a method": [
        "regularity", "momentum_map", "nonholonomic_momentum", "linear_recurrence", "exact_discrete_lagrangian", "order_of",
        "modified_equation", "modified_hamiltonian", "energy_report", "existence", "convergence", "contraction",
    ],
    "Integrators": list(methods.__all__),
    "Errors": ["DalembertError", "ModelError", "MethodError", "StartError", "SimulationError", "ModelWarning"],
}  # fmt: skip


def reference() -> str:
    """The whole page."""
    lines = ["# Reference", "", "All public names; `help(dalembert.simulate)` and the like say more.", ""]
    for chapter, names in CHAPTERS.items():
        lines += [f"## {chapter}", "", "| name | what it is |", "|---|---|"]
        lines += [f"| `{name}` | {_line(name)} |" for name in names]
        lines.append("")
    functions = [n for n in da.__all__ if not any(n in names for names in CHAPTERS.values())]
    lines += ["## Functions of SymPy, for convenience", "", ", ".join(f"`{n}`" for n in functions) + ".", ""]
    return "\n".join(lines)


def _line(name: str) -> str:
    return CONSTANTS.get(name) or str(getattr(da, name).__doc__).strip().splitlines()[0]


if __name__ == "__main__":
    Path(__file__).with_name("reference.md").write_text(reference())
