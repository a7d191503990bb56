"""A reduced discrete system is a discrete system: lanes, continued runs, files, audit, tangents, flow and two stages."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import dalembert as da
from dalembert import cos, sin

x, y, s, phi = da.coordinates("x y s phi")
g, m, b, u, w, a = da.parameters("g m b u w a")
x0, x1, y0, y1 = x.at(0), x.at(1), y.at(0), y.at(1)
VALUES = {m: 1.3, b: 0.4}


@cache
def parabola():
    """E3 of digest 002 with a connection that makes reduced forces."""
    system = da.DiscreteSystem(
        "parabola", [x, y], lagrangian=m * ((x1 - x0) ** 2 + (y1 - y0) ** 2) / 2, variations=[y.dot - x * x.dot],
        constraints=[y1 - y0 - (x1**2 - x0**2) / 2],
    )  # fmt: skip
    shift = da.Symmetry({y: y + g}, elements=[g])
    connection = da.DiscreteConnection(shift, [x, y], horizontal=[y1 - y0 - b * (x1**2 - x0**2) / 2])
    return da.reduce(system, shift, connection=connection)


@cache
def swimmer():
    """A body in the plane with one joint, reduced by SE(2), without constraints: four variables, momenta conserved."""
    (p0, p1), (s0, s1) = (phi.at(0), phi.at(1)), (s.at(0), s.at(1))
    along = cos(p0) * (x1 - x0) + sin(p0) * (y1 - y0)
    across = -sin(p0) * (x1 - x0) + cos(p0) * (y1 - y0)
    L = along**2 + across**2 / 2 + (p1 - p0) ** 2 * (2 + cos(s0)) + (s1 - s0) ** 2 + (s1 - s0) * (p1 - p0) - s0**2 / 5
    system = da.DiscreteSystem("swimmer", [x, y, phi, s], lagrangian=L)
    moved = {x: x * cos(a) - y * sin(a) + u, y: x * sin(a) + y * cos(a) + w, phi: phi + a}
    return da.reduce(system, da.Symmetry(moved, elements=[u, w, a]))


def start(second):
    second = np.asarray(second)
    return {x0: 0.5, y0: 0.2, x1: second, y1: 0.2 + (second**2 - 0.25) / 2}


def run_of(reduced, begin, steps, values=VALUES, **options):
    return da.simulate(reduced, h=1, steps=steps, start=begin, parameters=values, **options)


SWIM = {x0: 0, y0: 0, x1: 0.05, y1: 0.02, phi.at(0): 0.3, phi.at(1): 0.34, s.at(0): 0.2, s.at(1): 0.17}


def test_lanes_have_the_bits_of_single_runs_and_are_reconstructed():
    lanes = run_of(parabola(), start([0.6, 0.58]), 12)
    back = parabola().reconstruct(lanes, {x: 0.5, y: 0.2})
    for k, second in enumerate((0.6, 0.58)):
        alone = run_of(parabola(), start(second), 12)
        assert np.array_equal(lanes.records[k], alone.records[0])
        assert np.array_equal(back[y][k], parabola().reconstruct(alone, {x: 0.5, y: 0.2})[y])


def test_files_and_continued_runs_have_the_bits_of_one_run(tmp_path):
    whole = run_of(parabola(), start(0.6), 12)
    run_of(parabola(), start(0.6), 5).save(tmp_path / "run.nc")
    loaded = da.load(tmp_path / "run.nc")
    assert loaded.system == parabola().system
    more = run_of(parabola(), loaded, 7)
    assert np.array_equal(more.records[:, -1], whole.records[:, -1])
    back = parabola().reconstruct(loaded, {x: 0.5, y: 0.2})
    assert back[y] == pytest.approx(0.2 + (loaded.x**2 - 0.25) / 2, abs=1e-14)


def test_audits_hold():
    for reduced, begin, values in ((parabola(), start(0.6), VALUES), (swimmer(), SWIM, {})):
        report = da.audit(run_of(reduced, begin, 40, values))
        assert report.ok, str(report)


def test_tangents_are_derivatives_of_the_reduced_motion():
    """Against central differences of starts of the original, in the shape after four steps."""
    reduced, e = swimmer(), 1e-5
    run = run_of(reduced, SWIM, 4, {})
    T = da.tangents(run)
    moved = [run_of(reduced, {**SWIM, s.at(1): SWIM[s.at(1)] + d}, 4, {}) for d in (e, -e)]
    states = [np.stack([r[q] for q in T.symbols], axis=-1) for r in moved]
    direction, expected = ((states[0][k] - states[1][k]) / (2 * e) for k in (1, -1))
    found = T.intervals[3] @ T.intervals[2] @ T.intervals[1] @ direction
    assert found == pytest.approx(expected, abs=1e-8)
    assert np.abs(expected).max() > 0.1


def test_two_stages_are_one_reduction():
    """Translations of the plane first, then the turn: shapes, and positions after both reconstructions."""
    c = da.parameters("c")
    whole = swimmer()
    plane = da.Symmetry({x: x + u, y: y + w}, elements=[u, w])
    first = da.reduce(whole.original, plane)
    run = run_of(first, SWIM, 8, {})
    direct = run_of(whole, SWIM, 8, {})
    at = {x: 0, y: 0, phi: 0.3, s: 0.2}
    one, two = first.reconstruct(run, at), whole.reconstruct(direct, at)
    assert all(np.abs(one[q] - two[q]).max() < 1e-11 for q in at)
    momenta = first.group_variables
    turned = {
        momenta[0]: momenta[0] * cos(c) - momenta[1] * sin(c),
        momenta[1]: momenta[0] * sin(c) + momenta[1] * cos(c),
    }
    second = da.reduce(first.system, da.Symmetry({**turned, phi: phi + c}, elements=[c]), lift={})
    begin = first.start(SWIM)
    again = run_of(second, begin, 8, {})
    back = second.reconstruct(again, {q: begin[q.at(0)] for q in first.system.coordinates})
    assert np.abs(back[phi] - run[phi]).max() < 1e-11 and np.abs(back[s] - run[s]).max() < 1e-11


def test_a_start_of_position_and_velocity():
    """That of the system: its method, the discrete system and the reduced one make the same motion of it."""
    x, y, theta, phi = da.coordinates("x y theta phi")
    disk = da.System(
        "disk", [x, y, theta, phi], kinetic=(x.dot**2 + y.dot**2 + theta.dot**2 + phi.dot**2) / 2,
        constraints=[x.dot - cos(phi) * theta.dot, y.dot - sin(phi) * theta.dot],
    )  # fmt: skip
    u, w = da.parameters("u w")
    steps = da.discretise(disk, da.midpoint_map)
    small = da.reduce(steps, da.Symmetry({x: x + u, y: y + w}, elements=[u, w]))
    start = {x: 0.1, y: 0.2, theta: 0, phi: 0.4, theta.dot: [1, 2], phi.dot: 0.5}
    whole = da.simulate(disk, da.Midpoint(), h=0.1, steps=20, start=start)
    assert np.array_equal(da.simulate(steps, h=0.1, steps=20, start=start).x, whole.x)
    run = da.simulate(small, h=0.1, steps=20, start=start)
    assert np.abs(run.theta - whole.theta).max() < 1e-13
    back = small.reconstruct(run, {c: [start[c], start[c]] for c in (x, y, theta, phi)})
    direct = da.simulate(steps, h=0.1, steps=20, start=start)
    assert back.system == steps and back.lanes == 2 and back.columns == direct.columns
    inner = (
        back.records[:, 1:-1] - direct.records[:, 1:-1]
    )  # where a motion begins the impulse of the reaction is not known
    assert np.abs(inner).max() < 1e-12 and np.abs(back.records[:, -1, :8] - direct.records[:, -1, :8]).max() < 1e-12
    assert np.abs(direct.multipliers[:, 1:-1]).min() > 1e-3
    assert all(row.verdict.startswith("kept") for row in da.audit(back).rows)
    with pytest.raises(da.StartError, match="Start from a state"):
        da.simulate(steps, h=0.1, steps=30, start=back)
    with pytest.raises(da.StartError, match=r"no position for x, y; no value for x.dot, y.dot"):
        da.simulate(small, h=0.1, steps=1, start={theta: 0, phi: 0.4, theta.dot: 1, phi.dot: 0.5})


def test_scalings_have_a_section_at_one():
    """The affine group of a half plane, whose orbits do not meet zero: reduced and reconstructed is unreduced."""
    k = da.parameters("k")
    both = {x: k * x + u, y: k * y}
    speed = (x.dot**2 + y.dot**2 + x.dot * y.dot * cos(s) / 2) / (2 * y**2) + s.dot * x.dot / (3 * y) + s.dot**2 / 2
    discrete = da.discretise(da.System("half plane", [x, y, s], kinetic=speed, potential=s**2), da.midpoint_map)
    reduced = da.reduce(discrete, da.Symmetry(both, elements=[k, u]))
    assert reduced.kind == "general" and reduced.bundle.section == {x: 1, y: 1, s: s}
    begin = {x: 0.3, y: 1.2, s: 0.4, x.dot: 0.3, y.dot: -0.2, s.dot: 0.5}
    whole, run = (da.simulate(d, h=0.02, steps=200, start=begin) for d in (discrete, reduced))
    back = reduced.reconstruct(run, {c: begin[c] for c in (x, y, s)})
    assert all(np.abs(back[c] - whole[c]).max() < 1e-12 for c in (x, y, s)) and np.ptp(whole.y) > 0.1
    with pytest.raises(da.ModelError, match="L_d is not invariant under the direction of k"):
        da.reduce(discrete, da.Symmetry({x: k**2 * x + u, y: k * y}, elements=[k, u]))


def test_powers_are_invariant_where_they_have_values():
    """log(log(x)) is real beyond 1 only, where no random point may lie; a term in y is refused."""
    k = da.parameters("k")
    group = da.Symmetry({x: x**k}, elements=[k])
    away = da.DiscreteConnection(group, [x, y], trivial={}, section={x: 2})
    inner = [da.log(da.log(c)) for c in (x0, x1)]
    for shift, invariant in ((0, True), (y0**2, False)):
        lagrangian = (inner[1] - inner[0]) ** 2 + (y1 - y0) ** 2 + shift * inner[0]
        system = da.DiscreteSystem("powers", [x, y], lagrangian=lagrangian)
        if not invariant:
            with pytest.raises(da.ModelError, match="L_d is not invariant"):
                da.reduce(system, group, connection=away)
            continue
        reduced = da.reduce(system, group, connection=away)
        begin = {x0: 3.0, x1: 3.1, y0: 0, y1: 0.1}
        back = reduced.reconstruct(da.simulate(reduced, h=1, steps=5, start=begin), {x: 3.0, y: 0})
        assert np.abs(back[x] - da.simulate(system, h=1, steps=5, start=begin)[x]).max() < 1e-12
