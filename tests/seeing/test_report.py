"""Reports: their structure, their numbers, both languages, and how they look in a browser."""

from __future__ import annotations

import html
import re
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import sympy

import dalembert as da
from dalembert import words
from dalembert.report import reproduction
from dalembert.report.html_parts import Writer
from dalembert.theory.constraints.constraint_functions import ConstraintFunction
from dalembert.theory.constraints.verdicts import ConstraintRecord
from dalembert.words import sentence

pytestmark = pytest.mark.slow  # searches and figures of whole reports

VOID = {"meta", "link", "img", "br", "input", "hr"}


class Page(HTMLParser):
    """What a test asks of a page: headings, texts of sections, tables, attributes; tags must close in order."""

    def __init__(self, path):
        super().__init__()
        self.source = path.read_text(encoding="utf-8")
        self.open, self.headings, self.images, self.attributes, self.lang = [], [], [], [], ""
        self.tables, self.texts, self.ids, self.cell, self.english = [], {}, [], None, []
        self.section = ""
        self.feed(self.source)
        assert not self.open, self.open

    def handle_starttag(self, tag, attributes):
        held = dict(attributes)
        self.attributes += attributes
        self.lang = held.get("lang", self.lang) if tag == "html" else self.lang
        self.ids += [held["id"]] if "id" in held else []
        if tag == "section":
            self.section = held["id"]
        if re.fullmatch("h[1-6]", tag):
            self.headings.append((int(tag[1]), ""))
        if tag == "img":
            self.images.append(held)
        if tag == "table":
            self.tables.append((self.section, []))
        if tag == "tr" and "table" in self.open:
            self.tables[-1][1].append([])
        if tag in ("td", "th"):
            self.tables[-1][1][-1].append("")
        if tag not in VOID:
            self.open.append((held.get("lang") and tag == "span" and "english") or tag)

    def handle_startendtag(self, tag, attributes):
        pass

    def handle_endtag(self, tag):
        assert self.open.pop() in (tag, "english"), (tag, self.open)

    def handle_data(self, data):
        inside = set(self.open)
        if inside & {"script", "style"}:
            return
        self.texts[self.section] = self.texts.get(self.section, "") + data
        if "english" in inside:
            self.english.append(data)
        if inside & {"h1", "h2", "h3"} and self.open[-1] in ("h1", "h2", "h3"):
            level, text = self.headings[-1]
            self.headings[-1] = level, text + data
        if inside & {"td", "th"}:
            self.tables[-1][1][-1][-1] += data


def motion(name, steps=200, **more):
    e = da.gallery.load(name)
    return da.simulate(e.system, da.Midpoint(), h=e.h, steps=steps, start=e.start, parameters=e.parameters, **more)


@pytest.fixture(scope="module")
def run():
    return motion("rolling-disk")


@pytest.fixture(scope="module")
def folder(run, tmp_path_factory):
    place = tmp_path_factory.mktemp("reports")
    for lang in ("en", "es"):
        run.report(place / f"{lang}.html", lang=lang)
    return place


@pytest.fixture(scope="module", params=["en", "es"])
def page(folder, request):
    return request.param, Page(folder / f"{request.param}.html")


def test_the_structure(page):
    lang, found = page
    assert found.lang == lang
    levels = [level for level, _ in found.headings]
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    wanted = ["picture-of", "statement", "constraints", "equations", "integrals", "equilibria", "modes", "method"]
    sections = [*wanted, "figures", "audit", "reproduce"]
    assert [i for i in found.ids if not i.endswith("-title")] == sections
    assert all(held.get("alt") for held in found.images) and found.images
    assert found.source.count("<math") > 10 and found.source.count("<th scope=") > 20
    assert all(rows[0] for _, rows in found.tables)


def test_no_address_but_of_namespaces(page):
    _, found = page
    outside = set(re.findall(r"""https?://[^\s"'<>)]+""", found.source))
    assert not outside
    targets = [v for k, v in found.attributes if k in ("src", "href")]
    assert all(v.startswith(("data:", "#")) for v in targets) and "@import" not in found.source


def test_the_audit_in_the_report_is_that_of_the_run(run, page):
    lang, found = page
    (_, rows) = next(t for t in found.tables if t[0] == "audit")
    audit = da.audit(run)
    assert [row[3:5] for row in rows[1:]] == [[f"{r.value:.6g}", f"{r.deviation:.1e}"] for r in audit.rows]
    told = Writer(lang)
    assert [row[5] for row in rows[1:]] == [re.sub("<[^>]*>", "", told.said(r.verdict)) for r in audit.rows]


