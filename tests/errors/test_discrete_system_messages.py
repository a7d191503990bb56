"""What a person reads who states a discrete system or a finite-difference map wrongly. Every message, word for word."""

from __future__ import annotations

import pytest

import dalembert as da
from dalembert import MethodError, ModelError, StartError

from .tools import table, told

x, y = da.coordinates("x y")
x0, x1, y0, y1 = x.at(0), x.at(1), y.at(0), y.at(1)
h = da.step
PLANE = ((x1 - x0) ** 2 + (y1 - y0) ** 2) / (2 * h)
CLOCK = da.System("clock", [x, y], kinetic=(x.dot**2 + y.dot**2) / 2, potential=x * da.time)
CIRCLE = da.System("circle", [x, y], kinetic=(x.dot**2 + y.dot**2) / 2, constraints=[x**2 + y**2 - 1])


def plane(**given):
    return da.DiscreteSystem("plane", [x, y], **{"lagrangian": PLANE, **given})


class Silent(da.VariationalMethod):
    """A formula without a return."""

    order = 2

    def discrete_lagrangian(self, L, q0, q1, t, h):
        h * L(q0, (q1 - q0) / h, t)


@table(
    (
        "a velocity in L_d",
        lambda: plane(lagrangian=x.dot * x1),
        "lagrangian: unknown symbol x.dot in x.at(1)*x.dot. Discrete systems are stated at the two ends of a step: use "
        "x.at(0) and x.at(1).",
    ),
    (
        "a coordinate in a force",
        lambda: plane(force_minus={y: x}),
        "force_minus on y: unknown symbol x in x. Discrete systems are stated at the two ends of a step: use x.at(0) and "
        "x.at(1).",
    ),
    (
        "a force on a text",
        lambda: plane(force_plus={"x": 1}),
        "force_plus: got the text 'x'. Use the coordinate itself: {x: expression}.",
    ),
    ("forces as a list", lambda: plane(force_plus=[1, 2]), "force_plus: got [1, 2]. Expected {x: expression}."),
    (
        "one constraint without its list",
        lambda: plane(variations=[y.dot], constraints=y1 - x1),
        "constraints: got -x.at(1) + y.at(1). Expected a list of expressions: constraints=[...].",
    ),
    (
        "a constraint that is a number",
        lambda: plane(variations=[y.dot], constraints=[3]),
        "constraint 3: it does not contain x.at(1) or y.at(1), so it says nothing about where a step ends.",
    ),
    (
        "a constraint on the beginning",
        lambda: plane(variations=[y.dot], constraints=[x0 - y0]),
        "constraint x.at(0) - y.at(0): it does not contain x.at(1) or y.at(1), so it says nothing about where a step ends.",
    ),
    (
        "a map that is a number",
        lambda: da.CustomMap(3),
        "CustomMap(3, None): give functions, base(q0, q1) and velocity(q0, q1, h), that return lists.",
    ),
    (
        "a base point that is a number",
        lambda: da.discretise(CLOCK, da.CustomMap(lambda a, b: 3)),
        "CustomMap: base(q0, q1) is to return a list of expressions, one per coordinate; here: 'int' object is not iterable.",
    ),
    (
        "a velocity of nothing",
        lambda: da.discretise(CLOCK, da.CustomMap(lambda a, b: a, lambda a, b, h: [None, None])),
        "CustomMap: velocity(q0, q1, h) is to return a list of expressions, one per coordinate; here: None is no expression.",
    ),
    (
        "a formula without a return",
        lambda: da.discretise(CLOCK, Silent()),
        "discretise: the formula discrete_lagrangian of Silent() returned None. Expected an expression; is there a return in "
        "it?",
    ),
)
def test_statements(call, message):
    assert told(ModelError, call) == message


def circle(**start):
    given = {{"px": x.momentum, "py": y.momentum}.get(k) or da.coordinates(k): v for k, v in start.items()}
    return da.simulate(da.discretise(CIRCLE, da.midpoint_map), h=0.1, steps=3, start=given)


OFF = "The constraint holds at every node; correct the position."


@table(
    (
        "the first node off a holonomic constraint",
        lambda: circle(x=0.5, y=0, px=0, py=1),
        f"start: the first position violates x.at(0)**2 + y.at(0)**2 - 1 = 0: its value is -0.75. {OFF}",
    ),
    (
        "one lane of it",
        lambda: circle(x=[1, 2], y=0, px=0, py=1),
        f"start: the first position violates x.at(0)**2 + y.at(0)**2 - 1 = 0 (lane 1): its value is 3. {OFF}",
    ),
    (
        "the first of two positions",
        lambda: da.simulate(da.discretise(CIRCLE, da.midpoint_map), h=0.1, steps=3, start={x0: 2, y0: 0, x1: 1, y1: 0}),
        f"start: the first position violates x.at(0)**2 + y.at(0)**2 - 1 = 0: its value is 3. {OFF}",
    ),
)
def test_starts(call, message):
    assert told(StartError, call) == message


def test_a_start_on_the_constraint_is_accepted():
    assert circle(x=1, y=0, px=0, py=1).ok
    moving = da.System("moving", [x, y], kinetic=(x.dot**2 + y.dot**2) / 2, constraints=[x - da.time**2 - 1])
    run = da.simulate(
        da.discretise(moving, da.midpoint_map),
        h=0.1,
        steps=2,
        start={x: 5, y: 0, x.momentum: 4, y.momentum: 1, da.time: 2},
    )
    assert run.x[-1] == pytest.approx(2.2**2 + 1)


@pytest.mark.parametrize("method", [da.Gauss, da.Lobatto, da.Galerkin])
@pytest.mark.parametrize("size", [2.0, True, "2", None])
def test_a_number_of_stages_is_a_whole_number(method, size):
    assert told(MethodError, lambda: method(size)).startswith(f"{method.__name__}({size!r}): the ")


def test_maps_name_themselves():
    assert (
        repr(da.ProductMap(da.left_map, da.midpoint_map))
        == "ProductMap(FiniteDifferenceMap(b=0), FiniteDifferenceMap(b=1/2))"
    )
    assert repr(da.CustomMap(max)) == "CustomMap(max)"


def test_a_custom_map_says_when_an_explicit_time_is_taken():
    """With `instant=0` the left end is the left map, time included; by default time is taken in the middle."""

    def left(a, b):
        return a

    wanted = da.discretise(CLOCK, da.left_map).lagrangian
    assert da.discretise(CLOCK, da.CustomMap(left, instant=0)).lagrangian == wanted
    assert da.discretise(CLOCK, da.CustomMap(left)).lagrangian != wanted
