import io
import tarfile
import threading
from pathlib import Path

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from cass_ray.corpus.reading.trees import (
    PackedTree,
    StoredTrees,
    TreeError,
    pack,
    read_archive,
    tree_digest,
    unpack,
)
from cass_ray.storage.store import Store

FILES = {
    "src/main.cu": b"int a;\n",
    "inc/a.h": b"",
    "inc/\xc3\xa9.h".encode("latin-1").decode(): b"x",
}
NAMES = st.from_regex(r"[a-z]{1,3}\.h", fullmatch=True)


def contents(root: Path) -> dict[str, bytes]:
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in root.rglob("*")
        if path.is_file()
    }


def archive_of(member: tarfile.TarInfo, content: bytes = b"") -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        member.size = len(content)
        archive.addfile(member, io.BytesIO(content))
    return zstandard.compress(buffer.getvalue())


@given(st.dictionaries(NAMES, st.binary(max_size=50), max_size=5))
def test_packing_is_a_function_of_the_files(files: dict[str, bytes]) -> None:
    packed = pack(files)
    assert packed == pack(dict(reversed(files.items())))
    assert packed.digest == tree_digest(files)
    assert read_archive(packed.archive) == files


def test_digest_depends_on_path_and_content() -> None:
    digests = {
        tree_digest({"a": b"x", "b": b"y"}),
        tree_digest({"a": b"y", "b": b"x"}),
        tree_digest({"a": b"x", "c": b"y"}),
        tree_digest({"a": b"x"}),
        tree_digest({}),
    }
    assert len(digests) == 5


def test_unpack_restores_the_files(tmp_path: Path) -> None:
    packed = pack(FILES)
    unpack(packed.archive, tmp_path / "deep" / "tree", packed.digest)
    assert contents(tmp_path / "deep" / "tree") == FILES
    assert list((tmp_path / "deep").iterdir()) == [tmp_path / "deep" / "tree"]


def test_unpack_by_several_threads_at_once(tmp_path: Path) -> None:
    packed = pack(FILES)
    errors: list[Exception] = []

    def work() -> None:
        try:
            unpack(packed.archive, tmp_path / "tree", packed.digest)
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    assert contents(tmp_path / "tree") == FILES
    assert list(tmp_path.iterdir()) == [tmp_path / "tree"]


@pytest.mark.parametrize("path", ["/a", "../a", "a/../../b", "a/./b", "", "a\0b"])
def test_unsafe_paths_are_not_packed(path: str) -> None:
    with pytest.raises(TreeError, match="unsafe path"):
        pack({path: b""})


def test_unsafe_archives_are_not_unpacked(tmp_path: Path) -> None:
    link = tarfile.TarInfo("link.h")
    link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
    for member, message in ((tarfile.TarInfo("../x.h"), "unsafe path"), (link, "not a plain file")):
        with pytest.raises(TreeError, match=message):
            unpack(archive_of(member), tmp_path / "tree", "0" * 64)
    assert not list(tmp_path.iterdir())


def test_damaged_and_swapped_archives_are_refused(tmp_path: Path) -> None:
    packed = pack(FILES)
    with pytest.raises(TreeError, match="damaged"):
        unpack(packed.archive[:-20], tmp_path / "tree", packed.digest)
    with pytest.raises(TreeError, match="holds tree"):
        unpack(pack({"b": b""}).archive, tmp_path / "tree", packed.digest)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("scheme", ["directory", "memory"])
def test_store(tmp_path: Path, scheme: str) -> None:
    url = str(tmp_path / "store") if scheme == "directory" else "memory://cass-ray-test-store"
    store = StoredTrees(Store(url))
    packed = pack(FILES)
    assert not store.has(packed.digest)
    with pytest.raises(TreeError, match="is not in the store"):
        store.get(packed.digest)
    store.put(packed)
    store.put(PackedTree(packed.digest, b"a second put does nothing"))
    other = StoredTrees(Store(url))
    assert other.has(packed.digest)
    assert other.get(packed.digest) == packed.archive
