"""Commands replace a file that a command wrote and nobody has changed since, and no other file.

What was written is remembered by path and digest in the cache folder. Pipes, devices and empty
files hold nothing that could be lost.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from cass_ray.cache import default_directory, digest
from cass_ray.whole_file import write_whole

_LISTED = 3


class WouldOverwriteError(OSError):
    """A file is in the way that no command wrote, or that somebody changed since."""


def write_output(
    path: Path, data: bytes | str, *, overwrite: bool = False, inputs: Iterable[Path] = ()
) -> None:
    """Write ``data`` to ``path`` (see :func:`~cass_ray.whole_file.write_whole`).

    Raises:
        WouldOverwriteError: ``path`` is one of ``inputs``, or holds something else that no command
            wrote and ``overwrite`` is false.
        OSError: it cannot be written.
    """
    content = data.encode() if isinstance(data, str) else data
    if not _holds(path, content):
        check_outputs([path], overwrite=overwrite, inputs=inputs)
    write_whole(path, content)
    remember([path])


def check_outputs(
    paths: Iterable[Path], *, overwrite: bool = False, inputs: Iterable[Path] = ()
) -> None:
    """Raise :class:`WouldOverwriteError` where a command may not replace one of ``paths``.

    One of ``inputs`` may not be replaced with ``overwrite`` either.
    """
    inputs = list(inputs)
    in_the_way: list[Path] = []
    for path in paths:
        if not path.is_file():
            continue
        if any(each.exists() and path.samefile(each) for each in inputs):
            raise WouldOverwriteError(f"{path} is the input itself: give another output")
        if not overwrite and path.stat().st_size and not _was_written(path):
            in_the_way.append(path)
    if in_the_way:
        names = ", ".join(map(str, in_the_way[:_LISTED]))
        more = len(in_the_way) - _LISTED
        names += f" and {more} more" if more > 0 else ""
        verb = "is" if len(in_the_way) == 1 else "are"
        raise WouldOverwriteError(
            f"{names} {verb} there, and cass did not write what is in it: "
            "give another output, or --overwrite"
        )


def remember(paths: Iterable[Path]) -> None:
    """Note that a command wrote the present content of ``paths``, so that it may be replaced."""
    for path in paths:
        if path.is_file():
            note = _note(path)
            note.parent.mkdir(parents=True, exist_ok=True)
            write_whole(note, digest([path.read_bytes()]))


def _was_written(path: Path) -> bool:
    try:
        return _note(path).read_text() == digest([path.read_bytes()])
    except OSError:
        return False


def _holds(path: Path, content: bytes) -> bool:
    try:
        return (
            path.is_file() and path.stat().st_size == len(content) and path.read_bytes() == content
        )
    except OSError:
        return False


def _note(path: Path) -> Path:
    name = digest([os.fsencode(path.resolve())])
    return default_directory() / "written" / name[:2] / name
