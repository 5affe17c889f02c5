"""Lift Nvidia machine code to RDNA3: no source of the kernel is needed."""

import tempfile
from pathlib import Path, PurePosixPath

import cass_ray as cass
from cass_ray.toolchain.locate import find_nvidia
from cass_ray.toolchain.unit import Unit

CUDA = """\
extern "C" __global__ void reverse(int *data) {
    __shared__ int shared[256];
    shared[threadIdx.x] = data[threadIdx.x];
    __syncthreads();
    data[threadIdx.x] = shared[255 - threadIdx.x];
}
"""


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "reverse.cu").write_text(CUDA)
        made = find_nvidia().compile(Unit(folder, PurePosixPath("reverse.cu")), ["sm_90"])
        cubin = folder / "reverse.cubin"
        cubin.write_bytes(made.cubins["sm_90"])
        # From here on only the cubin counts: an executable or a fat binary would do as well.
        [module] = cass.lift(cubin)
    for kernel in module.kernels:
        print(f"{kernel}: {module.instructions[kernel]} SASS instructions")
    print(module.assembly)


if __name__ == "__main__":
    main()
