"""The tutorials print what they show: every page is executed, and its outputs are compared with those in the page."""

from __future__ import annotations

import re

import pytest

from .pages import DOCS, load

tutorials = load("make_tutorials")
THEMES = ["constraints-and-reactions", "moving-frames", "small-oscillations", "snakeboard", "what-is-conserved"]


def test_every_theme_has_its_page():
    themes = sorted([*THEMES, "inverse-problem"])
    assert [page.stem for page in tutorials.PAGES] == [
        "first-steps", "for-geometers", "choosing-a-method", "discrete-reduction", *themes
    ]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("page", tutorials.PAGES, ids=lambda page: page.stem)
def test_the_page_prints_what_it_shows(page, tmp_path, monkeypatch):
    """Numbers to a few digits; every picture that the page shows is drawn by its code."""
    monkeypatch.chdir(tmp_path)
    text = page.read_text()
    reports = tutorials.stale(text, tutorials.run(text, page.name))
    assert not reports, "run python docs/make_tutorials.py\n" + "\n".join(reports)
    shown = set(re.findall(r"pictures/(tutorials-[\w-]+\.png)", text))
    assert shown == {p.name for p in tmp_path.glob("tutorials-*.png")}
    assert shown or page.stem not in THEMES


@pytest.mark.parametrize("name", THEMES)
def test_links_and_pictures_exist(name):
    page = DOCS / "tutorials" / f"{name}.md"
    for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"


PAGE = """# Title

```python
import math

x = math.pi
print(f"pi is {x:.6f}")
x / 2
```

<!-- output -->
```text
pi is 3.141593
1.5707963267948966
```

Text between.

```python
y = x + 1
```

```python
print(round(y), "and", 1e-17)
```

<!-- output -->
```text
4 and 1e-17
```
"""


def changed(old, new):
    assert old in PAGE
    text = PAGE.replace(old, new)
    return tutorials.stale(text, tutorials.run(text))


def test_a_page_whose_output_is_right_is_not_stale():
    assert tutorials.stale(PAGE, tutorials.run(PAGE)) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("text\npi is 3.141593", "text\npi is 3.1416"),  # fewer digits
        ("4 and 1e-17", "4 and -3.2e-16"),  # another rounding error
        ("text\npi is 3.141593\n", "text\npi   is 3.141593\n\n"),  # other spaces
    ],
)
def test_differences_that_do_not_count(old, new):
    assert changed(old, new) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("text\npi is 3.141593", "text\npi is 3.161593"),  # a wrong number
        ("text\npi is", "text\npi was"),  # a wrong word
        ("4 and", "5 and"),  # a wrong whole number
        ("1.5707963267948966\n", ""),  # a value that is not shown
        ("y = x + 1", "y = x + 1.5"),  # code that was changed afterwards
        ("\n<!-- output -->\n```text\n4 and 1e-17\n```\n", ""),  # an output that is missing
    ],
)
def test_differences_that_count(old, new):
    (report,) = changed(old, new)
    assert "the output has changed" in report


@pytest.mark.parametrize(
    ("old", "new", "agree"),
    [
        ("error 5.2e-06", "error 5.3e-06", True),  # one unit in the last digit
        ("error 5.2e-06", "error 5.4e-06", False),
        ("x = 1", "x = 0.9999", True),
        ("x = 1.1", "x = 1.2", False),
        ("x = 2", "x = 3", False),
        ("x = -0.00000", "x = 0.00000", True),
        ("x = 1.5", "x = -1.5", False),
        ("lambda_1 = 2.5", "lambda_2 = 2.5", False),
    ],
)
def test_numbers_are_compared_to_a_few_digits(old, new, agree):
    assert tutorials.same(old, new) is agree


def test_writing_a_page_again_changes_nothing():
    fresh = tutorials.run(PAGE)
    assert tutorials.written(PAGE, fresh) == PAGE
    bare = re.sub(r"\n<!-- output -->\n```text\n.*?```\n", "", PAGE, flags=re.S)
    assert "```text" not in bare
    assert tutorials.written(bare, tutorials.run(bare)) == PAGE


def test_warnings_are_shown_and_errors_name_the_line():
    (block,) = tutorials.run("```python\nimport warnings\nwarnings.warn('look out')\n```\n")
    assert block.output == "UserWarning: look out\n"
    with pytest.raises(ZeroDivisionError) as caught:
        tutorials.run("# Title\n\n```python\n1 / 0\n```\n", "broken.md")
    place = caught.tb
    while place.tb_next is not None:
        place = place.tb_next
    assert (place.tb_frame.f_code.co_filename, place.tb_lineno) == ("broken.md", 4)


def test_long_sentences_are_folded_and_formulas_are_not():
    sentence = "a sentence of many words " * 8
    (block,) = tutorials.run(f"```python\nprint({sentence.strip()!r})\nprint('x⋅y ' * 60)\n```\n")
    lines = block.output.splitlines()
    assert max(map(len, lines[:-1])) <= tutorials.WIDTH < len(lines[-1])
    assert tutorials.same(block.output, f"{sentence}\n{'x⋅y ' * 60}")
