"""``cass compile``: one file through the vendor compilers, to assembly or an executable."""

from __future__ import annotations

import re
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from cass_ray.architectures import (
    AMD_ARCHITECTURES,
    DEFAULT_AMD_ARCHITECTURE,
    DEFAULT_NVIDIA_ARCHITECTURE,
    NVIDIA_ARCHITECTURES,
    known_instead,
    shown_with_cards,
)
from cass_ray.commands.output import Overwrite
from cass_ray.commands.program_options import Definitions, IncludeFolders, SourceTree, unit_of
from cass_ray.commands.tool_errors import tool_errors
from cass_ray.commands.waiting import waiting
from cass_ray.overwriting import check_outputs, remember, write_output
from cass_ray.toolchain.locate import find_amd, find_nvidia
from cass_ray.toolchain.opencl.locate import find_opencl_amd, find_opencl_nvidia
from cass_ray.toolchain.unit import Unit

app = typer.Typer(add_completion=False, rich_markup_mode=None)


class Emit(StrEnum):
    """What ``cass compile`` writes."""

    HOST = "host"
    DEVICE = "device"
    PTX = "ptx"
    EXE = "exe"


class Cudart(StrEnum):
    """Values of nvcc's option of this name."""

    STATIC = "static"
    SHARED = "shared"


class SourceLanguage(StrEnum):
    """A source language by its file suffix."""

    CUDA = ".cu"
    HIP = ".hip"
    OPENCL = ".cl"


@app.command("compile")
def compile_file(
    file: Annotated[Path, typer.Argument(help="A .cu, .hip or .cl file.", show_default=False)],
    emit: Annotated[
        Emit, typer.Option(help="Host assembly, SASS or RDNA assembly, PTX, or an executable.")
    ] = Emit.DEVICE,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="Where to write; standard output if not given."),
    ] = None,
    arch: Annotated[
        list[str] | None,
        typer.Option(
            help="sm_80, sm_89 … for CUDA (may be repeated, as in --arch sm_80 --arch sm_89);"
            f" gfx1100, gfx1101 … for HIP; either for OpenCL."
            f" [default: {DEFAULT_NVIDIA_ARCHITECTURE}; {DEFAULT_AMD_ARCHITECTURE}]"
        ),
    ] = None,
    include: IncludeFolders = None,
    define: Definitions = None,
    root: SourceTree = None,
    optimization: Annotated[str, typer.Option("-O", help="Level: 0, 1, 2, 3 or s.")] = "3",
    cudart: Annotated[
        Cudart,
        typer.Option(help="CUDA's runtime in an executable; `cass run-binary` wants it shared."),
    ] = Cudart.STATIC,
    overwrite: Overwrite = False,
) -> None:
    """Compile a CUDA, HIP or OpenCL file with the vendor's compiler, inside the sandbox.

    OpenCL compiles for the vendor that --arch says (Nvidia by default); it has device code only.

    Exit codes: 0 done, 1 the file does not compile (the compiler's message is on standard error),
    2 usage, 3 a tool is missing.
    """
    language = _language(file)
    shared_runtime = cudart is Cudart.SHARED
    if shared_runtime and (language is not SourceLanguage.CUDA or emit is not Emit.EXE):
        raise typer.BadParameter("only with --emit exe, of CUDA", param_hint="--cudart shared")
    if output is None and emit is Emit.EXE:
        raise typer.BadParameter("an executable needs a file: give -o", param_hint="--emit exe")
    if optimization not in {"0", "1", "2", "3", "s"}:
        raise typer.BadParameter("give 0, 1, 2, 3 or s", param_hint="-O")
    architectures = _architectures(arch or [], language)
    if emit is Emit.PTX and architectures[0].startswith("gfx"):
        raise typer.BadParameter(
            "PTX is for CUDA, and for OpenCL on Nvidia", param_hint="--emit ptx"
        )
    if language is SourceLanguage.OPENCL and emit in (Emit.HOST, Emit.EXE):
        raise typer.BadParameter("an OpenCL file has device code only", param_hint="--emit")
    build = {SourceLanguage.CUDA: _cuda, SourceLanguage.HIP: _hip, SourceLanguage.OPENCL: _opencl}[
        language
    ]
    with tool_errors(), waiting(f"compiling {file.name}"):
        if output is not None:
            check_outputs([output], overwrite=overwrite, inputs=[file])
        unit = unit_of(file, root, include or [], define or [])
        if shared_runtime and output is not None:
            find_nvidia(architectures=architectures).build_executable(
                unit, output, architectures, optimization=f"-O{optimization}", shared_runtime=True
            )
            remember([output])
            return
        text = build(unit, emit, architectures, output, f"-O{optimization}")
        if output is None:
            sys.stdout.write(text or "")
        elif text is None:
            remember([output])
        else:
            write_output(output, text, overwrite=overwrite, inputs=[file])


