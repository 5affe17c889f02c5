"""Which pieces of work are done, and where their results are: one committed entry each.

A worker writes its results as *parts* under names that nobody else has, then commits one entry
that names them, put-if-absent. Before that nothing counts, after that nothing changes: a worker
that was thought dead and comes back, or two that had the same work, leave parts that no entry
names, never a row twice. A later run reads the entries and does the rest.
"""

from __future__ import annotations

import hashlib
import io
import re
import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice

import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import ValidationError

from cass_ray.config import StrictModel
from cass_ray.storage.errors import StorageError
from cass_ray.storage.store import Files

_ENTRIES_AT_ONCE = 500
_KEY = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")


class PartFile(StrictModel):
    """One file of results."""

    file: str
    """Name in the manifest's folder of parts."""
    bytes: int
    sha256: str
    rows: int | None = None
    """Number of rows; None where the file is no table."""


class ManifestEntry(StrictModel):
    """What one piece of work came to."""

    writer: str
    """Drawn by chance for every attempt: two attempts never have equal entries."""
    parts: dict[str, PartFile]
    counts: dict[str, int]
    """What the driver adds up, so that it need not read any part."""


class PartManifest:
    """The entries of the pieces of work called ``name`` in ``store``, by key.

    Keys sort as the results are to be read: ``000012``, or ``000012-DIGEST`` where the input of a
    piece may change between runs.
    """

    def __init__(self, store: Files, name: str) -> None:
        self.store = store
        self.name = _checked(name)

    def draft(self, key: str) -> Draft:
        """Results of the piece ``key`` to be. Raises ``ValueError`` for a key that is no name."""
        return Draft(self, _checked(key))

    def begin(self, draft: Draft) -> bool:
        """Note that ``draft`` is worked on; whether nobody began with the piece before."""
        path = f"{self.name}/begun/{draft.key}"
        return self.store.create(path, draft.writer.encode()) == draft.writer.encode()

    def keys(self) -> list[str]:
        """Keys of the committed pieces, sorted."""
        names = self.store.names(f"{self.name}/entries")
        return [name.removesuffix(".json") for name in names if name.endswith(".json")]

    def get(self, key: str) -> ManifestEntry | None:
        """The entry of ``key``, None where it is not committed."""
        try:
            return _parse(self.entry_path(key), self.store.read(self.entry_path(key)))
        except FileNotFoundError:
            return None

    def entries(self) -> dict[str, ManifestEntry]:
        """All entries in the order of their keys."""
        return dict(self.read_entries(self.keys()))

    def read_entries(self, keys: Iterable[str]) -> Iterator[tuple[str, ManifestEntry]]:
        """The entries of committed ``keys`` in this order, some hundreds at a time.

        Raises ``FileNotFoundError`` for a key that is not committed.
        """
        left = iter(keys)
        while some := list(islice(left, _ENTRIES_AT_ONCE)):
            paths = [self.entry_path(key) for key in some]
            contents = self.store.read_all(paths)
            for key, path in zip(some, paths, strict=True):
                yield key, _parse(path, contents[path])

    def read(self, part: PartFile) -> bytes:
        """The content of ``part``. Raises :class:`StorageError` where it is gone or damaged."""
        path = self.part_path(part.file)
        try:
            content = self.store.read(path)
        except FileNotFoundError:
            raise StorageError(
                f"{self.store.url}/{path}: a committed part is gone; delete the entry that names "
                "it to compute it again"
            ) from None
        if len(content) != part.bytes or hashlib.sha256(content).hexdigest() != part.sha256:
            raise StorageError(
                f"{self.store.url}/{path}: {len(content)} bytes that are not the {part.bytes} "
                "that were committed; delete the entry that names it to compute it again"
            )
        return content

    def table(self, part: PartFile) -> pa.Table:
        """The table that ``part`` holds. Raises as :meth:`read`."""
        return pq.read_table(io.BytesIO(self.read(part)))

    def sweep(self) -> int:
        """Delete the parts that no entry names; how many.

        Only when every piece is committed: a worker may be between its parts and its entry.
        """
        named = {part.file for entry in self.entries().values() for part in entry.parts.values()}
        left = [name for name in self.store.names(f"{self.name}/parts") if name not in named]
        for name in left:
            self.store.remove(self.part_path(name))
        return len(left)

    def entry_path(self, key: str) -> str:
        return f"{self.name}/entries/{key}.json"

    def part_path(self, file: str) -> str:
        return f"{self.name}/parts/{file}"


@dataclass
class Draft:
    """Results of one attempt at one piece; nothing of it counts before :meth:`commit`."""

    manifest: PartManifest
    key: str
    writer: str = field(default_factory=lambda: uuid.uuid4().hex)
    _parts: dict[str, PartFile] = field(default_factory=dict)

    def write(self, output: str, content: bytes, suffix: str = "bin") -> PartFile:
        """Write ``content`` as the part called ``output``."""
        return self._add(output, content, suffix, None)

    def write_table(self, output: str, table: pa.Table) -> PartFile:
        """Write ``table`` as Parquet; the same table gives the same bytes."""
        buffer = io.BytesIO()
        pq.write_table(table, buffer, compression="zstd", write_page_checksum=True)
        return self._add(output, buffer.getvalue(), "parquet", table.num_rows)

    def commit(self, **counts: int) -> ManifestEntry:
        """Make this attempt the piece's result, unless another one is; the entry that counts.

        May be called again. Parts of an attempt that came too late are deleted.
        """
        own = ManifestEntry(writer=self.writer, parts=self._parts, counts=counts)
        path = self.manifest.entry_path(self.key)
        text = own.model_dump_json().encode()
        content = text + b"\n" + hashlib.sha256(text).hexdigest().encode()
        winner = _parse(path, self.manifest.store.create(path, content))
        if winner.writer != self.writer:
            for part in self._parts.values():
                self.manifest.store.remove(self.manifest.part_path(part.file))
        return winner

    def _add(self, output: str, content: bytes, suffix: str, rows: int | None) -> PartFile:
        part = PartFile(
            file=f"{self.key}.{self.writer}.{_checked(output)}.{suffix}",
            bytes=len(content),
            sha256=hashlib.sha256(content).hexdigest(),
            rows=rows,
        )
        self.manifest.store.put(self.manifest.part_path(part.file), content)
        self._parts[output] = part
        return part


def tables(manifest: PartManifest, output: str) -> Iterator[pa.Table]:
    """The tables called ``output`` of all pieces, in the order of their keys, one at a time."""
    for entry in manifest.entries().values():
        if (part := entry.parts.get(output)) is not None:
            yield manifest.table(part)


def _checked(name: str) -> str:
    if not _KEY.fullmatch(name):
        raise ValueError(f"not a name of letters, digits, _ and -: {name!r}")
    return name


def _parse(path: str, content: bytes) -> ManifestEntry:
    try:
        text, _, checksum = content.partition(b"\n")  # older versions wrote no checksum
        if checksum and hashlib.sha256(text).hexdigest().encode() != checksum:
            raise StorageError(
                f"{path}: the entry is damaged; delete it to compute its piece again"
            )
        return ManifestEntry.model_validate_json(text)
    except ValidationError as error:
        raise StorageError(f"{path}: not an entry of a manifest: {error}") from None
