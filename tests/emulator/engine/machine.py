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
from cass_ray.emulator.engine_interface import Engine, Machine
from cass_ray.toolchain.amd.clang import find_clang

EXEC, VCC, M0 = 126, 106, 125


@functools.cache
def assemble(text: str, *, wide: bool = False) -> tuple[int, ...]:
    """The machine code of ``text`` and an ``s_endpgm``, by LLVM: llvm-mc, else clang and lld."""
    source = text + "\ns_endpgm\n"
    tool = shutil.which("llvm-mc-19")
    data = _by_llvm_mc(tool, source, wide) if tool else _by_clang(source, wide)
    return struct.unpack(f"<{len(data) // 4}I", data)


def _by_llvm_mc(tool: str, source: str, wide: bool) -> bytes:
    features = "-mattr=+wavefrontsize64,-wavefrontsize32" if wide else "-mattr=+wavefrontsize32"
    command = [tool, "-triple=amdgcn", "-mcpu=gfx1100", features, "-show-encoding"]
    done = subprocess.run(command, input=source, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return b"".join(
        bytes(int(byte, 16) for byte in found.split(","))
        for found in re.findall(r"encoding: \[([^\]]*)\]", done.stdout)
    )


def _by_clang(source: str, wide: bool) -> bytes:
    """Linked as plain bytes: the code alone."""
    clang = find_clang()
    with tempfile.TemporaryDirectory() as folder:
        unlinked, linked = Path(folder, "code.o"), Path(folder, "code.bin")
        command: list[str | Path] = [clang.clang, "-target", "amdgcn", "-mcpu=gfx1100"]
        command += ["-mwavefrontsize64"] if wide else []
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
    """A wave of 32 lanes (64 if ``wide``) with all lanes active."""

    def __init__(self, engine: Engine, *, wide: bool = False, mode: int = USUAL_MODE) -> None:
        self.engine = engine
        self.machine = Machine()
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
        assert self.engine.execute(assemble(text, wide=bool(self.machine.wide)), self.machine), text
        return self


def f32(value: float) -> int:
    """Bits of an f32."""
    return int(struct.unpack("<I", struct.pack("<f", value))[0])


def f16(value: float) -> int:
    """Bits of an f16."""
    return int(struct.unpack("<H", struct.pack("<e", value))[0])
