"""Builds on local clusters that lose workers, nodes, links, storage, their head and the driver.

    python -m benchmarks.pipeline.faults --schedule 'node_*' --schedule driver_late

Each schedule is a build of the same small corpus, with compilers that do run, on a cluster of its
own; what happens to it happens when so many blocks are committed. Its data set has to be, to the
byte, the one of an undisturbed build. Each result is written when it is there, and a schedule that
has one is not run again. Takes root for network links, small disks and nodes without compilers.
Results: ``benchmarks/results/faults.md``.
"""

from __future__ import annotations

import fnmatch
import json
import shutil
import subprocess
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from benchmarks.folders import RESULTS
from benchmarks.measure.machine import this_machine
from benchmarks.pipeline.faults.build import Clusters, Schedule, Unexpected, run, variables
from benchmarks.pipeline.faults.schedules import SCHEDULES
from benchmarks.pipeline.figures import Setting
from benchmarks.pipeline.tables import table
from cass_ray.corpus.generate.program import generate
from cluster.errors import ClusterError

PROGRAMS = 10
_OF = 80
COMMAND = "python -m benchmarks.pipeline.faults"


def main(
    schedule: Annotated[list[str] | None, typer.Option(help="Names, * is a wildcard.")] = None,
    seed: Annotated[int, typer.Option(help="Of what is chosen by chance.")] = 1,
    again: Annotated[bool, typer.Option("--again", help="Also those that have a result.")] = False,
    results: Annotated[Path, typer.Option(help="JSON; Markdown goes beside it.")] = RESULTS
    / "faults.json",
    work: Annotated[Path | None, typer.Option(help="Logs of builds that went wrong.")] = None,
) -> None:
    """Run schedules, and write what came of each."""
    figures = _figures(results)
    wanted = [
        name
        for name in SCHEDULES
        if any(fnmatch.fnmatch(name, pattern) for pattern in schedule or ["*"])
        and (again or name not in figures["runs"])
    ]
    # Those that may have the cluster of the one before follow it.
    wanted.sort(key=lambda name: SCHEDULES[name].nodes)
    folder = work or Path(tempfile.mkdtemp(prefix="cass-faults-"))
    corpus = _corpus(folder)
    clusters = Clusters()
    # `cass cluster` of the machine stays as it is.
    with variables({"CASS_CACHE": str(folder / "cache")}):
        try:
            quiet = _quiet(corpus, folder, seed, clusters)
            for name in wanted:
                try:
                    line = _line(name, corpus, _fresh(folder, name), seed, quiet, clusters)
                except ClusterError as error:
                    typer.echo(f"{name}: no result, the cluster did not start: {error}", err=True)
                    continue
                typer.echo(json.dumps(line))
                figures["runs"][name] = line
                _write(results, figures)
        finally:
            clusters.end()
    raise typer.Exit(any(line["data set"] != "equal" for line in figures["runs"].values()))


def _quiet(corpus: Path, folder: Path, seed: int, clusters: Clusters) -> Mapping[str, str]:
    """The data set that nothing happened to; that of an earlier run with this ``folder``."""
    kept = folder / "quiet.json"
    if not kept.exists():
        outcome = run(Schedule("nothing"), corpus, _fresh(folder, "quiet"), seed, clusters)
        kept.write_text(json.dumps(dict(outcome.content)))
    found: dict[str, str] = json.loads(kept.read_text())
    return found


def _fresh(folder: Path, name: str) -> Path:
    return folder / f"{name}-{time.monotonic_ns()}"


def _figures(results: Path) -> dict[str, Any]:
    if results.exists():
        found: dict[str, Any] = json.loads(results.read_text())
        return found
    setting = Setting(command=COMMAND, machine=this_machine())
    return {"setting": setting.model_dump(mode="json"), "programs": PROGRAMS, "runs": {}}


def _corpus(folder: Path) -> Path:
    corpus = folder / "corpus"
    shutil.rmtree(corpus, ignore_errors=True)
    corpus.mkdir(parents=True)
    # The shortest of many: what is compiled matters less here than how often something happens.
    shortest = sorted(generate(_OF, 3), key=lambda program: len(program.source))[:PROGRAMS]
    for number, program in enumerate(shortest):
        (corpus / f"p{number:02}.cu").write_text(program.source)
    return corpus


def _line(
    name: str,
    corpus: Path,
    folder: Path,
    seed: int,
    quiet: Mapping[str, str],
    clusters: Clusters,
) -> dict[str, Any]:
    schedule, began = SCHEDULES[name], time.monotonic()
    line: dict[str, Any] = {"what": schedule.what, "drivers": 0, "storage": {}}
    try:
        outcome = run(schedule, corpus, folder, seed, clusters)
        line["data set"] = "equal" if outcome.content == quiet else "differs"
        line |= {"drivers": outcome.drivers, "storage": dict(outcome.storage)}
    except (Unexpected, subprocess.SubprocessError, OSError) as error:
        line["data set"] = f"none: {error}"
    line["seconds"] = round(time.monotonic() - began)
    if line["data set"] == "equal":
        shutil.rmtree(folder)
    return line


def _write(results: Path, figures: Mapping[str, Any]) -> None:
    aside = results.with_suffix(".part")
    aside.write_text(json.dumps(figures, indent=1) + "\n")
    aside.replace(results)
    results.with_suffix(".md").write_text(page(figures))


def page(figures: Mapping[str, Any]) -> str:
    """The results in Markdown."""
    runs = figures["runs"]
    rows = [
        [
            name,
            line["what"] + _requests(line["storage"]),
            str(line["drivers"]),
            line["data set"].splitlines()[0],
            str(line["seconds"]),
        ]
        for name in SCHEDULES
        if (line := runs.get(name)) is not None
    ]
    equal = sum(line["data set"] == "equal" for line in runs.values())
    machine = figures["setting"]["machine"]
    left = ", ".join(name for name in SCHEDULES if name not in runs)
    return (
        f"""# Builds that are disturbed

`{figures["setting"]["command"]}` · {machine["cores"]} cores, shared with other work

{figures["programs"]} generated programs, compiled for both sides with nothing cached, a row a block
where nothing else is said, on local clusters of real raylets, two slots a node. What is chosen by
chance has a seed. {equal} of {len(rows)} data sets are, to the byte, the one of an undisturbed
build. Seconds include starting a cluster, where that of the schedule before could not be used.
Nodes that are lost every half minute while 1,000 programs are built: node_losses.md.

{table(["schedule", "what happens", "drivers", "data set", "seconds"], rows)}

{f"Written and not run yet: {left}." if left else ""}
""".rstrip()
        + "\n"
    )


def _requests(counts: Mapping[str, int]) -> str:
    went = ", ".join(f"{count} {name}" for name, count in counts.items() if count)
    return f" ({went})" if went else ""


if __name__ == "__main__":
    typer.run(main)
