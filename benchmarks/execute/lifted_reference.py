"""Is what an original prints lifted as good a reference as what it prints on an Nvidia GPU?

``python -m benchmarks.execute.lifted_reference [--bench] [--only PART] [--json FILE]``: every
shipped program (with ``--bench`` every task of CASS-Bench) that has stored outputs of a GPU runs
lifted on the same inputs. Then its port (the rules' translation; of a task also the reference port)
is judged against both. A *wrong agreement* is a port that passes against the lifted original and
fails against the GPU; a *wrong alarm* is the opposite.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

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
from cass_ray.execute.verify import Policy, verify
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


@dataclass(frozen=True)
class Row:
    """What came of one case. ``lifted`` says how the lifted original agrees with the GPU: exact,
    numeric, differs, or ``none`` with the reason; ``ports`` is (against GPU, against lifted)."""

    name: str
    runs: int
    lifted: str
    why: str
    ports: dict[str, tuple[bool, bool]]
    seconds: float


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
    made = attempt(case.original, lifted, [run.inputs for run in usable], mode)
    if isinstance(made, str):
        return Row(case.name, len(usable), "none", made, {}, time.monotonic() - started)
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
    return Row(case.name, len(usable), state, why, ports, time.monotonic() - started)


def summary(rows: list[Row]) -> dict[str, object]:
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


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--bench", action="store_true", help="CASS-Bench, not the shipped programs")
    parser.add_argument("--only", default="", help="programs whose name contains this")
    parser.add_argument("--json", type=Path, help="file for the rows")
    given = parser.parse_args()
    lifted, engine = LiftedBackend(), Rdna3Backend()
    if problem := lifted.problem():
        raise SystemExit(problem)
    rows: list[Row] = []
    for case in bench_cases() if given.bench else shipped_cases():
        if given.only not in case.name:
            continue
        rows.append(measured(case, lifted, engine))
        row = rows[-1]
        print(f"{row.lifted:8} {row.name:50} {row.ports} {row.why[:160]!r}", flush=True)
        if given.json:
            result = {"summary": summary(rows), "rows": [asdict(each) for each in rows]}
            given.json.write_text(json.dumps(result, indent=1) + "\n")
    print(json.dumps(summary(rows), indent=1))


if __name__ == "__main__":
    main()
