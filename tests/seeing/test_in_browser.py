"""The player in a real browser: it moves, it computes, it asks for nothing, it fits the screen."""

from __future__ import annotations

import io

import numpy as np
import pytest
import sympy
from PIL import Image, ImageChops

import dalembert as da

P = "document.querySelector('.dalembert-player').player"
READY = "document.querySelector('.dalembert-player').dataset.live === 'ready'"


def motion(name, steps=400, method=None, **more):
    e = da.gallery.load(name)
    more = {"start": e.start, "h": e.h} | more
    return da.simulate(e.system, method or da.Midpoint(), steps=steps, parameters=e.parameters, **more)


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    pendulum = motion("double-pendulum")
    pendulum.animate(folder / "plane.html")
    motion("heavy-top").animate(folder / "space.html")
    motion("two-gas-chambers").animate(folder / "warm.html", lang="es")
    other = motion("double-pendulum", method=da.RungeKutta4())
    pendulum.animate(folder / "both.html", beside=other, live=False)
    return folder


def picture(browser):
    return Image.open(io.BytesIO(browser.picture())).convert("RGB")


def differ(a, b):
    return ImageChops.difference(a, b).getbbox() is not None


def still(browser, page, **size):
    """Open a page and stop it at its start."""
    browser.open(page, **size)
    browser.run(f"{P}.setPlaying(false), {P}.now = {P}.span[0], {P}.refresh()")


@pytest.mark.parametrize("name", ["plane", "space", "warm", "both"])
@pytest.mark.parametrize("width", [390, 1440])
def test_a_page_is_quiet_and_fits(browser, pages, name, width):
    browser.open(pages / f"{name}.html", width=width)
    if name != "both":
        browser.until(READY)
    assert browser.requests() == [(pages / f"{name}.html").as_uri()]
    assert browser.complaints() == []
    assert browser.run("document.documentElement.scrollWidth") <= width
    everything = "[...document.querySelectorAll('.dalembert-player *')]"
    wide = f"{everything}.filter(e => e.getBoundingClientRect().right > innerWidth + 1)"
    assert browser.run(f"{wide}.map(e => e.className || e.tagName)") == []


def test_it_plays_and_scrubs(browser, pages):
    browser.open(pages / "plane.html")
    browser.run(f"{P}.setPlaying(true)")
    first, frames = picture(browser), browser.run(f"{P}.frames")
    browser.until(f"{P}.frames > {frames + 5}")
    assert differ(first, picture(browser))
    browser.run("document.querySelector('.play').click()")
    assert browser.run(f"{P}.playing") is False
    halted = picture(browser)
    browser.run("(s => { s.value = 700; s.dispatchEvent(new Event('input')); })(document.querySelector('.scrub'))")
    assert differ(halted, picture(browser))
    assert browser.run(f"{P}.now") == pytest.approx(0.7 * 4.0)


def test_control_a_halted_picture_stays(browser, pages):
    still(browser, pages / "plane.html")
    browser.until(READY)
    first = picture(browser)
    assert not differ(first, picture(browser))


def test_it_orbits_zooms_and_takes_keys(browser, pages):
    still(browser, pages / "space.html")
    browser.until(READY)
    before = picture(browser)
    for kind, x, y in (("mousePressed", 300, 300), ("mouseMoved", 420, 330), ("mouseReleased", 420, 330)):
        browser.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", buttons=1, clickCount=1)
    assert browser.run(f"{P}.camera.azimuth") != pytest.approx(-0.9)
    assert differ(before, picture(browser))
    browser.send("Input.dispatchMouseEvent", type="mouseWheel", x=300, y=300, deltaX=0, deltaY=-300)
    browser.until(f"{P}.camera.factor < 0.9")
    browser.run(f"{P}.canvas.focus()")
    for key in (" ", "0"):
        browser.send("Input.dispatchKeyEvent", type="keyDown", key=key, text=key)
    assert browser.run(f"{P}.playing") is True and browser.run(f"{P}.camera.factor") == 1


