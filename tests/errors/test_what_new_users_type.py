"""What people type first and wrongly: other objects in place of a System, NumPy's functions, names with underscores."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as da

b = da.bodies
x, y, theta = da.coordinates("x y theta")
m, g, l, k = da.parameters("m g l k", positive=True)
NUMBERS = {m: 1, g: 9.81, l: 1}


def pendulum():
    mass = b.Particle(m, [l * da.sin(theta), -l * da.cos(theta)])
    return b.assemble("pendulum", [theta], bodies=[mass], loads=[b.Gravity(g)])


ASKED = {
    "classify": da.classify,
    "first_integrals": da.first_integrals,
    "noether": lambda s: da.noether(s, {theta: 1}),
    "structure": da.structure,
    "hamilton": da.hamilton,
    "reactions": da.reactions,
    "impose": lambda s: da.impose(s, {theta: da.time}),
    "linearise": lambda s: da.linearise(s, about={theta: 0}),
    "equilibria": lambda s: da.equilibria(s, parameters=NUMBERS),
    "normal_modes": lambda s: da.normal_modes(s, at={theta: 0}, parameters=NUMBERS),
    "evaluate": lambda s: da.evaluate(s, at={theta: 1, theta.dot: 0}, parameters=NUMBERS),
    "discretise": lambda s: da.discretise(s, da.midpoint_map),
}


@pytest.mark.parametrize("name", ASKED)
def test_an_assembly_is_taken_for_its_system(name):
    whole = pendulum()
    assert str(ASKED[name](whole)) == str(ASKED[name](whole.system))


@pytest.mark.parametrize("name", ASKED)
@pytest.mark.parametrize("given", [None, 3, "pendulum", da.System], ids=str)
def test_what_is_no_system_is_refused(name, given):
    with pytest.raises(da.ModelError, match=rf"^{name}: got .*Expected a System"):
        ASKED[name](given)


@pytest.mark.parametrize(
    ("call", "instead"),
    [
        (
            lambda: np.cos(theta),
            "numpy.cos(theta): NumPy takes numbers, and theta is a symbol. Write dalembert.cos(theta)",
        ),
        (lambda: np.arctan2(x, y), "Write dalembert.atan2(x, y)"),
        (lambda: np.maximum(x, 1), "Write dalembert.Max(x, 1)"),
        (lambda: np.hypot(x, y), "Write it with operators and with functions of dalembert or SymPy."),
        (lambda: np.square(x), "Write it with operators"),
    ],
)
def test_functions_of_numpy(call, instead):
    with pytest.raises(da.ModelError) as error:
        call()
    assert instead in str(error.value)


def test_operators_of_numpy():
    assert (np.array([1, 2]) * x).tolist() == [x, 2 * x]
    assert np.array([x, y]) @ np.array([1, 2]) == x + 2 * y
    assert np.add.outer(x, [1, 2]).tolist() == [x + 1, x + 2]


@pytest.mark.parametrize("name", ["_", "_x", "__class__", "__dict__"])
@pytest.mark.parametrize("make", [da.coordinates, da.parameters])
def test_names_begin_with_a_letter(name, make):
    """They would hide attributes of runs, and neither LaTeX nor matplotlib can set them."""
    with pytest.raises(da.ModelError, match="is not a name"):
        make(name)


def oscillation():
    system = da.System("oscillator", [x], kinetic=x.dot**2 / 2, potential=x**2 / 2)
    return da.simulate(system, da.Midpoint(), h=0.1, steps=5, start={x: 1, x.dot: 0})


@pytest.mark.parametrize("path", [None, 3, "", "a\0b.nc", b"", ["run.nc"], "\udcff\ud800.nc"], ids=ascii)
def test_what_is_no_path_is_refused(path):
    with pytest.raises(da.StartError, match=r"^load: got .*Expected the path of a file"):
        da.load(path)
    with pytest.raises(da.StartError, match=r"^save: got .*Expected the path of a file"):
        oscillation().save(path)


def test_a_tilde_is_the_home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    run = oscillation()
    run.save("~/run.nc")
    run.plot("~/motion.png")
    assert len(da.load("~/run.nc")) == len(run)
    assert {"run.nc", "motion.png"} <= {p.name for p in (tmp_path / "home").iterdir()}
    assert not (tmp_path / "~").exists()


def test_a_name_too_long_for_a_file_is_no_file():
    with pytest.raises(da.StartError, match="there is no file"):
        da.load("a" * 5000 + ".nc")


def test_a_place_where_nothing_can_be_written_is_refused(tmp_path):
    (tmp_path / "file").write_text("not a folder")
    for path in (tmp_path / "file" / "run.nc", tmp_path / ("a" * 300 + ".nc"), "/proc/none/run.nc"):
        with pytest.raises(da.StartError, match=r"^save: .* cannot be written: "):
            oscillation().save(path)
    assert [p.name for p in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize("path", ["motion.xyz", "motion.nc", "."])
def test_a_picture_of_unknown_kind_is_refused(path):
    with pytest.raises(da.StartError, match=r"has no known suffix\. Known are .*\.pdf, .*\.png"):
        oscillation().plot(path)


@pytest.mark.parametrize("option", [["--plot", "motion.xyz"], ["--save", "run.txt"]])
def test_the_command_line_refuses_a_name_before_it_computes(option, capsys):
    from dalembert.cli import main

    with pytest.raises(SystemExit):
        main(["run", "pendulum", *option])
    told = capsys.readouterr()
    assert "has no known suffix" in told.err
    assert told.out == ""
