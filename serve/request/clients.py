"""What a request needs of engines, checker and jobs, wherever they run."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, Protocol

from cass_ray.api.jobs import JobFileTexts, JobStatus
from cass_ray.api.machine_code import AssemblyRequest, AssemblySide
from cass_ray.api.schema import LIFT, RULES, EngineInfo, TargetInfo, TranslateRequest
from cass_ray.task import Direction, Level
from cass_ray.translate.engines.prefixes import CHAT_PREFIX, MODEL_PREFIX
from serve.check.stages import CheckRequest, CheckStage
from serve.engines.base import EngineAnswer
from serve.jobs.order import JobOrder
from serve.settings import EngineSettings


class EngineClient(Protocol):
    """An engine in this process or behind a handle."""

    info: EngineInfo

    async def version(self) -> str:
        """Part of the key of kept answers."""
        ...

    async def translate(self, request: TranslateRequest, seed: int) -> EngineAnswer:
        """Translate. Raises what :func:`serve.errors.from_library` knows."""
        ...

    def stream(self, request: TranslateRequest, seed: int) -> AsyncIterator[str | EngineAnswer]:
        """Pieces of text, then the answer; only where ``info.streams``."""
        ...

    async def propose(self, source: str, messages: str) -> str | None:
        """A correction after the compiler's messages; None where the engine has none."""
        ...

    def chat(self, messages: list[dict[str, str]], options: dict[str, Any]) -> AsyncIterator[Any]:
        """A conversation with the model: pieces of text, then its usage."""
        ...


class CheckerClient(Protocol):
    """The checker in this process or behind a handle."""

    def stages(self, check: CheckRequest) -> AsyncIterator[CheckStage]:
        """See :meth:`serve.check.checker.Checker.stages`; ended by closing the iterator."""
        ...

    def listings(self, request: AssemblyRequest) -> AsyncIterator[AssemblySide]:
        """See :meth:`serve.check.checker.Checker.listings`; ended by closing the iterator."""
        ...

    async def backends(self) -> dict[str, str]: ...

    async def targets(self) -> list[TargetInfo]: ...


class JobsClient(Protocol):
    """Jobs over whole archives, here or behind a handle; ``owner`` is a key's name."""

    async def submit(self, owner: str, name: str, data: bytes, order: JobOrder) -> JobStatus:
        """Queue a job. Raises :class:`serve.errors.ApiError`."""
        ...

    async def status(self, job: str, owner: str) -> JobStatus:
        """Raises :class:`serve.errors.ApiError` 404."""
        ...

    async def jobs(self, owner: str) -> list[JobStatus]:
        """All of ``owner``, the newest first, without their files."""
        ...

    async def cancel(self, job: str, owner: str) -> JobStatus:
        """End a job, or remove a finished one."""
        ...

    async def result(self, job: str, owner: str) -> bytes:
        """The translated tree as a zip archive. Raises :class:`serve.errors.ApiError`."""
        ...

    async def patch(self, job: str, owner: str) -> bytes:
        """What was changed, for ``git apply``. Raises :class:`serve.errors.ApiError`."""
        ...

    async def texts(self, job: str, owner: str, path: str) -> JobFileTexts:
        """One file, before and after. Raises :class:`serve.errors.ApiError`."""
        ...


def info_of(settings: EngineSettings) -> EngineInfo:
    """What clients are told about an engine."""
    translator = settings.translator
    levels, directions = [Level.SOURCE], [Direction.CUDA_TO_HIP]
    if translator == RULES:
        directions = list(Direction)
    elif translator == LIFT:
        levels = [Level.ASSEMBLY]
    elif is_generative(settings):
        levels, directions = list(Level), list(Direction)
    return EngineInfo(
        name=settings.name,
        levels=levels,
        directions=directions,
        streams=translator.startswith(MODEL_PREFIX),
        description=settings.description,
    )


def is_generative(settings: EngineSettings) -> bool:
    """Whether the engine is a language model, which can be asked again."""
    return settings.translator.startswith((MODEL_PREFIX, CHAT_PREFIX))
