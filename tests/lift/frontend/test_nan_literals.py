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
