"""RDNA3 assembly: the text that LLVM's AMDGPU back end writes and assembles.

``parse`` keeps every line, so that ``parse(text).render() == text`` byte for byte, edited or not;
``normalize`` is the identity, for assembly models read this side as the compiler wrote it. Syntax:
https://llvm.org/docs/AMDGPUUsage.html (directives, kernel descriptors, metadata).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum, auto
from functools import cached_property
from typing import Any, NamedTuple

import yaml
from pydantic import BaseModel, ConfigDict

from cass_ray.assembly import gnu


class Rdna3LineKind(Enum):
    """What a line of device assembly is, kernel descriptors and metadata told apart."""

    BLANK = auto()
    """Nothing, or a comment alone."""
    LABEL = auto()
    """A label alone; a label before a statement does not change that statement's kind."""
    DIRECTIVE = auto()
    """A directive or an assignment."""
    INSTRUCTION = auto()
    METADATA = auto()
    """YAML between ``.amdgpu_metadata`` and its end."""


class Rdna3Line(NamedTuple):
    """One line of text and what it is."""

    kind: Rdna3LineKind
    text: str
    """The line as written, without its end."""
    label: str = ""
    mnemonic: str = ""
    """Directive or instruction, ``v_add_f32_e32``."""

    @property
    def mnemonics(self) -> tuple[str, ...]:
        """One mnemonic, or both of a dual-issue instruction (``v_dual_… :: v_dual_…``)."""
        if "::" not in self.text or self.kind is not Rdna3LineKind.INSTRUCTION:
            return (self.mnemonic,) if self.mnemonic else ()
        return tuple(half.split()[0] for half in self.statement.split("::") if half.strip())

    @property
    def statement(self) -> str:
        """Mnemonic and operands without label and comment."""
        return gnu.statement(self.text, self.label, COMMENT)

    @property
    def operands(self) -> tuple[str, ...]:
        """Operands in order; commas inside brackets and quotes do not separate.

        Modifiers (``offset:12``) stay with the operand before them; both halves of a dual-issue
        instruction (``v_dual_… :: v_dual_…``) are in one list.
        """
        return gnu.split_operands(self.statement[len(self.mnemonic) :])

    @property
    def comment(self) -> str:
        return self.text[len(gnu.without_comment(self.text, COMMENT)) :].lstrip(";/ \t")


COMMENT = re.compile(r";|//")


