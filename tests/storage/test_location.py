"""Where a data set lies: a folder, or a URL that names something."""

from __future__ import annotations

from pathlib import Path

import pytest

from cass_ray.dataset.parquet import parquet_files
from cass_ray.storage.errors import StorageError
from cass_ray.storage.location import parse_location


@pytest.mark.parametrize(
    ("given", "place"),
    [
        ("out", Path("out")),
        ("/data/out/", Path("/data/out")),
        ("file:///data/out", Path("/data/out")),
        ("s3://bucket", "s3://bucket"),
        ("s3://bucket/out/", "s3://bucket/out"),
        (Path("s3:"), Path("s3:")),
    ],
)
def test_a_place_is_a_folder_or_a_url(given: Path | str, place: Path | str) -> None:
    assert parse_location(given) == place


@pytest.mark.parametrize(
    ("given", "advice"),
    [
        ("s3://", "s3://BUCKET/FOLDER"),
        ("gs:///", "gs://BUCKET/FOLDER"),
        ("file://", "file:///FOLDER"),
    ],
)
def test_a_url_of_nothing_is_no_folder(given: str, advice: str) -> None:
    with pytest.raises(ValueError, match=f"names no place: write {advice}"):
        parse_location(given)


def test_readers_say_of_an_unknown_storage_what_it_is() -> None:
    with pytest.raises(StorageError, match=r"^foo://bucket/out/pairs: Protocol not known: foo$"):
        parquet_files("foo://bucket/out")
