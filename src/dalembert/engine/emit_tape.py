"""Emits the operations of tapes, each in the loop of its level."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .emitter import Emitter, Handle
from .lower import Operation, Tape
from .number_places import Known, value


def play(e: Emitter, t: Tape, known: Known, level: int, done: dict[int, Handle]) -> None:
    """Emit the operations of a tape up to a level that are not emitted yet."""
    for k, o in enumerate(t.operations):
        if o.level <= level and k not in done:
            done[k] = operation(e, o, known, done)


def operation(e: Emitter, o: Operation, known: Known, done: Mapping[int, Handle]) -> Handle:
    """Emit one operation on values that are emitted."""
    match o.op:
        case "const":
            return e.real(o.args[0])
        case "input":
            return value(e, known[o.args[0]])
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


def needed(e: Emitter, t: Tape, known: Known, done: dict[int, Handle], wanted: Sequence[int]) -> None:
    """Emit some values of a tape and what they need, as far as they are not emitted yet."""
    below, waiting = set(), [k for k in wanted if k not in done]
    while waiting:
        k = waiting.pop()
        if k not in below:
            below.add(k)
            waiting += [a for a in t.operations[k].values if a not in done]
    for k in sorted(below):
        done[k] = operation(e, t.operations[k], known, done)
