#!/usr/bin/env python3
"""Builds on a local cluster that loses workers, nodes, its head and the driver.

    python -m benchmarks.pipeline.faults --schedule 'node_killed' --schedule 'driver_killed'

Each schedule is a build of the same small corpus, with compilers that do run, on a cluster of its
own; what happens to it happens when so many blocks are committed. Its data set has to be, to the
byte, the one of an undisturbed build. Results: ``benchmarks/results/faults.md``.
"""

from __future__ import annotations

import fnmatch
import hashlib
import json
import os
import random
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import typer

from benchmarks.folders import REPOSITORY, RESULTS
from benchmarks.measure.machine import this_machine
from benchmarks.pipeline.figures import Setting
from benchmarks.pipeline.tables import table
from cass_ray.corpus.generate.program import generate
from cluster import local

PROGRAMS = 24
_SLOTS = 2
_PATIENCE = 900.0
_PAUSE = 0.5

app = typer.Typer(add_completion=False)


@dataclass
class Run:
    """A build, and the cluster it runs on."""

    folder: Path
    corpus: Path
    nodes: dict[str, int]
    chance: random.Random
    settings: list[str] = field(default_factory=list)
    state: local.ClusterState | None = None
    driver: subprocess.Popen[bytes] | None = None
    drivers: int = 0

    @property
    def out(self) -> Path:
        """The data set."""
        return self.folder / "out"

    def start_cluster(self) -> None:
        """A head and the nodes."""
        self.state = local.start(local.plan_of(self.nodes, _SLOTS))

    @property
    def cluster(self) -> local.ClusterState:
        """The running one."""
        assert self.state is not None
        return self.state

    def start_driver(self, resume: bool = False) -> None:
        """Begin, or go on with the build."""
        command = [sys.executable, str(REPOSITORY / "jobs/build_dataset.py")]
        command += ["--source", f"local:{self.corpus}", "--out", str(self.out)]
        command += ["--set", "rows_per_block=1", "--set", "cache=false", *self.settings]
        command += ["--resume"] if resume else []
        self.drivers += 1
        with (self.folder / f"driver-{self.drivers}.log").open("wb") as log:
            self.driver = subprocess.Popen(
                command,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=local.environment(self.cluster.token) | {"RAY_ADDRESS": self.cluster.address},
                start_new_session=True,
            )

    def end_driver(self) -> None:
        """As a power cut would."""
        assert self.driver is not None
        os.killpg(self.driver.pid, signal.SIGKILL)
        self.driver.wait()

    def committed(self) -> int:
        """Blocks that are finished."""
        return sum(1 for _ in (self.out / ".work").glob("blocks-*/entries/*.json"))

    def wait_for(self, blocks: int) -> None:
        """Until so many are committed, or the driver has ended. Raises ``TimeoutError``."""
        assert self.driver is not None
        deadline = time.monotonic() + _PATIENCE
        while self.committed() < blocks and self.driver.poll() is None:
            if time.monotonic() > deadline:
                raise TimeoutError(f"{self.committed()} blocks after {_PATIENCE:.0f} s")
            time.sleep(_PAUSE)

    def workers(self, title: str) -> list[int]:
        """Processes of the cluster's actors and tasks whose title holds ``title``."""
        found = []
        for path in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                words = path.read_bytes().decode(errors="replace")
                environment = (path.parent / "environ").read_bytes()
            except OSError:
                continue
            own = self.cluster.token.encode() in environment
            if own and words.startswith("ray::") and title in words:
                found.append(int(path.parent.name))
        return found


Action = Callable[[Run], None]


def kill_worker(title: str) -> Action:
    """The process of an actor, a random one of those that there are."""

    def act(run: Run) -> None:
        if processes := run.workers(title):
            os.kill(run.chance.choice(processes), signal.SIGKILL)

    return act


def kill_node(resource: str, replaced: bool) -> Action:
    """A random node that offers ``resource``; another one joins at once, or none."""

    def act(run: Run) -> None:
        names = [node.name for node in run.cluster.nodes if resource in node.resources]
        run.state = local.kill(run.cluster, run.chance.choice(names))
        if replaced:
            plan = local.NodePlan(f"{resource}-{time.monotonic_ns()}", _SLOTS, {resource: _SLOTS})
            run.state = local.add(run.cluster, plan)

    return act


def add_node(resource: str) -> Action:
    """One that the cluster did not have."""

    def act(run: Run) -> None:
        run.state = local.add(
            run.cluster, local.NodePlan(f"late-{resource}", _SLOTS, {resource: _SLOTS})
        )

    return act


def kill_driver(run: Run) -> None:
    """And submit the job again, with ``--resume``."""
    run.end_driver()
    run.start_driver(resume=True)


