"""Ports for the processes of Ray's nodes on this machine, drawn where nobody else draws."""

from __future__ import annotations

import random
import socket
from contextlib import ExitStack

_RANGE = range(20_000, 32_768)
"""Below what Linux gives to outgoing connections and to whoever asks for any port (32768 to 60999),
and above the ports of Ray's workers: one that is free now is free when its process binds it."""

_DRAWS_OF_A_PORT = 100


class PortsTaken(RuntimeError):
    """Too few ports are free; the message says what to do."""


def free_ports(count: int) -> list[int]:
    """``count`` different ports that nobody on this machine listens on.

    Drawn by chance, so that nodes that start at the same time seldom want the same. Raises
    :class:`PortsTaken`.
    """
    result: list[int] = []
    with ExitStack() as stack:  # each stays bound until all are found
        for port in random.sample(_RANGE, min(len(_RANGE), count * _DRAWS_OF_A_PORT)):
            if len(result) == count:
                break
            if _bound(stack.enter_context(socket.socket()), port):
                result.append(port)
    if len(result) < count:
        raise PortsTaken(
            f"fewer than {count} free ports from {_RANGE.start} to {_RANGE.stop - 1}; end other "
            "clusters of this machine"
        )
    return result


def _bound(probe: socket.socket, port: int) -> bool:
    try:
        probe.bind(("", port))
    except OSError:
        return False
    return True
