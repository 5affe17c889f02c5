"""Store what the shipped programs print under changes, beside what an Nvidia GPU printed.

``python -m benchmarks.execute.store_changes`` runs the originals' machine code, lifted, and writes
``cass_ray/corpus/shipped/reference/changes/changes.json``. Run it when the rule of
``cass_ray/emulator/device/perturbation.cpp`` or a shipped program changes.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.execute.prepare_references import shipped_sources
from cass_ray.corpus.reading.source_files import Sources
from cass_ray.emulator.perturbation import Where
from cass_ray.execute.backends.base import Backend
from cass_ray.execute.backends.registry import make_backend
from cass_ray.execute.comparison.compare import compare
from cass_ray.execute.originals import attempt
from cass_ray.execute.references import (
    CHANGES_FOLDER,
    STORED_FOLDER,
    ReferenceRun,
    ReferenceRuns,
    stored_references,
)
from cass_ray.execute.stored_changes import (
    CHANGES_FILE,
    StoredChanges,
    changes_to_json,
    without_data,
)

_CHANGES = 3
"""Beside them that of small integers: no other tells half of one from the whole."""
_FURTHER_CHANGES = 1
_KEPT_BYTES = 8 << 10
"""Data of runs that move more are represented by digests."""


def changes_of(
    reference: ReferenceRuns, original: Sources, backend: Backend
) -> list[dict[str, Any]]:
    """One object for each input on which the lifted original prints what the GPU printed."""
    inputs = [run.inputs for run in reference.runs if not run.problem]
    made = attempt(original, backend, inputs)
    if isinstance(made, str):
        return []
    stored = {run.inputs: run for run in reference.runs}
    rows = []
    most: int | None = _CHANGES
    for run in made.runs:
        if not compare(stored[run.inputs].outputs, run.outputs[0]).numeric:
            continue
        rows.append({"arguments": list(run.inputs.arguments), **_shortened(run, most)})
        most = _FURTHER_CHANGES if run.launches else most
    return rows


def _shortened(run: ReferenceRun, most: int | None) -> dict[str, Any]:
    transcripts = list(run.transcripts[:1])
    moved = sum(len(each.data or b"") for made in transcripts for each in made.movements)
    if moved > _KEPT_BYTES:
        transcripts = [without_data(each) for each in transcripts]
    telling = sorted(run.perturbed, key=lambda each: not each.moved)
    kept = [
        each
        for number, each in enumerate(telling)
        if most is None
        or number < most
        or (each.moved and each.perturbation.where is Where.OUT_WIDE)
    ]
    return changes_to_json(StoredChanges(tuple(kept), tuple(transcripts)))


def _programs(only: Sequence[str]) -> Iterator[tuple[str, str, Sources]]:
    with tempfile.TemporaryDirectory(prefix="cass-changes-") as name:
        for path, (identity, sources) in shipped_sources(Path(name)).items():
            if not only or path in only:
                yield path, identity, sources


def main() -> None:
    """Write the file, program by program."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.execute.store_changes")
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--out", type=Path, default=STORED_FOLDER / CHANGES_FOLDER / CHANGES_FILE)
    chosen = parser.parse_args()
    backend = make_backend("lifted", threads=1)
    references = stored_references()
    document: dict[str, list[dict[str, Any]]] = {}
    for path, identity, sources in _programs(chosen.only):
        if identity not in references:
            continue
        rows = changes_of(references[identity], sources, backend)
        changes = sum(len(row["perturbed"]) for row in rows)
        print(f"{path}: {len(rows)} inputs, {changes} changes", flush=True)
        if rows:
            document[identity] = rows
        chosen.out.parent.mkdir(parents=True, exist_ok=True)
        chosen.out.write_text(json.dumps({"programs": document}, indent=0) + "\n")


if __name__ == "__main__":
    main()
