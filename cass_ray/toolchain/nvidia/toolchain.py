"""CUDA programs to host assembly, machine code (cubins), PTX, SASS text and executables.

Device code is what ``nvcc -cubin`` makes, by its own steps. Everything that reads a program runs in
the sandbox: it sees the program's source tree at ``/cass/source``, the toolchain and the system.
"""

from __future__ import annotations

import functools
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path

from cass_ray.architectures import DEFAULT_NVIDIA_ARCHITECTURE
from cass_ray.cache import default_directory, digest
from cass_ray.dataset.row import Reason, Toolchain
from cass_ray.toolchain.nvidia.device import DeviceCompiler, compile_device
from cass_ray.toolchain.nvidia.disassembly import DisassemblyError, disassemble
from cass_ray.toolchain.nvidia.hip_sources import hip_flags
from cass_ray.toolchain.nvidia.host import (
    SHIM,
    ClangHost,
    NvccHost,
    clang_flags,
    standard_flag,
)
from cass_ray.toolchain.nvidia.older_cccl import older_flags, with_what_was_removed
from cass_ray.toolchain.nvidia.removed_names import removed_flags
from cass_ray.toolchain.nvidia.resident_cicc import LIBRARY_SOURCE, ResidentPool
from cass_ray.toolchain.nvidia.steps import SOURCE_TREE, CompilerWorkbench, NvccError
from cass_ray.toolchain.resident.library import preloaded_library
from cass_ray.toolchain.sandbox import process
from cass_ray.toolchain.sandbox.isolation import Mount, View, private_folder
from cass_ray.toolchain.sandbox.process import COMPILE_LIMITS, Limits
from cass_ray.toolchain.unit import CompileFailure, Unit, classify, forbidden_read, result_of
from cass_ray.whole_file import write_whole

DEFAULT_ARCHITECTURE = DEFAULT_NVIDIA_ARCHITECTURE
WORK_FOLDER = Path("/cass/work")
"""Where compilers see the folder of their work files."""

_TARGET = re.compile(r"\bsm_(\d+)\b")
_VARIANT = re.compile(r"(?<=\d)[af]$")
"""sm_90a: code of this one processor alone; sm_100f: of its family."""

_EXTENSIONS = ("--expt-relaxed-constexpr", "--extended-lambda")
_LANGUAGE = (standard_flag(""), *_EXTENSIONS)


def _find_clang() -> Path | None:
    program = shutil.which("clang++-19") or shutil.which("clang++")
    return Path(program) if program else None


@dataclass(frozen=True)
class NvidiaOutput:
    """One unit compiled. ``cubins`` and ``ptx`` are by architecture, ``ptx`` only if asked for.

    ``host_assembly`` holds the program's host code and launch stubs, without device code and
    registration. ``cpu_seconds_by_tool`` is by program run.
    """

    host_assembly: str
    cubins: dict[str, bytes]
    ptx: dict[str, str]
    cpu_seconds_by_tool: dict[str, float]
    flags: str


_RELOCATABLE = ("-rdc=true",)
_OF_ANOTHER_UNIT = re.compile(r"ptxas fatal\s*: Unresolved extern (?:function|variable)")


def calls_other_units(failure: CompileFailure) -> bool:
    """Whether the device code of a unit that failed so is to be linked with that of others."""
    return _OF_ANOTHER_UNIT.search(failure.diagnostic) is not None


