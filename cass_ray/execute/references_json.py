"""References as text, on their way from the node that measured them."""

from __future__ import annotations

import base64
import zlib

from pydantic import ConfigDict

from cass_ray.config import StrictModel
from cass_ray.execute.references import ReferenceRuns


class _Measured(StrictModel):
    model_config = ConfigDict(
        extra="forbid", frozen=True, ser_json_bytes="base64", val_json_bytes="base64"
    )

    reference: ReferenceRuns


def to_json(reference: ReferenceRuns) -> str:
    """``reference`` as text, exact to the byte: compressed JSON in base64."""
    text = _Measured(reference=reference).model_dump_json()
    return base64.b64encode(zlib.compress(text.encode())).decode("ascii")


def from_json(text: str) -> ReferenceRuns:
    """Read what :func:`to_json` wrote."""
    return _Measured.model_validate_json(zlib.decompress(base64.b64decode(text))).reference
