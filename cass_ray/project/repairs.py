"""Repair of a port from what its build says: rules only, each change kept only if it helps.

A change is kept when errors of its file are gone and the lines that it made have none; then the
next round follows. What was kept is remembered with a digest of the file that it was made for, so
that the next run starts from it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from cass_ray.cache import digest
from cass_ray.config import StrictModel
from cass_ray.project.build_system import BUILD_FOLDER
from cass_ray.project.steps import Step
from cass_ray.translate.project.hunks import SharedError
from cass_ray.translate.project.shared import gives_sides, share_repair
from cass_ray.translate.repair.host_headers import (
    give_headers,
    is_missing_header,
    make_hip,
    targets_of,
    units_for_devices,
)
from cass_ray.translate.repair.loop import (
    CompilerDiagnostic,
    apply_fixes,
    at_declarations,
    diagnostics,
)

_UP = re.compile(r"^(?:\.\./)+")
_ENTERED = re.compile(r"Entering directory ['`](/[^'\n]{1,4096})'")
_MOST_FOLDERS = 50
_CMAKE = "CMakeLists.txt"
"""The project's own, where what no file of C++ can mend is mended."""


@dataclass(frozen=True)
class FileRepair:
    """What was changed in one file; ``path`` is relative to the project."""

    path: str
    fixes: tuple[str, ...]


@dataclass(frozen=True)
class _Said:
    """This is what a build that failed says of the project's files.

    ``errors`` are by the file that they are in; ``units`` are files that a host's compiler cannot
    compile, and the targets that hold them.
    """

    errors: dict[str, list[CompilerDiagnostic]]
    units: dict[str, list[str]]


class _Known(StrictModel):
    """A repaired file: the digest of what it was, its text, what was done."""

    of: str
    text: str
    fixes: tuple[str, ...]


_STATE = TypeAdapter(dict[str, _Known])


class Repairs:
    """Repairs of one port, remembered in ``state``.

    In a port ``for_both`` vendors a repair is for AMD's compiler alone: what was there stands
    beside it. So it does for a host's compiler that may read the file, too.
    """

    def __init__(self, port: Path, state: Path, *, for_both: bool = False) -> None:
        self._port = port
        self._state = state
        self._for_both = for_both
        self._known = _read(state)
        self.made: list[FileRepair] = []

    def start(self) -> None:
        """Apply to the port what earlier runs found for the very same files."""
        for name, known in self._known.items():
            file = self._port / name
            if file.is_file() and digest([file.read_bytes()]) == known.of:
                file.write_bytes(_encoded(known.text))
                self.made.append(FileRepair(name, known.fixes))

    def build(self, tree: Path, build: Callable[[], Step], attempts: int) -> Step:
        """Build ``tree``, a copy of the port; on failure mend both, at most ``attempts`` times."""
        step = build()
        said = _read_log(step, tree)
        for _ in range(attempts):
            changed = self._changed(said)
            if not changed:
                break
            texts = {name: text for name, (text, _) in changed.items()}
            before = self._write(tree, texts)
            again = build()
            said_again = _read_log(again, tree)
            if not again.passed and not _helps(said.errors, said_again.errors, before, texts):
                self._write(tree, before)
                break
            for name, (text, fixes) in changed.items():
                self._remember(name, before[name], text, fixes)
            step, said = again, said_again
        return step

    def _changed(self, said: _Said) -> dict[str, tuple[str, list[str]]]:
        changed: dict[str, tuple[str, list[str]]] = {}
        for name, found in said.errors.items():
            file = self._port / name
            if not file.is_file():
                continue  # Made by the build itself.
            source = _decoded(file.read_bytes())
            if name == _CMAKE:
                text, fixes = make_hip(source, said.units) if said.units else give_headers(source)
                changed |= {name: (text, fixes)} if fixes else {}
                continue
            text, fixes = apply_fixes(source, found)
            if fixes and text != source:
                try:
                    changed[name] = (self._beside(source, text), fixes)
                except SharedError:
                    continue
        return changed

    def _beside(self, source: str, repaired: str) -> str:
        beside = self._for_both or gives_sides(source, repaired)
        return share_repair(source, repaired) if beside else repaired

    def _write(self, tree: Path, texts: dict[str, str]) -> dict[str, str]:
        """Write ``texts`` to the port and to ``tree``; returns what stood there."""
        before = {}
        for name, text in texts.items():
            file = self._port / name
            before[name] = _decoded(file.read_bytes())
            for place in (file, tree / name):
                place.write_bytes(_encoded(text))
        return before

    def _remember(self, name: str, before: str, text: str, fixes: list[str]) -> None:
        earlier = next((item for item in self.made if item.path == name), None)
        original = self._known[name].of if earlier else digest([_encoded(before)])
        kept = (*(earlier.fixes if earlier else ()), *fixes)
        self.made = [item for item in self.made if item.path != name]
        self.made.append(FileRepair(name, kept))
        self._known[name] = _Known(of=original, text=text, fixes=kept)
        self._state.write_bytes(_STATE.dump_json(self._known, indent=1) + b"\n")


