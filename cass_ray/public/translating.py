"""``cass_ray.translate_cuda``."""

from __future__ import annotations

from pathlib import Path

from cass_ray.translate.engines.registry import make_translator
from cass_ray.translate.protocol import Context, Translation


def translate_cuda(
    source: str | Path, *, engine: str = "rules", context: Context | None = None
) -> Translation:
    """Translate one CUDA source to HIP: a text (``str``) or a file (:class:`~pathlib.Path`).

    ``engine`` is a name of ``cass translate --engine``: ``rules``, ``hipify-perl``,
    ``model:PATH``, ``chat:MODEL`` …. ``context`` says which other files the project has and which
    wavefront widths the result must be right on. What could not be translated is not an
    exception: it stands in ``errors`` of the result, with line, column and advice.

    Raises:
        UnknownEngineError: there is no such engine.
        ToolMissing: the engine needs a tool that is not installed.
        TranslatorError: the engine itself failed.
        OSError: the file cannot be read.
    """
    translator = make_translator(engine)
    context = context or Context()
    if isinstance(source, str):
        return translator.translate(source, context=context)
    text = source.read_text(encoding="utf-8", errors="surrogateescape")
    return translator.translate(text, filename=source.name, context=context)
