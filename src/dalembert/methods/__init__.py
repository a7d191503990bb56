"""Integrators: each a small file with a formula and its claims."""

from .base import Method, VariationalMethod
from .left_point import LeftPoint
from .midpoint import Midpoint
from .reference import Reference
from .right_point import RightPoint
from .runge_kutta import RungeKutta4
from .trapezoidal import StormerVerlet, Trapezoidal

REGISTRY: dict[str, type[Method]] = {
    m.__name__: m for m in (LeftPoint, RightPoint, Midpoint, Trapezoidal, StormerVerlet, RungeKutta4, Reference)
}
"""Every method, by name."""

__all__ = [
    "REGISTRY", "LeftPoint", "Method", "Midpoint", "Reference", "RightPoint", "RungeKutta4", "StormerVerlet",
    "Trapezoidal", "VariationalMethod",
]  # fmt: skip
