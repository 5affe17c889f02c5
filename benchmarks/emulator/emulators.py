"""The CPU backend beside tinygrad's RDNA3 emulators, on the same code objects.

``python -m benchmarks.emulator.emulators --tinygrad TREE [--remu LIBRARY]``: ``TREE`` is a checkout
of https://github.com/tinygrad/tinygrad with ``test/mockgpu/amd/emu.py``, its emulator in Python;
``LIBRARY`` is its emulator in Rust, which older checkouts hold: ``cargo build --release
--manifest-path extra/remu/Cargo.toml``.

One gfx1100 code object holds all kernels. For all alike its ``buffer_gl0_inv`` are ``s_nop``:
emu.py does not know the former, and on a CPU it has nothing to do. Each run is a process of its own
that loads it, fills the same arguments, and compares what the kernel wrote with numpy's result. One
thread, CPU seconds. Writes ``benchmarks/results/emulator_peers.json`` and ``emulator_speed.md``.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import math
import mmap
import os
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.emulator.speed_report import EMULATORS, OURS, write
from benchmarks.folders import RESULTS
from cass_ray.corpus.reading.source_files import gather
from cass_ray.emulator.build import runtime_library
from cass_ray.emulator.code_object import KernelDescription, describe
from cass_ray.toolchain.locate import find_amd
from cass_ray.toolchain.unit import Unit

PROGRAMS = Path(__file__).parent / "speed_programs"
REPETITIONS = {"cass": 25, "remu": 3, "emu.py": 2}
"""Runs after the first one; the fastest counts."""

_INVALIDATE = struct.pack("<II", 0xE0AC0000, 0)  # buffer_gl0_inv, at every barrier
_NOTHING = struct.pack("<II", 0xBF800000, 0xBF800000)  # s_nop, twice

Floats = npt.NDArray[np.float32]
Dimensions = tuple[int, int, int]


@dataclass(frozen=True)
class Case:
    """A launch: kernel, grid in workgroups, workgroup, and the ``int`` behind three pointers."""

    kernel: str
    grid: Dimensions
    block: Dimensions
    elements: int
    argument: int
    reference: Callable[[Floats, Floats], Floats]


def _product(a: Floats, b: Floats) -> Floats:
    side = math.isqrt(a.size)
    return (a.reshape(side, side) @ b.reshape(side, side)).ravel()


CASES = {
    "vector add, 262144 elements": Case(
        "_Z10vector_addPKfS0_Pfi", (1024, 1, 1), (256, 1, 1), 1 << 18, 1 << 18, lambda a, b: a + b
    ),
    "matmul in LDS, 128 x 128": Case(
        "_Z6matmulPKfS0_Pfi", (8, 8, 1), (16, 16, 1), 1 << 14, 128, _product
    ),
}


class Loaded:
    """A code object in memory, as far as an emulator needs it: no relocations."""

    def __init__(self, data: bytes) -> None:
        header, count = struct.unpack_from("<Q", data, 32)[0], struct.unpack_from("<H", data, 56)[0]
        segments = [struct.unpack_from("<IIQQQQQQ", data, header + 56 * i) for i in range(count)]
        loads = [segment for segment in segments if segment[0] == 1]  # PT_LOAD
        self._memory = mmap.mmap(
            -1, max(address + size for _, _, _, address, _, _, size, _ in loads)
        )
        for _, _, offset, address, _, in_file, _, _ in loads:
            self._memory[address : address + in_file] = data[offset : offset + in_file]
        self.base = ctypes.addressof(ctypes.c_char.from_buffer(self._memory))
        self._sections(data)

    def _sections(self, data: bytes) -> None:
        at, count = struct.unpack_from("<Q", data, 40)[0], struct.unpack_from("<H", data, 60)[0]
        sections = [struct.unpack_from("<IIQQQQIIQQ", data, at + 64 * i) for i in range(count)]
        executable = next(s for s in sections if s[2] & 4)  # SHF_EXECINSTR
        self.code_end = executable[3] + executable[5]
        self.symbols: dict[str, int] = {}
        table = next(s for s in sections if s[1] == 11)  # SHT_DYNSYM
        names = sections[table[6]][4]
        for entry in range(table[4], table[4] + table[5], 24):
            name, _, _, _, value, _ = struct.unpack_from("<IBBHQQ", data, entry)
            self.symbols[data[names + name : data.index(b"\0", names + name)].decode()] = value

    def entry(self, kernel: KernelDescription) -> tuple[int, int, int]:
        """Address and size in bytes of the code from the kernel on, and COMPUTE_PGM_RSRC2.

        See the AMDGPU usage guide, "Kernel Descriptor". The size of LDS is for the driver to add.
        """
        descriptor = self.symbols[f"{kernel.name}.kd"]
        (offset,) = struct.unpack_from("<q", self._memory, descriptor + 16)
        (rsrc2,) = struct.unpack_from("<I", self._memory, descriptor + 52)
        start = descriptor + offset
        blocks = -(-kernel.lds_size // 512)
        return self.base + start, self.code_end - start, rsrc2 | blocks << 15


# Kinds of arguments (engine.hpp, ArgumentKind): number of workgroups, size of a workgroup, both in
# three dimensions, and number of dimensions.
_COUNT, _SIZE, _DIMENSIONS = 7, 10, 19


def kernel_arguments(kernel: KernelDescription, case: Case, explicit: list[int]) -> bytearray:
    """The kernarg segment, hidden arguments included."""
    segment = bytearray(kernel.kernarg_size)
    values = iter(explicit)
    for argument in kernel.arguments:
        value = 0
        if not argument.hidden:
            value = next(values)
        elif _COUNT <= argument.kind < _COUNT + 3:
            value = case.grid[argument.kind - _COUNT]
        elif _SIZE <= argument.kind < _SIZE + 3:
            value = case.block[argument.kind - _SIZE]
        elif argument.kind == _DIMENSIONS:
            value = 3 - case.grid.count(1)
        segment[argument.offset : argument.offset + argument.size] = value.to_bytes(
            argument.size, "little"
        )
    return segment


def emulator(
    name: str, library: str | None, image: bytes, case: Case, pointers: list[int]
) -> Callable[[], None]:
    """What runs the launch once by one of tinygrad's emulators."""
    kernel = next(k for k in describe(image).kernels if k.name == case.kernel)
    loaded = Loaded(image)
    segment = kernel_arguments(kernel, case, [*pointers, case.argument])
    buffer = (ctypes.c_char * len(segment)).from_buffer(segment)
    code, size, rsrc2 = loaded.entry(kernel)
    shape = (*case.grid, *case.block)
    if name == "remu":
        function = ctypes.CDLL(str(library)).run_asm
        function.argtypes = [ctypes.c_void_p, *[ctypes.c_uint32] * 7, ctypes.c_void_p]

        def by_remu() -> None:
            assert loaded
            status = function(code, size, *shape, ctypes.addressof(buffer))
            if status != 0:
                raise RuntimeError(f"remu ended with {status}")

        return by_remu

    from test.mockgpu.amd.emu import run_asm  # type: ignore[import-not-found]

    def by_python() -> None:
        assert loaded
        run_asm(code, size, *shape, ctypes.addressof(buffer), rsrc2, kernel.private_size)

    return by_python


