"""The texts that questions and candidates are made of, compiled once and cached by content."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from cass_ray.architectures import DEFAULT_NVIDIA_ARCHITECTURE
from cass_ray.assembly import sass
from cass_ray.bench.question import (
    HOST_FILE,
    RDNA3_FILE,
    SASS_FILE,
    BenchLevel,
    Question,
    QuestionKind,
)
from cass_ray.bench.task import BenchTask
from cass_ray.cache import ContentCache, digest
from cass_ray.corpus.reading.source_files import Sources
from cass_ray.execute.backends.base import Assembly, unit_on_disk
from cass_ray.execute.backends.rdna3 import HipBackend
from cass_ray.lift import kernels_lacking, names_for_host
from cass_ray.port.errors import PortError
from cass_ray.port.replacement import OriginalProgram, read_original
from cass_ray.task import Direction
from cass_ray.toolchain.nvidia.elf import Cubin
from cass_ray.toolchain.nvidia.toolchain import NvidiaToolchain
from cass_ray.toolchain.opencl.locate import find_opencl_amd, find_opencl_nvidia
from cass_ray.toolchain.sandbox.isolation import private_folder


@dataclass(frozen=True)
class NvidiaTexts:
    """The Nvidia side of a program: SASS and cubin of one architecture, host assembly."""

    sass: str
    cubin: bytes
    host: str


@dataclass
class Compilers:
    """Both toolchains behind one cache; ``nvidia`` is needed above the source level only."""

    backend: HipBackend
    find_nvidia: Callable[[], NvidiaToolchain]
    cache: ContentCache | None = None

    def amd(self, program: Sources) -> Assembly:
        """Host and device assembly. Raises :class:`~cass_ray.toolchain.unit.CompileFailure`."""
        toolchain = self.backend.toolchain
        how = [self.backend.architecture, self.backend.optimization]
        key = digest(["bench amd", program.digest, toolchain.fingerprint, *how])

        def make() -> dict[str, Any]:
            result = self.backend.compile(program)
            assert isinstance(result, Assembly)
            return {"host": result.host, "device": result.device}

        value = self._cached(key, make)
        return Assembly(value["host"], value["device"])

    def nvidia(self, program: Sources, architecture: str) -> NvidiaTexts:
        """SASS, cubin and host assembly. Raises ``CompileFailure`` and ``ToolMissing``."""
        toolchain = self.find_nvidia()
        key = digest(["bench nvidia", program.digest, toolchain.fingerprint, architecture])

        def make() -> dict[str, Any]:
            with unit_on_disk(program) as unit:
                result = toolchain.compile(unit, [architecture])
            cubin = result.cubins[architecture]
            (listing,) = toolchain.disassemble([cubin])
            text = base64.b64encode(cubin).decode()
            return {"sass": listing, "cubin": text, "host": result.host_assembly}

        value = self._cached(key, make)
        return NvidiaTexts(value["sass"], base64.b64decode(value["cubin"]), value["host"])

    def device(self, task: BenchTask) -> str:
        """Assembly of the task's device code, of its OpenCL program where it has one.

        Raises :class:`~cass_ray.toolchain.unit.CompileFailure` and ``ToolMissing``.
        """
        program = task.opencl
        if program is None:
            return self.amd(task.hip).device
        toolchain = find_opencl_amd(self.backend.toolchain)
        architecture = self.backend.architecture
        key = digest(["bench opencl amd", program.digest, toolchain.fingerprint, architecture])

        def make() -> dict[str, Any]:
            with unit_on_disk(program) as unit:
                return {"device": toolchain.compile(unit, architecture).device_assembly}

        return str(self._cached(key, make)["device"])

    def machine_code(self, task: BenchTask, architecture: str) -> tuple[str, bytes]:
        """SASS listing and cubin of the task's device code, as :meth:`device` has it of AMD's."""
        program = task.opencl
        if program is None:
            result = self.nvidia(task.cuda, architecture)
            return result.sass, result.cubin
        toolchain = find_opencl_nvidia(self.find_nvidia())
        key = digest(["bench opencl nvidia", program.digest, toolchain.fingerprint, architecture])

        def make() -> dict[str, Any]:
            with unit_on_disk(program) as unit:
                cubin = toolchain.compile(unit, [architecture]).cubins[architecture]
            (listing,) = toolchain.nvidia.disassemble([cubin])
            return {"sass": listing, "cubin": base64.b64encode(cubin).decode()}

        value = self._cached(key, make)
        return value["sass"], base64.b64decode(value["cubin"])

    def original(self, program: Sources, architecture: str) -> OriginalProgram:
        """``program`` with its host code, as nvcc links it; its machine code is :meth:`nvidia`'s.

        Raises :class:`~cass_ray.toolchain.unit.CompileFailure`, ``ToolMissing``, and
        :class:`~cass_ray.port.errors.PortError` for what does not run on the CUDA runtime over HIP.
        """
        toolchain = self.find_nvidia()
        key = digest(["bench original", program.digest, toolchain.fingerprint, architecture])

        def make() -> dict[str, Any]:
            with unit_on_disk(program) as unit, private_folder() as folder:
                path = folder / "program"
                toolchain.build_executable(unit, path, [architecture], shared_runtime=True)
                original = read_original(path, self.nvidia(program, architecture).cubin, toolchain)
            text = base64.b64encode(original.executable).decode()
            return {"executable": text, "rest": [original.container, original.capability]}

        value = self._cached(key, make)
        return OriginalProgram(base64.b64decode(value["executable"]), *value["rest"])

    def _cached(self, key: str, make: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        entry = self.cache.get(key) if self.cache is not None else None
        if entry is not None:
            value: dict[str, Any] = json.loads(entry)
            return value
        value = make()
        if self.cache is not None:
            self.cache.put(key, json.dumps(value).encode())
        return value


def can_ask(task: BenchTask, kind: QuestionKind) -> bool:
    """Whether ``task`` has such a question: OpenCL tasks are about machine code for AMD only."""
    forward = kind.direction is Direction.CUDA_TO_HIP
    return task.opencl is None or (kind.level is BenchLevel.ASSEMBLY and forward)


def ask(task: BenchTask, kind: QuestionKind, compilers: Compilers) -> Question:
    """The question of ``kind`` about ``task``.

    Raises :class:`~cass_ray.toolchain.unit.CompileFailure` and ``ToolMissing`` above the source
    level.
    """
    forward = kind.direction is Direction.CUDA_TO_HIP
    if kind.level is BenchLevel.SOURCE:
        program = task.cuda if forward else task.hip
        files = {path: _text(content) for path, content in program.files.items()}
        asked = task.translated_files if forward else tuple(program.files)
        return Question(task.name, kind, files, str(program.main), asked)
    if kind.level is BenchLevel.HOST:
        text = compilers.nvidia(task.cuda, DEFAULT_NVIDIA_ARCHITECTURE).host
        return Question(task.name, kind, {HOST_FILE: text}, HOST_FILE, (HOST_FILE,))
    if not forward:
        text = compilers.device(task)
        return Question(task.name, kind, {RDNA3_FILE: text}, RDNA3_FILE, (RDNA3_FILE,))
    return _ask_machine_code(task, kind, compilers)


def _ask_machine_code(task: BenchTask, kind: QuestionKind, compilers: Compilers) -> Question:
    """About the task's SASS, which is to fit the HIP host, unless that launches other kernels."""
    listing, cubin = compilers.machine_code(task, kind.architecture)
    parsed, port = Cubin.parse(cubin), compilers.amd(task.hip).device
    names = names_for_host(parsed, port)
    original = None
    if task.opencl is None and kernels_lacking(parsed, port, names):
        # A program whose host code does not run here either has the HIP host, and fails there.
        with suppress(PortError):
            original = compilers.original(task.cuda, kind.architecture)
    return Question(
        task=task.name,
        kind=kind,
        files={SASS_FILE: sass.normalize(listing)},
        main=SASS_FILE,
        asked=(SASS_FILE,),
        cubin=cubin,
        names={} if original else names,
        original=original,
    )


def reference_text(task: BenchTask, kind: QuestionKind, compilers: Compilers) -> str:
    """What a perfect translator could have written, for chrF."""
    forward = kind.direction is Direction.CUDA_TO_HIP
    if kind.level is BenchLevel.SOURCE:
        program = task.hip if forward else task.cuda
        return _text(program.files[str(program.main)])
    if not forward:
        return sass.normalize(compilers.machine_code(task, kind.architecture)[0])
    return compilers.amd(task.hip).host if kind.level is BenchLevel.HOST else compilers.device(task)


def _text(content: bytes) -> str:
    return content.decode("utf-8", "replace")
