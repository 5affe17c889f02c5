"""API v1 in this process: translate, errors, streams, limits."""

from __future__ import annotations

import json
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest

from cass_ray.api.keys import key_digest, new_key
from cass_ray.api.schema import EXAMPLE
from serve.settings import ApiKey, Authentication, RequestLimits
from tests.serve.conftest import Api, make_services, make_settings


def events_of(text: str) -> list[tuple[str, Any]]:
    """Server-sent events by the rules of the HTML standard."""
    found = []
    for block in text.strip().split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.split("\n") if not line.startswith(":"))
        if fields:
            found.append((fields["event"], json.loads(fields["data"])))
    return found


def test_rules_translate_without_check(api: Api) -> None:
    answer = api("POST", "/v1/translate", json={"source": EXAMPLE})
    assert answer.status_code == 200
    body = answer.json()
    assert "hipMalloc(&in, sizeof(host));" in body["translation"]
    assert "cudaM" not in body["translation"]
    assert body["engine"] == "rules"
    assert body["verdict"]["verification"] == "unchecked"
    assert body["id"] == answer.headers["x-request-id"]


def test_other_direction(api: Api) -> None:
    answer = api(
        "POST",
        "/v1/translate",
        json={"source": "void f(int** p) { hipMalloc(p, 4); }", "direction": "hip-to-cuda"},
    )
    assert "cudaMalloc(p, 4)" in answer.json()["translation"]


@pytest.mark.amd
def test_executed_and_compared_with_what_the_client_expects(checked_api: Api) -> None:
    good = {"expected_stdout": "1\n4\n9\n16\n"}
    bad = {"expected_stdout": "1\n4\n9\n17\n"}
    answers = [
        checked_api(
            "POST",
            "/v1/translate",
            json={"source": EXAMPLE, "check": "execute", "inputs": [expected]},
        ).json()["verdict"]
        for expected in (good, bad)
    ]
    assert [answer["verification"] for answer in answers] == ["matched", "failed"]
    assert answers[0]["execution"]["runs"][0]["stdout"] == "1\n4\n9\n16\n"
    assert "_Z6squarePKfPfi" in answers[0]["execution"]["runs"][0]["launches"][0]
    assert answers[1]["label"].startswith("best attempt, not verified")


READS = """\
#include <cstdio>
__global__ void add(int *sum, int by) { *sum += by; }
int main() {
  int first, second, *device;
  FILE *file = fopen("a number", "r");
  if (!file || fscanf(file, "%d", &first) != 1 || scanf("%d", &second) != 1) return 3;
  cudaMalloc(&device, sizeof(int));
  cudaMemcpy(device, &first, sizeof(int), cudaMemcpyHostToDevice);
  add<<<1, 1>>>(device, second);
  cudaMemcpy(&first, device, sizeof(int), cudaMemcpyDeviceToHost);
  printf("%d\\n", first);
}
"""


@pytest.mark.amd
@pytest.mark.nvidia
def test_files_and_standard_input(checked_api: Api) -> None:
    inputs: list[dict[str, Any]] = [
        {"files": {"a number": b64encode(f"{first}\n".encode()).decode()}, "stdin": "5"}
        for first in (7, 8)
    ]
    inputs[1]["expected_stdout"] = "13\n"
    request = {"source": READS, "check": "execute", "targets": ["gfx942"], "inputs": inputs}
    verdict = checked_api("POST", "/v1/translate", json=request).json()["verdict"]
    assert verdict["verification"] == "matched"
    for target in verdict["targets"]:
        runs = target["execution"]["runs"]
        assert sorted(run["stdout"] for run in runs) == ["12\n", "13\n"]  # 7 + 5, 8 + 5
    assert verdict["execution"]["reference_kind"] == "lifted sm_90"


PRINTS_ITS_CARD = """\
#include <cstdio>
__global__ void add(int *sum, int by) { *sum += by; }
int main() {
  int sum = 7, *device;
  cudaDeviceProp card;
  cudaGetDeviceProperties(&card, 0);
  printf("on %s\\n", card.name);
  cudaMalloc(&device, sizeof(int));
  cudaMemcpy(device, &sum, sizeof(int), cudaMemcpyHostToDevice);
  add<<<1, 1>>>(device, 5);
  cudaMemcpy(&sum, device, sizeof(int), cudaMemcpyDeviceToHost);
  printf("%d\\n", sum);
}
"""


@pytest.mark.amd
@pytest.mark.nvidia
def test_a_program_that_prints_its_card_is_right_on_each(checked_api: Api) -> None:
    targets = ["gfx1100", "gfx942", "gfx1201"]
    request = {"source": PRINTS_ITS_CARD, "check": "execute", "targets": targets}
    verdict = checked_api("POST", "/v1/translate", json=request).json()["verdict"]
    said = [target["execution"]["runs"][0]["stdout"] for target in verdict["targets"]]
    assert said == [
        f"on AMD {card}\n12\n"  # 7 + 5
        for card in ("Radeon RX 7900 XT", "Instinct MI300X", "Radeon RX 9070 XT")
    ]
    assert verdict["verification"] == "matched", verdict["label"]


