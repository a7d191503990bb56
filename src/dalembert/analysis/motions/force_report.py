"""Every force along a motion: its components, its power, its work; reactions of joints by their names.

The forces of a stated system are those that it was given, by coordinate, and the reactions of its constraints. Of an assembly
they are its loads, and the forces and torques in its joints follow from the balances of Newton and Euler.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import sympy
from sympy import Expr

from ...display import Part, Shown, Table
from ...errors import ModelError, told
from ...model.bodies.assembly import Assembly
from ...model.bodies.joints import Clamp, Contact
from ...model.bodies.kinematics import minus
from ...model.bodies.loads import Load
from ...model.bodies.newton_euler import NewtonEuler, virtual_work
from ...model.coordinates import Parameter
from ...model.space import slopes
from ...model.system import System
from ...run.trajectory import Trajectory
from ...run.values import Array
from ...symbolic import Fast, fast, gradient, jacobian, substitute, total
from ...theory.motion import state_maps as maps
from ...theory.motion.lagrange import multipliers, reaction
from ...waist.layout import Groups, spans
from ...waist.stepmap import pointwise
from .balances import integrals_between

Kind = Literal["force", "reaction", "joint"]


@dataclass(frozen=True, eq=False)
class AppliedForce:
    """A force along a motion; with lanes every array has a leading axis of lanes.

    components:  by coordinate the generalised force, of a joint the force along each direction, or the torque
    power:       the work per unit of time; of a joint between two bodies, that on both
    work:        done since the start; what an event does at an instant is not in it
    kind:        what acts: a force that was stated or a load, the reaction of a constraint, a joint
    """

    name: str
    components: Mapping[str, Array]
    power: Array
    work: Array
    kind: Kind = "force"


@dataclass(frozen=True, eq=False, repr=False)
class ForceReport(Shown):
    """The forces along a motion: `report["spring 1"].work`."""

    run: Trajectory
    forces: Mapping[str, AppliedForce]

    def __getitem__(self, name: str) -> AppliedForce:
        if name not in self.forces:
            raise KeyError(f"{name}: the forces of this report are {', '.join(self.forces) or 'none'}.")
        return self.forces[name]

    def _parts(self) -> Sequence[Part]:
        if not self.forces:
            return [f"{self.run.system.name}: no force acts, and there is no constraint."]
        rows = [
            (f.name, _largest(f.components.values()), _largest([f.power]), _last(f.work)) for f in self.forces.values()
        ]
        head = ("force", "largest component", "largest power", "work in all")
        return [f"{self.run.system.name}: forces, t = {self.run.time[0]:g} to {self.run.time[-1]:g}", Table(head, rows)]


def _largest(arrays: Iterable[Array]) -> str:
    """The largest finite size."""
    return f"{max((float(np.abs(a[np.isfinite(a)]).max(initial=0.0)) for a in arrays), default=0.0):.6g}"


def _last(work: Array) -> str:
    """The work at the end of the motion; of many lanes, the least and the largest."""
    ends = [w[np.isfinite(w)][-1] if np.isfinite(w).any() else np.nan for w in np.atleast_2d(work)]
    return f"{ends[0]:.6g}" if len(ends) == 1 else f"{np.nanmin(ends):.6g} to {np.nanmax(ends):.6g}"


def force_report(
    run: Trajectory, assembly: Assembly | None = None, joints: Sequence[Contact | Clamp] = ()
) -> ForceReport:
    """The forces along a motion, each with its power and its work; see `Trajectory.forces`."""
    system = _system(run)
    run = run.at_nodes
    if assembly is None:
        if joints:
            raise ModelError("forces: joints need the assembly: run.forces(assembly, joints=[...]).")
        acting = _stated(system)
    else:
        if not isinstance(assembly, Assembly):
            raise ModelError(f"forces: got {told(assembly)}. Expected an assembly, from dalembert.bodies.assemble.")
        if assembly.system != system:
            raise ModelError(
                f"forces: the run is of {system.name!r}, and {assembly.name!r} makes another system. Give the "
                f"assembly whose system was simulated."
            )
        acting = _loads(assembly)
    found = {name: _applied(run, name, parts, power) for name, parts, power in acting}
    found |= {name: _applied(run, name, parts, power, "reaction") for name, parts, power in _reactions(system)}
    if joints:
        assert assembly is not None
        found |= _joints(run, assembly, joints)
    return ForceReport(run, found)


def _system(run: Trajectory) -> System:
    if (system := run.system.continuous) is None:
        raise ModelError(f"forces: {run.system.name!r} is given by its discrete Lagrangian, which has no forces.")
    return system


# What acts: a name, generalised forces by coordinate, the power. The multipliers in it are symbols.
Acting = tuple[str, dict[str, Fast], Fast]


def _by_coordinate(system: System, name: str, forces: Iterable[Any]) -> Acting:
    pairs = [(q, fast(f)) for q, f in zip(system.coordinates, forces, strict=True)]
    return name, {str(q): f for q, f in pairs if f != 0}, total(f * fast(q.dot) for q, f in pairs)


def _stated(system: System) -> list[Acting]:
    """The forces in the statement: of the potential and the internal energy, by coordinate, of friction."""
    q = system.coordinates
    energies = {
        "potential": system.potential if system.kinetic is not None else 0,
        "internal energy": system.internal_energy,
    }
    found = [_by_coordinate(system, k, [-d for d in slopes(e, q)]) for k, e in energies.items() if fast(e) != 0]
    for k, (c, f) in enumerate(zip(q, system.forces, strict=True)):
        if f != 0:
            found.append(_by_coordinate(system, f"force on {c}", [f if i == k else 0 for i in range(len(q))]))
    if system.dissipation != 0:
        resisting = gradient(fast(system.dissipation), system.velocities)
        found.append(_by_coordinate(system, "dissipation", [-d for d in resisting]))
    for S, row in zip(system.entropies, system.friction, strict=True):
        found.append(_by_coordinate(system, f"friction that heats {S}", row))
    return [one for one in found if one[1]]


def _reactions(system: System) -> list[Acting]:
    """The reaction of each constraint; where multipliers are part of the state, of all together."""
    whole, sought = reaction(system), multipliers(system)
    if not system.constraints:
        return []
    if system.principle.carried(system):
        return [_by_coordinate(system, "reactions", whole)]
    rows = zip(*jacobian(whole, sought), strict=True)  # the reaction is affine in the multipliers
    found = [
        _by_coordinate(system, f"reaction {a + 1}", [fast(m) * w for w in row])
        for a, (m, row) in enumerate(zip(sought, rows, strict=True))
    ]
    rest = _by_coordinate(system, "reaction of the principle", [substitute(e, dict.fromkeys(sought, 0)) for e in whole])
    return [*found, *([rest] if rest[1] else [])]


def _loads(assembly: Assembly) -> list[Acting]:
    """Each load of an assembly, conservative ones included; loads of a kind are numbered."""
    kinds = [re.sub(r"(?<=[a-z])(?=[A-Z])", " ", type(load).__name__).lower() for load in assembly.loads]
    found = []
    for k, (kind, load) in enumerate(zip(kinds, assembly.loads, strict=True)):
        name = kind if kinds.count(kind) == 1 else f"{kind} {kinds[: k + 1].count(kind)}"
        found.append(_load(assembly, name, load))
    return found


def _load(assembly: Assembly, name: str, load: Load) -> Acting:
    efforts = load.efforts(assembly.bodies)
    forces = virtual_work(efforts, assembly.coordinates)
    power = total(fast(f) * fast(v) for e in efforts for f, v in zip(e.value, e.rates, strict=True))
    return name, {str(q): fast(f) for q, f in forces.items() if f != 0}, power


# Numbers along a run


def _along(run: Trajectory, expressions: Mapping[str, Any]) -> dict[str, Array]:
    """Arrays (lanes, times) of expressions that may contain the multipliers of the run; NaN where a lane has ended."""
    system, found = _system(run), {}
    moving = np.isfinite(run.table("position")).all(axis=-1)
    if system.principle.carried(system):  # the rates of the multipliers, which follow from the equations of motion
        motion = maps.motion_map(system)
        outputs = {name: fast(e) for name, e in expressions.items()}
        stepmap = pointwise(f"{system.name}, forces", motion.state, motion.parameters, outputs, motion.blocks)
        table = run.at_points(stepmap, run.table("velocity"))
        return {name: np.where(moving, table[..., k], np.nan) for k, name in enumerate(outputs)}
    symbols, parts = list(multipliers(system)), dict[str, Fast]()
    for name, e in expressions.items():
        whole = fast(e)
        parts[f"{name}, 0"] = substitute(whole, dict.fromkeys(symbols, 0))
        parts |= {f"{name}, {a + 1}": d for a, d in enumerate(gradient(whole, symbols))}
    table = run.at_points(maps.quantity_map(system, parts), run.table("velocity"))
    columns = dict(zip(parts, np.moveaxis(table, -1, 0), strict=True))
    for name in expressions:
        value = columns[f"{name}, 0"]
        for a in range(len(symbols)):
            slope = columns[f"{name}, {a + 1}"]
            value = value + np.where(slope == 0, 0.0, slope * run.table("multiplier")[..., a])
        found[name] = np.where(moving, value, np.nan)
    return found


def _applied(run: Trajectory, name: str, parts: Mapping[str, Fast], power: Fast, kind: Kind = "force") -> AppliedForce:
    table = _along(run, {**{f"on {k}": e for k, e in parts.items()}, "power": power})
    return _made(run, name, {k: table[f"on {k}"] for k in parts}, table["power"], kind)


def _made(run: Trajectory, name: str, components: Mapping[str, Array], power: Array, kind: Kind) -> AppliedForce:
    shaped = run.by_lane
    parts = {k: shaped(v) for k, v in components.items()}
    return AppliedForce(name, parts, shaped(power), shaped(_work(run, power)), kind)


def _work(run: Trajectory, power: Array) -> Array:
    """The work since the start: integrals between records, without those in which an event acted."""
    order = run.method.order if run.method is not None else 4
    between = integrals_between(run, power, order + 2)
    between = np.where((np.diff(run.stretches, axis=1) > 0) & np.isnan(between), 0.0, between)
    return np.concatenate([np.zeros((len(power), 1)), np.cumsum(between, axis=1)], axis=1)


# Joints


def _joints(run: Trajectory, assembly: Assembly, joints: Sequence[Contact | Clamp]) -> dict[str, AppliedForce]:
    """The reactions of the joints at every node, from the balances of force and moment."""
    balances = assembly.newton_euler(joints)
    n = len(balances.coordinates)
    solved = _solved(run, balances)[..., spans(n, len(balances.unknowns) - n)[1]]
    listed = [joints] if isinstance(joints, Contact | Clamp) else list(joints)
    found: dict[str, AppliedForce] = {}
    at = 0
    for k, joint in enumerate(listed):
        rates = _rates(joint)
        name = joint.name or f"{type(joint).__name__.lower()} {k + 1}"
        if name in found:
            raise ModelError(f"forces: two joints are called {name!r}. Give each a name of its own.")
        parts = {word: solved[..., at + i] for i, word in enumerate(rates)}
        speeds = _along(run, rates)
        power = sum((parts[word] * speeds[word] for word in rates), start=np.zeros(solved.shape[:-1]))
        found[name] = _made(run, name, parts, power, "joint")
        at += len(rates)
    return found


def _rates(joint: Contact | Clamp) -> dict[str, Expr]:
    """By the name of each component the speed that it works on: that of the body, less that of the one that exerts it."""
    if isinstance(joint, Clamp):
        spin = joint.on.spin if joint.by is None else minus(joint.on.spin, joint.by.spin)
        words = ("torque",) if len(spin) == 1 else ("torque about x", "torque about y", "torque about z")
        return dict(zip(words, spin, strict=True))
    speed = joint.on.at(joint.at).velocity
    if joint.by is not None:
        speed = minus(speed, joint.by.at(joint.at).velocity)
    return {
        f"along [{', '.join(map(str, d))}]": sum((a * v for a, v in zip(d, speed, strict=True)), start=sympy.S.Zero)
        for d in joint.along or ()
    }


def _solved(run: Trajectory, balances: NewtonEuler) -> Array:
    """Accelerations and reactions at every node: (lanes, times, unknowns)."""
    system = _system(run)
    rows = [fast(r) for r in balances.residuals]
    matrix, zero = jacobian(rows, balances.unknowns), dict.fromkeys(balances.unknowns, 0)
    right = [-substitute(r, zero) for r in rows]
    unknown = {s for r in balances.residuals for s in r.free_symbols if isinstance(s, Parameter)} - {*system.parameters}
    if unknown:
        names = ", ".join(sorted(s.name for s in unknown))
        raise ModelError(
            f"forces: {names} is in the balances of {balances.name!r}, but the motion does not depend on it, so the "
            f"run has no number for it. Write the number into the body or the load."
        )
    groups, count = Groups(matrix=[e for row in matrix for e in row], right=right), len(balances.unknowns)
    table = run.at_points(maps.quantity_map(system, groups.outputs), run.table("velocity"))
    found = np.full((*table.shape[:2], count), np.nan)
    for place in np.argwhere(np.isfinite(table).all(axis=-1)):
        here = table[tuple(place)]
        m, b = groups.split(here, "matrix", "right")
        found[tuple(place)] = balances.solved(m.reshape(len(rows), count), b)
    return found
