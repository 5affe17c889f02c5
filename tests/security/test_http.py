"""Clients that stall, crowd out others, or kill what answers them."""

from __future__ import annotations

import asyncio
import io
import re
import zipfile
from collections.abc import AsyncIterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("ray.serve")

from ray.exceptions import RayActorError

from cass_ray.api.jobs import JobState
from cass_ray.api.schema import TranslateRequest
from cass_ray.translate.protocol import NO_CONTEXT, Context, Translation, TranslatorError
from serve.check.stages import CheckRequest, CheckStage
from serve.deployments.remote_clients import DEATHS, RemoteChecker
from serve.errors import ApiError
from serve.http.app import create_app
from serve.http.connections import PlainRequests
from serve.http.streams import within
from serve.jobs.archive_jobs import ArchiveJobs
from serve.jobs.order import JobOrder
from serve.request.access import Admission
from serve.settings import JobSettings, RequestLimits
from tests.security.test_disk import KERNEL, Held, zipped
from tests.serve.conftest import make_services, make_settings

ORDER = JobOrder(owner="", archive="archive.zip", engine="held")


async def never_ends() -> AsyncIterator[str]:
    yield "first"
    await asyncio.Event().wait()


async def talks_for_ever() -> AsyncIterator[str]:
    while True:
        yield "more"
        await asyncio.sleep(0)


@pytest.mark.parametrize("pieces", [never_ends, talks_for_ever])
def test_a_stream_ends_at_its_limit(pieces: Any) -> None:
    async def run() -> list[str]:
        made = within(pieces(), 0.05, lambda error: type(error).__name__)
        return [piece async for piece in made]

    found = asyncio.run(asyncio.wait_for(run(), 60))
    assert found[-1] == "TimeoutError"


def test_a_client_that_does_not_read_holds_no_place() -> None:
    async def run() -> None:
        given_back = asyncio.Event()
        held = ExitStack()
        held.callback(given_back.set)
        made = within(talks_for_ever(), 0.05, lambda error: "late", held)
        assert await anext(made) == "more"
        await given_back.wait()  # though nobody asks for the next piece
        await made.aclose()  # type: ignore[attr-defined]

    asyncio.run(asyncio.wait_for(run(), 60))


def test_a_client_that_hangs_up_ends_the_work() -> None:
    async def run() -> bool:
        ended = False

        async def pieces() -> AsyncIterator[str]:
            nonlocal ended
            try:
                yield "first"
                await asyncio.Event().wait()
            finally:
                ended = True

        made = within(pieces(), 60, lambda error: "late")
        await anext(made)
        await made.aclose()  # type: ignore[attr-defined]
        return ended

    assert asyncio.run(asyncio.wait_for(run(), 60))


def posted(folder: Path, path: str, sent: list[bytes], **limits: float) -> int:
    """The status for a body that begins with ``sent`` and never ends."""
    services = make_services(make_settings(folder, limits=RequestLimits(**limits)))  # type: ignore[arg-type]
    messages = [{"type": "http.request", "body": each, "more_body": True} for each in sent]
    statuses: list[int] = []

    async def receive() -> Any:
        if messages:
            return messages.pop(0)
        return await asyncio.Event().wait()

    async def send(message: Any) -> None:
        if message["type"] == "http.response.start":
            statuses.append(message["status"])

    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "POST",
        "path": path,
        "raw_path": path.encode(),
        "root_path": "",
        "scheme": "http",
        "query_string": b"",
        "headers": [(b"host", b"localhost"), (b"content-type", b"application/json")],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 80),
    }
    app = create_app(services.settings, lambda: services)
    asyncio.run(asyncio.wait_for(app(scope, receive, send), 60))
    assert services.admission.uploads.total() == 0
    return statuses[0]


@pytest.mark.parametrize("path", ["/v1/jobs", "/v1/translate", "/v1/chat/completions"])
@pytest.mark.parametrize("limit", ["stall_seconds", "body_seconds"])
def test_a_body_that_does_not_come(path: str, limit: str, tmp_path: Path) -> None:
    assert posted(tmp_path, path, [b"PK", b"x"], **{limit: 0.05}) == 408


