"""One program, all its files at once, from CUDA to HIP."""

from __future__ import annotations

from dataclasses import dataclass, replace

from cass_ray.corpus.reading.source_files import Sources
from cass_ray.translate.declared import declared_names
from cass_ray.translate.protocol import DEFAULT_WAVEFRONTS, Context, Finding, Translator
from cass_ray.translate.rules.common import with_common_choices


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
    context = Context(frozenset(texts), wavefronts=wavefronts)
    if len(texts) > 1:
        context = replace(context, declared=declared_names(texts.values()))
        context = with_common_choices(context, texts.items())
    files: dict[str, bytes] = {}
    findings: list[Finding] = []
    for path, text in texts.items():
        translation = translator.translate(text, filename=path, context=context)
        files[path] = translation.source.encode("utf-8", "surrogateescape")
        findings += translation.findings
    made = replace(sources, files=files, originals=sources.files)
    return ProgramTranslation(made, tuple(findings))


def translated(
    sources: Sources, translator: Translator, wavefronts: tuple[int, ...] = DEFAULT_WAVEFRONTS
) -> Sources:
    """As :func:`translate_program`, without the findings."""
    return translate_program(sources, translator, wavefronts).sources
