"""Draws the pictures of the documentation.

python docs/make_pictures.py
"""

from __future__ import annotations

from pathlib import Path

import dalembert as da

PICTURES = Path(__file__).with_name("pictures")


def sleigh() -> None:
    """The Chaplygin sleigh turns round: a figure of a run."""
    example = da.gallery.load("chaplygin-sleigh")
    run = da.simulate(
        example.system, da.Midpoint(), h=0.01, until=20, start=example.start, parameters=example.parameters
    )
    run.plot(PICTURES / "chaplygin-sleigh.png")


def snakeboard() -> None:
    """The film of the README: a snakeboard moves forward by turning its rotor and its wheels."""
    example = da.gallery.load("snakeboard")
    run = da.simulate(
        example.system, da.Midpoint(), h=0.02, until=8, start=example.start, parameters=example.parameters
    )
    run.animate(PICTURES / "snakeboard.gif", seconds=5)


if __name__ == "__main__":
    sleigh()
    snakeboard()
