"""The list of all opcode forms."""

from __future__ import annotations

import functools

from tests.lift.vectors import (
    addresses,
    atomic,
    barriers,
    control,
    conversion,
    floating,
    integer,
    matrix,
    memory,
    narrow,
    operands,
    parts,
    sparse,
    uniform,
    warp,
    wide,
)
from tests.lift.vectors.form import Form, Table

FAMILIES = {
    "integer": integer,
    "floating": floating,
    "conversion": conversion,
    "warp": warp,
    "memory": memory,
    "atomic": atomic,
    "control": control,
    "matrix": matrix,
    "wide": wide,
    "operands": operands,
    "addresses": addresses,
    "uniform": uniform,
    "sparse": sparse,
    "parts": parts,
    "barriers": barriers,
    "narrow": narrow,
}


@functools.cache
def family(name: str) -> dict[str, Form]:
    """The forms of one family, by name."""
    table = Table()
    FAMILIES[name].add_forms(table)
    return table.forms


def all_forms() -> dict[str, Form]:
    """Every form by name; families share no name."""
    found: dict[str, Form] = {}
    for name in FAMILIES:
        forms = family(name)
        taken = found.keys() & forms.keys()
        if taken:
            raise ValueError(f"forms in two families: {sorted(taken)}")
        found |= forms
    return found
