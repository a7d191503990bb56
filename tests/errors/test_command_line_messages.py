"""Errors on the command line: one sentence on stderr, exit status 1, nothing else; word for word."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

import dalembert as da
from dalembert import cli
from dalembert.methods import REGISTRY

GALLERY = ", ".join(da.gallery.names())
METHODS = ", ".join(re.sub("(?<!^)([A-Z])", r"-\1", name).lower() for name in REGISTRY)
SETTINGS = "m, l, g, theta, theta.dot"

CASES = {
    "an unknown system": (
        "run pendulums",
        f"there is no gallery system 'pendulums'. The gallery has: {GALLERY}.",
    ),
    "an unknown system to derive": (
        "derive pendulums",
        f"there is no gallery system 'pendulums'. The gallery has: {GALLERY}.",
    ),
    "an unknown method": (
        "run pendulum --method euler",
        f"there is no method 'euler'. The methods are: {METHODS}.",
    ),
    "a setting without a value": (
        "run pendulum --set m",
        f"--set m: write name=value, where name is one of {SETTINGS}.",
    ),
    "a setting of an unknown name": (
        "run pendulum --set mass=1",
        f"--set mass=1: write name=value, where name is one of {SETTINGS}.",
    ),
    "a setting that is no number": ("run pendulum --set m=heavy", "--set m=heavy: 'heavy' is not a number."),
    "a step backward": (
        "run pendulum --h -0.1",
        "h = -0.1: the step is a positive number. One step backward is flow(..., backward=True).",
    ),
    "an end before the start": (
        "run pendulum --until -1",
        "until = -1.0 lies before the start at t = 0. Give a later time, or another start time.",
    ),
    "every 0 steps": (
        "run pendulum --every 0",
        "every = 0: record every so many steps; give a whole number from 1.",
    ),
    "a method that does not apply": (
        "run rolling-disk --method stormer-verlet",
        "StormerVerlet does not apply to 'vertical rolling disk': it has constraints, and the explicit step cannot "
        "satisfy them. Use Midpoint() or GeometricNonholonomic().",
    ),
    "a start off the constraint": (
        "run pendulum-cartesian --set l=2",
        "start: the position violates -l**2 + x**2 + y**2 = 0: its value is -3. Correct the position; one step towards "
        "the constraint gives {x: 1.5, y: -2}.",
    ),
}


def test_methods_are_named_as_they_are_typed():
    assert METHODS.startswith("left-point, right-point, midpoint, trapezoidal, stormer-verlet, ")


@pytest.mark.parametrize(("typed", "sentence"), CASES.values(), ids=CASES)
def test_one_sentence(typed, sentence, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["dalembert", *typed.split()])
    with pytest.raises(SystemExit) as left:
        cli.main()
    out, err = capsys.readouterr()
    assert left.value.code == 1
    assert err == f"dalembert: {sentence}\n"
    assert out == ""


def test_a_process_of_its_own_prints_no_traceback():
    done = subprocess.run(
        [sys.executable, "-m", "dalembert.cli", "run", "pendulum", "--method", "euler"],
        capture_output=True, text=True, check=False, env=os.environ,
    )  # fmt: skip
    assert done.returncode == 1
    assert done.stderr == f"dalembert: {CASES['an unknown method'][1]}\n"
    assert done.stdout == ""


def test_what_was_computed_before_a_failure_is_audited_and_the_failure_told(monkeypatch, capsys):
    words = "run kepler --set x=0 --set y=0 --method runge-kutta4 --until 0.1"
    monkeypatch.setattr(sys, "argv", ["dalembert", *words.split()])
    with pytest.raises(SystemExit) as left:
        cli.main()
    out, err = capsys.readouterr()
    assert left.value.code == 1
    assert "energy" in out
    assert err.splitlines()[-1] == (
        "dalembert: Kepler problem: step 1 from t = 0: left the domain: an expression has no value there (a root, a "
        "logarithm, a division by zero). Try a smaller h; if it fails at the same time, the motion runs into a singularity "
        "there. Everything before is in the `trajectory` of this error; strict=False returns it instead."
    )
