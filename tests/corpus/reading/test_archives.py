import io
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from cass_ray.corpus.program import Program, ReadReject
from cass_ray.corpus.reading.limits import ReadLimits
from cass_ray.corpus.reading.trees import StoredTrees
from cass_ray.corpus.sources.registry import parse_source

Read = Callable[..., list[Program | ReadReject]]
KERNEL = b"__global__ void k(int *a) { a[0] = 1; }\n"
FILES = {"p/main.cu": b'#include "a.h"\n' + KERNEL, "p/a.h": b"int a;\n", "p/data.bin": b"\0" * 99}


def rows(items: list[Program | ReadReject]) -> dict[str, str]:
    assert len({item.path for item in items}) == len(items)
    return {item.path: item.to_row()["reason"] for item in items}


def tar_of(members: list[tuple[tarfile.TarInfo, bytes]], mode: str = "w") -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=mode) as archive:  # type: ignore[call-overload]
        for member, content in members:
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return buffer.getvalue()


def member(name: str, kind: bytes = tarfile.REGTYPE, target: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info


def plain_tar(mode: str) -> bytes:
    return tar_of([(member(name), content) for name, content in FILES.items()], mode)


def plain_zip() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in FILES.items():
            archive.writestr(name, content)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.zip", plain_zip()),
        ("a.tar", plain_tar("w")),
        ("a.tar.gz", plain_tar("w:gz")),
        ("a.tgz", plain_tar("w:gz")),
        ("a.tar.bz2", plain_tar("w:bz2")),
        ("a.tar.xz", plain_tar("w:xz")),
        ("a.tar.zst", zstandard.compress(plain_tar("w"))),
    ],
)
def test_every_kind_of_archive(
    tmp_path: Path,
    read: Read,
    tree_of: Callable[[Program], dict[str, bytes]],
    name: str,
    content: bytes,
) -> None:
    (tmp_path / name).write_bytes(content)
    (program,) = read(f"local:{tmp_path / name}")
    assert isinstance(program, Program)
    assert program.provenance.repository == name
    assert tree_of(program) == {path: FILES[path] for path in ("p/main.cu", "p/a.h")}


def test_members_that_would_leave_the_archive(tmp_path: Path, read: Read) -> None:
    outside = tmp_path / "outside.cu"
    outside.write_bytes(KERNEL)
    hostile = tmp_path / "in" / "hostile.tar"
    hostile.parent.mkdir()
    hostile.write_bytes(
        tar_of(
            [
                (member("good.cu"), KERNEL),
                (member("../../evil.cu"), KERNEL),
                (member("/tmp/evil.cu"), KERNEL),
                (member("C:\\evil.cu"), KERNEL),
                (member("a/..\\..\\evil.cu"), KERNEL),
                (member("../evil.h"), b"int evil;"),
                (member("link.cu", tarfile.SYMTYPE, str(outside)), b""),
                (member("up.cu", tarfile.SYMTYPE, "../outside.cu"), b""),
                (member("hard.cu", tarfile.LNKTYPE, "../../outside.cu"), b""),
                (member("device.cu", tarfile.CHRTYPE), b""),
                (member("pipe.cu", tarfile.FIFOTYPE), b""),
                (member("folder", tarfile.SYMTYPE, str(tmp_path)), b""),
                (member("folder/planted.cu"), KERNEL),
                (member("loop.cu", tarfile.SYMTYPE, "loop.cu"), b""),
                (member("gone.cu", tarfile.SYMTYPE, "nowhere.cu"), b""),
            ]
        )
    )
    before = sorted(path for path in tmp_path.rglob("*"))
    found = rows(read(f"local:{hostile}"))
    assert sorted(path for path in tmp_path.rglob("*")) == before
    unsafe = {path for path, reason in found.items() if reason == "unsafe_path"}
    assert unsafe == {
        "../../evil.cu",
        "/tmp/evil.cu",
        "C:\\evil.cu",
        "a/..\\..\\evil.cu",
        "../evil.h",
        "link.cu",
        "up.cu",
        "hard.cu",
        "device.cu",
        "pipe.cu",
        "folder",
    }
    assert {path for path, reason in found.items() if not reason} == {
        "good.cu",
        "folder/planted.cu",
    }
    assert {path for path, reason in found.items() if reason == "unreadable"} == {
        "loop.cu",
        "gone.cu",
    }


def test_links_inside_the_archive_are_copies(
    tmp_path: Path, read: Read, tree_of: Callable[[Program], dict[str, bytes]]
) -> None:
    (tmp_path / "a.tar").write_bytes(
        tar_of(
            [
                (member("b/x.h", tarfile.SYMTYPE, "../a/x.h"), b""),
                (member("b/y.h", tarfile.SYMTYPE, "x.h"), b""),
                (member("a/x.h"), b"int x;\n"),
                (member("b/main.cu"), b'#include "y.h"\n' + KERNEL),
                (member("b/hard.cu", tarfile.LNKTYPE, "b/main.cu"), b""),
            ]
        )
    )
    items = {item.path: item for item in read(f"local:{tmp_path / 'a.tar'}")}
    assert set(items) == {"b/main.cu", "b/hard.cu"}
    main = items["b/main.cu"]
    assert isinstance(main, Program)
    assert tree_of(main)["b/y.h"] == b"int x;\n"
    assert items["b/hard.cu"].id == main.id


