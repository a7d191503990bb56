"""Systems stated by bodies, loads and contacts, from which energies and forces are derived.

from dalembert import bodies as b
cart = b.Particle(m1, [x, 0])
bob = b.Particle(m2, [x + l*sin(theta), -l*cos(theta)])
whole = b.assemble("cart and pendulum", [x, theta], bodies=[cart, bob], loads=[b.Gravity(g), b.Damper(c, cart)])
whole.system
"""

from __future__ import annotations

from .assembly import Assembly, VirtualWork, assemble, compose
from .inertia import Shape, disc, half_disc, hoop, plate, rod, semi_hoop, sphere, spherical_shell
from .joints import (
    Clamp,
    Contact,
    cable,
    fixed_distance,
    hinge,
    knife_edge,
    lowest_point,
    rolling,
    rolling_disc,
    rolling_on_circle,
    rolling_on_line,
    rolling_on_plane,
)
from .kinematics import Orientation, quaternion, rotation, turns
from .loads import Damper, Drag, Force, Gravity, Load, Pull, Spring, Torque, TorsionDamper, TorsionSpring, length
from .newton_euler import Balance, NewtonEuler
from .particles import Body, Particle, PlaneBody, Point, SpaceBody
from .potentials import Charge, Potential

__all__ = [
    "Particle", "PlaneBody", "SpaceBody", "Body", "Point",
    "Shape", "disc", "hoop", "semi_hoop", "half_disc", "rod", "plate", "sphere", "spherical_shell",
    "turns", "rotation", "quaternion", "Orientation",
    "Gravity", "Spring", "TorsionSpring", "Damper", "TorsionDamper", "Drag", "Force", "Torque", "Pull", "Charge",
    "Potential", "Load", "length",
    "rolling", "rolling_on_line", "rolling_on_circle", "rolling_on_plane", "rolling_disc", "lowest_point", "knife_edge",
    "fixed_distance", "hinge", "cable",
    "assemble", "Assembly", "VirtualWork", "compose", "Contact", "Clamp", "NewtonEuler", "Balance",
]  # fmt: skip
