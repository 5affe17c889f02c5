"""The table of measured repositories."""

from __future__ import annotations

import re
from collections import Counter, defaultdict

from benchmarks.corpus.repositories.measure import NOT_REACHED, TRIED_ONCE, Measured, Results
from benchmarks.corpus.repositories.rule import LISTS, Repository, RepositoryList

_HEAD = (
    "| repository | kind | `.cu` | rows | own command | no device code | duplicates | **pairs** "
    "| of rows with device code | what stopped the others | seconds | seen |",
    "|---|---|---:|---:|---:|---:|---:|---:|---:|---|---:|---|",
)
_MOST_WORDS = 90
_WHY_SHOWN = 6
_CLASSES_SHOWN = 40
_PLACES_SHOWN = 4
_GOOD_SHARE = 0.6


def table(listed: RepositoryList, name: str, measured: list[Measured]) -> str:
    """Markdown: a row for each repository of the list ``name`` that was tried, then the sum."""
    by_name = {each.repository: each for each in measured}
    rows: list[Repository] = getattr(listed, name)
    tried = [(row, by_name[row.repository]) for row in rows if row.repository in by_name]
    lines = [f"{len(tried)} of {len(rows)} tried.", "", *_HEAD]
    lines += [_row(row, each) for row, each in tried]
    lines.append(_sum("all", [each for _, each in tried]))
    lines.append(_sum("finished:", [each for _, each in tried if each.finished]))
    return "\n".join(lines) + "\n"


def table_of_all(results: Results, pairs: dict[str, list[str]]) -> str:
    """Markdown: the lists and their sum, programs that were run, and which commits built pairs.

    ``pairs``: digests of pairs by repository, as far as they came back.
    """
    lines = [
        "| list | repositories | with a pair | at 60% or more | units | reached | own command "
        "| no device code | duplicates | **pairs** | of rows with device code |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    lines += [
        _funnel(name, [each for each in results.measured if each.list == name]) for name in LISTS
    ]
    lines.append(_funnel("**all**", results.measured))
    lines += [
        _funnel(f"{name}, first tried", [each for each in results.first if each.list == name])
        for name in TRIED_ONCE
    ]
    by_commit: defaultdict[str, list[Measured]] = defaultdict(list)
    for each in results.measured:
        by_commit[each.built_by or "earlier ones, not written down"].append(each)
    lines += ["", "| built at commit | repositories | pairs |", "|---|---:|---:|"]
    for commit, built in by_commit.items():
        lines.append(f"| {commit} | {len(built)} | {sum(each.pairs for each in built)} |")
    distinct = len({each for ids in pairs.values() for each in ids})
    lines += [
        "",
        f"Digests are in `repositories_pairs.json`: {distinct} distinct pairs of {len(pairs)} "
        "repositories.",
    ]
    return "\n".join([*lines, "", _of_programs(results.measured)]) + "\n"


def _of_programs(measured: list[Measured]) -> str:
    ran = [each.programs for each in measured if each.programs is not None]
    agreed, of = sum(each.agreed for each in ran), sum(each.need_nothing for each in ran)
    return (
        f"Of {of} pairs with a `main` that run without data ({len(ran)} repositories) {agreed} "
        f"({_share(agreed, of)}) were executed on gfx1100 with the CUDA side's output; "
        f"{sum(each.differ for each in ran)} differ, {sum(each.ended for each in ran)} ran to "
        f"their end with nothing to compare. {sum(each.not_run for each in ran)} others want data, "
        "arguments or libraries that emulation lacks."
    )


def _funnel(name: str, measured: list[Measured]) -> str:
    pairs = sum(each.pairs for each in measured)
    of = sum(each.with_device_code for each in measured)
    sums = [
        sum(getattr(each, what) for each in measured)
        for what in ("rows", "reached", "own_command", "no_device_code", "duplicates")
    ]
    with_pairs = sum(each.pairs > 0 for each in measured)
    good = sum(each.pairs >= _GOOD_SHARE * each.with_device_code > 0 for each in measured)
    cells = [
        name,
        len(measured),
        with_pairs,
        good,
        *sums,
        f"**{pairs}**",
        f"{_share(pairs, of)} of {of}",
    ]
    return f"| {' | '.join(map(str, cells))} |"


def table_of_classes(measured: list[Measured]) -> str:
    """Markdown: what stopped most rows over all repositories, in the words of their diagnostics."""
    rows: Counter[str] = Counter()
    where: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for each in measured:
        for why in each.stopped:
            if why.what != NOT_REACHED and why.rows:
                what = _class_of(why.what)
                rows[what] += why.rows
                where[what][each.repository] += why.rows
    lines = ["| what | rows | where |", "|---|---:|---|"]
    for what, count in rows.most_common(_CLASSES_SHOWN):
        most = where[what].most_common(_PLACES_SHOWN)
        more = ", …" if len(where[what]) > len(most) else ""
        places = ", ".join(f"{name.split('/')[1]} {n}" for name, n in most)
        lines.append(f"| `{_words(what)}` | {count} | {places}{more} |")
    return "\n".join(lines) + "\n"


def _class_of(what: str) -> str:
    return re.sub(r"\d{2,}", "N", re.sub(r" in \S+$", "", what))


def _sum(name: str, measured: list[Measured]) -> str:
    rows, pairs = sum(each.rows for each in measured), sum(each.pairs for each in measured)
    of = sum(each.with_device_code for each in measured)
    return (
        f"| {name} {len(measured)} | | | {rows} | | | | **{pairs}** "
        f"| {_share(pairs, of)} of {of} | | | |"
    )


def _row(row: Repository, each: Measured) -> str:
    stopped = "; ".join(
        f"`{_words(why.what)}` {why.rows}" for why in each.stopped[:_WHY_SHOWN] if why.rows
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
