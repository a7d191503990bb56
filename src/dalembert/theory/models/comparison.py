"""The models of constrained motion side by side: equations, when they agree, when a nonholonomic system is Lagrangian.

The models differ in what acts besides lambda_a dchi_a/dv. With E_k(f) = d/dt df/dv^k - df/dx^k:

    d'Alembert, Chetaev         nothing
    Upsilon, minimal            c_b E(chi_b), c the part of the momentum along the rows dchi/dv
    commuting velocities        theta_b E(chi_b): the variations of chosen independent velocities commute (Lindelof)
    vakonomic                   -mu_b E(chi_b), where mu' = -lambda: mu is data of the start

Whether two of them give the same accelerations is decided by value, at states that satisfy the constraints. A nonholonomic
system is Lagrangian, with L + mu_a chi_a, where multipliers with mu_b E(chi_b) = 0 along its motions exist (up to the rows).
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import sympy
from sympy import Expr

from ...decide import balls
from ...decide.balls import Ball, Point
from ...decide.elimination import rank, solution
from ...decide.zero import vanishes
from ...display import Part, Shown, Table
from ...errors import ModelError, ModelWarning
from ...model.bodies.assembly import system_of
from ...model.coordinates import Coordinate
from ...model.principle import DAlembert, Principle, Vakonomic
from ...model.space import lines_only
from ...model.system import System
from ...model.upsilon import Upsilon, lagrange_derivative
from ...symbolic import Fast, fast, total
from ..algebra import linear_solution, tidy
from ..conserved.on_shell import ExactState, shell
from ..constraints.dependent_velocities import dependent_coordinates, rows_of
from ..forms.voronets import voronets
from ..motion.lagrange import Equations, linear_motion, parted, total_derivative
from .chaplygin_conditions import ChaplyginConditions, chaplygin_conditions
from .moving_multipliers import multipliers_exist

if TYPE_CHECKING:
    from ...run.model_motions import ModelMotions

CHETAEV, MINIMAL, COMMUTING, VAKONOMIC = "d'Alembert-Chetaev", "Upsilon, minimal", "commuting velocities", "vakonomic"
"""The names of the models."""

STATES = 6
"""States at which accelerations are compared."""


@dataclass(frozen=True)
class Agreement:
    """Whether two models give the same motions.

    holds:   True or False, by value
    reason:  why
    at:      a state at which their accelerations differ, by symbol; empty where they agree
    accelerations:  those of both models there
    """

    models: tuple[str, str]
    holds: bool
    reason: str
    at: Mapping[Any, float] = field(default_factory=dict)
    accelerations: tuple[tuple[float, ...], ...] = ()


@dataclass(frozen=True)
class LagrangianVerdict:
    """Whether the nonholonomic motions are those of L + mu_a chi_a, all constraints kept.

    holds:        True, False, or None where it was not decided
    multipliers:  mu_a as functions of the state, where they were found
    freedom:      how many independent multipliers the condition mu_b E(chi_b) = 0 leaves at a state in general position
    reason:       why
    at:           a state at which no multipliers will do, where holds is False
    """

    holds: bool | None
    multipliers: tuple[Expr, ...] | None
    freedom: int
    reason: str
    at: Mapping[Any, float] = field(default_factory=dict)


@dataclass(frozen=True, repr=False, eq=False)
class ModelComparison(Shown):
    """The models of a constrained system; see `compare_models`.

    system:   the system, under d'Alembert's principle
    models:   {name of the model: system}
    refused:  {name of the model: why it does not apply}
    """

    system: System
    models: Mapping[str, System]
    refused: Mapping[str, str]

    @cached_property
    def equations(self) -> dict[str, Equations]:
        """The equations of every model."""
        return {name: s.equations() for name, s in self.models.items()}

    @cached_property
    def agreements(self) -> tuple[Agreement, ...]:
        """For every model whose state is position and velocity: whether its motions are those of d'Alembert and Chetaev."""
        others = [name for name in self.models if name not in (CHETAEV, VAKONOMIC)]
        return tuple(_agreement(self.system, self.models[name], name) for name in others)

    def agrees(self, name: str) -> bool | None:
        """Whether a model has the motions of d'Alembert and Chetaev; for the vakonomic one whether each is one of its own."""
        if name == VAKONOMIC:
            return self.lagrangian.holds
        found = {a.models[1]: a.holds for a in self.agreements}
        if name not in found:
            known = ", ".join(repr(n) for n in (*found, VAKONOMIC))
            raise ModelError(f"compare_models: there is no model {name!r} to compare with. Expected one of {known}.")
        return found[name]

    @cached_property
    def lagrangian(self) -> LagrangianVerdict:
        """Whether the nonholonomic system is Lagrangian."""
        return _lagrangian(self.system)

    @cached_property
    def chaplygin(self) -> ChaplyginConditions | None:
        """When the equations of Chaplygin of the system are Lagrange's as they stand; None for other systems."""
        form = voronets(self.system)
        return chaplygin_conditions(form) if form.kind == "Chaplygin" else None

    def motions(
        self,
        *,
        start: Mapping[Any, Any],
        h: float,
        until: float,
        parameters: Mapping[Any, Any] | None = None,
        multipliers: Sequence[float] | None = None,
        models: Sequence[str] | None = None,
    ) -> ModelMotions:
        """The motions of all models from one start, computed by DormandPrince8; `.plot(path)` draws them in one figure.

        multipliers:  the initial multipliers of the vakonomic motion; by default those with which the nonholonomic motion is
                      Lagrangian, where these were found, otherwise zero
        models:       the names of some of the models only
        """
        from ...run.model_motions import model_motions

        return model_motions(self, start, h, until, parameters, multipliers, models)

    def _parts(self) -> list[Part]:
        s = self.system
        parts: list[Part] = [f"{s.name}: models of constrained motion"]
        rows = [(name, repr(m.principle), self._said(name)) for name, m in self.models.items()]
        rows += [(name, "", f"does not apply: {why}") for name, why in self.refused.items()]
        parts.append(Table(("model", "principle", "motions"), rows))
        parts += [f"  {a.models[1]}: {a.reason}." for a in self.agreements]
        verdict = self.lagrangian
        parts.append(f"  {VAKONOMIC}: {verdict.reason}.")
        if verdict.multipliers:
            parts += [(f"mu_{k + 1}", e) for k, e in enumerate(verdict.multipliers)]
        for name, equations in self.equations.items():
            parts += [f"Equations, {name}:", *equations.lagrange]
        return [*parts, "Constraints:", *next(iter(self.equations.values())).constraints]

    def _said(self, name: str) -> str:
        if name == CHETAEV:
            return "the reference"
        holds = self.agrees(name)
        return "not decided" if holds is None else "the same" if holds else "others"


