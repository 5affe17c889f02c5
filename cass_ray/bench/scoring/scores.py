"""Scores of samples: shares with intervals, pass@k, best of n, strata, error classes, costs.

The unit is the task. A sample is a Bernoulli trial; where a task has several samples, its share is
their mean, and intervals are about the first sample of each task.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

from pydantic import Field

from cass_ray.bench.authoring.index import length_bin
from cass_ray.bench.results import BenchSample
from cass_ray.bench.scoring.statistics import mean, pass_at_k, wilson
from cass_ray.config import StrictModel

MEASURES: dict[str, Callable[[BenchSample], bool]] = {
    "compiled": lambda sample: sample.judgement.compiled,
    "exact": lambda sample: bool(sample.judgement.exact),
    "numeric": lambda sample: bool(sample.judgement.numeric),
    "hidden_exact": lambda sample: bool(sample.judgement.hidden_exact),
    "hidden_numeric": lambda sample: bool(sample.judgement.hidden_numeric),
    "passed": lambda sample: sample.judgement.passed,
}
"""What is counted. ``exact`` and ``numeric`` are about the inputs that anyone may know,
``passed`` about all inputs by the task's own comparison."""

STRATA: dict[str, Callable[[BenchSample], Iterable[str]]] = {
    "category": lambda sample: [sample.category],
    "difficulty": lambda sample: [sample.difficulty.value],
    "feature": lambda sample: sample.features,
    "length": lambda sample: [length_bin(sample.sass_lines)],
    "host": lambda sample: [sample.judgement.host.value] if sample.judgement.host else [],
}

_KS = (1, 2, 5, 10, 20, 50, 100)


class Share(StrictModel):
    """``right`` of ``total`` tasks and the 95% Wilson interval of their share."""

    right: int
    total: int
    low: float
    high: float

    @property
    def share(self) -> float:
        """Between 0 and 1."""
        return self.right / self.total if self.total else 0.0


class Totals(StrictModel):
    """What answers took, over all samples."""

    seconds: float = 0.0
    judge_seconds: float = 0.0
    input_tokens: int = 0
    output_tokens: int = 0
    calls: int = 0
    cost: float | None = None


class Scores(StrictModel):
    """The scores of one system at one level, as the leader board shows them."""

    system: str
    system_version: str
    kind: str
    tags: dict[str, str] = Field(default_factory=dict)
    tasks: int
    samples: int
    answered: int
    undecided: int
    """Samples without a verdict for reasons that are not the answer's."""
    measures: dict[str, Share]
    pass_at: dict[int, float]
    best_of: Share
    """The first sample of a task that is right on the visible inputs (else the first that
    compiles, else the first), judged on all inputs."""
    strata: dict[str, dict[str, Share]]
    errors: dict[str, int]
    """Classes of compile errors: samples that have at least one of the class."""
    findings: dict[str, int]
    truths: dict[str, int]
    chrf: float | None
    totals: Totals

    def share(self, measure: str) -> float:
        """The share of tasks, between 0 and 1."""
        return self.measures[measure].share


def score(samples: Sequence[BenchSample]) -> Scores:
    """Scores of the samples of one system at one level. Raises :class:`ValueError` for none."""
    if not samples:
        raise ValueError("no samples to score")
    by_task = _by_task(samples)
    firsts = [min(group, key=lambda sample: sample.sample) for group in by_task.values()]
    first = samples[0]
    similar = [sample.chrf for sample in firsts if sample.chrf is not None]
    return Scores(
        system=first.system,
        system_version=first.system_version,
        kind=kind_of(first),
        tags=first.tags,
        tasks=len(by_task),
        samples=len(samples),
        answered=sum(sample.judgement.answered for sample in samples),
        undecided=sum(_undecided(sample) for sample in samples),
        measures={name: share_of(firsts, test) for name, test in MEASURES.items()},
        pass_at=_pass_at(by_task),
        best_of=share_of([_best(group) for group in by_task.values()], MEASURES["passed"]),
        strata={name: _stratum(firsts, of) for name, of in STRATA.items()},
        errors=_counts(samples, lambda sample: {error.value for error in sample.judgement.errors}),
        findings=_counts(
            samples, lambda sample: {item.exploit.value for item in sample.judgement.findings}
        ),
        truths=_counts(
            samples, lambda sample: [sample.judgement.truth.value] if sample.judgement.truth else []
        ),
        chrf=mean(similar) if similar else None,
        totals=_totals(samples),
    )


