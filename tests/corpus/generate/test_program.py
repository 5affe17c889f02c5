"""Whole programs: the same for the same seed, within their own bounds, and right where they run."""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath

import numpy as np
import pytest
from typer.testing import CliRunner

from cass_ray.cli import app
from cass_ray.config import SettingsError, validate
from cass_ray.corpus.dedup.near import NearDuplicates
from cass_ray.corpus.generate.machine import GeneratorError, KernelArray, LaunchShape, LaunchState
from cass_ray.corpus.generate.memory import Fill, as_words, fowler, polynomial, weighted
from cass_ray.corpus.generate.options import GeneratorOptions
from cass_ray.corpus.generate.program import GeneratedProgram, generate
from cass_ray.corpus.generate.statements import Barrier, Escapes
from cass_ray.corpus.generate.types import BYTE, FLOAT, INT, Grid, ValueRange
from cass_ray.corpus.parsing.kernels import kernel_definitions
from cass_ray.corpus.program import Program, SourceError
from cass_ray.corpus.reading.source_files import Sources
from cass_ray.corpus.reading.trees import StoredTrees
from cass_ray.corpus.sources.registry import parse_source
from cass_ray.corpus.synthetic.validation import SyntheticVerdict, check_reply
from cass_ray.emulator.build import runtime_library
from cass_ray.emulator.execution import RunOptions, build, execute
from cass_ray.llm.client import Reply
from cass_ray.storage.store import Store
from cass_ray.toolchain.locate import find_amd, find_nvidia
from cass_ray.translate.engines.registry import make_translator
from cass_ray.translate.project.program import translate_program

CONSTRUCTS = (
    "__shared__", "extern __shared__", "__syncthreads", "__shfl_", "__ballot_sync", "__reduce_",
    "__match_any_sync", "0x000000ffu", "atomicAdd", "atomicMax", "atomicXor", "__constant__",
    "template <int", "template <typename T>", "struct ", "switch (", "while (", "do {",
    "continue;", "break;", "return;", "__half", "double", "unsigned long long", "gridDim.x",
    "blockIdx.y", "sinf(", "__fmaf_rn", "cudaMemcpyToSymbol", "cudaMallocManaged", "#pragma unroll",
)  # fmt: skip


def some(count: int, seed: int, **knobs: object) -> list[GeneratedProgram]:
    return list(generate(count, seed, GeneratorOptions.model_validate(knobs), checked=True))


def test_the_same_seed_gives_the_same_programs() -> None:
    assert some(5, 3) == some(5, 3)
    assert some(2, 3) == some(5, 3)[:2]
    assert some(2, 3) != some(2, 4)


def test_programs_keep_their_claims_and_are_not_alike() -> None:
    """``checked``: every bound holds, every store is exclusive, every index is in range."""
    programs = some(120, 11)
    near = NearDuplicates()
    assert all(near.offer(made.name, made.source) is None for made in programs)
    text = "".join(made.source for made in programs)
    assert [word for word in CONSTRUCTS if word not in text] == []
    for made in programs:
        assert check_reply(Reply(f"```cuda\n{made.source}```")).verdict is SyntheticVerdict.OK
        assert made.expected.count("\n") == made.source.count('report("')


def test_knobs_decide_the_mix_and_the_length() -> None:
    none = {"float": 0, "double": 0, "half": 0}
    plain = some(15, 1, types=none, collective=0.0, templates=0.0, two_dimensional=0.0)
    text = "".join(made.source for made in plain)
    kernels = "".join(re.findall(r"__global__.*?\n}\n", text, re.DOTALL))
    for word in ("float", "double", "__half", "__syncthreads", "__shared__", "template", "Idx.y"):
        assert word not in kernels
    small = some(15, 1, kernels=[1, 1], statements=[1, 2], nesting=0)
    large = some(15, 1, kernels=[3, 3], statements=[9, 12])
    assert all(len(kernel_definitions(made.source)) == 1 for made in small)
    lines = [sum(made.source.count("\n") for made in group) for group in (small, large)]
    assert lines[1] > 2 * lines[0]


