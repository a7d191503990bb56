"""Sections of motions: located to the order of the method, in all lanes, at Henon and Heiles' energies."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as da
from dalembert import cos, sin

x, y = da.coordinates("x y")
m, k, lam, g, l = da.parameters("m k lam g l", positive=True)

STAR = da.System(
    "Henon and Heiles' star",
    [x, y],
    kinetic=m * (x.dot**2 + y.dot**2) / 2,
    potential=k * (x**2 + y**2) / 2 + lam * (x**2 * y - y**3 / 3),
)


def stars(energy, heights, slopes=0.0, method=None, until=400.0, h=0.1, every=1, length=1.0, second=1.0):
    """Motions through x = 0 at these heights and slopes; in other units of length and time if these are given."""
    heights, slopes = np.broadcast_arrays(np.asarray(heights, float), slopes)
    speeds = np.sqrt(2 * energy - slopes**2 - heights**2 + 2 * heights**3 / 3)
    return da.simulate(
        STAR, method or da.Gauss(3), h=h * second, until=until * second, every=every,
        start={x: 0 * heights, y: heights * length, x.dot: speeds * length / second, y.dot: slopes * length / second},
        parameters={m: 1, k: second**-2, lam: second**-2 / length},
    )  # fmt: skip


@pytest.mark.parametrize(("method", "order"), [(da.Midpoint(), 2), (da.Gauss(2), 4), (da.RungeKutta4(), 4)], ids=repr)
def test_crossings_have_the_order_of_the_method(method, order):
    """The third crossing of a nonlinear motion against a far smaller step of order 8; straight lines have order 2."""
    pendulum = da.System("pendulum", [x], lagrangian=x.dot**2 / 2 + cos(x))
    given = {"until": 20, "start": {x: 1.5, x.dot: 0}}
    exact = da.poincare(da.simulate(pendulum, da.Gauss(4), h=0.01, **given), x.dot + x / 3).time[2]
    steps = np.array([0.1, 0.05, 0.025])
    runs = [da.simulate(pendulum, method, h=h, **given) for h in steps]
    errors = np.abs([da.poincare(run, x.dot + x / 3).time[2] - exact for run in runs])
    assert abs(np.polyfit(np.log(steps), np.log(errors), 1)[0] - order) < 0.3

    def by_lines(run):
        value = run[x.dot] + run[x] / 3
        (at,) = np.nonzero((value[:-1] < 0) & (value[1:] >= 0))
        return run.time[at[2]] + run.h * value[at[2]] / (value[at[2]] - value[at[2] + 1])

    lines = np.abs([by_lines(run) - exact for run in runs])
    if order > 2:
        assert lines[-1] > 20 * errors[-1]  # the control: straight lines between nodes


def test_crossings_are_those_of_events():
    heights = np.linspace(-0.2, 0.3, 4)
    run = stars(1 / 12, heights, until=60.0)
    section = da.poincare(run, x, direction=1)
    speeds = np.sqrt(1 / 6 - heights**2 + 2 * heights**3 / 3)
    watched = da.simulate(
        STAR, da.Gauss(3), h=0.1, until=60, events=[da.Event(x, direction=1)],
        start={x: 0 * heights, y: heights, x.dot: speeds, y.dot: 0 * heights}, parameters={m: 1, k: 1, lam: 1},
    )  # fmt: skip
    assert list(section.lane) == [c.lane for c in watched.events]
    assert np.allclose(section.time, [c.time for c in watched.events], rtol=0, atol=1e-12)
    assert np.allclose(section[y], [c.positions["y"] for c in watched.events], rtol=0, atol=1e-12)
    assert np.abs(section[x]).max() < 1e-14
    both = da.poincare(run, x, direction=0)
    assert len(both) == len(section) + len(da.poincare(run, x, direction=-1))


def test_records_may_be_several_steps_apart():
    fine, coarse = (da.poincare(stars(1 / 8, [0.1, -0.1], until=100.0, every=n), x) for n in (1, 5))
    assert len(fine) == len(coarse) > 20
    assert np.abs(fine.time - coarse.time).max() < 1e-10
    assert np.abs(fine[y.dot] - coarse[y.dot]).max() < 1e-10


def test_a_section_is_a_start():
    section = da.poincare(stars(1 / 12, 0.1), x)
    again = da.simulate(
        STAR, da.Gauss(3), h=0.1, until=section.time[3] + 30, start=section.start(3), parameters={m: 1, k: 1, lam: 1}
    )
    later = da.poincare(again, x)
    assert np.abs(later.time[:3] - section.time[4:7]).max() < 1e-6
    assert len(section.of_lane(0)) == len(section)
    assert "rises through 0" in str(section)


def test_sections_at_henon_and_heiles_energies():
    """Henon and Heiles, Astron. J. 69 (1964) 73: at E = 1/12 all motions lie on curves of the section, at 1/8 some fill areas,
    at 1/6 nearly all.

    Told apart by twins: two starts 1e-9 apart separate like time on curves, exponentially in areas.
    """
    share = []
    for energy in (1 / 12, 1 / 8, 1 / 6):
        draws = np.random.default_rng(1964)
        heights, slopes = draws.uniform(-0.35, 0.45, 400), draws.uniform(-0.4, 0.4, 400)
        inside = 2 * energy - slopes**2 - heights**2 + 2 * heights**3 / 3 > 0
        heights, slopes = heights[inside][:60], slopes[inside][:60]
        twins = stars(energy, np.r_[heights, heights + 1e-9], np.r_[slopes, slopes], until=600.0, h=0.2)
        section = da.poincare(twins, x)
        sections = [section.of_lane(i) for i in range(2 * len(heights))]
        apart = []
        for one, other in zip(sections[: len(heights)], sections[len(heights) :], strict=True):
            count = min(len(one), len(other))
            apart.append(
                np.hypot(one[y][:count] - other[y][:count], one[y.dot][:count] - other[y.dot][:count])[-5:].max()
            )
        share.append(np.mean(np.array(apart) > 1e-5))
    assert share[0] == 0
    assert 0.2 < share[1] < 0.8
    assert share[2] > 0.9


def test_sections_do_not_depend_on_units():
    plain, other = (
        da.poincare(stars(1 / 12, 0.1, until=60.0, length=a, second=b), x) for a, b in ((1, 1), (1e-9, 1e6))
    )
    assert np.allclose(other.time / 1e6, plain.time, rtol=1e-12)
    assert np.allclose(other[y] / 1e-9, plain[y], rtol=1e-9)


def test_a_strobe_of_a_forced_system():
    forced = da.System("forced", [x], lagrangian=x.dot**2 / 2 + cos(x), forces={x: -x.dot / 2 + cos(2 * da.time / 3)})
    run = da.simulate(forced, da.Midpoint(), h=0.05, until=100, start={x: 0.2, x.dot: 0})
    section = da.poincare(run, sin(2 * da.time / 3))
    assert np.abs(section.time / (3 * np.pi) - np.arange(1, len(section) + 1)).max() < 1e-12


def test_sections_under_constraints_and_on_groups():
    rod = da.System(
        "rod", [x, y], kinetic=m * (x.dot**2 + y.dot**2) / 2, potential=m * g * y, constraints=[x**2 + y**2 - l**2]
    )
    run = da.simulate(
        rod, da.Rattle(), h=0.01, until=6, start={x: 0.6, y: -0.8, x.dot: 0}, parameters={m: 1, g: 9.81, l: 1}
    )
    section = da.poincare(run, x)
    assert np.abs(section[x]).max() < 1e-14
    assert np.abs(section[x**2 + y**2] - 1).max() < 1e-13
    assert np.abs(section.run.energy[0] - section[m * (x.dot**2 + y.dot**2) / 2 + m * g * y]).max() < 1e-3
    R = da.rotation("R")
    top = da.System(
        "top", [R], kinetic=(R.omega[0] ** 2 + R.omega[1] ** 2 + R.omega[2] ** 2 / 2) / 2, potential=3 * R[2, 2]
    )
    tilted = [[1, 0, 0], [0, 0.8, -0.6], [0, 0.6, 0.8]]
    spin = da.simulate(top, da.Midpoint(), h=0.01, until=10, start={R: tilted, R.omega: (0, 0, 10)})
    turned = da.poincare(spin, R[0, 2], direction=0)
    assert len(turned) > 1
    assert "R.omega" in str(turned)
    assert np.abs(turned[R[0, 2]]).max() < 1e-13


def test_what_has_no_section_is_refused():
    run = stars(1 / 12, 0.1, until=10.0)
    with pytest.raises(da.ModelError, match=r"poincare: direction = 2. Expected 1 \(rises\)"):
        da.poincare(run, x, direction=2)
    with pytest.raises(da.ModelError, match="constant, so nothing crosses it"):
        da.poincare(run, m)
    with pytest.raises(da.ModelError, match="Expected a run: poincare"):
        da.poincare(STAR, x)
    with pytest.raises(da.MethodError, match="adaptive"):
        da.poincare(stars(1 / 12, 0.1, method=da.Reference(), until=5.0), x)
    discrete = da.discretise(STAR, da.midpoint_map)
    start = {x.at(0): 0, x.at(1): 0.01, y.at(0): 0.1, y.at(1): 0.1}
    with pytest.raises(da.ModelError, match="is a discrete system"):
        da.poincare(da.simulate(discrete, h=0.1, steps=5, start=start, parameters={m: 1, k: 1, lam: 1}), x)
    with pytest.raises(da.ModelError, match=r"g is not a parameter of .* Its parameters are: k, lam, m"):
        da.poincare(run, g * x)


def test_a_crossing_at_a_record_is_counted_once():
    """x = t - 1 is zero at a record, to the last bit; so is its negative."""
    free = da.System("free", [x], kinetic=x.dot**2 / 2)
    for side in (1, -1):
        run = da.simulate(free, da.Midpoint(), h=0.25, until=3, start={x: -side, x.dot: side})
        assert (run.x == 0).sum() == 1
        for direction in (side, 0):
            assert list(da.poincare(run, x, direction=direction).time) == [1.0]
        assert len(da.poincare(run, x, direction=-side).time) == 0


def test_crossings_are_on_the_constraints_where_the_nodes_have_drifted():
    rod = da.System("rod", [x, y], kinetic=(x.dot**2 + y.dot**2) / 2, potential=y, constraints=[x**2 + y**2 - 1])
    run = da.simulate(rod, da.RungeKutta4(), h=0.1, until=20, start={x: 1.0, y: 0.0, x.dot: 0.0, y.dot: 0.0})
    section = da.poincare(run, x, direction=0)
    assert len(section.time) > 3
    assert np.abs(section[x] ** 2 + section[y] ** 2 - 1).max() < 1e-13
    assert np.abs(run.x**2 + run.y**2 - 1).max() > 1e-6  # the control


@pytest.mark.parametrize("every", [1, 4])
def test_a_run_that_an_event_stopped_is_seen_up_to_it(every):
    """x = t - 1 stops at t = 1.1 within a step; x = 0.05 is crossed in that step, x = 0.15 is not."""
    free = da.System("free", [x], kinetic=x.dot**2 / 2)
    stop = da.Event(x - 0.1, action="stop")
    run = da.simulate(free, da.Midpoint(), h=0.25, until=3, every=every, start={x: -1, x.dot: 1}, events=[stop])
    assert run.time[-1] == pytest.approx(1.1)
    np.testing.assert_allclose(da.poincare(run, x - 0.05).time, [1.05], rtol=1e-14)
    np.testing.assert_allclose(da.poincare(run, x + 0.6).time, [0.4], rtol=1e-14)
    assert len(da.poincare(run, x - 0.15).time) == 0
