"""Results that are there whole or not at all: what is asked for never lies half written."""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from pathlib import Path


def write_whole(path: Path, data: bytes | str, *, mode: int | None = None) -> None:
    """Write ``data`` (text as UTF-8) to ``path``, in place of what is there.

    It is written beside ``path`` and takes its name when it is complete: a full disk, an interrupt
    or a kill leave what was there before. A link is followed; a pipe or a device, and a file in a
    folder where none can be made, is written to as it is. ``mode`` are the permissions of the file,
    by default those of the one that is replaced, or what the umask leaves of 0666.

    Raises:
        OSError: it cannot be written; ``filename`` is ``path``.
    """
    content = data.encode() if isinstance(data, str) else data
    place = path.resolve() if path.is_symlink() else path
    part = place.with_name(f".{place.name[:200]}.{os.getpid()}.{threading.get_ident()}.part")
    if place.exists() and not (place.is_file() and os.access(place.parent, os.W_OK)):
        place.write_bytes(content)
        return
    if mode is None and place.exists():
        mode = place.stat().st_mode & 0o777
    try:
        part.write_bytes(content)
        if mode is not None:
            part.chmod(mode)
        part.replace(place)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)
