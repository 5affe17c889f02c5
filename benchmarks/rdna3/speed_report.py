"""Writes ``rdna3_speed.md`` from the figures of ``speed.py`` and of ``emulators.py``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parents[1] / "results"
SPEED = "rdna3_speed.json"
EMULATORS = "rdna3_emulators.json"

TARGETS = {
    "geometric mean of ratios": "≤ 2",
    "worst ratio": "≤ 10",
    "start, milliseconds": "≤ 20",
    "decoding, million instructions per second": "≥ 1",
}
EMULATOR_TARGET = 300


def write(results: Path) -> str:
    """Render what has been measured so far; the text, which is also in ``rdna3_speed.md``."""
    lines = ["# The CPU backend's speed", ""]
    if (results / SPEED).exists():
        lines += _loops(json.loads((results / SPEED).read_text()))
    if (results / EMULATORS).exists():
        lines += _emulators(json.loads((results / EMULATORS).read_text()))
    text = "\n".join(lines)
    (results / "rdna3_speed.md").write_text(text)
    return text


def _loops(report: dict[str, Any]) -> list[str]:
    lines = ["Written by `python -m benchmarks.rdna3.speed`."]
    lines += [f"Threads: {report['threads']} on both sides; {report['machine']}.", ""]
    lines += ["| case | backend, ms | C++ -O2 loop, ms | ratio |", "|---|---|---|---|"]
    for name, row in report["cases"].items():
        ours, plain = 1000 * row["backend_seconds"], 1000 * row["loop_seconds"]
        lines.append(f"| {name} | {ours:.2f} | {plain:.2f} | {row['ratio']:.2f} |")
    lines += ["", "| figure | measured | target |", "|---|---|---|"]
    for name, value in report["figures"].items():
        target = next(each for start, each in TARGETS.items() if name.startswith(start))
        lines.append(f"| {name} | {value:.2f} | {target} |")
    return [*lines, ""]


def _emulators(report: dict[str, Any]) -> list[str]:
    lines = ["## Beside tinygrad's emulators", ""]
    lines += ["Written by `python -m benchmarks.rdna3.emulators`: the same code objects, arguments"]
    lines += [f"and sizes; {report['machine']}. tinygrad {report['tinygrad']}. Its emulators use"]
    lines += ["one thread; `emu.py` compiles each instruction at its first use, which is not"]
    lines += [f"counted. Wanted: {EMULATOR_TARGET} times as fast.", ""]
    lines += ["| case | run by | ms | times slower than 1 thread | than 2 threads |"]
    lines += ["|---|---|---|---|---|"]
    for name, row in report["cases"].items():
        for emulator, seconds in row.items():
            ratios = [seconds / row[f"this backend, {threads}"] for threads in _THREADS]
            cells = [f"{ratio:.1f}" for ratio in ratios]
            lines.append(
                f"| {name} | {emulator} | {1000 * seconds:.3f} | {cells[0]} | {cells[1]} |"
            )
    return [*lines, ""]


_THREADS = ("1 thread", "2 threads")
