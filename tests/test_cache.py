from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from cass_ray.cache import ContentCache, digest


@given(st.lists(st.text()), st.lists(st.text()))
def test_digest_separates_lists(left: list[str], right: list[str]) -> None:
    assert (digest(left) == digest(right)) == (left == right)


def test_what_is_put_comes_back(tmp_path: Path) -> None:
    cache = ContentCache(tmp_path / "cache")
    key = digest(["a"])
    assert cache.get(key) is None
    cache.put(key, b"\x00value" * 1000)
    assert cache.get(key) == b"\x00value" * 1000


def test_damaged_entry_counts_as_absent_and_can_be_replaced(tmp_path: Path) -> None:
    cache = ContentCache(tmp_path)
    key = digest(["a"])
    cache.put(key, b"good")
    (entry,) = [path for path in tmp_path.rglob("*") if path.is_file()]
    entry.write_bytes(entry.read_bytes()[:-3])
    assert cache.get(key) is None
    cache.put(key, b"better")
    assert cache.get(key) == b"better"
