"""Host assembly of a CUDA program, without the device code and its registration.

clang compiles it in a fifth of the time of nvcc's way (cudafe++ and g++), thanks to a precompiled
runtime header, and registers nothing when no device binary is given. What clang does not accept
goes nvcc's way, with the registration cut out of the stub file that cicc writes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path

from cass_ray.toolchain.amd.precompiled import (
    WITHOUT_MODULES,
    CompilationSide,
    PrecompiledHeaders,
    include_arguments,
)
from cass_ray.toolchain.nvidia.preprocess import may_change_header
from cass_ray.toolchain.nvidia.steps import (
    SOURCE_TREE,
    WORK_FILES,
    CompilerWorkbench,
    NvccSteps,
    dry_run,
    unit_arguments,
)
from cass_ray.toolchain.prelude.preludes import Preludes
from cass_ray.toolchain.sandbox import process
from cass_ray.toolchain.sandbox.isolation import Mount
from cass_ray.toolchain.sandbox.process import Completed, ProcessOutcome
from cass_ray.toolchain.unit import Unit, classify

SHIM = Path(__file__).parent / "shim"
"""The headers to precompile, and those that clang's CUDA wrapper misses."""

_FORCED_HEADER = "cass_cuda.h"
_OF_PROJECTS = "cass_cuda_project.h"

_LANGUAGE_STANDARD = "c++17"
_FIRST_ERROR_ONLY = "-Wfatal-errors"
"""What clang does not accept goes nvcc's way, whatever else there is to say of it."""

_LIMITS = frozenset(
    {ProcessOutcome.TIME_LIMIT, ProcessOutcome.MEMORY_LIMIT, ProcessOutcome.OUTPUT_LIMIT}
)


@dataclass(frozen=True)
class ClangHost:
    """Host assembly by clang as a CUDA compiler."""

    clang: Path
    cuda: Path
    cache: Path
    version: str
    added_headers: tuple[str, ...] = ()

    @property
    def precompiled_directory(self) -> Path:
        """Where the precompiled headers are; a sandbox must show it."""
        return self._precompiled[_FORCED_HEADER].directory

    def compile(self, bench: CompilerWorkbench, flags: Sequence[str]) -> str | None:
        """Host assembly of the unit; None where clang does not accept it.

        Only clang's own error says so: a limit that is hit depends on the machine's load, and the
        other way's assembly differs. Raises :class:`~cass_ray.toolchain.unit.CompileFailure` then.
        """
        common = [str(self.clang), *self._location_flags(), *flags, CompilationSide.HOST.flag]
        rest = [_FIRST_ERROR_ONLY, *bench.unit.preprocessor_arguments()]
        rest += ["-S", "-o", "-", str(bench.unit.main)]
        headers = self._precompiled[forced_header(bench.unit)]
        run_in = partial(_run_in, bench)
        completed = self._preludes.compile(bench.unit, common, headers.header, rest, run_in)
        if completed is None:
            completed = self._as_a_whole(bench, headers, common, rest)
            self._preludes.note(bench.unit, common, headers.header, completed)
        if completed.outcome in _LIMITS:
            raise classify(completed, bench.unit, "clang (host)")
        return completed.stdout_text if completed.ok else None

    def _as_a_whole(
        self,
        bench: CompilerWorkbench,
        headers: PrecompiledHeaders,
        common: list[str],
        rest: list[str],
    ) -> Completed:
        completed = None
        precompiled = headers.get(CompilationSide.HOST, common)
        if precompiled is not None:
            include = include_arguments(precompiled)
            completed = bench.try_command([*common, *include, *rest], process.CLEAN_ENVIRONMENT)
        if completed is None or headers.rejected(completed.stderr_text):
            include = ["-include", str(headers.header)]
            completed = bench.try_command([*common, *include, *rest], process.CLEAN_ENVIRONMENT)
        return completed

    @cached_property
    def _precompiled(self) -> Mapping[str, PrecompiledHeaders]:
        identity = (self.version, str(self.cuda))
        return {
            name: PrecompiledHeaders(cache=self.cache, header=SHIM / name, identity=identity)
            for name in (_FORCED_HEADER, _OF_PROJECTS)
        }

    @cached_property
    def _preludes(self) -> Preludes:
        folder = self.precompiled_directory / "preludes"
        return Preludes(folder, (self.version, str(self.cuda)), SOURCE_TREE)

    def _location_flags(self) -> list[str]:
        """Flags that say where things are on this machine; they do not change the code."""
        return [
            f"--cuda-path={self.cuda}",
            f"-I{SHIM}",
            "-isystem",
            str(self.cuda / "include/cccl"),
            *self.added_headers,
            "-fdiagnostics-color=never",
        ]


