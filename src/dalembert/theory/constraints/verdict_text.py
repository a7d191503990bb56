"""The text of a classification: the verdict first, then each constraint with its reason, then the numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import sympy

from ...display import Part, Table
from ...model.coordinates import time

if TYPE_CHECKING:
    from .hidden_integrals import HiddenFunction
    from .verdicts import Classification


def parts(c: Classification) -> list[Part]:
    """The parts of a classification, from top to bottom."""
    if not c.constraints:
        names = ", ".join(q.name for q in c.coordinates)
        return [f"{c.name}: no constraints; {_counted(len(c.coordinates), 'degree')} of freedom ({names})."]
    shown: list[Part] = [f"{c.name}: {_verdict(c)}.", _table(c)]
    shown += [f"  {k + 1}: {record.reason}." for k, record in enumerate(c.constraints)]
    shown += [f"  {k + 1}: {function}." for k, function in enumerate(c.functions)]
    shown += [*_numbers(c), *_hidden(c), *_remarks(c)]
    return shown


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _verdict(c: Classification) -> str:
    if c._has("inequality"):
        return "non-holonomic (inequalities)"
    if c.is_holonomic is None:
        return "not decided" + (" (nonlinear in the velocities)" if c._has("nonlinear") else " (the budget was spent)")
    if not c.is_holonomic:
        return "non-holonomic" if not c.hidden_count else "non-holonomic, but partly integrable"
    return "holonomic" if not c.hidden_count else "holonomic, though velocities were constrained"


def _table(c: Classification) -> Table:
    rows = []
    for k, r in enumerate(c.constraints):
        line = str(r.expression) if r.kind == "inequality" else f"{r.expression} = 0"
        drift = "" if r.is_catastatic is None else "catastatic" if r.is_catastatic else "acatastatic"
        rows.append((k + 1, line, r.kind, "rheonomic" if r.is_rheonomic else "scleronomic", drift))
    return Table(("", "constraint", "kind", "time", "drift"), rows)


def _numbers(c: Classification) -> Iterator[Part]:
    n = len(c.coordinates)
    freedom = _counted(c.degrees_of_freedom, "degree")
    yield f"rank {c.rank} of {len(c.constraints)}; {_counted(n, 'coordinate')}, {freedom} of freedom."
    over = ", coordinates and time together" if time in c.variables else ""
    growth = ", ".join(map(str, c.growth_vector)) + ("" if c.is_complete else ", ...")
    yield f"growth vector ({growth}) of {len(c.variables)}{over}."
    if c.reachable and time in c.variables:
        yield f"nothing keeps a motion on a smaller set than the configurations: dimension {c.configuration_dimension}."
    elif c.reachable:
        yield f"every configuration can be reached: dimension {c.configuration_dimension}."
    elif c.reachable is False:
        yield f"motions stay on leaves of dimension {c.configuration_dimension}."
    yield (
        "the constraints are ideal." if c.is_ideal else "the constraints are not ideal: reactions may do virtual work."
    )


def _hidden(c: Classification) -> Iterator[Part]:
    if not c.hidden_count:
        return
    always = all(not h.where and not h.is_local for h in c.hidden_functions)
    yield f"{_counted(c.hidden_count, 'hidden function')}{', constant in every motion' if always else ''}:"
    for k, h in enumerate(c.hidden_functions):
        yield f"g{k + 1}", h.function
        yield from _extent(h, always)
    missing = c.hidden_count - len(c.hidden_functions)
    if missing > 0:
        yield f"  {missing} not found in closed form; tried: {', '.join(c.tried)}."


def _extent(h: HiddenFunction, always: bool) -> Iterator[Part]:
    """Where a hidden function is constant, if that is not everywhere; and what its angles mean."""
    if h.is_local:
        yield "    constant near the configurations where it was found; elsewhere it need not be."
    elif h.where:
        yield f"    constant as long as {' and '.join(_relation(r) for r in h.where)}."
    elif not always:
        yield "    constant in every motion."
    if h.function.has(sympy.atan2):
        yield "    angles atan2 count modulo 2*pi."


def _relation(r: Any) -> str:
    return f"{r.lhs} != 0" if isinstance(r, sympy.Ne) else str(r)


def _remarks(c: Classification) -> Iterator[Part]:
    for remark in c.remarks:
        yield f"{remark}."
    for r in c.redundant:
        others = ", ".join(str(k + 1) for k in r.follows_from)
        yield f"constraint {r.constraint + 1} is redundant: " + (
            f"it follows from {others}." if others else "it is empty."
        )
    for drop in c.rank_drops[:4]:
        place = ", ".join(f"{q} = {v:.4g}" for q, v in drop.at.items())
        yield f"the rank drops to {drop.rank} at {place}."
    if c.note:
        yield f"{c.note}."
    yield "(identities and ranks are decided by value, at random points on the constraint set)"
