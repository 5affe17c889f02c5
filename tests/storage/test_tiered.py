from __future__ import annotations

import logging
import uuid
from pathlib import Path

import pytest

from cass_ray.cache import ContentCache, digest
from cass_ray.storage.store import Store
from cass_ray.storage.tiered import TieredCache
from tests.storage.faults import Fault, faulty_store

KEY = digest(["program", "flags"])


@pytest.fixture
def shared() -> Store:
    return Store(f"memory://{uuid.uuid4().hex}")


def test_what_one_node_computed_another_has(tmp_path: Path, shared: Store) -> None:
    first, second = (TieredCache(tmp_path / name, shared) for name in ("first", "second"))
    assert first.get(KEY) is None
    first.put(KEY, b"listing" * 100)
    assert second.get(KEY) == b"listing" * 100
    shared.remove(f"{KEY[:2]}/{KEY}")
    assert second.get(KEY) == b"listing" * 100
    assert ContentCache(tmp_path / "second").get(KEY) == b"listing" * 100


def test_a_damaged_entry_is_absent_and_makes_room(tmp_path: Path, shared: Store) -> None:
    TieredCache(tmp_path / "first", shared).put(KEY, bytes(range(256)))
    place = f"{KEY[:2]}/{KEY}"
    damaged = bytearray(shared.read(place))
    damaged[40] ^= 1  # inside a block that was stored as it is: only the checksum tells
    shared.put(place, bytes(damaged))
    second = TieredCache(tmp_path / "second", shared)
    assert second.get(KEY) is None
    assert shared.names(KEY[:2]) == []
    second.put(KEY, b"again")
    assert TieredCache(tmp_path / "third", shared).get(KEY) == b"again"


def test_a_store_that_fails_is_left_alone(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    cache = TieredCache(tmp_path, faulty_store("memory://bucket", [Fault.FAILED] * 100))
    with caplog.at_level(logging.WARNING):
        cache.put(KEY, b"result")
        cache.put(digest(["other"]), b"result")
    assert cache.get(KEY) == b"result"
    (record,) = caplog.records
    assert "not used any more: memory://bucket: " in record.getMessage()
