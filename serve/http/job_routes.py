"""``/v1/jobs``: an archive in, its translated tree out."""

from __future__ import annotations

import re
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request, Response

from cass_ray.api.jobs import JobFileTexts, JobStatus
from cass_ray.api.schema import RULES, Check
from serve.errors import ApiError
from serve.http.dependencies import Admitted, Authenticated, ServicesOf
from serve.http.routes import PROBLEMS
from serve.jobs.order import JobOrder

router = APIRouter(prefix="/v1/jobs", tags=["jobs"])

_MAGIC = (
    (b"PK\x03\x04", 0, ".zip"),
    (b"PK\x05\x06", 0, ".zip"),
    (b"\x1f\x8b", 0, ".tar.gz"),
    (b"BZh", 0, ".tar.bz2"),
    (b"\xfd7zXZ", 0, ".tar.xz"),
    (b"\x28\xb5\x2f\xfd", 0, ".tar.zst"),
    (b"ustar", 257, ".tar"),
)
_PLAIN = re.compile(r"[^\w. +-]")

JobId = Annotated[str, Path(pattern=r"^[0-9a-f]{32}$")]

_OF_A_DONE_JOB: dict[int | str, dict[str, Any]] = {
    **PROBLEMS,
    409: {"model": PROBLEMS[400]["model"], "description": "The job is not done"},
}
_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "description": "A zip or (compressed) tar archive",
        "content": {
            kind: {"schema": {"type": "string", "format": "binary"}}
            for kind in ("application/zip", "application/x-tar", "application/octet-stream")
        },
    }
}


@router.post(
    "",
    status_code=202,
    responses={**PROBLEMS, 415: {"model": PROBLEMS[400]["model"], "description": "No archive"}},
    openapi_extra=_BODY,
)
async def submit(
    request: Request,
    services: ServicesOf,
    client: Admitted,
    name: Annotated[str, Query(max_length=200)] = "archive",
    engine: Annotated[str, Query(max_length=200)] = RULES,
    check: Check = Check.NONE,
    repair: Annotated[int, Query(ge=0, le=8)] = 0,
) -> JobStatus:
    """Translate an archive. ``check=compile`` compiles every .cu and .hip file of the result."""
    if check is Check.EXECUTE:
        raise ApiError(422, "invalid", "jobs are compiled at most: check is none or compile")
    with services.admission.upload(client.name):
        data = await request.body()
        suffix = _suffix(data)
        if not suffix:
            raise ApiError(415, "no_archive", "the body is neither a zip nor a tar archive")
        order = JobOrder(
            owner=client.name,
            archive=f"archive{suffix}",
            engine=engine,
            check=check,
            repair=repair,
        )
        return await services.jobs.submit(client.name, _PLAIN.sub("_", name), data, order)


@router.get("", responses=PROBLEMS)
async def list_jobs(services: ServicesOf, client: Authenticated) -> list[JobStatus]:
    """Your jobs, the newest first."""
    return await services.jobs.jobs(client.name)


@router.get("/{job}", responses=PROBLEMS)
async def status(job: JobId, services: ServicesOf, client: Authenticated) -> JobStatus:
    """How far a job is; every file's report once it is done."""
    return await services.jobs.status(job, client.name)


@router.delete("/{job}", responses=PROBLEMS)
async def cancel(job: JobId, services: ServicesOf, client: Authenticated) -> JobStatus:
    """Cancel a job, or remove a finished one with its result."""
    return await services.jobs.cancel(job, client.name)


@router.get(
    "/{job}/result",
    response_class=Response,
    responses={
        **_OF_A_DONE_JOB,
        200: {"content": {"application/zip": {}}},
    },
)
async def result(job: JobId, services: ServicesOf, client: Admitted) -> Response:
    """The translated tree as a zip archive, with ``cass-report.json``."""
    data = await services.jobs.result(job, client.name)
    return _file(data, "application/zip", f"translated-{job[:8]}.zip")


@router.get(
    "/{job}/patch",
    response_class=Response,
    responses={
        **_OF_A_DONE_JOB,
        200: {"content": {"text/x-diff": {}}},
    },
)
async def patch(job: JobId, services: ServicesOf, client: Admitted) -> Response:
    """What was changed, as a patch for ``git apply`` in the folder that was sent."""
    data = await services.jobs.patch(job, client.name)
    return _file(data, "text/x-diff", f"translated-{job[:8]}.patch")


@router.get("/{job}/file", responses=_OF_A_DONE_JOB)
async def file(
    job: JobId,
    services: ServicesOf,
    client: Admitted,
    path: Annotated[str, Query(max_length=4096)],
) -> JobFileTexts:
    """One file as it came and as it is now; at most a MiB of each."""
    return await services.jobs.texts(job, client.name, path)


def _file(data: bytes, kind: str, name: str) -> Response:
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(data, media_type=kind, headers=headers)


def _suffix(data: bytes) -> str:
    for magic, offset, suffix in _MAGIC:
        if data[offset : offset + len(magic)] == magic:
            return suffix
    return ""
