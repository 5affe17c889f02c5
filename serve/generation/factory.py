"""Which generator a model is held by."""

from __future__ import annotations

from cass_ray.llm.batch_decode import FAMILIES
from cass_ray.translate.engines.model import Generator, ModelOptions
from serve.generation.base import TextGenerator
from serve.generation.continuous import ContinuousGenerator
from serve.generation.round_robin import RoundRobinGenerator
from serve.settings import GenerationSettings


def make_generator(
    path: str, settings: GenerationSettings, device: str | None = None
) -> TextGenerator:
    """Load ``path``. Raises ``ToolMissing``, ``TranslatorError``."""
    loaded = Generator.load(path, ModelOptions(rope=settings.rope, device=device))
    plain = settings.rope is None and loaded.model.config.model_type in FAMILIES
    if loaded.model.device.type == "cpu" and plain:
        return RoundRobinGenerator(loaded, settings)
    return ContinuousGenerator(loaded, settings)