@pytest.mark.parametrize(
    ("knobs", "message"),
    [
        ({"kernels": [3, 1]}, "fewest"),
        ({"types": dict.fromkeys(["int", "unsigned", "long", "unsigned_long", "float", "double",
                                  "half"], 0)}, "weight"),
        ({"colective": 1}, "did you mean `collective`"),
    ],
)  # fmt: skip
def test_bad_knobs_say_what_would_do(knobs: dict[str, object], message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        validate(GeneratorOptions, knobs, "knobs")


def test_the_machine_finds_what_a_generator_must_not_make() -> None:
    shape = LaunchShape((1, 1), (4, 1))
    place = KernelArray("out", INT, 4, ValueRange(0, 9))
    machine = LaunchState(shape, {"out": np.zeros(4, np.int32)}, checked=True)
    everyone = machine.thread
    with pytest.raises(GeneratorError, match="one element"):
        machine.store(place, everyone // 2, everyone)
    with pytest.raises(GeneratorError, match="range"):
        machine.store(place, everyone + 1, everyone)
    with pytest.raises(GeneratorError, match="bounds"):
        machine.store(place, everyone, everyone * 4)
    some_threads = machine.thread < 2
    with pytest.raises(GeneratorError, match="divergent"):
        Barrier().execute(machine, some_threads, Escapes.none(machine.everyone))


def test_checksums() -> None:
    words = as_words(np.asarray([1, -1, 5], np.int32))
    assert words.tolist() == [1, 2**64 - 1, 5]
    h = 7
    for word in words.tolist():
        h = (h * 31 + word) % 2**64
    assert polynomial(words, 31, 7) == h
    assert weighted(words) == (1 + 3 * (2**64 - 1) + 25) % 2**64
    # FNV-1a of no bytes is its offset basis; of one word: (basis ^ word) * prime.
    assert fowler(words[:0]) == 0xCBF29CE484222325
    assert fowler(words[:1]) == (0xCBF29CE484222325 ^ 1) * 0x100000001B3 % 2**64
    assert as_words(np.asarray([-0.0, 1.0], np.float32)).tolist() == [0, 0x3F800000]


def test_fills() -> None:
    fill = Fill(factor=7, start=3, modulus=17, offset=8, halvings=1)
    # (7 i + 3) mod 17 - 8, halved.
    assert fill.values(FLOAT, 4).tolist() == [-2.5, 1.0, -4.0, -0.5]
    assert fill.bounds(FLOAT) == Grid(-1, 8)
    assert Fill(7, 3, 17, 0).expression(BYTE) == "(unsigned char)((i * 7u + 3u) % 17u)"


def test_the_command_writes_programs_and_their_output(tmp_path: Path) -> None:
    given = ["generate", "--count", "3", "--seed", "5", "--out", str(tmp_path)]
    result = CliRunner().invoke(app, given)
    assert result.exit_code == 0, result.output
    programs = some(3, 5)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        f"{made.name}.{suffix}" for made in programs for suffix in ("cu", "expected")
    )
    for made in programs:
        assert (tmp_path / f"{made.name}.cu").read_text() == made.source
        assert (tmp_path / f"{made.name}.expected").read_text() == made.expected
    bad = CliRunner().invoke(app, [*given, "--set", "depht=2"])
    assert bad.exit_code == 2


def test_the_source_gives_programs(tmp_path: Path) -> None:
    trees = StoredTrees(Store(tmp_path / "trees"))
    (tmp_path / "knobs.yaml").write_text("kernels: [1, 1]\n")
    for argument in ("3@5", f"3@5,{tmp_path / 'knobs.yaml'}"):
        items = list(parse_source(f"generated:{argument}").iterate(tmp_path, trees))
        assert all(isinstance(item, Program) for item in items)
        assert len({item.to_row()["id"] for item in items}) == 3
    for argument in ("x", "0", "3@x", "3,missing.yaml"):
        with pytest.raises(SourceError):
            list(parse_source(f"generated:{argument}").iterate(tmp_path, trees))


def compile_and_run(made: GeneratedProgram) -> str:
    file = f"{made.name}.cu"
    sources = Sources(PurePosixPath(file), {file: made.source.encode()})
    translation = translate_program(sources, make_translator("rules"))
    assert translation.findings == ()
    hip = translation.sources
    runtime = runtime_library()
    done = execute(build(hip, find_amd(), runtime), (), runtime, RunOptions(60.0, check=True))
    assert done.ok, done.stderr_text
    return done.stdout_text


@pytest.mark.amd
@pytest.mark.parametrize("collective", [0.0, 1.0])
def test_a_program_prints_on_rdna3_what_the_generator_says(
    collective: float, tmp_path: Path
) -> None:
    """In checking mode: a race or an access out of bounds fails the run."""
    (made,) = some(1, 17, kernels=[2, 2], collective=collective)
    assert compile_and_run(made) == made.expected


@pytest.mark.slow
@pytest.mark.amd
def test_many_programs_print_on_rdna3_what_the_generator_says(tmp_path: Path) -> None:
    for made in some(12, 23):
        assert compile_and_run(made) == made.expected


@pytest.mark.slow
@pytest.mark.nvidia
def test_programs_compile_with_nvcc(tmp_path: Path) -> None:
    for made in some(6, 29):
        (tmp_path / "a.cu").write_text(made.source)
        unit = Sources(PurePosixPath("a.cu"), {"a.cu": made.source.encode()}).unit(tmp_path)
        assert find_nvidia().compile(unit).cubins["sm_80"]


def test_the_first_number_changes_no_program() -> None:
    assert list(generate(2, 5, first=3)) == list(generate(5, 5))[3:]
