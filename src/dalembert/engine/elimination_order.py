"""The order in which the unknowns of sparse equations are eliminated, computed once from the places of their entries.

Eliminating an unknown couples all that it was coupled with. The one coupled with the fewest is eliminated next (minimum
degree, W. F. Tinney and J. W. Walker, Proc. IEEE 55, 1967): chains, trees and arrows then fill no further place, and nets few.
Pivots stay on the diagonal, where equation and unknown belong together. Where a diagonal entry is zero, as for a multiplier,
the unknown waits until all it was coupled with are eliminated: what is then there is A M⁻¹ Aᵀ, and no single component of a
direction that may vanish.
"""

from __future__ import annotations

from collections.abc import Iterable
from heapq import heapify, heappop, heappush
from typing import NamedTuple


class Order(NamedTuple):
    """An order of elimination, in positions: `unknowns[k]` is eliminated at position k; `coupled[k]` are the later positions
    with which it is coupled by then, ascending."""

    unknowns: list[int]
    coupled: list[list[int]]

    @property
    def products(self) -> int:
        """The products that an elimination computes."""
        return sum(len(row) ** 2 for row in self.coupled)


def elimination_order(n: int, places: Iterable[tuple[int, int]]) -> Order | None:
    """The order for a matrix of n rows with entries at `places`; None if zeros on the diagonal leave no order."""
    near: list[set[int]] = [set() for _ in range(n)]
    diagonal = set()
    for i, j in places:
        if i == j:
            diagonal.add(i)
        else:
            near[i].add(j)
            near[j].add(i)
    # A row without entries is never eliminated.
    waits = [0 if i in diagonal else len(near[i]) or -1 for i in range(n)]
    after: dict[int, list[int]] = {}
    for i in range(n):
        if waits[i]:
            for j in near[i]:
                after.setdefault(j, []).append(i)
    ready = [(len(near[i]), i) for i in range(n) if not waits[i]]
    heapify(ready)
    unknowns, rows = list[int](), list[set[int]]()
    eliminated = [False] * n
    while ready:
        degree, k = heappop(ready)
        if eliminated[k] or degree != len(near[k]):
            continue  # an entry that a later one replaces
        eliminated[k] = True
        unknowns.append(k)
        rows.append(near[k])
        for i in near[k]:
            near[i] |= near[k]
            near[i] -= {i, k}
        for i in after.get(k, ()):
            waits[i] -= 1
        for i in near[k]:
            if not waits[i]:
                heappush(ready, (len(near[i]), i))
    if len(unknowns) < n:
        return None
    position = {k: p for p, k in enumerate(unknowns)}
    return Order(unknowns, [sorted(position[i] for i in row) for row in rows])
