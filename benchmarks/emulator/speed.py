"""The CPU backend against plain C++ loops, its start cost and its decoding speed.

``python -m benchmarks.emulator.speed [--rounds N] [--cpu] [--arch gfx1100 --arch gfx942]`` builds
the loops and the kernels for each architecture, runs them in turn (so that what else the machine
does meets all) with two threads each, and writes ``benchmarks/results/emulator_speed.{md,json}``
(with ``--cpu``: ``emulator_speed_cpu.json``, without the start and decoding). A case's time is the
best of seven runs in a process; the table shows the median over the rounds of it, and the median of
the rounds' ratios.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path, PurePosixPath

from benchmarks.emulator.speed_report import SPEED, SPEED_CPU, write
from benchmarks.folders import RESULTS
from cass_ray.corpus.reading.source_files import gather
from cass_ray.emulator.build import runtime_library
from cass_ray.emulator.execution import DEVICES_VARIABLE, build
from cass_ray.toolchain.amd.toolchain import AmdToolchain
from cass_ray.toolchain.locate import find_amd
from cass_ray.toolchain.unit import Unit

PROGRAMS = Path(__file__).parent / "speed_programs"
THREADS = 2
STARTED = "gfx1100"
"""The architecture whose start and decoding are measured."""
LENGTHS = (10_000, 100_000)
"""Instructions of the kernels that are decoded."""

Table = dict[str, dict[str, float]]
"""Seconds of both sides and their ratio by case."""

_TOLERANCE = 1e-3  # approximations and other orders of summation


def run(command: list[str | Path], **variables: str) -> str:
    """Standard output; raises :class:`subprocess.CalledProcessError`."""
    environment = {**os.environ, "CASS_EMULATOR_THREADS": str(THREADS), **variables}
    return subprocess.run(
        command, check=True, capture_output=True, text=True, env=environment
    ).stdout


def program(name: str, toolchain: AmdToolchain, architecture: str, *definitions: str) -> Path:
    """The executable of a HIP program of this folder."""
    unit = Unit(PROGRAMS, PurePosixPath(name), definitions=definitions)
    return build(gather(unit), toolchain, runtime_library(), architecture=architecture)


def cases(text: str) -> dict[str, tuple[float, float]]:
    """Seconds and check value by case."""
    found = {}
    for line in text.splitlines():
        name, seconds, value = line.rsplit(" ", 2)
        found[name] = (float(seconds), float(value))
    return found


def compare(
    kernels: dict[str, Path], loops: Path, rounds: int, clock: dict[str, str]
) -> dict[str, Table]:
    """By architecture and case: median seconds of both sides and the median ratio.

    Raises :class:`ValueError` where the sides disagree on a result.
    """
    taken: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for _ in range(rounds):
        plain = cases(run([loops], **clock))
        for architecture, executable in kernels.items():
            ours = cases(run([executable], **clock, **{DEVICES_VARIABLE: architecture}))
            for name, (seconds, value) in plain.items():
                if not math.isclose(ours[name][1], value, rel_tol=_TOLERANCE):
                    raise ValueError(f"{architecture} {name}: {ours[name][1]} instead of {value}")
                taken.setdefault((architecture, name), []).append((ours[name][0], seconds))
    tables: dict[str, Table] = {architecture: {} for architecture in kernels}
    for (architecture, name), pairs in taken.items():
        tables[architecture][name] = {
            "backend_seconds": statistics.median(a for a, _ in pairs),
            "loop_seconds": statistics.median(b for _, b in pairs),
            "ratio": statistics.median(a / b for a, b in pairs),
        }
    return tables


def ratios(table: Table) -> dict[str, float]:
    """What is wanted of all cases together."""
    all_of_it = [row["ratio"] for row in table.values()]
    mean = statistics.geometric_mean(all_of_it)
    return {"geometric mean of ratios": mean, "worst ratio": max(all_of_it)}


def start_cost(executable: Path, rounds: int) -> float:
    """Milliseconds that a process with one small kernel takes beyond one with none: the median."""

    def once(launches: int) -> float:
        started = time.perf_counter()
        run([executable, "start", str(launches)])
        return 1000 * (time.perf_counter() - started)

    return statistics.median(once(1) - once(0) for _ in range(3 * rounds))


def decoding(toolchain: AmdToolchain, rounds: int) -> dict[int, float]:
    """Million instructions per second by length of the kernel.

    From what the fastest first launch takes beyond the fastest second one.
    """
    found = {}
    for length in LENGTHS:
        executable = program("start.hip", toolchain, STARTED, f"LENGTH={length}")
        lines = [run([executable, "decode"]).split() for _ in range(4 * rounds)]
        seconds = min(float(line[0]) for line in lines) - min(float(line[1]) for line in lines)
        found[length] = length / seconds / 1e6
    return found


def other_figures(toolchain: AmdToolchain, rounds: int) -> dict[str, float]:
    """The start's cost and the speed of decoding."""
    start = program("start.hip", toolchain, STARTED, f"LENGTH={LENGTHS[0]}")
    figures = {"start, milliseconds": start_cost(start, rounds)}
    for length, speed in decoding(toolchain, rounds).items():
        figures[f"decoding, million instructions per second ({length} in a kernel)"] = speed
    return figures


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--cpu", action="store_true", help="CPU seconds: the machine is busy")
    parser.add_argument("--arch", action="append", help="may be repeated")
    parser.add_argument("--results", type=Path, default=RESULTS)
    options = parser.parse_args(arguments)
    toolchain = find_amd()
    with tempfile.TemporaryDirectory() as folder:
        loops = Path(folder, "loops")
        source = PROGRAMS / "loops.cpp"
        flags: list[str | Path] = ["-std=c++20", "-O2", "-pthread", source, "-o", loops]
        subprocess.run([toolchain.clang, *flags], check=True)
        clock = {"SPEED_CLOCK": "cpu"} if options.cpu else {}
        kernels = {
            architecture: program("kernels.hip", toolchain, architecture)
            for architecture in options.arch or [STARTED]
        }
        tables = compare(kernels, loops, options.rounds, clock)
    figures = {architecture: ratios(table) for architecture, table in tables.items()}
    if not options.cpu:
        figures.setdefault(STARTED, {}).update(other_figures(toolchain, options.rounds))
    load = ", ".join(f"{each:.1f}" for each in os.getloadavg())
    machine = f"{os.cpu_count()} CPUs, load average {load}"
    report = {"machine": machine, "threads": THREADS, "figures": figures, "cases": tables}
    (options.results / (SPEED_CPU if options.cpu else SPEED)).write_text(
        json.dumps(report, indent=2) + "\n"
    )
    sys.stdout.write(write(options.results))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
