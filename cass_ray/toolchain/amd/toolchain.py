"""HIP to x86-64 host assembly and RDNA assembly, and back to an executable.

One clang run per side (device first: it finds most errors), each with a precompiled HIP runtime
header. The host assembly leaves the device code out: it refers to ``__hip_fatbin_``, which
:meth:`AmdToolchain.recombine` defines from any, possibly edited, device assembly.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from pathlib import Path

from cass_ray.architectures import DEFAULT_AMD_ARCHITECTURE
from cass_ray.cache import digest
from cass_ray.dataset.row import Reason, Toolchain
from cass_ray.toolchain.amd import hidden_operands, link, lost_exits, spilled_lanes
from cass_ray.toolchain.amd.code_generation import generate
from cass_ray.toolchain.amd.host_functions import replaced_files
from cass_ray.toolchain.amd.precompiled import (
    WITHOUT_MODULES,
    CompilationSide,
    PrecompiledHeaders,
    begins_with_little,
    include_arguments,
)
from cass_ray.toolchain.amd.remedies import FOLDERS, recorded_flags, with_remedies
from cass_ray.toolchain.amd.workarounds import (
    KEEPS_EXITS,
    WAYS_TO_SPILL,
    LlvmOptions,
    as_flags,
    code_workarounds,
    right_code,
    selects_wrong,
)
from cass_ray.toolchain.archive.library_root import (
    LIBRARIES_REMEDY,
    find_library_root,
    libraries_called,
    visible_libraries,
)
from cass_ray.toolchain.background import background_work
from cass_ray.toolchain.errors import ToolMissing
from cass_ray.toolchain.given_headers import contents
from cass_ray.toolchain.prelude.preludes import Preludes
from cass_ray.toolchain.resident.runs import run
from cass_ray.toolchain.sandbox.isolation import Mount, View
from cass_ray.toolchain.sandbox.process import COMPILE_LIMITS, Completed, Limits
from cass_ray.toolchain.unit import CompileFailure, Unit, classify, forbidden_read

DEFAULT_ARCHITECTURE = DEFAULT_AMD_ARCHITECTURE
CODE_OBJECT_VERSION = 5

SOURCE_TREE = Path("/cass/source")
"""Where compilers see the source tree, on every machine."""

SHIM = Path(__file__).parent / "shim"
"""Our headers: what CUDA code needs beyond HIP's own."""

_FORCED_HEADER = SHIM / "cass_hip.h"
_WITH_PLAIN_VECTORS = SHIM / "cass_hip_plain.h"
PLAIN_VECTORS = SHIM / "cass_vectors.h"
"""What ports begin with that use CUDA's vector types."""

_PLAIN_VECTORS_MARK = b"CASS_PLAIN_VECTORS"

# Errors of clang by default that nvcc's host compiler only warns about or accepts.
_LENIENT = (
    "-w",
    "-Wno-c++11-narrowing",
    "-Wno-register",
    "-Wno-reserved-user-defined-literal",
    "-Wno-missing-template-arg-list-after-template-kw",
    "-Wno-invalid-constexpr",
)

_OF_THE_HOST = "call to __device__ function from __host__ function"
_DEFERRED = "-fgpu-defer-diag"
"""Host functions may mean other functions on the device, by ``#ifdef __CUDA_ARCH__``: nvcc does not
look into them there, and neither does clang with this flag until they are to become code."""

_UNCOMMENTED = ("-fno-verbose-asm", "-fno-ident")
"""Half of the text of unoptimized code is comments."""


@dataclass(frozen=True)
class AmdOutput:
    """Both assembly texts of one unit; ``cpu_seconds_by_tool`` is by compiler run."""

    host_assembly: str
    device_assembly: str
    architecture: str
    flags: str
    cpu_seconds_by_tool: dict[str, float]


