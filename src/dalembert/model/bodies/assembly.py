"""Bodies, loads and constraints put together: energies, generalised forces, constraints, degrees of freedom."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cached_property
from typing import Any

import sympy
from sympy import Expr

from ...decide import balls
from ...decide.elimination import rank
from ...decide.sample import drawn
from ...decide.scale import natural_scales
from ...display import Part, Shown, Table
from ...errors import ModelError, told
from .. import checks
from ..constraints import Constraint, constraint
from ..coordinates import Coordinate, Parameter, coordinates
from ..principle import joined_principle
from ..space import lines_only
from ..system import System
from .appearance import scene
from .joints import Clamp, Contact
from .kinematics import Orientation, Vector, collected, rotation, times, unit, vector
from .loads import Load
from .newton_euler import NewtonEuler, inertia, newton_euler, virtual_work
from .particles import Body, PlaneBody, Point, SpaceBody


@dataclass(frozen=True, repr=False)
class VirtualWork(Shown):
    """The virtual work of some loads: a one-form, the sum of `coefficients` times displacements of the coordinates."""

    coefficients: dict[Coordinate, Expr]

    def __getitem__(self, q: Coordinate) -> Expr:
        return self.coefficients[q]

    def on(self, displacement: Mapping[Coordinate, Any]) -> Expr:
        """The work done in a displacement {x: ..., theta: ...}; coordinates left out stay where they are."""
        return sympy.Add(*(self.coefficients[q] * d for q, d in displacement.items()))

    def _parts(self) -> Sequence[Part]:
        return ["virtual work, by displacements", *((f"d{q}", e) for q, e in self.coefficients.items() if e != 0)]


@dataclass(frozen=True, eq=False, repr=False)
class Assembly(Shown):
    """Bodies, loads and constraints; made by `assemble`. `system` is what follows from them."""

    name: str
    coordinates: tuple[Coordinate, ...]
    bodies: tuple[Body, ...]
    loads: tuple[Load, ...]
    constraints: tuple[Expr, ...]

    @cached_property
    def kinetic(self) -> Expr:
        """The kinetic energy of all bodies."""
        return sympy.Add(*(_readable(b.kinetic) for b in self.bodies))

    @cached_property
    def potential(self) -> Expr:
        """The potential of all conservative loads."""
        return sympy.Add(*(load.potential(self.bodies) for load in self.loads if load.conservative))

    @cached_property
    def generalised_forces(self) -> dict[Coordinate, Expr]:
        """The force on each coordinate of the loads without potential, by virtual work (7.7)."""
        rest = [load for load in self.loads if not load.conservative]
        return self.virtual_work(rest).coefficients

    @property
    def positions(self) -> tuple[Vector, ...]:
        """Where the mass centres are, in the order of the bodies."""
        return tuple(b.centre for b in self.bodies)

    @cached_property
    def rows(self) -> tuple[Constraint, ...]:
        """The rows of all constraints, including those of the bodies themselves."""
        return tuple(constraint(c, self.coordinates) for c in self.constraints)

    @cached_property
    def system(self) -> System:
        """The system: kinetic and potential energy, generalised forces, constraints."""
        made = System(
            self.name, self.coordinates, kinetic=self.kinetic, potential=self.potential, forces=self.generalised_forces,
            constraints=self.constraints,
        )  # fmt: skip
        return made.showing(scene(self.bodies, self.loads))

    @cached_property
    def degrees_of_freedom(self) -> int:
        """The number of coordinates less the number of independent constraints, counted at sample points."""
        rows = [list(c.coefficients) for c in self.rows]
        symbols = sorted({s.name for row in rows for a in row for s in a.free_symbols})
        return len(self.coordinates) - max(_sampled_rank(rows, symbols, seed) for seed in range(3))

    def virtual_work(self, loads: Iterable[Load] | None = None) -> VirtualWork:
        """The virtual work of some loads, by default of all, conservative ones included."""
        chosen = self.loads if loads is None else _listed(loads, Load, "loads", _LOADS)
        efforts = [e for load in chosen for e in load.efforts(self.bodies)]
        return VirtualWork({q: collected(e) for q, e in virtual_work(efforts, self.coordinates).items()})

    def dalembert_residual(self) -> dict[Coordinate, Expr]:
        """The sum of (m a - f) . dr/dq, and of moments likewise, for each coordinate: d'Alembert's principle (7.6).

        It is computed from accelerations and forces, without energies, and equals d/dt dL/dv - dL/dq - F.
        """
        active = [e for load in self.loads for e in load.efforts(self.bodies)]
        pushed, carried = (virtual_work(e, self.coordinates) for e in (active, inertia(self.bodies)))
        return {q: carried[q] - pushed[q] for q in self.coordinates}

    def newton_euler(self, reactions: Sequence[Contact | Clamp] = ()) -> NewtonEuler:
        """Balances of force and moment of every body with unknown reactions: Contact(body, at, along), Clamp(body)."""
        return newton_euler(self, reactions)

    def release(self, what: Parameter | Body, along: Any = None, *, coordinate: Coordinate | None = None) -> Assembly:
        """Add a freedom that the positions exclude, and remove it by a constraint.

        release(R):           the parameter R becomes a coordinate wherever it occurs in a position or an angle, with the
                              constraint that it equals R
        release(body, along): the body is moved along a direction by a new coordinate, which is constrained to 0
        release(body):        the body, in the plane, is turned by a new coordinate, which is constrained to 0

        The multiplier of the new constraint, the last one, is the reaction in that freedom: for a parameter the
        generalised force that keeps it constant, for a body the force along the direction (of length one), or the torque.
        """
        if isinstance(what, Parameter):
            new = coordinate or coordinates(f"{what.name}_released")
            bodies = [_written(b, {what: new}) for b in self.bodies]
            held: Expr = new - what
        elif isinstance(what, Body) and any(b is what for b in self.bodies):
            new = held = coordinate or coordinates("released")
            bodies = [_displaced(b, along, new) if b is what else b for b in self.bodies]
        else:
            raise ModelError(
                f"release: got {told(what)}. Expected a parameter that stands in a position, or one of the bodies of "
                f"{self.name}."
            )
        if all(old is fresh for old, fresh in zip(self.bodies, bodies, strict=True)):
            raise ModelError(f"release: {what} stands in no position and no angle of {self.name}.")
        renewed = {id(old): fresh for old, fresh in zip(self.bodies, bodies, strict=True)}
        own = [c for b in self.bodies for c in b.constraints]
        given = [c for c in self.constraints if c not in own]
        return assemble(
            self.name,
            [*self.coordinates, new],
            bodies=bodies,
            loads=[_rebound(load, renewed) for load in self.loads],
            constraints=[*given, held],
        )

    def _parts(self) -> Sequence[Part]:
        rows = [(b.shown, b.mass, ", ".join(str(e) for e in b.position)) for b in self.bodies]
        forces = [(f"force on {q}", e) for q, e in self.generalised_forces.items() if e != 0]
        n = self.degrees_of_freedom
        return [
            f"{self.name}: {n} degree{'' if n == 1 else 's'} of freedom, "
            f"coordinates {', '.join(q.name for q in self.coordinates)}",
            Table(("body", "mass", "position"), rows),
            ("kinetic", self.kinetic),
            ("potential", self.potential),
            *forces,
            *(("constraint", sympy.Eq(c, 0, evaluate=False)) for c in self.constraints),
        ]


_BODIES = "Particle(m, [x, y]), PlaneBody(shape, position, angle) or SpaceBody(shape, position, orientation)"
_LOADS = "Gravity(g), Spring(k, A, B), Damper(c, A), Force(f, A), ...; constraints stand in constraints=[...]"


def assemble(
    name: str,
    coordinates: Sequence[Coordinate],
    *,
    bodies: Sequence[Body],
    loads: Sequence[Load] = (),
    constraints: Sequence[Any] = (),
) -> Assembly:
    """Put bodies, loads and constraints together. `constraints` are expressions that vanish, or lists of these."""
    q = checks.coordinates(coordinates)
    listed = _listed(bodies, Body, "bodies", _BODIES)
    acting = _listed(loads, Load, "loads", _LOADS)
    if not listed:
        raise ModelError(f"{name}: bodies=[]. An assembly needs at least one: {_BODIES}.")
    for k, b in enumerate(listed):
        if any(b is other for other in listed[:k]):
            raise ModelError(f"{name}: body {k + 1} is listed twice. List each body once.")
        if b.dimension != listed[0].dimension:
            raise ModelError(
                f"{name}: body {k + 1} has {b.dimension} components of position, body 1 has {listed[0].dimension}. Write "
                f"all of them in the plane or all in space."
            )
        _known(b, q, f"position of body {k + 1}")
    for load in acting:
        for b in _bodies_in(load):
            if not any(b is other for other in listed):
                raise ModelError(
                    f"{name}: a {type(load).__name__} acts on a {b.shown} that is not in bodies=[...]. Add it."
                )
    own = [c for b in listed for c in b.constraints]
    stated = [checks.expression(c, "constraint") for c in _flat(constraints)]
    return Assembly(str(name), q, tuple(listed), tuple(acting), (*own, *stated))


def _readable(expression: Expr) -> Expr:
    """Multiplied out where that is not much longer: squares of angular velocities are shorter as they are."""
    short = collected(expression)
    return short if short.count_ops() <= 1.5 * expression.count_ops() else expression


def _flat(given: Any) -> list[Any]:
    if isinstance(given, Sequence | sympy.MatrixBase) and not isinstance(given, str):
        return [c for part in given for c in _flat(part)]
    return [given]


def _listed(given: Any, kind: type, role: str, expected: str) -> list[Any]:
    parts = [given] if isinstance(given, kind) else _flat(given)
    for part in parts:
        if not isinstance(part, kind):
            raise ModelError(f"{role}: got {told(part)}. Expected {expected}.")
    return parts


def _known(body: Body, q: tuple[Coordinate, ...], role: str) -> None:
    known = {s for c in q for s in (c, c.dot)}
    for e in (*body.centre, *body.spin):
        checks.symbols(e, known, role)


def _sampled_rank(rows: list[list[Expr]], symbols: Sequence[str], seed: int) -> int:
    at = drawn(symbols, natural_scales([[a] for row in rows for a in row], symbols), random.Random(seed))
    with balls.precise() as flint:
        grid = balls.values(rows, {name: flint.arb(x) for name, x in at.items()})
    return 0 if grid is None else rank(grid)


def _parts_of(thing: Any, change: Callable[[Any], Any]) -> Any:
    """The same thing with its parts changed; the thing itself where nothing changed."""
    if isinstance(thing, tuple):
        parts = tuple(change(p) for p in thing)
        return thing if all(a is b for a, b in zip(thing, parts, strict=True)) else parts
    if is_dataclass(thing) and not isinstance(thing, type):
        old = {f.name: getattr(thing, f.name) for f in fields(thing)}
        new = {k: change(v) for k, v in old.items()}
        return thing if all(new[k] is v for k, v in old.items()) else _remade(thing, new)
    return thing


def _remade(thing: Any, parts: dict[str, Any]) -> Any:
    """A copy with other parts, which have been checked before."""
    copy = object.__new__(type(thing))
    for field, value in parts.items():
        object.__setattr__(copy, field, value)
    return copy


def _written(body: Body, symbols: dict[Any, Any]) -> Body:
    """A body whose position and angle are written with other symbols; its masses and moments stay."""
    changed = {"position": tuple(e.xreplace(symbols) for e in body.position)}
    if isinstance(body, PlaneBody):
        changed["angle"] = body.angle.xreplace(symbols)
    if isinstance(body, SpaceBody):
        changed["orientation"] = _turned(body.orientation, symbols)
    same = all(changed[k] == getattr(body, k) for k in changed)
    return body if same else replace(body, **changed)  # type: ignore[type-var]


def _turned(orientation: Orientation, symbols: dict[Any, Any]) -> Any:
    if not orientation.matrix.free_symbols & set(symbols):
        return orientation
    return rotation(orientation.matrix.xreplace(symbols))


def _displaced(body: Body, along: Any, by: Coordinate) -> Body:
    if along is not None and len(vector(along, "release (along)")) != body.dimension:
        raise ModelError(
            f"release (along): got {list(along)} for a {body.shown} whose position has {body.dimension} components. Give as "
            f"many: release(body, along={[1, *[0] * (body.dimension - 1)]})."
        )
    if along is not None:
        return body.moved(times(by, unit(vector(along, "release (along)"))))
    if not isinstance(body, PlaneBody):
        raise ModelError(f"release: a {body.shown} needs a direction: release(body, along=[1, 0, 0]).")
    return replace(body, angle=body.angle + by)


def _rebound(thing: Any, renewed: Mapping[int, Body]) -> Any:
    """A load acting on renewed bodies."""
    if isinstance(thing, Body):
        return renewed.get(id(thing), thing)
    return _parts_of(thing, lambda part: _rebound(part, renewed))


def _bodies_in(thing: Any) -> list[Body]:
    if isinstance(thing, Body):
        return [thing]
    if isinstance(thing, tuple):
        return [b for part in thing for b in _bodies_in(part)]
    if isinstance(thing, Load | Point):
        return [b for f in fields(thing) for b in _bodies_in(getattr(thing, f.name))]
    return []


def compose(
    name: str,
    *parts: Assembly | System,
    interaction: Any = 0,
    forces: Mapping[Coordinate, Any] | None = None,
    constraints: Sequence[Any] = (),
) -> System:
    """One system of several: Lagrangians add, less the `interaction` potential; all else that the parts have is kept.

    `forces` and `constraints` are those that join the parts. Parameters of the same name are the same parameter. Heat
    between the parts is added to the whole: whole.replace(conduction={**whole.thermal["conduction"], (S1, S2): k}).
    """
    systems = [p.system if isinstance(p, Assembly) else p for p in parts]
    if not systems:
        raise ModelError("compose: got no parts. Expected systems or assemblies: compose(name, A, B, interaction=V).")
    for k, s in enumerate(systems):
        if not isinstance(s, System):
            raise ModelError(
                f"compose: got {told(s)}. Expected systems or assemblies: compose(name, A, B, interaction=V)."
            )
        for one, many, symbols in (
            ("a coordinate", "Coordinates", s.coordinates),
            ("an entropy", "Entropies", s.entropies),
        ):
            before = {c.name for other in systems[:k] for c in (*other.coordinates, *other.entropies)}
            if shared := sorted({c.name for c in symbols} & before):
                raise ModelError(
                    f"compose: {', '.join(shared)} is {one} of {s.name} and of a system before it. {many} are known by their "
                    f"names: make those of {s.name} with other names."
                )
    extra = [checks.expression(c, "constraint") for c in _flat(constraints)]
    given = [s.arguments for s in systems]
    whole = {
        "name": name,
        "coordinates": [c for s in systems for c in s.coordinates],
        **_energies(systems, checks.expression(interaction, "interaction")),
        "entropies": [S for s in systems for S in s.entropies],
        "internal_energy": sympy.Add(*(s.internal_energy for s in systems)),
        "friction": _united(g["friction"] for g in given),
        "heat": _united(g["heat"] for g in given),
        "conduction": _united(g["conduction"] for g in given),
        "scene": [item for s in systems for item in s.scene],
        "forces": _united([*(g["forces"] for g in given), forces or {}]),
        "dissipation": sympy.Add(*(s.dissipation for s in systems)),
        "constraints": [*(c for g in given for c in g["constraints"]), *extra],
        **joined_principle(systems, extra),
    }
    return systems[0].replace(**whole)._typed_as(*systems)


def _united(parts: Iterable[Mapping[Any, Any]]) -> dict[Any, Any]:
    """One dictionary from several; entries for the same coordinate are added."""
    whole: dict[Any, Any] = {}
    for part in parts:
        for key, value in part.items():
            whole[key] = whole[key] + value if key in whole else value
    return whole


def _energies(systems: Sequence[System], interaction: Expr) -> dict[str, Expr]:
    """The kinetic and potential energies added up where all are known apart, otherwise the Lagrangians."""
    if any(s.kinetic is None for s in systems):
        mechanical = [s.lagrangian + s.internal_energy for s in systems]
        return {"lagrangian": sympy.Add(*mechanical) - interaction}
    sums = {kind: sympy.Add(*(s.energies[kind] for s in systems)) for kind in ("kinetic", "potential")}
    return {"kinetic": sums["kinetic"], "potential": sums["potential"] + interaction}


def system_of(given: Any, role: str, groups: bool = False) -> System:
    """The system that was given, or that of an assembly of bodies; anything else is refused.

    Rotations are refused too, unless the caller declares that it takes coordinates with values in groups.
    """
    system = given.system if isinstance(given, Assembly) else given
    if not isinstance(system, System):
        raise ModelError(f"{role}: got {told(system)} ({type(system).__name__}). Expected a System.")
    if not groups:
        lines_only(system, role)
    return system
