"""What a port of a project came to, as an HTML page and as JSON."""

from __future__ import annotations

import html
from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any

from cass_ray.project.build_system import BuildPlan
from cass_ray.project.checking import Violation
from cass_ray.project.counted_tests import found_no_tests
from cass_ray.project.missing import calls_nvcc, targets_left_out, what_is_missing
from cass_ray.project.reference.comparing import ProjectComparison
from cass_ray.project.repairs import FileRepair
from cass_ray.project.steps import Step, StepOutcome
from cass_ray.translate.diagnostics import diagnostic_of
from cass_ray.translate.project.tree import TreeResult
from cass_ray.translate.protocol import Severity, Translator

STYLE = """\
body { font: 15px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem }
table { border-collapse: collapse; width: 100% } td, th { text-align: left; padding: .3rem .8rem }
tr + tr { border-top: 1px solid #ccc } pre { background: #f4f4f4; padding: 1rem; overflow: auto }
.error, .failed, .differs { color: #a00 } .passed, .exact, .numeric { color: #060 }
"""
_TOLD = 12_000
_MOST_LEFT_OUT = 8


@dataclass(frozen=True)
class TargetResult:
    """Build and tests for one architecture."""

    architecture: str
    build: Step
    test: Step
    comparison: ProjectComparison | None = None
    """With the original's machine code, where that was asked for and the port builds."""
    violations: tuple[Violation, ...] = ()
    """What checking mode finds in the kernels of tests that fail."""

    @property
    def passed(self) -> bool:
        """Whether it builds, its tests, where there are any, pass, and no run of its programs
        prints something other than the original."""
        tested = self.test.passed or not self.test.command
        return self.built and tested and not self.differs

    @property
    def built(self) -> bool:
        """Whether it builds, or in part and its tests pass."""
        return self.build.passed or self.build.outcome is StepOutcome.IN_PART

    @property
    def advice(self) -> tuple[str, ...]:
        """What to install for a step that failed, and what the patch does not hold."""
        failed = next((step for step in (self.build, self.test) if not step.passed), None)
        lines = what_is_missing(failed.log) if failed is not None else ()
        if self.build.outcome is StepOutcome.IN_PART:
            names = ", ".join(targets_left_out(self.build.log)[:_MOST_LEFT_OUT])
            lines += (f"the tests pass, but not all of the project was built: {names}",)
        if self.build.passed and found_no_tests(self.test.log):
            lines += ("the command for tests found no tests: give one that does, by --test",)
        if calls_nvcc(self.build.log) or calls_nvcc(self.test.log):
            lines += (
                "the build calls nvcc, for which it gets hipcc here; ROCm has no nvcc: the place"
                " that names it has to be changed by hand",
            )
        return lines

    @property
    def differs(self) -> bool:
        return self.comparison is not None and self.comparison.differing > 0


@dataclass(frozen=True)
class ProjectResult:
    """All of a port; ``patch`` leads from the project to it, with ``repairs``."""

    name: str
    plan: BuildPlan
    translation: TreeResult
    targets: tuple[TargetResult, ...]
    patch: str
    repairs: tuple[FileRepair, ...] = ()
    tools: str = ""
    """Compiler and headers that built it."""
    shared: bool = False
    """Whether the port builds for both vendors."""
    cuda: Step | None = None
    """Its build by nvcc, where it is for both and the original builds here."""

    @property
    def passed(self) -> bool:
        by_nvcc = self.cuda is None or self.cuda.outcome in {
            StepOutcome.PASSED,
            StepOutcome.SKIPPED,
        }
        return by_nvcc and all(target.passed for target in self.targets)

    @property
    def built(self) -> bool:
        """Whether it builds for each target, as :attr:`TargetResult.built` says."""
        return all(target.built for target in self.targets)

    @property
    def changed_files(self) -> int:
        """How many files the patch changes."""
        return sum(line.startswith("diff --git ") for line in self.patch.splitlines())


def as_json(result: ProjectResult, translator: Translator) -> dict[str, Any]:
    """The report as JSON holds it."""
    counts = result.translation.counts
    return {
        "project": result.name,
        "engine": {"name": translator.name, "version": translator.version},
        "build_system": result.plan.system.value,
        "constructs": {
            "converted": counts.converted,
            "unchanged": counts.unchanged,
            "unsupported": counts.unsupported,
        },
        "targets": [
            {
                "architecture": target.architecture,
                "build": _step(target.build),
                "test": _step(target.test),
                "comparison": target.comparison and target.comparison.model_dump(mode="json"),
                "grade": target.comparison and target.comparison.grade.value,
                "violations": [asdict(item) for item in target.violations],
                "advice": list(target.advice),
            }
            for target in result.targets
        ],
        "cuda": result.cuda and _step(result.cuda),
        "repairs": [{"path": item.path, "fixes": list(item.fixes)} for item in result.repairs],
        "findings": [
            {
                "code": diagnostic_of(item).code,
                "severity": item.severity.value,
                "path": file.path,
                "line": item.line,
                "column": item.column,
                "construct": item.construct,
                "message": item.message,
                "advice": item.advice,
            }
            for file in result.translation.files
            for item in file.findings
        ],
    }


def _step(step: Step) -> dict[str, Any]:
    return {
        "command": step.command,
        "outcome": step.outcome.value,
        "seconds": round(step.seconds, 1),
        "log": step.log,
    }


