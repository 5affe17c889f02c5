"""What a person sees while a command works: a line on the terminal that goes away at the end.

It appears after two seconds, on standard error and only where that is a terminal. Elsewhere a
command may say once what it does, if that takes long.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from cass_ray.printable import printable
from cass_ray.verbosity import quiet

_SILENT_SECONDS = 2.0
SLOW_SECONDS = 10.0
"""For ``slow_seconds`` of commands that build parts on their first use."""


@contextmanager
def waiting(
    what: str,
    *,
    console: Console | None = None,
    silent_seconds: float = _SILENT_SECONDS,
    slow_seconds: float | None = None,
) -> Iterator[Callable[[str], None]]:
    """Show ``what`` and the time that it takes; the function given says something newer.

    Where there is no terminal ``what`` is printed once, after ``slow_seconds`` if they are given.
    """
    console = console or Console(stderr=True)
    if quiet():
        yield lambda said: None
        return
    if not console.is_terminal:
        with _said_once(what, console, slow_seconds):
            yield lambda said: None
        return
    columns = SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn()
    progress = Progress(*columns, console=console, transient=True)
    line = progress.add_task(printable(what))
    timer = threading.Timer(silent_seconds, progress.start)
    timer.daemon = True
    timer.start()
    try:
        yield lambda said: progress.update(line, description=printable(said))
    finally:
        timer.cancel()
        timer.join()
        progress.stop()


@contextmanager
def _said_once(what: str, console: Console, seconds: float | None) -> Iterator[None]:
    if seconds is None:
        yield
        return
    line = printable(f"cass: {what}; the first use builds parts that later ones find (minutes)")
    timer = threading.Timer(seconds, lambda: console.file.write(f"{line}\n"))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
