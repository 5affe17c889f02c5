import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from cass_ray.corpus.program import Program, ReadReject
from tests.corpus.conftest import write_files

Read = Callable[..., list[Program | ReadReject]]
KERNEL = "__global__ void k(int *a) { a[0] = 1; }\n"


def reasons(items: list[Program | ReadReject]) -> dict[str, str]:
    return {row["path"]: row["reason"] for row in (item.to_row() for item in items)}


def test_every_bad_file_is_one_reject(tmp_path: Path, read: Read) -> None:
    write_files(
        tmp_path,
        {
            "good.cu": KERNEL,
            "empty.cu": "",
            "blank.cu": " \n\t\n",
            "binary.cu": b"\x7fELF\0\0",
            "latin.cu": "// größe\n".encode("latin-1") + KERNEL.encode(),
            "header.h": "",
            "folder.cu/inner.cu": KERNEL,
            "bell\a.cu": KERNEL,
        },
    )
    with (tmp_path / "huge.cu").open("wb") as huge:
        huge.truncate(50_000_000)
    (tmp_path / "loop.cu").symlink_to("loop.cu")
    (tmp_path / "circle").symlink_to(".", target_is_directory=True)
    (tmp_path / "gone.cu").symlink_to("nowhere")
    (tmp_path / "alias.cu").symlink_to("good.cu")
    (tmp_path / "escape.cu").symlink_to("/etc/passwd")
    (tmp_path / "host.cu").symlink_to(Path(os.devnull))
    os.mkfifo(tmp_path / "pipe.cu")
    (tmp_path / os.fsdecode(b"latin-\xe9.cu")).write_text(KERNEL)
    items = read(f"local:{tmp_path}")
    assert reasons(items) == {
        "good.cu": "",
        "alias.cu": "",
        "latin.cu": "",
        "folder.cu/inner.cu": "",
        "empty.cu": "empty",
        "blank.cu": "empty",
        "binary.cu": "binary",
        "huge.cu": "too_large",
        "loop.cu": "unreadable",
        "gone.cu": "unreadable",
        "pipe.cu": "unreadable",
        "host.cu": "unsafe_path",  # a link to a device, out of the tree
        "escape.cu": "unsafe_path",
        "bell\\x07.cu": "unsafe_path",
        "latin-\\xe9.cu": "unsafe_path",
    }
    assert len(items) == 15
    messages = {item.path: item.message for item in items if isinstance(item, ReadReject)}
    assert "50000000 bytes; the limit is 2000000" in messages["huge.cu"]
    assert "leads back to itself" in messages["loop.cu"]
    assert "/etc/passwd" in messages["escape.cu"]


@pytest.mark.parametrize(("depth", "reason"), [(150, ""), (1050, "unsafe_path")])
def test_folders_in_folders(tmp_path: Path, read: Read, depth: int, reason: str) -> None:
    """Deeper than Python's recursion limit: a row with a reason, and no crash."""
    folder = tmp_path
    for _ in range(depth):
        folder = folder / "d"
        folder.mkdir()
    (folder / "a.cu").write_text(KERNEL)
    try:
        assert [item.to_row()["reason"] for item in read(f"local:{tmp_path}")] == [reason]
    finally:
        # What is left behind would be too deep for shutil.rmtree.
        (folder / "a.cu").unlink()
        while folder != tmp_path:
            folder.rmdir()
            folder = folder.parent


def test_files_and_folders_without_permission(
    tmp_path: Path, read: Read, request: pytest.FixtureRequest
) -> None:
    write_files(tmp_path, {"a.cu": KERNEL, "closed/b.cu": KERNEL})
    (tmp_path / "a.cu").chmod(0)
    if os.access(tmp_path / "a.cu", os.R_OK):  # root may read everything: once more, without that
        without = "-dac_override,-dac_read_search"
        command = ["setpriv", f"--bounding-set={without}", f"--inh-caps={without}"]
        command += [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
        done = subprocess.run(
            [*command, request.node.nodeid], cwd=request.config.rootpath, check=False
        )
        assert done.returncode == 0
        return
    (tmp_path / "closed").chmod(0)
    items = read(f"local:{tmp_path}")
    (tmp_path / "closed").chmod(0o700)
    assert reasons(items) == {"a.cu": "unreadable", "closed": "unreadable"}


def test_rows_have_the_same_columns_and_a_fixed_order(tmp_path: Path, read: Read) -> None:
    write_files(tmp_path, {"b.cu": KERNEL, "a/z.cu": KERNEL, "c.cu": "", "a/b/y.cu": KERNEL})
    rows = [item.to_row() for item in read(f"local:{tmp_path}")]
    assert [row["path"] for row in rows] == ["b.cu", "c.cu", "a/z.cu", "a/b/y.cu"]
    assert {frozenset(row) for row in rows} == {frozenset(rows[0])}
    assert {row["filename"] for row in rows} == {"b.cu", "c.cu", "z.cu", "y.cu"}
    assert {row["origin"] for row in rows} == {"local"}
    assert [row["domain"] for row in rows] == ["general_compute", "", *["general_compute"] * 2]