def test_numbers_of_the_method_and_the_start(run, page):
    _, found = page
    values = {row[0]: row[1] for section, rows in found.tables for row in rows if section == "reproduce"}
    assert all(float(values[name]) == float(v) for name, v in run.parameters.items())
    assert all(float(values[q.name]) == run[q][0] for q in run.system.coordinates)
    assert all(float(values[q.dot.name]) == run[q.dot][0] for q in run.system.coordinates)


def test_spanish_has_every_sentence(folder):
    assert Page(folder / "es.html").english == []
    assert words.sentence("something that no result says", "es") is None


def test_every_word_that_is_used_is_in_the_catalogue():
    folder = Path(words.__file__).parents[1] / "report"
    used = set(re.findall(r"""word\(\s*"([^"]+)\"""", "".join(p.read_text() for p in folder.glob("*.py"))))
    assert len(used) > 30 and used <= set(words.english.REPORT)
    assert {f"fig {kind}" for kind in ("path", "coordinates", "energy", "momenta")} <= set(words.english.REPORT)


def test_control_a_sentence_half_in_english_is_no_translation():
    assert words.sentence("momentum of x: phi is cyclic", "es") == "momento de x: phi es cíclica"
    assert words.sentence("momentum of x: this has no translation", "es") is None


def test_every_language_has_every_word():
    catalogues = words.LANGUAGES.values()
    for part in ("PLAYER", "REPORT"):
        assert len({frozenset(getattr(c, part)) for c in catalogues}) == 1
        for key in words.english.REPORT if part == "REPORT" else words.english.PLAYER:
            places = [re.findall(r"(?<!{){\w*}", getattr(c, part)[key]) for c in catalogues]
            assert len({tuple(sorted(p)) for p in places}) == 1, key
    for source, target in words.spanish.SENTENCES.items():
        assert source.count("{}") == target.count("{}"), source


def code_of(path):
    listings = re.findall(r"<pre[^>]*><code>(.*?)</code></pre>", path.read_text(), re.S)
    return [html.unescape(text) for text in listings]


def test_the_code_computes_the_run(run, folder):
    code, command = code_of(folder / "en.html")
    held = {}
    exec(code, held)
    for q in run.system.coordinates:
        assert held["run"][q] == pytest.approx(run[q], rel=1e-9, abs=1e-12)
    assert command == "dalembert run rolling-disk --method midpoint --h 0.05 --until 10.0 --report report.html"


def test_code_of_a_system_of_ones_own(tmp_path):
    x, y = da.coordinates("x y")
    m, g = da.parameters("m g")
    system = da.System(
        "bead", [x, y], kinetic=m * (x.dot**2 + y.dot**2) / 2, potential=m * g * y, forces={x: -0.1 * x.dot},
        constraints=[y - x**2],
    )  # fmt: skip
    start, values = {x: 1, y: 1, x.dot: 0}, {m: 1, g: 9.81}
    run = da.simulate(system, da.Midpoint(), h=0.01, steps=50, start=start, parameters=values)
    path = run.report(tmp_path / "own.html", live=False, seconds=1)
    held = {}
    exec(code_of(path)[0], held)
    assert held["system"] == system
    assert held["run"].x == pytest.approx(run.x, rel=1e-9)


@pytest.mark.parametrize("name", ["heavy-top", "pendulum-on-sphere", "chaplygin-ball-in-space", "heavy-top-on-cart"])
def test_code_of_systems_on_groups(name):
    """A start has points and velocities of groups by name."""
    e = da.gallery.load(name)
    run = da.simulate(e.system, da.Midpoint(), h=e.h, steps=5, start=e.start, parameters=e.parameters)
    text, held = reproduction.code(e.system, run, reproduction.parameters_of(run)), {}

    def difference():
        exec(text, held)
        return np.abs(held["run"].records - run.records).max() / np.abs(run.records).max()

    assert difference() < 1e-13
    text = text.replace("h=", "h=1.01 * ")  # the control
    assert difference() > 1e-6


def test_a_report_of_a_system(tmp_path):
    e = da.gallery.load("heavy-top")
    found = Page(e.system.report(tmp_path / "a.html", seconds=1))
    assert "Values of the parameters are needed" in found.texts["equilibria"]
    found = Page(e.system.report(tmp_path / "b.html", seconds=1, parameters=e.parameters, about="a <b> & c"))
    assert "a <b> & c" in found.texts[""]


