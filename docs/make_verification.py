"""Writes docs/verification.md: every claim of every method, measured.

python docs/make_verification.py                       (from the root of the repository; a few minutes)
python docs/make_verification.py --section Rounding    measures one section anew and leaves the others as they are
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import sympy

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "docs")]

import attack  # noqa: E402
import branches  # noqa: E402
import covariance  # noqa: E402
import make_search  # noqa: E402

import dalembert as da  # noqa: E402
from dalembert.methods import REGISTRY, Method  # noqa: E402
from tests.conformance import systems  # noqa: E402
from tests.conformance.drift import BY_ORDER, FAR, drift, henon_heiles, rounding, sphere  # noqa: E402
from tests.conformance.forth_and_back import asymmetry  # noqa: E402
from tests.conformance.orders import fitted, floors, quantity_errors, short_of  # noqa: E402
from tests.conformance.test_rounding import SPRING, starts  # noqa: E402

PAGE = Path(__file__).with_name("verification.md")
ROUNDING = 1e-12
"""Largest defect of one step that counts as rounding; controls of order 8 lie far above it at the steps taken here."""


# -------------------- what is measured --------------------

_SIZES: dict[type[Method], list[tuple[Any, ...]]] = {
    da.Gauss: [(1,), (2,), (3,), (4,)],
    da.Lobatto: [(2,), (3,), (4,), (5,)],
    da.Galerkin: [(s, rule) for rule in ("gauss", "lobatto") for s in (1, 2, 3, 4)],
    da.DiscreteGradient: [(1,), (2,), (4,)],
    da.Composition: [
        *((base, p) for base in (da.Midpoint(), da.Trapezoidal(), da.StormerVerlet(), da.Rattle()) for p in (4, 6, 8)),
        *((base, p) for base in (da.Gauss(2), da.Galerkin(2)) for p in (6, 8)),
        (da.Lobatto(3), 6),
        (da.Galerkin(2, "lobatto"), 6),
        (da.GeometricNonholonomic(), 4),
        (da.McLachlanPerlmutter(), 4),
        *((da.DiscreteGradient(2), p) for p in (4, 6, 8)),
    ],
}

METHODS = [kind(*size) for kind in REGISTRY.values() if not kind.adaptive for size in _SIZES.get(kind, [()])]

CASES = {
    "free": systems.free,
    "forced": systems.forced,
    "separable": systems.separable,
    "separable, forced": systems.separable_forced,
    "holonomic": systems.holonomic,
    "kinematic": systems.nonholonomic,
    "kinematic, forced": systems.nonholonomic_forced,
    "independent variations": systems.independent_variations,
    "holonomic + kinematic": systems.both_kinds,
    "nonlinear kinematic": systems.chetaev,
}


@dataclass(frozen=True)
class Measured:
    """One row of a table: the method, the cells after it, and whether its claim holds (None: it claims nothing)."""

    method: str
    cells: tuple[str, ...]
    holds: bool | None

    @property
    def verdict(self) -> str:
        return "not claimed" if self.holds is None else "yes" if self.holds else "**NO**"


def claimed(claims: bool, kept: bool) -> bool | None:
    """The verdict on a claim: none where nothing is claimed."""
    return bool(kept) if claims else None


# -------------------- order --------------------

FIRST = {1: 60, 2: 60, 4: 6, 6: 2, 8: 1, 12: 2}
"""Steps to begin with, by claimed order."""

STATE = ("positions", "velocities", "momenta")


def errors(method: Method, name: str) -> list[tuple[int, dict[str, float]]]:
    """(steps, root mean square error of each quantity at the end) for more and more steps, until rounding or 500 steps.

    Beyond 10 steps their number is even: errors of reactions that are carried along alternate in sign from step to step.
    """
    n, found, floor = FIRST[method.order], [], floors(method, CASES[name])
    while n <= 500:
        error = quantity_errors(method, CASES[name], n)
        if together(error) < together(floor):
            break
        found.append((n, error))
        n = 2 * round(0.625 * n) if n > 10 else n + 1
    return found


def together(error: dict[str, float]) -> float:
    """The error of the state."""
    return float(np.sqrt(np.mean([error[name] ** 2 for name in STATE])))


def order_rows(method: Method) -> list[Measured]:
    """The order on every kind of system the method accepts: of the state, and of the quantity that falls behind most."""
    rows = []
    for name in (n for n in CASES if method.takes(CASES[n]().system)):
        found, floor = errors(method, name), floors(method, CASES[name])
        observed = {q: fitted([(n, e[q]) for n, e in found], floor[q]) for q in found[-1][1]}
        p, behind = fitted([(n, together(e)) for n, e in found], together(floor)), {}
        assert p is not None
        for quantity, order in observed.items():
            if order is not None:
                behind[quantity] = order - method.order_in(quantity)
        worst = min(behind, key=lambda q: behind[q])
        told = f"{worst}: {observed[worst]:.2f} of {method.order_in(worst)}"
        cells = (name, str(method.order), f"{p:.2f}", told, f"{together(found[-1][1]):.0e}", str(found[-1][0]))
        kept = p > method.order - short_of(method.order) and behind[worst] > -2 * short_of(method.order)
        rows.append(Measured(repr(method), cells, kept))
    return rows


# -------------------- symplectic --------------------

STEP, NOW = 0.4, 0.3


def to_momenta(case: systems.Case, point: np.ndarray, t: float) -> np.ndarray:
    """d(q, p)/d(q, v) at a state (q, v), for methods that carry velocities."""
    s = case.system
    names = [*s.coordinates, *s.velocities]
    matrix = sympy.Matrix([*s.coordinates, *(s.lagrangian.diff(v) for v in s.velocities)]).jacobian(names)
    return np.array(matrix.subs({**dict(zip(names, point, strict=True)), da.time: t, **case.parameters}), dtype=float)


def canonical(n: int) -> np.ndarray:
    return np.block([[np.zeros((n, n)), np.eye(n)], [-np.eye(n), np.zeros((n, n))]])


def free_defect(method: Method, case: systems.Case) -> float:
    """The largest entry of T^t J T - J over five random states, T the exact tangent map in (q, p)."""
    q, n, worst = case.system.coordinates, len(case.system.coordinates), 0.0
    symbols = [*q, *(c.dot if method.carries == "velocity" else c.momentum for c in q)]
    for point in np.random.default_rng(1).uniform(-0.8, 0.8, (5, 2 * n)):
        start = dict(zip(symbols, point, strict=True)) | {da.time: NOW}
        step = da.flow(case.system, method, start=start, h=STEP, parameters=case.parameters)
        after, T = step.after, step.jacobian
        if method.carries == "velocity":
            T = to_momenta(case, after, NOW + STEP) @ T @ np.linalg.inv(to_momenta(case, point, NOW))
        worst = max(worst, np.abs(T.T @ canonical(n) @ T - canonical(n)).max())
    return worst


@cache
def ellipsoid() -> systems.Case:
    """A particle on an ellipsoid in a nonlinear potential: masses 1, so that momenta are velocities."""
    x, y, z = da.coordinates("x y z")
    b = da.parameters("b", positive=True)
    system = da.System(
        "ellipsoid",
        [x, y, z],
        kinetic=(x.dot**2 + y.dot**2 + z.dot**2) / 2,
        potential=x * y + z**3 / 3 + b * z,
        constraints=[x**2 + 2 * y**2 + 3 * z**2 - 3],
    )
    return systems.Case(system, {x: 0.6, y: 0.3, z: 0.9, x.dot: 0.8, y.dot: 0.5}, {b: 0.6})


def on_surface(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A state (q, p) on the ellipsoid and a basis of the directions that keep phi = 0 and grad phi . p = 0."""
    rng, weights = np.random.default_rng(seed), np.array([1.0, 2.0, 3.0])
    q, p = rng.uniform(-1, 1, 3), rng.uniform(-1, 1, 3)
    q *= np.sqrt(3 / (weights @ q**2))
    normal = 2 * weights * q
    p -= normal * (normal @ p) / (normal @ normal)
    rows = np.array([[*normal, 0, 0, 0], [*(2 * weights * p), *normal]])
    return np.append(q, p), np.linalg.svd(rows)[2][2:].T


