"""Messages to the device process that our HIP runtime never sends.

Whatever comes, the device process neither dies nor serves others worse, and the record of launches
holds what ran.
"""

from __future__ import annotations

import os
import socket
import struct
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cass_ray.emulator.build import DEVICE_NAME, BuildFailed, runtime_library
from cass_ray.emulator.launches import RECORD_BYTES, parse_launches
from cass_ray.toolchain.errors import ToolMissing

pytestmark = pytest.mark.amd

VERSION = 1
HELLO, ALLOCATE, RELEASE, SHARE, UNSHARE, COPY, FILL = range(1, 8)
UPLOAD, LOAD, FETCH, UNLOAD, LAUNCH, CONTRADICTION = range(8, 14)
OK, OUT_OF_MEMORY, REFUSED, MALFORMED = range(4)
MEMORY, STAGING, MESSAGE = range(3)
SECONDS = 30
APERTURE = 0x5100_0000_0000


class Closed(Exception):
    """The device process has closed the channel."""


class Channel:
    """One channel, as any program could open it."""

    def __init__(self, connection: socket.socket, hello: bool = True) -> None:
        self.socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket.settimeout(SECONDS)
        with theirs:
            socket.send_fds(connection, [b"\0"], [theirs.fileno()])
        if hello:
            self.ask(struct.pack("<II", HELLO, VERSION))

    def send(self, message: bytes) -> None:
        try:
            self.socket.send(message)
        except (BrokenPipeError, ConnectionResetError) as error:
            raise Closed from error

    def ask(self, message: bytes) -> tuple[int, int, bytes]:
        """Status, value and payload of the reply."""
        self.send(message)
        try:
            answer, files, _, _ = socket.recv_fds(self.socket, 1 << 17, 4)
        except ConnectionResetError as error:
            raise Closed from error
        for file in files:
            os.close(file)
        if not answer:
            raise Closed
        kind, status, value = struct.unpack_from("<IIQ", answer)
        assert kind == 2, "a reply"
        return status, value, answer[16:]

    def allocate(self, size: int, kind: int = 0) -> tuple[int, int]:
        status, address, _ = self.ask(struct.pack("<IIQ", ALLOCATE, kind, size))
        return status, address

    def write(self, address: int, data: bytes) -> int:
        return self.ask(copy(MEMORY, address, MESSAGE, 0, len(data)) + data)[0]

    def read(self, address: int, size: int) -> tuple[int, bytes]:
        status, _, data = self.ask(copy(MESSAGE, 0, MEMORY, address, size))
        return status, data

    def close(self) -> None:
        self.socket.close()


def copy(
    to_place: int, to: int, from_place: int, source: int, width: int, rows: int = 1, pitch: int = 0
) -> bytes:
    return struct.pack(
        "<IIIIQQQQQQ", COPY, to_place, from_place, 0, to, source, pitch, pitch, width, rows
    )


class Device:
    """A device process that serves whoever has the door."""

    def __init__(self, launches: int) -> None:
        self.launches = launches
        self.door, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        program = runtime_library().parent / DEVICE_NAME
        with theirs:
            files = (theirs.fileno(), launches)
            command = [program, f"--door={files[0]}", f"--launches={files[1]}"]
            subprocess.run(command, pass_fds=files, check=True)

    @contextmanager
    def connection(self) -> Iterator[socket.socket]:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            socket.send_fds(self.door, [b"\0"], [theirs.fileno()])
        with ours:
            ours.settimeout(SECONDS)
            yield ours

    def works(self) -> None:
        """An honest program is served."""
        with self.connection() as connection:
            serves(connection)

    def recorded(self) -> int:
        return len(parse_launches(os.pread(self.launches, RECORD_BYTES, 0)))


def serves(connection: socket.socket) -> None:
    channel = Channel(connection)
    status, address = channel.allocate(4096)
    assert status == OK
    assert channel.write(address, b"honest") == OK
    assert channel.read(address, 6) == (OK, b"honest")
    assert channel.ask(struct.pack("<IIQ", RELEASE, 0, address))[0] == OK
    channel.close()


@pytest.fixture(scope="module")
def device() -> Iterator[Device]:
    try:
        runtime_library()
    except (ToolMissing, BuildFailed) as error:
        pytest.skip(str(error))
    launches = os.memfd_create("launches")
    os.ftruncate(launches, RECORD_BYTES)
    made = Device(launches)
    made.works()
    yield made
    made.works()
    assert made.recorded() == 0
    made.door.close()
    os.close(launches)


