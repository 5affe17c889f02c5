"""Settings that reject what they do not know and name the nearest thing they do.

``StrictModel`` is the base of every settings file and request body. ``load`` reads YAML plus
``key=value`` overrides and turns pydantic's report into one a person can act on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, TypeVar, get_args, get_origin

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from cass_ray.nearest import did_you_mean


class SettingsError(ValueError):
    """Settings that cannot be used; the message names the file, the key and what would do."""


class StrictModel(BaseModel):
    """A frozen pydantic model in which an unknown key is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    RENAMED: ClassVar[Mapping[str, str]] = {}
    """Keys of earlier versions and what they are called now: the error for one names the other."""
    REMOVED: ClassVar[Mapping[str, str]] = {}
    """Keys of earlier versions that are gone, and what to do instead, for the error."""


Model = TypeVar("Model", bound=BaseModel)


def _model_in(annotation: Any) -> type[BaseModel] | None:
    """The pydantic model inside ``annotation`` (Optional, list, dict value), if there is one."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    if get_origin(annotation) is None:
        return None
    return next((m for m in map(_model_in, get_args(annotation)) if m is not None), None)


def _model_at(model: type[BaseModel], location: Sequence[int | str]) -> type[BaseModel]:
    """The (nested) model that holds the last element of ``location``."""
    current = model
    for part in location[:-1]:
        if isinstance(part, int) or part not in current.model_fields:
            continue
        inner = _model_in(current.model_fields[part].annotation)
        if inner is not None:
            current = inner
    return current


def _hint(key: str, model: type[BaseModel]) -> str:
    """What to write instead of ``key``, which ``model`` does not have."""
    if issubclass(model, StrictModel) and key in model.RENAMED:
        return f"it is called `{model.RENAMED[key]}` now"
    if issubclass(model, StrictModel) and key in model.REMOVED:
        return model.REMOVED[key]
    return did_you_mean(key, model.model_fields)


def explain(error: ValidationError, model: type[BaseModel], where: str) -> str:
    """One line per problem of ``error``: where, which key, what is wrong, what would do."""
    lines = []
    for problem in error.errors():
        location = problem["loc"]
        key = ".".join(map(str, location)) or "(settings)"
        if problem["type"] == "extra_forbidden":
            hint = _hint(str(location[-1]), _model_at(model, location))
            lines.append(f"{where}: unknown key `{key}`; {hint}")
        elif problem["type"] == "missing":
            lines.append(f"{where}: `{key}` is missing")
        else:
            lines.append(f"{where}: `{key}`: {problem['msg']} (got {problem['input']!r})")
    return "\n".join(lines)


def validate(model: type[Model], values: Mapping[str, Any], where: str) -> Model:
    """``values`` as ``model``. Raises ``SettingsError`` with every problem, a line each."""
    try:
        return model.model_validate(dict(values))
    except ValidationError as error:
        raise SettingsError(explain(error, model, where)) from None


def _merge(base: dict[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(base)
    for key, value in over.items():
        if isinstance(value, Mapping) and isinstance(merged.get(key), dict):
            merged[key] = _merge(merged[key], value)
        else:
            merged[key] = value
    return merged


def parse_overrides(pairs: Iterable[str]) -> dict[str, Any]:
    """``["filters.max_lines=5000"]`` as nested mappings; values are read as YAML.

    Raises ``SettingsError`` for an item without ``=``.
    """
    result: dict[str, Any] = {}
    for pair in pairs:
        key, separator, value = pair.partition("=")
        if not separator:
            raise SettingsError(
                f"--set {pair}: expected KEY=VALUE, for example filters.max_lines=5000"
            )
        nested: Any = yaml.safe_load(value)
        for part in reversed(key.strip().split(".")):
            nested = {part: nested}
        result = _merge(result, nested)
    return result


def settings_from(
    model: type[Model], path: Path | None, options: Mapping[str, Any], pairs: Iterable[str] | None
) -> Model:
    """As :func:`load`, from a command's options (None: not given) and, before them, ``--set``."""
    given = {name: value for name, value in options.items() if value is not None}
    return load(model, path, {**given, **parse_overrides(pairs or [])})


def load(model: type[Model], path: Path | None, overrides: Mapping[str, Any]) -> Model:
    """Settings from the YAML file at ``path`` (may be None) with ``overrides`` on top.

    Raises ``SettingsError`` for an unreadable file, bad YAML, an unknown key or a bad value.
    """
    values: dict[str, Any] = {}
    if path is not None:
        try:
            loaded = yaml.safe_load(path.read_text())
        except OSError as error:
            raise SettingsError(f"{path}: {error.strerror}") from None
        except yaml.YAMLError as error:
            raise SettingsError(f"{path}: not YAML: {error}") from None
        if loaded is not None and not isinstance(loaded, dict):
            raise SettingsError(
                f"{path}: expected a mapping of settings, got {type(loaded).__name__}"
            )
        values = loaded or {}
    return validate(model, _merge(values, overrides), str(path) if path else "settings")
