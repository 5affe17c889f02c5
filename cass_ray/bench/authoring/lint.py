"""Checks that a task is fit for the benchmark: text, compilation on both sides, the port's runs.

Every check gives problems (the task is not admitted) or remarks (worth a look).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from cass_ray.architectures import DEFAULT_NVIDIA_ARCHITECTURE
from cass_ray.assembly import sass
from cass_ray.assembly.align import align_kernels
from cass_ray.bench.features import CATEGORIES
from cass_ray.bench.programs import Compilers
from cass_ray.bench.references import STORED_FOLDER, stored_port, stored_reference
from cass_ray.bench.task import CANARY, TASK_FILE, BenchTask, Difficulty
from cass_ray.dataset.row import clip_diagnostic
from cass_ray.execute.backends.base import Assembly, RunMode, unit_on_disk
from cass_ray.execute.backends.rdna3 import HipBackend
from cass_ray.execute.comparison.compare import compare
from cass_ray.execute.programs import has_main
from cass_ray.execute.references import ReferenceRuns, measure
from cass_ray.toolchain.locate import find_nvidia
from cass_ray.toolchain.nvidia.toolchain import NvidiaToolchain
from cass_ray.toolchain.unit import CompileFailure

PER_CATEGORY = 6
HARD_SHARE = 1 / 3
LARGE_SASS_LINES = 750
SASS_ARCHITECTURE = DEFAULT_NVIDIA_ARCHITECTURE
_SHORTEST_OUTPUT = 20
_SOURCE_SUFFIXES = frozenset({".cu", ".hip", ".cl"})


@dataclass
class LintFindings:
    """About one task, or about all (``task`` is empty)."""

    task: str
    problems: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    sass_lines: int | None = None
    seconds: float = 0.0
    """The port's longest run."""

    @property
    def ok(self) -> bool:
        """Whether nothing keeps the task out."""
        return not self.problems


@dataclass(frozen=True)
class Linter:
    """Checks one task at a time. ``nvidia`` None skips the CUDA compiler, ``backend`` the port."""

    nvidia: NvidiaToolchain | None = None
    backend: HipBackend | None = None
    references: Path = STORED_FOLDER

    def check(self, task: BenchTask) -> LintFindings:
        """All checks; later ones are left out when an earlier one makes them pointless."""
        findings = LintFindings(task.name)
        findings.problems += _text_problems(task)
        listing = self._cuda(task, findings)
        device = self._hip(task, findings)
        if listing and device:
            alignment = align_kernels(listing, device)
            if alignment.kernels_differ:
                only = [*alignment.only_nvidia, *alignment.only_amd]
                findings.problems.append(f"kernels on one side only: {', '.join(only)}")
        return findings

    def _cuda(self, task: BenchTask, findings: LintFindings) -> str:
        """The SASS; empty where there is none."""
        if self.nvidia is None:
            return ""
        with unit_on_disk(task.cuda) as unit:
            try:
                binary = self.nvidia.compile(unit, [SASS_ARCHITECTURE])
            except CompileFailure as failure:
                findings.problems.append(
                    f"CUDA: {failure.tool}: {clip_diagnostic(failure.diagnostic)}"
                )
                return ""
        (listing,) = self.nvidia.disassemble([binary.cubins[SASS_ARCHITECTURE]])
        findings.sass_lines = len(sass.normalize(listing).splitlines())
        large = "large_device_code" in task.spec.features
        if large != (findings.sass_lines > LARGE_SASS_LINES):
            word = "does not say" if not large else "says"
            findings.remarks.append(
                f"{findings.sass_lines} SASS lines; it {word} large_device_code"
            )
        return listing

    def _hip(self, task: BenchTask, findings: LintFindings) -> str:
        """The RDNA3 assembly of the port, whose runs are checked."""
        if self.backend is None:
            return ""
        try:
            texts = self.backend.compile(task.hip)
            built = self.backend.build(texts)
        except CompileFailure as failure:
            findings.problems.append(f"HIP: {failure.tool}: {clip_diagnostic(failure.diagnostic)}")
            return ""
        bounds = task.spec.limits.bounds()
        inputs = [*task.visible, *task.hidden]
        measurement = measure(self.backend, built, inputs, RunMode(bounds=bounds))
        findings.seconds = max(run.seconds for run in measurement.runs)
        findings.problems += _run_problems(measurement)
        stored = stored_reference(task, self.references)
        if stored is None:
            findings.remarks.append("no outputs of an Nvidia GPU stored for this text")
        else:
            findings.problems += _disagreements(task, stored, measurement, "CUDA and HIP")
            port = stored_port(task, self.references)
            if port is None:
                findings.remarks.append("the port's text did not run on an Nvidia GPU yet")
            else:
                findings.problems += _disagreements(task, stored, port, "CUDA and HIP on Nvidia")
        if task.opencl is not None:
            findings.problems += self._opencl(task, texts.host, measurement)
        if findings.seconds > task.spec.limits.seconds / 2:
            findings.remarks.append(
                f"a run takes {findings.seconds:.1f} s of {task.spec.limits.seconds}"
            )
        return texts.device

    def _opencl(self, task: BenchTask, host: str, port: ReferenceRuns) -> Iterator[str]:
        """The OpenCL device code has to print under the port's host what the port prints."""
        assert self.backend is not None
        compilers = Compilers(self.backend, find_nvidia)
        try:
            if self.nvidia is not None:
                compilers.machine_code(task, SASS_ARCHITECTURE)
            built = self.backend.build(Assembly(host, compilers.device(task)))
        except CompileFailure as failure:
            yield f"OpenCL: {failure.tool}: {clip_diagnostic(failure.diagnostic)}"
            return
        mode = RunMode(bounds=task.spec.limits.bounds())
        measurement = measure(self.backend, built, [*task.visible, *task.hidden], mode)
        yield from _disagreements(task, port, measurement, "HIP and OpenCL")


