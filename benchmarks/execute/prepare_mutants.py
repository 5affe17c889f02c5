"""Faulty versions of the benchmark's CUDA programs, for a GPU host to run.

``python -m benchmarks.execute.prepare_mutants FOLDER`` writes them; ``run_mutants.py`` in that
folder runs them; ``--judge mutants.json`` prints what the inputs of each task tell. Faults are
those of ``cass bench admit``, but for the ones in assembly, planted in the CUDA program in place of
the port.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import shutil
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

from benchmarks.execute import run_mutants
from cass_ray.bench.authoring.admit import LEAST_SHARE
from cass_ray.bench.references import stored_reference
from cass_ray.bench.task import BenchTask, load_tasks
from cass_ray.execute.comparison.compare import compare
from cass_ray.execute.selftest.mutants import Mutant, draw, source_mutants

Json = dict[str, Any]
_DEVICE_FAULTS = frozenset(
    {"operator", "constant", "off_by_one_bound", "warp_size_64", "dropped_barrier", "wrong_shuffle"}
)
"""Planted in kernels only: where the SASS stays the same, so does the program."""


def cuda_mutants(source: str) -> list[Mutant]:
    as_hip = re.sub(r"\bcuda(?=[A-Z])", "hip", source)
    return [
        Mutant(m.fault, re.sub(r"\bhip(?=[A-Z])", "cuda", m.text), m.line, m.change)
        for m in source_mutants(as_hip)
    ]


def prepare(folder: Path, per_fault: int, seed: int) -> None:
    """Write programs, mutants and the script that runs them."""
    planned = []
    for task in load_tasks():
        reference = stored_reference(task)
        if reference is None:
            print(f"{task.name}: no outputs of a GPU stored; left out")
            continue
        for path, content in task.cuda.files.items():
            target = folder / task.name / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
        main = str(task.cuda.main)
        source = task.cuda.files[main].decode()
        chosen = draw(cuda_mutants(source), random.Random(f"{task.name} {seed}"), per_fault)
        planned.append(
            {
                "name": task.name,
                "main": main,
                "arguments": [list(run.inputs.arguments) for run in reference.runs],
                "statuses": [run.status for run in reference.runs],
                "outputs": [sha256(run.outputs[0]).hexdigest() for run in reference.runs],
                "mutants": [
                    {
                        "fault": m.fault.value,
                        "line": m.line,
                        "change": m.change,
                        "text": m.text,
                        "in_device_code": m.fault.value in _DEVICE_FAULTS,
                    }
                    for m in chosen
                ],
            }
        )
    (folder / "mutants.json").write_text(json.dumps(planned))
    shutil.copy(run_mutants.__file__, folder)
    print(f"{sum(len(each['mutants']) for each in planned)} mutants of {len(planned)} tasks")


def judge(path: Path, out: Path) -> None:
    """Outputs within the tolerance of the task are no difference."""
    made = json.loads(path.read_text())
    tasks = {task.name: task for task in load_tasks()}
    rows = []
    for name, found in made["tasks"].items():
        counted = [m for m in found if m["fate"] not in {"not_built", "same_code"}]
        survivors = [m for m in counted if not _told(tasks[name], m)]
        rows.append((name, len(counted) - len(survivors), len(counted), survivors))
    out.write_text("\n".join(_page(made, rows)) + "\n")
    print(out.read_text())


def _told(task: BenchTask, mutant: Json) -> bool:
    if mutant["fate"] == "run":
        return True
    if mutant["fate"] == "survived":
        return False
    reference = stored_reference(task)
    assert reference is not None
    (run,) = [r for r in reference.runs if list(r.inputs.arguments) == mutant["arguments"]]
    settings = task.spec.comparison
    result = compare(
        run.outputs, mutant["stdout"].encode(), task.tolerance, order_free=settings.order_free
    )
    return not (result.exact if settings.kind == "exact" else result.numeric)


def _page(made: Json, rows: list[tuple[str, int, int, list[Json]]]) -> Iterator[str]:
    killed, counted = sum(row[1] for row in rows), sum(row[2] for row in rows)
    admitted = [row for row in rows if row[1] >= LEAST_SHARE * row[2]]
    yield "# Do the inputs of CASS-Bench's tasks tell faulty programs from right ones?"
    yield ""
    yield (
        f"One fault of each kind planted in the CUDA program of each task, run on {made['device']}:"
        f" **{killed} of {counted}** mutants ({100 * killed / counted:.1f}%) print something else, "
        "fail or hang. Mutants that do not compile, or to the same SASS, are none. "
        f"{len(admitted)} of {len(rows)} tasks catch at least {100 * LEAST_SHARE:.0f}% of theirs; "
        "what survived in all tasks:"
    )
    yield ""
    yield "| task | caught | survived |"
    yield "| --- | ---: | --- |"
    for name, caught, all_of_them, survivors in sorted(rows):
        if survivors:
            words = "; ".join(
                f"line {m['line']} {m['fault']}: `{m['change'].replace('|', '¦')[:70]}`"
                for m in survivors
            )
            yield f"| {name} | {caught} of {all_of_them} | {words} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--per-fault", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--judge", type=Path, help="the host's mutants.json")
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/bench_mutants.md"))
    given = parser.parse_args()
    if given.judge:
        judge(given.judge, given.out)
        return
    given.folder.mkdir(parents=True)
    prepare(given.folder, given.per_fault, given.seed)


if __name__ == "__main__":
    main()
