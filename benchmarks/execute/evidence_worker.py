"""Runs of one program under the tree that PYTHONPATH names; a line of JSON for each.

``python benchmarks/execute/evidence_worker.py WORK:TIMES ...``, started by
:mod:`benchmarks.execute.evidence`. Imports only what trees before the device process have too.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path, PurePosixPath

from cass_ray.corpus.reading.source_files import Sources
from cass_ray.execute.backends.base import Inputs
from cass_ray.execute.backends.rdna3 import Rdna3Backend


def main() -> None:
    """Command line; a line of standard input starts each round."""
    backend = Rdna3Backend()
    source = Path(__file__).with_name("evidence.hip").read_bytes()
    built = backend.build(Sources(PurePosixPath("main.hip"), {"main.hip": source}))
    for line in sys.stdin:
        work, _, times = line.strip().partition(":")
        started = time.perf_counter()
        ended = backend.run(built, Inputs((work, times))).ended
        whole = time.perf_counter() - started
        if not ended.ok:
            raise SystemExit(f"{work}: {ended}")
        made = {"whole": whole, "inside": float(ended.stdout), "cpu": ended.cpu_seconds}
        print(json.dumps(made), flush=True)


if __name__ == "__main__":
    main()
