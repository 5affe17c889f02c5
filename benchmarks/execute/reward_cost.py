"""CPU time of a reward for a new answer to a known question, compilers and runs apart.

python -m benchmarks.execute.reward_cost [--tasks 12] [--seed 53]
python -m benchmarks.execute.reward_cost --workers 16 [--rounds 5]

Questions are tasks of CASS-Bench, each on one known and one hidden list of arguments; the answer is
the reference port with another last line. User and system time of this process and of all that it
waits for. With ``--workers`` so many processes judge at once, each ``--rounds`` new answers to each
task, and what is printed is how many rewards a second that makes, once the questions are known.
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
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path, PurePosixPath
from threading import Barrier

from cass_ray.bench.task import BenchTask, load_tasks
from cass_ray.corpus.reading.source_files import Sources
from cass_ray.execute.rewards.judge import RewardJudge
from cass_ray.execute.rewards.settings import RewardSettings
from cass_ray.execute.rewards.verdicts import Outcome, RewardItem
from cass_ray.toolchain.sandbox.process_tree import children


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


def answers(tasks: Sequence[BenchTask], rounds: int, start: Barrier) -> int:
    """Judge ``rounds`` new answers to each of ``tasks``; how many were right."""
    judge = RewardSettings(cached=False).judge()
    for task in tasks:
        judge.judge(item(task, new_answer(task)))
    start.wait()
    verdicts = [judge.judge(item(task, new_answer(task))) for _ in range(rounds) for task in tasks]
    start.wait()
    return sum(each.outcome is Outcome.RIGHT for each in verdicts)


def at_once(tasks: Sequence[BenchTask], workers: int, rounds: int) -> None:
    """Print how many rewards a second ``workers`` processes make."""
    context = multiprocessing.get_context("spawn")
    with context.Manager() as manager, ProcessPoolExecutor(workers, context) as pool:
        start = manager.Barrier(workers + 1)
        working = [pool.submit(answers, tasks, rounds, start) for _ in range(workers)]
        start.wait()
        began = time.monotonic()
        start.wait()
        seconds = time.monotonic() - began
        right = sum(each.result() for each in working)
    count = workers * rounds * len(tasks)
    print(f"{count} rewards in {seconds:.1f} s on {workers} processors, {right} of them right")
    print(f"{count / seconds:.1f} rewards a second, load average {os.getloadavg()[0]:.0f}")


def main() -> None:
    """Print a line for each task, and the means."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.execute.reward_cost")
    parser.add_argument("--tasks", type=int, default=12)
    parser.add_argument("--seed", type=int, default=53)
    parser.add_argument("--workers", type=int, default=0, help="Rewards a second of so many.")
    parser.add_argument("--rounds", type=int, default=5)
    chosen = parser.parse_args()
    alone = [each for each in load_tasks() if each.opencl is None and len(each.hip.files) == 1]
    tasks = random.Random(chosen.seed).sample(alone, chosen.tasks)
    if chosen.workers:
        at_once(tasks, chosen.workers, chosen.rounds)
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
