"""Builds of projects are right where clang alone is not: divisions, scalars, exits of loops."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from cass_ray.emulator.build import runtime_library
from cass_ray.project.cmake import packaged
from cass_ray.project.prefix import write_prefix
from cass_ray.project.steps import Workbench
from cass_ray.toolchain.amd.compiler_driver import write_driver
from cass_ray.toolchain.amd.lost_exits import lost_exits, lost_exits_of_object
from cass_ray.toolchain.amd.spilled_lanes import shared_registers
from cass_ray.toolchain.amd.workarounds import KEEPS_EXITS, WAYS_TO_SPILL, as_flags
from cass_ray.toolchain.locate import find_amd
from cass_ray.translate.engines.registry import make_translator
from tests.toolchain.amd.test_divisions import program
from tests.toolchain.amd.test_known_faults import PROGRAM as KNOWN_FAULTS
from tests.toolchain.amd.test_lost_exits import NESTED, OTHER_LAYOUT
from tests.toolchain.amd.test_workarounds import MANY_SCALARS, SEVERAL_FUNCTIONS

UNRELATED = """
#include <hip/hip_runtime.h>
#include <cstdio>
__global__ void sines(float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int j = 0; j < n; ++j) out[i] += sinf(out[i + j] * 2.f) / (out[i] + 3.f);
  if (i == 0) printf("%d\\n", n);
}
"""

_, TO_OWN_REGISTERS, TO_MEMORY = (as_flags(options) for options in WAYS_TO_SPILL)

COMPUTED = MANY_SCALARS.replace(
    "int main() {}",
    """
#include <cstdio>
int main() {
  int given[64], out[64], *device_given, *device_out;
  for (int i = 0; i < 64; ++i) given[i] = i + 1;
  hipMalloc(&device_given, sizeof given);
  hipMalloc(&device_out, sizeof out);
  hipMemcpy(device_given, given, sizeof given, hipMemcpyHostToDevice);
  steps<<<1, 64>>>(device_given, device_out, 1000);
  hipMemcpy(out, device_out, sizeof out, hipMemcpyDeviceToHost);
  for (int i = 0; i < 64; ++i) printf("%d\\n", out[i]);
}
""",
)

IN_A_FUNCTION = MANY_SCALARS.replace("__global__ void steps", "__device__ __noinline__ void steps")
IN_A_FUNCTION = IN_A_FUNCTION.replace('"s"(n)', '"s"(__builtin_amdgcn_readfirstlane(n))')
IN_A_FUNCTION += """
__global__ void call(const int* given, int* out, int n) { steps(given, out, n); }
"""
"""LLVM's remark says that the kernel spills nothing."""


@pytest.fixture(scope="module")
def prefix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("prefix")
    return write_prefix(folder, find_amd(), runtime_library(), "gfx1100", None)


def hipcc(prefix: Path, *arguments: str | Path) -> None:
    """Without anything in the environment."""
    command = [prefix / "bin" / "hipcc", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={})
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""


def hipcc_calling(clang: Path, prefix: Path, *arguments: str | Path) -> None:
    """With ``clang`` in the place of what was written to the prefix."""
    settings = prefix / "share" / "cass" / "hipcc.env"
    text = settings.read_text()
    settings.write_text(re.sub("^CLANG=.*", f"CLANG={clang}", text, flags=re.MULTILINE))
    try:
        hipcc(prefix, *arguments)
    finally:
        settings.write_text(text)


def listing(prefix: Path, folder: Path, program: str, *arguments: str) -> str:
    """The device code of ``program``."""
    source, made = folder / "program.hip", folder / "program.s"
    source.write_text(program)
    hipcc(prefix, "-S", "--cuda-device-only", *arguments, source, "-o", made)
    return made.read_text()


