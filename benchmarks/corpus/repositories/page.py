"""The tables of measured repositories."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter, defaultdict

from benchmarks.corpus.repositories.measure import NOT_REACHED, TRIED_ONCE, Measured, Results
from benchmarks.corpus.repositories.rule import LISTS, Repository, RepositoryList

_COLUMNS = (
    *("list", "result", "repository", "kind", "cu_files", "commit", "built_by", "date", "seconds"),
    *("finished", "rows", "reached", "own_command", "no_device_code", "duplicates", "pairs"),
    *("with_device_code", "stopped"),
)
_MOST_WORDS = 90
_WHY_SHOWN = 6
_CLASSES_SHOWN = 40
_PLACES_SHOWN = 4
_GOOD_SHARE = 0.6


def table_of_repositories(listed: RepositoryList, results: Results) -> str:
    """CSV: a row for the first and for the last result of each repository, in the lists' order."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for result, measured in (("first", results.first), ("last", results.measured)):
        by_name = {each.repository: each for each in measured}
        for _, row in listed.by_list():
            if (each := by_name.get(row.repository)) is not None:
                writer.writerow(_row(result, row, each))
    return out.getvalue()


def table_of_all(results: Results, pairs: dict[str, list[str]]) -> str:
    """Markdown: the lists and their sum, programs that were run, and which commits built pairs.

    ``pairs``: digests of pairs by repository, as far as they came back.
    """
    lines = [
        "| list | repositories | with a pair | at 60% or more | units | reached | own command "
        "| no device code | duplicates | **pairs** | of rows with device code "
        "| of finished ones alone | digests |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for name in LISTS:
        listed = [each for each in results.measured if each.list == name]
        lines.append(_funnel(name, listed, str(len(_distinct(listed, pairs)))))
    lines.append(_funnel("**all**", results.measured, str(len(_distinct(results.measured, pairs)))))
    for name in TRIED_ONCE:
        listed = [each for each in results.first if each.list == name]
        lines.append(_funnel(f"{name}, first tried", listed))
    by_commit: defaultdict[str, list[Measured]] = defaultdict(list)
    for each in results.measured:
        by_commit[each.built_by or "earlier ones, not written down"].append(each)
    lines += ["", "| built at commit | repositories | pairs |", "|---|---:|---:|"]
    for commit, built in by_commit.items():
        lines.append(f"| {commit} | {len(built)} | {sum(each.pairs for each in built)} |")
    without = [each for each in results.measured if each.pairs and each.repository not in pairs]
    lines += [
        "",
        f"Digests are in `repositories_pairs.json`: {len(_distinct(results.measured, pairs))} "
        f"distinct pairs of {len(pairs)} repositories. Of {len(without)} with "
        f"{sum(each.pairs for each in without)} pairs none came back.",
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


def _distinct(measured: list[Measured], pairs: dict[str, list[str]]) -> set[str]:
    return {each for row in measured for each in pairs.get(row.repository, ())}


def _funnel(name: str, measured: list[Measured], digests: str = "") -> str:
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
        _of_finished([each for each in measured if each.finished]),
        digests,
    ]
    return f"| {' | '.join(map(str, cells))} |"


def _of_finished(measured: list[Measured]) -> str:
    pairs = sum(each.pairs for each in measured)
    of = sum(each.with_device_code for each in measured)
    return f"{_share(pairs, of)} of {of} ({len(measured)})"


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


def _row(result: str, row: Repository, each: Measured) -> list[str]:
    stopped = [f"{why.what[:_MOST_WORDS]} {why.rows}" for why in each.stopped if why.rows]
    said = "; ".join(stopped[:_WHY_SHOWN]) or each.error
    known = {"result": result, "kind": row.kind, "cu_files": row.cu_files, "stopped": said}
    return [str(known[name] if name in known else getattr(each, name)) for name in _COLUMNS]


def _words(text: str) -> str:
    return text.replace("|", "\\|").replace("`", "'")[:_MOST_WORDS]


def _share(pairs: int, of: int) -> str:
    return f"{pairs / of:.0%}" if of else "–"
