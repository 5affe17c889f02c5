"""PTX floating-point instructions that say how they round.

``.rz``, ``.rm`` and ``.rp`` are CUDA's intrinsics with a direction. ``.rn`` on an addition or a
product means more than the default rounding: such an instruction is never fused with another one,
while a C++ expression may be (PTX ISA 8.5, section 9.7.3).
"""

from __future__ import annotations

from cass_ray.translate.rules.ptx.registers import RegisterState, UnknownInstructionError

_QUOTIENTS = frozenset({"div", "rcp", "sqrt"})
_DIRECTIONS = {"rz": "rz", "rm": "rd", "rp": "ru"}


def says_rounding(name: str, modifiers: list[str]) -> bool:
    """Whether :func:`rounded` is what the instruction asks for."""
    if "sat" in modifiers or modifiers[-1] not in {"f32", "f64"}:
        return False
    directed = bool(_DIRECTIONS.keys() & set(modifiers))
    return directed or ("rn" in modifiers and name in {"add", "sub", "mul"})


def rounded(state: RegisterState, name: str, modifiers: list[str], operands: list[str]) -> str:
    """The operation ``name`` of ``operands`` as one call that rounds once, as it says."""
    *options, kind = modifiers
    if set(options) - {"rn", "ftz", *_DIRECTIONS}:
        raise UnknownInstructionError(f"the modifiers {'.'.join(modifiers)}")
    direction = next((_DIRECTIONS[item] for item in options if item in _DIRECTIONS), "rn")
    directed = "rounded_quotients" if name in _QUOTIENTS else "rounding"
    state.snippets.add("exact" if direction == "rn" else directed)
    if name == "fma":
        function = "fmaf" if kind == "f32" else "fma"
    else:
        function = ("f" if kind == "f32" else "d") + name
    values = ", ".join(state.read(operand, kind) for operand in operands[1:])
    return state.write(operands[0], kind, f"cass::{function}_{direction}({values})")
