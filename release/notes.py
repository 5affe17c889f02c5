"""The notes of a release: its section of CHANGELOG.md, to standard output.

    python release/notes.py v0.1.0

Exit code 1 where the tag is not the project's version, or the changelog says nothing about it.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path.cwd()
_HEADING = re.compile(r"^## \[([^\]]+)\].*$", re.MULTILINE)
_LINKS = re.compile(r"^\[[^\]]+\]: \S+\n?", re.MULTILINE)


def project_version(root: Path) -> str:
    """What ``pyproject.toml`` says."""
    version: str = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    return version


def section(changelog: str, version: str) -> str:
    """What ``changelog`` says about ``version``; empty where it says nothing."""
    headings = list(_HEADING.finditer(changelog))
    for heading, following in zip(headings, [*headings[1:], None], strict=True):
        if heading[1] == version:
            end = following.start() if following else len(changelog)
            return _LINKS.sub("", changelog[heading.end() : end]).strip()
    return ""


def main(tag: str) -> int:
    """Print the notes of ``tag``."""
    version = project_version(ROOT)
    if tag != f"v{version}":
        sys.stderr.write(f"notes: the tag is {tag}, pyproject.toml says {version}\n")
        return 1
    notes = section((ROOT / "CHANGELOG.md").read_text("utf-8"), version)
    if not notes:
        sys.stderr.write(f"notes: CHANGELOG.md has nothing under `## [{version}]`\n")
        return 1
    sys.stdout.write(f"{notes}\n")
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python release/notes.py TAG")
    sys.exit(main(sys.argv[1]))
