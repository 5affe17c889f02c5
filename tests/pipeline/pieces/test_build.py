"""A build in pieces: rows in are rows out, however the input is cut, whatever was done before."""

from __future__ import annotations

import hashlib
import subprocess
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import pyarrow.parquet as pq
import pytest
from rich.console import Console

from cass_ray.corpus.dedup.shards import LocalShards, Shards, ShardsLost
from cass_ray.corpus.screening.evaluation import CANARY, benchmark_programs
from cass_ray.corpus.sources import local
from cass_ray.dataset.parquet import read_rows
from cass_ray.pipeline.output import output_at
from cass_ray.pipeline.pieces import duplicates, read, side_tables
from cass_ray.pipeline.pieces.blocks import Block, BlockReader, commit_block
from cass_ray.pipeline.pieces.runner import InlineRunner
from cass_ray.pipeline.pieces.steps import Steps
from cass_ray.pipeline.pieces.work import BuildWork, Deduplicated
from cass_ray.pipeline.progress import Progress
from cass_ray.pipeline.report import Tally
from cass_ray.pipeline.settings import BuildSettings
from cass_ray.storage.store import Store
from tests.corpus.conftest import write_files
from tests.corpus.screening.test_screening import SASS, program
from tests.storage.s3_server import BUCKET, environment, s3_server

T = TypeVar("T")
R = TypeVar("R")


def no_compiler(blocks: Sequence[tuple[Deduplicated, Block]]) -> Iterator[dict[str, int]]:
    raise AssertionError(f"{len(blocks)} blocks need a compiler")


def built(
    settings: BuildSettings,
    runner: InlineRunner | None = None,
    compile_blocks: Callable[..., Iterator[dict[str, int]]] | None = None,
) -> tuple[Tally, dict[str, int]]:
    """The data set in ``settings.out``: its counts, and those of its selection."""
    output = output_at(settings.out)
    work = BuildWork(output.store, settings)
    progress = Progress(Console(quiet=True))
    steps = Steps(work, runner or InlineRunner(), progress, 2, from_cache=compile_blocks is None)
    pieces = steps.read(output.scratch)
    finish = (lambda blocks: compile_blocks(work, blocks)) if compile_blocks else no_compiler
    tally, selected = steps.write(pieces, steps.finish(pieces, finish), output)
    assert progress.rows == tally.rows
    return tally, selected


def content(out: Path) -> dict[str, str]:
    """Digests of the files of a data set."""
    return {
        path.relative_to(out).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(out.rglob("*.parquet"))
        if ".work" not in path.parts
    }


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """Forty programs, some of them copies, variants or too short."""
    folder = tmp_path / "in"
    files: dict[str, str | bytes] = {}
    for number in range(40):
        name = f"name{number % 25}"
        text = program(name, lines=8 + number % 3)
        if number % 11 == 10:
            text = text.replace(f"{name}_3 ", f"{name}_2 ")
        files[f"{number % 4}/p{number:02}.cu"] = text if number % 13 else "int x;\n"
    write_files(folder, files)
    return folder


def sources_alone(corpus: Path, out: Path) -> BuildSettings:
    return BuildSettings(sources=[f"local:{corpus}"], out=out, compile=False, cache=False)


def test_planted_copies_are_named(tmp_path: Path) -> None:
    name, source = next(
        (each.name, each.source) for each in benchmark_programs() if each.name.endswith("main.cu")
    )
    write_files(
        tmp_path / "in",
        {
            "a.cu": program("alpha"),
            "b.cu": program("alpha"),
            "c.cu": program("alpha").replace("alpha_3 ", "alpha_2 "),
            "d.cu": program("delta"),
            "e.cu": "int x;\n",
            "planted.cu": source.replace(CANARY, "someone else"),
            "whole.cu": source,
        },
    )
    write_files(tmp_path / "cl", {"k.cl": "__kernel void k(__global int *p) {\n" + "\n" * 12 + "}"})
    sources = [f"local:{tmp_path / 'in'}", f"opencl:{tmp_path / 'cl'}"]
    out = tmp_path / "out"
    settings = BuildSettings(sources=sources, out=out, compile=False, cache=False)

    tally, selected = built(settings)

    assert (tally.rows, tally.pairs, tally.duplicates.total()) == (8, 2, 2)
    assert selected["train"] + selected["validation"] == 2
    assert [row["path"] for row in read_rows(out)] == ["a.cu", "d.cu"]
    assert {row["path"]: row["reason"] for row in read_rows(out, "rejects")} == {
        "b.cu": "exact_duplicate",
        "c.cu": "near_duplicate",
        "e.cu": "too_short",
        "planted.cu": "benchmark_overlap",
        "whole.cu": "benchmark_overlap",
        "k.cl": "boilerplate",
    }
    removed = pq.read_table(out / "decontamination.parquet").to_pylist()
    assert {(line["path"], line["level"]) for line in removed} == {
        ("planted.cu", "source"),
        ("whole.cu", "canary"),
    }
    (planted,) = [line for line in removed if line["level"] == "source"]
    assert planted["repeats"] == name and planted["similarity"] > 0.9
    clusters = pq.read_table(out / "clusters.parquet").to_pylist()
    assert [(line["path"], line["level"]) for line in clusters] == [
        ("b.cu", "exact"),
        ("c.cu", "near"),
    ]
    chosen = pq.read_table(out / "selection.parquet").column("id").to_pylist()
    assert chosen == [row["id"] for row in read_rows(out)]


