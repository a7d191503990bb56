"""What kind of constraints a system has: `classify`.

The constraints are forms A dq + b dt. Whether a form has an integrating factor is decided by the triple identity;
whether a system of forms does, by the brackets of the velocities it allows (Frobenius); how many functions it keeps
constant, by the dimension that these brackets span (Chow). A constraint set with several branches is split first, in
`constraint_sets`, and each branch is classified separately.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import sympy
from sympy import Expr, Symbol

from ...decide.balls import Point, values
from ...decide.budget import Budget, BudgetSpentError
from ...decide.decimals import Typed
from ...decide.elimination import highest_rank, independent
from ...decide.zero import vanishes, vanishes_at
from ...display import read_with
from ...errors import ModelError
from ...model.bodies.assembly import Assembly
from ...model.constraints import Constraint
from ...model.coordinates import Coordinate, time
from ...model.space import lines_only
from ...model.system import System
from ...symbolic import fast
from ..admissible_states import states_on
from ..algebra import Allowance, tidy
from .constraint_functions import constraint_functions
from .constraint_sets import Given, cases, points_of, stated
from .distributions import Flag, combined, flag, kernel, pairing, vanishing_on
from .hidden_integrals import HiddenFunction, combination, constant_functions
from .integrability import Integrated, is_exact, is_integrable, triple_residuals
from .integrating_factors import integrating_factor
from .verdicts import Branched, Classification, ConstraintRecord, Redundancy
from .where_constant import Region, conditions, continued


def classify(
    system: System | Sequence[Any], *, coordinates: Sequence[Coordinate] | None = None, budget: Budget | None = None
) -> Classification | Branched:
    """Classify the constraints of a system: holonomic or not, how many degrees of freedom, what is reached, and why.

    system:       a `System`; or a list of constraints, which may be redundant, and among which may be inequalities
    coordinates:  for a list of constraints: the coordinates
    budget:       what the search for integrating factors and hidden functions may spend

    Where a constraint is a product, the set has several branches: the result is then a `Branched`, with a verdict on each.
    """
    system = system.system if isinstance(system, Assembly) else system
    if isinstance(system, System):
        lines_only(system, "classify")
    given = stated(system, coordinates)
    typed = system.typed if isinstance(system, System) else Typed.of(map(sympy.sympify, system))
    by_forms = not isinstance(system, System) or system.principle.acts_by_forms(system)
    found = [read_with(_classified(case, budget or Allowance()), typed) for case in cases(given)]
    found = [c if by_forms else replace(c, is_ideal=False) for c in found]
    if isinstance(system, System) and len(found) == 1:
        found = [replace(found[0], functions=constraint_functions(system))]
    return found[0] if len(found) == 1 else Branched(given.name, tuple(given.expressions), tuple(found))


def _classified(given: Given, spent: Budget) -> Classification:
    """The verdict on one branch."""
    analysis = _Analysis.of(given, spent)
    records, functions = _records(given, analysis, spent)
    hidden, note = _hidden(given, analysis, functions, spent)
    return _result(given, analysis, records, hidden, note, spent)


@dataclass(frozen=True)
class _Analysis:
    """Ranks and brackets of the equations that are affine in the velocities.

    variables:  the coordinates, and time if it enters
    rows:       the forms over the variables, in the order of `given.linear`
    kept:       which of them (positions in that order) are independent on the constraint set
    dependent:  for each of the others, those it follows from
    holonomic:  how many of the kept ones are constraints on positions
    """

    variables: tuple[Symbol, ...]
    rows: tuple[tuple[Expr, ...], ...]
    points: tuple[Point, ...]
    kept: tuple[int, ...]
    dependent: dict[int, list[int]]
    holonomic: int
    rank: int
    flag: Flag = field(repr=False)

    @property
    def independent(self) -> list[tuple[Expr, ...]]:
        return [self.rows[k] for k in self.kept]

    @property
    def functions(self) -> int:
        """How many functions are constant: the dimension less that which brackets reach."""
        return len(self.variables) - self.flag.growth[-1]

    @staticmethod
    def of(given: Given, budget: Budget) -> _Analysis:
        equations = [given.equation(k) for k in given.linear]
        entries = [e for c in equations for e in (*c.coefficients, c.drift)]
        timed = any(c.drift != 0 for c in equations) or any(time in e.free_symbols for e in entries)
        variables = (*given.coordinates, time) if timed else given.coordinates
        rows = tuple((*c.coefficients, c.drift) if timed else c.coefficients for c in equations)
        points = points_of(given)
        kept, dependent = _independent(rows, points)
        rank = highest_rank([c.coefficients for c in equations], points)
        if rank < len(kept):
            raise ModelError(_contradiction(given, rows, points))
        holonomic = sum(1 for k in kept if equations[k].is_holonomic)
        chain = _flag([rows[k] for k in kept], variables, points, holonomic == len(kept), budget)
        return _Analysis(variables, rows, tuple(points), tuple(kept), dependent, holonomic, rank, chain)


def _independent(rows: Sequence[Sequence[Expr]], points: Sequence[Point]) -> tuple[list[int], dict[int, list[int]]]:
    """The rows independent of those before them, and what the others follow from: where the rank is highest."""
    made = [independent(g) for g in (values(rows, p) for p in points) if g is not None]
    if not made:
        raise ModelError(
            "classify: the constraints have no value at any of the points tried; check roots and divisions."
        )
    return max(made, key=lambda m: len(m[0]))


def _contradiction(given: Given, rows: Sequence[Sequence[Expr]], points: Sequence[Point]) -> str:
    """Coefficients dependent, drifts not: name the constraint that no velocity satisfies."""
    alone = _independent([given.equation(k).coefficients for k in given.linear], points)[1]
    whole = _independent(rows, points)[1]
    culprit = next(k for k in alone if k not in whole)
    listed = [str(given.equation(given.linear[k]).expression) + " = 0" for k in (*alone[culprit], culprit)]
    return (
        f"classify: no velocity satisfies {' and '.join(listed)} at a configuration in general position: they prescribe "
        f"different values for one combination of velocities. Correct one of them, or state as a constraint on positions "
        f"what they imply."
    )


def _flag(
    rows: Sequence[Sequence[Expr]], variables: Sequence[Symbol], points: Sequence[Point], closed: bool, budget: Budget
) -> Flag:
    """The flag of the velocities allowed; of integrable forms it is the distribution itself."""
    if closed or (len(rows) == 1 and is_integrable(rows[0], variables)):
        return Flag((len(variables) - len(rows),), ())
    basis = kernel(rows, len(variables), points, Allowance(seconds=2.0, total=10.0))  # short forms are optional here
    return flag([[fast(e) for e in basis[:, k]] for k in range(basis.cols)], variables, points, budget)


def _records(
    given: Given, analysis: _Analysis, budget: Budget
) -> tuple[tuple[ConstraintRecord, ...], list[tuple[Expr, str]]]:
    """The record of each constraint, and the functions of those that can be integrated alone."""
    place = {k: p for p, k in enumerate(given.linear)}
    records, functions = [], []
    for k, c in enumerate(given.stated):
        if not isinstance(c, Constraint):
            records.append(ConstraintRecord.inequality(c))
        elif c.is_holonomic:
            records.append(ConstraintRecord.holonomic(c))
        elif not c.is_linear:
            records.append(ConstraintRecord.nonlinear(c))
        else:
            record = _kinematic(c, place[k], analysis, budget)
            records.append(record)
            if record.function is not None:
                functions.append((record.function, record.how))
    return tuple(records), functions


def _kinematic(c: Constraint, place: int, analysis: _Analysis, budget: Budget) -> ConstraintRecord:
    """A velocity relation: integrable alone, integrable with the others, or not at all."""
    row, variables = analysis.rows[place], analysis.variables
    if is_integrable(row, variables):
        made, exact = _integrated(row, variables, budget), is_exact(row, variables)
        return ConstraintRecord.integrable(c, made, exact, variables, budget.tried)
    failing = _failing(row, variables, budget)
    if len(analysis.kept) == 1:
        return ConstraintRecord.nonholonomic(c, failing, "")
    if not _is_kept_constant(row, analysis):
        return ConstraintRecord.nonholonomic(c, failing, "; the others do not help")
    if not analysis.flag.complete:
        return ConstraintRecord.undecided(c, failing)
    return ConstraintRecord.integrable_with_others(c, failing)


def _integrated(row: Sequence[Expr], variables: Sequence[Symbol], budget: Budget) -> Integrated | None:
    try:
        return integrating_factor(row, variables, budget)
    except BudgetSpentError:
        return None


def _failing(row: Sequence[Expr], variables: Sequence[Symbol], budget: Budget) -> tuple[str, Expr]:
    """The shortest component of the triple identity that does not vanish, with the names of its variables."""
    wrong = {ijk: e for ijk, e in triple_residuals(row, variables).items() if not vanishes(e)}
    ijk = min(wrong, key=lambda key: wrong[key].count_ops())
    return ", ".join(str(variables[i]) for i in ijk), tidy(wrong[ijk], budget)


def _is_kept_constant(row: Sequence[Expr], analysis: _Analysis) -> bool:
    """Whether a form vanishes on all iterated brackets."""
    return all(vanishes_at(pairing(row, f), analysis.points) for f in analysis.flag.fields)


def _hidden(
    given: Given, analysis: _Analysis, functions: Sequence[tuple[Expr, str]], budget: Budget
) -> tuple[tuple[HiddenFunction, ...], str]:
    """The functions kept constant beyond the constraints on positions, as far as they are found; and a remark."""
    wanted = analysis.functions - analysis.holonomic if analysis.flag.complete else 0
    if not wanted:
        return (), "" if analysis.flag.complete else "the budget was spent before all brackets were formed"
    equations = [given.equation(k) for k in given.linear]
    positions = [equations[k].expression for k in analysis.kept if equations[k].is_holonomic]
    rows, variables, points = analysis.rows, analysis.variables, analysis.points
    found: list[tuple[Expr, str]] = []
    note = ""
    slopes = [[f.diff(z) for z in variables] for f in positions]
    for g, how in functions:
        if highest_rank([*slopes, [g.diff(z) for z in variables]], points) > len(slopes):
            slopes.append([g.diff(z) for z in variables])
            found.append((g, how))
    try:
        if len(found) < wanted and len(analysis.kept) > 1:
            fields = analysis.flag.fields[analysis.flag.growth[0] :]
            c = vanishing_on(fields, analysis.independent, variables, points, budget)
            last = combined(c, analysis.independent, budget)
            for made in constant_functions(last, variables, [*positions, *(g for g, _ in found)], points, budget):
                found.append(made)
    except BudgetSpentError:
        note = "the search for hidden functions ended before it was through"
    region = Region(positions, analysis.independent, variables, points if found else ())
    hidden = []
    for local, how in found:
        g = continued(local, region)
        c = combination(g, rows, variables, points, budget)
        where = conditions(g, c, region)
        by_place = dict(zip(given.linear, c, strict=False))
        ordered = tuple(by_place.get(k, sympy.S.Zero) for k in range(len(given.stated)))
        hidden.append(HiddenFunction(g, ordered, how, where or (), is_local=where is None))
    return tuple(hidden), note


def _result(given: Given, analysis: _Analysis, records: Any, hidden: Any, note: str, budget: Budget) -> Classification:
    linear, moving = given.linear, _points_with_velocities(given)
    rows = [c.coefficients for c in given.stated if isinstance(c, Constraint)]
    return Classification(
        name=given.name,
        coordinates=given.coordinates,
        constraints=records,
        rank=highest_rank(rows, moving or analysis.points),
        growth_vector=analysis.flag.growth,
        hidden_functions=hidden,
        redundant=tuple(
            Redundancy(linear[k], tuple(sorted(linear[j] for j in others))) for k, others in analysis.dependent.items()
        ),
        is_ideal=_same_span(rows, given.variations, moving or analysis.points),
        is_complete=analysis.flag.complete,
        tried=tuple(budget.tried),
        note=note,
        remarks=given.remarks,
        variables=analysis.variables,
        forms=tuple(analysis.independent),
        _holonomic=analysis.holonomic,
        _variations=given.variations,
        _points=tuple(moving or analysis.points),
    )


def _points_with_velocities(given: Given) -> list[Point]:
    """Where there are nonlinear constraints: states that satisfy everything, velocities included."""
    if not given.nonlinear:
        return []
    equations = [c for c in given.stated if isinstance(c, Constraint)]
    points = states_on(equations, given.coordinates)
    if not points:
        raise ModelError(
            f"classify: no state was found that satisfies {', '.join(f'{c.expression} = 0' for c in equations)}. Newton's "
            f"method was tried from 24 random starts. Check that these constraints do not contradict each other."
        )
    return points


def _same_span(rows: Sequence[Any], forms: Sequence[Any], points: Sequence[Point]) -> bool:
    """Whether the variations annihilate the same displacements as the constraints."""
    return highest_rank(rows, points) == highest_rank(forms, points) == highest_rank([*rows, *forms], points)
