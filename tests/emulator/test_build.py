"""When the engine is looked for again."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from cass_ray.emulator import build


class Counting:
    """Makes both libraries as empty files."""

    made = 0

    def __init__(self, cache: Path) -> None:
        self.cache = cache

    def runtime(self) -> Path:
        Counting.made += 1
        return self.engine()

    def engine(self) -> Path:
        path = self.cache / f"library{Counting.made}.so"
        path.touch()
        return path


@pytest.mark.amd
def test_sources_are_read_where_something_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "engine" / "wave.hpp"
    source.parent.mkdir()
    source.write_text("struct Wave {};")
    monkeypatch.setattr(build, "SOURCES", tmp_path)
    monkeypatch.setattr(build, "_Build", Counting)
    headers = SimpleNamespace(include=tmp_path / "include")
    monkeypatch.setattr(build, "build_hip_root", lambda *_: headers)
    Counting.made = 0
    first = build.runtime_library(tmp_path)
    assert (build.runtime_library(tmp_path), Counting.made) == (first, 1)
    os.utime(source, ns=(0, 0))  # as long as before, and saved again
    second = build.runtime_library(tmp_path)
    assert (second.name, Counting.made) == ("library2.so", 2)
    (tmp_path / "engine" / "lane.hpp").touch()
    build.runtime_library(tmp_path)
    assert Counting.made == 3
    build.runtime_library(tmp_path).unlink()
    assert build.runtime_library(tmp_path).exists() and Counting.made == 4
    monkeypatch.setenv("CASS_EMULATOR_SIMD", "portable")
    build.runtime_library(tmp_path)
    assert Counting.made == 5
