"""Equations in an order in which few of them have to be solved together."""

from __future__ import annotations

from collections.abc import Sequence


class Undetermined(ValueError):
    """Some equations have too few unknowns, so that other unknowns are not determined; `unknown` is one of these."""

    def __init__(self, unknown: str):
        super().__init__(f"no equation is left to determine {unknown}.")
        self.unknown = unknown


def solved_together(equations: Sequence[set[str]], unknowns: Sequence[str]) -> list[tuple[list[int], list[str]]]:
    """Groups of equations with the unknowns they determine, each after those whose unknowns it involves.

    An equation is given by the unknowns in it. Every unknown is assigned an equation of its own (a perfect matching); the
    groups are then the strong components of the graph in which an equation leads to those of the unknowns in it
    (A. L. Dulmage and N. S. Mendelsohn, Canad. J. Math. 10, 1958).
    """
    owner = _assigned(equations, unknowns)
    own = {i: x for x, i in owner.items()}
    leads = {i: [owner[x] for x in sorted(equations[i])] for i in range(len(equations))}
    return [(sorted(group), [own[i] for i in sorted(group)]) for group in _components(leads)]


def _assigned(equations: Sequence[set[str]], unknowns: Sequence[str]) -> dict[str, int]:
    """An equation of its own for every unknown."""
    of_equation: dict[int, str] = {}
    holds: dict[str, list[int]] = {x: [] for x in unknowns}
    for i, names in enumerate(equations):
        for x in names:
            holds[x].append(i)
    for x in unknowns:
        came: dict[int, str] = {}
        waiting = [x]
        free: int | None = None
        while waiting and free is None:
            y = waiting.pop()
            for i in holds[y]:
                if i not in came:
                    came[i] = y
                    if i not in of_equation:
                        free = i
                        break
                    waiting.append(of_equation[i])
        if free is None:
            raise Undetermined(x)
        _reassign(free, x, came, of_equation)
    return {x: i for i, x in of_equation.items()}


def _reassign(free: int, x: str, came: dict[int, str], of_equation: dict[int, str]) -> None:
    """Reassign equations along the path that led to a free one."""
    held = {y: i for i, y in of_equation.items()}
    i = free
    while True:
        y = came[i]
        of_equation[i] = y
        if y == x:
            return
        i = held[y]


def _components(leads: dict[int, list[int]]) -> list[list[int]]:
    """The strong components of a graph, each after those it leads to (R. Tarjan, SIAM J. Comput. 1, 1972)."""
    order: dict[int, int] = {}
    low: dict[int, int] = {}
    stack: list[int] = []
    found: list[list[int]] = []
    done: set[int] = set()
    for root, first in leads.items():
        waiting = [(root, iter(first))] if root not in order else []
        while waiting:
            i, successors = waiting[-1]
            if i not in order:
                order[i] = low[i] = len(order)
                stack.append(i)
            step = next((j for j in successors if j not in done), None)
            if step is None:
                waiting.pop()
                if low[i] == order[i]:
                    found.append(stack[stack.index(i) :])
                    del stack[stack.index(i) :]
                    done.update(found[-1])
                if waiting:
                    low[waiting[-1][0]] = min(low[waiting[-1][0]], low[i])
            elif step in order:
                low[i] = min(low[i], order[step])
            else:
                waiting.append((step, iter(leads[step])))
    return found