NUMBERS = st.one_of(
    st.integers(0, 16),
    st.sampled_from([0, 4095, 4096, 1 << 20, (1 << 31) - 1, 1 << 32, (1 << 63) - 1, (1 << 64) - 1]),
    st.sampled_from([APERTURE + (4 << 30), APERTURE, APERTURE - 8, 0x7FFF_F7A0_0000, 8]),
    st.integers(0, (1 << 64) - 1),
)
REQUESTS = st.builds(
    lambda command, small, numbers, rest: (
        struct.pack("<II", command, small) + b"".join(struct.pack("<Q", n) for n in numbers) + rest
    ),
    st.integers(0, 15),
    st.one_of(st.integers(0, 4), st.integers(0, (1 << 32) - 1)),
    st.lists(NUMBERS, max_size=9),
    st.binary(max_size=200),
)
MESSAGES = st.one_of(REQUESTS, st.binary(min_size=1, max_size=300))
SETTINGS = settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@SETTINGS
@given(st.lists(MESSAGES, min_size=1, max_size=12), st.booleans())
def test_any_messages_on_a_channel(device: Device, messages: list[bytes], hello: bool) -> None:
    with device.connection() as connection:
        channel = Channel(connection, hello)
        try:
            for message in messages:
                channel.ask(message)
        except Closed:
            pass
        channel.close()
        serves(connection)


@SETTINGS
@given(st.lists(st.binary(min_size=1, max_size=64), min_size=1, max_size=8))
def test_any_messages_on_a_connection_and_at_the_door(
    device: Device, messages: list[bytes]
) -> None:
    """Without an open file, too long, with a file that is no socket."""
    with device.connection() as connection, Path(os.devnull).open("rb") as other:
        for message in messages:
            device.door.send(message)
            if len(message) <= 16:
                socket.send_fds(connection, [message], [other.fileno()])
        serves(connection)
    device.works()


REFUSED_REQUESTS = {
    "an address outside": copy(MEMORY, 0x7FFF_F7A0_0000, MESSAGE, 0, 4) + b"abcd",
    "the null page": copy(MEMORY, 8, MESSAGE, 0, 4) + b"abcd",
    "memory of the aperture that nobody has": copy(MEMORY, APERTURE + (9 << 30), MESSAGE, 0, 1)
    + b"a",
    "a size beyond all": copy(MESSAGE, 0, MEMORY, APERTURE + (4 << 30), 1 << 40),
    "rows whose product wraps": copy(STAGING, 0, MEMORY, APERTURE, 1 << 33, 1 << 33, 1 << 33),
    "a staging offset outside": copy(STAGING, (1 << 20) - 2, MEMORY, APERTURE, 4),
    "a staging offset that wraps": copy(STAGING, (1 << 64) - 2, MEMORY, APERTURE, 4),
    "less bytes than it says": copy(MEMORY, APERTURE + (4 << 30), MESSAGE, 0, 4096) + b"short",
    "from host to host": copy(MESSAGE, 0, STAGING, 0, 4),
    "a place that is none": copy(7, 0, 9, 0, 4),
    "elements of three bytes": struct.pack("<IIQQQQQ", FILL, 0, APERTURE, 3, 1, 0, 1),
    "elements that wrap": struct.pack("<IIQQQQQ", FILL, 0, APERTURE, 4, 1 << 62, 0, 1),
    "pages of the engine to register": struct.pack("<IIQQ", SHARE, 0, APERTURE, 4096),
    "half a page to register": struct.pack("<IIQQ", SHARE, 0, 0x1234, 10),
    "what was never given out": struct.pack("<IIQ", RELEASE, 0, APERTURE + (4 << 30)),
    "what was never registered": struct.pack("<IIQ", UNSHARE, 0, 4096),
    "a code object that is not": struct.pack("<IIQ", UNLOAD, 0, 77),
    "a launch of nothing": struct.pack("<IIQ9IIIII", LAUNCH, 0, 5, *[1] * 9, 0, 0, 0, 0),
    "an upload beyond staging": struct.pack("<IIQ", UPLOAD, 0, 1 << 30),
    "an allocation of another kind": struct.pack("<IIQ", ALLOCATE, 9, 10),
    "more memory than there is": struct.pack("<IIQ", ALLOCATE, 0, 1 << 60),
    "more pinned memory than there is": struct.pack("<IIQ", ALLOCATE, 2, 1 << 60),
    "no memory": struct.pack("<IIQ", ALLOCATE, 0, 0),
    "another greeting": struct.pack("<II", HELLO, VERSION),
    "a command that is none": struct.pack("<II", 99, 0),
    "two bytes": b"ab",
}


