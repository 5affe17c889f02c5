"""Where a wheel is, by pip itself: its index, its mirrors, its credentials."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass

from cass_ray.toolchain.provided.errors import HeadersError

_SECONDS = 300
_PLATFORM = (
    "--only-binary=:all:",
    "--python-version=3.11",
    "--implementation=cp",
    "--abi=cp311",
    *(f"--platform=manylinux_2_{minor}_x86_64" for minor in range(28, 4, -1)),
    *(f"--platform=manylinux{year}_x86_64" for year in ("2014", "2010", "1")),
)
"""One platform for all machines: headers do not depend on Python, digests of wheels do."""


@dataclass(frozen=True)
class Wheel:
    """A wheel of the index."""

    url: str
    version: str


def find_wheel(requirement: str) -> Wheel:
    """The wheel that pip would install for ``requirement``; nothing is downloaded.

    Raises :class:`HeadersError` with pip's own message.
    """
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pip", "install", "--dry-run", "--quiet", "--no-deps"]
        command += ["--ignore-installed", "--disable-pip-version-check", "--report", "-"]
        command += [*_PLATFORM, "--target", folder, requirement]
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, check=False, timeout=_SECONDS
            )
        except subprocess.TimeoutExpired as error:
            raise HeadersError(f"pip: no answer about {requirement}") from error
    if done.returncode != 0:
        raise HeadersError(f"pip finds no {requirement}: {done.stderr.strip()[-400:]}")
    try:
        [wheel] = json.loads(done.stdout)["install"]
        return Wheel(wheel["download_info"]["url"], wheel["metadata"]["version"])
    except (ValueError, KeyError, TypeError) as error:
        raise HeadersError(f"pip's report about {requirement} is not understood") from error
