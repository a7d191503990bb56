"""Forces along a motion: their power, their work, reactions of constraints and of joints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..analysis.motions.force_report import AppliedForce, ForceReport, force_report
from ..errors import ModelError, told
from ..model.coordinates import time
from ..run.trajectory import Trajectory
from .figure_style import COLOURS, counted, legend, panel, plain, symbol_text
from .lane_curves import Look, against_time

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

KINDS = ("components", "power", "work")


def _curves(force: AppliedForce, what: str) -> Mapping[str, Any]:
    """The curves of a force by their names."""
    if what == "components":
        on = "" if force.kind == "joint" else "on "  # of a joint the components have names, of others coordinates
        return {f"{force.name} {on}{k}": v for k, v in force.components.items()}
    return {force.name: getattr(force, what)}


def _drawn(axes: Axes, report: ForceReport, names: Sequence[str], what: str, look: Look) -> None:
    every = {k: v for name in names for k, v in _curves(report[name], what).items()}
    shown = list(every.items())[: 4 * len(COLOURS)]
    axes.set_title(counted(axes.get_title(loc="left"), len(shown), len(every)))
    for k, (name, values) in enumerate(shown):
        against_time(axes, report.run.time, values, look, plain(name), k)
    axes.set_xlabel(symbol_text(time, look.units))
    legend(axes)


def _panel(run: Trajectory, axes: Axes, look: Look, what: str) -> None:
    report = force_report(run)
    if not report.forces:
        raise ModelError(f"plot: no force acts on {run.system.name!r}, and it has no constraints. Leave out {what!r}.")
    axes.set_title(f"{what} of each force")
    _drawn(axes, report, list(report.forces), what, look)


def power(run: Trajectory, axes: Axes, look: Look) -> None:
    """The power of each force against time."""
    _panel(run, axes, look, "power")


def work(run: Trajectory, axes: Axes, look: Look) -> None:
    """The work of each force since the start."""
    _panel(run, axes, look, "work")


def reactions(run: Trajectory, axes: Axes, look: Look) -> None:
    """The reaction of each constraint, by coordinate."""
    if not run.system.constraints:
        raise ModelError(f"plot: {run.system.name!r} has no constraints, and so no reactions.")
    report = force_report(run)
    axes.set_title("reactions")
    _drawn(
        axes, report, [name for name, force in report.forces.items() if force.kind == "reaction"], "components", look
    )


def forces(
    report: ForceReport, what: str = "components", path: str | Path | None = None, *, names: Sequence[str] | None = None,
    units: Mapping[Any, str] | None = None, width: str = "column",
) -> Figure:  # fmt: skip
    """Forces of a report against time: loads, and reactions of joints by their names.

    what:   "components", "power" or "work"
    names:  which forces; by default all
    """
    if not isinstance(report, ForceReport):
        raise ModelError(f"forces: got {told(report)}. Expected a report, report = run.forces().")
    if what not in KINDS:
        raise ModelError(f"forces: got {told(what)}. Expected one of {', '.join(map(repr, KINDS))}.")
    chosen = list(report.forces) if names is None else list(names)
    if unknown := [name for name in chosen if name not in report.forces]:
        raise ModelError(f"forces: {told(unknown[0])} is none of {', '.join(report.forces)}.")
    look = Look(units={getattr(k, "name", str(k)): v for k, v in (units or {}).items()})
    return panel(
        lambda axes: _drawn(axes, report, chosen, what, look), path, width, f"{report.run.system.name}: {what}"
    )
