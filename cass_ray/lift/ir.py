"""Writing LLVM IR: typed values and one function's text."""

from __future__ import annotations

from typing import NamedTuple


class Value(NamedTuple):
    """An SSA value or constant: LLVM type and spelling."""

    type: str
    name: str

    def __str__(self) -> str:
        return f"{self.type} {self.name}"


TRUE = Value("i1", "true")
FALSE = Value("i1", "false")


def i32(number: int) -> Value:
    """A 32-bit constant; negative numbers are taken modulo 2^32."""
    return Value("i32", str(number & 0xFFFFFFFF))


def i64(number: int) -> Value:
    """A 64-bit constant; negative numbers are taken modulo 2^64."""
    return Value("i64", str(number & 0xFFFFFFFFFFFFFFFF))


def float_bits(bits: int) -> Value:
    """The single-precision constant with these bits."""
    return Value("float", f"bitcast (i32 {bits & 0xFFFFFFFF} to float)")


def double_bits(bits: int) -> Value:
    """The double-precision constant with these bits."""
    return Value("double", f"bitcast (i64 {bits & 0xFFFFFFFFFFFFFFFF} to double)")


class Writer:
    """Appends instructions to ``lines``; collects ``declarations`` of what they call."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.declarations: set[str] = set()
        self._count = 0

    def fresh(self) -> int:
        """A number that names nothing yet."""
        self._count += 1
        return self._count

    def line(self, text: str) -> None:
        """An instruction without a result."""
        self.lines.append(f"  {text}")

    def result(self, kind: str, text: str) -> Value:
        """An instruction with a result of type ``kind``."""
        self._count += 1
        name = f"%v{self._count}"
        self.lines.append(f"  {name} = {text}")
        return Value(kind, name)

    def op(self, opcode: str, left: Value, right: Value) -> Value:
        """A binary operation on two values of one type."""
        return self.result(left.type, f"{opcode} {left}, {right.name}")

    def fneg(self, value: Value) -> Value:
        """Sign flipped."""
        return self.result(value.type, f"fneg {value}")

    def invert(self, value: Value) -> Value:
        """All bits flipped."""
        return self.result(value.type, f"xor {value}, {'true' if value.type == 'i1' else '-1'}")

    def cast(self, how: str, value: Value, kind: str) -> Value:
        """``zext``, ``trunc``, ``bitcast``, … to ``kind``; nothing where the type is the same."""
        if value.type == kind:
            return value
        return self.result(kind, f"{how} {value} to {kind}")

    def icmp(self, condition: str, left: Value, right: Value) -> Value:
        """Integer comparison."""
        return self.result("i1", f"icmp {condition} {left}, {right.name}")

    def fcmp(self, condition: str, left: Value, right: Value) -> Value:
        """Floating-point comparison, of scalars."""
        return self.result("i1", f"fcmp {condition} {left}, {right.name}")

    def select(self, condition: Value, yes: Value, no: Value) -> Value:
        """``condition ? yes : no``."""
        if condition == TRUE:
            return yes
        if condition == FALSE:
            return no
        return self.result(yes.type, f"select {condition}, {yes}, {no}")

    def call(self, kind: str, name: str, *arguments: Value) -> Value:
        """A call of an intrinsic with a result."""
        self._declare(kind, name, arguments)
        return self.result(kind, f"call {kind} @{name}({', '.join(map(str, arguments))})")

    def call_void(self, name: str, *arguments: Value) -> None:
        """A call of an intrinsic without a result."""
        self._declare("void", name, arguments)
        self.line(f"call void @{name}({', '.join(map(str, arguments))})")

    def asm(self, kind: str, text: str, constraints: str, *arguments: Value) -> Value:
        """Inline assembly that computes one value and touches nothing else."""
        listed = ", ".join(map(str, arguments))
        return self.result(kind, f'call {kind} asm "{text}", "{constraints}"({listed})')

    def element(self, vector: Value, index: int, kind: str) -> Value:
        """One element of a vector."""
        return self.result(kind, f"extractelement {vector}, i32 {index}")

    def vector(self, values: list[Value]) -> Value:
        """The vector of ``values``, which are of one type."""
        kind = f"<{len(values)} x {values[0].type}>"
        made = Value(kind, "poison")
        for index, value in enumerate(values):
            made = self.result(kind, f"insertelement {made}, {value}, i32 {index}")
        return made

    def offset(self, pointer: Value, distance: Value) -> Value:
        """``pointer`` plus ``distance`` bytes."""
        if distance.name == "0":
            return pointer
        return self.result(pointer.type, f"getelementptr i8, {pointer}, {distance}")

    def load(
        self, kind: str, pointer: Value, align: int, *, volatile: bool = False, note: str = ""
    ) -> Value:
        """A load; ``note`` is appended metadata."""
        how = "load volatile" if volatile else "load"
        return self.result(kind, f"{how} {kind}, {pointer}, align {align}{note}")

    def store(self, value: Value, pointer: Value, align: int, *, volatile: bool = False) -> None:
        """A store."""
        how = "store volatile" if volatile else "store"
        self.line(f"{how} {value}, {pointer}, align {align}")

    def pair(self, low: Value, high: Value) -> Value:
        """The 64-bit integer of two 32-bit halves."""
        shifted = self.op("shl", self.cast("zext", high, "i64"), i64(32))
        return self.op("or", self.cast("zext", low, "i64"), shifted)

    def low(self, value: Value) -> Value:
        """The low 32 bits of a 64-bit integer."""
        return self.cast("trunc", value, "i32")

    def high(self, value: Value) -> Value:
        """The high 32 bits of a 64-bit integer."""
        return self.cast("trunc", self.op("lshr", value, i64(32)), "i32")

    def _declare(self, kind: str, name: str, arguments: tuple[Value, ...]) -> None:
        types = ", ".join(argument.type for argument in arguments)
        self.declarations.add(f"declare {kind} @{name}({types})")
