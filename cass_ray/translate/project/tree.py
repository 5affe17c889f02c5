"""Whole folders: sources, headers and build files translated, the rest copied, only what changed.

The output folder keeps ``.cass-translate.json``: for every file the digest of what it was made from
(content, the set of files of the tree, engine and version) and of what was written. A second run
touches only files whose input changed, and never a file that was edited by hand since.
"""

from __future__ import annotations

import filecmp
import hashlib
import json
import os
import re
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any

from cass_ray.corpus.reading.filetree import MAXIMUM_DEPTH, SKIPPED_FOLDERS
from cass_ray.overwriting import check_outputs
from cass_ray.translate.declared import declared_names
from cass_ray.translate.defects import missing_returns
from cass_ray.translate.project import build_files
from cass_ray.translate.project.hip_aware import hip_aware
from cass_ray.translate.project.templates import made_from
from cass_ray.translate.protocol import Context, Counts, Finding, Severity, Translation, Translator
from cass_ray.translate.rules.common import with_common_choices
from cass_ray.whole_file import write_whole

STATE = ".cass-translate.json"
SUFFIXES = frozenset(
    (".cu", ".cuh", ".h", ".hh", ".hpp", ".hxx", ".h++", ".c", ".cc", ".cpp", ".cxx", ".c++",
     ".inl", ".inc", ".ipp", ".tpp", ".tcc", ".impl", ".cuinc", ".hu", ".txx")
)  # fmt: skip
"""File name endings of C, C++ and CUDA source."""
COMPILED = frozenset((".cu", ".c", ".cc", ".cpp", ".cxx"))
"""File name endings of what is compiled: no build copies such a file to be included elsewhere."""

_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include[ \t]*[\"<]([^\">\n]+)", re.MULTILINE)
_BUILD_CODE = b"".join(
    path.read_bytes() for path in sorted(Path(build_files.__file__).parent.glob("*.[pt]*"))
)
_PARALLEL_BYTES = 4 << 20
"""Below this much source one process is quicker than several."""


@dataclass(frozen=True)
class FileResult:
    """What happened to one file; ``path`` is relative to the root, with forward slashes."""

    path: str
    action: str
    """``translated``, ``unchanged`` (nothing to translate), ``copied``, ``kept`` (up to date) or
    ``edited`` (changed by hand in the output since the last run: left alone)."""
    findings: tuple[Finding, ...] = ()
    counts: Counts = field(default_factory=Counts)


@dataclass
class TreeResult:
    """All files of a tree, in the order of their paths."""

    files: list[FileResult] = field(default_factory=list)

    @property
    def counts(self) -> Counts:
        return sum((item.counts for item in self.files), Counts())

    @property
    def errors(self) -> int:
        """Findings of severity error over all files."""
        return sum(f.severity is Severity.ERROR for item in self.files for f in item.findings)

    def number(self, action: str) -> int:
        """How many files ended with ``action``."""
        return sum(item.action == action for item in self.files)


@dataclass(frozen=True)
class _Task:
    path: str
    text: str


def source_files(root: Path) -> Iterator[Path]:
    """Every regular file below ``root``, sorted; no links, nothing of version control, no installed
    packages.

    Raises :class:`ValueError` for folders nested deeper than :data:`MAXIMUM_DEPTH`.
    """
    for folder, folders, names in os.walk(root):
        if len(Path(folder).parts) - len(root.parts) > MAXIMUM_DEPTH:
            raise ValueError(f"{root} holds folders nested deeper than {MAXIMUM_DEPTH}")
        folders[:] = sorted(name for name in folders if name not in SKIPPED_FOLDERS)
        for name in sorted(names):
            path = Path(folder) / name
            if path.is_file() and not path.is_symlink():
                yield path


def is_source(path: str) -> bool:
    """Whether ``path`` is named like C, C++ or CUDA source."""
    return PurePosixPath(made_from(path).lower()).suffix in SUFFIXES


