"""Texture references, which CUDA 12 took away and public code has."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

import pytest

from cass_ray.dataset.row import Reason
from cass_ray.toolchain.errors import ToolMissing
from cass_ray.toolchain.locate import find_nvidia
from cass_ray.toolchain.nvidia.toolchain import NvidiaToolchain
from cass_ray.toolchain.unit import CompileFailure, Unit


@pytest.fixture(scope="module")
def nvidia() -> NvidiaToolchain:
    try:
        return find_nvidia()
    except ToolMissing as missing:
        pytest.skip(str(missing))


def unit(folder: Path, source: str) -> Unit:
    (folder / "a.cu").write_text(source)
    return Unit(folder, PurePosixPath("a.cu"))


HOST = """
int bind(unsigned* memory, cudaArray_t array) {
  cudaChannelFormatDesc format = cudaCreateChannelDesc<unsigned>();
  t.addressMode[0] = cudaAddressModeClamp;
  t.filterMode = cudaFilterModePoint;
  t.normalized = false;
  cudaBindTexture(nullptr, t, memory);
  cudaBindTexture(nullptr, &t, memory, &format, 64);
  cudaBindTextureToArray(t, array);
  return cudaUnbindTexture(t);
}
"""


@pytest.mark.parametrize(
    ("declaration", "result", "fetch", "ptx"),
    [
        # As nvcc 11.8 writes these fetches (PTX ISA, `tex`: geometry, result, coordinate).
        ("texture<unsigned> t;", "unsigned", "tex1Dfetch(t, i)", "tex.1d.v4.u32.s32"),
        ("texture<uint4, 1, cudaReadModeElementType> t;", "uint4", "tex1Dfetch(t, i)",
         "tex.1d.v4.u32.s32"),
        ("static texture<float, 2> t;", "float", "tex2D(t, i, 0.5f)", "tex.2d.v4.f32.f32"),
        ("texture<float4, cudaTextureType3D> t(1, cudaFilterModeLinear, cudaAddressModeWrap);",
         "float4", "tex3D(t, i, 0.5f, 0.0f)", "tex.3d.v4.f32.f32"),
        ("texture<unsigned char, 1, cudaReadModeNormalizedFloat> t;", "float",
         "tex1Dfetch(t, i)", "tex.1d.v4.f32.s32"),
        ("texture<short2, 2, cudaReadModeNormalizedFloat> t;", "float2", "tex2D(t, i, 1.0f)",
         "tex.2d.v4.f32.f32"),
        ("texture<int, cudaTextureType2DLayered> t;", "int", "tex2DLayered(t, 1.0f, 2.0f, i)",
         "tex.a2d.v4.s32.f32"),
    ],
)  # fmt: skip
def test_a_fetch_reads_what_is_bound_to_the_reference(
    nvidia: NvidiaToolchain,
    tmp_path: Path,
    declaration: str,
    result: str,
    fetch: str,
    ptx: str,
) -> None:
    kernel = f"__global__ void k({result}* p) {{ int i = threadIdx.x; p[i] = {fetch}; }}\n"
    made = nvidia.compile(unit(tmp_path, f"{declaration}\n{kernel}{HOST}"), want_ptx=True)
    text = made.ptx["sm_80"]
    (line,) = [line.split() for line in text.splitlines() if "tex." in line and "{" in line]
    assert line[0] == ptx
    assert "[t," in line  # the reference itself: no object, no handle in memory
    assert ".global .texref t;" in text
    assert ".extern .func" not in text and ".func" not in text
    assert "cudaBindTexture" in made.host_assembly
    assert made.flags.endswith("-include cass_removed.h")


def test_a_program_without_them_is_compiled_as_before(
    nvidia: NvidiaToolchain, tmp_path: Path
) -> None:
    source = "namespace a { struct texture { int x; }; }\n__global__ void k(a::texture* t) {}\n"
    made = nvidia.compile(unit(tmp_path, source))
    assert "cass_removed" not in made.flags


@pytest.mark.parametrize(
    "source",
    [
        "texture<float> t;\n__global__ void k(float* p) { *p = tex1Dfetch(t, 1) }\n",
        "texture<float, 2> t;\n__global__ void k(float* p) { *p = tex2Dgather(t, 1, 1); }\n",
        "surface<void, 2> s;\n__global__ void k(float* p) { *p = surf2Dread<float>(s, 1, 1); }\n",
    ],
)
def test_what_it_does_not_give_back_is_the_compilers_error(
    nvidia: NvidiaToolchain, tmp_path: Path, source: str
) -> None:
    with pytest.raises(CompileFailure) as failed:
        nvidia.compile(unit(tmp_path, source))
    assert failed.value.reason is Reason.COMPILE_ERROR


def test_a_header_that_names_the_type_alone_compiles(
    nvidia: NvidiaToolchain, tmp_path: Path
) -> None:
    source = "inline void unbind(const textureReference* t) { cudaUnbindTexture(t); }\n"
    made = nvidia.compile(unit(tmp_path, source + "__global__ void k(int* p) { *p = 1; }\n"))
    assert made.flags.endswith("-include cass_removed.h")
