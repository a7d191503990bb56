"""How many operations a step takes: denominators are inverted once, and derivatives share the sums below roots."""

from __future__ import annotations

import random
from collections import Counter

import pytest
import symengine

import dalembert as da
from dalembert.engine import lower
from dalembert.engine.denominators import QUOTIENTS, shared_denominators
from dalembert.engine.lower import ITERATION, RUN, STEP, Builder, Tape, tape
from dalembert.symbolic import fast, free_names, magnitude, number, partials
from dalembert.waist.chain_rule import shared_partials
from dalembert.waist.stepmap import STEP as STEP_NAME
from dalembert.waist.stepmap import Block, StepMap

x, y, z, p = symengine.symbols("x y z p")


def heavy(group: str) -> StepMap:
    """A step of a body with weight on a group."""
    if group == "rotation":
        R = da.rotation("R")
        kinetic = (2 * R.omega[0] ** 2 + 3 * R.omega[1] ** 2 + R.omega[2] ** 2) / 2
        return da.Midpoint().step_map(da.System("top", [R], kinetic=kinetic, potential=3 * R[2, 2]))
    P = da.pose("P")
    kinetic = sum((k + 2) * v**2 for k, v in enumerate((*P.omega, *P.velocity))) / 2
    return da.Midpoint().step_map(da.System("body", [P], kinetic=kinetic, potential=3 * P[2, 2] + P[0, 3] ** 2))


def block_of(step: StepMap) -> Block:
    (block,) = step.blocks
    assert isinstance(block, Block)
    return block


def lowered(step: StepMap, shared: bool = True) -> tuple[Tape, list[symengine.Basic]]:
    """The tape of residual, sizes and Jacobian, and the expressions."""
    block = block_of(step)
    asked = [*block.residual, *map(magnitude, block.residual), *block.partials.values()]
    levels = dict.fromkeys((*step.state, "t"), STEP) | dict.fromkeys(step.unknowns, ITERATION) | {STEP_NAME: RUN}
    if shared:
        return tape(asked, levels), asked
    builder = Builder(levels)
    return Tape(builder.operations, list(map(builder.value, asked))), asked


def counts(t: Tape) -> Counter[str]:
    return Counter(o.op for o in t.operations if o.level > RUN)


@pytest.mark.parametrize("group", ["rotation", "pose"])
def test_a_step_on_a_group_divides_a_few_times(group: str) -> None:
    step = heavy(group)
    assert counts(lowered(step)[0])["div"] <= 8
    assert counts(lowered(step, shared=False)[0])["div"] > 40  # the control: quotients one by one


@pytest.mark.parametrize("group", ["rotation", "pose"])
def test_derivatives_that_share_sums_are_shorter(group: str) -> None:
    step = heavy(group)
    block = block_of(step)
    levels = dict.fromkeys((*step.state, "t"), STEP) | dict.fromkeys(step.unknowns, ITERATION) | {STEP_NAME: RUN}
    short, long = (
        sum(counts(tape([*block.residual, *found(block.residual, block.unknowns).values()], levels)).values())
        for found in (shared_partials, partials)
    )
    assert short < 0.85 * long


@pytest.mark.parametrize("group", ["rotation", "pose"])
def test_derivatives_that_share_sums_have_the_same_values(group: str) -> None:
    block = block_of(heavy(group))
    compared(list(block.residual), list(block.unknowns))


def compared(expressions: list[symengine.Basic], variables: list[object]) -> None:
    found, expected = shared_partials(expressions, variables), partials(expressions, variables)
    assert list(found) == list(expected)
    chance = random.Random(3)
    for _ in range(3):
        at = {name: chance.uniform(0.3, 1.2) for name in sorted(free_names(expressions))}
        for place, d in expected.items():
            value = number(d, at)
            assert number(found[place], at) == pytest.approx(value, rel=1e-9, abs=1e-9 * number(magnitude(d), at))


@pytest.mark.parametrize(
    "expressions",
    [
        [x / (1 + x**2 + y**2), (x * y + z) / symengine.sqrt(1 + x**2 + y**2) ** 3],
        [1 / (1 + symengine.sqrt(1 + x**2 + y**2)) ** 2 / symengine.sqrt(1 + x**2 + y**2) + z / (x + y)],
        [symengine.Piecewise((1 / (1 + x * y + y), x < y), (symengine.sqrt(1 + x * y + y), True)) * z],
        [(p + x * y) ** p + z / (p + x * y), symengine.sin(1 / (p + x * y)), z * p],
        [x + 2 * y, z / (1 + p)],
    ],
    ids=["powers of one sum", "nested", "branches", "a power that is a parameter", "no such sums"],
)
def test_the_chain_rule_holds_for_every_form(expressions: list[symengine.Basic]) -> None:
    compared(expressions, [x, y, z])


def evaluated(t: Tape, at: dict[str, float]) -> list[float]:
    """The results of a tape, operation by operation."""
    done: list[float] = []
    simple = {
        "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b, "div": lambda a, b: a / b,
        "neg": lambda a: -a, "sqrt": lambda a: a**0.5, "fma": lambda a, b, c: a * b + c,
    }  # fmt: skip
    for o in t.operations:
        if o.op in ("input", "const"):
            done.append(at[o.args[0]] if o.op == "input" else o.args[0])
        elif o.op == "call":
            assert o.args[0] == "fabs"
            done.append(abs(done[o.args[1]]))
        else:
            done.append(simple[o.op](*(done[a] for a in o.args)))
    return [done[k] for k in t.results]


@pytest.mark.parametrize("group", ["rotation", "pose"])
def test_quotients_by_a_reciprocal_have_the_same_values(group: str) -> None:
    t, asked = lowered(heavy(group))
    chance = random.Random(5)
    at = {name: chance.uniform(0.3, 1.2) for name in sorted(free_names(asked))}
    for value, e in zip(evaluated(t, at), asked, strict=True):
        assert value == pytest.approx(number(e, at), rel=1e-10, abs=1e-11)


def test_a_denominator_is_inverted_for_three_quotients() -> None:
    quotients = [a / (1 + x**2) for a in (x, y, z, x * y)]
    assert not shared_denominators(quotients[: QUOTIENTS - 1])
    assert shared_denominators(quotients[:QUOTIENTS]) == {1 + x**2}
    levels = dict.fromkeys("xyz", ITERATION)
    assert counts(tape(quotients[: QUOTIENTS - 1], levels))["div"] == QUOTIENTS - 1
    assert counts(tape(quotients[:QUOTIENTS], levels))["div"] == 1
    updated = tape(quotients[:QUOTIENTS], dict.fromkeys("xyz", STEP))  # what is no search adds up its rounding errors
    assert counts(updated)["div"] == QUOTIENTS


def test_coefficients_are_divided_as_before() -> None:
    """Their rounding errors are known exactly, and a reciprocal would add another."""
    quotients = [fast(a) * x / (p + 3) for a in (1, 5, 7, 11)]
    levels = {"p": RUN, "x": ITERATION}
    builder = Builder(levels)
    results = list(map(builder.value, quotients))
    assert tape(quotients, levels, exact=len(quotients)) == lower.Tape(builder.operations, results)


def test_the_numbers_of_a_rotation_need_no_guard() -> None:
    """The four numbers of a point are never all zero; what the model itself divides by is still looked at."""
    R = da.rotation("R")
    kinetic = sum(w**2 for w in R.omega) / 2
    assert not heavy("rotation").guards
    assert da.Midpoint().step_map(da.System("pole", [R], kinetic=kinetic, potential=1 / R[2, 2])).guards
