"""The difference between a project and its port, as a patch that ``git apply`` takes."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

from cass_ray.translate.project.tree import STATE


class PatchError(RuntimeError):
    """git is missing, or failed; the message is its own."""


def make_patch(original: Path, port: Path) -> str:
    """What leads from the tree ``original`` to the tree ``port``, with a/ and b/ before paths.

    Files are compared byte by byte, whatever attributes the project gives them.
    """
    with tempfile.TemporaryDirectory() as folder:
        repository = Path(folder) / "git"
        _git(["init", "--quiet", "--bare", str(repository)])
        (repository / "info").mkdir(exist_ok=True)
        (repository / "info" / "attributes").write_text("* -text -filter -ident diff\n")
        (repository / "info" / "exclude").write_text(f"/{STATE}\n")
        before, after = (_tree(repository, tree, Path(folder)) for tree in (original, port))
        options = ["--no-color", "--no-ext-diff", "--no-textconv", "--full-index"]
        return _git([f"--git-dir={repository}", "diff", *options, before, after])


def _tree(repository: Path, tree: Path, folder: Path) -> str:
    where = [f"--git-dir={repository}", f"--work-tree={tree}"]
    # The state file stays out by info/exclude; what the project itself ignores is in both trees.
    state = f":(exclude){STATE}"
    (repository / "index").unlink(missing_ok=True)
    _git([*where, "add", "--all", "--force", "--", ".", state], folder)
    return _git([*where, "write-tree"]).strip()


def _git(arguments: list[str], folder: Path | None = None) -> str:
    command = ["git", "-c", "core.hooksPath=/dev/null", "-c", "core.autocrlf=false", *arguments]
    work_tree = next((a.partition("=")[2] for a in arguments if a.startswith("--work-tree=")), None)
    try:
        done = subprocess.run(
            command, cwd=work_tree or folder, capture_output=True, check=False, timeout=600
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise PatchError(f"git: {error}") from error
    if done.returncode != 0:
        raise PatchError(f"git: {done.stderr.decode('utf-8', 'replace').strip()[-400:]}")
    return done.stdout.decode("utf-8", "surrogateescape")
