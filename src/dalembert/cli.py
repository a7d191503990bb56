"""The command line: list the gallery and the methods, derive equations, run a system."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from . import gallery
from .errors import DalembertError, SimulationError

if TYPE_CHECKING:
    from .methods.base import Method


def list_systems() -> None:
    """Print the gallery, a line each."""
    width = max(map(len, gallery.names()))
    for name in gallery.names():
        print(f"{name.ljust(width)}  {gallery.load(name).description.split('. ')[0].rstrip('.')}")


def list_methods() -> None:
    """Print the table of integrators, made from their classes."""
    from .methods.method_table import text

    print(text(), end="")


def derive(name: str, latex: bool = False, solved: bool = False) -> None:
    """Print the equations of motion of a gallery system."""
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
    for e in equations.first_order if solved else ():
        print(f"\n{sympy.pretty(e, wrap_line=False)}")


def run(
    name: str, method: str = "midpoint", h: float | None = None, until: float | None = None, settings: Sequence[str] = (),
    every: int = 1, save: Path | None = None, plot: Path | None = None,
) -> None:  # fmt: skip
    """Compute a motion, print its audit, save and draw it on request."""
    from .analysis.motions.audit import audit
    from .run.simulate import simulate

    example = gallery.load(name)
    parameters, start = _with(example, settings)
    _check_files(save, plot)
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
    except SimulationError as error:  # the part computed before the failure is audited, saved and plotted too
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


def _check_files(save: Path | None, plot: Path | None) -> None:
    """Refuse file names that cannot be written, before the motion is computed."""
    if save is not None:
        from .run import storage

        storage.checked_target(save)
    if plot is not None:
        from .draw import plots

        plots.checked_target(plot)


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


def _with(example: gallery.Example, settings: Sequence[str]) -> tuple[dict[str, float], dict[str, float]]:
    """The default parameters and start of an example, with the changes from the command line."""
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
    """The start without one velocity per kinematic constraint, which the constraint determines; given ones are kept."""
    from .symbolic import fast, number

    left: set[str] = set()
    for c in example.system.kinematic:
        rows = zip(example.system.coordinates, c.coefficients, strict=True)
        sizes = {q.dot.name: abs(number(fast(a), {**parameters, **start})) for q, a in rows}
        free = {name: size for name, size in sizes.items() if size > 0 and name not in chosen | left}
        if free:
            left.add(max(free, key=lambda name: free[name]))
    return {k: v for k, v in start.items() if k not in left}


def _parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(
        prog="dalembert",
        description="Computational analytical mechanics: state a system, read its equations, compute its motion.",
        epilog="Begin with: dalembert list. Then: dalembert derive rolling-disk, dalembert run rolling-disk --plot a.png",
    )
    commands = top.add_subparsers(dest="command", metavar="COMMAND", required=True)
    commands.add_parser("list", help="list the systems of the gallery")
    commands.add_parser("methods", help="list the integrators: order, what they preserve, which systems they accept")
    told = "derive and print the equations of motion of a gallery system"
    one = commands.add_parser(
        "derive", help=told, description=told, epilog="Example: dalembert derive double-pendulum --latex"
    )
    one.add_argument("name", help="a name from `dalembert list`")
    one.add_argument("--latex", action="store_true", help="print LaTeX instead of text")
    one.add_argument("--solved", action="store_true", help="also print accelerations and multipliers, solved for")
    told = "compute the motion of a gallery system, audit it, and save or plot it on request"
    example = (
        "Example: dalembert run double-pendulum --method midpoint --h 0.005 --until 20 --set m1=2 --plot motion.png"
    )
    one = commands.add_parser("run", help=told, description=told, epilog=example)
    one.add_argument("name", help="a name from `dalembert list`")
    one.add_argument("--method", default="midpoint", help="the integrator; a wrong name lists them all")
    one.add_argument("--h", type=float, help="the time step; the gallery has a default for each system")
    one.add_argument("--until", type=float, help="the end time; the gallery has a default")
    one.add_argument(
        "--set", dest="settings", action="append", default=[], metavar="NAME=VALUE",
        help="a parameter or a start value, as m=2 or theta.dot=0.5; may be repeated",
    )  # fmt: skip
    one.add_argument("--every", type=int, default=1, help="record every so many steps")
    one.add_argument("--save", type=Path, metavar="FILE", help="save the run to this NetCDF file")
    one.add_argument("--plot", type=Path, metavar="FILE", help="save a picture to this file (png, pdf, svg)")
    return top


def main(words: Sequence[str] | None = None) -> None:
    """Entry point: errors are printed as sentences, not as tracebacks."""
    parser = _parser()
    if not (sys.argv[1:] if words is None else words):
        parser.print_help()
        return
    given = vars(parser.parse_args(words))
    commands: dict[str, Callable[..., None]] = {
        "list": list_systems,
        "methods": list_methods,
        "derive": derive,
        "run": run,
    }
    command = commands[given.pop("command")]
    try:
        command(**given)
    except DalembertError as error:
        print(f"dalembert: {error}", file=sys.stderr)
        sys.exit(1)
    except OSError as error:
        print(f"dalembert: the file could not be written: {error}.", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        print("dalembert: interrupted.", file=sys.stderr)
        sys.exit(130)


if __name__ == "__main__":
    main()
