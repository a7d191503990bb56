"""The attacks on the library as a table: how much was tried, and what came of it.

python docs/attack.py            (prints the table; some minutes)
python docs/attack.py --write    (writes it into docs/verification.md)

`make verify` does it too, and fails if anything was wrong, crashed or hung.
"""

from __future__ import annotations

import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from attack_engine import cache_faults, odd_arrays, odd_names
from attack_files import hostile_files, kills_while_saving, mutated_files
from attack_inputs import odd_numbers, odd_statements
from attack_interrupts import interrupts
from watched import BAD

PAGE = Path(__file__).with_name("verification.md")
SEED = 1

ATTACKS: dict[str, tuple[Callable[[int, int], Counter[str]], int]] = {
    "damaged run files": (mutated_files, 90_000),
    "hostile run files": (hostile_files, 10_000),
    "kills while saving": (kills_while_saving, 100),
    "interrupts": (interrupts, 1_000),
    "faults of the cache": (cache_faults, 1_000),
    "odd names": (odd_names, 1_000),
    "odd arrays in compiled code": (odd_arrays, 2_000),
    "odd numbers": (odd_numbers, 3_000),
    "odd statements": (odd_statements, 1_500),
}

Found = Mapping[str, Counter[str]]

WORDS = f"""
Every case is made at random from the seed {SEED} and its number, and tried in a child process that is watched. It is refused
if the library says in words what is wrong: by an error of its own or, of a cache, by a warning beside the right number. It
is wrong if something is accepted that is not right, crashed if another exception or the end of the process comes of it, and
hung after ten seconds of a processor. These three are to be zero. Not everything that is tried has to be refused; what came
out right is counted apart. Files are loaded if the damage is where nothing is read, or if they are consistent although they
were changed, with a checksum made anew; after a kill the file must be the old run or the new one. Interrupted runs must be
the first records of the whole run, bit for bit, and give the rest when they are continued; others had finished before the
signal. Names, arrays, numbers and statements are right or accepted if they were taken for what they are.
""".strip()


def attacked(share: float = 1.0) -> dict[str, Counter[str]]:
    """Everything that is tried, or a share of it."""
    found = {}
    for name, (attack, count) in ATTACKS.items():
        began = time.monotonic()
        found[name] = attack(max(1, round(share * count)), SEED)
        print(f"{name}: {dict(found[name])}, {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
    return found


def failed(found: Found) -> int:
    """How many cases were wrong, crashed or hung; or came to nothing that is known."""
    return sum(f["tried"] - f["refused"] - sum(n for word, n in f.items() if word in RIGHT) for f in found.values())


RIGHT = ("loaded", "interrupted", "finished", "right", "accepted")


def table(found: Found) -> list[str]:
    """A table in Markdown."""
    lines = ["| attack | tried | refused in words | wrong | crashed | hung | right |", "|" + "---|" * 7]
    for name, came in found.items():
        right = ", ".join(f"{came[word]} {word}" for word in RIGHT if came[word])
        counts = (came[word] for word in ("tried", "refused", *BAD))
        lines.append(f"| {name} | {' | '.join(map(str, counts))} | {right} |")
    return lines


def section(found: Found) -> list[str]:
    """The section of the page."""
    return ["## Attacks", "", *WORDS.splitlines(), "", *table(found), ""]


def put(page: str, lines: list[str]) -> str:
    """The page with this section in the place of the one it has, or at its end."""
    text = "\n".join(lines)
    parts = re.split(r"(?m)^(?=## )", page)
    kept = [text if part.startswith("## Attacks\n") else part for part in parts]
    return "".join(kept if text in kept else [*kept, "\n", text])


def main() -> None:
    """Attack and print the table, or write it into the page."""
    found = attacked()
    print("\n".join(table(found)))
    if "--write" in sys.argv[1:]:
        PAGE.write_text(put(PAGE.read_text(), section(found)))
    sys.exit(bool(failed(found)))


if __name__ == "__main__":
    main()
