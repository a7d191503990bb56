"""What a person reads whose quasi-velocities make no frame. Word for word."""

from __future__ import annotations

from dataclasses import replace

import pytest
import sympy

import dalembert as da
from dalembert import ModelError, cos, sin
from dalembert.theory.forms import hamel as module
from dalembert.theory.forms import quasi_velocities

from .tools import table, told

x, y, z, phi = da.coordinates("x y z phi")
m, k = da.parameters("m k", positive=True)
S = da.entropies("S")
PLANE = da.System("plane", [x, y], kinetic=m * (x.dot**2 + y.dot**2) / 2, potential=k * x**2)
BOUND = PLANE.replace(constraints=[y.dot - x * x.dot])
HOT = da.System("hot", [x], kinetic=m * x.dot**2 / 2, entropies=[S], internal_energy=da.exp(S))


def test_sound_frames_are_taken():
    assert da.hamel(PLANE, {"u": x.dot + y.dot, "v": x * x.dot}).determinant == -x
    assert da.hamel(PLANE, {"u": x.dot * (1 + da.Abs(y)), "v": y.dot}).structure_functions  # a kink is no jump
    assert da.hamel(PLANE, (x.dot, y.dot)).is_adapted  # there is no constraint
    assert da.hamel(BOUND, {"u": x.dot, "s": y.dot - x * x.dot}).is_adapted


