"""The metadata of The Stack v2: streamed once, kept as a small index, ranked by repository.

Columns are those of ``bigcode/the-stack-v2-dedup`` (its data-set card).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import datasets
import pyarrow as pa
import pyarrow.parquet as pq

from cass_ray.cache import digest
from cass_ray.corpus.program import SourceError
from cass_ray.corpus.sources.stack_v2.settings import StackV2Settings

INDEX_SCHEMA = pa.schema(
    [
        ("blob_id", pa.string()),
        ("path", pa.string()),
        ("repo_name", pa.string()),
        ("revision_id", pa.string()),
        ("detected_licenses", pa.list_(pa.string())),
        ("gha_license_id", pa.string()),
        ("src_encoding", pa.string()),
        ("language", pa.string()),
        ("is_vendor", pa.bool_()),
        ("is_generated", pa.bool_()),
        ("length_bytes", pa.int64()),
    ]
)
"""The columns that are used; the metadata has more (dates, stars, snapshot and directory ids)."""

_BATCH = 10_000


@dataclass(frozen=True, slots=True)
class StackFile:
    """One line of the metadata."""

    blob_id: str
    """SHA-1 of git for the content (``sha1_git``)."""
    path: str
    """Relative to the root of the repository."""
    repository: str
    revision: str
    licenses: tuple[str, ...]
    encoding: str
    language: str
    length: int

    @classmethod
    def of(cls, line: Mapping[str, Any]) -> StackFile:
        licenses = line["detected_licenses"] or []
        fallback = [line["gha_license_id"]] if line["gha_license_id"] else []
        return cls(
            blob_id=line["blob_id"],
            path=(line["path"] or "").lstrip("/"),
            repository=line["repo_name"],
            revision=line["revision_id"] or "",
            licenses=tuple(licenses or fallback),
            encoding=line["src_encoding"] or "",
            language=line["language"],
            length=line["length_bytes"] or 0,
        )


@dataclass(frozen=True, slots=True)
class StackRepository:
    """One revision of a repository, and its files in the order of their paths."""

    name: str
    revision: str
    files: tuple[StackFile, ...]


def build_index(settings: StackV2Settings, folder: Path) -> Path:
    """Stream the metadata of all wanted languages into one Parquet file, on first use.

    A finished index is used again, so that a resumed build sees the same files. Raises
    :class:`~cass_ray.corpus.program.SourceError` when the metadata cannot be read.
    """
    languages = [settings.language, *settings.companions]
    path = folder / f"index-{digest([settings.metadata, *languages])[:16]}.parquet"
    if path.exists():
        return path
    folder.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    try:
        with pq.ParquetWriter(part, INDEX_SCHEMA, compression="zstd") as writer:
            for language in languages:
                for lines in _stream(settings.metadata, language):
                    writer.write_table(pa.Table.from_pylist(lines, schema=INDEX_SCHEMA))
    except (OSError, ValueError, datasets.exceptions.DatasetsError, pa.ArrowException) as error:
        part.unlink(missing_ok=True)
        raise SourceError(
            f"stack-v2: the metadata of {settings.metadata} cannot be read: {error}. The data set"
            " is gated: accept its terms on the hub and log in with `hf auth login`"
        ) from error
    part.replace(path)
    return path


def ranked_repositories(settings: StackV2Settings, index: Path) -> Iterator[StackRepository]:
    """Repositories with most files of the language first; equal ones by name."""
    counts: Counter[str] = Counter()
    for line in _lines(index, ["repo_name", "language", "is_vendor", "is_generated"]):
        if line["language"] == settings.language and _wanted(line, settings):
            counts[line["repo_name"]] += 1
    order = sorted(counts, key=lambda name: (-counts[name], name))[: settings.repositories]
    chosen = set(order)
    groups: dict[str, dict[str, list[StackFile]]] = {}
    for line in _lines(index, INDEX_SCHEMA.names):
        if line["repo_name"] in chosen and _wanted(line, settings):
            file = StackFile.of(line)
            groups.setdefault(file.repository, {}).setdefault(file.revision, []).append(file)
    for name in order:
        for revision in sorted(groups[name]):
            files = sorted(groups[name][revision], key=lambda file: (file.path, file.blob_id))
            yield StackRepository(name, revision, tuple(files))


def _wanted(line: Mapping[str, Any], settings: StackV2Settings) -> bool:
    return not (
        (settings.skip_vendored and line["is_vendor"])
        or (settings.skip_generated and line["is_generated"])
    )


def _stream(metadata: str, language: str) -> Iterator[list[dict[str, Any]]]:
    lines = datasets.load_dataset(metadata, language, split="train", streaming=True)
    missing = set(INDEX_SCHEMA.names) - set(lines.column_names or INDEX_SCHEMA.names)
    if missing:
        raise ValueError(f"columns {', '.join(sorted(missing))} are not in it")
    batch: list[dict[str, Any]] = []
    for line in lines.select_columns(INDEX_SCHEMA.names):
        batch.append(line)
        if len(batch) == _BATCH:
            yield batch
            batch = []
    yield batch


def _lines(index: Path, columns: list[str]) -> Iterator[dict[str, Any]]:
    for batch in pq.ParquetFile(index).iter_batches(batch_size=_BATCH, columns=columns):
        yield from batch.to_pylist()
