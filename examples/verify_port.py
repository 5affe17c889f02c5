"""Verify two ports of one program: a right one, and one with a planted fault."""

import tempfile
from pathlib import Path

import cass_ray as cass

CUDA = """\
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>

__global__ void add(int *sum, int count) {
    int index = blockIdx.x * blockDim.x + threadIdx.x;
    if (index < count) atomicAdd(sum, index);
}

int main(int argc, char **argv) {
    int count = argc > 1 ? atoi(argv[1]) : 64, sum = 0, *device;
    cudaMalloc(&device, sizeof(int));
    cudaMemcpy(device, &sum, sizeof(int), cudaMemcpyHostToDevice);
    add<<<(count + 63) / 64, 64>>>(device, count);
    cudaMemcpy(&sum, device, sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(device);
    printf("%d\\n", sum);
}
"""


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "sum.cu").write_text(CUDA)
        right = cass.translate(CUDA).source
        (folder / "right.hip").write_text(right)
        # Without the bound, the last block adds too much, unless `count` is a multiple of 64.
        (folder / "wrong.hip").write_text(right.replace("if (index < count) ", ""))
        for port in ("right.hip", "wrong.hip"):
            # With an Nvidia GPU the CUDA program itself is the reference; without, its translation.
            result = cass.verify(folder / "sum.cu", folder / port, inputs=[(), ("100",)])
            print(f"{port}: {'verified' if result.passed else result.reason}")
            print(f"  against {result.reference}, on {result.candidate}")


if __name__ == "__main__":
    main()
