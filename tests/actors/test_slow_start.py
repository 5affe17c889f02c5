"""Nodes of Ray that need longer than Ray gives them."""

from __future__ import annotations

from typing import Any

import pytest
from ray._private import services

from actors.slow_start import patience


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
