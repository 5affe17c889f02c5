"""A HIP root for clang on machines without ROCm: headers, device libraries, version file.

The layout is the one that ``clang --rocm-path`` expects (LLVM's ``RocmInstallationDetector``):
``include/hip``, ``amdgcn/bitcode/*.bc`` and ``share/hip/version``. Third-party parts come from
:mod:`cass_ray.toolchain.hip.packages`; the control libraries (``oclc_*.bc``, one constant each)
are made here with the very clang that will link them, because bitcode carries its data layout.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from cass_ray.architectures import AMD_TARGETS, ROCM_DEVICE_LIBRARIES
from cass_ray.cache import default_directory, digest
from cass_ray.toolchain.amd.clang import clang_version, find_clang
from cass_ray.toolchain.errors import ToolMissing
from cass_ray.toolchain.hip.archive_headers import archive_headers
from cass_ray.toolchain.hip.libraries import library_headers
from cass_ray.toolchain.hip.packages import debian_headers, hip_headers, unpack_once
from cass_ray.toolchain.hip.repairs import define_wavefront_size, repair_cooperative_groups

_OWN_TARGETS = tuple(target for target in AMD_TARGETS if target.needs != ROCM_DEVICE_LIBRARIES)

ABI_VERSIONS = (400, 500, 600)
"""Code object versions 4, 5 and 6."""

_RECIPE = "4"
"""Part of the root's key: raise it when the layout below changes."""

_WITHOUT_WAVEFRONT_SIZE = 21
"""The first clang that does not define ``__AMDGCN_WAVEFRONT_SIZE``."""

_TARGET = "amdgcn-amd-amdhsa"


@dataclass(frozen=True)
class HipRoot:
    """A folder for ``--rocm-path``; ``libraries`` names the optional header sets in it."""

    path: Path
    version: str
    libraries: tuple[str, ...]

    @property
    def include(self) -> Path:
        return self.path / "include"


def build_hip_root(clang: Path, cache: Path | None = None, wheel: Path | None = None) -> HipRoot:
    """The HIP root for ``clang``, made on first use under ``cache`` (default: the user's cache).

    Raises :class:`ToolMissing` when the headers cannot be fetched or clang has no AMDGPU
    target.
    """
    cache = cache or default_directory()
    headers = hip_headers(cache, wheel)
    # Later ones over earlier ones: rocWMMA from its repository, the rest of one newer release.
    newest = archive_headers(cache)
    oldest = None if newest else debian_headers(cache)
    libraries = [each for each in (oldest, library_headers(cache), newest) if each]
    path = cache / "hip-root" / _key(clang, headers, libraries)

    def fill(target: Path) -> None:
        shutil.copytree(headers / "include", target / "include")
        repair_cooperative_groups(target / "include")
        if _major(clang) >= _WITHOUT_WAVEFRONT_SIZE:
            define_wavefront_size(target / "include")
        for folder in libraries:
            _lay_over(folder / "include", target / "include")
        bitcode = target / "amdgcn" / "bitcode"
        shutil.copytree(headers / "bitcode", bitcode)
        write_control_libraries(clang, bitcode)
        version_file = target / "share" / "hip" / "version"
        version_file.parent.mkdir(parents=True)
        version_file.write_text(_version_file(headers / "include"))

    return open_hip_root(unpack_once(path, fill))


def _lay_over(folder: Path, target: Path) -> None:
    """Copy the folders of ``folder`` to ``target``, in place of those there."""
    for library in folder.iterdir():
        shutil.rmtree(target / library.name, ignore_errors=True)
        shutil.copytree(library, target / library.name)


def find_hip_root(clang: Path, cache: Path | None = None) -> HipRoot | None:
    """The root if :func:`build_hip_root` has made it for this ``clang``; never downloads."""
    cache = cache or default_directory()
    stamp = _clang_stamp(clang)
    roots = sorted((cache / "hip-root").glob(f"{stamp}-*"), key=lambda path: path.stat().st_mtime)
    roots = [path for path in roots if path.is_dir()]
    return open_hip_root(roots[-1]) if roots else None


def open_hip_root(path: Path) -> HipRoot:
    """Describe an existing root: one of ours or a ROCm installation."""
    major, minor, patch = header_version(path / "include")
    names = (
        *("hipblas", "hipcub", "hipfft", "hiprand", "hipsolver", "hipsparse", "miopen", "rccl"),
        *("rocprim", "rocwmma", "thrust"),
    )
    libraries = tuple(name for name in names if (path / "include" / name).is_dir())
    return HipRoot(path=path, version=f"{major}.{minor}.{patch}", libraries=libraries)


