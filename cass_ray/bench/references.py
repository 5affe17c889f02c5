"""What the CUDA side of each task prints: stored from a real Nvidia GPU, with its provenance.

``benchmarks/execute/prepare_references.py --bench`` and ``collect_references.py`` make the files.
A stored run belongs to the very text of the CUDA program; a changed program has none until it is
collected again. Such a task can still be judged against its reference port, which is said in the
result (:class:`Truth`).
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

from cass_ray.bench.programs import Compilers
from cass_ray.bench.task import BenchTask
from cass_ray.cache import digest
from cass_ray.execute.backends.base import Inputs, RunMode
from cass_ray.execute.checks_version import checks_version
from cass_ray.execute.originals import with_changes
from cass_ray.execute.references import (
    ReferenceRun,
    ReferenceRuns,
    measure,
    stored_ports,
    stored_references,
)
from cass_ray.execute.references_json import from_json, to_json

STORED_FOLDER = Path(__file__).parent / "references"


class Truth(StrEnum):
    """What a candidate's output was compared with."""

    NVIDIA = "nvidia"
    """Outputs of the CUDA program on an Nvidia GPU."""
    PORT = "reference-port"
    """Outputs of the reference port where candidates run: it says nothing about the CUDA side."""
    DATASET = "dataset"
    """Outputs that came with the task."""


@dataclass(frozen=True)
class GroundTruth:
    """The reference of one task; ``hidden`` are the argument lists that no system knows."""

    reference: ReferenceRuns
    truth: Truth
    hidden: frozenset[tuple[str, ...]]


def stored_reference(task: BenchTask, folder: Path = STORED_FOLDER) -> ReferenceRuns | None:
    """The CUDA program's runs on all inputs of ``task``; None unless all are stored."""
    reference = _stored(folder).get(task.cuda.digest)
    if reference is None:
        return None
    runs = _in_order(reference.runs, [*task.visible, *task.hidden])
    return None if runs is None else replace(reference, runs=tuple(runs))


def stored_port(task: BenchTask, folder: Path = STORED_FOLDER) -> ReferenceRuns | None:
    """The reference port's runs on an Nvidia GPU, in the order of the inputs; None unless all are
    stored for its present text."""
    reference = stored_ports(folder).get(task.hip.digest)
    if reference is None:
        return None
    runs = _in_order(reference.runs, [*task.visible, *task.hidden])
    return None if runs is None else replace(reference, runs=tuple(runs))


def ground_truth(
    task: BenchTask, compilers: Compilers, folder: Path = STORED_FOLDER
) -> GroundTruth:
    """Stored, else from the task's data set, else the reference port's own runs.

    Raises :class:`~cass_ray.toolchain.unit.CompileFailure` where the port does not build.
    """
    hidden = frozenset(inputs.arguments for inputs in task.hidden)
    if (stored := stored_reference(task, folder)) is not None:
        changed = with_changes(stored, _runs_of_port(task, compilers))
        return GroundTruth(changed, Truth.NVIDIA, hidden)
    if task.expected:
        runs = tuple(
            ReferenceRun(inputs, (output,), 0, None)
            for inputs, output in zip(task.visible, task.expected, strict=True)
        )
        reference = ReferenceRuns(task.origin, "outputs in the data set", runs, kind="given")
        return GroundTruth(reference, Truth.DATASET, frozenset())
    return GroundTruth(_runs_of_port(task, compilers), Truth.PORT, hidden)


def _runs_of_port(task: BenchTask, compilers: Compilers) -> ReferenceRuns:
    """Cached by content, but for runs that came to nothing."""
    backend, cache = compilers.backend, compilers.cache
    key = digest(["bench port runs", task.id, backend.identity(), checks_version()])
    if cache is not None and (stored := cache.get(key)) is not None:
        return from_json(stored.decode())
    built = backend.build(compilers.amd(task.hip))
    mode = RunMode(bounds=task.spec.limits.bounds())
    result = measure(backend, built, [*task.visible, *task.hidden], mode)
    if cache is not None and not any(run.problem for run in result.runs):
        cache.put(key, to_json(result).encode())
    return result


@functools.cache
def _stored(folder: Path) -> Mapping[str, ReferenceRuns]:
    return stored_references(folder)


def _in_order(runs: Sequence[ReferenceRun], inputs: Sequence[Inputs]) -> list[ReferenceRun] | None:
    by_arguments = {run.inputs.arguments: run for run in runs}
    if any(each.arguments not in by_arguments for each in inputs):
        return None
    return [by_arguments[each.arguments] for each in inputs]
