"""Which nodes a local cluster gets."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from cluster import local
from cluster.local import ClusterError, NodePlan, default_plan, parse_nodes, plan_of


def test_nodes_are_called_after_what_they_offer() -> None:
    assert plan_of(parse_nodes("nvidia=2, amd=1"), 4) == [
        NodePlan("head", 1, {}),
        NodePlan("nvidia-1", 4, {"nvidia": 4}),
        NodePlan("nvidia-2", 4, {"nvidia": 4}),
        NodePlan("amd", 4, {"amd": 4}),
    ]
    assert [node.name for node in default_plan(1)] == ["head", "nvidia", "amd"]


@pytest.mark.parametrize("text", ["", "nvidia", "nvidia=", "nvidia=-1", "cuda=1", "amd=1,amd=2"])
def test_what_is_no_number_of_nodes_is_said(text: str) -> None:
    with pytest.raises(ClusterError, match=r"nvidia, amd with a number"):
        parse_nodes(text)


@pytest.mark.parametrize(
    ("said", "lasts", "joins"),
    [
        ("Ray runtime started.", True, True),
        ("The current node timed out during startup.", False, False),  # counted all the same
    ],
)
def test_a_node_that_the_head_counts_has_joined_when_it_says_that_it_has_started(
    said: str, lasts: bool, joins: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local, "node_count", lambda state: 2)
    log = tmp_path / "amd.log"
    log.write_text(f"Local node IP: 192.0.2.2\n{said}\n")
    process = subprocess.Popen(["sleep", "1000"] if lasts else ["true"])
    if not lasts:
        process.wait()
    node = local.Node(name="amd", process=process.pid, resources={})
    state = local.ClusterState(address="", dashboard="", temporary=tmp_path, token="", nodes=[node])
    try:
        assert local._joins(state, 2, log) is joins
    finally:
        process.kill()
        process.wait()
