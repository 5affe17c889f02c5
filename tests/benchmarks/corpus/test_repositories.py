"""Repositories that are measured: the rule, counts of a build, the table."""

from __future__ import annotations

import csv
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.corpus.repositories.measure import Measured, Results, of_progress, of_report
from benchmarks.corpus.repositories.page import (
    table_of_all,
    table_of_classes,
    table_of_repositories,
)
from benchmarks.corpus.repositories.rule import (
    Facts,
    Repository,
    RepositoryList,
    candidates,
    choose,
    choose_later,
    choose_new,
    facts_of,
    new_candidates,
)
from benchmarks.corpus.repositories.taken import lines_of, pairs_of, programs_of, take
from cass_ray.corpus.program import SourceError
from tests.benchmarks.project.test_rows import repository

MIT = (
    "Permission is hereby granted, free of charge, to any person\n"
    'THE SOFTWARE IS PROVIDED "AS IS"\n'
)


def measured(name: str, rows: int, pairs: int) -> Measured:
    return Measured(
        list="by_rule", repository=name, commit="", date="2026-11-29", seconds=1, finished=True,
        rows=rows, no_device_code=1, duplicates=1, pairs=pairs,
    )  # fmt: skip


def test_candidates_are_in_the_order_of_their_hashes() -> None:
    names = list(candidates(["BVLC/Caffe"]))
    hashes = [hashlib.sha256(name.lower().encode()).hexdigest() for name in names]
    assert hashes == sorted(hashes)
    assert len(set(names)) == len(names) > 250
    assert "BVLC/caffe" not in names
    assert not [name for name in names if name.startswith("ROCm/")]


@pytest.mark.parametrize(
    ("license_", "cu_files", "hip_files", "fits"),
    [
        ("MIT", 5, 0, True),
        ("MIT", 400, 4, True),
        ("MIT", 4, 0, False),
        ("MIT", 401, 0, False),
        ("MIT", 5, 5, False),
        ("GPL-3.0", 5, 0, False),
        ("", 5, 0, False),
    ],
)
def test_limits_of_the_rule(license_: str, cu_files: int, hip_files: int, fits: bool) -> None:
    assert Facts("", license_, cu_files, hip_files).fits is fits


def test_the_first_sixty_that_fit_are_tried_the_smallest_first() -> None:
    names = list(candidates([]))

    def facts(name: str) -> Facts:
        place = names.index(name)
        if place == 2:
            raise SourceError("no clone")
        return Facts(str(place), "MIT", 5 + (100 - place) % 7, 0)

    chosen = choose(RepositoryList(named=[]), facts)
    assert chosen.not_had == [names[2]]
    places = [int(each.commit) for each in chosen.by_rule]
    assert sorted(places) == [place for place in range(61) if place != 2]
    assert places == sorted(places, key=lambda place: ((100 - place) % 7, place))


@pytest.mark.parametrize(("later", "before"), [("second", "by_rule"), ("third", "second")])
def test_a_later_list_begins_after_the_last_of_the_one_before(later: str, before: str) -> None:
    names = list(candidates([]))

    def facts(name: str) -> Facts:
        place = names.index(name)
        if place in (2, 64):
            raise SourceError("no clone")
        return Facts(str(place), "MIT" if place % 2 else "", 5, 0)

    ends = Repository(repository=names[119])
    written = RepositoryList.model_validate(
        {
            "named": [],
            before: [Repository(repository=names[7]), ends, Repository(repository=names[11])],
            later: [Repository(repository=names[121], kind="k")],
            "not_had": [names[2], names[64], names[130]],
        }
    )
    chosen = choose_later(choose_later(written, facts, later), facts, later)
    taken: list[Repository] = getattr(chosen, later)
    assert [int(each.commit) for each in taken] == list(range(121, 121 + 60, 2))
    assert [each.kind for each in taken] == ["k", *[""] * 29]
    assert getattr(chosen, before) == getattr(written, before)
    assert chosen.not_had == [names[2], names[64]]


