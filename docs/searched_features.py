"""Whole systems made at random, continued: what is asked of symmetries, groups, models, motions and studies in other units.

A question is a function of a random generator that draws the numbers of a system and returns a case: a function of the units
of mass, length and time (`Measure`), which states the system in them, asks, and returns what was said in words, and numbers
in the old units. See `searched_systems`.
"""

from __future__ import annotations

import random
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import sympy
from searched_systems import _nothing
from sympy import cos, exp, sin, sqrt

import dalembert as da
from dalembert.decide import balls, zero
from tests.properties.measured import Measure, differences

x, y, z, phi, theta, s = da.coordinates("x y z phi theta s")
a_, b_, c_ = da.parameters("a b c")

WITHIN = 1e-6
"""Relative difference of numbers that rounding, magnified by derivatives and searches, accounts for."""

Case = Callable[[Measure], tuple[dict[str, Any], dict[str, Any]]]
ENERGY = {"m": 1, "l": 2, "t": -2}
SPEED = {"l": 1, "t": -1}


class Drawn:
    """Decimals of one to three digits, drawn once: the same in all units."""

    def __init__(self, rng: random.Random):
        self.rng = rng
        self._numbers = [f"{rng.uniform(0.3, 4):.{rng.randint(1, 2)}f}" for _ in range(40)]

    def __call__(self, k: int) -> str:
        return self._numbers[k]

    def value(self, k: int) -> float:
        """The same as a double, of either sign and below one in size."""
        return (float(self._numbers[k]) - 2) / 3

    def choice(self, *of: Any) -> Any:
        return self.rng.choice(of)


# systems


def on_lines(d: Drawn, kind: str, u: Measure) -> da.System:
    """Two lengths."""
    m, k, l = u(d(0), m=1), u(d(1), m=1, t=-2), u(d(2), l=1)
    r = sqrt(x**2 + y**2)
    potential = {
        "centre": -k * l**3 / r,
        "spring": k * r**2 / 2,
        "springs": k * x**2 / 2 + u(d(3), m=1, t=-2) * y**2 / 2,
        "tied": k * (x - y) ** 2 / 2,
        "weight": u(d(3), m=1, l=1, t=-2) * y,
        "waves": k * l**2 * cos(x / l),
        "steep": k * l**2 * exp(-((x / l) ** 2)),
        "cubic": k * (x**2 + y**2) / 2 + k / l * (x**2 * y - y**3 / 3) / 8,
    }[kind]
    return da.System(kind, [x, y], kinetic=m * (x.dot**2 + y.dot**2) / 2, potential=potential)


LINES = ("centre", "spring", "springs", "tied", "weight", "waves", "steep", "cubic")


def mixed(d: Drawn, u: Measure) -> da.System:
    """A cart with a pendulum, on a spring: a length and an angle."""
    coupling = u(d(0), m=1, l=1) / 4 * cos(theta) * x.dot * theta.dot
    kinetic = u(d(1), m=1) * x.dot**2 + coupling + u(d(2), m=1, l=2) * theta.dot**2
    potential = -u(d(3), **ENERGY) * cos(theta) + u(d(4), m=1, t=-2) * x**2 / 2
    return da.System("cart", [x, theta], kinetic=kinetic, potential=potential)


def sleigh(d: Drawn, u: Measure, **more: Any) -> da.System:
    m, J, a = u(d(0), m=1), u(d(1), m=1, l=2), u(d(2), l=1)
    vx, vy = x.dot - a * sin(phi) * phi.dot, y.dot + a * cos(phi) * phi.dot
    kinetic = m * (vx**2 + vy**2) / 2 + J * phi.dot**2 / 2
    blade = -sin(phi) * x.dot + cos(phi) * y.dot
    return da.System("sleigh", [x, y, phi], kinetic=kinetic, constraints=[blade], **more)


def start(d: Drawn, u: Measure, lengths: tuple[Any, ...], angles: tuple[Any, ...] = ()) -> dict[Any, float]:
    found = {q: u.double(d.value(20 + k), l=1) for k, q in enumerate(lengths)}
    found |= {q.dot: u.double(d.value(24 + k), **SPEED) for k, q in enumerate(lengths)}
    found |= {q: d.value(28 + k) for k, q in enumerate(angles)}
    return found | {q.dot: u.double(d.value(32 + k), t=-1) for k, q in enumerate(angles)}


