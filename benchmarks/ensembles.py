"""Ensembles at equal error: beside heyoka's batch mode, diffrax under vmap, and SciPy in a pool of processes.

Every peer integrates the same lanes to the same time with a setting of its own; the cheapest whose largest error over all
lanes is below the target counts. What is compared is processor time, of all threads and processes, after a first run that
compiles: so neither the number of cores nor what else the machine does decides. Errors are relative to the largest number of
the state, against heyoka's steps to rounding error or, without it, DormandPrince8 with short steps.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cached_property, partial
from importlib.util import find_spec
from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage
from typing import Any

import numpy as np
import sympy
from common import Table, interleave, judge
from work_precision import Problem, accelerations, problems

import dalembert as da

LANES = 2**14
FEWER = {"diffrax, vmap": 2**10, "SciPy, processes": 2**3}
"""Lanes of the ensemble; slow peers compute some of them, and times are those of a lane."""

SPAN, ERROR, REPETITIONS = 20.0, 1e-8, 3
OURS = {
    da.DormandPrince8(): (1 / 5, 1 / 8, 1 / 10, 1 / 16, 1 / 20, 1 / 30, 1 / 40, 1 / 60),
    da.Nystrom12(): (4 / 5, 1 / 2, 2 / 5, 1 / 4, 1 / 5, 1 / 8),
}
TOLERANCES = (1e-7, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12)
TARGETS = {"heyoka, batch": 1.0, "diffrax, vmap": 0.1, "SciPy, processes": 0.02}
"""Upper bounds of our time in units of theirs."""


@dataclass(frozen=True)
class Ensemble:
    """Lanes of a problem, which differ in the start of the first coordinate."""

    problem: Problem

    @cached_property
    def states(self) -> np.ndarray:
        """A row for each lane: positions, velocities."""
        found = np.tile(self.problem.state(), (LANES, 1))
        found[:, 0] *= np.linspace(0.9, 1.1, LANES)
        return found

    @cached_property
    def rates(self) -> Callable[..., Any]:
        return self.function("numpy")

    def function(self, module: Any) -> Callable[..., Any]:
        """The velocities and accelerations as a function of positions and velocities."""
        s = self.problem.system
        return sympy.lambdify([*s.coordinates, *s.velocities], [*s.velocities, *accelerations(s)], module, cse=True)


def some(ensemble: Ensemble, peer: str) -> np.ndarray:
    """The states of the lanes that a peer computes."""
    return ensemble.states[:: LANES // FEWER.get(peer, LANES)]


# The peers: each gives a function from a setting to the end states


def ours(ensemble: Ensemble, method: Any, h: float) -> np.ndarray:
    s, steps = ensemble.problem.system, round(SPAN / h)
    names = (*s.coordinates, *s.velocities)
    start = dict(zip(names, ensemble.states.T, strict=True))
    run = da.simulate(s, method, h=h, steps=steps, start=start, every=steps)
    return np.array([run[c][:, -1] for c in names]).T


def heyoka_batch(ensemble: Ensemble, tolerance: float) -> Callable[[], np.ndarray]:
    import heyoka

    s, width = ensemble.problem.system, heyoka.recommended_simd_size()
    symbols = {c: heyoka.make_vars(c.name) for c in (*s.coordinates, *s.velocities)}
    rates = [heyoka.from_sympy(e, s_dict=symbols) for e in (*s.velocities, *accelerations(s))]
    first = np.ascontiguousarray(ensemble.states[:width].T)
    equations = list(zip(symbols.values(), rates, strict=True))
    integrator = heyoka.taylor_adaptive_batch(equations, first, tol=tolerance)

    def go() -> np.ndarray:
        found = np.empty_like(ensemble.states)
        for k in range(0, LANES, width):
            integrator.set_time(0.0)
            integrator.state[:] = ensemble.states[k : k + width].T
            integrator.propagate_until(SPAN)
            found[k : k + width] = integrator.state.T
        return found

    return go


def diffrax_vmap(ensemble: Ensemble, tolerance: float) -> Callable[[], np.ndarray]:
    import diffrax
    import jax

    jax.config.update("jax_enable_x64", True)
    import jax.numpy as jnp

    f = ensemble.function("jax")
    term = diffrax.ODETerm(lambda t, y, _: jnp.stack(f(*y)))
    steps = diffrax.PIDController(rtol=tolerance, atol=tolerance)

    def one(y: Any) -> Any:
        last = diffrax.SaveAt(t1=True)
        found = diffrax.diffeqsolve(
            term, diffrax.Dopri8(), 0.0, SPAN, 0.05, y, stepsize_controller=steps, saveat=last, max_steps=100_000,
            adjoint=diffrax.ForwardMode(),
        )  # fmt: skip
        return found.ys[0]

    every = jax.jit(jax.vmap(one))
    states = jnp.asarray(some(ensemble, "diffrax, vmap"))
    return lambda: np.asarray(every(states).block_until_ready())


def _lanes_of_scipy(states: np.ndarray, tolerance: float, index: int) -> np.ndarray:
    from scipy.integrate import solve_ivp

    f = Ensemble(problems()[index]).function("math")
    options = {"method": "DOP853", "rtol": tolerance, "atol": tolerance}
    return np.array([solve_ivp(lambda t, z: f(*z), (0, SPAN), y, **options).y[:, -1] for y in states])


def scipy_processes(ensemble: Ensemble, index: int, tolerance: float) -> np.ndarray:
    with ProcessPoolExecutor(2) as pool:
        parts = np.array_split(some(ensemble, "SciPy, processes"), 2)
        return np.vstack(list(pool.map(partial(_lanes_of_scipy, tolerance=tolerance, index=index), parts)))


def settings(ensemble: Ensemble, index: int) -> Iterator[tuple[str, str, Callable[[], np.ndarray]]]:
    """Peer, setting, job; each peer from its cheapest setting on."""
    for method, steps in OURS.items():
        if isinstance(method, da.Nystrom12) and ensemble.problem.name == "double pendulum":
            continue  # its accelerations depend on velocities
        for h in steps:
            yield "dalembert", f"{method!r}, h = {h:.3g}", partial(ours, ensemble, method, h)
    for tolerance in TOLERANCES:
        told = f"{tolerance:.0e}"
        if find_spec("heyoka"):
            yield "heyoka, batch", told, heyoka_batch(ensemble, tolerance)
        if find_spec("diffrax"):
            yield "diffrax, vmap", told, diffrax_vmap(ensemble, tolerance)
        yield "SciPy, processes", told, partial(scipy_processes, ensemble, index, tolerance)


def processor_time() -> float:
    """Seconds of all threads, and of processes that have ended."""
    return sum(u.ru_utime + u.ru_stime for u in map(getrusage, (RUSAGE_SELF, RUSAGE_CHILDREN)))


def spent(job: Callable[[], Any]) -> float:
    began = processor_time()
    job()
    return processor_time() - began


def exact(ensemble: Ensemble) -> np.ndarray:
    return heyoka_batch(ensemble, 1e-17)() if find_spec("heyoka") else ours(ensemble, da.DormandPrince8(), 1 / 200)


def chosen(ensemble: Ensemble, index: int) -> dict[str, tuple[str, float, Callable[[], Any]]]:
    """For each peer, and method of ours, the first setting that is accurate enough."""
    true, found = exact(ensemble), dict[str, Any]()
    for peer, setting, job in settings(ensemble, index):
        key = f"{peer} {setting.partition(',')[0]}" if peer == "dalembert" else peer
        if key in found:
            continue
        ends = job()
        error = float(np.abs(ends - true[:: LANES // len(ends)]).max() / np.abs(true).max())
        if error <= ERROR:
            found[key] = setting, error, job
    return found


def rows(index: int) -> Iterator[list[str]]:
    ensemble = Ensemble(problems()[index])
    found = chosen(ensemble, index)
    times = interleave({key: partial(spent, job) for key, (_, _, job) in found.items()}, REPETITIONS)
    best = {key: min(times[key]) / FEWER.get(key, LANES) for key in found}
    mine = min((key for key in found if key.startswith("dalembert")), key=lambda key: best[key])
    for key in (mine, *(k for k in found if not k.startswith("dalembert"))):
        setting, error, *_ = found[key]
        ratio, target = best[mine] / best[key], TARGETS.get(key)
        verdict = [f"{ratio:.3f}", f"{target:g}", judge(ratio, target)] if target else ["1", "-", "-"]
        yield [ensemble.problem.name, key.split()[0] if key == mine else key, setting, f"{error:.1e}",
               f"{best[key] * 1e6:.2f} us", *verdict]  # fmt: skip


def measure() -> list[Table]:
    began = time.perf_counter()
    head = ["motion", "peer", "setting", "rel. error", "a lane", "here / peer", "target", "met"]
    body = [row for index in range(len(problems())) for row in rows(index)]
    notes = [
        f"{LANES:,} lanes to t = {SPAN:g}, error below {ERROR:g}; diffrax and SciPy some of the lanes.",
        f"Processor time of all threads, least of {REPETITIONS} interleaved runs.",
        f"Measured in {time.perf_counter() - began:.0f} s.",
    ]
    return [Table("Ensembles at equal error", head, body, notes)]


if __name__ == "__main__":
    for table in measure():
        print(table)
