"""Figures show the numbers of the run: they are read back from what matplotlib was given."""

import matplotlib
import numpy as np
import pytest
import sympy

import dalembert as da
from dalembert.draw.default_scene import is_angle

theta, m, l, g = da.coordinates("theta"), *da.parameters("m l g", positive=True)
PENDULUM = da.System(
    "pendulum", [theta], kinetic=m * l**2 * theta.dot**2 / 2, potential=-m * g * l * da.cos(theta)
)  # fmt: skip
NUMBERS = {m: 1, l: 1, g: 9.81}


@pytest.fixture(scope="module")
def turning():
    """A pendulum that turns over."""
    start = {theta: 0, theta.dot: 7}
    return da.simulate(PENDULUM, da.Midpoint(), h=0.01, until=5, start=start, parameters=NUMBERS)


@pytest.fixture(scope="module")
def many():
    start = {theta: np.linspace(0, 1, 60), theta.dot: 0}
    return da.simulate(PENDULUM, da.Midpoint(), h=0.02, until=2, start=start, parameters=NUMBERS)


@pytest.fixture(scope="module")
def disk():
    e = da.gallery.load("rolling-disk")
    return da.simulate(e.system, da.Midpoint(), h=e.h, until=2, start=e.start, parameters=e.parameters)


@pytest.fixture(scope="module")
def gas():
    e = da.gallery.load("two-gas-chambers")
    return da.simulate(e.system, da.Midpoint(), h=e.h, steps=50, start=e.start, parameters=e.parameters)


def curves(figure, panel=0):
    return [line.get_xydata().T for line in figure.axes[panel].lines if len(line.get_xdata()) > 2]


def test_each_figure_shows_the_numbers_of_the_run(turning, disk, gas):
    def holds(run, what, values, panel=0):
        drawn = curves(run.plot(what), panel)
        for (t, y), expected in zip(drawn, values, strict=True):
            assert np.array_equal(t, run.time)
            assert np.allclose(
                y, expected, rtol=1e-14, atol=0, equal_nan=True
            )  # expressions by another order of operations

    holds(turning, "coordinates", [turning[theta]])
    holds(turning, "velocities", [turning[theta.dot]])
    holds(turning, "momenta", [turning[theta.momentum]])
    holds(turning, "energy", [turning.energy - turning.energy[0]])
    holds(turning, theta.dot**2 + theta, [turning[theta.dot] ** 2 + turning[theta]])
    holds(turning, theta.ddot, [turning[theta.ddot]])
    holds(disk, "multipliers", disk.multipliers.T)
    holds(gas, "temperatures", gas.temperatures.T)
    holds(gas, "entropies", [gas[S] for S in gas.system.entropies])
    x, y = curves(turning.plot("phase"))[0]
    assert np.array_equal(x, turning[theta])
    assert np.array_equal(y, turning[theta.momentum])


def test_accelerations_satisfy_the_equation_of_motion(turning):
    assert np.allclose(turning[theta.ddot], -9.81 * np.sin(turning[theta]), rtol=1e-14)


def test_both_laws_are_drawn(gas):
    defect, production = (y for _, y in curves(gas.plot("laws")))
    assert np.abs(defect).max() < 1e-6 * np.abs(gas.energy).max()
    assert (production > -1e-12 * production.max()).all()


def test_invariants_have_the_bound_of_the_method():
    e = da.gallery.load("kepler")
    run = da.simulate(e.system, da.Midpoint(), h=e.h, steps=2000, start=e.start, parameters=e.parameters)
    axes = run.plot("invariants").axes[0]
    bound = next(line.get_ydata()[0] for line in axes.lines if len(line.get_xdata()) == 2)
    named = {line.get_label(): np.nanmax(line.get_ydata()) for line in axes.lines if len(line.get_xdata()) > 2}
    momentum = next(v for k, v in named.items() if "energy" not in k)
    assert momentum < bound < named["energy"]


