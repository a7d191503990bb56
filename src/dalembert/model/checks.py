"""Checks at the construction of a system: symbols, names, independence of constraints, regularity of the inertia."""

from __future__ import annotations

import random
import warnings
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import sympy
from sympy import Expr
from sympy.core.function import AppliedUndef

from ..decide import balls
from ..decide.decimals import stated
from ..decide.elimination import independent, rank
from ..decide.jumps import jumps
from ..decide.sample import drawn
from ..errors import ModelError, ModelWarning, printed, told
from ..symbolic import fast, free_names, gradient, jacobian, number, partials, slow, substitute
from . import sizes
from .coordinates import Acceleration, Coordinate, Direction, Entropy, Momentum, Parameter, Slot, check_name, time
from .scales import system_scales
from .space import groups, position_symbols

if TYPE_CHECKING:
    from .system import System


_NAMED = (
    sympy.sin, sympy.cos, sympy.tan, sympy.asin, sympy.acos, sympy.atan, sympy.atan2, sympy.cot, sympy.sec, sympy.csc,
    sympy.sinh, sympy.cosh, sympy.tanh, sympy.asinh, sympy.acosh, sympy.atanh, sympy.exp, sympy.log, sympy.Abs,
    sympy.sign, sympy.Max, sympy.Min, sympy.Heaviside, sympy.floor, sympy.ceiling, sympy.erf, sympy.erfc, sympy.gamma,
    sympy.loggamma, sympy.Piecewise,
)  # fmt: skip

FUNCTIONS = ", ".join(f.__name__ for f in _NAMED)

KNOWN = (
    sympy.Add, sympy.Mul, sympy.Pow, sympy.Symbol, sympy.Rational, sympy.Float, type(sympy.pi), type(sympy.E),
    sympy.functions.elementary.piecewise.ExprCondPair, sympy.core.relational.Relational, sympy.logic.boolalg.Boolean,
    *_NAMED,
)  # fmt: skip
"""What expressions may be made of: finite real numbers, symbols and functions the engine has."""


def components(given: Any, role: str, what: str) -> tuple[Expr, ...]:
    """Two expressions for the plane or three for space; `what` they are, in a message."""
    try:
        if isinstance(given, str | Expr) and not isinstance(given, sympy.MatrixBase):
            raise TypeError
        found = tuple(given)
    except TypeError:
        found = ()
    if len(found) not in (2, 3):
        raise ModelError(
            f"{role}: got {told(given)}. Expected a list of two {what} in the plane, [x, y], or three in space, [x, y, z]."
        )
    return tuple(expression(c, role) for c in found)


def expression(given: Any, role: str) -> Expr:
    """A SymPy expression from what was given, or an error that says what was expected."""
    if isinstance(given, sympy.Equality):
        given = given.lhs - given.rhs
    if isinstance(given, (str, bytes)):
        raise ModelError(
            f"{role}: got the text {told(given)}. Expected an expression in Python: without the quotes, with symbols "
            f"made by dalembert.coordinates and dalembert.parameters."
        )
    try:
        result = sympy.sympify(given, strict=True) if not hasattr(given, "__array__") else _scalar(given)
    except (sympy.SympifyError, TypeError, ValueError, AttributeError, RecursionError):
        result = None
    if not isinstance(result, Expr) or isinstance(result, sympy.MatrixBase | sympy.Lambda):
        raise ModelError(f"{role}: got {told(given)} ({type(given).__name__}). Expected a scalar expression.")
    sizes.check(result, role)
    return result


def _scalar(given: Any) -> Any:
    """The number or the expression in a NumPy number or an array without axes; None for anything else."""
    if getattr(given, "shape", None) != () or getattr(given, "mask", False):
        return None
    held = given.item() if hasattr(given, "item") else None
    return None if isinstance(held, str | bytes) else sympy.sympify(held, strict=True)


