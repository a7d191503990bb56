"""The data of the player: what is drawn equals the run's; sizes, versions, messages."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest

import dalembert as da
from dalembert.draw.player_data import FORMAT, VERSION, seconds_of
from dalembert.draw.player_page import data_of, film_of, page, script, source
from dalembert.run.values import point_map
from dalembert.words import LANGUAGES
from dalembert.words.english import PLAYER as WORDS

from .node import answer, drawn, needs_node

OLD = Path(__file__).parent / "files"


def motion(name="double-pendulum", steps=200, **more):
    e = da.gallery.load(name)
    return da.simulate(
        e.system, da.Midpoint(), h=e.h, steps=steps, start=more.pop("start", e.start), parameters=e.parameters, **more
    )


@pytest.fixture(scope="module")
def run():
    return motion()


@needs_node
@pytest.mark.parametrize("name", ["double-pendulum", "heavy-top", "two-gas-chambers", "rolling-disk"])
def test_the_page_draws_the_run(name):
    run = motion(name, 100)
    rows, stored, film = drawn(run)
    names = [p.name for p in run.system.parameters]
    stepmap = film.drawing.stepmap(names)
    from dalembert.draw.player_data import state_column

    state = np.stack([run.time if n == "t" else state_column(run, n)[0] for n in stepmap.state], axis=1)
    exact = point_map(stepmap)(state, run.parameter_rows)[0]
    kept = len([e for part in film.drawing.places for e in range(part.stop - part.start)])
    size = np.abs(exact[:, :kept]).max(axis=0) + 1e-9
    assert np.max(np.abs(rows[:, :kept] - exact[:, :kept]) / size) < 3e-6
    energy = run.energy - run.energy[0]
    assert np.max(np.abs(stored[0] - energy)) <= 1e-7 * np.ptp(energy) + 1e-15


@needs_node
def test_lanes_are_drawn_each():
    e = da.gallery.load("pendulum")
    theta = e.system.coordinates[0]
    run = motion("pendulum", start={theta: np.linspace(0.1, 1.0, 30), theta.dot: 0.0})
    data = film_of(run).data()
    assert len(data["runs"][0]["lanes"]) == 24 and "24 of 30 lanes are shown." in data["runs"][0]["notes"]
    _, stored, _ = drawn(run, lane=5)
    assert np.allclose(stored[1], run.theta[5], atol=1e-6)


@needs_node
def test_old_data_are_read_by_the_new_player():
    for path in sorted(OLD.glob("player-*.json")):
        data = json.loads(path.read_text())
        found = answer(data | {"test": {"drawn": {"lane": 0}}})
        assert np.allclose(found["rows"], data["expected"], atol=1e-6), path.name


def test_there_is_a_file_of_this_version():
    assert (OLD / f"player-{VERSION}.json").is_file(), "keep one of every version"


@needs_node
def test_newer_data_are_refused(run):
    data = film_of(run).data() | {"version": VERSION + 1, "test": {"drawn": {"lane": 0}}}
    with pytest.raises(AssertionError, match="this player reads up to"):
        answer(data)


def test_ten_thousand_frames_of_six_coordinates_are_under_a_megabyte(tmp_path):
    q = da.coordinates("x1 y1 z1 x2 y2 z2")
    k = da.parameters("k")
    spring = sum((a - b) ** 2 for a, b in zip(q[:3], q[3:], strict=True))
    pair = da.System("pair", list(q), kinetic=sum(c.dot**2 for c in q) / 2, potential=k * spring / 2 + q[0] ** 4)
    start = {c: 0.1 * i for i, c in enumerate(q)} | {c.dot: 1.0 - 0.2 * i for i, c in enumerate(q)}
    run = da.simulate(pair, da.Midpoint(), h=0.01, steps=9999, start=start, parameters={k: 2.0})
    assert len(run) == 10_000
    target = run.animate(tmp_path / "pair.html")
    assert '"live":' in target.read_text() and target.stat().st_size < 1e6


def test_long_runs_are_thinned_and_told(tmp_path):
    e = da.gallery.load("harmonic-oscillator")
    run = da.simulate(e.system, da.StormerVerlet(), h=1e-3, steps=1_000_000, start=e.start, parameters=e.parameters)
    with pytest.warns(da.ModelWarning, match="of 1,000,001 records one in 100 is in long.html"):
        target = run.animate(tmp_path / "long.html", live=False)
    assert target.stat().st_size < 400_000 and "One in 100 of 1000001 records is shown." in target.read_text()


def test_a_page_asks_for_nothing(run):
    text = page(data_of(film_of(run)))
    assert not re.search(r"""(src|href)\s*=\s*["'](?!data:)""", text)
    assert not re.search(r"https?://|//cdn|import\s*\(|fetch\s*\(|XMLHttpRequest|WebSocket", text)


def test_control_addresses_would_be_seen():
    assert re.search(r"https?://", "see https://example.org") and re.search(
        r"""(src|href)\s*=\s*["'](?!data:)""", '<img src="a.png">'
    )


