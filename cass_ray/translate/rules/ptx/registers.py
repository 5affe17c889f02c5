"""Registers of inline PTX as C++: operands, special registers, types and addresses."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

TYPES = {
    "u8": "unsigned char",
    "s8": "signed char",
    "b8": "unsigned char",
    "u16": "unsigned short",
    "s16": "short",
    "b16": "unsigned short",
    "u32": "unsigned int",
    "s32": "int",
    "b32": "unsigned int",
    "u64": "unsigned long long",
    "s64": "long long",
    "b64": "unsigned long long",
    "f32": "float",
    "f64": "double",
    "pred": "bool",
}

_LANE, _CLOCK = "cass::lane()", "cass::clock64()"
# 100 MHz on every AMD device since gfx9; CUDA's timer counts nanoseconds.
_NANOSECONDS = "(static_cast<unsigned long long>(wall_clock64()) * 10ull)"
SPECIAL = {
    "%laneid": _LANE,
    "%warpid": "((threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) / 32u)",
    "%lanemask_eq": f"(1u << {_LANE})",
    "%lanemask_lt": f"((1u << {_LANE}) - 1u)",
    "%lanemask_le": f"(0xffffffffu >> (31u - {_LANE}))",
    "%lanemask_gt": f"(0xfffffffeu << {_LANE})",
    "%lanemask_ge": f"(0xffffffffu << {_LANE})",
    "%clock": f"static_cast<unsigned int>({_CLOCK})",
    "%clock64": f"static_cast<unsigned long long>({_CLOCK})",
    "%clock_hi": f"static_cast<unsigned int>({_CLOCK} >> 32)",
    "%globaltimer": _NANOSECONDS,
    "%globaltimer_lo": f"static_cast<unsigned int>{_NANOSECONDS}",
    "%globaltimer_hi": f"static_cast<unsigned int>({_NANOSECONDS} >> 32)",
    "%smid": "__smid()",
    "WARP_SZ": "32u",
}
for _axis in "xyz":
    SPECIAL[f"%tid.{_axis}"] = f"threadIdx.{_axis}"
    SPECIAL[f"%ntid.{_axis}"] = f"blockDim.{_axis}"
    SPECIAL[f"%ctaid.{_axis}"] = f"blockIdx.{_axis}"
    SPECIAL[f"%nctaid.{_axis}"] = f"gridDim.{_axis}"

_FLOAT_HEX = re.compile(r"0[fF]([0-9a-fA-F]{8})\Z")
_DOUBLE_HEX = re.compile(r"0[dD]([0-9a-fA-F]{16})\Z")
INTEGER = re.compile(r"-?(?:0[xX][0-9a-fA-F]+|\d+)U?\Z")
_FLOAT = re.compile(r"-?\d+\.\d*(?:[eE][-+]?\d+)?\Z")
_ADDRESS = re.compile(r"\[\s*([^+\s\]]+)\s*(?:\+\s*(-?\w+)\s*)?\]\Z")


class UnknownInstructionError(Exception):
    """An instruction, a modifier or an operand that has no translation here."""


class OtherStatementError(UnknownInstructionError):
    """A register or the carry comes from another ``asm`` statement."""


@dataclass
class RegisterState:
    """Registers in scope (name -> PTX type and C++ name) and what the C++ needs beside itself."""

    registers: dict[str, tuple[str, str]] = field(default_factory=dict)
    snippets: set[str] = field(default_factory=set)
    uses_carry: bool = False
    sets_carry: bool = False
    declarations: dict[str, str] = field(default_factory=dict)
    """C++ name -> its declaration, of registers that the statement declares."""

    def read(self, operand: str, kind: str) -> str:
        """The value of ``operand`` as PTX type ``kind``."""
        if operand in self.registers:
            declared, name = self.registers[operand]
            return _convert(name, declared, kind)
        if operand in SPECIAL:
            if _LANE in SPECIAL[operand]:
                self.snippets.add("lane")
            if _CLOCK in SPECIAL[operand]:
                self.snippets.add("clock")
            return _convert(SPECIAL[operand], "u64" if "64" in operand else "u32", kind)
        if INTEGER.match(operand):
            return _literal(operand.rstrip("U"), kind)
        if (match := _FLOAT_HEX.match(operand)) and kind in {"f32", "b32"}:
            return _convert(f"0x{match[1]}u", "b32", kind)
        if (match := _DOUBLE_HEX.match(operand)) and kind in {"f64", "b64"}:
            return _convert(f"0x{match[1]}ull", "b64", kind)
        if _FLOAT.match(operand):
            return operand + ("f" if kind == "f32" else "")
        if operand.startswith("!") and kind == "pred":
            return f"!{self.read(operand[1:], kind)}"
        raise _not_declared(operand)

    def constant(self, operand: str) -> str:
        """The expression of an operand that the compiler knows (constraint ``n``)."""
        _, name = self.registers.get(operand, ("", ""))
        if not name.startswith("("):
            raise UnknownInstructionError(f"the operand {operand}, which is no constant")
        inside = name[1:-1].strip()
        return inside if inside.isdigit() else name

    def write(self, operand: str, kind: str, value: str) -> str:
        """The statement that stores ``value``, of PTX type ``kind``, in ``operand``."""
        if operand == "_":
            return f"(void)({value});"
        if operand not in self.registers:
            raise _not_declared(operand)
        declared, name = self.registers[operand]
        return f"{name} = {_convert(value, kind, declared)};"

    def pointer(self, operand: str, kind: str, space: str) -> str:
        """A C++ pointer for a memory operand ``[register+offset]``."""
        match = _ADDRESS.match(operand)
        if not match:
            raise UnknownInstructionError(f"the address {operand}")
        if space == "shared":
            self.snippets.add("space")
            address = self.shared_address(operand)
            return f"static_cast<{TYPES[kind]}*>(cass::from_shared_address({address}))"
        return f"reinterpret_cast<{TYPES[kind]}*>({self._address(match, 'u64')})"

    def shared_address(self, operand: str) -> str:
        """The 32-bit address of a memory operand in shared memory."""
        match = _ADDRESS.match(operand)
        if not match:
            raise UnknownInstructionError(f"the address {operand}")
        return self._address(match, "u32")

    def _address(self, match: re.Match[str], kind: str) -> str:
        offset = f" + {match[2]}" if match[2] and match[2] != "0" else ""
        return f"{self.read(match[1], kind)}{offset}"


_DECLARED_NAME = re.compile(r"%?[A-Za-z_$][\w$]*\Z")


def _not_declared(operand: str) -> UnknownInstructionError:
    kind = OtherStatementError if _DECLARED_NAME.match(operand) else UnknownInstructionError
    return kind(f"the operand {operand}")


def _convert(value: str, source: str, target: str) -> str:
    """``value`` of PTX type ``source`` with the bits read as ``target``."""
    if source == target or target == "pred":
        return value
    if source == "pred":
        return f"static_cast<{TYPES[target]}>({value})"
    if source in {"f32", "f64"} or target in {"f32", "f64"}:
        if source == "" or source[1:] != target[1:]:
            raise UnknownInstructionError(f"the move from {source or 'an integer'} to {target}")
        functions = {"f32": ("__float_as_uint", "__uint_as_float")}
        functions["f64"] = ("__double_as_longlong", "__longlong_as_double")
        if source in functions:
            return f"static_cast<{TYPES[target]}>({functions[source][0]}({value}))"
        return f"{functions[target][1]}({value})"
    if source[1:] == target[1:] and {source[0], target[0]} == {"u", "b"}:
        return value
    return f"static_cast<{TYPES[target]}>({value})"


def _literal(digits: str, kind: str) -> str:
    """An integer constant of PTX type ``kind``."""
    suffixes = {"u32": "u", "b32": "u", "u64": "ull", "b64": "ull", "s32": "", "s64": "ll"}
    if kind in suffixes and not (digits.startswith("-") and "u" in suffixes[kind]):
        return digits + suffixes[kind]
    return _convert(digits, "", kind)


Handler = Callable[[RegisterState, list[str], list[str]], str]
"""Makes the C++ statement of an instruction from its modifiers and operands."""


def kind_of(modifiers: list[str]) -> str:
    """The PTX type of an instruction: its last modifier."""
    kind = modifiers[-1]
    if kind not in TYPES:
        raise UnknownInstructionError(f"the type {kind}")
    return kind
