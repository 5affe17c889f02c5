"""Calls as trainers make them, to a judge that counts letters; and the client against a server."""

from __future__ import annotations

import json

import httpx2 as httpx
import pytest

from cass_ray.execute.rewards.adapters import item_of, trl_reward, verl_score, verl_scores
from cass_ray.execute.rewards.client import RewardClient, RewardServerError
from cass_ray.execute.rewards.verdicts import Outcome, RewardItem, RewardVerdict, undecided


class Letters:
    """A reward of a hundredth for each letter of the answer; ``?`` is undecided."""

    def __init__(self) -> None:
        self.items: list[RewardItem] = []

    def rewards(self, items):
        self.items += items
        return [
            undecided("asked back")
            if item.answer == "?"
            else RewardVerdict(reward=len(item.answer) / 100, outcome=Outcome.WRONG)
            for item in items
        ]


def test_trl_calls_with_columns_and_gets_none_for_what_is_undecided():
    """As in trl/trainer/grpo_trainer.py: prompts, completions, completion_ids, columns."""
    letters = Letters()
    rewards = trl_reward(
        prompts=["p", "p", "p"],
        completions=["abc", [{"role": "assistant", "content": "ab"}], "?"],
        completion_ids=[[1], [2], [3]],
        cuda_source=["A", "B", "C"],
        inputs=[[["1"], ["2"]], None, '[["7"]]'],
        rewarder=letters,
        trainer_state=None,
    )
    assert rewards == [0.03, 0.02, None]
    assert [item.question for item in letters.items] == ["A", "B", "C"]
    assert [item.inputs for item in letters.items] == [[["1"], ["2"]], [[]], [["7"]]]


def test_verl_calls_one_by_one_and_by_batches():
    task = {"cuda_source": "A", "inputs": [["1"]], "order_free": True}
    one = verl_score(
        data_source="cass",
        solution_str="abcd",
        ground_truth=json.dumps(task),
        extra_info={"index": 3},
        rewarder=Letters(),
    )
    assert (one["score"], one["decided"], one["passed"]) == (0.04, 1.0, 0.0)
    many = verl_scores(
        data_sources=["cass", "cass"],
        solution_strs=["ab", "?"],
        ground_truths=[task, task],
        extra_infos=[None, None],
        rewarder=Letters(),
    )
    assert [(each["score"], each["decided"]) for each in many] == [(0.02, 1.0), (0.0, 0.0)]
    assert item_of(task, "x").order_free


@pytest.mark.parametrize("task", ["{}", "[]", {"inputs": []}])
def test_a_task_without_a_program_is_refused(task):
    with pytest.raises(ValueError, match="cuda_source"):
        item_of(task, "x")


def app_of(rewarder, key=""):
    pytest.importorskip("fastapi")
    from starlette.testclient import TestClient

    from serve.http.rewards import make_app

    return TestClient(make_app(rewarder, key))


def over(client) -> httpx.MockTransport:
    """The requests of the client under test, answered by the application."""

    def answer(request: httpx.Request) -> httpx.Response:
        made = client.request(
            request.method, request.url.path, content=request.content, headers=request.headers
        )
        return httpx.Response(made.status_code, content=made.content)

    return httpx.MockTransport(answer)


def test_the_client_asks_the_server_with_its_key():
    items = [RewardItem(question="A", answer="abc"), RewardItem(question="A", answer="?")]
    with app_of(Letters(), "cass_secret") as server:
        client = RewardClient("http://rewards", "cass_secret", transport=over(server))
        assert [each.reward for each in client.rewards(items)] == [0.03, None]
        stranger = RewardClient("http://rewards", "cass_other", transport=over(server))
        with pytest.raises(RewardServerError, match="401"):
            stranger.rewards(items)
        assert server.get("/healthz").status_code == 200


def test_a_busy_server_is_asked_again():
    answers = iter([httpx.Response(503), httpx.ConnectError("away"), None])
    waited: list[float] = []

    def answer(request: httpx.Request) -> httpx.Response:
        made = next(answers)
        if isinstance(made, Exception):
            raise made
        verdict = RewardVerdict(reward=1.0, outcome=Outcome.RIGHT).model_dump(mode="json")
        return made or httpx.Response(200, json={"verdicts": [verdict]})

    client = RewardClient(
        "http://rewards", transport=httpx.MockTransport(answer), sleep=waited.append
    )
    [verdict] = client.rewards([RewardItem(question="A", answer="B")])
    assert verdict.passed
    assert waited == [2.0, 4.0]


def test_the_server_refuses_what_is_too_large(monkeypatch):
    pytest.importorskip("fastapi")
    from serve.http import rewards

    monkeypatch.setattr(rewards, "LARGEST_BODY", 1000)
    with app_of(Letters()) as server:
        body = {"items": [{"question": "A" * 2000, "answer": "B"}]}
        assert server.post("/v1/rewards", json=body).status_code == 413
        many = {"items": [{"question": "A", "answer": "B", "inputs": [["1"]] * 33}]}
        assert server.post("/v1/rewards", json=many).status_code == 422