def test_constraints_are_drawn_by_their_distance_from_zero(disk):
    for line in curves(disk.plot("constraints")):
        assert np.nanmax(line[1]) < 1e-13


def test_the_path_is_that_of_what_leaves_a_trail():
    e = da.gallery.load("double-pendulum")
    run = da.simulate(e.system, da.Midpoint(), h=e.h, steps=100, start=e.start, parameters=e.parameters)
    trail = next(i for i in e.system.scene if isinstance(i, da.scene.Trail))
    x, y = curves(run.plot("path"))[0]
    assert np.array_equal(x, run.quantity(trail.at[0]))
    assert np.array_equal(y, run.quantity(trail.at[1]))


def test_angles_are_wrapped(turning):
    for wrap in (True, theta, [theta], ["theta"]):
        _, y = curves(turning.plot("coordinates", wrap=wrap))[0]
        assert np.nanmax(np.abs(y)) <= np.pi
        known = np.isfinite(y)
        assert np.allclose(np.exp(1j * y[known]), np.exp(1j * turning[theta][known]), rtol=0, atol=1e-13)
        assert 0 < (~known).sum() < 10
    x = da.coordinates("x")
    free = da.System("free", [x], kinetic=x.dot**2 / 2)
    run = da.simulate(free, da.Midpoint(), h=1, steps=20, start={x: 0, x.dot: 1})
    assert curves(run.plot("coordinates", wrap=True))[0][1].max() == 20  # control: a line is no angle


def test_bands_are_quantiles_of_all_lanes(many):
    figure = many.plot("coordinates")
    _t, y = curves(figure)[0]
    assert np.array_equal(y, np.quantile(many[theta], 0.5, axis=0))
    outer, inner = (c.get_paths()[0].vertices for c in figure.axes[0].collections)
    for band, ends in ((outer, (0.05, 0.95)), (inner, (0.25, 0.75))):
        low, high = np.quantile(many[theta], ends, axis=0)
        assert np.isclose(band[:, 1].max(), high.max(), rtol=1e-14)
        assert np.isclose(band[:, 1].min(), low.min(), rtol=1e-14)
    assert len(curves(many.plot("coordinates", lanes="curves"))) == 60
    assert many.plot("path").axes[0].collections  # a density
    assert "60 lanes" in many.plot().get_suptitle()


def test_the_phase_plane_has_the_flow_and_the_motions(turning):
    figure = da.plots.phase_portrait(PENDULUM, (-4, 4), (-8, 8), parameters=NUMBERS, runs=turning)
    x, y = curves(figure)[0]
    assert np.array_equal(x, turning[theta])
    assert np.array_equal(y, turning[theta.dot])
    assert figure.axes[0].collections  # the stream lines


def test_crossings_are_those_of_the_events():
    e = da.gallery.load("kepler")
    x, y = e.system.coordinates[:2]
    given = {"h": e.h, "steps": 500, "start": e.start, "parameters": e.parameters}
    run = da.simulate(e.system, da.Midpoint(), events=da.Event(y, name="section"), **given)
    drawn = np.concatenate([line.get_xydata() for line in da.plots.crossings(run, x, x.dot).axes[0].lines])
    assert np.array_equal(drawn, [(c.positions["x"], c.velocities["x"]) for c in run.events])


