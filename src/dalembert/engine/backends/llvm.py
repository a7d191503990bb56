"""The LLVM back end: prints LLVM IR, compiles it for this processor, loads it."""

from __future__ import annotations

import ctypes
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import cache
from typing import Any, Literal

from ..emitter import Array, Emitter, Handle, Index, Kind
from .trigonometry import from_library, real, sine_and_cosine

_TYPES = {"real": "double", "integer": "i64"}
_INTRINSICS = {"exp", "log", "pow", "sqrt", "fabs", "fma", "floor", "ceil"}
_OWN = {"sin": "sine", "cos": "cosine"}
"""Functions that this library defines in the module when it is compiled."""
ON_STACK = 2048
"""Largest local array, in numbers, that goes on the stack (a few megabytes); a larger one goes on the heap."""

_PREDICATES = {"lt": "olt", "le": "ole", "eq": "oeq", "ne": "une"}
_INTEGER_PREDICATES = {"lt": "slt", "le": "sle", "eq": "eq", "ne": "ne"}


class LLVMEmitter(Emitter):
    """One function of an LLVM module; arguments are named `real`, `integer` or arrays of them."""

    def __init__(self, name: str, arguments: dict[str, str]):
        self._name = name
        self._arguments = arguments
        self._lines: list[str] = []
        self._allocas: list[str] = []
        self._freed: list[str] = []
        self._declared: set[str] = set()
        self._counter = 0
        self._exits: list[str] = []

    def _fresh(self) -> str:
        self._counter += 1
        return f"%v{self._counter}"

    def _label(self, what: str) -> str:
        self._counter += 1
        return f"{what}{self._counter}"

    def _do(self, text: str) -> Handle:
        name = self._fresh()
        self._lines.append(f"  {name} = {text}")
        return name

    def _place(self, label: str) -> None:
        self._lines.append(f"{label}:")

    def real(self, value: float) -> Handle:
        return real(value)

    def arithmetic(self, op: Literal["add", "sub", "mul", "div"], a: Handle, b: Handle) -> Handle:
        return self._do(f"f{op} contract double {a}, {b}")

    def negative(self, a: Handle) -> Handle:
        return self._do(f"fneg double {a}")

    def call(self, function: str, *args: Handle) -> Handle:
        target = _OWN.get(function) or (f"llvm.{function}.f64" if function in _INTRINSICS else function)
        types = ", ".join("double" for _ in args)
        pure = "" if function in _INTRINSICS else " #0"
        if function not in _OWN:
            self._declared.add(f"declare double @{target}({types}){pure}")
        return self._do(f"call double @{target}({', '.join(f'double {a}' for a in args)})")

    def compare(self, relation: Literal["lt", "le", "eq", "ne"], a: Handle, b: Handle) -> Handle:
        return self._do(f"fcmp {_PREDICATES[relation]} double {a}, {b}")

    def select(self, condition: Handle, a: Handle, b: Handle) -> Handle:
        return self._do(f"select i1 {condition}, double {a}, double {b}")

    def both(self, a: Handle, b: Handle) -> Handle:
        return self._do(f"and i1 {a}, {b}")

    def either(self, a: Handle, b: Handle) -> Handle:
        return self._do(f"or i1 {a}, {b}")

    def opposite(self, a: Handle) -> Handle:
        return self._do(f"xor i1 {a}, true")

    def truth(self, value: bool) -> Handle:
        return "true" if value else "false"

    def integer_arithmetic(self, op: Literal["add", "sub", "mul", "rem"], a: Index, b: Index) -> Handle:
        return self._do(f"{'srem' if op == 'rem' else op} i64 {a}, {b}")

    def integer_compare(self, relation: Literal["lt", "le", "eq", "ne"], a: Index, b: Index) -> Handle:
        return self._do(f"icmp {_INTEGER_PREDICATES[relation]} i64 {a}, {b}")

    def as_real(self, a: Index) -> Handle:
        return self._do(f"sitofp i64 {a} to double")

    def argument(self, name: str) -> Handle:
        return f"%{name}"

    def array_argument(self, name: str) -> Array:
        kind: Kind = "real" if self._arguments[name] == "real[]" else "integer"
        return Array(f"%{name}", kind)

    def local(self, size: int, kind: Kind = "real") -> Array:
        name = self._fresh()
        if size > ON_STACK:
            self._declared |= {"declare noalias ptr @malloc(i64)", "declare void @free(ptr)"}
            self._allocas.append(f"  {name} = call noalias ptr @malloc(i64 {8 * size})")
            self._freed.append(f"  call void @free(ptr {name})")
        else:
            self._allocas.append(f"  {name} = alloca [{max(size, 1)} x {_TYPES[kind]}], align 16")
        return Array(name, kind)

    def _address(self, array: Array, at: Index) -> Handle:
        return self._do(f"getelementptr inbounds {_TYPES[array.kind]}, ptr {array.pointer}, i64 {at}")

    def load(self, array: Array, at: Index = 0) -> Handle:
        return self._do(f"load {_TYPES[array.kind]}, ptr {self._address(array, at)}, align 8")

    def store(self, array: Array, value: Index, at: Index = 0) -> None:
        address = self._address(array, at)
        what = int(value) if isinstance(value, int) else value
        self._lines.append(f"  store {_TYPES[array.kind]} {what}, ptr {address}, align 8")

    def lanes(self, first: Index, last: Index) -> AbstractContextManager[Handle]:
        return self.loop(first, last)

    @contextmanager
    def when(self, condition: Handle) -> Iterator[None]:
        inside, after = self._label("then"), self._label("after")
        self._lines.append(f"  br i1 {condition}, label %{inside}, label %{after}")
        self._place(inside)
        yield
        self._lines.append(f"  br label %{after}")
        self._place(after)

    @contextmanager
    def forever(self) -> Iterator[None]:
        head, exit = self._label("repeat"), self._label("done")
        self._exits.append(exit)
        self._lines.append(f"  br label %{head}")
        self._place(head)
        yield
        self._lines.append(f"  br label %{head}")
        self._place(exit)
        self._exits.pop()

    def leave_if(self, condition: Handle) -> None:
        stay = self._label("stay")
        self._lines.append(f"  br i1 {condition}, label %{self._exits[-1]}, label %{stay}")
        self._place(stay)

    @contextmanager
    def loop(self, begin: Index, end: Index) -> Iterator[Handle]:
        counter = self.local(1, "integer")
        self.store(counter, begin)
        with self.forever():
            i = self.load(counter)
            self.leave_if(self.opposite(self.integer_compare("lt", i, end)))
            yield i
            self.store(counter, self.integer_arithmetic("add", i, 1))

    def module(self) -> str:
        types = {"real": "double", "integer": "i64", "real[]": "ptr noalias", "integer[]": "ptr noalias"}
        signature = ", ".join(f"{types[kind]} %{name}" for name, kind in self._arguments.items())
        lines = [
            *sorted(self._declared),
            "attributes #0 = { nounwind willreturn memory(none) }",
            f"define void @{self._name}({signature}) {{",
            "entry:",
            *self._allocas,
            "  br label %start",
            "start:",
            *self._lines,
            *self._freed,
            "  ret void",
            "}",
        ]
        return "\n".join(lines) + "\n"


