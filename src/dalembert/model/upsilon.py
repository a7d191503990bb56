"""Upsilon: one stationary action with variations that do not commute with d/dt, so that they keep every constraint.

With Lagrange's derivative E_k(f) = d/dt df/dv^k - df/dx^k, momenta p = dL/dv and rows P_a = dchi_a/dv the motions obey

    E_k(L) = F_k + lambda_a P_a,k + c_b E_k(chi_b) + Phi_k,    chi_a = 0.

The numbers c are the components of p along the rows: its nearest combination in the metric d2L/dv2 for constraints alone
(Gram's matrix c_b P_a G^-1 P_b = P_a G^-1 p), and p = c_b dchi_b/dv where further functions complete the constraints to
as many as there are coordinates. R. Ramirez, Sobre los sistemas mecanicos con enlaces, 1990, theorems 3.1 and 3.2.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from sympy import Expr, S

from ..decide import balls
from ..decide.elimination import highest_rank, rank
from ..decide.sample import points_on
from ..decide.zero import vanishes
from ..errors import ModelError, told
from ..symbolic import Fast, fast, free_names, gradient, jacobian, substitute, total
from .constraints import Constraint
from .coordinates import Coordinate, time
from .principle import Place, Principle, Rows
from .space import frame

if TYPE_CHECKING:
    from ..theory.models.variation_fields import VariationFields
    from .system import System


class Upsilon(Principle):
    """The Upsilon model: variations and velocities have the bracket [w, v] = Upsilon, which keeps every constraint.

    functions:   {x: expression} the free functions Phi_k of the model, which may contain accelerations linearly; zero
                 where none is given (the minimal model)
    completion:  instead, functions of (q, v, t) that with the constraints are as many as there are coordinates; their
                 variations commute with d/dt along with those of the constraints

        d/dt dL/dv - dL/dq = F + lambda_a dchi_a/dv + c_b E(chi_b) + Phi,    E(f) = d/dt df/dv - df/dq

    The numbers c express the momentum by the rows dchi/dv. Where the constraints are homogeneous in the velocities and the
    Lagrangian is quadratic in them, the minimal model is d'Alembert's and Chetaev's. Elsewhere it is another model: what
    completes the constraints, and Phi, change the motion. Holonomic constraints act as in d'Alembert's principle.
    """

    keeps_constraints = True

    def __init__(self, functions: Mapping[Any, Any] | None = None, *, completion: Sequence[Any] = ()):
        if functions is not None and not isinstance(functions, Mapping):
            raise ModelError(
                f"Upsilon: got {told(functions)}. Expected the functions Phi as {{coordinate: expression}}, for example "
                f"Upsilon({{x: 0}}), or completion=[...]."
            )
        if isinstance(completion, Expr | str | Mapping):
            raise ModelError(
                f"Upsilon: completion={told(completion)} is no list. Write completion=[{told(completion)}]."
            )
        if functions and completion:
            raise ModelError(
                "Upsilon: give either the functions Phi or completion=[...], not both: what completes the constraints is "
                "a choice of Phi."
            )
        self.functions = tuple((functions or {}).items())
        self.completion = tuple(completion)

    def stated(self, coordinates: Sequence[Coordinate], checked: Callable[..., Expr]) -> Upsilon:
        """Itself with every expression checked."""
        held = dict.fromkeys(coordinates, S.Zero)
        for key, given in self.functions:
            if key not in held:
                raise ModelError(
                    f"Upsilon: {told(key)} is not a coordinate of this system. Its coordinates are "
                    f"{', '.join(q.name for q in coordinates)}."
                )
            held[key] = checked(given, f"function Phi of {key}", accelerations=True)
            rates = [q.ddot for q in coordinates]
            if not all(vanishes(e) for row in jacobian(gradient(held[key], rates), rates) for e in row):
                raise ModelError(f"Upsilon: the function Phi of {key} is not linear in the accelerations.")
        made = Upsilon({q: e for q, e in held.items() if e != 0})
        made.completion = tuple(checked(e, "completion") for e in self.completion)
        return made

    @property
    def expressions(self) -> tuple[Expr, ...]:
        """The functions Phi and those that complete the constraints."""
        return (*(e for _, e in self.functions), *self.completion)

    def forms(self, constraints: Sequence[Constraint], coordinates: Sequence[Coordinate]) -> Rows:
        """The rows of the constraints."""
        return tuple(c.coefficients for c in constraints)

    def reaction(self, system: System, multipliers: Sequence[Any] | None = None, at: Place = fast) -> list[Fast]:
        """lambda_a P_a + c_b E(chi_b) + Phi; it contains accelerations."""
        forces = self.impulse(system, multipliers, at)
        return [f + at(e) for f, e in zip(forces, self.besides(system), strict=True)]

    def besides(self, system: System) -> list[Fast]:
        """c_b E(chi_b) + Phi."""
        return list(_besides(self, system))

    def at_nodes(self, system: System) -> bool:
        """Whether c_b E(chi_b) + Phi contains no accelerations, which a node, a stage or a half-kick does not have."""
        return not free_names(self.besides(system)) & {q.ddot.name for q in system.coordinates}

    def fields(self, system: System) -> VariationFields:
        """R and Upsilon of a system with this principle, and the forms of its equations; see `VariationFields`."""
        from ..theory.models.variation_fields import variation_fields

        return variation_fields(system, self)

    def is_ideal(self, system: System) -> bool:
        """Whether no reaction besides lambda_a P_a acts."""
        return all(map(vanishes, self.besides(system)))

    def acts_by_forms(self, system: System) -> bool:
        """As `is_ideal`."""
        return self.is_ideal(system)

    def obstacle(self, system: System) -> str:
        """Entropies, functions that do not complete the constraints, singular masses, and accelerations left undetermined."""
        if system.entropies:
            return "it has entropies. State it without them, or leave out principle=."
        N, rows, k = len(system.coordinates), len(system.constraints), len(self.completion)
        if k and k + rows != N:
            return (
                f"there are {k} functions in completion= and {rows} constraints for {N} coordinates. Give {N - rows} "
                f"functions, or none for the minimal model."
            )
        if not (system.kinematic or self.functions):
            return ""
        points = _states(system)
        if not points:
            return ""  # nothing can be said at states that are not found; `checks.regular` says what it can
        mass = jacobian(gradient(system.lagrangian, system.velocities), system.velocities)
        if not k and highest_rank(mass, points) < N:
            return (
                "its mass matrix d2L/dv2 is singular, and the model needs its inverse. Give every velocity a kinetic "
                "energy, or complete the constraints: Upsilon(completion=[...])."
            )
        if k and highest_rank(_rows(system, self.completion), points) < N:
            return (
                "the functions in completion= and the constraints are dependent in the velocities. Give functions whose "
                "derivatives by the velocities are independent of one another and of those of the constraints."
            )
        if self._determined(system, points):
            return ""
        return (
            "the model leaves accelerations undetermined: the matrix d2L/dv2 - c_b d2chi_b/dv2 - dPhi/d(acceleration), "
            "bordered by the rows of the constraints, is singular. Choose other functions Phi, or principle=da.DAlembert()."
        )

    def _determined(self, system: System, points: Sequence[balls.Point]) -> bool:
        """Whether the bordered matrix is regular at some state on the constraints."""
        border = bordered(system, self)
        grids = [g for g in (balls.values(border, p) for p in points) if g is not None]
        return not grids or any(rank(g) == len(g) for g in grids)

    def __repr__(self) -> str:
        if self.completion:
            return f"Upsilon(completion=[{', '.join(map(str, self.completion))}])"
        given = ", ".join(f"{q}: {e}" for q, e in self.functions)
        return f"Upsilon({{{given}}})" if given else "Upsilon()"

    def plain(self) -> dict[str, list[Expr]]:
        """Its expressions by role, for files."""
        if self.completion:
            return {"completion": list(self.completion)}
        return {"coordinates": [q for q, _ in self.functions], "functions": [e for _, e in self.functions]}

    @classmethod
    def from_plain(cls, data: Mapping[str, Sequence[Expr]]) -> Upsilon:
        """The principle from these expressions."""
        if "completion" in data:
            return cls(completion=data["completion"])
        return cls(dict(zip(data.get("coordinates", ()), data.get("functions", ()), strict=True)))


def lagrange_derivative(function: Any, coordinates: Sequence[Coordinate]) -> list[Fast]:
    """E_k(f) = d/dt df/dv^k - df/dx^k; in a frame that does not commute less (c^k_ij w^i + c^k_0j) df/dw^k."""
    own = frame(coordinates)
    p = gradient(function, own.velocities)
    return [r - t - s for r, t, s in zip(own.rates(p), own.turning(p), own.slopes(function), strict=True)]


def components(system: System, completion: Sequence[Expr] = ()) -> list[Fast]:
    """The numbers c, one for each constraint and completing function, by which the rows dchi/dv make up the momentum."""
    p, v = gradient(system.lagrangian, system.velocities), system.velocities
    rows = _rows(system, completion)
    if completion:
        return solved([list(column) for column in zip(*rows, strict=True)], [[e] for e in p])[0]
    raised = solved(jacobian(p, v), [list(column) for column in zip(*rows, strict=True)])
    gram = [[total(a * b for a, b in zip(row, up, strict=True)) for up in raised] for row in rows]
    return solved(gram, [[total(a * b for a, b in zip(up, p, strict=True))] for up in raised])[0]


def bordered(system: System, principle: Upsilon) -> list[list[Fast]]:
    """The matrix of the equations of motion for accelerations and multipliers; the sign of multipliers is free."""
    rates = [q.ddot for q in system.coordinates]
    mass = jacobian(gradient(system.lagrangian, system.velocities), system.velocities)
    besides = jacobian(principle.besides(system), rates)
    rows = _rows(system, ())
    upper = [
        [*(a - b for a, b in zip(m, e, strict=True)), *(row[i] for row in rows)]
        for i, (m, e) in enumerate(zip(mass, besides, strict=True))
    ]
    return upper + [[*row, *([fast(0)] * len(rows))] for row in rows]


def solved(matrix: Sequence[Sequence[Fast]], right: Sequence[Sequence[Fast]]) -> list[list[Fast]]:
    """The solutions x of matrix x = right, one for each column of `right`, by elimination.

    Pivots that are numbers come first: others, which are not zero by value, may still vanish at single states.
    """
    n, rows = len(matrix), [[*m, *r] for m, r in zip(matrix, right, strict=True)]
    left, order = list(range(n)), [0] * n
    for i in range(n):
        k, c = _pivot(rows, i, left)
        left.remove(c)
        rows[i], rows[k], order[c] = rows[k], rows[i], i
        rows[i] = [e / rows[i][c] for e in rows[i]]
        for j in range(n):
            if j != i and rows[j][c] != 0:
                rows[j] = [a - rows[j][c] * b for a, b in zip(rows[j], rows[i], strict=True)]
    return [[rows[order[c]][k] for c in range(n)] for k in range(n, len(rows[0]))]


def _pivot(rows: Sequence[Sequence[Fast]], first: int, columns: Sequence[int]) -> tuple[int, int]:
    """The row, from `first` on, and the column of the next pivot."""
    places = [(k, c) for k in range(first, len(rows)) for c in columns if rows[k][c] != 0]
    places.sort(key=lambda place: (not rows[place[0]][place[1]].is_Number, place[0] != place[1]))
    return next(((k, c) for k, c in places if not vanishes(rows[k][c])), (first, columns[0]))


def _rows(system: System, completion: Sequence[Expr]) -> list[list[Fast]]:
    """dchi/dv of the constraints, those on positions differentiated once, and of the functions that complete them."""
    forms = (*(c.velocity_form(system.coordinates) for c in system.constraints), *completion)
    return jacobian(list(map(fast, forms)), system.velocities)


@lru_cache(maxsize=64)
def _besides(principle: Upsilon, system: System) -> tuple[Fast, ...]:
    """c_b E(chi_b) + Phi, one component per coordinate; cached: it is asked for by every step of a derivation."""
    phi = dict(principle.functions)
    forces = [fast(phi.get(q, 0)) for q in system.coordinates]
    if system.kinematic or principle.completion:
        functions = [*(None if c.is_holonomic else c.expression for c in system.constraints), *principle.completion]
        for c, f in zip(components(system, principle.completion), functions, strict=True):
            if f is not None:  # the derivative of a function of positions has no Lagrange derivative
                forces = [e + c * d for e, d in zip(forces, lagrange_derivative(f, system.coordinates), strict=True)]
    return tuple(_without_zero_accelerations(f, system) for f in forces)


def _without_zero_accelerations(force: Fast, system: System) -> Fast:
    """A force that is linear in the accelerations, without those whose coefficients are zero by value."""
    rates = [q.ddot for q in system.coordinates if q.ddot.name in free_names([force])]
    zero = [a for a, slope in zip(rates, gradient(force, rates), strict=True) if vanishes(slope)]
    return substitute(force, dict.fromkeys(zero, 0)) if zero else force


def _states(system: System) -> list[balls.Point]:
    """States that satisfy the constraints, velocities included, with values of everything the system depends on."""
    q = system.coordinates
    functions = [c.expression for c in system.constraints if c.is_holonomic]
    functions += [c.velocity_form(q) for c in system.constraints]
    moved = [*(c.name for c in q), *(c.dot.name for c in q)]
    others = {s.name for e in (*functions, *system.expressions()) for s in fast(e).free_symbols} | {time.name}
    return points_on(functions, moved, sorted(others - set(moved) - {c.ddot.name for c in q}))
