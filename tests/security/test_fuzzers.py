"""What the fuzzers found worth keeping, once more: nothing crashes, promises hold."""

from __future__ import annotations

from pathlib import Path

import pytest

from cass_ray.emulator.code_object import CodeObjectError, describe
from cass_ray.emulator.engine_interface import Engine, load_engine
from cass_ray.toolchain.errors import ToolMissing
from tests.security.fuzzers.targets import TARGETS

CORPUS = Path(__file__).parent / "fuzzers" / "corpus"
_WORDS = 64


def kept(target: str) -> list[Path]:
    return sorted((CORPUS / target).iterdir())


@pytest.mark.parametrize("name", TARGETS)
def test_readers_survive_what_is_kept(name: str) -> None:
    inputs = kept(name)
    assert len(inputs) >= 3
    for path in inputs:
        TARGETS[name](path.read_bytes())


@pytest.fixture(scope="module")
def engine() -> Engine:
    try:
        return load_engine()
    except ToolMissing as error:
        pytest.skip(str(error))


@pytest.mark.amd
def test_code_objects_are_described_or_refused(engine: Engine) -> None:
    for path in kept("code_object"):
        try:
            described = describe(path.read_bytes(), engine)
        except CodeObjectError as error:
            assert str(error)
        else:
            assert described.target


@pytest.mark.amd
def test_any_bytes_are_an_instruction_or_none(engine: Engine) -> None:
    for path in kept("code"):
        data = path.read_bytes()
        words = [int.from_bytes(data[at : at + 4], "little") for at in range(0, len(data) & ~3, 4)]
        for start in range(min(len(words), _WORDS)):
            decoded = engine.decode(words[start:])
            if decoded:
                text, size = decoded
                assert text
                assert size <= 4 * (len(words) - start)
