"""What of a block needs no search: unknowns that linear equations determine before all others, or after them.

With constraints in the velocities of a group, say, some equations contain one unknown alone. Searched for together with the
others it is zero up to rounding, which is never small against the only term of its equation, so that every step would cost a
correction more. And a search among fewer unknowns takes less time.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..symbolic import free_names
from .matrix_block import MatrixBlock
from .stepmap import Block
from .triangular_order import Undetermined, solved_together

Part = tuple[list[int], list[str]]
"""Numbers of equations, and the unknowns they determine."""


def searched_last(block: Block | MatrixBlock) -> tuple[Block | MatrixBlock, ...]:
    """The same problem as blocks in turn: linear ones, one with all that is searched for, and linear ones again."""
    if isinstance(block, MatrixBlock) or block.is_linear:
        return (block,)
    within = [{block.unknowns[j] for i, j in block.partials if i == k} for k in range(len(block.unknowns))]
    if any(free_names([r]) & set(block.unknowns) != w for r, w in zip(block.residual, within, strict=True)):
        return (block,)  # a symbol whose terms cancel in the derivative is not known to cancel in the equation
    try:
        rest = solved_together(within, block.unknowns)
    except Undetermined:  # the step is singular whatever the state is, and the engine says so
        return (block,)
    first, rest = _ready(block, rest, within)
    last, rest = _left(block, rest, within)
    middle: Part = (
        sorted(i for rows, _ in rest for i in rows),
        [x for x in block.unknowns if any(x in n for _, n in rest)],
    )
    parts = [*first, *([middle] if rest else []), *last]
    return tuple(_block(block, part) for part in parts) if first or last else (block,)


def _ready(block: Block, parts: Iterable[Part], within: list[set[str]]) -> tuple[list[Part], list[Part]]:
    """Linear parts that contain no unknown but their own and those of such parts before them; and the other parts."""
    found: list[Part] = []
    rest, known = [], set[str]()
    for part in parts:  # each comes after those whose unknowns it contains
        rows, names = part
        if set.union(*(within[i] for i in rows)) <= known | set(names) and _block(block, part).is_linear:
            found.append(part)
            known |= set(names)
        else:
            rest.append(part)
    return found, rest


def _left(block: Block, parts: list[Part], within: list[set[str]]) -> tuple[list[Part], list[Part]]:
    """Linear parts whose unknowns occur in no other part but such ones after them; and the other parts."""
    found: list[Part] = []
    rest: list[Part] = []
    used = set[str]()
    for part in reversed(parts):
        rows, names = part
        if not used & set(names) and _block(block, part).is_linear:
            found.insert(0, part)
        else:
            rest.insert(0, part)
            used |= set.union(*(within[i] for i in rows))
    return found, rest


def _block(block: Block, part: Part) -> Block:
    rows, names = part
    guess = dict(zip(block.unknowns, block.guess, strict=True))
    return Block(tuple(names), tuple(block.residual[i] for i in rows), tuple(guess[x] for x in names))
