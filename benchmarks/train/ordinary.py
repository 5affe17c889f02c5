"""The loop that an engineer would write today around transformers' model, and its variants.

``Loop()`` is it: decoder layers compiled each for itself, attention as PyTorch chooses it, a
compiled cross entropy on the tokens of the answers alone, bitsandbytes' paged AdamW. Nothing of
``cass_ray.train`` is in it, except where a variant exchanges one piece for ours to see what that
piece gains. Without a GPU nothing is compiled by inductor.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn

from benchmarks.train.gpu_measurements import fill, measure, rates, this_device
from benchmarks.train.shapes import REHEARSAL, WINDOW, make_batch, make_model
from cass_ray.train.data.collate import Batch
from cass_ray.train.distributed import DistributedContext
from cass_ray.train.engines.replicated import ReplicatedEngine
from cass_ray.train.meters import Operations
from cass_ray.train.model import attention, fp8, kernels
from cass_ray.train.settings import OptimizerSettings

BOUNDS = 17
"""Entries of the tensor of borders between examples, so that compiled code knows its size."""


@dataclass(frozen=True)
class Loop:
    """One loop; the defaults are the ordinary one."""

    optimizer: Literal["paged-adamw", "paged-adamw-8bit"] = "paged-adamw"
    compiled: bool | Literal["dynamic"] = True
    """``dynamic``: for rows of any size; True: for one size."""
    attention: Literal["sdpa", "varlen"] = "sdpa"
    """``varlen``: PyTorch's for examples end to end in one row."""
    loss: Literal["answers", "model", "liger"] = "answers"
    """``model``: transformers' own on labels. ``liger``: its linear cross entropy."""
    checkpointing: Literal["none", "every layer"] | float = "none"
    """A number: the share of activations that the compiler may keep (its memory budget)."""
    liger: bool = False
    """Liger's kernels in the model, its loss too."""
    fp8: bool = False
    engine: Literal["own", "ours"] = "own"
    pad: bool = False
    """Rows are padded to the window, as an example of their own."""


class AnswerLoss(nn.Module):
    """Summed cross entropy on a batch's answers."""

    def __init__(self, model: Any, loop: Loop) -> None:
        super().__init__()
        self.model, self.loop = model, loop
        self.loss_of = _compile_function(_cross_entropy) if loop.loss == "answers" else None

    def forward(self, batch: Batch) -> torch.Tensor:
        """The loss of one row."""
        if self.loop.loss == "model":
            labels = torch.full_like(batch.input_ids, -100)
            labels[0, batch.predictors + 1] = batch.targets
            mean = self.model(input_ids=batch.input_ids, labels=labels).loss
            return mean * len(batch.targets)  # type: ignore[no-any-return]
        more: dict[str, Any] = {}
        if self.loop.attention == "varlen":
            longest = WINDOW if self.loop.pad else max(batch.lengths)
            bounds = borders(batch.lengths, batch.input_ids.device, BOUNDS * self.loop.pad)
            more = {"position_ids": batch.position_ids, "bounds": bounds, "longest": longest}
        ids = batch.input_ids
        if self.loop.attention == "sdpa":  # windows of one size are rows of a batch
            ids = ids.view(len(batch.lengths), -1)
        hidden = self.model.model(input_ids=ids, use_cache=False, **more).last_hidden_state
        wanted = hidden.flatten(0, 1).index_select(0, batch.predictors)
        if self.loss_of is not None:
            return self.loss_of(self.model.lm_head(wanted), batch.targets)  # type: ignore[no-any-return]
        return kernels.liger_loss(wanted, self.model.lm_head, batch.targets)


