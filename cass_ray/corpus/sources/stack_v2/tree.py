"""A repository rebuilt from blobs: the files that the metadata lists, at their paths."""

from __future__ import annotations

import codecs
import posixpath
from collections.abc import Iterator

from cass_ray.corpus.reading.filetree import FileProblemError, Listed, path_problem
from cass_ray.corpus.sources.stack_v2.metadata import StackRepository
from cass_ray.corpus.sources.stack_v2.objects import ObjectError, ObjectStore
from cass_ray.dataset.row import Reason
from cass_ray.printable import printable


class BlobTree:
    """Read access to the blobs of a repository, as a ``FileTree`` (``corpus.reading``).

    Text comes as UTF-8, decoded as the metadata says. Of two blobs at one path the first counts.
    """

    def __init__(self, repository: StackRepository, objects: ObjectStore) -> None:
        self._objects = objects
        self._files = {file.path: file for file in reversed(repository.files)}
        self._directories = {""}
        for path in self._files:
            while path := posixpath.dirname(path):
                self._directories.add(path)

    def walk(self) -> Iterator[Listed]:
        """All files, sorted."""
        for path in sorted(self._files):
            yield Listed(path, path_problem(path))

    def is_file(self, path: str) -> bool:
        """Whether the metadata lists ``path``."""
        return path in self._files

    def is_directory(self, path: str) -> bool:
        """Whether a listed file is below ``path``."""
        return path.strip("/").removeprefix("./") in self._directories or path == "."

    def size(self, path: str) -> int:
        """Bytes of the content, as the metadata says."""
        return self._files[path].length if path in self._files else len(self.read(path))

    def read(self, path: str) -> bytes:
        """The content. Raises :class:`FileProblemError`."""
        file = self._files.get(path)
        if file is None:
            raise FileProblemError(Reason.UNREADABLE, f"{printable(path)}: not in the metadata")
        try:
            return _as_utf8(self._objects.get(file.blob_id), file.encoding)
        except ObjectError as error:
            message = f"{printable(path)}: object {file.blob_id}: {error}"
            raise FileProblemError(Reason.UNREADABLE, message) from None


def _as_utf8(content: bytes, encoding: str) -> bytes:
    """``content`` in UTF-8; as it is where ``encoding`` is unknown or does not fit."""
    try:
        if not encoding or codecs.lookup(encoding).name in ("utf-8", "ascii"):
            return content
        return content.decode(encoding).encode("utf-8")
    except (LookupError, UnicodeError):
        return content
