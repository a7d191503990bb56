"""Models made to do harm when they are read: numbers of any length, deep nesting, wrong kinds; and random expressions.

Everything here is data as a file holds it (nested lists of names and numbers), never a SymPy expression.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from random import Random
from typing import Any

X, V, M, T = (
    ["Coordinate", "x", {}],
    ["Velocity", "x.dot", {}],
    ["Parameter", "m", {"positive": True}],
    ["_Time", "t", {}],
)
SLOTS = [["Symbol", "x.at(0)"], ["Symbol", "x.at(1)"], ["Symbol", "m"], ["Symbol", "t"], ["Symbol", "step.h"]]
UNARY = [
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "cot",
    "sec",
    "csc",
    "sinh",
    "cosh",
    "tanh",
    "asinh",
    "acosh",
    "atanh",
    "exp",
    "log",
    "Abs",
    "sign",
    "floor",
    "ceiling",
    "erf",
    "erfc",
    "gamma",
    "loggamma",
]
RELATIONS = ["StrictLessThan", "LessThan", "StrictGreaterThan", "GreaterThan", "Equality", "Unequality"]
ODD_NAMES = [
    "",
    " ",
    "x",
    "t",
    "x.dot",
    "lambda",
    "eval",
    "__import__('os')",
    "x\n",
    "\u03c0",
    "a" * 10_000,
    "energy",
    "1",
    "x.at(0)",
]


def number(n: int, d: int = 1) -> list[int]:
    """A fraction."""
    return [n, d]


def tower(rng: Random) -> Any:
    """a**b**c**..., of numbers or of something else at the bottom."""
    e: Any = number(rng.choice([2, 3, 7, 10, 10**6]))
    for _ in range(rng.randint(1, 6)):
        e = ["Pow", number(rng.choice([2, 10, -3, 10**9]), rng.choice([1, 1, 3])), e]
    return ["Pow", rng.choice([X, ["Mul", number(2), X]]), e] if rng.random() < 0.4 else e


def powers(rng: Random) -> Any:
    """Powers of powers, which building multiplies out."""
    e = rng.choice([["Mul", number(3), X], ["Add", X, V, number(1)], ["Mul", number(2, 7), X, V]])
    for _ in range(rng.randint(1, 12)):
        e = [
            "Pow",
            e,
            rng.choice([number(rng.choice([2, 10, 100, 999, 10**6, -50])), number(7, 2), ["Mul", number(10**6), M]]),
        ]
    return e


def factorials(rng: Random) -> Any:
    """Factorials in disguise, and functions that do not exist."""
    n = rng.choice([number(10**7), number(10**6 + 1, 2), number(-(10**7) - 1, 2), number(171), number(10**300)])
    head = rng.choice(["gamma", "loggamma", "factorial", "binomial", "Sum", "Integral", "eval", "polygamma", "exp"])
    return [head, n] if rng.random() < 0.7 else [head, ["Mul", n, X]]


def through_logarithms(rng: Random) -> Any:
    """exp(n log(u)) is built as u**n."""
    n, u = number(rng.choice([10, 1000, 10**6, 10**12])), rng.choice([["Mul", number(3), X], number(3), ["Add", X, V]])
    inner = ["Mul", n, ["log", u]] if rng.random() < 0.7 else ["Add", ["Mul", n, ["log", u]], X]
    if rng.random() < 0.5:
        return ["exp", inner]
    return ["Pow", number(2), ["Mul", n, ["log", u], ["Pow", ["log", number(2)], number(-1)]]]


def long_sum(rng: Random) -> Any:
    """Many terms: different ones, or like ones with denominators that have no common factor."""
    count = rng.choice([100] * 8 + [1000] * 8 + [10_000, 60_000])
    if rng.random() < 0.5:
        return ["Add", *(["sin", ["Mul", number(k + 1), X]] for k in range(count))]
    head = rng.choice(["Add", "Mul", "Max", "And"])
    size = rng.choice([60, 900])
    return [head, *(["Mul", number(1, rng.getrandbits(size) | 1), X] for _ in range(min(count, 20_000)))]


def deep(rng: Random) -> Any:
    """Nested deeply; as text, because writing it down is limited too."""
    count, head = rng.choice([50, 110, 500, 2000, 100_000]), rng.choice(["sin", "Abs", "exp", "sign", "Not"])
    return Text(f'["{head}", ' * count + json.dumps(X) + "]" * count)


@dataclass
class Text:
    """JSON as it stands in the file."""

    text: str


def long_number(rng: Random) -> Any:
    """Integers, decimals and doubles beyond what there is room for."""
    digits = rng.choice([300, 1200, 4000, 5000, 1_000_000])
    choices: list[Any] = [
        Text(f"[1{'0' * digits}, 1]"),
        Text(f"[1, 1{'0' * digits}]"),
        [1, 0],
        [0, 0],
        [1, -1],
        [1],
        [1, 1, 1],
        [True, 1],
        [1.5, 1],
        ["Float", "1e999999999", 53],
        ["Float", f"1.{'1' * digits}", 10**9],
        ["Float", "nan", 53],
        ["Float", "1.5", -1],
        ["Float", "1.5", 53, 1],
        "0x1.0p+99999",
        "0x1.8p+1023",
        "nan",
        "inf",
        "1.5",
        ["Float", 1.5, 53],
        1.5,
        7,
        None,
        True,
    ]
    return rng.choice(choices)


def branched(rng: Random) -> Any:
    """Conditions of every kind, also where none belong; kinks inside one another."""
    condition: Any = [rng.choice(RELATIONS), rng.choice([X, number(1)]), rng.choice([V, number(2), tower(rng)])]
    for _ in range(rng.randint(0, 5)):
        condition = rng.choice(
            [
                ["Not", condition],
                ["And", condition, ["LessThan", X, V]],
                ["Or", condition, "BooleanTrue"],
                ["ITE", condition, condition, "BooleanFalse"],
            ]
        )
    e: Any = ["Piecewise", ["ExprCondPair", X, condition], ["ExprCondPair", rng.choice([V, condition]), "BooleanTrue"]]
    for _ in range(rng.choice([0, 1, 3, 12, 40])):
        e = rng.choice(
            [
                ["Abs", ["Add", e, X]],
                ["Max", e, X, V],
                ["Min", ["Mul", number(2), e], X],
                ["Heaviside", e, number(1, 2)],
            ]
        )
    return e if rng.random() < 0.9 else condition


def constant(rng: Random) -> Any:
    """Steps and extremes of numbers, for which SymPy computes values."""
    e: Any = rng.choice([number(10**20, 3), "Pi", "Exp1", number(-1), number(0)])
    for _ in range(rng.randint(1, 8)):
        e = (
            [rng.choice(UNARY), e]
            if rng.random() < 0.7
            else [rng.choice(["Add", "Mul", "Pow", "atan2", "Max"]), e, number(rng.randint(-5, 99))]
        )
    return rng.choice([["floor", e], ["sign", e], ["Max", e, number(1)], ["Abs", e], ["Mul", e, X]])


def wrong_kinds(rng: Random) -> Any:
    """Operations of the wrong number or kind of arguments, and names that are none."""
    name = rng.choice(ODD_NAMES)
    choices: list[Any] = [
        ["Pow", X],
        ["Add"],
        ["Mul", X],
        [],
        [[]],
        ["sin"],
        ["sin", X, X],
        ["sin", "BooleanTrue"],
        ["Add", ["LessThan", X, V], X],
        ["Piecewise"],
        ["Piecewise", X],
        ["Piecewise", ["ExprCondPair", X]],
        ["Piecewise", ["ExprCondPair", X, X]],
        ["Not", X],
        ["Coordinate", name, {}],
        ["Velocity", name, {}],
        ["Parameter", name, {}],
        ["Parameter", "x", {}],
        ["Slot", "x.at(0)", {}],
        ["_Step", "step.h", {"positive": True}],
        ["_Time", name, {}],
        ["Coordinate", "x"],
        ["Parameter", "a", {"positive": True, "negative": True}],
        ["Parameter", "a", {"odd": True, "even": True}],
        ["Parameter", "a", {"wrong": True}],
        ["Parameter", "a", {"zero": 1}],
        ["Parameter", 3, {}],
        ["Pow", number(0), number(-1)],
        ["log", number(0)],
        ["Symbol", name],
        {"sin": X},
        ["Parameter", "a", {"finite": False}],
        ["Pow", number(-2), number(1, 2)],
    ]
    return rng.choice(choices)


def anything(rng: Random, depth: int = 4, leaves: Any = (X, V, M, T)) -> Any:
    """A random expression: as a rule one that could be meant."""
    if depth == 0 or rng.random() < 0.15:
        return rng.choice(
            [
                *leaves,
                number(rng.randint(-9, 9)),
                number(rng.randint(1, 99), rng.randint(1, 99)),
                "Pi",
                (rng.random() * 10).hex(),
            ]
        )
    kind = rng.random()
    parts = [anything(rng, depth - 1, leaves) for _ in range(rng.randint(2, 4))]
    if kind < 0.35:
        return ["Add", *parts]
    if kind < 0.6:
        return ["Mul", *parts]
    if kind < 0.72:
        return ["Pow", parts[0], rng.choice([number(2), number(-1), number(1, 2), number(3), parts[1]])]
    if kind < 0.94 or leaves[0][0] == "Symbol":
        return [rng.choice(UNARY), parts[0]]
    return rng.choice(
        [
            ["Max", *parts],
            ["atan2", *parts[:2]],
            [
                "Piecewise",
                ["ExprCondPair", parts[0], ["LessThan", X, parts[1]]],
                ["ExprCondPair", parts[1], "BooleanTrue"],
            ],
        ]
    )


HOSTILE = (
    tower,
    powers,
    factorials,
    through_logarithms,
    long_sum,
    deep,
    long_number,
    branched,
    constant,
    wrong_kinds,
    anything,
    anything,
)


def written(data: Any) -> str:
    """As JSON, with `Text` as it stands."""
    marks: list[str] = []

    def marked(part: Text) -> str:
        marks.append(part.text)
        return f"\0{len(marks) - 1}\0"

    text = json.dumps(data, default=marked)
    for i, mark in enumerate(marks):
        text = text.replace(json.dumps(f"\0{i}\0"), mark)
    return text


def hostile_system(rng: Random) -> str:
    """A system in one place of which something hostile stands."""
    zero, e = number(0), rng.choice(HOSTILE)(rng)
    kinetic = ["Mul", number(1, 2), M, ["Pow", V, number(2)]]
    data: dict[str, Any] = {
        "name": "hostile",
        "coordinates": ["x"],
        "energies": {"kinetic": kinetic, "potential": zero},
        "thermal": None,
        "forces": {"x": zero},
        "dissipation": zero,
        "constraints": [],
        "variations": None,
    }
    place = rng.choice(
        ["potential", "potential", "kinetic", "force", "dissipation", "constraint", "variation", "energy", "names"]
    )
    if place in ("potential", "kinetic"):
        data["energies"][place] = e if place == "potential" else ["Add", e, kinetic] if rng.random() < 0.5 else e
    elif place == "force":
        data["forces"]["x"] = e
    elif place == "dissipation":
        data["dissipation"] = e
    elif place in ("constraint", "variation"):
        data["constraints"] = [e if place == "constraint" else V]
        data["variations"] = [["Mul", e, V] if rng.random() < 0.5 else e] if place == "variation" else None
    elif place == "energy":
        thermal = {
            "entropies": ["S"],
            "internal_energy": ["exp", ["Entropy", "S", {}]],
            "friction": [[e]],
            "heat": [e],
            "conduction": [[["Entropy", "S", {}], e, e]],
        }
        data["thermal"] = {**thermal, rng.choice(list(thermal)): rng.choice([thermal["heat"], e])}
    else:
        data["coordinates"] = [rng.choice(ODD_NAMES)] * rng.choice([0, 1, 1, 2, 20_000])
    return written(data)


def hostile_steps(rng: Random, model: dict[str, Any]) -> str:
    """A discrete system in one place of which something hostile stands."""

    def in_slots(e: Any) -> Any:
        """The same in the symbols of a step."""
        if isinstance(e, list) and e and e[0] in ("Coordinate", "Velocity", "Parameter", "_Time", "Entropy"):
            return rng.choice(SLOTS)
        if isinstance(e, list) and e and e[0] == "Piecewise":
            return ["Piecewise", *(in_slots(a) for pair in e[1:] if isinstance(pair, list) for a in pair[1:])]
        return [in_slots(a) for a in e] if isinstance(e, list) else e

    e = anything(rng, 4, SLOTS) if rng.random() < 0.3 else in_slots(rng.choice(HOSTILE)(rng))
    key = rng.choice([k for k in model if k != "name"])
    value = model[key]
    value = [e, *value[1:]] if isinstance(value, list) and value and isinstance(value[0], list) else e
    return written({**model, key: value})
