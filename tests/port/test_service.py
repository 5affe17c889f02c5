"""What the service that lifts for a running program answers; the lifter is one that fails."""

from __future__ import annotations

import socket
import struct
from pathlib import Path
from typing import cast

import pytest

from cass_ray.lift.cluster_kernel import ClusterKernel
from cass_ray.port.errors import PortError
from cass_ray.port.lifting import ContainerLifter, LiftedContainer
from cass_ray.port.service import SOCKET_NAME, lifting_service


class Lifter:
    def lift_image(self, image: bytes) -> LiftedContainer:
        if image == b"good":
            launched = ClusterKernel("k", "k", 1, 8, 240, (2, 1, 1))
            failures = {"other": "no such form"}
            return LiftedContainer("", 80, b"code", ("k",), failures, (), (launched,))
        if image == b"bad":
            raise PortError("a module that is no cubin")
        raise KeyError("a fault of ours")


def asked(folder: Path, sent: bytes) -> tuple[int, int, str, bytes]:
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(30)
        connection.connect(str(folder / SOCKET_NAME))
        connection.sendall(sent)
        with connection.makefile("rb") as stream:
            result, capability, said, *sizes = struct.unpack("<IIQQQ", stream.read(32))
            message = stream.read(said).decode()
            return result, capability, message, b"".join(stream.read(size) for size in sizes)


def image(content: bytes) -> bytes:
    return struct.pack("<Q", len(content)) + content


@pytest.fixture
def lifter() -> ContainerLifter:
    return cast(ContainerLifter, Lifter())


def test_answers(lifter: ContainerLifter) -> None:
    with lifting_service(lifter) as folder:
        code = b"codek k 1 8 240 2 1 1\n"
        good = (0, 80, "kernel other is left out: no such form", code)
        assert asked(folder, image(b"good")) == good
        assert asked(folder, image(b"bad")) == (218, 0, "a module that is no cubin", b"")
        assert asked(folder, image(b"\0x")) == (
            999,
            0,
            "lifting failed: KeyError: 'a fault of ours'",
            b"",
        )
        assert asked(folder, image(b"good")) == good  # after a fault it answers as before


def test_an_image_without_end_is_not_read(lifter: ContainerLifter) -> None:
    with lifting_service(lifter) as folder:
        result, _, said, _ = asked(folder, struct.pack("<Q", 1 << 40))
        assert (result, said[:40]) == (200, "device code of 1099511627776 bytes is no")


def test_a_program_that_hangs_up_stops_nothing(lifter: ContainerLifter) -> None:
    with lifting_service(lifter) as folder:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(str(folder / SOCKET_NAME))
            connection.sendall(struct.pack("<Q", 100) + b"half")
        assert asked(folder, image(b"good"))[0] == 0