@dataclass(frozen=True)
class AmdToolchain:
    """A clang for AMDGPU with a HIP root: ROCm's own, or a plain one with ours.

    ``rocm_path`` holds headers and device libraries. ``cache`` is where precompiled headers go.
    ``runtime_library`` (``libamdhip64.so``) is needed only to link executables.
    """

    clang: Path
    linker: Path
    rocm_path: Path
    version: str
    cache: Path
    runtime_library: Path | None = None

    name = "clang"

    @cached_property
    def fingerprint(self) -> str:
        """Digest of what determines the output beside unit, architecture and optimization."""
        headers = [*contents((SHIM, *FOLDERS))]
        flags = (*_LENIENT, *self.workarounds)
        hiding = [hidden_operands.PROGRAM.read_bytes()] if self.hides_operands else []
        flags += tuple(option for options in (*WAYS_TO_SPILL, KEEPS_EXITS) for option in options)
        checks = [Path(path).read_bytes() for path in (lost_exits.__file__, spilled_lanes.__file__)]
        read = [*headers, *hiding, *checks]
        return digest([self.name, self.version, self.rocm_path.name, *flags, *read])

    @property
    def compilers(self) -> str:
        """What makes device code, with its version."""
        return self.version

    @property
    def workarounds(self) -> tuple[str, ...]:
        """Flags for every compilation to AMD code by this clang."""
        return code_workarounds(self.version)

    def compile(
        self,
        unit: Unit,
        architecture: str = DEFAULT_ARCHITECTURE,
        *,
        optimization: str = "-Os",
        limits: Limits = COMPILE_LIMITS,
        at_once: bool = False,
        line_tables: bool = False,
        host_optimization: str = "",
    ) -> AmdOutput:
        """Compile ``unit`` for both sides, sandboxed.

        ``at_once`` compiles both sides at the same time: an answer sooner, for work on the host
        side that is thrown away where the device side fails. The result is the same. For
        ``line_tables`` see :meth:`compile_device`. ``host_optimization`` is the flag of the
        host side; empty: that of the device side.

        Raises :class:`~cass_ray.toolchain.unit.CompileFailure`; its reason is ``NO_DEVICE_CODE``
        where the unit compiles but holds no kernel.
        """

        def both(unit: Unit) -> AmdOutput:
            flags, of_host = (
                code_flags(architecture, each, unit.standard, line_tables)
                for each in (optimization, host_optimization or optimization)
            )

            def host_side() -> Completed:
                return self._assembly(unit, CompilationSide.HOST, of_host, limits)

            with background_work(host_side) if at_once else nullcontext(host_side) as waited:
                device = self._device_side(unit, architecture, optimization, flags, limits)
                host = waited()
            seconds = {**device.cpu_seconds_by_tool, "clang host": host.cpu_seconds}
            return replace(device, host_assembly=host.stdout_text, cpu_seconds_by_tool=seconds)

        return with_remedies(both, unit)

    def compile_device(
        self,
        unit: Unit,
        architecture: str = DEFAULT_ARCHITECTURE,
        *,
        optimization: str = "-Os",
        limits: Limits = COMPILE_LIMITS,
        line_tables: bool = False,
    ) -> AmdOutput:
        """The device side alone, as :meth:`compile` makes it; the host assembly is empty.

        ``line_tables`` adds where in the source each instruction is from; the code is the same.

        Of another architecture's compilation the host side serves: there is nothing in it, and no
        macro that it sees, that tells architectures apart.
        """

        def device(unit: Unit) -> AmdOutput:
            flags = code_flags(architecture, optimization, unit.standard, line_tables)
            return self._device_side(unit, architecture, optimization, flags, limits)

        return with_remedies(device, unit)

    def _device_side(
        self,
        unit: Unit,
        architecture: str,
        optimization: str,
        flags: tuple[str, ...],
        limits: Limits,
    ) -> AmdOutput:
        flags = (*flags, *self.workarounds)
        optimized = cache(
            lambda: self._assembly(unit, CompilationSide.DEVICE, (*flags, "-emit-llvm"), limits)
        )

        def make(options: LlvmOptions) -> tuple[str, float]:
            further = as_flags(options)
            if self.hides_operands:
                return self.with_hidden_operands(
                    unit, optimized().stdout_text, architecture, optimization, limits, further
                )
            done = self._assembly(unit, CompilationSide.DEVICE, (*flags, *further), limits)
            return done.stdout_text, done.cpu_seconds

        text, seconds, options = right_code(self.version, make, CompileFailure)
        _must_hold_a_kernel(text)
        seconds += optimized().cpu_seconds if self.hides_operands else 0.0
        return AmdOutput(
            host_assembly="",
            device_assembly=text,
            architecture=architecture,
            flags=" ".join((*flags, *as_flags(options), *recorded_flags(unit))),
            cpu_seconds_by_tool={"clang device": seconds},
        )

    def text_as_it_is(
        self,
        unit: Unit,
        side: CompilationSide,
        architecture: str = DEFAULT_ARCHITECTURE,
        *,
        optimization: str = "-Os",
    ) -> str:
        """What clang makes of one side in one run, without comments: to be compared, not to be run.

        Nothing is done about what this clang makes wrong (:meth:`compile_device` does). Raises
        :class:`~cass_ray.toolchain.unit.CompileFailure`, as :meth:`compile` does.
        """
        flags = code_flags(architecture, optimization, unit.standard)
        flags = (*flags, *self.workarounds, *_UNCOMMENTED)
        text = self._assembly(unit, side, flags, COMPILE_LIMITS).stdout_text
        if side is CompilationSide.DEVICE:
            _must_hold_a_kernel(text)
        return text

    @property
    def hides_operands(self) -> bool:
        """Whether device code of this clang has to be made :meth:`with_hidden_operands`."""
        return selects_wrong(self.version)

    def with_hidden_operands(
        self,
        unit: Unit,
        ir: str,
        architecture: str,
        optimization: str,
        limits: Limits,
        further: tuple[str, ...] = (),
    ) -> tuple[str, float]:
        """Device assembly of ``unit``'s optimized ``ir``, and its CPU seconds.

        Operands are hidden in it (:mod:`cass_ray.toolchain.amd.hidden_operands`).

        ``further`` are flags beside those that every compilation has. Raises
        :class:`~cass_ray.toolchain.unit.CompileFailure`.
        """
        hidden = hidden_operands.hide(ir, limits)
        if not hidden.ok:
            raise classify(hidden, unit, "awk (operands)")
        flags = [f"-mcpu={architecture}", optimization, *self.workarounds, *further]
        flags += hidden_operands.UNOPTIMIZED
        completed = generate(
            (str(self.clang),), unit, hidden.stdout_text, flags, self.visible(), limits
        )
        return completed.stdout_text, hidden.cpu_seconds + completed.cpu_seconds

    def assemble(self, device_assembly: str, architecture: str = DEFAULT_ARCHITECTURE) -> bytes:
        """The code object (an ELF file) of ``device_assembly``.

        Raises :class:`~cass_ray.toolchain.unit.CompileFailure` with the assembler's message.
        """
        return link.assemble(self._link_tools(), device_assembly, architecture)

    def recombine(
        self,
        host_assembly: str,
        device_assembly: str,
        output: Path,
        *,
        architecture: str = DEFAULT_ARCHITECTURE,
        further: Mapping[str, str] | None = None,
        runtime_library: Path | None = None,
    ) -> Path:
        """Assemble both texts and link them into the executable ``output``.

        ``further``: device assembly for other architectures, which the executable holds as well.
        Links against ``runtime_library``, else the toolchain's. Without either the object file
        ``output`` + ``.o`` is written and :class:`~cass_ray.toolchain.errors.ToolMissing` raised.
        """
        library = runtime_library or self.runtime_library
        libraries = self.library_flags(host_assembly, library) if library else []
        return link.recombine(
            self._link_tools(),
            host_assembly,
            {architecture: device_assembly, **(further or {})},
            output,
            library,
            libraries,
        )

    def library_flags(self, host_assembly: str, runtime_library: Path) -> list[str]:
        """Flags that link a program with those of AMD's libraries that it calls.

        On ROCm they lie beside the runtime; for the CPU backend they are those of
        ``cass setup libraries``. Raises :class:`~cass_ray.toolchain.errors.ToolMissing`.
        """
        called = libraries_called(host_assembly)
        if not called:
            return []
        names = [f"-l{name}" for name in called]
        runtime = runtime_library.resolve()
        if all((runtime.parent / f"lib{name}.so").exists() for name in called):
            return [f"-L{runtime.parent}", *names]
        root = find_library_root(self.cache)
        absent = [name for name in called if root is None or name not in root.libraries]
        if root is None or absent:
            raise ToolMissing(f"AMD's library {absent[0]}", LIBRARIES_REMEDY)
        return [*root.link_flags(runtime), *names]

    def build_executable(
        self,
        unit: Unit,
        output: Path,
        architecture: str = DEFAULT_ARCHITECTURE,
        *,
        optimization: str = "-Os",
        runtime_library: Path | None = None,
    ) -> Path:
        """Compile ``unit`` and link it into the executable ``output``; raises what the steps do."""
        compiled = self.compile(unit, architecture, optimization=optimization)
        return self.recombine(
            compiled.host_assembly,
            compiled.device_assembly,
            output,
            architecture=architecture,
            runtime_library=runtime_library,
        )

    def record(self, output: AmdOutput) -> Toolchain:
        return Toolchain(name=self.name, version=self.compilers, flags=output.flags)

    def visible(self) -> tuple[Path, ...]:
        """Paths that a sandboxed compilation needs beside the system's."""
        return self._visible

    @cached_property
    def _visible(self) -> tuple[Path, ...]:
        headers = self._precompiled[_FORCED_HEADER].directory
        llvm, linker = self.clang.parent.parent, self.linker.parent
        needed = (llvm, linker, self.rocm_path, SHIM, headers)
        outside = (path.resolve() for path in needed)
        return tuple(dict.fromkeys(path for path in outside if not path.is_relative_to("/usr")))

    def _link_tools(self) -> link.LinkTools:
        visible = (*self.visible(), *visible_libraries(self.cache))
        return link.LinkTools(self.clang, self.linker, visible)

    @cached_property
    def _precompiled(self) -> Mapping[Path, PrecompiledHeaders]:
        identity = (self.version, str(self.rocm_path))
        return {
            header: PrecompiledHeaders(cache=self.cache, header=header, identity=identity)
            for header in (_FORCED_HEADER, _WITH_PLAIN_VECTORS)
        }

    @cached_property
    def _preludes(self) -> Preludes:
        folder = self._precompiled[_FORCED_HEADER].directory / "preludes"
        return Preludes(folder, (self.version, str(self.rocm_path)), SOURCE_TREE)

    def _assembly(
        self, unit: Unit, side: CompilationSide, flags: tuple[str, ...], limits: Limits
    ) -> Completed:
        """One compiler run to assembly text on stdout; without precompiled header if rejected."""
        common = [str(self.clang), *self._location_flags(), *flags, *_LENIENT, side.flag]
        header = forced_header(unit)
        headers = self._precompiled[header]
        precompiled = headers.of(unit, side, common)
        rest = [*unit.preprocessor_arguments(), "-S", "-o", "-", str(unit.main)]
        visible = (*self.visible(), *unit.outside_directories)
        run_in = partial(self._run_in, unit, visible, limits)
        little = begins_with_little(unit)
        done = None if little else self._preludes.compile(unit, common, header, rest, run_in)
        if done is None:
            with replaced_files(unit, SOURCE_TREE) as replaced:
                shown = partial(run_in, mounts=replaced)
                done = self._run(unit, side, shown, common, rest, precompiled)
            if not little:
                self._preludes.note(unit, common, header, done)
        if not done.ok:
            raise classify(done, unit, f"clang ({side.value})")
        if path := forbidden_read(done.stdout_text, unit):
            message = f"the assembler is told to read {path}, outside the source tree"
            raise CompileFailure(Reason.FORBIDDEN_INCLUDE, message, f"clang ({side.value})")
        return done

    def _run_in(
        self,
        unit: Unit,
        visible: tuple[Path, ...],
        limits: Limits,
        command: Sequence[str],
        mounts: Sequence[Mount],
    ) -> Completed:
        view = View(read_only=visible, mounts=(Mount(unit.root, SOURCE_TREE), *mounts))
        return run(command, cwd=unit.root, limits=limits, view=view)

    def _run(
        self,
        unit: Unit,
        side: CompilationSide,
        run_command: Callable[[list[str]], Completed],
        common: list[str],
        rest: list[str],
        precompiled: Path | None,
    ) -> Completed:
        header = forced_header(unit)
        included = ["-include", str(header), *rest]
        done = None
        if precompiled is not None:
            include = include_arguments(precompiled)
            done = run_command([*common, *include, *rest])
        if done is None or self._precompiled[header].rejected(done.stderr_text):
            done = run_command([*common, *included])
        may_defer = _OF_THE_HOST in done.stderr_text or unit.replaced
        if side is CompilationSide.DEVICE and not done.ok and may_defer:
            done = run_command([*common, _DEFERRED, *included])
        return done

    def _location_flags(self) -> list[str]:
        """Where things are on this machine, and what is said: no part of the code. Repairs mend all
        errors that clang names at once, which are 20 by default."""
        said = ("-fdiagnostics-color=never", "-ferror-limit=100")
        return [f"--rocm-path={self.rocm_path}", f"-I{SHIM}", *said]


