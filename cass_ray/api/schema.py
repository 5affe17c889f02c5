"""The HTTP API, version 1, as types: what a client sends and what the server answers.

``serve`` builds its OpenAPI description from them, :mod:`cass_ray.api.client` speaks them.
"""

from __future__ import annotations

import base64
import binascii
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, field_validator, model_validator

from cass_ray.architectures import (
    AMD_TARGETS,
    DEFAULT_NVIDIA_ARCHITECTURE,
    NVIDIA_ARCHITECTURES,
    known_instead,
)
from cass_ray.config import StrictModel
from cass_ray.given_path import is_path
from cass_ray.task import Direction, Level

RULES = "rules"
LIFT = "lift"

ARCHITECTURES = tuple(target.name for target in AMD_TARGETS if target.offered)
"""AMD architectures that a request may name; :class:`TargetInfo` says what becomes of each."""

EXAMPLE = Path(__file__).with_name("example.cu").read_text(encoding="utf-8")


class Check(StrEnum):
    """How far a translation is checked before it is handed over."""

    NONE = "none"
    COMPILE = "compile"
    EXECUTE = "execute"


class Verification(StrEnum):
    """How far a translation was proved."""

    UNCHECKED = "unchecked"
    """Nobody asked."""
    FAILED = "failed"
    """It does not compile, does not run to its end, or prints something else."""
    COMPILED = "compiled"
    EXECUTED = "executed"
    """It ran to its end; there was nothing to compare its output with."""
    MATCHED = "matched"
    """It ran, and printed what the reference prints."""


ORDER = (
    Verification.FAILED,
    Verification.UNCHECKED,
    Verification.COMPILED,
    Verification.EXECUTED,
    Verification.MATCHED,
)
"""From worst to best."""

Argument = Annotated[str, Field(max_length=4096)]


TargetName = Annotated[str, Field(max_length=16, pattern=r"^gfx[0-9a-f]{3,5}$")]


class RunInput(StrictModel):
    """One run of the program; ``expected_stdout`` is compared with what it prints, if given."""

    arguments: list[Argument] = Field(default_factory=list, max_length=64)
    stdin: str = Field(default="", max_length=1 << 20)
    files: dict[str, str] = Field(default_factory=dict, max_length=64)
    """What the program finds where it runs, read-only: contents in base64, by name."""
    expected_stdout: str | None = Field(default=None, max_length=1 << 20)

    @field_validator("arguments")
    @classmethod
    def _no_null(cls, value: list[str]) -> list[str]:
        if any("\0" in item for item in value):
            raise ValueError("a program's argument cannot hold the character NUL")
        return value

    @field_validator("files")
    @classmethod
    def _plain_names(cls, value: dict[str, str]) -> dict[str, str]:
        for name, content in value.items():
            if name in ("", ".", "..") or "/" in name or len(as_text(name).encode()) > 255:
                raise ValueError(f"{name[:255]!r} is not the name of a file")
            _check_base64(content)
        return value


def as_text(value: str) -> str:
    """``value`` where it can be a file's text. Raises ``ValueError``."""
    if "\0" in value:
        raise ValueError("it holds the character NUL: send text")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ValueError("it holds half a surrogate pair: send UTF-8") from None
    return value


def _check_base64(value: str) -> None:
    """Raises ``ValueError`` where ``value`` is not base64."""
    try:
        base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError):
        raise ValueError("not base64") from None


