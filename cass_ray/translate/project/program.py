"""One program, all its files at once, from CUDA to HIP."""

from __future__ import annotations

from dataclasses import dataclass, replace

from cass_ray.corpus.reading.source_files import Sources
from cass_ray.translate.protocol import Context, Finding, Translator


@dataclass(frozen=True)
class ProgramTranslation:
    """A program as HIP, and what the translator said about its files."""

    sources: Sources
    findings: tuple[Finding, ...]


def translate_program(
    sources: Sources, translator: Translator, wavefronts: tuple[int, ...] = (32,)
) -> ProgramTranslation:
    """``sources`` as HIP, right on ``wavefronts``. Headers without CUDA come back as they are.

    Raises :class:`~cass_ray.translate.protocol.TranslatorError`.
    """
    context = Context(files=frozenset(sources.files), wavefronts=wavefronts)
    files: dict[str, bytes] = {}
    findings: list[Finding] = []
    for path, content in sources.files.items():
        text = content.decode("utf-8", "surrogateescape")
        translation = translator.translate(text, filename=path, context=context)
        files[path] = translation.source.encode("utf-8", "surrogateescape")
        findings += translation.findings
    return ProgramTranslation(replace(sources, files=files), tuple(findings))


def translated(
    sources: Sources, translator: Translator, wavefronts: tuple[int, ...] = (32,)
) -> Sources:
    """As :func:`translate_program`, without the findings."""
    return translate_program(sources, translator, wavefronts).sources
