"""Which NaN an instruction copies: nvdisasm's text does not tell."""

from __future__ import annotations

from dataclasses import replace
from pathlib import PurePosixPath

import pytest

from cass_ray.lift import UnknownForm, lift_text
from cass_ray.lift.frontend.nan_literals import with_bits_of_nans
from cass_ray.toolchain.locate import find_nvidia
from cass_ray.toolchain.nvidia.elf import Cubin
from cass_ray.toolchain.unit import Unit

SOURCE = "__global__ void k(double* p) { p[threadIdx.x] = log(p[threadIdx.x]); }\n"


@pytest.fixture(scope="module")
def cubin(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    folder = tmp_path_factory.mktemp("log")
    (folder / "log.cu").write_text(SOURCE)
    return find_nvidia().compile(Unit(folder, PurePosixPath("log.cu")), ["sm_90"]).cubins["sm_90"]


@pytest.mark.nvidia
def test_the_logarithm_of_zero_has_the_high_word_of_minus_infinity(cubin: bytes) -> None:
    """-inf is 0xfff00000 and a zero; as a float that word is a NaN."""
    (listing,) = find_nvidia().disassemble([cubin])
    assert "-QNAN" in listing
    text = with_bits_of_nans(listing, Cubin.parse(cubin))
    assert "QNAN" not in text
    (line,) = (line for line in text.splitlines() if "FSEL" in line and "0xf" in line)
    assert "0xfff00000" in line


@pytest.mark.nvidia
@pytest.mark.amd
def test_a_listing_alone_does_not_say_it(cubin: bytes) -> None:
    (listing,) = find_nvidia().disassemble([cubin])
    with pytest.raises(UnknownForm, match="bits of a NaN"):
        lift_text(listing)


@pytest.mark.nvidia
def test_code_of_another_cubin_changes_nothing(cubin: bytes) -> None:
    (listing,) = find_nvidia().disassemble([cubin])
    parsed = Cubin.parse(cubin)
    emptied = replace(parsed, sections=[replace(each, data=b"") for each in parsed.sections])
    assert with_bits_of_nans(listing, emptied) == listing


HALVES = """
#include <cuda_fp8.h>
__global__ void k(unsigned short* p) {
  __half2_raw pair{0x3c00, 0x7fff};
  *p = __nv_cvt_halfraw2_to_fp8x2(pair, __NV_SATFINITE, __NV_E4M3);
}
"""


@pytest.mark.nvidia
@pytest.mark.amd
def test_the_number_below_a_nan_of_16_bits_is_not_lost(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """Of 1.0 below a NaN nvdisasm prints one NaN of 32 bits."""
    folder = tmp_path_factory.mktemp("halves")
    (folder / "halves.cu").write_text(HALVES)
    nvidia, unit = find_nvidia(), Unit(folder, PurePosixPath("halves.cu"))
    cubin = nvidia.compile(unit, ["sm_90"]).cubins["sm_90"]
    (listing,) = nvidia.disassemble([cubin])
    assert "+QNAN" in listing
    assert "0x7fff3c00" in with_bits_of_nans(listing, Cubin.parse(cubin))
    with pytest.raises(UnknownForm, match="which bits"):
        lift_text(listing)
