"""A result is there whole or not at all, whatever stops its writer."""

from __future__ import annotations

import errno
import os
import resource
import signal
import stat
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from cass_ray.whole_file import write_whole


def test_text_and_bytes_take_the_place_of_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "result"
    write_whole(path, "größer\n")
    assert path.read_bytes() == b"gr\xc3\xb6\xc3\x9fer\n"
    write_whole(path, b"\0\1")
    assert path.read_bytes() == b"\0\1"
    assert [path.name for path in tmp_path.iterdir()] == ["result"]


def test_permissions(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_whole(tmp_path / "new", b"")
        write_whole(tmp_path / "program", b"", mode=0o755)
    finally:
        os.umask(before)
    write_whole(tmp_path / "program", b"again")
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}
    assert modes == {"new": 0o640, "program": 0o755}


def test_a_link_stays_one(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("folder/file")
    write_whole(tmp_path / "link", b"through")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "folder" / "file").read_bytes() == b"through"


def test_a_pipe_is_written_to(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=write_whole, args=(pipe, b"piped"))
    writer.start()
    assert pipe.read_bytes() == b"piped"
    writer.join()
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_where_there_is_no_room_the_old_result_stays(tmp_path: Path) -> None:
    """The limit on a file's size stands in for a full disk: both stop a write in its middle."""
    path = tmp_path / "result"
    write_whole(path, b"old")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, limits[1]))
    try:
        with pytest.raises(OSError, match="result") as raised:
            write_whole(path, b"new" * 4096)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)
    assert (raised.value.errno, raised.value.filename) == (errno.EFBIG, str(path))
    assert path.read_bytes() == b"old"
    assert [path.name for path in tmp_path.iterdir()] == ["result"]


def test_a_folder_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as raised:
        write_whole(tmp_path / "none" / "result", b"")
    assert raised.value.filename == str(tmp_path / "none" / "result")


def test_threads_that_write_the_same_file_do_not_meet(tmp_path: Path) -> None:
    path = tmp_path / "result"
    contents = [bytes([n]) * 100_000 for n in range(8)]
    with ThreadPoolExecutor(8) as pool:
        for _ in range(20):
            for written in [pool.submit(write_whole, path, content) for content in contents]:
                written.result()
            assert path.read_bytes() in contents
    assert [each.name for each in tmp_path.iterdir()] == ["result"]
