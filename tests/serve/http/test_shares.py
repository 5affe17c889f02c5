"""Links to answers: off unless asked for, only what this server has answered, kept for a while."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import pytest

from cass_ray.api.schema import EXAMPLE
from serve.settings import ShareSettings
from tests.serve.conftest import Api, make_services, make_settings

REQUEST = {"source": EXAMPLE, "check": "none"}


@pytest.fixture
def sharing(tmp_path: Path) -> Api:
    shares = ShareSettings(enabled=True, folder=tmp_path / "shares", kept_days=2, kept_mib=1)
    return Api(make_services(make_settings(tmp_path, shares=shares)))


def shared(api: Api, **changes: Any) -> str:
    request = {**REQUEST, **changes}
    assert api("POST", "/v1/translate", json=request).status_code == 200
    made = api("POST", "/v1/shares", json={**request, "stream": True})
    assert made.status_code == 201, made.text
    return str(made.json()["id"])


def code(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]["code"]


def test_no_links_by_default(api: Api) -> None:
    assert code(api("POST", "/v1/shares", json=REQUEST)) == (404, "no_shares")
    assert code(api("GET", f"/v1/shares/{'0' * 32}")) == (404, "no_shares")
    assert api("GET", "/v1/capabilities").json()["shares"] is False


def test_a_link_shows_the_request_and_its_answer(sharing: Api) -> None:
    name = shared(sharing, inputs=[{"arguments": ["7"]}])
    found = sharing("GET", f"/v1/shares/{name}").json()
    assert found["request"]["source"] == EXAMPLE
    assert found["request"]["inputs"][0]["arguments"] == ["7"]
    assert "hip/hip_runtime.h" in found["answer"]["translation"]


def test_links_are_by_content(sharing: Api) -> None:
    first = shared(sharing)
    assert shared(sharing) == first
    assert shared(sharing, source=EXAMPLE + "// another") != first


def test_what_was_not_answered_here_is_not_shared(sharing: Api) -> None:
    assert code(sharing("POST", "/v1/shares", json=REQUEST)) == (409, "no_answer")
    unknown = {**REQUEST, "engine": "nobody"}
    assert code(sharing("POST", "/v1/shares", json=unknown)) == (409, "no_answer")


def test_an_old_link_is_forgotten(sharing: Api, tmp_path: Path) -> None:
    name = shared(sharing)
    path = tmp_path / "shares" / f"{name}.json"
    before = time.time() - 3 * 24 * 3600
    os.utime(path, (before, before))
    assert code(sharing("GET", f"/v1/shares/{name}")) == (404, "no_share")
    shared(sharing, source=EXAMPLE + "// newer")
    assert not path.exists()


def test_the_oldest_makes_room(sharing: Api, tmp_path: Path) -> None:
    big = [EXAMPLE + f"// {number}" + "x" * 200_000 for number in range(4)]
    names = []
    for number, source in enumerate(big):
        names.append(shared(sharing, source=source))
        at = time.time() - 1000 + number
        os.utime(tmp_path / "shares" / f"{names[-1]}.json", (at, at))
    kept = {path.stem for path in (tmp_path / "shares").glob("*.json")}
    assert names[-1] in kept
    assert names[0] not in kept
    assert sum(path.stat().st_size for path in (tmp_path / "shares").iterdir()) <= 1 << 20


@pytest.mark.parametrize("name", ["..%2f..%2fetc", "0" * 31, "G" * 32, "0" * 33])
def test_other_names_are_refused(sharing: Api, name: str) -> None:
    assert sharing("GET", f"/v1/shares/{name}").status_code in (404, 422)


def test_a_share_that_was_damaged_is_none(sharing: Api, tmp_path: Path) -> None:
    name = shared(sharing)
    (tmp_path / "shares" / f"{name}.json").write_text("{")
    assert code(sharing("GET", f"/v1/shares/{name}")) == (404, "no_share")
