"""A run as a table: one row per time, the same bits, names that say which entry it is."""

from __future__ import annotations

import csv
import sys

import numpy as np
import pytest

import dalembert as da

x, y = da.coordinates("x y")
ROD = da.System("rod", [x, y], lagrangian=(x.dot**2 + y.dot**2) / 2 - y, constraints=[x**2 + y**2 - 1])
PENDULUM = da.gallery.load("pendulum")


def swing(lanes=None):
    angle = 1.0 if lanes is None else np.linspace(0.1, 1, lanes)
    (theta,) = PENDULUM.system.coordinates
    start = {theta: angle, theta.dot: 0}
    return da.simulate(PENDULUM.system, da.Midpoint(), h=0.1, steps=20, start=start, parameters=PENDULUM.parameters)


def test_one_row_per_time():
    run = swing()
    table = run.to_pandas()
    assert table.index.name == "time"
    assert list(table) == ["theta", "theta.dot", "theta.momentum", "energy"]
    assert len(table) == 21
    assert np.array_equal(table["theta.dot"], run["theta.dot"])
    assert np.array_equal(table.index, run.time)


def test_one_row_per_lane_and_time():
    run = swing(3)
    table = run.to_pandas()
    assert table.index.names == ["lane", "time"]
    assert len(table) == 63
    for lane in range(3):
        assert np.array_equal(table.loc[lane]["theta"], run.theta[lane])
        assert np.array_equal(table.loc[lane]["energy"], run.energy[lane])


@pytest.mark.parametrize("lanes", [None, 3])
def test_a_file_for_other_programs_has_the_same_bits(tmp_path, lanes):
    run = swing(lanes)
    path = run.save(tmp_path / "run.csv")
    with path.open(newline="") as file:
        head, *rows = csv.reader(file)
    table = run.to_pandas().reset_index()
    assert head == list(table)
    assert np.array_equal(np.array(rows, float), table.to_numpy(float))


def test_entries_of_vectors_and_matrices_are_columns():
    R = da.rotation("R")
    w = R.omega
    body = da.System("free body", [R], kinetic=(w[0] ** 2 + 2 * w[1] ** 2 + 3 * w[2] ** 2) / 2, potential=0)
    run = da.simulate(body, da.Midpoint(), h=0.1, steps=4, start={R: np.eye(3), w: [0.1, 1, 0]})
    table = run.to_pandas()
    assert np.array_equal(table["R[1,2]"], run["R"][:, 1, 2])
    assert {f"R[{i},{j}]" for i in range(3) for j in range(3)} < set(table)
    assert len(table) == 5
    run = da.simulate(ROD, da.Midpoint(), h=0.1, steps=4, start={x: 1, y: 0, x.dot: 0, y.dot: 0})
    assert np.array_equal(run.to_pandas()["multipliers[0]"], run.multipliers[:, 0], equal_nan=True)


def test_a_lane_that_ended_has_no_numbers_after_its_end(tmp_path):
    log = da.System("well", [x], lagrangian=x.dot**2 / 2 - da.log(x))
    run = da.simulate(log, da.StormerVerlet(), h=0.1, steps=40, start={x: [1, 2], x.dot: 0}, strict=False)
    found = run.to_pandas()["x"].to_numpy().reshape(2, -1)
    assert np.array_equal(found, run.x, equal_nan=True)
    assert np.isnan(found).any()
    assert ",nan," in run.save(tmp_path / "run.csv").read_text()


def test_without_pandas_it_says_what_to_type(monkeypatch):
    run = swing()
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(da.ModelError, match=r"pip install pandas.*run\.save\('run\.csv'\)"):
        run.to_pandas()


def test_other_suffixes_are_refused(tmp_path):
    with pytest.raises(
        da.StartError, match=r"no known suffix. A run is a NetCDF file or a Zarr folder: .nc, .*run\.save\('run\.csv'\)"
    ):
        swing().save(tmp_path / "run.xls")
    path = swing().save(tmp_path / "run.csv")
    with pytest.raises(da.StartError, match="is not a run saved by dalembert"):
        da.load(path)
