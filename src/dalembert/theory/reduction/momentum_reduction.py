"""Routh's reduction by a group that need not be commutative: the motion on a level of the momentum, in shape and momentum.

With mu = dl/dxi and R(r, r', mu) = l - <mu, xi>, in which xi is expressed by mu, the motion is d/dt dR/dr' - dR/dr = F and
mu' = ad*_xi mu with xi = -dR/dmu. On the level <J, e_i> = j_i the momentum in the body is mu = Ad*_g j, on one coadjoint
orbit, of dimension dim G - dim G_j. In commutative groups mu is constant, and R is the Routhian of `dalembert.routh`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import sympy
from sympy import Eq, Expr, Matrix, Symbol

from ...decide import balls
from ...decide.elimination import independent
from ...decide.zero import vanishes, vanishes_at
from ...display import Part, Shown
from ...errors import ModelError, StartError, told
from ...model import checks
from ...model.coordinates import Coordinate, Parameter, QuasiVelocity
from ...symbolic import Fast, fast, gradient, slow, substitute, total
from ..algebra import by_powers, tidy
from .group_and_shape import function_of
from .group_law import near_identity
from .rank_drops import common_zeros
from .reduced import ReducedEquations, ReducedSystem
from .splitting import columns, kernel
from .symmetry import Symmetry


@dataclass(frozen=True, eq=False, repr=False)
class MomentumReduction(Shown):
    """A system reduced by a symmetry to a level of its momentum; see `reduce`.

    reduced:  the system reduced by the symmetry alone
    level:    the value of the momentum map for each element of the group, numbers or parameters
    """

    reduced: ReducedSystem
    level: Mapping[Symbol, Expr]

    @property
    def symmetry(self) -> Symmetry:
        """The group."""
        return self.reduced.symmetry

    @property
    def shape(self) -> tuple[Coordinate, ...]:
        """The shape variables."""
        return self.reduced.shape

    @cached_property
    def momenta(self) -> tuple[QuasiVelocity, ...]:
        """The symbols of mu = dl/dxi, one for each element."""
        return tuple(QuasiVelocity(f"mu_{g.name}") for g in self.symmetry.elements)

    @cached_property
    def velocities(self) -> dict[Any, Expr]:
        """{component of xi: its expression in shape, shape velocities and mu}."""
        xi, k = list(self.reduced.velocities.values()), len(self.shape)
        inertia = self.reduced.metric[k:, k:]
        rest = Matrix([p.xreplace(dict.fromkeys(xi, sympy.S.Zero)) for p in self.reduced.body_momentum])
        found = inertia.inv() * (Matrix(self.momenta) - rest)
        return {x: self._collected(e) for x, e in zip(xi, found, strict=True)}

    @cached_property
    def routhian(self) -> Expr:
        """R = l - <mu, xi>, in shape, shape velocities and mu."""
        l = self.reduced.lagrangian.xreplace(self.velocities)
        return self._collected(
            l - sympy.Add(*(m * v for m, v in zip(self.momenta, self.velocities.values(), strict=True)))
        )

    def _collected(self, expression: Any) -> Expr:
        """An expression by powers of shape velocities and mu, if it is quadratic in them."""
        return by_powers(expression, [*(q.dot for q in self.shape), *self.momenta])

    @cached_property
    def forces(self) -> tuple[Expr, ...]:
        """The given forces on the shape."""
        return tuple(self._collected(f.xreplace(self.velocities)) for f in self.reduced.forces[: len(self.shape)])

    # the level
    @cached_property
    def isotropy(self) -> Matrix:
        """A basis of the algebra of the elements that fix the level, its columns."""
        return columns(kernel(_brackets(self.symmetry, list(self.level.values()))), self.symmetry.dimension)

    @cached_property
    def orbit(self) -> dict[Any, Expr]:
        """{mu: Ad*_g j}: the points of the coadjoint orbit by group elements."""
        at = self.symmetry.Ad(self.symmetry.elements).T * Matrix(list(self.level.values()))
        return dict(zip(self.momenta, map(tidy, at), strict=True))

    @property
    def orbit_dimension(self) -> int:
        """The dimension of the coadjoint orbit; that of the reduced motion is twice the number of shapes more."""
        return self.symmetry.dimension - int(self.isotropy.cols)

    @cached_property
    def singular(self) -> tuple[Expr, ...]:
        """Expressions in the parameters of the level that vanish together where it is not regular."""
        return common_zeros(_brackets(self.symmetry, list(self.level.values())), self.orbit_dimension)

    # the equations
    @cached_property
    def left_sides(self) -> tuple[Fast, ...]:
        """d/dt dR/dr' - dR/dr - F for each shape variable, then mu' - ad*_xi mu."""
        r, R, mu = self.shape, fast(self.routhian), self.momenta
        rates = [(q, q.dot) for q in r] + [(q.dot, q.ddot) for q in r] + [(m, m.dot) for m in mu]
        state = [s for s, _ in rates]

        def rate(e: Fast) -> Fast:
            return total(d * fast(v) for d, (_, v) in zip(gradient(e, state), rates, strict=True))

        slopes = zip(gradient(R, [q.dot for q in r]), gradient(R, r), self.forces, strict=True)
        shape = [rate(p) - e - fast(f) for p, e, f in slopes]
        c, n, xi = self.symmetry.structure, range(len(mu)), list(self.velocities.values())
        group = [m.dot - sympy.Add(*(c[i][j][k] * xi[i] * mu[k] for i in n for k in n)) for j, m in enumerate(mu)]
        return (*shape, *map(fast, group))

    def equations(self) -> ReducedEquations:
        """Lagrange's equations of R in the shape, and the motion of mu on its coadjoint orbit."""
        rates = [*(q.ddot for q in self.shape), *(m.dot for m in self.momenta)]
        own = [*self.shape, *(q.dot for q in self.shape), *self.momenta, *self.reduced.system.parameters, *rates]
        found = []
        for e in self.left_sides:
            parts = [*zip(gradient(e, rates), rates, strict=True), (substitute(e, dict.fromkeys(rates, 0)), 1)]
            found.append(sympy.Add(*(self._collected(slow(d, own)) * a for d, a in parts)))
        title = f"{self.reduced.system.name}, on a level of the momentum: Routh's equations"
        return ReducedEquations(title, tuple(Eq(e, 0, evaluate=False) for e in found), ())

    # runs
    def start(self, given: Mapping[Any, Any], parameters: Mapping[Any, Any] | None = None) -> dict[Any, Any]:
        """A start of `reduced` on the level.

        given:  shape variables, their velocities and group elements, {symbol: value}; elements left out are the identity
        """
        r, elements = self.shape, self.symmetry.elements
        values = {getattr(k, "name", k): v for k, v in given.items()} if isinstance(given, Mapping) else {}
        needed = [*(q.name for q in r), *(q.dot.name for q in r)]
        known = {*needed, *(g.name for g in elements)}
        if not isinstance(given, Mapping) or not set(needed) <= set(values) <= known:
            raise StartError(
                f"start: got {told(given)}. Expected {', '.join(needed) or 'no shape variables'}, and group elements "
                f"{', '.join(map(str, elements))} where the momentum in the body is to differ from its level."
            )
        identity = dict(zip((g.name for g in elements), map(float, self.symmetry.identity), strict=True))
        place = identity | values
        names = [*elements, *r, *(q.dot for q in r)]
        numbers = {Symbol(getattr(p, "name", p), real=True): v for p, v in (parameters or {}).items()}
        own = {p: numbers[Symbol(p.name, real=True)] for p in self._parameters if Symbol(p.name, real=True) in numbers}
        speeds = [e.xreplace(self.orbit) for e in self.velocities.values()]
        found = function_of(names, speeds, own)(*(place[s.name] for s in names))
        xi = [row if row.size > 1 else float(row[0]) for row in found]
        return {s: values[s.name] for q in r for s in (q, q.dot)} | dict(zip(self.velocities, xi, strict=True))

    @property
    def _parameters(self) -> list[Parameter]:
        own = {s for e in self.level.values() for s in e.free_symbols}
        return [*self.reduced.system.parameters, *sorted(own - set(self.reduced.system.parameters), key=str)]

    def reconstruct(self, motion: Any, at: Mapping[Any, Any], parameters: Mapping[Any, float] | None = None) -> Any:
        """The motion of the coordinates; see `ReducedSystem.reconstruct`."""
        return self.reduced.reconstruct(motion, at, parameters)

    def _parts(self) -> list[Part]:
        names = ", ".join(f"{g}: {e}" for g, e in self.level.items())
        parts: list[Part] = [f"{self.reduced.system.name}, reduced to the momentum {names}"]
        parts += [("Routhian", self.routhian), *self.equations().equations]
        parts += [("Velocities of the group:"), *(Eq(x, e, evaluate=False) for x, e in self.velocities.items())]
        parts.append(
            f"The momentum stays on a coadjoint orbit of dimension {self.orbit_dimension}; elements that fix the level: "
            f"{self.isotropy.cols}."
        )
        if self.singular:
            parts.append(f"Not regular where {' and '.join(f'{e} = 0' for e in self.singular)}.")
        return parts


