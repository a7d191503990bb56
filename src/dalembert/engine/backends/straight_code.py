"""Straight-line code on doubles, or on vectors of them, as LLVM IR: what the functions of this library are written in."""

from __future__ import annotations

import struct
from collections.abc import Sequence

INTEGER = 1.5 * 2.0**52
"""Adding this rounds to an integer, which is then in the last bits."""

INTEGER_BITS = int.from_bytes(struct.pack(">d", INTEGER), "big")


class Body:
    """Straight-line code on doubles, or on vectors of `width` doubles."""

    def __init__(self, name: str, width: int = 1) -> None:
        self.name, self.width, self.lines = name, width, list[str]()
        self.double, self.i64, self.i1 = (typed(kind, width) for kind in ("double", "i64", "i1"))
        self.suffix = "f64" if width == 1 else f"v{width}f64"

    def __str__(self) -> str:
        return "\n".join(self.lines)

    def do(self, text: str) -> str:
        value = f"%{self.name}{len(self.lines)}"
        self.lines.append(f"  {value} = {text}")
        return value

    def real(self, value: float) -> str:
        return repeated("double", real(value), self.width)

    def whole(self, value: int) -> str:
        return repeated("i64", str(value), self.width)

    def truth(self, value: bool) -> str:
        return repeated("i1", str(value).lower(), self.width)

    def add(self, a: str, b: str) -> str:
        return self.do(f"fadd {self.double} {a}, {b}")

    def sub(self, a: str, b: str) -> str:
        return self.do(f"fsub {self.double} {a}, {b}")

    def mul(self, a: str, b: str) -> str:
        return self.do(f"fmul {self.double} {a}, {b}")

    def muladd(self, a: str, b: str, c: str) -> str:
        """a b + c, in one rounding where the processor can."""
        return self.do(
            f"call {self.double} @llvm.fmuladd.{self.suffix}({', '.join(f'{self.double} {v}' for v in (a, b, c))})"
        )

    def fma(self, a: str, b: str, c: str) -> str:
        """a b + c in one rounding."""
        return self.call("fma", a, b, c)

    def div(self, a: str, b: str) -> str:
        return self.do(f"fdiv {self.double} {a}, {b}")

    def negative(self, a: str) -> str:
        return self.do(f"fneg {self.double} {a}")

    def call(self, function: str, *args: str) -> str:
        """A function that LLVM knows."""
        return self.do(
            f"call {self.double} @llvm.{function}.{self.suffix}({', '.join(f'{self.double} {a}' for a in args)})"
        )

    def compare(self, relation: str, a: str, b: str) -> str:
        """A relation of LLVM, such as `olt`; those that begin with u hold for what is not a number too."""
        return self.do(f"fcmp {relation} {self.double} {a}, {b}")

    def choose(self, condition: str, a: str, b: str) -> str:
        return self.do(f"select {self.i1} {condition}, {self.double} {a}, {self.double} {b}")

    def both(self, a: str, b: str) -> str:
        return self.do(f"and {self.i1} {a}, {b}")

    def bits(self, value: str) -> str:
        return self.do(f"bitcast {self.double} {value} to {self.i64}")

    def number(self, bits: str) -> str:
        return self.do(f"bitcast {self.i64} {bits} to {self.double}")

    def integers(self, op: str, a: str, b: str) -> str:
        return self.do(f"{op} {self.i64} {a}, {b}")

    def polynomial(self, coefficients: Sequence[float], z: str) -> str:
        """c0 + c1 z + ..., in pairs: the sums of pairs do not depend on each other."""
        terms = [self.real(c) for c in coefficients]
        while len(terms) > 1:
            last = terms[-1:] if len(terms) % 2 else []
            terms = [self.muladd(z, odd, even) for even, odd in zip(terms[::2], terms[1::2], strict=False)] + last
            z = self.mul(z, z)
        return terms[0]

    def sum_and_rest(self, a: str, b: str) -> tuple[str, str]:
        """a + b and its rounding error, if |a| >= |b| (T. J. Dekker, Numer. Math. 18, 1971)."""
        total = self.add(a, b)
        return total, self.sub(b, self.sub(total, a))

    def product_and_rest(self, a: str, b: str) -> tuple[str, str]:
        """a b and its rounding error."""
        product = self.mul(a, b)
        return product, self.fma(a, b, self.negative(product))

    def function(self, name: str, arguments: Sequence[str], value: str, inline: bool) -> str:
        """The function whose value was computed."""
        given = ", ".join(f"{self.double} %{a}" for a in arguments)
        how = "alwaysinline" if inline else "noinline"
        return f"""
define internal {self.double} @{name}({given}) {how} nounwind willreturn memory(none) {{
{self}
  ret {self.double} {value}
}}
"""


def typed(kind: str, width: int) -> str:
    """A type of LLVM, or a vector of it."""
    return kind if width == 1 else f"<{width} x {kind}>"


def repeated(kind: str, value: str, width: int) -> str:
    """A constant, or a vector of it."""
    return value if width == 1 else f"splat ({kind} {value})"


def real(value: float) -> str:
    """A number as LLVM writes it, exactly."""
    return "0x" + struct.pack(">d", value).hex().upper()
