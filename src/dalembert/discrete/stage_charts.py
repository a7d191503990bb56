"""The stages of a step in a chart of each factor, in which methods written for lines have their order on groups too.

On a line the chart is the coordinate itself. On a group it is x -> m tau(x) about the middle m of the step: the ends are
-eta and eta, so that q0 = m tau(-eta), q1 = m tau(eta), and eta = h/2 sum_j b_j V_j with the stage velocities V_j of x. The
velocity in the body is dtau(x) V. The action h sum_i b_i L(Q_i, V_i) of the stages, made stationary with h sum_j b_j V_j
fixed, depends on both ends through eta and through m. With pi0, pi1, the momenta of x at the ends, and the components f_i of
dL/dq + F at the stages, its derivatives by all displacements of q0 and q1 are

    Ad*(tau(-eta)) p1 = Ad*(tau(eta)) p0 + h sum_i b_i Ad*(tau(-X_i)) f_i,      dtau(eta)* p1 + dtau(-eta)* p0 = pi0 + pi1.

So the momentum in space changes by the forces alone, exactly, and pi0 begins the stages. The step is symplectic as it has a
generating function, symmetric as the chart is, and of the order that the method has in one chart.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..model.coordinates import Coordinate, step
from ..model.factor import Line
from ..model.group_coordinate import GroupCoordinate
from ..model.space import parts
from ..symbolic import Fast, fast, gradient, total

Rows = Sequence[Sequence[Any]]


class LineChart:
    """A line: the chart is its coordinate. `rates` are the velocities of the stages, `a` and `b` their weights."""

    def __init__(self, line: Line, rates: Rows, a: Rows, b: Sequence[Any]):
        self.line, self.rates, self.a, self.b = line, [r[0] for r in rates], a, b

    def _sum(self, weights: Sequence[Any], values: Sequence[Fast]) -> Fast:
        return fast(step) * sum((fast(w) * x for w, x in zip(weights, values, strict=True) if w != 0), start=fast(0))

    def place(self, i: int, rate: Sequence[Fast]) -> dict[Any, Fast]:
        """The expression of every symbol at stage i."""
        c = self.line.coordinate
        return {c: fast(c) + self._sum(self.a[i], self.rates), c.dot: rate[0]}

    def momentum(self, i: int, p: Sequence[Fast]) -> list[Fast]:
        """The momentum of the chart."""
        return [p[0]]

    def force(self, i: int, p: Sequence[Fast], f: Sequence[Fast]) -> list[Fast]:
        """Its rate: dL/dx + F in the chart."""
        return [f[0]]

    def begun(self, p: Sequence[Fast], forces: Rows, chart_forces: Rows) -> list[Fast]:
        """The momentum of the chart at the beginning."""
        return [p[0]]

    def ended(self, p: Sequence[Fast], forces: Rows) -> list[Fast]:
        """The momentum at the end of the step."""
        return [p[0] + self._sum(self.b, [f[0] for f in forces])]

    def numbers(self) -> list[Fast]:
        """The numbers that hold the position at the end."""
        return [fast(self.line.coordinate) + self._sum(self.b, self.rates)]


class GroupChart:
    """A group: x -> m tau(x) about the middle of the step."""

    def __init__(self, group: GroupCoordinate, rates: Rows, a: Rows, b: Sequence[Any]):
        self.group, self.rates, self.b = group, rates, b
        h, d = fast(step), range(len(group.directions))

        def moved(weights: Sequence[Any]) -> list[Fast]:
            return [h * total(fast(w) * r[k] for w, r in zip(weights, rates, strict=True)) for k in d]

        self.half_rate = [total(fast(w) / 2 * r[k] for w, r in zip(b, rates, strict=True)) for k in d]
        self.eta = [h * v for v in self.half_rate]
        self.still = [not any(row) for row in a]
        self.x = [moved([fast(w) - fast(m) / 2 for w, m in zip(row, b, strict=True)]) for row in a]

    def place(self, i: int, rate: Sequence[Fast]) -> dict[Any, Fast]:
        """Entries and velocities at stage i."""
        velocity = self.group.carried(self.x[i], rate)
        named = zip(self.group.directions, velocity, strict=False)
        entries = {} if self.still[i] else self.group.moved_twice(self.eta, self.x[i])
        return entries | {d.dot: v for d, v in named}

    def momentum(self, i: int, p: Sequence[Fast]) -> list[Fast]:
        """The momentum of the chart: dtau(x)* p."""
        return self.group.uncarried(self.x[i], p)

    def force(self, i: int, p: Sequence[Fast], f: Sequence[Fast]) -> list[Fast]:
        """Its rate: dtau(x)* f, and d/dx of <p, dtau(x) V>."""
        x = [fast(f"{d.name}.chart") for d in self.group.directions]
        carried = self.group.carried(x, self.rates[i])
        there = dict(zip(x, self.x[i], strict=True))
        slopes = [gradient(v, x) for v in carried[: len(p)]]
        bent = [total(p[m] * slopes[m][k].subs(there) for m in range(len(p))) for k in range(len(x))]
        return [u + v for u, v in zip(self.group.uncarried(self.x[i], f), bent, strict=True)]

    def begun(self, p: Sequence[Fast], forces: Rows, chart_forces: Rows) -> list[Fast]:
        """pi0: both equations above, with pi1 = pi0 + h sum_i b_i G_i."""
        back = [-e for e in self.eta]
        ends = zip(
            self.group.uncarried(back, p), self.group.uncarried(self.eta, self.ended(p, forces)), strict=True
        )  # fmt: skip
        pushed = [
            fast(step) * total(fast(w) * g[k] for w, g in zip(self.b, chart_forces, strict=True)) for k in range(len(p))
        ]
        return [(u + v - g) / 2 for (u, v), g in zip(ends, pushed, strict=True)]

    def ended(self, p: Sequence[Fast], forces: Rows) -> list[Fast]:
        """p1, as p0 + (...), so that the rounding error of the sum can be carried to the next step."""
        group, h = self.group, fast(step)
        middle = self._plus(list(p), group.transport(self.eta, p))
        for i, f in enumerate(forces):
            turned = self._plus(list(f), group.transport([-x for x in self.x[i]], f))
            middle = self._plus(middle, [h * fast(self.b[i]) * t for t in turned])
        return self._plus(middle, group.transport(self.eta, middle))[: len(p)]

    def _plus(self, u: Sequence[Fast], v: Sequence[Fast]) -> list[Fast]:
        """u + v, where u may lack the last components, which are zero."""
        return [a + b for a, b in zip([*u, *[fast(0)] * (len(v) - len(u))], v, strict=True)]

    def numbers(self) -> list[Fast]:
        """The numbers of q0 tau(eta) tau(eta)."""
        h = fast(step)
        names = [fast(n) for n in self.group.numbers]
        once = self.group.retracted(self.half_rate, h)
        change = [e - n for e, n in zip(once, names, strict=True)]
        there = dict(zip(names, once, strict=True))
        return [n + c + d.subs(there) for n, c, d in zip(names, change, change, strict=True)]


def stage_charts(
    coordinates: Sequence[Coordinate], rates: Rows, a: Rows, b: Sequence[Any]
) -> list[LineChart | GroupChart]:
    """A chart for each factor; `rates` are the stage velocities, one per direction, `a` and `b` the weights of positions."""
    by_stage = [parts(coordinates, row) for row in rates]
    made: list[LineChart | GroupChart] = []
    for k, (f, _) in enumerate(by_stage[0]):
        own = [row[k][1] for row in by_stage]
        made.append(GroupChart(f, own, a, b) if isinstance(f, GroupCoordinate) else LineChart(f, own, a, b))
    return made
