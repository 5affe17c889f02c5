"""SwiGLU inside its matrix products: nothing elementwise reads or writes the MLP's activations.

One product makes gate and up, and ``silu(gate) * up`` in its epilogue; the product of the backward
pass has the derivative in its own, and makes the activation again, which is then not kept. The
weights stay the three parameters that they are, so that checkpoints, optimizers and ZeRO 1 and 2
know nothing of it: gate and up are interleaved for each product, a copy that takes about a fiftieth
of its time at 16,384 tokens.

A layer that recomputes its MLP makes the last product again too, which it would not without: this
pays where layers keep everything, or their products.
"""

from __future__ import annotations

from types import MethodType
from typing import Any

import torch
from torch import nn

from cass_ray.llm.pretrained import ModelError
from cass_ray.train.model import gated_products


def use_fused_mlp(model: Any, device: torch.device) -> int:
    """Let the MLPs of the transformers ``model`` be made of fused products; how many are.

    Raises:
        ModelError: the GPU or the package lacks, or the model's MLPs are others.
    """
    if problem := gated_products.problem(device):
        raise ModelError(f"`model.fused_mlp` {problem}")
    layers = list(model.get_decoder().layers)
    for layer in layers:
        if not _is_swiglu(model.config, getattr(layer, "mlp", None)):
            raise ModelError(
                f"`model.fused_mlp`: the MLPs of {type(model).__name__} are not SwiGLU in bf16 "
                f"without biases, of sides that are multiples of {gated_products.MULTIPLE}"
            )
    for layer in layers:
        fuse(layer.mlp)
    return len(layers)


def fuse(mlp: Any) -> None:
    """Let one MLP be made of fused products where gradients are wanted.

    Elsewhere (evaluation, writing answers) it is computed as it was.
    """
    plain = mlp.forward

    def forward(self: Any, x: torch.Tensor) -> torch.Tensor:
        if not torch.is_grad_enabled():
            return plain(x)  # type: ignore[no-any-return]
        rows = x.reshape(-1, x.shape[-1])
        weights = (self.gate_proj.weight, self.up_proj.weight, self.down_proj.weight)
        made: torch.Tensor = _gated_mlp(rows, *weights)[0]
        return made.view(x.shape)

    mlp.forward = MethodType(forward, mlp)


def _is_swiglu(config: Any, mlp: Any) -> bool:
    products = [getattr(mlp, f"{name}_proj", None) for name in ("gate", "up", "down")]
    return getattr(config, "hidden_act", None) == "silu" and all(
        isinstance(product, nn.Linear)
        and getattr(product, "bias", None) is None
        and product.weight.dtype == torch.bfloat16
        and not any(side % gated_products.MULTIPLE for side in product.weight.shape)
        for product in products
    )


def _interleaved(gate: torch.Tensor, up: torch.Tensor) -> torch.Tensor:
    return torch.stack((gate, up), dim=1).view(-1, gate.shape[1])


# An operation of torch: activation checkpoints can tell it from others, and `torch.compile` does
# not look into it.
@torch.library.custom_op(
    "cass_ray::gated_mlp",
    mutates_args=(),
    schema="(Tensor x, Tensor gate, Tensor up, Tensor down) -> (Tensor, Tensor)",
)
def _gated_mlp(
    x: torch.Tensor, gate: torch.Tensor, up: torch.Tensor, down: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """The MLP of (tokens, width), and the product that its backward pass needs."""
    product, gated = gated_products.multiply_gated(x.contiguous(), _interleaved(gate, up))
    return gated @ down.t(), product


@torch.library.custom_op(
    "cass_ray::gated_mlp_backward",
    mutates_args=(),
    schema="(Tensor given, Tensor x, Tensor gate, Tensor up, Tensor down, Tensor product)"
    " -> (Tensor, Tensor, Tensor)",
)
def _gated_mlp_backward(
    given: torch.Tensor,
    x: torch.Tensor,
    gate: torch.Tensor,
    up: torch.Tensor,
    down: torch.Tensor,
    product: torch.Tensor,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Gradients of ``x``, of gate and up interleaved, and of ``down``."""
    given = given.contiguous()
    gradient, gated = gated_products.multiply_gated_backward(given, down, product)
    for_down = given.t() @ gated
    del gated
    return gradient @ _interleaved(gate, up), gradient.t() @ x, for_down


@_gated_mlp.register_fake
def _(
    x: torch.Tensor, gate: torch.Tensor, up: torch.Tensor, down: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    tokens = x.shape[0]
    return x.new_empty(tokens, down.shape[0]), x.new_empty(tokens, gate.shape[0] + up.shape[0])


@_gated_mlp_backward.register_fake
def _(
    given: torch.Tensor,
    x: torch.Tensor,
    gate: torch.Tensor,
    up: torch.Tensor,
    down: torch.Tensor,
    product: torch.Tensor,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    both = gate.new_empty(gate.shape[0] + up.shape[0], gate.shape[1])
    return x.new_empty(x.shape), both, down.new_empty(down.shape)


def _keep(ctx: Any, inputs: tuple[torch.Tensor, ...], output: tuple[torch.Tensor, ...]) -> None:
    product = output[1]
    ctx.save_for_backward(*inputs, product)
    ctx.mark_non_differentiable(product)
    ctx.set_materialize_grads(False)  # none of zeros for `product`, which is large


def _differentiate(ctx: Any, *given: torch.Tensor) -> tuple[torch.Tensor, ...]:
    for_x, both, for_down = _gated_mlp_backward(given[0], *ctx.saved_tensors)
    return for_x, both[0::2], both[1::2], for_down


_gated_mlp.register_autograd(_differentiate, setup_context=_keep)