@pytest.mark.parametrize("name", REFUSED_REQUESTS)
def test_requests_that_no_runtime_makes(device: Device, name: str) -> None:
    """Refused, or the end of the channel; the next one works."""
    with device.connection() as connection:
        channel = Channel(connection)
        try:
            status, _, payload = channel.ask(REFUSED_REQUESTS[name])
            assert status in (OUT_OF_MEMORY, REFUSED)
            assert payload == b""
        except Closed:
            pass
        serves(connection)


def test_a_code_object_that_is_none(device: Device) -> None:
    with device.connection() as connection:
        channel = Channel(connection)
        assert channel.ask(struct.pack("<IIQ", UPLOAD, 0, 4096))[0] == OK
        status, number, message = channel.ask(struct.pack("<II", LOAD, 0))
        assert (status, number) == (MALFORMED, 0)
        assert message
        serves(connection)


def test_another_version_is_not_served(device: Device) -> None:
    with device.connection() as connection:
        channel = Channel(connection, hello=False)
        with pytest.raises(Closed):
            channel.ask(struct.pack("<II", HELLO, VERSION + 1))


def test_memory_is_given_back_before_it_is_used_no_more(device: Device) -> None:
    with device.connection() as connection:
        channel = Channel(connection)
        _, address = channel.allocate(4096)
        release = struct.pack("<IIQ", RELEASE, 0, address)
        assert channel.ask(release)[0] == OK
        assert channel.ask(release)[0] == REFUSED
        assert channel.read(address, 4) == (REFUSED, b"")
        assert channel.write(address, b"late") == REFUSED


def test_one_connection_does_not_see_anothers_memory(device: Device) -> None:
    with device.connection() as first, device.connection() as second:
        one, other = Channel(first), Channel(second)
        _, address = one.allocate(4096)
        assert one.write(address, b"secret") == OK
        assert other.read(address, 6) == (REFUSED, b"")
        _, same = other.allocate(4096)
        assert same == address
        assert other.read(same, 6) == (OK, bytes(6))


def test_thousands_of_messages_and_channels(device: Device) -> None:
    with device.connection() as connection:
        for _ in range(400):
            Channel(connection).close()
        channel = Channel(connection)
        for size in range(1, 3000):
            status, address = channel.allocate(size)
            assert status == OK
            channel.ask(struct.pack("<IIQ", RELEASE, 0, address))
        serves(connection)


def test_thousands_of_connections(device: Device) -> None:
    for _ in range(1500):
        with device.connection():
            pass
    device.works()


def test_channels_beyond_the_limit_are_closed(device: Device) -> None:
    with device.connection() as connection, ExitStack() as stack:
        served = 0
        for _ in range(200):
            try:
                stack.callback(Channel(connection).close)
                served += 1
            except Closed:
                pass
        assert served == 128
    device.works()


def test_blocks_beyond_the_limit_are_refused(device: Device) -> None:
    """Mappings are bounded: the process does not run into the kernel's limit of them."""
    with device.connection() as connection:
        channel = Channel(connection)
        statuses = [channel.allocate(1)[0] for _ in range(30_100)]
        assert statuses.count(OK) == 30_000
        assert set(statuses[30_000:]) == {OUT_OF_MEMORY}


def test_a_program_that_stops_reading_holds_up_nobody(device: Device) -> None:
    with device.connection() as connection:
        silent = Channel(connection)
        _, address = silent.allocate(1 << 16)
        silent.socket.setblocking(False)
        with pytest.raises(BlockingIOError):
            for _ in range(10_000):
                silent.send(copy(MESSAGE, 0, MEMORY, address, 60_000))
        serves(connection)
    device.works()


def test_a_channel_closed_in_the_middle_of_a_request(device: Device) -> None:
    with device.connection() as connection:
        for _ in range(200):
            channel = Channel(connection)
            channel.send(struct.pack("<IIQ", ALLOCATE, 0, 1 << 20))
            channel.close()
        serves(connection)
