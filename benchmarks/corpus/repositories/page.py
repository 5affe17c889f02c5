"""The table of measured repositories."""

from __future__ import annotations

from benchmarks.corpus.repositories.measure import Measured
from benchmarks.corpus.repositories.rule import Repository, RepositoryList

_HEAD = (
    "| repository | kind | `.cu` | rows | own command | no device code | duplicates | **pairs** "
    "| of rows with device code | what stopped the others | seconds | seen |",
    "|---|---|---:|---:|---:|---:|---:|---:|---:|---|---:|---|",
)
_MOST_WORDS = 90


def table(listed: RepositoryList, name: str, measured: list[Measured]) -> str:
    """Markdown: a row for each repository of the list ``name`` that was tried, then the sum."""
    by_name = {each.repository: each for each in measured}
    rows: list[Repository] = getattr(listed, name)
    tried = [(row, by_name[row.repository]) for row in rows if row.repository in by_name]
    lines = [f"{len(tried)} of {len(rows)} tried.", "", *_HEAD]
    lines += [_row(row, each) for row, each in tried]
    pairs = sum(each.pairs for _, each in tried)
    of = sum(each.with_device_code for _, each in tried)
    lines.append(
        f"| all {len(tried)} | | | {sum(each.rows for _, each in tried)} | | | | **{pairs}** "
        f"| {_share(pairs, of)} of {of} | | | |"
    )
    return "\n".join(lines) + "\n"


def _row(row: Repository, each: Measured) -> str:
    stopped = "; ".join(
        f"`{_words(why.what)}` {why.rows}" for why in each.stopped if why.rows
    ) or _words(each.error)
    cells = (
        each.repository,
        row.kind,
        str(row.cu_files or ""),
        f"{each.rows}{'' if each.finished else ' (unfinished)'}",
        str(each.own_command),
        str(each.no_device_code),
        str(each.duplicates),
        f"**{each.pairs}**",
        _share(each.pairs, each.with_device_code),
        stopped,
        f"{each.seconds:.0f}",
        each.date,
    )
    return f"| {' | '.join(cells)} |"


def _words(text: str) -> str:
    return text.replace("|", "\\|").replace("`", "'")[:_MOST_WORDS]


def _share(pairs: int, of: int) -> str:
    return f"{pairs / of:.0%}" if of else "–"
