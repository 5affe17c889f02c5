"""What a row says of itself: where it is from, how far it came and why it went no further."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Any

from pydantic import BaseModel, ConfigDict, Field


class Origin(StrEnum):
    """Where a program came from."""

    LOCAL = "local"
    REPOSITORY = "repository"
    STACK_V2 = "stack_v2"
    SYNTHETIC = "synthetic"
    OPENCL = "opencl"
    BENCH = "bench"


class Verified(StrEnum):
    """How far the equivalence of the two sides has been checked."""

    NONE = "none"
    COMPILED = "compiled"
    EXECUTED = "executed"


class Stage(StrEnum):
    """The pipeline stage that rejected a row, in pipeline order."""

    READ = "read"
    FILTER = "filter"
    DEDUPLICATE = "deduplicate"
    DECONTAMINATE = "decontaminate"
    TRANSLATE = "translate"
    COMPILE_NVIDIA = "compile_nvidia"
    COMPILE_AMD = "compile_amd"
    ALIGN = "align"
    EXECUTE = "execute"
    SELECT = "select"


class Reason(StrEnum):
    """Why a row was rejected; those of ``DUPLICATE_REASONS`` count as duplicates."""

    # read
    UNREADABLE = "unreadable"  # permission, symbolic-link loop, vanished file
    UNSAFE_PATH = "unsafe_path"  # a path that leaves its archive or tree
    TOO_LARGE = "too_large"  # bytes
    EMPTY = "empty"
    BINARY = "binary"
    FRAGMENT = "fragment"  # a part of a unit, which includes it
    # filter
    TOO_LONG = "too_long"  # lines
    TOO_SHORT = "too_short"  # lines
    BOILERPLATE = "boilerplate"
    NO_KERNEL = "no_kernel"
    LICENSE_NOT_ALLOWED = "license_not_allowed"
    # deduplicate
    EXACT_DUPLICATE = "exact_duplicate"
    NEAR_DUPLICATE = "near_duplicate"
    STRUCTURAL_DUPLICATE = "structural_duplicate"  # syntax tree or machine code
    # decontaminate
    BENCHMARK_OVERLAP = "benchmark_overlap"  # or an evaluation list's
    # translate
    UNTRANSLATABLE = "untranslatable"
    TRANSLATOR_FAILED = "translator_failed"
    # compile (both sides)
    MISSING_HEADER = "missing_header"
    FORBIDDEN_INCLUDE = "forbidden_include"  # an absolute or escaping #include / .incbin
    COMPILE_ERROR = "compile_error"
    COMPILER_CRASHED = "compiler_crashed"
    COMPILER_KILLED = (
        "compiler_killed"  # from outside: by the kernel, which had no memory, or a user
    )
    TIME_LIMIT = "time_limit"
    STARVED = "starved"  # the machine had no processor for the compiler
    MEMORY_LIMIT = "memory_limit"
    OUTPUT_LIMIT = "output_limit"
    NO_DEVICE_CODE = "no_device_code"  # compiled, but nothing for the device came out
    TOOL_MISSING = "tool_missing"  # no node has the compiler for this language
    WORKER_DIED = "worker_died"  # the actor died with this row in hand, twice
    INTERNAL_ERROR = "internal_error"  # a bug of ours; the diagnostic is the traceback
    # align
    NO_COMMON_KERNEL = "no_common_kernel"
    LIBRARY_KERNELS_ONLY = "library_kernels_only"  # Thrust's or CUB's, other ones on each side
    KERNELS_DIFFER = "kernels_differ"  # a kernel on one side only
    # execute
    RUN_FAILED = "run_failed"
    OUTPUT_DIFFERS = "output_differs"
    # select
    OVER_TOKEN_LIMIT = "over_token_limit"  # longer than the model's window


DUPLICATE_REASONS = frozenset(
    {Reason.EXACT_DUPLICATE, Reason.NEAR_DUPLICATE, Reason.STRUCTURAL_DUPLICATE}
)

AMD = "amd"
"""The vendor of an element of ``devices``."""

DIAGNOSTIC_CHARACTERS = 4000
"""Diagnostics are cut to this many characters (head and tail kept)."""

_INCLUDED_FROM = re.compile(r"^ *(?:In file included )?from [^\n]*[:,]\n", re.MULTILINE)

_WARNING = re.compile(
    r"^\S[^\n]*\(\d+\): warning #[^\n]*\n(?:[ \t]+[^\n]*\n|\n|Remark: [^\n]*\n)*", re.MULTILINE
)
"""A warning of nvcc's front end: the line, and the text that it points at."""


class Toolchain(BaseModel):
    """Name, version and flags of the compiler that made one side of a row."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = ""
    version: str = ""
    flags: str = ""


class EvidenceRun(BaseModel):
    """One run of both sides on one set of arguments."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    arguments: list[str] = Field(default_factory=list)
    exact: bool = False
    numeric: bool = False
    max_error: float = 0.0
    detail: str = ""


class Evidence(BaseModel):
    """What stands behind ``verified = executed``."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    runs: list[EvidenceRun] = Field(default_factory=list)
    reference: str = "none"
    """What was compared with: ``gpu``, ``stored``, ``lifted sm_90``, ``given`` or ``none``."""
    nvidia_backend: str = ""
    amd_backend: str = ""
    launches: list[str] = Field(default_factory=list)
    tolerance: str = ""
    max_error: float = 0.0
    coverage: float = 0.0
    counters: str = ""
    """JSON object of dynamic counters (barriers, atomics, warp operations) by kernel."""
    grade: str = ""
    """``verified``; ``agrees, independence not shown``; ``cannot tell``; ``differs``."""
    perturbations: int = 0
    """Changes of data under which both programs went on agreeing."""


def clip_diagnostic(text: str, limit: int = DIAGNOSTIC_CHARACTERS) -> str:
    """``text`` cut to ``limit`` characters; head and tail are kept, the cut is marked.

    Of a text that is too long the chains of includes go first, then nvcc's warnings: they can be
    longer than the error behind them.
    """
    text = text.strip()
    if len(text) <= limit:
        return text
    for unneeded in (_INCLUDED_FROM, _WARNING):
        text = unneeded.sub("", text)
        if len(text) <= limit:
            return text
    marker = "\n[… cut …]\n"
    head = (limit - len(marker)) * 2 // 3
    tail = limit - len(marker) - head
    return text[:head] + marker + text[-tail:]


def rejected(
    row: dict[str, Any], stage: Stage, reason: Reason, diagnostic: str, duplicate_of: str = ""
) -> dict[str, Any]:
    """``row`` marked as rejected; later stages pass such rows through untouched."""
    return {
        **row,
        "stage": stage.value,
        "reason": reason.value,
        "diagnostic": clip_diagnostic(diagnostic),
        "duplicate_of": duplicate_of,
    }


def is_rejected(row: dict[str, Any]) -> bool:
    """Whether an earlier stage rejected ``row``."""
    return bool(row.get("reason"))
