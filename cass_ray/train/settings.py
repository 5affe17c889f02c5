"""What a training job can be told (``jobs/configs/train_*.yaml``, ``--set key=value``)."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Literal, Self

from pydantic import AliasChoices, Field, field_validator, model_validator

from cass_ray.config import StrictModel
from cass_ray.llm.pretrained import RopeSettings
from cass_ray.llm.prompts import prompt_format
from cass_ray.storage.location import Location, below
from cass_ray.task import Task, parse_task

TILE = 128
"""Compiled code sees the tokens of a row in tiles of so many: of a multiple that it knows, whatever
the row's length. Only attention sees the row."""

log = logging.getLogger("cass.train")


def _formerly(former: str, name: str) -> AliasChoices:
    """A setting that is read by its former name too."""
    return AliasChoices(name, former)


Attention = Literal["auto", "cudnn", "flash", "flash-attn", "math"]


class DataSettings(StrictModel):
    """Which pairs become which examples."""

    REMOVED = {"packing": "it is gone: windows are always packed, the best fit first"}

    pairs: list[Location] = Field(min_length=1)
    """Data sets of ``cass build-dataset`` (folders or URLs that hold ``pairs/*.parquet``)."""
    tasks: list[str] = Field(default=["source"], min_length=1)
    """``source``, ``assembly``, each with ``:cuda-to-hip`` (default) or ``:hip-to-cuda``."""
    prompt: str = "ours"
    """Instruction format: ``ours`` or ``cass`` (that of the published checkpoints)."""
    architectures: list[str] = []
    """Nvidia architectures whose SASS is used; empty: the first of each pair."""
    rdna3: Literal["compiled", "lifted"] = "compiled"
    """RDNA3 assembly of the assembly level: clang's, or what the lifter made of the SASS."""
    require: Literal["none", "compiled", "executed"] = "none"
    """The least verification of a pair that is used."""
    executed_weight: float = Field(default=1.0, gt=0)
    """How often an epoch shows a pair whose two sides were executed and agreed; others count 1."""
    held_out: float = Field(default=0.05, ge=0, lt=1)
    """Share of the programs that are kept for evaluation, chosen by their id."""
    window: int = Field(default=16384, ge=64)
    """Tokens of a window, and the longest example."""
    seed: int = 0
    recipe: RecipeSettings | None = None
    """Examples made as they are drawn; then ``window`` and ``tasks`` say nothing."""

    @field_validator("tasks")
    @classmethod
    def _known_tasks(cls, value: list[str]) -> list[str]:
        for task in value:
            parse_task(task)
        return value

    @field_validator("prompt")
    @classmethod
    def _known_format(cls, value: str) -> str:
        return prompt_format(value).name

    @property
    def parsed_tasks(self) -> tuple[Task, ...]:
        return tuple(map(parse_task, self.tasks))


