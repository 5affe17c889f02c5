"""The state of one SASS thread while its code becomes IR: registers, predicates, constant banks.

Registers live in allocas between blocks, which LLVM's mem2reg removes, and in ``_cached`` within a
block, so that a block loads each register once and stores it once.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from cass_ray.lift.errors import UnknownForm
from cass_ray.lift.frontend.instruction import Instruction
from cass_ray.lift.frontend.operands import Constant, Immediate, Name, Operand, Predicate, Register
from cass_ray.lift.llvm.builder import FALSE, TRUE, Value, Writer, double_bits, float_bits, i32, i64
from cass_ray.lift.lowering.environment import Environment

if TYPE_CHECKING:
    from cass_ray.lift.frontend.code import Code
    from cass_ray.lift.lowering.liveness import Access
    from cass_ray.lift.lowering.semantics.carry import LowHalf

_SELECTORS = {
    **{f"B{n}": (8 * n, 0xFF) for n in range(4)},
    **{f"H{n}": (16 * n, 0xFFFF) for n in range(2)},
}
_SPECIAL_FLOATS = {
    "+INF": float("inf"),
    "INF": float("inf"),
    "-INF": float("-inf"),
}
_HALVES = {"H0": 0, "H0_H0": 0, "H1": 16, "H1_H1": 16}
_SCALE = {"X2": 1, "X4": 2, "X8": 3, "X16": 4}
_UPPER = ".upper"
"""After a register's name: the variable with the high half of the handle that it holds."""


