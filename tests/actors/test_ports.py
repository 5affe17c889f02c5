"""Ports that nobody has."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from actors import ports
from actors.ports import PortsTaken, free_ports


def test_ports_differ_can_be_bound_and_are_none_that_the_system_gives_away() -> None:
    found = free_ports(50)
    assert len(set(found)) == 50
    given_away = Path("/proc/sys/net/ipv4/ip_local_port_range").read_text()
    first, last = map(int, given_away.split())
    assert not [port for port in found if first <= port <= last]
    for port in found:
        with socket.socket() as own:
            own.bind(("", port))


def test_a_port_that_somebody_listens_on_is_not_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    (other, free) = free_ports(2)
    monkeypatch.setattr(ports, "_RANGE", range(min(other, free), max(other, free) + 1))
    with socket.socket() as taken:
        taken.bind(("", other))
        taken.listen()
        monkeypatch.setattr("random.sample", lambda drawn, count: [other, free])
        assert free_ports(1) == [free]
        with pytest.raises(PortsTaken, match="fewer than 2 free ports"):
            free_ports(2)
