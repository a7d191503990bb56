"""The gallery against equations derived here, from Lagrangian and constraints alone, and integrated by SciPy.

Nothing of the library's own derivation is used: if the two disagree, this file is the one to believe.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import mpmath
import numpy as np
import pytest
import sympy
from scipy.integrate import solve_ivp

from dalembert import gallery, time
from dalembert.errors import ModelError
from dalembert.gallery import Example

ELSEWHERE = (
    "free-rigid-body",
    "heavy-top",
    "satellite",
    "pendulum-on-sphere",
    "chaplygin-ball-in-space",
    "suslov",
    "veselova",
    "chaplygin-ball",
    "ball-on-turntable",
    "heavy-top-on-cart",
    "heisenberg-geodesics",
)
"""Those on groups, see `tests/textbook/test_gallery_on_groups.py` and `tests/textbook/test_nonholonomic_gallery.py`, and
vakonomic ones, see `test_001_models.py`."""
NAMES = tuple(name for name in gallery.names() if name not in ELSEWHERE)
FIELD = sympy.Symbol("field", real=True)
"""Strength of a force on every coordinate, which breaks every symmetry: the control of the invariants."""

load = cache(gallery.load)


def derived(example: Example, *expressions: sympy.Expr) -> Any:
    """A function (q, v, S, parameters, field, time) -> values of the expressions, all numbers."""
    s = example.system
    symbols = [s.coordinates, s.velocities, s.entropies, s.parameters, FIELD, time]
    return sympy.lambdify(symbols, expressions, "math", cse=True)


def entropy_rates(system: Any) -> dict[Any, sympy.Expr]:
    """S.dot = power/T for each entropy: heat received and conducted, and what friction takes from the motion."""
    T = {S: -system.lagrangian.diff(S) for S in system.entropies}
    power = dict(zip(system.entropies, system.heat, strict=True))
    for S, row in zip(system.entropies, system.friction, strict=True):
        power[S] -= sympy.Add(*(f * v for f, v in zip(row, system.velocities, strict=True)))
    for c in system.conduction:
        flow = c.conductance * (T.get(c.to, c.to) - T[c.body])
        power[c.body] += flow
        if c.to in T:
            power[c.to] -= flow
    return {S: power[S] / T[S] for S in system.entropies}


@cache
def bordered(name: str) -> Any:
    """The numbers M, A, force and rate of [[M, A^T], [A, 0]] (a, -lambda) = (force, rate), and the rates of entropies."""
    system = load(name).system
    q, v = system.coordinates, system.velocities
    field = sympy.Add(*(sympy.Rational(2 + i, 10) * c for i, c in enumerate(q)))
    lagrangian = system.lagrangian + FIELD * field
    warming = entropy_rates(system)

    def rate(expression: sympy.Expr) -> sympy.Expr:
        moving = [*zip(q, v, strict=True), *warming.items()]
        return sympy.Add(expression.diff(time), *(expression.diff(c) * w for c, w in moving))

    momenta = [lagrangian.diff(w) for w in v]
    forces = [f - system.dissipation.diff(w) for f, w in zip(system.forces, v, strict=True)]
    forces = [sympy.Add(f, *(row[i] for row in system.friction)) for i, f in enumerate(forces)]
    forces = [lagrangian.diff(c) - rate(p) + f for c, p, f in zip(q, momenta, forces, strict=True)]
    forms = [velocity_form(c.expression, q, v) for c in system.constraints]
    matrix = [p.diff(w) for p in (*momenta, *forms) for w in v]
    return derived(load(name), *matrix, *forces, *(-rate(form) for form in forms), *warming.values())


def velocity_form(expression: sympy.Expr, q: Any, v: Any) -> sympy.Expr:
    """A constraint as a relation between velocities."""
    if expression.free_symbols & set(v):
        return expression
    return sympy.Add(expression.diff(time), *(expression.diff(c) * w for c, w in zip(q, v, strict=True)))


def rates(name: str, q: Any, v: Any, S: Any, parameters: Any, field: float = 0.0, t: float = 0.0) -> Any:
    """Accelerations, and rates of the entropies."""
    n, m = len(q), len(q) + len(load(name).system.constraints)
    values = bordered(name)(q, v, S, parameters, field, t)
    matrix = np.zeros((m, m))
    matrix[:, :n] = np.reshape(values[: m * n], (m, n))
    matrix[:n, n:] = matrix[n:, :n].T
    return np.append(np.linalg.solve(matrix, values[m * n : m * n + m])[:n], values[m * n + m :])


def accelerations(name: str, q: Any, v: Any, parameters: Any) -> Any:
    return rates(name, q, v, [], parameters)


def motion(name: str, parameters: dict[str, float], start: dict[str, float], times: Any, field: float = 0.0) -> Any:
    """Positions, velocities and entropies, one row for each, one column per time."""
    system = load(name).system
    values = [float(parameters[p.name]) for p in system.parameters]
    y0 = [start[s.name] for s in (*system.coordinates, *system.velocities, *system.entropies)]
    n = len(system.coordinates)

    def slope(t: float, y: Any) -> Any:
        state = y.tolist()
        v = state[n : 2 * n]
        return np.concatenate([v, rates(name, state[:n], v, state[2 * n :], values, field, t)])

    run = solve_ivp(slope, (times[0], times[-1]), y0, "DOP853", t_eval=times, rtol=1e-11, atol=1e-11)
    assert run.success
    return run.y[:n], run.y[n : 2 * n], run.y[2 * n :]


def defaults(name: str) -> tuple[dict[str, float], dict[str, float]]:
    example = load(name)
    return {p.name: v for p, v in example.parameters.items()}, {s.name: v for s, v in example.start.items()}


def along(
    name: str, expressions: list[sympy.Expr], parameters: dict[str, float], times: Any, motion: tuple[Any, Any, Any]
) -> Any:
    """Values of expressions along a motion, one row per expression."""
    example, (q, v, S) = load(name), motion
    f, values = derived(example, *expressions), [parameters[p.name] for p in example.system.parameters]
    nodes = zip(q.T.tolist(), v.T.tolist(), S.T.tolist(), times, strict=True)
    return np.array([f(a, b, s, values, 0.0, t) for a, b, s, t in nodes]).T


def energy(example: Example) -> sympy.Expr:
    lagrangian = example.system.lagrangian
    return sympy.Add(*(lagrangian.diff(v) * v for v in example.system.velocities)) - lagrangian


def wobble(values: Any) -> Any:
    """How far each row moves from its first value, relative to 1 + its size."""
    return np.max(np.abs(values - values[:, :1]), axis=1) / (1 + np.abs(values[:, 0]))


# -------------------- what is stated --------------------


@pytest.mark.parametrize("name", NAMES)
def test_example_is_complete(name: str) -> None:
    example = load(name)
    system = example.system
    assert example.name == name
    assert example.description.endswith(".") and example.source
    assert set(example.parameters) == set(system.parameters)
    assert set(example.start) == {*system.coordinates, *system.velocities, *system.entropies}
    assert 500 <= example.until / example.h <= 5000
    known = {*system.coordinates, *system.velocities, *system.entropies, *system.parameters, time}
    assert all(e.free_symbols <= known for e in example.invariants.values())


CONSTRAINTS = {
    "pendulum-cartesian": 1,
    "nonholonomic-particle": 1,
    "particle-on-parabola": 1,
    "particle-over-parabola": 1,
    "rolling-disk": 2,
    "knife-edge": 1,
    "chaplygin-sleigh": 1,
    "continuously-variable-transmission": 1,
    "block-on-incline": 1,
    "block-and-hanging-weight": 3,
    "hoop-on-incline": 1,
    "double-pendulum-cartesian": 2,
    "particle-on-moving-circle": 1,
    "rod-with-knife-edge": 1,
    "bar-with-knife-edge": 1,
    "rod-on-driven-knives": 1,
    "car": 2,
    "rolling-disk-with-friction": 2,
    "snakeboard": 2,
    "two-wheeled-robot": 3,
    "roller-racer": 2,
    "appell-device": 1,
    "appell-in-dimensions": 1,
    "rolling-sphere": 2,
    "penny-on-incline": 2,
}


@pytest.mark.parametrize("name", NAMES)
def test_default_start_satisfies_constraints(name: str) -> None:
    system = load(name).system
    conditions = [c.expression for c in system.constraints]
    conditions += [velocity_form(e, system.coordinates, system.velocities) for e in conditions]
    values = {**load(name).parameters, **load(name).start, time: 0.0}
    assert all(abs(float(e.subs(values))) < 1e-15 for e in conditions)
    assert len(conditions) == 2 * CONSTRAINTS.get(name, 0)


def test_chain_of_many_links() -> None:
    """Two links are the double pendulum with equal masses and rods, one is the pendulum."""
    chain, double = gallery.load("pendulum-chain", links=2).system, load("double-pendulum").system
    equal = {p: sympy.Symbol(p.name[0], positive=True) for p in double.parameters}
    same = {p: sympy.Symbol(p.name, positive=True) for p in chain.parameters}
    assert sympy.expand(chain.lagrangian.xreplace(same) - double.lagrangian.xreplace(equal)) == 0
    single, pendulum = gallery.load("pendulum-chain", links=1).system, load("pendulum").system
    (theta1,), (theta,) = single.coordinates, pendulum.coordinates
    renamed = single.lagrangian.xreplace({theta1: theta, theta1.dot: theta.dot})
    assert sympy.expand(renamed - pendulum.lagrangian) == 0
    assert len(gallery.load("pendulum-chain", links=20).system.coordinates) == 20


@pytest.mark.parametrize("links", [0, -1, 2.5])
def test_chain_needs_a_number_of_links(links: Any) -> None:
    with pytest.raises(ModelError, match="a whole number from 1 on"):
        gallery.load("pendulum-chain", links=links)


# -------------------- what is conserved --------------------

DRIVEN = (
    "circulatory-oscillator",
    "damped-spring",
    "particle-on-moving-circle",
    "plate-hung-from-trolley",
    "disc-with-pendulum-on-incline",
    "disc-with-driven-rod",
    "hung-hoop-with-pulled-bead",
    "newton-cooling",
)
"""Systems whose energy is not conserved."""


BRIEF = {
    "pendulum-chain": 1.5,
    "double-pendulum": 4.0,
    "disc-under-leaning-rod": 0.6,
    "spring-against-gas": 1.0,
    "spring-against-gas-reduced": 1.0,
    "two-gas-chambers": 0.5,
    "friction-heated-pendulum": 4.0,
    "thermoelastic-double-pendulum": 1.0,
    "heavy-top-in-fluid": 1.0,
    "appell-device": 0.2,
    "appell-in-dimensions": 1.0,
    "rolling-sphere": 4.0,
    "rolling-sphere-lagrangian": 4.0,
    "snakeboard": 0.4,
}

PUSH = {"spring-against-gas": 100.0, "spring-against-gas-reduced": 100.0, "two-gas-chambers": 1000.0}
"""A stronger field, where there is much energy in a gas."""


def span(name: str) -> float:
    """How long motions are: the systems of two textbooks are many, and some end at a singularity (the
    snakeboard in the field, where its axles lie along it), so briefly."""
    example = load(name)
    textbook = example.source.startswith(("Dinamica analitica", "Leyes de Newton"))
    usual = min(1.0, example.until) if textbook else 8.0
    return BRIEF.get(name, usual)


BOUND = {"two-wheeled-robot": "angle of the wheels, less heading"}
"""Invariants that the constraints alone keep, so that they stay in any field."""


def conserved(name: str) -> list[sympy.Expr]:
    example = load(name)
    return [*([] if name in DRIVEN else [energy(example)]), *example.invariants.values()]


@pytest.mark.parametrize("name", [n for n in NAMES if conserved(n)])
def test_invariants(name: str) -> None:
    """Energy and each listed invariant stay; in a field that breaks every symmetry none of them does."""
    (parameters, start), expressions = defaults(name), conserved(name)
    times = np.linspace(0, span(name), 33)
    free = along(name, expressions, parameters, times, motion(name, parameters, start, times))
    field = PUSH.get(name, 1.0)
    forced = along(name, expressions, parameters, times, motion(name, parameters, start, times, field))
    kept = [e == load(name).invariants.get(BOUND.get(name, "")) for e in expressions]
    assert wobble(free).max() < 1e-8
    assert wobble(forced)[np.logical_not(kept)].min() > 1e-3
    assert wobble(forced)[kept].max(initial=0.0) < 1e-8


@pytest.mark.parametrize("name", DRIVEN)
def test_the_energy_of_a_driven_system_changes(name: str) -> None:
    parameters, start = defaults(name)
    times = np.linspace(0, span(name), 33)
    moved = along(name, [energy(load(name))], parameters, times, motion(name, parameters, start, times))
    assert wobble(moved).max() > 1e-3


def terms(name: str, invariant: str) -> tuple[sympy.Expr, ...]:
    return sympy.Add.make_args(sympy.expand(load(name).invariants[invariant]))


SUMS = [(name, i) for name in NAMES for i in load(name).invariants if len(terms(name, i)) > 1]


@pytest.mark.parametrize(("name", "invariant"), SUMS)
def test_invariant_with_a_wrong_sign_is_none(name: str, invariant: str) -> None:
    parameters, start = defaults(name)
    times = np.linspace(0, span(name), 33)
    wrong = [sympy.Add(*terms(name, invariant)) - 2 * term for term in terms(name, invariant)]
    assert wobble(along(name, wrong, parameters, times, motion(name, parameters, start, times))).max() > 1e-3


def test_friction_consumes_energy() -> None:
    """dE/dt = -2 R, twice the Rayleigh function: E(0) - E(t) is the integral of lam v^2."""
    parameters, start = defaults("damped-spring")
    times = np.linspace(0, 10, 4001)
    q, v, none = motion("damped-spring", parameters, start, times)
    (stored,) = along("damped-spring", [energy(load("damped-spring"))], parameters, times, (q, v, none))
    lost = np.concatenate([[0], np.cumsum(parameters["lam"] * (v[0, 1:] ** 2 + v[0, :-1] ** 2) / 2 * times[1])])
    assert np.max(np.abs(stored[0] - stored - lost)) < 1e-6
    assert lost[-1] > 0.05


# -------------------- exact solutions --------------------

rng = np.random.default_rng(20240607)


def some(*names: str, low: float = -1.0, high: float = 1.0) -> dict[str, float]:
    return {n: float(rng.uniform(low, high)) for n in names}


def positive(*names: str) -> dict[str, float]:
    return some(*names, low=0.5, high=2.0)


def on_circle(angle: float, rate: float, l: float) -> dict[str, float]:
    s, c = float(np.sin(angle)), float(np.cos(angle))
    return {"x": l * s, "y": -l * c, "x.dot": l * c * rate, "y.dot": l * s * rate}


def heading(phi: float, speed: float, rate: float, **others: float) -> dict[str, float]:
    x_dot, y_dot = speed * float(np.cos(phi)), speed * float(np.sin(phi))
    return {"phi": phi, "phi.dot": rate, "x.dot": x_dot, "y.dot": y_dot, **some("x", "y"), **others}


def disk(phi: float, roll: float, rate: float, R: float) -> dict[str, float]:
    return heading(phi, R * roll, rate, theta=0.3, **{"theta.dot": roll})


def plane(x: float, y: float, u: float, v: float) -> dict[str, float]:
    return {"x": x, "y": y, "x.dot": u, "y.dot": v}


def both(*names: str) -> dict[str, float]:
    return some(*names, *(f"{n}.dot" for n in names))


def on_incline(x: float, speed: float, a: float, b: float) -> dict[str, float]:
    return {"x": x, "y": b - b * x / a, "x.dot": speed, "y.dot": -b * speed / a}


def on_thread(x: float, speed: float, b: float, c: float, d: float) -> dict[str, float]:
    positions = {"x1": x, "y1": b, "x2": d, "y2": c - x}
    return positions | {"x1.dot": speed, "y1.dot": 0.0, "x2.dot": 0.0, "y2.dot": -speed}


def across(speed: float) -> dict[str, float]:
    return some("x", "y") | {"x.dot": 0.0, "y.dot": speed}


SPACE = ("x", "y", "z", "x.dot", "y.dot", "z.dot")
PAIR = ("x_G", "y_G", "x_G.dot", "y_G.dot")

CASES: dict[str, dict[str, tuple[dict[str, float], dict[str, float]]]] = {
    "harmonic-oscillator": {
        "random": (positive("m", "k"), some("x", "x.dot")),
        "another": (positive("m", "k"), some("x", "x.dot")),
    },
    "circulatory-oscillator": {
        "random": ({"mu": 0.2, "alpha": 3.0, "beta": 0.4}, some("x", "y", "x.dot", "y.dot")),
        "another": ({"mu": 0.05, "alpha": 5.0, "beta": 0.1}, some("x", "y", "x.dot", "y.dot")),
    },
    "damped-spring": {
        "random": (positive("m", "eta") | {"lam": 0.2}, some("x", "x.dot")),
        "no friction": (positive("m", "eta") | {"lam": 0.0}, some("x", "x.dot")),
        "critical": ({"m": 2.0, "eta": 2.0, "lam": 4.0}, some("x", "x.dot")),
        "nearly critical, below": ({"m": 2.0, "eta": 2.0, "lam": 4.0 - 1e-9}, some("x", "x.dot")),
        "nearly critical, above": ({"m": 2.0, "eta": 2.0, "lam": 4.0 + 1e-9}, some("x", "x.dot")),
        "overdamped": (positive("m", "eta") | {"lam": 7.0}, some("x", "x.dot")),
        "much overdamped": (positive("m", "eta") | {"lam": 80.0}, some("x", "x.dot")),
    },
    "pendulum": {
        "libration, moving": (positive("m", "l", "g"), {"theta": -0.4, "theta.dot": 0.7}),
        "libration, backwards": (positive("m", "l", "g"), {"theta": 1.1, "theta.dot": -0.2}),
        "libration, three turns up": (positive("m", "l", "g"), {"theta": 6 * np.pi - 0.9, "theta.dot": 0.5}),
        "libration, from the other side": (positive("m", "l", "g"), {"theta": 5.0, "theta.dot": -0.3}),
        "at rest": (positive("m", "l", "g"), {"theta": 0.0, "theta.dot": 0.0}),
        "rotation": (positive("m", "l", "g"), {"theta": 0.5, "theta.dot": 5.0}),
        "rotation, backwards": (positive("m", "l", "g"), {"theta": -2.9, "theta.dot": -6.0}),
        "rotation, from beyond the top": (positive("m", "l", "g"), {"theta": 9.0, "theta.dot": 7.0}),
        "barely libration": ({"m": 1.0, "l": 1.5, "g": 1.5}, {"theta": 0.0, "theta.dot": 2.0 - 1e-3}),
        "barely rotation": ({"m": 1.0, "l": 1.5, "g": 1.5}, {"theta": 0.0, "theta.dot": 2.0 + 1e-3}),
        "separatrix": ({"m": 1.0, "l": 1.5, "g": 1.5}, {"theta": 0.0, "theta.dot": 2.0}),
        "separatrix, backwards": ({"m": 1.0, "l": 1.5, "g": 1.5}, {"theta": 2 * np.pi, "theta.dot": -2.0}),
    },
    "pendulum-cartesian": {
        "libration": (positive("m", "g") | {"l": 0.7}, on_circle(-2.0, 0.4, 0.7)),
        "rotation": (positive("m", "g") | {"l": 1.3}, on_circle(0.8, -4.0, 1.3)),
        "upper half": (positive("m", "g") | {"l": 1.1}, on_circle(2.6, 0.1, 1.1)),
    },
    "kepler": {
        "clockwise ellipse": (positive("m", "mu"), plane(0.7, -0.5, -0.2, -0.8)),
        "inward bound ellipse": ({"m": 0.9, "mu": 1.6}, plane(0.3, 1.0, 0.8, -0.5)),
        "narrow ellipse": ({"m": 2.0, "mu": 1.0}, plane(1.0, 0.2, -0.1, 0.3)),
        "circle": ({"m": 1.3, "mu": 2.0}, plane(0.0, 0.5, -2.0, 0.0)),
        "parabola": ({"m": 0.7, "mu": 1.0}, plane(1.2, -1.6, 0.8, 0.6)),
        "inward bound parabola": ({"m": 0.7, "mu": 1.0}, plane(2.0, 0.0, -0.8, 0.6)),
        "nearly a parabola, inside": ({"m": 0.7, "mu": 1.0}, plane(2.0, 0.0, -0.8, 0.6 - 1e-7)),
        "nearly a parabola, outside": ({"m": 0.7, "mu": 1.0}, plane(2.0, 0.0, -0.8, 0.6 + 1e-7)),
        "hyperbola": (positive("m", "mu"), plane(1.0, 0.3, 0.5, 2.5)),
        "inward bound hyperbola": ({"m": 1.0, "mu": 1.2}, plane(3.0, 1.0, -1.9, 0.3)),
    },
    "charged-particle": {
        "random": (positive("m", "q", "B"), some(*SPACE)),
        "negative charge": (positive("m", "B") | {"q": -0.8}, some(*SPACE)),
        "no field": (positive("m", "q") | {"B": 0.0}, some(*SPACE)),
        "weak field": (positive("m", "q") | {"B": 1e-9}, some(*SPACE)),
    },
    "particle": {
        "random": (positive("m", "k"), some(*SPACE)),
        "another": (positive("m", "k"), some(*SPACE)),
    },
    "rolling-disk": {
        "random": (positive("m", "I", "J") | {"R": 0.7}, disk(0.4, -1.3, 0.8, 0.7)),
        "backwards": (positive("m", "I", "J") | {"R": 1.4}, disk(-2.4, 0.9, -1.7, 1.4)),
        "straight": (positive("m", "I", "J") | {"R": 0.7}, disk(0.4, 1.3, 0.0, 0.7)),
        "nearly straight": (positive("m", "I", "J") | {"R": 0.7}, disk(0.4, 1.3, 1e-9, 0.7)),
        "turning on the spot": (positive("m", "I", "J") | {"R": 0.7}, disk(0.4, 0.0, 1.1, 0.7)),
    },
    "knife-edge": {
        "random": (positive("m", "J", "g") | {"alpha": 0.5}, heading(0.4, -0.7, 0.9)),
        "backwards": (positive("m", "J", "g") | {"alpha": 1.2}, heading(-2.0, 0.6, -1.6)),
        "not turning": (positive("m", "J", "g") | {"alpha": 0.5}, heading(0.9, 0.4, 0.0)),
        "hardly turning": (positive("m", "J", "g") | {"alpha": 0.5}, heading(0.9, 0.4, 1e-6)),
        "slowly turning": (positive("m", "J", "g") | {"alpha": 0.5}, heading(0.9, 0.4, 0.02)),
        "horizontal": (positive("m", "J", "g") | {"alpha": 0.0}, heading(0.9, 0.4, 0.7)),
    },
    "block-on-incline": {
        "gentle": (positive("m", "g") | {"a": 3.0, "b": 0.4}, on_incline(0.5, -0.7, 3.0, 0.4)),
        "steep": (positive("m", "g") | {"a": 0.3, "b": 2.0}, on_incline(-0.2, 0.1, 0.3, 2.0)),
    },
    "block-and-hanging-weight": {
        "light weight": (
            {"m1": 3.0, "m2": 0.1, "g": 2.0, "b": 1.0, "c": 0.5, "d": 2.0},
            on_thread(-1, 0.4, 1.0, 0.5, 2.0),
        ),
        "heavy weight": ({"m1": 0.2, "m2": 4.0, "g": 1.0, "b": 0.0, "c": 0.0, "d": 0.0}, on_thread(0.3, -0.2, 0, 0, 0)),
    },
    "poggendorff-pulleys": {
        "random": (positive("m1", "m2", "m3", "g"), both("x1", "x2")),
        "another": (positive("m1", "m2", "m3", "g"), both("x1", "x2")),
    },
    "wedge-and-disc": {
        "random": (positive("m", "g"), both("X", "s")),
        "another": (positive("m", "g"), both("X", "s")),
    },
    "hoop-on-incline": {
        "uphill": (
            positive("m", "g") | {"r": 0.5, "alpha": 0.9},
            some("x", "theta") | {"x.dot": -2.0, "theta.dot": -4.0},
        ),
        "level": (positive("m", "g") | {"r": 0.5, "alpha": 0.0}, some("x", "theta") | {"x.dot": 0.5, "theta.dot": 1.0}),
    },
    "two-discs-on-incline": {
        "random": (positive("M", "k", "g") | {"beta": 0.3}, both("x", "s")),
        "level": (positive("M", "k", "g") | {"beta": 0.0}, both("x", "s")),
    },
    "two-pulleys-with-spring": {
        "random": (positive("m_A", "m_B", "k"), both("x_A", "x_B")),
        "another": (positive("m_A", "m_B", "k"), both("x_A", "x_B")),
    },
    "oscillator-on-moving-base": {
        "random": (positive("m", "k") | {"v": -1.0}, both("x")),
        "another": (positive("m", "k") | {"v": 0.0}, both("x")),
    },
    "binary-with-linear-attraction": {
        "wide": (
            positive("m_A", "m_B", "k", "g"),
            some(*PAIR) | {"s": 1.0, "s.dot": -0.4, "theta": 2.0, "theta.dot": 0.9},
        ),
        "clockwise": (
            positive("m_A", "m_B", "k", "g"),
            some(*PAIR) | {"s": 0.6, "s.dot": 0.2, "theta": 1, "theta.dot": -2.0},
        ),
    },
    "rod-on-driven-knives": {
        "fast": (positive("m", "l") | {"omega": 5.0}, across(1.4)),
        "backwards": (positive("m", "l") | {"omega": -0.7}, across(-0.8)),
    },
    "cart-with-friction": {
        "random": (positive("m", "mu", "nu", "T0"), some("x", "x.dot", "S")),
        "backwards": (positive("m", "nu", "T0") | {"mu": 4.0}, {"x": 1.0, "x.dot": -1.3, "S": -0.4}),
    },
    "newton-cooling": {
        "random": (positive("m", "mu", "nu", "T0", "T_e", "k"), some("x", "x.dot", "S")),
        "no friction": (positive("m", "nu", "T0", "T_e", "k") | {"mu": 0.0}, some("x", "x.dot", "S")),
        "colder than the air": (positive("m", "mu", "nu", "T0", "k") | {"T_e": 9.0}, some("x", "x.dot", "S")),
        "one rate": ({"m": 2.0, "mu": 1.0, "nu": 0.5, "T0": 1.0, "T_e": 2.0, "k": 0.5}, some("x", "x.dot", "S")),
        "nearly one rate": (
            {"m": 2.0, "mu": 1.0, "nu": 0.5, "T0": 1.0, "T_e": 2.0, "k": 0.5 + 1e-9},
            some("x", "x.dot", "S"),
        ),
    },
    "spring-in-gas": {
        "random": (positive("m", "eta", "U0", "alpha") | {"lam": 0.2, "S0": 0.3}, some("x", "x.dot", "S")),
        "critical": (positive("U0", "alpha") | {"m": 2.0, "eta": 2.0, "lam": 4.0, "S0": 0.0}, some("x", "x.dot", "S")),
        "overdamped": (positive("m", "eta", "U0", "alpha") | {"lam": 7.0, "S0": -0.2}, some("x", "x.dot", "S")),
    },
    "rolling-disk-with-friction": {
        "random": (positive("m", "I", "J", "nu", "T0", "c") | {"R": 0.7}, disk(0.4, -1.3, 0.8, 0.7) | some("S")),
        "no friction": (
            positive("m", "I", "J", "nu", "T0") | {"R": 1.4, "c": 0.0},
            disk(-2.4, 0.9, -1.7, 1.4) | some("S"),
        ),
        "straight": (positive("m", "I", "J", "nu", "T0", "c") | {"R": 0.7}, disk(0.4, 1.3, 0.0, 0.7) | some("S")),
        "neither": (
            positive("m", "I", "J", "nu", "T0") | {"R": 0.7, "c": 0.0},
            disk(0.4, 1.3, 0.0, 0.7) | some("S"),
        ),
    },
}

EXACT = [(name, "default") for name in CASES] + [(name, case) for name in CASES for case in CASES[name]]


APPELL = {"appell-device", "appell-in-dimensions"}
"""Motions that end after a fraction of a second; tests/textbook/test_001_models.py compares them with their closed form."""


def test_every_exact_solution_has_cases() -> None:
    assert {n for n in NAMES if load(n).exact} - APPELL == set(CASES)
    assert all(len(cases) >= 2 for cases in CASES.values())


def parted(name: str, parameters: dict[str, float], start: dict[str, float], control: str = "") -> float:
    """Largest distance of the exact solution from the integration; `control` spoils its start."""
    example = load(name)
    times = np.linspace(0, 5.0, 26)
    q, _, S = motion(name, parameters, start, times)
    assert example.exact is not None
    spoilt = start | {control: start[control] + 1e-5} if control else start
    exact = example.exact(times, parameters, spoilt)
    known = [c.name for c in (*example.system.coordinates, *example.system.entropies)]
    assert list(exact) == known
    return float(max(np.max(np.abs(exact[c] - row)) for c, row in zip(known, (*q, *S), strict=True)))


@pytest.mark.parametrize(("name", "case"), EXACT)
def test_exact_solution(name: str, case: str) -> None:
    parameters, start = defaults(name) if case == "default" else CASES[name][case]
    assert parted(name, parameters, start) < 2e-8


@pytest.mark.parametrize("name", list(CASES))
def test_exact_solution_from_another_start_is_another(name: str) -> None:
    parameters, start = defaults(name)
    velocities = [s for s in ("theta.dot", "x.dot", *start) if s in start and s.endswith(".dot")]
    control = {"rod-on-driven-knives": "y.dot", "binary-with-linear-attraction": "s.dot"}.get(name, velocities[0])
    assert parted(name, parameters, start, control) > 1e-6


@pytest.mark.parametrize("name", list(CASES))
def test_exact_solution_begins_at_the_start_and_takes_a_number(name: str) -> None:
    parameters, start = defaults(name)
    exact = load(name).exact
    assert exact is not None
    assert all(abs(value - start[c]) < 1e-15 for c, value in exact(0.0, parameters, start).items())


def test_damped_spring_digest() -> None:
    """Example 2.16 of Bonich with its numbers: eta = 2, m = 2, lambda = 0.3, x(0) = 0.3, v(0) = 0."""
    parameters, start = defaults("damped-spring")
    assert (parameters, start) == ({"m": 2.0, "eta": 2.0, "lam": 0.3}, {"x": 0.3, "x.dot": 0.0})
    x = load("damped-spring").exact([1.0, 5.0, 10.0, 20.0], parameters, start)["x"]
    assert np.max(np.abs(x - [0.16862034865, 0.04076619586, -0.12657283512, 0.03518722076])) < 6e-12


def test_overdamped_spring_for_a_long_time() -> None:
    """After t = 1e4 the slow exponential, about exp(-eta t/lam), is still there; cosh(b t) has overflowed."""
    x = load("damped-spring").exact([1e4], {"m": 1.0, "eta": 1.0, "lam": 1e3}, {"x": 1.0, "x.dot": 0.0})["x"]
    assert x[0] == pytest.approx(np.exp(-1e4 * (1e-3 + 1e-9 + 2e-15)) * (1 + 1e-6), rel=1e-9)


def test_pendulum_next_to_the_separatrix() -> None:
    """Against 60 digits: let go 1e-6 and 1e-3 below the top, for several swings."""
    times = np.linspace(0, 100, 41)
    for gap in (1e-6, 1e-3):
        theta0 = np.pi - gap
        start = {"theta": theta0, "theta.dot": 0.0}
        exact = load("pendulum").exact(times, {"l": 2.0, "g": 2.0}, start)["theta"]
        with mpmath.workdps(60):
            k = mpmath.sin(mpmath.mpf(theta0) / 2)
            quarter = mpmath.ellipk(k**2)
            s = [k * mpmath.ellipfun("sn", quarter + mpmath.mpf(float(t)), k=k) for t in times]
            reference = [float(2 * mpmath.asin(value)) for value in s]
        assert np.ptp(reference) > 6
        assert np.max(np.abs(exact - reference)) < 1e-9


def test_kepler_falls_radially_and_flies_far() -> None:
    """From rest at r = 1, sqrt(2) t = sqrt(r (1 - r)) + arccos(sqrt(r)); far out the energy is all speed."""
    exact, parameters = load("kepler").exact, {"m": 1.0, "mu": 1.0}
    r = np.array([0.99, 0.5, 0.1, 0.001])
    times = (np.sqrt(r * (1 - r)) + np.arccos(np.sqrt(r))) / np.sqrt(2)
    fall = exact(times, parameters, {"x": 1.0, "y": 0.0, "x.dot": 0.0, "y.dot": 0.0})
    assert np.max(np.abs(fall["x"] - r)) < 1e-11 and np.all(fall["y"] == 0)
    far = exact([1e8, 1e8 + 1], parameters, {"x": 1.0, "y": 0.0, "x.dot": 0.0, "y.dot": 2.0})
    assert np.hypot(*(np.diff(far[c])[0] for c in "xy")) == pytest.approx(np.sqrt(2), abs=1e-6)


# -------------------- printed numbers --------------------


def test_double_pendulum_digests() -> None:
    """Analytical dynamics, example 7.6 (equal rods), and Newton-d'Alembert-Lagrange, example 6."""
    names = [p.name for p in load("double-pendulum").system.parameters]
    equal = {"m1": 1.0, "m2": 2.0, "l1": 0.8, "l2": 0.8, "g": 9.81}
    a = accelerations("double-pendulum", [0.6, -0.3], [0.4, 1.1], [equal[n] for n in names])
    assert a == pytest.approx([-12.270306659, 11.376493773], abs=6e-10)
    unequal = {"m1": 0.9, "m2": 1.7, "l1": 1.1, "l2": 0.7, "g": 9.81}
    a = accelerations("double-pendulum", [0.4, 1.2], [0.3, -0.8], [unequal[n] for n in names])
    assert a == pytest.approx([0.78230216, -14.01980052], abs=6e-9)


