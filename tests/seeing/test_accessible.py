"""Contrast, headings and names in pages, by axe-core (Deque's rules for WCAG), in light and in dark, narrow and wide.

`.ci/run` installs axe-core with npm in .cache/axe; where it is not there, these tests are skipped, and say so.
"""

from __future__ import annotations

import pytest

import dalembert as da

LOOKS = [(390, False), (1440, False), (1440, True)]


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("accessible")
    e = da.gallery.load("rolling-disk")
    run = da.simulate(e.system, da.Midpoint(), h=e.h, steps=100, start=e.start, parameters=e.parameters)
    run.animate(folder / "player.html")
    run.report(folder / "report.html", lang="es", seconds=1)
    return folder


def violations(browser, axe, page, width=1440, dark=False):
    """The rules that a page breaks, each with its first place; and the rules that it was tried on."""
    browser.open(page, width=width, dark=dark)
    browser.run(f"{axe}; 0")
    told = "r => ({broken: r.violations.map(v => [v.id, v.nodes[0].html]), passed: r.passes.map(p => p.id)})"
    found = browser.run(f"axe.run(document).then({told})")
    return found["broken"], found["passed"]


@pytest.mark.parametrize("name", ["player", "report"])
@pytest.mark.parametrize(("width", "dark"), LOOKS)
def test_nothing_is_broken(browser, axe, pages, name, width, dark):
    broken, passed = violations(browser, axe, pages / f"{name}.html", width, dark)
    assert broken == []
    assert {"color-contrast", "page-has-heading-one", "heading-order"} <= set(passed)


def test_control_what_is_broken_is_seen(browser, axe, tmp_path):
    page = tmp_path / "broken.html"
    page.write_text(
        "<!doctype html><html lang=en><title>t</title><main><h1>a</h1><h4>b</h4>"
        "<p style='color:#bbb;background:#fff'>faint</p><img src='data:,'><button></button></main></html>"
    )
    rules = {rule for rule, _ in violations(browser, axe, page)[0]}
    assert {"color-contrast", "heading-order", "image-alt", "button-name"} <= rules
