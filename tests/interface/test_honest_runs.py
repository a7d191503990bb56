"""Runs that failed, stopped or are short are told as what they are: in the audit, in the picture, in arrays and names."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import sympy

import dalembert as da
from dalembert import bodies as b
from dalembert import cos, sin, sqrt
from dalembert.analysis.motions.balances import balance
from dalembert.analysis.motions.deviations import grows_like_rounding
from dalembert.errors import ModelError, ModelWarning
from dalembert.run.extent import BECAUSE
from dalembert.theory.motion.energies import energy
from dalembert.theory.motion.lagrange import jacobi_integral

x, y, theta, phi = da.coordinates("x y theta phi")
m, k, g, R, Omega = da.parameters("m k g R Omega", positive=True)

ROOT = da.System("root", [x], kinetic=x.dot**2 / 2, potential=x - sqrt(x))
KEPLER = da.System("kepler", [x, y], kinetic=m * (x.dot**2 + y.dot**2) / 2, potential=-k / sqrt(x**2 + y**2))
HOOP = da.System(
    "hoop", [theta], kinetic=m * R**2 * (theta.dot**2 + Omega**2 * sin(theta) ** 2) / 2,
    potential=m * g * R * (1 - cos(theta)),
)  # fmt: skip
PENDULUM = da.System("pendulum", [theta], kinetic=theta.dot**2 / 2, potential=-cos(theta))


def fall(x0, v0, **more):
    return da.simulate(ROOT, da.Midpoint(), h=0.25, until=100, start={x: x0, x.dot: v0}, strict=False, **more)


def orbit(method, h, steps, **more):
    start = {x: 1, y: 0, x.dot: 0, y.dot: 1.1}
    return da.simulate(KEPLER, method, h=h, steps=steps, start=start, parameters={m: 1, k: 1}, **more)


def texts(figure):
    shown = [figure.get_suptitle(), *(t.get_text() for t in figure.texts)]
    return " ".join(" ".join(shown).split())


# -------------------- runs that failed --------------------


def test_a_run_that_failed_at_once_is_not_judged():
    run = fall(0.01, -5)
    report = da.audit(run)
    told = str(report)
    assert told.startswith(
        "no step was computed from t = 0 to 100: step 1 failed because an expression has no value there"
    )
    assert report["energy"].verdict == "no verdict without steps"
    assert "kept to rounding" not in told
    assert not report.ok
    assert da.audit(fall(0.3, -0.2)).ok  # control


def test_a_run_that_failed_later_is_judged_as_far_as_it_came():
    run = fall(1e-9, -5)
    last = int(run.codes[0, 1])
    report = da.audit(run)
    assert str(report).startswith(
        f"computed t = 0 to {0.25 * last:g} of 100: step {last + 1} failed because an expression has no value there\n"
        f"root, Midpoint(), h = 0.25, t = 0 to {0.25 * last:g}\n"
    )
    assert report["energy"].deviation > 0
    assert not report.ok


def test_every_way_to_fail_has_a_reason():
    ends = {da.Status.CONVERGED, da.Status.EVENT, da.Status.INTERRUPTED}
    assert set(BECAUSE) == set(da.Status) - ends


def test_lanes_are_counted():
    run = fall(np.array([1e-9, 0.3, 400, 0.01]), np.array([-5, -0.2, 1, -5.0]))
    told = str(da.audit(run))
    assert told.startswith("4 lanes: 3 failed, 1 complete. Lane 3: no step was computed from t = 0 to 100")
    assert "t = 0 to 100, worst of 4 lanes" in told
    assert da.audit(fall(np.array([0.01, 0.01]), -5))["energy"].verdict == "no verdict without steps"


def test_a_run_of_no_steps_is_not_judged():
    run = da.simulate(ROOT, da.Midpoint(), h=0.25, steps=0, start={x: 1, x.dot: 0})
    assert da.audit(run)["energy"].verdict == "no verdict without steps"
    assert "no steps were asked for" in texts(run.plot())
    long = da.simulate(ROOT, da.Midpoint(), h=0.01, steps=9, every=10, start={x: 1, x.dot: 0})  # one record only
    assert da.audit(long)["energy"].verdict == "no verdict without steps"
    discrete = da.simulate(
        da.discretise(PENDULUM, da.midpoint_map), h=0.1, steps=0, start={theta: 1, theta.momentum: 0}
    )
    assert not any("kept" in row.verdict for row in da.audit(discrete).rows)


def test_pictures_say_what_was_not_computed():
    none = fall(0.01, -5).plot()
    assert not none.axes
    assert "There is nothing to draw: no step was computed from t = 0 to 100" in texts(none)
    part = fall(1e-9, -5)
    figure = part.plot()
    assert "computed t = 0 to 12.5 of 100: step 51 failed because" in texts(figure)
    assert figure.axes[1].get_xlim()[1] < 20
    assert "failed" not in texts(fall(0.3, -0.2).plot())  # control
    lanes = fall(np.array([1e-9, 0.3]), np.array([-5, -0.2]))
    assert "2 lanes: 1 failed, 1 complete. Lane 0: computed t = 0 to 12.5 of 100" in texts(lanes.plot())


def test_the_message_of_a_failure_is_not_about_a_lane_that_an_event_stopped():
    stop = [da.Event(x - 0.29, "stop", name="enough")]
    with pytest.raises(
        da.SimulationError, match="1 of 2 lanes ended early; lane 1: step 1 from t = 0: left the domain"
    ):
        da.simulate(ROOT, da.Midpoint(), h=0.01, until=9, start={x: [0.3, 0.0001], x.dot: [-0.2, -5]}, events=stop)


# -------------------- runs that an event stopped --------------------


@pytest.mark.parametrize("every", [1, 7])
@pytest.mark.parametrize("method", [da.Midpoint(), da.Gauss(2), da.RungeKutta4()], ids=repr)
def test_a_run_that_an_event_stopped_ends_there(method, every, tmp_path):
    start = {theta: 1, theta.dot: 0}
    stop = [da.Event(theta + 0.5, "stop", name="there")]
    run = da.simulate(PENDULUM, method, h=0.01, until=9, every=every, start=start, events=stop)
    crossing = run.events[-1]
    assert run.time[-1] == crossing.time == run.end_times
    assert run.theta[-1] == pytest.approx(crossing.positions["theta"], rel=1e-14)
    assert run[theta.dot][-1] == pytest.approx(crossing.velocities["theta"], rel=1e-14)
    assert np.isfinite(run.theta).all()
    assert np.isfinite(run.energy).all()
    assert (np.diff(run.time) > 0).all()
    whole = da.simulate(PENDULUM, method, h=0.01, until=9, every=every, start=start)
    assert np.array_equal(run.at_nodes.records[0, :-1], whole.records[0, : len(run) - 2])
    assert len(run.at_nodes) == len(run) - 1
    read = da.load(run.save(tmp_path / "run.nc"))
    assert np.array_equal(read.time, run.time)
    assert read.at_nodes.time[-1] == run.at_nodes.time[-1]
    assert "stopped it" in str(da.audit(run))


def test_the_last_record_of_a_constrained_run_has_its_reaction():
    rod = da.System("rod", [x, y], kinetic=(x.dot**2 + y.dot**2) / 2, potential=9.81 * y, constraints=[x**2 + y**2 - 1])
    given = {"start": {x: 0.6, y: -0.8, x.dot: 0, y.dot: 0}, "events": [da.Event(x, "stop")]}
    run = da.simulate(rod, da.Midpoint(), h=0.001, until=3, **given)
    speed = run[x.dot][-1] ** 2
    assert abs(run.x[-1]) < 1e-12
    assert run.y[-1] == pytest.approx(-1, abs=1e-12)
    assert run.multipliers[-1, 0] == pytest.approx(-(9.81 + speed) / 2, rel=1e-9)
    assert speed == pytest.approx(2 * 9.81 * 0.2, rel=1e-4)


def test_lanes_that_stop_at_different_times():
    free = da.System("free", [x], kinetic=x.dot**2 / 2)
    speeds = np.array([1.0, 0.51, 3.0, 0.51])
    given = {"h": 0.1, "until": 9, "events": [da.Event(x - 1, "stop")]}
    run = da.simulate(free, da.Midpoint(), start={x: np.zeros(4), x.dot: speeds}, **given)
    assert run.end_times == pytest.approx(1 / speeds, rel=1e-14)
    assert run.time[-1] == run.end_times.max()
    assert run.x[[1, 3], -1] == pytest.approx([1, 1], rel=1e-14)
    assert np.isnan(run.x[[0, 2], -1]).all()
    for lane, last in enumerate(run.codes[:, 1]):
        assert np.isfinite(run.x[lane, : last + 1]).all()
        assert np.isnan(run.x[lane, last + 1 : -1]).all()
    going = da.simulate(free, da.Midpoint(), start={x: np.zeros(2), x.dot: np.array([1.0, 0.01])}, **given)
    assert going.time[-1] == pytest.approx(9)  # one lane is not stopped: the times are those asked for


def test_what_looks_at_steps_leaves_out_the_last_part_of_one():
    stop = {"events": [da.Event(theta + 0.5, "stop")], "start": {theta: 1, theta.dot: 0}}
    run = da.simulate(PENDULUM, da.Midpoint(), h=0.01, until=9, **stop)
    assert np.isfinite(da.contraction(run).tangent).all()
    assert not da.regularity(run).irregular
    assert len(balance(run).work) == len(run) - 2
    plane = da.System("plane", [theta, phi], kinetic=(theta.dot**2 + sin(theta) ** 2 * phi.dot**2) / 2)
    start = {theta: 1, phi: 0, theta.dot: -0.3, phi.dot: 0.5}
    given = {"h": 0.01, "until": 9, "events": [da.Event(theta - 1.2, "stop")]}
    whole, reduction = da.simulate(plane, da.Gauss(3), start=start, **given), da.routh(plane, [phi])
    values, begun = reduction.momenta_at(start, {}), {theta: 1, theta.dot: -0.3}
    short = da.simulate(reduction.system, da.Gauss(3), start=begun, parameters=values, **given)
    assert short.time[-1] == pytest.approx(whole.time[-1], rel=1e-9)
    assert reduction.reconstruct(short, {phi: 0})[phi] == pytest.approx(whole.phi, rel=1e-9)


# -------------------- kept to rounding --------------------


def test_a_truncation_error_is_not_rounding():
    """Energy of Gauss(3) over many steps: 5e-12 at one h, less at a smaller one; the angular momentum is kept."""
    report = da.audit(orbit(da.Gauss(3), 0.08, 100_000))
    assert 1e-12 < report["energy"].deviation < 1e-10
    assert report["energy"].verdict == "no drift"
    assert report["angular momentum in x, y"].verdict == "kept to rounding"
    longer = da.audit(orbit(da.Gauss(3), 0.06, 1_000_000, every=10), seconds=0)
    assert 1e-13 < longer["energy"].deviation < 1e-11
    assert longer["energy"].verdict == "no drift"


@pytest.mark.parametrize("size", [5e-12, 1e-12])
@pytest.mark.parametrize("period", [10, 1e3, 1e5])
def test_growth_tells_rounding_from_truncation(size, period):
    steps = np.arange(300_000)
    walk = np.cumsum(np.random.default_rng(1).choice([-1.0, 0, 1], len(steps))) * 2.0**-53
    assert grows_like_rounding(walk, 1)
    assert not grows_like_rounding(walk + size * np.sin(2 * math.pi * steps / period), 1)
    assert not grows_like_rounding(walk + size * steps / len(steps), 1)
    assert grows_like_rounding(walk[::7], 7)


@pytest.mark.parametrize("method", [da.Midpoint(), da.Gauss(3), da.StormerVerlet(), da.Lobatto(3)], ids=repr)
def test_what_is_conserved_exactly_is_kept_to_rounding(method):
    report = da.audit(orbit(method, 0.01, 30_000), {"spin": m * (x * y.dot - y * x.dot)}, seconds=0)
    assert report["spin"].verdict == "kept to rounding"
    assert report["spin"].deviation < 1e-14


def test_a_drift_of_a_constraint_is_not_rounding():
    """Held to rounding in every step, or drifting by 5e-12 in all: the control."""
    rod = da.System("rod", [x, y], kinetic=(x.dot**2 + y.dot**2) / 2, potential=9.81 * y, constraints=[x**2 + y**2 - 1])
    run = da.simulate(rod, da.Midpoint(), h=0.002, until=5, start={x: 0.6, y: -0.8, x.dot: 0, y.dot: 0})
    name = "x**2 + y**2 - 1 = 0"
    assert da.audit(run, seconds=0)[name].verdict == "kept to rounding"
    moved = replace(run, records=run.records.copy(), _cache={})
    moved.records[0, :, 1] -= 5e-12 * run.time / 5
    row = da.audit(moved, seconds=0)[name]
    assert 1e-12 < row.deviation < 1e-11
    assert row.verdict == f"kept within {row.deviation:.1e}"


# -------------------- energy --------------------


def test_energy_is_one_thing():
    given = {"start": {theta: 1, theta.dot: 0}, "parameters": {m: 1, g: 9.81, R: 1, Omega: 2}}
    run = da.simulate(HOOP, da.Midpoint(), h=0.01, until=10, **given)
    report, found = da.audit(run), da.first_integrals(HOOP)
    theory = {i.name: i.conserved for i in (*found.integrals, *found.not_conserved)}
    assert theory["Jacobi integral"]
    assert not theory["energy"]
    for name in ("Jacobi integral", "energy"):
        assert (report[name].theory == "conserved") is theory[name]
    kinetic = run.quantity(HOOP.kinetic) + run.quantity(HOOP.potential)
    assert run.energy == pytest.approx(kinetic, rel=1e-14)
    assert np.ptp(run.energy) > 0.1
    assert np.ptp(run.jacobi_integral) < 1e-3
    at = da.evaluate(HOOP, at={theta: 1, theta.dot: 0}, parameters=given["parameters"])
    assert at.energy == pytest.approx(run.energy[0], rel=1e-14)
    equations = HOOP.equations()
    assert sympy.expand(equations.energy - HOOP.kinetic - HOOP.potential) == 0
    assert sympy.expand(equations.energy - equations.jacobi_integral - m * R**2 * Omega**2 * sin(theta) ** 2) == 0
    assert "Jacobi integral minus its value at the start" in [axes.get_title(loc="left") for axes in run.plot().axes]


def test_where_nothing_moves_the_frame_there_is_one_energy():
    assert energy(KEPLER) == jacobi_integral(KEPLER)
    run = orbit(da.Midpoint(), 0.01, 100)
    assert np.array_equal(run.energy, run.jacobi_integral)
    assert "Jacobi integral" not in str(da.audit(run))


# -------------------- first integrals in the audit --------------------


def test_the_audit_has_what_can_be_found():
    run = orbit(da.Midpoint(), 0.01, 100)
    names = {i.name for i in da.first_integrals(KEPLER)}
    assert names <= {row.quantity for row in da.audit(run, seconds=600).rows}  # however busy the machine is
    assert "angular momentum in x, y" in names
    assert {row.quantity for row in da.audit(run, seconds=0).rows} == {"energy"}
    claimed = da.audit(run, {"spin": m * (x * y.dot - y * x.dot)})
    assert "angular momentum in x, y" not in {row.quantity for row in claimed.rows}  # it is the same


def test_a_search_that_takes_too_long_is_told():
    names = " ".join(f"u{i}" for i in range(6))
    u = da.coordinates(names)
    links = sum((cos(u[i] - u[j]) * u[i].dot * u[j].dot for i in range(6) for j in range(6)), 0)
    chain = da.System("chain", u, kinetic=links / 2 + sum(c.dot**2 for c in u), potential=sum(cos(c) for c in u))
    run = da.simulate(chain, da.Midpoint(), h=0.01, steps=5, start=dict.fromkeys(u, 0.1) | {c.dot: 0 for c in u})
    report = da.audit(run, seconds=0.02)
    assert "The search for first integrals was ended after 0.02 s: there may be more of them." in str(report)
    assert "energy" in {row.quantity for row in report.rows}


# -------------------- names and messages --------------------


def test_coordinates_that_are_called_like_attributes():
    names = ("energy", "h", "records", "status", "q", "system", "plot", "codes")
    odd = da.coordinates(" ".join(names))
    system = da.System("odd", odd, kinetic=sum(c.dot**2 for c in odd) / 2, potential=sum(c**2 for c in odd) / 2)
    start = {c: float(i + 1) for i, c in enumerate(odd)} | {c.dot: 0.0 for c in odd}
    run = da.simulate(system, da.Midpoint(), h=0.1, steps=3, start=start)
    again = da.simulate(system, da.Midpoint(), h=0.1, steps=2, start=run)
    for i, c in enumerate(odd):
        assert run[c][0] == run[c.name][0] == i + 1
        assert again[c.name][0] == run[c.name][-1]
        assert np.array_equal(run.dataset[c.name], run[c.name])
        if c.name != "q":
            with pytest.warns(ModelWarning, match=rf"run\['{c.name}'\] is the coordinate"):
                getattr(run, c.name)
    assert np.array_equal(run.q, run["q"])
    assert da.audit(run, seconds=0).ok


def test_an_assembly_is_simulated_by_its_system():
    assembly = b.assemble("one", [x, y], bodies=[b.Particle(m, [x, y])], loads=[b.Gravity(g)])
    given = {"h": 0.1, "steps": 3, "start": {x: 0, y: 0, x.dot: 1, y.dot: 0}, "parameters": {m: 1, g: 10}}
    assert np.array_equal(
        da.simulate(assembly, da.Midpoint(), **given).records,
        da.simulate(assembly.system, da.Midpoint(), **given).records,
    )


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("x**2", r"quantity: got the text 'x\*\*2'\. Expected an expression, without quotes: run\.quantity\(x\*\*2\)"),
        ("energy", "quantity: got the text 'energy'"),
        (None, r"quantity: got None \(NoneType\)\. Expected a scalar expression"),
        ([x], "Expected a scalar expression"),
        (np.array([1.0, 2.0]), "Expected a scalar expression"),
        (sympy.Function("x")(sympy.Symbol("t")), r"x\(t\) is a SymPy function or derivative"),
        (sympy.Matrix([x]), "quantity: "),
    ],
    ids=str,
)
def test_quantities_that_are_none(given, said):
    run = da.simulate(ROOT, da.Midpoint(), h=0.1, steps=2, start={x: 1, x.dot: 0})
    with pytest.raises(ModelError, match=said):
        run.quantity(given)
    assert np.array_equal(run.quantity("x"), run.x)


def test_functions_of_numpy_and_sympy():
    with pytest.raises(ModelError, match=r"numpy\.cos\(theta\): NumPy takes numbers.*Write dalembert\.cos\(theta\)"):
        np.cos(theta)
    with pytest.raises(ModelError, match=r"Write dalembert\.acos\(m\)"):
        np.arccos(m)
    with pytest.raises(ModelError, match=r"theta\(t\): theta is a symbol, not a function\. Write theta"):
        theta(da.time)
    function = sympy.Function("theta")(sympy.Symbol("t"))
    with pytest.raises(
        ModelError, match=r'Make it with theta = dalembert\.coordinates\("theta"\)\. Its velocity is theta\.dot'
    ):
        da.System("pendulum", [function], kinetic=0)
    assert np.float64(2) * theta == theta * 2.0  # sums and products with numbers of NumPy are what they were
    assert list(np.array([1.0, 2.0]) * theta) == [1.0 * theta, 2.0 * theta]
    assert list(np.array([theta, x]) + x) == [theta + x, 2 * x]
    assert -np.array([theta])[0] == -theta


def test_an_error_that_only_grows_is_not_said_to_have_no_drift():
    """The energy of a motion that runs away: its error is a millionth of the terms, then a hundredth, at every step more."""
    away = da.System("away", [x], kinetic=x.dot**2 / 2, potential=-(x**4))
    run = da.simulate(away, da.Midpoint(), h=0.01, until=10, start={x: 1, x.dot: 1}, strict=False)
    assert da.audit(run)["energy"].verdict == "too short to tell"
    swing = da.simulate(PENDULUM, da.Midpoint(), h=0.05, until=200, start={theta: 1, theta.dot: 0})
    assert da.audit(swing)["energy"].verdict == "no drift"


def test_the_picture_says_what_was_drawn():
    given = {"h": 0.01, "until": 9, "start": {theta: 1, theta.dot: 0}}
    stopped = da.simulate(PENDULUM, da.Midpoint(), events=[da.Event(theta, "stop", name="down")], **given)
    assert "where the event 'down' stopped it" in texts(stopped.plot())
    whole = da.simulate(PENDULUM, da.Midpoint(), **given)
    assert "stopped" not in texts(whole.plot())
    sparse = da.simulate(PENDULUM, da.Midpoint(), h=0.01, steps=10, every=100, start={theta: 1, theta.dot: 0})
    assert "10 steps were computed, and every=100 records none of them" in texts(sparse.plot())
    many = da.simulate(PENDULUM, da.Midpoint(), h=0.1, steps=5, start={theta: np.linspace(0, 1, 40), theta.dot: 0})
    assert "40 lanes: median, bands of 50 % and 90 %" in texts(many.plot())


def test_a_name_with_signs_of_latex_is_drawn(tmp_path):
    odd = da.System("costs $x_{ and $y", [x], kinetic=x.dot**2 / 2)
    da.simulate(odd, da.Midpoint(), h=0.1, steps=5, start={x: 0, x.dot: 1}).plot(tmp_path / "odd.png")


def test_the_name_of_a_run_says_how_far_it_came():
    assert "t = 0 to 0 of 100, h = 0.25" in repr(fall(0.01, -5))
    whole = da.simulate(PENDULUM, da.Midpoint(), h=0.1, steps=10, start={theta: 1, theta.dot: 0})
    assert "t = 0 to 1, h = 0.1" in repr(whole)
