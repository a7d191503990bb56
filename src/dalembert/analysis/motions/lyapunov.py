"""Lyapunov exponents: how fast neighbouring motions separate, by QR decomposition along exact tangents of the steps.

Exponents belong to a motion in (q, p, S). Every coordinate is divided by a number by which its momentum is multiplied, so that
the equations stay canonical and no unit matters. The first basis is q1, ..., qn, pn, ..., p1: each step of a symplectic method
then has a factor R whose diagonal entries are pairs of reciprocals (Iwasawa's decomposition of the symplectic group), so
exponents of a system on lines add up to zero in pairs at any time, to rounding error, and not only in the limit.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from ...display import Part, Shown, Table
from ...errors import ModelError
from ...model.tangent_space import placed
from ...numbers import whole
from ...run.trajectory import Trajectory
from ...run.values import Array
from .contraction import check_phase_space, phase_groups, phase_scales, phase_tangents

INTERVALS = 1 << 14
"""Intervals differentiated in one call: a tangent takes as many numbers as the square of the state."""

SCALED = 1 << 8
"""Intervals from which the units of coordinates and momenta are taken: so many whatever the number of lanes, so that a lane
has the exponents of the run alone."""

WIDEST = 1e12
"""Largest condition number of an interval's derivative: beyond it, rounding errors hide the contracted directions."""


