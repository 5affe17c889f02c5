"""transformers' manager of continuous batching, set up for long programs."""

from __future__ import annotations

from inspect import signature
from typing import TYPE_CHECKING, Any

from serve.generation import attention

if TYPE_CHECKING:
    from serve.settings import GenerationSettings


def page_name(config: type) -> str:
    """What transformers calls the tokens of a page: ``block_size`` up to 5.17."""
    return "page_size" if "page_size" in signature(config).parameters else "block_size"


def make_manager(
    model: Any, settings: GenerationSettings, ends: int | list[int], padding: int, positions: int
) -> Any:
    """A manager for ``model``: ``ends`` are the tokens that end an answer, ``padding`` any token,
    ``positions`` the most tokens of question and answer together.
    """
    from transformers import GenerationConfig
    from transformers.generation.configuration_utils import ContinuousBatchingConfig

    if attention.usable(model, settings.block_size):
        attention.use(model)
    config = GenerationConfig(
        do_sample=settings.sampling,
        # Neither may be None or neutral here: then requests could not set it.
        **({"temperature": 0.8, "top_k": 50} if settings.sampling else {}),
        max_new_tokens=settings.max_new_tokens,
        eos_token_id=ends,
        pad_token_id=padding,
    )
    flash = "flash" in model.config._attn_implementation
    batching = ContinuousBatchingConfig(
        **{page_name(ContinuousBatchingConfig): settings.block_size},
        num_blocks=settings.num_blocks,
        max_batch_tokens=settings.max_batch_tokens,
        # Beyond it a request leaves the kernel over pages for one over copies of the cache.
        max_blocks_per_request=-(-positions // settings.block_size) + 1 if flash else None,
        # A graph for each size of a batch with questions in it would cost more than it saves.
        use_cuda_graph=(False, True) if flash else None,
        allow_block_sharing=settings.prefix_caching,
        per_request_processors=settings.sampling,
    )
    return model.init_continuous_batching(
        generation_config=config, continuous_batching_config=batching
    )
