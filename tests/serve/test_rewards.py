"""``cass reward serve``: a key is made and asked for, settings reach the server."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from typer.testing import CliRunner

from cass_ray import cli
from cass_ray.execute.rewards.client import KEY_VARIABLE

pytest.importorskip("fastapi", reason="the service needs the extra `serve`")


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What uvicorn was given; no port is opened."""
    given: dict[str, Any] = {}

    def run(server: Any) -> None:
        config = server.config
        given.update(host=config.host, port=config.port, app=config.app)
        server.started = True

    monkeypatch.setattr("uvicorn.Server.run", run)
    monkeypatch.delenv(KEY_VARIABLE, raising=False)
    return given


@pytest.mark.amd
@pytest.mark.nvidia
def test_the_printed_key_opens_the_server(started: dict[str, Any]) -> None:
    from starlette.testclient import TestClient

    result = CliRunner().invoke(cli.app, ["reward", "serve", "--port", "8123"])
    assert result.exit_code == 0, result.output
    name, _, key = result.stdout.strip().partition("=")
    assert name == KEY_VARIABLE
    assert (started["host"], started["port"]) == ("127.0.0.1", 8123)
    with TestClient(started["app"]) as client:
        ask = {"json": {"items": []}}
        assert client.post("/v1/rewards", **ask).status_code == 401
        headers = {"authorization": f"Bearer {key}"}
        assert client.post("/v1/rewards", headers=headers, **ask).json() == {"verdicts": []}


def test_a_backend_that_is_not_there_is_named(started: dict[str, Any]) -> None:
    result = CliRunner().invoke(cli.app, ["reward", "serve", "--backend", "nonsense"])
    assert result.exit_code == 2
    assert "nonsense" in result.stderr
    assert not started


@pytest.mark.amd
@pytest.mark.nvidia
def test_handlers_of_the_process_stay_open(started: dict[str, Any]) -> None:
    """``absl``'s handler, for one, closes the stream that was standard error when it was made."""
    closed: list[str] = []

    class Handler(logging.Handler):
        def close(self) -> None:
            closed.append("closed")
            super().close()

    handler = Handler()
    result = CliRunner().invoke(cli.app, ["reward", "serve", "--port", "8123"])
    assert result.exit_code == 0, result.output
    assert not closed
    handler.close()
