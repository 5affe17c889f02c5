"""The work of pieces on a real node: what one process makes, to the byte."""

from __future__ import annotations

import os
import select
from pathlib import Path

import numpy as np
import pytest
import ray

from actors.piece_tasks import ActorShards, TaskRunner
from actors.shared_files import FilesActor, RemoteFiles, reachable
from cass_ray.corpus.dedup.partitions import DIGEST_BYTES
from cass_ray.corpus.dedup.shards import Shards, ShardsLost
from cass_ray.pipeline.output import output_at
from cass_ray.pipeline.pieces.steps import Steps
from cass_ray.pipeline.pieces.work import BuildWork
from cass_ray.pipeline.progress import Progress
from cass_ray.pipeline.settings import BuildSettings
from cass_ray.storage.store import Files, Store
from tests.pipeline.pieces.test_build import built, content, corpus, no_compiler, sources_alone

__all__ = ["corpus"]

from rich.console import Console


class TwoShards(TaskRunner):
    """It gives the build two shards on one node, as a larger cluster would."""

    def shards(self) -> Shards:
        return ActorShards(2)


def finished(work: BuildWork, settings: BuildSettings) -> None:
    """A build by tasks; nothing of it needs a compiler."""
    steps = Steps(work, TwoShards(), Progress(Console(quiet=True)), 2, from_cache=True)
    output = output_at(settings.out)
    pieces = steps.read(output.scratch)
    steps.write(pieces, steps.finish(pieces, no_compiler), output)


def test_tasks_make_what_one_process_makes(node: None, corpus: Path, tmp_path: Path) -> None:
    built(sources_alone(corpus, tmp_path / "alone"))
    settings = sources_alone(corpus, tmp_path / "tasks")
    finished(BuildWork(Store(settings.out), settings), settings)
    assert content(Path(settings.out)) == content(tmp_path / "alone")


def second_of_two(pipe: str) -> str:
    """Whoever comes first waits for another to have come."""
    end = os.open(pipe, os.O_RDWR | os.O_NONBLOCK)
    try:
        Path(f"{pipe}.first").mkdir()
    except FileExistsError:
        os.write(end, b"x")
        return "second"
    ready, _, _ = select.select([end], [], [], 60)
    assert ready, "nobody else came"
    return "first"


def test_what_is_late_is_begun_again_and_comes_back_once(node: None, tmp_path: Path) -> None:
    pipe = str(tmp_path / "pipe")
    os.mkfifo(pipe)
    (came,) = TaskRunner(late_seconds=0).each(second_of_two, [pipe])
    assert came in ("first", "second")


def test_a_store_that_only_one_node_has(node: None, corpus: Path, tmp_path: Path) -> None:
    built(sources_alone(corpus, tmp_path / "alone"))
    settings = sources_alone(corpus, tmp_path / "served")
    files = served(Path(settings.out))
    finished(BuildWork(files, settings), settings)
    assert content(Path(settings.out)) == content(tmp_path / "alone")


def served(folder: Path) -> Files:
    actor = ray.remote(FilesActor).options(name=str(folder), num_cpus=0, lifetime="detached")
    actor.remote(str(folder))
    return RemoteFiles(str(folder), str(folder))


def test_a_served_store_does_what_a_store_does(node: None, tmp_path: Path) -> None:
    files = served(tmp_path)
    files.put("a/x", b"1")
    assert files.create("a/x", b"2") == b"1"
    assert files.create("a/y", b"3") == b"3"
    assert (tmp_path / "a" / "y").read_bytes() == b"3"
    assert files.names("a") == ["x", "y"]
    assert files.read_all(["a/x", "a/y"]) == {"a/x": b"1", "a/y": b"3"}
    assert files.exists("a/x") and not files.exists("a/z")
    with pytest.raises(FileNotFoundError):
        files.read("a/z")
    files.remove("a/x")
    files.remove_all("a")
    assert files.names("a") == []
    assert files.url == str(tmp_path)


def test_on_one_machine_a_store_is_used_as_it_is(node: None, tmp_path: Path) -> None:
    store = Store(tmp_path)
    assert reachable(store) is store


def test_a_shard_whose_process_ends_is_said(node: None) -> None:
    shards = ActorShards(2)
    nothing = np.zeros((0, DIGEST_BYTES), np.uint8)
    assert [len(each) for each in shards.call("repeated", [(nothing,), (nothing,)])] == [0, 0]
    ray.kill(shards._actors[1])  # returns before the process has ended, so calls may still succeed
    with pytest.raises(ShardsLost):
        while True:
            shards.call("repeated", [(nothing,), (nothing,)])
