"""Committed parts: each piece's rows once, whatever workers and storage do."""

from __future__ import annotations

import contextlib
import uuid
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cass_ray.storage.errors import StorageError
from cass_ray.storage.manifest import Draft, ManifestEntry, PartManifest, tables
from cass_ray.storage.store import Store
from tests.storage.faults import Fault, WorkerDied, faulty_store


def memory() -> str:
    return f"memory://{uuid.uuid4().hex}"


def rows(piece: int, worker: int = 0) -> pa.Table:
    return pa.table({"piece": [piece] * 2, "position": [0, 1], "worker": [worker] * 2})


def done(manifest: PartManifest, piece: int) -> ManifestEntry:
    draft = manifest.draft(f"{piece:04}")
    draft.write_table("rows", rows(piece))
    return draft.commit(rows=2)


def test_a_piece_counts_when_it_is_committed() -> None:
    manifest = PartManifest(Store(memory()), "ingest")
    draft = manifest.draft("0001")
    draft.write_table("rows", rows(1))
    draft.write("sets", b"\0\1")
    assert (manifest.keys(), manifest.get("0001"), manifest.entries()) == ([], None, {})
    entry = draft.commit(rows=2, rejects=0)
    assert manifest.get("0001") == entry and manifest.entries() == {"0001": entry}
    assert entry.counts == {"rows": 2, "rejects": 0}
    assert (entry.parts["rows"].rows, entry.parts["sets"].rows) == (2, None)
    assert manifest.table(entry.parts["rows"]).equals(rows(1))
    assert manifest.read(entry.parts["sets"]) == b"\0\1"


def test_who_comes_second_gets_the_entry_of_the_first_and_leaves_nothing() -> None:
    manifest = PartManifest(Store(memory()), "ingest")
    slow = manifest.draft("0001")
    slow.write_table("rows", rows(1, worker=7))
    first = done(manifest, 1)
    assert slow.commit() == first
    assert slow.commit() == first
    assert manifest.store.names("ingest/parts") == [first.parts["rows"].file]


def test_pieces_are_read_in_the_order_of_their_keys() -> None:
    manifest = PartManifest(Store(memory()), "ingest")
    for piece in (3, 1, 2):
        done(manifest, piece)
    assert [table["piece"][0].as_py() for table in tables(manifest, "rows")] == [1, 2, 3]
    assert list(tables(manifest, "other")) == []


def test_manifests_of_one_store_do_not_see_each_other() -> None:
    store = Store(memory())
    done(PartManifest(store, "ingest"), 1)
    assert PartManifest(store, "compile").keys() == []


def test_the_same_table_gives_the_same_bytes() -> None:
    manifest = PartManifest(Store(memory()), "ingest")
    one, two = (manifest.draft(key).write_table("rows", rows(1)) for key in ("a", "b"))
    assert one.sha256 == two.sha256


def test_damaged_and_lost_parts_are_named(tmp_path: Path) -> None:
    manifest = PartManifest(Store(tmp_path), "ingest")
    part = done(manifest, 1).parts["rows"]
    place = tmp_path / manifest.part_path(part.file)
    content = bytearray(place.read_bytes())
    content[5] ^= 1
    place.write_bytes(content)
    with pytest.raises(StorageError, match=rf"{part.file}: .* not the {part.bytes} that were"):
        manifest.table(part)
    place.unlink()
    with pytest.raises(StorageError, match=rf"{part.file}: a committed part is gone"):
        manifest.read(part)
    (tmp_path / manifest.entry_path("0001")).write_text("{}")
    with pytest.raises(StorageError, match=r"0001\.json: not an entry"):
        manifest.entries()


@pytest.mark.parametrize("key", ["", "a/b", "../x", ".x", "a.b", "a b"])
def test_keys_are_plain_names(key: str) -> None:
    with pytest.raises(ValueError, match="not a name"):
        PartManifest(Store(memory()), "ingest").draft(key)


PIECES = 3
FAULTS = st.lists(st.sampled_from(Fault), max_size=12)
ATTEMPTS = st.lists(st.tuples(st.integers(0, PIECES - 1), FAULTS), max_size=6)


@settings(deadline=None)
@given(attempts=ATTEMPTS, data=st.data())
def test_rows_are_neither_lost_nor_doubled(
    attempts: list[tuple[int, list[Fault]]], data: st.DataObject
) -> None:
    """Workers write and commit in any order, over storage that fails; then a second run."""
    url = memory()
    manifest = PartManifest(Store(url), "ingest")
    steps = data.draw(st.permutations(list(range(len(attempts))) * 2))
    drafts: dict[int, Draft] = {}
    seen: dict[str, ManifestEntry] = {}
    for worker in steps:
        piece, faults = attempts[worker]
        with contextlib.suppress(WorkerDied, StorageError):
            if worker not in drafts:
                store = faulty_store(url, faults)
                drafts[worker] = PartManifest(store, "ingest").draft(f"{piece:04}")
                drafts[worker].write_table("rows", rows(piece, worker))
            elif drafts[worker]._parts:  # it lives, and has something to commit
                drafts[worker].commit(rows=2)
        now = manifest.entries()
        assert seen.items() <= now.items()
        seen = now
    for piece in range(PIECES):
        if f"{piece:04}" not in seen:
            done(manifest, piece)
    entries = manifest.entries()
    assert seen.items() <= entries.items()
    assert sum(entry.counts["rows"] for entry in entries.values()) == 2 * PIECES
    found = pa.concat_tables(tables(manifest, "rows"))
    assert found["piece"].to_pylist() == [0, 0, 1, 1, 2, 2]
    assert found["position"].to_pylist() == [0, 1] * PIECES
    manifest.sweep()
    assert len(manifest.store.names("ingest/parts")) == PIECES
    assert pa.concat_tables(tables(manifest, "rows")).equals(found)
