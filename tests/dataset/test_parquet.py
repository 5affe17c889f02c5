import hashlib
from pathlib import Path
from typing import Any

import datasets
import pyarrow.parquet as pq
import pytest

from cass_ray.dataset.parquet import ROWS_PER_PART, read_rows, write_rows
from cass_ray.dataset.schema import (
    PAIR_SCHEMA,
    REJECT_SCHEMA,
    Reason,
    Stage,
    clip_diagnostic,
    rejected,
)


def pair(number: int) -> dict[str, Any]:
    return {"id": f"{number:04}", "cuda_source": f"// {number}", "kernels": ["k"], "reason": None}


def digests(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*.parquet")
    }


def test_pairs_and_rejects_are_parted_in_order(tmp_path: Path) -> None:
    bad = rejected(pair(1), Stage.FILTER, Reason.NO_KERNEL, "no __global__")
    list(write_rows([pair(0), bad, pair(2)], tmp_path))
    assert [row["id"] for row in read_rows(tmp_path)] == ["0000", "0002"]
    (reject,) = read_rows(tmp_path, "rejects")
    assert (reject["stage"], reject["reason"]) == ("filter", "no_kernel")
    assert pq.read_schema(tmp_path / "pairs/part-00000.parquet").equals(PAIR_SCHEMA)
    assert pq.read_schema(tmp_path / "rejects/part-00000.parquet").equals(REJECT_SCHEMA)


def test_the_same_rows_give_the_same_bytes_over_several_parts(tmp_path: Path) -> None:
    rows = [pair(number) for number in range(ROWS_PER_PART + 51)]
    list(write_rows(rows, tmp_path / "a"))
    list(write_rows(rows, tmp_path / "b"))
    assert digests(tmp_path / "a") == digests(tmp_path / "b")
    assert sorted(path.name for path in (tmp_path / "a/pairs").iterdir()) == [
        "part-00000.parquet",
        "part-00001.parquet",
    ]
    assert len(list(read_rows(tmp_path / "a"))) == len(rows)


def test_an_empty_data_set_still_has_a_schema(tmp_path: Path) -> None:
    list(write_rows([], tmp_path))
    assert list(read_rows(tmp_path)) == []
    assert pq.read_schema(tmp_path / "pairs/part-00000.parquet").equals(PAIR_SCHEMA)


def test_hugging_face_datasets_opens_it(tmp_path: Path) -> None:
    listing = [{"arch": "sm_80", "sass": "EXIT ;"}]
    list(write_rows([{**pair(0), "cuda_device_by_arch": listing}], tmp_path))
    loaded = datasets.load_dataset(
        "parquet", data_files=str(tmp_path / "pairs/*.parquet"), cache_dir=str(tmp_path / "cache")
    )
    assert loaded["train"][0]["cuda_device_by_arch"] == listing


def test_a_new_build_replaces_an_old_one(tmp_path: Path) -> None:
    list(write_rows([pair(0), pair(1)], tmp_path))
    list(write_rows([pair(2)], tmp_path))
    assert [row["id"] for row in read_rows(tmp_path)] == ["0002"]


def test_a_failure_half_way_leaves_the_old_data_set(tmp_path: Path) -> None:
    list(write_rows([pair(0)], tmp_path))

    def broken() -> Any:
        yield pair(1)
        raise RuntimeError("source broke")

    with pytest.raises(RuntimeError):
        list(write_rows(broken(), tmp_path))
    assert [row["id"] for row in read_rows(tmp_path)] == ["0000"]


def test_missing_data_set_says_how_to_build_one(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="cass build-dataset"):
        list(read_rows(tmp_path / "nowhere"))


def test_clipped_diagnostic_keeps_head_and_tail() -> None:
    text = clip_diagnostic("first line\n" + "x" * 10_000 + "\nlast line")
    assert len(text) <= 4000
    assert text.startswith("first line")
    assert text.endswith("last line")
    assert "cut" in text
