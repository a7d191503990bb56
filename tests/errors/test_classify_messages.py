"""What a person reads who asks for a classification wrongly: every message, word for word."""

from __future__ import annotations

import sympy

import dalembert as da
from dalembert import ModelError
from dalembert.theory.constraints.charts import check_chart

from .tools import table, told

x, y = da.coordinates("x y")
m = da.parameters("m", positive=True)
bead = da.System("bead", [x, y], kinetic=m * (x.dot**2 + y.dot**2) / 2, constraints=[y - x**2])


@table(
    (
        "an expression",
        lambda: da.classify(x.dot - y.dot),
        "classify: got x.dot - y.dot (Add). Expected a System, or a list of constraints with their coordinates: "
        "classify([x.dot - y.dot], coordinates=[x, y]).",
    ),
    (
        "no coordinates",
        lambda: da.classify([x.dot - y.dot]),
        "classify: the coordinates are missing. A list of constraints does not say which coordinates there are: type "
        "classify([...], coordinates=[x, y]).",
    ),
    (
        "coordinates twice",
        lambda: da.classify(bead, coordinates=[x, y]),
        "classify: a System has its coordinates already. Type classify(system), or give a list of constraints with "
        "coordinates=[...].",
    ),
    (
        "a relation that says nothing",
        lambda: da.classify([m > 0], coordinates=[x, y]),
        "classify: a constraint is True whatever the configuration, so it says nothing. Write a relation between "
        "coordinates, x >= 0 for example.",
    ),
    (
        "unequal",
        lambda: da.classify([sympy.Ne(x, y)], coordinates=[x, y]),
        "classify: Ne(x, y) excludes configurations only. Write an equation, or <=, <, >=, >.",
    ),
    (
        "an unknown coordinate",
        lambda: da.classify([x.dot - y.dot], coordinates=[x]),
        "constraint: unknown symbol y.dot in x.dot - y.dot. y is not among the coordinates of this system. "
        "Known here: t, x, x.dot.",
    ),
    (
        "an unknown coordinate in an inequality",
        lambda: da.classify([x >= y], coordinates=[x]),
        "inequality: unknown symbol y in x - y. Add y to coordinates=[...]. Known here: t, x, x.dot.",
    ),
    (
        "an empty set",
        lambda: da.classify([x**2 + y**2 + 1], coordinates=[x, y]),
        "classify: no configuration satisfies x**2 + y**2 + 1 = 0: it is a sum of squares and a positive number.",
    ),
    (
        "two sets that do not meet",
        lambda: da.classify([x**2 + y**2 - 1, x - 3], coordinates=[x, y]),
        "classify: no configuration was found that satisfies x**2 + y**2 - 1 = 0, x - 3 = 0. Newton's method was tried "
        "from 24 random starts. Check that these constraints do not contradict each other.",
    ),
    (
        "contradiction",
        lambda: da.classify([x.dot - y.dot, x.dot - y.dot - 1], coordinates=[x, y]),
        "classify: no velocity satisfies x.dot - y.dot = 0 and x.dot - y.dot - 1 = 0 at a configuration in general "
        "position: they prescribe different values for one combination of velocities. Correct one of them, or state as a "
        "constraint on positions what they imply.",
    ),
    (
        "a chart without functions",
        lambda: check_chart([x, y]),
        "check_chart: got [x, y]. Expected positions as functions of other coordinates: "
        "{x: R*cos(theta), y: R*sin(theta)}.",
    ),
    (
        "a chart of itself",
        lambda: check_chart({x: y, y: x}),
        "check_chart: the position x = y contains a position. Use coordinates of the chart only.",
    ),
    (
        "a chart without coordinates",
        lambda: check_chart({x: m}),
        "check_chart: no coordinate occurs in the positions. Write them as functions: {x: cos(theta)}.",
    ),
)
def test_message(call, message):
    assert told(ModelError, call) == message


def test_control_the_same_calls_said_rightly():
    assert da.classify([x.dot - y.dot], coordinates=[x, y]).is_holonomic
    assert da.classify(bead).degrees_of_freedom == 1
    assert not da.classify([x >= 0], coordinates=[x, y]).is_holonomic
