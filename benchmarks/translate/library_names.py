"""How many names of each CUDA library's headers the rules map, and how many of those are tested.

``python -m benchmarks.translate.library_names > benchmarks/results/library_names.md`` reads the
tables of the rules, which hold every public name of CUDA 13's headers (``sources.csv``), and looks
for each mapped name as a word in the tests' programs. A name that no test uses is mapped by a
rename that was seen to exist in HIP's headers, and no more is known of it.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from cass_ray.translate.rules import tables

ROOT = Path(__file__).parents[2]
TITLES = {
    "runtime": "CUDA runtime",
    "driver": "driver API",
    "rtc": "NVRTC",
    "blas": "cuBLAS",
    "blaslt": "cuBLASLt",
    "fft": "cuFFT",
    "rand": "cuRAND",
    "solver": "cuSOLVER",
    "sparse": "cuSPARSE",
    "tx": "NVTX",
}
HEAD = """\
# Names of CUDA's libraries

By `python -m benchmarks.translate.library_names`. Mapped: HIP has it under the name of the tables.
Tested: some test or shipped program uses the name, and is translated and compiled or run. Reported:
HIP has no such name; using it is an error of the translation (CASS1000, CASS1012). What is mapped
and not tested is a renaming whose target exists in HIP's headers.

| library | names | mapped | tested | functions mapped | tested | reported |
|---|---|---|---|---|---|---|"""
_WORD = re.compile(r"[A-Za-z_]\w*")
_PROGRAMS = {".py", ".cu", ".cuh", ".cpp", ".h", ".hpp"}


def rows(name: str) -> Iterator[dict[str, str]]:
    with (tables.FOLDER / name).open(newline="", encoding="utf-8") as handle:
        yield from csv.DictReader(handle)


def words_of_tests() -> set[str]:
    """Every word of the tests, of the shipped programs and of CASS-Bench's CUDA sides."""
    folders = (ROOT / "tests", ROOT / "cass_ray/corpus/shipped", ROOT / "cass_ray/bench/tasks")
    return {
        word
        for folder in folders
        for path in folder.rglob("*")
        if path.suffix in _PROGRAMS and path.is_file()
        for word in _WORD.findall(path.read_text("utf-8", "replace"))
    }


def main() -> None:
    used = words_of_tests()
    mapped: Counter[str] = Counter()
    tested: Counter[str] = Counter()
    calls: Counter[str] = Counter()
    tested_calls: Counter[str] = Counter()
    for row in rows("names.csv"):
        library, is_call = row["library"], row["kind"] == "function"
        is_used = row["cuda"] in used
        mapped[library] += 1
        tested[library] += is_used
        calls[library] += is_call
        tested_calls[library] += is_call and is_used
    unsupported = Counter(row["library"] for row in rows("unsupported.csv"))
    print(HEAD)
    for library, title in TITLES.items():
        total = mapped[library] + unsupported[library]
        print(
            f"| {title} | {total:,} | {mapped[library]:,} | {tested[library]:,}"
            f" | {calls[library]:,} | {tested_calls[library]:,} | {unsupported[library]:,} |"
        )


if __name__ == "__main__":
    main()
