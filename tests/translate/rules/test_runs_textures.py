"""Textures and surfaces in software, on devices that have no image instructions."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

import pytest

from cass_ray.corpus.reading.source_files import Sources
from cass_ray.emulator.build import runtime_library
from cass_ray.emulator.execution import RunOptions, build, execute
from cass_ray.toolchain.locate import find_amd
from cass_ray.toolchain.sandbox.process import Completed
from cass_ray.translate.engines.registry import make_translator
from cass_ray.translate.project.program import translate_program
from tests.translate.programs import output_of
from tests.translate.rules.textures import model

FOLDER = Path(__file__).parent / "textures"
TESTS = Path(__file__).parents[2]
EXPECT = (TESTS / "port/programs/expect.h").read_bytes()
pytestmark = pytest.mark.amd


def run(program: Path, architecture: str, *arguments: str) -> Completed:
    """The translation of a program of tests for wavefronts of both widths, on a device."""
    sources = Sources(
        PurePosixPath("program.cu"), {"program.cu": program.read_bytes(), "expect.h": EXPECT}
    )
    translation = translate_program(sources, make_translator("rules"), (32, 64))
    assert {finding.construct for finding in translation.findings} <= {"sRGB"}
    runtime = runtime_library()
    built = build(translation.sources, find_amd(), runtime, architecture=architecture)
    return execute(built, arguments, runtime, RunOptions(seconds=60, devices=(architecture,)))


@pytest.mark.parametrize("architecture", ["gfx942", pytest.param("gfx90a", marks=pytest.mark.slow)])
def test_every_filter_address_coordinate_and_type_is_as_the_programming_guide_says(
    architecture: str,
) -> None:
    printed = output_of((FOLDER / "matrix.cu").read_text(), architecture=architecture)
    found = {name: words.split() for name, words in printed.items()}
    expected = model.expected()
    assert found.keys() == expected.keys()
    assert [name for name, words in expected.items() if found[name] != words] == []


@pytest.mark.parametrize("architecture", [pytest.param("gfx942", marks=pytest.mark.slow), "gfx90a"])
def test_arrays_copies_objects_and_surfaces(architecture: str) -> None:
    done = run(FOLDER / "interface.cu", architecture)
    assert (done.stdout_text, done.returncode) == ("failures: 0\n", 0), done.stderr_text


def test_an_access_outside_a_surface_ends_the_kernel() -> None:
    done = run(FOLDER / "interface.cu", "gfx942", "trap")
    assert done.stdout_text == "" and "s_trap 0x2" in done.stderr_text


def test_software_and_image_instructions_give_the_same() -> None:
    """A program that prints 22 lines of fetches and surfaces; image instructions are emulated."""
    program = TESTS / "lift/programs/textures.cu"
    software, hardware = (run(program, target) for target in ("gfx942", "gfx1201"))
    assert software.stdout_text.count("\n") == 22
    assert software.stdout_text == hardware.stdout_text


AS_AN_INTEGER = """#include <cstdio>
__global__ void k(float* out, const long long texture) {
  out[threadIdx.x] = tex1Dfetch<float>(texture, threadIdx.x) + 1;
}
int main() {
  float* data;
  cudaMallocManaged(&data, 8 * sizeof(float));
  for (int i = 0; i < 4; i++) data[i] = 3 * i;
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear = {data, cudaCreateChannelDesc<float>(), 4 * sizeof(float)};
  cudaTextureDesc how = {};
  cudaTextureObject_t object;
  cudaCreateTextureObject(&object, &resource, &how, nullptr);
  k<<<1, 4>>>(data + 4, (long long)object);
  cudaDeviceSynchronize();
  printf("texels: %g %g %g %g\\n", data[4], data[5], data[6], data[7]);
}
"""


@pytest.mark.parametrize("target", ["gfx1100", pytest.param("gfx90a", marks=pytest.mark.slow)])
def test_a_texture_object_that_is_kept_as_an_integer(target: str) -> None:
    assert output_of(AS_AN_INTEGER, architecture=target) == {"texels": "1 4 7 10"}
