"""RDNA3 assembly without what can be written again: the form that small models learn.

LLVM's text of a kernel is a third to three quarters directives: forty of the kernel descriptor, the
metadata of every slot of the argument buffer, sections and sizes. ``compact`` leaves the code and
what the rest follows from, in the manner of normalized SASS::

    .target gfx1100

    Kernel : _Z5scaleIfEvPT_S0_i
    .args 8* 4 4 hidden
    .uses vgprs 5 sgprs 16
    s_load_b32 s2, s[0:1], 0x24
    …
    s_endpgm

    Data :
    .type table,@object
    …

``expand`` writes a module that assembles to the same code object but for what makes no
difference to a program: hints of scheduling (``s_delay_alu``, ``s_clause``), the alignment of
loops, comments, notes of compilers, and counts that only people read (spilled registers).

- ``.args``: bytes of each argument, ``*`` where it is a pointer to global memory, ``@OFFSET`` where
  it does not follow the one before at its own alignment; ``hidden`` for the slots that each kernel
  of code object version 5 has, and behind it the names of further ones.
- ``.uses``: registers, bytes of ``lds`` and ``scratch``, and every field of the descriptor that is
  not as usual (https://llvm.org/docs/AMDGPUUsage.html#amdhsa-kernel-directives).
- ``weak`` behind a name: the linkage of a template's code.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from cass_ray.assembly import rdna3
from cass_ray.assembly.rdna3 import Rdna3Argument, Rdna3Kernel, Rdna3Line, Rdna3LineKind
from cass_ray.csv_tables import read_mapping

USUAL = read_mapping(Path(__file__).with_name("kernel_descriptor.csv"))
"""Fields of the kernel descriptor as clang writes them for most kernels of RDNA3."""

_SIZES = {
    "lds": "group_segment_fixed_size",
    "scratch": "private_segment_fixed_size",
    "vgprs": "next_free_vgpr",
    "sgprs": "next_free_sgpr",
}
"""Words of ``.uses`` for the fields that hang on the code; 0 where a word is not there."""

_HIDDEN = {
    **{f"block_count_{axis}": (4 * place, 4) for place, axis in enumerate("xyz")},
    **{f"group_size_{axis}": (12 + 2 * place, 2) for place, axis in enumerate("xyz")},
    **{f"remainder_{axis}": (18 + 2 * place, 2) for place, axis in enumerate("xyz")},
    **{f"global_offset_{axis}": (40 + 8 * place, 8) for place, axis in enumerate("xyz")},
    "grid_dims": (64, 2),
    "printf_buffer": (72, 8),
    "hostcall_buffer": (80, 8),
    "multigrid_sync_arg": (88, 8),
    "heap_v1": (96, 8),
    "default_queue": (104, 8),
    "completion_action": (112, 8),
    "dynamic_lds_size": (120, 4),
    "private_base": (192, 4),
    "shared_base": (196, 4),
    "queue_ptr": (200, 8),
}
"""Hidden arguments of code object version 5: offset behind the first of them, and size, in bytes
(https://llvm.org/docs/AMDGPUUsage.html#amdgpu-amdhsa-code-object-kernel-argument-metadata-map-table-v3).
"""
_ALWAYS = tuple(_HIDDEN)[:13]
_HIDDEN_BYTES = 256
_WORDS_BEHIND_VCC = 2
_HINTS = frozenset({"s_delay_alu", "s_clause"})
_NOTES = frozenset({".ident", ".addrsig", ".addrsig_sym", ".p2alignl", ".fill"})
_UNNEEDED_SECTIONS = (".AMDGPU.csdata", ".AMDGPU.gpr_maximums", '".note.GNU-stack"')
_MOVES = frozenset({".section", ".text", ".data", ".bss", ".p2align"})
_OF_SYMBOLS = frozenset(
    {".type", ".globl", ".protected", ".weak", ".hidden", ".local", ".set", ".size"}
)
_CUID = "__hip_cuid_"
"""A variable whose name tells translation units apart; nothing reads it."""
_LARGEST_WORKGROUP = 1024
_PREFETCHED = ("\t.p2alignl 7, 3214868480", "\t.fill 96, 4, 3214868480")
"""``s_code_end`` behind the last kernel, as LLVM writes it, for the instruction cache to fetch."""


class CompactError(ValueError):
    """Assembly that has no compact form, or text that is not one; the message says where."""


@dataclass
class _Function:
    name: str
    words: list[str] = field(default_factory=list)
    is_kernel: bool = False
    arguments: list[str] = field(default_factory=list)
    uses: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)


def compact(text: str) -> str:
    """The compact form of a module of RDNA3 assembly.

    Raises:
        CompactError: the module has something that the form cannot hold.
    """
    try:
        module = rdna3.parse(text)
        kernels, functions = module.kernels, module.functions
    except ValueError as error:
        raise CompactError(str(error)) from error
    weak = {line.operands[0] for line in module.lines if line.mnemonic == ".weak" and line.operands}
    parts = [f".target {module.target}"]
    inside: set[int] = set()
    for name, function in functions.items():
        inside.update(function.lines)
        head = f"{'Kernel' if name in kernels else 'Function'} : {name}"
        lines = [head + (" weak" if name in weak else "")]
        if name in kernels:
            lines += [_arguments(kernels[name]), _uses(kernels[name])]
        lines += _code(module.lines[function.lines.start : function.lines.stop])
        parts.append("\n".join(lines))
    outside = [line for number, line in enumerate(module.lines) if number not in inside]
    if data := _data(outside, frozenset(functions)):
        parts.append("\n".join(["Data :", *data]))
    return "\n\n".join(parts) + "\n"


def _written(line: Rdna3Line) -> Iterator[str]:
    """Label and statement, each a line, without comments."""
    if line.label:
        yield f"{line.label}:"
    if line.kind in (Rdna3LineKind.INSTRUCTION, Rdna3LineKind.DIRECTIVE):
        statement = line.statement.strip()
        yield statement if '"' in statement else re.sub(r"[ \t]+", " ", statement)


def _code(lines: Sequence[Rdna3Line]) -> Iterator[str]:
    described = False
    for number, line in enumerate(lines):
        if line.mnemonic == ".section" or line.label.startswith(".Lfunc_end"):
            described = True  # behind the code: descriptor, end and size
        if described or number == 0 or line.mnemonic in _HINTS or line.mnemonic == ".p2align":
            continue
        yield from _written(line)


def _data(lines: Sequence[Rdna3Line], functions: frozenset[str]) -> list[str]:
    """What stands outside of functions: variables and aliases."""
    result: list[str] = []
    in_descriptor = in_cuid = False
    for line in lines:
        first = line.operands[0] if line.operands else ""
        in_descriptor |= line.mnemonic == ".amdhsa_kernel"
        in_cuid |= first == _CUID and line.mnemonic == ".type"
        if not (
            in_descriptor
            or in_cuid
            or line.kind is Rdna3LineKind.METADATA
            or line.mnemonic in _NOTES
            or line.mnemonic.startswith((".amdgcn_", ".amdhsa_", ".amdgpu_m", ".end_amd"))
            or (line.mnemonic == ".section" and first.startswith(_UNNEEDED_SECTIONS))
            or first in functions
            or first == _CUID
        ):
            result += _written(line)
        in_descriptor &= line.mnemonic != ".end_amdhsa_kernel"
        in_cuid &= line.mnemonic != ".size"
    return _without_empty_sections(result)


def _without_empty_sections(lines: list[str]) -> list[str]:
    """Without changes of section and alignments behind which nothing comes before the next."""
    kept: list[str] = []
    holds = False
    for line in reversed(lines):
        directive = line.split()[0]
        moves = directive in _MOVES
        if holds or not moves:
            kept.append(line)
        if directive not in _OF_SYMBOLS:
            holds = not moves or (holds and directive == ".p2align")
    return kept[::-1]


# --- The argument buffer and the descriptor ------------------------------------------------------


def _natural(offset: int, size: int) -> int:
    """Where an argument of ``size`` bytes begins behind ``offset``."""
    alignment = size if size in (1, 2, 4, 8) else 8 if size % 8 == 0 else 4
    return -(-offset // alignment) * alignment


def _arguments(kernel: Rdna3Kernel) -> str:
    words, end = [".args"], 0
    hidden: list[Rdna3Argument] = []
    try:
        arguments = kernel.arguments
    except ValueError as error:
        raise CompactError(f"{kernel.name}: {error}") from error
    for argument in arguments:
        if argument.is_hidden:
            hidden.append(argument)
            continue
        if argument.value_kind not in ("by_value", "global_buffer"):
            raise CompactError(f"{kernel.name}: an argument of kind {argument.value_kind}")
        pointer = "*" if argument.value_kind == "global_buffer" else ""
        place = "" if argument.offset == _natural(end, argument.size) else f"@{argument.offset}"
        words.append(f"{argument.size}{pointer}{place}")
        end = argument.offset + argument.size
    words += _hidden_words(kernel, hidden, -(-end // 8) * 8)
    return " ".join(words)


def _hidden_words(kernel: Rdna3Kernel, hidden: list[Rdna3Argument], base: int) -> list[str]:
    if not hidden:
        return []
    names = [argument.value_kind.removeprefix("hidden_") for argument in hidden]
    for name, argument in zip(names, hidden, strict=True):
        if _HIDDEN.get(name) != (argument.offset - base, argument.size):
            raise CompactError(f"{kernel.name}: the hidden argument {name} at {argument.offset}")
    if tuple(names[: len(_ALWAYS)]) != _ALWAYS:
        raise CompactError(f"{kernel.name}: hidden arguments {', '.join(names)}")
    return ["hidden", *names[len(_ALWAYS) :]]


def _uses(kernel: Rdna3Kernel) -> str:
    words = [".uses"]
    for word, name in _SIZES.items():
        value = kernel.descriptor.get(name, "0")
        if not value.isdigit():
            raise CompactError(f"{kernel.name}: {name} is {value}")
        words += [word, value] if value != "0" or word in ("vgprs", "sgprs") else []
    for name, usual in USUAL.items():
        if name not in kernel.descriptor:
            raise CompactError(f"{kernel.name}: no .amdhsa_{name} (this form is RDNA3's)")
        words += [name, kernel.descriptor[name]] if kernel.descriptor[name] != usual else []
    known = {*USUAL, *_SIZES.values(), "kernarg_size"}
    if unknown := sorted(set(kernel.descriptor) - known):
        raise CompactError(f"{kernel.name}: .amdhsa_{unknown[0]}")
    largest = kernel.metadata.get(".max_flat_workgroup_size", _LARGEST_WORKGROUP)
    words += ["workgroup", str(largest)] if largest != _LARGEST_WORKGROUP else []
    return " ".join(words)


# --- Back ----------------------------------------------------------------------------------------


def expand(text: str) -> str:
    """The module that ``text`` is the compact form of.

    Raises:
        CompactError: a line that the form does not have, with its number.
    """
    target, functions, data = _read(text)
    lines = ["\t.text", f'\t.amdgcn_target "amdgcn-amd-amdhsa--{target}"']
    lines.append("\t.amdhsa_code_object_version 5")
    kernels: list[dict[str, Any]] = []
    for number, function in enumerate(functions):
        descriptor: list[str] = []
        if function.is_kernel:
            metadata, descriptor = _described(function)
            kernels.append(metadata)
        lines += _function_text(function, number, descriptor)
    lines += [*_PREFETCHED, *(line if line.endswith(":") else f"\t{line}" for line in data)]
    lines += ['\t.section\t".note.GNU-stack","",@progbits', "\t.amdgpu_metadata", "---"]
    lines += [*_metadata_text(kernels, target), "...", "", "\t.end_amdgpu_metadata"]
    return "\n".join(lines) + "\n"


def _read(text: str) -> tuple[str, list[_Function], list[str]]:
    target = ""
    data: list[str] = []
    functions: list[_Function] = []
    current: list[str] | None = None
    for number, written in enumerate(text.splitlines(), 1):
        line = written.strip()
        if not line:
            continue
        kind, separator, rest = line.partition(" : ")
        if line.startswith(".target "):
            target = line.split()[1]
        elif line == "Data :":
            current = data
        elif separator and kind in ("Kernel", "Function") and rest.split():
            name, *words = rest.split()
            functions.append(_Function(name, words, kind == "Kernel"))
            current = functions[-1].lines
        elif current is None:
            raise CompactError(f"line {number}: `{line[:60]}` stands before any kernel")
        elif line.startswith((".args", ".uses")) and current is not data:
            into = functions[-1].arguments if line.startswith(".args") else functions[-1].uses
            into += line.split()[1:]
        else:
            current.append(line)
    if not target or not functions:
        raise CompactError("no .target line" if not target else "no kernel")
    return target, functions, data


def _function_text(function: _Function, number: int, descriptor: list[str]) -> list[str]:
    name = function.name
    linkage = ["weak"] if "weak" in function.words else ["globl"] if function.is_kernel else []
    shown = ["protected", *linkage] if function.is_kernel else linkage
    return [
        "\t.text",
        *(f"\t.{word}\t{name}" for word in shown),
        f"\t.p2align\t{8 if function.is_kernel else 2}",
        f"\t.type\t{name},@function",
        f"{name}:",
        *(line if line.endswith(":") else f"\t{line}" for line in function.lines),
        *descriptor,
        f".Lfunc_end{number}:",
        f"\t.size\t{name}, .Lfunc_end{number}-{name}",
    ]


def _described(function: _Function) -> tuple[dict[str, Any], list[str]]:
    """Metadata and descriptor of a kernel."""
    arguments, size = _slots(function)
    pairs = dict(zip(function.uses[::2], function.uses[1::2], strict=False))
    fields = {"kernarg_size": str(size)} | USUAL
    for word, value in pairs.items():
        if not value.isdigit():
            raise CompactError(f"{function.name}: .uses {word} {value}")
        if word != "workgroup":
            fields[_SIZES.get(word, word)] = value
    for name in _SIZES.values():
        fields.setdefault(name, "0")
    unknown = sorted(set(fields) - {*USUAL, *_SIZES.values(), "kernarg_size"})
    if unknown:
        raise CompactError(f"{function.name}: .uses has no `{unknown[0]}`")
    metadata = {
        ".args": arguments,
        ".group_segment_fixed_size": int(fields["group_segment_fixed_size"]),
        ".kernarg_segment_align": 8,
        ".kernarg_segment_size": size,
        ".language": "OpenCL C",
        ".language_version": [2, 0],
        ".max_flat_workgroup_size": int(pairs.get("workgroup", _LARGEST_WORKGROUP)),
        ".name": function.name,
        ".private_segment_fixed_size": int(fields["private_segment_fixed_size"]),
        ".sgpr_count": int(fields["next_free_sgpr"])
        + _WORDS_BEHIND_VCC * int(fields["reserve_vcc"]),
        ".sgpr_spill_count": 0,
        ".symbol": f"{function.name}.kd",
        ".uniform_work_group_size": 1,
        ".uses_dynamic_stack": fields["uses_dynamic_stack"] != "0",
        ".vgpr_count": int(fields["next_free_vgpr"]),
        ".vgpr_spill_count": 0,
        ".wavefront_size": 32 if fields["wavefront_size32"] != "0" else 64,
        ".workgroup_processor_mode": int(fields["workgroup_processor_mode"]),
    }
    return metadata, [
        '\t.section\t.rodata,"a",@progbits',
        "\t.p2align\t6, 0x0",
        f"\t.amdhsa_kernel {function.name}",
        *(f"\t\t.amdhsa_{name} {value}" for name, value in fields.items()),
        "\t.end_amdhsa_kernel",
        "\t.text",
    ]


_SLOT = re.compile(r"(\d+)(\*?)(?:@(\d+))?")


def _slots(function: _Function) -> tuple[list[dict[str, Any]], int]:
    """Slots of the argument buffer as the metadata has them, and the bytes of all."""
    slots: list[dict[str, Any]] = []
    end, words = 0, list(function.arguments)
    while words and (match := _SLOT.fullmatch(words[0])):
        words.pop(0)
        size = int(match[1])
        offset = int(match[3]) if match[3] else _natural(end, size)
        kind = {".address_space": "global"} if match[2] else {}
        value = "global_buffer" if match[2] else "by_value"
        slots.append(kind | {".offset": offset, ".size": size, ".value_kind": value})
        end = offset + size
    if not words:
        return slots, end
    if words[0] != "hidden" or not set(words[1:]) <= set(_HIDDEN):
        raise CompactError(
            f"{function.name}: .args has no `{words[0 if words[0] != 'hidden' else 1]}`"
        )
    base = -(-end // 8) * 8
    for name in (*_ALWAYS, *words[1:]):
        offset, size = _HIDDEN[name]
        slots.append({".offset": base + offset, ".size": size, ".value_kind": f"hidden_{name}"})
    return slots, base + _HIDDEN_BYTES


def _metadata_text(kernels: list[dict[str, Any]], target: str) -> list[str]:
    document = {
        "amdhsa.kernels": kernels,
        "amdhsa.target": f"amdgcn-amd-amdhsa--{target}",
        "amdhsa.version": [1, 2],
    }
    written: str = yaml.safe_dump(document, sort_keys=False, default_flow_style=False, width=10**6)
    return written.rstrip("\n").split("\n")