class RecipeSettings(StrictModel):
    """Examples made anew each time they are drawn, instead of token files that are read again.

    Every step is one row of ``row_tokens`` tokens for each worker.
    """

    row_tokens: int = Field(default=65536, ge=256)
    row_examples: int = Field(default=62, ge=1)
    """The most examples in a row."""
    max_tokens: int = Field(
        default=12288, ge=64, validation_alias=_formerly("longest", "max_tokens")
    )
    """Tokens of the longest example."""
    initial_max_tokens: int = Field(
        default=2048, ge=64, validation_alias=_formerly("shortest_limit", "initial_max_tokens")
    )
    """Tokens of the longest example at the beginning of the run; the limit grows from it."""
    curriculum: float = Field(default=0.15, ge=0, le=1)
    """Share of the steps after which the limit is ``max_tokens``; 0: from the beginning."""
    file_share: float = Field(default=0.4, ge=0, le=1)
    """Share of the examples that are answered as a whole file; the others as numbered edits."""
    edit_weight: float = Field(default=2.0, gt=0)
    """What an answer token of numbered edits counts; one of a whole file counts 1."""
    rename_share: float = Field(
        default=0.6, ge=0, le=1, validation_alias=_formerly("respelled", "rename_share")
    )
    """Share of the examples whose own names are replaced by invented ones."""
    api_swap_share: float = Field(
        default=0.15, ge=0, le=1, validation_alias=_formerly("exchanged", "api_swap_share")
    )
    """Share of the examples in which names of the API stand for others of their kind."""
    non_ascii_share: float = Field(
        default=0.1, ge=0, le=1, validation_alias=_formerly("foreign_text", "non_ascii_share")
    )
    """Share of the examples with text outside ASCII in comments and strings."""
    excerpt_share: float = Field(
        default=0.2, ge=0, le=1, validation_alias=_formerly("parts", "excerpt_share")
    )
    """Share of the examples that are a part of a file although the whole would fit."""
    weights: dict[str, float] = {}
    """How often pairs of a kind are drawn; others count 1."""
    backward: float = Field(default=0.0, ge=0, le=1)
    """Share of the examples of ``backward_kinds`` that ask for the CUDA program of the HIP one."""
    backward_kinds: list[str] = ["program", "file", "few", "shipped", "synthetic", "drill"]
    """Kinds of pairs that are asked backwards. Not inline PTX: HIP does not say which it was."""
    held_out_repositories: list[str] = []
    """Repositories nothing is learned of."""
    processes: int = Field(default=4, ge=0)
    """Processes of each worker that make rows ahead of time; 0: none but its own."""
    seed: int = 0

    @model_validator(mode="after")
    def _limits_fit(self) -> Self:
        if self.max_tokens > self.row_tokens:
            raise ValueError("an example of `max_tokens` must fit a row of `row_tokens`")
        return self


class FreshModel(StrictModel):
    """A Qwen2 or Qwen3 of random weights, with a tokenizer trained on the pairs.

    The sizes have the names of Hugging Face's configurations.
    """

    RENAMED = {
        "vocabulary": "vocab_size",
        "hidden": "hidden_size",
        "layers": "num_hidden_layers",
        "heads": "num_attention_heads",
        "key_value_heads": "num_key_value_heads",
        "intermediate": "intermediate_size",
        "positions": "max_position_embeddings",
    }

    family: Literal["qwen2", "qwen3"] = "qwen2"
    """``qwen3`` normalizes queries and keys, and begins with blocks that change nothing."""
    vocab_size: int = Field(default=4096, ge=512)
    hidden_size: int = Field(default=192, ge=32)
    num_hidden_layers: int = Field(default=6, ge=1)
    num_attention_heads: int = Field(default=6, ge=1)
    num_key_value_heads: int = Field(default=2, ge=1)
    head_dim: int | None = Field(default=None, ge=16)
    """Default: the hidden size over the heads."""
    intermediate_size: int = Field(default=512, ge=32)
    max_position_embeddings: int = Field(default=4096, ge=64)
    rope_theta: float = 10000.0


class LoraSettings(StrictModel):
    """Low-rank adapters instead of full training (needs ``peft``)."""

    rank: int = Field(default=16, ge=1)
    alpha: float = 32.0
    dropout: float = Field(default=0.0, ge=0, lt=1)
    targets: list[str] = [
        "q_proj",
        "k_proj",
        "v_proj",
        "o_proj",
        "gate_proj",
        "up_proj",
        "down_proj",
    ]


