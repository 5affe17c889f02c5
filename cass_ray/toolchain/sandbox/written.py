"""The files that a program leaves in its working folder: an archive behind its standard error.

Process 1 of the sandbox writes it once the program has ended, behind a mark. The program can read
the mark in the command line of process 1, and can do no more with it than write other files. All
runs of one of our processes have the same mark, so that no run tells which mode it is in.
"""

from __future__ import annotations

import io
import secrets
import shlex
import tarfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

WRITTEN_BYTES = 1 << 20
"""What is taken of an archive; files behind that are not seen."""

_MARK = secrets.token_hex(16)


@dataclass(frozen=True)
class Archive:
    """Asks for the files of one run in ``folder``, which had the entries ``given`` before."""

    folder: Path
    given: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """For :attr:`~cass_ray.toolchain.sandbox.isolation.View.at_end`."""
        left_out = [shlex.quote(f"--exclude=./{name}") for name in self.given]
        tar = ["tar --sort=name --no-wildcards --anchored", *left_out, "-cf - ."]
        return (
            f'cd {shlex.quote(str(self.folder))}; set -- *; if [ -e "$1" ]; then'
            f" {{ printf {_MARK}; {' '.join(tar)} | head -c {WRITTEN_BYTES}; }} >&3; fi; "
        )

    def split(self, stderr: bytes) -> tuple[bytes, dict[str, bytes]]:
        """What the program itself printed there, and the files that it left, by name."""
        printed, mark, archive = stderr.rpartition(_MARK.encode())
        return (printed, dict(_files(archive))) if mark else (stderr, {})


def _files(archive: bytes) -> Iterable[tuple[str, bytes]]:
    try:
        with tarfile.open(fileobj=io.BytesIO(archive), mode="r|") as members:
            for member in members:
                content = members.extractfile(member) if member.isreg() else None
                if content is not None:
                    yield member.name.removeprefix("./"), content.read()
    except (tarfile.TarError, EOFError, ValueError):  # it was cut, or is no archive
        return
