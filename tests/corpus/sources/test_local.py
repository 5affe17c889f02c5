import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from cass_ray.corpus.program import ROW_SCHEMA, Program, ReadReject, SourceError
from cass_ray.corpus.reading.limits import ReadLimits
from cass_ray.corpus.sources.local import glob_pattern
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


def test_rows_have_one_schema_and_a_fixed_order(tmp_path: Path, read: Read) -> None:
    write_files(tmp_path, {"b.cu": KERNEL, "a/z.cu": KERNEL, "c.cu": "", "a/b/y.cu": KERNEL})
    rows = [item.to_row() for item in read(f"local:{tmp_path}")]
    assert [row["path"] for row in rows] == ["b.cu", "c.cu", "a/z.cu", "a/b/y.cu"]
    assert all(list(row) == ROW_SCHEMA.names for row in map(_in_schema_order, rows))
    assert {row["filename"] for row in rows} == {"b.cu", "c.cu", "z.cu", "y.cu"}
    assert {row["origin"] for row in rows} == {"local"}
    assert [row["domain"] for row in rows] == ["general_compute", "", *["general_compute"] * 2]


def _in_schema_order(row: dict[str, object]) -> dict[str, object]:
    assert set(row) == set(ROW_SCHEMA.names)
    return {name: row[name] for name in ROW_SCHEMA.names}


def test_standalone_programs_have_no_tree_and_others_only_their_closure(
    tmp_path: Path, read: Read, tree_of: Callable[[Program], dict[str, bytes]]
) -> None:
    write_files(
        tmp_path,
        {
            "alone.cu": "#include <cstdio>\n" + KERNEL,
            "uses.cu": '#include "deep/one.h"\n' + KERNEL,
            "deep/one.h": '#include "two.h"\n__global__ void h() {}\n',
            "deep/two.h": b"\xef\xbb\xbfint two;\n",
            "unrelated.h": "int unrelated;\n",
        },
    )
    programs = {item.path: item for item in read(f"local:{tmp_path}") if isinstance(item, Program)}
    alone, uses = programs["alone.cu"], programs["uses.cu"]
    assert (alone.tree, alone.include_directories, alone.header_kernels) == ("", (), 0)
    assert set(tree_of(uses)) == {"uses.cu", "deep/one.h", "deep/two.h"}
    assert tree_of(uses)["uses.cu"].decode() == uses.source
    assert tree_of(uses)["deep/two.h"] == b"int two;\n"
    assert uses.header_kernels == 1


def test_an_open_closure_takes_the_whole_project(
    tmp_path: Path, read: Read, tree_of: Callable[[Program], dict[str, bytes]]
) -> None:
    files: dict[str, str | bytes] = {
        "src/main.cu": "#include <config.h>\n#include CONFIG\n" + KERNEL,
        "src/other.cu": "#include <config.h>\n#include HEADER\n" + KERNEL,
        "include/config.h": "int config;\n",
        "notes.txt": "not a header",
        "include/blob.h": b"\0\1\2",
    }
    programs = read(f"local:{write_files(tmp_path, files)}")
    assert all(isinstance(item, Program) for item in programs)
    main, other = (item for item in programs if isinstance(item, Program))
    assert set(tree_of(main)) == {"src/main.cu", "src/other.cu", "include/config.h"}
    assert main.include_directories == ("include",)
    assert main.tree == other.tree


@pytest.mark.parametrize(
    ("include", "place", "taken"),
    [
        ('#include "Runtime.cpp"', "src/Runtime.cpp", True),
        ('#include "src/Runtime.cc"', "src/Runtime.cc", True),
        ('#include "../tables/sine.txt"', "tables/sine.txt", True),
        ('#include "kernel.impl"', "src/kernel.impl", True),
        ("#include <lib/tables/cosine.dat>", "include/lib/tables/cosine.dat", True),
        ('#include "lib/utils.hu"', "include/lib/utils.hu", True),
        ('// #include "Runtime.cpp"', "src/Runtime.cpp", False),
        ('#include "Other.cpp"', "src/Runtime.cpp", False),
        ('#include "../../Outside.cpp"', "src/Runtime.cpp", False),
    ],
)
def test_an_open_closure_takes_what_is_included_whatever_its_name(
    tmp_path: Path,
    read: Read,
    tree_of: Callable[[Program], dict[str, bytes]],
    include: str,
    place: str,
    taken: bool,
) -> None:
    files: dict[str, str | bytes] = {
        "src/a.cu": f'#include "generated.h"\n#include NAME\n{include}\n{KERNEL}',
        "src/b.h": "int b;\n",
        "src/main.cpp": "int main() {}\n",
        place: "int c;\n",
    }
    (program,) = read(f"local:{write_files(tmp_path / 'p', files)}")
    assert isinstance(program, Program)
    assert set(tree_of(program)) == {"src/a.cu", "src/b.h", *([place] if taken else [])}


