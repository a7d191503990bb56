"""The pair of Dormand and Prince of order 8 with estimates of its error and dense output: the coefficients of DOP853.

J. R. Dormand and P. J. Prince, J. Comput. Appl. Math. 6 (1980) and 7 (1981); estimates and dense output: E. Hairer,
S. P. Norsett and G. Wanner, Solving Ordinary Differential Equations I, 1993, sections II.5 and II.6. The stages of the step
are those of `DormandPrince8`.
"""

from __future__ import annotations

from ..waist.adaptive_flow import Pair
from .runge_kutta import DOP853

_DENSE_STAGES = (
    (
        0.056167502283047954, 0, 0, 0, 0, 0, 0.25350021021662483, -0.2462390374708025, -0.12419142326381637,
        0.15329179827876568, 0.00820105229563469, 0.007567897660545699, -0.008298,
    ),
    (
        0.03183464816350214, 0, 0, 0, 0, 0.028300909672366776, 0.053541988307438566, -0.05492374857139099, 0, 0,
        -0.00010834732869724932, 0.0003825710908356584, -0.00034046500868740456, 0.1413124436746325,
    ),
    (
        -0.42889630158379194, 0, 0, 0, 0, -4.697621415361164, 7.683421196062599, 4.06898981839711, 0.3567271874552811, 0,
        0, 0, -0.0013990241651590145, 2.9475147891527724, -9.15095847217987,
    ),
)  # fmt: skip
"""Three more stages, for the motion inside a step; the one before them is at its end."""

_DENSE_NODES = (0.1, 0.2, 7 / 9)

_HIGH = (
    0.01312004499419488, 0, 0, 0, 0, -1.2251564463762044, -0.4957589496572502, 1.6643771824549864,
    -0.35032884874997366, 0.3341791187130175, 0.08192320648511571, -0.022355307863886294,
)  # fmt: skip
"""The estimate of high order: the difference to a formula of order 5."""

_THIRD = {0: 0.2440944881889764, 8: 0.7338466882816118, 11: 0.022058823529411766}
"""The weights of a formula of order 3; the difference to it is the estimate of low order."""

_DENSE = (
    (
        -8.428938276109013, 0, 0, 0, 0, 0.5667149535193777, -3.0689499459498917, 2.38466765651207, 2.117034582445028,
        -0.871391583777973, 2.2404374302607883, 0.6315787787694688, -0.08899033645133331, 18.148505520854727,
        -9.194632392478356, -4.436036387594894,
    ),
    (
        10.427508642579134, 0, 0, 0, 0, 242.28349177525817, 165.20045171727028, -374.5467547226902, -22.113666853125306,
        7.733432668472264, -30.674084731089398, -9.332130526430229, 15.697238121770845, -31.139403219565178,
        -9.35292435884448, 35.81684148639408,
    ),
    (
        19.985053242002433, 0, 0, 0, 0, -387.0373087493518, -189.17813819516758, 527.8081592054236, -11.57390253995963,
        6.8812326946963, -1.0006050966910838, 0.7777137798053443, -2.778205752353508, -60.19669523126412,
        84.32040550667716, 11.99229113618279,
    ),
    (
        -25.69393346270375, 0, 0, 0, 0, -154.18974869023643, -231.5293791760455, 357.6391179106141, 93.40532418362432,
        -37.45832313645163, 104.0996495089623, 29.8402934266605, -43.53345659001114, 96.32455395918828,
        -39.17726167561544, -149.72683625798564,
    ),
)  # fmt: skip


def dop853() -> Pair:
    """The pair, for the engine."""
    stages, weights = DOP853
    first = (1.0, *(0.0,) * 12)
    own = (*weights, 0.0)
    return Pair(
        rows=(*(tuple(map(float, row)) for row in stages), tuple(weights), *_DENSE_STAGES),
        nodes=(*(float(sum(row)) for row in stages), 1.0, *_DENSE_NODES),
        errors=(_HIGH, tuple(b - _THIRD.get(i, 0.0) for i, b in enumerate(weights))),
        dense=(
            own,
            tuple(a - b for a, b in zip(first, own, strict=True)),
            (*(2 * b - a for a, b in zip(first[:12], weights, strict=True)), -1.0),
            *_DENSE,
        ),
        power=8,
        count=12,
    )
