"""Products of matrices with numbers of eight, six and four bits, worked out by plain loops."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

import pytest

from benchmarks.lift.cubins import Ways, compile_unit
from cass_ray.toolchain.locate import find_nvidia
from cass_ray.toolchain.unit import Unit
from tests.lift.lifted_programs import ProgramOnAmd

# Bits of the exponent and of the fraction, and the exponent's bias (OCP Microscaling Formats).
E2M1, E2M3, E3M2, E4M3, E5M2 = (2, 1, 1), (2, 3, 1), (3, 2, 3), (4, 3, 7), (5, 2, 15)
PRODUCTS = [
    ((E2M1, 15, 0), (E2M1, 15, 0)),
    ((E3M2, 63, 0), (E2M3, 63, 0)),
    ((E2M3, 63, 0), (E2M1, 15, 0)),
    ((E4M3, 15, 48), (E2M1, 15, 0)),
    ((E2M1, 15, 0), (E5M2, 7, 188)),
    ((E5M2, 7, 60), (E3M2, 63, 0)),
]
"""Of A and of B: the kind, and which codes the program draws: a mask, and what is added."""


def number(kind: tuple[int, int, int], code: int) -> float:
    """Without infinities and NaN, which no code drawn is."""
    exponent_bits, fraction_bits, bias = kind
    sign = -1 if code >> exponent_bits + fraction_bits & 1 else 1
    exponent = code >> fraction_bits & (1 << exponent_bits) - 1
    fraction = (code & (1 << fraction_bits) - 1) / (1 << fraction_bits)
    if exponent == 0:
        return sign * fraction * 2.0 ** (1 - bias)
    return float(sign * (1 + fraction) * 2.0 ** (exponent - bias))


def test_numbers() -> None:
    """The tables of the formats' text."""
    assert [number(E2M1, code) for code in range(8)] == [0, 0.5, 1, 1.5, 2, 3, 4, 6]
    assert [number(E2M3, 1), number(E2M3, 0x1F), number(E2M3, 0x28)] == [0.125, 7.5, -1]
    assert [number(E3M2, 1), number(E3M2, 0x1F), number(E3M2, 0x2C)] == [0.0625, 28, -1]


def place_of_a(row: int, column: int) -> int:
    """The byte in the registers of 32 lanes (PTX ISA, Matrix Fragments for mma.m16n8k32)."""
    lane = row % 8 * 4 + column % 16 // 4
    return 16 * lane + column % 4 + 4 * (row // 8) + 8 * (column // 16)


def place_of_b(row: int, column: int) -> int:
    lane = column * 4 + row % 16 // 4
    return 8 * lane + row % 4 + 4 * (row // 16)


Drawn = tuple[tuple[int, int, int], int, int]


def begun() -> list[float]:
    """C, as the lanes have it: four sums each."""
    return [float(n - 60) for n in range(128)]


def place_of_sum(row: int, column: int) -> int:
    return 4 * (row % 8 * 4 + column // 2) + column % 2 + 2 * (row // 8)


def sums(left: Drawn, right: Drawn) -> list[float]:
    """What the lanes have then."""
    found = begun()
    (kind_a, mask_a, more_a), (kind_b, mask_b, more_b) = left, right
    for row in range(16):
        for column in range(8):
            for k in range(32):
                n, m = place_of_a(row, k), place_of_b(k, column)
                a = number(kind_a, (11 * n + 5 + n // 64 & mask_a) + more_a)
                b = number(kind_b, (11 * m + 5 + m // 32 & mask_b) + more_b)
                found[place_of_sum(row, column)] += a * b
    return found


SCALED = [
    # Scales of a row; of A the byte and the pair of lanes, of B the byte and the lane.
    (1, (0, 0), (0, 0)),
    (1, (3, 1), (1, 2)),
    (2, (0, 0), (0, 0)),
    (2, (2, 1), (2, 3)),
    (4, (0, 0), (0, 0)),
    (4, (0, 1), (0, 1)),
]


def factor_of_a(row: int, k: int) -> float:
    """In bytes, where a row has one scale."""
    n = place_of_a(row, k)
    return number(E3M2, 11 * n + 5 + n // 64 & 63)


def factor_of_b(k: int, column: int) -> float:
    return number(E2M1, 7 * place_of_b(k, column) + 3 & 15)


def packed(codes: int, k: int) -> float:
    """One of the two numbers in a byte: PTX ISA, Matrix Fragments for mma.m16n8k64."""
    return number(E2M1, codes >> 4 * (k % 2) & 15)


def packed_of_a(row: int, k: int) -> float:
    lane = row % 8 * 4 + k % 32 // 8
    n = 16 * lane + k % 8 // 2 + 4 * (row // 8) + 8 * (k // 32)
    return packed(29 * n + n // 64 & 255, k)


def packed_of_b(k: int, column: int) -> float:
    n = 8 * (column * 4 + k % 32 // 8) + k % 8 // 2 + 4 * (k // 32)
    return packed(23 * n + 9 + n // 32 & 255, k)


def scale(lane: int, byte: int, count: int) -> float:
    """That in a byte of the two words that a lane has, of A and of B."""
    n = 8 * lane + byte
    drawn = 5 * n + n // 8
    return number(E4M3, 48 + drawn % 16) if count == 4 else 2.0 ** (drawn % 8 - 4)


def scaled_sums(count: int, of_a: tuple[int, int], of_b: tuple[int, int]) -> list[float]:
    """With ``count`` scales of each row and column (PTX ISA, Block Scaling for mma.sync)."""
    found = begun()
    depth = 32 if count == 1 else 64
    for row in range(16):
        for column in range(8):
            for k in range(depth):
                block = k * count // depth
                lane_of_a = row % 8 * 4 + 2 * of_a[1] + row // 8
                scales = scale(lane_of_a, of_a[0] + block, count)
                scales *= scale(column * 4 + of_b[1], 4 + of_b[0] + block, count)
                if count == 1:
                    factors = factor_of_a(row, k) * factor_of_b(k, column)
                else:
                    factors = packed_of_a(row, k) * packed_of_b(k, column)
                found[place_of_sum(row, column)] += scales * factors
    return found


def printed(name: str, target: str, folder: Path) -> list[list[float]]:
    """The numbers in each line that the lifted program prints."""
    unit = Unit(Path(__file__).parent / "programs", PurePosixPath(name))
    cubins, message = compile_unit(find_nvidia(), unit, ["sm_120a"], Ways(native=True))
    assert not message
    text = ProgramOnAmd(unit, target, folder).printed(cubins["sm_120a"])
    return [[float.fromhex(word) for word in line.split()] for line in text.splitlines()]


@pytest.mark.nvidia
@pytest.mark.amd
@pytest.mark.parametrize("target", ["gfx1100", "gfx942"])
def test_products(target: str, tmp_path: Path) -> None:
    """Each sum is exact: it has at most 24 bits from its least place on."""
    found = printed("narrow_matrices.cu", target, tmp_path)
    assert found == [sums(*each) for each in PRODUCTS]


@pytest.mark.nvidia
@pytest.mark.amd
@pytest.mark.parametrize("target", ["gfx1100", "gfx942"])
def test_products_with_scales(target: str, tmp_path: Path) -> None:
    """Exact, too; scales are in other lanes and bytes each time."""
    found = printed("scaled_matrices.cu", target, tmp_path)
    assert found == [scaled_sums(*each) for each in SCALED]
