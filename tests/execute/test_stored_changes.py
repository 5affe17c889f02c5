"""What is stored of runs under changes is what the lifted originals do today."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.execute.prepare_references import shipped_sources
from benchmarks.execute.store_changes import changes_of
from cass_ray.execute.backends.registry import make_backend
from cass_ray.execute.references import CHANGES_FOLDER, STORED_FOLDER, stored_references
from cass_ray.execute.stored_changes import changes_from_json, changes_to_json, stored_changes

SOME = (
    "programs/general_compute/stencil_3d.cu",
    "programs/data_structure/merge_path.cu",
    "repositories/imagekit/src/otsu.cu",
)


def test_most_references_have_changes_that_move_their_output() -> None:
    references = stored_references()
    changed = [each for each in references.values() if each.has_changes]
    assert len(changed) >= 0.9 * len(references)
    moved = [each for each in changed if any(run.moved for run in each.runs[0].perturbed)]
    assert len(moved) >= 0.9 * len(changed)


def test_json_keeps_all_of_it() -> None:
    for changes in stored_changes(STORED_FOLDER / CHANGES_FOLDER).values():
        assert changes_from_json(changes_to_json(changes)) == changes


@pytest.mark.nvidia
@pytest.mark.amd
@pytest.mark.slow
def test_the_rule_of_changes_is_that_of_the_file(tmp_path: Path) -> None:
    stored = stored_changes(STORED_FOLDER / CHANGES_FOLDER)
    sources = shipped_sources(tmp_path)
    backend = make_backend("lifted", threads=1)
    for path in SOME:
        identity, program = sources[path]
        rows = changes_of(stored_references()[identity], program, backend)
        assert rows, path
        for row in rows:
            kept = stored[identity, tuple(row["arguments"])]
            assert changes_from_json(row) == kept, path
