"""A system as a flow for adaptive methods: rates, sizes that errors are compared with, domain, nearest state on constraints.

The error of a position is compared with its largest distance from the start so far, that of a velocity with its largest
value so far. A component that is zero except for the rounding errors of others is compared with these: with masses
m_i = d2L/dv_i^2 the speed u of the whole motion, u^2 = sum m_i v_i^2, causes rounding errors of about 1e-16 u / sqrt(m_i)
in v_i.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from ..model.space import number_sizes, to_numbers
from ..model.system import System
from ..symbolic import Fast, fast, substitution, total
from ..theory.motion import state_maps as maps
from ..theory.motion.lagrange import mass_matrix
from ..waist.adaptive_flow import ATOL, RTOL, SIZE, Flow, after_name, begun_name, largest_name, rate_name
from ..waist.domain import conditions
from ..waist.stepmap import TIME, StepMap, pointwise, with_conditions

ROUNDING = 4e-15
"""Rounding error of a velocity, relative to the speed of the whole motion."""

ORIGIN = 0.1
"""Times `ROUNDING`: rounding error of a position, relative to its distance from the origin."""

SMALLEST = 1e-140
"""The size of a component that has been exactly zero so far."""

TORN = 1e-4
"""Largest relative change of a velocity by a projection."""


@lru_cache(maxsize=64)
def flow_of(system: System, absolute: bool) -> Flow:
    """The flow of a system, its errors compared with an absolute tolerance or with the sizes of the motion."""
    rates = maps.flow_map(system)
    state = rates.state[:-1]
    sizes = _absolute(state) if absolute else _relative(system, state, tuple(rates.outputs))
    given = [*state, TIME, SIZE, RTOL, ATOL]
    given += [name(s) for name in (rate_name, after_name, begun_name, largest_name) for s in state]
    names = [*(f"size.{s}" for s in state), *map(largest_name, state)]
    found = dict(zip(names, sizes, strict=True))
    return Flow(
        state=state,
        rates=rates,
        sizes=pointwise(f"{system.name}, sizes", given, rates.parameters, found),
        bounds=_bounds(system, rates),
        nearest=_nearest(system, state) if system.constraints else None,
    )


def _larger(a: Fast, b: Fast) -> Fast:
    import symengine

    return symengine.Piecewise((b, symengine.Lt(a, b)), (a, True))


def _absolute(state: Sequence[str]) -> list[Fast]:
    """atol + rtol times the larger of the values before and after; largest sizes are not needed."""
    import symengine

    rtol, atol = fast(RTOL), fast(ATOL)
    sizes = [atol + rtol * _larger(symengine.Abs(fast(s)), symengine.Abs(fast(after_name(s)))) for s in state]
    return [*sizes, *(fast(largest_name(s)) for s in state)]


def _relative(system: System, state: Sequence[str], names: Sequence[str]) -> list[Fast]:
    """rtol times the largest sizes, those that the last step leads to expected included, and rounding errors beside them."""
    import symengine

    q, size, held = system.coordinates, fast(SIZE), to_numbers(system.coordinates)
    parts = maps.state_groups(system)
    placed, moving = parts.columns("position"), parts.columns("velocity")
    y, f = [fast(s) for s in state], [fast(rate_name(s)) for s in state]
    mass = [symengine.Abs(held(row[i])) for i, row in enumerate(mass_matrix(system))]
    roots = [symengine.sqrt(m) for m in mass]
    speed = symengine.sqrt(total(m * v**2 for m, v in zip(mass, y[moving], strict=True)))
    rounding = [
        symengine.Piecewise((speed / r, symengine.Gt(m, 0)), (fast(0), True)) for m, r in zip(mass, roots, strict=True)
    ]
    noise = [ORIGIN * symengine.Abs(x) for x in y]
    moved = number_sizes(q, [size * r for r in rounding])
    noise[placed] = [a + b for a, b in zip(noise[placed], moved, strict=True)]
    noise[moving] = rounding
    away = [symengine.Abs(x - fast(begun_name(s))) for x, s in zip(y, state, strict=True)]
    away[moving] = [symengine.Abs(v) for v in y[moving]]
    ahead = [symengine.Abs(rate) * size for rate in f]
    turned = number_sizes(q, [symengine.Abs(a) * size**2 for a in f[moving]])
    ahead[placed] = [a + b for a, b in zip(ahead[placed], turned, strict=True)]
    largest = [_larger(fast(largest_name(s)), x) for s, x in zip(state, away, strict=True)]
    found = [fast(RTOL) * _larger(a, b) + ROUNDING * c for a, b, c in zip(largest, ahead, noise, strict=True)]
    sizes = [symengine.Piecewise((x, symengine.Gt(x, 0)), (symengine.RealDouble(SMALLEST), True)) for x in found]
    return [*sizes, *largest]


def _bounds(system: System, rates: StepMap) -> StepMap:
    """Whether a step has led out of the domain; a step through a place where all terms vanish has left it."""
    names = rates.state
    later = substitution({s: fast(after_name(s)) for s in names})
    held = to_numbers(system.coordinates)
    plain = pointwise(f"{system.name}, domain", [*names, *map(after_name, names)], rates.parameters, {})
    found = []
    for c in conditions(system.expressions()):
        here = tuple(map(held, c.terms))
        found.append((c, [here, tuple(map(later, here))]))
    return with_conditions(plain, found)


def _nearest(system: System, state: Sequence[str]) -> StepMap:
    """The nearest state on the constraints; entropies and multipliers stay. It is torn where a velocity changes by more than
    tolerances explain.
    """
    import symengine

    near = maps.admissible_map(system)
    velocities = [v.name for v in system.velocities]
    change, speed = fast(0), fast(0)
    for v in velocities:
        change = _larger(change, symengine.Abs(near.outputs[v] - fast(v)))
        speed = _larger(speed, symengine.Abs(fast(v)))
    torn = change - _larger(fast(symengine.RealDouble(TORN)), 1000 * fast(RTOL)) * speed
    outputs = {s: near.outputs.get(s, fast(s)) for s in state} | {"torn": torn}
    return pointwise(f"{near.name}, while it moves", [*near.state, RTOL], near.parameters, outputs, near.blocks)