def test_a_slider_changes_the_motion(browser, pages):
    still(browser, pages / "plane.html")
    browser.until(READY)
    browser.run(f"{P}.now = 3, {P}.refresh()")
    before = picture(browser)
    slider = "document.querySelector('input[aria-label=g]')"
    browser.run(f"(s => {{ s.value = 2 * s.value; s.dispatchEvent(new Event('input')); }})({slider})")
    assert browser.run(f"{P}.runs[0].live") is True
    assert differ(before, picture(browser))
    e = da.gallery.load("double-pendulum")
    values = {k: 2 * v if k.name == "g" else v for k, v in e.parameters.items()}
    exact = da.simulate(e.system, da.Midpoint(), h=e.h, steps=400, start=e.start, parameters=values)
    found = browser.run(f"[...{P}.runs[0].lanes[0].values[0]]")
    assert np.max(np.abs(found - exact.theta1)) < 1e-9  # chaotic: last bits grow


def test_a_body_is_dragged(browser, pages):
    still(browser, pages / "plane.html")
    browser.until(READY)
    bob = f"{P}.reader.at({P}.runs[0], {P}.runs[0].lanes[0], {P}.now)"
    box = f"(r => [r.left, r.top, r.width, r.height])({P}.view.getBoundingClientRect())"
    points = "p.data.items.filter(i => i.kind === 'Point')"
    at = f"{points}[2].at.map(i => {bob}[i])"
    place = f"(p => {{ const [l, t, w, h] = {box}; return p.camera.onto({at}, 0, w, h); }})({P})"
    left, top, *_ = browser.run(box)
    x, y = browser.run(place)
    for kind, dx, dy in (("mousePressed", 0, 0), ("mouseMoved", -30, 20), ("mouseReleased", -30, 20)):
        point = {"x": left + x + dx, "y": top + y + dy}
        browser.send("Input.dispatchMouseEvent", type=kind, button="left", buttons=1, clickCount=1, **point)
    assert browser.run(f"{P}.runs[0].live") is True and browser.run(f"{P}.camera.shift") == [0, 0, 0]
    browser.run(f"{P}.follow.checked = false, {P}.refresh()")
    start = browser.run(f"{P}.asked.q")
    assert np.max(np.abs(np.array(start) - [2.0, 2.5])) > 0.02
    assert browser.run(f"{P}.runs[0].lanes[0].values[0][0]") == pytest.approx(start[0])
    tip = browser.run(at.replace("p.data", f"{P}.data"))
    assert tip[:2] == pytest.approx(browser.run(f"{P}.grip.goal.slice(0, 2)"), abs=1e-3)


def in_units(name, length, time):
    """The motion of a gallery system whose coordinates are angles, with other units of length and time."""
    e = da.gallery.load(name)
    factors = {"g": length / time**2, "l": length, "l1": length, "l2": length}
    values = {p: v * factors.get(p.name, 1) for p, v in e.parameters.items()}
    start = {k: v / time if "dot" in str(k) else v for k, v in e.start.items()}
    return da.simulate(e.system, da.Midpoint(), h=e.h * time, steps=200, start=start, parameters=values)