def test_later_lists_take_names_that_no_list_had() -> None:
    linked = list(new_candidates([]))
    assert not {name.lower() for name in linked} & {name.lower() for name in candidates([])}
    earlier = RepositoryList(named=[Repository(repository=linked[0])], not_had=["a/b", linked[9]])

    def facts(name: str) -> Facts:
        if name == linked[5]:
            raise SourceError("no clone")
        return Facts("", "MIT", 5, 0)

    chosen = choose_new(earlier, facts, "sixth")
    expected = [name for name in linked[1:42] if name != linked[5]]
    assert [each.repository for each in chosen.sixth] == expected
    assert chosen.not_had == ["a/b", linked[9], linked[5]]
    chosen = choose_new(choose_new(chosen, facts, "seventh"), facts, "seventh")
    assert [each.repository for each in chosen.seventh] == linked[42:57]


def test_the_lists_that_are_committed() -> None:
    listed = RepositoryList.load()
    lists = (listed.by_rule, listed.second, listed.third)
    assert [len(each) for each in lists] == [60, 30, 30]
    assert all(5 <= row.cu_files <= 400 and row.kind for each in lists for row in each)
    names = list(candidates([each.repository for each in listed.named]))
    places = [{names.index(row.repository) for row in each} for each in lists]
    assert max(places[0]) < min(places[1]) <= max(places[1]) < min(places[2])


def test_facts_of_a_commit(tmp_path: Path) -> None:
    source = tmp_path / "source"
    for path in ("a.cu", "x/b.cu", "x/hip/c.cpp", "x/hip.cpp", "d.hip", "e.cuh"):
        (source / path).parent.mkdir(parents=True, exist_ok=True)
        (source / path).write_text("int a;\n")
    (source / "LICENSE").write_text(MIT)
    seen = facts_of(repository(tmp_path / "clones", "me/own", source))
    assert (seen.license, seen.cu_files, seen.hip_files) == ("MIT", 2, 2)
    with pytest.raises(SourceError):
        facts_of(source)


def test_counts_of_a_report() -> None:
    report = {
        "rows": 9,
        "pairs": 4,
        "duplicates": {"near_duplicate": 2},
        "rejects": [
            {"stage": "compile_nvidia", "reason": "no_device_code", "rows": 2},
            {"stage": "compile_amd", "reason": "compile_error", "rows": 1},
        ],
        "funnel": {
            "repositories": {"me/own": {"configured": 8}},
            "unlocks": [{"repository": "me/own", "what": "name a", "rows": 1}],
        },
    }
    seen = Measured(
        list="named", repository="me/own", commit="", date="", seconds=0, finished=True,
        **of_report(report),
    )  # fmt: skip
    assert (seen.rows, seen.own_command, seen.no_device_code, seen.duplicates) == (9, 8, 2, 2)
    assert (seen.pairs, seen.with_device_code) == (4, 5)
    assert [(each.what, each.rows) for each in seen.stopped] == [("name a", 1)]


@pytest.mark.parametrize(
    ("said", "rows", "pairs", "no_code", "left"),
    [
        ("rows 0 (reading) · pairs 0\n", 0, 0, 0, 0),
        ("rows 3/9 · pairs 1 · rejects 2 (no_device_code 2) · 0.2 rows/s\n", 9, 1, 2, 6),
        ("rows 1/9 · pairs 0\nrows 4/9 · pairs 4\ninterrupted\n", 9, 4, 0, 5),
    ],
)
def test_counts_of_a_build_that_was_ended(
    said: str, rows: int, pairs: int, no_code: int, left: int
) -> None:
    counts = of_progress(said)
    assert (counts["rows"], counts["pairs"], counts["no_device_code"]) == (rows, pairs, no_code)
    assert counts["stopped"][0] == {"what": "not reached", "rows": left}
    seen = Measured(
        list="named", repository="me/own", commit="", date="", seconds=0, finished=False, **counts
    )
    assert seen.with_device_code == rows - left - no_code


