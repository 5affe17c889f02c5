"""A client of ``cass serve``.

    from cass_ray.api.client import Client

    with Client("http://127.0.0.1:8000", key="cass_…") as client:
        answer = client.translate(source, check="execute")
        print(answer.verdict.label)
        print(answer.translation)

The key comes from ``$CASS_API_KEY`` where none is given. What the server refuses for the moment
(429, 503) is asked again after the time that it names.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator
from typing import Any

import httpx2 as httpx
from pydantic import TypeAdapter, ValidationError

from cass_ray.api.jobs import JobState, JobStatus
from cass_ray.api.schema import (
    Capabilities,
    Check,
    Event,
    Problem,
    ProblemResponse,
    TranslateRequest,
    TranslateResponse,
)

KEY_VARIABLE = "CASS_API_KEY"

_FINISHED = frozenset({JobState.DONE, JobState.FAILED, JobState.CANCELLED})
_RETRIED = frozenset({429, 503})
_LONGEST_WAIT = 60.0


class ServerError(Exception):
    """The server refused or failed; ``problem`` is what it said, ``status`` 0 where it did not
    answer."""

    def __init__(self, status: int, problem: Problem) -> None:
        details = "".join(f"\n  {line}" for line in problem.details)
        number = f" (request {problem.request_id})" if problem.request_id else ""
        super().__init__(f"{problem.message}{number}{details}")
        self.status = status
        self.problem = problem


class Client:
    """Talks to one server; may be used from several threads."""

    def __init__(
        self,
        server: str,
        key: str | None = None,
        *,
        seconds: float = 330.0,
        attempts: int = 5,
        transport: httpx.BaseTransport | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """``seconds`` bounds one request, ``attempts`` how often a refused one is sent."""
        key = os.environ.get(KEY_VARIABLE, "") if key is None else key
        self._http = httpx.Client(
            base_url=server.rstrip("/"),
            headers={"Authorization": f"Bearer {key}"} if key else {},
            timeout=seconds,
            transport=transport,
        )
        self._attempts = attempts
        self._sleep = sleep

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._http.close()

    def translate(self, source: str = "", **options: Any) -> TranslateResponse:
        """Translate a program; ``options`` are the fields of
        :class:`cass_ray.api.schema.TranslateRequest`. Raises :class:`ServerError`, and
        ``pydantic.ValidationError`` for options that make no request.
        """
        request = TranslateRequest.model_validate({**options, "source": source, "stream": False})
        answer = self._send("POST", "/v1/translate", json=request.model_dump(mode="json"))
        return TranslateResponse.model_validate_json(answer.content)

    def stream(self, source: str = "", **options: Any) -> Iterator[Event]:
        """The same, event by event; the last is ``result``. Raises :class:`ServerError`."""
        request = TranslateRequest.model_validate({**options, "source": source, "stream": True})
        body = request.model_dump(mode="json")
        with self._http.stream("POST", "/v1/translate", json=body) as answer:
            if answer.is_error:
                answer.read()
                raise _error(answer)
            for event in _events(answer.iter_lines()):
                if event.type == "error":
                    raise ServerError(answer.status_code, Problem.model_validate(event.data))
                yield event

    def submit(
        self, archive: bytes, name: str = "archive", check: Check = Check.NONE, **options: Any
    ) -> JobStatus:
        """Start a job over a zip or tar archive."""
        query = {"name": name, "check": check.value, **options}
        answer = self._send("POST", "/v1/jobs", params=query, content=archive)
        return JobStatus.model_validate_json(answer.content)

    def job(self, job: str) -> JobStatus:
        return JobStatus.model_validate_json(self._send("GET", f"/v1/jobs/{job}").content)

    def jobs(self) -> list[JobStatus]:
        """All jobs of this key, the newest first."""
        content = self._send("GET", "/v1/jobs").content
        return TypeAdapter(list[JobStatus]).validate_json(content)

    def cancel(self, job: str) -> JobStatus:
        """End a job, or remove a finished one."""
        return JobStatus.model_validate_json(self._send("DELETE", f"/v1/jobs/{job}").content)

    def wait(self, job: str, every: float = 1.0) -> JobStatus:
        """The job when it is finished."""
        while (status := self.job(job)).state not in _FINISHED:
            self._sleep(every)
        return status

    def result(self, job: str) -> bytes:
        """The translated tree of a job that is done, as a zip archive."""
        return self._send("GET", f"/v1/jobs/{job}/result").content

    def capabilities(self) -> Capabilities:
        """Engines, architectures, backends and limits of the server."""
        return Capabilities.model_validate_json(self._send("GET", "/v1/capabilities").content)

    def _send(self, method: str, path: str, **options: Any) -> httpx.Response:
        for attempt in range(1, self._attempts + 1):
            try:
                answer = self._http.request(method, path, **options)
            except httpx.TransportError as error:
                lost = isinstance(error, (httpx.RemoteProtocolError, httpx.ReadError))
                if lost and attempt < self._attempts:  # a replica died: another may answer
                    self._sleep(float(attempt))
                    continue
                message = (
                    f"{self._http.base_url} does not answer: {error}: start it with `cass serve`,"
                )
                message += " or give the address of one that runs"
                raise ServerError(0, Problem(code="no_answer", message=message)) from None
            if answer.status_code in _RETRIED and attempt < self._attempts:
                self._sleep(_wait(answer, attempt))
                continue
            if answer.is_error:
                raise _error(answer)
            return answer
        raise AssertionError("unreachable")


def _wait(answer: httpx.Response, attempt: int) -> float:
    """Seconds that the server names, else a doubling time."""
    named = answer.headers.get("retry-after", "")
    return min(float(named) if named.isdigit() else 0.5 * 2**attempt, _LONGEST_WAIT)


def _error(answer: httpx.Response) -> ServerError:
    try:
        problem = ProblemResponse.model_validate_json(answer.content).error
    except ValidationError:
        message = f"the server answered {answer.status_code}"
        problem = Problem(code="http", message=message)
    return ServerError(answer.status_code, problem)


def _events(lines: Iterator[str]) -> Iterator[Event]:
    """Server-sent events; comments are left out."""
    kind, data = "", ""
    for line in lines:
        if line.startswith("event: "):
            kind = line.removeprefix("event: ")
        elif line.startswith("data: "):
            data += line.removeprefix("data: ")
        elif not line and data:
            yield Event.model_validate({"type": kind, "data": json.loads(data)})
            kind, data = "", ""