@pytest.mark.parametrize("name", ["two-gas-chambers", "free-rigid-body"])
def test_what_does_not_apply_is_told(name, tmp_path):
    found = Page(motion(name, 20).report(tmp_path / "a.html", seconds=1, live=False))
    assert "Not in this report" in found.texts["equilibria"] + found.texts["integrals"]
    assert [s for s, _ in found.tables].count("audit") == 1


def test_lanes_steps_and_failures(tmp_path):
    found = Page(motion("pendulum", 0).report(tmp_path / "none.html", seconds=1))
    assert "without steps" in found.texts["figures"]
    system = da.discretise(da.gallery.load("pendulum").system, da.Midpoint())
    e = da.gallery.load("pendulum")
    theta = system.coordinates[0]
    run = da.simulate(system, h=e.h, steps=20, start={theta: 2, theta.momentum: 0}, parameters=e.parameters)
    assert "Discrete Lagrangian" in Page(run.report(tmp_path / "d.html", seconds=1, live=False)).texts["statement"]


MESSAGES = [
    (lambda run, to: run.report(to / "a.pdf"), r"report: .*a.pdf has no known suffix. Known are .html"),
    (lambda run, to: run.report(7), r"report: got 7. Expected the path of a page: 'report.html'"),
    (lambda run, to: run.report(to / "a.html", lang="xx"), r"lang='xx': there are words in en, es"),
    (lambda run, to: run.report(to / "a.html", seconds=-1), r"report: seconds"),
    (lambda run, to: run.report(to / "a.html", about=3), r"report: about=3. Expected a text"),
    (lambda run, to: motion("pendulum", 0).report("/proc/none/a.html"), r"report: /proc/none/a.html cannot be written"),
]


@pytest.mark.parametrize(("make", "message"), MESSAGES, ids=range(len(MESSAGES)))
def test_messages(run, tmp_path, make, message):
    with pytest.raises(da.StartError, match=message):
        make(run, tmp_path)


@pytest.mark.parametrize("width", [390, 1440])
def test_it_fits_the_screen_and_is_quiet(browser, folder, width):
    path = folder / "es.html"
    browser.open(path, width=width)
    assert browser.requests() == [path.as_uri()] and browser.complaints() == []
    assert browser.run("document.documentElement.scrollWidth") <= width
    outside = "e => !e.closest('.wide, .overlay') || e.matches('.wide')"
    wide = f"[...document.querySelectorAll('body *')].filter({outside})"
    wide += ".filter(e => e.getBoundingClientRect().right > innerWidth + 1)"
    assert browser.run(f"{wide}.map(e => e.tagName + e.className)") == []
    heights = browser.run(
        "[...document.querySelectorAll('math[display=block]')].map(e => e.getBoundingClientRect().height)"
    )
    assert len(heights) > 5 and min(heights) > 12
    levels = browser.run("[...document.querySelectorAll('h1,h2,h3,h4')].map(e => +e.tagName[1])")
    assert levels.count(1) == 1 and all(b <= a + 1 for a, b in pairwise(levels))


def test_integrals_of_rotations_need_no_search(tmp_path):
    told = Page(motion("heavy-top", 20).report(tmp_path / "a.html", seconds=1, live=False)).texts["integrals"]
    assert "angular momentum of R about the z axis of space" in told and "Not in this report" not in told


@pytest.mark.parametrize("name", da.gallery.names())
def test_the_names_of_invariants_are_in_the_catalogue(name):
    missing = [k for k in da.gallery.load(name).invariants if sentence(k, "es") is None]
    assert not missing


def test_boxes_of_several_coordinates_are_translated():
    box = "theta in [-3.14, 3.14], phi in [-1, 1], psi in [0, 2]"
    whole = f"top: 4 equilibria with {box}, and no other (33 boxes examined)"
    told = sentence(whole, "es")
    assert told == f"top: 4 equilibrios con {box.replace(' in ', ' en ')}, y ningún otro (33 cajas examinadas)"


def test_names_in_quotes_may_be_in_any_language():
    told = sentence(
        "classify: 'ball on a plane' has the rotation R. Expected a system whose coordinates are numbers; state it by "
        "angles and distances for this.",
        "es",
    )
    assert told.startswith("classify: 'ball on a plane' tiene la rotación R.")


def test_sentences_of_the_first_law_are_translated():
    english = "energy +4e-08, work +0, heat +1 in all; 9.1e-08 left over in the worst step, at t = 0.018."
    english += " The energy changes by heat from outside."
    assert sentence(english, "es").startswith("energía +4e-08, trabajo +0, calor +1 en total")


