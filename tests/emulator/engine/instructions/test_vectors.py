"""Vector instructions against the pseudo-code of AMD's manuals, bit by bit; see ``generate.py``."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from cass_ray.assembly.wave_mode import IEEE, USUAL_MODE
from cass_ray.emulator.engine_interface import Engine
from tests.emulator.engine.machine import Wave, assemble

pytestmark = pytest.mark.amd

Bits = npt.NDArray[np.uint64]

_FOLDER = Path(__file__).parent / "data"
_BATCH = 30
# Registers: three sources of two each, the old destination, then two for each instruction's result;
# scalar registers: the carry in, then one mask of two for each instruction.
_OLD, _FIRST = 8, 10
_CARRY_IN, _FIRST_MASK = 2, 4


@dataclass(frozen=True)
class _Instruction:
    name: str
    text: str
    kinds: tuple[str, ...]
    width: int
    accumulates: bool
    carry_in: bool
    carry_out: bool
    is_float: bool

    @property
    def mnemonic(self) -> str:
        return re.sub(r"_e(32|64)$", "", self.text.partition("|")[0])


class _Vectors:
    """Operands and results of one manual's instructions, for a processor."""

    def __init__(self, file: str, processor: str, mode: int = USUAL_MODE) -> None:
        self.processor, self.mode = processor, mode
        with np.load(_FOLDER / file) as content:
            self.arrays: dict[str, Bits] = dict(content)
        index: list[dict[str, Any]] = json.loads(bytes(self.arrays.pop("index").astype(np.uint8)))
        made = [_Instruction(**{**item, "kinds": tuple(item["kinds"])}) for item in index]
        self.instructions = {item.name: item for item in made}

    def on(self, processor: str, known: Collection[str]) -> _Vectors:
        """The same for another processor, of the ``known`` mnemonics."""
        other = copy.copy(self)
        other.processor = processor
        items = self.instructions.items()
        other.instructions = {name: item for name, item in items if item.mnemonic in known}
        return other

    def inputs(self, kinds: tuple[str, ...]) -> Bits:
        """Five rows: three sources, the old destination, the carry."""
        return self.arrays["in/" + ",".join(kinds)]


_RDNA3 = _Vectors("vectors.npz", "gfx1100")
_CDNA = _Vectors("vectors_gfx942.npz", "gfx942")
_MINIMUM_NUMBER = 1 << 31
"""What the engine sets for RDNA4, which has no IEEE mode (``mode::minimum_number``)."""
_RDNA4 = _Vectors("vectors_gfx12.npz", "gfx1201", USUAL_MODE & ~IEEE | _MINIMUM_NUMBER)


def _register(number: int, width: int) -> str:
    return f"v[{number}:{number + 1}]" if width == 64 else f"v{number}"


def _line(item: _Instruction, at: int, wide: bool) -> str:
    mnemonic, _, suffix = item.text.partition("|")
    mask = (
        f"s[{_FIRST_MASK + 2 * at}:{_FIRST_MASK + 2 * at + 1}]"
        if wide
        else f"s{_FIRST_MASK + 2 * at}"
    )
    carry = f"s[{_CARRY_IN}:{_CARRY_IN + 1}]" if wide else f"s{_CARRY_IN}"
    destination = mask if item.width == 1 else _register(_FIRST + 2 * at, item.width)
    operands = [destination]
    if item.carry_out or mnemonic.startswith(("v_mad_u64", "v_mad_i64", "v_mad_co_")):
        operands.append(mask)
    for number, kind in enumerate(item.kinds):
        operands.append(_register(2 * number, 64 if kind.endswith("64") else 32))
    if item.carry_in:
        operands.append(carry)
    return f"{mnemonic} {', '.join(operands)}{suffix}"


def _load(wave: Wave, cases: Bits, items: list[_Instruction]) -> None:
    halves = [(cases & 0xFFFFFFFF).astype(np.uint32), (cases >> np.uint64(32)).astype(np.uint32)]
    vector = np.frombuffer(wave.machine.vector, dtype=np.uint32).reshape(512, 64)
    lanes = slice(0, wave.lanes)
    for number in range(4):
        for half in range(2):
            vector[2 * number + half, lanes] = halves[half][number]
    for at in range(len(items)):
        vector[_FIRST + 2 * at, lanes] = halves[0][3]
    carry = sum(int(bit) << lane for lane, bit in enumerate(cases[4]))
    wave.machine.scalar[_CARRY_IN] = carry & 0xFFFFFFFF
    wave.machine.scalar[_CARRY_IN + 1] = carry >> 32


def _results(wave: Wave, item: _Instruction, at: int) -> tuple[Bits, Bits]:
    vector = np.frombuffer(wave.machine.vector, dtype=np.uint32).reshape(512, 64).astype(np.uint64)
    low, high = vector[_FIRST + 2 * at : _FIRST + 2 * at + 2, : wave.lanes]
    scalar = wave.machine.scalar
    mask = scalar[_FIRST_MASK + 2 * at] | scalar[_FIRST_MASK + 2 * at + 1] << 32
    carry = np.array([mask >> lane & 1 for lane in range(wave.lanes)], dtype=np.uint64)
    if item.width == 1:
        return carry, carry
    result = low | high << np.uint64(32) if item.width == 64 else low
    return result & np.uint64((1 << item.width) - 1), carry


_Computed = dict[str, tuple[Bits, Bits]]


