"""The start of a motion, checked and completed: velocities from constraints or momenta, positions on constraints."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..discrete.equations import carried, interior_residual, momentum_minus, step_velocity
from ..discrete.flow import beginnings
from ..discrete.interior import from_beginning
from ..discrete.system import DiscreteSystem
from ..errors import StartError
from ..model.constraints import Constraint
from ..model.coordinates import Direction, Velocity, step, time
from ..model.group_coordinate import GroupCoordinate
from ..model.space import by_direction, factors, groups, in_numbers, moved_numbers
from ..model.system import System
from ..symbolic import Fast, fast, free_names, magnitude, substitute
from ..theory.motion import state_maps as maps
from ..waist.layout import Groups
from ..waist.stepmap import Block, pointwise
from .given_start import Start, read_start
from .projection import lengths, smallest_change
from .values import Array, Values, point_map
from .velocities import Search, velocities
from .velocity_candidates import candidates

SHOWN = 6
"""Number of candidates that a message lists."""

OFF = 1e-9
"""A start is on the constraints if their value is below this, relative to the size of the terms they are sums of."""

ROUNDED = 1e-14
"""Accuracy of numbers relative to others of the state in the metric of the masses; and of a constraint relative to
the scale of its rounding errors."""

UNDETERMINED = 1e-10
"""A velocity follows from a constraint if its coefficient there is larger than this, in the metric of the masses."""


def resolve_start(system: System, given: Values, parameters: dict[str, Array], rows: Array) -> Start:
    """A checked start on the constraints, with velocities (two positions are not changed).

    `rows` are the parameters as columns, one row per lane.
    """
    supplied = sum(any(c.is_affine_in([v]) for v in _occurring(system, c)) for c in system.constraints)
    free = not maps.legendre_block(system, False).is_linear
    start, missing = read_start(
        system.coordinates, given, parameters, supplied, entropies=system.entropies, branches=free,
        carried=tuple(system.principle.carried(system)),
    )  # fmt: skip
    rows = np.broadcast_to(rows, (len(start.q), rows.shape[1])) if len(rows) == 1 else rows
    if start.kind == "two positions":
        if system.holonomic:
            at_rest = replace(start, kind="velocity", second=np.zeros((len(start.q), len(system.coordinates))))
            value, _, row = _constraint_table(system, at_rest, rows)
            masses = np.abs(np.nan_to_num(point_map(maps.inertia_map(system))(_points(at_rest), rows)[0]))
            _refuse_positions(system, at_rest, value, row, masses, rows)
        return start
    if start.kind == "momentum":
        start = replace(start, kind="velocity", second=of_momenta(system, start, rows, free))
    if not system.constraints:
        return start
    velocity = _admissible(system, start, missing, rows)
    return replace(start, kind="velocity", second=velocity)


def momenta_of(system: System, start: Start, rows: Array) -> Array:
    """The momenta dL/dv of a start with velocities."""
    found: Array = point_map(maps.momentum_map(system))(_points(start), rows)[0]
    return found


def of_momenta(system: System, start: Start, rows: Array, branches: bool) -> Array:
    """The velocities that belong to the momenta of a start; of several, the one near a given velocity."""
    points = _points(start)
    if not branches:
        found = velocities(system, points, rows, False)
        whole = np.column_stack([start.q, found, start.rest, _times(start)])
        back = point_map(maps.momentum_map(system))(whole, rows)[0]
        n = len(system.coordinates)
        mass = np.abs(point_map(maps.mass_map(system))(whole, rows)[0]).reshape(-1, n, n)
        terms = np.einsum("lij,lj->li", mass, np.abs(found))  # where masses are degenerate a reaction was subtracted
        apart = np.abs(back - start.second) > OFF * np.abs(start.second) + ROUNDED * terms
        if (np.isnan(found) | apart).any():
            raise StartError(_NO_VELOCITIES)
        return found
    rows = np.broadcast_to(rows, (len(points), rows.shape[1]))
    near = np.full_like(start.second, np.nan) if start.near is None else start.near
    complete = np.asarray(np.isfinite(near).all(axis=1))
    found = np.full_like(start.second, np.nan)
    if complete.any():
        found[complete] = Search(system, points[complete], rows[complete], False).from_velocities(near[complete])
    for lane in np.flatnonzero(np.isnan(found).any(axis=1) & np.isfinite(points).all(axis=1)):
        found[lane] = _chosen(system, start, int(lane), candidates(system, points[lane], rows[[lane]]), near[lane])
    return found


_NO_VELOCITIES = (
    "start: these momenta determine no velocities: the Legendre transform is singular there, or no velocity has such "
    "momenta."
)


def _chosen(system: System, start: Start, lane: int, known: list[Array], near: Array) -> Array:
    """The velocity selected by the user among all that belong to the momenta."""
    given = np.isfinite(near)
    if not known:
        raise StartError(_NO_VELOCITIES)
    if len(known) == 1:
        return known[0]
    if given.any() and not given.all():  # the nearest, if it is unique
        far = [float((np.abs(v - near) / np.maximum(np.abs(v), np.abs(near)))[given].max()) for v in known]
        order = np.argsort(far)
        if far[order[0]] < 0.5 * far[order[1]]:
            return known[int(order[0])]
    names = [str(q.dot) for q in system.coordinates]
    told = [", ".join(f"{n}: {x:.10g}" for n, x in zip(names, v, strict=True)) for v in known[:SHOWN]]
    more = f" and {len(known) - SHOWN} more" if len(known) > SHOWN else ""
    listed = "; ".join(f"{{{t}}}" for t in told)
    beside = " None of them is on the branch of the velocities that were given." if given.all() else ""
    raise StartError(
        f"start: these momenta belong to several velocities{_lane(start, lane)}: {listed}{more}.{beside} Add velocities near "
        f"those that are meant: start={{..., {told[-1]}}}."
    )


def _times(start: Start) -> Array:
    return np.full(len(start.q), start.time)


def _points(start: Start) -> Array:
    """The start as inputs of a map: with velocities, or with momenta, which multipliers are no inputs beside."""
    if start.kind == "velocity":
        return np.column_stack([start.q, np.nan_to_num(start.second), start.rest, _times(start)])
    return np.column_stack([start.q, start.second, start.entropies, _times(start)])


def _admissible(system: System, start: Start, missing: list[int], rows: Array) -> Array:
    """Velocities that satisfy the constraints, the missing ones filled in; or an error with the residual."""
    n = len(system.coordinates)
    value, drift, row = _constraint_table(system, start, rows)
    known_numbers: Array = np.asarray(np.isfinite(row).all(axis=(1, 2)))  # other lanes end with their own status
    row = np.where(known_numbers[:, None, None], row, np.eye(len(system.constraints), n))
    masses = np.abs(np.nan_to_num(point_map(maps.inertia_map(system))(_points(start), rows)[0]))
    _refuse_positions(system, start, value, row, masses, rows)
    velocity = start.second.copy()
    if missing:
        velocity[:, missing] = _filled(system, start, missing, drift, row, masses)
        whole = replace(start, kind="velocity", second=velocity)
        _, drift, row = _constraint_table(system, whole, rows)  # coefficients may depend on the velocities
    off = drift + (row * velocity[:, None, :]).sum(axis=-1)
    terms = np.abs(row * velocity[:, None, :]).sum(axis=-1) + np.abs(drift)
    moving = _sizes(system, replace(start, kind="velocity", second=velocity), rows)[..., 2]
    allowed = OFF * terms + ROUNDED * moving + ROUNDED * _beside(row, velocity, masses)
    excess = np.nan_to_num(np.abs(off) - allowed, nan=-1.0)
    lane, a = np.unravel_index(int(excess.argmax()), off.shape)
    if excess[lane, a] > 0:
        raise StartError(_off_velocity(system, int(lane), int(a), off[lane, a], start))
    return velocity


def _filled(system: System, start: Start, missing: list[int], drift: Array, row: Array, masses: Array) -> Array:
    """The missing velocities from the constraints; rows and columns are scaled, so that units do not matter."""
    known = [i for i in range(len(system.coordinates)) if i not in missing]
    absent = [system.coordinates[i].dot for i in missing]
    linear = [a for a, c in enumerate(system.constraints) if c.is_affine_in(absent)]
    right = -(drift + (row[..., known] * start.second[:, None, known]).sum(axis=-1))[:, linear]
    unit = lengths(row[:, linear], masses)
    scaled = row[:, linear] * unit[:, None, :]
    size = np.linalg.norm(scaled, axis=2, keepdims=True)
    size = np.where(size > 0, size, 1.0)
    part = (scaled / size)[..., missing]
    if (np.linalg.matrix_rank(part, tol=UNDETERMINED) < len(missing)).any():
        raise StartError(_undetermined(system, missing))
    found = np.einsum("lia,la->li", np.linalg.pinv(part, rcond=1e-15), right / size[..., 0])
    velocity: Array = found * unit[:, missing]
    return velocity


def _beside(row: Array, values: Array, masses: Array) -> Array:
    """The size of a constraint with coefficients `row` if each value were as large as all values in it together.

    Values of different units are compared by the masses: x and y by sqrt(m_x) x and sqrt(m_y) y. Where a constraint
    contains one value alone, it is compared with all.
    """
    root = np.sqrt(masses)
    occurs = (row != 0) & (masses > 0)[:, None, :]
    together = np.where(occurs.sum(axis=2, keepdims=True) > 1, occurs, (masses > 0)[:, None, :])
    whole = np.sqrt((together * np.nan_to_num(root * values)[:, None, :] ** 2).sum(axis=2, keepdims=True))
    with np.errstate(all="ignore"):
        terms: Array = np.where(occurs, np.abs(row) * whole / root[:, None, :], 0.0).sum(axis=2)
        return terms


def _constraint_table(system: System, start: Start, rows: Array) -> tuple[Array, Array, Array]:
    """Value, drift and coefficients of every constraint in every lane."""
    return maps.constraint_parts(system, point_map(maps.constraint_map(system))(_points(start), rows)[0])


def _sizes(system: System, start: Start, rows: Array) -> Array:
    """Of every constraint in every lane: the sizes of its terms, and the scale of its rounding errors."""
    return point_map(maps.size_map(system))(_points(start), rows)[0].reshape(len(start.q), -1, 3)


def _lane(start: Start, lane: int) -> str:
    return "" if start.lanes is None else f" (lane {lane})"


def _undetermined(system: System, missing: list[int]) -> str:
    names = ", ".join(str(system.coordinates[i].dot) for i in missing)
    which = "it" if len(missing) == 1 else "them all"
    return f"start: no value for {names}, and the constraints do not determine {which} here. Give more velocities."


def _off_velocity(system: System, lane: int, a: int, residual: float, start: Start) -> str:
    c = system.constraints[a]
    form = c.velocity_form(system.coordinates)
    free = [str(v) for v in _occurring(system, c) if c.is_affine_in([v])]
    one = f"one of {', '.join(free)}" if len(free) > 1 else "".join(free)
    advice = f"Leave out {one}, and it follows from the constraint." if free else "Give velocities that satisfy it."
    return f"start: the velocities violate {form} = 0{_lane(start, lane)}: its value is {residual:.6g}. {advice}"


def _occurring(system: System, c: Constraint) -> list[Velocity]:
    """The velocities in a constraint, those of its derivative by time if it is on positions."""
    return [system.coordinates[i].dot for i in c.occurring]


def _refuse_positions(system: System, start: Start, value: Array, row: Array, masses: Array, parameters: Array) -> None:
    """Holonomic constraints must hold; the message offers the nearest position."""
    a = [k for k, c in enumerate(system.constraints) if c.is_holonomic]
    if not a:
        return
    sizes = _sizes(system, start, parameters)[:, a]
    allowed = (
        OFF * sizes[..., 0]
        + ROUNDED * sizes[..., 1]
        + ROUNDED * _beside(row[:, a], by_direction(system.coordinates, start.q), masses)
    )
    excess = np.nan_to_num(np.abs(value[:, a]) - allowed, nan=-1.0)
    lane, k = np.unravel_index(int(excess.argmax()), excess.shape)
    if excess[lane, k] > 0:
        change = -smallest_change(row[lane, a], value[lane, a], masses[lane])
        nearest = moved_numbers(system.coordinates, start.q[lane], change)
        hint = ", ".join(f"{q}: {x}" for q, x in _said(system, nearest))
        raise StartError(
            f"start: the position violates {system.constraints[a[k]].expression} = 0{_lane(start, int(lane))}: its value is "
            f"{value[lane, a[k]]:.6g}. Correct the position; one step towards the constraint gives {{{hint}}}."
        )


def _said(system: System, held: Array) -> list[tuple[str, str]]:
    """A position as text, factor by factor."""
    found, at = [], 0
    for f in factors(system.coordinates):
        part = held[at : at + len(f.numbers)]
        at += len(f.numbers)
        value = f.shown(part)
        found.append((f.name, str(value.tolist()) if value.ndim else f"{value:.10g}"))
    return found


def _on_ends(system: DiscreteSystem) -> list[Fast]:
    """The constraints of a step that involve its end alone, at its beginning, in the numbers of that position.

    On a group a displacement involves both ends, and its constraints contain one; holonomic ones are told by the system.
    """
    q, made = system.coordinates, system.system
    if made is None or not groups(q):
        own = {c.at(0).name for c in q}
        pairs = zip(system.constraints, beginnings(system), strict=True)
        return [here for there, here in pairs if not free_names([there]) & own]
    still = {c.at(1): 0 if isinstance(c, Direction) else c.at(0) for c in q} | {time: fast(time) - fast(step)}
    at_end = [c.is_holonomic for c in made.constraints]
    return [in_numbers(substitute(chi, still), q) for chi, end in zip(system.constraints, at_end, strict=True) if end]


def check_first_node(system: DiscreteSystem, start: Start, rows: Array, h: float) -> None:
    """Constraints that a step imposes on its end alone, as holonomic ones, hold at every node: at the first one too."""
    names = [p.name for p in system.parameters]
    held = [
        f.numbers if isinstance(f, GroupCoordinate) else (f.coordinate.at(0).name,) for f in factors(system.coordinates)
    ]
    first = [name for row in held for name in row]
    chi = _on_ends(system)
    if not chi:
        return
    outputs = {str(k): e for k, e in enumerate([*chi, *map(maps.terms_size, chi), *map(magnitude, chi)])}
    compiled = point_map(pointwise(f"{system.name}, first node", [*first, time.name], names, outputs))
    value, terms, size = np.split(compiled(np.column_stack([start.q, _times(start)]), rows, h=h)[0], 3, axis=1)
    excess = np.nan_to_num(np.abs(value) - OFF * terms - ROUNDED * size, nan=-1.0)
    lane, k = np.unravel_index(int(excess.argmax()), excess.shape)
    if excess[lane, k] > 0:
        raise StartError(
            f"start: the first position violates {system.read(chi[k])} = 0{_lane(start, int(lane))}: its value is "
            f"{value[lane, k]:.6g}. The constraint holds at every node; correct the position."
        )


def two_position_momenta(system: DiscreteSystem, start: Start, rows: Array, h: float) -> Array:
    """p_0 of a motion through two given positions, which must satisfy the discrete constraints."""
    q, S = system.coordinates, system.entropies
    held = [m.name for m in carried(system)]
    inputs = [*(c.at(0).name for c in q), *(c.at(1).name for c in q), *(s.at(0).name for s in S), *held, time.name]
    values = system.constraints
    groups = Groups(
        momentum=momentum_minus(system),
        value=values,
        terms=[*map(maps.terms_size, values)],
        size=[*map(magnitude, values)],
    )
    names = [p.name for p in system.parameters]
    inner, slots = [i.unknown for i in system.interior_positions()], from_beginning(system)
    rates = {fast(s.at(1)): fast(s.at(0)) + fast(step) * fast(step_velocity(s)) for s in S}
    outputs = {name: substitute(e, slots | rates) for name, e in groups.outputs.items()}
    residual = tuple(substitute(r, slots) for r in interior_residual(system))
    blocks = [Block(tuple(inner), residual)] if inner else []
    if S:  # the second entropy follows from the first and the two positions
        laws = tuple(substitute(law, rates) for law in system.entropy_laws)
        blocks.append(Block(tuple(step_velocity(s).name for s in S), laws))
    table, _ = point_map(pointwise(f"{system.name}, first step", inputs, names, outputs, blocks))(
        np.column_stack([start.state, _times(start)]), rows, h=h, t=start.time
    )
    value = groups.of(table, "value")
    off, terms, size = map(np.abs, groups.split(table, "value", "terms", "size"))
    if off.size and not (off <= OFF * terms + ROUNDED * size).all():
        lane, a = np.unravel_index(int(np.nan_to_num(off - OFF * terms, nan=np.inf).argmax()), off.shape)
        raise StartError(
            f"start: the two positions violate the discrete constraint {system.read(system.constraints[a])} = 0"
            f"{_lane(start, int(lane))}: its value is {value[lane, a]:.6g}. Correct the second position x.at(1)."
        )
    return np.asarray(groups.of(table, "momentum"))
