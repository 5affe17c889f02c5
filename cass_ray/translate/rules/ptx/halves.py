"""PTX instructions on half numbers: one in 16 bits (``f16``), two in 32 (``f16x2``).

Of bfloat16 only what needs no rounding: signs.
"""

from __future__ import annotations

from cass_ray.translate.rules.ptx.registers import (
    Handler,
    RegisterState,
    UnknownInstructionError,
)

REGISTERS = {"f16": "b16", "f16x2": "b32", "bf16": "b16", "bf16x2": "b32"}
"""Type of halves -> the type of register that holds it."""

_SIGNS = {"b16": "0x8000", "b32": "0x80008000"}
_REST = {"b16": "0x7fff", "b32": "0x7fff7fff"}


def _plain(modifiers: list[str], allowed: set[str]) -> str:
    """The type of an instruction with no modifiers but ``allowed``."""
    *options, kind = modifiers
    if set(options) - allowed:
        raise UnknownInstructionError(f"the modifiers {'.'.join(modifiers)}")
    return kind


def _operation(name: str) -> Handler:
    def handler(state: RegisterState, modifiers: list[str], operands: list[str]) -> str:
        kind = _plain(modifiers, {"rn"})
        if not kind.startswith("f16"):
            raise UnknownInstructionError(f"the type {kind}")
        register = REGISTERS[kind]
        values = ", ".join(state.read(operand, register) for operand in operands[1:])
        state.snippets.add("half_bits")
        function = "cass::halves_" if kind == "f16x2" else "cass::half_"
        function += "fma" if name == "fma" else f"binary<cass::HalfOperation::{name}>"
        return state.write(operands[0], register, f"{function}({values})")

    return handler


def _sign(operator: str, masks: dict[str, str]) -> Handler:
    def handler(state: RegisterState, modifiers: list[str], operands: list[str]) -> str:
        register = REGISTERS[_plain(modifiers, set())]
        value = f"{state.read(operands[1], register)} {operator} {masks[register]}u"
        if register == "b16":
            value = f"static_cast<unsigned short>({value})"
        return state.write(operands[0], register, value)

    return handler


HANDLERS: dict[str, Handler] = {
    **{name: _operation(name) for name in ("add", "sub", "mul", "min", "max", "fma")},
    "neg": _sign("^", _SIGNS),
    "abs": _sign("&", _REST),
}
"""Instruction -> its translation where its type is one of :data:`REGISTERS`."""
