"""Explicit Runge-Kutta-Nystrom: for accelerations that do not depend on velocities, a method of very high order."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..discrete.state_layout import state_layout
from ..model.coordinates import step, time
from ..model.system import System
from ..symbolic import Fast, fast, free_names, substitute
from ..theory.motion.lagrange import motion_residual
from ..waist.stepmap import Block, StepMap, guarded
from .base import Method

_ROWS: tuple[tuple[float, ...], ...] = (
    (),
    (0.0002,),
    (0.0002666666666666667, 0.0005333333333333334),
    (0.002916666666666667, -0.004166666666666667, 0.00625),
    (0.0016460905349794238, 0, 0.0054869684499314125, 0.0017558299039780521),
    (0.0019456, 0, 0.007151746031746032, 0.0029127111111111113, 0.0007899428571428571),
    (0.00056640625, 0, 0.0008809730489417989, -0.0004369212962962963, 0.00033900669642857143, -9.946469907407407e-05),
    (0.0030833333333333333, 0, 0, 0.0017777777777777779, 0.0027, 0.0015782828282828283, 0.01086060606060606),
    (
        0.00365183937480113,
        0,
        0.003965171714072343,
        0.0031972582629306284,
        0.008221467306855435,
        -0.0013130926959572379,
        0.009771586968064868,
        0.003755769069232834,
    ),
    (
        0.003707241068718501,
        0,
        0.005082045854555286,
        0.001174708002175412,
        -0.021147629915126993,
        0.06010463698107881,
        0.02010573476850619,
        -0.02835075012293358,
        0.014879568918581932,
    ),
    (
        0.03512537656073344,
        0,
        -0.008615749195138479,
        -0.005791448051007917,
        1.945554823782616,
        -3.4351238674565137,
        -0.10930701107475221,
        2.3496383118995166,
        -0.7560094086870229,
        0.10952897222156927,
    ),
    (
        0.020527792537482496,
        0,
        -0.00728644676448018,
        -0.0021153556079618403,
        0.9275807968723522,
        -1.6522824844257367,
        -0.02107956300568657,
        1.2065364326207872,
        -0.4137144770010661,
        0.09079873982809654,
        0.005355552600533985,
    ),
    (
        -0.14324078875545515,
        0,
        0.012528703773091817,
        0.006826019163969827,
        -4.799555395574387,
        5.6986250439519415,
        0.7553430369523645,
        -0.12755487858281084,
        -1.9605926051117384,
        0.9185609056635262,
        -0.23880085505284432,
        0.15911081357234216,
    ),
    (
        0.8045019205520489,
        0,
        -0.016658527067011247,
        -0.021415834042629735,
        16.827235928962466,
        -11.172835357176098,
        -3.377159297226324,
        -15.243326655360846,
        17.179835738215417,
        -5.437719239823995,
        1.3878671618364655,
        -0.5925827732652812,
        0.029603873171297354,
    ),
    (
        -0.913296766697358,
        0,
        0.0024112725757805178,
        0.01765812269386174,
        -14.851649779720384,
        2.1589708670045757,
        3.99791558311788,
        28.434151800232232,
        -25.2593643549416,
        7.733878542362238,
        -1.8913028948478674,
        1.0014845070224718,
        0.004641199599109052,
        0.011218755022148957,
    ),
    (
        -0.27519629720559396,
        0,
        0.03661188877915492,
        0.009789519688231562,
        -12.293062345886211,
        14.207226453937903,
        1.5866476906789537,
        2.4577735327595946,
        -8.935193694403273,
        4.373672731613407,
        -1.8347181765449492,
        1.1592085289061491,
        -0.017290253165383924,
        0.019325977904460768,
        0.005204442937554993,
    ),
    (
        1.3076391847404059,
        0,
        0.017364109189745843,
        -0.018544456454265796,
        14.811522032867726,
        9.38317630848247,
        -5.2284261999445425,
        -48.95128052584765,
        38.297096034337926,
        -10.58738133697598,
        2.4332304376226275,
        -1.0453406042575444,
        0.0717732095086726,
        0.0021622109708082783,
        0.007009595759602514,
        0,
    ),
)
_POSITION = (
    0.012127868517185414,
    0,
    0,
    0,
    0,
    0,
    0.08629746251568875,
    0.2525469581187147,
    -0.1974186799326823,
    0.2031869190789726,
    -0.020775808077714918,
    0.10967804874502014,
    0.038065132526466504,
    0.01163406880432423,
    0.0046580297040248785,
    0,
    0,
)
_VELOCITY = (
    0.012127868517185414,
    0,
    0,
    0,
    0,
    0,
    0.09083943422704079,
    0.3156836976483934,
    -0.2632249065769097,
    0.3047803786184589,
    -0.041551616155429835,
    0.2467756096762953,
    0.15226053010586602,
    0.08143848163026961,
    0.08502571193890811,
    -0.009155189630077963,
    0.025,
)


class Nystrom12(Method):
    """The 17-stage Runge-Kutta-Nystrom method of order 12 of Dormand, El-Mikkawy and Prince: for forces without velocities.

    J. R. Dormand, M. E. A. El-Mikkawy, P. J. Prince, High-order embedded Runge-Kutta-Nystrom formulae, IMA J. Numer.
    Anal. 7 (1987) 423-430, the formula RKN12(10)17M, here with a fixed step. Not symplectic; the fastest way to many digits.
    """

    reference = "J. R. Dormand, M. E. A. El-Mikkawy and P. J. Prince, IMA J. Numer. Anal. 7, 1987"
    order = 12
    carries = "velocity"

    def obstacle(self, system: System) -> str:
        """Accelerations must be functions of positions and time alone."""
        if system.constraints:
            return "it has constraints, whose reactions depend on velocities."
        moving = free_names(motion_residual(system)) & {v.name for v in system.velocities}
        return "its accelerations depend on velocities." if moving else ""

    def step_map(self, system: System) -> StepMap:
        """Q_i = q + c_i h v + h^2 sum a_ij A_j, each with its acceleration A_i: one linear block per stage."""
        self.check(system)
        q, h, residual = system.coordinates, fast(step), motion_residual(system)
        x, v = [fast(c) for c in q], [fast(c.dot) for c in q]
        names: list[tuple[str, ...]] = []

        def combined(weights: Sequence[float], i: int, scale: Fast) -> Fast:
            used = zip(weights, names, strict=True)
            return sum((scale * fast(a) * fast(stage[i]) for a, stage in used if a), start=fast(0))

        blocks, stages = [], []
        for k, row in enumerate(_ROWS):
            c = _node(row)
            # h a_ij is computed once: this minimises the operations that depend on the last stage.
            places = {coordinate: x[i] + h * (c * v[i] + combined(row, i, h)) for i, coordinate in enumerate(q)}
            sought = tuple(f"stage{k + 1}.{coordinate.ddot.name}" for coordinate in q)
            places |= {coordinate.ddot: fast(name) for coordinate, name in zip(q, sought, strict=True)}
            places[time] = fast(time) + c * h
            stages.append(places)
            blocks.append(Block(sought, tuple(substitute(r, places) for r in residual)))
            names.append(sought)
        step_map = StepMap(
            name=f"{system.name}, {self!r}",
            state=tuple(c.name for c in q) + tuple(c.dot.name for c in q),
            layout=state_layout(system),
            parameters=tuple(p.name for p in system.parameters),
            blocks=tuple(blocks),
            update=(
                *(x[i] + h * (v[i] + combined(_POSITION, i, h)) for i in range(len(q))),
                *(v[i] + h * combined(_VELOCITY, i, fast(1)) for i in range(len(q))),
            ),
        )
        return guarded(step_map, system.expressions(), stages)


def _node(row: Sequence[float]) -> float:
    """The time of a stage: its coefficients add up to c^2/2."""
    return math.sqrt(2 * math.fsum(row))
