"""What happens to builds."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

from benchmarks.pipeline.faults.build import SLOTS, Action, Build, Unexpected
from cluster import local

_HOG_MIB = 56
_HOG = f"""
import time, numpy, ray
ray.init(log_to_driver=False)
class Hog:
    def __init__(self): self.held = ray.put(numpy.ones({_HOG_MIB} << 20, numpy.uint8))
    def ready(self): return True
hogs = [
    ray.remote(Hog).options(num_cpus=0, scheduling_strategy=
        ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
    ).remote() for node in ray.nodes() if node["Alive"]
]
print(sum(ray.get([hog.ready.remote() for hog in hogs])), flush=True)
time.sleep(100000)
"""


def kill_worker(title: str) -> Action:
    """The process of an actor, a random one of those that there are."""

    def act(build: Build) -> None:
        if processes := build.workers(title):
            os.kill(build.chance.choice(processes), signal.SIGKILL)

    return act


def kill_node(resource: str, replaced: bool) -> Action:
    """A random node that offers ``resource``; another one joins at once, or none."""

    def act(build: Build) -> None:
        names = [node.name for node in build.nodes(resource)]
        build.state = local.kill(build.cluster, build.chance.choice(names))
        if replaced:
            add_node(resource)(build)

    return act


def add_node(resource: str) -> Action:
    """One that the cluster did not have."""

    def act(build: Build) -> None:
        plan = local.NodePlan(f"late-{time.monotonic_ns()}", SLOTS, {resource: SLOTS})
        build.state = local.add(build.cluster, plan)

    return act


def kill_driver(build: Build) -> None:
    """And submit the job again, with ``--resume``."""
    build.end_driver()
    build.start_driver(resume=True)


def restart_head(build: Build) -> None:
    """All of the cluster ends; another one goes on with the work."""
    build.end_driver()
    local.stop(build.cluster)
    build.start_cluster()
    build.start_driver(resume=True)


def freeze_node(resource: str, seconds: float) -> Action:
    """A node that answers nobody for a while, as one that swaps."""

    def act(build: Build) -> None:
        group = build.chance.choice(build.nodes(resource)).process
        os.killpg(group, signal.SIGSTOP)
        time.sleep(seconds)
        os.killpg(group, signal.SIGCONT)

    return act


def slow_node(resource: str, share: float) -> Action:
    """A node that gets ``share`` of its time, from now on."""

    def act(build: Build) -> None:
        group = build.chance.choice(build.nodes(resource)).process
        over = threading.Event()

        def slow() -> None:
            while not over.wait(share / 2):
                os.killpg(group, signal.SIGSTOP)
                time.sleep((1 - share) / 2)
                os.killpg(group, signal.SIGCONT)

        def work() -> None:
            with suppress(ProcessLookupError):
                slow()

        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        build.at_end.callback(thread.join)
        build.at_end.callback(over.set)

    return act


def cut_link(resource: str, seconds: float) -> Action:
    """What a random node sends and is sent gets lost for a while."""

    def act(build: Build) -> None:
        network, node = build.cluster.network, build.chance.choice(build.nodes(resource))
        assert network is not None
        network.cut(node.name)
        time.sleep(seconds)
        network.mend(node.name)

    return act


def fill_object_stores(build: Build) -> None:
    """Somebody else's objects leave little of every node's store."""
    environment = local.environment(build.cluster.token) | {"RAY_ADDRESS": build.cluster.address}
    command = [sys.executable, "-c", _HOG]
    hog = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
    build.at_end.callback(hog.wait)
    build.at_end.callback(hog.kill)
    assert hog.stdout is not None
    if hog.stdout.readline().strip() != str(len(build.cluster.nodes)):
        raise Unexpected("the object stores were not filled")


def leave_debris(build: Build) -> None:
    """Parts that nobody committed, as a worker leaves that dies between parts and entry."""
    for folder in Path(build.out).glob(".work/blocks-*/parts"):
        part = next(folder.iterdir(), None)
        if part is not None:
            (folder / f"zombie.{build.chance.random()}.parquet").write_bytes(
                part.read_bytes()[:100]
            )


def must_end(words: str) -> Action:
    """The build has to end by itself, saying ``words``."""

    def act(build: Build) -> None:
        status, said = build.wait_for_driver()
        if not status or words not in said:
            raise Unexpected(f"exit status {status}, not a word of {words!r}: {said[-3000:]}")
        if "Traceback" in said:
            raise Unexpected(f"not a message that a person can act on: {said[-3000:]}")

    return act


def enlarge_disk(build: Build) -> None:
    """Space is made."""
    subprocess.run(["mount", "-o", "remount,size=1g", build.out], check=True)


def resume(build: Build) -> None:
    """The same command again, with ``--resume``."""
    build.start_driver(resume=True)
