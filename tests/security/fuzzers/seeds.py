"""First inputs of the fuzzers: ``python -m tests.security.fuzzers.seeds FOLDER``.

Real files of each kind, made by the compilers, so that a fuzzer need not guess what one looks like.
"""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path, PurePosixPath

import zstandard

from cass_ray.toolchain.amd.bundle import bundle
from cass_ray.toolchain.locate import find_amd, find_nvidia
from cass_ray.toolchain.unit import Unit

_DEVICE = r"""
__constant__ float table[4];
__device__ int counter;
__device__ __noinline__ float helper(float x) { return x * table[1]; }
__global__ void scale(float* out, const float* in, int n) {
  __shared__ float part[64];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  part[threadIdx.x & 63] = in[i];
  __syncthreads();
  if (i < n) out[i] = helper(part[(threadIdx.x + 1) & 63]);
}
__global__ __launch_bounds__(128) void count(int* p) { atomicAdd(&counter, p[threadIdx.x]); }
"""
_CUDA = "#include <cuda_runtime.h>\n" + _DEVICE + "int main() { count<<<1, 32>>>(nullptr); }\n"
_HIP = _CUDA.replace("cuda_runtime.h", "hip/hip_runtime.h")
_TEXTS = (
    _CUDA,
    'asm volatile("add.u32 %0, %1, 1;" : "=r"(x) : "r"(y) : "memory");\n',
    "#if __CUDA_ARCH__ >= 700\nint x = __shfl_xor_sync(0xffffffffu, v, 16);\n#endif\n",
    'auto s = R"x(raw)x"; cudaMemcpyAsync(a, b, n, cudaMemcpyHostToDevice, stream);\n',
    "Here it is:\n```cuda\n__global__ void k() {}\n```\n~~~\ncut",
)
_COUNTERS = {
    "kernels": [
        {
            "kernel": "scale",
            "launches": 1,
            "instructions": 10,
            "by_class": {"lds": 1, "atomic": 0, "barrier": 2},
            "by_mnemonic": {"s_barrier": 1},
            "instruction_coverage": {"reached": 5, "of": 9},
        }
    ]
}


def main() -> None:
    """Write the seeds below the folder that is given."""
    into = Path(sys.argv[1])

    def keep(target: str, name: str, data: bytes) -> None:
        folder = into / target / "corpus"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)

    for name, data in {**_nvidia(), **_amd()}.items():
        target = name.partition(".")[0]
        if target in ("cubin", "code_object"):
            keep("elf", name, data)
        keep(target, name, data)
    for number, (kind, data) in enumerate(_archives()):
        keep("archive", str(number), bytes([kind]) + data)
    keep("counters", "one", json.dumps(_COUNTERS).encode())
    for number, text in enumerate(_TEXTS):
        keep("source", str(number), text.encode())
    keep("output", "lines", b"sum 1.5e-3 at 0x7f, 12 ms\nok\n" * 2)


def _unit(folder: Path, name: str, text: str) -> Unit:
    (folder / name).write_text(text)
    return Unit(folder, PurePosixPath(name))


def _nvidia() -> dict[str, bytes]:
    toolchain = find_nvidia()
    with tempfile.TemporaryDirectory() as name:
        made = toolchain.compile(_unit(Path(name), "a.cu", _CUDA), ("sm_80", "sm_90"))
    found = {f"cubin.{each}": data for each, data in made.cubins.items()}
    listing = toolchain.disassemble([*made.cubins.values()][:1])[0]
    return {**found, "listing.sass": listing.encode(), "listing.host": made.host_assembly.encode()}


def _amd() -> dict[str, bytes]:
    toolchain = find_amd()
    with tempfile.TemporaryDirectory() as name:
        made = toolchain.compile(_unit(Path(name), "a.hip", _HIP))
    code = toolchain.assemble(made.device_assembly)
    packed = bundle({"gfx1100": code})
    body = zstandard.compress(packed)
    header = b"CCOB" + b"".join(
        value.to_bytes(size, "little")
        for value, size in ((2, 2), (1, 2), (24 + len(body), 4), (len(packed), 4), (0, 8))
    )
    return {
        "code_object.elf": code,
        "code_object.bundle": packed,
        "containers.bundle": packed,
        "compressed.zstd": header + body,
        "code.words": code[code.find(b"\xbf") & ~3 :][:512],
        "listing.rdna3": made.device_assembly.encode(),
    }


def _archives() -> list[tuple[int, bytes]]:
    """(the byte that chooses the kind, the archive), in the order of ``targets._ARCHIVES``."""
    tar = io.BytesIO()
    with tarfile.open(fileobj=tar, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name, text in (("a/b.cu", _CUDA), ("é" * 60 + ".h", "int x;"), ("c.cuh", "")):
            entry = tarfile.TarInfo(name)
            entry.size = len(text.encode())
            archive.addfile(entry, io.BytesIO(text.encode()))
        link = tarfile.TarInfo("l.cu")
        link.type, link.linkname = tarfile.SYMTYPE, "a/b.cu"
        archive.addfile(link)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive_zip:
        archive_zip.writestr("a/b.cu", _CUDA)
        archive_zip.writestr("c.h", "int x;")
    data = tar.getvalue()
    compressed = (gzip.compress(data), zstandard.compress(data), lzma.compress(data))
    return list(enumerate((data, packed.getvalue(), *compressed, bz2.compress(data))))


if __name__ == "__main__":
    main()