def test_texts_cannot_end_the_script(tmp_path):
    x = da.coordinates("x")
    system = da.System("</script><b>free", [x], kinetic=x.dot**2 / 2, scene=[da.scene.Point([x, 0], label="</script>")])
    run = da.simulate(system, da.Midpoint(), h=0.1, steps=3, start={x: 0, x.dot: 1})
    text = run.animate(tmp_path / "a.html").read_text()
    assert text.count("</script>") == 2 and "<b>free" not in text.split("<script")[0]


def test_every_language_has_every_word():
    assert all(set(held.PLAYER) == set(WORDS) for held in LANGUAGES.values())
    used = set(re.findall(r"""(?:this\.word|\bw)\("(\w+)"\)""", script()))
    assert used <= set(WORDS), used - set(WORDS)


def test_two_runs_side_by_side(run, tmp_path):
    other = motion(steps=100)
    data = film_of(run, beside=other, graph=[run.system.coordinates[0]]).data()
    assert [r["frames"] for r in data["runs"]] == [201, 101] and [q["name"] for q in data["quantities"]] == ["theta1"]


def test_the_header_says_what_it_is(run):
    data = film_of(run, lang="es").data()
    assert (data["format"], data["version"]) == (FORMAT, VERSION) and data["words"]["play"] == "Reproducir"


MESSAGES = [
    (lambda run, to: run.animate(to / "a.txt"), r"animate: .*a.txt has no known suffix. Known are .html, .gif, .mp4"),
    (lambda run, to: run.animate(7), r"animate: got 7. Expected the path of a film: 'motion.html'"),
    (lambda run, to: run.animate(to / "a.html", frames=1), r"animate: frames=1. Expected how many frames"),
    (lambda run, to: run.animate(to / "a.html", lang="xx"), r"lang='xx': there are words in en, es"),
    (lambda run, to: run.animate(to / "a.html", beside=[3]), r"animate: got 3 \(int\). Expected a run"),
    (lambda run, to: run.animate(to / "a.html", beside=motion("pendulum", 3)), r"runs side by side are of one system"),
    (lambda run, to: motion(steps=0).animate(to / "a.html"), r"the run of 'double pendulum' has no steps, so nothing moves"),
    (lambda run, to: run.animate("/proc/none/a.html"), r"animate: /proc/none/a.html cannot be written"),
    (lambda run, to: da.show(run.system), r"show: 'double pendulum' is a system without numbers"),
    (lambda run, to: da.show(3), r"show: got 3 \(int\). Expected a run, or an example"),
]  # fmt: skip


@pytest.mark.parametrize(("make", "message"), MESSAGES, ids=range(len(MESSAGES)))
def test_messages(run, tmp_path, make, message):
    with pytest.raises(da.StartError, match=message):
        make(run, tmp_path)


def test_a_film_without_ffmpeg_names_the_other_ways(run, tmp_path, monkeypatch):
    from matplotlib import animation

    monkeypatch.setattr(animation.writers, "is_available", lambda name: False)
    with pytest.raises(da.StartError, match=r"a.mp4 needs ffmpeg, .* a.html is the player and a.gif a film without it"):
        run.animate(tmp_path / "a.mp4")


@pytest.mark.parametrize("name", ["double-pendulum", "heavy-top"])
def test_a_film_moves(name, tmp_path):
    from PIL import Image, ImageChops

    target = motion(name, 20).animate(tmp_path / "a.gif", seconds=0.3)
    with Image.open(target) as film:
        assert film.n_frames == 7
        first = film.convert("RGB")
        film.seek(6)
        assert ImageChops.difference(first, film.convert("RGB")).getbbox()


def test_a_notebook_shows_the_player_in_a_frame(run):
    text = run._repr_html_()
    assert text.startswith("<iframe srcdoc=") and "dalembert-player" in text
    assert motion(steps=0)._repr_html_() is None


def test_show_opens_the_browser(run, monkeypatch, tmp_path):
    opened = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    target = da.show(run, tmp_path / "a.html", live=False)
    assert opened == [target.as_uri()]
    shown = da.show(da.gallery.load("wedge-and-disc"), tmp_path / "b.html", live=False)
    assert shown.stat().st_size > 50_000
    da.show(da.gallery.load("appell-device"), tmp_path / "c.html", live=False)  # the midpoint rule does not apply
    assert len(opened) == 3


def test_what_cannot_be_computed_in_a_page_is_told():
    e = da.gallery.load("pendulum")
    run = da.simulate(e.system, da.Reference(), h=0.1, steps=5, start=e.start, parameters=e.parameters)
    data = data_of(film_of(run))
    assert "live" not in data
    assert data["notes"] == [
        "The page does not compute this motion: Reference(rtol=1e-10, solver='Taylor') has no step."
    ]


def test_functions_that_a_page_does_not_have():
    import sympy

    x = da.coordinates("x")
    bell = da.System("bell", [x], kinetic=x.dot**2 / 2, potential=x * sympy.erf(x))
    run = da.simulate(bell, da.Midpoint(), h=0.1, steps=5, start={x: 1, x.dot: 0})
    assert data_of(film_of(run))["notes"] == ["The page does not compute this motion: a page has no function erf."]
    shown = bell.replace(scene=[da.scene.Point([x, sympy.erf(x)])])
    run = da.simulate(shown, da.Midpoint(), h=0.1, steps=5, start={x: 1, x.dot: 0})
    with pytest.raises(da.ModelError, match=r"the scene contains erf, which a page cannot compute"):
        film_of(run).data()


