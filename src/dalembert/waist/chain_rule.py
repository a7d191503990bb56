"""Derivatives of quotients and roots that share what they are quotients and roots of.

Where r(x, s(x)) contains many powers of the same sum s, written out every derivative of r has the derivatives of all these
powers. By the chain rule they are dr/dx + dr/ds ds/dx, with one dr/ds for all x.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from typing import Any

from ..symbolic import MANY, Fast, fast, partials, substituted, total


def shared_partials(expressions: Sequence[Fast], variables: Sequence[Any]) -> dict[tuple[int, int], Fast]:
    """The partial derivatives that are not zero, by row and column, in this order."""
    n = len(variables)
    sums = _sums_below(expressions, {fast(x) for x in variables})
    if not 0 < len(sums) <= MANY:
        return partials(expressions, variables)
    stands = [fast(f"sum.{k}") for k in range(len(sums))]
    shorter = substituted(expressions, dict(zip(sums, stands, strict=True)))
    outer = partials(shorter, [*variables, *stands])
    inner = partials(sums, variables)
    terms: dict[tuple[int, int], list[Fast]] = {}
    written_out = substituted(outer.values(), dict(zip(stands, sums, strict=True)))
    for (i, k), slope in zip(outer, written_out, strict=True):
        columns = {k: 1} if k < n else {j: s for (row, j), s in inner.items() if row == k - n}
        for j, s in columns.items():
            terms.setdefault((i, j), []).append(slope * s)
    found = {place: total(terms[place]) for place in sorted(terms)}
    return {place: d for place, d in found.items() if d != 0}


def _sums_below(expressions: Iterable[Fast], variables: Set[Fast]) -> list[Fast]:
    """The sums of several variables of which there are roots or reciprocals, without those that contain others."""
    found: dict[Fast, None] = {}
    seen: set[Fast] = set()
    waiting = list(expressions)
    while waiting:
        e = waiting.pop()
        if e.is_number or e.is_Symbol or e in seen:  # SymEngine gives large numbers equal hashes
            continue
        seen.add(e)
        waiting += e.args
        if (
            e.is_Pow
            and e.args[0].is_Add
            and _is_no_polynomial(e.args[1])
            and len(e.args[0].free_symbols & variables) > 1
        ):
            found[e.args[0]] = None
    if len(found) > MANY:
        return list(found)
    return [s for s in found if all(o == s or s.subs({o: fast("sum")}) == s for o in found)]


def _is_no_polynomial(exponent: Fast) -> bool:
    return not (exponent.is_Integer and exponent.is_positive)
