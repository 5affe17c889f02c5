"""Answers become programs: what is built, with which parts of the reference port."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from cass_ray.bench.programs import Compilers
from cass_ray.bench.question import BenchAnswer, BenchLevel, HostPart, Question
from cass_ray.bench.task import BenchTask
from cass_ray.corpus.reading.source_files import Sources
from cass_ray.dataset.row import Reason
from cass_ray.execute.backends.base import Assembly, Backend, BuiltProgram, unit_on_disk
from cass_ray.execute.backends.original_host import OriginalHostBackend
from cass_ray.task import Direction
from cass_ray.toolchain.nvidia.toolchain import WORK_FOLDER
from cass_ray.toolchain.sandbox.isolation import Mount, View, private_folder
from cass_ray.toolchain.sandbox.process import run
from cass_ray.toolchain.unit import CompileFailure, Unit, classify, forbidden_read

_NOWHERE = Path("/nonexistent")
"""Assembly text has no source tree."""


def candidate_sources(question: Question, answer: BenchAnswer) -> Sources:
    """The question's program with the answer's files in place.

    A CUDA candidate's main file is called ``.cu``, by which nvcc knows the language.
    """
    texts = {**question.files, **answer.files}
    main = PurePosixPath(question.main)
    if not runs_on_hip(question):
        main = main.with_suffix(".cu")
        texts[str(main)] = texts.pop(question.main)
    files = {path: text.encode("utf-8", "replace") for path, text in texts.items()}
    return Sources(main, files, (PurePosixPath("."),))


def candidate_assembly(
    task: BenchTask, question: Question, answer: BenchAnswer, compilers: Compilers
) -> Assembly:
    """Both assembly texts of the candidate, for HIP.

    What was not asked for is the reference port's: its host code at the assembly level, its device
    code at the host level. Raises :class:`~cass_ray.toolchain.unit.CompileFailure`.
    """
    if question.kind.level is BenchLevel.SOURCE:
        return compilers.amd(candidate_sources(question, answer))
    text = _assembly_text(question, answer)
    port = compilers.amd(task.hip)
    if question.kind.level is BenchLevel.HOST:
        return Assembly(text, port.device)
    return Assembly(port.host, text)


def _assembly_text(question: Question, answer: BenchAnswer) -> str:
    """What was written; raises where assembling it would read files."""
    text = answer.files.get(question.main, "")
    if path := forbidden_read(text, Unit(_NOWHERE, PurePosixPath(question.main))):
        message = f"the assembler is told to read {path}, outside the source tree"
        raise CompileFailure(Reason.FORBIDDEN_INCLUDE, message, "clang")
    return text


@dataclass(frozen=True)
class Candidate:
    """A program of an answer, and where it runs; ``texts`` are what of it is assembly."""

    texts: Assembly
    built: BuiltProgram
    backend: Backend
    host: HostPart | None = None
    """Whose host code it has, where its device code alone was translated."""


def build_candidate(
    task: BenchTask, question: Question, answer: BenchAnswer, compilers: Compilers
) -> Candidate:
    """The HIP program of ``answer``, or its device code under the CUDA program's host code.

    Raises :class:`~cass_ray.toolchain.unit.CompileFailure`.
    """
    backend = compilers.backend
    if question.kind.level is BenchLevel.ASSEMBLY and answer.host is HostPart.ORIGINAL:
        if question.original is None:
            message = "an answer for the CUDA program's host code, which the question does not have"
            raise CompileFailure(Reason.KERNELS_DIFFER, message, "the judge")
        device = _assembly_text(question, answer)
        hosted = OriginalHostBackend(backend)
        built = hosted.join(question.original, device)
        return Candidate(Assembly("", device), built, hosted, HostPart.ORIGINAL)
    texts = candidate_assembly(task, question, answer, compilers)
    host = HostPart.PORT if question.kind.level is BenchLevel.ASSEMBLY else None
    return Candidate(texts, backend.build(texts), backend, host)


def compile_for_nvidia(question: Question, answer: BenchAnswer, compilers: Compilers) -> None:
    """Compile a CUDA candidate, or assemble PTX: there is no assembler for SASS.

    Raises :class:`~cass_ray.toolchain.unit.CompileFailure`.
    """
    toolchain = compilers.find_nvidia()
    if question.kind.level is BenchLevel.SOURCE:
        with unit_on_disk(candidate_sources(question, answer)) as unit:
            toolchain.compile(unit)
        return
    ptxas = toolchain.nvcc.with_name("ptxas")
    with private_folder() as folder:
        view = View(
            read_only=toolchain.visible(),
            mounts=(Mount(folder, WORK_FOLDER, writable=True),),
        )
        (folder / "device.ptx").write_text(answer.files.get(question.main, ""))
        arguments = [f"-arch={question.kind.architecture}", "device.ptx", "-o", "device.cubin"]
        completed = run([str(ptxas), *arguments], cwd=folder, view=view)
        if not completed.ok:
            unit = Unit(folder, PurePosixPath("device.ptx"))
            raise classify(completed, unit, "ptxas")


def runs_on_hip(question: Question) -> bool:
    """Whether the candidate is a HIP program."""
    return question.kind.direction is Direction.CUDA_TO_HIP
