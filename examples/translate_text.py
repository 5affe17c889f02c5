"""Translate CUDA text to HIP and look at what could not be translated."""

import cass_ray as cass

CUDA = """\
#include <cuda_runtime.h>

__global__ void scale(float *data, float factor) { data[threadIdx.x] *= factor; }

void run(float *data, cudaGraphConditionalHandle *handle, cudaGraph_t graph) {
    scale<<<1, 256>>>(data, 2.0f);
    cudaGraphConditionalHandleCreate(handle, graph);
    cudaDeviceSynchronize();
}
"""


def main() -> None:
    made = cass.translate(CUDA)
    print(made.source)
    # Nothing is guessed: what HIP does not have is reported where it stands in the CUDA text.
    for finding in made.findings:
        print(finding.format("example.cu"))
    print(f"{made.counts.converted} constructs converted, {made.counts.unsupported} unsupported")


if __name__ == "__main__":
    main()
