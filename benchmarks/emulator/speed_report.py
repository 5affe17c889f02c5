"""Writes ``emulator_speed.md`` from the figures of ``speed.py`` and of ``emulators.py``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

SPEED = "emulator_speed.json"
SPEED_CPU = "emulator_speed_cpu.json"
EMULATORS = "emulator_peers.json"

TARGETS = {
    "geometric mean of ratios": "≤ 2",
    "worst ratio": "≤ 10",
    "start, milliseconds": "≤ 20",
    "decoding, million instructions per second": "≥ 1",
}
EMULATOR_TARGET = 300
OURS = "this backend"


def write(results: Path) -> str:
    """Render what has been measured so far; the text, which is also in ``emulator_speed.md``."""
    lines = ["# The CPU backend's speed", ""]
    if (results / SPEED).exists():
        command = "python -m benchmarks.emulator.speed --arch gfx1100 --arch gfx942"
        lines += [f"Written by `{command}`: the clock on the wall."]
        lines += _loops(json.loads((results / SPEED).read_text()))
    if (results / SPEED_CPU).exists():
        lines += ["## CPU seconds", ""]
        lines += [
            "Written by `… --cpu`: CPU seconds of all threads and of",
            "the device's process, for a machine that does other work too. Waiting does not count.",
        ]
        lines += _loops(json.loads((results / SPEED_CPU).read_text()))
    if (results / EMULATORS).exists():
        lines += _emulators(json.loads((results / EMULATORS).read_text()))
    text = "\n".join(lines)
    (results / "emulator_speed.md").write_text(text)
    return text


def _loops(report: dict[str, Any]) -> list[str]:
    lines = [
        f"Threads: {report['threads']} on both sides; {report['machine']}{report.get('note', '')}.",
        "",
    ]
    tables = report["cases"]
    heads = "".join(f" {name}, ms |" for name in tables)
    heads += " C++ -O2 loop, ms |" + "".join(f" {name}, ratio |" for name in tables)
    lines += [f"| case |{heads}", "|---|" + "---:|" * (2 * len(tables) + 1)]
    for case in next(iter(tables.values())):
        rows = [table[case] for table in tables.values()]
        cells = [f"{1000 * row['backend_seconds']:.2f}" for row in rows]
        cells += [f"{1000 * rows[0]['loop_seconds']:.2f}"]
        cells += [f"{row['ratio']:.2f}" for row in rows]
        lines.append(f"| {case} | {' | '.join(cells)} |")
    lines += ["", "| figure | architecture | measured | target |", "|---|---|---:|---:|"]
    for architecture, figures in report["figures"].items():
        for name, value in figures.items():
            target = next(each for start, each in TARGETS.items() if name.startswith(start))
            lines.append(f"| {name} | {architecture} | {value:.2f} | {target} |")
    return [*lines, ""]


def _emulators(report: dict[str, Any]) -> list[str]:
    lines = ["## Beside tinygrad's emulators", ""]
    lines += [
        "Written by `python -m benchmarks.emulator.emulators`: the same code objects, arguments"
    ]
    lines += [f"and sizes, CPU seconds of one thread; {report['machine']}. tinygrad"]
    lines += [
        f"{report['tinygrad']}; `emu.py` compiles each instruction at its first use, which is"
    ]
    lines += [f"not counted. Wanted: {EMULATOR_TARGET} times as fast.", ""]
    lines += ["| case | run by | ms | times as long |", "|---|---|---|---|"]
    for name, row in report["cases"].items():
        for emulator, seconds in row.items():
            ratio = seconds / row[OURS]
            lines.append(f"| {name} | {emulator} | {1000 * seconds:.3f} | {ratio:.1f} |")
    lines += [f"\nNot run: {name}: {message}" for name, message in report["failures"].items()]
    return [*lines, ""]