def symbols(expr: Expr, known: Iterable[sympy.Symbol], role: str) -> Expr:
    """The expression with exact numbers; refused unless every symbol is known, a parameter or time."""
    known = known if isinstance(known, set) else set(known)  # not copied: there is one call for each force
    for f in sorted(expr.atoms(AppliedUndef, sympy.Derivative), key=str):
        raise ModelError(
            f"{role}: {printed(f)} is a SymPy function or derivative. Coordinates are symbols here: make x with "
            f'x = dalembert.coordinates("x") and write x.dot for its velocity.'
        )
    strange = {type(node).__name__ for node in sympy.preorder_traversal(expr) if not isinstance(node, KNOWN)}
    if strange:
        raise ModelError(
            f"{role}: {min(strange)} in {printed(expr)} is not something that can be computed with here. Known are sums, "
            f"products, powers and the functions {FUNCTIONS}."
        )
    for s in sorted((s for s in expr.free_symbols if s not in known and s != time), key=lambda s: s.name):
        if isinstance(s, Parameter):
            continue
        raise ModelError(f"{role}: unknown symbol {s} in {printed(expr)}. " + _remedy(s, known | {time}))
    rational: Expr = stated(expr)
    return rational


def _remedy(s: sympy.Symbol, known: set[sympy.Symbol]) -> str:
    names = ", ".join(sorted(str(k) for k in known))
    place = s if isinstance(s, Coordinate | Entropy) else getattr(s, "coordinate", None)
    if any(isinstance(k, Slot) and k.coordinate == place for k in known):
        return f"Discrete systems are stated at the two ends of a step: use {place}.at(0) and {place}.at(1)."
    if isinstance(s, Acceleration):
        return "Accelerations follow from the equations; they cannot be given. Use positions, velocities and time."
    if isinstance(s, Momentum | Slot) and s.coordinate in known:
        return f"A system is stated with positions and velocities: use {s.coordinate} and {s.coordinate}.dot."
    if hasattr(s, "coordinate"):
        return f"{s.coordinate} is not among the coordinates of this system. Known here: {names}."
    if isinstance(s, Coordinate):
        return f"Add {s} to coordinates=[...]. Known here: {names}."
    if any(k.name == s.name for k in known):
        maker = "dalembert.time" if s.name == time.name else "dalembert.coordinates"
        return f"This {s} is a plain SymPy symbol; use the {s} of {maker}."
    return f'If it is a constant, make it with {s} = dalembert.parameters("{s}"). Known here: {names}.'


def coordinates(given: Any) -> tuple[Coordinate, ...]:
    """Check the list of coordinates."""
    try:
        listed = (given,) if isinstance(given, Coordinate) else tuple(given)
    except TypeError:
        raise ModelError(f"coordinates: got {told(given)}. Expected a list: coordinates=[x, y].") from None
    if not listed:
        raise ModelError('coordinates=[]: a system needs at least one, made with x = dalembert.coordinates("x").')
    for q in listed:
        if not isinstance(q, Coordinate):
            function = isinstance(q, AppliedUndef)
            name = q.func.__name__ if function else told(q, 20).strip("'") if isinstance(q, str | sympy.Symbol) else "x"
            moving = f" Its velocity is {name}.dot." if function else ""
            raise ModelError(
                f"coordinates: {told(q)} ({'a SymPy function' if function else type(q).__name__}) is not a coordinate. "
                f'Make it with {name} = dalembert.coordinates("{name}").{moving}'
            )
        if not isinstance(q, Direction):  # that of a rotation was checked when it was made
            check_name("coordinates", q)
    turning = {R.name: R for R in groups(listed)}
    for name in sorted(set(turning) & {q.name for q in listed}):
        raise ModelError(
            f"coordinates: the name {name} is used for a coordinate and for a {turning[name].noun}. Rename one of them."
        )
    count = Counter((q.owner, q.name) for q in listed)
    for name in (owner for (owner, _), times in count.items() if times > 1):
        raise ModelError(f"coordinates: the name {name} occurs twice. Each coordinate is listed once.")
    return listed


def parameters(expressions: Iterable[Expr], coords: Sequence[Coordinate]) -> tuple[Parameter, ...]:
    """All parameters of some expressions, by name; no two symbols may share a name."""
    found = {s for e in expressions for s in e.free_symbols if isinstance(s, Parameter)}
    by_name: dict[str, sympy.Symbol] = {q.owner: q for q in coords}
    for p in sorted(found, key=lambda p: (p.name, str(p.assumptions0))):
        check_name("parameters", p)
        other = by_name.setdefault(p.name, p)
        if other is not p and isinstance(other, Coordinate):
            raise ModelError(f"the name {p.name} is used for a coordinate and for a parameter. Rename one of them.")
        if other is not p:
            raise ModelError(
                f"the name {p.name} is used for two parameters with different assumptions. "
                f'Make it once, {p.name} = dalembert.parameters("{p.name}", ...), and use that symbol everywhere.'
            )
    return tuple(sorted(found, key=lambda p: p.name))


