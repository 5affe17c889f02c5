"""Jobs over whole archives: unpack, translate the tree, compile what came out, pack.

A job is a folder: ``status.json``, ``order.json`` (whose it is, what was asked), the archive and
``result.zip``. What was under way when a replica died is begun again by the next one.
"""

from __future__ import annotations

import json
import logging
import shutil
import threading
import time
import uuid
import zipfile
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from cass_ray.api.jobs import JobFile, JobFileTexts, JobState, JobStatus
from cass_ray.api.schema import Check
from cass_ray.corpus.reading.archives import unpack_archive
from cass_ray.corpus.reading.limits import ReadLimits
from cass_ray.dataset.row import clip_diagnostic
from cass_ray.project.patch import make_patch
from cass_ray.toolchain.locate import find_amd
from cass_ray.toolchain.sandbox.process import ABANDON, Abandoned
from cass_ray.translate.project.tree import (
    STATE,
    TreeResult,
    is_source,
    source_files,
    translate_tree,
)
from cass_ray.translate.protocol import NO_CONTEXT, Context, Translation, Translator
from cass_ray.translate.repair.hip_compiler import HipCompiler
from serve.engines.base import findings_of
from serve.errors import ApiError, from_library, overloaded
from serve.jobs.order import JobOrder
from serve.messages import without_paths
from serve.settings import JobSettings

COMPILED_SUFFIXES = (".cu", ".hip")
REPORT = "cass-report.json"
LOG = logging.getLogger("cass.serve")

_STATUS, _ORDER, _RESULT = "status.json", "order.json", "result.zip"
_PATCH, _BEFORE = "result.patch", "before.zip"
_TEXT_BYTES = 1 << 20
_MOST_FINDINGS = 10_000
_FINISHED = frozenset({JobState.DONE, JobState.FAILED, JobState.CANCELLED})


class _Cancelled(Exception):
    pass


@dataclass
class _Watched:
    """A translator that counts files and stops when the job is cancelled."""

    inner: Translator
    cancelled: threading.Event
    tick: Callable[[], None]

    @property
    def name(self) -> str:
        return self.inner.name

    @property
    def version(self) -> str:
        return self.inner.version

    def translate(
        self, source: str, *, filename: str = "", context: Context = NO_CONTEXT
    ) -> Translation:
        if self.cancelled.is_set():
            raise _Cancelled
        translation = self.inner.translate(source, filename=filename, context=context)
        self.tick()
        return translation


@dataclass
class _Job:
    """A job in this process. ``status`` is replaced, never changed."""

    folder: Path
    order: JobOrder
    status: JobStatus
    cancelled: threading.Event = field(default_factory=threading.Event)
    occupies: bool = False
    """Whether it waits for a thread or has one; a cancelled job may, for a while."""

    def bytes_kept(self) -> int:
        """What the job takes on disk, without what it works on."""
        kept = 0
        for name in (self.order.archive, _RESULT, _PATCH, _BEFORE):
            with suppress(FileNotFoundError):
                kept += (self.folder / name).stat().st_size
        return kept

    def check(self) -> None:
        """Raises when the job is cancelled."""
        if self.cancelled.is_set():
            raise _Cancelled

    def said(self, text: str) -> str:
        """``text`` without the paths of this server."""
        for folder in (self.folder.resolve(), self.folder):
            for inner in ("work/out/", "work/in/", ""):
                text = text.replace(f"{folder}/{inner}", "")
            text = text.replace(str(folder), "")
        return without_paths(text)

    def update(self, *, keep: bool = True, **changes: object) -> None:
        """Change the status, on disk too with ``keep``."""
        self.status = self.status.model_copy(update=changes)
        if keep:
            self.write()

    def write(self) -> None:
        """Write the status, whole or not at all."""
        # Whoever cancels and whoever works may write at the same time.
        part = self.folder / f"{_STATUS}.{threading.get_ident()}.part"
        part.write_text(self.status.model_dump_json())
        part.replace(self.folder / _STATUS)


