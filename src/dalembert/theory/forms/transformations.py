"""The same motion in other coordinates, q = g(Q, t).

Under q = g(Q, t) velocities become v = dg/dQ V + dg/dt, and the Lagrangian is the old one with these substituted. Equations
are covariant: variational derivative of the new one = (variational derivative of the old one) . dg/dQ.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any

import sympy
from sympy import Eq, Expr, Matrix, Symbol

from ...decide.balls import values
from ...decide.decimals import stated
from ...decide.elimination import highest_rank
from ...decide.sample import points_on
from ...display import Part, Shown
from ...errors import ModelError, StartError
from ...model import checks
from ...model.bodies.assembly import system_of
from ...model.bodies.kinematics import rate
from ...model.coordinates import Coordinate, Parameter, Velocity, time
from ...model.heat import mechanical
from ...model.system import System
from ...numbers import finite, reals
from ...symbolic import fast, free_names, numpy_function, substitute
from ..algebra import tidy
from ..motion.lagrange import euler_lagrange, total_derivative

# other coordinates


@dataclass(frozen=True, repr=False)
class Transformation(Shown):
    """A system in other coordinates; see `change_coordinates`.

    system:  the system in the new coordinates
    old:     the system it was made from
    map:     {old coordinate: expression in the new coordinates and time}, for all old coordinates
    """

    system: System
    old: System
    map: Mapping[Coordinate, Expr]

    @cached_property
    def jacobian(self) -> Matrix:
        """The derivatives of the old coordinates by the new ones."""
        return Matrix([[tidy(g.diff(Q)) for Q in self.system.coordinates] for g in self.map.values()])

    @cached_property
    def velocities(self) -> dict[Symbol, Expr]:
        """The old velocities in terms of the new coordinates, velocities and time."""
        return {q.dot: rate(g) for q, g in self.map.items()}

    def expression(self, old: Any) -> Expr:
        """An expression in the old coordinates and velocities, in terms of the new ones."""
        known = {s for q in self.old.coordinates for s in (q, q.dot)}
        given = checks.symbols(checks.expression(old, "expression"), known, "expression")
        return tidy(given.xreplace({**self.map, **self.velocities}))

    def to_old(self, state: Any, parameters: Mapping[Any, Any] | None = None) -> dict[Symbol, Any]:
        """A state {X: ..., X.dot: ...} of the new system, or a run of it, as {x: ..., x.dot: ...} of the old one.

        Values are numbers or arrays. A start thus given in the new coordinates is a start of the old system.
        """
        read = _reader(state, parameters, self.system)
        values = [reals(read(s), s.name) for s in self._inputs]
        return {s: _shaped(f(*values), values) for s, f in self._compiled.items()} | _instant(state)

    def to_new(
        self, state: Any, near: Mapping[Any, float], parameters: Mapping[Any, Any] | None = None
    ) -> dict[Symbol, Any]:
        """A state {x: ..., x.dot: ...} of the old system in the new coordinates, by Newton's method from `near`.

        `near` gives a position {X: ...} to begin with: where a map is not one-to-one (angles) it selects the solution.
        """
        import numpy as np

        old, new = self.old.coordinates, self.system.coordinates
        read = _reader(state, parameters, self.old)
        target, rates = (np.array([finite(read(s), s.name) for s in group]) for group in (old, self.old.velocities))
        begin = _reader(near, None, self.system)
        constants = [finite(read(s), s.name) for s in (*self.system.parameters, time)]
        place = np.array([finite(begin(Q), f"near: {Q.name}") for Q in new])
        positions, slopes, drift = self._newton
        for _ in range(50):
            slope = np.asarray(slopes(*place, *constants), dtype=float)
            step = self._divided(slope, target - positions(*place, *constants).ravel(), place)
            place = place + step
            if (np.abs(slope) @ np.abs(step) <= 1e-14 * (np.abs(slope) @ np.abs(place) + np.abs(target))).all():
                break
        else:
            raise StartError(
                f"to_new: no position in the new coordinates was found from near = {dict(near)}. Give a position that is "
                f"nearer to it."
            )
        rest = rates - drift(*place, *constants).ravel()
        velocity = self._divided(slopes(*place, *constants), rest, place)
        found = zip((*new, *self.system.velocities), (*place, *velocity), strict=True)
        return {s: float(x) for s, x in found} | _instant(state)

    def _divided(self, slope: Any, right: Any, place: Any) -> Any:
        """The change of the new coordinates for a given change of the old ones, where the map is invertible."""
        import numpy as np

        try:
            found = np.linalg.solve(slope, right)
        except np.linalg.LinAlgError:
            found = np.full(len(right), np.nan)
        if not np.isfinite(found).all():
            names = (Q.name for Q in self.system.coordinates)
            at = ", ".join(f"{name} = {x:.6g}" for name, x in zip(names, place, strict=True))
            raise StartError(
                f"to_new: the map cannot be inverted at {at}: its derivatives are singular there, or have no value. Give "
                f"near={{...}} elsewhere; if the state itself is such a place, it has no new coordinates."
            )
        return found

    @property
    def _inputs(self) -> tuple[Symbol, ...]:
        s = self.system
        return (*s.coordinates, *s.velocities, *s.parameters, time)

    @cached_property
    def _compiled(self) -> dict[Symbol, Any]:
        return {s: numpy_function(self._inputs, e) for s, e in (*self.map.items(), *self.velocities.items())}

    @cached_property
    def _newton(self) -> tuple[Any, Any, Any]:
        arguments = (*self.system.coordinates, *self.system.parameters, time)
        drift = Matrix([g.diff(time) for g in self.map.values()])
        return tuple(numpy_function(arguments, m) for m in (Matrix(list(self.map.values())), self.jacobian, drift))

    @property
    def covariance_defect(self) -> float:
        """By how much the equations of the two systems disagree at random points, relative to their terms."""
        return covariance_defect(self.old, self.system, self.map)

    def _parts(self) -> list[Part]:
        names = [", ".join(q.name for q in s.coordinates) for s in (self.old, self.system)]
        parts: list[Part] = [f"{self.system.name}: from {names[0]} to {names[1]}"]
        parts += [Eq(q, g, evaluate=False) for q, g in self.map.items() if q != g]
        for label, e in self.system.energies.items():
            parts.append((label, e))
        pairs = zip(self.system.coordinates, self.system.forces, strict=True)
        parts += [(f"force on {q}", f) for q, f in pairs if f != 0]
        parts += [("dissipation", self.system.dissipation)] if self.system.dissipation != 0 else []
        parts += [("constraint", Eq(c.expression, 0, evaluate=False)) for c in self.system.constraints]
        defect = self.covariance_defect
        same = "the same" if defect < 1e-9 else "NOT the same"
        return [*parts, f"The equations of motion are {same} (largest difference at random points: {defect:.1e})."]


def change_coordinates(
    system: System,
    map: Mapping[Coordinate, Any],
    *,
    coordinates: Sequence[Coordinate] | None = None,
    name: str | None = None,
) -> Transformation:
    """A system in other coordinates: {x: expression in new coordinates and time, ...}.

    The new coordinates are those that occur in the expressions; old ones that are not in the map are kept. There must
    be as many as before, and the map must be invertible. `coordinates` puts them in an order; otherwise it is by name.
    Time may occur: this is a moving frame. Kinetic energy, potential, forces, dissipation, constraints and variations
    are all carried over. The result holds the new `system`, `to_old(state)`, `to_new(state, near)` and
    `covariance_defect`.
    """
    system = system_of(system, "change_coordinates")
    mechanical(system, "change_coordinates")
    full, new = _checked_map(system, map)
    if coordinates is not None:
        new = _ordered(new, checks.coordinates(coordinates))
    _check_invertible(full, new)
    slopes = [[g.diff(Q) for Q in new] for g in full.values()]
    places: dict[Any, Any] = {**full, **{q.dot: rate(g) for q, g in full.items()}}

    def pulled(e: Expr) -> Expr:
        return tidy(e.xreplace(places))

    def covector(row: Sequence[Expr]) -> list[Expr]:
        moved = [a.xreplace(places) for a in row]
        return [tidy(sympy.Add(*(a * s[k] for a, s in zip(moved, slopes, strict=True)))) for k in range(len(new))]

    forms = None
    if system.has_own_variations:
        rows = [covector(w) for w in system.variations]
        forms = [sympy.Add(*(a * Q.dot for a, Q in zip(row, new, strict=True))) for row in rows]
    made = system.replace(
        name=name or system.name,
        coordinates=new,
        internal_energy=pulled(system.internal_energy),
        **{label: pulled(e) for label, e in system.energies.items()},
        forces=dict(zip(new, covector(system.forces), strict=True)),
        dissipation=pulled(system.dissipation),
        constraints=[pulled(c.expression) for c in system.constraints],
        variations=forms,
    )
    return Transformation(made, system, full)


def _checked_map(system: System, map: Any) -> tuple[dict[Coordinate, Expr], list[Coordinate]]:
    """The map for all old coordinates, and the list of new ones."""
    old, names = system.coordinates, ", ".join(q.name for q in system.coordinates)
    if not isinstance(map, Mapping) or not map:
        raise ModelError(
            f"change_coordinates: got {map!r}. Expected {{old coordinate: expression in new coordinates and time}}."
        )
    for key in map:
        if key not in old:
            raise ModelError(
                f"change_coordinates: {key} is not a coordinate of {system.name!r}. Its coordinates are {names}; write "
                f"{{{old[0]}: expression in new coordinates, ...}}."
            )
    kept = [q for q in old if q not in map]
    given = {q: stated(checks.expression(map.get(q, q), f"expression for {q}")) for q in old}
    found = {s for q in map for s in given[q].free_symbols if isinstance(s, Coordinate)}
    for q in map:
        if moving := [s for s in given[q].free_symbols if isinstance(s, Velocity)]:
            raise ModelError(
                f"change_coordinates: {moving[0]} occurs in the expression for {q}. Positions are functions of positions and "
                f"time; velocities follow from them."
            )
        if q in found:
            raise ModelError(
                f"change_coordinates: {q} is replaced, but it occurs in the expressions. Give the new coordinates names of "
                f"their own."
            )
    new = [*kept, *sorted(found - set(kept), key=lambda s: s.name)]
    for q in map:
        checks.symbols(given[q], new, f"expression for {q}")
    if len(new) != len(old):
        told = ", ".join(Q.name for Q in new) or "none"
        raise ModelError(
            f"change_coordinates: {len(old)} old coordinates ({names}) but {len(new)} new ones ({told}). Give as many. To "
            f"remove a coordinate that a constraint fixes, state the system again in the remaining ones."
        )
    return given, new


def _ordered(new: list[Coordinate], order: Sequence[Coordinate]) -> list[Coordinate]:
    if set(order) != set(new):
        told = [", ".join(q.name for q in group) for group in (order, new)]
        raise ModelError(f"change_coordinates: coordinates lists {told[0]}, but the new coordinates are {told[1]}.")
    return list(order)


def _check_invertible(map: Mapping[Coordinate, Expr], new: Sequence[Coordinate]) -> None:
    slopes = [[g.diff(Q) for Q in new] for g in map.values()]
    points = points_on([], [], sorted(free_names(e for row in slopes for e in row)), count=8)
    if highest_rank(slopes, points) == len(new):
        return
    names = ", ".join(Q.name for Q in new)
    raise ModelError(
        f"change_coordinates: the map is not invertible: the derivatives of {', '.join(q.name for q in map)} by {names} have "
        f"a determinant that is zero at all points tried. The new coordinates must be independent."
    )


def covariance_defect(old: System, new: System, map: Mapping[Coordinate, Expr]) -> float:
    """The largest difference between the equations of two systems that q = g(Q, t) should carry into one another.

    Compared at random points are (d/dt dL/dv - dL/dq - F) . dg/dQ of the old and the left-hand sides of the new system,
    relative to the size of the terms.
    """
    Q = new.coordinates
    rates = {q: total_derivative(fast(g), Q) for q, g in map.items()}
    places: dict[Any, Any] = {q: fast(g) for q, g in map.items()}
    places |= {q.dot: r for q, r in rates.items()} | {q.ddot: total_derivative(r, Q) for q, r in rates.items()}
    before = [substitute(e - fast(f), places) for e, f in zip(euler_lagrange(old), old.force, strict=True)]
    after = [e - fast(f) for e, f in zip(euler_lagrange(new), new.force, strict=True)]
    terms = [[b * fast(g.diff(X)) for b, g in zip(before, map.values(), strict=True)] for X in Q]
    worst = 0.0
    points = points_on([], [], sorted(free_names([*after, *(x for row in terms for x in row)])), count=24)
    found = (values([[e, *row] for e, row in zip(after, terms, strict=True)], p) for p in points)
    for grid in islice((g for g in found if g is not None), 6):
        for here, *row in grid:
            size = sum(abs(x) for x in (here, *row))
            worst = max(worst, float(abs(here - sum(row)) / size) if size else 0.0)
    return worst


def _reader(state: Any, parameters: Mapping[Any, Any] | None, system: System) -> Any:
    """A function that finds the value of a symbol in a state (or run) and in the parameters, by symbol or by name."""
    constants = parameters if parameters is not None else getattr(state, "parameters", {})

    def read(s: Symbol) -> Any:
        source = constants if isinstance(s, Parameter) else state
        for key in (s, s.name):
            try:
                return source[key]
            except (KeyError, TypeError):
                continue
        if s == time:
            return 0.0
        kind = "parameters" if isinstance(s, Parameter) else "state"
        raise StartError(f"{kind}: no value for {s.name}. Give {{{s.name}: ...}} for every symbol of {system.name!r}.")

    return read


def _instant(state: Any) -> dict[Symbol, Any]:
    """The time of a state, if it has one."""
    if isinstance(state, Mapping) and time not in state:
        return {time: state[time.name]} if time.name in state else {}
    return {time: state[time]}


def _shaped(value: Any, like: Sequence[Any]) -> Any:
    """A constant as an array, where the other values are arrays."""
    import numpy as np

    shape = np.broadcast_shapes(*(np.shape(x) for x in like))
    return float(value) if shape == () else np.broadcast_to(np.asarray(value, dtype=float), shape)
