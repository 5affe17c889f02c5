"""LLVM IR to RDNA3 assembly, by LLVM's AMDGPU backend in the sandbox."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from cass_ray.cache import digest
from cass_ray.lift.errors import CompilerFailure
from cass_ray.lift.llvm import device_functions
from cass_ray.lift.llvm.builder import SUPPORT_PREFIX
from cass_ray.lift.llvm.native_compiler import PASSES, ir_compiler
from cass_ray.toolchain.amd import hidden_operands
from cass_ray.toolchain.amd.toolchain import AmdToolchain, code_flags
from cass_ray.toolchain.amd.workarounds import LlvmOptions, as_flags, right_code
from cass_ray.toolchain.sandbox.isolation import View, private_folder
from cass_ray.toolchain.sandbox.process import (
    COMPILE_LIMITS,
    Completed,
    Limits,
    ProcessOutcome,
    run,
)
from cass_ray.whole_file import write_whole

_CODE_OBJECT_VERSION = 5
_INPUT = "lifted.ll"
_FLAGS = (
    "-x",
    "ir",
    "-target",
    "amdgcn-amd-amdhsa",
    f"-mcode-object-version={_CODE_OBJECT_VERSION}",
    "-nogpulib",
    "-O3",
    "-ffp-contract=off",
    "-fno-discard-value-names",
    "-w",
)
_LLVM_OPTIONS = (
    # ptxas has combined the atomic operations of a warp where that pays.
    "-amdgpu-atomic-optimizer-strategy=None",
    # LLVM does not know which LDS the kernel uses, and would put arrays at the same addresses.
    "-disable-promote-alloca-to-lds",
    # A comparison for each element at every access costs more than memory does.
    "-disable-promote-alloca-to-vector",
    # They share parts of addresses, as ptxas has done, and the code is no better for it.
    "-amdgpu-scalar-ir-passes=0",
    # It makes a second counter of what ptxas has made one of, and a copy in each round.
    "-disable-lsr",
)
_WITH_FUNCTIONS = (
    # After SI Optimize VGPR LiveRange of LLVM 19 kernels of virtual functions read wrong addresses.
    # One fault of that pass is mended by LLVM's pull request 218342.
    "-amdgpu-opt-vgpr-liverange=false",
    # Else a caller keeps its values in registers that no function below it uses. Where functions
    # call each other in depth there are none, and all scalars are spilled at each call.
    "-enable-ipra=0",
    # Of a thread's memory, where they recurse: LLVM takes none in code objects of version 5, AMD's
    # runtime and ours give such kernels 1 and 8 KiB, and frames are larger than ptxas' own.
    "-amdgpu-assume-external-call-stack-size=16384",
)
"""Options for modules with functions beside kernels."""


ENDED = "LLVM was ended after"
"""What the message of a failure begins with where a limit of time was reached."""
_SECONDS_A_MEGABYTE = 60.0
"""Time limit for a megabyte of LLVM IR: kernels of 29,000 instructions, 5 MB, took 25 s on an idle
machine."""
_MOST_SECONDS = 3600.0


def limits_for(module: str) -> Limits:
    """What LLVM may take for so much code, in CPU time."""
    usual = COMPILE_LIMITS
    seconds = min(_MOST_SECONDS, usual.cpu_seconds + _SECONDS_A_MEGABYTE * len(module) / 1e6)
    return replace(usual, cpu_seconds=seconds, wall_seconds=max(usual.wall_seconds, 4 * seconds))


def assembly(
    toolchain: AmdToolchain, module: str, architecture: str, limits: Limits | None = None
) -> tuple[str, float]:
    """RDNA3 assembly of an LLVM module, and LLVM's CPU seconds. Raises :class:`CompilerFailure`."""
    limits = limits or limits_for(module)
    options = _LLVM_OPTIONS + (_WITH_FUNCTIONS if "\ndefine internal " in module else ())

    def make(more: LlvmOptions) -> tuple[str, float]:
        given_once = tuple(dict.fromkeys(options + more))
        return _compiled(toolchain, module, architecture, given_once, limits)

    text, seconds, _ = right_code(toolchain.version, make, CompilerFailure)
    return text, seconds


