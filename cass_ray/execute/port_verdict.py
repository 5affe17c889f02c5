"""The verdict on a port, the same whoever asks: command line, API, benchmark, rewards, rows."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from cass_ray.checked_entry import unsealed
from cass_ray.corpus.reading.source_files import Sources
from cass_ray.execute.backends.base import Backend, BuiltProgram, Inputs, RunMode
from cass_ray.execute.evidence.exploits import ExploitFinding, source_findings
from cass_ray.execute.evidence.fences import lost_fences
from cass_ray.execute.grades import Grade
from cass_ray.execute.originals import measure_original
from cass_ray.execute.references import ReferenceRuns
from cass_ray.execute.sizes import with_size
from cass_ray.execute.verification import PortVerification
from cass_ray.execute.verify import Policy, verify


@dataclass(frozen=True)
class JudgedPort:
    """A built port and what is known of it beside its executable.

    ``original`` and ``port`` are the texts that :func:`source_findings` compares, by path; where
    there are none they are empty. ``another`` is that of :func:`cass_ray.execute.verify.verify`.
    ``findings`` are of what the port was built from (its assembly).
    """

    built: BuiltProgram
    original: Mapping[str, bytes]
    port: Mapping[str, bytes]
    another: Callable[[], BuiltProgram | None]
    findings: Sequence[ExploitFinding] = ()


def measured_original(
    original: Sources,
    backends: Sequence[Backend],
    inputs: Sequence[Inputs],
    mode: RunMode | None = None,
) -> ReferenceRuns:
    """Do as :func:`~cass_ray.execute.originals.measure_original` does; run on sizes, too, where
    the only input has no arguments and the program takes one (:mod:`cass_ray.execute.sizes`)."""
    original_runs = measure_original(original, backends, inputs, mode)
    return (
        with_size(original, original_runs, backends, inputs[0])
        if len(inputs) == 1
        else original_runs
    )


def judge_port(
    subject: JudgedPort, reference: ReferenceRuns | None, backend: Backend, policy: Policy
) -> PortVerification:
    """Judge ``subject`` beside the runs of ``reference``.

    A size that we made up counts only where another port of the original prints what it prints.
    """
    findings = [*source_findings(subject.port, subject.original), *subject.findings]

    @functools.cache
    def another() -> BuiltProgram | None:
        program = subject.another()
        return None if program is None or _same_program(program, subject.built) else program

    def judged(runs: ReferenceRuns | None) -> PortVerification:
        verdict = verify(runs, subject.built, backend, policy, findings=findings, another=another)
        return _without_fence(subject, verdict)

    result = judged(reference)
    if reference is None or not _on_size_alone(result):
        return result
    if not _disputes(another(), reference, backend, policy):
        return result
    asked = tuple(run for run in reference.runs if not run.made_up)
    return judged(replace(reference, runs=asked))


def _without_fence(subject: JudgedPort, result: PortVerification) -> PortVerification:
    """``result``, which is not ``verified`` where the port lacks a fence of the original."""
    weakness = lost_fences(subject.original, subject.port)
    if not weakness or result.grade is not Grade.VERIFIED:
        return result
    return result.model_copy(update={"grade": Grade.AGREES, "passed": False, "weakness": weakness})


def _same_program(one: BuiltProgram, other: BuiltProgram) -> bool:
    """Whether both are the same bytes: comments and the like make no other port."""
    return unsealed(one.executable.read_bytes()) == unsealed(other.executable.read_bytes())


def _on_size_alone(result: PortVerification) -> bool:
    """Whether a port differs from its original only on sizes that we made up."""
    made_up = [run for run in result.runs if run.made_up]
    right = bool(made_up) and all(run.numeric for run in result.runs if not run.made_up)
    return right and (not all(run.numeric for run in made_up) or bool(result.findings))


def _disputes(
    port: BuiltProgram | None, reference: ReferenceRuns, backend: Backend, policy: Policy
) -> bool:
    """Whether another port of the original, too, does something else on one of the sizes."""
    if port is None:
        return False
    alone = replace(reference, runs=tuple(run for run in reference.runs if run.made_up))
    policy = replace(policy, counterfactual=False, counters=False)
    return verify(alone, port, backend, policy).grade is Grade.DIFFERS
