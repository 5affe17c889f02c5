"""Which nodes a local cluster gets."""

from __future__ import annotations

import json
import shutil
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from cluster import local
from cluster.errors import ClusterError
from cluster.local import NodePlan, default_plan, parse_nodes, plan_of


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
    monkeypatch.setattr(local, "node_count", lambda state, known_as: int(known_as == "amd-5"))
    log = tmp_path / "amd.log"
    log.write_text(f"Local node IP: 192.0.2.2\n{said}\n")
    process = subprocess.Popen(["sleep", "1000"] if lasts else ["true"])
    if not lasts:
        process.wait()
    node = local.Node(name="amd", process=process.pid, resources={})
    state = local.ClusterState(
        address="", dashboard="http://192.0.2.1:1", temporary=tmp_path, token="", nodes=[node]
    )
    alone = state.model_copy(update={"dashboard": None})
    try:
        assert local._joins(state, "amd-5", log) is joins
        assert local._joins(alone, "amd-5", log) is joins
    finally:
        process.kill()
        process.wait()


class _Head(BaseHTTPRequestHandler):
    """Answers as Ray's dashboard: nodes that were killed are alive for a while."""

    nodes = ("head-1", "amd-1", "amd-2")

    def do_GET(self) -> None:
        asked = parse_qs(urlsplit(self.path).query)
        wanted = dict(zip(asked["filter_keys"], asked["filter_values"], strict=True))
        assert wanted["state"] == "ALIVE"
        assert set(asked["filter_predicates"]) == {"="}
        found = [each for each in self.nodes if wanted.get("node_name", each) == each]
        self.send_response(200)
        self.end_headers()
        answer = {"data": {"result": {"num_filtered": len(found)}}}
        self.wfile.write(json.dumps(answer).encode())

    def log_message(self, *_: object) -> None:
        """Nothing."""


@pytest.fixture
def dashboard() -> Iterator[str]:
    with HTTPServer(("127.0.0.1", 0), _Head) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.mark.parametrize(("known_as", "count"), [("", 3), ("amd-2", 1), ("amd-3", 0)])
def test_a_node_is_counted_by_its_name_and_not_by_how_many_there_are(
    known_as: str, count: int, dashboard: str, tmp_path: Path
) -> None:
    state = local.ClusterState(
        address="", dashboard=dashboard, temporary=tmp_path, token="", nodes=[]
    )
    assert local.node_count(state, known_as) == count


def test_without_a_dashboard_nodes_are_counted_by_their_processes(tmp_path: Path) -> None:
    ended = subprocess.Popen(["true"])
    ended.wait()
    with subprocess.Popen(["sleep", "1000"]) as lasting:
        nodes = [
            local.Node(name=str(process.pid), process=process.pid, resources={})
            for process in (ended, lasting)
        ]
        state = local.ClusterState(
            address="", dashboard=None, temporary=tmp_path, token="", nodes=nodes
        )
        assert local.node_count(state) == 1
        with pytest.raises(ClusterError, match="without `jobs`"):
            local.submit(state, ["true"], tmp_path)
        lasting.kill()


def test_nodes_of_one_machine_have_no_folder_in_common(tmp_path: Path) -> None:
    head = local.Node(name="head", process=1, resources={})
    none = local.ClusterState(
        address="192.0.2.1:1", dashboard=None, temporary=tmp_path, token="", nodes=[]
    )
    joined = none.model_copy(update={"nodes": [head]})
    folders = [
        argument
        for state, name in ((none, "head"), (joined, "amd-1"), (joined, "amd-2"))
        for argument in local._arguments(state, local.NodePlan(name, 1, {}), "", name, 80)
        if argument.startswith("--temp-dir=")
    ]
    assert len(set(folders)) == 3


def test_paths_of_sockets_are_short_whatever_the_temporary_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """107 bytes is what ``sockaddr_un`` holds (``unix(7)``)."""
    long = tmp_path / ("a" * 60)
    long.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(long))
    folder = local._temporary_folder()
    state = local.ClusterState(address="a:1", dashboard=None, temporary=folder, token="", nodes=[])
    node = local.Node(name="n" * 60, process=0, resources={})
    plan = NodePlan("m" * 60, 1, {})
    words = local._arguments(state.model_copy(update={"nodes": [node]}), plan, "a", "m", 1)
    (own,) = (word.partition("=")[2] for word in words if word.startswith("--temp-dir="))
    socket = f"{own}/session_2026-11-24_14-53-05_014077_4194304/sockets/plasma_store"
    assert len(socket) <= 107
    shutil.rmtree(folder)
