"""``cass run-binary``: an Nvidia executable on AMD, here on the CPU backend, without its source."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from cass_ray.architectures import (
    DEFAULT_AMD_ARCHITECTURE,
    emulated_architectures,
    known_architecture,
)
from cass_ray.commands.native_matrices import NativeMatrices, report_native_matrices
from cass_ray.commands.program_options import (
    FILES_MIB,
    MEMORY_GIB,
    FileSize,
    InputFiles,
    Memory,
    StandardInput,
    file_bytes,
    memory_bytes,
    standard_input,
)
from cass_ray.commands.program_run import Finish, RunJson, within_time
from cass_ray.commands.waiting import waiting
from cass_ray.emulator.build import BuildFailed, runtime_library
from cass_ray.emulator.execution import RunOptions
from cass_ray.exit_codes import EXIT_FAILED, EXIT_TOOL_MISSING
from cass_ray.lift.errors import LiftError
from cass_ray.lift.lowering.target import LIFT_TARGETS
from cass_ray.port.errors import PortError
from cass_ray.port.executable import read_executable
from cass_ray.port.lifting import ContainerLifter
from cass_ray.port.running import PortedExecutable, execute, not_provided, port
from cass_ray.toolchain.errors import ToolMissing
from cass_ray.toolchain.locate import find_amd, find_nvidia
from cass_ray.toolchain.sandbox.isolation import IsolationUnavailableError

_TARGETS = [name for name in emulated_architectures() if name in LIFT_TARGETS]

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command(name="run-binary")
def port_command(
    executable: Annotated[
        Path, typer.Argument(help="A CUDA program linked with nvcc -cudart shared.")
    ],
    arguments: Annotated[
        list[str] | None, typer.Argument(help="Arguments of the program, after --.")
    ] = None,
    counters: Annotated[
        Path | None, typer.Option(help="Write execution counters of each kernel to this file.")
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Report memory errors and races; exit 1 if any.")
    ] = False,
    inputs: InputFiles = None,
    stdin: StandardInput = None,
    seconds: Annotated[
        float, typer.Option(min=1, help="Time limit of the program, in seconds.")
    ] = 600.0,
    memory: Memory = MEMORY_GIB,
    file_size: FileSize = FILES_MIB,
    arch: Annotated[
        list[str] | None,
        typer.Option(
            help=f"Card or processor: {', '.join(_TARGETS)}; may be repeated: one run for each."
            f" [default: {DEFAULT_AMD_ARCHITECTURE}]"
        ),
    ] = None,
    native_matrices: NativeMatrices = False,
    as_json: RunJson = False,
) -> None:
    """Lift an executable's kernels to AMD's code and run it against a CUDA runtime over HIP.

    The executable stays as it is. Standard output and exit code are the program's. Exit codes of
    our own: 1 cannot be ported, or a kernel was launched that is left out, 2 usage, 3 a tool is
    missing, 124 time limit, 125 memory, file or output limit, 128 + n signal n.
    """
    if not executable.is_file():
        raise typer.BadParameter(f"{executable} is not a file", param_hint="EXECUTABLE")
    processors = list(dict.fromkeys(arch or [DEFAULT_AMD_ARCHITECTURE]))
    try:
        for name in processors:
            known_architecture(name, _TARGETS)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--arch") from None
    if counters is not None and len(processors) > 1:
        raise typer.BadParameter("the counters are of one run: give one --arch")
    common = RunOptions(
        seconds=seconds,
        memory_bytes=memory_bytes(memory),
        file_bytes=file_bytes(file_size),
        check=check,
        counters=counters,
        inputs=inputs,
        stdin=standard_input(stdin),
    )
    finish = Finish("cass run-binary", seconds, as_json=as_json)
    status = 0
    try:
        program = read_executable(executable)
        nvidia = find_nvidia()
        for library in not_provided(program, nvidia):
            typer.echo(f"cass run-binary: {library} is needed too and is not provided", err=True)
        for name in processors:
            if len(processors) > 1:
                typer.echo(f"{name}:", err=True)
            with waiting(f"lifting {executable.name}"):
                lifter = ContainerLifter(nvidia, find_amd(), name, native_matrices=native_matrices)
                ported = port(program, lifter)
            _report(ported)
            options = replace(common, devices=(name,))
            with waiting(f"running {executable.name}"), within_time(seconds, "cass run-binary"):
                completed = execute(ported, arguments or [], runtime_library(), options)
            status = finish(completed, name) or status
    except (PortError, LiftError, BuildFailed) as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(EXIT_FAILED) from None
    except (ToolMissing, IsolationUnavailableError) as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(EXIT_TOOL_MISSING) from None
    raise typer.Exit(status)


def _report(ported: PortedExecutable) -> None:
    """Name the kernels that are left out or approximate; stop where there is none at all."""
    for name, reason in ported.failures.items():
        typer.echo(f"cass run-binary: kernel {name} is left out: {reason}", err=True)
    report_native_matrices("port", {n for module in ported.lifted for n in module.native_matrices})
    if ported.failures and not ported.kernels and ported.lifter is None:
        raise PortError(f"no kernel of {ported.executable.path} could be lifted")
