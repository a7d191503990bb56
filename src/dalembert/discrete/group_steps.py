"""Rules written for lines, applied to groups: points between the ends of a step, velocities and displacements there.

A rule writes a point as (1 - b) q0 + b q1 in the slots of the coordinates. On a group it is q0 tau(xi)^b, with the
displacement xi from the first position to the second in place of the second slot.

A rule with interior positions writes combinations of all its positions. They are taken in the chart x -> m tau(x) about the
middle m of the step, where the ends are -eta and eta, m = q0 tau(eta), q1 = m tau(eta), and interior slots are values of x. A
velocity x' of the chart is the velocity dtau(x) x' in the body. Whatever is of order p on lines is of order p in this chart.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ..model.coordinates import Coordinate, Direction
from ..model.group_coordinate import GroupCoordinate
from ..model.space import fraction_of_step, groups, no_fraction
from ..symbolic import Fast, Vector, fast, gradient, partials, substitute, substitution, total


def places(q: Sequence[Coordinate], position: Vector, velocity: Vector, inner: Sequence[Fast] = ()) -> dict[Any, Fast]:
    """The expression of every symbol of a position and a velocity that a rule has written with the slots."""
    given = {c: position[i] for i, c in enumerate(q)} | {c.dot: velocity[i] for i, c in enumerate(q)}
    turning = groups(q)
    if not turning:
        return given
    if inner:
        at = {R.name: _in_chart(R, q, position, inner) for R in turning}
        moved = [_of_chart(R, at[R.name], [velocity[q.index(d)] for d in R.directions]) for R in turning]
    else:
        shares = fraction_of_step(q, given)
        moved = [R.moved_entries(shares[R.name], _displacement(R)) for R in turning]
    found = {c: x for c, x in given.items() if not isinstance(c, Direction)}
    for entries in moved:
        found |= entries
    return found


def from_start(expressions: Iterable[Fast], q: Sequence[Coordinate]) -> list[Fast]:
    """The slots of a rotation are displacements from the first position, which is its own origin."""
    origin = {d.at(0): 0 for R in groups(q) for d in R.directions}
    return list(map(substitution(origin), expressions)) if origin else list(expressions)


def _displacement(R: GroupCoordinate) -> list[Fast]:
    return [fast(d.at(1)) for d in R.directions]


def _ends(R: GroupCoordinate) -> dict[Any, Fast]:
    """The slots of both ends in the chart about the middle."""
    eta = R.half(_displacement(R))
    ends = zip(R.directions, eta, strict=True)
    return {slot: sign * x for d, x in ends for slot, sign in ((d.at(0), -1), (d.at(1), 1))}


def _in_chart(R: GroupCoordinate, q: Sequence[Coordinate], position: Vector, inner: Sequence[Fast]) -> list[Fast]:
    """The value of x at a point; the same combination of positions in all directions, with weights that add up to one."""
    weights = set()
    for d in R.directions:
        k = q.index(d)
        slots = [fast(d.at(0)), fast(d.at(1)), *inner[k :: len(q)]]
        by_slot = gradient(position[k], slots)
        rest = position[k] - sum((w * s for w, s in zip(by_slot, slots, strict=True)), start=fast(0))
        if rest.expand() != 0 or abs(float(total(by_slot)) - 1) > 1e-14:
            raise no_fraction(R)
        weights.add(tuple(w.expand() for w in by_slot))
    if len(weights) != 1:
        raise no_fraction(R)
    ends = _ends(R)
    return [substitute(position[q.index(d)], ends) for d in R.directions]


def _of_chart(R: GroupCoordinate, x: list[Fast], rate: list[Fast]) -> dict[Any, Fast]:
    """Entries and velocities at the value x of the chart."""
    ends = _ends(R)
    w = R.carried(x, [substitute(v, ends) for v in rate])
    return R.moved_from_middle(_displacement(R), x) | {d.dot: v for d, v in zip(R.directions, w, strict=False)}


def displaced(
    q: Sequence[Coordinate],
    position: Vector,
    slots: Sequence[Fast],
    displacements: Sequence[Fast],
    inner: Sequence[Fast],
) -> list[Fast]:
    """The displacement of a point of a step, in its own frame, from those of the ends, in theirs, and of interior slots.

    On a line they add up. The frame of a rotation turns between either end and the point.
    """
    rates = partials(list(position), slots)
    terms: list[list[Fast]] = [[] for _ in position]
    for (i, j), rate in rates.items():
        terms[i].append(rate * displacements[j])
    moved = [total(row) for row in terms]
    if not groups(q):
        return moved
    pairs, zero = list(enumerate(zip(slots, displacements, strict=True))), fast(0)
    shares = [{s: rates.get((i, j), zero) * d for j, (s, d) in pairs} for i in range(len(moved))]
    if inner:
        for R in groups(q):
            at = [q.index(d) for d in R.directions]
            x = _in_chart(R, q, position, inner)
            for i, y in zip(at, _displaced_in_chart(R, x, at, inner, shares, position), strict=True):
                moved[i] = y
        return moved
    fractions = fraction_of_step(q, {c: position[i] for i, c in enumerate(q)})
    for R in groups(q):
        beta, xi = fractions[R.name], _displacement(R)
        first, rest = R.adjoint(beta, [-x for x in xi]), R.adjoint(1 - beta, xi)
        at = [q.index(d) for d in R.directions]
        ends = [(shares[i][fast(q[i].at(0))], shares[i][fast(q[i].at(1))]) for i in at]
        for k, i in enumerate(at):
            turned = ((first[k][m] * a, rest[k][m] * b) for m, (a, b) in enumerate(ends))
            moved[i] = sum((x + y for x, y in turned), start=fast(0))
    return moved


def _displaced_in_chart(
    R: GroupCoordinate, x: list[Fast], at: list[int], inner: Sequence[Fast], shares: list[dict[Fast, Fast]],
    position: Vector,
) -> list[Fast]:  # fmt: skip
    """Ad(tau(-x)) of the displacement of the middle, and dtau(x) of that of x."""
    xi, eta = _displacement(R), R.half(_displacement(R))
    slots = [[fast(d.at(e)) for d in R.directions] for e in (0, 1)]
    weight = [gradient(position[at[0]], [slots[e][0]])[0] for e in (0, 1)]
    u = [[fast(f"{d.at(e).name}.displacement") for d in R.directions] for e in (0, 1)]
    change = [
        a + b
        for a, b in zip(R.start_shift(xi, [-y for y in u[0]]), R.end_shift(xi, u[1]), strict=True)
    ]  # fmt: skip
    half = [total(s * c for s, c in zip(gradient(e, xi), change, strict=True)) for e in eta]
    within = [total(shares[i][s] for s in inner) for i in at]
    own = [(weight[1] - weight[0]) * y + z for y, z in zip(half, within, strict=True)]
    middle = [a + b for a, b in zip(R.turned(fast(1) / 2, [-y for y in xi], u[0]), R.carried(eta, half), strict=True)]
    whole = R.turned(fast(1), [-y for y in x], middle)
    return [a + b for a, b in zip(whole, R.carried(x, own), strict=True)][: len(R.directions)]