class ArchiveJobs:
    """All jobs of one service. Use it inside one event loop."""

    def __init__(
        self, settings: JobSettings, translators: Mapping[str, Callable[[], Translator]]
    ) -> None:
        """``translators`` makes the engine of a name; called in a thread."""
        self._settings = settings
        self._translators = translators
        self._pool = ThreadPoolExecutor(settings.running, thread_name_prefix="job")
        self._jobs: dict[str, _Job] = {}
        self._submitting = threading.Lock()
        settings.folder.mkdir(parents=True, exist_ok=True)
        self._resume()

    def submit(self, owner: str, name: str, data: bytes, order: JobOrder) -> JobStatus:
        """Queue a job. Raises :class:`ApiError`."""
        with self._submitting:
            return self._submit(owner, name, data, order)

    def _submit(self, owner: str, name: str, data: bytes, order: JobOrder) -> JobStatus:
        self.sweep()
        own = sum(job.order.owner == owner and job.occupies for job in self._jobs.values())
        if own >= self._settings.per_key:
            raise overloaded(f"{own} of your jobs are waiting", 30.0)
        waiting = sum(job.occupies for job in self._jobs.values())
        if waiting >= self._settings.waiting + self._settings.running:
            raise overloaded(f"{waiting} jobs are waiting", 30.0)
        if order.engine not in self._translators:
            engines = ", ".join(self._translators)
            raise ApiError(404, "unknown_engine", f"jobs are done by: {engines}")
        self._make_room(owner, len(data))
        now = time.time()
        job_id = uuid.uuid4().hex
        folder = self._settings.folder / job_id
        folder.mkdir(mode=0o700)
        (folder / order.archive).write_bytes(data)
        (folder / _ORDER).write_text(order.model_copy(update={"owner": owner}).model_dump_json())
        status = JobStatus(
            id=job_id,
            state=JobState.QUEUED,
            name=name,
            check=order.check,
            created=now,
            expires=now + self._settings.kept_hours * 3600,
        )
        job = _Job(folder, order.model_copy(update={"owner": owner}), status)
        job.write()
        self._start(job)
        return job.status

    def status(self, job_id: str, owner: str) -> JobStatus:
        return self._job(job_id, owner).status

    def jobs(self, owner: str) -> list[JobStatus]:
        """The owner's jobs, the newest first, without their files."""
        self.sweep()
        statuses = [job.status for job in self._jobs.values() if job.order.owner == owner]
        statuses.sort(key=lambda status: status.created, reverse=True)
        return [status.model_copy(update={"files": [], "left_out": []}) for status in statuses]

    def cancel(self, job_id: str, owner: str) -> JobStatus:
        """Cancel a job that is not finished; forget one that is."""
        job = self._job(job_id, owner)
        if job.status.state in _FINISHED:
            self._forget(job)
            return job.status
        job.cancelled.set()
        job.update(state=JobState.CANCELLED, finished=time.time(), stage="")
        (job.folder / job.order.archive).unlink(missing_ok=True)
        return job.status

    def result(self, job_id: str, owner: str) -> bytes:
        """The translated tree. Raises :class:`ApiError` 404, 409."""
        return (self._done(job_id, owner).folder / _RESULT).read_bytes()

    def patch(self, job_id: str, owner: str) -> bytes:
        """What was changed. Raises :class:`ApiError` 404, 409."""
        return (self._done(job_id, owner).folder / _PATCH).read_bytes()

    def texts(self, job_id: str, owner: str, path: str) -> JobFileTexts:
        """A file of the job before and after. Raises :class:`ApiError` 404, 409."""
        job = self._done(job_id, owner)
        if path not in {file.path for file in job.status.files}:
            raise ApiError(404, "unknown_file", f"the job has no file {path!r}")
        after = _text(job.folder / _RESULT, path) or ""
        before = _text(job.folder / _BEFORE, path)
        return JobFileTexts(path=path, before=after if before is None else before, after=after)

    def sweep(self) -> None:
        """Remove what has been kept long enough."""
        now = time.time()
        for job in list(self._jobs.values()):
            if job.status.expires < now and job.status.state in _FINISHED:
                self._forget(job)

    def _make_room(self, owner: str, size: int) -> None:
        """Forget the oldest finished jobs until ``size`` more bytes may be kept: of the owner for
        the owner's share, of anyone for the whole. Raises :class:`ApiError` 429."""
        own = [job for job in self._jobs.values() if job.order.owner == owner]
        for jobs, mib in (
            (own, self._settings.kept_mib_per_key),
            (list(self._jobs.values()), self._settings.kept_mib),
        ):
            sizes = {job.status.id: job.bytes_kept() for job in jobs}
            total = sum(sizes.values()) + size
            for job in sorted(jobs, key=lambda job: job.status.created):
                if total <= mib << 20:
                    break
                if job.status.state in _FINISHED and not job.occupies:
                    total -= sizes[job.status.id]
                    self._forget(job)
            if total > mib << 20:
                raise overloaded(f"jobs hold all of the {mib} MiB that they may", 30.0)

    def close(self) -> None:
        """Finish what is queued, and take no more."""
        self._pool.shutdown(wait=True)

    def _done(self, job_id: str, owner: str) -> _Job:
        job = self._job(job_id, owner)
        if job.status.state is not JobState.DONE:
            raise ApiError(409, "not_done", f"the job is {job.status.state}")
        return job

    def _job(self, job_id: str, owner: str) -> _Job:
        job = self._jobs.get(job_id)
        if job is None or job.order.owner != owner:
            raise ApiError(404, "unknown_job", "there is no such job, or it has expired")
        return job

    def _forget(self, job: _Job) -> None:
        self._jobs.pop(job.status.id, None)
        shutil.rmtree(job.folder, ignore_errors=True)

    def _resume(self) -> None:
        for folder in self._settings.folder.iterdir():
            try:
                order = JobOrder.model_validate_json((folder / _ORDER).read_text())
                status = JobStatus.model_validate_json((folder / _STATUS).read_text())
            except (OSError, ValueError):
                shutil.rmtree(folder, ignore_errors=True)
                continue
            job = _Job(folder, order, status)
            self._jobs[status.id] = job
            if status.state not in _FINISHED:
                job.update(state=JobState.QUEUED, stage="", files_done=0)
                self._start(job)

    def _start(self, job: _Job) -> None:
        self._jobs[job.status.id] = job
        job.occupies = True
        self._pool.submit(_run, job, self._settings, self._translators)


