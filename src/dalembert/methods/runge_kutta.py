"""Explicit Runge-Kutta methods, for comparison: they preserve none of the structure that the others do."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from sympy import Rational

from ..discrete.state_layout import state_layout
from ..model.coordinates import step, time
from ..model.space import in_numbers, number_rates, numbers, to_numbers
from ..model.system import System
from ..symbolic import Fast, fast, substitute
from ..theory.conserved.two_laws import exchanged_heat, external_power, outside_heat, reaction_power
from ..theory.motion.lagrange import motion_residual, multipliers, parted, unknowns
from ..waist.layout import Groups
from ..waist.stepmap import Block, StepMap, guarded
from .base import Method
from .step_laws import entropy_flows

Moved = Callable[[int, Sequence[Any]], list[Fast]]
"""Positions (0), velocities (1), entropies (2) or carried multipliers (3), advanced from the start by known slopes."""


class ExplicitRungeKutta(Method):
    """An explicit Runge-Kutta method on (q, v); each stage solves linear equations for accelerations and multipliers.

    With entropies the state is (q, v, S). The energy has an error of O(h^order), and drifts.
    """

    degenerate_masses = True
    groups = True
    carries = "velocity"
    carried_multipliers = True
    whole_equations = True
    thermal = True

    @property
    def second_law(self) -> bool:  # type: ignore[override]
        """An entropy grows by the weighted rates of the stages: if no weight is negative, friction lowers none."""
        return all(b >= 0 for b in self.tableau()[1])

    @abstractmethod
    def tableau(self) -> tuple[Sequence[Sequence[Any]], Sequence[Any]]:
        """Rows a_ij, j < i, and weights b_i; the nodes are the sums of the rows."""

    def step_map(self, system: System) -> StepMap:
        """The stages, one linear block each."""
        self.check(system)
        q, S, held, weights = system.coordinates, system.entropies, system.principle.carried(system), self.tableau()[1]
        blocks, places, moved = self._stages(system)
        reactions = blocks[0].unknowns[_sought(system).columns("multiplier")]
        step_map = StepMap(
            name=f"{system.name}, {self!r}",
            state=(*numbers(q), *(s.name for s in (*(c.dot for c in q), *S, *held))),
            parameters=tuple(p.name for p in system.parameters),
            blocks=tuple(blocks),
            update=tuple(x for part in range(4) for x in moved(part, weights)),
            outputs={m.name: fast(x) for m, x in zip(multipliers(system), reactions, strict=True)},
            layout=state_layout(system),
        )
        return guarded(step_map, map(to_numbers(q), system.expressions()), places)

    def _stages(self, system: System) -> tuple[list[Block], list[dict[Any, Fast]], Moved]:
        """For each stage its equations, and the expression of every symbol; and the function that advances the start."""
        q, S, h, sought = system.coordinates, system.entropies, fast(step), _sought(system)
        held = system.principle.carried(system)
        start = list(map(fast, numbers(q))), [fast(c.dot) for c in q], [fast(s) for s in S], [fast(m) for m in held]
        residual = list(map(to_numbers(q), (*motion_residual(system), *system.entropy_laws)))
        rates, laws = number_rates(q), [in_numbers(rate, q) for rate in held.values()]
        blocks: list[Block] = []
        places: list[dict[Any, Fast]] = []
        slopes: list[tuple[list[Fast], ...]] = []

        def moved(part: int, coefficients: Sequence[Any]) -> list[Fast]:
            used = [(fast(a), s[part]) for a, s in zip(coefficients, slopes, strict=True) if a]
            return [x + h * sum((a * s[i] for a, s in used), start=fast(0)) for i, x in enumerate(start[part])]

        for k, row in enumerate(self.tableau()[0]):
            place = [moved(part, row) for part in range(4)]
            places.append(_place(system, k + 1, place, fast(time) + fast(sum(row)) * h))
            blocks.append(_stage(system, residual, k + 1, places[-1]))
            found = [fast(name) for name in blocks[-1].unknowns]
            moving = _moving(k + 1, numbers(q), place[1], [substitute(rate, places[-1]) for rate in rates])
            if moving.block is not None:
                blocks.append(moving.block)
            carried = [substitute(law, places[-1]) for law in laws]
            slopes.append((moving.rates, found[sought.columns("acceleration")], found[sought.columns("rate")], carried))
        return blocks, places, moved

    def laws(self, system: System) -> dict[str, Fast]:
        """Weighted sums over the stages."""
        _, places, _ = self._stages(system)
        quantities = {
            "work": external_power(system),
            "reactions": reaction_power(system),
            "heat": sum(outside_heat(system), start=fast(0)),
            **entropy_flows(system, outside_heat(system), exchanged_heat(system), list(map(fast, system.temperatures))),
        }
        used = [(fast(b), place) for b, place in zip(self.tableau()[1], places, strict=True) if b]
        return {
            name: fast(step)
            * sum((b * substitute(in_numbers(e, system.coordinates), place) for b, place in used), start=fast(0))
            for name, e in quantities.items()
        }


class _Moving(NamedTuple):
    """The rates of the numbers of a position in a stage; products are given names and their own block."""

    rates: list[Fast]
    block: Block | None


def _moving(k: int, names: Sequence[str], velocities: Sequence[Fast], rates: Sequence[Fast]) -> _Moving:
    """On lines rates are velocities. Products nested from stage to stage would double in size with each."""
    if list(rates) == list(velocities):
        return _Moving(list(rates), None)
    sought = tuple(f"stage{k}.{name}.rate" for name in names)
    residual = tuple(fast(name) - rate for name, rate in zip(sought, rates, strict=True))
    return _Moving(list(map(fast, sought)), Block(sought, residual))


def _sought(system: System) -> Groups:
    """The unknowns of a stage."""
    accelerations, reactions = parted(system, unknowns(system))
    return Groups(acceleration=accelerations, multiplier=reactions, rate=[s.dot for s in system.entropies])


def _place(system: System, k: int, place: Sequence[Sequence[Fast]], t: Fast) -> dict[Any, Fast]:
    """The expression of every symbol in stage k."""
    known = [*numbers(system.coordinates), *system.velocities, *system.entropies, *system.principle.carried(system)]
    places = dict(zip(known, (x for part in place for x in part), strict=True)) | {time: t}
    return places | {s: fast(f"stage{k}.{s.name}") for s in _sought(system).outputs.values()}


def _stage(system: System, residual: Sequence[Fast], k: int, place: dict[Any, Fast]) -> Block:
    """Accelerations, multipliers and rates of entropies of one stage: a linear block."""
    names = tuple(f"stage{k}.{s.name}" for s in _sought(system).outputs.values())
    return Block(names, tuple(substitute(r, place) for r in residual))


class RungeKutta4(ExplicitRungeKutta):
    """Classical Runge-Kutta: order 4, not symplectic, drifts in energy and off constraints.

    Its weights are positive, so that the second law holds, but not the first.
    """

    reference = "W. Kutta, Z. Math. Phys. 46, 1901"
    order = 4

    def tableau(self) -> tuple[Sequence[Sequence[Any]], Sequence[Any]]:
        """1/2, 1/2, 1 and weights 1/6, 1/3, 1/3, 1/6."""
        half, third, sixth = Rational(1, 2), Rational(1, 3), Rational(1, 6)
        return ((), (half,), (0, half), (0, 0, 1)), (sixth, third, third, sixth)


class DormandPrince8(ExplicitRungeKutta):
    """The twelve-stage method of order 8 of Dormand and Prince, with a fixed step: for comparison, not symplectic.

    Some of its weights are negative: with long steps friction may cool, against the second law.
    """

    reference = (
        "P. J. Prince and J. R. Dormand, High order embedded Runge-Kutta formulae, J. Comput. Appl. Math. 7, 1981"
    )
    order = 8

    def tableau(self) -> tuple[Sequence[Sequence[Any]], Sequence[Any]]:
        """The coefficients of DOP853 in Hairer, Norsett and Wanner, Solving Ordinary Differential Equations I, 1993."""
        return DOP853


DOP853 = (
    (
        (),
        (0.05260015195876773,),
        (
            0.0197250569845379,
            0.0591751709536137,
        ),
        (
            0.02958758547680685,
            0.0,
            0.08876275643042054,
        ),
        (
            0.2413651341592667,
            0.0,
            -0.8845494793282861,
            0.924834003261792,
        ),
        (
            0.037037037037037035,
            0.0,
            0.0,
            0.17082860872947386,
            0.12546768756682242,
        ),
        (
            0.037109375,
            0.0,
            0.0,
            0.17025221101954405,
            0.06021653898045596,
            -0.017578125,
        ),
        (
            0.03709200011850479,
            0.0,
            0.0,
            0.17038392571223998,
            0.10726203044637328,
            -0.015319437748624402,
            0.008273789163814023,
        ),
        (
            0.6241109587160757,
            0.0,
            0.0,
            -3.3608926294469414,
            -0.868219346841726,
            27.59209969944671,
            20.154067550477894,
            -43.48988418106996,
        ),
        (
            0.47766253643826434,
            0.0,
            0.0,
            -2.4881146199716677,
            -0.590290826836843,
            21.230051448181193,
            15.279233632882423,
            -33.28821096898486,
            -0.020331201708508627,
        ),
        (
            -0.9371424300859873,
            0.0,
            0.0,
            5.186372428844064,
            1.0914373489967295,
            -8.149787010746927,
            -18.52006565999696,
            22.739487099350505,
            2.4936055526796523,
            -3.0467644718982196,
        ),
        (
            2.273310147516538,
            0.0,
            0.0,
            -10.53449546673725,
            -2.0008720582248625,
            -17.9589318631188,
            27.94888452941996,
            -2.8589982771350235,
            -8.87285693353063,
            12.360567175794303,
            0.6433927460157636,
        ),
    ),
    (
        0.054293734116568765,
        0.0,
        0.0,
        0.0,
        0.0,
        4.450312892752409,
        1.8915178993145003,
        -5.801203960010585,
        0.3111643669578199,
        -0.1521609496625161,
        0.20136540080403034,
        0.04471061572777259,
    ),
)
