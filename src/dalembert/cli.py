"""The command line: list the gallery and the methods, derive, run, study many motions, look at the cache."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Mapping, Sequence, Set
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import gallery
from .errors import DalembertError, SimulationError

if TYPE_CHECKING:
    from .methods.base import Method

CLOSED = 141
"""The exit status of a command whose output nobody reads any more: 128 and the number of the signal SIGPIPE."""


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
    every: int = 1, search: float = 0, save: Path | None = None, plot: Path | None = None, report: Path | None = None,
    lang: str = "en", beside: str | None = None,
) -> None:  # fmt: skip
    """Compute a motion, print its audit, save, draw and report it on request."""
    from .analysis.motions.audit import audit
    from .run.simulate import simulate

    example = gallery.load(name)
    parameters, start = _with(example, settings)
    _check_files(save, plot, report, lang)
    if beside is not None and report is None:
        raise DalembertError("--beside is for a report: it shows the other motion there. Write --report FILE.html too.")
    numbers: dict[str, Any] = {
        "h": example.h if h is None else h, "until": example.until if until is None else until, "every": every,
        "start": start, "parameters": parameters,
    }  # fmt: skip
    others, failure = [_method(beside)] if beside is not None else [], None
    try:
        result = simulate(example.system, _method(method), **numbers)
    except SimulationError as error:  # the part computed before the failure is audited, saved and plotted too
        failure, result = error, error.trajectory
    print(audit(result, example.invariants, search))
    if result.iterations:
        print(f"\n{result.iterations:.2f} Newton iterations per step.")
    if save is not None:
        print(f"saved {result.save(save)}")
    if plot is not None:
        result.plot(plot)
        print(f"drew {plot}")
    if report is not None:
        about = f"{example.description} {example.source}"
        drawn = [simulate(example.system, m, strict=False, **numbers) for m in others]
        result.report(report, lang=lang, invariants=example.invariants, about=about, beside=drawn)
        print(f"wrote {report}")
    if failure is not None:
        raise failure


FEW = 10
"""So many failed lanes are printed."""


def sweep(
    name: str, vary: Sequence[str], store: str, record: Sequence[str] = (), samples: int | None = None,
    sequence: str = "sobol", seed: int = 0, method: str = "midpoint", h: float | None = None, until: float | None = None,
    settings: Sequence[str] = (), every: int | None = None, chunk: int | None = None, workers: int | None = None,
    scheduler: str | None = None,
) -> None:  # fmt: skip
    """Compute many motions into a store, or what is missing there, and print which failed."""
    from .study.sweep import sweep

    example = gallery.load(name)
    varied = dict(_varied(setting, samples is not None) for setting in vary)
    parameters, start = _with(example, settings, set(varied))
    study = sweep(
        example.system, _method(method), h=example.h if h is None else h,
        until=example.until if until is None else until, start=start, parameters=parameters, vary=varied, store=store,
        record=_recorded(record), samples=samples, sequence=sequence, seed=seed, every=every, chunk=chunk, workers=workers,
        scheduler=scheduler,
    )  # fmt: skip
    failed = study.failed
    for lane in failed[:FEW]:
        print(lane)
    if len(failed) > FEW:
        print(f"... and {len(failed) - FEW} more failed lanes: study.failed has them all.")
    print(f"{study.lanes} lanes, {len(failed)} failed, in {study.path}. Read them with xarray.open_zarr({store!r}).")


def _varied(setting: str, sampled: bool) -> tuple[str, Sequence[float]]:
    """A name and its values: m=1,2,3 or m=1:3:5, five values from 1 to 3; with samples the ends of a range, m=1:3."""
    name, sign, text = setting.partition("=")
    parts = text.split(":") if ":" in text else text.split(",")
    try:
        numbers = [float(part) for part in parts]
        if ":" not in text:
            return name, numbers
        if sampled and len(numbers) == 2:
            return name, numbers
        first, last, count = numbers
        if sign and not sampled and count == int(count) > 1:
            return name, [first + (last - first) * i / (int(count) - 1) for i in range(int(count))]
    except ValueError:
        pass
    expected = "name=low:high, a range" if sampled else "name=first:last:count, such as m=1:2:5, or values, m=1,1.5,2"
    raise DalembertError(f"--vary {setting}: write {expected}.")


def _recorded(settings: Sequence[str]) -> dict[str, list[str]] | None:
    """What is kept of each quantity: theta=largest,mean."""
    found: dict[str, list[str]] = {}
    for setting in settings:
        name, sign, kinds = setting.partition("=")
        if not sign:
            raise DalembertError(f"--record {setting}: write name=kind, such as theta=largest or energy=drift,mean.")
        found.setdefault(name, []).extend(kinds.split(","))
    return found or None


def cache(clear: bool = False) -> None:
    """Print where compiled code is kept, and how much of it; remove it on request."""
    from .engine import cache as kept

    where = kept.folder()
    if where is None:
        print("compiled code is not kept: DALEMBERT_CACHE is empty, or this system has no owners and modes of files")
        return
    count, size = kept.clear() if clear else kept.contents()
    print(
        f"{where}\n{'removed: ' if clear else ''}{count} entries, {size / 2**20:.1f} of at most {kept.limit() / 2**20:g} MB"
    )


def _check_files(save: Path | None, plot: Path | None, report: Path | None, lang: str) -> None:
    """Refuse file names that cannot be written, before the motion is computed."""
    if save is not None:
        from .run import save_and_load

        save_and_load.target_of(save)
    if plot is not None:
        from .draw.figure_style import checked_target

        checked_target(plot)
    if report is not None:
        from .report.write_report import checked

        checked(report, lang, 3.0, "")


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


def _with(
    example: gallery.Example, settings: Sequence[str], varied: Set[str] = frozenset()
) -> tuple[dict[str, float], dict[str, float]]:
    """The default parameters and start of an example, with the changes from the command line; others vary."""
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
    chosen = {setting.partition("=")[0] for setting in settings} | varied
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
    told = "compute the motion of a gallery system, audit it, and save, plot or report it on request"
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
    one.add_argument(
        "--search", type=float, default=0, metavar="SECONDS",
        help="search so long for first integrals besides those that the gallery states",
    )  # fmt: skip
    one.add_argument("--save", type=Path, metavar="FILE", help="save the run to this NetCDF file")
    one.add_argument("--plot", type=Path, metavar="FILE", help="save a picture to this file (png, pdf, svg)")
    one.add_argument("--report", type=Path, metavar="FILE", help="write a report to this file (html)")
    one.add_argument("--lang", default="en", metavar="LANGUAGE", help="the language of the report: en, es")
    one.add_argument("--beside", metavar="METHOD", help="show the motion by another integrator beside it in the report")
    _add_sweep(commands)
    told = "show where compiled code is kept and how much of it there is, and remove it on request"
    one = commands.add_parser("cache", help=told, description=told, epilog="Example: dalembert cache --clear")
    one.add_argument("--clear", action="store_true", help="remove it; what is needed is compiled anew")
    return top


def _add_sweep(commands: Any) -> None:
    told = (
        "compute many motions of a gallery system into a store; the same command goes on, and computes what is missing"
    )
    example = (
        "Example: dalembert sweep pendulum --vary theta=0.1:3:30 --vary l=1,2 --record theta=largest --store study.zarr"
    )
    one = commands.add_parser("sweep", help=told, description=told, epilog=example)
    one.add_argument("name", help="a name from `dalembert list`")
    one.add_argument(
        "--vary", action="append", required=True, metavar="NAME=VALUES",
        help="what varies: m=1,2,3 or theta=0.1:3:30, thirty values; with --samples a range, m=1:2; may be repeated",
    )  # fmt: skip
    one.add_argument("--store", required=True, metavar="FOLDER", help="the Zarr folder of the results: study.zarr")
    one.add_argument(
        "--record", action="append", default=[], metavar="NAME=KIND",
        help="what is kept over all nodes: theta=largest,mean or energy=drift; may be repeated",
    )  # fmt: skip
    one.add_argument("--samples", type=int, help="draw so many points from the ranges instead of computing a grid")
    one.add_argument("--sequence", default="sobol", help="how they are drawn: sobol, halton, random")
    one.add_argument("--seed", type=int, default=0, help="another number, other points")
    one.add_argument("--method", default="midpoint", help="the integrator; a wrong name lists them all")
    one.add_argument("--h", type=float, help="the time step; the gallery has a default for each system")
    one.add_argument("--until", type=float, help="the end time; the gallery has a default")
    one.add_argument(
        "--set",
        dest="settings",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="what is the same for all lanes",
    )
    one.add_argument("--every", type=int, help="keep every so many steps of each motion")
    one.add_argument("--chunk", type=int, help="motions that are computed and written at once")
    one.add_argument("--workers", type=int, help="processes on this machine; by default one for each core")
    one.add_argument("--scheduler", metavar="ADDRESS", help="a Dask scheduler, tcp://..., instead of processes here")


def main(words: Sequence[str] | None = None) -> None:
    """Entry point: errors are printed as sentences, not as tracebacks."""
    try:
        try:
            _run(words)
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        # Whoever reads the output has closed it, as `head` does: end as a shell command does, and write nothing at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(CLOSED)


def _run(words: Sequence[str] | None) -> None:
    """The command that the words ask for."""
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
        "sweep": sweep,
        "cache": cache,
    }
    command = commands[given.pop("command")]
    try:
        command(**given)
    except DalembertError as error:
        print(f"dalembert: {error}", file=sys.stderr)
        sys.exit(1)
    except BrokenPipeError:
        raise
    except OSError as error:
        print(f"dalembert: the file could not be written: {error}.", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        print("dalembert: interrupted.", file=sys.stderr)
        sys.exit(130)


if __name__ == "__main__":
    main()
