"""Write the engine's opcode tables from what LLVM's disassembler says about each opcode.

``python -m cass_ray.emulator.isa.opcode_table`` rewrites ``engine/tables/``. The disassembler gives
mnemonics and operand widths, :mod:`cass_ray.emulator.isa.operand_types` the types of operands, and
``operations`` of an instruction set's package what a mnemonic does. The tables name the version of
LLVM that they come from; ``CASS_LLVM_MC`` names another ``llvm-mc``.
"""

from __future__ import annotations

from pathlib import Path

from cass_ray.emulator.isa.gfx9.operations import gfx950_operation_of as gfx950_operation
from cass_ray.emulator.isa.gfx9.operations import operation_of as gfx9_operation
from cass_ray.emulator.isa.gfx12.operations import operation_of as gfx12_operation
from cass_ray.emulator.isa.operand_types import types_of
from cass_ray.emulator.isa.probe import INSTRUCTION_SETS, Probed, disassembler_version, probe

TABLES = Path(__file__).parents[1] / "engine" / "tables"

_HEADER = """\
// One row per opcode of each {name} encoding, by encoding and opcode:
// INSTRUCTION(encoding, opcode, mnemonic, operation, destination, source 0, source 1, source 2)
// Memory formats: destination, address, data 0, data 1.
// Written by cass_ray/emulator/isa/opcode_table.py with LLVM {version}; change that, not this.
"""
_OPERATIONS_HEADER = (
    "// Every operation of the tables once; written by cass_ray/emulator/isa/opcode_table.py.\n"
)


def operation_of(item: Probed, instruction_set: str) -> str:
    """The engine's name for what ``item`` does."""
    name = item.mnemonic.replace("v_dual_", "v_")
    return operation_named(name, instruction_set)


def operation_named(mnemonic: str, instruction_set: str) -> str:
    """The same for a mnemonic, without the format's suffix."""
    if instruction_set == "gfx950":
        return gfx950_operation(mnemonic)
    if instruction_set.startswith("gfx9"):
        return gfx9_operation(mnemonic)
    return gfx12_operation(mnemonic) if instruction_set == "gfx12" else mnemonic


def rows(instruction_set: str) -> list[str]:
    """Rows of an instruction set's table: one for each opcode of each format that LLVM knows."""
    lines = []
    seen = set()
    items = probe(instruction_set)
    carry = {item.opcode for item in items if _is_carry(item)}
    for item in sorted(items, key=lambda item: (item.encoding, item.opcode)):
        key = (item.encoding, item.opcode)
        if key in seen or (item.encoding == "VOP3" and item.opcode in carry):
            continue
        if item.encoding == "VOP3SD" and item.opcode not in carry:
            continue
        seen.add(key)
        name = item.mnemonic.replace("v_dual_", "v_")
        operation = operation_of(item, instruction_set)
        types = ", ".join(types_of(item, operation))
        lines.append(
            f"INSTRUCTION({item.encoding}, {item.opcode:#x}, {name}, {operation}, {types})"
        )
    return lines


def _is_carry(item: Probed) -> bool:
    """Whether the opcode has a scalar destination beside the vector one."""
    if item.encoding != "VOP3SD" or len(item.operands) < 2:
        return False
    return item.operands[1] in ("s12", "s[12:13]")


def main() -> None:
    """Rewrite the tables and the list of operations from what LLVM's disassembler says."""
    version = disassembler_version()
    operations: set[str] = set()
    for name in INSTRUCTION_SETS:
        lines = rows(name)
        header = _HEADER.format(name=name, version=version)
        (TABLES / f"{name}.inc").write_text(header + "\n".join(lines) + "\n")
        operations |= {line.split(", ")[3] for line in lines}
    names = "".join(f"OPERATION_NAME({name})\n" for name in sorted(operations))
    (TABLES / "operations.inc").write_text(_OPERATIONS_HEADER + names)


if __name__ == "__main__":
    main()
