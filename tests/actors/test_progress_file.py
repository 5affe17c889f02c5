"""Lines of workers reach the process that waits for them, all and in order."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from actors.progress_file import followed, write_line

WORKER = """
import sys
from pathlib import Path
from actors.progress_file import write_line
for number in range(200):
    write_line(Path(sys.argv[1]), f"step {number} · läuft")
"""


def test_lines_of_another_process_are_said_in_order(tmp_path: Path) -> None:
    path, heard = tmp_path / "run" / "progress.log", list[str]()
    path.parent.mkdir()
    path.write_text("of an earlier run\n")
    with followed(path, heard.append):
        subprocess.run([sys.executable, "-c", WORKER, str(path)], check=True, capture_output=True)
    assert heard == [f"step {number} · läuft" for number in range(200)]


def test_what_was_said_before_a_failure_is_heard(tmp_path: Path) -> None:
    path, heard = tmp_path / "progress.log", list[str]()
    with pytest.raises(RuntimeError), followed(path, heard.append):
        write_line(path, "the last words")
        raise RuntimeError("the worker died")
    assert heard == ["the last words"]
