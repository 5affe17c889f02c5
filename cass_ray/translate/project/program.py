"""One program, all its files at once, from CUDA to HIP."""

from __future__ import annotations

from dataclasses import dataclass, replace

from cass_ray.corpus.reading.source_files import Sources
from cass_ray.translate.declared import declared_names
from cass_ray.translate.protocol import DEFAULT_WAVEFRONTS, Context, Finding, Translator


@dataclass(frozen=True)
class ProgramTranslation:
    """A program as HIP, and what the translator said about its files."""

    sources: Sources
    findings: tuple[Finding, ...]


def translate_program(
    sources: Sources, translator: Translator, wavefronts: tuple[int, ...] = DEFAULT_WAVEFRONTS
) -> ProgramTranslation:
    """``sources`` as HIP, right on ``wavefronts``. Headers without CUDA come back as they are.

    Raises :class:`~cass_ray.translate.protocol.TranslatorError`.
    """
    texts = {path: data.decode("utf-8", "surrogateescape") for path, data in sources.files.items()}
    declared = declared_names(texts.values()) if len(texts) > 1 else frozenset()
    context = Context(frozenset(texts), declared, wavefronts)
    files: dict[str, bytes] = {}
    findings: list[Finding] = []
    for path, text in texts.items():
        translation = translator.translate(text, filename=path, context=context)
        files[path] = translation.source.encode("utf-8", "surrogateescape")
        findings += translation.findings
    return ProgramTranslation(replace(sources, files=files), tuple(findings))


def translated(
    sources: Sources, translator: Translator, wavefronts: tuple[int, ...] = DEFAULT_WAVEFRONTS
) -> Sources:
    """As :func:`translate_program`, without the findings."""
    return translate_program(sources, translator, wavefronts).sources