def _run(
    job: _Job, settings: JobSettings, translators: Mapping[str, Callable[[], Translator]]
) -> None:
    """A whole job, in a thread of its own; ends in a finished state whatever happens."""
    ABANDON.set(job.cancelled)
    work = job.folder / "work"
    try:
        if job.cancelled.is_set():
            return
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir()
        files = _translated(job, settings, translators[job.order.engine](), work)
        if job.cancelled.is_set():
            return
        job.update(
            state=JobState.DONE,
            stage="",
            finished=time.time(),
            files=_with_most_findings(files),
        )
    except (_Cancelled, Abandoned):
        return
    except Exception as error:
        known = from_library(error)
        if known is None:
            LOG.exception("a job failed", extra={"job": job.status.id})
            known = ApiError(500, "internal", f"an error of the server: {type(error).__name__}")
        problem = job.said(known.message)
        job.update(state=JobState.FAILED, stage="", finished=time.time(), problem=problem)
    finally:
        shutil.rmtree(work, ignore_errors=True)
        (job.folder / job.order.archive).unlink(missing_ok=True)
        if job.status.state is not JobState.DONE:
            for left in (_RESULT, "result.part", _PATCH, _BEFORE):
                (job.folder / left).unlink(missing_ok=True)
        job.occupies = False


