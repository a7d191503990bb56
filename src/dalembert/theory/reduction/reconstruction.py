"""Reconstruction: the motion of the group from body velocities, g' = g xi, and its phases.

Between two times g changes by a factor near the identity, which solves d' = left(d) xi from the identity: fourth-order
Runge-Kutta steps with cubic splines through the given values. With the connection, g = dynamic * geometric: the geometric part
follows the horizontal lift of the shape, g' = g M r'.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from ...display import Part, Shown, Table
from ...errors import StartError, told
from ...model.coordinates import Coordinate, time
from ...model.group_coordinate import GroupCoordinate
from ...model.space import AnyFactor, factors
from ...numbers import real
from .carried_axes import point_symbols
from .group_and_shape import first_element, function_of, slopes_of

if TYPE_CHECKING:
    from .reduced import ReducedSystem

Array = Any
SUBSTEPS = 4
"""Runge-Kutta steps between two of the given times."""


@dataclass(frozen=True, eq=False, repr=False)
class Reconstruction(Shown):
    """A motion of the coordinates of a system; see `ReducedSystem.reconstruct`.

    times:      the times
    values:     {coordinate: array}, matrices of group coordinates, components of unit vectors
    elements:   the symbols of a group element
    group:      the group elements g with q = Phi(g, s(r)), one row per time
    geometric:  those of the horizontal motion over the same shapes, from the same place
    dynamic:    group times the inverse of geometric: what the momentum adds
    held:       the numbers that hold the positions, one row per time
    """

    times: Array
    values: Mapping[Any, Array]
    elements: tuple[Any, ...]
    group: Array
    geometric: Array
    dynamic: Array
    held: Array

    def __getitem__(self, key: Any) -> Array:
        return self.values[key]

    def _parts(self) -> list[Part]:
        names = ", ".join(map(str, self.values))
        columns = zip(self.elements, self.group[-1], self.geometric[-1], self.dynamic[-1], strict=True)
        rows = [(str(e), *(f"{x:.9g}" for x in numbers)) for e, *numbers in columns]
        return [
            f"reconstructed motion of {names}: {len(self.times)} times from {self.times[0]:g} to {self.times[-1]:g}",
            "The group element at the end is the dynamic phase times the geometric one, that of the connection alone:",
            Table(("element", "whole", "dynamic", "geometric"), [(e, w, d, g) for e, w, g, d in rows]),
        ]


def reconstruct(
    reduced: ReducedSystem, motion: Mapping[Any, Any], at: Mapping[Any, Any], parameters: Mapping[Any, float]
) -> Reconstruction:
    """See `ReducedSystem.reconstruct`."""
    import numpy as np
    from scipy.interpolate import CubicSpline

    s, q = reduced.symmetry, reduced.system.coordinates
    if not isinstance(motion, Mapping):
        motion, parameters = _of_run(reduced, motion, parameters)
    asked = [time, *reduced.shape, *reduced.velocities.values()]
    table = {k: _array(motion, k) for k in asked}
    t = table[time]
    if len(t) < 4 or len({len(a) for a in table.values()}) > 1 or not (np.diff(t) > 0).all():
        raise StartError("reconstruct: expected at least four increasing times, and as many values of everything else.")
    numbers = {p: real(v, str(p)) for p, v in parameters.items()}
    shape = [CubicSpline(t, table[r]) for r in reduced.shape]
    xi = [CubicSpline(t, table[x]) for x in reduced.velocities.values()]

    def body(at_times: Array) -> Array:
        return np.array([f(at_times) for f in xi])

    @cache
    def lift() -> Any:
        return _lift(reduced, numbers)  # needs parameters that a motion without shapes does not

    def horizontal(at_times: Array) -> Array:
        if not shape:
            return np.zeros((s.dimension, len(at_times)))
        M = lift()(np.array([f(at_times) for f in shape]))
        return np.einsum("kij,jk->ik", M, np.array([f(at_times, 1) for f in shape]))

    unknowns, told = [*s.elements, *reduced.shape], [reduced.images[x] for x in point_symbols(q)]
    position = function_of(unknowns, told, numbers)
    slopes = function_of(unknowns, slopes_of(told, s.elements), numbers)
    start = [x for f in factors(q) for x in _given_position(f, at)]
    first = first_element(
        position, slopes, start, [float(f(t[0])) for f in shape], [float(e) for e in s.identity], reduced
    )
    group, geometric = (_motion(s, t, f, first, numbers) for f in (body, horizontal))
    inverse, product = (_groupfunction_of(s, k, numbers) for k in ("inverse", "product"))
    dynamic = product(*group.T, *inverse(*geometric.T)).T
    found = function_of(unknowns, list(reduced.images.values()), numbers)(*group.T, *(f(t) for f in shape))
    values, held = _by_factor(q, found)
    return Reconstruction(t, values, tuple(s.elements), group, geometric, dynamic, held)


def _lift(reduced: ReducedSystem, numbers: Mapping[Any, float]) -> Any:
    """The horizontal lift M at shapes (shape variables, times), in numbers: (times, elements, shape variables)."""
    import numpy as np

    spaces, r = reduced.spaces, list(reduced.shape)
    k, n, ranks = len(r), len(r) + reduced.symmetry.dimension, reduced.spaces.ranks
    used = {p for e in (*spaces.forms, *spaces.metric) for p in e.free_symbols}
    if spaces.given is not None or used - set(r) - set(numbers):  # parameters it may not contain are not given
        closed = function_of(r, list(reduced.lift), numbers)
        return lambda shapes: np.moveaxis(closed(*shapes).reshape(n - k, k, -1), -1, 0)
    entries = function_of(r, [*spaces.forms, *spaces.metric], numbers)
    V = np.eye(n)[:, k:]

    def kernel(matrix: Array, dimension: int) -> Array:
        """The last right singular vectors of each matrix, as columns."""
        if matrix.shape[-2] == 0:
            return np.broadcast_to(np.eye(n)[:, n - dimension :], (len(matrix), n, dimension))
        return np.swapaxes(np.linalg.svd(matrix)[2], -1, -2)[..., matrix.shape[-1] - dimension :]

    def lift(shapes: Array) -> Array:
        held = entries(*shapes).T
        forms = held[:, : n * spaces.forms.rows].reshape(len(held), spaces.forms.rows, n)
        G = held[:, n * spaces.forms.rows :].reshape(-1, n, n)
        units = _units(G)
        G, forms = G * units[:, :, None] * units[:, None, :], forms * units[:, None, :]
        forms = forms / np.maximum(np.abs(forms).max(axis=-1, keepdims=True), np.finfo(float).tiny)
        D = kernel(forms, ranks["D"])
        inner = (
            kernel(forms @ V, ranks["S"])
            if spaces.forms.rows
            else np.broadcast_to(np.eye(n - k), (len(G), n - k, n - k))
        )
        S = V @ inner
        H = D @ kernel(np.swapaxes(S, -1, -2) @ G @ D, ranks["H"]) if ranks["S"] else D
        both = np.concatenate([np.broadcast_to(V, (len(G), *V.shape)), D], axis=-1)
        W = kernel(np.swapaxes(both, -1, -2) @ G, ranks["W"])
        spread = np.concatenate([H, W], axis=-1)
        found: Array = spread[:, k:] @ np.linalg.inv(spread[:, :k])
        return found * units[:, k:, None] / units[:, None, :k]

    return lift


def _units(G: Array) -> Array:
    """Units of velocities in which each alone has the inertia one: kernels by orthogonal matrices depend on the units."""
    import numpy as np

    inertia = np.abs(np.einsum("tii->ti", G))
    return 1 / np.sqrt(np.where(inertia > 0, inertia, 1.0))


def _motion(s: Any, t: Array, velocity: Any, first: Array, numbers: Mapping[Any, float]) -> Array:
    """Group elements at all times, from the first."""
    import numpy as np

    left = function_of([*s.elements], list(s.left(s.elements)), numbers)
    product = _groupfunction_of(s, "product", numbers)
    n, h = s.dimension, np.diff(t) / SUBSTEPS

    def rate(d: Array, at: Array) -> Array:
        return np.einsum("ijk,jk->ik", left(*d).reshape(n, n, -1), velocity(at))

    d = np.tile(np.array([[float(e)] for e in s.identity]), len(h))
    for k in range(SUBSTEPS):
        at = t[:-1] + k * h
        k1 = rate(d, at)
        k2 = rate(d + h / 2 * k1, at + h / 2)
        k3 = rate(d + h / 2 * k2, at + h / 2)
        k4 = rate(d + h * k3, at + h)
        d = d + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    found = [np.asarray(first, dtype=float)]
    for step in d.T:
        found.append(product(*found[-1], *step)[:, 0])
    return np.array(found)


def _groupfunction_of(s: Any, name: str, numbers: Mapping[Any, float]) -> Any:
    """Product or inverse in floating point, of components."""
    a, b = s._pair
    if name == "inverse":
        return function_of(a, list(s.inverse(a)), numbers)
    return function_of([*a, *b], list(s.product(a, b)), numbers)


def _of_run(reduced: ReducedSystem, run: Any, parameters: Mapping[Any, float]) -> tuple[Any, Mapping[Any, float]]:
    """The motion and the parameters of a run of the reduced system."""
    if getattr(run, "system", None) != reduced.motion:
        raise StartError(
            f"reconstruct: got {told(run)}. Expected a run of this reduced system, simulate(reduced, ...), or "
            f"motion={{time: array, ...}}."
        )
    if run.lanes is not None:
        raise StartError(
            f"reconstruct: the run has {run.lanes} lanes. Reconstruct one motion at a time: run the start of that lane alone."
        )
    symbols = [*reduced.shape, *reduced.velocities.values()]
    own = {p: float(run.parameters[p.name].reshape(-1)[0]) for p in reduced.motion.parameters}
    return {time: run.time, **{k: run[k] for k in symbols}}, {**own, **parameters}


def _array(motion: Any, key: Any) -> Array:
    import numpy as np

    if not isinstance(motion, Mapping) or key not in motion:
        raise StartError(f"reconstruct: values of {key} are missing. Expected motion={{{told(key)}: array, ...}}.")
    return np.asarray(motion[key], dtype=float).reshape(-1)


def _given_position(f: AnyFactor, at: Any) -> list[float]:
    """The first values of the symbols of a factor."""
    key = f if isinstance(f, GroupCoordinate) else f.coordinate
    if not isinstance(at, Mapping) or key not in at:
        raise StartError(f"reconstruct: the first value of {f.name} is missing. Give at={{{f.name}: ...}}.")
    if not isinstance(f, GroupCoordinate):
        return [real(at[key], f.name)]
    numbers, told = f.read(at[key]), set(point_symbols(f.directions))
    return [float(f.entry(numbers, e)) for e in f.entries if e in told]


def _by_factor(q: Sequence[Coordinate], found: Array) -> tuple[dict[Any, Array], Array]:
    """The values of coordinates and of group coordinates, by time, and the numbers that hold them."""
    import numpy as np

    values, numbers, at = dict[Any, Any](), [], 0
    for f in factors(tuple(q)):
        part = found[at : at + len(f.entries)]
        at += len(f.entries)
        if isinstance(f, GroupCoordinate):
            rows = [[part[f.entries.index(e)] if e in f.entries else np.full(part.shape[1], float(e)) for e in f.matrix.row(i)]
                    for i in range(f.size)]  # fmt: skip
            numbers.append(f.numbers_of(np.moveaxis(np.array(rows), -1, 0)))
            values[f] = f.shown(numbers[-1])
        else:
            values[f.coordinate] = part[0]
            numbers.append(part[0][:, None])
    return values, np.concatenate(numbers, axis=-1)
