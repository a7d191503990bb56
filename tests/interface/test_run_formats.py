"""A further format of files of runs: a function that writes, a source that reads, and a row of the table."""

import json
from typing import Any

import numpy as np
import pytest

import dalembert as da
from dalembert.run import save_and_load
from dalembert.run.replaced_file import replacing
from dalembert.run.run_file import read
from dalembert.run.storage import contents

x, m, k = da.coordinates("x"), *da.parameters("m k", positive=True)
SYSTEM = da.System("spring", coordinates=[x], kinetic=m * x.dot**2 / 2, potential=k * x**2 / 2)
HOW: dict[str, Any] = {"h": 0.1, "start": {x: 1, x.dot: 0}, "parameters": {m: 1, k: 2}}


def write_npz(run, target):
    attributes, variables = contents(run)
    arrays = {name.replace("/", "_"): v.data for name, v in variables.items()}
    with replacing(target) as file:
        np.savez(file, attributes=np.array(json.dumps(attributes)), **arrays)
    return target


class NpzSource:
    def __init__(self, file):
        self._arrays = dict(np.load(file))
        found = json.loads(str(self._arrays.pop("attributes")))
        self.attributes = {name: v if isinstance(v, str) else np.array([v]) for name, v in found.items()}

    def __contains__(self, name):
        return name in self._arrays

    def shape(self, name):
        return self._arrays[name].shape

    def array(self, name, kind, axes):
        found = self._arrays[name]
        if found.ndim != axes or found.dtype != np.dtype(kind):
            raise ValueError(f"its {name} is of another kind")
        return found


@pytest.fixture
def npz(monkeypatch):
    row = save_and_load.FileFormat("NumPy file", (".npz",), write_npz, lambda path: read(path, NpzSource))
    monkeypatch.setattr(save_and_load, "FORMATS", (*save_and_load.FORMATS, row))


def test_a_run_in_a_further_format_is_loaded_and_continued_bit_for_bit(npz, tmp_path):
    whole = da.simulate(SYSTEM, da.Midpoint(), steps=20, **HOW)
    da.simulate(SYSTEM, da.Midpoint(), steps=12, **HOW).save(tmp_path / "half.npz")
    loaded = da.load(tmp_path / "half.npz")
    assert loaded.system == SYSTEM
    rest = da.simulate(SYSTEM, da.Midpoint(), h=0.1, steps=8, start=loaded)
    assert np.array_equal(rest.x, whole.x[12:])


def test_it_is_checked_like_every_other(npz, tmp_path):
    target = da.simulate(SYSTEM, da.Midpoint(), steps=3, **HOW).save(tmp_path / "run.npz")
    changed = dict(np.load(target))
    changed["run.records"][0, 1, 0] += 1e-9
    np.savez(target, **changed)
    with pytest.raises(da.StartError, match="do not match its checksum"):
        da.load(target)


def test_it_keeps_checkpoints(npz, tmp_path):
    target, plain = tmp_path / "long.npz", da.simulate(SYSTEM, da.Midpoint(), steps=20, **HOW)
    for steps in (9, 20):
        kept = da.simulate(SYSTEM, da.Midpoint(), steps=steps, checkpoint=target, checkpoint_every=4, **HOW)
    assert np.array_equal(kept.x, plain.x) and np.array_equal(da.load(target).x, plain.x)


def test_without_its_row_the_suffix_is_unknown(tmp_path):
    run = da.simulate(SYSTEM, da.Midpoint(), steps=2, **HOW)
    with pytest.raises(
        da.StartError, match=r"no known suffix.*NetCDF file or a Zarr folder: \.nc, \.cdf, \.netcdf, \.zarr"
    ):
        run.save(tmp_path / "run.npz")
    with pytest.raises(da.StartError, match="no known suffix"):  # a table is written, but no run is read from it
        da.simulate(SYSTEM, da.Midpoint(), steps=2, checkpoint=tmp_path / "run.csv", checkpoint_every=1, **HOW)


def test_what_is_at_a_path_decides_with_its_suffix(tmp_path):
    """A file with the suffix of a folder is read as a file; a folder with the suffix of a file is refused."""
    run = da.simulate(SYSTEM, da.Midpoint(), steps=2, **HOW)
    run.save(tmp_path / "run.nc").rename(tmp_path / "run.zarr")
    assert np.array_equal(da.load(tmp_path / "run.zarr").x, run.x)
    (tmp_path / "folder.nc").mkdir()
    with pytest.raises(da.StartError, match=r"folder\.nc is not a file"):
        da.load(tmp_path / "folder.nc")
