"""Integrators: each a small file with a formula and its claims. A new one is imported and named here, nowhere else."""

from .base import Method, VariationalMethod
from .composition import Composition
from .discrete_gradient import DiscreteGradient
from .galerkin import Galerkin
from .gauss import Gauss
from .geometric_nonholonomic import GeometricNonholonomic
from .left_point import LeftPoint
from .lobatto import Lobatto, Rattle
from .logarithmic_hamiltonian import LogarithmicHamiltonian
from .mclachlan_perlmutter import McLachlanPerlmutter
from .midpoint import Midpoint
from .null_space import NullSpace
from .nystrom import Nystrom12
from .reference import Reference
from .right_point import RightPoint
from .runge_kutta import DormandPrince8, RungeKutta4
from .sundman import Sundman
from .trapezoidal import StormerVerlet, Trapezoidal

METHODS = (
    LeftPoint,
    RightPoint,
    Midpoint,
    Trapezoidal,
    StormerVerlet,
    Gauss,
    Lobatto,
    Rattle,
    Composition,
    Galerkin,
    NullSpace,
    GeometricNonholonomic,
    McLachlanPerlmutter,
    DiscreteGradient,
    RungeKutta4,
    DormandPrince8,
    Nystrom12,
    Reference,
)

REGISTRY: dict[str, type[Method]] = {m.__name__: m for m in METHODS}
"""Every method, by name: used by tests, tables, the command line and files."""

OWN_TIME = (Sundman, LogarithmicHamiltonian)
"""Methods whose steps are equal in a time of their own. A file of a run does not hold them, as it does not a user's own."""

__all__ = ["VariationalMethod", *REGISTRY, *(m.__name__ for m in OWN_TIME)]  # noqa: PLE0604  (they are names)
