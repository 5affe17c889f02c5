"""The program that makes assembly of LLVM IR (``native/compile_ir.c``), and the passes it runs.

clang takes half as long again to start, and runs its passes for code that nobody has optimized
yet. ptxas has: of LLVM's ``-O3`` only what matters after it is run here, in half of the time, and
the code executes as many instructions (``benchmarks/results/lift.md``).
"""

from __future__ import annotations

import functools
import re
from pathlib import Path

from cass_ray.cache import digest
from cass_ray.toolchain.amd.toolchain import AmdToolchain
from cass_ray.toolchain.sandbox.isolation import View, private_folder
from cass_ray.toolchain.sandbox.process import run

_LIBRARY = re.compile(r"^\s*libLLVM\S* => (/\S+)", re.MULTILINE)
_SOURCE = Path(__file__).parent / "native" / "compile_ir.c"

_SIMPLIFY = "simplifycfg<switch-range-to-icmp>"
_MERGE = "simplifycfg<switch-range-to-icmp;hoist-common-insts;sink-common-insts>"
_COMBINE = "instcombine<no-verify-fixpoint>"
_EARLY = (
    "sroa<modify-cfg>",
    "amdgpu-promote-kernel-arguments",
    "infer-address-spaces",
    "amdgpu-lower-kernel-attributes",
    "early-cse<memssa>",
    _SIMPLIFY,
    _COMBINE,
)
_LATE = (
    "loop-mssa(licm<allowspeculation>)",
    "gvn<>",
    "correlated-propagation",
    "constraint-elimination",
    _MERGE,
    _COMBINE,
    _MERGE,
    "infer-alignment",
)
PASSES = f"function<eager-inv>({','.join((*_EARLY, *_LATE))}),amdgpu-attributor,globaldce"
"""What is run on lifted code, in LLVM's notation of pipelines."""


def ir_compiler(toolchain: AmdToolchain) -> Path | None:
    """The program, built on first use; None where LLVM is no shared library beside clang."""
    return _built(toolchain.clang, toolchain.cache, toolchain.fingerprint)


@functools.cache
def _built(clang: Path, cache: Path, fingerprint: str) -> Path | None:
    library = _shared_library(clang)
    if library is None:
        return None
    target = cache / "lift-compiler" / digest([fingerprint, str(library), _SOURCE.read_bytes()])
    if target.exists():
        return target
    with private_folder() as folder:
        (folder / "compile_ir.c").write_bytes(_SOURCE.read_bytes())
        view = View(read_only=(clang.resolve().parents[1], library.parent), writable=(folder,))
        command: list[str | Path] = [clang, "-x", "c", "-O1", "compile_ir.c", "-x", "none"]
        command += [library, f"-Wl,-rpath,{library.parent}", "-o", "made"]
        done = run(command, cwd=folder, view=view)
        if not done.ok:  # no linker for the host, or a library without AMDGPU
            return None
        made = (folder / "made").read_bytes()
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(f".{target.name}.{id(made)}")
    part.write_bytes(made)
    part.chmod(0o755)
    part.replace(target)
    return target


def _shared_library(clang: Path) -> Path | None:
    """LLVM's library that ``clang`` itself is linked with."""
    with private_folder() as folder:
        view = View(read_only=(clang.resolve().parents[1],), writable=(folder,))
        done = run(["ldd", clang.resolve()], cwd=folder, view=view)
    found = _LIBRARY.search(done.stdout_text)
    return Path(found[1]) if found else None