def path(u: Measure, run: da.Trajectory, lengths: tuple[Any, ...], angles: tuple[Any, ...] = ()) -> dict[str, Any]:
    found = {str(q): u.back(run[q], l=1) for q in lengths} | {str(q): run[q] for q in angles}
    return found | {"time": u.back(run.time, t=1)}


# questions


def symmetries(d: Drawn) -> Case:
    kind = d.choice(*LINES, "sleigh", "pose", "unit vector", "rotation", "helix")

    def case(u: Measure) -> Any:
        if kind in LINES:
            given = on_lines(d, kind, u)
        elif kind == "sleigh":
            given = sleigh(d, u)
        elif kind == "helix":
            screw = cos(sympy.atan2(y, x) - z / u(d(3), l=1))
            kinetic = u(d(0), m=1) * (x.dot**2 + y.dot**2 + z.dot**2) / 2
            given = da.System("helix", [x, y, z], kinetic=kinetic, potential=u(d(1), **ENERGY) * screw)
        else:
            given = on_a_group(d, kind, u)
        found = da.symmetries(given)
        return {"found": [(f.name, f.exact, f.symmetry.dimension) for f in found]}, {}

    return case


def on_a_group(d: Drawn, kind: str, u: Measure) -> da.System:
    J = [u(d(k), m=1, l=2) for k in range(3)]
    weight = u(d(3), **ENERGY)
    if kind == "unit vector":
        n = da.direction("n")
        return da.System(
            "pendulum", [n], kinetic=J[0] * (n.omega[0] ** 2 + n.omega[1] ** 2) / 2, potential=weight * n[2]
        )
    if kind == "rotation":
        R = da.rotation("R")
        kinetic = sum(j * w**2 for j, w in zip(J, R.omega, strict=True)) / 2
        return da.System("top", [R], kinetic=kinetic, potential=weight * R[2, 2])
    P = da.planar_pose("P")
    kinetic = u(d(4), m=1) * (P.velocity[0] ** 2 + P.velocity[1] ** 2) / 2 + J[0] * P.omega[0] ** 2 / 2
    return da.System("body", [P], kinetic=kinetic, potential=u(d(5), m=1, t=-2) * (P[0, 2] ** 2 + P[1, 2] ** 2) / 2)


def turning(d: Drawn) -> Case:
    """Motions and audits of a body that turns."""
    kind, method = d.choice("rotation", "pose"), d.choice(da.Midpoint(), da.RungeKutta4(), da.Gauss(1))

    def case(u: Measure) -> Any:
        given = on_a_group(d, kind, u)
        (g,) = given.factors
        rates = [u.double(d.value(10 + k), t=-1) for k in range(3)]
        if kind == "rotation":
            at = {g: np.eye(3), g.omega: rates}
        else:
            place = np.array([[1, 0, u.double(d.value(13), l=1)], [0, 1, u.double(d.value(14), l=1)], [0, 0, 1]])
            at = {g: place, g.omega: rates[:1], g.velocity: [u.double(d.value(k), **SPEED) for k in (15, 16)]}
        run = da.simulate(given, method, h=u.double("0.02", t=1), steps=40, start=at)
        points = run[g]
        told = da.audit(run, seconds=0)
        words = {"status": run.status, "audit": [(row.quantity, row.theory, row.verdict) for row in told.rows]}
        return words, {"turns": points[..., :2, :2], "energy": u.back(run.energy, **ENERGY)}

    return case


def reduced(d: Drawn) -> Case:
    """Symmetries found, reduced by, integrated and reconstructed."""
    kind = d.choice("sleigh", "centre", "tied", "bead")

    def case(u: Measure) -> Any:
        lengths, angles = ((x, y), (phi,)) if kind == "sleigh" else ((x, y), ())
        if kind == "sleigh":
            given, move = (
                sleigh(d, u),
                {x: x * cos(c_) - y * sin(c_) + a_, y: x * sin(c_) + y * cos(c_) + b_, phi: phi + c_},
            )
            by = da.Symmetry(move, elements=[a_, b_, c_])
        elif kind == "bead":
            lengths, angles = (s,), (phi,)
            kinetic = u(d(0), m=1) * (s.dot**2 + s**2 * phi.dot**2) / 2 + u(d(1), m=1, l=2) * phi.dot**2 / 2
            given = da.System("bead", [s, phi], kinetic=kinetic, potential=u(d(2), m=1, t=-2) * s**2 / 2)
            by = da.Symmetry({phi: phi + c_}, elements=[c_])
        elif kind == "tied":
            given, by = on_lines(d, kind, u), da.Symmetry({x: x + a_, y: y + a_}, elements=[a_])
        else:
            given = on_lines(d, kind, u)
            by = da.Symmetry({x: x * cos(c_) - y * sin(c_), y: x * sin(c_) + y * cos(c_)}, elements=[c_])
        at = start(d, u, lengths, angles)
        if kind == "sleigh":  # along the blade
            at[x.dot], at[y.dot] = (u.double(d.value(24), **SPEED) * f(at[phi]) for f in (np.cos, np.sin))
        small = da.reduce(given, by)
        run = da.simulate(small, da.Midpoint(), h=u.double("0.01", t=1), steps=40, start=at, strict=False)
        words = {"kind": small.kind, "momentum": len(small.momentum), "status": run.status}
        if run.status is not da.Status.CONVERGED:
            return words, {}
        back = small.reconstruct(run, at={q: at[q] for q in (*lengths, *angles)})
        return words, path(u, back, lengths, angles)

    return case


