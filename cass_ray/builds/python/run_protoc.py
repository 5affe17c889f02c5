"""Writes the C++ headers of ``.proto`` files that a build left without them, beside the files.

Files are named from the outermost folder from which all that they import is found, as projects
call ``protoc``; what one needs itself, as ``google/protobuf/any.proto``, is protoc's own. Run in
the root of the project; standard library alone.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator

_IMPORT = re.compile(r'^\s*import\s+(?:public\s+|weak\s+)?"([^"]+)"\s*;', re.MULTILINE)
_OWN = "google/protobuf/"
_MOST_FILES = 2000
_SECONDS = 30


def missing(root: str) -> list[str]:
    """The ``.proto`` files below ``root`` whose header is nowhere, by their paths in it."""
    files, headers = [], set()
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if name != ".git")
        headers.update(name for name in names if name.endswith(".pb.h"))
        inside = os.path.relpath(folder, root)
        files += [
            os.path.normpath(os.path.join(inside, name))
            for name in sorted(names)
            if name.endswith(".proto")
        ]
    left = [each for each in files if f"{_stem(each)}.pb.h" not in headers]
    return left[:_MOST_FILES]


def import_folder(root: str, path: str) -> str | None:
    """The outermost folder of ``root`` from which all imports of ``path`` are found."""
    with open(os.path.join(root, path), encoding="utf-8", errors="replace") as file:
        imports = [name for name in _IMPORT.findall(file.read()) if not name.startswith(_OWN)]
    for folder in _folders(path):
        if all(os.path.isfile(os.path.join(root, folder, name)) for name in imports):
            return folder
    return None


def _stem(path: str) -> str:
    return os.path.basename(path).removesuffix(".proto")


def _folders(path: str) -> Iterator[str]:
    """The folders above ``path``, the outermost first."""
    parts = path.split("/")[:-1]
    for count in range(len(parts) + 1):
        yield "/".join(parts[:count]) or "."


def main() -> None:
    """Write what is missing below the current folder; say what could not be written, and why."""
    for path in missing("."):
        folder = import_folder(".", path)
        if folder is None:
            print(f"{path}: a file that it imports is missing")
            continue
        inside = os.path.relpath(path, folder)
        command = ["protoc", f"--proto_path={folder}", f"--cpp_out={folder}", inside]
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=_SECONDS, check=False
            )
        except FileNotFoundError:
            sys.exit("protoc is not installed: headers of .proto files are not written")
        except subprocess.TimeoutExpired:
            print(f"{path}: protoc took longer than {_SECONDS} s")
            continue
        if done.returncode:
            print(f"{path}: {done.stderr.strip()[:500]}")


if __name__ == "__main__":
    main()
