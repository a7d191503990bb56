"""How to compute a run again: versions, numbers, code, and the command line for systems of the gallery."""

from __future__ import annotations

import platform
import re
from collections.abc import Mapping
from html import escape
from importlib.metadata import version
from typing import Any

import numpy as np

from .. import gallery
from ..model.coordinates import Coordinate
from ..model.principle import DAlembert, GivenVariations
from ..model.system import System
from ..numbers import name_of
from ..run.trajectory import Trajectory
from .html_parts import Writer

LIBRARIES = ("numpy", "sympy", "symengine", "llvmlite", "python-flint")

MOST = 8
"""Lanes whose starts are written as code."""


def reproduction(w: Writer, system: Any, run: Trajectory | None, parameters: Mapping[Any, Any] | None) -> str:
    """Versions, parameters, start, code and command line."""
    from .. import __version__

    own = run.version if run is not None else __version__
    versions = [("dalembert", own), ("Python", platform.python_version()), *((n, version(n)) for n in LIBRARIES)]
    found = f"<h3>{w.word('versions')}</h3>" + w.table(
        [w.word("symbol"), w.word("value")], [[escape(name), escape(v)] for name, v in versions]
    )
    values = parameters_of(run) if run is not None else {str(k): v for k, v in (parameters or {}).items()}
    for key, numbers in (("parameters of", values), ("initial", start_of(run) if run is not None else {})):
        if numbers:
            rows = [[f"<code>{escape(n)}</code>", escape(_short(v))] for n, v in numbers.items()]
            found += f"<h3>{w.word(key)}</h3>" + w.table([w.word("symbol"), w.word("value")], rows)
    text = code(system, run, values)
    found += f"<h3>{w.word('code')}</h3>"
    found += _listing(w, text) if text else f"<p>{w.word('save first')}</p>"
    if run is not None and (line := command(run)):
        found += f"<h3>{w.word('command')}</h3>{_listing(w, line)}"
    return found


def _listing(w: Writer, text: str) -> str:
    label = w.word("code")
    return f'<pre class="wide" tabindex="0" role="group" aria-label="{label}"><code>{escape(text)}</code></pre>'


def _short(value: Any) -> str:
    found = np.asarray(value).ravel()
    shown = ", ".join(repr(float(v)) for v in found[:4])
    return shown + (f", ... ({len(found)})" if len(found) > 4 else "")


def parameters_of(run: Trajectory) -> dict[str, Any]:
    """The parameters of a run, by name: numbers, or arrays over lanes."""
    return {name: np.asarray(v) if np.ndim(v) else float(v) for name, v in run.parameters.items()}


def start_of(run: Trajectory) -> dict[str, Any]:
    """The first record: positions and velocities (momenta of a discrete system), entropies, by name."""
    symbols = [s for f in getattr(run.system, "factors", run.system.coordinates) for s in _symbols(f, run)]
    first = {name_of(s): run[s][0] if run.lanes is None else run[s][:, 0] for s in (*symbols, *run.system.entropies)}
    return {name: v + 0.0 if np.ndim(v) else float(v) + 0.0 for name, v in first.items()}  # -0.0 is told as 0.0