def models(d: Drawn) -> Case:
    """Models of constrained motion: which agree, and their motions."""
    kind = d.choice("swept", "sleigh", "plane")

    def case(u: Measure) -> Any:
        kinetic = u(d(0), m=1) * (x.dot**2 + y.dot**2 + z.dot**2) / 2
        if kind == "swept":
            given = da.System("swept", [x, y, z], kinetic=kinetic, constraints=[z.dot - y * x.dot / u(d(1), l=1)])
        elif kind == "plane":
            tilt = z.dot - u(d(1)) * x.dot - u(d(2)) * y.dot
            weight = u(d(3), m=1, l=1, t=-2) * z
            given = da.System("plane", [x, y, z], kinetic=kinetic, potential=weight, constraints=[tilt])
        else:
            given = sleigh(d, u)
        told = da.compare_models(given)
        words = {"agree": [(sorted(a.models), a.holds) for a in told.agreements]}
        words["Lagrangian"] = told.lagrangian.holds
        numbers = {}
        if kind != "sleigh":
            at = start(d, u, (x, y))
            at |= {z: 0, z.dot: {"swept": at[y] * at[x.dot] / u.double(d(1), l=1)}.get(kind, 0)}
            if kind == "plane":
                at[z.dot] = float(d(1)) * at[x.dot] + float(d(2)) * at[y.dot]
            for principle in (da.Vakonomic(), da.Upsilon()):
                other = given.replace(principle=principle)
                mu = {p: u.double(d.value(12), m=1, **SPEED) for p in other.principle.carried(other)}
                run = da.simulate(other, da.Midpoint(), h=u.double("0.01", t=1), steps=30, start=at | mu, strict=False)
                name = type(principle).__name__
                words[name] = run.status
                numbers |= {f"{name} {k}": v for k, v in path(u, run, (x, y, z)).items()}
        return words, numbers

    return case


def inverse(d: Drawn) -> Case:
    """Helmholtz' conditions and Lagrangians of equations with and without friction."""
    kind = d.choice("springs", "damped", "curl", "gyroscopic", "drag")

    def case(u: Measure) -> Any:
        k, b = (lambda j: u(d(j), t=-2)), u(d(5), t=-1)
        equations = {
            "springs": [x.ddot + k(0) * x + k(1) * y, y.ddot + k(1) * x + k(2) * y],
            "damped": [x.ddot + b * x.dot + k(0) * x, y.ddot + b * y.dot + k(1) * y],
            "curl": [x.ddot + k(0) * y, y.ddot - k(1) * x],
            "gyroscopic": [x.ddot - b * y.dot + k(0) * x, y.ddot + b * x.dot + k(0) * y],
            "drag": [x.ddot + u(d(6), l=-1) * x.dot**2],
        }[kind]
        q = [x, y][: len(equations)]
        told = da.inverse.helmholtz(equations, q)
        words = {"conditions": [(c.name, c.holds) for c in told.conditions]}
        found = da.inverse.lagrangian(equations, q, seconds=20)
        return words | {"exists": found.exists, "case": found.case, "verified": found.verified}, {}

    return case


