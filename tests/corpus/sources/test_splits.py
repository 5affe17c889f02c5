"""Splits, each read by a worker of its own, are together the source."""

from __future__ import annotations

import pickle
import subprocess
import zipfile
from itertools import chain
from pathlib import Path

import pytest

from cass_ray.corpus.program import SourceError
from cass_ray.corpus.reading.trees import StoredTrees
from cass_ray.corpus.sources import local
from cass_ray.corpus.sources.registry import parse_source
from cass_ray.corpus.sources.splits import splits_of
from cass_ray.storage.store import Store
from tests.corpus.conftest import write_files

KERNEL = '#include "h.h"\n__global__ void k{0}(int *a) {{ a[{0}] = 1; }}\n'


@pytest.fixture(autouse=True)
def small_splits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "FILES_IN_A_SPLIT", 2)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Files, an unreadable one, a clone between the folders, an archive."""
    root = tmp_path / "in"
    names = ["a.cu", "b.cu", "c.cu", "below/d.cu", "clone/e.cu", "clone/x/f.cu", "later/g.cu"]
    write_files(root, {name: KERNEL.format(number) for number, name in enumerate(names)})
    write_files(root, {"h.h": "// ours\n", "clone/h.h": "// of the clone\n", "bell\a.cu": "x"})
    subprocess.run(["git", "init", "-q", str(root / "clone")], check=True)
    with zipfile.ZipFile(root / "later" / "packed.zip", "w") as archive:
        archive.writestr("p.cu", KERNEL.format(70))
        archive.writestr("q.cu", KERNEL.format(71))
        archive.writestr("r.cu", KERNEL.format(72))
    return root


def rows_by_split(specification: str, tmp_path: Path) -> list[list[dict[str, object]]]:
    """Rows of each split, which comes to its reader as bytes."""
    splits = list(splits_of(parse_source(specification), tmp_path / "driver"))
    trees = StoredTrees(Store(tmp_path / "trees"))
    return [
        [item.to_row() for item in pickle.loads(sent).iterate(tmp_path / f"worker{n}", trees)]
        for n, sent in enumerate(map(pickle.dumps, splits))
    ]


def rows_at_once(specification: str, tmp_path: Path) -> list[dict[str, object]]:
    trees = StoredTrees(Store(tmp_path / "other-trees"))
    return [item.to_row() for item in parse_source(specification).iterate(tmp_path / "one", trees)]


def names(splits: list[list[dict[str, object]]]) -> list[list[str]]:
    return [[str(row["path"]) for row in rows] for rows in splits]


def test_a_folder_is_divided_in_the_order_of_its_walk(folder: Path, tmp_path: Path) -> None:
    splits = rows_by_split(f"local:{folder}", tmp_path)
    assert names(splits) == [
        ["a.cu", "b.cu"],
        ["bell\\x07.cu", "c.cu"],
        ["below/d.cu"],
        ["e.cu", "x/f.cu"],
        ["later/g.cu"],
    ]
    assert splits[1][0]["reason"] == "unsafe_path"
    assert list(chain.from_iterable(splits)) == rows_at_once(f"local:{folder}", tmp_path)


def test_an_archive_that_matches_a_pattern_is_a_split(folder: Path, tmp_path: Path) -> None:
    specification = f"local:{folder}/[bl]*/*"
    splits = rows_by_split(specification, tmp_path)
    assert names(splits) == [["below/d.cu", "later/g.cu"], ["p.cu", "q.cu", "r.cu"]]
    assert list(chain.from_iterable(splits)) == rows_at_once(specification, tmp_path)


@pytest.mark.parametrize("name", ["a.cu", "later/packed.zip"])
def test_a_file_is_one_split(folder: Path, tmp_path: Path, name: str) -> None:
    (rows,) = rows_by_split(f"local:{folder / name}", tmp_path)
    assert rows == rows_at_once(f"local:{folder / name}", tmp_path)


def test_a_source_that_nobody_divides_is_one_split(tmp_path: Path) -> None:
    (rows,) = rows_by_split("generated:3@5", tmp_path)
    assert len(rows) == 3
    assert rows == rows_at_once("generated:3@5", tmp_path)


@pytest.mark.parametrize("path", ["nowhere", "in/*.cl"])
def test_what_is_not_there_is_said_before_anything_is_read(
    folder: Path, tmp_path: Path, path: str
) -> None:
    with pytest.raises(SourceError, match=r"no such file|matches"):
        list(splits_of(parse_source(f"local:{folder.parent / path}"), tmp_path))
