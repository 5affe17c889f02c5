"""Requests that are malformed, huge, or after what belongs to another key."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("ray.serve")

from cass_ray.api.keys import key_digest, new_key
from serve.settings import ApiKey, Authentication, RequestLimits
from tests.security.test_disk import KERNEL, zipped
from tests.serve.conftest import Api, make_services, make_settings


@pytest.fixture
def api(tmp_path: Path) -> Api:
    return Api(make_services(make_settings(tmp_path)))


DEEP = 100_000
BODIES: dict[str, bytes] = {
    "lists in lists": b"[" * DEEP + b"]" * DEEP,
    "objects in objects": b'{"source":' * DEEP + b"1" + b"}" * DEEP,
    "an integer of a million digits": b'{"source": "x", "repair": ' + b"9" * 1_000_000 + b"}",
    "a number that is none": b'{"source": "x", "temperature": NaN}',
    "infinity": b'{"source": "x", "repair": 1e999999}',
    "half a pair of letters": b'{"source": "\\ud800"}',
    "bytes that are no text": b'{"source": "\xff\xfe"}',
    "no bytes": b"",
    "a cut text": b'{"source": "x',
    "another encoding": '{"source": "x"}'.encode("utf-16"),
    "a mark of byte order": b'\xef\xbb\xbf{"source": "x"}',
    "a name twice": b'{"source": "x", "source": ["y"]}',
    "an unknown name": b'{"source": "x", "__class__": "y", "owner": "z"}',
    "a million names": b"{" + b",".join(b'"%d":1' % n for n in range(100_000)) + b"}",
    "a list for a text": b'{"source": ["x"]}',
    "a name of an engine that is a path": b'{"source": "x", "engine": "../../etc/passwd"}',
    "an engine of its own": b'{"source": "x", "engine": "model:/etc/passwd"}',
    "an address as engine": b'{"source": "x", "engine": "chat:x?url=http://127.0.0.1"}',
    "a path as filename": b'{"source": "x", "filename": "../../../etc/passwd"}',
    "a line end in a filename": b'{"source": "x", "filename": "a\\r\\nSet-Cookie: x"}',
    "negative repairs": b'{"source": "x", "repair": -1}',
    "a billion repairs": b'{"source": "x", "repair": 1000000000}',
    "null letters": b'{"source": "\\u0000"}',
}


@pytest.mark.parametrize("attack", BODIES)
@pytest.mark.parametrize("path", ["/v1/translate", "/v1/chat/completions"])
def test_bodies(attack: str, path: str, api: Api) -> None:
    """An answer, or a problem of the client's; no error of ours, and nothing of this machine."""
    headers = {"content-type": "application/json"}
    answer = api("POST", path, content=BODIES[attack], headers=headers)
    assert answer.status_code < 500
    assert "root:" not in answer.text and "Traceback" not in answer.text
    assert len(answer.content) < 100_000
    assert "set-cookie" not in answer.headers


HEADERS: dict[str, dict[str, str]] = {
    "another type of body": {"content-type": "application/x-yaml"},
    "an encoding of the body": {"content-encoding": "gzip"},
    "a length and pieces": {"transfer-encoding": "chunked", "content-length": "5"},
    "a key of a megabyte": {"authorization": "Bearer " + "x" * 1_000_000},
    "a key that is a path": {"authorization": "Bearer ../../keys"},
    "a key in another scheme": {"authorization": "Basic cm9vdDpyb290"},
    "another host": {"host": "evil.example", "x-forwarded-host": "evil.example"},
    "another path": {"x-original-url": "/metrics", "x-rewrite-url": "/metrics"},
    "another method": {"x-http-method-override": "DELETE"},
    "an id with a line end's code": {"x-request-id": "a%0d%0aSet-Cookie:%20x"},
    "an id of a megabyte": {"x-request-id": "x" * 1_000_000},
    "an id that is markup": {"x-request-id": "<script>alert(1)</script>"},
    "a thousand ranges": {"range": "bytes=" + ",".join(f"{n}-{n}" for n in range(1000))},
    "a page of another site": {"origin": "https://evil.example"},
}


