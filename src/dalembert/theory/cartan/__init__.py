"""Vector fields and differential forms on (x, v, t), with Cartan's calculus; behind the public name `cartan`.

VelocitySpace([x, y])     fields, forms, velocity fields, variations, Cartan's form of a Lagrangian
first_variation(...)      the first variation of an action along a curve, by quadrature: the Upsilon principle in numbers
"""

from .fields import VectorField
from .first_variation import FirstVariation, first_variation
from .forms import Form
from .velocity_space import VelocitySpace

__all__ = ["FirstVariation", "Form", "VectorField", "VelocitySpace", "first_variation"]
