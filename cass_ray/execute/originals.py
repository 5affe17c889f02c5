"""What an original prints: on a GPU where there is one, else as the best stand-in there is for it.

The order is that of how little of ours stands between the original and its output: an Nvidia GPU;
nvcc's machine code, lifted; the original translated by the rules. A reference that is passed over
says why, and one by translation is never called independent.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from cass_ray.architectures import emulated_architectures
from cass_ray.corpus.reading.source_files import CUDA_SUFFIXES, Sources
from cass_ray.execute.backends.base import Backend, BuiltProgram, Inputs, Language, RunMode
from cass_ray.execute.backends.rdna3 import Rdna3Backend
from cass_ray.execute.backends.registry import make_backend
from cass_ray.execute.comparison.compare import compare
from cass_ray.execute.references import TRANSLATION, ReferenceRuns, measure
from cass_ray.execute.said import said
from cass_ray.execute.targets import build_for
from cass_ray.toolchain.errors import ToolMissing
from cass_ray.toolchain.unit import CompileFailure

_REASON_CHARACTERS = 300
_LIBRARIES = "cublas|cufft|cusparse|cusolver|cudnn|nccl|npp"
_LIBRARY = re.compile(
    rf"\b((?:{_LIBRARIES})\w*\.h): No such file|undefined reference to [`']((?:{_LIBRARIES})\w+)"
)


def reference_backends(asked: str | None, port: Backend) -> list[Backend]:
    """Where a CUDA original may run beside a port that runs on ``port``, the best one first.

    An original finds the name and the sizes of the card that the port finds, or of one with the
    same architecture where that is a real one: programs print them, and divide work by them. One
    backend that is asked for is the only one. Raises :class:`ToolMissing` where it cannot be used,
    and ``ValueError`` where there is none of that name.
    """
    if asked is None:
        threads = port.threads if isinstance(port, Rdna3Backend) else 0
        backends = [make_backend("nvidia"), make_backend("lifted", threads=threads), port]
        return shown_as(backends, port)
    backend = make_backend(asked)
    if problem := backend.problem():
        raise ToolMissing(f"The backend {backend.name}", "", problem)
    return shown_as([backend], port)


def shown_as(backends: Iterable[Backend], port: Backend) -> list[Backend]:
    """``backends``, with the properties of the card that programs find on ``port``."""
    card = port.presents
    on_cpu = card in emulated_architectures()
    return [each.shown_as(card) if on_cpu else each for each in backends]


def depends_on_card(
    original: Sources, measurement: ReferenceRuns, backends: Sequence[Backend], port: Backend
) -> bool:
    """Whether ``original`` prints or launches something else where it finds the card that programs
    find on ``port``; ``measurement`` has its runs on one of ``backends``.

    Raises :class:`CompileFailure`.
    """
    [backend] = [each for each in backends if each.name == measurement.backend]
    [other] = shown_as([backend], port)
    if not port.presents or other.presents == backend.presents:
        return False
    built = build_for(other, original)
    for run in measurement.runs:
        done = other.run(built, run.inputs)
        if said(done.ended) not in run.outputs or done.launch_count != run.launch_count:
            return True
    return False


def measure_original(
    original: Sources,
    backends: Sequence[Backend],
    inputs: Sequence[Inputs],
    mode: RunMode | None = None,
) -> ReferenceRuns:
    """What ``original`` prints on ``inputs`` on the first of ``backends`` that runs it on all.

    Where none does, what the last of them made of it. A HIP original passes over those that build
    CUDA. Raises :class:`CompileFailure` where the last one cannot build it either.
    """
    is_cuda = original.main.suffix in CUDA_SUFFIXES
    passed_over: list[str] = []
    *better, last = [
        backend for backend in backends if is_cuda or backend.language is Language.HIP
    ] or backends
    for backend in better:
        measurement = attempt(original, backend, inputs, mode)
        if isinstance(measurement, ReferenceRuns):
            stand_in = _lifted(original, better, inputs, mode) if backend.real_gpu else None
            measurement = measurement if stand_in is None else with_changes(measurement, stand_in)
            return replace(measurement, passed_over=tuple(passed_over))
        passed_over.append(passed(backend, measurement))
    runs = measure(last, build_for(last, original), inputs, mode or RunMode())
    return replace(runs, kind=_kind(last, original), passed_over=tuple(passed_over))


def _lifted(
    original: Sources, backends: Sequence[Backend], inputs: Sequence[Inputs], mode: RunMode | None
) -> ReferenceRuns | None:
    """Runs of ``original`` on the first of ``backends`` that can change data, where it can."""
    for backend in backends:
        if backend.perturbs:
            measurement = attempt(original, backend, inputs, mode)
            return measurement if isinstance(measurement, ReferenceRuns) else None
    return None


def attempt(
    original: Sources, backend: Backend, inputs: Sequence[Inputs], mode: RunMode | None = None
) -> ReferenceRuns | str:
    """Runs of ``original``, as it is, on each of ``inputs``; else why ``backend`` has none."""
    if problem := backend.problem():
        return problem.partition("\n")[0]
    try:
        built: BuiltProgram = backend.build(original)
    except CompileFailure as failure:
        if not backend.real_gpu and (name := _LIBRARY.search(failure.diagnostic)):
            library = name[1] or f"{name[2]}()"
            return f"it calls a library of NVIDIA's ({library}), whose code cannot be lifted"
        return f"{failure.tool}: {failure.diagnostic}"
    measurement = measure(backend, built, inputs, mode)
    return measurement if measurement.whole else measurement.problem


def with_changes(reference: ReferenceRuns, stand_in: ReferenceRuns) -> ReferenceRuns:
    """``reference`` with what ``stand_in`` prints under changes.

    A GPU's runs have no changes; those of the original's lifted machine code do. They count where
    both print the same without changes. Nor does a GPU draw the same numbers again: where the
    original draws some the runs of ``stand_in`` take its place.
    """
    others = {run.inputs: run for run in stand_in.runs if not run.problem}
    runs = []
    for run in reference.runs:
        other = others.get(run.inputs)
        drawn = other is not None and bool(other.same_draws)
        undisturbed = (other.undisturbed or other.outputs)[0] if other is not None else b""
        if other is None or not compare(run.outputs, undisturbed, drawn=drawn).numeric:
            runs.append(run)
            continue
        if drawn:
            runs.append(other)
            continue
        taken = ("perturbed", "transcripts", "needed", "in_another_order")
        runs.append(replace(run, **{name: getattr(other, name) for name in taken}))
    return replace(reference, runs=tuple(runs))


def passed(backend: Backend, why: str) -> str:
    """Why ``backend`` was passed over, as evidence says it."""
    return f"{backend.reference_kind}: {why[:_REASON_CHARACTERS]}"


def _kind(backend: Backend, original: Sources) -> str:
    translated = backend.language is Language.HIP and original.main.suffix in CUDA_SUFFIXES
    return TRANSLATION if translated else backend.reference_kind
