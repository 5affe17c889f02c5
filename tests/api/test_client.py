"""The Python client and ``cass translate --server``, over HTTP to a server in this process."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from cass_ray.api.client import Client, ServerError
from cass_ray.api.keys import key_digest, new_key
from cass_ray.api.schema import EXAMPLE, Verification
from cass_ray.commands.translate import app as translate_app
from serve.errors import ApiError
from serve.request.access import Caller as Known
from serve.settings import ApiKey, Authentication, ServeSettings
from tests.folders import REPOSITORY
from tests.serve.conftest import Api, httpx, make_services, make_settings

uvicorn = pytest.importorskip("uvicorn")

KEY = new_key()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    key = ApiKey(name="one", sha256=key_digest(KEY), requests_per_minute=60_000)
    settings = make_settings(
        tmp_path_factory.mktemp("serve"), authentication=Authentication(keys=[key])
    )
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        app = Api(make_services(settings)).app
        running = uvicorn.Server(uvicorn.Config(app, log_config=None))
        thread = threading.Thread(target=running.run, args=([listening],))
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        running.should_exit = True
        thread.join()


def test_translate_and_stream(server: str) -> None:
    with Client(server, KEY) as client:
        made = client.translate(EXAMPLE)
        assert "hipMemcpyHostToDevice" in made.translation
        assert made.verdict.verification is Verification.UNCHECKED
        events = list(client.stream(EXAMPLE, candidates=2))
        assert [event.type for event in events] == ["translation", "result"]
        assert events[-1].data["translation"] == made.translation
        kept = list(client.stream(EXAMPLE))
        assert [event.type for event in kept] == ["result"]
        assert kept[0].data["cached"] is True
        names = [engine.name for engine in client.capabilities().engines]
        assert names == ["rules", "lift"]


def test_errors_say_what_the_server_said(server: str) -> None:
    with Client(server, "wrong") as client, pytest.raises(ServerError, match="not known") as caught:
        client.translate(EXAMPLE)
    assert caught.value.status == 401
    with Client(server, KEY) as client, pytest.raises(ServerError, match="no engine is called"):
        list(client.stream(EXAMPLE, engine="nobody"))
    with Client("http://127.0.0.1:1", KEY) as client, pytest.raises(ServerError, match="answer"):
        client.jobs()


def test_refusals_are_waited_out_as_long_as_the_server_says() -> None:
    answers = [
        httpx.Response(429, headers={"Retry-After": "7"}, json={"error": {}}),
        httpx.Response(503, text="no JSON"),
        httpx.Response(200, json=[]),
    ]
    waited: list[float] = []
    transport = httpx.MockTransport(lambda request: answers.pop(0))
    with Client("http://test", "", transport=transport, sleep=waited.append) as client:
        assert client.jobs() == []
    assert waited[0] == 7
    assert len(waited) == 2


def test_command_line(server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CASS_API_KEY", KEY)
    tree, out = tmp_path / "tree", tmp_path / "out"
    (tree / "src").mkdir(parents=True)
    (tree / "src" / "a.cu").write_text(EXAMPLE)
    (tree / "notes.txt").write_text("cudaMalloc\n")
    run = CliRunner().invoke
    one = run(translate_app, [str(tree / "src" / "a.cu"), "--server", server])
    assert one.exit_code == 0
    assert "hipMalloc" in one.stdout
    whole = run(translate_app, [str(tree), "-o", str(out), "--server", server])
    assert whole.exit_code == 0, whole.output
    assert "hipMalloc" in (out / "src" / "a.cu").read_text()
    assert (out / "notes.txt").read_text() == "cudaMalloc\n"
    monkeypatch.setenv("CASS_API_KEY", "")
    refused = run(translate_app, [str(tree / "src" / "a.cu"), "--server", server])
    assert refused.exit_code == 1
    assert "Authorization: Bearer KEY" in refused.stderr


def test_a_rate_is_a_burst_and_then_its_share() -> None:
    now = [0.0]
    client = Known("one", rate=2.0, burst=3.0, concurrency=1, clock=lambda: now[0])

    def allowed() -> bool:
        try:
            client.take()
        except ApiError as error:
            assert error.status == 429
            return False
        return True

    assert [allowed() for _ in range(4)] == [True, True, True, False]
    now[0] = 0.5
    assert [allowed() for _ in range(2)] == [True, False]
    now[0] = 100.0
    assert [allowed() for _ in range(4)] == [True, True, True, False]


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"host": "0.0.0.0", "authentication": {"enabled": False}}, "without authentication"),
        ({"engines": [{"name": "a", "translator": "rules"}] * 2}, "same name"),
        ({"checker": {"wall_second": 3}}, "wall_seconds"),
    ],
)
def test_settings_that_cannot_be(values: dict[str, Any], words: str) -> None:
    from cass_ray.config import SettingsError, validate

    with pytest.raises(SettingsError, match=words):
        validate(ServeSettings, values, "serve.yaml")


def test_the_declarative_files_hold_valid_settings() -> None:
    import yaml

    from serve.deployments.deploy import IMPORT_PATH, deploy_config

    folder = REPOSITORY / "cluster" / "kuberay"
    documents = yaml.safe_load_all((folder / "rayservice.yaml").read_text())
    [service] = [each for each in documents if each["kind"] == "RayService"]
    texts = [service["spec"]["serveConfigV2"], (folder / "serve_vllm.yaml").read_text()]
    texts.append(deploy_config(ServeSettings(port=9000)))
    for text in texts:
        applications = yaml.safe_load(text)["applications"]
        ours = [each for each in applications if each["import_path"] == IMPORT_PATH]
        assert len(ours) == 1
        ServeSettings.model_validate(ours[0]["args"])


def test_a_connection_that_is_lost_is_made_again() -> None:
    waits: list[float] = []
    calls: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        calls.append(request)
        if len(calls) < 3:
            raise httpx.RemoteProtocolError("Server disconnected without sending a response.")
        return httpx.Response(200, json=[])

    with Client(
        "http://x", key="", transport=httpx.MockTransport(answer), sleep=waits.append
    ) as client:
        assert client.jobs() == []
    assert (len(calls), waits) == (3, [1.0, 2.0])


def test_a_server_that_stays_away_is_an_error() -> None:
    def refuse(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("refused")

    with (
        Client("http://x", key="", transport=httpx.MockTransport(refuse)) as client,
        pytest.raises(ServerError, match="does not answer"),
    ):
        client.jobs()
