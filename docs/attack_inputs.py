"""Odd numbers and odd statements: each must be taken for what it is, or refused in words.

Run by docs/attack.py.
"""

from __future__ import annotations

import datetime
import random
import sys
from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import sympy

import dalembert as da
from dalembert import bodies as b

sys.path.insert(0, str(Path(__file__).parent))
from watched import watched

# Odd numbers. Each comes with the value it has: an array of doubles, or None if it is no real number.

Odd = tuple[Any, Any]


def _scalar(rng: random.Random) -> Odd:
    n, x = rng.randint(1, 9), rng.choice([0.1, 0.25, 1.5, 3.0, 1e-3, 1e3])
    right = [
        (n, n), (x, x), (-n, -n), (0, 0), (Fraction(n, 7), n / 7), (Decimal(n) / 8, n / 8), (np.float64(x), x),
        (np.float32(0.5), 0.5), (np.float16(0.25), 0.25), (np.longdouble(x), x), (np.int8(n), n), (np.uint64(n), n),
        (np.array(x), x), (np.array(n), n), (sympy.Integer(n), n), (sympy.Rational(n, 4), n / 4),
        (sympy.sqrt(2) * n, float(sympy.sqrt(2) * n)), (sympy.Float(x), x), (2**63, 2.0**63), (float("nan"), np.nan),
        (float("inf"), np.inf), (-float("inf"), -np.inf), (sympy.oo, np.inf), (sympy.nan, np.nan),
        (np.array(n, dtype=">f8"), n), (np.array(n, dtype=">i2"), n), (np.array(n, dtype=object), n),
    ]  # fmt: skip
    wrong = [
        "0.1", "1", b"1", "", "abc", "10**10**10", True, False, np.bool_(True), None, 1 + 0j, 2j, np.complex64(1), sympy.I,
        sympy.zoo, sympy.true, sympy.Symbol("s"), da.coordinates("u"), da.parameters("w"), 2**2000, -(2**2000), 10**5000,
        Decimal("1e400"), Decimal("1e-400"), Decimal("sNaN"), Fraction(10**400, 3), sympy.Integer(10) ** 400,
        np.longdouble("1e4000"), np.datetime64("2020-01-01"), np.timedelta64(3, "s"), datetime.date(2020, 1, 1),
        datetime.timedelta(1), object(), float, abs, (i for i in [1]), {1, 2}, {1: 2}, Ellipsis, NotImplemented,
        memoryview(b"ab"), bytearray(b"1"), np.array("1"), np.array(None), np.array(1j), np.array(True),
        sympy.Interval(0, 1), sympy.Eq(sympy.Symbol("s"), 1), np.ma.masked, _Loud(), _Quantity(),
    ]  # fmt: skip
    return rng.choice(right) if rng.random() < 0.5 else (rng.choice(wrong), None)


class _Loud:
    """Looks like a number and is none."""

    def __float__(self) -> float:
        raise ValueError("no")


class _Quantity:
    """A number with a unit."""

    units, magnitude = "m", 1.0

    def __float__(self) -> float:
        return 1.0


def _array(rng: random.Random) -> Odd:
    shape = rng.choice([(), (0,), (1,), (2,), (2,), (3,), (2, 2), (1, 0), (2, 1, 1)])
    plain = np.array(rng.choices([0.25, 0.5, 1.0, 2.0], k=int(np.prod(shape)))).reshape(shape)
    dtype = rng.choice(
        ["f8", ">f8", "<f4", ">f4", "f2", ">f2", "g", "i1", ">i4", "u8", "O", "?", "c16", ">c8", "U4", "S4"]
    )
    whole = np.asarray(np.ceil(plain))
    if dtype in ("i1", ">i4", "u8"):
        return whole.astype(dtype), whole
    if dtype in ("?", "c16", ">c8", "U4", "S4"):
        return plain.astype(dtype), None
    if dtype == "O":
        made = [
            rng.choice([Fraction(v), sympy.Rational(v), Decimal(v), v, np.float32(v)]) for v in plain.ravel().tolist()
        ]
        held = np.empty(len(made), dtype=object)
        held[:] = made
        return held.reshape(shape), plain
    return plain.astype(dtype), plain