def test_zip_bomb(tmp_path: Path, read: Read) -> None:
    bomb = tmp_path / "bomb.zip"
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.cu", KERNEL)
        archive.writestr("big.cu", b" " * 5_000_000)
        archive.writestr("big.bin", b" " * 50_000_000)
        archive.writestr("z.cu", KERNEL)
    assert bomb.stat().st_size < 100_000
    assert rows(read(f"local:{bomb}")) == {"a.cu": "", "big.cu": "too_large", "z.cu": ""}


def test_limits_on_the_archive_as_a_whole(tmp_path: Path, read: Read) -> None:
    path = tmp_path / "many.tar.gz"
    path.write_bytes(tar_of([(member(f"{n:03}.cu"), KERNEL) for n in range(100)], "w:gz"))
    few = rows(read(f"local:{path}", ReadLimits(archive_members=3)))
    assert few == {"000.cu": "", "001.cu": "", "002.cu": "", "many.tar.gz": "too_large"}
    small = read(f"local:{path}", ReadLimits(archive_bytes=2 * len(KERNEL)))
    assert rows(small) == {
        "000.cu": "",
        "001.cu": "",
        "002.cu": "too_large",
        "many.tar.gz": "too_large",
    }


@pytest.mark.parametrize("suffix", [".zip", ".tar", ".tar.gz", ".tar.zst", ".tar.xz"])
def test_an_archive_that_is_none(tmp_path: Path, read: Read, suffix: str) -> None:
    path = tmp_path / f"broken{suffix}"
    path.write_bytes(b"this is not an archive, whatever its name says" * 40)
    (item,) = read(f"local:{path}")
    assert isinstance(item, ReadReject)
    assert (item.path, item.reason.value) == (path.name, "unreadable")
    assert "damaged" in item.message


def test_a_damaged_member_costs_its_row_alone(tmp_path: Path, read: Read) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name in ("a.cu", "b.cu", "c.cu"):
            archive.writestr(name, KERNEL + f"// {name}\n".encode())
    data = path.read_bytes()
    path.write_bytes(data.replace(b"// b.cu", b"// x.cu"))
    assert rows(read(f"local:{path}")) == {"a.cu": "", "b.cu": "unreadable", "c.cu": ""}


def test_what_is_skipped_counts_as_unpacked(tmp_path: Path, read: Read) -> None:
    path = tmp_path / "a.tar.gz"
    path.write_bytes(
        tar_of(
            [
                (member("a.cu"), KERNEL),
                (member("zeros"), bytes(9_000_000)),
                (member("b.cu"), KERNEL),
            ],
            "w:gz",
        )
    )
    assert rows(read(f"local:{path}", ReadLimits(archive_bytes=8_000_000))) == {
        "a.cu": "",
        "a.tar.gz": "too_large",
    }


def test_an_extended_header_is_not_read_whole(tmp_path: Path, read: Read) -> None:
    header = member("name", tarfile.XHDTYPE)
    path = tmp_path / "a.tar"
    path.write_bytes(tar_of([(header, b"9 path=x\n" * 200_000), (member("a.cu"), KERNEL)]))
    (item,) = read(f"local:{path}")
    assert isinstance(item, ReadReject)
    assert "extended header of 1800000 bytes" in item.message


def test_unpacked_files_are_removed(tmp_path: Path, store: StoredTrees) -> None:
    (tmp_path / "a.zip").write_bytes(plain_zip())
    source = parse_source(f"local:{tmp_path / 'a.zip'}")
    assert len(list(source.iterate(tmp_path / "work", store))) == 1
    assert not any(path.is_file() for path in (tmp_path / "work").rglob("*"))


def test_a_truncated_archive_gives_what_came_before(tmp_path: Path, read: Read) -> None:
    whole = tar_of([(member("a.cu"), KERNEL), (member("b.cu"), b"// b\n" * 4000)])
    path = tmp_path / "cut.tar"
    path.write_bytes(whole[: len(whole) // 2])
    found = rows(read(f"local:{path}"))
    assert found["a.cu"] == ""
    assert found["cut.tar"] == "unreadable"


def test_encrypted_zip_members(tmp_path: Path, read: Read) -> None:
    data = bytearray(plain_zip())
    for signature, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        position = data.find(signature)
        data[position + flags] |= 1
    (tmp_path / "locked.zip").write_bytes(data)
    assert "unreadable" in rows(read(f"local:{tmp_path / 'locked.zip'}")).values()


def test_a_glob_may_name_archives(tmp_path: Path, read: Read) -> None:
    (tmp_path / "one.zip").write_bytes(plain_zip())
    (tmp_path / "two.tar.gz").write_bytes(plain_tar("w:gz"))
    repositories = [item.provenance.repository for item in read(f"local:{tmp_path}/*")]
    assert repositories == ["one.zip", "two.tar.gz"]
