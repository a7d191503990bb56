"""Writes a page and a moving player for every system of the gallery: statement, equations, integrals, motion, source.

python docs/make_gallery.py FOLDER [name ...]      all systems, or those named; what is up to date is kept

A page is made again when the package or this script has changed. The motion has the numbers of the example; the player
computes it again in the page for others.
"""

from __future__ import annotations

import hashlib
import inspect
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager, suppress
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import sympy

import dalembert as da
from dalembert import gallery

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.textbook.measures import beside
from tests.textbook.problems import FIXTURES, TABLE

LEVELS = {
    "first": (
        "harmonic-oscillator damped-spring pendulum pendulum-cartesian double-pendulum spherical-pendulum pendulum-chain "
        "kepler charged-particle particle particle-on-parabola block-on-incline block-and-hanging-weight "
        "poggendorff-pulleys wedge-and-disc hoop-on-incline two-discs-on-incline two-pulleys-with-spring cart-pendulum "
        "cart-pendulum-driven particle-on-moving-circle bead-on-rotating-hoop hoop-rolling-in-hoop half-disc-rolling "
        "oscillator-on-moving-base cart-with-friction newton-cooling car"
    ),
    "second": (
        "circulatory-oscillator particle-over-parabola nonholonomic-particle rolling-disk knife-edge chaplygin-sleigh "
        "double-pendulum-cartesian plate-hung-from-trolley disc-with-pendulum-on-incline disc-with-driven-rod "
        "disc-with-slot-and-pendulum pendulum-on-circle double-pendulum-in-rotating-plane turning-hoop-with-bead "
        "hung-hoop-with-pulled-bead hung-hoop-with-bead-on-spring disc-rolling-in-hung-hoop semi-hoop-on-line-with-bead "
        "rod-with-knife-edge bar-with-knife-edge rod-on-driven-knives sliding-ladder-with-bead rod-on-two-axes "
        "disc-under-leaning-rod rolling-semicircle-with-particle half-disc-in-turning-plane spring-on-rotating-disc "
        "spring-pendulum-on-slider binary-with-linear-attraction particles-through-cone spring-in-gas spring-against-gas "
        "two-gas-chambers friction-heated-pendulum free-rigid-body heavy-top satellite"
    ),
    "research": (
        "continuously-variable-transmission spring-against-gas-reduced thermoelastic-double-pendulum "
        "rolling-disk-with-friction heavy-top-in-fluid snakeboard two-wheeled-robot roller-racer appell-device "
        "appell-in-dimensions rolling-sphere rolling-sphere-lagrangian penny-on-incline heisenberg-geodesics "
        "pendulum-on-sphere chaplygin-ball-in-space suslov veselova chaplygin-ball ball-on-turntable heavy-top-on-cart"
    ),
}
"""Where a system is met: in a first course, in a second one, in papers."""
MEANING = {
    "first": "A first course: one or two degrees of freedom, constraints on positions.",
    "second": "A second course: rolling, rigid bodies in space, moving frames, heat.",
    "research": "Papers: nonholonomic systems, reduction, different principles, structures that exchange heat.",
}
CITED = (
    "Sources: what stems from the problems of the [textbook page](../textbook.md) was compared with their printed equations, "
    "and the difference is on the page of the system. Other books and papers are cited without having been opened for this, "
    "section numbers included; each system is checked by its own tests instead, against exact solutions, invariants and other "
    "formulations."
)
"""How far sources were checked."""
PATIENCE = 30
"""Seconds that the search for integrals of one system may take here."""
COMPUTES = "The page computes the motion: change a parameter, the start or the step, or choose another method."
RECORDED = "It shows a recorded motion: the method used here does not run in a page."
STEPS = 20_000
"""Most steps of a motion on a page."""
FRAMES = 4000
"""About as many of them are kept: enough for trails without corners."""
WIDE = 6000
"""Characters of LaTeX beyond which equations are not printed: nobody reads them."""


def level_of(name: str) -> str:
    """The level of a system of the gallery."""
    return next(level for level, names in LEVELS.items() if name in names.split())


@cache
def _stamp() -> str:
    """What pages depend on: the package and this script."""
    package = Path(da.__file__).parent
    files = [f for f in sorted(package.rglob("*")) if f.suffix in (".py", ".pyi", ".js", ".css")]
    return hashlib.sha256(b"".join(f.read_bytes() for f in (*files, Path(__file__)))).hexdigest()


def title(name: str) -> str:
    """The heading of a page."""
    return name.replace("-", " ").capitalize()


