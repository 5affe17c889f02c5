"""A supervised run and reinforcement learning from it, on a machine for so many seconds.

    R="python3 -m recipes.timed.run OUT"
    $R --parts PARTS/1 --seconds 1620 --wait 20 --home HOME   # begins; the machine ends in 1,620 s
    $R --parts PARTS/2 --home HOME                            # what else is needed, as it arrives
    $R --wait 590 --home HOME                                 # until the next phase has ended

``PARTS`` is what ``recipes.timed.parts`` wrote; a folder comes with each of the first
calls. The last call is repeated to the end, one right after the other where a machine that nobody
calls is given away; ``--until PHASE`` waits for one. ``--weights supervised:0`` (``:4``, ``:8``;
``rl:0`` …) brings four parts of a model in place of the records. ``--code --again`` takes a mended
tree and runs once more what failed.

A process in a session of its own runs the phases (:mod:`recipes.timed.phases`): data,
supervised training on all GPUs, its answers, reinforcement learning, the answers after it; beside
them on the CPUs the compiler of the judge, the questions, the verdicts. Where there are four GPUs,
two of them are for the loss in FP8, figures of training and, if it is told something
(``--second``), a second arm of reinforcement learning. Every call may be the last or the first: it
takes the parts that came with it, starts what is not running, waits (``--wait`` seconds, or until a
phase has ended) and copies to ``HOME`` a summary, ``status.json``, and the records, ``records.NN``
(``cat`` makes a .tar.xz of them). A phase that was interrupted goes on from what it saved;
OUT/done/NAME.json marks one that has ended.

Of 1,620 s on two H100 about 60 are for data, 500 for training, 90 for answers, 800 for
reinforcement learning, 120 for answers and verdicts after it; what one phase leaves, reinforcement
learning takes. Tried whole on a CPU with a tiny model, interrupted and gone on with; on GPUs not
yet.

Needed are Linux, Python with PyTorch, transformers and pyarrow, a shell; wheels among the parts are
installed in OUT/site (:mod:`recipes.timed.arrival`).
"""

from __future__ import annotations

import argparse
import fcntl
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import tarfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from recipes.timed.arrival import APART, SITE, arrived, take_parts
from recipes.timed.phases import (
    RESOURCES,
    Context,
    Lane,
    Phase,
    Plan,
    gpus_here,
    lane_environment,
    phases,
)

CODE = ("benchmarks", "cass_ray", "jobs", "recipes")
_HOME_BYTES = 15_000_000
"""Of a piece of the records."""
_SOFTLY = 5
"""Seconds in which a process may end by itself."""
MARK = "CASS_TIMED_RUN"
"""The variable that marks the processes of a run: its folder, the phase and the lane."""
_BEFORE_END = 8
"""Seconds before the machine is gone at which a call must begin to take things home."""
_LOOK = 0.2
"""Seconds between looks at what has changed."""


