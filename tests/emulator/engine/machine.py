"""Run a few instructions on given registers."""

from __future__ import annotations

import functools
import re
import shutil
import struct
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from cass_ray.assembly.wave_mode import USUAL_MODE
from cass_ray.emulator.coverage import instruction_set_of
from cass_ray.emulator.engine_interface import INSTRUCTION_SETS, Engine, Machine
from cass_ray.toolchain.amd.clang import find_clang

EXEC, VCC, M0 = 126, 106, 125


_END_OF_PROGRAM = 0xBF810000
"""Of gfx9."""


@functools.cache
def assemble(text: str, *, wide: bool = False, processor: str = "gfx1100") -> tuple[int, ...]:
    """The machine code of ``text`` and an ``s_endpgm``, by LLVM: llvm-mc, else clang and lld."""
    source = text + "\ns_endpgm\n"
    tool = shutil.which("llvm-mc-19")
    if tool:
        data = _by_llvm_mc(tool, source, wide, processor)
    else:
        data = _by_clang(source, wide, processor)
    return struct.unpack(f"<{len(data) // 4}I", data)


def _by_llvm_mc(tool: str, source: str, wide: bool, processor: str) -> bytes:
    command = [tool, "-triple=amdgcn", f"-mcpu={processor}", "-show-encoding"]
    if not processor.startswith("gfx9"):
        both = "-mattr=+wavefrontsize64,-wavefrontsize32"
        command.append(both if wide else "-mattr=+wavefrontsize32")
    done = subprocess.run(command, input=source, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return b"".join(
        bytes(int(byte, 16) for byte in found.split(","))
        for found in re.findall(r"encoding: \[([^\]]*)\]", done.stdout)
    )


def _by_clang(source: str, wide: bool, processor: str) -> bytes:
    """Linked as plain bytes: the code alone."""
    clang = find_clang()
    with tempfile.TemporaryDirectory() as folder:
        unlinked, linked = Path(folder, "code.o"), Path(folder, "code.bin")
        command: list[str | Path] = [clang.clang, "-target", "amdgcn", f"-mcpu={processor}"]
        command += ["-mwavefrontsize64"] if wide and not processor.startswith("gfx9") else []
        command += ["-x", "assembler", "-c", "-", "-o", unlinked]
        done = subprocess.run(command, input=source, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        link: list[str | Path] = [
            clang.linker,
            "--oformat=binary",
            "-Ttext=0",
            "-e",
            "0",
            unlinked,
            "-o",
            linked,
        ]
        subprocess.run(link, check=True, capture_output=True)
        return linked.read_bytes()


class Wave:
    """A wave of 32 lanes (64 if ``wide``, or of gfx9) with all lanes active."""

    def __init__(
        self,
        engine: Engine,
        *,
        wide: bool = False,
        mode: int = USUAL_MODE,
        processor: str = "gfx1100",
    ) -> None:
        self.engine = engine
        self.processor = processor
        wide = wide or processor.startswith("gfx9")
        self.machine = Machine()
        self.machine.set = INSTRUCTION_SETS.index(instruction_set_of(processor))
        self.machine.mode = mode
        self.machine.wide = wide
        self.lanes = 64 if wide else 32
        self.machine.scalar[EXEC] = 0xFFFFFFFF
        self.machine.scalar[EXEC + 1] = 0xFFFFFFFF if wide else 0

    def set(self, number: int, values: Sequence[int] | int) -> None:
        """Set a VGPR: one value a lane, or the same for all."""
        lanes = [values] * self.lanes if isinstance(values, int) else values
        for lane, value in enumerate(lanes):
            self.machine.vector[number][lane] = value & 0xFFFFFFFF

    def get(self, number: int) -> list[int]:
        """A VGPR's lanes."""
        return list(self.machine.vector[number][: self.lanes])

    def run(self, text: str) -> Wave:
        """Assemble and run ``text``."""
        words = assemble(text, wide=bool(self.machine.wide), processor=self.processor)
        assert self.engine.execute(words, self.machine), text
        return self

    def run_words(self, words: Sequence[int]) -> Wave:
        """Run machine code, which an ``s_endpgm`` is added to."""
        assert self.engine.execute((*words, _END_OF_PROGRAM), self.machine), words
        return self


def f32(value: float) -> int:
    """Bits of an f32."""
    return int(struct.unpack("<I", struct.pack("<f", value))[0])


def f16(value: float) -> int:
    """Bits of an f16."""
    return int(struct.unpack("<H", struct.pack("<e", value))[0])