def compare_models(system: System) -> ModelComparison:
    """Compare the models of constrained motion for a system: d'Alembert-Chetaev, Upsilon, commuting velocities, vakonomic.

    The result says which have the same motions and why, at which state others differ, whether the nonholonomic system is
    Lagrangian, and with which multipliers; its `motions(...)` computes the motions of all models from one start. The principle
    and the variations that the system was stated with are not looked at.
    """
    system = system_of(system, "compare_models")
    lines_only(system, "compare_models")
    if not system.kinematic:
        raise ModelError(
            f"compare_models: {system.name!r} has no constraint on velocities, so all models are d'Alembert's. Expected at "
            f"least one in constraints=[...]."
        )
    if system.entropies:
        raise ModelError(
            f"compare_models: {system.name!r} has entropies, and its models are not brought together with heat. State it "
            f"without them."
        )
    base = _quietly(system, DAlembert())
    free = [q.dot for q in base.coordinates if q not in dependent_coordinates(base)]
    stated = {MINIMAL: Upsilon(), COMMUTING: Upsilon(completion=free), VAKONOMIC: Vakonomic()}
    models, refused = {CHETAEV: base}, {}
    for name, principle in stated.items():
        try:
            models[name] = _quietly(base, principle)
        except ModelError as error:
            refused[name] = str(error).partition(f"{base.name!r}: ")[2] or str(error)
    return ModelComparison(base, models, refused)