def page(name: str, player: str, live: bool) -> str:
    """The page of a system as Markdown; `player` is the address of its moving picture, `live` whether that computes."""
    e = gallery.load(name)
    source = inspect.getsource(gallery.maker(name))
    parts = [
        f"# {title(name)}",
        f"{e.description}",
        f"*Level: {level_of(name)}.* Source: {e.source}",
        f'<iframe class="player" src="{player}" title="{title(name)}: the motion"></iframe>',
        f"[The moving picture in a page of its own]({player}). {COMPUTES if live else RECORDED}",
        "## Statement",
        *_statement(e.system),
        "## Equations",
        *_equations(e.system),
        "## Integrals",
        *_integrals(e),
        "## Numbers",
        *_numbers(e),
        *_book(name),
        "## Motion",
        f"```python\n{code(name)}```",
        f"```text\n{_audited(e)}\n```",
        "## Source",
        f"```python\n{source}```",
    ]
    return "\n\n".join(parts) + "\n"


def code(name: str) -> str:
    """What a reader types to compute the motion of the page."""
    e = gallery.load(name)
    every = f", every={_every(e)}" if _every(e) > 1 else ""
    return (
        "import dalembert as da\n\n"
        f'e = da.gallery.load("{name}")\n'
        f"run = da.simulate(e.system, da.{_method(e)!r}, h={e.h}, steps={_steps(e)}{every},\n"
        "                  start=e.start, parameters=e.parameters)\n"
        f'run.animate("{name}.html")\n'
        "print(da.audit(run, invariants=e.invariants))\n"
    )


def _method(e: Any) -> Any:
    """The midpoint rule, or the first of some others that applies to the system."""
    for method in (da.Midpoint(), da.Rattle(), da.Gauss(2), da.RungeKutta4()):
        with suppress(da.DalembertError):
            da.simulate(e.system, method, h=e.h, steps=0, start=e.start, parameters=e.parameters)
            return method
    raise da.MethodError(f"{e.name}: no method was found for its page. Name one in make_gallery.")


def _steps(e: Any) -> int:
    return max(1, min(round((e.shown or e.until) / e.h), STEPS))


