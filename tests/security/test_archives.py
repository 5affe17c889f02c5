"""Archives, repositories and trees of strangers: each costs a row, never the build or the disk."""

from __future__ import annotations

import gzip
import io
import lzma
import os
import struct
import subprocess
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path, PurePosixPath

import pytest
import zstandard

from cass_ray.corpus.program import Program, ReadReject
from cass_ray.corpus.reading import tar_stream
from cass_ray.corpus.reading.archives import unpack_archive
from cass_ray.corpus.reading.git import GitTree
from cass_ray.corpus.reading.limits import ReadLimits
from cass_ray.corpus.reading.source_files import gather
from cass_ray.corpus.reading.tar_stream import check_pax
from cass_ray.corpus.reading.trees import StoredTrees, TreeError, read_archive
from cass_ray.corpus.sources.registry import parse_source
from cass_ray.storage.store import Store
from cass_ray.toolchain.unit import Unit

KERNEL = b"__global__ void k(int *a) { a[0] = 1; }\n"
Items = list[Program | ReadReject]
MIB = 1 << 20


def member(name: str, kind: bytes = tarfile.REGTYPE, target: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info


def tarred(*members: tuple[tarfile.TarInfo, bytes]) -> bytes:
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as archive:
        for info, content in members:
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return data.getvalue()


def rows(folder: Path, name: str, data: bytes, limits: ReadLimits | None = None) -> dict[str, str]:
    """Reason by path of what a build reads; empty for a program."""
    (folder / "given").mkdir()
    (folder / "given" / name).write_bytes(data)
    source = parse_source(f"local:{folder / 'given' / name}", limits)
    items: Items = list(source.iterate(folder / "work", StoredTrees(Store(folder / "store"))))
    for item in items:
        assert item.to_row()["stage"] == "read" or isinstance(item, Program)
    left = folder / "work" / "archives"
    assert not left.exists() or not any(left.iterdir())
    return {item.path: str(item.to_row()["reason"]) for item in items}


GOOD = (member("good.cu"), KERNEL)


def sparse_header(kind: str) -> bytes:
    """A header that promises a map of a sparse file, and the end of the archive in its place."""
    info = member("sparse.cu", tarfile.GNUTYPE_SPARSE)
    info.size = 512
    block = bytearray(info.tobuf(tarfile.GNU_FORMAT))
    block[482] = 1  # the map goes on in the next block
    if kind == "numbers that are none":
        block[386:398] = b"\xffxxxxxxxxxxx"
    block[148:156] = b" " * 8
    block[148:156] = b"%06o\0 " % sum(block[:512])
    return bytes(block[:512])


def pax(records: bytes, kind: bytes = tarfile.XHDTYPE) -> tuple[tarfile.TarInfo, bytes]:
    return member("pax", kind), records


def record(key: str, value: str) -> bytes:
    body = f" {key}={value}\n".encode()
    length = len(body)
    while length != len(body) + len(str(length)):
        length = len(body) + len(str(length))
    return str(length).encode() + body


BLOCK = 1024
"""Bytes of the two empty blocks that end an archive."""


def without_end(data: bytes) -> bytes:
    return data.rstrip(b"\0") + b"\0" * (-len(data.rstrip(b"\0")) % 512)


DAMAGED = {
    "a cut sparse map": without_end(tarred(GOOD)) + sparse_header("cut"),
    "a sparse map without numbers": without_end(tarred(GOOD))
    + sparse_header("numbers that are none")
    + bytes(512),
    "a sparse size that is no number": tarred(
        GOOD, pax(record("GNU.sparse.major", "1") + record("GNU.sparse.realsize", "many")), GOOD
    ),
    "a sparse map in words": tarred(
        GOOD,
        pax(
            record("GNU.sparse.major", "1")
            + record("GNU.sparse.minor", "0")
            + record("GNU.sparse.realsize", "9")
        ),
        (member("words.cu"), b"two\nwords\n" * 60),
    ),
    "a record without a length": tarred(GOOD, pax(b"path=x\n"), GOOD),
    "a record longer than its header": tarred(GOOD, pax(b"99999 path=x\n"), GOOD),
    "records that overlap": tarred(GOOD, pax(b"2 " * 1000 + b"=x\n"), GOOD),
    "a number of many digits": tarred(GOOD, pax(record("comment", "7" * 100_000)), GOOD),
    "a size below zero": tarred(GOOD, pax(record("size", "-5000")), (member("b.cu"), KERNEL)),
    "a name of two megabytes": without_end(tarred(GOOD))
    + tarred((member("long", tarfile.GNUTYPE_LONGNAME), b"n" * (2 * MIB)), GOOD),
    "headers without an end": without_end(tarred(GOOD))
    + tarred(*[pax(record("comment", "x" * (MIB // 2))) for _ in range(6)], GOOD),
    "a thousand headers of one member": without_end(tarred(GOOD))
    + tarred(*[pax(record("comment", "x")) for _ in range(2000)], GOOD),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_damage_costs_one_row(name: str, tmp_path: Path) -> None:
    found = rows(tmp_path, "bad.tar", DAMAGED[name])
    assert found.pop("good.cu") == ""
    assert found.pop("words.cu", "") in ("", "unreadable", "unsafe_path")
    assert found.pop("sparse.cu", "unsafe_path") == "unsafe_path"
    assert set(found) <= {"bad.tar", "b.cu"}
    assert found.get("bad.tar", "unreadable") == "unreadable"


LONG = "n" * 300
NAMES = {
    "300 characters": ([(member(f"{LONG}.cu"), KERNEL)], "unsafe_path"),
    "a folder of 300 characters": ([(member(f"{LONG}/a.cu"), KERNEL)], "unsafe_path"),
    "a path of 5,000": ([(member("d/" * 2500 + "a.cu"), KERNEL)], "unsafe_path"),
    "a link of 300 characters": (
        [(member(f"{LONG}.cu", tarfile.SYMTYPE, "good.cu"), b"")],
        "unsafe_path",
    ),
    "a link to 300 characters": (
        [(member("a.cu", tarfile.SYMTYPE, f"{LONG}.cu"), b"")],
        "unreadable",
    ),
    "a link to a megabyte": (
        [(member("a.cu", tarfile.SYMTYPE, "n" * (MIB - 100)), b"")],
        "unsafe_path",
    ),
    "a link to no text": ([(member("a.cu", tarfile.SYMTYPE, "\udcff"), b"")], "unreadable"),
    "a folder named like a link": (
        [
            (member("a.cu", tarfile.SYMTYPE, "good.cu"), b""),
            (member("a.cu/b.h"), b"int b;\n"),
        ],
        "unreadable",
    ),
    "a file in place of a folder": (
        [(member("d"), b"x"), (member("d/a.cu"), KERNEL)],
        "unreadable",
    ),
    "a link below a file": ([(member("good.cu/a.cu", tarfile.SYMTYPE, "../good.cu"), b"")],
        "unreadable"),
    "a folder in place of a file": (
        [(member("a.cu/b.h"), b"x"), (member("a.cu"), KERNEL)],
        "unreadable",
    ),
    "the root itself": ([(member("./."), KERNEL), (member("a.cu/.."), KERNEL)], "unsafe_path"),
}  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_names_that_no_file_can_have(name: str, tmp_path: Path) -> None:
    members, reason = NAMES[name]
    found = rows(tmp_path, "names.tar", tarred(GOOD, *members, (member("z.cu"), KERNEL)))
    assert found.pop("good.cu") == ""
    assert found.pop("z.cu") == ""
    assert reason in found.values()
    assert all(len(path) < 700 for path in found)


def test_the_name_of_the_archive_itself(tmp_path: Path) -> None:
    assert rows(tmp_path, "n" * 250 + ".tar", tarred(GOOD)) == {"good.cu": ""}


def size_on_disk(root: Path) -> int:
    return sum(path.stat().st_size for path in root.rglob("*") if path.is_file())


def unpacked(folder: Path, name: str, data: bytes, limits: ReadLimits) -> tuple[int, list[str]]:
    """(bytes on disk, reasons)."""
    (folder / name).write_bytes(data)
    made = unpack_archive(folder / name, folder / "out", limits)
    return size_on_disk(made.root), [problem.reason.value for problem in made.problems]


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE])
def test_links_count_as_what_they_are_copies_of(kind: bytes, tmp_path: Path) -> None:
    big = (member("big.h"), b" " * MIB)
    links = [(member(f"{n}.h", kind, "big.h"), b"") for n in range(500)]
    data = gzip.compress(tarred(big, *links))
    assert len(data) < 20_000
    size, reasons = unpacked(tmp_path, "a.tar.gz", data, ReadLimits(archive_bytes=8 * MIB))
    assert size <= 8 * MIB
    assert reasons == ["too_large"]


def zipped(members: dict[str, bytes], links: dict[str, str] | None = None) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
        for name, target in (links or {}).items():
            info = zipfile.ZipInfo(name)
            info.external_attr = 0o120777 << 16
            archive.writestr(info, target)
    return data.getvalue()


def test_links_in_a_zip_count(tmp_path: Path) -> None:
    data = zipped({"big.h": b" " * MIB}, {f"{n}.h": "big.h" for n in range(100)})
    size, reasons = unpacked(tmp_path, "a.zip", data, ReadLimits(archive_bytes=8 * MIB))
    assert size <= 8 * MIB
    assert reasons == ["too_large"]


def test_a_damaged_link_of_a_zip_costs_its_row_alone(tmp_path: Path) -> None:
    data = zipped({"a.cu": KERNEL, "z.cu": KERNEL}, {"link.cu": "nowhere-to-go"})
    found = rows(tmp_path, "a.zip", data.replace(b"nowhere-to-go", b"somewhere-to-"))
    assert found == {"a.cu": "", "z.cu": "", "link.cu": "unreadable"}


def test_what_is_decompressed_for_nothing_counts(tmp_path: Path) -> None:
    data = zipped({f"{n}.bin": bytes(2 * MIB) for n in range(40)})
    limits = ReadLimits(header_bytes=MIB, source_bytes=MIB, archive_bytes=8 * MIB)
    assert unpacked(tmp_path, "a.zip", data, limits) == (0, ["too_large"])


def test_the_directory_of_a_zip_is_not_read_before_it_is_measured(tmp_path: Path) -> None:
    limits = ReadLimits(archive_members=10)
    entry = struct.pack("<4s4B4HL2L5H2L", b"PK\x01\x02", 20, 3, 20, 0, *[0] * 14) + b"n"
    directory = entry.ljust(47, b"n") * (17 * MIB // 47)
    count = min(len(directory) // 47, 0xFFFF)
    end = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, count, count, len(directory), 0, 0)
    assert unpacked(tmp_path, "a.zip", directory + end, limits) == (0, ["too_large"])


def test_many_folders_are_members_too(tmp_path: Path) -> None:
    deep = [(member(f"{n}/" + "d/" * 150 + "a.h"), b"x") for n in range(50)]
    (tmp_path / "a.tar").write_bytes(tarred(*deep))
    made = unpack_archive(tmp_path / "a.tar", tmp_path / "out", ReadLimits(archive_members=1000))
    assert sum(path.is_dir() for path in made.root.rglob("*")) <= 1500
    assert [problem.reason.value for problem in made.problems] == ["too_large"]


@pytest.mark.parametrize("packed", [gzip.compress, lzma.compress, zstandard.compress])
def test_headers_alone_are_a_bomb(packed: Callable[[bytes], bytes], tmp_path: Path) -> None:
    """Members of no content, each with a header of half a megabyte."""
    one = without_end(tarred(pax(record("comment", "x" * (MIB // 2))), (member("a.h"), b"")))
    limits = ReadLimits(archive_members=100, archive_bytes=MIB)
    size, reasons = unpacked(tmp_path, "a.tar.gz", packed(one * 80), limits)
    assert (size, reasons) == (0, ["too_large"])


def test_a_sparse_file_of_an_exabyte(tmp_path: Path) -> None:
    sparse = pax(
        record("GNU.sparse.major", "0")
        + record("GNU.sparse.minor", "1")
        + record("GNU.sparse.name", "huge.cu")
        + record("GNU.sparse.size", str(1 << 60))
        + record("GNU.sparse.map", f"{(1 << 60) - 1},1")
    )
    found = rows(
        tmp_path, "a.tar", tarred(GOOD, sparse, (member("x"), b"1"), (member("z.cu"), KERNEL))
    )
    assert found == {"good.cu": "", "huge.cu": "unsafe_path", "z.cu": ""}


def test_a_member_that_the_archive_does_not_hold_is_not_looked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A header says 64 GiB and the file ends: tarfile would read six million empty blocks."""
    reads = 0

    class Counting(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            nonlocal reads
            reads += 1
            return super().read(size)

    huge = member("../huge.bin")  # refused for its name: its size is not looked at
    huge.size = 1 << 36
    data = without_end(tarred(GOOD)) + huge.tobuf()
    monkeypatch.setattr(tar_stream, "_decompressed", lambda file: Counting(file.read()))
    found = rows(tmp_path, "a.tar", data)
    assert found.pop("good.cu") == ""
    assert set(found.values()) == {"unsafe_path", "unreadable"}
    assert reads < 100


def test_unpacking_ends_when_it_is_told_to(tmp_path: Path) -> None:
    (tmp_path / "a.tar").write_bytes(tarred(*[(member(f"{n}.h"), b"x") for n in range(100)]))
    asked = 0

    class Enough(Exception):
        pass

    def check() -> None:
        nonlocal asked
        asked += 1
        if asked > 10:
            raise Enough

    with pytest.raises(Enough):
        unpack_archive(tmp_path / "a.tar", tmp_path / "out", ReadLimits(), check=check)
    assert asked == 11
    assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.parametrize(
    "records", [b"9" * 300 + b" a=b\n", b"5 a=\n", b"4 ab\n", b"0 a=b\n", b"x"]
)
def test_records_that_are_refused(records: bytes) -> None:
    if records == b"5 a=\n":
        check_pax(records)  # empty, and within its length
        return
    with pytest.raises(tarfile.ReadError):
        check_pax(records)


# Repositories


def git(folder: Path, *arguments: str, given: bytes = b"") -> str:
    who = {
        f"GIT_{role}_{what}": "a@b.c"
        for role in ("AUTHOR", "COMMITTER")
        for what in ("NAME", "EMAIL")
    }
    done = subprocess.run(
        ["git", *arguments],
        cwd=folder,
        input=given,
        capture_output=True,
        check=True,
        env={**os.environ, **who},
    )
    return done.stdout.decode().strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repository"
    folder.mkdir()
    git(folder, "init", "--quiet", "--initial-branch=main")
    return folder


def tree(folder: Path, entries: list[tuple[str, str, str]]) -> str:
    """A tree object of (mode, name, id); any names, in any order."""
    raw = b"".join(
        f"{mode} {name}\0".encode() + bytes.fromhex(object_id) for mode, name, object_id in entries
    )
    return git(folder, "hash-object", "-t", "tree", "-w", "--literally", "--stdin", given=raw)


def blob(folder: Path, content: bytes = KERNEL) -> str:
    return git(folder, "hash-object", "-w", "--stdin", given=content)


def commit(folder: Path, tree_id: str) -> str:
    made = git(folder, "commit-tree", "-m", "x", tree_id)
    git(folder, "update-ref", "refs/heads/main", made)
    return made


def repository_rows(folder: Path, work: Path) -> dict[str, str]:
    source = parse_source(f"repository:{folder}")
    items = source.iterate(work / "work", StoredTrees(Store(work / "store")))
    return {item.path: str(item.to_row()["reason"]) for item in items}


def bomb(folder: Path, levels: int) -> str:
    entry = ("100644", "{}.cu", blob(folder))
    for _ in range(levels):
        mode, name, object_id = entry
        entry = (
            "40000",
            "{}",
            tree(folder, [(mode, name.format(n), object_id) for n in range(10)]),
        )
    return commit(folder, entry[2])


@pytest.mark.parametrize("levels", [5, 9, 12])
def test_a_tree_bomb_is_one_row(levels: int, repository: Path, tmp_path: Path) -> None:
    bomb(repository, levels)
    assert repository_rows(repository, tmp_path) == {".": "too_large"}


def test_a_tree_larger_than_agreed_keeps_its_beginning(repository: Path) -> None:
    made = commit(repository, tree(repository, [("100644", f"{n}.cu", blob(repository))
                                                for n in range(10)]))  # fmt: skip
    with GitTree(repository, made, ReadLimits(archive_members=4)) as files:
        listed = list(files.walk())
    assert [each.path for each in listed] == ["0.cu", "1.cu", "2.cu", "3.cu", "."]
    assert listed[-1].problem is not None
    assert listed[-1].problem.reason.value == "too_large"


def test_a_missing_tree_is_one_row(repository: Path, tmp_path: Path) -> None:
    inner = tree(repository, [("100644", "b.cu", blob(repository))])
    commit(
        repository, tree(repository, [("100644", "a.cu", blob(repository)), ("40000", "d", inner)])
    )
    (repository / ".git" / "objects" / inner[:2] / inner[2:]).unlink()
    assert repository_rows(repository, tmp_path) == {"a.cu": "", ".": "unreadable"}


GIT_NAMES = {
    "300 characters": (f"{LONG}.cu", "unsafe_path"),
    "upwards": ("..", "unsafe_path"),
    "a line end": ("a\nb.cu", "unsafe_path"),
}


@pytest.mark.parametrize("name", GIT_NAMES)
def test_names_that_git_lists(name: str, repository: Path, tmp_path: Path) -> None:
    shown, reason = GIT_NAMES[name]
    entries = [("100644", "a.cu", blob(repository)), ("100644", shown, blob(repository))]
    commit(repository, tree(repository, entries))
    found = repository_rows(repository, tmp_path)
    assert found.pop("a.cu") == ""
    assert list(found.values()) == [reason]


def test_a_file_that_is_a_folder_too(repository: Path, tmp_path: Path) -> None:
    inner = tree(repository, [("100644", "b.cu", blob(repository))])
    entries = [("100644", "a.cu", blob(repository)), ("40000", "a.cu", inner)]
    commit(repository, tree(repository, entries))
    assert repository_rows(repository, tmp_path) == {"a.cu": "unreadable", "a.cu/b.cu": ""}


def test_a_header_with_a_name_of_300_characters(repository: Path, tmp_path: Path) -> None:
    main = blob(repository, f'#include "{LONG}.h"\n'.encode() + KERNEL)
    entries = [("100644", "a.cu", main), ("100644", f"{LONG}.h", blob(repository, b"int x;\n"))]
    commit(repository, tree(repository, entries))
    found = repository_rows(repository, tmp_path)
    assert found.pop("a.cu") in ("", "missing_header")
    assert set(found.values()) <= {"unsafe_path"}


def test_a_link_of_a_megabyte_is_not_read(repository: Path, tmp_path: Path) -> None:
    entries = [("120000", "a.cu", blob(repository, b"x/" * (MIB // 2)))]
    commit(repository, tree(repository, entries))
    assert repository_rows(repository, tmp_path) == {"a.cu": "unreadable"}


def test_links_that_grow_at_every_hop(repository: Path, tmp_path: Path) -> None:
    grows = blob(repository, b"l/" + b"x/" * 1000)
    commit(
        repository, tree(repository, [("100644", "a.cu", blob(repository)), ("120000", "l", grows)])
    )
    made = git(repository, "rev-parse", "main")
    with GitTree(repository, made) as files:
        assert not files.is_file("l/a.cu")


# Trees and folders


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"no archive",
        zstandard.compress(b"no tar" * 200),
        zstandard.compress(DAMAGED["a cut sparse map"]),
        zstandard.compress(DAMAGED["a sparse size that is no number"]),
        zstandard.compress(DAMAGED["a sparse map in words"]),
    ],
)
def test_a_damaged_tree_says_so(data: bytes) -> None:
    with pytest.raises(TreeError):
        read_archive(data)


def test_an_include_of_a_name_that_no_file_can_have(tmp_path: Path) -> None:
    text = f'#include "{LONG * 20}.h"\n#include "{LONG}/x.h"\n'.encode()
    (tmp_path / "a.cu").write_bytes(text + KERNEL)
    assert set(gather(Unit(tmp_path, PurePosixPath("a.cu"))).files) == {"a.cu"}
    source = parse_source(f"local:{tmp_path}")
    (item,) = source.iterate(tmp_path / "work", StoredTrees(Store(tmp_path / "store")))
    assert item.to_row()["reason"] != "internal_error"
