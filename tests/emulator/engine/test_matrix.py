"""Matrix products against the definition, in integers that every format represents."""

from __future__ import annotations

import random

import pytest

from cass_ray.emulator.engine_interface import Engine
from tests.emulator.engine.machine import Wave, f16, f32

pytestmark = pytest.mark.amd

Matrix = list[list[int]]


def _random(rng: random.Random, low: int, high: int) -> Matrix:
    return [[rng.randint(low, high) for _ in range(16)] for _ in range(16)]


def _product(a: Matrix, b: Matrix, c: Matrix) -> Matrix:
    return [
        [sum(a[m][k] * b[k][n] for k in range(16)) + c[m][n] for n in range(16)] for m in range(16)
    ]


def _pack(values: list[int], bits: int, code: object) -> list[int]:
    """Sixteen elements in consecutive registers."""
    assert callable(code)
    per_word = 32 // bits
    mask = (1 << bits) - 1
    return [
        sum((code(values[word * per_word + k]) & mask) << bits * k for k in range(per_word))
        for word in range(16 // per_word)
    ]


def _load(wave: Wave, register: int, lines: Matrix, bits: int, code: object) -> None:
    packed = [_pack(line, bits, code) for line in lines]
    for word in range(len(packed[0])):
        wave.set(register + word, [packed[lane % 16][word] for lane in range(wave.lanes)])


def _bf16(value: int) -> int:
    return f32(float(value)) >> 16


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize(
    ("name", "bits", "low", "high", "modifiers"),
    [
        ("v_wmma_f32_16x16x16_f16", 16, -9, 9, ""),
        ("v_wmma_f32_16x16x16_bf16", 16, -9, 9, ""),
        ("v_wmma_i32_16x16x16_iu8", 8, -128, 127, " neg_lo:[1,1,0]"),
        ("v_wmma_i32_16x16x16_iu4", 4, 0, 15, ""),
    ],
)
def test_product(
    engine: Engine, name: str, bits: int, low: int, high: int, modifiers: str, wide: bool
) -> None:
    rng = random.Random(name)
    a, b, c = _random(rng, low, high), _random(rng, low, high), _random(rng, -99, 99)
    codes = {"f16": lambda x: f16(float(x)), "bf16": _bf16}
    code = codes.get(name.rpartition("_")[2], lambda x: x)
    floating = "_f32_" in name
    wave = Wave(engine, wide=wide)
    _load(wave, 10, a, bits, code)
    _load(wave, 20, [list(column) for column in zip(*b, strict=True)], bits, code)
    group = wave.lanes // 16
    for register in range(16 // group):
        lines = [c[group * register + lane // 16][lane % 16] for lane in range(wave.lanes)]
        wave.set(30 + register, [f32(float(x)) if floating else x for x in lines])
    a_last, c_last = 10 + bits // 2 - 1, 30 + 16 // group - 1
    operands = f"v[40:{c_last + 10}], v[10:{a_last}], v[20:{a_last + 10}], v[30:{c_last}]"
    wave.run(f"{name} {operands}{modifiers}")
    expected = _product(a, b, c)
    for register in range(16 // group):
        lines = [expected[group * register + lane // 16][lane % 16] for lane in range(wave.lanes)]
        wanted = [f32(float(x)) if floating else x & 0xFFFFFFFF for x in lines]
        assert wave.get(40 + register) == wanted
