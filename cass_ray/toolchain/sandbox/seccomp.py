"""The system calls that a program under test may not make, as a filter for bubblewrap.

``bwrap --seccomp FD`` takes a classic BPF program over ``struct seccomp_data`` (seccomp(2)). A
forbidden call ends the process with SIGSYS, which is how a violation is told from other deaths. The
filter does not replace the name spaces: it keeps programs away from parts of the kernel that a GPU
program has no use for, and makes the attempt visible.
"""

from __future__ import annotations

import errno
import functools
import struct
from dataclasses import dataclass
from pathlib import Path

from cass_ray.csv_tables import read_rows

AUDIT_ARCH_X86_64 = 0xC000003E
_X32_BIT = 0x4000_0000

_ALLOW = 0x7FFF_0000
_KILL_PROCESS = 0x8000_0000
_ERRNO = 0x0005_0000

_LOAD, _JUMP_EQUAL, _JUMP_AT_LEAST, _JUMP_ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06

# Offsets in struct seccomp_data; of an argument the low word, little-endian.
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT = 0, 4, 16

_CALLS = read_rows(Path(__file__).with_name("system_calls.csv"))
FORBIDDEN = {
    row["name"]: int(row["number"]) for row in _CALLS if row["answer"] == "ends the process"
}
"""Numbers of the x86-64 system calls that end the process (the kernel's syscall_64.tbl)."""

ABSENT = {row["name"]: int(row["number"]) for row in _CALLS if row["answer"] == "ENOSYS"}
"""Answered with ENOSYS: System V segments and queues, memory that outlives its process; io_uring,
whose operations no filter sees, and without which libuv (CMake 4, Node) does the same by calls."""

_SOCKET, _CLONE, _CLONE3, _MEMFD_CREATE = 41, 56, 435, 319
_UNIX_FAMILY = 1
_NAMESPACE_FLAGS = 0x7E02_0080
"""CLONE_NEWTIME, _NEWNS, _NEWCGROUP, _NEWUTS, _NEWIPC, _NEWUSER, _NEWPID and _NEWNET."""


@dataclass(frozen=True)
class _Instruction:
    code: int
    value: int
    if_true: int = 0
    if_false: int = 0

    def pack(self) -> bytes:
        return struct.pack("<HBBI", self.code, self.if_true, self.if_false, self.value)


@functools.cache
def filter_program(
    *, strict_sockets: bool = True, refused_sockets: bool = False, memory_files: bool = True
) -> bytes:
    """The filter as an array of ``struct sock_filter``.

    ``strict_sockets`` forbids every socket that is not a local one; without it only creating name
    spaces and :data:`FORBIDDEN` calls end the process (a GPU driver may open other sockets).
    With ``refused_sockets`` a forbidden one answers EAFNOSUPPORT instead of ending the process.
    Without ``memory_files``, where no control group bounds them, ``memfd_create`` answers ENOSYS.
    ``clone3`` answers ENOSYS, so that the C library uses ``clone``, whose flags can be read.
    """
    program = [
        _Instruction(_LOAD, _ARCHITECTURE),
        _Instruction(_JUMP_EQUAL, AUDIT_ARCH_X86_64, 1, 0),
        _Instruction(_RETURN, _KILL_PROCESS),
        _Instruction(_LOAD, _NUMBER),
        _Instruction(_JUMP_AT_LEAST, _X32_BIT, 0, 1),
        _Instruction(_RETURN, _KILL_PROCESS),
    ]
    absent = {*ABSENT.values(), _CLONE3} | (set() if memory_files else {_MEMFD_CREATE})
    for number in sorted(absent):
        program += [
            _Instruction(_JUMP_EQUAL, number, 0, 1),
            _Instruction(_RETURN, _ERRNO | errno.ENOSYS),
        ]
    for number in sorted(FORBIDDEN.values()):
        program += [
            _Instruction(_JUMP_EQUAL, number, 0, 1),
            _Instruction(_RETURN, _KILL_PROCESS),
        ]
    # A false first test skips to the next block: load, test, return, return.
    program += [
        _Instruction(_JUMP_EQUAL, _CLONE, 0, 4),
        _Instruction(_LOAD, _FIRST_ARGUMENT),
        _Instruction(_JUMP_ANY_BIT, _NAMESPACE_FLAGS, 0, 1),
        _Instruction(_RETURN, _KILL_PROCESS),
        _Instruction(_RETURN, _ALLOW),
    ]
    if strict_sockets:
        refused = _ERRNO | errno.EAFNOSUPPORT if refused_sockets else _KILL_PROCESS
        program += [
            _Instruction(_JUMP_EQUAL, _SOCKET, 0, 4),
            _Instruction(_LOAD, _FIRST_ARGUMENT),
            _Instruction(_JUMP_EQUAL, _UNIX_FAMILY, 1, 0),
            _Instruction(_RETURN, refused),
            _Instruction(_RETURN, _ALLOW),
        ]
    program.append(_Instruction(_RETURN, _ALLOW))
    return b"".join(instruction.pack() for instruction in program)
