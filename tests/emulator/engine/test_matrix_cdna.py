"""MFMA and SMFMAC against NumPy, in numbers that every format represents and every sum is exact in.

Where an element lies is written down here as AMD's matrix instruction calculator has it.
"""

from __future__ import annotations

import math
import random
import re
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pytest

from cass_ray.emulator.engine_interface import Engine
from tests.emulator.engine.machine import Wave

pytestmark = pytest.mark.amd

Numbers = npt.NDArray[np.float64]

A, B, C, D, INDEX = 0, 16, 32, 96, 160
"""First registers of the operands."""

_BITS = {"f64": 64, "f32": 32, "xf32": 32, "f16": 16, "bf16": 16, "i8": 8, "fp8": 8, "bf8": 8}
_DENSE = [
    "f32_32x32x1_2b_f32",
    "f32_16x16x1_4b_f32",
    "f32_4x4x1_16b_f32",
    "f32_32x32x2_f32",
    "f32_16x16x4_f32",
    "f32_32x32x4_xf32",
    "f32_16x16x8_xf32",
    "f32_32x32x4_2b_f16",
    "f32_16x16x4_4b_f16",
    "f32_4x4x4_16b_f16",
    "f32_32x32x8_f16",
    "f32_16x16x16_f16",
    "f32_32x32x4_2b_bf16",
    "f32_16x16x4_4b_bf16",
    "f32_4x4x4_16b_bf16",
    "f32_32x32x8_bf16",
    "f32_16x16x16_bf16",
    "i32_32x32x4_2b_i8",
    "i32_16x16x4_4b_i8",
    "i32_4x4x4_16b_i8",
    "i32_32x32x16_i8",
    "i32_16x16x32_i8",
    "f64_16x16x4_f64",
    "f64_4x4x4_4b_f64",
    "f32_32x32x16_fp8_bf8",
    "f32_16x16x32_bf8_fp8",
    "f32_32x32x16_fp8_fp8",
    "f32_16x16x32_bf8_bf8",
]
_SPARSE = [
    "f32_32x32x16_f16",
    "f32_16x16x32_f16",
    "f32_32x32x16_bf16",
    "f32_16x16x32_bf16",
    "i32_32x32x32_i8",
    "i32_16x16x64_i8",
    "f32_32x32x32_fp8_bf8",
    "f32_16x16x64_bf8_fp8",
]


@dataclass(frozen=True)
class _Shape:
    """A product as its name has it: results, order M = N, depth K, blocks, types of A and B."""

    result: str
    order: int
    depth: int
    blocks: int
    left: str
    right: str

    @classmethod
    def of(cls, name: str) -> _Shape:
        match = re.fullmatch(r"(\w\d\d)_(\d+)x\d+x(\d+)_(?:(\d+)b_)?(\w+?)(?:_(\w+))?", name)
        assert match
        result, order, depth, blocks, left, right = match.groups()
        return cls(result, int(order), int(depth), int(blocks or 1), left, right or left)


def _code(value: float, kind: str, *, ocp: bool = False) -> int:
    """The bits of ``value``, which the format represents; ``ocp``: bytes as gfx950 has them."""
    if kind in ("f64", "f32", "f16"):
        width = _BITS[kind]
        return int(np.array(value, f"f{width // 8}").view(f"u{width // 8}"))
    if kind == "xf32":
        return _code(value, "f32")
    if kind == "bf16":
        return _code(value, "f32") >> 16
    if kind in ("i8", "i32"):
        return int(value) & (0xFF if kind == "i8" else 0xFFFFFFFF)
    mantissa_bits, bias = (3, 8) if kind == "fp8" else (2, 16)
    return _byte_code(value, mantissa_bits, bias - ocp)


def _byte_code(value: float, mantissa_bits: int, bias: int) -> int:
    if value == 0:
        return 0
    mantissa, exponent = math.frexp(abs(value))
    steps = int(mantissa * 2 ** (mantissa_bits + 1)) - 2**mantissa_bits
    return (value < 0) << 7 | (exponent - 1 + bias) << mantissa_bits | steps


