"""Judge stored samples again, from the outputs that they keep, without running anything."""

from __future__ import annotations

from cass_ray.bench.judge import verdicts
from cass_ray.bench.references import Truth, stored_reference
from cass_ray.bench.results import KEPT_OUTPUT, BenchRun, BenchSample
from cass_ray.bench.task import BenchTask
from cass_ray.execute.comparison.compare import compare
from cass_ray.execute.grades import Grade
from cass_ray.execute.references import ReferenceRuns
from cass_ray.toolchain.sandbox.executable import SandboxVerdict


def rescored(sample: BenchSample, task: BenchTask | None) -> BenchSample:
    """``sample`` with its comparisons made anew by today's rules.

    It comes back as it is where ``task`` is another text by now, its output was not compared with a
    stored reference, or an output was too long to keep.
    """
    if task is None or task.id != sample.task_id or sample.judgement.truth is not Truth.NVIDIA:
        return sample
    reference = stored_reference(task)
    if reference is None or any(_cut(run) for run in sample.judgement.runs):
        return sample
    runs = [_again(run, reference, task) for run in sample.judgement.runs]
    clean = not sample.judgement.findings and not sample.judgement.problem
    shown = sample.judgement.grade in (Grade.VERIFIED.value, "")  # old samples have no grade
    update = {"runs": runs, **verdicts(task, runs, clean=clean, shown=shown)}
    return sample.model_copy(update={"judgement": sample.judgement.model_copy(update=update)})


def _cut(run: BenchRun) -> bool:
    return len(run.record.stdout) >= KEPT_OUTPUT


def _again(run: BenchRun, reference: ReferenceRuns, task: BenchTask) -> BenchRun:
    record = run.record
    theirs = next(
        (each for each in reference.runs if list(each.inputs.arguments) == record.arguments), None
    )
    if record.verdict is not SandboxVerdict.OK or theirs is None:
        return run
    result = compare(
        theirs.outputs,
        record.stdout.encode("latin-1"),
        task.tolerance,
        order_free=task.spec.comparison.order_free,
    )
    update = {
        "exact": result.exact,
        "numeric": result.numeric,
        "max_error": result.max_error,
        "mean_error": result.mean_error,
        "difference": result.difference,
    }
    return run.model_copy(update={"record": record.model_copy(update=update)})
