"""Generated requests against the description of the API: every answer is as it says."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from cass_ray.api.keys import key_digest, new_key
from serve.settings import ApiKey, Authentication
from tests.serve.conftest import Api, make_services, make_settings
from tests.serve.request.test_pipeline import WordChecker

schemathesis = pytest.importorskip("schemathesis")

# Which engine goes which way, and that a program is a program, no schema says: those are 422 too.
from schemathesis.specs.openapi.checks import positive_data_acceptance  # noqa: E402

KEY = new_key()


@pytest.fixture(scope="module")
def description(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder: Path = tmp_path_factory.mktemp("serve")
    known = ApiKey(name="one", sha256=key_digest(KEY), requests_per_minute=1e6, concurrency=100)
    settings = make_settings(folder, authentication=Authentication(keys=[known]))
    api = Api(make_services(settings, WordChecker()))
    return schemathesis.openapi.from_asgi("/openapi.json", api.app)


def test_answers_are_as_described(description: Any) -> None:
    failed = {}
    for operation in (found.ok() for found in description.get_all_operations()):

        @given(case=operation.as_strategy())
        @settings(
            max_examples=15,
            phases=[Phase.explicit, Phase.generate],
            deadline=None,
            derandomize=True,
            suppress_health_check=list(HealthCheck),
        )
        def check(case: Any) -> None:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                case.call_and_validate(
                    headers={"Authorization": f"Bearer {KEY}"},
                    excluded_checks=[positive_data_acceptance],
                )

        try:
            check()
        except BaseExceptionGroup as error:
            failed[operation.label] = error
    assert failed == {}, "\n".join(f"{name}: {error}" for name, error in failed.items())


def test_the_description_names_every_route(description: Any) -> None:
    found = {operation.ok().path for operation in description.get_all_operations()}
    assert {"/v1/translate", "/v1/jobs/{job}/result", "/v1/chat/completions", "/metrics"} <= found
