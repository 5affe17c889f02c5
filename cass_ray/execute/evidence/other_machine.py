"""Runs as on another machine: its name, user, process numbers, environment and clocks
(``other_machine.c``); what a program prints of them is then known to vary, and what it does because
of them is seen.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field, replace
from pathlib import Path

from cass_ray.execute.evidence.preloaded import with_preloaded
from cass_ray.toolchain.sandbox.executable import Exposure
from cass_ray.toolchain.sandbox.isolation import Identity

_SOURCE = Path(__file__).with_name("other_machine.c")
_KINDS = ("node", "gpu", "host", "ws", "login", "compute")
_PEOPLE = ("ada", "alan", "edsger", "grace", "john", "kurt", "mary", "niklaus")
_USERS = range(1001, 60_000)


@dataclass(frozen=True)
class OtherMachine:
    """What is seen of a machine; by chance unless told. Process numbers and clocks follow from its
    name."""

    hostname: str = field(
        default_factory=lambda: f"{secrets.choice(_KINDS)}-{secrets.token_hex(3)}"
    )
    person: str = field(default_factory=lambda: secrets.choice(_PEOPLE))
    user: int = field(default_factory=lambda: secrets.choice(_USERS))

    @property
    def environment(self) -> dict[str, str]:
        """What a log-in there sets. No locale: that would change what is printed."""
        return {
            "HOME": f"/home/{self.person}",
            "USER": self.person,
            "LOGNAME": self.person,
            "SHELL": "/bin/bash",
            "TERM": "xterm",
            "PATH": "/usr/bin:/bin",
        }


def on_other_machine(exposure: Exposure, machine: OtherMachine | None = None) -> Exposure:
    """``exposure`` there.

    Raises :class:`~cass_ray.toolchain.errors.ToolMissing` where no C compiler is there.
    """
    machine = machine or OtherMachine()
    preloaded = with_preloaded(exposure, _SOURCE)
    return replace(
        preloaded,
        environment={**machine.environment, **preloaded.environment},
        identity=Identity(machine.hostname, machine.user),
    )