class ModelSettings(StrictModel):
    """The model, how it is computed, and what of it is trained."""

    RENAMED = {"recompute": "activation_checkpointing"}
    REMOVED = {
        "fused_mlp": "it gained less than 2% and is gone: `compile: true` fuses SwiGLU, and "
        "`activation_checkpointing` saves memory"
    }

    base: str | None = None
    """A Hugging Face name or a folder; None: ``fresh``."""
    fresh: FreshModel | None = None
    rope: RopeSettings | None = None
    precision: Literal["bf16", "fp32"] = "bf16"
    attention: Attention = "auto"
    """``auto`` takes the first of ``cudnn``, ``flash`` and ``math`` that runs. ``flash-attn`` is
    ``flash`` with the kernels of FlashAttention's package 4 or 3, as PyTorch takes them."""
    liger: bool = True
    """Liger's kernels, where there is a GPU."""
    memory_gib: float | None = Field(default=None, gt=0)
    """GPU memory that may be used; what is left of it decides how much is recomputed in the
    backward pass. Default: 94% of the device."""
    activation_checkpointing: Literal["auto", "all", "none"] = "auto"
    """What the backward pass recomputes; ``auto``: as little as ``memory_gib`` allows."""
    compile: bool = False
    """``torch.compile`` of the decoder layers, for one size of row and, once there is another, for
    any."""
    fp8: bool = False
    """Products of the decoder layers in FP8 (Hopper, Ada and later)."""
    lora: LoraSettings | None = None
    load_bits: Literal[4, 8] | None = None
    """Frozen weights quantized through bitsandbytes; only with ``lora``."""

    @field_validator("compile", mode="before")
    @classmethod
    def _no_longer_static(cls, value: object) -> object:
        if value != "static":
            return value
        log.warning(
            "model.compile: `static` is deprecated, and means `true`: code is compiled for the "
            "first size of row, and rows are no longer padded to the window"
        )
        return True

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if (self.base is None) == (self.fresh is None):
            raise ValueError("give `base` (name or folder) or `fresh` (sizes), one of them")
        if self.load_bits is not None and self.lora is None:
            raise ValueError("`load_bits` freezes the weights: it needs `lora`")
        if self.fp8 and self.lora is not None:
            raise ValueError("`fp8` is for training all weights: it goes without `lora`")
        return self


class OptimizerSettings(StrictModel):
    """AdamW in its variants, paged ones with their state in unified memory; or Muon."""

    RENAMED = {
        "clip": "max_grad_norm",
        "warmup": "warmup_ratio",
        "floor": "min_lr_ratio",
        "gradients": "grad_accum_dtype",
    }

    kind: Literal["adamw", "adamw-8bit", "paged-adamw", "paged-adamw-8bit", "muon"] = "adamw"
    """``muon``: matrices of the decoder by Muon, everything else by AdamW."""
    muon_momentum: float = Field(default=0.95, ge=0, lt=1)
    adamw_lr_ratio: float = Field(default=1 / 6, gt=0)
    """With Muon: AdamW's learning rate, as a share of ``learning_rate``."""
    learning_rate: float = Field(default=1e-5, gt=0)
    betas: tuple[float, float] = (0.9, 0.999)
    epsilon: float = 1e-8
    weight_decay: float = Field(default=0.0, ge=0)
    max_grad_norm: float | None = Field(default=1.0, gt=0)
    """The gradient is scaled down to this norm; None: never."""
    schedule: Literal["cosine", "linear", "constant", "trapezoid"] = "cosine"
    stable_ratio: float = Field(default=0.35, ge=0, lt=1)
    """``trapezoid``: the share of the steps after which the learning rate falls, linearly."""
    warmup_ratio: float = Field(default=0.03, ge=0, lt=1)
    """Share of the steps that the learning rate rises over."""
    min_lr_ratio: float = Field(default=0.0, ge=0, le=1)
    """Last learning rate, as a share of the highest."""
    master_weights: bool = True
    """fp32 weights beside bf16 ones; False updates bf16 weights in place (ZeRO 0 only)."""
    grad_accum_dtype: Literal["fp32", "bf16"] = "fp32"


