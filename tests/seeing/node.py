"""The part of the player that computes, run by Node: the same functions that a page has, without a page."""

from __future__ import annotations

import json
import shutil
import subprocess

import numpy as np
import pytest

from dalembert.draw.player_page import data_of, film_of, source

needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="Node is not installed")

SCRIPT = """
const data = readData(JSON.parse(require("fs").readFileSync(0, "utf8")));
const {asked, drawn} = data.test;
(async () => {
  if (drawn) {
    const reader = new Reader(data, new Tape(data.tape)), run = data.runs[0];
    const rows = [...run.time].map(t => [...reader.at(run, run.lanes[drawn.lane], t)]);
    process.stdout.write(JSON.stringify({rows, stored: run.lanes[drawn.lane].stored.map(c => [...c])}));
    return;
  }
  const live = await Live.load(data), t = data.live, start = t.start;
  const motion = live.motion({method: asked.method, q: start.q, v: start.v, S: start.S, m: start.m, t: t.t0, h: t.h,
    parameters: t.parameters.map(p => p.value), every: asked.every, steps: asked.steps, ...asked.changed});
  const width = t.methods[asked.method].width;
  process.stdout.write(JSON.stringify({records: [...motion.records], width, code: motion.code,
    columns: Object.fromEntries(data.columns.map((name, i) => [name, [...motion.lanes[0].values[i]]])),
    quantities: motion.lanes[0].stored.map(c => [...c])}));
})().catch(error => { console.error(error); process.exit(1); });
"""


def answer(data):
    """What the script prints for some data."""
    code = "".join(source(f"{name}.js") for name in ("data", "live")) + SCRIPT
    done = subprocess.run(
        ["node", "-e", code], input=json.dumps(data), capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def computed(run, steps, methods=(), method=0, every=1, **changed):
    """The motion of a run as a page computes it: records, columns, quantities."""
    data = data_of(film_of(run, frames=2), True, methods)
    assert "live" in data, data.get("notes")
    found = answer(data | {"test": {"asked": {"method": method, "steps": steps, "every": every, "changed": changed}}})
    found["records"] = np.array(found["records"], dtype=float).reshape(-1, found["width"])
    return found


def drawn(run, lane=0, graph=(), frames=None):
    """The numbers of the scene at all frames, and the stored quantities, as a page computes them."""
    film = film_of(run, graph=graph, frames=frames)
    found = answer(data_of(film, False) | {"test": {"drawn": {"lane": lane}}})
    return np.array(found["rows"], dtype=float), [np.array(c, dtype=float) for c in found["stored"]], film
