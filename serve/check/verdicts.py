"""What reports add up to, and how that is said."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from cass_ray.api.schema import (
    ORDER,
    Check,
    CompileReport,
    Diagnostic,
    ExecutionReport,
    TargetVerdict,
    Verdict,
    Verification,
)
from cass_ray.architectures import amd_target
from cass_ray.execute.grades import Grade

Reports = tuple[CompileReport | None, ExecutionReport | None]
"""What compiler and runs said of a translation on one target."""
NO_REPORTS: Mapping[str, Reports] = MappingProxyType({})

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
    diagnostics = []
    for pattern in (_DIAGNOSTIC, _EDG):
        for match in pattern.finditer(output):
            if match["file"].rpartition("/")[2] != filename:
                continue
            fields = match.groupdict()
            diagnostics.append(
                Diagnostic.model_validate(
                    {
                        "line": int(match["line"]),
                        "column": int(fields.get("column") or 1),
                        "severity": match["severity"],
                        "message": match["message"],
                    }
                )
            )
    return diagnostics


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
    given = executed.reference_kind == "given"  # the client's own expectation
    told = executed.matched and (given or executed.grade != Grade.CANNOT_TELL)
    return Verification.MATCHED if told else Verification.EXECUTED


def verdict_of(
    compiled: CompileReport | None,
    executed: ExecutionReport | None,
    further: Mapping[str, Reports] = NO_REPORTS,
) -> Verdict:
    """Both reports, what they prove, and a label that says so in words.

    ``further`` has the reports on the request's further targets, by their names.
    """
    verification = verification_of(compiled, executed)
    label = _label(verification, compiled, executed)
    if compiled is None or not further:
        return Verdict(verification=verification, label=label, compile=compiled, execution=executed)
    by_target: dict[str, Reports] = {compiled.architecture: (compiled, executed), **further}
    targets = [_on_target(name, reports) for name, reports in by_target.items()]
    worst = min(targets, key=lambda each: ORDER.index(each.verification))
    return Verdict(
        verification=worst.verification,
        label=_label_of_all(targets),
        compile=compiled,
        execution=executed,
        targets=targets,
        portable=_portable(targets),
    )


def _on_target(name: str, reports: Reports) -> TargetVerdict:
    verification = verification_of(*reports)
    return TargetVerdict(
        architecture=name,
        wavefront=amd_target(name).wave_widths[0],
        verification=verification,
        label=_label(verification, *reports),
        compile=reports[0],
        execution=reports[1],
    )


def _label_of_all(targets: Sequence[TargetVerdict]) -> str:
    """One sentence where all targets agree; else one for each."""
    names = [f"{each.architecture} ({each.wavefront} lanes)" for each in targets]
    labels = [each.label for each in targets]
    if len(set(labels)) == 1:
        return f"{labels[0]}, on {' and '.join(names)}"
    return "; ".join(f"{name}: {label}" for name, label in zip(names, labels, strict=True))


def _portable(targets: Sequence[TargetVerdict]) -> bool | None:
    """Whether both widths were matched; None where one of them was not compared."""
    by_width: dict[int, bool] = {}
    for each in targets:
        if each.execution is not None and each.execution.matched is not None:
            matched = each.verification is Verification.MATCHED
            by_width[each.wavefront] = by_width.get(each.wavefront, True) and matched
    return all(by_width.values()) if len(by_width) > 1 else None


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
            if executed is not None and executed.weakness:
                return f"{Grade.CANNOT_TELL}: compiled and ran; {executed.weakness}"
            return "compiled and ran to its end; there is no output to compare with"
        case Verification.MATCHED:
            assert executed is not None
            grade = f"{executed.grade}: " if executed.grade else ""
            return f"{grade}compiled, ran, and printed what {_matched(executed)}"


def _matched(executed: ExecutionReport) -> str:
    if executed.reference_kind == "given":
        return "the request expects"
    if executed.reference_kind.startswith("lifted"):
        return f"the original's machine code prints ({executed.reference_kind})"
    if executed.independent:
        stored = executed.reference_kind == "stored"
        how = " on an Nvidia GPU (a stored run)" if stored else " on an Nvidia GPU"
        return f"the original prints{how}"
    return "the rules' translation prints"


def _compared_with(executed: ExecutionReport) -> str:
    """Whose output that of the translation was compared with."""
    kind = executed.reference_kind
    if kind.startswith("lifted"):
        return f"the original's machine code ({kind})"
    names = {"given": "the request expects", "translation": "the rules' translation"}
    return names.get(kind, "the original")


def _failure(compiled: CompileReport | None, executed: ExecutionReport | None) -> str:
    if compiled is not None and not compiled.passed:
        return "it does not compile"
    assert executed is not None
    if not executed.ran:
        ended = next((run for run in executed.runs if run.verdict != "ok"), None)
        return f"it ended with {ended.verdict}" if ended else "it does not run to its end"
    if executed.matched is False:
        return f"it prints something else than {_compared_with(executed)}"
    return executed.findings[0]
