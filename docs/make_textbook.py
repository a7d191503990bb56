"""Writes docs/textbook.md: every example and problem of two documents, with what is checked and what came out.

python docs/make_textbook.py          (from the root of the repository; about a minute)
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tests.textbook.problems import TABLE, Check, Entry  # noqa: E402

PAGE = Path(__file__).with_name("textbook.md")

HEAD = """# Examples and problems of two textbooks

This page is written by `docs/make_textbook.py`, which runs every check named here. 003 are lecture notes on Newton's laws,
constraints and d'Alembert's principle; 004 is chapter 7, analytical dynamics, of a textbook of mechanics. Both are in
Spanish. Problems have no solutions in the source: equations, numbers and reactions were derived and verified separately.

An entry lives in the gallery (`da.gallery.load(name)`) or in a test of `tests/textbook`. The equations of motion are typed
once more by hand in `tests/textbook/printed.py` and solved with 30 digits; reactions are found in `tests/textbook/released.py`
by putting back the coordinate that a constraint removed. "Reached" is the largest error of a check; relative errors are
compared for equations of motion and invariants, absolute ones elsewhere. Controls that must fail are in the tests.

"""


def outcome(check: Check) -> tuple[bool, float]:
    """Whether a check holds, and the error it reached."""
    error = float(check.error())
    return error <= check.allowed, error


def summary(entry: Entry, results: list[tuple[bool, float]]) -> str:
    """The line of the first table."""
    state = "holds" if all(ok for ok, _ in results) else "**FAILS**"
    lives = ", ".join(f"`{name}`" for name in entry.lives.split(", "))
    checks = f"{len(results)} check{'s' if len(results) != 1 else ''} "
    return f"| {entry.document} | {entry.number} | {entry.title} | {lives} | {checks}| {state} |"


def details(entry: Entry, results: list[tuple[bool, float]]) -> list[str]:
    """The lines of the second table."""
    return [
        f"| {entry.key} | {check.what} | {error:.1e} | {check.allowed:.0e} | {'yes' if ok else '**NO**'} |"
        for check, (ok, error) in zip(entry.checks, results, strict=True)
    ]


def page() -> str:
    """The page, from the checks as they come out now."""
    done: dict[int, tuple[bool, float]] = {}
    lines, below = [], []
    for entry in TABLE:
        for check in entry.checks:
            if id(check) not in done:
                done[id(check)] = outcome(check)
        results = [done[id(check)] for check in entry.checks]
        lines.append(summary(entry, results))
        below += details(entry, results)
    first = ["| document | number | title | lives in | checked | state |", "|---|---|---|---|---|---|", *lines]
    second = ["| entry | what | reached | allowed | holds |", "|---|---|---|---|---|", *below]
    return HEAD + "\n".join(first) + "\n\n## Every check\n\n" + "\n".join(second) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page())
    print(f"wrote {PAGE.relative_to(ROOT)}")