def test_exponents_are_those_up_to_each_time():
    e = da.gallery.load("double-pendulum")
    angle = e.system.coordinates[0]
    given = {"h": 0.02, "steps": 400, "every": 2, "parameters": e.parameters}
    found = da.lyapunov(da.simulate(e.system, da.Midpoint(), start=e.start | {angle: [2.0, 2.1]}, **given))
    figure = da.plots.exponents(found, lane=1)
    for k, (x, y) in enumerate(curves(figure)):
        counts = np.rint(x / 0.04).astype(int)
        assert counts[0] == 20 and counts[-1] == 200 and len(counts) > 50
        assert np.array_equal(y, found.running[1, counts - 1, k])
    band = figure.axes[0].collections[0].get_paths()[0].vertices
    top, below = found.exponents[1, 0] + found.error[1, 0], found.exponents[1, 0] - found.error[1, 0]
    last = band[np.isclose(band[:, 0], 8.0), 1]
    assert np.isclose(last.max(), top) and np.isclose(last.min(), below)
    shorter = da.lyapunov(da.simulate(e.system, da.Midpoint(), start=e.start | {angle: 2.1}, **given | {"steps": 100}))
    # the scale of momenta is that of the part of the motion that is known, so exponents agree, but not their bits
    assert np.allclose(found.up_to(50).exponents[1], shorter.exponents, atol=0.2)
    with pytest.raises(da.ModelError, match="lane = 2: give the number of a lane, from 0 to 1"):
        da.plots.exponents(found, lane=2)
    with pytest.raises(da.ModelError, match=r"Expected lyapunov\(run\)"):
        da.plots.exponents(3)
    with pytest.raises(da.ModelError, match="from 20 to 200"):
        found.up_to(19)


def test_errors_against_a_run_and_an_exact_solution():
    e = da.gallery.load("harmonic-oscillator")
    given = {"h": 0.1, "steps": 50, "start": e.start, "parameters": e.parameters}
    run, fine = (da.simulate(e.system, method, **given) for method in (da.Midpoint(), da.Gauss(4)))
    (q,) = e.system.coordinates
    _, y = curves(da.plots.error(run, fine))[0]
    assert np.allclose(y[1:], np.abs(run[q] - fine[q])[1:], rtol=1e-12)
    with pytest.raises(da.ModelError, match="recorded at other times"):
        da.plots.error(run, da.simulate(e.system, da.Midpoint(), **{**given, "steps": 40}))


def test_equilibria_branch_where_the_theory_says():
    e = da.gallery.load("bead-on-rotating-hoop")
    (q,) = e.system.coordinates
    values = dict(e.parameters)
    speed = next(p for p in values if p.name.lower() in ("omega", "w"))
    rest = {p: v for p, v in values.items() if p is not speed}
    figure = da.plots.equilibrium_branches(e.system, q, speed, [0.5, 20.0], parameters=rest)
    counts = {}
    for line in figure.axes[0].lines:
        for x in line.get_xdata():
            counts[x] = counts.get(x, 0) + 1
    assert counts[0.5] < counts[20.0]


def test_the_response_of_an_oscillator_to_a_force():
    x, k, c = da.coordinates("x"), *da.parameters("k c", positive=True)
    s = da.System("spring", [x], kinetic=x.dot**2 / 2, potential=k * x**2 / 2, dissipation=c * x.dot**2 / 2)
    w = np.linspace(0.1, 3, 40)
    figure = da.plots.frequency_response(s, {x: 1}, w, about={x: 0}, parameters={k: 2, c: 0.1})
    assert np.allclose(curves(figure)[0][1], 1 / np.abs(2 - w**2 + 0.1j * w), rtol=1e-12)


def test_work_precision_has_a_line_for_each_method():
    figure = da.plots.work_precision(
        PENDULUM,
        [da.Midpoint(), da.RungeKutta4()],
        [0.1, 0.05],
        start={theta: 1, theta.dot: 0},
        until=1,
        parameters=NUMBERS,
    )
    study = da.convergence(
        PENDULUM,
        [da.Midpoint(), da.RungeKutta4()],
        [0.1, 0.05],
        start={theta: 1, theta.dot: 0},
        until=1,
        parameters=NUMBERS,
    )
    for line, known in zip(figure.axes[0].lines, study.lines, strict=True):
        assert np.array_equal(line.get_ydata(), known.errors["q"])
        assert (line.get_xdata() > 0).all()


