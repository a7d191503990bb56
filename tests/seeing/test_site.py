"""The site: every public name has an example that runs, every gallery system a level and a page, nothing is fetched."""

from __future__ import annotations

import importlib
import re
import sys
from pathlib import Path

import pytest

import dalembert as da

from .test_accessible import LOOKS, violations

DOCS = Path(__file__).parents[2] / "docs"
EXTERNAL = re.compile(r"""<(?:script|link|img|iframe|source|video)\b[^>]*?(?:src|href)=["']?(?:https?:)?//[^"'>]*""")
SYSTEMS = ("pendulum", "heavy-top")


@pytest.fixture(scope="module")
def scripts():
    """The scripts of the documentation, by name."""
    sys.path.insert(0, str(DOCS))
    yield importlib.import_module
    sys.path.remove(str(DOCS))


@pytest.fixture(scope="module")
def tutorials(scripts):
    return scripts("make_tutorials")


@pytest.fixture(scope="module")
def gallery(scripts):
    return scripts("make_gallery")


def examples():
    return [DOCS / "coming-from.md", *sorted((DOCS / "how-to").glob("*.md")), *sorted((DOCS / "api").glob("*.md"))]


@pytest.mark.parametrize("page", examples(), ids=lambda page: page.stem)
def test_the_examples_print_what_they_show(page, tutorials, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = page.read_text()
    reports = tutorials.stale(text, tutorials.run(text, page.name))
    assert not reports, "run python docs/make_tutorials.py\n" + "\n".join(reports)


def test_every_page_of_examples_is_among_those_that_are_run(tutorials):
    assert list(tutorials.EXAMPLES) == examples()


def test_every_public_name_has_one_example_that_uses_it(scripts, tutorials):
    named = {}
    for page in sorted((DOCS / "api").glob("*.md")):
        parts = re.split(r"^## `(\w+)`$", page.read_text(), flags=re.M)
        for name, text in zip(parts[1::2], parts[2::2], strict=True):
            assert name not in named, f"{name} has two examples"
            named[name] = tutorials.blocks(text)
    public = [name for names in scripts("make_reference").chapters().values() for name in names]
    assert sorted(named) == sorted(public)
    for name, blocks in named.items():
        assert blocks and any(b.output for b in blocks), f"the example of {name} prints nothing"
        assert any(re.search(rf"\b{name}\b", b.code) for b in blocks), f"{name} is not used"


def test_every_gallery_system_has_one_level(gallery):
    listed = [name for names in gallery.LEVELS.values() for name in names.split()]
    assert sorted(listed) == sorted(da.gallery.names())
    assert set(gallery.MEANING) == set(gallery.LEVELS) == {"first", "second", "research"}
    index = gallery.index(da.gallery.names())
    for name in da.gallery.names():
        assert f"]({name}.md)" in index


@pytest.mark.parametrize("name", ["pendulum", "cart-with-friction"])
def test_the_code_of_a_gallery_page_prints_its_audit(name, gallery, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    page = gallery.page(name, f"{name}.html", live=True)
    capsys.readouterr()
    exec(gallery.code(name), {})
    assert capsys.readouterr().out.strip() in page
    assert (tmp_path / f"{name}.html").exists() and f"```python\n{gallery.code(name)}```" in page


@pytest.mark.parametrize("name", ["half-disc-rolling", "rod-with-knife-edge", "cart-pendulum-driven"])
def test_a_system_of_a_book_says_the_book_here_difference(name, gallery):
    _, told, table = gallery._book(name)
    rows = [row.strip("| ").split(" | ") for row in table.splitlines()[2:]]
    system = da.gallery.load(name).system
    assert len(rows) == len(system.coordinates) + len(system.constraints) and "example 7" in told
    for _, book, here, difference in rows:
        assert abs(float(book) - float(here)) <= 1e-11 * max(1, abs(float(book))) and float(difference) < 1e-11


def test_control_other_numbers_are_not_those_of_the_book(gallery):
    beside = gallery.beside
    fixture = gallery.FIXTURES["half-disc-rolling"]
    (_, said, here), *_ = beside(fixture)
    assert abs(said - here) < 1e-12 < abs(1.01 * said - here)


def test_systems_without_a_book_have_no_table(gallery):
    assert list(gallery._book("snakeboard")) == []


def test_the_chapters_of_the_site_name_pages_that_exist(scripts):
    site = scripts("make_site")
    for page in site.pages():
        assert any((DOCS.parent / f"{page}.{kind}").exists() for kind in ("md", "ipynb")), page


def test_links_to_what_is_not_in_the_site_become_words(scripts):
    within = scripts("make_site")._within
    folder = Path("/somewhere")
    text = (
        "[a](conventions.md#names) [b](../src/x.py) [c](https://x.org) [d](reference.md)\n```python\n[e](f.py)\n```\n"
    )
    kept = "[a](conventions.md#names) b [c](https://x.org) [d](api/index.md)\n```python\n[e](f.py)\n```\n"
    assert within(folder, "docs/first-steps", text) == kept


def test_formulas_become_mathml(scripts):
    pytest.importorskip("latex2mathml", reason="pip install dalembert[site]")
    sys.path.insert(0, str(DOCS / "site"))
    formula = scripts("mathml").formula
    sys.path.remove(str(DOCS / "site"))
    made = formula(r"\displaystyle \frac{m \dot{x}^{2}}{2} - \operatorname{atan}{\left(x \right)}", "block")
    assert made.startswith("<math") and "<mfrac>" in made and "atan" in made
    assert "\\" not in made and "displaystyle" not in made.replace('display="block"', "")
    assert '<mo class="mark"' in made, "dots are larger than the converter makes them"
    rows = formula(r"\displaystyle \begin{aligned}m \ddot{x} &= 0 \\ y &= 1\end{aligned}", "block")
    assert rows.count("<mtr>") == 2 and "<mi>&" not in rows


@pytest.fixture(scope="module")
def site(scripts, tmp_path_factory, monkeypatch_module):
    """A site with two systems of the gallery."""
    for needed in ("sphinx", "myst_parser", "furo", "latex2mathml"):
        pytest.importorskip(needed, reason="pip install dalembert[site]")
    made, folder = scripts("make_site"), tmp_path_factory.mktemp("site")
    monkeypatch_module.setattr(made, "CACHE", folder / "cache")
    assert made.build(folder / "html", SYSTEMS, folder / "source") == 0
    return folder / "html"


@pytest.fixture(scope="module")
def monkeypatch_module():
    with pytest.MonkeyPatch.context() as patch:
        yield patch


@pytest.mark.slow
def test_no_page_fetches_anything(site):
    pages = sorted(site.rglob("*.html"))
    assert len(pages) > 40
    for page in pages:
        assert not EXTERNAL.findall(page.read_text()), page
    assert EXTERNAL.findall('<script src="https://cdn.example/mathjax.js">')  # the control
    assert (site / "searchindex.js").read_text().startswith("Search.setIndex(")


@pytest.mark.slow
def test_a_gallery_page_has_its_parts(site):
    page = (site / "docs" / "gallery" / "pendulum.html").read_text()
    for part in ("Statement", "Equations", "Integrals", "Numbers", "Motion", "Source"):
        assert f"<h2>{part}<" in page
    assert page.count("<math") > 8 and "Level: first" in page
    assert (site / "docs" / "gallery" / "players" / "pendulum.html").stat().st_size < 1_000_000


@pytest.mark.slow
@pytest.mark.parametrize("width", [390, 1440])
@pytest.mark.parametrize("name", ["index", "docs/gallery/heavy-top", "docs/api/theory", "docs/conventions"])
def test_a_page_is_quiet_and_fits(browser, site, name, width):
    browser.open(site / f"{name}.html", width=width)
    assert browser.complaints() == []
    assert all(url.startswith("file:") for url in browser.requests())
    assert browser.run("document.documentElement.scrollWidth") <= width


@pytest.mark.slow
@pytest.mark.parametrize("name", ["index", "docs/gallery/heavy-top", "docs/gallery/index", "docs/first-steps"])
def test_contrast_headings_and_names(browser, site, axe, name):
    for width, dark in LOOKS:
        assert violations(browser, axe, site / f"{name}.html", width, dark)[0] == []


@pytest.mark.slow
def test_the_search_finds_a_page_from_the_disk(browser, site):
    browser.open(site / "search.html")
    browser.send("Page.navigate", url=(site / "search.html").as_uri() + "?q=pendulum")
    browser.until("document.querySelectorAll('#search-results li').length > 3")
    assert browser.complaints() == []
