"""The interface in which the loops are written once, and what a machine must know beside it; a back end prints LLVM IR, say.

Values are handles (text in the target language): reals, integers and conditions. Variables are stored in arrays; a `cell`
is an array of one. A Python integer may stand wherever an index is expected.

Code is written for one lane. How the others are reached is up to the back end (`lanes`): one after the other, in threads, or
several in one vector. So nothing here has a value at compile time that may differ from lane to lane, and what is done in some
lanes only is inside `when`, or after `leave_if`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

Handle = str
Index = int | Handle
Kind = Literal["real", "integer"]


class Array(NamedTuple):
    """Memory that holds reals or integers."""

    pointer: Handle
    kind: Kind


class Emitter(ABC):
    """Arithmetic, loops, branches and local arrays; the back ends differ only in how they print these."""

    unroll = 4
    """Loops of at most this many iterations are unrolled, so that their arrays become registers."""

    coarseness = 1.0
    """Rounding errors of the numbers that equations are solved with, in those of doubles."""

    least = 0.0
    """Numbers whose squares are still represented are larger than this."""

    largest = float("inf")
    """Sizes of terms above this count as infinite."""

    # arithmetic
    @abstractmethod
    def real(self, value: float) -> Handle: ...
    @abstractmethod
    def arithmetic(self, op: Literal["add", "sub", "mul", "div"], a: Handle, b: Handle) -> Handle: ...
    @abstractmethod
    def negative(self, a: Handle) -> Handle: ...
    @abstractmethod
    def call(self, function: str, *args: Handle) -> Handle:
        """A function by its name in the C library, `sin` or `fma`; how it is computed is up to the back end."""

    @abstractmethod
    def compare(self, relation: Literal["lt", "le", "eq", "ne"], a: Handle, b: Handle) -> Handle: ...
    @abstractmethod
    def select(self, condition: Handle, a: Handle, b: Handle) -> Handle: ...
    @abstractmethod
    def both(self, a: Handle, b: Handle) -> Handle: ...
    @abstractmethod
    def either(self, a: Handle, b: Handle) -> Handle: ...
    @abstractmethod
    def opposite(self, a: Handle) -> Handle: ...
    @abstractmethod
    def truth(self, value: bool) -> Handle: ...

    # integers
    @abstractmethod
    def integer_arithmetic(self, op: Literal["add", "sub", "mul", "rem"], a: Index, b: Index) -> Handle: ...
    @abstractmethod
    def integer_compare(self, relation: Literal["lt", "le", "eq", "ne"], a: Index, b: Index) -> Handle: ...
    @abstractmethod
    def as_real(self, a: Index) -> Handle: ...

    # memory
    @abstractmethod
    def argument(self, name: str) -> Handle: ...
    @abstractmethod
    def array_argument(self, name: str) -> Array: ...
    @abstractmethod
    def local(self, size: int, kind: Kind = "real") -> Array: ...
    @abstractmethod
    def load(self, array: Array, at: Index = 0) -> Handle: ...
    @abstractmethod
    def store(self, array: Array, value: Index, at: Index = 0) -> None: ...

    # control
    @abstractmethod
    def lanes(self, first: Index, last: Index) -> AbstractContextManager[Handle]:
        """Around the code of a lane, to be executed for lanes first..last-1; gives the number of the lane."""

    @abstractmethod
    def when(self, condition: Handle) -> AbstractContextManager[None]: ...
    @abstractmethod
    def forever(self) -> AbstractContextManager[None]: ...
    @abstractmethod
    def leave_if(self, condition: Handle) -> None: ...
    @abstractmethod
    def loop(self, begin: Index, end: Index) -> AbstractContextManager[Handle]: ...

    @abstractmethod
    def module(self) -> str:
        """Everything emitted, as text."""

    def precise(self) -> AbstractContextManager[None]:
        """Within it, states and sums are computed; elsewhere a back end may compute with fewer digits."""
        return nullcontext()

    def timed(self) -> AbstractContextManager[None]:
        """Within it, times are computed, always as doubles."""
        return nullcontext()

    def here(self, a: Handle) -> Handle:
        """A real with the digits of what is computed here."""
        return a

    # built from these
    def counter(self) -> Array:
        """A cell for a whole number that is the same in all lanes that are here; it is changed where all of them are."""
        return self.local(1, "integer")

    def totals(self, size: int) -> Array:
        """Integers that grow over a whole run, where other integers are small."""
        return self.local(size, "integer")

    def rough_reciprocal(self, a: Handle) -> Handle:
        """1/a, of which a few digits matter."""
        return self.reciprocal(a)

    def reciprocal(self, a: Handle) -> Handle:
        """1/a, where a is neither infinite nor so small that 1/a is; else anything that is not finite."""
        return self.arithmetic("div", self.real(1.0), a)

    def rough_quotient(self, a: Handle, b: Handle) -> Handle:
        """a/b, of which a few digits matter."""
        return self.arithmetic("div", a, b)

    def scratch(self, size: int) -> Array:
        """An array of reals that a lane loads only where it has stored: in other lanes anything may be stored."""
        return self.local(size)

    def each(self, begin: Index, end: Index, size: int) -> Iterator[Index]:
        """The indices begin..end-1 of a loop over an array of `size`: unrolled if small, a loop otherwise."""
        if size <= self.unroll and isinstance(begin, int) and isinstance(end, int):
            yield from range(begin, end)
        else:
            with self.loop(begin, end) as i:
                yield i

    def at(self, row: Index, columns: int, column: Index) -> Index:
        """The index of (row, column) in a matrix stored by rows."""
        if isinstance(row, int) and isinstance(column, int):
            return row * columns + column
        return self.integer_arithmetic("add", self.integer_arithmetic("mul", row, columns), column)

    def after(self, index: Index) -> Index:
        """The next index."""
        return index + 1 if isinstance(index, int) else self.integer_arithmetic("add", index, 1)

    def table(self, values: Sequence[int]) -> Array:
        """Integers that do not change, the same in all lanes."""
        array = self.local(len(values), "integer")
        for k, value in enumerate(values):
            self.store(array, value, k)
        return array

    def sum(self, values: Sequence[Handle]) -> Handle:
        """The sum of some reals."""
        total = values[0] if values else self.real(0.0)
        for v in values[1:]:
            total = self.arithmetic("add", total, v)
        return total

    def larger(self, a: Handle, b: Handle) -> Handle:
        """The larger of two reals; `a` if they cannot be compared."""
        return self.select(self.compare("lt", a, b), b, a)


class Memory:
    """An array passed to compiled code: its required type and shape, whether it is written, and where it begins."""

    __slots__ = ("address", "array", "kind", "role", "shape", "written")

    def __init__(
        self, role: str, array: NDArray[Any], kind: np.dtype[Any], shape: tuple[int, ...], written: bool = True
    ) -> None:
        self.role, self.array, self.kind, self.shape, self.written = role, array, kind, shape, written
        self.address: int = array.ctypes.data if hasattr(array, "ctypes") else 0  # looked up once: it takes long


class Function(Protocol):
    """A compiled function; its arguments are arrays, the first and the last lane, and numbers."""

    def __call__(self, memories: Sequence[Memory], lanes: int, work: int, numbers: Sequence[float]) -> None:
        """Execute for all lanes; `work` is the number of steps of all of them."""


class Compiler(Protocol):
    """A module that makes code for one kind of machine: emitter -> text -> code."""

    def processor(self) -> str:
        """What code depends on besides its source: the machine, and the software that compiles."""

    def emitter(self, name: str, arguments: dict[str, str]) -> Emitter:
        """An empty function; its arguments are `real`, `integer` or arrays of them."""

    def compile_module(self, text: str, most: int) -> bytes:
        """Text -> code, optimised unless the text has more than `most` lines."""

    def is_object(self, code: bytes) -> bool:
        """Whether code that was kept is complete."""


class Backend(Compiler, Protocol):
    """A compiler whose code can be executed from here."""

    own_memory: bool
    """Whether records are copied: then a call gets only the rows that it writes."""

    patience: float
    """Seconds that a call of a long run should take: far longer than what comes before and after it."""

    def load(self, code: bytes, name: str, arguments: dict[str, str]) -> Function:
        """The function that code has under a name."""

    def kept(self, *arrays: NDArray[Any]) -> AbstractContextManager[None]:
        """Keep arrays where the functions are executed, from call to call; afterwards they are here again."""
