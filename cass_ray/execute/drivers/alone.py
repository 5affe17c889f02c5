"""The kernels of a program without inputs, launched beside it on generated arguments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from cass_ray.corpus.reading.source_files import Sources
from cass_ray.execute.backends.base import Backend
from cass_ray.execute.drivers.generated import (
    GeneratedRuns,
    drivable,
    generated_runs,
    undisputed,
)
from cass_ray.execute.grades import Grade
from cass_ray.execute.references import ReferenceRuns
from cass_ray.execute.verification import PortVerification, RunRecord, combined
from cass_ray.execute.verify import Policy, verify
from cass_ray.toolchain.unit import CompileFailure

_FEW_BYTES = 8


def tells_of_itself_alone(result: PortVerification) -> bool:
    """Whether a program that is right brings back and prints a count or a flag at most.

    It may check its results on the device: a port whose check is as wrong as its kernel says the
    same, whatever is changed.
    """
    asked = [run for run in result.runs if not run.made_up]
    few = all(run.same_data <= _FEW_BYTES and not run.results for run in asked)
    return result.passed and few


def kernels_alone(
    original: Sources,
    port: Sources,
    measurement: ReferenceRuns,
    backends: Sequence[Backend],
) -> GeneratedRuns | str:
    """Launches of the kernels that both have, where the original ran; else why there are none.

    ``measurement`` has its runs on one of ``backends``.
    """
    [backend] = [each for each in backends if each.name == measurement.backend]
    if backend.real_gpu or not measurement.whole:
        return "none: only the CPU backend says which launches mean something"
    if not (kernels := drivable(original, port)):
        return "none: no kernel of both has parameters that can be made up"
    try:
        runs = generated_runs(original, kernels, measurement.runs[0].launches or (), backend)
    except CompileFailure as failure:
        return _not_built(failure)
    return runs if runs.reference.runs else "none: the original takes no generated arguments"


def _disputed(runs: GeneratedRuns) -> str:
    if not runs.disputed:
        return ""
    names = ", ".join(runs.disputed)
    return f"; left out, because the rules' translation does something else there: {names}"


def with_kernels_alone(
    result: PortVerification,
    original: Sources,
    port: Sources,
    generated: GeneratedRuns | str,
    engine: Backend,
    policy: Policy,
) -> PortVerification:
    """``result``, and where the program was right its kernels on generated arguments.

    Where they differ the rules' translation of ``original`` is asked, which launches count.
    """
    if isinstance(generated, str) or not (result.agrees or result.grade is Grade.CANNOT_TELL):
        return _told(result, generated if isinstance(generated, str) else "")
    built = engine.build(generated.driven(port))
    policy = replace(policy, counterfactual=False, counters=False)
    alone = verify(generated.reference, built, engine, policy)
    if alone.grade is Grade.DIFFERS:
        try:
            generated = undisputed(generated, original, engine)
        except CompileFailure as failure:
            return _told(result, _not_built(failure))
        if not generated.reference.runs:
            said = f"none: the original takes no generated arguments{_disputed(generated)}"
            return _told(result, said)
        if generated.disputed:
            alone = verify(generated.reference, built, engine, policy)
    launched = {generated.kernel(run.inputs.arguments) for run in generated.reference.runs}
    said = f"{len(generated.reference.runs)} launches of {', '.join(sorted(launched))}"
    said += _disputed(generated)
    return combined(_told(result, said, alone.runs), alone, generated.kernel)


def _told(result: PortVerification, said: str, alone: Sequence[RunRecord] = ()) -> PortVerification:
    """Add what is ``said`` of kernels alone to ``result``.

    It is no more than agreement where a program that brings back a flag launches a kernel that no
    run ``alone`` launches. Symbols are compared: a second kernel of the same name is another one.
    """
    result = result.model_copy(update={"generated": said})
    if result.grade is not Grade.VERIFIED or not tells_of_itself_alone(result):
        return result
    missing = sorted(_launched(result.runs) - _launched(alone))
    if not missing:
        return result
    weakness = (
        f"it brings back {_FEW_BYTES} bytes at most, which its own check may decide, and"
        f" {missing[0]} could not be launched alone with the original's parameters"
    )
    return result.model_copy(update={"grade": Grade.AGREES, "passed": False, "weakness": weakness})


def _launched(runs: Sequence[RunRecord]) -> set[str]:
    return {line.partition(" <<<")[0] for run in runs for line in run.launches}


def _not_built(failure: CompileFailure) -> str:
    return f"none: {failure.tool}: {failure.diagnostic.strip().partition(chr(10))[0]}"
