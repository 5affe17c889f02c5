"""Findings as SARIF 2.1.0, the format that code hosts and editors read."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from cass_ray.translate.diagnostics import DIAGNOSTICS, OTHER, diagnostic_of
from cass_ray.translate.project.tree import TreeResult
from cass_ray.translate.protocol import Finding, Translator
from cass_ray.version import __version__

NO_GRADES: Mapping[str, str] = MappingProxyType({})
SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def sarif(
    result: TreeResult, translator: Translator, grades: Mapping[str, str] = NO_GRADES
) -> dict[str, Any]:
    """The findings of ``result`` as one SARIF run; paths are relative to the translated tree.

    ``grades``: by architecture what a port that was run came to, in the words of
    :class:`cass_ray.execute.grades.Grade`; a property of the run.
    """
    rules = [
        {
            "id": item.code,
            "shortDescription": {"text": item.title},
            "fullDescription": {"text": item.why},
            "help": {"text": item.how},
        }
        for item in (OTHER, *DIAGNOSTICS)
    ]
    driver = {
        "name": "cass translate",
        "version": __version__,
        "semanticVersion": __version__,
        "properties": {"engine": translator.name, "engineVersion": translator.version},
        "rules": rules,
    }
    results = [_result(file.path, item) for file in result.files for item in file.findings]
    run: dict[str, Any] = {
        "tool": {"driver": driver},
        "results": results,
        "columnKind": "unicodeCodePoints",
    }
    if grades:
        run["properties"] = {"grades": dict(grades)}
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _result(path: str, finding: Finding) -> dict[str, Any]:
    location: dict[str, Any] = {"artifactLocation": {"uri": path}}
    if finding.line:
        location["region"] = {"startLine": finding.line, "startColumn": max(finding.column, 1)}
    advice = f" Advice: {finding.advice}." if finding.advice else ""
    return {
        "ruleId": diagnostic_of(finding).code,
        "level": finding.severity.value,
        "message": {"text": f"{finding.message}.{advice}"},
        "locations": [{"physicalLocation": location}],
        "properties": {"construct": finding.construct},
    }
