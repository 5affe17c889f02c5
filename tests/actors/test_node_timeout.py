"""Nodes of Ray that need longer than Ray gives them."""

from __future__ import annotations

import functools
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from ray._private import services

from actors.node_timeout import AGENTS_PORTS, ended_raylets, longer_node_timeout, noted_ports


def test_a_node_that_is_not_there_yet_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[Any, ...]] = []

    def get_node(*place: Any) -> dict[str, int]:
        asked.append(place)
        if len(asked) < 3:
            raise RuntimeError("no such node")
        return {"node_manager_port": 1}

    monkeypatch.setattr(services, "get_node", get_node)
    with longer_node_timeout():
        assert services.get_node("127.0.0.1:1", "ab") == {"node_manager_port": 1}
    assert asked == [("127.0.0.1:1", "ab")] * 3
    assert services.get_node is get_node


def test_patience_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    def get_node(*place: Any) -> None:
        raise RuntimeError("no such node")

    monkeypatch.setattr(services, "get_node", get_node)
    with longer_node_timeout(0.0), pytest.raises(RuntimeError, match="no such node"):
        services.get_node("127.0.0.1:1", "ab")


def test_a_node_whose_raylet_has_ended_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "raylet").symlink_to("/bin/true")
    raylets: list[subprocess.Popen[bytes]] = []

    def get_node(*place: Any) -> None:
        if not raylets:
            raylets.append(subprocess.Popen([str(tmp_path / "raylet")]))
            # It has ended, and nobody has asked how.
            os.waitid(os.P_PID, raylets[0].pid, os.WEXITED | os.WNOWAIT)
        raise RuntimeError("no such node")

    monkeypatch.setattr(services, "get_node", get_node)
    with longer_node_timeout(3600.0), pytest.raises(RuntimeError, match="no such node"):
        services.get_node("127.0.0.1:1", "ab")
    assert ended_raylets(os.getpid()) == {raylets[0].pid}
    raylets[0].wait()
    assert ended_raylets(os.getpid()) == set()


def test_a_raylet_finds_the_ports_noted_that_its_agents_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: dict[str, Any] = {}
    node = "ab" * 28

    @functools.wraps(services.start_raylet)  # and with its arguments
    def start_raylet(*arguments: Any, **options: Any) -> str:
        told.update(options)
        return "started"

    monkeypatch.setattr(services, "start_raylet", start_raylet)
    positions = dict.fromkeys(
        (
            *("redis_address", "gcs_address", "node_id", "node_ip_address", "node_manager_port"),
            *("raylet_name", "plasma_store_name", "cluster_id", "worker_path"),
            *("setup_worker_path", "temp_dir", "session_dir", "resource_dir", "log_dir"),
            *("resource_and_label_spec", "plasma_directory", "fallback_directory"),
        ),
        "",
    ) | {"node_id": node, "session_dir": str(tmp_path)}
    with noted_ports():
        made = services.start_raylet(
            *positions.values(),
            object_store_memory=1,
            session_name="s",
            is_head_node=True,
            resource_isolation_config=None,
            metrics_export_port=20001,
            metrics_agent_port=0,
        )
    assert made == "started"
    assert services.start_raylet is start_raylet
    # The names that Ray 2.60's raylet waits for: NAME_NODE.
    noted = {path.name: int(path.read_text()) for path in tmp_path.iterdir()}
    assert noted == {f"{name}_{node}": told[name] for name in AGENTS_PORTS}
    assert told["metrics_export_port"] == 20001
    assert all(port > 1024 for port in noted.values())
