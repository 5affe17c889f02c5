"""Whole files below one fsspec URL, written by many processes at once.

There are two ways to write: :meth:`Store.put`, for names that nobody else uses, and
:meth:`Store.create`, of which exactly one caller wins. Both may be repeated. A reader sees a whole
file or none.
"""

from __future__ import annotations

import errno
import os
import shutil
import time
import uuid
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

import fsspec  # type: ignore[import-untyped]
from tenacity import Retrying, retry_if_exception, stop_after_attempt, wait_random_exponential

from cass_ray.storage.errors import StorageError

LOCAL = frozenset({"file", "local"})
CONDITIONAL = frozenset({"memory", "s3", "s3a", "gs", "gcs", "abfs", "abfss", "az"})
"""Protocols whose fsspec file system has ``pipe_file(mode="create")`` as one step of the server.
The default of fsspec looks first and writes then, between which another writer fits."""
S3 = frozenset({"s3", "s3a"})
_ONE_REQUEST = {"max_concurrency": 1}
"""s3fs asks for the size of each file first, else, to read large ones in pieces; ours are small."""

_ATTEMPTS = 8
_LONGEST_WAIT = 30.0
_CLIENT_LIBRARIES = frozenset({"botocore", "aiobotocore", "aiohttp", "azure", "google", "gcsfs"})
_NEVER_TRANSIENT = ("Credential", "ParamValidation", "NoSuchBucket", "Authentication")
_PERMANENT = (
    FileExistsError,
    FileNotFoundError,
    IsADirectoryError,
    NotADirectoryError,
    PermissionError,
)
_PERMANENT_ERRORS = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.ENAMETOOLONG})

T = TypeVar("T")


def opened(url: str, **options: Any) -> tuple[Any, str]:
    """The fsspec file system of ``url``, and the path there.

    Raises :class:`StorageError`: the protocol is unknown, or lacks its package.
    """
    try:
        # Listings are what other processes did meanwhile: never from memory.
        files, path = fsspec.core.url_to_fs(url, use_listings_cache=False, **options)
    except (ImportError, ValueError) as error:
        raise StorageError(f"{url}: {error}") from None
    return files, str(path)


class Files(Protocol):
    """What a :class:`Store` does, here or in another process that has it."""

    @property
    def url(self) -> str:
        """Where the files are, for messages."""
        ...

    def put(self, path: str, content: bytes) -> None: ...

    def create(self, path: str, content: bytes) -> bytes: ...

    def read(self, path: str) -> bytes: ...

    def read_all(self, paths: Iterable[str]) -> dict[str, bytes]: ...

    def exists(self, path: str) -> bool: ...

    def names(self, folder: str) -> list[str]: ...

    def remove(self, path: str) -> None: ...

    def remove_all(self, folder: str) -> None: ...


def is_transient(error: BaseException) -> bool:
    """Whether the same request may succeed later: throttled, late, a connection that broke."""
    if isinstance(error, _PERMANENT):
        return False
    if isinstance(error, OSError):  # TimeoutError and fsspec's among them
        return error.errno not in _PERMANENT_ERRORS
    kind = type(error)
    return kind.__module__.partition(".")[0] in _CLIENT_LIBRARIES and not any(
        word in kind.__name__ for word in _NEVER_TRANSIENT
    )


@dataclass(frozen=True)
class Subfolder:
    """The :class:`Files` of one folder of others."""

    files: Files
    name: str

    @property
    def url(self) -> str:
        return f"{self.files.url}/{self.name}"

    def put(self, path: str, content: bytes) -> None:
        self.files.put(self._path(path), content)

    def create(self, path: str, content: bytes) -> bytes:
        return self.files.create(self._path(path), content)

    def read(self, path: str) -> bytes:
        return self.files.read(self._path(path))

    def read_all(self, paths: Iterable[str]) -> dict[str, bytes]:
        own = {self._path(path): path for path in paths}
        return {own[path]: content for path, content in self.files.read_all(own).items()}

    def exists(self, path: str) -> bool:
        return self.files.exists(self._path(path))

    def names(self, folder: str) -> list[str]:
        return self.files.names(self._path(folder))

    def remove(self, path: str) -> None:
        self.files.remove(self._path(path))

    def remove_all(self, folder: str) -> None:
        self.files.remove_all(self._path(folder))

    def _path(self, path: str) -> str:
        return f"{self.name}/{path}" if path else self.name


