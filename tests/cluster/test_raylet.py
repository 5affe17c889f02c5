"""What `ray start` is told."""

from __future__ import annotations

from cluster import raylet


def test_every_agent_of_a_node_has_a_port_of_its_own() -> None:
    arguments = [raylet.any_node(1, {}, "192.0.2.1", "amd-1", 64) for _ in range(2)]
    pinned = [
        (name, port)
        for each in arguments
        for name, port in (word.split("=") for word in each if "-port=" in word)
        if "worker" not in name
    ]
    assert len({name for name, _ in pinned}) == 6
    assert all(int(port) > 1024 for _, port in pinned)
