"""Arithmetic of the SIMD back end: values are vectors, an element for each lane.

Every operation is done element by element, so a lane has the same bits whatever the lanes beside it are. Integers that are the
same in all lanes, such as the counter of a loop, are scalars.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from ..emitter import Handle, Index
from . import llvm
from .straight_code import repeated, typed

TYPES = {"real": "double", "integer": "i64", "condition": "i1"}
_NATIVE = {"sqrt", "fabs", "fma", "floor", "ceil"}
"""Functions that processors have for vectors."""


@dataclass
class Loop:
    """A loop: the address of the lanes still in it, the label after it, how often lanes have left, and the mask where all
    that are in it are."""

    active: str
    exit: str
    left: int = 0
    mask: Handle = ""


class _Origin(NamedTuple):
    """Where a value was computed: the loops around, the line, the mask there, and its type."""

    loops: tuple[str, ...]
    line: int
    mask: Handle
    kind: str


class VectorEmitter(llvm.LLVMEmitter):
    """One function on vectors of `width` lanes. Handles are vectors, but for integers and conditions in `_uniform`."""

    def __init__(self, name: str, arguments: dict[str, str], width: int):
        super().__init__(name, arguments)
        self.width = width
        whole = (f"%{n}" for n, kind in arguments.items() if kind == "integer")
        self._uniform: dict[Handle, tuple[str, ...]] = dict.fromkeys(("true", "false", *whole), ())
        self._real_arguments: dict[str, Handle] = {}
        self._mask: Handle = self._constant("condition", "true")
        self._loops: list[Loop] = []
        self._origins: dict[Handle, _Origin] = {}
        self._kept: dict[Handle, str] = {}
        self._pairs: list[dict[tuple[Handle, Handle], Handle]] = [{}]

    # vectors
    def _type(self, kind: str) -> str:
        return typed(TYPES[kind], self.width)

    def _constant(self, kind: str, value: str) -> Handle:
        return repeated(TYPES[kind], value, self.width)

    def _vector(self, kind: str, text: str) -> Handle:
        """A new value, which is a vector."""
        name = self._do(text)
        self._origins[name] = _Origin(self._inside(), len(self._lines) - 1, self._mask, kind)
        return name

    def _scalar(self, text: str) -> Handle:
        """A new value, which is the same in all lanes of a loop."""
        name = self._do(text)
        self._uniform[name] = self._inside()
        return name

    def _inside(self) -> tuple[str, ...]:
        """The loops around the code that is being emitted."""
        return tuple(loop.active for loop in self._loops)

    def _is_uniform(self, *values: Index) -> bool:
        for v in values:
            loops = () if isinstance(v, int) else self._uniform.get(v)
            if loops is None:
                return False
            if self._inside()[: len(loops)] != loops:
                raise RuntimeError(f"{v} was counted in a loop, and lanes may have left it at different turns.")
        return True

    def _operand(self, kind: str, value: Index) -> Handle:
        """A value as a vector."""
        if isinstance(value, int) or value in ("true", "false"):
            return self._constant(kind, str(int(value)) if isinstance(value, int) else value)
        if self._is_uniform(value):
            scalar = TYPES[kind]
            first = self._do(f"insertelement {self._type(kind)} undef, {scalar} {value}, i32 0")
            zeros = f"<{self.width} x i32> zeroinitializer"
            return self._do(f"shufflevector {self._type(kind)} {first}, {self._type(kind)} undef, {zeros}")
        return self._from_loop(value)

    def _from_loop(self, value: Handle) -> Handle:
        """A value that was computed in a loop is, after it, in each lane that of the last turn of this lane."""
        origin = self._origins.get(value)
        if origin is None or self._inside()[: len(origin.loops)] == origin.loops:
            return value
        kind = self._type(origin.kind)
        if value not in self._kept:
            self._kept[value] = slot = self._fresh()
            self._allocas.append(f"  {slot} = alloca {kind}")
            last = f"select {self._type('condition')} {origin.mask}, {kind} {value}, {kind} {slot}.before"
            self._lines[origin.line] += (
                f"\n  {slot}.before = load {kind}, ptr {slot}\n  {slot}.last = {last}\n  store {kind} {slot}.last, ptr {slot}"
            )
        return self._do(f"load {kind}, ptr {self._kept[value]}")

    # arithmetic
    def real(self, value: float) -> Handle:
        return self._constant("real", super().real(value))

    def arithmetic(self, op: Literal["add", "sub", "mul", "div"], a: Handle, b: Handle) -> Handle:
        x, y = (self._operand("real", v) for v in (a, b))
        value = self._vector("real", f"f{op} {self._type('real')} {x}, {y}")
        self._products.note(len(self._lines) - 1, value, op, x, y)
        return value

    def _fused(self) -> tuple[str, str] | None:
        return (self._type("real"), f"llvm.fma.v{self.width}f64") if llvm.fuses() else None

    def negative(self, a: Handle) -> Handle:
        return self._vector("real", f"fneg {self._type('real')} {self._operand('real', a)}")

    def call(self, function: str, *args: Handle) -> Handle:
        given = [self._operand("real", a) for a in args]
        if function in _NATIVE:
            return self._intrinsic(function, given)
        if function in ("sin", "cos"):
            return self._sine_or_cosine(function, given[0])
        kind = self._type("real")
        if function in self.own:
            return self._vector("real", f"call {kind} @{self.own[function]}({', '.join(f'{kind} {g}' for g in given)})")
        return self._one_by_one(function, [self._masked(g, 1.0) for g in given])

    def _masked(self, value: Handle, other: float) -> Handle:
        """A value in the lanes of the mask: what the others hold may be so large that a function takes long."""
        kind = self._type("real")
        return self._do(f"select {self._type('condition')} {self._mask}, {kind} {value}, {kind} {self.real(other)}")

    def _intrinsic(self, function: str, given: list[Handle]) -> Handle:
        kind, name = self._type("real"), f"llvm.{function}.v{self.width}f64"
        self._declared.add(f"declare {kind} @{name}({', '.join([kind] * len(given))})")
        return self._vector("real", f"call {kind} @{name}({', '.join(f'{kind} {g}' for g in given)})")

    def _sine_or_cosine(self, function: str, angle: Handle) -> Handle:
        """Both are computed at once, as they occur together nearly always; known from an enclosing block if they are."""
        kind, key = self._type("real"), (angle, self._mask)
        pair = f"{{ {kind}, {kind} }}"
        known = next((a[key] for a in self._pairs if key in a), None)
        if known is None:
            known = self._do(f"call {pair} @sine.and.cosine({kind} {self._masked(angle, 0.0)})")
            self._pairs[-1][key] = known
        return self._vector("real", f"extractvalue {pair} {known}, {int(function == 'cos')}")

    def _one_by_one(self, function: str, given: list[Handle]) -> Handle:
        """A function of the C library, element by element."""
        kind, result = self._type("real"), "undef"
        scalar = f"llvm.{function}.f64" if function in llvm.INTRINSICS else function
        pure = "" if function in llvm.INTRINSICS else " #0"
        self._declared.add(f"declare double @{scalar}({', '.join(['double'] * len(given))}){pure}")
        for i in range(self.width):
            parts = [self._do(f"extractelement {kind} {g}, i32 {i}") for g in given]
            value = self._do(f"call double @{scalar}({', '.join(f'double {p}' for p in parts)})")
            text = f"insertelement {kind} {result}, double {value}, i32 {i}"
            result = self._do(text) if i < self.width - 1 else self._vector("real", text)
        return result

    def compare(self, relation: Literal["lt", "le", "eq", "ne"], a: Handle, b: Handle) -> Handle:
        x, y = (self._operand("real", v) for v in (a, b))
        return self._vector("condition", f"fcmp {llvm.PREDICATES[relation]} {self._type('real')} {x}, {y}")

    def select(self, condition: Handle, a: Handle, b: Handle) -> Handle:
        kind = self._type("real")
        which = f"i1 {condition}" if self._is_uniform(condition) else self._condition(condition)
        x, y = (self._operand("real", v) for v in (a, b))
        return self._vector("real", f"select {which}, {kind} {x}, {kind} {y}")

    def _condition(self, condition: Handle) -> str:
        return f"{self._type('condition')} {self._operand('condition', condition)}"

    def _logic(self, op: str, a: Handle, b: Handle) -> Handle:
        if self._is_uniform(a, b):
            return self._scalar(f"{op} i1 {a}, {b}")
        x, y = (self._operand("condition", v) for v in (a, b))
        return self._vector("condition", f"{op} {self._type('condition')} {x}, {y}")

    def both(self, a: Handle, b: Handle) -> Handle:
        return self._logic("and", a, b)

    def either(self, a: Handle, b: Handle) -> Handle:
        return self._logic("or", a, b)

    def opposite(self, a: Handle) -> Handle:
        return self._logic("xor", a, "true")

    # integers
    def _integers(self, kind: str, text: str, a: Index, b: Index) -> Handle:
        if self._is_uniform(a, b):
            return self._scalar(f"{text} i64 {a}, {b}")
        x, y = (self._operand("integer", v) for v in (a, b))
        return self._vector(kind, f"{text} {self._type('integer')} {x}, {y}")

    def integer_arithmetic(self, op: Literal["add", "sub", "mul", "rem"], a: Index, b: Index) -> Handle:
        return self._integers("integer", "srem" if op == "rem" else op, a, b)

    def integer_compare(self, relation: Literal["lt", "le", "eq", "ne"], a: Index, b: Index) -> Handle:
        return self._integers("condition", f"icmp {llvm.INTEGER_PREDICATES[relation]}", a, b)

    def as_real(self, a: Index) -> Handle:
        whole = self._operand("integer", a)
        return self._vector("real", f"sitofp {self._type('integer')} {whole} to {self._type('real')}")

    def argument(self, name: str) -> Handle:
        if self._arguments[name] != "real":
            return f"%{name}"
        if name not in self._real_arguments:
            kind, first, all_of_it = self._type("real"), f"%{name}.first", f"%{name}.lanes"
            zeros = f"<{self.width} x i32> zeroinitializer"
            self._allocas += [
                f"  {first} = insertelement {kind} undef, double %{name}, i32 0",
                f"  {all_of_it} = shufflevector {kind} {first}, {kind} undef, {zeros}",
            ]
            self._real_arguments[name] = all_of_it
        return self._real_arguments[name]
