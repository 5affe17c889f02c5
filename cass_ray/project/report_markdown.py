"""``report.md``: what a maintainer reads in a pull request that adds the port."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from cass_ray.architectures import wavefronts_of
from cass_ray.project.counted_tests import counted_tests
from cass_ray.project.report import ProjectResult, TargetResult
from cass_ray.project.steps import Step
from cass_ray.translate.diagnostics import diagnostic_of
from cass_ray.translate.protocol import Severity, Translator

_MOST_PLACES = 20


def markdown(result: ProjectResult, translator: Translator) -> str:
    """The report as GitHub's Markdown."""
    parts = [
        f"## {result.name} on AMD GPUs",
        "",
        "No AMD GPU was used. The port was built by clang for each target. Its machine code was "
        "executed by cass-ray's emulator, which runs each instruction as AMD's manuals say.",
        "",
        *_targets(result),
        *_compared(result.targets),
        *_changes(result),
        *_places(result),
        *_faults(result.targets),
        "",
        "### To repeat it",
        "",
        "With cass-ray, in the project's folder before the patch:",
        "",
        "```sh",
        _command(result),
        "```",
        "",
        f"Translated by the engine {translator.name}, built with {result.tools}.",
    ]
    return "\n".join(parts) + "\n"


def _targets(result: ProjectResult) -> Iterator[str]:
    yield "| target | lanes of a wavefront | build | tests |"
    yield "|---|---|---|---|"
    for target in result.targets:
        lanes = ", ".join(str(number) for number in wavefronts_of([target.architecture]))
        cells = (target.architecture, lanes, _step(target.build), _step(target.test, count=True))
        yield f"| {' | '.join(cells)} |"
    if result.cuda is not None:
        yield f"| CUDA, by nvcc, without the switch | 32 | {_step(result.cuda)} | not run again |"


def _step(step: Step, *, count: bool = False) -> str:
    if not step.command:
        return "none known"
    text = step.outcome.value.replace("_", " ")
    counts = ", ".join(str(each) for each in counted_tests(step.log)) if count else ""
    return f"{text}: {counts}" if counts else f"{text}, {step.seconds:.0f} s"


def _compared(targets: tuple[TargetResult, ...]) -> Iterator[str]:
    lines = [
        f"- {target.architecture}: {target.comparison.summary}"
        for target in targets
        if target.comparison is not None
    ]
    if lines:
        yield from ("", "### Beside CUDA's build", "", *lines)


def _changes(result: ProjectResult) -> Iterator[str]:
    lines = result.patch.splitlines()
    added = sum(line.startswith("+") and not line.startswith("+++") for line in lines)
    removed = sum(line.startswith("-") and not line.startswith("---") for line in lines)
    counts = result.translation.counts
    yield from ("", "### What the patch changes", "")
    yield f"- {result.changed_files} files, {added} lines added, {removed} removed"
    yield f"- {counts.converted} uses of CUDA converted, {counts.unsupported} without a translation"
    for repair in result.repairs:
        yield f"- `{repair.path}`, after the compiler's message: {'; '.join(repair.fixes)}"


def _places(result: ProjectResult) -> Iterator[str]:
    places = [
        f"- `{file.path}:{item.line}` {diagnostic_of(item).code}: {item.message}"
        for file in result.translation.files
        for item in file.findings
        if item.severity is not Severity.NOTE
    ]
    if places:
        yield from ("", "### Places that need a person", "", *places[:_MOST_PLACES])
    if len(places) > _MOST_PLACES:
        yield f"- and {len(places) - _MOST_PLACES} more in `report.html`"


def _faults(targets: tuple[TargetResult, ...]) -> Iterator[str]:
    faults = [
        f"- `{item.kernel}` ({target.architecture}): {item.what}"
        for target in targets
        for item in target.violations
    ]
    if faults:
        yield from ("", "### Found on the way", "")
        yield "Checking mode reported these in kernels of tests that fail. CUDA's build has the "
        yield "same source, so they may be worth a look there, too."
        yield from ("", *faults)


def _command(result: ProjectResult) -> str:
    words = ["cass", "project", ".", "--style", "shared" if result.shared else "hip"]
    for target in result.targets:
        words += ["--arch", target.architecture]
    for option, command in (("--build", result.plan.build), ("--test", result.plan.test)):
        words += [option, command] if command else []
    return shlex.join(words)
