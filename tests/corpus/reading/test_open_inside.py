"""Links, however built, lead to no file outside of the folder that is read."""

from __future__ import annotations

import os
from pathlib import Path, PurePosixPath

import pytest

from cass_ray.corpus.reading import source_files
from cass_ray.corpus.reading.open_inside import (
    OutsideError,
    TooLargeError,
    is_file_inside,
    open_inside,
    read_inside,
)
from cass_ray.corpus.reading.source_files import ProgramTooLargeError, gather
from cass_ray.toolchain.unit import Unit


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "root"
    (folder / "sub" / "deep").mkdir(parents=True)
    (folder / "a.h").write_text("inside")
    (folder / "sub" / "b.h").write_text("below")
    (tmp_path / "secret").write_text("outside")
    return folder


LEADING_IN = {
    "a.h": "inside",
    "sub/../a.h": "inside",
    "./sub//b.h": "below",
    "link": "inside",
    "sub/up": "inside",
    "absolute": "below",
    "folder/b.h": "below",
    "chain": "inside",
}


@pytest.mark.parametrize("name", LEADING_IN)
def test_what_stays_inside_is_read(root: Path, name: str) -> None:
    (root / "link").symlink_to("a.h")
    (root / "sub" / "up").symlink_to("../a.h")
    (root / "absolute").symlink_to(root / "sub" / "b.h")
    (root / "folder").symlink_to("sub")
    (root / "chain").symlink_to("link")
    assert read_inside(root, name, 100).decode() == LEADING_IN[name]
    assert is_file_inside(root, name)


LEADING_OUT = {
    "up": "../secret",
    "absolute": "{outside}/secret",
    "folder": "..",
    "system": "/etc/passwd",
    "deep": "sub/deep/../../../secret",
    "chain": "up",
}


@pytest.mark.parametrize("name", [*LEADING_OUT, "folder/secret", "../secret", "sub/../../secret"])
def test_what_leads_out_is_not(root: Path, name: str) -> None:
    for link, target in LEADING_OUT.items():
        (root / link).symlink_to(target.format(outside=root.parent))
    with pytest.raises(OutsideError):
        read_inside(root, name, 100)
    assert not is_file_inside(root, name)


def test_a_loop_of_links_a_pipe_and_a_folder_are_no_files(root: Path) -> None:
    (root / "one").symlink_to("two")
    (root / "two").symlink_to("one")
    os.mkfifo(root / "pipe")
    for name in ("one", "pipe", "sub", "a.h/b", "nowhere", "a\0b", "x" * 300):
        assert not is_file_inside(root, name), name
    with pytest.raises(OSError, match="levels of symbolic links"), open_inside(root, "one"):
        pass


def test_descriptors_are_given_back(root: Path) -> None:
    (root / "out").symlink_to("../secret")
    before = len(os.listdir("/proc/self/fd"))  # noqa: PTH208
    for name in ("a.h", "sub/b.h", "out", "nowhere", "sub"):
        is_file_inside(root, name)
    assert len(os.listdir("/proc/self/fd")) == before  # noqa: PTH208


def test_no_more_is_read_than_the_limit(root: Path) -> None:
    with (root / "sparse").open("wb") as file:
        file.truncate(20 << 30)
    with pytest.raises(TooLargeError):
        read_inside(root, "sparse", 1000)
    assert read_inside(root, "a.h", 6) == b"inside"


def test_a_program_holds_nothing_from_outside(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / "out.h").symlink_to("../secret")
    with (root / "sparse.h").open("wb") as file:
        file.truncate(20 << 30)
    (root / "main.cu").write_text('#include "a.h"\n#include "out.h"\n#include "sparse.h"\n')
    unit = Unit(root, PurePosixPath("main.cu"))
    assert sorted(gather(unit).files) == ["a.h", "main.cu"]
    monkeypatch.setattr(source_files, "PROGRAM_BYTES", 50)
    with pytest.raises(ProgramTooLargeError):
        gather(unit)
