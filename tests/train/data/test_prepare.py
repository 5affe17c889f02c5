"""Pairs of data sets, wherever they are, to tokens."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from cass_ray.storage.store import Store
from cass_ray.train.checkpoint.store import CheckpointStore
from cass_ray.train.data.prepare import is_prepared, pair_files, read_pairs
from tests.storage.s3_server import BUCKET, environment, s3_server
from tests.train.conftest import pair, tiny_settings, write_pairs
from tests.train.runs import ALONE, changed, train, with_data


@pytest.fixture(scope="module")
def s3() -> Iterator[None]:
    """A local S3 server that every client of this process finds."""
    with pytest.MonkeyPatch.context() as patch, s3_server() as options:
        for name, value in environment(options).items():
            patch.setenv(name, value)
        yield


def stored(url: str, folder: Path, numbers: range) -> str:
    """A data set of the programs ``numbers`` at ``url``."""
    made = write_pairs(folder, [pair(number) for number in numbers])
    name = "pairs/part-00000.parquet"
    Store(url).put(name, (made / name).read_bytes())
    return url


@pytest.mark.parametrize("storage", ["memory", "s3"])
def test_pairs_in_storage_are_read_and_new_ones_are_noticed(
    storage: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    name = uuid.uuid4().hex
    if storage == "s3":
        request.getfixturevalue("s3")
        name = f"{BUCKET}/{name}"
    url = stored(f"{storage}://{name}", tmp_path / "a", range(12))
    settings = tiny_settings(tmp_path, tmp_path / "a", data__pairs=[url])
    files = pair_files(settings.data.pairs)
    assert [row["filename"] for row in read_pairs(files, ("filename",))] == [
        f"program{number}.cu" for number in range(12)
    ]
    with_data(settings)
    assert is_prepared(settings, pair_files(settings.data.pairs))
    stored(url, tmp_path / "b", range(12, 24))
    assert not is_prepared(settings, pair_files(settings.data.pairs))


def test_a_run_from_storage_into_storage_is_the_run_in_folders(s3: None, tmp_path: Path) -> None:
    pairs = write_pairs(tmp_path / "a", [pair(number) for number in range(12)])
    local = tiny_settings(tmp_path, pairs, checkpoints__keep=1)
    url = stored(f"s3://{BUCKET}/{uuid.uuid4().hex}", tmp_path / "b", range(12))
    checkpoints = f"s3://{BUCKET}/{uuid.uuid4().hex}"
    remote = changed(
        local, data__pairs=[url], checkpoints__url=checkpoints, out=tmp_path / "remote"
    )
    assert train(ALONE, with_data(remote)) == train(ALONE, with_data(local))
    assert CheckpointStore(checkpoints).steps() == [4]
    further = [train(ALONE, changed(each, steps=6)) for each in (remote, local)]
    assert further[0] == further[1]
    assert [step for step, _, _ in further[0][0]] == [5, 6]
    assert CheckpointStore(checkpoints).steps() == [6]
