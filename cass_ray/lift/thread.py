"""The state of one SASS thread while its code becomes IR: registers, predicates, constant banks.

Registers live in allocas between blocks, which LLVM's mem2reg removes, and in ``_cached`` within a
block, so that a block loads each register once and stores it once.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from contextlib import contextmanager

from cass_ray.lift.environment import Environment
from cass_ray.lift.errors import UnknownForm
from cass_ray.lift.ir import FALSE, TRUE, Value, Writer, double_bits, float_bits, i32, i64
from cass_ray.lift.operands import Constant, Immediate, Name, Operand, Predicate, Register

_SELECTORS = {
    **{f"B{n}": (8 * n, 0xFF) for n in range(4)},
    **{f"H{n}": (16 * n, 0xFFFF) for n in range(2)},
}
_SPECIAL_FLOATS = {
    "+INF": float("inf"),
    "INF": float("inf"),
    "-INF": float("-inf"),
}
_SCALE = {"X2": 1, "X4": 2, "X8": 3, "X16": 4}


class Thread(Writer):
    """Writes what instructions do to one thread."""

    def __init__(self, environment: Environment) -> None:
        super().__init__()
        self.environment = environment
        self.slots: dict[str, str] = {}
        """Register -> LLVM type, of every register that needs an alloca."""
        self._cached: dict[str, Value] = {}
        self._written: set[str] = set()
        self._guard: Value = TRUE

    # State between blocks

    def begin_block(self, label: str) -> None:
        """Start a basic block; nothing is known about registers in it."""
        self.lines.append(f"{label}:")
        self._cached.clear()
        self._written.clear()

    def flush(self) -> None:
        """Store the registers that this block has written."""
        for name in sorted(self._written):
            self.line(f"store {self._cached[name]}, ptr addrspace(5) %{name}")
        self._written.clear()

    @contextmanager
    def dropping_results_unless(self, guard: Value) -> Iterator[None]:
        """Inside, what is written to registers takes effect only where ``guard`` holds."""
        self._guard = guard
        yield
        self._guard = TRUE

    @contextmanager
    def skipped_unless(self, guard: Value) -> Iterator[None]:
        """Inside, code runs only where ``guard`` holds."""
        self.flush()
        number = self.fresh()
        self.line(f"br {guard}, label %do{number}, label %skip{number}")
        before = dict(self._cached)
        self.lines.append(f"do{number}:")
        yield
        changed = set(self._written)
        self.flush()
        self.line(f"br label %skip{number}")
        self.lines.append(f"skip{number}:")
        self._cached = {name: value for name, value in before.items() if name not in changed}

    def forget(self) -> None:
        """Store everything and trust nothing cached, around blocks that semantics write."""
        self.flush()
        self._cached.clear()

    # Registers

    def slot(self, name: str, kind: str) -> Value:
        """The value of a register or other per-thread variable."""
        if name not in self._cached:
            self.slots[name] = kind
            self._cached[name] = self.result(kind, f"load {kind}, ptr addrspace(5) %{name}")
        return self._cached[name]

    def set_slot(self, name: str, value: Value) -> None:
        """Change a register, where the guard holds."""
        if self._guard != TRUE:
            value = self.select(self._guard, value, self.slot(name, value.type))
        self.slots[name] = value.type
        self._cached[name] = value
        self._written.add(name)

    def register(self, register: Register) -> Value:
        """All 32 bits of a register, without its modifiers."""
        return i32(0) if register.is_zero else self.slot(register.name, "i32")

    def write(self, target: Operand, value: Value) -> None:
        """Set a 32-bit register."""
        if not isinstance(target, Register):
            raise UnknownForm(str(target), "a destination that is no register")
        if not target.is_zero:
            self.set_slot(target.name, self.cast("bitcast", value, "i32"))

    def write_wide(self, target: Operand, value: Value) -> None:
        """Set a pair of registers."""
        if not isinstance(target, Register):
            raise UnknownForm(str(target), "a destination that is no register")
        value = self.cast("bitcast", value, "i64")
        self.write(target, self.low(value))
        self.write(target.following(1), self.high(value))

    def write_words(self, target: Operand, words: list[Value]) -> None:
        """Set consecutive registers."""
        if not isinstance(target, Register):
            raise UnknownForm(str(target), "a destination that is no register")
        for distance, word in enumerate(words):
            self.write(target.following(distance), word)

    def predicate(self, operand: Operand) -> Value:
        """The value of a predicate operand."""
        if not isinstance(operand, Predicate):
            raise UnknownForm(str(operand), "not a predicate")
        if operand.index is None:
            return FALSE if operand.inverted else TRUE
        value = self.slot(operand.name, "i1")
        return self.invert(value) if operand.inverted else value

    def write_predicate(self, target: Operand, value: Value) -> None:
        """Set a predicate."""
        if not isinstance(target, Predicate) or target.inverted:
            raise UnknownForm(str(target), "a destination that is no predicate")
        if target.index is not None:
            self.set_slot(target.name, value)

    # Source operands

    def bits(self, operand: Operand, word: int = 0) -> Value:
        """32 bits of an operand without its modifiers; ``word`` counts upwards."""
        if isinstance(operand, Register):
            return self.register(operand.following(word) if word else operand)
        if isinstance(operand, Constant):
            index = self._constant_index(operand)
            return self.environment.constant(self, operand.bank, operand.offset + 4 * word, index)
        if isinstance(operand, Immediate):
            if not operand.is_bits and operand.text != "0":
                raise UnknownForm(operand.text, "a floating-point literal as an integer")
            return i32(operand.integer >> 32 * word)
        if isinstance(operand, Name) and (value := self.environment.symbol(self, operand.text)):
            return value
        raise UnknownForm(str(operand), "not an integer operand")

    def integer(self, operand: Operand) -> Value:
        """32 bits with sign, inversion and byte or half selection applied."""
        value = self.bits(operand)
        if not isinstance(operand, Register | Constant):
            return value
        for suffix in operand.suffixes:
            if suffix not in _SELECTORS:
                raise UnknownForm(str(operand), f"selector {suffix}")
            shift, mask = _SELECTORS[suffix]
            value = self.op("and", self.op("lshr", value, i32(shift)), i32(mask))
        if operand.absolute:
            value = self.call("i32", "llvm.abs.i32", value, FALSE)
        if operand.inverted:
            value = self.invert(value)
        return self.op("sub", i32(0), value) if operand.negated else value

    def carrying(self, operand: Operand) -> Value:
        """The 64-bit term that an operand adds in a sum with carry: -x is ~x + 1."""
        if isinstance(operand, Register | Constant) and operand.negated:
            flipped = self.cast("zext", self.invert(self.bits(operand)), "i64")
            return self.op("add", flipped, i64(1))
        return self.cast("zext", self.integer(operand), "i64")

    def wide(self, operand: Operand, *, signed: bool = False) -> Value:
        """64 bits: a register pair, two words of a constant bank, or an extended literal."""
        if isinstance(operand, Immediate):
            number = operand.integer
            sign_extends = signed and 0x80000000 <= number <= 0xFFFFFFFF
            return i64(number - (1 << 32) if sign_extends else number)
        value = self.pair(self.bits(operand), self.bits(operand, 1))
        if isinstance(operand, Register | Constant):
            self._plain(operand)
            if operand.inverted:
                return self.invert(value)
            if operand.negated:
                return self.op("sub", i64(0), value)
        return value

    def float32(self, operand: Operand) -> Value:
        """A single-precision operand with its sign modifiers."""
        if isinstance(operand, Immediate):
            return float_bits(_float32_bits(operand))
        value = self.cast("bitcast", self.bits(operand), "float")
        return self._signed_float(operand, value, "f32")

    def float64(self, operand: Operand) -> Value:
        """A double-precision operand with its sign modifiers."""
        if isinstance(operand, Immediate):
            return double_bits(_float64_bits(operand))
        pair = self.pair(self.bits(operand), self.bits(operand, 1))
        return self._signed_float(operand, self.cast("bitcast", pair, "double"), "f64")

    def _signed_float(self, operand: Operand, value: Value, kind: str) -> Value:
        if isinstance(operand, Register | Constant):
            self._plain(operand)
            if operand.inverted:
                raise UnknownForm(str(operand), "inverted floating-point operand")
            if operand.absolute:
                value = self.call(value.type, f"llvm.fabs.{kind}", value)
            if operand.negated:
                value = self.fneg(value)
        return value

    def _plain(self, operand: Register | Constant) -> None:
        if operand.suffixes:
            raise UnknownForm(str(operand), f"selector {operand.suffixes}")

    def _constant_index(self, operand: Constant) -> Value | None:
        if operand.index is None:
            return None
        value = self.register(operand.index)
        for suffix in operand.index.suffixes:
            if suffix not in _SCALE:
                raise UnknownForm(str(operand), f"index {suffix}")
            value = self.op("shl", value, i32(_SCALE[suffix]))
        return value


def _float32_bits(literal: Immediate) -> int:
    if literal.is_bits:
        return literal.integer
    if "NAN" in literal.text:
        return 0xFFFFFFFF if literal.text.startswith("-") else 0x7FFFFFFF
    number = _SPECIAL_FLOATS.get(literal.text)
    packed = struct.pack("<f", float(literal.text) if number is None else number)
    return int.from_bytes(packed, "little")


def _float64_bits(literal: Immediate) -> int:
    """A literal of a double is its high word: the low one is zero."""
    if literal.is_bits:
        return literal.integer << 32
    if "NAN" in literal.text:
        return (0xFFF8 if literal.text.startswith("-") else 0x7FF8) << 48
    number = _SPECIAL_FLOATS.get(literal.text)
    packed = struct.pack("<d", float(literal.text) if number is None else number)
    return int.from_bytes(packed, "little")
