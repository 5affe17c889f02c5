"""Results as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from benchmarks.measure.tools import UNATTRIBUTED
from benchmarks.pipeline.figures import Comparison, MemoryUse, RayOverhead, Results, Setting

_HOW = """\
CPU seconds are user and system time of the command and of every process it starts, Ray's daemons
included, counted by a control group. "{unattributed}" is what the group counted beyond the exit
records of the processes. How: `benchmarks/measure/accounting.py`, `cgroup.py`, `taskstats.py`.
"""


def page(results: Results) -> str:
    parts = ["# Building the data set: what it costs", _HOW.format(unattributed=UNATTRIBUTED)]
    if results.note:
        parts.append(results.note)
    if results.comparisons:
        parts += [_summary(results.comparisons), *map(_comparison, results.comparisons)]
    if results.ray_overhead is not None:
        parts.append(_ray_overhead(results.ray_overhead))
    if results.memory is not None:
        parts.append(_memory(results.memory))
    return "\n\n".join(part.strip() for part in parts) + "\n"


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table; every column but the first is aligned right."""
    lines = [header, ["---", *("---:" for _ in header[1:])], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _summary(comparisons: Sequence[Comparison]) -> str:
    header = ["CPU s per kept pair", "pairs (paper / ours)", "paper's way", "ours", "ours again"]
    rows = [
        [
            f"{c.corpus}, {' + '.join(c.architectures)}",
            f"{c.paper.pairs} / {c.cold.pairs}",
            f"{c.paper.cpu_seconds_per_pair:.2f}",
            f"{c.cold.cpu_seconds_per_pair:.2f} (**{c.gain:.2f}×**)",
            f"{c.warm.cpu_seconds_per_pair:.3f} (**{c.gain_again:.0f}×**)",
        ]
        for c in comparisons
    ]
    return table(header, rows)


def _comparison(comparison: Comparison) -> str:
    builds = (comparison.paper, comparison.cold, comparison.warm)
    names = {tool: None for build in builds for tool in build.tools}
    rows = [
        [tool, *(f"{build.tools.get(tool, 0.0):.2f}" for build in builds)]
        for tool in sorted(names, key=lambda tool: -max(b.tools.get(tool, 0.0) for b in builds))
    ]
    rows.append(["**all**", *(f"**{build.cpu_seconds:.2f}**" for build in builds)])
    rows.append(["wall-clock seconds", *(f"{build.wall_seconds:.1f}" for build in builds)])
    title = f"## {comparison.corpus}, {' + '.join(comparison.architectures)}"
    notes = [
        f"{comparison.cold.rows} files in the corpus, {comparison.paper.rows} programs after "
        f"filters and duplicate removal. The paper's way: {comparison.paper.note}. ",
        _difference(comparison),
    ]
    if comparison.variants > 1:
        notes.append(
            f" The paper's way, of which nothing is shared by pairs, built one variant of each "
            f"program, ours {comparison.variants}."
        )
    if comparison.cold.tools:
        seconds, gain = comparison.cold.compiler_seconds, comparison.most_gain
        notes.append(
            f" Compilers, disassembler and their sandboxes take {seconds:.1f} CPU s of ours: were "
            f"all else free, a pair would cost {gain:.2f} times less than the paper's way."
        )
    return "\n\n".join(
        [
            title,
            _setting(comparison.setting),
            table(["CPU seconds", "paper's way", "ours, empty cache", "ours again"], rows),
            "".join(notes).strip(),
        ]
    )


def _difference(comparison: Comparison) -> str:
    if not comparison.only_paper and not comparison.only_ours:
        return "Both keep the same programs."
    parts = []
    if comparison.only_paper:
        parts.append(f"Only the paper's way keeps: {', '.join(comparison.only_paper)}.")
    if comparison.only_ours:
        listing = ", ".join(f"{name} ({step})" for name, step in comparison.only_ours.items())
        parts.append(f"Only ours keeps (what failed the paper's way): {listing}.")
    return " ".join(parts)


def _ray_overhead(overhead: RayOverhead) -> str:
    build = overhead.build
    rows = [[tool, f"{s:.2f}", f"{s / build.cpu_seconds:.1%}"] for tool, s in build.tools.items()]
    rows.append(["**all**", f"**{build.cpu_seconds:.2f}**", ""])
    text = (
        f"{build.rows} rows, {build.pairs} pairs in {build.wall_seconds:.0f} s. Everything that "
        f"is no compiler costs {overhead.python_seconds:.1f} CPU s; the library's own work on the "
        f"same rows costs {overhead.library_seconds:.1f} CPU s in a plain loop; the rest, "
        f"{overhead.ray_seconds:.1f} CPU s or **{overhead.ray_share:.1%}** of the total, is "
        f"Ray's. Between the first start and the last end of an actor's compiler "
        f"({overhead.window_seconds:.0f} s) the {overhead.slots} compile slots were "
        f"**{overhead.busy_share:.1%}** busy, with {overhead.mean_running:.2f} compiler commands "
        "running on average."
    )
    parts = ["## Ray's own cost", _setting(overhead.setting), text]
    return "\n\n".join([*parts, table(["", "CPU seconds", "share"], rows)])


def _memory(memory: MemoryUse) -> str:
    rows = [
        ["peak of driver and object store together", f"{memory.peak_mib:.0f} MiB"],
        ["peak of the driver", f"{memory.peak_driver_mib:.0f} MiB"],
        ["peak of the object store", f"{memory.peak_object_store_mib:.0f} MiB"],
        ["growth after the start", f"{memory.growth_bytes_per_row / 1024:.2f} KiB a row"],
        [f"at {memory.projected_rows:,} rows", f"{memory.projected_mib:.0f} MiB"],
    ]
    return "\n\n".join(
        [
            "## Memory",
            _setting(memory.setting),
            table([f"{memory.rows:,} rows, {memory.pairs:,} pairs", ""], rows),
        ]
    )


def _setting(setting: Setting) -> str:
    machine = setting.machine
    versions = ", ".join(f"{name} {text}" for name, text in machine.versions.items())
    return (
        f"`{setting.command}` on {machine.cores} cores ({machine.processor}), "
        f"{machine.memory_gib:.0f} GiB, {machine.system}; {versions}."
    )
