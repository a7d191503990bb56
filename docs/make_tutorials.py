"""Runs the code of the tutorials and writes what it prints into their pages.

python docs/make_tutorials.py [page ...]           run, write outputs into the pages and pictures into docs/pictures
python docs/make_tutorials.py --check [page ...]   run, write nothing, say which outputs have changed

A page is Markdown. Its ```python blocks are executed in order, in one namespace. What a block prints, the warnings it
gives and the value of its last line, as in a notebook, stand in a ```text block below it. The comment MARK stands above
that block; by it the block is found again and replaced. Blocks are run in an empty folder; the pictures they save there as
`tutorials-name.png` are put where the page finds them.
"""

from __future__ import annotations

import ast
import contextlib
import difflib
import io
import math
import re
import shutil
import sys
import tempfile
import textwrap
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import Any

DOCS = Path(__file__).parent
PICTURES = DOCS / "pictures"
PAGES = (
    DOCS / "first-steps.md", DOCS / "for-geometers.md", DOCS / "choosing-a-method.md", DOCS / "discrete-reduction.md",
    *sorted((DOCS / "tutorials").glob("*.md")),
)  # fmt: skip
EXAMPLES = (DOCS / "coming-from.md", *sorted((DOCS / "how-to").glob("*.md")), *sorted((DOCS / "api").glob("*.md")))
"""Short pages: tasks, and one example for every public name."""

MARK = "<!-- output -->"
BLOCK = re.compile(rf"^```python\n(.*?)^```\n(?:\n{re.escape(MARK)}\n```text\n(.*?)^```\n)?", re.S | re.M)
NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?(?![\w])")

PLACED = re.compile(rf"({NUMBER.pattern})([^\d|]{{0,40}}\bat t = ){NUMBER.pattern}")
"""A number and the time of it; that of the largest rounding error is as random as the error."""

WIDTH = 118
"""Longer sentences are folded."""
RELATIVE = 2e-3
"""Numbers with a decimal point may differ by this: a few digits are compared."""
ROUNDING = 1e-9
"""Numbers below this are rounding errors, which differ from machine to machine."""


@dataclass(frozen=True)
class Block:
    """A block of code and the output that stands below it; `line` is that of its first statement in the page."""

    code: str
    output: str
    line: int


def blocks(text: str) -> list[Block]:
    """The blocks of a page, in order."""
    return [
        Block(m.group(1), m.group(2) or "", text.count("\n", 0, m.start(1)) + 1)
        for m in BLOCK.finditer(text)
    ]  # fmt: skip


def run(text: str, name: str = "page") -> list[Block]:
    """The blocks of a page with the outputs that they have now; executed in the current folder."""
    import matplotlib

    matplotlib.use("Agg")
    namespace: dict[str, Any] = {"__name__": "__tutorial__"}
    return [replace(b, output=_executed(b, namespace, name)) for b in blocks(text)]


def _executed(block: Block, namespace: dict[str, Any], name: str) -> str:
    tree = ast.parse("\n" * (block.line - 1) + block.code, name)
    last = tree.body[-1] if tree.body else None
    value = ast.Expression(last.value) if isinstance(last, ast.Expr) else None
    if value is not None:
        del tree.body[-1]
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), _warnings_printed():
        exec(compile(tree, name, "exec"), namespace)
        result = eval(compile(value, name, "eval"), namespace) if value is not None else None
        if result is not None:
            print(repr(result))
    lines = [part for line in printed.getvalue().rstrip().splitlines() for part in _folded(line.rstrip())]
    return "".join(f"{line}\n" for line in lines)


def _folded(line: str) -> list[str]:
    """A long sentence on several lines; formulas and tables, which are drawn with spaces, are left as they are."""
    words = line.strip()
    if len(line) <= WIDTH or "  " in words or "⋅" in words:
        return [line]
    margin = line[: len(line) - len(line.lstrip())]
    return textwrap.wrap(words, WIDTH, initial_indent=margin, subsequent_indent=f"{margin}  ")


@contextlib.contextmanager
def _warnings_printed() -> Iterator[None]:
    """Warnings as a reader sees them, without the line of code they come from."""
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        warnings.showwarning = lambda message, category, *_: print(f"{category.__name__}: {message}")
        yield


def written(text: str, fresh: list[Block]) -> str:
    """The page with these outputs."""
    replacements = iter(fresh)

    def put(_: re.Match[str]) -> str:
        b = next(replacements)
        below = f"\n{MARK}\n```text\n{b.output}```\n" if b.output else ""
        return f"```python\n{b.code}```\n{below}"

    return BLOCK.sub(put, text)