class ZeroSettings(StrictModel):
    """What is sharded over the workers: 1 optimizer state, 2 and gradients, 3 and weights."""

    stage: Literal[0, 1, 2, 3] = 0
    offload_optimizer: Literal["none", "cpu"] = "none"
    offload_parameters: Literal["none", "cpu"] = "none"
    overlap: bool = True
    bucket_elements: int = Field(default=200_000_000, ge=1000)
    group_elements: int = Field(default=1 << 30, ge=1, lt=1 << 31)
    """Elements of a flat tensor of the optimizer, over all workers (stages 1 and 2)."""
    live_elements: int = Field(default=1_000_000_000, ge=1)
    """Stage 3: weights that a worker may hold whole at a time, two bytes each in bf16. With as many
    as the model has, they are gathered once a pass instead of twice."""

    @model_validator(mode="after")
    def _offload_needs_shards(self) -> Self:
        if self.offload_parameters != "none" and self.stage != 3:
            raise ValueError("`offload_parameters` needs stage 3")
        if self.offload_optimizer != "none" and self.stage == 0:
            raise ValueError("`offload_optimizer` needs stage 1, 2 or 3")
        return self


class BatchSettings(StrictModel):
    """The global batch, whatever the number of workers."""

    RENAMED = {"windows": "global_batch_size", "at_once": "micro_batch_size"}

    global_batch_size: int = Field(default=128, ge=1)
    """Windows of one optimizer step, over all workers."""
    micro_batch_size: int = Field(default=1, ge=1)
    """Windows of one forward pass of one worker."""

    def accumulation(self, workers: int) -> int:
        """Forward passes of each worker in a step.

        Raises ``ValueError`` when ``workers`` does not divide the batch; it names those that do.
        """
        whole, micro = self.global_batch_size, self.micro_batch_size
        passes, rest = divmod(whole, workers * micro)
        if rest or passes == 0:
            fitting = [str(n) for n in range(1, whole + 1) if whole % (n * micro) == 0]
            none = "none (batch.micro_batch_size does not divide batch.global_batch_size)"
            raise ValueError(
                f"batch.global_batch_size = {whole} cannot be split over {workers} worker(s) with "
                f"batch.micro_batch_size = {micro}; numbers of workers that can: "
                f"{', '.join(fitting) or none}"
            )
        return passes


class WorkerSettings(StrictModel):
    """The Ray Train worker group: a worker is a process with its own GPU."""

    number: int = Field(default=1, ge=1)
    gpus: float = Field(default=1, ge=0)
    """GPUs of each worker; 0 trains on the CPU."""
    sequence_parallel: int = Field(default=1, ge=1)
    """Workers that share every window, each with its part of the tokens (DeepSpeed Ulysses), for
    windows that are too long for one. It divides ``number`` and the model's attention heads."""
    cpus: float = Field(default=1, ge=0)
    failures: int = Field(default=3, ge=-1)
    """Worker or node failures that are survived by restarting from the last checkpoint."""

    @model_validator(mode="after")
    def _whole_groups(self) -> Self:
        if self.number % self.sequence_parallel:
            raise ValueError(
                f"`sequence_parallel` = {self.sequence_parallel} does not divide "
                f"`number` = {self.number}"
            )
        return self

    @property
    def data_parallel(self) -> int:
        """Groups of workers that have windows of their own."""
        return self.number // self.sequence_parallel


class CheckpointSettings(StrictModel):
    """When checkpoints are written, where, and which are kept."""

    every: int = Field(default=100, ge=1)
    """Steps."""
    url: str | None = None
    """Any fsspec URL; default: ``checkpoints`` in the folder of the run."""
    keep: int = Field(default=2, ge=1)
    """The newest so many are kept …"""
    keep_best: bool = True
    """… and the one of the lowest held-out loss."""
    keep_every: int | None = Field(default=None, ge=1)
    """… and every step divisible by this."""


class BenchEvaluationSettings(StrictModel):
    """CASS-Bench on the model as it trains."""

    RENAMED = {"longest_answer": "max_new_tokens"}

    every: int = Field(ge=1)
    tasks: int = Field(default=20, ge=1)
    level: Literal["source", "assembly"] = "source"
    max_new_tokens: int = Field(default=4096, ge=16)


