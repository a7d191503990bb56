"""The two laws along a run: energy against work and heat, entropy against heat over temperature, interval by interval.

Work and heat are the method's own sums over its steps, where it has such sums (`Method.laws`): every recorded step is
computed again, and must end at the recorded state. Otherwise they are integrals of the polynomials through neighbouring
nodes, of higher order than the run itself.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise

import numpy as np

from ...discrete.state_layout import velocity_columns
from ...display import Part, Shown, Table
from ...engine.machine import PointMap
from ...errors import ModelError
from ...methods.base import Method
from ...model.space import differences
from ...model.system import System
from ...run.trajectory import Trajectory
from ...run.values import Array
from ...symbolic import Fast, fast, jacobian, substitute
from ...theory.conserved.two_laws import exchanged_heat, external_power, outside_heat, reaction_power
from ...theory.motion import state_maps as maps
from ...theory.motion.lagrange import multipliers, reaction
from ...waist.stepmap import TIME, Block, StepMap, pointwise

SAME = 1e-7
"""A recomputed step whose end differs from the record by more than this, relatively, is rejected (an event, for example)."""


@dataclass(frozen=True, repr=False, eq=False)
class Balance(Shown):
    """First and second law on every interval between two records; with lanes there is a leading axis of lanes.

    energy:     the change of the total energy
    work:       of external forces, of reactions, and of explicit time in the Lagrangian
    heat:       received from outside
    entropy:    the change of each entropy (last axis: entropies)
    received:   the entropy that heat from outside brought into each
    exchanged:  the entropy that heat from the other bodies brought into each
    exact:      whether work and heat are the method's own sums, and not integrals through the nodes

    On an interval in which an event acted all of them are NaN: the laws hold before and after it.
    """

    run: Trajectory
    energy: Array
    work: Array
    heat: Array
    entropy: Array
    received: Array
    exchanged: Array
    exact: Array

    @property
    def defect(self) -> Array:
        """The defect of the first law: change of energy minus work and heat."""
        return self.energy - self.work - self.heat

    @property
    def produced(self) -> Array:
        """The entropy that friction produced in each body."""
        return self.entropy - self.received - self.exchanged

    @property
    def production(self) -> Array:
        """The entropy produced in the whole system, by friction and by conduction between its bodies."""
        produced: Array = (self.entropy - self.received).sum(axis=-1)
        return produced

    def _parts(self) -> list[Part]:
        rows = [(name, *_told(values, self.run.time)) for name, values in self._rows()]
        how = "the method's own sums" if self.exact.all() else "integrals through the nodes"
        title = f"{self.run.system.name}, {self.run.method!r}: work and heat by {how}"
        return [title, Table(("in all", "sum", "least in a step", "at t", "largest", "at t"), rows)]

    def _rows(self) -> list[tuple[str, Array]]:
        first = [
            ("energy", self.energy), ("work", self.work), ("heat", self.heat), ("first law left over", self.defect)
        ]  # fmt: skip
        bodies = [(f"produced in {S}", self.produced[..., a]) for a, S in enumerate(self.run.system.entropies)]
        return [*first, *bodies, *([("produced", self.production)] if len(bodies) > 1 else [])]


def _told(values: Array, times: Array) -> tuple[str, ...]:
    """Sum, and where the least and the largest entry are."""
    table = np.atleast_2d(values)
    if not np.isfinite(table).any():
        return ("-",) * 5
    low, high = np.nanargmin(table) % table.shape[1], np.nanargmax(table) % table.shape[1]
    total = np.nansum(table, axis=1)
    numbers = (total[np.argmax(np.abs(total))], np.nanmin(table), times[low], np.nanmax(table), times[high])
    return tuple(f"{x:.6g}" for x in numbers)


def balance(run: Trajectory) -> Balance:
    """The balance of energy and entropy of a run, between its records."""
    if not isinstance(run, Trajectory) or not isinstance(run.system, System):
        raise ModelError(
            "balance: expected a run of a System: balance(simulate(system, method, ...)). A discrete system has no energy."
        )
    run.needs_equal_steps("balance")
    run = run.at_nodes
    if len(run.time) < 2:
        raise ModelError(f"balance: {run!r} has one record only; there is no step between records.")
    names, sums = _own_sums(run)
    exact: Array = np.logical_and(np.isfinite(sums).all(axis=-1), bool(names))
    table = dict(zip(names, np.moveaxis(sums, -1, 0), strict=True))
    if not exact.all() or (run.system.constraints and "reactions" not in table):
        table = _filled(table, _by_nodes(run))
    acted = np.diff(run.stretches, axis=1) > 0
    table = {name: np.where(acted, np.nan, v) for name, v in table.items()}
    energy, S = np.where(acted, np.nan, np.diff(np.atleast_2d(run.jacobi_integral), axis=1)), run.system.entropies

    def flow(word: str) -> Array:
        return np.stack([table[f"{word}.{s.name}"] for s in S], axis=-1) if S else np.zeros((*energy.shape, 0))

    shaped = run.by_lane
    return Balance(
        run=run,
        energy=shaped(energy),
        work=shaped(table["work"] + table.get("reactions", 0.0)),
        heat=shaped(table["heat"]),
        entropy=shaped(np.where(acted[..., None], np.nan, np.diff(run.table("entropy"), axis=1))),
        received=shaped(flow("received")),
        exchanged=shaped(flow("exchanged")),
        exact=shaped(exact),
    )


def _filled(own: dict[str, Array], nodes: dict[str, Array]) -> dict[str, Array]:
    """The method's sums where available, integrals through the nodes elsewhere."""
    if not own:
        return nodes
    missing = np.isnan(np.stack(list(own.values()))).any(axis=0)  # all of an interval is of one kind
    return {name: np.where(missing, v, own[name]) if name in own else v for name, v in nodes.items()}


