"""What an engine takes and gives, in the terms of the API."""

from __future__ import annotations

from dataclasses import asdict
from typing import Protocol

from pydantic import Field

from cass_ray.api.schema import CountsModel, FindingModel, TranslateRequest, Usage
from cass_ray.config import StrictModel
from cass_ray.task import Direction
from cass_ray.translate.diagnostics import diagnostic_of
from cass_ray.translate.protocol import Finding, Severity, Translation


class EngineAnswer(StrictModel):
    """What an engine made of a program. ``host`` goes with a lifted device part."""

    source: str
    version: str
    findings: list[FindingModel] = []
    counts: CountsModel = CountsModel()
    usage: Usage | None = None
    seconds: float = 0.0
    failed: str = ""
    """Why this is no translation at all (no code in a model's answer); empty where it is one."""
    host: str = Field(default="", repr=False)
    """Host assembly to link with, where ``source`` is device assembly."""


class TranslationEngine(Protocol):
    """What a translator replica holds."""

    @property
    def version(self) -> str:
        """Changes when the same request may get another answer."""
        ...

    def translate(self, request: TranslateRequest, seed: int) -> EngineAnswer:
        """Translate. Raises ``TranslatorError``, ``ToolMissing``."""
        ...


def as_answer(translation: Translation, version: str, seconds: float) -> EngineAnswer:
    """A translation in the API's terms."""
    usage = None
    if translation.usage is not None:
        usage = Usage(
            prompt_tokens=translation.usage.input_tokens,
            completion_tokens=translation.usage.output_tokens,
        )
    return EngineAnswer(
        source=translation.source,
        version=version,
        findings=findings_of(translation.findings),
        counts=CountsModel(**asdict(translation.counts)),
        usage=usage,
        seconds=seconds,
    )


MOST_FINDINGS = 1000
"""The most findings of one text. A program of a megabyte can have a hundred thousand, and every
process on the way reads each of them again."""


def findings_of(findings: tuple[Finding, ...]) -> list[FindingModel]:
    """A translator's findings for the API: the first ones, and how many more there are."""
    shown = _models(findings[:MOST_FINDINGS])
    if len(findings) > MOST_FINDINGS:
        last = findings[MOST_FINDINGS]
        more = f"{len(findings) - MOST_FINDINGS} more findings from here on are not listed"
        note = Finding(last.line, last.column, last.construct, Severity.NOTE, more)
        shown += _models((note,))
    return shown


def _models(findings: tuple[Finding, ...]) -> list[FindingModel]:
    return [
        FindingModel(
            line=item.line,
            column=item.column,
            name=item.construct,
            severity=item.severity.value,
            message=item.message,
            advice=item.advice,
            code=kind.code,
            title=kind.title,
        )
        for item in findings
        for kind in [diagnostic_of(item)]
    ]


def file_name(request: TranslateRequest) -> str:
    """The request's file name, or one with the suffix of its language."""
    default = "program.cu" if request.direction is Direction.CUDA_TO_HIP else "program.hip"
    return request.filename or default