def page(result: ProjectResult) -> str:
    """The report as one HTML page."""
    title = f"Port of {html.escape(result.name)} to HIP"
    parts = [
        "<!doctype html>",
        f'<html lang="en"><meta charset="utf-8"><title>{title}</title><style>{STYLE}</style>',
        f"<h1>{title}</h1>",
        _targets(result),
        *(_advice(target) for target in result.targets),
        *(_comparison(target) for target in result.targets),
        *(_violations(target) for target in result.targets),
        _repairs(result),
        _kinds(result),
        places(result.translation),
        *(_log(target) for target in result.targets),
        _cuda_log(result),
        "</html>",
    ]
    return "\n".join(parts) + "\n"


def _targets(result: ProjectResult) -> str:
    rows = [
        [
            html.escape(target.architecture),
            *(
                f'<span class="{step.outcome.value}">{step.outcome.value}</span>'
                f" <code>{html.escape(step.command)}</code> {step.seconds:.0f} s"
                for step in (target.build, target.test)
            ),
        ]
        for target in result.targets
    ]
    if result.cuda is not None:
        outcome, command = result.cuda.outcome.value, html.escape(result.cuda.command)
        build = f'<span class="{outcome}">{outcome}</span> <code>{command}</code>'
        rows.append(["CUDA (nvcc)", f"{build} {result.cuda.seconds:.0f} s", ""])
    return f"<h2>Targets</h2>{html_table(['target', 'build', 'tests'], rows)}"


def _advice(target: TargetResult) -> str:
    if not target.advice:
        return ""
    lines = "".join(f"<li>{html.escape(line)}</li>" for line in target.advice)
    return f"<h2>{html.escape(target.architecture)}: what to do</h2><ul>{lines}</ul>"


def _comparison(target: TargetResult) -> str:
    made = target.comparison
    if made is None:
        return ""
    name = html.escape(target.architecture)
    about = [f"<h2>{name}: beside the original</h2><p>{html.escape(made.summary)}"]
    if made.identity:
        about.append(
            f"Reference: {html.escape(made.identity)}. The original's own tests, lifted:"
            f" {html.escape(made.tests)}. Tolerance of floats: {html.escape(made.tolerance)}."
        )
    rows = [
        [
            f"<code>{html.escape(run.command)}</code>",
            f"<code>{html.escape(run.folder)}</code>",
            f'<span class="{run.verdict.value}">{run.verdict.value}</span>',
            html.escape(run.why),
        ]
        for run in made.runs
    ]
    table = html_table(["program", "started in", "compared", ""], rows) if rows else ""
    return "<br>".join(about) + f"</p>{table}"


def _violations(target: TargetResult) -> str:
    if not target.violations:
        return ""
    rows = [
        [f"<code>{html.escape(item.kernel)}</code>", html.escape(item.what), str(item.runs)]
        for item in target.violations
    ]
    head = f"<h2>{html.escape(target.architecture)}: what checking mode finds</h2>"
    return head + html_table(["kernel", "what it does", "runs"], rows)


def _repairs(result: ProjectResult) -> str:
    rows = [[html.escape(item.path), html.escape("; ".join(item.fixes))] for item in result.repairs]
    return (
        f"<h2>Repairs</h2>{html_table(['file', 'what the compiler led to'], rows)}" if rows else ""
    )


def _kinds(result: ProjectResult) -> str:
    number = len(result.translation.files)
    head = f"{result.changed_files} files changed or added, of a project of {number}."
    return f"<h2>Findings</h2><p>{head}</p>{kinds_table(result.translation)}"


def kinds_table(tree: TreeResult) -> str:
    """The findings by kind as HTML, the most frequent first."""
    counted = Counter(diagnostic_of(item) for file in tree.files for item in file.findings)
    rows = [
        [kind.code, html.escape(kind.title), str(number), html.escape(kind.how)]
        for kind, number in counted.most_common()
    ]
    return html_table(["", "kind", "places", "what to do"], rows)


def places(tree: TreeResult) -> str:
    """The findings that need a person as HTML; empty where there are none."""
    rows = [
        [
            f"{html.escape(file.path)}:{item.line}",
            diagnostic_of(item).code,
            f'<span class="{item.severity.value}">{item.severity.value}</span>',
            html.escape(item.message),
            html.escape(item.advice),
        ]
        for file in tree.files
        for item in file.findings
        if item.severity is not Severity.NOTE
    ]
    made = html_table(["place", "", "severity", "message", "advice"], rows)
    return f"<h2>Places that need a person</h2>{made}" if rows else ""


def _log(target: TargetResult) -> str:
    return _failed(target.architecture, target.test if target.built else target.build)


def _cuda_log(result: ProjectResult) -> str:
    return _failed("CUDA", result.cuda) if result.cuda is not None else ""


def _failed(name: str, step: Step) -> str:
    """The errors of a step that did not pass, and what it wrote last."""
    if step.passed or not step.log:
        return ""
    name = html.escape(name)
    told = html.escape(step.told(_TOLD))
    return f"<h2>{name}: {html.escape(step.command)}</h2><pre>{told}</pre>"


def html_table(heads: list[str], rows: list[list[str]]) -> str:
    """``heads`` is text, ``rows`` are HTML."""
    head = "".join(f"<th>{html.escape(item)}</th>" for item in heads)
    body = "".join("<tr>" + "".join(f"<td>{item}</td>" for item in row) + "</tr>" for row in rows)
    return f"<table><tr>{head}</tr>{body}</table>"