def test_one_key_does_not_take_all_places_for_uploads() -> None:
    admission = Admission(RequestLimits())
    with ExitStack() as held:
        for _ in range(2):
            held.enter_context(admission.upload("hostile"))
        with pytest.raises(ApiError) as caught, admission.upload("hostile"):
            pass
        assert caught.value.status == 429
        with admission.upload("honest"):
            pass
    assert admission.uploads.total() == 0


def test_one_key_does_not_fill_the_queue_of_jobs(tmp_path: Path) -> None:
    held = Held()
    jobs = ArchiveJobs(JobSettings(folder=tmp_path, per_key=2), {"held": lambda: held})
    for _ in range(2):
        jobs.submit("hostile", "x", zipped(a=KERNEL), ORDER)
    with pytest.raises(ApiError) as caught:
        jobs.submit("hostile", "x", zipped(a=KERNEL), ORDER)
    assert caught.value.status == 429
    assert jobs.submit("honest", "x", zipped(a=KERNEL), ORDER).state is JobState.QUEUED
    held.allowed.set()
    jobs.close()


def test_jobs_that_are_cancelled_count_until_they_end(tmp_path: Path) -> None:
    held = Held()
    jobs = ArchiveJobs(JobSettings(folder=tmp_path, per_key=2), {"held": lambda: held})
    for _ in range(2):
        jobs.cancel(jobs.submit("hostile", "x", zipped(a=KERNEL), ORDER).id, "hostile")
        if not held.asked.is_set():
            break
    with pytest.raises(ApiError):
        for _ in range(3):
            job = jobs.submit("hostile", "x", zipped(a=KERNEL), ORDER)
            assert held.asked.wait(60)
            jobs.cancel(job.id, "hostile")
    held.allowed.set()
    jobs.close()


@pytest.mark.parametrize("error", [OSError(28, "full", "/srv/secret"), ValueError("/srv/secret"),
                                   TranslatorError("{folder}/work/in/a.cu: no")])  # fmt: skip
def test_problems_of_jobs_name_no_path_of_the_server(error: Exception, tmp_path: Path) -> None:
    class Fails:
        name, version = "fails", "1"

        def translate(
            self, source: str, *, filename: str = "", context: Context = NO_CONTEXT
        ) -> Translation:
            folder = next(tmp_path.iterdir())
            error.args = tuple(
                each.replace("{folder}", str(folder)) if isinstance(each, str) else each
                for each in error.args
            )
            raise error

    jobs = ArchiveJobs(JobSettings(folder=tmp_path), {"held": Fails})
    job = jobs.submit("me", "x", zipped(a=KERNEL), ORDER)
    jobs.close()
    status = jobs.status(job.id, "me").model_dump_json()
    assert not re.search(rf"/srv|{re.escape(str(tmp_path))}", status)


def test_members_left_out_name_no_path_of_the_server(tmp_path: Path) -> None:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr("a.cu", KERNEL)
        archive.writestr("n" * 300 + ".cu", KERNEL)
        archive.writestr("a.cu/b.cu", KERNEL)
    held = Held()
    held.allowed.set()
    jobs = ArchiveJobs(JobSettings(folder=tmp_path), {"held": lambda: held})
    job = jobs.submit("me", "x", data.getvalue(), ORDER)
    jobs.close()
    status = jobs.status(job.id, "me")
    assert (status.state, len(status.left_out)) == (JobState.DONE, 2)
    assert str(tmp_path) not in status.model_dump_json()


class Dying:
    """A handle whose replicas die of every call."""

    def __init__(self, stages: int) -> None:
        self.calls, self._stages = 0, stages

    @property
    def stages(self) -> Dying:
        return self

    def options(self, **_: Any) -> Dying:
        return self

    def remote(self, _: Any) -> Any:
        self.calls += 1
        number = self._stages

        class Response:
            async def __aiter__(self) -> AsyncIterator[CheckStage]:
                for _ in range(number):
                    yield CheckStage(name="compile")
                raise RayActorError

            def cancel(self) -> None: ...

        return Response()