def substituted_constraint(system: System) -> None:
    """Warn when a velocity that a kinematic constraint determines has vanished from the Lagrangian.

    Where the principle makes L + lambda chi stationary, substituting chi = 0 into L changes lambda alone.
    """
    if system.principle.carried(system):
        return
    kinematic = [c for c in system.constraints if not c.is_holonomic]
    present = system.lagrangian.free_symbols if kinematic else set()
    missing = [
        q
        for i, q in enumerate(system.coordinates)
        if any(c.coefficients[i] != 0 for c in kinematic) and q.dot not in present
    ]
    if missing:
        names = ", ".join(str(q.dot) for q in missing)
        warnings.warn(
            f"{system.name}: the Lagrangian does not contain {names}, which a kinematic constraint determines. If the "
            f"constraint was substituted into the Lagrangian, the equations are wrong: write the kinetic energy with "
            f"{names} and leave the constraint in constraints=[...].",
            ModelWarning,
            stacklevel=3,
        )


def continuous(system: System) -> None:
    """Check that neither the Lagrangian nor a momentum jumps: the equations of motion do not contain the impulses there.

    Jumps in time alone are allowed: the energy changes, and the motion continues.
    """
    for f in sorted(system.lagrangian.atoms(sympy.floor, sympy.ceiling), key=str):
        raise ModelError(f"{system.name}: {printed(f)} in the Lagrangian jumps. {_IMPULSE}")
    L, scales = fast(system.lagrangian), system_scales(system)
    place = {s.name for s in (*position_symbols(system.coordinates), *system.velocities, *system.entropies)}
    edges = [g for g in jumps(L, [*sorted(place), time], scales) if free_names([g]) & place]
    said = "the Lagrangian"
    for q, p in zip(system.coordinates, gradient(L, system.velocities), strict=True) if not edges else ():
        edges = edges or jumps(p, [*sorted(place), time], scales)
        said = f"the momentum of {q}, dL/d{q.dot},"
    if edges:
        edge = slow(
            edges[0],
            [*position_symbols(system.coordinates), *system.velocities, *system.entropies, *system.parameters, time],
        )
        edge = -edge if edge.could_extract_minus_sign() else edge
        raise ModelError(f"{system.name}: {said} jumps where {printed(edge)} = 0. {_IMPULSE}")


_IMPULSE = (
    "An impulse acts there that the equations of motion do not contain. Make it continuous, for example by a steep slope in "
    "place of a step, or say in an event what happens there."
)


def regular(system: System) -> None:
    """Check at sample points that constraints are independent and that accelerations are determined.

    Floating point decides the regular case; what is singular there is checked again in ball arithmetic.
    """
    scales = system_scales(system)
    problem = ""
    for seed in range(4):
        point = _point(system, scales, seed)
        if _full(_bordered(*_sample(system, point))):
            return
    exact = _matrices(system)
    for seed in range(4):
        found = _at(exact, _point(system, scales, seed))
        if found is None:
            continue
        if rank(_border(*found)) == len(found[0]) + len(found[1]):
            return
        problem = problem or _irregular(system, *found)
    if problem:  # otherwise it is defined at none of the sample points: a run reports where it is not
        raise ModelError(problem)


def _point(system: System, scales: Mapping[str, float], seed: int) -> dict[str, float]:
    """A random state, slow enough for kinetic energies such as sqrt(1 - v^2)."""
    places = [s.name for s in (*system.coordinates, *system.entropies, *system.parameters, time)]
    chance = random.Random(seed)
    at = drawn([*places, *(v.name for v in system.velocities)], scales, chance)
    slow_enough = {v.name: at[v.name] / 8 for v in system.velocities}
    return {
        **at,
        **slow_enough,
        **{k: x for R in groups(system.coordinates) for k, x in R.drawn(chance, dict(scales)).items()},
    }


