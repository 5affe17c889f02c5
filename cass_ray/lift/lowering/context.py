"""What one SASS instruction is lowered in: its operands as values, and what is known so far.

The context writes through an IR builder and keeps one tracker for each thing that outlives an
instruction: registers, high words of handles, carries and comparisons of low halves, numbers.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, replace

from cass_ray.lift.analysis.liveness import CodePlace, RegisterAccess
from cass_ray.lift.convergence.mask_groups import MaskGroups, mask_groups
from cass_ray.lift.convergence.schedule import WaveSchedule
from cass_ray.lift.errors import LifterBug, LiftError, UnknownForm
from cass_ray.lift.frontend.code import CodeSection
from cass_ray.lift.frontend.instruction import DecodedInstruction
from cass_ray.lift.frontend.operands import Constant, Immediate, Name, Operand, Predicate, Register
from cass_ray.lift.llvm.builder import (
    FALSE,
    TRUE,
    IRBuilder,
    LlvmFunction,
    Value,
    double_bits,
    float_bits,
    i32,
    i64,
)
from cass_ray.lift.lowering.constant_banks import ConstantBanks
from cass_ray.lift.lowering.environment import KernelEnvironment
from cass_ray.lift.lowering.handles import HandleWords
from cass_ray.lift.lowering.known_values import FloatValues, LowComparison, LowSum
from cass_ray.lift.lowering.registers import RegisterFile
from cass_ray.lift.lowering.scheduling.lane_scheduler import LaneScheduler
from cass_ray.lift.lowering.scheduling.warp_scheduler import WarpScheduler
from cass_ray.lift.lowering.terminators import Terminators

GROUP = "group"
"""The variable with the lanes that do collectives with the lane (``convergence.mask_groups``)."""
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


class LoweringContext:
    """Writes what the instructions of one kernel do to one thread."""

    def __init__(self, environment: KernelEnvironment, schedule: WaveSchedule) -> None:
        self.environment = environment
        self.ir = IRBuilder()
        self.handles = HandleWords(self.ir, tracked=environment.uses_handles)
        self.registers = RegisterFile(self.ir, self.handles, environment.target.wave_lanes)
        self.lane_scheduler = (
            LaneScheduler(self.ir, self.registers, environment.target, schedule.lanes)
            if schedule.lanes is not None
            else None
        )
        self.scheduler = (
            self.lane_scheduler
            if schedule.warps is None
            else WarpScheduler(self.ir, self.registers)
        )
        self.terminators = Terminators(self.ir, self.registers, self.scheduler)
        self.banks = ConstantBanks(environment, self.ir, self.handles)
        self.carries: dict[Value, LowSum] = {}
        """Carry of a sum of words -> that sum."""
        self.comparisons: dict[Value, LowComparison] = {}
        """Result of a comparison of words -> that comparison."""
        self.floats = FloatValues()
        self._mask_groups: dict[str, MaskGroups] = {}
        """Groups of each section of code."""
        self._section: CodeSection | None = None
        self._guard: Predicate | None = None
        self._place: CodePlace = ("", 0)

    def enter(self, function: LlvmFunction) -> None:
        """Go on in another function of the kernel's code, with a new block."""
        self.ir.enter(function)
        self.registers.enter(function)

    def lowering(
        self, section: CodeSection, access: RegisterAccess, i: DecodedInstruction
    ) -> LoweredInstruction:
        """Inside, ``i`` of ``section`` is lowered: ``access`` records what it touches, and errors
        name it."""
        self._section = section
        self._guard = i.guard
        self._place = section.name, i.address
        self.registers.access = access
        return LoweredInstruction(self, section, i)

    def place(self, i: DecodedInstruction) -> CodePlace:
        return (self._section.name if self._section is not None else "", i.address)

    def end(self) -> None:
        """The instruction is lowered, or cannot be."""
        self._section = None
        self.registers.access = None

    # Questions about the instruction

    def must_flush(self, i: DecodedInstruction) -> bool:
        """Whether the instruction flushes denormal numbers and the kernel's mode does not."""
        return i.has("FTZ") and not self.environment.flushes_denormals

    def code_address(self, i: DecodedInstruction) -> Value:
        """The number of the code at a label operand, else of the instruction itself."""
        if self._section is None:
            raise RuntimeError("code_address outside of lowering()")
        labels = self._section.function.labels
        address = i.address
        for operand in i.operands[1:]:
            if isinstance(operand, Name) and operand.text in labels:
                address = labels[operand.text]
            else:
                raise i.unknown("not a place in the function")
        return i64(self.environment.program.address(self._section, address))

    def select(self, condition: Value, yes: Value, no: Value) -> Value:
        """``condition ? yes : no``, which may be low words of handles."""
        return self.handles.select(condition, yes, no)

    def mask_groups(self) -> MaskGroups | None:
        """Groups in the code of the instruction; None where lanes are scheduled independently, each
        by itself."""
        name, _ = self._place
        if self.lane_scheduler is not None or not name:
            return None
        if name not in self._mask_groups:
            self._mask_groups[name] = mask_groups(self.environment.program.code(name))
        return self._mask_groups[name]

    def group(self) -> Value | None:
        """The lanes that do the collective; None for all that are active."""
        groups = self.mask_groups()
        if groups is None or self._place[1] not in groups.members:
            return None
        group = self.registers.read(GROUP, "i32")
        return None if group == i32(-1) else group

    # Registers

    def register(self, register: Register) -> Value:
        """All 32 bits of a register, without its modifiers."""
        return i32(0) if register.is_zero else self.registers.read(register.name, "i32")

    def respell(self, target: Operand, old: Value, new: Value) -> None:
        """Give a register another spelling of the value that it has; nothing if it has changed."""
        if isinstance(target, Register) and not target.is_zero:
            self.registers.respell(target.name, old, new)

    def write(self, target: Operand, value: Value) -> None:
        """Set a register to 32 bits: a word, or a ``float``. RZ drops it.

        Raises :class:`UnknownForm` where ``target`` is no register, as all that write do.
        """
        if not isinstance(target, Register):
            raise UnknownForm(str(target), "a destination that is no register")
        if not target.is_zero:
            word = self.ir.cast("bitcast", value, "i32")
            if value.type == "float":
                self.floats.remember(word, value)
            self.registers.write(target.name, word)

    def write_wide(self, target: Operand, value: Value) -> None:
        """Set a register and the following one to 64 bits, the low word first."""
        if not isinstance(target, Register):
            raise UnknownForm(str(target), "a destination that is no register")
        value = self.ir.cast("bitcast", value, "i64")
        self.write(target, self.ir.low(value))
        self.write(target.following(1), self.ir.high(value))

    def write_words(self, target: Operand, words: list[Value]) -> None:
        """Set ``target`` and the registers after it, one word each."""
        if not isinstance(target, Register):
            raise UnknownForm(str(target), "a destination that is no register")
        for distance, word in enumerate(words):
            self.write(target.following(distance), word)

    def predicate(self, operand: Operand) -> Value:
        if not isinstance(operand, Predicate):
            raise UnknownForm(str(operand), "not a predicate")
        if operand.index is None:
            return FALSE if operand.inverted else TRUE
        value = self.registers.read(operand.name, "i1")
        return self.ir.invert(value) if operand.inverted else value

    def condition_of(self, i: DecodedInstruction) -> Value:
        """When control goes where ``i`` says: its guard and its predicate operands.

        That of a reduction over a block (``BAR.RED``) is what it counts.
        """
        condition = TRUE
        operands = () if i.opcode == "BAR" else i.operands
        for operand in (i.guard, *operands):
            if isinstance(operand, Predicate):
                condition = self.ir.both(condition, self.predicate(operand))
        return condition

    def write_predicate(self, target: Operand, value: Value) -> None:
        """Set a predicate; PT drops it. Raises :class:`UnknownForm` for anything else."""
        if not isinstance(target, Predicate) or target.inverted:
            raise UnknownForm(str(target), "a destination that is no predicate")
        if target.index is not None:
            self.registers.write(target.name, value)

    # Source operands

    def bits(self, operand: Operand, word: int = 0) -> Value:
        """32 bits of an operand without its modifiers; ``word`` counts upwards."""
        if isinstance(operand, Register):
            return self.register(operand.following(word) if word else operand)
        if isinstance(operand, Constant):
            index = self.constant_index(operand)
            return self.banks.word(operand.bank, operand.offset + 4 * word, index)
        if isinstance(operand, Immediate):
            if not operand.is_bits and operand.text != "0":
                raise UnknownForm(operand.text, "a floating-point literal as an integer")
            number = operand.integer
            return i32(number >> 32 * word if word else number)
        if isinstance(operand, Name) and (value := self.banks.symbol(operand.text)):
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
            value = self.ir.op("and", self.ir.op("lshr", value, i32(shift)), i32(mask))
        if operand.absolute:
            value = self.ir.call("i32", "llvm.abs.i32", value, FALSE)
        if operand.inverted:
            value = self.ir.invert(value)
        return self.ir.op("sub", i32(0), value) if operand.negated else value

    def plain_integer(self, operand: Register | Constant) -> Value:
        """32 bits with selection applied and without sign and inversion."""
        return self.integer(replace(operand, negated=False, inverted=False))

    def wide(self, operand: Operand, *, signed: bool = False) -> Value:
        """64 bits: a register pair, two words of a constant bank, or an extended literal."""
        if isinstance(operand, Immediate):
            number = operand.integer
            sign_extends = signed and 0x80000000 <= number <= 0xFFFFFFFF
            return i64(number - (1 << 32) if sign_extends else number)
        value = self.ir.pair(self.bits(operand), self.bits(operand, 1))
        if isinstance(operand, Register | Constant):
            self._plain(operand)
            if operand.inverted:
                return self.ir.invert(value)
            if operand.negated:
                return self.ir.op("sub", i64(0), value)
        return value

    def wide_literal_or_register(self, operand: Operand) -> Value:
        """64 bits, of instructions whose literals have 32 and are printed with their sign.

        Raises :class:`UnknownForm` for one of which it is not known how it is extended.
        """
        if isinstance(operand, Immediate) and 0x80000000 <= operand.integer <= 0xFFFFFFFF:
            raise UnknownForm(operand.text, "a literal of which the extension is not known")
        return self.wide(operand)

    def float32(self, operand: Operand) -> Value:
        """A single-precision operand with its sign modifiers."""
        if isinstance(operand, Immediate):
            return float_bits(float32_bits(operand))
        word = self.bits(operand)
        value = self.floats.number_in(word)
        if value is None:
            value = self.ir.cast("bitcast", word, "float")
        return self._signed_float(operand, value, "f32")

    def float64(self, operand: Operand) -> Value:
        """A double-precision operand with its sign modifiers."""
        if isinstance(operand, Immediate):
            return double_bits(float64_bits(operand))
        value = self.ir.double_of(self.bits(operand), self.bits(operand, 1))
        return self._signed_float(operand, value, "f64")

    def float64_from_high_word(self, operand: Operand, *, flush: bool = False) -> Value:
        """The double whose high word is the operand, with its sign modifiers.

        With ``flush`` a denormal number becomes a zero of its sign.
        """
        word = self.bits(operand)
        if flush:
            exponent = self.ir.op("and", word, i32(0x7FF00000))
            sign = self.ir.op("and", word, i32(0x80000000))
            word = self.select(self.ir.icmp("eq", exponent, i32(0)), sign, word)
        pair = self.ir.pair(i32(0), word)
        return self._signed_float(operand, self.ir.cast("bitcast", pair, "double"), "f64")

    def half(self, operand: Operand, kind: str = "half") -> Value:
        """A half-precision operand: a literal, the low half of a word, or the one that a selector
        names; ``kind``: half or bfloat."""
        if isinstance(operand, Immediate) and not operand.is_bits:
            bits = Value("i16", str(half_bits(operand, kind)))
            return self.ir.cast("bitcast", bits, kind)
        if not isinstance(operand, Register | Constant):
            raise UnknownForm(str(operand), "not a register with a half in it")
        shift = 0
        for suffix in operand.suffixes:
            if suffix not in _HALVES:
                raise UnknownForm(str(operand), f"selector {suffix}")
            shift = _HALVES[suffix]
        word = self.ir.op("lshr", self.bits(operand), i32(shift))
        value = self.ir.cast("bitcast", self.ir.cast("trunc", word, "i16"), kind)
        if operand.inverted:
            raise UnknownForm(str(operand), "inverted floating-point operand")
        if operand.absolute:
            name = "llvm.fabs.bf16" if kind == "bfloat" else "llvm.fabs.f16"
            value = self.ir.call(kind, name, value)
        return self.ir.fneg(value) if operand.negated else value

    def _signed_float(self, operand: Operand, value: Value, kind: str) -> Value:
        if isinstance(operand, Register | Constant):
            self._plain(operand)
            if operand.inverted:
                raise UnknownForm(str(operand), "inverted floating-point operand")
            if operand.absolute:
                value = self.ir.call(value.type, f"llvm.fabs.{kind}", value)
            if operand.negated:
                value = self.ir.fneg(value)
        return value

    def _plain(self, operand: Register | Constant) -> None:
        if operand.suffixes:
            raise UnknownForm(str(operand), f"selector {operand.suffixes}")

    def constant_index(self, operand: Constant) -> Value | None:
        """What a register adds to the place in a constant bank.

        Where the instruction's guard does not hold the register may have any value: the place is
        then the bank's first (of bank 0 the first parameter).
        """
        if operand.index is None:
            return None
        value = self.register(operand.index)
        for suffix in operand.index.suffixes:
            if suffix not in _SCALE:
                raise UnknownForm(str(operand), f"index {suffix}")
            value = self.ir.op("shl", value, i32(_SCALE[suffix]))
        if self._guard is not None:
            first = self.environment.kernel.parameter_base if operand.bank == 0 else 0
            safe = i32(first - operand.offset)
            value = self.ir.select(self.predicate(self._guard), value, safe)
        return value


