"""A build on a local cluster of its own, to which things happen."""

from __future__ import annotations

import hashlib
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import fsspec  # type: ignore[import-untyped]

from benchmarks.folders import REPOSITORY
from benchmarks.pipeline.faults import weather
from benchmarks.pipeline.faults.weather import BUCKET, Weather
from cluster import local

SLOTS = 2
PATIENCE = 600.0
_PAUSE = 0.5


class Unexpected(RuntimeError):
    """The build did what it should not; the message has its last words."""


Action = Callable[["Build"], None]


@dataclass(frozen=True)
class Schedule:
    """What happens, and after how many of the blocks: a share of them."""

    what: str
    actions: tuple[tuple[float, Action], ...] = ()
    nodes: tuple[tuple[str, int], ...] = (("nvidia", 1), ("amd", 1))
    further: tuple[local.NodePlan, ...] = ()
    """Nodes that are not as others."""
    settings: tuple[str, ...] = ()
    links: bool = False
    storage: Weather | None = None
    """The data set is in storage that is like this, else in a folder."""
    disk_kib: int | None = None
    """Of the folder's disk."""
    object_store_mib: int = 256
    requires: tuple[Path, ...] = ()
    patience: float = PATIENCE
    """Seconds that a driver may take."""


class Clusters:
    """The last one is kept for the next schedule, where that wants no other: to start one takes as
    long as the build."""

    def __init__(self) -> None:
        self._kept: tuple[local.ClusterState, Schedule] | None = None

    def take(self, schedule: Schedule) -> local.ClusterState:
        """A cluster for ``schedule``, which is the caller's until it is given back."""
        kept, self._kept = self._kept, None
        plan = local.plan_of(dict(schedule.nodes), SLOTS) + list(schedule.further)
        if kept is not None:
            state, before = kept
            alike = _plain(before) and _plain(schedule) and _offered(state.nodes) == _offered(plan)
            if alike and local.node_count(state) == len(plan):
                return state
            local.stop(state)
        return local.start(
            plan,
            object_store_mib=schedule.object_store_mib,
            links=schedule.links,
            jobs=False,
        )

    def give(self, state: local.ClusterState, schedule: Schedule) -> None:
        """Nobody uses it any more."""
        self._kept = (state, schedule)

    def end(self) -> None:
        """Stop the one that is kept."""
        if self._kept is not None:
            local.stop(self._kept[0])
            self._kept = None


def _plain(schedule: Schedule) -> bool:
    """Whether nodes are as any others, also in what environment they were started."""
    unlike = schedule.further or schedule.links or schedule.storage
    return not unlike and schedule.object_store_mib == Schedule.object_store_mib


def _offered(nodes: Sequence[local.Node] | Sequence[local.NodePlan]) -> list[list[str]]:
    return sorted(sorted(node.resources) for node in nodes)


