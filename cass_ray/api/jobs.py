"""Translations of whole archives: jobs, their files, and how far they are."""

from __future__ import annotations

from enum import StrEnum

from cass_ray.api.schema import Check, FindingModel
from cass_ray.config import StrictModel


class JobState(StrEnum):
    """How far a job is."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


class JobFile(StrictModel):
    """What became of one file of an archive."""

    path: str
    action: str
    converted: int = 0
    findings: list[FindingModel] = []
    compiled: bool | None = None
    diagnostic: str = ""


class JobStatus(StrictModel):
    """A job, as far as it is. Times are seconds since 1970."""

    id: str
    state: JobState
    name: str
    check: Check
    created: float
    finished: float | None = None
    expires: float
    files_total: int = 0
    files_done: int = 0
    stage: str = ""
    problem: str = ""
    files: list[JobFile] = []
    """Once it is done."""
    left_out: list[str] = []
    """Members of the archive that were not unpacked, with the reason."""


class JobFileTexts(StrictModel):
    """A file of an archive as it came and as it is now."""

    path: str
    before: str
    after: str
