"""OpenCL C to machine code of both vendors: device code only, for OpenCL has no host part.

Nvidia: clang's NVPTX target with libclc and CUDA's libdevice, then ptxas, as the CUDA side has it.
AMD: clang's AMDGPU target with AMD's device libraries, which is what ROCm's runtime does inside
``clBuildProgram``. Both run in the sandbox.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from cass_ray.cache import digest
from cass_ray.dataset.row import Reason, Toolchain
from cass_ray.toolchain.amd.toolchain import AmdOutput, AmdToolchain
from cass_ray.toolchain.amd.workarounds import as_flags, right_code
from cass_ray.toolchain.nvidia.steps import SOURCE_TREE
from cass_ray.toolchain.nvidia.toolchain import NvidiaOutput, NvidiaToolchain
from cass_ray.toolchain.opencl.driver import OpenclDriver
from cass_ray.toolchain.sandbox.isolation import Mount, View, private_folder
from cass_ray.toolchain.sandbox.process import COMPILE_LIMITS, Completed, Limits, run
from cass_ray.toolchain.unit import CompileFailure, Unit, classify, forbidden_read, result_of

STANDARD = "-cl-std=CL1.2"
"""What every vendor's driver takes by default (Khronos, clBuildProgram)."""

NVIDIA_TARGET = "nvptx64--nvidiacl"
AMD_TARGET = "amdgcn-amd-amdhsa"

_WORK = Path("/cass/work")
_COMMON = ("-x", "cl", STANDARD, "-w", "-fdiagnostics-color=never")


_PTX_TARGETS = (75, 80, 86, 87, 89, 90)
"""What clang 18 and newer make PTX for; ptxas makes code for any later processor of it."""


def ptx_target(architecture: str) -> str:
    """The processor that clang makes PTX for where ptxas makes code for ``architecture``."""
    number = int(architecture.removeprefix("sm_").rstrip("af"))
    older = [each for each in _PTX_TARGETS if each <= number]
    return architecture if number in _PTX_TARGETS or not older else f"sm_{older[-1]}"


@dataclass(frozen=True)
class OpenclNvidia:
    """OpenCL C to cubins. ``libraries`` are bitcode files, searched in order."""

    clang: Path
    nvidia: NvidiaToolchain
    libraries: tuple[Path, ...]
    version: str
    driver: OpenclDriver | None = None
    """The vendor's own compiler, which then takes the place of clang."""

    name = "clang NVPTX + ptxas"

    @cached_property
    def fingerprint(self) -> str:
        """Digest of what determines the output beside unit and architectures."""
        libraries = [path.read_bytes() for path in self.libraries]
        driver = self.driver.vendor if self.driver is not None else ""
        return digest([self.name, self.version, driver, *_COMMON, *libraries])

    def compile(
        self,
        unit: Unit,
        architectures: Sequence[str],
        *,
        want_ptx: bool = False,
        limits: Limits = COMPILE_LIMITS,
    ) -> NvidiaOutput:
        """A cubin for each of ``architectures``; the host assembly is empty.

        Device code is optimized with ``-O3``, as nvcc's is. Raises
        :class:`~cass_ray.toolchain.unit.CompileFailure`.
        """
        seconds: dict[str, float] = {}
        ptx: dict[str, str] = {}
        cubins: dict[str, bytes] = {}
        for name in architectures:
            ptx[name] = self._ptx(unit, name, limits, seconds)
            if ".entry" not in ptx[name]:
                raise CompileFailure(Reason.NO_DEVICE_CODE, "no __kernel function", "clang")
            cubins[name] = self._cubin(unit, name, ptx[name], limits, seconds)
        return NvidiaOutput(
            host_assembly="",
            cubins=cubins,
            ptx=ptx if want_ptx else {},
            cpu_seconds_by_tool=seconds,
            flags=" ".join((*_COMMON, "-O3")),
        )

    def record(self, output: NvidiaOutput) -> Toolchain:
        name = self.name if self.driver is None else "clBuildProgram + ptxas"
        return Toolchain(name=name, version=self.version, flags=output.flags)

    def _ptx(self, unit: Unit, architecture: str, limits: Limits, seconds: dict[str, float]) -> str:
        if self.driver is not None:
            return self.driver.ptx(unit, STANDARD, limits)
        command = [str(self.clang), *_COMMON, "-O3", "-S", "-target", NVIDIA_TARGET]
        command += [f"-march={ptx_target(architecture)}"]
        for library in self.libraries:
            command += ["-Xclang", "-mlink-builtin-bitcode", "-Xclang", str(library)]
        command += [*unit.preprocessor_arguments(), "-o", "-", str(unit.main)]
        view = View(read_only=self._visible, mounts=(Mount(unit.root, SOURCE_TREE),))
        done = run(command, cwd=unit.root, limits=limits, view=view)
        _count(seconds, "clang", done)
        return _text(done, unit, "clang (NVPTX)")

    def _cubin(
        self, unit: Unit, architecture: str, ptx: str, limits: Limits, seconds: dict[str, float]
    ) -> bytes:
        ptxas = self.nvidia.nvcc.parent / "ptxas"
        with private_folder() as folder:
            (folder / "unit.ptx").write_text(ptx)
            view = View(
                read_only=(self.nvidia.home, self.nvidia.home.resolve()),
                mounts=(Mount(folder, _WORK, writable=True),),
            )
            source, target = (
                str(view.inside(folder / name)) for name in ("unit.ptx", "unit.cubin")
            )
            command = [str(ptxas), "-arch", architecture, source, "-o", target]
            done = run(command, cwd=folder, limits=limits, view=view)
            _count(seconds, "ptxas", done)
            if not done.ok:
                raise classify(done, unit, "ptxas")
            return result_of("ptxas", folder / "unit.cubin")

    @cached_property
    def _visible(self) -> tuple[Path, ...]:
        return _readable((self.clang, *self.libraries))