def _wrapped(rng: random.Random) -> Odd:
    """Arrays in lists, masks, views and other containers."""
    base, value = _array(rng)
    kind = rng.choice(
        ["list", "tuple", "masked", "unmasked", "view", "frozen", "records", "dates", "mixed", "ragged", "self"]
    )
    if kind in ("list", "tuple"):
        listed = base.tolist() if kind == "list" or not base.ndim else tuple(base.tolist())
        return listed, value if base.size else np.zeros(base.shape)  # an empty list has no type
    if kind == "masked" and base.size:
        return np.ma.array(base, mask=np.ones(base.shape, bool)), None
    if kind == "unmasked":
        return np.ma.array(base), value
    if kind == "view":
        return np.repeat(base, 2, axis=0)[::2] if base.ndim else base, value
    if kind == "frozen":
        frozen = np.array(base)
        frozen.flags.writeable = False
        return frozen, value
    if kind == "records":
        return np.zeros(2, dtype=[("a", int), ("b", float)]), None
    if kind == "dates":
        return np.array(["2020-01-01", "2021-01-01"], dtype=rng.choice(["M8[D]", "U12"])), None
    if kind == "mixed":
        return rng.choice([[1, "2"], [1, None], [1, True], [1.0, 2j], [2**2000, 1], [1, [2]], ["a"], [[1], 2]]), None
    if kind == "ragged":
        return [[1, 2], [3]], None
    loop: list[Any] = []
    loop.append(loop)
    return loop, None


def odd_number(rng: random.Random) -> Odd:
    """Something that may be a number or an array of numbers, and its value."""
    found, value = rng.choice([_scalar, _array, _wrapped])(rng)
    return found, None if value is None else np.asarray(value, dtype=float)


# Doors: where numbers enter. Each takes the odd thing and tells what it was understood as, if that can be seen.

x, y = da.coordinates("x y")
theta, r = da.coordinates("theta r")
m, k, g, R = da.parameters("m k g R", positive=True)
S = da.entropies("S")
SPRING = da.System("spring", [x], kinetic=m * x.dot**2 / 2, potential=k * x**2 / 2)
ROD = da.System(
    "rod", [x, y], kinetic=m * (x.dot**2 + y.dot**2) / 2, potential=m * g * y, constraints=[x**2 + y**2 - 1]
)
NUMBERS = {m: 1, k: 2}
REST = {x: 0.5, x.dot: 0.25}
H = {"h": 0.01, "steps": 2}


def _lane(values: Any) -> Any:
    return np.asarray(values)[..., 0]


