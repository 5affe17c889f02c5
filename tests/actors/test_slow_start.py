"""Nodes of Ray that need longer than Ray gives them."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from ray._private import services

from actors.slow_start import ended_raylets, patience


def test_a_node_that_is_not_there_yet_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[Any, ...]] = []

    def get_node(*place: Any) -> dict[str, int]:
        asked.append(place)
        if len(asked) < 3:
            raise RuntimeError("no such node")
        return {"node_manager_port": 1}

    monkeypatch.setattr(services, "get_node", get_node)
    with patience():
        assert services.get_node("127.0.0.1:1", "ab") == {"node_manager_port": 1}
    assert asked == [("127.0.0.1:1", "ab")] * 3
    assert services.get_node is get_node


def test_patience_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    def get_node(*place: Any) -> None:
        raise RuntimeError("no such node")

    monkeypatch.setattr(services, "get_node", get_node)
    with patience(0.0), pytest.raises(RuntimeError, match="no such node"):
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
    with patience(3600.0), pytest.raises(RuntimeError, match="no such node"):
        services.get_node("127.0.0.1:1", "ab")
    assert ended_raylets(os.getpid()) == {raylets[0].pid}
    raylets[0].wait()
    assert ended_raylets(os.getpid()) == set()
