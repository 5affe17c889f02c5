"""Rewards a second of CPU: kept verdicts, and answers that nobody has seen.

    python -m benchmarks.execute.rewards --programs 12

Questions are shipped programs on their default arguments, answers the rules' translations with a
line that makes each of them another text. The CPU time of all processes counts, so that load on
the machine does not.
"""

from __future__ import annotations

import argparse
import json
import resource
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from cass_ray.cache import ContentCache
from cass_ray.corpus.sources.shipped import SHIPPED_ROOT
from cass_ray.execute.rewards.judge import RewardJudge
from cass_ray.execute.rewards.settings import RewardSettings
from cass_ray.execute.rewards.verdicts import RewardItem
from cass_ray.translate.engines.registry import make_translator


def cpu_seconds() -> float:
    """Of this process and of those that it waited for."""
    parts = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(part.ru_utime + part.ru_stime for part in parts)


def items_of(programs: int, mark: str) -> list[RewardItem]:
    """Questions with right answers; ``mark`` makes the answers others."""
    rules = make_translator()
    paths = sorted((SHIPPED_ROOT / "programs").rglob("*.cu"))
    chosen = paths[:: max(1, len(paths) // programs)][:programs]
    made = []
    for path in chosen:
        question = path.read_text()
        answer = rules.translate(question).source
        made.append(RewardItem(question=question, answer=f"{answer}\n// {mark}\n"))
    return made


def measure(name: str, items: Sequence[RewardItem], judge: RewardJudge) -> dict[str, object]:
    """Judge ``items`` one after another."""
    started, cpu = time.monotonic(), cpu_seconds()
    outcomes = Counter(judge.judge(item).outcome.value for item in items)
    seconds = cpu_seconds() - cpu
    return {
        "what": name,
        "answers": len(items),
        "outcomes": dict(outcomes),
        "rewards_per_cpu_second": round(len(items) / seconds, 2),
        "wall_seconds": round(time.monotonic() - started, 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", type=int, default=12)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="cass-rewards-") as folder:
        judge = replace(RewardSettings(cached=False).judge(), cache=ContentCache(Path(folder)))
        first = items_of(options.programs, "first")
        print(json.dumps(measure("new questions, new answers", first, judge)), flush=True)
        second = items_of(options.programs, "second")
        print(json.dumps(measure("known questions, new answers", second, judge)), flush=True)
        kept = second * 100
        print(json.dumps(measure("kept verdicts", kept, judge)), flush=True)


if __name__ == "__main__":
    main()
