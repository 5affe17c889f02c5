"""The model of a run on disk: loaded as policy, written as the supervised one is stored."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from cass_ray.llm.pretrained import load_tokenizer, not_found
from cass_ray.llm.translation_format import TranslationFormat
from cass_ray.translate.rules.tables import snippets


def load_policy(
    source: str, device: torch.device | str, dtype: torch.dtype
) -> tuple[Any, TranslationFormat]:
    """The model of ``source`` and its answer format.

    Raises ``cass_ray.llm.pretrained.ModelError``, and ``ValueError`` for a model whose tokenizer
    has no marks of lines.
    """
    from transformers import AutoModelForCausalLM

    try:
        model = AutoModelForCausalLM.from_pretrained(source, dtype=dtype)
    except (OSError, ValueError) as error:
        raise not_found(source, error) from None
    model.config.use_cache = False
    return model.to(device), TranslationFormat.known_to(load_tokenizer(source), snippets())


def save_policy(model: Any, weights: Mapping[str, torch.Tensor], source: str, folder: Path) -> None:
    """Write ``weights`` as ``folder``, with everything else as it is in the folder ``source``.

    Where ``source`` is no folder, its tokenizer is written. The folder is whole or not there.
    """
    part = folder.with_name(f".{folder.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    if Path(source).is_dir():
        shutil.copytree(source, part, ignore=shutil.ignore_patterns("*.safetensors*"))
    else:
        load_tokenizer(source).save_pretrained(part)
    model.config.use_cache = True
    model.save_pretrained(part, state_dict=dict(weights))
    model.config.use_cache = False
    shutil.rmtree(folder, ignore_errors=True)
    part.rename(folder)