def _run_in(bench: CompilerWorkbench, command: Sequence[str], mounts: Sequence[Mount]) -> Completed:
    view = replace(bench.view, mounts=(*bench.view.mounts, *mounts))
    return replace(bench, view=view).try_command(command, process.CLEAN_ENVIRONMENT)


def forced_header(unit: Unit) -> str:
    """What clang includes before a unit; one of a project is given host functions of CUDA's."""
    return _OF_PROJECTS if may_change_header(unit) else _FORCED_HEADER


def recipe_of_projects() -> tuple[bytes | str, ...]:
    """What clang's host code of units of projects depends on beside them, for keys of caches."""
    return ((SHIM / "cass_host_math.h").read_bytes(), *WITHOUT_MODULES)


def standard_flag(standard: str) -> str:
    """The option for a unit's ``standard``, of both compilers."""
    return f"-std={standard or _LANGUAGE_STANDARD}"


def clang_flags(standard: str, optimization: str, *, relocatable: bool = False) -> list[str]:
    """The flags that determine clang's host code, which the GNU assembler can read.

    ``standard`` is a unit's. ``relocatable`` device code is linked with that of other units before
    it is registered.
    """
    language = ["-x", "cuda", standard_flag(standard), "-nocudalib"]
    language += ["-Wno-unknown-cuda-version", "-w"]
    language += [*WITHOUT_MODULES] if standard else []
    separate = ["-fgpu-rdc"] if relocatable else []
    return [*language, optimization, "-fno-addrsig", *separate]


@dataclass(frozen=True)
class NvccHost:
    """Host assembly by nvcc's own steps."""

    steps: NvccSteps

    @classmethod
    def read(cls, nvcc: Path, architecture: str, flags: Sequence[str]) -> NvccHost:
        """Ask ``nvcc`` for its steps; raises :class:`~.nvidia_steps.NvccError`."""
        output = ["-Xcompiler", "-S", "-c", "-o", f"{WORK_FILES}.s"]
        return cls(dry_run(nvcc, [*flags, f"-arch={architecture}", *output]))

    def compile(self, bench: CompilerWorkbench) -> str:
        """Host assembly of the unit whose stub file cicc has written to the work folder.

        Raises :class:`~cass_ray.toolchain.unit.CompileFailure`.
        """
        environment = self.steps.environment
        bench.run(self.steps.first("g++"), environment, unit_arguments(bench.unit))
        bench.run(self.steps.first("cudafe++"), environment)
        stub = bench.output("cudafe1.stub.c", "cicc").decode("utf-8", "replace")
        bench.replace("cudafe1.stub.c", without_registration(stub).encode())
        bench.run(self.steps.last("g++"), environment)
        return bench.output("s", "g++").decode("utf-8", "replace")


_REGISTRATION = re.compile(
    r"^#include \"[^\"\n]*\.fatbin\.c\"\n"
    r"|^static void (?:__nv_cudaEntityRegisterCallback|__sti____cudaRegisterAll)\([^{;]*;\n"
    r"|^static void (?:__nv_cudaEntityRegisterCallback|__sti____cudaRegisterAll)\([^;]*?\{.*?\}\n",
    re.MULTILINE | re.DOTALL,
)


def without_registration(stub: str) -> str:
    """A stub file of cicc's without the device binary and the constructor that registers it."""
    return _REGISTRATION.sub("", stub)
