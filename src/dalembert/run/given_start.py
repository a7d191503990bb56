"""A start as given by the user: a dictionary of positions and velocities, momenta or second positions, read into arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ..errors import StartError
from ..model.coordinates import Coordinate, Entropy, Multiplier, time
from ..model.group_coordinate import Components
from ..model.space import groups, lines, numbers
from ..model.unit_vector import UnitVector
from ..numbers import name_of, reals
from .values import Array, Values, by_name, columns, lanes

Kind = Literal["velocity", "momentum", "two positions"]


@dataclass(frozen=True)
class Start:
    """A complete, checked start; arrays have one row per lane."""

    kind: Kind
    time: float
    q: Array
    second: Array
    """Velocities, momenta or second positions, according to `kind`."""
    lanes: int | None
    entropies: Array
    """One column per entropy; none in a mechanical system."""
    near: Array | None = None
    """Velocities given along with momenta, to select the branch; NaN where there is none."""
    carried: Array | None = None
    """One column per multiplier that is part of the state; None in systems that have none."""

    @property
    def rest(self) -> Array:
        """What else the state holds, as columns: entropies, then multipliers."""
        return self.entropies if self.carried is None else np.column_stack([self.entropies, self.carried])

    @property
    def state(self) -> Array:
        """The start as columns: positions, `second`, entropies, multipliers."""
        return np.column_stack([self.q, self.second, self.rest])


def read_start(
    coordinates: Sequence[Coordinate],
    given: Values,
    parameters: dict[str, Array],
    fixed: int,
    usual: Kind = "velocity",
    entropies: Sequence[Entropy] = (),
    branches: bool = False,
    carried: Sequence[Multiplier] = (),
) -> tuple[Start, list[int]]:
    """The start in a dictionary; also which velocities it leaves out, at most `fixed` of them.

    `usual` is the kind of start named in the message if only positions are given. With `branches`, velocities given along
    with momenta select one of several solutions of p = dL/dv.
    """
    keys = [s for q in coordinates for s in (q, q.dot, q.momentum, q.at(0), q.at(1))]
    given, turned = _groups(coordinates, given)
    _check_multipliers(carried, given)
    _check_keys(coordinates, [*entropies, *carried], given)
    found = by_name(given, [*keys, *entropies, *carried, time], "start") | turned
    t0 = found.pop(time.name, np.zeros(()))
    if t0.ndim:
        raise StartError("start: time is an array. All lanes start at one time; give one number.")
    if not np.isfinite(t0):
        raise StartError(f"start: time = {t0}. Give the time of the start, one number.")
    keys_of = _keys(coordinates)
    count = lanes({keys_of.get(name, name): value for name, value in found.items()}, parameters)
    speeds = [q.dot.name for q in coordinates]
    both = branches and any(q.momentum.name in found for q in coordinates) and any(n in found for n in speeds)
    beside = {n: found.pop(n, np.array(np.nan)) for n in speeds} if both else {}
    kind = _kind(coordinates, found) or usual
    if kind == "two positions" and (turning := groups(coordinates)):
        raise StartError(
            f"start: two positions are for coordinates that are numbers, and {turning[0].name} is a {turning[0].noun}. Start "
            f"from position and momentum: {{{turning[0].name}: ..., {turning[0].vectors[-1].name}: (...)}}."
        )
    first = [_at(name, 0) if kind == "two positions" else name for name in numbers(coordinates)]
    second = {
        "velocity": speeds,
        "momentum": [q.momentum.name for q in coordinates],
        "two positions": [_at(name, 1) for name in numbers(coordinates)],
    }[kind]
    absent = [n for n in first if n not in found]
    lacking = [n for n in second if n not in found]
    if absent or len(lacking) > (fixed if kind == "velocity" else 0):
        raise StartError(_incomplete(coordinates, absent, lacking, kind, fixed))
    filled = found | {n: np.array(np.nan) for n in lacking}
    _check_rest(found, entropies, carried)
    begun = columns(filled, first, count), columns(filled, second, count)
    near = columns(beside, speeds, count) if both else None
    held = columns(filled, [m.name for m in carried], count) if carried else None
    start = Start(kind, float(t0), *begun, count, columns(filled, [S.name for S in entropies], count), near, held)
    return start, [second.index(n) for n in lacking]


def _at(name: str, end: int) -> str:
    """The name of a number of the position at the beginning or the end of a step."""
    return f"{name}.at({end})"


def _groups(coordinates: Sequence[Coordinate], given: Values) -> tuple[dict[Any, Any], dict[str, Array]]:
    """The values given for lines; and by name the numbers of rotations and components of their velocities and momenta."""
    plain, turned = dict(given), dict[str, Array]()
    for R in groups(coordinates):
        for name in (R, R.name):
            if name in plain:
                matrix = reals(plain.pop(name), f"start: {R.name}", StartError, f"Give {R.expected}.")
                turned |= dict(zip(R.numbers, np.moveaxis(R.read(matrix), -1, 0), strict=True))
        if set(R.numbers) <= set(plain):  # the state at an event, as `Crossing.start` gives it
            turned |= {name: reals(plain.pop(name), f"start: {name}", StartError) for name in R.numbers}
        for vector in R.vectors:
            for key in (vector, vector.name):
                if key in plain:
                    turned |= _components(vector, plain.pop(key))
        if isinstance(R, UnitVector):
            turned |= _in_space(R, plain, turned)
    return plain, turned


def _in_space(n: UnitVector, plain: dict[Any, Any], turned: dict[str, Array]) -> dict[str, Array]:
    """The components along its directions of vectors that are given in space, for a unit vector that is given."""
    found = dict[str, Array]()
    for vector, components in zip(n.spatial, n.vectors, strict=True):
        for key in (vector, vector.name):
            if key in plain and set(n.numbers) <= set(turned):
                role = f"start: {vector.name}"
                values = reals(plain.pop(key), role, StartError, "Give its 3 components in space.")
                held = np.stack(np.broadcast_arrays(*(turned[number] for number in n.numbers)), axis=-1)
                along = n.read_spatial(vector, values, held)
                found |= dict(zip((s.name for s in components), np.moveaxis(along, -1, 0), strict=True))
    return found


def _check_keys(coordinates: Sequence[Coordinate], entropies: Sequence[Entropy], given: Values) -> None:
    """Refuse unknown keys of a start with rotations; the message names the keys that a start can have."""
    turning = groups(coordinates)
    if not turning or not isinstance(given, Mapping):
        return
    known = [s.name for q in lines(coordinates) for s in (q, q.dot, q.momentum)] + [s.name for s in (*entropies, time)]
    parts = {s.name for R in turning for vector in R.vectors for s in vector}
    for key in given:
        name = name_of(key)
        if name in known or name in parts:
            continue
        if name not in [s.name for q in coordinates for s in (q.at(0), q.at(1))]:
            vectors = [name for R in turning for name in (R.name, *(v.name for v in (*R.vectors, *R.spatial)))]
            raise StartError(f"start: {name[:120]} is unknown here. Expected one of {', '.join(vectors + known)}.")


def _check_rest(found: Mapping[str, Array], entropies: Sequence[Entropy], carried: Sequence[Multiplier]) -> None:
    """Refuse a start without a value for an entropy or for a multiplier of the state."""
    if cold := [S.name for S in entropies if S.name not in found]:
        example = ", ".join(f"{n}: ..." for n in cold)
        raise StartError(f"start: no value for the entropy {', '.join(cold)}. Add start={{{example}}}.")
    if free := [m for m in carried if m.name not in found]:
        example = ", ".join(f"{m.key}: ..." for m in free)
        told = "a multiplier that is" if len(free) == 1 else "multipliers that are"
        names = ", ".join(map(str, free))
        raise StartError(f"start: no value for {names}, {told} part of the state. Add start={{{example}}}.")


def _check_multipliers(carried: Sequence[Multiplier], given: Values) -> None:
    """Refuse multipliers that are no data of the start."""
    known = {m.name for m in carried}
    for key in given if isinstance(given, Mapping) else ():
        if isinstance(key, Multiplier) and key.name not in known:
            raise StartError(
                f"start: {key} is given, and it follows from the rest of the start here. Leave it out; "
                f"run.multipliers has its values."
            )


def _components(vector: Components, given: Any) -> dict[str, Array]:
    role = f"start: {vector.name}"
    n = len(vector)
    values = reals(given, role, StartError, f"Give its {n} components in the body.")
    if values.shape[-1:] != (n,) or values.ndim > 2:
        raise StartError(f"{role} has shape {values.shape}. Give {n} components, or an array (lanes, {n}).")
    return dict(zip((s.name for s in vector), np.moveaxis(values, -1, 0), strict=True))


def _kind(coordinates: Sequence[Coordinate], found: dict[str, Array]) -> Kind | None:
    used: dict[Kind, list[str]] = {
        "velocity": [q.dot.name for q in coordinates if q.dot.name in found],
        "momentum": [q.momentum.name for q in coordinates if q.momentum.name in found],
        "two positions": [s.name for q in coordinates for s in (q.at(0), q.at(1)) if s.name in found],
    }
    kinds = [k for k, names in used.items() if names]
    if kinds == ["two positions"] and any(q.name in found for q in coordinates):
        kinds, used["velocity"] = ["two positions", "velocity"], [q.name for q in coordinates if q.name in found]
    if len(kinds) > 1:
        keys = _keys(coordinates)
        said = [dict.fromkeys(keys.get(name, name) for name in names) for names in used.values() if names]
        told = "; ".join(", ".join(names) for names in said)
        raise StartError(f"start: it mixes ways to start ({told}). Give velocities, or momenta, or two positions.")
    return kinds[0] if kinds else None


def _incomplete(coordinates: Sequence[Coordinate], absent: list[str], lacking: list[str], kind: str, fixed: int) -> str:
    n = len(coordinates)
    if groups(coordinates):
        keys = _keys(coordinates)
        absent, lacking = [list(dict.fromkeys(keys.get(name, name) for name in names)) for names in (absent, lacking)]
    parts = []
    if absent:
        parts.append(f"no position for {', '.join(absent)}")
    if lacking:
        parts.append(f"no value for {', '.join(lacking)}")
    needed = f"{n} positions and {n} {'velocities' if kind == 'velocity' else 'momenta'}"
    if kind == "two positions":
        needed = f"{n} positions x.at(0) and {n} positions x.at(1)"
    freedom = f", of which constraints can supply {fixed}" if kind == "velocity" and fixed else ""
    example = ", ".join(f"{name}: ..." for name in absent + lacking)
    return f"start: {'; '.join(parts)}. Expected {needed}{freedom}. Add start={{{example}}}."


def _keys(coordinates: Sequence[Coordinate]) -> dict[str, str]:
    """The key a user gives for each number of a rotation and each component: R for a quaternion, R.omega for a velocity."""
    found: dict[str, str] = {}
    for R in groups(coordinates):
        found |= dict.fromkeys(R.numbers, R.name)
        told = R.spatial or R.vectors
        found |= {s.name: v.name for components, v in zip(R.vectors, told, strict=True) for s in components}
    return found
