"""Classes of instructions, one set for SASS, RDNA3 and x86-64, so that mixes can be compared.

``opcodes.csv`` holds the table: instruction set, category, regular expression. The first row of the
instruction set whose expression matches the start of the mnemonic decides.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from enum import StrEnum
from functools import cache, lru_cache
from pathlib import Path

from cass_ray.csv_tables import read_rows


class InstructionSet(StrEnum):
    """Which assembly a mnemonic belongs to."""

    SASS = "sass"
    RDNA3 = "rdna3"
    X86 = "x86"


class Category(StrEnum):
    """What an instruction does; every mnemonic of both instruction sets is in one."""

    INTEGER = "integer"
    """Integer and bitwise arithmetic, addresses included."""
    FLOATING_POINT = "floating_point"
    """Arithmetic on 16 to 64 bit floats, matrix instructions included."""
    SPECIAL_FUNCTION = "special_function"
    """Reciprocal, square root, exponential, logarithm, sine, cosine."""
    CONVERSION = "conversion"
    """Between number formats; rounding to an integral float."""
    COMPARISON = "comparison"
    """Comparisons and predicate or execution mask logic."""
    MOVE = "move"
    """Copies, selects, byte permutations, reads of special registers."""
    MEMORY_GLOBAL = "memory_global"
    """Global and generic loads and stores."""
    MEMORY_SHARED = "memory_shared"
    """Shared memory, local data share."""
    MEMORY_CONSTANT = "memory_constant"
    """Constant bank and scalar loads (kernel arguments)."""
    MEMORY_OTHER = "memory_other"
    """Private (local, scratch) memory, textures, surfaces."""
    ATOMIC = "atomic"
    CONTROL_FLOW = "control_flow"
    SYNCHRONIZATION = "synchronisation"
    """Barriers, fences, waits."""
    WARP = "warp"
    """Data across the lanes of a warp or wave."""
    OTHER = "other"
    """Scheduling hints, cache control, and mnemonics that the table does not know."""


@cache
def _table(instruction_set: InstructionSet) -> list[tuple[re.Pattern[str], Category]]:
    return [
        (re.compile(row["pattern"]), Category(row["category"]))
        for row in read_rows(Path(__file__).with_suffix(".csv"))
        if row["isa"] == instruction_set
    ]


@lru_cache(maxsize=16_384)
def category_if_known(instruction_set: InstructionSet, mnemonic: str) -> Category | None:
    """The category of ``mnemonic``, or None when the table does not have it."""
    if instruction_set is InstructionSet.RDNA3:
        mnemonic = mnemonic.replace("v_dual_", "v_", 1)
    for pattern, category in _table(instruction_set):
        if pattern.match(mnemonic):
            return category
    return None


def category(instruction_set: InstructionSet, mnemonic: str) -> Category:
    """The category of ``mnemonic`` (``IMAD.MOV.U32``, ``v_add_f32_e32``, ``lock addl``)."""
    return category_if_known(instruction_set, mnemonic) or Category.OTHER


def histogram(instruction_set: InstructionSet, mnemonics: Iterable[str]) -> Counter[Category]:
    """How many of ``mnemonics`` fall into each category."""
    return Counter(category(instruction_set, mnemonic) for mnemonic in mnemonics)