class Store:
    """Files by relative POSIX path below ``url``; a plain path is a local folder.

    Args:
        url: a path, ``file://``, ``s3://``, ``gs://``, ``az://`` or ``memory://``.
        options: passed to the fsspec file system (credentials, endpoint).
        wait: called with the seconds before each further attempt.

    Raises:
        StorageError: the protocol is unknown, lacks its package, or cannot create a file only
            where there is none.
    """

    def __init__(
        self, url: str | Path, *, wait: Callable[[float], None] = time.sleep, **options: Any
    ) -> None:
        self._url = str(url)
        self._options = options
        self._files, root = opened(self._url, **options)
        self._root = root.rstrip("/")
        self._wait = wait
        protocol = self._files.protocol
        protocols = frozenset({protocol} if isinstance(protocol, str) else protocol)
        self._local = bool(protocols & LOCAL)
        self._reading = _ONE_REQUEST if protocols & S3 else {}
        if not self._local and not protocols & CONDITIONAL:
            names = ", ".join(sorted(CONDITIONAL - {"memory"}))
            raise StorageError(
                f"{self.url}: this file system cannot create a file only where there is none, "
                f"without which two workers could both write a result; use a folder or {names}"
            )

    def __reduce__(self) -> tuple[Any, ...]:
        """Travels to other processes as its address alone."""
        return (_open, (self._url, self._options))

    @property
    def url(self) -> str:
        """The URL as it was given."""
        return self._url

    @property
    def is_folder(self) -> bool:
        """Whether the files are in a folder of this machine, which others may mount or not."""
        return self._local

    def put(self, path: str, content: bytes) -> None:
        """Write ``content``, durably where the store is a folder; replaces what was there."""
        if self._local:
            self._retried(path, lambda: self._put_local(self._path(path), content, _replace))
        else:
            self._retried(path, lambda: self._files.pipe_file(self._path(path), content))

    def create(self, path: str, content: bytes) -> bytes:
        """Write ``content`` unless ``path`` is there; what is there afterwards.

        Of all callers, in whatever processes, one wins, and all get its content. An attempt whose
        answer was lost may have won: ``content`` should name its writer.
        """
        try:
            self._retried(path, lambda: self._create(path, content))
        except FileExistsError:
            return self.read(path)
        return content

    def upload(self, path: str, source: Path) -> None:
        """Write the content of the local file ``source``, which may be larger than memory; replaces
        what was there."""
        target = self._path(path)
        if self._local:
            self._retried(path, lambda: _copy_local(source, Path(target)))
        else:
            self._retried(path, lambda: self._files.put_file(str(source), target))

    def download(self, path: str, target: Path) -> None:
        """Write the content of ``path``, which may be larger than memory, to the local file
        ``target``; replaces what was there. Raises ``FileNotFoundError``."""
        source = self._path(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        aside = target.with_name(f".{target.name}.{uuid.uuid4().hex}")
        try:
            self._retried(path, lambda: self._files.get_file(source, str(aside)))
            aside.replace(target)
        finally:
            aside.unlink(missing_ok=True)

    def read(self, path: str) -> bytes:
        """The content of ``path``. Raises ``FileNotFoundError``."""
        whole = self._path(path)
        return bytes(self._retried(path, lambda: self._files.cat_file(whole, **self._reading)))

    def read_all(self, paths: Iterable[str]) -> dict[str, bytes]:
        """Contents of many small files, many at a time. Raises ``FileNotFoundError``."""
        names = list(paths)
        contents = self._files.cat_ranges(
            [self._path(name) for name in names], None, None, on_error="return", **self._reading
        )
        # One of many that failed is asked for again alone, as often as it takes.
        return {
            name: bytes(content) if isinstance(content, bytes) else self.read(name)
            for name, content in zip(names, contents, strict=True)
        }

    def exists(self, path: str) -> bool:
        return bool(self._retried(path, lambda: self._files.exists(self._path(path))))

    def names(self, folder: str) -> list[str]:
        """Sorted names of the files in ``folder``; none where it is not there."""

        def listing() -> list[str]:
            try:
                entries = self._files.ls(self._path(folder), detail=True, refresh=True)
            except FileNotFoundError:
                return []
            return [str(each["name"]) for each in entries if each["type"] == "file"]

        names = [path.rsplit("/", 1)[-1] for path in self._retried(folder, listing)]
        return sorted(name for name in names if not name.startswith("."))

    def remove(self, path: str) -> None:
        """Delete ``path``; nothing happens where it is gone."""

        def once() -> None:
            try:
                self._files.rm_file(self._path(path))
            except FileNotFoundError:
                pass

        self._retried(path, once)

    def remove_all(self, folder: str) -> None:
        """Delete ``folder`` and what is below it; nothing happens where it is gone."""

        def once() -> None:
            try:
                self._files.rm(self._path(folder), recursive=True)
            except FileNotFoundError:
                pass

        self._retried(folder, once)

    def _create(self, path: str, content: bytes) -> None:
        if self._local:
            self._put_local(self._path(path), content, os.link)
        else:
            self._files.pipe_file(self._path(path), content, mode="create")

    @staticmethod
    def _put_local(path: str, content: bytes, publish: Callable[[str, str], None]) -> None:
        """Write aside and ``publish``: a name never stands for half a file.

        A hard link is made only where the name is free, also on NFS; opening with O_EXCL would
        leave an empty file where a process died.
        """
        folder, _, name = path.rpartition("/")
        Path(folder).mkdir(parents=True, exist_ok=True)
        aside = f"{folder}/.{name}.{uuid.uuid4().hex}"
        try:
            with Path(aside).open("xb") as stream:
                stream.write(content)
                stream.flush()
                os.fsync(stream.fileno())
            publish(aside, path)
            _sync_folder(folder)
        finally:
            Path(aside).unlink(missing_ok=True)

    def _retried(self, what: str, work: Callable[[], T]) -> T:
        """``work()``, again while it fails for reasons that pass.

        Raises :class:`StorageError` after the last attempt, and what ``work`` raises otherwise.
        """
        attempts = Retrying(
            retry=retry_if_exception(is_transient),
            stop=stop_after_attempt(_ATTEMPTS),
            wait=wait_random_exponential(multiplier=0.2, max=_LONGEST_WAIT),
            reraise=True,
            sleep=self._wait,
        )
        try:
            return attempts(work)
        except Exception as error:
            if not is_transient(error):
                raise
            raise StorageError(
                f"{self.url}: {what}: failed {_ATTEMPTS} times, last: {error}"
            ) from error

    def _path(self, path: str) -> str:
        return f"{self._root}/{path}" if path else self._root


def _open(url: str, options: dict[str, Any]) -> Store:
    return Store(url, **options)


def _copy_local(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    aside = target.with_name(f".{target.name}.{uuid.uuid4().hex}")
    try:
        shutil.copyfile(source, aside)
        aside.replace(target)
    finally:
        aside.unlink(missing_ok=True)


def _replace(source: str, target: str) -> None:
    Path(source).replace(target)


def _sync_folder(folder: str) -> None:
    """A name is durable once its folder is."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
