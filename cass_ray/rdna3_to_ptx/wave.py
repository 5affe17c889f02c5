"""The state of one wave as PTX: a warp whose threads each hold all scalar registers.

Scalar registers and EXEC have the same value in every thread, and every branch depends on them
alone, so that the warp never diverges. ``%act`` is the thread's own bit of EXEC; results of vector
instructions are kept only where it holds.
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from cass_ray.rdna3_to_ptx.errors import UnknownInstruction
from cass_ray.rdna3_to_ptx.operands import Literal, Rdna3Operand, Rdna3Register, Symbol

_PREFIXES = {"b32": "t", "b64": "x", "f32": "f", "f64": "g", "b16": "h", "pred": "p"}


class Wave:
    """Writes PTX for one kernel: a thread is a lane, and EXEC, VCC and SCC are variables."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.registers: set[str] = {"exec", "vcc_lo", "vcc_hi", "m0"}
        self.symbols: set[str] = set()
        self.guard = "%act"
        self._counts: Counter[str] = Counter()
        self._deferred: list[str] | None = None

    # Text

    def line(self, text: str) -> None:
        """One statement without its semicolon."""
        self.lines.append(f"  {text};")

    def temporary(self, kind: str = "b32") -> str:
        self._counts[kind] += 1
        return f"%{_PREFIXES[kind]}{self._counts[kind]}"

    def result(self, kind: str, statement: str) -> str:
        """A new register set by ``statement``, in which {d} stands for it."""
        target = self.temporary(kind)
        self.line(statement.format(d=target))
        return target

    def declarations(self) -> Iterator[str]:
        for kind, count in sorted(self._counts.items()):
            yield f"  .reg .{kind} %{_PREFIXES[kind]}<{count + 1}>;"
        for name in sorted(self.registers):
            yield f"  .reg .b32 %{name};"

    @contextmanager
    def together(self) -> Iterator[None]:
        """Inside, results are kept back to the end: both halves of a dual issue read first."""
        self._deferred = []
        yield
        self.lines += self._deferred
        self._deferred = None

    # Reading

    def name(self, register: str) -> str:
        """The PTX register of ``s4``, ``v0``, ``exec`` …; one that reads as zero is a literal."""
        if register in ("null", "zero"):
            return "0"
        self.registers.add(register)
        return f"%{register}"

    def bits32(self, operand: Rdna3Operand, word: int = 0) -> str:
        """32 bits without modifiers; ``word`` counts upwards."""
        if isinstance(operand, Rdna3Register):
            if word >= len(operand.names):
                raise UnknownInstruction(str(operand.names), "too few registers")
            return self.name(operand.names[word])
        if isinstance(operand, Literal):
            return f"0x{operand.bits(64) >> 32 * word & 0xFFFFFFFF if word else operand.bits(32):X}"
        if isinstance(operand, Symbol):
            return self._address_half(operand)
        raise UnknownInstruction(str(operand), "no value")

    def float32(self, operand: Rdna3Operand) -> str:
        """A single-precision value with its modifiers."""
        if isinstance(operand, Literal):
            return f"0f{_signed(operand, operand.bits(32), 32):08X}"
        return self._with_sign(operand, self.bits32(operand))

    def float16(self, operand: Rdna3Operand, *, high: bool = False) -> str:
        """A half-precision value, in a register of 16 bits."""
        if isinstance(operand, Literal):
            bits = _signed(operand, operand.bits(16), 16)
            return self.result("b16", f"mov.b16 {{d}}, 0x{bits:X}")
        value = self.temporary("b16")
        source = self.result("b32", f"mov.b32 {{d}}, {self.bits32(operand)}")
        self.line(
            f"mov.b32 {{_, {value}}}, {source}" if high else f"mov.b32 {{{value}, _}}, {source}"
        )
        assert isinstance(operand, Rdna3Register)
        if operand.absolute:
            value = self.result("b16", f"and.b16 {{d}}, {value}, 0x7FFF")
        return self.result("b16", f"xor.b16 {{d}}, {value}, 0x8000") if operand.negated else value

    def bits64(self, operand: Rdna3Operand) -> str:
        """64 bits of a register pair or an integer constant."""
        if isinstance(operand, Literal):
            return self.result("b64", f"mov.b64 {{d}}, 0x{operand.bits(64):X}")
        low, high = self.bits32(operand), self.bits32(operand, 1)
        result = self.temporary("b64")
        self.line(f"mov.b64 {result}, {{{low}, {high}}}")
        return result

    def float64(self, operand: Rdna3Operand) -> str:
        if isinstance(operand, Literal):
            return f"0d{_signed(operand, operand.double_bits(), 64):016X}"
        value = self.bits64(operand)
        assert isinstance(operand, Rdna3Register)
        if operand.absolute:
            value = self.result("b64", f"and.b64 {{d}}, {value}, 0x7FFFFFFFFFFFFFFF")
        if operand.negated:
            value = self.result("b64", f"xor.b64 {{d}}, {value}, 0x8000000000000000")
        return value

    def _with_sign(self, operand: Rdna3Operand, value: str) -> str:
        if isinstance(operand, Rdna3Register):
            if operand.absolute:
                value = self.result("b32", f"and.b32 {{d}}, {value}, 0x7FFFFFFF")
            if operand.negated:
                value = self.result("b32", f"xor.b32 {{d}}, {value}, 0x80000000")
        return value

    def lane_bit(self, operand: Rdna3Operand) -> str:
        """A predicate: this lane's bit of a mask."""
        shifted = self.result("b32", f"shr.u32 {{d}}, {self.bits32(operand)}, %lane")
        bit = self.result("b32", f"and.b32 {{d}}, {shifted}, 1")
        return self.result("pred", f"setp.ne.u32 {{d}}, {bit}, 0")

    def _address_half(self, symbol: Symbol) -> str:
        name = symbol.name
        if symbol.through_table:
            raise UnknownInstruction(name, "an address from the global offset table")
        self.symbols.add(name)
        address = self.result("b64", f"mov.u64 {{d}}, {ptx_name(name)}")
        address = self.result("b64", f"add.s64 {{d}}, {address}, {symbol.added}")
        if symbol.high:
            address = self.result("b64", f"shr.u64 {{d}}, {address}, 32")
        return self.result("b32", f"cvt.u32.u64 {{d}}, {address}")

    # Writing

    def write32(self, target: Rdna3Operand, value: str, word: int = 0) -> None:
        """Set a register: a vector one where the guard holds."""
        if not isinstance(target, Rdna3Register) or word >= len(target.names):
            raise UnknownInstruction(str(target), "not a destination")
        if target.names[word] in ("null", "zero"):
            return
        guard = f"@{self.guard} " if target.is_vector else ""
        text = f"  {guard}mov.b32 {self.name(target.names[word])}, {value};"
        if self._deferred is not None:
            self._deferred.append(text)
            return
        self.lines.append(text)
        if target.names[word] == "exec":
            self.update_active()

    def write64(self, target: Rdna3Operand, value: str) -> None:
        low, high = self.temporary(), self.temporary()
        self.line(f"mov.b64 {{{low}, {high}}}, {value}")
        self.write32(target, low)
        self.write32(target, high, 1)

    def write_mask(self, target: Rdna3Operand, predicate: str) -> None:
        """Set a mask to the active lanes for which ``predicate`` holds."""
        held = self.result("pred", f"and.pred {{d}}, {predicate}, %act")
        mask = self.result("b32", f"vote.sync.ballot.b32 {{d}}, {held}, %wave")
        self.write32(target, mask)
        if isinstance(target, Rdna3Register) and len(target.names) > 1 and not target.is_null:
            raise UnknownInstruction(str(target), "a mask of 64 lanes")

    def update_active(self) -> None:
        """Take the thread's bit of EXEC again."""
        shifted = self.result("b32", "shr.u32 {d}, %exec, %lane")
        bit = self.result("b32", f"and.b32 {{d}}, {shifted}, 1")
        self.line(f"setp.ne.u32 %act, {bit}, 0")

    def set_scc(self, predicate: str) -> None:
        self.line(f"mov.pred %scc, {predicate}")


def _signed(literal: Literal, bits: int, size: int) -> int:
    sign = 1 << size - 1
    if literal.absolute:
        bits &= ~sign
    return bits ^ sign if literal.negated else bits


def ptx_name(symbol: str) -> str:
    """A symbol's name in PTX, which allows no points."""
    return symbol.replace(".", "$")


def float_literal(value: float) -> str:
    """A single-precision constant in PTX."""
    return f"0f{struct.unpack('<I', struct.pack('<f', value))[0]:08X}"
