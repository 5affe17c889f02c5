"""What the tools answer, as an agent reads it."""

from __future__ import annotations

from cass_ray.config import StrictModel
from cass_ray.execute.verification import PortVerification
from cass_ray.printable import printable_text
from cass_ray.translate.diagnostics import Diagnostic, diagnostic_of
from cass_ray.translate.protocol import Finding

TEXT_CHARACTERS = 32_768
"""A longer text is cut: its beginning and its end are given."""


def bounded(text: str, limit: int = TEXT_CHARACTERS) -> str:
    """``text`` without control characters, its middle left out where it is too long."""
    shown = printable_text(text)
    if len(shown) <= limit:
        return shown
    half = limit // 2
    return f"{shown[:half]}\n[{len(shown) - 2 * half} characters left out]\n{shown[-half:]}"


class FindingAnswer(StrictModel):
    """A CUDA construct that was not simply renamed; ``code`` is what ``explain`` takes."""

    file: str
    line: int
    column: int
    severity: str
    code: str
    message: str
    advice: str

    @classmethod
    def of(cls, file: str, finding: Finding) -> FindingAnswer:
        return cls(
            file=file,
            line=finding.line,
            column=finding.column,
            severity=finding.severity.value,
            code=diagnostic_of(finding).code,
            message=finding.message,
            advice=finding.advice,
        )


class TranslateAnswer(StrictModel):
    """A translation; ``complete`` is false where something has none (severity ``error``)."""

    complete: bool
    source: str
    """The HIP source; empty where it was saved."""
    saved_as: str
    findings: list[FindingAnswer]


class CompileAnswer(StrictModel):
    """Whether a file compiles. ``assembly`` is of the device, where it was asked for."""

    compiled: bool
    architecture: str
    translated: bool
    """It is CUDA and was translated by the rules before AMD's compiler saw it."""
    reason: str = ""
    compiler_output: str = ""
    kernels: list[str] = []
    assembly: str = ""


class RunAnswer(StrictModel):
    """One run of a program in the sandbox."""

    verdict: str
    """``ok``, ``exit``, ``signal``, ``time_limit``, ``memory_limit``, ``output_limit`` or
    ``sandbox_violation``."""
    status: int
    stdout: str
    stderr: str
    seconds: float
    launches: list[str]
    where: str


class TargetVerdict(StrictModel):
    """A port on one target beside its original."""

    passed: bool
    """Whether the grade is ``verified``."""
    grade: str
    reason: str
    reference: str
    """What it was compared with: ``gpu``, ``lifted sm_90``, ``translation`` …."""
    independent: bool
    """False: the reference is the rules' translation of the original, so that a fault of the rules
    would not show."""
    passed_over: list[str]
    inputs: list[str]
    findings: list[str]
    device_faults: list[str]

    @classmethod
    def of(cls, verification: PortVerification) -> TargetVerdict:
        verdicts = [
            f"{run.given}: "
            f"{'exact' if run.exact else 'numeric' if run.numeric else 'differs'}"
            f" {run.difference}".rstrip()
            for run in verification.runs
        ]
        return cls(
            passed=verification.passed,
            grade=verification.grade.value,
            reason=bounded(verification.reason),
            reference=verification.reference_kind,
            independent=verification.independent,
            passed_over=verification.passed_over,
            inputs=[bounded(each, 2000) for each in verdicts],
            findings=[finding.message for finding in verification.findings],
            device_faults=[bounded(each, 2000) for each in verification.device_faults],
        )


class VerifyAnswer(StrictModel):
    """A port beside its original, by target; ``passed`` on all of them."""

    passed: bool
    targets: dict[str, TargetVerdict]


class Explanation(StrictModel):
    """A kind of finding: what it says, why, and how it is settled."""

    code: str
    title: str
    why: str
    how: str

    @classmethod
    def of(cls, item: Diagnostic) -> Explanation:
        return cls(code=item.code, title=item.title, why=item.why, how=item.how)


class FindingsAnswer(StrictModel):
    """Findings in a file or folder; ``total`` counts those beyond ``findings`` too."""

    files: int
    total: int
    by_code: dict[str, int]
    findings: list[FindingAnswer]


class StepAnswer(StrictModel):
    """A build or a test of a project, and the end of its log where it did not pass."""

    command: str
    outcome: str
    seconds: float
    log: str


class ProjectAnswer(StrictModel):
    """A project's port: steps by target, and where patch and reports are."""

    passed: bool
    changed_files: int
    repairs: list[str]
    build: dict[str, StepAnswer]
    test: dict[str, StepAnswer]
    compared: dict[str, str]
    """What its programs print beside what the original's print, with the reference or why there is
    none."""
    differences: dict[str, list[str]]
    reports: str
