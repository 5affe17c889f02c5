"""With what a translation's output is compared: the best source that there is for each input."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cass_ray.api.schema import RunInput
from cass_ray.corpus.parsing.normalize import program_id, source_digest
from cass_ray.execute.backends.base import Backend, BuiltProgram, Inputs, RunMode
from cass_ray.execute.references import ReferenceRun, ReferenceRuns, measure, stored_references

GIVEN = "the output that the request expects"


@dataclass(frozen=True)
class ComparedInputs:
    """Inputs with something to compare with, and those without."""

    reference: ReferenceRuns | None
    independent: bool
    alone: tuple[Inputs, ...]


@dataclass(frozen=True)
class Original:
    """The original program where it can be run, or a stand-in for it."""

    backend: Backend
    built: BuiltProgram
    independent: bool
    described: str = ""


def as_inputs(wanted: RunInput) -> Inputs:
    """A run that a request asks for, as the executor takes it."""
    return Inputs(tuple(wanted.arguments), wanted.stdin.encode())


def stored_runs(source: str) -> ReferenceRuns | None:
    """What an Nvidia GPU printed for this very program, if it is a shipped one."""
    return stored_references().get(program_id(source_digest(source), ()))


def with_references(
    source: str, wanted: Sequence[RunInput], original: Original | None, mode: RunMode
) -> ComparedInputs:
    """A reference run for each input of ``wanted``, in this order of preference: the output that
    the client expects, the original program run now, a stored run of it.
    """
    stored = stored_runs(source)
    if not wanted and stored is not None and (original is None or not original.independent):
        return ComparedInputs(stored, True, ())
    given: list[ReferenceRun] = []
    asked: list[Inputs] = []
    for each in wanted or [RunInput()]:
        if each.expected_stdout is None:
            asked.append(as_inputs(each))
        else:
            given.append(_expected(each))
    if not asked:
        return ComparedInputs(ReferenceRuns("given", GIVEN, tuple(given)), True, ())
    if original is not None:
        made = measure(original.backend, original.built, asked, mode)
        identity = original.described or made.identity
        return ComparedInputs(
            ReferenceRuns(made.backend, identity, (*given, *made.runs)), original.independent, ()
        )
    kept = {run.inputs: run for run in stored.runs} if stored is not None else {}
    found = [kept[inputs] for inputs in asked if inputs in kept]
    alone = tuple(inputs for inputs in asked if inputs not in kept)
    if not found and not given:
        return ComparedInputs(None, False, alone)
    identity = stored.identity if stored is not None and found else GIVEN
    return ComparedInputs(ReferenceRuns("nvidia", identity, (*given, *found)), True, alone)


def _expected(wanted: RunInput) -> ReferenceRun:
    assert wanted.expected_stdout is not None
    return ReferenceRun(as_inputs(wanted), (wanted.expected_stdout.encode(),), 0, None)
