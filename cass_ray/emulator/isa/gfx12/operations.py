"""What gfx12 mnemonics do, by the name of the engine's operation: mostly gfx11's mnemonic.

Where a mnemonic of both does something else on gfx12, its operation ends in ``_gfx12``. 8-bit
floats are those of the Open Compute Project there (``_ocp``), of gfx942 AMD's own (FNUZ).
"""

from __future__ import annotations

import re

_SAME: dict[str, str] = {
    "s_add_co_u32": "s_add_u32",
    "s_add_co_i32": "s_add_i32",
    "s_sub_co_u32": "s_sub_u32",
    "s_sub_co_i32": "s_sub_i32",
    "s_add_co_ci_u32": "s_addc_u32",
    "s_sub_co_ci_u32": "s_subb_u32",
    "s_addk_co_i32": "s_addk_i32",
    "s_wait_alu": "s_waitcnt_depctr",
    "v_mad_co_u64_u32": "v_mad_u64_u32",
    "v_mad_co_i64_i32": "v_mad_i64_i32",
    "global_wb": "buffer_gl0_inv",
    "global_wbinv": "global_inv",
    "export": "exp",
    **{
        f"image_atomic_{name}_uint": f"image_atomic_{name}" for name in ("add", "sub", "inc", "dec")
    },
    "image_atomic_min_int": "image_atomic_smin",
    "image_atomic_max_int": "image_atomic_smax",
    "image_atomic_min_uint": "image_atomic_umin",
    "image_atomic_max_uint": "image_atomic_umax",
    # Of all 64 lanes in a wave of 64, on gfx11 of each half.
    "ds_bpermute_b32": "ds_bpermute_b32_gfx12",
    "ds_permute_b32": "ds_permute_b32_gfx12",
}

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