def test_the_table_has_the_first_and_the_last_result_of_each_repository() -> None:
    rows = [Repository(repository=name, kind="library", cu_files=6) for name in ("a/a", "b/b")]
    listed = RepositoryList(named=[], by_rule=[*rows, Repository(repository="c/c")])
    last = [measured("b/b", 6, 3), measured("a/a", 6, 1)]
    said = table_of_repositories(listed, Results(measured=last, first=last[:1]))
    table = list(csv.DictReader(said.splitlines()))
    seen = [(row["result"], row["repository"], row["pairs"]) for row in table]
    assert seen == [("first", "b/b", "3"), ("last", "a/a", "1"), ("last", "b/b", "3")]
    assert table[1]["kind"] == "library"
    assert table[1]["with_device_code"] == "4"


def test_what_stopped_rows_is_summed_over_repositories() -> None:
    some = measured("a/a", 6, 1)
    why = [
        {"what": "not reached", "rows": 9},
        {"what": "header a.h", "rows": 2},
        {"what": "translate: sm_80 in x/y.cuh", "rows": 1},
    ]
    other = [{"what": "header a.h", "rows": 1}, {"what": "translate: sm_90", "rows": 3}]
    both = [
        Measured.model_validate({**some.model_dump(), "repository": name, "stopped": stopped})
        for name, stopped in (("a/one", why), ("b/two", other))
    ]
    assert table_of_classes(both).splitlines()[2:] == [
        "| `translate: sm_N` | 4 | two 3, one 1 |",
        "| `header a.h` | 3 | one 2, two 1 |",
    ]


ROW = {"repository": "b/b", "path": "k.cu", "stage": "compile_amd", "reason": "compile_error"}
ENDED = {
    "name": "b+b",
    "report": None,
    "rows": [
        {**ROW, "diagnostic": "k.cu:3:4: error: unknown type name 'dim9'\n"},
        {**ROW, "reason": "no_device_code", "diagnostic": ""},
        {"path": "p.cu", "stage": None, "reason": None, "diagnostic": None},
    ],
    "said": "1 min 40 s \u00b7 compiling \u00b7 rows 3/8 \u00b7 pairs 1 \u00b7 rejects 2 "
    "(compile_error 1, no_device_code 1)\n",
}
FINISHED = {
    "name": "a+a",
    "report": {"rows": 4, "pairs": 3, "duplicates": {}, "rejects": [], "seconds": 7.4},
    "rows": [],
    "said": "",
}


def test_results_of_another_machine_are_taken(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in (ENDED, FINISHED)))
    rows = [Repository(repository=name, commit="c") for name in ("a/a", "b/b", "c/c")]
    listed = RepositoryList(named=[], second=rows)
    results = Results(measured=[measured("a/a", 4, 1), measured("c/c", 2, 2)])
    said = take(listed, results, lines_of([path]), "2026-11-29")
    assert said == [
        "taken: a/a 3 of 4, 4 of 4 rows reached",
        "taken: b/b 1 of 2, 3 of 8 rows reached",
    ]
    of = {each.repository: each for each in results.measured}
    assert (of["a/a"].pairs, of["a/a"].finished, of["a/a"].seconds) == (3, True, 7)
    assert (of["a/a"].list, of["a/a"].commit) == ("second", "c")
    assert (of["b/b"].rows, of["b/b"].finished, of["b/b"].seconds) == (8, False, 100)
    assert [(each.what, each.rows) for each in of["b/b"].stopped] == [
        ("not reached", 5),
        ("name dim9 (compile_amd)", 1),
    ]
    assert of["c/c"].pairs == 2


def test_the_first_results_of_the_third_list_stay() -> None:
    results = Results()
    for pairs in (1, 3):
        for listed in ("second", "third"):
            row = measured(f"{listed}/a", 4, pairs)
            results.replace(row.model_copy(update={"list": listed}))
    assert [(each.repository, each.pairs) for each in results.first] == [("third/a", 1)]
    assert {each.pairs for each in results.measured} == {3}


