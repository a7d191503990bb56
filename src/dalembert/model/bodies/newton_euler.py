"""Newton's and Euler's balances, written without energies: force = mass times acceleration, torque = rate of spin.

Two uses. Projected on virtual displacements they give d'Alembert's residual, which must equal Lagrange's equations. With
unknown reactions they are solved for accelerations and reactions together, as a check of Lagrange's multipliers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import sympy
from sympy import Eq, Expr

from ...decide.balls import values
from ...decide.elimination import rank
from ...decide.sample import points_on
from ...display import Part, Shown, Table
from ...errors import ModelError, told
from ...numbers import by_name, joined
from ...symbolic import fast, free_names, jacobian, number, substitute
from ..coordinates import Coordinate, Multiplier, Parameter, multiplier, time
from .joints import Clamp, Contact
from .kinematics import Vector, cross, minus, plus, rate, times
from .loads import Effort
from .particles import Body

if TYPE_CHECKING:
    from .assembly import Assembly


def virtual_work(efforts: Sequence[Effort], coordinates: Sequence[Coordinate]) -> dict[Coordinate, Expr]:
    """Q_j = sum of f . dv/d(q_j.dot): the coefficient of the displacement of each coordinate in the virtual work."""
    pairs = [(f, v) for e in efforts for f, v in zip(e.value, e.rates, strict=True) if f != 0]
    return {q: sympy.Add(*(f * v.diff(q.dot) for f, v in pairs)) for q in coordinates}


def inertia(bodies: Sequence[Body]) -> list[Effort]:
    """Mass times acceleration, and the rate of angular momentum, as efforts on the velocities they go with."""
    linear = [Effort(b.momentum_rate, b.velocity) for b in bodies]
    return linear + [Effort(b.angular_momentum_rate, b.spin) for b in bodies if b.spin]


@dataclass(frozen=True, repr=False)
class NewtonEuler(Shown):
    """Force and moment balance of every body with unknown reactions, and the constraints differentiated.

    `residuals` vanish along a motion; they are linear in accelerations and reactions. `reactions` are the unknown
    components, in the order in which the contacts were given: multiplier(1), multiplier(2), ...; `joints` gives the
    contact of each.
    """

    name: str
    coordinates: tuple[Coordinate, ...]
    reactions: tuple[Multiplier, ...]
    residuals: tuple[Expr, ...]
    labels: tuple[str, ...]
    joints: tuple[str, ...] = ()

    @property
    def unknowns(self) -> tuple[sympy.Symbol, ...]:
        """The accelerations, then the reactions."""
        return (*(q.ddot for q in self.coordinates), *self.reactions)

    def solve(self, at: Mapping[Any, float], parameters: Mapping[Any, float]) -> Balance:
        """Accelerations and reactions at a state: positions, velocities, time where it occurs, and parameters."""
        import numpy as np

        known = {time, *self.coordinates, *(q.dot for q in self.coordinates)}
        given = joined(at, parameters, self.name)
        known |= {s for r in self.residuals for s in r.free_symbols if isinstance(s, Parameter)}
        known |= {s for s in given if isinstance(s, Parameter)}  # some do not occur in the balances
        values = {time.name: 0.0} | by_name(given, known, self.name)
        rows = [substitute(fast(r), {sympy.Symbol(k): v for k, v in values.items()}) for r in self.residuals]
        matrix = jacobian(rows, self.unknowns)
        zero = dict.fromkeys(map(fast, self.unknowns), 0)
        missing = free_names([*(e for row in matrix for e in row), *(r.subs(zero) for r in rows)])
        if missing:
            names = ", ".join(sorted(missing))
            raise ModelError(
                f"{self.name}: no value was given for {names}. Give at={{x: ..., x.dot: ...}} and parameters."
            )
        m = np.array([[number(e, {}) for e in row] for row in matrix], dtype=float)
        right = np.array([-number(r.subs(zero), {}) for r in rows], dtype=float)
        found = dict(zip(self.unknowns, self.solved(m, right).tolist(), strict=True))
        accelerations = {q: found.pop(q.ddot) for q in self.coordinates}
        return Balance(accelerations, tuple(found.values()), self.joints)

    def solved(self, m: Any, right: Any) -> Any:
        """The solution u of m u = right at one state, m being the derivatives of the residuals by the unknowns."""
        import numpy as np

        rows_by, columns_by = _scales(m)
        scaled = m / rows_by[:, None] / columns_by
        found, _, rank, _ = np.linalg.lstsq(scaled, right / rows_by, rcond=1e-11)
        if rank < len(self.unknowns):
            raise ModelError(
                f"{self.name}: the balances do not determine the {len(self.unknowns)} unknown accelerations and reactions, "
                f"only {rank} combinations of them. Leave out reactions that are statically indeterminate."
            )
        # A balance whose own terms are all small is compared with the others, each in units of its largest coefficient.
        terms = np.abs(scaled) @ np.abs(found) + np.abs(right) / rows_by
        if (np.abs(scaled @ found - right / rows_by) > 1e-8 * (terms + 1e-3 * terms.max())).any():
            raise ModelError(
                f"{self.name}: the balances contradict each other. A reaction is missing: each contact that the positions "
                f"or the constraints contain needs its Contact(...)."
            )
        return found / columns_by

    def _parts(self) -> Sequence[Part]:
        equations = [(label, Eq(r, 0, evaluate=False)) for label, r in zip(self.labels, self.residuals, strict=True)]
        unknown = [(str(s), joint) for s, joint in zip(self.reactions, self.joints, strict=True)]
        table = [Table(("reaction", "what it is"), unknown)] if unknown else []
        return [f"{self.name}: balances of force and moment", *equations, *table]


def _scales(matrix: Any) -> tuple[Any, Any]:
    """Scales of rows and columns that bring the largest entry of each near one, so that units do not matter."""
    import numpy as np

    rows, columns = np.ones(matrix.shape[0]), np.ones(matrix.shape[1])
    for _ in range(8):
        entries = np.abs(matrix) / rows[:, None] / columns
        by_row, by_column = (np.where(a > 0, a, 1.0) for a in (entries.max(axis=1), entries.max(axis=0)))
        rows, columns = rows * np.sqrt(by_row), columns * np.sqrt(by_column)
    return rows, columns


@dataclass(frozen=True, repr=False)
class Balance(Shown):
    """The solution of the balances at a state; `joints` names each reaction."""

    accelerations: dict[Coordinate, float]
    reactions: tuple[float, ...]
    joints: tuple[str, ...] = ()

    def _parts(self) -> Sequence[Part]:
        found = [(str(q.ddot), f"{a:.10g}") for q, a in self.accelerations.items()]
        return [
            Table(
                ("", "value"), [*found, *((j, f"{r:.10g}") for j, r in zip(self.joints, self.reactions, strict=True))]
            )
        ]


def newton_euler(assembly: Assembly, reactions: Sequence[Contact | Clamp]) -> NewtonEuler:
    """The balances of all bodies of an assembly with these reactions."""
    found, unknowns, joints = _reaction_efforts(assembly, reactions)
    active = [e for load in assembly.loads for e in load.efforts(assembly.bodies)]
    for e in active:
        if e.body is None and any(v != 0 for v in e.rates):
            raise ModelError(
                f"{assembly.name}: a load does not say on which body it acts ({e.value[0]} works on {e.rates[0]}). Give it a "
                f"body or a point of one, body.point([a, b]), for balances of force and moment."
            )
    rows: list[tuple[str, Expr]] = []
    for k, body in enumerate(assembly.bodies):
        force, moment = _total([*active, *found], body)
        label = f"{body.shown} {k + 1}"
        rows += [(f"{label}, force", a - f) for a, f in zip(body.momentum_rate, force, strict=True)]
        rows += [(f"{label}, moment", a - n) for a, n in zip(body.angular_momentum_rate, moment, strict=False)]
    for c in assembly.rows:
        rows.append(("constraint", rate(c.velocity_form(assembly.coordinates))))
    made = NewtonEuler(
        assembly.name, assembly.coordinates, tuple(unknowns), tuple(r for _, r in rows), tuple(k for k, _ in rows),
        tuple(joints),
    )  # fmt: skip
    _refuse_false(made, assembly)
    return made


def _refuse_false(balances: NewtonEuler, assembly: Assembly) -> None:
    """Refuse balances that no accelerations and reactions satisfy: where the positions or constraints need a reaction
    that is not among those given, force is not mass times acceleration."""
    q, v = assembly.coordinates, [c.dot for c in assembly.coordinates]
    held = [c.expression for c in assembly.rows if c.is_holonomic] + [c.velocity_form(q) for c in assembly.rows]
    rows = [fast(r) for r in balances.residuals]
    slopes = jacobian(rows, balances.unknowns)
    rest = [substitute(r, dict.fromkeys(balances.unknowns, 0)) for r in rows]
    moving = [s.name for s in (*q, *v)]
    others = free_names([*rows, *map(fast, held)]) - {*moving, *(s.name for s in balances.unknowns)}
    for point in points_on(held, moving, sorted(others), count=3):
        grid = values([[*row, b] for row, b in zip(slopes, rest, strict=True)], point)
        if grid is None or rank(grid) == rank([row[:-1] for row in grid]):
            continue
        sought = [k for k, s in enumerate(balances.unknowns) if s in balances.reactions]
        given = rank([[row[k] for k in sought] for row in grid]) if balances.reactions else 0
        missing = len([r for r in rows if r != 0]) - len(q) - given
        raise ModelError(
            f"{balances.name}: the balances contradict each other. A reaction is missing: there are "
            f"{len(rows)} balances, {len(balances.unknowns)} unknowns, {max(1, missing)} more needed. Each contact "
            f"that the positions or the constraints contain needs its Contact(body, at, along) or Clamp(body)."
        )


def _reaction_efforts(
    assembly: Assembly, reactions: Sequence[Contact | Clamp]
) -> tuple[list[Effort], list[Multiplier], list[str]]:
    """The forces and torques of the reactions, their unknown components, and the name of each."""
    found: list[Effort] = []
    unknowns: list[Multiplier] = []
    joints: list[str] = []

    def pair(value: Vector, on: Body, by: Body | None, at: Vector | None) -> None:
        found.append(Effort(value, (), on, at))
        if by is not None:
            found.append(Effort(times(-1, value), (), by, at))

    def unknown(joint: str) -> Multiplier:
        unknowns.append(multiplier(len(unknowns) + 1))
        joints.append(joint)
        return unknowns[-1]

    for k, r in enumerate(_several(reactions)):
        label = f"{r.name or f'{type(r).__name__} {k + 1}'} on {_numbered(assembly, r.on)}"
        label += "" if r.by is None else f" by {_numbered(assembly, r.by)}"
        if isinstance(r, Contact):
            for direction in r.along or ():
                joint = f"{label}, force along [{', '.join(map(str, direction))}]"
                pair(times(unknown(joint), direction), r.on, r.by, r.at)
        else:
            axes = ("",) if len(r.on.spin) == 1 else (" about x", " about y", " about z")
            pair(tuple(unknown(f"{label}, torque{axis}") for axis in axes), r.on, r.by, None)
    return found, unknowns, joints


def _several(given: Any) -> list[Contact | Clamp]:
    listed = [given] if isinstance(given, Contact | Clamp) else given
    if not isinstance(listed, Sequence) or isinstance(listed, str):
        raise ModelError(
            f"newton_euler: got {told(given)}. Expected a list of reactions: [Contact(body, at, along), ...]."
        )
    for r in listed:
        if not isinstance(r, Contact | Clamp):
            raise ModelError(
                f"newton_euler: got a {type(r).__name__}. Expected a reaction: Contact(body, at, along) or Clamp(body)."
            )
    return list(listed)


def _numbered(assembly: Assembly, body: Body) -> str:
    """A body and its number in the assembly."""
    for k, other in enumerate(assembly.bodies):
        if other is body:
            return f"{body.shown} {k + 1}"
    raise ModelError(
        f"newton_euler: a reaction acts on a {body.shown} that is not in {assembly.name}. Use the bodies it was made of."
    )


def _total(efforts: Sequence[Effort], body: Body) -> tuple[Vector, Vector]:
    """The sum of forces on a body, and of moments about its mass centre."""
    n = body.dimension
    force: Vector = (sympy.S.Zero,) * n
    moment: Vector = (sympy.S.Zero,) * (1 if n == 2 else 3)
    for e in efforts:
        if e.body is not body:
            continue
        if e.position is None:
            moment = plus(moment, e.value)
        else:
            force = plus(force, e.value)
            moment = plus(moment, cross(minus(e.position, body.centre), e.value))
    return force, moment
