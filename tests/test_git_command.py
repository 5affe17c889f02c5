from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from cass_ray.git_command import GitError, run_git


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)
    hook = tmp_path / ".git" / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho 'the hook refuses' >&2\nexit 1\n")
    hook.chmod(0o755)
    return tmp_path


_COMMIT = ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "--allow-empty", "-qm", "x"]


def test_output_and_input_keep_bytes(repository: Path) -> None:
    text = "caf\udce9\n"  # a byte that is no UTF-8
    digest = run_git(["hash-object", "-w", "--stdin"], repository, text).strip()
    # SHA-1 of "blob 5\0caf\xe9\n", by sha1sum
    assert digest == subprocess.run(
        "printf 'blob 5\\000caf\\351\\n' | sha1sum | cut -c-40",
        shell=True, capture_output=True, text=True, check=True,
    ).stdout.strip()  # fmt: skip
    assert run_git(["cat-file", "blob", digest], repository) == text


def test_hooks_run_where_asked(repository: Path) -> None:
    with pytest.raises(GitError, match="the hook refuses"):
        run_git(_COMMIT, repository, hooks=True)
    run_git(_COMMIT, repository)
    assert run_git(["rev-list", "--count", "HEAD"], repository) == "1\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [(["no-such-command"], "no-such-command"), (["rev-parse", "--verify", "-q"], "git: ")],
)
def test_failures_carry_gits_message(repository: Path, arguments: list[str], said: str) -> None:
    with pytest.raises(GitError, match=said):
        run_git(arguments, repository)


def test_no_folder_and_no_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(GitError, match="No such file"):
        run_git(["status"], tmp_path / "absent")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(GitError, match="git"):
        run_git(["--version"], tmp_path)
