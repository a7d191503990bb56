"""How far rounding alone may move the numbers of a step.

A step solves equations r(x) = 0, whose values are known to a unit of rounding times the sizes of their terms. So its unknowns
are known to |J^-1| times that, J = dr/dx, and no better: the multiplier of a constraint on positions follows from the second
difference of positions, so it is known to eps m |q|/h^2 only, however exactly the equations are solved. What depends on the
unknowns inherits their errors. (R. D. Skeel, J. ACM 26, 1979; N. J. Higham, Accuracy and Stability of Numerical Algorithms.)
"""

from __future__ import annotations

import numpy as np

from dalembert.run.plan import stepper
from dalembert.symbolic import fast, magnitude, vectorised
from dalembert.waist.chain_rule import shared_partials
from dalembert.waist.stepmap import STEP, TIME

UNIT = 2.0**-53


def rounding(run):
    """The error of each number of the records of the first lane by the rounding of one step: (steps, numbers)."""
    step = stepper(run.system, run.method).stepmap
    names, values = [p.name for p in run.system.parameters], run.parameter_rows[0]
    own = [values[names.index(p)] for p in step.parameters]
    solve, errors = _unknowns(step), _errors(step)
    rows = run.records[0][:-1, : len(step.state)]
    return np.array([errors(solve([*own, run.h, t, *row])) for t, row in zip(run.time[:-1], rows, strict=True)])


def _unknowns(step):
    """Known numbers of a step -> these and the unknowns, by Newton's method from the guess of each block."""
    names, parts = [*step.parameters, STEP, TIME, *step.state], []
    for b in step.blocks:
        n = len(b.unknowns)
        guess = vectorised(names, list(b.guess))
        names = [*names, *b.unknowns]
        parts.append((n, guess, vectorised(names, [*b.residual, *(e for row in b.jacobian for e in row)])))

    def solved(known):
        for n, guess, equations in parts:
            x = guess(np.array([known]))[0]
            for _ in range(12):
                found = equations(np.array([[*known, *x]]))[0]
                x = x - np.linalg.solve(found[n:].reshape(n, n), found[:n])
            known = [*known, *x]
        return known

    return solved


def _errors(step):
    """All numbers of a step -> the errors of what is recorded."""
    residual, recorded = [r for b in step.blocks for r in b.residual], [*step.update, *step.outputs.values()]
    n, m = len(step.unknowns), len(recorded)
    names = [*step.parameters, STEP, TIME, *step.state, *step.unknowns]
    call = vectorised(names, [*map(magnitude, (*residual, *recorded)), *_matrix([*residual, *recorded], step.unknowns)])

    def errors(numbers):
        found = call(np.array([numbers]))[0]
        sizes, slopes = found[: n + m], np.abs(found[n + m :].reshape(n + m, n))
        inverse = np.abs(np.linalg.inv(found[n + m :].reshape(n + m, n)[:n]))
        return UNIT * (sizes[n:] + slopes[n:] @ (inverse @ sizes[:n]))

    return errors


def _matrix(expressions, names):
    partials, zero = shared_partials(expressions, names), fast(0)
    return [partials.get((i, j), zero) for i in range(len(expressions)) for j in range(len(names))]