class ManyShards(InlineRunner):
    """Work in the opposite order, duplicates over five shards."""

    def each(self, work: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
        return map(work, reversed(list(items)))

    def shards(self) -> Shards:
        return LocalShards(5)


def test_how_the_input_is_cut_does_not_matter(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, _ = built(sources_alone(corpus, tmp_path / "whole"))
    assert 0 < whole.pairs < 30 and whole.duplicates.total() > 5
    monkeypatch.setattr(local, "FILES_IN_A_SPLIT", 3)
    monkeypatch.setattr(read, "ROWS_PER_RUN", 2)
    monkeypatch.setattr(duplicates, "LINES_OF_A_SPAN", 5)
    monkeypatch.setattr(side_tables, "PIECES_OF_A_SPAN", 2)
    cut, _ = built(sources_alone(corpus, tmp_path / "cut"), ManyShards())
    assert cut.as_dict() == whole.as_dict()
    assert content(tmp_path / "cut") == content(tmp_path / "whole")


class LosesShards(InlineRunner):
    """Its shards are gone at one call, and others can be had."""

    def __init__(self, at: int) -> None:
        self.left = at

    def shards(self) -> Shards:
        return Fragile(self)


class Fragile(LocalShards):
    def __init__(self, runner: LosesShards) -> None:
        super().__init__()
        self._runner = runner

    def call(self, method: str, arguments: Sequence[tuple[Any, ...]]) -> list[Any]:
        self._runner.left -= 1
        if not self._runner.left:
            raise ShardsLost("their node was lost")
        return super().call(method, arguments)


@pytest.mark.parametrize("at", [1, 2, 5])
def test_shards_that_are_lost_are_filled_again(
    at: int, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    built(sources_alone(corpus, tmp_path / "alone"))
    monkeypatch.setattr(duplicates, "LINES_OF_A_SPAN", 1)
    runner = LosesShards(at)
    built(sources_alone(corpus, tmp_path / "lost"), runner)
    assert runner.left < 0
    assert content(tmp_path / "lost") == content(tmp_path / "alone")


class Killed(Exception):
    """Somebody pulled the plug."""


class Stops(InlineRunner):
    """Ends after so many results; notes how much was done."""

    def __init__(self, after: int) -> None:
        self.left = after
        self.done = 0

    def each(self, work: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
        for item in items:
            if not self.left:
                raise Killed
            self.left -= 1
            self.done += 1
            yield work(item)


def test_a_build_that_was_killed_anywhere_goes_on(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local, "FILES_IN_A_SPLIT", 4)
    built(sources_alone(corpus, tmp_path / "quiet"))
    settings, kills = sources_alone(corpus, tmp_path / "out"), 0
    for after in (1, 3, 5, 9, 12, 15, 20, 25):
        try:
            built(settings, Stops(after))
        except Killed:
            kills += 1
            assert not (tmp_path / "out" / "pairs").exists()
    assert kills >= 4
    assert content(tmp_path / "out") == content(tmp_path / "quiet")


def test_what_was_read_is_not_read_again_unless_it_changed(corpus: Path, tmp_path: Path) -> None:
    settings = sources_alone(corpus, tmp_path / "out")
    built(settings)

    def entries() -> list[Path]:
        return sorted((tmp_path / "out" / ".work").glob("pieces-*/entries/*"))

    first = entries()
    built(settings)
    assert entries() == first
    (corpus / "0" / "p04.cu").write_text(program("changed"))
    tally, _ = built(settings)
    assert len(entries()) > len(first)
    assert "changed_kernel" in "".join(row["cuda_source"] for row in read_rows(settings.out))
    built(sources_alone(corpus, tmp_path / "again"))
    assert content(tmp_path / "again") == content(settings.out)
    assert tally.rows == 40


def with_machine_code(
    work: BuildWork, blocks: Sequence[tuple[Deduplicated, Block]]
) -> Iterator[dict[str, int]]:
    """Commits rows with SASS that a number in their source chooses."""
    reader = BlockReader(work)
    for piece, block in blocks:
        rows: list[dict[str, Any]] = []
        for row in reader.rows(block, piece.read):
            code = SASS if "twin" in row["cuda_source"] else SASS.replace("FMUL", row["path"][0])
            facts = {"kernels": ["k"], "verified": "compiled", "origin": "synthetic"}
            rows.append({**row, **facts, "cuda_device": code, "hip_source": "", "hip_device": ""})
        yield commit_block(work, block.key, rows).counts


def test_programs_of_the_same_machine_code(tmp_path: Path) -> None:
    names = ["twin_a", "b", "twin_c", "d", "twin_e"]
    for number, name in enumerate(names):
        write_files(tmp_path / "in", {f"{number}{name}.cu": program(name, constant=3 + number)})
    settings = BuildSettings(sources=[f"local:{tmp_path / 'in'}"], out=tmp_path / "out")
    tally, selected = built(settings, compile_blocks=with_machine_code)
    assert (tally.pairs, tally.duplicates) == (3, {"structural_duplicate": 2})
    kept = {row["path"]: row["id"] for row in read_rows(settings.out)}
    assert list(kept) == ["0twin_a.cu", "1b.cu", "3d.cu"]
    gone = list(read_rows(settings.out, "rejects"))
    assert [row["path"] for row in gone] == ["2twin_c.cu", "4twin_e.cu"]
    assert {row["duplicate_of"] for row in gone} == {kept["0twin_a.cu"]}
    clusters = pq.read_table(settings.out / "clusters.parquet").to_pylist()
    assert [line["level"] for line in clusters] == ["opcodes", "opcodes"]
    chosen = pq.read_table(settings.out / "selection.parquet").column("id").to_pylist()
    assert chosen == list(kept.values())
    assert selected["train"] + selected["validation"] == 3


def test_sources_alone_are_pairs_that_nothing_was_compiled_of(tmp_path: Path) -> None:
    folder = tmp_path / "repository"
    write_files(
        folder,
        {
            "LICENSE": "",
            "a.cu": "#include <cuda_runtime.h>\n" + program("alpha"),
            "b.cuh": "#include <cuda_runtime.h>\n" + program("beta"),
            "c.cu": program("gamma")
            + '__device__ void f() { asm("wgmma.fence.sync.aligned;"); }\n',
        },
    )
    git = ["git", "-C", str(folder), "-c", "user.name=a", "-c", "user.email=a@b.c"]
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "all"]):
        subprocess.run([*git, *command], check=True)
    settings = BuildSettings(
        sources=[f"repository:{folder}"], out=tmp_path / "out", compile=False, cache=False
    )
    built(settings)
    (reject,) = read_rows(settings.out, "rejects")
    assert (reject["path"], reject["reason"]) == ("c.cu", "untranslatable")
    pairs = list(read_rows(settings.out))
    assert [row["path"] for row in pairs] == ["a.cu", "b.cuh"]
    for row in pairs:
        assert row["verified"] == "none"
        assert "hip/hip_runtime.h" in row["hip_source"]


def test_sources_alone_cannot_be_run() -> None:
    with pytest.raises(ValueError, match="need `compile`"):
        BuildSettings(sources=["shipped"], out=Path("x"), compile=False, execute=True)
    with pytest.raises(ValueError, match="too slow"):
        BuildSettings(sources=["shipped"], out=Path("x"), compile=False, translator="chat:x")


@pytest.fixture(scope="module")
def bucket() -> Iterator[str]:
    """A URL on a local S3 server that clients of this process find."""
    with s3_server() as options, pytest.MonkeyPatch.context() as patch:
        for name, value in environment(options).items():
            patch.setenv(name, value)
        yield f"s3://{BUCKET}"


@pytest.mark.parametrize("after", [7, 50])
def test_a_build_into_storage_is_the_same_to_the_byte(
    bucket: str, corpus: Path, tmp_path: Path, after: int
) -> None:
    built(sources_alone(corpus, tmp_path / "folder"))
    stored = sources_alone(corpus, tmp_path).model_copy(update={"out": f"{bucket}/{after}"})
    try:
        built(stored, Stops(after))
    except Killed:
        built(stored)
    store = Store(f"{bucket}/{after}")
    for name, digest in content(tmp_path / "folder").items():
        assert hashlib.sha256(store.read(name)).hexdigest() == digest
    expected = [row["id"] for row in read_rows(tmp_path / "folder")]
    assert [row["id"] for row in read_rows(f"{bucket}/{after}")] == expected