def _doors() -> dict[str, tuple[str, Callable[[Any], Any]]]:
    """{name: (what is expected there, call)}: "lanes", "one" number, a "positive" one, a "whole" one.

    A "symbol" may be a parameter too; "rest" is one number that may be no place of rest, and is refused then.
    """
    step, methods = da.discretise(SPRING, da.midpoint_map), (da.Midpoint(), da.RungeKutta4(), da.Reference())
    polar = da.change_coordinates(
        da.System("free", [x, y], kinetic=m * (x.dot**2 + y.dot**2) / 2), {x: r * da.cos(theta), y: r * da.sin(theta)}
    )
    bob = b.Particle(m, [x, 0])
    balance = b.assemble("bob", [x], bodies=[bob], loads=[b.Force([k, 0], bob)]).newton_euler()
    form, exact = da.hamilton(SPRING), da.exact_discrete_lagrangian(SPRING)
    there = {x: 0.5, y: 0.5, x.dot: 0.25, y.dot: 0.0}
    made: dict[str, tuple[str, Callable[[Any], Any]]] = {}
    for method in methods:
        name = repr(method)[:12]

        def run(method: Any = method, **given: Any) -> Any:
            options = {**H, "start": REST, "parameters": NUMBERS, "strict": False, "progress": False, **given}
            return da.simulate(SPRING, method, **options)

        made |= {
            f"{name} start": ("lanes", lambda v, run=run: _lane(run(start={x: v, x.dot: 0})[x])),
            f"{name} velocity": ("lanes", lambda v, run=run: _lane(run(start={x: 0, x.dot: v})[x.dot])),
            f"{name} parameter": ("lanes", lambda v, run=run: run(parameters={m: v, k: 1}).parameters["m"]),
            f"{name} time": ("one", lambda v, run=run: run(start={**REST, da.time: v}).t0),
            f"{name} h": ("positive", lambda v, run=run: run(h=v).h),
            f"{name} until": ("one", lambda v, run=run: run(until=v, steps=None, h=0.5) and None),
            f"{name} steps": ("whole", lambda v, run=run: run(steps=v) and None),
            f"{name} every": ("whole", lambda v, run=run: run(every=v).every),
        }

    def discrete(start: Any) -> Any:
        return da.simulate(step, start=start, parameters=NUMBERS, strict=False, **H)

    def flown(start: Any) -> Any:
        return da.flow(SPRING, da.Midpoint(), start=start, h=0.1, parameters=NUMBERS)

    def at(v: Any) -> Any:
        return {x.at(0): 0, x.at(1): v}

    return made | {
        "two positions": ("lanes", lambda v: _lane(discrete({x.at(0): v, x.at(1): 0.5})[x])),
        "momentum": ("lanes", lambda v: _lane(discrete({x: 0, x.momentum: v})[x.momentum])),
        "evaluate": ("one", lambda v: da.evaluate(SPRING, at={x: 0.5, x.dot: v}, parameters=NUMBERS).velocities[x]),
        "evaluate, parameters": ("one", lambda v: da.evaluate(SPRING, at=REST, parameters={m: v, k: 1}).mass_matrix[0, 0]),
        "flow": ("lanes", lambda v: flown({x: v, x.dot: 0}).before[..., 0]),
        "flow, h": ("positive", lambda v: da.flow(SPRING, da.Midpoint(), start=REST, h=v, parameters=NUMBERS) and None),
        "linearise": ("symbol", lambda v: da.linearise(SPRING, about={x: 0}, parameters={m: 1, k: v}) and None),
        "linearise about": ("rest", lambda v: da.linearise(SPRING, about={x: v}) and None),
        "modes": ("one", lambda v: da.normal_modes(SPRING, at={x: 0}, parameters={m: 1, k: v}) and None),
        "modes at": ("rest", lambda v: da.normal_modes(SPRING, at={x: v}, parameters=NUMBERS) and None),
        "box": ("one", lambda v: da.equilibria(SPRING, box={x: (-1, v)}, parameters=NUMBERS) and None),
        "equilibria": ("one", lambda v: da.equilibria(SPRING, box={x: (-1, 1)}, parameters={m: 1, k: v}) and None),
        "attempts": ("whole", lambda v: da.equilibria(SPRING, box={x: (-1, 1)}, parameters=NUMBERS, attempts=v) and None),
        "exact": ("one", lambda v: exact.solve({x.at(0): v, x.at(1): 0.5}, h=0.1, parameters=NUMBERS) and None),
        "exact, h": ("positive", lambda v: exact.solve({x.at(0): 0.4, x.at(1): 0.5}, h=v, parameters=NUMBERS) and None),
        "regularity": ("one", lambda v: da.regularity(step, at=at(v), h=0.1, parameters=NUMBERS) and None),
        "regularity, h": ("positive", lambda v: da.regularity(step, at=at(1), h=v, parameters=NUMBERS) and None),
        "existence": ("one", lambda v: da.existence(step, at={x: v, x.momentum: 0}, h=0.1, parameters=NUMBERS) and None),
        "existence, h": ("positive", lambda v: da.existence(step, at={x: 1, x.momentum: 0}, h=v, parameters=NUMBERS) and None),
        "reactions": ("one", lambda v: da.reactions(ROD).at({x: 1, y: 0, x.dot: 0, y.dot: v}, {m: 1, g: 1}) and None),
        "balance": ("one", lambda v: balance.solve({x: v, x.dot: 0}, {m: 1, k: 1}) and None),
        "to_new": ("one", lambda v: polar.to_new({**there, x: v}, {r: 1, theta: 0.5}, {m: 1}) and None),
        "near": ("one", lambda v: polar.to_new(there, {r: 1, theta: v}, {m: 1}) and None),
        "to_old": ("any", lambda v: polar.to_old({r: v, theta: 0, r.dot: 0, theta.dot: 0}, {m: 1})[x]),
        "hamilton": ("lanes", lambda v: _lane(form.simulate(start={x: v, x.momentum: 0}, parameters=NUMBERS, **H)[x])),
        "hamilton, rtol": ("positive", lambda v: form.simulate(start=REST, parameters=NUMBERS, rtol=v, **H) and None),
        "Reference": ("positive", lambda v: da.Reference(rtol=v).rtol),
        "hs": ("any", lambda v: da.convergence(SPRING, [da.Midpoint()], v, start=REST, until=1, parameters=NUMBERS) and None),
        "recurrence": ("any", lambda v: da.linear_recurrence(1.5, 0.5)(2, v, 1) is None),
        "stages": ("whole", lambda v: da.Gauss(v).stages),
        "map": ("any", lambda v: da.FiniteDifferenceMap(v) and None),
    }  # fmt: skip


