"""Repositories whose configuration would run commands, or show other repositories of the host."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from cass_ray.corpus.reading.git import fetch_snapshot
from cass_ray.corpus.sources.registry import SourceError
from tests.security.test_archives import KERNEL, git, member, repository_rows, rows, tarred


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repository"
    folder.mkdir()
    git(folder, "init", "--quiet", "--initial-branch=main")
    (folder / "a.cu").write_bytes(KERNEL)
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", "x")
    return folder


COMMANDS = {
    "a monitor of files": "[core]\nfsmonitor = COMMAND\n",
    "hooks": "[core]\nhooksPath = FOLDER\n",
    "an ssh command": "[core]\nsshCommand = COMMAND\ngitProxy = COMMAND\n",
    "a pager": "[core]\npager = COMMAND\n[pager]\nls-tree = COMMAND\ncat-file = COMMAND\n",
    "an editor and a program to ask": "[core]\neditor = COMMAND\naskPass = COMMAND\n",
    "a filter": '[filter "x"]\nsmudge = COMMAND\nclean = COMMAND\nprocess = COMMAND\n',
    "a converter": '[diff "x"]\ntextconv = COMMAND\ncommand = COMMAND\n',
    "aliases of commands": "[alias]\nls-tree = !COMMAND\ncat-file = !COMMAND\n",
    "credentials": "[credential]\nhelper = !COMMAND\n",
    "a remote by a command": '[remote "origin"]\nurl = ext::COMMAND\nuploadpack = COMMAND\n'
    "promisor = true\npartialCloneFilter = blob:none\n",
    "a signature": "[gpg]\nprogram = COMMAND\n[log]\nshowSignature = true\n",
    "tracing": "[trace2]\neventTarget = WITNESS\nnormalTarget = WITNESS\nperfTarget = WITNESS\n",
    "an included file": "[include]\npath = FOLDER/more\n",
    "maintenance": "[gc]\nauto = 1\nrecentObjectsHook = COMMAND\n[maintenance]\nauto = true\n",
}


@pytest.mark.parametrize("attack", COMMANDS)
def test_configuration_runs_nothing(attack: str, repository: Path, tmp_path: Path) -> None:
    witness, folder = tmp_path / "witness", tmp_path / "hooks"
    folder.mkdir()
    command = folder / "command"
    command.write_text(f"#!/bin/sh\necho ran > {witness}\n")
    command.chmod(command.stat().st_mode | stat.S_IXUSR)
    for name in ("post-checkout", "pre-commit", "reference-transaction", "post-index-change"):
        (folder / name).symlink_to(command)
    (folder / "more").write_text(f"[core]\nfsmonitor = {command}\n")
    (repository / ".gitattributes").write_text("* filter=x diff=x\n")
    text = COMMANDS[attack].replace("COMMAND", str(command)).replace("FOLDER", str(folder))
    with (repository / ".git" / "config").open("a") as file:
        file.write(text.replace("WITNESS", str(witness)))
    assert repository_rows(repository, tmp_path) == {"a.cu": ""}
    assert not witness.exists()


@pytest.mark.parametrize(
    "kind", ["a file that names it", "a link", "alternates", "a common folder"]
)
def test_an_archive_does_not_show_a_repository_of_the_host(
    kind: str, repository: Path, tmp_path: Path
) -> None:
    """What is unpacked may look like a clone; the host's clones are not the archive's."""
    git_folder = repository / ".git"
    head = git(repository, "rev-parse", "HEAD")
    basic = [
        (member("x/.git/HEAD"), head.encode() + b"\n"),
        (member("x/.git/config"), b"[core]\nrepositoryformatversion = 0\nbare = false\n"),
        (member("x/.git/refs/keep"), b""),
        (member("x/.git/objects/keep"), b""),
    ]
    members = {
        "a file that names it": [(member("x/.git"), f"gitdir: {git_folder}\n".encode())],
        "a link": [(member("x/.git", b"2", str(git_folder)), b"")],
        "alternates": [
            *basic,
            (member("x/.git/objects/info/alternates"), f"{git_folder}/objects\n".encode()),
        ],
        "a common folder": [*basic, (member("x/.git/commondir"), f"{git_folder}\n".encode())],
    }[kind]
    found = rows(tmp_path, "x.tar", tarred((member("x/own.cu"), b"// own\n" + KERNEL), *members))
    assert "a.cu" not in {Path(path).name for path in found}


URLS = ["ext::sh -c touch% x", "--upload-pack=touch x", "-oProxyCommand=touch x", "--exec=x"]


@pytest.mark.parametrize("url", URLS)
@pytest.mark.parametrize("place", ["address", "revision"])
def test_addresses_that_are_commands(
    url: str, place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    address, revision = (url, "main") if place == "address" else (str(tmp_path / "none"), url)
    with pytest.raises(SourceError):
        fetch_snapshot(address, revision, tmp_path / "made" / "x.git")
    assert not (tmp_path / "x").exists() and not (tmp_path / "made" / "x").exists()