def same(old: str, new: str) -> bool:
    """Whether two outputs agree: words exactly, spaces and rules loosely, numbers to a few digits."""
    a, b = _words(old), _words(new)
    return len(a) == len(b) and all(x == y or _same_number(x, y) for x, y in zip(a, b, strict=True))


def _words(text: str) -> list[str]:
    """Numbers, and what stands between them."""
    plain = re.sub(r"\s+", " ", re.sub(r"[-─]{3,}", "---", text)).strip()
    plain = PLACED.sub(lambda m: m[1] + m[2] if abs(float(m[1])) < ROUNDING else m[0], plain)
    found, place = [], 0
    for m in NUMBER.finditer(plain):
        found += [plain[place : m.start()].strip(), m.group()]
        place = m.end()
    return [*found, plain[place:].strip()]


def _same_number(x: str, y: str) -> bool:
    if not (NUMBER.fullmatch(x) and NUMBER.fullmatch(y)):
        return False
    if "." not in x + y and "e" not in x + y:
        return int(x) == int(y)
    a, b = float(x), float(y)
    last = max(_last_digit(x), _last_digit(y)) if "e" in x and "e" in y else 0.0
    return max(abs(a), abs(b)) < ROUNDING or math.isclose(a, b, rel_tol=RELATIVE, abs_tol=1.001 * last)


def _last_digit(x: str) -> float:
    """What one unit in the last digit is worth, of an error shown like 5.2e-06."""
    mantissa, exponent = x.split("e")
    return float(10.0 ** (int(exponent) - len(mantissa.partition(".")[2])))


def stale(text: str, fresh: list[Block]) -> list[str]:
    """What has changed, one report for each block whose output differs from what the page shows."""
    reports = []
    for old, new in zip(blocks(text), fresh, strict=True):
        if not same(old.output, new.output):
            before, now = old.output.splitlines(), new.output.splitlines()
            lines = difflib.unified_diff(before, now, "in the page", "now", lineterm="", n=0)
            reports.append(f"line {old.line}: the output has changed\n" + "\n".join(lines))
    return reports


@contextlib.contextmanager
def _folder(check: bool) -> Iterator[None]:
    """The folder where blocks run; afterwards its pictures are put with the others."""
    with tempfile.TemporaryDirectory() as empty, contextlib.chdir(empty):
        yield
        for picture in () if check else Path(empty).glob("tutorials-*.png"):
            shutil.copy(picture, PICTURES)


def drawn(pictures: Mapping[str, Callable[[Any], Any]], prefix: str) -> list[Path]:
    """Pictures by name, drawn into `prefix-name.png`; each is a function that makes a figure with pyplot."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    paths = []
    for name, make in pictures.items():
        paths.append(PICTURES / f"{prefix}-{name}.png")
        figure = make(plt)
        figure.savefig(paths[-1], dpi=110)
        plt.close(figure)
    return paths


def remake(page: Path, pictures: Mapping[str, Callable[[Any], Any]], prefix: str, arguments: list[str]) -> int:
    """Run a page and draw its pictures; with --check, write nothing, and return 1 if an output has changed."""
    check, text = "--check" in arguments, page.read_text()
    fresh = run(text, page.name)
    reports = stale(text, fresh)
    print(f"{page.name}: {len(fresh)} blocks, {len(reports)} changed")
    print(*reports, sep="\n", end="\n" if reports else "")
    if not check:
        page.write_text(written(text, fresh))
        print(*(f"wrote {p.relative_to(page.parent)}" for p in drawn(pictures, prefix)), sep="\n")
    return int(check and bool(reports))


def main(arguments: list[str]) -> int:
    """Run the pages; 1 if `--check` was given and an output has changed."""
    check = "--check" in arguments
    chosen = [Path(a).resolve() for a in arguments if a != "--check"] or (*PAGES, *EXAMPLES)
    changed = 0
    for page in chosen:
        text, began = page.read_text(), perf_counter()
        with _folder(check):
            fresh = run(text, page.name)
        reports = stale(text, fresh)
        changed += len(reports)
        if not check:
            page.write_text(written(text, fresh))
        print(f"{page.name}: {len(fresh)} blocks, {len(reports)} changed, {perf_counter() - began:.1f} s")
        print(*reports, sep="\n", end="\n" if reports else "")
    return int(check and changed > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
