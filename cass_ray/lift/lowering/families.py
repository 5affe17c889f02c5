"""All families of instructions: importing them enters their forms in the table.

A new family is added to the imports.
"""

from __future__ import annotations

from collections.abc import Mapping

from cass_ray.lift.lowering.semantics import (  # noqa: F401
    atomic,
    barrier,
    bulk_copy,
    carry,
    cluster_memory,
    convergence,
    conversion,
    float32,
    float64,
    fp8,
    half,
    integer,
    logic,
    matrix_memory,
    mbarrier,
    memory,
    packed,
    predicate,
    scaled_matrix,
    shift,
    sparse,
    special,
    tensor,
    tensor_copy,
    tensor_memory,
    tensor_product,
    texture,
    warp,
    warpgroup,
)
from cass_ray.lift.lowering.table import OpcodeForm, entered


def forms() -> Mapping[str, OpcodeForm]:
    """Mnemonic with all its modifiers -> what it does: the whole table."""
    return entered()
