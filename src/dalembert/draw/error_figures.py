"""Errors of runs: along time, and against the time that they took to compute."""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..analysis.accuracy.convergence import convergence
from ..errors import ModelError, told
from ..model.coordinates import time
from ..model.space import differences, factors
from ..run.simulate import simulate
from ..run.trajectory import Trajectory
from .figure_style import COLOURS, legend, panel, symbol_text
from .lane_curves import Look, against_time

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

REPEATS = 5
"""Runs of which the fastest counts."""


def error(
    run: Trajectory, against: Trajectory | Callable[[Any], Mapping[Any, Any]], path: str | Path | None = None,
    *, width: str = "column",
) -> Figure:  # fmt: skip
    """The distance of each position from that of another run at the same times, or from an exact solution.

    against:  a run, or a function of the array of times that gives {x: values, ...}
    """
    q = run.system.coordinates
    if isinstance(against, Trajectory):
        if against.time.shape != run.time.shape or not np.allclose(against.time, run.time, rtol=1e-12, atol=0):
            raise ModelError(
                f"error: the runs are recorded at other times ({len(run)} and {len(against)} records). Compute them with "
                f"the same h * every."
            )
        off = np.abs(differences(q, against.table("position"), run.table("position")))
        told_by = repr(against.method)
    elif callable(against):
        known = {getattr(k, "name", k): v for k, v in against(run.time).items()}
        if missing := [c.name for c in q if c.name not in known]:
            raise ModelError(f"error: the exact solution gives no {', '.join(missing)}. Return {{x: values, ...}}.")
        off = np.abs(np.stack([np.atleast_2d(run[c]) - known[c.name] for c in q], axis=-1))
        told_by = "the exact solution"
    else:
        raise ModelError(f"error: got {told(against)}. Expected a run, or a function of time such as example.exact.")
    names = [f.directions for f in factors(q)]

    def draw(axes: Axes) -> None:
        for k, c in enumerate(c for some in names for c in some):
            values = np.where(off[..., k] > 0, off[..., k], np.nan)
            against_time(axes, run.time, values, Look(), symbol_text(c), k)
        axes.set_yscale("log")
        axes.set_xlabel(symbol_text(time))
        legend(axes)

    return panel(draw, path, width, f"{run.system.name}, {run.method!r}: distance from {told_by}")


def work_precision(
    system: Any, methods: Sequence[Any], hs: Sequence[float], path: str | Path | None = None, *, start: Any, until: float,
    parameters: Any = None, quantity: str = "q", width: str = "column",
) -> Figure:  # fmt: skip
    """Error against computing time of some methods, for some steps: `convergence` has the errors.

    quantity:  "q", "p", "E" or "S", one of those that `convergence` compares
    """
    study = convergence(system, methods, hs, start=start, until=until, parameters=parameters)
    if quantity not in study.lines[0].errors:
        raise ModelError(f"work_precision: {told(quantity)}. Expected one of {', '.join(study.lines[0].errors)}.")
    given = {"start": start, "until": until, "parameters": parameters, "progress": False, "strict": False}
    taken = [[_fastest(system, line.method, h, given) for h in line.steps] for line in study.lines]

    def draw(axes: Axes) -> None:
        from matplotlib.ticker import NullFormatter

        for k, (line, seconds) in enumerate(zip(study.lines, taken, strict=True)):
            axes.loglog(
                seconds, line.errors[quantity], "o-", ms=3, color=COLOURS[k % len(COLOURS)], label=repr(line.method)
            )
        axes.set_xlabel("computing time [s]")
        axes.set_ylabel(f"error of {quantity}")
        axes.xaxis.set_minor_formatter(NullFormatter())
        if axes.get_xlim()[1] < 10 * axes.get_xlim()[0]:  # no power of ten may lie between the ends
            axes.set_xscale("linear")
            axes.ticklabel_format(axis="x", style="sci", scilimits=(-2, 3))
            axes.locator_params(axis="x", nbins=5)
        legend(axes)

    return panel(draw, path, width, study.system.name)


def _fastest(system: Any, method: Any, h: float, given: Mapping[str, Any]) -> float:
    def one() -> float:
        begun = clock.perf_counter()
        simulate(system, method, h=h, every=10**9, **given)
        return clock.perf_counter() - begun

    one()  # compiles
    return min(one() for _ in range(REPEATS))
