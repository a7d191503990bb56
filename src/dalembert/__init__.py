"""dalembert: computational analytical mechanics.

State a system, read its equations, compute its motion with integrators that keep its structure.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from sympy import (
    Abs,
    Eq,
    Heaviside,
    Max,
    Min,
    Piecewise,
    Rational,
    acos,
    asin,
    atan,
    atan2,
    cos,
    cosh,
    exp,
    log,
    pi,
    sign,
    sin,
    sinh,
    sqrt,
    tan,
    tanh,
)  # fmt: skip

from .errors import DalembertError, MethodError, ModelError, ModelWarning, SimulationError, StartError
from .model.coordinates import coordinates, entropies, parameters, step, time
from .model.system import System

__version__ = "0.1.0"

# Names that need more than SymPy are imported when they are first used, so that `import dalembert` stays light.
_LATER = {
    "DiscreteSystem": "discrete.system",
    "FiniteDifferenceMap": "discrete.maps",
    "discretise": "discrete.system",
    "ProductMap": "discrete.maps",
    "CustomMap": "discrete.maps",
    "left_map": "discrete.maps",
    "midpoint_map": "discrete.maps",
    "right_map": "discrete.maps",
    "evaluate": "run.evaluate",
    "simulate": "run.simulate",
    "flow": "run.flow",
    "Trajectory": "run.trajectory",
    "load": "run.storage",
    "Status": "engine.status",
    "audit": "auditing",
    "Event": "run.events",
    "momentum_map": "discrete.momentum",
    "nonholonomic_momentum": "discrete.momentum",
    "regularity": "run.regularity",
    "linear_recurrence": "discrete.recurrence",
    "exact_discrete_lagrangian": "run.exact",
    "order_of": "run.exact",
    "energy_report": "run.modified_energy",
    "modified_equation": "theory.modified",
    "modified_hamiltonian": "theory.modified",
    "classify": "theory.classification",
    "first_integrals": "theory.integrals",
    "noether": "theory.noether",
    "routh": "theory.routh",
    "structure": "theory.structure",
    "hamilton": "theory.hamilton",
    "change_coordinates": "theory.transformations",
    "gauge_function": "theory.gauge",
    "reactions": "theory.reactions",
    "impose": "theory.imposed",
    "equilibria": "run.equilibrium",
    "linearise": "theory.linear",
    "normal_modes": "run.modes",
    "check_chart": "theory.charts",
    "energy_balance": "theory.thermo",
    "entropy_production": "theory.thermo",
    "convergence": "run.convergence",
    "contraction": "run.contraction",
    "existence": "run.existence",
    "contact_report": "run.contacts",
    "hamilton_principle": "run.principle",
    "generalised_principle": "run.principle",
}
_MODULES = {
    "gallery": "gallery",
    "bodies": "model.bodies",
    "thermo": "model.thermo",
    "variations": "theory.variations",
}

if TYPE_CHECKING:
    from . import gallery
    from .auditing import audit
    from .discrete.maps import CustomMap, FiniteDifferenceMap, ProductMap, left_map, midpoint_map, right_map
    from .discrete.momentum import momentum_map, nonholonomic_momentum
    from .discrete.recurrence import linear_recurrence
    from .discrete.system import DiscreteSystem, discretise
    from .engine.status import Status
    from .methods import *  # noqa: F403
    from .model import bodies, thermo
    from .run.contacts import contact_report
    from .run.contraction import contraction
    from .run.convergence import convergence
    from .run.equilibrium import equilibria
    from .run.evaluate import evaluate
    from .run.events import Event
    from .run.exact import exact_discrete_lagrangian, order_of
    from .run.existence import existence
    from .run.flow import flow
    from .run.modes import normal_modes
    from .run.modified_energy import energy_report
    from .run.principle import generalised_principle, hamilton_principle
    from .run.regularity import regularity
    from .run.simulate import simulate
    from .run.storage import load
    from .run.trajectory import Trajectory
    from .theory import variations
    from .theory.charts import check_chart
    from .theory.classification import classify
    from .theory.gauge import gauge_function
    from .theory.hamilton import hamilton
    from .theory.imposed import impose
    from .theory.integrals import first_integrals
    from .theory.linear import linearise
    from .theory.modified import modified_equation, modified_hamiltonian
    from .theory.noether import noether
    from .theory.reactions import reactions
    from .theory.routh import routh
    from .theory.structure import structure
    from .theory.thermo import energy_balance, entropy_production
    from .theory.transformations import change_coordinates


def __getattr__(name: str) -> Any:
    """Names are looked up when they are used: `import dalembert` loads little more than SymPy."""
    if name in _MODULES:
        return import_module(f".{_MODULES[name]}", __name__)
    if name == "__all__":
        return [*_STATED, *_integrators(), *_LAST]
    if name not in _LATER and name not in _integrators():
        raise AttributeError(f"dalembert has no name {name!r}; see dalembert.__all__.")
    value = getattr(import_module(f".{_LATER.get(name, 'methods')}", __name__), name)
    globals()[name] = value
    return value


def _integrators() -> list[str]:
    return list(import_module(".methods", __name__).__all__)


def __dir__() -> list[str]:
    return sorted([*globals(), *_LATER, *_MODULES, *_integrators()])


_STATED = [
    "coordinates", "parameters", "entropies", "time", "step",
    "System", "bodies", "thermo", "evaluate",
    "classify", "check_chart", "first_integrals", "noether", "reactions", "impose", "contact_report", "equilibria",
    "normal_modes", "linearise", "structure", "routh", "hamilton", "change_coordinates", "gauge_function", "variations",
    "hamilton_principle", "generalised_principle", "energy_balance", "entropy_production",
    "discretise", "DiscreteSystem", "FiniteDifferenceMap", "ProductMap", "CustomMap", "left_map", "midpoint_map",
    "right_map",
    "simulate", "flow", "Event", "Trajectory", "Status", "audit", "load", "gallery",
    "regularity", "momentum_map", "nonholonomic_momentum", "linear_recurrence", "exact_discrete_lagrangian", "order_of",
    "modified_equation", "modified_hamiltonian", "energy_report", "existence", "convergence", "contraction",
]  # fmt: skip
_LAST = [
    "DalembertError", "ModelError", "MethodError", "StartError", "SimulationError", "ModelWarning",
    "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "exp", "log", "sqrt", "pi", "Rational",
    "Abs", "sign", "Max", "Min", "Piecewise", "Heaviside", "Eq",
]  # fmt: skip
