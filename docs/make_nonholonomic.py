"""Writes docs/nonholonomic-comparison.md and its picture: nonholonomic integrators over long times.

python docs/make_nonholonomic.py          (from the root of the repository; two minutes)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby, product
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
from make_verification import drift, rounding
from scipy.integrate import solve_ivp
from scipy.interpolate import CubicSpline

import dalembert as da
from dalembert import cos, sin

PAGE = Path(__file__).with_name("nonholonomic-comparison.md")
PICTURE = Path(__file__).with_name("pictures") / "nonholonomic-comparison.png"
STEPS, EVERY = 400_000, 20

METHODS = (
    da.Midpoint(),
    da.Trapezoidal(),
    da.GeometricNonholonomic(),
    da.McLachlanPerlmutter(),
    da.DiscreteGradient(),
    da.Composition(da.Midpoint(), 4),
    da.RungeKutta4(),
)

Measure = Callable[[da.Trajectory], np.ndarray]


@dataclass(frozen=True)
class Test:
    """A system with numbers, and what its motion conserves."""

    name: str
    system: da.System
    start: dict[Any, float]
    parameters: dict[Any, float]
    h: float
    conserved: dict[str, Measure]


# -------------------- the systems --------------------


def along(expression: Any) -> Measure:
    return lambda run: run.quantity(expression)


def gallery_test(name: str, h: float) -> Test:
    """A gallery system with its own start and its own invariants."""
    e = da.gallery.load(name)
    conserved = {"energy": lambda run: run.energy} | {k: along(v) for k, v in e.invariants.items()}
    return Test(e.system.name, e.system, dict(e.start), dict(e.parameters), h, conserved)


def transmission(eps: float, speed: float) -> Test:
    """The transmission of the gallery, with a driver that goes round or swings."""
    e = da.gallery.load("continuously-variable-transmission")
    xi, x, y = e.system.coordinates
    start = {xi: 0.0, x: 1.0, y: 0.0, xi.dot: speed, x.dot: 0.3, y.dot: 0.0}
    conserved = {k: along(v) for k, v in e.invariants.items()}
    if speed > 2:
        conserved["third integral"] = third_integral(eps, speed)
    return Test(title("transmission", eps, speed), e.system, start, {"eps": eps}, 0.1, conserved)


def title(name: str, eps: float, speed: float) -> str:
    return f"{name}, eps = {eps:g}, driver {'goes round' if speed > 2 else 'swings'}"


def hard_springs(eps: float, speed: float) -> Test:
    """The same with springs that harden: the forces in the plane are no longer linear."""
    xi, x, y = da.coordinates("xi x y")
    symbol = da.parameters("eps")
    driver = cos(xi) - symbol * sin(2 * xi) / 2
    springs = (x**2 + y**2) / 2 + (x**4 + y**4) / 8
    system = da.System(
        "transmission with hard springs",
        [xi, x, y],
        kinetic=(xi.dot**2 + x.dot**2 + y.dot**2) / 2,
        potential=springs - driver,
        constraints=[y.dot + sin(xi) * x.dot],
    )
    start = {xi: 0.0, x: 0.5, y: 0.0, xi.dot: speed, x.dot: 0.3, y.dot: 0.0}
    conserved = {
        "energy of the driver": along(xi.dot**2 / 2 - driver),
        "energy of the springs": along((x.dot**2 + y.dot**2) / 2 + springs),
    }
    return Test(title("transmission with hard springs", eps, speed), system, start, {"eps": eps}, 0.1, conserved)


def third_integral(eps: float, speed: float) -> Measure:
    """The component of (x, y, v) along the axis about which one turn of the driver turns it.

    At a fixed angle of the driver its motion turns (x, y, v) about an axis n; carried along with the motion, n is a
    function of xi, and n(xi) . (x, y, v) is conserved. No method knows of it.
    """

    def rate(angle: float, flat: np.ndarray) -> np.ndarray:
        c, s = 1 / np.sqrt(1 + np.sin(angle) ** 2), np.sin(angle) / np.sqrt(1 + np.sin(angle) ** 2)
        turning = np.array([[0, 0, c], [0, 0, -s], [-c, s, 0]])
        fast = np.sqrt(speed**2 + 2 * (np.cos(angle) - 1) - eps * np.sin(2 * angle))
        return (turning @ flat.reshape(3, 3) / fast).ravel()

    angles = np.linspace(0, 2 * np.pi, 401)
    turned = solve_ivp(rate, (0, 2 * np.pi), np.eye(3).ravel(), "DOP853", angles, rtol=1e-12, atol=1e-12).y
    values, vectors = np.linalg.eig(turned[:, -1].reshape(3, 3))
    axis = np.real(vectors[:, np.argmin(np.abs(values - 1))])
    path = np.einsum("ijk,j->ki", turned.reshape(3, 3, -1), axis)
    path[-1] = path[0]
    spline = CubicSpline(angles, path, bc_type="periodic")

    def value(run: da.Trajectory) -> np.ndarray:
        ratio = np.sin(run["xi"])
        v = (run["x.dot"] - ratio * run["y.dot"]) / np.sqrt(1 + ratio**2)
        return (spline(run["xi"] % (2 * np.pi)) * np.stack([run["x"], run["y"], v], axis=-1)).sum(axis=-1)

    return value


@cache
def tests() -> tuple[Test, ...]:
    return (
        gallery_test("rolling-disk", 0.1),
        gallery_test("knife-edge", 0.05),
        gallery_test("chaplygin-sleigh", 0.05),
        gallery_test("nonholonomic-particle", 0.1),
        transmission(0.0, 1.5),
        transmission(0.1, 1.5),
        transmission(0.0, 2.5),
        hard_springs(0.0, 2.5),
        transmission(0.1, 2.5),
        hard_springs(0.1, 2.5),
    )


# -------------------- is there a reversing map? --------------------


def reversing(test: Test) -> str:
    """A map q -> s q, v -> -s v with signs s that turns motions into motions run backward, and orbits into themselves.

    The first is tried at twenty states of a motion; for the second, coordinates that go one way all the time must go on
    doing so, so their sign is -1.
    """
    run = da.simulate(test.system, da.Midpoint(), h=test.h, steps=2000, start=test.start, parameters=test.parameters)
    q = test.system.coordinates
    onward = [bool(run[c.dot].min() > 0 or run[c.dot].max() < 0) for c in q]
    for signs in product((1, -1), repeat=len(q)):
        if all(s == -1 for s, on in zip(signs, onward, strict=True) if on) and reverses(test, run, signs):
            turned = [c.name if s == -1 else c.dot.name for c, s in zip(q, signs, strict=True)]
            return f"the sign of {', '.join(turned)}"
    return "none found"


def reverses(test: Test, run: da.Trajectory, signs: Sequence[int]) -> bool:
    """Whether the accelerations at mapped states are the mapped accelerations."""
    q = test.system.coordinates
    for k in range(100, 2001, 100):
        here = {c: float(run[c][k]) for c in q} | {c.dot: float(run[c.dot][k]) for c in q}
        there = {c: s * here[c] for c, s in zip(q, signs, strict=True)}
        there |= {c.dot: -s * here[c.dot] for c, s in zip(q, signs, strict=True)}
        try:
            a, b = (da.evaluate(test.system, at=at, parameters=test.parameters).accelerations for at in (here, there))
        except da.StartError:  # the mapped state violates a constraint
            return False
        if any(abs(s * a[c] - b[c]) > 1e-9 for c, s in zip(q, signs, strict=True)):
            return False
    return True


# -------------------- measuring --------------------


@dataclass(frozen=True)
class Outcome:
    """One quantity in one run."""

    test: str
    quantity: str
    method: str
    change: float
    slope: float
    error: float
    total: float
    """Slope times duration."""
    verdict: str


def measure(task: tuple[int, int]) -> list[Outcome]:
    """All quantities of one test by one method."""
    test, method = tests()[task[0]], METHODS[task[1]]
    run = da.simulate(
        test.system,
        method,
        h=test.h,
        steps=STEPS,
        every=EVERY,
        start=test.start,
        parameters=test.parameters,
        strict=False,
    )
    return [outcome(test, name, method, run, values(run)) for name, values in test.conserved.items()]


def outcome(test: Test, name: str, method: da.methods.Method, run: da.Trajectory, values: np.ndarray) -> Outcome:
    """Fit, and say in a word what happened."""
    known = np.isfinite(values)
    change = float(np.abs(values[known] - values[0]).max())
    slope, error = drift(run.time, values)
    total = slope * run.time[known][-1]
    size = 1 + run.time[-1] * max(abs(test.start[c.dot]) for c in test.system.coordinates)
    allowed = rounding(method, test.system, STEPS, size)
    if not run.ok:
        verdict = "ended early"
    elif change > max(abs(values[0]), 0.1) / 2:
        verdict = "lost"
    elif abs(slope) > 3 * error and abs(total) > allowed:
        verdict = "drifts"
    else:
        verdict = "rounding" if change < allowed else "bounded"
    return Outcome(test.name, name, repr(method), change, slope, error, total, verdict)


def measured() -> list[Outcome]:
    tasks = [(i, j) for i in range(len(tests())) for j in range(len(METHODS))]
    with get_context("spawn").Pool(maxtasksperchild=20) as pool:
        return [o for some in pool.map(measure, tasks, chunksize=1) for o in some]


# -------------------- the page --------------------


def cell(o: Outcome) -> str:
    """The verdict with the number that goes with it."""
    numbers = {
        "drifts": f"**drifts** {o.total:+.0e}",
        "lost": f"**lost** {o.change:.0e}",
        "bounded": f"bounded {o.change:.0e}",
    }
    return numbers.get(o.verdict, o.verdict)


def matrix(outcomes: Sequence[Outcome]) -> list[str]:
    """One row per quantity, one column per method."""
    names = [repr(m) for m in METHODS]
    lines = ["| system | quantity | " + " | ".join(f"`{n}`" for n in names) + " |", "|---|---|" + "---|" * len(names)]
    for (test, quantity), group in grouped(outcomes, lambda o: (o.test, o.quantity)):
        found = {o.method: cell(o) for o in group}
        first = quantity == next(iter(next(t for t in tests() if t.name == test).conserved))
        lines.append(f"| {test if first else ''} | {quantity} | " + " | ".join(found[n] for n in names) + " |")
    return lines


def grouped(outcomes: Sequence[Outcome], key: Callable[[Outcome], Any]) -> list[tuple[Any, list[Outcome]]]:
    """Groups in the order in which their keys first appear."""
    order = list(dict.fromkeys(map(key, outcomes)))
    return [(k, list(g)) for k, g in groupby(sorted(outcomes, key=lambda o: order.index(key(o))), key)]


def failures(outcomes: Sequence[Outcome]) -> list[str]:
    """For every method, where a quantity drifts or is lost."""
    lines = []
    for method, group in grouped(outcomes, lambda o: o.method):
        where = grouped([o for o in group if o.verdict in ("drifts", "lost", "ended early")], lambda o: o.test)
        told = "; ".join(f"{test} ({', '.join(o.quantity for o in some)})" for test, some in where)
        lines.append(f"* `{method}`: {told or 'nowhere in these tests'}.")
    return lines


def headings() -> list[str]:
    """The heading of the sleigh at the end, method by method: in truth it turns round once and then runs straight."""
    e = da.gallery.load("chaplygin-sleigh")
    lines = ["| method | heading, h = 0.05 | heading, h = 0.01 | largest multiplier |", "|---|---|---|---|"]
    for method in (da.Reference(), *METHODS):
        ends = [
            da.simulate(e.system, method, h=h, until=1000, every=100, start=e.start, parameters=e.parameters)["phi"][-1]
            for h in (0.05, 0.01)
        ]
        lines.append(f"| `{method!r}` | {ends[0]:.3f} | {ends[1]:.3f} | {multiplier(method)} |")
    return lines


def multiplier(method: da.methods.Method) -> str:
    """The eigenvalue of largest modulus of the derivative of a step (h = 0.05) where the sleigh runs straight ahead."""
    if method.adaptive:
        return ""
    e = da.gallery.load("chaplygin-sleigh")
    x = e.system.coordinates[0]
    ahead = {**dict.fromkeys((*e.system.coordinates, *e.system.velocities), 0.0), x.dot: 1.0}
    values = np.linalg.eigvals(da.flow(e.system, method, start=ahead, h=0.05, parameters=e.parameters).jacobian)
    return f"{np.real(values[np.argmax(np.abs(values))]):.4f}"


def details(outcomes: Sequence[Outcome]) -> list[str]:
    """The numbers behind the verdicts."""
    lines = []
    for test, group in grouped(outcomes, lambda o: o.test):
        lines += [
            f"### {test}",
            "",
            "| quantity | method | largest change | slope | its error | slope x duration | verdict |",
        ]
        lines += ["|---|---|---|---|---|---|---|"]
        for o in sorted(group, key=lambda o: [g.quantity for g in group].index(o.quantity)):
            numbers = f"{o.change:.1e} | {o.slope:+.1e} | {o.error:.0e} | {o.total:+.1e}"
            lines.append(f"| {o.quantity} | `{o.method}` | {numbers} | {o.verdict} |")
        lines.append("")
    return lines


INTRODUCTION = f"""# Nonholonomic integrators over long times

