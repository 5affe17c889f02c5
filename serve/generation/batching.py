"""transformers' manager of continuous batching.

On a GPU vLLM is about twice as fast (``benchmarks/results/serve_gpu.md``) and deployed beside the
service (``cluster/kuberay/serve_vllm.yaml``); this is for models and machines without it.
"""

from __future__ import annotations

from inspect import signature
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from serve.settings import GenerationSettings


def page_name(config: type) -> str:
    """What transformers calls the tokens of a page: ``block_size`` up to 5.17."""
    return "page_size" if "page_size" in signature(config).parameters else "block_size"


def make_manager(
    model: Any, settings: GenerationSettings, ends: int | list[int], padding: int
) -> Any:
    """A manager for ``model``: ``ends`` are the tokens that end an answer, ``padding`` any."""
    from transformers import GenerationConfig
    from transformers.generation.configuration_utils import ContinuousBatchingConfig

    config = GenerationConfig(
        do_sample=settings.sampling,
        # Neither may be None or neutral here: then requests could not set it.
        **({"temperature": 0.8, "top_k": 50} if settings.sampling else {}),
        max_new_tokens=settings.max_new_tokens,
        eos_token_id=ends,
        pad_token_id=padding,
    )
    batching = ContinuousBatchingConfig(
        **{page_name(ContinuousBatchingConfig): settings.block_size},
        num_blocks=settings.num_blocks,
        max_batch_tokens=settings.max_batch_tokens,
        allow_block_sharing=settings.prefix_caching,
        per_request_processors=settings.sampling,
    )
    return model.init_continuous_batching(
        generation_config=config, continuous_batching_config=batching
    )