def derivatives(d: Drawn) -> Case:
    """Sensitivities, exponents, the form dq ^ dp, sections and orders of a motion."""
    kind = d.choice("cart", "cubic", "centre")
    method = d.choice(da.Midpoint(), da.RungeKutta4(), da.StormerVerlet(), da.Gauss(2))
    if not method.takes(mixed(d, Measure()) if kind == "cart" else on_lines(d, kind, Measure())):
        method = da.Midpoint()

    def case(u: Measure) -> Any:
        given = mixed(d, u) if kind == "cart" else on_lines(d, kind, u)
        lengths, angles = ((x,), (theta,)) if kind == "cart" else ((x, y), ())
        at = start(d, u, lengths, angles)
        if kind == "centre":
            at = {x: u.double(1 + d.value(1) ** 2, l=1), y: 0, x.dot: 0, y.dot: u.double(0.7, **SPEED)}
        run = da.simulate(given, method, h=u.double("0.02", t=1), steps=60, start=at, strict=False)
        words: dict[str, Any] = {"status": run.status}
        if run.status is not da.Status.CONVERGED:
            return words, {}
        found = da.sensitivity(run, [x], [x, x.dot])
        numbers = {"by x": found[x, x], "by x.dot": u.back(found[x, x.dot], t=1)}
        numbers["exponents"] = u.back(da.lyapunov(run).exponents, t=-1)
        words["symplectic"] = bool(da.contraction(run).defect.max() < 1e-9)
        rest = lengths[-1] if kind != "cart" else theta
        crossed = da.poincare(run, rest.dot, direction=0)
        words["crossings"] = len(crossed.time)
        numbers["crossings"] = u.back(crossed.time, t=1)
        words["regular"] = da.regularity(run).ok
        return words, numbers

    return case


def orders(d: Drawn) -> Case:
    """Observed orders of convergence."""
    kind, method = d.choice("cart", *LINES), d.choice(da.Midpoint(), da.Trapezoidal(), da.RungeKutta4())

    def case(u: Measure) -> Any:
        given = mixed(d, u) if kind == "cart" else on_lines(d, kind, u)
        at = start(d, u, (x,), (theta,)) if kind == "cart" else start(d, u, (x, y))
        if kind == "centre":
            at = {x: u.double(1 + d.value(1) ** 2, l=1), y: 0, x.dot: 0, y.dot: u.double(0.7, **SPEED)}
        hs = [u.double("0.1", t=1) / n for n in (1, 2)]
        told = da.convergence(given, method, hs, start=at, until=u.double("0.8", t=1))
        (line,) = told.lines
        fitted = {k: order for k, order in line.orders.items() if k != "E"}
        near = {k: np.isnan(order) or abs(order - method.order) < 1 for k, order in fitted.items()}
        one_unit = {} if kind == "cart" else {"errors": u.back(line.errors["q"], l=1)}
        rounding = bool(np.isnan(fitted["q"]))  # the method is exact here
        return {"rounding": rounding, "near": near}, {} if rounding else one_unit

    return case


def adapted(d: Drawn) -> Case:
    """Steps that adapt, by a time of their own or by errors."""
    kind = d.choice("sundman", "logarithmic", "reference", "radau")

    def case(u: Measure) -> Any:
        given = on_lines(d, "centre", u)
        k, m = float(d(1)) * float(d(2)) ** 3, float(d(0))
        speed = (k / m) ** 0.5 * (0.5 + abs(d.value(6)) / 2)
        at = {x: u.double("1", l=1), y: 0, x.dot: 0, y.dot: u.double(speed, **SPEED)}
        turn = (m / k) ** 0.5
        slow = (sqrt(x**2 + y**2) / u("1", l=1)) ** sympy.Rational(3, 2)
        method, h = {
            "sundman": (da.Sundman(slow), u.double(0.05 * turn, t=1)),
            "logarithmic": (da.LogarithmicHamiltonian(), u.double(0.05 * turn * k, m=1, l=2, t=-1)),
            "reference": (da.Reference(), u.double(0.2 * turn, t=1)),
            "radau": (da.Reference(solver="Radau"), u.double(0.2 * turn, t=1)),
        }[kind]
        run = da.simulate(given, method, h=h, until=u.double(3 * turn, t=1), start=at, strict=False)
        return {"status": run.status, "nodes": len(run)}, path(u, run, (x, y))

    return case