def _number(bits: int, kind: str) -> float:
    if kind == "i32":
        return bits - (1 << 32) if bits >> 31 else bits
    width = _BITS[kind]
    return float(np.array(bits, f"u{width // 8}").view(f"f{width // 8}"))


class _Registers:
    """Elements of any width, lane by lane, in consecutive registers."""

    def __init__(self, wave: Wave, first: int, bits: int) -> None:
        self.wave, self.first, self.bits = wave, first, bits

    def put(self, element: int, lane: int, code: int) -> None:
        at = element * self.bits
        for half in range(max(1, self.bits // 32)):
            word = code >> 32 * half & 0xFFFFFFFF
            self.wave.machine.vector[self.first + at // 32 + half][lane] |= word << at % 32

    def get(self, element: int, lane: int) -> int:
        at = element * self.bits
        vector = self.wave.machine.vector
        words = [vector[self.first + at // 32 + half][lane] for half in range(self.bits // 32)]
        return sum(word << 32 * half for half, word in enumerate(words))


def _input_place(shape: _Shape, depth: int, line: int, k: int, block: int) -> tuple[int, int]:
    """Element of the lane, and lane, of row (or column) ``line`` of A (or B)."""
    per_lane = depth * shape.order * shape.blocks // 64
    lane = line + shape.order * (block + shape.blocks * (k // per_lane))
    return k % per_lane, lane


def _result_place(shape: _Shape, row: int, column: int, block: int) -> tuple[int, int]:
    height = 1 if shape.result == "f64" else 4
    rows_of_register = 64 // shape.order
    together = math.ceil(64 / (shape.order * shape.order // height))
    element = block * (shape.order * shape.order // 64)
    element += row // (height * rows_of_register) * height + row % height
    lane = block % together * shape.order + column
    lane += row // height % rows_of_register * together * shape.order
    return element, lane


def _matrices(rng: random.Random, shape: _Shape) -> tuple[Numbers, Numbers, Numbers]:
    n, k, blocks = shape.order, shape.depth, shape.blocks
    draw = np.random.default_rng(rng.getrandbits(32))
    a = draw.integers(-3, 4, (blocks, n, k)).astype(float)
    b = draw.integers(-3, 4, (blocks, k, n)).astype(float)
    return a, b, draw.integers(-99, 99, (blocks, n, n)).astype(float)


def _load_factors(wave: Wave, shape: _Shape, a: Numbers, b: Numbers, *, ocp: bool = False) -> None:
    left = _Registers(wave, A, _BITS[shape.left])
    right = _Registers(wave, B, _BITS[shape.right])
    for block in range(shape.blocks):
        for line in range(shape.order):
            for k in range(a.shape[2]):
                place = _input_place(shape, a.shape[2], line, k, block)
                left.put(*place, _code(a[block, line, k], shape.left, ocp=ocp))
            for k in range(shape.depth):
                place = _input_place(shape, shape.depth, line, k, block)
                right.put(*place, _code(b[block, k, line], shape.right, ocp=ocp))


def _load_results(wave: Wave, shape: _Shape, first: int, c: Numbers) -> None:
    registers = _Registers(wave, first, 64 if shape.result == "f64" else 32)
    for block, row, column in np.ndindex(c.shape):
        place = _result_place(shape, row, column, block)
        registers.put(*place, _code(c[block, row, column], shape.result))


def _results(wave: Wave, shape: _Shape, first: int) -> Numbers:
    registers = _Registers(wave, first, 64 if shape.result == "f64" else 32)
    found = np.zeros((shape.blocks, shape.order, shape.order))
    for block, row, column in np.ndindex(found.shape):
        bits = registers.get(*_result_place(shape, row, column, block))
        found[block, row, column] = _number(bits, shape.result)
    return found


def _words(shape: _Shape, kind: str, depth: int) -> int:
    return depth * shape.order * shape.blocks // 64 * _BITS[kind] // 32


def _range(letter: str, first: int, count: int) -> str:
    return f"{letter}[{first}:{first + count - 1}]" if count > 1 else f"{letter}{first}"


def _text(name: str, shape: _Shape, result: int = D) -> str:
    words = shape.order**2 * shape.blocks // 64 * (2 if shape.result == "f64" else 1)
    a = _range("v", A, _words(shape, shape.left, shape.depth))
    b = _range("v", B, _words(shape, shape.right, shape.depth))
    return f"v_mfma_{name} {_range('v', result, words)}, {a}, {b}, {_range('v', C, words)}"


@pytest.mark.parametrize("name", _DENSE)
def test_dense_product(engine: Engine, name: str) -> None:
    shape = _Shape.of(name)
    a, b, c = _matrices(random.Random(name), shape)
    wave = Wave(engine, processor="gfx942")
    _load_factors(wave, shape, a, b)
    _load_results(wave, shape, C, c)
    wave.machine.scalar[126] = 0x5555  # EXEC does not matter
    wave.run(_text(name, shape))
    np.testing.assert_array_equal(_results(wave, shape, D), a @ b + c)


@pytest.mark.parametrize("result", [A, B, C - 2, C, C + 2], ids=["A", "B", "C-2", "C", "C+2"])
@pytest.mark.parametrize(
    "name", ["f32_16x16x16_f16", "i32_16x16x32_i8", "f32_4x4x4_16b_bf16", "f64_4x4x4_4b_f64"]
)
def test_results_where_factors_or_addends_are(engine: Engine, name: str, result: int) -> None:
    """LLVM lets results of up to 128 bits overlap with what is read: all of it is read first."""
    shape = _Shape.of(name)
    a, b, c = _matrices(random.Random(name), shape)
    wave = Wave(engine, processor="gfx942")
    _load_factors(wave, shape, a, b)
    _load_results(wave, shape, C, c)
    wave.run(_text(name, shape, result))
    np.testing.assert_array_equal(_results(wave, shape, result), a @ b + c)


@pytest.mark.parametrize("name", ["f32_32x32x1f32", "f32_16x16x16f16", "f32_32x32x8bf16_1k"])
def test_the_same_on_gfx90a(engine: Engine, name: str) -> None:
    shape = _Shape.of({"f32_32x32x1f32": "f32_32x32x1_2b_f32",
                       "f32_16x16x16f16": "f32_16x16x16_f16",
                       "f32_32x32x8bf16_1k": "f32_32x32x8_bf16"}[name])  # fmt: skip
    a, b, c = _matrices(random.Random(name), shape)
    wave = Wave(engine, processor="gfx90a")
    _load_factors(wave, shape, a, b)
    _load_results(wave, shape, C, c)
    wave.run(_text(name, shape))
    np.testing.assert_array_equal(_results(wave, shape, D), a @ b + c)


_OF_GFX950 = {
    "f32_16x16x32_f16": (0xD3D40060, 0x04822100),
    "f32_32x32x16_f16": (0xD3D50060, 0x04822100),
    "f32_16x16x32_bf16": (0xD3B50060, 0x04822100),
    "f32_32x32x16_bf16": (0xD3B70060, 0x04822100),
    "i32_16x16x64_i8": (0xD3B60060, 0x04822100),
    "i32_32x32x32_i8": (0xD3B80060, 0x04822100),
    "f32_16x16x32_fp8_bf8": (0xD3F20060, 0x04822100),
    "f32_32x32x16_bf8_fp8": (0xD3F50060, 0x04822100),
}
"""D in v96 on, A in v0, B in v16, C in v32: by LLVM 22, which knows gfx950."""


@pytest.mark.parametrize("name", list(_OF_GFX950))
def test_products_of_gfx950(engine: Engine, name: str) -> None:
    shape = _Shape.of(name)
    a, b, c = _matrices(random.Random(name), shape)
    wave = Wave(engine, processor="gfx950")
    _load_factors(wave, shape, a, b, ocp=True)
    _load_results(wave, shape, C, c)
    wave.run_words(_OF_GFX950[name])
    np.testing.assert_array_equal(_results(wave, shape, D), a @ b + c)


def test_accumulation_registers_and_a_constant(engine: Engine) -> None:
    """D in accumulation registers, C an inline constant; then read back."""
    shape = _Shape.of("f32_16x16x16_f16")
    a, b, _ = _matrices(random.Random(7), shape)
    wave = Wave(engine, processor="gfx942")
    _load_factors(wave, shape, a, b)
    reads = "\n".join(f"v_accvgpr_read_b32 v{D + k}, a{4 + k}" for k in range(4))
    wave.run(f"v_mfma_f32_16x16x16_f16 a[4:7], v[0:1], v[16:17], 1.0\n{reads}")
    np.testing.assert_array_equal(_results(wave, shape, D), a @ b + 1)


@pytest.mark.parametrize(("cbsz", "abid"), [(1, 0), (2, 3), (4, 9)])
def test_a_block_of_a_serves_several(engine: Engine, cbsz: int, abid: int) -> None:
    shape = _Shape.of("f32_4x4x4_16b_f16")
    a, b, c = _matrices(random.Random(cbsz), shape)
    wave = Wave(engine, processor="gfx942")
    _load_factors(wave, shape, a, b)
    _load_results(wave, shape, C, c)
    wave.run(f"{_text('f32_4x4x4_16b_f16', shape)} cbsz:{cbsz} abid:{abid}")
    used = a[[block // 2**cbsz * 2**cbsz + abid for block in range(16)]]
    np.testing.assert_array_equal(_results(wave, shape, D), used @ b + c)


@pytest.mark.parametrize(
    ("blgp", "source"),
    [(1, lambda lane: lane % 32), (2, lambda lane: 32 + lane % 32),
     (3, lambda lane: (lane + 16) % 64),
     (4, lambda lane: lane % 16), (7, lambda lane: 48 + lane % 16)],
)  # fmt: skip
def test_lanes_of_b_are_permuted(engine: Engine, blgp: int, source: object) -> None:
    assert callable(source)
    shape = _Shape.of("f32_16x16x1_4b_f32")
    a, b, c = _matrices(random.Random(blgp), shape)
    wave = Wave(engine, processor="gfx942")
    _load_factors(wave, shape, a, b)
    _load_results(wave, shape, C, c)
    wave.run(f"{_text('f32_16x16x1_4b_f32', shape)} blgp:{blgp}")
    lanes = [source(lane) for lane in range(64)]
    used = np.array([b[lane // 16, 0, lane % 16] for lane in lanes]).reshape(4, 1, 16)
    np.testing.assert_array_equal(_results(wave, shape, D), a @ used + c)


def test_f64_may_be_negated(engine: Engine) -> None:
    shape = _Shape.of("f64_16x16x4_f64")
    a, b, c = _matrices(random.Random(64), shape)
    wave = Wave(engine, processor="gfx942")
    _load_factors(wave, shape, a, b)
    _load_results(wave, shape, C, c)
    wave.run(f"{_text('f64_16x16x4_f64', shape)} neg:[1,0,0]")
    np.testing.assert_array_equal(_results(wave, shape, D), c - a @ b)


@pytest.mark.parametrize("name", _SPARSE)
def test_sparse_product(engine: Engine, name: str) -> None:
    """Of each four elements of A two are stored, and two bits for each say which."""
    shape = _Shape.of(name)
    rng = random.Random(name)
    _, b, c = _matrices(rng, shape)
    stored, _, _ = _matrices(
        rng, _Shape.of(name.replace(f"x{shape.depth}_", f"x{shape.depth // 2}_"))
    )
    chosen = [sorted(rng.sample(range(4), 2)) for _ in range(shape.order * shape.depth // 4)]
    dense = np.zeros((1, shape.order, shape.depth))
    wave = Wave(engine, processor="gfx942")
    _load_factors(wave, shape, stored, b)
    _load_results(wave, shape, D, c)
    index = _Registers(wave, INDEX, 2)
    for line in range(shape.order):
        for group in range(shape.depth // 4):
            pair = chosen[line * (shape.depth // 4) + group]
            for number, where in enumerate(pair):
                k = 2 * group + number
                dense[0, line, 4 * group + where] = stored[0, line, k]
                index.put(*_input_place(shape, shape.depth // 2, line, k, 0), where)
    words = shape.order**2 // 64
    a = _range("v", A, _words(shape, shape.left, shape.depth // 2))
    right = _range("v", B, _words(shape, shape.right, shape.depth))
    wave.run(f"v_smfmac_{name} {_range('v', D, words)}, {a}, {right}, v{INDEX}")
    np.testing.assert_array_equal(_results(wave, shape, D), dense @ b + c)