def test_programs_that_were_run_and_digests_of_pairs() -> None:
    def row(name: str, verified: str, executed: bool, stage: str = "") -> dict[str, object]:
        why = "output_differs" if stage == "execute" else "compile_error" if stage else ""
        return {
            "id": name * 64, "path": name, "stage": stage, "reason": why, "main": name != "n",
            "verified": verified, "executed": executed, "diagnostic": "",
        }  # fmt: skip

    rows = [
        row("a", "executed", True),
        row("b", "executed", True),
        row("c", "compiled", True),
        row("d", "compiled", False),
        row("e", "compiled", True, "execute"),
        row("f", "compiled", False, "compile_amd"),
        {**row("g", "compiled", False, "execute"), "reason": "compile_error"},
        row("n", "executed", True),
    ]
    seen = programs_of(rows)
    assert (seen.agreed, seen.ended, seen.differ, seen.not_run) == (2, 1, 1, 2)
    assert seen.need_nothing == 4
    plain: dict[str, dict[str, Any]] = {"a+a": {"rows": rows}, "a+a+executed": {"rows": []}}
    listed = [Repository(repository=name) for name in ("a/a", "b/b")]
    assert pairs_of(plain, listed) == {"a/a": [x * 16 for x in "abcdn"]}
    results = Results(measured=[measured("a/a", 7, 5).model_copy(update={"programs": seen})])
    page = table_of_all(results, pairs_of(plain, listed))
    counts = "| **all** | 1 | 1 | 1 | 7 | 7 | 0 | 1 | 1 | **5** | 100% of 5 | 100% of 5 (1) | 5 |"
    assert counts in page
    assert "5 distinct pairs of 1 repositories. Of 0 with 0 pairs none came back" in page
    assert "Of 4 pairs with a `main` that run without data (1 repositories) 2 (50%)" in page


@pytest.mark.parametrize(
    ("finished", "reached", "taken"),
    [(True, 8, False), (True, 1, False), (False, 4, False), (False, 3, True), (False, 0, True)],
)
def test_an_ended_build_replaces_what_came_less_far(
    finished: bool, reached: int, taken: bool
) -> None:
    left = [{"what": "not reached", "rows": 8 - reached}]
    old = Measured(
        list="named", repository="b/b", commit="", date="", seconds=1, finished=finished,
        rows=8, stopped=left,
    )  # fmt: skip
    results = Results(measured=[old])
    listed = RepositoryList(named=[Repository(repository="b/b")])
    take(listed, results, {"b+b": ENDED}, "")
    assert (results.measured[0].pairs == 1) is taken


def test_a_repository_that_was_built_in_parts_is_their_sum() -> None:
    finished = {**FINISHED, "rows": [{"id": "x" * 64, "reason": None}]}
    ended = {**ENDED, "rows": [{**row, "id": "y" * 64} for row in ENDED["rows"]]}
    lines = {"b+b": ended, "b+b+1": finished, "b+b+2": ended}
    row = Repository(repository="b/b", parts=2)
    results = Results()
    take(RepositoryList(named=[row]), results, lines, "")
    seen = results.measured[0]
    assert (seen.rows, seen.pairs, seen.reached, seen.seconds) == (12, 4, 7, 107)
    assert not seen.finished
    assert pairs_of(lines, [row]) == {"b/b": ["x" * 16, "y" * 16]}


@pytest.mark.parametrize(("parts", "finished"), [(2, True), (3, False)])
def test_a_part_that_is_missing_did_not_end(parts: int, finished: bool) -> None:
    row = Repository(repository="a/a", parts=parts)
    results = Results()
    take(RepositoryList(named=[row]), results, {"a+a+1": FINISHED, "a+a+2": FINISHED}, "")
    assert (results.measured[0].finished, results.measured[0].pairs) == (finished, 6)


def test_of_several_results_the_farthest_counts(tmp_path: Path) -> None:
    early = {**ENDED, "rows": ENDED["rows"][:1]}
    for number, line in enumerate((early, ENDED, early)):
        (tmp_path / f"{number}.jsonl").write_text(json.dumps(line) + "\n")
    assert len(lines_of(sorted(tmp_path.iterdir()))["b+b"]["rows"]) == 3


def test_a_build_that_failed_says_why() -> None:
    line = {**ENDED, "rows": [], "said": "3 s \u00b7 reading\ncass build-dataset: error: no room\n"}
    results = Results()
    take(RepositoryList(named=[Repository(repository="b/b")]), results, {"b+b": line}, "")
    seen = results.measured[0]
    assert (seen.rows, seen.finished, seen.error) == (
        0,
        False,
        "cass build-dataset: error: no room",
    )
