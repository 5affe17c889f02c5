"""What a session of ours listens on: nothing that other machines reach."""

from __future__ import annotations

import ipaddress
import json
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from tests.folders import REPOSITORY

# In a process of its own, with a worker; prints where it and its descendants listen.
SESSION = """
import json, os, ray
from actors.session import LEAN_NODE, start_local
from tests.security.test_ports import descendants, listening
start_local(_system_config=LEAN_NODE, num_cpus=1, logging_level="error", log_to_driver=False)
ray.get(ray.remote(lambda: 1).remote())
print(json.dumps(listening(descendants(os.getpid()))))
"""


def descendants(root: int) -> list[int]:
    found = [root]
    for pid in found:
        with suppress(OSError):
            for task in Path(f"/proc/{pid}/task").glob("*/children"):
                found += map(int, task.read_text().split())
    return found


def listening(processes: list[int]) -> dict[str, str]:
    """Address by "port command" of every TCP socket that ``processes`` listen on (proc(5))."""
    owners = {}
    for pid in processes:
        with suppress(OSError):  # it has ended, or closed the file
            command = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[0].decode()
            for file in Path(f"/proc/{pid}/fd").iterdir():
                with suppress(FileNotFoundError):
                    owners[str(file.readlink())] = Path(command).name
    found = {}
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/self/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            owner = owners.get(f"socket:[{fields[9]}]")
            if fields[3] == "0A" and owner is not None:  # TCP_LISTEN
                address, port = fields[1].split(":")
                found[f"{int(port, 16)} {owner}"] = _address(bytes.fromhex(address))
    return found


def _address(raw: bytes) -> str:
    """The kernel prints each four bytes as a number in the order of this machine."""
    words = [raw[at : at + 4][::-1] for at in range(0, len(raw), 4)]
    address = ipaddress.ip_address(b"".join(words))
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped:
        address = address.ipv4_mapped
    return str(address)


def session(**variables: str) -> dict[str, str]:
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY), **variables}
    command = [sys.executable, "-c", SESSION]
    done = subprocess.run(command, cwd=REPOSITORY, env=environment, capture_output=True, check=True)
    made: dict[str, str] = json.loads(done.stdout.splitlines()[-1])
    return made


@pytest.mark.skipif(sys.byteorder != "little", reason="addresses are read for x86-64")
def test_a_local_session_is_not_reached_from_outside() -> None:
    found = session()
    assert len(found) > 5
    outside = {port: at for port, at in found.items() if not ipaddress.ip_address(at).is_loopback}
    assert outside == {}


@pytest.mark.slow
def test_a_session_is_reached_where_that_is_asked_for() -> None:
    found = session(RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER="1")
    assert not all(ipaddress.ip_address(at).is_loopback for at in found.values())
