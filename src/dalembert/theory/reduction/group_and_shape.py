"""Group element and shape of a position, and the velocities of a state in the frame.

Phi(g, s(r)) = q is solved by Newton's method, along the straight way from a known place to q; if that fails, from others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...decide.matrix_scaling import solved
from ...errors import StartError
from ...model.coordinates import Coordinate
from ...model.group_coordinate import GroupCoordinate
from ...model.space import factors, position_symbols
from ...symbolic import jacobian, numpy_function, slow
from .carried_axes import in_other_axes, point_symbols

if TYPE_CHECKING:
    from .reduced import ReducedSystem

Array = Any
Position = Callable[..., Array]
"""(unknowns) -> the position, or its derivatives by the unknowns, one row per number."""

ITERATIONS = 50
"""Newton steps of a search."""

STRETCHES = (1, 8, 64)
"""Parts of the way from a known place, the whole way first."""

TRIALS = 40
"""Other places from which the way is tried."""

NOISE = 1e-12
"""A number smaller than this part of the largest may be a rounding error."""

REACHED = 1e-12
"""A position is reached to this part of each of its numbers."""


def function_of(arguments: Sequence[Any], expressions: Sequence[Any], numbers: Mapping[Any, float]) -> Any:
    """A function of arrays that gives one row per expression."""
    import numpy as np

    free = {p for e in expressions for p in e.free_symbols} - set(arguments)
    for p in sorted(free - set(numbers), key=str):
        raise StartError(f"reconstruct: the value of {p} is missing. Give parameters={{{p}: ...}}.")
    call = numpy_function([*arguments, *numbers], list(expressions))

    def rows(*values: Array) -> Array:
        length = max((np.size(v) for v in values), default=1)
        found = call(*values, *numbers.values())
        return np.array([np.broadcast_to(np.asarray(f, dtype=float), (length,)) for f in found]).reshape(-1, length)

    return rows


def first_element(
    position: Position,
    slopes: Position,
    start: Sequence[float],
    shape: Sequence[float],
    identity: Sequence[float],
    reduced: ReducedSystem,
) -> Array:
    """The group element that moves the point of the section over the shape to the start."""
    import numpy as np

    goal, known = np.array(start, dtype=float), np.array(identity, dtype=float)
    found = _searched(
        lambda g: position(*g, *shape)[:, 0], lambda g: slopes(*g, *shape).reshape(len(goal), -1), goal, known
    )
    if found is not None:
        return found
    names = ", ".join(f"{c} = {x:g}" for c, x in zip(point_symbols(reduced.system.coordinates), start, strict=True))
    raise StartError(
        f"reconstruct: the group does not move the first shape to {names}. Expected a position with the first shape of the "
        f"motion."
    )


def reduced_state(reduced: ReducedSystem, q: Array, v: Array, parameters: Mapping[Any, Array]) -> tuple[Array, Array]:
    """Shapes, and velocities of the frame (r', xi), of states of the system: one row per lane."""
    import numpy as np

    s, r, w, c = reduced.symmetry, reduced.shape, reduced.frame.velocities, reduced.system.coordinates
    told, every, symbols = point_symbols(c), position_symbols(c), [*s.elements, *r]
    images = [reduced.images[x] for x in told]
    known = [*symbols, *reduced.system.parameters]
    slopes = slopes_of(images, symbols)
    moved = [slow(e, known) for row in jacobian(reduced.speeds, w) for e in row]
    held = entries(c, q)[:, [every.index(x) for x in told]]
    shapes, speeds = [], []
    for lane in range(len(q)):
        numbers = {p: float(x[lane]) for p, x in parameters.items()}
        position = function_of(symbols, images, numbers)
        guess = [float(e) for e in s.identity] + [_shape_guess(reduced, x, held[lane]) for x in r]
        turned = function_of(symbols, slopes, numbers)
        at = _searched(
            lambda u, f=position: f(*u)[:, 0],  # type: ignore[misc]
            lambda u, f=turned: f(*u).reshape(len(images), -1),  # type: ignore[misc]
            held[lane], np.array(guess),
        )  # fmt: skip
        if at is None:
            raise StartError(
                "start: the place of this position on the bundle was not found: no group element and shape with "
                "q = Phi(g, s(r)). Start from shape and body velocities of the group."
            )
        matrix = function_of(symbols, moved, numbers)(*at).reshape(len(w), len(w))
        point = function_of(symbols, [reduced.images[x] for x in every], numbers)(*at)[:, 0]
        shapes.append(at[s.dimension :])
        speeds.append(solved(matrix[None], in_other_axes(c, v[lane], q[lane], point)[None])[0])
    return np.array(shapes), np.array(speeds)


def _shape_guess(reduced: ReducedSystem, r: Any, q: Array) -> float:
    """The coordinate that the shape variable is on the section, at the position."""
    told = point_symbols(reduced.system.coordinates)
    return next((float(x) for s, x in zip(told, q, strict=True) if reduced.section.place[s] == r), 1.0)


def entries(coordinates: Sequence[Coordinate], held: Array) -> Array:
    """Numbers that hold positions, as coordinates and entries of matrices: the symbols of a position, on the last axis."""
    import numpy as np

    found, at = [], 0
    for f in factors(tuple(coordinates)):
        part = held[..., at : at + len(f.numbers)]
        at += len(f.numbers)
        if isinstance(f, GroupCoordinate):
            found += [f.entry(part, e) for e in f.entries]
        else:
            found.append(part[..., 0])
    return np.stack(found, axis=-1)


def slopes_of(images: Sequence[Any], unknowns: Sequence[Any]) -> list[Any]:
    """The derivatives of a position by some unknowns, row by row."""
    known = sorted({p for e in images for p in e.free_symbols} | set(unknowns), key=str)
    return [slow(e, known) for row in jacobian(images, unknowns) for e in row]


def _searched(f: Callable[[Array], Array], slopes: Callable[[Array], Array], goal: Array, known: Array) -> Array | None:
    """u with f(u) = goal: along the straight way from f(known), in ever shorter parts, then from places around it.

    Numbers of a position are compared with their own size, and steps in an unknown with what they change, so that units
    do not matter. A number that is zero but for rounding is compared with the largest: a search ends where it gains no
    more, so this decides only what is accepted.
    """
    import numpy as np

    rng = np.random.default_rng(0)
    size = np.maximum(np.abs(goal), np.abs(np.nan_to_num(f(known))))
    size = np.where(size > NOISE * size.max(), size, size.max() or 1.0)
    effect = np.abs(np.nan_to_num(slopes(known)) / size[:, None]).max(axis=0)
    spread = 0.5 * np.divide(1.0, effect, out=np.ones_like(known), where=effect > 0) + np.abs(known)
    for trial in range(TRIALS):
        begin = known if trial == 0 else known + rng.normal(size=known.size) * spread
        for parts in STRETCHES if trial == 0 else (1,):
            u, origin = begin, f(begin)
            for k in range(1, parts + 1):
                u = _newton(f, slopes, origin + (goal - origin) * k / parts, u, size)
                if u is None:
                    break
            if u is not None:
                return u
    return None


def _newton(
    f: Callable[[Array], Array], slopes: Callable[[Array], Array], goal: Array, u: Array, size: Array
) -> Array | None:
    """Newton's method until the error no longer falls; the numbers of a position are divided by their sizes."""
    import numpy as np

    best = np.inf
    for _ in range(ITERATIONS):
        miss = (f(u) - goal) / size
        off = np.abs(miss).max()
        if not np.isfinite(off):
            return None
        if off < REACHED and off >= best / 2:
            return u
        best = min(best, off)
        matrix = slopes(u) / size[:, None]
        if not np.isfinite(matrix).all():
            return None
        effect = np.abs(matrix).max(axis=0)
        effect = np.where(effect > 0, effect, 1.0)
        u = u - np.linalg.lstsq(matrix / effect, miss, rcond=None)[0] / effect
    return u if np.abs((f(u) - goal) / size).max() < 1e3 * REACHED else None