Written by `make verify`; nothing in the tables is typed by hand.

Many tests of nonholonomic integrators are integrable and reversible: some map of the state reverses time and takes
every orbit to itself. Symmetric methods inherit such maps, and by the theory of reversible perturbations that alone can
keep first integrals from drifting. So these tests flatter every symmetric method (K. Modin and O. Verdier, What makes
nonholonomic integrators work?, Numer. Math. 145, 2020). Here such tests stand beside others from which the reversing
map was taken.

**What is measured.** {STEPS:,} steps of the length given below, recorded every {EVERY}. For each quantity that the
continuous motion conserves: its largest change; the slope of a straight line through its means in 50 equal blocks, and
the standard error of this slope. A quantity is

* *lost* if its largest change exceeds half its first value (or 0.05, if that is more);
* *drifting* if the slope exceeds three standard errors and slope times duration exceeds what rounding may add up to: one
  unit in the last place in every step or substep, and a random walk of ten units in the last place of a coordinate
  that moved uniformly with the largest start velocity, which for an angle that goes round is much;
* *bounded* otherwise, or constant up to *rounding*.

The numbers in the first table are slope times duration where a quantity drifts, its largest change elsewhere.

**The transmission** (`dalembert derive continuously-variable-transmission`) is two springs coupled by a gear whose ratio
is the sine of an angle, and this angle is an independent pendulum, the driver. The energies of driver and springs are
conserved separately, and for linear springs and a driver that goes round there is a third integral. For eps = 0 the
pendulum is symmetric. For eps = 0.1 it is not: a driver that swings still reverses itself when it turns back, one that
goes round does not. With hard springs the forces in the plane are not linear.

