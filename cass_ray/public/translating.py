"""``cass_ray.translate``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from cass_ray.given_path import is_path
from cass_ray.public.renderable import Renderable
from cass_ray.public.views import Block, Cells, Mark, TextDiff, View
from cass_ray.translate.diagnostics import diagnostic_of
from cass_ray.translate.engines.registry import make_translator
from cass_ray.translate.protocol import Context, Severity, Translation

_MARKS = {Severity.ERROR: Mark.BAD, Severity.WARNING: Mark.WARNING, Severity.NOTE: Mark.PLAIN}


@dataclass(frozen=True, repr=False)
class TranslateResult(Renderable, Translation):
    """A translation with the ``original`` that it is of; shown as what changed, and findings."""

    original: str = ""
    filename: str = ""

    def view(self) -> View:
        """Counts, findings by place, and the lines that changed."""
        counts = self.counts
        said = f"{counts.converted} constructs converted, {counts.unsupported} without translation"
        worst = max((_MARKS[item.severity] for item in self.findings), key=_rank, default=Mark.GOOD)
        blocks: list[Block] = []
        if self.findings:
            rows = [
                (
                    f"{item.line}:{item.column}",
                    diagnostic_of(item).code,
                    item.severity.value,
                    item.message,
                    item.advice,
                )
                for item in self.findings
            ]
            heads = ("place", "number", "severity", "message", "advice")
            marks = [_MARKS[item.severity] for item in self.findings]
            blocks.append(Cells("Findings", heads, rows, marks))
        if self.source != self.original:
            blocks.append(TextDiff("What changed", self.original, self.source))
        return View(f"{self.filename or 'text'}: {said}", worst, blocks)


def _rank(mark: Mark) -> int:
    return list(Mark).index(mark)


def _is_file(text: str) -> bool:
    try:
        return "\n" not in text and Path(text).is_file()
    except OSError:  # longer than a name may be
        return False


def translate(
    source: str | Path, *, engine: str = "rules", context: Context | None = None
) -> TranslateResult:
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
        ValueError: ``source`` is a text that names a file.
    """
    if isinstance(source, str) and (is_path(source) or _is_file(source)):
        raise ValueError(
            f"{source!r} is a path, not a program's text: give pathlib.Path({source!r})"
        )
    translator = make_translator(engine)
    filename, text = "", source
    if isinstance(source, Path):
        filename = source.name
        text = source.read_text(encoding="utf-8", errors="surrogateescape")
    assert isinstance(text, str)
    result = translator.translate(text, filename=filename, context=context or Context())
    return TranslateResult(
        result.source, result.findings, result.counts, result.usage, text, filename
    )
