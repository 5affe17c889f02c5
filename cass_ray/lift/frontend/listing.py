"""Listings without their cubin (``cuobjdump -sass``, nvdisasm): what the text alone says.

A listing has the code. Parameters follow from the mangled names of kernels, subroutines and stack
from the code; the size of shared memory is not there, so that kernels that use it get 48 KiB. The
contents of constant banks and the targets of jump tables are not there either: kernels that need
them are errors.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable, Mapping

from cass_ray.assembly import sass
from cass_ray.assembly.signatures import Signature
from cass_ray.lift.errors import LiftError
from cass_ray.lift.frontend.code import INSTRUCTION_BYTES, CodeSection
from cass_ray.lift.frontend.cubin import SUPPORTED, parameter_base
from cass_ray.lift.frontend.instruction import DecodedInstruction
from cass_ray.lift.frontend.operands import Constant, Immediate, Name, Predicate, Register
from cass_ray.toolchain.elf import FileHeader
from cass_ray.toolchain.nvidia.elf import Cubin, CubinSection, ElfSymbol

ASSUMED_SHARED_BYTES = 48 * 1024
"""The most that a kernel has without asking the driver for more."""

_SHARED_OPCODES = frozenset(
    {"LDS", "STS", "ATOMS", "LDSM", "LDGSTS", "STSM", "SYNCS", "ARRIVES", "UBLKCP"}
)
_PROGBITS, _NOBITS = 1, 8
_FUNCTION, _ENTRY = 2, 0x10
_SIZED, _KPARAM_INFO, _FRAME_SIZE = 4, 0x17, 0x11
_SIZES = {
    "bool": 1, "char": 1, "signed char": 1, "unsigned char": 1,
    "short": 2, "unsigned short": 2, "__half": 2, "__nv_bfloat16": 2, "half": 2,
    "int": 4, "unsigned int": 4, "float": 4, "__half2": 4,
    "long": 8, "unsigned long": 8, "long long": 8, "unsigned long long": 8, "double": 8,
}  # fmt: skip
_VECTOR = re.compile(r"(u?char|u?short|u?int|u?long|u?longlong|float|double)([1-4])")
_ELEMENTS = {"char": 1, "short": 2, "int": 4, "float": 4, "long": 8, "longlong": 8, "double": 8}
_LARGEST_ALIGNMENT = 16
MOST_PARAMETER_BYTES = 32_764
"""What a kernel takes at most (CUDA C++ Programming Guide, function parameters)."""
_MOST_FRAME_BYTES = 512 * 1024
"""Local memory of a thread at most (the same, technical specifications)."""
_NEAR = 48
"""Instructions before a call among which its return address is."""
_LEAVING = ("BRA", "JMP", "CALL", "EXIT", "KILL", "BPT", "RET")


def is_listing(data: bytes) -> bool:
    """Whether a file is a listing with functions in it."""
    if b"\0" in data:
        return False
    return bool(sass.parse(data.decode("utf-8", "replace")).functions)


def cubin_of(text: str) -> Cubin:
    """The cubin that a listing could be of. Raises :class:`LiftError` for what it does not say."""
    functions = sass.parse(text).functions
    number = _architecture([function.architecture for function in functions])
    sections = [_section("", b"")]
    symbols: list[ElfSymbol] = []
    frames = b""
    for index, function in enumerate(functions):
        code = CodeSection(index, function)
        for instruction in code.instructions:
            _check_banks(function.name, instruction)
        place = len(sections)
        sections.append(_section(f".text.{function.name}", b""))
        frame = struct.pack("<BBHII", _SIZED, _FRAME_SIZE, 8, len(symbols), _frame_bytes(code))
        symbols.append(
            ElfSymbol(function.name, _FUNCTION, _ENTRY if function.is_kernel else 0, place, 0, 0)
        )
        symbols += [
            ElfSymbol(f"$listing${address:x}", _FUNCTION, 0, place, address, 0)
            for address in sorted(_subroutines(code))
        ]
        if not function.is_kernel:
            continue
        frames += frame
        sections.append(_section(f".nv.info.{function.name}", _parameters(code, number)))
        if any(each.opcode in _SHARED_OPCODES for each in code.instructions):
            reserved = 0x400 if number >= 90 else 0
            size = ASSUMED_SHARED_BYTES + reserved
            sections.append(_section(f".nv.shared.{function.name}", b"", size))
    sections.append(_section(".nv.info", frames))
    return Cubin(FileHeader(b"", 2, 190, 1, number), sections, symbols, 0)


def _section(name: str, data: bytes, size: int | None = None) -> CubinSection:
    kind = _PROGBITS if size is None else _NOBITS
    return CubinSection(name, kind, 0, 0, len(data) if size is None else size, 0, 0, 1, 0, data)


def _architecture(named: list[str]) -> int:
    numbers = {int(digits[0]) for name in named if (digits := re.search(r"\d{1,6}", name))}
    if len(numbers) != 1:
        raise LiftError("a listing must name one architecture (.target sm_80, code for sm_80)")
    number = numbers.pop()
    if number not in SUPPORTED:
        supported = ", ".join(f"sm_{each}" for each in SUPPORTED)
        raise LiftError(f"sm_{number} is not one of {supported}")
    return number


def _check_banks(kernel: str, i: DecodedInstruction) -> None:
    for operand in i.operands:
        if isinstance(operand, Constant) and operand.bank != 0:
            raise LiftError(
                f"{kernel}: {i.text}: a listing does not hold constant bank {operand.bank}; "
                "give the cubin"
            )
    if i.opcode in ("BRX", "BRXU", "JMX") and not i.targets:
        raise LiftError(
            f"{kernel}: {i.text}: the listing does not name the targets; give the cubin"
        )


def _parameters(code: CodeSection, architecture: int) -> bytes:
    """Attributes that describe the parameters, from the kernel's mangled name."""
    base = parameter_base(architecture)
    used = max(
        (
            operand.offset + 4 - base
            for each in code.instructions
            for operand in each.operands
            if isinstance(operand, Constant) and operand.offset >= base
        ),
        default=0,
    )
    attributes, end = b"", 0
    for ordinal, kind in enumerate(_parameter_types(code.name)):
        size, alignment = _size_of(kind, code.name)
        offset = -(-end // alignment) * alignment
        value = struct.pack("<IHHI", 0, ordinal, offset, size << 18)
        attributes += struct.pack("<BBH", _SIZED, _KPARAM_INFO, len(value)) + value
        end = offset + size
        if end > MOST_PARAMETER_BYTES:
            raise LiftError(f"{code.name}: more than {MOST_PARAMETER_BYTES} bytes of parameters")
    if used > end:
        raise LiftError(
            f"{code.name}: its name tells of {end} bytes of parameters, its code reads {used}; "
            "give the cubin"
        )
    return attributes


def _parameter_types(name: str) -> list[str]:
    """Types of a function's parameters; none for a name that does not tell them."""
    signature = Signature(name)
    listed = signature.canonical.removeprefix(signature.template)[1:-1]
    types: list[str] = []
    depth, current = 0, ""
    for character in listed:
        depth += character in "<([{"
        depth -= character in ">)]}"
        if character == "," and depth == 0:
            types.append(current)
            current = ""
        else:
            current += character
    return [kind.strip() for kind in [*types, current] if kind.strip() not in ("", "void")]


def _size_of(kind: str, kernel: str) -> tuple[int, int]:
    """Bytes and alignment of a type. Raises :class:`LiftError` for classes."""
    if kind.endswith(("*", "&", "* const", "*__restrict", "* __restrict__")):
        return 8, 8
    plain = kind.removeprefix("const ").removesuffix(" const")
    if plain in _SIZES:
        return _SIZES[plain], _SIZES[plain]
    if plain == "dim3":
        return 12, 4
    if match := _VECTOR.fullmatch(plain):
        element, count = _ELEMENTS[match[1].removeprefix("u")], int(match[2])
        alignment = element if count in (1, 3) else min(element * count, _LARGEST_ALIGNMENT)
        return element * count, alignment
    raise LiftError(f"{kernel}: the size of {kind} is not in a listing; give the cubin")


def _frame_bytes(code: CodeSection) -> int:
    """The stack of the function and of all its subroutines: what R1 goes down by."""
    total = 0
    for i in code.instructions:
        target = i.operands[0] if i.operands else None
        if not (isinstance(target, Register) and target.name == "R1"):
            continue
        literals = [o for o in i.operands[1:] if isinstance(o, Immediate) and o.is_bits]
        steps = [literal.integer & 0xFFFFFFFF for literal in literals]
        total += sum((1 << 32) - step for step in steps if step >> 31)
    if total > _MOST_FRAME_BYTES:
        raise LiftError(f"{code.name}: more than {_MOST_FRAME_BYTES} bytes of stack")
    return total


def _subroutines(code: CodeSection) -> set[int]:
    """Addresses that are called and return; other calls are jumps out of a region.

    A call has the address after it in a register: a literal shortly before. Raises
    :class:`LiftError` for one of which that cannot be told.
    """
    calls = [
        (i, address)
        for i in code.instructions
        if i.opcode == "CALL" and (address := _target(code, i)) is not None
    ]
    entries = {address for i, address in calls if _knows_return(code, i)}
    successors = _successors(code, entries)
    inside = _reached(entries, successors)
    predecessors: dict[int, list[int]] = {}
    for address, following in successors.items():
        for each in following:
            predecessors.setdefault(each, []).append(address)
    returns = [address for address in successors if _opcode_at(code, address) == "RET"]
    lead_back = _reached(returns, predecessors)
    for i, address in calls:
        if address not in entries and address in lead_back and i.address not in inside:
            raise LiftError(
                f"{code.name}: {i.text} at {i.address:#x}: the listing does not tell a call from a "
                "jump here; give the cubin"
            )
    return entries | set(code.function.subroutines.values())


def _knows_return(code: CodeSection, call: DecodedInstruction) -> bool:
    position = code.position[call.address]
    before = code.instructions[max(0, position - _NEAR) : position]
    literals = [o for each in before for o in each.operands if isinstance(o, Immediate)]
    following = call.address + INSTRUCTION_BYTES
    return any(literal.is_bits and literal.integer == following for literal in literals)


def _target(code: CodeSection, i: DecodedInstruction) -> int | None:
    name = i.operands[-1] if i.operands else None
    return code.function.labels.get(name.text) if isinstance(name, Name) else None


def _opcode_at(code: CodeSection, address: int) -> str:
    return code.instructions[code.position[address]].opcode


def _successors(code: CodeSection, subroutines: set[int]) -> dict[int, list[int]]:
    """Address of each instruction -> those to which control can get from it without a call."""
    successors: dict[int, list[int]] = {}
    for address, position in code.position.items():
        i = code.instructions[position]
        target = _target(code, i) if i.opcode in ("BRA", "JMP", "CALL") else None
        is_call = i.opcode == "CALL" and (target is None or target in subroutines)
        following = [] if target is None or is_call else [target]
        is_certain = i.guard is None and not any(isinstance(o, Predicate) for o in i.operands)
        if not (i.opcode in _LEAVING and is_certain and not is_call):
            following.append(address + INSTRUCTION_BYTES)
        successors[address] = [each for each in following if each in code.position]
    return successors


def _reached(starts: Iterable[int], following: Mapping[int, list[int]]) -> set[int]:
    """``starts`` and all that ``following`` leads to from them."""
    pending, seen = list(starts), set[int]()
    while pending:
        address = pending.pop()
        if address not in seen:
            seen.add(address)
            pending += following.get(address, ())
    return seen
