"""Programs to measure on: what a pipeline would compile, variants of a corpus, tiny programs."""

from __future__ import annotations

import shutil
from pathlib import Path

import pyarrow.dataset as pads

from benchmarks.pipeline.paper_way import PaperProgram
from cass_ray.corpus.reading.trees import DirectoryTreeStore, unpack
from cass_ray.corpus.screening.screening import Screening
from cass_ray.corpus.sources.shipped import SHIPPED_ROOT
from cass_ray.dataset.schema import REJECT_SCHEMA
from cass_ray.pipeline.ingest import Ingestion, read_sources
from cass_ray.pipeline.journal import Journal
from cass_ray.pipeline.settings import BuildSettings

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
    store = DirectoryTreeStore(str(work / "trees"))
    journal = Journal(work / "journal", REJECT_SCHEMA)
    ingestion = Ingestion(Screening(settings), work, journal, lambda row: row, lambda row: None)
    staged = ingestion.run(read_sources(settings, work, store)).staged
    programs = []
    for row in pads.dataset(staged).to_table().to_pylist():
        root = work / "unpacked" / (row["tree"] or row["id"])
        if row["tree"] and not root.exists():
            unpack(store.get(row["tree"]), root, row["tree"])
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
