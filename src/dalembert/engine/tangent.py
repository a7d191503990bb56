"""The derivative of a step with respect to its state, exactly, by the implicit function theorem."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from ..symbolic import Fast, jacobian
from ..waist.stepmap import TIME, StepMap, pointwise
from .machine import Array, PointMap
from .status import Status


class NoStep(ArithmeticError):
    """There is no step from a state; `status` says why."""

    def __init__(self, message: str, status: Status):
        super().__init__(message)
        self.status = status


@lru_cache(maxsize=64)
def _derivatives(stepmap: StepMap) -> tuple[PointMap, list[tuple[str, int, int]]]:
    """A map state -> (next state, unknowns, all partial derivatives), and the shapes of these, in order."""
    state, shapes, outputs = list(stepmap.state), [], {}

    def add(name: str, rows: list[list[Fast]]) -> None:
        shapes.append((name, len(rows), len(rows[0]) if rows else 0))
        outputs.update({f"{name}.{i}.{j}": e for i, row in enumerate(rows) for j, e in enumerate(row)})

    add("next", [[u] for u in stepmap.update])
    add("update/state", jacobian(stepmap.update, state))
    for k, block in enumerate(stepmap.blocks):
        add(f"update/{k}", jacobian(stepmap.update, block.unknowns))
        add(f"residual {k}/state", jacobian(block.residual, state))
        for j, earlier in enumerate(stepmap.blocks[: k + 1]):
            add(f"residual {k}/{j}", jacobian(block.residual, earlier.unknowns))
    inputs = [*state, TIME] if TIME not in state else state
    return PointMap(pointwise(f"{stepmap.name}, tangent", inputs, stepmap.parameters, outputs, stepmap.blocks)), shapes


def tangent(stepmap: StepMap, state: Any, parameters: Any, h: float, t: float = 0.0) -> tuple[Array, Array]:
    """(next state, d next / d state) of one step from one state.

    With residual R(x, s) = 0 and update U(x, s):  dU/ds = U_s + U_x x_s,  x_s = -(R_x)^-1 (R_s + sum of earlier blocks).
    """
    now, total = np.asarray(state, float), np.eye(len(stepmap.state))
    for k, fraction in enumerate(stepmap.substeps):
        now, slope = _substep(stepmap, now, parameters, fraction * h, t + math.fsum(stepmap.substeps[:k]) * h)
        total = slope @ total
    return now, total


def _substep(stepmap: StepMap, state: Array, parameters: Any, h: float, t: float) -> tuple[Array, Array]:
    compiled, shapes = _derivatives(stepmap)
    values, status = compiled(np.append(state, t)[None, :], np.atleast_2d(parameters), h=h, t=t)
    if status[0]:
        raise NoStep(f"{stepmap.name}: no step from this state.", Status(int(status[0])))
    part, at = {}, 0
    for name, rows, columns in shapes:
        part[name] = values[0, at : at + rows * columns].reshape(rows, columns)
        at += rows * columns
    total = part["update/state"].copy()
    slopes: list[Array] = []
    for k in range(len(stepmap.blocks)):
        right = part[f"residual {k}/state"] + sum(
            (part[f"residual {k}/{j}"] @ slopes[j] for j in range(k)), start=np.zeros_like(part[f"residual {k}/state"])
        )
        slopes.append(-np.linalg.solve(part[f"residual {k}/{k}"], right))
        total += part[f"update/{k}"] @ slopes[k]
    return part["next"][:, 0], total
