"""What a person sees while a command works: a line on the terminal that goes away at the end.

It appears after two seconds, on standard error and only where that is a terminal: what a command
prints is the same with it and without.
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


@contextmanager
def waiting(
    what: str, *, console: Console | None = None, silent_seconds: float = _SILENT_SECONDS
) -> Iterator[Callable[[str], None]]:
    """Show ``what`` and the time that it takes; the function given says something newer."""
    console = console or Console(stderr=True)
    if quiet() or not console.is_terminal:
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