def test_a_figure_shows_itself_and_is_drawn_with_lines_for_a_paper(turning, tmp_path):
    figure = turning.plot("energy", tmp_path / "energy.pdf", width="column", units={da.time: "s", theta: "rad"})
    assert figure._repr_png_().startswith(b"\x89PNG")
    assert figure.get_size_inches()[0] == 3.4
    assert figure.axes[0].get_xlabel() == "$t$ [s]"
    assert (tmp_path / "energy.pdf").read_bytes().startswith(b"%PDF")
    assert (turning.plot(tmp_path / "all.svg"), (tmp_path / "all.svg").exists())[1]
    assert matplotlib.rcParams["axes.grid"] is False  # the settings of the user's own figures are left alone


@pytest.mark.parametrize(
    "options, message",
    [
        ({"what": "enrgy"}, "'enrgy' is no figure. Expected one of 'coordinates'"),
        ({"what": "multipliers"}, "has no constraints, and so no multipliers"),
        ({"what": "temperatures"}, "has no entropies"),
        ({"what": []}, "got an empty list"),
        ({"what": 3}, "Expected a name such as 'energy'"),
        ({"width": "poster"}, "Expected one of 'column', 'page', 'screen'"),
        ({"lanes": "all"}, "Expected 'curves', 'bands' or 'density'"),
        ({"wrap": ["phi"]}, "'phi' is no coordinate. Expected some of theta"),
        ({"what": "energy", "path": "energy.xyz"}, "no known suffix"),
    ],
)
def test_odd_requests_are_refused_in_words(turning, options, message):
    with pytest.raises(da.DalembertError, match=message.replace("(", r"\(")):
        turning.plot(**options)


def test_a_plane_shows_one_degree_of_freedom(disk):
    with pytest.raises(da.ModelError, match="A plane shows one degree of freedom"):
        da.plots.phase_portrait(disk.system, (-1, 1), (-1, 1), parameters=disk.parameters)
    with pytest.raises(da.ModelError, match="no crossing of any event"):
        da.plots.crossings(disk, "x", "y")


def test_the_figure_of_convergence_has_the_errors_and_the_fitted_orders():
    start = {theta: 1, theta.dot: 0}
    study = da.convergence(
        PENDULUM, [da.Midpoint(), da.RungeKutta4()], [0.1, 0.05, 0.025], start=start, until=1, parameters=NUMBERS
    )
    figure = study.plot()
    for panel, name in zip(figure.axes, study.lines[0].errors, strict=True):
        for drawn, line in zip(panel.lines, study.lines, strict=True):
            real = line.errors[name] > 0
            assert np.array_equal(drawn.get_xdata(), np.asarray(line.steps)[real])
            assert np.array_equal(drawn.get_ydata(), line.errors[name][real])
    written = {t.get_text() for t in figure.axes[0].texts}
    fitted = [np.polyfit(np.log(line.steps), np.log(line.errors["q"]), 1)[0] for line in study.lines]
    for order, text in zip(fitted, figure.axes[0].texts, strict=True):
        assert float(text.get_text().split()[-1]) == pytest.approx(order, abs=0.15), written


def test_branches_of_equilibria_are_zeros_of_the_force():
    e = da.gallery.load("bead-on-rotating-hoop")
    (q,) = e.system.coordinates
    speed = next(p for p in e.parameters if p.name in ("omega", "w"))
    rest = {p: v for p, v in e.parameters.items() if p is not speed}
    figure = da.plots.equilibrium_branches(e.system, q, speed, [1.0, 8.0], parameters=rest)
    found = 0
    for line in figure.axes[0].lines:
        for value, place in zip(*line.get_xydata().T, strict=True):
            found += 1
            at = da.evaluate(e.system, at={q: place, q.dot: 0}, parameters=rest | {speed: value})
            assert abs(at.accelerations[q]) < 1e-6
    assert found >= 5