def _included(root: Path, names: list[str]) -> Iterator[str]:
    """Files of other names that sources include: theirs are a project's own to choose."""
    others: dict[str, list[str]] = {}
    for name in names:
        if not is_source(name) and PurePosixPath(name).suffix:
            others.setdefault(PurePosixPath(name).name, []).append(name)
    for name in names if others else ():
        if is_source(name):
            text = (root / name).read_text("utf-8", "replace")
            for last in {PurePosixPath(each).name for each in _INCLUDE.findall(text)}:
                yield from others.get(last, ())


def translate_tree(
    root: Path,
    output: Path,
    translator: Translator,
    *,
    workers: int = 1,
    overwrite: bool = False,
    context: Context | None = None,
) -> TreeResult:
    """Translate the tree below ``root`` into ``output``; ``context`` is :func:`tree_context`'s.

    Raises:
        ValueError: ``output`` is ``root`` or lies inside it.
        WouldOverwriteError: a file of another content is in the way that no translation wrote, and
            ``overwrite`` is false. Nothing is written then.
        TranslatorError: the engine itself failed.
    """
    root, output = root.resolve(), output.resolve()
    if output == root or root in output.parents:
        raise ValueError(f"the output folder {output} lies inside the tree {root}")
    paths = [path for path in source_files(root) if output not in path.parents]
    names = [path.relative_to(root).as_posix() for path in paths]
    context = context or _context_of(root, paths)
    run = _Run(root, output, translator, context)
    check_outputs(run.not_ours(names), overwrite=overwrite)
    return run.translate(names, workers)


def tree_context(root: Path) -> Context:
    """What files of the tree below ``root`` are to be translated with."""
    return _context_of(root, list(source_files(root)))


def _context_of(root: Path, paths: list[Path]) -> Context:
    names = [path.relative_to(root).as_posix() for path in paths]
    texts = {
        name: path.read_text("utf-8", "replace")
        for path, name in zip(paths, names, strict=True)
        if is_source(name)
    }
    context = Context(frozenset(names), declared_names(texts.values()))
    return with_common_choices(context, texts.items())