def test_every_word_that_is_asked_for_is_in_the_catalogue():
    """Keys that are written in the code; the catalogues of all languages have the same keys."""
    asked = set()
    for path in (Path(da.__file__).parent / "report").glob("*.py"):
        asked |= set(re.findall(r'\bword\(\s*"([^"{]+)"[,)]', path.read_text(encoding="utf-8")))
    assert len(asked) > 30 and asked <= set(words.report_words("en"))
    assert words.report_words("en").keys() == words.report_words("es").keys()


def test_a_report_has_names_for_parts_of_long_formulas(tmp_path):
    """Of all gallery systems, this one has the longest equations."""
    system = da.gallery.load("thermoelastic-double-pendulum").system
    page = system.report(tmp_path / "long.html", lang="es", seconds=0.1).read_text(encoding="utf-8")
    assert page.count("<p>donde</p>") >= 4


def test_a_name_of_a_part_stands_for_one_thing_in_a_report(tmp_path):
    """In two formulas parts have the same names only if they are the same parts."""
    system = da.gallery.load("thermoelastic-double-pendulum").system
    page = system.report(tmp_path / "long.html", seconds=0.1).read_text(encoding="utf-8")
    said = re.findall(r'<math display="block">(<msub><mi>&#963;</mi><mn>\d+</mn></msub>)<mo>=</mo>(.*?)</math>', page)
    meanings = dict(said)
    assert len(meanings) > 5 and len(said) > len(meanings)  # some come again
    assert all(meanings[name] == part for name, part in said)
    assert len(set(meanings.values())) == len(meanings)


def test_what_a_constraint_is_has_words_in_spanish():
    kinds = [(v, d) for v in ("none", "linear", "affine", "nonlinear") for d in (None,)]
    kinds += [("homogeneous", None), ("homogeneous", 1), ("homogeneous", sympy.Rational(-3, 2))]
    x, y = da.coordinates("x y")
    for velocities, degree in kinds:
        for k in range(16):
            flags = [bool(k >> i & 1) for i in range(4)]
            told = f"1: {ConstraintFunction(x.dot, velocities, degree, *flags)}."
            assert sentence(told, "es") is not None, told
    law = x.dot**2 - y.dot**2 - 1
    system = da.System("a", [x, y], kinetic=(x.dot**2 + y.dot**2) / 2, constraints=[law])
    record = ConstraintRecord.nonlinear(system.constraints[0])
    for reason in (record.reason, ConstraintRecord.inequality(x > 0).reason):
        assert sentence(f"1: {reason}.", "es") is not None
    assert sentence("1: homogeneous in the velocities of some unknown kind.", "es") is None


def test_the_energy_is_written_once_in_a_report(tmp_path):
    """Where integrals are not searched (here: because of heat), the energy reads as among the equations, multiplied out."""
    e = da.gallery.load("rolling-disk-with-friction")
    text = e.system.report(tmp_path / "a.html", seconds=0.1).read_text(encoding="utf-8")
    formula = re.compile(r"<math.*?</math>", re.S)
    derived = formula.search(text, text.index("Energy", text.index('id="equations"')))
    found = formula.search(text, text.index('id="integrals"'))
    assert derived and found and derived[0] == found[0]


def test_a_verdict_before_its_reason_is_no_name():
    assert words.sentence("conserved: phi is cyclic", "es") == "se conserva: phi es cíclica"
    assert words.sentence("not conserved: phi is cyclic", "es") == "no se conserva: phi es cíclica"
    assert words.sentence("the disk: 2 first integrals", "es") == "the disk: 2 integrales primeras"


def test_names_with_apostrophes_are_names():
    """Python writes them in the other quotes."""
    for name in ("'top'", '"Suslov\'s problem"'):
        told = f"equilibria: {name} has the rotation R. Expected a system whose coordinates are numbers; "
        found = sentence(f"{told}state it by angles and distances for this.", "es")
        assert found is not None and f"'{name[1:-1]}' tiene la rotación R" in found


@pytest.mark.verify
@pytest.mark.parametrize("name", da.gallery.names())
def test_a_report_in_spanish_has_no_english(name, tmp_path):
    """Minutes in all."""
    e = da.gallery.load(name)
    for method in (da.Midpoint(), da.Rattle(), da.RungeKutta4()):
        try:
            run = da.simulate(e.system, method, h=e.h, steps=10, start=e.start, parameters=e.parameters)
            break
        except da.MethodError:
            continue
    page = run.report(tmp_path / "es.html", lang="es", seconds=0.5, live=False, invariants=e.invariants).read_text()
    assert re.findall(r'<span lang="en">(.*?)</span>', page, re.S) == []