@table(
    ("no system", lambda: da.hamel(3, {}), "hamel: got 3 (int). Expected a System."),
    (
        "one expression",
        lambda: da.hamel(PLANE, x.dot),
        'hamel: velocities=x.dot. Expected {name: expression}: velocities={"u": x.dot, ...}.',
    ),
    (
        "a number",
        lambda: da.hamel(PLANE, 2),
        'hamel: velocities=2. Expected {name: expression}: velocities={"u": x.dot, ...}.',
    ),
    (
        "a symbol for a name",
        lambda: da.hamel(PLANE, {x: x.dot, "v": y.dot}),
        "hamel: x is not a name for a quasi-velocity. Names are texts of ASCII letters, digits and underscores, beginning "
        'with a letter: velocities={"u": x.dot, ...}.',
    ),
    (
        "no name",
        lambda: da.hamel(PLANE, {"x.dot": x.dot, "v": y.dot}),
        "hamel: 'x.dot' is not a name for a quasi-velocity. Names are texts of ASCII letters, digits and underscores, "
        'beginning with a letter: velocities={"u": x.dot, ...}.',
    ),
    (
        "the name of a coordinate",
        lambda: da.hamel(PLANE, {"u": x.dot, "y": y.dot}),
        "hamel: the name y is taken by another symbol of 'plane'. Use another name.",
    ),
    (
        "the name of a parameter",
        lambda: da.hamel(PLANE, {"u": x.dot, "k": y.dot}),
        "hamel: the name k is taken by another symbol of 'plane'. Use another name.",
    ),
    (
        "the name of time",
        lambda: da.hamel(PLANE, {"u": x.dot, "t": y.dot}),
        "hamel: the name t is taken by another symbol of 'plane'. Use another name.",
    ),
    (
        "the name of an entropy",
        lambda: da.hamel(HOT, {"S": x.dot}),
        "hamel: the name S is taken by another symbol of 'hot'. Use another name.",
    ),
    (
        "too few",
        lambda: da.hamel(PLANE, {"u": x.dot}),
        "hamel: got 1 quasi-velocities for the 2 coordinates x, y. Give as many as there are coordinates; expressions that "
        "constraints set to zero count too.",
    ),
    (
        "a text",
        lambda: da.hamel(PLANE, {"u": "x.dot", "v": y.dot}),
        "quasi-velocity u: got the text 'x.dot'. Expected an expression in Python: without the quotes, with symbols made by "
        "dalembert.coordinates and dalembert.parameters.",
    ),
    (
        "another coordinate",
        lambda: da.hamel(PLANE, {"u": x.dot, "v": z.dot}),
        "quasi-velocity v: unknown symbol z.dot in z.dot. z is not among the coordinates of this system. Known here: t, x, "
        "x.dot, y, y.dot.",
    ),
    (
        "an entropy",
        lambda: da.hamel(HOT, {"u": S * x.dot}),
        "hamel: u contains the entropy S. Quasi-velocities depend on positions, velocities and time.",
    ),
    (
        "not linear",
        lambda: da.hamel(PLANE, {"u": x.dot**2, "v": y.dot}),
        "hamel: u = x.dot**2 is not linear in the velocities. Quasi-velocities are sums of coefficient times velocity, with "
        "coefficients that depend on positions and time, and a function of these.",
    ),
    (
        "steps",
        lambda: da.hamel(PLANE, {"u": x.dot * sympy.floor(x), "v": y.dot}),
        "hamel: u = x.dot*floor(x) jumps, so it has no rate there. Choose continuous coefficients.",
    ),
    (
        "a jump",
        lambda: da.hamel(PLANE, {"u": x.dot * (2 + da.sign(y)), "v": y.dot}),
        "hamel: u = x.dot*(sign(y) + 2) jumps, so it has no rate there. Choose continuous coefficients.",
    ),
    (
        "dependent",
        lambda: da.hamel(PLANE, {"u": x.dot + y.dot, "v": x * x.dot + x * y.dot + sin(y)}),
        "hamel: the quasi-velocities are dependent everywhere: v is a combination of u, up to functions of positions and "
        "time. Replace it by one that is independent of the others.",
    ),
    (
        "dependent by sin^2 + cos^2 = 1",
        lambda: da.hamel(PLANE, {"u": x.dot + y.dot, "v": (sin(x) ** 2 + cos(x) ** 2) * x.dot + y.dot}),
        "hamel: the quasi-velocities are dependent everywhere: v is a combination of u, up to functions of positions and "
        "time. Replace it by one that is independent of the others.",
    ),
    (
        "no velocity",
        lambda: da.hamel(PLANE, {"u": x * y, "v": y.dot}),
        "hamel: u contains no velocity (everywhere). Quasi-velocities are sums of coefficient times velocity.",
    ),
    (
        "no value",
        lambda: da.hamel(PLANE, {"u": da.sqrt(-1 - x**2) * x.dot, "v": y.dot}),
        "hamel: the quasi-velocities have no value at any of the points tried. Check their coefficients.",
    ),
    (
        "reduced in a frame that is not adapted",
        lambda: da.hamel(BOUND, {"u": x.dot, "v": y.dot}).reduced,
        "hamel: the frame is not adapted to the constraints: the constraints -x*u + v = 0 do not set single quasi-velocities "
        "to zero. Take -x*x.dot + y.dot among the quasi-velocities.",
    ),
    (
        "reduced with a nonlinear constraint",
        lambda: da.hamel(PLANE.replace(constraints=[x.dot**2 + y.dot**2 - 1]), {"u": x.dot, "v": y.dot}).reduced,
        "hamel: the frame is not adapted to the constraints: the constraint x.dot**2 + y.dot**2 - 1 = 0 is not linear in the "
        "velocities. Use equations and constraints.",
    ),
    (
        "reduced with variations that differ from the constraints",
        lambda: da.hamel(
            PLANE.replace(constraints=[y.dot - x * x.dot], variations=[y.dot]), {"u": x.dot, "s": y.dot - x * x.dot}
        ).reaction_equations,
        "hamel: the frame is not adapted to the constraints: a reaction acts along u, which the constraints leave free. Use "
        "equations and constraints.",
    ),
)  # fmt: skip
def test_frames_that_are_refused(call, message):
    assert told(ModelError, call) == message


def test_what_is_not_inverted_in_time_is_refused(monkeypatch):
    monkeypatch.setattr(quasi_velocities, "linear_solution", lambda *_: None)
    assert told(ModelError, lambda: da.hamel(PLANE, [x.dot, y.dot])) == (
        "hamel: the velocities of 'plane' could not be expressed by the quasi-velocities in closed form within 30 s. Choose "
        "quasi-velocities with fewer velocities in each."
    )


def test_equations_that_are_not_confirmed_are_refused(monkeypatch):
    right = module.frame_of

    def wrong(system, velocities):
        frame = right(system, velocities)
        return replace(frame, brackets={key: -c for key, c in frame.brackets.items()})

    monkeypatch.setattr(module, "frame_of", wrong)
    assert told(ModelError, lambda: da.hamel(PLANE, {"u": x.dot, "v": y.dot + y * x.dot})) == (
        "hamel: the equation of u could not be confirmed: at random states it differs from Lagrange's equations of 'plane', "
        "or one of the two has no value. Use system.equations(), and report this system."
    )
    with pytest.raises(ModelError):
        da.hamel(BOUND, {"u": x.dot, "v": y.dot + y * x.dot})
