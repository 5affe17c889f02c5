"""Many projects ported one after another or all over a cluster, each one's outcome kept.

What a project came to is a small JSON file beside its patch and report. It is taken as it is by the
next run as long as the project's entry, its files, the engine and the targets are the same.
"""

from __future__ import annotations

import html
import json
import os
import re
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationError, field_validator

from cass_ray.architectures import (
    DEFAULT_AMD_ARCHITECTURE,
    architecture_named,
    emulated_architectures,
    known_architecture,
)
from cass_ray.cache import default_directory, digest
from cass_ray.config import StrictModel
from cass_ray.corpus.reading.filetree import SKIPPED_FOLDERS
from cass_ray.emulator.build import BuildFailed, runtime_library
from cass_ray.project.patch import PatchError
from cass_ray.project.porting import (
    PortSettings,
    ProjectError,
    name_of,
    port_project,
    work_folder,
)
from cass_ray.project.report import ProjectResult
from cass_ray.project.report_files import write_reports
from cass_ray.toolchain.errors import ToolMissing
from cass_ray.toolchain.locate import find_amd
from cass_ray.translate.engines.registry import make_translator
from cass_ray.translate.project.hunks import SharedError
from cass_ray.translate.protocol import TranslatorError

OUTCOME = "outcome.json"
REPORT = "projects.json"
_NAME = re.compile(r"[\w.+-]+\Z")
_LAST_LINES = 12


class ProjectEntry(StrictModel):
    """A project: a folder or a git address; empty commands are found by the build system."""

    source: str
    name: str = ""
    """Its folder in the results. [default: the last part of ``source``]"""
    build: str = ""
    test: str = ""
    dependencies: dict[str, Path] = Field(default_factory=dict)
    """Name and folder of what the build would download."""

    @field_validator("name")
    @classmethod
    def _one_folder(cls, name: str) -> str:
        if name and (not _NAME.match(name) or name.strip(".") == ""):
            raise ValueError("a name is letters, digits, '.', '_', '+' and '-'")
        return name

    @property
    def folder(self) -> str:
        return self.name or name_of(self.source)


class BatchPortSettings(StrictModel):
    """What is ported, for which targets, and where to."""

    projects: tuple[ProjectEntry, ...] = Field(min_length=1)
    out: Path
    architectures: tuple[str, ...] = (DEFAULT_AMD_ARCHITECTURE,)
    seconds: float = Field(default=1800.0, gt=0)
    """Limit of each build and each test."""
    jobs: int = Field(default=1, ge=1)
    """Compilers at a time in each project."""
    repairs: int = Field(default=3, ge=0)
    reference: bool = False
    """Compare with the original's machine code, lifted: it is built as well, and tested twice."""
    cluster: bool = False
    """Port on the nodes of a Ray cluster, else one after another in this process."""

    @field_validator("architectures")
    @classmethod
    def _emulated(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(
            known_architecture(architecture_named(name), emulated_architectures()) for name in names
        )

    @field_validator("projects")
    @classmethod
    def _distinct(cls, entries: tuple[ProjectEntry, ...]) -> tuple[ProjectEntry, ...]:
        names = [entry.folder for entry in entries]
        if doubled := sorted({name for name in names if names.count(name) > 1}):
            raise ValueError(f"two projects are called {', '.join(doubled)}: give names")
        return entries


class TargetOutcome(StrictModel):
    """Build and tests of one project for one target; outcomes as in ``report.json``."""

    architecture: str
    build: str
    test: str
    said: str = ""
    """The last lines of what failed."""
    compared: str = ""
    """How its programs' output compares with the original's, where that was asked for."""
    differs: bool = False
    """Whether a program prints something other than the original."""


class ProjectOutcome(StrictModel):
    """What one project came to; ``why`` says what kept it from being built at all."""

    name: str
    source: str
    key: str
    build_system: str = ""
    why: str = ""
    seconds: float = 0.0
    files: int = 0
    changed_files: int = 0
    repaired_files: int = 0
    unsupported: int = 0
    """Constructs without a translation."""
    targets: tuple[TargetOutcome, ...] = ()

    @property
    def standing(self) -> Literal["passed", "built", "failed", "refused"]:
        """``built``: on every target, but tests fail somewhere, there are none, or a program prints
        something other than the original."""
        if not self.targets:
            return "refused"
        if any(target.build not in {"passed", "in part"} for target in self.targets):
            return "failed"
        right = all(target.test == "passed" and not target.differs for target in self.targets)
        return "passed" if right else "built"


def port_kept(entry: ProjectEntry, settings: BatchPortSettings) -> ProjectOutcome:
    """Port ``entry``, unless its outcome is there already; errors of a project are its outcome.

    Raises :class:`~cass_ray.toolchain.errors.ToolMissing`: then no project can be ported.
    """
    folder = settings.out / entry.folder
    key = _key(entry, settings)
    kept = _read(folder / OUTCOME)
    if kept is not None and kept.key == key:
        return kept
    started = time.monotonic()
    outcome = _ported(entry, settings, folder, key)
    outcome = outcome.model_copy(update={"seconds": round(time.monotonic() - started, 1)})
    folder.mkdir(parents=True, exist_ok=True)
    part = folder / f".{OUTCOME}.{os.getpid()}"
    part.write_text(outcome.model_dump_json(indent=1) + "\n", "utf-8")
    part.replace(folder / OUTCOME)
    return outcome


def _ported(
    entry: ProjectEntry, settings: BatchPortSettings, folder: Path, key: str
) -> ProjectOutcome:
    translator = make_translator()
    refused = ProjectOutcome(name=entry.folder, source=entry.source, key=key)
    wanted = PortSettings(
        settings.architectures,
        entry.build,
        entry.test,
        seconds=settings.seconds,
        jobs=settings.jobs,
        repairs=settings.repairs,
        dependencies=tuple(entry.dependencies.items()),
        reference=settings.reference,
    )
    work = work_folder(entry.source, default_directory())
    try:
        made = port_project(entry.source, wanted, translator, find_amd(), runtime_library(), work)
    except ToolMissing:
        raise
    except (ProjectError, PatchError, SharedError, TranslatorError, BuildFailed, OSError) as error:
        return refused.model_copy(update={"why": str(error)})
    write_reports(made, translator, folder)
    return _outcome(made, refused)


def _outcome(made: ProjectResult, empty: ProjectOutcome) -> ProjectOutcome:
    targets = []
    for target in made.targets:
        failed = next((step for step in (target.build, target.test) if not step.passed), None)
        said = "\n".join(failed.log.splitlines()[-_LAST_LINES:]) if failed else ""
        targets.append(
            TargetOutcome(
                architecture=target.architecture,
                build=target.build.outcome.value,
                test=target.test.outcome.value,
                said=said,
                compared=target.comparison.summary if target.comparison else "",
                differs=target.differs,
            )
        )
    return empty.model_copy(
        update={
            "build_system": made.plan.system.value,
            "files": len(made.translation.files),
            "changed_files": made.changed_files,
            "repaired_files": len(made.repairs),
            "unsupported": made.translation.counts.unsupported,
            "targets": tuple(targets),
        }
    )


def _key(entry: ProjectEntry, settings: BatchPortSettings) -> str:
    asked = settings.model_dump_json(include={"architectures", "seconds", "repairs", "reference"})
    parts = [entry.model_dump_json(), asked, make_translator().version]
    root = Path(entry.source)
    if root.is_dir():
        parts += _listing(root)
    return digest(parts)


def _listing(root: Path) -> list[str]:
    """Names, sizes and times of the files below ``root``, sorted."""
    found = []
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name not in SKIPPED_FOLDERS]
        for name in names:
            path = Path(folder) / name
            state = path.lstat()
            found.append(f"{path.relative_to(root)} {state.st_size} {state.st_mtime_ns}")
    return sorted(found)


