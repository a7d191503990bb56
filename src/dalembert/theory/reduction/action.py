"""How an action is given: elements, images of coordinates and of entries of group coordinates, and the identity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy
from sympy import Expr, Symbol

from ...decide import balls
from ...decide.budget import Budget, BudgetSpentError
from ...decide.zero import vanishes
from ...errors import ModelError, told
from ...model import checks
from ...model.coordinates import Coordinate, Direction, Parameter
from ...model.group_coordinate import Entry, GroupCoordinate
from ..algebra import attempt
from .group_law import SECONDS, jets, near_identity, places

if TYPE_CHECKING:
    from .symmetry import Symmetry

OFF = 1e-9
"""How far the image of a matrix may be from the group; what is measured is of size one."""


def read_elements(given: Any) -> tuple[Symbol, ...]:
    listed = (given,) if isinstance(given, Symbol) else tuple(given) if isinstance(given, Sequence) else ()
    if not listed or isinstance(given, str):
        raise ModelError(
            f"symmetry: elements={told(given)}. Expected the symbols of a group element, such as elements=[a] with "
            f'a = dalembert.parameters("a").'
        )
    for g in listed:
        if not isinstance(g, Parameter):
            raise ModelError(
                f'symmetry: the element {told(g)} is not a parameter. Make it with a = dalembert.parameters("a").'
            )
    if len(set(listed)) < len(listed):
        raise ModelError(f"symmetry: elements={list(listed)}: an element is listed twice. List each once.")
    return listed


def read_images(action: Any) -> dict[Symbol, Expr]:
    """The image of each symbol of a point: of coordinates, and of the entries of group coordinates."""
    if not isinstance(action, Mapping) or not action:
        raise ModelError(
            f"symmetry: got {told(action)}. Expected {{coordinate: its image}}, such as {{x: x + a}} with elements=[a]."
        )
    found: dict[Symbol, Expr] = {}
    for q, image in action.items():
        if isinstance(q, GroupCoordinate):
            found |= _image_entries(q, image)
        elif isinstance(q, Coordinate) and not isinstance(q, Direction):
            found[q] = checks.expression(image, f"image of {q}")
        else:
            raise ModelError(
                f"symmetry: {told(q)} is not a coordinate. The keys of the action are coordinates, made with "
                f'dalembert.coordinates("x").'
            )
    return found


def _image_entries(R: GroupCoordinate, image: Any) -> dict[Symbol, Expr]:
    """The images of the entries of a group coordinate, from the matrix that is its image."""
    try:
        matrix = sympy.Matrix(image)
    except (TypeError, ValueError):
        matrix = sympy.zeros(0)
    if matrix.shape != (R.size, R.size):
        raise ModelError(
            f"symmetry: the image of {R} is {told(image)}. Expected a {R.size} x {R.size} matrix, such as A*{R}.matrix with a "
            f"matrix A of the group."
        )
    for place, e in enumerate(R.matrix):
        if e not in R.entries and not vanishes(sympy.sympify(matrix[place]) - e):
            i, j = divmod(place, R.size)
            raise ModelError(
                f"symmetry: the image of {R} is no {R.noun}: its entry [{i}, {j}] is {matrix[place]}, not {e}."
            )
    return {e: checks.expression(matrix[e.place], f"image of {e}") for e in R.entries}


def used(images: Mapping[Symbol, Expr]) -> set[Symbol]:
    """Symbols of a point that images depend on without being moved."""
    return {s for e in images.values() for s in e.free_symbols if isinstance(s, Coordinate | Entry)}


def check_symbols(images: Mapping[Symbol, Expr], elements: Sequence[Symbol]) -> None:
    occurring = {s for e in images.values() for s in e.free_symbols}
    for g in elements:
        if g not in occurring:
            raise ModelError(
                f"symmetry: the element {g} does not occur in the action. Leave it out of elements=[...], or write the action "
                f"with it."
            )


def identity_of(images: Mapping[Symbol, Expr], elements: Sequence[Symbol]) -> tuple[Expr, ...]:
    """The element that moves nothing: zeros and ones, or what solving finds."""
    choices = sorted(product((sympy.S.Zero, sympy.S.One), repeat=len(elements)), key=sum)
    for values in choices:
        at = dict(zip(elements, values, strict=True))
        if all(vanishes(e.xreplace(at) - q) for q, e in images.items()):
            return tuple(values)
    q = tuple(images)
    for at in places(tuple({*q, *used(images)})):
        pairs = list(zip(jets(list(images.values()), list(at), at, 1), jets(list(q), list(at), at, 1), strict=True))
        for found in _solutions([x - y for x, y in pairs], elements):
            values = tuple(found.get(g, g) for g in elements)
            here = dict(zip(elements, values, strict=True))
            if all(v.is_number for v in values) and all(vanishes(e.xreplace(here) - q) for q, e in images.items()):
                return values
    raise ModelError(
        f"symmetry: no value of {', '.join(map(str, elements))} leaves the coordinates {', '.join(map(str, q))} where they "
        f"are. A group has an identity; the usual ones are 0 for displacements and angles and 1 for factors."
    )


def _solutions(equations: Sequence[Expr], unknowns: Sequence[Symbol]) -> list[dict[Symbol, Expr]]:
    """What computer algebra finds in time: for a reflection followed by rotations it would search for hours."""
    try:
        return attempt(Budget(seconds=SECONDS), sympy.solve, equations, unknowns, dict=True) or []
    except BudgetSpentError:
        return []


def check_on_groups(symmetry: Symmetry) -> None:
    """Refuse images of points of a group that are no points of it, and groups without exact points at hand."""
    for R in symmetry.groups:
        if not R.group.has_cayley:
            raise ModelError(
                f"symmetry: actions on {R} are not available: Cayley's map leads out of {R.group.name}. Expected rotations, "
                f"poses, unit quaternions, translations or products of them."
            )
    known = {e for R in symmetry.groups for e in R.entries}
    for s in used(symmetry.action) - known:
        if isinstance(s, Entry):
            raise ModelError(
                f"symmetry: the images use {s}. Say how {s.owner} is moved too: {{{s.owner}: {s.owner}.matrix}}."
            )
    e = dict(zip(symmetry.elements, symmetry.identity, strict=True))
    for at in near_identity([*symmetry.action.values()], e, 3, symmetry.groups):
        for R in symmetry.groups:
            values = [[balls.value(symmetry.action.get(x, x), at) for x in R.matrix.row(i)] for i in range(R.size)]
            off, what = R.group.defect(np.array([[float(v.mid()) for v in row] for row in values]))
            if not off < OFF:
                raise ModelError(
                    f"symmetry: the image of {R} is no {R.noun}: {what} by {float(off):.3g} at a random point. Expected a "
                    f"product such as A*{R}.matrix or {R}.matrix*A with a matrix A of the group."
                )