@dataclass(frozen=True, repr=False, eq=False)
class Lyapunov(Shown):
    """Lyapunov exponents of a run, the largest first; with lanes there is a leading axis of lanes.

    exponents:  growth rates per unit of time, of the run as it was computed
    error:      the standard error of the mean over blocks of time, and the change since half the time, combined: the first
                is that of a chaotic motion, the second that of a regular one, whose exponents fall to zero like log(t)/t
    pairs:      exponents[i] + exponents[-1 - i], zero for a symplectic method; None for systems with entropies, and for
                reduced ones with velocities of a group, whose momenta have no positions beside them
    growth:     logarithms of the stretching from each record to the next, in the order in which the basis was taken
    """

    run: Trajectory
    growth: Array
    blocks: int

    @property
    def exponents(self) -> Array:
        """The spectrum over the whole run, the largest first."""
        return self._sorted(self._running(self.growth.shape[-2]))

    @property
    def running(self) -> Array:
        """The exponents as estimated up to each record after the first, to see whether they have converged."""
        ends = np.arange(1, self.growth.shape[-2] + 1) * self._interval
        return self._sorted(np.cumsum(self.growth, axis=-2) / ends[:, None])

    def up_to(self, count: int) -> Lyapunov:
        """The exponents after so many intervals between records, with their errors as they were estimated then."""
        expected = f"give a number of intervals between records, from {2 * self.blocks} to {self.growth.shape[-2]}"
        if not 2 * self.blocks <= whole(count, "up_to", ModelError, expected=expected) <= self.growth.shape[-2]:
            raise ModelError(f"up_to: {count}: {expected}.")
        return replace(self, growth=self.growth[..., :count, :])

    @property
    def error(self) -> Array:
        """The estimated error of each exponent."""
        count = self.growth.shape[-2]
        parts = np.array_split(self.growth, self.blocks, axis=-2)
        means = np.stack([p.mean(axis=-2) for p in parts], axis=-2) / self._interval
        scatter = means.std(axis=-2, ddof=1) / np.sqrt(self.blocks)
        change = self._running(count) - self._running(count // 2)
        return np.take_along_axis(np.hypot(scatter, change), self._order, axis=-1)

    @property
    def pairs(self) -> Array | None:
        """Sums of the largest and the smallest exponent, of the second and the last but one, and so on."""
        q = self.run.system.coordinates
        if self.run.system.entropies or len(placed(q)) < len(q):
            return None
        n = self.growth.shape[-1] // 2
        found: Array = (self.exponents + self.exponents[..., ::-1])[..., :n]
        return found

    @property
    def _interval(self) -> float:
        return self.run.h * self.run.every

    @property
    def _order(self) -> Array:
        return np.argsort(-self._running(self.growth.shape[-2]), axis=-1, kind="stable")

    def _running(self, count: int) -> Array:
        found: Array = self.growth[..., :count, :].sum(axis=-2) / (count * self._interval)
        return found

    @staticmethod
    def _sorted(found: Array) -> Array:
        return -np.sort(-found, axis=-1)

    def _parts(self) -> list[Part]:
        n = self.growth.shape[-1]
        values, errors = self.exponents.reshape(-1, n), self.error.reshape(-1, n)
        title = f"{self.run.system.name}, {self.run.method!r}, h = {self.run.h:g}: Lyapunov exponents"
        if self.run.lanes is not None:
            title += f", means over {self.run.lanes} lanes"
        columns = zip(values.mean(axis=0), errors.mean(axis=0), strict=True)
        rows = [(str(i + 1), f"{value:.6g}", f"{error:.2g}") for i, (value, error) in enumerate(columns)]
        parts: list[Part] = [title, Table(("", "exponent", "error"), rows)]
        if self.pairs is not None:
            worst = np.abs(self.pairs).max()
            parts.append(f"Pairs add up to at most {worst:.3g} in magnitude; for a symplectic method to zero.")
        return parts


def lyapunov(run: Trajectory, *, blocks: int = 10) -> Lyapunov:
    """The Lyapunov exponents of a run, with their errors; see `Lyapunov`.

    run = simulate(system, Midpoint(), h=0.05, until=1e4, every=20, ...);  lyapunov(run).exponents

    Every record is one QR decomposition: record often enough that neighbouring motions stay distinguishable between records,
    and not more often. The error shrinks like 1/sqrt(time) for chaotic motions. It is too small for a motion that stays near
    regular ones for times as long as a block: compare several starts then, as lanes.
    """
    check_phase_space(run, "lyapunov")
    run = run.at_nodes
    whole(
        blocks, "blocks", ModelError, least=2, expected="the error is that of so many means; give a whole number from 2"
    )
    if (intervals := len(run.time) - 1) < 2 * blocks:
        raise ModelError(
            f"lyapunov: {intervals} intervals between records are too few for {blocks} blocks of time. Give a run with at "
            f"least {2 * blocks}."
        )
    if not run.ok:
        raise ModelError(
            f"lyapunov: {run!r} ended early, so there is no long-time growth in every lane. Give a run that reached its end."
        )
    if not np.isfinite(run.table("position")).all():
        raise ModelError(
            f"lyapunov: events stopped lanes of {run!r} at different times, so they have no exponents over one time. Give "
            f"each of them as a run of its own, or leave out the event."
        )
    return Lyapunov(run, run.by_lane(_growth(run)), blocks)


def _growth(run: Trajectory) -> Array:
    """Logarithms of the diagonals of R over every interval: (lanes, intervals, directions)."""
    lanes, most = np.arange(len(run.records)), max(1, INTERVALS // SCALED)
    return np.concatenate([_growth_of(run.of_lanes(lanes[at : at + most])) for at in lanes[::most]])


def _growth_of(run: Trajectory) -> Array:
    """The same of so few lanes that their first intervals are differentiated together."""
    basis, scales, found, parts = np.zeros(0), np.zeros(0), [], phase_groups(run)
    for part in _stretches(run):
        tangents = phase_tangents(part, "lyapunov")
        size = tangents.shape[-1]
        if not len(scales):
            scales = phase_scales(tangents[:, :SCALED], parts, _part(part, 0, SCALED))
            q, p, S = (list(range(size))[parts.columns(name)] for name in ("position", "momentum", "entropy"))
            order = [*q, *reversed(p), *S]
            basis = np.broadcast_to(np.eye(size)[:, order], (len(tangents), size, size))
        tangents = tangents * scales[:, None, None, :] / scales[:, None, :, None]
        _check_distinguishable(tangents, run)
        growth = np.empty(tangents.shape[:-1])
        for k in range(tangents.shape[1]):
            basis, stretched = np.linalg.qr(tangents[:, k] @ basis)
            growth[:, k] = np.log(np.abs(np.diagonal(stretched, axis1=-2, axis2=-1)))
        found.append(growth)
    return np.concatenate(found, axis=1)


def _stretches(run: Trajectory) -> Iterator[Trajectory]:
    """The run in parts that share one record, so that not all derivatives are held at once."""
    size = max(1, INTERVALS // len(run.records))
    for at in range(0, len(run.time) - 1, size):
        yield _part(run, at, size)


def _part(run: Trajectory, at: int, size: int) -> Trajectory:
    kept = slice(at, at + size + 1)
    return replace(run, records=run.records[:, kept], time=run.time[kept], _cache={})


def _check_distinguishable(tangents: Array, run: Trajectory) -> None:
    worst = np.linalg.cond(tangents).max()
    if not worst <= WIDEST:
        raise ModelError(
            f"lyapunov: between two records neighbouring motions are stretched and contracted by factors whose ratio is "
            f"{worst:.2g}, so that rounding errors hide the contraction. Record more often: simulate(..., every=...) "
            f"below {run.every}, or a smaller h."
        )
