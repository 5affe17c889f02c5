"""A request to end (SIGTERM) ends a command as Ctrl-C does, which removes what it made."""

from __future__ import annotations

import os
import signal
import threading
from types import FrameType


def end_as_interrupted() -> None:
    """Have SIGTERM raise ``KeyboardInterrupt`` in this process, not in those that it forks.

    Ray's core takes the signal over when it starts, and writes stack frames: call this again then.
    Nothing happens outside of the main thread, where Python cannot set what a signal does.
    """
    if threading.current_thread() is not threading.main_thread():
        return
    own = os.getpid()

    def end(number: int, frame: FrameType | None) -> None:
        del frame
        if os.getpid() == own:
            raise KeyboardInterrupt
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    signal.signal(signal.SIGTERM, end)