def _helps(
    errors: dict[str, list[CompilerDiagnostic]],
    again: dict[str, list[CompilerDiagnostic]],
    before: Mapping[str, str],
    after: Mapping[str, str],
) -> bool:
    """Whether in each changed file errors are gone and no changed line has a new one.

    Other lines may have new ones: an error hides what comes after it.
    """
    for name, text in after.items():
        old = {item.message for item in errors[name]}
        now = again.get(name, [])
        if sum(item.message in old for item in now) >= len(errors[name]):
            return False
        lines = _changed_lines(before[name], text)
        if any(item.line in lines for item in now if item.message not in old):
            return False
    return True


def _changed_lines(before: str, after: str) -> set[int]:
    """Numbers of the lines of ``after`` that ``before`` does not have there."""
    texts = (before.split("\n"), after.split("\n"))
    blocks = SequenceMatcher(None, *texts, autojunk=False).get_opcodes()
    return {
        number + 1
        for kind, _, _, start, end in blocks
        if kind != "equal"
        for number in range(start, end)
    }


def _read_log(step: Step, tree: Path) -> _Said:
    """The errors of ``step`` in files of ``tree``; none of a step that passed."""
    found: dict[str, list[CompilerDiagnostic]] = {}
    if step.passed:
        return _Said(found, {})
    folders = _folders(step.log)
    errors = diagnostics(step.log)
    for item in [*errors, *at_declarations(errors)]:
        name = _inside(item.file, tree, folders)
        if name:
            found.setdefault(name, []).append(item)
        if is_missing_header(item.message):
            found.setdefault(_CMAKE, []).append(replace(item, file=_CMAKE, line=0))
    units = {_inside(unit, tree, folders) for unit in units_for_devices(step.log)} - {""}
    held = {name: targets for name in sorted(units) if (targets := targets_of(step.log, name))}
    for unit in held:
        said = CompilerDiagnostic(_CMAKE, 0, 0, f"{unit} includes headers of devices", "")
        found.setdefault(_CMAKE, []).append(said)
    return _Said(found, held)


def _folders(log: str) -> list[str]:
    return list(dict.fromkeys(_ENTERED.findall(log)))[:_MOST_FOLDERS]


def _inside(name: str, tree: Path, folders: Iterable[str] = ()) -> str:
    """``name`` as a compiler says it, relative to ``tree``; empty where it is no file of it.

    ``folders`` are those that make entered.
    """
    if name.startswith("/"):
        places = [Path(name)]
    else:
        # Build systems compile in the project's folder, in that of the build, or below either.
        places = [tree / name, tree / BUILD_FOLDER / name, tree / _UP.sub("", name)]
        places += [Path(folder) / name for folder in folders]
    root = tree.resolve()
    for place in places:
        resolved = place.resolve()
        if resolved.is_file() and resolved.is_relative_to(root):
            return resolved.relative_to(root).as_posix()
    return ""


def _decoded(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _read(path: Path) -> dict[str, _Known]:
    try:
        return _STATE.validate_json(path.read_bytes())
    except (OSError, ValidationError):
        return {}