@pytest.mark.parametrize("name", ["double-pendulum", "spherical-pendulum"])
def test_the_unit_does_not_matter(browser, tmp_path, name):
    """The same picture, the same sliders and the same drag, for lengths of atoms and of galaxies; powers of two are exact."""
    found = []
    for k, (length, time) in enumerate([(1.0, 1.0), (2.0**-60, 2.0**-50), (2.0**60, 2.0**50)]):
        still(browser, in_units(name, length, time).animate(tmp_path / f"{k}.html"))
        browser.until(READY)
        browser.run(f"{P}.now = {P}.span[1] / 2, {P}.refresh()")
        box = browser.run(f"(r => [r.left, r.top, r.right, r.bottom])({P}.view.getBoundingClientRect())")
        shot = picture(browser).crop(tuple(map(int, box)))
        clock = browser.run("document.querySelector('.clock').textContent")
        browser.run(f"{P}.now = {P}.span[0], {P}.refresh()")
        bob = f"{P}.data.items.filter(i => i.kind === 'Point').pop()"
        at = f"{bob}.at.slice(0, 3).map(k => {P}.reader.at({P}.runs[0], {P}.runs[0].lanes[0], {P}.now)[k])"
        x, y = browser.run(f"{P}.camera.onto({at}, 0, {P}.view.clientWidth, {P}.view.clientHeight)")
        browser.run(f"{P}.grip.take({x}, {y}), {P}.grip.move(20, -15)")
        moved = browser.run(f"[...{P}.asked.q, ...{P}.asked.v.map(v => v * {time})]")
        speed = browser.run(f"{P}.data.speed * 15 / {P}.span[1]") if k else None
        found.append((shot, moved, speed, clock))
        assert browser.complaints() == []
    (shot, moved, _, _), *others = found
    assert np.asarray(shot, dtype=float).std() > 1
    for other, more, speed, clock in others:
        assert not differ(shot, other)
        assert more == pytest.approx(moved, rel=1e-9) and speed == pytest.approx(1)
        assert float(clock.removeprefix("t = ")) > 0


def test_the_page_has_the_numbers_of_the_run(browser, tmp_path):
    e = da.gallery.load("double-pendulum")
    start = {k: 0.2 * v for k, v in e.start.items()}
    run = motion("double-pendulum", 1000, start=start, h=0.002)
    browser.open(run.animate(tmp_path / "a.html"))
    browser.until(READY)
    browser.run(f"{P}.asked.every = 1")
    browser.run(f"{P}.recompute()")
    found = np.array(browser.run(f"[...{P}.runs[0].lanes[0].values[0]]"))
    assert len(found) == 1001 and np.max(np.abs(found - run.theta1)) < 1e-12 * np.max(np.abs(run.theta1))


def test_another_method_drifts_beside(browser, pages):
    still(browser, pages / "plane.html")
    browser.until(READY)
    browser.run(
        "(s => { s.value = 1; s.dispatchEvent(new Event('change')); })(document.querySelectorAll('.panel select')[1])"
    )
    assert browser.run(f"{P}.runs.length") == 2
    drift = browser.run(f"{P}.runs.map(r => Math.max(...[...r.lanes[0].stored[0]].map(Math.abs)))")
    assert drift[0] != drift[1] and browser.complaints() == []
    browser.run("[...document.querySelectorAll('.panel button')].pop().click()")
    assert browser.run(f"{P}.runs.length") == 1 and not browser.run(f"{P}.runs[0].live")


def test_without_webgl_a_canvas_shows_the_same(browser, pages, tmp_path):
    text = (pages / "plane.html").read_text().replace('"spatial":', '"renderer":"canvas","spatial":', 1)
    (tmp_path / "canvas.html").write_text(text)
    shots = []
    for page, kind in ((pages / "plane.html", "WebGL"), (tmp_path / "canvas.html", "canvas")):
        still(browser, page)
        assert browser.run("document.querySelector('.dalembert-player').dataset.renderer") == kind
        view = "document.querySelector('.view').getBoundingClientRect()"
        box = browser.run(f"(r => [r.left, r.top, r.right, r.bottom])({view})")
        shots.append(np.asarray(picture(browser).crop(tuple(map(int, box))), dtype=float))
    painted = [np.abs(s - s[5, 5]).max(axis=2) > 60 for s in shots]
    assert painted[0].sum() > 300 and (painted[0] & painted[1]).sum() > 0.8 * painted[1].sum()


