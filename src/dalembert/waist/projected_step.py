"""A step without some of its unknowns, which occur linearly: equations are combined so that these unknowns cancel.

With equations r(x) + E y = 0 and chi(x) = 0, where the matrix E is known before the step is solved, a basis B of the vectors
with B^T E = 0 leaves B^T r(x) = 0 and chi(x) = 0 for x alone; y follows afterwards. For multipliers of reactions the columns
of E are one-forms, and B is a basis of the displacements on which these vanish.

The basis comes from elimination: each column of E in turn is cancelled in all equations but one, the pivot, by what that one
has. An entry that never vanishes is the pivot; where there is none, numbers decide in every step: the blade of a sleigh
pushes along x or along y. Entries are compared by e_j^2 / (dr_j/dx_j), which has the same units for every equation. The
equation chi of a column takes the place of its pivot.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import sympy

from ..kinks import extreme
from ..symbolic import Fast, fast, free_names, gradient, number, substitution, total
from .chain_rule import shared_partials
from .stepmap import STEP, Block, StepMap

ROUNDING = 1e-14
"""A column of E depends on those before it where all that is left of it is below this times the number of equations, relative
to the terms it is the difference of."""

LARGEST = 4000
"""The largest count of numbers that a basis is found with. Those of long chains are full, while the matrix of a step with all
its unknowns is sparse: from some ten constraints on it takes less time, and here some hundred times less."""


def projected(step: StepMap, names: Sequence[str]) -> StepMap:
    """The step whose first block is solved without the unknowns of these names, which are computed afterwards.

    Equation k of the block belongs to its unknown k: those of the names must be free of them.
    """
    block, *rest = step.blocks
    assert isinstance(block, Block), f"{step.name}: the first block of a step is given by equations"
    found = _Projection(block, names)
    return replace(step, blocks=(*found.before, found.reduced, *found.after, *rest))


class _Projection:
    """The blocks of a projected step: `before` finds the basis, `reduced` is solved, `after` has what was left out."""

    def __init__(self, block: Block, names: Sequence[str]):
        self.block, self.names = block, tuple(names)
        own = dict(zip(block.unknowns, block.residual, strict=True))
        self.bound = [own.pop(y) for y in names]
        self.kept, stated = list(own), list(own.values())
        slopes = shared_partials(stated, self.names)
        if free_names(self.bound) & set(names) or free_names(slopes.values()) & set(block.unknowns):
            raise ValueError(f"{', '.join(names)} do not occur linearly, with factors that are known before.")
        still = substitution(dict.fromkeys(names, 0))
        self.stated = [still(r) for r in stated]
        self.columns = [{i: d for (i, k), d in slopes.items() if k == a} for a in range(len(names))]
        self.sizes = [{i: e**2 for i, e in c.items()} for c in self.columns]
        self.before: list[Block] = []
        self.count = 0
        self.rows = [{i: fast(1)} for i in range(len(self.kept))]  # combinations of the stated equations
        self.placed: list[dict[int, Fast]] = []  # where each bound equation stands: 1 at the pivot, 0 elsewhere
        self.follow: list[dict[int, Fast]] = []  # what is left of each column, by the stated equations
        self.shares: list[dict[int, Fast]] = []  # of each column in those after it
        for a in range(len(names)):
            self._eliminate(a)

    # -------------------- the basis --------------------

    def _named(self, role: str, values: dict[int, Fast]) -> dict[int, Fast]:
        """Values as unknowns of their own, so that later expressions do not contain them; symbols and numbers as they are."""
        long = {i: e for i, e in values.items() if not (e.is_Symbol or e.is_number)}
        names = {i: f"basis.{role}.{i}" for i in long}
        self.count += len(long)
        if self.count > LARGEST:
            raise ValueError(f"a basis takes more than {LARGEST} numbers.")
        if long:
            self.before.append(Block(tuple(names.values()), tuple(fast(names[i]) - e for i, e in long.items())))
        return values | {i: fast(x) for i, x in names.items()}

    def _eliminate(self, a: int) -> None:
        """Cancel column a in all equations but its pivot, and the pivot in the columns after it."""
        column = self.columns[a] = self.columns[a] if a == 0 else self._named(f"column{a}", self.columns[a])
        chosen, others = self._pivot(a, column)
        inverse = self._inverse(a, chosen)

        def met(table: Mapping[int, Fast], less: int | None = None) -> Fast:
            """What the pivot has in a table, unless it is the equation `less`, over the pivot."""
            return inverse * total(s * table[i] for i, s in chosen.items() if i in table and i != less)

        self.placed.append(chosen)
        rows = {i: {j for k in chosen if k != i for j in self.rows[k]} | set(self.rows[i]) for i in column}
        sources = {j: {i: self.rows[i][j] for i in chosen if j in self.rows[i]} for i in chosen for j in self.rows[i]}
        self.follow.append({j: met(table) for j, table in sorted(sources.items())})
        later = [b for b in range(a + 1, len(self.columns)) if {*chosen} & {*self.columns[b]}]
        self.shares.append({b: met(self.columns[b]) for b in later})
        changed = {
            i: {
                j: self._less(others[i], self.rows[i].get(j), e * met(sources.get(j, {}), less=i))
                for j in sorted(rows[i])
            }
            for i, e in column.items()
        }
        for i, row in changed.items():
            self.rows[i] = self._named(f"row{i}.{a}", {j: e for j, e in row.items() if e != 0})
        for b in later:
            old, sizes = self.columns[b], self.sizes[b]
            less = {i: e * met(old, less=i) for i, e in column.items()}
            new = old | {i: self._less(others[i], old.get(i), e) for i, e in less.items()}
            self.columns[b] = {i: e for i, e in new.items() if e != 0}
            self.sizes[b] = {i: sizes.get(i, fast(0)) + less.get(i, fast(0)) ** 2 for i in self.columns[b]}

    @staticmethod
    def _less(other: Fast, value: Fast | None, less: Fast) -> Fast:
        return -less if value is None else other * value - less

    def _pivot(self, a: int, column: dict[int, Fast]) -> tuple[dict[int, Fast], dict[int, Fast]]:
        """1 at the pivot of a column and 0 elsewhere, for the equations that may be it; and 0 there and 1 elsewhere."""
        if not column:
            raise ValueError(f"{self.names[a]} occurs in no equation.")
        sure = [i for i, e in column.items() if (e / fast(STEP)).is_number or e.is_number]
        if sure or len(column) == 1:  # one that never vanishes
            pivot = (sure or list(column))[0]
            return {pivot: fast(1)}, {i: fast(int(i != pivot)) for i in column}
        import symengine

        scores = {i: e**2 / self._weight(i) for i, e in column.items()}
        if len(scores) == 2:
            (i, one), (j, other) = scores.items()
            larger = symengine.Piecewise((1, symengine.Ge(one, other)), (0, True))
            chosen = self._named(f"chosen{a}", {i: larger, j: 1 - larger})
            return chosen, {i: chosen[j], j: chosen[i]}
        scores = self._named(f"score{a}", scores)
        best = self._named(f"best{a}", {0: extreme(list(scores.values()), symengine.Gt)})[0]
        largest = {i: symengine.Piecewise((1, symengine.Ge(s, best)), (0, True)) for i, s in scores.items()}
        found, earlier = dict[int, Fast](), fast(1)
        for i, is_largest in self._named(f"largest{a}", largest).items():
            found[i], earlier = is_largest * earlier, earlier * (1 - is_largest)
        chosen = self._named(f"chosen{a}", found)
        return chosen, self._named(f"other{a}", {i: 1 - s for i, s in chosen.items()})

    def _weight(self, i: int) -> Fast:
        """The size of dr/dx of an equation and its unknown, at the guess."""
        x = self.kept[i]
        at = substitution(dict(zip(self.block.unknowns, self.block.guess, strict=True)))
        slope = at(gradient(self.stated[i], [x])[0])
        if slope == 0 or (slope.is_number and not math.isfinite(number(slope, {}))):
            raise ValueError(f"the equation of {x} does not contain {x} where other unknowns are zero.")
        return fast(sympy.Abs(sympy.Symbol("slope"))).subs({fast("slope"): slope})

    def _inverse(self, a: int, chosen: dict[int, Fast]) -> Fast:
        """1 over the pivot, which is zero, so that the step is singular, where all that is left of a column is rounding."""
        import symengine

        pivot, size = (total(s * values[i] for i, s in chosen.items()) for values in (self.columns[a], self.sizes[a]))
        least = (ROUNDING * len(self.kept)) ** 2 * size
        clear = (
            symengine.Piecewise((pivot, symengine.Gt(pivot**2, least)), (0, True)) if size != pivot**2 and a else pivot
        )
        name = f"basis.inverse{a}"
        self.before.append(Block((name,), (clear * fast(name) - 1,)))
        return fast(name)

    # -------------------- what is solved --------------------

    @property
    def reduced(self) -> Block:
        """The equations on the basis, and those that were bound to the unknowns left out."""
        found = []
        for i, row in enumerate(self.rows):
            terms = [e * self.stated[j] for j, e in row.items()]
            terms += [placed[i] * chi for placed, chi in zip(self.placed, self.bound, strict=True) if i in placed]
            found.append(total(terms))
        guess = dict(zip(self.block.unknowns, self.block.guess, strict=True))
        return Block(tuple(self.kept), tuple(found), tuple(guess[x] for x in self.kept))

    @property
    def after(self) -> Iterator[Block]:
        """The unknowns left out, from the last to the first."""
        for a in reversed(range(len(self.names))):
            own = fast(self.names[a]) + total(e * self.stated[j] for j, e in self.follow[a].items())
            later = total(e * fast(self.names[b]) for b, e in self.shares[a].items())
            yield Block((self.names[a],), (own + later,))