@dataclass(frozen=True)
class OpenclAmd:
    """OpenCL C to RDNA assembly. ``bitcode`` holds AMD's device libraries with ``opencl.bc``."""

    amd: AmdToolchain
    bitcode: Path

    name = "clang AMDGPU"

    @property
    def version(self) -> str:
        """clang's and the device libraries'."""
        return self.amd.version

    @cached_property
    def fingerprint(self) -> str:
        """Digest of what determines the output beside unit, architecture and optimization."""
        library = (self.bitcode / "opencl.bc").read_bytes()
        return digest([self.name, self.amd.fingerprint, *_COMMON, library])

    def compile(
        self,
        unit: Unit,
        architecture: str,
        *,
        optimization: str = "-Os",
        limits: Limits = COMPILE_LIMITS,
    ) -> AmdOutput:
        """RDNA assembly of ``unit``; the host assembly is empty.

        Raises :class:`~cass_ray.toolchain.unit.CompileFailure`.
        """
        text, seconds, options = right_code(
            self.amd.version,
            lambda options: self._device_text(unit, architecture, optimization, options, limits),
            CompileFailure,
        )
        flags = self._flags(architecture, optimization, options)
        return AmdOutput("", text, architecture, " ".join(flags), {"clang": seconds})

    def _flags(
        self, architecture: str, optimization: str, options: tuple[str, ...]
    ) -> tuple[str, ...]:
        """Clang's, with these options of LLVM."""
        flags = (*_COMMON, *self.amd.workarounds, *as_flags(options), optimization)
        return (*flags, "-mcode-object-version=5", f"-mcpu={architecture}")

    def _device_text(
        self,
        unit: Unit,
        architecture: str,
        optimization: str,
        options: tuple[str, ...],
        limits: Limits,
    ) -> tuple[str, float]:
        """Device assembly whose divisions are right, and its CPU seconds."""
        flags = self._flags(architecture, optimization, options)
        command = [str(self.amd.clang), *flags, "-S", "-target", AMD_TARGET]
        command += [f"--rocm-path={self.amd.rocm_path}", f"--rocm-device-lib-path={self.bitcode}"]
        command += [*unit.preprocessor_arguments(), "-o", "-", str(unit.main)]
        view = View(read_only=self._visible, mounts=(Mount(unit.root, SOURCE_TREE),))
        if self.amd.hides_operands:
            command.append("-emit-llvm")
        done = run(command, cwd=unit.root, limits=limits, view=view)
        text = _text(done, unit, "clang (AMDGPU)")
        seconds = done.cpu_seconds
        if self.amd.hides_operands:
            text, more = self.amd.with_hidden_operands(
                unit, text, architecture, optimization, limits, as_flags(options)
            )
            seconds += more
        if ".amdhsa_kernel" not in text:
            raise CompileFailure(Reason.NO_DEVICE_CODE, "no __kernel function", "clang")
        return text, seconds

    def record(self, output: AmdOutput) -> Toolchain:
        return Toolchain(name=self.name, version=self.version, flags=output.flags)

    @cached_property
    def _visible(self) -> tuple[Path, ...]:
        return (*self.amd.visible(), *_readable((self.bitcode / "opencl.bc",)))


def _text(done: Completed, unit: Unit, tool: str) -> str:
    """Standard output of a compiler run; raises what it failed with."""
    if not done.ok:
        raise classify(done, unit, tool)
    if path := forbidden_read(done.stdout_text, unit):
        message = f"the assembler is told to read {path}, outside the source tree"
        raise CompileFailure(Reason.FORBIDDEN_INCLUDE, message, tool)
    return done.stdout_text


def _count(seconds: dict[str, float], tool: str, done: Completed) -> None:
    seconds[tool] = seconds.get(tool, 0.0) + done.cpu_seconds


def _readable(files: Sequence[Path]) -> tuple[Path, ...]:
    """Folders of ``files`` that the sandbox does not show anyway (it shows ``/usr``)."""
    folders = {path for file in files for path in (file.parent, file.resolve().parent)}
    return tuple(sorted(path for path in folders if not path.is_relative_to("/usr")))
