"""Run a command and outlive every process that it leaves behind.

``python subreaper.py RESULT GROUP COMMAND …`` joins the control group ``GROUP`` (its directory, or
an empty word), becomes the parent of orphans (``PR_SET_CHILD_SUBREAPER``, prctl(2)), so that
daemons of the command are waited for too, and writes ``RESULT`` (JSON): the command's exit status
and the CPU seconds of all children, as far as their parents waited for them.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import subprocess
import sys
from pathlib import Path

_PR_SET_CHILD_SUBREAPER = 36


def main(result: Path, group: str, command: list[str]) -> None:
    """Run ``command`` to the end of its last descendant."""
    if group:
        (Path(group) / "cgroup.procs").write_text(str(os.getpid()))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_CHILD_SUBREAPER)")
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL)
    status = 0
    while True:
        try:
            process, ended_with = os.wait()
        except ChildProcessError:
            break
        if process == child.pid:
            status = os.waitstatus_to_exitcode(ended_with)
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    result.write_text(
        json.dumps({"status": status, "cpu_seconds": usage.ru_utime + usage.ru_stime})
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[3:])
