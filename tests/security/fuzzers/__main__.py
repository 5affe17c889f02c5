"""``python -m tests.security.fuzzers [--seconds N] [--jobs N] [--work FOLDER] [TARGET ...]``.

Runs each fuzzer for N seconds of wall time in each of its jobs, from the kept corpus, and prints a
table. What is new goes to ``FOLDER/TARGET/corpus``, what crashed to ``FOLDER/TARGET/found``; exit
status 1 if anything did.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from pathlib import Path

from tests.security.fuzzers.build_engine import ENGINE_TARGETS, build_engine_fuzzer

_HERE = Path(__file__).parent
_LONGEST = {"archive": 8192, "code_object": 16384, "cubin": 16384, "containers": 16384}
_SECONDS_AN_INPUT = 10
_MEMORY_MIB = 2048


def main() -> int:
    """Exit status 0 when nothing was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument("--jobs", type=int, default=1, help="processes of each target")
    parser.add_argument("--work", type=Path, default=Path("build/fuzz"))
    parser.add_argument("targets", nargs="*", metavar="TARGET")
    given = parser.parse_args()
    known = _known()
    names = given.targets or known
    if unknown := sorted(set(names) - set(known)):
        parser.error(f"no target {unknown[0]}; there are {', '.join(known)}")
    running = {}
    for name in names:
        for job in range(given.jobs):
            running[name, job] = _start(name, job, given.work, given.seconds)
    print(f"{'target':<14}{'inputs tried':>14}{'edges':>8}{'kept':>8}  found")
    failed = False
    for (name, job), process in running.items():
        status = process.wait()
        folder = given.work / name
        log = (folder / f"log-{job}.txt").read_text("utf-8", "replace")
        found = sorted(path.name for path in (folder / "found").iterdir())
        failed |= bool(found) or status != 0
        tried = _last(r"stat::number_of_executed_units:\s+(\d+)", log)
        edges = _last(r"cov: (\d+)", log)
        kept = len(list((folder / "corpus").iterdir()))
        print(f"{name:<14}{tried:>14}{edges:>8}{kept:>8}  {', '.join(found) or 'nothing'}")
    return int(failed)


def _known() -> list[str]:
    from tests.security.fuzzers.targets import TARGETS

    return [*TARGETS, *ENGINE_TARGETS]


def _start(name: str, job: int, work: Path, seconds: int) -> subprocess.Popen[bytes]:
    folder = (work / name).resolve()
    for part in ("corpus", "found"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    if name in ENGINE_TARGETS:
        command = [str(build_engine_fuzzer(name, work.resolve()))]
    else:
        command = [sys.executable, "-m", "tests.security.fuzzers.run_python", name]
    command += [
        f"-max_total_time={seconds}",
        f"-timeout={_SECONDS_AN_INPUT}",
        f"-rss_limit_mb={_MEMORY_MIB}",
        f"-max_len={_LONGEST.get(name, 4096)}",
        f"-artifact_prefix={folder}/found/",
        f"-seed={job + 1}",
        "-print_final_stats=1",
        "-reload=30",
        str(folder / "corpus"),
    ]
    if (kept := _HERE / "corpus" / name).is_dir():
        command.append(str(kept))
    with (folder / f"log-{job}.txt").open("wb") as log:
        return subprocess.Popen(command, stdout=log, stderr=log, env={**os.environ})


def _last(pattern: str, log: str) -> str:
    found: list[str] = re.findall(pattern, log)
    return found[-1] if found else "?"


if __name__ == "__main__":
    sys.exit(main())
