"""What a report says: scores of every run, paired tests, tables. Rendering is elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from cass_ray.bench.features import CATEGORIES
from cass_ray.bench.question import HostPart
from cass_ray.bench.results import BenchSample
from cass_ray.bench.scoring.scores import STRATA, Scores, Share, by_run, outcomes, score
from cass_ray.bench.scoring.statistics import McNemar, mcnemar

MEASURE_NAMES = {
    "compiled": "compiles",
    "exact": "exact",
    "numeric": "numeric",
    "hidden_exact": "hidden exact",
    "hidden_numeric": "hidden numeric",
    "passed": "right",
}
STEP_TAG = "step"
ECHO = "echo"
_CHECKS = frozenset({"reference", ECHO})
_REASON_CHARACTERS = 160


@dataclass(frozen=True)
class SystemRun:
    """The samples of one system at one level, with their scores. ``label`` is unique."""

    label: str
    samples: list[BenchSample]
    scores: Scores


@dataclass(frozen=True)
class PairTest:
    """McNemar's test of two runs on the tasks of both, by ``measure``."""

    first: str
    second: str
    measure: str
    result: McNemar


@dataclass(frozen=True)
class ReportTable:
    """Cells are text; the first column is a heading."""

    title: str
    head: list[str]
    rows: list[list[str]]
    note: str = ""


@dataclass(frozen=True)
class BenchReport:
    """A report before it is Markdown or HTML: headings, tables and figures."""

    title: str
    runs: list[SystemRun]
    pairs: list[PairTest]
    tables: list[ReportTable]
    notes: list[str]


def make_report(
    samples: Iterable[BenchSample],
    others: Mapping[str, Sequence[BenchSample]] | None = None,
    title: str = "CASS-Bench",
) -> BenchReport:
    """A report on ``samples``; ``others`` are earlier results, by name, to test against."""
    runs = _runs(samples)
    if not runs:
        raise ValueError("no samples to report on")
    earlier = [
        SystemRun(f"{name}: {run.label}", run.samples, run.scores)
        for name, group in (others or {}).items()
        for run in _runs(group)
    ]
    tables = [
        systems_table(runs),
        pairs_table(pairs := _pairs(runs, earlier)),
        *(stratum_table(runs, name) for name in STRATA),
        hosts_table(runs),
        errors_table(runs),
        findings_table(runs),
        ablation_table(runs),
        failures_table(runs),
    ]
    return BenchReport(
        title=title,
        runs=runs,
        pairs=pairs,
        tables=[table for table in tables if table.rows],
        notes=_notes(runs),
    )


def _runs(samples: Iterable[BenchSample]) -> list[SystemRun]:
    groups = by_run(samples)
    kinds = {key[1] for key in groups}
    runs = []
    for (system, kind, *tags), group in groups.items():
        parts = [system, *([kind] if len(kinds) > 1 else []), *tags]
        runs.append(SystemRun(" · ".join(parts), group, score(group)))
    return runs


def _pairs(runs: Sequence[SystemRun], earlier: Sequence[SystemRun]) -> list[PairTest]:
    """Every two runs of one kind; two earlier ones are nobody's question, nor are the systems that
    check the benchmark itself."""
    asked = [run for run in runs if run.scores.system not in _CHECKS]
    couples = [*combinations(asked, 2), *((run, other) for run in asked for other in earlier)]
    return [
        PairTest(
            one.label,
            other.label,
            measure,
            mcnemar(outcomes(one.samples, measure), outcomes(other.samples, measure)),
        )
        for one, other in couples
        if one.scores.kind == other.scores.kind
        for measure in ("passed",)
    ]


def percent(share: float) -> str:
    """``98.1%``."""
    return f"{100 * share:.1f}%"


def with_interval(share: Share) -> str:
    """``98.1% (94.3–99.4)``."""
    return f"{percent(share.share)} ({100 * share.low:.1f}–{100 * share.high:.1f})"