class TranslateRequest(StrictModel):
    """A program to translate."""

    # Errors reach logs, source code must not.
    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        hide_input_in_errors=True,
        json_schema_extra={"anyOf": [{"required": ["source"]}, {"required": ["cubin"]}]},
    )

    source: str = Field(default="", examples=[EXAMPLE])
    """Program text (level source), or assembly text (level assembly)."""
    cubin: str | None = Field(default=None, description="Nvidia machine code, base64 (engine lift)")
    filename: str = Field(default="", max_length=255, pattern=r"^[\w.+-]*$")
    level: Level = Level.SOURCE
    direction: Direction = Direction.CUDA_TO_HIP
    engine: str = Field(default=RULES, max_length=200)
    arch: str = Field(default="", max_length=16, pattern=r"^((gfx|sm_)[0-9a-f]{2,5})?$")
    """Empty: gfx1100, or sm_80 for HIP to CUDA."""
    targets: list[TargetName] = Field(default_factory=list, max_length=4)
    """Further AMD processors that the same translation is compiled for and run as, as far as
    ``check`` says; the verdict is then about all of them. With one of each wavefront width it says
    whether the port is right on both."""
    check: Check = Check.NONE
    candidates: int = Field(default=1, ge=1, le=16)
    """Answers to draw from a model; the first that passes the check is taken."""
    repair: int = Field(default=2, ge=0, le=8)
    """Rounds of repair from the compiler's messages, where the check fails."""
    fallback: bool = True
    """Whether the rules may answer where the engine's answer fails the check."""
    inputs: list[RunInput] = Field(default_factory=list, max_length=8)
    """What the program is run with; default: its own defaults."""
    temperature: float | None = Field(default=None, ge=0.0, le=2.0)
    seed: int = Field(default=0, ge=0, le=2**31 - 1)
    stream: bool = False

    @field_validator("source")
    @classmethod
    def _text(cls, value: str) -> str:
        return as_text(value)

    @field_validator("cubin")
    @classmethod
    def _base64(cls, value: str | None) -> str | None:
        if value is not None:
            _check_base64(value)
        return value

    @model_validator(mode="after")
    def _something_to_do(self) -> TranslateRequest:
        if not self.source.strip() and not self.cubin:
            raise ValueError("give a source (or a cubin, for the engine lift)")
        if is_path(self.source):
            raise ValueError(f"source is {self.source.strip()}, a path: give the program's text")
        targets = ARCHITECTURES if self.direction is Direction.CUDA_TO_HIP else NVIDIA_ARCHITECTURES
        if self.arch and self.arch not in targets:
            raise ValueError(f"arch {self.arch}: {known_instead(self.arch, targets)}")
        for name in self.targets:
            if name not in ARCHITECTURES:
                raise ValueError(f"target {name}: {known_instead(name, ARCHITECTURES)}")
        if self.targets and (
            self.level is not Level.SOURCE or self.direction is not Direction.CUDA_TO_HIP
        ):
            raise ValueError("targets: only of HIP source; other translations are for one target")
        return self

    @property
    def architecture(self) -> str:
        """What to compile for."""
        if self.arch:
            return self.arch
        amd = self.direction is Direction.CUDA_TO_HIP
        return ARCHITECTURES[0] if amd else DEFAULT_NVIDIA_ARCHITECTURE

    @property
    def further_targets(self) -> list[str]:
        """``targets`` without :attr:`architecture`, each once."""
        return [name for name in dict.fromkeys(self.targets) if name != self.architecture]


class FindingModel(StrictModel):
    """A construct that was not simply renamed; lines and columns count from 1, 0: whole file."""

    line: int
    column: int
    name: str
    """The construct."""
    severity: Literal["error", "warning", "note"]
    message: str
    advice: str = ""
    code: str = ""
    """The number of its kind, as CASS1005; ``docs/diagnostics.md`` describes each."""
    title: str = ""
    """Its kind in words."""


class CountsModel(StrictModel):
    """Constructs by what became of them."""

    converted: int = 0
    unchanged: int = 0
    unsupported: int = 0


class Diagnostic(StrictModel):
    """A compiler's message about the translation."""

    line: int
    column: int
    severity: Literal["error", "warning", "note"] = "error"
    message: str


class CompileReport(StrictModel):
    """What the compiler said of the translation."""

    passed: bool
    architecture: str
    compiler: str
    seconds: float
    reason: str = ""
    """Why it failed, as the data set calls it."""
    diagnostics: list[Diagnostic] = []
    output: str = ""
    """The compiler's own message, cut."""
    repairs: list[str] = []


class RunReport(StrictModel):
    """One run of the translation."""

    arguments: list[str]
    verdict: str
    """``ok``, ``exit``, ``signal``, ``time_limit``, ``memory_limit``, ``output_limit`` …"""
    status: int
    matched: bool | None
    """None: there was nothing to compare with."""
    exact: bool = False
    stdout: str
    expected: str | None = None
    difference: str = ""
    stderr: str = ""
    max_error: float = 0.0
    seconds: float
    peak_memory_bytes: int
    launches: list[str] = []