def say(text: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {text}", flush=True)


# --- The process that runs the phases -----------------------------------------------------------


class Conductor:
    """Runs the phases of the run in ``out`` until all have ended or the time is over."""

    def __init__(self, out: Path) -> None:
        self._out = out
        self._ended = threading.Event()

    def run(self) -> None:
        """Each resource has a thread of its own."""
        for name in ("done", "running", "logs"):
            (self._out / name).mkdir(exist_ok=True)
        self._end_leftovers()
        (self._out / "conductor.pid").write_text(str(os.getpid()))
        signal.signal(signal.SIGTERM, lambda *_: self._stop())
        made = phases(read_plan(self._out))
        threads = [
            threading.Thread(target=self._chain, args=([p for p in made if p.resource == kind],))
            for kind in RESOURCES
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        say("it was ended" if self._ended.is_set() else "all phases have ended")

    def _stop(self) -> None:
        self._ended.set()
        end_marked(f"{self._out}:")

    def _end_leftovers(self) -> None:
        """What a conductor that is no more has left running."""
        end_marked(f"{self._out}:")
        for path in (self._out / "running").iterdir():
            path.unlink()

    def _chain(self, chain: list[Phase]) -> None:
        for phase in chain:
            if self._ended.is_set():
                return
            if not (self._out / f"done/{phase.name}.json").exists():
                self._mark(phase, *self._phase(phase))

    def _mark(self, phase: Phase, problem: str, seconds: float) -> None:
        if self._ended.is_set():
            return
        say(f"{phase.name}: {problem or 'done'}, {seconds:.0f} s")
        row = {"problem": problem, "seconds": round(seconds, 1), "at": time.time()}
        part = self._out / f"done/.{phase.name}"
        part.write_text(json.dumps(row))
        part.rename(self._out / f"done/{phase.name}.json")

    def _phase(self, phase: Phase) -> tuple[str, float]:
        """Wait for what the phase needs, run it; what went wrong, and its seconds."""
        while True:
            left = self._left(phase)
            if left < phase.least:
                return "no time was left", 0.0
            for name in phase.needs:
                state = marker(self._out, name)
                if state is not None and state["problem"]:
                    return f"{name}: {state['problem']}", 0.0
            first = (*phase.needs, *phase.after)
            ready = all(marker(self._out, name) is not None for name in first)
            if ready and all(arrived(self._out, name) for name in phase.parts):
                break
            if self._ended.wait(_LOOK):
                return "ended", 0.0
        started, problem = time.monotonic(), ""
        for number, attempt in enumerate(phase.attempts):
            left = self._left(phase)
            if left < phase.least:
                return problem or "no time was left", time.monotonic() - started
            say(f"{phase.name} begins" + (f", attempt {number + 1}" if number else ""))
            context = Context(self._out, read_plan(self._out), left)
            problem = self._lanes(phase, attempt(context), left)
            if not problem or self._ended.is_set():
                break
            say(f"{phase.name}: {problem}")
        return problem, time.monotonic() - started

    def _left(self, phase: Phase) -> float:
        plan = read_plan(self._out)
        return min(plan.end - phase.before_end(plan) - time.time(), phase.longest(plan))

    def _lanes(self, phase: Phase, lanes: list[Lane], left: float) -> str:
        until, problems = time.monotonic() + left + phase.grace, list[str]()
        threads = [
            threading.Thread(target=self._lane, args=(phase, number, lane, until, problems))
            for number, lane in enumerate(lanes)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return "; ".join(problems)

    def _lane(
        self, phase: Phase, number: int, lane: Lane, until: float, problems: list[str]
    ) -> None:
        running = self._out / f"running/{phase.name}-{number}"
        mark = f"{self._out}:{phase.name}-{number}"
        own = lane_environment(lane) | {MARK: mark}
        environment = _environment(self._out, phase.apart) | own
        for command in lane.commands:
            with (self._out / f"logs/{phase.name}-{number}.log").open("ab") as log:
                process = subprocess.Popen(
                    ["nice", "-n", str(phase.nice), *command],
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    cwd=self._out / "code",
                    env=environment,
                    start_new_session=True,
                )
            running.touch()
            try:
                code = process.wait(max(until - time.monotonic(), 1))
            except subprocess.TimeoutExpired:
                code = -signal.SIGKILL
            end_marked(mark)  # all of it, and what it left behind
            process.wait()
            running.unlink(missing_ok=True)
            if code:
                problems.append(f"exit status {code} of {' '.join(command[2:5])}")
                return


def _environment(out: Path, apart: bool = False) -> dict[str, str]:
    sites = [out / SITE, *([out / APART] if apart else [])]
    path = os.pathsep.join(map(str, [*sites, out / "code"]))
    own = {"PYTHONPATH": path, "PYTHONUNBUFFERED": "1", "HF_HUB_OFFLINE": "1"}
    return os.environ | own | {"CASS_ALLOW_UNISOLATED": "1"}  # machines like this have no sandbox


def _marked(beginning: str) -> list[int]:
    """Processes in whose environment ``MARK`` begins so: the phases' and their descendants."""
    wanted, found = f"{MARK}={beginning}".encode(), []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            entries = (path / "environ").read_bytes().split(b"\0")
        except OSError:
            continue  # gone, or another's
        if any(entry.startswith(wanted) for entry in entries):
            found.append(int(path.name))
    return found


def end_marked(beginning: str) -> None:
    """End the processes that :func:`_marked` finds; after some seconds the hard way."""
    until = time.monotonic() + _SOFTLY
    how = signal.SIGTERM
    while found := _marked(beginning):
        for pid in found:
            try:
                os.kill(pid, how)
            except ProcessLookupError:
                continue
        if how is signal.SIGKILL:
            return
        while time.monotonic() < until and _marked(beginning):
            time.sleep(_LOOK)
        how = signal.SIGKILL


def marker(out: Path, name: str) -> dict[str, Any] | None:
    """How a phase ended; None where it has not."""
    path = out / f"done/{name}.json"
    return json.loads(path.read_text()) if path.exists() else None


def read_plan(out: Path) -> Plan:
    """The plan of the run in ``out``."""
    return Plan(**json.loads((out / "plan.json").read_text()))


def write_plan(plan: Plan, out: Path) -> None:
    part = out / ".plan.json"
    part.write_text(json.dumps(asdict(plan)))
    part.rename(out / "plan.json")


@contextmanager
def _alone(out: Path, seconds: float = 0) -> Iterator[bool]:
    """Whether no other process conducts the run in ``out``, tried for ``seconds``; none can then
    until the end."""
    until = time.monotonic() + seconds
    with (out / "conductor.lock").open("a") as lock:
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() < until:
                    time.sleep(_LOOK / 4)
                    continue
                yield False
                return
            break
        yield True


def conducted(out: Path) -> bool:
    """Whether a process conducts the run in ``out``."""
    with _alone(out) as alone:
        return not alone


# --- A call -------------------------------------------------------------------------------------


def begin(out: Path) -> None:
    """Start the process that runs the phases, unless there is one or nothing is left to do."""
    if conducted(out) or _all_ended(out):
        return
    with (out / "conductor.log").open("ab") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "recipes.timed.run", str(out), "--conduct"],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            cwd=out / "code",
            env=_environment(out),
            start_new_session=True,
        )
    while not conducted(out) and process.poll() is None:
        time.sleep(_LOOK)


def again(out: Path, names: list[str]) -> None:
    """End the process that runs the phases, and let those of ``names`` and those that failed run
    once more when the next one is started."""
    if conducted(out):
        os.kill(int((out / "conductor.pid").read_text()), signal.SIGTERM)
    with _alone(out, 4 * _SOFTLY):
        for name in _ended(out):
            state = marker(out, name)
            if name in names or (state is not None and state["problem"]):
                (out / f"done/{name}.json").unlink()


def _all_ended(out: Path) -> bool:
    return all(marker(out, phase.name) for phase in phases(read_plan(out)))


def _ended(out: Path) -> set[str]:
    return {path.stem for path in (out / "done").glob("[!.]*.json")}


def wait(out: Path, seconds: float, known: set[str]) -> None:
    """Until a phase has ended that is not in ``known``, or nothing runs any more."""
    until = time.monotonic() + seconds
    while time.monotonic() < until and _ended(out) <= known and conducted(out):
        time.sleep(_LOOK)


def wait_until(out: Path, seconds: float, name: str) -> None:
    """Until the phase ``name`` has ended, the machine is nearly gone, or nothing runs any more."""
    until = time.time() + min(seconds, read_plan(out).end - _BEFORE_END - time.time())
    while time.time() < until and marker(out, name) is None and conducted(out):
        time.sleep(_LOOK)


def status(out: Path) -> dict[str, Any]:
    """What has ended and how, what is running, and the last lines of its logs."""
    plan = read_plan(out)
    made: dict[str, Any] = {"seconds_left": round(plan.end - time.time()), "phases": {}}
    for phase in phases(plan):
        row = marker(out, phase.name)
        if row is None:
            running = any((out / "running").glob(f"{phase.name}-?"))
            row = {"state": "running" if running else "waiting"}
        logs = sorted((out / "logs").glob(f"{phase.name}-?.log"))
        if row.get("problem") or row.get("state") == "running":
            row["log"] = [line for log in logs for line in _last_lines(log)]
        made["phases"][phase.name] = row
    made["parts"] = sorted(path.name for path in (out / "parts").glob("[!.]*"))
    return made


def _last_lines(path: Path, number: int = 4) -> list[str]:
    with path.open("rb") as stream:
        stream.seek(max(0, path.stat().st_size - 4000))
        lines = stream.read().decode("utf-8", "replace").splitlines()
    return [line[:400] for line in lines[-number:]]


def take_home(out: Path, home: Path) -> None:
    """Write ``status.json`` and the records so far, in pieces."""
    home.mkdir(parents=True, exist_ok=True)
    (home / "status.json").write_text(json.dumps(status(out), indent=1))
    patterns = [pattern for phase in phases(read_plan(out)) for pattern in phase.records]
    patterns += ["logs/*.log", "conductor.log", "plan.json", "done/*.json"]
    found = sorted({path for pattern in patterns for path in out.glob(pattern) if path.is_file()})
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:xz", preset=0) as archive:
        for path in found:
            content = path.read_bytes()  # as it is now: it may grow
            entry = tarfile.TarInfo(str(path.relative_to(out)))
            entry.size, entry.mtime = len(content), int(path.stat().st_mtime)
            archive.addfile(entry, io.BytesIO(content))
    whole = packed.getvalue()
    for number, first in enumerate(range(0, len(whole), _HOME_BYTES)):
        (home / f"records.{number:02}").write_bytes(whole[first : first + _HOME_BYTES])


def take_weights(out: Path, home: Path, name: str, first: int, number: int) -> None:
    """Copy ``number`` parts of a model (``recipes.small.parts join`` makes it of all of them)."""
    folder = home / name
    folder.mkdir(parents=True, exist_ok=True)
    there = sorted((out / "weights" / name).glob("part.*"))
    say(f"{name}: {len(there)} parts")
    for path in there[first : first + number]:
        shutil.copy2(path, folder / path.name)


def call(options: argparse.Namespace) -> None:
    """One call, as the head of this file describes it."""
    out: Path = options.out
    out.mkdir(parents=True, exist_ok=True)
    if options.code or not (out / "code").exists():
        for name in CODE:
            shutil.copytree(
                Path(__file__).parents[2] / name,
                out / "code" / name,
                dirs_exist_ok=True,
                ignore=shutil.ignore_patterns("__pycache__"),
            )
    plan = read_plan(out) if (out / "plan.json").exists() else None
    if plan is None or options.seconds:
        end = time.time() + (options.seconds or 1600)
        given = {name: getattr(options, name) for name in _PLANNED}
        known = {name: value for name, value in given.items() if value is not None}
        plan = replace(
            plan or Plan(end, gpus=gpus_here(), cores=os.cpu_count() or 1), end=end, **known
        )
        write_plan(plan, out)
    if options.again is not None:
        again(out, options.again)
    for folder in options.parts:
        take_parts(folder, out)
    known_phases = _ended(out)
    begin(out)
    if options.until:
        wait_until(out, options.wait, options.until)
    else:
        wait(out, options.wait, known_phases)
    if options.home and options.weights:
        name, first = options.weights.split(":")
        take_weights(out, options.home, name, int(first), options.weights_number)
    elif options.home:
        take_home(out, options.home)
    print(json.dumps(status(out), indent=1), flush=True)


_LISTS = ("prepare", "questions", "rl", "second", "loss", "answers", "asked")
_PLANNED = (
    "training", "answering", "foreseeing", "least_rl", "closing", "scaling", "losing", "gpus",
    "rl_gpus", *_LISTS,
)  # fmt: skip


def arguments() -> argparse.ArgumentParser:
    """What a call takes."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("out", type=Path)
    parser.add_argument("--parts", type=Path, nargs="*", default=[], help="Folders that arrived.")
    parser.add_argument("--seconds", type=float, help="Until the machine is gone.")
    parser.add_argument("--wait", type=float, default=0, help="Seconds, at most.")
    parser.add_argument("--until", metavar="PHASE", help="Wait until this one has ended.")
    parser.add_argument("--home", type=Path, help="Where status and records are copied.")
    parser.add_argument("--weights", metavar="NAME:FIRST", help="supervised or rl; from this part.")
    parser.add_argument("--weights-number", type=int, default=4, help="Parts of a model.")
    parser.add_argument(
        "--again", nargs="*", metavar="PHASE", help="Interrupt; run these and what failed again."
    )
    parser.add_argument("--code", action="store_true", help="Take the code of this tree anew.")
    parser.add_argument("--conduct", action="store_true", help=argparse.SUPPRESS)
    for name in _PLANNED:
        if name in _LISTS:
            more = f"One option of {name}; may be given again."
            parser.add_argument(f"--{name}", action="append", help=more)
        else:
            kind = int if name.endswith("gpus") else float
            flag = f"--{name.replace('_', '-')}"
            parser.add_argument(flag, type=kind, help="With --seconds: of the plan.")
    return parser


def main() -> None:
    options = arguments().parse_args()
    options.out = options.out.resolve()
    if not options.conduct:
        call(options)
        return
    with _alone(options.out, 3) as alone:  # a call that looks holds the lock for a moment
        if alone:
            Conductor(options.out).run()


if __name__ == "__main__":
    main()
