"""CPU time of a reward for a new answer to a known question, compilers and runs apart.

python -m benchmarks.execute.reward_cost [--tasks 12] [--seed 53]
python -m benchmarks.execute.reward_cost --workers 16 [--threads 1] [--seconds 60]

Questions are tasks of CASS-Bench, each on one known and one hidden list of arguments; the answer is
the reference port with another last line. User and system time of this process and of all that it
waits for. With ``--workers`` so many processes judge new answers at once, and what is printed is
how many rewards a second that makes. The clock starts when all know the questions and their tools
have started; answers that were begun before or end later than it runs do not change the rate.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import random
import resource
import statistics
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from threading import Barrier, Event

from cass_ray.bench.task import BenchTask, load_tasks
from cass_ray.corpus.reading.source_files import Sources
from cass_ray.execute.rewards.judge import RewardJudge
from cass_ray.execute.rewards.settings import RewardSettings
from cass_ray.execute.rewards.verdicts import Outcome, RewardItem
from cass_ray.toolchain.sandbox.process_tree import children

_WARM_UP = 5
"""Answers to each question before the clock starts: of four questions enough for a precompiled
header of what they begin with."""
_SETTLING_SECONDS = 3.0


def cpu_seconds() -> float:
    """The CPU seconds of this process, of its children that have ended, and of all that live."""
    both = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    ended = sum(each.ru_utime + each.ru_stime for each in both)
    return ended + sum(map(_of_living, children(os.getpid())))


def _of_living(process: int) -> float:
    """CPU seconds of ``process`` and its descendants, ended ones too (proc(5), 14 to 17)."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    own = sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    return own + sum(map(_of_living, children(process)))


def item(task: BenchTask, answer: str) -> RewardItem:
    """The task's question with ``answer``."""
    asked = (*task.visible[:1], *task.hidden[:1])
    return RewardItem(
        question=task.cuda.files[str(task.cuda.main)].decode(),
        answer=f"```hip\n{answer}\n```",
        inputs=[list(each.arguments) for each in asked],
        order_free=task.spec.comparison.order_free,
    )


def new_answer(task: BenchTask) -> str:
    """The reference port with another last line, so that nothing of it is known."""
    return f"{task.hip.files[str(task.hip.main)].decode()}\n// {os.urandom(8).hex()}"


def measured(judge: RewardJudge, task: BenchTask) -> tuple[float, float, Outcome]:
    """CPU seconds of building and of all else, and the outcome."""
    answer = new_answer(task)
    began = cpu_seconds()
    judge.backend.build(Sources(PurePosixPath("program.hip"), {"program.hip": answer.encode()}))
    built = cpu_seconds()
    verdict = judge.judge(item(task, answer))
    return built - began, cpu_seconds() - built, verdict.outcome


@dataclass(frozen=True)
class Judged:
    """A verdict on one answer: when it was there, and what it took."""

    at: float
    seconds: float
    own_cpu_seconds: float
    right: bool


class Worker:
    """Judges new answers to ``tasks`` from ``threads`` threads, until ``end`` is set."""

    def __init__(self, tasks: Sequence[BenchTask], threads: int) -> None:
        self._tasks = tasks
        self._judge = RewardSettings(cached=False).judge()
        self._pool = ThreadPoolExecutor(threads)
        self._threads = threads

    def warm_up(self) -> None:
        """Measure the questions, and start the tools that stay."""
        for _ in range(_WARM_UP):
            list(self._pool.map(self._one, self._tasks))

    def until(self, end: Event) -> list[Judged]:
        """Everything that was judged."""
        parts = self._pool.map(lambda first: self._many(first, end), range(self._threads))
        return [each for part in parts for each in part]

    def _many(self, first: int, end: Event) -> list[Judged]:
        done: list[Judged] = []
        while not end.is_set():
            done.append(self._one(self._tasks[(first + len(done)) % len(self._tasks)]))
        return done

    def _one(self, task: BenchTask) -> Judged:
        began, cpu = time.monotonic(), time.thread_time()
        verdict = self._judge.judge(item(task, new_answer(task)))
        now = time.monotonic()
        right = verdict.outcome is Outcome.RIGHT
        return Judged(now, now - began, time.thread_time() - cpu, right)