class ExecutionReport(StrictModel):
    """How the translation ran, and beside what."""

    ran: bool
    matched: bool | None
    backend: str
    reference: str
    """Where the expected output is from; empty where there is none."""
    reference_kind: str = "none"
    """``gpu``, ``stored`` (from one), ``lifted sm_90`` (nvcc's machine code of the original, run
    on the CPU), ``given`` (yours), ``translation`` (by the rules), ``emulator`` or ``none``."""
    independent: bool
    """Whether no translation of ours stands between the original and the expected output."""
    passed_over: list[str] = []
    """Why better references could not be had."""
    problem: str = ""
    grade: str = ""
    """``verified``; ``agrees, independence not shown``; ``cannot tell``; ``differs``."""
    weakness: str = ""
    """The reason why output that agrees is not verified."""
    perturbations: int = 0
    """Changes of data under which both programs went on agreeing."""
    driver: bool = False
    """The file has no ``main``: its kernels were launched by a generated driver."""
    runs: list[RunReport] = []
    findings: list[str] = []
    device_faults: list[str] = []
    tolerance: str = ""
    seconds: float = 0.0


class TargetVerdict(StrictModel):
    """What is known about a translation on one processor."""

    architecture: str
    wavefront: int
    """Lanes."""
    verification: Verification
    label: str
    compile: CompileReport | None = None
    execution: ExecutionReport | None = None


class Verdict(StrictModel):
    """What is known about a translation: the least of what is known on each target."""

    verification: Verification
    label: str
    """The same in words, for people."""
    compile: CompileReport | None = None
    execution: ExecutionReport | None = None
    targets: list[TargetVerdict] = []
    """All of them, where the request names further ones; the first is ``architecture``."""
    portable: bool | None = None
    """Whether it matched on wavefronts of 32 and of 64 lanes; None: not run on both."""


class Attempt(StrictModel):
    """One try on the way to the answer."""

    engine: str
    verification: Verification
    problem: str = ""
    seconds: float = 0.0


class Usage(StrictModel):
    """Tokens that a model read and wrote."""

    prompt_tokens: int = 0
    completion_tokens: int = 0


class TranslateResponse(StrictModel):
    """A translation, labeled with what was proved about it."""

    id: str
    translation: str
    engine: str
    """Whose answer it is; not the one that was asked where a fallback answered."""
    engine_version: str
    architecture: str
    verdict: Verdict
    findings: list[FindingModel] = []
    counts: CountsModel = CountsModel()
    attempts: list[Attempt] = []
    usage: Usage | None = None
    cached: bool = False
    timings: dict[str, float] = {}
    """Seconds by stage: translate, compile, execute, total."""


class Event(StrictModel):
    """One server-sent event of a streamed translation; the last is ``result`` or ``error``."""

    type: Literal["token", "translation", "stage", "result", "error"]
    data: dict[str, Any]


class Problem(StrictModel):
    """An error that a person can act on."""

    code: str
    message: str
    request_id: str = ""
    details: list[str] = []


class ProblemResponse(StrictModel):
    """The body of every answer that is no success; ``error`` is where OpenAI's clients look."""

    error: Problem


class EngineInfo(StrictModel):
    """An engine that can be asked for."""

    name: str
    levels: list[Level]
    directions: list[Direction]
    streams: bool
    description: str


class Example(StrictModel):
    """A program to try, with arguments that it takes."""

    name: str
    title: str
    source: str
    arguments: list[list[str]] = []


class TargetInfo(StrictModel):
    """A processor that programs can be translated for."""

    name: str
    family: str
    wavefront: int
    """Lanes; what is translated for it is right on so many."""
    executed: bool
    """Whether this server runs its code; else it is only compiled."""
    problem: str = ""
    """Why it is not compiled for here, with the remedy; empty where it is."""


class SharedAnswer(StrictModel):
    """A request and the answer that the server gave, as a link shows them."""

    request: TranslateRequest
    answer: TranslateResponse


class ShareId(StrictModel):
    """The name of a shared answer in its link: a digest of its content."""

    id: str


class Capabilities(StrictModel):
    """What this server offers, and its limits."""

    version: str
    engines: list[EngineInfo]
    checks: list[Check]
    architectures: list[str]
    targets: list[TargetInfo]
    """What there is to know of the AMD ones among the architectures."""
    backends: dict[str, str]
    """Execution backends; empty text: available, else why not."""
    limits: dict[str, float]
    authentication: bool
    cards: dict[str, list[str]] = {}
    """Cards that have each of the architectures, by the names that requests take."""
    shares: bool = False
    """Whether ``POST /v1/shares`` makes links to an answer."""
