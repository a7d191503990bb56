"""The inverse problem of the calculus of variations: which equations are those of a Lagrangian, and of which.

helmholtz(equations, coordinates=[x, y])     Helmholtz' conditions for equations as they stand; which fails, and where
lagrangian(equations, coordinates=[x, y])    a Lagrangian with multiplier, a proof that there is none, or what was searched
lagrangian(system)                           the same for a System with forces or dissipation
metric(L, coordinates=[x, y])                d2L/dv dv as a Riemann or Finsler metric, with its geodesics
equivalence(equations, others, [x, y])       whether equations are others times a regular matrix
darboux(found, positions=[Q])                canonical coordinates of a Lagrangian that is linear in the velocities
jacobi_metric(system, energy=E)              the metric whose geodesics are the orbits of a natural system
"""

from .darboux import DarbouxCoordinates, darboux
from .equivalence import Equivalence, equivalence
from .found_lagrangian import InverseResult
from .lagrangian_search import lagrangian
from .metrics import Metric, jacobi_metric, metric
from .normal_form import NormalForm
from .self_conjugacy import Condition, Helmholtz, helmholtz
from .variational_forms import VariationalForms

__all__ = [
    "helmholtz", "lagrangian", "equivalence", "darboux", "metric", "jacobi_metric",
    "Helmholtz", "Condition", "NormalForm", "InverseResult", "Equivalence", "DarbouxCoordinates", "Metric", "VariationalForms",
]  # fmt: skip
