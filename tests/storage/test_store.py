from __future__ import annotations

import errno
import pickle
import threading
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cass_ray.storage.errors import StorageError
from cass_ray.storage.store import Store, is_transient
from tests.storage.faults import Fault, faulty_store
from tests.storage.s3_server import BUCKET, s3_server


@pytest.fixture(scope="module")
def s3() -> Iterator[dict[str, Any]]:
    """Options of fsspec for a local S3 server that has :data:`BUCKET`."""
    with s3_server() as options:
        yield options


@pytest.fixture(params=["folder", "file", "memory", "s3"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    """An empty store of each kind."""
    if request.param == "s3":
        options = request.getfixturevalue("s3")
        return Store(f"s3://{BUCKET}/{uuid.uuid4().hex}", **options)
    if request.param == "memory":
        return Store(f"memory://{uuid.uuid4().hex}")
    return Store(tmp_path / "it [1]" if request.param == "folder" else f"file://{tmp_path}/it")


def test_what_is_put_is_read(store: Store) -> None:
    store.put("a/b.bin", b"\0one")
    store.put("a/b.bin", b"two")
    assert store.read("a/b.bin") == b"two"
    with pytest.raises(FileNotFoundError):
        store.read("a/c.bin")


def test_only_the_first_creates(store: Store) -> None:
    assert store.create("x/entry", b"first") == b"first"
    assert store.create("x/entry", b"second") == b"first"
    assert store.read("x/entry") == b"first"


def test_names_are_those_of_one_folder(store: Store) -> None:
    assert store.names("x") == []
    for path in ("x/2", "x/10", "x/inner/3", "y/4"):
        store.put(path, b"")
    assert store.names("x") == ["10", "2"]
    store.remove("x/2")
    store.remove("x/2")
    assert store.names("x") == ["10"]


def test_many_are_read_at_once(store: Store) -> None:
    assert store.read_all([]) == {}
    contents = {f"x/{number}": b"%d" % number for number in range(5)}
    for path, content in contents.items():
        store.put(path, content)
    assert store.read_all(contents) == contents
    assert store.read_all(["x/3"]) == {"x/3": b"3"}
    with pytest.raises(FileNotFoundError):
        store.read_all(["x/1", "x/none"])


def test_a_file_in_s3_is_read_by_one_request(
    s3: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(f"s3://{BUCKET}/{uuid.uuid4().hex}", **s3)
    for path in ("x/1", "x/2"):
        store.put(path, b"1")
    asked: list[str] = []
    once = store._files._call_s3

    async def noted(method: str, *arguments: Any, **more: Any) -> Any:
        asked.append(method)
        return await once(method, *arguments, **more)

    monkeypatch.setattr(store._files, "_call_s3", noted)
    store.read("x/1")
    store.read_all(["x/1", "x/2"])
    assert asked == ["get_object"] * 3


def test_a_file_is_sent_and_fetched(store: Store, tmp_path: Path) -> None:
    source, target = tmp_path / "source", tmp_path / "new" / "target"
    source.write_bytes(b"content")
    store.upload("a/b", source)
    assert store.read("a/b") == b"content"
    store.download("a/b", target)
    assert target.read_bytes() == b"content"
    with pytest.raises(FileNotFoundError):
        store.download("a/none", target)
    assert target.read_bytes() == b"content"
    assert [path.name for path in target.parent.iterdir()] == ["target"]


def test_it_travels_to_other_processes(store: Store) -> None:
    store.put("x", b"content")
    assert pickle.loads(pickle.dumps(store)).read("x") == b"content"


def test_of_threads_that_create_at_once_one_wins(tmp_path: Path) -> None:
    threads, names = 8, [f"entry-{number}" for number in range(20)]
    together = threading.Barrier(threads)
    seen: list[list[bytes]] = [[] for _ in range(threads)]

    def work(number: int) -> None:
        store = Store(tmp_path)
        for name in names:
            together.wait()
            seen[number].append(store.create(name, b"%d" % number))

    workers = [threading.Thread(target=work, args=(number,)) for number in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert all(each == seen[0] for each in seen)
    assert [Store(tmp_path).read(name) for name in names] == seen[0]
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(names)


def test_a_file_that_a_killed_writer_left_aside_is_no_name(tmp_path: Path) -> None:
    (tmp_path / ".entry.1234").write_bytes(b"hal")
    store = Store(tmp_path)
    assert store.names("") == []
    assert store.create("entry", b"whole") == b"whole"


@pytest.mark.parametrize("fault", [Fault.FAILED, Fault.ANSWER_LOST])
def test_what_passes_is_tried_again(fault: Fault) -> None:
    store = faulty_store(f"memory://{uuid.uuid4().hex}", [fault, fault, Fault.NONE])
    assert store.create("entry", b"mine") == b"mine"
    assert store.read("entry") == b"mine"


def test_what_does_not_pass_ends_with_the_place() -> None:
    store = faulty_store("memory://bucket", [Fault.FAILED] * 100)
    with pytest.raises(StorageError, match=r"memory://bucket: x: failed 8 times.*503 slow down"):
        store.put("x", b"")


def test_a_full_disk_is_said_at_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked = []

    def full(handle: int) -> None:
        asked.append(handle)
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space left"):
        Store(tmp_path).put("x", b"content")
    assert len(asked) == 1
    assert list(tmp_path.iterdir()) == []


def test_a_file_system_that_cannot_create_exclusively_is_refused() -> None:
    with pytest.raises(
        StorageError, match=r"http://127.0.0.1/x.*cannot create a file only where there is no"
    ):
        Store("http://127.0.0.1/x")
    with pytest.raises(StorageError, match="nonsense"):
        Store("nonsense://x")


def test_which_errors_pass() -> None:
    assert is_transient(ConnectionResetError())
    assert is_transient(OSError(errno.EBUSY, "SlowDown"))
    assert not is_transient(PermissionError())
    assert not is_transient(KeyError("x"))


def test_which_errors_of_the_s3_client_pass() -> None:
    errors = pytest.importorskip("botocore.exceptions", reason="the S3 client is the extra `s3`")
    assert is_transient(errors.EndpointConnectionError(endpoint_url="http://x"))
    assert not is_transient(errors.NoCredentialsError())
