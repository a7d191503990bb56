"""Messages about discrete systems with entropies, their maps, and existence."""

from __future__ import annotations

import numpy as np
import pytest
from sympy import exp

import dalembert as da
from dalembert.analysis.steps.existence import existence
from dalembert.analysis.steps.regularity import regularity
from dalembert.discrete.entropy_variations import extended_variation

from .tools import table, told

x, y = da.coordinates("x y")
S, R = da.entropies("S R")
h = da.step
x0, x1, S0, S1 = x.at(0), x.at(1), S.at(0), S.at(1)
FREE = (x1 - x0) ** 2 / (2 * h)
CART = da.System("cart", [x], kinetic=x.dot**2 / 2, entropies=[S], internal_energy=exp(S), friction={x: -x.dot})
STEPS = da.discretise(CART, da.midpoint_map)


def discrete(**given):
    return da.DiscreteSystem("steps", [x], **{"lagrangian": FREE, **given})


def warm(**given):
    return discrete(**{"entropies": [S], "entropy_laws": [S1 - S0], **given})


@table(
    (
        "friction without entropies",
        lambda: discrete(friction_minus={x: 1}),
        "friction_minus: its work becomes heat, and there is no entropy to receive it. Give entropies=[S].",
    ),
    (
        "friction of nobody",
        lambda: da.DiscreteSystem(
            "steps", [x], lagrangian=FREE, entropies=[S, R], entropy_laws=[S1 - S0, R.at(1) - R.at(0)], friction_plus={x: 1}
        ),
        "friction_plus: there are 2 entropies, so say which one is warmed: friction_plus={S: {x: ...}}.",
    ),
    (
        "friction of a stranger",
        lambda: warm(friction_minus={R: {x: 1}}),
        "friction_minus: R is not among the entropies S.",
    ),
    (
        "friction on a stranger",
        lambda: warm(friction_minus={S: {y: 1}}),
        "friction_minus: y is not among the coordinates x.",
    ),
    (
        "friction that is no force",
        lambda: warm(friction_minus={S: 3}),
        "friction_minus of S: got 3. Expected {x: expression}.",
    ),
    (
        "friction as a list",
        lambda: warm(friction_plus=[1]),
        "friction_plus: got [1]. Expected {x: expression}, or {S: {x: expression}}.",
    ),
    (
        "too few laws",
        lambda: warm(entropy_laws=[]),
        "steps: 1 entropies but 0 entropy_laws. Give one function rho of the slots for each.",
    ),
    (
        "one name, two meanings",
        lambda: discrete(entropies=[da.entropies("x")], entropy_laws=[x1]),
        "the name x is used for a coordinate and for an entropy. Rename one of them.",
    ),
    (
        "a product that is too short",
        lambda: da.discretise(CART, da.ProductMap(da.left_map)),
        "ProductMap has 1 maps, but the system has 1 coordinate and 1 entropy. Give one for each: coordinates first, then "
        "entropies.",
    ),
    (
        "a base that is too short",
        lambda: da.discretise(CART, da.CustomMap(lambda a, b: [a[0]])),
        "CustomMap: base returns 1 expressions, but the system has 1 coordinate and 1 entropy. Give one for each: "
        "coordinates first, then entropies.",
    ),
    (
        "a velocity that is too long",
        lambda: da.discretise(CART, da.CustomMap(lambda a, b: a, lambda a, b, h: [*b, *b])),
        "CustomMap: velocity returns 4 expressions, but the system has 1 coordinate and 1 entropy. Give one for each: "
        "coordinates first, then entropies.",
    ),
    (
        "a variation of the wrong shape",
        lambda: extended_variation(STEPS, [{x0: 0, x1: 1, S0: 0, S1: 0, h: 1}], [[0.0]]),
        "extended_variation: dq has shape (1, 1). Expected (2, 1): nodes, coordinates.",
    ),
)  # fmt: skip
def test_models(call, message):
    assert told(da.ModelError, call) == message


PAIR = {x0: 0, x1: 1, S0: 0}


@table(
    (
        "no step",
        lambda: existence(STEPS, at=PAIR),
        "existence: no step. Write existence(system, at={...}, h=0.1, parameters={...}).",
    ),
    (
        "arrays",
        lambda: existence(STEPS, at=PAIR | {x1: np.array([1.0, 2.0])}, h=0.1),
        "existence: it looks at one state, so parameters and states are numbers, not arrays.",
    ),
    (
        "a pair off the law",
        lambda: existence(discrete(entropies=[S], entropy_laws=[S1 - S0 - x1]), at=PAIR | {S1: 0}, h=1),
        "at: the pair violates -S.at(0) + S.at(1) - x.at(1) = 0: its value is -1. Leave out the entropies at its end, and "
        "they follow from the laws; or correct the second position.",
    ),
    (
        "an entropy is missing",
        lambda: regularity(STEPS, at=PAIR, h=0.1),
        "at: no value for S.at(1). Expected both ends of the step; add at={S.at(1): ...}.",
    ),
    (
        "two positions for a method that has none",
        lambda: existence(CART, da.RungeKutta4(), at=PAIR, h=0.1),
        "existence: two positions are for variational methods without interior positions, such as Midpoint(). With "
        "RungeKutta4() give the state, at={x: ..., x.dot: ...}.",
    ),
)  # fmt: skip
def test_starts(call, message):
    assert told(da.StartError, call) == message


@table(
    (
        "no system",
        lambda: existence(3, h=1),
        "existence: got 3. Expected a run, a discrete system, or a System with a method.",
    ),
    (
        "no method",
        lambda: existence(CART, at={x: 0, x.dot: 1, S: 0}, h=0.1),
        "existence: 'cart' is continuous, so say by which method with a fixed step: existence(system, Midpoint(), at={...}, "
        "h=...).",
    ),
    (
        "a method too many",
        lambda: existence(STEPS, da.Midpoint(), at=PAIR, h=0.1),
        f"{STEPS.name!r} is a discrete system: leave out Midpoint().",
    ),
    (
        "several steps in one",
        lambda: existence(CART, da.Composition(da.Midpoint(), 4), at={x: 0, x.dot: 1, S: 0}, h=0.1),
        "existence: cart, Composition(Midpoint(), order=4) is made of several steps, one after the other. Ask about its "
        "parts.",
    ),
)  # fmt: skip
def test_methods(call, message):
    assert told(da.MethodError, call) == message


def test_unknown_names_are_told():
    with pytest.raises(da.StartError, match="y is unknown here"):
        existence(STEPS, at={x: 0, x.momentum: 1, S: 0, y: 1}, h=0.1)
