"""The derivative of a step by the implicit function theorem, with NumPy: what compiled tangents must agree with."""

from __future__ import annotations

import math

import numpy as np

from dalembert.engine.machine import PointMap
from dalembert.symbolic import jacobian
from dalembert.waist.stepmap import TIME, pointwise


def derivative(step, state, parameters, h, t):
    """(next state, d next / d state) of one step, all substeps in turn."""
    compiled, shapes = _partial_derivatives(step)
    now, total = np.asarray(state, float), np.eye(len(step.state))
    for k, fraction in enumerate(step.substeps):
        at = t + math.fsum(step.substeps[:k]) * h
        values, status = compiled(np.append(now, at)[None, :], np.atleast_2d(parameters), h=fraction * h, t=at)
        assert not status[0]
        now, slope = _assembled(step, _matrices(values[0], shapes))
        total = slope @ total
    return now, total


def _partial_derivatives(step):
    """A map state -> (next state, all partial derivatives), and the shapes of these, in order."""
    shapes, outputs = [], {}

    def add(name, rows):
        shapes.append((name, len(rows), len(rows[0]) if rows else 0))
        outputs.update({f"{name}.{i}.{j}": e for i, row in enumerate(rows) for j, e in enumerate(row)})

    add("next", [[u] for u in step.update])
    add("update/state", jacobian(step.update, step.state))
    for k, block in enumerate(step.blocks):
        add(f"update/{k}", jacobian(step.update, block.unknowns))
        add(f"residual {k}/state", jacobian(block.residual, step.state))
        for j, earlier in enumerate(step.blocks[: k + 1]):
            add(f"residual {k}/{j}", jacobian(block.residual, earlier.unknowns))
    return PointMap(
        pointwise(f"{step.name}, partial", [*step.state, TIME], step.parameters, outputs, step.blocks)
    ), shapes


def _matrices(values, shapes):
    part, at = {}, 0
    for name, rows, columns in shapes:
        part[name] = values[at : at + rows * columns].reshape(rows, columns)
        at += rows * columns
    return part


def _assembled(step, part):
    """dU/ds = U_s + U_x x_s,  x_s = -(R_x)^-1 (R_s + sum of earlier blocks)."""
    total, slopes = part["update/state"].copy(), []
    for k in range(len(step.blocks)):
        right = part[f"residual {k}/state"].copy()
        for j in range(k):
            right += part[f"residual {k}/{j}"] @ slopes[j]
        slopes.append(-np.linalg.solve(part[f"residual {k}/{k}"], right))
        total += part[f"update/{k}"] @ slopes[k]
    return part["next"][:, 0], total


def condition(step, state, parameters, h, t):
    """The largest condition number of the matrices that are solved with, rows divided by their largest entries."""
    compiled, shapes = _partial_derivatives(step)
    found = compiled(np.append(state, t)[None, :], parameters[None, :], h=h, t=t)[0][0]
    part = _matrices(found, shapes)
    squares = [part[f"residual {k}/{k}"] for k in range(len(step.blocks))]
    return max((np.linalg.cond(m / np.abs(m).max(axis=1, keepdims=True)) for m in squares if m.size), default=1.0)