class _Run:
    def __init__(self, root: Path, output: Path, translator: Translator, context: Context) -> None:
        self._root = root
        self._output = output
        self._translator = translator
        self._context = context
        listing = "\n".join(sorted(name for name in context.files if is_source(name)))
        made_by = f"{translator.name}\0{translator.version}\0{_digest(_BUILD_CODE)}"
        choices = f"{context.cuda_architecture} {context.plain_vectors}"
        known = "\n".join((listing, "", *sorted(context.declared), choices))
        self._salt = f"{made_by}\0{_digest(os.fsencode(known))}"
        self._before = _read_state(output / STATE)
        self._after: dict[str, dict[str, Any]] = {}

    def translate(self, names: list[str], workers: int) -> TreeResult:
        result = TreeResult()
        tasks: list[_Task] = []
        aware = hip_aware(self._root, names)
        included = set(_included(self._root, names))
        for name in names:
            data = (self._root / name).read_bytes()
            key = _digest(self._salt.encode() + b"\0" * (1 + (name in included)) + data)
            kept = self._kept(name, key)
            if kept:
                findings, counts = _said(self._before[name])
                result.files.append(FileResult(name, kept, findings, counts))
                continue
            self._after[name] = {"input": key}
            is_text = is_source(name) or name in included or build_files.kind_of(name)
            readable = name not in aware and is_text
            text = _decode(data) if readable else None
            if text is None:
                self._write(name, data)
                result.files.append(FileResult(name, "copied"))
            else:
                tasks.append(_Task(name, text))
        self._drop_what_is_gone(names)
        for task, translation in self._translations(tasks, workers):
            self._write(task.path, translation.source.encode("utf-8", "surrogateescape"))
            self._after[task.path] |= {
                "findings": [asdict(item) for item in translation.findings],
                "counts": asdict(translation.counts),
            }
            action = "unchanged" if translation.source == task.text else "translated"
            result.files.append(
                FileResult(task.path, action, translation.findings, translation.counts)
            )
        _write_state(self._output / STATE, self._after)
        result.files.sort(key=lambda item: item.path)
        return result

    def not_ours(self, names: list[str]) -> list[Path]:
        """Files in the output that no translation wrote and that are no copies of the tree's."""
        return [
            self._output / name
            for name in names
            if name not in self._before
            and (self._output / name).is_file()
            and not filecmp.cmp(self._root / name, self._output / name, shallow=False)
        ]

    def _drop_what_is_gone(self, names: list[str]) -> None:
        """Remove what an earlier run wrote for files that the tree no longer has, and folders that
        hold nothing else. What was changed by hand since stays."""
        for name in self._before.keys() - set(names):
            target = self._output / name
            if not _is_below(target, self._output):
                continue
            try:
                if _digest(target.read_bytes()) != self._before[name].get("output"):
                    self._after[name] = self._before[name]
                    continue
                target.unlink()
                for folder in target.parents:
                    if folder == self._output:
                        break
                    folder.rmdir()
            except OSError:
                continue  # it is gone, or its folder holds something else

    def _kept(self, name: str, key: str) -> str:
        """Why the file in the output stays as it is; empty when it must be written."""
        state = self._before.get(name)
        target = self._output / name
        if state is None or not target.is_file():
            return ""
        if _digest(target.read_bytes()) != state.get("output"):
            self._after[name] = state
            return "edited"
        if state.get("input") != key:
            return ""
        self._after[name] = state
        return "kept"

    def _translations(
        self, tasks: list[_Task], workers: int
    ) -> Iterator[tuple[_Task, Translation]]:
        size = sum(len(task.text) for task in tasks)
        if workers <= 1 or size < _PARALLEL_BYTES:
            for task in tasks:
                yield task, _translate(self._translator, task, self._context)
            return
        with ProcessPoolExecutor(workers) as pool:
            futures = [
                pool.submit(_translate, self._translator, task, self._context) for task in tasks
            ]
            for task, future in zip(tasks, futures, strict=True):
                yield task, future.result()

    def _write(self, name: str, data: bytes) -> None:
        target = self._output / name
        target.parent.mkdir(parents=True, exist_ok=True)
        # Whoever owns the copy, it runs with no rights of theirs.
        write_whole(target, data, mode=(self._root / name).stat().st_mode & 0o777)
        self._after[name]["output"] = _digest(data)


def _translate(translator: Translator, task: _Task, context: Context) -> Translation:
    build = build_files.kind_of(task.path)
    if build is not None:
        return build(task.text)
    made = translator.translate(task.text, filename=made_from(task.path), context=context)
    unreturned = missing_returns(task.text)
    return replace(made, findings=(*made.findings, *unreturned)) if unreturned else made


def _is_below(path: Path, root: Path) -> bool:
    """Whether ``path`` is below ``root``, whatever its parts or links on its way say."""
    return path.is_file() and path.resolve().is_relative_to(root)


def _decode(data: bytes) -> str | None:
    """``data`` as text that encodes back to the same bytes; None for binary data."""
    if b"\0" in data:
        return None
    return data.decode("utf-8", "surrogateescape")


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _said(state: dict[str, Any]) -> tuple[tuple[Finding, ...], Counts]:
    """What was said of a file when it was translated; nothing where the state does not hold it."""
    try:
        findings = tuple(
            Finding(**{**item, "severity": Severity(item["severity"])})
            for item in state.get("findings", ())
        )
        return findings, Counts(**state.get("counts", {}))
    except (TypeError, ValueError, KeyError):
        return (), Counts()


def _read_state(path: Path) -> dict[str, dict[str, Any]]:
    try:
        state = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    files = state.get("files") if isinstance(state, dict) else None
    return files if isinstance(files, dict) else {}


def _write_state(path: Path, files: dict[str, dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, json.dumps({"files": dict(sorted(files.items()))}, indent=1) + "\n")