def test_a_notebook_is_not_swollen_by_long_runs():
    e = da.gallery.load("pendulum")
    theta = e.system.coordinates[0]
    run = motion("pendulum", 20_000, start={theta: np.linspace(0.1, 1, 12), theta.dot: 0.0})
    assert len(run._repr_html_()) < 500_000


@pytest.mark.skipif(shutil.which("ffmpeg") is None, reason="ffmpeg is not installed")
def test_films_of_ffmpeg_are_written_or_refused_in_words(run, tmp_path):
    assert run.animate(tmp_path / "a.webm").read_bytes()[:4] == bytes.fromhex("1a45dfa3")
    (tmp_path / "file").write_text("")
    for suffix in ("mp4", "webm", "gif"):
        with pytest.raises(da.StartError, match="cannot be written"):
            run.animate(tmp_path / "file" / f"a.{suffix}")


@pytest.mark.skipif(shutil.which("ffmpeg") is None, reason="ffmpeg is not installed")
def test_a_film_as_mp4(tmp_path):
    target = motion("pendulum", 20).animate(tmp_path / "a.mp4", seconds=0.3)
    assert target.read_bytes()[4:8] == b"ftyp"


def test_the_parts_of_the_player_are_in_the_package():
    assert len(script()) < 80_000 and ".dalembert-player" in source("player.css")


@needs_node
def test_the_part_that_computes_in_old_data_still_does():
    paths = [p for p in sorted(OLD.glob("player-*.json")) if "live" in json.loads(p.read_text())]
    assert paths
    for path in paths:
        data = json.loads(path.read_text())
        run = data["runs"][0]
        asked = {"method": 0, "steps": run["frames"] - 1, "every": 1, "changed": {}}
        found = answer(data | {"test": {"asked": asked}})
        kept = answer(data | {"test": {"drawn": {"lane": 0}}})["stored"]
        for now, then in zip(found["quantities"], kept, strict=True):
            assert np.allclose(now, then, rtol=0, atol=1e-6 * max(1e-9, np.ptp(then)) + 1e-12), path.name


def test_trails_have_the_colour_of_what_leaves_them():
    x, y = da.coordinates("x y")
    s = da.scene
    items = [s.Point([0, 0]), s.Trail([x, 1]), s.Point([x, 0]), s.Point([x, 1]), s.Point([y, 2], colour="#112233"),
             s.Trail([y, 2]), s.Trail([y, 3])]  # fmt: skip
    system = da.System("colours", [x, y], kinetic=(x.dot**2 + y.dot**2) / 2, scene=items)
    run = da.simulate(system, da.Midpoint(), h=0.1, steps=3, start={x: 0, y: 0, x.dot: 1, y.dot: 1})
    found = [(i["colourIndex"], i.get("colour")) for i in film_of(run).data()["items"] if i["kind"] == "Trail"]
    assert found == [(2, None), (3, "#112233"), (2, None)]


@pytest.mark.parametrize("unit", [1e-10, 1.0, 1e11])
def test_nothing_is_measured_in_metres_or_seconds(unit):
    """How fast the player goes, how long a film is, how large a body is whose size nothing tells."""
    P, m = da.planar_pose("P"), da.parameters("m")
    energy = P.velocity[0] ** 2 + P.velocity[1] ** 2 + (unit * P.omega[0]) ** 2
    body = da.System("body", [P], kinetic=m * energy / 2)
    start = {P: np.eye(3), P.omega: (1e3,), P.velocity: (unit * 1e3, 0.0)}
    run = da.simulate(body, da.Midpoint(), h=1e-3, steps=20, start=start, parameters={m: 1})
    film = film_of(run)
    (side, _), way = film.items[0].sides, np.ptp(run[P][:, :2, 2], axis=0).max()
    assert float(side) == pytest.approx(way / 6)
    assert film.data()["speed"] * 15 == pytest.approx(run.time[-1])
    assert seconds_of(unit * 1e-3, 4, 40, 15) == 15 and seconds_of(5.0, 4, 40, 15) == 5
    times = [s["high"] - s["low"] for s in data_of(film)["live"]["sliders"]]
    assert np.all(np.isfinite(times)) and min(times) > 0


def test_odd_requests_of_a_player_are_refused_in_words(run, tmp_path):
    for options, error, message in (
        ({"beside": 3}, da.StartError, r"animate: got 3 \(int\)\. Expected a run"),
        ({"methods": ["Midpoint"]}, da.MethodError, r"animate: methods: got 'Midpoint'.*dalembert\.Midpoint\(\)"),
        ({"frames": 1}, da.StartError, r"animate: frames=1\. Expected how many frames"),
        ({"lang": "fr"}, da.StartError, r"lang='fr'.*en, es"),
    ):
        with pytest.raises(error, match=message):
            run.animate(tmp_path / "a.html", **options)
