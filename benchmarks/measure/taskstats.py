"""The kernel's own account of every process that ends: taskstats over generic netlink.

One record comes for each thread at its exit, with the CPU time that the scheduler counted in
nanoseconds. It comes whatever the parent does; ``getrusage(RUSAGE_CHILDREN)`` knows nothing of
children whose parent ignores ``SIGCHLD`` (Ray's raylet does). The record is made at the start of
the exit: freeing the memory, and what ran since the last tick, is not in it.

Layouts: ``linux/taskstats.h`` (version 12, Linux 5.19, or newer), ``linux/genetlink.h``,
``Documentation/accounting/taskstats.rst``. Reading needs ``CAP_NET_ADMIN`` in the initial user and
process name spaces: root on the machine, not in an ordinary container.
"""

from __future__ import annotations

import ctypes
import os
import socket
import struct
import time
from collections.abc import Iterator
from dataclasses import dataclass
from types import TracebackType

_NETLINK_GENERIC = 16
_SO_RCVBUFFORCE = 33
_NLMSG_ERROR = 2
_NLM_F_REQUEST, _NLM_F_ACK = 1, 4
_GENL_ID_CTRL, _CTRL_CMD_GETFAMILY = 16, 3
_CTRL_ATTR_FAMILY_ID, _CTRL_ATTR_FAMILY_NAME = 1, 2
_CMD_GET = 1
_ATTR_REGISTER_CPUMASK = 3
_TYPE_STATS, _TYPE_AGGR_PID = 3, 4
_GENL_HEADER_BYTES, _NETLINK_HEADER_BYTES = 4, 16
_RECEIVE_BYTES = 64 << 20
_RECORD_BYTES = 1 << 16
_OLDEST_VERSION = 12
_MOVED_FIELDS_VERSION = 15
"""Linux 6.14 put fields in the middle of the record; version 16 moved them to its end."""


class TaskstatsUnavailableError(RuntimeError):
    """The kernel gives no exit records here; the message says why."""


class Record(ctypes.Structure):
    """``struct taskstats`` up to the end of version 12."""

    _fields_ = [
        ("version", ctypes.c_uint16),
        ("ac_exitcode", ctypes.c_uint32),
        ("ac_flag", ctypes.c_uint8),
        ("ac_nice", ctypes.c_uint8),
        ("cpu_count", ctypes.c_uint64),
        ("cpu_delay_total", ctypes.c_uint64),
        ("blkio_count", ctypes.c_uint64),
        ("blkio_delay_total", ctypes.c_uint64),
        ("swapin_count", ctypes.c_uint64),
        ("swapin_delay_total", ctypes.c_uint64),
        ("cpu_run_real_total", ctypes.c_uint64),
        ("cpu_run_virtual_total", ctypes.c_uint64),
        ("ac_comm", ctypes.c_char * 32),
        ("ac_sched", ctypes.c_uint8),
        ("ac_pad", ctypes.c_uint8 * 3),
        ("_align_uid", ctypes.c_uint32),
        ("ac_uid", ctypes.c_uint32),
        ("ac_gid", ctypes.c_uint32),
        ("ac_pid", ctypes.c_uint32),
        ("ac_ppid", ctypes.c_uint32),
        ("ac_btime", ctypes.c_uint32),
        ("ac_etime", ctypes.c_uint64),
        ("ac_utime", ctypes.c_uint64),
        ("ac_stime", ctypes.c_uint64),
        ("ac_minflt", ctypes.c_uint64),
        ("ac_majflt", ctypes.c_uint64),
        ("coremem", ctypes.c_uint64),
        ("virtmem", ctypes.c_uint64),
        ("hiwater_rss", ctypes.c_uint64),
        ("hiwater_vm", ctypes.c_uint64),
        ("characters_and_calls", ctypes.c_uint64 * 4),
        ("bytes_of_storage", ctypes.c_uint64 * 3),
        ("switches", ctypes.c_uint64 * 2),
        ("scaled", ctypes.c_uint64 * 3),
        ("freepages", ctypes.c_uint64 * 2),
        ("thrashing", ctypes.c_uint64 * 2),
        ("ac_btime64", ctypes.c_uint64),
        ("compact", ctypes.c_uint64 * 2),
        ("ac_tgid", ctypes.c_uint32),
        ("ac_tgetime", ctypes.c_uint64),
        ("ac_exe_dev", ctypes.c_uint64),
        ("ac_exe_inode", ctypes.c_uint64),
    ]


@dataclass(frozen=True)
class ThreadExit:
    """One thread that ended. ``ended`` is when its record was read (``time.monotonic``)."""

    thread: int
    process: int
    parent: int
    name: str
    cpu_seconds: float
    elapsed_seconds: float
    peak_bytes: int
    ended: float


