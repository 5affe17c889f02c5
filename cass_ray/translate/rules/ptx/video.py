"""PTX's scalar video instructions and ``slct``.

Parts of the operands are extended, combined in 34 bits, clamped to the destination where it is
asked for, and combined with a third operand (PTX ISA 8.5, 9.7.18 "Scalar Video Instructions").
"""

from __future__ import annotations

import re

from cass_ray.translate.rules.ptx.registers import (
    TYPES,
    Handler,
    RegisterState,
    UnknownInstructionError,
)

_PART = re.compile(r"(?P<register>[^.\s]+)(?:\.(?P<part>b[0-3]|h[01]))?\Z")
_WORDS = ("u32", "s32")
_PRIMARY = {
    "vadd": "cass_a + cass_b",
    "vsub": "cass_a - cass_b",
    "vabsdiff": "cass_a < cass_b ? cass_b - cass_a : cass_a - cass_b",
    "vmin": "cass_a < cass_b ? cass_a : cass_b",
    "vmax": "cass_a < cass_b ? cass_b : cass_a",
}
_SECONDARY = {
    "add": "cass_v + cass_c",
    "min": "cass_v < cass_c ? cass_v : cass_c",
    "max": "cass_v < cass_c ? cass_c : cass_v",
}


def _parted(operand: str) -> tuple[str, int, int]:
    """The register of ``operand``, the bits of the part that is meant, and where it begins."""
    found = _PART.match(operand)
    if found is None:
        raise UnknownInstructionError(f"the operand {operand}")
    if found["part"] is None:
        return found["register"], 32, 0
    bits = 8 if found["part"][0] == "b" else 16
    return found["register"], bits, bits * int(found["part"][1])


def _extended(state: RegisterState, operand: str, kind: str) -> str:
    """The part of ``operand`` as a number of type ``kind``."""
    register, bits, place = _parted(operand)
    value = state.read(register, "u32")
    return f"static_cast<{TYPES[f'{kind[0]}{bits}']}>({value}{f' >> {place}' if place else ''})"


def _clamped(kind: str, bits: int) -> str:
    low = -(1 << (bits - 1)) if kind == "s32" else 0
    high = (1 << (bits - 1 if kind == "s32" else bits)) - 1
    return f" cass_v = cass_v < {low}ll ? {low}ll : cass_v > {high}ll ? {high}ll : cass_v;"


def _video(name: str) -> Handler:
    def handler(state: RegisterState, modifiers: list[str], operands: list[str]) -> str:
        kinds, rest = modifiers[:3], modifiers[3:]
        clamps = rest[:1] == ["sat"]
        second = rest[clamps:]
        if any(kind not in _WORDS for kind in kinds) or len(kinds) < 3 or len(second) > 1:
            raise UnknownInstructionError(f"the modifiers {'.'.join(modifiers)}")
        fits = clamps or (name in {"vmin", "vmax"} and len(set(kinds)) == 1)
        if second not in ([], ["add"]) and not fits:
            # What is out of the destination's range may be compared in 32 bits or in 33.
            raise UnknownInstructionError(f"the modifiers {'.'.join(modifiers)}")
        target, bits, place = _parted(operands[0])
        values = (_extended(state, *item) for item in zip(operands[1:3], kinds[1:], strict=True))
        text = "const long long cass_a = {}, cass_b = {};".format(*values)
        text += f" long long cass_v = {_PRIMARY[name]};"
        if clamps:
            text += _clamped(kinds[0], bits)
        if len(operands) > 3:
            text += f" const long long cass_c = {state.read(operands[3], kinds[0])};"
            mask = ((1 << bits) - 1) << place
            merged = f"((cass_v << {place}) & {mask:#x}ll) | (cass_c & ~{mask:#x}ll)"
            text += f" cass_v = {_SECONDARY[second[0]] if second else merged};"
        elif second or bits != 32:
            raise UnknownInstructionError("a third operand that is missing")
        stored = state.write(target, "u32", "static_cast<unsigned int>(cass_v)")
        return f"{{ {text} {stored} }}"

    return handler


def _multiply_add(state: RegisterState, modifiers: list[str], operands: list[str]) -> str:
    """``vmad`` as it wraps; with clamps, scales, negations or plus one it is refused."""
    if len(modifiers) != 3 or any(kind not in _WORDS for kind in modifiers):
        raise UnknownInstructionError(f"the modifiers {'.'.join(modifiers)}")
    a, b = (
        f"static_cast<unsigned int>({_extended(state, operand, kind)})"
        for operand, kind in zip(operands[1:3], modifiers[1:], strict=True)
    )
    return state.write(operands[0], "u32", f"{a} * {b} + {state.read(operands[3], 'u32')}")


def _select(state: RegisterState, modifiers: list[str], operands: list[str]) -> str:
    """``slct``: the first operand where the third is no less than zero, NaN being less."""
    kind, by = modifiers[-2:]
    if by not in {"s32", "f32"} or kind not in TYPES or modifiers[:-2] not in ([], ["ftz"]):
        raise UnknownInstructionError(f"the modifiers {'.'.join(modifiers)}")
    a, b = (state.read(operand, kind) for operand in operands[1:3])
    zero = "0.0f" if by == "f32" else "0"
    return state.write(operands[0], kind, f"({state.read(operands[3], by)} >= {zero} ? {a} : {b})")


HANDLERS: dict[str, Handler] = {
    **{name: _video(name) for name in _PRIMARY},
    "vmad": _multiply_add,
    "slct": _select,
}
"""Instruction -> its translation."""
