"""Which gfx1100 machine instructions LLVM's assembler knows, found by asking its disassembler.

Every opcode number of every encoding format is put into instruction words with a few choices of
operand fields; what the disassembler accepts gives mnemonic and operand shapes. This is the
independent list that ``cass emulator coverage`` measures the engine against, and the check on the
engine's own opcode tables.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

MACHINE = "gfx1100"

_TARGET = ("-triple=amdgcn", f"-mcpu={MACHINE}")
_LINE = re.compile(r"^\s+(?P<text>\S.*?)\s*[;/]+ encoding: \[(?P<bytes>[0-9a-fx,]+)\]")
_COMMENT = re.compile(r"/\*.*?\*/")
_SUFFIX = re.compile(r"_(?:e32|e64)$")


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


def _pair(low: int, high: int) -> tuple[int, int]:
    return (low & 0xFFFFFFFF, high & 0xFFFFFFFF)


# Source fields: VGPR numbers are 256 up; 4-aligned SGPRs suit every width.
_V1, _V2, _V3, _S1, _S2, _S3 = 256 + 20, 256 + 40, 256 + 60, 16, 32, 48
_SOURCES = [
    (first, second, third)
    for third in (0, _V3, _S3)
    for second in (0, _V2, _S2)
    for first in (_V1, _S1, 0)
]


def _scalar_formats() -> Iterator[tuple[str, int, tuple[int, ...]]]:
    for op in range(0x60):
        yield "SOP2", op, (0b10 << 30 | op << 23 | 8 << 16 | 32 << 8 | 16,)
    for op in range(128):
        for source in (32, 0):
            yield "SOPC", op, (0b101111110 << 23 | op << 16 | source << 8 | 16,)
        for value in (1, 0):
            yield "SOPP", op, (0b101111111 << 23 | op << 16 | value,)
    for op in range(0x1C):
        yield "SOPK", op, (0b1011 << 28 | op << 23 | 8 << 16 | 0x0801,)
        yield "SOPK", op, (0b1011 << 28 | op << 23 | 124 << 16 | 1,)
        yield "SOPK", op, _pair(0b1011 << 28 | op << 23 | 0x0801, 0x1234)
    for op in range(256):
        for destination, source in ((8, 16), (8, 0), (8, 128), (0, 16), (8, 0x80)):
            yield "SOP1", op, (0b101111101 << 23 | destination << 16 | op << 8 | source,)
    for op in range(256):
        for destination in (32, 0):
            yield "SMEM", op, _pair(0b111101 << 26 | op << 18 | destination << 6 | 8, 0xF8 << 24)
        yield "SMEM", op, _pair(0b111101 << 26 | op << 18, 0)


def _vector_formats() -> Iterator[tuple[str, int, tuple[int, ...]]]:
    for op in range(0x3E):
        word = op << 25 | 10 << 17 | 40 << 9 | _V1
        yield "VOP2", op, (word,)
        yield "VOP2", op, _pair(word, 0x12345678)
    for op in range(256):
        for destination, source in ((10, _V1), (0, 0), (10, _S1)):
            yield "VOP1", op, (0b0111111 << 25 | destination << 17 | op << 9 | source,)
        yield "VOPC", op, (0b0111110 << 25 | op << 17 | 40 << 9 | _V1,)
    for op in range(1024):
        for first, second, third in _SOURCES:
            sources = third << 18 | second << 9 | first
            for destination in (10, 126, 0):
                yield "VOP3", op, _pair(0b110101 << 26 | op << 16 | destination, sources)
            yield "VOP3SD", op, _pair(0b110101 << 26 | op << 16 | 12 << 8 | 10, sources)
    for op in range(128):
        for first, second, third in _SOURCES:
            sources = third << 18 | second << 9 | first
            yield "VOP3P", op, _pair(0b11001100 << 24 | op << 16 | 1 << 14 | 10, sources | 3 << 27)
            yield "VOP3P", op, _pair(0b11001100 << 24 | op << 16 | 10, sources)
    # The other half is a v_dual_mul_f32, op 3.
    for op in range(16):
        for source in (41, 0):
            word = 0b110010 << 26 | op << 22 | 3 << 17 | source << 9 | _V1
            fields = 10 << 24 | 6 << 17 | 42 << 9 | _V1 + 1
            yield "VOPDX", op, _pair(word, fields)
            yield "VOPDX", op, (*_pair(word, fields), 0x12345678)
    for op in range(32):
        for source in (42, 0):
            word = 0b110010 << 26 | 3 << 22 | op << 17 | 41 << 9 | _V1
            fields = 10 << 24 | 6 << 17 | source << 9 | _V1 + 1
            yield "VOPDY", op, _pair(word, fields)
            yield "VOPDY", op, (*_pair(word, fields), 0x12345678)
    for op in range(128):
        yield "VINTERP", op, _pair(0b11001101 << 24 | op << 16 | 10, _V3 << 18 | _V2 << 9 | _V1)
    for op in range(4):
        yield "LDSDIR", op, (0b11001110 << 24 | op << 20 | 10,)


def _memory_formats() -> Iterator[tuple[str, int, tuple[int, ...]]]:
    for op in range(256):
        for destination, data1, data0, address in (
            (10, 60, 40, 20),
            (10, 0, 40, 20),
            (10, 0, 0, 20),
            (0, 60, 40, 20),
            (0, 0, 40, 20),
            (0, 0, 0, 20),
            (10, 0, 0, 0),
            (0, 0, 0, 0),
            (0, 0, 20, 0),
            (10, 0, 40, 0),
        ):
            fields = destination << 24 | data1 << 16 | data0 << 8 | address
            for gds in (0, 1):
                yield "DS", op, _pair(0b110110 << 26 | op << 18 | gds << 17, fields)
    for name, segment in (("FLAT", 0), ("SCRATCH", 1), ("GLOBAL", 2)):
        for op in range(128):
            for glc in (0, 1):
                for destination, data, address in (
                    (10, 40, 20),
                    (10, 0, 20),
                    (0, 40, 20),
                    (0, 0, 20),
                    (10, 0, 0),
                    (0, 40, 0),
                ):
                    fields = destination << 24 | 124 << 16 | data << 8 | address
                    word = 0b110111 << 26 | op << 18 | segment << 16 | glc << 14
                    yield name, op, _pair(word, fields)
                    if segment == 1 and address:
                        yield name, op, _pair(word, fields | 1 << 23)
    for op in range(256):
        yield "MUBUF", op, _pair(0b111000 << 26 | op << 18, 0)
    for op in range(256):
        for glc in (0, 1):
            for data, address in ((10, 20), (0, 0)):
                yield (
                    "MUBUF",
                    op,
                    _pair(
                        0b111000 << 26 | op << 18 | glc << 14,
                        128 << 24 | 1 << 22 | 4 << 16 | data << 8 | address,
                    ),
                )
                yield (
                    "MUBUF",
                    op,
                    _pair(0b111000 << 26 | op << 18 | glc << 14, 4 << 16 | data << 8 | address),
                )
    for op in range(16):
        yield (
            "MTBUF",
            op,
            _pair(
                0b111010 << 26 | 22 << 19 | op << 15, 128 << 24 | 1 << 22 | 4 << 16 | 10 << 8 | 20
            ),
        )
    for op in range(256):
        for mask in (0xF, 1, 3):
            for dimension in (1, 0):
                for glc in (0, 1):
                    yield (
                        "MIMG",
                        op,
                        _pair(
                            0b111100 << 26 | op << 18 | glc << 14 | mask << 8 | dimension << 2,
                            2 << 26 | 4 << 16 | 10 << 8 | 20,
                        ),
                    )
        yield (
            "MIMG",
            op,
            _pair(0b111100 << 26 | op << 18 | 0xF << 8 | 1 << 7, 4 << 16 | 10 << 8 | 20),
        )
    yield "EXP", 0, _pair(0b111110 << 26 | 0xF, 0x04030201)
    yield "EXP", 0, _pair(0b111110 << 26 | 1 << 4 | 0xF, 0x04030201)


def probe(disassembler: str | None = None) -> list[Probed]:
    """Every opcode that the disassembler knows, the first accepted form of each.

    Raises :class:`FileNotFoundError` where ``llvm-mc-19`` is not installed.
    """
    forms = [*_scalar_formats(), *_vector_formats(), *_memory_formats()]
    texts = disassemble([words for _, _, words in forms], disassembler)
    found: dict[tuple[str, int, str], Probed] = {}
    for (encoding, opcode, words), text in zip(forms, texts, strict=True):
        if text is None:
            continue
        item = Probed(encoding, opcode, words, text)
        found.setdefault((encoding, opcode, item.mnemonic), item)
    return list(found.values())


def disassemble(
    instructions: Iterable[tuple[int, ...]], disassembler: str | None = None
) -> list[str | None]:
    """LLVM's text of each instruction (a tuple of 32-bit words); None where it is not one."""
    tool = disassembler or shutil.which("llvm-mc-19")
    if tool is None:
        raise FileNotFoundError("llvm-mc-19 (package llvm-19) is not installed")
    wanted = [b"".join(word.to_bytes(4, "little") for word in words) for words in instructions]
    lines = ["[" + " ".join(f"0x{byte:02x}" for byte in data) + "]" for data in wanted]
    done = subprocess.run(
        [tool, "--disassemble", "-show-encoding", *_TARGET],
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
    return [accepted.get(data) for data in wanted]