def _every(e: Any) -> int:
    return max(1, _steps(e) // FRAMES)


@cache
def _motion(name: str) -> da.Trajectory:
    e = gallery.load(name)
    numbers = {"start": e.start, "parameters": e.parameters}
    return da.simulate(e.system, _method(e), h=e.h, steps=_steps(e), every=_every(e), **numbers)


def _statement(s: da.System) -> Iterator[str]:
    yield f"Coordinates: {', '.join(_inline(q) for q in s.factors)}." + (
        f" Entropies: {', '.join(map(_inline, s.entropies))}." if s.entropies else ""
    )
    symbols = {"kinetic": "T", "potential": "V", "lagrangian": "L"}
    for key, value in s.energies.items():
        yield _block(symbols[key], s.as_typed(value))
    if s.internal_energy != 0:
        yield _block("U", s.as_typed(s.internal_energy))
    for q, force in zip(s.coordinates, s.forces, strict=True):
        if force != 0:
            yield _block(f"F_{{{sympy.latex(q)}}}", s.as_typed(force))
    if s.dissipation != 0:
        yield "Rayleigh's dissipation function:"
        yield _block("R", s.as_typed(s.dissipation))
    for S, row in zip(s.entropies, s.friction, strict=True):
        for q, force in zip(s.coordinates, row, strict=True):
            if force != 0:
                yield f"Friction on {_inline(q)}, which heats {_inline(S)}:"
                yield _display(sympy.latex(s.as_typed(force)))
    for S, power in zip(s.entropies, s.heat, strict=True):
        if power != 0:
            yield f"Heat received by {_inline(S)}:"
            yield _display(sympy.latex(s.as_typed(power)))
    if s.constraints:
        yield "Constraints:"
        for c in s.constraints:
            yield _display(sympy.latex(s.as_typed(c.expression)) + " = 0")
    if not isinstance(s.principle, da.DAlembert):
        yield f"Principle: `{type(s.principle).__name__}`."


def _equations(s: da.System) -> Iterator[str]:
    equations = s.equations()
    rows = [*equations.lagrange, *equations.entropy, *equations.constraints]
    if sum(len(sympy.latex(e)) for e in rows) > WIDE:
        yield f"The {len(rows)} equations fill pages; `e.system.equations()` has them."
        return
    for e in rows:
        yield _display(f"{sympy.latex(e.lhs)} = {sympy.latex(e.rhs)}")


def _integrals(e: Any) -> Iterator[str]:
    try:
        with _patience():
            found = da.first_integrals(e.system)
    except da.DalembertError as refused:
        yield f"The search says: {refused}"
        yield "The audit of the motion below has the energy and the momenta."
    except TimeoutError:
        yield f"The search for integrals takes more than {PATIENCE} s for this system and is left out here."
    else:
        for i in found.integrals:
            yield f"**{i.name}**: {i.reason}"
            yield _display(sympy.latex(i.expression))
        if not found.integrals:
            yield "None was found."
        if found.not_conserved:
            yield "Not conserved:"
            yield "\n".join(f"* {i.name}: {i.reason}" for i in found.not_conserved)
    for name, expression in e.invariants.items():
        yield f"Known of this system, **{name}**:"
        yield _display(sympy.latex(expression))


def _numbers(e: Any) -> Iterator[str]:
    rows = [f"| {_inline(p)} | {v} |" for p, v in e.parameters.items()]
    if rows:
        yield "\n".join(["| parameter | value |", "|---|---|", *rows])
    starts = [f"| {_inline(q)} | {v} |" for q, v in e.start.items()]
    yield "\n".join(["| at the start | value |", "|---|---|", *starts])
    yield f"Step h = {e.h}, to t = {e.h * _steps(e):.6g}."


def _book(name: str) -> Iterator[str]:
    """For a system of the textbook table: accelerations and multipliers by the equations of the book, here, the difference."""
    if name not in FIXTURES:
        return
    fixture = FIXTURES[name]
    entries = [f"{e.key}, {e.title}" for e in TABLE if name in e.lives.split(", ")]
    q, v = fixture.state()
    symbols = (*gallery.load(name).system.coordinates, *gallery.load(name).system.velocities)
    state = ", ".join(f"{_inline(s)} = {x:g}" for s, x in zip(symbols, (*q, *v), strict=True))
    numbers = ", ".join(f"{_inline(sympy.Symbol(k))} = {x:g}" for k, x in fixture.values().items())
    yield "## The book, here, the difference"
    yield (
        f"{'; '.join(entries)} ([all of them](../textbook.md)). The equations of motion as they are printed "
        f"there, typed by hand and solved in 30 digits, beside `da.evaluate` at {state}, with {numbers}."
    )
    rows = [f"| `{n}` | {said:.12g} | {here:.12g} | {abs(here - said):.0e} |" for n, said, here in beside(fixture)]
    yield "\n".join(["| | the book | here | difference |", "|---|---|---|---|", *rows])


def _audited(e: Any) -> str:
    run = _motion(e.name)
    try:
        with _patience():
            return str(da.audit(run, invariants=e.invariants))
    except TimeoutError:
        return (
            f"{run}\nThe audit takes more than {PATIENCE} s, because of the search for integrals; it is left out here."
        )


def _inline(symbol: Any) -> str:
    shown = symbol if isinstance(symbol, sympy.Basic | tuple) else sympy.Symbol(str(symbol))
    return f"${sympy.latex(shown)}$".replace("|", r"\vert ")


def _block(name: str, value: Any) -> str:
    return _display(f"{name} = {sympy.latex(value)}")


def _display(latex: str) -> str:
    return f"$$\n{latex}\n$$"


@contextmanager
def _patience() -> Iterator[None]:
    """TimeoutError after PATIENCE seconds."""

    def stop(*_: Any) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(PATIENCE)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def make(name: str, folder: Path) -> str:
    """Write NAME.md and players/NAME.html; the name, and whether they were made now."""
    target, player = folder / f"{name}.md", folder / "players" / f"{name}.html"
    stamp = folder / ".stamps" / name
    if target.exists() and player.exists() and stamp.exists() and stamp.read_text() == _stamp():
        return f"{name}: up to date"
    for needed in (player, stamp):
        needed.parent.mkdir(parents=True, exist_ok=True)
    _motion(name).animate(player)
    target.write_text(page(name, f"players/{name}.html", '"live":{' in player.read_text()))
    stamp.write_text(_stamp())
    return f"{name}: made"


def index(names: Sequence[str]) -> str:
    """The page that lists the systems by level."""
    parts = [
        "# Gallery",
        f"{len(names)} systems, each with its statement, equations, integrals, motion and source.",
        CITED,
    ]
    for level in LEVELS:
        here = [name for name in names if level_of(name) == level]
        if here:
            rows = "\n".join(f"| [{title(n)}]({n}.md) | {gallery.load(n).description} |" for n in here)
            listed = "\n".join(here)
            parts += [f"## Level: {level}", MEANING[level], f"| system | what it is |\n|---|---|\n{rows}"]
            parts += [f"```{{toctree}}\n:hidden:\n\n{listed}\n```"]
    return "\n\n".join(parts) + "\n"


def make_all(folder: Path, names: Sequence[str], workers: int | None = None) -> None:
    """All pages and their index, several at a time."""
    folder.mkdir(parents=True, exist_ok=True)
    with ProcessPoolExecutor(workers or os.cpu_count(), get_context("spawn")) as pool:
        for done in pool.map(make, names, [folder] * len(names)):
            print(done, flush=True)
    (folder / "index.md").write_text(index(names))


if __name__ == "__main__":
    make_all(Path(sys.argv[1]), sys.argv[2:] or gallery.names())