def test_an_angle_is_found_by_value():
    """sin(x)^2 and its form in cos(2 x) have the period of a turn, x sin(x) has not."""
    x, y = da.coordinates("x y")
    for V, turns in (
        (sympy.sin(x) ** 2, True), (sympy.sin(x + sympy.pi / 3) * sympy.cos(x), True), (x * sympy.sin(x), False),
    ):  # fmt: skip
        s = da.System("one", [x, y], kinetic=(x.dot**2 + y.dot**2) / 2, potential=sympy.expand_trig(V))
        assert (is_angle(x, s), is_angle(y, s)) == (turns, False)


def covering(figure):
    """What of a figure lies on something else, or outside: legends, titles and the areas of data."""
    figure.draw_without_rendering()
    frame, pen = figure.bbox, figure.canvas.get_renderer()
    boxes = {}
    for k, axes in enumerate(figure.axes):
        boxes[f"data {k}"] = axes.get_window_extent(pen)
        for place in ("left", "center"):
            if axes.get_title(loc=place):
                title = axes.title if place == "center" else axes._left_title
                boxes[f"title {k}"] = title.get_window_extent(pen)
        if axes.get_legend() is not None:
            boxes[f"legend {k}"] = axes.get_legend().get_window_extent(pen)
    found = [
        n for n, b in boxes.items() if b.x0 < frame.x0 - 2 or b.x1 > frame.x1 + 2 or b.y0 < -2 or b.y1 > frame.y1 + 2
    ]
    names = list(boxes)
    for i, a in enumerate(names):
        for b in names[i + 1 :]:
            first, second = boxes[a], boxes[b]
            wide = min(first.x1, second.x1) - max(first.x0, second.x0)
            high = min(first.y1, second.y1) - max(first.y0, second.y0)
            if min(wide, high) > 2:
                found.append(f"{a} on {b}")
    return found, boxes


@pytest.mark.parametrize("width", ["column", "page", "screen"])
def test_legends_and_titles_cover_nothing(disk, gas, width):
    figures = [disk.plot(width=width), disk.plot("reactions", width=width), disk.plot("constraints", width=width),
               gas.plot(["power", "work", "laws", "temperatures"], width=width), gas.plot("power", width=width)]  # fmt: skip
    for figure in figures:
        found, boxes = covering(figure)
        assert found == []
        data = [b for name, b in boxes.items() if name.startswith("data")]
        assert min(b.width for b in data) > 0.2 * figure.bbox.width and min(b.height for b in data) > 60
    inside = disk.plot("coordinates", width=width)
    inside.axes[0].legend(loc="upper left")
    assert covering(inside)[0] != []  # the control


def test_very_long_curves_are_pictures_in_vector_figures(turning, tmp_path):
    long = da.simulate(
        PENDULUM, da.Midpoint(), h=0.005, steps=100_000, start={theta: 0, theta.dot: 7}, parameters=NUMBERS
    )
    long.plot(["coordinates", "velocities"], tmp_path / "long.svg")
    turning.plot(["coordinates", "velocities"], tmp_path / "short.svg")
    assert (tmp_path / "long.svg").stat().st_size < 1e6
    assert "<image" in (tmp_path / "long.svg").read_text()
    assert "<image" not in (tmp_path / "short.svg").read_text()


def test_what_is_left_out_is_told():
    q = da.coordinates(" ".join(f"x{k}" for k in range(20)))
    chain = da.System("chain", q, kinetic=sum(c.dot**2 for c in q) / 2)
    run = da.simulate(chain, da.Midpoint(), h=0.1, steps=3, start={s: 1.0 for c in q for s in (c, c.dot)})
    assert run.plot("coordinates").axes[0].get_title(loc="left") == "coordinates, 8 of 20"


def test_a_figure_that_cannot_be_written_says_so(turning, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(da.StartError, match=r"^plot: .*file/a\.png cannot be written: "):
        turning.plot("energy", tmp_path / "file" / "a.png")
    with pytest.raises(da.StartError, match=r"^plot: .*a\.txt has no known suffix\. Known are .*\.pdf, .*\.svg"):
        turning.plot("energy", tmp_path / "a.txt")
