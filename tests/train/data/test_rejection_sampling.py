"""Rejection sampling: what counts as right is what ran right."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from cass_ray.cache import ContentCache
from cass_ray.execute.backends.registry import candidate_backend
from cass_ray.execute.references import stored_references
from cass_ray.pipeline.stages.execute import ExecuteStage
from cass_ray.toolchain.locate import find_amd
from cass_ray.train.data.examples import is_held_out
from cass_ray.train.data.rejection_sampling import ExecutionJudge, RejectionSampler
from tests.train.conftest import pair


@dataclass
class ScriptedAnswer:
    code: str | None
    cut: bool = False


@dataclass
class Scripted:
    """Answers as written down here."""

    answers: list[ScriptedAnswer]

    def samples(self, source, task, number=None):
        return self.answers[:number]


@dataclass
class OnlyThis:
    """A judge for whom one text is right."""

    right: str

    def judge(self, row, hip_source):
        right = hip_source == self.right
        return (dict(row) | {"hip_source": hip_source}, "") if right else (None, "output_differs")


def test_the_first_sample_that_is_right_and_new_is_kept():
    row = next(pair(n) for n in range(9) if not is_held_out(pair(n)["id"], 0.1))
    answers = [
        ScriptedAnswer(None),
        ScriptedAnswer("int cut", cut=True),
        ScriptedAnswer(row["hip_source"].replace("    ", "\t")),
        ScriptedAnswer("wrong"),
        ScriptedAnswer("wrong"),
        ScriptedAnswer("right"),
        ScriptedAnswer("right too"),
    ]
    work = RejectionSampler(Scripted(answers), OnlyThis("right"), samples=7, held_out=0.1)
    assert [found["hip_source"] for found in work.rows([row])] == ["right"]
    assert work.outcomes == {"no code": 2, "known": 2, "output_differs": 1, "right": 1}


def test_held_out_programs_are_never_sampled():
    rows = [pair(number) for number in range(40)]
    kept = [row for row in rows if not is_held_out(row["id"], 0.5)]
    work = RejectionSampler(
        Scripted([ScriptedAnswer("right")]), OnlyThis("right"), samples=1, held_out=0.5
    )
    assert [row["id"] for row in work.rows(rows)] == [row["id"] for row in kept]
    assert 0 < len(kept) < 40


@pytest.mark.slow
@pytest.mark.amd
def test_a_wrong_translation_of_a_shipped_program_is_not_right(tmp_path):
    """The demo's own pair passes; the same with another number does not; half of it does not
    compile."""
    from pathlib import Path

    from cass_ray.train.data.prepare import pair_files, read_pairs

    demo = Path("out/demo")
    if not (demo / "pairs").is_dir():
        pytest.skip("needs `make demo`")
    from cass_ray.dataset.schema import PAIR_SCHEMA

    row = next(
        row
        for row in read_pairs(pair_files([demo]), tuple(PAIR_SCHEMA.names))
        if row["id"] in stored_references() and row["filename"] == "nbody.cu"
    )
    judge = ExecutionJudge(
        find_amd(), ExecuteStage(candidate_backend(), cache=ContentCache(tmp_path))
    )
    verified, reason = judge.judge(row, row["hip_source"])
    assert reason == ""
    assert verified is not None
    assert verified["verified"] == "executed"
    source = row["hip_source"]
    assert judge.judge(row, source[: len(source) // 2])[1] == "compile_error"
    wrong = source.replace("kStep = 0.002f", "kStep = 0.003f")
    assert wrong != source
    verified, reason = judge.judge(row, wrong)
    assert verified is None
    assert reason == "output_differs"