def restart_head(run: Run) -> None:
    """All of the cluster ends; another one goes on with the work."""
    run.end_driver()
    local.stop(run.cluster)
    run.start_cluster()
    run.start_driver(resume=True)


def freeze_node(resource: str, seconds: float) -> Action:
    """A node that answers nobody for a while: swapped out, or its link cut."""

    def act(run: Run) -> None:
        nodes = [node for node in run.cluster.nodes if resource in node.resources]
        group = run.chance.choice(nodes).process
        os.killpg(group, signal.SIGSTOP)
        time.sleep(seconds)
        os.killpg(group, signal.SIGCONT)

    return act


def damage(run: Run) -> None:
    """Parts that nobody committed, as a worker leaves that dies between parts and entry."""
    for folder in (run.out / ".work").glob("blocks-*/parts"):
        part = next(folder.iterdir(), None)
        if part is not None:
            (folder / f"zombie.{run.chance.random()}.parquet").write_bytes(part.read_bytes()[:100])


@dataclass(frozen=True)
class Schedule:
    """What happens, and after how many of the blocks: a share of them."""

    what: str
    actions: tuple[tuple[float, Action], ...]
    nodes: tuple[tuple[str, int], ...] = (("nvidia", 1), ("amd", 1))
    settings: tuple[str, ...] = ()


TWO = (("nvidia", 2), ("amd", 2))
SCHEDULES = {
    "worker_nvidia": Schedule(
        "a worker of CUDA's compiler killed, twice",
        ((0.1, kill_worker("NvidiaCompiler")), (0.5, kill_worker("NvidiaCompiler"))),
    ),
    "worker_amd": Schedule(
        "a worker of AMD's compiler killed, twice",
        ((0.1, kill_worker("AmdCompiler")), (0.5, kill_worker("AmdCompiler"))),
    ),
    "workers_all": Schedule(
        "a worker of any kind killed, six times",
        tuple((share, kill_worker("")) for share in (0, 0.1, 0.2, 0.4, 0.6, 0.8)),
    ),
    "node_nvidia": Schedule(
        "a node with nvcc lost and replaced", ((0.3, kill_node("nvidia", True)),)
    ),
    "node_amd": Schedule(
        "a node with AMD's clang lost, replaced", ((0.3, kill_node("amd", True)),)
    ),
    "nodes_both": Schedule(
        "one of two nodes of either kind lost for good",
        ((0.2, kill_node("nvidia", False)), (0.4, kill_node("amd", False))),
        TWO,
    ),
    "nodes_often": Schedule(
        "a node lost and replaced after each fifth of the work",
        (
            (0.15, kill_node("nvidia", True)),
            (0.35, kill_node("amd", True)),
            (0.55, kill_node("nvidia", True)),
            (0.75, kill_node("amd", True)),
        ),
        TWO,
    ),
    "driver_early": Schedule("the driver killed while it reads", ((0.0, kill_driver),)),
    "driver_late": Schedule("the driver killed near the end", ((0.9, kill_driver),)),
    "driver_often": Schedule(
        "the driver killed four times",
        tuple((share, kill_driver) for share in (0.2, 0.4, 0.6, 0.8)),
    ),
    "head": Schedule("the whole cluster lost and started anew", ((0.4, restart_head),)),
    "head_twice": Schedule(
        "the whole cluster lost twice", ((0.2, restart_head), (0.7, restart_head))
    ),
    "late_amd": Schedule(
        "a second node of AMD's joins late", ((0.3, add_node("amd")),), (("nvidia", 2), ("amd", 1))
    ),
    "frozen_nvidia": Schedule(
        "a node with nvcc answers nobody for 20 s", ((0.3, freeze_node("nvidia", 20)),), TWO
    ),
    "frozen_amd": Schedule(
        "a node of AMD's answers nobody for 60 s", ((0.3, freeze_node("amd", 60)),), TWO
    ),
    "zombies": Schedule(
        "parts that nobody committed, then the driver killed", ((0.3, damage), (0.5, kill_driver))
    ),
    "driver_and_node": Schedule(
        "driver and a node killed at once",
        ((0.4, kill_node("nvidia", True)), (0.4, kill_driver)),
        TWO,
    ),
    "worker_and_driver": Schedule(
        "a worker, then the driver, then a worker",
        ((0.2, kill_worker("Compiler")), (0.4, kill_driver), (0.6, kill_worker("Compiler"))),
    ),
    "threads": Schedule(
        "actors with two slots; one killed",
        ((0.3, kill_worker("NvidiaCompiler")),),
        settings=("--set", "rows_per_block=4"),
    ),
    "everything": Schedule(
        "workers, nodes, the driver and the head",
        (
            (0.1, kill_worker("Compiler")),
            (0.25, kill_node("amd", True)),
            (0.4, kill_driver),
            (0.55, restart_head),
            (0.7, kill_node("nvidia", True)),
            (0.85, kill_worker("Compiler")),
        ),
        TWO,
    ),
}


