"""Pages of other sites before a service that asks for no key, in the browser of its own machine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("ray.serve")

from cass_ray.api.keys import key_digest, new_key
from serve.settings import ApiKey, Authentication
from tests.serve.conftest import Api, make_services, make_settings

BODY = b'{"source": "int x;"}'
JSON = {"content-type": "application/json"}


def posted(api: Api, headers: dict[str, str], path: str = "/v1/translate") -> Any:
    return api("POST", path, content=BODY, headers={**JSON, **headers})


@pytest.fixture
def api(tmp_path: Path) -> Api:
    return Api(make_services(make_settings(tmp_path)))


@pytest.mark.parametrize(
    "host",
    [
        *("evil.example", "evil.example:8000", "127.0.0.1.evil.example", "localhost.evil.example"),
        *("", "10.0.0.1", "0.0.0.0", "[::1].evil.example", "127.0.0.1:8000@evil.example"),
        *("evil.example#127.0.0.1", "localhost:", "::1", "[::2]"),
    ],
)
@pytest.mark.parametrize("path", ["/", "/v1/capabilities", "/metrics", "/v1/jobs", "/static/x"])
def test_other_hosts_are_answered_nothing(host: str, path: str, api: Api) -> None:
    """DNS rebinding: a name of the page's own points to this machine."""
    answer = api("GET", path, headers={"host": host})
    assert answer.status_code == 403
    assert answer.json()["error"]["code"] == "other_host"


@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST:8000", "127.0.0.1", "127.0.0.1:8000", "[::1]:80", "127.1.2.3"]
)
def test_this_machine_is_answered(host: str, api: Api) -> None:
    assert posted(api, {"host": host}).status_code == 200
    assert posted(api, {"host": host, "origin": f"http://{host}"}).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "http://localhost:9999"},  # another program of this machine
        {"origin": "http://127.0.0.1"},
        {"origin": "file://"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"origin": "http://localhost", "sec-fetch-site": "cross-site"},
    ],
)
@pytest.mark.parametrize("path", ["/v1/translate", "/v1/chat/completions", "/v1/jobs"])
def test_pages_of_others_write_nothing(headers: dict[str, str], path: str, api: Api) -> None:
    answer = posted(api, headers, path)
    assert answer.status_code == 403
    assert answer.json()["error"]["code"] == "other_origin"
    deleted = api("DELETE", f"/v1/jobs/{'0' * 32}", headers=headers)
    assert deleted.status_code == 403


def test_a_site_of_the_settings_may_write(tmp_path: Path) -> None:
    site = "https://docs.example"
    api = Api(make_services(make_settings(tmp_path, cors_origins=[site])))
    headers = {"origin": site, "sec-fetch-site": "cross-site"}
    assert posted(api, headers).status_code == 200
    assert posted(api, {"origin": "https://docs.example.evil"}).status_code == 403


def test_a_key_is_enough(tmp_path: Path) -> None:
    """No page of another site has one; proxies say names of their own."""
    key = new_key()
    known = ApiKey(name="mine", sha256=key_digest(key))
    authentication = Authentication(enabled=True, keys=[known])
    api = Api(make_services(make_settings(tmp_path, authentication=authentication)))
    headers = {"authorization": f"Bearer {key}", "host": "port.example", "origin": "https://a.b"}
    assert posted(api, headers).status_code == 200
