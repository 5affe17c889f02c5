from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cass_ray.pipeline.journal import Journal

SCHEMA = pa.schema([("id", pa.string()), ("text", pa.string())])


def rows(*names: str) -> list[dict[str, str]]:
    return [{"id": name, "text": name * 2} for name in names]


def test_rows_come_back_in_the_order_asked_for(tmp_path: Path) -> None:
    journal = Journal(tmp_path, SCHEMA)
    journal.append(rows("a", "b"))
    journal.append(rows("c"))
    assert list(journal.read(["c", "a", "b"])) == rows("c", "a", "b")


def test_a_second_run_finds_what_the_first_finished(tmp_path: Path) -> None:
    Journal(tmp_path, SCHEMA).append(rows("a", "b"))
    journal = Journal(tmp_path, SCHEMA)
    assert "a" in journal
    assert "z" not in journal
    journal.append(rows("z"))
    assert list(journal.read(["z", "b"])) == rows("z", "b")
    assert len(Journal(tmp_path, SCHEMA)) == 3


def test_a_shard_cut_short_by_a_kill_is_ignored(tmp_path: Path) -> None:
    Journal(tmp_path, SCHEMA).append(rows("a"))
    whole = tmp_path / "00000000.parquet"
    (tmp_path / "00000001.part").write_bytes(whole.read_bytes()[:40])
    journal = Journal(tmp_path, SCHEMA)
    assert len(journal) == 1
    journal.append(rows("b"))
    assert pq.read_table(tmp_path / "00000001.parquet").column("id").to_pylist() == ["b"]


def test_a_row_finished_twice_counts_once_and_the_first_stays(tmp_path: Path) -> None:
    journal = Journal(tmp_path, SCHEMA)
    journal.append([{"id": "a", "text": "first"}])
    journal.append([{"id": "a", "text": "second"}])
    assert len(journal) == 1
    assert next(journal.read(["a"]))["text"] == "first"


def test_unknown_row_is_a_key_error(tmp_path: Path) -> None:
    with pytest.raises(KeyError):
        list(Journal(tmp_path, SCHEMA).read(["a"]))


def test_many_shards_are_read_with_few_of_them_decoded(tmp_path: Path) -> None:
    journal = Journal(tmp_path, SCHEMA)
    names = [f"row{number}" for number in range(30)]
    for name in names:
        journal.append(rows(name))
    assert list(journal.read(reversed(names))) == rows(*reversed(names))
    assert len(journal._decoded) < 10
