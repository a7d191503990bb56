"""A symplectic or energy-preserving method has no energy drift over a million steps; explicit Runge-Kutta does."""

from __future__ import annotations

import pytest

import dalembert as da

from .drift import BY_ORDER, FAR, drift, henon_heiles, rounding, sphere
from .methods import METHODS, accepts

pytestmark = pytest.mark.usefixtures("optimised")
CONTROLS = (da.RungeKutta4(), da.DormandPrince8())
CASES = {"Henon-Heiles": henon_heiles, "sphere": sphere}


def tried(method, case):
    """All methods on the free system, those of order 2 on the sphere; `make verify` has the rest."""
    claims = method.symplectic or method.energy or method in CONTROLS
    return accepts(method, case) and claims and (case is henon_heiles or method.order == 2 or method in CONTROLS)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "name"), [(m, n) for m in METHODS for n, case in CASES.items() if tried(m, case)], ids=str
)
def test_no_energy_drift(method, name):
    """The slope of a line through block means lies within three times its own error, or within rounding."""
    case = CASES[name]()
    run = da.simulate(
        case.system, method, h=BY_ORDER[method.order], steps=FAR, every=50, start=case.start, strict=False
    )  # fmt: skip
    if method in CONTROLS and not run.ok:
        return  # it lost the motion altogether
    slope, error = drift(run.time, run.energy)
    steady = abs(slope) <= 3 * error or abs(slope) * run.time[-1] < rounding(method, case.system, FAR)
    assert steady != (method in CONTROLS), f"slope {slope:.1e}, its error {error:.1e}"
