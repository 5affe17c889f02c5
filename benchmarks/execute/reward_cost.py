"""CPU time of a reward for a new answer to a known question, compilers and runs apart.

python -m benchmarks.execute.reward_cost [--tasks 12] [--seed 53]

Questions are tasks of CASS-Bench, each on one known and one hidden list of arguments; the answer is
the reference port with another last line. User and system time of this process and of all that it
waits for.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import statistics
from pathlib import PurePosixPath

from cass_ray.bench.task import BenchTask, load_tasks
from cass_ray.corpus.reading.source_files import Sources
from cass_ray.execute.rewards.judge import RewardJudge
from cass_ray.execute.rewards.settings import RewardSettings
from cass_ray.execute.rewards.verdicts import Outcome, RewardItem


def cpu_seconds() -> float:
    """The CPU seconds of this process and of its children that have ended."""
    both = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in both)


def item(task: BenchTask, answer: str) -> RewardItem:
    """The task's question with ``answer``."""
    asked = (*task.visible[:1], *task.hidden[:1])
    return RewardItem(
        question=task.cuda.files[str(task.cuda.main)].decode(),
        answer=f"```hip\n{answer}\n```",
        inputs=[list(each.arguments) for each in asked],
        order_free=task.spec.comparison.order_free,
    )


def measured(judge: RewardJudge, task: BenchTask) -> tuple[float, float, Outcome]:
    """CPU seconds of building and of all else, and the outcome, once the question is known."""
    port = task.hip.files[str(task.hip.main)].decode()
    judge.judge(item(task, port))
    answer = f"{port}\n// {os.urandom(8).hex()}"
    began = cpu_seconds()
    judge.backend.build(Sources(PurePosixPath("program.hip"), {"program.hip": answer.encode()}))
    built = cpu_seconds()
    verdict = judge.judge(item(task, answer))
    return built - began, cpu_seconds() - built, verdict.outcome


def main() -> None:
    """Print a line for each task, and the means."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.execute.reward_cost")
    parser.add_argument("--tasks", type=int, default=12)
    parser.add_argument("--seed", type=int, default=53)
    chosen = parser.parse_args()
    alone = [each for each in load_tasks() if each.opencl is None and len(each.hip.files) == 1]
    tasks = random.Random(chosen.seed).sample(alone, chosen.tasks)
    judge = RewardSettings(cached=False).judge()
    figures = []
    for task in tasks:
        building, rest, outcome = measured(judge, task)
        figures.append((building, rest))
        print(f"{task.name:36} {building:.2f} + {rest:.2f}  {outcome}", flush=True)
    building, rest = (statistics.mean(part) for part in zip(*figures, strict=True))
    print(f"mean {building:.2f} + {rest:.2f} = {building + rest:.2f} CPU seconds")


if __name__ == "__main__":
    main()