class ExitRecords:
    """The exits of the machine's threads from the moment it is opened (a context manager).

    Iterate to receive them; the kernel keeps what is not read yet, up to 64 MiB.
    Raises :class:`TaskstatsUnavailableError` on entry where the kernel gives no records.
    """

    def __enter__(self) -> ExitRecords:
        try:
            self._socket = _subscribe()
        except OSError as error:
            raise TaskstatsUnavailableError(f"the kernel gives no exit records: {error}") from error
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._socket.close()

    def __iter__(self) -> Iterator[ThreadExit]:
        """Exits without end, as they happen.

        Raises ``OSError`` (``ENOBUFS``) when the kernel had to drop records: no sum is right then.
        """
        while True:
            data = self._socket.recv(_RECORD_BYTES)
            now = time.monotonic()
            yield from (_thread_exit(record, now) for record in parse(data))


def parse(data: bytes) -> Iterator[Record]:
    """The thread records in one netlink datagram; records of whole processes are passed over."""
    kind = struct.unpack_from("=IHHII", data)[1]
    if kind == _NLMSG_ERROR:
        return
    for name, payload in _attributes(data[_NETLINK_HEADER_BYTES + _GENL_HEADER_BYTES :]):
        if name != _TYPE_AGGR_PID:
            continue
        for inner, body in _attributes(payload):
            if inner == _TYPE_STATS:
                yield _record(body)


def _record(body: bytes) -> Record:
    (version,) = struct.unpack_from("=H", body)
    if version < _OLDEST_VERSION or version == _MOVED_FIELDS_VERSION:
        raise TaskstatsUnavailableError(f"records of version {version} are not understood")
    return Record.from_buffer_copy(body)


def _thread_exit(record: Record, now: float) -> ThreadExit:
    return ThreadExit(
        thread=record.ac_pid,
        process=record.ac_tgid,
        parent=record.ac_ppid,
        name=record.ac_comm.decode(errors="replace"),
        cpu_seconds=record.cpu_run_virtual_total / 1e9,
        elapsed_seconds=record.ac_etime / 1e6,
        peak_bytes=record.hiwater_rss * 1024,
        ended=now,
    )


def _attributes(data: bytes) -> Iterator[tuple[int, bytes]]:
    """(type, value) of each netlink attribute; they are aligned to four bytes."""
    offset = 0
    while offset + 4 <= len(data):
        length, kind = struct.unpack_from("=HH", data, offset)
        if length < 4:
            return
        yield kind, data[offset + 4 : offset + length]
        offset += (length + 3) & ~3


def _subscribe() -> socket.socket:
    """A netlink socket that receives the exits on every processor."""
    channel = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _NETLINK_GENERIC)
    try:
        channel.setsockopt(socket.SOL_SOCKET, _SO_RCVBUFFORCE, _RECEIVE_BYTES)
        channel.bind((0, 0))
        name = _attribute(_CTRL_ATTR_FAMILY_NAME, b"TASKSTATS\0")
        reply = _request(channel, _GENL_ID_CTRL, _CTRL_CMD_GETFAMILY, name)
        family = dict(_attributes(reply[_NETLINK_HEADER_BYTES + _GENL_HEADER_BYTES :]))
        (number,) = struct.unpack("=H", family[_CTRL_ATTR_FAMILY_ID])
        mask = f"0-{(os.cpu_count() or 1) - 1}".encode() + b"\0"
        _request(channel, number, _CMD_GET, _attribute(_ATTR_REGISTER_CPUMASK, mask))
    except OSError:
        channel.close()
        raise
    return channel


def _attribute(kind: int, value: bytes) -> bytes:
    return struct.pack("=HH", 4 + len(value), kind) + value + b"\0" * (-len(value) % 4)


def _request(channel: socket.socket, family: int, command: int, attributes: bytes) -> bytes:
    """Send one request and return its answer; an error answer raises ``OSError``.

    Only what brings an answer is asked with an acknowledgement, so that exactly one comes.
    """
    flags = _NLM_F_REQUEST | (_NLM_F_ACK if family != _GENL_ID_CTRL else 0)
    body = struct.pack("=BBH", command, 1, 0) + attributes
    header = struct.pack("=IHHII", _NETLINK_HEADER_BYTES + len(body), family, flags, 1, 0)
    channel.send(header + body)
    while True:
        reply = channel.recv(_RECORD_BYTES)
        _, kind, _, sequence, _ = struct.unpack_from("=IHHII", reply)
        if kind == _NLMSG_ERROR:
            (code,) = struct.unpack_from("=i", reply, _NETLINK_HEADER_BYTES)
            if code:
                raise OSError(-code, os.strerror(-code))
            return reply
        if kind == family and sequence == 1:
            return reply
