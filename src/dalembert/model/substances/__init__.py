"""Bodies in thermodynamic equilibrium: fundamental relations, their library, and equations of state.

from dalembert import thermo
gas = thermo.ideal_gas(3, N=1, T0=300, V0=0.02)
gas.energy(S, A*(x0 - x))             # the internal energy in a cylinder, for System(..., internal_energy=...)
gas.state(T=350, V=0.01).P
"""

from __future__ import annotations

from .common_substances import (
    GAS_CONSTANT,
    RADIATION_CONSTANT,
    constant_heat_capacity,
    ideal_gas,
    incompressible,
    photon_gas,
    van_der_waals,
)
from .consistency import Verdict, first_law, maxwell
from .eliminated import DifferentialAlgebraic, Reduced
from .equations_of_state import EquationsOfState, Parametrisation
from .fundamental import FundamentalRelation, State

__all__ = [
    "FundamentalRelation", "State", "Verdict", "first_law", "maxwell",
    "ideal_gas", "van_der_waals", "constant_heat_capacity", "incompressible", "photon_gas",
    "GAS_CONSTANT", "RADIATION_CONSTANT",
    "EquationsOfState", "Parametrisation", "Reduced", "DifferentialAlgebraic",
]  # fmt: skip
