"""What workers say, in a file of the run's folder, said again by the process that waits for them.

Ray would forward everything that its workers and its own processes write; what a run says of its
progress is a part of that.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

_SECONDS = 0.3


def write_line(path: Path, text: str) -> None:
    """Append ``text`` to what is followed; for a worker's log, it is printed as well."""
    print(text, flush=True)
    with path.open("a", encoding="utf-8") as stream:
        stream.write(text + "\n")


class ProgressWriter:
    """An actor beside the followed file, for workers that do not see it."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def write(self, text: str) -> None:
        write_line(self._path, text)


@contextmanager
def followed(path: Path, say: Callable[[str], None]) -> Iterator[None]:
    """Say each whole line that appears in ``path``, which is emptied first, until the block ends.

    Nothing that was written before the end is left out.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"")
    over = threading.Event()

    def follow() -> None:
        with path.open("rb") as stream:
            rest = b""
            while True:
                last = over.is_set()
                *lines, rest = (rest + stream.read()).split(b"\n")
                for line in lines:
                    say(line.decode("utf-8", "replace"))
                if last:
                    return
                over.wait(_SECONDS)

    thread = threading.Thread(target=follow, name="progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