class EvaluationSettings(StrictModel):
    """Measurements on held-out programs while training."""

    RENAMED = {"windows": "max_windows"}

    every: int = Field(default=50, ge=1)
    max_windows: int = Field(default=32, ge=1)
    bench: BenchEvaluationSettings | None = None
    answers: int = Field(default=0, ge=0)
    """Programs that the finished model of a recipe is asked for, held-out ones where there are
    any, the shortest first."""


class GuardSettings(StrictModel):
    """What happens at a loss that is not finite, or that jumps."""

    RENAMED = {"most_skips": "max_skips"}

    not_finite: Literal["stop", "skip"] = "skip"
    spike: Literal["report", "skip", "stop"] = "report"
    factor: float = Field(default=2.0, gt=1.0)
    """A loss is a spike when it is so many times the median of the recent ones."""
    recent: int = Field(default=32, ge=4)
    max_skips: int = Field(default=8, ge=1)
    """Skipped steps in a row after which training stops."""


class LoggingSettings(StrictModel):
    """Where the curves go, besides ``metrics.jsonl`` in the folder of the run."""

    tensorboard: bool = True
    wandb: str | None = None
    """Project name (needs ``wandb``)."""
    mlflow: str | None = None
    """Experiment name (needs ``mlflow``)."""
    every: int = Field(default=1, ge=1)


class TrainSettings(StrictModel):
    """One training job, from pairs to an exported model."""

    REMOVED = {
        "rejection": "it is gone: a model learns from its own right translations by "
        "`jobs/train_rl.py` (docs/rewards.md)"
    }

    name: str = Field(pattern=r"^[A-Za-z0-9._-]+$")
    out: Path
    """Folder of the run: tokens, checkpoints, curves, the final model. Every node sees it, unless
    ``share`` is set."""
    share: Location | None = None
    """Where nodes that do not see ``out`` find tokens and checkpoints and leave results: a URL, or
    a folder that they mount. Each has a folder ``out`` of its own then."""
    data: DataSettings
    model: ModelSettings
    optimizer: OptimizerSettings = OptimizerSettings()
    zero: ZeroSettings = ZeroSettings()
    batch: BatchSettings = BatchSettings()
    epochs: int = Field(default=2, ge=1)
    steps: int | None = Field(default=None, ge=1)
    """Stop after so many optimizer steps; default: the end of the last epoch."""
    workers: WorkerSettings = WorkerSettings()
    checkpoints: CheckpointSettings = CheckpointSettings()
    evaluation: EvaluationSettings = EvaluationSettings()
    guard: GuardSettings = GuardSettings()
    logging: LoggingSettings = LoggingSettings()
    seed: int = 0

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        self.batch.accumulation(self.workers.data_parallel)
        if self.zero.stage and self.optimizer.kind == "muon":
            raise ValueError("`optimizer.kind: muon` needs whole matrices: `zero.stage: 0`")
        if self.data.recipe is not None and self.steps is None:
            raise ValueError("`data.recipe` makes examples without end: set `steps`")
        if self.zero.stage and not self.optimizer.master_weights:
            raise ValueError("`optimizer.master_weights: false` needs `zero.stage: 0`")
        if self.model.fresh is not None and self.model.rope is None:
            positions = self.model.fresh.max_position_embeddings
            if positions < self.data.window:
                raise ValueError(
                    f"data.window = {self.data.window} is larger than "
                    f"model.fresh.max_position_embeddings = {positions}"
                )
        return self

    @property
    def row_multiple(self) -> int:
        """Rows of stored windows are padded to a multiple of so many tokens."""
        return TILE * self.workers.sequence_parallel if self.model.compile else 1

    @property
    def checkpoint_url(self) -> str:
        return self.checkpoints.url or str(below(self.share or self.out, "checkpoints"))
