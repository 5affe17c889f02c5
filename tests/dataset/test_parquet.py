import hashlib
import uuid
from pathlib import Path
from typing import Any

import datasets
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cass_ray.dataset.parquet import (
    LINES_PER_GROUP,
    ROWS_PER_PART,
    LineWriter,
    parquet_dataset,
    parquet_files,
    part_bytes,
    read_rows,
)
from cass_ray.dataset.row import (
    Reason,
    Stage,
    clip_diagnostic,
    rejected,
)
from cass_ray.dataset.schema import PAIR_SCHEMA, REJECT_SCHEMA
from cass_ray.storage.store import Store
from tests.datasets_on_disk import write_rows


def pair(number: int) -> dict[str, Any]:
    return {"id": f"{number:04}", "cuda_source": f"// {number}", "kernels": ["k"], "reason": None}


def digests(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*.parquet")
    }


def test_pairs_and_rejects_are_parted_in_order(tmp_path: Path) -> None:
    bad = rejected(pair(1), Stage.FILTER, Reason.NO_KERNEL, "no __global__")
    write_rows([pair(0), bad, pair(2)], tmp_path)
    assert [row["id"] for row in read_rows(tmp_path)] == ["0000", "0002"]
    (reject,) = read_rows(tmp_path, "rejects")
    assert (reject["stage"], reject["reason"]) == ("filter", "no_kernel")
    assert pq.read_schema(tmp_path / "pairs/part-00000.parquet").equals(PAIR_SCHEMA)
    assert pq.read_schema(tmp_path / "rejects/part-00000.parquet").equals(REJECT_SCHEMA)


def test_the_same_rows_give_the_same_bytes_over_several_parts(tmp_path: Path) -> None:
    rows = [pair(number) for number in range(ROWS_PER_PART + 51)]
    write_rows(rows, tmp_path / "a")
    write_rows(rows, tmp_path / "b")
    assert digests(tmp_path / "a") == digests(tmp_path / "b")
    assert sorted(path.name for path in (tmp_path / "a/pairs").iterdir()) == [
        "part-00000.parquet",
        "part-00001.parquet",
    ]
    assert len(list(read_rows(tmp_path / "a"))) == len(rows)


def test_an_empty_data_set_still_has_a_schema(tmp_path: Path) -> None:
    write_rows([], tmp_path)
    assert list(read_rows(tmp_path)) == []
    assert pq.read_schema(tmp_path / "pairs/part-00000.parquet").equals(PAIR_SCHEMA)


def test_hugging_face_datasets_opens_it(tmp_path: Path) -> None:
    listing = [{"arch": "sm_80", "sass": "EXIT ;"}]
    write_rows([{**pair(0), "cuda_device_by_arch": listing}], tmp_path)
    loaded = datasets.load_dataset(
        "parquet", data_files=str(tmp_path / "pairs/*.parquet"), cache_dir=str(tmp_path / "cache")
    )
    assert loaded["train"][0]["cuda_device_by_arch"] == listing


@pytest.mark.parametrize("rows", [0, 1, 50, 51, 100])
def test_a_part_in_memory_is_the_same_bytes(rows: int, tmp_path: Path) -> None:
    some = [pair(number) for number in range(rows)]
    write_rows(some, tmp_path)
    written = (tmp_path / "pairs" / "part-00000.parquet").read_bytes()
    assert part_bytes(iter(some), PAIR_SCHEMA) == written


def test_a_data_set_at_a_url_is_read_in_order() -> None:
    store = Store(f"memory://{uuid.uuid4().hex}")
    for part in (1, 0):
        rows = [pair(2 * part), pair(2 * part + 1)]
        store.put(f"pairs/part-0000{part}.parquet", part_bytes(rows, PAIR_SCHEMA))
    assert [row["id"] for row in read_rows(store.url)] == ["0000", "0001", "0002", "0003"]
    files = parquet_files(store.url)
    assert [path.partition("pairs/")[2] for path in files] == [
        "part-00000.parquet",
        "part-00001.parquet",
    ]
    assert parquet_dataset(files, PAIR_SCHEMA).count_rows() == 4
    with pytest.raises(FileNotFoundError, match="cass build-dataset"):
        list(read_rows(store.url, "rejects"))


def test_missing_data_set_says_how_to_build_one(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="cass build-dataset"):
        list(read_rows(tmp_path / "nowhere"))


def test_clipped_diagnostic_keeps_head_and_tail() -> None:
    text = clip_diagnostic("first line\n" + "x" * 10_000 + "\nlast line")
    assert len(text) <= 4000
    assert text.startswith("first line")
    assert text.endswith("last line")
    assert "cut" in text


def test_chains_of_includes_are_the_first_to_go() -> None:
    chain = "In file included from a.cu:1:\n                 from b.h:2,\n"
    said = "c.h:3:1: error: first\n" + chain * 200 + "d.h:4:1: error: second\n"
    text = clip_diagnostic(chain * 200 + said)
    assert text == "c.h:3:1: error: first\nd.h:4:1: error: second"
    assert clip_diagnostic(chain + said[:22]) == (chain + said[:22]).strip()


def test_warnings_of_nvcc_do_not_hide_the_error() -> None:
    warning = (
        'DenseStorage.h(223): warning #20012-D: __host__ annotation is ignored on "DenseStorage"\n'
        "     __attribute__((host)) __attribute__((device)) \n                    ^\n\n"
        'Remark: The warnings can be suppressed with "-diag-suppress <warning-number>"\n\n'
    )
    error = 'a.cu(3): error: identifier "nothing" is undefined\n    nothing;\n    ^\n\n'
    end = "1 error detected in the compilation of a.cu."
    text = clip_diagnostic(warning * 30 + error + warning * 30 + end)
    assert text == error + end
    assert clip_diagnostic(warning + error + end) == warning + error + end


def written_in_steps(path: Path, steps: list[int]) -> bytes:
    rows = 2 * LINES_PER_GROUP + 7
    table = pa.table({"id": [f"{number:08}" for number in range(rows)], "n": range(rows)})
    first = 0
    with LineWriter(path, table.schema) as writer:
        for step in steps * (rows // sum(steps) + 1):
            writer.write(table.slice(first, step))
            first += step
    assert pq.read_table(path).equals(table)
    return path.read_bytes()


def test_row_groups_of_lines_do_not_depend_on_the_tables_that_come(tmp_path: Path) -> None:
    small = written_in_steps(tmp_path / "small.parquet", [0, 61, 4000, 1])
    assert small == written_in_steps(tmp_path / "large.parquet", [50_000, 20_000])
    index = pq.read_metadata(tmp_path / "small.parquet")
    groups = [index.row_group(number).num_rows for number in range(index.num_row_groups)]
    assert groups == [LINES_PER_GROUP, LINES_PER_GROUP, 7]


def test_a_file_of_no_lines_has_its_schema(tmp_path: Path) -> None:
    schema = pa.schema([("id", pa.string())])
    with LineWriter(tmp_path / "none.parquet", schema) as writer:
        writer.write(schema.empty_table())
    assert pq.read_table(tmp_path / "none.parquet").equals(schema.empty_table())