def _symbols(factor: Any, run: Trajectory) -> list[Any]:
    """What a start says of one factor: the point and its velocity, in a group as vectors."""
    if isinstance(factor, Coordinate):
        return [factor, factor.dot if run.system.continuous is not None else factor.momentum]
    told = factor.spatial or factor.vectors
    velocities = told[: len(told) // 2] if run.system.continuous is not None else told[len(told) // 2 :]
    return [factor, *velocities]


def _of_gallery(system: Any) -> str:
    """The name in the gallery of a system; empty if it is not there."""
    words = str(system.name).replace("-", " ").split()
    alike = [name for name in gallery.names() if set(name.split("-")) & set(words)]  # loading all takes seconds
    alike.sort(key=lambda name: -len(set(name.split("-")) & set(words)))
    return next((name for name in alike if _is(name, system)), "")


def _is(name: str, system: Any) -> bool:
    found = gallery.load(name).system
    return bool(found.name == system.name and found == system)


def code(system: Any, run: Trajectory | None, values: Mapping[str, Any]) -> str:
    """Python that states the system and computes the run; empty for systems that cannot be written in a few lines."""
    if not isinstance(system, System) or (run is not None and (run.lanes or 1) > MOST):
        return ""
    stated = (
        f"system = dalembert.gallery.load({_of_gallery(system)!r}).system" if _of_gallery(system) else _stated(system)
    )
    if not stated or (run is not None and (run.events or not start_of(run) or run.method is None)):
        return ""
    lines = ["import dalembert", "", stated]
    if run is None:
        return "\n".join([*lines, "print(system.equations())"])
    steps = int(run.codes[:, 1].max()) - run.begin
    start = {k: _plain(v) for k, v in start_of(run).items()} | ({"t": run.t0} if run.t0 else {})
    more = f", every={run.every}" if run.every != 1 else ""
    lines += [
        f"start = {start!r}",
        f"parameters = { {k: _plain(v) for k, v in values.items()}!r}",
        f"method = {_method(run)}",
        f"run = dalembert.simulate(system, method, h={run.h!r}, steps={steps}, start=start, parameters=parameters{more})",
        "print(dalembert.audit(run))",
    ]
    return "\n".join(lines)


def _plain(value: Any) -> Any:
    return np.asarray(value, dtype=float).tolist()


def _same(one: Any, other: Any) -> bool:
    """Whether a start is the other up to rounding."""
    a, b = np.asarray(one, dtype=float), np.asarray(other, dtype=float)
    return a.shape == b.shape and bool(np.abs(a - b).max() <= 1e-12 * np.abs(b).max())


def _method(run: Trajectory) -> str:
    return re.sub(r"\b([A-Z]\w*)\(", r"dalembert.\1(", repr(run.method))


def _stated(system: System) -> str:
    """The statement of a mechanical system on lines as Python; empty for others."""
    if (
        any(not isinstance(f, Coordinate) for f in system.factors)
        or system.entropies
        or not isinstance(system.principle, DAlembert | GivenVariations)
        or any(not s.name.isidentifier() for s in (*system.coordinates, *system.parameters))
    ):
        return ""
    q, p, typed = system.coordinates, system.parameters, system.as_typed
    given: dict[str, Any] = {key: typed(e) for key, e in system.energies.items()}
    told = [f"    {key}={e},\n" for key, e in given.items()]
    if any(f != 0 for f in system.forces):
        pairs = ", ".join(f"{c}: {typed(f)}" for c, f in zip(q, system.forces, strict=True) if f != 0)
        told.append(f"    forces={{{pairs}}},\n")
    if system.dissipation != 0:
        told.append(f"    dissipation={typed(system.dissipation)},\n")
    if system.constraints:
        told.append(f"    constraints=[{', '.join(str(typed(c.expression)) for c in system.constraints)}],\n")
    if (forms := system.arguments["variations"]) is not None:
        told.append(f"    variations=[{', '.join(map(str, forms))}],\n")
    made = [f"from dalembert import *\n\nt = time\n{_made(q, 'coordinates')}"]
    made += [_made(p, "parameters")] if p else []
    names = "[" + ", ".join(c.name for c in q) + "]"
    return "\n".join(made) + f"\nsystem = System(\n    {system.name!r},\n    {names},\n{''.join(told)})"


def _made(symbols: Any, kind: str) -> str:
    names = [s.name for s in symbols]
    return f"{', '.join(names)} = {kind}({' '.join(names)!r})"


def command(run: Trajectory) -> str:
    """The command line for a run of a gallery system; empty for others."""
    name = _of_gallery(run.system)
    if not name or run.lanes is not None or run.method is None or run.begin or repr(run.method)[-2:] != "()":
        return ""
    known = gallery.load(name)
    given = {k.name: float(v) for k, v in known.parameters.items()}
    first = {name_of(k): v for k, v in known.start.items()}
    changed = {k: v for k, v in parameters_of(run).items() if given.get(k) != v}
    now = start_of(run)
    if any(k not in now or not _same(now[k], v) for k, v in first.items()):
        return ""
    kebab = "".join(f"-{c.lower()}" if c.isupper() else c for c in type(run.method).__name__).lstrip("-")
    sets = "".join(f" --set {k}={v!r}" for k, v in changed.items())
    steps = int(run.codes[0, 1])
    every = f" --every {run.every}" if run.every != 1 else ""
    timing = f"--h {run.h!r} --until {run.t0 + steps * run.h!r}{every}"
    return f"dalembert run {name} --method {kebab} {timing}{sets} --report report.html"
