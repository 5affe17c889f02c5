"""What ``cass serve`` says where it cannot start, before Ray is started and after."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("ray.serve")

from serve.deployments.local_service import DidNotStart, Service, reason
from serve.settings import EngineSettings, ServeSettings


def refusal(**settings: object) -> str:
    with pytest.raises(DidNotStart) as refused:
        Service(ServeSettings.model_validate(settings)).__enter__()
    return str(refused.value)


def test_a_port_in_use_is_said_before_anything_starts() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        assert refusal(port=port) == (
            f"127.0.0.1:{port}: Address already in use; choose another --port"
        )


def test_an_address_of_another_machine() -> None:
    said = refusal(host="192.0.2.1", port=8000)  # RFC 5737: nobody's
    assert said == "192.0.2.1:8000: Cannot assign requested address; see --host, --port"


@pytest.mark.parametrize("path", ["{folder}/nothing", "~/no-such-folder-of-cass", "./nothing"])
def test_a_model_that_is_not_there(path: str, tmp_path: Path) -> None:
    path = path.format(folder=tmp_path)
    engine = EngineSettings(name="m", translator=f"model:{path}?dtype=float32")
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
    said = refusal(port=port, engines=[engine.model_dump()])
    assert said == f"the engine m: there is no folder {path}"


SERVE_SAYS = """The deployment failed to start 3 times in a row. Error:
ray::ServeReplica:cass:engine-h.initialize_and_get_metadata() (pid=1, ip=127.0.0.1)
    self._engine = make_engine(settings.translator)
cass_ray.toolchain.errors.ToolMissing: hipify-clang is missing. Install it.
Tried: PATH, /usr/bin
"""


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (SERVE_SAYS, "hipify-clang is missing. Install it. Tried: PATH, /usr/bin"),
        ("RuntimeError: first\nValueError: a: b", "a: b"),
        ("no exception at all", "no exception at all"),
        ("", "Ray Serve does not say why"),
    ],
)
def test_the_reason_is_the_last_exception(message: str, expected: str) -> None:
    assert reason(message) == expected


LEAN = """
import sys
from serve.deployments import lean_import
assert "ray.serve" in sys.modules and "pandas" not in sys.modules
from serve.deployments import application
for heavy in ("pandas", "cass_ray.lift.module", "serve.check.checker", "serve.jobs.archive_jobs"):
    assert heavy not in sys.modules, heavy
import pandas
assert pandas.DataFrame([1]).shape == (1, 1)
"""


def test_the_start_imports_what_a_first_request_needs() -> None:
    subprocess.run([sys.executable, "-c", LEAN], check=True, timeout=300)
