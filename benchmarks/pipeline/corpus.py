"""Programs to measure on: what a pipeline would compile, variants of a corpus, tiny programs."""

from __future__ import annotations

import shutil
from pathlib import Path

from rich.console import Console

from benchmarks.pipeline.paper_way import PaperProgram
from cass_ray.corpus.reading.trees import unpack
from cass_ray.corpus.sources.shipped import SHIPPED_ROOT
from cass_ray.pipeline.pieces.blocks import BlockReader, OpenBlocks
from cass_ray.pipeline.pieces.runner import InlineRunner
from cass_ray.pipeline.pieces.steps import ROWS_PER_BLOCK, Steps
from cass_ray.pipeline.pieces.work import BuildWork
from cass_ray.pipeline.progress import Progress
from cass_ray.pipeline.settings import BuildSettings
from cass_ray.storage.store import Store

SHIPPED_PROGRAMS = SHIPPED_ROOT / "programs"


def sources_of(corpus: str) -> list[str]:
    """The source specifications of ``shipped``, of a path, or of a specification itself.

    ``shipped`` leaves out the inputs that are there to be rejected: one of them costs the time
    limit of a compiler, on either side, and would hide the difference.
    """
    if corpus == "shipped":
        repositories = sorted((SHIPPED_ROOT / "repositories").iterdir())
        return [f"local:{SHIPPED_PROGRAMS}", *(f"local:{path}" for path in repositories)]
    return [f"local:{Path(corpus).resolve()}" if Path(corpus).exists() else corpus]


def staged_programs(settings: BuildSettings, work: Path) -> list[PaperProgram]:
    """The programs that get as far as the compilers, unpacked under ``work``.

    The same reading, filters and duplicate removal as in the pipeline: its own ingestion.
    """
    build = BuildWork(Store(work), settings)
    steps = Steps(build, InlineRunner(), Progress(Console(quiet=True)), 1, from_cache=False)
    pieces, reader = steps.read(work / "fetched"), BlockReader(build)
    programs = []
    staged = (
        row
        for piece, block in OpenBlocks(build, pieces, ROWS_PER_BLOCK)
        for row in reader.rows(block, piece.read)
    )
    for row in staged:
        root = work / "unpacked" / (row["tree"] or row["id"])
        if row["tree"] and not root.exists():
            unpack(build.trees.get(row["tree"]), root, row["tree"])
        main = root / row["path"]
        main.parent.mkdir(parents=True, exist_ok=True)
        main.write_text(row["cuda_source"], newline="")
        directories = list(row["include_directories"] or [])
        programs.append(
            PaperProgram(id=row["id"], root=root, main=row["path"], include_directories=directories)
        )
    return programs


def write_variants(corpus: Path, target: Path, copies: int) -> int:
    """``copies`` of ``corpus`` that differ in one unused variable; returns the number of programs.

    Comments would not do: a program's id does not depend on them.
    """
    written = 0
    for number in range(copies):
        folder = target / f"variant_{number:03}"
        shutil.copytree(corpus, folder)
        for path in sorted(folder.rglob("*.cu")):
            with path.open("a") as source:
                source.write(f"\nstatic const int variant_number = {number};\n")
            written += 1
    return written


_TINY = """\
#include <cstdio>

__global__ void scale_{number}(float *values, int count) {{
    int index = blockIdx.x * blockDim.x + threadIdx.x;
    if (index < count) {{
        values[index] = values[index] * {number}.0f + {offset}.0f;
    }}
}}

int main() {{
    float *values = nullptr;
    cudaMalloc(&values, {count} * sizeof(float));
    scale_{number}<<<({count} + 127) / 128, 128>>>(values, {count});
    std::printf("%d\\n", static_cast<int>(cudaDeviceSynchronize()));
    cudaFree(values);
    return 0;
}}
"""


def write_tiny_programs(target: Path, count: int) -> None:
    """``count`` different programs with one small kernel each, a thousand to a folder."""
    for number in range(count):
        folder = target / f"{number // 1000:03}"
        folder.mkdir(parents=True, exist_ok=True)
        text = _TINY.format(number=number, offset=number % 97, count=256 + number)
        (folder / f"scale_{number:05}.cu").write_text(text)