def test_nothing_is_cut_off_in_a_narrow_picture(browser, pages):
    """The gas fills the width of its picture; its ends stay inside, and the control, magnified, is cut."""
    for width, inside in ((390, True), (1440, True), (390, False)):
        still(browser, pages / "warm.html", width=width)
        browser.run(f"{P}.camera.zoom({1 if inside else 0.7}), {P}.refresh()")
        size = f"{P}.view.clientWidth, {P}.view.clientHeight"
        ends = [
            browser.run(f"{P}.camera.onto([{x}, 0, 0], 0, {size})[0] / {P}.view.clientWidth")
            for x in browser.run(
                f"(m => [m.middle[0] - m.reach / 1.18 * 1.25, m.middle[0] + m.reach / 1.18 * 1.25])({P}.measures)"
            )
        ]
        assert (min(ends) > 0.01 and max(ends) < 0.99) == inside


TIPS = """(p => {
  const ends = [], lane = p.runs[0].lanes[0], [w, h] = [p.view.clientWidth, p.view.clientHeight];
  for (let i = 0; i <= 40; i++) {
    const out = p.reader.at(p.runs[0], lane, p.span[0] + (p.span[1] - p.span[0]) * i / 40);
    for (const item of p.data.items) if (item.kind === "Vector") {
      const v = item.at.map(k => out[k]), part = p.measures.scales[item.vector] * p.measures.reach;
      const [x, y] = p.camera.onto([0, 1, 2].map(k => v[k] + part * v[k + 3]), 0, w, h);
      ends.push(x / w, y / h);
    }
  }
  return [Math.min(...ends), Math.max(...ends)];
})"""


@pytest.mark.parametrize("name", ["charged-particle", "block-and-hanging-weight"])
def test_arrows_are_not_cut_off(browser, tmp_path, name):
    """The first is a narrow helix upwards, near the eye at its end; the last arrow of the second points out of the picture."""
    e = da.gallery.load(name)
    run = motion(name, round((e.shown or e.until) / e.h))
    still(browser, run.animate(tmp_path / "a.html", live=False), width=620)
    browser.run(f"{P}.follow.checked = false, {P}.refresh()")
    low, high = browser.run(f"{TIPS}({P})")
    assert low > 0.01 and high < 0.99
    browser.run(f"{P}.camera.zoom(0.7), {P}.refresh()")
    low, high = browser.run(f"{TIPS}({P})")
    assert low < 0.01 or high > 0.99, "the control, magnified, is cut"


def test_a_picture_that_follows_does_not_pulsate(browser, tmp_path):
    """The distance of this particle shrinks and swings; the picture keeps the largest size so far, so that one sees it."""
    still(browser, motion("circulatory-oscillator", 4000, every=10).animate(tmp_path / "a.html", live=False))
    browser.run(f"{P}.follow.checked = true, {P}.refresh()")
    at = f"(t => {{ {P}.now = t * {P}.span[1]; {P}.refresh(); return {P}.camera.size; }})"
    sizes = browser.run(f"[...Array(41).keys()].map(i => {at}(i / 40))")
    assert np.all(np.diff(sizes) >= 0)


def test_a_method_that_was_recorded_beside_is_computed_too(browser, pages, tmp_path):
    other = motion("double-pendulum", method=da.RungeKutta4())
    chosen = f"{P}.beside.selectedOptions[0].textContent"
    for page, name, count in (
        (motion("double-pendulum").animate(tmp_path / "two.html", beside=other), "RungeKutta4()", 2),
        (pages / "plane.html", "—", 1),
    ):
        still(browser, page)
        browser.until(READY)
        assert browser.run(chosen) == name
        browser.run(f"{P}.recompute()")
        assert browser.run(f"{P}.runs.length") == count


def test_lanes_are_ghosts_beside_the_first(browser, tmp_path):
    e = da.gallery.load("pendulum")
    angle, *_ = e.system.coordinates
    start = e.start | {angle: np.linspace(0.5, 2.5, 30)}
    lanes = [motion("pendulum", 100, method, start=start) for method in (da.Midpoint(), da.StormerVerlet())]
    still(browser, lanes[0].animate(tmp_path / "a.html", beside=lanes[1], live=False))
    assert browser.run("document.querySelector('.notes').textContent") == "24 of 30 lanes are shown."
    many, shown = browser.run(f"({P}.paint(), {P}.objects)"), picture(browser)
    browser.run("[...document.querySelectorAll('.more input')].pop().click()")
    one = browser.run(f"({P}.paint(), {P}.objects)")
    assert differ(shown, picture(browser)) and many > 15 * one > 0


