"""Compile one program for both vendors and look at the device code of each."""

import tempfile
from pathlib import Path

import cass_ray as cass

CUDA = """\
#include <cuda_runtime.h>

__global__ void axpy(int count, float a, const float *x, float *y) {
    int index = blockIdx.x * blockDim.x + threadIdx.x;
    if (index < count) y[index] += a * x[index];
}

int main() {
    float *x, *y;
    cudaMalloc(&x, 1024 * sizeof(float));
    cudaMalloc(&y, 1024 * sizeof(float));
    axpy<<<4, 256>>>(1024, 2.0f, x, y);
    return cudaDeviceSynchronize();
}
"""


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        cuda_file, hip_file = Path(folder) / "axpy.cu", Path(folder) / "axpy.hip"
        cuda_file.write_text(CUDA)
        hip_file.write_text(cass.translate(CUDA).source)
        cuda = cass.compile(cuda_file, arch="sm_89")
        hip = cass.compile(hip_file, arch="gfx1100")
    print("SASS (sm_89)\n")
    print(cuda.device)
    print("RDNA3 (gfx1100)\n")
    print(hip.device)
    # The host side is x86-64 on both, so its lines can be compared one by one.
    print(f"host assembly: {cuda.host.count(chr(10))} and {hip.host.count(chr(10))} lines")


if __name__ == "__main__":
    main()
