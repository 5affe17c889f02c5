"""Licenses, scrub, duplicates, evaluation data: what becomes of rows before and after compiling."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import cass_ray.bench.task
from cass_ray.cache import digest
from cass_ray.corpus.dedup.shards import LocalShards
from cass_ray.corpus.parsing.structure import opcode_set, syntax_shape
from cass_ray.corpus.screening.comparison import (
    compared_opcodes,
    compared_sources,
    opcode_levels,
    source_levels,
)
from cass_ray.corpus.screening.decide import Decider, Duplicate
from cass_ray.corpus.screening.decontaminate import Decontamination, DecontaminationSettings
from cass_ray.corpus.screening.evaluation import (
    CANARY,
    TASKS_FOLDER,
    EvaluationError,
    EvaluationProgram,
    benchmark_programs,
)
from cass_ray.corpus.screening.licenses import LicenseSettings, is_allowed, license_objection
from cass_ray.corpus.screening.opcode_store import read_store, source_key, write_store
from cass_ray.corpus.screening.screening import Screening
from cass_ray.corpus.screening.scrub import ScrubSettings, scrub
from cass_ray.corpus.screening.settings import (
    NearDuplicateSettings,
    ScreeningSettings,
    StructuralDuplicateSettings,
)
from cass_ray.corpus.sources.shipped import SHIPPED_ROOT
from cass_ray.dataset.duplicates_report import RemovedRow
from cass_ray.dataset.row import (
    Reason,
    Stage,
    is_rejected,
    rejected,
)

NO_EVALUATION = DecontaminationSettings(benchmark=False)


def program(name: str, constant: int = 3, lines: int = 30) -> str:
    """A kernel in which ``name`` and ``constant`` decide the tokens and nothing else."""
    body = "".join(
        f"  {name}_{i} = {name}[i + {constant + i}] * {constant}.0f; // line {i}\n"
        f"  if ({name}_{i} > {constant}) {{ {name}[{i}] -= {name}_{i}; }}\n"
        for i in range(lines)
    )
    return f"__global__ void {name}_kernel(float *{name}, int i) {{\n  float {name}_0;\n{body}}}\n"


def row(source: str, **columns: Any) -> dict[str, Any]:
    """A row as a source gives it."""
    return {
        "id": digest([source, json.dumps(columns)]),
        "origin": "local",
        "repository": "someone/something",
        "path": "a.cu",
        "license": "",
        "cuda_source": source,
        "opencl_source": "",
        "reason": "",
        **columns,
    }


@dataclass
class Outcome:
    """What became of rows."""

    rows: list[dict[str, Any]]
    """Screened, then marked as what they repeat."""
    duplicates: list[Duplicate]
    overlaps: list[RemovedRow]
    scrubbed: Counter[str]

    @property
    def reasons(self) -> list[str]:
        """ "" for a row that passes."""
        return [row["reason"] for row in self.rows]


def screened(rows: list[dict[str, Any]], batch: int = 64, **changes: Any) -> Outcome:
    """Both steps before compiling, ``batch`` rows at a time."""
    changes.setdefault("decontamination", NO_EVALUATION)
    settings = ScreeningSettings(**changes)
    screening = Screening(settings)
    decider = Decider(source_levels(settings), LocalShards(2))
    outcome = Outcome([], [], [], Counter())
    for start in range(0, len(rows), batch):
        done = screening.sources(rows[start : start + batch])
        table = compared_sources(done.rows, done.live, done.sets, settings)
        for each in decider.offer(table):
            place = table.column("position")[each.line].as_py()
            row = done.rows[place]
            message, again = each.message(), each.repeats
            done.rows[place] = rejected(row, Stage.DEDUPLICATE, each.reason, message, again)
            outcome.duplicates.append(each)
        outcome.rows += done.rows
        outcome.overlaps += done.overlaps
        outcome.scrubbed += done.scrubbed
    return outcome


def task_source() -> tuple[str, str]:
    """Name and text of a CUDA program of the benchmark."""
    found = next(each for each in benchmark_programs() if each.name.endswith("main.cu"))
    return found.name, found.source


class TestLicenses:
    @pytest.mark.parametrize(
        ("expression", "allowed"),
        [
            ("MIT", True),
            ("mit", True),
            ("GPL-3.0", False),
            ("GPL-3.0 OR MIT", True),
            ("GPL-3.0 AND MIT", False),
            ("MIT AND Apache-2.0", True),
            ("(GPL-3.0 OR MIT) AND Apache-2.0", True),
            ("(GPL-3.0 OR LGPL-2.1) AND Apache-2.0", False),
            ("Apache-2.0 WITH LLVM-exception", False),
        ],
    )
    def test_expressions(self, expression: str, allowed: bool) -> None:
        assert is_allowed(expression, frozenset({"mit", "apache-2.0"})) is allowed

    def test_unknown_licenses(self) -> None:
        settings = LicenseSettings(allow=["MIT"])
        assert license_objection({"license": ""}, settings) is None
        strict = LicenseSettings(allow=["MIT"], unknown=False)
        verdict = license_objection({"license": ""}, strict)
        assert verdict is not None and verdict[0] is Reason.LICENSE_NOT_ALLOWED

    def test_rows(self) -> None:
        rows = [row(program("a"), license="GPL-3.0"), row(program("b"), license="MIT")]
        found = screened(rows, licenses=LicenseSettings(allow=["MIT"]))
        assert found.reasons == ["license_not_allowed", ""]


class TestScrub:
    @pytest.mark.parametrize(
        ("before", "after"),
        [
            ("// ask jane.doe@example.org\nint a;", "// ask <EMAIL>\nint a;"),
            ("// jane (at) example (dot) org", "// <EMAIL>"),
            ('char *k = "AKIAIOSFODNN7EXAMPLE";', 'char *k = "<KEY>";'),
            (f"// ghp_{'a1B2' * 9}", "// <KEY>"),
            ("/* password = hunter2hunter2 */", "/* password = <KEY> */"),
            (
                "/*\n-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\n*/",
                "/*\n<KEY>\n*/",
            ),
            ('connect("142.250.74.46");', 'connect("<IP_ADDRESS>");'),
        ],
    )
    def test_replaced(self, before: str, after: str) -> None:
        assert scrub(before, ScrubSettings())[0] == after

    @pytest.mark.parametrize(
        "source",
        [
            "// Copyright 2020 Jane Doe. All rights reserved.",
            "a@b = c@d.e;",  # code, not text
            'version("1.2.3.4"); listen("127.0.0.1"); lan("192.168.1.200");',
            "// token = next_token(stream); secret: see above",
            "int password_length = 12;",
            "// __shfl_down_sync(0xffffffff, v, 16) and 6364136223846793005ULL",
        ],
    )
    def test_left_alone(self, source: str) -> None:
        assert scrub(source, ScrubSettings()) == (source, {})

    def test_shipped_programs_hold_nothing(self) -> None:
        for path in (SHIPPED_ROOT / "programs").rglob("*.cu"):
            assert scrub(path.read_text(errors="replace"), ScrubSettings())[1] == {}, path

    def test_rows_and_report(self) -> None:
        source = "// by jane@example.org\n" + program("a")
        found = screened([row(source)])
        (done,) = found.rows
        assert "<EMAIL>" in done["cuda_source"] and "jane@" not in done["cuda_source"]
        assert found.scrubbed == {"emails": 1}


class TestDuplicates:
    def test_levels_and_clusters(self) -> None:
        first, near = program("alpha"), program("alpha").replace("alpha_3 ", "alpha_2 ")
        shape = program("omega", constant=8)
        rows = [row(first, origin="synthetic"), row(near, origin="synthetic")]
        rows += [{**rows[0], "path": "copy.cu"}, row(shape, origin="synthetic"), row(shape)]
        found = screened(rows)
        expected = ["", "near_duplicate", "exact_duplicate", "structural_duplicate"]
        # The last has the tokens of the fourth, which was not dropped as a near duplicate.
        assert found.reasons == [*expected, "near_duplicate"]
        assert sorted(each.level for each in found.duplicates) == ["exact", "near", "near", "shape"]
        assert {each.repeats for each in found.duplicates} == {rows[0]["id"], rows[3]["id"]}
        assert [row["duplicate_of"] for row in found.rows[1:4]] == [rows[0]["id"]] * 3
        assert found.overlaps == []

    def test_shape_counts_for_the_origins_named_only(self) -> None:
        rows = [row(program("alpha")), row(program("omega", constant=8))]
        assert screened(rows).reasons == ["", ""]

    def test_batches_do_not_matter(self) -> None:
        rows = [row(program(f"name{i % 150}", lines=4 + i % 7)) for i in range(700)]
        whole = screened(rows, batch=700).reasons
        single = screened(rows, batch=1).reasons
        assert whole == single
        assert 0 < whole.count("") < 700

    @pytest.mark.parametrize(
        ("source", "columns", "compared_by_code"),
        [
            ('#include "k.cuh"\nnamespace n {{ INSTANTIATE({0}) }}\n', {}, True),
            ('#include "k.cuh"\nnamespace n {{ INSTANTIATE({0}) }}\n', {"configured": ""}, False),
            ("__global__ void k(int* a) {{ *a = n::f<{0}>(); }}\n", {}, False),
            ('#include "k.cuh"\nnamespace n {{ INSTANTIATE({0}) }}\n', {"reason": "empty"}, False),
        ],
    )
    def test_instantiations_of_a_project_are_compared_by_their_code(
        self, source: str, columns: dict[str, Any], compared_by_code: bool
    ) -> None:
        columns = {"configured": "recorded", "header_kernels": 1, "cuda_device": SASS, **columns}
        filler = "".join(f"template int f{i}(float, double, int*);\n" for i in range(20))
        rows = [
            row(source.format(kind) + filler, path=f"{kind}.cu", **columns)
            for kind in ("float", "double")
        ]
        settings = ScreeningSettings(decontamination=NO_EVALUATION)
        compared = compared_opcodes(rows, settings)
        assert compared.num_rows == (2 if compared_by_code else 0)
        if "reason" not in columns or not columns["reason"]:
            reasons = screened(rows).reasons
            assert reasons == ["", "" if compared_by_code else "near_duplicate"]
        if compared_by_code:
            decider = Decider(opcode_levels(settings), LocalShards(2), exact=False)
            (gone,) = decider.offer(compared)
            assert (gone.line, gone.level, gone.similarity) == (1, "opcodes", 1.0)

    def test_off(self) -> None:
        rows = [row(program("a")), row(program("a").replace("a_3 ", "a_2 "))]
        off = NearDuplicateSettings(enabled=False)
        none = StructuralDuplicateSettings(shape=None, opcodes=None)
        found = screened(rows, near_duplicates=off, structural_duplicates=none)
        assert found.reasons == ["", ""]

    def test_shape_ignores_names_constants_and_comments(self) -> None:
        assert syntax_shape("int a = 1; // x") == syntax_shape("int bcd = 22;")
        assert syntax_shape("int a = 1;") != syntax_shape("int a = b;")


SASS = ".target sm_80\n\nFunction : _Z1kPf\n" + "".join(
    f"{('FADD', 'FMUL', 'IADD3', 'LDG.E', 'STG.E')[(i * i) % 5]} R{i}, R1, R2\n" for i in range(90)
)


class TestDecontamination:
    def test_the_canary_is_the_benchmarks(self) -> None:
        assert CANARY == cass_ray.bench.task.CANARY
        assert TASKS_FOLDER == cass_ray.bench.task.TASKS_FOLDER

    def test_planted_copies_go_and_say_what_they_copy(self) -> None:
        name, source = task_source()
        copied = source.replace(CANARY, "")
        changed = copied.replace("int main", "static int unused(int a) { return a; }\nint main")
        rows = [row(source), row(copied), row(changed), row(program("mine"))]
        found = screened(rows, decontamination=DecontaminationSettings())
        done = found.rows
        assert [each["reason"] for each in done] == [*["benchmark_overlap"] * 3, ""]
        levels = sorted((each.level, each.id) for each in found.overlaps)
        assert [level for level, _ in levels] == ["canary", "source", "source"]
        assert all(each.repeats == name for each in found.overlaps if each.level == "source")
        assert name in done[1]["diagnostic"]
        assert not is_rejected(done[3])

    def test_by_repository(self, tmp_path: Path) -> None:
        (tmp_path / "held_out.txt").write_text("# held out\nhttps://host.example/Owner/Name.git\n")
        settings = DecontaminationSettings(benchmark=False, lists=[tmp_path / "held_out.txt"])
        rows = [row(program("a"), repository="owner/name"), row(program("b"), repository="o/n")]
        found = screened(rows, decontamination=settings)
        assert found.reasons == ["benchmark_overlap", ""]
        assert found.overlaps[0].level == "repository"

    def test_by_opcodes_of_an_evaluation_list(self, tmp_path: Path) -> None:
        table = pa.table({"cuda_device": [SASS], "filename": ["held_out.cu"]})
        pq.write_table(table, tmp_path / "evaluation.parquet")
        settings = DecontaminationSettings(benchmark=False, lists=[tmp_path / "evaluation.parquet"])
        screening = Screening(ScreeningSettings(decontamination=settings))
        renamed = SASS.replace("_Z1kPf", "_Z9different").replace("R1,", "R7,")
        other = SASS.replace("FMUL", "DMUL").replace("LDG.E", "LDS")
        rows = [row(program("a"), cuda_device=text) for text in (renamed, other, "")]
        done = screening.machine_code(rows).rows
        assert [each["reason"] for each in done] == ["benchmark_overlap", "", ""]
        assert "evaluation.parquet[0].cuda_device" in done[0]["diagnostic"]

    def test_short_machine_code_proves_nothing(self) -> None:
        short = "\n".join(SASS.splitlines()[:40])
        assert opcode_set(short) is None

    @pytest.mark.parametrize(
        ("name", "content", "message"),
        [
            ("missing.txt", None, "No such file"),
            ("list.csv", "a,b", "evaluation list is a folder"),
            ("bad.parquet", "not parquet", "bad.parquet"),
        ],
    )
    def test_lists_that_cannot_be_loaded(
        self, tmp_path: Path, name: str, content: str | None, message: str
    ) -> None:
        if content is not None:
            (tmp_path / name).write_text(content)
        with pytest.raises(EvaluationError, match=message):
            Decontamination(DecontaminationSettings(benchmark=False, lists=[tmp_path / name]))

    def test_a_missing_benchmark_is_an_error(self, tmp_path: Path) -> None:
        with pytest.raises(EvaluationError, match=r"decontamination\.benchmark=false"):
            benchmark_programs(tmp_path)

    def test_opcode_store_round_trip(self, tmp_path: Path) -> None:
        one = EvaluationProgram("one.cu", "source one")
        two = EvaluationProgram("two.cu", "source two")
        sets = {
            source_key(one): np.array([1, 5, 9], np.uint32),
            source_key(two): np.empty(0, np.uint32),
        }
        write_store(sets, tmp_path / "store.npz")
        found = read_store(tmp_path / "store.npz")
        assert {key: value.tolist() for key, value in found.items()} == {
            source_key(one): [1, 5, 9],
            source_key(two): [],
        }