class Thread(Writer):
    """Writes what instructions do to one thread."""

    def __init__(self, environment: Environment) -> None:
        super().__init__()
        self.environment = environment
        self.slots: dict[str, str] = {}
        """Register -> LLVM type, of every register that needs an alloca."""
        self._cached: dict[str, Value] = {}
        self._written: set[str] = set()
        self._overlay: dict[str, Value] | None = None
        """Results so far of instructions that a guard may drop."""
        self.low_halves: dict[Value, LowHalf] = {}
        """Carry of a sum of words -> the sum, for the sum of the high words."""
        self.comparisons: dict[Value, tuple[str, Value, Value]] = {}
        """Result of an unsigned comparison of words -> condition and words, for wider integers."""
        self._floats: dict[str, Value] = {}
        """Name of a word -> the number that it was cast from."""
        self.normal: set[str] = set()
        """Names of numbers that came from integers: they are not denormal."""
        self.access: Access | None = None
        """Where to record what the instruction that is being lifted reads and writes."""
        self.code: Code | None = None
        """The section that is being lifted."""
        self.traps = False
        """Whether the block ``trap`` is needed."""
        self.upper_words: dict[str, Value] = {}
        """Name of a word -> what is next to it in memory, where handles of 64 bits matter."""

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
    def dropping_results_unless(self, guard: Value, unneeded: frozenset[str]) -> Iterator[None]:
        """Inside, what is written to registers takes effect only where ``guard`` holds.

        Code inside reads its own results: what it makes of them is dropped with them. Registers
        that are ``unneeded`` where the guard does not hold get their results anyway.
        """
        self._overlay = {}
        yield
        made, self._overlay = self._overlay, None
        for name, value in made.items():
            if name not in unneeded:
                self._put(name, self.select(guard, value, self.slot(name, value.type)))
            else:
                self._put(name, value)

    @contextmanager
    def skipped_unless(
        self, guard: Value, unneeded: frozenset[str] = frozenset()
    ) -> Iterator[None]:
        """Inside, code runs only where ``guard`` holds.

        Where it does not, registers that are ``unneeded`` then hold nothing in particular.
        """
        for name in sorted(unneeded):
            kind = "i1" if "P" in name else "i32"
            self.slot(name, kind)  # what the code inside may read
            self._written.discard(name)
        self.flush()
        for name in sorted(unneeded):
            self.line(f"store {self._cached[name].type} poison, ptr addrspace(5) %{name}")
        number = self.fresh()
        self.line(f"br {guard}, label %do{number}, label %skip{number}")
        before = dict(self._cached)
        self.lines.append(f"do{number}:")
        yield
        changed = self._written | unneeded
        self.flush()
        self.line(f"br label %skip{number}")
        self.lines.append(f"skip{number}:")
        self._cached = {name: value for name, value in before.items() if name not in changed}

    def forget(self) -> None:
        """Store everything and trust nothing cached, around blocks that semantics write."""
        self.flush()
        self._cached.clear()

    def must_flush(self, i: Instruction) -> bool:
        """Whether the instruction flushes denormal numbers and the kernel's mode does not."""
        return i.has("FTZ") and not self.environment.flushes_denormals

    def code_address(self, i: Instruction) -> Value:
        """The number of the code at a label operand, else of the instruction itself."""
        assert self.code is not None
        address = i.address
        for operand in i.operands[1:]:
            if isinstance(operand, Name) and operand.text in self.code.function.labels:
                address = self.code.function.labels[operand.text]
            else:
                raise i.unknown("not a place in the function")
        return i64(self.environment.program.address(self.code, address))

    def is_normal(self, value: Value) -> bool:
        """Whether ``value`` is known to be no denormal number."""
        return value.name in self.normal

    # Ends of blocks

    def jump(self, label: str) -> None:
        """Go to a block."""
        self.flush()
        self.line(f"br {label}")

    def branch(self, condition: Value, yes: str, no: Callable[[], str]) -> None:
        """Go to one of two blocks; ``no`` names the second if it is ever reached."""
        if condition == TRUE:
            self.jump(yes)
            return
        self.flush()
        self.line(f"br {condition}, {yes}, {no()}")

    @contextmanager
    def leaving_if(self, condition: Value, following: Callable[[], str]) -> Iterator[None]:
        """Inside, write the end of the block for where ``condition`` holds; else go on."""
        if condition != TRUE:
            self.flush()
            label = f"leave{self.fresh()}"
            self.line(f"br {condition}, label %{label}, {following()}")
            self.lines.append(f"{label}:")
        yield

    @contextmanager
    def alternative(self, label: str) -> Iterator[None]:
        """Inside, write one of several blocks that follow the present one, with what it knows."""
        known = dict(self._cached)
        self.lines.append(f"{label}:")
        yield
        self._cached = known

    def switch(self, value: Value, cases: list[str]) -> None:
        """Go where ``value`` says; a value that is none of the cases ends the program."""
        self.flush()
        self.line(f"switch {value}, label %{self.trap_label()} [ {' '.join(cases)} ]")

    def jump_expecting(self, address: Value, expected: Value, label: str) -> None:
        """Go to ``label``, where ``address`` must lead; anything else ends the program."""
        self.flush()
        if address == expected:
            self.line(f"br {label}")
        else:
            same = self.icmp("eq", address, expected)
            self.line(f"br {same}, {label}, label %{self.trap_label()}")

    def trap(self) -> None:
        """End the program with an error."""
        self.flush()
        self.line(f"br label %{self.trap_label()}")

    def trap_label(self) -> str:
        """The block that ends the program."""
        self.traps = True
        return "trap"

    # Registers

    def slot(self, name: str, kind: str) -> Value:
        """The value of a register or other per-thread variable."""
        if self.access is not None:
            self.access.reads.add(name)
        if self._overlay is not None and name in self._overlay:
            return self._overlay[name]
        if name not in self._cached:
            self.slots[name] = kind
            self._cached[name] = self.result(kind, f"load {kind}, ptr addrspace(5) %{name}")
            if self._has_upper_word(name):
                self.upper_words[self._cached[name].name] = self.slot(f"{name}{_UPPER}", "i32")
        return self._cached[name]

    def set_slot(self, name: str, value: Value) -> None:
        """Change a register, and what is known of the word that belongs above its own."""
        self._put(name, value)
        if self._has_upper_word(name):
            self._put(f"{name}{_UPPER}", self.upper_words.get(value.name, i32(0)))

    def _has_upper_word(self, name: str) -> bool:
        return self.environment.uses_handles and "R" in name and not name.endswith(_UPPER)

    def upper_word(self, word: Value) -> Value | None:
        """The high half of the 64-bit handle of which ``word`` is the low one."""
        return self.upper_words.get(word.name)

    def select(self, condition: Value, yes: Value, no: Value) -> Value:
        """``condition ? yes : no``."""
        chosen = super().select(condition, yes, no)
        above = [self.upper_words.get(value.name) for value in (yes, no)]
        if above[0] is not None and above[1] is not None and chosen not in (yes, no):
            self.upper_words[chosen.name] = super().select(condition, above[0], above[1])
        return chosen

    def _put(self, name: str, value: Value) -> None:
        if self.access is not None:
            self.access.writes.add(name)
        self.slots[name] = value.type
        if self._overlay is not None:
            self._overlay[name] = value
            return
        self._cached[name] = value
        self._written.add(name)

    def replace(self, target: Operand, old: Value, new: Value) -> None:
        """Give a register another spelling of the value that it has; nothing if it has changed."""
        if isinstance(target, Register) and not target.is_zero:
            known = self._cached if self._overlay is None else self._overlay
            if known.get(target.name) == old:
                access, self.access = self.access, None
                self.set_slot(target.name, new)
                self.access = access

    def register(self, register: Register) -> Value:
        """All 32 bits of a register, without its modifiers."""
        return i32(0) if register.is_zero else self.slot(register.name, "i32")

    def write(self, target: Operand, value: Value) -> None:
        """Set a 32-bit register."""
        if not isinstance(target, Register):
            raise UnknownForm(str(target), "a destination that is no register")
        if not target.is_zero:
            word = self.cast("bitcast", value, "i32")
            if value.type == "float":
                self._floats[word.name] = value
            self.set_slot(target.name, word)

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
            index = self.constant_index(operand)
            return self.environment.constant(self, operand.bank, operand.offset + 4 * word, index)
        if isinstance(operand, Immediate):
            if not operand.is_bits and operand.text != "0":
                raise UnknownForm(operand.text, "a floating-point literal as an integer")
            number = operand.integer
            return i32(number >> 32 * word if word else number)
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

    def plain_integer(self, operand: Register | Constant) -> Value:
        """32 bits with selection applied and without sign and inversion."""
        return self.integer(replace(operand, negated=False, inverted=False))

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
        word = self.bits(operand)
        value = self._floats.get(word.name)
        if value is None:
            value = self.cast("bitcast", word, "float")
        return self._signed_float(operand, value, "f32")

    def float64(self, operand: Operand) -> Value:
        """A double-precision operand with its sign modifiers."""
        if isinstance(operand, Immediate):
            return double_bits(float64_bits(operand))
        pair = self.pair(self.bits(operand), self.bits(operand, 1))
        return self._signed_float(operand, self.cast("bitcast", pair, "double"), "f64")

    def float64_from_high_word(self, operand: Operand, *, flush: bool = False) -> Value:
        """The double whose high word is the operand, with its sign modifiers.

        With ``flush`` a denormal number becomes a zero of its sign.
        """
        word = self.bits(operand)
        if flush:
            exponent = self.op("and", word, i32(0x7FF00000))
            sign = self.op("and", word, i32(0x80000000))
            word = self.select(self.icmp("eq", exponent, i32(0)), sign, word)
        pair = self.pair(i32(0), word)
        return self._signed_float(operand, self.cast("bitcast", pair, "double"), "f64")

    def half(self, operand: Operand, kind: str = "half") -> Value:
        """A half-precision operand: the low half of a word, or the half that a selector names."""
        if not isinstance(operand, Register | Constant):
            raise UnknownForm(str(operand), "not a register with a half in it")
        shift = 0
        for suffix in operand.suffixes:
            if suffix not in _HALVES:
                raise UnknownForm(str(operand), f"selector {suffix}")
            shift = _HALVES[suffix]
        word = self.op("lshr", self.bits(operand), i32(shift))
        value = self.cast("bitcast", self.cast("trunc", word, "i16"), kind)
        if operand.inverted:
            raise UnknownForm(str(operand), "inverted floating-point operand")
        if operand.absolute:
            name = "llvm.fabs.bf16" if kind == "bfloat" else "llvm.fabs.f16"
            value = self.call(kind, name, value)
        return self.fneg(value) if operand.negated else value

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

    def constant_index(self, operand: Constant) -> Value | None:
        """What a register adds to the place in a constant bank."""
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


def float64_bits(literal: Immediate) -> int:
    """A literal of a double is its high word: the low one is zero."""
    if literal.is_bits:
        return literal.integer << 32
    if "NAN" in literal.text:
        return (0xFFF8 if literal.text.startswith("-") else 0x7FF8) << 48
    number = _SPECIAL_FLOATS.get(literal.text)
    packed = struct.pack("<d", float(literal.text) if number is None else number)
    return int.from_bytes(packed, "little")
