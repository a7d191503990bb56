"""The table of all methods, generated from the classes.

Nothing is typed by hand: claims are class attributes, a family's order is fitted to its sizes, implicitness is determined
from step maps, and the systems a method accepts by calling `takes`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from inspect import signature
from typing import Any

from sympy import exp

from ..errors import MethodError
from ..model.coordinates import coordinates, entropies, time
from ..model.system import System
from . import REGISTRY
from .base import QUANTITIES, Method

LARGEST = 12
"""Sizes and orders of families are tried up to this."""


@dataclass(frozen=True)
class MethodRow:
    """One method or family: its claims, and what it accepts."""

    name: str
    order: str
    implicit: str
    symplectic: str
    symmetric: str
    preserves: str
    accepts: Mapping[str, str]
    """For every kind of system: "yes", "-", or "some" where only some methods that can be composed accept it."""


NOTE = """order: of positions, velocities, momenta, multipliers, energy and entropies alike; one of lower order is named.
The last columns say which systems a method accepts; "separable" is free with constant masses, "heat" has entropies.
first law: the energy changes by work and heat alone, friction included; second law: no step lowers an entropy by friction,
or the sum of all by conduction, however long it is.
implicit, except ...: with constant masses, systems of these kinds need no iteration.
NullSpace, Composition: "as composed", "some" and parentheses stand for what some of the methods that can be composed have."""


def method_table() -> tuple[MethodRow, ...]:
    """One row for every registered method, in the order of the registry."""
    return tuple(map(_row, REGISTRY.values()))


def markdown(rows: Sequence[MethodRow] | None = None) -> str:
    """The table in Markdown."""
    head, *body = _cells(method_table() if rows is None else rows)
    lines = [head, ["---"] * len(head), *([f"`{name}`", *rest] for name, *rest in body)]
    sources = [f"* {', '.join(f'`{name}`' for name in names)}: {said}." for said, names in references().items()]
    return "\n".join([*(f"| {' | '.join(line)} |" for line in lines), "", NOTE, "", *sources]) + "\n"


def text(rows: Sequence[MethodRow] | None = None) -> str:
    """The table for a terminal, in columns."""
    cells = _cells(method_table() if rows is None else rows)
    widths = [max(len(row[k]) for row in cells) for k in range(len(cells[0]))]
    lines = ["  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip() for row in cells]
    sources = [f"{', '.join(names)}: {said}." for said, names in references().items()]
    return "\n".join([lines[0], "-" * max(map(len, lines)), *lines[1:], "", NOTE, "", *sources]) + "\n"


def references() -> dict[str, list[str]]:
    """References, each with the methods it describes."""
    found: dict[str, list[str]] = {}
    for name, kind in REGISTRY.items():
        found.setdefault(kind.reference, []).append(name)
    return found


def _cells(rows: Sequence[MethodRow]) -> list[list[str]]:
    told = [f.name for f in fields(MethodRow) if f.name != "accepts"]
    head = ["method", *told[1:], *probes()]
    return [head, *([*(getattr(r, name) for name in told), *r.accepts.values()] for r in rows)]


# -------------------- one row --------------------


def _row(kind: type[Method]) -> MethodRow:
    size, orders = _sizes(kind)
    variants = _variants(kind)
    accepted = {name: [m.takes(system) for m in variants] for name, system in probes().items()}
    kept = {
        "momenta": "momentum", "constraints": "constraints", "energy": "energy",
        "first law": "first_law", "second law": "second_law",
    }  # fmt: skip
    if not any(taken for name, lane in accepted.items() if probes()[name].constraints for taken in lane):
        del kept["constraints"]  # inherited, but constraints are never accepted
    told = [(word, _said([getattr(m, claim) for m in variants])) for word, claim in kept.items()]
    return MethodRow(
        name=f"{kind.__name__}({size})" if size else f"{kind.__name__}()",
        order="; ".join([orders, *_lower(variants)]),
        implicit=_implicit(variants),
        symplectic=_said([m.symplectic for m in variants]),
        symmetric=_said([m.symmetric for m in variants]),
        preserves=", ".join(word if said == "yes" else f"({word})" for word, said in told if said != "no") or "-",
        accepts={name: "yes" if all(lane) else "some" if any(lane) else "-" for name, lane in accepted.items()},
    )


def _lower(variants: Sequence[Method]) -> list[str]:
    """The quantities whose order is lower, and the lowest order of each."""
    names = [name for name in QUANTITIES if any(m.order_in(name) < m.order for m in variants)]
    return [f"{name} {min(m.order_in(name) for m in variants)}" for name in names]


def _said(values: Sequence[bool]) -> str:
    """A claim of a method; compositions have those of the method they compose."""
    return "yes" if all(values) else "as composed" if any(values) else "no"


def _parameter(kind: type[Method], *types: str) -> str | None:
    """The first parameter of the constructor annotated with one of these types."""
    found = signature(kind).parameters.values()
    return next((p.name for p in found if str(p.annotation).split(" |")[0] in types), None)


def _made(kind: type[Method], **given: Any) -> Method | None:
    try:
        return kind(**given)
    except MethodError:
        return None


def _sizes(kind: type[Method]) -> tuple[str, str]:
    """The text in parentheses, and the order: a number, a formula in s, or the orders that can be requested."""
    name = _parameter(kind, "int")
    if name is None:
        base = _parameter(kind, "Method")
        return base or "", "adaptive" if kind.adaptive else "as composed" if base else str(kind.order)
    made = {s: m.order for s in range(1, LARGEST + 1) if (m := _made(kind, **{name: s}))}
    base = f"{found}, " if (found := _parameter(kind, "Method")) else ""
    if name == "order":
        return f"{base}order", ", ".join(map(str, made))
    return f"{base}s", _formula(made)


def _formula(orders: dict[int, int]) -> str:
    """The order as a formula in the size s; sizes are listed with it."""
    (s0, p0), (s1, p1) = next(iter(orders.items())), list(orders.items())[-1]
    slope, rest = divmod(p1 - p0, s1 - s0)
    shift = p0 - slope * s0
    assert not rest and all(p == slope * s + shift for s, p in orders.items()), f"no formula for {orders}"
    if not slope:
        return str(p0)
    factor = "s" if slope == 1 else f"{slope}s"
    return f"{factor}{f' {shift:+d}'.replace('-', '- ').replace('+', '+ ') if shift else ''}, s = {s0}..{s1}"


def _variants(kind: type[Method]) -> list[Method]:
    """The method with default options; a composition, with every method it can compose."""
    name = _parameter(kind, "Method")
    if name is None:
        return [kind()]
    bases = [other() for other in REGISTRY.values() if other is not kind and not other.adaptive]
    return [m for base in bases if (m := _made(kind, **{name: base}) or _with_order(kind, name, base))]


def _with_order(kind: type[Method], name: str, base: Method) -> Method | None:
    """A composition of methods for which the usual order cannot be had."""
    return _made(kind, **{name: base, "order": base.order + 2}) if "order" in signature(kind).parameters else None


# -------------------- accepted systems, and whether it is implicit --------------------


@cache
def probes() -> dict[str, System]:
    """A small system of every kind; masses depend on position unless the kind is "separable"."""
    x, y = coordinates("x y")
    S = entropies("S")
    masses, well = (x.dot**2 + (2 + x**2) * y.dot**2) / 2, x**4 / 4 + x * y**2
    common: dict[str, Any] = {"kinetic": masses, "potential": well}
    return {
        "separable": System("separable", [x, y], kinetic=(x.dot**2 + y.dot**2) / 2, potential=well),
        "free": System("free", [x, y], **common),
        "forced": System("forced", [x, y], **common, forces={x: -x.dot * y.dot, y: time}),
        "holonomic": System("holonomic", [x, y], **common, constraints=[x**2 + y**2 - 1]),
        "kinematic": System("kinematic", [x, y], **common, constraints=[x.dot - y * y.dot * x]),
        "nonlinear kinematic": System("nonlinear", [x, y], **common, constraints=[x.dot**2 + x * y.dot**2 - 1]),
        "heat": System("heat", [x, y], **common, entropies=[S], internal_energy=exp(S), friction={x: -x.dot * exp(S)}),
    }


@cache
def _constant_masses() -> dict[str, System]:
    """The same with constant masses and without velocities in forces, for which some methods need no iteration."""
    x, y, z = coordinates("x y z")
    common: dict[str, Any] = {
        "kinetic": (x.dot**2 + y.dot**2 + z.dot**2) / 2,
        "potential": x**4 / 4 + x * y**2 + z**2,
    }
    constraints = {
        "free": [],
        "holonomic": [x**2 + y**2 + z**2 - 1],
        "kinematic": [z.dot - y * x.dot],
        "nonlinear kinematic": [x.dot**2 + y.dot**2 - z.dot**2],
    }
    return {name: System(name, [x, y, z], **common, constraints=given) for name, given in constraints.items()}


def _iterates(method: Method, systems: Mapping[str, System]) -> dict[str, bool]:
    """For every system that the method accepts: whether a step solves nonlinear equations."""
    maps = {name: method.step_map(s) for name, s in systems.items() if method.takes(s)}
    return {name: any(not block.is_linear for block in m.blocks) for name, m in maps.items()}


def _implicit(variants: Sequence[Method]) -> str:
    """Whether steps need iteration: always, never, or except for some systems with constant masses."""
    told = {_told(m) for m in variants}
    return told.pop() if len(told) == 1 else "as composed"


def _told(method: Method) -> str:
    if method.adaptive:
        return "-"
    general, simple = _iterates(method, probes()), _iterates(method, _constant_masses())
    explicit = [name for name, iterates in simple.items() if not iterates]
    if not any((*general.values(), *simple.values())):
        return "no"
    return f"except {', '.join(explicit)}" if explicit else "yes"
