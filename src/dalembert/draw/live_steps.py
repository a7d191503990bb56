"""The part of the player that computes: steps of some methods and maps of states as WebAssembly, with what they take."""

from __future__ import annotations

import base64
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..discrete.state_layout import velocity_columns
from ..engine.backends.wasm import unavailable
from ..engine.history import HISTORY
from ..engine.kernels import carry_width
from ..engine.machine import browser_module
from ..engine.status import Status
from ..errors import DalembertError, MethodError
from ..errors import told as short
from ..methods import REGISTRY
from ..methods.base import Method
from ..model.space import lines, numbers
from ..run.plan import check_method, stepper
from ..run.trajectory import Trajectory
from ..run.velocities import has_branches
from ..theory.motion import state_maps as maps
from ..waist.stepmap import StepMap
from .default_scene import is_angle
from .player_data import Film, state_column

BESIDE = ("Midpoint", "StormerVerlet", "GeometricNonholonomic", "Rattle", "RungeKutta4")
"""Methods offered besides that of the run, where they apply."""

MOST = 4
"""Most methods in a page."""

MOST_STEPS = 400_000
"""Most steps of a motion in a page."""

LONGEST = 400
"""Most unknowns of a step in a page."""


class Obstacle(Exception):
    """Why a page does not compute a motion."""


def live_data(film: Film, methods: Sequence[Method]) -> dict[str, Any]:
    """What a page needs to compute the motion of the first run; raises Obstacle where it cannot."""
    run = film.runs[0]
    system, method = run.system.continuous, run.method
    if system is None or method is None:
        raise Obstacle("it is that of a discrete system")
    if method.adaptive:
        raise Obstacle(f"{method!r} has no step")
    if method.carries != "velocity" and has_branches(system):
        raise Obstacle("momenta do not determine velocities")
    kinds = _kinds(system)
    wanted = _applicable(run, methods)
    found = [_method(m, system, kinds) for m in wanted if m in (wanted[0], *methods) or _state(m, system, kinds)]
    reactions = {m.name for m in system.multipliers} & {*film.columns, *film.live_columns}
    return {
        "methods": found,
        "maps": _maps(system, bool(reactions), found),
        "q": numbers(system.coordinates),
        "v": [c.dot.name for c in system.coordinates],
        "S": [S.name for S in system.entropies],
        "multipliers": [m.name for m in system.multipliers],
        "carried": bool(system.principle.carried(system)),
        "parameters": [_slider(p.name, x, p.is_positive) for p, x in _values(run)],
        **_start(run),
        "h": run.h,
        "until": float(run.time[-1]),
        "mostSteps": MOST_STEPS,
        "stack": 65536 + 64 * 8 * (max(len(m["state"]) + m["unknowns"] for m in found) + 1) ** 2,
        "tolerance": run.search.tolerance,
        "nearly": run.search.nearly,
        "most": run.search.max_iterations,
        "sentences": {int(s): s.sentence for s in Status} | {"start": film.words["at start"]},
    }


def _applicable(run: Trajectory, methods: Sequence[Method]) -> list[Method]:
    """The method of the run, then those asked for, or the usual ones that apply to the system."""
    system = run.system.continuous
    assert system is not None and run.method is not None
    found, wanted = [run.method], list(methods) or [REGISTRY[name]() for name in BESIDE]
    branches = has_branches(system)
    for m in wanted:
        if not isinstance(m, Method):
            raise MethodError(f"animate: methods: got {short(m)}. Expected methods such as dalembert.Midpoint().")
        try:
            check_method(system, m)
            if branches and m.carries != "velocity":
                raise MethodError(f"animate: {m!r} carries momenta, which do not determine the velocities here.")
        except DalembertError:
            if methods:
                raise
            continue
        if repr(m) not in map(repr, found):
            found.append(m)
    return found if methods else found[:MOST]


def _state(method: Method, system: Any, kinds: Mapping[str, tuple[str, int]]) -> list[tuple[str, int]] | None:
    """What each number of the state of its step is; None if one is neither that of a state nor a multiplier."""
    names = stepper(system, method).stepmap.state
    more = [name for name in names if name not in kinds]
    if more and len(more) != len(system.constraints):
        return None
    return [kinds.get(name) or ("m", more.index(name)) for name in names]


def _kinds(system: Any) -> dict[str, tuple[str, int]]:
    """What each number of a state is: position, velocity, momentum or entropy, and which."""
    q = system.coordinates
    names = {
        "q": numbers(q), "v": [c.dot.name for c in q], "p": [c.momentum.name for c in q],
        "S": [S.name for S in system.entropies], "m": [m.name for m in system.principle.carried(system)],
    }  # fmt: skip
    return {name: (kind, i) for kind, listed in names.items() for i, name in enumerate(listed)}


