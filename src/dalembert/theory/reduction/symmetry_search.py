"""Symmetries found by search: translations, rotations of planes, scalings, combinations of them, and Galilei boosts.

A combination of their generators with constant coefficients leaves the system invariant if the changes of Lagrangian, forces
and constraints, taken at random states, cancel: linear equations, solved in ball arithmetic. What is found is then verified as
a finite symmetry.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

import sympy
from sympy import Expr, cos, exp, sin

from ...decide import balls
from ...decide.elimination import kernel
from ...decide.rationals import fraction_in
from ...decide.sample import points
from ...display import Part, Shown
from ...errors import ModelError
from ...model.bodies.assembly import system_of
from ...model.coordinates import Coordinate, Direction, Parameter, time
from ...model.heat import mechanical
from ...model.marks import Moved
from ...model.space import groups
from ...model.system import System
from ...symbolic import Fast, fast, gradient, total
from ..conserved.noether import NoetherCharge, noether
from ..motion.lagrange import total_derivative
from .invariance import Invariance, invariance
from .rotation_search import composed, turns
from .symmetry import Symmetry

Combination = dict[tuple[str, tuple[Coordinate, ...]], Fraction]
"""Coefficients of ("translation", (x,)), ("rotation", (x, y)) and ("scaling", (x,))."""

MOST = 8
"""Rotations are looked for among pairs of at most so many coordinates."""


@dataclass(frozen=True, eq=False, repr=False)
class FoundSymmetry(Shown):
    """A symmetry that was found, and what it leaves invariant.

    symmetry:    the group action
    invariance:  part by part
    charge:      of a Galilei boost, which changes the Lagrangian by the derivative of a function, its Noether charge
    """

    name: str
    symmetry: Symmetry
    invariance: Invariance
    charge: NoetherCharge | None = None

    @property
    def exact(self) -> bool:
        """Whether everything is invariant, as `reduce` needs."""
        return self.invariance.holds

    def _parts(self) -> list[Part]:
        moved = [sympy.Eq(Moved(q), e, evaluate=False) for q, e in self.symmetry.action.items()]
        kept = "everything is invariant"
        if self.charge is not None:
            kept = f"the Lagrangian changes by the derivative of {self.charge.gauge}"
        return [f"{self.name}: {kept}", *moved]


@dataclass(frozen=True, eq=False, repr=False)
class FoundSymmetries(Shown):
    """The symmetries that were found: a sequence of `FoundSymmetry`."""

    system: System
    found: tuple[FoundSymmetry, ...]

    def __len__(self) -> int:
        return len(self.found)

    def __getitem__(self, index: int) -> FoundSymmetry:
        return self.found[index]

    def __iter__(self) -> Iterator[FoundSymmetry]:
        return iter(self.found)

    def _parts(self) -> list[Part]:
        parts: list[Part] = [f"{self.system.name}: {len(self.found) or 'no'} symmetries found"]
        return [*parts, *(part for f in self.found for part in f._parts())]


def symmetry_of(given: Any) -> Any:
    """The symmetry of one that was found; what is given otherwise."""
    if isinstance(given, FoundSymmetries):
        listed = "; ".join(f"[{k}] {f.name}" for k, f in enumerate(given))
        raise ModelError(
            f"reduce: got all symmetries that were found. Give one of them, symmetries(system)[k]: {listed or 'none'}."
        )
    if isinstance(given, FoundSymmetry):
        if not given.exact:
            raise ModelError(
                f"reduce: the {given.name} changes the Lagrangian by the derivative of a function. Reduce by a symmetry that "
                f"leaves it as it is; what this one conserves is its charge."
            )
        return given.symmetry
    return given


def symmetries(system: System) -> FoundSymmetries:
    """Obvious symmetries of a system: translations, rotations, scalings, combinations of these, boosts, turns of rotations
    and poses from the left and from the right, and all together.

    Each is a `Symmetry` with what it leaves invariant. None found does not mean that there is none.
    """
    system = system_of(system, "symmetries", groups=True)
    mechanical(system, "symmetries", groups=True)
    if any(not c.is_linear for c in system.kinematic):
        raise ModelError(f"symmetries: {system.name!r} has a constraint that is not linear in the velocities.")
    names = _names(system)
    flows = [flow for c in _combinations(system) if (flow := _flow(c, next(names))) is not None]
    verified = [(c, _verified(system, _title(c), action, [s])) for c, action, s in flows]
    turned = list(_turned(system, names))
    single = [*(f for _, f in verified if f is not None), *turned]
    whole = _together(system, [f.symmetry for f in single]) if len(single) > 1 else None
    moved = [*((f, _along(c)) for c, f in verified if f is not None), *((f, f.name) for f in turned)]
    boosted = [b for f, along in moved if (b := _boost(system, f, along, next(names))) is not None]
    return FoundSymmetries(system, (*single, *boosted, *([whole] if whole else [])))


def _names(system: System) -> Iterator[Parameter]:
    """Names for elements that the system does not use."""
    used = {s.name for s in (*system.coordinates, *system.parameters)}
    count = 0
    while True:
        count += 1
        if f"s{count}" not in used:
            yield Parameter(f"s{count}")


def _lines(system: System) -> list[Coordinate]:
    """The coordinates that are numbers."""
    return [q for q in system.coordinates if not isinstance(q, Direction)]


def _turned(system: System, names: Iterator[Parameter]) -> Iterator[FoundSymmetry]:
    """Turns of group coordinates, alone or with what they carry."""
    for s, choices in turns(system, _lines(system), names):
        tried = (_verified(system, choice.name, choice.action, [s]) for choice in choices)
        found = next((f for f in tried if f is not None), None)
        if found is not None:
            yield found


def _fields(system: System) -> dict[tuple[str, tuple[Coordinate, ...]], dict[Coordinate, Expr]]:
    """The generators that are combined."""
    q = _lines(system)
    found: dict[tuple[str, tuple[Coordinate, ...]], dict[Coordinate, Expr]] = {}
    for x, y in combinations(q, 2) if len(q) <= MOST else ():
        found["rotation", (x, y)] = {x: -y, y: x}
    found |= {("scaling", (x,)): {x: x} for x in q}
    found |= {("translation", (x,)): {x: sympy.S.One} for x in q}
    return dict(reversed(found.items()))  # translations first: combinations are expressed by those before


def _combinations(system: System) -> list[Combination]:
    """Combinations of the generators with rational coefficients that change nothing, to first order."""
    fields = _fields(system)
    changes = [_changes(system, X) for X in fields.values()]
    rows = list(zip(*changes, strict=True))
    grid: list[list[Any]] = []
    flat = [e for row in rows for e in row]
    for _, at in points([system.lagrangian, *flat], attempts=len(fields) + 4):
        with balls.precise() as flint:
            there = {name: flint.arb(x) for name, x in at.items()}
            bases = _admissible(system, there)
            values = balls.values(rows, there)
            if values is not None and bases is not None:
                grid += _contracted(values, bases, 1 + len(system.coordinates) * bool(any(system.force)))
    found = []
    for vector in kernel(grid, len(fields)) if grid else []:
        fractions = {k: fraction_in(v) for k, v in vector.items()}
        if all(f is not None for f in fractions.values()):
            keys = list(fields)
            found.append({keys[k]: f for k, f in fractions.items() if f})
    return found


def _changes(system: System, X: dict[Coordinate, Expr]) -> list[Fast]:
    """Lie derivatives along a field: of L, of the force if there is one, of each form of constraints and variations."""
    q = system.coordinates
    moved = [fast(X.get(c, 0)) for c in q]
    rates = [total_derivative(m, q) for m in moved]
    state, displaced = [*q, *system.velocities], [*moved, *rates]

    def along(f: Any) -> Fast:
        return total(d * e for d, e in zip(gradient(fast(f), state), displaced, strict=True))

    def lie(covector: Sequence[Any]) -> list[Fast]:
        slopes = [gradient(m, q) for m in moved]
        n = range(len(q))
        return [along(covector[j]) + total(fast(covector[i]) * slopes[i][j] for i in n) for j in n]

    found = [along(system.lagrangian), *(lie(system.force) if any(system.force) else [])]
    for row in (*(c.coefficients for c in system.constraints), *system.variations):
        found += lie(row)
    return found


def _admissible(system: System, at: Any) -> list[list[dict[int, Any]]] | None:
    """The kernels of the rows of constraints and of variations at a state."""
    found = []
    for rows in ([c.coefficients for c in system.constraints], system.variations):
        values = balls.values(rows, at)
        if values is None:
            return None
        found.append(kernel(values, len(system.coordinates)) if rows else [])
    return found


def _contracted(values: list[list[Any]], bases: list[list[dict[int, Any]]], plain: int) -> list[list[Any]]:
    """The conditions at a state: changes of functions, and changes of forms on the vectors that the forms allow."""
    grid, rest = values[:plain], values[plain:]
    vectors = [v for basis in bases for v in basis]
    size = 1 + max((k for v in vectors for k in v), default=0)
    forms = [rest[i : i + size] for i in range(0, len(rest), size)]
    half = len(forms) // 2  # those of constraints, then those of variations
    for k, form in enumerate(forms):
        for vector in bases[int(k >= half)]:
            width = range(len(form[0]))
            grid.append([sum((form[i][j] * v for i, v in vector.items()), start=form[0][j] * 0) for j in width])
    return grid


def _title(c: Combination) -> str:
    kinds: dict[str, list[str]] = {}
    for kind, where in c:
        kinds.setdefault(kind, []).append("(" + ", ".join(map(str, where)) + ")" if len(where) > 1 else str(where[0]))
    return " and ".join(f"{kind} of {', '.join(names)}" for kind, names in sorted(kinds.items()))


def _flow(c: Combination, s: Parameter) -> tuple[Combination, dict[Coordinate, Expr], Parameter] | None:
    """The finite motion of a combination in which every coordinate takes part once; None for others."""
    parts = [q for _, where in c for q in where]
    if len(set(parts)) < len(parts):
        return None
    action: dict[Coordinate, Expr] = {}
    for (kind, where), factor in c.items():
        k = sympy.Rational(factor.numerator, factor.denominator) * s
        if kind == "rotation":
            x, y = where
            action |= {x: x * cos(k) - y * sin(k), y: x * sin(k) + y * cos(k)}
        else:
            (x,) = where
            action[x] = x + k if kind == "translation" else x * exp(k)
    return c, action, s


def _verified(system: System, name: str, action: dict[Any, Any], elements: list[Any]) -> FoundSymmetry | None:
    """The symmetry, if it is one in full."""
    try:
        symmetry = Symmetry(action, elements)
    except ModelError:
        return None
    kept = invariance(system, symmetry, "symmetries")
    return FoundSymmetry(name, symmetry, kept) if kept.holds else None


def _together(system: System, found: Sequence[Symmetry]) -> FoundSymmetry | None:
    """All symmetries as one group, rotations applied first, if they are one."""
    ordered = sorted(found, key=lambda s: not any(e.has(sin, cos) for e in s.action.values()))
    return _verified(system, "all together", composed(ordered), [g for s in ordered for g in s.elements])


def _along(c: Combination) -> str:
    """What a translation moves; of other combinations their title."""
    places = [place for kind, place in c if kind == "translation"]
    return ", ".join(str(q) for (q,) in places) if len(places) == len(c) else _title(c)


def _boost(system: System, found: FoundSymmetry, along: str, s: Parameter) -> FoundSymmetry | None:
    """The Galilei boost along a translation, if the Lagrangian changes by a total derivative."""
    X = found.symmetry.generators[0]
    if any(not e.is_number for e in X.values()) or groups(system.coordinates):
        return None
    charge = noether(system, {q: time * e for q, e in X.items()})
    if charge.gauge is None or not charge.conserved:
        return None
    boost = Symmetry({q: q + s * time * e for q, e in X.items()}, [s])
    return FoundSymmetry(f"boost along {along}", boost, invariance(system, boost, "symmetries"), charge)