def rest(d: Drawn) -> Case:
    """Equilibria with proof, their stability, modes."""
    kind = d.choice("cart", "springs", "tied", "waves", "steep", "cubic", "walled")

    def case(u: Measure) -> Any:
        if kind == "cart":
            given, box = mixed(d, u), {x: (-u.double("9", l=1), u.double("9", l=1))}
        else:
            given = on_lines(d, "springs" if kind == "walled" else kind, u)
            box = {q: (-u.double("9", l=1), u.double("9", l=1)) for q in (x, y)}
        if kind == "walled":
            at = u(d(5), l=1)
            wall = sympy.Piecewise((0, x < at), (u(d(6), m=1, t=-2) * (x - at) ** 2, True))
            given = given.replace(potential=given.energies["potential"] + wall - u(d(7), m=1, l=1, t=-2) * 3 * x)
        told = da.equilibria(given, box=box, attempts=3000)
        proved = sorted((e.proved, e.stability.verdict) for e in told)
        words = {"count": len(told), "complete": told.complete, "proved": proved, "free": len(told.free)}
        numbers: dict[str, Any] = {"x": np.sort([u.back(e[x], l=1) for e in told]) + 1}
        if told and all(e.proved for e in told):
            modes = da.normal_modes(given, at=told[0])
            words["modes"] = (len(modes), modes.stability.verdict)
            numbers["frequencies"] = np.sort(u.back(modes.frequencies, t=-1))
        return words, numbers

    return case


def studies(d: Drawn) -> Case:
    """A study of some lanes."""
    kind = d.choice("cart", "cubic", "spring")

    def case(u: Measure) -> Any:
        given = mixed(d, u) if kind == "cart" else on_lines(d, kind, u)
        at = start(d, u, (x,), (theta,)) if kind == "cart" else start(d, u, (x, y))
        varied = [u.double(f"{0.2 * k:.1f}", l=1) for k in range(1, 4)]
        at.pop(x)
        with tempfile.TemporaryDirectory() as folder:
            told = da.sweep(
                given, da.Midpoint(), h=u.double("0.05", t=1), steps=40, start=at, vary={x: varied},
                record={x: "largest", "energy": "drift"}, store=Path(folder) / "s.zarr", workers=0, progress=False,
            )  # fmt: skip
            largest = u.back(told.dataset["largest x"].values, l=1)
            return {"failed": told.failed, "lanes": told.lanes}, {"largest": largest}

    return case


def joined(d: Drawn) -> Case:
    """Motions from one configuration to another."""
    kind = d.choice("cart", "springs", "weight", "tied")

    def case(u: Measure) -> Any:
        given = mixed(d, u) if kind == "cart" else on_lines(d, kind, u)
        from_, to = ({x: u.double(d.value(a), l=1), y: u.double(d.value(a + 1), l=1)} for a in (5, 7))
        if kind == "cart":
            from_, to = ({x: p[x], theta: d.value(a)} for p, a in ((from_, 9), (to, 10)))
        told = da.connect(
            given, da.Gauss(2), from_=from_, to=to, time=u.double("0.9", t=1), steps=20, tries=4
        )  # fmt: skip
        return {"found": bool(told.runs)}, {"action": u.back(told.actions[:1], m=1, l=2, t=-1)}

    return case


def forms(d: Drawn) -> Case:
    """Hamiltonian form, structure, cyclic coordinates, constraints, reactions, integrals."""
    kind = d.choice("cart", "sleigh", *LINES)

    def case(u: Measure) -> Any:
        given = mixed(d, u) if kind == "cart" else sleigh(d, u) if kind == "sleigh" else on_lines(d, kind, u)
        words: dict[str, Any] = {"integrals": sorted(i.name for i in da.first_integrals(given))}
        parts = da.structure(given)
        words["natural"], words["gyroscopic"] = parts.is_natural, parts.is_gyroscopic
        numbers: dict[str, Any] = {}
        if kind == "sleigh":
            told = da.classify(given)
            words["constraints"] = (told.rank, told.growth_vector, told.degrees_of_freedom)
            at = start(d, u, (x, y), (phi,))
            at[x.dot], at[y.dot] = (u.double(d.value(24), **SPEED) * f(at[phi]) for f in (np.cos, np.sin))
            multiplier = u.back([*da.reactions(given).at(at).multipliers.values()], m=1, l=1, t=-2)
            numbers["multiplier"] = [*multiplier, float(d(0))]  # it may be zero beside forces of this size
        else:
            told = da.hamilton(given)
            words["conserved"] = [told.is_conserved(q.momentum) for q in given.coordinates]
            words["energy"] = told.hamiltonian_is_conserved
            tells = da.existence(given, da.Midpoint(), at=_still(d, u, given), h=u.double("0.05", t=1), attempts=150)
            words["step"] = (tells.verdict, tells.complete, tells.complete and len(tells.steps))
        return words, numbers

    return case