def _method(method: Method, system: Any, kinds: dict[str, tuple[str, int]]) -> dict[str, Any]:
    step = stepper(system, method).stepmap
    state = _state(method, system, kinds)
    if state is None:
        raise Obstacle(f"the state of {method!r} holds more than positions, momenta, entropies and multipliers")
    seeds = velocity_columns(step.layout, system.coordinates, step.sought)
    return {
        **_module(step, "run", system),
        "label": repr(method),
        "state": [list(place) for place in state],
        "unknowns": len(step.unknowns),
        "summed": len(step.summed),
        "substeps": len(step.substeps),
        "history": HISTORY,
        "sought": [-1 if i is None else i for i in seeds],
        "seeded": method.carries != "velocity",
        "carry": carry_width(step),
        "width": len(step.state) + len(step.outputs),
        "velocities": "admissible velocities" if system.constraints and method.impulsive else "velocities",
    }


def _maps(system: Any, reactions: bool, methods: Sequence[dict[str, Any]]) -> dict[str, Any]:
    found: dict[str, StepMap] = {}
    if any(kind == "p" for m in methods for kind, _ in m["state"]):
        found["momenta"] = maps.carried_momentum_map(system)
        for name in dict.fromkeys(m["velocities"] for m in methods):
            found[name] = maps.velocity_map(system, name != "velocities")
    if system.constraints:
        found["admissible"] = maps.admissible_map(system)
    if system.principle.carried(system):
        if reactions and any(kind == "p" for m in methods for kind, _ in m["state"]):
            found["carried"] = maps.carried_map(system)
    elif reactions or any(kind == "m" for m in methods for kind, _ in m["state"]):
        found["motion"] = maps.motion_map(system)
    return {
        name: {**_module(m, "apply", system), "inputs": len(m.state), "outputs": len(m.outputs)}
        for name, m in found.items()
    }


def _module(step: StepMap, kind: str, system: Any) -> dict[str, Any]:
    if len(step.unknowns) > LONGEST:
        raise Obstacle(f"its step has {len(step.unknowns)} unknowns; a page takes {LONGEST}")
    code = browser_module(step, kind)
    if lacking := unavailable(code):
        raise Obstacle(f"a page has no function {', '.join(lacking)}")
    names = [p.name for p in system.parameters]
    parameters = [names.index(name) for name in step.parameters]
    return {"code": base64.b64encode(code).decode(), "parameters": parameters}


def _values(run: Trajectory) -> list[tuple[Any, float]]:
    return list(zip(run.system.parameters, run.parameter_rows[0].tolist(), strict=True))


def _slider(name: str, value: float, positive: bool = False, reach: float = 0.0) -> dict[str, Any]:
    """A slider about a value: up to three times a positive one, else by some reach to both sides."""
    if positive:
        return {"name": name, "value": value, "low": value / 5, "high": 3 * value}
    reach = reach or abs(value) or 1.0
    return {"name": name, "value": value, "low": value - reach, "high": value + reach}


def _start(run: Trajectory) -> dict[str, Any]:
    """The state at the first node, and sliders for its numbers; places on groups have none."""
    system = run.system.continuous
    assert system is not None
    q, v = run.table("position")[0, 0].tolist(), run.table("velocity")[0, 0].tolist()
    held = numbers(system.coordinates)
    free = lines(system.coordinates)
    reach = {c: _reach(state_column(run, c.name)[0]) for c in free}
    sliders: list[tuple[str, int, str, float, float]] = []
    for c in free:
        k = held.index(c.name)
        far = reach[c] or _usual(run, "q", c, reach)
        sliders.append(("q", k, c.name, q[k], min(far, math.pi) if is_angle(c, system) else far))
    for k, c in enumerate(system.coordinates):
        far = _reach(state_column(run, c.dot.name)[0]) or _usual(run, "v", c, reach)
        sliders.append(("v", k, str(c.dot), v[k], far))
    carried = system.principle.carried(system)
    m = run.table("multiplier")[0, 0].tolist()[: len(carried)]
    sliders += [("m", k, str(s), m[k], _reach(state_column(run, s.name)[0])) for k, s in enumerate(carried)]
    told = [{**_slider(name, x, False, far), "kind": kind, "index": k} for kind, k, name, x, far in sliders]
    state = {"q": q, "v": v, "S": run.table("entropy")[0, 0].tolist(), "m": m}
    return {"start": state, "t0": float(run.time[0]), "sliders": told}


def _reach(values: Any) -> float:
    """How far a number of the state goes from its start, or from zero."""
    return float(np.nanmax(np.abs(np.append(values - values[0], values[0]))))


def _usual(run: Trajectory, kind: str, c: Any, reach: Mapping[Any, float]) -> float:
    """The reach of a number that is zero and stays so: a radian, the largest length, or that in a fifth of the time."""
    system = run.system.continuous
    far = reach.get(c) or 1.0
    if c in reach and not reach[c] and not is_angle(c, system):
        far = max(far for q, far in reach.items() if not is_angle(q, system))
    return far if kind == "q" else 5 * far / float(run.time[-1] - run.time[0])