def surface_defect(method: Method) -> float:
    """The same on the phase space of a holonomic constraint: T^t J T - J on vectors tangent to it."""
    case, worst = ellipsoid(), 0.0
    symbols = [*case.system.coordinates, *(c.momentum for c in case.system.coordinates)]
    for seed in range(5):
        point, basis = on_surface(seed)
        start = dict(zip(symbols, point, strict=True))
        T = da.flow(case.system, method, start=start, h=STEP, parameters=case.parameters).jacobian
        moved = T[:6, :6] @ basis
        worst = max(worst, np.abs(moved.T @ canonical(3) @ moved - basis.T @ canonical(3) @ basis).max())
    return worst


def symplectic_rows(method: Method) -> list[Measured]:
    """On a free system (a separable one where nothing else is accepted), and on the ellipsoid for node velocities."""
    found = []
    for name in ("free", "separable"):
        if method.takes(CASES[name]().system):
            found.append((name, free_defect(method, CASES[name]())))
            break
    if method.takes(ellipsoid().system) and method.carries == "momentum" and not method.impulsive:
        found.append(("ellipsoid", surface_defect(method)))
    return [Measured(repr(method), (name, f"{d:.0e}"), claimed(method.symplectic, d < ROUNDING)) for name, d in found]


# -------------------- symmetric --------------------