def _translated(
    job: _Job, settings: JobSettings, translator: Translator, work: Path
) -> list[JobFile]:
    job.update(state=JobState.RUNNING, stage="unpack")
    limits = ReadLimits(archive_members=settings.members, archive_bytes=settings.unpacked_mib << 20)
    unpacked = unpack_archive(job.folder / job.order.archive, work / "in", limits, check=job.check)
    total = sum(is_source(path.name) for path in source_files(unpacked.root))
    left_out = [job.said(problem.message) for problem in unpacked.problems]
    if not total:
        raise ApiError(422, "empty", "the archive holds no source file")
    job.update(stage="translate", files_total=total, left_out=left_out)
    watched = _Watched(
        translator,
        job.cancelled,
        lambda: job.update(keep=False, files_done=job.status.files_done + 1),
    )
    output = work / "out"
    tree = translate_tree(unpacked.root, output, watched)
    files = [
        JobFile(
            path=file.path,
            action=file.action,
            converted=file.counts.converted,
            findings=findings_of(file.findings),
        )
        for file in tree.files
    ]
    if job.order.check is not Check.NONE:
        files = _compiled(job, files, output)
    job.update(stage="pack")
    _keep_changes(job, [file.path for file in files], unpacked.root, work)
    _pack(output, job.folder / _RESULT, _report(tree, files, translator), job.check)
    return files


def _with_most_findings(files: list[JobFile]) -> list[JobFile]:
    """What a status has of them: each poll is answered with it. The archive's report has all."""
    left = _MOST_FINDINGS
    told = []
    for file in files:
        shown = file.findings[:left]
        left -= len(shown)
        told.append(
            file
            if len(shown) == len(file.findings)
            else file.model_copy(update={"findings": shown})
        )
    return told


def _compiled(job: _Job, files: list[JobFile], output: Path) -> list[JobFile]:
    compiler = HipCompiler(find_amd(), output.resolve())
    names = [file.path for file in files if file.path.endswith(COMPILED_SUFFIXES)]
    job.update(stage="compile", files_done=0, files_total=len(names))
    checked: dict[str, JobFile] = {}
    by_path = {file.path: file for file in files}
    for number, name in enumerate(names, 1):
        if job.cancelled.is_set():
            raise _Cancelled
        done = compiler.check(name, job.order.repair)
        diagnostic = "" if done.compiles else clip_diagnostic(job.said(done.diagnostic))
        update = {"compiled": done.compiles, "diagnostic": diagnostic}
        checked[name] = by_path[name].model_copy(update=update)
        job.update(keep=False, files_done=number)
    return [checked.get(file.path, file) for file in files]


def _report(tree: TreeResult, files: list[JobFile], translator: Translator) -> str:
    counts = tree.counts
    return json.dumps(
        {
            "engine": translator.name,
            "version": translator.version,
            "converted": counts.converted,
            "unsupported": counts.unsupported,
            "files": [file.model_dump(mode="json") for file in files],
        },
        indent=1,
    )


def _pack(root: Path, target: Path, report: str, check: Callable[[], None]) -> None:
    part = target.with_suffix(".part")
    with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(root.rglob("*")):
            check()
            if path.is_file() and not path.is_symlink() and path.name != STATE:
                archive.write(path, path.relative_to(root).as_posix())
        archive.writestr(REPORT, report)
    part.replace(target)


def _keep_changes(job: _Job, paths: list[str], original: Path, work: Path) -> None:
    """Write the patch, and what the changed files were."""
    before, after = work / "before", work / "after"
    before.mkdir()
    after.mkdir()
    with zipfile.ZipFile(job.folder / _BEFORE, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in paths:
            job.check()
            old, new = original / path, work / "out" / path
            if old.read_bytes() == new.read_bytes():
                continue
            archive.write(old, path)
            for source, folder in ((old, before), (new, after)):
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, folder / path)
    # Of copies: nothing but these files reaches git, none of the archive's own settings for it.
    (job.folder / _PATCH).write_text(make_patch(before, after), "utf-8", "surrogateescape")


def _text(archive: Path, path: str) -> str | None:
    """The beginning of a member; None where there is none of that name."""
    with zipfile.ZipFile(archive) as opened:
        try:
            with opened.open(path) as member:
                return member.read(_TEXT_BYTES).decode("utf-8", "replace")
        except KeyError:
            return None
