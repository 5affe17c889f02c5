"""The application in this process, without Ray: real engines, real compilers, real sandbox."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

import pytest

pytest.importorskip("ray.serve")
httpx = pytest.importorskip("httpx2")

from cass_ray.api.schema import TargetInfo  # noqa: E402
from cass_ray.translate.engines.registry import make_translator  # noqa: E402
from serve.check.checker import Checker  # noqa: E402
from serve.engines.registry import make_engine  # noqa: E402
from serve.http.app import create_app  # noqa: E402
from serve.jobs.archive_jobs import ArchiveJobs  # noqa: E402
from serve.request.clients import CheckerClient, EngineClient, info_of  # noqa: E402
from serve.request.ingress_services import IngressServices  # noqa: E402
from serve.request.local_clients import (  # noqa: E402
    InlineFirst,
    LocalChecker,
    LocalEngine,
    LocalJobs,
)
from serve.settings import (  # noqa: E402
    Authentication,
    EngineSettings,
    JobSettings,
    ServeSettings,
)

Result = TypeVar("Result")
_ADDRESS = "http://localhost"


def make_settings(folder: Path, **changes: Any) -> ServeSettings:
    """Without authentication, jobs below ``folder``."""
    values: dict[str, Any] = {
        "authentication": Authentication(enabled=False),
        "jobs": JobSettings(folder=folder / "jobs"),
        **changes,
    }
    return ServeSettings(**values)


@pytest.fixture(scope="session")
def checker() -> Checker:
    made = Checker(ServeSettings().checker)
    if problem := made.backends()["rdna3"]:
        pytest.skip(problem)
    return made


class NoChecker:
    """Fails a test that checks where it should not."""

    async def stages(self, check: Any) -> AsyncIterator[Any]:
        raise AssertionError("nothing was to be checked")
        yield

    async def backends(self) -> dict[str, str]:
        return {"rdna3": ""}

    async def targets(self) -> list[TargetInfo]:
        return []


def make_services(
    settings: ServeSettings,
    checker: CheckerClient | None = None,
    engines: Mapping[str, EngineClient] | None = None,
) -> IngressServices:
    """Services in this process."""
    found: dict[str, EngineClient] = {}
    for each in settings.engines:
        if each.translator == "rules":
            found[each.name] = InlineFirst(info_of(each), make_engine("rules"))
        elif engines is None or each.name not in engines:
            found[each.name] = LazyEngine(info_of(each), each)
    found.update(engines or {})
    jobs = ArchiveJobs(settings.jobs, {"rules": lambda: make_translator("rules")})
    return IngressServices(settings, found, checker or NoChecker(), LocalJobs(jobs))


class LazyEngine(LocalEngine):
    """Made when it is asked for: lift needs both toolchains."""

    def __init__(self, info: Any, settings: EngineSettings) -> None:
        self.info = info
        self._settings = settings

    @property
    def engine(self) -> Any:  # type: ignore[override]
        return make_engine(self._settings.translator)

    @engine.setter
    def engine(self, value: Any) -> None:
        raise AttributeError


class Api:
    """Sends requests to an application in this process."""

    def __init__(self, services: IngressServices) -> None:
        self.services = services
        self.app = create_app(services.settings, lambda: services)

    def __call__(self, method: str, path: str, **options: Any) -> Any:
        return self.run(lambda client: client.request(method, path, **options))

    def run(self, work: Callable[[Any], Coroutine[Any, Any, Result]]) -> Result:
        async def main() -> Result:
            transport = httpx.ASGITransport(app=self.app)
            async with httpx.AsyncClient(transport=transport, base_url=_ADDRESS) as client:
                return await work(client)

        return asyncio.run(main())


@pytest.fixture
def api(tmp_path: Path) -> Api:
    """Rules only; nothing is compiled."""
    return Api(make_services(make_settings(tmp_path)))


@pytest.fixture
def checked_api(tmp_path: Path, checker: Checker) -> Iterator[Api]:
    """With compilers and the sandbox."""
    yield Api(make_services(make_settings(tmp_path), LocalChecker(checker)))
