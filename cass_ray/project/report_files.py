"""The files that a port of a project leaves."""

from __future__ import annotations

import json
from pathlib import Path

from cass_ray.project.report import ProjectResult, as_json, page
from cass_ray.project.report_markdown import markdown
from cass_ray.translate.protocol import Translator
from cass_ray.translate.sarif import sarif
from cass_ray.whole_file import write_whole

REPORT_FILES = ("port.patch", "report.json", "report.sarif", "report.html", "report.md")
"""What :func:`write_reports` writes, in this order."""


def write_reports(result: ProjectResult, translator: Translator, folder: Path) -> None:
    """Write :data:`REPORT_FILES` into ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    document = json.dumps(as_json(result, translator), indent=1)
    grades = {
        target.architecture: target.comparison.grade.value
        for target in result.targets
        if target.comparison is not None
    }
    findings = json.dumps(sarif(result.translation, translator, grades), indent=1)
    contents = (
        result.patch.encode("utf-8", "surrogateescape"),
        f"{document}\n".encode(),
        f"{findings}\n".encode(),
        page(result).encode("utf-8", "replace"),
        markdown(result, translator).encode("utf-8", "replace"),
    )
    for name, content in zip(REPORT_FILES, contents, strict=True):
        write_whole(folder / name, content)
