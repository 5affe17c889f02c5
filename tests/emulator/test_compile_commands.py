"""What clangd is told of the engine."""

from __future__ import annotations

from pathlib import Path

import pytest

from cass_ray.cache import default_directory
from cass_ray.emulator.build import SOURCES, compile_lines


@pytest.mark.amd
def test_every_source_has_its_command() -> None:
    lines = compile_lines(default_directory())
    of_hipblaslt = set((SOURCES / "hipblaslt").glob("*.cpp"))  # HIP, built by blaslt.py
    assert set(lines) == set(SOURCES.rglob("*.cpp")) - of_hipblaslt
    handlers = lines[SOURCES / "engine" / "instructions" / "scalar.cpp"]
    assert any(flag.startswith("-DCASS_EMULATOR_LEVEL=") for flag in handlers)
    for source, arguments in lines.items():
        assert Path(arguments[0]).exists()
        assert arguments[-2:] == ("-c", str(source))