def judging(tasks: Sequence[BenchTask], threads: int, start: Barrier, end: Event) -> list[Judged]:
    """In a process of its own: what it judged between ``start`` and ``end``."""
    worker = Worker(tasks, threads)
    worker.warm_up()
    start.wait()
    return worker.until(end)


def at_once(tasks: Sequence[BenchTask], workers: int, threads: int, seconds: float) -> None:
    """Print how many rewards a second ``workers`` processes make, each with ``threads`` threads.

    All are warm when the clock starts, and none has ended when it stops.
    """
    context = multiprocessing.get_context("spawn")
    with context.Manager() as manager, ProcessPoolExecutor(workers, context) as pool:
        start, end = manager.Barrier(workers + 1), manager.Event()
        working = [pool.submit(judging, tasks, threads, start, end) for _ in range(workers)]
        start.wait()
        time.sleep(_SETTLING_SECONDS)
        began, busy = time.monotonic(), _busy_and_idle()
        time.sleep(seconds)
        stopped, busy_after = time.monotonic(), _busy_and_idle()
        end.set()
        judged = [each for one in working for each in one.result()]
    judged = [each for each in judged if began <= each.at < stopped]
    took = stopped - began
    used, idle = (after - before for before, after in zip(busy, busy_after, strict=True))
    right = sum(each.right for each in judged)
    cores = len(os.sched_getaffinity(0))
    print(f"{workers} processes with {threads} threads each, {cores} processors, {took:.0f} s:")
    print(f"{len(judged)} rewards, {right} right, {len(judged) / took:.1f} a second")
    share, cpu = used / (used + idle), used / len(judged)
    print(f"processors busy {share:.0%}, {cpu:.2f} CPU seconds a reward (of the whole machine)")
    mean = statistics.mean(each.seconds for each in judged)
    own = statistics.mean(each.own_cpu_seconds for each in judged)
    print(f"a reward takes {mean:.2f} s by the clock, {own:.3f} CPU seconds of the judge itself")


def _busy_and_idle() -> tuple[float, float]:
    """CPU seconds of all processors since the machine started, at work and not (proc(5))."""
    fields = Path("/proc/stat").read_text().splitlines()[0].split()[1:9]
    ticks = [int(each) / os.sysconf("SC_CLK_TCK") for each in fields]
    idle = ticks[3] + ticks[4]
    return sum(ticks) - idle, idle


def main() -> None:
    """Print a line for each task, and the means."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.execute.reward_cost")
    parser.add_argument("--tasks", type=int, default=12)
    parser.add_argument("--seed", type=int, default=53)
    parser.add_argument("--workers", type=int, default=0, help="Rewards a second of so many.")
    parser.add_argument("--threads", type=int, default=1, help="Of each of them.")
    parser.add_argument("--seconds", type=float, default=60.0, help="After the warm-up.")
    chosen = parser.parse_args()
    alone = [each for each in load_tasks() if each.opencl is None and len(each.hip.files) == 1]
    tasks = random.Random(chosen.seed).sample(alone, chosen.tasks)
    if chosen.workers:
        at_once(tasks, chosen.workers, chosen.threads, chosen.seconds)
        return
    judge = RewardSettings(cached=False).judge()
    figures = []
    for task in tasks:  # what a server of rewards has behind it: known questions, resident tools
        judge.judge(item(task, new_answer(task)))
    for task in tasks:
        building, rest, outcome = measured(judge, task)
        figures.append((building, rest))
        print(f"{task.name:36} {building:.2f} + {rest:.2f}  {outcome}", flush=True)
    building, rest = (statistics.mean(part) for part in zip(*figures, strict=True))
    print(f"mean {building:.2f} + {rest:.2f} = {building + rest:.2f} CPU seconds")


if __name__ == "__main__":
    main()
