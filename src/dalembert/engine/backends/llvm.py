"""The LLVM back end: prints LLVM IR, compiles it for this processor, loads it."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from functools import cache
from typing import Any, ClassVar, Literal

from ..emitter import Array, Emitter, Handle, Index, Kind, Memory
from . import own_functions
from .fork_lock import LOCK
from .fused_products import FusedProducts
from .straight_code import real
from .threads import in_threads

_TYPES = {"real": "double", "integer": "i64"}
INTRINSICS = {"exp", "log", "pow", "sqrt", "fabs", "fma", "floor", "ceil"}
ON_STACK = 2048
"""Largest local array, in numbers, that goes on the stack (a few megabytes); a larger one goes on the heap."""

PREDICATES = {"lt": "olt", "le": "ole", "eq": "oeq", "ne": "une"}
INTEGER_PREDICATES = {"lt": "slt", "le": "sle", "eq": "eq", "ne": "ne"}


class LLVMEmitter(Emitter):
    """One function of an LLVM module; arguments are named `real`, `integer` or arrays of them."""

    own: ClassVar[dict[str, str]] = own_functions.OWN
    """Functions that are defined in the module when it is compiled, by the names in the C library."""

    def __init__(self, name: str, arguments: dict[str, str]):
        self._name = name
        self._arguments = arguments
        self._lines: list[str] = []
        self._allocas: list[str] = []
        self._freed: list[str] = []
        self._declared: set[str] = set()
        self._counter = 0
        self._exits: list[str] = []
        self._products = FusedProducts()
        self._angles: dict[Handle, Handle] = {}

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
        self._products.next_block()
        self._angles = {}
        self._lines.append(f"{label}:")

    def real(self, value: float) -> Handle:
        return real(value)

    def arithmetic(self, op: Literal["add", "sub", "mul", "div"], a: Handle, b: Handle) -> Handle:
        value = self._do(f"f{op} double {a}, {b}")
        self._products.note(len(self._lines) - 1, value, op, a, b)
        return value

    def negative(self, a: Handle) -> Handle:
        return self._do(f"fneg double {a}")

    def call(self, function: str, *args: Handle) -> Handle:
        if function in ("sin", "cos"):
            return self._sine_or_cosine(function, args[0])
        own = self.own.get(function)
        target = own or (f"llvm.{function}.f64" if function in INTRINSICS else function)
        types = ", ".join("double" for _ in args)
        pure = "" if function in INTRINSICS else " #0"
        if not own:
            self._declared.add(f"declare double @{target}({types}){pure}")
        return self._do(f"call double @{target}({', '.join(f'double {a}' for a in args)})")

    def _sine_or_cosine(self, function: str, angle: Handle) -> Handle:
        """Both are computed at once, as they occur together nearly always."""
        if angle not in self._angles:
            self._angles[angle] = self._do(f"call {{ double, double }} @sine.and.cosine(double {angle})")
        return self._do(f"extractvalue {{ double, double }} {self._angles[angle]}, {int(function == 'cos')}")

    def compare(self, relation: Literal["lt", "le", "eq", "ne"], a: Handle, b: Handle) -> Handle:
        return self._do(f"fcmp {PREDICATES[relation]} double {a}, {b}")

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
        return self._do(f"icmp {INTEGER_PREDICATES[relation]} i64 {a}, {b}")

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

    def table(self, values: Sequence[int]) -> Array:
        name, listed = f"@{self._label('table')}", ", ".join(f"i64 {v}" for v in values or [0])
        self._declared.add(f"{name} = private unnamed_addr constant [{max(len(values), 1)} x i64] [{listed}]")
        return Array(name, "integer")

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

    def _fused(self) -> tuple[str, str] | None:
        """The type of reals, and the function of them that is a product and a sum in one rounding, if there is one."""
        return ("double", "llvm.fma.f64") if fuses() else None

    def _body(self) -> list[str]:
        """The lines, with products taken into sums."""
        if (fused := self._fused()) is None:
            return self._lines
        kind, function = fused
        self._declared.add(f"declare {kind} @{function}({kind}, {kind}, {kind})")
        return self._products.applied(self._lines, kind, function)

    def module(self) -> str:
        types = {"real": "double", "integer": "i64", "real[]": "ptr noalias", "integer[]": "ptr noalias"}
        signature = ", ".join(f"{types[kind]} %{name}" for name, kind in self._arguments.items())
        body = self._body()
        lines = [
            *sorted(self._declared),
            "attributes #0 = { nounwind willreturn memory(none) }",
            f"define void @{self._name}({signature}) {{",
            "entry:",
            *self._allocas,
            "  br label %start",
            "start:",
            *body,
            *self._freed,
            "  ret void",
            "}",
        ]
        return "\n".join(lines) + "\n"


emitter = LLVMEmitter

own_memory, patience = False, 0.1


_FEW = ("sroa", "simplify_cfg")

_PASSES = (
    *_FEW, "instruction_combine", "loop_simplify", "loop_rotate", "loop_unroll", "sroa", "new_gvn", "jump_threading",
    "instruction_combine", "simplify_cfg", "aggressive_dce",
)  # fmt: skip
"""The passes that speed up our code: it runs as fast as with all of LLVM's second level, and compiles in little more
than half the time. Vectorisation gains nothing here, except in the time loops of large states, which go through tables or
have loops of many turns: they have all passes if they are short. An explicit step of a Toda lattice takes a third of the time
then, one of a lattice of Fermi, Pasta, Ulam and Tsingou half of it, with the same bits."""

LOOP, TABLE, SHORT = "run", "@table", 2000
"""The name of time loops, how those of tables begin, and how many lines are few: all passes take some 0.1 s over them."""

TURNS, MANY = re.compile(r"icmp slt i64 %\w+, (\d+)"), 32
"""How a loop ends after a fixed number of turns, and from which number on these are many."""

_C_TYPES: dict[str, Any] = {
    "real": ctypes.c_double,
    "integer": ctypes.c_int64,
    "real[]": ctypes.c_void_p,
    "integer[]": ctypes.c_void_p,
}


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
def fuses() -> bool:
    """Whether this processor has an instruction for a product and a sum in one rounding."""
    with LOCK:
        import llvmlite.binding as llvm

        triple = llvm.get_process_triple()
        return bool(llvm.get_host_cpu_features().get("fma")) or triple.startswith(("aarch64", "arm64"))


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
    lines = text.count("\n")
    large = lines <= SHORT and f"define void @{LOOP}(" in text and (TABLE in text or _has_long_loops(text))
    long = lines > most
    return optimised(text + own_functions.used_in(text, 1, long), long, large)


def _has_long_loops(text: str) -> bool:
    return any(int(turns) >= MANY for turns in TURNS.findall(text))


def optimised(text: str, long: bool, large: bool = False) -> bytes:
    """LLVM IR with all its functions -> object code, with little optimisation if it is long, with all if a state is large."""
    with LOCK:
        import llvmlite.binding as llvm

        return emitted(llvm.parse_assembly(text), _target(0 if long else 3), long, large)


def emitted(module: Any, machine: Any, long: bool, large: bool = False) -> bytes:
    """The object code of a parsed module for a machine, after its passes; the caller holds the lock."""
    import llvmlite.binding as llvm

    module.verify()
    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options())
    inliner, passes = llvm.create_new_module_pass_manager(), llvm.create_new_function_pass_manager()
    inliner.add_always_inliner_pass()
    inliner.run(module, builder)
    if large:
        options = llvm.create_pipeline_tuning_options(speed_level=3)
        options.loop_vectorization = options.slp_vectorization = True
        everything = llvm.create_pass_builder(machine, options)
        everything.getModulePassManager().run(module, everything)
    for name in () if large else _FEW if long else _PASSES:
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


class Compiled:
    """A function in machine code; it is called with the addresses of arrays, from as many threads as there are cores."""

    def __init__(self, code: bytes, name: str, arguments: dict[str, str], together: int = 1):
        self.together = together  # lanes that are computed at once: a thread gets whole groups of them
        with LOCK:
            import llvmlite.binding as llvm

            engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _target())
            engine.add_object_file(llvm.ObjectFileRef.from_data(code))
            engine.finalize_object()
            address = engine.get_function_address(name)
        if not address:
            raise RuntimeError(f"the object code has no function {name}.")
        self._engine = engine  # owns the code
        self._function = ctypes.CFUNCTYPE(None, *(_C_TYPES[kind] for kind in arguments.values()))(address)

    def __call__(self, memories: Sequence[Memory], lanes: int, work: int, numbers: Sequence[float]) -> None:
        """Execute for all lanes, on all cores if there is enough work."""
        at = [m.address for m in memories]
        in_threads(lambda first, last: self._function(*at, first, last, *numbers), lanes, self.together, work)


load = Compiled
"""The function that code has under a name."""


def kept(*arrays: Any) -> AbstractContextManager[None]:
    """Arrays stay where they are."""
    return nullcontext()