@pytest.mark.parametrize(
    ("m", "J", "turn", "centre"),
    [
        (2.4, 1.2 * 0.8**2 / 2, -1.4625, (0.485647903, 1.002148573, 1.133467754)),
        (1.2, 1.2 * 0.8**2 / 12, -2.19375, (0.570750464, 0.905097803, 0.987389618)),
    ],
)
def test_chaplygin_sleigh_digest(m: float, J: float, turn: float, centre: tuple[float, ...]) -> None:
    """Analytical dynamics, example 7.13 (two masses on a rod) and problem 7.17 (a bar), the blade at one end.

    The printed numbers are of the mass centre, a = l/2 ahead of the blade.
    """
    a, phi, u = 0.4, 0.4, 0.9
    parameters = {"m": m, "J": J, "a": a}
    start = heading(phi, u, 1.3) | {"x": -a * float(np.cos(phi)), "y": -a * float(np.sin(phi))}
    values = [parameters[p.name] for p in load("chaplygin-sleigh").system.parameters]
    state = [[start[c + dot] for c in ("x", "y", "phi")] for dot in ("", ".dot")]
    assert accelerations("chaplygin-sleigh", *state, values)[2] == pytest.approx(turn, abs=1e-12)
    q, v, _ = motion("chaplygin-sleigh", parameters, start, np.array([0.0, 1.0]))
    (x, y, phi1), (vx, vy, rate) = q[:, -1], v[:, -1]
    assert (x + a * np.cos(phi1), y + a * np.sin(phi1), phi1) == pytest.approx(centre, abs=1e-9)
    b = np.sqrt(a**2 + J / m)
    U = np.hypot(u, b * 1.3)
    s = a * U / b**2 + np.arctanh(u / U)
    assert np.hypot(vx, vy) == pytest.approx(U * np.tanh(s), abs=1e-9)
    assert rate == pytest.approx(U / b / np.cosh(s), abs=1e-9)


def test_knife_edge_does_not_slide_down() -> None:
    """From rest: x = G sin(w t)^2/(2 w^2), y = G (w t - sin(2 w t)/2)/(2 w^2), w = phi.dot."""
    parameters, start = defaults("knife-edge")
    t, w, gravity = np.linspace(0, 60, 61), 1.5, parameters["g"] * np.sin(parameters["alpha"])
    exact = load("knife-edge").exact(t, parameters, start | {"x.dot": 0.0, "phi.dot": w})
    assert exact["x"] == pytest.approx(gravity * np.sin(w * t) ** 2 / (2 * w**2), abs=1e-12)
    assert exact["y"] == pytest.approx(gravity * (w * t - np.sin(2 * w * t) / 2) / (2 * w**2), abs=1e-12)