def steps(value: int) -> int:
    """To 1, halved where it is even, else tripled and one more."""
    return 0 if value == 1 else 1 + steps(3 * value + 1 if value % 2 else value // 2)


@pytest.mark.amd
@pytest.mark.parametrize(
    "ways", [(), ("-fgpu-rdc",), pytest.param(("-O1", "-g"), marks=pytest.mark.slow)]
)
def test_hipcc_divides_right(prefix: Path, tmp_path: Path, ways: tuple[str, ...]) -> None:
    source, executable = tmp_path / "program.hip", tmp_path / "program"
    source.write_bytes(program().files["program.hip"])
    hipcc(prefix, *ways, "-w", source, "-o", executable)
    done = subprocess.run([executable], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "compared\n"), done.stderr


@pytest.mark.amd
@pytest.mark.parametrize(
    "ways", [(), ("-fgpu-rdc",), pytest.param(("-O1", "-g"), marks=pytest.mark.slow)]
)
def test_hipcc_computes_right_what_llvm_does_not(
    prefix: Path, tmp_path: Path, ways: tuple[str, ...]
) -> None:
    source, executable = tmp_path / "program.hip", tmp_path / "program"
    source.write_text(make_translator("rules").translate(KNOWN_FAULTS.read_text()).source)
    hipcc(prefix, *ways, "-w", source, "-o", executable)
    done = subprocess.run([executable], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "compared\n"), done.stderr


@pytest.mark.amd
@pytest.mark.parametrize(
    "ways",
    [("-c", "-O3"), ("-c", "-O0"), pytest.param(("-c", "-O2", "-g"), marks=pytest.mark.slow)],
)
def test_code_without_divisions_is_the_compilers_own(
    prefix: Path, tmp_path: Path, ways: tuple[str, ...]
) -> None:
    """Without optimization there is no kernel whose scalars all fit."""
    source, ours, own = (tmp_path / name for name in ("unrelated.hip", "ours", "own"))
    source.write_text(UNRELATED)
    clang = find_amd().clang
    assert write_driver(tmp_path, clang, "23.1.0") == clang
    spills = TO_OWN_REGISTERS if "-O0" in ways else ()
    hipcc(prefix, *ways, "-fuse-cuid=none", source, "-o", ours)
    hipcc_calling(clang, prefix, *ways, *spills, "-fuse-cuid=none", source, "-o", own)
    assert ours.read_bytes() == own.read_bytes()


@pytest.mark.amd
@pytest.mark.parametrize("ways", [("-O2",), ("-O2", "-g")])
@pytest.mark.parametrize("program", [MANY_SCALARS, IN_A_FUNCTION])
def test_scalars_with_a_register_to_themselves_stay_in_its_lanes(
    prefix: Path, tmp_path: Path, program: str, ways: tuple[str, ...]
) -> None:
    text = listing(prefix, tmp_path, program, *ways)
    assert "v_writelane_b32" in text
    assert list(shared_registers(text)) == []


@pytest.mark.amd
def test_what_scalars_in_lanes_compute_is_right(prefix: Path, tmp_path: Path) -> None:
    source, executable = tmp_path / "program.hip", tmp_path / "program"
    source.write_text(COMPUTED)
    hipcc(prefix, "-O2", "-w", source, "-o", executable)
    done = subprocess.run([executable], capture_output=True, text=True, check=False)
    kept = sum(1000 + i + 64 for i in range(120))
    assert done.stdout.split() == [str(kept + steps(value)) for value in range(1, 65)], done.stderr


@pytest.mark.amd
def test_unoptimized_code_is_made_again_with_registers_of_their_own(
    prefix: Path, tmp_path: Path
) -> None:
    """Of memory not even this can be said: scalars are put together in lanes on their way to it."""
    text = listing(prefix, tmp_path, SEVERAL_FUNCTIONS, "-O0")
    assert "v_writelane_b32" in text
    assert list(shared_registers(text)) == []


@pytest.mark.amd
@pytest.mark.parametrize(
    ("program", "level"),
    [
        pytest.param(COMPUTED, "-O2", marks=pytest.mark.slow),
        (IN_A_FUNCTION, "-O2"),
        pytest.param(SEVERAL_FUNCTIONS, "-O0", marks=pytest.mark.slow),
    ],
)
def test_without_python_spilled_scalars_go_to_memory(
    prefix: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str, level: str
) -> None:
    source, ours, own = (tmp_path / name for name in ("program.hip", "ours", "own"))
    source.write_text(program)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "gone"))
    amd = find_amd()
    driver = write_driver(tmp_path / "llvm", amd.clang, amd.version)
    ways = ("-c", "-w", level, "-fuse-cuid=none")
    hipcc_calling(driver, prefix, *ways, source, "-o", ours)
    options = (*TO_MEMORY, *as_flags(KEEPS_EXITS))
    hipcc_calling(amd.clang, prefix, *ways, *options, source, "-o", own)
    assert ours.read_bytes() == own.read_bytes()


