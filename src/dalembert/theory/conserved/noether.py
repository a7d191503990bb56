"""Noether's theorem for a declared family of transformations, with all its hypotheses checked.

The family x -> x + s xi(q, t), t -> t + s tau(q, t) changes L dt by s dF/dt dt. Then, with h = p.v - L,

    I = p.xi - tau h - F,      dI/dt = (Q + reaction).(xi - tau v):

I is conserved where forces and reactions do no work along the family. Invariance itself is F = 0. The signs are those of
I = p.xi: a translation gives the linear momentum, tau = 1 gives -h, and the rotation by +s about z gives +H_z.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sympy
from sympy import Expr

from ...decide.budget import Budget
from ...decide.zero import vanishes, vanishes_at
from ...display import Part, read_with
from ...errors import ModelError
from ...model import checks
from ...model.bodies.assembly import system_of
from ...model.coordinates import Coordinate, time
from ...model.heat import mechanical
from ...model.system import System
from ...symbolic import Fast, fast
from ..motion.lagrange import expanded, jacobi_integral, momenta, readable, total_derivative
from .energy_and_momenta import Integral
from .on_shell import Shell, shell
from .primitive import primitive

Generator = dict[Coordinate, Expr]


@dataclass(frozen=True, repr=False)
class NoetherCharge(Integral):
    """The charge of a family of transformations: an `Integral`, with what was checked.

    generator:  {x: xi}, the displacement of each coordinate
    tau:        the displacement of time
    gauge:      F(q, t) with  change of L = dF/dt;  None if there is no such F
    checks:     (what was asked, whether it is so), in the order in which the theorem needs them
    """

    generator: Mapping[Coordinate, Expr]
    tau: Expr
    gauge: Expr | None
    checks: tuple[tuple[str, bool], ...]

    def _parts(self) -> list[Part]:
        moved = [(f"displacement of {q}", xi) for q, xi in self.generator.items() if xi != 0]
        moved += [("displacement of t", self.tau)] if self.tau != 0 else []
        said = "conserved" if self.conserved else "not conserved"
        asked = [f"  {'yes' if holds else 'no '}  {what}" for what, holds in self.checks]
        why = self.reason.removeprefix(_failures(self.checks)).removeprefix("; ")  # the failed check is already listed
        return [*moved, *asked, (f"charge, {said}", self.expression), *([f"    {why}"] if why else [])]


def noether(
    system: System,
    family: Mapping[Coordinate, Any],
    *,
    tau: Any = 0,
    parameter: Any = None,
    budget: Budget | None = None,
) -> NoetherCharge:
    """The Noether charge of a family of transformations, whether it is conserved, and why or why not.

    family:     {x: xi(q, t)}, displacements; coordinates left out do not move. With `parameter=s` the
                transformed coordinates themselves, {x: x*cos(s) + y*sin(s), ...}, that are the identity at s = 0
    tau:        the displacement of time, for infinitesimal families
    parameter:  the parameter s of a finite family

    The charge is p.xi - tau h - F, where h = p.v - L and the family changes L dt by dF/dt dt.
    """
    system = system_of(system, "noether")
    mechanical(system, "noether")
    xi, shift = _generator(system, family, tau, parameter)
    budget = budget or Budget()
    defect = readable(_change(system, xi, shift), system)
    work = _work(system, xi, shift)
    F = primitive(defect, system.coordinates, budget)
    asked = [("the Lagrangian is invariant", vanishes(defect))]
    if not asked[0][1]:
        asked.append(("it changes by the derivative of a function F(q, t)", F is not None))
    if not all(f == 0 for f in system.force):
        asked.append(("the forces do no work along the family", vanishes(work)))
        if not vanishes(work):
            both = primitive(readable(fast(defect) + work, system), system.coordinates, budget)
            asked.append(
                ("what they do is, with the change of L, the derivative of a function F(q, t)", both is not None)
            )
            F = both
    at = shell(system)
    forms = zip(system.constraints, system.variations, strict=True)
    idle = [(_idle_text(c.expression), _idle(at, w, xi, shift)) for c, w in forms]
    asked += idle
    charge = _charge(system, xi, shift, F or sympy.S.Zero)
    holds = F is not None and all(ok for _, ok in idle)
    conserved = holds or bool(at.conserved(charge))
    reason = _reason(asked, holds, conserved, F)
    found = NoetherCharge("Noether charge", charge, conserved, reason, xi, shift, F, tuple(asked))
    return read_with(found, system.typed)


def _reason(asked: Sequence[tuple[str, bool]], holds: bool, conserved: bool, F: Expr | None) -> str:
    if holds:
        gauge = "the Lagrangian is invariant" if F == 0 else f"the Lagrangian changes by the derivative of F = {F}"
        return (
            f"{gauge}, and neither forces nor reactions work along the family" if len(asked) > 1 and F == 0 else gauge
        )
    failed = _failures(asked)
    return f"{failed}; but the rate of the charge is zero on every motion" if conserved else failed


def _failures(asked: Sequence[tuple[str, bool]]) -> str:
    return "; ".join(f"not so: {what}" for what, ok in asked if not ok)


def _generator(system: System, family: Any, tau: Any, parameter: Any) -> tuple[Generator, Expr]:
    """The displacements, complete and checked."""
    if not isinstance(family, Mapping):
        raise ModelError(
            f"noether: got {family!r}. Expected displacements {{coordinate: expression}}, for example "
            f"{{{system.coordinates[0]}: 1}} for a translation."
        )
    names = ", ".join(q.name for q in system.coordinates)
    for key in family:
        if key not in system.coordinates:
            raise ModelError(f"noether: {key} is not a coordinate of {system.name}. Its coordinates are {names}.")
    known = {*system.coordinates, *([parameter] if parameter is not None else [])}

    def read(given: Any, role: str) -> Expr:
        e = checks.expression(given, role)
        if any(v in e.free_symbols for v in system.velocities):
            raise ModelError(f"{role}: {e} contains a velocity. Displacements are functions of {names} and time.")
        return checks.symbols(e, known, role)

    shift = read(tau, "displacement of time")
    if parameter is None:
        return {q: read(family.get(q, 0), f"displacement of {q}") for q in system.coordinates}, shift
    if shift != 0:
        raise ModelError("noether: tau= goes with displacements. Give {x: xi, ...} and tau, without parameter=.")
    return {q: _slope(q, read(family.get(q, q), f"image of {q}"), parameter) for q in system.coordinates}, shift


def _slope(q: Coordinate, image: Expr, s: Any) -> Expr:
    """d/ds at s = 0 of the image of a coordinate, which must be the coordinate itself there."""
    if not isinstance(s, sympy.Symbol):
        raise ModelError(f'noether: parameter={s!r} is not a symbol. Make it with s = dalembert.parameters("s").')
    start = image.subs(s, 0)
    if not vanishes(start - q):
        raise ModelError(
            f"noether: at {s} = 0 the image of {q} is {start}, not {q}. A family begins with the identity; if these are "
            f"displacements, leave parameter= out."
        )
    return sympy.expand(sympy.diff(image, s).subs(s, 0))


def _change(system: System, xi: Generator, tau: Expr) -> Fast:
    """The change of L dt: xi dL/dq + (d xi/dt - v d tau/dt) dL/dv + tau dL/dt + L d tau/dt."""
    L, slow_down = fast(system.lagrangian), total_derivative(tau, system.coordinates)
    change = fast(tau) * L.diff(fast(time)) + L * slow_down
    for q, displacement in xi.items():
        rate = total_derivative(displacement, system.coordinates) - fast(q.dot) * slow_down
        change += fast(displacement) * L.diff(fast(q)) + rate * L.diff(fast(q.dot))
    return change


def _along(xi: Generator, tau: Expr) -> list[Fast]:
    """The displacement at a fixed time, xi - tau v."""
    return [fast(x) - fast(tau) * fast(q.dot) for q, x in xi.items()]


def _work(system: System, xi: Generator, tau: Expr) -> Fast:
    return sum((fast(f) * d for f, d in zip(system.force, _along(xi, tau), strict=True)), start=fast(0))


def _idle_text(constraint: Expr) -> str:
    return f"reactions of {constraint} = 0 do no work along the family"


def _idle(at: Shell, form: Sequence[Expr], xi: Generator, tau: Expr) -> bool:
    """Whether a one-form vanishes on the displacement, at states that satisfy the constraints."""
    work = sum((fast(a) * d for a, d in zip(form, _along(xi, tau), strict=True)), start=fast(0))
    points = at.exact_points
    return vanishes_at(work, points) if points else vanishes(work)


def _charge(system: System, xi: Generator, tau: Expr, F: Expr) -> Expr:
    flow = sum((p * fast(x) for p, x in zip(momenta(system), xi.values(), strict=True)), start=fast(0))
    return expanded(flow - fast(tau) * jacobi_integral(system) - fast(F), system)


# the symmetries of an isolated system, for particles given by Cartesian coordinates: [(x1, y1, z1), (x2, y2, z2), ...]
Particles = Sequence[Sequence[Coordinate]]


def translations(particles: Particles) -> list[Generator]:
    """One family per axis: all particles move along it together. Charges: the linear momentum."""
    return [{r[k]: sympy.S.One for r in particles} for k in range(_dimension(particles))]


def rotations(particles: Particles) -> list[Generator]:
    """The rotation of a plane, or those about x, y, z. Charges: the angular momentum about the origin."""
    planes = [(0, 1)] if _dimension(particles) == 2 else [(1, 2), (2, 0), (0, 1)]
    return [{s: e for r in particles for s, e in ((r[i], -r[j]), (r[j], r[i]))} for i, j in planes]


def boosts(particles: Particles) -> list[Generator]:
    """One family per axis: all particles gain the same velocity. Charges: t P - sum m r."""
    return [{r[k]: time for r in particles} for k in range(_dimension(particles))]


def _dimension(particles: Particles) -> int:
    try:
        sizes = {len(r) for r in particles}
    except TypeError:
        sizes = set()
    if len(sizes) != 1 or not sizes <= {2, 3}:
        raise ModelError(
            f"got {particles!r}. Expected the Cartesian coordinates of each particle, two or three: "
            f"[(x1, y1, z1), (x2, y2, z2)]."
        )
    return sizes.pop()
