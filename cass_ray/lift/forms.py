"""The form of an instruction: what of it decides how it is lifted.

Opcode, modifiers, and of each operand its kind, negation, inversion, absolute value and selectors:
``LEA R,P,-R,R,i``. Registers, literals, offsets and labels do not matter; whether a predicate is
the constant true does, for a carry may be dropped.
"""

from __future__ import annotations

from cass_ray.lift.frontend.instruction import DecodedInstruction
from cass_ray.lift.frontend.operands import (
    Address,
    Constant,
    Immediate,
    InstructionDescriptor,
    MatrixDescriptors,
    Operand,
    Predicate,
    Register,
    TensorAddress,
)


def form_of(instruction: DecodedInstruction) -> str:
    """The form as text: the mnemonic, a blank, the operands with commas between."""
    operands = ",".join(_shape(operand) for operand in instruction.operands)
    return f"{instruction.mnemonic} {operands}".rstrip()


def _shape(operand: Operand) -> str:
    match operand:
        case Register():
            return _modified(operand.file, operand)
        case Constant():
            index = f"[{operand.index.file}]" if operand.index else ""
            return _modified(f"c{index}", operand)
        case Predicate():
            name = "PT" if operand.index is None else operand.file
            return f"!{name}" if operand.inverted else name
        case Immediate():
            return "i" if operand.is_bits else "f"
        case Address():
            terms = [_modified(term.file, term) for term in operand.terms]
            return f"[{'+'.join([*terms, *(['i'] if operand.offset else [])])}]"
        case MatrixDescriptors():
            return ".".join(["gdesc", *operand.flags])
        case TensorAddress():
            place = "tmem+i" if operand.offset else "tmem"
            return ".".join([place, *operand.flags])
        case InstructionDescriptor():
            return "idesc"
    return operand.text if operand.text.startswith("SR_") else "name"


def _modified(text: str, operand: Register | Constant) -> str:
    text = "".join([text, *(f".{suffix}" for suffix in operand.suffixes)])
    if operand.absolute:
        text = f"|{text}|"
    return f"{'-' if operand.negated else ''}{'~' if operand.inverted else ''}{text}"
