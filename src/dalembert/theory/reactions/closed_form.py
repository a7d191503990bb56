"""Reactions of constraints in closed form.

With m the mass matrix, the equations of motion and the constraints differentiated until accelerations occur are

    m a = f + omega^T lambda,        A a + C = 0,        f = F + dL/dq - (the terms of d/dt dL/dv besides m a)

so that the multipliers solve a small system (F. Verheest, N. Van den Berg, Eur. J. Phys. 14 (1993) 217):

    M lambda = D,        M = A m^-1 omega^T,        D = -(C + A m^-1 f).

For ideal constraints omega = A, and M is symmetric and positive definite exactly if the rows of A are independent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import sympy
from sympy import Expr, Symbol

from ...decide.budget import Budget
from ...decide.zero import vanishes
from ...display import Part, Shown, Table
from ...errors import ModelError, StartError
from ...model.bodies.assembly import system_of
from ...model.coordinates import Coordinate
from ...model.heat import mechanical
from ...model.system import System
from ...numbers import joined, positive
from ...symbolic import Fast, number
from ..admissible_states import states_on
from ..algebra import linear_solution, tidy
from ..motion.lagrange import multipliers, parted, readable
from . import virtual_work as virtual
from .virtual_work import VirtualWork, brief, vanishes_on

LARGEST = 4000
"""Operations in a linear system above which no closed form is attempted."""


@dataclass(frozen=True, repr=False)
class Reactions(Shown):
    """The reactions of a system: multipliers in closed form, generalised reaction forces, and checks.

    Coordinates that a constraint holds at a given value (`held`: rho = R after `rho - R`) are set to that value in every
    formula. Keys of `multipliers` are the constraints, as expressions.
    """

    system: System
    seconds: float = 5.0
    """Seconds that the closed form may take."""

    @cached_property
    def held(self) -> dict[Symbol, Expr]:
        """Coordinates and velocities that a constraint fixes by itself, as functions of time."""
        return virtual.held(self.system)

    @cached_property
    def _pieces(self) -> dict[str, list[list[Fast]]]:
        return virtual.linear_pieces(self.system, self.held)

    def _matrix(self, name: str) -> sympy.Matrix:
        """One of the matrices in SymPy; without constraints some have no rows but keep their columns."""
        rows = self._pieces[name]
        width = 1 if name in ("load", "hidden") else len(self.system.coordinates)
        return sympy.Matrix(len(rows), width, [readable(e, self.system) for row in rows for e in row])

    def _solution(self, matrix: sympy.Matrix, right: sympy.Matrix) -> list[Expr] | None:
        """Row by row; None if the system is large, singular, or takes too long."""
        if sympy.count_ops(matrix) + sympy.count_ops(right) > LARGEST:
            return None
        return Budget(seconds=self.seconds).call(linear_solution, matrix, right)

    @cached_property
    def _small_system(self) -> tuple[sympy.Matrix, sympy.Matrix] | None:
        k, A = len(self.system.constraints), self._matrix("rows")
        right = self._matrix("forms").T.row_join(self._matrix("load"))
        solved = self._solution(self._matrix("mass").applyfunc(tidy), right)
        if solved is None:
            return None
        by_mass = sympy.Matrix(len(self.system.coordinates), k + 1, solved)
        M, D = A * by_mass[:, :k], -(self._matrix("hidden") + A * by_mass[:, k])
        return M.applyfunc(tidy), D.applyfunc(tidy)

    @property
    def M(self) -> sympy.Matrix | None:
        """A m^-1 omega^T; None where the mass matrix has no inverse in closed form."""
        return self._small_system and self._small_system[0]

    @property
    def D(self) -> sympy.Matrix | None:
        """-(C + A m^-1 f), a column; None where the mass matrix has no inverse in closed form."""
        return self._small_system and self._small_system[1]

    @cached_property
    def _solved(self) -> list[Expr] | None:
        """The multipliers, last; None if that takes too long, or if the result does not solve the equations."""
        if not self.system.constraints:
            return []
        matrix, right = self._small_system or self._bordered
        found = self._solution(matrix, right)
        if found is None or not all(vanishes(e) for e in matrix * sympy.Matrix(found) - right):
            return None
        return [tidy(e) for e in found]

    @property
    def _bordered(self) -> tuple[sympy.Matrix, sympy.Matrix]:
        """For accelerations and multipliers at once, where the mass matrix is singular without the constraints."""
        mass, forms, rows = (self._matrix(name) for name in ("mass", "forms", "rows"))
        matrix = mass.row_join(-forms.T).col_join(rows.row_join(sympy.zeros(rows.shape[0])))
        return matrix, self._matrix("load").col_join(-self._matrix("hidden"))

    @cached_property
    def is_closed(self) -> bool:
        """Whether multipliers and accelerations were found in closed form."""
        return self._solved is not None and self._rates is not None

    @property
    def _left_out(self) -> str:
        return (
            f"{self.system.name}: the closed form of the reactions is left out: it is too large, or takes more than "
            f"{self.seconds:g} s. For numbers write reactions(system).at(state, parameters); to wait longer, "
            f"reactions(system, seconds={4 * self.seconds:g})."
        )

    @cached_property
    def multipliers(self) -> dict[Expr, Expr]:
        """{constraint: its multiplier}, as functions of positions, velocities and time."""
        if self._solved is None:
            raise ModelError(self._left_out)
        names = [c.expression for c in self.system.constraints]
        return dict(zip(names, self._solved[len(self._solved) - len(names) :], strict=True))

    @cached_property
    def by_constraint(self) -> dict[Expr, dict[Coordinate, Expr]]:
        """{constraint: {coordinate: reaction}}, the part lambda_a omega^a of each constraint."""
        forms = self._matrix("forms")
        parts = [[m * a for a in forms.row(i)] for i, m in enumerate(self.multipliers.values())]
        rows = [dict(zip(self.system.coordinates, part, strict=True)) for part in parts]
        return dict(zip(self.multipliers, rows, strict=True))

    @cached_property
    def forces(self) -> dict[Coordinate, Expr]:
        """{coordinate: generalised reaction}, the sum over all constraints."""
        return {q: tidy(sympy.Add(*(p[q] for p in self.by_constraint.values()))) for q in self.system.coordinates}

    @cached_property
    def _rates(self) -> list[Expr] | None:
        if self.system.constraints and self._small_system is None:
            return self._solved
        total = self._matrix("load") + sympy.Matrix([self.forces[c] for c in self.system.coordinates])
        return self._solution(self._matrix("mass"), total)

    @cached_property
    def accelerations(self) -> dict[Coordinate, Expr]:
        """m^-1 (f + omega^T lambda)."""
        if self._rates is None:
            raise ModelError(self._left_out)
        return {q: tidy(e) for q, e in zip(self.system.coordinates, self._rates, strict=False)}

    @cached_property
    def power(self) -> Expr:
        """The real power of the reactions on the constraints: -lambda_a b^a if they are ideal."""
        total = sympy.S.Zero
        for m, c, w in zip(self.multipliers.values(), self.system.constraints, self.system.variations, strict=True):
            along = sum((a * v for a, v in zip(w, self.system.velocities, strict=True)), start=sympy.S.Zero)
            total += m * (-c.drift if self.system.is_ideal else along).xreplace(self.held)
        return tidy(total)

    # checks

    @cached_property
    def does_work(self) -> bool:
        """Whether the reactions have a real power somewhere on the constraints."""
        return not vanishes_on(self.system, self.power)

    @cached_property
    def is_positive_definite(self) -> bool:
        """Whether the mass matrix and M are symmetric and positive definite, at random states on the constraints."""
        import numpy as np

        def positive(matrix: Any) -> bool:
            diagonal = np.diag(matrix)
            if not (diagonal > 0).all():
                return False
            unit = np.sqrt(diagonal)  # with ones on the diagonal, units do not matter
            scaled = matrix / np.outer(unit, unit)
            symmetric = np.abs(scaled - scaled.T).max() <= 1e-9
            return bool(symmetric and np.linalg.eigvalsh(scaled).min() > 1e-13)

        names = [p.name for p in self.system.parameters]
        states = states_on(self.system.constraints, self.system.coordinates, names)
        points = [self._numbers({name: float(x) for name, x in state.items()}) for state in states]
        sound = [p for p in points if all(np.isfinite(piece).all() for piece in p.values())]
        return bool(self.system.constraints and sound) and all(
            positive(p["mass"]) and positive(p["rows"] @ np.linalg.solve(p["mass"], p["forms"].T)) for p in sound
        )

    @cached_property
    def keeps_constraints(self) -> bool:
        """Whether A a + C vanishes for the accelerations found, so that the constraints stay satisfied."""
        left = self._matrix("rows") * sympy.Matrix(list(self.accelerations.values())) + self._matrix("hidden")
        return all(vanishes(e) for e in left)

    def virtual_work(self, forces: Mapping[Coordinate, Any] | None = None) -> VirtualWork:
        """The virtual work of the reactions, or of other generalised forces {x: expression}; see `VirtualWork`."""
        return virtual.virtual_work(self.system, self.forces if forces is None else forces)

    def residual(self, accelerations: Any = None, forces: Mapping[Coordinate, Any] | None = None) -> VirtualWork:
        """d'Alembert's residual (d/dt dL/dv - dL/dq - F) . w, with the accelerations found or with others."""
        a = self.accelerations if accelerations is None else accelerations
        return virtual.dalembert_residual(self.system, a, forces)

    # numbers

    def _numbers(self, state: Mapping[str, float]) -> dict[str, Any]:
        import numpy as np

        pieces = {k: [[number(e, state) for e in row] for row in rows] for k, rows in self._pieces.items()}
        columns = {"load": 1, "hidden": 1}
        wide = len(self.system.coordinates)
        return {k: np.array(rows, float).reshape(len(rows), columns.get(k, wide)) for k, rows in pieces.items()}

    def at(self, state: Mapping[Any, Any], parameters: Mapping[Any, Any] | None = None) -> ReactionNumbers:
        """The numbers at one state {x: ..., x.dot: ..., dalembert.time: ...}, also where there is no closed form.

        Velocities that the constraints determine may be left out, and time where nothing depends on it.
        """
        import numpy as np

        at = virtual.complete_state(self.system, joined(state, parameters, "reactions"), "reactions")
        p = self._numbers(at)
        solution = _accelerations_and_multipliers(p)
        if not np.isfinite(solution).all():
            raise StartError(
                "reactions: not determined at this state: the matrix is singular, or an expression has no value there."
            )
        values = parted(self.system, solution)[1]
        forces = values @ p["forms"]
        velocity = np.array([at[v.name] for v in self.system.velocities])
        return ReactionNumbers(
            dict(zip((c.expression for c in self.system.constraints), values.tolist(), strict=True)),
            dict(zip(self.system.coordinates, forces.tolist(), strict=True)),
            float(forces @ velocity),
        )

    def _parts(self) -> Sequence[Part]:
        s = self.system
        if not s.constraints:
            return [f"{s.name}: there are no constraints, so there are no reactions."]
        if self._solved is None:
            return [f"{s.name}: reactions of {len(s.constraints)} constraint(s)", self._left_out]
        parts: list[Part] = [f"{s.name}: reactions"]
        if self.held:
            parts.append("with " + ", ".join(f"{q} = {e}" for q, e in self.held.items()))
        rows = zip(multipliers(s), self.multipliers.items(), strict=True)
        parts += [brief(f"{m}, of {c} = 0", e) for m, (c, e) in rows]
        parts += [brief(f"reaction on {q}", e) for q, e in self.forces.items() if e != 0]
        parts += [brief("power of the reactions", self.power)] if self.does_work else []
        moving = "moves" if any(c.moves for c in s.constraints) else "is not homogeneous in the velocities"
        why = f"a constraint {moving}" if s.is_ideal else "the variations are not those of the constraints"
        work = f"they do work, because {why}" if self.does_work else "they do no work"
        idle = "no virtual work" if self.virtual_work().is_zero else "virtual work"
        return [
            *parts,
            f"The reactions do {idle}; {work}.",
            "A multiplier belongs to its constraint as it is written: of twice the constraint it is half. "
            "The reaction does not depend on that.",
        ]


def _accelerations_and_multipliers(p: Mapping[str, Any]) -> Any:
    """The solution of  m a - omega^T lambda = f,  A a = -C  at one state; not-a-number where it is not determined.

    Coordinates count in units in which their masses are one, constraints in units in which their rows are.
    """
    import numpy as np

    def inverse(sizes: Any) -> Any:
        return 1 / np.where(sizes > 0, sizes, 1.0)

    m, A, omega = p["mass"], p["rows"], p["forms"]
    inertia, reach = np.abs(np.diag(m)), np.abs(A).max(axis=0, initial=0)
    d = inverse(np.where(inertia > 0, np.sqrt(inertia), reach))
    r, w = (inverse(np.abs(rows * d).max(axis=1, initial=0)) for rows in (A, omega))
    border = np.block(
        [
            [d[:, None] * m * d, -(w[:, None] * omega * d).T],
            [r[:, None] * A * d, np.zeros((len(A), len(A)))],
        ]
    )
    right = np.concatenate([d * p["load"][:, 0], -r * p["hidden"][:, 0]])
    if not np.isfinite(border).all() or np.linalg.matrix_rank(border, tol=1e-13 * len(border)) < len(border):
        return right * np.nan
    return np.linalg.solve(border, right) * np.concatenate([d, w])


@dataclass(frozen=True, repr=False)
class ReactionNumbers(Shown):
    """Reactions at one state: {constraint: multiplier}, {coordinate: reaction}, and the power of all reactions."""

    multipliers: dict[Expr, float]
    forces: dict[Coordinate, float]
    power: float

    def _parts(self) -> Sequence[Part]:
        if not self.multipliers:
            return ["There are no constraints, so there are no reactions."]
        rows = [(f"lambda_{k + 1}, of {c} = 0", m) for k, (c, m) in enumerate(self.multipliers.items())]
        rows += [(f"reaction on {q}", f) for q, f in self.forces.items()]
        return ["reactions at one state", Table(("what", "value"), [*rows, ("power of the reactions", self.power)])]


def reactions(system: System, *, seconds: float = 5.0) -> Reactions:
    """The reactions of the constraints of a system: closed form, checks, and numbers at a state; see `Reactions`.

    The reaction of a constraint that is built into the coordinates is found by releasing it: state the system with the
    coordinate that was left out, and constrain that coordinate (`rho - R`).
    """
    system = system_of(system, "reactions")
    mechanical(system, "reactions")
    return Reactions(system, positive(seconds, "reactions: seconds"))
