from pathlib import Path

import pytest

from cass_ray.corpus.dedup.exact import ExactDuplicates
from cass_ray.corpus.dedup.near import NearDuplicates
from cass_ray.corpus.dialect import CUDA
from cass_ray.corpus.parsing.kernels import kernel_definitions
from cass_ray.corpus.program import Program, ReadReject
from cass_ray.corpus.reading.trees import StoredTrees
from cass_ray.corpus.screening.filters import FilterSettings, first_objection
from cass_ray.corpus.sources.shipped import (
    SHIPPED_ROOT,
    ShippedSource,
    load_expected_rejects,
    load_manifest,
)
from cass_ray.dataset.row import Reason, Stage
from cass_ray.storage.store import Store

MANIFEST = load_manifest()
REJECTS = load_expected_rejects()
EARLY = (Stage.READ, Stage.FILTER, Stage.DEDUPLICATE)


def outcomes(items: list[Program | ReadReject]) -> dict[tuple[str, str], tuple[str, str]]:
    """(repository, path) -> (stage, reason) after reading, filters and deduplication."""
    exact, near = ExactDuplicates(), NearDuplicates()
    found = {}
    for item in items:
        row = item.to_row()
        result = (row["stage"], row["reason"])
        if not row["reason"]:
            verdict = first_objection(row, FilterSettings())
            if verdict:
                result = (Stage.FILTER.value, verdict[0].value)
            elif exact.offer(row["id"]):
                result = (Stage.DEDUPLICATE.value, Reason.EXACT_DUPLICATE.value)
            elif near.offer(row["id"], row["cuda_source"]):
                result = (Stage.DEDUPLICATE.value, Reason.NEAR_DUPLICATE.value)
        found[row["repository"], row["path"]] = result
    return found


@pytest.fixture(scope="module")
def shipped(tmp_path_factory: pytest.TempPathFactory) -> list[Program | ReadReject]:
    folder = tmp_path_factory.mktemp("shipped")
    return list(ShippedSource().iterate(folder / "work", StoredTrees(Store(folder / "trees"))))


def test_every_input_ends_as_expected_until_compilation(
    shipped: list[Program | ReadReject],
) -> None:
    expected: dict[str, tuple[str, str]] = {}
    for name, reject in REJECTS.items():
        early = reject.stage in EARLY
        expected[reject.member or name] = (reject.stage, reject.reason) if early else ("", "")
    found = outcomes(shipped)
    rejects = {
        path: result
        for (repository, path), result in found.items()
        if repository == "cass-ray/rejects" or repository in REJECTS
    }
    assert rejects == expected
    others = {key: result for key, result in found.items() if key[1] not in rejects}
    assert {key: result for key, result in others.items() if result != ("", "")} == {}
    assert len(others) == len(MANIFEST) >= 60


def test_manifest_and_folders_agree() -> None:
    candidates = {
        path.relative_to(SHIPPED_ROOT).as_posix()
        for path in SHIPPED_ROOT.rglob("*")
        if CUDA.is_candidate(path.name)
    }
    listed = [program.path for program in MANIFEST]
    assert len(set(listed)) == len(listed)
    inputs = {path for path in candidates if path.startswith("rejects/")}
    assert candidates - inputs == set(listed)
    names = {path.removeprefix("rejects/") for path in inputs}
    assert names == {name for name in REJECTS if CUDA.is_candidate(name)}
    assert all(Path(SHIPPED_ROOT, "rejects", name).is_file() for name in REJECTS)


def test_shipped_programs_are_complete(shipped: list[Program | ReadReject]) -> None:
    programs = [item for item in shipped if isinstance(item, Program)]
    main = [item for item in programs if item.provenance.repository != "cass-ray/rejects"]
    assert all("int main(" in program.source for program in main)
    assert all(program.header_kernels or kernel_definitions(program.source) for program in main)
    assert all(program.to_row()["license"] == "MIT" for program in main)
    assert {program.provenance.repository for program in main if program.tree} >= {
        "cass-ray/gridsolve",
        "cass-ray/imagekit",
    }