@dataclass
class Build:
    """The build under ``schedule``, its cluster and its drivers."""

    schedule: Schedule
    folder: Path
    corpus: Path
    chance: random.Random
    out: str
    files: Any
    """The file system of ``out``."""
    clusters: Clusters
    state: local.ClusterState | None = None
    driver: subprocess.Popen[bytes] | None = None
    drivers: int = 0
    at_end: ExitStack = field(default_factory=ExitStack)

    @property
    def cluster(self) -> local.ClusterState:
        """The running one."""
        assert self.state is not None
        return self.state

    def start_cluster(self) -> None:
        """A head and the nodes."""
        self.state = self.clusters.take(self.schedule)

    def start_driver(self, resume: bool = False) -> None:
        """Begin, or go on with the build."""
        command = [sys.executable, str(REPOSITORY / "jobs/build_dataset.py")]
        command += ["--source", f"local:{self.corpus}", "--out", self.out]
        command += ["--set", "rows_per_block=1", "--set", "cache=false", *self.schedule.settings]
        command += ["--resume"] if resume else []
        self.drivers += 1
        with self._log().open("wb") as log:
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

    def wait_for_driver(self) -> tuple[int, str]:
        """Its exit status and what it said, once it has ended."""
        assert self.driver is not None
        status = self.driver.wait(timeout=self.schedule.patience)
        return status, self._log().read_text(errors="replace")

    def committed(self) -> int:
        """Blocks that are finished."""
        return len(self.files.glob(f"{self._root()}/.work/blocks-*/entries/*.json"))

    def wait_for(self, blocks: int) -> None:
        """Until so many are committed, or the driver has ended. Raises ``TimeoutError``."""
        assert self.driver is not None
        deadline = time.monotonic() + self.schedule.patience
        while self.committed() < blocks and self.driver.poll() is None:
            if time.monotonic() > deadline:
                raise TimeoutError(f"{self.committed()} blocks, {self.schedule.patience:.0f} s")
            time.sleep(_PAUSE)

    def content(self) -> dict[str, str]:
        """Digests of the data set's files."""
        root = self._root()
        paths = [
            path for kind in ("pairs", "rejects") for path in self.files.find(f"{root}/{kind}")
        ]
        return {
            path.removeprefix(f"{root}/"): hashlib.sha256(self.files.cat_file(path)).hexdigest()
            for path in sorted(paths)
        }

    def nodes(self, resource: str) -> list[local.Node]:
        """Those that offer ``resource``."""
        return [node for node in self.cluster.nodes if resource in node.resources]

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

    def _log(self) -> Path:
        return self.folder / f"driver-{self.drivers}.log"

    def _root(self) -> str:
        return str(self.files._strip_protocol(self.out)).rstrip("/")


@dataclass(frozen=True)
class Outcome:
    """What a build came to."""

    content: Mapping[str, str]
    drivers: int
    storage: Mapping[str, int]
    """Requests of it, and how many went wrong."""


def run(schedule: Schedule, corpus: Path, folder: Path, seed: int, clusters: Clusters) -> Outcome:
    """The build, disturbed, and taken away but for its logs.

    Raises :class:`Unexpected` when the last driver fails.
    """
    if lacking := [str(path) for path in schedule.requires if not path.exists()]:
        raise Unexpected(f"not run: this machine has no {', '.join(lacking)}")
    folder.mkdir(parents=True)
    with ExitStack() as stack:
        out, files, counts = _place(schedule, folder, seed, stack)
        build = Build(schedule, folder, corpus, random.Random(seed), out, files, clusters)
        build.start_cluster()
        stack.callback(lambda: clusters.give(build.cluster, schedule))
        stack.enter_context(build.at_end)
        build.start_driver()
        stack.callback(lambda: _end(build))
        for share, act in schedule.actions:
            build.wait_for(int(share * sum(1 for _ in corpus.iterdir())))
            act(build)
        status, said = build.wait_for_driver()
        if status:
            raise Unexpected(f"exit status {status}: {said[-3000:]}")
        return Outcome(build.content(), build.drivers, dict(counts))


def _end(build: Build) -> None:
    if build.driver is not None and build.driver.poll() is None:
        build.end_driver()


def _place(
    schedule: Schedule, folder: Path, seed: int, stack: ExitStack
) -> tuple[str, Any, Mapping[str, int]]:
    if schedule.storage is None:
        out = folder / "out"
        out.mkdir()
        if schedule.disk_kib is not None:
            size = f"size={schedule.disk_kib}k"
            subprocess.run(["mount", "-t", "tmpfs", "-o", size, "tmpfs", str(out)], check=True)
            stack.callback(lambda: subprocess.run(["umount", "-l", str(out)], check=True))
        return str(out), fsspec.filesystem("file"), {}
    server = stack.enter_context(weather.storage("127.0.0.1", schedule.storage, seed))
    stack.enter_context(variables(weather.environment(server.bad)))
    files = fsspec.filesystem("s3", **weather.options(server.good), use_listings_cache=False)
    files.makedirs(BUCKET, exist_ok=True)
    return f"s3://{BUCKET}/{folder.name}", files, server.counts


@contextmanager
def variables(values: Mapping[str, str]) -> Iterator[None]:
    """``values`` in the environment."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
