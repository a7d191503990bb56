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


@pytest.mark.parametrize("name", da.gallery.names())
def test_every_gallery_system_runs_and_passes_its_audit(name):
    """With its defaults, for a tenth of its time, by the default method."""
    example = da.gallery.load(name)
    run = da.simulate(
        example.system, da.Midpoint(), h=example.h, until=example.until / 10, start=example.start,
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
