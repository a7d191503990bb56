"""The pages about the code say what is there: rooms, arrows, doors, modules, files to change, printed results."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import pytest

from .test_architecture import ALLOWED, COMMON, DOORS, SOURCE, imports, modules, room

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "architecture.md").read_text()
PAGES = ("docs/architecture.md", "docs/checklist.md", "docs/conventions.md", "CONTRIBUTING.md", "README.md")
TWELVE = (
    "a variational integrator with an interior point", "an impulsive constraint", "a CUDA back end", "a tolerance per run",
    "a new load", "another file format for runs", "a first-integral search", "Lyapunov exponents", "a model file",
    "a new group", "sparse elimination", "SIMD lanes",
)  # fmt: skip


def sections(text):
    """{heading: text below it}, for headings of the second and third level."""
    parts = re.split(r"^###? (.+)$", text, flags=re.M)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def rows(text):
    """The cells of the rows of the first table of a text, without its heading."""
    table = re.search(r"(^\|.*\|\n)+", text, flags=re.M)
    found = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in table[0].splitlines()]
    return [[cell.strip("| ") for cell in cells] for cells in found[2:]]


def quoted(text):
    return re.findall(r"`([^`\n]+)`", text)


def test_the_page_has_the_arrows_of_the_test():
    stated = {quoted(name)[0]: set(quoted(arrows)) for name, arrows in rows(PAGE)}
    assert stated == {name: arrows for name, arrows in ALLOWED.items() if arrows}


def test_no_arrow_is_allowed_that_nobody_uses():
    used = {(room(a), room(b)) for a, b in imports() if (a, b) not in DOORS}
    unused = [f"{a} -> {b}" for a, targets in ALLOWED.items() for b in targets if (a, b) not in used]
    assert not unused, "take these out of ALLOWED and of docs/architecture.md"


def test_what_every_room_may_import_sees_nothing_else():
    for a, b in imports():
        if room(a) in COMMON:
            assert room(b) in COMMON | ALLOWED[room(a)]


def test_the_page_has_the_doors_of_the_test():
    stated = {(quoted(a)[0], quoted(b)[0]): quoted(what)[0] for a, b, what in rows(sections(PAGE)["Doors"])}
    assert stated == DOORS


def unnamed(page):
    """Modules that the paragraph of their room does not name."""
    paragraphs = {name: set(quoted(text)) for name, text in sections(page).items()}
    shared = set(quoted(sections(page)["errors, numbers, symbolic, display"]))
    missing = []
    for module, path in modules().items():
        if path.name == "__init__.py" or module == "cli":
            continue
        named = paragraphs.get(room(module), set()) if "/" in module else shared
        missing += [module] if module.rpartition("/")[2] not in named else []
    return missing


def test_every_module_is_named_in_the_paragraph_of_its_room():
    assert not unnamed(PAGE), "name these in docs/architecture.md, with what they hold"


def test_control_a_module_that_is_not_named_is_seen():
    assert set(unnamed(PAGE.replace("`principle`", "`principal`"))) - set(unnamed(PAGE)) == {"model/principle"}


def strangers(text):
    """Paths in backticks that lead nowhere, but for files that are marked as new."""
    new = set(re.findall(r"`([^`\n]+)` \(new\)", text))
    found = []
    for token in sorted(set(quoted(text)) - new):
        if not re.fullmatch(r"[\w.]+(/[\w.]+)+/?", token):
            continue
        bases = (ROOT / token, ROOT / "docs" / token, SOURCE / token, SOURCE / f"{token}.py")
        owner, _, name = token.rpartition(".")
        held = SOURCE / f"{owner}.py"
        inside = held.exists() and re.search(rf"^(class|def) {name}\b", held.read_text(), flags=re.M)
        found += [] if inside or any(b.exists() for b in bases) else [token]
    return found


@pytest.mark.parametrize("page", PAGES)
def test_paths_in_pages_lead_somewhere(page):
    assert strangers((ROOT / page).read_text()) == []


def test_control_a_path_that_leads_nowhere_is_seen():
    text = "`engine/play.py` and `engine/linear.Vector`, but `engine/linear.Matrix` and `engine/cuda.py` (new)"
    assert strangers(text) == ["engine/linear.Vector", "engine/play.py"]


@pytest.mark.parametrize("page", PAGES)
def test_dotted_modules_in_pages_exist(page):
    """`theory.forms.structure` and what is in it; runs are called `run` in pages, so that room is written with a slash."""
    rooms = {name for name in ALLOWED if "/" not in name} - {"run", "cli"}
    for token in quoted((ROOT / page).read_text()):
        parts = token.split(".")
        if parts[0] in rooms and len(parts) > 1 and all(p.isidentifier() for p in parts):
            whole, owner = SOURCE.joinpath(*parts), SOURCE.joinpath(*parts[:-1])
            named = [p for p in (owner.with_suffix(".py"), owner / "__init__.py") if p.exists()]
            known = whole.exists() or whole.with_suffix(".py").exists()
            assert known or any(re.search(rf"\b{parts[-1]}\b", p.read_text()) for p in named), f"{page}: {token}"


def test_where_would_i_change():
    """The twelve questions: at most three files each; those that are not new exist, and those that are new do not."""
    table = rows(sections(PAGE)["Where would I change …"])
    assert tuple(question for question, *_ in table) == TWELVE
    for question, files, _ in table:
        new = re.findall(r"`([^`]+)` \(new\)", files)
        changed = [f for f in quoted(files) if f not in new]
        assert len(changed) + len(new) <= 3, question
        assert all((SOURCE / f).exists() for f in changed), question
        assert not any((SOURCE / f).exists() for f in new), question


def test_the_page_counts_public_names():
    import dalembert as da
    from dalembert import methods

    own = [n for n in da.__all__ if str(getattr(getattr(da, n), "__module__", "dalembert")).startswith("dalembert")]
    count = len([n for n in own if n not in methods.__all__])
    assert f"there are {count}; " in sections(PAGE)["How many public names"]


def test_commands_of_make_in_pages_exist():
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), flags=re.M))
    for page in PAGES:
        assert set(re.findall(r"\bmake ([a-z][\w-]*)(?=[`\s]{1,5}[|#`])", (ROOT / page).read_text())) <= targets


def test_the_readme_prints_what_it_shows():
    """The block that prints: a heavy top. Deviations that are rounding errors differ from machine to machine."""
    text = (ROOT / "README.md").read_text()
    code, shown = re.search(
        r"^  ```python\n((?:(?!```).)*?print.*?)^  ```\n\n  ```\n(.*?)^  ```", text, re.S | re.M
    ).groups()
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec("import dalembert as da\n" + re.sub(r"^  ", "", code, flags=re.M), {})

    def plain(lines):
        return [re.sub(r"\d\.\de[+-]\d\d", "#", line).strip() for line in lines.strip().splitlines()]

    assert plain(printed.getvalue()) == plain(shown)
