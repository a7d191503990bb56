"""Every public name of the package, once: `__init__.py` looks names up here, type checkers and the reference page read it.

A comment opens a chapter of the reference page. Names are in the order in which a user meets them.
"""

from typing import Any

# Symbols
from .model.coordinates import coordinates as coordinates
from .model.group_makers import rotation as rotation
from .model.group_makers import planar_pose as planar_pose
from .model.group_makers import pose as pose
from .model.group_makers import direction as direction
from .model.group_makers import group_coordinate as group_coordinate
from .model.coordinates import parameters as parameters
from .model.coordinates import entropies as entropies
from .model.coordinates import time as time
from .model.coordinates import step as step

# Systems
from .model.system import System as System
from .model.principle import DAlembert as DAlembert
from .model import groups as groups
from .model.principle import Vakonomic as Vakonomic
from .model.upsilon import Upsilon as Upsilon
from .model import bodies as bodies
from .model import substances as thermo
from .model import scene as scene
from .run.evaluate import evaluate as evaluate
from . import gallery as gallery

# What follows from a system
from .theory.constraints.classification import classify as classify
from .theory.models.comparison import compare_models as compare_models
from .theory.constraints.charts import check_chart as check_chart
from .theory.conserved.first_integrals import first_integrals as first_integrals
from .theory.conserved.noether import noether as noether
from .theory.reactions.closed_form import reactions as reactions
from .theory.reactions.imposed import impose as impose
from .analysis.motions.contacts import contact_report as contact_report
from .analysis.equilibria.equilibrium_search import equilibria as equilibria
from .analysis.equilibria.normal_modes import normal_modes as normal_modes
from .theory.small_motions.linearised import linearise as linearise
from .theory.forms.structure import structure as structure
from .theory.reduction.symmetry import Symmetry as Symmetry
from .theory.reduction.symmetry_search import symmetries as symmetries
from .discrete.reduction.reduce_by_symmetry import reduce as reduce
from .theory.conserved.routh import routh as routh
from .theory.forms.hamilton import hamilton as hamilton
from .theory.forms.hamel import hamel as hamel
from .theory.forms.transformations import change_coordinates as change_coordinates
from .theory.forms.gauge import gauge_function as gauge_function
from .theory.variations import functionals as variations
from .theory import inverse as inverse
from .theory import cartan as cartan
from .analysis.motions.stationary_action import hamilton_principle as hamilton_principle
from .analysis.motions.stationary_action import generalised_principle as generalised_principle
from .theory.conserved.two_laws import energy_balance as energy_balance
from .theory.conserved.two_laws import entropy_production as entropy_production

# Discrete systems
from .discrete.system import discretise as discretise
from .discrete.system import DiscreteSystem as DiscreteSystem
from .discrete.reduction.connection import DiscreteConnection as DiscreteConnection
from .discrete.maps import FiniteDifferenceMap as FiniteDifferenceMap
from .discrete.maps import ProductMap as ProductMap
from .discrete.maps import CustomMap as CustomMap
from .discrete.maps import left_map as left_map
from .discrete.maps import midpoint_map as midpoint_map
from .discrete.maps import right_map as right_map

# Motion
from .run.simulate import simulate as simulate
from .run.connect import connect as connect
from .run.one_step import flow as flow
from .run.events import Event as Event
from .run.trajectory import Trajectory as Trajectory
from .engine.status import Status as Status
from .analysis.motions.audit import audit as audit
from .run.save_and_load import load as load
from .study.sweep import sweep as sweep
from .draw.animate import show as show
from .draw import plots as plots

# What follows from a discrete system or a method
from .analysis.steps.regularity import regularity as regularity
from .discrete.momentum import momentum_map as momentum_map
from .discrete.momentum import nonholonomic_momentum as nonholonomic_momentum
from .discrete.linear_recurrence import linear_recurrence as linear_recurrence
from .analysis.accuracy.exact_lagrangian import exact_discrete_lagrangian as exact_discrete_lagrangian
from .analysis.accuracy.exact_lagrangian import order_of as order_of
from .theory.backward_error.modified import modified_equation as modified_equation
from .theory.backward_error.modified import modified_hamiltonian as modified_hamiltonian
from .analysis.accuracy.modified_energy import energy_report as energy_report
from .analysis.steps.existence import existence as existence
from .analysis.accuracy.convergence import convergence as convergence
from .analysis.motions.contraction import contraction as contraction
from .analysis.motions.tangents import tangents as tangents
from .analysis.motions.lyapunov import lyapunov as lyapunov
from .analysis.motions.poincare import poincare as poincare
from .analysis.motions.sensitivity import sensitivity as sensitivity

# Integrators
from .methods import *

# Errors
from .errors import DalembertError as DalembertError
from .errors import ModelError as ModelError
from .errors import MethodError as MethodError
from .errors import StartError as StartError
from .errors import SimulationError as SimulationError
from .errors import ModelWarning as ModelWarning

# Functions of SymPy, for convenience
from sympy import sin as sin, cos as cos, tan as tan, asin as asin, acos as acos, atan as atan, atan2 as atan2
from sympy import sinh as sinh, cosh as cosh, tanh as tanh, exp as exp, log as log, sqrt as sqrt, pi as pi
from sympy import Rational as Rational, Abs as Abs, sign as sign, Max as Max, Min as Min
from sympy import Piecewise as Piecewise, Heaviside as Heaviside, Eq as Eq

__version__: str
__all__: list[str]

def __getattr__(name: str) -> Any: ...
