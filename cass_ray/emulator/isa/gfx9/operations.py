"""What gfx9 mnemonics do, by the name of the engine's operation: mostly gfx11's mnemonic.

AMD renamed many instructions between gfx9 and gfx11 without changing what they do. Where a
mnemonic of both does something else on gfx9, its operation ends in ``_gfx9``.
"""

from __future__ import annotations

import re
from pathlib import Path

from cass_ray.csv_tables import read_mapping

_SAME = read_mapping(Path(__file__).with_suffix(".csv"))
_NORMALIZED = re.compile(r"v_cvt_pknorm_(\w16_f\d\d)")
_ALWAYS_TRUE = re.compile(r"(v_cmpx?)_tru_(f\d\d)")

# DS: read and write are load and store; two addresses are "2addr".
_DS = (
    (re.compile(r"^ds_(read|write)2st64_"), r"ds_\1_2addr_stride64_"),
    (re.compile(r"^ds_(read|write)2_"), r"ds_\1_2addr_"),
    (re.compile(r"^ds_wrxchg2st64_rtn_"), "ds_storexchg_2addr_stride64_rtn_"),
    (re.compile(r"^ds_wrxchg2_rtn_"), "ds_storexchg_2addr_rtn_"),
    (re.compile(r"^ds_wrxchg_"), "ds_storexchg_"),
    (re.compile(r"^ds_cmpst_"), "ds_cmpstore_"),
    (re.compile(r"^ds_read_"), "ds_load_"),
    (re.compile(r"^ds_write_"), "ds_store_"),
)

_MEMORY = re.compile(r"^(s|s_buffer|buffer|flat|global|scratch)_(load|store)_(?!format|lds)(\w+)$")
_WIDTHS = read_mapping(Path(__file__).with_name("widths.csv"))
_SHORT_D16 = {"short_d16": "d16_b16", "short_d16_hi": "d16_hi_b16"}
_FORMAT_D16 = re.compile(r"^(t?buffer_(?:load|store))_format_d16(_hi)?_(x|xy|xyz|xyzw)$")

_ATOMIC = re.compile(r"^(buffer|flat|global)_atomic_(\w+?)(_x2)?$")
_ATOMIC_TYPES = read_mapping(Path(__file__).with_name("atomics.csv"))

# gfx90a writes no separator before the type, and does not say how many blocks there are.
_OLD_MATRIX = re.compile(r"v_mfma_(f32|i32|f64)_(\d+)x(\d+)x(\d+)_?(f32|f16|bf16_1k|bf16|i8|f64)")


_BYTE_FLOAT = re.compile(
    r"v_cvt_(f32|pk_f32)_[fb]p?f?8|v_cvt_(pk|sr)_[fb]p?f?8_f32"
    r"|v_mfma_f32_(32x32x16|16x16x32)_[fb]p?f?8_[fb]p?f?8"
    r"|v_smfmac_f32_(32x32x32|16x16x64)_[fb]p?f?8_[fb]p?f?8"
)
"""What gfx942 has too, with AMD's own formats."""


def operation_of(mnemonic: str) -> str:
    """The engine's operation for a gfx9 mnemonic."""
    if operation := _SAME.get(mnemonic):
        return operation
    for pattern, name in ((_NORMALIZED, r"v_cvt_pk_norm_\1"), (_ALWAYS_TRUE, r"\1_t_\2")):
        if match := pattern.fullmatch(mnemonic):
            return match.expand(name)
    if mnemonic.startswith("ds_"):
        return _of_lds(mnemonic)
    if match := _OLD_MATRIX.fullmatch(mnemonic):
        return _of_matrix(match)
    return _of_memory(mnemonic)


def gfx950_operation_of(mnemonic: str) -> str:
    """The engine's operation for a gfx950 mnemonic: bytes are floats of the OCP there."""
    name = operation_of(mnemonic)
    return f"{name}_gfx950" if _BYTE_FLOAT.fullmatch(name) else name


def _of_lds(mnemonic: str) -> str:
    name = mnemonic
    for pattern, replacement in _DS:
        name = pattern.sub(replacement, name)
    return name.replace("ds_read_", "ds_load_").replace("ds_write_", "ds_store_")


def _of_memory(mnemonic: str) -> str:
    if match := _MEMORY.fullmatch(mnemonic):
        unit, access, width = match.groups()
        widths = _WIDTHS | _SHORT_D16
        return f"{unit}_{access}_{widths[width]}" if width in widths else mnemonic
    if match := _FORMAT_D16.fullmatch(mnemonic):
        access, high, parts = match.groups()
        return f"{access}_d16{high or ''}_format_{parts}"
    match = _ATOMIC.fullmatch(mnemonic)
    if match and match[2] in _ATOMIC_TYPES:
        return f"{match[1]}_atomic_{_ATOMIC_TYPES[match[2]]}{64 if match[3] else 32}"
    return mnemonic


def _of_matrix(match: re.Match[str]) -> str:
    """gfx942's name: ``v_mfma_f32_32x32x4_2b_f16`` for ``v_mfma_f32_32x32x4f16``."""
    result, rows, columns, depth, kind = match.groups()
    # The blocks fill the 64 lanes: a lane holds as many elements of a row as its registers do.
    elements = {"f32": 1, "f64": 1, "f16": 4, "bf16_1k": 4, "bf16": 2, "i8": 4}[kind]
    per_block = int(rows) * int(depth) // elements
    blocks = 64 // per_block
    kind = kind.removesuffix("_1k")
    middle = f"_{blocks}b" if blocks > 1 else ""
    return f"v_mfma_{result}_{rows}x{columns}x{depth}{middle}_{kind}"
