"""What rows are compared on, as tables that travel: ids, sets of hashes, their band keys.

Whoever has a row makes its line; whoever decides sees lines only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cass_ray.corpus.dedup.bands import Keys, band_keys, band_shape, signatures
from cass_ray.corpus.dedup.partitions import DIGEST_BYTES, Digests
from cass_ray.corpus.dedup.shingles import Hashes, hash_sets
from cass_ray.corpus.dialect import dialect_of, source_of
from cass_ray.corpus.parsing.kernels import kernel_definitions
from cass_ray.corpus.parsing.structure import SHAPE_RUN, opcode_set, syntax_shape
from cass_ray.corpus.screening.settings import ScreeningSettings, StructuralDuplicateSettings
from cass_ray.dataset.row import Reason

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class SimilarityLevel:
    """One kind of similarity: ``near`` of tokens, ``shape`` of syntax, ``opcodes`` of SASS."""

    name: str
    reason: Reason
    threshold: float

    @property
    def columns(self) -> tuple[str, str]:
        """Of a row's set, and of its band keys; null where the row is not compared."""
        return f"{self.name}_set", f"{self.name}_keys"


def source_levels(settings: ScreeningSettings) -> tuple[SimilarityLevel, ...]:
    """What rows are compared on before they are compiled, in order."""
    near, structure = settings.near_duplicates, settings.structural_duplicates
    levels = []
    if near.enabled:
        levels.append(SimilarityLevel("near", Reason.NEAR_DUPLICATE, near.threshold))
    if structure.shape is not None:
        levels.append(SimilarityLevel("shape", Reason.STRUCTURAL_DUPLICATE, structure.shape))
    return tuple(levels)


def opcode_levels(settings: ScreeningSettings) -> tuple[SimilarityLevel, ...]:
    """What rows are compared on when they are compiled."""
    opcodes = settings.structural_duplicates.opcodes
    return (
        (SimilarityLevel("opcodes", Reason.STRUCTURAL_DUPLICATE, opcodes),)
        if opcodes is not None
        else ()
    )


def compared_sources(
    rows: Sequence[Row],
    live: Sequence[int],
    sets: Sequence[Hashes],
    settings: ScreeningSettings,
) -> pa.Table:
    """A line for each place in ``live``; ``sets`` are those of the tokens there."""
    found: dict[str, list[Hashes | None]] = {}
    for level in source_levels(settings):
        if level.name == "near":
            found["near"] = [
                None if instantiates(rows[place]) else own
                for place, own in zip(live, sets, strict=True)
            ]
        else:
            found["shape"] = _shapes([rows[place] for place in live], settings)
    return _table(rows, live, found, source_levels(settings))


def compared_opcodes(rows: Sequence[Row], settings: ScreeningSettings) -> pa.Table:
    """A line for each row that is compared on its SASS."""
    sets = {
        place: own
        for place, row in enumerate(rows)
        if (is_structural(row, settings.structural_duplicates) or instantiates(row))
        and (own := opcode_set(row.get("cuda_device") or "")) is not None
    }
    found: dict[str, list[Hashes | None]] = {"opcodes": list(sets.values())}
    return _table(rows, list(sets), found, opcode_levels(settings))


def instantiates(row: Row) -> bool:
    """Whether ``row`` is a project's unit whose kernels are all in its headers.

    A few lines of it say which: their likeness says nothing of the code, so that is compared.
    """
    return bool(row.get("configured")) and not (
        row.get("reason") or kernel_definitions(source_of(row), dialect_of(row))
    )


def is_structural(row: Row, settings: StructuralDuplicateSettings) -> bool:
    """Whether the shape of ``row`` counts."""
    return not row.get("reason") and row.get("origin") in settings.origins


def digests(table: pa.Table) -> Digests:
    """Ids of the lines of ``table``, (lines, 32)."""
    joined = b"".join(table.column("id").to_pylist())
    return np.frombuffer(joined, np.uint8).reshape(-1, DIGEST_BYTES)


def has_set(table: pa.Table, level: SimilarityLevel) -> npt.NDArray[np.bool_]:
    """Which lines of ``table`` are compared on ``level``."""
    valid = table.column(level.columns[0]).is_valid()
    return np.asarray(valid.to_numpy(zero_copy_only=False), np.bool_)


def sets_and_keys(
    table: pa.Table, level: SimilarityLevel, places: npt.NDArray[np.int64]
) -> tuple[list[Hashes], Keys]:
    """Sets and band keys of ``level`` of the lines at ``places``."""
    sets, keys = (table.column(name).take(pa.array(places)) for name in level.columns)
    bands = band_shape(level.threshold)[0]
    return (
        [np.frombuffer(own, np.uint32) for own in sets.to_pylist()],
        np.frombuffer(b"".join(keys.to_pylist()), np.uint64).reshape(len(places), bands),
    )


def _shapes(rows: Sequence[Row], settings: ScreeningSettings) -> list[Hashes | None]:
    wanted = [
        place
        for place, row in enumerate(rows)
        if is_structural(row, settings.structural_duplicates)
    ]
    found: list[Hashes | None] = [None] * len(rows)
    if wanted:
        shapes = [syntax_shape(source_of(rows[place])) for place in wanted]
        for place, own in zip(wanted, hash_sets(shapes, SHAPE_RUN), strict=True):
            found[place] = own
    return found


def _table(
    rows: Sequence[Row],
    places: Sequence[int],
    found: Mapping[str, Sequence[Hashes | None]],
    levels: Sequence[SimilarityLevel],
) -> pa.Table:
    columns: dict[str, pa.Array] = {
        "position": pa.array(list(places), pa.int32()),
        "id": pa.array([bytes.fromhex(rows[place]["id"]) for place in places], pa.binary()),
    }
    for level in levels:
        sets = found[level.name]
        set_column, key_column = level.columns
        columns[set_column] = pa.array(
            [own.tobytes() if own is not None else None for own in sets], pa.binary()
        )
        columns[key_column] = pa.array(_keys(sets, level.threshold), pa.binary())
    return pa.table(columns)


def _keys(sets: Sequence[Hashes | None], threshold: float) -> list[bytes | None]:
    there = [own for own in sets if own is not None]
    keys = iter(band_keys(signatures(there), *band_shape(threshold)) if there else ())
    return [None if own is None else next(keys).tobytes() for own in sets]
