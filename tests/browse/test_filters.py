"""What a person types, and the rows that it leaves; masks worked out by hand."""

from __future__ import annotations

import pyarrow as pa
import pytest

from cass_ray.browse.filters import FilterError, read_filter
from cass_ray.dataset.schema import PAIR_SCHEMA

ROWS = pa.Table.from_pylist(
    [
        {
            "id": "0a",
            "filename": "Scan.cu",
            "domain": "graphics",
            "kernels": ["scan", "add"],
            "cuda_source": "__shfl_up_sync(full, x, 1)",
            "cuda_device_tokens": 10,
            "executed": True,
        },
        {
            "id": "0b",
            "filename": "sort.cu",
            "domain": "finance",
            "kernels": ["radix"],
            "cuda_source": "x = y",
            "cuda_device_tokens": 200,
            "executed": False,
        },
        {"id": "0c", "filename": "none.cu"},
    ],
    schema=PAIR_SCHEMA,
).to_batches()[0]


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("", [0, 1, 2]),
        ("scan", [0]),
        ("radix", [1]),
        ("!scan", [1, 2]),
        ("domain=GRAPHICS", [0]),
        ("domain=graph", []),
        ("domain:graph", [0]),
        ("!domain:graph", [1, 2]),
        ('cuda_source:"full, x"', [0]),
        ("cuda_device_tokens>10", [1]),
        ("cuda_device_tokens<11", [0]),
        ("executed=true", [0]),
        ("s domain:a cuda_device_tokens>5 !sort", [0]),
    ],
)
def test_rows_left(text: str, rows: list[int]) -> None:
    mask = read_filter(text, PAIR_SCHEMA).mask(ROWS).to_pylist()
    assert [number for number, kept in enumerate(mask) if kept] == rows


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("domian=graphics", "no column 'domian'; did you mean domain?"),
        ("domain>3", "domain holds no numbers"),
        ("cuda_device_tokens>many", "'many' is no number"),
        ("evidence=x", "evidence cannot be compared"),
        ('filename="a', "No closing quotation"),
        ("!", "wants a word"),
    ],
)
def test_what_cannot_be_read(text: str, message: str) -> None:
    with pytest.raises(FilterError, match=message.replace("?", r"\?")):
        read_filter(text, PAIR_SCHEMA)
