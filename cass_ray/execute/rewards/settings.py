"""Settings of a judge, and the judge that they describe."""

from __future__ import annotations

from pydantic import Field

from cass_ray.cache import ContentCache, results_directory
from cass_ray.config import StrictModel
from cass_ray.execute.backends.registry import candidate_backend, make_backend
from cass_ray.execute.grades import Grade
from cass_ray.execute.originals import reference_backends
from cass_ray.execute.rewards.judge import RewardJudge
from cass_ray.execute.rewards.verdicts import PartialCredit
from cass_ray.toolchain.errors import ToolMissing
from cass_ray.toolchain.sandbox.executable import Bounds


class RewardSettings(StrictModel):
    """How answers are judged."""

    backend: str = "auto"
    """Where answers run: a backend's name; ``auto``: a GPU where there is one, else the CPU."""
    reference_backend: str | None = None
    """Where questions run. Default: an Nvidia GPU, else their machine code lifted, else their
    translation by the rules."""
    partial: PartialCredit | None = None
    """Credit for answers that are not right; None: they get nothing."""
    least: Grade = Grade.VERIFIED
    """The least grade that is right."""
    wall_seconds: float = Field(default=30.0, gt=0)
    cpu_seconds: float = Field(default=30.0, gt=0)
    memory_mib: int = Field(default=2048, ge=64)
    """Limits of one run."""
    cached: bool = True

    def judge(self) -> RewardJudge:
        """The judge. Raises ``ToolMissing``, and ``ValueError`` for an unknown backend."""
        candidate = candidate_backend() if self.backend == "auto" else make_backend(self.backend)
        backend = candidate.single_threaded().built_soon()  # one answer is one core's work
        if problem := backend.problem():
            raise ToolMissing(f"The backend {backend.name}", "", problem)
        return RewardJudge(
            backend,
            reference_backends(self.reference_backend, backend),
            ContentCache(results_directory()) if self.cached else None,
            self.partial,
            self.least,
            Bounds(
                wall_seconds=self.wall_seconds,
                cpu_seconds=self.cpu_seconds,
                memory_bytes=self.memory_mib << 20,
            ),
        )
