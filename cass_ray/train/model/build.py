"""The model: loaded or made, and prepared for training."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import torch
from torch import nn

from cass_ray.llm.pretrained import ModelError, not_found
from cass_ray.train.data.collate import Batch
from cass_ray.train.model import attention, fp8, kernels
from cass_ray.train.settings import TILE, FreshModel, LoraSettings, ModelSettings


def fresh_config(sizes: FreshModel, vocabulary: int, end: int, padding: int | None) -> Any:
    """The configuration of a Qwen2 or Qwen3 of the given sizes."""
    from transformers import Qwen2Config, Qwen3Config

    more: dict[str, Any] = {} if sizes.head_dim is None else {"head_dim": sizes.head_dim}
    if sizes.family == "qwen3":
        more.setdefault("head_dim", sizes.hidden_size // sizes.num_attention_heads)
    return (Qwen3Config if sizes.family == "qwen3" else Qwen2Config)(
        **more,
        vocab_size=vocabulary,
        hidden_size=sizes.hidden_size,
        intermediate_size=sizes.intermediate_size,
        num_hidden_layers=sizes.num_hidden_layers,
        num_attention_heads=sizes.num_attention_heads,
        num_key_value_heads=sizes.num_key_value_heads,
        max_position_embeddings=sizes.max_position_embeddings,
        rope_parameters={"rope_type": "default", "rope_theta": sizes.rope_theta},
        tie_word_embeddings=True,
        bos_token_id=None,
        eos_token_id=end,
        pad_token_id=padding,
    )


def build_model(
    settings: ModelSettings,
    *,
    config: Any,
    seed: int,
    device: torch.device,
    weights: str | None = None,
) -> Any:
    """The model on ``device``, in the precision of ``settings``.

    Args:
        settings: which model.
        config: its configuration, extended already.
        seed: of a fresh model's weights.
        device: where it is put.
        weights: folder or name to load from; default ``settings.base``; None and no base: fresh.

    Raises:
        ModelError: nothing there, or not a causal language model.
    """
    from transformers import AutoModelForCausalLM

    dtype = torch.bfloat16 if settings.precision == "bf16" else torch.float32
    source = weights or settings.base
    if source is None:
        torch.manual_seed(seed)
        # Random weights are drawn in fp32 on the CPU: the same on every machine and precision.
        model = AutoModelForCausalLM.from_config(config, dtype=torch.float32)
        if config.model_type == "qwen3":
            _begin_as_identity(model)
        model = model.to(device=device, dtype=dtype)
    else:
        options: dict[str, Any] = {}
        if settings.load_bits is not None:
            from transformers import BitsAndBytesConfig

            options["quantization_config"] = (
                BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_compute_dtype=dtype)
                if settings.load_bits == 4
                else BitsAndBytesConfig(load_in_8bit=True)
            )
        try:
            model = AutoModelForCausalLM.from_pretrained(
                source, config=config, dtype=dtype, **options
            )
        except (OSError, ValueError) as error:
            raise not_found(source, error) from None
        if settings.load_bits is None:
            model = model.to(device)
    if settings.lora is not None:
        model = _with_lora(model, settings.lora)
    model.config.use_cache = False
    return model


@torch.no_grad()
def _begin_as_identity(model: Any) -> None:
    """Weights for Muon: what a block adds to the stream is zero at first, the rest 0.7/sqrt(n)."""
    for name, weight in model.named_parameters():
        if name.endswith(("o_proj.weight", "down_proj.weight")):
            nn.init.zeros_(weight)
        elif name.endswith("_proj.weight"):
            nn.init.normal_(weight, std=0.7 * weight.shape[1] ** -0.5)


def _with_lora(model: Any, lora: LoraSettings) -> Any:
    try:
        from peft import LoraConfig, get_peft_model
    except ImportError:
        raise ModelError(
            "`model.lora` needs the package peft: pip install 'cass-ray[lora]'"
        ) from None
    return get_peft_model(
        model,
        LoraConfig(
            r=lora.rank,
            lora_alpha=lora.alpha,
            lora_dropout=lora.dropout,
            target_modules=lora.targets,
            task_type="CAUSAL_LM",
        ),
    )


def inner_model(model: Any) -> Any:
    """The transformers model inside adapters."""
    return model.get_base_model() if hasattr(model, "get_base_model") else model


class AnswerModel(nn.Module):
    """A causal language model whose forward pass is the summed, weighted loss on answer tokens.

    Logits are computed only where an answer token is predicted.
    """

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model = model

    @property
    def layers(self) -> list[nn.Module]:
        return list(inner_model(self.model).get_decoder().layers)

    def forward(self, batch: Batch) -> torch.Tensor:
        """Summed cross entropy of the batch's targets, fp32."""
        base = inner_model(self.model)
        tile = TILE if batch.input_ids.is_cuda and not batch.tokens % TILE else batch.tokens
        hidden = base.get_decoder()(
            input_ids=batch.input_ids.view(-1, tile),
            position_ids=batch.position_ids.view(-1, tile),
            use_cache=False,
            lengths=attention.example_lengths(batch.lengths),
        ).last_hidden_state.view(1, batch.tokens, -1)
        head = base.get_output_embeddings()
        if not len(batch.predictors):  # a share of a row without answers: other workers call it too
            nothing: torch.Tensor = head(hidden[0, :1], batch.input_ids[0, :1])
            return nothing * 0.0
        wanted = hidden[0].index_select(0, batch.predictors)
        loss: torch.Tensor = head(wanted, batch.targets, batch.weights)
        return loss


@dataclass
class PreparedModel:
    """A model ready to train, and what was chosen for it."""

    model: AnswerModel
    device: torch.device
    notes: list[str] = field(default_factory=list)
    attention: str = "math"
    parameters: int = 0
    """Weights in all, before an engine shards them."""


def prepare(model: Any, settings: ModelSettings, device: torch.device) -> PreparedModel:
    """Choose attention and kernels, and wrap ``model`` for training.

    Raises ``cass_ray.train.model.attention.AttentionUnavailable``, and ``ModelError`` where FP8
    is asked for and there are no such products.
    """
    base = inner_model(model)
    config = base.config
    width = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    groups = config.num_attention_heads // config.num_key_value_heads
    dtype = next(base.parameters()).dtype
    attention.register()
    backend, why = attention.choose(settings.attention, device, dtype, width, groups)
    base.set_attn_implementation(attention.NAME)
    on_gpu = device.type == "cuda"  # a CPU has no choice of either, and so nothing to be told
    fused = settings.liger and on_gpu
    notes = [f"attention: {backend} ({why})"] if on_gpu else []
    if fused:
        notes.append(kernels.apply_liger(base, elementwise=not settings.compile))
    elif on_gpu:
        notes.append("no Liger kernels: not wanted")
    kernels.add_loss_to_head(base.get_output_embeddings(), fused)
    wrapped = AnswerModel(model)
    if settings.fp8 and on_gpu and not fp8.works(device):
        raise ModelError("`model.fp8`: this GPU does not multiply FP8 (Ada, Hopper, later do)")
    if settings.fp8:
        notes.append(f"{fp8.use_fp8(wrapped.layers)} products in FP8")
    if settings.compile:
        for layer in wrapped.layers:
            layer.compile()  # for the first size of row, then for any
        notes.append("decoder layers compiled")
    parameters = sum(parameter.numel() for parameter in wrapped.parameters())
    return PreparedModel(wrapped, device, notes, backend, parameters)
