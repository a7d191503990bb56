"""Emits the operations of tapes, each in the loop of its level."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .emitter import Array, Emitter, Handle, Index
from .lower import Operation, Tape


def loaded(e: Emitter, names: Sequence[str], array: Array, base: Index) -> dict[str, Handle]:
    if isinstance(base, int):
        return {name: e.load(array, base + j) for j, name in enumerate(names)}
    return {name: e.load(array, e.integer_arithmetic("add", base, j)) for j, name in enumerate(names)}


def play(e: Emitter, t: Tape, known: Mapping[str, Handle], level: int, done: dict[int, Handle]) -> None:
    """Emit the operations of a tape up to a level that are not emitted yet."""
    for k, operation in enumerate(t.operations):
        if operation.level <= level and k not in done:
            done[k] = _operation(e, operation, known, done)


def _operation(e: Emitter, o: Operation, known: Mapping[str, Handle], done: Mapping[int, Handle]) -> Handle:
    match o.op:
        case "const":
            return e.real(o.args[0])
        case "input":
            return known[o.args[0]]
        case "add" | "sub" | "mul" | "div":
            return e.arithmetic(o.op, done[o.args[0]], done[o.args[1]])
        case "neg":
            return e.negative(done[o.args[0]])
        case "sqrt":
            return e.call("sqrt", done[o.args[0]])
        case "fma":
            return e.call("fma", *(done[a] for a in o.args))
        case "call":
            return e.call(o.args[0], *(done[a] for a in o.args[1:]))
        case "compare":
            return e.compare(o.args[0], done[o.args[1]], done[o.args[2]])
        case "select":
            return e.select(done[o.args[0]], done[o.args[1]], done[o.args[2]])
        case "and":
            return e.both(done[o.args[0]], done[o.args[1]])
        case "or":
            return e.either(done[o.args[0]], done[o.args[1]])
        case "not":
            return e.opposite(done[o.args[0]])
        case _:
            return e.truth(o.op == "true")


def results(
    e: Emitter, t: Tape, known: Mapping[str, Handle], done: dict[int, Handle], which: slice = slice(None)
) -> list[Handle]:
    """Results of a tape; operations they need that are not emitted yet are emitted here."""
    wanted = t.results[which]
    needed, waiting = set(), [k for k in wanted if k not in done]
    while waiting:
        k = waiting.pop()
        if k not in needed:
            needed.add(k)
            waiting += [a for a in t.operations[k].values if a not in done]
    for k in sorted(needed):
        done[k] = _operation(e, t.operations[k], known, done)
    return [done[k] for k in wanted]