def _still(d: Drawn, u: Measure, given: da.System) -> dict[Any, Any]:
    found = {}
    for k, q in enumerate(given.coordinates):
        l = 0 if q is theta else 1
        found |= {q: u(d(20 + k), l=l), q.dot: u(d(24 + k), l=l, t=-1)}
    return found


def warm(d: Drawn) -> Case:
    """Bodies with entropy: friction that warms, conduction; audits of both laws. The unit of temperature is kept."""
    kind, method = d.choice("friction", "conduction"), d.choice(da.Midpoint(), da.DiscreteGradient(2))
    S, T = da.entropies("S T")

    def case(u: Measure) -> Any:
        m, k, c = u(d(0), m=1), u(d(1), m=1, t=-2), u(d(2), **ENERGY)
        inner = c * exp(S / c)
        given = {"kinetic": m * x.dot**2 / 2, "potential": k * x**2 / 2, "entropies": [S]}
        given |= {"internal_energy": inner, "friction": {S: {x: -u(d(3), m=1, t=-1) / 4 * x.dot}}}
        if kind == "conduction":
            given |= {"entropies": [S, T], "internal_energy": inner + 2 * c * exp(T / (2 * c))}
            given["conduction"] = {(S, T): u(d(4), **(ENERGY | {"t": -3}))}
        system = da.System("warm", [x], **given)
        at = {x: u.double(0.5 + d.value(20) ** 2, l=1), x.dot: 0, S: u.double("0.1", **ENERGY)}
        at |= {T: u.double("0.4", **ENERGY)} if kind == "conduction" else {}
        run = da.simulate(system, method, h=u.double("0.05", t=1), steps=40, start=at, strict=False)
        told = da.audit(run, seconds=0)
        words = {"status": run.status, "audit": [(row.quantity, row.theory, row.ok) for row in told.rows]}
        return words, path(u, run, (x,)) | {"S": u.back(run[S], **ENERGY)}

    return case


def bounces(d: Drawn) -> Case:
    """Events that act, and an audit between them."""
    method = d.choice(da.Midpoint(), da.RungeKutta4(), da.Gauss(2), da.DiscreteGradient(2))

    def case(u: Measure) -> Any:
        given = on_lines(d, "weight", u)
        at = {x: 0, x.dot: u.double(d.value(1), **SPEED), y: u.double(d(4), l=1), y.dot: 0}
        floor = da.Event(y, {y.dot: -sympy.Rational(9, 10) * y.dot}, direction=-1, name="floor")
        fall = (2 * float(d(4)) * float(d(0)) / float(d(3))) ** 0.5
        run = da.simulate(
            given, method, h=u.double(fall / 17, t=1), until=u.double(5 * fall, t=1), start=at, events=[floor], strict=False
        )  # fmt: skip
        words = {"status": run.status, "events": len(run.events)}
        words["audit"] = [(row.quantity, row.verdict) for row in da.audit(run, seconds=0).rows]
        return words, path(u, run, (x, y)) | {"times": u.back([e.time for e in run.events], t=1)}

    return case


QUESTIONS: dict[str, Callable[[Drawn], Case]] = {
    f.__name__: f
    for f in (
        symmetries, turning, reduced, models, inverse, derivatives, orders, adapted, rest, studies, joined, forms, warm,
        bounces,
    )
}  # fmt: skip


def features(seed: int, broken: bool = False) -> list[str]:
    """What is said and computed by a feature of one system, in two systems of units."""
    rng = random.Random(seed)
    name = sorted(QUESTIONS)[seed % len(QUESTIONS)]
    case = QUESTIONS[name](Drawn(rng))
    units = Measure(*(rng.randint(-12, 12) for _ in range(3)))
    if broken:  # units in which energies are below the threshold
        units = Measure(-9, 0, 6)

    def asked(u: Measure) -> Any:
        try:
            return case(u)
        except da.DalembertError as why:  # a refusal in one unit alone is a difference
            return {"refused": type(why).__name__}, {}

    with warnings.catch_warnings(), _absolute_threshold() if broken else _nothing():
        warnings.simplefilter("ignore")
        return [f"{name}: {told}" for told in differences(asked, [units], WITHIN)]


@contextmanager
def _absolute_threshold() -> Iterator[None]:
    """Values below 1e-9 count as zero."""

    def said(e: Any, at: Any) -> bool | None:
        found = balls.value(e, at)
        return bool(abs(float(found.mid())) < 1e-9) if found.is_finite() else None

    with mock.patch.object(zero, "_said", said):
        yield
