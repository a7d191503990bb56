"""Power series of a motion in time, order by order, as loops against the emitter.

The coefficients of order k of all values of a tape follow from those of lower orders. The sums of products in their
recurrences run over the same orders, so they are formed in common loops; what the loops leave out has an index 0 or k.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from .emit_tape import operation
from .emitter import Emitter, Handle, Index
from .linear import Solvable
from .lower import RUN, Operation
from .number_places import Known, Vector, value
from .series_tape import LinearPart, SeriesTape
from .sparse import matrix

MOST = 24
"""The highest order."""

TOGETHER = 12
"""Sums that are formed in one loop: as many as there are registers for."""

Term = tuple[str, int, int]
"""A sum of products of orders that add up to k: of two values (`plain`), of the rate of one and another (`rate`)."""


class Series:
    """The coefficients of all values that occur in products, one order after the other in one array.

    The first columns are those of the state.
    """

    def __init__(self, e: Emitter, tape: SeriesTape, state: Sequence[str], time: str):
        self.e, self.tape, self.state, self.time = e, tape, state, time
        self.ops = tape.operations
        self.constants: dict[int, Handle] = {}
        self.terms = list(dict.fromkeys(self._all_terms()))
        self.columns: dict[tuple[str, int], int] = {}
        self._inputs = {o.args[0]: k for k, o in enumerate(self.ops) if o.op == "input"}
        for i, name in enumerate(state):
            if name in self._inputs:
                self.columns["plain", self._inputs[name]] = i
        self.width = len(state)
        for kind, a, b in self.terms:
            for key in ((kind, a), ("plain", b)):
                if key not in self.columns:
                    self.columns[key] = self.width
                    self.width += 1
        self.memory, self.shares = e.scratch(self.width * (MOST + 1)), e.local(MOST + 1)
        self.sums = {term: e.scratch(1) for term in self.terms}
        self.matrices: list[Solvable] = [matrix(e, len(p.unknowns), p.places) for p in tape.parts]
        self.vectors = [(e.local(len(p.unknowns)), e.local(len(p.unknowns))) for p in tape.parts]

    # what is in the recurrences

    def varies(self, k: int) -> bool:
        return self.ops[k].level > RUN

    def _all_terms(self) -> Iterator[Term]:
        for k, o in enumerate(self.ops):
            if self.varies(k):
                yield from self._terms(k, o)
        for part in self.tape.parts:
            for (_, j), a in zip(part.places, part.entries, strict=True):
                if self.varies(a):
                    yield "plain", a, part.unknowns[j]

    def _terms(self, k: int, o: Operation) -> list[Term]:
        """The sums of one operation."""
        match o.op:
            case "mul" | "fma":
                a, b = sorted(o.args[:2])
                return [("plain", a, b)] if self.varies(a) and self.varies(b) else []
            case "div":
                return [("plain", o.args[1], k)] if self.varies(o.args[1]) else []
            case "sqrt":
                return [("plain", k, k)]
            case "power":
                return [("rate", o.args[0], k), ("plain", o.args[0], k)]
            case "call":
                return [("rate", o.args[1], self.tape.slopes[k][0])]
            case "angle":
                return [("rate", v, g) for v, g in (o.args[2:4], o.args[4:6])]
        return []

    # order zero

    def begin(self, constants: Known) -> None:
        """What does not change, 1/k for each order among it."""
        for k in range(1, MOST + 1):
            self.e.store(self.shares, self.e.real(1 / k), k)
        for k, o in enumerate(self.ops):
            if not self.varies(k):
                self.constants[k] = operation(self.e, o, constants, self.constants)

    def find(self, known: Known, unit: Handle, order: Index) -> Handle:
        """All coefficients of the state up to an order, with time in some unit; whether a matrix is singular."""
        zero, singular = self._start(known, unit)
        self._fill(zero, unit, order)
        return singular

    def _start(self, known: Known, unit: Handle) -> tuple[dict[int, Handle], Handle]:
        """The values at the beginning of a step; whether they do not determine the rates."""
        e, zero = self.e, dict(self.constants)
        singular = e.local(1, "integer")
        e.store(singular, 0)
        done = 0
        for part, m, (right, x) in zip(self.tape.parts, self.matrices, self.vectors, strict=True):
            self._first(range(done, part.after), known, zero)
            done = part.after
            for i, r in enumerate(part.right):
                e.store(right, e.negative(zero[r]), i)
            m.store(Vector(e, len(part.entries), [zero[a] for a in part.entries]))
            with e.when(m.factor()):
                e.store(singular, 1)
            m.solve(right, x)
            zero |= {u: e.load(x, i) for i, u in enumerate(part.unknowns)}
        self._first(range(done, len(self.ops)), known, zero)
        for (kind, k), column in self.columns.items():
            e.store(self.memory, zero[k] if kind == "plain" else e.real(0.0), column)
        for i, r in enumerate(self.tape.rates):
            e.store(self.memory, e.arithmetic("mul", unit, zero[r]), self.width + i)
        return zero, e.integer_compare("ne", e.load(singular), 0)

    def _first(self, which: range, known: Known, zero: dict[int, Handle]) -> None:
        """Emit operations at the beginning of a step."""
        e = self.e
        for k in which:
            o = self.ops[k]
            if k in zero:
                continue
            if o.op == "power":
                zero[k] = self._power(zero[o.args[0]], o.args[1], zero)
            elif o.op == "angle":
                zero[k] = e.call("atan2", zero[o.args[0]], zero[o.args[1]])
            else:
                zero[k] = value(e, known[o.args[0]]) if o.op == "input" else operation(e, o, known, zero)

    def _power(self, base: Handle, exponent: int, zero: Mapping[int, Handle]) -> Handle:
        """A power, by products and a root where the exponent is a small multiple of 1/2."""
        e, o = self.e, self.ops[exponent]
        halves = 2 * o.args[0] if o.op == "const" else 0.5
        if halves != int(halves) or not 0 < abs(halves) <= 32:
            return e.call("pow", base, zero[exponent])
        if halves < 0:
            base = e.arithmetic("div", e.real(1.0), base)
        result, square, count = None, base, abs(int(halves)) // 2
        while count:
            if count % 2:
                result = square if result is None else e.arithmetic("mul", result, square)
            square, count = e.arithmetic("mul", square, square) if count > 1 else square, count // 2
        if int(halves) % 2:
            root = e.call("sqrt", base)
            result = root if result is None else e.arithmetic("mul", result, root)
        assert result is not None
        return result

    # the other orders

    def _fill(self, zero: Mapping[int, Handle], unit: Handle, order: Index) -> None:
        """Order by order; those of other values than the state only up to the last but one."""
        e = self.e
        reciprocals = self._reciprocals(zero)
        with e.loop(1, order) as k:
            self._form_sums(k)
            self._next(k, _Order(self, k, unit, zero, reciprocals))

    def _reciprocals(self, zero: Mapping[int, Handle]) -> dict[int, Handle]:
        """Of the values at the beginning that each order is divided by."""
        e, one = self.e, self.e.real(1.0)
        by: dict[int, Handle] = {}
        reciprocals: dict[int, Handle] = {}
        for k, o in enumerate(self.ops):
            if not self.varies(k):
                continue
            if o.op == "sqrt":
                by[k] = e.arithmetic("div", e.real(0.5), zero[k])
            elif o.op in ("div", "power"):
                divisor = o.args[1 if o.op == "div" else 0]
                if divisor not in reciprocals:
                    reciprocals[divisor] = e.arithmetic("div", one, zero[divisor])
                by[k] = reciprocals[divisor]
        return by

    def _form_sums(self, k: Handle) -> None:
        """The sums over orders 1 to k - 1 of one factor, k - 1 to 1 of the other.

        Of few sums the terms with the latest order come last: the others need not wait for it.
        """
        e, few = self.e, len(self.terms) <= TOGETHER
        for sum in self.sums.values():
            e.store(sum, e.real(0.0))
        one = e.integer_arithmetic("sub", k, 1)
        for first in range(0, len(self.terms), TOGETHER):
            with e.loop(2, one) if few else e.loop(1, k) as j:
                self._add(self.terms[first : first + TOGETHER], j, e.integer_arithmetic("sub", k, j))
        if few:
            with e.when(e.integer_compare("lt", 2, k)):
                self._add(self.terms, 1, one)
            with e.when(e.integer_compare("lt", 1, k)):
                self._add(self.terms, one, 1)

    def _add(self, terms: Sequence[Term], one: Index, other: Index) -> None:
        """The products of one order of the first factors with another one of the second."""
        e, seen = self.e, dict[tuple[Index, int], Handle]()
        rows = [e.integer_arithmetic("mul", i, self.width) for i in (one, other)]

        def at(row: Handle, column: int) -> Handle:
            if (row, column) not in seen:
                seen[row, column] = e.load(self.memory, e.integer_arithmetic("add", row, column))
            return seen[row, column]

        for term in terms:
            kind, a, b = term
            product = e.arithmetic("mul", at(rows[0], self.columns[kind, a]), at(rows[1], self.columns["plain", b]))
            e.store(self.sums[term], e.arithmetic("add", e.load(self.sums[term]), product))

    def _next(self, k: Handle, order: _Order) -> None:
        """The coefficients of order k, and those of the state of the next order."""
        e, after = self.e, self.e.after(k)
        order.run()
        share = e.arithmetic("mul", order.unit, e.load(self.shares, after))
        row = e.integer_arithmetic("mul", after, self.width)
        for i, r in enumerate(self.tape.rates):
            rate = e.arithmetic("mul", order.value(r), share)
            e.store(self.memory, rate, e.integer_arithmetic("add", row, i))


class _Order:
    """The coefficients of one order k > 0; that of a value that does not change is zero, and not there."""

    def __init__(self, series: Series, k: Handle, unit: Handle, zero: Mapping[int, Handle], by: Mapping[int, Handle]):
        self.e, self.series, self.k, self.unit, self.zero, self.by = series.e, series, k, unit, zero, by
        self.row = self.e.integer_arithmetic("mul", k, series.width)
        self.real = self.e.as_real(k)
        self.share = self.e.load(series.shares, k)
        self.here: dict[int, Handle] = {}

    def run(self) -> None:
        """All operations, and the linear parts in between."""
        series, done = self.series, 0
        for p, part in enumerate(series.tape.parts):
            self._operations(range(done, part.after))
            self._solve(p, part)
            done = part.after
        self._operations(range(done, len(series.ops)))

    def value(self, k: int) -> Handle:
        return self.here.get(k, self.e.real(0.0))

    def _operations(self, which: range) -> None:
        for k in which:
            o = self.series.ops[k]
            if self.series.varies(k) and k not in self.here:
                self.here[k] = self._operation(k, o)
                self._keep(k)

    def _keep(self, k: int) -> None:
        """Store what products need."""
        e, columns = self.e, self.series.columns
        is_state = self.series.ops[k].op == "input" and self.series.ops[k].args[0] in self.series.state
        if ("plain", k) in columns and not is_state:
            at = e.integer_arithmetic("add", self.row, columns["plain", k])
            e.store(self.series.memory, self.here[k], at)
        if ("rate", k) in columns:
            rate = e.arithmetic("mul", self.real, self.here[k])
            e.store(self.series.memory, rate, e.integer_arithmetic("add", self.row, columns["rate", k]))

    def _solve(self, p: int, part: LinearPart) -> None:
        """The unknowns of a linear part: by its matrix at order zero."""
        e, (right, x) = self.e, self.series.vectors[p]
        rows: dict[int, Handle] = {i: self.value(r) for i, r in enumerate(part.right)}
        for (i, j), a in zip(part.places, part.entries, strict=True):
            if self.series.varies(a):
                lower = self._sum("plain", a, part.unknowns[j])
                product = e.arithmetic("mul", self.here[a], self.zero[part.unknowns[j]])
                rows[i] = e.arithmetic("add", rows[i], e.arithmetic("add", product, lower))
        for i, r in rows.items():
            e.store(right, e.negative(r), i)
        self.series.matrices[p].solve(right, x)
        for i, u in enumerate(part.unknowns):
            self.here[u] = e.load(x, i)
            self._keep(u)

    def _sum(self, kind: str, a: int, b: int) -> Handle:
        return self.e.load(self.series.sums[kind, a, b])

    def _operation(self, k: int, o: Operation) -> Handle:
        e = self.e
        match o.op:
            case "input":
                return self._input(o.args[0])
            case "add" | "sub":
                return self._sum_of(o.op, *o.args)
            case "neg":
                return e.negative(self.here[o.args[0]])
            case "mul":
                return self._product(*o.args)
            case "fma":
                product = self._product(*o.args[:2]) if {*o.args[:2]} & self.here.keys() else None
                c = self.here.get(o.args[2])
                return product if c is None else c if product is None else e.arithmetic("add", product, c)  # type: ignore[return-value]
            case "div":
                return self._quotient(k, *o.args)
            case "sqrt":
                rest = e.arithmetic("sub", self.here[o.args[0]], self._sum("plain", k, k))
                return e.arithmetic("mul", rest, self.by[k])
            case "power":
                return self._power(k, *o.args)
            case "call":
                g, factor = self.series.tape.slopes[k]
                found = self._along(o.args[1], g)
                return found if factor == 1.0 else e.arithmetic("mul", e.real(factor), found)
        u, g, v, h = o.args[2:]
        return e.arithmetic("add", self._along(u, g), self._along(v, h))

    def _input(self, name: str) -> Handle:
        e, series = self.e, self.series
        if name == series.time:
            return e.select(e.integer_compare("eq", self.k, 1), self.unit, e.real(0.0))
        return e.load(series.memory, e.integer_arithmetic("add", self.row, series.state.index(name)))

    def _sum_of(self, op: str, a: int, b: int) -> Handle:
        e, x, y = self.e, self.here.get(a), self.here.get(b)
        if x is None or y is None:
            return x if y is None else y if op == "add" else e.negative(y)  # type: ignore[return-value]
        return e.arithmetic("add" if op == "add" else "sub", x, y)

    def _product(self, a: int, b: int) -> Handle:
        """a0 bk + ak b0, and the sum between."""
        e, (a, b) = self.e, sorted((a, b))
        x, y = self.here.get(a), self.here.get(b)
        if x is None or y is None:
            (moving, still) = (y, a) if x is None else (x, b)
            assert moving is not None
            return e.arithmetic("mul", self.zero[still], moving)
        first = e.arithmetic("add", e.arithmetic("mul", x, self.zero[b]), self._sum("plain", a, b))
        return e.arithmetic("add", e.arithmetic("mul", y, self.zero[a]), first)

    def _quotient(self, k: int, a: int, b: int) -> Handle:
        """c of a = b c."""
        e, x, y = self.e, self.here.get(a), self.here.get(b)
        if y is None:
            assert x is not None
            return e.arithmetic("mul", x, self.by[k])
        less = e.arithmetic("add", e.arithmetic("mul", y, self.zero[k]), self._sum("plain", b, k))
        return e.arithmetic("mul", e.negative(less) if x is None else e.arithmetic("sub", x, less), self.by[k])

    def _power(self, k: int, u: int, exponent: int) -> Handle:
        """w of u w' = a u' w."""
        e, a = self.e, self.zero[exponent]
        more = e.arithmetic("mul", e.arithmetic("add", a, e.real(1.0)), self.share)
        above = e.arithmetic("mul", more, self._sum("rate", u, k))
        inner = e.arithmetic("mul", e.arithmetic("sub", above, self._sum("plain", u, k)), self.by[k])
        first = e.arithmetic("mul", e.arithmetic("mul", a, self.zero[k]), self.by[k])
        return e.arithmetic("add", e.arithmetic("mul", self.here[u], first), inner)

    def _along(self, u: int, g: int) -> Handle:
        """w of w' = g u'."""
        e = self.e
        inner = e.arithmetic("mul", self._sum("rate", u, g), self.share)
        return e.arithmetic("add", e.arithmetic("mul", self.here[u], self.zero[g]), inner)
