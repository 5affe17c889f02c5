"""The trained model as a Hugging Face folder: weights, tokenizer, generation settings, card."""

from __future__ import annotations

import json
import shutil
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch

from cass_ray.llm.pretrained import TRANSLATION_FILE, without_progress_bars
from cass_ray.llm.translation_format import ANSWERS
from cass_ray.task import Direction, Task
from cass_ray.train.engines.base import TrainingEngine
from cass_ray.train.settings import TrainSettings
from cass_ray.version import __version__

_PREFIX = "model."


def export(
    engine: TrainingEngine,
    model: Any,
    tokenizer: Any,
    settings: TrainSettings,
    results: dict[str, Any],
    folder: Path,
) -> None:
    """Write ``folder`` (first worker; the others help to gather the weights)."""
    adapted = settings.model.lora is not None
    weights: dict[str, torch.Tensor] = {}
    for name, tensor in engine.full_weights():
        weights[name.removeprefix(_PREFIX)] = tensor
    if not weights:
        return
    part = folder.with_name(f".{folder.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    model.config.use_cache = True
    without_progress_bars()
    if adapted and settings.model.load_bits is None:
        model.merge_and_unload().save_pretrained(part)
    elif adapted:
        model.save_pretrained(part)  # quantized weights cannot be merged: the adapters alone
    else:
        model.save_pretrained(part, state_dict=weights)
    model.config.use_cache = False
    tokenizer.save_pretrained(part)
    _generation_config(tokenizer).save_pretrained(part)
    asked: dict[str, Any] = {
        "prompt": settings.data.prompt,
        "tasks": settings.data.tasks,
        "window": settings.data.window,
    }
    if settings.data.recipe is not None:
        asked["answers"] = list(ANSWERS)
        back = [str(Task(direction=Direction.HIP_TO_CUDA))] if settings.data.recipe.backward else []
        asked["tasks"] = [str(Task()), *back]
    (part / TRANSLATION_FILE).write_text(json.dumps(asked, indent=2) + "\n")
    (part / "README.md").write_text(model_card(settings, results))
    shutil.rmtree(folder, ignore_errors=True)
    part.rename(folder)


def _generation_config(tokenizer: Any) -> Any:
    from transformers import GenerationConfig

    return GenerationConfig(
        do_sample=False,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id or tokenizer.eos_token_id,
    )


def _architecture(settings: TrainSettings) -> str:
    assert settings.model.fresh is not None
    return f"architecture of {settings.model.fresh.family.capitalize()}"


def model_card(settings: TrainSettings, results: dict[str, Any]) -> str:
    """What the model is, what it learned from and what came out, in Markdown."""
    base = settings.model.base or f"random weights ({_architecture(settings)})"
    held_out = results.get("held_out_loss")
    lines = [
        "---",
        "library_name: transformers",
        "pipeline_tag: text-generation",
        "tags: [cuda, hip, rocm, code-translation]",
        *([f"base_model: {settings.model.base}"] if settings.model.base else []),
        "---",
        f"# {settings.name}",
        "",
        "Translates GPU programs between Nvidia and AMD. Trained with cass-ray "
        f"{__version__} from {base}.",
        "",
        "| | |",
        "|---|---|",
        f"| tasks | {', '.join(settings.data.tasks)} |",
        f"| prompt format | `{settings.data.prompt}` (`cass_ray.llm.prompts`) |",
        f"| window | {settings.data.window} tokens |",
        f"| steps, windows a step | {results['steps']}, {settings.batch.global_batch_size} |",
        f"| tokens seen | {results['tokens']:,} |",
        f"| optimizer | {settings.optimizer.kind}, learning rate "
        f"{settings.optimizer.learning_rate:g}, {settings.optimizer.schedule} |",
        f"| last training loss | {results['loss']:.4f} |",
        f"| held-out loss | {'not measured' if held_out is None else f'{held_out:.4f}'} |",
        f"| energy of the GPUs | {results['kilowatt_hours']:.3f} kWh |",
        f"| torch, transformers | {version('torch')}, {version('transformers')} |",
        "",
        "A translation is a proposal: compile it, run both sides and compare "
        "(`cass translate --engine model:PATH --check`, `cass verify`).",
        "",
    ]
    return "\n".join(lines)
