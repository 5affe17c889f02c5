"""What of PyTorch's ``ATen/cuda`` and ``c10/cuda`` extensions have on the CPU backend's devices.

    python -m benchmarks.project.torch_coverage [--headers] > coverage.md

The names are those that the CUDA libraries of the installed PyTorch export (``nm``) and that a
header of these folders declares; operators of PyTorch (``ATen/ops``) are left out. A name is there
if our library exports it. Of these, and of the allocator's virtual functions, some throw
``NotImplementedError`` with their own name: refused. With ``--headers`` clang's front end compiles
each header behind ``ATen/ATen.h``, those of ``ATen/native/cuda`` as well, for both sides: what it
defines itself (inline functions, templates, helpers of kernels) is in no library.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from cass_ray.emulator.build import runtime_library
from cass_ray.project.pytorch import backend
from cass_ray.toolchain.amd.toolchain import AmdToolchain
from cass_ray.toolchain.locate import find_amd
from cass_ray.translate.engines.registry import make_translator

ARCHITECTURE = "gfx1100"
_FOLDERS = ("ATen/cuda", "c10/cuda")
_KERNELS = "ATen/native/cuda"
"""Helpers of PyTorch's own kernels, which extensions include; what they declare is in no table."""
_LIBRARIES = ("libc10_cuda.so", "libtorch_cuda.so", "libtorch_cuda_linalg.so")
_SUFFIXES = {".h", ".cuh", ".hpp"}
_NAME = re.compile(r"(?:\w[\w<>: ,*]* )?((?:at::cuda|c10::cuda|at::CUDA)[\w:~]*)")
_REFUSED = re.compile(
    r"(\w+)\s*\([^;{}]*\)\s*(?:const\s*)?(?:override\s*)?\{\s*"
    r"(?:refuse\(|TORCH_CHECK_NOT_IMPLEMENTED\(\s*false)"
)
_VIRTUAL = re.compile(r"^\s*virtual\s[^;{]*?\b(\w+)\s*\([^;{]*(?:;|\{([^}]*))", re.MULTILINE)
_DECLARED = r"(?<![\w.>]){}\s*(?:<[^<>()]*>\s*)?(?:\(|;)"
_ALLOCATOR = "c10/cuda/CUDACachingAllocator.h"
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_SIDES = ("host", "device")


@dataclass
class Header:
    """What a header declares that is in a library."""

    there: set[str] = field(default_factory=set)
    refused: set[str] = field(default_factory=set)
    missing: set[str] = field(default_factory=set)

    def sort(self, name: str, there: bool, refused: bool) -> None:
        group = self.missing if not there else self.refused if refused else self.there
        group.add(name)


def exported(library: Path) -> set[str]:
    """Qualified names of the functions and variables that ``library`` defines, in CUDA's part."""
    command = ["nm", "-DC", "--defined-only", str(library)]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found = set()
    for line in text.splitlines():
        _, kind, symbol = [*line.split(maxsplit=2), "", ""][:3]
        match = _NAME.match(symbol)
        # What is weak and no instance of a template is inline: the header has it.
        inline = kind in "WVu" and "<" not in symbol.partition("(")[0]
        if match and not match[1].endswith(":") and not inline:
            found.add(match[1])
    return found


def header_texts(include: Path, folders: Sequence[str] = _FOLDERS) -> dict[str, str]:
    """PyTorch's headers about CUDA without their comments, by path."""
    paths = (path for part in folders for path in sorted((include / part).rglob("*")))
    return {
        path.relative_to(include).as_posix(): _COMMENT.sub("", path.read_text())
        for path in paths
        if path.suffix in _SUFFIXES
    }


def declaring(name: str, texts: Mapping[str, str]) -> str | None:
    """The header that declares the qualified ``name``: it has the function and its class."""
    *scopes, last = name.split("::")
    scope = scopes[-1]
    found = [
        path
        for path, text in texts.items()
        if re.search(_DECLARED.format(re.escape(last)), text)
        and (scope.islower() or re.search(rf"\b(?:class|struct)\b[^;{{]*\b{scope}\b", text))
    ]
    marked = re.compile(rf"_API\b[^;{{}}]*{_DECLARED.format(re.escape(last))}")
    return min(found, key=lambda path: (not marked.search(texts[path]), path), default=None)


def of_operators(name: str, include: Path) -> bool:
    """Whether it is an operator of PyTorch, which ``ATen/ops`` declares."""
    last = name.split("::")[-1].removesuffix("_outf").removesuffix("_out").removesuffix("_symint")
    return (include / f"ATen/ops/{last.rstrip('_')}_cuda_dispatch.h").is_file() or (
        include / f"ATen/ops/{last}_cuda_dispatch.h"
    ).is_file()


