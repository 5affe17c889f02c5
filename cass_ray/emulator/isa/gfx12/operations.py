"""What gfx12 mnemonics do, by the name of the engine's operation: mostly gfx11's mnemonic.

Where a mnemonic of both does something else on gfx12, its operation ends in ``_gfx12``. 8-bit
floats are those of the Open Compute Project there (``_ocp``), of gfx942 AMD's own (FNUZ).
"""

from __future__ import annotations

import re
from pathlib import Path

from cass_ray.csv_tables import read_mapping

_SAME = read_mapping(Path(__file__).with_suffix(".csv"))

# IEEE 754-2019's minimumNumber; what one of NaN gives is told by MODE (mode::minimum_number).
_NUMBER = re.compile(r"(min|max|min3|max3|med3|minmax|maxmin)_num_(rtn_)?(f\d\d)$")
_CLAMPED = re.compile(r"_sub_clamp_(rtn_)?u32$")
_BYTE_FLOAT = re.compile(r"v_cvt_(f32_[fb]p?f?8|pk_f32_[fb]p?f?8|(pk|sr)_[fb]p?f?8_f32)$")
_WMMA = re.compile(r"v_wmma_\w+")


def operation_of(mnemonic: str) -> str:
    """The engine's operation for a gfx12 mnemonic."""
    if operation := _SAME.get(mnemonic):
        return operation
    if mnemonic.startswith("s_"):
        return mnemonic
    if _BYTE_FLOAT.fullmatch(mnemonic):
        return mnemonic + "_ocp"
    if _WMMA.fullmatch(mnemonic):
        return mnemonic + "_gfx12"
    name = _NUMBER.sub(lambda match: f"{match[1]}_{match[2] or ''}{match[3]}", mnemonic)
    return _CLAMPED.sub(lambda match: f"_csub_{match[1] or ''}u32", name)
