"""Results of runs at a URL, and which are kept."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from cass_ray.storage.errors import StorageError
from cass_ray.storage.runs import keep_run, kept_runs, run_name
from cass_ray.storage.store import Store
from tests.storage.faults import Fault, faulty_store
from tests.storage.s3_server import BUCKET, s3_server


@pytest.fixture(params=["folder", "s3"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    if request.param == "folder":
        yield Store(tmp_path / "kept")
        return
    with s3_server() as options:
        yield Store(f"s3://{BUCKET}/runs", **options)


def results(folder: Path) -> Path:
    (folder / "plots").mkdir(parents=True)
    (folder / ".work").mkdir()
    (folder / ".work" / "journal").write_text("of no use elsewhere")
    (folder / "scores.json").write_text("{}")
    (folder / "plots" / "a.svg").write_text("<svg/>")
    return folder


def test_the_newest_are_kept(store: Store, tmp_path: Path) -> None:
    folder = results(tmp_path / "out")
    began = datetime(2026, 9, 30, 23, 59, 59, tzinfo=UTC)
    names = [run_name(began + timedelta(seconds=n)) for n in range(4)]
    assert [keep_run(store, folder, name, keep=2) for name in names] == [
        [],
        [],
        [names[0]],
        [names[1]],
    ]
    assert kept_runs(store) == names[2:]
    assert store.names(names[0]) == []
    assert store.read(f"{names[3]}/plots/a.svg") == b"<svg/>"
    assert not store.exists(f"{names[3]}/.work/journal")


def test_a_run_that_was_not_written_whole_does_not_count(tmp_path: Path) -> None:
    folder = results(tmp_path / "out")
    broken = faulty_store(f"memory://{tmp_path.name}", [Fault.FAILED] * 8)
    with pytest.raises(StorageError, match="failed 8 times"):
        keep_run(broken, folder, "a", keep=1)
    whole = Store(f"memory://{tmp_path.name}")
    assert kept_runs(whole) == []
    keep_run(whole, folder, "a", keep=1)
    assert kept_runs(whole) == ["a"]
