"""A program and its translation as machine code, each instruction with the line that it is from."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import PurePosixPath

from cass_ray.api.machine_code import AssemblyFunction, AssemblyRequest, AssemblySide
from cass_ray.assembly import rdna3, sass
from cass_ray.assembly.rdna3 import Rdna3LineKind
from cass_ray.assembly.source_lines import rdna3_lines, sass_lines
from cass_ray.corpus.reading.source_files import Sources
from cass_ray.dataset.row import clip_diagnostic
from cass_ray.toolchain.amd.toolchain import AmdToolchain
from cass_ray.toolchain.errors import ToolMissing
from cass_ray.toolchain.nvidia.disassembly import DisassemblyError
from cass_ray.toolchain.nvidia.toolchain import NvidiaToolchain
from cass_ray.toolchain.sandbox.isolation import private_folder
from cass_ray.toolchain.sandbox.process import Limits
from cass_ray.toolchain.unit import CompileFailure
from serve.messages import without_paths

_INSTRUCTIONS = 20_000
"""Shown of a side: who wants to read more compiles it at home."""
_OPTIMIZATION = "-Os"
_CUDA, _HIP = "program.cu", "translation.hip"


def nvidia_side(
    toolchain: Callable[[], NvidiaToolchain], request: AssemblyRequest, limits: Limits
) -> AssemblySide:
    """The SASS of a request's program; what does not compile is a side with a problem."""
    side = AssemblySide(vendor="nvidia", architecture=request.nvidia_arch)
    try:
        tools = toolchain()
        with private_folder() as folder:
            listing = tools.listing_with_lines(
                _single(_CUDA, request.source).write(folder),
                request.nvidia_arch,
                optimization=_OPTIMIZATION,
                limits=limits,
            )
    except (CompileFailure, DisassemblyError, ToolMissing) as error:
        return side.model_copy(update={"problem": _said(error)})
    lines = sass_lines(listing, _CUDA)
    functions = (
        (each.name, [one.text for one in each.instructions], lines.get(each.name, []))
        for each in sass.parse(listing).functions
    )
    return _with_functions(side, f"nvcc {tools.version}", functions)


def amd_side(
    toolchain: Callable[[], AmdToolchain], request: AssemblyRequest, limits: Limits
) -> AssemblySide:
    """The AMD assembly of a request's translation, in the same way."""
    side = AssemblySide(vendor="amd", architecture=request.arch)
    try:
        tools = toolchain()
        with private_folder() as folder:
            output = tools.compile_device(
                _single(_HIP, request.translation).write(folder),
                request.arch,
                optimization=_OPTIMIZATION,
                limits=limits,
                line_tables=True,
            )
    except (CompileFailure, ToolMissing) as error:
        return side.model_copy(update={"problem": _said(error)})
    module = rdna3.parse(output.device_assembly)
    lines = rdna3_lines(output.device_assembly, _HIP)
    functions = (
        (name, [each.statement for each in _instructions(module, function)], lines[name])
        for name, function in module.functions.items()
    )
    return _with_functions(side, f"clang {tools.version}", functions)


def _instructions(
    module: rdna3.Rdna3Module, function: rdna3.Rdna3Function
) -> Iterable[rdna3.Rdna3Line]:
    kept = (module.lines[index] for index in function.lines)
    return (line for line in kept if line.kind is Rdna3LineKind.INSTRUCTION)


def _with_functions(
    side: AssemblySide, compiler: str, found: Iterable[tuple[str, list[str], list[int]]]
) -> AssemblySide:
    functions, left, left_out = [], _INSTRUCTIONS, 0
    for name, instructions, lines in found:
        # A listing that pads what the line notes leave out has no lines, rather than wrong ones.
        numbers = lines if len(lines) == len(instructions) else [0] * len(instructions)
        left_out += max(0, len(instructions) - left)
        functions.append(
            AssemblyFunction(name=name, instructions=instructions[:left], lines=numbers[:left])
        )
        left = max(0, left - len(instructions))
    return side.model_copy(
        update={"compiler": compiler, "functions": functions, "left_out": left_out}
    )


def _said(error: Exception) -> str:
    said = error.diagnostic if isinstance(error, CompileFailure) else str(error)
    return without_paths(clip_diagnostic(said))


def _single(name: str, text: str) -> Sources:
    return Sources(PurePosixPath(name), {name: text.encode("utf-8", "surrogateescape")})
