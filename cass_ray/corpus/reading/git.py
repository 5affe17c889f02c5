"""Reads revisions of git repositories: no work tree is needed and none is made.

Repositories are untrusted: no hook, transport or configured command of theirs is run. A local
repository is only listed and read; objects that a partial clone lacks count as unreadable.
"""

from __future__ import annotations

import os
import posixpath
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from cass_ray.corpus.program import SourceError
from cass_ray.corpus.reading.filetree import FileProblemError, Listed, path_problem
from cass_ray.corpus.reading.limits import ReadLimits
from cass_ray.dataset.row import Reason
from cass_ray.printable import printable

_FETCH_SECONDS = 1800
_LOCAL_SECONDS = 120
_LINK_HOPS = 40
_LINK_BYTES = 4096
_LISTED_PATH_BYTES = 256 << 20
_FIRST_REPEATS = 20_000
"""Entries of a listing before its share of repeated objects is looked at."""
_REPEATS = 8
"""Times that an object of a large tree is listed on average; honest trees are near 1."""
_SAFE = (
    "-c", "safe.directory=*",
    "-c", "core.hooksPath=/dev/null",
    "-c", "core.fsmonitor=false",
    "-c", "protocol.ext.allow=never",
)  # fmt: skip
_OFFLINE = ("-c", "protocol.allow=never")
"""Keeps a partial clone from fetching what it lacks through a command of its own choice."""


def find_git_directory(path: Path) -> Path:
    """The git directory of the clone (bare or not) at exactly ``path``.

    Raises:
        SourceError: ``path`` is not a clone.
    """
    environment = {"GIT_CEILING_DIRECTORIES": str(path.resolve().parent)}
    try:
        output = _git(path, "rev-parse", "--absolute-git-dir", environment=environment)
    except SourceError:
        raise SourceError(
            f"repository:{path}: not a git repository; for a plain folder write local:{path}"
        ) from None
    return Path(output)


def resolve_revision(git_directory: Path, revision: str) -> str:
    """The full commit id that ``revision`` (branch, tag, id, ``HEAD``) names."""
    try:
        return _git(
            git_directory, "rev-parse", "--verify", "--quiet", "--end-of-options",
            f"{revision}^{{commit}}",
        )  # fmt: skip
    except SourceError:
        raise SourceError(f"{git_directory}: no revision called {revision!r}") from None


def origin_url(git_directory: Path) -> str:
    """The URL that the repository was cloned from, or ""."""
    try:
        return _git(git_directory, "config", "--get", "remote.origin.url")
    except SourceError:
        return ""


def fetch_snapshot(url: str, revision: str, destination: Path) -> str:
    """Fetch one revision of ``url``, without history, into a bare repository at ``destination``.

    A snapshot that is there already is used as it is, so that a resumed run sees the same one.

    Returns:
        The commit id.

    Raises:
        SourceError: git's own message, with the URL and the revision.
    """
    if not destination.is_dir():
        destination.parent.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(prefix=".fetch-", dir=destination.parent))
        try:
            _git(temporary, "init", "--quiet", "--bare", ".")
            _git(
                temporary, "fetch", "--quiet", "--depth=1", "--no-tags",
                "--no-recurse-submodules", "--end-of-options", url, revision,
                seconds=_FETCH_SECONDS, offline=False,
            )  # fmt: skip
            _git(temporary, "update-ref", "refs/heads/snapshot", "FETCH_HEAD")
            temporary.rename(destination)
        except SourceError as error:
            raise SourceError(f"repository {url}, revision {revision}: {error}") from None
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
    return resolve_revision(destination, "refs/heads/snapshot")


def _git(
    directory: Path,
    *arguments: str,
    seconds: int = _LOCAL_SECONDS,
    offline: bool = True,
    environment: dict[str, str] | None = None,
) -> str:
    """Run git in ``directory``; its output, stripped."""
    command = ["git", *_SAFE, *(_OFFLINE if offline else ()), *arguments]
    try:
        completed = subprocess.run(
            command,
            cwd=directory,
            env=_environment() | (environment or {}),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=seconds,
            check=False,
        )
    except FileNotFoundError:
        if not directory.is_dir():
            raise SourceError(f"{directory}: no such folder") from None
        raise SourceError("git is not installed; install it to read repositories") from None
    except subprocess.TimeoutExpired:
        raise SourceError(f"git {arguments[0]} took longer than {seconds} s") from None
    if completed.returncode != 0:
        message = completed.stderr.decode("utf-8", "replace").strip()
        raise SourceError(f"git {arguments[0]}: {message or 'failed without a message'}")
    return completed.stdout.decode("utf-8", "surrogateescape").strip()


