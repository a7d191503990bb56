"""The input of classification: the constraints as stated, and the branches of the set they describe.

A product is satisfied in several ways, and each is a set of its own. A constraint whose gradient vanishes wherever it
holds, such as a square, is replaced by equations with the same zeros and gradients that do not vanish.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice, product
from typing import Any

import sympy
from sympy import Expr
from sympy.logic.boolalg import BooleanAtom

from ...decide import decimals
from ...decide.balls import Point, value, values
from ...decide.elimination import independent
from ...decide.sample import points_on
from ...decide.zero import vanishes_at
from ...errors import ModelError, told
from ...model import checks
from ...model.branches import branches, changes_sign
from ...model.constraints import Constraint, constraint
from ...model.coordinates import Coordinate, Velocity, time
from ...model.system import System

MOST = 32
"""Most branches that are classified."""


@dataclass(frozen=True)
class Given:
    """The statement: every constraint in order, as an equation with its row or as an inequality.

    variations:  the one-forms given apart from the constraints; None: those of the constraints
    besides:     expressions that vanish too: constraints that were replaced by others
    remarks:     what was replaced, or has no effect somewhere
    """

    name: str
    coordinates: tuple[Coordinate, ...]
    stated: tuple[Constraint | sympy.core.relational.Relational, ...]
    own: tuple[tuple[Expr, ...], ...] | None = None
    besides: tuple[Expr, ...] = ()
    remarks: tuple[str, ...] = ()

    @property
    def expressions(self) -> list[Any]:
        """The constraints as they were written."""
        return [c.expression if isinstance(c, Constraint) else c for c in self.stated]

    @property
    def variations(self) -> tuple[tuple[Expr, ...], ...]:
        """The one-forms whose kernel are the virtual displacements."""
        if self.own is not None:
            return self.own
        return tuple(c.coefficients for c in self.stated if isinstance(c, Constraint))

    @property
    def linear(self) -> list[int]:
        """Which ones are equations affine in the velocities: those on positions first, since the others refer to them."""
        found = [k for k, c in enumerate(self.stated) if isinstance(c, Constraint) and c.is_linear]
        return sorted(found, key=lambda k: not self.equation(k).is_holonomic)

    @property
    def nonlinear(self) -> list[int]:
        return [k for k, c in enumerate(self.stated) if isinstance(c, Constraint) and not c.is_linear]

    @property
    def inequalities(self) -> list[int]:
        return [k for k, c in enumerate(self.stated) if not isinstance(c, Constraint)]

    def equation(self, k: int) -> Constraint:
        c = self.stated[k]
        assert isinstance(c, Constraint)
        return c


def stated(system: Any, coordinates: Any) -> Given:
    if isinstance(system, System):
        if coordinates is not None:
            raise ModelError(
                "classify: a System has its coordinates already. Type classify(system), or give a list of constraints "
                "with coordinates=[...]."
            )
        own = system.variations if system.has_own_variations else None
        return Given(system.name, system.coordinates, system.constraints, own)
    if not isinstance(system, (list, tuple)):
        raise ModelError(
            f"classify: got {told(system)} ({type(system).__name__}). Expected a System, or a list of constraints with their "
            f"coordinates: classify([x.dot - y.dot], coordinates=[x, y])."
        )
    if coordinates is None:
        raise ModelError(
            "classify: the coordinates are missing. A list of constraints does not say which coordinates there are: type "
            "classify([...], coordinates=[x, y])."
        )
    q = checks.coordinates(coordinates)
    return Given("constraints", q, tuple(made for c in system for made in _stated(c, q)))


def _stated(given: Any, q: tuple[Coordinate, ...]) -> list[Constraint | Any]:
    """One constraint of a list; a conjunction of inequalities is several."""
    known = {s for c in q for s in (c, c.dot)}
    if isinstance(given, sympy.And):
        return [made for part in given.args for made in _stated(part, q)]
    if isinstance(given, bool | BooleanAtom):
        raise ModelError(
            f"classify: a constraint is {given} whatever the configuration, so it says nothing. Write a relation between "
            f"coordinates, {q[0]} >= 0 for example."
        )
    if isinstance(given, sympy.core.relational.Relational) and not isinstance(given, sympy.Equality):
        checks.symbols(given.lhs - given.rhs, known, "inequality")
        if isinstance(given, sympy.Ne):
            raise ModelError(f"classify: {given} excludes configurations only. Write an equation, or <=, <, >=, >.")
        return [decimals.stated(given)]
    return [constraint(checks.symbols(checks.expression(given, "constraint"), known, "constraint"), q)]


def points_of(given: Given) -> list[Point]:
    """Configurations on the holonomic constraints, and values of everything else."""
    functions = [c.expression for c in given.stated if isinstance(c, Constraint) and c.is_holonomic]
    symbols = {s for c in given.stated for s in (c.expression if isinstance(c, Constraint) else c).free_symbols}
    names = {s.name for s in symbols} | {s.name for w in given.variations for e in w for s in e.free_symbols}
    q = [c.name for c in given.coordinates]
    fixed = sorted(names - set(q) - {c.dot.name for c in given.coordinates} | {time.name})
    points = [p for p in points_on(functions, q, fixed) if all(vanishes_at(e, [p]) for e in given.besides)]
    if not points:
        raise ModelError(_nothing(given))
    return points


# Branches


def cases(given: Given) -> list[Given]:
    """The branches of the constraint set, each as a statement of its own with gradients that do not vanish on it."""
    ways = [list(_ways(k, c, given)) for k, c in enumerate(given.stated)]
    if any(not way for way in ways):
        k = next(k for k, way in enumerate(ways) if not way)
        raise ModelError(
            f"classify: no configuration satisfies {given.expressions[k]} = 0: it is a sum of squares and a positive number."
        )
    whole = product(*ways)
    made = [_joined(given, chosen) for chosen in islice(whole, MOST)]
    if next(whole, None) is not None:
        raise ModelError(
            f"classify: the constraints have more than {MOST} branches. Write the factor that is meant in place of each "
            f"product."
        )
    if len(made) == 1:
        return [_located(replace(made[0], name=given.name))[0]]
    found: list[tuple[Given, list[Point]]] = []
    for case in made:
        try:
            found.append(_located(case))
        except ModelError:
            continue  # this combination of factors has no common zero
    if not found:
        raise ModelError(_nothing(given))
    return [pair[0] for pair in found if not any(_within(pair, other) for other in found if other is not pair)]


def _located(given: Given) -> tuple[Given, list[Point]]:
    """A branch with gradients that do not vanish on it, and points of it."""
    try:
        points = points_of(given)
    except ModelError:
        points = []
    made = _regular(given, points)
    return made, points if made is given and points else points_of(made)


@dataclass(frozen=True)
class _Way:
    """One way to satisfy a constraint: the equations that replace it, and the remark about it."""

    stated: tuple[Any, ...]
    besides: tuple[Expr, ...] = ()
    remarks: tuple[str, ...] = ()


def _ways(k: int, c: Any, given: Given) -> Iterator[_Way]:
    """The branches of one constraint."""
    if not isinstance(c, Constraint):
        yield _Way((c,))
        return
    q = given.coordinates
    found = branches(c.expression, {s for z in q for s in (z, z.dot)})
    if not c.is_holonomic:  # a factor without velocities does not make the others hold
        idle = [b for b in found if not any(isinstance(s, Velocity) for e in b.equations for s in e.free_symbols)]
        zeros = [e for b in idle for e in b.equations if changes_sign(e)]
        said = tuple(f"constraint {k + 1} says nothing where {e} = 0" for e in zeros)
        found = tuple(b for b in found if b not in idle)
        if c.is_linear:
            yield _Way((c,), (), said)
            return
    else:
        said = ()
    for branch in found:
        if branch.equations == (c.expression,):
            yield _Way((c,), (), said)
            continue
        now = tuple(constraint(e, q) for e in branch.equations)
        yield _Way(now, (), (*said, *((_replaced(k, c, branch.equations),) if branch.is_repeated else ())))


def _replaced(k: int, c: Constraint, equations: Sequence[Expr]) -> str:
    listed = ", ".join(f"{e} = 0" for e in equations)
    return (
        f"constraint {k + 1}, {c.expression} = 0, is taken as {listed}: as it is written its gradient vanishes there, and "
        f"it has no multiplier"
    )


def _joined(given: Given, chosen: Sequence[_Way]) -> Given:
    """The statement with one way chosen for each constraint."""
    now = tuple(c for way in chosen for c in way.stated)
    if now == given.stated:
        return replace(given, remarks=tuple(r for way in chosen for r in way.remarks))
    listed = [
        c.expression for way, c in zip(chosen, given.stated, strict=True) if way.stated != (c,) for c in way.stated
    ]
    name = f"{given.name}, where " + ", ".join(f"{e} = 0" for e in listed)
    remarks = tuple(r for way in chosen for r in way.remarks)
    return Given(name, given.coordinates, now, given.own, given.besides, remarks)


def _within(inner: tuple[Given, list[Point]], outer: tuple[Given, list[Point]]) -> bool:
    """Whether a branch is part of another one and not the same; of two that are the same, the first stays."""
    (a, points), (b, others) = inner, outer
    if any(isinstance(c, Constraint) and not c.is_holonomic for c in (*a.stated, *b.stated)):
        return False

    def holds(g: Given, at: list[Point]) -> bool:
        return all(vanishes_at(c.expression, at) for c in g.stated if isinstance(c, Constraint))

    return holds(b, points) and not holds(a, others)


def _regular(given: Given, points: list[Point]) -> Given:
    """Constraints on positions whose gradient vanishes at every point, replaced by their derivatives.

    Newton's method may not converge to such a zero: where no points were found, those of the derivatives are sought.
    """
    now: list[Any] = []
    besides, remarks = list(given.besides), list(given.remarks)
    for k, c in enumerate(given.stated):
        suspect = isinstance(c, Constraint) and c.is_holonomic and all(_is_flat(c, given, p) for p in points)
        slopes = _slopes(c, given) if suspect else []
        if points and suspect and not slopes:
            raise ModelError(
                f"classify: the gradient of {c.expression} vanishes wherever it does, so it has no multiplier, and no other "
                f"equations for its zeros were found. Write equations whose gradients do not vanish."
            )
        now += [constraint(e, given.coordinates) for e in slopes] or [c]
        if slopes:
            besides.append(c.expression)
            remarks.append(_replaced(k, c, slopes))
    if len(remarks) == len(given.remarks):
        return given
    made = replace(given, stated=tuple(now), besides=tuple(besides), remarks=tuple(remarks))
    return _regular(made, points_of(made))


def _is_flat(c: Constraint, given: Given, point: Point) -> bool:
    """Whether the gradient is that of a double zero: its square is no larger than value times second derivative."""
    left = abs(value(c.expression, point))
    for q, slope in zip(given.coordinates, c.coefficients, strict=True):
        a, b = abs(value(slope, point)), abs(value(slope.diff(q), point))
        if a**2 > 10 * left * b:
            return False
    return True


def _slopes(c: Constraint, given: Given) -> list[Expr]:
    """As many derivatives of a constraint as are independent where they and the constraint vanish; none if nowhere."""
    slopes = [e for e in c.coefficients if e != 0]
    q = [z.name for z in given.coordinates]
    names = {s.name for e in (c.expression, *slopes) for s in e.free_symbols} | {time.name}
    there = [p for p in points_on(slopes, q, sorted(names - set(q))) if vanishes_at(c.expression, [p])]
    rows = [[e.diff(z) for z in given.coordinates] for e in slopes]
    grid = next((g for g in (values(rows, p) for p in there) if g is not None), None)
    return [] if grid is None else [slopes[k] for k in independent(grid)[0]]


def _nothing(given: Given) -> str:
    listed = ", ".join(f"{c.expression} = 0" for c in given.stated if isinstance(c, Constraint) and c.is_holonomic)
    return (
        f"classify: no configuration was found that satisfies {listed}. Newton's method was tried from 24 random starts. "
        f"Check that these constraints do not contradict each other."
    )