def symmetric_rows(method: Method) -> list[Measured]:
    """The worst of all kinds of systems that the method accepts."""
    found = {name: asymmetry(method, CASES[name](), STEP) for name in CASES if method.takes(CASES[name]().system)}
    worst = max(found, key=lambda name: found[name])
    kept = claimed(method.symmetric, found[worst] < ROUNDING)
    return [Measured(repr(method), (str(len(found)), worst, f"{found[worst]:.0e}"), kept)]


# -------------------- momentum --------------------

LONG = 100_000


@cache
def cylinder() -> systems.Case:
    """The spherical pendulum in cylindrical coordinates, on its sphere: the angle phi is cyclic."""
    r, phi, z = da.coordinates("r phi z")
    l = da.parameters("l", positive=True)
    system = da.System(
        "spherical pendulum, cylindrical coordinates",
        [r, phi, z],
        kinetic=(r.dot**2 + r**2 * phi.dot**2 + z.dot**2) / 2,
        potential=z,
        constraints=[r**2 + z**2 - l**2],
    )
    return systems.Case(system, {r: 0.8, phi: 0.0, z: -0.6, r.dot: 0.0, phi.dot: 0.9, z.dot: 0.0}, {l: 1.0})


@cache
def example(name: str) -> systems.Case:
    found = da.gallery.load(name)
    return systems.Case(found.system, dict(found.start), dict(found.parameters))


def long_run(method: Method, case: systems.Case, h: float, steps: int = LONG, every: int = 100) -> da.Trajectory:
    """A long run, recorded now and then; a control may end early."""
    return da.simulate(
        case.system, method, h=h, steps=steps, every=every, start=case.start, parameters=case.parameters, strict=False
    )


def change(values: np.ndarray) -> float:
    """The largest change of a quantity, relative to its first value."""
    return float(np.nanmax(np.abs(values / values[0] - 1)))


def momentum_rounding(method: Method, case: systems.Case) -> float:
    """A random walk of four units in the last place in every step, or in every substep of a composition."""
    return float(4 * np.finfo(float).eps * np.sqrt(LONG * len(method.step_map(case.system).substeps)))


def momentum_rows(method: Method) -> list[Measured]:
    """The momentum of a cyclic coordinate over 1e5 steps, free, under a holonomic and under a kinematic constraint."""
    tests = {
        "spherical pendulum": (example("spherical-pendulum"), "phi.momentum"),
        "the same, on its sphere": (cylinder(), "phi.momentum"),
        "rolling disk": (example("rolling-disk"), "phi.momentum"),
    }
    rows = []
    for name, (case, key) in tests.items():
        if method.takes(case.system):
            off = change(long_run(method, case, 0.02)[key])
            kept = claimed(method.momentum, off < momentum_rounding(method, case))
            rows.append(Measured(repr(method), (name, f"{off:.0e}"), kept))
    return rows or angular_momentum_rows(method)


def angular_momentum_rows(method: Method) -> list[Measured]:
    """For separable systems only: angular momentum in Cartesian coordinates, on Kepler's ellipse."""
    if not method.takes(example("kepler").system):
        return []
    run = long_run(method, example("kepler"), 0.02)
    off = change(run.x * run["y.momentum"] - run.y * run["x.momentum"])
    kept = claimed(method.momentum, off < momentum_rounding(method, example("kepler")))
    return [Measured(repr(method), ("kepler, angular momentum", f"{off:.0e}"), kept)]