def systems_table(runs: Sequence[SystemRun]) -> ReportTable:
    """One line a run."""
    ks = sorted({k for run in runs for k in run.scores.pass_at if k > 1})
    sampled = any(run.scores.samples > run.scores.tasks for run in runs)
    tokens = any(run.scores.totals.output_tokens for run in runs)
    head = ["system", "tasks", "answers", *MEASURE_NAMES.values()]
    head += [f"pass@{k}" for k in ks]
    head += ["best of n"] if sampled else []
    head += ["chrF", "translating, s/task", "judging, s/task"]
    head += ["tokens in", "tokens out", "cost, $"] if tokens else []
    rows = []
    for run in runs:
        scores, totals = run.scores, run.scores.totals
        row = [run.label, str(scores.tasks), f"{scores.answered}/{scores.samples}"]
        row += [
            with_interval(share) if name == "passed" else percent(share.share)
            for name, share in scores.measures.items()
        ]
        row += [percent(scores.pass_at[k]) if k in scores.pass_at else "" for k in ks]
        row += [percent(scores.best_of.share)] if sampled else []
        row += [f"{scores.chrf:.1f}" if scores.chrf is not None else ""]
        row += [f"{total / scores.tasks:.3g}" for total in (totals.seconds, totals.judge_seconds)]
        if tokens:
            cost = "" if totals.cost is None else f"{totals.cost:.2f}"
            row += [str(totals.input_tokens), str(totals.output_tokens), cost]
        rows.append(row)
    note = (
        "exact and numeric: on the inputs anyone may know; hidden: on inputs no system was told; "
        "right: every input by the task's own comparison, with the 95% Wilson interval. "
        "Judging times include what came from the cache."
    )
    return ReportTable("Systems", head, rows, note)


def pairs_table(pairs: Sequence[PairTest]) -> ReportTable:
    """One line a pair."""
    rows = [
        [
            f"{pair.first} / {pair.second}",
            str(pair.result.both),
            str(pair.result.only_first),
            str(pair.result.only_second),
            str(pair.result.neither),
            f"{pair.result.p:.2g}",
        ]
        for pair in pairs
    ]
    head = ["first / second", "both right", "only first", "only second", "neither", "p"]
    return ReportTable("Paired comparison", head, rows, "McNemar's exact test, two-sided.")


def stratum_table(runs: Sequence[SystemRun], stratum: str) -> ReportTable:
    """Shares of right answers by ``stratum``, one column a run."""
    names = {name for run in runs for name in run.scores.strata[stratum]}
    rows = []
    for name in _ordered(stratum, names):
        shares = [run.scores.strata[stratum].get(name) for run in runs]
        total = max(share.total for share in shares if share is not None)
        cells = ["" if share is None else f"{share.right}/{share.total}" for share in shares]
        rows.append([name, str(total), *cells])
    title = _TITLES.get(stratum, f"By {stratum}")
    return ReportTable(title, [stratum, "tasks", *(run.label for run in runs)], rows)


_TITLES = {
    "length": "By length of the SASS (lines)",
    "host": "By whose host code the device code ran under",
}


def hosts_table(runs: Sequence[SystemRun]) -> ReportTable:
    """Every task of which device code ran under the CUDA program's host code."""
    rows = [
        [run.label, sample.task, "yes" if sample.judgement.passed else "no"]
        for run in runs
        for sample in run.samples
        if sample.sample == 0 and sample.judgement.host is HostPart.ORIGINAL
    ]
    note = (
        "Their HIP hosts launch kernels that the CUDA program's machine code does not have. They "
        "ran under the CUDA program's host code as nvcc made it, over a CUDA runtime that calls "
        "HIP; every other task under the HIP host of its reference port."
    )
    head = ["system", "task", "right"]
    return ReportTable("Under the CUDA program's host code", head, rows, note)


