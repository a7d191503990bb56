"""Gauss collocation."""

from __future__ import annotations

from ..discrete.collocation import collocation, fraction, gauss_nodes, weights
from ..errors import MethodError, told
from .base import is_size
from .partitioned import PartitionedRungeKutta, Tableau


class Gauss(PartitionedRungeKutta):
    """Gauss collocation with s stages: implicit, order 2s, symplectic, symmetric; s = 1 is the midpoint rule."""

    reference = "J. C. Butcher, Math. Comp. 18, 1964; symplectic: J. M. Sanz-Serna, BIT 28, 1988"

    def __init__(self, stages: int = 2):
        if not is_size(stages, (1, 2, 3, 4)):
            raise MethodError(f"Gauss({told(stages)}): the number of stages is 1, 2, 3 or 4; the order is twice that.")
        super().__init__(stages)

    @property
    def order(self) -> int:  # type: ignore[override]
        """Twice the number of stages."""
        return 2 * self.stages

    def tableau(self) -> Tableau:
        """The Gauss coefficients, for positions and momenta alike."""
        c = gauss_nodes(self.stages)
        a = tuple(tuple(map(fraction, row)) for row in collocation(c))
        return Tableau(tuple(map(fraction, c)), tuple(map(fraction, weights(c))), a, a)
