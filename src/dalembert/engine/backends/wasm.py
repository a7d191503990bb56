"""The WebAssembly back end: the same loops as a module that a browser runs, without a linker.

LLVM writes an object file. Its type, import, function and code sections are a module already, since the indices in its code
are those of its own sections; all that is lacking is a section that exports the function. The module imports memory, a stack
pointer and the mathematical functions that WebAssembly does not have. Pointers have 32 bits, integers 64.

WebAssembly has no fused multiplication and addition, on which compensated sums rest. It is made of exact products here
(T. J. Dekker, Numer. Math. 18, 1971) and exact sums (D. E. Knuth): its error is some 2^-105 of the product, unless a product
overflows or underflows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

from ..emitter import Array, Emitter, Handle, Kind
from . import llvm
from .fork_lock import LOCK
from .straight_code import real
from .trigonometry import scalar_sine_and_cosine

TYPE, IMPORT, FUNCTION, EXPORT, CODE, DATA, DATA_COUNT = 1, 2, 3, 7, 10, 11, 12
HEADER = b"\0asm\1\0\0\0"

IMPORTED = frozenset({
    "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "exp", "log",
    "pow",
})  # fmt: skip
"""The functions that a page provides: those of its own mathematics."""

SPLIT = 134217729.0
"""2^27 + 1: the factor that splits a double into two halves."""


class WasmEmitter(llvm.LLVMEmitter):
    """One function of a module; large arrays are on its stack too."""

    own: ClassVar[dict[str, str]] = {}
    """A page has the functions, but for sine and cosine together."""

    stack = 0
    """Bytes of its local arrays."""

    def _fused(self) -> None:
        """There is none that would be worth it."""

    def call(self, function: str, *args: Handle) -> Handle:
        """Functions of a page, intrinsics, and the product and sum made here."""
        if function == "fma":
            return self._do(f"call double @fused({', '.join(f'double {a}' for a in args)})")
        return super().call(function, *args)

    def local(self, size: int, kind: Kind = "real") -> Array:
        """An array on the stack."""
        name = self._fresh()
        self.stack += 8 * max(size, 1) + 16
        self._allocas.append(f"  {name} = alloca [{max(size, 1)} x {llvm._TYPES[kind]}], align 16")
        return Array(name, kind)

    def table(self, values: Sequence[int]) -> Array:
        """Written where it is used: the module has no data of its own in the memory that a page gives it."""
        return Emitter.table(self, values)


emitter = WasmEmitter


def processor() -> str:
    """What compiled code depends on besides its source."""
    with LOCK:
        import llvmlite
        import symengine

        return f"llvmlite {llvmlite.__version__} symengine {symengine.__version__} wasm32"


def _fused() -> str:
    """a b + c with one rounding, but for some 2^-105 of a b."""
    split = real(SPLIT)
    halves = "\n".join(
        f"""  %{x}s = fmul double %{x}, {split}
  %{x}t = fsub double %{x}s, %{x}
  %{x}h = fsub double %{x}s, %{x}t
  %{x}l = fsub double %{x}, %{x}h"""
        for x in "ab"
    )
    return f"""
define internal double @fused(double %a, double %b, double %c) nounwind willreturn memory(none) {{
  %p = fmul double %a, %b
{halves}
  %hh = fmul double %ah, %bh
  %e1 = fsub double %hh, %p
  %hl = fmul double %ah, %bl
  %e2 = fadd double %e1, %hl
  %lh = fmul double %al, %bh
  %e3 = fadd double %e2, %lh
  %ll = fmul double %al, %bl
  %e = fadd double %e3, %ll
  %s = fadd double %p, %c
  %d = fsub double %s, %p
  %r = fsub double %s, %d
  %u = fsub double %p, %r
  %v = fsub double %c, %d
  %w = fadd double %u, %v
  %x = fadd double %w, %e
  %f = fadd double %s, %x
  %ok = fcmp ord double %f, {real(0.0)}
  %y = select i1 %ok, double %f, double %s
  ret double %y
}}
"""


def compile_module(text: str, most: int) -> bytes:
    """LLVM IR -> a module that exports its first function, optimised unless the text has more than `most` lines."""
    long = text.count("\n") > most
    if "@sine.and.cosine(" in text:
        text += scalar_sine_and_cosine()
    if "@fused(" in text:
        text += _fused()
    return _module(_object(text, long))


def _object(text: str, long: bool) -> bytes:
    with LOCK:
        from llvmlite import binding

        binding.initialize_all_targets()
        binding.initialize_all_asmprinters()
        triple = "wasm32-unknown-unknown"
        machine = binding.Target.from_triple(triple).create_target_machine(opt=0 if long else 3, reloc="static")
        module = binding.parse_assembly(text)
        module.triple, module.data_layout = triple, str(machine.target_data)
        return llvm.emitted(module, machine, long)


# the object file as a module
def _number(data: bytes, at: int) -> tuple[int, int]:
    """An unsigned LEB128 number, and where it ends."""
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def _encoded(value: int) -> bytes:
    found = bytearray()
    while value > 127:
        found.append(value & 127 | 128)
        value >>= 7
    return bytes([*found, value])


def _text(name: str) -> bytes:
    return _encoded(len(name)) + name.encode()


def sections(code: bytes) -> Iterator[tuple[int, bytes]]:
    """The sections of a module or an object file: number and content."""
    at = len(HEADER)
    while at < len(code):
        kind = code[at]
        size, at = _number(code, at + 1)
        yield kind, code[at : at + size]
        at += size


def imports(code: bytes) -> list[tuple[str, str, int]]:
    """What a module imports: (module, name, kind), kind 0 being functions."""
    content = dict(sections(code)).get(IMPORT, b"\0")
    count, at = _number(content, 0)
    found = []
    for _ in range(count):
        names = []
        for _ in range(2):
            size, at = _number(content, at)
            names.append(content[at : at + size].decode())
            at += size
        kind, at = content[at], at + 1
        if kind == 0:  # a function: its type
            _, at = _number(content, at)
        elif kind == 3:  # a global variable: type, whether it changes
            at += 2
        else:  # memory, or a table with the type of its entries: limits
            at += kind == 1
            bounded, at = content[at], at + 1
            for _ in range(1 + (bounded & 1)):
                _, at = _number(content, at)
        found.append((names[0], names[1], kind))
    return found


def _module(code: bytes) -> bytes:
    """The sections that a module needs, and one that exports the first function as `call`."""
    first = sum(kind == 0 for *_, kind in imports(code))
    export = b"\1" + _text("call") + b"\0" + _encoded(first)
    kept = {k: content for k, content in sections(code) if k in (TYPE, IMPORT, FUNCTION, CODE, DATA, DATA_COUNT)}
    kept[EXPORT] = export
    order = (TYPE, IMPORT, FUNCTION, EXPORT, DATA_COUNT, CODE, DATA)
    return HEADER + b"".join(bytes([k]) + _encoded(len(kept[k])) + kept[k] for k in order if k in kept)


def unavailable(code: bytes) -> list[str]:
    """The functions that a module imports and that a page does not have."""
    return sorted(name for _, name, kind in imports(code) if kind == 0 and name not in IMPORTED)


def is_object(code: bytes) -> bool:
    """Whether bytes are a complete module."""
    try:
        return code.startswith(HEADER) and {k for k, _ in sections(code)} >= {TYPE, FUNCTION, EXPORT, CODE}
    except IndexError:
        return False