def forced_header(unit: Unit) -> Path:
    """What is included before a HIP unit's own text.

    HIP's vector types cannot be replaced once its headers were read: a port that begins with
    :data:`PLAIN_VECTORS` gets them before.
    """
    try:
        plain = _PLAIN_VECTORS_MARK in unit.source.read_bytes()
    except OSError:
        plain = False  # The compiler says what is wrong with the file.
    return _WITH_PLAIN_VECTORS if plain else _FORCED_HEADER


def _must_hold_a_kernel(device_assembly: str) -> None:
    if ".amdhsa_kernel" not in device_assembly:
        raise CompileFailure(Reason.NO_DEVICE_CODE, "no kernel in the device code", "clang")


def code_flags(
    architecture: str, optimization: str, standard: str = "", line_tables: bool = False
) -> tuple[str, ...]:
    """The flags that determine the generated code, beside a compiler's workarounds.

    ``standard`` is that of C++; clang's own is C++17.

    ``-fuse-cuid=none`` keeps a hash of the file's path out of the symbols.
    """
    return (
        "-x",
        "hip",
        f"--offload-arch={architecture}",
        f"-mcode-object-version={CODE_OBJECT_VERSION}",
        "-fuse-cuid=none",
        "-D__HIP_PLATFORM_AMD__=1",
        optimization,
        *((f"-std={standard}", *WITHOUT_MODULES) if standard else ()),
        *(("-gline-tables-only",) if line_tables else ()),
    )
