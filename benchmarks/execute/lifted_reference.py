"""Is what an original prints lifted as good a reference as what it prints on an Nvidia GPU?

``python -m benchmarks.execute.lifted_reference shipped|bench|faults [--only PART] [--rows FILE]
[--minutes NUMBER]``

``shipped`` and ``bench``: every shipped program (every task of CASS-Bench) that has stored outputs
of a GPU runs lifted on the same inputs. Then its port (the rules' translation; of a task also the
reference port) is judged against both. A *wrong agreement* is a port that passes against the lifted
original and fails against the GPU; a *wrong alarm* is the opposite.

``faults``: faults are planted in the ports of the shipped programs (one of each kind a program) and
judged against the lifted originals: how many are caught.

FILE holds a JSON object a line; programs that are in it are not measured again, so that a run that
was stopped, or stopped itself after ``--minutes``, goes on. The order is a random one, always the
same: a part of it is a sample.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ConfigDict

from benchmarks.execute.prepare_references import shipped_sources
from cass_ray.bench.references import stored_reference
from cass_ray.bench.task import loadable_tasks
from cass_ray.corpus.reading.source_files import Sources
from cass_ray.execute.backends.base import RunMode
from cass_ray.execute.backends.lifted import LiftedBackend
from cass_ray.execute.backends.rdna3 import Rdna3Backend
from cass_ray.execute.comparison.compare import Tolerance, compare
from cass_ray.execute.comparison.tolerances import tolerance_for
from cass_ray.execute.originals import attempt
from cass_ray.execute.references import ReferenceRuns, stored_references
from cass_ray.execute.selftest.selftest import (
    Fate,
    MutantResult,
    SelfTest,
    Subject,
    run_selftest,
)
from cass_ray.execute.shipped import shipped_subjects
from cass_ray.execute.verify import Policy, verify
from cass_ray.toolchain.sandbox.process import Starved
from cass_ray.toolchain.unit import CompileFailure
from cass_ray.translate.engines.registry import make_translator
from cass_ray.translate.project.program import translated
from cass_ray.translate.protocol import TranslatorError


@dataclass(frozen=True)
class Case:
    """A CUDA program, its GPU outputs, and ports of it by name."""

    name: str
    original: Sources
    gpu: ReferenceRuns
    policy: Policy
    ports: dict[str, Sources]


class Row(BaseModel):
    """What came of one program. ``lifted`` says how the lifted original agrees with the GPU: exact,
    numeric, differs, or ``none`` with the reason; ``ports`` is (against GPU, against lifted)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    runs: int
    lifted: str
    why: str
    ports: dict[str, tuple[bool, bool]]
    seconds: float


