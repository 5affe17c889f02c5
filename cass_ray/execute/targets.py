"""The two programs of a comparison: as HIP, and on the backends that can run them here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from cass_ray.architectures import wavefronts_of
from cass_ray.corpus.reading.source_files import CUDA_SUFFIXES, Sources
from cass_ray.execute.backends.base import Backend, BuiltProgram, Language
from cass_ray.execute.backends.rdna3 import HipBackend
from cass_ray.execute.backends.registry import candidate_backend, make_backend
from cass_ray.toolchain.errors import ToolMissing
from cass_ray.toolchain.unit import CompileFailure
from cass_ray.translate.engines.registry import make_translator
from cass_ray.translate.project.program import translated
from cass_ray.translate.project.refusals import RefusingTranslator
from cass_ray.translate.protocol import DEFAULT_WAVEFRONTS


def as_hip(sources: Sources, wavefronts: tuple[int, ...] = DEFAULT_WAVEFRONTS) -> Sources:
    """``sources``, translated by the rules for these wavefronts if they are CUDA.

    What has no translation does not compile where it is code of the program.
    """
    if sources.main.suffix not in CUDA_SUFFIXES:
        return sources
    return translated(sources, RefusingTranslator(make_translator(), True), wavefronts)


def build_for(backend: Backend, original: Sources) -> BuiltProgram:
    """``original`` as ``backend`` can run it: CUDA as it is, or translated by the rules.

    Raises :class:`~cass_ray.toolchain.unit.CompileFailure`.
    """
    if backend.language is Language.CUDA:
        return backend.build(original)
    return backend.build(as_hip(original, wavefronts_on([backend])))


def translated_port(
    original: Sources, candidate: Sources, backend: Backend
) -> Callable[[], BuiltProgram | None]:
    """Makes the rules' port of ``original``, to be asked beside ``candidate``.

    There is none where that is the candidate itself, or where the rules or a compiler refuse it.
    A program of one file gets the candidate's name, which executables hold.
    """

    def make() -> BuiltProgram | None:
        if backend.language is not Language.HIP:
            return None
        try:
            port = as_hip(original, wavefronts_on([backend]))
            if set(candidate.files.values()) <= set(port.files.values()):
                return None
            if len(port.files) == 1:
                text = port.files[str(port.main)]
                port = Sources(candidate.main, {str(candidate.main): text})
            return backend.build(port)
        except CompileFailure:
            return None

    return make


def wavefronts_on(backends: Iterable[Backend]) -> tuple[int, ...]:
    """The widths of wavefronts that HIP programs meet there; Nvidia's warps have 32 lanes."""
    targets = [each.architecture for each in backends if isinstance(each, HipBackend)]
    return wavefronts_of(targets) or (32,)


def usable_backends(candidate: str | None, reference: str | None) -> tuple[Backend, Backend]:
    """Where the candidate and where the reference runs; an Nvidia GPU has the reference, if any.

    Raises :class:`ToolMissing` where one of them cannot be used.
    """
    (ours,) = usable_targets(candidate, ())
    nvidia = make_backend(reference or "nvidia")
    theirs = nvidia if reference or nvidia.available() else ours
    _require(theirs)
    return ours, theirs


def usable_targets(candidate: str | None, architectures: Sequence[str]) -> list[Backend]:
    """Where the candidate runs: a backend for each of ``architectures``, or the default one.

    Raises :class:`ToolMissing` as above, and ``ValueError`` where a processor cannot be run.
    """
    name = candidate or candidate_backend().name
    ours = [make_backend(name, each) for each in architectures] or [make_backend(name)]
    for each in ours:
        _require(each)
    return ours


def _require(backend: Backend) -> None:
    if problem := backend.problem():
        raise ToolMissing(f"The backend {backend.name}", "", problem)
