"""The SIMD back end: LLVM IR in which several lanes are computed at once, an element of each vector for each.

The lanes in which code has an effect are the mask. `when` and `leave_if` narrow it, and what is stored elsewhere stays as it
was; code whose mask is empty is skipped by a branch.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from ..emitter import Array, Handle, Index, Kind
from . import llvm, own_functions
from .fork_lock import LOCK
from .simd_values import TYPES, Loop, VectorEmitter
from .straight_code import typed

LINES = 2
"""Lines for each line that the scalar back end prints, about: masks have lines of their own."""

CHOSEN = 8
"""In an array of at most so many vectors, an index that differs from lane to lane is compared with every place."""


IN_FLIGHT = 2
"""Registers of a vector: the processor works on one while the other waits for its result. Measured on AVX-512, Newton's
method is 1.1 to 1.3 times as fast as with one register, and an explicit step without sine and cosine more than twice."""


FEW = 6
"""Lanes from which on vectors are faster: their code takes two to three times as long as that of one lane."""


@cache
def width() -> int:
    """Lanes that are computed at once on this processor."""
    with LOCK:
        from llvmlite import binding

        has = binding.get_host_cpu_features()
    return IN_FLIGHT * (8 if has.get("avx512f") else 4 if has.get("avx2") else 2)


class SimdEmitter(VectorEmitter):
    """One function on vectors of as many lanes as suit this processor, or of a given number."""

    def __init__(self, name: str, arguments: dict[str, str], lanes_together: int = 0):
        super().__init__(name, arguments, lanes_together or width())
        self._sizes: dict[Handle, int] = {}
        self._scratch: set[Handle] = set()
        self._counters: dict[Handle, int] = {}
        self._narrowed = 0  # conditions around, of lanes that may differ in them

    # memory
    def counter(self) -> Array:
        name = self._fresh()
        self._allocas.append(f"  {name} = alloca i64")
        self._counters[name] = self._narrowed
        return Array(name, "integer")

    def scratch(self, size: int) -> Array:
        array = self.local(size)
        self._scratch.add(array.pointer)
        return array

    def local(self, size: int, kind: Kind = "real") -> Array:
        name = self._fresh()
        self._sizes[name] = max(size, 1)
        if size * self.width > llvm.ON_STACK:
            self._declared |= {"declare noalias ptr @malloc(i64)", "declare void @free(ptr)"}
            self._allocas.append(f"  {name} = call noalias ptr @malloc(i64 {8 * self.width * size})")
            self._freed.append(f"  call void @free(ptr {name})")
        else:
            self._allocas.append(f"  {name} = alloca [{max(size, 1)} x {self._type(kind)}], align {8 * self.width}")
        return Array(name, kind)

    def _place_of(self, array: Array, at: Index) -> str:
        """The address of a vector of a local array."""
        return self._do(f"getelementptr inbounds {self._type(array.kind)}, ptr {array.pointer}, i64 {at}")

    def load(self, array: Array, at: Index = 0) -> Handle:
        if array.pointer in self._counters:
            return self._scalar(f"load i64, ptr {array.pointer}")
        size = self._sizes.get(array.pointer)
        if array.pointer.startswith("@table") and self._is_uniform(at):
            return self._scalar(f"load i64, ptr {self._do(f'getelementptr i64, ptr {array.pointer}, i64 {at}')}")
        if size is None or (size > CHOSEN and not self._is_uniform(at)):
            return self._gather(array, at)
        kind = self._type(array.kind)
        if self._is_uniform(at):
            return self._vector(array.kind, f"load {kind}, ptr {self._place_of(array, at)}, align 8")
        found = self.load(array, size - 1)
        for i in range(size - 1):
            here = self._condition(self.integer_compare("eq", at, i))
            found = self._vector(array.kind, f"select {here}, {kind} {self.load(array, i)}, {kind} {found}")
        return found

    def store(self, array: Array, value: Index, at: Index = 0) -> None:
        if array.pointer in self._counters:
            self._count(array, value)
            return
        size = self._sizes.get(array.pointer)
        if size is None or (size > CHOSEN and not self._is_uniform(at)):
            self._scatter(array, value, at)
            return
        new, mask = self._operand(array.kind, value), self._mask
        if self._is_uniform(at):
            self._store_where(array, new, at, mask)
            return
        for i in range(size):
            self._store_where(array, new, i, self.both(mask, self.integer_compare("eq", at, i)))

    def _count(self, array: Array, value: Index) -> None:
        if self._counters[array.pointer] != self._narrowed or not self._is_uniform(value):
            raise RuntimeError(f"{array.pointer} is the same in all lanes, and is given {value} in some of them.")
        self._lines.append(f"  store i64 {value}, ptr {array.pointer}")

    def _store_where(self, array: Array, new: Handle, at: Index, mask: Handle) -> None:
        kind, address = self._type(array.kind), self._place_of(array, at)
        if array.pointer in self._scratch:
            self._lines.append(f"  store {kind} {new}, ptr {address}, align 8")
            return
        before = self._do(f"load {kind}, ptr {address}, align 8")
        after = self._do(f"select {self._type('condition')} {mask}, {kind} {new}, {kind} {before}")
        self._lines.append(f"  store {kind} {after}, ptr {address}, align 8")

    def _addresses(self, array: Array, at: Index) -> Handle:
        """The addresses of numbers, one for each lane."""
        index, whole = self._operand("integer", at), self._type("integer")
        if array.pointer in self._sizes:  # the number of a lane is at its place in the vector
            mine = f"<{', '.join(f'i64 {i}' for i in range(self.width))}>"
            index = self._do(f"mul {whole} {index}, {self._constant('integer', str(self.width))}")
            index = self._do(f"add {whole} {index}, {mine}")
        return self._do(f"getelementptr {TYPES[array.kind]}, ptr {array.pointer}, {whole} {index}")

    def _memory(self, what: str, array: Array) -> tuple[str, str, str]:
        """The name of an intrinsic, the type of its values and of its addresses."""
        letter = "f64" if array.kind == "real" else "i64"
        return (
            f"llvm.masked.{what}.v{self.width}{letter}.v{self.width}p0",
            self._type(array.kind),
            typed("ptr", self.width),
        )

    def _gather(self, array: Array, at: Index) -> Handle:
        where, mask = self._addresses(array, at), self._type("condition")
        name, kind, pointers = self._memory("gather", array)
        self._declared.add(f"declare {kind} @{name}({pointers}, i32, {mask}, {kind})")
        given = f"{pointers} {where}, i32 8, {mask} {self._mask}, {kind} zeroinitializer"
        return self._vector(array.kind, f"call {kind} @{name}({given})")

    def _scatter(self, array: Array, value: Index, at: Index) -> None:
        new, where, mask = self._operand(array.kind, value), self._addresses(array, at), self._type("condition")
        name, kind, pointers = self._memory("scatter", array)
        self._declared.add(f"declare void @{name}({kind}, {pointers}, i32, {mask})")
        self._lines.append(f"  call void @{name}({kind} {new}, {pointers} {where}, i32 8, {mask} {self._mask})")

    # control
    def _some(self, mask: Handle) -> Handle:
        """Whether there is a lane in a mask."""
        bits = self._do(f"bitcast {self._type('condition')} {mask} to i{self.width}")
        return self._do(f"icmp ne i{self.width} {bits}, 0")

    def _branch(self, condition: Handle, yes: str, no: str) -> None:
        self._lines.append(f"  br i1 {condition}, label %{yes}, label %{no}")

    def _and(self, a: Handle, b: Handle) -> Handle:
        return self._do(f"and {self._type('condition')} {a}, {b}")

    def _not(self, a: Handle) -> Handle:
        return self._do(f"xor {self._type('condition')} {a}, {self._constant('condition', 'true')}")

    @contextmanager
    def _counted(self, begin: Index, end: Index, step: int, exit: str) -> Iterator[Handle]:
        """The body of a loop with a counter that is the same in all lanes; the loop ends at the label `exit`."""
        counter, head, body = self._fresh(), self._label("count"), self._label("body")
        self._allocas.append(f"  {counter} = alloca i64")
        self._lines.append(f"  store i64 {begin}, ptr {counter}")
        self._lines.append(f"  br label %{head}")
        self._place(head)
        i = self._scalar(f"load i64, ptr {counter}")
        self._branch(self._do(f"icmp slt i64 {i}, {end}"), body, exit)
        self._place(body)
        yield i
        self._lines.append(f"  store i64 {self._do(f'add i64 {i}, {step}')}, ptr {counter}")
        self._lines.append(f"  br label %{head}")

    @contextmanager
    def lanes(self, first: Index, last: Index) -> Iterator[Handle]:
        """Groups of lanes; the last group repeats the last lane, outside the mask."""
        exit, whole, before = self._label("done"), self._type("integer"), self._mask
        with self._counted(first, last, self.width, exit) as begun:
            mine = f"<{', '.join(f'i64 {i}' for i in range(self.width))}>"
            lane = self._do(f"add {whole} {self._operand('integer', begun)}, {mine}")
            end = self._operand("integer", last)
            self._mask = self._do(f"icmp slt {whole} {lane}, {end}")
            final = self._do(f"sub {whole} {end}, {self._constant('integer', '1')}")
            yield self._do(f"select {self._type('condition')} {self._mask}, {whole} {lane}, {whole} {final}")
        self._place(exit)
        self._mask = before

    @contextmanager
    def _scope(self) -> Iterator[None]:
        self._pairs.append({})
        yield
        self._pairs.pop()

    @contextmanager
    def when(self, condition: Handle) -> Iterator[None]:
        inside, after, outer = self._label("then"), self._label("after"), self._mask
        left = self._loops[-1].left if self._loops else 0
        uniform = self._is_uniform(condition)
        if uniform:
            self._branch(condition, inside, after)
        else:
            self._mask = self._and(outer, self._operand("condition", condition))
            self._branch(self._some(self._mask), inside, after)
        self._place(inside)
        self._narrowed += not uniform
        with self._scope():
            yield
        self._narrowed -= not uniform
        self._lines.append(f"  br label %{after}")
        self._place(after)
        self._mask = outer
        if self._loops and self._loops[-1].left != left:  # lanes left the loop inside
            self._mask = self._and(outer, self._do(f"load {self._type('condition')}, ptr {self._loops[-1].active}"))

    @contextmanager
    def _repeated(self) -> Iterator[Loop]:
        """A loop that the lanes of the mask enter; its turns are up to the caller."""
        loop, outer, kind = Loop(self._fresh(), self._label("done")), self._mask, self._type("condition")
        self._allocas.append(f"  {loop.active} = alloca {kind}")
        self._lines.append(f"  store {kind} {outer}, ptr {loop.active}")
        self._loops.append(loop)
        with self._scope():
            yield loop
        self._loops.pop()
        self._place(loop.exit)
        self._mask = outer

    def _enter(self, loop: Loop) -> None:
        """The beginning of a turn."""
        self._mask = loop.mask = self._do(f"load {self._type('condition')}, ptr {loop.active}")

    @contextmanager
    def forever(self) -> Iterator[None]:
        head = self._label("repeat")
        with self._repeated() as loop:
            self._lines.append(f"  br label %{head}")
            self._place(head)
            self._enter(loop)
            yield
            self._lines.append(f"  br label %{head}")

    def leave_if(self, condition: Handle) -> None:
        """The lanes where the condition holds leave; the loop ends when there is none in it."""
        loop, kind, stay = self._loops[-1], self._type("condition"), self._label("stay")
        if self._is_uniform(condition) and self._mask == loop.mask:
            self._branch(condition, loop.exit, stay)
            self._place(stay)
            return
        given = self._operand("condition", condition)
        gone = self._and(self._mask, given)
        left = self._and(self._do(f"load {kind}, ptr {loop.active}"), self._not(gone))
        self._lines.append(f"  store {kind} {left}, ptr {loop.active}")
        narrow = self._mask != loop.mask
        self._mask = self._and(self._mask, self._not(given))
        loop.mask = loop.mask if narrow else self._mask
        loop.left += 1
        self._branch(self._some(left), stay, loop.exit)
        self._place(stay)

    @contextmanager
    def loop(self, begin: Index, end: Index) -> Iterator[Handle]:
        if not self._is_uniform(begin, end):
            with super().loop(begin, end) as i:
                yield i
            return
        with self._repeated() as loop, self._counted(begin, end, 1, loop.exit) as i:
            self._enter(loop)
            yield i


emitter = SimdEmitter
own_memory, patience = False, llvm.patience
is_object, kept = llvm.is_object, llvm.kept


@cache
def processor() -> str:
    """What compiled code depends on besides its source: that of the scalar back end, and the width of vectors."""
    return f"{llvm.processor()} lanes {width()}"


def compile_module(text: str, most: int) -> bytes:
    """LLVM IR -> object code, optimised unless the text has more than `most` lines of vectors."""
    return with_functions(text, most, width())


def with_functions(text: str, most: int, lanes_together: int) -> bytes:
    """The same for a given width: the functions of vectors that the text needs are added."""
    long = text.count("\n") > LINES * most
    return llvm.optimised(text + own_functions.used_in(text, lanes_together, long), long)


def load(code: bytes, name: str, arguments: dict[str, str]) -> llvm.Compiled:
    """The function that code has under a name."""
    return llvm.Compiled(code, name, arguments, width())