def _cross_entropy(logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    return F.cross_entropy(logits.float(), targets, reduction="sum")


def _compile_function(function: Callable[..., Any]) -> Any:
    return torch.compile(function, backend="eager" if REHEARSAL else "inductor")


def borders(lengths: tuple[int, ...], device: torch.device, entries: int = 0) -> torch.Tensor:
    """Where examples begin and the last ends, int32; of ``entries``, the last are empty ones."""
    ends = torch.tensor([0, *lengths], dtype=torch.int32).cumsum(0, dtype=torch.int32)
    more = entries - len(ends)
    if entries and more < 0:
        raise ValueError(f"{len(lengths)} examples in a row: at most {entries - 1}")
    return torch.cat((ends, ends[-1:].expand(max(more, 0)))).to(device)


def varlen_function() -> Callable[..., Any]:
    """PyTorch's attention of several examples in one row, in the form that transformers calls."""
    from torch.nn.attention.varlen import varlen_attn

    known = inspect.signature(varlen_attn).parameters
    options: dict[str, Any] = (
        {"window_size": (-1, 0)} if "window_size" in known else {"is_causal": True}
    )
    if "enable_gqa" in known:
        options["enable_gqa"] = True

    def attend(
        module: nn.Module,
        query: torch.Tensor,
        key: torch.Tensor,
        value: torch.Tensor,
        mask: None,
        scaling: float | None = None,
        bounds: Any = None,
        longest: int = 0,
        **_: Any,
    ) -> tuple[torch.Tensor, None]:
        q, k, v = (item[0].transpose(0, 1) for item in (query, key, value))
        made: Any = varlen_attn(q, k, v, bounds, bounds, longest, longest, scale=scaling, **options)
        return made[None], None

    def on_a_cpu(
        module: nn.Module,
        query: torch.Tensor,
        key: torch.Tensor,
        value: torch.Tensor,
        mask: None,
        scaling: float | None = None,
        bounds: Any = None,
        **_: Any,
    ) -> tuple[torch.Tensor, None]:
        lengths = tuple(int(size) for size in bounds.diff() if size)
        q, k, v = (item.transpose(1, 2) for item in (query, key, value))
        return attention.attend(q, k, v, lengths, scale=scaling), None

    return torch.compiler.disable(on_a_cpu) if REHEARSAL else attend


def make_loop(shape: str, loop: Loop) -> tuple[AnswerLoss, list[Any]]:
    """The module of ``loop``, and its decoder layers."""
    from transformers import AttentionInterface
    from transformers.masking_utils import AttentionMaskInterface

    device = this_device()
    model = make_model(shape, device)
    if loop.liger and not REHEARSAL:
        from liger_kernel.transformers import apply_liger_kernel_to_qwen2

        apply_liger_kernel_to_qwen2(model=model)
    if loop.attention == "varlen":
        AttentionInterface.register("varlen", varlen_function())
        AttentionMaskInterface.register("varlen", lambda *_, **__: None)
        model.set_attn_implementation("varlen")
    layers = list(model.model.layers)
    if loop.fp8:
        fp8.use_fp8(layers)
    if loop.checkpointing == "every layer":
        model.gradient_checkpointing_enable({"use_reentrant": False})
    elif isinstance(loop.checkpointing, float):
        import torch._functorch.config as compiler

        compiler.activation_memory_budget = loop.checkpointing
    if loop.compiled:
        for layer in layers:
            backend = "eager" if REHEARSAL else "inductor"
            layer.compile(dynamic=loop.compiled == "dynamic", backend=backend)
    model.train()
    return AnswerLoss(model, loop), layers


def run_loop(
    shape: str, loop: Loop, rows: list[tuple[int, ...]], steps: int, warm: int | None = None
) -> dict[str, Any]:
    """Throughput of ``loop`` on ``rows`` (lengths of the examples of each pass) a step.

    Padding counts neither as tokens nor as operations. ``warm``: passes before what is measured.
    """
    import bitsandbytes

    module, layers = make_loop(shape, loop)
    device, vocabulary = this_device(), module.model.config.vocab_size
    batches = [make_batch(lengths, vocabulary, device, n) for n, lengths in enumerate(rows)]
    predicted = sum(len(batch.targets) for batch in batches)
    operations = Operations.of(module.model.config, layers)
    total = sum(operations(batch.lengths, len(batch.targets)) for batch in batches)
    tokens = sum(batch.tokens for batch in batches)
    if loop.pad:
        batches = [fill(batch, WINDOW) for batch in batches]
    turn = iter(range(10**9))
    if loop.engine == "ours":
        settings = OptimizerSettings(
            kind=loop.optimizer, master_weights=False, grad_accum_dtype="bf16"
        )
        engine = ReplicatedEngine(module, settings, DistributedContext(0, 1, device))  # type: ignore[arg-type]

        def work() -> None:
            engine.accumulate(batches[next(turn) % len(batches)], 1.0 / predicted, False)

        def step() -> None:
            engine.update(1e-6)

    else:
        kinds = {
            "paged-adamw": bitsandbytes.optim.PagedAdamW32bit,
            "paged-adamw-8bit": bitsandbytes.optim.PagedAdamW8bit,
        }
        optimizer = kinds[loop.optimizer](module.parameters(), lr=1e-6)

        def work() -> None:
            (module(batches[next(turn) % len(batches)]) / predicted).backward()

        def step() -> None:
            nn.utils.clip_grad_norm_(module.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)

    found = measure(step, work, len(batches), steps, warm)
    return {"shape": shape, "optimizer": loop.optimizer, **rates(found, tokens, total, steps)}
