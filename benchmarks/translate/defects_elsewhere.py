"""What the checks of pull requests say about files of public projects.

``python -m benchmarks.translate.defects_elsewhere --seed N --each M NAME=REPOSITORY ...`` takes up
to M random ``.cu`` and ``.hip`` files of each git repository's ``HEAD`` and prints every finding
with its line, to be judged by hand. The files are read, not compiled and not kept.
"""

from __future__ import annotations

import argparse
import random
import subprocess
from pathlib import PurePath

from benchmarks.translate.defects import found_in
from cass_ray.translate.diagnostics import diagnostic_of


def _git(repository: str, *arguments: str) -> str:
    command = ["git", "-C", repository, *arguments]
    return subprocess.run(command, capture_output=True, check=True).stdout.decode(errors="replace")


def sources(repository: str) -> list[str]:
    names = _git(repository, "ls-tree", "-r", "--name-only", "HEAD").splitlines()
    return sorted(name for name in names if PurePath(name).suffix in (".cu", ".hip"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("projects", nargs="+", metavar="NAME=REPOSITORY")
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--each", type=int, required=True)
    options = parser.parse_args()
    chosen = random.Random(options.seed)
    files = findings = with_finding = 0
    for project in sorted(options.projects):
        name, _, repository = project.partition("=")
        names = sources(repository)
        for path in chosen.sample(names, min(options.each, len(names))):
            text = _git(repository, "show", f"HEAD:{path}")
            found = found_in(text, PurePath(path).suffix)
            files, findings = files + 1, findings + len(found)
            with_finding += bool(found)
            for item in found:
                print(
                    f"| {name} | {path}:{item.line} | {diagnostic_of(item).code} | {item.message} |"
                )
    print(f"{files} files, {findings} findings in {with_finding} of them")


if __name__ == "__main__":
    main()
