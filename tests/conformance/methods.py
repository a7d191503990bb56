"""Every method with a fixed step, in every size it comes in."""

from __future__ import annotations

import dalembert as da
from dalembert.methods import REGISTRY

_SIZES = {
    da.Gauss: [(1,), (2,), (3,), (4,)],
    da.Lobatto: [(2,), (3,), (4,), (5,)],
    da.Galerkin: [(1,), (2,), (3,), (4,), (1, "lobatto"), (2, "lobatto"), (3, "lobatto")],
    da.Composition: [
        (da.GeometricNonholonomic(), 4),
        (da.McLachlanPerlmutter(), 4),
        (da.DiscreteGradient(2), 6),
        (da.Midpoint(), 4),
        (da.Trapezoidal(), 6),
        (da.Midpoint(), 8),
        (da.Lobatto(3), 6),
        (da.StormerVerlet(), 4),
    ],
}

METHODS = [kind(*size) for kind in REGISTRY.values() if not kind.adaptive for size in _SIZES.get(kind, [()])]


def accepts(method, case) -> bool:
    """Whether a method takes a system; what it refuses, it refuses in words (see tests/errors)."""
    return method.takes(case().system)
