"""A program whose instructions are from lines that a person can name, and its row."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Any

from cass_ray.assembly import sass
from cass_ray.corpus.reading.source_files import Sources
from cass_ray.toolchain.locate import find_amd, find_nvidia
from cass_ray.toolchain.sandbox.isolation import private_folder

CUDA = """\
#include <cuda_runtime.h>
__device__ float twice(float x) {
  return x + x;
}
__global__ void scale(const float* a, float* o) {
  int i = threadIdx.x;
  float v = twice(a[i]);
  o[i] = v * 3.5f;
}
__global__ void divide(const float* a, float* o) {
  o[threadIdx.x] = __frcp_rn(a[0]);
}
"""
HIP = "// ported\n" + CUDA.replace("cuda_runtime.h", "hip/hip_runtime.h")
ADD, MULTIPLY = 3, 8
"""Lines of ``CUDA``; one later in ``HIP``."""


def row() -> dict[str, Any]:
    """A pair as a data set has it. Raises ``ToolMissing``."""
    nvidia, amd = find_nvidia(), find_amd()
    cuda = Sources(PurePosixPath("a.cu"), {"a.cu": CUDA.encode()})
    hip = Sources(PurePosixPath("a.hip"), {"a.hip": HIP.encode()})
    with private_folder() as folder:
        made = nvidia.compile(cuda.write(folder), ("sm_80", "sm_90"))
    listings = dict(zip(made.cubins, nvidia.disassemble(list(made.cubins.values())), strict=True))
    texts = {name: sass.normalize(text) for name, text in listings.items()}
    with private_folder() as folder:
        ported = amd.compile(hip.write(folder), "gfx1100")
    return {
        "id": "ab" * 32,
        "filename": "a.cu",
        "domain": "linear_algebra",
        "cuda_source": CUDA,
        "cuda_host": made.host_assembly,
        "cuda_device": texts["sm_80"],
        "hip_source": HIP,
        "hip_host": ported.host_assembly,
        "hip_device": ported.device_assembly,
        "cuda_arch": ["sm_80", "sm_90"],
        "cuda_device_by_arch": [{"arch": name, "sass": text} for name, text in texts.items()],
        "hip_arch": "gfx1100",
        "amd_toolchain": amd.record(ported).model_dump(),
        "kernels": ["scale", "divide"],
        "verified": "compiled",
    }
