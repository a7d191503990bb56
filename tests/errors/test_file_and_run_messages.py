"""What a person reads who asks a run, a file or the package for something that is not there; word for word."""

from __future__ import annotations

import numpy as np
import pytest
import sympy

import dalembert as da
from dalembert import ModelError, StartError
from dalembert.analysis.motions.audit import audit
from dalembert.model import checks, serial

from .tools import table, told

x, y, z = da.coordinates("x y z")
c = da.parameters("c", positive=True)
POINT = da.System("point", [x, y], kinetic=c * (x.dot**2 + y.dot**2) / 2)
STEPS = da.DiscreteSystem("steps", [x], lagrangian=(x.at(1) - x.at(0)) ** 2 / (2 * da.step))


def point():
    return da.simulate(POINT, da.Midpoint(), h=0.1, steps=3, parameters={c: 1}, start={x: 0, y: 0, x.dot: 1, y.dot: 0})


def steps():
    return da.simulate(STEPS, h=0.1, steps=3, start={x: 0, x.momentum: 1})


def test_load_of_a_missing_file(tmp_path):
    path = tmp_path / "run.nc"
    assert told(StartError, lambda: da.load(path)) == (
        f"load: there is no file {path}. Save a run with run.save({str(path)!r}) first."
    )


def test_load_of_a_file_of_another_program(tmp_path):
    import xarray

    path = tmp_path / "weather.nc"
    xarray.Dataset({"rain": ("day", np.ones(3))}).to_netcdf(path, engine="scipy")
    assert told(StartError, lambda: da.load(path)) == (
        f"load: {path} is not a run saved by dalembert, or it is damaged: it has no text model_kind."
    )


@pytest.mark.parametrize("content", [b"", b"not a NetCDF file"])
def test_load_of_a_file_that_is_not_netcdf(tmp_path, content):
    path = tmp_path / "notes.nc"
    path.write_bytes(content)
    message = told(StartError, lambda: da.load(path))
    why = "it is no NetCDF 3 file" if content else "it is truncated"
    assert message == f"load: {path} is not a run saved by dalembert, or it is damaged: {why}."


def simulated(potential):
    system = da.System("well", [x], kinetic=x.dot**2 / 2, potential=potential)
    return da.simulate(system, da.LeftPoint(), h=0.1, steps=1, start={x: 1, x.dot: 0})


def test_a_function_without_machine_code():
    assert told(ModelError, lambda: simulated(sympy.polygamma(0, x))) == (
        "potential: polygamma in polygamma(0, x) is not something that can be computed with here. Known are sums, products, "
        f"powers and the functions {checks.FUNCTIONS}."
    )
    for strange in (sympy.Catalan * x, sympy.I * x, sympy.oo * x, sympy.Mod(x, 1), sympy.Integral(x, x)):
        assert "is not something that can be computed with here" in told(ModelError, lambda s=strange: simulated(s))


def test_a_file_that_names_something_to_execute():
    assert told(ModelError, lambda: serial.unpack(["eval", "1"])) == "the file names an unknown operation 'eval'."


HAS = "this run has x, y, their .dot, .ddot and .momentum, and the multipliers."


@pytest.mark.parametrize("key", [z, "z", z.ddot, c, "multiplier.1"])
def test_a_run_asked_for_what_it_has_not(key):
    with pytest.raises(KeyError) as caught:
        point()[key]
    assert caught.value.args == (f"{key if isinstance(key, str) else key.name}: {HAS}",)


def test_a_run_asked_for_an_attribute_it_has_not():
    with pytest.raises(AttributeError) as caught:
        point().speed  # noqa: B018
    assert str(caught.value) == "a Trajectory has no 'speed'; coordinates are run.x and so on."


@table(
    (
        "a foreign coordinate",
        lambda: point().quantity(x * z),
        "quantity: unknown symbol z in x*z. Add z to coordinates=[...]. "
        "Known here: c, t, x, x.ddot, x.dot, y, y.ddot, y.dot.",
    ),
    (
        "an energy of a discrete system",
        lambda: steps().energy,
        "a discrete system given by its discrete Lagrangian alone has no energy.",
    ),
    (
        "a quantity of a discrete system",
        lambda: steps().quantity(x.dot),
        "a discrete system has no velocities; compute from its positions and momenta instead.",
    ),
)
def test_quantities(call, message):
    assert told(ModelError, call) == message


def test_an_audit_asked_for_what_it_has_not():
    with pytest.raises(KeyError) as caught:
        audit(point())["spin"]
    assert caught.value.args == (
        "spin: this audit has energy, momentum of x, momentum of y, centre of mass (Galilean boost along y), centre of mass "
        "(Galilean boost along x).",
    )


def test_the_package_asked_for_what_it_has_not():
    with pytest.raises(AttributeError) as caught:
        da.integrate  # noqa: B018
    assert str(caught.value) == "dalembert has no name 'integrate'; see dalembert.__all__."
