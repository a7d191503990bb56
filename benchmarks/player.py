"""The player with a thousand objects: what the page itself does in a frame, in a headless Chromium.

A sixtieth of a second is 16.7 ms. The script's part of it is measured here, from the time of the frame to the last command for
the renderer; draw calls are counted and not carried out, since on a machine without graphics hardware software would draw
them, in the same cores. Corners and draw calls are what the graphics of a laptop have to do besides.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from common import Table, judge
from sympy import Rational, cos, sin

import dalembert as da
from dalembert import scene

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.seeing.browser import Browser, executable

COUNT, FRAMES, TARGET = 1000, 60, 8.0
"""Objects; frames measured; milliseconds: half of a frame."""

PLAYER = "document.querySelector('.dalembert-player').player"
FRAME = """(p => {
  const times = [], [a, b] = p.span;
  let calls = 0, corners = 0;
  p.painter.gl.drawArraysInstanced = (mode, first, count, n) => { calls++; corners += count * n; };
  for (let i = 0; i < FRAMES; i++) {
    p.now = a + (b - a) * i / FRAMES;
    const begun = performance.now();
    p.refresh();
    times.push(performance.now() - begun);
  }
  delete p.painter.gl.drawArraysInstanced;
  times.sort((x, y) => x - y);
  const [least, middle] = [times[0], times[times.length >> 1]];
  return {least, middle, calls: calls / FRAMES, corners: corners / FRAMES, instances: p.objects};
})""".replace("FRAMES", str(FRAMES))

Place = list[Any]
KINDS: dict[str, Callable[[Place, Place, Any], Any]] = {
    "points": lambda at, moving, turn: scene.Point(moving),
    "rods": lambda at, moving, turn: scene.Rod(at, moving),
    "spheres that turn": lambda at, moving, turn: scene.Sphere(moving, Rational(1, 4), turn),
    "discs that turn": lambda at, moving, turn: scene.Disc(moving, Rational(1, 4), turn),
    "wheels that turn": lambda at, moving, turn: scene.Wheel(moving, Rational(1, 4), turn),
    "boxes": lambda at, moving, turn: scene.Box(moving, [Rational(2, 5)] * 3),
    "springs": lambda at, moving, turn: scene.Spring(at, moving, coils=4),
}


def motion(kind: str) -> da.Trajectory:
    """A thousand objects of a kind, all of which move in space."""
    theta = da.coordinates("theta")
    items = []
    for i in range(COUNT):
        x, y = i % 40, i // 40
        items.append(KINDS[kind]([x, y, 0], [x, y + sin(theta + i) / 3, cos(theta + i) / 3], theta))
    many = da.System(f"a thousand {kind}", [theta], kinetic=theta.dot**2 / 2, scene=items)
    return da.simulate(many, da.Midpoint(), h=0.01, steps=400, start={theta: 0.0, theta.dot: 1.0})


def measure() -> list[Table]:
    header = ["objects", "file", "drawn", "draw calls", "corners", "script, least", "middle", "target", "met"]
    title = "The player: 1,000 objects in a frame"
    if executable() is None:
        return [Table(title, header, [["no Chromium", *["-"] * 8]])]
    rows, browser = [], Browser()
    with tempfile.TemporaryDirectory() as folder:
        for kind in KINDS:
            page = motion(kind).animate(Path(folder) / "many.html", live=False)
            browser.open(page)
            browser.run(f"{PLAYER}.setPlaying(false)")
            found = browser.run(f"{FRAME}({PLAYER})")
            rows.append([
                kind, f"{page.stat().st_size / 1e3:.0f} kB", f"{found['instances']:,}", str(found["calls"]),
                f"{found['corners'] / 1e6:.2f} million", f"{found['least']:.1f} ms", f"{found['middle']:.1f} ms",
                f"{TARGET:.0f} ms", judge(found["least"], TARGET),
            ])  # fmt: skip
    browser.close()
    notes = (
        f"Milliseconds of the page's own script for one of {FRAMES} frames, in a headless Chromium: state, expressions of the "
        "scene, instances, graphs, commands for WebGL. A frame of 60 in a second has 16.7 ms.",
        "The middle contains what other processes of the machine take; the least is nearest to an idle machine.",
        "Draw calls are counted and not carried out: what the graphics do with the corners is not measured.",
    )
    return [Table(title, header, rows, notes)]


if __name__ == "__main__":
    for table in measure():
        print(table)
