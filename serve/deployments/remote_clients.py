"""Engines, checker and jobs behind Ray Serve handles.

A replica that dies takes its calls with it. Calls have no effects beside their answer, so they are
made again, elsewhere; a stream that has begun is begun again only as long as nothing was passed on.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from ray.exceptions import RayActorError, RayTaskError
from ray.serve.exceptions import BackPressureError, DeploymentUnavailableError
from ray.serve.handle import DeploymentHandle

from cass_ray.api.jobs import JobFileTexts, JobStatus
from cass_ray.api.machine_code import AssemblyRequest, AssemblySide
from cass_ray.api.schema import EngineInfo, TargetInfo, TranslateRequest
from serve.check.stages import CheckRequest, CheckStage
from serve.engines.base import EngineAnswer
from serve.errors import ApiError, from_library, overloaded
from serve.jobs.order import JobOrder

Result = TypeVar("Result")

ATTEMPTS = 4
DEATHS = 2
"""Replicas that one check may take with it: it is then what kills them."""
_FIRST_WAIT = 0.2
"""Seconds before a call is made again; doubles."""


async def retried(call: Callable[[], Awaitable[Result]], what: str) -> Result:
    """The result of ``call``, made again when a replica dies under it."""
    for attempt in range(ATTEMPTS):
        try:
            return await call()
        except Exception as error:
            await _again(error, attempt, what)
    raise _lost(what)


async def _again(error: Exception, attempt: int, what: str) -> None:
    """Wait before the next attempt; raises what another attempt does not help against."""
    if isinstance(error, BackPressureError):
        raise overloaded(f"the queue of {what} is full", 2.0) from None
    if isinstance(error, RayTaskError):
        # Before RayActorError: an error of the program can carry the name of any other.
        raise _cause(error) from None
    if not isinstance(error, RayActorError | DeploymentUnavailableError):
        raise error
    if attempt + 1 == ATTEMPTS:
        raise _lost(what) from None
    await asyncio.sleep(_FIRST_WAIT * 2**attempt)


def _cause(error: RayTaskError) -> Exception:
    cause = error.cause if isinstance(error.cause, Exception) else error
    return from_library(cause) or cause


def _lost(what: str) -> ApiError:
    return ApiError(
        503, "replica_lost", f"replicas of {what} died under the request", retry_after=2
    )


@dataclass
class RemoteEngine:
    """An engine behind a handle; see :class:`serve.request.clients.EngineClient`."""

    info: EngineInfo
    handle: DeploymentHandle
    _version: str = ""

    async def version(self) -> str:
        """Asked for once, and kept for the life of this client."""
        if not self._version:
            self._version = await retried(self.handle.version.remote, self.info.name)
        return self._version

    async def translate(self, request: TranslateRequest, seed: int) -> EngineAnswer:
        return await retried(lambda: self.handle.translate.remote(request, seed), self.info.name)

    async def stream(
        self, request: TranslateRequest, seed: int
    ) -> AsyncIterator[str | EngineAnswer]:
        handle = self.handle.options(stream=True)
        async for piece in _streamed(lambda: handle.stream.remote(request, seed), self.info.name):
            yield piece

    async def propose(self, source: str, messages: str) -> str | None:
        return await retried(lambda: self.handle.propose.remote(source, messages), self.info.name)

    async def chat(
        self, messages: list[dict[str, str]], options: dict[str, Any]
    ) -> AsyncIterator[Any]:
        handle = self.handle.options(stream=True)
        async for piece in _streamed(lambda: handle.chat.remote(messages, options), self.info.name):
            yield piece


async def _streamed(
    start: Callable[[], Any], what: str, deaths: int = ATTEMPTS
) -> AsyncIterator[Any]:
    """The items of a streaming call, which is cancelled when nobody listens any more.

    A replica that dies under it is no reason to try again after ``deaths`` of them.
    """
    for attempt in range(ATTEMPTS):
        response = start()
        begun = finished = False
        try:
            async for item in response:
                begun = True
                yield item
            finished = True
            return
        except Exception as error:
            finished = True
            died = isinstance(error, RayActorError) and not isinstance(error, RayTaskError)
            if died and (begun or attempt + 1 >= deaths):
                raise _lost(what) from None
            await _again(error, attempt, what)
        finally:
            if not finished:
                response.cancel()


@dataclass
class RemoteChecker:
    """The checker behind a handle; see :class:`serve.request.clients.CheckerClient`."""

    handle: DeploymentHandle

    async def stages(self, check: CheckRequest) -> AsyncIterator[CheckStage]:
        """A replica checks. Stages that were passed on are not passed on again after a death."""
        passed = 0
        for attempt in range(DEATHS):
            seen = 0
            stages = _streamed(
                lambda: self.handle.options(stream=True).stages.remote(check), "checker", deaths=1
            )
            try:
                async for stage in stages:
                    seen += 1
                    if seen > passed:
                        passed = seen
                        yield stage
                return
            except ApiError as error:
                if error.code != "replica_lost" or attempt + 1 == DEATHS:
                    raise
                await asyncio.sleep(_FIRST_WAIT * 2**attempt)
            finally:
                await stages.aclose()  # type: ignore[attr-defined]

    async def listings(self, request: AssemblyRequest) -> AsyncIterator[AssemblySide]:
        """A replica lists them; it is not asked again where it dies meanwhile."""
        handle = self.handle.options(stream=True)
        sides = _streamed(lambda: handle.listings.remote(request), "checker", deaths=1)
        try:
            async for side in sides:
                yield side
        finally:
            await sides.aclose()  # type: ignore[attr-defined]

    async def backends(self) -> dict[str, str]:
        return await retried(self.handle.backends.remote, "checker")

    async def targets(self) -> list[TargetInfo]:
        return await retried(self.handle.targets.remote, "checker")


@dataclass
class RemoteJobs:
    """Jobs behind a handle; see :class:`serve.request.clients.JobsClient`."""

    handle: DeploymentHandle

    async def submit(self, owner: str, name: str, data: bytes, order: JobOrder) -> JobStatus:
        """The call is not made again: a job has effects."""
        try:
            status: JobStatus = await self.handle.submit.remote(owner, name, data, order)
            return status
        except Exception as error:
            await _again(error, ATTEMPTS - 1, "jobs")
            raise

    async def status(self, job: str, owner: str) -> JobStatus:
        return await retried(lambda: self.handle.status.remote(job, owner), "jobs")

    async def jobs(self, owner: str) -> list[JobStatus]:
        return await retried(lambda: self.handle.jobs.remote(owner), "jobs")

    async def cancel(self, job: str, owner: str) -> JobStatus:
        return await retried(lambda: self.handle.cancel.remote(job, owner), "jobs")

    async def result(self, job: str, owner: str) -> bytes:
        return await retried(lambda: self.handle.result.remote(job, owner), "jobs")

    async def patch(self, job: str, owner: str) -> bytes:
        return await retried(lambda: self.handle.patch.remote(job, owner), "jobs")

    async def texts(self, job: str, owner: str, path: str) -> JobFileTexts:
        return await retried(lambda: self.handle.texts.remote(job, owner, path), "jobs")