def _compiled(
    toolchain: AmdToolchain,
    module: str,
    architecture: str,
    options: tuple[str, ...],
    limits: Limits,
) -> tuple[str, float]:
    """The assembly by these options of LLVM, and CPU seconds."""
    compiler = ir_compiler(toolchain)
    if compiler is not None and f"@{SUPPORT_PREFIX}" not in module:
        own = [word for word in toolchain.workarounds if word != "-mllvm"]
        hides = "yes" if toolchain.hides_operands else ""
        command: list[str | Path] = [compiler, _INPUT, architecture, *PASSES, hides, *options, *own]
        return _run(command, module, (*toolchain.visible(), compiler.parent), limits)
    command = _clang(toolchain, architecture, options)
    further: list[str | Path] = []
    visible = toolchain.visible()
    if f"@{SUPPORT_PREFIX}" in module:
        device_functions.check_calls(module)
        support = _support_library(toolchain, architecture)
        further = ["-Xclang", "-mlink-builtin-bitcode", "-Xclang", support]
        visible = (*visible, support.parent)
    if not toolchain.hides_operands:
        return _run([*command, *further], module, visible, limits)
    ir, seconds = _run([*command, *further, "-emit-llvm"], module, visible, limits)
    hidden = _checked(hidden_operands.hide(ir, limits), "operands in the lifted code")
    command += hidden_operands.UNOPTIMIZED
    text, more = _run(command, hidden.stdout_text, visible, limits)
    return text, seconds + hidden.cpu_seconds + more


def _run(
    command: list[str | Path], module: str, visible: tuple[Path, ...], limits: Limits
) -> tuple[str, float]:
    with private_folder() as folder:
        (folder / _INPUT).write_text(module)
        view = View(read_only=visible, writable=(folder,))
        done = run(command, cwd=folder, limits=limits, view=view)
    if done.outcome is ProcessOutcome.TIME_LIMIT:
        took = f"{done.cpu_seconds:.0f} s of CPU time, {done.wall_seconds:.0f} s by the clock"
        most = f"{limits.cpu_seconds:.0f} s of CPU time, {limits.wall_seconds:.0f} s by the clock"
        raise CompilerFailure(f"{ENDED} {took} (limit for {len(module)} bytes of LLVM IR: {most})")
    return _checked(done, "the lifted code").stdout_text, done.cpu_seconds


def _clang(
    toolchain: AmdToolchain, architecture: str, options: tuple[str, ...]
) -> list[str | Path]:
    flags = as_flags(options)
    command: list[str | Path] = [toolchain.clang, *_FLAGS, *flags, *toolchain.workarounds]
    return [*command, f"-mcpu={architecture}", "-S", _INPUT, "-o", "-"]


def _support_library(toolchain: AmdToolchain, architecture: str) -> Path:
    """Bitcode of the files of ``device`` with what they need of AMD's device library; cached."""
    key = digest([toolchain.fingerprint, architecture, device_functions.SOURCE])
    library = toolchain.cache / "lift-support" / f"{key}.bc"
    if library.exists():
        return library
    flags = code_flags(architecture, "-O3")
    command: list[str | Path] = [toolchain.clang, *flags, f"--rocm-path={toolchain.rocm_path}"]
    command += ["--cuda-device-only", "-emit-llvm", "-c", "-fgpu-rdc", "-w"]
    with private_folder() as folder:
        (folder / "support.hip").write_bytes(device_functions.SOURCE)
        view = View(read_only=toolchain.visible(), writable=(folder,))
        command += ["support.hip", "-o", "support.bc"]
        _checked(run(command, cwd=folder, view=view), "the support functions")
        bitcode = (folder / "support.bc").read_bytes()
    library.parent.mkdir(parents=True, exist_ok=True)
    write_whole(library, bitcode)
    return library


def _checked(done: Completed, what: str) -> Completed:
    if not done.ok:
        message = done.stderr_text.strip()[-2000:] or done.outcome.value
        raise CompilerFailure(f"LLVM refused {what}: {message}")
    return done


def with_sizes(text: str, sizes: Mapping[str, int]) -> str:
    """``text`` with the size of each variable, for LLVM gives an alias the size of its section."""
    lines = [f"\t.size\t{name}, {size}" for name, size in sizes.items() if f"\t{name}\n" in text]
    return "\n".join([text.rstrip("\n"), *lines, ""])
