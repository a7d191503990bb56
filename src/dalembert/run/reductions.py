"""Numbers kept over all nodes of a run without recording them: the largest value of a quantity, its mean, its drift.

They are computed where the steps are computed, by a map that is applied at every node (`StepMap.tally`), so that a run of
any length needs memory for its lanes only. With events, whose actions begin motions anew, they are computed from the nodes of
one stretch after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from sympy import Expr

from ..discrete.system import DiscreteSystem
from ..errors import MethodError, ModelError, told
from ..methods.base import Method
from ..model import checks
from ..model.coordinates import time
from ..model.space import position_symbols, to_numbers
from ..model.system import System
from ..symbolic import Fast, fast, free_names, substitute
from ..theory.motion import state_maps as maps
from ..theory.motion.energies import energy
from ..theory.motion.lagrange import momenta, readable
from ..waist.stepmap import Block, StepMap, pointwise
from .values import Array, point_map
from .velocities import has_branches


def _larger(old: Fast, new: Fast) -> Fast:
    """The larger of two numbers; NaN if one of them is NaN."""
    import symengine

    return symengine.Piecewise((new, old < new), (old, new <= old), (old + new, True))


def _smaller(old: Fast, new: Fast) -> Fast:
    import symengine

    return symengine.Piecewise((new, new < old), (old, old <= new), (old + new, True))


@dataclass(frozen=True)
class Kind:
    """A way to reduce the values of a quantity at all nodes to one number, which is the first of its cells.

    cells:  how many numbers are kept
    begin:  these numbers at the first node, from the value there
    go_on:  these numbers at the next node, from those before and the value there, as expressions
    fold:   these numbers after some more nodes, from the values there
    """

    cells: int
    begin: Callable[[Array], Sequence[Any]]
    go_on: Callable[[Sequence[Fast], Fast], Sequence[Fast]]
    fold: Callable[[Array, Array], Any]


def _drift(cells: Sequence[Fast], value: Fast) -> Sequence[Fast]:
    import symengine

    largest, first = cells
    return _larger(largest, symengine.Abs(value - first)), first


def _mean(cells: Sequence[Fast], value: Fast) -> Sequence[Fast]:
    """By the trapezoidal rule: the mean of n intervals is moved towards that of the next one."""
    mean, count, before = cells
    return mean + ((before + value) / 2 - mean) / (count + 1), count + 1, value


def _mean_of(cells: Array, f: Array) -> Any:
    mean, count, before = cells
    f = np.append(before, f)
    middle = (f[1:] + f[:-1]) / 2
    return mean + (middle - mean).sum() / max(count + len(middle), 1), count + len(middle), f[-1]


KINDS = {
    "largest": Kind(1, lambda f: (f,), lambda c, f: (_larger(c[0], f),), lambda c, f: np.max(f, initial=c[0])),
    "smallest": Kind(1, lambda f: (f,), lambda c, f: (_smaller(c[0], f),), lambda c, f: np.min(f, initial=c[0])),
    "mean": Kind(3, lambda f: (f, 0 * f, f), _mean, _mean_of),
    "drift": Kind(2, lambda f: (0 * f, f), _drift, lambda c, f: (np.max(np.abs(f - c[1]), initial=c[0]), c[1])),
}
"""By name. The mean is that over time; the drift is the largest distance from the value at the start."""


@dataclass(frozen=True)
class Reduction:
    """A quantity with the name of what is kept of it."""

    kind: str
    name: str
    quantity: Expr

    @property
    def title(self) -> str:
        """Its key in `run.reductions`."""
        return f"{self.kind} {self.name}"


def reductions(record: Any, system: System | DiscreteSystem, method: Method | None) -> tuple[Reduction, ...]:
    """What was asked to be kept, checked."""
    if record is None:
        return ()
    if not isinstance(record, Mapping) or not record:
        raise ModelError(f"record: got {told(record)}. Expected a dict: record={{x: 'largest', 'energy': 'drift'}}.")
    if method is not None and method.adaptive:
        raise MethodError(
            f"record: {method!r} {method.steps_told} and keeps no numbers along them. Use a method with a fixed step, "
            f"or reduce run.quantity(...) of what it has recorded."
        )
    found: list[Reduction] = []
    for key, kinds in record.items():
        name, quantity = _quantity(key, system)
        for kind in (kinds,) if isinstance(kinds, str) else tuple(kinds):
            if kind not in KINDS:
                raise ModelError(f"record: {told(kind)} of {name}. Expected one of {', '.join(KINDS)}, or several.")
            found.append(Reduction(kind, name, quantity))
    return tuple(dict.fromkeys(found))


def _quantity(key: Any, system: System | DiscreteSystem) -> tuple[str, Expr]:
    stated = system.continuous
    if isinstance(key, str) and key == "energy" and stated is not None:
        return key, readable(energy(stated), stated)
    known: set[Any] = {*position_symbols(system.coordinates), *system.entropies, *system.parameters}
    known |= {q.momentum for q in system.coordinates}
    if stated is not None:
        known |= {*stated.velocities, *stated.principle.carried(stated)}
    if isinstance(key, str):
        names = {s.name: s for s in known}
        if key not in names:
            raise ModelError(
                f"record: got the text {key!r}. Expected an expression, without quotes, or 'energy' for a system that was "
                f"stated in continuous time."
            )
        key = names[key]
    return str(key), checks.symbols(checks.expression(key, "record"), known, "record")


@dataclass(frozen=True)
class Tally:
    """What is kept along a run by a step: reductions of quantities of its state."""

    system: System | DiscreteSystem
    step: StepMap
    """The step, without a tally."""
    impulsive: bool
    """Whether its momenta may contain reactions, see `Method.impulsive`."""
    kept: tuple[Reduction, ...]

    @property
    def cells(self) -> list[list[str]]:
        """The names of the numbers of each reduction."""
        return [[f"tally.{k}.{i}" for i in range(KINDS[r.kind].cells)] for k, r in enumerate(self.kept)]

    @cached_property
    def keeping(self) -> StepMap:
        """The step, which keeps them."""
        step, values = self.step, self.values
        outputs: dict[str, Fast] = {}
        for r, names in zip(self.kept, self.cells, strict=True):
            after = KINDS[r.kind].go_on([fast(n) for n in names], values.outputs[r.name])
            outputs |= dict(zip(names, after, strict=True))
        inputs = [*values.state, *outputs]
        tally = pointwise(f"{step.name}, tally", inputs, step.parameters, outputs, values.blocks)
        return replace(step, tally=tally)

    @cached_property
    def values(self) -> StepMap:
        """(state of a step, t) -> the quantities."""
        step, system, quantities = self.step, self.system.continuous, {r.name: fast(r.quantity) for r in self.kept}
        used = free_names(quantities.values())
        blocks: tuple[Block, ...] = ()
        if system is not None:
            q = system.coordinates
            carries = set(step.state) & {c.momentum.name for c in q}
            if carries and used & {v.name for v in system.velocities}:
                blocks = (self._velocities(system),)
            elif not carries and used & {c.momentum.name for c in q}:
                by = dict(zip((c.momentum for c in q), momenta(system), strict=True))
                quantities = {name: substitute(e, by) for name, e in quantities.items()}
        in_numbers = to_numbers(self.system.coordinates)
        found = {name: in_numbers(e) for name, e in quantities.items()}
        sought = [Block(b.unknowns, tuple(map(in_numbers, b.residual)), b.guess) for b in blocks]
        known = {*step.state, time.name, *step.parameters, *(x for b in blocks for x in b.unknowns)}
        if lacking := free_names([*found.values(), *(r for b in sought for r in b.residual)]) - known:
            raise ModelError(
                f"record: {', '.join(sorted(lacking))} is not part of the state that {step.name} carries. Record every node "
                f"instead, and reduce run.quantity(...)."
            )
        return pointwise(f"{step.name}, quantities", [*step.state, time.name], step.parameters, found, sought)

    def _velocities(self, system: System) -> Block:
        """The equations for the velocities at a node."""
        if has_branches(system):
            raise ModelError(
                f"record: momenta of {system.name!r} may belong to several velocities, which are told apart after the run. "
                f"Record every node instead, and reduce run.quantity(...); quantities in positions and momenta can be kept."
            )
        return maps.legendre_block(system, bool(system.constraints) and self.impulsive)

    def at(self, states: Array, rows: Array, times: Array) -> Array:
        """The quantities at some nodes, of which the state comes first: (nodes, quantities); NaN where they have no value."""
        found, status = point_map(self.values)(np.column_stack([self.step.state_of(states), times]), rows)
        found[status != 0] = np.nan
        names = list(self.values.outputs)
        return found[:, [names.index(r.name) for r in self.kept]]

    def begin(self, carry: Array, rows: Array, time: float) -> None:
        """Set the numbers in the carry of lanes at their first node."""
        values = self.at(carry, rows, np.full(len(carry), time)).T
        cells = [c for r, f in zip(self.kept, values, strict=True) for c in KINDS[r.kind].begin(f)]
        carry[:, -len(cells) :] = np.column_stack(cells)

    def went_on(self, cells: Array, nodes: Array, row: Array, times: Array) -> Array:
        """The numbers of a lane after some more nodes; those after its end are not finite."""
        moving = np.isfinite(self.step.state_of(nodes)).all(axis=1)
        found, at = cells.copy(), 0
        for r, f in zip(self.kept, self.at(nodes[moving], row, times[moving]).T, strict=True):
            some = cells[at : at + KINDS[r.kind].cells]
            found[at : at + len(some)] = KINDS[r.kind].fold(some, f)
            at += len(some)
        return found

    def results(self, cells: Array) -> dict[str, Array]:
        """The reductions, from the numbers of all lanes."""
        starts = np.cumsum([0, *(KINDS[r.kind].cells for r in self.kept)])
        return {r.title: cells[:, k].copy() for r, k in zip(self.kept, starts, strict=False)}