def _ordered(stratum: str, names: set[str]) -> list[str]:
    if stratum == "category":
        return [name for name in CATEGORIES if name in names]
    if stratum == "difficulty":
        return [name for name in ("easy", "medium", "hard") if name in names]
    if stratum == "length":
        numbers = {name: name.lstrip("> ").split("-")[0] for name in names}
        return sorted(
            names, key=lambda name: (int(numbers[name]) if numbers[name].isdigit() else 10**9, name)
        )
    return sorted(names)


def errors_table(runs: Sequence[SystemRun]) -> ReportTable:
    """Samples with a compile error of each class."""
    names = sorted({name for run in runs for name in run.scores.errors})
    rows = [[name, *(str(run.scores.errors.get(name, 0)) for run in runs)] for name in names]
    note = "Samples with at least one error of the class."
    return ReportTable(
        "Compile errors by class", ["class", *(run.label for run in runs)], rows, note
    )


def findings_table(runs: Sequence[SystemRun]) -> ReportTable:
    """Samples that were caught cheating, or have a hazard."""
    names = sorted({name for run in runs for name in run.scores.findings})
    rows = [[name, *(str(run.scores.findings.get(name, 0)) for run in runs)] for name in names]
    return ReportTable("Findings of the verifier", ["finding", *(run.label for run in runs)], rows)


def ablation_table(runs: Sequence[SystemRun]) -> ReportTable:
    """Tagged runs by the values of their tags."""
    tagged = [run for run in runs if run.scores.tags]
    keys = sorted({key for run in tagged for key in run.scores.tags})
    head = ["system", *keys, "compiles", "exact", "right"]
    rows = [
        [
            run.scores.system,
            *(run.scores.tags.get(key, "") for key in keys),
            *(percent(run.scores.share(name)) for name in ("compiled", "exact", "passed")),
        ]
        for run in tagged
    ]
    return ReportTable("Ablation", head, rows)


def failures_table(runs: Sequence[SystemRun]) -> ReportTable:
    """Every first sample that is not right, and why; ``echo`` is meant to fail."""
    rows = [
        [run.label, sample.task, reason_of(sample)]
        for run in runs
        if run.scores.system != ECHO
        for sample in run.samples
        if sample.sample == 0 and not sample.judgement.passed
    ]
    return ReportTable("What is not right", ["system", "task", "why"], rows)


def reason_of(sample: BenchSample) -> str:
    """Why an answer is not right, in a line."""
    judgement = sample.judgement
    if judgement.problem:
        text = judgement.problem
    elif not judgement.compiled:
        errors = ", ".join(dict.fromkeys(error.value for error in judgement.errors))
        first = next((line for line in judgement.diagnostic.splitlines() if "error" in line), "")
        text = f"{errors}: {first.strip()}"
    else:
        wrong = [run.record for run in judgement.runs if not run.record.numeric]
        wrong += [run.record for run in judgement.runs if not run.record.exact]
        texts = [finding.message for finding in judgement.findings]
        if wrong:
            arguments = " ".join(wrong[0].arguments) or "no arguments"
            texts.append(f"with {arguments}: {wrong[0].difference or 'not the same bytes'}")
        text = "; ".join(texts)
    line = " ".join(text.split())
    return line if len(line) <= _REASON_CHARACTERS else line[: _REASON_CHARACTERS - 1] + "…"


def _notes(runs: Sequence[SystemRun]) -> list[str]:
    """Where the truth is from and where candidates ran."""
    references = sorted({s.judgement.reference for run in runs for s in run.samples} - {""})
    backends = sorted({s.judgement.backend for run in runs for s in run.samples} - {""})
    notes = [f"Reference outputs: {text}" for text in references]
    notes += [f"Candidates ran on: {text}" for text in backends]
    undecided = sum(run.scores.undecided for run in runs)
    if undecided:
        notes.append(f"{undecided} samples have no verdict, for reasons that are not the answer's")
    return notes
