"""Chaplygin's form: the motion of the shape alone, its gyroscopic force, whether a measure is invariant, and whether another
time makes the motion Hamiltonian.

The gyroscopic force is that of the curvature, -<dl/dxi, B(r', .)>. With dt = N dtau and P = p/N it disappears if it is
r'_k (p_j d_k - p_k d_j) log N. Its divergence in p is then (m - 1) times the rate of log N, with m shape variables, so that
N = f^(-1/(m - 1)), with f the density of the invariant measure; with m = 2 this is always so (Chaplygin's theorem).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import sympy
from sympy import Expr, Matrix

from ...decide import balls
from ...decide.budget import Budget
from ...decide.elimination import independent, solution
from ...decide.zero import has_turns, vanishes
from ...display import Part, Shown
from ...model.coordinates import Coordinate, QuasiVelocity
from ...symbolic import fast
from ..algebra import attempt, by_powers, tidy
from .group_law import near_identity

LARGEST = 12
"""The largest denominator of the power of a determinant."""

SECONDS = 10
"""Seconds that an integration may take."""

if TYPE_CHECKING:
    from .reduced import ReducedSystem


@dataclass(frozen=True, eq=False, repr=False)
class Chaplygin(Shown):
    """The reduced motion of a Chaplygin symmetry: d/dt dl/dr' - dl/dr = force.

    lagrangian:  l(r, M r')
    gyroscopic:  -<dl/dxi, B(r', .)>, one for each shape variable; it does no work
    forces:      the given forces on the shape
    density:     f(r) with f dr dp invariant along the motion; None if there is no such function of the shape
    """

    shape: tuple[Coordinate, ...]
    lagrangian: Expr
    gyroscopic: tuple[Expr, ...]
    forces: tuple[Expr, ...]
    density: Expr | None

    @cached_property
    def multiplier(self) -> Expr | None:
        """Chaplygin's reducing multiplier: with dt = N dtau the motion is Hamiltonian; None if no N of the shape does it."""
        return _multiplier(self)

    @cached_property
    def hamiltonisation(self) -> Hamiltonisation | None:
        """Time and momenta in which the motion is Hamiltonian; None if a function of the shape does not make it so."""
        return _hamiltonised(self)

    @cached_property
    def not_periodic(self) -> tuple[Coordinate, ...]:
        """Shape variables in which Lagrangian and forces have the period 2 pi, and the density has not."""
        if self.density is None:
            return ()
        motion = (self.lagrangian, *self.gyroscopic, *self.forces)

        return tuple(r for r in self.shape if has_turns(motion, r) and not has_turns([self.density], r))

    def _parts(self) -> list[Part]:
        measure = "no invariant measure with a density of the shape alone"
        parts: list[Part] = [("Lagrangian of the shape", self.lagrangian)]
        parts += [(f"gyroscopic force on {r}", f) for r, f in zip(self.shape, self.gyroscopic, strict=True)]
        parts.append(measure if self.density is None else ("density of the invariant measure", self.density))
        if self.not_periodic:
            names = ", ".join(map(str, self.not_periodic))
            parts.append(
                f"The density is not periodic in {names}: where these are angles, it has no value for a position."
            )
        none = "no time dt = N dtau with N of the shape makes the motion Hamiltonian"
        return [*parts, none if self.multiplier is None else ("multiplier N of dt = N dtau", self.multiplier)]


@dataclass(frozen=True, eq=False, repr=False)
class Hamiltonisation(Shown):
    """A reduced motion as Hamilton's equations in another time: dr/dtau = dH/dP, dP/dtau = -dH/dr + forces.

    multiplier:   N, with dt = N dtau
    momenta:      {P: its expression in the shape and its velocities by t}, dl/dr' / N
    hamiltonian:  H(r, P), the energy
    forces:       the given forces on the shape, in r and P
    """

    shape: tuple[Coordinate, ...]
    multiplier: Expr
    momenta: Mapping[QuasiVelocity, Expr]
    hamiltonian: Expr
    forces: tuple[Expr, ...]

    @cached_property
    def rates(self) -> dict[Any, Expr]:
        """{symbol: its derivative by tau}, of shape variables and momenta."""
        H = self.hamiltonian
        found = {r: tidy(H.diff(P)) for r, P in zip(self.shape, self.momenta, strict=True)}
        pushed = zip(self.shape, self.momenta, self.forces, strict=True)
        return {**found, **{P: tidy(f - H.diff(r)) for r, P, f in pushed}}

    def _parts(self) -> list[Part]:
        parts: list[Part] = [("multiplier N of dt = N dtau", self.multiplier)]
        parts += [(f"{P}", e) for P, e in self.momenta.items()]
        return [*parts, ("Hamiltonian", self.hamiltonian)]


def _multiplier(shape: Chaplygin) -> Expr | None:
    """The multiplier that the density gives, if the gyroscopic force is of its form, by value."""
    r, l, m = shape.shape, shape.lagrangian, len(shape.shape)
    if m == 1:
        return sympy.S.One
    if m == 0 or shape.density is None:
        return None
    N = tidy(sympy.powdenest(shape.density ** sympy.Rational(1, 1 - m), force=True))
    N = N.as_independent(*r, as_Add=False)[1]  # constant factors are free
    v, n = [q.dot for q in r], range(m)
    p, slopes = [l.diff(w) for w in v], [N.diff(q) / N for q in r]
    for j in n:
        own = sympy.Add(*(v[k] * (p[j] * slopes[k] - p[k] * slopes[j]) for k in n))
        if not vanishes(shape.gyroscopic[j] - own):
            return None
    return N


def _hamiltonised(shape: Chaplygin) -> Hamiltonisation | None:
    """Momenta and Hamiltonian with the multiplier, where the momenta determine the velocities linearly."""
    r, l, N = shape.shape, shape.lagrangian, shape.multiplier
    if N is None:
        return None
    v = [q.dot for q in r]
    p = [l.diff(w) for w in v]
    inertia = Matrix([[tidy(a.diff(w)) for w in v] for a in p])
    if inertia.free_symbols & set(v) or vanishes(inertia.det()):
        return None
    P = [QuasiVelocity(f"P_{q.name}") for q in r]
    rest = Matrix([e.xreplace(dict.fromkeys(v, sympy.S.Zero)) for e in p])
    inverse = inertia.inv().applyfunc(tidy)
    moving = N * Matrix(P) - rest
    speeds = dict(zip(v, inverse * moving, strict=True))
    energy = (moving.T * inverse * moving)[0] / 2 - l.xreplace(dict.fromkeys(v, sympy.S.Zero))
    momenta = {s: by_powers(e / N, v) for s, e in zip(P, p, strict=True)}
    forces = tuple(by_powers(f.xreplace(speeds), P) for f in shape.forces)
    return Hamiltonisation(r, N, momenta, by_powers(energy, P), forces)


def chaplygin(reduced: ReducedSystem) -> Chaplygin:
    """The Lagrangian of the shape, the gyroscopic force of the curvature, and the density of an invariant measure."""
    r, xi = reduced.shape, list(reduced.velocities.values())
    speeds = Matrix([q.dot for q in r])
    spaces = replace(reduced.spaces, given=None)  # that of the constraints, whatever connection was given
    on_D = dict(zip(xi, spaces.lift * speeds, strict=True)) if r else {}
    l = tidy(reduced.lagrangian.xreplace(on_D))
    mu = Matrix([e.xreplace(on_D) for e in reduced.body_momentum])
    n, B = range(len(r)), spaces.curvature

    def curvature(i: int, j: int) -> Matrix:
        return B[i, j] if i < j else -B[j, i]

    gyroscopic = tuple(tidy(-sympy.Add(*((mu.T * curvature(i, j))[0] * speeds[i] for i in n if i != j))) for j in n)
    given = Matrix([[e.xreplace(on_D) for e in reduced.forces]])
    lifted = sympy.eye(len(r)).col_join(spaces.lift)
    forces = tuple(tidy(e) for e in (given * lifted))
    return Chaplygin(r, l, gyroscopic, forces, _density(r, l, gyroscopic, _determinants(reduced)))


def _determinants(reduced: ReducedSystem) -> list[Expr]:
    """Determinants whose powers are densities in known cases: of the inertia along the group, along D and of the whole."""
    k, G, D = len(reduced.shape), reduced.metric, reduced.spaces.D
    found = [tidy(M.det()) for M in (G[k:, k:], D.T * G * D, G)]
    return [e for e in found if e.free_symbols & set(reduced.shape)]


def _density(
    shape: Sequence[Coordinate], l: Expr, gyroscopic: Sequence[Expr], logarithms: Sequence[Expr]
) -> Expr | None:
    """exp(sigma) with d sigma(r') = -sum d G_j/dp_j, if that one-form is closed."""
    v = [r.dot for r in shape]
    inertia = Matrix([[l.diff(a).diff(b) for a in v] for b in v])
    slopes = Matrix([[G.diff(a) for a in v] for G in gyroscopic])
    divergence = (slopes * inertia.inv()).trace()
    form = [tidy(-divergence.diff(a)) for a in v]
    n = range(len(v))
    if any(set(v) & e.free_symbols for e in form):
        return None
    if not all(vanishes(form[i].diff(shape[j]) - form[j].diff(shape[i])) for i in n for j in n if i < j):
        return None
    sigma = _of_logarithms(shape, form, logarithms)
    if sigma is None:
        sigma = attempt(Budget(seconds=SECONDS), _potential, shape, form)
    return None if sigma is None else tidy(sympy.exp(sigma))


def _potential(shape: Sequence[Coordinate], form: Sequence[Expr]) -> Expr | None:
    """sigma with the given derivatives, by integration."""
    sigma = sympy.S.Zero
    for r, e in zip(shape, form, strict=True):
        sigma += sympy.integrate(tidy(e - sigma.diff(r)), r)
    return None if sigma.has(sympy.Integral) else sigma


def _of_logarithms(shape: Sequence[Coordinate], form: Sequence[Expr], candidates: Sequence[Expr]) -> Expr | None:
    """sigma = c_k log(e_k) with fractions c_k, found at random shapes and confirmed by value: of determinants of inertia."""
    slopes = [[tidy(e.diff(r) / e) for r in shape] for e in candidates]
    rows = [list(map(fast, row)) for row in (*slopes, form)]
    points = near_identity([e for row in rows for e in row], {}, 3)
    grids = [g for at in points if (g := balls.values(rows, at)) is not None]
    if not grids or not candidates:
        return None
    whole = [[v for g in grids for v in g[k]] for k in range(len(rows))]
    basis = sorted(independent(whole[:-1])[0])
    equations = [list(c) for c in zip(*(whole[k] for k in basis), strict=True)]
    chosen = independent(equations)[0]
    found = solution([equations[i] for i in chosen], [whole[-1][i] for i in chosen]) if chosen else []
    if found is None:
        return None
    share = [Fraction(float(c.mid())).limit_denominator(LARGEST) for c in found]
    c = {k: sympy.Rational(f.numerator, f.denominator) for k, f in zip(basis, share, strict=True)}
    left = [e - sympy.Add(*(x * slopes[k][i] for k, x in c.items())) for i, e in enumerate(form)]
    if not all(map(vanishes, left)):
        return None
    return sympy.Add(*(x * sympy.log(candidates[k]) for k, x in c.items()))