class Rdna3Argument(BaseModel):
    """One slot of the kernel argument buffer, as the metadata describes it; sizes in bytes."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    offset: int
    size: int
    value_kind: str
    """``global_buffer``, ``by_value``, ``hidden_block_count_x``, …"""
    name: str = ""
    address_space: str = ""

    @property
    def is_hidden(self) -> bool:
        """Whether the runtime fills the slot, not the caller."""
        return self.value_kind.startswith("hidden_")


@dataclass(frozen=True, slots=True)
class Rdna3Function:
    """Code from its label to its ``.size`` (or to the next function); a range of lines."""

    name: str
    lines: range
    is_kernel: bool


@dataclass(frozen=True)
class Rdna3Kernel:
    """A kernel descriptor with the metadata of the same name."""

    name: str
    descriptor: dict[str, str]
    """``.amdhsa_…`` directives, the prefix dropped -> value as written."""
    metadata: dict[str, Any] = field(default_factory=dict)
    """The entry of ``amdhsa.kernels``, empty when there is none."""

    def _integer(self, directive: str, key: str) -> int:
        written = self.descriptor.get(directive, "0")
        try:
            return int(written, 0)
        except ValueError:  # a symbolic expression, as of LLVM 20
            stated = self.metadata.get(key, 0)
            return stated if isinstance(stated, int) else 0

    @property
    def lds_bytes(self) -> int:
        """Static local data share, in bytes a workgroup."""
        return self._integer("group_segment_fixed_size", ".group_segment_fixed_size")

    @property
    def scratch_bytes(self) -> int:
        """Static private segment, in bytes a work-item."""
        return self._integer("private_segment_fixed_size", ".private_segment_fixed_size")

    @property
    def vgprs(self) -> int:
        """Vector registers that the code uses."""
        return self._integer("next_free_vgpr", ".vgpr_count")

    @property
    def wavefront_size(self) -> int:
        """Lanes of a wave of the kernel: 32 or 64."""
        return 32 if self.descriptor.get("wavefront_size32", "1") != "0" else 64

    @cached_property
    def arguments(self) -> list[Rdna3Argument]:
        """Slots of the argument buffer in order, hidden ones included.

        Raises ``ValueError`` when the metadata does not describe them.
        """
        slots = self.metadata.get(".args") or []
        if not isinstance(slots, list) or not all(isinstance(slot, dict) for slot in slots):
            raise ValueError(f"{self.name}: .args is not a list of mappings")
        return [
            Rdna3Argument.model_validate(
                {str(key).removeprefix("."): value for key, value in slot.items()}
            )
            for slot in slots
        ]


class Variable(NamedTuple):
    """A device variable: its symbol and where it is defined."""

    name: str
    size: int
    """Bytes; 0 when the text does not say."""
    section: str
    linkage: str
    """``globl``, ``weak``, ``protected``, ``hidden``, ``local``: the last directive that says."""


@dataclass(frozen=True)
class Rdna3Module:
    """One file of RDNA3 assembly, line by line; joined again it is the same text."""

    lines: list[Rdna3Line]
    ending: str = "\n"
    """What follows the last line."""

    def render(self) -> str:
        """The text; equal to what was parsed unless lines were changed."""
        return "\n".join(line.text for line in self.lines) + self.ending

    @cached_property
    def target(self) -> str:
        """The processor of ``.amdgcn_target``, ``gfx1100``; empty when there is none."""
        for line in self._directives(".amdgcn_target"):
            return "".join(line.operands[:1]).strip('"').rsplit("-", 1)[-1]
        return ""

    @cached_property
    def functions(self) -> dict[str, Rdna3Function]:
        """Name -> function, kernels included, in order of appearance."""
        kernels = self._descriptors
        declared = gnu.function_names((x.mnemonic, x.operands) for x in self._directives(".type"))
        ranges = gnu.function_ranges(
            declared | set(kernels),
            (
                (x.label, x.mnemonic, x.statement if x.mnemonic == ".size" else "")
                for x in self.lines
            ),
        )
        return {name: Rdna3Function(name, lines, name in kernels) for name, lines in ranges.items()}

    def instructions(self, function: Rdna3Function | None = None) -> Iterator[Rdna3Line]:
        """Instructions of one function, or of the file."""
        lines = (
            self.lines
            if function is None
            else self.lines[function.lines.start : function.lines.stop]
        )
        return (line for line in lines if line.kind is Rdna3LineKind.INSTRUCTION)

    def labels(self, function: Rdna3Function) -> dict[str, int]:
        """Label -> index of its line, inside ``function``."""
        return {self.lines[i].label: i for i in function.lines if self.lines[i].label}

    @cached_property
    def metadata(self) -> dict[str, Any]:
        """The metadata document; empty when there is none.

        Raises ``ValueError`` when it is not YAML.
        """
        text = "\n".join(line.text for line in self.lines if line.kind is Rdna3LineKind.METADATA)
        if _is_deep(text):
            raise ValueError("the block after .amdgpu_metadata is nested too deep")
        try:
            document = yaml.load(text, Loader=_YAML_LOADER)
        except (yaml.YAMLError, TypeError) as error:  # TypeError: a list as a key
            raise ValueError(f"the block after .amdgpu_metadata is not YAML: {error}") from error
        return document if isinstance(document, dict) else {}

    @cached_property
    def kernels(self) -> dict[str, Rdna3Kernel]:
        """Name -> kernel, in order of appearance.

        Raises ``ValueError`` when the metadata cannot be read.
        """
        entries = self.metadata.get("amdhsa.kernels") or []
        if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
            raise ValueError("amdhsa.kernels of .amdgpu_metadata is not a list of mappings")
        described = {name: each for each in entries if isinstance(name := each.get(".name"), str)}
        return {
            name: Rdna3Kernel(name, descriptor, described.get(name, {}))
            for name, descriptor in self._descriptors.items()
        }

    @cached_property
    def variables(self) -> dict[str, Variable]:
        """Name -> device variable (``.type NAME,@object``, ``.comm``, ``.amdgpu_lds``)."""
        return {
            name: Variable(name, item.size, item.section, item.linkage)
            for name, item in gnu.objects(
                (line.label, line.mnemonic, line.operands)
                for line in self.lines
                if line.label or line.mnemonic in gnu.OBJECT_DIRECTIVES
            ).items()
        }

    @cached_property
    def _descriptors(self) -> dict[str, dict[str, str]]:
        descriptors: dict[str, dict[str, str]] = {}
        current: dict[str, str] | None = None
        for line in self.lines:
            if not line.mnemonic.startswith((".amdhsa_", ".end_amdhsa_")):
                continue
            if line.mnemonic == ".amdhsa_kernel":
                current = descriptors.setdefault("".join(line.operands[:1]), {})
            elif line.mnemonic == ".end_amdhsa_kernel":
                current = None
            elif current is not None:
                key = line.mnemonic.removeprefix(".amdhsa_")
                current[key] = line.statement[len(line.mnemonic) :].strip()
        return descriptors

    def _directives(self, name: str) -> Iterator[Rdna3Line]:
        return (line for line in self.lines if line.mnemonic == name)


_YAML_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_DEEPEST = 64
_INNERMOST = re.compile(r"""\[[^\[\]{}'"\n]*+\]|\{[^\[\]{}'"\n]*+\}""")
_INDENTED = re.compile(rf"^[ \t?:-]{{{_DEEPEST}}}", re.MULTILINE)
_LINE = re.compile(r'[ \t]*(?:([\w.$@]+|"[^"]+"):(?=\s|$))?[ \t]*([^\s;:]*)[ \t]*(=?)')
_KERNEL = re.compile(r"^[ \t]*\.amdhsa_kernel[ \t]+(\S+)", re.MULTILINE)


def _is_deep(document: str) -> bool:
    """Whether YAML may be nested deeper than metadata ever is: libyaml's loader would recurse until
    the process ends. Of levels in brackets the innermost are no matter; each other level takes a
    column of its line.
    """
    opened = sum(_INNERMOST.sub("", document).count(bracket) for bracket in "[{")
    return opened > _DEEPEST or _INDENTED.search(document) is not None


def parse(text: str) -> Rdna3Module:
    """Read an assembly file; every text is a module, and rendering it gives the text back."""
    ending = "\n" if text.endswith("\n") else ""
    body = text[: len(text) - len(ending)]
    lines: list[Rdna3Line] = []
    in_metadata = False
    for written in body.split("\n"):
        if in_metadata and ".end_amdgpu_metadata" not in written:
            lines.append(Rdna3Line(Rdna3LineKind.METADATA, written))
            continue
        line = _line(written)
        in_metadata = line.mnemonic == ".amdgpu_metadata"
        lines.append(line)
    return Rdna3Module(lines, ending)


def normalize(text: str) -> str:
    """``text`` itself: assembly models read RDNA3 as the compiler wrote it."""
    return text


def kernel_names(text: str) -> list[str]:
    """Mangled names of the kernels, without parsing the rest."""
    return _KERNEL.findall(text)


def _line(written: str) -> Rdna3Line:
    match = _LINE.match(written)
    assert match is not None  # every part is optional
    label, mnemonic, equals = match.groups(default="")
    if mnemonic.startswith("//"):
        mnemonic = ""
    if not mnemonic:
        return Rdna3Line(Rdna3LineKind.LABEL if label else Rdna3LineKind.BLANK, written, label)
    is_directive = mnemonic[0] == "." or equals
    kind = Rdna3LineKind.DIRECTIVE if is_directive else Rdna3LineKind.INSTRUCTION
    return Rdna3Line(kind, written, label, mnemonic)
