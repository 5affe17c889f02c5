"""What the job of reinforcement learning can be told (``jobs/configs/rl_*.yaml``)."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, Self

from pydantic import Field, model_validator

from cass_ray.config import StrictModel
from cass_ray.execute.rewards.settings import RewardSettings
from cass_ray.execute.rewards.verdicts import PartialCredit
from cass_ray.storage.location import Location
from cass_ray.train.rl.settings import RlSettings
from cass_ray.train.settings import WorkerSettings, ZeroSettings


class RolloutSettings(StrictModel):
    """The workers that draw answers."""

    number: int = Field(default=1, ge=1)
    gpus: float = Field(default=0, ge=0)
    """GPUs of each; 0 draws on the CPU."""
    cpus: float = Field(default=1, ge=0)


class JudgeSettings(StrictModel):
    """The workers that judge answers."""

    REMOVED = {
        "kind": "it is gone: every answer is run beside its question, in the way of `execute`; the "
        "judge that only compiles is `recipes.judge.compiled`"
    }

    number: int = Field(default=2, ge=1)
    cpus: float = Field(default=1, ge=0)
    execute: RewardSettings = RewardSettings(partial=PartialCredit())


class RlJobSettings(RlSettings):
    """One run of reinforcement learning on a cluster, from a supervised model to a better one."""

    name: str = Field(default="rl", pattern=r"^[A-Za-z0-9._-]+$")
    model: str
    """The supervised model: a folder or a Hugging Face name; it answers by numbered edits."""
    out: Path
    """Folder of the run, seen by every node: records, metrics, the model."""
    pairs: list[Location] = Field(min_length=1)
    """Data sets whose programs are asked; of their translations only the lengths are used."""
    held_out: float = Field(default=0.05, ge=0, lt=1)
    """Share of the programs that are not asked: those that a supervised run with the same value
    held out."""
    max_question_tokens: int = Field(default=3500, ge=16)
    max_reference_tokens: int = Field(default=400, ge=1)
    """Programs whose known translation takes a longer answer are not asked."""
    precision: Literal["bf16", "fp32"] = "bf16"
    workers: WorkerSettings = WorkerSettings()
    """The learner's."""
    zero: ZeroSettings = ZeroSettings()
    passes: int = Field(default=0, ge=0)
    """Forward passes of a worker in a step; 0: by ``micro_batch_tokens``. ZeRO takes a number."""
    rollouts: RolloutSettings = RolloutSettings()
    judges: JudgeSettings = JudgeSettings()
    save_every: int = Field(default=20, ge=1)
    """Steps; from the model that was saved last a run goes on when a learner was lost."""

    @model_validator(mode="after")
    def _sharded_learners_know_their_passes(self) -> Self:
        if self.zero.stage and not self.passes:
            raise ValueError("`zero.stage` needs `passes`: DeepSpeed counts them")
        if self.zero.stage and self.optimizer.kind == "muon":
            raise ValueError("`optimizer.kind: muon` needs whole matrices: `zero.stage: 0`")
        if self.workers.sequence_parallel > 1:
            raise ValueError("`workers.sequence_parallel` is for `cass train`: answers are short")
        return self
