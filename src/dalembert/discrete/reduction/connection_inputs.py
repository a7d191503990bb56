"""The descriptions of a discrete connection, read and checked: each gives b(r0, r1), the group element of horizontal steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sympy import Symbol

from ...decide import balls
from ...decide.elimination import rank
from ...decide.sample import points_on
from ...decide.zero import vanishes, vanishes_at
from ...errors import ModelError, printed, told
from ...model import checks
from ...model.coordinates import step
from ...symbolic import Fast, fast, gradient, jacobian, substitution
from ...theory.reduction.group_law import equal_near, near_identity
from .bundle import Bundle
from .closed_forms import closed_form
from .implicit_element import Implicit


def stated(over: Bundle, given: Sequence[Any], role: str) -> list[Fast]:
    slots = {c.at(k) for c in over.coordinates for k in (0, 1)}
    if len(given) != over.dimension:
        raise ModelError(
            f"{role}: got {len(given)} functions. Expected {over.dimension}: one per dimension of the group."
        )
    return [fast(checks.symbols(checks.expression(e, role), slots | {step}, role)) for e in given]


def by_element(over: Bundle, given: Any, role: str, shape: bool = False, node: bool = False) -> list[Fast]:
    """The coordinates of a group element, {element: expression}; those left out are the identity's."""
    elements = over.symmetry.elements
    if not isinstance(given, Mapping):
        raise ModelError(f"{role}: got {told(given)}. Expected {{{elements[0]}: expression}}.")
    strange = [str(s) for s in given if s not in elements]
    if strange:
        raise ModelError(f"{role}: {', '.join(strange)} is not among the elements {', '.join(map(str, elements))}.")
    among = over.shape if shape else over.coordinates
    known = set(over.coordinates) if node else {c.at(k) for c in among for k in (0, 1)} | {step}
    return [
        fast(checks.symbols(checks.expression(given[s], role), known, role)) if s in given else zero
        for s, zero in zip(elements, over.identity, strict=True)
    ]


def _along(over: Bundle, expressions: Sequence[Fast], g: Sequence[Any]) -> list[Fast]:
    """Expressions in the slots at the pair (s(r0), Phi(g, s(r1)))."""
    first, second = over.placed(over.shape_at(0)), over.act(g, over.placed(over.shape_at(1)))
    at = substitution({c.at(0): e for c, e in first.items()} | {c.at(1): e for c, e in second.items()})
    return [at(e) for e in expressions]


def solved_element(
    over: Bundle, equations: Sequence[Fast], b: Sequence[Symbol], extra: Sequence[Symbol] = ()
) -> list[Fast] | None:
    """The group element b(r0, r1) that satisfies equations in the shape slots; None without a closed form."""
    near = {c.at(k).name: 0.3 + 0.2 * i + 0.05 * k for i, c in enumerate(over.shape) for k in (0, 1)}
    near |= {s.name: float(zero) for s, zero in zip(b, over.identity, strict=True)}
    others = {s.name for e in equations for s in e.free_symbols} - near.keys()
    near |= dict.fromkeys(others, 1.0)
    found = closed_form([over.read(e, *b, *extra) for e in equations], b, near)
    return None if found is None else [fast(found[s]) for s in b]


def letters(over: Bundle) -> tuple[Symbol, ...]:
    """Symbols for a group element that is to be found."""
    return tuple(Symbol(f"{e}.lift", real=True) for e in over.symmetry.elements)


def from_horizontal(over: Bundle, kappa: Sequence[Fast]) -> tuple[list[Fast], Implicit | None]:
    """b in closed form, or letters and the equations that they solve."""
    _check_horizontal(over, kappa)
    b = letters(over)
    equations = _along(over, kappa, b)
    found = solved_element(over, equations, b)
    if found is not None:
        return found, None
    return list(map(fast, b)), Implicit(b, tuple(equations), tuple(over.identity))


def check_level(over: Bundle, gamma: Sequence[Fast]) -> None:
    """gamma(g q) = g gamma(q) g^-1."""
    g = tuple(Symbol(f"{e}.moved", real=True) for e in over.symmetry.elements)
    moved = substitution(over.act(g, {c: fast(c) for c in over.coordinates}))
    expected = over.product(over.product(g, gamma), over.inverse(g))
    identity = dict(zip(g, over.symmetry.identity, strict=True))
    for s, a, b in zip(over.symmetry.elements, gamma, expected, strict=True):
        if not equal_near([(moved(a), b)], identity):
            raise ModelError(
                f"level: the component {s} of gamma is not equivariant: gamma(g q) = g gamma(q) g^-1 fails for "
                f"{printed(over.read(a))}."
            )