def _language(file: Path) -> SourceLanguage:
    try:
        language = SourceLanguage(file.suffix)
    except ValueError:
        names = ", ".join(f"*{member.value}" for member in SourceLanguage)
        raise typer.BadParameter(f"{file} is none of {names}", param_hint="FILE") from None
    if not file.is_file():
        raise typer.BadParameter(f"{file} is not a file", param_hint="FILE")
    return language


_FOR_NVIDIA = "Nvidia; `cass translate FILE.cu -o FILE.hip` makes a file to compile for AMD"


def _architectures(names: list[str], language: SourceLanguage) -> list[str]:
    """``names``, else the default; several for Nvidia only."""
    amd = language is SourceLanguage.HIP or (
        language is SourceLanguage.OPENCL and any(name.startswith("gfx") for name in names)
    )
    prefix, default = (
        ("gfx", DEFAULT_AMD_ARCHITECTURE) if amd else ("sm_", DEFAULT_NVIDIA_ARCHITECTURE)
    )
    targets = AMD_ARCHITECTURES if amd else NVIDIA_ARCHITECTURES
    for name in names:
        if name in (*AMD_ARCHITECTURES, *NVIDIA_ARCHITECTURES) and name not in targets:
            raise typer.BadParameter(
                f"{shown_with_cards(name)}: a *{language.value} file is compiled for "
                + ("AMD; give a processor as gfx942" if amd else _FOR_NVIDIA),
                param_hint="--arch",
            )
        if not re.fullmatch(rf"{prefix}[0-9a-f]+", name):
            raise typer.BadParameter(
                f"{name!r}: architectures for *{language.value} are called {prefix}…; "
                + known_instead(name, targets),
                param_hint="--arch",
            )
    if amd and len(names) > 1:
        raise typer.BadParameter("one architecture at a time for AMD", param_hint="--arch")
    return names or [default]


def _cuda(
    unit: Unit, emit: Emit, architectures: list[str], output: Path | None, optimization: str
) -> str | None:
    """The text to write; None when the executable ``output`` has been written."""
    toolchain = find_nvidia(architectures=architectures)
    if emit is Emit.EXE and output is not None:
        toolchain.build_executable(unit, output, architectures, optimization=optimization)
        return None
    want_ptx = emit is Emit.PTX
    result = toolchain.compile(unit, architectures, want_ptx=want_ptx, optimization=optimization)
    if emit is Emit.HOST:
        return result.host_assembly
    if want_ptx:
        return "".join(result.ptx[name] for name in architectures)
    return "".join(toolchain.disassemble([result.cubins[name] for name in architectures]))


def _hip(
    unit: Unit, emit: Emit, architectures: list[str], output: Path | None, optimization: str
) -> str | None:
    """The text to write; None when the executable ``output`` has been written."""
    (architecture,) = architectures
    toolchain = find_amd(architectures=architectures)
    if emit is Emit.EXE and output is not None:
        toolchain.build_executable(unit, output, architecture, optimization=optimization)
        return None
    result = toolchain.compile(unit, architecture, optimization=optimization)
    return result.host_assembly if emit is Emit.HOST else result.device_assembly


def _opencl(
    unit: Unit, emit: Emit, architectures: list[str], output: Path | None, optimization: str
) -> str:
    """The text to write: PTX, SASS or RDNA assembly."""
    del output
    if architectures[0].startswith("gfx"):
        amd = find_opencl_amd()
        return amd.compile(unit, architectures[0], optimization=optimization).device_assembly
    compiler = find_opencl_nvidia()
    result = compiler.compile(unit, architectures, want_ptx=emit is Emit.PTX)
    if emit is Emit.PTX:
        return "".join(result.ptx[name] for name in architectures)
    return "".join(compiler.nvidia.disassemble([result.cubins[name] for name in architectures]))
