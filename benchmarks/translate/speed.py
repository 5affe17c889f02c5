"""How fast the ``rules`` engine is, and whether its time grows with the length of a file.

``python -m benchmarks.translate.speed [--json OUT.json] [--markdown OUT.md] [FOLDER ...]`` takes
the CUDA files of the benchmark's tasks, the shipped programs and FOLDERs. It reports CPU seconds
of one process, the least of ``--repeats`` passes, over all files one by one, and over single files
that are 1, 2, 4 and 8 times all of them joined.
"""

from __future__ import annotations

import argparse
import json
import platform
import time
from collections.abc import Callable
from pathlib import Path

from cass_ray.translate.rules import RulesTranslator

ROOT = Path(__file__).parents[2] / "cass_ray"
FOLDERS = (ROOT / "bench/tasks", ROOT / "corpus/shipped/programs")
SUFFIXES = {".cu", ".cuh"}


def seconds(work: Callable[[], object], repeats: int) -> float:
    """CPU seconds of the fastest of ``repeats`` calls."""
    taken = []
    for _ in range(repeats):
        began = time.process_time()
        work()
        taken.append(time.process_time() - began)
    return min(taken)


def main() -> None:
    """Measure, print, and write what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="*", type=Path)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--markdown", type=Path)
    arguments = parser.parse_args()
    folders = [*FOLDERS, *arguments.folder]
    paths = [path for folder in folders for path in sorted(folder.rglob("*"))]
    texts = [path.read_text("utf-8", "replace") for path in paths if path.suffix in SUFFIXES]
    engine = RulesTranslator()

    def each() -> None:
        for text in texts:
            engine.translate(text, filename="program.cu")

    each()
    megabytes = sum(len(text.encode()) for text in texts) / 1e6
    rows = [(f"{len(texts)} files", megabytes, seconds(each, arguments.repeats))]
    joined = "".join(texts)
    for factor in (1, 2, 4, 8):
        text = joined * factor
        taken = seconds(lambda text=text: engine.translate(text, filename="a.cu"), 2)  # type: ignore[misc]
        rows.append((f"one file, {factor}x", megabytes * factor, taken))
    lines = ["| input | MB | CPU s | MB/s |", "|---|---|---|---|"]
    lines += [f"| {name} | {size:.2f} | {t:.3f} | {size / t:.2f} |" for name, size, t in rows]
    table = "\n".join(lines) + "\n"
    print(table)
    if arguments.json:
        document = {
            "python": platform.python_version(),
            "rows": [{"input": name, "megabytes": mb, "seconds": t} for name, mb, t in rows],
        }
        arguments.json.write_text(json.dumps(document, indent=1) + "\n")
    if arguments.markdown:
        text = "# Speed of the `rules` engine\n\n" + table
        text += "\nCPU seconds of one process (`python -m benchmarks.translate.speed`), the least\n"
        text += "of the passes.\n"
        arguments.markdown.write_text(text)


if __name__ == "__main__":
    main()
