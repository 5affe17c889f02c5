"""Models of Hugging Face's form, by folder or name: configuration, tokenizer, longer contexts."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from cass_ray.config import StrictModel
from cass_ray.nearest import did_you_mean

TRANSLATION_FILE = "cass_ray.json"
"""A file beside a model trained here says how it wants to be asked."""

_HUB_NAME = re.compile(r"\w[\w.-]*(/[\w.-]+)?")


class ModelError(ValueError):
    """The model cannot be loaded or used as asked; the message says what to change."""


class RopeSettings(StrictModel):
    """Extension of the context: positions beyond those the model was trained on."""

    kind: Literal["linear", "dynamic", "yarn"]
    factor: float = Field(gt=1.0)


def extend_rope(config: Any, rope: RopeSettings) -> None:
    """Set ``config`` (a transformers configuration) to ``factor`` times its positions.

    ``linear`` is position interpolation (Chen et al., 2023), ``dynamic`` NTK-aware scaling by the
    length at hand, ``yarn`` YaRN (Peng et al., 2023); the computation is transformers'.
    """
    original = int(config.max_position_embeddings)
    parameters = dict(getattr(config, "rope_parameters", None) or {})
    parameters.setdefault("rope_theta", getattr(config, "rope_theta", None) or 10000.0)
    parameters |= {
        "rope_type": rope.kind,
        "factor": rope.factor,
        "original_max_position_embeddings": original,
    }
    config.rope_parameters = parameters
    if rope.kind != "dynamic":
        config.max_position_embeddings = int(original * rope.factor)


def positions(config: Any) -> int:
    """Positions that ``config`` can use, its extension included."""
    parameters = getattr(config, "rope_parameters", None) or {}
    limit = int(config.max_position_embeddings)
    if parameters.get("rope_type") == "dynamic":
        return int(limit * parameters["factor"])
    return limit


def load_config(name: str) -> Any:
    """The configuration of a folder or Hugging Face name. Raises ``ModelError``."""
    from transformers import AutoConfig

    _check_name(name)
    try:
        return AutoConfig.from_pretrained(name)
    except (OSError, ValueError) as error:
        raise not_found(name, error) from None


def load_tokenizer(name: str) -> Any:
    """The tokenizer of a folder or Hugging Face name. Raises ``ModelError``."""
    from transformers import AutoTokenizer

    _check_name(name)
    try:
        return AutoTokenizer.from_pretrained(name)
    except (OSError, ValueError) as error:
        raise not_found(name, error) from None


def _check_name(name: str) -> None:
    """Ask the hub for no name that is a path here: it would be asked for most of a minute."""
    path = Path(name)
    beside = path.parent
    is_hub_name = _HUB_NAME.fullmatch(name) is not None
    if not path.exists() and (not is_hub_name or (beside != Path() and beside.is_dir())):
        raise not_found(name, FileNotFoundError("no such folder"))


def not_found(name: str, error: Exception) -> ModelError:
    """The error for a ``name`` that transformers found no model at; names what lies near."""
    path = Path(name)
    first = str(error).strip().split("\n")[0]
    if path.is_dir():
        return ModelError(f"{name} is a folder, but not one of a Hugging Face model: {first}")
    beside = path.parent
    hint = ""
    if beside.is_dir() and (names := _folders_in(beside)):
        hint = f" In {beside}: {did_you_mean(path.name, names)}"
    return ModelError(
        f"no model at {name}: neither a folder nor a name that could be fetched ({first}).{hint}"
    )


def _folders_in(folder: Path) -> list[str]:
    return [item.name for item in folder.iterdir() if item.is_dir() and item.name[0] != "."]


def without_progress_bars() -> None:
    """transformers draws bars for reading and writing weights, which take a moment here."""
    from transformers.utils import logging

    logging.disable_progress_bar()