def content(out: Path) -> dict[str, str]:
    """Digests of the data set's files."""
    paths = [path for kind in ("pairs", "rejects") for path in (out / kind).glob("*.parquet")]
    return {
        path.relative_to(out).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(paths)
    }


@contextmanager
def _own_cluster_file(folder: Path) -> Iterator[None]:
    """``cass cluster`` of the machine stays as it is."""
    before = os.environ.get("CASS_CACHE")
    os.environ["CASS_CACHE"] = str(folder / "cache")
    try:
        yield
    finally:
        if before is None:
            del os.environ["CASS_CACHE"]
        else:
            os.environ["CASS_CACHE"] = before


def run_schedule(schedule: Schedule, corpus: Path, folder: Path, seed: int) -> Run:
    """The build, disturbed. Raises ``CalledProcessError`` when the last driver fails."""
    folder.mkdir(parents=True)
    run = Run(folder, corpus, dict(schedule.nodes), random.Random(seed), list(schedule.settings))
    with _own_cluster_file(folder):
        run.start_cluster()
        try:
            run.start_driver()
            for share, act in schedule.actions:
                run.wait_for(int(share * PROGRAMS))
                act(run)
            assert run.driver is not None
            status = run.driver.wait(timeout=_PATIENCE)
            if status:
                log = (folder / f"driver-{run.drivers}.log").read_text()
                raise subprocess.CalledProcessError(status, "build", log[-3000:])
        finally:
            if run.driver is not None and run.driver.poll() is None:
                run.end_driver()
            local.stop(run.cluster)
    return run


@app.command()
def main(
    schedule: Annotated[list[str] | None, typer.Option(help="Names, * is a wildcard.")] = None,
    seed: Annotated[int, typer.Option(help="Of what is chosen by chance.")] = 1,
    results: Annotated[Path, typer.Option(help="JSON; Markdown goes beside it.")] = RESULTS
    / "faults.json",
) -> None:
    wanted = [
        name
        for name in SCHEDULES
        if any(fnmatch.fnmatch(name, pattern) for pattern in schedule or ["*"])
    ]
    work = Path(tempfile.mkdtemp(prefix="cass-faults-"))
    corpus = work / "corpus"
    corpus.mkdir()
    for number, program in enumerate(generate(PROGRAMS, 3)):
        (corpus / f"p{number:02}.cu").write_text(program.source)
    quiet = content(run_schedule(Schedule("nothing", ()), corpus, work / "quiet", seed).out)
    lines: list[dict[str, Any]] = []
    for name in wanted:
        lines.append(_line(name, corpus, work / name, seed, quiet))
        typer.echo(json.dumps(lines[-1]))
        shutil.rmtree(work / name, ignore_errors=lines[-1]["outcome"] != "equal")
    setting = Setting(
        command=shlex.join(["python", "-m", "benchmarks.pipeline.faults", *sys.argv[1:]]),
        machine=this_machine(),
    )
    figures = {"setting": setting.model_dump(mode="json"), "programs": PROGRAMS, "runs": lines}
    results.write_text(json.dumps(figures, indent=1) + "\n")
    results.with_suffix(".md").write_text(page(figures))
    raise typer.Exit(any(line["outcome"] != "equal" for line in lines))


def _line(
    name: str, corpus: Path, folder: Path, seed: int, quiet: dict[str, str]
) -> dict[str, Any]:
    schedule, began = SCHEDULES[name], time.monotonic()
    try:
        run = run_schedule(schedule, corpus, folder, seed)
        outcome = "equal" if content(run.out) == quiet else "differs"
        drivers = run.drivers
    except (subprocess.SubprocessError, local.ClusterError, TimeoutError) as error:
        outcome, drivers = f"{error}\n{getattr(error, 'output', '') or ''}".strip(), 0
    return {
        "name": name,
        "what": schedule.what,
        "outcome": outcome,
        "drivers": drivers,
        "seconds": round(time.monotonic() - began),
    }


def page(figures: dict[str, Any]) -> str:
    """The results in Markdown."""
    rows = [
        [line["name"], line["what"], line["outcome"].splitlines()[0], str(line["seconds"])]
        for line in figures["runs"]
    ]
    equal = sum(line["outcome"] == "equal" for line in figures["runs"])
    return f"""# Builds that are disturbed

`{figures["setting"]["command"]}`

{figures["programs"]} generated programs, compiled for both sides with nothing cached, a row a
block, on local clusters of real raylets. {equal} of {len(rows)} data sets are, to the byte, the one
of an undisturbed build.

{table(["schedule", "what happens", "data set", "seconds"], rows)}
"""


if __name__ == "__main__":
    app()