def _brackets(symmetry: Symmetry, momentum: list[Any]) -> Matrix:
    """<momentum, [e_i, e_j]>; its kernel is the algebra of the elements that fix the momentum."""
    c, n = symmetry.structure, range(symmetry.dimension)
    return Matrix([[tidy(sympy.Add(*(c[i][j][k] * momentum[k] for k in n))) for j in n] for i in n])


def reduce_to_level(reduced: ReducedSystem, momentum: Mapping[Any, Any]) -> MomentumReduction:
    """The reduction of a reduced system to a level of its momentum; the equations are compared by value before it returns."""
    _check_system(reduced)
    level = _level(reduced, momentum)
    found = MomentumReduction(reduced, level)
    _check_regular(found)
    _confirm(found)
    return found


def _check_system(reduced: ReducedSystem) -> None:
    k, name = len(reduced.shape), reduced.system.name
    if reduced.system.constraints or reduced.system.has_own_variations:
        raise ModelError(
            f"reduce: momentum=... of {name!r}, which has constraints: their reactions change the momentum. Leave momentum "
            f"out: reduce(system, symmetry) has the equations, and nonholonomic_momentum."
        )
    for g, f in zip(reduced.symmetry.elements, reduced.forces[k:], strict=True):
        if f != 0:
            raise ModelError(
                f"reduce: momentum=... of {name!r}: the force {f} along {g} changes the momentum. Leave momentum out, or "
                f"reduce by elements along which no force acts."
            )
    inertia, speeds = reduced.metric[k:, k:], set(reduced.velocities.values())
    if inertia.free_symbols & speeds or vanishes(inertia.det()):
        raise ModelError(
            f"reduce: momentum=... of {name!r}: the momenta do not determine the velocities of the group linearly. Expected a "
            f"kinetic energy quadratic in {', '.join(map(str, reduced.velocities.values()))}, with an inertia that is not "
            f"singular. Leave momentum out, or reduce by fewer elements."
        )