# -------------------- the method's own sums --------------------


def _after(name: str) -> str:
    """The name of a number of the state after the step."""
    return f"next.{name}"


@lru_cache(maxsize=32)
def _laws(system: System, method: Method) -> tuple[StepMap, tuple[str, ...], PointMap | None]:
    """The step of a method with its changes of energy and entropy, as a map on states, times and first guesses."""
    laws: dict[str, Fast] = method.laws(system)
    step = method.step_map(system)
    if not laws:
        return step, (), None
    outputs = {_after(name): u for name, u in zip(step.state, step.update, strict=True)} | laws
    inputs = [*step.state, TIME, *(f"guess.{x}" for x in step.sought)]
    sought = set(step.sought)
    blocks = [
        replace(
            b, guess=tuple(fast(f"guess.{x}") if x in sought else g for x, g in zip(b.unknowns, b.guess, strict=True))
        )
        if isinstance(b, Block)
        else b
        for b in step.blocks
    ]
    return step, tuple(laws), PointMap(pointwise(f"{step.name}, laws", inputs, step.parameters, outputs, blocks))


def _own_sums(run: Trajectory) -> tuple[tuple[str, ...], Array]:
    """The sums of the method, (lanes, intervals, names); NaN where a step could not be recomputed."""
    lanes, intervals = len(run.records), len(run.time) - 1
    method = run.method
    if method is None or method.adaptive or not method.thermal:
        return (), np.zeros((lanes, intervals, 0))
    assert isinstance(run.system, System)
    step, names, compiled = _laws(run.system, method)
    if compiled is None:
        return (), np.zeros((lanes, intervals, 0))
    after, own = compiled.stepmap.columns(map(_after, step.state)), compiled.stepmap.columns(names)
    states, guesses = run.columns_named(list(step.state)), _guesses(run, step)
    sums = np.zeros((lanes, intervals, len(names)))
    for lane, parameters in enumerate(run.parameter_rows):
        state, t = states[lane, :-1], run.time[:-1].copy()
        for fraction in step.substeps * run.every:
            points = np.column_stack([state, t, guesses[lane]])
            values, status = compiled(points, parameters[None, :], h=fraction * run.h)
            values[status != 0] = np.nan
            state, t = values[:, after], t + fraction * run.h
            sums[lane] += values[:, own]
        size = np.nanmax(np.abs(states[lane]), axis=0, initial=1e-300)
        with np.errstate(invalid="ignore"):
            sums[lane, ~(np.abs(state - states[lane, 1:]) <= SAME * size).all(axis=1)] = np.nan
    return names, sums