def _number_case(
    doors: dict[str, tuple[str, Callable[[Any], Any]]], rng: random.Random
) -> tuple[str, Callable[[], str]]:
    name = rng.choice(sorted(doors))
    kind, door = doors[name]
    given, value = odd_number(rng)

    def judged() -> str:
        try:
            seen = door(given)
        except da.DalembertError:
            return "wrong" if kind in ("one", "symbol", "positive", "lanes") and _plain(given) else "refused"
        if kind == "symbol" and isinstance(given, type(m)):
            return "accepted"
        most = {"any": 9, "lanes": 1}.get(kind, 0)
        if value is None or value.ndim > most:
            return "wrong"
        if kind == "positive" and not 0 < value < np.inf:
            return "wrong"
        there = np.broadcast_to(value, np.shape(seen)) if seen is not None and kind != "any" else np.zeros(0)
        finite = np.isfinite(there)  # what is not finite ends its lane, whose records then say nothing
        same = np.array_equal(there[finite], np.asarray(seen)[finite]) if finite.any() else True
        return "accepted" if same else "wrong"

    return f"{name}: {da.errors.told(given)}", judged


def _plain(given: Any) -> bool:
    """A number that every door takes."""
    return type(given) in (int, float) and given in (1, 2, 0.25)


# Odd statements