def _read(path: Path) -> ProjectOutcome | None:
    try:
        return ProjectOutcome.model_validate_json(path.read_bytes())
    except (OSError, ValidationError):
        return None


def write_summary(outcomes: Sequence[ProjectOutcome], out: Path) -> Path:
    """Write ``projects.json`` and ``projects.html`` into ``out``; returns the page."""
    out.mkdir(parents=True, exist_ok=True)
    ordered = sorted(outcomes, key=lambda item: item.name)
    counts = {
        name: sum(item.standing == name for item in ordered)
        for name in ("passed", "built", "failed", "refused")
    }
    projects = [{"standing": item.standing, **item.model_dump(mode="json")} for item in ordered]
    document = {"counts": counts, "projects": projects}
    (out / REPORT).write_text(json.dumps(document, indent=1) + "\n", "utf-8")
    rows = "".join(_row(item) for item in ordered)
    said = ", ".join(f"{number} {name}" for name, number in counts.items())
    page = out / "projects.html"
    page.write_text(
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>Ports</title>'
        "<style>body{font:15px/1.5 system-ui,sans-serif;max-width:72rem;margin:2rem auto}"
        "td,th{text-align:left;padding:.3rem .8rem;vertical-align:top}</style>"
        f"<h1>Ports of {len(ordered)} projects</h1><p>{said}</p><table>"
        "<tr><th>project<th>standing<th>targets<th>files changed<th>repaired<th>why</tr>"
        f"{rows}</table></html>\n",
        "utf-8",
    )
    return page


def _row(item: ProjectOutcome) -> str:
    targets = "; ".join(
        f"{each.architecture}: build {each.build}, tests {each.test}"
        + (f", {each.compared}" if each.compared else "")
        for each in item.targets
    )
    why = item.why or next((each.said for each in item.targets if each.said), "")
    name = html.escape(item.name)
    link = f'<a href="{name}/report.html">{name}</a>' if item.targets else name
    cells = [link, item.standing, html.escape(targets), str(item.changed_files)]
    cells += [str(item.repaired_files), f"<pre>{html.escape(why)}</pre>" if why else ""]
    return "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"
