"""HIP to CUDA."""

from __future__ import annotations

import pytest

from cass_ray.translate.engines.registry import make_translator
from cass_ray.translate.protocol import Translator
from cass_ray.translate.rules import RulesTranslator
from cass_ray.translate.rules.reverse import HipToCudaTranslator, cuda_names

ENGINE = HipToCudaTranslator()


@pytest.mark.parametrize(
    ("hip", "cuda"),
    [
        ("#include <hip/hip_runtime.h>\n", "#include <cuda_runtime.h>\n"),
        ("hipMalloc(&p, n); hipFree(p);", "cudaMalloc(&p, n); cudaFree(p);"),
        ("hipError_t e = hipSuccess;", "cudaError_t e = cudaSuccess;"),
        (
            "hipLaunchKernelGGL(k, dim3(1), dim3(2), 0, s, a, f(b, c));",
            "k<<<dim3(1), dim3(2), 0, s>>>(a, f(b, c));",
        ),
        (
            "hipLaunchKernelGGL(HIP_KERNEL_NAME(k<int, 2>), g, b, 0, 0, a);",
            "k<int, 2><<<g, b, 0, 0>>>(a);",
        ),
        ("hipLaunchKernelGGL(k, g, b, 0, 0);", "k<<<g, b, 0, 0>>>();"),
        ("HIP_DYNAMIC_SHARED(float, s);", "extern __shared__ float s[];"),
        ("__shfl_down(v, 1, 32)", "__shfl_down_sync(0xffffffffu, v, 1, 32)"),
        ("hipcub::BlockReduce<int, 4> r;", "cub::BlockReduce<int, 4> r;"),
        ("#ifdef __HIP_DEVICE_COMPILE__\n", "#ifdef __CUDA_ARCH__\n"),
        ('"hipMalloc" // hipFree\n', '"hipMalloc" // hipFree\n'),
    ],
)
def test_hip_to_cuda(hip: str, cuda: str) -> None:
    result = ENGINE.translate(hip, filename="a.hip")
    assert result.source == cuda
    assert not result.findings


def test_what_only_amd_has_is_an_error() -> None:
    (error,) = ENGINE.translate("x;\n y = __builtin_amdgcn_readfirstlane(z);").findings
    assert (error.line, error.column) == (2, 6)


def test_names_survive_the_way_there_and_back() -> None:
    names = sorted(set(cuda_names().values()) - {"__CUDA_ARCH__", "cudaMallocHost"})
    # Only names that the forward direction leaves as words: versions become numbers.
    source = "\n".join(name for name in names if not name.endswith("_VERSION"))
    there = RulesTranslator().translate(source, filename="a.cuh").source
    assert ENGINE.translate(there, filename="a.hip").source == source


def test_it_is_found_by_name() -> None:
    engine = make_translator("rules-hip-to-cuda")
    assert isinstance(engine, Translator)
    assert engine.name == "rules-hip-to-cuda"