emitter = LLVMEmitter

_FEW = ("sroa", "simplify_cfg")

_PASSES = (
    *_FEW, "instruction_combine", "loop_simplify", "loop_rotate", "loop_unroll", "sroa", "new_gvn", "jump_threading",
    "instruction_combine", "simplify_cfg", "aggressive_dce",
)  # fmt: skip
"""The passes that speed up our code: it runs as fast as with all of LLVM's second level, and compiles in little more
than half the time. Vectorisation gains nothing here."""

_C_TYPES: dict[str, Any] = {
    "real": ctypes.c_double,
    "integer": ctypes.c_int64,
    "real[]": ctypes.c_void_p,
    "integer[]": ctypes.c_void_p,
}


LOCK = threading.RLock()
"""Held during every use of LLVM, and while this process forks."""


_held: list[Any] = []
"""The locks held while this process forks."""


def _hold() -> None:
    """Wait until no other thread is inside LLVM: the locks it holds there would never be released in a forked child."""
    library = getattr(sys.modules.get("llvmlite.binding.ffi"), "lib", None)
    own = getattr(library, "_lock", None)  # llvmlite's: objects are disposed of under this one only
    for lock in (LOCK, own):
        if lock is not None:
            lock.__enter__()
            _held.append(lock)


def _let_go() -> None:
    while _held:
        _held.pop().__exit__(None, None, None)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_hold, after_in_parent=_let_go, after_in_child=_let_go)