def kind_of(sample: BenchSample) -> str:
    """Level, direction and architecture in words."""
    return " ".join(
        part for part in (sample.level.value, sample.direction.value, sample.architecture) if part
    )


def by_run(samples: Iterable[BenchSample]) -> dict[tuple[str, ...], list[BenchSample]]:
    """Samples by system, kind and tags."""
    runs: dict[tuple[str, ...], list[BenchSample]] = defaultdict(list)
    for sample in samples:
        tags = tuple(f"{key}={value}" for key, value in sorted(sample.tags.items()))
        runs[(sample.system, kind_of(sample), *tags)].append(sample)
    return dict(runs)


def share_of(samples: Sequence[BenchSample], test: Callable[[BenchSample], bool]) -> Share:
    """The share of ``samples`` that pass ``test``."""
    right = sum(map(test, samples))
    low, high = wilson(right, len(samples))
    return Share(right=right, total=len(samples), low=low, high=high)


def outcomes(samples: Sequence[BenchSample], measure: str) -> dict[str, bool]:
    """Task -> whether its first sample is right, for paired tests."""
    test = MEASURES[measure]
    return {
        task: test(min(group, key=lambda sample: sample.sample))
        for task, group in _by_task(samples).items()
    }


def _by_task(samples: Sequence[BenchSample]) -> dict[str, list[BenchSample]]:
    by_task: dict[str, list[BenchSample]] = defaultdict(list)
    for sample in samples:
        by_task[sample.task].append(sample)
    return dict(by_task)


def _undecided(sample: BenchSample) -> bool:
    return sample.judgement.answered and bool(sample.judgement.problem)


def _pass_at(by_task: Mapping[str, Sequence[BenchSample]]) -> dict[int, float]:
    """pass@k for every k that all tasks have samples for."""
    least = min(map(len, by_task.values()))
    test = MEASURES["passed"]
    return {
        k: mean(pass_at_k(len(group), sum(map(test, group)), k) for group in by_task.values())
        for k in _KS
        if k <= least
    }


def _best(group: Sequence[BenchSample]) -> BenchSample:
    """The sample that is chosen by execution on the visible inputs alone."""
    ordered = sorted(group, key=lambda sample: sample.sample)
    for measure in ("exact", "numeric", "compiled"):
        for sample in ordered:
            if MEASURES[measure](sample):
                return sample
    return ordered[0]


def _stratum(
    samples: Sequence[BenchSample], of: Callable[[BenchSample], Iterable[str]]
) -> dict[str, Share]:
    groups: dict[str, list[BenchSample]] = defaultdict(list)
    for sample in samples:
        for name in of(sample):
            groups[name].append(sample)
    return {name: share_of(group, MEASURES["passed"]) for name, group in sorted(groups.items())}


def _counts(
    samples: Sequence[BenchSample], of: Callable[[BenchSample], Iterable[str]]
) -> dict[str, int]:
    counts: Counter[str] = Counter()
    for sample in samples:
        counts.update(of(sample))
    return dict(counts.most_common())


def _totals(samples: Sequence[BenchSample]) -> Totals:
    costs = [sample.answer.usage.cost for sample in samples if sample.answer.usage.cost is not None]
    return Totals(
        seconds=sum(sample.answer.seconds for sample in samples),
        judge_seconds=sum(sample.judgement.seconds for sample in samples),
        input_tokens=sum(sample.answer.usage.input_tokens for sample in samples),
        output_tokens=sum(sample.answer.usage.output_tokens for sample in samples),
        calls=sum(sample.answer.usage.calls for sample in samples),
        cost=sum(costs) if costs else None,
    )
