"""Check a change: what is found in CUDA and HIP files that was not found in them before.

    python -m cass_ray.project.changes --base main --sarif OUT.sarif --summary OUT.md
    python -m cass_ray.project.changes FILE...

Of each file: what has no translation (the ``rules``), defects of the program itself
(:mod:`cass_ray.translate.defects`), and of HIP what is right on wavefronts of 32 lanes only.
Nothing is compiled or run. Exit codes: 0 nothing new that counts, 1 something, 2 usage.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cass_ray.exit_codes import EXIT_FAILED, EXIT_USAGE
from cass_ray.git_command import GitError, run_git
from cass_ray.printable import printable
from cass_ray.translate.defects import defects
from cass_ray.translate.defects.syntax import MAXIMUM_BYTES
from cass_ray.translate.diagnostics import diagnostic_of
from cass_ray.translate.engines.registry import make_translator
from cass_ray.translate.project.tree import FileResult, TreeResult, is_source
from cass_ray.translate.protocol import Finding, Severity, Translator, in_order
from cass_ray.translate.rules.widths import width_findings
from cass_ray.translate.sarif import sarif
from cass_ray.whole_file import write_whole

_ORDER = (Severity.NOTE, Severity.WARNING, Severity.ERROR)
_SHOWN = 100  # rows of the summary: a comment on a pull request is bounded


class ChangesError(Exception):
    """The change cannot be read: no repository, no such revision; the message says which."""


@dataclass(frozen=True)
class Change:
    """What is new in one file; ``known`` counts what was found there before and still is."""

    path: str
    new: tuple[Finding, ...]
    known: int = 0
    skipped: str = ""


def findings_of(text: str, path: str, translator: Translator) -> tuple[Finding, ...]:
    """Everything that is found in one file, by place."""
    if path.endswith(".hip"):
        found = {*width_findings(text, path), *defects(text)}
    else:
        found = {*translator.translate(text, filename=path).findings, *defects(text)}
    return in_order(found)


def compare(before: Sequence[Finding], after: Sequence[Finding]) -> tuple[Finding, ...]:
    """What is in ``after`` and not in ``before``; where in the file it stands does not matter."""
    left = Counter((item.construct, item.message) for item in before)
    new = []
    for item in after:
        key = item.construct, item.message
        left[key] -= 1
        if left[key] < 0:
            new.append(item)
    return tuple(new)


def check(root: Path, paths: Sequence[str], base: str, translator: Translator) -> list[Change]:
    """The changes in ``paths``, which count from ``root``; without a ``base`` all is new."""
    changes = []
    start = _git(root, "merge-base", base, "HEAD").strip() if base else ""
    for path in paths:
        data = (root / path).read_bytes()
        if len(data) > MAXIMUM_BYTES:
            changes.append(Change(path, (), skipped=f"larger than {MAXIMUM_BYTES >> 20} MiB"))
            continue
        after = findings_of(data.decode("utf-8", "replace"), path, translator)
        old = _at(root, start, path) if start else ""
        before = findings_of(old, path, translator) if old else ()
        new = compare(before, after)
        changes.append(Change(path, new, len(after) - len(new)))
    return changes


def changed_paths(root: Path, base: str) -> list[str]:
    """Sources below ``root`` that differ from where this branch left ``base``."""
    listed = _git(root, "diff", "--name-only", "--diff-filter=d", "-z", "--relative", f"{base}...")
    names = listed.split("\0")
    return [name for name in names if name and is_source(name) and (root / name).is_file()]


def _at(root: Path, revision: str, path: str) -> str:
    """The file as of ``revision``; empty where it was not there."""
    try:
        text = _git(root, "show", f"{revision}:./{path}")
    except ChangesError:
        return ""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _git(root: Path, *arguments: str) -> str:
    try:
        return run_git(arguments, root)
    except GitError as error:
        raise ChangesError(str(error)) from error


def summary(changes: Sequence[Change]) -> str:
    """A comment in Markdown. Text of the change stands in it as text, whatever it holds."""
    new = [(change.path, item) for change in changes for item in change.new]
    known = sum(change.known for change in changes)
    lines = [
        f"### cass: {len(new)} new finding(s) in {len(changes)} changed file(s)",
        "",
        f"{known} that were there before are not listed." if known else "",
        "",
    ]
    if new:
        lines += ["| place | number | severity | what | advice |", "|---|---|---|---|---|"]
    for path, item in new[:_SHOWN]:
        cells = (
            f"{path}:{item.line}",
            diagnostic_of(item).code,
            item.severity.value,
            item.message,
            item.advice,
        )
        lines.append("| " + " | ".join(_cell(cell) for cell in cells) + " |")
    if len(new) > _SHOWN:
        lines += ["", f"… and {len(new) - _SHOWN} more"]
    lines += [
        f"\n{_cell(change.path)}: not read, {change.skipped}"
        for change in changes
        if change.skipped
    ]
    return "\n".join(lines) + "\n"


_ENTITIES = {ord(mark): f"&#{ord(mark)};" for mark in "&<>|@`*_[]()\\#!~$"}


def _cell(text: str) -> str:
    return printable(text).translate(_ENTITIES)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run as the module's docstring says."""
    parser = argparse.ArgumentParser(prog="python -m cass_ray.project.changes")
    parser.add_argument("files", nargs="*", help="files to check, in place of those that changed")
    parser.add_argument("--root", type=Path, default=Path(), help="folder that paths count from")
    parser.add_argument("--base", default="", help="revision that the change is compared with")
    parser.add_argument("--sarif", type=Path, help="write findings as SARIF 2.1.0")
    parser.add_argument("--summary", type=Path, help="write a comment in Markdown")
    parser.add_argument("--fail-on", choices=["error", "warning", "never"], default="error")
    given = parser.parse_args(arguments)
    if not given.files and not given.base:
        parser.error("give files, or --base REVISION")
    if given.base.startswith("-"):
        parser.error("a revision does not begin with -")
    translator = make_translator()
    try:
        paths = given.files or changed_paths(given.root, given.base)
        changes = check(given.root, paths, given.base, translator)
    except (ChangesError, OSError) as error:
        sys.stderr.write(f"changes: {printable(str(error))}\n")
        return EXIT_USAGE
    if given.sarif:
        tree = TreeResult([FileResult(each.path, "checked", each.new) for each in changes])
        write_whole(given.sarif, json.dumps(sarif(tree, translator), indent=1) + "\n")
    if given.summary:
        write_whole(given.summary, summary(changes))
    for change in changes:
        for item in change.new:
            code = diagnostic_of(item).code
            sys.stdout.write(f"{printable(item.format(change.path))} [{code}]\n")
    return EXIT_FAILED if _fails(changes, given.fail_on) else 0


def _fails(changes: Sequence[Change], threshold: str) -> bool:
    if threshold == "never":
        return False
    least = _ORDER.index(Severity(threshold))
    return any(_ORDER.index(item.severity) >= least for each in changes for item in each.new)


if __name__ == "__main__":
    sys.exit(main())
