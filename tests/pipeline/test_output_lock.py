"""Two builds never write to the same folder."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from cass_ray.pipeline.output_lock import OutputBusy, output_lock

HOLD = """
import sys
from pathlib import Path
from cass_ray.pipeline.output_lock import output_lock
with output_lock(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_second_writer_is_refused_until_the_first_is_gone(tmp_path: Path) -> None:
    out = tmp_path / "new" / "out"
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(out)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(OutputBusy, match=f"another build writes to {out}"), output_lock(out):
            pass
        holder.kill()  # a build that is killed leaves no lock behind
    with output_lock(out):
        assert list(out.iterdir()) == []
