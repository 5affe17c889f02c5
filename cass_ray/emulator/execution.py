"""Build a HIP program against the CPU runtime and run it in the sandbox.

The executable is an ordinary host program with code for one AMD processor inside, linked against
our ``libamdhip64.so``. Executables are cached by content: a second run of a program only runs.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from cass_ray.cache import default_directory, digest
from cass_ray.corpus.reading.source_files import Sources
from cass_ray.dataset.row import Reason
from cass_ray.emulator.device_process import DeviceMode, DeviceRun, device_process
from cass_ray.emulator.variables import emulator_variable
from cass_ray.toolchain.amd import compiler_driver
from cass_ray.toolchain.amd.toolchain import (
    DEFAULT_ARCHITECTURE,
    SHIM,
    AmdToolchain,
    code_flags,
    forced_header,
)
from cass_ray.toolchain.archive.library_root import LIBRARY_ENVIRONMENT, visible_libraries
from cass_ray.toolchain.executables import cached_executable
from cass_ray.toolchain.sandbox.executable import Bounds, Exposure, complete
from cass_ray.toolchain.sandbox.isolation import View, private_folder
from cass_ray.toolchain.sandbox.process import COMPILE_LIMITS, Completed, Limits, run
from cass_ray.toolchain.unit import CompileFailure, Unit, classify, result_of

DEFAULT_OPTIMIZATION = "-O3"
"""What hipcc uses where nothing is said."""

_OUTPUT_BYTES = 64 << 20

DEVICES_VARIABLE = "CASS_DEVICES"
"""Names the processors of the devices that the runtime presents, with commas between them."""


@dataclass(frozen=True)
class RunOptions:
    """How a program runs.

    ``seconds`` bounds its wall time, ``kernel_seconds`` that of each kernel,
    ``memory_bytes`` its resident memory, ``file_bytes`` all that it writes to its working folder,
    which lies in memory. ``check`` turns the checking mode on, ``counters`` is a
    file for execution counters. ``as_on_a_card`` and ``late_streams`` are those of
    :class:`~cass_ray.emulator.device_process.DeviceMode`.
    ``inputs`` is a folder whose files the program finds in its working folder, read-only.
    ``compiler`` is what HIPRTC compiles with; without one it fails.
    ``devices`` are the devices' processors, by ordinal (default: one that the program has code
    for).
    """

    seconds: float = 600.0
    kernel_seconds: float | None = None
    memory_bytes: int = 8 << 30
    file_bytes: int = Bounds.folder_bytes
    check: bool = False
    counters: Path | None = None
    inputs: Path | None = None
    stdin: bytes = b""
    compiler: AmdToolchain | None = None
    devices: tuple[str, ...] = ()
    as_on_a_card: bool = False
    late_streams: bool = False

    @property
    def limits(self) -> Limits:
        """Bounds of the process: its threads may use every CPU for ``seconds``."""
        return self.bounds.limits()

    @property
    def bounds(self) -> Bounds:
        """The same limits. A program can read no other ones of them than where a port is judged."""
        return Bounds(
            cpu_seconds=self.seconds * (os.cpu_count() or 1),
            wall_seconds=self.seconds,
            memory_bytes=self.memory_bytes,
            output_bytes=_OUTPUT_BYTES,
            folder_bytes=self.file_bytes,
        )


def build(
    sources: Sources,
    toolchain: AmdToolchain,
    runtime_library: Path,
    *,
    architecture: str = DEFAULT_ARCHITECTURE,
    further: Sequence[str] = (),
    device_assembly: str | None = None,
    optimization: str = DEFAULT_OPTIMIZATION,
    line_tables: bool = False,
) -> Path:
    """The executable of ``sources``, from the cache if it has been built before.

    It holds code for ``architecture`` and the ``further`` ones. ``device_assembly`` replaces the
    compiler's, which is for ``architecture``. With ``line_tables`` reports of kernels name lines of
    the source; the code is the same.

    Raises:
        CompileFailure: the sources or the assembly do not compile.
    """
    key = digest(
        [
            sources.digest,
            toolchain.fingerprint,
            str(runtime_library.resolve()),
            ",".join((architecture, *further)),
            optimization,
            device_assembly or "",
            *(["line tables"] if line_tables else []),
        ]
    )
    with (
        cached_executable("cass-run", key) as (executable, program),
        private_folder() as root,
        sources.original_lines(),
    ):
        if program is None:
            return executable
        unit = sources.write(root)
        targets = tuple(dict.fromkeys((architecture, *further)))
        try:
            output = toolchain.compile(
                unit, architecture, optimization=optimization, line_tables=line_tables
            )
        except CompileFailure as failure:
            if failure.reason is not Reason.NO_DEVICE_CODE or device_assembly is not None:
                raise
            build_without_kernels(unit, toolchain, runtime_library, targets, optimization, program)
        else:
            assembly = output.device_assembly if device_assembly is None else device_assembly
            toolchain.recombine(
                output.host_assembly,
                assembly,
                program,
                architecture=architecture,
                further={
                    other: toolchain.compile_device(
                        unit, other, optimization=optimization
                    ).device_assembly
                    for other in further
                    if other != architecture
                },
                runtime_library=runtime_library,
            )
    return executable


def build_without_kernels(
    unit: Unit,
    toolchain: AmdToolchain,
    runtime_library: Path,
    architectures: Sequence[str],
    optimization: str,
    output: Path,
) -> None:
    """Compile and link a program without kernels of its own; it may load some as modules.

    Device code is embedded where the program has variables of the device.
    """
    architecture, *further = architectures
    host = _assembly(unit, toolchain, architecture, optimization, "host")
    if "__hip_fatbin_" in host.replace("__hip_fatbin_wrapper", ""):
        device = {
            each: _assembly(unit, toolchain, each, optimization, "device") for each in architectures
        }
        toolchain.recombine(
            host,
            device[architecture],
            output,
            architecture=architecture,
            further={each: device[each] for each in further},
            runtime_library=runtime_library,
        )
        return
    library = runtime_library.resolve()
    with private_folder() as folder:
        (folder / "host.s").write_text(host)
        command: list[str | Path] = [toolchain.clang, folder / "host.s", library]
        command += [f"-Wl,-rpath,{library.parent}", *toolchain.library_flags(host, library)]
        command += [f"--ld-path={toolchain.linker}", "-pthread", "-lm", "-o", folder / "program"]
        visible = (*toolchain.visible(), library.parent, *visible_libraries(toolchain.cache))
        view = View(read_only=(*visible, unit.root), writable=(folder,))
        done = run(command, cwd=unit.root, limits=COMPILE_LIMITS, view=view)
        if not done.ok:
            raise classify(done, unit, "lld")
        output.write_bytes(result_of("lld", folder / "program"))
    output.chmod(0o755)


def _assembly(
    unit: Unit, toolchain: AmdToolchain, architecture: str, optimization: str, side: str
) -> str:
    """Assembly of one side (``host``, ``device``) of a unit that holds no kernel."""
    with private_folder() as folder:
        flags = code_flags(architecture, optimization, unit.standard)
        command: list[str | Path] = [toolchain.clang, *flags, f"--cuda-{side}-only", "-w", "-S"]
        command += [f"--rocm-path={toolchain.rocm_path}", f"-I{SHIM}"]
        command += ["-include", forced_header(unit), *unit.preprocessor_arguments()]
        command += [str(unit.main), "-o", folder / "text.s"]
        visible = (*toolchain.visible(), *visible_libraries(toolchain.cache), unit.root)
        visible = (*visible, *unit.system_directories)
        view = View(read_only=visible, writable=(folder,))
        done = run(command, cwd=unit.root, limits=COMPILE_LIMITS, view=view)
        if not done.ok:
            raise classify(done, unit, f"clang ({side})")
        return result_of("clang", folder / "text.s").decode("utf-8", "replace")


def execute(
    executable: Path,
    arguments: Sequence[str],
    runtime_library: Path,
    options: RunOptions | None = None,
) -> Completed:
    """Run ``executable`` in the sandbox with the CPU runtime; never raises for what it does."""
    options = options or RunOptions()
    with observed(runtime_library, options) as device:
        completed, _ = complete(
            executable,
            arguments,
            bounds=options.bounds,
            exposure=exposure(runtime_library, options.devices, options.compiler),
            stdin=options.stdin,
            inputs=options.inputs,
            companion=device.companion,
        )
        return completed


def exposure(
    runtime_library: Path, devices: tuple[str, ...], compiler: AmdToolchain | None
) -> Exposure:
    """Return what a program sees: it is the same in each mode, and for whoever runs it."""
    compilers = hiprtc_files(compiler) if compiler is not None else ()
    libraries = visible_libraries(default_directory())
    return Exposure(
        read_only=(runtime_library.resolve().parent, *compilers, *libraries),
        environment=environment(devices, compiler),
    )


@contextlib.contextmanager
def observed(runtime_library: Path, options: RunOptions) -> Iterator[DeviceRun]:
    """The device process of one run, whose counters are kept at the end."""
    mode = DeviceMode(
        check=options.check,
        counters=options.counters is not None,
        as_on_a_card=options.as_on_a_card,
        late_streams=options.late_streams,
        threads=_whole_number(emulator_variable("THREADS")),
        kernel_seconds=options.kernel_seconds or 0.0,
    )
    with device_process(runtime_library, mode, options.limits) as device:
        yield device
        if options.counters is not None and (text := device.counters()):
            options.counters.write_bytes(text)


def _hiprtc_compiler(toolchain: AmdToolchain) -> Path:
    """What HIPRTC calls: right where clang alone is not."""
    return compiler_driver.cached_driver(toolchain.cache, toolchain.clang, toolchain.version)


def hiprtc_files(toolchain: AmdToolchain) -> tuple[Path, ...]:
    """What a sandbox must show to a program whose HIPRTC compiles with ``toolchain``."""
    driver = _hiprtc_compiler(toolchain)
    return (*toolchain.visible(), driver.parent, *compiler_driver.visible())


def environment(devices: tuple[str, ...], compiler: AmdToolchain | None) -> dict[str, str]:
    """Variables of a program beside those of a clean environment."""
    variables = dict(LIBRARY_ENVIRONMENT)
    if devices:
        variables[DEVICES_VARIABLE] = ",".join(devices)
    if compiler is not None:
        variables["CASS_CLANG"] = str(_hiprtc_compiler(compiler))
        variables["CASS_HIP_ROOT"] = str(compiler.rocm_path)
    if value := emulator_variable("MEMORY"):
        variables["CASS_EMULATOR_MEMORY"] = value
    return variables


def _whole_number(text: str | None) -> int:
    return int(text) if text and text.isdecimal() else 0
