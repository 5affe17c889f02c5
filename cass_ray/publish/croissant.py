"""Croissant metadata (mlcommons.org/croissant): a data set's files and columns, for tools."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa

from cass_ray.dataset.card import COLUMNS
from cass_ray.dataset.schema import PAIR_SCHEMA
from cass_ray.publish.dataset import SPLITS, PublishedRows
from cass_ray.toolchain.errors import ToolMissing

_FILES = "parquet-files"
_TEXTS = (pa.string(), pa.large_string())


def croissant(name: str, description: str, url: str, data: PublishedRows) -> str:
    """JSON-LD, validated; of columns that are texts or lists of texts, as Croissant has no structs
    that Parquet readers agree on. Raises :class:`ToolMissing`.
    """
    try:
        import mlcroissant as mlc
    except ImportError as error:
        raise ToolMissing("mlcroissant", "pip install 'cass-ray[analysis]'", str(error)) from None
    described = [column for column in PAIR_SCHEMA if column.name in COLUMNS]
    fields = [_field(column) for column in described if _element(column) in _TEXTS]
    metadata = mlc.Metadata(
        name=name,
        description=description,
        url=url,
        license=sorted({licence for _, _, licence in data.provenance if licence}) or None,
        distribution=[
            mlc.FileSet(
                id=_FILES,
                name=_FILES,
                description="Pairs by split.",
                encoding_formats=["application/x-parquet"],
                includes=[f"data/{split}-*.parquet" for split in SPLITS if data.splits[split]],
            )
        ],
        record_sets=[
            mlc.RecordSet(id="pairs", name="pairs", description=description, fields=fields)
        ],
    )
    return json.dumps(metadata.to_json(), indent=1, default=str) + "\n"


def _element(column: pa.Field) -> pa.DataType:
    return column.type.value_type if pa.types.is_list(column.type) else column.type


def _field(column: pa.Field) -> Any:
    import mlcroissant as mlc

    repeated = pa.types.is_list(column.type)
    return mlc.Field(
        id=f"pairs/{column.name}",
        name=column.name,
        description=COLUMNS[column.name],
        data_types=[mlc.DataType.TEXT],
        is_array=repeated or None,
        array_shape="-1" if repeated else None,
        source=mlc.Source(file_set=_FILES, extract=mlc.Extract(column=column.name)),
    )
