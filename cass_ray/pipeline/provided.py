"""Provided headers on the node that compiles: fetched where they are not there yet.

For the AMD side, what speaks of CUDA's runtime in PyTorch's, OpenCV's and RMM's headers, and all of
CUTLASS', is translated once, at the same paths: the names that extensions use
(``at::cuda::getCurrentCUDAStream``) stay what they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from cass_ray.cache import default_directory, digest
from cass_ray.dataset.row import Reason
from cass_ray.toolchain.hip.libcudacxx import PACKAGE as LIBCUDACXX
from cass_ray.toolchain.hip.libcudacxx import libcudacxx_for_hip
from cass_ray.toolchain.hip.packages import unpack_once
from cass_ray.toolchain.provided.errors import HeadersError
from cass_ray.toolchain.provided.packages_table import (
    WHEEL,
    HeaderPackage,
    packages_of_headers,
)
from cass_ray.toolchain.provided.store import AMD_HEADERS, HeaderStore, package_of_key
from cass_ray.toolchain.unit import CompileFailure, unopened_file
from cass_ray.translate.declared import declared_names
from cass_ray.translate.project import cutlass, declarations
from cass_ray.translate.project.refusals import RefusingTranslator
from cass_ray.translate.protocol import Context, Translator

UNIT_RECIPE = "12"
"""Part of keys of a project's units: raise it when what is given to compilers here changes."""
_RECIPE = "refused where it is code; cuda.h, asm of devices; own folders; for clang"
_TRANSLATED = ("torch", "libopencv-core-dev", "librmm-cu13", "rapidjson-dev")
"""Packages that are written for both sides, by way of a translation of their headers, or of which
clang refuses something that nvcc takes."""
_WHOLE = declarations.PACKAGES | {cutlass.PACKAGE}
"""Packages of which the AMD side has all headers translated."""
_NVIDIA = ("nvidia-", "cutensor-")
"""Begins the names of packages that are Nvidia's alone, or whose counterparts are in the HIP
root."""
_BLAS = "nvidia-cublas"
"""Has cuBLASLt, whose counterpart few HIP roots have."""
_NO_HALF = re.compile(r"^((?:__)?)CUDA_NO_HALF(?![a-z])")
"""Begins macros that keep operators, conversions and the name ``half`` out of half's header."""
_THRUST_ON_CUDA = "THRUST_DEVICE_SYSTEM_CUDA"
"""CMake's ``thrust_create_target`` has every unit define it."""
_OF_TORCH = ("USE_ROCM=1", "HIPBLAS_V2", "HIPBLAS_USE_HIP_HALF")
"""PyTorch's builds of extensions define the first two for ROCm (``torch.utils.cpp_extension``). The
others make hipBLAS declare the types that cuBLAS has, whichever file includes it first."""
_BFLOAT16_OF_CUDA = re.compile(
    r"(?<=#if defined\(__CUDACC__\)) && !defined\(USE_ROCM\)"
    r"(?=\n(?:#include <cuda_bf16|[^#]*BFloat16))"
)
"""PyTorch's bfloat16 converts from and to the vendor's on CUDA alone; HIP has the same type."""
_ASSIGNS_CONSTANTS = re.compile(
    r"(GenericStringRef& operator=\(const GenericStringRef& rhs\))\s*\{[^{}]*\}"
)
_OF_RMM = ("LIBCUDACXX_ENABLE_EXPERIMENTAL_MEMORY_RESOURCE",)
"""RMM's CMake target has every unit define it."""
_OF_NVIDIAS_PLATFORM = frozenset({"__HIP_PLATFORM_NVCC__", "__HIP_PLATFORM_NVIDIA__"})
_OF_CUDA = re.compile(
    r"\bcuda[A-Z]\w+|cuda_runtime|\bcu(?:blas|sparse|solver|fft|rand|dnn)|cub::|<cub/"
    r"|^[ \t]*#[ \t]*include[ \t]*[<\"]cuda(?:\.h|_\w+\.h|/)",
    re.MULTILINE,
)
_ASM = re.compile(r"\basm[ \t]*(?:volatile[ \t]*)?\(")
_REMOVED = tuple(
    f"{old}={new}"
    for old, new in {
        "cudaThreadSynchronize": "cudaDeviceSynchronize",
        "cudaThreadExit": "cudaDeviceReset",
        "cudaThreadSetLimit": "cudaDeviceSetLimit",
        "cudaThreadGetLimit": "cudaDeviceGetLimit",
        "cudaThreadSetCacheConfig": "cudaDeviceSetCacheConfig",
        "cudaThreadGetCacheConfig": "cudaDeviceGetCacheConfig",
    }.items()
)
"""Names that CUDA 13 took away, for the Nvidia side of projects: what the documentation of CUDA 12
says to call in their place, which does the same."""
_OF_FMT = ("FMT_CONSTEVAL=", "FMT_USE_CONSTEVAL=0")
"""fmt, which spdlog brings, checks formats in ``consteval`` functions where C++20 is: nvcc cannot
evaluate them. The first is what older releases ask for."""
_RUNTIME_HEADERS = frozenset({"cuda_runtime.h", "cuda_runtime_api.h", "cuda.h"})
_ENDINGS = (".h", ".cuh", ".hpp", ".inl")


