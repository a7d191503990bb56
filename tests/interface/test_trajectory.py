"""Trajectories: arrays, datasets, files, pictures, continuation."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import sympy

import dalembert as da
from dalembert.discrete import serial


@pytest.fixture(scope="module")
def disk():
    example = da.gallery.load("rolling-disk")
    return da.simulate(
        example.system, da.Midpoint(), h=0.05, steps=200, start=example.start, parameters=example.parameters
    )


@pytest.fixture(scope="module")
def lanes():
    example = da.gallery.load("pendulum")
    start = {"theta": np.linspace(0.1, 1, 5), "theta.dot": 0}
    return da.simulate(
        example.system, da.Midpoint(), h=0.05, steps=100, every=4, start=start, parameters=example.parameters
    )


def test_arrays(disk, lanes):
    x, *_ = disk.system.coordinates
    assert disk.x.shape == disk.time.shape == (201,)
    assert np.array_equal(disk.x, disk[x])
    assert np.array_equal(disk[x.dot], disk["x.dot"])
    assert disk.multipliers.shape == (201, 2)
    assert np.array_equal(disk["multiplier.2"], disk.multipliers[:, 1])
    assert lanes.theta.shape == (5, 26)
    assert lanes.energy.shape == (5, 26)
    assert lanes.time[1] == pytest.approx(0.2)
    assert len(lanes) == 26
    with pytest.raises(AttributeError, match="no 'speed'"):
        disk.speed  # noqa: B018
    with pytest.raises(KeyError, match="this run has x, y, theta, phi"):
        disk["speed"]


def test_quantity(disk):
    x, y, _, _ = disk.system.coordinates
    speed = disk.quantity(da.sqrt(x.dot**2 + y.dot**2))
    assert speed == pytest.approx(np.hypot(disk[x.dot], disk[y.dot]))


def test_momenta_and_velocities_fit(disk):
    """p = dL/dv at the nodes, and the velocities satisfy the constraints there."""
    m, I = (float(disk.parameters[k]) for k in ("m", "I"))
    R = float(disk.parameters["R"])
    assert disk["x.momentum"] == pytest.approx(m * disk["x.dot"], abs=1e-13)
    assert disk["theta.momentum"] == pytest.approx(I * disk["theta.dot"], abs=1e-13)
    assert disk["x.dot"] == pytest.approx(R * np.cos(disk.phi) * disk["theta.dot"], abs=1e-13)


@pytest.mark.parametrize("which", ["disk", "lanes"])
def test_save_and_load(which, request, tmp_path):
    run = request.getfixturevalue(which)
    back = da.load(run.save(tmp_path / "deep" / "run.nc"))
    assert back.system == run.system
    assert back.method == run.method
    for name in ("time", "records", "carry", "codes"):
        assert np.array_equal(getattr(back, name), getattr(run, name), equal_nan=True)
    assert np.array_equal(back.energy, run.energy)
    assert str(da.audit(back)) == str(da.audit(run))
    assert back.lanes == run.lanes
    assert back.parameters.keys() == run.parameters.keys()


def test_save_and_load_a_discrete_system_and_a_reference(tmp_path):
    x = da.coordinates("x")
    k = da.parameters("k")
    free = da.DiscreteSystem("free", [x], lagrangian=k * (x.at(1) - x.at(0)) ** 2 / da.step)
    run = da.simulate(free, h=0.1, steps=10, start={x.at(0): 0, x.at(1): 1}, parameters={k: 1})
    back = da.load(run.save(tmp_path / "a.nc"))
    assert np.array_equal(back.x, run.x)
    assert back.system.parameters == (k,)
    example = da.gallery.load("pendulum")
    run = da.simulate(
        example.system, da.Reference(rtol=1e-7), h=0.1, steps=10, start=example.start, parameters=example.parameters
    )
    back = da.load(run.save(tmp_path / "b.nc"))
    assert back.method == da.Reference(rtol=1e-7)
    composed = da.Composition(da.Gauss(2), order=6)
    run = da.simulate(example.system, composed, h=0.1, steps=10, start=example.start, parameters=example.parameters)
    assert da.load(run.save(tmp_path / "c.nc")).method == composed


class Mine(da.VariationalMethod):
    """The trapezoidal rule in other words."""

    order, symplectic, symmetric = 2, True, True

    def discrete_lagrangian(self, L, q0, q1, t, h):
        v = (q1 - q0) / h
        return h / 2 * (L(q0, v, t) + L(q1, v, t + h))


@pytest.mark.parametrize("method", [Mine(), da.Composition(Mine(), order=4)], ids=repr)
def test_a_method_of_ones_own_is_not_mistaken_for_another(method, tmp_path):
    example = da.gallery.load("pendulum")
    common = {"h": 0.1, "steps": 10, "parameters": example.parameters}
    run = da.simulate(example.system, method, start=example.start, **common)
    back = da.load(run.save(tmp_path / "run.nc"))
    assert back.method is None
    with pytest.raises(da.StartError, match="the method cannot be continued with"):
        da.simulate(example.system, da.Composition(order=4), start=back, **common)
    assert da.simulate(example.system, method, start=run, **common).ok
    with pytest.raises(da.MethodError, match="regularity: this run was loaded, and its method"):
        da.regularity(back)


def test_a_carry_of_another_width_is_refused():
    """It would be read beyond its end."""
    example = da.gallery.load("pendulum")
    common = {"h": 0.1, "steps": 10, "parameters": example.parameters}
    run = da.simulate(example.system, da.Midpoint(), start=example.start, **common)
    damaged = replace(run, carry=run.carry[:, :-1].copy())
    with pytest.raises(da.StartError, match="carries 9 numbers from step to step, and a step here needs 10"):
        da.simulate(example.system, da.Midpoint(), start=damaged, **common)


def test_save_and_load_a_discrete_system_with_interior_positions(tmp_path):
    example = da.gallery.load("pendulum")
    inner = da.discretise(example.system, da.Galerkin(3))
    theta = example.system.coordinates[0]
    start, common = {theta: 1.0, theta.momentum: 0.5}, {"h": 0.1, "parameters": example.parameters}
    run = da.simulate(inner, steps=10, start=start, **common)
    back = da.load(run.save(tmp_path / "run.nc"))
    assert np.array_equal(back.theta, run.theta)
    longer = da.simulate(back.system, steps=10, start=back, **common)
    np.testing.assert_allclose(longer.theta, da.simulate(inner, steps=20, start=start, **common).theta[10:], 1e-12)


BRANCHES = da.coordinates("x")
E0, E1 = BRANCHES.at(0), BRANCHES.at(1)


@pytest.mark.parametrize(
    "part",
    [
        sympy.Abs(E0 - E1) ** 3,
        sympy.Max(E0, E1, 0) ** 2,
        sympy.Piecewise((E0, (E0 > 0) & (E1 <= 1)), (0.3 * E1, sympy.Or(E0 < E1, sympy.Ne(E1, 1))), (1, True)),
        sympy.atan2(E0, E1) * sympy.exp(E0) * sympy.pi + sympy.sinh(E1) / 3,
        sympy.sqrt(E0**2 + 1) ** 3 * (E1 - 1.5e-300) + sympy.erf(E1),
    ],
    ids=str,
)
def test_a_discrete_system_as_text_and_back(part):
    made = da.DiscreteSystem("branches", [BRANCHES], lagrangian=part + (E1 - E0) ** 2 / da.step)
    assert serial.loads(serial.dumps(made)) == made


def test_a_file_cannot_name_an_operation_of_its_own():
    with pytest.raises(da.ModelError, match="unknown operation 'eval'"):
        serial.unpack(["eval", "1"])


def test_dataset(disk, lanes):
    data = disk.dataset
    assert set(data["x"].dims) == {"time"}
    assert data.attrs["method"] == "Midpoint()"
    assert data.attrs["h"] == 0.05
    assert "energy" in data
    assert data["multipliers"].shape == (201, 2)
    assert lanes.dataset["theta"].dims == ("lane", "time")
    assert (lanes.dataset["status"] == 0).all()


@pytest.mark.parametrize("which", ["disk", "lanes"])
def test_plot(which, request, tmp_path):
    figure = request.getfixturevalue(which).plot(tmp_path / "pictures" / "run.png")
    assert len(figure.axes) == 4
    assert (tmp_path / "pictures" / "run.png").stat().st_size > 20_000


def test_plot_of_a_discrete_system():
    x = da.coordinates("x")
    free = da.DiscreteSystem("free", [x], lagrangian=(x.at(1) - x.at(0)) ** 2 / da.step)
    run = da.simulate(free, h=0.1, steps=10, start={x.at(0): 0, x.at(1): 1})
    assert [a.get_title(loc="left") for a in run.plot().axes][2] == "momenta"


def test_continue(disk):
    """A continued run has the bits of an uninterrupted one."""
    s, common = disk.system, {"h": 0.05, "parameters": disk.parameters}
    example = da.gallery.load("rolling-disk")
    half = da.simulate(s, da.Midpoint(), steps=77, start=example.start, **common)
    rest = da.simulate(s, da.Midpoint(), steps=123, start=half, **common)
    assert np.array_equal(rest.x, disk.x[77:])
    assert np.array_equal(rest.multipliers, disk.multipliers[77:])
    assert rest.time[0] == pytest.approx(disk.time[77])


def test_progress_is_told():
    example, told = da.gallery.load("pendulum"), []
    da.simulate(
        example.system, da.Midpoint(), h=0.001, steps=100_000, every=1000, start=example.start,
        parameters=example.parameters, progress=lambda done, total: told.append((done, total)),
    )  # fmt: skip
    assert told[-1] == (100_000, 100_000)
    assert len(told) > 1
    assert [d for d, _ in told] == sorted(d for d, _ in told)


def test_a_bar_can_be_shown(capfd):
    example = da.gallery.load("pendulum")
    common = {"h": 0.01, "steps": 1000, "start": example.start, "parameters": example.parameters}
    da.simulate(example.system, da.Midpoint(), progress=True, **common)
    assert "computing" in capfd.readouterr().err
    da.simulate(example.system, da.Midpoint(), **common)
    assert capfd.readouterr().err == ""
