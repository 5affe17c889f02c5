"""One Parquet file of pairs, analysed; what is known of it is kept under its content's digest."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import fsspec  # type: ignore[import-untyped]
import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import Field

from cass_ray.analysis.learned_domains import source_words
from cass_ray.analysis.mnemonics import mnemonics
from cass_ray.analysis.row_features import FEATURES, Mnemonics, features
from cass_ray.analysis.row_texts import TextLevel, texts
from cass_ray.analysis.sampling import position
from cass_ray.analysis.similarity import similarities
from cass_ray.config import StrictModel
from cass_ray.dataset.parquet import parquet_dataset
from cass_ray.dataset.schema import PAIR_SCHEMA

_FORMAT = 1
"""The format of what is kept; another number makes it anew."""
_COLUMNS = [
    *("id", "filename", "origin", "repository", "license", "domain", "verified", "kernels"),
    *("evidence", "cuda_source", "cuda_host", "cuda_device", "cuda_device_by_arch", "cuda_arch"),
    *("hip_source", "hip_host", "hip_device", "hip_arch"),
]


class PartTask(StrictModel):
    """What to do with one part; with the file's content it decides the result."""

    path: str
    similarity_rate: float = Field(ge=0, le=1)
    similarity_characters: int
    embedding_rate: float = Field(ge=0, le=1)


@dataclass
class FileFigures:
    """What is known of one file."""

    features: pa.Table
    """Columns of ``FEATURES``."""
    mnemonics: Mnemonics = field(default_factory=dict)
    similarities: list[dict[str, Any]] = field(default_factory=list)
    documents: list[dict[str, Any]] = field(default_factory=list)
    """Device assembly of sampled rows: id, filename, origin, vendor, target, ``words``."""
    sources: list[dict[str, Any]] = field(default_factory=list)
    """CUDA sources of the same rows: id, domain, ``words``."""


def read_rows(path: str) -> Iterator[dict[str, Any]]:
    """Rows of one file, with the columns of ``PAIR_SCHEMA`` that it has."""
    data = parquet_dataset([path])
    columns = [name for name in _COLUMNS if name in data.schema.names and name in PAIR_SCHEMA.names]
    for batch in data.to_batches(columns=columns, batch_size=64):
        yield from batch.to_pylist()


def analyse(task: PartTask) -> FileFigures:
    """Read the file once and count. Raises :class:`ToolMissing` where a measure needs a package."""
    part = FileFigures(FEATURES.empty_table())
    rows = []
    for row in read_rows(task.path):
        rows.append(features(row, part.mnemonics))
        if position(row["id"], "similarity") < task.similarity_rate:
            part.similarities += similarities(row, task.similarity_characters)
        if position(row["id"], "embedding") < task.embedding_rate:
            part.documents += _documents(row)
            part.sources.append(
                {
                    "id": row["id"],
                    "domain": row.get("domain") or "",
                    "words": dict(source_words(row.get("cuda_source") or "")),
                }
            )
    part.features = pa.Table.from_pylist(rows, schema=FEATURES)
    return part


def _documents(row: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for side, text in texts(row):
        if side.level is TextLevel.DEVICE and side.instruction_set is not None:
            yield {
                "id": row["id"],
                "filename": row.get("filename") or "",
                "origin": row.get("origin") or "unknown",
                "domain": row.get("domain") or "",
                "vendor": side.vendor,
                "target": side.target,
                "words": dict(mnemonics(side.instruction_set, text)),
            }


def analyse_kept(task: PartTask, folder: Path) -> FileFigures:
    """As :func:`analyse`; kept in ``folder`` under the digest of the file and of what is asked."""
    digest = hashlib.sha256()
    with fsspec.open(task.path, "rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    asked = task.model_dump_json(exclude={"path"})
    digest.update(f"{_FORMAT}\0{asked}".encode())
    at = folder / digest.hexdigest()[:32]
    if (at / "rest.json").exists():
        return load(at)
    part = analyse(task)
    save(part, at)
    return part


def save(part: FileFigures, folder: Path) -> None:
    """Write ``part``; the last file written is the one that :func:`load` is asked by."""
    folder.mkdir(parents=True, exist_ok=True)
    pq.write_table(
        part.features, folder / "features.parquet", compression="zstd", write_page_checksum=True
    )
    rest = {
        "mnemonics": [[*key, dict(counts)] for key, counts in part.mnemonics.items()],
        "similarities": part.similarities,
        "documents": part.documents,
        "sources": part.sources,
    }
    written = folder / "rest.part"
    written.write_text(json.dumps(rest), "utf-8")
    written.replace(folder / "rest.json")


def load(folder: Path) -> FileFigures:
    """What :func:`save` wrote."""
    rest = json.loads((folder / "rest.json").read_text("utf-8"))
    return FileFigures(
        pq.read_table(
            folder / "features.parquet", schema=FEATURES, page_checksum_verification=True
        ),
        {(one, two, three): Counter(counts) for one, two, three, counts in rest["mnemonics"]},
        rest["similarities"],
        rest["documents"],
        rest["sources"],
    )
