"""The program that makes assembly of LLVM IR (``native/compile_ir.c``), and the passes it runs.

clang takes half as long again to start, and runs its passes for code that nobody has optimized
yet. ptxas has: of LLVM's ``-O3`` only what matters after it is run here, in half of the time, and
the code executes as many instructions (``benchmarks/results/lift.md``).
"""

from __future__ import annotations

import functools
import re
from pathlib import Path

from cass_ray.architectures import DEFAULT_AMD_ARCHITECTURE
from cass_ray.cache import digest
from cass_ray.toolchain.amd.toolchain import AmdToolchain
from cass_ray.toolchain.errors import ToolMissing
from cass_ray.toolchain.probe import remembered
from cass_ray.toolchain.sandbox.isolation import View, private_folder
from cass_ray.toolchain.sandbox.process import run
from cass_ray.whole_file import write_whole

_LIBRARY = re.compile(r"^\s*libLLVM\S* => (/\S+)", re.MULTILINE)
_SOURCES = tuple(
    Path(__file__).parent / "native" / name
    for name in ("compile_ir.c", "join_words.h", "hide_sums.h")
)

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
    # What subroutines keep on the stack: only now is it known where the stack pointer points.
    "sroa<modify-cfg>",
)
_LATE = (
    "loop-mssa(licm<allowspeculation>)",
    # Where LLVM finds how many rounds a loop has, and ptxas has not: it halves its counter, or its
    # bounds are a thread's number.
    "loop(loop-unroll-full)",
    "gvn<>",
    "correlated-propagation",
    "constraint-elimination",
    _MERGE,
    _COMBINE,
    _MERGE,
    "infer-alignment",
)


def _pipeline(*passes: str) -> str:
    return f"function<eager-inv>({','.join(passes)})"


PASSES = (
    _pipeline(*_EARLY),
    f"{_pipeline(*_LATE)},deadargelim,amdgpu-attributor,globaldce",
)
"""What is run on lifted code before and after its words are joined, as LLVM writes pipelines."""

_PROBE = """target triple = "amdgcn-amd-amdhsa"
define amdgpu_kernel void @nothing() {
  ret void
}
"""


def ir_compiler(toolchain: AmdToolchain) -> Path | None:
    """The program, built on first use.

    None where clang has to do: LLVM is no shared library beside it, or one without these passes.
    """
    return _built(toolchain.clang, toolchain.cache, toolchain.fingerprint)


@functools.cache
def _built(clang: Path, cache: Path, fingerprint: str) -> Path | None:
    library = _shared_library(clang, cache)
    if library is None:
        return None
    source = b"".join(path.read_bytes() for path in _SOURCES)
    key = digest([fingerprint, str(library), source, *PASSES])
    target = cache / "lift-compiler" / key
    if target.exists():
        return target
    executable = _linked(clang, library)
    if executable is None:
        return None
    target.parent.mkdir(parents=True, exist_ok=True)
    write_whole(target, executable, mode=0o755)
    return target


def _linked(clang: Path, library: Path) -> bytes | None:
    """The program; None if it cannot be linked, or does not compile the smallest kernel."""
    with private_folder() as folder:
        for source in _SOURCES:
            (folder / source.name).write_bytes(source.read_bytes())
        (folder / "probe.ll").write_text(_PROBE)
        view = View(read_only=(clang.resolve().parents[1], library.parent), writable=(folder,))
        link: list[str | Path] = [clang, "-x", "c", "-O1", "compile_ir.c", "-x", "none"]
        link += [library, f"-Wl,-rpath,{library.parent}", "-o", "made"]
        if not run(link, cwd=folder, view=view).ok:
            return None  # no linker for the host, or a library without AMDGPU
        probe: list[str | Path] = [folder / "made", "probe.ll", DEFAULT_AMD_ARCHITECTURE]
        probe += [*PASSES, "yes"]
        if not run(probe, cwd=folder, view=view).ok:
            return None  # another version of LLVM, with other passes
        return (folder / "made").read_bytes()


def _shared_library(clang: Path, cache: Path) -> Path | None:
    """LLVM's library that ``clang`` itself is linked with; asked once for each clang."""

    def linked() -> str:
        with private_folder() as folder:
            view = View(read_only=(clang.resolve().parents[1],), writable=(folder,))
            done = run(["ldd", clang.resolve()], cwd=folder, view=view)
        if not done.ok:
            raise ToolMissing("LLVM's shared library", "clang does its work.", done.stderr_text)
        match = _LIBRARY.search(done.stdout_text)
        return match[1] if match else ""

    try:
        name = remembered(cache, "LLVM's shared library", (clang,), linked)
    except ToolMissing:
        return None
    return Path(name) if name else None
