"""Defects that one edit plants in right programs, and how many of them the checks name.

An edit is one that makes a program wrong whatever else it does, but for removed barriers: some
of those are not needed.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

_MEMCPY = r"\b(?:cuda|hip)Memcpy\(\s*(?P<to>[\w.()&\[\]]+?)\s*,\s*(?P<from>[\w.()&\[\]]+?)\s*,"
_LAUNCH = re.compile(r"<<<(?P<grid>[^<>;,]+),\s*(?P<block>\w+)\s*(?P<rest>[,>][^;]*?)?>>>")
_BARRIER = re.compile(r"^[ \t]*(__syncthreads\(\);)[ \t]*(?://.*)?$", re.MULTILINE)
_OF_A_KIND = 40
"""At most so many places of one kind are tried."""


@dataclass(frozen=True)
class Kind:
    """``pattern`` finds places, ``change`` says what stands there then; ``code`` is the number of
    the finding that names it."""

    name: str
    code: str
    pattern: re.Pattern[str]
    change: Callable[[re.Match[str]], str]
    of_hip: bool = False
    certain: bool = True
    """Whether every such edit makes a program wrong."""


def _replace(old: str, new: str) -> Callable[[re.Match[str]], str]:
    return lambda match: match[0].replace(old, new)


def _exchanged(match: re.Match[str]) -> str:
    start = match.start("to") - match.start()
    return f"{match[0][:start]}{match['from']}, {match['to']},"


def _block_of_2048(match: re.Match[str]) -> str:
    return f"<<<{match['grid']}, 2048{match['rest'] or ''}>>>"


def _rounded_down(match: re.Match[str]) -> str:
    return f"<<<{match['n']} / {match['block']},"


_COPY_IN = re.compile(r"\b(?:cuda|hip)Memcpy\([^;]*?MemcpyHostToDevice\b")
_COPY_OUT = re.compile(r"\b(?:cuda|hip)Memcpy\([^;]*?MemcpyDeviceToHost\b")
_FREE = re.compile(r"\b(?:cuda|hip)Free\(\w+\);")
_CEILING = re.compile(r"<<<\(?\(?(?P<n>[A-Za-z_]\w*) \+ (?P<block>\w+)(?: - 1)?\) / (?P=block)\)?,")
_EVENT_WAIT = re.compile(r"^.*\b(?:cuda|hip)EventSynchronize\(.*$", re.MULTILINE)
_WIDTH_OF_VOTE = re.compile(r"\bunsigned long long (?=\w+ = __ballot\()")
_REDUCTION = re.compile(r"= warpSize (?:/ 2|>> 1);(?=[^;]*;[^;]*\)\s*\{?[^;{}]*__shfl\w*\([^;]*;)")
_LANE = re.compile(r"threadIdx\.x % warpSize|threadIdx\.x & \(warpSize - 1\)")

KINDS = (
    Kind("copy in with the other direction", "CASS1018", _COPY_IN,
         _replace("HostToDevice", "DeviceToHost")),
    Kind("copy out with the other direction", "CASS1018", _COPY_OUT,
         _replace("DeviceToHost", "HostToDevice")),
    Kind("target and source of a copy exchanged", "CASS1018", re.compile(_MEMCPY), _exchanged),
    Kind("freed twice", "CASS1020", _FREE, lambda match: f"{match[0]} {match[0]}"),
    Kind("a block of 2,048 threads", "CASS1022", _LAUNCH, _block_of_2048),
    Kind("a grid that is rounded down", "CASS1022", _CEILING, _rounded_down),
    Kind("a barrier in a condition of threads", "CASS1025", _BARRIER,
         lambda match: match[0].replace("__sync", "if (threadIdx.x < 7) __sync")),
    Kind("no barrier", "CASS1026", _BARRIER, _replace("__syncthreads();", ";"),
         certain=False),
    Kind("no wait for an event", "CASS1024", _EVENT_WAIT, lambda match: ""),
    Kind("a vote in 32 bits", "CASS1016", _WIDTH_OF_VOTE, lambda match: "unsigned ", True),
    Kind("a sum from 16", "CASS1016", _REDUCTION,
         lambda match: match[0].replace("warpSize", "32", 1), True),
    Kind("a lane of 32", "CASS1016", _LANE, lambda match: "threadIdx.x % 32", True),
)  # fmt: skip


def plant(kind: Kind, programs: list[tuple[str, str]], seed: int) -> Iterator[tuple[str, str]]:
    """Name and text of up to ``_OF_A_KIND`` of ``programs``, wrong in one place each."""
    chosen = random.Random(f"{seed} {kind.name}")
    order = [each for each in programs if not kind.of_hip or "(hip)" in each[0]]
    chosen.shuffle(order)
    planted = 0
    for name, source in order:
        places = [(match, kind.change(match)) for match in kind.pattern.finditer(source)]
        changed = [(match, new) for match, new in places if new != match[0]]
        if not changed or planted == _OF_A_KIND:
            continue
        match, new = chosen.choice(changed)
        planted += 1
        yield name, source[: match.start()] + new + source[match.end() :]
