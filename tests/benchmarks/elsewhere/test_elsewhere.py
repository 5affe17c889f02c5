"""What travels to a machine that has processors alone, and what comes back."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchmarks.corpus.repositories.rule import Repository, RepositoryList
from benchmarks.elsewhere.commands import Command, Work
from benchmarks.elsewhere.lists import build_of
from benchmarks.elsewhere.rows import end_of_log, rows_of
from benchmarks.elsewhere.sources import MOST_BYTES, sources_of
from benchmarks.folders import REPOSITORY
from tests.security.forgeries.game import WHOLE, Part

FILES = {
    "LICENSE": True,
    "src/CMakeLists.txt": True,
    "src/a.cu": True,
    "src/b.cuh": True,
    "cmake/find.cmake": True,
    "configure.ac": True,
    "p/x.proto": True,
    "setup.py": True,
    "docs/example.cu": True,
    "docs/conf.py": False,
    "docs/notebooks/radar.h": True,
    "data/weights.bin": False,
    "image.png": False,
    "table.txt": False,
}


def test_sources_build_files_and_licences_travel(tmp_path: Path) -> None:
    for name in FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    headers = {"include/__config": b"#pragma once\n", "include/primes.hpp": b"2," * (1 << 20)}
    headers["include/api.hpp"] = b'#include "parts/vector.tcu"\n'
    for name, content in {**headers, "bin/tool": b"\x7fELF#\0", "data/words": b"a b\n"}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(content)
    (tmp_path / "src" / "data.h").write_bytes(b" " * (MOST_BYTES + 1))
    (tmp_path / "src" / "mha.cubin.cpp").write_text("unsigned char cubin[] = {0x7f};")
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "vector.tcu").write_text("struct V;")
    (tmp_path / "src" / "out.h").symlink_to("/etc/passwd")
    for command in (
        ["init", "-q"],
        ["add", "-fA"],
        ["-c", "user.name=n", "-c", "user.email=n@n", "commit", "-qm", "m"],
    ):
        subprocess.run(["git", *command], cwd=tmp_path, check=True)
    found = dict(sources_of(tmp_path))
    sources = {name: name.encode() for name, wanted in FILES.items() if wanted}
    others = {"src/mha.cubin.cpp": b"", "parts/vector.tcu": b"struct V;"}
    assert found == {**sources, **headers, **others}
    of_include = dict(sources_of(tmp_path, "include"))
    assert of_include == headers
    assert list(sources_of(tmp_path, "incl")) == []


def test_rows_have_reasons_from_the_first_error_on_and_no_code(tmp_path: Path) -> None:
    folder = tmp_path / ".work" / "blocks-1" / "parts"
    folder.mkdir(parents=True)
    said = 'cicc: e.h(1): warning #20012-D: ignored\n  T t;\nk.cu(9): error: expected a ";"\n'
    rows: list[dict[str, Any]] = [
        {"id": "1", "path": "k.cu", "stage": "s", "reason": "compile_error", "diagnostic": said},
        {
            "id": "3",
            "path": "l.cu",
            "stage": "s",
            "reason": "internal_error",
            "diagnostic": "Traceback: error\n" + " " * 900 + "KeyError: 1",
        },
        {"id": "2", "path": "p.cu", "stage": None, "reason": None, "diagnostic": None},
    ]
    source = "int main() { return secret; }"
    evidence = {"grade": "exact", "runs": [1]}
    runs: dict[str, Any] = {"verified": "executed", "executed": True, "evidence": evidence}
    rows = [{**row, "repository": "me/own"} for row in rows]
    table = pa.Table.from_pylist([{**row, "cuda_source": source, **runs} for row in rows])
    pq.write_table(table, folder / "a.rows.parquet")
    (folder / "b.rows.parquet").write_bytes(b"PAR1 being written")
    made = {row["path"]: row for row in rows_of(tmp_path)}
    assert made["k.cu"]["diagnostic"] == 'k.cu(9): error: expected a ";"\n'
    assert made["l.cu"]["diagnostic"] == " " * 889 + "KeyError: 1"
    pair = {**rows[2], "diagnostic": ""}
    assert made["p.cu"] == pair
    assert "secret" not in json.dumps(list(made.values()))
    as_programs = {row["path"]: row for row in rows_of(tmp_path, runs=True)}
    run = {"verified": "executed", "executed": True, "main": True, "grade": "exact"}
    assert as_programs["p.cu"] == {**pair, **run}


def test_a_list_builds_a_repository_with_its_dependencies() -> None:
    row = Repository(repository="me/own", dependencies={"fmt": "fmtlib/fmt"})
    listed = RepositoryList(named=[], second=[row])
    command = (
        "python -m benchmarks.elsewhere.without_ray --resume --out /o/me+own{0} "
        "--source repository:/s/me+own --dependency fmt=/s/fmtlib+fmt "
        "--set limits.cpu_seconds=120 --set limits.wall_seconds=600 --set rows_per_block=2 "
        "--set slots={1} {2}"
        "> /o/me+own{0}.log 2>&1"
    )
    for asked, name, slots, more in (
        ("me/own", "", 1, ""),
        ("me/own*4", "", 4, ""),
        ("me/own:lifted*2", "+lifted", 2, "--set lifted_rows=true "),
    ):
        line = build_of(listed, asked, Path("/s"), Path("/o"))
        assert line == f"3600*{slots}\t{command.format(name, slots, more)}"
    both = [
        command.format("", 3, ""),
        command.format("+executed", 3, "--set execute=true "),
    ]
    line = build_of(listed, "me/own:executed*3", Path("/s"), Path("/o"))
    assert line == f"3600*3\t{'; '.join(both)}"
    for wrong in ("no/such", "me/own:runs"):
        with pytest.raises(ValueError, match=wrong):
            build_of(listed, wrong, Path("/s"), Path("/o"))


def test_the_end_of_a_log_comes_back(tmp_path: Path) -> None:
    (tmp_path / "a+whisper.cpp").mkdir()
    assert end_of_log(tmp_path / "a+whisper.cpp") == ""
    (tmp_path / "a+whisper.cpp.log").write_text("x" * 9000 + "end")
    assert end_of_log(tmp_path / "a+whisper.cpp") == "x" * 3997 + "end"


def test_as_many_commands_as_asked_for_run_at_once(tmp_path: Path) -> None:
    """Each waits for the other: with one at a time both would be ended."""
    lists, results = tmp_path / "lists", tmp_path / "results"
    lists.mkdir()
    wait = "touch {0}; until [ -e {1} ]; do :; done"
    one, two = tmp_path / "one", tmp_path / "two"
    text = f"20\t{wait.format(one, two)}\n20\t{wait.format(two, one)}\n"
    (lists / "some.list").write_text(text)
    module = REPOSITORY / "benchmarks" / "elsewhere" / "commands.py"
    command = [sys.executable, str(module), str(lists), str(results), "--workers", "2"]
    subprocess.run(command, check=True, timeout=60)
    ended = [json.loads(line) for line in (results / "log.jsonl").read_text().splitlines()]
    assert sorted((each["key"], each["status"]) for each in ended) == [
        ("some.00000", 0),
        ("some.00001", 0),
    ]


def test_commands_for_several_processors_wait_for_them(tmp_path: Path) -> None:
    (tmp_path / "a.list").write_text("9\ta0\n9*3\ta1\n9\ta2\n")
    (tmp_path / "b.list").write_text("9*2\tb0\n9*9\tb1\n")
    work = Work(tmp_path, tmp_path, 4)
    a0, b0 = work.take(), work.take()
    assert a0 is not None and b0 is not None
    assert (a0.text, b0.text, work.idle) == ("a0", "b0", 1)
    assert work.take() is None, "a1 is next and wants three, though a2 would fit"
    work.give_back(b0)
    b1 = work.take()
    assert b1 is None, "b has none at work; its next wants all four"
    work.give_back(a0)
    a1 = work.take()
    assert a1 is not None
    assert (a1.text, a1.processors, work.idle) == ("a1", 3, 1)
    assert work.take() is None
    work.give_back(a1)
    assert [each.text for each in iter(lambda: _end(work), None)] == ["a2", "b1"]
    assert not work.has_more()


def test_lists_may_come_later_until_the_end_is_said(tmp_path: Path) -> None:
    """The first list's command brings the second, whose command says that nothing more comes."""
    lists, results = tmp_path / "lists", tmp_path / "results"
    lists.mkdir()
    (tmp_path / "later").write_text(f"9\ttouch {results / 'stop'}\n")
    (lists / "a.list").write_text(f"9\tmv {tmp_path / 'later'} {lists / 'b.list'}\n")
    module = REPOSITORY / "benchmarks" / "elsewhere" / "commands.py"
    command = [sys.executable, str(module), str(lists), str(results), "--wait"]
    subprocess.run(command, check=True, timeout=60)
    ended = [json.loads(line)["key"] for line in (results / "log.jsonl").read_text().splitlines()]
    assert ended == ["a.00000", "b.00000"]


def _end(work: Work) -> Command | None:
    if not work.has_more():
        return None
    command = work.take()
    assert command is not None
    work.give_back(command)
    return command


def test_parts_of_the_game_are_the_whole(tmp_path: Path) -> None:
    parts = [Part.parse(f"{number}/3") for number in range(3)]
    played = [n for part in parts for n in range(10) if n % part.parts == part.number]
    assert sorted(played) == list(range(10))
    assert Part.parse("0/1") == WHOLE
    for text in ("3/3", "-1/2", "1", "a/b", "1/0"):
        with pytest.raises(ValueError, match=r".+"):
            Part.parse(text)
