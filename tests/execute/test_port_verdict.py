"""Who counts as a second port of an original, and when a size that we made up does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from cass_ray.checked_entry import seal
from cass_ray.corpus.reading.source_files import Sources
from cass_ray.execute import port_verdict
from cass_ray.execute.backends.base import BuiltProgram, Inputs
from cass_ray.execute.backends.rdna3 import Rdna3Backend
from cass_ray.execute.grades import Grade
from cass_ray.execute.port_verdict import JudgedPort, judge_port
from cass_ray.execute.references import ReferenceRun, ReferenceRuns
from cass_ray.execute.targets import as_hip, translated_port
from cass_ray.execute.verification import PortVerification, RunRecord
from cass_ray.execute.verify import Policy

CUDA = "__global__ void k() {}\nint main() { k<<<1, 1>>>(); cudaDeviceSynchronize(); }\n"
BACKEND = Rdna3Backend()


def kept(folder: Path, name: str, content: bytes, *, sealed: bool = True) -> BuiltProgram:
    path = folder / name
    path.write_bytes(content + (seal(name, content) if sealed else b""))
    return BuiltProgram(path, "rdna3", name)


@pytest.mark.parametrize(
    ("content", "sealed", "asked"),
    [
        (b"\x7fELF program", True, False),  # as the port, but for a comment
        (b"\x7fELF program", False, False),
        (b"\x7fELF program.", True, True),
        (b"\x7fELF progran", True, True),
        (b"", True, True),
    ],
)
def test_the_same_code_is_no_second_port(
    content: bytes, sealed: bool, asked: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    port = kept(tmp_path, "port", b"\x7fELF program")
    other = kept(tmp_path, "other", content, sealed=sealed)
    given: list[Callable[[], BuiltProgram | None]] = []

    def spy(*_: Any, another: Callable[[], BuiltProgram | None], **__: Any) -> PortVerification:
        given.append(another)
        return PortVerification.model_construct(runs=[], findings=[])

    monkeypatch.setattr(port_verdict, "verify", spy)
    judge_port(JudgedPort(port, {}, {}, another=lambda: other), None, BACKEND, Policy())
    assert given[0]() == (other if asked else None)


@pytest.mark.parametrize("name", ["program.hip", "translation.hip", "a.cu", "src/main.hip"])
def test_the_rules_translation_is_not_asked_about_itself(name: str) -> None:
    original = Sources(PurePosixPath("program.cu"), {"program.cu": CUDA.encode()})
    text = as_hip(original).files["program.cu"]
    candidate = Sources(PurePosixPath(name), {name: text})
    assert translated_port(original, candidate, BACKEND)() is None


RIGHT = RunRecord.model_construct(numeric=True, made_up=False)
ON_SIZE = RunRecord.model_construct(numeric=False, made_up=True)


@pytest.mark.parametrize(
    ("records", "other_grade", "judged"),
    [
        ([RIGHT, ON_SIZE], Grade.DIFFERS, [2, 1, 1]),  # the other port differs: without the size
        ([RIGHT, ON_SIZE], Grade.VERIFIED, [2, 1]),
        ([RIGHT, ON_SIZE.model_copy(update={"numeric": True})], None, [2]),
        ([RIGHT.model_copy(update={"numeric": False}), ON_SIZE], None, [2]),
        ([RIGHT], None, [2]),
    ],
)
def test_a_made_up_size_counts_where_another_port_is_right_on_it(
    records: list[RunRecord],
    other_grade: Grade | None,
    judged: list[int],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    port, other = kept(tmp_path, "port", b"one"), kept(tmp_path, "other", b"two")
    run = ReferenceRun(Inputs(), (b"1\n",), 0, ())
    size = replace(run, inputs=Inputs(("1000",)), made_up=True)
    counts: list[int] = []

    def spy(reference: ReferenceRuns, built: BuiltProgram, *_: Any, **__: Any) -> PortVerification:
        counts.append(len(reference.runs))
        made = PortVerification.model_construct(runs=records, findings=[])
        return made.model_copy(update={"grade": other_grade if built is other else None})

    monkeypatch.setattr(port_verdict, "verify", spy)
    reference = ReferenceRuns("lifted", "", (run, size), kind="lifted sm_90")
    judge_port(JudgedPort(port, {}, {}, another=lambda: other), reference, BACKEND, Policy())
    assert counts == judged