@pytest.mark.parametrize("attack", HEADERS)
@pytest.mark.parametrize("path", ["/v1/translate", "/", "/healthz", "/v1/jobs"])
def test_headers(attack: str, path: str, api: Api) -> None:
    method = "POST" if path == "/v1/translate" else "GET"
    body = {"content": b'{"source": "int x;"}'} if method == "POST" else {}
    headers = {"content-type": "application/json", **HEADERS[attack]}
    answer = api(method, path, headers=headers, **body)
    assert answer.status_code < 500
    assert answer.headers.get("access-control-allow-origin") in (None, "null")
    shown = json.dumps(dict(answer.headers))
    assert "evil.example" not in shown and "<script>" not in shown and len(shown) < 4000
    assert "set-cookie" not in answer.headers
    assert len(answer.content) < 1_000_000


PATHS = [
    "/../../etc/passwd",
    "/%2e%2e/%2e%2e/etc/passwd",
    "/static/../../../../etc/passwd",
    "/static/%2e%2e%2f%2e%2e%2fetc%2fpasswd",
    "/static//etc/passwd",
    "/v1/jobs/..%2f..%2fetc%2fpasswd",
    "/v1/jobs/%00",
    "/v1/jobs/*/result",
    "/v1/jobs/../../../etc/passwd/result",
    "/v1/examples/../../../../etc/passwd",
    "/" + "a" * 60_000,
    "/v1/jobs/" + "a/" * 5000,
    "/docs;/../metrics",
    "//evil.example/%2f..",
]


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("method", ["GET", "DELETE", "POST", "TRACE", "CONNECT"])
def test_paths(path: str, method: str, api: Api) -> None:
    answer = api(method, path)
    assert answer.status_code < 500
    assert "root:" not in answer.text
    assert not answer.headers.get("location", "").startswith(("//", "http://evil"))


class Two:
    """A service with two keys."""

    def __init__(self, folder: Path) -> None:
        self.names = {name: new_key() for name in ("mine", "theirs")}
        keys = [
            ApiKey(name=name, sha256=key_digest(key), requests_per_minute=6000)
            for name, key in self.names.items()
        ]
        authentication = Authentication(enabled=True, keys=keys)
        settings = make_settings(folder, authentication=authentication, limits=RequestLimits())
        self.api = Api(make_services(settings))

    def __call__(self, who: str, method: str, path: str, **options: Any) -> Any:
        headers = {"authorization": f"Bearer {self.names[who]}", **options.pop("headers", {})}
        return self.api(method, path, headers=headers, **options)


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/v1/jobs/{job}"),
        ("GET", "/v1/jobs/{job}/result"),
        ("DELETE", "/v1/jobs/{job}"),
        ("GET", "/v1/jobs/{upper}"),
        ("GET", "/v1/jobs/{job}%20"),
        ("GET", "/v1/jobs/{job}/../{job}/result"),
    ],
)
def test_a_job_of_another_key(method: str, path: str, tmp_path: Path) -> None:
    two = Two(tmp_path)
    headers = {"content-type": "application/zip"}
    made = two("theirs", "POST", "/v1/jobs", content=zipped(a=KERNEL), headers=headers)
    assert made.status_code in (200, 202), made.text
    job = made.json()["id"]
    answer = two("mine", method, path.format(job=job, upper=job.upper()))
    assert answer.status_code in (404, 422)
    assert two("mine", "GET", "/v1/jobs").text.count(job) == 0
    assert two("theirs", "GET", f"/v1/jobs/{job}").status_code == 200


@pytest.mark.parametrize(
    "key", ["", " ", "x" * 43, "\x00", "é" * 20, "mine", "' or 1=1 --", "*", "null", "Bearer "]
)
def test_keys_that_are_none(key: str, tmp_path: Path) -> None:
    two = Two(tmp_path)
    value = b"Bearer " + key.encode()
    answer = two.api("GET", "/v1/jobs", headers={b"authorization": value})
    assert answer.status_code == 401


def test_the_digest_of_a_key_is_no_key(tmp_path: Path) -> None:
    two = Two(tmp_path)
    digest = key_digest(two.names["mine"])
    answer = two.api("GET", "/v1/jobs", headers={"authorization": f"Bearer {digest}"})
    assert answer.status_code == 401