def _check_horizontal(over: Bundle, kappa: Sequence[Fast]) -> None:
    """kappa = 0 is invariant, and transversal to the orbits (5.2)."""
    slots = [fast(c.at(k)) for k in (0, 1) for c in over.coordinates]
    names = [s.name for s in slots]
    others = sorted({s.name for e in kappa for s in e.free_symbols} - set(names))
    at = points_on(list(kappa), names, others) or near_identity(list(kappa), {})  # anywhere, where none were found
    ends = [over.generators({c: fast(c.at(k)) for c in over.coordinates}) for k in (0, 1)]
    for i, element in enumerate(over.symmetry.elements):
        moved = [row[i] for end in ends for row in end]
        for k in kappa:
            change = sum((a * b for a, b in zip(gradient(k, slots), moved, strict=True)), start=fast(0))
            if not vanishes_at(change, at):
                raise ModelError(
                    f"horizontal: {printed(over.read(k))} = 0 is not invariant: the group moves it in the direction of "
                    f"{element}. Horizontal steps must stay horizontal if both ends are moved by one group element."
                )
    rows = jacobian(kappa, [fast(c.at(1)) for c in over.coordinates])
    across = [
        [
            sum((a * moved[i] for a, moved in zip(row, ends[1], strict=True)), start=fast(0))
            for i in range(over.dimension)
        ]
        for row in rows
    ]
    if not any(rank(grid) == over.dimension for grid in (balls.values(across, p) for p in at) if grid is not None):
        raise ModelError(
            f"horizontal: {', '.join(printed(over.read(k)) for k in kappa)} = 0 contains directions of the orbits (5.2), so "
            f"it does not determine one horizontal step to every shape."
        )


def from_form(over: Bundle, form: Sequence[Fast]) -> list[Fast]:
    g0, g1 = (tuple(Symbol(f"{e}.{k}", real=True) for e in over.symmetry.elements) for k in (0, 1))
    first = over.act(g0, {c: fast(c.at(0)) for c in over.coordinates})
    second = over.act(g1, {c: fast(c.at(1)) for c in over.coordinates})
    at = substitution({c.at(0): e for c, e in first.items()} | {c.at(1): e for c, e in second.items()})
    expected = over.product(over.product(g1, form), over.inverse(g0))
    identity = {s: e for g in (g0, g1) for s, e in zip(g, over.symmetry.identity, strict=True)}
    for s, a, b in zip(over.symmetry.elements, form, expected, strict=True):
        if not equal_near([(at(a), b)], identity):
            raise ModelError(
                f"form: the component {s} of A_d is not equivariant: A_d(g0 q0, g1 q1) = g1 A_d(q0, q1) g0^-1 (5.5) fails for "
                f"{printed(over.read(a))}."
            )
    return over.inverse(_along(over, form, over.identity))


def from_lift(over: Bundle, lift: Any) -> list[Fast]:
    q = over.coordinates
    if not isinstance(lift, Mapping) or any(c not in q for c in lift):
        raise ModelError(f"lift: got {told(lift)}. Expected {{{q[0]}: expression, ...}} with the coordinates as keys.")
    known = {c.at(0) for c in q} | {r.at(1) for r in over.shape} | {step}
    there = {
        c: fast(
            checks.symbols(
                checks.expression(lift.get(c, c.at(1) if c in over.shape else c.at(0)), "lift"), known, "lift"
            )
        )
        for c in q
    }
    g = tuple(over.symmetry.elements)
    first = over.act(g, {c: fast(c.at(0)) for c in q})
    moved = substitution({c.at(0): e for c, e in first.items()})
    expected = over.act(g, there)
    identity = dict(zip(g, over.symmetry.identity, strict=True))
    for c in q:
        if not equal_near([(moved(there[c]), expected[c])], identity):
            raise ModelError(
                f"lift: {c}: {printed(over.read(there[c]))} is not equivariant: h(g q0, r1) = g h(q0, r1) fails."
            )
    start = substitution({c.at(0): e for c, e in over.placed(over.shape_at(0)).items()})
    b, r1 = over.located({c: start(e) for c, e in there.items()})
    for r, e in zip(over.shape, r1, strict=True):
        if not vanishes(e - fast(r.at(1))):
            raise ModelError(f"lift: it does not end at the shape {r}.at(1), but at {r} = {printed(over.read(e))}.")
    return b
