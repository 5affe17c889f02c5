import hashlib
import io
import json
import os
import subprocess
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from cass_ray.corpus.program import Program, ReadReject, SourceError
from cass_ray.corpus.sources.repositories import RepositoryAddress, parse_address, repository_name
from tests.corpus.conftest import write_files

Read = Callable[..., list[Program | ReadReject]]
KERNEL = "__global__ void k(int *a) { a[0] = 1; }\n"
MIT = (
    "Permission is hereby granted, free of charge, to any person\n"
    'THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY\n'
)


def git(folder: Path, *arguments: str) -> str:
    identity = {
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_SYSTEM": os.devnull,
        **{
            f"GIT_{who}_{what}": "a@b"
            for who in ("AUTHOR", "COMMITTER")
            for what in ("NAME", "EMAIL")
        },
    }
    command = ["git", *arguments]
    result = subprocess.run(
        command, cwd=folder, env=os.environ | identity, capture_output=True, text=True, check=True
    )
    return result.stdout.strip()


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A repository with two commits; the tag ``old`` names the first."""
    root = tmp_path / "project"
    root.mkdir()
    git(root, "init", "--quiet", "--initial-branch=main")
    files: dict[str, str | bytes] = {
        "src/main.cu": '#include "common.h"\n#include "inner/x.h"\n' + KERNEL,
        "include/common.h": "int common;\n",
        "libs/inner/x.h": "int x;\n",
        "LICENSE": MIT,
        ".gitattributes": "src export-ignore\n",
    }
    write_files(root, files)
    git(root, "add", ".")
    git(root, "commit", "--quiet", "-m", "one")
    git(root, "tag", "old")
    write_files(root, {"src/second.cu": "int second;\n" + KERNEL})
    git(root, "add", ".")
    git(root, "commit", "--quiet", "-m", "two")
    return root


def programs(items: list[Program | ReadReject]) -> dict[str, Program]:
    assert all(isinstance(item, Program) for item in items), items
    return {item.path: item for item in items if isinstance(item, Program)}


def test_local_clone(
    clone: Path, read: Read, tree_of: Callable[[Program], dict[str, bytes]]
) -> None:
    write_files(clone, {"src/uncommitted.cu": KERNEL})
    found = programs(read(f"repository:{clone}"))
    assert set(found) == {"src/main.cu", "src/second.cu"}
    main = found["src/main.cu"]
    row = main.to_row()
    assert (row["origin"], row["repository"], row["license"]) == ("repository", "project", "MIT")
    assert row["revision"] == git(clone, "rev-parse", "HEAD")
    assert set(tree_of(main)) == {"src/main.cu", "include/common.h", "libs/inner/x.h"}
    assert set(main.include_directories) == {"include", "libs"}


@pytest.mark.parametrize("revision", ["old", "main~1", "HEAD^"])
def test_revision_of_a_local_clone(clone: Path, read: Read, revision: str) -> None:
    found = programs(read(f"repository:{clone}@{revision}"))
    assert set(found) == {"src/main.cu"}
    assert found["src/main.cu"].provenance.revision == git(clone, "rev-parse", "old")


def test_bare_clone_gives_the_same_programs(clone: Path, tmp_path: Path, read: Read) -> None:
    bare = tmp_path / "copies" / "project.git"
    git(tmp_path, "clone", "--quiet", "--bare", str(clone), str(bare))
    git(bare, "config", "remote.origin.url", "git@example.org:owner/project.git")
    ids = {path: program.id for path, program in programs(read(f"repository:{bare}")).items()}
    found = programs(read(f"repository:{clone}"))
    assert ids == {path: program.id for path, program in found.items()}
    (repository,) = {item.provenance.repository for item in read(f"repository:{bare}")}
    assert repository == "owner/project"


def test_url_is_fetched_once(clone: Path, tmp_path: Path, read: Read) -> None:
    url = clone.as_uri()
    commit = git(clone, "rev-parse", "HEAD")
    assert {item.provenance.revision for item in read(f"repository:{url}")} == {commit}
    assert set(programs(read(f"repository:{url}@old"))) == {"src/main.cu"}
    with pytest.raises(SourceError, match="gone"):
        read(f"repository:{url}@gone")
    with pytest.raises(SourceError, match="nowhere"):
        read(f"repository:{(tmp_path / 'nowhere').as_uri()}")


def test_a_resumed_run_sees_the_same_snapshot(clone: Path, tmp_path: Path, store: object) -> None:
    from cass_ray.corpus.sources.registry import parse_source

    source = parse_source(f"repository:{clone.as_uri()}")
    first = [item.id for item in source.iterate(tmp_path / "work", store)]  # type: ignore[arg-type]
    write_files(clone, {"src/third.cu": "int third;\n" + KERNEL})
    git(clone, "add", ".")
    git(clone, "commit", "--quiet", "-m", "three")
    again = [item.id for item in source.iterate(tmp_path / "work", store)]  # type: ignore[arg-type]
    assert again == first


def test_links_in_a_commit(clone: Path, read: Read) -> None:
    for name, target in {
        "alias.cu": "src/main.cu",
        "linked": "src",
        "loop.cu": "loop.cu",
        "out.cu": "../../etc/passwd",
        "absolute.cu": "/etc/passwd",
        "gone.cu": "src/nowhere.cu",
        "through.cu": "linked/second.cu",
    }.items():
        (clone / name).symlink_to(target)
    git(clone, "add", ".")
    git(clone, "commit", "--quiet", "-m", "links")
    items = {item.path: item for item in read(f"repository:{clone}")}
    reasons = {path: item.to_row()["reason"] for path, item in items.items()}
    assert reasons == {
        "src/main.cu": "",
        "src/second.cu": "",
        "alias.cu": "",
        "through.cu": "",
        "loop.cu": "unreadable",
        "gone.cu": "unreadable",
        "out.cu": "unsafe_path",
        "absolute.cu": "unsafe_path",
    }
    assert items["through.cu"].id == items["src/second.cu"].id


def test_objects_that_are_missing_cost_their_rows_alone(clone: Path, read: Read) -> None:
    blob = git(clone, "rev-parse", "HEAD:src/second.cu")
    path = clone / ".git" / "objects" / blob[:2] / blob[2:]
    path.chmod(0o644)
    path.unlink()
    items = {item.path: item.to_row()["reason"] for item in read(f"repository:{clone}")}
    assert items == {"src/main.cu": "", "src/second.cu": "unreadable"}


def test_bad_addresses(clone: Path, tmp_path: Path, read: Read) -> None:
    plain = tmp_path / "plain"
    plain.mkdir()
    with pytest.raises(SourceError, match="write local:"):
        read(f"repository:{plain}")
    with pytest.raises(SourceError, match="no revision called 'v9'"):
        read(f"repository:{clone}@v9")
    with pytest.raises(SourceError, match="no revision called '--help'"):
        read(f"repository:{clone}@--help")
    with pytest.raises(SourceError, match="neither a URL nor a folder"):
        read("repository:/nowhere/at/all")


def test_a_folder_of_clones(clone: Path, read: Read) -> None:
    write_files(clone.parent, {"loose.cu": KERNEL})
    items = {(item.provenance.repository, item.path) for item in read(f"local:{clone.parent}")}
    assert items == {
        (clone.parent.name, "loose.cu"),
        ("project", "src/main.cu"),
        ("project", "src/second.cu"),
    }


@pytest.mark.parametrize(
    ("text", "address", "name"),
    [
        (
            "https://host/owner/name.git",
            RepositoryAddress("https://host/owner/name.git"),
            "owner/name",
        ),
        (
            "https://host/owner/name@v1",
            RepositoryAddress("https://host/owner/name", "v1"),
            "owner/name",
        ),
        ("https://u@host/o/n@a/b", RepositoryAddress("https://u@host/o/n", "a/b"), "o/n"),
        ("git@host:o/n.git", RepositoryAddress("git@host:o/n.git"), "o/n"),
        ("git@host:o/n.git@main", RepositoryAddress("git@host:o/n.git", "main"), "o/n"),
        ("ssh://git@host:22/o/n", RepositoryAddress("ssh://git@host:22/o/n"), "o/n"),
    ],
)
def test_addresses(text: str, address: RepositoryAddress, name: str) -> None:
    assert parse_address(text) == address
    assert parse_address(text).is_remote
    assert repository_name(address.location) == name


def test_an_at_sign_in_the_name_of_a_folder(tmp_path: Path) -> None:
    folder = tmp_path / "a@b"
    folder.mkdir()
    assert parse_address(str(folder)) == RepositoryAddress(str(folder))
    assert parse_address(f"{folder}@v1") == RepositoryAddress(str(folder), "v1")
    assert not parse_address(str(folder)).is_remote


def test_snapshot_archive_is_a_repository_with_its_hash_as_revision(
    read: Callable[..., list[Program | ReadReject]],
    tree_of: Callable[[Program], dict[str, bytes]],
    tmp_path: Path,
) -> None:
    files = {
        "name-1.2/LICENSE": "SPDX-License-Identifier: MIT\n",
        "name-1.2/include/a.h": "#define A 1\n",
        "name-1.2/src/k.cu": '#include "a.h"\n__global__ void k(int *p) { *p = A; }\n',
        "name-1.2/compile_commands.json": json.dumps(
            [{"directory": "/build", "file": "src/k.cu", "command": "nvcc -I../include src/k.cu"}]
        ),
    }
    path = tmp_path / "name-1.2.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        for name, text in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text.encode()))
    (program,) = read(f"repository:{path}")
    assert isinstance(program, Program)
    row = program.to_row()
    assert (row["origin"], row["repository"], row["path"]) == (
        "repository",
        "name-1.2",
        "src/k.cu",
    )
    assert row["revision"] == hashlib.sha256(path.read_bytes()).hexdigest()
    assert row["license"] == "MIT"
    assert set(tree_of(program)) == {"src/k.cu", "include/a.h"}