@pytest.mark.parametrize("stages", [0, 1])
def test_a_request_that_kills_is_not_given_to_every_replica(stages: int) -> None:
    handle = Dying(stages)
    request = TranslateRequest(source="x")
    check = CheckRequest(request=request, engine="rules", translation="x")

    async def run() -> None:
        async for _ in RemoteChecker(handle).stages(check):
            pass

    with pytest.raises(ApiError) as caught:
        asyncio.run(run())
    assert caught.value.code == "replica_lost"
    assert handle.calls == DEATHS == 2


def test_keys_share_checks() -> None:
    admission = Admission(RequestLimits(checks_in_flight=16), keys=3)
    with ExitStack() as held:
        for _ in range(8):  # of two shares, one is kept
            held.enter_context(admission.check("hostile"))
        with pytest.raises(ApiError) as caught, admission.check("hostile"):
            pass
        assert caught.value.status == 429 and caught.value.retry_after
        for _ in range(5):  # of three
            held.enter_context(admission.check("honest"))
        with pytest.raises(ApiError), admission.check("honest"):
            pass
        with admission.check("third"):
            pass
    assert admission.checks.total() == 0


def test_the_only_key_has_all_checks() -> None:
    admission = Admission(RequestLimits(checks_in_flight=4))
    with ExitStack() as held:
        for _ in range(4):
            held.enter_context(admission.check("anyone"))
        with pytest.raises(ApiError), admission.check("anyone"):
            pass


def test_what_serve_fails_at_may_be_asked_again() -> None:
    """It was a bare 500, which no client repeats."""

    async def fails(scope: Any, receive: Any, send: Any) -> None:
        raise RuntimeError("replica lost")

    sent: list[dict[str, Any]] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        return {"type": "http.request"}

    scope = {"type": "http", "method": "GET", "path": "/", "headers": []}
    asyncio.run(PlainRequests(fails)(scope, receive, send))
    assert sent[0]["status"] == 503
    assert dict(sent[0]["headers"])[b"retry-after"] == b"1"
    assert b"replica lost" not in sent[1]["body"]


def test_serves_own_error_may_be_asked_again() -> None:
    """Its proxy answers 500 in plain text when a replica dies under a request."""

    async def answers(scope: Any, receive: Any, send: Any) -> None:
        headers = [(b"content-type", b"text/plain"), *scope["added"]]
        await send({"type": "http.response.start", "status": 500, "headers": headers})
        await send({"type": "http.response.body", "body": b"Internal Server Error"})

    def answer_with(*added: tuple[bytes, bytes]) -> list[dict[str, Any]]:
        sent: list[dict[str, Any]] = []

        async def send(message: Any) -> None:
            sent.append(message)

        scope = {"type": "http", "method": "GET", "path": "/", "headers": [], "added": added}
        asyncio.run(PlainRequests(answers)(scope, send, send))
        return sent

    made = answer_with()
    assert (made[0]["status"], dict(made[0]["headers"])[b"retry-after"]) == (503, b"1")
    assert len(made) == 2
    ours = answer_with((b"x-request-id", b"a"))  # an error of the ingress stays what it is
    assert (ours[0]["status"], ours[1]["body"]) == (500, b"Internal Server Error")


def test_those_refused_come_again_one_after_the_other() -> None:
    """Two places, each held for four seconds: one is free each two seconds."""
    now = [100.0]
    admission = Admission(RequestLimits(checks_in_flight=2), clock=lambda: now[0])
    for _ in range(200):
        with admission.check("a"):
            now[0] += 4

    def refused() -> float:
        with pytest.raises(ApiError) as caught, admission.check("a"):
            pass
        assert caught.value.retry_after is not None
        return caught.value.retry_after

    with ExitStack() as held:
        for _ in range(2):
            held.enter_context(admission.check("a"))
        assert [refused() for _ in range(4)] == pytest.approx([3, 5, 7, 9])
        now[0] += 10
        assert refused() == pytest.approx(3)  # what they were told has passed
        assert max(refused() for _ in range(100)) == 60


def test_an_answer_that_has_begun_is_not_begun_again() -> None:
    async def fails(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        raise RuntimeError("replica lost")

    sent: list[dict[str, Any]] = []

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "GET", "path": "/", "headers": []}
    with pytest.raises(RuntimeError):
        asyncio.run(PlainRequests(fails)(scope, send, send))
    assert len(sent) == 1
