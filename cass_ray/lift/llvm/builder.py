"""Writing LLVM IR: typed values and one function's text.

Operations on constants, and those that do nothing, are folded here: half of what SASS looks like
(``IADD3 R1, R2, RZ, RZ``) needs no instruction, and LLVM is spared reading it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple


class Value(NamedTuple):
    """An SSA value or constant: LLVM type and spelling."""

    type: str
    name: str

    def __str__(self) -> str:
        return f"{self.type} {self.name}"

    @property
    def number(self) -> int | None:
        """The value of an integer constant, unsigned; None for anything else."""
        return int(self.name) if self.name.isdigit() else None

    @property
    def single_bits(self) -> int | None:
        """The bits of a single-precision constant; None for anything else."""
        if self.type != "float" or not self.name.startswith(_SINGLE):
            return None
        return int(self.name[len(_SINGLE) :].partition(" ")[0])


_SINGLE = "bitcast (i32 "
"""What a single-precision constant's spelling begins with; its bits follow."""
SUPPORT_PREFIX = "__cass_"
"""Names of the functions of ``device/support.hip`` begin so."""

_PURE = "nounwind willreturn memory(none)"
"""Attributes of assembly that LLVM may leave out, join with its like, or move."""

TRUE = Value("i1", "true")
FALSE = Value("i1", "false")

_BITS = {"i8": 8, "i16": 16, "i32": 32, "i64": 64}
_COMMUTATIVE = frozenset({"add", "mul", "and", "or", "xor"})
_ZERO_IS_NEUTRAL = frozenset({"add", "sub", "or", "xor", "shl", "lshr", "ashr"})


def i8(number: int) -> Value:
    """An 8-bit constant; negative numbers are taken modulo 2^8."""
    return Value("i8", str(number & 0xFF))


def i32(number: int) -> Value:
    """A 32-bit constant; negative numbers are taken modulo 2^32."""
    return Value("i32", str(number & 0xFFFFFFFF))


def i64(number: int) -> Value:
    """A 64-bit constant; negative numbers are taken modulo 2^64."""
    return Value("i64", str(number & 0xFFFFFFFFFFFFFFFF))


def integer_constant(kind: str, number: int) -> Value:
    """A constant of the integer type ``kind`` (``i8`` to ``i64``), modulo its width."""
    return Value(kind, str(number & ((1 << _BITS[kind]) - 1)))


def float_bits(bits: int) -> Value:
    """The single-precision constant with these bits."""
    return Value("float", f"{_SINGLE}{bits & 0xFFFFFFFF} to float)")


def double_bits(bits: int) -> Value:
    """The double-precision constant with these bits."""
    return Value("double", f"bitcast (i64 {bits & 0xFFFFFFFFFFFFFFFF} to double)")


class Definition(NamedTuple):
    """What made a value: an LLVM opcode, intrinsic or assembly text, and its operands."""

    opcode: str
    operands: tuple[Value, ...]


class OutlinedRegion(NamedTuple):
    """A region of the kernel (None), or of a function, outlined: one of LLVM's functions itself."""

    owner: tuple[str, int] | None
    number: int


LlvmFunction = tuple[str, int] | OutlinedRegion | None
"""A function of a kernel, by the place where it begins; None is the kernel itself."""


LONGEST_STRETCH = 2_000
"""Lines that are scheduled together, and those of one more instruction of SASS."""


