"""From reduced motions to motions of the original system, and from its starts to reduced ones ((6.25), (7.8))."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...errors import ModelError, StartError, told
from ...model.coordinates import Coordinate, step, time
from ...model.group_coordinate import GroupCoordinate
from ...model.space import factors, groups
from ...numbers import name_of, reals
from ...symbolic import Fast, fast, magnitude, vectorised
from ...theory.reduction.group_charts import chart
from .affine_action import AffineAction, affine_action, products, tabulated
from .charted_system import charted

if TYPE_CHECKING:
    from .reduced_system import ReducedDiscreteSystem

OFF = 1e-9
"""How far, relative to its size, a group step or a shape may be off the expected one: what printing leaves."""

ROUNDING = 1e-14
"""The same, relative to the positions."""

LARGEST = 1e6
"""Numbers of a chart larger than this are those of half a turn."""


def reduced_start(reduced: ReducedDiscreteSystem, pair: Any, parameters: Any, h: float) -> dict[Any, Any]:
    """Shapes and group step of two positions, or of the first two of a run, as a start of the reduced system."""
    import numpy as np

    over = reduced.bundle
    q = over.coordinates
    given = _first_step(reduced, pair) if hasattr(pair, "records") else _by_name(pair)
    names = [c.at(k).name for k in (0, 1) for c in q]
    absent = [n for n in names if n not in given]
    if absent:
        turning = groups(reduced.original.coordinates)
        told = (
            f"Give position and momentum of {reduced.original.name!r}, or reduced.start(run) with a run of it."
            if turning
            else f"Give two positions of {reduced.original.name!r}."
        )
        raise StartError(f"start: no value for {', '.join(absent)}. {told}")
    columns = np.broadcast_arrays(*(reals(given[n], f"start: {n}", StartError, "Give a number.") for n in names))
    (g0, r0), (g1, r1) = (over.located({c: fast(c.at(k)) for c in q}) for k in (0, 1))
    values = dict(zip(names, columns, strict=True)) | _constants(reduced, parameters, h)
    found: dict[Any, Any] = {time: given[time.name]} if time.name in given else {}
    for r, a, b in zip(over.shape, _values(r0, values), _values(r1, values), strict=True):
        found |= {r.at(0): a, r.at(1): b}
    found |= _solved(reduced, values | {s.name: x for s, x in found.items()})
    b, values = _element(reduced, r0, r1, found, values)
    theta = over.product(over.product(over.inverse(g0), g1), over.inverse(b))
    steps = [
        _without_rounding(e, x, zero, values)
        for e, x, zero in zip(theta, _values(theta, values), over.identity, strict=True)
    ]
    if not reduced.group_variables:
        _check_still(reduced, b, values)
    for c, x in zip(reduced.group_variables, steps, strict=bool(reduced.group_variables)):
        found |= {c.at(0): x, c.at(1): x}  # at the first node nothing depends on it
    return found


def with_connection(
    reduced: ReducedDiscreteSystem, start: Mapping[Any, Any], parameters: Any, h: float
) -> dict[Any, Any]:
    """A start in variables of the reduced system, with the unknowns of its connection if these are left out."""
    given = _by_name(start)
    shapes = {r.at(k).name for r in reduced.bundle.shape for k in (0, 1)}
    if not shapes <= given.keys() or any(c.at(1).name in given for c in reduced.solved):
        return dict(start)
    values = {n: reals(given[n], f"start: {n}", StartError, "Give a number.") for n in shapes}
    return dict(start) | _solved(reduced, values | _constants(reduced, parameters, h))


def _solved(reduced: ReducedDiscreteSystem, values: Mapping[str, Any]) -> dict[Any, Any]:
    """The unknowns of the connection in the first step, from the shapes at its ends.

    At the first node they are those of a step that stays there: equations that contain only the end of a step hold at every
    node.
    """
    implicit = reduced.connection.implicit
    if implicit is None:
        return {}
    still = {r.at(1).name: values[r.at(0).name] for r in reduced.bundle.shape}
    found = [implicit.values(at) for at in ({**values, **still}, values)]
    return {c.at(k): x for k in (0, 1) for c, x in zip(reduced.solved, found[k], strict=True)}


def _element(
    reduced: ReducedDiscreteSystem, r0: Any, r1: Any, found: Mapping[Any, Any], values: dict[str, Any]
) -> tuple[Sequence[Fast], dict[str, Any]]:
    """The element b of a step as formulas, and values with those of its unknowns."""
    if reduced.connection.implicit is None:
        return reduced.connection.between(r0, r1), values
    b = [fast(c.at(1)) for c in reduced.solved[: reduced.bundle.dimension]]
    return b, values | {c.at(1).name: found[c.at(1)] for c in reduced.solved}


def _without_rounding(theta: Fast, value: Any, identity: Fast, values: Mapping[str, Any]) -> Any:
    """A component of a group step, or that of the identity where it differs from it by the rounding of its terms alone.

    A constraint may say that a component vanishes, and then the size of its rounding error is unknown.
    """
    import numpy as np

    still = float(identity)
    (size,) = _values([magnitude(theta)], values)
    return np.where(np.abs(value - still) <= ROUNDING * size, still, value)


def _by_name(given: Mapping[Any, Any]) -> dict[str, Any]:
    return {name_of(key): value for key, value in given.items()}


def _first_step(reduced: ReducedDiscreteSystem, run: Any) -> dict[str, Any]:
    """The first two positions of a run of the original system, and its time."""
    if run.system != reduced.original or run.every != 1:
        raise ModelError(f"start: got {told(run)}. Expected a run of {reduced.original.name!r} with every=1.")
    found: dict[str, Any] = {time.name: float(run.time[0])}
    for f in factors(reduced.original.coordinates):
        for k in (0, 1):
            if isinstance(f, GroupCoordinate):
                numbers = chart_numbers(f, run[f][..., k, :, :])
                found |= {c.at(k).name: numbers[..., i] for i, c in enumerate(chart(f))}
            else:
                found[f.coordinate.at(k).name] = run[f.coordinate][..., k]
    return found


def chart_numbers(R: GroupCoordinate, matrices: Any) -> Any:
    """The numbers c of matrices cay(c)."""
    import numpy as np

    found = np.asarray(R.group.cayley_inverse(matrices), dtype=float)
    if not np.isfinite(found).all() or np.any(np.abs(found) > LARGEST):
        raise StartError(
            f"{R.name} is half a turn away from the unit matrix, where it has no numbers in the chart of the reduction. "
            f"Turn the whole motion by a group element first: that changes nothing else."
        )
    return found


def _check_still(reduced: ReducedDiscreteSystem, b: Sequence[Fast], values: Mapping[str, Any]) -> None:
    """theta = e up to what printing leaves of the group step, and rounding of the positions."""
    import numpy as np

    over, q = reduced.bundle, reduced.bundle.coordinates
    (g0, _), (g1, _) = (over.located({c: fast(c.at(k)) for c in q}) for k in (0, 1))
    steps = over.product(over.inverse(g0), g1)
    for element, *row in zip(over.symmetry.elements, *(_values(e, values) for e in (g0, g1, b, steps)), strict=True):
        first, second, expected, step_taken = (np.abs(x) for x in row)
        off = np.abs(row[3] - row[2])
        if np.any(off > OFF * (expected + step_taken) + ROUNDING * (first + second)):
            level = "satisfy the discrete constraints"
            what = level if reduced.kind == "Chaplygin" else "have the momentum of this reduction"
            raise StartError(
                f"start: the two positions do not {what}: the group element {element} of their step is off by "
                f"{np.max(off):.3g}."
            )


def reconstructed(reduced: ReducedDiscreteSystem, run: Any, at: Mapping[Any, Any]) -> dict[Any, Any]:
    """g_k+1 = g_k theta_k b(r_k, r_k+1), q_k = Phi(g_k, s(r_k)); arrays shaped as those of the run."""
    import numpy as np

    over = reduced.bundle
    q = over.coordinates
    if not hasattr(run, "records") or run.system != reduced.system or run.every != 1:
        raise ModelError(f"reconstruct: got {told(run)}. Expected a run of {reduced.system.name!r} with every=1.")
    given = _position(reduced, at)
    shapes = {r: run[r] for r in over.shape}
    theta, element = ([run[c] for c in group] for group in (reduced.group_variables, reduced.solved))
    nodes = np.shape(run.time)[0]
    shape = np.broadcast_shapes(*(np.shape(x) for x in (*shapes.values(), *theta)))[:-1]
    constants = {k: np.asarray(v)[..., None] for k, v in _constants(reduced, run.parameters, run.h).items()}
    here = {name: np.asarray(value, dtype=float) for name, value in given.items()} | {
        k: v[..., 0] for k, v in constants.items()
    }
    g0, r0 = (_values(e, here) for e in over.located({c: fast(c) for c in q}))
    _check_shape(reduced, [shapes[r] for r in over.shape], r0)
    u = _steps(reduced, shapes, theta, element, constants, nodes, shape)
    if over.stated.groups and (action := affine_action(over)) is not None:
        return _by_matrices(reduced, action, g0, u, shapes | constants, (*shape, nodes))
    g = _accumulated(reduced, g0, u, nodes, shape)
    names = [f"{e}.at" for e in over.symmetry.elements]
    place = over.act([fast(n) for n in names], over.placed())
    values = dict(zip(names, g, strict=True)) | {r.name: x for r, x in shapes.items()} | constants
    return _shown(reduced, dict(zip(q, _values([place[c] for c in q], values), strict=True)))


def _position(reduced: ReducedDiscreteSystem, at: Mapping[Any, Any]) -> dict[str, Any]:
    """A position of the original system in the coordinates of the bundle, by name."""
    given = _by_name(at)
    for R in groups(reduced.original.coordinates):
        if R.name in given:
            numbers = chart_numbers(R, R.shown(R.read(given.pop(R.name))))
            given |= {c.name: numbers[..., k] for k, c in enumerate(chart(R))}
    absent = [
        f for f in factors(reduced.original.coordinates) if not {c.name for c in charted(f.directions)} <= set(given)
    ]
    if absent:
        names = [f.name for f in absent]
        raise StartError(
            f"reconstruct: no value for {', '.join(names)}. Give the first position: at={{{names[0]}: ..., ...}}."
        )
    return given


def _shown(reduced: ReducedDiscreteSystem, found: dict[Any, Any]) -> dict[Any, Any]:
    """The numbers of charts as matrices."""
    import numpy as np

    for R in groups(reduced.original.coordinates):
        if chart(R)[0] in found:
            found[R] = R.group.cayley(np.stack([found.pop(c) for c in chart(R)], axis=-1))
    return found


def _by_matrices(
    reduced: ReducedDiscreteSystem, action: AffineAction, g0: Any, u: Any, values: Any, shape: tuple[int, ...]
) -> dict[Any, Any]:
    """The positions X_k = T(g0) T(u_0) ... T(u_k-1) X(s(r_k)); what the group does not move is as it is in the run."""
    import numpy as np

    over, m = reduced.bundle, len(action.section)
    names = [e.name for e in over.symmetry.elements]
    rows = [e for row in action.rows for e in row]
    lanes, nodes = int(np.prod(shape[:-1])), shape[-1]
    first = tabulated(_values(rows, dict(zip(names, g0, strict=True))), shape[:-1], m).reshape(lanes, m, m)
    steps = tabulated(_values(rows, dict(zip(names, u, strict=True))), (*shape[:-1], nodes - 1), m)
    T = products(first, steps.reshape(lanes, nodes - 1, m, m))
    known = {getattr(k, "name", k): x for k, x in values.items()}
    section = np.stack([np.broadcast_to(x, shape) for x in _values(list(action.section), known)], axis=-1)
    X = np.einsum("lnij,lnj->lni", T, section.reshape(lanes, nodes, m)).reshape(*shape, m)
    found: dict[Any, Any] = {R: action.read(R, X) for R in over.stated.groups}
    found |= {c: X[..., k] for k, c in enumerate(action.symbols) if isinstance(c, Coordinate)}
    moved = {c for R in over.stated.groups for c in chart(R)} | set(found)
    still = [c for c in over.coordinates if c not in moved]
    at = over.placed()
    found |= dict(zip(still, _values([at[c] for c in still], known), strict=True))
    return _shown(reduced, found)


def _check_shape(reduced: ReducedDiscreteSystem, run: Sequence[Any], given: Sequence[Any]) -> None:
    import numpy as np

    for r, a, b in zip(reduced.bundle.shape, run, given, strict=True):
        if np.any(np.abs(a[..., 0] - b) > OFF * (np.max(np.abs(a)) + np.abs(b))):
            raise StartError(
                f"reconstruct: the position has the shape {r} = {b}, and the run begins at {r} = {a[..., 0]}."
            )


def _steps(reduced: Any, shapes: Any, theta: Any, element: Any, constants: Any, nodes: int, shape: Any) -> list[Any]:
    """The group steps theta_k b(r_k, r_k+1), one array (lanes, steps) for each element."""
    import numpy as np

    over = reduced.bundle
    values = {r.at(k).name: x[..., k : nodes - 1 + k] for r, x in shapes.items() for k in (0, 1)} | constants
    values |= {
        c.name: x[..., 1:] for c, x in zip(reduced.group_variables + reduced.solved, [*theta, *element], strict=True)
    }
    b = list(map(fast, reduced.solved[: over.dimension])) or list(reduced.connection.element)
    u = over.product(list(map(fast, reduced.group_variables)), b) if theta else b
    return [np.broadcast_to(x, (*shape, nodes - 1)) for x in _values(u, values)]


def _accumulated(reduced: Any, g0: Sequence[Any], u: Sequence[Any], nodes: int, shape: Any) -> list[Any]:
    """g_k for all nodes."""
    import numpy as np

    over, d = reduced.bundle, reduced.bundle.dimension
    a, b = ([f"{e}.{k}" for e in over.symmetry.elements] for k in ("before", "step"))
    law = vectorised([*a, *b], over.product([fast(n) for n in a], [fast(n) for n in b]))
    lanes = int(np.prod(shape)) if shape else 1
    steps = np.stack([x.reshape(lanes, nodes - 1) for x in u], axis=-1)
    found = np.empty((lanes, nodes, d))
    found[:, 0] = np.stack([np.broadcast_to(x, shape).reshape(lanes) for x in g0], axis=-1)
    for k in range(nodes - 1):
        found[:, k + 1] = law(np.hstack([found[:, k], steps[:, k]]))
    return [found[..., i].reshape(*shape, nodes) for i in range(d)]


def _constants(reduced: Any, parameters: Any, h: float) -> dict[str, Any]:
    """Parameters and step, by name."""
    import numpy as np

    given = {name_of(key): np.asarray(value, dtype=float) for key, value in (parameters or {}).items()}
    return given | {step.name: np.asarray(float(h))}


def _values(expressions: Sequence[Fast], values: Mapping[str, Any]) -> list[Any]:
    """Expressions at arrays of values."""
    import numpy as np

    needed = sorted({s.name for e in expressions for s in e.free_symbols})
    absent = [n for n in needed if n not in values]
    if absent:
        raise StartError(f"parameters: no value for {', '.join(absent)}. Add parameters={{{absent[0]}: ...}}.")
    arrays = np.broadcast_arrays(*(values[n] for n in needed)) if needed else []
    shape = arrays[0].shape if needed else ()
    rows = np.stack([x.reshape(-1) for x in arrays], axis=-1) if needed else np.zeros((1, 0))
    table = vectorised(needed, list(expressions))(rows)
    return [table[:, i].reshape(shape) for i in range(len(expressions))]
