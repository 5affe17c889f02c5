"""Results of constants, against the processor's own arithmetic in each rounding mode."""

from __future__ import annotations

import ctypes
import ctypes.util
import random
import struct
from collections.abc import Iterator

import pytest

from cass_ray.assembly.wave_mode import Rounding
from cass_ray.lift.lowering import float_constants
from tests.lift.lowering.test_mbarrier import lifted

MODES = {
    Rounding.NEAREST_EVEN: 0x000,
    Rounding.DOWN: 0x400,
    Rounding.UP: 0x800,
    Rounding.TO_ZERO: 0xC00,
}
"""The modes of C's ``fesetround`` on x86-64 (``fenv.h``)."""
ONE, LARGEST, LEAST_NORMAL = 0x3F800000, 0x7F7FFFFF, 0x00800000


@pytest.fixture
def libm() -> Iterator[ctypes.CDLL]:
    library = ctypes.CDLL(ctypes.util.find_library("m") or "libm.so.6")
    library.fmaf.restype = ctypes.c_float
    library.fmaf.argtypes = [ctypes.c_float] * 3
    yield library
    library.fesetround(0)


def single(bits: int) -> float:
    return float(struct.unpack("<f", struct.pack("<I", bits))[0])


def bits_of(number: float) -> int:
    return int(struct.unpack("<I", struct.pack("<f", number))[0])


def is_normal(bits: int) -> bool:
    return 0 < bits >> 23 & 0xFF < 0xFF


def operands(count: int) -> Iterator[list[int]]:
    """Of all sizes, and near to each other, where sums cancel."""
    source = random.Random(26)
    for _ in range(count):
        width = source.choice((2, 30, 250))
        found = []
        for _ in range(3):
            exponent = min(max(127 + source.randint(-width, width) // 2, 1), 254)
            found.append(source.getrandbits(1) << 31 | exponent << 23 | source.getrandbits(23))
        yield found


@pytest.mark.parametrize("rounding", MODES)
def test_products_and_sums_are_the_processors(libm: ctypes.CDLL, rounding: Rounding) -> None:
    computed = 0
    for a, b, c in operands(3000):
        one = bits_of(1.0)
        cases = {
            "fadd": ([a, c], (a, one, c)),
            "fmul": ([a, b], (a, b, 0)),
            "llvm.fma.f32": ([a, b, c], (a, b, c)),
        }
        for operation, (given, asked) in cases.items():
            numbers = [single(each) for each in asked]
            if operation == "fmul":  # a zero of the product's sign
                numbers[2] = -0.0 if (a ^ b) >> 31 else 0.0
            libm.fesetround(MODES[rounding])
            expected = libm.fmaf(*numbers)
            libm.fesetround(0)
            found = float_constants.arithmetic(operation, given, rounding)
            if found is not None:
                computed += 1
                assert found == bits_of(expected), (operation, given)
            else:
                assert not is_normal(bits_of(expected)) or abs(expected) in (
                    single(LEAST_NORMAL),  # what is denormal before it is rounded
                    single(LARGEST),  # what is infinite in another mode
                )
    assert computed > 5000


@pytest.mark.parametrize(
    ("operation", "given"),
    [
        ("fadd", [1, ONE]),  # a denormal number
        ("fadd", [0x7F800000, ONE]),
        ("fadd", [0x7FC00000, ONE]),
        ("fadd", [ONE, ONE | 1 << 31]),  # a zero, of a sign that the mode decides
        ("fmul", [LEAST_NORMAL, 0x3F000000]),
        ("fmul", [LARGEST, LARGEST]),
    ],
)
def test_what_hangs_on_modes_is_left(operation: str, given: list[int]) -> None:
    for rounding in MODES:
        assert float_constants.arithmetic(operation, given, rounding) is None


def test_powers_of_two_are_rounded_to_nearest() -> None:
    source = random.Random(27)
    for _ in range(500):
        number = single(bits_of(source.uniform(-125.9, 127.9)))
        assert float_constants.power_of_two(bits_of(number)) == bits_of(2.0**number)
    assert float_constants.power_of_two(bits_of(-126.0)) == LEAST_NORMAL
    assert float_constants.power_of_two(0) == float_constants.power_of_two(1 << 31) == ONE
    for bits in (bits_of(128.0), bits_of(-126.5), 1, 0x7F800000, 0x7FC00000):
        assert float_constants.power_of_two(bits) is None


@pytest.mark.parametrize(
    ("number", "clamped"),
    [(-2.0, 0.0), (-0.0, 0.0), (0.25, 0.25), (1.0, 1.0), (7.0, 1.0)],
)
def test_clamped(number: float, clamped: float) -> None:
    assert float_constants.saturated(bits_of(number)) == bits_of(clamped)


EXPF = [
    "MOV R3, 0x40000000",
    "MOV R0, 0x3bbb989d",
    "MOV R5, 0x437c0000",
    "FFMA.SAT R0, R3, R0, 0.5",
    "FFMA.RM R0, R0, R5, 12582913",
    "FADD R2, R0, -12583039",
    "SHF.L.U32 R0, R0, 0x17, RZ",
    "FFMA R2, R3, 1.4426950216293334961, -R2",
    "FFMA R4, R3, 1.925963033500011079e-08, R2",
    "MUFU.EX2 R5, R4",
    "FMUL R2, R0, R5",
]
"""What ptxas 13.0 makes of ``expf(2)`` for sm_80."""


@pytest.mark.parametrize("processor", ["gfx1100", "gfx942"])
def test_an_exponential_of_a_constant_is_one(processor: str) -> None:
    made = lifted(80, processor, *EXPF, "STG.E [R6.64], R2", "EXIT")
    assert "asm" not in made and "exp2" not in made
    # 7.389056, whose neighbours are 4.8e-7 away.
    assert any(f"store i32 {bits_of(7.38905609893065) + n}" in made for n in (-1, 0, 1))


def test_of_another_number_it_is_computed_when_it_runs() -> None:
    loaded = ["LDG.E R3, [R6.64]", *EXPF[1:], "STG.E [R6.64], R2", "EXIT"]
    assert "v_exp_f32" in lifted(80, "gfx1100", *loaded)
