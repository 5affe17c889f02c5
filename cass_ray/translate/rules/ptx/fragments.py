"""PTX's warp-wide matrix instructions: ``ldmatrix`` and ``mma`` of 16 rows and 8 columns.

They become functions that exchange the lanes' registers; AMD's matrix instructions have other
layouts, so that a fragment would have to be moved anyway.
"""

from __future__ import annotations

import re

from cass_ray.translate.rules.ptx.registers import Handler, RegisterState, UnknownInstructionError

_SHAPE = re.compile(r"m16n8k(\d{1,3})\Z")
_PACKED = {
    "f16": ("PackedHalf", 2),
    "bf16": ("PackedBfloat16", 2),
    "tf32": ("PackedTf32", 1),
    "s8": ("PackedSigned", 4),
    "u8": ("PackedUnsigned", 4),
}
"""Type of A and B -> its reader in the snippet, and how many elements 32 bits hold."""
_SUMS = {
    "f16": {"f16", "f32"},
    "bf16": {"f32"},
    "tf32": {"f32"},
    "s8": {"s32"},
    "u8": {"s32"},
}


def vector(operand: str) -> list[str]:
    """The registers of a vector operand, or the one that it is."""
    return [item.strip() for item in operand.strip("{}").split(",")]


def _load(state: RegisterState, modifiers: list[str], operands: list[str]) -> str:
    kinds = set(modifiers) - {"sync", "aligned", "m8n8", "b16", "trans", "shared", "shared::cta"}
    targets = vector(operands[0])
    if kinds != {f"x{len(targets)}"} or not {"m8n8", "b16"} <= set(modifiers):
        raise UnknownInstructionError(f"the modifiers {'.'.join(modifiers)}")
    state.snippets |= {"lane", "space", "fragments"}
    transposed = "true" if "trans" in modifiers else "false"
    address = f"const unsigned int cass_row = {state.shared_address(operands[1])};"
    loads = (
        state.write(target, "u32", f"cass::matrix_elements<{transposed}>(cass_row, {number})")
        for number, target in enumerate(targets)
    )
    return f"{{ {address} {' '.join(loads)} }}"


def _multiply(state: RegisterState, modifiers: list[str], operands: list[str]) -> str:
    shape, *kinds = (item for item in modifiers if item not in {"sync", "aligned"})
    rows, columns, target, left, right, start = kinds
    depth = _SHAPE.match(shape)
    known = left in _PACKED and right in _PACKED and _PACKED[left][1] == _PACKED[right][1]
    same = left == right or {left, right} == {"s8", "u8"}
    if depth is None or not known or not same or (rows, columns) != ("row", "col"):
        raise UnknownInstructionError(f"mma.{'.'.join(modifiers)}")
    steps, rest = divmod(int(depth[1]), 4 * _PACKED[left][1])
    d, a, b, c = (vector(operand) for operand in operands)
    sums = 2 if target == "f16" else 4
    fits = (len(d), len(a), len(b), len(c)) == (sums, 2 * steps, steps, sums)
    if rest or steps not in {1, 2} or not fits or target != start or target not in _SUMS[left]:
        raise UnknownInstructionError(f"mma.{'.'.join(modifiers)}")
    state.snippets |= {"lane", "space", "fragments"}
    kind = "int" if target == "s32" else "float"
    statements = [
        f"{kind} cass_sums[4] = {{{', '.join(_sums(state, c, target))}}};",
        f"const unsigned int cass_a[] = {{{_registers(state, a)}}};",
        f"const unsigned int cass_b[] = {{{_registers(state, b)}}};",
        f"cass::multiply<cass::{_PACKED[left][0]}, cass::{_PACKED[right][0]}, {steps}>"
        "(cass_sums, cass_a, cass_b);",
    ]
    for number, register in enumerate(d):
        if target == "f16":
            pair = f"cass_sums[{2 * number}], cass_sums[{2 * number + 1}]"
            statements.append(state.write(register, "u32", f"cass::packed_halves({pair})"))
        else:
            statements.append(state.write(register, target, f"cass_sums[{number}]"))
    return f"{{ {' '.join(statements)} }}"


def _registers(state: RegisterState, operands: list[str]) -> str:
    return ", ".join(state.read(operand, "u32") for operand in operands)


def _sums(state: RegisterState, operands: list[str], kind: str) -> list[str]:
    if kind != "f16":
        return [state.read(operand, kind) for operand in operands]
    return [
        f"cass::PackedHalf::value({state.read(operand, 'u32')}, {at})"
        for operand in operands
        for at in range(2)
    ]


HANDLERS: dict[str, Handler] = {"ldmatrix": _load, "mma": _multiply}
"""Instruction -> its translation."""