@pytest.mark.amd
def test_executed_as_the_processor_that_was_asked_for(checked_api: Api) -> None:
    given = {"expected_stdout": "1\n4\n9\n16\n"}
    request = {"source": EXAMPLE, "check": "execute", "inputs": [given], "arch": "gfx942"}
    verdict = checked_api("POST", "/v1/translate", json=request).json()["verdict"]
    assert verdict["verification"] == "matched"
    assert verdict["compile"]["architecture"] == "gfx942"


WIDTH = """\
#include <cstdio>

__global__ void width(int* out) {
  if (threadIdx.x == 0) out[0] = warpSize;
}

int main() {
  int host = 0, *out;
  cudaMalloc(&out, sizeof(host));
  width<<<1, 32>>>(out);
  cudaMemcpy(&host, out, sizeof(host), cudaMemcpyDeviceToHost);
  printf("%d\\n", host);
  cudaFree(out);
}
"""


@pytest.mark.amd
def test_both_wave_widths_of_one_request(checked_api: Api) -> None:
    request = {"check": "execute", "targets": ["gfx942", "gfx1100"]}
    verdicts = []
    for source, expected in ((EXAMPLE, "1\n4\n9\n16\n"), (WIDTH, "32\n")):
        inputs = [{"expected_stdout": expected}]
        asked = checked_api(
            "POST", "/v1/translate", json={**request, "source": source, "inputs": inputs}
        )
        verdicts.append(asked.json()["verdict"])
    same, other = verdicts
    assert (same["verification"], same["portable"]) == ("matched", True)
    assert same["label"].endswith("on gfx1100 (32 lanes) and gfx942 (64 lanes)")
    # A wavefront of CDNA has 64 lanes, and a program that prints its width says so.
    assert (other["verification"], other["portable"]) == ("failed", False)
    found = {each["architecture"]: each for each in other["targets"]}
    assert [each["wavefront"] for each in found.values()] == [32, 64]
    assert found["gfx1100"]["verification"] == "matched"
    assert found["gfx942"]["execution"]["runs"][0]["stdout"] == "64\n"


@pytest.mark.amd
@pytest.mark.nvidia
def test_both_assemblies_with_the_lines_of_their_sources(checked_api: Api) -> None:
    translation = checked_api("POST", "/v1/translate", json={"source": EXAMPLE}).json()
    body = {"source": EXAMPLE, "translation": translation["translation"], "arch": "gfx942"}
    made = checked_api("POST", "/v1/assembly", json=body).json()
    for side, multiply in (("nvidia", "FMUL"), ("amd", "v_mul_f32")):
        [kernel] = made[side]["functions"]
        assert kernel["name"] == "_Z6squarePKfPfi"
        text = EXAMPLE if side == "nvidia" else translation["translation"]
        wanted = 1 + next(n for n, line in enumerate(text.splitlines()) if "out[i] =" in line)
        found = zip(kernel["instructions"], kernel["lines"], strict=True)
        assert [line for words, line in found if multiply in words] == [wanted]
    broken = checked_api("POST", "/v1/assembly", json={**body, "source": "int main() {"}).json()
    assert "program.cu" in broken["nvidia"]["problem"]
    assert broken["amd"]["functions"]
    assert checked_api("POST", "/v1/assembly", json={**body, "arch": "gfx1"}).status_code == 422


@pytest.mark.amd
def test_what_is_known_of_each_processor(checked_api: Api) -> None:
    targets = checked_api("GET", "/v1/capabilities").json()["targets"]
    known = {each["name"]: each for each in targets}
    assert [name for name, each in known.items() if each["executed"]] == [
        "gfx1100",
        "gfx90a",
        "gfx942",
        "gfx1201",
    ]
    assert [known[name]["wavefront"] for name in ("gfx1100", "gfx942")] == [32, 64]
    assert not known["gfx942"]["problem"]