def names(torch: Path, library: Path, sources: Path) -> dict[str, Header]:
    """Header -> what it declares, sorted."""
    include = torch / "include"
    texts = header_texts(include)
    code = "\n".join(path.read_text() for path in sorted(sources.glob("*.cpp")))
    refused = set(_REFUSED.findall(code))
    ours = exported(library)
    found: dict[str, Header] = defaultdict(Header, {path: Header() for path in texts})
    for name in sorted(set().union(*(exported(torch / "lib" / each) for each in _LIBRARIES))):
        if of_operators(name, include):
            continue
        if path := declaring(name, texts):
            *scopes, last = name.split("::")
            # Without an object nobody calls its functions.
            no_object = scopes[-1] in refused
            there = name in ours or no_object
            found[path].sort(last, there=there, refused=no_object or last in refused)
    allocator = texts[_ALLOCATOR].partition("class CUDAAllocator ")[2].partition("\n};")[0]
    for name, body in _VIRTUAL.findall(allocator):
        written = re.search(rf"\b{name}\([^;{{]*\)\s*(?:const\s*)?override\s*\{{", code)
        # PyTorch's own body of a function that nobody has to write may refuse it, too.
        refuses = name in refused or (not written and "TORCH_CHECK" in body)
        found[_ALLOCATOR].sort(name, there=True, refused=refuses)
    return dict(found)


def compile_headers(
    install: backend.TorchInstall, include: Path, toolchain: AmdToolchain, headers: list[str]
) -> dict[str, str]:
    """Header -> the first error of the front end, empty where there is none."""
    torch = install.folder / "include"
    flags = [
        *("-std=c++20", "-w", "-x", "hip", f"--offload-arch={ARCHITECTURE}", "-fno-gpu-rdc"),
        *(f"--rocm-path={toolchain.rocm_path}", *toolchain.workarounds),
        *("-D__HIP_PLATFORM_AMD__=1", "-DUSE_ROCM=1", "-DHIPBLAS_V2"),
        *("-DHIP_ENABLE_WARP_SYNC_BUILTINS=1", "-Xclang", "-fno-cxx-modules"),
        *("-isystem", str(include), "-isystem", str(torch)),
        *("-isystem", str(torch / "torch/csrc/api/include")),
        *("-isystem", str(toolchain.rocm_path / "include")),
    ]
    found = dict.fromkeys(headers, "")
    with tempfile.TemporaryDirectory() as scratch:
        # clang refuses a precompiled header when the file changed that it was made from.
        common, source = Path(scratch) / "common.hip", Path(scratch) / "one.hip"
        common.write_text("#include <ATen/ATen.h>\n")
        precompiled = f"{scratch}/common.pch"
        for side in _SIDES:
            command = [str(toolchain.clang), *flags, f"--cuda-{side}-only"]
            emit = ["-Xclang", "-emit-pch", "-S", "-o", precompiled]
            subprocess.run([*command, *emit, str(common)], check=True)
            for header in headers:
                source.write_text(f"#include <{header}>\n")
                take = ["-fsyntax-only", "-Xclang", "-include-pch", "-Xclang", precompiled]
                found[header] = found[header] or _first_error([*command, *take, str(source)])
    return found


def _first_error(command: list[str]) -> str:
    """What the compiler says; empty where it says nothing."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    errors = [line for line in done.stderr.splitlines() if "error:" in line]
    return errors[0].split("error:")[1].strip() if errors else ""


def table(found: Mapping[str, Header], errors: Mapping[str, str]) -> Iterator[str]:
    """Lines of Markdown; of headers without a name in a library only how many there are."""
    yield f"| header |{' compiles |' if errors else ''} there | refused by name | not there |"
    yield f"|---|{'---|' if errors else ''}---|---|---|"
    alone = 0
    for path, header in sorted(found.items()):
        groups = (header.there, header.refused, header.missing)
        alone += not any(groups)
        if any(groups) or errors.get(path):
            cells = [", ".join(f"`{name}`" for name in sorted(group)) for group in groups]
            if errors:
                cells.insert(0, errors[path].replace("|", "\\|") or "yes")
            yield f"| `{path}` | {' | '.join(cells)} |"
    totals = [
        str(sum(len(getattr(header, group)) for header in found.values()))
        for group in ("there", "refused", "missing")
    ]
    if errors:
        totals.insert(0, f"{sum(not error for error in errors.values())} of {len(errors)}")
    yield f"| {len(found)} headers, {alone} of them alone | {' | '.join(totals)} |"


def main() -> None:
    """The table on standard output."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--headers", action="store_true", help="compile each header, too")
    arguments = parser.parse_args()
    install = backend.find_torch()
    if install is None:
        raise SystemExit("PyTorch is not installed")
    toolchain = find_amd(architectures=(ARCHITECTURE,))
    made = backend.torch_backend(
        install, toolchain, runtime_library(), make_translator(), toolchain.cache
    )
    sources = Path(backend.__file__).parent / "csrc"
    found = names(install.folder, made.library, sources)
    errors = {}
    if arguments.headers:
        kernels = header_texts(install.folder / "include", [_KERNELS])
        found.update({path: Header() for path in kernels})
        errors = compile_headers(install, made.include, toolchain, list(found))
    print("\n".join(table(found, errors)))


if __name__ == "__main__":
    main()