def _guesses(run: Trajectory, step: StepMap) -> Array:
    """First guesses of the unknowns: rates between the records where they belong to a coordinate or an entropy, else 0."""
    q, entropies = run.system.coordinates, [S.name for S in run.system.entropies]
    places, heat = run.table("position"), run.table("entropy")
    changes = [differences(q, places[:, :-1], places[:, 1:]), np.diff(heat, axis=1)]
    rates = np.concatenate(changes, axis=-1) / (run.h * run.every)
    found = velocity_columns(step.layout, q, step.sought)
    for k, name in enumerate(step.sought):
        place = step.layout.find(name)
        if place is not None and place[0].role == "rate" and place[0].owner in entropies:
            found[k] = len(q) + entropies.index(place[0].owner)
    columns = [np.zeros(rates.shape[:2]) if i is None else rates[..., i] for i in found]
    return np.stack(columns, axis=-1) if columns else np.zeros((*rates.shape[:2], 0))


# -------------------- integrals through the nodes --------------------


def _by_nodes(run: Trajectory) -> dict[str, Array]:
    """The same quantities by quadrature of their rates at the nodes."""
    system = run.system
    assert isinstance(system, System)
    T = [fast(temperature) for temperature in system.temperatures]
    rates = {"work": external_power(system), "heat": sum(outside_heat(system), start=fast(0))}
    for word, heats in (("received", outside_heat(system)), ("exchanged", exchanged_heat(system))):
        rates |= {f"{word}.{S.name}": P / t for S, P, t in zip(system.entropies, heats, T, strict=True)}
    sought = multipliers(system)
    rates["reactions"] = substitute(reaction_power(system), dict.fromkeys(sought, 0))
    rows = zip(*jacobian(reaction(system), sought), strict=True)  # the reaction is affine in the multipliers
    powers = [zip(row, system.velocities, strict=True) for row in rows]
    along = {f"factor.{a}": sum((x * fast(v) for x, v in w), start=fast(0)) for a, w in enumerate(powers)}
    values = run.at_points(maps.quantity_map(system, {**rates, **along}), run.table("velocity"))
    known = dict(zip((*rates, *along), np.moveaxis(values, -1, 0), strict=True))
    for a in range(len(system.constraints)):
        # Where a constraint does not move, this is only rounding times a multiplier.
        known["reactions"] += run.table("multiplier")[..., a] * known.pop(f"factor.{a}")
    order = run.method.order if run.method is not None else 4
    return {name: integrals_between(run, v, order + 2) for name, v in known.items()}


def integrals_between(run: Trajectory, values: Array, points: int) -> Array:
    """The integrals between records, with no polynomial across an acting event; NaN where one acts."""
    found = np.full((values.shape[0], values.shape[1] - 1), np.nan)
    for lane, row in enumerate(run.stretches):
        edges = [0, *(np.flatnonzero(np.diff(row)) + 1), len(row)]
        for first, last in pairwise(edges):
            if last - first > 1:
                found[lane, first : last - 1] = integrals(values[lane, first:last], run.h * run.every, points)
    return found


def integrals(values: Array, spacing: float, points: int) -> Array:
    """Over every interval between equidistant nodes, the integral of the polynomial through the nearest `points` nodes."""
    count = values.shape[-1]
    points = min(points, count)
    x = np.linspace(-1.0, 1.0, points)
    powers = np.arange(points)
    moments = np.diff(x[None, :] ** (powers[:, None] + 1), axis=1) / (powers[:, None] + 1)
    weights = np.linalg.solve(x[None, :] ** powers[:, None], moments) * (points - 1) / 2  # in units of the spacing
    first = np.clip(np.arange(count - 1) - (points - 2) // 2, 0, count - points)
    nearest = first[:, None] + np.arange(points)
    within = np.arange(count - 1) - first
    integrals: Array = spacing * np.einsum("...kp,kp->...k", values[..., nearest], weights.T[within])
    return integrals
