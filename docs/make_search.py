"""Look for wrong answers with whole systems made at random, heading by heading.

python docs/make_search.py --heading units --from 0 --count 2000 [--seconds 900] [--write]
python docs/make_search.py --again

Prints for each heading how many systems were tried, how many of them could not be compared, and the seeds that differ. With
`--write` the counts are kept in docs/search.json, of which the page `verification.md` makes its table; counts from the seed
at which the kept ones end are added to them. `--again` tries the seeds that differed with the present code, and the controls.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
import time
import traceback
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent), str(HERE)]

from searched_features import features  # noqa: E402
from searched_runs import domains, joins, proofs  # noqa: E402
from searched_systems import Skipped, decimals, units  # noqa: E402

import dalembert as da  # noqa: E402

HEADINGS = {
    "units": units,
    "decimals": decimals,
    "domains": domains,
    "proofs": proofs,
    "joins": joins,
    "features": features,
}

KEPT = HERE / "search.json"
LIMIT = 30
"""Seconds of a processor after which a system is given up; it then counts as not compared."""

CONTROLS = 20
"""Systems of every heading that are also tried with a decision spoilt."""


WORDS = f"""\
Whole systems made at random from a seed, each asked in two ways: in two systems of units; with decimals and with
fractions; a run against the domain, the folds and an adaptive solution; proofs of equilibria and steps against dense
searches; composed, saved, continued and bouncing motions against the same stated at once or an adaptive solution; features
added later in two systems of units. Counts are those of searches by
`python docs/make_search.py --heading units --from 0 --count 2000 --write`, some in several runs, most of them before the
mends below. All seeds that differed were tried once more (`--again`): the columns
`mended` and `open` are of the present code and checks. The control is the number of {CONTROLS} systems for which a
decision spoilt on purpose is found out: an absolute threshold, rounded decimals, no conditions on the domain, a lost root,
forces or bounces left out. It cannot be noticed where the decision does not occur: where every rate is zero, or where no
step goes across an edge to where the potential has values again (beyond the other edges a run ends without conditions)."""

FOUND = """\
Found and mended in the library (the first before these counts):

* a decimal of sixteen digits counted as exact or as rounded depending on the unit: its length as a fraction decided;
* cubics of known integrals, such as (50 x - 49 y)^3, were listed as integrals of their own, with fractions but
  not with decimals (part of what differed in decimals 581);
* integrals that are polynomials in others were listed or not depending on which was found first (units 856, 1522);
* t p - a.q - F(t), where p = a.v + F'(t) is conserved, was left to a search in floating point, which missed it beside
  cosines and steep exponentials (units 1609, decimals 581);
* products of short decimals with one of fifteen digits counted as rounded numbers, which hid coefficients that do not
  contain them (decimals 930);
* with a magnetic field an integral linear in the velocities was found as one of degree two, with terms that the constraint
  makes zero (units 2025);
* a step that begins between the folds of a quartic kinetic energy and crosses one was recorded with the velocity of the
  other branch of the same momentum (domains 594).

Searches with other seeds, from 5000 on, by the code of a day later: 144 systems in units, 37 with decimals, 300 domains, 300
proofs, 236 joins; none differs. Sixteen other questions (structure, Hamiltonian form, reactions, symmetries, equilibria,
modes, existence, regularity, audits and so on) were then asked of some sixty systems in two systems of units each. Mended:

* mass matrices were sampled at positions of size one, so that masses like exp(-x/1e-12) counted as missing, and the zeros of
  sin(1e12 x) were not found; singular Legendre transforms likewise;
* a wall in a corner of the box of `equilibria`, and forces that underflow in most of it, were not seen by samples: a direction
  counted as free, and "no other" was said where there were others, or a period was seen;
* what is left of a spring that a multiplier balances, which is rounding, was told as growth by `normal_modes`;
* numbers in the conditions of a Piecewise were replaced by letters in `modified_equation`, with a wrong reason for refusing.

A third search, from 20000 on, by later code: 45 systems in units, 400 domains, 346 proofs, 400 joins; none differs.
Some thirty-five questions about symmetries, reduction, group coordinates, models of constraints, the inverse problem, motions
between configurations, tangents and equilibria were asked of single systems in eight systems of units each
(`tests/properties/test_units_of_newer_features.py` has some of them). Mended:

* random points of group actions carried the rounding of doubles, and entries of rotations any scale: a pendulum on a sphere
  whose weight is 1e-24 in numbers was said to be symmetric under turns about horizontal axes;
* starts, horizontal lifts and phases of reduced systems lost digits by orthogonal matrices in any units;
* momenta in space were told of a reduced system, where no position is known; they are not conserved there;
* an audit took a velocity that is zero but for rounding for a violated constraint, such as x.dot = 0;
* searches for motions between configurations measured starts by the largest velocity, and found none in most units;
* exponents of a cyclic coordinate, and the defect of dq ^ dp, depended on the units;
* the equilibria of a disk with a weight at its rim were refused: what a multiplier leaves over of a force of 1e-16;
* lengths given as parameters, such as 1e-11, did not count where it was looked which directions are free.

Under `features` fourteen questions about what was added later are asked of random numbers in random units: symmetries, bodies
that turn, reduction and reconstruction, models of constraints with vakonomic and Upsilon motions, the inverse problem,
sensitivities, exponents and sections, orders, steps that adapt, equilibria and modes, studies, motions between
configurations, forms and integrals, bodies that warm, bounces with their audits. Found and mended, the last two with other
systems, in which one stiffness or growth is far below the others:

* a rest position was refused as none where coefficients are so large that what its rounding leaves is a whole number
  (features 919; features 479 was a multiplier that is zero but for rounding, a fault of the check);