def _expression(rng: random.Random) -> tuple[Any, bool]:
    """Something in place of an expression, and whether it must be refused."""
    f, s = sympy.Function("f"), sympy.Symbol("s")
    if rng.random() < 0.05:
        deep = x
        for _ in range(rng.choice([5, 40, 300, 10_000])):
            deep = rng.choice([sympy.sin, sympy.exp])(deep, evaluate=False)
        return deep, False
    right = [
        x**2, m * x.dot**2 / 2, k * x, 0, 1, 2.5, Fraction(1, 3), Decimal("0.1"), np.float64(2), np.int64(3), np.array(2.0),
        da.cos(x) * y, da.Abs(x), da.Max(x, y), da.sign(x), da.Heaviside(x), da.Piecewise((x, x > 0), (0, True)), x**1000,
        da.exp(-(x**2)), sympy.Eq(x, y), 1 / x, da.sqrt(x), sympy.gamma(1 + x**2), sympy.erf(x), da.log(x), da.time * x,
        sympy.Add(*(da.cos(j * x) / j for j in range(1, rng.choice([3, 30, 300])))), da.tan(x), sympy.floor(x),
        np.array(x * y, dtype=object), x**sympy.Rational(1, 3), x ** sympy.pi, 1e-27 * x**2, 1e200 * x, (1 + x) ** 40,
    ]  # fmt: skip
    wrong = [
        None, "x**2", b"x", "10**10**10", True, sympy.true, f(da.time), f(da.time).diff(da.time), sympy.Derivative(f(s), s),
        sympy.Integral(x, x), sympy.Sum(s, (s, 1, 3)), sympy.I, sympy.I * x, sympy.oo, sympy.nan, sympy.zoo, float("nan"),
        float("inf"), 1j, sympy.Matrix([x, y]), np.array([x, y]), [x, y], (x,), {x}, {x: 1}, lambda: x, abs, object(),
        s, x.ddot, x.momentum, x.at(0), x > 0, sympy.And(x > 0, y > 0), sympy.Interval(0, 1), sympy.besselj(0, x),
        sympy.DiracDelta(x), sympy.Integer(10) ** 400 * x, sympy.Float("1e400") * x, sympy.Mod(x, 2), sympy.LambertW(x),
        sympy.Mul(sympy.Pow(10, 10**10, evaluate=False), x, evaluate=False), (i for i in [x]), x.__class__, 2**2000 * x,
        np.ma.masked, np.datetime64("2020"), sympy.factorial(x), sympy.re(x, evaluate=False), sympy.Lambda(s, s),
        sympy.Dummy("x"), da.step,
    ]  # fmt: skip
    return (rng.choice(right), False) if rng.random() < 0.6 else (rng.choice(wrong), True)


def _coordinates(rng: random.Random) -> tuple[Any, bool]:
    right = [[x], [x, y], (x, y), x, iter([x, y]), np.array([x, y], dtype=object), {x: 1, y: 2}, [x, y, theta]]
    wrong = [
        [], None, "x y", "x", ["x"], [x, x], [sympy.Symbol("x")], [m], [x.dot], 3, [None], [[x, y]], x.dot, object, abs,
        [da.time], [da.coordinates("x"), sympy.Symbol("y")], [x, 1], np.zeros(2), {"x"}, [S], True, float("nan"),
    ]  # fmt: skip
    return (rng.choice(right), False) if rng.random() < 0.7 else (rng.choice(wrong), True)


def _names(rng: random.Random) -> Any:
    made = ["x", "x y", "x,y", "x:3", "q(1:4)", "E I pi", "lambda", "x.dot", "t", "time lane", "", " ", "1x", "ä", "x-y",
            "x" * 5000, "x:100000", "x:1000000000", "a:zz", "(x", "x:", ":", "_", "__class__", "None", "h", "step.h", "\n",
            "x\ty", "x\x00", "энергия", None, 3, b"x", ["x"], x, True]  # fmt: skip
    return rng.choice(made)


def _some(rng: random.Random, chance: float, make: Callable[[], Any]) -> Any:
    return make() if rng.random() < chance else None


