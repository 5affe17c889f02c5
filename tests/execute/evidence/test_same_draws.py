"""What programs draw random numbers from is the same in two runs, and is not without that."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from cass_ray.execute.evidence.other_machine import on_other_machine
from cass_ray.execute.evidence.same_draws import new_seed, with_same_draws
from cass_ray.toolchain.sandbox.executable import Exposure, problem, run_sandboxed

pytestmark = pytest.mark.skipif(bool(problem()), reason="no sandbox here")

SOURCES = {
    "the time in nanoseconds": "std::chrono::system_clock::now().time_since_epoch().count()",
    "a random device": "std::random_device()()",
    "a random device by name": 'std::random_device("/dev/urandom")()',
    "the process": "getpid()",
    "a stream": 'read_word("/dev/urandom")',
    "a file": 'open_word("/dev/random")',
    "the kernel": "kernel_word()",
    "the C library": "library_word()",
}
SEED = 1795000000 << 32 | 53
PROGRAM = r"""
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <random>
#include <sys/random.h>
#include <unistd.h>
static unsigned read_word(const char* path) {
  unsigned word = 0;
  std::ifstream(path, std::ios::binary).read(reinterpret_cast<char*>(&word), sizeof word);
  return word;
}
static unsigned open_word(const char* path) {
  unsigned word = 0;
  const int file = open(path, O_RDONLY);
  return read(file, &word, sizeof word) == sizeof word ? word : 0;
}
static unsigned kernel_word() {
  unsigned word = 0;
  return getrandom(&word, sizeof word, 0) == sizeof word ? word : 0;
}
static unsigned library_word() {
  unsigned word = 0;
  return getentropy(&word, sizeof word) == 0 ? word : 0;
}
int main() {
LINES
  const bool seen = std::getenv("LD_PRELOAD") || std::getenv("CASS_DRAWS");
  std::printf("%s\n", seen ? "preloaded" : "nothing preloaded");
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler = shutil.which("c++")
    if compiler is None:
        pytest.skip("no C++ compiler")
    folder = tmp_path_factory.mktemp("draws")
    lines = "".join(f'  std::printf("%ld\\n", (long)({each}));\n' for each in SOURCES.values())
    (folder / "draws.cpp").write_text(PROGRAM.replace("LINES", lines))
    command = [compiler, "-std=c++17", folder / "draws.cpp", "-o", folder / "draws"]
    subprocess.run(command, check=True)
    return folder / "draws"


def drawn(program: Path, exposure: Exposure) -> dict[str, str]:
    ended = run_sandboxed(program, exposure=exposure)
    assert ended.ok, ended.stderr
    *values, preloaded = ended.stdout.decode().splitlines()
    assert preloaded == "nothing preloaded"
    return dict(zip(SOURCES, values, strict=True))


def test_every_source_gives_the_same_again(program: Path) -> None:
    first = drawn(program, with_same_draws(Exposure(), SEED))
    assert first == drawn(program, with_same_draws(Exposure(), SEED))
    assert first == drawn(program, with_same_draws(on_other_machine(Exposure()), SEED))
    assert len(set(first.values())) == len(SOURCES)
    assert "0" not in first.values()
    assert int(first["the time in nanoseconds"]) // 1_000_000_000 == SEED >> 32


def test_another_seed_gives_others(program: Path) -> None:
    seeds = [new_seed() for _ in range(2)]
    one, other = (drawn(program, with_same_draws(Exposure(), seed)) for seed in seeds)
    assert [name for name in SOURCES if one[name] == other[name]] == ["the process"]


def test_without_that_they_differ(program: Path) -> None:
    """But for the process, which is the second one of each sandbox."""
    one, other = (drawn(program, Exposure()) for _ in range(2))
    assert [name for name in SOURCES if one[name] == other[name]] == ["the process"]
