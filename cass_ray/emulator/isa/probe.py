"""Which machine instructions LLVM's assembler knows, found by asking its disassembler.

Every opcode number of every encoding format is put into instruction words with a few choices of
operand fields; what the disassembler accepts gives mnemonic and operand shapes. This is the
independent list that ``cass emulator coverage`` measures the engine against, and the check on the
engine's own opcode tables.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from cass_ray.emulator.isa.form import Form
from cass_ray.emulator.isa.gfx9 import formats as gfx9
from cass_ray.emulator.isa.gfx11 import formats as gfx11
from cass_ray.emulator.isa.gfx12 import formats as gfx12

DISASSEMBLER_VARIABLE = "CASS_LLVM_MC"
"""Names the ``llvm-mc`` to ask; otherwise the newest one in the path is."""

_NEWEST, _OLDEST = 30, 19
_LINE = re.compile(r"^\s+(?P<text>\S.*?)\s*[;/]+ encoding: \[(?P<bytes>[0-9a-fx,]+)\]")
_COMMENT = re.compile(r"/\*.*?\*/")
_SUFFIX = re.compile(r"_(?:e32|e64)$")


@dataclass(frozen=True)
class ProbedInstructionSet:
    """An instruction set as the engine has it: what LLVM calls its machine, and its formats.

    ``attributes`` are further choices of ``-mattr``: spellings that LLVM has only with them.
    """

    name: str
    forms: Callable[[], Iterator[Form]]
    attributes: tuple[str, ...] = ()
    oldest_llvm: int = 19
    """The first major version of LLVM that knows the machine."""


INSTRUCTION_SETS = {
    # True16: 16-bit operands are halves of registers. The default has them as whole ones, and
    # leaves out what only exists for halves.
    "gfx11": ProbedInstructionSet("gfx1100", gfx11.forms, ("+real-true16",)),
    "gfx90a": ProbedInstructionSet("gfx90a", gfx9.forms),
    "gfx942": ProbedInstructionSet("gfx942", gfx9.forms),
    "gfx12": ProbedInstructionSet("gfx1201", gfx12.forms, ("+real-true16",)),
    "gfx950": ProbedInstructionSet("gfx950", gfx9.forms, oldest_llvm=20),
}
"""The keys name the engine's tables of opcodes."""


@dataclass(frozen=True)
class Probed:
    """One opcode of one format: ``text`` is the disassembly of ``words``."""

    encoding: str
    opcode: int
    words: tuple[int, ...]
    text: str

    @property
    def mnemonic(self) -> str:
        """Without the ``_e32`` / ``_e64`` that only name the format; of this half in VOPD."""
        text = self.text.split(" :: ")[-1 if self.encoding == "VOPDY" else 0]
        return _SUFFIX.sub("", text.split()[0])

    @property
    def operands(self) -> list[str]:
        """Operand texts, modifiers dropped."""
        rest = _COMMENT.sub("", self.text).split(None, 1)[1:]
        return [part.split()[0] for part in _split(rest[0])] if rest else []


def _split(text: str) -> list[str]:
    return [part.strip() for part in re.split(r",\s*(?![^\[(]*[\])])", text) if part.strip()]


def find_disassembler() -> Path | None:
    """LLVM's ``llvm-mc``: the one that ``CASS_LLVM_MC`` names, else the newest."""
    if named := os.environ.get(DISASSEMBLER_VARIABLE):
        return Path(named)
    for major in range(_NEWEST, _OLDEST - 1, -1):
        if program := shutil.which(f"llvm-mc-{major}"):
            return Path(program)
    return None


def disassembler_version() -> str:
    """The version of :func:`find_disassembler`. Raises :class:`FileNotFoundError`."""
    done = subprocess.run([_tool(), "--version"], capture_output=True, text=True, check=True)
    match = re.search(r"LLVM version (\S+)", done.stdout)
    return match[1] if match else "unknown"


def knows(name: str) -> bool:
    """Whether the disassembler knows an instruction set. Raises :class:`FileNotFoundError`."""
    major = disassembler_version().split(".")[0]
    return not major.isdecimal() or int(major) >= INSTRUCTION_SETS[name].oldest_llvm


def probe(name: str = "gfx11") -> list[Probed]:
    """Every opcode of an instruction set that the disassembler knows, the first form of each.

    Raises :class:`FileNotFoundError` where no ``llvm-mc`` is installed that knows it.
    """
    instruction_set = INSTRUCTION_SETS[name]
    if not knows(name):
        raise FileNotFoundError(
            f"{name} takes llvm-mc {instruction_set.oldest_llvm} or newer, this is"
            f" {disassembler_version()}: name one in {DISASSEMBLER_VARIABLE}"
        )
    forms = list(instruction_set.forms())
    probed: dict[tuple[str, int, str], Probed] = {}
    for attributes in ("", *instruction_set.attributes):
        texts = disassemble([words for _, _, words in forms], name, attributes)
        opcodes = {(item.encoding, item.opcode) for item in probed.values()}
        for (encoding, opcode, words), text in zip(forms, texts, strict=True):
            if text is None or (encoding, opcode) in opcodes:
                continue
            item = Probed(encoding, opcode, words, text)
            probed.setdefault((encoding, opcode, item.mnemonic), item)
    return list(probed.values())


def disassemble(
    instructions: Iterable[tuple[int, ...]], name: str = "gfx11", attributes: str = ""
) -> list[str | None]:
    """LLVM's text of each instruction (a tuple of 32-bit words); None where it is not one."""
    inputs = [b"".join(word.to_bytes(4, "little") for word in words) for words in instructions]
    lines = ["[" + " ".join(f"0x{byte:02x}" for byte in data) + "]" for data in inputs]
    target = ["-triple=amdgcn", f"-mcpu={INSTRUCTION_SETS[name].name}"]
    target += [f"-mattr={attributes}"] if attributes else []
    done = subprocess.run(
        [_tool(), "--disassemble", "-show-encoding", *target],
        input="\n".join(lines) + "\n",
        capture_output=True,
        text=True,
        check=False,
    )
    accepted: dict[bytes, str] = {}
    for line in done.stdout.splitlines():
        if match := _LINE.match(line):
            data = bytes(int(byte, 16) for byte in match["bytes"].split(","))
            accepted.setdefault(data, match["text"])
    return [accepted.get(data) for data in inputs]


def _tool() -> Path:
    tool = find_disassembler()
    if tool is None:
        raise FileNotFoundError("llvm-mc-19 (package llvm-19) is not installed")
    return tool
