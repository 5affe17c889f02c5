"""Links that can be cut, on this machine's kernel."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Iterator

import pytest

from cluster.network import Network, NetworkError, make_network


@pytest.fixture
def network() -> Iterator[Network]:
    try:
        made = make_network()
    except NetworkError as error:
        pytest.skip(str(error))
    try:
        made = made.attach("a").attach("b")
        yield made
    finally:
        made.remove()


def reached(network: Network, node: str) -> bool:
    """Whether a program of ``node`` gets a connection to the head."""
    with socket.create_server((network.head, 0)) as server:
        address = (network.head, server.getsockname()[1])
        program = f"import socket; socket.create_connection({address}, 2)"
        command = [*network.enter(node), sys.executable, "-c", program]
        return subprocess.run(command, capture_output=True, check=False).returncode == 0


def test_a_link_is_cut_and_mended_alone(network: Network) -> None:
    assert network.address("a") != network.address("b")
    assert reached(network, "a")
    network.cut("a")
    assert [reached(network, node) for node in "ab"] == [False, True]
    network.mend("a")
    assert reached(network, "a")


def test_a_node_without_a_link_is_said(network: Network) -> None:
    with pytest.raises(NetworkError, match="c has no link; nodes that have one: a, b"):
        network.cut("c")


def test_nothing_is_left_of_it(network: Network) -> None:
    network.remove()
    for words in (["link", "show"], ["netns", "list"]):
        done = subprocess.run(["ip", *words], capture_output=True, text=True, check=True)
        assert network.bridge not in done.stdout
