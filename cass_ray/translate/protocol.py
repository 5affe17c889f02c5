"""What a translator is: source text in, source text and findings out.

Every engine (``rules``, ``hipify-perl``, ``hipify-clang``, a language model) has this shape, so the
data set, the benchmark and the command line drive them alike.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol, runtime_checkable


class Severity(StrEnum):
    """How much a finding matters."""

    ERROR = "error"
    """Cannot compile under HIP, or would compute something else."""
    WARNING = "warning"
    """Needs a look: right on most programs, not provably on this one."""
    NOTE = "note"
    """Changed in a way worth knowing."""


class TranslatorError(Exception):
    """The engine itself failed: not installed, crashed, or over its limits."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One CUDA construct that was not simply renamed.

    ``line`` and ``column`` count from 1, in the text that was given to the engine; both are 0 when
    the finding is about the whole file.
    """

    line: int
    column: int
    construct: str
    severity: Severity
    message: str
    advice: str = ""

    def format(self, filename: str = "") -> str:
        """``file:line:column: severity: message (advice)``, the shape editors understand."""
        place = f"{filename or '<source>'}:{self.line}:{self.column}"
        advice = f" ({self.advice})" if self.advice else ""
        return f"{place}: {self.severity}: {self.message}{advice}"


def in_order(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """``findings`` by place."""
    return tuple(sorted(findings, key=lambda item: (item.line, item.column, item.message)))


@dataclass(frozen=True, slots=True)
class Counts:
    """How many CUDA constructs were converted, were left because HIP has them too, or failed."""

    converted: int = 0
    unchanged: int = 0
    unsupported: int = 0

    def __add__(self, other: Counts) -> Counts:
        return Counts(
            self.converted + other.converted,
            self.unchanged + other.unchanged,
            self.unsupported + other.unsupported,
        )


@dataclass(frozen=True, slots=True)
class TranslationUsage:
    """What a model's answer took. ``calls`` counts requests, repeated ones too."""

    input_tokens: int = 0
    output_tokens: int = 0
    calls: int = 1


@dataclass(frozen=True, slots=True)
class Translation:
    """A translated source and what there is to say about it; ``usage`` only of models."""

    source: str
    findings: tuple[Finding, ...] = ()
    counts: Counts = field(default_factory=Counts)
    usage: TranslationUsage | None = None

    @property
    def errors(self) -> tuple[Finding, ...]:
        """The findings that keep the result from compiling or from meaning the same."""
        return tuple(item for item in self.findings if item.severity is Severity.ERROR)


DEFAULT_WAVEFRONTS = (32, 64)
"""What runs is what was written: every command translates for both widths unless asked for one."""


@dataclass(frozen=True, slots=True)
class Context:
    """What an engine may know beside the file itself.

    ``files`` are the paths of the tree the file belongs to, relative to its root: an ``#include``
    of one of them is the project's own header, whatever it is called. ``wavefronts`` are the widths
    the result must be right on; CUDA's warps have 32 lanes, RDNA's wavefronts 32, CDNA's 64.
    ``declared`` are names of CUDA's kind that files of the tree declare themselves
    (:func:`~cass_ray.translate.declared.declared_names`). ``cuda_architecture`` is the value of
    ``__CUDA_ARCH__`` that all files of the tree are to be translated for; 0 for a file on its own.
    ``plain_vectors`` says whether all files of the tree are to have CUDA's vector types in place of
    HIP's; None: each as it needs.
    """

    files: frozenset[str] = frozenset()
    declared: frozenset[str] = frozenset()
    wavefronts: tuple[int, ...] = DEFAULT_WAVEFRONTS
    settings: Mapping[str, str] = field(default_factory=dict)
    cuda_architecture: int = 0
    plain_vectors: bool | None = None


NO_CONTEXT = Context()
"""A file on its own, for any wavefront width."""


@runtime_checkable
class Translator(Protocol):
    """An engine that turns CUDA into HIP."""

    @property
    def name(self) -> str:
        """The name it is asked for by (``rules``, ``hipify-perl``)."""
        ...

    @property
    def version(self) -> str:
        """Changes whenever the same input may give another output; part of cache keys."""
        ...

    def translate(
        self, source: str, *, filename: str = "", context: Context = NO_CONTEXT
    ) -> Translation:
        """Translate one file.

        Raises:
            TranslatorError: the engine failed; constructs it cannot translate are findings.
        """
        ...