def _compute(engine: Engine, vectors: _Vectors, wide: bool) -> _Computed:
    groups: dict[tuple[str, ...], list[_Instruction]] = {}
    for item in vectors.instructions.values():
        groups.setdefault(item.kinds, []).append(item)
    found: _Computed = {}
    for kinds, group in groups.items():
        cases = vectors.inputs(kinds)
        for start in range(0, len(group), _BATCH):
            items = group[start : start + _BATCH]
            _run(engine, vectors, items, cases, wide, found)
    return found


def _run(
    engine: Engine,
    vectors: _Vectors,
    items: list[_Instruction],
    cases: Bits,
    wide: bool,
    found: _Computed,
) -> None:
    text = "\n".join(_line(item, at, wide) for at, item in enumerate(items))
    processor = vectors.processor
    # LLVM 19 does not know gfx950, whose code of these instructions is gfx942's.
    assembled_for = "gfx942" if processor == "gfx950" else processor
    words = assemble(text, wide=wide, processor=assembled_for)
    parts: list[list[tuple[Bits, Bits]]] = [[] for _ in items]
    lanes = 64 if wide else 32
    for start in range(0, cases.shape[1], lanes):
        wave = Wave(engine, wide=wide, processor=processor, mode=vectors.mode)
        _load(wave, cases[:, start : start + lanes], items)
        assert engine.execute(words, wave.machine), text
        for at, item in enumerate(items):
            parts[at].append(_results(wave, item, at))
    for item, part in zip(items, parts, strict=True):
        found[item.name] = (
            np.concatenate([p[0] for p in part]),
            np.concatenate([p[1] for p in part]),
        )


def _nan(bits: Bits, width: int) -> npt.NDArray[np.bool_]:
    magnitude = bits & np.uint64((1 << (width - 1)) - 1)
    limit = {16: 0x7C00, 32: 0x7F800000, 64: 0x7FF0000000000000}[width]
    return np.asarray(magnitude > np.uint64(limit), dtype=np.bool_)


def _same(item: _Instruction, computed: Bits, expected: Bits) -> npt.NDArray[np.bool_]:
    """Equal bits; any NaN for a NaN, whose payload the manual leaves open."""
    same = computed == expected
    if item.is_float and item.name.startswith("v_pk_"):
        low, high = np.uint64(0xFFFF), np.uint64(16)
        parts = [
            (a == b) | (_nan(a, 16) & _nan(b, 16))
            for a, b in ((computed & low, expected & low), (computed >> high, expected >> high))
        ]
        return np.asarray(parts[0] & parts[1], dtype=np.bool_)
    if item.is_float:
        same |= _nan(computed, item.width) & _nan(expected, item.width)
    return np.asarray(same, dtype=np.bool_)


def _report(vectors: _Vectors, computed: _Computed, name: str) -> str:
    """What differs from the manual; empty where nothing does."""
    item = vectors.instructions[name]
    result, carry = computed[name]
    expected = vectors.arrays[f"out/{name}"]
    cases = vectors.inputs(item.kinds)
    wrong = ~_same(item, result, expected)
    if item.carry_out:
        wrong |= carry != vectors.arrays[f"carry/{name}"]
    report = [
        f"{[hex(bits) for bits in cases[:, at].tolist()]}: {result[at]:#x}, not {expected[at]:#x}"
        for at in np.flatnonzero(wrong)[:4]
    ]
    return "\n".join([f"{int(wrong.sum())} of {wrong.size} differ", *report]) if report else ""


def _table(vectors: _Vectors, computed: _Computed) -> dict[str, str]:
    """Instructions that differ from the manual, each with its first cases."""
    assert computed.keys() == vectors.instructions.keys()
    reports = {name: _report(vectors, computed, name) for name in vectors.instructions}
    return {name: report for name, report in reports.items() if report}


@pytest.mark.parametrize("wide", [False, True], ids=["32 lanes", "64 lanes"])
@pytest.mark.parametrize("vectors", [_RDNA3, _RDNA4], ids=["RDNA3", "RDNA4"])
def test_results_are_those_of_the_manual(engine: Engine, vectors: _Vectors, wide: bool) -> None:
    assert len(vectors.instructions) >= 340
    assert _table(vectors, _compute(engine, vectors, wide)) == {}


def test_results_are_those_of_the_manual_of_cdna(engine: Engine) -> None:
    assert len(_CDNA.instructions) >= 330
    assert _table(_CDNA, _compute(engine, _CDNA, True)) == {}


@pytest.mark.parametrize(("processor", "least"), [("gfx90a", 300), ("gfx950", 330)])
def test_results_of_cdnas_other_processors(engine: Engine, processor: str, least: int) -> None:
    """Of what they have of MI300's instructions, by the same manual."""
    known = {item.mnemonic for item in engine.coverage(processor)}
    vectors = _CDNA.on(processor, known)
    assert len(vectors.instructions) >= least
    assert _table(vectors, _compute(engine, vectors, True)) == {}


def test_a_difference_is_in_the_table(engine: Engine) -> None:
    """A wrong bit in the result of one instruction, a wrong carry in that of another one."""
    computed = _compute(engine, _CDNA, True)
    carrying = next(name for name, item in _CDNA.instructions.items() if item.carry_out)
    computed["v_xor_b32"][0][0] ^= np.uint64(1)
    computed[carrying][1][:2] ^= np.uint64(1)
    table = _table(_CDNA, computed)
    assert table.keys() == {"v_xor_b32", carrying}
    assert table[carrying].startswith("2 of ")
