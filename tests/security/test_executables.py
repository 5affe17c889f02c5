"""Built programs would fill the disk, and be read by other programs."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from cass_ray.emulator.build import runtime_library
from cass_ray.emulator.execution import execute
from cass_ray.execute.backends.base import BuiltProgram
from cass_ray.execute.backends.rdna3 import Rdna3Backend
from cass_ray.toolchain.executables import LIMIT, cached_executable, keep_used_last, mark_used
from cass_ray.toolchain.sandbox import isolation

KIB = 1 << 10


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of executables, of one MiB."""
    monkeypatch.setenv("CASS_CACHE", str(tmp_path))
    monkeypatch.setenv(LIMIT, "1")
    return tmp_path / "executables"


def add(kind: str, key: str, size: int, seconds: int) -> Path:
    with cached_executable(kind, key) as (place, made):
        assert made is not None
        made.write_bytes(b"x" * size)
        os.utime(made, (seconds, seconds))
    return place


def size_of(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def test_what_builds_programs_stays_within_the_limit(cache: Path) -> None:
    """A process looks after each sixteenth of the limit, so that much can be there beyond it."""
    for number in range(40):
        kind = ("rdna3", "nvidia", "cass-run")[number % 3]
        place = add(kind, str(number), 100 * KIB, number)
        assert place.exists()
        assert size_of(cache) <= 1024 * KIB + 100 * KIB
    assert {path.name for path in cache.glob("*/*")} == {str(number) for number in range(30, 40)}


def test_small_programs_are_counted_too(cache: Path) -> None:
    for number in range(300):
        add("rdna3", str(number), 4 * KIB, number)
        assert size_of(cache) <= 1024 * KIB + 64 * KIB
    assert (cache / "rdna3" / "299").exists()


def test_a_program_beyond_the_limit_stays_until_the_next(cache: Path) -> None:
    large = add("rdna3", "large", 3000 * KIB, 1)
    assert large.exists()
    add("rdna3", "next", 100 * KIB, 2)
    assert not large.exists()


def test_a_program_that_runs_is_not_the_next_to_go(cache: Path, tmp_path: Path) -> None:
    wanted = add("rdna3", "wanted", 100 * KIB, 1)
    for number in range(2, 8):
        add("rdna3", str(number), 100 * KIB, number)
    with cached_executable("rdna3", "wanted") as (place, made):
        assert (place, made) == (wanted, None)
    for number in range(8, 14):
        add("rdna3", str(number), 100 * KIB, number)
    assert wanted.exists()
    assert not (cache / "rdna3" / "2").exists()


def test_a_build_that_fails_leaves_nothing(cache: Path) -> None:
    with pytest.raises(KeyError), cached_executable("rdna3", "x") as (_, made):
        assert made is not None
        made.write_bytes(b"half")
        raise KeyError
    assert [path for path in cache.rglob("*") if path.is_file()] == []


@pytest.mark.parametrize("text", ["much", "0", "-1", "1.5", "٣", "1e9"])
def test_a_limit_that_is_none_is_said(
    cache: Path, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(LIMIT, text)
    with pytest.raises(ValueError, match=LIMIT), cached_executable("rdna3", "x"):
        pass


def test_only_entries_are_evicted(tmp_path: Path) -> None:
    folder = tmp_path / "rdna3"
    (folder / ".part-1").mkdir(parents=True)
    for number in range(10):
        (folder / str(number)).write_bytes(b"x" * 1000)
        os.utime(folder / str(number), (number, number))
    mark_used(folder / "0")
    (tmp_path / "outside").write_bytes(b"x" * 9000)
    (folder / ".hidden").symlink_to(tmp_path / "outside")
    keep_used_last(tmp_path, 3000)
    assert {path.name for path in folder.iterdir()} == {"0", "8", "9", ".part-1", ".hidden"}
    assert (tmp_path / "outside").exists()


@pytest.fixture(scope="module")
def runtime() -> Path:
    """The HIP runtime, built before ``cache`` hides where it is kept."""
    if not isolation.available():
        pytest.skip(isolation.problem())
    return runtime_library()


@pytest.mark.amd
@pytest.mark.parametrize("way", ["cass run", "judge"])
def test_a_program_sees_no_other_built_program(runtime: Path, way: str, cache: Path) -> None:
    other = add("rdna3", "other", 10, 1)
    with cached_executable("rdna3", "spy") as (place, made):
        assert made is not None
        made.write_text(f"#!/bin/sh\necho begin; cat {other}; ls -A {other.parent}\n")
    if way == "cass run":
        output = execute(place, [], runtime).stdout
    else:
        backend = Rdna3Backend()
        vars(backend).update(runtime=runtime)
        output = backend.run(BuiltProgram(place, "rdna3", "spy")).ended.stdout
    assert output == b"begin\n"
