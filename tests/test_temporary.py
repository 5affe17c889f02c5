"""Folders of processes that were killed are removed by the next start, those of others stay."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from cass_ray.temporary import sweep, temporary_prefix

MAKES_ONE = """
import sys, tempfile, time
from cass_ray.temporary import temporary_prefix
print(tempfile.mkdtemp(prefix=temporary_prefix("trees"), dir=sys.argv[1]), flush=True)
time.sleep(600)
"""


def left_behind(parent: Path) -> Path:
    """The folder of a process that was killed, with something in it."""
    child = subprocess.Popen(
        [sys.executable, "-c", MAKES_ONE, str(parent)], stdout=subprocess.PIPE, text=True
    )
    assert child.stdout is not None
    folder = Path(child.stdout.readline().strip())
    (folder / "tree").mkdir()
    (folder / "tree" / "a.cu").write_text("int x;\n")
    child.kill()
    child.wait()
    child.stdout.close()
    return folder


def test_what_a_killed_process_left_goes(tmp_path: Path) -> None:
    gone = left_behind(tmp_path)
    own = tmp_path / f"{temporary_prefix('trees')}abc"
    own.mkdir()
    # Another program's, another container's, one without an owner, and a link to something.
    others = [tmp_path / name for name in ("cass-notes", "cass-trees-abcdef", "cass-trees-1-1-a")]
    for folder in others:
        folder.mkdir()
    link = tmp_path / gone.name.replace("trees", "link")
    link.symlink_to(own)
    sweep(tmp_path)
    assert not gone.exists()
    assert own.exists() and link.is_symlink() and all(folder.exists() for folder in others)


INTERRUPTED = """
import select
from cass_ray.interrupts import end_as_interrupted
end_as_interrupted()
try:
    print("ready", flush=True)
    while True:
        select.select([], [], [], 0.05)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


def test_a_request_to_end_is_an_interrupt() -> None:
    child = subprocess.Popen([sys.executable, "-c", INTERRUPTED], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None and child.stdout.readline() == "ready\n"
    os.kill(child.pid, signal.SIGTERM)
    assert child.communicate()[0] == "interrupted\n"
    assert child.returncode == 0


FORKED = """
import os, select, signal
from cass_ray.interrupts import end_as_interrupted
end_as_interrupted()
ready, says = os.pipe()
child = os.fork()
if child == 0:
    try:
        os.write(says, b".")  # Python forgets signals that come while it forks
        while True:  # a signal just before a call that waits is seen behind it
            select.select([], [], [], 0.05)
    finally:
        os._exit(7)
os.read(ready, 1)
os.kill(child, signal.SIGTERM)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def test_a_child_ends_as_without_it() -> None:
    done = subprocess.run(
        [sys.executable, "-c", FORKED], capture_output=True, text=True, check=True
    )
    assert done.stdout == f"{-signal.SIGTERM}\n"