@cache
def _ready() -> None:
    """Initialise LLVM for this processor, once, and load the C library's mathematical functions."""
    import llvmlite.binding as llvm

    with suppress(RuntimeError):  # newer versions initialise themselves and raise if asked to
        llvm.initialize()
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    with suppress(Exception):
        llvm.load_library_permanently("libm.so.6")


def _target(opt: int = 3) -> Any:
    """The target machine: this processor. A new object each time, since an execution engine takes ownership of it."""
    import llvmlite.binding as llvm

    _ready()
    target = llvm.Target.from_default_triple()
    features = llvm.get_host_cpu_features().flatten()
    return target.create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=features, opt=opt, reloc="pic", codemodel="small", jit=True
    )


@cache
def processor() -> str:
    """What compiled code depends on besides its source: versions of llvmlite and SymEngine, and the processor."""
    with LOCK:
        import llvmlite
        import llvmlite.binding as llvm
        import symengine

        tools = f"llvmlite {llvmlite.__version__} symengine {symengine.__version__}"
        return f"{tools} {llvm.get_host_cpu_name()} {llvm.get_host_cpu_features().flatten()}"


def compile_module(text: str, most: int) -> bytes:
    """LLVM IR -> object code, optimised unless the text has more than `most` lines."""
    long = text.count("\n") > most
    if any(f"@{own}(" in text for own in _OWN.values()):
        text += from_library() if long else sine_and_cosine()
    with LOCK:
        import llvmlite.binding as llvm

        machine = _target(0 if long else 3)
        module = llvm.parse_assembly(text)
        module.verify()
        builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options())
        inliner, passes = llvm.create_new_module_pass_manager(), llvm.create_new_function_pass_manager()
        inliner.add_always_inliner_pass()
        inliner.run(module, builder)
        for name in _FEW if long else _PASSES:
            getattr(passes, f"add_{name}_pass")()
        for function in module.functions:
            if not function.is_declaration:
                passes.run(function, builder)
        code: bytes = machine.emit_object(module)
    return code


def is_object(code: bytes) -> bool:
    """Whether bytes are a complete object file, which LLVM's loader does not check. Only ELF (Linux) is parsed."""
    if not code.startswith(b"\x7fELF"):
        return code[:4] in (b"\xcf\xfa\xed\xfe", b"\xfe\xed\xfa\xcf")  # Mach-O (macOS), either byte order
    if len(code) < 64 or code[4] != 2:  # length of the header; 64-bit class
        return False
    order: Literal["little", "big"] = "little" if code[5] == 1 else "big"
    table = int.from_bytes(code[40:48], order)
    size, count = (int.from_bytes(code[at : at + 2], order) for at in (58, 60))
    return count > 0 and table + size * count <= len(code)  # the section table is the last part of the file


def load(code: bytes, name: str, arguments: dict[str, str]) -> Any:
    """Object code -> a callable; the engine is kept alive by the callable."""
    with LOCK:
        import llvmlite.binding as llvm

        engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _target())
        engine.add_object_file(llvm.ObjectFileRef.from_data(code))
        engine.finalize_object()
        address = engine.get_function_address(name)
    if not address:
        raise RuntimeError(f"the object code has no function {name}.")
    function = ctypes.CFUNCTYPE(None, *(_C_TYPES[kind] for kind in arguments.values()))(address)
    function.engine = engine  # type: ignore[attr-defined]
    return function