@dataclass(frozen=True)
class NvidiaToolchain:
    """An installation of CUDA's compiler and, for speed, a clang for the host code.

    ``version`` is nvcc's, such as ``13.0.88``. ``cache`` is where precompiled headers go. Of
    ``include_directories``, those outside the installation hold headers that it lacks.
    """

    nvcc: Path
    cuobjdump: Path
    nvdisasm: Path
    include_directories: tuple[Path, ...]
    library_directories: tuple[Path, ...]
    version: str
    host_compiler: Path = Path("/usr/bin/g++")
    clang: Path | None = field(default_factory=_find_clang)
    cache: Path = field(default_factory=default_directory)

    name = "nvcc"

    @cached_property
    def fingerprint(self) -> str:
        """Digest of what determines the output beside unit, architectures and optimization."""
        return digest([self.name, self.version, self.clang_version, *_LANGUAGE])

    @cached_property
    def clang_version(self) -> str:
        """First line of ``clang --version``; empty without clang."""
        if self.clang is None:
            return ""
        completed = process.run([self.clang, "--version"], cwd=Path("/"))
        return completed.stdout_text.partition("\n")[0]

    @cached_property
    def targets(self) -> tuple[str, ...]:
        """The processors that nvcc compiles for, sm_80 and so on, as it lists them itself.

        Variants (sm_90a, sm_100f) are not listed. Raises :class:`~.steps.NvccError`.
        """
        done = process.run([self.nvcc, "--list-gpu-code"], cwd=Path("/"))
        numbers = sorted({int(number) for number in _TARGET.findall(done.stdout_text)})
        if not done.ok or not numbers:
            message = done.stderr_text.strip() or done.stdout_text.strip() or done.outcome.value
            raise NvccError(f"{self.nvcc} --list-gpu-code failed: {message}")
        return tuple(f"sm_{number}" for number in numbers)

    def compiles_for(self, architecture: str) -> bool:
        """Whether nvcc knows ``architecture``, or what it is a variant of.

        Raises :class:`~.steps.NvccError`.
        """
        return _VARIANT.sub("", architecture) in self.targets

    @property
    def home(self) -> Path:
        """The folder that holds ``bin``, ``include`` and ``nvvm``."""
        return self.nvcc.parent.parent

    def compile(
        self,
        unit: Unit,
        architectures: Sequence[str] = (DEFAULT_ARCHITECTURE,),
        *,
        want_ptx: bool = False,
        optimization: str = "-Os",
        limits: Limits = COMPILE_LIMITS,
        fetch_headers: bool = True,
        hip_headers: bool = False,
    ) -> NvidiaOutput:
        """Compile ``unit`` to host assembly and to a cubin for each of ``architectures``.

        ``optimization`` is the host compiler's; nvcc has no optimization for size of device code,
        which gets its default, ``-O3``. Raises :class:`~cass_ray.toolchain.unit.CompileFailure`;
        its reason is ``NO_DEVICE_CODE`` where the unit compiles but holds no kernel.

        What newer releases took away is given back to a unit that needs it
        (:mod:`.removed_names`, :mod:`.older_cccl`); ``fetch_headers`` says whether CUDA 12's CUB
        and Thrust may be fetched for that. ``hip_headers``: a unit that is written in HIP for both
        vendors gets HIP's headers for Nvidia; one by itself that is not CUDA does not compile.
        """
        attempt = partial(
            self._compile, architectures=architectures, want_ptx=want_ptx,
            optimization=optimization, limits=limits,
        )  # fmt: skip
        return with_what_was_removed(
            attempt, unit, self.cache, fetch=fetch_headers, hip_headers=hip_headers
        )

    def _compile(
        self,
        unit: Unit,
        architectures: Sequence[str],
        want_ptx: bool,
        optimization: str,
        limits: Limits,
    ) -> NvidiaOutput:
        attempt = partial(self._compile_with, unit, architectures, want_ptx, optimization, limits)
        try:
            return attempt(())
        except CompileFailure as failure:
            if not calls_other_units(failure):
                raise
        return attempt(_RELOCATABLE)

    def _compile_with(
        self,
        unit: Unit,
        architectures: Sequence[str],
        want_ptx: bool,
        optimization: str,
        limits: Limits,
        relocatable: tuple[str, ...],
    ) -> NvidiaOutput:
        flags = (*self.flags(optimization, unit.standard), *relocatable)
        with private_folder() as folder:
            bench = CompilerWorkbench(unit, folder, self._view(unit, folder), limits)
            compilers = [self._device(architecture, flags) for architecture in architectures]
            device = compile_device(compilers, bench, self.residents)
            if not any(".entry" in code.ptx for code in device.values()):
                raise CompileFailure(Reason.NO_DEVICE_CODE, "no kernel in the device code", "cicc")
            host = self._host_assembly(bench, architectures[0], flags, optimization)
        if path := forbidden_read(host, unit):
            message = f"the assembler is told to read {path}, outside the source tree"
            raise CompileFailure(Reason.FORBIDDEN_INCLUDE, message, "g++")
        return NvidiaOutput(
            host_assembly=host,
            cubins={name: code.cubin for name, code in device.items()},
            ptx={name: code.ptx for name, code in device.items()} if want_ptx else {},
            cpu_seconds_by_tool=bench.cpu_seconds,
            flags=" ".join(
                (
                    *self._recorded_flags(optimization, unit.standard),
                    *relocatable,
                    *removed_flags(unit),
                    *hip_flags(unit),
                    *older_flags(unit),
                )
            ),
        )

    def disassemble(self, cubins: Sequence[bytes]) -> list[str]:
        """SASS of each cubin, as ``nvdisasm -c`` prints it; several share one run.

        Raises :class:`~.nvidia_disassembly.DisassemblyError` and :class:`~.nvidia_elf.CubinError`.
        """
        return disassemble(self.nvdisasm, cubins, View(read_only=self._visible))

    def listing_with_lines(
        self,
        unit: Unit,
        architecture: str = DEFAULT_ARCHITECTURE,
        *,
        optimization: str = "-Os",
        limits: Limits = COMPILE_LIMITS,
    ) -> str:
        """SASS of ``unit`` with notes of source lines, as ``nvdisasm -c -gi`` prints it.

        The code is that of :meth:`compile`. Raises
        :class:`~cass_ray.toolchain.unit.CompileFailure` and :class:`DisassemblyError`.
        """
        with private_folder() as folder:
            view = self._view(unit, folder)
            bench = CompilerWorkbench(unit, folder, view, limits)
            device = self._device(
                architecture, (*self.flags(optimization, unit.standard), "-lineinfo")
            )
            device.generate_ptx(bench, None)
            cubin = folder / "lines.cubin"
            cubin.write_bytes(device.assemble(bench))
            command = [str(self.nvdisasm), "-c", "-gi", str(view.inside(cubin))]
            completed = process.run(command, cwd=folder, view=view, limits=limits)
        if not completed.ok:
            raise DisassemblyError(f"{self.nvdisasm}: {completed.stderr_text.strip()}")
        return completed.stdout_text

    def build_executable(
        self,
        unit: Unit,
        output: Path,
        architectures: Sequence[str] = (DEFAULT_ARCHITECTURE,),
        *,
        optimization: str = "-Os",
        limits: Limits = COMPILE_LIMITS,
        shared_runtime: bool = False,
    ) -> Path:
        """Compile ``unit`` and link it with the CUDA runtime into ``output``: with a copy of it, as
        nvcc does unless it is told otherwise, or with ``libcudart.so``.

        Raises :class:`~cass_ray.toolchain.unit.CompileFailure`.
        """
        link = partial(
            self._link, output=output, architectures=architectures,
            optimization=optimization, limits=limits, shared_runtime=shared_runtime,
        )  # fmt: skip
        return with_what_was_removed(link, unit, self.cache, fetch=True)

    def _link(
        self,
        unit: Unit,
        output: Path,
        architectures: Sequence[str],
        optimization: str,
        limits: Limits,
        shared_runtime: bool,
    ) -> Path:
        command = [str(self.nvcc), *self.flags(optimization, unit.standard)]
        command += unit.nvcc_arguments()
        for architecture in architectures:
            number = architecture.removeprefix("sm_")
            command += ["-gencode", f"arch=compute_{number},code={architecture}"]
        command += ["-cudart", "shared"] if shared_runtime else []
        # The packages of the Python registry have lib where nvcc looks for lib64.
        command += [f"-L{directory}" for directory in self.library_directories]
        with private_folder() as folder:
            view = self._view(unit, folder)
            program = folder / "program"
            command += [str(unit.main), "-o", str(view.inside(program))]
            completed = process.run(command, cwd=unit.root, view=view, limits=limits)
            if not completed.ok:
                raise classify(completed, unit, "nvcc")
            write_whole(output, result_of("nvcc", program), mode=0o755)
        return output

    def flags(self, optimization: str, standard: str = "") -> tuple[str, ...]:
        """nvcc's flags for a unit, beside architecture, include folders and definitions."""
        return (*self._recorded_flags(optimization, standard), *self._added_headers)

    def _recorded_flags(self, optimization: str, standard: str) -> tuple[str, ...]:
        """Those that do not depend on where things are on this machine."""
        language = (standard_flag(standard), *_EXTENSIONS)
        return (*language, "-Xcompiler", optimization, "-ccbin", str(self.host_compiler))

    @property
    def _added_headers(self) -> tuple[str, ...]:
        added = [path for path in self.include_directories if not path.is_relative_to(self.home)]
        return tuple(word for path in added for word in ("-isystem", str(path)))

    def record(self, output: NvidiaOutput) -> Toolchain:
        return Toolchain(name=self.name, version=self.version, flags=output.flags)

    def visible(self) -> tuple[Path, ...]:
        """Paths that a sandboxed compilation needs beside the system's."""
        needed = [self.nvcc, self.home, self.cuobjdump.parent, self.nvdisasm.parent, SHIM]
        needed += [*self.include_directories, *self.library_directories]
        if self.clang is not None:
            needed += [self.clang.resolve().parent.parent, self._clang_host.precompiled_directory]
        folders = [path if path.is_dir() else path.parent for path in needed]
        folders += [folder.resolve() for folder in folders]
        return _outermost([path for path in folders if not path.is_relative_to("/usr")])

    def _view(self, unit: Unit, folder: Path) -> View:
        mounts = (Mount(unit.root, SOURCE_TREE), Mount(folder, WORK_FOLDER, writable=True))
        return View(read_only=(*self._visible, *unit.outside_directories), mounts=mounts)

    @cached_property
    def _visible(self) -> tuple[Path, ...]:
        return self.visible()

    def _host_assembly(
        self, bench: CompilerWorkbench, architecture: str, flags: tuple[str, ...], optimization: str
    ) -> str:
        """By clang where it is there and accepts the unit, else nvcc's way."""
        host = None
        if self.clang is not None:
            host = self._clang_host.compile(
                bench,
                clang_flags(
                    bench.unit.standard,
                    optimization,
                    relocatable=_RELOCATABLE[0] in flags,
                ),
            )
        return host if host is not None else self._nvcc_host(architecture, flags).compile(bench)

    @cached_property
    def _clang_host(self) -> ClangHost:
        assert self.clang is not None
        return ClangHost(
            clang=self.clang,
            cuda=self.home,
            cache=self.cache,
            version=f"{self.clang_version} CUDA {self.version}",
            added_headers=self._added_headers,
        )

    @property
    def residents(self) -> ResidentPool | None:
        """This process's resident cicc processes; None where there can be none."""
        view = View(read_only=self._visible)
        return _resident_pool(self.nvcc, self.host_compiler, self.cache, view)

    def _device(self, architecture: str, flags: tuple[str, ...]) -> DeviceCompiler:
        return _device_compiler(self.nvcc, architecture, flags)

    def _nvcc_host(self, architecture: str, flags: tuple[str, ...]) -> NvccHost:
        return _nvcc_host(self.nvcc, architecture, flags)


@functools.cache
def _resident_pool(nvcc: Path, host_compiler: Path, cache: Path, view: View) -> ResidentPool | None:
    """The pool of this process for the cicc of ``nvcc``; None where there can be none."""
    library = preloaded_library(LIBRARY_SOURCE, host_compiler, cache)
    return ResidentPool(library, view) if library is not None else None


@functools.cache
def _device_compiler(nvcc: Path, architecture: str, flags: tuple[str, ...]) -> DeviceCompiler:
    return DeviceCompiler.read(nvcc, architecture, flags)


@functools.cache
def _nvcc_host(nvcc: Path, architecture: str, flags: tuple[str, ...]) -> NvccHost:
    return NvccHost.read(nvcc, architecture, flags)


def _outermost(folders: Sequence[Path]) -> tuple[Path, ...]:
    """``folders`` without those inside another of them."""
    unique = dict.fromkeys(folders)
    return tuple(
        folder
        for folder in unique
        if not any(folder != other and folder.is_relative_to(other) for other in unique)
    )
