"""Findings as SARIF 2.1.0, the format that code hosts and editors read."""

from __future__ import annotations

from typing import Any

from cass_ray.translate.project.tree import TreeResult
from cass_ray.translate.protocol import Finding, Severity, Translator
from cass_ray.version import __version__

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"

RULES = {
    Severity.ERROR: ("untranslated", "A CUDA construct without a HIP translation"),
    Severity.WARNING: ("suspicious", "A construct that looks like CUDA"),
    Severity.NOTE: ("adapted", "A construct that was changed in a way worth knowing"),
}
"""SARIF rule (identifier, description) of each severity."""


def sarif(result: TreeResult, translator: Translator) -> dict[str, Any]:
    """The findings of ``result`` as one SARIF run; paths are relative to the translated tree."""
    rules = [
        {"id": name, "shortDescription": {"text": text}, "defaultConfiguration": {"level": level}}
        for level, (name, text) in ((item.value, rule) for item, rule in RULES.items())
    ]
    driver = {
        "name": "cass translate",
        "version": __version__,
        "semanticVersion": __version__,
        "properties": {"engine": translator.name, "engineVersion": translator.version},
        "rules": rules,
    }
    results = [_result(file.path, item) for file in result.files for item in file.findings]
    run = {"tool": {"driver": driver}, "results": results, "columnKind": "unicodeCodePoints"}
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _result(path: str, finding: Finding) -> dict[str, Any]:
    location: dict[str, Any] = {"artifactLocation": {"uri": path}}
    if finding.line:
        location["region"] = {"startLine": finding.line, "startColumn": max(finding.column, 1)}
    advice = f" Advice: {finding.advice}." if finding.advice else ""
    return {
        "ruleId": RULES[finding.severity][0],
        "level": finding.severity.value,
        "message": {"text": f"{finding.message}.{advice}"},
        "locations": [{"physicalLocation": location}],
        "properties": {"construct": finding.construct},
    }
