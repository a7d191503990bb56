"""The table of an audit: one row for each quantity, with the promise, the measured deviation and the verdict."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from ....display import Part, Shown, Table
from ..deviations import ROUNDING

QUADRATURE = 1e-9
"""Largest relative deviation of an energy that is conserved to the accuracy of a quadrature."""

Expected = Literal["exact", "quadrature", "bounded", "approximate", "nothing"]

ENOUGH = 8
"""Number of turning points of a deviation needed to distinguish a drift from part of an oscillation."""


NOTHING = (
    "Nothing is known to be conserved: no coordinate is cyclic in L_d, and there are no constraints. Declare a symmetry with "
    "dalembert.momentum_map(system, {x: -y, y: x})."
)
"""Remark in the audit of a discrete system that has no rows."""


@dataclass(frozen=True)
class Row:
    """One quantity: what theory and method promise, and the measured result."""

    quantity: str
    theory: str
    reason: str
    expected: Expected
    promise: str
    """What the method promises, in words."""
    value: float
    """At the first record, of the worst lane."""
    deviation: float
    """Largest deviation, relative to the size of the terms the quantity is made of."""
    drift: float
    """The change over the run of the straight line fitted to the deviation, same scale."""
    turns: int = ENOUGH
    """Number of turning points of the deviation: with few, oscillation and drift cannot be distinguished."""
    note: str = ""
    """A further remark."""
    rounding: float = ROUNDING
    """The deviation, in a run of this length, beyond which an exact promise is broken; same scale."""
    like_rounding: bool = True
    """Whether the deviation grows as that of rounding errors does: see `grows_like_rounding`."""
    judged: bool = True
    """Whether there are two records to compare."""
    stretches: int = 1
    """Number of stretches into which acting events divide the run; deviations are within the worst of them."""

    @property
    def ok(self) -> bool:
        """Whether the promise was kept, as far as one run shows; a run without steps shows nothing."""
        if not self.judged:
            return False
        if not np.isfinite(self.deviation):
            return self.expected == "nothing"
        if self.expected == "exact":
            return self.deviation <= self.rounding
        if self.expected == "quadrature":
            return self.deviation <= QUADRATURE
        return self.expected != "bounded" or self.too_short or not self.drifts

    @property
    def too_short(self) -> bool:
        """Whether the run is too short to distinguish an oscillation from a drift."""
        return self.turns < ENOUGH

    @property
    def drifts(self) -> bool:
        """Whether most of the deviation is a steady drift."""
        return not self.like_rounding and self.drift > 0.5 * self.deviation

    @property
    def verdict(self) -> str:
        """The result in a word or two; of a run with acting events, between them."""
        if not self.judged:
            return "no verdict without steps"
        told = self._verdict()
        return f"{told} between events" if self.stretches > 1 and np.isfinite(self.deviation) else told

    def _verdict(self) -> str:
        if self.expected == "nothing":
            return "changes, as it should"
        if not np.isfinite(self.deviation):
            return "not available"
        if self.like_rounding:
            return "kept to rounding"
        if self.expected == "exact":
            return f"kept within {self.deviation:.1e}" if self.ok else "VIOLATED"
        if self.expected == "quadrature":
            return "kept to the quadrature" if self.ok else "TOO FEW NODES for this step"
        if self.expected == "bounded" and self.too_short:
            return "too short to tell"
        return "drifts" if self.drifts else "no drift"


@dataclass(frozen=True)
class SignRow(Row):
    """A quantity that must not be negative; `deviation` is how far below zero it was."""

    least: float = 0.0
    when: float = 0.0
    """The time of the node where it is least, or where the step begins."""
    since: float = np.inf
    """The first time at which it was negative."""
    strict: bool = False
    """Whether zero is a violation too."""

    @property
    def holds(self) -> bool:
        """Whether it was never negative, rounding aside."""
        return self.deviation <= ROUNDING and not (self.strict and self.least <= 0)

    @property
    def ok(self) -> bool:
        """Whether it was never negative; true if the method promises nothing about it."""
        return self.holds or self.expected != "exact"

    @property
    def verdict(self) -> str:
        """Whether it was ever negative, and where it is least."""
        if not np.isfinite(self.deviation):
            return "not available"
        told = f"least {self.least:.3g} at t = {self.when:g}"
        return told if self.holds else f"NOT POSITIVE from t = {self.since:g}, {told}"


@dataclass(frozen=True, repr=False)
class Audit(Shown):
    """The audit of a run: a table in a terminal and in a notebook; `rows` for programs."""

    title: str
    rows: tuple[Row, ...]
    changes: int = 0
    """How often events changed the motion; each change may change every quantity."""
    computed: str = ""
    """The part that was not computed, and why; the table covers the rest."""
    failed: bool = False
    """Whether a lane failed."""
    remark: str = ""
    """Remarks on the search for first integrals, and on how exactly steps were solved."""

    @property
    def ok(self) -> bool:
        """Whether every promise was kept, and no lane failed."""
        return not self.failed and all(row.ok for row in self.rows)

    def _parts(self) -> list[Part]:
        first = [self.computed] if self.computed else []
        head = ("quantity", "theory", "this method", "at start", "deviation", "verdict")
        rows = [(r.quantity, r.theory, r.promise, f"{r.value:.6g}", f"{r.deviation:.1e}", r.verdict) for r in self.rows]
        why = [f"{r.quantity}: {r.theory}{_because(r.reason)}." for r in self.rows if r.reason]
        why += [f"{r.quantity}: {r.note}" for r in self.rows if r.note]
        if self.changes:
            why.append(
                f"Events changed the motion {self.changes} times; what theory and method promise holds between them."
            )
        if self.remark:
            why.append(self.remark)
        if not rows:
            return [*first, self.title, "", NOTHING]
        return [*first, self.title, "", Table(head, rows), *([""] if why else []), *why]

    def __getitem__(self, quantity: str) -> Row:
        for row in self.rows:
            if row.quantity == quantity:
                return row
        raise KeyError(f"{quantity}: this audit has {', '.join(r.quantity for r in self.rows)}.")


def _because(reason: str) -> str:
    """A reason as the end of a sentence."""
    return f"; {reason}" if reason.startswith(("found by", "symmetry:")) else f", because {reason}"
