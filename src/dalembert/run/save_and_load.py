"""Save a run, by the suffix of its file, and load it again: `FORMATS` lists the kinds of files there are."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import StartError, told
from .run_file import read
from .run_table import save_table
from .storage import save_netcdf
from .streamed import streamed
from .trajectory import Trajectory
from .zarr_run import SUFFIX, load_zarr, save_zarr


@dataclass(frozen=True)
class FileFormat:
    """A kind of files of runs.

    suffixes:  of their names
    write:     writes a whole run, so that an earlier one of the name is not lost before
    read:      reads it back; None for tables, which other programs read
    is_folder: whether it is a folder, not a file
    stream:    writes a long run part by part, see `streamed`; None if checkpoints replace the whole file
    """

    name: str
    suffixes: tuple[str, ...]
    write: Callable[[Trajectory, Path], Path]
    read: Callable[[Path], Trajectory] | None = None
    is_folder: bool = False
    stream: Callable[..., Trajectory] | None = None


NETCDF = FileFormat("NetCDF file", (".nc", ".cdf", ".netcdf"), save_netcdf, read)
FORMATS = (
    NETCDF,
    FileFormat("Zarr folder", (SUFFIX,), save_zarr, load_zarr, is_folder=True, stream=streamed),
    FileFormat("table", (".csv",), save_table),
)


def _path(given: Any, role: str) -> Path:
    """The given path of a file; `~` is the home of the user, not a folder of that name."""
    try:
        os.fsencode(os.fspath(given))
        text = os.fsdecode(given)
    except (TypeError, UnicodeEncodeError):
        text = ""
    if not text or "\0" in text:
        raise StartError(f"{role}: got {told(given)} ({type(given).__name__}). Expected the path of a file: 'run.nc'.")
    return Path(os.path.expanduser(text))


def target_of(path: str | Path, *, to_load: bool = False) -> tuple[Path, FileFormat]:
    """The path of a file to write and its format; `to_load` excludes those that `load` does not read."""
    target = _path(path, "save")
    for known in FORMATS:
        if target.suffix in known.suffixes and (known.read or not to_load):
            return target, known
    whole = [known for known in FORMATS if known.read]
    kinds, suffixes = " or a ".join(k.name for k in whole), ", ".join(s for k in whole for s in k.suffixes)
    raise StartError(
        f"save: {target} has no known suffix. A run is a {kinds}: {suffixes}. For other programs run.save('run.csv') writes "
        f"a table."
    )


def save(run: Trajectory, path: str | Path) -> Path:
    """Write a NetCDF file, a Zarr folder or a table."""
    target, chosen = target_of(path)
    return chosen.write(run, target)


def load(path: str | Path) -> Trajectory:
    """Read back a run saved by `Trajectory.save`, complete with its system."""
    source = _path(path, "load")
    if not os.path.exists(source):  # also false where the name is too long
        raise StartError(f"load: there is no file {source}. Save a run with run.save({str(source)!r}) first.")
    for known in FORMATS:
        if known.read and source.suffix in known.suffixes and source.is_dir() == known.is_folder:
            return known.read(source)
    if not source.is_file():
        raise StartError(f"load: {source} is not a file. Give the path of a run that was saved.")
    return read(source)  # a NetCDF file of another name