def header_version(include: Path) -> tuple[int, int, int]:
    """``HIP_VERSION_MAJOR``, ``_MINOR`` and ``_PATCH`` of ``include/hip/hip_version.h``.

    Raises :class:`ToolMissing` where that header is absent or says nothing.
    """
    header = include / "hip" / "hip_version.h"
    text = header.read_text() if header.exists() else ""
    numbers = dict(re.findall(r"#define HIP_VERSION_(MAJOR|MINOR|PATCH) (\d+)", text))
    if len(numbers) != 3:
        raise ToolMissing("the HIP headers", f"{header} is missing: install hip-dev of ROCm.")
    return int(numbers["MAJOR"]), int(numbers["MINOR"]), int(numbers["PATCH"])


def architectures_of(clang_major: int) -> tuple[str, ...]:
    """Processors that the root has an ISA library for: those that such a clang knows."""
    return tuple(target.name for target in _OWN_TARGETS if target.oldest_clang <= clang_major)


def _architectures(clang: Path) -> tuple[str, ...]:
    return architectures_of(_major(clang))


def _major(clang: Path) -> int:
    return int(clang_version(clang).split(".")[0])


def control_libraries(names: tuple[str, ...]) -> dict[str, str]:
    """LLVM IR of each control library, by file name; ``names`` are processors.

    Constants and their types are those that AMD's device libraries declare (``oclc.h``).
    """
    modules = {"hip.bc": _module(), "opencl.bc": _module()}
    for version in ABI_VERSIONS:
        constant = _constant("ABI_version", "i32", version)
        modules[f"oclc_abi_version_{version}.bc"] = _module(constant)
    for architecture in names:
        constant = _constant("ISA_version", "i32", isa_version(architecture))
        modules[f"oclc_isa_version_{architecture.removeprefix('gfx')}.bc"] = _module(constant)
    switches = {
        "daz_opt": "daz_opt",
        "finite_only": "finite_only_opt",
        "unsafe_math": "unsafe_math_opt",
        "correctly_rounded_sqrt": "correctly_rounded_sqrt32",
    }
    for value, state in enumerate(("off", "on")):
        for file, symbol in switches.items():
            modules[f"oclc_{file}_{state}.bc"] = _module(_constant(symbol, "i8", value))
        modules[f"oclc_wavefrontsize64_{state}.bc"] = _module(
            _constant("wavefrontsize64", "i8", value),
            _constant("wavefrontsize_log2", "i32", 5 + value),
        )
    return modules


def isa_version(architecture: str) -> int:
    """``__oclc_ISA_version`` of a processor: ``gfx1100`` is 11000, ``gfx90a`` is 9010."""
    digits = architecture.removeprefix("gfx")
    major, minor, stepping = digits[:-2], digits[-2], digits[-1]
    return int(major) * 1000 + int(minor, 16) * 100 + int(stepping, 16)


def write_control_libraries(clang: Path, folder: Path) -> None:
    """Compile :func:`control_libraries` into ``folder`` with ``clang``."""
    for name, text in control_libraries(_architectures(clang)).items():
        command = [str(clang), "-target", _TARGET, "-nogpulib", "-x", "ir", "-c", "-emit-llvm"]
        command += ["-o", str(folder / name), "-"]
        done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise ToolMissing(
                "clang for AMDGPU",
                "Install clang-19 and lld-19.",
                f"{' '.join(command)}: {done.stderr.strip()}",
            )


def _module(*globals_: str) -> str:
    return "\n".join([f'target triple = "{_TARGET}"', *globals_, ""])


def _constant(name: str, kind: str, value: int) -> str:
    linkage = "linkonce_odr protected local_unnamed_addr addrspace(4)"
    return f"@__oclc_{name} = {linkage} constant {kind} {value}"


def _version_file(include: Path) -> str:
    major, minor, patch = header_version(include)
    return f"HIP_VERSION_MAJOR={major}\nHIP_VERSION_MINOR={minor}\nHIP_VERSION_PATCH={patch}\n"


def _key(clang: Path, headers: Path, libraries: list[Path]) -> str:
    parts = digest([headers.name, *(folder.name for folder in libraries)])[:12]
    return f"{_clang_stamp(clang)}-{parts}"


def _clang_stamp(clang: Path) -> str:
    program = clang.resolve()
    stat = program.stat()
    names = _architectures(clang)
    identity = [_RECIPE, *names, str(program), str(stat.st_size), str(stat.st_mtime_ns)]
    return digest(identity)[:12]


def main(arguments: list[str]) -> int:
    """``python -m cass_ray.toolchain.hip.root [--wheel FILE]``: make the root, print its path."""
    wheel = Path(arguments[1]) if arguments[:1] == ["--wheel"] and len(arguments) == 2 else None
    if arguments and wheel is None:
        print("usage: python -m cass_ray.toolchain.hip.root [--wheel FILE]", file=sys.stderr)
        return 2
    try:
        root = build_hip_root(find_clang().clang, wheel=wheel)
    except ToolMissing as error:
        print(error, file=sys.stderr)
        return 3
    print(f"{root.path} (HIP {root.version}; {', '.join(root.libraries) or 'no libraries'})")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