def _text_problems(task: BenchTask) -> Iterator[str]:
    for path, content in task.files.items():
        if PurePosixPath(path).suffix in _SOURCE_SUFFIXES:
            first = content.decode("utf-8", "replace").partition("\n")[0]
            if first.strip() != f"// {CANARY}":
                yield f"{path}: its first line is not `// {CANARY}`"
    opencl = task.opencl.files if task.opencl is not None else {}
    used = {TASK_FILE, *task.cuda.files, *task.hip.files, *opencl}
    for path in sorted(set(task.files) - used):
        yield f"{path}: no program of the task includes it"
    for side, sources in (("CUDA", task.cuda), ("HIP", task.hip)):
        texts = [content.decode("utf-8", "replace") for content in sources.files.values()]
        if not has_main(texts):
            yield f"the {side} program has no main"
    ours = task.cuda.files.get(task.spec.sources[0])
    if ours is not None and ours == task.hip.files.get(task.spec.hip_sources[0]):
        yield "both programs are the same text"


def _run_problems(measurement: ReferenceRuns) -> Iterator[str]:
    outputs: dict[tuple[bytes, ...], tuple[str, ...]] = {}
    for run in measurement.runs:
        arguments = " ".join(run.inputs.arguments) or "no arguments"
        if run.problem:
            yield f"HIP with {arguments}: {run.problem}"
            continue
        if len(set(run.outputs)) > 1:
            yield f"HIP with {arguments}: its output varies from run to run"
        if len(run.outputs[0]) < _SHORTEST_OUTPUT:
            yield f"HIP with {arguments}: prints only {run.outputs[0]!r}"
        if not run.launch_count:
            yield f"HIP with {arguments}: launches no kernel"
        if (same := outputs.get(run.outputs)) is not None:
            yield f"HIP with {arguments}: prints the same as with {' '.join(same) or 'none'}"
        outputs[run.outputs] = run.inputs.arguments


def _disagreements(
    task: BenchTask, stored: ReferenceRuns, measurement: ReferenceRuns, sides: str
) -> Iterator[str]:
    comparison = task.spec.comparison
    for theirs, ours in zip(stored.runs, measurement.runs, strict=True):
        arguments = " ".join(theirs.inputs.arguments) or "no arguments"
        if theirs.problem or ours.problem:
            yield f"with {arguments}, {sides}: {theirs.problem or ours.problem}"
            continue
        if len(set(theirs.outputs)) > 1:
            yield f"CUDA with {arguments}: its output varies from run to run"
        result = compare(
            theirs.outputs, ours.outputs[0], task.tolerance, order_free=comparison.order_free
        )
        agrees = result.exact if comparison.kind == "exact" else result.numeric
        if not agrees:
            difference = result.difference or "not the same bytes"
            yield f"with {arguments} {sides} differ: {difference}"


def check_collection(tasks: Sequence[BenchTask]) -> LintFindings:
    """Counts over all tasks."""
    findings = LintFindings("")
    counts = Counter(task.spec.category for task in tasks)
    for category in CATEGORIES:
        if counts[category] < PER_CATEGORY:
            findings.problems.append(f"{category}: {counts[category]} of {PER_CATEGORY} tasks")
    hard = sum(task.spec.difficulty is Difficulty.HARD for task in tasks)
    if hard < HARD_SHARE * len(tasks):
        findings.problems.append(
            f"{hard} of {len(tasks)} tasks are hard; at least a third should be"
        )
    programs = Counter(task.cuda.digest for task in tasks)
    if programs and max(programs.values()) > 1:
        findings.problems.append("two tasks have the same CUDA program")
    return findings
