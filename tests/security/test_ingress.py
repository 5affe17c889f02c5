"""What one request may cost the process that answers all."""

from __future__ import annotations

import asyncio
import json
import threading
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("ray.serve")

from cass_ray.api.schema import TranslateRequest
from cass_ray.translate.protocol import Finding, Severity
from serve.engines.base import MOST_FINDINGS, EngineAnswer, findings_of
from serve.errors import ApiError
from serve.http.json_bodies import MOST_VALUES, values_of
from serve.http.openai_routes import _fenced
from serve.messages import without_paths
from serve.request.clients import info_of
from serve.request.local_clients import InlineFirst
from serve.settings import EngineSettings
from tests.serve.conftest import Api, make_services, make_settings

MANY = 60_000
BODIES: dict[str, tuple[str, bytes]] = {
    "unknown names": ("translate", b"{" + b",".join(b'"%d":1' % n for n in range(MANY)) + b"}"),
    "empty inputs": ("translate", b'{"source":"x","inputs":[' + b"{}," * MANY + b"{}]}"),
    "lists in lists": ("translate", b"[" * MANY),
    "objects in objects": ("translate", b'{"a":' * MANY),
    "parts that are none": (
        "chat/completions",
        b'{"model":"rules","messages":[{"role":"user","content":[' + b"1," * MANY + b"1]}]}",
    ),
    "turns that are none": ("chat/completions", b'{"messages":[' + b"{}," * MANY + b"1]}"),
    "numbers behind a text that never ends": ("translate", b"[" + b"1," * MANY + b'"' + b"\\" * 99),
}


@pytest.mark.parametrize("attack", BODIES)
def test_bodies_of_too_many_values(attack: str, tmp_path: Path) -> None:
    path, body = BODIES[attack]
    api = Api(make_services(make_settings(tmp_path)))
    headers = {"content-type": "application/json"}
    answer = api("POST", f"/v1/{path}", content=body, headers=headers)
    assert answer.status_code == 422
    assert f"more than {MOST_VALUES}" in answer.json()["error"]["message"]


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (1, 1),
        ('a, b: [c] {d} \\" , \\\\', 1),
        ([1, 2, 3], 4),
        ({"a": 1, "b": [2, 3]}, 7),
        ({"source": 'x = "[,,,:]\\n"; // "' + "," * MANY, "inputs": []}, 6),
        ("\\" * 7 + '"' * 5 + ",", 1),
    ],
)
def test_values_are_counted_outside_of_texts(value: Any, number: int) -> None:
    """Never fewer than there are, at most as many marks more as there are brackets."""
    assert values_of(json.dumps(value, separators=(",", ":")).encode()) == number


class Counting:
    """An engine that says in which threads it was asked."""

    version = "1"

    def __init__(self) -> None:
        self.threads: list[threading.Thread] = []

    def translate(self, request: TranslateRequest, seed: int) -> EngineAnswer:
        self.threads.append(threading.current_thread())
        return EngineAnswer(source="", version="1")


@pytest.mark.parametrize(("length", "here"), [(1 << 14, True), ((1 << 14) + 1, False)])
def test_what_is_long_is_not_translated_between_requests(length: int, here: bool) -> None:
    engine = Counting()
    client = InlineFirst(info_of(EngineSettings(name="rules", translator="rules")), engine)
    asyncio.run(client.translate(TranslateRequest(source="x" * length), 0))
    assert [thread is threading.main_thread() for thread in engine.threads] == [here]


def test_findings_are_bounded() -> None:
    given = tuple(
        Finding(line, 1, f"cuda{line}", Severity.ERROR, "no such function in HIP")
        for line in range(1, MOST_FINDINGS + 51)
    )
    shown = findings_of(given)
    assert [each.name for each in shown[:-1]] == [each.construct for each in given[:MOST_FINDINGS]]
    assert shown[-1].message == "50 more findings from here on are not listed"
    assert len(findings_of(given[:MOST_FINDINGS])) == MOST_FINDINGS


@pytest.mark.parametrize("ticks", [0, 2, 3, 7, 200_000])
def test_a_fence_is_longer_than_what_it_holds(ticks: int) -> None:
    code = f"a\n{'`' * ticks}\nb"
    fence = "`" * max(3, ticks + 1)
    assert _fenced("hip", code) == f"{fence}hip\n{code}\n{fence}"


HOME = str(Path.home())
MESSAGES = {
    f"{HOME}/.cache/cass-ray/hip-root/5e6b/include/hip/hip_runtime.h:3:1: error: no": (
        "hip/hip_runtime.h:3:1: error: no"
    ),
    "In file included from /usr/include/c++/12/iostream:39:": (
        "In file included from c++/12/iostream:39:"
    ),
    "/tmp/cass-private-1-2-x/translation.hip:3:1: error: no": "translation.hip:3:1: error: no",
    f"HIP root {HOME}/.cache/cass-ray/hip-root/5e6b has no hipcub": "HIP root 5e6b has no hipcub",
    "'/opt/rocm/bin/clang++' -I/opt/rocm/include -c": "'clang++' -Iinclude -c",
    "x = a/usr/b + c /d; // a/tmp/b": "x = a/usr/b + c /d; // a/tmp/b",
    "'/etc/passwd' file not found": "'/etc/passwd' file not found",
    "https://host.example/tmp/x": "https://host.example/tmp/x",
}


@pytest.mark.parametrize("said", MESSAGES)
def test_no_path_of_the_server_is_said(said: str) -> None:
    assert without_paths(said) == MESSAGES[said]
    problem = ApiError(422, "x", said, details=(said,)).problem("1")
    assert problem.message == MESSAGES[said] and problem.details == [MESSAGES[said]]