def for_clang(text: str) -> str:
    """A header that is written for both sides: PyTorch's bfloat16 converts from and to the
    vendor's, and RapidJSON's assignment to constants, which no compiler can make, is deleted."""
    return _ASSIGNS_CONSTANTS.sub(r"\1 = delete;", _BFLOAT16_OF_CUDA.sub("", text))


def is_of_cuda(text: str) -> bool:
    """Whether a header needs a translation: it speaks of CUDA, or has inline PTX."""
    has_asm = "__device__" in text and _ASM.search(text) is not None
    return has_asm or _OF_CUDA.search(text) is not None


def provided_folders(keys: Iterable[str], translator: Translator | None) -> tuple[Path, ...]:
    """Folders for compilers of the packages ``keys``; with a translator, of the AMD side.

    What cannot be fetched is left out: the compiler says which header is missing.
    """
    store = HeaderStore(default_directory())
    folders: list[Path] = []
    for key in keys:
        try:
            package = package_of_key(key)
            root = store.fetch(package)
        except HeadersError:
            continue
        if package.name == LIBCUDACXX:
            # The Nvidia side has its toolkit's own.
            of_package = store.include_folders(package) if translator is not None else []
            folders += [libcudacxx_for_hip(each, store.cache) for each in of_package]
            continue
        if translator is not None:
            if package.name in _WHOLE or package.name in _TRANSLATED:
                result = _translated(store, package, root, translator)
                folders += [result / folder for folder in package.folders]
                if package.name in _WHOLE:
                    continue
                folders.append(AMD_HEADERS)
            elif package.name.startswith(_NVIDIA) and package.kind == WHEEL:
                folders += [AMD_HEADERS] if package.name == _BLAS else []
                continue
        folders += store.include_folders(package)
    return tuple(folder for folder in dict.fromkeys(folders) if folder.is_dir())


def unit_definitions(row: Mapping[str, Any], *, translated: bool) -> tuple[str, ...]:
    """The definitions of a row's command; of the AMD side with what PyTorch's own builds for ROCm
    change, and without what makes HIP's headers Nvidia's."""
    packages_of_row = row.get("header_packages") or ()
    of_rmm = _OF_RMM if any(key.startswith("librmm-") for key in packages_of_row) else ()
    definitions = (*(row.get("definitions") or ()), *of_rmm)
    if not translated:
        return (*definitions, *_REMOVED, *_OF_FMT) if row.get("configured") else definitions
    renamed = tuple(
        _NO_HALF.sub(r"\1HIP_NO_HALF", each).replace(_THRUST_ON_CUDA, "THRUST_DEVICE_SYSTEM_HIP")
        for each in definitions
        if each.partition("=")[0] not in _OF_NVIDIAS_PLATFORM
    )
    of_torch = any(key.startswith("torch-") for key in packages_of_row)
    return (*renamed, *_OF_TORCH) if of_torch else renamed


def forced_headers(row: Mapping[str, Any], *, translated: bool) -> tuple[str, ...]:
    """Headers that a row's command puts before its file; those of CUDA's runtime are there."""
    names = tuple(row.get("forced") or ())
    return tuple(name for name in names if not (translated and name in _RUNTIME_HEADERS))


def with_unopened_header(row: dict[str, Any], failure: CompileFailure) -> dict[str, Any] | None:
    """``row`` with the packages of a header that no file of its tree names: a header outside of the
    tree includes it. None where no package has it, or the row had all of them."""
    header = unopened_file(failure.diagnostic)
    if failure.reason is not Reason.MISSING_HEADER or not header:
        return None
    packages = row.get("header_packages") or []
    further = [each.key for each in packages_of_headers([header]) if each.key not in packages]
    return {**row, "header_packages": [*packages, *further]} if further else None


def _translated(
    store: HeaderStore, package: HeaderPackage, root: Path, translator: Translator
) -> Path:
    """Folder with those headers of ``package`` that a translation changes."""
    declared = package.name in declarations.PACKAGES
    of_cutlass = package.name == cutlass.PACKAGE
    recipe = declarations.REFUSAL if declared else cutlass.RECIPE if of_cutlass else _RECIPE
    name = digest([package.key, translator.name, translator.version, recipe])[:12]
    refusing = RefusingTranslator(translator, names_are_known=True)
    folder = store.cache / "provided-headers-hip" / f"{package.name}-{name}"

    def fill(target: Path) -> None:
        texts = {}
        for path in sorted((root / package.folders[0]).rglob("*")):
            inside = str(path.relative_to(root / package.folders[0]))
            if path.suffix in _ENDINGS and path.is_file() and package.has(inside):
                text = path.read_text("utf-8", "replace")
                changed = for_clang(text)
                if declared or of_cutlass or changed != text or is_of_cuda(text):
                    texts[str(path.relative_to(root))] = changed
        paths = frozenset(str(path.relative_to(root)) for path in root.rglob("*.h"))
        context = Context(paths, declared_names(texts.values()))
        for inside, text in texts.items():
            texts[inside] = refusing.translate(text, filename=inside, context=context).source
        if declared:
            texts = declarations.refuse_calls(texts, package.name)
        for inside, text in texts.items():
            place = target / inside
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text)

    return unpack_once(folder, fill)
