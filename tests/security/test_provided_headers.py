"""Packages of headers by strangers: what is not pinned, leads out or is too much is refused."""

from __future__ import annotations

import base64
import hashlib
import io
import tarfile
import zipfile
from pathlib import Path

import pytest

from cass_ray.toolchain.provided import debian, wheels
from cass_ray.toolchain.provided.debian import unpack_tar
from cass_ray.toolchain.provided.errors import HeadersError
from cass_ray.toolchain.provided.wheels import extract_headers

RECORD = "p-1.dist-info/RECORD"


def line(name: str, content: bytes) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(content)}\n"


def wheel(files: dict[str, bytes], record: str | None = None) -> tuple[io.BytesIO, str]:
    """A wheel, and the digest that pins it."""
    text = record if record is not None else "".join(line(*item) for item in files.items())
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
        archive.writestr(RECORD, text)
    return buffer, hashlib.sha256(text.encode()).hexdigest()


class TestWheels:
    def test_headers_alone_are_taken(self, tmp_path: Path) -> None:
        files = {
            "nvidia/cu13/include/a.h": b"a",
            "nvidia/cu13/include/deep/b.h": b"b",
            "nvidia/cu13/lib/libx.so": b"x",
            "include_me.py": b"y",
        }
        made, digest = wheel(files)

        assert extract_headers(made, tmp_path, digest) == 2
        found = {str(x.relative_to(tmp_path)) for x in tmp_path.rglob("*") if x.is_file()}
        assert found == {"a.h", "deep/b.h"}

    def test_another_record_is_not_the_pinned_one(self, tmp_path: Path) -> None:
        _, digest = wheel({"p/include/a.h": b"good"})
        other, _ = wheel({"p/include/a.h": b"evil"})

        with pytest.raises(HeadersError, match="not the pinned one"):
            extract_headers(other, tmp_path, digest)
        assert list(tmp_path.iterdir()) == []

    def test_a_file_that_is_not_the_one_of_the_record(self, tmp_path: Path) -> None:
        name = "p/include/a.h"
        other, digest = wheel({name: b"evil"}, line(name, b"good"))

        with pytest.raises(HeadersError, match="not the file that RECORD names"):
            extract_headers(other, tmp_path, digest)
        assert list(tmp_path.iterdir()) == []

    def test_a_file_that_no_record_names(self, tmp_path: Path) -> None:
        made, digest = wheel({"p/include/a.h": b"x"}, "")

        with pytest.raises(HeadersError, match="not the file that RECORD names"):
            extract_headers(made, tmp_path, digest)

    @pytest.mark.parametrize(
        "name",
        [
            "p/include/../../../x.h",
            "/include/x.h",
            "p/include//etc/x.h/../../y.h",
            "p\\include\\x.h",
        ],
    )
    def test_paths_that_lead_out(self, tmp_path: Path, name: str) -> None:
        made, digest = wheel({name: b"x"})

        with pytest.raises(HeadersError, match="unsafe path"):
            extract_headers(made, tmp_path / "inside", digest)
        assert list(tmp_path.rglob("*.h")) == []

    def test_more_than_headers_hold(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(wheels, "MAXIMUM_FILE_BYTES", 10)
        made, digest = wheel({"p/include/a.h": b"x" * 11})

        with pytest.raises(HeadersError, match="bytes"):
            extract_headers(made, tmp_path, digest)

    def test_more_files_than_headers_are(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(wheels, "MAXIMUM_FILES", 2)
        made, digest = wheel({f"p/include/{n}.h": b"x" for n in range(3)})

        with pytest.raises(HeadersError, match="more than 2 headers"):
            extract_headers(made, tmp_path, digest)

    def test_no_record_or_two(self, tmp_path: Path) -> None:
        made, digest = wheel({"p/include/a.h": b"x", "q-1.dist-info/RECORD": b""})

        with pytest.raises(HeadersError, match="one RECORD"):
            extract_headers(made, tmp_path, digest)


Member = tuple[str, bytes, str, bytes]


def tar(*members: Member) -> io.BytesIO:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, kind, link, content in members:
            info = tarfile.TarInfo(name)
            info.type, info.linkname, info.size = kind, link, len(content)
            archive.addfile(info, io.BytesIO(content))
    buffer.seek(0)
    return buffer


def file(name: str, content: bytes = b"x") -> Member:
    return (name, tarfile.REGTYPE, "", content)


def link(name: str, target: str) -> Member:
    return (name, tarfile.SYMTYPE, target, b"")


class TestDebianPackages:
    def test_files_and_links_inside(self, tmp_path: Path) -> None:
        made = tar(
            file("./usr/include/a.h", b"a"),
            link("./usr/include/b.h", "a.h"),
            link("./usr/include/deep/c.h", "/usr/include/a.h"),
            file("./usr/share/doc/a/README"),
            file("./etc/passwd"),
            file("./usr/lib/liba.a"),
        )

        unpack_tar(made, tmp_path)

        assert (tmp_path / "usr/include/b.h").read_bytes() == b"a"
        assert (tmp_path / "usr/include/deep/c.h").read_bytes() == b"a"
        assert not (tmp_path / "etc").exists()
        assert not (tmp_path / "usr/share").exists()
        assert not (tmp_path / "usr/lib").exists()

    @pytest.mark.parametrize(
        "name", ["/etc/x.h", "../x.h", "./usr/../../x.h", "usr/include/../../../y"]
    )
    def test_paths_that_lead_out(self, tmp_path: Path, name: str) -> None:
        with pytest.raises(HeadersError, match="unsafe path"):
            unpack_tar(tar(file(name)), tmp_path / "inside")
        assert not (tmp_path / "x.h").exists()

    @pytest.mark.parametrize("target", ["../../../../etc/passwd", "../../.."])
    def test_links_that_lead_out(self, tmp_path: Path, target: str) -> None:
        with pytest.raises(HeadersError, match="leads out"):
            unpack_tar(tar(link("usr/include/x.h", target)), tmp_path)

    @pytest.mark.parametrize("target", ["/etc/passwd", "/root/.ssh/id", "/proc/self/environ"])
    def test_absolute_links_are_the_packages_own_or_none(self, tmp_path: Path, target: str) -> None:
        unpack_tar(tar(link("usr/include/x.h", target)), tmp_path)

        assert not (tmp_path / "usr/include/x.h").is_symlink()

    def test_nothing_is_written_through_a_link(self, tmp_path: Path) -> None:
        outside = tmp_path / "outside"
        outside.mkdir()
        made = tar(link("usr/include/d", str(outside)), file("usr/include/d/x.h"))

        with pytest.raises(HeadersError, match="twice"):
            unpack_tar(made, tmp_path / "inside")
        assert list(outside.iterdir()) == []

    def test_a_hard_link_out(self, tmp_path: Path) -> None:
        made = tar(("usr/include/x.h", tarfile.LNKTYPE, "../../etc/passwd", b""))

        with pytest.raises(HeadersError, match="unsafe path"):
            unpack_tar(made, tmp_path)

    @pytest.mark.parametrize("kind", [tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE])
    def test_what_is_no_file(self, tmp_path: Path, kind: bytes) -> None:
        with pytest.raises(HeadersError, match="neither file, folder nor link"):
            unpack_tar(tar(("usr/include/x.h", kind, "", b"")), tmp_path)

    def test_more_than_a_package_holds(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(debian, "MAXIMUM_BYTES", 10)

        with pytest.raises(HeadersError, match="more than"):
            unpack_tar(tar(file("usr/include/x.h", b"x" * 11)), tmp_path)

    def test_programs_that_run_as_another_user_are_plain(self, tmp_path: Path) -> None:
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode="w") as archive:
            info = tarfile.TarInfo("usr/bin/x")
            info.mode, info.size = 0o6755, 1
            archive.addfile(info, io.BytesIO(b"x"))
        buffer.seek(0)

        unpack_tar(buffer, tmp_path)

        assert (tmp_path / "usr/bin/x").stat().st_mode & 0o7777 == 0o755
