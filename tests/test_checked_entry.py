"""No byte of an entry can change without the value being computed again."""

from __future__ import annotations

import logging
import random
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
import zstandard

from cass_ray.cache import ContentCache, digest
from cass_ray.checked_entry import DamagedEntry, opened, sealed
from cass_ray.dataset.parquet import PartWriter, parquet_dataset, part_name
from cass_ray.pipeline.journal import Journal
from cass_ray.storage.errors import StorageError
from cass_ray.storage.manifest import PartManifest
from cass_ray.storage.store import Store
from cass_ray.storage.tiered import TieredCache
from cass_ray.toolchain.executables import cached_executable

KEY = digest(["a"])
VALUES = [b"", b"x", b'{"grade": "verified"}', bytes(range(256)), b"0.5\n" * 300]


def damaged(whole: bytes, seed: int = 53) -> Iterator[bytes]:
    """``whole`` with one bit of each byte changed, cut anywhere, longer, and with bytes swapped."""
    chosen = random.Random(seed)
    for place in range(len(whole)):
        bit = 1 << chosen.randrange(8)
        yield whole[:place] + bytes([whole[place] ^ bit]) + whole[place + 1 :]
        yield whole[:place]
    yield whole + b"\0"
    yield whole[::-1]
    yield b"\0" * len(whole)


@pytest.mark.parametrize("value", VALUES, ids=[f"{len(value)} bytes" for value in VALUES])
def test_entries(value: bytes) -> None:
    whole = sealed(KEY, value)
    assert opened(KEY, whole) == value
    for entry in damaged(whole):
        with pytest.raises(DamagedEntry):
            opened(KEY, entry)


def test_an_entry_is_of_its_key() -> None:
    """A file that was renamed, or copied over another, is none."""
    with pytest.raises(DamagedEntry):
        opened(digest(["b"]), sealed(KEY, b"value"))


def test_a_damaged_result_is_a_miss_with_a_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    cache = ContentCache(tmp_path)
    cache.put(KEY, b"verified")
    place = tmp_path / KEY[:2] / KEY
    whole = place.read_bytes()
    for entry in damaged(whole):
        place.write_bytes(entry)
        assert cache.get(KEY) is None
        assert not place.exists()
    assert "damaged" in caplog.text and KEY in caplog.text
    cache.put(KEY, b"verified")
    assert cache.get(KEY) == b"verified"


def test_an_entry_of_an_older_version_is_a_miss(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    place = tmp_path / KEY[:2] / KEY
    place.parent.mkdir()
    place.write_bytes(zstandard.ZstdCompressor().compress(b"verified"))
    assert ContentCache(tmp_path).get(KEY) is None
    assert not caplog.text


def test_a_damaged_shared_result_is_a_miss(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    shared = Store(str(tmp_path / "shared"))
    name = f"{KEY[:2]}/{KEY}"
    for number, entry in enumerate(damaged(sealed(KEY, b"verified"))):
        shared.put(name, entry)
        assert TieredCache(tmp_path / str(number), shared).get(KEY) is None
    assert name in caplog.text


def test_a_damaged_program_is_built_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("CASS_CACHE", str(tmp_path))
    caplog.set_level(logging.WARNING)

    def built() -> tuple[Path, bool]:
        with cached_executable("rdna3", "key") as (place, program):
            if program is not None:
                program.write_bytes(b"\x7fELF program")
        return place, program is not None

    place, _ = built()
    assert built() == (place, False)
    whole = place.read_bytes()
    for entry in damaged(whole):
        place.write_bytes(entry)
        assert built() == (place, True)
        assert place.read_bytes() == whole
    assert str(place) in caplog.text


SCHEMA = pa.schema([("id", pa.string()), ("text", pa.string())])
ROWS = [{"id": name, "text": name * 40} for name in "abc"]


def test_rows_of_a_damaged_shard_are_computed_again(tmp_path: Path) -> None:
    Journal(tmp_path, SCHEMA).append(ROWS)
    shard, known = tmp_path / "00000000.parquet", tmp_path / "00000000.sha256"
    whole, checksum = shard.read_bytes(), known.read_bytes()
    changed = [(entry, checksum) for entry in list(damaged(whole))[::3]]
    changed += [(whole, entry) for entry in damaged(checksum)]
    for content, entry in changed:
        shard.write_bytes(content)
        known.write_bytes(entry)
        assert len(Journal(tmp_path, SCHEMA)) == 0
    shard.write_bytes(whole)
    known.write_bytes(checksum)
    assert list(Journal(tmp_path, SCHEMA).read("abc")) == ROWS


def test_a_damaged_manifest_is_an_error(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    manifest = PartManifest(store, "pieces")
    draft = manifest.draft("0001")
    part = draft.write("rows", b"the rows")
    draft.commit(rows=17)
    path = manifest.entry_path("0001")
    whole = store.read(path)
    cut = whole.index(b"\n")
    for place in range(len(whole)):
        store.put(path, whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        with pytest.raises(StorageError):
            manifest.get("0001")
    store.put(path, whole[:cut])  # of an older version
    found = manifest.get("0001")
    assert found is not None and found.counts == {"rows": 17}
    store.put(manifest.part_path(part.file), b"the rowz")
    with pytest.raises(StorageError):
        manifest.read(part)


def test_a_damaged_page_of_a_data_set_is_an_error(tmp_path: Path) -> None:
    """What is in pages is checked; of the file's index only what pyarrow looks at."""
    text = "x" * 400
    with PartWriter(tmp_path, SCHEMA) as writer:
        writer.write({"id": "a", "text": text})
    path = tmp_path / part_name(0)
    whole = path.read_bytes()
    pages = whole.index(b"\x28\xb5\x2f\xfd")  # the first page's content, a frame of zstd
    index = len(whole) - 8 - int.from_bytes(whole[-8:-4], "little")
    wrong = 0
    for place in range(pages, index):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        try:
            found = parquet_dataset([str(path)]).to_table().to_pylist()
        except (OSError, pa.ArrowException):
            continue
        wrong += found != [{"id": "a", "text": text}]
    assert wrong == 0