class IRBuilder:
    """Appends instructions to ``lines``; collects ``declarations`` of what they call."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        """Lines of the present function."""
        self.function: LlvmFunction = None
        self._lines: dict[LlvmFunction, list[str]] = {None: self.lines}
        self.declarations: set[str] = set()
        self._count = 0
        self.labels = 0
        """Blocks begun."""
        self._parts: dict[str, tuple[Value, Value]] = {}
        """64-bit values -> the low and the high word that they were made of."""
        self._halves: dict[str, tuple[Value, int]] = {}
        """Words -> the 64-bit value of which they are the low (0) or the high one (1)."""
        self._sources: dict[str, Value] = {}
        """Results of ``bitcast`` -> what was cast."""
        self._stretch = 0
        """Where the lines begin that LLVM schedules together."""
        self._in_block: dict[object, Value] = {}
        """Values that :meth:`once` has made in the present block."""
        self._definitions: dict[str, Definition] = {}

    def enter(self, function: LlvmFunction) -> None:
        """Go on at the end of ``function``, with a new block."""
        self.function = function
        self.lines = self._lines.setdefault(function, [])

    def lines_of(self, function: LlvmFunction) -> list[str]:
        return self._lines[function]

    def fresh(self) -> int:
        """A number that names nothing yet."""
        self._count += 1
        return self._count

    def line(self, text: str) -> None:
        """An instruction without a result."""
        self.lines.append(f"  {text}")

    def label(self, name: str) -> None:
        self.lines.append(f"{name}:")
        self.labels += 1
        self._stretch = len(self.lines)
        self._in_block.clear()

    def bound_stretch(self) -> None:
        """Let LLVM schedule a long block in stretches.

        To pair instructions for dual issue it compares each of a stretch with each: one block of
        4,096 matrix products took minutes.
        """
        if len(self.lines) - self._stretch > LONGEST_STRETCH:
            self.call_void("llvm.amdgcn.sched.barrier", i32(0))
            self._stretch = len(self.lines)

    def continue_in(self, name: str) -> None:
        """Go on in a block called so, for those that have to name it."""
        self.line(f"br label %{name}")
        self.label(name)

    def once(self, key: object, make: Callable[[], Value]) -> Value:
        """What ``make`` writes, which is the same everywhere in a block: once in each."""
        value = self._in_block.get(key)
        if value is None:
            value = self._in_block[key] = make()
        return value

    def remember(self, key: object, value: Value) -> None:
        """Keep ``value`` for the rest of the block, as what :meth:`once` writes is."""
        self._in_block[key] = value

    def remembered(self, key: object) -> Value | None:
        """What this block has for ``key``."""
        return self._in_block.get(key)

    def result(self, kind: str, text: str) -> Value:
        """An instruction with a result of type ``kind``."""
        self._count += 1
        name = f"%v{self._count}"
        self.lines.append(f"  {name} = {text}")
        return Value(kind, name)

    def op(self, opcode: str, left: Value, right: Value) -> Value:
        """A binary operation on two values of one type."""
        folded = _fold(opcode, left, right)
        if folded is not None:
            return folded
        result = self.result(left.type, f"{opcode} {left}, {right.name}")
        return self._defined(result, opcode, left, right)

    def definition(self, value: Value) -> Definition | None:
        """What made ``value``; None for constants and for what no method here keeps it of."""
        return self._definitions.get(value.name)

    def _defined(self, value: Value, opcode: str, *operands: Value) -> Value:
        self._definitions[value.name] = Definition(opcode, operands)
        return value

    def sum(self, first: Value, *others: Value) -> Value:
        """All of the values, which are integers of one type, added up."""
        for other in others:
            first = self.op("add", first, other)
        return first

    def fneg(self, value: Value) -> Value:
        if (bits := value.single_bits) is not None:
            return float_bits(bits ^ 1 << 31)
        return self.result(value.type, f"fneg {value}")

    def invert(self, value: Value) -> Value:
        if value.type == "i1":
            if value in (TRUE, FALSE):
                return FALSE if value == TRUE else TRUE
            result = self.result("i1", f"xor {value}, true")
            return self._defined(result, "xor", value, TRUE)
        return self.op("xor", value, integer_constant(value.type, -1))

    def both(self, left: Value, right: Value) -> Value:
        """Conjunction of two conditions (``i1``)."""
        if FALSE in (left, right):
            return FALSE
        if left == TRUE:
            return right
        return left if right == TRUE else self.result("i1", f"and {left}, {right.name}")

    def either(self, left: Value, right: Value) -> Value:
        """Disjunction of two conditions (``i1``)."""
        if TRUE in (left, right):
            return TRUE
        if left == FALSE:
            return right
        return left if right == FALSE else self.result("i1", f"or {left}, {right.name}")

    def exclusive(self, left: Value, right: Value) -> Value:
        """Whether exactly one of two conditions holds."""
        for one, other in ((left, right), (right, left)):
            if one == FALSE:
                return other
            if one == TRUE:
                return self.invert(other)
        return self.result("i1", f"xor {left}, {right.name}")

    def cast(self, how: str, value: Value, kind: str) -> Value:
        """``zext``, ``trunc``, ``bitcast``, … to ``kind``; nothing where the type is the same."""
        if value.type == kind:
            return value
        number = value.number
        if number is not None and how in ("zext", "trunc", "sext"):
            if how == "sext" and number >> _BITS[value.type] - 1:
                number -= 1 << _BITS[value.type]
            return integer_constant(kind, number)
        if how != "bitcast":
            return self._defined(self.result(kind, f"{how} {value} to {kind}"), how, value)
        if kind == "float" and number is not None:
            return float_bits(number)
        if kind == "i32" and (bits := value.single_bits) is not None:
            return i32(bits)
        source = self._sources.get(value.name)
        if source is not None and source.type == kind:
            return source
        result = self.result(kind, f"bitcast {value} to {kind}")
        self._sources[result.name] = value
        return self._defined(result, how, value)

    def icmp(self, condition: str, left: Value, right: Value) -> Value:
        """Comparison of integers by LLVM's ``condition`` (``ult``); an ``i1``."""
        result = self.result("i1", f"icmp {condition} {left}, {right.name}")
        return self._defined(result, condition, left, right)

    def fcmp(self, condition: str, left: Value, right: Value) -> Value:
        """Comparison by LLVM's ``condition`` (``olt``): an ``i1``, for vectors a vector of them."""
        kind = f"{left.type[: left.type.index('x')]}x i1>" if left.type.startswith("<") else "i1"
        return self.result(kind, f"fcmp {condition} {left}, {right.name}")

    def select(self, condition: Value, yes: Value, no: Value) -> Value:
        """``condition ? yes : no``, of one type."""
        if condition == TRUE or yes == no:
            return yes
        if condition == FALSE:
            return no
        result = self.result(yes.type, f"select {condition}, {yes}, {no}")
        return self._defined(result, "select", condition, yes, no)

    def call(self, kind: str, name: str, *arguments: Value, note: str = "") -> Value:
        """A call of an intrinsic or function with a result; ``note`` is appended metadata."""
        self._declare(kind, name, arguments)
        listed = ", ".join(map(str, arguments))
        result = self.result(kind, f"call {kind} @{name}({listed}){note}")
        return self._defined(result, name, *arguments)

    def call_void(self, name: str, *arguments: Value) -> None:
        """A call of an intrinsic or function without a result."""
        self._declare("void", name, arguments)
        self.line(f"call void @{name}({', '.join(map(str, arguments))})")

    def asm(self, kind: str, text: str, constraints: str, *arguments: Value) -> Value:
        """Inline assembly that computes one value and touches nothing else."""
        listed = ", ".join(map(str, arguments))
        result = self.result(kind, f'call {kind} asm "{text}", "{constraints}"({listed}) {_PURE}')
        return self._defined(result, text, *arguments)

    def element(self, vector: Value, index: int, kind: str) -> Value:
        return self.result(kind, f"extractelement {vector}, i32 {index}")

    def vector(self, values: list[Value]) -> Value:
        kind = f"<{len(values)} x {values[0].type}>"
        vector = Value(kind, "poison")
        for index, value in enumerate(values):
            vector = self.result(kind, f"insertelement {vector}, {value}, i32 {index}")
        return vector

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
        how = "store volatile" if volatile else "store"
        self.line(f"{how} {value}, {pointer}, align {align}")

    def pair(self, low: Value, high: Value) -> Value:
        """The 64-bit integer of two 32-bit halves; what they are the halves of, where it is known.

        That and the parts of :meth:`low` and :meth:`high` are there wherever their parts are.
        """
        if self.are_halves(low, high):
            return self._halves[low.name][0]
        shifted = self.op("shl", self.cast("zext", high, "i64"), i64(32))
        word = self.op("or", self.cast("zext", low, "i64"), shifted)
        self._parts[word.name] = low, high
        return word

    def double_of(self, low: Value, high: Value) -> Value:
        """The double of two words; what they are the halves of, where it is known.

        Of integers LLVM would merge the shifted words of several blocks, instead of the words.
        """
        if self.are_halves(low, high) or low.number is not None or high.number is not None:
            return self.cast("bitcast", self.pair(low, high), "double")
        return self.cast("bitcast", self.vector([low, high]), "double")

    def are_halves(self, low: Value, high: Value) -> bool:
        """Whether the words are known to be the halves of one 64-bit integer."""
        whole, is_high = self._halves.get(low.name, (None, 0))
        return whole is not None and not is_high and self._halves.get(high.name) == (whole, 1)

    def low(self, value: Value) -> Value:
        """The low 32 bits of a 64-bit integer."""
        return self._half(value, 0)

    def high(self, value: Value) -> Value:
        """The high 32 bits of a 64-bit integer."""
        return self._half(value, 1)

    def _half(self, value: Value, is_high: int) -> Value:
        parts = self._parts.get(value.name)
        if parts is not None:
            return parts[is_high]
        whole = self.op("lshr", value, i64(32)) if is_high else value
        half = self.cast("trunc", whole, "i32")
        if half.number is None:
            self._halves[half.name] = value, is_high
        return half

    def _declare(self, kind: str, name: str, arguments: tuple[Value, ...]) -> None:
        types = ", ".join(argument.type for argument in arguments)
        self.declarations.add(f"declare {kind} @{name}({types})")


def _fold(opcode: str, left: Value, right: Value) -> Value | None:
    """The result where it is a constant or an operand."""
    if left.type not in _BITS:
        return None
    a, b = left.number, right.number
    if a is not None and b is not None:
        return _compute(opcode, left.type, a, b)
    if opcode in _COMMUTATIVE and a is not None:
        left, right, b = right, left, a
    if b is None:
        return None
    if b == 0:
        if opcode in _ZERO_IS_NEUTRAL:
            return left
        return right if opcode in ("mul", "and") else None
    if opcode == "and" and b == (1 << _BITS[left.type]) - 1:
        return left
    return left if opcode == "mul" and b == 1 else None


def _compute(opcode: str, kind: str, a: int, b: int) -> Value | None:
    bits = _BITS[kind]
    if opcode in ("shl", "lshr", "ashr"):
        if b >= bits:
            return None
        signed = a - (1 << bits) if opcode == "ashr" and a >> bits - 1 else a
        return integer_constant(kind, a << b if opcode == "shl" else signed >> b)
    results = {"add": a + b, "sub": a - b, "mul": a * b, "and": a & b, "or": a | b, "xor": a ^ b}
    return integer_constant(kind, results[opcode]) if opcode in results else None