* a direction in which the potential changes by 1e-11 of what it does across was called free, and a saddle stable;
* exponents with real parts of up to 1e-6 of the fastest rate counted as imaginary: a slow growth was "linearly stable".

The others that differed at first were faults of the checks, and were mended there: angles that turn a radius had been
given a unit of length; accelerations that are nothing but rounding, and positions of runs that end, were compared;
collisions that a step does not resolve counted as wrong branches (a run is now only asked to converge to the adaptive
one; wrong branches have a section of their own); bounces were compared with a mirrored potential whose kink its
integrator does not see; of a run whose numbers overflow, which are infinite first depends on the unit, and so does
the status.
"""


class _LateError(BaseException):
    """The time of a system is up."""


def _late(*_: Any) -> None:
    raise _LateError


def tried(heading: str, seed: int, broken: bool = False) -> tuple[str, str]:
    """What came of one system: "same", "differs", "skipped" or "late", and in which way."""
    signal.signal(signal.SIGPROF, _late)
    signal.setitimer(signal.ITIMER_PROF, LIMIT)
    try:
        found = HEADINGS[heading](seed, broken)
        return ("differs", "; ".join(found)) if found else ("same", "")
    except Skipped as why:
        return "skipped", str(why)
    except da.DalembertError as why:
        return "skipped", f"refused: {type(why).__name__}: {str(why).splitlines()[0][:80]}"
    except _LateError:
        return "late", f"no answer in {LIMIT} s"
    except Exception:
        return "differs", "an error: " + traceback.format_exc(limit=-3)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def searched(heading: str, first: int, count: int, seconds: float) -> dict[str, Any]:
    """Try the systems of a heading from a seed on, and its control."""
    counts: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    seeds, end = [], time.monotonic() + seconds
    for seed in range(first, first + count):
        if time.monotonic() > end:
            break
        how, why = tried(heading, seed)
        counts.update((how,))
        if how == "differs":
            seeds.append(seed)
            print(f"{heading}, seed {seed}: {why}", flush=True)
        elif how != "same":
            reasons.update((why,))
    control = controls(heading, first)
    for why, times in reasons.most_common(8):
        print(f"  not compared, {times}: {why}")
    return {"first": first, "tried": sum(counts.values()), **counts, "seeds": seeds, "control": control}


def controls(heading: str, first: int = 0) -> int:
    """How many spoilt decisions are found out."""
    return sum(tried(heading, seed, True)[0] == "differs" for seed in range(first, first + CONTROLS))


def kept() -> dict[str, Any]:
    """The counts in the file."""
    return json.loads(KEPT.read_text()) if KEPT.exists() else {}


def keep(heading: str, found: dict[str, Any]) -> None:
    """Write the counts of a search; those that continue the kept ones are added to them."""
    before = kept().get(heading, {})
    if before and found["first"] == before["first"] + before["tried"]:
        names = ("tried", "same", "skipped", "late", "differs", "seeds")
        added = {k: before.get(k, [] if k == "seeds" else 0) + found.get(k, [] if k == "seeds" else 0) for k in names}
        found = {**before, **added}
    KEPT.write_text(json.dumps({**kept(), heading: found}, indent=1) + "\n")


def again(heading: str) -> None:
    """Try the seeds that differed once more, and the controls, and keep what came of them."""
    found = kept()[heading]
    left = [(seed, *tried(heading, seed)) for seed in found["seeds"]]
    for seed, how, why in left:
        print(f"{heading}, seed {seed}: {how} {why}", flush=True)
    still = [seed for seed, how, _ in left if how != "same"]
    keep(heading, {**found, "open": still, "control": controls(heading)})


def row(heading: str, found: dict[str, Any]) -> str:
    """A row of the table."""
    missing = found.get("skipped", 0) + found.get("late", 0)
    differ, left = len(found["seeds"]), len(found.get("open", found["seeds"]))
    numbers = (found["tried"], missing, differ, differ - left, left, f"{found['control']} of {CONTROLS}")
    return f"| {heading} | {' | '.join(map(str, numbers))} |"


def section() -> list[str]:
    """The section of the page, from the counts that are kept."""
    every = kept()
    seeds = "; ".join(f"{h}: {', '.join(map(str, f['open']))}" for h, f in every.items() if f.get("open"))
    return [
        "## Search",
        "",
        *WORDS.splitlines(),
        "",
        "| heading | tried | not compared | differ | mended | open | control |",
        "|---|---|---|---|---|---|---|",
        *(row(heading, found) for heading, found in every.items()),
        "",
        *FOUND.splitlines(),
        "",
        f"Seeds that are open: {seeds or 'none'}.",
        "",
    ]


def main() -> None:
    """Search as the command line says; an error if something differs or a control finds nothing."""
    read = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    read.add_argument("--heading", choices=[*HEADINGS, "all"], default="all")
    read.add_argument("--from", dest="first", type=int, default=0)
    read.add_argument("--count", type=int, default=2000)
    read.add_argument("--seconds", type=float, default=1800)
    read.add_argument("--write", action="store_true")
    read.add_argument("--again", action="store_true")
    given = read.parse_args()
    warnings.simplefilter("ignore")
    failed = False
    for heading in HEADINGS if given.heading == "all" else [given.heading]:
        if given.again:
            again(heading)
            continue
        found = searched(heading, given.first, given.count, given.seconds)
        failed |= bool(found["seeds"]) or not found["control"]
        print(row(heading, found), flush=True)
        print(f"  seeds that differ: {found['seeds']}", flush=True)
        if given.write:
            keep(heading, found)
    sys.exit(failed)


if __name__ == "__main__":
    main()
