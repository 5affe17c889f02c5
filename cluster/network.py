"""A network name space for each node of a local cluster, all on one bridge: links can be cut.

Takes root and the program ``ip``. Addresses are of 198.18.0.0/15, which is set aside for tests.
"""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess

from pydantic import BaseModel, ConfigDict


class NetworkError(RuntimeError):
    """The machine does not let us make the network, or a node has no link."""


class Network(BaseModel):
    """A bridge with the head's address, and the number of each node's link."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    bridge: str
    subnet: str
    """The first three numbers of addresses."""
    links: dict[str, int] = {}

    @property
    def head(self) -> str:
        """Address of the head, which is outside of all name spaces, as drivers are."""
        return f"{self.subnet}.1"

    def address(self, node: str) -> str:
        """Address of ``node``. Raises :class:`NetworkError`."""
        return f"{self.subnet}.{self._number(node)}"

    def enter(self, node: str) -> tuple[str, ...]:
        """What goes before a command that is to run in the name space of ``node``."""
        return ("ip", "netns", "exec", self._space(node))

    def attach(self, node: str) -> Network:
        """With a link for ``node``. Raises :class:`NetworkError`."""
        number = max(self.links.values(), default=1) + 1
        network = self.model_copy(update={"links": {**self.links, node: number}})
        space, link = network._space(node), network._link(node)
        _ip("netns", "add", space)
        _ip("link", "add", link, "type", "veth", "peer", "name", "eth0", "netns", space)
        _ip("link", "set", link, "master", self.bridge, "up")
        for words in (
            ("addr", "add", f"{network.address(node)}/24", "dev", "eth0"),
            ("link", "set", "eth0", "up"),
            ("link", "set", "lo", "up"),
        ):
            _ip("-n", space, *words)
        return network

    def cut(self, node: str) -> None:
        """What is sent to and from ``node`` gets lost, and nobody is told.

        Raises :class:`NetworkError`.
        """
        _ip("link", "set", self._link(node), "nomaster")

    def mend(self, node: str) -> None:
        """Undo :meth:`cut`."""
        _ip("link", "set", self._link(node), "master", self.bridge)

    def remove(self) -> None:
        """Take all of it away, as far as it is there."""
        for node in self.links:
            # A name space ends when its last process has, its link with it; we do not wait.
            _ip("link", "del", self._link(node), check=False)
            _ip("netns", "del", self._space(node), check=False)
        _ip("link", "del", self.bridge, check=False)

    def _number(self, node: str) -> int:
        if node not in self.links:
            known = ", ".join(self.links) or "none"
            raise NetworkError(f"{node} has no link; nodes that have one: {known}")
        return self.links[node]

    def _space(self, node: str) -> str:
        return f"{self.bridge}-{self._number(node)}"

    def _link(self, node: str) -> str:
        return f"{self.bridge}.{self._number(node)}"


def make_network() -> Network:
    """A bridge without links. Raises :class:`NetworkError`."""
    if os.geteuid() or shutil.which("ip") is None:
        raise NetworkError("links that can be cut take root and the program `ip` (iproute2)")
    network = Network(
        bridge=f"cass{secrets.token_hex(3)}", subnet=f"198.18.{secrets.randbelow(256)}"
    )
    _ip("link", "add", network.bridge, "type", "bridge")
    try:
        _ip("addr", "add", f"{network.head}/24", "dev", network.bridge)
        _ip("link", "set", network.bridge, "up")
    except NetworkError:
        network.remove()
        raise
    return network


def _ip(*words: str, check: bool = True) -> None:
    done = subprocess.run(["ip", *words], capture_output=True, text=True, check=False)
    if check and done.returncode:
        raise NetworkError(f"ip {' '.join(words)}: {done.stderr.strip()}")