def _environment() -> dict[str, str]:
    """Without variables that point git at another repository, and without prompts."""
    inherited = {
        name: value
        for name, value in os.environ.items()
        if name not in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY")
    }
    return inherited | {
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_NO_LAZY_FETCH": "1",
        "LC_ALL": "C",
    }


@dataclass(frozen=True, slots=True)
class _Blob:
    object_id: str
    is_link: bool


class GitTree:
    """The files of one commit; a ``FileTree``. Use as a context manager: it keeps git running.

    A listing that is damaged or too large ends in an entry with that problem.

    Args:
        git_directory: the repository.
        commit: a full commit id.
        limits: how many entries are listed at most.
    """

    def __init__(self, git_directory: Path, commit: str, limits: ReadLimits | None = None) -> None:
        self._git_directory = git_directory
        self._blobs: dict[str, _Blob] = {}
        self._problem: FileProblemError | None = None
        self.submodules: dict[str, str] = {}
        """Commits of submodules, by their folder."""
        try:
            for path, blob in _list_blobs(
                git_directory, commit, limits or ReadLimits(), self.submodules
            ):
                self._blobs[path] = blob
        except _TreeBombError as problem:
            self._blobs.clear()
            self._problem = problem
        except FileProblemError as problem:
            self._problem = problem
        self._directories = {""}
        for path in self._blobs:
            while (path := posixpath.dirname(path)) not in self._directories:
                self._directories.add(path)
        self._objects = _ObjectReader(git_directory)

    def __enter__(self) -> GitTree:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._objects.close()

    def walk(self) -> Iterator[Listed]:
        """Files and symbolic links in the order of git (bytes of the whole path)."""
        for path in self._blobs:
            yield Listed(path, self._path_problem(path))
        if self._problem is not None:
            yield Listed(".", self._problem)

    def _path_problem(self, path: str) -> FileProblemError | None:
        """Why no file can be written at ``path``; a tree object may list any name, even twice."""
        if path in self._directories:
            return FileProblemError(
                Reason.UNREADABLE, f"{printable(path)}: both a file and a folder in the commit"
            )
        return path_problem(path)

    def is_file(self, path: str) -> bool:
        """Whether ``path`` is a file, or a link to one in the same commit."""
        try:
            self._blob(path)
        except FileProblemError:
            return False
        return True

    def is_directory(self, path: str) -> bool:
        """Whether ``path`` is a directory of the commit."""
        return posixpath.normpath(path) in self._directories or path in ("", ".")

    def size(self, path: str) -> int:
        """Size in bytes; nothing is read."""
        return self._objects.size(self._blob(path).object_id, path)

    def read(self, path: str) -> bytes:
        return self._objects.read(self._blob(path).object_id, path)

    def _blob(self, path: str) -> _Blob:
        """The file a path leads to, through symbolic links of files and of directories."""
        current = posixpath.normpath(path)
        for _ in range(_LINK_HOPS):
            link = self._first_link(current)
            if link is None:
                blob = self._blobs.get(current)
                if blob is None:
                    raise FileProblemError(
                        Reason.UNREADABLE, f"{printable(path)}: no such file in the commit"
                    )
                if problem := self._path_problem(current):
                    raise problem
                return blob
            target = self._link_target(link)
            rest = current[len(link) :]
            current = posixpath.normpath(posixpath.join(posixpath.dirname(link), target) + rest)
            if len(current) > _LINK_BYTES:
                raise FileProblemError(
                    Reason.UNREADABLE, f"{printable(path)}: leads to a path that is too long"
                )
            if current.startswith(("/", "../")) or current == "..":
                raise FileProblemError(
                    Reason.UNSAFE_PATH,
                    f"{printable(path)}: a symbolic link out of the repository, to "
                    f"{printable(target)}",
                )
        raise FileProblemError(
            Reason.UNREADABLE, f"{printable(path)}: a symbolic link that leads back to itself"
        )

    def _link_target(self, link: str) -> str:
        object_id = self._blobs[link].object_id
        size = self._objects.size(object_id, link)
        if size > _LINK_BYTES:
            raise FileProblemError(
                Reason.UNREADABLE, f"{printable(link)}: a symbolic link of {size} bytes"
            )
        return self._objects.read(object_id, link).decode("utf-8", "replace")

    def _first_link(self, path: str) -> str | None:
        """The shortest leading part of ``path`` that is a symbolic link."""
        end = path.find("/")
        while end != -1:
            blob = self._blobs.get(path[:end])
            if blob is not None:
                return path[:end] if blob.is_link else None
            end = path.find("/", end + 1)
        blob = self._blobs.get(path)
        return path if blob is not None and blob.is_link else None


