"""Lifting for a program that runs: what it loads is lifted outside of its sandbox.

The program's ``libcuda.so.1`` (``driver/lifting.cpp``) connects to a local socket. It sends the
size of an image in eight bytes, little-endian, and the image; back come a CUresult, the capability
(80 for sm_80), the sizes of a message, of a HIP fat binary and of what is to be known of kernels of
clusters (:func:`.lifting.cluster_lines`), and these three. The image is the program's, so it is
bounded and handed to tools in a sandbox only, as everything that is lifted.
"""

from __future__ import annotations

import logging
import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from cass_ray.lift.errors import LiftError
from cass_ray.port.errors import PortError
from cass_ray.port.fatbin import NoPtxAssembler
from cass_ray.port.lifting import ContainerLifter, cluster_lines
from cass_ray.port.linking import CHECK, LINK, NoLinker, check_ptx, linked
from cass_ray.toolchain.sandbox.isolation import private_folder

SOCKET_NAME = "lifter"

_log = logging.getLogger(__name__)

_MOST_BYTES = 256 << 20
_SECONDS = 60.0
"""How long the program may take to send or to receive."""
_REQUEST, _ANSWER = struct.Struct("<Q"), struct.Struct("<IIQQQ")
# Of CUresult.
_SUCCESS, _INVALID_IMAGE, _NO_BINARY = 0, 200, 209
_INVALID_PTX, _NO_ASSEMBLER, _UNKNOWN = 218, 221, 999


@contextmanager
def lifting_service(lifter: ContainerLifter) -> Iterator[Path]:
    """A folder with the socket :data:`SOCKET_NAME`, which is answered until the end."""
    with private_folder() as folder, socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(folder / SOCKET_NAME))
        listening.listen()
        thread = threading.Thread(target=_serve, args=(listening, lifter), daemon=True)
        thread.start()
        try:
            yield folder
        finally:
            listening.shutdown(socket.SHUT_RDWR)
            thread.join()


def _serve(listening: socket.socket, lifter: ContainerLifter) -> None:
    while True:
        try:
            connection, _ = listening.accept()
        except OSError:  # shut down
            return
        with connection:
            connection.settimeout(_SECONDS)
            try:
                _answer(connection, lifter)
            except OSError:  # the program went away, or waits
                continue


def _answer(connection: socket.socket, lifter: ContainerLifter) -> None:
    (size,) = _REQUEST.unpack(_received(connection, _REQUEST.size))
    if size > _MOST_BYTES:
        text = f"device code of {size} bytes is not lifted: more than {_MOST_BYTES}"
        answer = Answer(_INVALID_IMAGE, 0, text)
    else:
        answer = answer_for(_received(connection, size), lifter)
    parts = answer.message.encode(), answer.code, answer.clusters.encode()
    sizes = map(len, parts)
    connection.sendall(_ANSWER.pack(answer.result, answer.capability, *sizes) + b"".join(parts))


class Answer(NamedTuple):
    """What the program is answered."""

    result: int
    """A CUresult."""
    capability: int = 0
    message: str = ""
    code: bytes = b""
    """A HIP fat binary."""
    clusters: str = ""
    """How kernels of clusters are launched."""


def answer_for(image: bytes, lifter: ContainerLifter) -> Answer:
    """What comes back for an image; never raises for what is in it.

    In place of an image there may be a request to link, which gives a cubin (:mod:`.linking`).
    """
    try:
        if image.startswith(CHECK):
            check_ptx(image, lifter.nvidia)
            return Answer(_SUCCESS)
        if image.startswith(LINK):
            return Answer(_SUCCESS, code=linked(image, lifter.nvidia))
        lifted = lifter.lift_image(image)
    except (NoPtxAssembler, NoLinker) as error:
        return Answer(_NO_ASSEMBLER, message=str(error))
    except (PortError, LiftError) as error:
        is_text = image.startswith(CHECK) or b"\0" not in image[:64]
        return Answer(_INVALID_PTX if is_text else _INVALID_IMAGE, message=str(error))
    except Exception as error:  # a fault of ours must not leave the program waiting for an answer
        _log.exception("cass run-binary: lifting what the program loads")
        return Answer(_UNKNOWN, message=f"lifting failed: {type(error).__name__}: {error}")
    left_out = [f"kernel {name} is left out: {text}" for name, text in lifted.failures.items()]
    result = _SUCCESS if lifted.fat_binary else _NO_BINARY
    lines = cluster_lines(lifted.clusters)
    return Answer(result, lifted.capability, "\n".join(left_out), lifted.fat_binary, lines)


def _received(connection: socket.socket, size: int) -> bytes:
    """Exactly ``size`` bytes. Raises :class:`OSError` where fewer come."""
    parts, left = [], size
    while left:
        part = connection.recv(min(left, 1 << 20))
        if not part:
            raise OSError("the program closed the connection")
        parts.append(part)
        left -= len(part)
    return b"".join(parts)