def _sample(system: System, state: Mapping[str, float]) -> tuple[Any, Any, Any]:
    """Mass matrix, constraint rows and variation rows at a state, in floating point."""
    import numpy as np

    v = system.velocities
    names = {sympy.Symbol(k): x for k, x in state.items() if k not in {s.name for s in v}}
    momenta = gradient(substitute(fast(system.lagrangian), names), v)

    def table(rows: int, entries: Mapping[tuple[int, int], Any]) -> Any:
        found = np.zeros((rows, len(v)))
        for place, a in entries.items():
            found[place] = number(a, state)
        return found

    m = table(len(v), partials(momenta, v))
    a, w = (
        table(len(rows), {(i, j): a for i, row in enumerate(rows) for j, a in enumerate(row) if a != 0})
        for rows in ([c.coefficients for c in system.constraints], system.variations)
    )
    return m, a, w


def _bordered(mass: Any, rows: Any, forms: Any) -> Any:
    import numpy as np

    return np.block([[mass, forms.T], [rows, np.zeros((len(rows), len(forms)))]])


FAINT = 1e-9
"""The least singular value at which a matrix with rows and columns of size one is clearly regular."""


def _full(matrix: Any) -> bool:
    """Whether a matrix is clearly regular, rows and columns divided by their largest entries."""
    import numpy as np

    if not np.isfinite(matrix).all():
        return False
    for _ in range(3):
        for axis in (1, 0):
            size = np.abs(matrix).max(axis=axis, keepdims=True)
            if not size.all():
                return False
            matrix = matrix / size
    with suppress(np.linalg.LinAlgError), np.errstate(all="ignore"):
        # A lower bound of the least singular value, computed in a tenth of the time.
        if 1 / np.linalg.norm(np.linalg.inv(matrix)) > FAINT:
            return True
    return int(np.linalg.matrix_rank(matrix, tol=FAINT)) == len(matrix)


Matrices = tuple[list[list[Any]], list[list[Any]], list[list[Any]]]
"""Mass matrix, constraint rows and variation rows."""


def _matrices(system: System) -> Matrices:
    v = system.velocities
    rows = [list(c.coefficients) for c in system.constraints]
    return jacobian(gradient(system.lagrangian, v), v), rows, [list(w) for w in system.variations]


def _at(matrices: Matrices, point: Mapping[str, float]) -> Matrices | None:
    with balls.precise() as flint:
        exact = {name: flint.arb(x) for name, x in point.items()}
        mass, rows, forms = (balls.values(m, exact) for m in matrices)
    return None if mass is None or rows is None or forms is None else (mass, rows, forms)


def _border(mass: list[list[Any]], rows: list[list[Any]], forms: list[list[Any]]) -> list[list[Any]]:
    with balls.precise() as flint:
        zeros = [flint.arb(0)] * len(forms)
        return [[*m, *(w[i] for w in forms)] for i, m in enumerate(mass)] + [[*a, *zeros] for a in rows]


def _irregular(system: System, mass: list[list[Any]], rows: list[list[Any]], forms: list[list[Any]]) -> str:
    """Why the matrix that determines accelerations and multipliers is singular."""
    if rank(rows) < len(rows):
        return _dependent(system, rows)
    if rank(forms) < len(forms):
        return (
            f"{system.name}: the variations are linearly dependent. Give as many independent one-forms as there are "
            f"constraints."
        )
    return _no_inertia(system, _border(mass, rows, forms))


def _dependent(system: System, rows: list[list[Any]]) -> str:
    k = min(independent(rows)[1])
    culprit = system.constraints[k].expression
    others = ", ".join(f"{c.expression} = 0" for c in system.constraints[:k])
    why = f"it follows from {others}" if k else "it holds for every velocity"
    return f"{system.name}: the constraints are dependent: {culprit} = 0 is redundant ({why}). Leave it out."


def _no_inertia(system: System, border: list[list[Any]]) -> str:
    """Which coordinates have no inertia: those along which a combination of the columns vanishes."""
    columns = [list(c) for c in zip(*border, strict=True)]
    last, among = max(independent(columns)[1].items())
    along = [q for i, q in enumerate(system.coordinates) if i == last or i in among]
    idle = [str(q.dot) if isinstance(q, Direction) else q.name for q in along]
    velocities = ", ".join(str(q.dot) for q in along)
    if not idle:
        return f"{system.name}: the constraints and the variations do not fit together: accelerations are undetermined."
    return (
        f"{system.name}: the mass matrix is singular: there is no inertia along {', '.join(idle)}, so the accelerations "
        f"are undetermined. Give {velocities} a kinetic energy, or remove a coordinate."
    )
