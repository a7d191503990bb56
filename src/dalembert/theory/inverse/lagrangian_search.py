"""The inverse problem: a Lagrangian of given equations, a proof that there is none, or what was searched."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Literal

import sympy
from sympy import Expr, Matrix

from ...errors import ModelError, told
from ...model import checks
from ...symbolic import Fast, fast
from ..algebra import attempt
from .algebraic_conditions import AlgebraicConditions
from .along_motion import Flow, Square, pairs, symmetric
from .birkhoff import birkhoffian, degenerate
from .differential_conditions import DifferentialConditions
from .found_lagrangian import InverseResult, verified
from .given_equations import GivenEquations, given_equations
from .last_multiplier import logarithms
from .linear_identities import are_independent
from .multiplier_factor import one_direction
from .multiplier_search import lagrangian_functions, lagrangians, multipliers, position_functions, time_functions
from .normal_form import lagrangian_of
from .search_progress import Report, Search
from .self_conjugacy import is_self_conjugate

KINDS = ("regular", "degenerate", "birkhoff")
Kind = Literal["regular", "degenerate", "birkhoff"]

_KNOWN: dict[Any, InverseResult] = {}


def lagrangian(
    equations: Any,
    coordinates: Any = None,
    *,
    kind: Kind = "regular",
    ansatz: Sequence[Any] | None = None,
    several: int = 1,
    velocities: Any = None,
    seconds: float = 60.0,
    progress: Report = None,
) -> InverseResult:
    """A Lagrangian whose Euler-Lagrange equations are the given ones times a matrix, `E(L) = B F` with det B not zero.

    equations:    a list of expressions or SymPy equations, one for each coordinate, solved for the accelerations or not; or a
                  System, whose forces and dissipation count
    coordinates:  the coordinates, in the order of the equations
    kind:         "regular": the accelerations follow from L. "degenerate": exactly these equations (B = 1), which need not
                  determine all accelerations. "birkhoff": equations of first order, L = a_k(q, t) v_k - U(q, t)
    ansatz:       functions of time, positions and velocities: only multipliers d2L/dv dv whose entries are combinations of
                  these are looked for. That there are none among them proves nothing more
    several:      how many regular Lagrangians are looked for whose multipliers are linearly independent; those after the
                  first are `.others`. That fewer are found does not prove that there are no more
    velocities:   {u: x.dot*cos(phi) + ...} quasi-velocities, where the equations are written with u and u.dot; the result
                  has `.frame_lagrangian` besides
    seconds:      how long the search may take in all
    progress:     True or False shows a line or not; or a function called with the name of each part of the search

    Verdicts hold for generic values of the parameters and locally, on an open dense set of states.
    """
    if kind not in KINDS:
        raise ModelError(f"lagrangian: kind={told(kind)}. Expected one of {', '.join(map(repr, KINDS))}.")
    given = given_equations(equations, coordinates, "lagrangian", velocities)
    functions = None if ansatz is None else _functions(ansatz, given)
    if functions is not None and kind != "regular":
        raise ModelError(f"lagrangian: ansatz= is for regular Lagrangians, and kind={kind!r} was given. Leave one out.")
    if isinstance(several, bool) or not isinstance(several, int) or several < 1 or (several > 1 and kind != "regular"):
        raise ModelError(
            f"lagrangian: several={told(several)} for kind={kind!r}. Expected how many regular Lagrangians are looked for, "
            "such as several=2; of another kind one is found."
        )
    key = (given, kind, functions, several)
    if key not in _KNOWN:
        search = Search(seconds, progress)
        try:
            found = _found(given, kind, functions, several, search)
        finally:
            search.end()
        if search.is_spent or (found.lagrangian is None and found.exists is not False):  # more time may find more
            return found
        if len(_KNOWN) > 256:
            _KNOWN.clear()
        _KNOWN[key] = found
    return _KNOWN[key]


def _functions(ansatz: Any, given: GivenEquations) -> tuple[Expr, ...]:
    if isinstance(ansatz, str | bytes) or not isinstance(ansatz, list | tuple) or not ansatz:
        raise ModelError(f"lagrangian: ansatz={told(ansatz)}. Expected a list of functions, such as [1, x, x.dot**2].")
    known = {s for q in given.coordinates for s in (q, q.dot)}
    return tuple(checks.symbols(checks.expression(e, "ansatz"), known, "ansatz") for e in ansatz)


def _found(
    given: GivenEquations, kind: Kind, functions: tuple[Expr, ...] | None, several: int, search: Search
) -> InverseResult:
    found: list[InverseResult] = []
    answer = _Answer(given, search, several > 1)
    search.call_whole(_collect, found, _answers(answer, kind, functions), several)
    if not found:
        return _undecided(given, search, answer.case, "The time for the search is spent; seconds= gives it more.")
    first, *others = found
    return replace(first, others=tuple(others))


def _collect(found: list[InverseResult], answers: Iterator[InverseResult], several: int) -> None:
    """The first answers with a Lagrangian; or the first one, if it has none."""
    for answer in answers:
        if answer.lagrangian is not None or not found:
            found.append(answer)
        if answer.lagrangian is None or len(found) == several:
            return


def _answers(answer: _Answer, kind: Kind, functions: tuple[Expr, ...] | None) -> Iterator[InverseResult]:
    """Answers with Lagrangians, as they are found; after the last one, or where there is none, one that says why."""
    given, search = answer.given, answer.search
    if kind != "regular":
        yield birkhoffian(given, search) if kind == "birkhoff" else degenerate(given, search)
        return
    if given.is_first_order:
        raise ModelError(
            "lagrangian: no acceleration occurs in these equations, so they are of first order. Expected equations of second "
            'order; for a Lagrangian linear in the velocities type kind="birkhoff".'
        )
    if not given.is_affine:
        raise ModelError(
            "lagrangian: the accelerations do not occur linearly. Expected equations linear in them; solve the equations for "
            f"{given.coordinates[0]}.ddot first and choose one of the solutions."
        )
    yield from answer.every() if functions is None else answer.in_ansatz(functions)


class _Answer:
    """The parts of the search, in order. Each gives Lagrangians whose multipliers do not depend linearly on those before."""

    def __init__(self, given: GivenEquations, search: Search, several: bool):
        self.given, self.search, self.several, self.case = given, search, several, ""
        self._hessians: list[list[Fast]] = []
        self._exists = ""

    @property
    def flow(self) -> Flow:
        return self.given.flow

    def every(self) -> Iterator[InverseResult]:
        yield from self._as_given()
        yield from self._one_degree() if self.flow.n == 1 else self._several_degrees()

    def _as_given(self) -> Iterator[InverseResult]:
        """The equations may be those of a Lagrangian as they stand."""
        self.search.begin("the equations as they stand")
        if is_self_conjugate(self.given):
            L = attempt(self.search, lagrangian_of, self.given, self.search)
            yield from self._verified(L, "The equations satisfy Helmholtz' conditions as they stand.")

    def _one_degree(self) -> Iterator[InverseResult]:
        self.search.begin("last multipliers")
        for S in logarithms(self.flow, self.search):
            M = sympy.powsimp(sympy.exp(sympy.expand(S)))
            yield from self._from_multiplier(
                Matrix([[M]]), "The multiplier of the solved equation is Jacobi's last multiplier."
            )
        yield InverseResult(
            self.given, None, True,
            "An equation of one degree of freedom has a Lagrangian near every state where it is regular (Darboux), but no "
            f"last multiplier was found whose quadratures could be done. Searched: {', '.join(self.search.searched)}.",
            searched=tuple(self.search.searched),
        )  # fmt: skip

    def _several_degrees(self) -> Iterator[InverseResult]:
        self.search.begin("algebraic conditions on multipliers")
        conditions = AlgebraicConditions(self.flow)
        self.case = conditions.case
        if conditions.only_singular and conditions.points:
            yield self._none(conditions)
            return
        for g, how in self._still_multipliers(conditions):
            yield from self._from_multiplier(g, how)
        if conditions.freedom == 1:  # one direction, whose factor is unique up to a constant
            decided = False
            for found in () if self._hessians else self._one_direction(conditions):
                decided = True
                yield found
            if decided or self._hessians:
                return
        if not self._hessians and not self._exists:
            excluded = self._decided_by_derivatives(conditions)
            if excluded:
                yield self._refused(excluded)
                return
        for g, how in self._placed_multipliers(conditions):
            yield from self._from_multiplier(g, how)
        for L, how in self._state_dependent(conditions):
            yield from self._verified(L, how)
        yield self._not_found(conditions)

    def _still_multipliers(self, conditions: AlgebraicConditions) -> Iterator[tuple[Matrix, str]]:
        self.search.begin("constant multipliers")
        for g in multipliers(conditions, [sympy.S.One], self.search, self.several):
            yield g, "A constant matrix multiplies the solved equations."
        self.search.begin("multipliers that depend on time")
        functions = time_functions(self.flow, self.search)
        if functions:
            for g in multipliers(conditions, functions, self.search, self.several):
                yield g, "A matrix that depends on time multiplies the solved equations."

    def _placed_multipliers(self, conditions: AlgebraicConditions) -> Iterator[tuple[Matrix, str]]:
        self.search.begin("multipliers that depend on positions and time")
        for g in multipliers(conditions, position_functions(self.flow, self._prefactors()), self.search, self.several):
            yield g, "A matrix that depends on positions and time multiplies the solved equations."

    def _prefactors(self) -> list[Expr]:
        """1, and the N-th root of a last multiplier: the determinant of a multiplier matrix is the square of one."""
        for S in logarithms(self.flow, self.search):
            return list(
                dict.fromkeys(
                    [sympy.S.One, *(sympy.powsimp(sympy.exp(sympy.expand(S * c))) for c in _shares(self.flow.n))]
                )
            )
        return [sympy.S.One]

    def _one_direction(self, conditions: AlgebraicConditions) -> Iterator[InverseResult]:
        """A Lagrangian, or that there is none or one whose quadratures were not done; nothing if that was not decided."""
        self.search.begin("the one direction that the algebraic conditions leave")
        direction = one_direction(conditions, self.search)
        obstacle = None if direction is None else attempt(self.search, lambda: direction.obstacle)
        if direction is None or obstacle is None:
            return
        if obstacle:
            yield self._refused(
                f"The algebraic conditions fix the multiplier up to a factor, and there is no factor: {obstacle}. So no "
                "multiplier g(t, q, v) exists."
            )
            return
        self._exists = "The algebraic conditions fix the multiplier up to a factor, and this factor exists"
        mu = attempt(self.search, direction.factor, self.search)
        if mu is not None:
            g = Matrix(
                [
                    [sympy.powsimp(mu * sympy.sympify(e)) for e in row]
                    for row in symmetric(direction.entries, self.flow.n)
                ]
            )
            how = "The algebraic conditions fix the multiplier up to a factor, which follows from them by a quadrature."
            yield from self._from_multiplier(g, how)

    def _decided_by_derivatives(self, conditions: AlgebraicConditions) -> str:
        """Why there is no multiplier; or empty, and that there is one is noted if that is proved."""
        self.search.begin("derivatives of the conditions on multipliers")
        verdict = DifferentialConditions(conditions).verdict(self.search)
        if verdict is None:
            return ""
        said, order = verdict
        times = f"with their derivatives up to order {order}"
        if said == "none":
            return f"The conditions on multipliers {times} leave singular matrices only."
        self._exists = (
            f"The conditions on multipliers {times} are involutive, so there is a Lagrangian near states in general"
        )
        self._exists += " position (Cartan and Kaehler, for analytic equations)"
        return ""

    def _state_dependent(self, conditions: AlgebraicConditions) -> Iterator[tuple[Expr, str]]:
        for name, functions in lagrangian_functions(self.flow, self._prefactors()):
            self.search.begin(f"Lagrangians that are combinations of {name}")
            for L in lagrangians(self.flow, functions, self.search):
                yield L, f"It is a combination of {name}."

    def in_ansatz(self, functions: tuple[Expr, ...]) -> Iterator[InverseResult]:
        """Those whose multipliers are combinations of given functions."""
        conditions = AlgebraicConditions(self.flow)
        self.case = conditions.case
        self.search.begin(f"multipliers whose entries are combinations of {', '.join(map(str, functions))}")
        for g in multipliers(conditions, functions, self.search, self.several):
            yield from self._from_multiplier(g, "The multiplier is in the ansatz.")
        yield _undecided(
            self.given, self.search, self.case,
            "The ansatz contains no multiplier. That proves nothing: there may be a Lagrangian with another one; leave "
            "ansatz= out to test whether there is any.",
        )  # fmt: skip

    # answers
    def _from_multiplier(self, g: Matrix, how: str) -> Iterator[InverseResult]:
        """The Lagrangian whose second derivatives by the velocities are g, if it is new and its quadratures can be done."""
        if not self._is_new([[fast(e) for e in g.row(i)] for i in range(self.flow.n)]):
            return
        q = self.given.coordinates
        solved = [x.ddot - f for x, f in zip(q, self.flow.accelerations, strict=True)]
        made = GivenEquations(tuple(g * Matrix(solved)), q, self.given.parameters, self.given.typed)
        yield from self._verified(attempt(self.search, lagrangian_of, made, self.search), how)

    def _verified(self, L: Expr | None, how: str) -> Iterator[InverseResult]:
        found = verified(L, self.given, how, self.case, self.search.searched)
        if found is not None and self._is_new(g := self.flow.hessian(L)):
            self._hessians.append([g[i][j] for i, j in pairs(self.flow.n)])
            yield found

    def _is_new(self, g: Square) -> bool:
        """Whether a multiplier is no combination, with constant coefficients, of those of the Lagrangians found."""
        columns = [*self._hessians, [g[i][j] for i, j in pairs(self.flow.n)]]
        return not self._hessians or are_independent(columns, self.flow.variables, self.search)

    def _refused(self, reason: str, obstruction: Expr | None = None) -> InverseResult:
        return InverseResult(self.given, None, False, reason, self.case, obstruction, tuple(self.search.searched))

    def _none(self, conditions: AlgebraicConditions) -> InverseResult:
        size, case = self.flow.n * (self.flow.n + 1) // 2, f" (Douglas' case {self.case})" if self.case else ""
        equations = (
            f"{conditions.rank} independent linear equations hold for the {size} entries of every multiplier{case}"
        )
        if conditions.freedom == 0:
            return self._refused(f"{equations}, so all of them are zero.", self._obstruction(conditions))
        return self._refused(f"{equations}, and every matrix that satisfies them is singular.")

    def _obstruction(self, conditions: AlgebraicConditions) -> Expr | None:
        if conditions.case != "IV":
            return None
        det = attempt(self.search, lambda: conditions.determinant)  # the proof stands without its formula
        return attempt(self.search, sympy.factor, det) if det is not None and det.count_ops() < 3000 else None

    def _not_found(self, conditions: AlgebraicConditions) -> InverseResult:
        if self._exists:
            reason = f"{self._exists}, but none was found in closed form. Searched: {'; '.join(self.search.searched)}."
            return InverseResult(self.given, None, True, reason, self.case, None, tuple(self.search.searched))
        return _undecided(
            self.given, self.search, self.case,
            f"The algebraic conditions leave {conditions.freedom} function{'s' * (conditions.freedom > 1)} free, so they do "
            "not exclude a Lagrangian. That none was found proves nothing.",
        )  # fmt: skip


def _undecided(given: GivenEquations, search: Search, case: str, why: str) -> InverseResult:
    return InverseResult(
        given, None, None, f"{why} Searched: {'; '.join(search.searched)}.", case, None, tuple(search.searched)
    )


def _shares(n: int) -> tuple[sympy.Rational, ...]:
    """Powers of a last multiplier that are tried as factors of multiplier matrices."""
    return (sympy.Rational(1, n), sympy.S.One, sympy.Rational(2, n))