def test_graphs_are_drawn_once_and_only_the_present_moves(browser, pages):
    browser.open(pages / "plane.html")
    browser.until(READY)
    browser.run(f"{P}.setPlaying(true)")
    made, frames = browser.run(f"{P}.graph.made"), browser.run(f"{P}.frames")
    browser.until(f"{P}.frames > {frames + 10}")
    assert browser.run(f"{P}.graph.made") == made
    browser.run("document.querySelector('.choices input').click()")
    assert browser.run(f"{P}.graph.made") == made + 1


def test_dark_and_light(browser, pages):
    still(browser, pages / "space.html")
    light = np.asarray(picture(browser)).mean()
    still_dark = browser.open(pages / "space.html", dark=True)
    assert still_dark is None and np.asarray(picture(browser)).mean() < light / 2


def test_controls_have_names(browser, pages):
    browser.open(pages / "plane.html")
    browser.until(READY)
    every = "[...document.querySelectorAll('button, input, select, canvas, output')]"
    named = (
        "e.getAttribute('aria-label') || e.getAttribute('aria-hidden') || e.textContent.trim() || e.closest('label')"
    )
    nameless = f"{every}.filter(e => !({named})).map(e => e.outerHTML)"
    assert browser.run(nameless) == []
    assert browser.run("document.querySelectorAll('h1').length") == 1


def test_a_removed_player_frees_its_context(browser, pages):
    browser.open(pages / "plane.html")
    browser.run(f"window.held = {P}, document.querySelector('.dalembert-player').remove()")
    browser.until("held.painter.gl.isContextLost()")


def test_a_thousand_objects(browser, tmp_path):
    x = da.coordinates("x")
    items = [da.scene.Rod([i % 40, i // 40, x], [i % 40, i // 40 + da.sin(x + i), x]) for i in range(1, 1010)]
    many = da.System("many", [x], kinetic=x.dot**2 / 2, scene=items)
    run = da.simulate(many, da.Midpoint(), h=0.1, steps=100, start={x: 0, x.dot: 1})
    target = run.animate(tmp_path / "many.html")
    browser.open(target)
    assert browser.run(f"{P}.paint(), {P}.objects") >= 1000 and target.stat().st_size < 1e6
    count = "let n = 0; p.painter.gl.drawArraysInstanced = () => { n++; }; p.paint(); return n;"
    assert browser.run(f"(p => {{ {count} }})({P})") <= 4, "drawn in instances: one call for each mesh"


def test_what_is_small_has_few_corners(browser, tmp_path):
    """A thousand objects are drawn in a sixtieth of a second: graphics in a laptop draw a million corners in less."""
    theta = da.coordinates("theta")
    s, turn = da.scene, theta * sympy.Rational(1, 3)
    places = [[k % 20, k // 20, 0] for k in range(200)]
    items = [s.Sphere([x, y, sympy.sin(theta + x) / 3], sympy.Rational(1, 5), turn) for x, y, _ in places]
    many = da.System("many", [theta], kinetic=theta.dot**2 / 2, scene=items)
    alone = da.System("one", [theta], kinetic=theta.dot**2 / 2, scene=[s.Sphere([0, 0, theta], 1, turn)])
    counts = []
    for system in (many, alone):
        run = da.simulate(system, da.Midpoint(), h=0.1, steps=10, start={theta: 0.0, theta.dot: 1e-3})
        still(browser, run.animate(tmp_path / "a.html", live=False))
        lists = f"Object.entries({P}.batch.lists)"
        counts.append(browser.run(f"{lists}.reduce((n, [m, l]) => n + l.n * {P}.painter.parts[m].count, 0)"))
        assert browser.complaints() == []
    assert counts[0] < 200 * 2000 and counts[1] > 10_000  # a globe