def backend(image: bytes, case: Case, pointers: list[int]) -> Callable[[], None]:
    """What runs the launch once by the CPU backend, through HIP's module interface."""
    hip = ctypes.CDLL(str(runtime_library()))
    module, function = ctypes.c_void_p(), ctypes.c_void_p()

    def call(name: str, *arguments: Any) -> None:
        status = getattr(hip, name)(*arguments)
        if status != 0:
            raise RuntimeError(f"{name}: hipError_t {status}")

    call("hipModuleLoadData", ctypes.byref(module), image)
    call("hipModuleGetFunction", ctypes.byref(function), module, case.kernel.encode())
    values = [*map(ctypes.c_void_p, pointers), ctypes.c_int(case.argument)]
    parameters = (ctypes.c_void_p * len(values))(*map(ctypes.addressof, values))

    def once() -> None:
        assert values
        call("hipModuleLaunchKernel", function, *case.grid, *case.block, 0, None, parameters, None)
        call("hipDeviceSynchronize")

    return once


def measure(name: str, library: str | None, image: bytes, case: Case) -> float:
    """CPU seconds of the fastest run but the first.

    Raises :class:`ValueError` where the kernel's result is not numpy's.
    """
    draw = np.random.default_rng(7)
    a, b = (draw.random(case.elements, dtype=np.float32) for _ in range(2))
    c = np.zeros(case.elements, dtype=np.float32)
    pointers = [array.ctypes.data for array in (a, b, c)]
    if name == "cass":
        once = backend(image, case, pointers)
    else:
        once = emulator(name, library, image, case, pointers)
    once()
    if not np.allclose(c, case.reference(a, b), rtol=1e-5):
        raise ValueError(f"{name} computes {c[:4]} instead of {case.reference(a, b)[:4]}")
    taken = []
    for _ in range(REPETITIONS[name]):
        started = time.process_time()
        once()
        taken.append(time.process_time() - started)
    return min(taken)


