"""The command line, as a person types it."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import dalembert as da


def dalembert(*words, fails=False):
    done = subprocess.run(
        [sys.executable, "-m", "dalembert.cli", *words],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "COLUMNS": "100"},
    )
    assert (done.returncode != 0) == fails, done.stderr
    return done.stderr if fails else done.stdout


def test_list():
    text = dalembert("list")
    assert all(name in text for name in da.gallery.names())


def test_sweep_computes_a_study_and_what_is_missing(tmp_path, capsys):
    from dalembert.cli import main

    words = [
        "sweep",
        "pendulum",
        "--record",
        "theta=largest,mean",
        "--record",
        "energy=drift",
        "--until",
        "1",
        "--set",
        "m=2",
    ]
    words += ["--store", str(tmp_path / "a.zarr"), "--workers", "0", "--vary", "l=0.5,1"]
    main([*words, "--vary", "theta=0.5:2:4"])
    assert "8 lanes, 0 failed" in capsys.readouterr().out
    main([*words, "--vary", "theta=0.5:2:7"])
    assert "14 lanes, 0 failed" in capsys.readouterr().out
    pendulum = da.gallery.load("pendulum")
    given = {"until": 1, "start": pendulum.start | {"theta": 1.5}}
    given["start"] = {k: v for k, v in given["start"].items() if str(k) != "theta"} | {"theta": 1.5}
    numbers = {k.name: v for k, v in pendulum.parameters.items()} | {"m": 2, "l": 0.5}
    run = da.simulate(
        pendulum.system, da.Midpoint(), h=pendulum.h, **given, parameters=numbers, record={"theta": "largest"}
    )
    import xarray

    data = xarray.open_zarr(tmp_path / "a.zarr").set_index(lane=["l", "theta"]).unstack("lane")
    assert data["largest theta"].sel(l=0.5, theta=1.5) == run.reductions["largest theta"][0]


def test_sweep_of_a_sample_lists_lanes_that_fail(tmp_path, capsys):
    from dalembert.cli import main

    words = [
        "sweep",
        "pendulum-cartesian",
        "--vary",
        "x=0.1:0.9",
        "--samples",
        "13",
        "--until",
        "0.1",
        "--workers",
        "0",
    ]
    with pytest.raises(SystemExit):
        main([*words, "--store", str(tmp_path / "a.zarr")])
    assert "start" in capsys.readouterr().err  # no lane begins on the circle
    words = ["sweep", "knife-edge", "--vary", "m=1:2", "--vary", "phi.dot=0.1:3", "--samples", "13", "--until", "0.1"]
    main([*words, "--workers", "0", "--store", str(tmp_path / "b.zarr")])
    assert "13 lanes, 0 failed" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("setting", "told"),
    [
        (["--vary", "theta"], "--vary theta: write name=first:last:count"),
        (["--vary", "theta=1:2"], "--vary theta=1:2: write name=first:last:count"),
        (["--vary", "theta=1:2:3", "--samples", "5"], "write name=low:high, a range"),
        (["--vary", "theta=a,b"], "--vary theta=a,b: write"),
        (["--vary", "omega=1,2"], "omega"),
        (["--vary", "theta=1,2", "--record", "theta"], "--record theta: write name=kind"),
        (["--vary", "theta=1,2", "--record", "theta=least"], "Expected one of largest"),
    ],
)
def test_what_sweep_refuses(setting, told, tmp_path, capsys):
    from dalembert.cli import main

    with pytest.raises(SystemExit):
        main(["sweep", "pendulum", *setting, "--store", str(tmp_path / "a.zarr"), "--workers", "0"])
    assert told in capsys.readouterr().err


@pytest.mark.parametrize("name", da.gallery.names())
def test_derive_every_system(name, capsys):
    from dalembert.cli import derive

    derive(name, latex=False, solved=False)
    text = capsys.readouterr().out
    assert "Source:" in text
    assert "energy:" in text


def test_derive_latex_and_solved():
    assert r"\ddot{\theta}_{1}" in dalembert("derive", "double-pendulum", "--latex")
    assert "λ₁" in dalembert("derive", "pendulum-cartesian", "--solved")


def test_run_saves_and_draws(tmp_path):
    file, picture = tmp_path / "run.nc", tmp_path / "run.png"
    text = dalembert(
        "run", "knife-edge", "--method", "midpoint", "--h", "0.01", "--until", "2", "--set", "m=2", "--set",
        "phi.dot=0.7", "--every", "2", "--save", str(file), "--plot", str(picture),
    )  # fmt: skip
    assert "kept to rounding" in text
    run = da.load(file)
    assert float(run.parameters["m"]) == 2
    assert run["phi.dot"][0] == pytest.approx(0.7)
    assert (run.h, run.every, run.time[-1]) == (0.01, 2, pytest.approx(2))
    assert picture.stat().st_size > 20_000


def test_a_report_shows_another_method_beside(tmp_path):
    page = tmp_path / "drift.html"
    words = ("run", "damped-spring", "--until", "2", "--beside", "rungekutta4")
    dalembert(*words, "--report", str(page))
    shown = page.read_text(encoding="utf-8")
    assert '"label":"Midpoint(), h = ' in shown and '"label":"RungeKutta4(), h = ' in shown
    assert dalembert(*words, fails=True).startswith("dalembert: --beside is for a report")


@pytest.mark.parametrize("name", da.gallery.names())
def test_every_gallery_system_runs_and_passes_its_audit(name):
    """With its defaults, for a tenth of its time, by the default method, or one for nonlinear constraints."""
    example = da.gallery.load(name)
    method = da.Midpoint() if da.Midpoint().takes(example.system) else da.GeometricNonholonomic()
    run = da.simulate(
        example.system, method, h=example.h, until=example.until / 10, start=example.start,
        parameters=example.parameters,
    )  # fmt: skip
    audit = da.audit(run, example.invariants)
    assert audit.ok, str(audit)


def test_help_teaches():
    text = dalembert("run", "--help")
    assert "Example: dalembert run double-pendulum" in " ".join(text.split())
    assert "Begin with: dalembert list" in " ".join(dalembert("--help").split())


def test_errors_are_sentences():
    text = dalembert("run", "pendulums", fails=True)
    assert text.startswith("dalembert: there is no gallery system 'pendulums'. The gallery has: harmonic-oscillator")
    assert "Traceback" not in text
    assert "The methods are: left-point, right-point, midpoint" in dalembert(
        "run", "pendulum", "--method", "euler", fails=True
    )


def test_output_that_nobody_reads_ends_the_command_silently():
    """`dalembert list | head -1`: the pipe is closed before the command has written."""
    for words in (["list"], ["derive", "pendulum"]):
        read, write = os.pipe()
        os.close(read)
        with os.fdopen(write, "wb") as closed:
            done = subprocess.run(
                [sys.executable, "-m", "dalembert.cli", *words], stdout=closed, stderr=subprocess.PIPE, check=False
            )
        assert (done.returncode, done.stderr) == (141, b"")
