"""Equilibria against a parameter, and the answer of an equilibrium to a periodic force."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..analysis.equilibria.equilibrium_search import equilibria
from ..errors import ModelError, told
from ..numbers import name_of, reals
from ..theory.small_motions.linearised import linearise
from .figure_style import COLOURS, legend, panel, symbol_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MARKS = {"stable": ("o", COLOURS[0]), "unstable": ("x", COLOURS[1])}


def equilibrium_branches(
    system: Any, coordinate: Any, parameter: Any, values: Any, path: str | Path | None = None, *, parameters: Any = None,
    box: Mapping[Any, Any] | None = None, width: str = "column",
) -> Figure:  # fmt: skip
    """The equilibria of a system for some values of a parameter: where they are, which are stable, where they branch."""
    swept = reals(values, "equilibrium_branches: values", ModelError)
    if parameter not in getattr(system, "parameters", ()):
        raise ModelError(f"equilibrium_branches: {told(parameter)} is no parameter of {system.name!r}.")
    found: dict[str, list[tuple[float, float]]] = {}
    for value in swept.ravel():
        rest = equilibria(system, parameters={**(parameters or {}), parameter: float(value)}, box=box)
        for e in rest:
            found.setdefault(str(e.stability.verdict), []).append((float(value), e[coordinate]))

    def draw(axes: Axes) -> None:
        for k, (verdict, points) in enumerate(sorted(found.items())):
            mark, colour = MARKS.get(verdict, ("s", COLOURS[2 + k % 4]))
            axes.plot(*zip(*points, strict=True), mark, ms=3, color=colour, label=verdict)
        axes.set_xlabel(symbol_text(parameter))
        axes.set_ylabel(symbol_text(coordinate))
        legend(axes)

    return panel(draw, path, width)


def frequency_response(
    system: Any, force: Mapping[Any, Any], frequencies: Any, path: str | Path | None = None, *, about: Any,
    parameters: Any = None, coordinates: Sequence[Any] = (), width: str = "column",
) -> Figure:  # fmt: skip
    """The amplitudes of small steady oscillations under a force {x: amplitude, ...} of some angular frequencies.

    about:  the equilibrium about which the system is linearised, {theta: 0}, as for `linearise`
    """
    omega = reals(frequencies, "frequency_response: frequencies", ModelError).ravel()
    small = linearise(system, about=about, parameters=parameters)
    q = list(small.independent)
    M, D, S = map(_numbers, (small.mass, small.damping + small.gyroscopic, small.stiffness + small.circulatory))
    named = {name_of(k): float(v) for k, v in force.items()}
    if unknown := [n for n in named if n not in [c.name for c in q]]:
        raise ModelError(f"frequency_response: {unknown[0]} is not among {', '.join(c.name for c in q)}.")
    f = np.array([named.get(c.name, 0.0) for c in q])
    amplitudes = np.array([np.abs(np.linalg.solve(-w * w * M + 1j * w * D + S, f)) for w in omega])
    shown = [getattr(c, "name", c) for c in coordinates] or [c.name for c in q]

    def draw(axes: Axes) -> None:
        for k, c in enumerate(q):
            if c.name in shown:
                axes.semilogy(omega, amplitudes[:, k], color=COLOURS[k % len(COLOURS)], label=symbol_text(c))
        axes.set_xlabel(r"$\omega$")
        axes.set_ylabel("amplitude")
        legend(axes)

    return panel(draw, path, width, small.system.name)


def _numbers(matrix: Any) -> Any:
    if matrix.free_symbols:
        lacking = ", ".join(sorted(s.name for s in matrix.free_symbols))
        raise ModelError(f"frequency_response: no number for {lacking}. Give parameters={{...}} for all of them.")
    return np.array(matrix.tolist(), dtype=float)
