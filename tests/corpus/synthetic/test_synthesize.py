"""``cass synthesize`` against a local server: replies of every kind, resume, repair, budget."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from cass_ray.cli import app
from cass_ray.corpus.program import Program, SourceError
from cass_ray.corpus.reading.trees import StoredTrees
from cass_ray.corpus.sources.registry import parse_source
from cass_ray.corpus.sources.shipped import SHIPPED_ROOT
from cass_ray.corpus.synthetic.ledger import Ledger
from cass_ray.corpus.synthetic.synthesis import Synthesis, SynthesisOutcome, SynthesisSettings
from cass_ray.corpus.synthetic.validation import SyntheticVerdict
from cass_ray.dataset.row import Origin
from cass_ray.llm.client import ChatClient
from cass_ray.storage.store import Store
from tests.corpus.synthetic.server import Json, Server, ServerAnswer, in_turn, running

PROGRAMS = [
    path.read_text()
    for path in sorted(SHIPPED_ROOT.joinpath("programs/general_compute").glob("*.cu"))
][:5]
"""What a good model answers."""


def good(number: int = 0) -> ServerAnswer:
    return ServerAnswer(f"```cuda\n{PROGRAMS[number % len(PROGRAMS)]}\n```")


def settings(server: Server, out: Path, **values: Any) -> SynthesisSettings:
    chat = {
        "model": "recorded",
        "endpoint": server.url,
        "first_wait_seconds": 0.0,
        "attempts": 3,
        **values.pop("chat", {}),
    }
    return SynthesisSettings.model_validate({"out": out, "chat": chat, "count": 10, **values})


def outcomes_of(given: SynthesisSettings, **more: Any) -> list[SynthesisOutcome]:
    found: list[SynthesisOutcome] = []

    async def run() -> None:
        with Ledger(given.out / ".work") as ledger:
            async with ChatClient(given.chat) as client:
                await Synthesis(given, client, ledger, on_outcome=found.append, **more).run()

    asyncio.run(run())
    return found


def verdicts(outcomes: list[SynthesisOutcome]) -> Counter[str]:
    return Counter(outcome.checked.verdict.value for outcome in outcomes)


def test_every_kind_of_reply_becomes_a_verdict(tmp_path: Path) -> None:
    gate = threading.Event()
    gate.set()
    broken = ServerAnswer(status=500, body="")
    slow_down = ServerAnswer(status=429, body="{}", headers=(("Retry-After", "0"),))
    replies = [
        [good(0)],
        [ServerAnswer(refusal="no")],
        [ServerAnswer(f"```cuda\n{PROGRAMS[1][:900]}", finish="length")],
        [ServerAnswer("I would use a tree in shared memory.")],
        [ServerAnswer(PROGRAMS[2])],
        [ServerAnswer(f"```cuda\n{PROGRAMS[3]}\n```", gate=gate)],
        [slow_down, good(4)],
        [ServerAnswer(body="{"), broken, good(1)],
        [broken, broken, broken],
    ]
    of_prompt: dict[str, list[ServerAnswer]] = {}

    def rule(body: Json, number: int) -> ServerAnswer:
        prompt = body["messages"][-1]["content"]
        if prompt not in of_prompt:
            of_prompt[prompt] = list(replies[len(of_prompt)])
        return of_prompt[prompt].pop(0)

    with running(rule) as server:
        outcomes = outcomes_of(settings(server, tmp_path, count=9, chat={"concurrency": 3}))
    assert verdicts(outcomes) == {"ok": 5, "refused": 1, "cut": 1, "no_code": 1, "no_answer": 1}
    assert len(server.requests) == sum(map(len, replies))
    assert not any(of_prompt.values())


def test_a_slow_reply_does_not_hold_the_others_up(tmp_path: Path) -> None:
    gate = threading.Event()
    finished = threading.Semaphore(0)

    def rule(body: Json, number: int) -> ServerAnswer:
        return ServerAnswer("x", gate=gate) if number == 0 else ServerAnswer("x")

    def watch(server: Server) -> None:
        for _ in range(9):
            assert finished.acquire(timeout=300)
        gate.set()

    with running(rule) as server:
        given = settings(server, tmp_path, chat={"concurrency": 2})
        watcher = threading.Thread(target=watch, args=(server,))
        watcher.start()

        async def run() -> None:
            with Ledger(tmp_path / ".work") as ledger:
                async with ChatClient(given.chat) as client:
                    done = lambda _: finished.release()  # noqa: E731
                    await Synthesis(given, client, ledger, on_outcome=done).run()

        asyncio.run(run())
        watcher.join()
    assert len(server.requests) == 10


def test_every_slot_is_used_and_no_more(tmp_path: Path) -> None:
    gate = threading.Event()
    with running(lambda body, number: ServerAnswer("x", gate=gate)) as server:
        watcher = threading.Thread(target=lambda: (server.wait_inside(6), gate.set()))
        watcher.start()
        outcomes_of(settings(server, tmp_path, count=30, chat={"concurrency": 6}))
        watcher.join()
    assert server.most_inside == 6


def test_a_repair_round_shows_the_model_what_is_wrong(tmp_path: Path) -> None:
    def rule(body: Json, number: int) -> ServerAnswer:
        if len(body["messages"]) == 2:
            return ServerAnswer(f"```cuda\n{PROGRAMS[0]}\nbroken;\n```")
        return good(1)

    def compile_source(source: str) -> str:
        return "program.cu(1): error: broken is undefined" if "broken" in source else ""

    with running(rule) as server:
        given = settings(server, tmp_path, count=2, repairs=1)
        outcomes = outcomes_of(given, compile_source=compile_source)
    assert verdicts(outcomes) == {"ok": 2}
    assert [outcome.rounds for outcome in outcomes] == [1, 1]
    corrections = [text for text in server.prompts if "broken is undefined" in text]
    assert len(corrections) == 2


def test_repairs_end_and_the_message_is_kept(tmp_path: Path) -> None:
    with running(lambda body, number: good()) as server:
        given = settings(server, tmp_path, count=1, repairs=2)
        (outcome,) = outcomes_of(given, compile_source=lambda source: "error: never")
    assert outcome.checked.verdict is SyntheticVerdict.NOT_COMPILED
    assert (outcome.checked.message, len(server.requests)) == ("error: never", 3)


def test_an_interrupted_run_asks_nothing_twice(tmp_path: Path) -> None:
    with running(lambda body, number: good(number)) as server:
        half = settings(server, tmp_path, count=10, chat={"budget": {"requests": 4}})
        assert len(outcomes_of(half)) == 4
        outcomes = outcomes_of(settings(server, tmp_path, count=10))
    assert verdicts(outcomes) == {"ok": 10}
    assert len(server.requests) == 10
    assert len(set(server.prompts)) == 10
    assert sum(outcome.asked for outcome in outcomes) == 6


def test_questions_without_an_answer_may_be_asked_by_the_next_run(tmp_path: Path) -> None:
    with running(in_turn(*[ServerAnswer(status=500, body="")] * 3, good())) as server:
        given = settings(server, tmp_path, count=1)
        assert verdicts(outcomes_of(given)) == {"no_answer": 1}
        assert verdicts(outcomes_of(given)) == {"ok": 1}


def test_a_killed_run_asks_nothing_twice(tmp_path: Path) -> None:
    """Killed with two answers under way: they count as lost, unless asked for again."""
    gate = threading.Event()

    def rule(body: Json, number: int) -> ServerAnswer:
        return good(number) if number < 3 or number > 4 else ServerAnswer("late", gate=gate)

    with running(rule) as server:
        command = [sys.executable, "-m", "cass_ray.cli", "synthesize", "--out", str(tmp_path)]
        command += ["--model", "recorded", "--endpoint", server.url, "--count", "8"]
        command += ["--set", "chat.concurrency=2"]
        with subprocess.Popen(command) as process:
            with server.arrived:
                assert server.arrived.wait_for(lambda: len(server.requests) == 5, timeout=300)
                assert server.arrived.wait_for(lambda: server.inside == 2, timeout=300)
            process.send_signal(signal.SIGKILL)
        gate.set()
        subprocess.run([*command, "--resume"], check=True, timeout=120)
        assert len(set(server.prompts)) == len(server.prompts) == 8
        report = json.loads((tmp_path / "report.json").read_text())
        assert report["verdicts"] == {"ok": 6, "lost": 2}
        again = [*command, "--resume", "--set", "ask_lost_again=true"]
        subprocess.run(again, check=True, timeout=120)
        assert len(server.prompts) == 10
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["verdicts"] == {"ok": 8}


def test_a_torn_line_of_the_ledger_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "asked.jsonl").write_text('{"key": "a"}\n{"key": "b"}\n{"key": "to')
    (tmp_path / "answers.jsonl").write_text('{"key": "a", "text": "x"}\n{"key": "b", "te')
    with Ledger(tmp_path) as ledger:
        assert ledger.answer("a") is not None
        assert (ledger.lost("a"), ledger.lost("b"), ledger.lost("to")) == (False, True, False)
        ledger.ask("c")
    with Ledger(tmp_path) as ledger:
        assert ledger.lost("c")


def run_command(server: Server, out: Path, *more: str) -> Any:
    given = ["synthesize", "--out", str(out), "--model", "recorded", "--endpoint", server.url]
    return CliRunner().invoke(app, [*given, "--count", "12", *more])


def mixed(body: Json, number: int) -> ServerAnswer:
    """By the prompt, so that the outcome does not depend on the order of requests."""
    place = sum(map(ord, body["messages"][-1]["content"])) % 3
    return ServerAnswer("No.") if place == 0 else good(place)


def test_the_command_writes_programs_a_report_and_a_source(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with running(mixed) as server:
        result = run_command(server, out)
        assert result.exit_code == 0, result.output
        refused = run_command(server, out)
        again = run_command(server, out, "--resume")
        assert (refused.exit_code, again.exit_code) == (2, 0)
        assert len(server.requests) == 12
    report = json.loads((out / "report.json").read_text())
    rows = [json.loads(line) for line in (out / "programs.jsonl").read_text().splitlines()]
    assert len(rows) == report["prompts"] == 12
    assert sum(found["prompts"] for found in report["templates"].values()) == 12
    kept = [row for row in rows if row["verdict"] == "ok"]
    assert 0 < len(kept) == report["programs"] < 12
    trees = StoredTrees(Store(tmp_path / "trees"))
    items = list(parse_source(f"synthetic:{out}").iterate(tmp_path / "work", trees))
    assert all(isinstance(item, Program) for item in items)
    assert {f"programs/{item.path}" for item in items} == {row["path"] for row in kept}
    assert {item.provenance.origin for item in items} == {Origin.SYNTHETIC}
    assert {item.provenance.repository for item in items} == {"synthetic/recorded"}


def test_a_spent_budget_ends_the_run_with_a_reason(tmp_path: Path) -> None:
    with running(mixed) as server:
        result = run_command(server, tmp_path, "--set", "chat.budget.requests=3")
    assert result.exit_code == 1
    assert len(server.requests) == 3
    report = json.loads((tmp_path / "report.json").read_text())
    assert "3 requests" in report["stopped"]
    assert report["prompts"] == 3


def test_other_folders_are_no_synthetic_source(tmp_path: Path) -> None:
    trees = StoredTrees(Store(tmp_path / "trees"))
    with pytest.raises(SourceError, match="local:"):
        list(parse_source(f"synthetic:{tmp_path}").iterate(tmp_path, trees))


@pytest.mark.parametrize("setting", ["areas=[graphs]", "chat.modell=x", "repairs=9"])
def test_bad_settings_are_a_usage_error(setting: str, tmp_path: Path) -> None:
    with running(mixed) as server:
        assert run_command(server, tmp_path, "--set", setting).exit_code == 2
