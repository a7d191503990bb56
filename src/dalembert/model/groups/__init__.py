"""Lie groups: product, inverse, exp, log, Cayley's map, Ad, ad and their duals, tangents; in numbers and in expressions.

    SO3.exp((0.1, 0.2, 0.3))        a matrix; arrays of vectors (..., 3) give arrays of matrices (..., 3, 3)
    SE2.Ad(g), SE2.coAd(g)          matrices of Ad and of its dual
    SO3 * R(2)                      a direct product
    Semidirect(SU2)                 SU(2) with the vectors it acts on
    MatrixGroup("SL2", [E, F, H])   any matrix group, by a basis of its algebra

A coordinate with values in a group is made by `dalembert.group_coordinate("g", group)`.
"""

from .lie_group import LieGroup
from .matrix_group import MatrixGroup
from .products import SE2, SE3, DirectProduct, Semidirect
from .rotation_groups import SO2, SO3, SU2
from .translation_groups import Heisenberg, R

__all__ = [
    "LieGroup",
    "R",
    "SO2",
    "SE2",
    "SO3",
    "SE3",
    "SU2",
    "Heisenberg",
    "DirectProduct",
    "Semidirect",
    "MatrixGroup",
]
