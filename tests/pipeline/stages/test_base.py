"""Which results of compilers are remembered."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cass_ray.cache import ContentCache, digest
from cass_ray.dataset.row import Reason
from cass_ray.pipeline.stages.base import CachedResults, NotCached, Remedy
from cass_ray.toolchain.unit import CompileFailure

KEY = digest(["program"])


@pytest.mark.parametrize(
    ("reason", "remembered"),
    [
        (Reason.COMPILE_ERROR, True),
        (Reason.FORBIDDEN_INCLUDE, True),
        (Reason.MISSING_HEADER, False),
        (Reason.TOOL_MISSING, False),
        (Reason.TIME_LIMIT, False),
        (Reason.MEMORY_LIMIT, False),
        (Reason.OUTPUT_LIMIT, False),
        (Reason.COMPILER_KILLED, False),
        (Reason.COMPILER_CRASHED, True),
    ],
)
def test_what_the_machine_decides_is_not_remembered(
    reason: Reason, remembered: bool, tmp_path: Path
) -> None:
    results = CachedResults(ContentCache(tmp_path))
    results.put_failure(KEY, CompileFailure(reason, "omp.h", "clang"))
    if remembered:
        with pytest.raises(CompileFailure):
            results.get(KEY)
    else:
        assert results.get(KEY) is None


def test_a_missing_header_that_an_older_version_kept_is_forgotten(tmp_path: Path) -> None:
    cache = ContentCache(tmp_path)
    kept = {"reason": "missing_header", "diagnostic": "omp.h", "tool": "clang"}
    cache.put(KEY, json.dumps(kept).encode())
    with pytest.raises(NotCached):
        CachedResults(cache, only=True).get(KEY)
    results = CachedResults(cache)
    results.put(KEY, {"device": "s_endpgm"})
    assert results.get(KEY) == {"device": "s_endpgm"}


@pytest.mark.parametrize(
    ("diagnostic", "forgotten"),
    [
        ("ended by signal 9, without a message", True),
        ("nvcc error   : 'cicc' died due to signal 9 (Kill signal)", True),
        ("ended by signal 11, without a message", False),
        ("Stack dump:\n0. Program arguments: clang++", False),
    ],
)
def test_a_killed_compiler_that_an_older_version_kept_is_forgotten(
    diagnostic: str, forgotten: bool, tmp_path: Path
) -> None:
    cache = ContentCache(tmp_path)
    kept = {"reason": "compiler_crashed", "diagnostic": diagnostic, "tool": "cicc"}
    cache.put(KEY, json.dumps(kept).encode())
    if forgotten:
        assert CachedResults(cache).get(KEY) is None
    else:
        with pytest.raises(CompileFailure):
            CachedResults(cache).get(KEY)


def test_failures_from_before_a_remedy_count_no_more(tmp_path: Path) -> None:
    cache = ContentCache(tmp_path)
    failure = CompileFailure(Reason.COMPILE_ERROR, "error: wants it", "clang")
    other = CompileFailure(Reason.COMPILE_ERROR, "error: another", "clang")
    before = CachedResults(cache)
    before.put_failure("a", failure)
    before.put_failure("b", other)
    before.put("c", {"device": "x"})

    now = CachedResults(cache, remedy=Remedy("it", lambda given: "wants it" in given.diagnostic))
    assert now.get("a") is None
    with pytest.raises(CompileFailure, match="another"):
        now.get("b")
    assert now.get("c") == {"device": "x"}
    with pytest.raises(NotCached):
        CachedResults(cache, only=True, remedy=now.remedy).get("a")
    now.put_failure("a", failure)  # the remedy did not help
    with pytest.raises(CompileFailure, match="wants it"):
        now.get("a")
    with pytest.raises(CompileFailure, match="wants it"):
        CachedResults(cache, only=True, remedy=now.remedy).get("a")
    now.put("d", {"device": "y"})
    assert CachedResults(cache, only=True, remedy=now.remedy).get("d") == {"device": "y"}
