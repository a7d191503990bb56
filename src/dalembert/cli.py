"""The command line: list the gallery, derive equations, run a system."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from . import gallery
from .errors import DalembertError, SimulationError

if TYPE_CHECKING:
    from .methods import Method

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="Computational analytical mechanics: state a system, read its equations, compute its motion.",
    epilog="Begin with: dalembert list. Then: dalembert derive rolling-disk, and dalembert run rolling-disk --plot disk.png",
)


@app.command("list", help="List the systems of the gallery.")
def list_systems() -> None:
    width = max(map(len, gallery.names()))
    for name in gallery.names():
        print(f"{name.ljust(width)}  {gallery.load(name).description.split('. ')[0].rstrip('.')}")


@app.command(
    help="Derive and print the equations of motion of a gallery system.",
    epilog="Example: dalembert derive double-pendulum --latex",
)
def derive(
    name: Annotated[str, typer.Argument(help="A name from `dalembert list`.")],
    latex: Annotated[bool, typer.Option(help="Print LaTeX instead of text.")] = False,
    solved: Annotated[bool, typer.Option(help="Also print accelerations and multipliers, solved for.")] = False,
) -> None:
    import sympy

    example = gallery.load(name)
    equations = example.system.equations()
    if latex:
        print(equations._repr_latex_().strip("$"))
        return
    print(f"{example.system.name}: {example.description}\nSource: {example.source}\n")
    stated = sympy.Eq(sympy.Symbol("L"), example.system.lagrangian, evaluate=False)
    print(sympy.pretty(stated, wrap_line=False), f"\n{equations}", sep="\n")
    print(f"\nenergy:\n{sympy.pretty(equations.energy, wrap_line=False)}")
    if solved:
        for e in equations.first_order:
            print(f"\n{sympy.pretty(e, wrap_line=False)}")


@app.command(
    help="Compute the motion of a gallery system, audit it, and save or plot it on request.",
    epilog="Example: dalembert run double-pendulum --method midpoint --h 0.005 --until 20 --set m1=2 --plot motion.png",
)
def run(
    name: Annotated[str, typer.Argument(help="A name from `dalembert list`.")],
    method: Annotated[str, typer.Option(help="The integrator; a wrong name lists them all.")] = "midpoint",
    h: Annotated[float | None, typer.Option(help="The time step; the gallery has a default for each system.")] = None,
    until: Annotated[float | None, typer.Option(help="The end time; the gallery has a default.")] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", help="A parameter or a start value, as m=2 or theta.dot=0.5; may be repeated."),
    ] = None,
    every: Annotated[int, typer.Option(help="Record every so many steps.")] = 1,
    save: Annotated[Path | None, typer.Option(help="Save the run to this NetCDF file.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Save a picture to this file (png, pdf, svg).")] = None,
) -> None:
    from .audit import audit
    from .run.simulate import simulate

    example = gallery.load(name)
    parameters, start = _with(example, set_ or [])
    failure = None
    try:
        result = simulate(
            example.system,
            _method(method),
            h=example.h if h is None else h,
            until=example.until if until is None else until,
            start=start,
            parameters=parameters,
            every=every,
        )
    except SimulationError as error:  # nothing computed is lost: what there is gets audited, saved and plotted
        failure, result = error, error.trajectory
    print(audit(result, example.invariants))
    if result.iterations:
        print(f"\n{result.iterations:.2f} Newton iterations per step.")
    if save is not None:
        print(f"saved {result.save(save)}")
    if plot is not None:
        result.plot(plot)
        print(f"drew {plot}")
    if failure is not None:
        raise failure


def _method(name: str) -> Method:
    from .methods import REGISTRY

    wanted = name.lower().replace("-", "").replace("_", "")
    for key, kind in REGISTRY.items():
        if key.lower() == wanted:
            return kind()
    known = ", ".join(_kebab(key) for key in REGISTRY)
    raise DalembertError(f"there is no method {name!r}. The methods are: {known}.")


def _kebab(name: str) -> str:
    return "".join(f"-{c.lower()}" if c.isupper() else c for c in name).lstrip("-")


def _with(example: gallery.Example, settings: list[str]) -> tuple[dict[str, float], dict[str, float]]:
    """Default parameters and start of an example, changed as asked for."""
    parameters = {k.name: v for k, v in example.parameters.items()}
    start = {k.name: v for k, v in example.start.items()}
    for setting in settings:
        key, sign, text = setting.partition("=")
        group = parameters if key in parameters else start if key in start else None
        if not sign or group is None:
            known = ", ".join([*parameters, *start])
            raise DalembertError(f"--set {setting}: write name=value, where name is one of {known}.")
        try:
            group[key] = float(text)
        except ValueError:
            raise DalembertError(f"--set {setting}: {text!r} is not a number.") from None
    chosen = {setting.partition("=")[0] for setting in settings}
    return parameters, _consistent(example, parameters, start, chosen) if chosen else start


def _consistent(
    example: gallery.Example, parameters: Mapping[str, float], start: Mapping[str, float], chosen: set[str]
) -> dict[str, float]:
    """The start without one velocity per kinematic constraint, which then follows from it: not one the user chose."""
    from .symbolic import fast, number

    left: set[str] = set()
    for c in example.system.kinematic:
        rows = zip(example.system.coordinates, c.coefficients, strict=True)
        sizes = {q.dot.name: abs(number(fast(a), {**parameters, **start})) for q, a in rows}
        free = {name: size for name, size in sizes.items() if size > 0 and name not in chosen | left}
        if free:
            left.add(max(free, key=lambda name: free[name]))
    return {k: v for k, v in start.items() if k not in left}


def main() -> None:
    """Entry point: errors are printed as sentences, not as tracebacks."""
    try:
        app()
    except DalembertError as error:
        print(f"dalembert: {error}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        print("dalembert: interrupted.", file=sys.stderr)
        sys.exit(130)


if __name__ == "__main__":
    main()