@pytest.mark.amd
def test_stream_of_a_program_that_does_not_compile(checked_api: Api) -> None:
    source = EXAMPLE.replace("in[i] * in[i]", "in[i] * missing")
    answer = checked_api(
        "POST", "/v1/translate", json={"source": source, "check": "compile", "stream": True}
    )
    events = events_of(answer.text)
    assert [kind for kind, _ in events] == ["translation", "stage", "stage", "result"]
    compiled = events[-1][1]["verdict"]["compile"]
    assert not compiled["passed"]
    line = events[-1][1]["translation"].split("\n")[compiled["diagnostics"][0]["line"] - 1]
    assert "missing" in line
    assert "undeclared identifier 'missing'" in compiled["diagnostics"][0]["message"]


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        ({"source": EXAMPLE, "engine": "rule"}, 404, "no engine is called 'rule'"),
        ({"source": EXAMPLE, "engine": "lift"}, 422, "assembly"),
        ({"source": EXAMPLE, "arch": "gfx1"}, 422, ""),
        ({"source": "  "}, 422, "give a source"),
        ({"source": EXAMPLE, "chek": "none"}, 422, "chek"),
        ({"source": "a\0b"}, 422, "NUL"),
        (
            {"source": EXAMPLE, "inputs": [{"files": {"../a": "MQ=="}}]},
            422,
            "not the name of a file",
        ),
        ({"source": EXAMPLE, "inputs": [{"files": {"..": "MQ=="}}]}, 422, "not the name of a file"),
        ({"source": EXAMPLE, "inputs": [{"files": {"a\0": "MQ=="}}]}, 422, "NUL"),
        ({"source": EXAMPLE, "inputs": [{"files": {"a": "1"}}]}, 422, "not base64"),
        ({"source": EXAMPLE, "inputs": [{"files": {"é" * 200: "MQ=="}}]}, 422, "not the name"),
    ],
)
def test_requests_that_cannot_be_carried_out(
    api: Api, body: dict[str, Any], status: int, words: str
) -> None:
    answer = api("POST", "/v1/translate", json=body)
    assert answer.status_code == status
    error = answer.json()["error"]
    assert words in f"{error['message']} {' '.join(error['details'])}"
    assert error["request_id"] == answer.headers["x-request-id"]
    assert EXAMPLE not in answer.text


def test_bodies_beyond_the_limit_are_not_read(tmp_path: Path) -> None:
    api = Api(make_services(make_settings(tmp_path, limits=RequestLimits(body_kib=2))))
    answer = api("POST", "/v1/translate", json={"source": "x" * 4096})
    assert answer.status_code == 413

    async def pieces() -> Any:
        for _ in range(8):
            yield b'{"source": "' + b"x" * 1024

    answer = api("POST", "/v1/translate", content=pieces())
    assert answer.status_code == 413


def test_keys(tmp_path: Path) -> None:
    key = new_key()
    made = ApiKey(name="one", sha256=key_digest(key), requests_per_minute=12, concurrency=1)
    settings = make_settings(tmp_path, authentication=Authentication(keys=[made]))
    api = Api(make_services(settings))
    request = {"json": {"source": EXAMPLE}}
    assert api("POST", "/v1/translate", **request).status_code == 401
    wrong = {"Authorization": f"Bearer {new_key()}"}
    assert api("POST", "/v1/translate", headers=wrong, **request).status_code == 401
    right = {"Authorization": f"Bearer {key}"}
    statuses = [
        api("POST", "/v1/translate", headers=right, **request).status_code for _ in range(4)
    ]
    # Twelve a minute: a burst of two, then one every five seconds.
    assert statuses == [200, 200, 429, 429]
    refused = api("POST", "/v1/translate", headers=right, **request)
    assert 1 <= int(refused.headers["retry-after"]) <= 5
    assert api("GET", "/healthz").status_code == 200
    assert api("GET", "/metrics").status_code == 401
    assert key not in settings.model_dump_json()


def test_places_are_given_back(tmp_path: Path) -> None:
    services = make_services(make_settings(tmp_path, limits=RequestLimits(in_flight=1)))
    api = Api(services)
    for _ in range(3):
        assert api("POST", "/v1/translate", json={"source": EXAMPLE}).status_code == 200
        assert api("POST", "/v1/translate", json={"source": ""}).status_code == 422
    with services.admission.request():
        refused = api("POST", "/v1/translate", json={"source": EXAMPLE})
        assert refused.status_code == 429
        assert refused.headers["retry-after"] == "1"
        assert api("GET", "/readyz").status_code == 503


def test_no_source_in_the_log(api: Api, caplog: pytest.LogCaptureFixture) -> None:
    secret = "unmistakable_kernel_name"
    with caplog.at_level("DEBUG", logger="cass.serve"):
        api("POST", "/v1/translate", json={"source": f"__global__ void {secret}() {{}}"})
        api("POST", "/v1/translate", json={"source": secret, "chek": secret})
    records = [vars(record) for record in caplog.records]
    assert any(record.get("engine") == "rules" for record in records)
    assert secret not in str(records)


def test_other_sites_may_not_call(api: Api, tmp_path: Path) -> None:
    preflight = {
        "headers": {"Origin": "https://other.test", "Access-Control-Request-Method": "POST"}
    }
    closed = api("OPTIONS", "/v1/translate", **preflight)
    assert "access-control-allow-origin" not in closed.headers
    settings = make_settings(tmp_path, cors_origins=["https://other.test"])
    opened = Api(make_services(settings))("OPTIONS", "/v1/translate", **preflight)
    assert opened.headers["access-control-allow-origin"] == "https://other.test"


def test_metrics_count_requests(api: Api) -> None:
    api("POST", "/v1/translate", json={"source": EXAMPLE})
    api("POST", "/v1/translate", json={"source": ""})
    text = api("GET", "/metrics").text
    assert 'cass_requests_total{route="/v1/translate",status="200"} 1.0' in text
    assert 'cass_requests_total{route="/v1/translate",status="422"} 1.0' in text
    assert 'cass_translations_total{engine="rules",verification="unchecked"} 1.0' in text
