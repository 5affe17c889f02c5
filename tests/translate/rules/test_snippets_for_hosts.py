"""Headers that files of a host's compiler include as well: what is for devices is nothing there."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from cass_ray.toolchain.locate import find_amd
from cass_ray.translate.engines.registry import make_translator

pytestmark = pytest.mark.amd


@pytest.mark.parametrize(
    "body",
    [
        "#define ballot(...) __ballot_sync(0xFFFFFFFF, __VA_ARGS__)",
        "#ifdef __CUDACC__\n__device__ int f(int v) { return __shfl_sync(~0u, v, 0); }\n#endif",
        "#ifdef __CUDACC__\n__device__ int f() { return __match_any_sync(~0u, 1); }\n#endif",
        "#ifdef __CUDACC__\n__device__ int f(int v) { return __reduce_add_sync(~0u, v); }\n#endif",
        "#ifdef __CUDACC__\n__device__ void f() { __nanosleep(10); __syncwarp(); }\n#endif",
        "struct pair { float2 both; int4 four; };",
        "#ifdef __CUDACC__\n#include <cuda_fp16.h>\n"
        "__device__ void f(half* a) { atomicAdd(a, __float2half(1)); }\n#endif",
        "#define lane() (threadIdx.x % warpSize)",
        "inline void f(cudaTextureDesc d, cudaTextureDesc* p, bool way) {\n"
        "d.disableTrilinearOptimization = way ? 1 : 0;\np->seamlessCubemap = way; }",
        "#if CUDART_VERSION < 11010\n#undef cudaEventWaitExternal\n#endif\n"
        "inline void f(cudaStream_t s, cudaEvent_t e, cudaStreamAttrValue v, bool captures) {\n"
        "(void)cudaStreamSetAttribute(s, cudaStreamAttributeAccessPolicyWindow, &v);\n"
        "(void)cudaStreamWaitEvent(s, e, captures ? cudaEventWaitExternal : 0);\n"
        "(void)cudaEventRecordWithFlags(e, s, captures ? cudaEventRecordExternal : 0); }",
    ],
)
def test_a_header_for_both(tmp_path: Path, body: str) -> None:
    _compile(tmp_path, f"#pragma once\n#include <cuda_runtime.h>\n{body}\n")


FORWARD = """
struct cudaDeviceProp;
typedef struct cudaArray* cudaArray_t;
typedef struct CUevent_st* cudaEvent_t;
typedef struct CUgraph_st* cudaGraph_t;
typedef struct CUstream_st* cudaStream_t;
typedef struct CUgraphNode_st* cudaGraphNode_t;
typedef struct CUgraphExec_st* cudaGraphExec_t;
typedef struct cudaMipmappedArray* cudaMipmappedArray_t;
typedef unsigned long long cudaTextureObject_t;
using cudaSurfaceObject_t = unsigned long long;
struct Device { Device(int, const cudaDeviceProp&); };
cudaTextureObject_t first(cudaSurfaceObject_t);
"""


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_declarations_without_cudas_headers_are_hips(
    tmp_path: Path, order: tuple[int, int]
) -> None:
    both = (FORWARD, "#include <cuda_runtime_api.h>\n")
    defined = "Device::Device(int, const cudaDeviceProp& all) { (void)all.warpSize; }\n"
    _compile(tmp_path, "".join(both[number] for number in order) + defined)
    _compile(tmp_path, FORWARD)


@pytest.mark.parametrize(
    "header", ["driver_types.h", "channel_descriptor.h", "texture_types.h", "surface_types.h"]
)
def test_headers_of_types_are_included_alone(tmp_path: Path, header: str) -> None:
    """HIP's of these names want its runtime's before them, where ``hipError_t`` is as well."""
    _compile(tmp_path, f"#include <{header}>\ncudaError_t f(cudaArray_t, cudaMemcpyKind);\n")


def _compile(tmp_path: Path, text: str) -> None:
    compiler = shutil.which("g++")
    if compiler is None:
        pytest.skip("needs g++")
    (tmp_path / "both.h").write_text(
        make_translator("rules").translate(text, filename="both.h").source
    )
    (tmp_path / "a.cpp").write_text('#include "both.h"\nint main() { return 0; }\n')
    include = find_amd().rocm_path / "include"
    command = [compiler, "-std=c++17", "-D__HIP_PLATFORM_AMD__=1", f"-I{include}"]
    done = subprocess.run(
        [*command, "-fsyntax-only", "a.cpp"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[:2000]


@pytest.mark.parametrize("name", ["both.h", "both.hpp", "both.cuh"])
@pytest.mark.parametrize(
    ("on", "body"),
    [
        ("__CUDACC__", "__device__ unsigned least(unsigned a) { return __vminu4(a, 7); }"),
        ("__CUDA_ARCH__", "inline int vote() { return __any_sync(~0u, 1); }"),
        ("__CUDACC__", "inline void use() { cub::SwitchDevice switched(0); }"),
        ("__CUDACC__", "__device__ float down(float a, float b) { return __fadd_rd(a, b); }"),
        ("__CUDACC__", "__device__ void wait() { __nanosleep(10); }"),
    ],
)
def test_a_header_that_a_host_compiler_reads_without_hip(
    tmp_path: Path, name: str, on: str, body: str
) -> None:
    text = f"#pragma once\n#include <cstring>\n#ifdef {on}\n{body}\n#endif\nint plain();\n"
    _compile_without_hip(tmp_path, name, text)


@pytest.mark.parametrize(
    "text",
    [
        "#ifdef TRACED\n#include <nvtx3/nvtx3.hpp>\n#endif\nint plain();\n",
        "#if __has_include(<Eigen/Core>) && defined(NEVER)\n#include <Eigen/Core>\n#endif\n",
    ],
)
def test_a_header_without_cuda_wants_no_runtime(tmp_path: Path, text: str) -> None:
    _compile_without_hip(tmp_path, "both.h", text)


def test_a_host_source_without_cuda_is_left_alone() -> None:
    text = "#include <Eigen/Core>\nint plain();\n"
    assert make_translator("rules").translate(text, filename="a.cpp").source == text


def _compile_without_hip(tmp_path: Path, name: str, text: str) -> None:
    compiler = shutil.which("g++")
    if compiler is None:
        pytest.skip("needs g++")
    translated = make_translator("rules").translate(text, filename=name).source
    assert translated != text
    (tmp_path / name).write_text(translated)
    (tmp_path / "a.cpp").write_text(f'#include "{name}"\nint main() {{ return 0; }}\n')
    command = [compiler, "-std=c++17", "-fsyntax-only", "a.cpp"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:2000]
