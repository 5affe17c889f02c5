"""Arithmetic that LLVM 19 to 22 get wrong for AMD GPUs (``docs/compiler_faults.md``).

The expected values are those of the host's compiler, in the program itself.
"""

from __future__ import annotations

from pathlib import Path, PurePosixPath

import pytest

from cass_ray.corpus.reading.source_files import Sources
from cass_ray.emulator.build import runtime_library
from cass_ray.emulator.execution import RunOptions, build, execute
from cass_ray.execute.backends.nvidia import NvidiaBackend
from cass_ray.port.executable import read_executable
from cass_ray.port.lifting import ContainerLifter
from cass_ray.port.running import execute as execute_ported
from cass_ray.port.running import port
from cass_ray.toolchain.amd import toolchain as amd_toolchain
from cass_ray.toolchain.amd.second_llvm import with_second_compiler
from cass_ray.toolchain.amd.toolchain import AmdToolchain
from cass_ray.toolchain.errors import ToolMissing
from cass_ray.toolchain.locate import find_amd, find_nvidia
from cass_ray.translate.engines.registry import make_translator
from cass_ray.translate.project.program import translate_program

PROGRAM = Path(__file__).parent / "programs" / "known_faults.cu"
MAIN = PurePosixPath("program.cu")


def slowly(*parameters: object) -> list[object]:
    return [pytest.param(each, marks=pytest.mark.slow) for each in parameters]


def said(toolchain: AmdToolchain, target: str, level: str) -> list[str]:
    original = Sources(MAIN, {str(MAIN): PROGRAM.read_bytes()})
    sources = translate_program(original, make_translator("rules")).sources
    runtime = runtime_library()
    program = build(sources, toolchain, runtime, architecture=target, optimization=level)
    done = execute(program, [], runtime, RunOptions(seconds=120, devices=(target,)))
    assert done.ok, done.stderr_text
    return done.stdout_text.splitlines()


@pytest.mark.amd
@pytest.mark.parametrize("level", ["-O3", *slowly("-O0", "-O1", "-O2", "-Os")])
@pytest.mark.parametrize("target", ["gfx1100", "gfx942", *slowly("gfx90a", "gfx1201")])
def test_source_is_compiled_right(target: str, level: str) -> None:
    assert said(find_amd(), target, level) == ["compared"]


WHILE_IT_RUNS = """
#include <cstdio>
#include <cuda.h>
#include <nvrtc.h>
const char* text = R"(extern "C" __global__ void k(unsigned* out, const unsigned* in) {
  unsigned x = in[0], y = in[1], p = in[2], q = in[3];
  unsigned low = p + q, carry = low < p, high = x + y, sum = high + carry;
  out[0] = sum, out[1] = sum < high, out[2] = low;
  out[3] = (int)(short)in[4] / (int)(short)in[5];
})";
int main() {
  nvrtcProgram program;
  nvrtcCreateProgram(&program, text, "k.cu", 0, nullptr, nullptr);
  if (nvrtcCompileProgram(program, 0, nullptr) != NVRTC_SUCCESS) return 1;
  size_t size;
  nvrtcGetPTXSize(program, &size);
  char* code = new char[size];
  nvrtcGetPTX(program, code);
  unsigned in[6] = {~0u, 1, 3, 4, 0x8000, 0xffff}, made[4], *device_in, *out;
  cudaMalloc(&device_in, sizeof in), cudaMalloc(&out, sizeof made);
  cudaMemcpy(device_in, in, sizeof in, cudaMemcpyHostToDevice);
  CUmodule module;
  CUfunction kernel;
  cuModuleLoadData(&module, code);
  cuModuleGetFunction(&kernel, module, "k");
  void* arguments[] = {&out, &device_in};
  cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, 0, arguments, 0);
  cudaMemcpy(made, out, sizeof made, cudaMemcpyDeviceToHost);
  for (unsigned each : made) printf("%u ", each);
}
"""


@pytest.mark.amd
@pytest.mark.parametrize("target", ["gfx1100", "gfx942"])
def test_what_programs_compile_while_they_run_is_right(target: str) -> None:
    """2^32 - 1 + 1 is 0 and carries; 3 + 4 does not; -32768 by -1 is 32768."""
    original = Sources(MAIN, {str(MAIN): WHILE_IT_RUNS.encode()})
    sources = translate_program(original, make_translator("rules")).sources
    runtime, clang = runtime_library(), find_amd()
    program = build(sources, clang, runtime, architecture=target)
    options = RunOptions(seconds=120, devices=(target,), compiler=clang)
    done = execute(program, [], runtime, options)
    assert done.stdout_text == "0 0 7 32768 ", done.stderr_text


@pytest.mark.amd
@pytest.mark.parametrize("target", ["gfx950", *slowly("gfx1100", "gfx942")])
def test_the_second_compiler_makes_it_right(target: str) -> None:
    try:
        second = with_second_compiler(find_amd())
    except ToolMissing as error:
        pytest.skip(str(error))
    assert said(second, target, "-O3") == ["compared"]


@pytest.mark.amd
def test_as_it_is_llvm_gets_it_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    clang = find_amd()
    if not clang.hides_operands:
        pytest.skip(f"LLVM {clang.version} needs no help")
    monkeypatch.setattr(amd_toolchain, "selects_wrong", lambda version: False)
    wrong = {line.split()[0] for line in said(find_amd(), "gfx1100", "-O3")}
    assert wrong >= {"carried", "three_words", "signed_limits", "compared"}


@pytest.mark.amd
@pytest.mark.nvidia
@pytest.mark.parametrize("target", ["gfx1100", "gfx942", *slowly("gfx90a")])
def test_it_is_lifted_right(target: str) -> None:
    sources = Sources(MAIN, {str(MAIN): PROGRAM.read_bytes()})
    built = NvidiaBackend(given_architecture="sm_90").build(sources)
    ported = port(
        read_executable(built.executable), ContainerLifter(find_nvidia(), find_amd(), target)
    )
    assert not ported.failures
    options = RunOptions(seconds=120, devices=(target,))
    done = execute_ported(ported, [], runtime_library(), options)
    assert done.stdout_text.splitlines() == ["compared"], done.stderr_text