# -------------------- rounding --------------------

VERY_LONG = 100_000_000
UNKNOWNS = 10
"""Methods that seek more unknowns than this in a step, all substeps together, are measured over a tenth of that."""


def angular_momentum(run: da.Trajectory) -> np.ndarray:
    X, Y, PX, PY = (run[name].astype(np.longdouble) for name in ("x", "y", "x.momentum", "y.momentum"))
    return X * PY - Y * PX


def rounding_rows(method: Method) -> list[Measured]:
    """A conserved quantity over 1e8 steps."""
    sleigh = example("chaplygin-sleigh")
    if method.energy and method.takes(sleigh.system):
        return [rounding_row(method, "energy", sleigh, lambda run: run.energy)]
    if method.momentum and method.takes(SPRING):
        one = systems.Case(SPRING, {s: float(v[0]) for s, v in starts(1).items()}, {})
        return [rounding_row(method, "angular momentum", one, angular_momentum)]
    return []


def rounding_row(
    method: Method, name: str, case: systems.Case, quantity: Callable[[da.Trajectory], np.ndarray]
) -> Measured:
    """The largest change up to some numbers of steps, and whether it is that of a random walk."""
    stepmap = method.step_map(case.system)
    dear = len(stepmap.unknowns) * len(stepmap.substeps) > UNKNOWNS
    steps = VERY_LONG // 10 if dear else VERY_LONG
    values = quantity(long_run(method, case, 0.01, steps, 1_000_000))
    longer = quantity(long_run(method, case, 0.05, VERY_LONG // 10, 1_000_000))
    off = {n: change(values[: n // 1_000_000 + 1]) for n in (1_000_000, 10_000_000, VERY_LONG) if n <= steps}
    walks = [of_a_walk(worst, n) for n, worst in off.items()]
    shown = walks[-1], of_a_walk(change(longer), VERY_LONG // 10)
    told = [f"{worst:.0e}" for worst in off.values()] + ["-"] * dear
    return Measured(repr(method), (name, *told, *(f"{w:.2g}" for w in shown)), max(walks) < 1)


def of_a_walk(change: float, steps: int) -> float:
    """A relative change in units of what a random walk of one unit in the last place per step comes to."""
    return change / (np.finfo(float).eps * np.sqrt(steps))


# -------------------- constraints --------------------


@cache
def isokinetic() -> systems.Case:
    """A particle of constant speed in a periodic potential: a constraint that is nonlinear in the velocities."""
    x, y = da.coordinates("x y")
    system = da.System(
        "constant speed",
        [x, y],
        kinetic=(x.dot**2 + y.dot**2) / 2,
        potential=da.cos(x) + 2 * da.sin(y) + da.sin(x + y) / 2,
        constraints=[x.dot**2 + y.dot**2 - 1],
    )
    return systems.Case(system, {x: 0.3, y: 0.1, x.dot: 0.8, y.dot: 0.6}, {})


def constraint_rows(method: Method) -> list[Measured]:
    """Constraints over 1e5 steps, relative to the size of their terms; and the velocity form of holonomic ones."""
    tests = {
        "pendulum, Cartesian": (example("pendulum-cartesian"), 0.02),
        "nonholonomic particle": (example("nonholonomic-particle"), 0.05),
        "constant speed": (isokinetic(), 0.05),
    }
    rows = []
    for name, (case, h) in tests.items():
        if method.takes(case.system):
            run = long_run(method, case, h)
            off = max(r.deviation for r in da.audit(run).rows if r.theory.endswith("constraint"))
            hidden = f"{node_velocity_defect(run):.0e}"
            rows.append(Measured(repr(method), (name, f"{off:.0e}", hidden), claimed(method.constraints, off < 1e-13)))
    return rows


def node_velocity_defect(run: da.Trajectory) -> float:
    """How far the velocities at the nodes are from admissible."""
    q = run.system.coordinates
    return max(float(np.nanmax(np.abs(run.quantity(c.velocity_form(q))))) for c in run.system.constraints)


# -------------------- energy --------------------

CONTROLS = (da.RungeKutta4(), da.DormandPrince8())


def drift_rows(method: Method) -> list[Measured]:
    """The energy over 1e6 steps: the fitted slope of a symplectic method lies within three times its own error."""
    rows = []
    for name, case in (("Henon-Heiles", henon_heiles()), ("spherical pendulum, Cartesian", sphere())):
        if method.takes(case.system) and (method.symplectic or method.energy or method in CONTROLS):
            rows.append(drift_row(method, name, long_run(method, case, BY_ORDER[method.order], FAR, 50)))
    return rows


def drift_row(method: Method, name: str, run: da.Trajectory) -> Measured:
    """Slope, error and verdict for one run."""
    if not run.ok:
        ended = f"ended at step {int(run.codes[0, 1])}"
        return Measured(repr(method), (name, f"{run.h:g}", ended, "", "", ""), claimed(method.symplectic, False))
    energy = run.energy
    slope, error = drift(run.time, energy)
    steady = abs(slope) <= 3 * error or abs(slope) * run.time[-1] < rounding(method, run.system, FAR)
    assert method not in CONTROLS or not steady, f"{method!r} is a control, and does not drift"
    worst = f"{np.abs(energy - energy[0]).max():.0e}"
    cells = (name, f"{run.h:g}", worst, f"{slope:+.1e}", f"{error:.0e}", f"{slope * run.time[-1]:+.0e}")
    return Measured(repr(method), cells, claimed(method.symplectic or method.energy, steady))


def energy_rows(method: Method) -> list[Measured]:
    """Conservation to rounding or, where the quadrature is not exact, to a higher order than that of the method."""
    if not method.energy and method not in (da.Midpoint(), da.RungeKutta4()):
        return []
    rows = []
    for name in ("pendulum", "nonholonomic-particle", "pendulum-cartesian"):
        case = example(name)
        if method.takes(case.system):
            coarse, fine = (energy_change(method, case, k) for k in (1, 2))
            power = np.log2(coarse / fine)
            kept = coarse < 1e-9 or power > method.order + 1
            cells = (name, f"{coarse:.0e}", f"{fine:.0e}", f"{power:.1f}" if fine > 1e-11 else "rounding")
            rows.append(Measured(repr(method), cells, claimed(method.energy, bool(kept))))
    return rows


def energy_change(method: Method, case: systems.Case, fraction: int) -> float:
    """The largest change of the energy to t = 5000, with steps of 0.05 or a fraction of that."""
    energy = long_run(method, case, 0.05 / fraction, fraction * LONG, fraction * 100).energy
    return float(np.nanmax(np.abs(energy - energy[0])))


# -------------------- the page --------------------


@dataclass(frozen=True)
class Section:
    """A table: what it shows, the columns after the method, and what fills it."""

    title: str
    words: str
    columns: tuple[str, ...]
    rows: Callable[[Method], list[Measured]]


SECTIONS = (
    Section(
        "Order",
        "The root mean square error at t = 1 (order 12: t = 4) of positions, velocities "
        "and momenta of seven motions, whose parameters differ,\n"
        "against an adaptive solution of order 8 with relative tolerance 3e-14, for more\n"
        "and more steps; the observed order is the slope of the last factor of two in the step (even numbers of steps, where\n"
        "there are many) before the error reaches rounding (1e-11 or 1e-12; from order 8 on ten times what is left with\n"
        "many steps) or 500 steps.\n"
        "The systems are those of\n"
        "`tests/conformance/systems.py`: nonlinear and time-dependent, with masses that depend on position unless they are\n"
        "called separable. Beside it, of positions, velocities, momenta, multipliers, energy and entropies by themselves,\n"
        "the one that falls behind its claim most. The claim holds if the observed order of the state is not below it by\n"
        "more than 0.05 + order/20, and that of no quantity by more than twice this.",
        ("system", "claimed", "observed", "quantity furthest behind", "last error", "steps"),
        order_rows,
    ),
    Section(
        "Symplectic",
        "The largest entry of T^t J T - J over five random states, T the exact derivative of a step (implicit function\n"
        "theorem) in (q, p), h = 0.4. On the ellipsoid, a holonomic system, only for vectors tangent to its phase space, and\n"
        f"for methods whose velocities at the nodes are admissible. The claim holds if the defect is below {ROUNDING:g}.",
        ("system", "defect"),
        symplectic_rows,
    ),
    Section(
        "Symmetric",
        "How far one step forward and one step backward (h = 0.4) lead from a node, in positions and velocities as a run\n"
        "shows them; the worst of all kinds of systems that the method accepts.\n"
        f"The claim holds if it is below {ROUNDING:g}.",
        ("kinds of systems", "the worst", "defect"),
        symmetric_rows,
    ),
    Section(
        "Momenta",
        "The largest relative change of the momentum of a cyclic coordinate over 1e5 steps of 0.02. The claim holds if it is\n"
        "below a random walk of four units in the last place in every step, 3e-13, or in every substep of a composition.",
        ("system", "change"),
        momentum_rows,
    ),
    Section(
        "Rounding",
        "A conserved quantity over 1e8 steps of 0.01: the largest relative change after 1e6, 1e7 and 1e8 steps, and the last\n"
        "of these divided by epsilon (2e-16) times the root of the number of steps. Rounding to the same side would make it\n"
        "grow with the number of steps, a random walk grows with its root. The claim holds if the quotient is below 1 after\n"
        "1e6, 1e7 and 1e8 steps (only 1e7 where a step has more than ten unknowns). Beside it the same quotient after 1e7\n"
        "steps of 0.05. The quantity is the angular momentum of a particle on a stiffening spring, in Cartesian coordinates,\n"
        "or for methods that keep the energy the energy of Chaplygin's sleigh.",
        ("quantity", "1e6", "1e7", "1e8", "of a random walk", "with h = 0.05"),
        rounding_rows,
    ),
    Section(
        "Constraints",
        "The largest violation over 1e5 steps, relative to the size of the terms of the constraint: of positions for\n"
        "holonomic constraints; where the method imposes it (on the step, in mid-step or at the nodes) for kinematic ones.\n"
        "Beside it, and claimed by no method: the violation by the velocities at the nodes, as a run shows them. The claim\n"
        "holds if the first is below 1e-13.",
        ("system", "violation", "velocities at nodes"),
        constraint_rows,
    ),
    Section(
        "Energy",
        "The largest change of the energy to t = 5000 with h = 0.05 (1e5 steps) and h = 0.025, and the power of h that these\n"
        "two show. The claim, conservation up to the error of a quadrature, holds if the change is below 1e-9 or if the\n"
        "power exceeds the order of the method by more than 1: every symplectic method of order p keeps the energy to h^p.\n"
        "The midpoint rule and RungeKutta4 are controls.",
        ("system", "change", "with h/2", "power"),
        energy_rows,
    ),
    Section(
        "Energy drift",
        "A straight line through the means of the energy in 50 equal blocks of 1e6 steps: its slope, and the standard error\n"
        "of the slope from the scatter of the blocks. Steps are so long that the error of the method, not rounding, is\n"
        "what is seen. The claim, that symplectic and energy-preserving methods do not drift, holds if the slope is within\n"
        "three standard errors of zero, or if slope times duration is less than rounding may add up to: a random walk of ten\n"
        "units in the last place in every step, 2e-12, or in every substep of a composition. The explicit Runge-Kutta\n"
        "methods are controls: they must drift.",
        ("system", "h", "largest change", "slope", "its error", "slope x duration"),
        drift_rows,
    ),
)


def measure(task: tuple[int, Method]) -> list[Measured]:
    """One section for one method."""
    section, method = task
    return SECTIONS[section].rows(method)


def measured(which: Sequence[int] = tuple(range(len(SECTIONS)))) -> list[list[Measured]]:
    """The rows of sections; processes take turns, one method in one section at a time."""
    tasks = [(k, m) for k in which for m in METHODS]
    with get_context("spawn").Pool(maxtasksperchild=20) as pool:
        found = pool.map(measure, tasks, chunksize=1)
    return [[row for (k, _), rows in zip(tasks, found, strict=True) if k == s for row in rows] for s in which]


def table(columns: Sequence[str], rows: Iterable[Measured]) -> list[str]:
    """A table in Markdown; the name of a method stands in its first row only."""
    head = ("method", *columns, "claim holds")
    lines = [f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
    for method, group in groupby(rows, key=lambda r: r.method):
        for i, row in enumerate(group):
            lines.append(f"| {'' if i else f'`{method}`'} | {' | '.join(row.cells)} | {row.verdict} |")
    return lines


def summary(all_rows: Sequence[Sequence[Measured]]) -> list[str]:
    """How many claims were measured and how many hold; those that do not, by name."""
    claims = [[r for r in rows if r.holds is not None] for rows in all_rows]
    held = [sum(bool(r.holds) for r in rows) for rows in claims]
    total, good = sum(map(len, claims)), sum(held)
    lines = [
        f"**{good} of {total} measured claims hold.** They are claims of {len(METHODS)} methods, counted with their sizes;",
        "`Reference` is adaptive and not among them.",
        "",
        "| what | claims measured | hold | rows of methods that claim nothing |",
        "|---|---|---|---|",
    ]
    for section, rows, some, good in zip(SECTIONS, all_rows, claims, held, strict=True):
        lines.append(
            f"| [{section.title}](#{anchor(section.title)}) | {len(some)} | {good} | {len(rows) - len(some)} |"
        )
    false = [(s, r) for s, rows in zip(SECTIONS, claims, strict=True) for r in rows if not r.holds]
    if false:
        lines += ["", "Claims that do not hold:", ""]
        lines += [f"* {s.title}: `{r.method}`, {', '.join(r.cells)}" for s, r in false]
    return lines


def anchor(title: str) -> str:
    return title.lower().replace(" ", "-")


def written(section: Section, rows: Sequence[Measured]) -> list[str]:
    """The lines of a section."""
    return [f"## {section.title}", "", *section.words.splitlines(), "", *table(section.columns, rows), ""]


def with_section(text: str, title: str, lines: Sequence[str]) -> str:
    """The page with a section in place of the one with its title."""
    before, _, rest = text.partition(f"## {title}\n")
    after = rest[rest.index("\n## ") + 1 :] if "\n## " in rest else ""
    return before + "\n".join(lines) + "\n" * bool(after) + after


def measure_one(title: str) -> list[Measured]:
    """Measure one section and write it, if as many of its claims hold as the summary of the page says."""
    k = [s.title for s in SECTIONS].index(title)
    (rows,) = measured((k,))
    claims = [r for r in rows if r.holds is not None]
    said = f"| {len(claims)} | {sum(map(bool, (r.holds for r in claims)))} | {len(rows) - len(claims)} |"
    if f"[{title}](#{anchor(title)}) {said}" not in PAGE.read_text():
        raise SystemExit(f"{title}: now {said}, which is not what the summary says. Measure the whole page.")
    PAGE.write_text(with_section(PAGE.read_text(), title, written(SECTIONS[k], rows)))
    return rows


def page(all_rows: Sequence[Sequence[Measured]], attacks: attack.Found) -> str:
    """The whole page."""
    lines = [
        "# Verification",
        "",
        "Claimed against observed, for every method. This page is written by `make verify`; nothing in it is typed by hand.",
        "A method is claimed to have a property by an attribute of its class, such as `symplectic = True`; here each such",
        "attribute is measured. Where a method claims nothing the number is shown all the same: such rows are controls.",
        "",
        *summary(all_rows),
        "",
    ]
    for section, rows in zip(SECTIONS, all_rows, strict=True):
        lines += written(section, rows)
    return "\n".join(
        [*lines, *covariance.section(), *branches.section(), *make_search.section(), *attack.section(attacks)]
    )


def main() -> None:
    """Measure, attack and write; a claim that does not hold or an attack that succeeds is an error."""
    read = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    read.add_argument("--section", choices=[s.title for s in SECTIONS])
    if title := read.parse_args().section:
        sys.exit(any(r.holds is False for r in measure_one(title)))
    rows, attacks = measured(), attack.attacked()
    PAGE.write_text(page(rows, attacks))
    false = sum(r.holds is False for some in rows for r in some)
    print(f"wrote {PAGE.name}: {sum(r.holds is not None for some in rows for r in some)} claims, {false} do not hold")
    print(f"{sum(a['tried'] for a in attacks.values())} attacks, {attack.failed(attacks)} succeeded")
    sys.exit(bool(false or attack.failed(attacks)))


if __name__ == "__main__":
    main()