class Planted(BaseModel):
    """What came of the faults that were planted in one port; ``alarm``: why the port as it is did
    not pass; ``none``: why there is no lifted original."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    alarm: str
    none: str
    mutants: list[MutantResult]
    seconds: float


Kept = TypeVar("Kept", Row, Planted)


def shipped_cases() -> Iterator[Case]:
    references, translator = stored_references(), make_translator()
    with tempfile.TemporaryDirectory(prefix="cass-lifted-") as name:
        programs = shipped_sources(Path(name))
    for path, (identity, sources) in programs.items():
        gpu = references.get(identity)
        if gpu is None or path.startswith("repositories/rejects"):
            continue
        policy = Policy(tolerance=_tolerance(sources), check=False)
        yield Case(path, sources, gpu, policy, {"rules": translated(sources, translator)})


def bench_cases() -> Iterator[Case]:
    translator = make_translator()
    for task in loadable_tasks()[0]:
        gpu = stored_reference(task)
        if gpu is None:
            continue
        ports = {"reference port": task.hip}
        try:
            ports["rules"] = translated(task.cuda, translator)
        except TranslatorError:
            pass
        policy = Policy(
            tolerance=task.tolerance,
            bounds=task.spec.limits.bounds(),
            order_free=task.spec.comparison.order_free,
        )
        yield Case(task.name, task.cuda, gpu, policy, ports)


def _tolerance(sources: Sources) -> Tolerance:
    return tolerance_for(text.decode("utf-8", "replace") for text in sources.files.values())


def measured(case: Case, lifted: LiftedBackend, engine: Rdna3Backend) -> Row:
    started = time.monotonic()
    policy = case.policy
    usable = [run for run in case.gpu.runs if not run.problem]
    mode = RunMode(policy.bounds)

    def row(state: str, why: str, ports: dict[str, tuple[bool, bool]]) -> Row:
        seconds = time.monotonic() - started
        return Row(
            name=case.name, runs=len(usable), lifted=state, why=why, ports=ports, seconds=seconds
        )

    made = attempt(case.original, lifted, [run.inputs for run in usable], mode)
    if isinstance(made, str):
        return row("none", made, {})
    compared = [
        compare(gpu.outputs, ours.outputs[0], policy.tolerance, order_free=policy.order_free)
        for gpu, ours in zip(usable, made.runs, strict=True)
    ]
    state = "differs"
    if all(each.numeric for each in compared):
        state = "exact" if all(each.exact for each in compared) else "numeric"
    why = next((each.difference for each in compared if not each.numeric), "")
    ports = {}
    for name, port in case.ports.items():
        try:
            built = engine.build(port)
        except CompileFailure:
            continue
        against = [verify(each, built, engine, policy).passed for each in (case.gpu, made)]
        ports[name] = (against[0], against[1])
    return row(state, why, ports)


def planted(subject: Subject, lifted: LiftedBackend, engine: Rdna3Backend) -> Planted:
    started = time.monotonic()
    alarm, none = "", ""
    mutants: list[MutantResult] = []
    try:
        [(_, unchanged, mutants)] = run_selftest([subject], engine, originals=lifted)
        alarm = "" if unchanged.passed else unchanged.reason
    except CompileFailure as failure:
        none = failure.diagnostic[:300]
    seconds = time.monotonic() - started
    return Planted(name=subject.name, alarm=alarm, none=none, mutants=mutants, seconds=seconds)


def summary(rows: Sequence[Row]) -> dict[str, object]:
    pairs = [pair for row in rows for pair in row.ports.values()]
    return {
        "programs": len(rows),
        "runs": sum(row.runs for row in rows),
        "lifted against the GPU": dict(Counter(row.lifted for row in rows)),
        "ports judged": len(pairs),
        "both agree": pairs.count((True, True)),
        "both differ": pairs.count((False, False)),
        "wrong agreements": pairs.count((False, True)),
        "wrong alarms": pairs.count((True, False)),
        "seconds": round(sum(row.seconds for row in rows)),
    }


def faults_summary(rows: Sequence[Planted]) -> dict[str, object]:
    mutants = [mutant for row in rows for mutant in row.mutants]
    outcome = SelfTest(programs=len(rows), false_alarms={}, mutants=mutants)
    return {
        "programs": len(rows),
        "without a lifted original": sum(bool(row.none) for row in rows),
        "false alarms": {row.name: row.alarm for row in rows if row.alarm},
        "mutants": dict(Counter(mutant.fate.value for mutant in mutants)),
        "caught": round(outcome.kill_rate(), 4),
        "survived": [
            f"{mutant.program}:{mutant.line}: {mutant.fault.value}: {mutant.change}"
            for mutant in mutants
            if mutant.fate is Fate.SURVIVED
        ],
        "seconds": round(sum(row.seconds for row in rows)),
    }


def kept_rows(
    names: Iterable[str],
    measure: Callable[[str], Kept],
    kind: type[Kept],
    file: Path | None,
    until: float = math.inf,
) -> list[Kept]:
    """A row for each of ``names``: those of ``file``, and the others measured and appended.

    None is begun after ``until``, a time of ``time.monotonic``. What the machine had no processor
    for is left for the next time.
    """
    rows: dict[str, Kept] = {}
    if file is not None and file.exists():
        found = (kind.model_validate_json(line) for line in file.read_text().splitlines())
        rows = {row.name: row for row in found}
    for name in names:
        if name in rows or time.monotonic() > until:
            continue
        try:
            row = rows[name] = measure(name)
        except Starved as error:
            print(f"starved {name}: {error}", flush=True)
            continue
        print(row.model_dump_json()[:300], flush=True)
        if file is not None:
            with file.open("a") as handle:
                handle.write(row.model_dump_json() + "\n")
    return list(rows.values())


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("what", choices=("shipped", "bench", "faults"))
    parser.add_argument("--only", default="", help="programs whose name contains this")
    parser.add_argument("--rows", type=Path, help="file for the rows; what is in it is kept")
    parser.add_argument("--minutes", type=float, default=math.inf, help="begin none after them")
    given = parser.parse_args()
    until = time.monotonic() + 60 * given.minutes
    lifted, engine = LiftedBackend(threads=1), Rdna3Backend(threads=1)
    if problem := lifted.problem():
        raise SystemExit(problem)

    def drawn(names: Iterable[str]) -> list[str]:
        chosen = sorted(name for name in names if given.only in name)
        random.Random(0).shuffle(chosen)
        return chosen

    if given.what == "faults":
        subjects = {each.name: each for each in shipped_subjects(make_translator())}
        names = drawn(subjects)
        faults = kept_rows(
            names, lambda name: planted(subjects[name], lifted, engine), Planted, given.rows, until
        )
        found = faults_summary(faults)
    else:
        made = bench_cases() if given.what == "bench" else shipped_cases()
        cases = {case.name: case for case in made}
        names = drawn(cases)
        rows = kept_rows(
            names, lambda name: measured(cases[name], lifted, engine), Row, given.rows, until
        )
        found = summary(rows)
    print(json.dumps({"of": len(names), **found}, indent=1))


if __name__ == "__main__":
    main()
