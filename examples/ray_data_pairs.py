"""A data set of aligned pairs in five lines of Ray Data: translate, compile twice, write Parquet.

``cass build-dataset`` does the same with filters, deduplication, limits, a journal and a record of
every reject. This shows what is at the heart of it, and how the library fits other pipelines.
"""

import sys
import tempfile
from pathlib import Path
from typing import Any

import ray

import cass_ray as cass
from actors.session import start_local
from cass_ray.corpus.sources.shipped import SHIPPED_ROOT
from cass_ray.toolchain.unit import CompileFailure

Row = dict[str, Any]
PROGRAMS = SHIPPED_ROOT / "programs" / "simulation"


def translated(row: Row) -> Row:
    """Adds ``hip_source`` to a row that Ray Data has read from a file."""
    source = row["bytes"].decode()
    return {"cuda_source": source, "hip_source": cass.translate(source).source}


def compiled(row: Row) -> list[Row]:
    """Adds the device code of both sides; no row where one side does not compile."""
    with tempfile.TemporaryDirectory() as folder:
        cuda_file, hip_file = Path(folder) / "program.cu", Path(folder) / "program.hip"
        cuda_file.write_text(row["cuda_source"])
        hip_file.write_text(row["hip_source"])
        try:
            cuda, hip = cass.compile(cuda_file), cass.compile(hip_file)
        except CompileFailure:
            return []
    return [{**row, "cuda_device": cuda.device, "hip_device": hip.device}]


def main(out: str) -> None:
    start_local()  # or ray.init(), which joins the cluster of RAY_ADDRESS
    programs = ray.data.read_binary_files(str(PROGRAMS), file_extensions=["cu"])
    pairs = programs.map(translated).flat_map(compiled)
    pairs.write_parquet(out)
    kept = ray.data.read_parquet(out)
    print(f"{kept.count()} pairs in {out}: {', '.join(kept.columns())}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "out/examples/pairs")
