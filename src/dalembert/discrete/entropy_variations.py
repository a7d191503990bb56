"""Variations of discrete systems with entropies.

On every step, and for every entropy, variations obey

    D_S- L_d dS- + D_S+ L_d dS+ = F_fr- . dq- + F_fr+ . dq+ .

Where D_S- L_d or D_S+ L_d does not vanish, this is a distribution of constant rank, 2n + 1 for one entropy, and every
variation of the positions of a motion extends to one of its entropies.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import ModelError
from ..model.coordinates import step, time
from ..numbers import name_of
from ..symbolic import Fast, fast, gradient, number
from ..waist.layout import Groups
from .system import DiscreteSystem


def entropy_slopes(system: DiscreteSystem) -> tuple[list[Fast], list[Fast]]:
    """D_S- L_d and D_S+ L_d of each entropy, in the slots."""
    minus, plus = ([gradient(system.lagrangian, [S.at(k)])[0] for S in system.entropies] for k in (0, 1))
    return minus, plus


def step_temperatures(system: DiscreteSystem) -> list[Fast]:
    """-(D_S- L_d + D_S+ L_d)/h of each entropy: the temperature of the step, T o psi where psi made it."""
    return [-(a + b) / fast(step) for a, b in zip(*entropy_slopes(system), strict=True)]


def variation_rows(system: DiscreteSystem) -> list[list[Fast]]:
    """The one-forms that vanish on admissible variations (dq-, dq+, dS-, dS+), one row per entropy."""
    minus, plus = entropy_slopes(system)
    zero, count = fast(0), len(system.entropies)
    rows = []
    for a, (rubs0, rubs1) in enumerate(zip(system.friction_minus, system.friction_plus, strict=True)):
        own = [[d[a] if b == a else zero for b in range(count)] for d in (minus, plus)]
        rows.append([*(-f for f in rubs0), *(-f for f in rubs1), *own[0], *own[1]])
    return rows


def _columns(system: DiscreteSystem) -> Groups:
    """The columns of `variation_rows`: the changes at the beginning and the end of a step."""
    q, S = system.coordinates, system.entropies
    return Groups(q0=q, q1=q, S0=S, S1=S)


def variation_frame(system: DiscreteSystem, at: Mapping[Any, float]) -> Any:
    """A basis of the admissible variations at one step: rows (dq-, dq+, dS-, dS+), 2n + 1 of them for one entropy.

    `at` gives a number to every slot, parameter and the step. Each entropy is solved for at the end of the step where
    that is possible, at its beginning otherwise.
    """
    import numpy as np

    values, columns = _by_name(at), _columns(system)
    count = len(columns.outputs)
    rows = np.array([[number(e, values) for e in row] for row in variation_rows(system)]).reshape(-1, count)
    solved = []
    for a, S in enumerate(system.entropies):
        ends = (columns.columns("S1").start + a, columns.columns("S0").start + a)
        usable = [j for j in ends if rows[a, j] != 0]
        if not usable:
            raise ModelError(
                f"{system.name}: L_d depends on the entropy {S} at neither end of the step here, so its variations are not "
                f"determined: D_S- L_d = D_S+ L_d = 0."
            )
        solved.append(usable[0])
    free = [j for j in range(count) if j not in solved]
    frame = np.zeros((len(free), count))
    frame[np.arange(len(free)), free] = 1
    for a, j in enumerate(solved):
        frame[:, j] = -frame[:, free] @ rows[a, free] / rows[a, j]
    return frame


def extended_variation(system: DiscreteSystem, steps: Sequence[Mapping[Any, float]], dq: Any, end: Any = None) -> Any:
    """Variations of the entropies at the nodes that go with variations dq of the positions, shape (nodes, entropies).

    `steps` has the slots of every step, parameters and h; `dq` has shape (nodes, coordinates). The recursion begins with
    dS = `end` (zero, if left out): at the first node where D_S+ L_d is never zero, at the last node otherwise.
    """
    import numpy as np

    n, m = len(system.coordinates), len(system.entropies)
    table = np.array([[[number(e, _by_name(at)) for e in row] for row in variation_rows(system)] for at in steps])
    moved, dS = np.asarray(dq, dtype=float), np.zeros((len(steps) + 1, m))
    if moved.shape != (len(steps) + 1, n):
        raise ModelError(
            f"extended_variation: dq has shape {moved.shape}. Expected {(len(steps) + 1, n)}: nodes, coordinates."
        )
    first, last, warm, warmed = (_columns(system).of(table, name) for name in ("q0", "q1", "S0", "S1"))
    known = -(first * moved[:-1, None] + last * moved[1:, None]).sum(axis=2)
    for a, S in enumerate(system.entropies):
        minus, plus = warm[:, a, a], warmed[:, a, a]
        if (plus != 0).all():
            dS[0, a] = 0 if end is None else np.atleast_1d(end)[a]
            for k in range(len(steps)):
                dS[k + 1, a] = (known[k, a] - minus[k] * dS[k, a]) / plus[k]
        elif (minus != 0).all():
            dS[-1, a] = 0 if end is None else np.atleast_1d(end)[a]
            for k in reversed(range(len(steps))):
                dS[k, a] = (known[k, a] - plus[k] * dS[k + 1, a]) / minus[k]
        else:
            raise ModelError(
                f"{system.name}: along this motion neither D_S- L_d nor D_S+ L_d of {S} is different from zero on every "
                f"step, so variations of the positions need not extend to it."
            )
    return dS


def _by_name(at: Mapping[Any, float]) -> dict[str, float]:
    found = {name_of(key): float(value) for key, value in at.items()}
    return {time.name: 0.0, **found}
