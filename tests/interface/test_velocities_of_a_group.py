"""Everything that takes a run takes one of a system reduced to velocities of a group, which have no positions beside them."""

import pickle
import subprocess
import sys

import numpy as np
import pytest
import sympy

import dalembert as da
from dalembert import cos, sin

x, y, phi = da.coordinates("x y phi")
u, w, s = da.parameters("u w s")
m, J = da.parameters("m J", positive=True)

SE2 = da.Symmetry({x: x * cos(s) - y * sin(s) + u, y: x * sin(s) + y * cos(s) + w, phi: phi + s}, elements=[u, w, s])
PLATE = da.System(
    "plate in water",
    coordinates=[x, y, phi],
    lagrangian=m * (x.dot * cos(phi) + y.dot * sin(phi)) ** 2 / 2
    + m * (y.dot * cos(phi) - x.dot * sin(phi)) ** 2
    + J * phi.dot**2 / 2,
)
REDUCED = da.reduce(PLATE, SE2)
VELOCITIES = REDUCED.motion.velocities
MOMENTA = [v.coordinate.momentum for v in VELOCITIES]


def motion(start, values=(1.5, 2.0), **options):
    return da.simulate(
        REDUCED, da.Midpoint(), h=0.05, until=20, parameters=dict(zip((m, J), values, strict=True)), start=start, **options
    )  # fmt: skip


@pytest.fixture(scope="module")
def run():
    return motion(dict(zip(VELOCITIES, (1.0, 0.2, 0.3), strict=True)))


def by_differences(end, at, d=1e-5):
    return (end(at + d) - end(at - d)) / (2 * d)


def test_derivatives_of_states_are_those_by_differences(run):
    found = da.tangents(run).from_start[-1]
    begun = {p: run[p][0] for p in MOMENTA}
    slopes = [
        by_differences(lambda z, p=p: np.array([motion({**begun, p: z})[q][-1] for q in MOMENTA]), begun[p])
        for p in MOMENTA
    ]
    np.testing.assert_allclose(found, np.transpose(slopes), rtol=1e-6, atol=1e-7 * np.abs(found).max())


def test_sensitivity_is_that_by_differences(run):
    v, start = VELOCITIES[0], dict(zip(VELOCITIES, (1.0, 0.2, 0.3), strict=True))
    slope = by_differences(lambda value: motion(start, (value, 2.0))[v][-1], 1.5)
    assert da.sensitivity(run, of=v, by=[m])[v, m][-1] == pytest.approx(slope, rel=1e-6)


def test_exponents_of_a_regular_motion_fall_to_zero_and_have_no_pairs(run):
    found = da.lyapunov(run)
    assert found.exponents.shape == (3,) and found.pairs is None
    assert np.all(np.abs(found.exponents) < 0.3) and np.abs(found.exponents.sum()) < 0.05


def test_steps_have_their_order():
    start = dict(zip(VELOCITIES, (1.0, 0.2, 0.3), strict=True))
    found = da.convergence(
        REDUCED.motion, da.Midpoint(), [0.1, 0.05, 0.025], start=start, parameters={m: 1.5, J: 2.0}, until=2
    )
    assert found.lines[0].orders["p"] == pytest.approx(2, abs=0.05) and "q" not in found.lines[0].orders


def test_there_is_no_form_dq_dp(run):
    with pytest.raises(
        da.errors.ModelError, match=r"no form dq \^ dp. Ask for the derivatives of its states: tangents"
    ):
        da.contraction(run)


def test_figures_draw_the_velocities(run):
    lines = run.plot("coordinates").axes[0].lines
    for line, v in zip(lines, VELOCITIES, strict=True):
        np.testing.assert_array_equal(line.get_ydata(), run[v])
    for what in ("path", "momenta", "energy"):
        assert run.plot(what).axes[0].lines
    with pytest.raises(da.errors.ModelError, match=r"has velocities of a group and no positions\. Draw run\.plot"):
        run.plot("phase")


def test_one_velocity_alone_is_drawn_against_time():
    carriage = da.System("carriage", coordinates=[x], kinetic=m * x.dot**2 / 2)
    reduced = da.reduce(carriage, da.Symmetry({x: x + u}, elements=[u]))
    run = da.simulate(reduced, da.Midpoint(), h=0.1, steps=3, parameters={m: 1}, start={x: 0, x.dot: 1})
    np.testing.assert_array_equal(run.plot("path").axes[0].lines[0].get_ydata(), np.ones(4))


def test_player_and_report_can_be_made(run, tmp_path):
    assert run.animate(tmp_path / "a.html").stat().st_size > 1000
    assert "plate in water" in run.report(tmp_path / "b.html").read_text()


def test_sweep_says_which_system_to_give(tmp_path):
    with pytest.raises(
        da.errors.MethodError, match=r"<ReducedSystem: plate in water.*>\. Expected .* give its \.motion"
    ):
        da.sweep(REDUCED, da.Midpoint(), h=0.1, until=1, vary={m: [1, 2]}, store=tmp_path / "a.zarr")


LOADED = """
import pickle, sys
import dalembert as da
system = pickle.load(open(sys.argv[1], "rb"))
g = system.space.factors[0]
start = {g: [[1, 0, 0], [0, 1, 0], [0, 0, 1]], g.velocity: (1, 0.5, 0)}
print(*g.velocity, da.simulate(system, da.RungeKutta4(), h=0.1, steps=5, start=start).energy[-1])
"""


def test_a_group_of_ones_own_goes_along_to_other_processes(tmp_path):
    basis = [
        sympy.Matrix(3, 3, e)
        for e in ([0, 1, 0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 1, 0, 0, 0], [0, 0, 1, 0, 0, 0, 0, 0, 0])
    ]
    g = da.group_coordinate("g", da.groups.MatrixGroup("upper", basis))
    system = da.System("upper", coordinates=[g], kinetic=sum(v**2 for v in g.velocity) / 2 + g[0, 1] * g.velocity[0])
    (tmp_path / "a").write_bytes(pickle.dumps(system))
    done = subprocess.run([sys.executable, "-c", LOADED, tmp_path / "a"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    start = {g: np.eye(3), g.velocity: (1, 0.5, 0)}
    here = da.simulate(system, da.RungeKutta4(), h=0.1, steps=5, start=start)
    assert done.stdout.split() == [*map(str, g.velocity), str(here.energy[-1])]
