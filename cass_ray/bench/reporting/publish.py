"""Write what a run gives: scores, report as text and as a page."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table as RichTable

from cass_ray.bench.reporting.report import BenchReport, make_report, percent, with_interval
from cass_ray.bench.results import BenchSample, read_samples
from cass_ray.toolchain.errors import ToolMissing
from cass_ray.whole_file import write_whole

SCORES_FILE, MARKDOWN_FILE, HTML_FILE = "scores.json", "report.md", "report.html"


def publish(
    out: Path,
    samples: Sequence[BenchSample],
    *,
    compare: Sequence[Path] = (),
    title: str = "CASS-Bench",
) -> BenchReport:
    """Write ``scores.json``, ``report.md`` and ``report.html`` into ``out``.

    ``compare`` are earlier results (a folder or its ``samples.jsonl``). Raises
    :class:`~cass_ray.config.SettingsError` and :class:`OSError` for those that cannot be read, and
    :class:`ToolMissing`.
    """
    try:
        from cass_ray.bench.reporting.render import html, markdown
    except ImportError as error:
        remedy = "pip install 'cass-ray[bench]'"
        raise ToolMissing("jinja2 and matplotlib", remedy, str(error)) from None
    others = {path.name or str(path): list(read_samples(path)) for path in compare}
    report = make_report(samples, others, title)
    values = [run.scores.model_dump(mode="json") for run in report.runs]
    out.mkdir(parents=True, exist_ok=True)
    write_whole(out / SCORES_FILE, json.dumps(values, indent=1) + "\n")
    write_whole(out / MARKDOWN_FILE, markdown(report))
    write_whole(out / HTML_FILE, html(report))
    return report


def print_scores(console: Console, report: BenchReport) -> None:
    """The table at the end of a run."""
    table = RichTable(title=report.title, title_justify="left")
    for name in ("system", "tasks", "compiles", "exact", "numeric", "hidden", "right"):
        table.add_column(name, justify="left" if name == "system" else "right")
    for run in report.runs:
        scores = run.scores
        shares = [percent(scores.share(name)) for name in ("compiled", "exact", "numeric")]
        hidden = percent(scores.share("hidden_numeric"))
        right = with_interval(scores.measures["passed"])
        table.add_row(run.label, str(scores.tasks), *shares, hidden, right)
    console.print(table)