@dataclass(slots=True)
class LoweredInstruction:
    """The context in which one instruction is lowered, until it is left; errors name it.

    No generator: there is one for each instruction of a kernel.
    """

    context: LoweringContext
    code: CodeSection
    instruction: DecodedInstruction

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: object
    ) -> None:
        self.context.end()
        if error is None:
            return
        place = self.instruction.text, self.code.name, self.instruction.address
        if isinstance(error, UnknownForm):
            raise error.at(*place) from None
        if isinstance(error, Exception) and not isinstance(error, LiftError):
            raise LifterBug(*place) from error


def float32_bits(literal: Immediate) -> int:
    """The bits of a single-precision literal."""
    if literal.is_bits:
        return literal.integer
    if "NAN" in literal.text:
        return 0xFFFFFFFF if literal.text.startswith("-") else 0x7FFFFFFF
    number = _SPECIAL_FLOATS.get(literal.text)
    packed = struct.pack("<f", float(literal.text) if number is None else number)
    return int.from_bytes(packed, "little")


def half_bits(literal: Immediate, kind: str) -> int:
    """The bits of a literal that is printed as a number of 16 bits; ``kind``: half or bfloat."""
    if "NAN" in literal.text:
        return 0xFFFF if literal.text.startswith("-") else 0x7FFF
    if kind == "bfloat":
        return float32_bits(literal) >> 16
    number = _SPECIAL_FLOATS.get(literal.text)
    packed = struct.pack("<e", float(literal.text) if number is None else number)
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