**Reversing maps** were looked for among changes of sign q -> s q, v -> -s v that turn motions into motions run backward
and leave coordinates that go one way all the time going that way. "None found" means: none of this kind.

**What is not measured.** One start and one step for each system, no other parameters: that a quantity is bounded here does
not show that it stays so elsewhere. `DiscreteGradient` is built to keep the energy, so that it does is a check of the
code; only other quantities compare it with the rest. The motion of the sleigh does not return: it
turns round once and then runs straight for ever.
"""


def systems_table() -> list[str]:
    lines = ["| system | h | reversing map: changes |", "|---|---|---|"]
    return [*lines, *(f"| {t.name} | {t.h:g} | {reversing(t)} |" for t in tests())]


def page(outcomes: Sequence[Outcome]) -> str:
    """The whole page."""
    lines = [INTRODUCTION, *systems_table(), "", "## What happened", "", *matrix(outcomes), ""]
    lines += [
        "## Which method fails where",
        "",
        "A method fails where a conserved quantity drifts or is lost:",
        "",
    ]
    lines += [*failures(outcomes), "", f"![energy of the springs](pictures/{PICTURE.name})", "", CAPTION, ""]
    lines += [*SLEIGH.splitlines(), "", *headings(), ""]
    return "\n".join([*lines, "## The numbers", "", *details(outcomes)])


SLEIGH = """The heading of the sleigh at t = 1000, and the eigenvalue of largest modulus of one step (h = 0.05) where it
runs straight ahead. In the continuous motion a turn dies out there, and no multiplier exceeds 1. A negative one of
modulus above 1 is a mode of the method alone: it changes sign at every step, and grows until the sleigh turns again."""

CAPTION = """Means of the energy of the springs in 100 blocks, less its first value; the driver goes round. Above: eps = 0,
with a reversing map. Below: eps = 0.1, without. Linear between -0.001 and 0.001, logarithmic beyond. RungeKutta4 is left
out."""


# -------------------- the picture --------------------


def draw() -> None:
    """The energy of the springs, reversible tests above, the others below."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    shown = [t for t in tests() if t.name.startswith("transmission") and "goes round" in t.name]
    figure, axes = plt.subplots(2, 2, figsize=(10, 6.6), sharex=True, sharey=True, constrained_layout=True)
    for ax, test in zip(axes.ravel(), shown, strict=True):
        for k, method in enumerate(m for m in METHODS if m != da.RungeKutta4()):
            panel(ax, test, method, f"C{k}")
        springs = "hard springs" if "hard" in test.name else "linear springs"
        eps = float(test.parameters["eps"])
        ax.set_title(f"{springs}, eps = {eps:g}: {'no ' if eps else ''}reversing map", fontsize=11)
        ax.set_yscale("symlog", linthresh=1e-3, linscale=1.2)
        ax.set_ylim(-0.8, 2e-3)
        ax.set_yticks([-1e-1, -1e-2, -1e-3, 0, 1e-3])
        ax.grid(alpha=0.3)
    figure.supxlabel("time", fontsize=10)
    figure.supylabel("energy of the springs, less its first value", fontsize=10)
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncol=3, fontsize=9, frameon=False)
    figure.savefig(PICTURE, dpi=130)


def panel(ax: Any, test: Test, method: da.methods.Method, colour: str) -> None:
    """Block means of one run."""
    run = da.simulate(
        test.system,
        method,
        h=test.h,
        steps=STEPS,
        every=EVERY,
        start=test.start,
        parameters=test.parameters,
        strict=False,
    )
    values = test.conserved["energy of the springs"](run)
    blocks = len(values) // 100
    mean = (values - values[0])[: 100 * blocks].reshape(100, blocks).mean(axis=1)
    times = run.time[: 100 * blocks].reshape(100, blocks).mean(axis=1)
    ax.plot(times, mean, color=colour, lw=1.6, label=repr(method))


def main() -> None:
    outcomes = measured()
    PAGE.write_text(page(outcomes))
    draw()
    failed = sum(o.verdict in ("drifts", "lost", "ended early") for o in outcomes)
    print(f"wrote {PAGE.name}: {failed} of {len(outcomes)} quantities drift or are lost")


if __name__ == "__main__":
    main()