def _statement(rng: random.Random) -> tuple[str, Callable[[], str]]:
    refuse: list[bool] = []

    def piece(maker: Callable[[random.Random], tuple[Any, bool]] = _expression) -> Any:
        given, must = maker(rng)
        refuse.append(must)
        return given

    def stated() -> Any:
        given = piece()
        refuse[-1] &= given is not None  # None is "not given" there
        return given

    def listed() -> Any:
        return (
            [piece() for _ in range(rng.randint(0, 3))] if rng.random() < 0.8 else rng.choice([None, "x", 3, {x: y}, x])
        )

    def mapped() -> Any:
        keys = [x, y, "x", x.dot, None, 1, m, S, (x, y), object()]
        return (
            {rng.choice(keys): piece() for _ in range(rng.randint(0, 2))}
            if rng.random() < 0.8
            else rng.choice([3, "x", [x], x])
        )

    given: dict[str, Any] = {"coordinates": piece(_coordinates) if rng.random() < 0.4 else [x, y]}
    if rng.random() < 0.7:
        given["kinetic"] = m * (x.dot**2 + y.dot**2) / 2 + (piece() if rng.random() < 0.0 else 0)
        given |= {"potential": stated()} if rng.random() < 0.7 else {}
    else:
        given["lagrangian"] = piece()
    for key in ("constraints", "variations", "entropies"):
        given |= {key: listed()} if rng.random() < 0.2 else {}
    for key in ("forces", "friction", "heat", "conduction"):
        given |= {key: mapped()} if rng.random() < 0.15 else {}
    given |= {"dissipation": stated()} if rng.random() < 0.1 else {}
    name = rng.choice(["s", "", None, 3, "a" * 300, x])
    kind = rng.choice(
        ["system", "system", "system", "discrete", "names", "classify", "bodies", "map", "event", "force"]
    )
    text = f"{kind}: {da.errors.told(given, 300)}"
    if kind == "names":
        what, names = rng.choice([da.coordinates, da.parameters, da.entropies]), _names(rng)
        return f"names: {da.errors.told(names)}", lambda: str(what(names)) and "accepted"

    def judged() -> str:
        if kind == "classify":
            str(da.classify(given.get("constraints") or [piece()], coordinates=given["coordinates"]))
            return "accepted"
        if kind == "discrete":
            made = da.DiscreteSystem(name, given["coordinates"], lagrangian=piece())
            return str(made.equations()) and "accepted"
        if kind == "bodies":
            body = b.Particle(piece(), [piece() for _ in range(rng.choice([1, 2, 2, 2, 3]))])
            loads = [b.Gravity(piece(), *([[piece(), piece()]] if rng.random() < 0.3 else []))]
            whole = b.assemble(
                name, given["coordinates"], bodies=[body], loads=loads, constraints=given.get("constraints", ())
            )
            str(whole), str(whole.system), str(whole.newton_euler())
            return "wrong" if any(refuse[-2:]) else "accepted"
        if kind in ("map", "event", "force"):
            return _applied(kind, piece)
        system = da.System(name, **given)
        str(system), repr(system)
        return "wrong" if any(refuse) else "accepted"

    return text, judged


def _applied(kind: str, piece: Callable[[], Any]) -> str:
    if kind == "map":
        return str(da.change_coordinates(SPRING, {x: piece()})) and "accepted"
    if kind == "event":
        event = da.Event(piece(), action={x.dot: piece()})
        da.simulate(SPRING, da.Midpoint(), h=0.1, steps=1, start=REST, parameters=NUMBERS, events=event)
        return "accepted"
    return str(da.impose(ROD, {x: piece()})) and "accepted"


# Counting


def odd_numbers(count: int = 3000, seed: int = 0) -> Counter[str]:
    """Numbers of all kinds at every door that takes numbers."""
    doors = _doors()
    return _tried("numbers", lambda rng: _number_case(doors, rng), count, seed)


def odd_statements(count: int = 1500, seed: int = 0) -> Counter[str]:
    """Statements of systems, discrete systems, bodies, events and maps made of odd pieces."""
    return _tried("statements", _statement, count, seed)


def _tried(
    kind: str, made: Callable[[random.Random], tuple[str, Callable[[], str]]], count: int, seed: int
) -> Counter[str]:
    def tried(number: int) -> str:
        text, judged = made(random.Random(f"{kind} {seed} {number}"))
        try:
            came = judged()
        except da.DalembertError:
            raise
        except Exception as error:
            error.args = (f"{text} -> {error}",)
            raise
        return f"wrong: {text}" if came == "wrong" else came

    return watched(tried, count)
