"""What is still CUDA: reported with its place, never silently kept."""

from __future__ import annotations

import re
from functools import lru_cache

from cass_ray.translate.protocol import Severity
from cass_ray.translate.rules import tables
from cass_ray.translate.rules.rewrite import Rewrite

_LIBRARY_NAME = re.compile(
    r"(?:cublas|CUBLAS_|cublasLt|cufft|CUFFT_|curand|CURAND_|cusparse|CUSPARSE_|cusolver|CUSOLVER_"
    r"|cudnn|CUDNN_|cutensor|nvrtc|NVRTC_|nvml|NVML_|nvjpeg|NVJPEG_|nppi|npps|nvtx(?!3\Z)|NVTX_|cupti|CUPTI_"
    r"|nvshmem)\w*\Z"
)
_CUDA_NAME = re.compile(
    r"(?:cuda[A-Z]|cu[A-Z]|CU_|CUDA_|CUDART_|CUB_|Cub[A-Z]|__nv_|__CUDA_|CU[a-z])\w*\Z"
)
_ADVICE = {
    "cudnn": "MIOpen has the same operations under another interface",
    "CUDNN": "MIOpen has the same operations under another interface",
    "nvml": "ROCm SMI (rocm_smi/rocm_smi.h) reports the same figures under another interface",
    "NVML": "ROCm SMI (rocm_smi/rocm_smi.h) reports the same figures under another interface",
    "npp": "no counterpart; write the operation as a kernel",
    "cutensor": "hipTensor has the same operations under another interface",
    "cupti": "roctracer and rocprofiler",
    "CUPTI": "roctracer and rocprofiler",
}
UNKNOWN_NAME = "looks like CUDA and is not known"
"""How the message on such a name ends."""
_INTRINSICS = {
    "__nvvm_": "a compiler builtin of Nvidia's",
    "__pipeline_": "asynchronous copies to shared memory have no counterpart; copy synchronously",
    "__cvta_": "AMD pointers are generic already",
    "__barrier_sync": "AMD has no named barriers; use __syncthreads or a group",
    "__cluster_": "thread block clusters do not exist on AMD hardware",
}


_CONDITION = re.compile(r"[ \t]*#[ \t]*(?:el)?if")
_VERSION_OR_GUARD = re.compile(r"VER|MAJOR|MINOR|PATCH|DEPRECATED|_MAX|_H_*\Z")

_OF_AN_ORDER = ("jn", "jnf", "yn", "ynf")
_GROUPS = {
    "block_tile_memory": "tiles wider than a wavefront do not exist; use shared memory",
    "cluster_group": "thread block clusters do not exist on AMD hardware",
    "this_cluster": "thread block clusters do not exist on AMD hardware",
}
"""Names of cooperative groups that HIP's lack."""


@lru_cache(1 << 16)
def _suspicion(word: str) -> Severity | None:
    """How bad it is that an unknown ``word`` is left; None for one that is not CUDA's."""
    if _LIBRARY_NAME.match(word):
        return Severity.ERROR
    return Severity.WARNING if _CUDA_NAME.match(word) else None


def _report_unread(unit: Rewrite) -> None:
    """Report what of the file no rule could look at."""
    if unit.source.unended >= 0:
        unit.report(
            unit.source.unended,
            unit.source.text[unit.source.unended : unit.source.unended + 2],
            Severity.ERROR,
            "a comment or raw string that never ends: nothing behind it was translated",
        )
    if unit.source.too_deep >= 0:
        unit.report(
            unit.source.too_deep,
            unit.source.text[unit.source.too_deep],
            Severity.ERROR,
            "more than 256 brackets inside one another: calls in there were not translated",
            "clang refuses them too (-fbracket-depth)",
        )


def report_unhandled(unit: Rewrite) -> None:
    """Report every CUDA name that no rule has translated, and every other trace of CUDA."""
    _report_unread(unit)
    names, unsupported = tables.names(), tables.unsupported()
    for word, offsets in unit.words.items():
        if word in names:
            continue
        if word in unsupported:
            _report(unit, word, offsets, f"{word} has no counterpart in HIP", Severity.ERROR)
        elif severity := _suspicion(word):
            if not unit.is_own(word):
                used = [each for each in offsets if not _is_option(unit, each, word)]
                _report(unit, word, used, f"{word} {UNKNOWN_NAME}", severity)
        elif word.startswith("__"):
            for prefix, advice in _INTRINSICS.items():
                if word.startswith(prefix):
                    message = f"{word} has no counterpart in HIP"
                    _report(unit, word, offsets, message, Severity.ERROR, advice)
        elif word in _GROUPS and "cooperative_groups" in unit.words and not unit.declares(word):
            message = f"HIP's cooperative groups have no {word}"
            _report(unit, word, offsets, message, Severity.ERROR, _GROUPS[word])
    _report_namespaces(unit)
    _report_device_launches(unit)
    _report_bessel_functions(unit)


def _report_bessel_functions(unit: Rewrite) -> None:
    for word in _OF_AN_ORDER:
        for offset in unit.words.get(word, ()):
            if offset in unit.device and unit.call(offset, word) and not unit.is_own(word):
                message = f"HIP computes {word} by a recurrence that loses all digits where the "
                message += "argument is smaller than the order"
                unit.report(offset, word, Severity.WARNING, message)


def _report(
    unit: Rewrite,
    word: str,
    offsets: list[int],
    message: str,
    severity: Severity,
    advice: str = "",
) -> None:
    advice = advice or next(
        (text for prefix, text in _ADVICE.items() if word.startswith(prefix)), ""
    )
    for offset in offsets:
        if offset not in unit.handled and not _is_macro_of_the_program(unit, offset, word):
            unit.report(offset, word, severity, message, advice)


def _is_macro_of_the_program(unit: Rewrite, offset: int, word: str) -> bool:
    """Whether ``word`` is called like ``CUDA_CHECK(...)``: CUDA has no such macros, programs do."""
    return word.startswith(("CUDA_", "CUB_")) and unit.call(offset, word) is not None


def _is_option(unit: Rewrite, offset: int, word: str) -> bool:
    """Whether a condition asks for an option of the project's own build (``#ifdef CUDNN_HALF``).

    Of the macros that Nvidia's headers define, conditions ask for versions and guards: the other
    names there are those of functions, types and enumerators, which no condition sees.
    """
    if not word.isupper() or _VERSION_OR_GUARD.search(word):
        return False
    return bool(_CONDITION.match(unit.source.code, unit.source.logical_line(offset)))


def _report_namespaces(unit: Rewrite) -> None:
    code = unit.source.code
    for name, advice in (
        ("nvcuda", "rocWMMA (rocwmma/rocwmma.hpp) has fragments of other shapes"),
        ("cutlass", "Composable Kernel covers the same ground with another interface"),
    ):
        for offset in unit.words.get(name, ()):
            is_used = code[offset + len(name) : offset + len(name) + 8].lstrip().startswith("::")
            if is_used and offset not in unit.handled:
                message = f"the namespace {name} does not exist in HIP"
                unit.report(offset, f"{name}::", Severity.ERROR, message, advice)


def _report_device_launches(unit: Rewrite) -> None:
    for match in re.finditer(r"<<\s*<", unit.source.code):
        if match.start() in unit.device:
            unit.report(
                match.start(),
                "<<<>>>",
                Severity.ERROR,
                "AMD devices cannot launch kernels",
                "launch from the host, or call the kernel's work as a device function",
            )
