"""Writes docs/long-rotations.md: ten million steps on groups, nothing projected; how far points and momenta are off."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import dalembert as da

STEPS, RECORDS, H = 10_000_000, 1000, 0.02
ULP = float(np.finfo(float).eps)


def top(retraction: str) -> tuple[Any, dict[Any, Any], Any]:
    """A symmetric heavy top; its momentum about the vertical and its own axis."""
    R = da.rotation("R", retraction)
    w = R.omega
    system = da.System("heavy top", [R], kinetic=(w[0] ** 2 + w[1] ** 2 + w[2] ** 2 / 2) / 2, potential=3 * R[2, 2])
    start = {R: da.groups.SO3.exp([0.4, 0.0, 0.0]), R.omega: (0.1, 0.2, 10.0)}
    return system, start, lambda run: [np.einsum("tj,tj->t", run[R][:, 2], run[R.momentum]), run[R.momentum][:, 2]]


def body_on_spring(retraction: str) -> tuple[Any, dict[Any, Any], Any]:
    """A body in space, drawn to the origin by a spring at its centre; its angular momentum about the origin."""
    P = da.pose("P", retraction)
    w, v = P.omega, P.velocity
    kinetic = sum((k + 1) * x**2 for k, x in enumerate(w)) / 2 + sum(x**2 for x in v)
    start = {P: da.groups.SE3.exp([0, 0, 0, 1, 0, 0]), P.omega: (0.4, 1.0, 0.2), P.velocity: (0.1, 0.5, 0.3)}
    system = da.System("body on a spring", [P], kinetic=kinetic, potential=sum(P[i, 3] ** 2 for i in range(3)) / 2)

    def momenta(run: Any) -> list[Any]:
        spin, p = (np.einsum("tij,tj->ti", run[P][:, :3, :3], run[x]) for x in (P.angular_momentum, P.momentum))
        return list((spin + np.cross(run[P][:, :3, 3], p)).T)

    return system, start, momenta


def pendulum(retraction: str) -> tuple[Any, dict[Any, Any], Any]:
    """A spherical pendulum; its angular momentum about the vertical."""
    n = da.direction("n", retraction)
    system = da.System("pendulum", [n], kinetic=(n.omega[0] ** 2 + n.omega[1] ** 2) / 2, potential=n[2])
    start = {n: (0.6, 0.0, -0.8), n.velocity: (0.0, 0.7, 0.0)}
    return system, start, lambda run: [np.cross(run[n], run[n.momentum])[:, 2]]


def off(run: Any) -> float:
    """How far the points are from the group: R^T R from 1, or the length from 1."""
    (q,) = run.system.factors
    points = run[q]
    if points.ndim == 2:
        return float(np.abs(np.linalg.norm(points, axis=-1) - 1).max())
    turn = points[:, :3, :3]
    return float(np.abs(np.einsum("tij,tik->tjk", turn, turn) - np.eye(3)).max())


def rows() -> list[str]:
    found = []
    for make in (top, body_on_spring, pendulum):
        for retraction in ("cayley", "exp"):
            system, start, momenta = make(retraction)
            run = da.simulate(system, da.Midpoint(), h=H, steps=STEPS, every=STEPS // RECORDS, start=start)
            scale = max(np.abs(p).max() for p in momenta(run))
            drift = max(np.abs(p - p[0]).max() for p in momenta(run)) / scale
            energy = np.ptp(run.energy) / np.abs(run.energy).max()
            told = (
                f"| {system.name} | {retraction} | {off(run):.1e} | {drift:.1e} | {drift / ULP / np.sqrt(STEPS):.2f} |"
            )
            found.append(f"{told} {energy:.1e} |")
            print(found[-1], flush=True)
    return found


PAGE = """# Ten million steps on groups

`Midpoint()` with h = {h}, {steps:,} steps, nothing projected or normalised. Written by `docs/make_long_rotations.py`,
which `make verify` runs. Off the group: the largest entry of R^T R - 1, or |n| - 1, at {records} nodes. Momenta: the largest
change of those that are conserved, relative to the largest of them, and in units of the last place times the root of the
number of steps, by which rounding errors without a bias grow.

| motion | retraction | off the group | momenta | in units of rounding | energy, spread |
|---|---|---|---|---|---|
{rows}
"""


def main() -> None:
    page = PAGE.format(h=H, steps=STEPS, records=RECORDS, rows="\n".join(rows()))
    (Path(__file__).parent / "long-rotations.md").write_text(page)


if __name__ == "__main__":
    main()
