"""Waiting for the nodes that a build needs."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest
import ray

from actors import nodes
from actors.nodes import release_nodes, wait_for_nodes
from actors.session import start_local
from cass_ray.pipeline.settings import BuildSettings
from cass_ray.toolchain.errors import ToolMissing

NEEDED = ["amd", "nvidia"]


@pytest.fixture
def settings(tmp_path: Path) -> BuildSettings:
    return BuildSettings(sources=["shipped"], out=tmp_path, node_wait_seconds=0)


def test_a_cluster_without_a_compiler_is_said(node: None, settings: BuildSettings) -> None:
    said: list[str] = []
    with pytest.raises(ToolMissing, match="offers the resource `amd`"):
        wait_for_nodes(settings, NEEDED, said.append)
    assert said == ["waiting up to 0 s for nodes that offer amd and nvidia"]


def test_fewer_slots_than_were_asked_for_will_do(settings: BuildSettings) -> None:
    ray.shutdown()
    start_local(lean=True, num_cpus=1, resources={"nvidia": 1, "amd": 1}, log_to_driver=False)
    said: list[str] = []
    wait_for_nodes(settings, NEEDED, said.append)
    assert said == []
    wait_for_nodes(settings.model_copy(update={"slots": 2}), NEEDED, said.append)
    assert said == ["waiting up to 0 s for nodes that offer amd and nvidia"]
    release_nodes()
    ray.shutdown()


def test_a_node_lost_while_it_is_asked_is_waited_for(
    settings: BuildSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = {"NodeID": "second", "Alive": True, "Resources": {"nvidia": 1.0, "amd": 1.0}}
    monkeypatch.setattr(ray, "nodes", lambda: [there])
    monkeypatch.setattr(ray, "cluster_resources", lambda: there["Resources"])
    answers = [[("first", "it does not exist any more")], []]
    monkeypatch.setattr(nodes, "_unable", lambda *_: answers.pop(0))
    said: list[str] = []
    patient = settings.model_copy(update={"node_wait_seconds": 60})
    assert wait_for_nodes(patient, NEEDED, said.append).without == ()
    assert said == ["a node was lost while it was asked for its compilers"]


def test_a_second_wait_says_what_is_left_of_the_time(
    settings: BuildSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = {"NodeID": "second", "Alive": True, "Resources": {"nvidia": 1.0, "amd": 1.0}}
    monkeypatch.setattr(ray, "nodes", lambda: [there])
    offered = [{}, there["Resources"], {}, there["Resources"]]
    monkeypatch.setattr(ray, "cluster_resources", lambda: offered.pop(0))
    monkeypatch.setattr(nodes, "request_resources", lambda **_: None)
    now = 1000.0
    monkeypatch.setattr(nodes, "time", SimpleNamespace(monotonic=lambda: now))

    def unable(*_: object) -> list[tuple[str, str]]:
        nonlocal now
        if now > 1000:
            return []
        now += 45
        return [("first", "it does not exist any more")]

    monkeypatch.setattr(nodes, "_unable", unable)
    said: list[str] = []
    wait_for_nodes(settings.model_copy(update={"node_wait_seconds": 60}), NEEDED, said.append)
    assert said == [
        "waiting up to 60 s for nodes that offer amd and nvidia",
        "a node was lost while it was asked for its compilers",
        "waiting up to 15 s for nodes that offer amd and nvidia",
    ]