def in_process(name: str, image: Path, case: str, library: Path | None, tree: Path | None) -> float:
    """:func:`measure` in a process of its own; its output where it fails."""
    environment = {**os.environ, "CASS_EMULATOR_THREADS": "1"}
    environment["PYTHONPATH"] = os.pathsep.join(map(str, filter(None, (Path.cwd(), tree))))
    command = [sys.executable, "-m", "benchmarks.emulator.emulators", "--one", name, "--case", case]
    command += ["--image", str(image), *(["--remu", str(library)] if library else [])]
    done = subprocess.run(
        command, capture_output=True, text=True, env=environment, timeout=1800, check=False
    )
    if done.returncode != 0:
        raise RuntimeError(f"{name}, {case}:\n{done.stderr[-2000:]}")
    return float(done.stdout.split()[-1])


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--tinygrad", type=Path, help="checkout that holds emu.py")
    parser.add_argument("--remu", type=Path, help="the library of the emulator in Rust")
    parser.add_argument("--version", default="", help="what the checkout is, for the report")
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--one", choices=sorted(REPETITIONS), help=argparse.SUPPRESS)
    parser.add_argument("--case", choices=sorted(CASES), help=argparse.SUPPRESS)
    parser.add_argument("--image", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.one:
        image = options.image.read_bytes()
        print(measure(options.one, str(options.remu), image, CASES[options.case]))
        return 0
    toolchain = find_amd()
    with tempfile.TemporaryDirectory() as folder:
        image = Path(folder, "kernels.co")
        unit = gather(Unit(PROGRAMS, PurePosixPath("kernels.hip"))).write(Path(folder))
        made = toolchain.compile(unit, optimization="-O3")
        code = toolchain.assemble(made.device_assembly)
        image.write_bytes(code.replace(_INVALIDATE, _NOTHING))
        table: dict[str, dict[str, float]] = {}
        failures: dict[str, str] = {}
        for case in CASES:
            row = table.setdefault(case, {})
            row[OURS] = in_process("cass", image, case, None, None)
            for name, library, tree in (
                ("remu", options.remu, None),
                ("emu.py", None, options.tinygrad),
            ):
                if library is None and tree is None:
                    continue
                try:
                    row[f"tinygrad, {name}"] = in_process(name, image, case, library, tree)
                except RuntimeError as error:
                    failures[f"{case}, {name}"] = str(error).splitlines()[-1]
            print(case, row, flush=True)
    load = ", ".join(f"{each:.1f}" for each in os.getloadavg())
    machine = f"{os.cpu_count()} CPUs, load average {load}"
    report = {"machine": machine, "tinygrad": options.version}
    report |= {"cases": table, "failures": failures}
    (options.results / EMULATORS).write_text(json.dumps(report, indent=2) + "\n")
    sys.stdout.write(write(options.results))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
