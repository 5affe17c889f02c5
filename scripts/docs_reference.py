"""Reference pages of the site: made of typer's commands, pydantic's models, FastAPI's OpenAPI."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, get_args

import griffe
import typer
import typer.main
from pydantic import BaseModel
from pydantic.fields import FieldInfo
from typer.cli import get_docs_for_click

SETTINGS = (
    ("cass build-dataset", "cass_ray.pipeline.settings", "BuildSettings"),
    ("cass synthesize", "cass_ray.corpus.synthetic.synthesis", "SynthesisSettings"),
    ("cass analyze", "cass_ray.analysis.settings", "AnalysisSettings"),
    ("cass publish", "cass_ray.publish.settings", "PublishSettings"),
    ("cass port-projects", "cass_ray.project.batch", "BatchPortSettings"),
    ("cass bench", "cass_ray.bench.plan", "BenchSettings"),
    ("cass train", "cass_ray.train.settings", "TrainSettings"),
    ("cass serve", "serve.settings", "ServeSettings"),
)
"""Command, module and class of what its YAML file holds."""


def command_line() -> str:
    """Every command with its arguments and options."""
    from cass_ray import cli

    group = typer.main.get_command(cli.app)
    text = get_docs_for_click(
        obj=group, ctx=typer.Context(group, info_name="cass"), name="cass", title="Command line"
    )
    # A form feed is where help on the terminal ends.
    return text.replace("\f", "")


def settings(root: Path) -> str:
    """Every settings file, key by key."""
    parts = [
        "# Settings",
        "",
        "What the YAML files of `--config` hold, and what `--set KEY=VALUE` takes (`a.b=1` for a",
        "key in a group). An unknown key is an error that names the nearest known one.",
        "",
    ]
    for command, module, name in SETTINGS:
        top = getattr(import_module(module), name)
        parts += [f"## {command}", "", *_model(top, root)]
        for path, group in _groups(top):
            parts += [f"### {command}: `{path}`", "", *_model(group, root)]
    return "\n".join(parts) + "\n"


def _groups(model: type[BaseModel], prefix: str = "") -> Iterator[tuple[str, type[BaseModel]]]:
    """The models in ``model``, depth first, by their key."""
    for name, field in model.model_fields.items():
        inner = _models_in(field.annotation)
        for each in inner:
            path = f"{prefix}{name}"
            yield path, each
            yield from _groups(each, f"{path}.")


def _models_in(annotation: Any) -> list[type[BaseModel]]:
    if inspect.isclass(annotation) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for part in get_args(annotation) for model in _models_in(part)]


def _model(model: type[BaseModel], root: Path) -> list[str]:
    lines = [*(inspect.getdoc(model) or "").splitlines(), ""]
    lines += ["| key | type | default | |", "|---|---|---|---|"]
    for name, field in model.model_fields.items():
        kind, said = _written(model, name, root)
        cells = (f"`{name}`", f"`{kind}`", _default(field), said)
        lines.append("| " + " | ".join(_cell(cell) for cell in cells) + " |")
    return [*lines, ""]


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    value = field.get_default(call_default_factory=True)
    if isinstance(value, BaseModel):
        return "see below"
    if isinstance(value, list | tuple) and any(isinstance(each, BaseModel) for each in value):
        return ", ".join(f"`{getattr(each, 'name', '…')}`" for each in value)
    if value is None:
        return ""
    shown = json.dumps(value, default=str, ensure_ascii=False)
    return f"`{shown if len(shown) <= 80 else shown[:77] + '…'}`"


def _written(model: type[BaseModel], name: str, root: Path) -> tuple[str, str]:
    """Type and description of a field as they are written in the class that declares it."""
    for base in model.__mro__:
        if name in inspect.get_annotations(base):
            member = _parsed(base.__module__, inspect.getsourcefile(base) or "")[
                f"{base.__qualname__}.{name}"
            ]
            said = member.docstring.value if member.docstring else ""
            return str(member.annotation), said.replace("``", "`")
    raise LookupError(f"{model.__name__}.{name} is declared nowhere")


@cache
def _parsed(module: str, file: str) -> griffe.Module:
    path = Path(file)
    return griffe.visit(module, path, path.read_text("utf-8"))


def http_api() -> str:
    """The service's requests and what their bodies hold."""
    from serve.http.app import create_app
    from serve.settings import ServeSettings

    def none() -> Any:
        raise AssertionError("the schema takes no service")

    spec = create_app(ServeSettings(), none).openapi()
    lines = [
        "# HTTP API",
        "",
        "What `cass serve` answers; `/openapi.json` has the same for programs. Requests carry the",
        "key as `Authorization: Bearer KEY`.",
        "",
    ]
    for path, methods in spec["paths"].items():
        for method, operation in methods.items():
            lines += _operation(method.upper(), path, operation)
    lines += ["## Types", ""]
    for name, schema in spec["components"]["schemas"].items():
        lines += [f"### {name}", "", *_schema(schema)]
    return "\n".join(lines) + "\n"


def _operation(method: str, path: str, operation: dict[str, Any]) -> list[str]:
    lines = [f"## {method} `{path}`", ""]
    said = operation.get("description") or operation.get("summary", "")
    lines += [*_prose(said), ""]
    if parameters := operation.get("parameters"):
        lines += ["| parameter | in | type | |", "|---|---|---|---|"]
        for each in parameters:
            cells = (
                f"`{each['name']}`",
                each["in"],
                _kind(each.get("schema", {})),
                each.get("description", ""),
            )
            lines.append("| " + " | ".join(_cell(cell) for cell in cells) + " |")
        lines.append("")
    for kind, body in operation.get("requestBody", {}).get("content", {}).items():
        lines += [f"Body (`{kind}`): {_kind(body.get('schema', {}))}", ""]
    for status, response in operation.get("responses", {}).items():
        kinds = [
            f"{_kind(body.get('schema', {}))} (`{kind}`)"
            for kind, body in response.get("content", {}).items()
        ]
        lines.append(f"- **{status}** {' '.join([_line(response['description']), *kinds])}")
    return [*lines, ""]


def _schema(schema: dict[str, Any]) -> list[str]:
    lines = [*_prose(schema.get("description", "")), ""]
    if values := schema.get("enum"):
        return [*lines, ", ".join(f"`{value}`" for value in values), ""]
    if properties := schema.get("properties"):
        required = schema.get("required", [])
        lines += ["| key | type | default | |", "|---|---|---|---|"]
        for name, each in properties.items():
            default = "required" if name in required else _json(each.get("default"))
            cells = (f"`{name}`", _kind(each), default, _line(each.get("description", "")))
            lines.append("| " + " | ".join(_cell(cell) for cell in cells) + " |")
        lines.append("")
    return lines


def _kind(schema: dict[str, Any]) -> str:
    """A type in words, with a link where it has a name."""
    if reference := schema.get("$ref"):
        name = reference.rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "anyOf" in schema:
        kinds = [_kind(each) for each in schema["anyOf"]]
        return " or ".join(kind for kind in kinds if kind != "`null`")
    if schema.get("type") == "array":
        return f"list of {_kind(schema.get('items', {}))}"
    if "const" in schema:
        return f"`{schema['const']}`"
    return f"`{schema['type']}`" if "type" in schema else "any"


def _json(value: Any) -> str:
    return "" if value is None else f"`{json.dumps(value, ensure_ascii=False)}`"


def _line(text: str) -> str:
    return " ".join(text.replace("``", "`").split())


def _prose(text: str) -> list[str]:
    return text.replace("``", "`").splitlines()