def _quietly(system: System, principle: Principle) -> System:
    """The system with another principle, without the warnings that it was given when it was stated."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        return system.replace(principle=principle)


# agreement


def _motion_at(system: System, point: Point) -> tuple[list[Ball], list[Ball]] | None:
    """Accelerations, and multipliers, at a state, in ball arithmetic."""
    linear = linear_motion(system)
    grid = balls.values([[*row, r] for row, r in zip(linear.matrix, linear.right, strict=True)], point)
    found = None if grid is None else solution([row[:-1] for row in grid], [row[-1] for row in grid])
    return None if found is None else parted(system, found)


def _states(system: System) -> list[ExactState]:
    found = shell(system).exact_states(STATES)
    if not found:
        raise ModelError(
            f"compare_models: no state of {system.name!r} was found at which the constraints hold and accelerations are "
            f"determined."
        )
    return found


def _agreement(base: System, other: System, name: str) -> Agreement:
    """Whether accelerations are equal at all states tried; a difference is a proof that they are not."""
    for state in _states(base):
        own, others = (_motion_at(s, state.point) for s in (base, other))
        if own is None or others is None:
            continue
        if not all((a - b).contains(0) for a, b in zip(own[0], others[0], strict=True)):
            values = tuple(tuple(map(float, accelerations)) for accelerations, _ in (own, others))
            reason = f"other accelerations, for example at {_told(base, state.point)}"
            return Agreement((CHETAEV, name), False, reason, _symbols(base, state.point), values)
    return Agreement((CHETAEV, name), True, _why(base, other, name))


def _why(base: System, other: System, name: str) -> str:
    """Why accelerations agree."""
    bent = [lagrange_derivative(c.expression, base.coordinates) for c in base.constraints if not c.is_holonomic]
    if all(vanishes(e) for row in bent for e in row):
        return "the constraints are derivatives of functions of position, so that E(chi) adds nothing"
    if not any(any(_nonzero(base, row)) for row in bent):
        return "E(chi) vanishes along the motions of d'Alembert and Chetaev, although not along every curve"
    if name == MINIMAL and not any(_nonzero(base, other.principle.besides(other))):
        return "the momentum has no part along the rows of the constraints where these hold"
    return "what it adds is a combination of the rows of the constraints, which the multipliers take up"


def _nonzero(base: System, expressions: Sequence[Fast]) -> list[bool]:
    """For each expression whether it is not zero at some state on the constraints, with the accelerations there."""
    found = [False] * len(expressions)
    for state in _states(base):
        table = balls.values([list(expressions)], _with_accelerations(base, state))
        found = found if table is None else [a or not b.contains(0) for a, b in zip(found, table[0], strict=True)]
    return found


def _with_accelerations(base: System, state: ExactState) -> dict[str, Ball]:
    rates = zip(base.coordinates, state.accelerations, strict=True)
    return {**state.point, **{q.ddot.name: a for q, a in rates}}


def _symbols(base: System, point: Point) -> dict[Any, float]:
    symbols = (*base.coordinates, *base.velocities, *base.parameters)
    return {s: float(point[s.name]) for s in symbols if s.name in point}


def _told(base: System, point: Point) -> str:
    return ", ".join(f"{s} = {x:.4g}" for s, x in _symbols(base, point).items())


# when the nonholonomic system is Lagrangian


def _lagrangian(base: System) -> LagrangianVerdict:
    """mu_b E(chi_b) among the rows, at the accelerations of the nonholonomic motion; then the rates of mu."""
    parts = [a for a, c in enumerate(base.constraints) if not c.is_holonomic]
    q = base.coordinates
    bent = [lagrange_derivative(base.constraints[a].expression, q) for a in parts]
    rows, freedom = rows_of(base), len(parts)
    where = None
    for state in _states(base):
        grid = balls.values([*bent, *rows], _with_accelerations(base, state))
        if grid is None:
            continue
        left = len(parts) - (rank(grid) - rank(grid[len(parts) :]))
        if left < freedom:
            freedom, where = left, state
    if freedom == len(parts):
        return LagrangianVerdict(True, None, freedom, _ANY)
    if _reactions_vanish(base, parts):
        zeros = (sympy.S.Zero,) * len(base.constraints)
        return LagrangianVerdict(True, zeros, freedom, "every motion is one of its own with mu = 0: no reaction acts")
    if not freedom and where is not None:
        return LagrangianVerdict(False, None, 0, f"{_NONE}, at {_told(base, where.point)}", _symbols(base, where.point))
    found = _candidate(base, parts)
    if found is not None:
        return LagrangianVerdict(True, found, freedom, "every motion is one of its own, with these multipliers")
    exist, point = multipliers_exist(base, parts, [s.point for s in _states(base)])
    if exist is False and point is not None:
        return LagrangianVerdict(False, None, freedom, f"{_NOT_LATER}, at {_told(base, point)}", _symbols(base, point))
    reason = _WITHOUT_FORMULA if exist else _UNDECIDED.format(free=freedom, all=len(parts))
    return LagrangianVerdict(exist, None, freedom, reason)


_ANY = (
    "every motion is one of its own, whatever the multipliers: mu_b E(chi_b) is a combination of the constraints' rows"
)
_NONE = (
    "not Lagrangian with L + mu chi: mu_b E(chi_b) is a combination of the rows of the constraints for mu = 0 alone, and a "
    "reaction acts"
)
_NOT_LATER = (
    "not Lagrangian with L + mu chi: the condition that mu_b E(chi_b) is a combination of the rows of the constraints "
    "contradicts its derivatives along the motion"
)
_WITHOUT_FORMULA = (
    "every motion is one of its own: the condition on mu is kept by the motion if it holds at the start. No formula for the "
    "multipliers was found"
)
_UNDECIDED = (
    "not decided: {free} of {all} multipliers satisfy the condition at a state, those tried (momenta of the dependent "
    "velocities) do not move as they must, and its derivatives along the motion take too long"
)


def _reactions_vanish(base: System, parts: Sequence[int]) -> bool:
    found = [_motion_at(base, s.point) for s in _states(base)]
    return all(m is not None and all(m[1][a].contains(0) for a in parts) for m in found)


def _candidate(base: System, parts: Sequence[int]) -> tuple[Expr, ...] | None:
    """mu by which L + mu chi has no momentum along the dependent velocities, if mu moves as the reactions say."""
    mu = momenta_along(base, dependent_coordinates(base))
    rates = [total_derivative(fast(m), base.coordinates) for m in mu]
    rows, n = rows_of(base), len(base.coordinates)
    bent = [lagrange_derivative(c.velocity_form(base.coordinates), base.coordinates) for c in base.constraints]
    acting = [total(fast(m) * e[k] for m, e in zip(mu, bent, strict=True)) for k in range(n)]
    for state in _states(base):
        point = _with_accelerations(base, state)
        table = balls.values([acting, rates, *rows], point)
        motion = _motion_at(base, state.point)
        if table is None or motion is None:
            continue
        kappa = _combination(table[0], table[2:])
        if kappa is None:
            return None
        moved = zip(table[1], kappa, motion[1], strict=True)
        if not all((r + k + m).contains(0) for a, (r, k, m) in enumerate(moved) if a in parts):
            return None
    return tuple(mu)


def _combination(row: Sequence[Ball], rows: Sequence[Sequence[Ball]]) -> list[Ball] | None:
    """The numbers by which a row is a combination of others; None if it is none."""

    def product(u: Sequence[Ball], v: Sequence[Ball]) -> Ball:
        return sum((a * b for a, b in zip(u[1:], v[1:], strict=True)), start=u[0] * v[0])

    with balls.precise():
        found = solution([[product(a, b) for b in rows] for a in rows], [product(a, row) for a in rows])
        if found is None:
            return None
        made = [product(found, column) for column in zip(*rows, strict=True)]
        return found if all((a - b).contains(0) for a, b in zip(row, made, strict=True)) else None


def momenta_along(system: System, dependent: Sequence[Coordinate]) -> list[Expr]:
    """mu with d(L + mu_a chi_a)/dv = 0 for the dependent velocities."""
    q = system.coordinates
    forms = [c.velocity_form(q) for c in system.constraints]
    matrix = sympy.Matrix([[f.diff(c.dot) for f in forms] for c in dependent])
    right = sympy.Matrix([-system.lagrangian.diff(c.dot) for c in dependent])
    found = linear_solution(matrix, right)
    assert found is not None
    return [tidy(e) for e in found]
