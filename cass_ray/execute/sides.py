"""The two programs of a comparison: as HIP, and on the backends that can run them here."""

from __future__ import annotations

from cass_ray.corpus.reading.source_files import CUDA_SUFFIXES, Sources
from cass_ray.execute.backends.base import Backend, BuiltProgram, Language
from cass_ray.execute.backends.registry import candidate_backend, make_backend
from cass_ray.toolchain.errors import ToolMissing
from cass_ray.translate.engines.registry import make_translator
from cass_ray.translate.project.program import translated


def as_hip(sources: Sources) -> Sources:
    """``sources``, translated by the rules if they are CUDA."""
    if sources.main.suffix not in CUDA_SUFFIXES:
        return sources
    return translated(sources, make_translator())


def build_for(backend: Backend, original: Sources) -> BuiltProgram:
    """``original`` as ``backend`` can run it: CUDA as it is, or translated by the rules.

    Raises :class:`~cass_ray.toolchain.unit.CompileFailure`.
    """
    return backend.build(original if backend.language is Language.CUDA else as_hip(original))


def usable_backends(candidate: str | None, reference: str | None) -> tuple[Backend, Backend]:
    """Where the candidate and where the reference runs; an Nvidia GPU has the reference, if any.

    Raises :class:`ToolMissing` where one of them cannot be used.
    """
    ours = make_backend(candidate) if candidate else candidate_backend()
    nvidia = make_backend(reference or "nvidia")
    theirs = nvidia if reference or nvidia.available() else ours
    for each in (ours, theirs):
        if problem := each.problem():
            raise ToolMissing(f"The backend {each.name}", "", problem)
    return ours, theirs
