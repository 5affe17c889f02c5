"""libcu++ for the AMD side: Nvidia's own headers, with what they ask of the compiler said for HIP.

libcu++ is written for any C++ compiler: without CUDA its functions are the host's. The copy below
makes them device functions of clang's HIP as well. AMD's libhipcxx is made of the same headers;
what it leaves out is left out here (barriers, PTX, controls of caches), so that a unit that
includes it says which header it lacks. ``cuda/atomic`` is ours (``amd/shim``).
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from cass_ray.cache import digest
from cass_ray.toolchain.hip.packages import unpack_once

PACKAGE = "nvidia-cuda-cccl"
"""The package of headers that has libcu++ (:mod:`cass_ray.toolchain.provided`)."""

_FOLDERS = ("cuda", "nv")

_LEFT_OUT = (
    *("atomic", "barrier", "latch", "semaphore", "pipeline"),
    *("annotated_ptr", "ptx", "warp", "work_stealing", "discard_memory"),
    *("std/atomic", "std/barrier", "std/latch", "std/semaphore"),
)
"""Below ``cuda``: not on AMD devices, or ours."""

_CUDA_COMPILER = "_CCCL_HAS_CUDA_COMPILER()"
_CLANG_FOR_CUDA = "#if _CCCL_CUDA_COMPILER(CLANG)\n"
_CLANG_OR_NVCC = "_CCCL_CUDA_COMPILER(NVCC) || _CCCL_CUDA_COMPILER(CLANG)\n"
_FOR_HIP = "#if defined(__HIP__) || "
_LACKING = """#define __NV_TARGET_H

#if defined(__HIP__)
extern "C" __device__ __attribute__((error("AMD devices lack this part of libcu++")))
unsigned long long __cass_lacks_libcudacxx();
#endif
"""

_EDITS: tuple[tuple[str, str, str], ...] = (
    # Which functions are of the device, and which target code is compiled for. No AMD device
    # provides an architecture of Nvidia's.
    ("cuda/std/__cccl/execution_space.h", "#if _CCCL_CUDA_COMPILATION()\n",
     f"{_FOR_HIP}_CCCL_CUDA_COMPILATION()\n"),
    ("cuda/std/__cccl/execution_space.h", "#if _CCCL_DEVICE_COMPILATION() &&",
     "#if defined(__HIP_DEVICE_COMPILE__) || _CCCL_DEVICE_COMPILATION() &&"),
    ("nv/target", "#elif defined(__clang__) && defined(__CUDA__)",
     "#elif defined(__HIP__) || defined(__clang__) && defined(__CUDA__)"),
    ("nv/detail/__target_macros", "#  if defined(__CUDA_ARCH__)\n#    define _NV_TARGET_IS_HOST",
     "#  if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)\n"
     "#    define _NV_TARGET_IS_HOST"),
    # Builtins that clang for devices lacks or lowers to instructions of less accuracy.
    ("cuda/std/__cccl/builtin.h", _CLANG_FOR_CUDA, f"{_FOR_HIP}_CCCL_CUDA_COMPILER(CLANG)\n"),
    ("cuda/std/__cccl/builtin.h", f"#if {_CLANG_OR_NVCC}",
     f"{_FOR_HIP}{_CLANG_OR_NVCC}"),
    # PTX where plain C++ stands beside it.
    ("cuda/std/__bit/integral.h", "NV_IS_DEVICE", "NV_NO_TARGET"),
    ("cuda/__bit/bitmask.h", "NV_IS_DEVICE", "NV_NO_TARGET"),
    ("cuda/__bit/bitfield.h", "NV_IS_DEVICE", "NV_NO_TARGET"),
    ("cuda/__bit/bit_reverse.h", "NV_IS_DEVICE", "NV_NO_TARGET"),
    # Functions of the device in C++, and HIP's own.
    ("cuda/std/__cccl/assert.h", "#    if !_CCCL_CUDA_COMPILER(CLANG)\n_CCCL_HOST_DEVICE\n",
     "#    if !defined(__HIP__) && !_CCCL_CUDA_COMPILER(CLANG)\n_CCCL_HOST_DEVICE\n"),
    ("cuda/std/cstring", f"#if {_CUDA_COMPILER}", f"{_FOR_HIP}{_CUDA_COMPILER}"),
    ("cuda/std/__cstdlib/malloc.h", f"#if {_CUDA_COMPILER} &&", f"{_FOR_HIP}{_CUDA_COMPILER} &&"),
    # Nothing on AMD devices does the same.
    ("cuda/std/__cstdlib/aligned_alloc.h",
     "return ::__cuda_syscall_aligned_malloc(__nbytes, __align)",
     "return reinterpret_cast<void*>(::__cass_lacks_libcudacxx())"),
    ("cuda/std/__cuda/chrono.h",
     'uint64_t __time; asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(__time)::);',
     "uint64_t __time = ::__cass_lacks_libcudacxx();"),
    ("nv/target", "#define __NV_TARGET_H\n", _LACKING),
    # Calls of the runtime, which are nothing at all for a compiler without CUDA.
    ("cuda/std/__cuda/api_wrapper.h", f"#if {_CUDA_COMPILER}", f"{_FOR_HIP}{_CUDA_COMPILER}"),
    ("cuda/std/__cuda/api_wrapper.h", _CLANG_FOR_CUDA, f"{_FOR_HIP}_CCCL_CUDA_COMPILER(CLANG)\n"),
    ("cuda/__functional/get_device_address.h", f"#if {_CUDA_COMPILER}",
     f"{_FOR_HIP}{_CUDA_COMPILER}"),
)  # fmt: skip
"""File, a text in it, and what stands for it, wherever it is."""

_OF_THE_RUNTIME = (
    "cuda/stream_ref",
    "cuda/std/__cuda/api_wrapper.h",
    "cuda/std/__cuda/ensure_current_device.h",
    "cuda/__functional/get_device_address.h",
)
_RUNTIME_NAME = re.compile(r"\bcuda(?=[A-Z]\w)")
_RUNTIME_HEADERS = ("<cuda_runtime_api.h>", "<hip/hip_runtime_api.h>")


def libcudacxx_for_hip(headers: Path, cache: Path) -> Path:
    """The folder with the copy of the libcu++ in ``headers`` that HIP compiles, made on first use.

    ``headers`` holds ``cuda/`` and ``nv/`` and is named by content. Raises ``ValueError`` where it
    is of a release that the copy is not made for.
    """
    recipe = digest([str(headers), str(_EDITS), str(_LEFT_OUT), str(_OF_THE_RUNTIME)])[:12]

    def fill(target: Path) -> None:
        for name in _FOLDERS:
            shutil.copytree(headers / name, target / name)
        for name in _LEFT_OUT:
            (target / "cuda" / name).unlink()
        for file, old, new in _EDITS:
            _replace(target / file, old, new)
        for file in _OF_THE_RUNTIME:
            path = target / file
            text = _RUNTIME_NAME.sub("hip", path.read_text(encoding="utf-8"))
            path.write_text(text.replace(*_RUNTIME_HEADERS), encoding="utf-8")

    return unpack_once(cache / "hip-libcudacxx" / recipe, fill)


def _replace(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    if old not in text:
        raise ValueError(f"{path.name} of libcu++ has no {old.strip()!r}: another release")
    path.write_text(text.replace(old, new), encoding="utf-8")