class _TreeBombError(FileProblemError):
    """A few objects, listed over and over: no path of such a tree means anything."""


def _list_blobs(
    git_directory: Path, commit: str, limits: ReadLimits, submodules: dict[str, str]
) -> Iterator[tuple[str, _Blob]]:
    """Files and links of a commit; commits of submodules are put into ``submodules``.

    Raises :class:`FileProblemError` after those that there are.
    """
    objects: set[str] = set()
    path_bytes = 0
    for count, entry in enumerate(_listing(git_directory, commit), 1):
        description, _, path = entry.partition("\t")
        mode, kind, object_id = description.split(" ")
        objects.add(object_id)
        if count > _FIRST_REPEATS and count > _REPEATS * len(objects):
            raise _TreeBombError(
                Reason.TOO_LARGE,
                f"{commit}: lists {len(objects)} objects as {count} files and folders, and more",
            )
        path_bytes += len(path)
        if count > limits.archive_members or path_bytes > _LISTED_PATH_BYTES:
            raise FileProblemError(
                Reason.TOO_LARGE,
                f"{commit}: more than {limits.archive_members} files and folders, or more than "
                f"{_LISTED_PATH_BYTES} bytes of paths; the rest was left out",
            )
        if kind == "commit":
            submodules[path] = object_id
        if kind == "blob":
            yield path, _Blob(object_id, mode == "120000")


def _listing(git_directory: Path, commit: str) -> Iterator[str]:
    """Entries of ``git ls-tree`` as they come, folders among them; git ends with the iterator."""
    command = ["git", *_SAFE, *_OFFLINE, "ls-tree", "-r", "-t", "-z", "--full-tree", commit]
    with (
        tempfile.TemporaryFile() as messages,
        subprocess.Popen(
            command,
            cwd=git_directory,
            env=_environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=messages,
        ) as process,
    ):
        watch = threading.Timer(_LOCAL_SECONDS, process.kill)
        watch.start()
        try:
            assert process.stdout is not None
            rest = b""
            while chunk := process.stdout.read1(1 << 16):  # type: ignore[attr-defined]
                *entries, rest = (rest + chunk).split(b"\0")
                for entry in entries:
                    yield entry.decode("utf-8", "surrogateescape")
                if len(rest) > _LISTED_PATH_BYTES >> 8:
                    break  # a path of a megabyte
            status = process.wait() if not rest else -1
        finally:
            watch.cancel()
            process.kill()
        if status != 0:
            messages.seek(0)
            said = messages.read(2000).decode("utf-8", "replace").strip()
            raise FileProblemError(
                Reason.UNREADABLE, f"{commit}: the tree is damaged: {said or 'git ended early'}"
            )


class _ObjectReader:
    """Two git processes that answer for sizes and contents, started when first asked."""

    def __init__(self, git_directory: Path) -> None:
        self._git_directory = git_directory
        self._processes: dict[str, subprocess.Popen[bytes]] = {}

    def size(self, object_id: str, path: str) -> int:
        return self._ask("--batch-check", object_id, path)[1]

    def read(self, object_id: str, path: str) -> bytes:
        output, size = self._ask("--batch", object_id, path)
        content = output.read(size)
        output.read(1)
        if len(content) != size:
            raise FileProblemError(Reason.UNREADABLE, f"{printable(path)}: git ended early")
        return content

    def _ask(self, mode: str, object_id: str, path: str) -> tuple[IO[bytes], int]:
        process = self._process(mode)
        if process.stdin is None or process.stdout is None:
            raise AssertionError("the process was started with pipes")
        try:
            process.stdin.write(object_id.encode() + b"\n")
            process.stdin.flush()
        except BrokenPipeError:
            pass  # the empty answer below says so
        answer = process.stdout.readline().split()
        if len(answer) != 3 or answer[1] != b"blob":
            if process.poll() is not None or not answer:
                self._stop(mode)
            raise FileProblemError(
                Reason.UNREADABLE,
                f"{printable(path)}: the repository lacks the object {object_id}",
            )
        return process.stdout, int(answer[2])

    def _process(self, mode: str) -> subprocess.Popen[bytes]:
        if mode not in self._processes:
            self._processes[mode] = subprocess.Popen(
                ["git", *_SAFE, *_OFFLINE, "cat-file", mode],
                cwd=self._git_directory,
                env=_environment(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        return self._processes[mode]

    def _stop(self, mode: str) -> None:
        process = self._processes.pop(mode)
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                stream.close()
        process.wait(timeout=_LOCAL_SECONDS)

    def close(self) -> None:
        for mode in list(self._processes):
            self._stop(mode)