def test_identity_follows_the_closure(tmp_path: Path, read: Read) -> None:
    def row_id(name: str, files: dict[str, str | bytes]) -> str:
        items = read(f"local:{write_files(tmp_path / name, files)}")
        (program,) = [item for item in items if item.path.endswith("main.cu")]
        return program.id

    main = '#include "a.h"\n' + KERNEL
    base = row_id("one", {"main.cu": main, "a.h": "int a;\n"})
    assert base == row_id("two", {"x/main.cu": "// c\n" + main, "x/a.h": "int  a; // c\n"})
    assert base != row_id("three", {"main.cu": main, "a.h": "int b;\n"})
    assert base != row_id("four", {"main.cu": main})


def test_single_file_of_any_name_sees_its_folder(
    tmp_path: Path, read: Read, tree_of: Callable[[Program], dict[str, bytes]]
) -> None:
    write_files(tmp_path, {"kernel.txt": '#include "a.h"\n' + KERNEL, "a.h": "", "b.cu": KERNEL})
    (program,) = read(f"local:{tmp_path / 'kernel.txt'}")
    assert isinstance(program, Program)
    assert program.path == "kernel.txt"
    assert set(tree_of(program)) == {"kernel.txt", "a.h"}


def test_glob(tmp_path: Path, read: Read) -> None:
    write_files(tmp_path, {"a/x.cu": KERNEL, "a/b/y.cu": KERNEL, "c/z.cu": KERNEL, "a/x.h": ""})
    assert set(reasons(read(f"local:{tmp_path}/a/**/*.cu"))) == {"x.cu", "b/y.cu"}
    assert set(reasons(read(f"local:{tmp_path}/*/[xz].*"))) == {"a/x.cu", "c/z.cu"}
    with pytest.raises(SourceError, match="no CUDA file or archive matches"):
        read(f"local:{tmp_path}/*.none")
    with pytest.raises(SourceError, match="no such folder"):
        read(f"local:{tmp_path}/gone/*.cu")


@pytest.mark.parametrize(
    ("pattern", "matches", "others"),
    [
        ("*.cu", ["a.cu", ".cu"], ["a/b.cu", "a.cuh"]),
        ("**/*.cu", ["a.cu", "x/y/a.cu"], ["a.h"]),
        ("src/**", ["src/a", "src/b/c"], ["a/src/b"]),
        ("[!a-c]?.cu", ["dx.cu"], ["ax.cu", "d.cu", "d/.cu"]),
        ("a[b.cu", ["a[b.cu"], ["ab.cu"]),
        ("a+(b).cu", ["a+(b).cu"], ["aa(b).cu"]),
    ],
)
def test_glob_patterns(pattern: str, matches: list[str], others: list[str]) -> None:
    compiled = glob_pattern(pattern)
    assert all(compiled.fullmatch(path) for path in matches)
    assert not any(compiled.fullmatch(path) for path in others)


def test_a_path_that_does_not_exist(read: Read) -> None:
    with pytest.raises(SourceError, match="no such file or folder"):
        read("local:/nowhere/at/all")


def test_limits_are_settings(tmp_path: Path, read: Read) -> None:
    write_files(tmp_path, {"a.cu": '#include "a.h"\n' + KERNEL, "a.h": "int a;\n" * 10})
    assert reasons(read(f"local:{tmp_path}", ReadLimits(source_bytes=10))) == {"a.cu": "too_large"}
    with_header, without = (
        read(f"local:{tmp_path}", ReadLimits(header_bytes=size))[0] for size in (70, 69)
    )
    assert with_header.id != without.id


def test_license_of_the_folder_and_of_the_file(tmp_path: Path, read: Read) -> None:
    write_files(
        tmp_path,
        {
            "LICENSE": "Apache License\n   Version 2.0, January 2004\n",
            "a.cu": KERNEL,
            "b.cu": "// SPDX-License-Identifier: MIT\n" + KERNEL,
        },
    )
    licenses = {
        row["path"]: row["license"] for row in (i.to_row() for i in read(f"local:{tmp_path}"))
    }
    assert licenses == {"a.cu": "Apache-2.0", "b.cu": "MIT"}
