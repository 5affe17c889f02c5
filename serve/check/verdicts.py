"""What reports add up to, and how that is said."""

from __future__ import annotations

import re

from cass_ray.api.schema import (
    Check,
    CompileReport,
    Diagnostic,
    ExecutionReport,
    Verdict,
    Verification,
)

_DIAGNOSTIC = re.compile(
    r"^(?P<file>[^:\n]+):(?P<line>\d+):(?P<column>\d+): "
    r"(?:fatal )?(?P<severity>error|warning|note): (?P<message>.*)$",
    re.MULTILINE,
)
_EDG = re.compile(
    r"^(?P<file>[^(\n]+)\((?P<line>\d+)\): (?:catastrophic )?(?P<severity>error|warning)"
    r"(?: #[\w-]+)?: (?P<message>.*)$",
    re.MULTILINE,
)


def diagnostics_of(output: str, filename: str) -> list[Diagnostic]:
    """Messages about ``filename`` in the output of clang, GCC or nvcc's front end."""
    found = []
    for pattern in (_DIAGNOSTIC, _EDG):
        for match in pattern.finditer(output):
            if match["file"].rpartition("/")[2] != filename:
                continue
            fields = match.groupdict()
            found.append(
                Diagnostic.model_validate(
                    {
                        "line": int(match["line"]),
                        "column": int(fields.get("column") or 1),
                        "severity": match["severity"],
                        "message": match["message"],
                    }
                )
            )
    return found


def verification_of(
    compiled: CompileReport | None, executed: ExecutionReport | None
) -> Verification:
    """The level that both reports prove."""
    if compiled is None:
        return Verification.UNCHECKED
    if not compiled.passed:
        return Verification.FAILED
    if executed is None or not executed.runs:
        return Verification.COMPILED
    if not executed.ran or executed.matched is False or executed.findings:
        return Verification.FAILED
    return Verification.MATCHED if executed.matched else Verification.EXECUTED


def verdict_of(compiled: CompileReport | None, executed: ExecutionReport | None) -> Verdict:
    """Both reports, what they prove, and a label that says so in words."""
    verification = verification_of(compiled, executed)
    return Verdict(
        verification=verification,
        label=_label(verification, compiled, executed),
        compile=compiled,
        execution=executed,
    )


def enough(verification: Verification, check: Check) -> bool:
    """Whether a translation passed what was asked. A program that cannot be run passes by
    compiling: nothing speaks against it, and the verdict says how far it was proved."""
    return check is Check.NONE or verification not in (
        Verification.FAILED,
        Verification.UNCHECKED,
    )


def _label(
    verification: Verification, compiled: CompileReport | None, executed: ExecutionReport | None
) -> str:
    match verification:
        case Verification.UNCHECKED:
            return "not checked"
        case Verification.FAILED:
            return f"best attempt, not verified: {_failure(compiled, executed)}"
        case Verification.COMPILED:
            why = f" ({executed.problem})" if executed is not None and executed.problem else ""
            return f"compiled, not executed{why}"
        case Verification.EXECUTED:
            return "compiled and ran to its end; there is no output to compare with"
        case Verification.MATCHED:
            assert executed is not None
            if executed.reference_kind == "given":
                return "compiled, ran, and printed what the request expects"
            if executed.reference_kind.startswith("lifted"):
                return (
                    "compiled, ran, and printed what the original's machine code prints "
                    f"({executed.reference_kind})"
                )
            if executed.independent:
                return "compiled, ran, and printed what the original prints"
            return "compiled, ran, and printed what the rules' translation prints"


def _failure(compiled: CompileReport | None, executed: ExecutionReport | None) -> str:
    if compiled is not None and not compiled.passed:
        return "it does not compile"
    assert executed is not None
    if not executed.ran:
        ended = next((run for run in executed.runs if run.verdict != "ok"), None)
        return f"it ended with {ended.verdict}" if ended else "it does not run to its end"
    if executed.matched is False:
        return "it prints something else than the original"
    return executed.findings[0]