@pytest.mark.amd
@pytest.mark.parametrize("gone", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_loops_keep_their_exits(
    prefix: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, gone: bool
) -> None:
    """In listings and in objects, with Python or without."""
    amd = find_amd()
    if gone:
        monkeypatch.setattr(sys, "executable", str(tmp_path / "gone"))
    driver = write_driver(tmp_path / "llvm", amd.clang, amd.version)
    source = tmp_path / "nested.hip"
    source.write_text(f"#include <hip/hip_runtime.h>\n{NESTED}")
    ways = ("-Os", "-w", "--cuda-device-only", "--no-gpu-bundle-output", "-mllvm", OTHER_LAYOUT)
    for clang, lost in ((driver, 0), (amd.clang, 1)):
        text, code = tmp_path / f"{lost}.s", tmp_path / f"{lost}.o"
        hipcc_calling(clang, prefix, *ways, "-S", source, "-o", text)
        hipcc_calling(clang, prefix, *ways, "-c", source, "-o", code)
        assert len(list(lost_exits(text.read_text()))) == lost
        assert len(list(lost_exits_of_object(code.read_bytes()))) == lost


@pytest.mark.amd
def test_builds_in_the_sandbox_have_that_python(prefix: Path, tmp_path: Path) -> None:
    (tmp_path / "many.hip").write_text(MANY_SCALARS)
    bench = Workbench(tmp_path, prefix, find_amd(), runtime_library(), "gfx1100")
    step = bench.build("hipcc -O2 -S --cuda-device-only many.hip -o many.s")
    assert step.passed, step.log
    text = (tmp_path / "many.s").read_text()
    assert "v_writelane_b32" in text
    assert "scratch_" not in text


@pytest.mark.amd
def test_cmake_4_takes_files_that_ask_for_an_older_one(prefix: Path, tmp_path: Path) -> None:
    cmake = packaged()
    if cmake is None:
        pytest.skip("needs the package cmake")
    (tmp_path / "CMakeLists.txt").write_text("cmake_minimum_required(VERSION 2.8)\nproject(x C)\n")
    bench = Workbench(tmp_path, prefix, find_amd(), runtime_library(), "gfx1100")
    bench = replace(bench, tools=(cmake,), also_visible=(cmake.parents[1],))
    step = bench.build("cmake -S . -B build-hip")
    assert step.passed, step.log


@pytest.mark.amd
def test_reading_code_leaves_its_debug_information_alone(prefix: Path, tmp_path: Path) -> None:
    (tmp_path / "many.hip").write_text(MANY_SCALARS)
    ways = ("-O2", "-g", "-gsplit-dwarf", "-c", "--cuda-device-only", "--no-gpu-bundle-output")
    hipcc(prefix, *ways, tmp_path / "many.hip", "-o", tmp_path / "many.o")
    (separate,) = tmp_path.glob("*.dwo")
    assert separate.read_bytes().startswith(b"\x7fELF")


@pytest.mark.amd
def test_the_code_that_is_read_has_its_comments(prefix: Path, tmp_path: Path) -> None:
    """They say where LLVM begins to use a register; a build may want a listing without them."""
    amd, driver = find_amd(), tmp_path / "llvm"
    write_driver(driver, amd.clang, amd.version)
    reader = "import sys; sys.exit('; implicit-def: ' not in open(sys.argv[1]).read())"
    (driver / "spilled_lanes.py").write_text(reader)
    source, made = tmp_path / "many.hip", tmp_path / "many.s"
    source.write_text(MANY_SCALARS)
    ways = ("-O2", "-S", "--cuda-device-only", "-fno-verbose-asm")
    hipcc_calling(driver / "clang", prefix, *ways, source, "-o", made)
    assert "implicit-def" not in made.read_text()
    assert "scratch_" not in made.read_text()
