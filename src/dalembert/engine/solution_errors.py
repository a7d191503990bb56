"""The rounding errors of unknowns that are each computed by one division, for the sums in which the unknowns are used.

A position changes by h V, and V = -constant/slope where the constant is a momentum and h times a force. To add the rounding
error of the momentum before the division would keep the step waiting for it. Instead V is computed without it; what V lacks
follows from the residual at V, and h times that goes into the rounding error of the position, which the next step adds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..symbolic import Fast, substitution, summands, total
from ..waist.stepmap import STEP as STEP_NAME
from ..waist.stepmap import Block, StepMap, split_by_step
from .lower import Builder, Tape


class SolutionErrors:
    """The errors of the unknowns of a block, which `applies` if each has an equation of its own that is a sum of state
    variables and h times a value, and is multiplied by h in an update.
    """

    def __init__(self, stepmap: StepMap, block: Block, levels: Mapping[str, int]):
        self.levels = levels
        rates = {rate.name for by_step, rate in stepmap.changes if by_step and rate.is_Symbol}
        self.applies = block.is_diagonal and rates.issuperset(block.unknowns)
        if self.applies:
            constant = substitution(dict.fromkeys(block.unknowns, 0))
            slopes = block.partials.values()
            self._equations = list(zip(map(constant, block.residual), slopes, block.unknowns, strict=True))
            builder = Builder(levels)
            self.applies = all(_terms(builder, e) is not None for e, *_ in self._equations)

    def tape(self, which: Sequence[int]) -> Tape:
        """The tape of the errors of some unknowns."""
        builder = Builder(self.levels)
        results = [_error(builder, *self._equations[k]) for k in which]
        return Tape(builder.operations, results)


def _terms(b: Builder, constant: Fast) -> tuple[list[Fast], Fast] | None:
    """The state variables in a sum, and what else there is of it, divided by h; None if that cannot be."""
    symbols = [term for term in summands(constant) if b.rest_in(term) is not None]
    rate, others = split_by_step(constant - total(symbols))
    if not symbols or others != 0 or b.value(rate) in b.fixed:
        return None
    return symbols, rate


def _error(b: Builder, constant: Fast, slope: Fast, unknown: str) -> int:
    """The error of the solution of constant + slope x = 0, where the constant is state variables and h times a value.

    Terms are added in an order in which they cancel, so that the residual is accurate.
    """
    terms = _terms(b, constant)
    assert terms is not None
    symbols, rate = terms
    residual = b.put("fma", b.value(slope), b.put("input", unknown), b.value(total(symbols)))
    residual = b.put("fma", b.put("input", STEP_NAME), b.value(rate), residual)
    taken = b.fold("add", [r for r in map(b.rest_in, symbols) if r is not None])
    inverse = b.put("div", b.constant(-1), b.value(slope))
    return b.put("mul", inverse, b.put("add", residual, taken))
