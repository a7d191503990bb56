"""Save a run, by the suffix of its file, and load it again."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from ..errors import StartError, told
from .replaced_file import replacing
from .run_file import read
from .run_table import write_csv
from .storage import save_netcdf
from .trajectory import Trajectory
from .zarr_run import SUFFIX, load_zarr, save_zarr

SUFFIXES = (".nc", ".cdf", ".netcdf", SUFFIX)
"""Suffixes of NetCDF files and Zarr folders, which `load` reads back."""

TABLE = ".csv"
"""The suffix of a table for other programs."""


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


def checked_target(path: str | Path) -> Path:
    """The path of a file to write; an error if its suffix is not one of those that `load` reads."""
    target = _path(path, "save")
    if target.suffix not in SUFFIXES:
        raise StartError(
            f"save: {target} has no known suffix. A run is a NetCDF file or a Zarr folder: {', '.join(SUFFIXES)}. For other "
            f"programs run.save('run.csv') writes a table."
        )
    return target


def save(run: Trajectory, path: str | Path) -> Path:
    """Write a NetCDF file, a Zarr folder or a table, so that an earlier one of the name is not lost before."""
    if (target := _path(path, "save")).suffix == TABLE:
        with replacing(target) as file:
            write_csv(file, run)
        return target
    target = checked_target(path)
    return save_zarr(run, target) if target.suffix == SUFFIX else save_netcdf(run, target)


def load(path: str | Path) -> Trajectory:
    """Read back a run saved by `Trajectory.save`, complete with its system."""
    source = _path(path, "load")
    if not os.path.exists(source):  # also false where the name is too long
        raise StartError(f"load: there is no file {source}. Save a run with run.save({str(source)!r}) first.")
    if source.is_dir() and source.suffix == SUFFIX:
        return load_zarr(source)
    if not source.is_file():
        raise StartError(f"load: {source} is not a file. Give the path of a run that was saved.")
    return read(source)