def _level(reduced: ReducedSystem, given: Any) -> dict[Symbol, Expr]:
    elements = reduced.symmetry.elements
    named = {getattr(k, "name", k): v for k, v in given.items()} if isinstance(given, Mapping) else {}
    if set(named) != {g.name for g in elements}:
        like = ", ".join(f"{g}: 1" for g in elements)
        raise ModelError(
            f"reduce: momentum={told(given)}. Expected a value for each element of the group, such as momentum={{{like}}}."
        )
    found = {}
    for g in elements:
        e = checks.expression(named[g.name], f"momentum of {g}")
        found[g] = checks.symbols(e, {s for s in e.free_symbols if isinstance(s, Parameter)}, f"momentum of {g}")
    return found


def _check_regular(found: MomentumReduction) -> None:
    """The level is on an orbit of the largest dimension."""
    s, level = found.symmetry, found.level
    general = _brackets(s, list(found.momenta))
    grids = (balls.values([list(general.row(i)) for i in range(general.rows)], at)
             for at in near_identity([*general], {}, 3))  # fmt: skip
    largest = max((len(independent(grid)[0]) for grid in grids if grid is not None), default=0)
    if found.orbit_dimension < largest:
        told_level = ", ".join(f"{g}: {e}" for g, e in level.items())
        raise ModelError(
            f"reduce: momentum={{{told_level}}} is not regular: {found.isotropy.cols} independent elements of the algebra of "
            f"{', '.join(map(str, s.elements))} fix it, of almost all momenta {s.dimension - largest}. Expected a momentum "
            f"whose coadjoint orbit has the dimension {largest}, not {found.orbit_dimension}. Give another one, or leave "
            f"momentum out: reduce(system, symmetry) has all levels."
        )


def _confirm(found: MomentumReduction) -> None:
    """Refuse equations that differ in value from those of the reduced system at mu = dl/dxi."""
    reduced, frame = found.reduced, found.reduced.frame
    state = [*reduced.shape, *frame.velocities]
    rates = [*(q.dot for q in reduced.shape), *frame.accelerations]
    body = [fast(e) for e in reduced.body_momentum]
    table: dict[Any, Any] = dict(zip(found.momenta, body, strict=True))
    for m, e in zip(found.momenta, body, strict=True):
        table[m.dot] = total(d * fast(v) for d, v in zip(gradient(e, state), rates, strict=True))
    own = [substitute(e, table) for e in found.left_sides]
    points = near_identity([*own, *reduced.left_sides], {}, 3)
    if not all(vanishes_at(a - b, points) for a, b in zip(own, reduced.left_sides, strict=True)):
        raise ModelError(
            f"reduce: the equations on the level could not be confirmed: at random states they differ from those of "
            f"{reduced.system.name!r}, reduced. Please report this system."
        )
