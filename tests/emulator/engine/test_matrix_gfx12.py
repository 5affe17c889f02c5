"""WMMA and SWMMAC of gfx12 against the definition, in integers that every format represents.

Where an element lies is what AMD's "matrix instruction calculator" says for RDNA4
(github.com/ROCm/amd_matrix_instruction_calculator), written down as :func:`_input` and
:func:`_output`.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

import pytest

from cass_ray.emulator.engine_interface import Engine
from tests.emulator.engine.machine import Wave, f16, f32

pytestmark = pytest.mark.amd

Matrix = list[list[int]]

_BITS = {"f16": 16, "bf16": 16, "iu8": 8, "fp8": 8, "bf8": 8, "iu4": 4, "f32": 32, "i32": 32}
_A, _B, _C, _INDEX = 8, 16, 32, 48
"""First registers."""


@dataclass(frozen=True)
class _Product:
    sparse: bool
    result: str
    depth: int
    left: str
    right: str

    @property
    def name(self) -> str:
        kinds = self.left if self.left[:2] == "iu" else f"{self.left}_{self.right}"
        kinds = self.left if self.left in ("f16", "bf16") else kinds
        mnemonic = "swmmac" if self.sparse else "wmma"
        return f"v_{mnemonic}_{self.result}_16x16x{self.depth}_{kinds}"


_PRODUCTS = [
    *(_Product(False, kind, 16, "f16", "f16") for kind in ("f32", "f16")),
    *(_Product(False, kind, 16, "bf16", "bf16") for kind in ("f32", "bf16")),
    _Product(False, "i32", 16, "iu8", "iu8"),
    _Product(False, "i32", 16, "iu4", "iu4"),
    _Product(False, "i32", 32, "iu4", "iu4"),
    *(_Product(False, "f32", 16, a, b) for a in ("fp8", "bf8") for b in ("fp8", "bf8")),
    *(_Product(True, kind, 32, "f16", "f16") for kind in ("f32", "f16")),
    *(_Product(True, kind, 32, "bf16", "bf16") for kind in ("f32", "bf16")),
    _Product(True, "i32", 32, "iu8", "iu8"),
    _Product(True, "i32", 32, "iu4", "iu4"),
    _Product(True, "i32", 64, "iu4", "iu4"),
    *(_Product(True, "f32", 32, a, b) for a in ("fp8", "bf8") for b in ("fp8", "bf8")),
]


def _code(value: int, kind: str) -> int:
    if kind in ("f32", "f16", "bf16"):
        code = f16(value) if kind == "f16" else f32(value)
        return code >> 16 if kind == "bf16" else code
    if kind in ("fp8", "bf8"):
        # 0, 1 and 2 in the OCP formats: exponents alone.
        bias, mantissa = (7, 3) if kind == "fp8" else (15, 2)
        magnitude = 0 if value == 0 else (bias + abs(value).bit_length() - 1) << mantissa
        return (value < 0) << 7 | magnitude
    return value & ((1 << _BITS[kind]) - 1)


def _input(product: _Product, wide: bool, bits: int, line: int, k: int, *, compressed: bool) -> int:
    """Lane of an element, by the calculator's formulas."""
    if product.sparse:
        if not wide:
            group = k // 8 % 2 if bits == 16 else k // (product.depth // 2)
        elif bits == 16:
            group = k // 8
        elif product.depth == 32 and bits == 4 and compressed:
            group = k // 16
        elif product.depth == 32:
            group = 2 * (k // 8 % 2) + k // 16
        else:
            group = 2 * (k // 16 % 2) + k // 32
        return 16 * group + line
    if not wide:
        group = k // 4 % 2 if bits == 16 else k // (product.depth // 2)
    elif bits == 16:
        group = 2 * (k // 8 % 2) + k // 4 % 2
    elif bits == 8:
        group = 2 * (k // 4 % 2) + k // 8 % 2
    elif product.depth == 16:
        group = k // 8
    else:
        group = 2 * (k // 8 % 2) + k // 16 % 2
    return 16 * group + line


def _output(wide: bool, row: int, column: int) -> tuple[int, int]:
    """Lane, and the number among the lane's elements."""
    if not wide:
        return 16 * (row // 8) + column, row % 8
    return 32 * (row // 4 % 2) + 16 * (row // 8) + column, row % 4


class _Elements:
    """Elements that fill a lane's registers in the order in which they are appended."""

    def __init__(self, wave: Wave, first: int, bits: int) -> None:
        self.wave, self.first, self.bits = wave, first, bits
        self.count = [0] * 64

    def append(self, lane: int, code: int) -> None:
        at = self.count[lane] * self.bits
        self.wave.machine.vector[self.first + at // 32][lane] |= code << at % 32
        self.count[lane] += 1

    def get(self, lane: int, number: int) -> int:
        at = number * self.bits
        word = int(self.wave.machine.vector[self.first + at // 32][lane])
        return word >> at % 32 & ((1 << self.bits) - 1)


def _random(rng: random.Random, rows: int, columns: int, kind: str) -> Matrix:
    # bf16 has 8 bits for sums.
    limit = {"fp8": 2, "bf8": 2, "bf16": 2, "iu8": 100}.get(kind, 7)
    choices = list(range(-limit, limit + 1))
    return [[rng.choice(choices) for _ in range(columns)] for _ in range(rows)]


def _load_sparse(
    wave: Wave, product: _Product, a: Matrix, rng: random.Random, key: int, wide: bool
) -> None:
    """Leave two of each four elements of ``a`` and say which, in the part ``key`` of the index."""
    bits = _BITS[product.left]
    left = _Elements(wave, _A, bits)
    places = _Elements(wave, _INDEX, 2)
    groups = 2 if not wide or (bits == 4 and product.depth == 32) else 4
    stored = product.depth // groups // 2
    for lane in range(wave.lanes):
        places.count[lane] = key * stored
    for line in range(16):
        for quad in range(0, product.depth, 4):
            kept = sorted(rng.sample(range(4), 2))
            lane = _input(product, wide, bits, line, quad, compressed=True)
            for at in range(4):
                if at not in kept:
                    a[line][quad + at] = 0
            for at in kept:
                left.append(lane, _code(a[line][quad + at], product.left))
                places.append(lane, at)


@pytest.mark.parametrize("wide", [False, True], ids=["32 lanes", "64 lanes"])
@pytest.mark.parametrize("product", _PRODUCTS, ids=lambda product: product.name)
def test_product(engine: Engine, product: _Product, wide: bool) -> None:
    rng = random.Random(product.name)
    wave = Wave(engine, wide=wide, processor="gfx1201")
    depth = product.depth
    a = _random(rng, 16, depth, product.left)
    b = _random(rng, depth, 16, product.right)
    c = _random(rng, 16, 16, "i32")
    bits = _BITS[product.left]
    suffix = " neg_lo:[1,1,0]" if product.left[:2] == "iu" else ""
    if product.sparse:
        largest = 32 // (depth // (2 if not wide or (bits == 4 and depth == 32) else 4))
        key = largest - 1
        _load_sparse(wave, product, a, rng, key, wide)
        suffix = (f" index_key:{key}" if key else "") + suffix
    else:
        left = _Elements(wave, _A, bits)
        for line in range(16):
            for k in range(depth):
                lane = _input(product, wide, bits, line, k, compressed=True)
                left.append(lane, _code(a[line][k], product.left))
    right = _Elements(wave, _B, bits)
    for line in range(16):
        for k in range(depth):
            lane = _input(product, wide, bits, line, k, compressed=False)
            right.append(lane, _code(b[k][line], product.right))
    result_bits = _BITS[product.result]
    result = _Elements(wave, _C, result_bits)
    for row in range(16):
        for column in range(16):
            result.append(_output(wide, row, column)[0], _code(c[row][column], product.result))

    def registers(first: int, count: int) -> str:
        return f"v{first}" if count == 1 else f"v[{first}:{first + count - 1}]"

    counts = [max(1, max(side.count) * side.bits // 32) for side in (right, result)]
    stored = depth // 2 if product.sparse else depth
    per_lane = max(1, stored * 16 * bits // 32 // (wave.lanes if wide else 32))
    operands = [registers(_A, per_lane), registers(_B, counts[0])]
    d = registers(_C, counts[1])
    third = f"v{_INDEX}" if product.sparse else d
    wave.run(f"{product.name} {d}, {', '.join(operands)}, {third}{suffix}")
    for row in range(16):
        for column in range(16):
            lane, number = _output(wide, row, column)
            expected = sum(a[row][k] * b[k][column] for k in range(depth)) + c[row][column]
            assert result.get(lane, number) == _code(expected, product.result), (row, column)
